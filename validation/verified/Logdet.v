(** What problems with log det share: tr M Z - ln det M is at least d + ln det Z, for positive definite M and Z.

    The determinants are products of pivots. That of a matrix of integers is the last pivot of elimination without
    fractions. A logarithm is a hint, as in Exponentials.v, with as many digits as are asked for. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Glml Exponentials Gmml.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe, beside [det] of Glml *)

Definition definite (d : nat) (A : matrix) : Prop := psd d A /\ (0 < det d A)%R.

(** The divergence from A_0. P is the inverse of A_0. *)
Definition D_ld (d : nat) (P A_0 A : matrix) : R := (inner d A P - (ln (det d A) - ln (det d A_0)) - INR d)%R.

(** ** Pivots *)

Fixpoint pivots (d : nat) (M : matrix) : Prop :=
  match d with O => True | S d => (0 < M O O)%R /\ pivots d (eliminated_first M) end.

Lemma eliminated_ext d M N : (forall i j, (i < S d)%nat -> (j < S d)%nat -> M i j = N i j) ->
  forall i j, (i < d)%nat -> (j < d)%nat -> eliminated_first M i j = eliminated_first N i j.
Proof. intros E i j I J. unfold eliminated_first. rewrite !E by lia. reflexivity. Qed.

Lemma det_ext d : forall M N, (forall i j, (i < d)%nat -> (j < d)%nat -> M i j = N i j) -> det d M = det d N.
Proof.
  induction d as [|d IH]; intros M N E; cbn [det]; [reflexivity|]. rewrite E by lia. f_equal. apply IH.
  apply eliminated_ext. auto.
Qed.

Lemma pivots_ext d : forall M N, (forall i j, (i < d)%nat -> (j < d)%nat -> M i j = N i j) -> pivots d M -> pivots d N.
Proof.
  induction d as [|d IH]; intros M N E; cbn [pivots]; [auto|]. rewrite E by lia. intros [P H]. split; [auto|].
  apply (IH (eliminated_first M)); [|auto]. apply eliminated_ext. auto.
Qed.

Lemma pivots_det d : forall M, pivots d M -> (0 < det d M)%R.
Proof. induction d as [|d IH]; intros M H; cbn [det]; [lra|]. destruct H. apply Rmult_lt_0_compat; auto. Qed.

(** A multiple of a matrix *)
Lemma pivots_times c d : (0 < c)%R -> forall M, pivots d M ->
  pivots d (fun i j => c * M i j)%R /\ det d (fun i j => c * M i j)%R = (c ^ d * det d M)%R.
Proof.
  intros C. induction d as [|d IH]; intros M H; cbn [det pow]; [split; [exact I|ring]|]. destruct H as [P H].
  destruct (IH _ H) as [A B].
  assert (E : forall i j, (i < d)%nat -> (j < d)%nat ->
    (c * eliminated_first M i j)%R = eliminated_first (fun i j => c * M i j)%R i j).
  { intros i j _ _. unfold eliminated_first. field. lra. }
  split; [split; [apply Rmult_lt_0_compat; auto|apply (pivots_ext d _ _ E A)]|].
  rewrite <- (det_ext d _ _ E), B. ring.
Qed.

(** With pivots above 0, M = sum_k b_k w_k w_k^T, where w_k is 1 at k and 0 before it. *)
Lemma terms_of_pivots d : forall M, (forall i j, (i < d)%nat -> (j < d)%nat -> M i j = M j i) -> pivots d M ->
  exists b w, (forall i j, (i < d)%nat -> (j < d)%nat -> M i j = sum d (fun k => b k * (w k i * w k j))%R) /\
    (forall k, (k < d)%nat -> (0 < b k)%R /\ w k k = 1%R /\ forall j, (j < k)%nat -> w k j = 0%R) /\ prod d b = det d M.
