(** * Theorem 5: min E ||grad f||^2 = O(1/sqrt(T)) with m < 1 and nothing assumed on grad g

    The expectation is over whatever the memory and the orders depend on, one draw for the whole run or many. *)

Require Import Reals Lra Psatz Arith Lia.
Require Import FunctionalExtensionality.
From CFlag Require Import Vectors Smoothness Algorithm1 Exponential Drift Sums Redrawn FirstRounds.
Open Scope R_scope.
Open Scope vec_scope.

Section Theorem5.

Variable Omega : Type.
Variable Ex : (Omega -> R) -> R.
Variables (P : problem) (L alpha beta m c : R) (E T : nat) (order : Omega -> nat -> nat -> nat -> nat).
Variables (memory : Omega -> nat -> nat -> vec -> vec) (x0 : vec) (f : vec -> R) (grad_f : vec -> vec) (f_least : R).

Let d := dim P.
Let x (w : Omega) := run P (fun _ => alpha) (fun _ => beta) E (order w) (memory w) x0.
(** E ||grad f(x_t)||^2. *)
Let A2 (t : nat) := Ex (fun w => norm d (grad_f (x w t)) ^ 2).

(** (27) at every x_t. *)
Definition bias_below : Prop := forall w t,
  norm d (memory_mean P (fun i => memory w t i (x w t)) -^ grad_f (x w t)) ^ 2 <= m * norm d (grad_f (x w t)) ^ 2.

(** Y = (exp(c L E) - 1) / L, and C of cflag.thm5. *)
Definition Y : R := (exp (c * L * INR E) - 1) / L.
Definition C : R := 24 * (f x0 - f_least) * L * Y * (1 + sqrt m) / (alpha * (1 - sqrt m) * (1 - sqrt m))
  + 12 / 5 * (Y * norm d (grad_current P x0) / (alpha * (1 - sqrt m))) ^ 2.

Lemma least_of_part : forall n k a, (0 < k)%nat -> (k <= n)%nat -> least n a <= sum k a / INR k.
Proof.
  intros n k a Hk Hn. pose proof (INR_pos k Hk) as KP.
  apply Rmult_le_reg_r with (INR k); [exact KP|]. replace (sum k a / INR k * INR k) with (sum k a) by (field; lra).
  rewrite Rmult_comm, <- sum_const. apply sum_le. intros i Hi. apply least_member. lia.
Qed.

(** ((1 + beta L)^E - 1)/L <= Y / sqrt(T). *)
Lemma reach_by_Y : 0 < L -> 0 < c -> 0 < beta -> beta <= c / sqrt (INR T) -> (1 <= E)%nat -> (0 < T)%nat ->
  ((1 + beta * L) ^ E - 1) / L * sqrt (INR T) <= Y.
Proof.
  intros HL Hc Hb Hbeta HE HT. pose proof (INR_pos T HT) as TP.
  assert (T1 : 1 <= INR T) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
  set (root := sqrt (INR T)) in *.
  assert (R1 : 1 <= root) by (unfold root; rewrite <- sqrt_1; apply sqrt_le_1_alt; exact T1).
  assert (E1 : 1 <= INR E) by (replace 1 with (INR 1) by reflexivity; apply le_INR; exact HE).
  assert (BL : 0 < beta * L) by (apply Rmult_lt_0_compat; lra).
  assert (CE : 0 < c * L * INR E) by (repeat apply Rmult_lt_0_compat; lra).
  assert (BC : beta * root <= c).
  { apply Rmult_le_compat_r with (r := root) in Hbeta; [|lra].
    replace (c / root * root) with c in Hbeta by (field; lra). exact Hbeta. }
  assert (In : INR E * (beta * L) <= c * L * INR E).
  { apply Rle_trans with (INR E * (c * L)); [|lra]. apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; nra. }
  pose proof (power_chord (beta * L) E (c * L * INR E) ltac:(lra) CE In) as Ch.
  apply Rmult_le_reg_r with L; [lra|].
  replace (((1 + beta * L) ^ E - 1) / L * root * L) with (((1 + beta * L) ^ E - 1) * root) by (field; lra).
  replace (Y * L) with ((exp (c * L * INR E) - 1) / (c * L * INR E) * (INR E * (c * L))) by (unfold Y; field; lra).
  apply Rle_trans with ((exp (c * L * INR E) - 1) / (c * L * INR E) * (INR E * (beta * L)) * root).
  - apply Rmult_le_compat_r; lra.
  - rewrite Rmult_assoc. apply Rmult_le_compat_l.
    + apply Rmult_le_pos; [pose proof (exp_tangent (c * L * INR E)); lra | apply Rlt_le, Rinv_0_lt_compat; exact CE].
    + replace (INR E * (beta * L) * root) with (INR E * L * (beta * root)) by ring.
      replace (INR E * (c * L)) with (INR E * L * c) by ring. apply Rmult_le_compat_l; [nonneg | exact BC].
