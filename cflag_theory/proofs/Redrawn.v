(** * Convergence on the past task with a memory that is drawn anew every round, any m

    Ledger: ours.redrawn, for Theorems 2 and 5.  First for an expectation over runs, with the hypotheses of the ledger;
    then for draws from a finite list, where the expectation is the weighted average over the sequences of draws, and
    what the ledger calls fresh and apart follows from an unbiased draw ([fresh_and_apart]). *)

Require Import Reals Lra Psatz Arith Lia List.
From CFlag Require Import Vectors Smoothness Algorithm1 Descent Exponential Drift Sums.
Open Scope R_scope.
Open Scope vec_scope.

(** ** One round, along one draw *)

Section OneRound.

Variables (P : problem) (L alpha beta : R) (E : nat) (order : nat -> nat -> nat) (memory : nat -> vec) (x : vec).
Variables (f : vec -> R) (grad_f : vec -> vec).

Let d := dim P.
Let S := delayed_sum P beta E order x.
Let b := memory_mean P memory -^ grad_f x.
Let next := round P alpha beta E order memory x.

Lemma round_redrawn : 0 < L -> 0 < alpha -> L * alpha <= 1 -> 0 < beta -> regular P L -> smooth d L f grad_f ->
  f next <= f x - alpha / 2 * norm d (grad_f x) ^ 2
    + (((1 + beta * L) ^ E - 1) / L) ^ 2 / (2 * alpha) * norm d (grad_current P x) ^ 2
    + (L * alpha ^ 2 - alpha) * dot d (grad_f x) b + L * alpha ^ 2 / 2 * norm d b ^ 2 + L * alpha * beta * dot d b S.
Proof.
  intros HL Ha HLa Hb Reg Smooth.
  pose proof (smooth_round P L alpha beta E order memory x f grad_f (proj2 (proj1 Reg)) Smooth) as H.
  fold d next S in H.
  assert (V : memory_mean P memory = grad_f x +^ b) by (unfold b; vector). rewrite V in H.
  pose proof (S_reach P L beta E order x HL Hb Reg) as Reach. fold d S in Reach.
  set (G := norm d (grad_current P x)) in *. set (reach := ((1 + beta * L) ^ E - 1) / L) in *.
  clearbody b S next reach G. set (F := grad_f x) in *. clearbody F.
  pose proof (dot_self_nonneg d (alpha *^ F +^ beta *^ S)) as Q.
  pose proof (norm_nonneg d S) as S0. pose proof (norm_square d S) as SS.
  assert (Z : beta ^ 2 * dot d S S <= reach ^ 2 * G ^ 2).
  { rewrite <- SS. replace (beta ^ 2 * (norm d S * norm d S)) with ((beta * norm d S) ^ 2) by ring.
    rewrite <- Rpow_mult_distr. apply pow_incr. split; [apply Rmult_le_pos; lra | exact Reach]. }
  rewrite !norm_pow2. revert H Q. expand_dots. rewrite (dot_comm d b F), (dot_comm d S F). intros H Q.
  apply Rmult_le_reg_l with (2 * alpha); [lra|].
  replace (2 * alpha * (f x - alpha / 2 * dot d F F + reach ^ 2 / (2 * alpha) * G ^ 2 + (L * alpha ^ 2
    - alpha) * dot d F b +
     L * alpha ^ 2 / 2 * dot d b b + L * alpha * beta * dot d b S))
    with (2 * alpha * f x - alpha ^ 2 * dot d F F + reach ^ 2 * G ^ 2 + 2 * alpha * (L * alpha ^ 2
      - alpha) * dot d F b +
     L * alpha ^ 3 * dot d b b + 2 * L * alpha ^ 2 * beta * dot d b S) by (field; lra).
  apply Rmult_le_compat_l with (r := 2 * alpha) in H; [|lra].
  apply Rmult_le_compat_l with (r := 1 - L * alpha) in Q; [|lra].
  nra.
Qed.

End OneRound.

(** ** An expectation: linear, monotone, 1 on 1 *)

Definition expectation {Omega : Type} (Ex : (Omega -> R) -> R) : Prop :=
  (forall F G, Ex (fun w => F w + G w) = Ex F + Ex G) /\
  (forall c F, Ex (fun w => c * F w) = c * Ex F) /\
  (forall F G, (forall w, F w <= G w) -> Ex F <= Ex G) /\
  Ex (fun _ => 1) = 1.

