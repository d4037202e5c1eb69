(** * Four facts about exp, from which the numerical constants come *)

Require Import Reals Lra Psatz.
Open Scope R_scope.

Lemma exp_tangent : forall y, 1 + y <= exp y.
Proof.
  intro y. destruct (Req_dec y 0) as [->|H]; [rewrite exp_0; lra|]. left. apply exp_ineq1. exact H.
Qed.

(** (1 + u)^k <= exp(k u). *)
Lemma power_below_exp : forall u k, 0 <= u -> (1 + u) ^ k <= exp (INR k * u).
Proof.
  intros u k Hu. induction k as [|k IH].
  - simpl. rewrite Rmult_0_l, exp_0. lra.
  - rewrite S_INR. replace ((INR k + 1) * u) with (u + INR k * u) by ring. rewrite exp_plus. simpl.
    pose proof (exp_tangent u). pose proof (pow_le (1 + u) k ltac:(lra)). apply Rmult_le_compat; lra.
Qed.

(** exp is convex: its chord from 0 to a lies above it. *)
Lemma chord_of_exp : forall y a, 0 <= y <= a -> 0 < a -> exp y - 1 <= (exp a - 1) / a * y.
Proof.
  intros y a [Hy Ha] Pa. pose proof (exp_pos y) as Py.
  assert (A : exp y - 1 <= y * exp y).
  { pose proof (exp_tangent (- y)) as T. rewrite exp_Ropp in T.
    apply Rmult_le_compat_l with (r := exp y) in T; [|lra]. rewrite Rinv_r in T by lra. lra. }
  assert (B : exp y * (1 + (a - y)) <= exp a).
  { pose proof (exp_tangent (a - y)) as T. replace a with (y + (a - y)) at 2 by ring. rewrite exp_plus.
    apply Rmult_le_compat_l; lra. }
  apply Rmult_le_reg_l with a; [exact Pa|].
  replace (a * ((exp a - 1) / a * y)) with ((exp a - 1) * y) by (field; lra). nra.
Qed.

(** exp y - 1 - y grows at least as fast as y^2. *)
Lemma parabola_over_exp : forall y a, 0 <= y <= a -> 0 < a -> exp y - 1 - y <= (exp a - 1 - a) / a ^ 2 * y ^ 2.
Proof.
  intros y a [Hy Ha] Pa. set (r := y / a).
  assert (Hr : 0 <= r <= 1).
  { unfold r. split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]|].
    apply Rmult_le_reg_r with a; [lra|]. replace (y / a * a) with y by (field; lra). lra. }
  replace y with (r * a) by (unfold r; field; lra).
  replace ((exp a - 1 - a) / a ^ 2 * (r * a) ^ 2) with (r * r * (exp a - 1 - a)) by (field; lra).
  set (phi := fun u => r * r * (exp u - (1 + u)) - (exp (r * u) - (1 + r * u))).
  set (phi' := fun u => r * r * (exp u - (0 + 1)) - (exp (r * u) * (r * 1) - (0 + r * 1))).
  assert (D : forall u, 0 <= u <= a -> derivable_pt_lim phi u (phi' u)).
  { intros u _.
    assert (Lin : forall q w, derivable_pt_lim (fun w => 1 + q * w) w (0 + q * 1)).
    { intros q w. apply (derivable_pt_lim_plus (fct_cte 1) (fun w => q * w)); [apply derivable_pt_lim_const|].
      apply (derivable_pt_lim_scal id). apply derivable_pt_lim_id. }
    apply derivable_pt_lim_minus.
    - apply (derivable_pt_lim_scal (fun u => exp u - (1 + u))).
      apply derivable_pt_lim_minus; [apply derivable_pt_lim_exp|].
      apply (derivable_pt_lim_plus (fct_cte 1) id); [apply derivable_pt_lim_const | apply derivable_pt_lim_id].
    - apply (derivable_pt_lim_minus (fun u => exp (r * u)) (fun u => 1 + r * u)); [|apply Lin].
      apply (derivable_pt_lim_comp (fun u => r * u) exp).
      + apply (derivable_pt_lim_scal id). apply derivable_pt_lim_id.
      + apply derivable_pt_lim_exp. }
  destruct (MVT_cor2 phi phi' 0 a Pa D) as [c [Q [c0 c1]]].
  assert (N : 0 <= phi' c).
  { unfold phi'. assert (C : exp (r * c) - 1 <= r * (exp c - 1)).
    { replace (r * (exp c - 1)) with ((exp c - 1) / c * (r * c)) by (field; lra). apply chord_of_exp; [|lra]. nra. }
    nra. }
  assert (Z : phi 0 = 0).
  { unfold phi. rewrite !Rmult_0_r, exp_0. ring. }
  rewrite Z in Q. unfold phi in Q. nra.
Qed.

(** exp(1/4) <= 9/7: exp(1/100) <= 100/99, to the 25th power. *)
Lemma exp_quarter : exp (1 / 4) <= 9 / 7.
Proof.
  assert (A : exp (1 / 100) <= 100 / 99).
  { pose proof (exp_tangent (- (1 / 100))) as T. rewrite exp_Ropp in T. pose proof (exp_pos (1 / 100)) as Q.
    apply Rmult_le_compat_l with (r := exp (1 / 100)) in T; [|lra]. rewrite Rinv_r in T by lra. lra. }
  assert (B : exp (1 / 4) = exp (1 / 100) ^ 25).
  { replace (1 / 4) with (INR 25 * (1 / 100)) by (simpl; lra). generalize 25%nat. intro k. induction k as [|k IH].
    - simpl. rewrite Rmult_0_l. apply exp_0.
    - rewrite S_INR. replace ((INR k + 1) * (1 / 100)) with (1 / 100 + INR k * (1 / 100)) by ring.
      rewrite exp_plus, IH. reflexivity. }
  rewrite B. apply Rle_trans with ((100 / 99) ^ 25); [|lra].
  apply pow_incr. split; [left; apply exp_pos | exact A].
Qed.

(** ** The two forms in which they are used *)

(** ((1 + u)^k - 1) <= c k u for k u <= a, with c = (exp a - 1) / a. *)
Lemma power_chord : forall u k a, 0 <= u -> 0 < a -> INR k * u <= a -> (1 + u) ^ k - 1 <= (exp a - 1) / a * (INR k * u).
Proof.
  intros u k a Hu Ha H. pose proof (power_below_exp u k Hu). pose proof (pos_INR k).
  assert (0 <= INR k * u) by (apply Rmult_le_pos; assumption).
  pose proof (chord_of_exp (INR k * u) a). lra.
Qed.

(** ((1 + u)^k - 1 - k u) <= c (k u)^2 for k u <= a, with c = (exp a - 1 - a) / a^2. *)
Lemma power_parabola : forall u k a, 0 <= u -> 0 < a -> INR k * u <= a ->
  (1 + u) ^ k - 1 - INR k * u <= (exp a - 1 - a) / a ^ 2 * (INR k * u) ^ 2.
Proof.
  intros u k a Hu Ha H. pose proof (power_below_exp u k Hu). pose proof (pos_INR k).
  assert (0 <= INR k * u) by (apply Rmult_le_pos; assumption).
  pose proof (parabola_over_exp (INR k * u) a). lra.
Qed.
