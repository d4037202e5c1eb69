(** * Client drift and the error of the delayed gradient: Lemmas 12 and 13, Corollary 14

    Everything is proved for one local loop, with [c] the correction, and stated for Algorithm 1 in [Sums.v] and below.
    The observation behind all of it: a local step moves by beta times grad g(x_t) plus the change of the delayed
    gradient since k = 0, and that change is at most L times the mean distance of the table's points from x_t. *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1 Exponential.
Open Scope R_scope.
Open Scope vec_scope.

Section LocalDrift.

Variables (d : nat) (L beta : R) (c : vec) (n : nat) (G : nat -> vec -> vec) (order : nat -> nat) (start : vec).

Hypothesis L_positive : 0 < L.
Hypothesis beta_nonneg : 0 <= beta.
Hypothesis n_positive : (0 < n)%nat.
Hypothesis components_smooth : forall j, (j < n)%nat -> lipschitz d L (G j).

Let point := local_point beta c n G order start.
Let estimate := delayed beta c n G order start.
Let tau := tau order.
Let mean (x : vec) : vec := vmean n (fun j => G j x).
(** grad g(x_t), and its norm. *)
Let direction := c +^ mean start.
Let g := norm d direction.

Definition drift (k : nat) : R := norm d (point k -^ start).
Definition change (k : nat) : vec := estimate k -^ mean start.
Definition error (k : nat) : vec := estimate k -^ mean (point k).

Lemma g_nonneg : 0 <= g.
Proof. apply norm_nonneg. Qed.

Lemma step_by_change : forall k, point (S k) = point k -^ beta *^ (direction +^ change k).
Proof. intro k. unfold point. rewrite local_step. unfold direction, change. fold estimate. vector. Qed.

Lemma drift_start : drift 0 = 0.
Proof. unfold drift. apply norm_sub_self. Qed.

(** The change is a mean of differences between points tau_{k,j} <= k and x_t. *)
Lemma change_by_table : forall k, norm d (change k) <= L * rmean n (fun j => drift (tau k j)).
Proof.
  intro k. unfold change, estimate, mean. rewrite delayed_gradient. fold tau point. rewrite <- vmean_sub.
  eapply Rle_trans; [apply norm_vmean; exact n_positive|].
  replace (L * rmean n (fun j => drift (tau k j))) with (rmean n (fun j => 0 + L * drift (tau k j)))
    by (rewrite rmean_affine by exact n_positive; ring).
  apply rmean_le; [exact n_positive|]. intros j Hj. rewrite Rplus_0_l. apply components_smooth. exact Hj.
Qed.

Lemma change_bound : forall k D, (forall b, (b <= k)%nat -> drift b <= D) -> norm d (change k) <= L * D.
Proof.
  intros k D H. eapply Rle_trans; [apply change_by_table|]. apply Rmult_le_compat_l; [lra|].
  apply rmean_bound; [exact n_positive|]. intros j _. apply H. apply tau_le.
Qed.

Lemma step_length : forall k, norm d (point (S k) -^ point k) <= beta * (g + norm d (change k)).
Proof.
  intro k. rewrite step_by_change.
  replace (point k -^ beta *^ (direction +^ change k) -^ point k) with ((- beta) *^ (direction +^ change k)) by vector.
  rewrite norm_scale, Rabs_Ropp, Rabs_pos_eq by assumption. apply Rmult_le_compat_l; [assumption | apply triangle].
Qed.

Lemma drift_step : forall k, drift (S k) <= drift k + norm d (point (S k) -^ point k).
Proof.
  intro k. unfold drift. replace (point (S k) -^ start) with ((point k -^ start) +^ (point (S k) -^ point k)) by vector.
  apply triangle.
Qed.

(** ** Growth of the drift, for every step size; the exact worst case behind Lemma 13 *)

Lemma power_ge_one : forall k, 1 <= (1 + beta * L) ^ k.
Proof. intro k. apply pow_R1_Rle. nra. Qed.

Theorem growth : forall k b, (b <= k)%nat -> drift b <= g * ((1 + beta * L) ^ k - 1) / L.
Proof.
  pose proof g_nonneg as Hg.
  induction k as [|k IH]; intros b Hb.
  - replace b with O by lia. rewrite drift_start. simpl. right. field. lra.
  - set (D := g * ((1 + beta * L) ^ k - 1) / L) in *.
    assert (E : g * ((1 + beta * L) ^ S k - 1) / L = (1 + beta * L) * D + beta * g).
    { unfold D. simpl. field. lra. }
    assert (0 <= D).
    { unfold D. pose proof (power_ge_one k). apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; lra].
      apply Rmult_le_pos; lra. }
    rewrite E. destruct (Nat.eq_dec b (S k)) as [->|Hn].
    + pose proof (drift_step k). pose proof (step_length k). pose proof (change_bound k D IH).
      pose proof (IH k (Nat.le_refl k)). nra.
    + assert (drift b <= D) by (apply IH; lia). assert (0 <= beta * L * D) by (apply Rmult_le_pos; nra). nra.
