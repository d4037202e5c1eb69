(** * Rules about numbers: extrema, sums over an index, roots, exponentials and logarithms

    [Numbers.v] has finite sums and the least of finitely many, [Exponential.v] the tangent and chord of exp. *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Numbers Exponential.
Open Scope R_scope.

(** ** The largest of a(0), ..., a(k) *)

Fixpoint maximum (a : nat -> R) (k : nat) : R :=
  match k with
  | O => a O
  | S j => Rmax (maximum a j) (a (S j))
  end.

Theorem maximum_start : forall a, maximum a 0 = a 0%nat.
Proof. reflexivity. Qed.

Theorem maximum_step : forall a k c, maximum a k <= c -> a (S k) <= c -> maximum a (S k) <= c.
Proof. intros a k c H K. apply Rmax_lub; assumption. Qed.

Theorem maximum_member : forall a k b, (b <= k)%nat -> a b <= maximum a k.
Proof.
  induction k as [|k IH]; intros b H; simpl.
  - replace b with O by lia. lra.
  - destruct (Nat.eq_dec b (S k)) as [->|N]; [apply Rmax_r|]. apply Rle_trans with (maximum a k); [|apply Rmax_l].
    apply IH. lia.
Qed.

Theorem maximum_bound : forall a k c, (forall b, (b <= k)%nat -> a b <= c) -> maximum a k <= c.
Proof.
  induction k as [|k IH]; intros c H; simpl; [apply H; lia|].
  apply Rmax_lub; [apply IH; intros b Hb; apply H; lia | apply H; lia].
Qed.

Theorem maximum_monotone : forall a j k, (j <= k)%nat -> maximum a j <= maximum a k.
Proof. intros a j k H. apply maximum_bound. intros b Hb. apply maximum_member. lia. Qed.

Theorem maximum_is_one : forall a k, exists b, (b <= k)%nat /\ maximum a k = a b.
Proof.
  induction k as [|k [b [Hb E]]]; [exists O; split; [lia | reflexivity]|]. simpl. unfold Rmax.
  destruct (Rle_dec (maximum a k) (a (S k))); [exists (S k); split; [lia | reflexivity]|].
  exists b. split; [lia | exact E].
Qed.

(** ** Sums over an index *)

(** T times the least of T numbers is at most their sum. *)
Theorem least_sum : forall T a, INR T * least T a <= sum T a.
Proof. exact least_times_count. Qed.

Theorem telescoping : forall T v, sum T (fun t => v t - v (S t)) = v 0%nat - v T.
Proof. exact sum_telescopes. Qed.

(** a(t) <= c (v(t) - v(t + 1)) + w(t) for every t < T. *)
Theorem telescoped_sum : forall T a v w c, (forall t, (t < T)%nat -> a t <= c * (v t - v (S t)) + w t) ->
  sum T a <= c * (v 0%nat - v T) + sum T w.
Proof.
  intros T a v w c H. eapply Rle_trans; [apply sum_le; exact H|].
  rewrite sum_add, sum_scale, sum_telescopes. lra.
Qed.

Theorem telescoped_least : forall T a v w c, (forall t, (t < T)%nat -> a t <= c * (v t - v (S t)) + w t) ->
  INR T * least T a <= c * (v 0%nat - v T) + sum T w.
Proof. intros T a v w c H. eapply Rle_trans; [apply least_sum | apply telescoped_sum; exact H]. Qed.

Theorem sum_empty : forall a, sum 0 a = 0.
Proof. reflexivity. Qed.

Theorem sum_last : forall k a, sum (S k) a = sum k a + a k.
Proof. reflexivity. Qed.

Lemma monotone_of_steps : forall a, (forall k : nat, a k <= a (S k)) -> forall j k, (j <= k)%nat -> a j <= a k.
Proof.
  intros a H j k J. induction J as [|k J IH]; [lra|]. eapply Rle_trans; [exact IH | apply H].
Qed.

(** ** Roots, exponentials and logarithms *)

Theorem root_monotone : forall u v, 0 <= v -> u ^ 2 <= v ^ 2 -> u <= v.
Proof. intros u v Hv H. apply Rnot_lt_le. intro L. nra. Qed.

Theorem decay : forall u k, 0 <= u <= 1 -> (1 - u) ^ k <= exp (- (INR k * u)).
Proof.
  intros u k [H0 H1]. induction k as [|k IH].
  - simpl. rewrite Rmult_0_l, Ropp_0, exp_0. lra.
  - rewrite S_INR. replace (- ((INR k + 1) * u)) with (- u + - (INR k * u)) by ring. rewrite exp_plus. simpl.
    pose proof (exp_tangent (- u)). pose proof (pow_le (1 - u) k ltac:(lra)). apply Rmult_le_compat; lra.
Qed.

Theorem tangent_of_ln : forall a b, 0 < a -> 0 < b -> 1 - a / b <= ln b - ln a.
Proof.
  intros a b Ha Hb. assert (Q : 0 < a / b) by (apply Rdiv_lt_0_compat; assumption).
  pose proof (exp_tangent (ln (a / b))) as T. rewrite exp_ln in T by exact Q.
  unfold Rdiv in T at 1. rewrite ln_mult in T by (try apply Rinv_0_lt_compat; assumption).
  rewrite ln_Rinv in T by assumption. lra.
Qed.

Theorem both_bounds : forall a b, a <= b -> b <= a -> a = b.
Proof. intros. lra. Qed.
