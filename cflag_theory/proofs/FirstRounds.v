(** * The first rounds of a run: a bound on grad f that assumes nothing about grad g but its value at x_0

    Over W rounds the model cannot get far: its memory steps descend f, and their squares sum up to at most a
    multiple of f(x_0) - inf f.  So ||grad g(x_t)|| stays comparable to ||grad g(x_0)|| + sqrt(W), which is enough
    where beta is of the order 1/W. *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1 Descent Exponential Drift Sums DrawnOnce.
Open Scope R_scope.
Open Scope vec_scope.

(** (sum of n numbers)^2 <= n (sum of their squares). *)
Lemma square_of_sum : forall n a, sum n a ^ 2 <= INR n * sum n (fun i => a i ^ 2).
Proof.
  induction n as [|n IH]; intro a; [simpl; lra|]. rewrite S_INR. specialize (IH a).
  change (sum (S n) a) with (sum n a + a n).
  change (sum (S n) (fun i => a i ^ 2)) with (sum n (fun i => a i ^ 2) + a n ^ 2).
  assert (C : 2 * sum n a * a n <= sum n (fun i => a i ^ 2) + INR n * a n ^ 2).
  { replace (2 * sum n a * a n) with (sum n (fun i => (2 * a n) * a i)) by (rewrite sum_scale; ring).
    rewrite <- sum_const, <- sum_add. apply sum_le. intros i _. pose proof (pow2_ge_0 (a i - a n)). nra. }
  nra.
Qed.

Section FirstRounds.

Variables (P : problem) (L alpha beta m : R) (E : nat) (order : nat -> nat -> nat -> nat).
Variables (memory : nat -> nat -> vec -> vec) (x0 : vec) (f : vec -> R) (grad_f : vec -> vec) (f_least : R).

Let d := dim P.
Let x := run P (fun _ => alpha) (fun _ => beta) E order memory x0.
Let mu := sqrt m.
Let rho := 1 - mu.
Let reach := ((1 + beta * L) ^ E - 1) / L.
Let F := f x0 - f_least.
Let A (t : nat) := norm d (grad_f (x t)).
Let G (t : nat) := norm d (grad_current P (x t)).

Hypothesis L_positive : 0 < L.
Hypothesis alpha_range : 0 < alpha /\ L * alpha <= 1.
Hypothesis beta_positive : 0 < beta.
Hypothesis m_range : 0 <= m < 1.
Hypothesis is_regular : regular P L.
Hypothesis f_smooth : smooth d L f grad_f.
Hypothesis f_below : forall y, f_least <= f y.
(** (27) along the run. *)
Hypothesis bias : forall t, norm d (memory_mean P (fun i => memory t i (x t)) -^ grad_f (x t)) ^ 2 <= m * A t ^ 2.

Lemma mu_range : 0 <= mu < 1.
Proof. split; [apply sqrt_pos|]. unfold mu. rewrite <- sqrt_1. apply sqrt_lt_1_alt. lra. Qed.

Lemma rho_positive : 0 < rho.
Proof. unfold rho. pose proof mu_range. lra. Qed.

Lemma mu_square : mu ^ 2 = m.
Proof. simpl. rewrite Rmult_1_r. apply sqrt_sqrt. lra. Qed.

Lemma bias_norm : forall t, norm d (memory_mean P (fun i => memory t i (x t)) -^ grad_f (x t)) <= mu * A t.
Proof.
  intro t. pose proof (bias t) as B. pose proof mu_range. rewrite norm_pow2 in B.
  apply norm_le_of_square; [apply Rmult_le_pos; [lra | apply norm_nonneg]|].
  eapply Rle_trans; [exact B|]. right. rewrite <- mu_square. ring.
Qed.

Lemma reach_nonneg : 0 <= reach.
Proof.
  unfold reach. assert (0 < beta * L) by (apply Rmult_lt_0_compat; lra).
  apply Rmult_le_pos; [pose proof (pow_R1_Rle (1 + beta * L) E ltac:(lra)); lra | apply Rlt_le, Rinv_0_lt_compat; lra].
Qed.

Lemma pull : forall t, beta * norm d (delayed_sum P beta E (order t) (x t)) <= reach * G t.
Proof. intro t. exact (S_reach P L beta E (order t) (x t) L_positive beta_positive is_regular). Qed.

(** alpha rho ||grad f||^2 <= 2 (f(x_t) - f(x_{t+1})) + (reach ||grad g||)^2 / (alpha rho). *)
Lemma round_descent : forall t, A t ^ 2 <= 2 / (alpha * rho) * (f (x t) - f (x (S t)))
  + (reach / (alpha * rho)) ^ 2 * G t ^ 2.
Proof.
  intro t. pose proof mu_range as M. destruct alpha_range as [A0 A1].
  pose proof (round_once P L alpha beta E (order t) (fun i => memory t i (x t)) (x t) f grad_f (proj2 (proj1
    is_regular))
    f_smooth alpha_range mu ltac:(lra) M (bias_norm t)) as R.
  change (round P alpha beta E (order t) (fun i => memory t i (x t)) (x t)) with (x (S t)) in R. fold d rho in R.
  fold (A t) in R.
  assert (AR : 0 < alpha * rho) by (apply Rmult_lt_0_compat; unfold rho; lra).
  eapply Rle_trans; [exact R|]. apply Rplus_le_compat; [right; field; unfold rho in *; lra|].
  rewrite <- Rpow_mult_distr. apply pow_incr. split.
  - apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply norm_nonneg] | apply Rlt_le, Rinv_0_lt_compat; exact AR].
  - pose proof (pull t) as Q. apply Rmult_le_compat_r with (r := / (alpha * rho)) in Q;
      [|apply Rlt_le, Rinv_0_lt_compat; exact AR]. unfold Rdiv. lra.