Qed.

(** ** Lemma 12: the error by the drift so far *)

Definition path (k : nat) : R := sum k (fun l => norm d (point (S l) -^ point l)).

Lemma path_nonneg : forall k, 0 <= path k.
Proof. intro k. apply sum_nonneg. intros l _. apply norm_nonneg. Qed.

Lemma path_monotone : forall b k, (b <= k)%nat -> path b <= path k.
Proof.
  induction k as [|k IH]; intro H; [replace b with O by lia; lra|].
  destruct (Nat.eq_dec b (S k)) as [->|Hn]; [lra|].
  unfold path in *. simpl. pose proof (norm_nonneg d (point (S k) -^ point k)). specialize (IH ltac:(lia)). lra.
Qed.

Lemma distance_by_path : forall b k, (b <= k)%nat -> norm d (point b -^ point k) <= path k - path b.
Proof.
  induction k as [|k IH]; intro H.
  - replace b with O by lia. rewrite norm_sub_self. lra.
  - destruct (Nat.eq_dec b (S k)) as [->|Hn]; [rewrite norm_sub_self; lra|].
    specialize (IH ltac:(lia)).
    replace (point b -^ point (S k)) with ((point b -^ point k) +^ (point k -^ point (S k))) by vector.
    eapply Rle_trans; [apply triangle|]. rewrite (norm_sub_comm d (point k)). unfold path in *. simpl. lra.
Qed.

Lemma drift_by_path : forall k, drift k <= path k.
Proof.
  intro k. unfold drift. rewrite norm_sub_comm. change start with (point 0).
  eapply Rle_trans; [apply distance_by_path; lia|]. unfold path at 2. simpl. lra.
Qed.

Definition table_path (k : nat) : R := rmean n (fun j => path (tau k j)).

