(** * Adaptive rates that provably help, instead of Table 1 and the guarantee of Sec. 5 *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1 Descent Adaptive.
Open Scope R_scope.
Open Scope vec_scope.

(** ** A rate for each client that reckons with the others *)

Section ClientRates.

Variables (d N : nat) (p : nat -> R) (L alpha beta : R) (v : vec) (a : nat -> vec).
Hypothesis p_weights : weights N p.
Hypothesis L_positive : 0 < L.
Hypothesis beta_nonneg : 0 <= beta.

Let S := weighted N p a (fun _ => 1).
Let q := 1 - L * alpha.

(** beta + ((1 - L alpha) Lambda_i - L beta <a_i, S>) / (L ||a_i||^2), and 0 if that is negative. *)
Definition target (i : nat) : R := beta + (q * dot d v (a i) - L * beta * dot d (a i) S) / (L * dot d (a i) (a i)).
Definition client_rate (i : nat) : R := Rmax 0 (target i).

Lemma zero_product : forall u w, dot d u u = 0 -> dot d u w = 0.
Proof.
  intros u w Z. assert (N0 : norm d u = 0) by (unfold norm; rewrite Z; apply sqrt_0).
  pose proof (cauchy_schwarz d u w). pose proof (cauchy_schwarz_neg d u w). rewrite N0 in *. lra.
Qed.

Lemma target_rate : forall i, L * dot d (a i) (a i) * (target i - beta) = q * dot d v (a i) - L * beta * dot d (a i) S.
Proof.
  intro i. destruct (Req_dec (dot d (a i) (a i)) 0) as [Z|NZ].
  - rewrite Z, (zero_product (a i) S Z), (dot_comm d v), (zero_product (a i) v Z). ring.
  - unfold target. field. lra.
Qed.

Lemma nearest : forall i, (client_rate i - target i) * (client_rate i - beta) <= 0.
Proof. intro i. unfold client_rate, Rmax. destruct (Rle_dec 0 (target i)); nra. Qed.

(** Gamma of the step really taken.  Ledger: ours.adaptive_clients. *)
Theorem adaptive_clients :
  L / 2 * norm d (weighted N p a client_rate) ^ 2 - q * product d N p v a client_rate
  <= Gamma d N p L alpha beta v a - L / 2 * sum N (fun i => p i * ((client_rate i - beta) ^ 2 * norm d (a i) ^ 2)).
Proof.
  set (delta := fun i => client_rate i - beta). set (D := weighted N p a delta).
  assert (Split : weighted N p a client_rate = beta *^ S +^ D).
  { unfold S. rewrite <- (weighted_const N p a beta). unfold D, weighted. rewrite <- vsum_add. apply vsum_ext.
    intros i _. unfold delta. vector. }
  assert (J : norm d D ^ 2 <= sum N (fun i => p i * (delta i ^ 2 * norm d (a i) ^ 2))).
  { unfold D, weighted. eapply Rle_trans; [apply jensen; exact p_weights|]. right. apply sum_ext. intros i _.
    rewrite !norm_pow2. expand_dots. ring. }
  assert (Prod : product d N p v a client_rate = beta * dot d v S + sum N (fun i => p i * (delta i * dot d v (a i)))).
  { unfold S. rewrite weighted_product. unfold product. rewrite <- sum_scale, <- sum_add. apply sum_ext. intros i _.
    unfold delta. ring. }
  assert (SD : dot d S D = sum N (fun i => p i * (delta i * dot d (a i) S))).
  { unfold D, weighted. rewrite dot_sum_r. apply sum_ext. intros i _. expand_dots. rewrite (dot_comm d S). ring. }
  set (moved := sum N (fun i => p i * (delta i ^ 2 * norm d (a i) ^ 2))) in *.
  assert (Each : L * beta * dot d S D - q * sum N (fun i => p i * (delta i * dot d v (a i))) <= - L * moved).
  { rewrite SD. unfold moved. rewrite <- !sum_scale, <- sum_sub. apply sum_le. intros i Hi.
    pose proof (target_rate i) as E. pose proof (nearest i) as K. pose proof (dot_self_nonneg d (a i)) as A0.
    rewrite norm_pow2. set (A := dot d (a i) (a i)) in *.
    replace (L * beta * (p i * (delta i * dot d (a i) S)) - q * (p i * (delta i * dot d v (a i))))
      with (p i * (- delta i * (q * dot d v (a i) - L * beta * dot d (a i) S))) by ring.
    rewrite <- E. replace (- L * (p i * (delta i ^ 2 * A))) with (p i * (- L * (delta i ^ 2 * A))) by ring.
    apply Rmult_le_compat_l; [apply p_weights; exact Hi|]. unfold delta in *.
    assert (0 <= L * A * - ((client_rate i - target i) * (client_rate i - beta)))
      by (apply Rmult_le_pos; [nonneg | lra]).
    nra. }
  change (sum N (fun i => p i * ((client_rate i - beta) ^ 2 * norm d (a i) ^ 2))) with moved.
  rewrite Split, Prod. unfold Gamma, forgetting. fold S q. rewrite !norm_pow2. rewrite norm_pow2 in J. expand_dots.
  rewrite (dot_comm d D S). clearbody D S q. nra.
Qed.

End ClientRates.

(** ** What adapted rates guarantee for the past task *)

Section AdaptiveDescent.

Variables (d : nat) (L alpha mu : R) (f : vec -> R) (grad_f : vec -> vec).
Hypothesis L_positive : 0 < L.
Hypothesis alpha_range : 0 < alpha /\ L * alpha <= 1.
Hypothesis mu_range : 0 <= mu < 1.
Hypothesis f_smooth : smooth d L f grad_f.

(** beta'' with L ||S||^2 beta'' = max(0, (1 - L alpha) Lambda - mu/(1 - mu) ||grad f_memory|| ||S||), mu = sqrt(m). *)
Definition cautious_rate (v S : vec) : R :=
  Rmax 0 ((1 - L * alpha) * dot d v S - mu / (1 - mu) * norm d v * norm d S) / (L * norm d S ^ 2).

Definition decrease : R := alpha * (1 - mu) * (1 - L * alpha * (1 - mu) / 2).

Lemma rate_rule : forall v S rate, 0 <= rate <= 2 * cautious_rate v S ->
  rate * (L * rate * norm d S ^ 2 - 2 * (1 - L * alpha) * dot d v S + 2 * (mu / (1 - mu)) * norm d v * norm d S) <= 0.
Proof.
  intros v S rate [R0 R1]. unfold cautious_rate in R1.
  set (y := (1 - L * alpha) * dot d v S - mu / (1 - mu) * norm d v * norm d S) in *.
  destruct (Req_dec (norm d S) 0) as [Z|NZ].
  - rewrite Z in R1. replace (Rmax 0 y / (L * 0 ^ 2)) with 0 in R1.
    + replace rate with 0 by lra. lra.
    + replace (L * 0 ^ 2) with 0 by ring. unfold Rdiv. rewrite Rinv_0. ring.
  - pose proof (norm_nonneg d S). assert (S2 : 0 < L * norm d S ^ 2)
      by (apply Rmult_lt_0_compat; [lra | apply pow_lt; lra]).
    assert (K : L * norm d S ^ 2 * rate <= 2 * Rmax 0 y).
    { apply Rmult_le_compat_l with (r := L * norm d S ^ 2) in R1; [|lra].
      replace (L * norm d S ^ 2 * (2 * (Rmax 0 y / (L * norm d S ^ 2)))) with (2 * Rmax 0 y) in R1 by (field; lra).
      exact R1. }
    replace (L * rate * norm d S ^ 2 - 2 * (1 - L * alpha) * dot d v S + 2 * (mu / (1 - mu)) * norm d v * norm d S)
      with (L * norm d S ^ 2 * rate - 2 * y) by (unfold y; ring).
    unfold Rmax in K. destruct (Rle_dec 0 y); [nra|]. assert (rate = 0) by nra. subst rate. lra.
Qed.

(** Ledger: ours.adaptive_descent, part round. *)
Theorem adaptive_round : forall x v S rate,
  norm d (v -^ grad_f x) <= mu * norm d (grad_f x) -> 0 <= rate <= 2 * cautious_rate v S ->
  f (x -^ alpha *^ v -^ rate *^ S) <= f x - decrease * norm d (grad_f x) ^ 2.
Proof.
  intros x v S rate Bias Rule. pose proof (rate_rule v S rate Rule) as K. destruct Rule as [R0 _].
  destruct alpha_range as [A0 A1].
  set (F := grad_f x) in *. set (b := v -^ F) in *. assert (V : v = F +^ b) by (unfold b; vector).
  pose proof (f_smooth x (x -^ alpha *^ v -^ rate *^ S)) as Q. fold F in Q.
  replace (x -^ alpha *^ v -^ rate *^ S -^ x) with ((- alpha) *^ v -^ rate *^ S) in Q by vector.
  pose proof (norm_nonneg d F) as F0. pose proof (norm_nonneg d b) as B0. pose proof (norm_nonneg d S) as S0.
  (* ||b|| <= mu/(1 - mu) ||v|| *)
  assert (BV : norm d b <= mu / (1 - mu) * norm d v).
  { assert (T : norm d F <= norm d v + norm d b) by (replace F with (v -^ b) by (unfold b; vector); apply triangle_sub).
    apply Rmult_le_reg_l with (1 - mu); [lra|].
    replace ((1 - mu) * (mu / (1 - mu) * norm d v)) with (mu * norm d v) by (field; lra). nra. }
  pose proof (cauchy_schwarz d b S) as BS. pose proof (cauchy_schwarz_neg d F b) as FB.
  assert (BS2 : dot d b S <= mu / (1 - mu) * norm d v * norm d S).
  { eapply Rle_trans; [exact BS|]. apply Rmult_le_compat_r; assumption. }
  set (w := mu / (1 - mu) * norm d v * norm d S) in *.
  assert (K2 : rate * (L * rate * dot d S S - 2 * (1 - L * alpha) * dot d v S + 2 * w) <= 0).
  { eapply Rle_trans; [|exact K]. right. unfold w. rewrite norm_pow2. ring. }
  assert (B2 : dot d b b <= mu ^ 2 * norm d F ^ 2).
  { rewrite <- Rpow_mult_distr. apply square_le_of_norm. exact Bias. }
  assert (FB2 : - dot d F b <= mu * norm d F ^ 2) by nra.
  clearbody b w. rewrite !norm_pow2 in *. rewrite V in Q, K2 |- *. revert Q K2.
  generalize (f (x -^ alpha *^ (F +^ b) -^ rate *^ S)). intro next. expand_dots.
  rewrite (dot_comm d b F), (dot_comm d S F), (dot_comm d S b). intros Q K2. unfold decrease.
  assert (P1 : rate * dot d b S <= rate * w) by (apply Rmult_le_compat_l; assumption).
  assert (P2 : alpha * (1 - L * alpha) * - dot d F b <= alpha * (1 - L * alpha) * (mu * dot d F F)).
  { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra | exact FB2]. }
  assert (P3 : L * alpha ^ 2 / 2 * dot d b b <= L * alpha ^ 2 / 2 * (mu ^ 2 * dot d F F)).
  { apply Rmult_le_compat_l; [nonneg | exact B2]. }
  lra.
