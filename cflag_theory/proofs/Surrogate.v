(** * Lemma 3 for its own iterates, (67)-(68): convergence on memory and current data

    The components of a client are here those of its memory and of its current data together, and [grad_current] of that
    problem is grad h~ = sum_i p_i grad h~_i.  The local steps (67) are those of Algorithm 1 for these components; the
    server's update (68) takes one more full step. *)

Require Import Reals Lra Psatz Arith Lia.
Require Import FunctionalExtensionality.
From CFlag Require Import Vectors Smoothness Algorithm1 Exponential Drift Sums.
Open Scope R_scope.
Open Scope vec_scope.

(** (67) and (68).  [H] is the gradient of the union's loss that the server broadcasts. *)
Section Iterates.

Variables (P : problem) (beta : R) (E : nat) (H : vec -> vec).

Definition union_delayed (order : nat -> nat -> nat) (x : vec) (i k : nat) : vec :=
  delayed beta (H x -^ grad_client P i x) (size P i) (slope P i) (order i) x k.
Definition union_sum (order : nat -> nat -> nat) (x : vec) : vec :=
  vsum (clients P) (fun i => weight P i *^ vsum E (union_delayed order x i)).
Definition union_round (order : nat -> nat -> nat) (x : vec) : vec :=
  x -^ beta *^ vsum (clients P) (fun i => weight P i *^ H x) -^ beta *^ union_sum order x.

Fixpoint union_run (order : nat -> nat -> nat -> nat) (x0 : vec) (t : nat) : vec :=
  match t with
  | O => x0
  | S t => union_round (order t) (union_run order x0 t)
  end.

End Iterates.

(** (70)-(71). *)
Theorem eq71 : forall u, 0 < u -> u <= 1 / 4 -> 10 * u + 80 * u ^ 3 <= 15 * u.
Proof. intros u H0 H1. nra. Qed.

(** (72)-(73). *)
Theorem eq73 : forall L beta E, 0 < L -> 0 < E -> beta = 1 / (30 * L * E) ->
  1 / (beta * E * (1 - 15 * beta * L * E)) = 60 * L.
Proof. intros L beta E HL HE Hb. rewrite Hb. field. lra. Qed.

(** (1 + v)^k <= 1 + k v + c k (k - 1) v^2 with c = 1 / (2 - limit), for v E <= limit. *)
Lemma second_order : forall E v limit k, 0 <= v -> limit < 2 -> (k <= E)%nat -> v * INR E <= limit ->
  (1 + v) ^ k <= 1 + INR k * v + / (2 - limit) * INR k * (INR k - 1) * v ^ 2.
Proof.
  intros E v limit k Hv Hl. induction k as [|k IH]; intros Hk Range; [simpl; lra|].
  specialize (IH ltac:(lia) Range). set (c := / (2 - limit)) in *.
  assert (C0 : 0 < c) by (apply Rinv_0_lt_compat; lra).
  assert (C1 : c * (2 - limit) = 1) by (unfold c; field; lra).
  rewrite S_INR. simpl. pose proof (pos_INR k) as K0.
  assert (KE : INR k <= INR E) by (apply le_INR; lia).
  assert (V : v * (INR k - 1) <= limit) by nra.
  apply Rmult_le_compat_l with (r := 1 + v) in IH; [|lra]. eapply Rle_trans; [exact IH|].
  assert (0 <= v ^ 2 * INR k * (c * (limit - v * (INR k - 1)))).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [apply pow2_ge_0 | exact K0]|]. apply Rmult_le_pos; lra. }
  assert (v ^ 2 * INR k * (c * (2 - limit)) = v ^ 2 * INR k) by (rewrite C1; ring).
  nra.
Qed.

Section Union.

Variables (P : problem) (L beta : R) (E : nat) (h : vec -> R).

Let d := dim P.
Let grad_h := grad_current P.

Hypothesis L_positive : 0 < L.
Hypothesis beta_positive : 0 < beta.
Hypothesis is_regular : regular P L.
Hypothesis h_smooth : smooth d L h grad_h.

