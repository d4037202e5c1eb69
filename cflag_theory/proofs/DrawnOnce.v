(** * Convergence on the past task with one memory, m < 1: O(1/T)

    Ledger: ours.drawn_once, for Theorems 2 and 5 and Lemma 4.  No expectation is needed and none is taken: the bound
    holds along every run whose memory has (27) with m < 1, drawn once or not. *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1 Descent Exponential Drift Sums.
Open Scope R_scope.
Open Scope vec_scope.

(** (mu A + s)^2 <= mu A^2 + s^2 / (1 - mu): convexity of the square. *)
Lemma mixed_square : forall mu A s, 0 <= mu < 1 -> (mu * A + s) ^ 2 <= mu * A ^ 2 + s ^ 2 / (1 - mu).
Proof.
  intros mu A s H. apply Rmult_le_reg_l with (1 - mu); [lra|].
  replace ((1 - mu) * (mu * A ^ 2 + s ^ 2 / (1 - mu))) with ((1 - mu) * mu * A ^ 2 + s ^ 2) by (field; lra).
  assert (0 <= mu * ((1 - mu) * A - s) ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]). nra.
Qed.

Section OneRound.

Variables (P : problem) (L alpha beta : R) (E : nat) (order : nat -> nat -> nat) (memory : nat -> vec) (x : vec).
Variables (f : vec -> R) (grad_f : vec -> vec).

Let d := dim P.
Let S := delayed_sum P beta E order x.
Let b := memory_mean P memory -^ grad_f x.
Let next := round P alpha beta E order memory x.

Hypothesis unit : sum (clients P) (weight P) = 1.
Hypothesis f_smooth : smooth d L f grad_f.
Hypothesis alpha_range : 0 < alpha /\ L * alpha <= 1.

(** f(x_{t+1}) <= f(x_t) - (alpha/2) (||grad f||^2 - ||b + z||^2 + (1 - L alpha) ||grad f_memory + z||^2) with
    z = (beta/alpha) S, the identity behind all our theorems; here its last term is dropped. *)
Lemma descent_by_error : 2 * alpha * (f next - f x) + alpha ^ 2 * norm d (grad_f x) ^ 2
  <= norm d (alpha *^ b +^ beta *^ S) ^ 2.