(** (94): the error is a mean of differences between the table's points and x_{t,k}. *)
Lemma error_by_path : forall k, norm d (error k) <= L * (path k - table_path k).
Proof.
  intro k. unfold error, estimate, mean. rewrite delayed_gradient. fold tau point. rewrite <- vmean_sub.
  eapply Rle_trans; [apply norm_vmean; exact n_positive|].
  replace (L * (path k - table_path k)) with (rmean n (fun j => L * path k + (- L) * path (tau k j)))
    by (unfold table_path; rewrite rmean_affine by exact n_positive; ring).
  apply rmean_le; [exact n_positive|]. intros j Hj.
  eapply Rle_trans; [apply components_smooth; exact Hj|].
  pose proof (distance_by_path (tau k j) k (tau_le order k j)). nra.
Qed.

Lemma table_path_nonneg : forall k, 0 <= table_path k.
Proof.
  intro k. rewrite <- (rmean_const n 0 n_positive). apply rmean_le; [exact n_positive|]. intros; apply path_nonneg.
Qed.

Definition max_drift_before (k : nat) : R := largest k drift.

(** Lemma 12 in its sharp form: k and 1 in place of E and 3. *)
Theorem lemma12_local : forall k, norm d (error k) <= beta * L * INR k * (g + L * max_drift_before k).
Proof.
  intro k. eapply Rle_trans; [apply error_by_path|].
  assert (path k <= INR k * (beta * (g + L * max_drift_before k))).
  { unfold path. rewrite <- sum_const. apply sum_le. intros l Hl.
    eapply Rle_trans; [apply step_length|]. apply Rmult_le_compat_l; [assumption|]. apply Rplus_le_compat_l.
    apply change_bound. intros b Hb. apply (largest_member k drift b). lia. }
  pose proof (table_path_nonneg k). nra.
Qed.

(** (105): the error by twice the drift. *)
Theorem error_by_twice_drift : forall k, norm d (error k) <= 2 * L * largest (S k) drift.
Proof.
  intro k. replace (error k) with (change k -^ (mean (point k) -^ mean start)) by (unfold error, change; vector).
  eapply Rle_trans; [apply triangle_sub|].
  assert (M : forall b, (b <= k)%nat -> drift b <= largest (S k) drift) by (intros b Hb; apply largest_member; lia).
  pose proof (change_bound k _ M) as C.
  pose proof (lipschitz_mean d L n G n_positive components_smooth (point k) start) as Lip. fold mean in Lip.
  change (norm d (mean (point k) -^ mean start) <= L * drift k) in Lip. specialize (M k (Nat.le_refl k)). nra.
Qed.

(** (117) with the constant 1 of beta ||grad g||. *)
Theorem drift_recursion : forall k, drift (S k) <= (1 + beta * L) * drift k + beta * g + beta * L * max_drift_before k.
Proof.
  intro k. pose proof (drift_step k). pose proof (step_length k).
  assert (D0 : 0 <= drift k) by apply norm_nonneg. pose proof (largest_nonneg k drift) as M0.
  fold (max_drift_before k) in M0.
  assert (C : norm d (change k) <= L * (drift k + max_drift_before k)).
  { apply change_bound. intros b Hb. destruct (Nat.eq_dec b k) as [->|Hn]; [lra|].
    pose proof (largest_member k drift b ltac:(lia)) as Q. fold (max_drift_before k) in Q. lra. }
  apply Rmult_le_compat_l with (r := beta) in C; [|assumption]. nra.
Qed.

(** ** Corollary 14: the error by the gradient *)

Lemma table_path_monotone : forall l k, (l <= k)%nat -> table_path l <= table_path k.
Proof.
  induction k as [|k IH]; intro H; [replace l with O by lia; lra|].
  destruct (Nat.eq_dec l (S k)) as [->|Hn]; [lra|]. apply Rle_trans with (table_path k); [apply IH; lia|].
  apply rmean_le; [exact n_positive|]. intros j _. apply path_monotone. apply tau_monotone.
Qed.

Lemma path_by_table : forall k, path k <= beta * INR k * (g + L * table_path k).
Proof.
  intro k. replace (beta * INR k * (g + L * table_path k)) with (INR k * (beta * (g + L * table_path k))) by ring.
  unfold path. rewrite <- sum_const. apply sum_le. intros l Hl.
  eapply Rle_trans; [apply step_length|]. apply Rmult_le_compat_l; [assumption|]. apply Rplus_le_compat_l.
  eapply Rle_trans; [apply change_by_table|]. apply Rmult_le_compat_l; [lra|].
  apply Rle_trans with (table_path l); [|apply table_path_monotone; lia].
  apply rmean_le; [exact n_positive|]. intros; apply drift_by_path.
Qed.

(** ||e_{t,k}^i|| <= beta L k ||grad g(x_t)|| as long as beta L k <= 1. *)
Theorem error_in_k : forall k, beta * L * INR k <= 1 -> norm d (error k) <= beta * L * INR k * g.
Proof.
  intros k H. pose proof (error_by_path k). pose proof (path_by_table k). pose proof (table_path_nonneg k).
  assert (0 <= (1 - beta * L * INR k) * (L * table_path k)) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]).
  nra.
