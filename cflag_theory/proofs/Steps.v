(** * What the generated theorems are put together with

    A step of a proof applies a theorem, whose conclusion is then written as the ledger writes it: inner products are
    expanded, common factors stand before norms, and what does not depend on the index of a mean leaves it. *)

Require Import Reals Lra Psatz Arith Lia List.
From CFlag Require Import Numbers Inner Operators Functions Exponential Sequences.
Open Scope R_scope.
Open Scope inner_scope.

Lemma bridge_le : forall l r l' r' : R, l <= r -> l = l' -> r = r' -> l' <= r'.
Proof. intros l r l' r' H E F. rewrite <- E, <- F. exact H. Qed.

Lemma bridge_lt : forall l r l' r' : R, l < r -> l = l' -> r = r' -> l' < r'.
Proof. intros l r l' r' H E F. rewrite <- E, <- F. exact H. Qed.

Lemma bridge_eq : forall l r l' r' : R, l = r -> l = l' -> r = r' -> l' = r'.
Proof. intros l r l' r' H E F. rewrite <- E, <- F. exact H. Qed.

(** ** Norms of multiples *)

Lemma norm_multiple : forall (V : space) (u w : V) c, 0 <= c -> u = c *^ w -> norm u = c * norm w.
Proof. intros V u w c H E. rewrite E. apply norm_scale_nonneg. exact H. Qed.

Lemma norm_opposite : forall (V : space) (u w : V) c, 0 <= c -> u = (- c) *^ w -> norm u = c * norm w.
Proof. intros V u w c H E. rewrite E, norm_scale, Rabs_Ropp, Rabs_pos_eq by exact H. reflexivity. Qed.

Lemma norm_vanishes : forall (V : space) (u : V), u = zero -> norm u = 0.
Proof. intros V u E. rewrite E. apply norm_zero. Qed.

(** ** Operators term by term *)

Section Terms.
Variable V : space.
Variable I : Type.
Variable A : operator V I.

Fixpoint terms (l : list (R * (I -> R))) (i : I) : R :=
  match l with nil => 0 | (c, t) :: nil => c * t i | (c, t) :: rest => c * t i + terms rest i end.
Fixpoint totals (l : list (R * (I -> R))) : R :=
  match l with nil => 0 | (c, t) :: nil => c * avg A t | (c, t) :: rest => c * avg A t + totals rest end.

Theorem avg_terms : forall l b, (forall i, b i = terms l i) -> avg A b = totals l.
Proof.
  intros l b H. rewrite (avg_ext V I A b (terms l) H). clear H b. induction l as [|[c t] [|[c' t'] l] IH].
  - apply avg_zero.
  - apply avg_scale.
  - change (avg A (fun i => c * t i + terms ((c', t') :: l) i) = c * avg A t + totals ((c', t') :: l)).
    rewrite avg_add, avg_scale, <- IH. reflexivity.
Qed.

Fixpoint terms_v (l : list (R * (I -> V))) (i : I) : V :=
  match l with nil => zero | (c, t) :: nil => c *^ t i | (c, t) :: rest => c *^ t i +^ terms_v rest i end.
Fixpoint totals_v (l : list (R * (I -> V))) : V :=
  match l with nil => zero | (c, t) :: nil => c *^ avgv A t | (c, t) :: rest => c *^ avgv A t +^ totals_v rest end.

Theorem avgv_terms : forall l b, (forall i, b i = terms_v l i) -> avgv A b = totals_v l.
Proof.
  intros l b H. rewrite (avgv_ext V I A b (terms_v l) H). clear H b. induction l as [|[c t] [|[c' t'] l] IH].
  - simpl. rewrite avgv_const. apply scale_null.
  - apply avgv_scale.
  - change (avgv A (fun i => c *^ t i +^ terms_v ((c', t') :: l) i) = c *^ avgv A t +^ totals_v ((c', t') :: l)).
    rewrite avgv_add, avgv_scale, <- IH. reflexivity.
Qed.

(** sum_i c_i <u_i, w> = <sum_i c_i u_i, w>. *)
Lemma avg_dot : forall c (u : I -> V) w, avg A (fun i => c i * dot (u i) w) = dot (avgv A (fun i => c i *^ u i)) w.
Proof. intros c u w. rewrite dot_avgv. apply avg_ext. intro i. symmetry. apply dot_scale. Qed.

Lemma avg_dot_r : forall c (u : I -> V) w, avg A (fun i => c i * dot w (u i)) = dot w (avgv A (fun i => c i *^ u i)).
Proof. intros c u w. rewrite dot_avgv_r. apply avg_ext. intro i. symmetry. apply dot_scale_r. Qed.

