(** * Constants that cannot be improved

    Runs of Algorithm 1 for which the bounds are equalities, or that stay above a bound of the same order. *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1 Descent Exponential Drift Sums DrawnOnce Instances.
Open Scope R_scope.
Open Scope vec_scope.

(** ** One client with the one component - (L/2) ||y - u||^2, evaluated at every step *)

Section Expanding.

Variables (d E : nat) (L beta : R) (u : vec).
Hypothesis L_positive : 0 < L.
Hypothesis beta_positive : 0 < beta.

Definition expanding : problem := Problem d 1 (fun _ => 1) (fun _ => 1%nat) (fun _ _ y => (- L) *^ (y -^ u)).
Definition always_first (_ _ : nat) : nat := 0%nat.

Lemma one_weights : weights 1 (fun _ => 1).
Proof. split; [intros; lra | simpl; lra]. Qed.

Lemma vmean_one : forall w : nat -> vec, vmean 1 w = w 0%nat.
Proof. intro w. unfold vmean. vector. unfold vsum. simpl. field. Qed.

Lemma vsum_one : forall w : nat -> vec, vsum 1 w = w 0%nat.
Proof. intro w. vector. unfold vsum. simpl. ring. Qed.

Lemma expanding_regular : regular expanding L.
Proof.
  split; [exact one_weights|]. split; [intros; simpl; lia|]. intros i j _ _ y z. simpl.
  replace ((- L) *^ (y -^ u) -^ (- L) *^ (z -^ u)) with ((- L) *^ (y -^ z)) by vector.
  rewrite norm_scale, Rabs_Ropp, Rabs_pos_eq by lra. lra.
Qed.

Lemma expanding_gradient : forall y, grad_current expanding y = (- L) *^ (y -^ u).
Proof. intro y. unfold grad_current, grad_client. simpl. rewrite vsum_one, vmean_one. vector. Qed.

Lemma expanding_size : forall y, norm d (grad_current expanding y) = L * norm d (y -^ u).
Proof. intro y. rewrite expanding_gradient, norm_scale, Rabs_Ropp, Rabs_pos_eq by lra. reflexivity. Qed.

Lemma expanding_point : forall x k, client_point expanding beta always_first x 0 k =
  u +^ (1 + beta * L) ^ k *^ (x -^ u).
Proof.
  intros x k. unfold client_point. simpl size. induction k as [|k IH].
  - rewrite local_start. simpl. vector.
  - rewrite local_step, delayed_gradient, vmean_one.
    replace (tau (always_first 0) k 0%nat) with k by (destruct k; reflexivity). rewrite !IH. simpl slope.
    rewrite expanding_gradient. unfold grad_client. simpl. rewrite vmean_one. vector.
Qed.

(** The growth of the drift is attained, for every k and beta: the exact worst case behind Lemma 13. *)
Theorem growth_attained : forall x k, client_drift expanding beta always_first x 0 k =
  norm d (grad_current expanding x) * ((1 + beta * L) ^ k - 1) / L.
Proof.
  intros x k. unfold client_drift. rewrite expanding_point, expanding_size. simpl dim.
  replace (u +^ (1 + beta * L) ^ k *^ (x -^ u) -^ x) with (((1 + beta * L) ^ k - 1) *^ (x -^ u)) by vector.
  pose proof (pow_R1_Rle (1 + beta * L) k ltac:(nra)). rewrite norm_scale_nonneg by lra. field. lra.
Qed.

Lemma expanding_sum : forall x, delayed_sum expanding beta E always_first x = (- sigma L beta E * L) *^ (x -^ u).
Proof.
  intro x. pose proof (eq22 expanding beta E always_first (proj2 one_weights) x) as Q. simpl clients in Q.
  rewrite vsum_one in Q.
  simpl weight in Q. rewrite expanding_point in Q.
  replace (delayed_sum expanding beta E always_first x)
    with ((- / beta) *^ ((- beta) *^ delayed_sum expanding beta E always_first x))
    by (vector; field; lra).
  rewrite <- Q. unfold sigma. vector. field. lra.
Qed.

Lemma sigma_positive : 0 <= sigma L beta E.
Proof.
  assert (0 < beta * L) by (apply Rmult_lt_0_compat; lra). unfold sigma.
  apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; assumption].
  pose proof (pow_R1_Rle (1 + beta * L) E ltac:(lra)). lra.
Qed.

(** The bound on S is attained, for every E and beta.  Ledger: the notes of ours.local_sums. *)
Theorem S_attained : forall x, norm d (delayed_sum expanding beta E always_first x) =
  sigma L beta E * norm d (grad_current expanding x).