Qed.

(** The first W rounds, in expectation. *)
Lemma first_part : forall W, let reach := ((1 + beta * L) ^ E - 1) / L in let rho := 1 - sqrt m in
  0 < L -> 0 < alpha /\ L * alpha <= 1 -> 0 < beta -> 0 <= m < 1 -> (0 < W)%nat -> 4 * L * INR W * reach <= rho ->
  regular P L -> smooth d L f grad_f -> (forall y, f_least <= f y) -> bias_below -> expectation Ex ->
  sum W A2 / INR W <= 3 * (f x0 - f_least) / (alpha * rho * INR W)
    + 12 / 5 * (reach * norm d (grad_current P x0) / (alpha * rho)) ^ 2.
Proof.
  intros W reach rho HL Ha Hb Hm HW Range Reg Smooth Below Bias Mean. pose proof (INR_pos W HW) as WP.
  set (bound := 3 * (f x0 - f_least) / (alpha * rho * INR W)
    + 12 / 5 * (reach * norm d (grad_current P x0) / (alpha * rho)) ^ 2).
  assert (Path : forall w, sum W (fun t => norm d (grad_f (x w t)) ^ 2) <= INR W * bound).
  { intro w. pose proof (first_rounds P L alpha beta m E (order w) (memory w) x0 f grad_f f_least W HL Ha
      Hb Hm Reg Smooth Below (Bias w) HW Range) as Q.
    change (sum W (fun t => norm d (grad_f (x w t)) ^ 2) / INR W <= bound) in Q.
    apply Rmult_le_compat_l with (r := INR W) in Q; [|lra]. eapply Rle_trans; [|exact Q]. right. field. lra. }
  destruct Mean as [Add [Scale [Mono One]]].
  assert (Swap : sum W A2 = Ex (fun w => sum W (fun t => norm d (grad_f (x w t)) ^ 2))).
  { unfold A2. clear - Add Scale. induction W as [|n IH].
    - simpl. pose proof (Scale 0 (fun _ => 1)) as Z. rewrite (Rmult_0_l (Ex _)) in Z. rewrite <- Z at 1.
      f_equal. apply functional_extensionality. intro. ring.
    - change (sum (S n) (fun t => Ex (fun w => norm d (grad_f (x w t)) ^ 2)))
        with (sum n (fun t => Ex (fun w => norm d (grad_f (x w t)) ^ 2)) + Ex (fun w => norm d (grad_f (x w n)) ^ 2)).
      rewrite IH, <- Add. reflexivity. }
  apply Rmult_le_reg_l with (INR W); [exact WP|].
  replace (INR W * (sum W A2 / INR W)) with (sum W A2) by (field; lra).
  rewrite Swap. eapply Rle_trans; [apply (Mono _ (fun _ => (INR W * bound) * 1)); intro w; rewrite Rmult_1_r;
    apply Path|].
  rewrite Scale, One. lra.
Qed.