Proof.
  pose proof (smooth_round P L alpha beta E order memory x f grad_f unit f_smooth) as H. fold d next S in H.
  assert (V : memory_mean P memory = grad_f x +^ b) by (unfold b; vector). rewrite V in H.
  rewrite !norm_pow2. clearbody b S next. set (F := grad_f x) in *. clearbody F.
  set (w := alpha *^ (F +^ b) +^ beta *^ S).
  assert (W : L * dot d w w * alpha <= dot d w w) by (pose proof (dot_self_nonneg d w); nra).
  assert (Q : 2 * alpha * (f next - f x) <= - 2 * alpha * dot d F w + dot d w w).
  { assert (H' : f next <= f x - dot d F w + L / 2 * dot d w w).
    { eapply Rle_trans; [exact H|]. right. unfold w. expand_dots.
      rewrite (dot_comm d b F), (dot_comm d S F), (dot_comm d S b).
      ring. }
    nra. }
  eapply Rle_trans; [apply Rplus_le_compat_r; exact Q|]. right.
  unfold w. expand_dots. rewrite (dot_comm d b F), (dot_comm d S F), (dot_comm d S b). ring.
Qed.

Lemma round_once : forall mu, 0 <= beta -> 0 <= mu < 1 -> norm d b <= mu * norm d (grad_f x) ->
  norm d (grad_f x) ^ 2 <=
    2 * (f x - f next) / (alpha * (1 - mu)) + (beta * norm d S / (alpha * (1 - mu))) ^ 2.
Proof.
  intros mu B0 Hmu Hb.
  destruct alpha_range as [A0 _]. pose proof descent_by_error as H.
  set (A := norm d (grad_f x)) in *. set (s := beta * norm d S).
  assert (N : norm d (alpha *^ b +^ beta *^ S) <= alpha * (mu * A) + s).
  { eapply Rle_trans; [apply triangle|]. rewrite !norm_scale_nonneg by lra. unfold s. nra. }
  assert (M : norm d (alpha *^ b +^ beta *^ S) ^ 2 <= (mu * (alpha * A) + s) ^ 2).
  { apply pow_incr. split; [apply norm_nonneg | lra]. }
  pose proof (mixed_square mu (alpha * A) s Hmu) as C.
  apply Rmult_le_reg_l with (alpha ^ 2 * (1 - mu)); [apply Rmult_lt_0_compat; [apply pow_lt|]; lra|].
  replace (alpha ^ 2 * (1 - mu) * (2 * (f x - f next) / (alpha * (1 - mu)) + (s / (alpha * (1 - mu))) ^ 2))
    with (2 * alpha * (f x - f next) + s ^ 2 / (1 - mu)) by (field; lra).
  nra.
Qed.

End OneRound.

Section DrawnOnce.

Variables (P : problem) (L alpha beta m : R) (E T : nat) (order : nat -> nat -> nat -> nat).
Variables (memory : nat -> nat -> vec -> vec) (x0 : vec) (f : vec -> R) (grad_f : vec -> vec).

Let d := dim P.
Let x := run P (fun _ => alpha) (fun _ => beta) E order memory x0.

(** Ledger: ours.drawn_once. *)
Theorem drawn_once :
  0 < L -> 0 < alpha -> L * alpha <= 1 -> 0 < beta -> 0 <= m < 1 -> (0 < T)%nat ->
  regular P L -> smooth d L f grad_f ->
  (forall t, (t < T)%nat ->
     norm d (memory_mean P (fun i => memory t i (x t)) -^ grad_f (x t)) ^ 2 <= m * norm d (grad_f (x t)) ^ 2) ->
  sum T (fun t => norm d (grad_f (x t)) ^ 2) / INR T <=
    2 * (f x0 - f (x T)) / (alpha * (1 - sqrt m) * INR T)
    + (((1 + beta * L) ^ E - 1) / (L * alpha * (1 - sqrt m))) ^ 2
      * (sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T).
Proof.
  intros HL Ha HLa Hb Hm HT Reg Smooth Bias.
  assert (Hmu : 0 <= sqrt m < 1).
  { split; [apply sqrt_pos|]. rewrite <- sqrt_1. apply sqrt_lt_1_alt. lra. }
  set (mu := sqrt m) in *. set (reach := ((1 + beta * L) ^ E - 1) / (L * alpha * (1 - mu))).
  assert (Round : forall t, (t < T)%nat -> norm d (grad_f (x t)) ^ 2 <=
    2 / (alpha * (1 - mu)) * (f (x t) - f (x (S t))) + reach ^ 2 * norm d (grad_current P (x t)) ^ 2).
  { intros t Ht.
    assert (B : norm d (memory_mean P (fun i => memory t i (x t)) -^ grad_f (x t)) <= mu * norm d (grad_f (x t))).
    { specialize (Bias t Ht). rewrite norm_pow2 in Bias. apply norm_le_of_square.
      - apply Rmult_le_pos; [lra | apply norm_nonneg].
      - eapply Rle_trans; [exact Bias|]. right.
        replace (mu * norm d (grad_f (x t)) * (mu * norm d (grad_f (x t))))
          with ((mu * mu) * norm d (grad_f (x t)) ^ 2) by ring.
        unfold mu. rewrite sqrt_sqrt by lra. reflexivity. }
    pose proof (round_once P L alpha beta E (order t) (fun i => memory t i (x t)) (x t) f grad_f
      (proj2 (proj1 Reg)) Smooth (conj Ha HLa) mu ltac:(lra) Hmu B) as R.
    change (round P alpha beta E (order t) (fun i => memory t i (x t)) (x t)) with (x (S t)) in R. fold d in R.
    eapply Rle_trans; [exact R|]. apply Rplus_le_compat; [right; field; lra|].
    rewrite <- Rpow_mult_distr. apply pow_incr. split.
    - apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply norm_nonneg]|].
      apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; lra.
    - pose proof (S_reach P L beta E (order t) (x t) HL Hb Reg) as Reach. fold d in Reach.
      apply Rmult_le_reg_r with (alpha * (1 - mu)); [apply Rmult_lt_0_compat; lra|].
      replace (beta * norm d (delayed_sum P beta E (order t) (x t)) / (alpha * (1 - mu)) * (alpha * (1 - mu)))
        with (beta * norm d (delayed_sum P beta E (order t) (x t))) by (field; lra).
      eapply Rle_trans; [exact Reach|]. right. unfold reach. field. lra. }
  apply sum_le in Round. rewrite sum_add, !sum_scale, sum_telescopes in Round.
  change (x 0%nat) with x0 in Round. pose proof (INR_pos T HT) as TP.
  apply Rmult_le_reg_r with (INR T); [exact TP|].
  replace (sum T (fun t => norm d (grad_f (x t)) ^ 2) / INR T * INR T) with (sum T (fun t => norm d (grad_f (x t)) ^ 2))
    by (field; lra).
  eapply Rle_trans; [exact Round|]. right. field. lra.
