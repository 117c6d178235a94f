(** DML-eig: what the check accepts is proved. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods Spread.
Import ListNotations.
Open Scope Z_scope.

(** ** Every two points, made without recursion on the stack *)

Definition made_pairs (y : list Z) (alike : bool) : list pair :=
  let t := table y in
  let all := numbers y in
  gathered (fun i => let c := look 0 t i in
    gathered (fun j => if (i <? j)%N && Bool.eqb (c =? look 0 t j) alike then [(i, j)] else []) all) all.

Lemma made_pairs_correct y alike : made_pairs y alike = pairs_by_labels y alike.
Proof.
  unfold made_pairs, pairs_by_labels. rewrite gathered_flat_map, numbers_indices.
  assert (E : forall f g : N -> list pair, (forall i, f i = g i) -> forall l, flat_map f l = flat_map g l).
  { intros f g E l. induction l; simpl; [reflexivity|]. rewrite E, IHl. reflexivity. }
  apply E. intros i. rewrite gathered_flat_map. unfold class.
  induction (indices y) as [|j all IH]; simpl; [reflexivity|]. rewrite IH, !look_table.
  destruct ((i <? j)%N && Bool.eqb (at_ 0 y i =? at_ 0 y j) alike); reflexivity.
Qed.

(** ** The metric within the budget *)

(** The metric over what it spends, where that is more than 1. *)
Definition within_budget (X : points) (similar : list pair) (m : metric) : metric :=
  let T := triangle_of m in
  let whole := whole_distance (images T (rows X)) in
  let spent := summed (fun s : pair => whole (fst s) (snd s)) similar in
  if spent <=? Zpos (over X * over X * over_of m) then m
  else Given (times (Zpos (over X * over X)) T) (Z.to_pos spent).

(** ** The check *)

Definition same_pair (s t : pair) : bool := (fst s =? fst t)%N && (snd s =? snd t)%N.

Lemma same_pair_correct s t : same_pair s t = true -> s = t.
Proof.
  destruct s, t. unfold same_pair. simpl. intros H. apply andb_prop in H. destruct H as [A B].
  apply N.eqb_eq in A, B. congruence.
Qed.

(** k = - mu, and weights mu of similar pairs and - q of dissimilar ones, over p times the denominator of mu. *)
Definition weights_of_pairs (c : Z) (pairs : list pair) (P : list weighted) : list weighted :=
  fold_left (fun P s => {| weight := c; one := fst s; other := snd s |} :: P) pairs P.
Definition weights_of_least (c : Z) (q : list (pair * Z)) (P : list weighted) : list weighted :=
  fold_left (fun P s => {| weight := - (c * snd s); one := fst (fst s); other := snd (fst s) |} :: P) q P.

Definition least_value (similar dissimilar : list pair) (whole : N -> N -> Z) (unit : positive) : option Q :=
  if summed (fun s : pair => whole (fst s) (snd s)) similar <=? Zpos unit then
    match dissimilar with
    | [] => None
    | s :: rest =>
        Some (- (fold_left (fun b s => Z.min b (whole (fst s) (snd s))) rest (whole (fst s) (snd s)) # unit))%Q
    end
  else None.

Definition check_dml_eig (div : Z -> Z -> Z) (X : points) (similar dissimilar : list pair) (mu : Q)
    (p : positive) (q : list (pair * Z)) (f : factor) (m : metric) : option (Q * Q) :=
  if (0 <=? Qnum mu) && within same_pair fst q dissimilar && forallb (fun s => 0 <=? snd s) q
     && (summed snd q =? Zpos p) && all_inside X (rev_append similar dissimilar) [] then
    let P := weights_of_pairs (Qnum mu * Zpos p) similar (weights_of_least (Zpos (Qden mu)) q []) in
    check div X 0 (- mu) P (p * Qden mu) f m (least_value similar dissimilar)
  else None.

Lemma total_pairs c (v : weighted -> R) pairs : forall P,
  total v (weights_of_pairs c pairs P)
  = (total (fun s => v {| weight := c; one := fst s; other := snd s |}) pairs + total v P)%R.
Proof.
  unfold weights_of_pairs. induction pairs as [|s l IH]; intros P; simpl; [ring|]. rewrite IH. simpl. unfold total. ring.
Qed.

Lemma total_least c (v : weighted -> R) q : forall P,
  total v (weights_of_least c q P)
  = (total (fun s => v {| weight := - (c * snd s); one := fst (fst s); other := snd (fst s) |}) q + total v P)%R.
Proof.
  unfold weights_of_least. induction q as [|s l IH]; intros P; simpl; [ring|]. rewrite IH. simpl. unfold total. ring.
Qed.

(** A mean is no less than the least. *)
Lemma mean_least (D : N -> N -> R) dissimilar p (q : list (pair * Z)) :
  within same_pair fst q dissimilar = true -> forallb (fun s => 0 <=? snd s) q = true -> summed snd q = Zpos p ->
  (minimum (map (fun s => D (fst s) (snd s)) dissimilar)
   <= total (fun s => IZR (snd s) / IZR (Zpos p) * D (fst (fst s)) (snd (fst s))) q)%R.
Proof.
  intros W A S. set (least := minimum _). assert (Pp := pos_IZR p).
  assert (Sum : total (fun s : pair * Z => IZR (snd s) / IZR (Zpos p))%R q = 1%R).
  { rewrite (total_ext _ (fun s => / IZR (Zpos p) * IZR (snd s))%R) by (intros; unfold Rdiv; ring).
    rewrite total_times, <- summed_correct, S. field. lra. }
  rewrite <- (Rmult_1_r least), <- Sum, <- total_times. apply total_le. intros s I.
  assert (0 <= IZR (snd s) / IZR (Zpos p))%R.
  { apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; auto]. apply IZR_le.
    assert (B := forallb_in _ _ A s I). apply Z.leb_le in B. exact B. }
  rewrite Rmult_comm. apply Rmult_le_compat_l; auto. apply minimum_le.
  apply (in_map (fun s => D (fst s) (snd s)) dissimilar (fst s)).
  apply (within_in same_pair fst same_pair_correct dissimilar q W s I).
Qed.

Theorem dml_eig_sound div X similar dissimilar mu p q f m lo hi :
  check_dml_eig div X similar dissimilar mu p q f m = Some (lo, hi) ->
  (forall A, dml_eig_feasible X similar A -> Q2R lo <= dml_eig_cost X dissimilar A)%R /\
  dml_eig_feasible X similar (value_of m) /\ dml_eig_cost X dissimilar (value_of m) = Q2R hi.
Proof.
  unfold check_dml_eig. intros H.
  destruct (0 <=? Qnum mu) eqn:Mu; simpl in H; [|discriminate]. apply Z.leb_le in Mu.
  destruct (within same_pair fst q dissimilar) eqn:W; simpl in H; [|discriminate].
  destruct (forallb (fun s => 0 <=? snd s) q) eqn:A; simpl in H; [|discriminate].
  destruct (summed snd q =? Zpos p) eqn:S; simpl in H; [|discriminate]. apply Z.eqb_eq in S.
  destruct (all_inside _ _ _); [|discriminate].
  assert (Pp := pos_IZR p). assert (Pm := pos_IZR (Qden mu)).
  assert (M0 : (0 <= Q2R mu)%R).
  { apply IZR_le in Mu. apply Rmult_le_pos; auto. left. apply Rinv_0_lt_compat. auto. }
  apply check_sound with
    (loss := fun D => (- minimum (map (fun s => D (fst s) (snd s)) dissimilar))%R)
    (allowed := fun D => (total (fun s => D (fst s) (snd s)) similar <= 1)%R) in H.
  - destruct H as [Lo [Psd [Al Hi]]]. unfold dml_eig_cost, dml_eig_feasible.
    replace (Q2R 0) with 0%R in * by (unfold Q2R; simpl; lra). split; [|split; [auto|lra]].
    intros B [HB AB]. specialize (Lo B HB AB). lra.
  - clear H. intros D _ Al. rewrite total_pairs, total_least, Q2R_opp. cbn [weight one other].
    assert (L := mean_least D dissimilar p q W A S).
    rewrite (total_ext (fun s : pair * Z =>
        IZR (- (Zpos (Qden mu) * snd s)) / IZR (Zpos (p * Qden mu)) * D (fst (fst s)) (snd (fst s)))%R
      (fun s => -1 * (IZR (snd s) / IZR (Zpos p) * D (fst (fst s)) (snd (fst s))))%R)
      by (intros; rewrite Pos2Z.inj_mul, opp_IZR, !mult_IZR; field; lra).
    rewrite (total_ext (fun s : pair => IZR (Qnum mu * Zpos p) / IZR (Zpos (p * Qden mu)) * D (fst s) (snd s))%R
      (fun s => Q2R mu * D (fst s) (snd s))%R)
      by (intros; rewrite Pos2Z.inj_mul, !mult_IZR; unfold Q2R; field; lra).
    rewrite !total_times. simpl (total _ []).
    assert (Q2R mu * total (fun s : pair => D (fst s) (snd s)) similar <= Q2R mu * 1)%R by (apply Rmult_le_compat_l; auto).
    unfold pair in *. lra.
  - clear H. intros D whole unit v E V. unfold least_value in V. assert (U := pos_IZR unit).
    destruct (summed _ similar <=? Zpos unit) eqn:B; [|discriminate]. apply Z.leb_le in B. split.
    + destruct dissimilar as [|s rest]; [discriminate|]. inversion V; subst; clear V.
      rewrite Q2R_opp, Q2R_make. f_equal.
      assert (F := least_minimum (map (fun s : pair => whole (fst s) (snd s)) (s :: rest)) unit ltac:(simpl; congruence)).
      rewrite map_map in F. rewrite (map_ext _ (fun s : pair => D (fst s) (snd s))) in F by (intros; apply E).
      unfold pair in *. rewrite <- F. f_equal. f_equal. unfold least. cbn [map].
      generalize (whole (fst s) (snd s)). clear. induction rest as [|r rest IH]; intros b; simpl; auto.
    + apply IZR_le in B. rewrite summed_correct in B.
      rewrite (total_ext _ (fun s : pair => / IZR (Zpos unit) * IZR (whole (fst s) (snd s)))%R)
        by (intros; rewrite <- E; unfold Rdiv; ring).
      rewrite total_times. apply (Rmult_le_reg_l (IZR (Zpos unit))); auto.
      rewrite <- Rmult_assoc, Rinv_r by lra. lra.
Qed.

(** A pair with an index beyond the points is refused. *)
Theorem dml_eig_inside div X similar dissimilar mu p q f m r :
  check_dml_eig div X similar dissimilar mu p q f m = Some r -> all_inside X (rev_append similar dissimilar) [] = true.
Proof.
  unfold check_dml_eig. destruct (all_inside X _ []); [auto|]. rewrite andb_false_r. discriminate.
Qed.

(** Every two points are a pair. *)
Definition check_dml_eig_labels div X (y : list Z) mu p q f m :=
  if count y =? count (rows X) then check_dml_eig div X (made_pairs y true) (made_pairs y false) mu p q f m else None.

Theorem dml_eig_labels_sound div X y mu p q f m lo hi :
  check_dml_eig_labels div X y mu p q f m = Some (lo, hi) ->
  let similar := pairs_by_labels y true in let dissimilar := pairs_by_labels y false in
  (forall A, dml_eig_feasible X similar A -> Q2R lo <= dml_eig_cost X dissimilar A)%R /\
  dml_eig_feasible X similar (value_of m) /\ dml_eig_cost X dissimilar (value_of m) = Q2R hi.
Proof.
  unfold check_dml_eig_labels. rewrite !made_pairs_correct. destruct (_ =? _); [|discriminate]. intros H. eapply dml_eig_sound. exact H.
Qed.