Proof.
  induction d as [|d IH]; intros M Sym H; [exists (fun _ => 0%R), (fun _ _ => 0%R); repeat split; intros; lia|].
  destruct H as [P H]. destruct (IH (eliminated_first M)) as [b [w [E [T Pr]]]]; [|exact H|].
  { intros i j I J. unfold eliminated_first. rewrite (Sym (S i) (S j)), (Sym (S i) O), (Sym O (S j)) by lia. field. lra. }
  exists (fun k => match k with O => M O O | S k => b k end).
  exists (fun k j => match k, j with O, _ => (M O j / M O O)%R | S _, O => 0%R | S k, S j => w k j end).
  split; [|split; [|change (M O O * prod d b = M O O * det d (eliminated_first M))%R; rewrite Pr; reflexivity]].
  - intros i j I J. cbn [sum]. destruct i as [|i], j as [|j].
    + rewrite (sum_ext d _ (fun _ => 0%R)) by (intros; ring). rewrite sum_zero. field. lra.
    + rewrite (sum_ext d _ (fun _ => 0%R)) by (intros; ring). rewrite sum_zero. field. lra.
    + rewrite (sum_ext d _ (fun _ => 0%R)) by (intros; ring). rewrite sum_zero, (Sym (S i) O) by lia. field. lra.
    + rewrite <- (E i j) by lia. unfold eliminated_first. rewrite (Sym (S i) O) by lia. field. lra.
  - intros [|k] K; [split; [auto|split; [field; lra|intros; lia]]|]. destruct (T k ltac:(lia)) as [A [B C]].
    split; [auto|]. split; [auto|]. intros [|j] J; [reflexivity|]. apply C. lia.
Qed.

Lemma pivots_psd d M : (forall i j, M i j = M j i) -> pivots d M -> psd d M.
Proof.
  intros Sym H. destruct (terms_of_pivots d M (fun i j _ _ => Sym i j) H) as [b [w [E [T _]]]]. apply kind_psd; [auto|].
  intros A [_ HA]. rewrite (inner_ext d A M _ E), inner_terms. apply sum_pos. intros k K.
  apply Rmult_le_pos; [left; apply T; auto|apply HA].
Qed.

(** ** The bound *)

Lemma sum_last n : forall f, sum (S n) f = (sum n f + f n)%R.
Proof.
  induction n as [|n IH]; intros f; [simpl; ring|]. change (sum (S (S n)) f) with (f O + sum (S n) (fun k => f (S k)))%R.
  rewrite IH. cbn [sum]. ring.
Qed.

Lemma prod_last n : forall f, prod (S n) f = (prod n f * f n)%R.
Proof.
  induction n as [|n IH]; intros f; [simpl; ring|]. change (prod (S (S n)) f) with (f O * prod (S n) (fun k => f (S k)))%R.
  rewrite IH. cbn [prod]. ring.
Qed.

Lemma sum_turned n : forall f, sum n (fun k => f (n - 1 - k)%nat) = sum n f.
Proof.
  induction n as [|n IH]; intros f; [reflexivity|]. rewrite (sum_last n f), <- (IH f). cbn [sum].
  replace (S n - 1 - 0)%nat with n by lia. rewrite Rplus_comm. f_equal. apply sum_ext. intros k K. f_equal. lia.
Qed.

Lemma prod_ext n : forall f g, (forall k, (k < n)%nat -> f k = g k) -> prod n f = prod n g.
Proof.
  induction n as [|n IH]; intros f g E; cbn [prod]; [reflexivity|]. rewrite E by lia. f_equal. apply IH. intros; apply E; lia.
Qed.

Lemma prod_turned n : forall f, prod n (fun k => f (n - 1 - k)%nat) = prod n f.
Proof.
  induction n as [|n IH]; intros f; [reflexivity|]. rewrite (prod_last n f), <- (IH f). cbn [prod].
  replace (S n - 1 - 0)%nat with n by lia. rewrite Rmult_comm. f_equal. apply prod_ext. intros k K. f_equal. lia.
Qed.

Lemma ln_prod n : forall x, (forall k, (k < n)%nat -> (0 < x k)%R) -> (ln (prod n x) <= sum n x - INR n)%R.
Proof.
  induction n as [|n IH]; intros x H; [simpl; rewrite ln_1; lra|]. rewrite S_INR. cbn [prod sum].
  assert (P : forall k, (k < n)%nat -> (0 < x (S k))%R) by (intros; apply H; lia).
  rewrite ln_mult; [|apply H; lia|apply prod_pos; auto]. assert (A := IH _ P). assert (B := ln_below (x O) ltac:(apply H; lia)). lra.
Qed.

(** The features in the other order *)
Definition turned (d : nat) (Z : matrix) : matrix := fun i j => Z (d - 1 - i)%nat (d - 1 - j)%nat.

