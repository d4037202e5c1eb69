(** * Lines of the paper's proofs, and small rows of the ledger *)

Require Import Reals Lra Psatz Arith Lia.
Require Import FunctionalExtensionality.
From CFlag Require Import Vectors Smoothness Algorithm1 Exponential Drift Sums Adaptive Redrawn Surrogate.
Open Scope R_scope.
Open Scope vec_scope.

(** ** Lines of the proofs of Lemmas 12 and 13 and of Corollary 14 *)

Section DriftLines.

Variables (P : problem) (L beta : R) (E : nat) (order : nat -> nat -> nat) (x : vec).

Hypothesis L_positive : 0 < L.
Hypothesis beta_nonneg : 0 <= beta.
Hypothesis is_regular : regular P L.

Let d := dim P.
Let g := norm d (grad_current P x).
Let drift := client_drift P beta order x.
Let before := client_max_drift_before P beta order x.

(** (102) <= (103) with ||x_{t,k}^i - x_t|| as the second norm.  Ledger: cflag.eq105, part 2, repaired. *)
Theorem eq103 : forall i k, (i < clients P)%nat ->
  L * rmean (size P i) (fun j =>
        norm d (client_point P beta order x i (tau (order i) k j) -^ client_point P beta order x i k))
  <= L * (rmean (size P i) (fun j => drift i (tau (order i) k j)) + drift i k).
Proof.
  intros i k Hi. destruct is_regular as [_ [Hn _]]. apply Rmult_le_compat_l; [lra|].
  rewrite Rplus_comm. rewrite <- (Rmult_1_l (rmean _ (fun j => drift i (tau (order i) k j)))).
  rewrite <- rmean_affine by (apply Hn; exact Hi). apply rmean_le; [apply Hn; exact Hi|]. intros j _.
  unfold drift, client_drift. fold d.
  replace (client_point P beta order x i (tau (order i) k j) -^ client_point P beta order x i k)
    with ((client_point P beta order x i (tau (order i) k j) -^ x) -^ (client_point P beta order x i k -^ x)) by vector.
  eapply Rle_trans; [apply triangle_sub|]. lra.
Qed.

Lemma before_nonneg : forall i k, 0 <= before i k.
Proof. intros. apply largest_nonneg. Qed.

Lemma lines_g_nonneg : 0 <= g.
Proof. apply norm_nonneg. Qed.

(** (123) <= (124). *)
Theorem eq124 : forall i k, beta * L * INR E <= 1 / 4 -> (i < clients P)%nat -> (k < E)%nat ->
  drift i k <= 4 * (beta * INR k * g) ->
  drift i k + 2 * beta * g + beta * L * (drift i k + before i k)
  <= 4 * (beta * INR k * g) + 2 * beta * g + beta * L * (4 * (beta * INR k * g) + 4 * (beta * INR k * g)).
Proof.
  intros i k H Hi Hk At. assert (B : before i k <= 4 * (beta * INR k * g)).
  { pose proof lines_g_nonneg. apply largest_bound; [nonneg|]. intros b Hb.
    pose proof (drift_within P L beta E order x L_positive beta_nonneg is_regular (1 / 4) i k b) as W.
    eapply Rle_trans; [apply W; (lra || lia)|].
    pose proof exp_quarter. replace ((exp (1 / 4) - 1) / (1 / 4)) with (4 * (exp (1 / 4) - 1)) by field.
    assert (0 <= beta * INR k * g) by nonneg. fold d g. nra. }
  assert (0 <= beta * L) by (apply Rmult_le_pos; lra).
  assert (S : drift i k + before i k <= 4 * (beta * INR k * g) + 4 * (beta * INR k * g)) by lra.
  apply Rmult_le_compat_l with (r := beta * L) in S; lra.
Qed.

(** (124) <= (125). *)
Theorem eq125 : forall k, (k < E)%nat ->
  4 * (beta * INR k * g) + 2 * beta * g + beta * L * (4 * (beta * INR k * g) + 4 * (beta * INR k * g))
  <= (4 * beta * INR k + 2 * beta + 2 * beta * (4 * beta * L * INR E)) * g.
Proof.
  intros k Hk. assert (K : INR k <= INR E) by (apply le_INR; lia). pose proof lines_g_nonneg.
  assert (C : 0 <= 8 * (beta * beta * L * g)) by nonneg.
  apply Rmult_le_compat_l with (r := 8 * (beta * beta * L * g)) in K; lra.
Qed.

(** (125) <= (126). *)
Theorem eq126 : forall k, beta * L * INR E <= 1 / 4 ->
  (4 * beta * INR k + 2 * beta + 2 * beta * (4 * beta * L * INR E)) * g <= 4 * beta * (INR k + 1) * g.
Proof.
  intros k H. apply Rmult_le_compat_r; [apply lines_g_nonneg|].
  apply Rmult_le_compat_l with (r := 8 * beta) in H; lra.
Qed.

(** (128) <= (129), first step. *)
Theorem eq129_first : forall i k, beta * L * INR E <= 1 / 12 -> (i < clients P)%nat -> (k < E)%nat ->
  beta * L * INR E * g + 3 * beta * L ^ 2 * INR E * before i k
  <= beta * L * INR E * g + 3 * beta * L ^ 2 * INR E * (4 * beta * INR E * g).
Proof.
  intros i k H Hi Hk. pose proof lines_g_nonneg. apply Rplus_le_compat_l, Rmult_le_compat_l; [nonneg|].
  assert (K : INR k <= INR E) by (apply le_INR; lia).
  assert (B : before i k <= 4 * beta * INR k * g).
  { apply largest_bound; [nonneg|]. intros b Hb.
    pose proof (drift_within P L beta E order x L_positive beta_nonneg is_regular (1 / 4) i k b) as W.
    eapply Rle_trans; [apply W; (lra || lia)|].
    pose proof exp_quarter. replace ((exp (1 / 4) - 1) / (1 / 4)) with (4 * (exp (1 / 4) - 1)) by field.
    assert (0 <= beta * INR k * g) by nonneg. fold d g. nra. }
  eapply Rle_trans; [exact B|]. apply Rmult_le_compat_r; [assumption|]. apply Rmult_le_compat_l; lra.
Qed.

(** The second inequality of (129).  Ledger: cflag.eq129, part 2, repaired. *)
Theorem eq129_second : beta * L * INR E * g + 3 * beta * L ^ 2 * INR E * (4 * beta * INR E * g)
  <= (beta * L * INR E + 12 * beta ^ 2 * L ^ 2 * INR E ^ 2) * g.
Proof. clear. right. ring. Qed.

End DriftLines.

(** ** (74) *)

(** Ledger: cflag.eq74, part 1. *)
Theorem eq74 : forall L T (a h : nat -> R), (1 <= T)%nat ->
  (forall t, (t < T)%nat -> a t <= 60 * L * (h t - h (S t))) ->
  (forall t, 0 <= a t) ->
  least T a <= 60 * L / INR T * sum T (fun _ => h 0%nat - h T).
Proof.
  intros L T a h HT H73 A0. pose proof (INR_pos T ltac:(lia)) as TP.
  assert (T1 : 1 <= INR T) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
  apply sum_le in H73. rewrite sum_scale, sum_telescopes in H73.
  pose proof (least_times_count T a) as Least. rewrite sum_const.
  replace (60 * L / INR T * (INR T * (h 0%nat - h T))) with (60 * L * (h 0%nat - h T)) by (field; lra).
  destruct (least_is_one T a ltac:(lia)) as [i [_ Ei]]. pose proof (A0 i). rewrite <- Ei in *. nra.
Qed.

(** Ledger: cflag.eq74, part 2, repaired. *)
Theorem eq74_telescoped : forall L T (h : nat -> R),
  60 * L / INR T * sum T (fun t => h t - h (S t)) = 60 * L / INR T * (h 0%nat - h T).
Proof. intros L T h. rewrite sum_telescopes. reflexivity. Qed.

(** (162)-(163). *)
Theorem eq163 : forall ratio Q omega2 T (h : nat -> R),
  sum T (fun t => ratio * (h t - h (S t)) + Q * omega2) = ratio * (h 0%nat - h T) + Q * INR T * omega2.
Proof. intros ratio Q omega2 T h. rewrite sum_add, sum_scale, sum_telescopes, sum_const. ring. Qed.

(** ** (185): the mean of (184) over the draws *)

(** Ledger: cflag.eq184, part 2. *)
Theorem eq185 : forall (Omega : Type) (Ex : (Omega -> R) -> R) N p (G : Omega -> R) (G_i : nat -> Omega -> R),
  expectation Ex -> (forall w, G w = sum N (fun i => p i * G_i i w)) -> Ex G = sum N (fun i => p i * Ex (G_i i)).
Proof.
  intros Omega Ex N p G G_i [Add [Scale _]] H184. replace G with (fun w => sum N (fun i => p i * G_i i w)).
  - clear H184. induction N as [|n IH]; simpl sum.
    + transitivity (Ex (fun _ => 0 * 1)); [|rewrite Scale; ring].
      f_equal. apply functional_extensionality. intro. ring.
    + rewrite <- IH, <- Scale, <- Add. reflexivity.
  - apply functional_extensionality. intro w. rewrite H184. reflexivity.
Qed.

(** ** When Algorithm 1 does what (67)-(68) do *)

Section SameRound.

Variables (d N : nat) (p : nat -> R) (sizes : nat -> nat) (kept_slope current_slope : nat -> nat -> vec -> vec).
Variables (beta : R) (order union_order : nat -> nat -> nat) (x : vec).

Let C := Problem d N p sizes current_slope.
Let U := union_problem d N p sizes sizes kept_slope current_slope.

Lemma delayed_sum_one_step : forall P b o y, delayed_sum P b 1 o y = grad_current P y.
Proof.
  intros P b o y. unfold delayed_sum, grad_current. apply vsum_ext. intros i _. f_equal.
  unfold client_sum. rewrite vsum_succ. unfold client_delayed. rewrite delayed_gradient. unfold grad_client. simpl tau.
  rewrite local_start. vector. unfold vsum. simpl. ring.
Qed.

(** E = 1, |M^i| = |C^i| and alpha = beta.  Ledger: ours.union_round, part 2. *)
Theorem union_round_same : weights N p -> (forall i, (i < N)%nat -> (0 < sizes i)%nat) ->
  round C beta beta 1 order (fun i => vmean (sizes i) (fun j => kept_slope i j x)) x
  = union_round U beta 1 (grad_current U) union_order x.
Proof.
  intros Hp Hn. rewrite (eq24 C beta beta 1 order (proj2 Hp)), delayed_sum_one_step.
  unfold union_round. rewrite vsum_weights. simpl clients. simpl weight. rewrite (proj2 Hp).
  change (union_sum U beta 1 (grad_current U) union_order x) with (delayed_sum U beta 1 union_order x).
  rewrite delayed_sum_one_step.
  assert (Half : grad_current U x =
    (1 / 2) *^ (memory_mean C (fun i => vmean (sizes i) (fun j => kept_slope i j x)) +^ grad_current C x)).
  { unfold grad_current, memory_mean. simpl clients. simpl weight. rewrite <- vsum_add, <- vsum_scale. apply vsum_ext.
    intros i Hi. unfold U. rewrite client_mean by (pose proof (Hn i Hi); lia).
    assert (Sh : share_of sizes sizes i = 1 / 2).
    { unfold share_of. pose proof (INR_pos _ (Hn i Hi)). field. lra. }
    rewrite Sh. unfold grad_client. simpl size. simpl slope. vector. field. }
  rewrite Half. vector. field.
Qed.

End SameRound.

(** ** (3): the decomposition of h, exactly *)

(** Ledger: cflag.eq3, repaired: every client has the same share of past data. *)
Theorem eq3 : forall N p (past current f g : nat -> R) all_past all_current,
  0 < all_past + all_current -> (forall i, (i < N)%nat -> 0 < past i + current i) ->
  (forall i, (i < N)%nat -> past i * all_current = current i * all_past) ->
  sum N (fun i => p i * ((past i * f i + current i * g i) / (past i + current i))) =
  all_past / (all_past + all_current) * sum N (fun i => p i * f i)
  + all_current / (all_past + all_current) * sum N (fun i => p i * g i).
Proof.
  intros N p past current f g P C PC Pos Share. rewrite <- !sum_scale, <- sum_add. apply sum_ext. intros i Hi.
  pose proof (Pos i Hi) as D. pose proof (Share i Hi) as S. set (all := past i + current i) in *.
  assert (A : past i = P * (all / (P + C))).
  { apply Rmult_eq_reg_r with (P + C); [|lra]. replace (P * (all / (P + C)) * (P + C)) with (P * all) by (field; lra).
    unfold all. lra. }
  assert (B : current i = C * (all / (P + C))).
  { apply Rmult_eq_reg_r with (P + C); [|lra]. replace (C * (all / (P + C)) * (P + C)) with (C * all) by (field; lra).
    unfold all. lra. }
  clearbody all. rewrite A, B. field. lra.
Qed.

(** Ledger: ours.eq3, part 1. *)
Theorem eq3_exact : forall N p (f g share : nat -> R) lambda,
  sum N (fun i => p i * (share i * f i + (1 - share i) * g i)) =
  lambda * sum N (fun i => p i * f i) + (1 - lambda) * sum N (fun i => p i * g i)
  + sum N (fun i => p i * ((share i - lambda) * (f i - g i))).
Proof.
  intros N p f g share lambda. rewrite <- !sum_scale, <- !sum_add. apply sum_ext. intros i _. ring.
Qed.

(** Ledger: ours.eq3, part 2: amounts of data as weights. *)
Theorem eq3_by_amounts : forall N (past current f g : nat -> R), (forall i, (i < N)%nat -> 0 < past i + current i) ->
  0 < sum N past -> 0 < sum N current ->
  let all := sum N past + sum N current in
  sum N (fun i => (past i + current i) / all * ((past i * f i + current i * g i) / (past i + current i))) =
  sum N past / all * sum N (fun i => past i / sum N past * f i)
  + sum N current / all * sum N (fun i => current i / sum N current * g i).
Proof.
  intros N past current f g Pos HP HC all. rewrite <- !sum_scale, <- sum_add. apply sum_ext. intros i Hi.
  pose proof (Pos i Hi). unfold all. field. lra.
Qed.

(** ** What Assumption 2 with m_i < 1 forces *)

(** Ledger: ours.assumption2, part 1. *)
Theorem assumption2_lower : forall d (grad memory : vec) m, 0 <= m ->
  norm d (memory -^ grad) ^ 2 <= m * norm d grad ^ 2 -> (1 - sqrt m) * norm d grad <= norm d memory.
Proof.
  intros d grad memory m Hm H.
  assert (B : norm d (memory -^ grad) <= sqrt m * norm d grad).
  { pose proof (sqrt_pos m). rewrite norm_pow2 in H. apply norm_le_of_square; [nonneg|]. eapply Rle_trans; [exact H|].
    right. rewrite <- (sqrt_sqrt m) at 1 by exact Hm. ring. }
  assert (T : norm d grad <= norm d memory + norm d (memory -^ grad)).
  { replace grad with (memory -^ (memory -^ grad)) at 1 by vector. apply triangle_sub. }
  lra.
Qed.

(** Ledger: ours.assumption2, part 2. *)
Theorem assumption2_at_rest : forall d (grad memory : vec) m, 0 <= m ->
  norm d (memory -^ grad) ^ 2 <= m * norm d grad ^ 2 -> norm d grad = 0 -> norm d (memory -^ grad) = 0.
Proof.
  intros d grad memory m Hm H Z. rewrite Z in H. pose proof (norm_nonneg d (memory -^ grad)). nra.
Qed.
