(** SCML, and Schultz and Joachims: what the check accepts is proved. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods Margins.
Import ListNotations.
Open Scope Z_scope.

(** ** Combinations *)

Lemma inner_symmetric d A B : inner d A B = inner d B A.
Proof. apply sum_ext. intros. apply sum_ext. intros. ring. Qed.

Lemma form_matrix d (A B : matrix) x : (forall i j, A i j = B i j) -> form d A x x = form d B x x.
Proof. intros E. apply sum_ext. intros. apply sum_ext. intros. rewrite E. reflexivity. Qed.

(** <M, Z> of a combination *)
Lemma inner_combined d (b : N -> vector) (w : N -> R) (Z : matrix) l :
  inner d (fun i j => total (fun k => w k * (b k i * b k j))%R l) Z = total (fun k => w k * form d Z (b k) (b k))%R l.
Proof.
  rewrite inner_symmetric. induction l as [|k l IH]; simpl; [apply inner_zero|].
  rewrite <- IH, <- inner_square, <- inner_times, <- inner_plus. reflexivity.
Qed.

Definition weighted_squares (t : tree row) (tw : tree Z) (l : list N) : triangle :=
  fold_left (fun T k => add_square (look 0 tw k) (look [] t k) T) l [].

Lemma weighted_squares_entry B ws l i j : forall T,
  IZR (entry (fold_left (fun T k => add_square (look 0 (table ws) k) (look [] (table B) k) T) l T) i j)
  = (IZR (entry T i j) + total (fun k => IZR (at_ 0%Z ws k)
      * (IZR (nth i (at_ [] B k) 0%Z) * IZR (nth j (at_ [] B k) 0%Z))) l)%R.
Proof.
  induction l as [|k l IH]; intros T; simpl; [ring|].
  rewrite IH, add_square_entry, plus_IZR, !mult_IZR, !look_table. ring.
Qed.

Lemma weighted_squares_combined B over ws q i j :
  real_matrix (weighted_squares (table B) (table ws) (indices B)) (q * (over * over)) i j
  = combined B over (whole_weights ws q) i j.
Proof.
  unfold real_matrix, weighted_squares, combined. rewrite weighted_squares_entry.
  replace (entry [] i j) with 0 by (destruct i; reflexivity). rewrite Rplus_0_l. unfold Rdiv.
  rewrite Rmult_comm, <- total_times. apply total_ext. intros k _. unfold whole_weights, real_point.
  rewrite !Pos2Z.inj_mul, !mult_IZR. assert (P := pos_IZR q). assert (O := pos_IZR over). field. lra.
Qed.

Lemma combined_psd d B over w : (forall k, In k (indices B) -> 0 <= w k)%R -> psd d (combined B over w).
Proof.
  intros W. apply kind_psd.
  - intros i j. apply total_ext. intros. ring.
  - intros A HA. unfold combined. rewrite inner_symmetric.
    rewrite (inner_combined d (fun k => real_point (at_ [] B k) over)). apply total_pos. intros k I.
    apply Rmult_le_pos; auto. apply HA.
Qed.

(** b^T T b in integers *)
Definition whole_form (T : triangle) (b : row) : Z := dot b (image T b).

Lemma whole_form_correct d T b : (length b <= d)%nat ->
  IZR (whole_form T b) = form d (reals T) (fun k => IZR (nth k b 0%Z)) (fun k => IZR (nth k b 0%Z)).
Proof.
  intros H. unfold whole_form, form. rewrite (dot_sum b d) by auto. apply sum_ext. intros k Hk.
  rewrite (image_nth T d b k) by auto. rewrite <- sum_times. apply sum_ext. intros. ring.
Qed.

(** ** The check

    Z = sum of weights w / p, and N = sum_k z_k b_k b_k^T: where beta + b_k^T (Z + N) b_k >= 0 for every k, beta sum w +
    <M, Z> >= - <M, N>, and h ||M||^2 pays for that. *)

Definition combination (B : list row) (ws : list Z) : triangle := weighted_squares (table B) (table ws) (numbers B).

(** It is the matrix of the weights. *)
Theorem combination_value_sound B over_B ws v i j :
  value_of (Given (combination B ws) (v * (over_B * over_B))) i j = combined B over_B (whole_weights ws v) i j.
Proof.
  unfold value_of, combination. cbn [triangle_of over_of]. rewrite numbers_indices. apply weighted_squares_combined.
Qed.

(** Of Z over [per] and N over r. *)
Definition gains_ok (d : nat) (beta : Q) (Z : triangle) (per : positive) (B : list row) (over : positive)
    (N : triangle) (r : positive) : bool :=
  forallb (fun b => (length b =? d)%nat
    && (0 <=? Qnum beta * (Zpos per * Zpos r * (Zpos over * Zpos over))
          + Zpos (Qden beta) * (Zpos r * whole_form Z b + Zpos per * whole_form N b))) B.

Definition check_combination (X : points) (h beta : Q) (B : list row) (over_B : positive) (l : margin_loss)
    (L : list triplet) (p : positive) (prices : list (triplet * Z)) (zs : list Z) (q : positive)
    (ws : list Z) (v : positive) : option (Q * Q) :=
  let d := features X in
  let M := combination B ws in
  let over_M := (v * (over_B * over_B))%positive in
  let N := if Qle_bool h 0 then [] else combination B zs in
  let over_N := (q * (over_B * over_B))%positive in
  let per := (p * (over X * over X))%positive in
  let tw := table ws in
  if short X && loss_ok l && within same_triplet fst prices L && forallb (fun s => price_ok l p (snd s)) prices
     && Qle_bool 0 h && forallb (fun w => 0 <=? w) ws && fits d M && fits d N
     && gains_ok d beta (squares (table (rows X)) (weights_of_prices 0 prices)) per B over_B N over_N && all_inside X [] L then
    let k := (summed (fun s => price_term l p (snd s)) prices # price_over l p)%Q in
    let paid := if Qle_bool h 0 then 0%Q else ((norm N # (over_N * over_N)) / (4 * h))%Q in
    match triplet_value 0 [] l L (whole_distance (images M (rows X))) (over X * over X * over_M)%positive with
    | Some value =>
        Some (k - paid, h * (norm M # (over_M * over_M)) + beta * (summed (look 0%Z tw) (numbers B) # v) + value)%Q
    | None => None
    end
  else None.

Lemma D_matrix X A B i j : (forall i j, A i j = B i j) -> D X A i j = D X B i j.
Proof. apply form_matrix. Qed.

Lemma triplet_loss_ext c targets l L D E : (forall i j, D i j = E i j) ->
  triplet_loss c targets l L D = triplet_loss c targets l L E.
Proof.
  intros H. unfold triplet_loss. f_equal; [f_equal|]; apply total_ext; intros s _.
  - apply H.
  - destruct s as [[i j] k]. simpl. rewrite !H. reflexivity.
Qed.

Lemma norm2_over d T p : fits d T = true ->
  norm2 d (real_matrix T p) = Q2R (norm T # (p * p)).
Proof.
  intros F. rewrite Q2R_make, <- (norm_correct _ d F). unfold norm2, Rdiv. rewrite Rmult_comm, <- sum_times.
  apply sum_ext. intros i _. rewrite <- sum_times. apply sum_ext. intros j _. unfold real_matrix, reals.
  rewrite Pos2Z.inj_mul, mult_IZR. field. assert (P := pos_IZR p). lra.
Qed.

Lemma norm2_ext d (A B : matrix) : (forall i j, A i j = B i j) -> norm2 d A = norm2 d B.
Proof. intros E. apply sum_ext. intros. apply sum_ext. intros. rewrite E. reflexivity. Qed.

Lemma point_form d (Z : triangle) per (b : row) over : (length b <= d)%nat ->
  form d (real_matrix Z per) (real_point b over) (real_point b over)
  = (IZR (whole_form Z b) / (IZR (Zpos per) * (IZR (Zpos over) * IZR (Zpos over))))%R.
Proof.
  intros H. rewrite (whole_form_correct d) by auto. assert (P := pos_IZR per). assert (O := pos_IZR over).
  rewrite (form_ext d _ _ (fun k => / IZR (Zpos over) * IZR (nth k b 0%Z))%R)
    by (intros; unfold real_point, Rdiv; ring).
  rewrite form_times. rewrite (form_matrix d (real_matrix Z per) (fun i j => / IZR (Zpos per) * reals Z i j)%R)
    by (intros; unfold real_matrix, reals, Rdiv; ring).
  rewrite form_scaled. field. lra.
Qed.

Lemma real_empty p i j : real_matrix [] p i j = 0%R.
Proof. unfold real_matrix. simpl. unfold Rdiv. ring. Qed.

Theorem combination_sound X h beta B over_B l L p prices zs q ws v lo hi :
  check_combination X h beta B over_B l L p prices zs q ws v = Some (lo, hi) ->
  let cost w := (Q2R h * norm2 (features X) (combined B over_B w) + Q2R beta * total w (indices B)
    + triplet_loss 0 [] l L (D X (combined B over_B w)))%R in
  (forall w, (forall k, In k (indices B) -> 0 <= w k) -> Q2R lo <= cost w)%R /\
  (forall k, In k (indices B) -> 0 <= whole_weights ws v k)%R /\ cost (whole_weights ws v) = Q2R hi.
Proof.
  unfold check_combination. set (d := features X). set (over_M := (v * (over_B * over_B))%positive).
  set (over_N := (q * (over_B * over_B))%positive). set (per := (p * (over X * over X))%positive).
  set (N := if Qle_bool h 0 then [] else combination B zs). set (P := weights_of_prices 0 prices).
  set (Z := squares (table (rows X)) P). set (M := combination B ws). intros H.
  destruct (short X) eqn:Sh; cbn [andb] in H; [|discriminate].
  destruct (loss_ok l) eqn:Ok; cbn [andb] in H; [|discriminate].
  destruct (within same_triplet fst prices L) eqn:W; cbn [andb] in H; [|discriminate].
  destruct (forallb (fun s => price_ok l p (snd s)) prices) eqn:Pr; cbn [andb] in H; [|discriminate].
  destruct (Qle_bool 0 h) eqn:Hh; cbn [andb] in H; [|discriminate].
  destruct (forallb (fun w => 0 <=? w) ws) eqn:Ws; cbn [andb] in H; [|discriminate].
  destruct (fits d M) eqn:FM; cbn [andb] in H; [|discriminate].
  destruct (fits d N) eqn:FN; cbn [andb] in H; [|discriminate].
  destruct (gains_ok d beta Z per B over_B N over_N) eqn:Ga; cbn [andb] in H; [|discriminate].
  destruct (all_inside X [] L); [|discriminate].
  destruct (triplet_value 0 [] l L _ _) as [value|] eqn:V; [|discriminate]. inversion H; subst; clear H.
  assert (P1 := pos_IZR per). assert (P2 := pos_IZR over_N). assert (P3 := pos_IZR over_B).
  assert (P4 := pos_IZR (Qden beta)). assert (Pp := pos_IZR p). assert (Pq := pos_IZR (over X)). assert (Pv := pos_IZR v).
  apply Qle_bool_iff in Hh. apply Qle_Rle in Hh. rewrite Q2R_0 in Hh. split.
  - intros w Hw. assert (HM := combined_psd d B over_B w Hw).
    assert (T := triplets_below 0 [] l L p prices (D X (combined B over_B w)) Ok W Pr).
    unfold weights_of_targets in T. cbn [fold_left] in T. fold P in T.
    assert (I : inner d (combined B over_B w) (real_matrix Z per) =
      total (fun s => IZR (weight s) / IZR (Zpos (p * 1)) * D X (combined B over_B w) (one s) (other s))%R P).
    { rewrite (inner_ext d _ _ (fun i j => / IZR (Zpos per) * reals Z i j)%R)
        by (intros; unfold real_matrix, reals, Rdiv; ring).
      rewrite inner_times. unfold Z, squares, d. rewrite inner_squares, inner_empty.
      rewrite (total_ext (fun s => IZR (weight s) / IZR (Zpos (p * 1)) * D X (combined B over_B w) (one s) (other s))%R
        (fun s => / IZR (Zpos p) * (IZR (weight s) * D X (combined B over_B w) (one s) (other s)))%R)
        by (intros; rewrite Pos.mul_1_r; unfold Rdiv; ring).
      rewrite total_times. unfold per. rewrite !Pos2Z.inj_mul, !mult_IZR. field. lra. }
    simpl Qden in T. rewrite <- I in T. clear I.
    assert (G : (0 <= Q2R beta * total w (indices B) + inner d (combined B over_B w) (real_matrix Z per)
      + inner d (combined B over_B w) (real_matrix N over_N))%R).
    { unfold combined. rewrite !(inner_combined d (fun k => real_point (at_ [] B k) over_B)).
      rewrite <- total_times, <- !total_plus. apply total_pos. intros k Ik.
      assert (In (at_ [] B k) B) as Ib.
      { unfold indices in Ik. apply in_map_iff in Ik. destruct Ik as [n [E Ik]]. apply in_seq in Ik. subst k.
        unfold at_. rewrite Nat2N.id. apply nth_In. apply Ik. }
      assert (K := forallb_in _ _ Ga _ Ib). cbv beta in K. apply andb_prop in K. destruct K as [Len K].
      apply Nat.eqb_eq in Len. apply Z.leb_le in K. apply IZR_le in K.
      assert (Len' : (length (at_ [] B k) <= d)%nat) by (rewrite Len; auto).
      rewrite !point_form by auto. rewrite plus_IZR, !mult_IZR, plus_IZR, !mult_IZR in K.
      specialize (Hw k Ik). unfold Q2R. set (b := at_ [] B k) in *.
      replace (IZR (Qnum beta) * / IZR (Zpos (Qden beta)) * w k
        + w k * (IZR (whole_form Z b) / (IZR (Zpos per) * (IZR (Zpos over_B) * IZR (Zpos over_B))))
        + w k * (IZR (whole_form N b) / (IZR (Zpos over_N) * (IZR (Zpos over_B) * IZR (Zpos over_B)))))%R
        with (w k * ((IZR (Qnum beta) * (IZR (Zpos per) * IZR (Zpos over_N) * (IZR (Zpos over_B) * IZR (Zpos over_B)))
           + IZR (Zpos (Qden beta)) * (IZR (Zpos over_N) * IZR (whole_form Z b) + IZR (Zpos per) * IZR (whole_form N b)))
           * / (IZR (Zpos (Qden beta)) * (IZR (Zpos per) * IZR (Zpos over_N) * (IZR (Zpos over_B) * IZR (Zpos over_B))))))%R
        by (field; lra).
      apply Rmult_le_pos; auto. apply Rmult_le_pos; auto. left. apply Rinv_0_lt_compat.
      repeat apply Rmult_lt_0_compat; auto. }
    rewrite Q2R_minus. unfold N in G. destruct (Qle_bool h 0) eqn:H0.
    + rewrite Q2R_0. rewrite (inner_ext d _ (real_matrix [] over_N) (fun _ _ => 0%R)) in G by (intros; apply real_empty).
      rewrite inner_zero in G. assert (Nn := norm2_pos d (combined B over_B w)).
      assert (0 <= Q2R h * norm2 d (combined B over_B w))%R by (apply Rmult_le_pos; auto). lra.
    + assert (Hp : (0 < Q2R h)%R).
      { rewrite <- Q2R_0. apply Qlt_Rlt. apply Qnot_le_lt. intros C. apply Qle_bool_iff in C. congruence. }
      assert (Pay := norm_pays d (combined B over_B w)
        (fun i j => -1 * real_matrix (combination B zs) over_N i j)%R (Q2R h) Hp).
      rewrite inner_times in Pay.
      assert (S : norm2 d (fun i j => -1 * real_matrix (combination B zs) over_N i j)%R
        = Q2R (norm (combination B zs) # (over_N * over_N))).
      { unfold N in FN. rewrite <- (norm2_over d) by auto. apply sum_ext. intros. apply sum_ext. intros. ring. }
      rewrite S in Pay. unfold N. rewrite Q2R_div, Q2R_mult.
      * replace (Q2R 4) with 4%R by (unfold Q2R; simpl; lra). lra.
      * intros C. apply Qeq_eqR in C. rewrite Q2R_mult, Q2R_0 in C.
        replace (Q2R 4) with 4%R in C by (unfold Q2R; simpl; lra). lra.
  - assert (E : forall i j, real_matrix M over_M i j = combined B over_B (whole_weights ws v) i j)
      by (intros; apply combination_value_sound).
    split.
    + intros k _. unfold whole_weights, at_. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; auto].
      apply IZR_le. destruct (nth_in_or_default (N.to_nat k) ws 0) as [Iw|Ew].
      * assert (K := forallb_in _ _ Ws _ Iw). apply Z.leb_le in K. exact K.
      * rewrite Ew. lia.
    + rewrite !Q2R_plus, !Q2R_mult. rewrite <- (norm2_over d) by auto.
      rewrite (norm2_ext d _ _ E). f_equal; [f_equal|].
      * f_equal. rewrite Q2R_make, summed_correct, numbers_indices. unfold Rdiv. rewrite Rmult_comm, <- total_times.
        apply total_ext. intros k _. unfold whole_weights. rewrite look_table. unfold Rdiv. ring.
      * apply (triplet_value_correct 0 [] l L _ _ _ _ Ok) with (2 := V). intros i j.
        rewrite (D_matrix X _ (real_matrix M over_M)) by (intros; symmetry; apply E).
        rewrite <- whole_distance_correct by auto. rewrite !Pos2Z.inj_mul, !mult_IZR. reflexivity.
Qed.

(** A triplet with an index beyond the points is refused. *)
Theorem combination_inside X h beta B over_B l L p prices zs q ws v r :
  check_combination X h beta B over_B l L p prices zs q ws v = Some r -> all_inside X [] L = true.
Proof.
  unfold check_combination. destruct (all_inside X [] L); [auto|]. rewrite andb_false_r. discriminate.
Qed.

(** ** Schultz and Joachims *)

Definition check_schultz_joachims X (C : Q) B over_B L p prices zs q ws v :=
  check_combination X (1 # 2) 0 B over_B (Hinge C) L p prices zs q ws v.

Lemma combination_loss_ok X h beta B over_B l L p prices zs q ws v r :
  check_combination X h beta B over_B l L p prices zs q ws v = Some r -> loss_ok l = true.
Proof. unfold check_combination. destruct (short X), (loss_ok l); cbn [andb]; congruence. Qed.

Lemma no_targets l L D : triplet_loss 0 [] l L D = total (fun t => phi l (margin D t)) L.
Proof. unfold triplet_loss. rewrite Q2R_0. simpl. ring. Qed.

Theorem schultz_joachims_sound X C B over_B L p prices zs q ws v lo hi :
  check_schultz_joachims X C B over_B L p prices zs q ws v = Some (lo, hi) ->
  (forall w xi, combination_feasible X B over_B L w xi -> Q2R lo <= schultz_joachims_cost X B over_B L C w xi)%R /\
  exists xi, combination_feasible X B over_B L (whole_weights ws v) xi /\
    schultz_joachims_cost X B over_B L C (whole_weights ws v) xi = Q2R hi.
Proof.
  unfold check_schultz_joachims. intros H. assert (Ok := combination_loss_ok _ _ _ _ _ _ _ _ _ _ _ _ _ _ H).
  simpl in Ok. apply Qle_bool_iff in Ok. apply Qle_Rle in Ok. rewrite Q2R_0 in Ok.
  apply combination_sound in H. cbv zeta in H. destruct H as [Lo [Hw Hi]].
  assert (Half : Q2R (1 # 2) = (1 / 2)%R) by (unfold Q2R; simpl; lra).
  unfold schultz_joachims_cost. rewrite Half, Q2R_0 in *. split.
  - intros u xi [Hu F]. specialize (Lo u Hu). rewrite no_targets in Lo. cbn [phi] in Lo. rewrite total_times in Lo.
    assert (M : (total (fun t => missed (margin (D X (combined B over_B u)) t)) L <= total xi L)%R).
    { apply total_le. intros t Ht. destruct (F t Ht). apply missed_least; auto. }
    apply (Rmult_le_compat_l _ _ _ Ok) in M. lra.
  - exists (fun t => missed (margin (D X (combined B over_B (whole_weights ws v))) t)). split.
    + split; [auto|]. intros. apply missed_enough.
    + rewrite no_targets in Hi. cbn [phi] in Hi. rewrite total_times in Hi. lra.
Qed.

(** ** SCML *)

Definition check_scml X (beta : Q) B over_B L p prices ws v :=
  let n := count L in
  if 0 <? n then check_combination X 0 beta B over_B (Hinge (1 # Z.to_pos n)) L p prices [] 1 ws v else None.

Theorem scml_sound X beta B over_B L p prices ws v lo hi :
  check_scml X beta B over_B L p prices ws v = Some (lo, hi) ->
  (forall w xi, combination_feasible X B over_B L w xi -> Q2R lo <= scml_cost B L beta w xi)%R /\
  exists xi, combination_feasible X B over_B L (whole_weights ws v) xi /\
    scml_cost B L beta (whole_weights ws v) xi = Q2R hi.
Proof.
  unfold check_scml. destruct (0 <? count L) eqn:N0; [|discriminate]. apply Z.ltb_lt in N0. intros H.
  apply combination_sound in H. cbv zeta in H. destruct H as [Lo [Hw Hi]].
  assert (Inv : (0 <= 1 / IZR (count L))%R).
  { apply IZR_lt in N0. apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. auto. }
  unfold scml_cost. rewrite <- count_INR, Q2R_0 in *. split.
  - intros u xi [Hu F]. specialize (Lo u Hu). rewrite no_targets in Lo. cbn [phi] in Lo.
    rewrite total_times, Q2R_one_of in Lo by auto.
    assert (M : (total (fun t => missed (margin (D X (combined B over_B u)) t)) L <= total xi L)%R).
    { apply total_le. intros t Ht. destruct (F t Ht). apply missed_least; auto. }
    apply (Rmult_le_compat_l _ _ _ Inv) in M. lra.
  - exists (fun t => missed (margin (D X (combined B over_B (whole_weights ws v))) t)). split.
    + split; [auto|]. intros. apply missed_enough.
    + rewrite no_targets in Hi. cbn [phi] in Hi. rewrite total_times, Q2R_one_of in Hi by auto. lra.
Qed.
