(** * Adaptive rates: what is true of (15), (16), Table 1 and Lemmas 6 and 7, and what we have instead

    A round has brought the vectors a_i = sum_k grad g_i'(x_{t,k}^i) (in Algorithm 1: [client_sum]), S = sum_i p_i a_i
    ([delayed_sum]) and v = grad f_memory(x_t); rates are chosen for these, as when displacements are rescaled after the
    local steps.  q stands for 1 - L alpha. *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness Algorithm1 Descent.
Open Scope R_scope.
Open Scope vec_scope.

(** Gamma(t) of (15) at the rate [step], and a client's term of it, (184) and (189), with weight w = p_i or N p_i. *)
Definition forgetting (L alpha norm2 product step : R) : R :=
  L * step ^ 2 * norm2 / 2 - step * (1 - L * alpha) * product.

(** ** One product: (16), Table 1 and Lemma 6 *)

(** 1 - L alpha > 0 where m > 1.  Ledger: cflag.sec5_sign. *)
Theorem sec5_sign : forall L alpha m, 0 < L -> 1 < m -> 0 < alpha < 2 / (L * (1 + m)) -> 0 < 1 - L * alpha.
Proof.
  intros L alpha m HL Hm [Ha0 Ha]. apply Rmult_lt_compat_r with (r := L * (1 + m)) in Ha; [|nra].
  replace (2 / (L * (1 + m)) * (L * (1 + m))) with 2 in Ha by (field; nra). nra.
Qed.

Section Quadratic.

Variables (L alpha norm2 product : R).
Hypothesis L_positive : 0 < L.

(** The rate of (16), and of Table 1 under transference with norm2 = w ||a_i||^2. *)
Definition best_rate : R := (1 - L * alpha) * product / (L * norm2).

(** What a rate loses against it. *)
Lemma gap_to_best : forall beta, 0 < norm2 ->
  forgetting L alpha norm2 product beta =
  forgetting L alpha norm2 product best_rate + L * norm2 / 2 * (beta - best_rate) ^ 2.
Proof. intros beta H. unfold forgetting, best_rate. field. lra. Qed.

(** Ledger: cflag.eq16, part minimiser. *)
Theorem best_rate_minimises : forall beta, 0 < norm2 ->
  forgetting L alpha norm2 product best_rate <= forgetting L alpha norm2 product beta.
Proof.
  intros beta H. rewrite (gap_to_best beta H). assert (0 <= L * norm2 / 2 * (beta - best_rate) ^ 2) by nonneg. lra.
Qed.

(** Ledger: cflag.eq16, part step size, repaired: alpha < 1/L. *)
Theorem best_rate_positive : 0 < norm2 -> 0 < product -> L * alpha < 1 -> 0 < best_rate.
Proof. intros H P Ha. unfold best_rate. apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; lra. Qed.

(** Ledger: cflag.eq16, part value, repaired: no expectation. *)
Theorem best_value : 0 < norm2 ->
  forgetting L alpha norm2 product best_rate = - ((1 - L * alpha) ^ 2 * product ^ 2) / (2 * L * norm2).
Proof. intro H. unfold forgetting, best_rate. field. lra. Qed.

(** The third difference over the rates 0, beta, 2 beta, 3 beta is zero. Ledger: cflag.eq16, part quadratic, repaired:
    S does not move with beta. *)
Theorem quadratic : forall beta,
  3 * forgetting L alpha norm2 product beta - 3 * forgetting L alpha norm2 product (2 * beta)
  + forgetting L alpha norm2 product (3 * beta) = 0.
Proof. intro beta. unfold forgetting. field. Qed.

End Quadratic.

Section OneClient.

Variables (d : nat) (L alpha : R) (v a_i : vec).
Hypothesis L_positive : 0 < L.

Let Lambda := dot d v a_i.

(** Where the product is not zero the vector is not, so that the rates of Table 1 and (16) are defined. *)
Lemma product_moves : Lambda <> 0 -> 0 < norm d a_i ^ 2.
Proof.
  intro H. pose proof (cauchy_schwarz d v a_i) as C. pose proof (cauchy_schwarz_neg d v a_i) as C'.
  fold Lambda in C, C'.
  pose proof (norm_nonneg d a_i). assert (norm d a_i <> 0).
  { intro Z. rewrite Z in C, C'. apply H. lra. }
  apply pow_lt. lra.
Qed.

(** Ledger: ours.adaptive_server, part transference; a_i is here S, and Lambda_i is Lambda. *)
Theorem server_transference : forall beta, 0 < (1 - L * alpha) * Lambda ->
  let best := best_rate L alpha (norm d a_i ^ 2) Lambda in
  forgetting L alpha (norm d a_i ^ 2) Lambda best =
  forgetting L alpha (norm d a_i ^ 2) Lambda beta - L * norm d a_i ^ 2 / 2 * (beta - best) ^ 2.
Proof.
  intros beta H best. assert (M : 0 < norm d a_i ^ 2) by (apply product_moves; intro Z; rewrite Z in H; lra).
  rewrite (gap_to_best L alpha _ Lambda L_positive beta M). unfold best. ring.
Qed.

(** Ledger: ours.adaptive_server, part interference. *)
Theorem server_interference : forall beta, 0 < beta -> (1 - L * alpha) * Lambda <= 0 ->
  forgetting L alpha (norm d a_i ^ 2) Lambda 0 = 0 /\
  L * beta ^ 2 * norm d a_i ^ 2 / 2 <= forgetting L alpha (norm d a_i ^ 2) Lambda beta.
Proof. intros beta Hb H. unfold forgetting. split; [field|]. nra. Qed.

(** alpha_{t,i} of Table 1 under interference. *)
Definition raised_alpha : R := alpha * (1 - Lambda / norm d v ^ 2).

Definition client_term (w beta : R) (memory_step : R) : R := forgetting L memory_step (w * norm d a_i ^ 2) Lambda beta.

(** Ledger: cflag.table1_transference, parts average (w = p_i) and worst (w = N p_i). *)
Theorem transference_minimises : forall w beta, 0 < w -> 0 < Lambda ->
  client_term w (best_rate L alpha (w * norm d a_i ^ 2) Lambda) alpha <= client_term w beta alpha.
Proof.
  intros w beta Hw H. apply best_rate_minimises; [exact L_positive|]. apply Rmult_lt_0_compat; [exact Hw|].
  apply product_moves. lra.
Qed.

(** Ledger: cflag.table1_transference, part step size, repaired: alpha < 1/L. *)
Theorem transference_rate_positive : forall w, 0 < w -> 0 < Lambda -> L * alpha < 1 ->
  0 < best_rate L alpha (w * norm d a_i ^ 2) Lambda.
Proof.
  intros w Hw H Ha. apply best_rate_positive; try assumption. apply Rmult_lt_0_compat; [exact Hw|].
  apply product_moves. lra.
Qed.

Lemma client_term_falls : forall w beta, 0 < norm d v ->
  client_term w beta raised_alpha = client_term w beta alpha - alpha * beta * L * Lambda ^ 2 / norm d v ^ 2.
Proof. intros w beta H. unfold client_term, forgetting, raised_alpha. field. lra. Qed.

(** Lemma 6 with beta_{t,i} = beta_t.  Ledger: cflag.lemma6, repaired; with beta = alpha also cflag.table1_interference,
    part lowers. *)
Theorem lemma6 : forall w beta, 0 < w -> 0 < alpha -> 0 < beta -> 0 < norm d v -> Lambda <= 0 ->
  client_term w beta raised_alpha <= client_term w beta alpha.
Proof.
  intros w beta Hw Ha Hb Hv _. rewrite client_term_falls by exact Hv.
  assert (0 <= alpha * beta * L * Lambda ^ 2 / norm d v ^ 2).
  { apply Rmult_le_pos; [nonneg | apply Rlt_le, Rinv_0_lt_compat, pow_lt; exact Hv]. }
  lra.
Qed.

(** Ledger: cflag.table1_interference, part feasible, repaired. *)
Theorem raised_alpha_feasible : forall m, 0 <= m -> 0 < alpha < 2 / (L * (1 + m)) -> 0 < norm d v -> Lambda <= 0 ->
  norm d a_i < (2 / (L * alpha * (1 + m)) - 1) * norm d v -> raised_alpha < 2 / (L * (1 + m)).
Proof.
  intros m Hm [Ha _] Hv _ Short. pose proof (cauchy_schwarz_neg d v a_i) as C. fold Lambda in C.
  set (n := norm d v) in *. assert (LM : 0 < L * (1 + m)) by (apply Rmult_lt_0_compat; lra).
  assert (LA : 0 < L * alpha * (1 + m)) by (repeat apply Rmult_lt_0_compat; lra).
  assert (Q : - Lambda < (2 / (L * alpha * (1 + m)) - 1) * n ^ 2).
  { apply Rle_lt_trans with (n * norm d a_i); [exact C|]. apply Rmult_lt_compat_l with (r := n) in Short; lra. }
  unfold raised_alpha. fold n. apply Rmult_lt_reg_r with (n ^ 2); [apply pow_lt; exact Hv|].
  replace (alpha * (1 - Lambda / n ^ 2) * n ^ 2) with (alpha * n ^ 2 + alpha * - Lambda) by (field; lra).
  apply Rmult_lt_compat_l with (r := alpha) in Q; [|exact Ha].
  replace (alpha * ((2 / (L * alpha * (1 + m)) - 1) * n ^ 2)) with (2 / (L * (1 + m)) * n ^ 2 - alpha * n ^ 2) in
    Q by (field; lra).
  lra.
Qed.

End OneClient.

(** ** All clients: (184), (187)-(188), Lemma 7 and what holds exactly *)

Section Clients.

Variables (d N : nat) (p : nat -> R) (L alpha beta : R) (v : vec) (a : nat -> vec).
Hypothesis p_weights : weights N p.
Hypothesis L_positive : 0 < L.

Let q := 1 - L * alpha.
Let Lambda (i : nat) := dot d v (a i).

(** sum_i p_i r_i a_i and its pieces: the clients' own squares, and the products of different clients. *)
Definition weighted (r : nat -> R) : vec := vsum N (fun i => p i *^ (r i *^ a i)).
Definition own (r : nat -> R) : R := sum N (fun i => p i ^ 2 * (r i ^ 2 * norm d (a i) ^ 2)).
Definition cross (r : nat -> R) : R :=
  sum N (fun i => sum N (fun j => if Nat.eqb i j then 0 else p i * p j * (r i * r j) * dot d (a i) (a j))).
Definition product (r : nat -> R) : R := sum N (fun i => p i * (r i * Lambda i)).

Let S := weighted (fun _ => 1).

Lemma single_out : forall n i b, (i < n)%nat -> sum n b = b i + sum n (fun j => if Nat.eqb i j then 0 else b j).
Proof.
  induction n as [|n IH]; intros i b H; [lia|]. simpl. destruct (Nat.eq_dec i n) as [->|Hn].
  - rewrite Nat.eqb_refl. rewrite (sum_ext n (fun j => if Nat.eqb n j then 0 else b j) b); [ring|].
    intros j Hj. replace (Nat.eqb n j) with false by (symmetry; apply Nat.eqb_neq; lia). reflexivity.
  - rewrite (IH i b) by lia. replace (Nat.eqb i n) with false by (symmetry; apply Nat.eqb_neq; exact Hn). ring.
Qed.

(** ||sum_i p_i r_i a_i||^2 = sum_i p_i^2 r_i^2 ||a_i||^2 + sum_{i <> j} p_i p_j r_i r_j <a_i, a_j>. *)
Lemma weighted_square : forall r, norm d (weighted r) ^ 2 = own r + cross r.
Proof.
  intro r. rewrite norm_pow2. unfold weighted at 2. rewrite dot_sum_r. unfold own, cross. rewrite <- sum_add.
  apply sum_ext. intros i Hi. rewrite dot_comm. unfold weighted. rewrite dot_sum_r, (single_out N i _ Hi), norm_pow2.
  f_equal; [expand_dots; ring|]. apply sum_ext. intros j _. destruct (Nat.eqb i j); [reflexivity|]. expand_dots. ring.
Qed.

Lemma weighted_product : forall r, dot d v (weighted r) = product r.
Proof.
  intro r. unfold weighted, product. rewrite dot_sum_r. apply sum_ext. intros i _. expand_dots.
  unfold Lambda. ring.
Qed.

Lemma weighted_const : forall c, weighted (fun _ => c) = c *^ S.
Proof.
  intro c. unfold S, weighted. rewrite <- vsum_scale. apply vsum_ext. intros i _. vector.
Qed.

(** Gamma(t) of (15), for constant rates. *)
Definition Gamma : R := forgetting L alpha (norm d S ^ 2) (dot d v S) beta.

(** (184): the average case. *)
Theorem eq184 : cross (fun _ => 1) = 0 ->
  Gamma = sum N (fun i => p i * forgetting L alpha (p i * norm d (a i) ^ 2) (Lambda i) beta).
Proof.
  intro Average.
  rewrite (sum_ext N _ (fun i => L * beta ^ 2 / 2 * (p i ^ 2 * (1 ^ 2 * norm d (a i) ^ 2))
    + - (beta * (1 - L * alpha)) * (p i * (1 * Lambda i)))) by (intros; unfold forgetting; field).
  rewrite sum_add, !sum_scale. unfold Gamma, S. rewrite weighted_square, weighted_product, Average.
  unfold forgetting, own, product. field.
Qed.

(** (189): the weighted sum of the clients' terms, each with N p_i ||a_i||^2.  Ledger: cflag.eq188, part 2, repaired. *)
Theorem eq189 : sum N (fun i => p i * forgetting L alpha (INR N * p i * norm d (a i) ^ 2) (Lambda i) beta) =
  L * beta ^ 2 / 2 * sum N (fun i => p i ^ 2 * INR N * norm d (a i) ^ 2)
  - beta * (1 - L * alpha) * sum N (fun i => p i * Lambda i).
Proof.
  rewrite (sum_ext N _ (fun i => L * beta ^ 2 / 2 * (p i ^ 2 * INR N * norm d (a i) ^ 2)
    + - (beta * (1 - L * alpha)) * (p i * Lambda i))) by (intros; unfold forgetting; field).
  rewrite sum_add, !sum_scale. ring.
Qed.

Lemma N_positive : 0 < INR N.
Proof.
  apply INR_pos. destruct N as [|n]; [|lia]. destruct p_weights as [_ Z]. simpl in Z. lra.
Qed.

(** ||sum_i p_i r_i a_i||^2 <= N sum_i p_i^2 r_i^2 ||a_i||^2. *)
Lemma weighted_le : forall r, norm d (weighted r) ^ 2 <= INR N * own r.
Proof.
  intro r. pose proof N_positive as NP.
  replace (weighted r) with (vsum N (fun i => / INR N *^ (INR N *^ (p i *^ (r i *^ a i))))).
  - eapply Rle_trans; [apply (jensen d N (fun _ => / INR N))|].
    + split; [intros; apply Rlt_le, Rinv_0_lt_compat; exact NP|]. rewrite sum_const. field. lra.
    + right. unfold own. rewrite <- sum_scale. apply sum_ext. intros i _. rewrite !norm_pow2. expand_dots. field. lra.
  - apply vec_eq. intro c. unfold weighted, vsum, vscale. apply sum_ext. intros i _. field. lra.
Qed.

(** (187)-(188): the worst case, whatever the signs of the products. *)
Theorem eq188 : Gamma <= L * beta ^ 2 / 2 * sum N (fun i => p i ^ 2 * INR N * norm d (a i) ^ 2)
  - beta * (1 - L * alpha) * sum N (fun i => p i * Lambda i).
Proof.
  rewrite <- eq189. pose proof (weighted_le (fun _ => 1)) as J. fold S in J.
  rewrite (sum_ext N _ (fun i => L * beta ^ 2 / 2 * INR N * (p i ^ 2 * (1 ^ 2 * norm d (a i) ^ 2))
    + - (beta * (1 - L * alpha)) * (p i * (1 * Lambda i)))) by (intros; unfold forgetting; field).
  rewrite sum_add, !sum_scale. unfold Gamma, S. fold (own (fun _ => 1)). fold (product (fun _ => 1)).
  rewrite weighted_product. fold S. unfold forgetting.
  assert (0 <= L * beta ^ 2 / 2) by nonneg. nra.
Qed.

(** *** The rates of Table 1, with c = 1 in the average case and c = N in the worst *)

Variable c : R.
Hypothesis c_positive : 0 < c.
Hypothesis p_positive : forall i, (i < N)%nat -> 0 < p i.

Definition transfers (i : nat) : bool := if Rlt_dec 0 (Lambda i) then true else false.
Definition table_beta (i : nat) : R :=
  if transfers i then best_rate L alpha (c * p i * norm d (a i) ^ 2) (Lambda i) else beta.
Definition table_alpha (i : nat) : R := if transfers i then alpha else raised_alpha d alpha v (a i).
Definition mean_alpha : R := sum N (fun i => p i * table_alpha i).

(** Gamma of the step really taken, mean_alpha grad f_memory + sum_i p_i beta_i a_i. *)
Definition Gamma_adapted : R := L / 2 * norm d (weighted table_beta) ^ 2 - (1 - L * mean_alpha) * product table_beta.

(** Sums over the clients with transference. *)
Definition over_T (b : nat -> R) : R := sum N (fun i => if transfers i then b i else 0).

Lemma table_rate : forall i, (i < N)%nat -> transfers i = true ->
  L * c * p i * norm d (a i) ^ 2 * table_beta i = q * Lambda i.
Proof.
  intros i Hi Ht. unfold table_beta. rewrite Ht. unfold transfers in Ht.
  destruct (Rlt_dec 0 (Lambda i)) as [H|]; [|discriminate].
  assert (M : 0 < norm d (a i) ^ 2) by (apply (product_moves d v); unfold Lambda in H; lra).
  pose proof (p_positive i Hi).
  unfold best_rate, q. field. repeat split; try lra. intro Z. rewrite Z in M. lra.
Qed.

(** Exactly when Table 1 does not raise Gamma.  Ledger: ours.adaptive_condition, both parts. *)
Theorem adaptive_condition :
  Gamma_adapted = Gamma - L * c / 2 * over_T (fun i => p i ^ 2 * ((table_beta i - beta) ^ 2 * norm d (a i) ^ 2))
    + L * (mean_alpha - alpha) * product table_beta
    + L / 2 * ((cross table_beta - beta ^ 2 * cross (fun _ => 1))
      + (c - 1) * over_T (fun i => p i ^ 2 * ((beta ^ 2 - table_beta i ^ 2) * norm d (a i) ^ 2))).
Proof.
  unfold Gamma_adapted, Gamma, forgetting, S. rewrite !weighted_product, !weighted_square.
  assert (K : L / 2 * (own table_beta - beta ^ 2 * own (fun _ => 1))
      - q * (product table_beta - beta * product (fun _ => 1)) =
    - (L * c / 2) * over_T (fun i => p i ^ 2 * ((table_beta i - beta) ^ 2 * norm d (a i) ^ 2))
    + L / 2 * (c - 1) * over_T (fun i => p i ^ 2 * ((beta ^ 2 - table_beta i ^ 2) * norm d (a i) ^ 2))).
  { unfold own, product, over_T. rewrite <- !sum_scale, <- !sum_sub, <- !sum_scale, <- sum_sub, <- sum_add.
    apply sum_ext. intros i Hi. destruct (transfers i) eqn:Ht.
    - pose proof (table_rate i Hi Ht) as E.
      replace (q * (p i * (table_beta i * Lambda i) - beta * (p i * (1 * Lambda i))))
        with (p i * (table_beta i - beta) * (q * Lambda i)) by ring.
      rewrite <- E. field.
    - assert (B : table_beta i = beta) by (unfold table_beta; rewrite Ht; reflexivity). rewrite B. field. }
  unfold q in K. lra.
Qed.

(** *** Table 1's worst-case rates where clients transfer: what Lemma 7 is for *)

(** Gamma of the step really taken with rates r, where alpha stays. *)
Definition Gamma_with (r : nat -> R) : R := L / 2 * norm d (weighted r) ^ 2 - q * product r.
Definition worst_rate (i : nat) : R :=
  if transfers i then best_rate L alpha (INR N * p i * norm d (a i) ^ 2) (Lambda i) else 0.

(** Ledger: ours.adaptive_worst_case, part bound. *)
Theorem worst_case_gain : Gamma_with worst_rate <=
  - (q ^ 2 / (2 * L * INR N)) * over_T (fun i => Lambda i ^ 2 / norm d (a i) ^ 2).
Proof.
  pose proof N_positive as NP. pose proof (weighted_le worst_rate) as J.
  apply Rmult_le_compat_l with (r := L / 2) in J; [|lra]. unfold Gamma_with.
  apply Rle_trans with (L / 2 * (INR N * own worst_rate) - q * product worst_rate); [lra|]. right.
  unfold own, product, over_T. rewrite <- !sum_scale, <- sum_sub.
  apply sum_ext. intros i Hi. unfold worst_rate. destruct (transfers i) eqn:Ht; [|field; lra].
  unfold transfers in Ht. destruct (Rlt_dec 0 (Lambda i)) as [H|]; [|discriminate].
  assert (M : 0 < norm d (a i) ^ 2) by (apply (product_moves d v); unfold Lambda in H; lra).
  pose proof (p_positive i Hi). set (n2 := norm d (a i) ^ 2) in *. unfold best_rate, q. field; repeat split; lra.
Qed.

(** Ledger: ours.adaptive_worst_case, part lowers. *)
Theorem worst_case_lowers : forall r, 0 <= beta ->
  (forall i, (i < N)%nat -> L * INR N * p i * norm d (a i) ^ 2 * r i = q * Lambda i) ->
  (forall i, (i < N)%nat -> beta <= 2 * (sqrt 2 - 1) * r i) ->
  Gamma_with r <= Gamma.
Proof.
  intros r B0 Rate Short. pose proof N_positive as NP.
  assert (R2 : sqrt 2 * sqrt 2 = 2) by (apply sqrt_sqrt; lra). set (w := sqrt 2) in *.
  set (V := weighted r). set (V2 := norm d V ^ 2).
  assert (Each : forall i, (i < N)%nat -> p i * (2 * r i - w * beta) * dot d (a i) V <=
    V2 / (2 * INR N) + 2 / L * (q * (p i * (r i * Lambda i)) - beta * (q * (p i * (1 * Lambda i))))).
  { intros i Hi. pose proof (p_positive i Hi) as P0.
    set (k := INR N * (p i * (2 * r i - w * beta))).
    pose proof (dot_self_nonneg d (V -^ k *^ a i)) as Sq.
    assert (Sq' : 0 <= V2 - 2 * k * dot d (a i) V + k ^ 2 * norm d (a i) ^ 2).
    { eapply Rle_trans; [exact Sq|]. right. unfold V2. rewrite !norm_pow2. expand_dots.
      rewrite (dot_comm d V (a i)). ring. }
    assert (Rest : 2 / L * (q * (p i * (r i * Lambda i)) - beta * (q * (p i * (1 * Lambda i)))) =
      2 * INR N * p i ^ 2 * norm d (a i) ^ 2 * (r i * (r i - beta))).
    { replace (2 / L * (q * (p i * (r i * Lambda i)) - beta * (q * (p i * (1 * Lambda i)))))
        with (2 / L * (p i * (r i - beta) * (q * Lambda i))) by ring.
      rewrite <- (Rate i Hi). field. lra. }
    rewrite Rest. set (n2 := norm d (a i) ^ 2) in *. assert (N2 : 0 <= n2) by (unfold n2; apply pow2_ge_0).
    assert (Room : 0 <= beta * (2 * (w - 1) * r i - beta)).
    { apply Rmult_le_pos; [exact B0|]. pose proof (Short i Hi) as Q. fold w in Q. lra. }
    assert (Extra : 0 <= INR N * p i ^ 2 * n2 * (beta * (2 * (w - 1) * r i - beta))).
    { apply Rmult_le_pos; [|exact Room]. apply Rmult_le_pos; [|exact N2].
      apply Rmult_le_pos; [lra | apply pow2_ge_0]. }
    assert (Id : V2 / (2 * INR N) + 2 * INR N * p i ^ 2 * n2 * (r i * (r i - beta))
      - p i * (2 * r i - w * beta) * dot d (a i) V =
      (V2 - 2 * k * dot d (a i) V + k ^ 2 * n2) / (2 * INR N)
      + INR N * p i ^ 2 * n2 * (beta * (2 * (w - 1) * r i - beta))
      + INR N * p i ^ 2 * n2 * beta ^ 2 * (2 - w * w) / 2) by (unfold k; field; lra).
    rewrite R2 in Id.
    assert (0 <= (V2 - 2 * k * dot d (a i) V + k ^ 2 * n2) / (2 * INR N)).
    { apply Rmult_le_pos; [exact Sq' | apply Rlt_le, Rinv_0_lt_compat; lra]. }
    lra. }
  apply sum_le in Each.
  assert (Left : sum N (fun i => p i * (2 * r i - w * beta) * dot d (a i) V) = 2 * V2 - w * beta * dot d S V).
  { rewrite (sum_ext N _ (fun i => 2 * dot d V (p i *^ (r i *^ a i)) + - (w * beta) * dot d V (p i *^ (1 *^ a i))))
      by (intros i _; expand_dots; rewrite (dot_comm d V (a i)); ring).
    rewrite sum_add, !sum_scale. rewrite <- !dot_sum_r. fold (weighted r). fold (weighted (fun _ => 1)). fold S. fold V.
    unfold V2. rewrite norm_pow2, (dot_comm d V S). ring. }
  rewrite Left in Each. rewrite sum_add, sum_const, sum_scale, sum_sub, !sum_scale in Each.
  fold (product r) in Each. fold (product (fun _ => 1)) in Each.
  pose proof (dot_self_nonneg d ((w * beta) *^ S -^ V)) as Sq.
  assert (Sq' : 0 <= w * w * beta ^ 2 * dot d S S - 2 * (w * beta) * dot d S V + V2).
  { eapply Rle_trans; [exact Sq|]. right. unfold V2. rewrite norm_pow2. expand_dots. rewrite (dot_comm d V S). ring. }
  rewrite R2 in Sq'.
  unfold Gamma_with, Gamma, forgetting. fold V. fold V2. unfold S at 2. rewrite weighted_product. fold q.
  rewrite norm_pow2. fold S.
  replace (INR N * (V2 / (2 * INR N))) with (V2 / 2) in Each by (field; lra).
  apply Rmult_le_compat_l with (r := L / 2) in Each; [|lra].
  replace (L / 2 * (V2 / 2 + 2 / L * (q * product r - beta * (q * product (fun _ => 1)))))
    with (L * V2 / 4 + (q * product r - beta * (q * product (fun _ => 1)))) in Each by (field; lra).
  apply Rmult_le_compat_l with (r := L / 4) in Sq'; [|lra]. rewrite Rmult_0_r in Sq'. lra.
Qed.

End Clients.

(** Lemma 7, average case.  Ledger: cflag.lemma7_average, repaired: no client interferes, and the rescaled products stay
    harmless. *)
Theorem lemma7_average : forall d N p L alpha beta m v a,
  weights N p -> (forall i, (i < N)%nat -> 0 < p i) -> 0 < L -> 0 <= m -> 0 < alpha < 2 / (L * (1 + m)) ->
    0 < norm d v ->
  (forall i, (i < N)%nat -> 0 <= dot d v (a i)) ->
  cross d N p a (fun _ => 1) = 0 ->
  cross d N p a (table_beta d p L alpha beta v a 1) <= 0 ->
  Gamma_adapted d N p L alpha beta v a 1 <= Gamma d N p L alpha beta v a.
Proof.
  intros d N p L alpha beta m v a Hp Pos HL Hm Ha Hv NoI Average Harmless.
  rewrite (adaptive_condition d N p L alpha beta v a HL 1 Rlt_0_1 Pos), Average.
  assert (Same : mean_alpha d N p alpha v a = alpha).
  { unfold mean_alpha. transitivity (sum N (fun i => alpha * p i)).
    - apply sum_ext. intros i Hi. unfold table_alpha, transfers. destruct (Rlt_dec 0 (dot d v (a i))) as [|Z]; [ring|].
      assert (dot d v (a i) = 0) as Q by (specialize (NoI i Hi); lra).
      unfold raised_alpha. rewrite Q. field. lra.
    - rewrite sum_scale, (proj2 Hp). ring. }
  rewrite Same. set (spread := over_T d N v a _).
  assert (0 <= spread).
  { apply sum_nonneg. intros i _. destruct (transfers d v a i); [nonneg | lra]. }
  assert (0 <= L * spread) by nonneg.
  assert (0 <= L * - cross d N p a (table_beta d p L alpha beta v a 1)) by (apply Rmult_le_pos; lra).
  lra.
Qed.

(** Lemma 7, worst case.  Ledger: cflag.lemma7_worst, repaired: all clients transfer, and beta is small beside their
    rates. *)
Theorem lemma7_worst : forall d N p L alpha beta v a,
  weights N p -> (forall i, (i < N)%nat -> 0 < p i) -> 0 < L -> 0 <= beta ->
  (forall i, (i < N)%nat -> 0 < dot d v (a i)) ->
  (forall i, (i < N)%nat -> beta <= 2 * (sqrt 2 - 1) * table_beta d p L alpha beta v a (INR N) i) ->
  Gamma_adapted d N p L alpha beta v a (INR N) <= Gamma d N p L alpha beta v a.
Proof.
  intros d N p L alpha beta v a Hp Pos HL B0 Transfer Short.
  assert (NP : 0 < INR N) by exact (N_positive N p Hp).
  assert (Same : mean_alpha d N p alpha v a = alpha).
  { unfold mean_alpha. transitivity (sum N (fun i => alpha * p i)).
    - apply sum_ext. intros i Hi. unfold table_alpha, transfers.
      destruct (Rlt_dec 0 (dot d v (a i))) as [|Z]; [ring | destruct (Z (Transfer i Hi))].
    - rewrite sum_scale, (proj2 Hp). ring. }
  unfold Gamma_adapted. rewrite Same.
  apply (worst_case_lowers d N p L alpha beta v a Hp HL Pos (table_beta d p L alpha beta v a (INR N)) B0);
    [|exact Short].
  intros i Hi. apply (table_rate d N p L alpha beta v a HL (INR N) NP Pos i Hi).
  unfold transfers. destruct (Rlt_dec 0 (dot d v (a i))) as [|Z]; [reflexivity | destruct (Z (Transfer i Hi))].
Qed.
