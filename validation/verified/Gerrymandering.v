(** Neighbourhood gerrymandering (Trivedi, McAllester and Shakhnarovich 2014): what the check accepts is proved.

    The objective F is not convex. CCCP replaces the second maximum of F by the score of one set for each point, and
    minimizes this convex step. The theorem bounds the step from below for every psd matrix, with any weights on sets. It
    does not bound F itself; Cases.v does. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool Permutation FunctionalExtensionality.
Require Import Sorting Orders Mergesort.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods Spread Inference.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe, beside [votes] of Inference *)

(** The points beside i *)
Definition others (y : list Z) (i : N) : list N := filter (fun j => negb (j =? i)%N) (indices y).

(** Every set of k points of a list *)
Fixpoint choose (k : nat) (l : list N) {struct l} : list (list N) :=
  match k, l with
  | O, _ => [[]]
  | S _, [] => []
  | S k', j :: l' => map (cons j) (choose k' l') ++ choose k l'
  end.

Definition sets (y : list Z) (k : nat) (i : N) : list (list N) := choose k (others y i).

(** r has the most votes in h, alone or with others; r has more votes than every other class *)
Definition tied (y : list Z) (h : list N) (r : Z) : bool :=
  forallb (fun c => (votes (class y) h c <=? votes (class y) h r)%nat) y.
Definition wins (y : list Z) (r : Z) (h : list N) : bool :=
  forallb (fun c => (c =? r) || (votes (class y) h c <? votes (class y) h r)%nat) y.

(** Delta(y_i, h), the largest loss of a class with the most votes. The losses are whole numbers over q. *)
Definition Delta (y : list Z) (Lam : Z -> Z -> Z) (q : positive) (i : N) (h : list N) : R :=
  maximum (map (fun r => (IZR (Lam (class y i) r) / IZR (Zpos q))%R) (filter (tied y h) y)).

(** max_h [S + Delta], and the maximum of S over the sets that the class of i wins. S = - total (D i). *)
Definition first_max (y : list Z) (Lam : Z -> Z -> Z) (q : positive) (k : nat) (D : N -> N -> R) (i : N) : R :=
  maximum (map (fun h => (- total (D i) h + Delta y Lam q i h)%R) (sets y k i)).
Definition second_max (y : list Z) (k : nat) (D : N -> N -> R) (i : N) : R :=
  maximum (map (fun h => (- total (D i) h)%R) (filter (wins y (class y i)) (sets y k i))).

(** The objective of the paper *)
Definition F (X : points) (y : list Z) (Lam : Z -> Z -> Z) (q : positive) (C : Q) (k : nat) (W : matrix) : R :=
  (norm2 (features X) W
   + Q2R C * total (fun i => first_max y Lam q k (D X W) i - second_max y k (D X W) i) (indices y))%R.

(** The convex step at the sets h* *)
Definition step (X : points) (y : list Z) (Lam : Z -> Z -> Z) (q : positive) (C : Q) (k : nat) (h_star : N -> list N)
    (W : matrix) : R :=
  (norm2 (features X) W
   + Q2R C * total (fun i => first_max y Lam q k (D X W) i + total (D X W i) (h_star i)) (indices y))%R.

(** ** Sets *)