Qed.

Lemma descent_sum : forall t, sum t (fun s => A s ^ 2) <=
  2 * F / (alpha * rho) + (reach / (alpha * rho)) ^ 2 * sum t (fun s => G s ^ 2).
Proof.
  intro t. pose proof mu_range. pose proof rho_positive. destruct alpha_range.
  assert (AR : 0 < alpha * rho) by (apply Rmult_lt_0_compat; unfold rho; lra).
  apply Rle_trans with (2 / (alpha * rho) * (f x0 - f (x t)) + (reach / (alpha * rho)) ^ 2 * sum t (fun s => G s ^ 2)).
  - change (f x0) with (f (x 0%nat)). rewrite <- (sum_telescopes t (fun s => f (x s))), <- !sum_scale, <- sum_add.
    apply sum_le. intros s _. apply round_descent.
  - apply Rplus_le_compat_r. replace (2 * F / (alpha * rho)) with (2 / (alpha * rho) * F) by (field; lra).
    apply Rmult_le_compat_l; [apply Rlt_le, Rdiv_lt_0_compat; lra|]. unfold F. pose proof (f_below (x t)). lra.
Qed.

(** (a + b)^2 <= (2/(1 + mu)) a^2 + (2/(1 - mu)) b^2, Young's inequality with the weights (1 + mu)/2 and (1 - mu)/2. *)
Lemma weighted_young : forall a b, (a + b) ^ 2 <= 2 / (1 + mu) * a ^ 2 + 2 / rho * b ^ 2.
Proof.
  intros a b. pose proof mu_range. pose proof rho_positive.
  apply Rmult_le_reg_r with ((1 + mu) * rho); [apply Rmult_lt_0_compat; lra|].
  replace ((2 / (1 + mu) * a ^ 2 + 2 / rho * b ^ 2) * ((1 + mu) * rho)) with (2 * rho * a ^ 2 + 2 * (1 + mu) * b ^ 2)
    by (field; lra).
  assert (K : 2 * rho * a ^ 2 + 2 * (1 + mu) * b ^ 2 - (a + b) ^ 2 * ((1 + mu) * rho) = (rho * a - (1 + mu) * b) ^ 2)
    by (unfold rho; ring).
  pose proof (pow2_ge_0 (rho * a - (1 + mu) * b)). lra.
Qed.

Lemma step_square : forall t, norm d (x (S t) -^ x t) ^ 2 <=
  2 * alpha ^ 2 * (1 + mu) * A t ^ 2 + 2 / rho * reach ^ 2 * G t ^ 2.
Proof.
  intro t. pose proof mu_range. pose proof rho_positive. destruct alpha_range.
  change (x (S t)) with (round P alpha beta E (order t) (fun i => memory t i (x t)) (x t)).
  rewrite eq24 by exact (proj2 (proj1 is_regular)). set (v := memory_mean P (fun i => memory t i (x t))).
  set (w := delayed_sum P beta E (order t) (x t)).
  replace (x t -^ alpha *^ v -^ beta *^ w -^ x t) with ((- alpha) *^ v -^ beta *^ w) by vector.
  assert (V : norm d v <= (1 + mu) * A t).
  { replace v with ((v -^ grad_f (x t)) +^ grad_f (x t)) by vector. eapply Rle_trans; [apply triangle|].
    pose proof (bias_norm t) as B. fold v in B. fold (A t). lra. }
  assert (N : norm d ((- alpha) *^ v -^ beta *^ w) <= alpha * ((1 + mu) * A t) + reach * G t).
  { eapply Rle_trans; [apply triangle_sub|]. rewrite norm_scale, Rabs_Ropp, Rabs_pos_eq by lra.
    rewrite norm_scale_nonneg by lra. pose proof (pull t) as Q. fold w in Q.
    apply Rmult_le_compat_l with (r := alpha) in V; lra. }
  apply Rle_trans with ((alpha * ((1 + mu) * A t) + reach * G t) ^ 2).
  - apply pow_incr. split; [apply norm_nonneg | exact N].
  - eapply Rle_trans; [apply weighted_young|]. right. field. lra.
Qed.

Lemma distance : forall t, norm d (x t -^ x0) <= sum t (fun s => norm d (x (S s) -^ x s)).
Proof.
  induction t as [|t IH]; [right; apply norm_sub_self|].
  replace (x (S t) -^ x0) with ((x t -^ x0) +^ (x (S t) -^ x t)) by vector.
  eapply Rle_trans; [apply triangle|]. simpl sum. lra.
Qed.

(** The squared lengths of the first t steps. *)
Let steps (t : nat) := sum t (fun s => norm d (x (S s) -^ x s) ^ 2).

Lemma steps_by_gradients : forall t, steps t <=
  4 * alpha * (1 + mu) * F / rho + 4 * (reach / rho) ^ 2 * sum t (fun s => G s ^ 2).
Proof.
  intro t. pose proof mu_range. pose proof rho_positive. destruct alpha_range. set (g2 := sum t (fun s => G s ^ 2)).
  apply Rle_trans with (2 * alpha ^ 2 * (1 + mu) * sum t (fun s => A s ^ 2) + 2 / rho * reach ^ 2 * g2).
  - unfold steps, g2. rewrite <- !sum_scale, <- sum_add. apply sum_le. intros s _. apply step_square.
  - pose proof (descent_sum t) as Q. fold g2 in Q.
    apply Rmult_le_compat_l with (r := 2 * alpha ^ 2 * (1 + mu)) in Q; [|nonneg].
    eapply Rle_trans; [apply Rplus_le_compat_r; exact Q|]. right. unfold rho in *. field. lra.
Qed.

(** delta: what ||grad g||^2 may gain over ||grad g(x_0)||^2; eta: what part of its mean the steps account for. *)
Variables delta eta : R.
Hypothesis delta_positive : 0 < delta.
Hypothesis eta_range : 0 < eta < 1.

Let more := (1 + / delta) * L ^ 2.

Lemma more_nonneg : 0 <= more.
Proof. unfold more. assert (0 < / delta) by (apply Rinv_0_lt_compat; exact delta_positive). nonneg. Qed.

Lemma gradient_by_steps : forall t, G t ^ 2 <= (1 + delta) * G 0 ^ 2 + more * INR t * steps t.
Proof.
  intro t.
  assert (Far : norm d (x t -^ x0) ^ 2 <= INR t * steps t).
  { apply Rle_trans with (sum t (fun s => norm d (x (S s) -^ x s)) ^ 2).
    - apply pow_incr. split; [apply norm_nonneg | apply distance].
    - apply square_of_sum. }
  assert (Gt : G t <= G 0%nat + L * norm d (x t -^ x0)).
  { unfold G. pose proof (current_lipschitz P L is_regular (x t) x0) as Lip. fold d in Lip.
    replace (grad_current P (x t)) with (grad_current P x0 +^ (grad_current P (x t) -^ grad_current P x0)) by vector.
    eapply Rle_trans; [apply triangle|]. change (x 0%nat) with x0. lra. }
  set (n := norm d (x t -^ x0)) in *.
  apply Rle_trans with ((G 0%nat + L * n) ^ 2).
  - apply pow_incr. split; [apply norm_nonneg | exact Gt].
  - apply Rle_trans with ((1 + delta) * G 0%nat ^ 2 + more * n ^ 2).
    + assert (K : (1 + delta) * G 0%nat ^ 2 + more * n ^ 2 - (G 0%nat + L * n) ^ 2 =
        / delta * (delta * G 0%nat - L * n) ^ 2) by (unfold more; field; lra).
      assert (0 <= / delta * (delta * G 0%nat - L * n) ^ 2)
        by (apply Rmult_le_pos; [apply Rlt_le, Rinv_0_lt_compat; exact delta_positive | apply pow2_ge_0]).
      lra.
    + apply Rplus_le_compat_l. rewrite Rmult_assoc. apply Rmult_le_compat_l; [exact more_nonneg | exact Far].
Qed.

Lemma gradients : forall t, sum t (fun s => G s ^ 2) <=
  INR t * (1 + delta) * G 0 ^ 2 + more * (INR t ^ 2 / 2) * steps t.
Proof.
  pose proof more_nonneg as M0. induction t as [|t IH]; [simpl; lra|].
  rewrite S_INR. change (sum (S t) (fun s => G s ^ 2)) with (sum t (fun s => G s ^ 2) + G t ^ 2).
  change (steps (S t)) with (steps t + norm d (x (S t) -^ x t) ^ 2).
  pose proof (gradient_by_steps t) as B. pose proof (pos_INR t) as T0.
  assert (S0 : 0 <= steps t) by (apply sum_nonneg; intros; apply pow2_ge_0).
  assert (N0 : 0 <= more * ((INR t + 1) ^ 2 / 2) * norm d (x (S t) -^ x t) ^ 2).
  { apply Rmult_le_pos; [|apply pow2_ge_0]. apply Rmult_le_pos; [exact M0|].
    pose proof (pow2_ge_0 (INR t + 1)). lra. }
  assert (H0 : 0 <= more / 2 * steps t) by (apply Rmult_le_pos; lra).
  apply Rle_trans with (INR t * (1 + delta) * G 0 ^ 2 + more * (INR t ^ 2 / 2) * steps t
    + ((1 + delta) * G 0 ^ 2 + more * INR t * steps t)); [apply Rplus_le_compat; assumption|].
  replace ((INR t + 1) * (1 + delta) * G 0 ^ 2
      + more * ((INR t + 1) ^ 2 / 2) * (steps t + norm d (x (S t) -^ x t) ^ 2))
    with (INR t * (1 + delta) * G 0 ^ 2 + more * (INR t ^ 2 / 2) * steps t
      + ((1 + delta) * G 0 ^ 2 + more * INR t * steps t)
      + (more / 2 * steps t + more * ((INR t + 1) ^ 2 / 2) * norm d (x (S t) -^ x t) ^ 2)) by field.
  lra.
Qed.

Variable W : nat.
Hypothesis W_positive : (0 < W)%nat.
Hypothesis range : 2 * (1 + / delta) / eta * (L * INR W * reach) ^ 2 <= rho ^ 2.

(** Ledger: ours.first_rounds, part constants. *)
Theorem first_rounds_constants : sum W (fun t => A t ^ 2) / INR W <=
  2 / (1 - eta) * F / (alpha * rho * INR W) + (1 + delta) / (1 - eta) * (reach * G 0 / (alpha * rho)) ^ 2.
Proof.
  pose proof mu_range as M. destruct alpha_range as [A0 A1]. pose proof rho_positive as R0.
  pose proof (INR_pos W W_positive) as WP. pose proof more_nonneg as M0.
  assert (F0 : 0 <= F) by (unfold F; pose proof (f_below x0); lra).
  assert (AR : 0 < alpha * rho) by (apply Rmult_lt_0_compat; assumption).
  set (g2 := sum W (fun s => G s ^ 2)). assert (G2 : 0 <= g2) by (apply sum_nonneg; intros; apply pow2_ge_0).
  (* what the steps account for *)
  set (k := 2 * (1 + / delta) * (L * INR W * reach / rho) ^ 2).
  assert (K1 : k <= eta).
  { unfold k. apply Rmult_le_reg_r with (rho ^ 2 / eta);
      [apply Rdiv_lt_0_compat; [apply pow_lt; exact R0 | lra]|].
    replace (eta * (rho ^ 2 / eta)) with (rho ^ 2) by (field; lra).
    replace (2 * (1 + / delta) * (L * INR W * reach / rho) ^ 2 * (rho ^ 2 / eta))
      with (2 * (1 + / delta) / eta * (L * INR W * reach) ^ 2) by (field; lra). exact range. }
  assert (K0 : 0 <= k).
  { unfold k. apply Rmult_le_pos; [|apply pow2_ge_0].
    assert (0 < / delta) by (apply Rinv_0_lt_compat; assumption). lra. }
  set (start := INR W * (1 + delta) * G 0 ^ 2). set (drop := 2 * more * INR W ^ 2 * alpha * (1 + mu) * F / rho).
  assert (Gr : (1 - eta) * g2 <= start + drop).
  { pose proof (gradients W) as H. fold g2 in H. fold start in H.
    pose proof (steps_by_gradients W) as Q. fold g2 in Q.
    apply Rmult_le_compat_l with (r := more * (INR W ^ 2 / 2)) in Q;
      [|apply Rmult_le_pos; [exact M0 | pose proof (pow2_ge_0 (INR W)); lra]].
    assert (Split : more * (INR W ^ 2 / 2) * (4 * alpha * (1 + mu) * F / rho + 4 * (reach / rho) ^ 2 * g2)
      = drop + k * g2) by (unfold drop, k, more; field; lra).
    assert (k * g2 <= eta * g2) by (apply Rmult_le_compat_r; assumption). lra. }
  assert (Dropped : (reach / (alpha * rho)) ^ 2 * drop <= 2 * eta * F / (alpha * rho)).
  { replace ((reach / (alpha * rho)) ^ 2 * drop) with (k * ((1 + mu) * F / (alpha * rho)))
      by (unfold drop, k, more; field; lra).
    replace (2 * eta * F / (alpha * rho)) with (eta * (2 * F / (alpha * rho))) by (field; lra).
    assert (B : (1 + mu) * F / (alpha * rho) <= 2 * F / (alpha * rho)).
    { apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; exact AR | apply Rmult_le_compat_r; lra]. }
    assert (0 <= (1 + mu) * F / (alpha * rho)).
    { apply Rmult_le_pos; [apply Rmult_le_pos; lra | apply Rlt_le, Rinv_0_lt_compat; exact AR]. }
    apply Rmult_le_compat; assumption. }
  pose proof (descent_sum W) as Q. fold g2 in Q.
  apply Rmult_le_reg_r with (INR W * (1 - eta)); [apply Rmult_lt_0_compat; lra|].
  replace (sum W (fun t => A t ^ 2) / INR W * (INR W * (1 - eta))) with ((1 - eta) * sum W (fun t => A t ^ 2))
    by (field; lra).
  replace ((2 / (1 - eta) * F / (alpha * rho * INR W) + (1 + delta) / (1 - eta) * (reach * G 0 / (alpha * rho)) ^ 2)
    * (INR W * (1 - eta))) with (2 * F / (alpha * rho) + (reach / (alpha * rho)) ^ 2 * start)
      by (unfold start; field; lra).
  apply Rmult_le_compat_l with (r := 1 - eta) in Q; [|lra].
  apply Rmult_le_compat_l with (r := (reach / (alpha * rho)) ^ 2) in Gr; [|apply pow2_ge_0].
  lra.
