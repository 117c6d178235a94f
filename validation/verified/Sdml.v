(** SDML: what the check accepts is proved. The upper end is at least the objective of the metric.

    For |U_ij| <= lam, lam |M_ij| is at least U_ij M_ij. So U joins the matrix of the trace. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods Budget Glml Exponentials Gmml Logdet Itml.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe, beside [definite] of Logdet *)

(** The sum of the |M_ij| for i <> j: both (i, j) and (j, i) count. *)
Definition off_diagonal (d : nat) (M : matrix) : R :=
  sum d (fun i => sum d (fun j => if (i =? j)%nat then 0 else Rabs (M i j)))%R.

(** P is the inverse of the prior. With S = P + eta (sum_S (x_i - x_j)(x_i - x_j)^T - sum_D ...), the first two terms are
    tr S M. *)
Definition sdml_cost (X : points) (similar dissimilar : list pair) (eta lam : Q) (P M : matrix) : R :=
  (inner (features X) M P
   + Q2R eta * (total (fun s => D X M (fst s) (snd s)) similar - total (fun s => D X M (fst s) (snd s)) dissimilar)
   - ln (det (features X) M) + Q2R lam * off_diagonal (features X) M)%R.

(** ** The check *)

(** U over q has the diagonal 0, and no entry beyond lam. *)
Definition box_ok (d : nat) (lam : Q) (U : triangle) (q : positive) : bool :=
  all_below d (fun i => all_below d (fun j =>
    if (i =? j)%nat then entry U i j =? 0 else Z.abs (entry U i j) * Zpos (Qden lam) <=? Qnum lam * Zpos q)).

Definition plus_box (Z : triangle * positive) (U : triangle) (q : positive) : triangle * positive :=
  (joined (times (Zpos q) (fst Z)) (times (Zpos (snd Z)) U), (snd Z * q)%positive).

Definition off_whole (d : nat) (T : triangle) : Z :=
  summed (fun i => summed (fun j => if (i =? j)%nat then 0 else Z.abs (entry T i j)) (seq 0 d)) (seq 0 d).