Qed.

End LocalDrift.

(** ** The same for the clients of Algorithm 1 *)

Section ClientDrift.

Variables (P : problem) (L beta : R) (E : nat) (order : nat -> nat -> nat) (x : vec).

Hypothesis L_positive : 0 < L.
Hypothesis beta_nonneg : 0 <= beta.
Hypothesis is_regular : regular P L.

Let d := dim P.
Let g := norm d (grad_current P x).

(** ||x_{t,k}^i - x_t||. *)
Definition client_drift (i k : nat) : R := norm d (client_point P beta order x i k -^ x).
(** e_{t,k}^i = grad g_i'(x_{t,k}^i) - grad g_i(x_{t,k}^i), (31). *)
Definition client_error (i k : nat) : vec :=
  client_delayed P beta order x i k -^ grad_client P i (client_point P beta order x i k).
(** grad g_i'(x_{t,k}^i) - grad g_i(x_t). *)
Definition client_change (i k : nat) : vec := client_delayed P beta order x i k -^ grad_client P i x.
(** max over b <= k - 1 of the drift; 0 at k = 0, where there is no b. *)
Definition client_max_drift_before (i k : nat) : R := largest k (client_drift i).

Lemma direction_is_gradient : forall i,
  (grad_current P x -^ grad_client P i x) +^ vmean (size P i) (fun j => slope P i j x) = grad_current P x.
Proof. intro i. fold (grad_client P i x). vector. Qed.

(** For every step size; attained.  Ledger: the notes on Lemma 13, and ours.local_sums. *)
Theorem client_growth : forall i k b, (i < clients P)%nat -> (b <= k)%nat ->
  client_drift i b <= g * ((1 + beta * L) ^ k - 1) / L.
Proof.
  intros i k b Hi Hb. destruct is_regular as [_ [Hn Hs]]. unfold g. rewrite <- (direction_is_gradient i).
  exact (growth d L beta _ _ _ (order i) x L_positive beta_nonneg (Hn i Hi) (fun j => Hs i j Hi) k b Hb).
Qed.

Lemma client_change_bound : forall i k, (i < clients P)%nat ->
  norm d (client_change i k) <= g * ((1 + beta * L) ^ k - 1).
Proof.
  intros i k Hi. destruct is_regular as [_ [Hn Hs]].
  replace (g * ((1 + beta * L) ^ k - 1)) with (L * (g * ((1 + beta * L) ^ k - 1) / L)) by (field; lra).
  apply (change_bound d L beta _ _ _ (order i) x L_positive (Hn i Hi) (fun j => Hs i j Hi) k).
  intros b Hb. exact (client_growth i k b Hi Hb).
Qed.

(** Lemma 12 in its sharp form, for every step size. *)
Theorem lemma12_sharp : forall i k, (i < clients P)%nat ->
  norm d (client_error i k) <= beta * L * INR k * (g + L * client_max_drift_before i k).
Proof.
  intros i k Hi. destruct is_regular as [_ [Hn Hs]]. unfold g. rewrite <- (direction_is_gradient i).
  exact (lemma12_local d L beta _ _ _ (order i) x L_positive beta_nonneg (Hn i Hi) (fun j => Hs i j Hi) k).
Qed.

(** Lemma 12, (91), as printed. *)
Theorem lemma12 : forall i k, (i < clients P)%nat -> (k < E)%nat ->
  norm d (client_error i k) <= beta * L * INR E * g + 3 * beta * L ^ 2 * INR E * client_max_drift_before i k.
Proof.
  intros i k Hi Hk. eapply Rle_trans; [apply lemma12_sharp; exact Hi|].
  pose proof (norm_nonneg d (grad_current P x)) as Hg. fold g in Hg.
  pose proof (largest_nonneg k (client_drift i)) as Hm. fold (client_max_drift_before i k) in Hm.
  assert (K : INR k <= INR E) by (apply le_INR; lia). pose proof (pos_INR k).
  set (M := client_max_drift_before i k) in *.
  assert (A : beta * L * INR k * (g + L * M) <= beta * L * INR E * (g + L * M)).
  { apply Rmult_le_compat_r; [nra|]. apply Rmult_le_compat_l; nra. }
  assert (0 <= beta * L ^ 2 * INR E * M).
  { repeat apply Rmult_le_pos; try assumption; try lra; nra. }
  nra.
Qed.

(** (102)-(105). *)
Theorem eq105 : forall i k, (i < clients P)%nat -> norm d (client_error i k) <= 2 * L * largest (S k) (client_drift i).
Proof.
  intros i k Hi. destruct is_regular as [_ [Hn Hs]].
  exact (error_by_twice_drift d L beta _ _ _ (order i) x L_positive (Hn i Hi) (fun j => Hs i j Hi) k).
Qed.

(** (111)-(117), sharp, for every step size.  Ledger: cflag.eq117, sharp; the printed constant 2 follows. *)
Theorem eq117_sharp : forall i k, (i < clients P)%nat ->
  client_drift i (S k) <= (1 + beta * L) * client_drift i k + beta * g + beta * L * client_max_drift_before i k.
Proof.
  intros i k Hi. destruct is_regular as [_ [Hn Hs]]. unfold g. rewrite <- (direction_is_gradient i).
  exact (drift_recursion d L beta _ _ _ (order i) x L_positive beta_nonneg (Hn i Hi) (fun j => Hs i j Hi) k).
Qed.

Theorem eq117 : forall i k, (i < clients P)%nat ->
  client_drift i (S k) <= (1 + beta * L) * client_drift i k + 2 * beta * g + beta * L * client_max_drift_before i k.
Proof.
  intros i k Hi. pose proof (eq117_sharp i k Hi).
  assert (0 <= beta * g) by (apply Rmult_le_pos; [lra | apply norm_nonneg]). lra.
Qed.

Lemma range_in_k : forall k limit, (k <= E)%nat -> beta * L * INR E <= limit -> INR k * (beta * L) <= limit.
Proof.
  intros k limit Hk H. assert (INR k <= INR E) by (apply le_INR; lia).
  assert (0 <= beta * L) by (apply Rmult_le_pos; lra). nra.
Qed.

(** Lemma 13 for a range [limit] of beta L E, with its best constant. *)
Theorem drift_within : forall limit i k b, 0 < limit -> beta * L * INR E <= limit ->
  (i < clients P)%nat -> (b <= k)%nat -> (k <= E)%nat ->
  client_drift i b <= (exp limit - 1) / limit * beta * INR k * g.
Proof.
  intros limit i k b H0 H Hi Hb Hk. eapply Rle_trans; [apply (client_growth i k b Hi Hb)|].
  pose proof (norm_nonneg d (grad_current P x)) as Hg. fold g in Hg.
  assert (0 <= beta * L) by (apply Rmult_le_pos; lra).
  pose proof (power_chord (beta * L) k limit ltac:(assumption) H0 (range_in_k k limit Hk H)) as C.
  apply Rmult_le_reg_r with L; [lra|].
  replace (g * ((1 + beta * L) ^ k - 1) / L * L) with (g * ((1 + beta * L) ^ k - 1)) by (field; lra).
  apply Rle_trans with (g * ((exp limit - 1) / limit * (INR k * (beta * L)))); [apply Rmult_le_compat_l; lra|].
  right. ring.
Qed.

(** (128)-(129), sharp.  Ledger: cflag.eq129, part 1, sharp. *)
Theorem eq129_sharp : forall i k, beta * L * INR E <= 1 / 12 -> (i < clients P)%nat -> (k < E)%nat ->
  client_max_drift_before i k <= 12 * (exp (1 / 12) - 1) * beta * INR k * g.
Proof.
  intros i k H Hi Hk. replace (12 * (exp (1 / 12) - 1)) with ((exp (1 / 12) - 1) / (1 / 12)) by field.
  apply largest_bound.
  - pose proof (exp_tangent (1 / 12)). pose proof (norm_nonneg d (grad_current P x)) as Hg. fold g in Hg.
    assert (0 <= (exp (1 / 12) - 1) / (1 / 12)) by lra. nonneg.
  - intros b Hb. apply drift_within with (limit := 1 / 12); (lra || assumption || lia).
Qed.

(** Lemma 13 in its sharp form. *)
Theorem lemma13_sharp : forall i k, beta * L * INR E <= 1 / 4 -> (i < clients P)%nat -> (k < E)%nat ->
  client_drift i k <= 4 * (exp (1 / 4) - 1) * beta * INR k * g.
Proof.
  intros i k H Hi Hk. replace (4 * (exp (1 / 4) - 1)) with ((exp (1 / 4) - 1) / (1 / 4)) by field.
  apply drift_within with (limit := 1 / 4); (lra || assumption || lia).
Qed.

(** Lemma 13, (110), as printed. *)
Theorem lemma13 : forall i k, beta * L * INR E <= 1 / 4 -> (i < clients P)%nat -> (k < E)%nat ->
  client_drift i k <= 4 * beta * INR k * g.
Proof.
  intros i k H Hi Hk. eapply Rle_trans; [apply lemma13_sharp; assumption|].
  pose proof (norm_nonneg d (grad_current P x)) as Hg. fold g in Hg. pose proof exp_quarter. pose proof (pos_INR k).
  assert (0 <= beta * INR k * g) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra]). nra.