Proof.
  intro x. rewrite expanding_sum, expanding_size, norm_scale. pose proof sigma_positive.
  replace (- sigma L beta E * L) with (- (sigma L beta E * L)) by ring.
  rewrite Rabs_Ropp, Rabs_pos_eq by (apply Rmult_le_pos; lra). ring.
Qed.

End Expanding.

(** ** Lemma 1 is attained with L/2 in Gamma(t), for every round, m and alpha.  Ledger: the notes of cflag.lemma1 *)

Theorem lemma1_attained : forall P alpha beta m E order x,
  sum (clients P) (weight P) = 1 -> 0 <= m -> 0 < alpha < 2 / (1 * (1 + m)) ->
  let memory := fun _ : nat => (1 - sqrt m) *^ x in
  let f := half_square (dim P) in
  norm (dim P) (memory_mean P memory -^ x) ^ 2 = m * norm (dim P) x ^ 2 /\
  norm (dim P) x ^ 2 = 1 / (alpha * (1 - 1 / 2 * alpha * (1 + m)))
    * (f x - f (round P alpha beta E order memory x)
       + overfitting P 1 alpha beta E order memory x (fun y => y) + forgetting P 1 alpha beta E order memory x (1 / 2)).
Proof.
  intros P alpha beta m E order x unit Hm [A0 A1] memory f.
  assert (SM : sqrt m * sqrt m = m) by (apply sqrt_sqrt; exact Hm).
  assert (V : memory_mean P memory = (1 - sqrt m) *^ x).
  { unfold memory_mean, memory. rewrite vsum_weights, unit. vector. }
  assert (Positive : alpha * (1 + m) < 2).
  { apply Rmult_lt_compat_r with (r := 1 + m) in A1; [|lra].
    replace (2 / (1 * (1 + m)) * (1 + m)) with 2 in A1 by (field; lra). exact A1. }
  unfold overfitting, forgetting. rewrite (eq24 P alpha beta E order unit), V.
  set (S := delayed_sum P beta E order x). unfold f, half_square. rewrite !norm_pow2. expand_dots.
  rewrite (dot_comm (dim P) S x). set (s := sqrt m) in *. rewrite <- SM. rewrite <- SM in Positive.
  split; [ring|]. field. lra.
Qed.

(** ** drawn_once is attained for every T, E >= 1, m < 1 and all step sizes: a run that stays where it is *)

Section AtRest.

Variables (d E T : nat) (alpha beta m : R) (x0 : vec).

(** Where g has its maximum, so that x0 is at rest. *)
Definition rest_target : vec := (1 - alpha * (1 - sqrt m) / ((1 + beta) ^ E - 1)) *^ x0.

Theorem drawn_once_attained : 0 < alpha -> 0 < beta -> 0 <= m < 1 -> (1 <= E)%nat -> (0 < T)%nat ->
  let P := expanding d 1 rest_target in
  let x := run P (fun _ => alpha) (fun _ => beta) E (fun _ => always_first) (fun _ _ y => (1 - sqrt m) *^ y) x0 in
  (forall t, x t = x0) /\
  (forall t, norm d (memory_mean P (fun _ => (1 - sqrt m) *^ x t) -^ x t) ^ 2 = m * norm d (x t) ^ 2) /\
  sum T (fun t => norm d (x t) ^ 2) / INR T =
    2 * (half_square d x0 - half_square d (x T)) / (alpha * (1 - sqrt m) * INR T)
    + (((1 + beta * 1) ^ E - 1) / (1 * alpha * (1 - sqrt m))) ^ 2
      * (sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T).
