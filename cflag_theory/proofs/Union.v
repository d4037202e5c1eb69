(** * The current task and the union: Lemma 11, the text after Lemma 3, and what Algorithm 1 descends *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1 Exponential Drift Sums Surrogate.
Open Scope R_scope.
Open Scope vec_scope.

(** ||u||^2 <= 2 ||w||^2 + 2 ||u - w||^2. *)
Lemma twice_twice : forall d u w, norm d u ^ 2 <= 2 * norm d w ^ 2 + 2 * norm d (u -^ w) ^ 2.
Proof.
  intros d u w. rewrite !norm_pow2. pose proof (dot_self_nonneg d (u -^ 2 *^ w)) as Q. revert Q. expand_dots.
  rewrite (dot_comm d w u). lra.
Qed.

(** Lemma 11, with h~ = sum_i p_i h~_i; omega^2 bounds the clients' gaps at x. *)
Theorem lemma11 : forall d N p (grad_g_i grad_h_i : nat -> vec) omega2, weights N p ->
  sum N (fun i => p i * norm d (grad_g_i i -^ grad_h_i i) ^ 2) <= omega2 ->
  norm d (vsum N (fun i => p i *^ grad_g_i i)) ^ 2 <= 2 * norm d (vsum N (fun i => p i *^ grad_h_i i)) ^ 2 + 2 * omega2.
Proof.
  intros d N p gi hi omega2 Hp H. eapply Rle_trans; [apply (twice_twice d _ (vsum N (fun i => p i *^ hi i)))|].
  assert (J : norm d (vsum N (fun i => p i *^ gi i) -^ vsum N (fun i => p i *^ hi i)) ^ 2 <= omega2); [|lra].
  eapply Rle_trans; [|exact H]. rewrite <- vsum_sub.
  rewrite (vsum_ext N _ (fun i => p i *^ (gi i -^ hi i))) by (intros; vector).
  apply jensen. exact Hp.
Qed.

(** The same with h~ by total sizes, (3).  Ledger: cflag.lemma11, part 2, repaired: equal shares. *)
Theorem lemma11_by_sizes : forall d N p kept_size current_size kept_slope current_slope omega2 x, weights N p ->
  (forall i, (i < N)%nat -> (0 < kept_size i + current_size i)%nat) ->
  (forall i, (i < N)%nat -> share_of kept_size current_size i = share N kept_size current_size) ->
  sum N (fun i => p i * norm d (vmean (current_size i) (fun j => current_slope i j x)
    -^ grad_client (union_problem d N p kept_size current_size kept_slope current_slope) i x) ^ 2) <= omega2 ->
  norm d (grad_g N p current_size current_slope x) ^ 2 <=
    2 * norm d (grad_by_sizes N p kept_size current_size kept_slope current_slope x) ^ 2 + 2 * omega2.
Proof.
  intros d N p ks cs kl cl omega2 x Hp Hn Hs H. rewrite (equal_shares d N p ks cs kl cl Hn Hs).
  apply (lemma11 d N p (fun i => vmean (cs i) (fun j => cl i j x))); assumption.
Qed.

(** h~ = s f_memory + (1 - s) g at one point: gradients u of f_memory and w of g. *)
Section Mixture.

Variables (d : nat) (s : R) (u w : vec).

Let mix := s *^ u +^ (1 - s) *^ w.

(** Ledger: ours.current_from_union, part 2. *)
Theorem current_from_union_2 : 0 <= s <= 1 -> 0 <= dot d u w -> (1 - s) ^ 2 * norm d w ^ 2 <= norm d mix ^ 2.
Proof.
  intros Hs H. rewrite !norm_pow2. unfold mix. expand_dots. rewrite (dot_comm d w u).
  pose proof (dot_self_nonneg d u). assert (0 <= s * (1 - s) * dot d u w) by nonneg.
  assert (0 <= s * s * dot d u u) by nonneg. nra.
Qed.

(** Ledger: ours.current_from_union, part 1; the text after Lemma 3, cflag.lemma3_remark, repaired. *)
Theorem current_from_union_1 : forall r, 0 <= s -> norm d u <= r * norm d w -> r * s < 1 - s -> 0 <= r ->
  norm d w <= 1 / (1 - s - r * s) * norm d mix.
Proof.
  intros r Hs H Hr R0. assert (S1 : 0 <= 1 - s) by nra.
  assert (T : (1 - s) * norm d w <= norm d mix + s * norm d u).
  { rewrite <- norm_scale_nonneg by exact S1. rewrite <- (norm_scale_nonneg d s u) by exact Hs.
    replace ((1 - s) *^ w) with (mix -^ s *^ u) by (unfold mix; vector). apply triangle_sub. }
  apply Rmult_le_reg_l with (1 - s - r * s); [lra|].
  replace ((1 - s - r * s) * (1 / (1 - s - r * s) * norm d mix)) with (norm d mix) by (field; lra).
  apply Rmult_le_compat_l with (r := s) in H; [|exact Hs]. lra.
Qed.

End Mixture.

(** ** What Algorithm 1 descends: h^ = (alpha f_memory + beta E g) / (alpha + beta E) *)

Section Algorithm1Descent.

Variables (P : problem) (L alpha beta : R) (E T : nat) (order : nat -> nat -> nat -> nat) (x0 : vec).
(** f_memory, its clients' gradients, and g. *)
Variables (f_memory g : vec -> R) (memory : nat -> vec -> vec).

Let d := dim P.
Let grad_f_memory (y : vec) := memory_mean P (fun i => memory i y).
Let total := alpha + beta * INR E.
Let x := run P (fun _ => alpha) (fun _ => beta) E order (fun _ => memory) x0.

Definition descended (y : vec) : R := (alpha * f_memory y + beta * INR E * g y) / total.
Definition grad_descended (y : vec) : vec :=
  / total *^ (alpha *^ grad_f_memory y +^ (beta * INR E) *^ grad_current P y).

Hypothesis L_positive : 0 < L.
Hypothesis alpha_positive : 0 < alpha.
Hypothesis beta_positive : 0 < beta.
Hypothesis is_regular : regular P L.
Hypothesis f_memory_smooth : smooth d L f_memory grad_f_memory.
Hypothesis g_smooth : smooth d L g (grad_current P).

Lemma total_positive : 0 < total.
Proof. unfold total. pose proof (pos_INR E). assert (0 <= beta * INR E) by nonneg. lra. Qed.

Lemma descended_smooth : smooth d L descended grad_descended.
Proof.
  intros y z. pose proof (f_memory_smooth y z) as F. pose proof (g_smooth y z) as G. pose proof total_positive as T0.
  pose proof (pos_INR E). assert (0 <= beta * INR E) by nonneg.
  apply Rmult_le_compat_l with (r := alpha) in F; [|lra].
  apply Rmult_le_compat_l with (r := beta * INR E) in G; [|assumption].
  unfold descended, grad_descended. rewrite dot_scale_l, dot_add_l, !dot_scale_l.
  apply Rmult_le_reg_l with total; [exact T0|]. fold d in F, G |- *. set (n := norm d (z -^ y) ^ 2) in *.
  replace (total * ((alpha * f_memory z + beta * INR E * g z) / total))
    with (alpha * f_memory z + beta * INR E * g z) by (field; lra).
  match goal with |- _ <= total * (?a / total + / total * ?b + L / 2 * n) =>
    replace (total * (a / total + / total * b + L / 2 * n)) with (a + b + (alpha + beta * INR E) * (L / 2 * n))
      by (fold total; field; lra) end.
  lra.
Qed.

Lemma descended_round : forall t, L * total <= 1 ->
  norm d (grad_descended (x t)) ^ 2 <= 2 / total * (descended (x t) - descended (x (S t)))
    + (beta * (sigma L beta E - INR E) / total) ^ 2 * norm d (grad_current P (x t)) ^ 2.
Proof.
  intros t Small. pose proof total_positive as T0. pose proof (descended_smooth (x t) (x (S t))) as Q.
  set (e := delayed_sum P beta E (order t) (x t) -^ INR E *^ grad_current P (x t)).
  assert (Move : x (S t) = x t -^ (total *^ grad_descended (x t) +^ beta *^ e)).
  { change (x (S t)) with (round P alpha beta E (order t) (fun i => memory i (x t)) (x t)).
    rewrite eq24 by exact (proj2 (proj1 is_regular)). fold (grad_f_memory (x t)).
    unfold grad_descended, e. vector. field. lra. }
  pose proof (S_deviation P L beta E (order t) (x t) L_positive beta_positive is_regular) as De. fold d e in De.
  set (G := grad_descended (x t)) in *. set (gg := norm d (grad_current P (x t))) in *.
  set (rho := sigma L beta E - INR E) in *.
  replace (x (S t) -^ x t) with ((-1) *^ (total *^ G +^ beta *^ e)) in Q by (rewrite Move; vector).
  set (w := total *^ G +^ beta *^ e) in *.
  assert (Q2 : 2 * total * (descended (x (S t)) - descended (x t)) <= - 2 * total * dot d G w + dot d w w).
  { rewrite norm_pow2 in Q. revert Q. expand_dots. intro Q. pose proof (dot_self_nonneg d w). nra. }
  assert (Q3 : - 2 * total * dot d G w + dot d w w = - total ^ 2 * dot d G G + beta ^ 2 * dot d e e).
  { unfold w. expand_dots. rewrite (dot_comm d e G). ring. }
  assert (E2 : dot d e e <= (rho * gg) ^ 2) by (apply square_le_of_norm; exact De).
  rewrite norm_pow2. apply Rmult_le_reg_l with (total ^ 2); [apply pow_lt; exact T0|].
  replace (total ^ 2 * (2 / total * (descended (x t) - descended (x (S t))) + (beta * rho / total) ^ 2 * gg ^ 2))
    with (2 * total * (descended (x t) - descended (x (S t))) + beta ^ 2 * (rho * gg) ^ 2) by (field; lra).
  assert (0 <= beta ^ 2) by nonneg. apply Rmult_le_compat_l with (r := beta ^ 2) in E2; [|assumption]. lra.
Qed.

(** Ledger: ours.algorithm1_descent, part 1. *)
Theorem algorithm1_descent : (1 <= T)%nat -> L * total <= 1 ->
  least T (fun t => norm d (grad_descended (x t)) ^ 2) <=
    2 * (descended x0 - descended (x T)) / (total * INR T)
    + (beta * (sigma L beta E - INR E) / total) ^ 2 * (sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T).
Proof.
  intros HT Small. pose proof (INR_pos T ltac:(lia)) as TP. pose proof total_positive as T0.
  assert (Sum : sum T (fun t => norm d (grad_descended (x t)) ^ 2) <= 2 / total * (descended x0 - descended (x T))
    + (beta * (sigma L beta E - INR E) / total) ^ 2 * sum T (fun t => norm d (grad_current P (x t)) ^ 2)).
  { replace (descended x0 - descended (x T)) with (sum T (fun t => descended (x t) - descended (x (S t))))
      by (rewrite (sum_telescopes T (fun t => descended (x t))); reflexivity).
    rewrite <- !sum_scale, <- sum_add. apply sum_le. intros t _. apply descended_round. exact Small. }
  pose proof (least_times_count T (fun t => norm d (grad_descended (x t)) ^ 2)) as Least.
  apply Rmult_le_reg_l with (INR T); [exact TP|]. eapply Rle_trans; [exact Least|]. eapply Rle_trans; [exact Sum|].
  right. field. lra.
Qed.

(** At the step size of Lemma 3.  Ledger: ours.algorithm1_descent, part 2. *)
Theorem algorithm1_descent_step : (1 <= E)%nat -> (1 <= T)%nat -> alpha = beta -> beta = 1 / (30 * L * INR E) ->
  least T (fun t => norm d (grad_descended (x t)) ^ 2) <=
    60 * L * INR E / ((1 + INR E) * INR T) * (descended x0 - descended (x T))
    + ((INR E - 1) / (59 * (INR E + 1))) ^ 2 * (sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T).
Proof.
  intros HE HT Same Hbeta. assert (E1 : 1 <= INR E) by (replace 1 with (INR 1) by reflexivity; apply le_INR; exact HE).
  set (v := beta * L). assert (V0 : 0 < v) by (apply Rmult_lt_0_compat; lra).
  assert (VE : v * INR E = 1 / 30) by (unfold v; rewrite Hbeta; field; lra).
  pose proof (INR_pos T ltac:(lia)) as TP.
  eapply Rle_trans; [apply algorithm1_descent; [exact HT|]|].
  - unfold total. rewrite Same. replace (L * (beta + beta * INR E)) with (v + v * INR E) by (unfold v; ring). nra.
  - apply Rplus_le_compat.
    + right. unfold total. rewrite Same, Hbeta. field. lra.
    + apply Rmult_le_compat_r.
      * apply Rmult_le_pos; [apply sum_nonneg; intros; nonneg | apply Rlt_le, Rinv_0_lt_compat; exact TP].
      * apply pow_incr. unfold total. rewrite Same.
        replace (beta * (sigma L beta E - INR E) / (beta + beta * INR E))
          with ((sigma L beta E - INR E) / (1 + INR E)) by (field; nra).
        pose proof (second_order E v (1 / 30) E ltac:(lra) ltac:(lra) (Nat.le_refl E) ltac:(lra)) as Q.
        replace (/ (2 - 1 / 30)) with (30 / 59) in Q by lra.
        pose proof (poly E v V0) as Low.
        assert (I1 : 0 < / (1 + INR E)) by (apply Rinv_0_lt_compat; lra).
        assert (Rho : (sigma L beta E - INR E) * v = (1 + v) ^ E - 1 - INR E * v) by (unfold sigma; fold v; field; lra).
        split.
        -- apply Rmult_le_pos; [|lra]. apply Rmult_le_reg_r with v; [exact V0|]. lra.
        -- replace ((INR E - 1) / (59 * (INR E + 1))) with ((INR E - 1) / 59 * / (1 + INR E)) by (field; lra).
           apply Rmult_le_compat_r; [lra|]. apply Rmult_le_reg_r with v; [exact V0|]. rewrite Rho.
           replace (30 / 59 * INR E * (INR E - 1) * v ^ 2) with (30 / 59 * (v * INR E) * (INR E - 1) * v) in Q by ring.
           rewrite VE in Q. lra.
Qed.

End Algorithm1Descent.
