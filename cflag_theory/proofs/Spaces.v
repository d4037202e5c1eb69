(** * R^d is an inner-product space

    The vectors, inner product and norm of [Vectors.v] are an instance of [Inner.space], for every d: what is proved of
    an arbitrary space holds for them. *)

Require Import Reals Lra Psatz.
From CFlag Require Vectors Inner.
Open Scope R_scope.

Definition coordinates (d : nat) : Inner.space.
Proof.
  refine (Inner.Space Vectors.vec Vectors.vzero Vectors.vadd Vectors.vscale (Vectors.dot d) _ _ _ _ _ _ _ _ _ _ _ _);
    intros; try Vectors.vector.
  - apply Vectors.dot_comm.
  - apply Vectors.dot_add_l.
  - apply Vectors.dot_scale_l.
  - apply Vectors.dot_self_nonneg.
Defined.

Lemma same_norm : forall d (u : Vectors.vec), @Inner.norm (coordinates d) u = Vectors.norm d u.
Proof. reflexivity. Qed.