Lemma union_move : forall order x, union_round P beta E grad_h order x =
  x -^ beta *^ ((1 + INR E) *^ grad_h x +^ (delayed_sum P beta E order x -^ INR E *^ grad_h x)).
Proof.
  intros order x. unfold union_round. rewrite vsum_weights, (proj2 (proj1 is_regular)).
  change (union_sum P beta E grad_h order x) with (delayed_sum P beta E order x). vector.
Qed.

(** (68) is the mean of the local iterates (67) and one more step.  Ledger: ours.union_round, part 1. *)
Theorem union_round_is_mean : forall order x, union_round P beta E grad_h order x =
  vsum (clients P) (fun i => weight P i *^ client_point P beta order x i E) -^ beta *^ grad_h x.
Proof.
  intros order x. rewrite union_move. pose proof (proj2 (proj1 is_regular)) as unit.
  replace (vsum (clients P) (fun i => weight P i *^ client_point P beta order x i E))
    with (x +^ vsum (clients P) (fun i => weight P i *^ (client_point P beta order x i E -^ x))).
  - rewrite (eq22 P beta E order unit). vector.
  - transitivity (sum (clients P) (weight P) *^ x
      +^ vsum (clients P) (fun i => weight P i *^ (client_point P beta order x i E -^ x))).
    + rewrite unit. vector.
    + rewrite <- vsum_weights, <- vsum_add. apply vsum_ext. intros i _. vector.
Qed.

(** How much a round keeps of the gradient, at most. *)
Definition kept : R := 1 - beta * L * (1 + INR E - (sigma L beta E - INR E)).

(** ||grad h~ - L w|| <= q ||grad h~|| for the step w, if beta L (1 + E) <= 1. *)
Lemma union_contraction : forall order x, beta * L * (1 + INR E) <= 1 ->
  norm d (grad_h x -^ L *^ (x -^ union_round P beta E grad_h order x)) <= kept * norm d (grad_h x).
Proof.
  intros order x Small. rewrite union_move. set (e := delayed_sum P beta E order x -^ INR E *^ grad_h x).
  pose proof (S_deviation P L beta E order x L_positive beta_positive is_regular) as De. fold d grad_h e in De.
  replace (grad_h x -^ L *^ (x -^ (x -^ beta *^ ((1 + INR E) *^ grad_h x +^ e))))
    with ((1 - beta * L * (1 + INR E)) *^ grad_h x -^ (beta * L) *^ e) by vector.
  assert (0 < beta * L) by (apply Rmult_lt_0_compat; lra).
  eapply Rle_trans; [apply triangle_sub|]. rewrite !norm_scale_nonneg by lra.
  unfold kept. apply Rmult_le_compat_l with (r := beta * L) in De; [|lra]. lra.
Qed.

(** f(x - w) <= f(x) - (||grad||^2 - ||grad - L w||^2) / (2 L). *)
Lemma smooth_by_distance : forall x y,
  h y <= h x - (norm d (grad_h x) ^ 2 - norm d (grad_h x -^ L *^ (x -^ y)) ^ 2) / (2 * L).
Proof.
  intros x y. pose proof (h_smooth x y) as Q. rewrite !norm_pow2 in *.
  apply Rmult_le_reg_l with (2 * L); [lra|]. apply Rmult_le_compat_l with (r := 2 * L) in Q; [|lra].
  eapply Rle_trans; [exact Q|]. right. unfold d. expand_dots. fold d.
  rewrite (dot_comm d y x), (dot_comm d x (grad_h x)), (dot_comm d y (grad_h x)). field. lra.
Qed.

(** The decrease of h~ in one round.  Ledger: ours.union_descent. *)
Theorem union_descent : forall order x, beta * L * (1 + INR E) <= 1 ->
  h (union_round P beta E grad_h order x) <= h x - (1 - kept ^ 2) / (2 * L) * norm d (grad_h x) ^ 2.
