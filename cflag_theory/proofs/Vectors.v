(** * Vectors of R^d

    A vector is a function from coordinates to real numbers; only the first [d] coordinates are looked at, through the
    inner product.  Nothing is assumed: everything below is proved from the real numbers of the standard library. *)

Require Import Reals Lra Psatz Arith Lia.
Require Import FunctionalExtensionality.
From CFlag Require Export Numbers.
Open Scope R_scope.

(** ** Vectors *)

Definition vec := nat -> R.

Definition vzero : vec := fun _ => 0.
Definition vadd (u v : vec) : vec := fun c => u c + v c.
Definition vsub (u v : vec) : vec := fun c => u c - v c.
Definition vscale (a : R) (u : vec) : vec := fun c => a * u c.
Definition vsum (n : nat) (u : nat -> vec) : vec := fun c => sum n (fun i => u i c).

Declare Scope vec_scope.
Delimit Scope vec_scope with vec.
Notation "u +^ v" := (vadd u v) (at level 50, left associativity) : vec_scope.
Notation "u -^ v" := (vsub u v) (at level 50, left associativity) : vec_scope.
Notation "a *^ u" := (vscale a u) (at level 40, no associativity) : vec_scope.
Open Scope vec_scope.

(** Two vectors are equal if their coordinates are. *)
Lemma vec_eq : forall u v : vec, (forall c, u c = v c) -> u = v.
Proof. intros u v H. apply functional_extensionality. exact H. Qed.

Ltac vector := apply vec_eq; intro; unfold vadd, vsub, vscale, vzero; try ring.

Lemma vsum_succ : forall n u, vsum (S n) u = vsum n u +^ u n.
Proof. intros n u. reflexivity. Qed.

Lemma vsum_ext : forall n u v, (forall i, (i < n)%nat -> u i = v i) -> vsum n u = vsum n v.
Proof. intros n u v H. apply vec_eq. intro c. apply sum_ext. intros i Hi. rewrite (H i Hi). reflexivity. Qed.

Lemma vsum_add : forall n u v, vsum n (fun i => u i +^ v i) = vsum n u +^ vsum n v.
Proof. intros n u v. apply vec_eq. intro c. unfold vsum, vadd. apply sum_add. Qed.

Lemma vsum_sub : forall n u v, vsum n (fun i => u i -^ v i) = vsum n u -^ vsum n v.
Proof. intros n u v. apply vec_eq. intro c. unfold vsum, vsub. apply sum_sub. Qed.

Lemma vsum_scale : forall n a u, vsum n (fun i => a *^ u i) = a *^ vsum n u.
Proof. intros n a u. apply vec_eq. intro c. unfold vsum, vscale. apply sum_scale. Qed.

Lemma vsum_weights : forall n (p : nat -> R) v, vsum n (fun i => p i *^ v) = sum n p *^ v.
Proof.
  intros n p v. apply vec_eq. intro c. unfold vsum, vscale.
  rewrite (sum_ext n _ (fun i => v c * p i)) by (intros; ring). rewrite sum_scale. ring.
Qed.

Lemma vsum_const : forall n v, vsum n (fun _ => v) = INR n *^ v.
Proof. intros n v. apply vec_eq. intro c. unfold vsum, vscale. apply sum_const. Qed.

Lemma vsum_swap : forall n m (u : nat -> nat -> vec),
  vsum n (fun i => vsum m (fun j => u i j)) = vsum m (fun j => vsum n (fun i => u i j)).
Proof. intros n m u. apply vec_eq. intro c. unfold vsum. apply sum_swap. Qed.

(** ** Inner product and norm *)

Definition dot (d : nat) (u v : vec) : R := sum d (fun c => u c * v c).
Definition norm (d : nat) (u : vec) : R := sqrt (dot d u u).

Section InnerProduct.

Variable d : nat.

Lemma dot_comm : forall u v, dot d u v = dot d v u.
Proof. intros u v. apply sum_ext. intros; ring. Qed.

Lemma dot_add_l : forall u v w, dot d (u +^ v) w = dot d u w + dot d v w.
Proof. intros. unfold dot. rewrite <- sum_add. apply sum_ext. intros. unfold vadd. ring. Qed.

Lemma dot_sub_l : forall u v w, dot d (u -^ v) w = dot d u w - dot d v w.
Proof. intros. unfold dot. rewrite <- sum_sub. apply sum_ext. intros. unfold vsub. ring. Qed.

Lemma dot_scale_l : forall a u w, dot d (a *^ u) w = a * dot d u w.
Proof. intros. unfold dot. rewrite <- sum_scale. apply sum_ext. intros. unfold vscale. ring. Qed.

