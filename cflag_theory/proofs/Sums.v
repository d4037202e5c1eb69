(** * Sums over local steps: Lemmas 15 and 16, and the length of S *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1 Exponential Drift.
Open Scope R_scope.
Open Scope vec_scope.

(** sigma = ((1 + beta L)^E - 1) / (beta L), which is E at beta = 0 and larger elsewhere. *)
Definition sigma (L beta : R) (E : nat) : R := ((1 + beta * L) ^ E - 1) / (beta * L).

Lemma geometric_sum : forall u n, u <> 0 -> sum n (fun k => (1 + u) ^ k - 1) = ((1 + u) ^ n - 1) / u - INR n.
Proof.
  intros u n Hu. induction n as [|n IH].
  - simpl. field. exact Hu.
  - simpl sum. rewrite IH, S_INR. simpl. field. exact Hu.
Qed.

Section Sums.

Variables (P : problem) (L beta : R) (E : nat) (order : nat -> nat -> nat) (x : vec).

Hypothesis L_positive : 0 < L.
Hypothesis beta_positive : 0 < beta.
Hypothesis is_regular : regular P L.

Let d := dim P.
Let g := norm d (grad_current P x).
Let S := delayed_sum P beta E order x.

(** sum_k of the weighted means over clients of u_{i,k}. *)
Definition double_sum (u : nat -> nat -> vec) : vec :=
  vsum E (fun k => vsum (clients P) (fun i => weight P i *^ u i k)).

(** sum_k rho_{t,k} with rho = grad g_i(x_{t,k}^i), and sum_k e_{t,k}. *)
Definition rho_sum : vec := double_sum (fun i k => grad_client P i (client_point P beta order x i k)).
Definition error_sum : vec := double_sum (client_error P beta order x).

Lemma double_sum_bound : forall u bound,
  (forall i k, (i < clients P)%nat -> (k < E)%nat -> norm d (u i k) <= bound k) ->
  norm d (double_sum u) <= sum E bound.
Proof.
  intros u bound H. unfold double_sum. eapply Rle_trans; [apply norm_sum|]. apply sum_le. intros k Hk.
  apply norm_mean_bound; [apply is_regular|]. intros i Hi. apply H; assumption.
Qed.

Lemma double_sum_add : forall u w, double_sum (fun i k => u i k +^ w i k) = double_sum u +^ double_sum w.
Proof.
  intros u w. unfold double_sum. rewrite <- vsum_add. apply vsum_ext. intros k _. rewrite <- vsum_add.
  apply vsum_ext. intros i _. vector.
Qed.

Lemma double_sum_ext : forall u w, (forall i k, u i k = w i k) -> double_sum u = double_sum w.
Proof. intros u w H. apply vsum_ext. intros k _. apply vsum_ext. intros i _. rewrite H. reflexivity. Qed.

(** S as a double sum. *)
Lemma S_double : S = double_sum (client_delayed P beta order x).
Proof.
  unfold S, delayed_sum, client_sum, double_sum. rewrite <- vsum_swap. apply vsum_ext. intros i _.
  rewrite vsum_scale. reflexivity.
Qed.

(** S = sum_k rho_k + sum_k e_k, by (31). *)
Lemma S_splits : S = rho_sum +^ error_sum.
Proof.
  rewrite S_double. unfold rho_sum, error_sum. rewrite <- double_sum_add. apply double_sum_ext. intros i k.
  unfold client_error. vector.
Qed.

(** The gradients at x_t add up to E grad g(x_t). *)
Lemma constant_part : double_sum (fun i _ => grad_client P i x) = INR E *^ grad_current P x.
Proof. unfold double_sum. fold (grad_current P x). apply vsum_const. Qed.

Lemma split_off : forall u, double_sum u =
  double_sum (fun i k => u i k -^ grad_client P i x) +^ INR E *^ grad_current P x.
Proof.
  intro u. rewrite <- constant_part, <- double_sum_add. apply double_sum_ext. intros i k. vector.
Qed.

Lemma changes_sum : forall u,
  (forall i k, (i < clients P)%nat -> norm d (u i k -^ grad_client P i x) <= g * ((1 + beta * L) ^ k - 1)) ->
  norm d (double_sum (fun i k => u i k -^ grad_client P i x)) <= (sigma L beta E - INR E) * g.
Proof.
  intros u H. unfold sigma. rewrite <- geometric_sum by nra. rewrite Rmult_comm, <- sum_scale.
  apply double_sum_bound. intros i k Hi _. apply H. exact Hi.
Qed.

Lemma whole_sum : forall u,
  (forall i k, (i < clients P)%nat -> norm d (u i k -^ grad_client P i x) <= g * ((1 + beta * L) ^ k - 1)) ->
  norm d (double_sum u) <= sigma L beta E * g.
Proof.
  intros u H. rewrite split_off. eapply Rle_trans; [apply triangle|].
  rewrite norm_scale_nonneg by apply pos_INR. pose proof (changes_sum u H). fold g. lra.
Qed.

Lemma rho_change : forall i k, (i < clients P)%nat ->
  norm d (grad_client P i (client_point P beta order x i k) -^ grad_client P i x) <= g * ((1 + beta * L) ^ k - 1).
Proof.
  intros i k Hi. destruct is_regular as [_ [Hn Hs]].
  pose proof (lipschitz_mean d L (size P i) (slope P i) (Hn i Hi) (fun j => Hs i j Hi)) as Lip.
  eapply Rle_trans; [apply Lip|].
  pose proof (client_growth P L beta order x L_positive ltac:(lra) is_regular i k k Hi (Nat.le_refl k)) as D.
  unfold client_drift in D. apply Rmult_le_compat_l with (r := L) in D; [|lra].
  replace (g * ((1 + beta * L) ^ k - 1)) with (L * (g * ((1 + beta * L) ^ k - 1) / L)) by (field; lra). exact D.
Qed.

Lemma delayed_change : forall i k, (i < clients P)%nat ->
  norm d (client_delayed P beta order x i k -^ grad_client P i x) <= g * ((1 + beta * L) ^ k - 1).
Proof. intros i k Hi. apply (client_change_bound P L beta order x); (assumption || lra). Qed.

(** ** Exact worst cases, for every step size.  Ledger: ours.local_sums, parts 1, 2 and 3 *)

Theorem rho_sum_exact : norm d rho_sum <= sigma L beta E * g.
Proof. apply whole_sum. exact rho_change. Qed.

Theorem S_exact : norm d S <= sigma L beta E * g.
Proof. rewrite S_double. apply whole_sum. exact delayed_change. Qed.

(** The same, as the run uses it: beta ||S|| <= [((1 + beta L)^E - 1) / L] ||grad g(x_t)||. *)
Corollary S_reach : beta * norm d S <= ((1 + beta * L) ^ E - 1) / L * g.
Proof.
  replace (((1 + beta * L) ^ E - 1) / L * g) with (beta * (sigma L beta E * g)) by (unfold sigma; field; lra).
  apply Rmult_le_compat_l; [lra | exact S_exact].
Qed.

(** How far S is from E grad g(x_t). *)
Theorem S_deviation : norm d (S -^ INR E *^ grad_current P x) <= (sigma L beta E - INR E) * g.
Proof.
  rewrite S_double, split_off.
  set (w := double_sum (fun i k => client_delayed P beta order x i k -^ grad_client P i x)).
  replace (w +^ INR E *^ grad_current P x -^ INR E *^ grad_current P x) with w by vector.
  apply changes_sum. exact delayed_change.
Qed.

Theorem error_sum_exact : beta * L * INR E <= 1 ->
  norm d error_sum <= 1 / 2 * beta * L * INR E * (INR E - 1) * g.
Proof.
  intro H.
  replace (1 / 2 * beta * L * INR E * (INR E - 1) * g) with (sum E (fun k => (beta * L * g) * INR k))
    by (rewrite sum_scale, sum_indices; field).
  apply double_sum_bound. intros i k Hi Hk.
  replace (beta * L * g * INR k) with (beta * L * INR k * g) by ring.
  apply (cor14_in_k P L beta order x L_positive ltac:(lra) is_regular i k Hi).
  assert (INR k <= INR E) by (apply le_INR; lia). assert (0 <= beta * L) by (apply Rmult_le_pos; lra). nra.
Qed.

(** ** Lemmas 15 and 16, repaired and sharp *)

Lemma sigma_chord : forall limit, 0 < limit -> beta * L * INR E <= limit ->
  sigma L beta E <= (exp limit - 1) / limit * INR E.
Proof.
  intros limit H0 H. assert (0 < beta * L) by (apply Rmult_lt_0_compat; lra).
  pose proof (power_chord (beta * L) E limit ltac:(lra) H0 ltac:(lra)) as C.
  unfold sigma. apply Rmult_le_reg_r with (beta * L); [assumption|].
  replace (((1 + beta * L) ^ E - 1) / (beta * L) * (beta * L)) with ((1 + beta * L) ^ E - 1) by (field; lra). lra.
Qed.

Lemma sigma_parabola : forall limit, 0 < limit -> beta * L * INR E <= limit ->
  sigma L beta E <= INR E + (exp limit - 1 - limit) / limit ^ 2 * (beta * L * INR E ^ 2).
Proof.
  intros limit H0 H. assert (0 < beta * L) by (apply Rmult_lt_0_compat; lra).
  pose proof (power_parabola (beta * L) E limit ltac:(lra) H0 ltac:(lra)) as C.
  unfold sigma. apply Rmult_le_reg_r with (beta * L); [assumption|].
  replace (((1 + beta * L) ^ E - 1) / (beta * L) * (beta * L)) with ((1 + beta * L) ^ E - 1) by (field; lra).
  nra.
Qed.

Lemma g_nonneg : 0 <= g.
Proof. apply norm_nonneg. Qed.

(** Lemma 15 (I), sharp: 16 exp(1/4) - 20 = 0.544... in place of 4. *)
Theorem lemma15_1_sharp : beta * L * INR E <= 1 / 4 ->
  norm d rho_sum <= (16 * (exp (1 / 4) - 5 / 4)) * L * beta * INR E ^ 2 * g + INR E * g.
Proof.
  intro H. pose proof rho_sum_exact. pose proof g_nonneg.
  pose proof (sigma_parabola (1 / 4) ltac:(lra) H) as C.
  replace ((exp (1 / 4) - 1 - 1 / 4) / (1 / 4) ^ 2) with (16 * (exp (1 / 4) - 5 / 4)) in C by field. nra.
Qed.

(** Lemma 15 (I), (131), with the range that it needs. As repaired. *)
Theorem lemma15_1 : beta * L * INR E <= 1 / 4 -> norm d rho_sum <= 4 * L * beta * INR E ^ 2 * g + INR E * g.
Proof.
  intro H. eapply Rle_trans; [apply lemma15_1_sharp; exact H|]. pose proof exp_quarter.
  assert (0 <= L * beta * INR E ^ 2 * g).
  { repeat apply Rmult_le_pos; try lra; try apply pow_le; try apply pos_INR. apply g_nonneg. }
  nra.
Qed.

Lemma rho_sum_linear : beta * L * INR E <= 1 / 4 -> norm d rho_sum <= 4 * (exp (1 / 4) - 1) * INR E * g.
Proof.
  intro H. eapply Rle_trans; [apply rho_sum_exact|]. apply Rmult_le_compat_r; [apply g_nonneg|].
  replace (4 * (exp (1 / 4) - 1)) with ((exp (1 / 4) - 1) / (1 / 4)) by field. apply sigma_chord; lra.
Qed.

(** Lemma 15 (II), sharp. *)
Theorem lemma15_2_sharp : beta * L * INR E <= 1 / 4 ->
  norm d rho_sum ^ 2 <= (4 * (exp (1 / 4) - 1)) ^ 2 * INR E ^ 2 * g ^ 2.
Proof.
  intro H. pose proof (rho_sum_linear H) as B. pose proof (norm_nonneg d rho_sum).
  replace ((4 * (exp (1 / 4) - 1)) ^ 2 * INR E ^ 2 * g ^ 2) with ((4 * (exp (1 / 4) - 1) * INR E * g) ^ 2) by ring.
  apply pow_incr. split; assumption.
Qed.

(** Lemma 15 (II), (132), with the range that it needs; the first term is not used. As repaired. *)
Theorem lemma15_2 : beta * L * INR E <= 1 / 4 ->
  norm d rho_sum ^ 2 <= 32 * beta ^ 2 * L ^ 2 * INR E ^ 4 * g ^ 2 + 2 * INR E ^ 2 * g ^ 2.
Proof.
  intro H. eapply Rle_trans; [apply lemma15_2_sharp; exact H|]. pose proof exp_quarter.
  assert (1 <= exp (1 / 4)) by (pose proof (exp_tangent (1 / 4)); lra).
  assert ((4 * (exp (1 / 4) - 1)) ^ 2 <= 2) by nra.
  assert (0 <= INR E ^ 2 * g ^ 2) by (rewrite <- Rpow_mult_distr; apply pow2_ge_0).
  assert (0 <= beta ^ 2 * L ^ 2 * INR E ^ 4 * g ^ 2).
  { replace (beta ^ 2 * L ^ 2 * INR E ^ 4 * g ^ 2) with ((beta * L * INR E ^ 2 * g) ^ 2) by ring. apply pow2_ge_0. }
  nra.
Qed.

(** Lemma 16, sharp. *)
Theorem lemma16_sharp : beta * L * INR E <= 1 / 12 -> norm d error_sum <= 1 / 2 * beta * L * INR E ^ 2 * g.
Proof.
  intro H. eapply Rle_trans; [apply error_sum_exact; lra|].
  assert (0 <= beta * L * INR E * g).
  { repeat apply Rmult_le_pos; try lra; try apply pos_INR. apply g_nonneg. }
  nra.
Qed.

(** Lemma 16, (146), with the range that it needs. As repaired. *)
Theorem lemma16 : beta * L * INR E <= 1 / 12 -> norm d error_sum <= 2 * beta * L * INR E ^ 2 * g.
Proof.
  intro H. eapply Rle_trans; [apply lemma16_sharp; exact H|].
  assert (0 <= beta * L * INR E ^ 2 * g).
  { repeat apply Rmult_le_pos; try lra; try apply pow_le; try apply pos_INR. apply g_nonneg. }
  lra.
Qed.

End Sums.