(** Z is eliminated from its last feature on, and M from its first. *)
Theorem log_det_bound d Z : (forall i j, Z i j = Z j i) -> pivots d (turned d Z) ->
  forall M, definite d M -> (INR d + ln (det d (turned d Z)) <= inner d M Z - ln (det d M))%R.
Proof.
  intros Sym H M [HM DM]. assert (HZ := pivots_det _ _ H).
  destruct (terms_of_pivots d (turned d Z)) as [b [w [E [T Pr]]]]; [intros; apply Sym|exact H|].
  set (beta := fun k => b (d - 1 - k)%nat). set (u := fun k j => w (d - 1 - k)%nat (d - 1 - j)%nat).
  assert (F : factors_of d beta u Z).
  { split.
    - intros i j I J. replace (Z i j) with (turned d Z (d - 1 - i)%nat (d - 1 - j)%nat) by (unfold turned; f_equal; lia).
      rewrite E by lia. symmetry. apply (sum_turned d (fun k => b k * (w k (d - 1 - i)%nat * w k (d - 1 - j)%nat))%R).
    - intros k K. destruct (T (d - 1 - k)%nat ltac:(lia)) as [A [B C]]. split; [exact A|]. split; [exact B|].
      intros j J. apply C. lia. }
  rewrite (inner_factors d M beta u Z F). destruct F as [_ F]. destruct (trace_terms d M beta u HM DM F) as [x [Pos [Px Sx]]].
  assert (L := ln_prod d x Pos). rewrite Px in L. unfold beta in L. rewrite prod_turned, Pr, ln_mult in L; auto. lra.
Qed.

(** ** Determinants of integers *)

(** The last pivot of elimination without fractions, after the pivot p; None if a pivot is not positive *)
Fixpoint last_pivot (div : Z -> Z -> Z) (d : nat) (p : Z) (T : triangle) : option Z :=
  match d, T with
  | O, _ => Some p
  | S d, (z :: r) :: rest =>
      if 0 <? z then
        let (next, c) := divided div p (add_square (-1) r (times z rest)) in
        if c =? p then last_pivot div d z next else None
      else None
  | _, _ => None
  end.

Lemma last_pivot_correct div d : forall p T e, 0 < p -> last_pivot div d p T = Some e ->
  0 < e /\ pivots d (reals T) /\ (det d (reals T) * IZR p = IZR e * IZR p ^ d)%R.