Qed.

(** Ledger: ours.adaptive_descent, part run: every round has one rate for all clients, chosen by the rule. *)
Theorem adaptive_run : forall (x v S : nat -> vec) (rate : nat -> R) T f_least, (0 < T)%nat ->
  (forall t, x (Datatypes.S t) = x t -^ alpha *^ v t -^ rate t *^ S t) ->
  (forall t, norm d (v t -^ grad_f (x t)) <= mu * norm d (grad_f (x t))) ->
  (forall t, 0 <= rate t <= 2 * cautious_rate (v t) (S t)) ->
  f_least <= f (x T) ->
  sum T (fun t => norm d (grad_f (x t)) ^ 2) / INR T <= (f (x 0%nat) - f_least) / (decrease * INR T).
Proof.
  intros x v S rate T f_least HT Step Bias Rule Least.
  assert (D0 : 0 < decrease).
  { destruct alpha_range. unfold decrease. repeat apply Rmult_lt_0_compat; try lra. nra. }
  assert (H : decrease * sum T (fun t => norm d (grad_f (x t)) ^ 2) <= f (x 0%nat) - f (x T)).
  { rewrite <- sum_scale, <- (sum_telescopes T (fun t => f (x t))). apply sum_le. intros t _.
    pose proof (adaptive_round (x t) (v t) (S t) (rate t) (Bias t) (Rule t)) as R. rewrite <- Step in R. lra. }
  pose proof (INR_pos T HT) as TP.
  apply Rmult_le_reg_l with (decrease * INR T); [apply Rmult_lt_0_compat; assumption|].
  replace (decrease * INR T * (sum T (fun t => norm d (grad_f (x t)) ^ 2) / INR T))
    with (decrease * sum T (fun t => norm d (grad_f (x t)) ^ 2)) by (field; lra).
  replace (decrease * INR T * ((f (x 0%nat) - f_least) / (decrease * INR T))) with (f (x 0%nat) - f_least)
    by (field; lra).
  lra.