Qed.

(** One memory for the whole run.  Every constant is explicit: with beta <= c / sqrt(T), f bounded below by [f_least]
    and a mean of ||grad g(x_t)||^2 of at most [g2] the bound is [rate_constant] / T, for every T >= 1.  Ledger:
    ours.drawn_once, part in T, for any alpha <= 1/L. *)
Definition rate_constant (c f_least g2 : R) : R :=
  2 * (f x0 - f_least) / (alpha * (1 - sqrt m)) + ((exp (c * L * INR E) - 1) / (L * alpha * (1 - sqrt m))) ^ 2 * g2.

Theorem drawn_once_in_T : forall c f_least g2,
  0 < L -> 0 < alpha -> L * alpha <= 1 -> 0 < c -> 0 < beta -> beta <= c / sqrt (INR T) -> 0 <= m < 1 ->
  (0 < E)%nat -> (0 < T)%nat ->
  regular P L -> smooth d L f grad_f -> (forall y, f_least <= f y) ->
  (forall t y, norm d (memory_mean P (fun i => memory t i y) -^ grad_f y) ^ 2 <= m * norm d (grad_f y) ^ 2) ->
  sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T <= g2 ->
  sum T (fun t => norm d (grad_f (x t)) ^ 2) / INR T <= rate_constant c f_least g2 / INR T.