(** a_0 and b_0 are the prior and its inverse. z_W and z_m are logarithms of determinants. *)
Definition check_sdml (div : Z -> Z -> Z) (X : points) (similar dissimilar : list pair) (eta lam : Q) (a_0 b_0 : metric)
    (U : triangle) (q v r : positive) (z_W z_m : Z) (m : metric) : option (Q * Q) :=
  let d := features X in
  let P := weights_of_pairs (Qnum eta) similar (weights_of_pairs (- Qnum eta) dissimilar []) in
  let W := plus_box (beside X P (Qden eta) b_0) U q in
  match det_of div d a_0, det_of div d m, last_pivot div d 1 (turned_whole d (fst W)) with
  | Some _, Some e, Some f =>
      let whole := whole_distance (images (triangle_of m) (rows X)) in
      let at_ := summed (fun s : pair => whole (fst s) (snd s)) in
      if short X && all_inside X (rev_append similar dissimilar) [] && prior_ok div d a_0 b_0 && box_ok d lam U q
         && ln_within div v (Zpos (power (snd W) d)) (Z.to_pos f) z_W r
         && ln_within div v (Zpos (power (over_of m) d)) (Z.to_pos e) z_m r then
        Some (inject_Z (Z.of_nat d) - (z_W # r),
          (inner_whole d (triangle_of m) (triangle_of b_0) # over_of m * over_of b_0)
          + eta * ((at_ similar - at_ dissimilar)%Z # over X * over X * over_of m) + (z_m # r)
          + lam * (off_whole d (triangle_of m) # over_of m))%Q
      else None
  | _, _, _ => None
  end.

Lemma inner_plus_box d A Z U q : inner d A (real_matrix (fst (plus_box Z U q)) (snd (plus_box Z U q)))
  = (inner d A (real_matrix (fst Z) (snd Z)) + inner d A (real_matrix U q))%R.
Proof.
  assert (Pz := pos_IZR (snd Z)). assert (Pq := pos_IZR q). unfold plus_box. cbn [fst snd].
  rewrite !inner_real, inner_joined, !inner_times_triangle, Pos2Z.inj_mul, mult_IZR. field. lra.
Qed.

Lemma box_below d lam U q M : box_ok d lam U q = true -> (inner d M (real_matrix U q) <= Q2R lam * off_diagonal d M)%R.
Proof.
  intros H. assert (Pq := pos_IZR q). assert (Pl := pos_IZR (Qden lam)).
  assert (Z : (0 <= Q2R lam * off_diagonal d M - inner d M (real_matrix U q))%R); [|lra].
  unfold off_diagonal, inner. rewrite <- sum_times, <- sum_minus. apply sum_pos. intros i I.
  rewrite <- sum_times, <- sum_minus. apply sum_pos. intros j J.
  assert (B := all_below_spec d _ (all_below_spec d _ H i I) j J). cbv beta in B. unfold real_matrix.
  destruct (i =? j)%nat.
  - apply Z.eqb_eq in B. rewrite B. unfold Rdiv. lra.
  - apply Z.leb_le, IZR_le in B. rewrite !mult_IZR, abs_IZR in B. set (e := IZR (entry U i j)) in *.
    assert (E : (Rabs (e / IZR (Zpos q)) <= Q2R lam)%R).
    { unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right (IZR (Zpos q))) by lra.
      apply (Rmult_le_reg_r (IZR (Zpos q) * IZR (Zpos (Qden lam)))); [apply Rmult_lt_0_compat; auto|]. unfold Q2R.
      replace (Rabs e * / IZR (Zpos q) * (IZR (Zpos q) * IZR (Zpos (Qden lam))))%R with (Rabs e * IZR (Zpos (Qden lam)))%R by (field; lra).
      replace (IZR (Qnum lam) * / IZR (Zpos (Qden lam)) * (IZR (Zpos q) * IZR (Zpos (Qden lam))))%R
        with (IZR (Qnum lam) * IZR (Zpos q))%R by (field; lra). exact B. }
    apply (Rmult_le_compat_r (Rabs (M i j))) in E; [|apply Rabs_pos].
    assert (A := Rle_abs (M i j * (e / IZR (Zpos q)))). rewrite Rabs_mult in A. lra.
Qed.

Lemma off_whole_correct d T p : Q2R (off_whole d T # p) = off_diagonal d (real_matrix T p).
Proof.
  assert (P := pos_IZR p). rewrite Q2R_make. unfold off_whole, off_diagonal. rewrite summed_correct, total_seq.
  unfold Rdiv. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros i _. rewrite summed_correct, total_seq, <- sum_times.
  apply sum_ext. intros j _. destruct (i =? j)%nat; [ring|]. unfold real_matrix, Rdiv.
  rewrite abs_IZR, Rabs_mult, Rabs_inv, (Rabs_right (IZR (Zpos p))) by lra. ring.
Qed.

Lemma nat_real d : Q2R (inject_Z (Z.of_nat d)) = INR d.
Proof. rewrite INR_IZR_INZ. unfold Q2R, inject_Z. simpl. lra. Qed.

Theorem sdml_sound div X similar dissimilar eta lam a_0 b_0 U q v r z_W z_m m lo hi :
  check_sdml div X similar dissimilar eta lam a_0 b_0 U q v r z_W z_m m = Some (lo, hi) ->
  let cost := sdml_cost X similar dissimilar eta lam (value_of b_0) in
  definite (features X) (value_of a_0) /\ inverse_of (features X) (value_of a_0) (value_of b_0) 1 /\
  (forall M, definite (features X) M -> Q2R lo <= cost M)%R /\
  definite (features X) (value_of m) /\ (cost (value_of m) <= Q2R hi)%R.
Proof.
  unfold check_sdml. cbv zeta. set (P := weights_of_pairs _ similar _). set (Z0 := beside X P (Qden eta) b_0). intros H.
  destruct (det_of div (features X) a_0) as [e_0|] eqn:E0; [|discriminate].
  destruct (det_of div (features X) m) as [e|] eqn:Em; [|discriminate].
  destruct (last_pivot _ _ _ _) as [f|] eqn:Ez in H; [|discriminate].
  destruct (_ && _) eqn:Ok in H; [|discriminate]. injection H as <- <-.
  do 5 (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]).
  destruct (det_of_correct div _ a_0 e_0 E0) as [_ [Def0 _]]. destruct (det_of_correct div _ m e Em) as [Pm [Defm Detm]].
  destruct (log_det_below div _ _ (snd (plus_box Z0 U q)) f Ez) as [Pf Low].
  set (d := features X) in *. assert (Pr := pos_IZR r). assert (Pe := pos_IZR (Qden eta)). assert (Px := pos_IZR (over X)).
  set (ow := power (snd (plus_box Z0 U q)) d) in *. assert (Ow := pos_IZR ow). assert (Om := pos_IZR (power (over_of m) d)).
  apply ln_within_correct in K; [|lia]. apply ln_within_correct in K0; [|lia]. rewrite Z2Pos.id in K, K0 by lia.
  apply IZR_lt in Pm. apply IZR_lt in Pf. rewrite ln_quotient in K, K0 by auto.
  split; [exact Def0|]. split; [apply inverse_shown_correct; exact K2|]. split; [|split; [exact Defm|]].
  - intros M HM. specialize (Low M HM). rewrite inner_plus_box in Low. unfold Z0, d in Low. rewrite beside_correct in Low.
    unfold P in Low. rewrite !total_pairs in Low. simpl (total _ []) in Low. cbn [weight one other] in Low. fold d in Low.
    assert (B := box_below d lam U q M K1). rewrite ln_quotient in Low by auto.
    rewrite (total_times (IZR (Qnum eta) / IZR (Zpos (Qden eta)))), (total_times (IZR (- Qnum eta) / IZR (Zpos (Qden eta)))), opp_IZR in Low.
    unfold sdml_cost. fold d. rewrite Q2R_minus, nat_real, Q2R_make. unfold Q2R at 1. unfold Rdiv in *. lra.
  - assert (E : forall i j, D X (value_of m) i j
      = (/ IZR (Zpos (over X * over X * over_of m)) * IZR (whole_distance (images (triangle_of m) (rows X)) i j))%R).
    { intros i j. unfold value_of. rewrite <- whole_distance_correct by auto. rewrite !Pos2Z.inj_mul, !mult_IZR. unfold Rdiv. ring. }
    unfold sdml_cost. fold d. rewrite Detm, ln_quotient by auto.
    assert (T : forall l, total (fun s => D X (value_of m) (fst s) (snd s)) l = (/ IZR (Zpos (over X * over X * over_of m))
      * total (fun s => IZR (whole_distance (images (triangle_of m) (rows X)) (fst s) (snd s))) l)%R)
      by (intros t; rewrite <- total_times; apply total_ext; intros; apply E).
    rewrite !T.
    rewrite !Q2R_plus, !Q2R_mult, inner_whole_correct, off_whole_correct, !Q2R_make, minus_IZR, !summed_correct.
    change (real_matrix (triangle_of m) (over_of m)) with (value_of m).
    change (real_matrix (triangle_of b_0) (over_of b_0)) with (value_of b_0). unfold pair, Rdiv in *. lra.
Qed.

(** A pair with an index beyond the points is refused. *)
Theorem sdml_inside div X similar dissimilar eta lam a_0 b_0 U q v r z_W z_m m value :
  check_sdml div X similar dissimilar eta lam a_0 b_0 U q v r z_W z_m m = Some value ->
  all_inside X (rev_append similar dissimilar) [] = true.
Proof.
  unfold check_sdml. cbv zeta. destruct (det_of _ _ _); [|discriminate]. destruct (det_of _ _ _); [|discriminate].
  destruct (last_pivot _ _ _ _); [|discriminate]. destruct (all_inside X _ []); [auto|]. rewrite andb_false_r. discriminate.
Qed.

(** Every two points are a pair. *)
Definition check_sdml_labels div X (y : list Z) eta lam a_0 b_0 U q v r z_W z_m m :=
  if count y =? count (rows X) then
    check_sdml div X (made_pairs y true) (made_pairs y false) eta lam a_0 b_0 U q v r z_W z_m m
  else None.

Theorem sdml_labels_sound div X y eta lam a_0 b_0 U q v r z_W z_m m lo hi :
  check_sdml_labels div X y eta lam a_0 b_0 U q v r z_W z_m m = Some (lo, hi) ->
  let cost := sdml_cost X (pairs_by_labels y true) (pairs_by_labels y false) eta lam (value_of b_0) in
  definite (features X) (value_of a_0) /\ inverse_of (features X) (value_of a_0) (value_of b_0) 1 /\
  (forall M, definite (features X) M -> Q2R lo <= cost M)%R /\
  definite (features X) (value_of m) /\ (cost (value_of m) <= Q2R hi)%R.
Proof.
  unfold check_sdml_labels. rewrite !made_pairs_correct. destruct (_ =? _); [|discriminate]. apply sdml_sound.
Qed.