Lemma dot_add_r : forall u v w, dot d w (u +^ v) = dot d w u + dot d w v.
Proof. intros. rewrite dot_comm, dot_add_l. f_equal; apply dot_comm. Qed.

Lemma dot_sub_r : forall u v w, dot d w (u -^ v) = dot d w u - dot d w v.
Proof. intros. rewrite dot_comm, dot_sub_l. f_equal; apply dot_comm. Qed.

Lemma dot_scale_r : forall a u w, dot d w (a *^ u) = a * dot d w u.
Proof. intros. rewrite dot_comm, dot_scale_l. f_equal; apply dot_comm. Qed.

Lemma dot_zero_l : forall w, dot d vzero w = 0.
Proof. intro w. unfold dot, vzero. rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring). apply sum_zero. Qed.

Lemma dot_sum_r : forall n (u : nat -> vec) w, dot d w (vsum n u) = sum n (fun i => dot d w (u i)).
Proof.
  induction n as [|n IH]; intros u w.
  - simpl. rewrite dot_comm. unfold vsum. simpl. apply dot_zero_l.
  - rewrite vsum_succ, dot_add_r, IH. reflexivity.
Qed.

Lemma dot_self_nonneg : forall u, 0 <= dot d u u.
Proof. intro u. apply sum_nonneg. intros c _. nra. Qed.

Lemma norm_nonneg : forall u, 0 <= norm d u.
Proof. intro u. apply sqrt_pos. Qed.

Lemma norm_square : forall u, norm d u * norm d u = dot d u u.
Proof. intro u. apply sqrt_sqrt. apply dot_self_nonneg. Qed.

Lemma norm_pow2 : forall u, norm d u ^ 2 = dot d u u.
Proof. intro u. rewrite <- norm_square. ring. Qed.

Lemma norm_le_of_square : forall u c, 0 <= c -> dot d u u <= c * c -> norm d u <= c.
Proof. intros u c Hc H. pose proof (norm_nonneg u). pose proof (norm_square u). nra. Qed.

Lemma square_le_of_norm : forall u c, norm d u <= c -> dot d u u <= c ^ 2.
Proof. intros u c H. rewrite <- norm_square. pose proof (norm_nonneg u). nra. Qed.

(** A quadratic in s that is never negative has b^2 <= a c. *)
Lemma discriminant : forall a b c, 0 <= c -> (forall s, 0 <= a - 2 * s * b + s ^ 2 * c) -> b ^ 2 <= a * c.
Proof.
  intros a b c Hc H. destruct (Req_dec c 0) as [Z|NZ].
  - destruct (Req_dec b 0) as [B|NB]; [rewrite B, Z; lra|]. specialize (H ((a + 1) / (2 * b))). rewrite Z in H.
    replace (a - 2 * ((a + 1) / (2 * b)) * b + ((a + 1) / (2 * b)) ^ 2 * 0) with (-1) in H by (field; exact NB). lra.
  - specialize (H (b / c)).
    replace (a - 2 * (b / c) * b + (b / c) ^ 2 * c) with (a - b ^ 2 / c) in H by (field; exact NZ).
    apply Rmult_le_compat_r with (r := c) in H; [|exact Hc].
    replace ((a - b ^ 2 / c) * c) with (a * c - b ^ 2) in H by (field; exact NZ). lra.
Qed.

(** Cauchy-Schwarz, from ||u - s v||^2 >= 0 for every s. *)
Theorem cauchy_schwarz : forall u v, dot d u v <= norm d u * norm d v.
Proof.
  intros u v. assert (D : dot d u v ^ 2 <= dot d u u * dot d v v).
  { apply discriminant; [apply dot_self_nonneg|]. intro s. pose proof (dot_self_nonneg (u -^ s *^ v)) as Q.
    rewrite dot_sub_l, !dot_sub_r, !dot_scale_l, !dot_scale_r, (dot_comm v u) in Q. lra. }
  rewrite <- !norm_square in D. pose proof (norm_nonneg u). pose proof (norm_nonneg v).
  assert (0 <= norm d u * norm d v) by (apply Rmult_le_pos; assumption). nra.
Qed.

Lemma cauchy_schwarz_neg : forall u v, - dot d u v <= norm d u * norm d v.
Proof.
  intros u v. replace (- dot d u v) with (dot d (-1 *^ u) v) by (rewrite dot_scale_l; ring).
  replace (norm d u) with (norm d (-1 *^ u)); [apply cauchy_schwarz|].
  unfold norm. rewrite dot_scale_l, dot_scale_r. f_equal. ring.