(** What both theorems end with: from one round in the mean to the whole run. *)
Lemma summed : forall T alpha k reach (v a g : nat -> R), 0 < alpha -> 0 < k -> (0 < T)%nat ->
  (forall t, (t < T)%nat -> alpha / 2 * k * a t <= v t - v (S t) + reach ^ 2 / (2 * alpha) * g t) ->
  sum T a / INR T <= (2 * (v 0%nat - v T) / (alpha * INR T) + (reach / alpha) ^ 2 * (sum T g / INR T)) / k.
Proof.
  intros T alpha k reach v a g Ha Hk HT H. apply sum_le in H.
  rewrite sum_add, !sum_scale, sum_telescopes in H. pose proof (INR_pos T HT) as TP.
  apply Rmult_le_reg_l with (alpha / 2 * k * INR T); [apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; lra|].
  replace (alpha / 2 * k * INR T * (sum T a / INR T)) with (alpha / 2 * k * sum T a) by (field; lra).
  eapply Rle_trans; [exact H|]. right. field. lra.
Qed.

Section AnyExpectation.

Variable Omega : Type.
Variable Ex : (Omega -> R) -> R.
Variables (P : problem) (L alpha beta m : R) (E T : nat).
Variables (order : Omega -> nat -> nat -> nat -> nat) (memory : Omega -> nat -> nat -> vec -> vec) (x0 : Omega -> vec).
Variables (f : vec -> R) (grad_f : vec -> vec).

Let d := dim P.
Let x (w : Omega) := run P (fun _ => alpha) (fun _ => beta) E (order w) (memory w) (x0 w).
(** b(x_t) and S of round t, along w. *)
Let b (w : Omega) (t : nat) := memory_mean P (fun i => memory w t i (x w t)) -^ grad_f (x w t).
Let S (w : Omega) (t : nat) := delayed_sum P beta E (order w t) (x w t).

(** Ledger: ours.redrawn. *)
Theorem redrawn :
  expectation Ex ->
  0 < L -> 0 < alpha -> L * alpha <= 1 -> 0 < beta -> 0 <= m -> L * alpha * m < 1 -> (0 < T)%nat ->
  regular P L -> smooth d L f grad_f ->
  (forall t, (t < T)%nat -> Ex (fun w => norm d (b w t) ^ 2) <= m * Ex (fun w => norm d (grad_f (x w t)) ^ 2)) ->
  (forall t, (t < T)%nat -> Ex (fun w => dot d (grad_f (x w t)) (b w t)) = 0) ->
  (forall t, (t < T)%nat -> Ex (fun w => dot d (b w t) (S w t)) = 0) ->
  sum T (fun t => Ex (fun w => norm d (grad_f (x w t)) ^ 2)) / INR T <=
    (2 * (Ex (fun w => f (x w 0%nat)) - Ex (fun w => f (x w T))) / (alpha * INR T)
     + (((1 + beta * L) ^ E - 1) / (L * alpha)) ^ 2
       * (sum T (fun t => Ex (fun w => norm d (grad_current P (x w t)) ^ 2)) / INR T))
    / (1 - L * alpha * m).
