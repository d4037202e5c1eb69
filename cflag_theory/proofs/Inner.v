(** * A real inner-product space, and the rules about its vectors

    [space] is a real vector space with a bilinear symmetric form that is never negative on the diagonal.  The form may
    vanish on vectors other than zero: that is one hypothesis less, and R^d with any number of coordinates left out is
    among the instances ([Spaces.v]).  Nothing is assumed of the dimension. *)

Require Import Reals Lra Psatz Arith Lia List.
Open Scope R_scope.

Record space := Space {
  carrier :> Type;
  zero : carrier;
  add : carrier -> carrier -> carrier;
  scale : R -> carrier -> carrier;
  dot : carrier -> carrier -> R;
  add_comm : forall u v, add u v = add v u;
  add_assoc : forall u v w, add u (add v w) = add (add u v) w;
  add_zero : forall u, add u zero = u;
  scale_one : forall u, scale 1 u = u;
  scale_zero : forall u, scale 0 u = zero;
  scale_scale : forall a b u, scale a (scale b u) = scale (a * b) u;
  scale_sum : forall a b u, scale (a + b) u = add (scale a u) (scale b u);
  scale_add : forall a u v, scale a (add u v) = add (scale a u) (scale a v);
  dot_comm : forall u v, dot u v = dot v u;
  dot_add : forall u v w, dot (add u v) w = dot u w + dot v w;
  dot_scale : forall a u w, dot (scale a u) w = a * dot u w;
  dot_square : forall u, 0 <= dot u u
}.

Arguments zero {_}.
Arguments add {_} _ _.
Arguments scale {_} _ _.
Arguments dot {_} _ _.

Declare Scope inner_scope.
Delimit Scope inner_scope with inner.
Notation "u +^ v" := (add u v) (at level 50, left associativity) : inner_scope.
Notation "a *^ u" := (scale a u) (at level 40, no associativity) : inner_scope.
Notation "u -^ v" := (add u (scale (-1) v)) (at level 50, left associativity) : inner_scope.
Open Scope inner_scope.

Definition norm {V : space} (u : V) : R := sqrt (dot u u).

(** ** Equations between linear combinations

    Both sides are written as expressions over a list of vectors; they are equal if every vector has equal coefficients. *)

Inductive combination : Type :=
  | Member : nat -> combination
  | Zero : combination
  | Plus : combination -> combination -> combination
  | Times : R -> combination -> combination.

Section Combinations.
Variable V : space.
Implicit Types l : list V.

Fixpoint value l (e : combination) : V :=
  match e with
  | Member n => nth n l zero
  | Zero => zero
  | Plus e f => value l e +^ value l f
  | Times a e => a *^ value l e
  end.

(** The coefficient of the n-th vector. *)
Fixpoint coefficient (n : nat) (e : combination) : R :=
  match e with
  | Member m => if Nat.eqb m n then 1 else 0
  | Zero => 0
  | Plus e f => coefficient n e + coefficient n f
  | Times a e => a * coefficient n e
  end.

Fixpoint weighted l (c : nat -> R) : V :=
  match l with
  | nil => zero
  | v :: rest => c 0%nat *^ v +^ weighted rest (fun n => c (S n))
  end.

Lemma add_shuffle : forall a b c d : V, (a +^ b) +^ (c +^ d) = (a +^ c) +^ (b +^ d).
Proof.
  intros a b c d. rewrite <- (add_assoc V a b (c +^ d)), (add_assoc V b c d), (add_comm V b c), <- (add_assoc V c b d).
  apply add_assoc.
Qed.

Lemma weighted_zero : forall l, weighted l (fun _ => 0) = zero.
Proof. induction l as [|v l IH]; [reflexivity|]. simpl. rewrite IH, scale_zero. apply add_zero. Qed.

