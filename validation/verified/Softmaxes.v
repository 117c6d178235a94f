(** MCML: what the check accepts is proved. The upper end is at least the objective of the metric.

    The parts of the proof are those of every problem with linear pulls and a softmax of each point:
        sum_i [ sum_j a_ij / p D(i, j) + c_i / p ln sum_{k <> i} exp (- D(i, k)) ].
    For shares b_ik > 0 with the sum c_i, c_i ln sum exp (- D) is at least - sum b_ik D(i, k) - sum b_ik ln (b_ik / c_i). *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Methods Spread Gerrymandering Exponentials.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe, beside [others] of Gerrymandering *)

(** The other points of the class of i, and the points that have one *)
Definition mates (y : list Z) (i : N) : list N := filter (fun j => class y j =? class y i) (others y i).
Definition accompanied (y : list Z) : list N := filter (fun i => negb (length (mates y i) =? 0)%nat) (indices y).

Definition mcml_cost (X : points) (y : list Z) (A : matrix) : R :=
  total (fun i => total (D X A i) (mates y i) / INR (length (mates y i))
    + ln (total (fun k => exp (- D X A i k)) (others y i)))%R (accompanied y).

(** ** The general problem *)

Definition pulls : Type := list (N * Z).

Definition soft_loss (y : list Z) (p : positive) (pull : N -> pulls) (c : N -> Z) (points : list N) (D : N -> N -> R) : R :=
  total (fun i => total (fun s => IZR (snd s) / IZR (Zpos p) * D i (fst s)) (pull i)
    + IZR (c i) / IZR (Zpos p) * ln (total (fun k => exp (- D i k)) (others y i)))%R points.

(** Of a point: shares of other points, each with a logarithm; and the logarithm of the sum at the metric *)
Record soft := { of_point : N; shared : list (N * (Z * Z)); log_sum : Z }.

Definition others_among (all : list N) (i : N) : list N := kept (fun j => negb (j =? i)%N) all.

Definition soft_ok (div : Z -> Z -> Z) (all : list N) (r : positive) (c : N -> Z) (s : soft) : bool :=
  let own := c (of_point s) in
  (0 <? own) && within N.eqb fst (shared s) (others_among all (of_point s))
  && forallb (fun t => (0 <? fst (snd t)) && ln_at_most div (fst (snd t)) (Z.to_pos own) (snd (snd t)) r) (shared s)
  && (summed (fun t => fst (snd t)) (shared s) =? own).

Definition soft_weights (pull : N -> pulls) (l : list soft) : list weighted :=
  gathered (fun s => rev_append
    (map (fun t => {| weight := snd t; one := of_point s; other := fst t |}) (pull (of_point s)))
    (map (fun t => {| weight := - fst (snd t); one := of_point s; other := fst t |}) (shared s))) l.

