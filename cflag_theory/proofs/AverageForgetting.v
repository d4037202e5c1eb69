(** * The average forgetting: Lemmas 4 and 18 with a bounded mean of ||grad g||^2, and where that bound comes from *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1 Descent Exponential Drift Sums Terms DrawnOnce Redrawn.
Open Scope R_scope.
Open Scope vec_scope.

Section Average.

Variable Omega : Type.
Variable Ex : (Omega -> R) -> R.
Variables (P : problem) (L alpha beta r g2 : R) (E T : nat).
Variables (order : Omega -> nat -> nat -> nat -> nat) (memory : Omega -> nat -> nat -> vec -> vec) (x0 : Omega -> vec).

Let d := dim P.
Let x (w : Omega) := run P (fun _ => alpha) (fun _ => beta) E (order w) (memory w) (x0 w).
Let v (w : Omega) (t : nat) := memory_mean P (fun i => memory w t i (x w t)).
(** Gamma(t) along w. *)
Let G (w : Omega) (t : nat) := Gamma P L alpha beta E (order w t) (x w t) (v w t).

Hypothesis mean : expectation Ex.
Hypothesis L_positive : 0 < L.
Hypothesis beta_positive : 0 < beta.
Hypothesis is_regular : regular P L.
Hypothesis r_positive : 0 < r.
(** Assumption 3 by Lemma 10, and a bounded mean of ||grad g(x_t)||^2. *)
Hypothesis ratio : forall w t, (t < T)%nat -> norm d (v w t) <= r * norm d (grad_current P (x w t)).
Hypothesis bounded : sum T (fun t => Ex (fun w => norm d (grad_current P (x w t)) ^ 2)) / INR T <= g2.
Hypothesis T_positive : (0 < T)%nat.

Lemma g2_nonneg : 0 <= g2.
Proof.
  destruct mean as [_ [Scale [Mono _]]]. eapply Rle_trans; [|exact bounded]. pose proof (INR_pos T T_positive).
  apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; assumption]. apply sum_nonneg. intros t _.
  pose proof (Scale 0 (fun _ => 0)) as Z. rewrite Rmult_0_l in Z.
  replace 0 with (Ex (fun _ => 0 * 0)) by (rewrite Scale; ring). apply Mono. intro w. rewrite Rmult_0_l.
  apply pow2_ge_0.
Qed.

(** (1/T) sum_t E Gamma(t) <= (L beta^2 K^2 / 2 + r beta K) g2 if beta sigma <= beta K. *)
Lemma forgetting_by_g : forall K, Rabs (1 - L * alpha) <= 1 -> sigma L beta E <= K ->
  sum T (fun t => Ex (fun w => G w t)) / INR T <= (L / 2 * beta ^ 2 * K ^ 2 + r * beta * K) * g2.
Proof.
  intros K Ha HK. destruct mean as [_ [Scale [Mono _]]]. pose proof (INR_pos T T_positive) as TP.
  pose proof (sigma_nonneg L beta E L_positive beta_positive) as S0.
  set (rate := L / 2 * beta ^ 2 * K ^ 2 + r * beta * K).
  assert (R0 : 0 <= rate) by (unfold rate; apply Rplus_le_le_0_compat; nonneg).
  assert (One : forall w t, (t < T)%nat -> G w t <= rate * norm d (grad_current P (x w t)) ^ 2).
  { intros w t Ht. eapply Rle_trans.
    - exact (forgetting_step P L alpha beta r E (order w t) (x w t) (v w t) L_positive beta_positive is_regular
        (ratio w t Ht)).
    - fold d. apply Rmult_le_compat_r; [apply pow2_ge_0|]. unfold rate. apply Rplus_le_compat.
      + apply Rmult_le_compat_l; [nonneg|]. apply pow_incr. split; assumption.
      + apply Rle_trans with (r * 1 * beta * sigma L beta E).
        * repeat (apply Rmult_le_compat_r; [lra|]). apply Rmult_le_compat_l; lra.
        * rewrite Rmult_1_r. apply Rmult_le_compat_l; [nonneg | exact HK]. }
  assert (Sum : sum T (fun t => Ex (fun w => G w t)) <=
    rate * sum T (fun t => Ex (fun w => norm d (grad_current P (x w t)) ^ 2))).
  { rewrite <- sum_scale. apply sum_le. intros t Ht. rewrite <- Scale. apply Mono. intro w. apply One. exact Ht. }
  apply Rle_trans with (rate * (sum T (fun t => Ex (fun w => norm d (grad_current P (x w t)) ^ 2)) / INR T)).
  - apply Rmult_le_reg_r with (INR T); [exact TP|].
    replace (sum T (fun t => Ex (fun w => G w t)) / INR T * INR T) with (sum T (fun t => Ex (fun w => G w t)))
      by (field; lra).
    eapply Rle_trans; [exact Sum|]. right. field. lra.
  - apply Rmult_le_compat_l; [exact R0 | exact bounded].