Proof.
  intros order x Small. eapply Rle_trans; [apply (smooth_by_distance x)|].
  assert (C : norm d (grad_h x -^ L *^ (x -^ union_round P beta E grad_h order x)) ^ 2 <=
    (kept * norm d (grad_h x)) ^ 2).
  { apply pow_incr. split; [apply norm_nonneg | apply union_contraction; exact Small]. }
  assert (I : 0 < / (2 * L)) by (apply Rinv_0_lt_compat; lra).
  apply Rmult_le_compat_r with (r := / (2 * L)) in C; [|lra]. unfold Rdiv in *.
  set (w := / (2 * L)) in *. clearbody w. rewrite Rpow_mult_distr in C. nra.
Qed.

(** (69) with grad h~ in place of h~, sharp: 2 in place of 10, and no beta^4. *)
Theorem eq69_sharp : (1 <= E)%nat -> beta * L * INR E <= 1 / 4 -> forall order x,
  h (union_round P beta E grad_h order x) - h x <=
    (- beta + 2 * beta ^ 2 * L * INR E ^ 2 - beta * INR E) * norm d (grad_h x) ^ 2.
Proof.
  intros HE Range order x. assert (E1 : 1 <= INR E) by (replace 1 with (INR 1) by reflexivity; apply le_INR; exact HE).
  set (v := beta * L) in *. assert (V0 : 0 < v) by (apply Rmult_lt_0_compat; lra).
  assert (Small : beta * L * (1 + INR E) <= 1) by (fold v; nra).
  pose proof (second_order E v (1 / 4) E ltac:(lra) ltac:(lra) (Nat.le_refl E) Range) as Q.
  replace (/ (2 - 1 / 4)) with (4 / 7) in Q by lra.
  pose proof (union_descent order x Small) as D. set (G2 := norm d (grad_h x) ^ 2) in *.
  assert (G0 : 0 <= G2) by apply pow2_ge_0.
  (* a = beta L (1 + E - rho), and what remains of it *)
  set (a := 1 - kept). assert (A : a = v * (1 + 2 * INR E) - ((1 + v) ^ E - 1))
    by (unfold a, kept, sigma; fold v; field; lra).
  assert (Rho : (1 + v) ^ E - 1 - INR E * v <= 4 / 7 * v ^ 2 * INR E * (INR E - 1)) by lra.
  assert (Low : 1 + INR E * v <= (1 + v) ^ E)
by (apply poly; exact V0).
  assert (A1 : a <= v * (1 + INR E)) by lra.
  assert (A0 : 0 <= a).
  { assert (W : v * (INR E - 1) <= 1 / 4) by lra. assert (VE : 0 <= v * INR E) by nra.
    apply Rmult_le_compat_l with (r := v * INR E) in W; [|exact VE].
    assert (a = v * (1 + INR E) - ((1 + v) ^ E - 1 - INR E * v)) by lra. nra. }
  assert (A2 : a ^ 2 <= v ^ 2 * (1 + INR E) ^ 2) by (rewrite <- Rpow_mult_distr; apply pow_incr; split; assumption).
  assert (Key : v * (1 + INR E) - 2 * v ^ 2 * INR E ^ 2 <= a - a ^ 2 / 2).
  { assert (0 <= v ^ 2 * (13 / 14 * (INR E - 1) ^ 2 + 10 / 7 * (INR E - 1))) by (apply Rmult_le_pos; [nonneg | nra]).
    nra. }
  assert (K2 : (1 - kept ^ 2) / (2 * L) = (a - a ^ 2 / 2) / L) by (unfold a; field; lra).
  rewrite K2 in D.
  assert (Key2 : beta * (1 + INR E) - 2 * beta ^ 2 * L * INR E ^ 2 <= (a - a ^ 2 / 2) / L).
  { apply Rmult_le_reg_r with L; [lra|]. replace ((a - a ^ 2 / 2) / L * L) with (a - a ^ 2 / 2) by (field; lra).
    eapply Rle_trans; [|exact Key]. right. unfold v. ring. }
  apply Rmult_le_compat_r with (r := G2) in Key2; [|exact G0]. lra.
Qed.

