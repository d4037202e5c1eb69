(** * Means, sums and expectations: monotone linear operators over an index

    One construction stands for a mean over clients or components, a sum over steps or rounds, and an expectation.  It
    takes a number, or a vector, for every index.  [domain] are the indices that count: those below n for a sum of n
    terms.  Relations for every index of the domain may be put under it. *)

Require Import Reals Lra Psatz Arith Lia.
Require Import FunctionalExtensionality.
From CFlag Require Import Numbers Inner.
Open Scope R_scope.
Open Scope inner_scope.

Record operator (V : space) (index : Type) := Operator {
  domain : index -> Prop;
  avg : (index -> R) -> R;
  avgv : (index -> V) -> V;
  avg_add : forall a b, avg (fun i => a i + b i) = avg a + avg b;
  avg_scale : forall c a, avg (fun i => c * a i) = c * avg a;
  avg_le : forall a b, (forall i, domain i -> a i <= b i) -> avg a <= avg b;
  avgv_add : forall u v, avgv (fun i => u i +^ v i) = avgv u +^ avgv v;
  avgv_scale : forall c u, avgv (fun i => c *^ u i) = c *^ avgv u;
  avgv_eq : forall u v, (forall i, domain i -> u i = v i) -> avgv u = avgv v;
  avgv_fixed : forall a v, avgv (fun i => a i *^ v) = avg a *^ v;
  dot_avgv : forall u w, dot (avgv u) w = avg (fun i => dot (u i) w)
}.

Arguments domain {_ _} _ _.
Arguments avg {_ _} _ _.
Arguments avgv {_ _} _ _.

(** The operator of the constant 1: 1 for a mean, n for a sum of n terms. *)
Definition total {V I} (A : operator V I) : R := avg A (fun _ => 1).
Definition mean {V I} (A : operator V I) : Prop := total A = 1.

Section Operators.
Variable V : space.
Variable I : Type.
Variable A : operator V I.
Implicit Types a b : I -> R.
Implicit Types u v : I -> V.

Theorem avg_eq : forall a b, (forall i, domain A i -> a i = b i) -> avg A a = avg A b.
Proof. intros a b H. apply Rle_antisym; apply avg_le; intros i Hi; rewrite (H i Hi); lra. Qed.

(** Equal everywhere: no domain is needed to rewrite under an operator. *)
Lemma avg_ext : forall a b, (forall i, a i = b i) -> avg A a = avg A b.
Proof. intros a b H. f_equal. apply functional_extensionality. exact H. Qed.

Lemma avgv_ext : forall u v, (forall i, u i = v i) -> avgv A u = avgv A v.
Proof. intros u v H. f_equal. apply functional_extensionality. exact H. Qed.

Lemma avg_scale_r : forall c a, avg A (fun i => a i * c) = avg A a * c.
Proof. intros c a. rewrite (avg_ext _ (fun i => c * a i)) by (intro; ring). rewrite avg_scale. ring. Qed.

Lemma avg_opp : forall a, avg A (fun i => - a i) = - avg A a.
Proof. intro a. rewrite (avg_ext _ (fun i => (-1) * a i)) by (intro; ring). rewrite avg_scale. ring. Qed.

Lemma avg_sub : forall a b, avg A (fun i => a i - b i) = avg A a - avg A b.
Proof. intros a b. unfold Rminus. rewrite avg_add, avg_opp. reflexivity. Qed.

Theorem avg_const : forall c, avg A (fun _ => c) = total A * c.
Proof.
  intro c. unfold total. rewrite (avg_ext _ (fun _ => c * 1)) by (intro; ring). rewrite avg_scale. ring.
Qed.

Theorem mean_const : mean A -> forall c, avg A (fun _ => c) = c.
Proof. intros H c. rewrite avg_const. unfold mean in H. rewrite H. ring. Qed.

Lemma avg_zero : avg A (fun _ => 0) = 0.
Proof. rewrite avg_const. ring. Qed.

Theorem avg_nonneg : forall a, (forall i, domain A i -> 0 <= a i) -> 0 <= avg A a.
Proof. intros a H. rewrite <- avg_zero. apply avg_le. exact H. Qed.

Lemma total_nonneg : 0 <= total A.
Proof. apply avg_nonneg. intros. lra. Qed.

(** A mean of numbers, each at most c, is at most c. *)
Theorem mean_of_bounds : mean A -> forall a c, (forall i, domain A i -> a i <= c) -> avg A a <= c.
Proof. intros M a c H. rewrite <- (mean_const M c). apply avg_le. exact H. Qed.