Qed.

Lemma alpha_gap : forall m, 0 <= m -> 0 < alpha < 2 / (L * (1 + m)) -> Rabs (1 - L * alpha) <= 1.
Proof.
  intros m Hm [A0 A1]. apply Rmult_lt_compat_r with (r := L * (1 + m)) in A1; [|nra].
  replace (2 / (L * (1 + m)) * (L * (1 + m))) with 2 in A1 by (field; nra).
  assert (0 < L * alpha) by (apply Rmult_lt_0_compat; lra). apply Rabs_le. nra.
Qed.

(** Lemma 4.  Ledger: cflag.lemma4, repaired: a bounded mean of E ||grad g(x_t)||^2. *)
Theorem lemma4 : forall m c, 0 <= m -> 0 < alpha < 2 / (L * (1 + m)) -> 0 < c -> beta < c / sqrt (INR T) ->
  (1 <= E)%nat ->
  let K := (exp (c * L * INR E) - 1) / (c * L) in
  sum T (fun t => Ex (fun w => G w t)) / INR T <=
    (c * r * K + L * c ^ 2 * K ^ 2 / 2) * g2 * (1 / INR T + 1 / sqrt (INR T)).
Proof.
  intros m c Hm Ha Hc Hb HE K. pose proof (INR_pos T T_positive) as TP. pose proof g2_nonneg as G0.
  assert (T1 : 1 <= INR T) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
  set (root := sqrt (INR T)) in *.
  assert (R1 : 1 <= root) by (unfold root; rewrite <- sqrt_1; apply sqrt_le_1_alt; exact T1).
  assert (E1 : 1 <= INR E) by (replace 1 with (INR 1) by reflexivity; apply le_INR; exact HE).
  assert (BC : beta * root <= c).
  { apply Rmult_lt_compat_r with (r := root) in Hb; [|lra]. replace (c / root * root) with c in Hb by (field; lra).
    lra. }
  assert (CL : 0 < c * L * INR E) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; lra).
  assert (CL2 : 0 < c * L) by (apply Rmult_lt_0_compat; lra).
  assert (BL : beta * L * INR E <= c * L * INR E) by (apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_r;
    [lra | nra]).
  assert (SK : sigma L beta E <= K).
  { eapply Rle_trans; [apply (sigma_chord L beta E L_positive beta_positive (c * L * INR E) CL BL)|].
    right. unfold K. field. lra. }
  pose proof (sigma_nonneg L beta E L_positive beta_positive) as S0. assert (K0 : 0 <= K) by lra.
  eapply Rle_trans; [apply (forgetting_by_g K (alpha_gap m Hm Ha) SK)|].
  assert (B1 : beta <= c * (1 / root)).
  { apply Rmult_le_reg_r with root; [lra|]. replace (c * (1 / root) * root) with c by (field; lra). exact BC. }
  set (w := 1 / root) in *. assert (W0 : 0 < w) by (unfold w; apply Rdiv_lt_0_compat; lra).
  assert (W1 : w <= 1) by (apply Rmult_le_reg_r with root; [lra|]; unfold w; replace (1 / root * root) with 1
    by (field; lra); lra).
  assert (B2 : beta ^ 2 <= c ^ 2 * w).
  { apply Rle_trans with ((c * w) ^ 2); [apply pow_incr; lra|]. rewrite Rpow_mult_distr.
    apply Rmult_le_compat_l; [nonneg | nra]. }
  apply Rle_trans with ((c * r * K + L * c ^ 2 * K ^ 2 / 2) * g2 * w).
  - replace ((c * r * K + L * c ^ 2 * K ^ 2 / 2) * g2 * w)
      with ((L / 2 * K ^ 2 * (c ^ 2 * w) + r * K * (c * w)) * g2) by field.
    apply Rmult_le_compat_r; [exact G0|]. apply Rplus_le_compat.
    + replace (L / 2 * beta ^ 2 * K ^ 2) with (L / 2 * K ^ 2 * beta ^ 2) by ring.
      apply Rmult_le_compat_l; [nonneg | exact B2].
    + replace (r * beta * K) with (r * K * beta) by ring. apply Rmult_le_compat_l; [nonneg | exact B1].
  - apply Rmult_le_compat_l.
    + apply Rmult_le_pos; [|exact G0]. apply Rplus_le_le_0_compat; [nonneg|]. unfold Rdiv. nonneg.
    + assert (0 < 1 / INR T) by (apply Rdiv_lt_0_compat; lra). lra.
