(** MLSVM: what the check accepts is proved. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods.
Import ListNotations.
Open Scope Z_scope.

(** ** The least and the largest of a list, in integers *)

Definition least (l : list Z) : Z := match l with [] => 0 | x :: l => fold_left Z.min l x end.
Definition largest (l : list Z) : Z := match l with [] => 0 | x :: l => fold_left Z.max l x end.

Lemma fold_min_le l : forall x, (fold_right Rmin x l <= x)%R /\ forall y, In y l -> (fold_right Rmin x l <= y)%R.
Proof.
  induction l as [|z l IH]; intros x; simpl; [split; [lra|contradiction]|]. destruct (IH x) as [A B]. split.
  - apply Rle_trans with (fold_right Rmin x l); [apply Rmin_r|auto].
  - intros y [<-|I]; [apply Rmin_l|apply Rle_trans with (fold_right Rmin x l); [apply Rmin_r|auto]].
Qed.

Lemma minimum_le l x : In x l -> (minimum l <= x)%R.
Proof.
  destruct l as [|z l]; [contradiction|]. intros [<-|I]; [apply (proj1 (fold_min_le l z))|].
  apply (proj2 (fold_min_le l z)); auto.
Qed.

Lemma minimum_in l : l <> [] -> In (minimum l) l.
Proof.
  destruct l as [|z l]; [congruence|]. intros _. simpl. induction l as [|y l IH]; simpl in *; [auto|].
  destruct (Rle_lt_dec y (fold_right Rmin z l)); [rewrite Rmin_left by lra; auto|rewrite Rmin_right by lra; tauto].
Qed.

Lemma fold_max_ge l : forall x, (x <= fold_right Rmax x l)%R /\ forall y, In y l -> (y <= fold_right Rmax x l)%R.
Proof.
  induction l as [|z l IH]; intros x; simpl; [split; [lra|contradiction]|]. destruct (IH x) as [A B]. split.
  - apply Rle_trans with (fold_right Rmax x l); [auto|apply Rmax_r].
  - intros y [<-|I]; [apply Rmax_l|apply Rle_trans with (fold_right Rmax x l); [auto|apply Rmax_r]].
Qed.

Lemma maximum_ge l x : In x l -> (x <= maximum l)%R.
Proof.
  destruct l as [|z l]; [contradiction|]. intros [<-|I]; [apply (proj1 (fold_max_ge l z))|].
  apply (proj2 (fold_max_ge l z)); auto.
Qed.

Lemma maximum_in l : l <> [] -> In (maximum l) l.
Proof.
  destruct l as [|z l]; [congruence|]. intros _. simpl. induction l as [|y l IH]; simpl in *; [auto|].
  destruct (Rle_lt_dec y (fold_right Rmax z l)); [rewrite Rmax_right by lra; tauto|rewrite Rmax_left by lra; auto].
Qed.

Lemma fold_min_least l : forall x, (fold_left Z.min l x <= x)
  /\ (forall y, In y l -> fold_left Z.min l x <= y) /\ (fold_left Z.min l x = x \/ In (fold_left Z.min l x) l).
Proof.
  induction l as [|z l IH]; intros x; simpl; [split; [lia|split; [contradiction|auto]]|].
  destruct (IH (Z.min x z)) as [A [B C]]. split; [lia|split].
  - intros y [<-|I]; [lia|auto].
  - destruct C as [C|C]; [|auto]. rewrite C. destruct (Z.min_spec x z) as [[_ E]|[_ E]]; rewrite E; auto.
Qed.

Lemma fold_max_largest l : forall x, (x <= fold_left Z.max l x)
  /\ (forall y, In y l -> y <= fold_left Z.max l x) /\ (fold_left Z.max l x = x \/ In (fold_left Z.max l x) l).
Proof.
  induction l as [|z l IH]; intros x; simpl; [split; [lia|split; [contradiction|auto]]|].
  destruct (IH (Z.max x z)) as [A [B C]]. split; [lia|split].
  - intros y [<-|I]; [lia|auto].
  - destruct C as [C|C]; [|auto]. rewrite C. destruct (Z.max_spec x z) as [[_ E]|[_ E]]; rewrite E; auto.
Qed.

Lemma over_le a b u : a <= b -> (IZR a / IZR (Zpos u) <= IZR b / IZR (Zpos u))%R.
Proof. intros H. apply IZR_le in H. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat, pos_IZR|auto]. Qed.