Lemma avgv_const : forall v : V, avgv A (fun _ => v) = total A *^ v.
Proof. intro v. unfold total. rewrite <- avgv_fixed. apply avgv_ext. intro. symmetry. apply scale_one. Qed.

Lemma dot_avgv_r : forall u w, dot w (avgv A u) = avg A (fun i => dot w (u i)).
Proof. intros u w. rewrite dot_comm, dot_avgv. apply avg_ext. intro i. apply dot_comm. Qed.

(** The norm of a mean is at most the mean of the norms. *)
Theorem norm_avgv : forall u, norm (avgv A u) <= avg A (fun i => norm (u i)).
Proof.
  intro u. assert (N : 0 <= avg A (fun i => norm (u i))) by (apply avg_nonneg; intros; apply norm_nonneg).
  pose proof (norm_nonneg V (avgv A u)) as P.
  assert (C : norm (avgv A u) ^ 2 <= avg A (fun i => norm (u i)) * norm (avgv A u)).
  { rewrite norm_square, dot_avgv, <- avg_scale_r. apply avg_le. intros i _. apply cauchy_schwarz. }
  destruct (Req_dec (norm (avgv A u)) 0) as [Z|Z]; [lra|].
  apply Rmult_le_reg_r with (norm (avgv A u)); [lra | nra].
Qed.

(** Jensen, for any total. *)
Theorem jensen_total : forall u, dot (avgv A u) (avgv A u) <= total A * avg A (fun i => dot (u i) (u i)).
Proof.
  intro u. set (m := avgv A u). set (s2 := avg A (fun i => dot (u i) (u i))).
  pose proof total_nonneg as T. pose proof (dot_square V m) as M.
  assert (S : 0 <= s2) by (apply avg_nonneg; intros; apply dot_square).
  assert (D : dot m m ^ 2 <= s2 * (total A * dot m m)).
  { apply discriminant; [apply Rmult_le_pos; assumption|]. intro s.
    assert (E : avg A (fun i => dot (u i -^ s *^ m) (u i -^ s *^ m)) =
                s2 - 2 * s * dot m m + s ^ 2 * (total A * dot m m)).
    { rewrite (avg_ext _ (fun i => (dot (u i) (u i) - (2 * s) * dot (u i) m) + s ^ 2 * dot m m)).
      - rewrite avg_add, avg_sub, avg_scale, avg_const, <- dot_avgv. unfold s2, m. ring.
      - intro i. rewrite square_sub, !dot_scale, !dot_scale_r. ring. }
    rewrite <- E. apply avg_nonneg. intros. apply dot_square. }
  destruct (Req_dec (dot m m) 0) as [Z|Z]; [rewrite Z; apply Rmult_le_pos; assumption|].
  apply Rmult_le_reg_r with (dot m m); nra.
Qed.

Theorem jensen : mean A -> forall u, dot (avgv A u) (avgv A u) <= avg A (fun i => dot (u i) (u i)).
Proof. intros M u. pose proof (jensen_total u) as J. unfold mean in M. rewrite M in J. lra. Qed.

(** (sum_i a_i b_i)^2 <= sum_i a_i^2 sum_i b_i^2. *)
Theorem cauchy_schwarz_avg : forall a b, avg A (fun i => a i * b i) ^ 2 <= avg A (fun i => a i ^ 2) * avg A (fun i => b i ^ 2).
Proof.
  intros a b. apply discriminant; [apply avg_nonneg; intros; apply pow2_ge_0|]. intro s.
  replace (avg A (fun i => a i ^ 2) - 2 * s * avg A (fun i => a i * b i) + s ^ 2 * avg A (fun i => b i ^ 2))
    with (avg A (fun i => (a i - s * b i) ^ 2)); [apply avg_nonneg; intros; apply pow2_ge_0|].
  rewrite (avg_ext _ (fun i => (a i ^ 2 - (2 * s) * (a i * b i)) + s ^ 2 * b i ^ 2)) by (intro; ring).
  rewrite avg_add, avg_sub, !avg_scale. ring.
Qed.

(** The same for inner products of vectors, with the norms of means of squares. *)
Theorem cauchy_schwarz_vectors : forall u v,
  avg A (fun i => dot (u i) (v i)) <= sqrt (avg A (fun i => dot (u i) (u i))) * sqrt (avg A (fun i => dot (v i) (v i))).