Proof.
  induction d as [|d IH]; intros p T e P H; cbn [last_pivot det pow pivots] in *.
  - injection H as <-. split; [auto|]. split; [exact I|ring].
  - destruct T as [|[|z r] rest]; try discriminate. destruct (0 <? z) eqn:Zp; [|discriminate]. apply Z.ltb_lt in Zp.
    destruct (divided _ _ _) as [W c] eqn:E. destruct (Z.eqb_spec c p) as [->|_]; [|discriminate].
    destruct (divided_entry _ _ _ _ _ E P) as [_ EW]. destruct (IH _ _ _ Zp H) as [Pe [Pv De]].
    apply IZR_lt in P. apply IZR_lt in Zp.
    assert (Ew : forall i j, (i < d)%nat -> (j < d)%nat ->
      (IZR p / IZR z * reals W i j)%R = eliminated_first (reals ((z :: r) :: rest)) i j).
    { intros i j _ _. unfold eliminated_first, reals. cbn [entry nth].
      specialize (EW i j). rewrite add_square_entry, times_entry in EW. apply (f_equal IZR) in EW.
      rewrite mult_IZR, plus_IZR, !mult_IZR in EW. apply (Rmult_eq_reg_l (IZR z)); [|lra].
      replace (IZR z * (IZR p / IZR z * IZR (entry W i j)))%R with (IZR p * IZR (entry W i j))%R by (field; lra).
      rewrite EW. simpl (IZR (-1)). field. lra. }
    destruct (pivots_times (IZR p / IZR z) d ltac:(apply Rdiv_lt_0_compat; auto) _ Pv) as [A B].
    split; [auto|]. split; [split; [exact Zp|exact (pivots_ext d _ _ Ew A)]|].
    assert (De' := det_ext d _ _ Ew). rewrite B in De'.
    transitivity (IZR z * det d (eliminated_first (reals ((z :: r) :: rest))) * IZR p)%R; [reflexivity|]. rewrite <- De'.
    apply (Rmult_eq_reg_r (IZR z)); [|lra]. unfold Rdiv. rewrite Rpow_mult_distr, pow_inv.
    assert (N := pow_nonzero (IZR z) d ltac:(lra)).
    replace (IZR z * (IZR p ^ d * / IZR z ^ d * det d (reals W)) * IZR p * IZR z)%R
      with (IZR z * (IZR p ^ d * / IZR z ^ d) * IZR p * (det d (reals W) * IZR z))%R by ring.
    rewrite De. field. auto.
Qed.

Fixpoint power (p : positive) (d : nat) : positive := match d with O => 1%positive | S d => (p * power p d)%positive end.

Lemma power_correct p d : IZR (Zpos (power p d)) = (IZR (Zpos p) ^ d)%R.
Proof. induction d as [|d IH]; [reflexivity|]. cbn [power pow]. rewrite Pos2Z.inj_mul, mult_IZR, IH. reflexivity. Qed.

(** The determinant of a triangle over a number *)
Lemma det_over div d T p e : last_pivot div d 1 T = Some e ->
  0 < e /\ pivots d (real_matrix T p) /\ det d (real_matrix T p) = (IZR e / IZR (Zpos (power p d)))%R.
Proof.
  intros H. destruct (last_pivot_correct div d 1 T e ltac:(lia) H) as [Pe [Pv De]]. assert (P := pos_IZR p).
  rewrite pow1, !Rmult_1_r in De. split; [auto|].
  assert (E : forall i j, (i < d)%nat -> (j < d)%nat -> (/ IZR (Zpos p) * reals T i j)%R = real_matrix T p i j)
    by (intros; unfold real_matrix, reals, Rdiv; ring).
  destruct (pivots_times (/ IZR (Zpos p)) d ltac:(apply Rinv_0_lt_compat; auto) _ Pv) as [A B].
  split; [exact (pivots_ext d _ _ E A)|]. rewrite <- (det_ext d _ _ E), B, De, power_correct, pow_inv. unfold Rdiv. ring.
Qed.

Definition det_of (div : Z -> Z -> Z) (d : nat) (m : metric) : option Z := last_pivot div d 1 (triangle_of m).

Lemma det_of_correct div d m e : det_of div d m = Some e ->
  0 < e /\ definite d (value_of m) /\ det d (value_of m) = (IZR e / IZR (Zpos (power (over_of m) d)))%R.
Proof.
  intros H. destruct (det_over div d _ (over_of m) e H) as [Pe [Pv De]]. split; [auto|]. split; [|exact De].
  split; [|apply pivots_det; exact Pv]. apply pivots_psd; [|exact Pv].
  intros i j. unfold value_of, real_matrix. rewrite entry_symmetric. reflexivity.
Qed.

(** A triangle with the features in the other order *)
Definition turned_whole (d : nat) (T : triangle) : triangle := upper d (fun i j => entry T (d - 1 - i) (d - 1 - j)).

Lemma turned_whole_entry d T i j : (i < d)%nat -> (j < d)%nat ->
  entry (turned_whole d T) i j = entry T (d - 1 - i) (d - 1 - j).
Proof.
  intros I J. unfold turned_whole. rewrite upper_entry by auto. destruct (Nat.le_ge_cases i j).
  - rewrite Nat.min_l, Nat.max_r by auto. reflexivity.
  - rewrite Nat.min_r, Nat.max_l by auto. apply entry_symmetric.
Qed.

(** tr A Z - ln det A is at least d + ln (e / p^d), for the Z of a triangle over p. *)
Lemma log_det_below div d T p e : last_pivot div d 1 (turned_whole d T) = Some e ->
  0 < e /\ forall A, definite d A ->
    (INR d + ln (IZR e / IZR (Zpos (power p d))) <= inner d A (real_matrix T p) - ln (det d A))%R.
Proof.
  intros H. destruct (det_over div d _ p e H) as [Pe [Pv De]]. split; [auto|]. intros A HA.
  assert (E : forall i j, (i < d)%nat -> (j < d)%nat -> real_matrix (turned_whole d T) p i j = turned d (real_matrix T p) i j).
  { intros i j I J. unfold real_matrix, turned. rewrite turned_whole_entry by auto. reflexivity. }
  rewrite <- De, (det_ext d _ _ E). apply log_det_bound; [|exact (pivots_ext d _ _ E Pv)|exact HA].
  intros i j. unfold real_matrix. rewrite entry_symmetric. reflexivity.
Qed.

(** ** Logarithms: z / r is at least ln (n / p). Exponentials are rounded to multiples of 1 / u. *)

Definition exp_within (div : Z -> Z -> Z) (u : positive) : Z -> positive -> Z := exp_down div u 90.

Lemma exp_within_correct div u x r : (IZR (exp_within div u x r) / IZR (Zpos u) <= exp (IZR x / IZR (Zpos r)))%R.
Proof. apply (exp_down_correct div u 90 x r). Qed.

(* with the number itself, proofs would compute *)
Opaque exp_within.

Definition ln_within (div : Z -> Z -> Z) (u : positive) (n : Z) (p : positive) (z : Z) (r : positive) : bool :=
  n * Zpos u <=? exp_within div u z r * Zpos p.

Theorem ln_within_correct div u n p z r : 0 < n -> ln_within div u n p z r = true ->
  (ln (IZR n / IZR (Zpos p)) <= IZR z / IZR (Zpos r))%R.
Proof.
  intros N H. apply Z.leb_le, IZR_le in H. assert (B := exp_within_correct div u z r). set (b := exp_within div u z r) in *.
  rewrite !mult_IZR in H. apply IZR_lt in N. assert (U := pos_IZR u). assert (P := pos_IZR p).
  rewrite <- (ln_exp (IZR z / IZR (Zpos r))). apply ln_le; [apply Rdiv_lt_0_compat; auto|].
  apply Rle_trans with (2 := B). apply (Rmult_le_reg_r (IZR (Zpos p) * IZR (Zpos u))); [apply Rmult_lt_0_compat; auto|].
  replace (IZR n / IZR (Zpos p) * (IZR (Zpos p) * IZR (Zpos u)))%R with (IZR n * IZR (Zpos u))%R by (field; lra).
  replace (IZR b / IZR (Zpos u) * (IZR (Zpos p) * IZR (Zpos u)))%R with (IZR b * IZR (Zpos p))%R by (field; lra). exact H.
Qed.

Lemma ln_quotient a b : (0 < a)%R -> (0 < b)%R -> ln (a / b) = (ln a - ln b)%R.
Proof. intros A B. unfold Rdiv. rewrite ln_mult, ln_Rinv; [ring|auto|auto|apply Rinv_0_lt_compat; auto]. Qed.

(** ** Weighted pairs and a matrix beside them *)

(** The sum of (w / p) (x_i - x_j) (x_i - x_j)^T, plus a matrix, over the second number *)
Definition beside (X : points) (P : list weighted) (p : positive) (m : metric) : triangle * positive :=
  let square := (over X * over X)%positive in
  (joined (times (Zpos (over_of m)) (squares (table (rows X)) P)) (times (Zpos (square * p)) (triangle_of m)),
   (square * p * over_of m)%positive).

Lemma inner_joined d A T U : inner d A (reals (joined T U)) = (inner d A (reals T) + inner d A (reals U))%R.
Proof. rewrite <- inner_plus. apply inner_ext. intros. unfold reals. rewrite joined_entry, plus_IZR. reflexivity. Qed.

Lemma inner_real d A T p : inner d A (real_matrix T p) = (/ IZR (Zpos p) * inner d A (reals T))%R.
Proof. rewrite <- inner_times. apply inner_ext. intros. unfold real_matrix, reals, Rdiv. ring. Qed.

Lemma beside_correct X P p m A : inner (features X) A (real_matrix (fst (beside X P p m)) (snd (beside X P p m)))
  = (total (fun w => IZR (weight w) / IZR (Zpos p) * D X A (one w) (other w)) P + inner (features X) A (value_of m))%R.
Proof.
  assert (O := pos_IZR (over X)). assert (Pp := pos_IZR p). assert (M := pos_IZR (over_of m)).
  unfold beside, value_of. cbv zeta. cbn [fst snd].
  rewrite !inner_real, inner_joined, !inner_times_triangle. unfold squares. rewrite inner_squares, inner_empty.
  rewrite (total_ext (fun w => IZR (weight w) / IZR (Zpos p) * D X A (one w) (other w))%R
    (fun w => / IZR (Zpos p) * (IZR (weight w) * D X A (one w) (other w)))%R) by (intros; unfold Rdiv; ring).
  rewrite total_times, !Pos2Z.inj_mul, !mult_IZR. field. lra.
Qed.