Lemma least_minimum (l : list Z) (u : positive) : l <> [] ->
  (IZR (least l) / IZR (Zpos u))%R = minimum (map (fun z => IZR z / IZR (Zpos u))%R l).
Proof.
  intros H. set (f := (fun z => IZR z / IZR (Zpos u))%R).
  assert (I : In (least l) l /\ forall y, In y l -> least l <= y).
  { destruct l as [|z l]; [congruence|]. destruct (fold_min_least l z) as [A [B C]]. simpl least. split.
    - destruct C as [C|C]; [left; auto|right; auto].
    - intros y [<-|I]; auto. }
  destruct I as [I L]. apply Rle_antisym.
  - assert (J : In (minimum (map f l)) (map f l)) by (apply minimum_in; destruct l; simpl; congruence).
    apply in_map_iff in J. destruct J as [z [E J]]. rewrite <- E. apply over_le. auto.
  - apply minimum_le. apply (in_map f _ _ I).
Qed.

Lemma largest_maximum (l : list Z) (u : positive) : l <> [] ->
  (IZR (largest l) / IZR (Zpos u))%R = maximum (map (fun z => IZR z / IZR (Zpos u))%R l).
Proof.
  intros H. set (f := (fun z => IZR z / IZR (Zpos u))%R).
  assert (I : In (largest l) l /\ forall y, In y l -> y <= largest l).
  { destruct l as [|z l]; [congruence|]. destruct (fold_max_largest l z) as [A [B C]]. simpl largest. split.
    - destruct C as [C|C]; [left; auto|right; auto].
    - intros y [<-|I]; auto. }
  destruct I as [I L]. apply Rle_antisym.
  - apply maximum_ge. apply (in_map f _ _ I).
  - assert (J : In (maximum (map f l)) (map f l)) by (apply maximum_in; destruct l; simpl; congruence).
    apply in_map_iff in J. destruct J as [z [E J]]. rewrite <- E. apply over_le. auto.
Qed.

(** ** The loss of a point *)

(** What the slack of point i must be at least: 0, or 1 + max over T - min over I. *)
Definition spread (D : N -> N -> R) (T I : list N) (i : N) : R :=
  match T, I with
  | [], _ | _, [] => 0%R
  | _, _ => Rmax 0 (1 + maximum (map (D i) T) - minimum (map (D i) I))
  end.

Lemma spread_pos D T I i : (0 <= spread D T I i)%R.
Proof. unfold spread. destruct T, I; try lra. apply Rmax_l. Qed.

Definition mlsvm_loss (y : list Z) (lists : list (list N)) (all : list N) (D : N -> N -> R) : R :=
  (1 / INR (length all) * total (fun i => spread D (T_of y lists i) (I_of y lists i) i) all)%R.

(** ** Prices: of a point u on its impostors and w on its targets, whose sums agree *)

Definition shares : Type := list (N * Z).
Definition prices : Type := list (N * (shares * shares)).

Definition share (s : shares) : Z := summed snd s.

Definition shares_ok (listed : list N) (of_side : N -> bool) (s : shares) : bool :=
  forallb (fun a => (0 <=? snd a) && existsb (N.eqb (fst a)) listed && of_side (fst a)) s.

Definition point_ok (ty : tree Z) (tn : tree (list N)) (n : Z) (p : positive) (a : N * (shares * shares)) : bool :=
  let '(i, (u, w)) := a in
  let c := look 0 ty i in
  let listed := look [] tn i in
  shares_ok listed (fun j => negb (look 0 ty j =? c)) u && shares_ok listed (fun l => look 0 ty l =? c) w
  && (share u =? share w) && (n * share u <=? Zpos p).

