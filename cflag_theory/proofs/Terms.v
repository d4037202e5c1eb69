(** * The forgetting term: (86)-(90), (149)-(160), and one bound in place of them *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1 Exponential Drift Sums.
Open Scope R_scope.
Open Scope vec_scope.

Section Terms.

Variables (P : problem) (L alpha beta r : R) (E : nat) (order : nat -> nat -> nat) (x : vec).
(** The gradient of the memory at x_t, any vector. *)
Variable v : vec.

Hypothesis L_positive : 0 < L.
Hypothesis beta_positive : 0 < beta.
Hypothesis is_regular : regular P L.

Let d := dim P.
Let g := norm d (grad_current P x).
Let S := delayed_sum P beta E order x.
Let rho := rho_sum P beta E order x.
Let err := error_sum P beta E order x.

(** Gamma(t) of (15). *)
Definition Gamma : R := L / 2 * beta ^ 2 * norm d S ^ 2 - beta * (1 - L * alpha) * dot d v S.

(** (90), an inequality. As repaired. *)
Theorem eq90 : Gamma <= L * beta ^ 2 * norm d rho ^ 2 - beta * (1 - L * alpha) * dot d v rho
  - beta * (1 - L * alpha) * dot d v err + L * beta ^ 2 * norm d err ^ 2.
Proof.
  unfold Gamma, S. rewrite (S_splits P beta E order x). fold rho err. rewrite !norm_pow2.
  pose proof (dot_self_nonneg d (rho -^ err)) as Q. revert Q. expand_dots. rewrite (dot_comm d err rho). intro Q.
  assert (0 <= L * beta ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]). nra.
Qed.

Lemma terms_g_nonneg : 0 <= g.
Proof. apply norm_nonneg. Qed.

Lemma monomial : forall a b c e, 0 <= beta ^ a * L ^ b * INR E ^ c * g ^ e.
Proof.
  intros a b c e. repeat apply Rmult_le_pos; apply pow_le; try lra; [apply pos_INR | apply terms_g_nonneg].
Qed.

(** T1, (150).  Ledger: cflag.eq151, parts 1 and 2, repaired, and their sharp form. *)
Theorem T1_sharp : beta * L * INR E <= 1 / 4 ->
  L * beta ^ 2 * norm d rho ^ 2 <= (4 * (exp (1 / 4) - 1)) ^ 2 * beta ^ 2 * L * INR E ^ 2 * g ^ 2.
Proof.
  intro H. pose proof (lemma15_2_sharp P L beta E order x L_positive beta_positive is_regular H) as Q.
  fold d g rho in Q. assert (0 <= L * beta ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]).
  apply Rmult_le_compat_l with (r := L * beta ^ 2) in Q; [|assumption]. eapply Rle_trans; [exact Q|]. right. ring.
Qed.

Theorem T1_bound : beta * L * INR E <= 1 / 4 ->
  L * beta ^ 2 * norm d rho ^ 2 <= 32 * beta ^ 4 * L ^ 3 * INR E ^ 4 * g ^ 2 + 2 * beta ^ 2 * L * INR E ^ 2 * g ^ 2.
Proof.
  intro H. pose proof (lemma15_2 P L beta E order x L_positive beta_positive is_regular H) as Q.
  fold d g rho in Q. assert (0 <= L * beta ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]).
  apply Rmult_le_compat_l with (r := L * beta ^ 2) in Q; [|assumption]. eapply Rle_trans; [exact Q|]. right. ring.
Qed.

(** T4, (151).  Ledger: cflag.eq151, part 3, repaired, and its sharp form with 1/4 in place of 4. *)
Theorem T4_sharp : beta * L * INR E <= 1 / 12 ->
  L * beta ^ 2 * norm d err ^ 2 <= 1 / 4 * beta ^ 4 * L ^ 3 * INR E ^ 4 * g ^ 2.
Proof.
  intro H. pose proof (lemma16_sharp P L beta E order x L_positive beta_positive is_regular H) as Q. fold d g err in Q.
  assert (Q2 : norm d err ^ 2 <= (1 / 2 * beta * L * INR E ^ 2 * g) ^ 2)
    by (apply pow_incr; split; [apply norm_nonneg | exact Q]).
  assert (0 <= L * beta ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]).
  apply Rmult_le_compat_l with (r := L * beta ^ 2) in Q2; [|assumption]. eapply Rle_trans; [exact Q2|]. right. field.
Qed.

Theorem T4_bound : beta * L * INR E <= 1 / 12 ->
  L * beta ^ 2 * norm d err ^ 2 <= 4 * beta ^ 4 * L ^ 3 * INR E ^ 4 * g ^ 2.
