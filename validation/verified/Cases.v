(** Neighbourhood gerrymandering: the global optimum of F, which is not convex, by a tree of cases.

    For a metric, each point has a cheapest set among the sets that its class wins. A branch of the tree asks whether a
    point j is in the cheapest set of a point i. So a leaf knows a list of sets for each i, and one of them is the
    cheapest. With these lists, weights on sets and multipliers of exchanges bound F from below. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool Permutation FunctionalExtensionality.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods Spread Inference Gerrymandering.
Import ListNotations.
Open Scope Z_scope.

(** ** The tree *)

(** i, j, l and a multiplier: the set of i has j and not l, and l could take the place of j *)
Definition exchange : Type := N * N * N * Z.

Record leaf := { on_sets : list sets_of; exchanges : list exchange; hints : factor }.

Inductive cases := Bounded (l : leaf) | Split (i j : N) (inside outside : cases).

Definition has (j : N) (h : list N) : bool := existsb (N.eqb j) h.
Definition lacks (j : N) (h : list N) : bool := negb (has j h).

(** The points of every set of the list *)
Definition common (sets : list (list N)) : list N :=
  match sets with [] => [] | h :: sets => filter (fun j => forallb (has j) sets) h end.

(** [left]: of each point, the sets that are left *)
Definition exchange_ok (cls : N -> Z) (n : N) (left : tree (list (list N))) (e : exchange) : bool :=
  let '(i, j, l, a) := e in
  (0 <=? a) && (i <? n)%N && (l <? n)%N && negb (l =? i)%N && ((cls l =? cls j) || (cls l =? cls i))
  && forallb (fun h => has j h && lacks l h) (look [] left i).

Definition weights_of_exchanges (l : list exchange) : list weighted :=
  flat_map (fun e : exchange => let '(i, j, l, a) := e in
    [{| weight := a; one := i; other := j |}; {| weight := - a; one := i; other := l |}]) l.

(** F of the metrics of a leaf is at least this. *)
Definition leaf_bound (div : Z -> Z -> Z) (X : points) (cls : N -> Z) (classes : list Z) (all : list N) (Lam : Z -> Z -> Z)
    (q : positive) (C : Q) (k : nat) (p : positive) (left : tree (list (list N))) (l : leaf) : option Q :=
  let n := size all in
  if within N.eqb fst (on_sets l) all && forallb (weights_ok n k C p) (on_sets l)
     && forallb (exchange_ok cls n left) (exchanges l) then
    match below div X 1 (weights_of_sets (fun i => common (look [] left i)) (on_sets l) ++ weights_of_exchanges (exchanges l))
        p (hints l) with
    | Some b => Some ((gain cls classes Lam (on_sets l) # (p * q)) + b)%Q
    | None => None
    end
  else None.

(** The least of [lo] and the bounds of the leaves. No metric is in a branch without a set that is left. *)
Fixpoint lowest (bound : tree (list (list N)) -> leaf -> option Q) (n : N) (left : tree (list (list N))) (t : cases) (lo : Q)
    : option Q :=
  match t with
  | Bounded l =>
      match bound left l with
      | Some b => Some (if Qle_bool lo b then lo else b)
      | None => None
      end
  | Split i j inside outside =>
      if (i <? n)%N then
        let at_ sets := put left (N.succ_pos i) sets in
        match
          match filter (has j) (look [] left i) with [] => Some lo | sets => lowest bound n (at_ sets) inside lo end
        with
        | Some lo =>
            match filter (lacks j) (look [] left i) with [] => Some lo | sets => lowest bound n (at_ sets) outside lo end
        | None => None
        end
      else None
  end.

(** The sets of i that its class wins *)
Definition winning (cls : N -> Z) (classes : list Z) (k : nat) (all : list N) (i : N) : list (list N) :=
  filter (wins_among cls classes (cls i)) (choose k (filter (fun j => negb (j =? i)%N) all)).

(** The term of point i in F, over q * unit *)
Definition point_loss (cls : N -> Z) (classes : list Z) (Lam : Z -> Z -> Z) (q : positive) (k : nat) (all : list N)
    (left : tree (list (list N))) (whole : N -> N -> Z) (unit : positive) (i : N) : Z :=
  let cost h := Zpos q * summed (whole i) h in
  largest (map (fun h => - cost h + Zpos unit * whole_Delta cls classes Lam (cls i) h)
    (choose k (filter (fun j => negb (j =? i)%N) all)))
  - largest (map (fun h => - cost h) (look [] left i)).

Definition check_gerrymandering (div : Z -> Z -> Z) (X : points) (y : list Z) (Lam : Z -> Z -> Z) (q : positive) (C : Q)
    (k : nat) (p : positive) (t : cases) (m : metric) : option (Q * Q) :=
  let cls := look 0 (table y) in
  let classes := nodup Z.eq_dec y in
  let all := numbers y in
  let root := table (map (winning cls classes k all) all) in
  if (1 <=? k)%nat && (count y =? count (rows X)) && short X && fits (features X) (triangle_of m)
     && metric_shown div (features X) m && Qle_bool 0 C && lam_ok classes Lam
     && forallb (fun i => match look [] root i with [] => false | _ => true end) all then
    let whole := whole_distance (images (triangle_of m) (rows X)) in
    let unit := (over X * over X * over_of m)%positive in
    let hi := (norm_of 1 m + C * (summed (point_loss cls classes Lam q k all root whole unit) all # (q * unit)))%Q in
    match lowest (leaf_bound div X cls classes all Lam q C k p) (size all) root t hi with
    | Some lo => Some (lo, hi)
    | None => None
    end
  else None.

(** ** The cheapest sets *)

Lemma has_in j h : has j h = true <-> In j h.
Proof.
  unfold has. rewrite existsb_exists. split; [intros [x [I E]]; apply N.eqb_eq in E; subst; auto|].
  intros I. exists j. split; [auto|apply N.eqb_refl].
Qed.

Lemma lacks_in j h : lacks j h = true <-> ~ In j h.
Proof.
  unfold lacks. rewrite negb_true_iff. rewrite <- has_in. destruct (has j h); split; congruence.
Qed.

(** h is a cheapest set of i among the sets that its class wins. *)
Definition cheapest (y : list Z) (k : nat) (D : N -> N -> R) (i : N) (h : list N) : Prop :=
  is_set (others y i) k h /\ wins y (class y i) h = true /\ (- total (D i) h)%R = second_max y k D i.

Lemma cheapest_some y k D i : filter (wins y (class y i)) (sets y k i) <> [] ->
  exists h, In h (filter (wins y (class y i)) (sets y k i)) /\ cheapest y k D i h.
Proof.
  intros Ne. set (f := fun h => (- total (D i) h)%R).
  assert (M : In (second_max y k D i) (map f (filter (wins y (class y i)) (sets y k i)))).
  { apply maximum_in. intros Z. apply map_eq_nil in Z. contradiction. }
  apply in_map_iff in M. destruct M as [h [E I]]. exists h. split; [auto|]. apply filter_In in I. destruct I as [I W].
  split; [apply (choose_sets k _ _ (others_nodup y i)); auto|split; auto].
Qed.

(** A point of the cheapest set is no farther than one that could take its place. *)
Lemma no_better y k D i h j l : cheapest y k D i h -> In j h -> ~ In l h -> In l (others y i) ->
  class y l = class y j \/ class y l = class y i -> (D i j <= D i l)%R.
Proof.
  intros [[Dh [Ih Len]] [W Least]] J L O Cl. destruct (take_out j h Dh J) as [g [P Dg]].
  inversion Dg as [|j' g' Jg Dg']; subst j' g'.
  assert (S : is_set (others y i) k (l :: g)).
  { split; [constructor; auto; intros Z; apply L, (Permutation_in _ (Permutation_sym P)); right; auto|]. split.
    - intros z [<-|Z]; [auto|]. apply Ih, (Permutation_in _ (Permutation_sym P)). right. auto.
    - apply Permutation_length in P. simpl in *. lia. }
  assert (Wl : wins y (class y i) (l :: g) = true).
  { unfold wins in *. rewrite forallb_forall in *. intros c Ic. specialize (W c Ic). apply orb_prop in W. apply orb_true_iff.
    destruct W as [W|W]; [left; auto|]. destruct (Z.eqb_spec c (class y i)) as [|N]; [left; auto|right].
    apply Nat.ltb_lt in W. apply Nat.ltb_lt. rewrite !(votes_perm (class y) _ _ _ P), !votes_cons in W. rewrite !votes_cons.
    destruct (Z.eqb_spec (class y j) c), (Z.eqb_spec (class y j) (class y i)),
      (Z.eqb_spec (class y l) c), (Z.eqb_spec (class y l) (class y i)); try congruence; try lia; destruct Cl; congruence. }
  destruct (sets_choose k _ _ S) as [g' [G Pg]].
  assert (M : (- total (D i) g' <= second_max y k D i)%R).
  { unfold second_max. apply maximum_ge. apply (in_map (fun h => (- total (D i) h)%R)). apply filter_In. split; [auto|].
    rewrite (wins_perm y _ _ _ Pg). auto. }
  rewrite (total_perm (D i) _ _ Pg) in M. rewrite <- Least, (total_perm (D i) _ _ P) in M.
  unfold total in M. simpl in M. lra.
Qed.

(** A part costs no more than the whole. *)
Lemma part_total (f : N -> R) : (forall j, 0 <= f j)%R -> forall part h, NoDup part -> incl part h -> (total f part <= total f h)%R.
Proof.
  intros P part. induction part as [|j part IH]; intros h N I; [apply total_pos; intros; apply P|].
  inversion N as [|j' part' J N']; subst. destruct (in_split j h (I j (or_introl eq_refl))) as [a [b ->]].
  assert (L := IH (a ++ b) N'). rewrite total_app in *. unfold total in *. simpl.
  assert (K : incl part (a ++ b)); [|specialize (L K); lra]. intros z Z.
  assert (In_z := I z (or_intror Z)). apply in_app_iff in In_z. apply in_app_iff.
  destruct In_z as [?|[<-|?]]; auto. contradiction.
Qed.

Lemma common_part (sets : list (list N)) h : In h sets -> (forall g, In g sets -> NoDup g) ->
  NoDup (common sets) /\ incl (common sets) h.
Proof.
  destruct sets as [|g sets]; [contradiction|]. intros I N. simpl. split; [apply NoDup_filter, N; left; auto|].
  intros j J. apply filter_In in J. destruct J as [J All]. destruct I as [<-|I]; [auto|].
  apply has_in. apply (forallb_in _ _ All h I).
Qed.

(** ** A leaf *)

(** What is left: sets of each point, the cheapest one among them. *)
Definition holds (y : list Z) (k : nat) (D : N -> N -> R) (left : tree (list (list N))) : Prop := forall i, In i (indices y) ->
  (forall h, In h (look [] left i) -> is_set (others y i) k h) /\ exists h, In h (look [] left i) /\ cheapest y k D i h.

Lemma others_in y i l : (l < N.of_nat (length y))%N -> l <> i -> In l (others y i).
Proof.
  intros L N. apply filter_In. split; [|apply negb_true_iff, N.eqb_neq; auto]. unfold indices. apply in_map_iff.
  exists (N.to_nat l). split; [apply N2Nat.id|]. apply in_seq. lia.
Qed.

Lemma index_in {V} (l : list V) i : (i < N.of_nat (length l))%N -> In i (indices l).
Proof.
  intros L. unfold indices. apply in_map_iff. exists (N.to_nat i). split; [apply N2Nat.id|]. apply in_seq. lia.
Qed.

(** Exchanges cost the metrics of the leaf nothing. *)
Lemma exchanges_bound y k D left p l : holds y k D left ->
  forallb (exchange_ok (class y) (N.of_nat (length y)) left) l = true ->
  (total (fun w => IZR (weight w) / IZR (Zpos p) * D (one w) (other w)) (weights_of_exchanges l) <= 0)%R.
Proof.
  intros H Ok. unfold weights_of_exchanges. rewrite total_flat_map.
  apply Rle_trans with (total (fun _ : exchange => 0 * 0)%R l); [|rewrite total_times; right; ring].
  apply total_le. intros [[[i j] e] a] I. assert (E := forallb_in _ _ Ok _ I). unfold exchange_ok in E.
  repeat (apply andb_prop in E; let K := fresh "K" in destruct E as [E K]).
  apply Z.leb_le, IZR_le in E. apply N.ltb_lt in K3, K2. apply negb_true_iff, N.eqb_neq in K1.
  destruct (H i (index_in y i K3)) as [_ [h [Ih Ch]]].
  assert (B := forallb_in _ _ K _ Ih). cbv beta in B. apply andb_prop in B. destruct B as [B1 B2].
  apply has_in in B1. apply lacks_in in B2. apply orb_prop in K0. rewrite !Z.eqb_eq in K0.
  assert (L := no_better y k D i h j e Ch B1 B2 (others_in y i e K2 K1) K0).
  unfold total. cbn [fold_right weight one other]. rewrite opp_IZR. assert (Pp := pos_IZR p).
  assert (A : (0 <= IZR a / IZR (Zpos p))%R) by (apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto]).
  unfold Rdiv in *. nra.
Qed.

Lemma leaf_correct div X y classes Lam q C k p left l b W :
  (forall c, In c classes <-> In c y) -> (0 <= Q2R C)%R -> lam_ok y Lam = true ->
  psd (features X) W -> holds y k (D X W) left ->
  leaf_bound div X (class y) classes (indices y) Lam q C k p left l = Some b ->
  (Q2R b <= F X y Lam q C k W)%R.
Proof.
  intros Cl C0 Lam0 HW H E. unfold leaf_bound in E.
  assert (Size : size (indices y) = N.of_nat (length y)) by (rewrite size_length; unfold indices; rewrite map_length, seq_length; auto).
  rewrite Size in E. destruct (_ && _) eqn:Ok in E; [|discriminate].
  apply andb_prop in Ok. destruct Ok as [Ok Ex]. apply andb_prop in Ok. destruct Ok as [Within Weights].
  destruct (below _ _ _ _ _ _) as [c|] eqn:B; [|discriminate]. inversion E; subst b; clear E.
  assert (Low := below_correct _ _ _ _ _ _ _ B W HW). replace (Q2R 1) with 1%R in Low by (unfold Q2R; simpl; lra).
  rewrite total_app in Low. set (d := D X W) in *.
  assert (D0 : forall i j, (0 <= d i j)%R) by (intros; apply dist_pos; auto).
  assert (Swap := exchanges_bound y k d left p (exchanges l) H Ex).
  assert (Sets := sets_bound y classes Lam q C k _ p (on_sets l) (fun i => common (look [] left i)) d
    (fun i => first_max y Lam q k d i - second_max y k d i)%R eq_refl Cl C0 Within Weights).
  rewrite Q2R_plus. unfold F. fold d. cbv beta in Sets.
  assert (Goal : (Q2R (gain (class y) classes Lam (on_sets l) # p * q) + total (fun w => IZR (weight w) / IZR (Zpos p) * d (one w) (other w))
      (weights_of_sets (fun i => common (look [] left i)) (on_sets l))
      <= Q2R C * total (fun i => first_max y Lam q k d i - second_max y k d i) (indices y))%R).
  { apply Sets.
    - intros i I. destruct (H i I) as [_ [h [_ [S [_ Least]]]]]. rewrite <- Least.
      assert (M := first_max_ge y Lam q k d i h S). assert (L := lam_ok_pos y Lam q i h Lam0 I). lra.
    - intros i h I S. destruct (H i I) as [All [g [Ig [Sg [_ Least]]]]]. rewrite <- Least.
      destruct (common_part _ g Ig) as [N P]; [intros s J; apply (All s J)|].
      assert (Part := part_total (d i) (D0 i) _ _ N P). assert (M := first_max_ge y Lam q k d i h S). lra. }
  lra.
Qed.

(** ** The tree *)

Lemma look_put {V} (none : V) t i v j : look none (put t (N.succ_pos i) v) j = if (i =? j)%N then v else look none t j.
Proof.
  unfold look. destruct (N.eqb_spec i j) as [->|N]; [rewrite put_same; auto|]. rewrite put_other; [auto|].
  intros E. apply N. destruct i, j; simpl in E; lia.
Qed.

(** The branch with the cheapest set is right. *)
Lemma holds_branch y k D left i h f : holds y k D left -> In i (indices y) -> In h (look [] left i) -> cheapest y k D i h ->
  f h = true -> In h (filter f (look [] left i)) /\ holds y k D (put left (N.succ_pos i) (filter f (look [] left i))).
Proof.
  intros H I Ih Ch Fh. assert (J : In h (filter f (look [] left i))) by (apply filter_In; auto). split; [auto|].
  intros a Ia. rewrite look_put. destruct (N.eqb_spec i a) as [<-|N]; [|apply H; auto].
  split; [|exists h; auto]. intros g G. apply filter_In in G. apply (proj1 (H i I)). tauto.
Qed.

Lemma lowest_least bound n t : forall left lo b, lowest bound n left t lo = Some b -> (Q2R b <= Q2R lo)%R.
Proof.
  induction t as [l|i j inside IHi outside IHo]; intros left lo b E; cbn [lowest] in E.
  - destruct (bound left l) as [c|]; [|discriminate]. inversion E. destruct (Qle_bool lo c) eqn:L; [lra|].
    apply Qle_Rle. destruct (Qlt_le_dec lo c) as [G|G]; [|auto]. apply Qlt_le_weak, Qle_bool_iff in G. congruence.
  - destruct (i <? n)%N; [|discriminate]. destruct (match filter (has j) _ with [] => _ | _ => _ end) as [c|] eqn:In_; [|discriminate].
    assert (L1 : (Q2R c <= Q2R lo)%R).
    { destruct (filter (has j) _); [inversion In_; lra|apply IHi in In_; auto]. }
    assert (L2 : (Q2R b <= Q2R c)%R); [|lra].
    destruct (filter (lacks j) _); [inversion E; lra|apply IHo in E; auto].
Qed.

(** F is at least the least bound: a metric is in one of the leaves. *)
Lemma tree_correct bound y k D value : (forall left l b, holds y k D left -> bound left l = Some b -> (Q2R b <= value)%R) ->
  forall t left lo b, holds y k D left -> lowest bound (N.of_nat (length y)) left t lo = Some b -> (Q2R b <= value)%R.
Proof.
  intros Right t. induction t as [l|i j inside IHi outside IHo]; intros left lo b H E; assert (E' := E); cbn [lowest] in E.
  - destruct (bound left l) as [c|] eqn:B; [|discriminate]. assert (V := Right left l c H B). inversion E.
    destruct (Qle_bool lo c) eqn:L; [apply Qle_bool_iff, Qle_Rle in L; lra|auto].
  - destruct (i <? N.of_nat (length y))%N eqn:Ni; [|discriminate]. apply N.ltb_lt, index_in in Ni.
    destruct (match filter (has j) _ with [] => _ | _ => _ end) as [c|] eqn:In_; [|discriminate].
    destruct (H i Ni) as [_ [h [Ih Ch]]]. destruct (has j h) eqn:J.
    + destruct (holds_branch y k D left i h (has j) H Ni Ih Ch J) as [Fh H'].
      assert (L2 : (Q2R b <= Q2R c)%R).
      { destruct (filter (lacks j) _); [inversion E; lra|apply lowest_least in E; auto]. }
      destruct (filter (has j) (look [] left i)) as [|g sets]; [contradiction|]. apply IHi in In_; [lra|auto].
    + destruct (holds_branch y k D left i h (lacks j) H Ni Ih Ch ltac:(unfold lacks; rewrite J; auto)) as [Fh H'].
      destruct (filter (lacks j) (look [] left i)) as [|g sets]; [contradiction|]. apply IHo in E; auto.
Qed.

(** ** F at the metric *)

Lemma winning_sets y classes k i : (forall c, In c classes <-> In c y) ->
  winning (class y) classes k (indices y) i = filter (wins y (class y i)) (sets y k i).
Proof.
  intros Cl. unfold winning, sets, others. apply filter_ext. intros h. unfold wins_among, wins. apply forallb_same. auto.
Qed.

Lemma point_loss_correct y classes Lam q k all (D : N -> N -> R) left whole unit i :
  (forall c, In c classes <-> In c y) -> In i (indices y) -> all = indices y ->
  (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R ->
  look [] left i = filter (wins y (class y i)) (sets y k i) -> look [] left i <> [] ->
  (IZR (point_loss (class y) classes Lam q k all left whole unit i) / IZR (Zpos (q * unit)))%R
  = (first_max y Lam q k D i - second_max y k D i)%R.
Proof.
  intros Cl I -> E Left Ne. unfold point_loss. fold (others y i). fold (sets y k i). rewrite Left in *.
  assert (Pq := pos_IZR q). assert (Pu := pos_IZR unit).
  assert (Cost : forall h, (IZR (summed (whole i) h) / IZR (Zpos unit) = total (D i) h)%R).
  { intros h. rewrite summed_correct.
    rewrite (total_ext (D i) (fun j => / IZR (Zpos unit) * IZR (whole i j))%R) by (intros; rewrite <- E; unfold Rdiv; ring).
    rewrite total_times. field. lra. }
  assert (Ns : sets y k i <> []) by (intros Z; rewrite Z in Ne; apply Ne; reflexivity).
  rewrite minus_IZR. unfold Rdiv. rewrite Rmult_minus_distr_r. change (?a * / ?b)%R with (a / b)%R.
  rewrite !largest_maximum by (intros Z; apply map_eq_nil in Z; contradiction). rewrite !map_map.
  unfold first_max, second_max. f_equal; f_equal; apply map_ext; intros h.
  - rewrite <- Cost, <- (whole_Delta_correct y classes Lam q i h ltac:(intros ->; destruct I) Cl).
    rewrite plus_IZR, opp_IZR, Pos2Z.inj_mul, !mult_IZR. field. lra.
  - rewrite <- Cost, opp_IZR, Pos2Z.inj_mul, !mult_IZR. field. lra.
Qed.

(** F of every psd matrix is at least lo, and F of the metric is hi. *)
Theorem gerrymandering_sound div X y Lam q C k p t m lo hi :
  check_gerrymandering div X y Lam q C k p t m = Some (lo, hi) ->
  (forall W, psd (features X) W -> Q2R lo <= F X y Lam q C k W)%R /\
  psd (features X) (value_of m) /\ F X y Lam q C k (value_of m) = Q2R hi.
Proof.
  unfold check_gerrymandering.
  replace (look 0 (table y)) with (class y) by (apply functional_extensionality; intros; symmetry; apply look_table).
  rewrite numbers_indices. set (classes := nodup Z.eq_dec y).
  assert (Cl : forall c, In c classes <-> In c y) by (intros; apply nodup_In).
  set (root := table (map (winning (class y) classes k (indices y)) (indices y))). intros H.
  destruct (_ && _) eqn:Ok in H; [|discriminate].
  repeat (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]).
  assert (Root : forall i, In i (indices y) -> look [] root i = filter (wins y (class y i)) (sets y k i)).
  { intros i I. rewrite <- (winning_sets y classes k i Cl). unfold root. rewrite look_table. unfold at_.
    assert (L : (N.to_nat i < length (indices y))%nat).
    { unfold indices in *. rewrite map_length, seq_length. apply in_map_iff in I. destruct I as [j [<- J]]. apply in_seq in J. lia. }
    rewrite (nth_indep _ _ (winning (class y) classes k (indices y) 0%N)) by (rewrite map_length; auto).
    rewrite map_nth. f_equal. unfold indices in *. rewrite map_length, seq_length in L.
    rewrite (nth_indep _ _ (N.of_nat 0)) by (rewrite map_length, seq_length; auto).
    rewrite map_nth, seq_nth by auto. lia. }
  assert (Ne : forall i, In i (indices y) -> look [] root i <> []).
  { intros i I Z. assert (B := forallb_in _ _ K i I). cbv beta in B. rewrite Z in B. discriminate. }
  apply Qle_bool_iff, Qle_Rle in K1. replace (Q2R 0) with 0%R in K1 by (unfold Q2R; simpl; lra).
  assert (Lam0 := lam_ok_all y classes Lam Cl K0).
  assert (Size : size (indices y) = N.of_nat (length y)) by (rewrite size_length; unfold indices; rewrite map_length, seq_length; auto).
  rewrite Size in H. destruct (lowest _ _ _ _ _) as [b|] eqn:Lo; [|discriminate]. inversion H; subst b hi; clear H.
  split; [|split].
  - intros W HW. assert (Start : holds y k (D X W) root).
    { intros i I. rewrite (Root i I). split.
      - intros h J. apply filter_In in J. apply (choose_sets k _ _ (others_nodup y i)). tauto.
      - apply cheapest_some. rewrite <- (Root i I). apply Ne. auto. }
    apply (tree_correct _ y k (D X W) (F X y Lam q C k W)) with (2 := Start) (3 := Lo). intros left l b Hl B.
    apply (leaf_correct div X y classes Lam q C k p left l b W); auto.
  - apply (metric_psd div). auto.
  - unfold F. rewrite Q2R_plus, Q2R_mult, (norm_of_correct (features X)) by auto.
    replace (Q2R 1) with 1%R by (unfold Q2R; simpl; lra). rewrite Rmult_1_l. f_equal. f_equal.
    rewrite Q2R_make, summed_correct. unfold Rdiv. rewrite Rmult_comm, <- total_times. apply total_ext. intros i I.
    rewrite Rmult_comm. symmetry. apply (point_loss_correct y classes Lam q k _ (D X (value_of m))); auto.
    intros a c. unfold value_of. rewrite <- (whole_distance_correct X) by auto. rewrite !Pos2Z.inj_mul, !mult_IZR. reflexivity.
Qed.
