(** * Instances: the hypotheses of the theorems can be met

    For every headline an instance that meets all its hypotheses, so that none of them is true for want of one.  The
    instances are quadratics with any number of clients, components and coordinates. *)

Require Import Reals Lra Psatz Arith Lia List.
From CFlag Require Import Vectors Smoothness Algorithm1 Descent Exponential Drift Sums Terms Adaptive AdaptiveRates DrawnOnce Redrawn
  Surrogate Union FirstRounds Theorem5 AverageForgetting.
Open Scope R_scope.
Open Scope vec_scope.

(** g_ij(x) = ||x - target i j||^2 / 2, so that L = 1. *)
Definition shifted (d N : nat) (p : nat -> R) (size : nat -> nat) (target : nat -> nat -> vec) : problem :=
  Problem d N p size (fun i j x => x -^ target i j).

Lemma shift_lipschitz : forall d u, lipschitz d 1 (fun x => x -^ u).
Proof. intros d u x y. replace (x -^ u -^ (y -^ u)) with (x -^ y) by vector. lra. Qed.

Lemma shifted_regular : forall d N p size target, weights N p -> (forall i, (i < N)%nat -> (0 < size i)%nat) ->
  regular (shifted d N p size target) 1.
Proof. intros d N p size target Hp Hs. split; [exact Hp|]. split; [exact Hs|]. intros; apply shift_lipschitz. Qed.

(** f(x) = ||x||^2 / 2. *)
Definition half_square (d : nat) (x : vec) : R := norm d x ^ 2 / 2.

Lemma half_square_smooth : forall d, smooth d 1 (half_square d) (fun x => x).
Proof.
  intros d x y. unfold half_square. rewrite !norm_pow2. expand_dots. rewrite (dot_comm d y x). lra.
Qed.

(** It has the gradient x, and the descent inequality follows from Assumption 1 as well. *)
Lemma half_square_gradient : forall d, gradient d (half_square d) (fun x => x).
Proof.
  intros d x v e He. assert (Q : 0 < dot d v v + 1) by (pose proof (dot_self_nonneg d v); lra).
  exists (mkposreal _ (Rdiv_lt_0_compat _ _ He Q)). intros h Hh Hs. simpl in Hs.
  replace ((half_square d (x +^ (0 + h) *^ v) - half_square d (x +^ 0 *^ v)) / h - dot d x v)
    with (h * (dot d v v / 2)).
  - rewrite Rabs_mult. rewrite (Rabs_pos_eq (dot d v v / 2)) by (pose proof (dot_self_nonneg d v); lra).
    pose proof (Rabs_pos h) as H0. pose proof (dot_self_nonneg d v) as V0.
    apply Rmult_lt_compat_r with (r := dot d v v + 1) in Hs; [|exact Q].
    replace (e / (dot d v v + 1) * (dot d v v + 1)) with e in Hs by (field; lra). nra.
  - unfold half_square. rewrite !norm_pow2. expand_dots. rewrite (dot_comm d v x). field. exact Hh.
Qed.

Lemma half_square_assumption1 : forall d, smooth d 1 (half_square d) (fun x => x).
Proof.
  intro d. apply lipschitz_smooth; [apply half_square_gradient|]. intros x y. simpl. lra.
Qed.

Section Quadratics.

Variables (d N : nat) (p : nat -> R) (size : nat -> nat) (target : nat -> nat -> vec).
Hypothesis p_weights : weights N p.
Hypothesis sizes : forall i, (i < N)%nat -> (0 < size i)%nat.

Let P := shifted d N p size target.
Let f := half_square d.
Let grad_f := fun x : vec => x.

Lemma memory_of_scaled : forall s x, memory_mean P (fun _ => s *^ x) = s *^ x.
Proof. intros s x. unfold memory_mean. simpl. rewrite vsum_weights, (proj2 p_weights). vector. Qed.

Lemma scaled_bias : forall s (x : vec), norm d (s *^ x -^ x) ^ 2 = (s - 1) ^ 2 * norm d x ^ 2.
Proof. intros s x. rewrite !norm_pow2. expand_dots. ring. Qed.