Proof. intro H. pose proof (T4_sharp H). pose proof (monomial 4 3 4 2). lra. Qed.

(** (30) of Lemma 10. *)
Hypothesis ratio : norm d v <= r * g.

Lemma against : forall u, - dot d v u <= r * g * norm d u.
Proof.
  intro u. eapply Rle_trans; [apply cauchy_schwarz_neg|]. apply Rmult_le_compat_r; [apply norm_nonneg | exact ratio].
Qed.

Lemma rg_nonneg : 0 <= r * g.
Proof. pose proof (norm_nonneg d v). lra. Qed.

Lemma cross_term : forall u bound, L * alpha <= 1 -> norm d u <= bound ->
  - beta * (1 - L * alpha) * dot d v u <= beta * (1 - L * alpha) * (r * g) * bound.
Proof.
  intros u bound Ha H. pose proof (against u) as Q. pose proof rg_nonneg as Z.
  assert (Q2 : - dot d v u <= r * g * bound) by (eapply Rle_trans; [exact Q | apply Rmult_le_compat_l; assumption]).
  apply Rmult_le_compat_l with (r := beta * (1 - L * alpha)) in Q2; [lra | apply Rmult_le_pos; lra].
Qed.

(** T2, (154).  Ledger: cflag.eq156, parts 1 and 3, repaired, and their sharp form. *)
Theorem T2_sharp : L * alpha <= 1 -> beta * L * INR E <= 1 / 4 ->
  - beta * (1 - L * alpha) * dot d v rho <=
    ((16 * (exp (1 / 4) - 5 / 4)) * beta ^ 2 * (1 - L * alpha) * r * L * INR E ^ 2
     + beta * (1 - L * alpha) * r * INR E) * g ^ 2.
Proof.
  intros Ha H. eapply Rle_trans; [apply cross_term; [exact Ha|]|].
  - exact (lemma15_1_sharp P L beta E order x L_positive beta_positive is_regular H).
  - right. fold d g. ring.
Qed.

Theorem T2_bound : L * alpha <= 1 -> beta * L * INR E <= 1 / 4 ->
  - beta * (1 - L * alpha) * dot d v rho <=
    (4 * beta ^ 2 * (1 - L * alpha) * r * L * INR E ^ 2 + beta * (1 - L * alpha) * r * INR E) * g ^ 2.
Proof.
  intros Ha H. eapply Rle_trans; [apply cross_term; [exact Ha|]|].
  - exact (lemma15_1 P L beta E order x L_positive beta_positive is_regular H).
  - right. fold d g. ring.
Qed.

(** T3, (156).  Ledger: cflag.eq156, parts 2 and 4, repaired, and their sharp form with 1/2 in place of 2. *)
Theorem T3_sharp : L * alpha <= 1 -> beta * L * INR E <= 1 / 12 ->
  - beta * (1 - L * alpha) * dot d v err <= 1 / 2 * r * beta ^ 2 * (1 - L * alpha) * L * INR E ^ 2 * g ^ 2.
Proof.
  intros Ha H. eapply Rle_trans; [apply cross_term; [exact Ha|]|].
  - exact (lemma16_sharp P L beta E order x L_positive beta_positive is_regular H).
  - right. fold d g. field.
Qed.

Theorem T3_bound : L * alpha <= 1 -> beta * L * INR E <= 1 / 12 ->
  - beta * (1 - L * alpha) * dot d v err <= 2 * r * beta ^ 2 * (1 - L * alpha) * L * INR E ^ 2 * g ^ 2.
Proof.
  intros Ha H. eapply Rle_trans; [apply cross_term; [exact Ha|]|].
  - exact (lemma16 P L beta E order x L_positive beta_positive is_regular H).
  - right. fold d g. ring.
Qed.

(** (157): the four bounds added up, whatever gave them. *)
Theorem eq157 : forall G T1 T2 T3 T4, G <= T1 + T2 + T3 + T4 ->
  T1 <= 32 * beta ^ 4 * L ^ 3 * INR E ^ 4 * g ^ 2 + 2 * beta ^ 2 * L * INR E ^ 2 * g ^ 2 ->
  T2 <= 4 * beta ^ 2 * (1 - L * alpha) * r * L * INR E ^ 2 * g ^ 2 + beta * (1 - L * alpha) * r * INR E * g ^ 2 ->
  T3 <= 2 * r * beta ^ 2 * (1 - L * alpha) * L * INR E ^ 2 * g ^ 2 ->
  T4 <= 4 * beta ^ 4 * L ^ 3 * INR E ^ 4 * g ^ 2 ->
  G <= 32 * beta ^ 4 * L ^ 3 * INR E ^ 4 * g ^ 2 + 2 * beta ^ 2 * L * INR E ^ 2 * g ^ 2
    + (4 * beta ^ 2 * (1 - L * alpha) * r * L * INR E ^ 2 * g ^ 2 + beta * (1 - L * alpha) * r * INR E * g ^ 2)
    + 2 * r * beta ^ 2 * (1 - L * alpha) * L * INR E ^ 2 * g ^ 2 + 4 * beta ^ 4 * L ^ 3 * INR E ^ 4 * g ^ 2.