Definition weights_of (sign : Z) (i : N) (s : shares) (P : list weighted) : list weighted :=
  fold_left (fun P a => {| weight := sign * snd a; one := i; other := fst a |} :: P) s P.

Definition weights_of_points (a : prices) : list weighted :=
  fold_left (fun P (s : N * (shares * shares)) =>
    let '(i, (u, w)) := s in weights_of 1 i w (weights_of (-1) i u P)) a [].

(** 1 + max over T - min over I in whole distances, where it counts *)
Definition whole_spread (whole : N -> N -> Z) (unit : positive) (T I : list N) (i : N) : Z :=
  match T, I with
  | [], _ | _, [] => 0
  | _, _ => Z.max 0 (Zpos unit + largest (map (whole i) T) - least (map (whole i) I))
  end.

Definition mlsvm_value (ty : tree Z) (tn : tree (list N)) (all : list N) (n : positive)
    (whole : N -> N -> Z) (unit : positive) : option Q :=
  let missed i :=
    let c := look 0 ty i in let listed := look [] tn i in
    whole_spread whole unit (filter (fun j => look 0 ty j =? c) listed)
      (filter (fun j => negb (look 0 ty j =? c)) listed) i in
  Some (summed missed all # (n * unit))%Q.

(** Of a list of points: no point is in its own, and none is beyond the last. *)
Definition lists_ok (n : N) (lists : list (list N)) : bool :=
  fst (fold_left (fun (s : bool * N) (l : list N) =>
    (fst s && forallb (fun j => (j <? n)%N && negb (j =? snd s)%N) l, N.succ (snd s))) lists (true, 0%N)).

Definition check_mlsvm (div : Z -> Z -> Z) (X : points) (y : list Z) (lists : list (list N)) (lam : Q)
    (p : positive) (a : prices) (f : factor) (m : metric) : option (Q * Q) :=
  let n := count (rows X) in
  let ty := table y in
  let tn := table lists in
  let all := numbers (rows X) in
  if (0 <? n) && (count y =? n) && (count lists =? n) && lists_ok (Z.to_N n) lists
     && within N.eqb fst a all && forallb (point_ok ty tn n p) a then
    check div X (lam * (1 # 2)) (summed (fun s => share (fst (snd s))) a # p)%Q (weights_of_points a) p f m
      (mlsvm_value ty tn all (Z.to_pos n))
  else None.

Lemma total_weights sign i s (v : weighted -> R) : forall P,
  total v (weights_of sign i s P)
  = (total (fun a => v {| weight := sign * snd a; one := i; other := fst a |}) s + total v P)%R.
Proof.
  unfold weights_of. induction s as [|a s IH]; intros P; simpl; [ring|]. rewrite IH. simpl. unfold total. ring.
Qed.

Definition paid_of (D : N -> N -> R) (i : N) (s : shares) : R := total (fun a => IZR (snd a) * D i (fst a))%R s.

Lemma total_points D q (a : prices) : (0 < q)%R ->
  total (fun w => IZR (weight w) / q * D (one w) (other w))%R (weights_of_points a)
  = total (fun s => (paid_of D (fst s) (snd (snd s)) - paid_of D (fst s) (fst (snd s))) / q)%R a.
Proof.
  intros Q. unfold weights_of_points.
  assert (E : forall P, total (fun w => IZR (weight w) / q * D (one w) (other w))%R
    (fold_left (fun P (s : N * (shares * shares)) =>
      let '(i, (u, w)) := s in weights_of 1 i w (weights_of (-1) i u P)) a P)
    = (total (fun s => (paid_of D (fst s) (snd (snd s)) - paid_of D (fst s) (fst (snd s))) / q) a
       + total (fun w => IZR (weight w) / q * D (one w) (other w)) P)%R).
  { induction a as [|[i [u w]] a IH]; intros P; [simpl; ring|]. cbn [fold_left]. rewrite IH, !total_weights.
    cbn [weight one other fst snd]. simpl (total _ ((i, (u, w)) :: a)). unfold paid_of. cbn [fst snd].
    rewrite (total_ext (fun a0 : N * Z => IZR (1 * snd a0) / q * D i (fst a0))%R
      (fun a0 => / q * (IZR (snd a0) * D i (fst a0)))%R) by (intros; rewrite mult_IZR; unfold Rdiv; ring).
    rewrite (total_ext (fun a0 : N * Z => IZR (-1 * snd a0) / q * D i (fst a0))%R
      (fun a0 => - / q * (IZR (snd a0) * D i (fst a0)))%R) by (intros; rewrite mult_IZR; unfold Rdiv; ring).
    rewrite !total_times. unfold Rdiv. fold (total (fun a0 : N * Z => IZR (snd a0) * D i (fst a0))%R).
    unfold total. ring. }
  rewrite E. simpl. ring.
Qed.

Lemma shares_in listed side s : shares_ok listed side s = true -> forall a, In a s ->
  0 <= snd a /\ In (fst a) listed /\ side (fst a) = true.
Proof.
  intros H a I. assert (K := forallb_in _ _ H a I). simpl in K. apply andb_prop in K. destruct K as [K S].
  apply andb_prop in K. destruct K as [P E]. apply Z.leb_le in P. apply existsb_exists in E.
  destruct E as [j [J E]]. apply N.eqb_eq in E. subst j. auto.
Qed.

Lemma paid_least D i s (mu : R) : (forall a, In a s -> (0 <= snd a)%Z /\ (mu <= D i (fst a))%R) ->
  (IZR (share s) * mu <= paid_of D i s)%R.
Proof.
  intros H. unfold share, paid_of. rewrite summed_correct, Rmult_comm, <- total_times. apply total_le.
  intros a I. destruct (H a I) as [P M]. apply IZR_le in P. rewrite (Rmult_comm mu). apply Rmult_le_compat_l; auto.
Qed.

Lemma paid_largest D i s (mu : R) : (forall a, In a s -> (0 <= snd a)%Z /\ (D i (fst a) <= mu)%R) ->
  (paid_of D i s <= IZR (share s) * mu)%R.
Proof.
  intros H. unfold share, paid_of. rewrite summed_correct, Rmult_comm, <- total_times. apply total_le.
  intros a I. destruct (H a I) as [P M]. apply IZR_le in P. rewrite (Rmult_comm mu). apply Rmult_le_compat_l; auto.
Qed.

Lemma share_pos s : (forall a, In a s -> 0 <= snd a) -> 0 <= share s.
Proof.
  intros H. apply le_IZR. unfold share. rewrite summed_correct. apply total_pos. intros a I. apply IZR_le. auto.
Qed.

(** What is priced without a sum is priced 0. *)
Lemma paid_nothing D i s : (forall j, 0 <= D i j)%R -> (forall a, In a s -> 0 <= snd a) -> share s = 0 ->
  paid_of D i s = 0%R.
Proof.
  intros D0 H. unfold paid_of. intros E. assert (S : total (fun a => IZR (snd a)) s = 0%R).
  { unfold share in E. apply (f_equal IZR) in E. rewrite summed_correct in E. exact E. }
  clear E. induction s as [|a s IH]; [reflexivity|]. simpl in *.
  assert (P : (0 <= IZR (snd a))%R) by (apply IZR_le; auto).
  assert (Q : (0 <= total (fun a => IZR (snd a)) s)%R) by (apply total_pos; intros; apply IZR_le; auto).
  unfold total in *. rewrite IH by (auto; lra). replace (IZR (snd a)) with 0%R by lra. ring.
Qed.

Lemma point_bound (D : N -> N -> R) y lists n p i u w :
  (forall i j, 0 <= D i j)%R -> 0 < n -> point_ok (table y) (table lists) n p (i, (u, w)) = true ->
  (IZR (share u) / IZR (Zpos p) + (paid_of D i w - paid_of D i u) / IZR (Zpos p)
   <= 1 / IZR n * spread D (T_of y lists i) (I_of y lists i) i)%R.
Proof.
  intros D0 Hn H. unfold point_ok in H. rewrite !look_table in H.
  apply andb_prop in H. destruct H as [H Cap]. apply andb_prop in H. destruct H as [H Same].
  apply andb_prop in H. destruct H as [Hu Hw]. apply Z.eqb_eq in Same. apply Z.leb_le in Cap.
  assert (Iu := shares_in _ _ _ Hu). assert (Iw := shares_in _ _ _ Hw).
  assert (Su : 0 <= share u) by (apply share_pos; intros a I; apply Iu; auto).
  assert (Pp := pos_IZR p). apply IZR_lt in Hn. apply IZR_le in Cap. rewrite mult_IZR in Cap.
  apply IZR_le in Su.
  assert (Inv : (0 < / IZR (Zpos p))%R) by (apply Rinv_0_lt_compat; auto).
  assert (MemI : forall a, In a u -> In (fst a) (I_of y lists i)).
  { intros a I. destruct (Iu a I) as [_ [L S]]. apply filter_In. split; auto.
    rewrite look_table in S. exact S. }
  assert (MemT : forall a, In a w -> In (fst a) (T_of y lists i)).
  { intros a I. destruct (Iw a I) as [_ [L S]]. apply filter_In. split; auto.
    rewrite look_table in S. exact S. }
  assert (Zero : share u = 0 -> (IZR (share u) / IZR (Zpos p) + (paid_of D i w - paid_of D i u) / IZR (Zpos p)
     <= 1 / IZR n * spread D (T_of y lists i) (I_of y lists i) i)%R).
  { intros E.
    assert (Eu : paid_of D i u = 0%R) by (apply paid_nothing; auto; intros a I; apply Iu; auto).
    assert (Ew : paid_of D i w = 0%R) by (apply paid_nothing; auto; [intros a I; apply Iw; auto|congruence]).
    rewrite Eu, Ew, E.
    assert (S := spread_pos D (T_of y lists i) (I_of y lists i) i).
    assert (0 <= 1 / IZR n * spread D (T_of y lists i) (I_of y lists i) i)%R.
    { apply Rmult_le_pos; auto. apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat; auto. }
    unfold Rdiv. lra. }
  unfold spread in *. destruct (T_of y lists i) as [|t T] eqn:ET.
  - apply Zero. rewrite Same. destruct w as [|a w]; [reflexivity|]. destruct (MemT a (or_introl eq_refl)).
  - destruct (I_of y lists i) as [|v I] eqn:EI.
    + apply Zero. destruct u as [|a u]; [reflexivity|]. destruct (MemI a (or_introl eq_refl)).
    + clear Zero. set (far := maximum (map (D i) (t :: T))). set (near := minimum (map (D i) (v :: I))).
      assert (U : (IZR (share u) * near <= paid_of D i u)%R).
      { apply paid_least. intros a J. split; [apply Iu; auto|]. apply minimum_le. apply in_map. auto. }
      assert (W : (paid_of D i w <= IZR (share w) * far)%R).
      { apply paid_largest. intros a J. split; [apply Iw; auto|]. apply maximum_ge. apply in_map. auto. }
      rewrite <- Same in W.
      assert (M0 : (0 <= Rmax 0 (1 + far - near))%R) by apply Rmax_l.
      assert (M1 : (1 + far - near <= Rmax 0 (1 + far - near))%R) by apply Rmax_r.
      set (s := IZR (share u)) in *.
      apply Rle_trans with (s / IZR (Zpos p) * Rmax 0 (1 + far - near))%R.
      * apply Rle_trans with (s / IZR (Zpos p) * (1 + far - near))%R.
        -- unfold Rdiv. assert (0 <= / IZR (Zpos p) * (paid_of D i u - s * near + (s * far - paid_of D i w)))%R
             by (apply Rmult_le_pos; lra). lra.
        -- apply Rmult_le_compat_l; auto. apply Rmult_le_pos; lra.
      * apply Rmult_le_compat_r; auto. apply (Rmult_le_reg_r (IZR n * IZR (Zpos p))); [nra|].
        replace (s / IZR (Zpos p) * (IZR n * IZR (Zpos p)))%R with (IZR n * s)%R by (field; lra).
        replace (1 / IZR n * (IZR n * IZR (Zpos p)))%R with (IZR (Zpos p)) by (field; lra). exact Cap.
Qed.

Lemma whole_spread_correct D whole unit T I i : (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R ->
  (IZR (whole_spread whole unit T I i) / IZR (Zpos unit))%R = spread D T I i.
Proof.
  intros E. assert (U := pos_IZR unit). unfold whole_spread, spread.
  destruct T as [|t T]; [unfold Rdiv; ring|]. destruct I as [|v I]; [unfold Rdiv; ring|].
  assert (Map : forall l, map (fun z => IZR z / IZR (Zpos unit))%R (map (whole i) l) = map (D i) l).
  { intros l. rewrite map_map. apply map_ext. intros. apply E. }
  assert (A := largest_maximum (map (whole i) (t :: T)) unit ltac:(simpl; congruence)).
  assert (B := least_minimum (map (whole i) (v :: I)) unit ltac:(simpl; congruence)).
  rewrite Map in A, B. rewrite <- A, <- B.
  set (a := largest _). set (b := least _).
  replace (1 + IZR a / IZR (Zpos unit) - IZR b / IZR (Zpos unit))%R with (IZR (Zpos unit + a - b) * / IZR (Zpos unit))%R
    by (rewrite minus_IZR, plus_IZR; field; lra).
  assert (Inv : (0 < / IZR (Zpos unit))%R) by (apply Rinv_0_lt_compat; auto).
  destruct (Z.max_spec 0 (Zpos unit + a - b)) as [[H F]|[H F]]; rewrite F.
  - apply IZR_lt in H. rewrite Rmax_right; [reflexivity|]. apply Rmult_le_pos; lra.
  - apply IZR_le in H. rewrite Rmax_left; [unfold Rdiv; ring|]. nra.
Qed.

(** The slacks of the problem as printed are at least the spreads, and these are slacks. *)
Lemma slack_least X y lists A xi i : mlsvm_feasible X y lists A xi -> In i (indices (rows X)) ->
  (spread (D X A) (T_of y lists i) (I_of y lists i) i <= xi i)%R.
Proof.
  intros [_ F] I. destruct (F i I) as [P C]. unfold spread.
  destruct (T_of y lists i); auto. destruct (I_of y lists i); auto.
  specialize (C ltac:(congruence) ltac:(congruence)). apply Rmax_lub; lra.
Qed.

Lemma slack_enough X y lists A : psd (features X) A ->
  mlsvm_feasible X y lists A (fun i => spread (D X A) (T_of y lists i) (I_of y lists i) i).
Proof.
  intros HA. split; auto. intros i _. split; [apply spread_pos|]. intros HT HI. unfold spread.
  destruct (T_of y lists i); [congruence|]. destruct (I_of y lists i); [congruence|].
  match goal with |- context [Rmax 0 ?a] => assert (M := Rmax_r 0 a) end. lra.
Qed.

Theorem mlsvm_sound div X y lists lam p a f m lo hi :
  check_mlsvm div X y lists lam p a f m = Some (lo, hi) ->
  (forall A xi, mlsvm_feasible X y lists A xi -> Q2R lo <= mlsvm_cost X lam A xi)%R /\
  exists xi, mlsvm_feasible X y lists (value_of m) xi /\ mlsvm_cost X lam (value_of m) xi = Q2R hi.
Proof.
  unfold check_mlsvm. intros H.
  destruct (0 <? count (rows X)) eqn:N0; simpl in H; [|discriminate]. apply Z.ltb_lt in N0.
  destruct (count y =? count (rows X)); simpl in H; [|discriminate].
  destruct (count lists =? count (rows X)); simpl in H; [|discriminate].
  destruct (lists_ok _ lists); simpl in H; [|discriminate].
  destruct (within N.eqb fst a (numbers (rows X))) eqn:W; simpl in H; [|discriminate].
  destruct (forallb _ a) eqn:Ok; [|discriminate].
  rewrite numbers_indices in *. set (all := indices (rows X)) in *. set (n := count (rows X)) in *.
  assert (Len : INR (length all) = IZR n).
  { unfold all, indices, n. rewrite map_length, seq_length, count_length. apply INR_IZR_INZ. }
  assert (Len' : INR (length (rows X)) = IZR n) by (unfold n; rewrite count_length; apply INR_IZR_INZ).
  assert (Pp := pos_IZR p). assert (Pn := IZR_lt _ _ N0).
  assert (Inv : (0 < / IZR n)%R) by (apply Rinv_0_lt_compat; auto).
  assert (Half : Q2R (lam * (1 # 2)) = (Q2R lam / 2)%R) by (rewrite Q2R_mult; unfold Q2R at 2; simpl; lra).
  apply check_sound with (loss := mlsvm_loss y lists all) (allowed := fun _ => True) in H.
  - destruct H as [Lo [Psd [_ Hi]]]. unfold mlsvm_cost, mlsvm_loss in *. rewrite Half, Len, Len' in *. split.
    + intros A xi F. specialize (Lo A (proj1 F) I).
      assert (total (fun i => spread (D X A) (T_of y lists i) (I_of y lists i) i) all <= total xi all)%R.
      { apply total_le. intros i Hi'. apply slack_least; auto. }
      apply Rle_trans with (1 := Lo). apply Rplus_le_compat_l. apply Rmult_le_compat_l; [unfold Rdiv; lra|auto].
    + exists (fun i => spread (D X (value_of m)) (T_of y lists i) (I_of y lists i) i).
      split; [apply slack_enough; auto|auto].
  - clear H. intros D D0 _. rewrite total_points by auto. rewrite Q2R_make, summed_correct.
    unfold mlsvm_loss. rewrite Len. rewrite <- total_times.
    apply Rle_trans with (total (fun s => 1 / IZR n * spread D (T_of y lists (fst s)) (I_of y lists (fst s)) (fst s))%R a).
    + unfold Rdiv at 1. rewrite Rmult_comm, <- total_times, <- total_plus. apply total_le. intros [i [u w]] J.
      cbn [fst snd]. assert (B := forallb_in _ _ Ok _ J). assert (C := point_bound D y lists n p i u w D0 N0 B).
      unfold Rdiv in *. lra.
    + apply (within_total N.eqb fst (fun i => 1 / IZR n * spread D (T_of y lists i) (I_of y lists i) i)%R).
      * intros i j. apply N.eqb_eq.
      * intros i _. apply Rmult_le_pos; [unfold Rdiv; lra|apply spread_pos].
      * auto.
  - clear H. intros D whole unit v E V. split; [|exact I]. unfold mlsvm_value in V. inversion V; subst; clear V.
    assert (U := pos_IZR unit). rewrite Q2R_make, summed_correct. unfold mlsvm_loss. rewrite Len.
    rewrite Pos2Z.inj_mul, mult_IZR, Z2Pos.id by auto. unfold Rdiv at 2. rewrite (Rmult_comm (total _ all)).
    rewrite <- !total_times. apply total_ext. intros i _. rewrite <- (whole_spread_correct D whole unit) by auto.
    rewrite !look_table.
    replace (filter (fun j => look 0 (table y) j =? at_ 0 y i) (at_ [] lists i)) with (T_of y lists i)
      by (apply filter_ext; intros; rewrite look_table; reflexivity).
    replace (filter (fun j => negb (look 0 (table y) j =? at_ 0 y i)) (at_ [] lists i)) with (I_of y lists i)
      by (apply filter_ext; intros; rewrite look_table; reflexivity).
    field. lra.
Qed.

(** A list with an index beyond the points, or with the point itself, is refused. *)
Theorem mlsvm_inside div X y lists lam p a f m r :
  check_mlsvm div X y lists lam p a f m = Some r -> lists_ok (Z.to_N (count (rows X))) lists = true.
Proof.
  unfold check_mlsvm. destruct (lists_ok _ lists); [auto|]. rewrite andb_false_r. discriminate.
Qed.
