(** * Lemma 1: descent on the past task *)

Require Import Reals Lra Psatz.
From CFlag Require Import Vectors Smoothness Algorithm1.
Open Scope R_scope.
Open Scope vec_scope.

Section Descent.

Variables (P : problem) (L alpha beta : R) (E : nat) (order : nat -> nat -> nat) (memory : nat -> vec) (x : vec).
Variables (f : vec -> R) (grad_f : vec -> vec).

Let d := dim P.
Let v := memory_mean P memory.
Let S := delayed_sum P beta E order x.
(** The bias (6): b = grad f_memory - grad f. *)
Let b := v -^ grad_f x.
Let next := round P alpha beta E order memory x.

Hypothesis unit : sum (clients P) (weight P) = 1.
Hypothesis f_smooth : smooth d L f grad_f.

(** (36)-(49): smoothness along the round, expanded. *)
Lemma smooth_round : f next <= f x - alpha * dot d (grad_f x) v - beta * dot d (grad_f x) S
  + L / 2 * (alpha ^ 2 * dot d v v + 2 * (alpha * beta) * dot d v S + beta ^ 2 * dot d S S).
Proof.
  pose proof (f_smooth x next) as H. unfold next in *. rewrite eq24 in * by exact unit. fold v S in H |- *.
  replace (x -^ alpha *^ v -^ beta *^ S -^ x) with ((- alpha) *^ v -^ beta *^ S) in H by vector.
  rewrite norm_pow2 in H. revert H. expand_dots. rewrite (dot_comm d S v). nra.
Qed.

(** The overfitting term (34) and the forgetting term (35), with sums from k = 0 as in (15); [lead] is L/2, or L as in
    (10). *)
Definition overfitting : R := (L * alpha ^ 2 - alpha) * dot d (grad_f x) b + beta * dot d b S.
Definition forgetting (lead : R) : R := lead * beta ^ 2 * norm d S ^ 2 - beta * (1 - L * alpha) * dot d v S.

(** Ledger: cflag.eq15. *)
Theorem eq15 : dot d (grad_f x) (next -^ x) + L / 2 * norm d (next -^ x) ^ 2 =
  - alpha * (1 - L * alpha / 2) * norm d (grad_f x) ^ 2 + L / 2 * alpha ^ 2 * norm d b ^ 2
  + overfitting + forgetting (L / 2).
Proof.
  unfold overfitting, forgetting, next. rewrite eq24 by exact unit. fold v S.
  assert (V : v = grad_f x +^ b) by (unfold b; vector).
  replace (x -^ alpha *^ v -^ beta *^ S -^ x) with ((- alpha) *^ v -^ beta *^ S) by vector.
  rewrite !norm_pow2, V. clearbody b S. set (F := grad_f x). expand_dots.
  rewrite (dot_comm d b F), (dot_comm d S F), (dot_comm d S b). field.
Qed.

(** (36)-(56).  Ledger: cflag.eq56, part 2 repaired; part 1 is [smooth_round]. *)
Theorem eq56 : forall m, 0 <= L -> norm d b ^ 2 <= m * norm d (grad_f x) ^ 2 ->
  f next - f x <= - alpha * (1 - L / 2 * alpha * (1 + m)) * norm d (grad_f x) ^ 2 + overfitting + forgetting (L / 2).
Proof.
  intros m HL Hb. pose proof (f_smooth x next) as H. pose proof eq15 as Q.
  apply Rmult_le_compat_l with (r := L / 2 * alpha ^ 2) in Hb; [lra|]. apply Rmult_le_pos; [lra | apply pow2_ge_0].
Qed.

(** (64)-(65). *)
Theorem eq65 : forall m, 0 < L -> 0 <= m -> alpha = 1 / (L * (1 + m)) ->
  1 / (alpha * (1 - L / 2 * alpha * (1 + m))) = 2 * L * (1 + m).
Proof. intros m HL Hm Ha. rewrite Ha. field. lra. Qed.

(** Lemma 1 as repaired.  Ledger: cflag.lemma1 (lead = L, both parts), cflag.lemma1_supp (lead = L/2, both parts; the
    sharp form of the other): sums from k = 0, and m the constant of (27). *)
Theorem lemma1 : forall m lead, 0 < L -> 0 <= m -> 0 < alpha < 2 / (L * (1 + m)) -> L / 2 <= lead ->
  norm d b ^ 2 <= m * norm d (grad_f x) ^ 2 ->
  norm d (grad_f x) ^ 2 <= 1 / (alpha * (1 - L / 2 * alpha * (1 + m))) * (f x - f next + overfitting + forgetting lead).
Proof.
  intros m lead HL Hm [Ha0 Ha] Hlead Hb. pose proof smooth_round as H.
  assert (V : v = grad_f x +^ b) by (unfold b; vector).
  unfold overfitting, forgetting. rewrite !norm_pow2 in *. rewrite V in *. revert H. clearbody b S next.
  set (F := grad_f x) in *. clearbody F. expand_dots. rewrite (dot_comm d b F). intro H.
  assert (P1 : L * alpha * (1 + m) < 2).
  { apply Rmult_lt_compat_r with (r := L * (1 + m)) in Ha; [|nra].
    replace (2 / (L * (1 + m)) * (L * (1 + m))) with 2 in Ha by (field; nra). nra. }
  assert (P2 : 0 < alpha * (1 - L / 2 * alpha * (1 + m))) by (apply Rmult_lt_0_compat; lra).
  apply Rmult_le_reg_l with (alpha * (1 - L / 2 * alpha * (1 + m))); [exact P2|].
  rewrite <- Rmult_assoc.
  replace (alpha * (1 - L / 2 * alpha * (1 + m)) * (1 / (alpha * (1 - L / 2 * alpha * (1 + m))))) with 1
    by (field; lra).
  pose proof (dot_self_nonneg d S). pose proof (dot_self_nonneg d F).
  assert (0 <= (lead - L / 2) * (beta ^ 2 * dot d S S)).
  { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [apply pow2_ge_0 | assumption]. }
  assert (0 <= L * alpha ^ 2 / 2 * (m * dot d F F - dot d b b)).
  { apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [lra | apply pow2_ge_0]. }
  nra.
Qed.

End Descent.