Proof.
  intros [Add [Scale [Mono _]]] HL Ha HLa Hb Hm HLam HT Reg Smooth Bias Fresh Apart.
  replace (((1 + beta * L) ^ E - 1) / (L * alpha)) with (((1 + beta * L) ^ E - 1) / L / alpha) by (field; lra).
  apply (summed T alpha (1 - L * alpha * m) (((1 + beta * L) ^ E - 1) / L) (fun t => Ex (fun w => f (x w t))));
    try assumption; try lra.
  intros t Ht. specialize (Bias t Ht). specialize (Fresh t Ht). specialize (Apart t Ht).
  set (c := (((1 + beta * L) ^ E - 1) / L) ^ 2 / (2 * alpha)) in *.
  assert (One : Ex (fun w => f (x w (Datatypes.S t))) <=
    Ex (fun w => f (x w t)) + - (alpha / 2) * Ex (fun w => norm d (grad_f (x w t)) ^ 2)
    + c * Ex (fun w => norm d (grad_current P (x w t)) ^ 2)
    + (L * alpha ^ 2 - alpha) * Ex (fun w => dot d (grad_f (x w t)) (b w t))
    + L * alpha ^ 2 / 2 * Ex (fun w => norm d (b w t) ^ 2) + L * alpha * beta * Ex (fun w => dot d (b w t) (S w t))).
  { rewrite <- !Scale, <- !Add. apply Mono. intro w.
    pose proof (round_redrawn P L alpha beta E (order w t) (fun i => memory w t i (x w t)) (x w t) f grad_f HL Ha HLa
      Hb Reg Smooth) as R.
    fold d in R. fold (b w t) in R. fold (S w t) in R. fold c in R.
    change (round P alpha beta E (order w t) (fun i => memory w t i (x w t)) (x w t)) with (x w (Datatypes.S t)) in R.
    lra. }
  rewrite Fresh, Apart in One.
  assert (B : L * alpha ^ 2 / 2 * Ex (fun w => norm d (b w t) ^ 2)
    <= L * alpha ^ 2 / 2 * (m * Ex (fun w => norm d (grad_f (x w t)) ^ 2))).
  { apply Rmult_le_compat_l; [|exact Bias]. apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [lra | apply pow2_ge_0]. }
  nra.
Qed.

End AnyExpectation.

(** ** Draws from a finite list

    In every round one of [count] memories is drawn, memory w with probability [q w], whatever was drawn before; w says
    what every client keeps.  A history is the list of the draws so far, the last one first.  The order in which
    components are sampled may depend on the history, the draw of the round itself excepted. *)

Section Draws.

Variables (P : problem) (L alpha beta m : R) (E T count : nat) (q : nat -> R).
Variables (order : list nat -> nat -> nat -> nat) (memory : nat -> nat -> vec -> vec) (x0 : vec).
Variables (f : vec -> R) (grad_f : vec -> vec).

Let d := dim P.

(** Algorithm 1 along a history. *)
Fixpoint drawn_run (history : list nat) : vec :=
  match history with
  | nil => x0
  | w :: past => round P alpha beta E (order past) (fun i => memory w i (drawn_run past)) (drawn_run past)
  end.

(** The expectation over the histories of t draws: a finite average. *)
Fixpoint average (t : nat) (F : list nat -> R) : R :=
  match t with
  | O => F nil
  | Datatypes.S t => sum count (fun w => q w * average t (fun past => F (w :: past)))
  end.

Hypothesis q_weights : weights count q.

Lemma average_ext : forall t F G, (forall h, F h = G h) -> average t F = average t G.
Proof.
  induction t as [|t IH]; intros F G H; simpl; [apply H|]. apply sum_ext. intros w _. f_equal. apply IH. intro; apply H.
Qed.

Lemma average_add : forall t F G, average t (fun h => F h + G h) = average t F + average t G.
Proof.
  induction t as [|t IH]; intros F G; simpl; [reflexivity|]. rewrite <- sum_add. apply sum_ext. intros w _.
  rewrite IH. ring.
Qed.

Lemma average_scale : forall t c F, average t (fun h => c * F h) = c * average t F.
Proof.
  induction t as [|t IH]; intros c F; simpl; [reflexivity|]. rewrite <- sum_scale. apply sum_ext. intros w _.
  rewrite IH. ring.
Qed.

Lemma average_le : forall t F G, (forall h, F h <= G h) -> average t F <= average t G.
Proof.
  induction t as [|t IH]; intros F G H; simpl; [apply H|]. apply sum_le. intros w Hw.
  apply Rmult_le_compat_l; [apply q_weights; exact Hw|]. apply IH. intro; apply H.
Qed.

Lemma average_one : forall t, average t (fun _ => 1) = 1.
Proof.
  induction t as [|t IH]; simpl; [reflexivity|]. rewrite (sum_ext count _ q); [apply q_weights|]. intros w _.
  rewrite IH. ring.
Qed.

(** It is an expectation in the sense above. *)
Lemma average_expectation : forall t, expectation (average t).
Proof.
  intro t. split; [apply average_add|]. split; [apply average_scale|]. split; [apply average_le|]. apply average_one.
Qed.

Lemma average_zero : forall t, average t (fun _ => 0) = 0.
Proof.
  intro t. transitivity (0 * average t (fun _ => 1)); [|ring].
  rewrite <- average_scale. apply average_ext. intro. ring.