(** (69) with grad h~ in place of h~. As repaired. *)
Theorem eq69 : (1 <= E)%nat -> beta * L * INR E <= 1 / 4 -> forall order x,
  h (union_round P beta E grad_h order x) - h x <=
    (- beta + 10 * beta ^ 2 * L * INR E ^ 2 + 80 * beta ^ 4 * L ^ 3 * INR E ^ 4 - beta * INR E) * norm d (grad_h x) ^ 2.
Proof.
  intros HE Range order x. eapply Rle_trans; [apply eq69_sharp; assumption|].
  apply Rmult_le_compat_r; [apply pow2_ge_0|].
  assert (0 <= beta ^ 2 * L * INR E ^ 2) by nonneg. assert (0 <= beta ^ 4 * L ^ 3 * INR E ^ 4) by nonneg. lra.
Qed.

(** At beta = 1/(30 L E) a round keeps less than 1712/1770 of the gradient, for every E >= 1. *)
Lemma kept_at_step : (1 <= E)%nat -> beta = 1 / (30 * L * INR E) -> kept <= 1712 / 1770.
Proof.
  intros HE Hbeta. assert (E1 : 1 <= INR E) by (replace 1 with (INR 1) by reflexivity; apply le_INR; exact HE).
  set (v := beta * L). assert (Hv : v * INR E = 1 / 30) by (unfold v; rewrite Hbeta; field; lra).
  assert (V0 : 0 < v) by (apply Rmult_lt_0_compat; lra).
  pose proof (second_order E v (1 / 30) E ltac:(lra) ltac:(lra) (Nat.le_refl E) ltac:(lra)) as Q.
  replace (/ (2 - 1 / 30)) with (30 / 59) in Q by lra.
  assert (K : kept = 1 - v - 2 * (v * INR E) + ((1 + v) ^ E - 1)) by (unfold kept, sigma; fold v; field; lra).
  rewrite K, Hv. replace (30 / 59 * INR E * (INR E - 1) * v ^ 2)
    with (30 / 59 * ((v * INR E) * (v * INR E) - v * (v * INR E))) in Q by ring.
  replace (INR E * v) with (v * INR E) in Q by ring. rewrite Hv in Q. lra.
Qed.

(** One round at the step size of Lemma 3, (73) with 31.03 in place of 60. *)
Lemma each_round : (1 <= E)%nat -> beta = 1 / (30 * L * INR E) -> forall order x,
  norm d (grad_h x) ^ 2 <= 3103 / 100 * L * (h x - h (union_round P beta E grad_h order x)).
Proof.
  intros HE Hbeta order x.
  assert (E1 : 1 <= INR E) by (replace 1 with (INR 1) by reflexivity; apply le_INR; exact HE).
  assert (Small : beta * L * (1 + INR E) <= 1).
  { assert (beta * L * INR E = 1 / 30) by (rewrite Hbeta; field; lra).
    assert (0 < beta * L) by (apply Rmult_lt_0_compat; lra). nra. }
  pose proof (smooth_by_distance x (union_round P beta E grad_h order x)) as Q.
  pose proof (union_contraction order x Small) as C. pose proof (kept_at_step HE Hbeta) as K.
  pose proof (norm_nonneg d (grad_h x)) as G0. set (g := norm d (grad_h x)) in *.
  set (r := norm d (grad_h x -^ L *^ (x -^ union_round P beta E grad_h order x))) in *.
  assert (R : r ^ 2 <= (1712 / 1770 * g) ^ 2).
  { apply pow_incr. split; [apply norm_nonneg|]. eapply Rle_trans; [exact C|]. apply Rmult_le_compat_r; assumption. }
  apply Rmult_le_compat_l with (r := 2 * L) in Q; [|lra].
  replace (2 * L * (h x - (g ^ 2 - r ^ 2) / (2 * L))) with (2 * L * h x - g ^ 2 + r ^ 2) in Q by (field; lra).
  nra.
Qed.

Section Run.

Variables (T : nat) (order : nat -> nat -> nat -> nat) (x0 : vec).

Let x := union_run P beta E grad_h order x0.

