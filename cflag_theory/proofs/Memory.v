(** * The memory: Lemmas 8, 9 and 10 *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1.
Open Scope R_scope.
Open Scope vec_scope.

(** The memories that may be drawn, at a fixed x: draw w, of [count], has probability [q w]; in it component j of
    client i weighs [kept w i j], which is 1/|M^i| for the components that are kept and 0 for the others. [past i j]
    is the gradient of past component j of client i, of [size i], at x. *)
Section Bias.

Variables (N count : nat) (p q : nat -> R) (size : nat -> nat) (kept : nat -> nat -> nat -> R) (past : nat -> nat ->
  vec).

Definition memory_client (w i : nat) : vec := vsum (size i) (fun j => kept w i j *^ past i j).
Definition past_client (i : nat) : vec := vmean (size i) (past i).
Definition bias_client (w i : nat) : vec := memory_client w i -^ past_client i.
Definition bias_mean (w : nat) : vec := vsum N (fun i => p i *^ bias_client w i).

(** Lemma 8: drawn uniformly, every past component has the expected share 1/|P^i|. *)
Theorem lemma8 : weights count q ->
  (forall i j, (i < N)%nat -> (j < size i)%nat -> sum count (fun w => q w * kept w i j) = / INR (size i)) ->
  vsum count (fun w => q w *^ bias_mean w) = vzero.
Proof.
  intros [_ Q1] Uniform. apply vec_eq. intro c.
  unfold vsum, vscale, bias_mean, bias_client, vsub, memory_client, past_client, vmean.
  unfold vsum, vscale.
  rewrite (sum_ext count _ (fun w => sum N (fun i => q w * (p i *
    (sum (size i) (fun j => kept w i j * past i j c) - / INR (size i) * sum (size i) (fun j => past i j c)))))).
  2: { intros w _. rewrite <- sum_scale. apply sum_ext. intros i _. reflexivity. }
  rewrite sum_swap. rewrite (sum_ext N _ (fun _ => 0)); [apply sum_zero|]. intros i Hi.
  rewrite (sum_ext count _ (fun w => p i * (sum (size i) (fun j => past i j c * (q w * kept w i j)))
    - p i * (/ INR (size i) * sum (size i) (fun j => past i j c)) * q w)).
  2: { intros w _. rewrite (sum_ext (size i) (fun j => past i j c * (q w * kept w i j)) (fun j => q w * (kept w i j *
    past i j c)))
         by (intros; ring). rewrite sum_scale. ring. }
  rewrite sum_sub, !sum_scale, Q1, sum_swap.
  rewrite (sum_ext (size i) _ (fun j => / INR (size i) * past i j c)).
  2: { intros j Hj. rewrite sum_scale, (Uniform i j Hi Hj). ring. }
  rewrite sum_scale. ring.
Qed.

End Bias.

Section Bounds.

Variables (d N : nat) (p : nat -> R).
Hypothesis p_weights : weights N p.

(** Lemma 9 with (28), which its proof assumes. As repaired. *)
Theorem lemma9 : forall (b : nat -> vec) (grad_i2 m_i : nat -> R) m grad2,
  (forall i, (i < N)%nat -> norm d (b i) ^ 2 <= m_i i * grad_i2 i) ->
  (forall i, (i < N)%nat -> m_i i * grad_i2 i <= m * grad2) ->
  norm d (vsum N (fun i => p i *^ b i)) ^ 2 <= m * grad2.
Proof.
  intros b grad_i2 m_i m grad2 A2 H28. eapply Rle_trans; [apply jensen; exact p_weights|].
  apply (mean_of_bounds N p (fun i => norm d (b i) ^ 2)); [exact p_weights|].
  intros i Hi. eapply Rle_trans; [apply A2 | apply H28]; exact Hi.
Qed.

(** Lemma 9 without (28): the clients' spread enters as a floor.  Ledger: ours.bias_floor. *)
Theorem bias_floor : forall (b grad_i : nat -> vec) (m_i : nat -> R) m, (forall i, (i < N)%nat -> m_i i <= m) ->
  (forall i, (i < N)%nat -> norm d (b i) ^ 2 <= m_i i * norm d (grad_i i) ^ 2) ->
  let grad := vsum N (fun i => p i *^ grad_i i) in
  norm d (vsum N (fun i => p i *^ b i)) ^ 2 <=
    m * (norm d grad ^ 2 + sum N (fun i => p i * norm d (grad_i i -^ grad) ^ 2)).
Proof.
  intros b grad_i m_i m Hm A2 grad. eapply Rle_trans; [apply jensen; exact p_weights|].
  pose proof (jensen_with_spread d N p grad_i p_weights) as Spread. cbv zeta in Spread. fold grad in Spread.
  rewrite <- Spread, <- sum_scale. apply sum_le. intros i Hi.
  replace (m * (p i * norm d (grad_i i) ^ 2)) with (p i * (m * norm d (grad_i i) ^ 2)) by ring.
  apply Rmult_le_compat_l; [apply p_weights; exact Hi|]. eapply Rle_trans; [apply A2; exact Hi|].
  apply Rmult_le_compat_r; [apply pow2_ge_0 | apply Hm; exact Hi].
Qed.

(** Lemma 10, (30). *)
Theorem lemma10 : forall (memory : nat -> vec) (r_i : nat -> R) r g, 0 <= g ->
  (forall i, (i < N)%nat -> norm d (memory i) <= r_i i * g) -> (forall i, (i < N)%nat -> r_i i <= r) ->
  norm d (vsum N (fun i => p i *^ memory i)) <= r * g.
Proof.
  intros memory r_i r g Hg A3 Hr. apply norm_mean_bound; [exact p_weights|].
  intros i Hi. eapply Rle_trans; [apply A3; exact Hi|]. apply Rmult_le_compat_r; [exact Hg | apply Hr; exact Hi].
Qed.

End Bounds.
