(** MMC: what the check accepts is proved. The upper end is at least the objective of the metric.

    For a > 0, - sqrt v is at least - a v - 1 / (4 a). *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods Budget.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe: dissimilar pairs apart within a budget of similar distances; minimised *)

Definition mmc_feasible (X : points) (similar : list pair) (A : matrix) : Prop :=
  psd (features X) A /\ (total (fun s => D X A (fst s) (snd s)) similar <= 1)%R.
Definition mmc_cost (X : points) (dissimilar : list pair) (A : matrix) : R :=
  (- total (fun s => sqrt (D X A (fst s) (snd s))) dissimilar)%R.

(** ** The check

    A price a / p for every dissimilar pair, 0 if its points are equal. Roots and quotients are whole numbers over u. *)

(** At least 1 / (4 a / p), over u *)
Definition quarter (div : Z -> Z -> Z) (u p : positive) (a : Z) : Z :=
  if a =? 0 then 0 else div (Zpos u * Zpos p) (4 * a) + 1.

Definition root_ok (div : Z -> Z -> Z) (t : tree row) (u p : positive) (s : pair * Z) : bool :=
  let a := snd s in
  if a =? 0 then forallb (Z.eqb 0) (minus (look [] t (fst (fst s))) (look [] t (snd (fst s))))
  else (0 <? a) && (Zpos u * Zpos p <=? quarter div u p a * (4 * a)).

(** Of each of the pairs one price, in their order *)
Fixpoint all_priced (pairs : list pair) (q : list (pair * Z)) : bool :=
  match pairs, q with
  | [], [] => true
  | s :: pairs, a :: q => if same_pair (fst a) s then all_priced pairs q else false
  | _, _ => false
  end.

(** A number r with (r / u)^2 <= z / unit, by a function that is not trusted: it may find none *)
Definition root_below (root : Z -> Z) (div : Z -> Z -> Z) (u unit : positive) (z : Z) : Z * bool :=
  let r := root (div (z * (Zpos u * Zpos u)) (Zpos unit)) in
  (r, r * r * Zpos unit <=? z * (Zpos u * Zpos u)).

