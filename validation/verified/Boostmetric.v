(** BoostMetric: what the check accepts is proved. The upper end is at least the objective of the metric.

    The trace is a sum of distances: A_kk is the distance of the unit vector of feature k from the origin. So the problem
    is one of distances of the points and these vectors. For shares a_t > 0 with the sum 1, ln sum exp (- margin_t) is at
    least - sum a_t margin_t - sum a_t ln a_t. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Spread Exponentials Softmaxes.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe *)

Definition trace (d : nat) (A : matrix) : R := sum d (fun k => A k k).

Definition boostmetric_cost (X : points) (L : list triplet) (v : Q) (A : matrix) : R :=
  (ln (total (fun t => exp (- margin (D X A) t)) L) + Q2R v * trace (features X) A)%R.

(** ** The points with the unit vectors after them *)

Definition axis (d : nat) (o : positive) (k : nat) : row := map (fun j => if (j =? k)%nat then Zpos o else 0) (seq 0 d).

Definition with_axes (X : points) : points :=
  {| features := features X; over := over X;
     rows := rev_append (rev_append (rows X) []) (map (axis (features X) (over X)) (seq 0 (features X))) |}.

(** The pairs of a unit vector and the origin, which is the point after all others *)
Definition axes (X : points) : list pair :=
  let n := size (rows X) in
  map (fun k => (n + N.of_nat k, n + N.of_nat (features X))%N) (seq 0 (features X)).

Lemma with_axes_rows X : rows (with_axes X) = rows X ++ map (axis (features X) (over X)) (seq 0 (features X)).
Proof. simpl. rewrite !rev_append_rev, app_nil_r, rev_involutive. reflexivity. Qed.

Lemma D_with_axes X A i j : (N.to_nat i < length (rows X))%nat -> (N.to_nat j < length (rows X))%nat ->
  D (with_axes X) A i j = D X A i j.
Proof. intros I J. unfold D, at_. rewrite with_axes_rows, !app_nth1 by auto. reflexivity. Qed.

Lemma sum_at n : forall (f : nat -> R) k, (k < n)%nat -> sum n (fun j => if Nat.eqb j k then f j else 0%R) = f k.
Proof.
  induction n as [|n IH]; intros f k K; [lia|]. cbn [sum]. destruct k as [|k]; cbn [Nat.eqb].
  - rewrite sum_zero. ring.
  - rewrite (IH (fun j => f (S j))) by lia. ring.
Qed.

Lemma D_axis X A k : (k < features X)%nat ->
  D (with_axes X) A (size (rows X) + N.of_nat k) (size (rows X) + N.of_nat (features X)) = A k k.
Proof.
  intros K. set (d := features X) in *. assert (Pq := pos_IZR (over X)). unfold D, at_. rewrite with_axes_rows, size_length. fold d.
  rewrite !N2Nat.inj_add, !Nat2N.id. set (n := length (rows X)). set (E := map (axis d (over X)) (seq 0 d)).
  assert (At : forall j, nth (n + j) (rows X ++ E) [] = nth j E []).
  { intros j. rewrite app_nth2 by (fold n; lia). f_equal. fold n. lia. }
  rewrite !At, (nth_overflow E (n := d)) by (unfold E; rewrite map_length, seq_length; lia). unfold E.
  rewrite (nth_indep _ [] (axis d (over X) 0)) by (rewrite map_length, seq_length; lia). rewrite map_nth, seq_nth by lia.
  cbn [Nat.add over features with_axes]. fold d. unfold dist.
  rewrite (form_ext d A _ (fun j => if Nat.eqb j k then 1 else 0)%R).
  - unfold form. rewrite (sum_ext d _ (fun i => if Nat.eqb i k then A i k else 0%R)).
    + apply (sum_at d (fun i => A i k)). auto.
    + intros i I. rewrite (sum_ext d _ (fun j => if Nat.eqb j k then (if Nat.eqb i k then A i j else 0)%R else 0%R)).
      * rewrite (sum_at d (fun j => if Nat.eqb i k then A i j else 0%R)) by auto. reflexivity.
      * intros j J. destruct (Nat.eqb i k), (Nat.eqb j k); ring.
  - intros j J. unfold real_point. rewrite nth_nil. unfold axis.
    rewrite (nth_indep _ 0 (if Nat.eqb 0 k then Zpos (over X) else 0)) by (rewrite map_length, seq_length; lia).
    rewrite (map_nth (fun j => if Nat.eqb j k then Zpos (over X) else 0) (seq 0 d) O j), seq_nth by lia. cbn [Nat.add].
    destruct (Nat.eqb j k); field; lra.
Qed.

Lemma trace_axes X A : total (fun s => D (with_axes X) A (fst s) (snd s)) (axes X) = trace (features X) A.
Proof.
  unfold axes, trace. cbv zeta. rewrite total_map. cbn [fst snd].
  rewrite (total_ext _ (fun k => A k k)) by (intros k K; apply in_seq in K; apply D_axis; lia).
  generalize (fun k => A k k) (features X). clear. intros f n.
  assert (E : forall m, total f (seq m n) = sum n (fun k => f (m + k)%nat)); [|apply E].
  induction n as [|n IH]; intros m; simpl; [reflexivity|]. rewrite IH, Nat.add_0_r. f_equal. apply sum_ext. intros k _.
  f_equal. lia.