Qed.

Lemma average_sum : forall t n (F : nat -> list nat -> R),
  average t (fun h => sum n (fun w => F w h)) = sum n (fun w => average t (F w)).
Proof.
  intros t n F. induction n as [|n IH]; simpl; [apply average_zero|]. rewrite average_add, IH. reflexivity.
Qed.

(** The tower rule: one more draw, averaged over that draw first. *)
Lemma average_tower : forall t F, average (Datatypes.S t) F =
  average t (fun past => sum count (fun w => q w * F (w :: past))).
Proof. intros t F. simpl. rewrite average_sum. apply sum_ext. intros w _. symmetry. apply average_scale. Qed.

(** Bias of memory w at x. *)
Let b (w : nat) (x : vec) := memory_mean P (fun i => memory w i x) -^ grad_f x.

(** The draw is unbiased at every x. *)
Definition unbiased : Prop := forall x, vsum count (fun w => q w *^ memory_mean P (fun i => memory w i x)) = grad_f x.

Lemma no_bias : unbiased -> forall x u, sum count (fun w => q w * dot d u (b w x)) = 0.
Proof.
  intros Unbiased x u. unfold b.
  rewrite (sum_ext count _
    (fun w => dot d u (q w *^ memory_mean P (fun i => memory w i x)) - dot d u (grad_f x) * q w)).
  - rewrite sum_sub, sum_scale, <- dot_sum_r, Unbiased, (proj2 q_weights). ring.
  - intros w _. rewrite dot_sub_r, dot_scale_r. ring.
Qed.

(** E <u, b> = 0 for every u that the draw of the round does not move: u = grad f(x_t) is what the ledger calls fresh,
    u = S what it calls apart. *)
Lemma fresh_and_apart : unbiased -> forall t (u : list nat -> vec),
  average (Datatypes.S t) (fun h => match h with
    | nil => 0
    | w :: past => dot d (u past) (b w (drawn_run past))
    end) = 0.
Proof.
  intros Unbiased t u. rewrite average_tower. rewrite <- (average_zero t). apply average_ext.
  intro past. apply no_bias. exact Unbiased.
Qed.

(** Forgetting term (35) and overfitting term (34) of the last round of a history; 0 for the empty one. *)
Definition last_forgetting (h : list nat) : R :=
  match h with
  | nil => 0
  | w :: past => forgetting P L alpha beta E (order past) (fun i => memory w i (drawn_run past)) (drawn_run past) (L
    / 2)
  end.
Definition last_overfitting (h : list nat) : R :=
  match h with
  | nil => 0
  | w :: past => overfitting P L alpha beta E (order past) (fun i => memory w i (drawn_run past)) (drawn_run past)
    grad_f
  end.

(** E B(t) = 0.  Ledger: cflag.overfitting_mean, part anew: the memory is drawn anew every round. *)
Theorem overfitting_mean : unbiased -> forall t, average (Datatypes.S t) last_overfitting = 0.
Proof.
  intros Unbiased t. rewrite average_tower. rewrite <- (average_zero t). apply average_ext. intro past.
  set (x := drawn_run past). set (S := delayed_sum P beta E (order past) x).
  rewrite (sum_ext count _ (fun w => (L * alpha ^ 2 - alpha) * (q w * dot d (grad_f x) (b w x))
    + beta * (q w * dot d S (b w x)))).
  - rewrite sum_add, !sum_scale, !(no_bias Unbiased). ring.
  - intros w _. unfold last_overfitting, overfitting. fold x S. fold (b w x).
    fold d. rewrite (dot_comm d (b w x) S). ring.
Qed.

(** Theorem 2. Ledger: cflag.thm2, parts anew and 2 repaired: a memory drawn anew every round, and m the constant of
    (27). *)
Theorem theorem2 :
  0 < L -> 0 <= m -> alpha = 1 / (L * (1 + m)) -> (0 < T)%nat ->
  sum (clients P) (weight P) = 1 -> smooth d L f grad_f -> unbiased ->
  (forall x, sum count (fun w => q w * norm d (b w x) ^ 2) <= m * norm d (grad_f x) ^ 2) ->
  least T (fun t => average t (fun h => norm d (grad_f (drawn_run h)) ^ 2)) <=
    2 * L * (1 + m) / INR T *
      (f x0 - average T (fun h => f (drawn_run h)) + sum T (fun t => average (Datatypes.S t) last_forgetting)).