Proof.
  intros Ha Hb Hm HE HT P x.
  assert (Hmu : 0 <= sqrt m < 1).
  { split; [apply sqrt_pos|]. rewrite <- sqrt_1. apply sqrt_lt_1_alt. lra. }
  assert (SM : sqrt m * sqrt m = m) by (apply sqrt_sqrt; lra).
  set (rho := 1 - sqrt m) in *. set (kappa := (1 + beta) ^ E - 1) in *.
  assert (K : 0 < kappa).
  { unfold kappa. destruct E as [|e]; [lia|]. simpl. pose proof (pow_R1_Rle (1 + beta) e ltac:(lra)). nra. }
  assert (Memory : forall y, memory_mean P (fun _ => rho *^ y) = rho *^ y).
  { intro y. unfold memory_mean. simpl. rewrite vsum_one. vector. }
  assert (Rest : forall t, x t = x0).
  { induction t as [|t IH]; [reflexivity|].
    change (x (S t)) with (round P alpha beta E always_first (fun _ => rho *^ x t) (x t)). rewrite IH.
    rewrite eq24 by exact (proj2 one_weights). rewrite Memory. unfold P. rewrite expanding_sum by lra.
    unfold sigma. rewrite !Rmult_1_r. fold kappa. unfold rest_target. fold rho kappa. vector. field. lra. }
  split; [exact Rest|]. split.
  - intro t. rewrite Memory. replace (rho *^ x t -^ x t) with ((- sqrt m) *^ x t) by (unfold rho; vector).
    rewrite norm_scale, Rabs_Ropp, Rabs_pos_eq by lra. rewrite Rpow_mult_distr. rewrite <- SM at 2. ring.
  - rewrite (sum_ext T (fun t => norm d (x t) ^ 2) (fun _ => norm d x0 ^ 2)) by (intros; rewrite Rest; reflexivity).
    rewrite (sum_ext T (fun t => norm d (grad_current P (x t)) ^ 2) (fun _ => norm d (grad_current P x0) ^ 2))
      by (intros; rewrite Rest; reflexivity).
    rewrite Rest, !sum_const. unfold P. rewrite expanding_size by lra.
    replace (x0 -^ rest_target) with ((alpha * rho / kappa) *^ x0) by (unfold rest_target; fold rho kappa; vector).
    assert (Q : 0 <= alpha * rho / kappa).
    { apply Rmult_le_pos; [apply Rmult_le_pos; unfold rho; lra | apply Rlt_le, Rinv_0_lt_compat; exact K]. }
    rewrite norm_scale_nonneg by exact Q.
    replace ((1 + beta * 1) ^ E - 1) with kappa by (unfold kappa; rewrite Rmult_1_r; reflexivity).
    pose proof (INR_pos T HT). field. unfold rho. repeat split; lra.
Qed.

End AtRest.

(** ** The rate 1/T cannot be improved for beta = c / sqrt(T) *)

Section Rate.

Variables (E T : nat) (alpha beta c : R) (x0 : vec).

(** f(x) = x^2/2, g(x) = - x, one client, a memory that keeps everything. *)
Definition slope_down : problem := Problem 1 1 (fun _ => 1) (fun _ => 1%nat) (fun _ _ _ => fun _ => -1).

Lemma slope_down_sum : forall order y, delayed_sum slope_down beta E order y = fun _ => - INR E.
Proof.
  intros order y. unfold delayed_sum, client_sum. simpl. rewrite vsum_one. apply vec_eq. intro k. unfold vscale, vsum.
  rewrite (sum_ext E _ (fun _ => -1)); [rewrite sum_const; ring|]. intros l _. unfold client_delayed.
  rewrite delayed_gradient.
  simpl size. rewrite vmean_one. reflexivity.
Qed.

(** Ledger: ours.drawn_once_rate. *)
Theorem drawn_once_rate : 0 < alpha <= 1 -> 0 < beta -> (0 < T)%nat -> INR T * beta ^ 2 = c ^ 2 ->
  beta * INR E / alpha <= x0 0%nat ->
  forall order t,
  let x := run slope_down (fun _ => alpha) (fun _ => beta) E order (fun _ _ y => y) x0 in
  c ^ 2 * INR E ^ 2 / (alpha ^ 2 * INR T) <= norm 1 (x t) ^ 2.
Proof.
  intros Ha Hb HT Hc H0 order t x. pose proof (INR_pos T HT) as TP. pose proof (pos_INR E) as E0.
  assert (Above : beta * INR E / alpha <= x t 0%nat).
  { induction t as [|t IH]; [exact H0|].
    change (x (S t)) with (round slope_down alpha beta E (order t) (fun _ => x t) (x t)).
    rewrite eq24 by exact (proj2 one_weights). rewrite slope_down_sum. unfold memory_mean. simpl. rewrite vsum_one.
    unfold vsub, vscale. set (r := beta * INR E / alpha) in *.
    assert (R : alpha * r = beta * INR E) by (unfold r; field; lra). nra. }
  assert (R0 : 0 <= beta * INR E / alpha) by (apply Rmult_le_pos; [nonneg | apply Rlt_le, Rinv_0_lt_compat; lra]).
  replace (c ^ 2 * INR E ^ 2 / (alpha ^ 2 * INR T)) with ((beta * INR E / alpha) ^ 2) by (rewrite <- Hc; field; lra).
  rewrite norm_pow2. unfold dot. simpl sum. rewrite Rplus_0_l. nra.
Qed.

End Rate.
