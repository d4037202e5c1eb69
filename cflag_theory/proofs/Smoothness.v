(** * Assumption 1: smoothness

    A function on R^d is a map [f : vec -> R], its gradient a map [grad : vec -> vec].  [gradient] says that they belong
    together, [lipschitz] is L-smoothness as the paper uses it for the components, and [smooth], the descent inequality,
    is all that the theorems ask of f and of the union's loss.  [lipschitz_smooth] derives the second from the first,
    so that a reader may put Assumption 1 in place of [smooth] everywhere. *)

Require Import Reals Lra Psatz.
From CFlag Require Import Vectors.
Open Scope R_scope.
Open Scope vec_scope.

Section Smoothness.

Variable d : nat.

(** The derivative of f at x along v is <grad x, v>. *)
Definition gradient (f : vec -> R) (grad : vec -> vec) : Prop :=
  forall x v, derivable_pt_lim (fun s => f (x +^ s *^ v)) 0 (dot d (grad x) v).

Definition lipschitz (L : R) (grad : vec -> vec) : Prop :=
  forall x y, norm d (grad x -^ grad y) <= L * norm d (x -^ y).

(** f(y) <= f(x) + <grad f(x), y - x> + (L/2) ||y - x||^2. *)
Definition smooth (L : R) (f : vec -> R) (grad : vec -> vec) : Prop :=
  forall x y, f y <= f x + dot d (grad x) (y -^ x) + L / 2 * norm d (y -^ x) ^ 2.

(** The derivative along a line, at any point of the line. *)
Lemma gradient_along : forall f grad x v s, gradient f grad ->
  derivable_pt_lim (fun r => f (x +^ r *^ v)) s (dot d (grad (x +^ s *^ v)) v).
Proof.
  intros f grad x v s H e He. destruct (H (x +^ s *^ v) v e He) as [delta D]. exists delta.
  intros h Hh Hs. specialize (D h Hh Hs). rewrite Rplus_0_l in D.
  replace (x +^ s *^ v +^ h *^ v) with (x +^ (s + h) *^ v) in D by vector.
  replace (x +^ s *^ v +^ 0 *^ v) with (x +^ s *^ v) in D by vector. exact D.
Qed.

(** Assumption 1 gives the descent inequality: the mean value theorem for
    s |-> f(x + s v) - s <grad x, v> - (L/2) s^2 ||v||^2, whose derivative is never positive for s >= 0. *)
Theorem lipschitz_smooth : forall L f grad, gradient f grad -> lipschitz L grad -> smooth L f grad.
Proof.
  intros L f grad G Lip x y. set (v := y -^ x).
  set (phi := fun s => f (x +^ s *^ v) - (s * dot d (grad x) v + L / 2 * norm d v ^ 2 * (s * s))).
  set (phi' := fun s => dot d (grad (x +^ s *^ v)) v - (1 * dot d (grad x) v + L / 2 * norm d v ^ 2 * (1 * s + s * 1))).
  assert (D : forall s, 0 <= s <= 1 -> derivable_pt_lim phi s (phi' s)).
  { intros s _. apply derivable_pt_lim_minus; [apply gradient_along; exact G|].
    apply derivable_pt_lim_plus.
    - replace (1 * dot d (grad x) v) with (1 * dot d (grad x) v + s * 0) by ring.
      apply (derivable_pt_lim_mult id (fct_cte (dot d (grad x) v)) s 1 0);
        [apply derivable_pt_lim_id | apply derivable_pt_lim_const].
    - apply (derivable_pt_lim_scal (fun s => s * s) _ s (1 * s + s * 1)).
      apply (derivable_pt_lim_mult id id); apply derivable_pt_lim_id. }
  destruct (MVT_cor2 phi phi' 0 1 Rlt_0_1 D) as [c [E [c0 c1]]].
  assert (N : phi' c <= 0).
  { unfold phi'. pose proof (cauchy_schwarz d (grad (x +^ c *^ v) -^ grad x) v) as C.
    rewrite dot_sub_l in C. pose proof (Lip (x +^ c *^ v) x) as B.
    replace (x +^ c *^ v -^ x) with (c *^ v) in B by vector.
    rewrite norm_scale_nonneg in B by lra. pose proof (norm_nonneg d v). nra. }
  assert (phi 0 = f x).
  { unfold phi. replace (x +^ 0 *^ v) with x by vector. ring. }
  assert (phi 1 = f y - (dot d (grad x) v + L / 2 * norm d v ^ 2)).
  { unfold phi. replace (x +^ 1 *^ v) with y by (unfold v; vector). ring. }
  nra.
Qed.

(** A mean of L-smooth components is L-smooth. *)
Lemma lipschitz_mean : forall L n (G : nat -> vec -> vec), (0 < n)%nat ->
  (forall j, (j < n)%nat -> lipschitz L (G j)) -> lipschitz L (fun x => vmean n (fun j => G j x)).
Proof.
  intros L n G Hn H x y. rewrite <- vmean_sub.
  eapply Rle_trans; [apply norm_vmean; exact Hn|].
  apply rmean_bound; [exact Hn|]. intros j Hj. apply H. exact Hj.
Qed.

End Smoothness.
