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

Lemma step_square : forall t, norm d (x (S t) -^ x t) ^ 2 <=
  2 * alpha ^ 2 * (1 + mu) ^ 2 * A t ^ 2 + 2 * reach ^ 2 * G t ^ 2.
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
  assert (N2 : norm d ((- alpha) *^ v -^ beta *^ w) ^ 2 <= (alpha * ((1 + mu) * A t) + reach * G t) ^ 2)
    by (apply pow_incr; split; [apply norm_nonneg | exact N]).
  pose proof (pow2_ge_0 (alpha * ((1 + mu) * A t) - reach * G t)). nra.
Qed.

Lemma distance : forall t, norm d (x t -^ x0) <= sum t (fun s => norm d (x (S s) -^ x s)).
Proof.
  induction t as [|t IH]; [right; apply norm_sub_self|].
  replace (x (S t) -^ x0) with ((x t -^ x0) +^ (x (S t) -^ x t)) by vector.
  eapply Rle_trans; [apply triangle|]. simpl sum. lra.
Qed.

Variable W : nat.
Hypothesis W_positive : (0 < W)%nat.
(** 4 L W sqrt(1 + m) reach <= 1 - sqrt(m), squared. *)
Hypothesis range : 16 * L ^ 2 * INR W ^ 2 * (1 + m) * reach ^ 2 <= rho ^ 2.

(** Half of the bound on ||grad g(x_t)||^2 in the first W rounds. *)
Let half := 2 * G 0 ^ 2 + 8 * L ^ 2 * INR W * alpha * (1 + mu) ^ 2 * F / rho.

Lemma half_nonneg : 0 <= half.
Proof.
  pose proof mu_range. pose proof rho_positive. destruct alpha_range.
  assert (0 <= F) by (unfold F; pose proof (f_below x0); lra).
  assert (0 < rho) by (unfold rho; lra). assert (0 <= / rho) by (apply Rlt_le, Rinv_0_lt_compat; assumption).
  unfold half. apply Rplus_le_le_0_compat; [nonneg|]. unfold Rdiv. apply Rmult_le_pos; [|assumption]. nonneg.
Qed.

Lemma gradients : forall t, (t <= W)%nat -> sum t (fun s => G s ^ 2) <= INR t * (2 * half).
Proof.
  pose proof mu_range as M. destruct alpha_range as [A0 A1]. assert (R0 : 0 < rho) by (unfold rho; lra).
  pose proof half_nonneg as H0. pose proof reach_nonneg as Re0.
  induction t as [|t IH]; intro Ht; [simpl; lra|]. specialize (IH ltac:(lia)). rewrite S_INR.
  change (sum (S t) (fun s => G s ^ 2)) with (sum t (fun s => G s ^ 2) + G t ^ 2).
  set (g2 := sum t (fun s => G s ^ 2)) in *.
  assert (TW : INR t <= INR W) by (apply le_INR; lia). pose proof (pos_INR t) as T0.
  assert (G2 : 0 <= g2) by (apply sum_nonneg; intros; apply pow2_ge_0).
  set (steps := sum t (fun s => norm d (x (S s) -^ x s) ^ 2)).
  assert (Steps0 : 0 <= steps) by (apply sum_nonneg; intros; apply pow2_ge_0).
  assert (Steps : steps <= 4 * alpha * (1 + mu) ^ 2 * F / rho + 4 * (1 + m) * reach ^ 2 / rho ^ 2 * g2).
  { apply Rle_trans with (2 * alpha ^ 2 * (1 + mu) ^ 2 * sum t (fun s => A s ^ 2) + 2 * reach ^ 2 * g2).
    - unfold steps, g2. rewrite <- !sum_scale, <- sum_add. apply sum_le. intros s _. apply step_square.
    - pose proof (descent_sum t) as Q. fold g2 in Q.
      apply Rmult_le_compat_l with (r := 2 * alpha ^ 2 * (1 + mu) ^ 2) in Q; [|nonneg].
      eapply Rle_trans; [apply Rplus_le_compat_r; exact Q|]. right. rewrite <- mu_square. unfold rho in *. field. lra. }
  assert (Far : norm d (x t -^ x0) ^ 2 <= INR W * steps).
  { apply Rle_trans with (sum t (fun s => norm d (x (S s) -^ x s)) ^ 2).
    - apply pow_incr. split; [apply norm_nonneg | apply distance].
    - eapply Rle_trans; [apply square_of_sum|]. apply Rmult_le_compat_r; assumption. }
  assert (Gt : G t <= G 0%nat + L * norm d (x t -^ x0)).
  { unfold G. pose proof (current_lipschitz P L is_regular (x t) x0) as Lip. fold d in Lip.
    replace (grad_current P (x t)) with (grad_current P x0 +^ (grad_current P (x t) -^ grad_current P x0)) by vector.
    eapply Rle_trans; [apply triangle|]. change (x 0%nat) with x0. lra. }
  assert (Gt2 : G t ^ 2 <= 2 * G 0%nat ^ 2 + 2 * L ^ 2 * norm d (x t -^ x0) ^ 2).
  { apply Rle_trans with ((G 0%nat + L * norm d (x t -^ x0)) ^ 2).
    - apply pow_incr. split; [apply norm_nonneg | exact Gt].
    - pose proof (pow2_ge_0 (G 0%nat - L * norm d (x t -^ x0))). nra. }
  assert (Twice : G t ^ 2 <= 2 * half).
  { set (k := 16 * L ^ 2 * INR W ^ 2 * (1 + m) * reach ^ 2 / rho ^ 2).
    assert (K1 : k <= 1).
    { unfold k. apply Rmult_le_reg_r with (rho ^ 2); [apply pow_lt; exact R0|].
      replace (16 * L ^ 2 * INR W ^ 2 * (1 + m) * reach ^ 2 / rho ^ 2 * rho ^ 2)
        with (16 * L ^ 2 * INR W ^ 2 * (1 + m) * reach ^ 2) by (field; lra). lra. }
    assert (Step1 : 2 * L ^ 2 * norm d (x t -^ x0) ^ 2 <= 2 * L ^ 2 * (INR W * steps))
      by (apply Rmult_le_compat_l; [nonneg | exact Far]).
    assert (Step2 : 2 * L ^ 2 * (INR W * steps) <= 2 * L ^ 2 * (INR W *
      (4 * alpha * (1 + mu) ^ 2 * F / rho + 4 * (1 + m) * reach ^ 2 / rho ^ 2 * (INR W * (2 * half))))).
    { apply Rmult_le_compat_l; [nonneg|]. apply Rmult_le_compat_l; [apply pos_INR|].
      eapply Rle_trans; [exact Steps|]. apply Rplus_le_compat_l. apply Rmult_le_compat_l.
      - apply Rmult_le_pos; [nonneg | apply Rlt_le, Rinv_0_lt_compat, pow_lt; exact R0].
      - eapply Rle_trans; [exact IH|]. apply Rmult_le_compat_r; lra. }
    assert (Sum : 2 * G 0%nat ^ 2 + 2 * L ^ 2 * (INR W *
      (4 * alpha * (1 + mu) ^ 2 * F / rho + 4 * (1 + m) * reach ^ 2 / rho ^ 2 * (INR W * (2 * half)))) =
        half + k * half).
    { unfold k. replace (half + 16 * L ^ 2 * INR W ^ 2 * (1 + m) * reach ^ 2 / rho ^ 2 * half)
        with ((2 * G 0%nat ^ 2 + 8 * L ^ 2 * INR W * alpha * (1 + mu) ^ 2 * F / rho)
          + 16 * L ^ 2 * INR W ^ 2 * (1 + m) * reach ^ 2 / rho ^ 2 * half) by (unfold half; ring).
      field. lra. }
    assert (k * half <= 1 * half) by (apply Rmult_le_compat_r; assumption). lra. }
  lra.