Theorem weighted_le : forall w a b, (forall i, domain A i -> 0 <= w i) -> (forall i, domain A i -> a i <= b i) ->
  avg A (fun i => w i * a i) <= avg A (fun i => w i * b i).
Proof. intros w a b W H. apply avg_le. intros i D. apply Rmult_le_compat_l; auto. Qed.

(** Jensen for numbers. *)
Theorem jensen_numbers : forall a, avg A a ^ 2 <= total A * avg A (fun i => a i ^ 2).
Proof.
  intro a. pose proof (cauchy_schwarz_avg V I A (fun _ => 1) a) as C. cbv beta in C.
  rewrite (avg_ext V I A (fun i => 1 * a i) a) in C by (intro; ring).
  rewrite (avg_ext V I A (fun _ => 1 ^ 2) (fun _ => 1)) in C by (intro; ring). exact C.
Qed.

End Terms.

Lemma domain_sums : forall (V : space) n i, domain (sums V n) i -> INR i + 1 <= INR n.
Proof. intros V n i H. simpl in H. rewrite <- S_INR. apply le_INR. lia. Qed.

Lemma sums_empty : forall (V : space) a, avg (sums V 0) a = 0.
Proof. reflexivity. Qed.

Lemma sums_last : forall (V : space) n a, avg (sums V (S n)) a = avg (sums V n) a + a n.
Proof. intros V n a. rewrite !avg_sums. apply sum_last. Qed.

Lemma sums_telescope : forall (V : space) n v, avg (sums V n) (fun t => v t - v (S t)) = v 0%nat - v n.
Proof. intros V n v. rewrite avg_sums. apply telescoping. Qed.

Lemma sums_least : forall (V : space) n a, INR n * least n a <= avg (sums V n) a.
Proof. intros V n a. rewrite avg_sums. apply least_sum. Qed.

Lemma sums_least_weighted : forall (V : space) n a w, (forall i : nat, 0 <= w i) ->
  avg (sums V n) w * least n a <= avg (sums V n) (fun i => w i * a i).
Proof.
  intros V n a w H. rewrite <- avg_scale_r. apply avg_le. intros i Hi. apply Rmult_le_compat_l; [apply H|].
  apply least_member. exact Hi.
Qed.

Lemma least_fewer : forall n k a, (0 < k)%nat -> (k <= n)%nat -> least n a <= least k a.
Proof.
  intros n k a K H. destruct (least_is_one k a K) as [i [Hi E]]. rewrite E. apply least_member. lia.
Qed.

Lemma least_nonneg : forall n a, (forall i : nat, 0 <= a i) -> 0 <= least n a.
Proof.
  intros n a H. destruct n as [|n]; [apply H|].
  destruct (least_is_one (S n) a) as [i [_ E]]; [lia|]. rewrite E. apply H.
Qed.

Lemma convex_weaker : forall (V : space) mu f (grad : V -> V), 0 <= mu -> convex mu f grad -> convex 0 f grad.
Proof. intros V mu f grad H C x y. specialize (C x y). pose proof (dot_square V (y -^ x)). nra. Qed.

(** ** Signs, and equality of numbers *)

Lemma ln_nonneg : forall x, 1 <= x -> 0 <= ln x.
Proof. intros x H. rewrite <- ln_1. destruct H as [H| <-]; [left; apply ln_increasing; lra | lra]. Qed.

(** Natural numbers are not negative, and those that are positive are at least 1. *)
Ltac counts :=
  repeat match goal with
  | |- context [INR ?n] => lazymatch goal with _ : 0 <= INR n |- _ => fail | _ => pose proof (pos_INR n) end
  end;
  repeat match goal with
  | H : (0 < ?n)%nat |- _ => lazymatch goal with _ : INR 1 <= INR n |- _ => fail | _ => pose proof (le_INR 1 n H) end
  end;
  change (INR 1) with 1 in *.

(** The declared sign of a sequence. *)
Ltac declared_sign :=
  match goal with
  | H : forall _, 0 < _ |- _ => first [apply H | left; apply H]
  | H : forall _, 0 <= _ |- _ => apply H
  | H : forall _ _, 0 < _ |- _ => first [apply H | left; apply H]
  | H : forall _ _, 0 <= _ |- _ => apply H
  | H : forall _ _ _, 0 < _ |- _ => first [apply H | left; apply H]
  | H : forall _ _ _, 0 <= _ |- _ => apply H
  end.