Qed.

End AdaptiveDescent.

(** ** The same along Algorithm 1 *)

Section AdaptiveAlgorithm.

Variables (P : problem) (L alpha m : R) (beta : nat -> R) (E : nat) (order : nat -> nat -> nat -> nat).
Variables (memory : nat -> nat -> vec -> vec) (x0 : vec) (f : vec -> R) (grad_f : vec -> vec).
(** The rate that the server chooses in round t, knowing grad f_memory and S. *)
Variable choose : nat -> vec -> vec -> R.

Let d := dim P.

(** Algorithm 1 with local steps of size beta_t and a rate of the server's choice for all displacements. *)
Fixpoint adaptive_algorithm (t : nat) : vec :=
  match t with
  | O => x0
  | Datatypes.S t => let x := adaptive_algorithm t in
                     let v := memory_mean P (fun i => memory t i x) in
                     let S := delayed_sum P (beta t) E (order t) x in
                     x -^ alpha *^ v -^ choose t v S *^ S
  end.

(** Ledger: ours.adaptive_descent, part run. *)
Theorem adaptive_descent : forall T f_least, 0 < L -> 0 < alpha -> L * alpha <= 1 -> 0 <= m < 1 -> (0 < T)%nat ->
  smooth d L f grad_f ->
  (forall t v S, 0 <= choose t v S <= 2 * cautious_rate d L alpha (sqrt m) v S) ->
  (forall t, norm d (memory_mean P (fun i => memory t i (adaptive_algorithm t)) -^ grad_f (adaptive_algorithm t)) ^ 2
     <= m * norm d (grad_f (adaptive_algorithm t)) ^ 2) ->
  (forall y, f_least <= f y) ->
  sum T (fun t => norm d (grad_f (adaptive_algorithm t)) ^ 2) / INR T <=
    (f x0 - f_least) / (alpha * (1 - sqrt m) * (1 - L * alpha * (1 - sqrt m) / 2) * INR T).
Proof.
  intros T f_least HL Ha HLa Hm HT Smooth Rule Bias Least.
  assert (Hmu : 0 <= sqrt m < 1).
  { split; [apply sqrt_pos|]. rewrite <- sqrt_1. apply sqrt_lt_1_alt. lra. }
  apply (adaptive_run d L alpha (sqrt m) f grad_f HL (conj Ha HLa) Hmu Smooth adaptive_algorithm
    (fun t => memory_mean P (fun i => memory t i (adaptive_algorithm t)))
    (fun t => delayed_sum P (beta t) E (order t) (adaptive_algorithm t))
    (fun t => choose t (memory_mean P (fun i => memory t i (adaptive_algorithm t)))
      (delayed_sum P (beta t) E (order t) (adaptive_algorithm t)))); try assumption.
  - reflexivity.
  - intro t. specialize (Bias t). rewrite norm_pow2 in Bias. apply norm_le_of_square; [nonneg|].
    eapply Rle_trans; [exact Bias|]. right. rewrite <- (sqrt_sqrt m) at 1 by lra. ring.
  - intro t. apply Rule.
  - apply Least.
Qed.

(** S of Algorithm 1 is the weighted sum of the clients' a_i, and Gamma(t) here is that of (35). *)
Lemma delayed_sum_weighted : forall t x, delayed_sum P (beta t) E (order t) x =
  weighted (clients P) (weight P) (client_sum P (beta t) E (order t) x) (fun _ => 1).
Proof. intros t x. unfold delayed_sum, weighted. apply vsum_ext. intros i _. vector. Qed.

Lemma Gamma_of_round : forall t x client_memory,
  Gamma d (clients P) (weight P) L alpha (beta t) (memory_mean P client_memory) (client_sum P (beta t) E (order t) x)
  = Descent.forgetting P L alpha (beta t) E (order t) client_memory x (L / 2).
Proof.
  intros t x client_memory. unfold Gamma, forgetting, Descent.forgetting. rewrite <- delayed_sum_weighted.
  rewrite !norm_pow2. fold d. field.
Qed.

End AdaptiveAlgorithm.