Proof.
  intros HL Hm Halpha HT unit Smooth Unbiased Bias.
  assert (Ha : 0 < alpha) by (rewrite Halpha; apply Rdiv_lt_0_compat; [lra | apply Rmult_lt_0_compat; lra]).
  assert (Unit : L * alpha * (1 + m) = 1) by (rewrite Halpha; field; lra).
  assert (One : forall h, alpha / 2 * norm d (grad_f (drawn_run h)) ^ 2 <=
    f (drawn_run h) + (sum count (fun w => q w * last_forgetting (w :: h))
      + - sum count (fun w => q w * f (drawn_run (w :: h))))).
  { intro h. set (x := drawn_run h). set (S := delayed_sum P beta E (order h) x).
    assert (Q : sum count (fun w => q w * f (drawn_run (w :: h))) <=
      sum count (fun w => ((((f x - (alpha - L * alpha ^ 2 / 2) * norm d (grad_f x) ^ 2) * q w
        + L * alpha ^ 2 / 2 * (q w * norm d (b w x) ^ 2)) + (L * alpha ^ 2 - alpha) * (q w * dot d (grad_f x) (b w x)))
        + beta * (q w * dot d S (b w x))) + q w * last_forgetting (w :: h))).
    { apply sum_le. intros w Hw.
      pose proof (smooth_round P L alpha beta E (order h) (fun i => memory w i x) x f grad_f unit Smooth) as R.
      fold d S in R. change (drawn_run (w :: h)) with (round P alpha beta E (order h) (fun i => memory w i x) x).
      unfold last_forgetting, forgetting. fold x S d. set (v := memory_mean P (fun i => memory w i x)) in *.
      assert (V : v = grad_f x +^ b w x) by (unfold b; fold v; vector).
      pose proof (proj1 q_weights w Hw) as Q0. apply Rmult_le_compat_l with (r := q w) in R; [|exact Q0].
      eapply Rle_trans; [exact R|]. right. rewrite !norm_pow2, V. expand_dots.
      rewrite (dot_comm d (b w x) (grad_f x)), (dot_comm d (b w x) S). field. }
    rewrite !sum_add, !sum_scale, !(no_bias Unbiased), (proj2 q_weights) in Q. specialize (Bias x).
    assert (B : L * alpha ^ 2 / 2 * sum count (fun w => q w * norm d (b w x) ^ 2)
      <= L * alpha ^ 2 / 2 * (m * norm d (grad_f x) ^ 2))
        by (apply Rmult_le_compat_l; [nonneg; apply pow2_ge_0 | exact Bias]).
    assert (Half : alpha - L * alpha ^ 2 / 2 - L * alpha ^ 2 / 2 * m = alpha / 2).
    { replace (alpha - L * alpha ^ 2 / 2 - L * alpha ^ 2 / 2 * m)
        with (alpha - alpha / 2 * (L * alpha * (1 + m))) by field.
      rewrite Unit. field. }
    rewrite <- Half. fold x. lra. }
  assert (Sum : alpha / 2 * sum T (fun t => average t (fun h => norm d (grad_f (drawn_run h)) ^ 2)) <=
    f x0 - average T (fun h => f (drawn_run h)) + sum T (fun t => average (Datatypes.S t) last_forgetting)).
  { change (f x0) with (average 0 (fun h => f (drawn_run h))).
    rewrite <- (sum_telescopes T (fun t => average t (fun h => f (drawn_run h)))), <- sum_add, <- sum_scale.
    apply sum_le. intros t _. pose proof (average_le t _ _ One) as M. rewrite average_scale, !average_add in M.
    rewrite (average_ext t (fun h => - sum count (fun w => q w * f (drawn_run (w :: h))))
      (fun h => (-1) * sum count (fun w => q w * f (drawn_run (w :: h))))) in M by (intros; ring).
    rewrite average_scale in M. rewrite !average_tower. lra. }
  pose proof (least_times_count T (fun t => average t (fun h => norm d (grad_f (drawn_run h)) ^ 2))) as Least.
  pose proof (INR_pos T HT) as TP. apply Rmult_le_reg_l with (alpha / 2 * INR T); [nra|].
  match goal with |- _ <= alpha / 2 * INR T * (2 * L * (1 + m) / INR T * ?Z) =>
    replace (alpha / 2 * INR T * (2 * L * (1 + m) / INR T * Z)) with (L * alpha * (1 + m) * Z) by (field; lra) end.
  rewrite Unit. apply Rmult_le_compat_l with (r := alpha / 2) in Least; lra.