Proof. clear. intros. lra. Qed.

(** The bracket of (158). *)
Definition bracket : R := 36 * beta ^ 4 * L ^ 3 * INR E ^ 4 + 2 * beta ^ 2 * L * INR E ^ 2
  + r * beta * INR E * (1 - L * alpha) * (4 * beta * L * INR E + 2 * beta * L * INR E + 1).

(** (157) = (158). *)
Theorem eq157_is_eq158 :
  32 * beta ^ 4 * L ^ 3 * INR E ^ 4 * g ^ 2 + 2 * beta ^ 2 * L * INR E ^ 2 * g ^ 2
    + (4 * beta ^ 2 * (1 - L * alpha) * r * L * INR E ^ 2 * g ^ 2 + beta * (1 - L * alpha) * r * INR E * g ^ 2)
    + 2 * r * beta ^ 2 * (1 - L * alpha) * L * INR E ^ 2 * g ^ 2 + 4 * beta ^ 4 * L ^ 3 * INR E ^ 4 * g ^ 2
  = bracket * g ^ 2.
Proof. clear. unfold bracket. ring. Qed.

(** (158) along Algorithm 1, with what it needs: alpha <= 1/L and beta <= 1/(12 L E).  Ledger: cflag.eq158
    with cflag.eq90, cflag.eq151 and cflag.eq156 as repaired put in. *)
Theorem eq158 : L * alpha <= 1 -> beta * L * INR E <= 1 / 12 -> Gamma <= bracket * g ^ 2.
Proof.
  intros Ha H. pose proof eq90. pose proof (T1_bound ltac:(lra)). pose proof (T2_bound Ha ltac:(lra)).
  pose proof (T3_bound Ha H). pose proof (T4_bound H). unfold bracket. lra.
Qed.

Lemma bracket_nonneg : 0 <= r -> L * alpha <= 1 -> 0 <= bracket.
Proof.
  intros Hr Ha. assert (0 <= beta * L * INR E) by nonneg. assert (0 <= beta ^ 4 * L ^ 3 * INR E ^ 4) by nonneg.
  assert (0 <= beta ^ 2 * L * INR E ^ 2) by nonneg.
  assert (0 <= r * beta * INR E * (1 - L * alpha) * (4 * beta * L * INR E + 2 * beta * L * INR E + 1)) by nonneg.
  unfold bracket. lra.
Qed.

(** (158) <= (159), with Lemma 11 granted; h2 is ||grad h~(x_t)||^2.  Ledger: cflag.eq160, part 1, repaired:
    alpha <= 1/L. *)
Theorem eq159 : forall h2 omega2, L * alpha <= 1 -> 0 <= r -> g ^ 2 <= 2 * h2 + 2 * omega2 ->
  bracket * g ^ 2 <= bracket * (2 * h2 + 2 * omega2).
Proof. intros h2 omega2 Ha Hr Lemma11. apply Rmult_le_compat_l; [apply bracket_nonneg; assumption | exact Lemma11]. Qed.

(** (159) = (160). *)
Theorem eq159_is_eq160 : forall h2 omega2, bracket * (2 * h2 + 2 * omega2) =
  (72 * beta ^ 4 * L ^ 3 * INR E ^ 4 + 4 * beta ^ 2 * L * INR E ^ 2
    + 2 * r * beta * INR E * (1 - L * alpha) * (6 * beta * L * INR E + 1)) * (h2 + omega2).
Proof. clear. intros h2 omega2. unfold bracket. ring. Qed.

(** Gamma(t) <= (160) along Algorithm 1. *)
Theorem eq160 : forall h2 omega2, L * alpha <= 1 -> beta * L * INR E <= 1 / 12 -> 0 <= r ->
  g ^ 2 <= 2 * h2 + 2 * omega2 ->
  Gamma <= (72 * beta ^ 4 * L ^ 3 * INR E ^ 4 + 4 * beta ^ 2 * L * INR E ^ 2
    + 2 * r * beta * INR E * (1 - L * alpha) * (6 * beta * L * INR E + 1)) * (h2 + omega2).