Lemma weighted_add : forall l c d, weighted l (fun n => c n + d n) = weighted l c +^ weighted l d.
Proof.
  induction l as [|v l IH]; intros c d; simpl; [symmetry; apply add_zero|].
  rewrite (IH (fun n => c (S n)) (fun n => d (S n))), scale_sum. apply add_shuffle.
Qed.

Lemma scale_null : forall a, a *^ (zero : V) = zero.
Proof. intro a. rewrite <- (scale_zero V zero), scale_scale, Rmult_0_r. reflexivity. Qed.

Lemma weighted_scale : forall l a c, weighted l (fun n => a * c n) = a *^ weighted l c.
Proof.
  induction l as [|v l IH]; intros a c; simpl; [symmetry; apply scale_null|].
  rewrite (IH a (fun n => c (S n))), scale_add, scale_scale. reflexivity.
Qed.

Lemma weighted_ext : forall l c d, (forall n, (n < length l)%nat -> c n = d n) -> weighted l c = weighted l d.
Proof.
  induction l as [|v l IH]; intros c d H; [reflexivity|]. simpl. rewrite (H O) by (simpl; lia).
  f_equal. apply IH. intros n Hn. apply H. simpl. lia.
Qed.

Lemma weighted_member : forall l m, weighted l (fun n => if Nat.eqb m n then 1 else 0) = nth m l zero.
Proof.
  induction l as [|v l IH]; intro m; [destruct m; reflexivity|]. destruct m as [|m]; simpl.
  - rewrite weighted_zero, scale_one. apply add_zero.
  - rewrite scale_zero, add_comm, add_zero. apply IH.
Qed.

Lemma value_weighted : forall l e, value l e = weighted l (fun n => coefficient n e).
Proof.
  intro l. induction e as [m| |e IHe f IHf|a e IHe]; simpl.
  - symmetry. apply weighted_member.
  - symmetry. apply weighted_zero.
  - rewrite IHe, IHf. symmetry. apply weighted_add.
  - rewrite IHe. symmetry. apply weighted_scale.
Qed.

Fixpoint agree (count : nat) (e f : combination) : Prop :=
  match count with
  | O => True
  | S n => coefficient n e = coefficient n f /\ agree n e f
  end.

Lemma agree_member : forall count e f n, agree count e f -> (n < count)%nat -> coefficient n e = coefficient n f.
Proof.
  induction count as [|count IH]; intros e f n H Hn; [lia|]. destruct H as [H R].
  destruct (Nat.eq_dec n count) as [->|N]; [exact H|]. apply IH; [exact R | lia].
Qed.

Theorem combinations_equal : forall l e f, agree (length l) e f -> value l e = value l f.
Proof.
  intros l e f H. rewrite !value_weighted. apply weighted_ext. intros n Hn. exact (agree_member _ _ _ _ H Hn).
Qed.

End Combinations.

Ltac member_of v l :=
  match l with
  | nil => false
  | v :: _ => true
  | _ :: ?rest => member_of v rest
  end.

Ltac members l e :=
  lazymatch e with
  | zero => l
  | add ?u ?v => let l := members l u in members l v
  | scale _ ?u => members l u
  | ?v => match member_of v l with true => l | false => constr:(v :: l) end
  end.

Ltac position v l :=
  match l with
  | v :: _ => constr:(O)
  | _ :: ?rest => let n := position v rest in constr:(S n)
  end.

Ltac reified l e :=
  lazymatch e with
  | zero => constr:(Zero)
  | add ?u ?v => let a := reified l u in let b := reified l v in constr:(Plus a b)
  | scale ?a ?u => let b := reified l u in constr:(Times a b)
  | ?v => let n := position v l in constr:(Member n)
  end.

(** An equation between linear combinations becomes one equation of numbers a vector. *)
Ltac by_coefficients :=
  match goal with
  | |- @eq (carrier ?V) ?u ?v =>
      let l := members (@nil (carrier V)) u in
      let l := members l v in
      let e := reified l u in
      let f := reified l v in
      change (value V l e = value V l f); apply combinations_equal; cbn [agree length coefficient Nat.eqb];
      repeat split
  end.