Definition soft_constant (p r : positive) (l : list soft) : Q :=
  - (summed (fun s => summed (fun t => fst (snd t) * snd (snd t)) (shared s)) l # p * r).

(** The largest of - D(i, k), and whether the logarithm of the sum is large enough *)
Definition soft_top (div : Z -> Z -> Z) (all : list N) (r : positive) (whole : N -> N -> Z) (unit : positive) (s : soft)
    : Z * bool :=
  let l := map (fun k => - whole (of_point s) k) (others_among all (of_point s)) in
  let top := largest l in (top, log_sum_at_most div top l unit (log_sum s) r).

Definition soft_value (div : Z -> Z -> Z) (all : list N) (p r : positive) (pull : N -> pulls) (c : N -> Z) (l : list soft)
    (whole : N -> N -> Z) (unit : positive) : option Q :=
  let tops := gathered (fun s => [(s, soft_top div all r whole unit s)]) l in
  if forallb (fun t => snd (snd t)) tops then
    let pulled := summed (fun s => summed (fun t => snd t * whole (of_point s) (fst t)) (pull (of_point s))) l in
    let most := summed (fun t : soft * (Z * bool) => c (of_point (fst t)) * fst (snd t)) tops in
    let logs := summed (fun s => c (of_point s) * log_sum s) l in
    Some ((pulled + most # p * unit) + (logs # p * r))%Q
  else None.

Definition check_soft (div : Z -> Z -> Z) (X : points) (y : list Z) (p r : positive) (pull : N -> pulls) (c : N -> Z)
    (l : list soft) (f : factor) (m : metric) : option (Q * Q) :=
  let all := numbers y in
  if forallb (soft_ok div all r c) l then
    check div X 0 (soft_constant p r l) (soft_weights pull l) p f m (soft_value div all p r pull c l)
  else None.

Lemma others_among_correct y i : others_among (numbers y) i = others y i.
Proof. unfold others_among. rewrite kept_filter, numbers_indices. reflexivity. Qed.

Lemma total_rev_append {T} (f : T -> R) a b : total f (rev_append a b) = (total f a + total f b)%R.
Proof. rewrite rev_append_rev, total_app. f_equal. induction a; simpl; [reflexivity|]. rewrite total_app, IHa. simpl. ring. Qed.

Lemma soft_below div y p r pull c l (D : N -> N -> R) : forallb (soft_ok div (numbers y) r c) l = true ->
  (Q2R (soft_constant p r l) + total (fun w => IZR (weight w) / IZR (Zpos p) * D (one w) (other w)) (soft_weights pull l)
   <= soft_loss y p pull c (map of_point l) D)%R.
Proof.
  intros Ok. assert (P := pos_IZR p). assert (Pr := pos_IZR r).
  unfold soft_loss, soft_constant, soft_weights. rewrite total_map, gathered_flat_map, total_flat_map, Q2R_opp, Q2R_make.
  rewrite summed_correct, Pos2Z.inj_mul, mult_IZR.
  assert (Each : (total (fun s => total (fun w => IZR (weight w) / IZR (Zpos p) * D (one w) (other w))
        (rev_append (map (fun t => {| weight := snd t; one := of_point s; other := fst t |}) (pull (of_point s)))
          (map (fun t : N * (Z * Z) => {| weight := - fst (snd t); one := of_point s; other := fst t |}) (shared s)))
      + - (/ (IZR (Zpos p) * IZR (Zpos r))) * IZR (summed (fun t : N * (Z * Z) => fst (snd t) * snd (snd t))%Z (shared s))) l
    <= total (fun s => total (fun t => IZR (snd t) / IZR (Zpos p) * D (of_point s) (fst t)) (pull (of_point s))
      + IZR (c (of_point s)) / IZR (Zpos p) * ln (total (fun k => exp (- D (of_point s) k)) (others y (of_point s)))) l)%R).
  { apply total_le. intros s S. assert (H := forallb_in _ _ Ok s S). unfold soft_ok in H. cbv zeta in H.
    repeat (apply andb_prop in H; let K := fresh "K" in destruct H as [H K]).
    rewrite others_among_correct in K1. apply Z.ltb_lt in H. apply Z.eqb_eq in K. apply (f_equal IZR) in K.
    rewrite summed_correct in K. set (i := of_point s) in *. set (own := c i) in *.
    assert (C := IZR_lt _ _ H). rewrite total_rev_append, !total_map. cbn [weight one other].
    rewrite summed_correct. assert (F := fun t T => forallb_in _ _ K0 t T). cbv beta in F.
    set (q := map (fun t : N * (Z * Z) => (fst t, (IZR (fst (snd t)) / IZR own)%R)) (shared s)).
    assert (L := log_sum_at_least (fun k => (- D i k)%R) (others y i) q).
    assert (Lb : (total (fun s => snd s * - D i (fst s)) q - total (fun s => snd s * ln (snd s)) q
      <= ln (total (fun k => exp (- D i k)) (others y i)))%R).
    { apply L.
      - intros g G. unfold q. rewrite total_map. cbn [fst].
        apply (within_total N.eqb fst g (fun a b => proj1 (N.eqb_eq a b))); auto.
      - intros t T. apply in_map_iff in T. destruct T as [u [<- U]]. specialize (F u U). apply andb_prop in F.
        destruct F as [F _]. apply Z.ltb_lt, IZR_lt in F. apply Rdiv_lt_0_compat; auto.
      - unfold q. rewrite total_map. cbn [snd]. rewrite (total_ext _ (fun t : N * (Z * Z) => / IZR own * IZR (fst (snd t)))%R)
          by (intros; unfold Rdiv; ring). rewrite total_times, K. field. lra. }
    unfold q in Lb. rewrite !total_map in Lb. cbn [fst snd] in Lb. clear L q.
    assert (Ent : (total (fun t : N * (Z * Z) => IZR (fst (snd t)) / IZR own * ln (IZR (fst (snd t)) / IZR own)) (shared s)
      <= / (IZR own * IZR (Zpos r)) * total (fun t : N * (Z * Z) => IZR (fst (snd t) * snd (snd t))) (shared s))%R).
    { rewrite <- total_times. apply total_le. intros t T. specialize (F t T). apply andb_prop in F. destruct F as [F1 F2].
      apply Z.ltb_lt in F1. apply ln_at_most_correct in F2; [|auto]. rewrite Z2Pos.id in F2 by auto. apply IZR_lt in F1.
      apply Rle_trans with (IZR (fst (snd t)) / IZR own * (IZR (snd (snd t)) / IZR (Zpos r)))%R.
      - apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; auto|auto].
      - right. rewrite mult_IZR. field. lra. }
    set (sum := ln _) in *. set (logs := total (fun t : N * (Z * Z) => IZR (fst (snd t) * snd (snd t))) (shared s)) in *.
    apply (Rmult_le_compat_l (IZR own / IZR (Zpos p))) in Lb; [|left; apply Rdiv_lt_0_compat; auto].
    rewrite Rmult_minus_distr_l, <- total_times in Lb.
    apply (Rmult_le_compat_l (IZR own / IZR (Zpos p))) in Ent; [|left; apply Rdiv_lt_0_compat; auto].
    replace (IZR own / IZR (Zpos p) * (/ (IZR own * IZR (Zpos r)) * logs))%R
      with (/ (IZR (Zpos p) * IZR (Zpos r)) * logs)%R in Ent by (field; lra).
    rewrite (total_ext (fun t : N * (Z * Z) => IZR (- fst (snd t)) / IZR (Zpos p) * D i (fst t))%R
      (fun t => IZR own / IZR (Zpos p) * (IZR (fst (snd t)) / IZR own * - D i (fst t)))%R)
      by (intros; rewrite opp_IZR; field; lra).
    lra. }
  rewrite total_plus, total_times in Each.
  unfold Rdiv at 1. rewrite (Rmult_comm (total _ l)), Ropp_mult_distr_l. lra.
Qed.

Lemma flat_map_one {S T} (g : S -> T) l : flat_map (fun s => [g s]) l = map g l.
Proof. induction l; simpl; [reflexivity|]. rewrite IHl. reflexivity. Qed.

Lemma soft_at_most div y p r pull c l (D : N -> N -> R) whole unit v : forallb (soft_ok div (numbers y) r c) l = true ->
  (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R ->
  soft_value div (numbers y) p r pull c l whole unit = Some v -> (soft_loss y p pull c (map of_point l) D <= Q2R v)%R.
Proof.
  intros Ok E V. unfold soft_value in V. cbv zeta in V.
  rewrite !gathered_flat_map in V.
  rewrite flat_map_one in V.
  destruct (forallb _ _) eqn:T in V; [|discriminate].
  injection V as <-. rewrite Q2R_plus, !Q2R_make, plus_IZR, !summed_correct, !Pos2Z.inj_mul, !mult_IZR.
  rewrite total_map. cbn [fst snd].
  assert (P := pos_IZR p). assert (Pr := pos_IZR r). assert (U := pos_IZR unit).
  unfold soft_loss. rewrite total_map.
  apply Rle_trans with (total (fun s => / (IZR (Zpos p) * IZR (Zpos unit))
      * IZR (summed (fun t => snd t * whole (of_point s) (fst t))%Z (pull (of_point s)))
    + / (IZR (Zpos p) * IZR (Zpos unit)) * IZR (c (of_point s) * fst (soft_top div (numbers y) r whole unit s))
    + / (IZR (Zpos p) * IZR (Zpos r)) * IZR (c (of_point s) * log_sum s)) l)%R.
  - apply total_le. intros s S. assert (H := forallb_in _ _ Ok s S). unfold soft_ok in H. cbv zeta in H.
    repeat (apply andb_prop in H; let K := fresh "K" in destruct H as [H K]). apply Z.ltb_lt in H. apply Z.eqb_eq in K.
    assert (C := IZR_lt _ _ H). rewrite others_among_correct in K1.
    assert (Tt := forallb_in _ _ T _ (in_map (fun s => (s, soft_top div (numbers y) r whole unit s)) l s S)).
    cbv beta in Tt. cbn [snd] in Tt. unfold soft_top in *. cbv zeta in *. cbn [fst snd] in *.
    rewrite others_among_correct in *. set (i := of_point s) in *.
    assert (Ne : others y i <> []).
    { intros O. rewrite O in K1. simpl in K1. destruct (shared s); [|discriminate]. unfold summed in K. simpl in K. lia. }
    apply log_sum_at_most_correct in Tt; [|destruct (others y i); simpl; congruence].
    rewrite total_map in Tt. rewrite (total_ext _ (fun k => exp (- D i k))) in Tt
      by (intros; rewrite <- E, opp_IZR; f_equal; field; lra).
    rewrite summed_correct, <- total_times.
    rewrite (total_ext (fun t => IZR (snd t) / IZR (Zpos p) * D i (fst t))%R
      (fun t => / (IZR (Zpos p) * IZR (Zpos unit)) * IZR (snd t * whole i (fst t)))%R)
      by (intros; rewrite <- E, mult_IZR; field; lra).
    rewrite !mult_IZR. set (top := IZR (largest _)) in *.
    apply (Rmult_le_compat_l (IZR (c i) / IZR (Zpos p))) in Tt; [|left; apply Rdiv_lt_0_compat; auto].
    replace (IZR (c i) / IZR (Zpos p) * (top / IZR (Zpos unit) + IZR (log_sum s) / IZR (Zpos r)))%R
      with (/ (IZR (Zpos p) * IZR (Zpos unit)) * (IZR (c i) * top) + / (IZR (Zpos p) * IZR (Zpos r)) * (IZR (c i) * IZR (log_sum s)))%R
      in Tt by (field; lra).
    lra.
  - rewrite !total_plus, !total_times. right. unfold Rdiv. ring.
Qed.

Lemma check_soft_sound div X y p r pull c l f m lo hi : check_soft div X y p r pull c l f m = Some (lo, hi) ->
  let loss := soft_loss y p pull c (map of_point l) in
  (forall A, psd (features X) A -> Q2R lo <= loss (D X A))%R /\
  psd (features X) (value_of m) /\ (loss (D X (value_of m)) <= Q2R hi)%R.
Proof.
  unfold check_soft. cbv zeta. destruct (forallb _ _) eqn:Ok; [|discriminate]. intros H.
  apply check_at_most with (loss := soft_loss y p pull c (map of_point l)) in H.
  - replace (Q2R 0) with 0%R in H by (unfold Q2R; simpl; lra). destruct H as [Lo [Psd Hi]].
    split; [|split; [auto|lra]]. intros A HA. specialize (Lo A HA). lra.
  - intros D _. apply (soft_below div); auto.
  - intros D whole unit v E V. apply (soft_at_most div y p r pull c l D whole unit v Ok E V).
Qed.

(** ** MCML *)

Fixpoint same_points (a b : list N) : bool :=
  match a, b with
  | [], [] => true
  | i :: a, j :: b => (i =? j)%N && same_points a b
  | _, _ => false
  end.

Lemma same_points_correct a : forall b, same_points a b = true -> a = b.
Proof.
  induction a as [|i a IH]; intros [|j b] H; simpl in H; try discriminate; [reflexivity|].
  apply andb_prop in H. destruct H as [E H]. apply N.eqb_eq in E. rewrite E, (IH b H). reflexivity.
Qed.

Definition mates_among (all : list N) (t : tree Z) (i : N) : list N :=
  let own := look 0 t i in kept (fun j => look 0 t j =? own) (others_among all i).

Lemma mates_among_correct y i : mates_among (numbers y) (table y) i = mates y i.
Proof.
  unfold mates_among, mates. cbv zeta. rewrite kept_filter, others_among_correct. apply filter_ext. intros j.
  rewrite !look_table. reflexivity.
Qed.

(** The weight of each mate over p, p / (n - 1) of a class of n points *)
Definition mean_pulls (div : Z -> Z -> Z) (p : positive) (mates : list N) : pulls :=
  let each := div (Zpos p) (count mates) in map (fun j => (j, each)) mates.

Definition whole_mean (div : Z -> Z -> Z) (p : positive) (mates : list N) : bool :=
  div (Zpos p) (count mates) * count mates =? Zpos p.

Definition check_mcml (div : Z -> Z -> Z) (X : points) (y : list Z) (p r : positive) (l : list soft) (f : factor)
    (m : metric) : option (Q * Q) :=
  let mates := mates_among (numbers y) (table y) in
  if (count y =? count (rows X))
     && same_points (map of_point l) (kept (fun i => match mates i with [] => false | _ => true end) (numbers y))
     && forallb (fun s => whole_mean div p (mates (of_point s))) l
  then check_soft div X y p r (fun i => mean_pulls div p (mates i)) (fun _ => Zpos p) l f m
  else None.

Theorem mcml_sound div X y p r l f m lo hi : check_mcml div X y p r l f m = Some (lo, hi) ->
  (forall A, psd (features X) A -> Q2R lo <= mcml_cost X y A)%R /\
  psd (features X) (value_of m) /\ (mcml_cost X y (value_of m) <= Q2R hi)%R.
Proof.
  unfold check_mcml. cbv zeta. intros H. destruct (_ && _) eqn:Ok in H; [|discriminate].
  apply andb_prop in Ok. destruct Ok as [Ok Mean]. apply andb_prop in Ok. destruct Ok as [_ Same].
  apply same_points_correct in Same. rewrite kept_filter, numbers_indices in Same.
  assert (All : map of_point l = accompanied y).
  { rewrite Same. apply filter_ext. intros i. rewrite <- (numbers_indices y), mates_among_correct. destruct (mates y i); reflexivity. }
  assert (E : forall A, soft_loss y p (fun i => mean_pulls div p (mates_among (numbers y) (table y) i)) (fun _ => Zpos p)
      (map of_point l) (D X A) = mcml_cost X y A).
  { intros A. unfold soft_loss, mcml_cost. rewrite <- All, !total_map. apply total_ext. intros s S.
    assert (W := forallb_in _ _ Mean s S). cbv beta in W. unfold whole_mean in W. apply Z.eqb_eq in W.
    unfold mean_pulls. cbv zeta. rewrite !mates_among_correct in *. rewrite total_map. cbn [fst snd].
    set (i := of_point s) in *. set (each := div _ _) in *. rewrite total_times. rewrite count_length in W.
    apply (f_equal IZR) in W. rewrite mult_IZR, <- INR_IZR_INZ in W. assert (P := pos_IZR p).
    assert (Nz : INR (length (mates y i)) <> 0%R) by (intros Z; rewrite Z in W; lra).
    rewrite <- W. field. split; [auto|]. intros Z. rewrite Z in W. lra. }
  apply check_soft_sound in H. cbv zeta in H. destruct H as [Lo [Psd Hi]]. rewrite E in Hi.
  split; [|auto]. intros A HA. rewrite <- E. auto.
Qed.

(** Every index of [others] names a point. *)
Theorem mcml_inside div X y p r l f m v : check_mcml div X y p r l f m = Some v -> length y = length (rows X).
Proof.
  unfold check_mcml. cbv zeta. destruct (count y =? count (rows X)) eqn:E; [|discriminate]. intros _.
  apply Z.eqb_eq in E. rewrite !count_length in E. lia.
Qed.