Proof.
  intros u v. pose proof (cauchy_schwarz_avg (fun i => norm (u i)) (fun i => norm (v i))) as C.
  cbv beta in C.
  assert (N : avg A (fun i => dot (u i) (v i)) <= avg A (fun i => norm (u i) * norm (v i)))
    by (apply avg_le; intros; apply cauchy_schwarz).
  rewrite (avg_ext (fun i => norm (u i) ^ 2) (fun i => dot (u i) (u i))) in C by (intro; apply norm_square).
  rewrite (avg_ext (fun i => norm (v i) ^ 2) (fun i => dot (v i) (v i))) in C by (intro; apply norm_square).
  set (p := avg A (fun i => dot (u i) (u i))) in *. set (q := avg A (fun i => dot (v i) (v i))) in *.
  assert (0 <= p) by (apply avg_nonneg; intros; apply dot_square).
  assert (0 <= q) by (apply avg_nonneg; intros; apply dot_square).
  eapply Rle_trans; [exact N|]. rewrite <- sqrt_mult by assumption.
  apply Rle_trans with (sqrt (avg A (fun i => norm (u i) * norm (v i)) ^ 2)); [|apply sqrt_le_1_alt; exact C].
  rewrite <- Rsqr_pow2, sqrt_Rsqr_abs. apply Rle_abs.
Qed.

End Operators.

(** ** Two operators *)

(** The order of two operators may be exchanged.  This is a property of the pair: finite sums have it ([sums_exchange]). *)
Definition exchange {V I J} (A : operator V I) (B : operator V J) : Prop :=
  forall a, avg A (fun i => avg B (fun j => a i j)) = avg B (fun j => avg A (fun i => a i j)).

(** ** Finite sums are operators *)

Fixpoint vectors_below {V : space} (n : nat) (u : nat -> V) : V :=
  match n with
  | O => zero
  | S m => vectors_below m u +^ u m
  end.

Section Sums.
Variable V : space.

Lemma vectors_below_eq : forall n (u v : nat -> V), (forall i, (i < n)%nat -> u i = v i) ->
  vectors_below n u = vectors_below n v.
Proof.
  induction n as [|n IH]; intros u v H; [reflexivity|]. simpl. rewrite (IH u v), (H n); [reflexivity | lia |].
  intros i Hi. apply H. lia.
Qed.

Lemma vectors_below_add : forall n (u v : nat -> V),
  vectors_below n (fun i => u i +^ v i) = vectors_below n u +^ vectors_below n v.
Proof.
  induction n as [|n IH]; intros u v; simpl; [symmetry; apply add_zero|]. rewrite IH. apply add_shuffle.
Qed.

Lemma vectors_below_scale : forall n c (u : nat -> V), vectors_below n (fun i => c *^ u i) = c *^ vectors_below n u.
Proof.
  induction n as [|n IH]; intros c u; simpl; [symmetry; apply scale_null|]. rewrite IH, scale_add. reflexivity.
Qed.

Lemma vectors_below_weights : forall n (p : nat -> R) (v : V), vectors_below n (fun i => p i *^ v) = sum n p *^ v.
Proof.
  induction n as [|n IH]; intros p v; simpl; [symmetry; apply scale_zero|]. rewrite IH, scale_sum. reflexivity.
Qed.

Lemma dot_vectors_below : forall n (u : nat -> V) w, dot (vectors_below n u) w = sum n (fun i => dot (u i) w).
Proof.
  induction n as [|n IH]; intros u w; simpl; [apply dot_zero|]. rewrite dot_add, IH. reflexivity.
Qed.

(** Numbers and vectors with weights that are not negative. *)
Definition weighted_sum (n : nat) (p : nat -> R) (H : forall i, (i < n)%nat -> 0 <= p i) : operator V nat.
Proof.
  refine (Operator V nat (fun i => (i < n)%nat) (fun a => sum n (fun i => p i * a i))
    (fun u => vectors_below n (fun i => p i *^ u i)) _ _ _ _ _ _ _ _).
  - intros a b. rewrite <- sum_add. apply sum_ext. intros. ring.
  - intros c a. rewrite <- sum_scale. apply sum_ext. intros. ring.
  - intros a b L. apply sum_le. intros i Hi. apply Rmult_le_compat_l; auto.
  - intros u v. rewrite <- vectors_below_add. apply vectors_below_eq. intros. apply scale_add.
  - intros c u. rewrite <- vectors_below_scale. apply vectors_below_eq. intros. vectors.
  - intros u v E. apply vectors_below_eq. intros i Hi. rewrite (E i Hi). reflexivity.
  - intros a v. rewrite <- vectors_below_weights. apply vectors_below_eq. intros. apply scale_scale.
  - intros u w. rewrite dot_vectors_below. apply sum_ext. intros. apply dot_scale.