(** Ledger: cflag.thm5, repaired: m < 1 in (27), f bounded below and T large, with W as there. *)
Theorem theorem5_W : forall W, 0 < L -> 0 <= m < 1 -> alpha = 1 / (L * (1 + m)) -> 0 < c -> 0 < beta ->
  beta < c / sqrt (INR T) -> (1 <= E)%nat -> (0 < W)%nat -> (W <= T)%nat ->
  4 * L * INR W * Y * (1 + sqrt m) <= (1 - sqrt m) * sqrt (INR T) ->
  (1 - sqrt m) * sqrt (INR T) <= 8 * L * INR W * Y * (1 + sqrt m) ->
  regular P L -> smooth d L f grad_f -> (forall y, f_least <= f y) ->
  bias_below -> expectation Ex ->
  least T A2 <= C / sqrt (INR T).
Proof.
  intros W HL Hm Halpha Hc Hb Hbeta HE HW HWT NotLarge NotSmall Reg Smooth Below Bias Mean.
  assert (HT : (0 < T)%nat) by lia. pose proof (INR_pos T HT) as TP. pose proof (INR_pos W HW) as WP.
  assert (T1 : 1 <= INR T) by (replace 1 with (INR 1) by reflexivity; apply le_INR; lia).
  set (root := sqrt (INR T)) in *.
  assert (R1 : 1 <= root) by (unfold root; rewrite <- sqrt_1; apply sqrt_le_1_alt; exact T1).
  assert (RR : root * root = INR T) by (apply sqrt_sqrt; lra).
  assert (Hmu : 0 <= sqrt m < 1) by (split; [apply sqrt_pos | rewrite <- sqrt_1; apply sqrt_lt_1_alt; lra]).
  assert (SM : sqrt m * sqrt m = m) by (apply sqrt_sqrt; lra).
  set (mu := sqrt m) in *. set (rho := 1 - mu) in *. assert (Rho : 0 < rho) by (unfold rho; lra).
  assert (A0 : 0 < alpha) by (rewrite Halpha; apply Rdiv_lt_0_compat; [lra | apply Rmult_lt_0_compat; lra]).
  assert (A1 : L * alpha <= 1).
  { rewrite Halpha. apply Rmult_le_reg_r with (1 + m); [lra|].
    replace (L * (1 / (L * (1 + m))) * (1 + m)) with 1 by (field; lra). lra. }
  set (reach := ((1 + beta * L) ^ E - 1) / L).
  assert (BL : 0 < beta * L) by (apply Rmult_lt_0_compat; lra).
  assert (Re0 : 0 <= reach).
  { unfold reach. apply Rmult_le_pos; [pose proof (pow_R1_Rle (1 + beta * L) E ltac:(lra)); lra
      | apply Rlt_le, Rinv_0_lt_compat; lra]. }
  assert (0 < INR E) by (apply INR_pos; lia).
  assert (CE : 0 < c * L * INR E) by (repeat apply Rmult_lt_0_compat; lra).
  assert (Y0 : 0 < Y).
  { unfold Y. apply Rdiv_lt_0_compat; [|lra]. pose proof (exp_tangent (c * L * INR E)). lra. }
  pose proof (reach_by_Y HL Hc Hb (Rlt_le _ _ Hbeta) HE HT) as ReY. fold root reach in ReY.
  assert (Range : 4 * L * INR W * reach <= rho).
  { apply Rmult_le_reg_r with root; [lra|]. eapply Rle_trans; [|exact NotLarge].
    replace (4 * L * INR W * reach * root) with (4 * L * INR W * (reach * root)) by ring.
    apply Rle_trans with (4 * L * INR W * Y); [apply Rmult_le_compat_l; [nonneg | exact ReY]|].
    assert (0 <= L * INR W * Y) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra]).
    assert (0 <= L * INR W * Y * mu) by (apply Rmult_le_pos; lra). nra. }
  pose proof (first_part W HL (conj A0 A1) Hb Hm HW Range Reg Smooth Below Bias Mean) as First.
  fold mu rho reach in First.
  set (gap := (reach * norm d (grad_current P x0) / (alpha * rho)) ^ 2) in *.
  assert (AW : 0 < alpha * rho * INR W) by (repeat apply Rmult_lt_0_compat; lra).
  unfold gap in *.
  eapply Rle_trans; [apply (least_of_part T W A2 HW HWT)|].
  eapply Rle_trans; [exact First|].
  unfold C. fold mu d. fold rho. set (F := f x0 - f_least) in *. set (G0 := norm d (grad_current P x0)) in *.
  assert (F0 : 0 <= F) by (unfold F; pose proof (Below x0); lra).
  replace ((24 * F * L * Y * (1 + mu) / (alpha * rho * rho) + 12 / 5 * (Y * G0 / (alpha * rho)) ^ 2) / root)
    with (24 * F * L * Y * (1 + mu) / (alpha * rho * rho) / root + 12 / 5 * (Y * G0 / (alpha * rho)) ^ 2 / root)
      by (field; lra).
  assert (AR : 0 < alpha * rho) by (apply Rmult_lt_0_compat; assumption).
  apply Rplus_le_compat.
  - replace (3 * F / (alpha * rho * INR W)) with (3 * F / (alpha * rho * rho * INR W * root) * (rho * root))
      by (field; lra).
    replace (24 * F * L * Y * (1 + mu) / (alpha * rho * rho) / root)
      with (3 * F / (alpha * rho * rho * INR W * root) * (8 * L * INR W * Y * (1 + mu))) by (field; lra).
    apply Rmult_le_compat_l; [|exact NotSmall].
    apply Rmult_le_pos; [lra | apply Rlt_le, Rinv_0_lt_compat; repeat apply Rmult_lt_0_compat; lra].
  - apply Rle_trans with (12 / 5 * (Y * G0 / (alpha * rho)) ^ 2 / (root * root)).
    + replace (12 / 5 * (Y * G0 / (alpha * rho)) ^ 2 / (root * root)) with (12 / 5 * (Y / root * (G0 / (alpha * rho))) ^ 2)
        by (field; lra).
      apply Rmult_le_compat_l; [lra|]. apply pow_incr.
      assert (G1 : 0 <= G0 / (alpha * rho)) by (apply Rmult_le_pos;
        [apply norm_nonneg | apply Rlt_le, Rinv_0_lt_compat; exact AR]).
      replace (reach * G0 / (alpha * rho)) with (reach * (G0 / (alpha * rho))) by (field; lra).
      split; [exact (Rmult_le_pos _ _ Re0 G1)|]. apply Rmult_le_compat_r; [exact G1|].
      apply Rmult_le_reg_r with root; [lra|]. replace (Y / root * root) with Y by (field; lra). exact ReY.
    + unfold Rdiv. apply Rmult_le_compat_l; [nonneg|]. apply Rinv_le_contravar; nra.
