(** * Algorithm 1, as a recursive definition

    Any number of clients with weights p_i that sum to one, any number of components a client, any number E of local
    steps, any order in which components are sampled, any memory gradient in every round. *)

Require Import Reals Lra Psatz Arith Lia.
From CFlag Require Import Vectors Smoothness.
Open Scope R_scope.
Open Scope vec_scope.

(** ** The local loop of one client, (4) and (5)

    [c] is grad g(x_t) - grad g_i(x_t), computed once a round; [G j] is the gradient of component j, of [n].  The state
    after k steps is the point x_{t,k}^i and the table: the point at which each component was evaluated last.  At step k
    >= 1 the component [order k] is evaluated at x_{t,k}^i; at step 0 every component is. *)

Section LocalLoop.

Variables (beta : R) (c : vec) (n : nat) (G : nat -> vec -> vec) (order : nat -> nat) (start : vec).

Fixpoint local_state (k : nat) : vec * (nat -> vec) :=
  match k with
  | O => (start, fun _ => start)
  | S k => let (x, table) := local_state k in
           let next := x -^ beta *^ (c +^ vmean n (fun j => G j (table j))) in
           (next, fun j => if Nat.eqb j (order (S k)) then next else table j)
  end.

Definition local_point (k : nat) : vec := fst (local_state k).
Definition delayed (k : nat) : vec := vmean n (fun j => G j (snd (local_state k) j)).

(** tau_{k,j}: the last step, k or earlier, at which component j was evaluated. *)
Fixpoint tau (k j : nat) : nat :=
  match k with
  | O => O
  | S k => if Nat.eqb j (order (S k)) then S k else tau k j
  end.

Lemma tau_le : forall k j, (tau k j <= k)%nat.
Proof. induction k as [|k IH]; intro j; simpl; [lia|]. destruct (Nat.eqb _ _); [lia|]. specialize (IH j). lia. Qed.

(** tau never decreases in k. *)
Lemma tau_monotone : forall k j, (tau k j <= tau (S k) j)%nat.
Proof. intros k j. simpl. pose proof (tau_le k j). destruct (Nat.eqb _ _); lia. Qed.

Lemma local_start : local_point 0 = start.
Proof. reflexivity. Qed.

(** The local step (4). *)
Lemma local_step : forall k, local_point (S k) = local_point k -^ beta *^ (c +^ delayed k).
Proof. intro k. unfold local_point, delayed. simpl. destruct (local_state k) as [x table]. reflexivity. Qed.

Lemma table_step : forall k j, snd (local_state (S k)) j =
  if Nat.eqb j (order (S k)) then local_point (S k) else snd (local_state k) j.
Proof.
  intros k j. unfold local_point. simpl. destruct (local_state k) as [x table]. simpl.
  destruct (Nat.eqb j (order (S k))); reflexivity.
Qed.

Lemma table_holds_tau : forall k j, snd (local_state k) j = local_point (tau k j).
Proof.
  induction k as [|k IH]; intro j; [reflexivity|]. rewrite table_step. simpl tau.
  destruct (Nat.eqb j (order (S k))); [reflexivity | apply IH].
Qed.

