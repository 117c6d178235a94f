(** GLML (Noh, Zhang and Lee): minimize (tr M B)^2 over the psd M with determinant at least 1.

    The theorem: tr M B is at least t if t^d is at most d^d times the determinant of B. Powers stand for logarithms and
    roots, so that every number of the condition is rational where B is. B is given by its triangular factors. *)

Require Import Reals Lra Lia Psatz List ZArith QArith Qreals Bool.
From Verified Require Import Bound.
Import ListNotations.
Open Scope R_scope.

(** ** What a reader must believe, beside [inner d M B] = tr M B for symmetric matrices *)

(** What elimination of the first feature leaves of M *)
Definition eliminated_first (M : matrix) : matrix := fun i j => M (S i) (S j) - M (S i) O * M O (S j) / M O O.

(** The determinant of a psd matrix is the product of its pivots. (If a pivot is 0, so is the product.) *)
Fixpoint det (d : nat) (M : matrix) : R := match d with O => 1 | S d => M O O * det d (eliminated_first M) end.

(** prod n f = f 0 ... f (n - 1) *)
Fixpoint prod (n : nat) (f : nat -> R) : R := match n with O => 1 | S m => f O * prod m (fun k => f (S k)) end.

Definition glml_feasible (d : nat) (M : matrix) : Prop := psd d M /\ 1 <= det d M.
Definition glml_cost (d : nat) (B M : matrix) : R := inner d M B * inner d M B.

(** B = sum_k beta_k u_k u_k^T, beta_k > 0, and u_k is 1 at k and 0 after it: then det B is the product of the beta_k. *)
Definition factors_of (d : nat) (beta : nat -> R) (u : nat -> vector) (B : matrix) : Prop :=
  (forall i j, (i < d)%nat -> (j < d)%nat -> B i j = sum d (fun k => beta k * (u k i * u k j))) /\
  forall k, (k < d)%nat -> 0 < beta k /\ u k k = 1 /\ forall j, (k < j < d)%nat -> u k j = 0.

(** ** The inequality of the arithmetic and geometric mean, without roots *)

Lemma bernoulli n y : -1 <= y -> 1 + INR n * y <= (1 + y) ^ n.
Proof.
  intros Y. induction n as [|n IH]; [simpl; lra|]. rewrite S_INR. cbn [pow].
  apply Rle_trans with ((1 + y) * (1 + INR n * y)); [|apply Rmult_le_compat_l; lra].
  assert (0 <= INR n * (y * y)) by (apply Rmult_le_pos; [apply pos_INR|apply Rle_0_sqr]). lra.
Qed.

Lemma prod_pos n : forall f, (forall k, (k < n)%nat -> 0 < f k) -> 0 < prod n f.
Proof.
  induction n as [|n IH]; intros f H; cbn [prod]; [lra|].
  apply Rmult_lt_0_compat; [apply H; lia|apply IH; intros; apply H; lia].
Qed.

Lemma sum_positive n f : (0 < n)%nat -> (forall k, (k < n)%nat -> 0 < f k) -> 0 < sum n f.
Proof.
  intros N H. destruct n as [|n]; [lia|]. cbn [sum]. assert (0 < f O) by (apply H; lia).
  assert (0 <= sum n (fun k => f (S k))) by (apply sum_pos; intros; left; apply H; lia). lra.
Qed.