Ltac sign :=
  lazymatch goal with
  | |- 0 <= norm _ => apply norm_nonneg
  | |- 0 <= dot ?u ?u => apply dot_square
  | |- 0 <= INR _ => apply pos_INR
  | |- 0 < INR _ => apply lt_0_INR; (assumption || lia)
  | |- 0 < exp _ => apply exp_pos
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 <= ln _ => apply ln_nonneg; counts; lra
  | |- 0 < sqrt _ => apply sqrt_lt_R0; sign
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 <= avg _ _ => apply avg_nonneg; intros; sign
  | |- 0 <= maximum ?a ?k => apply Rle_trans with (a 0%nat); [cbv beta; sign | apply (maximum_member a k 0); lia]
  | |- 0 <= least _ _ => apply least_nonneg; intros; sign
  | |- 0 < _ ^ _ => apply pow_lt; sign
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= _ ^ _ => apply pow_le; sign
  | |- 0 < / _ => apply Rinv_0_lt_compat; sign
  | |- 0 <= / _ => left; apply Rinv_0_lt_compat; sign
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; sign
  | |- 0 <= _ * _ => apply Rmult_le_pos; sign
  | |- 0 < _ + _ => first [lra | apply Rplus_lt_le_0_compat; sign | apply Rplus_le_lt_0_compat; sign]
  | |- 0 <= _ + _ => first [lra | apply Rplus_le_le_0_compat; sign]
  | |- 0 < _ => first [assumption | lra | declared_sign | counts; lra]
  | |- 0 <= _ => first [assumption | lra | declared_sign | counts; lra]
  | |- _ => counts; lra
  end.

Ltac nonzero :=
  match goal with
  | |- _ * _ <> 0 => apply Rmult_integral_contrapositive_currified; nonzero
  | |- _ ^ _ <> 0 => apply pow_nonzero; nonzero
  | |- _ => first [assumption | apply Rgt_not_eq; unfold Rgt; sign | apply Rlt_not_eq; lra]
  end.

Lemma pow_twice : forall x n, x ^ (2 * n) = (x ^ n) ^ 2.
Proof. intros x n. rewrite <- pow_mult. f_equal. lia. Qed.

(** Natural numbers inside of formulas, and definitions at 0 and after k. *)
Ltac opened :=
  repeat match goal with |- context [S (?n - ?k)] => replace (S (n - k))%nat with (n + 1 - k)%nat by lia end;
  repeat match goal with |- context [(?n + 1 - 1)%nat] => replace (n + 1 - 1)%nat with n by lia end;
  repeat match goal with |- context [INR (?n - ?k)] => rewrite (minus_INR n k) by lia end;
  repeat first [rewrite S_INR | rewrite plus_INR | rewrite mult_INR | rewrite pow_twice | rewrite pow_add | rewrite sums_empty];
  cbn [pow maximum INR]; cbv beta.

Ltac identity := first [reflexivity | ring | field; repeat split; nonzero].

(** Terms that are equal and written differently inside of functions become the same. *)
Ltac merged old new := replace old with new by (f_equal; first [identity | by_coefficients; identity]).
Ltac aligned := repeat match goal with
  | |- context [@dot ?V ?u ?v] => match goal with |- context [@dot V v u] =>
      tryif constr_eq u v then fail else rewrite (dot_comm V v u) end
  | |- context [exp ?a] => match goal with |- context [exp ?b] =>
      tryif constr_eq a b then fail else merged (exp b) (exp a) end
  | |- context [?a ^ ?n] => match goal with |- context [?b ^ n] =>
      tryif constr_eq a b then fail else merged (b ^ n) (a ^ n) end
  | |- context [sqrt ?a] => match goal with |- context [sqrt ?b] =>
      tryif constr_eq a b then fail else merged (sqrt b) (sqrt a) end
  | |- context [ln ?a] => match goal with |- context [ln ?b] =>
      tryif constr_eq a b then fail else merged (ln b) (ln a) end
  | |- context [@norm ?V ?u] => match goal with |- context [@norm V ?v] =>
      tryif constr_eq u v then fail else merged (norm v) (norm u) end
  end.

(** Numbers whose roots occur become squares of these. *)
Ltac roots := repeat match goal with |- context [sqrt ?x] =>
  let Q := fresh in let s := fresh in
  assert (Q : x = sqrt x ^ 2) by (symmetry; apply pow2_sqrt; sign);
  revert Q; generalize (sqrt x); intros s Q; try rewrite Q end.

Ltac same := first [identity | opened; first [identity | aligned; identity | roots; identity]].

Ltac collinear := by_coefficients; first [identity | opened; identity].

(** The same relation, written otherwise. *)
Ltac bridged_le H := first [exact H | eapply bridge_le; [exact H | cbv beta; same | cbv beta; same]].
Ltac bridged_lt H := first [exact H | eapply bridge_lt; [exact H | cbv beta; same | cbv beta; same]].
Ltac bridged_eq H := first [exact H | eapply bridge_eq; [exact H | cbv beta; same | cbv beta; same]].

Ltac natural := repeat first [rewrite S_INR | rewrite plus_INR | rewrite mult_INR]; cbn [INR]; lra.