(** drawn_once: a memory that keeps half the gradient, m = 1/4; any step sizes in the range, any E, T, orders, start. *)
Theorem drawn_once_instance : forall alpha beta E T order x0, 0 < alpha <= 1 -> 0 < beta -> (0 < T)%nat ->
  let x := run P (fun _ => alpha) (fun _ => beta) E order (fun _ _ x => (1 / 2) *^ x) x0 in
  sum T (fun t => norm d (x t) ^ 2) / INR T <=
    2 * (f x0 - f (x T)) / (alpha * (1 - sqrt (1 / 4)) * INR T)
    + (((1 + beta * 1) ^ E - 1) / (1 * alpha * (1 - sqrt (1 / 4)))) ^ 2
      * (sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T).
Proof.
  intros alpha beta E T order x0 Ha Hb HT x.
  apply (drawn_once P 1 alpha beta (1 / 4) E T order (fun _ _ x => (1 / 2) *^ x) x0 f grad_f); try lra; try assumption.
  - apply shifted_regular; assumption.
  - apply half_square_smooth.
  - intros t Ht. rewrite memory_of_scaled. unfold grad_f. change (dim P) with d. rewrite scaled_bias. right. lra.
Qed.

(** redrawn_draws: with m = 4 and alpha = 1/(L (1 + m)) two memories, of gradient 3 x and - x, each drawn with
    probability 1/2 in every round. *)
Theorem redrawn_draws_instance : forall beta E T order x0, 0 < beta -> (0 < T)%nat ->
  let memory := fun w (_ : nat) (x : vec) => (if Nat.eqb w 0 then 3 else -1) *^ x in
  let q := fun _ : nat => 1 / 2 in
  let x := drawn_run P (1 / 5) beta E order memory x0 in
  sum T (fun t => average 2 q t (fun h => norm d (x h) ^ 2)) / INR T <=
    (2 * (f x0 - average 2 q T (fun h => f (x h))) / (1 / 5 * INR T)
     + (((1 + beta * 1) ^ E - 1) / (1 * (1 / 5))) ^ 2
       * (sum T (fun t => average 2 q t (fun h => norm d (grad_current P (x h)) ^ 2)) / INR T))
    / (1 - 1 * (1 / 5) * 4).
Proof.
  intros beta E T order x0 Hb HT memory q x.
  apply (redrawn_draws P 1 (1 / 5) beta 4 E T 2 q order memory x0 f grad_f); try lra; try assumption.
  - split; [intros; unfold q; lra | simpl; unfold q; lra].
  - apply shifted_regular; assumption.
  - apply half_square_smooth.
  - intro y. unfold memory. apply vec_eq. intro c.
    transitivity ((q 0%nat *^ memory_mean P (fun _ => 3 *^ y) +^ q 1%nat *^ memory_mean P (fun _ => (-1) *^ y)) c).
    + unfold vsum, vadd. simpl. ring.
    + rewrite !memory_of_scaled. unfold q, grad_f, vadd, vscale. field.
  - intro y. unfold memory, grad_f. simpl sum. change (dim P) with d.
    rewrite !memory_of_scaled. unfold q. pose proof (scaled_bias 3 y). pose proof (scaled_bias (-1) y). nra.
Qed.

(** redrawn, for an expectation over a fair coin: the same two memories in the first round. *)
Theorem redrawn_instance : forall beta E order x0, 0 < beta ->
  let Ex := fun F : bool -> R => 1 / 2 * F true + 1 / 2 * F false in
  let memory := fun (w : bool) (_ _ : nat) (x : vec) => (if w then 3 else -1) *^ x in
  let x := fun w => run P (fun _ => 1 / 5) (fun _ => beta) E order (memory w) x0 in
  sum 1 (fun t => Ex (fun w => norm d (x w t) ^ 2)) / INR 1 <=
    (2 * (Ex (fun w => f (x w 0%nat)) - Ex (fun w => f (x w 1%nat))) / (1 / 5 * INR 1)
     + (((1 + beta * 1) ^ E - 1) / (1 * (1 / 5))) ^ 2
       * (sum 1 (fun t => Ex (fun w => norm d (grad_current P (x w t)) ^ 2)) / INR 1))
    / (1 - 1 * (1 / 5) * 4).