(** By induction: a number joins n others, of mean A. Bernoulli's inequality compares the new mean T with A. *)
Lemma mean_inequality n : forall x, (forall k, (k < n)%nat -> 0 < x k) -> INR n ^ n * prod n x <= sum n x ^ n.
Proof.
  induction n as [|n IH]; intros x H; [simpl; lra|].
  destruct n as [|n']; [simpl; lra|]. set (n := S n') in *. change (S (S n')) with (S n) in *.
  assert (X0 : 0 < x O) by (apply H; lia).
  assert (H' : forall k, (k < n)%nat -> 0 < x (S k)) by (intros; apply H; lia).
  specialize (IH (fun k => x (S k)) H').
  assert (S0 : 0 < sum n (fun k => x (S k))) by (apply sum_positive; [lia|auto]).
  change (sum (S n) x) with (x O + sum n (fun k => x (S k))). change (prod (S n) x) with (x O * prod n (fun k => x (S k))).
  rewrite S_INR. assert (N0 : 0 < INR n) by (apply lt_0_INR; lia). clearbody n.
  set (a := x O) in *. set (s := sum n _) in *. set (P := prod n _) in *. set (N := INR n) in *.
  assert (A0 : 0 < s / N) by (apply Rdiv_lt_0_compat; auto).
  assert (T0 : 0 < (a + s) / (N + 1)) by (apply Rdiv_lt_0_compat; lra).
  set (A := s / N) in *. set (T := (a + s) / (N + 1)) in *.
  assert (TA : 0 < T / A) by (apply Rdiv_lt_0_compat; auto).
  assert (B := bernoulli (S n) (T / A - 1) ltac:(lra)). rewrite S_INR in B. fold N in B.
  replace (1 + (T / A - 1)) with (T / A) in B by ring.
  replace (1 + (N + 1) * (T / A - 1)) with (a / A) in B by (unfold T, A; field; split; [lra|split; lra]).
  apply (Rmult_le_compat_r (A ^ S n)) in B; [|left; apply pow_lt; auto].
  rewrite <- Rpow_mult_distr in B. replace (T / A * A) with T in B by (field; lra).
  replace (a / A * A ^ S n) with (a * A ^ n) in B by (cbn [pow]; field; lra).
  assert (PA : P <= A ^ n).
  { apply (Rmult_le_reg_l (N ^ n)); [apply pow_lt; auto|]. rewrite <- Rpow_mult_distr.
    replace (N * A) with s by (unfold A; field; lra). auto. }
  replace (a + s) with ((N + 1) * T) by (unfold T; field; lra). rewrite Rpow_mult_distr.
  apply Rmult_le_compat_l; [left; apply pow_lt; lra|]. apply Rle_trans with (2 := B). apply Rmult_le_compat_l; lra.
Qed.

Lemma pow_less s t n : (0 < n)%nat -> 0 <= s -> s < t -> s ^ n < t ^ n.
Proof.
  intros N P L. destruct n as [|n]; [lia|]. clear N. induction n as [|n IH]; [simpl; lra|].
  change (s * s ^ S n < t * t ^ S n). apply Rmult_le_0_lt_compat; auto. apply pow_le. auto.
Qed.

(** ** Elimination *)

(** x^T M x is a square, plus the same of what elimination leaves. *)
Lemma form_first d M x : (forall i j, (i < S d)%nat -> (j < S d)%nat -> M i j = M j i) -> M O O <> 0 ->
  form (S d) M x x = M O O * Rsqr (x O + sum d (fun j => M O (S j) * x (S j)) / M O O)
    + form d (eliminated_first M) (fun k => x (S k)) (fun k => x (S k)).
Proof.
  intros Sym Z. set (s := sum d (fun j => M O (S j) * x (S j))).
  assert (Left : form (S d) M x x = x O * M O O * x O + 2 * x O * s
    + form d (fun i j => M (S i) (S j)) (fun k => x (S k)) (fun k => x (S k))).
  { unfold form at 1. cbn [sum]. rewrite sum_plus.
    rewrite (sum_ext d (fun j => x O * M O (S j) * x (S j)) (fun j => x O * (M O (S j) * x (S j)))) by (intros; ring).
    rewrite (sum_ext d (fun k => x (S k) * M (S k) O * x O) (fun j => x O * (M O (S j) * x (S j))))
      by (intros; rewrite (Sym (S k) O) by lia; ring).
    rewrite !sum_times. fold s. unfold form. ring. }
  assert (Right : form d (eliminated_first M) (fun k => x (S k)) (fun k => x (S k))
    = form d (fun i j => M (S i) (S j)) (fun k => x (S k)) (fun k => x (S k)) - s * s / M O O).
  { unfold form. rewrite (sum_ext d _ (fun i => sum d (fun j => x (S i) * M (S i) (S j) * x (S j))
      - sum d (fun j => (/ M O O * (M O (S i) * x (S i))) * (M O (S j) * x (S j))))).
    - rewrite sum_minus, sum_product, sum_times. fold s. field. auto.
    - intros i I. rewrite <- sum_minus. apply sum_ext. intros j J. unfold eliminated_first.
      rewrite (Sym (S i) O) by lia. field. auto. }
  rewrite Left, Right. unfold Rsqr. field. auto.
Qed.

Lemma eliminated_psd d M : psd (S d) M -> M O O <> 0 -> psd d (eliminated_first M).
Proof.
  intros [Sym Pos] Z. split.
  - intros i j I J. unfold eliminated_first. rewrite (Sym (S i) (S j)), (Sym (S i) O), (Sym O (S j)) by lia. field. auto.
  - intros x. set (y := fun k => match k with O => - (sum d (fun j => M O (S j) * x j) / M O O) | S k => x k end).
    assert (E := form_first d M y Sym Z). specialize (Pos y). rewrite E in Pos. unfold y in Pos. cbn beta iota in Pos.
    rewrite Rplus_opp_l, Rsqr_0, Rmult_0_r, Rplus_0_l in Pos. exact Pos.
Qed.

Lemma first_pivot d M : psd (S d) M -> 0 <= M O O.
Proof.
  intros [_ Pos]. specialize (Pos (fun k => match k with O => 1 | _ => 0 end)). unfold form in Pos. cbn [sum] in Pos.
  rewrite (sum_ext d (fun k => 1 * M O (S k) * 0) (fun _ => 0)) in Pos by (intros; ring).
  rewrite (sum_ext d (fun k => 0 * M (S k) O * 1 + _) (fun _ => 0)) in Pos.
  - rewrite !sum_zero in Pos. lra.
  - intros k _. rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring). rewrite sum_zero. ring.
Qed.

(** ** The trace *)

(** tr M B is at least the sum of d positive numbers. Their product is det M times the product of the beta. *)
Lemma trace_terms d : forall M beta u, psd d M -> 0 < det d M ->
  (forall k, (k < d)%nat -> 0 < beta k /\ u k k = 1 /\ forall j, (k < j < d)%nat -> u k j = 0) ->
  exists x, (forall k, (k < d)%nat -> 0 < x k) /\ prod d x = prod d beta * det d M /\
    sum d x <= sum d (fun k => beta k * form d M (u k) (u k)).
Proof.
  induction d as [|d IH]; intros M beta u P D H; [exists (fun _ => 1); simpl; split; [lia|split; lra]|].
  cbn [det] in D. assert (F := first_pivot d M P).
  assert (M0 : 0 < M O O) by (destruct F as [|Z]; [auto|rewrite <- Z, Rmult_0_l in D; lra]).
  assert (Sym := proj1 P). assert (Ne : M O O <> 0) by lra.
  destruct (IH (eliminated_first M) (fun k => beta (S k)) (fun k j => u (S k) (S j))) as [x [Pos [Pr Su]]].
  - apply eliminated_psd; auto.
  - apply (Rmult_lt_reg_l (M O O)); lra.
  - intros k K. destruct (H (S k) ltac:(lia)) as [A [B C]]. split; [auto|]. split; auto. intros; apply C; lia.
  - exists (fun k => match k with O => beta O * M O O | S k => x k end).
    destruct (H O ltac:(lia)) as [B0 [U0 Z0]]. split; [|split].
    + intros [|k] K; [apply Rmult_lt_0_compat; auto|apply Pos; lia].
    + change (beta O * M O O * prod d x = beta O * prod d (fun k => beta (S k)) * (M O O * det d (eliminated_first M))).
      rewrite Pr. ring.
    + change (beta O * M O O + sum d x <= beta O * form (S d) M (u O) (u O)
        + sum d (fun k => beta (S k) * form (S d) M (u (S k)) (u (S k)))). apply Rplus_le_compat.
      * rewrite (form_first d M (u O) Sym Ne).
        assert (E : forall k, (k < d)%nat -> u O (S k) = 0) by (intros; apply Z0; lia).
        rewrite (sum_ext d _ (fun _ => 0)) by (intros; rewrite E by auto; ring). rewrite sum_zero, U0.
        rewrite (form_ext d _ _ (fun k => 0 * 0)) by (intros; rewrite E by auto; ring). rewrite form_times.
        right. unfold Rsqr. field. auto.
      * apply Rle_trans with (1 := Su).
        assert (G : 0 <= sum d (fun k => beta (S k) * form (S d) M (u (S k)) (u (S k))
          - beta (S k) * form d (eliminated_first M) (fun j => u (S k) (S j)) (fun j => u (S k) (S j)))).
        { apply sum_pos. intros k K. rewrite (form_first d M (u (S k)) Sym Ne).
          assert (Q : 0 <= M O O * Rsqr (u (S k) O + sum d (fun j => M O (S j) * u (S k) (S j)) / M O O))
            by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]).
          assert (Bk := proj1 (H (S k) ltac:(lia))). nra. }
        rewrite sum_minus in G. lra.
Qed.

Lemma inner_terms d A n b v : inner d A (fun i j => sum n (fun k => b k * (v k i * v k j))) = sum n (fun k => b k * form d A (v k) (v k)).
Proof.
  revert b v. induction n as [|n IH]; intros b v; cbn [sum]; [apply inner_zero|].
  rewrite inner_plus, inner_times, inner_square, (IH (fun k => b (S k)) (fun k => v (S k))). reflexivity.
Qed.

Lemma inner_factors d M beta u B : factors_of d beta u B -> inner d M B = sum d (fun k => beta k * form d M (u k) (u k)).
Proof. intros [E _]. rewrite (inner_ext d M _ _ E). apply inner_terms. Qed.

(** tr M B >= t for every psd M with a determinant of at least 1. *)
Theorem trace_bound d B beta u t : (0 < d)%nat -> factors_of d beta u B -> 0 <= t -> t ^ d <= INR d ^ d * prod d beta ->
  forall M, glml_feasible d M -> t <= inner d M B.
Proof.
  intros D0 F T0 T M [P D]. rewrite (inner_factors d M beta u B F). destruct F as [_ H].
  destruct (trace_terms d M beta u P ltac:(lra) H) as [x [Pos [Pr Su]]].
  assert (Mean := mean_inequality d x Pos). assert (S0 := sum_positive d x D0 Pos).
  assert (B0 : 0 < prod d beta) by (apply prod_pos; intros; apply H; auto).
  destruct (Rle_lt_dec t (sum d x)) as [|L]; [lra|exfalso].
  assert (Less := pow_less (sum d x) t d D0 ltac:(lra) L). rewrite Pr in Mean.
  assert (Dn : 0 <= INR d ^ d) by (apply pow_le, pos_INR).
  assert (INR d ^ d * prod d beta <= INR d ^ d * (prod d beta * det d M)) by (apply Rmult_le_compat_l; [auto|nra]). lra.
Qed.

(** So t^2 bounds the objective from below. With - B in place of B, the objective is the same. *)
Theorem glml_bound d B beta u t : (0 < d)%nat -> factors_of d beta u B -> 0 <= t -> t ^ d <= INR d ^ d * prod d beta ->
  forall M, glml_feasible d M -> t * t <= glml_cost d B M.
Proof.
  intros D0 F T0 T M G. assert (L := trace_bound d B beta u t D0 F T0 T M G). unfold glml_cost.
  apply Rmult_le_compat; auto.
Qed.

(** The determinant of two features is the one that everybody knows. *)
Lemma det_2 M : M O O <> 0 -> det 2 M = M 0%nat 0%nat * M 1%nat 1%nat - M 1%nat 0%nat * M 0%nat 1%nat.
Proof. intros Z. unfold det, eliminated_first. field. auto. Qed.

(** ** An interval for a B of rationals *)

Definition rationals : Type := list (list Q).
Definition cell (T : rationals) (i j : nat) : Q := nth j (nth i T []) 0%Q.
Definition item (l : list Q) (k : nat) : Q := nth k l 0%Q.

(** The rationals as a real matrix *)
Definition real_cells (T : rationals) : matrix := fun i j => Q2R (cell T i j).

(** A fraction divided by a number that [gcd] names, if both quotients of [div] are right. Neither is trusted. *)
Definition shorter (div gcd : Z -> Z -> Z) (q : Q) : Q :=
  let g := gcd (Qnum q) (Zpos (Qden q)) in
  let n := div (Qnum q) g in
  match div (Zpos (Qden q)) g with
  | Zpos m => if (n * g =? Qnum q)%Z && (Zpos m * g =? Zpos (Qden q))%Z then n # m else q
  | _ => q
  end.

Fixpoint sum_Q (short : Q -> Q) (n : nat) (f : nat -> Q) : Q :=
  match n with O => 0%Q | S m => short (f O + sum_Q short m (fun k => f (S k)))%Q end.
Fixpoint prod_Q (n : nat) (f : nat -> Q) : Q := match n with O => 1%Q | S m => (f O * prod_Q m (fun k => f (S k)))%Q end.
Definition all_below (d : nat) (f : nat -> bool) : bool := forallb f (seq 0 d).

Definition above_zero (q : Q) : bool := negb (Qle_bool q 0).

Definition factors_ok (short : Q -> Q) (d : nat) (beta : list Q) (u B : rationals) : bool :=
  all_below d (fun i => all_below d (fun j =>
    Qeq_bool (cell B i j) (sum_Q short d (fun k => item beta k * (cell u k i * cell u k j))%Q)))
  && all_below d (fun k => above_zero (item beta k) && Qeq_bool (cell u k k) 1
       && all_below d (fun j => (j <=? k)%nat || Qeq_bool (cell u k j) 0)).

(** M = sum_k m_k w_k w_k^T, m_k > 0, and w_k is 1 at k and 0 before it *)
Definition metric_ok (d : nat) (m : list Q) (w : rationals) : bool :=
  all_below d (fun k => above_zero (item m k) && Qeq_bool (cell w k k) 1
    && all_below d (fun j => (k <=? j)%nat || Qeq_bool (cell w k j) 0))
  && Qle_bool 1 (prod_Q d (item m)).

Definition of_terms (d : nat) (m : list Q) (w : rationals) : matrix :=
  fun i j => sum d (fun k => Q2R (item m k) * (Q2R (cell w k i) * Q2R (cell w k j))).

(** A M = c 1: then M is c times the inverse of A *)
Definition inverse_of (d : nat) (A M : matrix) (c : R) : Prop := forall i j, (i < d)%nat -> (j < d)%nat ->
  sum d (fun k => A i k * M k j) = if (i =? j)%nat then c else 0.

Definition inverse_ok (short : Q -> Q) (d : nat) (A M : rationals) (c : Q) : bool :=
  all_below d (fun i => all_below d (fun j =>
    Qeq_bool (sum_Q short d (fun k => cell A i k * cell M k j)) (if (i =? j)%nat then c else 0)))%Q.

Definition cells_of_terms (short : Q -> Q) (d : nat) (m : list Q) (w : rationals) : rationals :=
  map (fun i => map (fun j => sum_Q short d (fun k => item m k * (cell w k i * cell w k j))%Q) (seq 0 d)) (seq 0 d).

Definition trace_Q (short : Q -> Q) (d : nat) (B M : rationals) : Q :=
  sum_Q short d (fun i => sum_Q short d (fun j => cell B i j * cell M i j))%Q.

(** t > 0 needs the factors of B. M is c times the inverse of A. *)
Definition check_glml (div gcd : Z -> Z -> Z) (d : nat) (B : rationals) (beta : list Q) (u : rationals) (t : Q)
    (A : rationals) (c : Q) (m : list Q) (w : rationals) : option (Q * Q) :=
  let short := shorter div gcd in
  let M := cells_of_terms short d m w in
  if (0 <? d)%nat && Qle_bool 0 t && metric_ok d m w && inverse_ok short d A M c
     && (Qeq_bool t 0
         || factors_ok short d beta u B
            && Qle_bool (prod_Q d (fun _ => t)) (prod_Q d (fun _ => inject_Z (Z.of_nat d)) * prod_Q d (item beta))) then
    let v := trace_Q short d B M in Some (t * t, v * v)%Q
  else None.

Lemma all_below_spec d f : all_below d f = true -> forall k, (k < d)%nat -> f k = true.
Proof. unfold all_below. rewrite forallb_forall. intros H k K. apply H, in_seq. lia. Qed.

Lemma zero_real : Q2R 0 = 0. Proof. unfold Q2R. simpl. lra. Qed.
Lemma one_real : Q2R 1 = 1. Proof. unfold Q2R. simpl. lra. Qed.

Lemma shorter_real div gcd q : Q2R (shorter div gcd q) = Q2R q.
Proof.
  unfold shorter. set (g := gcd _ _). set (n := div (Qnum q) g). destruct (div (Zpos (Qden q)) g) as [|m|m]; auto.
  destruct (_ && _) eqn:E; [|auto]. apply andb_prop in E. destruct E as [E1 E2]. apply Z.eqb_eq in E1, E2.
  apply Qeq_eqR. unfold Qeq. cbn [Qnum Qden]. rewrite <- E1, <- E2. ring.
Qed.

Lemma sum_Q_real short n : (forall q, Q2R (short q) = Q2R q) ->
  forall f, Q2R (sum_Q short n f) = sum n (fun k => Q2R (f k)).
Proof. intros H. induction n as [|n IH]; intros f; cbn [sum_Q sum]; [apply zero_real|rewrite H, Q2R_plus, IH; auto]. Qed.

Lemma prod_Q_real n : forall f, Q2R (prod_Q n f) = prod n (fun k => Q2R (f k)).
Proof. induction n as [|n IH]; intros f; cbn [prod_Q prod]; [apply one_real|rewrite Q2R_mult, IH; auto]. Qed.

Lemma prod_same n : forall c, prod n (fun _ => c) = c ^ n.
Proof. induction n as [|n IH]; intros c; cbn [prod pow]; [auto|rewrite IH; auto]. Qed.

Lemma above_zero_real q : above_zero q = true -> 0 < Q2R q.
Proof.
  unfold above_zero. intros H. apply negb_true_iff in H. rewrite <- zero_real. apply Qlt_Rlt, Qnot_le_lt. intros L.
  apply Qle_bool_iff in L. congruence.
Qed.

Lemma equal_real p q : Qeq_bool p q = true -> Q2R p = Q2R q.
Proof. intros H. apply Qeq_eqR, Qeq_bool_iff. auto. Qed.

(** A triangular factor: positive numbers, 1 on the diagonal, 0 on one side. *)
Lemma triangular_real d (side : nat -> nat -> bool) beta u :
  all_below d (fun k => above_zero (item beta k) && Qeq_bool (cell u k k) 1
    && all_below d (fun j => side j k || Qeq_bool (cell u k j) 0)) = true ->
  forall k, (k < d)%nat -> 0 < Q2R (item beta k) /\ Q2R (cell u k k) = 1 /\
    forall j, (j < d)%nat -> side j k = false -> Q2R (cell u k j) = 0.
Proof.
  intros H k K. assert (A := all_below_spec d _ H k K). cbv beta in A.
  apply andb_prop in A. destruct A as [A Zero]. apply andb_prop in A. destruct A as [Pos One].
  split; [apply above_zero_real; auto|]. split; [rewrite <- one_real; apply equal_real; auto|]. intros j J S.
  assert (C := all_below_spec d _ Zero j J). cbv beta in C. rewrite S in C. rewrite <- zero_real. apply equal_real. auto.
Qed.

(** The determinant of a matrix that is given by its terms is the product of the m_k. *)
Lemma det_terms d : forall (M : matrix) (m : nat -> R) (w : nat -> vector),
  (forall i j, (i < d)%nat -> (j < d)%nat -> M i j = sum d (fun k => m k * (w k i * w k j))) ->
  (forall k, (k < d)%nat -> 0 < m k /\ w k k = 1 /\ forall j, (j < k)%nat -> w k j = 0) -> det d M = prod d m.
Proof.
  induction d as [|d IH]; intros M m w E H; cbn [det prod]; [auto|].
  destruct (H O ltac:(lia)) as [M0 [W0 _]].
  assert (First : forall i j, (i = O \/ j = O)%nat -> (i < S d)%nat -> (j < S d)%nat -> M i j = m O * (w O i * w O j)).
  { intros i j Z I J. rewrite E by auto. cbn [sum]. rewrite (sum_ext d _ (fun _ => 0)); [rewrite sum_zero; ring|].
    intros k K. destruct (H (S k) ltac:(lia)) as [_ [_ Zero]]. destruct Z as [-> | ->]; rewrite (Zero O) by lia; ring. }
  assert (E00 : M O O = m O) by (rewrite First, W0 by (auto; lia); ring). rewrite E00. f_equal.
  apply (IH _ (fun k => m (S k)) (fun k j => w (S k) (S j))).
  - intros i j I J. unfold eliminated_first. rewrite E00, (First (S i) O), (First O (S j)), E, W0 by (auto; lia).
    cbn [sum]. field. lra.
  - intros k K. destruct (H (S k) ltac:(lia)) as [A [B C]]. split; [auto|]. split; auto. intros j J. apply C. lia.
Qed.

Lemma inner_swap d A B : inner d A B = inner d B A.
Proof. apply sum_ext. intros. apply sum_ext. intros. ring. Qed.

Lemma terms_psd d m w : (forall k, (k < d)%nat -> 0 < Q2R (item m k)) -> psd d (of_terms d m w).
Proof.
  intros H. apply kind_psd.
  - intros i j. unfold of_terms. apply sum_ext. intros. ring.
  - intros A HA. unfold of_terms. rewrite (inner_terms d A d (fun k => Q2R (item m k)) (fun k i => Q2R (cell w k i))).
    apply sum_pos. intros k K. apply Rmult_le_pos; [left; auto|apply HA].
Qed.

Lemma cells_of_terms_real short d m w i j : (forall q, Q2R (short q) = Q2R q) -> (i < d)%nat -> (j < d)%nat ->
  Q2R (cell (cells_of_terms short d m w) i j) = of_terms d m w i j.
Proof.
  intros H I J. unfold cell, cells_of_terms, of_terms.
  rewrite (nth_indep _ [] (map (fun j => sum_Q short d (fun k => item m k * (cell w k 0 * cell w k j))%Q) (seq 0 d)))
    by (rewrite map_length, seq_length; auto).
  rewrite (map_nth (fun i => map (fun j => sum_Q short d (fun k => item m k * (cell w k i * cell w k j))%Q) (seq 0 d)) (seq 0 d) O i).
  rewrite seq_nth by auto. cbn [Nat.add].
  rewrite (nth_indep _ 0%Q (sum_Q short d (fun k => item m k * (cell w k i * cell w k 0))%Q)) by (rewrite map_length, seq_length; auto).
  rewrite (map_nth (fun j => sum_Q short d (fun k => item m k * (cell w k i * cell w k j))%Q) (seq 0 d) O j).
  rewrite seq_nth by auto. cbn [Nat.add]. rewrite sum_Q_real by auto. apply sum_ext. intros k _. rewrite !Q2R_mult. reflexivity.
Qed.

(** M is feasible, its objective is hi, it is c times the inverse of A, and lo is at most every objective. *)
Theorem glml_sound div gcd d B beta u t A c m w lo hi : check_glml div gcd d B beta u t A c m w = Some (lo, hi) ->
  (forall M, glml_feasible d M -> Q2R lo <= glml_cost d (real_cells B) M) /\
  glml_feasible d (of_terms d m w) /\ glml_cost d (real_cells B) (of_terms d m w) = Q2R hi /\
  inverse_of d (real_cells A) (of_terms d m w) (Q2R c).
Proof.
  unfold check_glml. set (short := shorter div gcd). assert (Short : forall q, Q2R (short q) = Q2R q) by apply shorter_real.
  set (M0 := cells_of_terms short d m w). intros H.
  destruct (_ && _) eqn:Ok in H; [|discriminate]. inversion H; subst; clear H.
  repeat (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]). apply Nat.ltb_lt in Ok.
  apply andb_prop in K1. destruct K1 as [Tri One]. assert (Tm := triangular_real d (fun j k => (k <=? j)%nat) m w Tri).
  assert (Terms : forall i j, (i < d)%nat -> (j < d)%nat -> Q2R (cell M0 i j) = of_terms d m w i j)
    by (intros; apply cells_of_terms_real; auto).
  assert (Value : inner d (of_terms d m w) (real_cells B) = Q2R (trace_Q short d B M0)).
  { rewrite inner_swap. unfold trace_Q. rewrite sum_Q_real by auto. apply sum_ext. intros i I. rewrite sum_Q_real by auto.
    apply sum_ext. intros j J. rewrite Q2R_mult, Terms by auto. reflexivity. }
  apply Qle_bool_iff, Qle_Rle in K2. rewrite zero_real in K2.
  split; [|split; [split|split]].
  - intros M F. rewrite Q2R_mult. apply orb_prop in K. destruct K as [Z|K].
    + apply equal_real in Z. rewrite zero_real in Z. rewrite Z. unfold glml_cost. assert (S := Rle_0_sqr (inner d M (real_cells B))).
      unfold Rsqr in S. lra.
    + apply andb_prop in K. destruct K as [Fac Pow]. apply andb_prop in Fac. destruct Fac as [Same Tri'].
      assert (Tb := triangular_real d (fun j k => (j <=? k)%nat) beta u Tri').
      apply (glml_bound d _ (fun k => Q2R (item beta k)) (fun k i => Q2R (cell u k i))); auto.
      * split.
        -- intros i j I J. unfold real_cells. rewrite (equal_real _ _ (all_below_spec d _ (all_below_spec d _ Same i I) j J)).
           rewrite sum_Q_real by auto. apply sum_ext. intros k _. rewrite !Q2R_mult. reflexivity.
        -- intros k K. destruct (Tb k K) as [P [E Z]]. split; [auto|]. split; auto. intros j J. apply Z; [lia|].
           apply Nat.leb_gt. lia.
      * apply Qle_bool_iff, Qle_Rle in Pow. rewrite Q2R_mult, !prod_Q_real, !prod_same in Pow.
        replace (Q2R (inject_Z (Z.of_nat d))) with (INR d) in Pow; [auto|].
        rewrite INR_IZR_INZ. unfold Q2R, inject_Z. simpl. lra.
  - apply terms_psd. intros k K'. apply Tm. auto.
  - rewrite (det_terms d _ (fun k => Q2R (item m k)) (fun k i => Q2R (cell w k i))).
    + apply Qle_bool_iff, Qle_Rle in One. rewrite one_real, prod_Q_real in One. auto.
    + intros. reflexivity.
    + intros k K'. destruct (Tm k K') as [P [E Z]]. split; [auto|]. split; auto. intros j J. apply Z; [lia|].
      apply Nat.leb_gt. lia.
  - unfold glml_cost. rewrite Value, Q2R_mult. reflexivity.
  - intros i j I J. assert (E := equal_real _ _ (all_below_spec d _ (all_below_spec d _ K0 i I) j J)). rewrite sum_Q_real in E by auto.
    replace (if (i =? j)%nat then Q2R c else 0) with (Q2R (if (i =? j)%nat then c else 0%Q)) by (destruct (i =? j)%nat; [auto|apply zero_real]).
    rewrite <- E. apply sum_ext. intros k K'. rewrite Q2R_mult, Terms by auto. reflexivity.
Qed.

(** For example B = [[2, 1], [1, 3]], of which the optimum is (2 sqrt 5)^2 = 20: an interval of a width of 3e-9. *)
Example glml_of_two_features : exists lo hi,
  check_glml Z.div Z.gcd 2 [[2; 1]; [1; 3]]%Q [5 # 3; 3]%Q [[1; 0]; [1 # 3; 1]]%Q (4472135954 # 1000000000)
    [[2; 1]; [1; 3]]%Q (2236067978 # 1000000000)
    [2236067978 * 3 # 5000000000; 2236067978 # 3000000000]%Q [[1; -(1 # 3)]; [0; 1]]%Q = Some (lo, hi) /\
  Qle_bool (19999999989 # 1000000000) lo && Qle_bool lo 20 && Qle_bool 20 hi && Qle_bool hi (20000000010 # 1000000000) = true.
Proof. eexists. eexists. split; [vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