Qed.

(** ** The check *)

(** A triplet, its share over p, and a number that is at least the logarithm of the share *)
Definition triplet_share : Type := triplet * (Z * Z).

Definition share_ok (div : Z -> Z -> Z) (p r : positive) (s : triplet_share) : bool :=
  (0 <? fst (snd s)) && ln_at_most div (fst (snd s)) p (snd (snd s)) r.

Definition of_shares (shares : list triplet_share) : list (triplet * Z) := gathered (fun s : triplet_share => [(fst s, fst (snd s))]) shares.
Definition entropy (shares : list triplet_share) : Z := summed (fun s : triplet_share => fst (snd s) * snd (snd s)) shares.

Definition boost_value (div : Z -> Z -> Z) (v : Q) (r : positive) (z : Z) (L : list triplet) (axes : list pair)
    (whole : N -> N -> Z) (unit : positive) : option Q :=
  let l := gathered (fun t : triplet => let '(i, j, k) := t in [whole i j - whole i k]) L in
  let top := largest l in
  if log_sum_at_most div top l unit z r then
    Some ((top # unit) + (z # r) + v * (summed (fun s : pair => whole (fst s) (snd s)) axes # unit))%Q
  else None.

Definition check_boostmetric (div : Z -> Z -> Z) (X : points) (v : Q) (L : list triplet) (p r : positive)
    (shares : list triplet_share) (z : Z) (f : factor) (m : metric) : option (Q * Q) :=
  if negb (count L =? 0) && all_inside X [] L && within same_triplet fst shares L && forallb (share_ok div p r) shares
     && (summed (fun s : triplet_share => fst (snd s)) shares =? Zpos p) then
    let a := axes X in
    check div (with_axes X) 0 (- (entropy shares # p * r))%Q (weights_of_targets v p a (weights_of_prices v (of_shares shares)))
      (p * Qden v) f m (boost_value div v r z L a)
  else None.

Definition boost_loss (v : Q) (L : list triplet) (axes : list pair) (D : N -> N -> R) : R :=
  (ln (total (fun t => exp (- margin D t)) L) + Q2R v * total (fun s => D (fst s) (snd s)) axes)%R.

Lemma boost_below div v p r L axes shares (D : N -> N -> R) :
  within same_triplet fst shares L = true -> forallb (share_ok div p r) shares = true ->
  summed (fun s : triplet_share => fst (snd s)) shares = Zpos p ->
  (Q2R (- (entropy shares # p * r))
   + total (fun w => IZR (weight w) / IZR (Zpos (p * Qden v)) * D (one w) (other w))
       (weights_of_targets v p axes (weights_of_prices v (of_shares shares)))
   <= boost_loss v L axes D)%R.
Proof.
  intros W Ok Sum. assert (P := pos_IZR p). assert (Pr := pos_IZR r). assert (Pv := pos_IZR (Qden v)).
  rewrite total_targets, total_prices by (apply pos_IZR). unfold of_shares. rewrite gathered_flat_map, flat_map_one, total_map.
  cbn [fst snd weight one other]. rewrite Q2R_opp, Q2R_make, !Pos2Z.inj_mul, !mult_IZR. unfold boost_loss.
  apply (f_equal IZR) in Sum. rewrite summed_correct in Sum.
  assert (L1 := log_sum_at_least (fun t => (- margin D t)%R) L
    (map (fun s : triplet_share => (fst s, (IZR (fst (snd s)) / IZR (Zpos p))%R)) shares)).
  rewrite !total_map in L1. cbn [fst snd] in L1.
  assert (Low : (total (fun s : triplet_share => IZR (fst (snd s)) / IZR (Zpos p) * - margin D (fst s)) shares
      - total (fun s : triplet_share => IZR (fst (snd s)) / IZR (Zpos p) * ln (IZR (fst (snd s)) / IZR (Zpos p))) shares
      <= ln (total (fun t => exp (- margin D t)) L))%R).
  { apply L1.
    - intros g G. rewrite total_map. cbn [fst]. apply (within_total same_triplet fst g same_triplet_correct); auto.
    - intros t T. apply in_map_iff in T. destruct T as [s [<- S]]. assert (F := forallb_in _ _ Ok s S).
      apply andb_prop in F. destruct F as [F _]. apply Z.ltb_lt, IZR_lt in F. apply Rdiv_lt_0_compat; auto.
    - rewrite (total_ext _ (fun s : triplet_share => / IZR (Zpos p) * IZR (fst (snd s)))%R) by (intros; unfold Rdiv; ring).
      rewrite total_times, Sum. field. lra. }
  assert (Ent : (total (fun s : triplet_share => IZR (fst (snd s)) / IZR (Zpos p) * ln (IZR (fst (snd s)) / IZR (Zpos p))) shares
    <= / (IZR (Zpos p) * IZR (Zpos r)) * IZR (entropy shares))%R).
  { unfold entropy. rewrite summed_correct, <- total_times. apply total_le. intros s S. assert (F := forallb_in _ _ Ok s S).
    apply andb_prop in F. destruct F as [F1 F2]. apply Z.ltb_lt in F1. apply ln_at_most_correct in F2; [|auto].
    apply IZR_lt in F1. apply Rle_trans with (IZR (fst (snd s)) / IZR (Zpos p) * (IZR (snd (snd s)) / IZR (Zpos r)))%R.
    - apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; auto|auto].
    - right. rewrite mult_IZR. field. lra. }
  rewrite (total_ext (fun s : triplet_share => IZR (Zpos (Qden v)) * IZR (fst (snd s)) / (IZR (Zpos p) * IZR (Zpos (Qden v))) * margin D (fst s))%R
    (fun s : triplet_share => -1 * (IZR (fst (snd s)) / IZR (Zpos p) * - margin D (fst s)))%R) by (intros; field; lra).
  rewrite !total_times.
  replace (IZR (Qnum v) * IZR (Zpos p) / (IZR (Zpos p) * IZR (Zpos (Qden v))))%R with (Q2R v) by (unfold Q2R; field; lra).
  unfold Rdiv at 1. rewrite (Rmult_comm (IZR (entropy shares))).
  unfold pair, triplet, triplet_share in *. lra.
Qed.

Lemma boost_at_most div v r z L axes (D : N -> N -> R) whole unit value : L <> [] ->
  (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R -> boost_value div v r z L axes whole unit = Some value ->
  (boost_loss v L axes D <= Q2R value)%R.
Proof.
  intros Ne E V. unfold boost_value in V. cbv zeta in V. set (g := fun t : triplet => let '(i, j, k) := t in whole i j - whole i k).
  rewrite gathered_flat_map in V. assert (M : flat_map (fun t : triplet => let '(i, j, k) := t in [whole i j - whole i k]) L = map g L).
  { rewrite <- flat_map_one. clear. induction L as [|[[i j] k] L IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. }
  rewrite M in V. clear M. destruct (log_sum_at_most _ _ _ _ _ _) eqn:T in V; [|discriminate]. injection V as <-.
  assert (U := pos_IZR unit). apply log_sum_at_most_correct in T; [|destruct L; simpl; congruence].
  rewrite total_map in T. rewrite (total_ext _ (fun t => exp (- margin D t))) in T.
  - rewrite !Q2R_plus, Q2R_mult, !Q2R_make, summed_correct. unfold boost_loss.
    rewrite (total_ext (fun s : pair => D (fst s) (snd s)) (fun s => / IZR (Zpos unit) * IZR (whole (fst s) (snd s)))%R)
      by (intros; rewrite <- E; unfold Rdiv; ring).
    rewrite total_times. unfold Rdiv in *. rewrite (Rmult_comm (/ IZR (Zpos unit))). lra.
  - intros [[i j] k] _. unfold g, margin. rewrite <- !E, minus_IZR. f_equal. field. lra.
Qed.

Theorem boostmetric_sound div X v L p r shares z f m lo hi :
  check_boostmetric div X v L p r shares z f m = Some (lo, hi) ->
  (forall A, psd (features X) A -> Q2R lo <= boostmetric_cost X L v A)%R /\
  psd (features X) (value_of m) /\ (boostmetric_cost X L v (value_of m) <= Q2R hi)%R.
Proof.
  unfold check_boostmetric. cbv zeta. intros H. destruct (_ && _) eqn:Ok in H; [|discriminate].
  do 4 (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]). apply Z.eqb_eq in K.
  assert (Ne : L <> []) by (intros C; rewrite C in Ok; discriminate).
  assert (Cost : forall A, boost_loss v L (axes X) (D (with_axes X) A) = boostmetric_cost X L v A).
  { intros A. unfold boost_loss, boostmetric_cost. rewrite trace_axes. do 2 f_equal. apply total_ext. intros [[i j] l] T.
    destruct (all_inside_triplet X [] L i j l K2 T) as [I [J M]]. unfold margin. rewrite !D_with_axes by auto. reflexivity. }
  apply check_at_most with (loss := boost_loss v L (axes X)) in H.
  - replace (Q2R 0) with 0%R in H by (unfold Q2R; simpl; lra). destruct H as [Lo [Psd Hi]]. rewrite Cost in Hi.
    split; [|split; [exact Psd|lra]]. intros A HA. specialize (Lo A HA). rewrite Cost in Lo. lra.
  - intros D0 _. apply (boost_below div); auto.
  - intros D0 whole unit value E V. apply (boost_at_most div v r z L (axes X) D0 whole unit value Ne E V).
Qed.

(** A triplet with an index beyond the points is refused, and so is a list without triplets. *)
Theorem boostmetric_inside div X v L p r shares z f m value :
  check_boostmetric div X v L p r shares z f m = Some value -> all_inside X [] L = true /\ L <> [].
Proof.
  unfold check_boostmetric. cbv zeta. destruct (_ && _) eqn:Ok; [|discriminate]. intros _.
  do 4 (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]). split; [auto|].
  intros C. rewrite C in Ok. discriminate.
Qed.
