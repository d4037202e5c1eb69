(** * Functions and maps on an inner-product space

    [smooth L f grad] is the descent inequality; [lipschitz_smooth] derives it from a Lipschitz gradient, so that a
    reader may put that in its place.  [convex mu f grad] is the inequality from below, strong convexity for mu > 0. *)

Require Import Reals Lra Psatz.
From CFlag Require Import Inner Operators.
Open Scope R_scope.
Open Scope inner_scope.

Section Functions.
Variable V : space.
Implicit Types f : V -> R.
Implicit Types grad T : V -> V.
Implicit Types x y v w : V.

(** The derivative of f at x along v is <grad x, v>. *)
Definition gradient f grad : Prop := forall x v, derivable_pt_lim (fun s => f (x +^ s *^ v)) 0 (dot (grad x) v).

(** A map that is Lipschitz with constant L. *)
Definition lipschitz L T : Prop := forall x y, norm (T x -^ T y) <= L * norm (x -^ y).

(** f(y) <= f(x) + <grad f(x), y - x> + (L/2) ||y - x||^2. *)
Definition smooth L f grad : Prop :=
  forall x y, f y <= f x + dot (grad x) (y -^ x) + L / 2 * dot (y -^ x) (y -^ x).

(** f(y) >= f(x) + <grad f(x), y - x> + (mu/2) ||y - x||^2. *)
Definition convex mu f grad : Prop :=
  forall x y, f x + dot (grad x) (y -^ x) + mu / 2 * dot (y -^ x) (y -^ x) <= f y.

(** ** Maps *)

(** ||T(x)|| <= ||T(y)|| + L ||x - y||. *)
Theorem lipschitz_growth : forall L T x y, lipschitz L T -> norm (T x) <= norm (T y) + L * norm (x -^ y).
Proof. intros L T x y H. specialize (H x y). pose proof (norm_distance V (T x) (T y)). lra. Qed.

(** The norm of a mean of differences of L-Lipschitz maps is at most L times the mean distance. *)
Theorem lipschitz_mean_distance : forall L I (A : operator V I) (T : I -> V -> V) (x y : I -> V),
  (forall i, domain A i -> lipschitz L (T i)) ->
  norm (avgv A (fun i => T i (x i) -^ T i (y i))) <= L * avg A (fun i => norm (x i -^ y i)).
Proof.
  intros L I A T x y H. eapply Rle_trans; [apply norm_avgv|]. rewrite <- avg_scale. apply avg_le.
  intros i Hi. apply H. exact Hi.
Qed.

(** A mean of L-Lipschitz maps is L-Lipschitz. *)
Theorem lipschitz_mean : forall L I (A : operator V I) (T : I -> V -> V), mean A ->
  (forall i, domain A i -> lipschitz L (T i)) -> lipschitz L (fun x => avgv A (fun i => T i x)).
Proof.
  intros L I A T M H x y. replace (avgv A (fun i => T i x) -^ avgv A (fun i => T i y))
    with (avgv A (fun i => T i x -^ T i y)) by (rewrite avgv_add, avgv_scale; reflexivity).
  eapply Rle_trans; [apply lipschitz_mean_distance; exact H|]. cbv beta. rewrite (mean_const V I A M). lra.
Qed.

(** ** Smooth functions *)

(** The derivative along a line, at any point of the line. *)
Lemma gradient_along : forall f grad x v s, gradient f grad ->
  derivable_pt_lim (fun r => f (x +^ r *^ v)) s (dot (grad (x +^ s *^ v)) v).
Proof.
  intros f grad x v s H e He. destruct (H (x +^ s *^ v) v e He) as [delta D]. exists delta.
  intros h Hh Hs. specialize (D h Hh Hs). rewrite Rplus_0_l in D.
  replace (x +^ s *^ v +^ h *^ v) with (x +^ (s + h) *^ v) in D by vectors.
  replace (x +^ s *^ v +^ 0 *^ v) with (x +^ s *^ v) in D by vectors. exact D.
Qed.

(** The mean value theorem for s |-> f(x + s v) - s <grad x, v> - (L/2) s^2 ||v||^2, whose derivative is never positive
    for s >= 0. *)