Qed.

(** Ledger: ours.first_rounds. *)
Theorem first_rounds : sum W (fun t => A t ^ 2) / INR W <=
  4 * F / (alpha * rho * INR W) + 4 * (reach * G 0 / (alpha * rho)) ^ 2.
Proof.
  pose proof mu_range as M. destruct alpha_range as [A0 A1]. assert (R0 : 0 < rho) by (unfold rho; lra).
  pose proof (INR_pos W W_positive) as WP. pose proof reach_nonneg as Re0.
  assert (F0 : 0 <= F) by (unfold F; pose proof (f_below x0); lra).
  pose proof (descent_sum W) as Q. pose proof (gradients W (Nat.le_refl W)) as Gr.
  assert (C0 : 0 <= (reach / (alpha * rho)) ^ 2) by apply pow2_ge_0.
  apply Rmult_le_compat_l with (r := (reach / (alpha * rho)) ^ 2) in Gr; [|exact C0].
  assert (AR : 0 < alpha * rho) by (apply Rmult_lt_0_compat; assumption).
  assert (Small : (1 + mu) ^ 2 * (16 * L ^ 2 * INR W ^ 2 * reach ^ 2) <= 2 * rho ^ 2).
  { assert (0 <= 16 * L ^ 2 * INR W ^ 2 * reach ^ 2) by nonneg.
    assert ((1 + mu) ^ 2 <= 2 * (1 + m)) by (rewrite <- mu_square; pose proof (pow2_ge_0 (1 - mu)); nra). nra. }
  apply Rmult_le_reg_r with (INR W); [exact WP|].
  replace (sum W (fun t => A t ^ 2) / INR W * INR W) with (sum W (fun t => A t ^ 2)) by (field; lra).
  eapply Rle_trans; [exact Q|]. eapply Rle_trans; [apply Rplus_le_compat_l; exact Gr|].
  replace ((4 * F / (alpha * rho * INR W) + 4 * (reach * G 0 / (alpha * rho)) ^ 2) * INR W)
    with (2 * F / (alpha * rho) + F / (alpha * rho ^ 3) * (2 * rho ^ 2) + 4 * INR W * (reach * G 0 / (alpha * rho)) ^ 2)
    by (field; lra).
  replace (2 * F / (alpha * rho) + (reach / (alpha * rho)) ^ 2 * (INR W * (2 * half)))
    with (2 * F / (alpha * rho) + F / (alpha * rho ^ 3) * ((1 + mu) ^ 2 * (16 * L ^ 2 * INR W ^ 2 * reach ^ 2))
      + 4 * INR W * (reach * G 0 / (alpha * rho)) ^ 2) by (unfold half; field; lra).
  apply Rplus_le_compat_r, Rplus_le_compat_l, Rmult_le_compat_l; [|exact Small].
  apply Rmult_le_pos; [exact F0 | apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; [lra | apply pow_lt; exact R0]].
Qed.

End FirstRounds.