Qed.

(** Ledger: ours.first_rounds, part in T: with X = exp(c L E) - 1 = L Y, and W as there. *)
Theorem first_rounds_in_T : forall W, let X := exp (c * L * INR E) - 1 in let rho := 1 - sqrt m in
  0 < L -> 0 <= m < 1 -> alpha = 1 / (L * (1 + m)) -> 0 < c -> 0 < beta ->
  beta <= c / sqrt (INR T) -> (1 <= E)%nat -> (0 < W)%nat -> (W <= T)%nat ->
  4 * INR W * X <= rho * sqrt (INR T) -> rho * sqrt (INR T) <= 8 * INR W * X ->
  regular P L -> smooth d L f grad_f -> (forall y, f_least <= f y) -> bias_below -> expectation Ex ->
  least T A2 <= 24 * L * (1 + m) * X * (f x0 - f_least) / (rho ^ 2 * sqrt (INR T))
    + 12 / 5 * ((1 + m) * X * norm d (grad_current P x0) / rho) ^ 2 / INR T.
Proof.
  intros W X rho HL Hm Halpha Hc Hb Hbeta HE HW HWT NotLarge NotSmall Reg Smooth Below Bias Mean.
  assert (HT : (0 < T)%nat) by lia. pose proof (INR_pos T HT) as TP. pose proof (INR_pos W HW) as WP.
  pose proof (reach_by_Y HL Hc Hb Hbeta HE HT) as ReY.
  assert (RR : sqrt (INR T) * sqrt (INR T) = INR T) by (apply sqrt_sqrt; lra).
  assert (R0 : 0 < sqrt (INR T)) by (apply sqrt_lt_R0; exact TP). set (root := sqrt (INR T)) in *.
  assert (Rho : 0 < rho).
  { unfold rho. assert (sqrt m < 1) by (rewrite <- sqrt_1; apply sqrt_lt_1_alt; lra). lra. }
  assert (LY : L * Y = X) by (unfold Y, X; field; lra).
  set (reach := ((1 + beta * L) ^ E - 1) / L) in *.
  assert (Re0 : 0 <= reach) by exact (reach_nonneg L beta E HL Hb).
  assert (LR : L * reach * root <= X) by (rewrite <- LY, Rmult_assoc; apply Rmult_le_compat_l; lra).
  assert (A0 : 0 < alpha) by (rewrite Halpha; apply Rdiv_lt_0_compat; [lra | apply Rmult_lt_0_compat; lra]).
  assert (LA : L * alpha * (1 + m) = 1) by (rewrite Halpha; field; lra).
  assert (A1 : L * alpha <= 1) by (assert (0 < L * alpha) by (apply Rmult_lt_0_compat; lra); nra).
  assert (Range : 4 * L * INR W * reach <= rho).
  { apply Rmult_le_reg_r with root; [exact R0|]. eapply Rle_trans; [|exact NotLarge].
    replace (4 * L * INR W * reach * root) with (4 * INR W * (L * reach * root)) by ring.
    apply Rmult_le_compat_l; lra. }
  eapply Rle_trans; [apply (least_of_part T W A2 HW HWT)|].
  eapply Rle_trans; [apply (first_part W HL (conj A0 A1) Hb Hm HW Range Reg Smooth Below Bias Mean)|].
  fold rho reach. set (F := f x0 - f_least). set (G0 := norm d (grad_current P x0)).
  assert (F0 : 0 <= F) by (unfold F; pose proof (Below x0); lra).
  assert (G1 : 0 <= G0) by apply norm_nonneg.
  apply Rplus_le_compat.
  - apply Rmult_le_reg_r with (rho ^ 2 * INR W * root / (L * (1 + m)));
      [apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [apply pow_lt|]|]
        | apply Rmult_lt_0_compat]; lra|].
    replace (3 * F / (alpha * rho * INR W) * (rho ^ 2 * INR W * root / (L * (1 + m)))) with (3 * F * (rho * root))
      by (rewrite Halpha; field; lra).
    replace (24 * L * (1 + m) * X * F / (rho ^ 2 * root) * (rho ^ 2 * INR W * root / (L * (1 + m))))
      with (3 * F * (8 * INR W * X)) by (field; lra).
    apply Rmult_le_compat_l; [lra | exact NotSmall].
  - replace (12 / 5 * ((1 + m) * X * G0 / rho) ^ 2 / INR T) with (12 / 5 * ((1 + m) * X * G0 / (rho * root)) ^ 2)
      by (rewrite <- RR; field; lra).
    apply Rmult_le_compat_l; [lra|]. apply pow_incr.
    assert (Rewrite : reach * G0 / (alpha * rho) = (1 + m) * (L * reach * root) * G0 / (rho * root)).
    { rewrite Halpha. field. lra. }
    rewrite Rewrite. assert (0 < rho * root) by (apply Rmult_lt_0_compat; assumption).
    assert (0 <= L * reach * root) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | lra]).
    split.
    + apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; assumption].
      apply Rmult_le_pos; [apply Rmult_le_pos; lra | exact G1].
    + apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; assumption|].
      apply Rmult_le_compat_r; [exact G1|]. apply Rmult_le_compat_l; lra.