Defined.

Lemma weighted_mean : forall n p H, sum n p = 1 -> mean (weighted_sum n p H).
Proof. intros n p H E. unfold mean, total. simpl.
  transitivity (sum n p); [apply sum_ext; intros; ring | exact E].
Qed.

Lemma ones_nonneg : forall n i, (i < n)%nat -> 0 <= 1.
Proof. intros. lra. Qed.

(** The sum of n terms, and their plain mean. *)
Definition sums (n : nat) : operator V nat := weighted_sum n (fun _ => 1) (ones_nonneg n).

Lemma avg_sums : forall n a, avg (sums n) a = sum n a.
Proof. intros n a. simpl. apply sum_ext. intros. ring. Qed.

Lemma total_sums : forall n, total (sums n) = INR n.
Proof. intro n. unfold total. rewrite avg_sums, sum_const. ring. Qed.

Lemma shares_nonneg : forall n i, (i < n)%nat -> 0 <= / INR n.
Proof. intros n i H. left. apply Rinv_0_lt_compat. apply lt_0_INR. lia. Qed.

Definition means (n : nat) : operator V nat := weighted_sum n (fun _ => / INR n) (shares_nonneg n).

Lemma mean_means : forall n, (0 < n)%nat -> mean (means n).
Proof.
  intros n H. apply weighted_mean. rewrite sum_const. apply Rinv_r. apply not_0_INR. lia.
Qed.

Theorem sums_exchange : forall n p H m q K, exchange (weighted_sum n p H) (weighted_sum m q K).
Proof.
  intros n p H m q K a. simpl.
  rewrite (sum_ext n _ (fun i => sum m (fun j => p i * (q j * a i j)))) by (intros; symmetry; apply sum_scale).
  rewrite sum_swap. apply sum_ext. intros j _. rewrite <- sum_scale. apply sum_ext. intros i _. ring.
Qed.

End Sums.

(** A sum may be exchanged with any operator: that is linearity. *)
Theorem exchange_sum : forall V I (A : operator V I) n, exchange A (sums V n).
Proof.
  intros V I A n a. rewrite avg_sums. rewrite (avg_ext V I A _ (fun i => sum n (a i))) by (intro; apply avg_sums).
  induction n as [|n IH]; simpl; [apply avg_zero|]. rewrite avg_add, IH. reflexivity.
Qed.

(** A mean of means is a mean: one operator after the other. *)
Definition compose {V I J} (A : operator V I) (B : operator V J) : operator V (I * J).
Proof.
  refine (Operator V (I * J) (fun p => domain A (fst p) /\ domain B (snd p))
    (fun a => avg A (fun i => avg B (fun j => a (i, j)))) (fun u => avgv A (fun i => avgv B (fun j => u (i, j))))
    _ _ _ _ _ _ _ _).
  - intros a b. rewrite <- avg_add. apply avg_ext. intro. apply avg_add.
  - intros c a. rewrite <- avg_scale. apply avg_ext. intro. apply avg_scale.
  - intros a b H. apply avg_le. intros i Hi. apply avg_le. intros j Hj. apply H. split; assumption.
  - intros u v. rewrite <- avgv_add. apply avgv_ext. intro. apply avgv_add.
  - intros c u. rewrite <- avgv_scale. apply avgv_ext. intro. apply avgv_scale.
  - intros u v H. apply avgv_eq. intros i Hi. apply avgv_eq. intros j Hj. apply H. split; assumption.
  - intros a v. rewrite <- avgv_fixed. apply avgv_ext. intro. apply avgv_fixed.
  - intros u w. rewrite dot_avgv. apply avg_ext. intro. apply dot_avgv.
Defined.

(** Cauchy-Schwarz for numbers, with roots. *)
Theorem cauchy_schwarz_numbers : forall V I (A : operator V I) a b,
  avg A (fun i => a i * b i) <= sqrt (avg A (fun i => a i ^ 2)) * sqrt (avg A (fun i => b i ^ 2)).
Proof.
  intros V I A a b. pose proof (cauchy_schwarz_avg V I A a b) as C.
  assert (0 <= avg A (fun i => a i ^ 2)) by (apply avg_nonneg; intros; apply pow2_ge_0).
  rewrite <- sqrt_mult_alt by assumption.
  apply Rle_trans with (sqrt (avg A (fun i => a i * b i) ^ 2)); [|apply sqrt_le_1_alt; exact C].
  rewrite <- Rsqr_pow2, sqrt_Rsqr_abs. apply Rle_abs.
Qed.