Qed.

(** Lemma 18.  Ledger: cflag.lemma18, repaired in the same way. *)
Theorem lemma18 : forall m, 0 <= m -> 0 < alpha < 2 / (L * (1 + m)) -> (1 <= E)%nat -> beta = 1 / (60 * L * INR E) ->
  let K := 60 * INR E * (exp (1 / 60) - 1) in
  sum T (fun t => Ex (fun w => G w t)) / INR T <= (beta * r * K + L * beta ^ 2 * K ^ 2 / 2) * g2 * (1 / INR T + 1).
Proof.
  intros m Hm Ha HE Hb K. pose proof (INR_pos T T_positive) as TP. pose proof g2_nonneg as G0.
  assert (E1 : 1 <= INR E) by (replace 1 with (INR 1) by reflexivity; apply le_INR; exact HE).
  assert (BL : beta * L * INR E <= 1 / 60) by (right; rewrite Hb; field; lra).
  assert (SK : sigma L beta E <= K).
  { eapply Rle_trans; [apply (sigma_chord L beta E L_positive beta_positive (1 / 60)); lra|]. right. unfold K. field. }
  pose proof (sigma_nonneg L beta E L_positive beta_positive) as S0. assert (K0 : 0 <= K) by lra.
  eapply Rle_trans; [apply (forgetting_by_g K (alpha_gap m Hm Ha) SK)|].
  assert (R0 : 0 <= (beta * r * K + L * beta ^ 2 * K ^ 2 / 2) * g2).
  { apply Rmult_le_pos; [|exact G0]. apply Rplus_le_le_0_compat; [nonneg|]. unfold Rdiv. nonneg. }
  assert (0 < 1 / INR T) by (apply Rdiv_lt_0_compat; lra).
  apply Rle_trans with ((beta * r * K + L * beta ^ 2 * K ^ 2 / 2) * g2 * 1); [right; field | apply Rmult_le_compat_l;
    lra].
Qed.

End Average.

(** ** Memory and current data that differ by a bounded gradient *)

Section Bounded.

Variables (P : problem) (L alpha beta omega : R) (E T : nat) (order : nat -> nat -> nat -> nat).
Variables (memory : nat -> nat -> vec -> vec) (x0 : vec) (g : vec -> R).

Let d := dim P.
Let x := run P (fun _ => alpha) (fun _ => beta) E order memory x0.
Let q := ((1 + beta * L) ^ E - 1) / (L * alpha).