Proof.
  intros beta E order x0 Hb Ex memory x.
  apply (redrawn bool Ex P 1 (1 / 5) beta 4 E 1 (fun _ => order) memory (fun _ => x0) f grad_f); try lra; try lia;
    try assumption.
  - unfold Ex. split; [intros; lra|]. split; [intros; lra|]. split; [|lra].
    intros F G H. pose proof (H true). pose proof (H false). lra.
  - apply shifted_regular; assumption.
  - apply half_square_smooth.
  - intros t Ht. replace t with 0%nat by lia. unfold Ex, memory, grad_f. simpl run. rewrite !memory_of_scaled.
    change (dim P) with d. rewrite !scaled_bias. right. field.
  - intros t Ht. replace t with 0%nat by lia. unfold Ex, memory, grad_f. simpl run. rewrite !memory_of_scaled.
    change (dim P) with d. expand_dots. field.
  - intros t Ht. replace t with 0%nat by lia. unfold Ex, memory, grad_f. simpl run. rewrite !memory_of_scaled.
    change (dim P) with d. expand_dots. field.
Qed.

(** lemma3_surrogate: h~ is the weighted mean of the clients' means of the components. *)
Definition h_shifted (x : vec) : R :=
  sum N (fun i => p i * rmean (size i) (fun j => norm d (x -^ target i j) ^ 2 / 2)).

Lemma rmean_linear : forall n a b c, (0 < n)%nat -> rmean n (fun j => a j + b j + c) = rmean n a + rmean n b + c.
Proof.
  intros n a b c Hn. unfold rmean. rewrite (sum_ext n _ (fun j => (a j + b j) + c * 1)) by (intros; ring).
  rewrite !sum_add, sum_scale, sum_const. pose proof (INR_pos n Hn). field. lra.
Qed.

Lemma dot_mean : forall n (u : nat -> vec) w, dot d (vmean n u) w = rmean n (fun j => dot d (u j) w).
Proof.
  intros n u w. unfold vmean, rmean. rewrite dot_scale_l, dot_comm, dot_sum_r. f_equal. apply sum_ext.
  intros; apply dot_comm.
Qed.

Lemma h_shifted_smooth : smooth d 1 h_shifted (grad_current P).
Proof.
  intros x y. right. unfold h_shifted, grad_current. rewrite dot_comm, dot_sum_r. simpl clients. simpl weight.
  replace (1 / 2 * norm d (y -^ x) ^ 2) with (sum N (fun i => p i * (1 / 2 * norm d (y -^ x) ^ 2))).
  - rewrite <- !sum_add. apply sum_ext. intros i Hi. rewrite dot_scale_r, dot_comm. unfold grad_client.
    rewrite dot_mean.
    rewrite <- !Rmult_plus_distr_l. f_equal. rewrite <- rmean_linear by (apply sizes; exact Hi).
    unfold rmean. apply Rmult_eq_compat_l, sum_ext. intros j _. simpl slope. rewrite !norm_pow2. expand_dots.
    rewrite (dot_comm d y x), (dot_comm d (target i j) y), (dot_comm d (target i j) x). field.
  - rewrite (sum_ext N _ (fun i => (1 / 2 * norm d (y -^ x) ^ 2) * p i)) by (intros; ring).
    rewrite sum_scale, (proj2 p_weights). ring.
Qed.

Theorem lemma3_surrogate_instance : forall E T order x0, (1 <= E)%nat -> (1 <= T)%nat ->
  let beta := 1 / (30 * 1 * INR E) in
  let x := union_run P beta E (grad_current P) order x0 in
  least T (fun t => norm d (grad_current P (x t)) ^ 2) <= 60 * 1 / INR T * (h_shifted x0 - h_shifted (x T)).
Proof.
  intros E T order x0 HE HT beta x.
  apply (lemma3_surrogate P 1 beta E h_shifted); try assumption; try lra; try reflexivity.
  - unfold beta. assert (0 < INR E) by (apply INR_pos; lia). apply Rdiv_lt_0_compat; lra.
  - apply shifted_regular; assumption.
  - exact h_shifted_smooth.
Qed.

(** algorithm1_descent_step: f_memory = ||x||^2 / 2. *)
Theorem algorithm1_descent_instance : forall E T order x0, (1 <= E)%nat -> (1 <= T)%nat ->
  let beta := 1 / (30 * 1 * INR E) in
  let memory := fun (_ : nat) (y : vec) => 1 *^ y in
  let x := run P (fun _ => beta) (fun _ => beta) E order (fun _ => memory) x0 in
  let hat := descended beta beta E f h_shifted in
  least T (fun t => norm d (grad_descended P beta beta E memory (x t)) ^ 2) <=
    60 * 1 * INR E / ((1 + INR E) * INR T) * (hat x0 - hat (x T))
    + ((INR E - 1) / (59 * (INR E + 1))) ^ 2 * (sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T).
Proof.
  intros E T order x0 HE HT beta memory x hat. assert (0 < INR E) by (apply INR_pos; lia).
  assert (B0 : 0 < beta) by (unfold beta; apply Rdiv_lt_0_compat; lra).
  apply (algorithm1_descent_step P 1 beta beta E T order x0 f h_shifted memory); try assumption; try reflexivity;
    try lra.
  - apply shifted_regular; assumption.
  - intros y z. unfold memory. rewrite memory_of_scaled. replace (1 *^ y) with y by vector. apply half_square_smooth.
  - exact h_shifted_smooth.
Qed.

(** lemma1: m = 1/4 as above, with Gamma(t) of (35). *)
Theorem lemma1_instance : forall alpha beta E order x, 0 < alpha < 2 / (1 * (1 + 1 / 4)) ->
  let memory := fun _ : nat => (1 / 2) *^ x in
  norm d x ^ 2 <= 1 / (alpha * (1 - 1 / 2 * alpha * (1 + 1 / 4)))
    * (f x - f (round P alpha beta E order memory x)
       + overfitting P 1 alpha beta E order memory x grad_f + Descent.forgetting P 1 alpha beta E order memory x (1 /
           2)).
Proof.
  intros alpha beta E order x Ha memory.
  apply (lemma1 P 1 alpha beta E order memory x f grad_f (proj2 p_weights) (half_square_smooth d) (1 / 4) (1 / 2));
    try lra.
  unfold memory. rewrite memory_of_scaled. unfold grad_f. change (dim P) with d. rewrite scaled_bias. right. lra.
Qed.

(** eq158: the memory's gradient is r times that of g, here with r = 1. *)
Theorem eq158_instance : forall alpha beta E order x, alpha <= 1 -> 0 < beta -> beta * INR E <= 1 / 12 ->
  Terms.Gamma P 1 alpha beta E order x (grad_current P x) <= bracket 1 alpha beta 1 E * norm d (grad_current P x) ^ 2.
Proof.
  intros alpha beta E order x Ha Hb H. apply (eq158 P 1 alpha beta 1 E order x (grad_current P x)); try lra.
  apply shifted_regular; assumption.
Qed.

(** theorem2: the two memories of above. *)
Theorem theorem2_instance : forall beta E T order x0, (0 < T)%nat ->
  let memory := fun w (_ : nat) (x : vec) => (if Nat.eqb w 0 then 3 else -1) *^ x in
  let q := fun _ : nat => 1 / 2 in
  let x := drawn_run P (1 / (1 * (1 + 4))) beta E order memory x0 in
  least T (fun t => average 2 q t (fun h => norm d (x h) ^ 2)) <=
    2 * 1 * (1 + 4) / INR T * (f x0 - average 2 q T (fun h => f (x h))
      + sum T (fun t => average 2 q (Datatypes.S t)
          (last_forgetting P 1 (1 / (1 * (1 + 4))) beta E order memory x0))).
Proof.
  intros beta E T order x0 HT memory q x.
  apply (theorem2 P 1 (1 / (1 * (1 + 4))) beta 4 E T 2 q order memory x0 f grad_f); try lra; try assumption.
  - split; [intros; unfold q; lra | simpl; unfold q; lra].
  - exact (proj2 p_weights).
  - apply half_square_smooth.
  - intro y. unfold memory. apply vec_eq. intro c.
    transitivity ((q 0%nat *^ memory_mean P (fun _ => 3 *^ y) +^ q 1%nat *^ memory_mean P (fun _ => (-1) *^ y)) c).
    + unfold vsum, vadd. simpl. ring.
    + rewrite !memory_of_scaled. unfold q, grad_f, vadd, vscale. field.
  - intro y. unfold memory, grad_f. simpl sum. change (dim P) with d.
    rewrite !memory_of_scaled. unfold q. pose proof (scaled_bias 3 y). pose proof (scaled_bias (-1) y). nra.
Qed.

(** theorem5_every_T: one of two memories drawn once, of gradient (1/2) x and (3/2) x, so that m = 1/4; any c, beta
    and T in the range. *)
Theorem theorem5_instance : forall c beta E T order x0, 0 < c -> 0 < beta -> beta < c / sqrt (INR T) -> (1 <= E)%nat ->
  (0 < T)%nat ->
  let alpha := 1 / (1 * (1 + 1 / 4)) in
  let Ex := fun F : bool -> R => 1 / 2 * F true + 1 / 2 * F false in
  let memory := fun (w : bool) (_ _ : nat) (x : vec) => (if w then 1 / 2 else 3 / 2) *^ x in
  let x := fun w => run P (fun _ => alpha) (fun _ => beta) E order (memory w) x0 in
  least T (fun t => Ex (fun w => norm d (x w t) ^ 2)) <= C_every_T P 1 alpha (1 / 4) c E x0 f grad_f 0 / sqrt (INR T).
Proof.
  intros c beta E T order x0 Hc Hb Hbeta HE HT alpha Ex memory x.
  apply (theorem5_every_T bool Ex P 1 alpha beta (1 / 4) c E T (fun _ => order) memory x0 f grad_f 0);
    try lra; try assumption; try reflexivity.
  - apply shifted_regular; assumption.
  - apply half_square_smooth.
  - intro y. unfold f, half_square. assert (0 <= norm d y ^ 2) by nonneg. lra.
  - intros w t. unfold memory. rewrite memory_of_scaled. unfold grad_f. change (dim P) with d. rewrite scaled_bias.
    right. destruct w; field.
  - unfold Ex. split; [intros; lra|]. split; [intros; lra|]. split; [|lra].
    intros F G H. pose proof (H true). pose proof (H false). lra.
Qed.

(** lemma4: the memory's gradient is that of g, so that r = 1; one run, [G2] its own mean of ||grad g||^2. *)
Theorem lemma4_instance : forall alpha beta c E T order x0, 0 < alpha < 2 / (1 * (1 + 0)) -> 0 < beta -> 0 < c ->
  beta < c / sqrt (INR T) -> (1 <= E)%nat -> (0 < T)%nat ->
  let x := run P (fun _ => alpha) (fun _ => beta) E order (fun _ i y => grad_client P i y) x0 in
  let G2 := sum T (fun t => norm d (grad_current P (x t)) ^ 2) / INR T in
  let K := (exp (c * 1 * INR E) - 1) / (c * 1) in
  sum T (fun t => Terms.Gamma P 1 alpha beta E (order t) (x t) (grad_current P (x t))) / INR T <=
    (c * 1 * K + 1 * c ^ 2 * K ^ 2 / 2) * G2 * (1 / INR T + 1 / sqrt (INR T)).
Proof.
  intros alpha beta c E T order x0 Ha Hb Hc Hbeta HE HT x G2 K.
  apply (lemma4 unit (fun F => F tt) P 1 alpha beta 1 G2 E T (fun _ => order) (fun _ _ i y => grad_client P i y) (fun
    _ => x0))
    with (m := 0); try lra; try assumption.
  - split; [reflexivity|]. split; [reflexivity|]. split; [intros F G H; apply H | reflexivity].
  - apply shifted_regular; assumption.
  - intros w t _. change (memory_mean P (fun l => grad_client P l
      (run P (fun _ => alpha) (fun _ => beta) E order (fun _ i y => grad_client P i y) x0 t)))
        with (grad_current P (x t)).
    right. change (dim P) with d. unfold x. ring.
  - unfold G2. right. reflexivity.
Qed.

(** adaptive_descent: the memory of above, the cautious rate itself in every round. *)
Theorem adaptive_descent_instance : forall alpha beta E order x0 T, 0 < alpha <= 1 -> (0 < T)%nat ->
  let x := adaptive_algorithm P alpha beta E order (fun _ _ y => (1 / 2) *^ y) x0
    (fun _ => cautious_rate d 1 alpha (sqrt (1 / 4))) in
  sum T (fun t => norm d (x t) ^ 2) / INR T <=
    (f x0 - 0) / (alpha * (1 - sqrt (1 / 4)) * (1 - 1 * alpha * (1 - sqrt (1 / 4)) / 2) * INR T).
Proof.
  intros alpha beta E order x0 T Ha HT x.
  apply (adaptive_descent P 1 alpha (1 / 4) beta E order (fun _ _ y => (1 / 2) *^ y) x0 f grad_f
    (fun _ => cautious_rate d 1 alpha (sqrt (1 / 4)))); try lra; try assumption.
  - apply half_square_smooth.
  - intros t v S. change (dim P) with d.
    assert (0 <= cautious_rate d 1 alpha (sqrt (1 / 4)) v S); [|lra].
    unfold cautious_rate. destruct (Req_dec (norm d S) 0) as [Z|NZ].
    + rewrite Z. replace (1 * 0 ^ 2) with 0 by ring. unfold Rdiv. rewrite Rinv_0. lra.
    + apply Rmult_le_pos; [apply Rmax_l|]. apply Rlt_le, Rinv_0_lt_compat.
      pose proof (norm_nonneg d S). assert (0 < norm d S ^ 2) by (apply pow_lt; lra). lra.
  - intro t. rewrite memory_of_scaled. unfold grad_f. change (dim P) with d. rewrite scaled_bias. right. field.
  - intro y. unfold f, half_square. assert (0 <= norm d y ^ 2) by nonneg. lra.
Qed.

End Quadratics.

(** lemma3_surrogate_by_sizes: every client keeps a memory as large as its current data, of loss ||x||^2/2 all. *)
Theorem by_sizes_instance : forall d N p size E T order x0, weights N p -> (0 < N)%nat ->
  (forall i, (i < N)%nat -> (0 < size i)%nat) -> (1 <= E)%nat -> (1 <= T)%nat ->
  let slope := fun (_ _ : nat) (x : vec) => x in
  let beta := 1 / (30 * 1 * INR E) in
  let U := union_problem d N p size size slope slope in
  let grad_h := grad_by_sizes N p size size slope slope in
  let x := union_run U beta E grad_h order x0 in
  least T (fun t => norm d (grad_h (x t)) ^ 2) <= 60 * 1 / INR T * (half_square d x0 - half_square d (x T)).
Proof.
  intros d N p size E T order x0 Hp HN Hs HE HT slope beta U grad_h x.
  assert (Q : 0 < sum N (fun i => INR (size i))).
  { clear -HN Hs. induction N as [|n IH]; [lia|]. simpl. destruct n as [|n].
    - simpl. pose proof (INR_pos _ (Hs 0%nat ltac:(lia))). lra.
    - specialize (IH ltac:(lia) ltac:(intros; apply Hs; lia)). pose proof (pos_INR (size (Datatypes.S n))). lra. }
  assert (Half : share N size size = 1 / 2) by (unfold share; field; lra).
  apply (lemma3_surrogate_by_sizes d N p size size slope slope); try lra; try assumption; try reflexivity.
  - split; [exact Hp|]. split; [intros i Hi; simpl; pose proof (Hs i Hi); lia|].
    intros i j _ _ y z. simpl. destruct (Nat.ltb j (size i)); unfold slope; lra.
  - assert (G : grad_by_sizes N p size size slope slope = fun y => y).
    { apply FunctionalExtensionality.functional_extensionality. intro y.
      unfold grad_by_sizes, grad_memory, grad_g, slope.
      rewrite Half. replace (vsum N (fun i => p i *^ vmean (size i) (fun _ => y))) with y; [vector; field|].
      rewrite (vsum_ext N _ (fun i => p i *^ y)); [rewrite vsum_weights, (proj2 Hp); vector|].
      intros i Hi. f_equal. unfold vmean. rewrite vsum_const. pose proof (INR_pos _ (Hs i Hi)). vector. field. lra. }
    rewrite G. apply half_square_smooth.
  - intros i Hi. rewrite Half. unfold share_of. pose proof (INR_pos _ (Hs i Hi)). field. lra.
Qed.

(** lemma7_average: two clients in the plane with orthogonal a_i, both with transference. *)
Definition axis (k : nat) : vec := fun c => if Nat.eqb c k then 1 else 0.

Theorem lemma7_average_instance : forall alpha beta, 0 < alpha < 1 ->
  let p := fun _ : nat => 1 / 2 in let v := axis 0 +^ axis 1 in
  Gamma_adapted 2 2 p 1 alpha beta v axis 1 <= Adaptive.Gamma 2 2 p 1 alpha beta v axis.
Proof.
  intros alpha beta Ha p v. apply (lemma7_average 2 2 p 1 alpha beta 1); try lra.
  - split; [intros; unfold p; lra | simpl; unfold p; lra].
  - intros; unfold p; lra.
  - unfold norm, dot, v, vadd, axis. simpl. apply sqrt_lt_R0. lra.
  - intros i _. unfold dot, v, vadd, axis. simpl. destruct i as [|[|i]]; simpl; lra.
  - unfold cross, dot, axis. simpl. ring.
  - right. unfold cross, dot, axis. simpl. ring.
Qed.