(** The delayed gradient (5): the mean of the components' gradients at x_{t, tau_{k,j}}^i. *)
Theorem delayed_gradient : forall k, delayed k = vmean n (fun j => G j (local_point (tau k j))).
Proof. intro k. apply vmean_ext. intros j _. rewrite table_holds_tau. reflexivity. Qed.

(** The paper's example of (5): three components, the first sampled at k = 1, the third at k = 2.  Ledger: cflag.eq5,
    parts 1 and 3 as repaired (x_t for x_0, x_{t,2} for x_{t,1} on the left), part 2 as printed. *)
Theorem toy_example : n = 3%nat -> order 1%nat = 0%nat -> order 2%nat = 2%nat ->
  delayed 0 = (/ 3) *^ (G 0%nat start +^ G 1%nat start +^ G 2%nat start) /\
  delayed 1 = (/ 3) *^ (G 0%nat (local_point 1) +^ G 1%nat start +^ G 2%nat start) /\
  delayed 2 = (/ 3) *^ (G 0%nat (local_point 1) +^ G 1%nat start +^ G 2%nat (local_point 2)).
Proof.
  intros Hn O1 O2. rewrite !delayed_gradient, Hn. unfold vmean.
  assert (T2 : forall j, tau 2 j = if Nat.eqb j 2 then 2%nat else if Nat.eqb j 0 then 1%nat else 0%nat)
    by (intro j; simpl; rewrite O1, O2; reflexivity).
  assert (T1 : forall j, tau 1 j = if Nat.eqb j 0 then 1%nat else 0%nat) by (intro j; simpl; rewrite O1; reflexivity).
  replace (INR 3) with 3 by (simpl; ring).
  repeat split; rewrite !vsum_succ, ?T1, ?T2; rewrite <- ?local_start; vector; unfold vsum; simpl; ring.
Qed.

(** (17)-(19) for one client. *)
Lemma local_sum : forall k, local_point k = start -^ beta *^ (INR k *^ c +^ vsum k delayed).
Proof.
  induction k as [|k IH].
  - rewrite local_start. vector. unfold vsum. simpl. ring.
  - rewrite local_step, IH, vsum_succ, S_INR. vector.
Qed.

End LocalLoop.

(** ** The problem: clients and components *)

Record problem := Problem {
  dim : nat;                                  (* d *)
  clients : nat;                              (* N *)
  weight : nat -> R;                          (* p_i *)
  size : nat -> nat;                          (* |C^i|, the number of components *)
  slope : nat -> nat -> vec -> vec            (* grad g_ij *)
}.

(** grad g_i and grad g. *)
Definition grad_client (P : problem) (i : nat) (x : vec) : vec := vmean (size P i) (fun j => slope P i j x).
Definition grad_current (P : problem) (x : vec) : vec :=
  vsum (clients P) (fun i => weight P i *^ grad_client P i x).

(** The weights are non-negative and sum to one, every client has a component, every component is L-smooth. *)
Definition regular (P : problem) (L : R) : Prop :=
  weights (clients P) (weight P) /\
  (forall i, (i < clients P)%nat -> (0 < size P i)%nat) /\
  (forall i j, (i < clients P)%nat -> (j < size P i)%nat -> lipschitz (dim P) L (slope P i j)).

(** A weighted mean of L-smooth gradients is L-smooth: grad g is. *)
Lemma current_lipschitz : forall P L, regular P L -> lipschitz (dim P) L (grad_current P).
Proof.
  intros P L [Hp [Hn Hs]] x y. unfold grad_current. rewrite <- vsum_sub.
  rewrite (vsum_ext (clients P) _ (fun i => weight P i *^ (grad_client P i x -^ grad_client P i y)))
    by (intros; vector).
  apply norm_mean_bound; [exact Hp|]. intros i Hi.
  apply (lipschitz_mean (dim P) L (size P i) (slope P i) (Hn i Hi) (fun j => Hs i j Hi)).
Qed.

(** So the descent inequality for g, or for h~ of the components of memory and current data, follows from Assumption 1
    for the components. *)
Lemma current_smooth : forall P L g, regular P L -> gradient (dim P) g (grad_current P) ->
  smooth (dim P) L g (grad_current P).
Proof. intros P L g Reg H. apply lipschitz_smooth; [exact H | apply current_lipschitz; exact Reg]. Qed.

(** ** One round

    [order i k] is the component that client i evaluates at its k-th local step. *)

Section Round.

Variables (P : problem) (alpha beta : R) (E : nat) (order : nat -> nat -> nat).

(** x_{t,k}^i and grad g_i'(x_{t,k}^i), for the round that starts at x. *)
Definition client_point (x : vec) (i k : nat) : vec :=
  local_point beta (grad_current P x -^ grad_client P i x) (size P i) (slope P i) (order i) x k.
Definition client_delayed (x : vec) (i k : nat) : vec :=
  delayed beta (grad_current P x -^ grad_client P i x) (size P i) (slope P i) (order i) x k.

(** a_i = sum_k grad g_i'(x_{t,k}^i), and S = sum_i p_i a_i. *)
Definition client_sum (x : vec) (i : nat) : vec := vsum E (client_delayed x i).
Definition delayed_sum (x : vec) : vec := vsum (clients P) (fun i => weight P i *^ client_sum x i).

(** grad f_memory = sum_i p_i grad f_i_memory, from the clients' memory gradients. *)
Definition memory_mean (memory : nat -> vec) : vec := vsum (clients P) (fun i => weight P i *^ memory i).

(** Line 12 as repaired (ledger: cflag.alg1): x_{t+1} = x_t - sum_i p_i Delta_i with
    Delta_i = x_t - (x_{t,E}^i - alpha grad f_memory). *)
Definition round (memory : nat -> vec) (x : vec) : vec :=
  x -^ vsum (clients P) (fun i => weight P i *^ (x -^ (client_point x i E -^ alpha *^ memory_mean memory))).

Hypothesis unit : sum (clients P) (weight P) = 1.

(** (20): one client's drift. *)
Lemma eq20 : forall x i, client_point x i E =
  x -^ beta *^ (INR E *^ (grad_current P x -^ grad_client P i x) +^ client_sum x i).
Proof. intros x i. apply local_sum. Qed.

(** (17)-(22): the weighted mean drift. *)
Theorem eq22 : forall x, vsum (clients P) (fun i => weight P i *^ (client_point x i E -^ x)) =
  (- beta) *^ delayed_sum x.
Proof.
  intro x.
  transitivity (vsum (clients P) (fun i => (- beta * INR E) *^ (weight P i *^ grad_current P x) +^
    ((beta * INR E) *^ (weight P i *^ grad_client P i x) +^ (- beta) *^ (weight P i *^ client_sum x i)))).
  { apply vsum_ext. intros i _. rewrite eq20. vector. }
  rewrite !vsum_add, !vsum_scale, vsum_weights, unit. fold (grad_current P x). fold (delayed_sum x). vector.
Qed.

(** (23): the server averages x_{t,E}^i - alpha grad f_memory. *)
Theorem eq23 : forall memory x, round memory x =
  vsum (clients P) (fun i => weight P i *^ (client_point x i E -^ alpha *^ memory_mean memory)).
Proof.
  intros memory x. unfold round. set (y := fun i => client_point x i E -^ alpha *^ memory_mean memory).
  transitivity (x -^ (vsum (clients P) (fun i => weight P i *^ x) -^ vsum (clients P) (fun i => weight P i *^ y i))).
  - rewrite <- vsum_sub. f_equal. apply vsum_ext. intros i _. unfold y. vector.
  - rewrite vsum_weights, unit. unfold y. vector.
Qed.

(** (24): x_{t+1} = x_t - alpha grad f_memory(x_t) - beta S.  Ledger: cflag.eq25.1, cflag.alg1 as repaired. *)
Theorem eq24 : forall memory x, round memory x = x -^ alpha *^ memory_mean memory -^ beta *^ delayed_sum x.
Proof.
  intros memory x. unfold round.
  transitivity (x -^ (sum (clients P) (weight P) *^ (alpha *^ memory_mean memory) -^
    vsum (clients P) (fun i => weight P i *^ (client_point x i E -^ x)))).
  - rewrite <- vsum_weights, <- vsum_sub. f_equal. apply vsum_ext. intros i _. vector.
  - rewrite unit, eq22. vector.
Qed.

(** (25): the same with grad f_memory written out.  Ledger: cflag.eq25.2. *)
Theorem eq25 : forall memory x, round memory x =
  x -^ alpha *^ vsum (clients P) (fun i => weight P i *^ memory i) -^ beta *^ delayed_sum x.
Proof. exact eq24. Qed.

(** The server update (7) as repaired.  Ledger: cflag.eq7. *)
Theorem eq7 : forall memory x, round memory x =
  x -^ alpha *^ memory_mean memory -^ vsum (clients P) (fun i => weight P i *^ (x -^ client_point x i E)).
Proof.
  intros memory x. rewrite eq24. f_equal.
  transitivity (vzero -^ vsum (clients P) (fun i => weight P i *^ (client_point x i E -^ x))).
  - rewrite eq22. vector.
  - apply vec_eq. intro c. unfold vzero, vsub, vsum, vscale.
    rewrite (sum_ext _ (fun i => weight P i * (x c - client_point x i E c))
      (fun i => (-1) * (weight P i * (client_point x i E c - x c)))) by (intros; ring).
    rewrite sum_scale. ring.
Qed.

End Round.

(** ** The whole run

    Every round has its own step sizes, its own orders and its own memory; [memory t i x] is the gradient at x of what
    client i keeps in memory in round t. *)
Fixpoint run (P : problem) (alpha beta : nat -> R) (E : nat) (order : nat -> nat -> nat -> nat)
    (memory : nat -> nat -> vec -> vec) (x0 : vec) (t : nat) : vec :=
  match t with
  | O => x0
  | S t => let x := run P alpha beta E order memory x0 t in
           round P (alpha t) (beta t) E (order t) (fun i => memory t i x) x
  end.