(** Ledger: ours.bounded_gradients, along one run. *)
Theorem bounded_gradients : 0 < L -> 0 < alpha -> L * alpha <= 1 -> 0 < beta -> (0 < T)%nat -> q < 1 -> 0 <= omega ->
  regular P L -> smooth d L g (grad_current P) ->
  (forall t, (t < T)%nat -> norm d (memory_mean P (fun i => memory t i (x t)) -^ grad_current P (x t)) <= omega) ->
  sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T <=
    2 * (g x0 - g (x T)) / (alpha * (1 - q) * INR T) + (omega / (1 - q)) ^ 2.
Proof.
  intros HL Ha HLa Hb HT Hq Hw Reg Smooth Near. pose proof (INR_pos T HT) as TP.
  assert (Q0 : 0 <= q).
  { assert (0 < beta * L) by (apply Rmult_lt_0_compat; lra). unfold q. apply Rmult_le_pos.
    - pose proof (pow_R1_Rle (1 + beta * L) E ltac:(lra)). lra.
    - apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; lra. }
  assert (Round : forall t, (t < T)%nat -> norm d (grad_current P (x t)) ^ 2 <=
    2 / (alpha * (1 - q)) * (g (x t) - g (x (S t))) + (omega / (1 - q)) ^ 2).
  { intros t Ht. set (G := norm d (grad_current P (x t))).
    pose proof (descent_by_error P L alpha beta E (order t) (fun i => memory t i (x t)) (x t) g (grad_current P)
      (proj2 (proj1 Reg)) Smooth (conj Ha HLa)) as D.
    change (round P alpha beta E (order t) (fun i => memory t i (x t)) (x t)) with (x (S t)) in D. fold d in D.
    fold G in D.
    set (delta := memory_mean P (fun i => memory t i (x t)) -^ grad_current P (x t)) in *.
    pose proof (S_reach P L beta E (order t) (x t) HL Hb Reg) as Reach. fold d G in Reach.
    assert (N : norm d (alpha *^ delta +^ beta *^ delayed_sum P beta E (order t) (x t)) <= alpha * (q * G + omega)).
    { eapply Rle_trans; [apply triangle|]. rewrite !norm_scale_nonneg by lra. specialize (Near t Ht).
      fold delta in Near.
      apply Rmult_le_compat_l with (r := alpha) in Near; [|lra].
      replace (((1 + beta * L) ^ E - 1) / L) with (alpha * q) in Reach by (unfold q; field; lra). lra. }
    assert (N2 : norm d (alpha *^ delta +^ beta *^ delayed_sum P beta E (order t) (x t)) ^ 2 <=
      (alpha * (q * G + omega)) ^ 2)
      by (apply pow_incr; split; [apply norm_nonneg | exact N]).
    pose proof (mixed_square q G omega (conj Q0 Hq)) as C.
    apply Rmult_le_reg_l with (alpha ^ 2 * (1 - q)); [apply Rmult_lt_0_compat; [apply pow_lt|]; lra|].
    replace (alpha ^ 2 * (1 - q) * (2 / (alpha * (1 - q)) * (g (x t) - g (x (S t))) + (omega / (1 - q)) ^ 2))
      with (2 * alpha * (g (x t) - g (x (S t))) + alpha ^ 2 * (omega ^ 2 / (1 - q))) by (field; lra).
    apply Rmult_le_compat_l with (r := alpha ^ 2) in C; [|nonneg]. rewrite Rpow_mult_distr in N2. lra. }
  apply sum_le in Round. rewrite sum_add, sum_scale, (sum_telescopes T (fun t => g (x t))), sum_const in Round.
  change (x 0%nat) with x0 in Round. apply Rmult_le_reg_r with (INR T); [exact TP|].
  replace (sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T * INR T)
    with (sum T (fun t => norm d (grad_current P (x t)) ^ 2)) by (field; lra).
  eapply Rle_trans; [exact Round|]. right. field. lra.
Qed.

End Bounded.