Qed.

End FirstRounds.

(** Ledger: ours.first_rounds, part 1: delta = 3/5 and eta = 1/3. *)
Theorem first_rounds : forall P L alpha beta m E order memory x0 f grad_f f_least W,
  let d := dim P in
  let x := run P (fun _ => alpha) (fun _ => beta) E order memory x0 in
  let rho := 1 - sqrt m in
  let reach := ((1 + beta * L) ^ E - 1) / L in
  0 < L -> 0 < alpha /\ L * alpha <= 1 -> 0 < beta -> 0 <= m < 1 -> regular P L -> smooth d L f grad_f ->
  (forall y, f_least <= f y) ->
  (forall t, norm d (memory_mean P (fun i => memory t i (x t)) -^ grad_f (x t)) ^ 2 <= m * norm d (grad_f (x t)) ^ 2) ->
  (0 < W)%nat -> 4 * L * INR W * reach <= rho ->
  sum W (fun t => norm d (grad_f (x t)) ^ 2) / INR W <=
    3 * (f x0 - f_least) / (alpha * rho * INR W) + 12 / 5 * (reach * norm d (grad_current P x0) / (alpha * rho)) ^ 2.
Proof.
  intros P L alpha beta m E order memory x0 f grad_f f_least W d x rho reach HL Ha Hb Hm Reg Smooth Below Bias HW Range.
  assert (Re0 : 0 <= reach) by exact (reach_nonneg L beta E HL Hb).
  pose proof (INR_pos W HW).
  assert (R : 2 * (1 + / (3 / 5)) / (1 / 3) * (L * INR W * reach) ^ 2 <= rho ^ 2).
  { replace (2 * (1 + / (3 / 5)) / (1 / 3) * (L * INR W * reach) ^ 2) with ((4 * L * INR W * reach) ^ 2) by field.
    apply pow_incr. split; [nonneg | exact Range]. }
  pose proof (first_rounds_constants P L alpha beta m E order memory x0 f grad_f f_least HL Ha Hb Hm Reg Smooth Below
    Bias (3 / 5) (1 / 3) ltac:(lra) ltac:(lra) W HW R) as Q.
  assert (0 < rho) by exact (rho_positive m Hm).
  eapply Rle_trans; [exact Q|]. right. change (run P (fun _ => alpha) (fun _ => beta) E order memory x0 0) with x0.
  fold d rho reach. field. lra.
Qed.