Lemma choose_sets k : forall l h, NoDup l -> In h (choose k l) -> is_set l k h.
Proof.
  intros l. revert k. induction l as [|j l IH]; intros [|k] h D I; cbn [choose] in I; try contradiction;
    try (destruct I as [<-|[]]; split; [constructor|split; [apply incl_nil_l|reflexivity]]).
  inversion D as [|j' l' J D']; subst. apply in_app_iff in I. destruct I as [I|I].
  - apply in_map_iff in I. destruct I as [g [<- I]]. destruct (IH k g D' I) as [Dg [Ig Lg]].
    split; [constructor; auto|split; [|simpl; auto]]. intros z [->|Z]; [left; auto|right; auto].
  - destruct (IH (S k) h D' I) as [Dh [Ih Lh]]. split; [auto|split; [apply incl_tl; auto|auto]].
Qed.

(** Every set of points is in the list, up to order. *)
Lemma sets_choose k : forall l h, is_set l k h -> exists g, In g (choose k l) /\ Permutation g h.
Proof.
  intros l. revert k. induction l as [|j l IH]; intros k h [Dh [Ih Lh]].
  - destruct h as [|z h]; [|destruct (Ih z (or_introl eq_refl))]. simpl in Lh. subst k. exists []. split; [left|]; auto.
  - destruct k as [|k]; [destruct h; [|discriminate]; exists []; split; [left|]; auto|].
    cbn [choose]. destruct (in_dec N.eq_dec j h) as [J|J].
    + destruct (take_out j h Dh J) as [g [P Dg]]. inversion Dg as [|j' g' Jg Dg']; subst.
      destruct (IH k g) as [g' [G P']].
      * split; [auto|]. split; [|apply Permutation_length in P; simpl in P; lia]. intros z Z.
        destruct (Ih z) as [<-|]; auto; [apply (Permutation_in _ (Permutation_sym P)); right; auto|contradiction].
      * exists (j :: g'). split; [apply in_app_iff; left; apply in_map; auto|]. rewrite P. auto.
    + destruct (IH (S k) h) as [g [G P]].
      * split; [auto|split; [|auto]]. intros z Z. destruct (Ih z Z) as [<-|]; auto. contradiction.
      * exists g. split; [apply in_app_iff; auto|auto].
Qed.

Lemma others_nodup y i : NoDup (others y i).
Proof.
  apply NoDup_filter. unfold indices. apply FinFun.Injective_map_NoDup; [intros a b; apply Nat2N.inj|apply seq_NoDup].
Qed.

Lemma is_set_perm L M k g h : (forall j, In j L -> In j M) -> Permutation g h -> is_set L k g -> is_set M k h.
Proof.
  intros S P [D [I Len]]. split; [apply (Permutation_NoDup P D)|]. split.
  - intros j J. apply S, I. apply (Permutation_in _ (Permutation_sym P) J).
  - rewrite <- (Permutation_length P). auto.
Qed.

(** The class of a point is a class. *)
Lemma class_in y i : In i (indices y) -> In (class y i) y.
Proof.
  unfold indices, class, at_. intros I. apply in_map_iff in I. destruct I as [n [<- I]]. apply in_seq in I.
  rewrite Nat2N.id. apply nth_In. lia.
Qed.

Lemma others_class y i j : In j (others y i) -> In (class y j) y.
Proof. intros I. apply filter_In in I. apply class_in, I. Qed.

(** Of a set of points, it is enough to compare the classes that occur. *)
Lemma in_H_listed y i k h r tau : (1 <= k)%nat -> (tau <= 1)%nat -> is_set (others y i) k h ->
  (forall c, In c y -> c <> r -> (votes (class y) h c + tau <= votes (class y) h r)%nat) -> in_H (class y) r tau h.
Proof.
  intros K Tau [_ [I Len]] H.
  assert (One : (1 <= votes (class y) h r)%nat).
  { destruct h as [|j h]; [simpl in Len; lia|].
    assert (V := votes_in (class y) (j :: h) j (or_introl eq_refl)).
    destruct (Z.eq_dec (class y j) r) as [<-|N]; [auto|].
    specialize (H _ (others_class y i j (I j (or_introl eq_refl))) N). lia. }
  split; auto. intros c N. destruct (Nat.eq_dec (votes (class y) h c) 0) as [E|E]; [lia|].
  destruct (votes_some (class y) h c) as [j [J <-]]; [lia|]. apply H; auto. apply (others_class y i). auto.
Qed.

Lemma tied_in_H y i k h r : (1 <= k)%nat -> is_set (others y i) k h -> (tied y h r = true <-> in_H (class y) r 0 h).
Proof.
  intros K S. unfold tied. rewrite forallb_forall. split.
  - intros H. apply (in_H_listed y i k h r 0 K ltac:(lia) S). intros c C _. specialize (H c C). apply Nat.leb_le in H. lia.
  - intros [_ H] c _. apply Nat.leb_le. destruct (Z.eq_dec c r) as [->|N]; [auto|]. specialize (H c N). lia.
Qed.

Lemma wins_in_H y i k h r : (1 <= k)%nat -> is_set (others y i) k h -> (wins y r h = true <-> in_H (class y) r 1 h).
Proof.
  intros K S. unfold wins. rewrite forallb_forall. split.
  - intros H. apply (in_H_listed y i k h r 1 K ltac:(lia) S). intros c C N. specialize (H c C).
    apply Z.eqb_neq in N. rewrite N in H. apply Nat.ltb_lt in H. lia.
  - intros [_ H] c _. destruct (Z.eqb_spec c r) as [|N]; [auto|]. specialize (H c N). apply Nat.ltb_lt. lia.
Qed.

Lemma wins_perm y r g h : Permutation g h -> wins y r g = wins y r h.
Proof.
  intros P. unfold wins. f_equal. apply functional_extensionality. intros c.
  rewrite !(votes_perm (class y) _ _ _ P). reflexivity.
Qed.

(** Some class has the most votes. *)
Lemma busiest y h : forall l, l <> [] -> exists r, In r l /\ forall c, In c l -> (votes (class y) h c <= votes (class y) h r)%nat.
Proof.
  induction l as [|x l IH]; [congruence|]. intros _. destruct l as [|z l].
  - exists x. split; [left; auto|]. intros c [<-|[]]. lia.
  - destruct IH as [r [I M]]; [congruence|]. destruct (Nat.le_gt_cases (votes (class y) h x) (votes (class y) h r)).
    + exists r. split; [right; auto|]. intros c [<-|J]; auto.
    + exists x. split; [left; auto|]. intros c [<-|J]; [lia|]. specialize (M c J). lia.
Qed.

Lemma tied_some y h : y <> [] -> filter (tied y h) y <> [].
Proof.
  intros Ne E. destruct (busiest y h y Ne) as [r [R M]].
  assert (I : In r (filter (tied y h) y)); [|rewrite E in I; contradiction].
  apply filter_In. split; auto. apply forallb_forall. intros c C. apply Nat.leb_le. auto.
Qed.

(** Delta is the loss of some tied class, and no tied class has a larger loss. *)
Lemma Delta_some y Lam q i h : y <> [] ->
  exists r, In r y /\ tied y h r = true /\ (IZR (Lam (class y i) r) / IZR (Zpos q))%R = Delta y Lam q i h.
Proof.
  intros Ne. assert (T := tied_some y h Ne). unfold Delta. set (f := fun r => (IZR (Lam (class y i) r) / IZR (Zpos q))%R).
  assert (M : In (maximum (map f (filter (tied y h) y))) (map f (filter (tied y h) y))).
  { apply maximum_in. destruct (filter (tied y h) y); simpl; congruence. }
  apply in_map_iff in M. destruct M as [r [E R]]. apply filter_In in R. exists r. split; [tauto|]. split; [tauto|auto].
Qed.

Lemma Delta_least y Lam q i h r : In r y -> tied y h r = true ->
  (IZR (Lam (class y i) r) / IZR (Zpos q) <= Delta y Lam q i h)%R.
Proof.
  intros I T. unfold Delta. apply maximum_ge.
  apply (in_map (fun r => (IZR (Lam (class y i) r) / IZR (Zpos q))%R)). apply filter_In. auto.
Qed.

(** ** The maxima by exact inference *)

Lemma maximum_same (a b : list R) : a <> [] -> (forall u, In u a -> exists v, In v b /\ (u <= v)%R) ->
  (forall v, In v b -> exists u, In u a /\ (v <= u)%R) -> maximum a = maximum b.
Proof.
  intros Na Up Down. destruct (Up _ (maximum_in a Na)) as [v [V A]].
  assert (Nb : b <> []) by (destruct b; [contradiction|congruence]).
  destruct (Down _ (maximum_in b Nb)) as [u [U B]].
  assert (M := maximum_ge a u U). assert (M' := maximum_ge b v V). lra.
Qed.

(** The sets of [targeted] for class r, for every number of votes *)
Definition found (cls : N -> Z) (tau k : nat) (L : list N) (r : Z) : list (list N) :=
  flat_map (fun m =>
    let t := targeted cls r tau k m L in
    if (tau <=? m)%nat && (length t =? k)%nat && (votes cls t r =? m)%nat then [t] else []) (seq 1 k).

Lemma found_set cls tau k L r t : NoDup L -> In t (found cls tau k L r) -> is_set L k t /\ in_H cls r tau t.
Proof.
  intros D I. unfold found in I. apply in_flat_map in I. destruct I as [m [M I]]. apply in_seq in M.
  destruct (_ && _) eqn:E in I; [|contradiction]. destruct I as [<-|[]].
  apply andb_prop in E. destruct E as [E V]. apply andb_prop in E. destruct E as [T Len].
  apply Nat.leb_le in T. apply Nat.eqb_eq in Len, V. apply targeted_in_H; auto. lia.
Qed.

Lemma found_best cls d tau k L r h : NoDup L -> ascending d L -> (tau <= 1)%nat -> is_set L k h -> in_H cls r tau h ->
  exists t, In t (found cls tau k L r) /\ (total d t <= total d h)%R.
Proof.
  intros D Asc Tau S H. destruct (targeted_exact cls d r tau k L h D Asc Tau S H) as [[_ [_ Len]] [_ [V C]]].
  exists (targeted cls r tau k (votes cls h r) L). split; [|auto]. unfold found. apply in_flat_map.
  exists (votes cls h r). destruct H as [One _]. assert (Split := split_length cls r h).
  rewrite (proj2 (proj2 S)) in Split. split; [apply in_seq; lia|].
  rewrite Len, V, !Nat.eqb_refl. replace (tau <=? votes cls h r)%nat with true by (symmetry; apply Nat.leb_le; lia).
  left. reflexivity.
Qed.

(** A class and one of its sets *)
Definition firsts (cls : N -> Z) (classes : list Z) (k : nat) (L : list N) : list (Z * list N) :=
  flat_map (fun r => map (fun t => (r, t)) (found cls 0 k L r)) classes.

Lemma first_max_found y Lam q k D i L classes : (1 <= k)%nat -> In i (indices y) -> sets y k i <> [] ->
  (forall c, In c classes <-> In c y) -> Permutation L (others y i) -> ascending (D i) L ->
  first_max y Lam q k D i = maximum (map (fun s => (- total (D i) (snd s) + IZR (Lam (class y i) (fst s)) / IZR (Zpos q))%R)
    (firsts (class y) classes k L)).
Proof.
  intros K I Ne Cl P Asc. assert (Ny : y <> []) by (intros ->; destruct I).
  assert (DL : NoDup L) by (apply (Permutation_NoDup (Permutation_sym P)), others_nodup).
  assert (Sub : forall j, In j L -> In j (others y i)) by (intros; apply (Permutation_in _ P); auto).
  assert (Sup : forall j, In j (others y i) -> In j L) by (intros; apply (Permutation_in _ (Permutation_sym P)); auto).
  unfold first_max. apply maximum_same.
  - destruct (sets y k i); simpl; congruence.
  - intros u U. apply in_map_iff in U. destruct U as [h [<- H]]. apply (choose_sets k _ _ (others_nodup y i)) in H.
    destruct (Delta_some y Lam q i h Ny) as [r [R [T E]]]. apply (tied_in_H y i k h r K H) in T.
    destruct (found_best (class y) (D i) 0 k L r h DL Asc ltac:(lia) (is_set_perm _ _ _ _ _ Sup (Permutation_refl h) H) T) as [t [Ft C]].
    exists (- total (D i) t + IZR (Lam (class y i) r) / IZR (Zpos q))%R. split; [|rewrite <- E; lra].
    apply in_map_iff. exists (r, t). split; [reflexivity|]. apply in_flat_map. exists r.
    split; [apply Cl; auto|apply in_map; auto].
  - intros v V. apply in_map_iff in V. destruct V as [[r' t'] [<- V]]. apply in_flat_map in V. destruct V as [r [R V]].
    apply in_map_iff in V. destruct V as [t [E V]]. inversion E; subst r' t'; clear E.
    destruct (found_set _ _ _ _ _ _ DL V) as [S H].
    destruct (sets_choose k (others y i) t (is_set_perm _ _ _ _ _ Sub (Permutation_refl t) S)) as [g [G Pg]].
    exists (- total (D i) g + Delta y Lam q i g)%R.
    split; [apply (in_map (fun h => (- total (D i) h + Delta y Lam q i h)%R)); auto|].
    rewrite (total_perm (D i) _ _ Pg). cbn [fst snd].
    assert (Sg : is_set (others y i) k g) by (apply (choose_sets k _ _ (others_nodup y i)); auto).
    apply (in_H_perm _ _ _ _ _ (Permutation_sym Pg)) in H. apply (tied_in_H y i k g r K Sg) in H.
    assert (Le := Delta_least y Lam q i g r (proj1 (Cl r) R) H). lra.
Qed.

Lemma second_max_found y k D i L : (1 <= k)%nat -> Permutation L (others y i) -> ascending (D i) L ->
  found (class y) 1 k L (class y i) <> [] ->
  second_max y k D i = maximum (map (fun t => (- total (D i) t)%R) (found (class y) 1 k L (class y i))).
Proof.
  intros K P Asc Ne.
  assert (DL : NoDup L) by (apply (Permutation_NoDup (Permutation_sym P)), others_nodup).
  assert (Sub : forall j, In j L -> In j (others y i)) by (intros; apply (Permutation_in _ P); auto).
  assert (Sup : forall j, In j (others y i) -> In j L) by (intros; apply (Permutation_in _ (Permutation_sym P)); auto).
  unfold second_max. symmetry. apply maximum_same.
  - destruct (found _ _ _ _ _); simpl; congruence.
  - intros v V. apply in_map_iff in V. destruct V as [t [<- V]]. destruct (found_set _ _ _ _ _ _ DL V) as [S H].
    destruct (sets_choose k (others y i) t (is_set_perm _ _ _ _ _ Sub (Permutation_refl t) S)) as [g [G Pg]].
    exists (- total (D i) g)%R. split; [|rewrite (total_perm (D i) _ _ Pg); lra].
    apply (in_map (fun h => (- total (D i) h)%R)). apply filter_In. split; auto.
    apply (wins_in_H y i k g _ K); [apply (choose_sets k _ _ (others_nodup y i)); auto|].
    apply (in_H_perm _ _ _ _ _ (Permutation_sym Pg)). auto.
  - intros u U. apply in_map_iff in U. destruct U as [h [<- H]]. apply filter_In in H. destruct H as [H Wi].
    apply (choose_sets k _ _ (others_nodup y i)) in H. apply (wins_in_H y i k h _ K H) in Wi.
    destruct (found_best (class y) (D i) 1 k L _ h DL Asc ltac:(lia) (is_set_perm _ _ _ _ _ Sup (Permutation_refl h) H) Wi) as [t [Ft C]].
    exists (- total (D i) t)%R. split; [apply (in_map (fun t => (- total (D i) t)%R)); auto|lra].
Qed.

(** ** The points by distance *)

Module Key <: TotalLeBool.
  Definition t : Type := Z * N.
  Definition leb (a b : t) : bool := fst a <=? fst b.
  Lemma leb_total : forall a b, leb a b = true \/ leb b a = true.
  Proof. intros a b. unfold leb. rewrite !Z.leb_le. lia. Qed.
End Key.
Module KeySort := Sort Key.

Definition by_distance (d : N -> Z) (l : list N) : list N := map snd (KeySort.sort (map (fun j => (d j, j)) l)).

Lemma by_distance_perm d l : Permutation (by_distance d l) l.
Proof.
  unfold by_distance. rewrite <- (map_id l) at 2. rewrite <- (KeySort.Permuted_sort (map (fun j => (d j, j)) l)), map_map.
  reflexivity.
Qed.

Lemma by_distance_ascending (d : N -> Z) (D : N -> R) l : (forall a b, d a <= d b -> (D a <= D b)%R) ->
  ascending D (by_distance d l).
Proof.
  intros M. unfold by_distance. set (s := KeySort.sort _).
  assert (Keys : forall e, In e s -> fst e = d (snd e)).
  { intros e E. apply (Permutation_in _ (Permutation_sym (KeySort.Permuted_sort _))) in E. apply in_map_iff in E.
    destruct E as [j [<- _]]. reflexivity. }
  assert (S : StronglySorted (fun a b => is_true (Key.leb a b)) s).
  { apply KeySort.StronglySorted_sort. intros a b c. unfold Key.leb, is_true. rewrite !Z.leb_le. lia. }
  clearbody s. induction S as [|e s S IH All]; simpl; [constructor|]. constructor.
  - intros j J. apply in_map_iff in J. destruct J as [z [<- Z]]. rewrite Forall_forall in All. specialize (All z Z).
    unfold Key.leb, is_true in All. apply Z.leb_le in All.
    rewrite (Keys e (or_introl eq_refl)), (Keys z (or_intror Z)) in All. apply M. auto.
  - apply IH. intros z Z. apply Keys. right. auto.
Qed.

(** ** The check *)

(** Of a point: sets, each with its weight *)
Definition sets_of : Type := N * list (list N * Z).

(** A set of k points beside i, in ascending order *)
Fixpoint rising (n i from : N) (h : list N) : bool :=
  match h with
  | [] => true
  | j :: h => negb (j <? from)%N && (j <? n)%N && negb (j =? i)%N && rising n i (N.succ j) h
  end.
Definition set_ok (n i : N) (k : nat) (h : list N) : bool := rising n i 0 h && (length h =? k)%nat.

(** The weights of a point are at least 0, and their sum is at most C p. *)
Definition weights_ok (n : N) (k : nat) (C : Q) (p : positive) (s : sets_of) : bool :=
  forallb (fun t => set_ok n (fst s) k (fst t) && (0 <=? snd t)) (snd s)
  && (summed snd (snd s) * Zpos (Qden C) <=? Qnum C * Zpos p).

Definition weights_of_sets (star : N -> list N) (prices : list sets_of) : list weighted :=
  gathered (fun s : sets_of =>
    map (fun j => {| weight := summed snd (snd s); one := fst s; other := j |}) (star (fst s))
    ++ gathered (fun t : list N * Z => map (fun j => {| weight := - snd t; one := fst s; other := j |}) (fst t)) (snd s)) prices.

(** The right class costs nothing, and every other class something. *)
Definition lam_ok (classes : list Z) (Lam : Z -> Z -> Z) : bool :=
  forallb (fun a => forallb (fun b => if a =? b then Lam a b =? 0 else 0 <? Lam a b) classes) classes.

Definition wins_among (cls : N -> Z) (classes : list Z) (r : Z) (h : list N) : bool :=
  forallb (fun c => (c =? r) || (votes cls h c <? votes cls h r)%nat) classes.

Definition whole_Delta (cls : N -> Z) (classes : list Z) (Lam : Z -> Z -> Z) (own : Z) (h : list N) : Z :=
  largest (map (Lam own) (filter (fun r => forallb (fun c => (votes cls h c <=? votes cls h r)%nat) classes) classes)).

(** The losses of the sets, with their weights *)
Definition gain (cls : N -> Z) (classes : list Z) (Lam : Z -> Z -> Z) (prices : list sets_of) : Z :=
  summed (fun s : sets_of =>
    summed (fun t : list N * Z => snd t * whole_Delta cls classes Lam (cls (fst s)) (fst t)) (snd s)) prices.

(** The term of point i over q * unit; None if another set that the class wins is cheaper than h*_i *)
Definition point_value (cls : N -> Z) (classes : list Z) (Lam : Z -> Z -> Z) (q : positive) (k : nat) (star : N -> list N)
    (all : list N) (whole : N -> N -> Z) (unit : positive) (i : N) : option Z :=
  let L := by_distance (whole i) (filter (fun j => negb (j =? i)%N) all) in
  let cost h := Zpos q * summed (whole i) h in
  match found cls 1 k L (cls i) with
  | [] => None
  | own =>
      if largest (map (fun t => - cost t) own) + cost (star i) =? 0 then
        Some (largest (map (fun s => - cost (snd s) + Zpos unit * Lam (cls i) (fst s)) (firsts cls classes k L)) + cost (star i))
      else None
  end.

Definition all_values (f : N -> option Z) (l : list N) : option Z :=
  fold_left (fun s i => match s, f i with Some a, Some b => Some (a + b) | _, _ => None end) l (Some 0).

Definition check_step (div : Z -> Z -> Z) (X : points) (y : list Z) (Lam : Z -> Z -> Z) (q : positive) (C : Q)
    (k : nat) (h_star : list (list N)) (p : positive) (prices : list sets_of) (f : factor) (m : metric) : option (Q * Q) :=
  let cls := look 0 (table y) in
  let star := look [] (table h_star) in
  let classes := nodup Z.eq_dec y in
  let all := numbers y in
  let n := size (rows X) in
  if (1 <=? k)%nat && (count y =? count (rows X)) && (count h_star =? count (rows X)) && Qle_bool 0 C && lam_ok classes Lam
     && forallb (fun i => set_ok n i k (star i) && wins_among cls classes (cls i) (star i)) all
     && within N.eqb fst prices all && forallb (weights_ok n k C p) prices then
    check div X 1 (gain cls classes Lam prices # (p * q)) (weights_of_sets star prices) p f m
      (fun whole unit =>
        match all_values (point_value cls classes Lam q k star all whole unit) all with
        | Some v => Some (C * (v # (q * unit)))%Q
        | None => None
        end)
  else None.

(** ** The whole numbers are right *)

Lemma rising_spec n i : forall h from, rising n i from h = true ->
  NoDup h /\ forall j, In j h -> (from <= j < n)%N /\ j <> i.
Proof.
  induction h as [|j h IH]; intros from H; cbn [rising] in H; [split; [constructor|contradiction]|].
  repeat (apply andb_prop in H; let K := fresh "K" in destruct H as [H K]).
  apply negb_true_iff, N.ltb_ge in H. apply N.ltb_lt in K1. apply negb_true_iff, N.eqb_neq in K0.
  destruct (IH _ K) as [D I]. split.
  - constructor; auto. intros J. destruct (I j J). lia.
  - intros z [<-|Z]; [split; [lia|auto]|]. destruct (I z Z). split; [lia|auto].
Qed.

Lemma set_ok_set y n i k h : n = N.of_nat (length y) -> set_ok n i k h = true -> is_set (others y i) k h.
Proof.
  intros -> H. apply andb_prop in H. destruct H as [H Len]. apply Nat.eqb_eq in Len.
  destruct (rising_spec _ _ _ _ H) as [D I]. split; [auto|split; [|auto]]. intros j J. destruct (I j J) as [B N].
  apply filter_In. split; [|apply negb_true_iff, N.eqb_neq; auto]. unfold indices. apply in_map_iff.
  exists (N.to_nat j). split; [apply N2Nat.id|]. apply in_seq. lia.
Qed.

Lemma forallb_same (f : Z -> bool) a b : (forall c, In c a <-> In c b) -> forallb f a = forallb f b.
Proof.
  intros E. apply eq_true_iff_eq. rewrite !forallb_forall. split; intros H c I; apply H, E; auto.
Qed.

Lemma whole_Delta_correct y classes Lam q i h : y <> [] -> (forall c, In c classes <-> In c y) ->
  (IZR (whole_Delta (class y) classes Lam (class y i) h) / IZR (Zpos q))%R = Delta y Lam q i h.
Proof.
  intros Ny Cl. unfold whole_Delta.
  set (T := filter _ classes). assert (In_T : forall r, In r T <-> In r (filter (tied y h) y)).
  { intros r. unfold T. rewrite !filter_In, Cl. unfold tied. rewrite (forallb_same _ classes y Cl). tauto. }
  assert (Nt : T <> []).
  { destruct (filter (tied y h) y) as [|r l] eqn:E; [destruct (tied_some y h Ny E)|]. intros Z.
    assert (I : In r T) by (apply In_T; left; auto). rewrite Z in I. contradiction. }
  rewrite largest_maximum by (destruct T; simpl; congruence). rewrite map_map. unfold Delta. apply maximum_same.
  - destruct T; simpl; congruence.
  - intros u U. apply in_map_iff in U. destruct U as [r [<- R]]. eexists. split; [|apply Rle_refl].
    apply (in_map (fun r => (IZR (Lam (class y i) r) / IZR (Zpos q))%R)). apply In_T. auto.
  - intros u U. apply in_map_iff in U. destruct U as [r [<- R]]. eexists. split; [|apply Rle_refl].
    apply (in_map (fun r => (IZR (Lam (class y i) r) / IZR (Zpos q))%R)). apply In_T. auto.
Qed.

Lemma lam_ok_pos y Lam q i h : lam_ok y Lam = true -> In i (indices y) -> (0 <= Delta y Lam q i h)%R.
Proof.
  intros Ok I. assert (Ny : y <> []) by (intros ->; destruct I).
  destruct (Delta_some y Lam q i h Ny) as [r [R [_ <-]]].
  assert (L := forallb_in _ _ (forallb_in _ _ Ok _ (class_in y i I)) r R). cbv beta in L.
  apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, pos_IZR]. apply IZR_le.
  destruct (class y i =? r); [apply Z.eqb_eq in L|apply Z.ltb_lt in L]; lia.
Qed.

(** Delta = 0 exactly for the sets that the class wins: the second maximum is that of the paper. *)
Lemma no_loss_is_a_win y Lam q i k h : lam_ok y Lam = true -> In i (indices y) -> (1 <= k)%nat -> is_set (others y i) k h ->
  (Delta y Lam q i h = 0%R <-> wins y (class y i) h = true).
Proof.
  intros Ok I K S. assert (Ny : y <> []) by (intros ->; destruct I). assert (Pq := pos_IZR q).
  assert (Row := forallb_in _ _ Ok _ (class_in y i I)). cbv beta in Row.
  destruct (Delta_some y Lam q i h Ny) as [r [R [T E]]]. assert (L := forallb_in _ _ Row r R). cbv beta in L.
  unfold wins. rewrite forallb_forall. split.
  - intros Z c C. destruct (Z.eqb_spec c (class y i)) as [|N]; [auto|]. simpl. apply Nat.ltb_lt.
    destruct (Nat.lt_ge_cases (votes (class y) h c) (votes (class y) h (class y i))) as [|G]; [auto|exfalso].
    assert (Other : exists b, In b y /\ b <> class y i /\ tied y h b = true).
    { destruct (busiest y h y Ny) as [b [B M]]. destruct (Z.eq_dec b (class y i)) as [->|Nb].
      - exists c. split; [auto|split; [auto|]]. apply forallb_forall. intros e Ie. apply Nat.leb_le.
        specialize (M e Ie). lia.
      - exists b. split; [auto|split; [auto|]]. apply forallb_forall. intros e Ie. apply Nat.leb_le. auto. }
    destruct Other as [b [B [Nb Tb]]]. assert (Lb := forallb_in _ _ Row b B). cbv beta in Lb.
    destruct (Z.eqb_spec (class y i) b); [congruence|]. apply Z.ltb_lt in Lb.
    assert (Le := Delta_least y Lam q i h b B Tb). rewrite Z in Le. apply IZR_lt in Lb.
    assert (0 < IZR (Lam (class y i) b) / IZR (Zpos q))%R by (apply Rdiv_lt_0_compat; auto). lra.
  - intros W. rewrite <- E. destruct (Z.eqb_spec (class y i) r) as [<-|N].
    + apply Z.eqb_eq in L. rewrite L. unfold Rdiv. ring.
    + exfalso. specialize (W r R). apply orb_prop in W. destruct W as [W|W]; [apply Z.eqb_eq in W; congruence|].
      apply Nat.ltb_lt in W. assert (Q := forallb_in _ _ T _ (class_in y i I)). apply Nat.leb_le in Q. lia.
Qed.

Lemma all_values_correct f (g : N -> R) u l v : (forall i w, In i l -> f i = Some w -> (IZR w / u)%R = g i) ->
  all_values f l = Some v -> (IZR v / u)%R = total g l /\ forall i, In i l -> f i <> None.
Proof.
  unfold all_values. intros H.
  assert (None_ : forall l, fold_left (fun s i => match s, f i with Some a, Some b => Some (a + b) | _, _ => None end) l None = None).
  { induction l0 as [|i l0 IH]; [reflexivity|]. exact IH. }
  assert (G : forall s, fold_left (fun s i => match s, f i with Some a, Some b => Some (a + b) | _, _ => None end) l (Some s) = Some v ->
    (IZR v / u)%R = (IZR s / u + total g l)%R /\ forall i, In i l -> f i <> None).
  { induction l as [|i l IH]; intros s E; cbn [fold_left] in E.
    - inversion E; subst. simpl. split; [ring|contradiction].
    - destruct (f i) as [w|] eqn:W; [|rewrite None_ in E; discriminate].
      destruct (IH (fun j w J => H j w (or_intror J)) _ E) as [A B]. split.
      + rewrite A, plus_IZR. simpl. rewrite <- (H i w (or_introl eq_refl) W). unfold total, Rdiv. ring.
      + intros j [<-|J]; [congruence|auto]. }
  intros E. destruct (G 0 E) as [A B]. split; [rewrite A; unfold Rdiv; ring|auto].
Qed.

Lemma point_value_correct y Lam q k (D : N -> N -> R) star whole unit i w : (1 <= k)%nat -> In i (indices y) ->
  (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R ->
  is_set (others y i) k (star i) ->
  point_value (class y) (nodup Z.eq_dec y) Lam q k star (indices y) whole unit i = Some w ->
  (IZR w / IZR (Zpos (q * unit)))%R = (first_max y Lam q k D i + total (D i) (star i))%R /\
  second_max y k D i = (- total (D i) (star i))%R.
Proof.
  intros K I E S H. unfold point_value in H. fold (others y i) in H. set (L := by_distance (whole i) (others y i)) in *.
  assert (P : Permutation L (others y i)) by apply by_distance_perm.
  assert (Asc : ascending (D i) L).
  { apply by_distance_ascending. intros a b M. rewrite <- !E. apply over_le. auto. }
  set (cost := fun h => Zpos q * summed (whole i) h) in *. assert (Pq := pos_IZR q). assert (Pu := pos_IZR unit).
  assert (Cost : forall h, (IZR (cost h) / IZR (Zpos (q * unit)) = total (D i) h)%R).
  { intros h. unfold cost. rewrite Pos2Z.inj_mul, !mult_IZR, summed_correct.
    rewrite (total_ext (D i) (fun j => / IZR (Zpos unit) * IZR (whole i j))%R) by (intros; rewrite <- E; unfold Rdiv; ring).
    rewrite total_times. field. lra. }
  assert (Ne : found (class y) 1 k L (class y i) <> [] /\
    (if largest (map (fun t => - cost t) (found (class y) 1 k L (class y i))) + cost (star i) =? 0 then
       Some (largest (map (fun s => - cost (snd s) + Zpos unit * Lam (class y i) (fst s)) (firsts (class y) (nodup Z.eq_dec y) k L))
         + cost (star i)) else None) = Some w).
  { destruct (found (class y) 1 k L (class y i)); [discriminate|split; [congruence|auto]]. }
  destruct Ne as [Ne H']. clear H. clearbody cost. destruct (_ =? 0) eqn:Z0 in H'; [|discriminate]. apply Z.eqb_eq in Z0.
  match type of H' with Some ?v = _ => assert (W : w = v) by congruence end. subst w. clear H'.
  assert (Ns : sets y k i <> []).
  { destruct (sets_choose k _ _ S) as [g [G _]]. unfold sets. intros Z. rewrite Z in G. contradiction. }
  assert (Nf : firsts (class y) (nodup Z.eq_dec y) k L <> []).
  { destruct (Delta_some y Lam q i (star i)) as [r [R [T _]]]; [intros ->; destruct I|].
    apply (tied_in_H y i k _ r K S) in T.
    assert (SL : is_set L k (star i)).
    { apply (is_set_perm (others y i) L k (star i) (star i)); auto. intros; apply (Permutation_in _ (Permutation_sym P)); auto. }
    assert (DL : NoDup L) by (apply (Permutation_NoDup (Permutation_sym P)), others_nodup).
    destruct (found_best (class y) (D i) 0 k L r (star i) DL Asc ltac:(lia) SL T) as [t [Ft _]]. intros Z.
    assert (J : In (r, t) (firsts (class y) (nodup Z.eq_dec y) k L)); [|rewrite Z in J; contradiction].
    apply in_flat_map. exists r. split; [apply nodup_In; auto|apply in_map; auto]. }
  split.
  - rewrite plus_IZR. unfold Rdiv. rewrite Rmult_plus_distr_r. change (?a * / ?b)%R with (a / b)%R. rewrite Cost. f_equal.
    rewrite largest_maximum by (intros Z; apply map_eq_nil in Z; contradiction). rewrite map_map.
    rewrite (first_max_found y Lam q k D i L (nodup Z.eq_dec y) K I Ns (fun c => nodup_In Z.eq_dec y c) P Asc).
    f_equal. apply map_ext. intros s. rewrite plus_IZR, opp_IZR, mult_IZR, <- Cost, Pos2Z.inj_mul, mult_IZR. field. lra.
  - rewrite (second_max_found y k D i L K P Asc Ne).
    replace (map (fun t => - total (D i) t)%R (found (class y) 1 k L (class y i)))
      with (map (fun z => IZR z / IZR (Zpos (q * unit)))%R (map (fun t => - cost t) (found (class y) 1 k L (class y i)))).
    + rewrite <- largest_maximum by (intros Z; apply map_eq_nil in Z; contradiction). rewrite <- Cost.
      replace (largest (map (fun t => - cost t) (found (class y) 1 k L (class y i)))) with (- cost (star i)) by lia.
      rewrite opp_IZR. unfold Rdiv. ring.
    + rewrite map_map. apply map_ext. intros t. rewrite <- Cost, opp_IZR. unfold Rdiv. ring.
Qed.

(** ** The bound *)

(** The weighted distances of the check, as a sum over sets *)
Lemma total_weights_of_sets star (D : N -> N -> R) p prices :
  total (fun w => IZR (weight w) / IZR (Zpos p) * D (one w) (other w))%R (weights_of_sets star prices)
  = total (fun s : sets_of => total (fun t : list N * Z =>
      IZR (snd t) / IZR (Zpos p) * (total (D (fst s)) (star (fst s)) - total (D (fst s)) (fst t)))%R (snd s)) prices.
Proof.
  unfold weights_of_sets. rewrite gathered_flat_map, total_flat_map. apply total_ext. intros [i l] _. cbn [fst snd].
  rewrite total_app, total_map, gathered_flat_map, total_flat_map. cbn [weight one other].
  rewrite (total_times (IZR (summed snd l) / IZR (Zpos p)) (D i) (star i)), summed_correct.
  set (own := total (D i) (star i)). set (value := fun w => (IZR (weight w) / IZR (Zpos p) * D (one w) (other w))%R).
  assert (Each : forall t : list N * Z, total value (map (fun j => {| weight := - snd t; one := i; other := j |}) (fst t))
    = (-1 * (IZR (snd t) / IZR (Zpos p) * total (D i) (fst t)))%R).
  { intros t. rewrite total_map. unfold value. cbn [weight one other].
    rewrite (total_times (IZR (- snd t) / IZR (Zpos p)) (D i) (fst t)), opp_IZR. unfold Rdiv. ring. }
  rewrite (total_ext _ _ l (fun t _ => Each t)), total_times.
  rewrite (total_ext (fun t => IZR (snd t) / IZR (Zpos p) * (own - total (D i) (fst t)))%R
    (fun t => own * / IZR (Zpos p) * IZR (snd t) + -1 * (IZR (snd t) / IZR (Zpos p) * total (D i) (fst t)))%R)
    by (intros; unfold Rdiv; ring).
  rewrite total_plus, !total_times. unfold Rdiv. ring.
Qed.

(** Each set bounds the term T i of its point, with the distances of [inside i]. So weights on sets bound the sum of T. *)
Lemma sets_bound y classes Lam q C k n p prices inside (D : N -> N -> R) (T : N -> R) :
  n = N.of_nat (length y) -> (forall c, In c classes <-> In c y) -> (0 <= Q2R C)%R ->
  within N.eqb fst prices (indices y) = true -> forallb (weights_ok n k C p) prices = true ->
  (forall i, In i (indices y) -> (0 <= T i)%R) ->
  (forall i h, In i (indices y) -> is_set (others y i) k h ->
     (total (D i) (inside i) - total (D i) h + Delta y Lam q i h <= T i)%R) ->
  (Q2R (gain (class y) classes Lam prices # (p * q))
   + total (fun w => IZR (weight w) / IZR (Zpos p) * D (one w) (other w))%R (weights_of_sets inside prices)
   <= Q2R C * total T (indices y))%R.
Proof.
  intros Size Cl C0 Within Weights T0 Each. assert (Pp := pos_IZR p). assert (Pq := pos_IZR q).
  rewrite total_weights_of_sets, Q2R_make. unfold gain. rewrite summed_correct, <- total_times.
  apply Rle_trans with (total (fun s : sets_of => Q2R C * T (fst s))%R prices).
  - unfold Rdiv at 1. rewrite Rmult_comm, <- total_times, <- total_plus. apply total_le. intros [i l] J. cbn [fst snd].
    assert (I : In i (indices y)) by (apply (within_in N.eqb fst (fun a b => proj1 (N.eqb_eq a b)) _ _ Within _ J)).
    assert (B := forallb_in _ _ Weights _ J). unfold weights_ok in B. cbn [fst snd] in B. apply andb_prop in B.
    destruct B as [B Sum]. apply Z.leb_le in Sum.
    apply Rle_trans with (IZR (summed snd l) / IZR (Zpos p) * T i)%R.
    + rewrite !summed_correct. rewrite <- total_times, <- total_plus. unfold Rdiv. rewrite (Rmult_comm _ (/ IZR (Zpos p))).
      rewrite Rmult_assoc, (Rmult_comm _ (T i)), <- Rmult_assoc, <- total_times. apply total_le. intros [h a] A. cbn [fst snd].
      assert (Q := forallb_in _ _ B _ A). cbn [fst snd] in Q. apply andb_prop in Q. destruct Q as [Q1 Q2]. apply Z.leb_le in Q2.
      assert (E := Each i h I (set_ok_set y _ i k h Size Q1)).
      rewrite mult_IZR, Pos2Z.inj_mul, mult_IZR.
      assert (Dw := whole_Delta_correct y classes Lam q i h ltac:(intros ->; destruct I) Cl).
      assert (A0 : (0 <= IZR a * / IZR (Zpos p))%R)
        by (apply Rmult_le_pos; [apply IZR_le; auto|left; apply Rinv_0_lt_compat; auto]).
      replace (/ (IZR (Zpos p) * IZR (Zpos q)) * (IZR a * IZR (whole_Delta (class y) classes Lam (class y i) h)))%R
        with (IZR a * / IZR (Zpos p) * Delta y Lam q i h)%R by (rewrite <- Dw; field; lra).
      apply Rle_trans with (IZR a * / IZR (Zpos p) * T i)%R; [|right; ring].
      rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_l; [auto|]. lra.
    + apply Rmult_le_compat_r; [auto|]. apply IZR_le in Sum. rewrite !mult_IZR in Sum. assert (Pc := pos_IZR (Qden C)).
      unfold Q2R. apply Rmult_le_reg_r with (IZR (Zpos p) * IZR (Zpos (Qden C)))%R; [nra|].
      replace (IZR (summed snd l) / IZR (Zpos p) * (IZR (Zpos p) * IZR (Zpos (Qden C))))%R
        with (IZR (summed snd l) * IZR (Zpos (Qden C)))%R by (field; lra).
      replace (IZR (Qnum C) * / IZR (Zpos (Qden C)) * (IZR (Zpos p) * IZR (Zpos (Qden C))))%R
        with (IZR (Qnum C) * IZR (Zpos p))%R by (field; lra). auto.
  - apply (within_total N.eqb fst (fun i => Q2R C * T i)%R).
    + intros a b. apply N.eqb_eq.
    + intros i I. apply Rmult_le_pos; auto.
    + auto.
Qed.

(** A set bounds the first maximum of its point. *)
Lemma first_max_ge y Lam q k (D : N -> N -> R) i h : is_set (others y i) k h ->
  (- total (D i) h + Delta y Lam q i h <= first_max y Lam q k D i)%R.
Proof.
  intros S. destruct (sets_choose k _ _ S) as [g [G Pg]]. rewrite <- (total_perm (D i) _ _ Pg).
  assert (M := maximum_ge _ _ (in_map (fun h => (- total (D i) h + Delta y Lam q i h)%R) _ g G)). cbv beta in M.
  unfold first_max. replace (Delta y Lam q i h) with (Delta y Lam q i g); [exact M|].
  unfold Delta. f_equal. f_equal. f_equal. unfold tied. apply functional_extensionality. intros r. f_equal.
  apply functional_extensionality. intros c. rewrite !(votes_perm (class y) _ _ _ Pg). reflexivity.
Qed.

(** The loss matrix is as it should be if that holds of the list of classes. *)
Lemma lam_ok_all y classes Lam : (forall c, In c classes <-> In c y) -> lam_ok classes Lam = true -> lam_ok y Lam = true.
Proof.
  intros Cl H. unfold lam_ok in *. rewrite <- (forallb_same _ classes y Cl). rewrite <- H. f_equal.
  apply functional_extensionality. intros a. apply forallb_same. intros c. symmetry. apply Cl.
Qed.

(** The check holds the interval of the step, and every psd matrix has a step at least as large as F. *)
Theorem step_sound div X y Lam q C k h_star p prices f m lo hi :
  check_step div X y Lam q C k h_star p prices f m = Some (lo, hi) ->
  let step := step X y Lam q C k (at_ [] h_star) in
  (forall W, psd (features X) W -> Q2R lo <= step W)%R /\
  psd (features X) (value_of m) /\ step (value_of m) = Q2R hi /\
  F X y Lam q C k (value_of m) = Q2R hi /\ (forall W, psd (features X) W -> F X y Lam q C k W <= step W)%R.
Proof.
  unfold check_step.
  replace (look 0 (table y)) with (class y) by (apply functional_extensionality; intros; symmetry; apply look_table).
  replace (look [] (table h_star)) with (at_ [] h_star) by (apply functional_extensionality; intros; symmetry; apply look_table).
  rewrite numbers_indices. set (star := at_ [] h_star). set (classes := nodup Z.eq_dec y). intros H.
  assert (Cl : forall c, In c classes <-> In c y) by (intros; apply nodup_In).
  destruct (_ && _) eqn:Ok in H; [|discriminate].
  repeat (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]).
  apply Nat.leb_le in Ok. apply Z.eqb_eq in K5. rewrite !count_length in K5.
  assert (Size : size (rows X) = N.of_nat (length y)) by (rewrite size_length; f_equal; lia). rewrite Size in *.
  apply Qle_bool_iff, Qle_Rle in K3. replace (Q2R 0) with 0%R in K3 by (unfold Q2R; simpl; lra).
  assert (Lam0 := lam_ok_all y classes Lam Cl K2).
  assert (Star : forall i, In i (indices y) -> is_set (others y i) k (star i) /\ wins y (class y i) (star i) = true).
  { intros i I. assert (B := forallb_in _ _ K1 i I). cbv beta in B. apply andb_prop in B. destruct B as [B1 B2].
    split; [apply (set_ok_set y _ i k _ eq_refl B1)|]. unfold wins_among in B2. rewrite (forallb_same _ classes y Cl) in B2. auto. }
  set (loss := fun D : N -> N -> R => (Q2R C * total (fun i => first_max y Lam q k D i + total (D i) (star i)) (indices y))%R).
  (* F is at most the step *)
  assert (Major : forall D i, In i (indices y) -> (- second_max y k D i <= total (D i) (star i))%R).
  { intros D i I. destruct (Star i I) as [S W]. destruct (sets_choose k _ _ S) as [g [G Pg]].
    rewrite <- (total_perm (D i) _ _ Pg). unfold second_max.
    assert (M := maximum_ge _ _ (in_map (fun h => (- total (D i) h)%R) (filter (wins y (class y i)) (sets y k i)) g
      ltac:(apply filter_In; split; [exact G|rewrite (wins_perm y _ _ _ Pg); exact W]))). cbv beta in M. lra. }
  (* what the check of the value has found *)
  assert (Value : forall D whole unit v, (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R ->
     all_values (point_value (class y) classes Lam q k star (indices y) whole unit) (indices y) = Some v ->
     (IZR v / IZR (Zpos (q * unit)))%R = total (fun i => first_max y Lam q k D i + total (D i) (star i))%R (indices y) /\
     forall i, In i (indices y) -> second_max y k D i = (- total (D i) (star i))%R).
  { intros D whole unit v E V. apply (all_values_correct _ (fun i => first_max y Lam q k D i + total (D i) (star i))%R
      (IZR (Zpos (q * unit)))) in V.
    - destruct V as [V N]. split; auto. intros i I. specialize (N i I).
      destruct (point_value _ _ _ _ _ _ _ _ _ i) as [w|] eqn:W; [|congruence].
      apply (point_value_correct y Lam q k D star whole unit i w Ok I E (proj1 (Star i I))) in W. apply W.
    - intros i w I W. apply (point_value_correct y Lam q k D star whole unit i w Ok I E (proj1 (Star i I))) in W. apply W. }
  (* F at the metric *)
  assert (At : F X y Lam q C k (value_of m) = step X y Lam q C k star (value_of m)).
  { unfold check in H. destruct (short X) eqn:Sh; simpl in H; [|discriminate].
    destruct (fits _ _); simpl in H; [|discriminate]. destruct (metric_shown _ _ _); [|discriminate].
    destruct (below _ _ _ _ _ _); [|discriminate]. destruct (all_values _ _) as [v|] eqn:V; [|discriminate].
    apply (Value (D X (value_of m))) in V.
    - destruct V as [_ V]. unfold F, step. f_equal. f_equal. apply total_ext. intros i I. rewrite (V i I). ring.
    - intros i j. unfold value_of. rewrite <- (whole_distance_correct X) by auto. rewrite !Pos2Z.inj_mul, !mult_IZR. reflexivity. }
  apply check_sound with (loss := loss) (allowed := fun _ => True) in H.
  - destruct H as [Lo [Psd [_ Hi]]]. replace (Q2R 1) with 1%R in * by (unfold Q2R; simpl; lra).
    assert (Step : forall W, step X y Lam q C k star W = (1 * norm2 (features X) W + loss (D X W))%R) by (intros; unfold step, loss; ring).
    cbv zeta. split; [intros W HW; rewrite Step; apply Lo; auto|]. split; [auto|]. split; [rewrite Step; auto|].
    split; [rewrite At, Step; auto|]. intros W HW. unfold F, step. apply Rplus_le_compat_l, Rmult_le_compat_l; [auto|].
    apply total_le. intros i I. assert (M := Major (D X W) i I). lra.
  - clear H At. intros D D0 _. unfold loss.
    apply (sets_bound y classes Lam q C k _ p prices star D _ eq_refl Cl K3 K0 K).
    + intros i I. assert (E := first_max_ge y Lam q k D i (star i) (proj1 (Star i I))).
      assert (L := lam_ok_pos y Lam q i (star i) Lam0 I). lra.
    + intros i h I S. assert (E := first_max_ge y Lam q k D i h S). lra.
  - clear H At. intros D whole unit v E V. split; [|exact I]. destruct (all_values _ _) as [w|] eqn:A; [|discriminate].
    inversion V; subst v; clear V. rewrite Q2R_mult, Q2R_make. unfold loss. f_equal. symmetry. apply (Value D whole unit w E A).
Qed.