Proof.
  intros c f_least g2 HL Ha HLa Hc Hb Hbeta Hm HE HT Reg Smooth Below Bias G2.
  pose proof (INR_pos T HT) as TP. pose proof (INR_pos E HE) as EP.
  assert (T1 : 1 <= INR T) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
  assert (R0 : 0 < sqrt (INR T)) by (apply sqrt_lt_R0; exact TP).
  assert (RR : sqrt (INR T) * sqrt (INR T) = INR T) by (apply sqrt_sqrt; lra).
  assert (R1 : 1 <= sqrt (INR T)) by (rewrite <- sqrt_1; apply sqrt_le_1_alt; exact T1).
  set (root := sqrt (INR T)) in *.
  eapply Rle_trans; [apply drawn_once; auto|].
  assert (Hmu : 0 <= sqrt m < 1).
  { split; [apply sqrt_pos|]. rewrite <- sqrt_1. apply sqrt_lt_1_alt. lra. }
  set (rho := alpha * (1 - sqrt m)). assert (Hrho : 0 < rho) by (apply Rmult_lt_0_compat; lra).
  set (G := sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T) in *.
  assert (G0 : 0 <= G).
  { apply Rmult_le_pos; [apply sum_nonneg; intros; apply pow2_ge_0 | apply Rlt_le, Rinv_0_lt_compat; exact TP]. }
  unfold rate_constant. replace (L * alpha * (1 - sqrt m)) with (L * rho) by (unfold rho; ring). fold rho.
  set (z := c * L * INR E). assert (Z0 : 0 < z) by (unfold z; repeat apply Rmult_lt_0_compat; lra).
  set (second := ((exp z - 1) / (L * rho)) ^ 2 * g2).
  replace ((2 * (f x0 - f_least) / rho + second) / INR T) with (2 * (f x0 - f_least) / rho * / INR T + second / INR T)
    by (field; lra).
  apply Rplus_le_compat.
  - replace (2 * (f x0 - f (x T)) / (rho * INR T)) with (2 * (f x0 - f (x T)) * (/ rho * / INR T)) by (field; lra).
    replace (2 * (f x0 - f_least) / rho * / INR T) with (2 * (f x0 - f_least) * (/ rho * / INR T)) by (field; lra).
    apply Rmult_le_compat_r; [|specialize (Below (x T)); lra].
    apply Rmult_le_pos; apply Rlt_le, Rinv_0_lt_compat; assumption.
  - assert (BC : beta * root <= c).
    { apply Rmult_le_compat_r with (r := root) in Hbeta; [|lra].
      replace (c / root * root) with c in Hbeta by (field; lra). exact Hbeta. }
    assert (BL : 0 < beta * L) by (apply Rmult_lt_0_compat; lra).
    assert (In : INR E * (beta * L) <= z).
    { unfold z. replace (INR E * (beta * L)) with (beta * (L * INR E)) by ring. rewrite Rmult_assoc.
      apply Rmult_le_compat_r; [nra | nra]. }
    assert (X0 : 0 <= exp z - 1) by (pose proof (exp_tangent z); lra).
    (* (1 + beta L)^E - 1 <= (exp(c L E) - 1) / sqrt(T) *)
    assert (K : ((1 + beta * L) ^ E - 1) * root <= exp z - 1).
    { pose proof (power_chord (beta * L) E z ltac:(lra) Z0 In) as Ch.
      apply Rle_trans with ((exp z - 1) / z * (INR E * (beta * L)) * root); [apply Rmult_le_compat_r; lra|].
      replace (exp z - 1) with ((exp z - 1) / z * z) at 2 by (field; lra). rewrite Rmult_assoc.
      apply Rmult_le_compat_l; [apply Rmult_le_pos; [exact X0 | apply Rlt_le, Rinv_0_lt_compat; exact Z0]|].
      replace (INR E * (beta * L) * root) with (beta * root * (L * INR E)) by ring.
      replace z with (c * (L * INR E)) by (unfold z; ring). apply Rmult_le_compat_r; [nra | exact BC]. }
    assert (P0 : 0 <= (1 + beta * L) ^ E - 1) by (pose proof (pow_R1_Rle (1 + beta * L) E ltac:(lra)); lra).
    assert (LR : 0 < L * rho) by (apply Rmult_lt_0_compat; assumption).
    set (q := (1 + beta * L) ^ E - 1) in *.
    apply Rle_trans with (((exp z - 1) / (L * rho)) ^ 2 / INR T * g2); [|unfold second; right; field; lra].
    apply Rmult_le_compat; [apply pow2_ge_0 | exact G0 | | exact G2].
    replace (((exp z - 1) / (L * rho)) ^ 2 / INR T) with (((exp z - 1) / root / (L * rho)) ^ 2)
      by (rewrite <- RR; field; lra).
    apply pow_incr. split; [apply Rmult_le_pos; [exact P0 | apply Rlt_le, Rinv_0_lt_compat; exact LR]|].
    apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; exact LR|].
    apply Rmult_le_reg_r with root; [exact R0|]. replace ((exp z - 1) / root * root) with (exp z - 1) by (field; lra).
    exact K.
Qed.

End DrawnOnce.