Theorem lipschitz_smooth : forall L f grad, gradient f grad -> lipschitz L grad -> smooth L f grad.
Proof.
  intros L f grad G Lip x y. set (v := y -^ x).
  set (phi := fun s => f (x +^ s *^ v) - (s * dot (grad x) v + L / 2 * dot v v * (s * s))).
  set (phi' := fun s => dot (grad (x +^ s *^ v)) v - (1 * dot (grad x) v + L / 2 * dot v v * (1 * s + s * 1))).
  assert (D : forall s, 0 <= s <= 1 -> derivable_pt_lim phi s (phi' s)).
  { intros s _. apply derivable_pt_lim_minus; [apply gradient_along; exact G|].
    apply derivable_pt_lim_plus.
    - replace (1 * dot (grad x) v) with (1 * dot (grad x) v + s * 0) by ring.
      apply (derivable_pt_lim_mult id (fct_cte (dot (grad x) v)) s 1 0);
        [apply derivable_pt_lim_id | apply derivable_pt_lim_const].
    - apply (derivable_pt_lim_scal (fun s => s * s) _ s (1 * s + s * 1)).
      apply (derivable_pt_lim_mult id id); apply derivable_pt_lim_id. }
  destruct (MVT_cor2 phi phi' 0 1 Rlt_0_1 D) as [c [E [c0 c1]]].
  assert (N : phi' c <= 0).
  { unfold phi'. pose proof (cauchy_schwarz V (grad (x +^ c *^ v) -^ grad x) v) as C.
    rewrite dot_add, dot_scale in C. pose proof (Lip (x +^ c *^ v) x) as B.
    replace (x +^ c *^ v -^ x) with (c *^ v) in B by vectors.
    rewrite norm_scale_nonneg in B by lra. pose proof (norm_nonneg V v). rewrite <- (norm_square V v). nra. }
  assert (phi 0 = f x).
  { unfold phi. replace (x +^ 0 *^ v) with x by vectors. ring. }
  assert (phi 1 = f y - (dot (grad x) v + L / 2 * dot v v)).
  { unfold phi. replace (x +^ 1 *^ v) with y by (unfold v; vectors). ring. }
  nra.
Qed.

(** It is convex with the constant -L: the same for -f. *)
Theorem lipschitz_convex : forall L f grad, gradient f grad -> lipschitz L grad -> convex (- L) f grad.
Proof.
  intros L f grad G Lip x y.
  assert (S : smooth L (fun z => - f z) (fun z => (-1) *^ grad z)).
  { apply lipschitz_smooth.
    - intros z v. rewrite dot_scale. replace (-1 * dot (grad z) v) with (- dot (grad z) v) by ring.
      apply (derivable_pt_lim_opp (fun s => f (z +^ s *^ v))). apply G.
    - intros z w. replace ((-1) *^ grad z -^ (-1) *^ grad w) with (grad w -^ grad z) by vectors.
      rewrite (norm_sub_comm V z w). apply Lip. }
  specialize (S x y). cbv beta in S. rewrite dot_scale in S. lra.
Qed.

(** A smooth function that is bounded below has ||grad f(x)||^2 <= 2 L (f(x) - inf f). *)
Theorem smooth_lower_bound : forall L f grad low x, 0 < L -> smooth L f grad -> (forall y, low <= f y) ->
  dot (grad x) (grad x) <= 2 * L * (f x - low).
Proof.
  intros L f grad low x HL S B. specialize (S x (x +^ (- / L) *^ grad x)). specialize (B (x +^ (- / L) *^ grad x)).
  replace (x +^ (- / L) *^ grad x -^ x) with ((- / L) *^ grad x) in S by vectors.
  rewrite !dot_scale_r, dot_scale in S.
  assert (E : low <= f x - dot (grad x) (grad x) / (2 * L)).
  { replace (f x - dot (grad x) (grad x) / (2 * L)) with
      (f x + - / L * dot (grad x) (grad x) + L / 2 * (- / L * (- / L * dot (grad x) (grad x)))) by (field; lra). lra. }
  apply Rmult_le_reg_r with (/ (2 * L)); [apply Rinv_0_lt_compat; lra|].
  replace (2 * L * (f x - low) * / (2 * L)) with (f x - low) by (field; lra). unfold Rdiv in E. lra.
Qed.

(** A mean of smooth functions is smooth, and of convex ones convex. *)
Theorem smooth_mean : forall L I (A : operator V I) (f : I -> V -> R) (grad : I -> V -> V), mean A ->
  (forall i, domain A i -> smooth L (f i) (grad i)) ->
  smooth L (fun x => avg A (fun i => f i x)) (fun x => avgv A (fun i => grad i x)).
Proof.
  intros L I A f grad M H x y. rewrite dot_avgv, <- (mean_const V I A M (L / 2 * _)), <- !avg_add. apply avg_le.
  intros i Hi. apply H. exact Hi.
Qed.

Theorem convex_mean : forall mu I (A : operator V I) (f : I -> V -> R) (grad : I -> V -> V), mean A ->
  (forall i, domain A i -> convex mu (f i) (grad i)) ->
  convex mu (fun x => avg A (fun i => f i x)) (fun x => avgv A (fun i => grad i x)).
Proof.
  intros mu I A f grad M H x y. rewrite dot_avgv, <- (mean_const V I A M (mu / 2 * _)), <- !avg_add. apply avg_le.
  intros i Hi. apply H. exact Hi.
Qed.

(** ** Convex functions *)

Theorem convex_monotone : forall mu f grad x y, convex mu f grad ->
  mu * dot (x -^ y) (x -^ y) <= dot (grad x -^ grad y) (x -^ y).
Proof.
  intros mu f grad x y C. pose proof (C x y) as A. pose proof (C y x) as B.
  rewrite !dot_add, !dot_add_r, !dot_scale, !dot_scale_r in *. rewrite (dot_comm V y x) in *. lra.
Qed.

(** The inequality of Polyak and Lojasiewicz. *)
Theorem strongly_convex_growth : forall mu f grad x y, 0 < mu -> convex mu f grad ->
  2 * mu * (f x - f y) <= dot (grad x) (grad x).
Proof.
  intros mu f grad x y Hm C. specialize (C x y).
  pose proof (dot_square V (grad x +^ mu *^ (y -^ x))) as Q. set (v := y -^ x) in *.
  rewrite dot_add, !dot_add_r, !dot_scale, !dot_scale_r, (dot_comm V v (grad x)) in Q. nra.
Qed.

(** f(x) + <grad f(x), y - x> + ||grad f(x) - grad f(y)||^2 / (2 L) <= f(y). *)
Theorem interpolation : forall L f grad x y, 0 < L -> smooth L f grad -> convex 0 f grad ->
  f x + dot (grad x) (y -^ x) + / (2 * L) * dot (grad x -^ grad y) (grad x -^ grad y) <= f y.
Proof.
  intros L f grad x y HL S C. set (d := grad x -^ grad y). set (z := y +^ / L *^ d).
  specialize (S y z). specialize (C x z).
  replace (z -^ y) with (/ L *^ d) in S by (unfold z; vectors).
  replace (z -^ x) with ((y -^ x) +^ / L *^ d) in C by (unfold z; vectors).
  rewrite !dot_scale_r, dot_scale in S. rewrite (dot_add_r V (y -^ x)), dot_scale_r in C.
  assert (E : dot d d = dot (grad x) d - dot (grad y) d).
  { unfold d at 1. rewrite dot_add, dot_scale. ring. }
  replace (/ (2 * L) * dot d d) with (/ L * dot d d - L / 2 * (/ L * (/ L * dot d d))) by (field; lra).
  rewrite E at 1. lra.
Qed.

(** ||grad f(x) - grad f(y)||^2 <= L <grad f(x) - grad f(y), x - y>. *)
Theorem cocoercive : forall L f grad x y, 0 < L -> smooth L f grad -> convex 0 f grad ->
  dot (grad x -^ grad y) (grad x -^ grad y) <= L * dot (grad x -^ grad y) (x -^ y).
Proof.
  intros L f grad x y HL S C. pose proof (interpolation L f grad x y HL S C) as A.
  pose proof (interpolation L f grad y x HL S C) as B. set (d := grad x -^ grad y) in *.
  replace (grad y -^ grad x) with ((-1) *^ d) in B by (unfold d; vectors).
  rewrite !dot_scale, !dot_scale_r in B.
  assert (E : dot d (x -^ y) = - dot (grad x) (y -^ x) - dot (grad y) (x -^ y)).
  { unfold d. rewrite !dot_add, !dot_add_r, !dot_scale, !dot_scale_r. ring. }
  apply Rmult_le_reg_l with (/ L); [apply Rinv_0_lt_compat; exact HL|].
  replace (/ L * (L * dot d (x -^ y))) with (dot d (x -^ y)) by (field; lra).
  replace (/ L * dot d d) with (/ (2 * L) * dot d d + / (2 * L) * dot d d) by (field; lra). lra.
Qed.

(** The same with any nonnegative constant: at L = 0 as the limit of all L > 0. *)
Lemma cocoercive_limit : forall L f grad x y, 0 <= L -> smooth L f grad -> convex 0 f grad ->
  dot (grad x -^ grad y) (grad x -^ grad y) <= L * dot (grad x -^ grad y) (x -^ y).
Proof.
  intros L f grad x y [HL|HL] S C; [apply (cocoercive L f grad); assumption|]. subst L.
  assert (A : forall e, 0 < e -> dot (grad x -^ grad y) (grad x -^ grad y) <= e * dot (grad x -^ grad y) (x -^ y)).
  { intros e He. apply (cocoercive e f grad); [exact He | | exact C]. intros u v. specialize (S u v).
    pose proof (dot_square V (v -^ u)). nra. }
  set (p := dot (grad x -^ grad y) (grad x -^ grad y)) in *. set (q := dot (grad x -^ grad y) (x -^ y)) in *.
  rewrite Rmult_0_l. apply Rnot_lt_le. intro P. pose proof (A 1 ltac:(lra)) as A1.
  assert (Q : 0 < q) by lra. specialize (A (p / (2 * q))).
  replace (p / (2 * q) * q) with (p / 2) in A by (field; lra).
  assert (0 < p / (2 * q)) by (apply Rdiv_lt_0_compat; lra). specialize (A H). lra.
Qed.

(** (mu + L) <grad f(x) - grad f(y), x - y> >= mu L ||x - y||^2 + ||grad f(x) - grad f(y)||^2. *)
Theorem strongly_cocoercive : forall mu L f grad x y, mu <= L -> smooth L f grad -> convex mu f grad ->
  mu * L * dot (x -^ y) (x -^ y) + dot (grad x -^ grad y) (grad x -^ grad y) <=
  (mu + L) * dot (grad x -^ grad y) (x -^ y).
Proof.
  intros mu L f grad x y H S C.
  set (h := fun x : V => f x - mu / 2 * dot x x). set (gh := fun x : V => grad x -^ mu *^ x).
  assert (K : dot (gh x -^ gh y) (gh x -^ gh y) <= (L - mu) * dot (gh x -^ gh y) (x -^ y)).
  { apply (cocoercive_limit (L - mu) h gh); [lra | |].
    - intros u v. specialize (S u v). unfold h, gh. rewrite !dot_add, !dot_add_r, !dot_scale, !dot_scale_r in *.
      rewrite (dot_comm V v u) in *. lra.
    - intros u v. specialize (C u v). unfold h, gh. rewrite !dot_add, !dot_add_r, !dot_scale, !dot_scale_r in *.
      rewrite (dot_comm V v u) in *. lra. }
  replace (gh x -^ gh y) with ((grad x -^ grad y) -^ mu *^ (x -^ y)) in K by (unfold gh; vectors).
  set (d := grad x -^ grad y) in *. set (s := x -^ y) in *.
  rewrite !dot_add, !dot_add_r, !dot_scale, !dot_scale_r, (dot_comm V s d) in K. lra.
Qed.

(** Without mu <= L, all distances vanish, and with them all inner products. *)
Theorem cocoercivity : forall mu L f grad x y, smooth L f grad -> convex mu f grad ->
  mu * L * dot (x -^ y) (x -^ y) + dot (grad x -^ grad y) (grad x -^ grad y) <=
  (mu + L) * dot (grad x -^ grad y) (x -^ y).
Proof.
  intros mu L f grad x y S C. destruct (Rle_or_lt mu L) as [H|H]; [apply (strongly_cocoercive mu L f grad); assumption|].
  assert (Z : forall v, dot v v = 0).
  { intro v. specialize (S zero v). specialize (C zero v). replace (v -^ zero) with v in * by vectors.
    pose proof (dot_square V v). nra. }
  assert (N : dot (grad x -^ grad y) (x -^ y) = 0).
  { pose proof (cauchy_schwarz_squared V (grad x -^ grad y) (x -^ y)) as Q. rewrite !Z in Q.
    set (p := dot (grad x -^ grad y) (x -^ y)) in *. nra. }
  rewrite !Z, N. lra.
Qed.

(** ||grad f(x) - grad f(y)||^2 + mu L ||x - y||^2 - 2 mu <grad f(x) - grad f(y), x - y>
    <= 2 (L - mu) (f(y) - f(x) - <grad f(x), y - x>): all that f says between two points. *)
Theorem strong_interpolation : forall mu L f grad x y, smooth L f grad -> convex mu f grad ->
  dot (grad x -^ grad y) (grad x -^ grad y) + mu * L * dot (x -^ y) (x -^ y)
  - 2 * mu * dot (grad x -^ grad y) (x -^ y) <= 2 * (L - mu) * (f y - f x - dot (grad x) (y -^ x)).
Proof.
  intros mu L f grad x y S C. pose proof (S x y) as Sxy. pose proof (C x y) as Cxy.
  assert (N : dot (y -^ x) (y -^ x) = dot (x -^ y) (x -^ y)).
  { rewrite !dot_add, !dot_add_r, !dot_scale, !dot_scale_r, (dot_comm V x y). ring. }
  rewrite N in *. destruct (Rlt_or_le mu L) as [H|H].
  - set (h := fun x : V => f x - mu / 2 * dot x x). set (gh := fun x : V => grad x -^ mu *^ x).
    assert (K : h x + dot (gh x) (y -^ x) + / (2 * (L - mu)) * dot (gh x -^ gh y) (gh x -^ gh y) <= h y).
    { apply (interpolation (L - mu) h gh); [lra | |].
      - intros u v. specialize (S u v). unfold h, gh. rewrite !dot_add, !dot_add_r, !dot_scale, !dot_scale_r in *.
        rewrite (dot_comm V v u) in *. lra.
      - intros u v. specialize (C u v). unfold h, gh. rewrite !dot_add, !dot_add_r, !dot_scale, !dot_scale_r in *.
        rewrite (dot_comm V v u) in *. lra. }
    apply Rmult_le_compat_l with (r := 2 * (L - mu)) in K; [| lra].
    replace (gh x -^ gh y) with ((grad x -^ grad y) -^ mu *^ (x -^ y)) in K by (unfold gh; vectors).
    replace (2 * (L - mu) * (h x + dot (gh x) (y -^ x) +
      / (2 * (L - mu)) * dot (grad x -^ grad y -^ mu *^ (x -^ y)) (grad x -^ grad y -^ mu *^ (x -^ y))))
      with (2 * (L - mu) * (h x + dot (gh x) (y -^ x)) +
      dot (grad x -^ grad y -^ mu *^ (x -^ y)) (grad x -^ grad y -^ mu *^ (x -^ y))) in K by (field; lra).
    assert (P : h y - h x - dot (gh x) (y -^ x) = f y - f x - dot (grad x) (y -^ x) - mu / 2 * dot (x -^ y) (x -^ y)).
    { unfold h, gh. rewrite !dot_add, !dot_add_r, !dot_scale, !dot_scale_r, (dot_comm V y x). field. }
    set (d := grad x -^ grad y) in *. set (s := x -^ y) in *.
    assert (Q : dot (d -^ mu *^ s) (d -^ mu *^ s) = dot d d - 2 * mu * dot d s + mu ^ 2 * dot s s).
    { rewrite !dot_add, !dot_add_r, !dot_scale, !dot_scale_r, (dot_comm V s d). ring. }
    rewrite Q in K. nra.
  - pose proof (cocoercivity mu L f grad x y S C) as K. pose proof (dot_square V (x -^ y)) as P.
    assert (Z : f y - f x - dot (grad x) (y -^ x) = mu / 2 * dot (x -^ y) (x -^ y)) by nra.
    rewrite Z. assert (E : (mu - L) * dot (x -^ y) (x -^ y) = 0) by nra.
    assert (M : (mu - L) * dot (grad x -^ grad y) (x -^ y) = 0).
    { destruct H as [H|H]; [|rewrite H; ring]. assert (O : dot (x -^ y) (x -^ y) = 0) by nra.
      pose proof (cauchy_schwarz_squared V (grad x -^ grad y) (x -^ y)) as Q. rewrite O in Q.
      set (p := dot (grad x -^ grad y) (x -^ y)) in *. assert (p = 0) by nra. nra. }
    assert (R : mu * ((mu - L) * dot (x -^ y) (x -^ y)) = 0) by (rewrite E; ring). lra.
Qed.

(** At a point where the gradient vanishes. *)
Theorem strongly_cocoercive_at_rest : forall mu L f grad x y, mu <= L -> smooth L f grad -> convex mu f grad ->
  grad y = zero ->
  mu * L * dot (x -^ y) (x -^ y) + dot (grad x) (grad x) <= (mu + L) * dot (grad x) (x -^ y).
Proof.
  intros mu L f grad x y H S C Z. pose proof (strongly_cocoercive mu L f grad x y H S C) as K. rewrite Z in K.
  replace (grad x -^ zero) with (grad x) in K by vectors. exact K.
Qed.

End Functions.

Arguments gradient {V} f grad.
Arguments lipschitz {V} L T.
Arguments smooth {V} L f grad.
Arguments convex {V} mu f grad.