Qed.

Theorem triangle : forall u v, norm d (u +^ v) <= norm d u + norm d v.
Proof.
  intros u v. pose proof (norm_nonneg u). pose proof (norm_nonneg v). pose proof (cauchy_schwarz u v).
  apply norm_le_of_square; [lra|].
  rewrite dot_add_l, !dot_add_r, (dot_comm v u), <- !norm_square. nra.
Qed.

Lemma norm_zero : norm d vzero = 0.
Proof. unfold norm. rewrite dot_zero_l. apply sqrt_0. Qed.

Lemma norm_scale : forall a u, norm d (a *^ u) = Rabs a * norm d u.
Proof.
  intros a u. unfold norm. rewrite dot_scale_l, dot_scale_r.
  replace (a * (a * dot d u u)) with ((a * a) * dot d u u) by ring.
  rewrite sqrt_mult_alt by nra. f_equal. apply sqrt_Rsqr_abs.
Qed.

Lemma norm_scale_nonneg : forall a u, 0 <= a -> norm d (a *^ u) = a * norm d u.
Proof. intros a u H. rewrite norm_scale, Rabs_pos_eq; auto. Qed.

Lemma norm_sub_comm : forall u v, norm d (u -^ v) = norm d (v -^ u).
Proof.
  intros u v. replace (u -^ v) with (-1 *^ (v -^ u)) by vector.
  rewrite norm_scale. replace (-1) with (- (1)) by ring. rewrite Rabs_Ropp, Rabs_R1. ring.
Qed.

Lemma triangle_sub : forall u v, norm d (u -^ v) <= norm d u + norm d v.
Proof.
  intros u v. replace (u -^ v) with (u +^ (vzero -^ v)) by vector.
  replace (norm d v) with (norm d (vzero -^ v)); [apply triangle|].
  rewrite norm_sub_comm. f_equal. vector.
Qed.

Lemma norm_sub_self : forall u, norm d (u -^ u) = 0.
Proof. intro u. replace (u -^ u) with vzero by vector. apply norm_zero. Qed.

Lemma norm_sum : forall n u, norm d (vsum n u) <= sum n (fun i => norm d (u i)).
Proof.
  induction n as [|n IH]; intro u.
  - simpl. replace (vsum 0 u) with vzero by (apply vec_eq; reflexivity). rewrite norm_zero. lra.
  - rewrite vsum_succ. simpl. eapply Rle_trans; [apply triangle|]. specialize (IH u). lra.
Qed.

(** Young, in the form that the papers use most. *)
Theorem young : forall u v e, 0 < e -> 2 * dot d u v <= e * norm d u ^ 2 + norm d v ^ 2 / e.
Proof.
  intros u v e He. pose proof (dot_self_nonneg (e *^ u -^ v)) as Q.
  rewrite dot_sub_l, !dot_sub_r, !dot_scale_l, !dot_scale_r, (dot_comm v u) in Q. rewrite !norm_pow2.
  apply Rmult_le_reg_l with e; [lra|]. field_simplify; nra.
Qed.

(** ** Weighted means *)

Definition weights (n : nat) (p : nat -> R) : Prop := (forall i, (i < n)%nat -> 0 <= p i) /\ sum n p = 1.

Lemma mean_of_bounds : forall n p a c, weights n p -> (forall i, (i < n)%nat -> a i <= c) ->
  sum n (fun i => p i * a i) <= c.
Proof.
  intros n p a c [Hp H1] H. replace c with (sum n (fun i => p i * c)).
  - apply sum_le. intros i Hi. apply Rmult_le_compat_l; auto.
  - rewrite (sum_ext n _ (fun i => c * p i)) by (intros; ring). rewrite sum_scale, H1. ring.
Qed.

Lemma norm_mean : forall n p u, weights n p ->
  norm d (vsum n (fun i => p i *^ u i)) <= sum n (fun i => p i * norm d (u i)).
Proof.
  intros n p u [Hp _]. eapply Rle_trans; [apply norm_sum|]. apply sum_le. intros i Hi.
  rewrite norm_scale_nonneg by auto. lra.
Qed.

Lemma norm_mean_bound : forall n p u c, weights n p -> (forall i, (i < n)%nat -> norm d (u i) <= c) ->
  norm d (vsum n (fun i => p i *^ u i)) <= c.
Proof.
  intros n p u c Hp H. eapply Rle_trans; [apply norm_mean; exact Hp|].
  apply (mean_of_bounds n p (fun i => norm d (u i))); auto.
Qed.

