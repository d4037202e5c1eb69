(** * Finite sums of numbers, the largest and the least of finitely many *)

Require Import Reals Lra Psatz Arith Lia.
Open Scope R_scope.

Fixpoint sum (n : nat) (a : nat -> R) : R :=
  match n with
  | O => 0
  | S m => sum m a + a m
  end.

Lemma sum_ext : forall n a b, (forall i, (i < n)%nat -> a i = b i) -> sum n a = sum n b.
Proof.
  induction n as [|n IH]; intros a b H; simpl; [reflexivity|].
  rewrite (IH a b), (H n); [reflexivity | lia | intros i Hi; apply H; lia].
Qed.

Lemma sum_zero : forall n, sum n (fun _ => 0) = 0.
Proof. induction n as [|n IH]; simpl; lra. Qed.

Lemma sum_const : forall n c, sum n (fun _ => c) = INR n * c.
Proof. induction n as [|n IH]; intro c; [simpl; lra|]. rewrite S_INR. simpl sum. rewrite IH. lra. Qed.

Lemma sum_add : forall n a b, sum n (fun i => a i + b i) = sum n a + sum n b.
Proof. induction n as [|n IH]; intros a b; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_sub : forall n a b, sum n (fun i => a i - b i) = sum n a - sum n b.
Proof. induction n as [|n IH]; intros a b; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_scale : forall n c a, sum n (fun i => c * a i) = c * sum n a.
Proof. induction n as [|n IH]; intros c a; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_le : forall n a b, (forall i, (i < n)%nat -> a i <= b i) -> sum n a <= sum n b.
Proof.
  induction n as [|n IH]; intros a b H; simpl; [lra|].
  apply Rplus_le_compat; [apply IH; intros i Hi; apply H; lia | apply H; lia].
Qed.

Lemma sum_nonneg : forall n a, (forall i, (i < n)%nat -> 0 <= a i) -> 0 <= sum n a.
Proof. intros n a H. rewrite <- (sum_zero n). apply sum_le. exact H. Qed.

Lemma sum_swap : forall n m (a : nat -> nat -> R),
  sum n (fun i => sum m (fun j => a i j)) = sum m (fun j => sum n (fun i => a i j)).
Proof.
  induction n as [|n IH]; intros m a; simpl.
  - symmetry. apply sum_zero.
  - rewrite IH. symmetry. apply sum_add.
Qed.

Lemma sum_telescopes : forall n a, sum n (fun i => a i - a (S i)) = a O - a n.
Proof. induction n as [|n IH]; intro a; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma sum_indices : forall n, sum n INR = INR n * (INR n - 1) / 2.
Proof. induction n as [|n IH]; [simpl; lra|]. simpl sum. rewrite IH, S_INR. field. Qed.

(** The largest of the first [n] numbers, and 0 if there are none; the numbers here are norms. *)
Fixpoint largest (n : nat) (a : nat -> R) : R :=
  match n with
  | O => 0
  | S m => Rmax (largest m a) (a m)
  end.

Lemma largest_member : forall n a i, (i < n)%nat -> a i <= largest n a.
Proof.
  induction n as [|n IH]; intros a i H; [lia|]. simpl.
  destruct (Nat.eq_dec i n) as [->|Hn]; [apply Rmax_r|].
  apply Rle_trans with (largest n a); [apply IH; lia | apply Rmax_l].
Qed.

Lemma largest_nonneg : forall n a, 0 <= largest n a.
Proof.
  induction n as [|n IH]; intro a; simpl; [lra|]. apply Rle_trans with (largest n a); [apply IH | apply Rmax_l].
Qed.

Lemma largest_bound : forall n a c, 0 <= c -> (forall i, (i < n)%nat -> a i <= c) -> largest n a <= c.
Proof.
  induction n as [|n IH]; intros a c Hc H; simpl; [exact Hc|].
  apply Rmax_lub; [apply IH; [exact Hc | intros i Hi; apply H; lia] | apply H; lia].
Qed.

(** The least of [a 0], ..., [a (n - 1)]; [a 0] if [n] is 0 or 1. *)
Fixpoint least (n : nat) (a : nat -> R) : R :=
  match n with
  | O => a O
  | S O => a O
  | S m => Rmin (least m a) (a m)
  end.

Lemma least_member : forall n a i, (i < n)%nat -> least n a <= a i.
Proof.
  induction n as [|n IH]; intros a i H; [lia|].
  destruct n as [|n]; [replace i with O by lia; simpl; lra|].
  change (least (S (S n)) a) with (Rmin (least (S n) a) (a (S n))).
  destruct (Nat.eq_dec i (S n)) as [->|Hn]; [apply Rmin_r|].
  apply Rle_trans with (least (S n) a); [apply Rmin_l | apply IH; lia].
Qed.

Lemma least_is_one : forall n a, (0 < n)%nat -> exists i, (i < n)%nat /\ least n a = a i.
Proof.
  induction n as [|n IH]; intros a H; [lia|].
  destruct n as [|n]; [exists O; split; [lia | reflexivity]|].
  change (least (S (S n)) a) with (Rmin (least (S n) a) (a (S n))).
  destruct (IH a) as [i [Hi E]]; [lia|].
  unfold Rmin. destruct (Rle_dec (least (S n) a) (a (S n))) as [_|_].
  - exists i. split; [lia | exact E].
  - exists (S n). split; [lia | reflexivity].
Qed.

Lemma least_times_count : forall n a, INR n * least n a <= sum n a.
Proof. intros n a. rewrite <- sum_const. apply sum_le. intros i Hi. apply least_member. exact Hi. Qed.