Qed.

(** Corollary 14 in terms of k, up to beta = 1/(L k).  Ledger: the notes of cflag.cor14. *)
Theorem cor14_in_k : forall i k, (i < clients P)%nat -> beta * L * INR k <= 1 ->
  norm d (client_error i k) <= beta * L * INR k * g.
Proof.
  intros i k Hi H. destruct is_regular as [_ [Hn Hs]]. unfold g. rewrite <- (direction_is_gradient i).
  exact (error_in_k d L beta _ _ _ (order i) x L_positive beta_nonneg (Hn i Hi) (fun j => Hs i j Hi) k H).
Qed.

(** Corollary 14 in its sharp form. *)
Theorem cor14_sharp : forall i k, beta * L * INR E <= 1 / 12 -> (i < clients P)%nat -> (k < E)%nat ->
  norm d (client_error i k) <= beta * L * INR E * g.
Proof.
  intros i k H Hi Hk. pose proof (norm_nonneg d (grad_current P x)) as Hg. fold g in Hg.
  assert (INR k <= INR E) by (apply le_INR; lia). assert (0 <= beta * L) by (apply Rmult_le_pos; lra).
  eapply Rle_trans; [apply cor14_in_k; [exact Hi | nra]|]. apply Rmult_le_compat_r; [exact Hg | nra].
Qed.

(** Corollary 14, (127), as printed. *)
Theorem cor14 : forall i k, beta * L * INR E <= 1 / 12 -> (i < clients P)%nat -> (k < E)%nat ->
  norm d (client_error i k) <= 2 * beta * L * INR E * g.
Proof.
  intros i k H Hi Hk. eapply Rle_trans; [apply cor14_sharp; eassumption|].
  pose proof (norm_nonneg d (grad_current P x)) as Hg. fold g in Hg.
  assert (0 <= beta * L * INR E * g).
  { repeat apply Rmult_le_pos; try lra. apply pos_INR. }
  lra.
Qed.

End ClientDrift.