Qed.

(** W exists as soon as 1 <= (1 - sqrt(m)) sqrt(T) / (4 L Y (1 + sqrt(m))) <= T: both hold for all large T. *)
Theorem theorem5 : 0 < L -> 0 <= m < 1 -> alpha = 1 / (L * (1 + m)) -> 0 < c -> 0 < beta ->
  beta < c / sqrt (INR T) -> (1 <= E)%nat -> (0 < T)%nat ->
  4 * L * Y * (1 + sqrt m) <= (1 - sqrt m) * sqrt (INR T) ->
  1 - sqrt m <= 4 * L * Y * (1 + sqrt m) * sqrt (INR T) ->
  regular P L -> smooth d L f grad_f -> (forall y, f_least <= f y) ->
  bias_below -> expectation Ex ->
  least T A2 <= C / sqrt (INR T).
Proof.
  intros HL Hm Halpha Hc Hb Hbeta HE HT Long1 Long2 Reg Smooth Below Bias Mean.
  pose proof (INR_pos T HT) as TP. assert (R0 : 0 < sqrt (INR T)) by (apply sqrt_lt_R0; exact TP).
  assert (RR : sqrt (INR T) * sqrt (INR T) = INR T) by (apply sqrt_sqrt; lra).
  assert (Hmu : 0 <= sqrt m < 1) by (split; [apply sqrt_pos | rewrite <- sqrt_1; apply sqrt_lt_1_alt; lra]).
  assert (Y0 : 0 < Y).
  { unfold Y. assert (0 < INR E) by (apply INR_pos; lia).
    assert (0 < c * L * INR E) by (repeat apply Rmult_lt_0_compat; lra).
    apply Rdiv_lt_0_compat; [|lra]. pose proof (exp_tangent (c * L * INR E)). lra. }
  set (k := 4 * L * Y * (1 + sqrt m)) in *. assert (K0 : 0 < k).
  { assert (0 < L * Y) by (apply Rmult_lt_0_compat; assumption). unfold k. nra. }
  set (z := (1 - sqrt m) * sqrt (INR T) / k).
  assert (ZK : z * k = (1 - sqrt m) * sqrt (INR T)) by (unfold z; field; lra).
  assert (Z1 : 1 <= z) by (apply Rmult_le_reg_r with k; [exact K0 | lra]).
  assert (ZT : z <= INR T).
  { apply Rmult_le_reg_r with k; [exact K0|]. rewrite ZK. set (root := sqrt (INR T)) in *. rewrite <- RR.
    apply Rmult_le_compat_r with (r := root) in Long2; lra. }
  (* the integer part of z *)
  assert (Floor : exists W, (0 < W)%nat /\ INR W <= z /\ z <= 2 * INR W).
  { destruct (archimed z) as [U1 U2]. assert (UP : (1 < up z)%Z) by (apply lt_IZR; lra).
    exists (Z.to_nat (up z - 1)).
    assert (V : INR (Z.to_nat (up z - 1)) = IZR (up z) - 1).
    { rewrite INR_IZR_INZ, Z2Nat.id by lia. rewrite minus_IZR. reflexivity. }
    assert (U3 : 2 <= IZR (up z)) by (apply IZR_le; lia).
    split; [lia|]. rewrite V. split; lra. }
  destruct Floor as [W [W0 [W1 W2]]].
  apply (theorem5_W W); try assumption.
  - apply INR_le. lra.
  - rewrite <- ZK. replace (4 * L * INR W * Y * (1 + sqrt m)) with (INR W * k) by (unfold k; ring).
    apply Rmult_le_compat_r; lra.
  - rewrite <- ZK. replace (8 * L * INR W * Y * (1 + sqrt m)) with (2 * INR W * k) by (unfold k; ring).
    apply Rmult_le_compat_r; lra.