Qed.

(** Ledger: ours.redrawn, with the expectation as a finite average over draws. *)
Theorem redrawn_draws :
  0 < L -> 0 < alpha -> L * alpha <= 1 -> 0 < beta -> 0 <= m -> L * alpha * m < 1 -> (0 < T)%nat ->
  regular P L -> smooth d L f grad_f ->
  unbiased ->
  (forall x, sum count (fun w => q w * norm d (b w x) ^ 2) <= m * norm d (grad_f x) ^ 2) ->
  sum T (fun t => average t (fun h => norm d (grad_f (drawn_run h)) ^ 2)) / INR T <=
    (2 * (f x0 - average T (fun h => f (drawn_run h))) / (alpha * INR T)
     + (((1 + beta * L) ^ E - 1) / (L * alpha)) ^ 2
       * (sum T (fun t => average t (fun h => norm d (grad_current P (drawn_run h)) ^ 2)) / INR T))
    / (1 - L * alpha * m).
Proof.
  intros HL Ha HLa Hb Hm HLam HT Reg Smooth Unbiased Bias.
  replace (((1 + beta * L) ^ E - 1) / (L * alpha)) with (((1 + beta * L) ^ E - 1) / L / alpha) by (field; lra).
  apply (summed T alpha (1 - L * alpha * m) (((1 + beta * L) ^ E
    - 1) / L) (fun t => average t (fun h => f (drawn_run h))));
    try assumption; try lra.
  intros t Ht. rewrite average_tower. set (c := (((1 + beta * L) ^ E - 1) / L) ^ 2 / (2 * alpha)).
  pose proof (no_bias Unbiased) as NoBias.
  assert (One : forall h, sum count (fun w => q w * f (drawn_run (w :: h))) <=
    f (drawn_run h) + (- (alpha / 2 * (1 - L * alpha * m)) * norm d (grad_f (drawn_run h)) ^ 2
      + c * norm d (grad_current P (drawn_run h)) ^ 2)).
  { intro h. set (x := drawn_run h). set (S := delayed_sum P beta E (order h) x).
    apply Rle_trans with (sum count (fun w => (((f x - alpha / 2 * norm d (grad_f x) ^ 2
      + c * norm d (grad_current P x) ^ 2) * q w
      + (L * alpha ^ 2 - alpha) * (q w * dot d (grad_f x) (b w x))) + L * alpha ^ 2 / 2 * (q w * norm d (b w x) ^ 2))
      + L * alpha * beta * (q w * dot d S (b w x)))).
    - apply sum_le. intros w Hw.
      pose proof (round_redrawn P L alpha beta E (order h) (fun i => memory w i x) x f grad_f HL Ha HLa Hb Reg
        Smooth) as R.
      fold d in R. fold (b w x) in R. fold S c in R. rewrite (dot_comm d (b w x) S) in R.
      change (drawn_run (w :: h)) with (round P alpha beta E (order h) (fun i => memory w i x) x).
      pose proof (proj1 q_weights w Hw) as Q0. apply Rmult_le_compat_l with (r := q w) in R; [|exact Q0]. lra.
    - rewrite !sum_add, !sum_scale, !NoBias, (proj2 q_weights). specialize (Bias x).
      assert (B : L * alpha ^ 2 / 2 * sum count (fun w => q w * norm d (b w x) ^ 2)
        <= L * alpha ^ 2 / 2 * (m * norm d (grad_f x) ^ 2)).
      { apply Rmult_le_compat_l; [|exact Bias]. apply Rmult_le_pos; [|lra].
        apply Rmult_le_pos; [lra | apply pow2_ge_0]. }
      fold x. nra. }
  pose proof (average_le t _ _ One) as M. rewrite !average_add, !average_scale in M. fold d. lra.
Qed.

End Draws.