Proof.
  intros h2 omega2 Ha H Hr Lemma11. rewrite <- eq159_is_eq160.
  eapply Rle_trans; [apply eq158; assumption | apply eq159; assumption].
Qed.

(** ** One bound for every alpha and beta, attained.  Ledger: ours.forgetting_step *)

Theorem forgetting_step :
  Gamma <= (L / 2 * beta ^ 2 * sigma L beta E ^ 2 + r * Rabs (1 - L * alpha) * beta * sigma L beta E) * g ^ 2.
Proof.
  pose proof (S_exact P L beta E order x L_positive beta_positive is_regular) as Q. fold d g S in Q.
  set (s := sigma L beta E) in *. pose proof (norm_nonneg d S) as S0. pose proof rg_nonneg as Z.
  assert (Q2 : norm d S ^ 2 <= (s * g) ^ 2) by (apply pow_incr; split; assumption).
  assert (C : - (1 - L * alpha) * dot d v S <= Rabs (1 - L * alpha) * (r * g * (s * g))).
  { assert (B : Rabs (dot d v S) <= r * g * (s * g)).
    { apply Rle_trans with (r * g * norm d S); [|apply Rmult_le_compat_l; assumption].
      apply Rabs_le. pose proof (against S). pose proof (cauchy_schwarz d v S).
      assert (norm d v * norm d S <= r * g * norm d S) by (apply Rmult_le_compat_r; assumption). lra. }
    apply Rle_trans with (Rabs (- (1 - L * alpha) * dot d v S)); [apply Rle_abs|].
    rewrite Rabs_mult, Rabs_Ropp. apply Rmult_le_compat_l; [apply Rabs_pos | exact B]. }
  unfold Gamma. assert (0 <= L / 2 * beta ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]).
  apply Rmult_le_compat_l with (r := L / 2 * beta ^ 2) in Q2; [|assumption].
  apply Rmult_le_compat_l with (r := beta) in C; [|lra]. lra.
Qed.

Lemma sigma_nonneg : 0 <= sigma L beta E.
Proof.
  assert (0 < beta * L) by (apply Rmult_lt_0_compat; lra). unfold sigma.
  apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat; assumption].
  pose proof (pow_R1_Rle (1 + beta * L) E ltac:(lra)). lra.
Qed.

Theorem forgetting_step_short : 0 <= r -> beta * L * INR E <= 1 / 4 ->
  Gamma <= beta * INR E * (32 / 49 * (beta * L * INR E) + 8 / 7 * r * Rabs (1 - L * alpha)) * g ^ 2.
Proof.
  intros Hr H. eapply Rle_trans; [apply forgetting_step|]. apply Rmult_le_compat_r; [apply pow2_ge_0|].
  pose proof sigma_nonneg as S0. pose proof (pos_INR E) as E0.
  assert (S1 : sigma L beta E <= 8 / 7 * INR E).
  { eapply Rle_trans; [apply (sigma_chord L beta E L_positive beta_positive (1 / 4)); lra|].
    pose proof exp_quarter. apply Rmult_le_compat_r; lra. }
  assert (S2 : sigma L beta E ^ 2 <= (8 / 7 * INR E) ^ 2) by (apply pow_incr; split; assumption).
  assert (0 <= L / 2 * beta ^ 2) by (apply Rmult_le_pos; [lra | apply pow2_ge_0]).
  apply Rmult_le_compat_l with (r := L / 2 * beta ^ 2) in S2; [|assumption].
  apply Rmult_le_compat_l with (r := r * Rabs (1 - L * alpha) * beta) in S1.
  - lra.
  - pose proof (Rabs_pos (1 - L * alpha)). repeat apply Rmult_le_pos; lra.
Qed.

Theorem forgetting_step_union : forall h2 omega2, 0 <= r -> beta * L * INR E <= 1 / 4 -> g ^ 2 <= 2 * h2 + 2 * omega2 ->
  Gamma <= 2 * beta * INR E * (32 / 49 * (beta * L * INR E) + 8 / 7 * r * Rabs (1 - L * alpha)) * (h2 + omega2).
Proof.
  intros h2 omega2 Hr H Lemma11. eapply Rle_trans; [apply forgetting_step_short; assumption|].
  pose proof (pos_INR E). pose proof (Rabs_pos (1 - L * alpha)).
  assert (B : 0 <= beta * INR E * (32 / 49 * (beta * L * INR E) + 8 / 7 * r * Rabs (1 - L * alpha))).
  { apply Rmult_le_pos; [apply Rmult_le_pos; lra|]. apply Rplus_le_le_0_compat; repeat apply Rmult_le_pos; lra. }
  apply Rmult_le_compat_l with (1 := B) in Lemma11. lra.
Qed.

End Terms.