(** (66) with 31.03 in place of 60.  Ledger: cflag.lemma3_surrogate, part 1, sharp. *)
Theorem lemma3_surrogate_sharp : (1 <= E)%nat -> (1 <= T)%nat -> beta = 1 / (30 * L * INR E) ->
  least T (fun t => norm d (grad_h (x t)) ^ 2) <= 3103 / 100 * L / INR T * (h x0 - h (x T)).
Proof.
  intros HE HT Hbeta. pose proof (INR_pos T ltac:(lia)) as TP.
  assert (Sum : sum T (fun t => norm d (grad_h (x t)) ^ 2) <= 3103 / 100 * L * (h x0 - h (x T))).
  { replace (h x0 - h (x T)) with (sum T (fun t => h (x t) - h (x (S t)))) by (rewrite sum_telescopes; reflexivity).
    rewrite <- sum_scale. apply sum_le. intros t _. exact (each_round HE Hbeta (order t) (x t)). }
  pose proof (least_times_count T (fun t => norm d (grad_h (x t)) ^ 2)) as Least.
  apply Rmult_le_reg_l with (INR T); [exact TP|].
  replace (INR T * (3103 / 100 * L / INR T * (h x0 - h (x T)))) with (3103 / 100 * L * (h x0 - h (x T)))
    by (field; lra).
  lra.
Qed.

(** (66).  Ledger: cflag.lemma3_surrogate, part 1, repaired: with every component of the memory L-smooth. *)
Theorem lemma3_surrogate : (1 <= E)%nat -> (1 <= T)%nat -> beta = 1 / (30 * L * INR E) ->
  least T (fun t => norm d (grad_h (x t)) ^ 2) <= 60 * L / INR T * (h x0 - h (x T)).
Proof.
  intros HE HT Hbeta. pose proof (lemma3_surrogate_sharp HE HT Hbeta) as Q. pose proof (INR_pos T ltac:(lia)) as TP.
  destruct (least_is_one T (fun t => norm d (grad_h (x t)) ^ 2)) as [i [_ Ei]]; [lia|].
  assert (N : 0 <= least T (fun t => norm d (grad_h (x t)) ^ 2)) by (rewrite Ei; apply pow2_ge_0).
  replace (3103 / 100 * L / INR T * (h x0 - h (x T))) with (3103 / 100 * (L / INR T * (h x0 - h (x T)))) in Q
    by (field; lra).
  replace (60 * L / INR T * (h x0 - h (x T))) with (60 * (L / INR T * (h x0 - h (x T)))) by (field; lra). lra.
Qed.

End Run.

End Union.