(** Jensen, with the spread as what is lost. *)
Theorem jensen_with_spread : forall n p u, weights n p ->
  let mean := vsum n (fun i => p i *^ u i) in
  sum n (fun i => p i * norm d (u i) ^ 2) = norm d mean ^ 2 + sum n (fun i => p i * norm d (u i -^ mean) ^ 2).
Proof.
  intros n p u [Hp H1] mean. rewrite norm_pow2.
  rewrite (sum_ext n (fun i => p i * norm d (u i -^ mean) ^ 2)
    (fun i => (p i * norm d (u i) ^ 2 - 2 * dot d mean (p i *^ u i)) + dot d mean mean * p i)).
  - rewrite sum_add, sum_sub, !sum_scale, H1, <- dot_sum_r. fold mean. ring.
  - intros i Hi. rewrite !norm_pow2, dot_sub_l, !dot_sub_r, dot_scale_r, (dot_comm (u i) mean). ring.
Qed.

Theorem jensen : forall n p u, weights n p ->
  norm d (vsum n (fun i => p i *^ u i)) ^ 2 <= sum n (fun i => p i * norm d (u i) ^ 2).
Proof.
  intros n p u Hp. pose proof (jensen_with_spread n p u Hp) as E. cbv zeta in E. rewrite E.
  assert (0 <= sum n (fun i => p i * norm d (u i -^ vsum n (fun i0 => p i0 *^ u i0)) ^ 2)); [|lra].
  apply sum_nonneg. intros i Hi. apply Rmult_le_pos; [apply Hp; exact Hi | apply pow2_ge_0].
Qed.

(** The plain mean of n vectors, [n] positive. *)
Definition vmean (n : nat) (u : nat -> vec) : vec := (/ INR n) *^ vsum n u.
Definition rmean (n : nat) (a : nat -> R) : R := / INR n * sum n a.

Lemma INR_pos : forall n, (0 < n)%nat -> 0 < INR n.
Proof. intros n H. apply lt_0_INR. exact H. Qed.

Lemma vmean_ext : forall n u v, (forall j, (j < n)%nat -> u j = v j) -> vmean n u = vmean n v.
Proof. intros n u v H. unfold vmean. rewrite (vsum_ext n u v H). reflexivity. Qed.

Lemma vmean_sub : forall n u v, vmean n (fun j => u j -^ v j) = vmean n u -^ vmean n v.
Proof. intros n u v. unfold vmean. rewrite vsum_sub. vector. Qed.

Lemma norm_vmean : forall n u, (0 < n)%nat -> norm d (vmean n u) <= rmean n (fun j => norm d (u j)).
Proof.
  intros n u Hn. unfold vmean, rmean. pose proof (Rinv_0_lt_compat _ (INR_pos n Hn)).
  rewrite norm_scale_nonneg by lra. apply Rmult_le_compat_l; [lra | apply norm_sum].
Qed.

Lemma rmean_le : forall n a b, (0 < n)%nat -> (forall j, (j < n)%nat -> a j <= b j) -> rmean n a <= rmean n b.
Proof.
  intros n a b Hn H. unfold rmean. pose proof (Rinv_0_lt_compat _ (INR_pos n Hn)).
  apply Rmult_le_compat_l; [lra | apply sum_le; exact H].
Qed.

Lemma rmean_const : forall n c, (0 < n)%nat -> rmean n (fun _ => c) = c.
Proof. intros n c Hn. unfold rmean. rewrite sum_const. pose proof (INR_pos n Hn). field. lra. Qed.

Lemma rmean_bound : forall n a c, (0 < n)%nat -> (forall j, (j < n)%nat -> a j <= c) -> rmean n a <= c.
Proof. intros n a c Hn H. rewrite <- (rmean_const n c Hn). apply rmean_le; assumption. Qed.

Lemma rmean_affine : forall n c s a, (0 < n)%nat -> rmean n (fun j => c + s * a j) = c + s * rmean n a.
Proof.
  intros n c s a Hn. unfold rmean. rewrite sum_add, sum_const, sum_scale.
  pose proof (INR_pos n Hn). field. lra.
Qed.

End InnerProduct.

(** Expand inner products of linear combinations. *)
Ltac expand_dots := repeat first
  [ rewrite dot_add_l | rewrite dot_add_r | rewrite dot_sub_l | rewrite dot_sub_r
  | rewrite dot_scale_l | rewrite dot_scale_r ].

(** 0 <= a product of things that are plainly not negative. *)
Ltac nonneg := repeat first
  [ assumption | apply pos_INR | apply Rabs_pos | apply norm_nonneg | apply pow2_ge_0 | apply pow_le
  | apply Rmult_le_pos | lra ].