Ltac vectors := by_coefficients; first [ring | field; repeat split; lra].

(** ** Inner products and norms *)

Section Rules.
Variable V : space.
Implicit Types u v w x y : V.

Lemma dot_add_r : forall u v w, dot w (u +^ v) = dot w u + dot w v.
Proof. intros. rewrite dot_comm, dot_add, (dot_comm V u), (dot_comm V v). reflexivity. Qed.

Lemma dot_scale_r : forall a u w, dot w (a *^ u) = a * dot w u.
Proof. intros. rewrite dot_comm, dot_scale, (dot_comm V u). reflexivity. Qed.

Lemma dot_zero : forall w, dot zero w = 0.
Proof. intro w. rewrite <- (scale_zero V zero), dot_scale. ring. Qed.

Lemma dot_zero_r : forall w, dot w zero = 0.
Proof. intro w. rewrite dot_comm. apply dot_zero. Qed.

Lemma norm_nonneg : forall u, 0 <= norm u.
Proof. intro u. apply sqrt_pos. Qed.

Theorem norm_square : forall u, norm u ^ 2 = dot u u.
Proof. intro u. unfold norm. apply pow2_sqrt. apply dot_square. Qed.

Lemma norm_le_of_square : forall u c, 0 <= c -> dot u u <= c ^ 2 -> norm u <= c.
Proof. intros u c Hc H. pose proof (norm_nonneg u). pose proof (norm_square u). nra. Qed.

Lemma square_le_of_norm : forall u c, norm u <= c -> dot u u <= c ^ 2.
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

(** The square of a difference. *)
Lemma square_sub : forall u v, dot (u -^ v) (u -^ v) = dot u u - 2 * dot u v + dot v v.
Proof. intros u v. rewrite dot_add, !dot_add_r, !dot_scale, !dot_scale_r, (dot_comm V v u). ring. Qed.

Theorem cauchy_schwarz_squared : forall u v, dot u v ^ 2 <= dot u u * dot v v.
Proof.
  intros u v. apply discriminant; [apply dot_square|]. intro s. pose proof (dot_square V (u -^ s *^ v)) as Q.
  rewrite square_sub, !dot_scale, !dot_scale_r in Q. lra.
Qed.

Theorem cauchy_schwarz : forall u v, dot u v <= norm u * norm v.
Proof.
  intros u v. pose proof (cauchy_schwarz_squared u v) as D. rewrite <- !norm_square in D.
  pose proof (norm_nonneg u). pose proof (norm_nonneg v).
  assert (0 <= norm u * norm v) by (apply Rmult_le_pos; assumption). nra.
Qed.

(** What has norm zero is orthogonal to everything. *)
Theorem null_vector : forall u w, dot u u = 0 -> dot u w = 0.
Proof. intros u w Z. pose proof (cauchy_schwarz_squared u w) as Q. rewrite Z in Q. nra. Qed.

Theorem norm_scale : forall a u, norm (a *^ u) = Rabs a * norm u.
Proof.
  intros a u. unfold norm. rewrite dot_scale, dot_scale_r.
  replace (a * (a * dot u u)) with ((a * a) * dot u u) by ring.
  rewrite sqrt_mult_alt by nra. f_equal. apply sqrt_Rsqr_abs.
Qed.

Theorem norm_scale_nonneg : forall a u, 0 <= a -> norm (a *^ u) = a * norm u.
Proof. intros a u H. rewrite norm_scale, Rabs_pos_eq; auto. Qed.

Lemma norm_opp : forall u, norm ((-1) *^ u) = norm u.
Proof. intro u. rewrite norm_scale. replace (-1) with (- (1)) by ring. rewrite Rabs_Ropp, Rabs_R1. ring. Qed.