Qed.

(** For every T >= 1: before T is large the least of T numbers is at most the first of them. *)
Definition C_every_T : R :=
  Rmax C
    (Rmax (4 * L * Y * (1 + sqrt m) / (1 - sqrt m)) ((1 - sqrt m) / (4 * L * Y * (1 + sqrt m)))
     * norm d (grad_f x0) ^ 2).

Theorem theorem5_every_T : 0 < L -> 0 <= m < 1 -> alpha = 1 / (L * (1 + m)) -> 0 < c -> 0 < beta ->
  beta < c / sqrt (INR T) -> (1 <= E)%nat -> (0 < T)%nat ->
  regular P L -> smooth d L f grad_f -> (forall y, f_least <= f y) ->
  bias_below -> expectation Ex ->
  least T A2 <= C_every_T / sqrt (INR T).
Proof.
  intros HL Hm Halpha Hc Hb Hbeta HE HT Reg Smooth Below Bias Mean.
  pose proof (INR_pos T HT) as TP. assert (R0 : 0 < sqrt (INR T)) by (apply sqrt_lt_R0; exact TP).
  assert (Hmu : 0 <= sqrt m < 1) by (split; [apply sqrt_pos | rewrite <- sqrt_1; apply sqrt_lt_1_alt; lra]).
  assert (Y0 : 0 < Y).
  { unfold Y. assert (0 < INR E) by (apply INR_pos; lia).
    assert (0 < c * L * INR E) by (repeat apply Rmult_lt_0_compat; lra).
    apply Rdiv_lt_0_compat; [|lra]. pose proof (exp_tangent (c * L * INR E)). lra. }
  unfold C_every_T. set (k := 4 * L * Y * (1 + sqrt m)) in *. assert (K0 : 0 < k).
  { assert (0 < L * Y) by (apply Rmult_lt_0_compat; assumption). unfold k. nra. }
  set (K := Rmax (k / (1 - sqrt m)) ((1 - sqrt m) / k)).
  assert (Over : forall a b, a <= b -> a / sqrt (INR T) <= b / sqrt (INR T)).
  { intros a b H. apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; exact R0 | exact H]. }
  destruct (Rle_lt_dec K (sqrt (INR T))) as [Long|Short].
  - apply Rle_trans with (C / sqrt (INR T)); [|apply Over, Rmax_l].
    apply theorem5; try assumption; fold k.
    + apply Rle_trans with ((1 - sqrt m) * (k / (1 - sqrt m))); [right; field; lra|].
      apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [apply Rmax_l | exact Long].
    + apply Rle_trans with (k * ((1 - sqrt m) / k)); [right; field; lra|].
      apply Rmult_le_compat_l; [lra|]. eapply Rle_trans; [apply Rmax_r | exact Long].
  - apply Rle_trans with (norm d (grad_f x0) ^ 2).
    + apply Rle_trans with (A2 0%nat); [exact (least_member T A2 0%nat HT)|]. destruct Mean as [_ [Scale [Mono One]]].
      right. unfold A2. transitivity (Ex (fun _ => norm d (grad_f x0) ^ 2 * 1)).
      * f_equal. apply functional_extensionality. intro w. rewrite Rmult_1_r. reflexivity.
      * rewrite Scale, One. ring.
    + apply Rle_trans with (K * norm d (grad_f x0) ^ 2 / sqrt (INR T)); [|apply Over, Rmax_r].
      apply Rmult_le_reg_r with (sqrt (INR T)); [exact R0|].
      replace (K * norm d (grad_f x0) ^ 2 / sqrt (INR T) * sqrt (INR T)) with (K * norm d (grad_f x0) ^ 2)
        by (field; lra).
      rewrite Rmult_comm. apply Rmult_le_compat_r; [apply pow2_ge_0 | lra].
Qed.

End Theorem5.