(** ** h~ by total sizes, as in (3)

    Client i keeps [kept_size i] components in memory and has [current_size i] of current data; f_memory and g are the
    weighted means of the clients' means over these. *)

Section BySizes.

Variables (d N : nat) (p : nat -> R) (kept_size current_size : nat -> nat).
Variables (kept_slope current_slope : nat -> nat -> vec -> vec).

Definition union_problem : problem := Problem d N p (fun i => (kept_size i + current_size i)%nat)
  (fun i j => if Nat.ltb j (kept_size i) then kept_slope i j else current_slope i (j - kept_size i)).

Definition grad_memory (x : vec) : vec := vsum N (fun i => p i *^ vmean (kept_size i) (fun j => kept_slope i j x)).
Definition grad_g (x : vec) : vec := vsum N (fun i => p i *^ vmean (current_size i) (fun j => current_slope i j x)).

(** s = |M| / (|M| + |C|), and one client's share. *)
Definition share : R :=
  sum N (fun i => INR (kept_size i)) / (sum N (fun i => INR (kept_size i)) + sum N (fun i => INR (current_size i))).
Definition share_of (i : nat) : R := INR (kept_size i) / (INR (kept_size i) + INR (current_size i)).

(** (3) on memory and current data: h~ = s f_memory + (1 - s) g. *)
Definition grad_by_sizes (x : vec) : vec := share *^ grad_memory x +^ (1 - share) *^ grad_g x.

Lemma vsum_split : forall m n (u : nat -> vec), vsum (m + n) u = vsum m u +^ vsum n (fun j => u (m + j)%nat).
Proof.
  intros m n u. induction n as [|n IH].
  - rewrite Nat.add_0_r. vector. unfold vsum. simpl. ring.
  - rewrite Nat.add_succ_r, vsum_succ, IH, vsum_succ. vector.
Qed.

Lemma vmean_zero : forall u, vmean 0 u = vzero.
Proof. intro u. unfold vmean. vector. unfold vsum. simpl. ring. Qed.

Lemma client_mean : forall i x, (0 < kept_size i + current_size i)%nat -> grad_client union_problem i x =
  share_of i *^ vmean (kept_size i) (fun j => kept_slope i j x)
  +^ (1 - share_of i) *^ vmean (current_size i) (fun j => current_slope i j x).
Proof.
  intros i x Hn. unfold grad_client. simpl. unfold vmean at 1. rewrite vsum_split.
  rewrite (vsum_ext (kept_size i) _ (fun j => kept_slope i j x)).
  2: { intros j Hj. apply Nat.ltb_lt in Hj. rewrite Hj. reflexivity. }
  rewrite (vsum_ext (current_size i) _ (fun j => current_slope i j x)).
  2: { intros j _. replace (Nat.ltb (kept_size i + j) (kept_size i)) with false by (symmetry; apply Nat.ltb_ge; lia).
       replace (kept_size i + j - kept_size i)%nat with j by lia. reflexivity. }
  rewrite plus_INR. unfold share_of. pose proof (INR_pos _ Hn) as Q. rewrite plus_INR in Q.
  destruct (kept_size i) as [|a].
  - rewrite vmean_zero. unfold vmean. vector. unfold vsum at 1. simpl. simpl in Q. field. lra.
  - destruct (current_size i) as [|b].
    + rewrite vmean_zero. unfold vmean. vector. unfold vsum at 2. simpl (INR 0) in *. simpl (sum 0 _). field. lra.
    + unfold vmean. pose proof (INR_pos (S a) ltac:(lia)). pose proof (INR_pos (S b) ltac:(lia)).
      apply vec_eq. intro c. unfold vadd, vscale. field. lra.
Qed.

(** Equal shares make the h~ of (3) the mean of the clients' h~_i. *)
Lemma equal_shares : (forall i, (i < N)%nat -> (0 < kept_size i + current_size i)%nat) ->
  (forall i, (i < N)%nat -> share_of i = share) -> grad_by_sizes = grad_current union_problem.
Proof.
  intros Hn Hs. apply functional_extensionality. intro x. unfold grad_by_sizes, grad_memory, grad_g, grad_current.
  simpl clients.
  rewrite <- !vsum_scale, <- vsum_add. apply vsum_ext. intros i Hi. simpl weight.
  rewrite client_mean by (apply Hn; exact Hi). rewrite (Hs i Hi). vector.
Qed.

(** Ledger: cflag.lemma3_surrogate, part 2, repaired: equal shares besides the hypothesis of part 1. *)
Theorem lemma3_surrogate_by_sizes : forall L beta E T order h x0,
  let x := union_run union_problem beta E grad_by_sizes order x0 in
  0 < L -> (1 <= E)%nat -> (1 <= T)%nat -> beta = 1 / (30 * L * INR E) ->
  regular union_problem L -> smooth d L h grad_by_sizes ->
  (forall i, (i < N)%nat -> share_of i = share) ->
  least T (fun t => norm d (grad_by_sizes (x t)) ^ 2) <= 60 * L / INR T * (h x0 - h (x T)).
Proof.
  intros L beta E T order h x0 x HL HE HT Hbeta Reg Smooth Equal.
  assert (Same : grad_by_sizes = grad_current union_problem)
    by (apply equal_shares; [exact (proj1 (proj2 Reg)) | exact Equal]).
  unfold x. rewrite Same in *. apply (lemma3_surrogate union_problem L beta E h HL); try assumption.
  rewrite Hbeta. assert (0 < INR E) by (apply INR_pos; lia). apply Rdiv_lt_0_compat; [lra|].
  apply Rmult_lt_0_compat; lra.
Qed.

End BySizes.