Theorem cauchy_schwarz_neg : forall u v, - dot u v <= norm u * norm v.
Proof.
  intros u v. replace (- dot u v) with (dot ((-1) *^ u) v) by (rewrite dot_scale; ring).
  rewrite <- (norm_opp u). apply cauchy_schwarz.
Qed.

Theorem cauchy_schwarz_abs : forall u v, Rabs (dot u v) <= norm u * norm v.
Proof. intros u v. apply Rabs_le. pose proof (cauchy_schwarz u v). pose proof (cauchy_schwarz_neg u v). lra. Qed.

Theorem triangle : forall u v, norm (u +^ v) <= norm u + norm v.
Proof.
  intros u v. pose proof (norm_nonneg u). pose proof (norm_nonneg v). pose proof (cauchy_schwarz u v).
  apply norm_le_of_square; [lra|].
  rewrite dot_add, !dot_add_r, (dot_comm V v u), <- !norm_square. nra.
Qed.

Theorem triangle_sub : forall u v, norm (u -^ v) <= norm u + norm v.
Proof. intros u v. rewrite <- (norm_opp v). apply triangle. Qed.

Lemma norm_zero : norm (zero : V) = 0.
Proof. unfold norm. rewrite dot_zero. apply sqrt_0. Qed.

(** The sum of a list of vectors, and of their norms: the triangle inequality for as many as there are. *)
Fixpoint total (l : list V) : V := match l with nil => zero | v :: nil => v | v :: rest => v +^ total rest end.
Fixpoint lengths (l : list V) : R :=
  match l with nil => 0 | v :: nil => norm v | v :: rest => norm v + lengths rest end.

Theorem triangles : forall l, norm (total l) <= lengths l.
Proof.
  induction l as [|v [|w l] IH]; [simpl; rewrite norm_zero; lra | simpl; lra |].
  change (norm (v +^ total (w :: l)) <= norm v + lengths (w :: l)). eapply Rle_trans; [apply triangle|]. lra.
Qed.

Theorem norm_distance : forall u v, norm u - norm v <= norm (u -^ v).
Proof. intros u v. pose proof (triangle (u -^ v) v) as T. replace (u -^ v +^ v) with u in T by vectors. lra. Qed.

Lemma norm_sub_comm : forall u v, norm (u -^ v) = norm (v -^ u).
Proof. intros u v. rewrite <- norm_opp. f_equal. vectors. Qed.

Theorem young : forall u v a, 0 < a -> 2 * dot u v <= a * dot u u + dot v v / a.
Proof.
  intros u v a Ha. pose proof (dot_square V (a *^ u -^ v)) as Q.
  rewrite square_sub, !dot_scale, !dot_scale_r in Q.
  apply Rmult_le_reg_l with a; [exact Ha|].
  replace (a * (a * dot u u + dot v v / a)) with (a * (a * dot u u) + dot v v) by (field; lra). lra.
Qed.

(** ||u + v||^2 <= (1 + a) ||u||^2 + (1 + 1/a) ||v||^2. *)
Theorem young_sum : forall u v a, 0 < a -> dot (u +^ v) (u +^ v) <= (1 + a) * dot u u + (1 + 1 / a) * dot v v.
Proof.
  intros u v a Ha. pose proof (young u v a Ha) as Y. rewrite dot_add, !dot_add_r, (dot_comm V v u).
  replace ((1 + 1 / a) * dot v v) with (dot v v + dot v v / a) by (field; lra). lra.
Qed.

End Rules.

(** Expand inner products of linear combinations; what is left is polynomial in inner products of vectors. *)
Ltac expand_dots :=
  repeat first [rewrite dot_add | rewrite dot_add_r | rewrite dot_scale | rewrite dot_scale_r
               | rewrite dot_zero | rewrite dot_zero_r].
Ltac expand_dots_in H :=
  repeat first [rewrite dot_add in H | rewrite dot_add_r in H | rewrite dot_scale in H | rewrite dot_scale_r in H
               | rewrite dot_zero in H | rewrite dot_zero_r in H].