Definition roots_value (root : Z -> Z) (div : Z -> Z -> Z) (u : positive) (similar dissimilar : list pair) (whole : N -> N -> Z)
    (unit : positive) : option Q :=
  if summed (fun s : pair => whole (fst s) (snd s)) similar <=? Zpos unit then
    let roots := gathered (fun s : pair => [root_below root div u unit (whole (fst s) (snd s))]) dissimilar in
    if forallb snd roots then Some (- (summed fst roots # u))%Q else None
  else None.

Definition check_mmc (root : Z -> Z) (div : Z -> Z -> Z) (X : points) (similar dissimilar : list pair) (mu : Q) (u p : positive)
    (q : list (pair * Z)) (f : factor) (m : metric) : option (Q * Q) :=
  if (0 <=? Qnum mu) && all_priced dissimilar q && forallb (root_ok div (table (rows X)) u p) q
     && all_inside X (rev_append similar dissimilar) [] then
    let P := weights_of_pairs (Qnum mu * Zpos p) similar (weights_of_least (Zpos (Qden mu)) q []) in
    check div X 0 (- mu - (summed (fun s => quarter div u p (snd s)) q # u))%Q P (p * Qden mu) f m
      (roots_value root div u similar dissimilar)
  else None.

Lemma all_priced_correct pairs : forall q, all_priced pairs q = true -> map fst q = pairs.
Proof.
  induction pairs as [|s pairs IH]; intros [|a q] H; simpl in H; try discriminate; [reflexivity|].
  destruct (same_pair (fst a) s) eqn:E; [|discriminate]. apply same_pair_correct in E. simpl. rewrite E, IH; auto.
Qed.

Lemma root_at_least a v : (0 < a)%R -> (0 <= v)%R -> (- (a * v) - / (4 * a) <= - sqrt v)%R.
Proof.
  intros A V. assert (S := sqrt_sqrt v V). set (r := sqrt v) in *.
  assert (I : (0 < / (4 * a))%R) by (apply Rinv_0_lt_compat; lra).
  assert (0 <= / (4 * a) * ((2 * a * r - 1) * (2 * a * r - 1)))%R by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]).
  replace (/ (4 * a) * ((2 * a * r - 1) * (2 * a * r - 1)))%R with (a * (r * r) - r + / (4 * a))%R in * by (field; lra).
  rewrite S in *. lra.
Qed.

(** Equal points are at distance 0. *)
Lemma D_equal X A i j : forallb (Z.eqb 0) (minus (at_ [] (rows X) i) (at_ [] (rows X) j)) = true -> D X A i j = 0%R.
Proof.
  intros H. assert (Zero := zero_row _ H). assert (Pq := pos_IZR (over X)). unfold D, dist.
  rewrite (form_ext _ A _ (fun _ => 0 * 0)%R).
  - rewrite form_times. ring.
  - intros k _. specialize (Zero k). rewrite minus_nth in Zero. unfold real_point.
    replace (nth k (at_ [] (rows X) i) 0) with (nth k (at_ [] (rows X) j) 0) by lia. field. lra.
Qed.

Lemma root_of_price div X A u p s : psd (features X) A -> root_ok div (table (rows X)) u p s = true ->
  (- (IZR (snd s) / IZR (Zpos p) * D X A (fst (fst s)) (snd (fst s))) - IZR (quarter div u p (snd s)) / IZR (Zpos u)
   <= - sqrt (D X A (fst (fst s)) (snd (fst s))))%R.
Proof.
  intros HA H. unfold root_ok in H. cbv zeta in H. rewrite !look_table in H. assert (U := pos_IZR u). assert (P := pos_IZR p).
  destruct (Z.eqb_spec (snd s) 0) as [Zero|N].
  - rewrite (D_equal X A _ _ H), sqrt_0, Zero. unfold quarter, Rdiv. simpl (if 0 =? 0 then 0 else _). lra.
  - apply andb_prop in H. destruct H as [A0 Q]. apply Z.ltb_lt, IZR_lt in A0. apply Z.leb_le, IZR_le in Q.
    rewrite !mult_IZR in Q. set (w := IZR (quarter div u p (snd s))) in *. set (a := IZR (snd s)) in *.
    assert (B := root_at_least (a / IZR (Zpos p)) _ ltac:(apply Rdiv_lt_0_compat; auto)
      (dist_pos _ _ (real_point (at_ [] (rows X) (fst (fst s))) (over X)) (real_point (at_ [] (rows X) (snd (fst s))) (over X)) HA)).
    assert (/ (4 * (a / IZR (Zpos p))) <= w / IZR (Zpos u))%R.
    { apply (Rmult_le_reg_r (IZR (Zpos u) * (4 * a))); [apply Rmult_lt_0_compat; lra|].
      replace (/ (4 * (a / IZR (Zpos p))) * (IZR (Zpos u) * (4 * a)))%R with (IZR (Zpos u) * IZR (Zpos p))%R by (field; lra).
      replace (w / IZR (Zpos u) * (IZR (Zpos u) * (4 * a)))%R with (w * (4 * a))%R by (field; lra). exact Q. }
    unfold D. lra.
Qed.

Lemma root_below_correct root div u unit z : snd (root_below root div u unit z) = true ->
  (IZR (fst (root_below root div u unit z)) / IZR (Zpos u) <= sqrt (IZR z / IZR (Zpos unit)))%R.
Proof.
  unfold root_below. cbv zeta. cbn [fst snd]. set (r := root _). intros H. apply Z.leb_le, IZR_le in H.
  rewrite !mult_IZR in H. assert (U := pos_IZR u). assert (V := pos_IZR unit).
  set (x := (IZR r / IZR (Zpos u))%R).
  assert (Sq : (x * x <= IZR z / IZR (Zpos unit))%R).
  { apply (Rmult_le_reg_r (IZR (Zpos unit) * (IZR (Zpos u) * IZR (Zpos u)))); [repeat apply Rmult_lt_0_compat; auto|].
    unfold x. replace (IZR r / IZR (Zpos u) * (IZR r / IZR (Zpos u)) * (IZR (Zpos unit) * (IZR (Zpos u) * IZR (Zpos u))))%R
      with (IZR r * IZR r * IZR (Zpos unit))%R by (field; lra).
    replace (IZR z / IZR (Zpos unit) * (IZR (Zpos unit) * (IZR (Zpos u) * IZR (Zpos u))))%R
      with (IZR z * (IZR (Zpos u) * IZR (Zpos u)))%R by (field; lra). exact H. }
  destruct (Rle_lt_dec 0 x) as [X|X].
  - rewrite <- (sqrt_square x X). apply sqrt_le_1_alt. exact Sq.
  - apply Rle_trans with 0%R; [lra|apply sqrt_pos].
Qed.

Theorem mmc_sound root div X similar dissimilar mu u p q f m lo hi :
  check_mmc root div X similar dissimilar mu u p q f m = Some (lo, hi) ->
  (forall A, mmc_feasible X similar A -> Q2R lo <= mmc_cost X dissimilar A)%R /\
  mmc_feasible X similar (value_of m) /\ (mmc_cost X dissimilar (value_of m) <= Q2R hi)%R.
Proof.
  unfold check_mmc. intros H. destruct (_ && _) eqn:Ok; [|discriminate].
  apply andb_prop in Ok. destruct Ok as [Ok _]. apply andb_prop in Ok. destruct Ok as [Ok Roots].
  apply andb_prop in Ok. destruct Ok as [Mu Same]. apply Z.leb_le, IZR_le in Mu. apply all_priced_correct in Same.
  assert (Pp := pos_IZR p). assert (Pm := pos_IZR (Qden mu)). assert (U := pos_IZR u).
  assert (M0 : (0 <= Q2R mu)%R) by (apply Rmult_le_pos; auto; left; apply Rinv_0_lt_compat; auto).
  destruct (check_parts _ _ _ _ _ _ _ _ _ _ _ H) as [Lo [Psd [whole [unit [v [E [V Hi]]]]]]]. clear H.
  replace (Q2R 0) with 0%R in * by (unfold Q2R; simpl; lra). assert (Un := pos_IZR unit).
  unfold roots_value in V. cbv zeta in V. destruct (summed _ similar <=? Zpos unit) eqn:B; [|discriminate].
  apply Z.leb_le, IZR_le in B. rewrite summed_correct in B.
  destruct (forallb snd _) eqn:R in V; [|discriminate]. injection V as <-.
  split; [|split; [split; [exact Psd|]|]].
  - intros A [HA AB]. specialize (Lo A HA). rewrite Rmult_0_l, Rplus_0_l in Lo. apply Rle_trans with (1 := Lo).
    rewrite total_pairs, total_least, Q2R_minus, Q2R_opp, Q2R_make, summed_correct. cbn [weight one other].
    rewrite (total_ext (fun s : pair * Z =>
        IZR (- (Zpos (Qden mu) * snd s)) / IZR (Zpos (p * Qden mu)) * D X A (fst (fst s)) (snd (fst s)))%R
      (fun s => -1 * (IZR (snd s) / IZR (Zpos p) * D X A (fst (fst s)) (snd (fst s))))%R)
      by (intros; rewrite Pos2Z.inj_mul, opp_IZR, !mult_IZR; field; lra).
    rewrite (total_ext (fun s : pair => IZR (Qnum mu * Zpos p) / IZR (Zpos (p * Qden mu)) * D X A (fst s) (snd s))%R
      (fun s => Q2R mu * D X A (fst s) (snd s))%R)
      by (intros; rewrite Pos2Z.inj_mul, !mult_IZR; unfold Q2R; field; lra).
    rewrite (total_times (Q2R mu)). simpl (total _ []).
    assert (Spent : (Q2R mu * total (fun s : pair => D X A (fst s) (snd s)) similar <= Q2R mu * 1)%R)
      by (apply Rmult_le_compat_l; auto).
    assert (T : (total (fun s : pair * Z => -1 * (IZR (snd s) / IZR (Zpos p) * D X A (fst (fst s)) (snd (fst s)))
        + - / IZR (Zpos u) * IZR (quarter div u p (snd s))) q
      <= total (fun s : pair * Z => -1 * sqrt (D X A (fst (fst s)) (snd (fst s)))) q)%R).
    { apply total_le. intros s S. assert (K := root_of_price div X A u p s HA (forallb_in _ _ Roots s S)).
      unfold Rdiv in K at 2. lra. }
    rewrite total_plus, !total_times in T. rewrite total_times. unfold mmc_cost. rewrite <- Same, total_map.
    unfold Rdiv in *. unfold pair in *. lra.
  - apply (Rmult_le_reg_l (IZR (Zpos unit))); [auto|]. rewrite <- total_times, Rmult_1_r.
    rewrite (total_ext _ (fun s : pair => IZR (whole (fst s) (snd s)))) by (intros; rewrite <- E; field; lra). exact B.
  - rewrite Hi, Rmult_0_l, Rplus_0_l, Q2R_opp, Q2R_make, summed_correct. unfold mmc_cost. apply Ropp_le_contravar.
    rewrite gathered_flat_map in *. rewrite total_flat_map. unfold Rdiv. rewrite Rmult_comm, <- total_times. apply total_le.
    intros s S. unfold total. cbn [fold_right]. rewrite Rplus_0_r, <- E, Rmult_comm.
    apply (root_below_correct root div u unit). apply (forallb_in _ _ R). apply in_flat_map. exists s. split; [auto|left; auto].
Qed.

(** A pair with an index beyond the points is refused. *)
Theorem mmc_inside root div X similar dissimilar mu u p q f m r :
  check_mmc root div X similar dissimilar mu u p q f m = Some r -> all_inside X (rev_append similar dissimilar) [] = true.
Proof.
  unfold check_mmc. destruct (all_inside X _ []); [auto|]. rewrite andb_false_r. discriminate.
Qed.

(** Every two points are a pair. *)
Definition check_mmc_labels root div X (y : list Z) mu u p q f m :=
  if count y =? count (rows X) then check_mmc root div X (made_pairs y true) (made_pairs y false) mu u p q f m else None.

Theorem mmc_labels_sound root div X y mu u p q f m lo hi :
  check_mmc_labels root div X y mu u p q f m = Some (lo, hi) ->
  let similar := pairs_by_labels y true in let dissimilar := pairs_by_labels y false in
  (forall A, mmc_feasible X similar A -> Q2R lo <= mmc_cost X dissimilar A)%R /\
  mmc_feasible X similar (value_of m) /\ (mmc_cost X dissimilar (value_of m) <= Q2R hi)%R.
Proof.
  unfold check_mmc_labels. rewrite !made_pairs_correct. destruct (_ =? _); [|discriminate]. apply mmc_sound.
Qed.
