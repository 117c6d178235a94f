(** ITML: what the check accepts is proved. The upper end is at least the objective of the metric.

    For c = lambda / gamma, x / b - ln (x / b) - 1 is at least c x + ln (1 - c b) if 1 - c b > 0. Here b is the bound u of
    a similar pair; for a dissimilar one, b is l, and c is - lambda / gamma. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods Budget Glml Exponentials Logistic Gmml Logdet.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe, beside [definite] and [D_ld] of Logdet. The slacks of similar pairs are xi, the others eta. *)

Definition excess (x : R) : R := (x - ln x - 1)%R.

Definition itml_feasible (X : points) (similar dissimilar : list pair) (A : matrix) (xi eta : pair -> R) : Prop :=
  definite (features X) A /\
  (forall s, In s similar -> 0 < xi s /\ D X A (fst s) (snd s) <= xi s)%R /\
  (forall s, In s dissimilar -> 0 < eta s /\ eta s <= D X A (fst s) (snd s))%R.

(** P is the inverse of the prior A_0. *)
Definition itml_cost (X : points) (similar dissimilar : list pair) (gamma u l : Q) (P A_0 A : matrix) (xi eta : pair -> R) : R :=
  (D_ld (features X) P A_0 A
   + Q2R gamma * (total (fun s => excess (xi s / Q2R u)) similar + total (fun s => excess (eta s / Q2R l)) dissimilar))%R.

(** ** One pair *)

Lemma excess_at_least gamma b c x : (0 < gamma)%R -> (0 < b)%R -> (0 < x)%R -> (0 < 1 - c * b / gamma)%R ->
  (c * x + gamma * ln (1 - c * b / gamma) <= gamma * excess (x / b))%R.
Proof.
  intros G B X Y. assert (XB : (0 < x / b)%R) by (apply Rdiv_lt_0_compat; auto).
  assert (L := ln_below _ (Rmult_lt_0_compat _ _ XB Y)). rewrite ln_mult in L by auto. unfold excess.
  apply (Rmult_le_compat_l gamma) in L; [|lra].
  replace (gamma * (x / b * (1 - c * b / gamma) - 1))%R with (gamma * (x / b) - c * x - gamma)%R in L by (field; lra). lra.
Qed.

(** ** The check

    Of a pair: lambda over p, and two logarithms: one of the bound, and one at the metric *)

Record bounded := { pulled : Z; log_bound : Z; log_slack : Z }.

Definition priced : Type := pair * bounded.
Definition signed (alike : bool) (a : Z) : Z := if alike then a else - a.

(** gamma (1 - c b / gamma) over gamma, as whole numbers: [at_most gamma b p] and what is left *)
Definition all_of (gamma b : Q) (p : positive) : Z := Qnum gamma * Zpos (p * Qden b).
Definition left_of (alike : bool) (gamma b : Q) (p : positive) (a : Z) : Z :=
  all_of gamma b p - signed alike a * (Qnum b * Zpos (Qden gamma)).

Definition bounded_ok (div : Z -> Z -> Z) (v : positive) (alike : bool) (gamma b : Q) (p r : positive) (s : priced) : bool :=
  let a := pulled (snd s) in let rest := left_of alike gamma b p a in
  (0 <=? a) && (0 <? rest) && ln_within div v (all_of gamma b p) (Z.to_pos rest) (log_bound (snd s)) r.

(** The slack of a pair, in units of which the bound is [limit] *)
Definition limit (b : Q) (unit : positive) : Z := Qnum b * Zpos unit.
Definition slack (alike : bool) (b : Q) (whole : N -> N -> Z) (unit : positive) (s : priced) : Z :=
  let x := whole (fst (fst s)) (snd (fst s)) * Zpos (Qden b) in
  if alike then Z.max (limit b unit) x else Z.min (limit b unit) x.

Definition slack_ok (div : Z -> Z -> Z) (v : positive) (alike : bool) (b : Q) (whole : N -> N -> Z) (unit r : positive) (s : priced) : bool :=
  let x := slack alike b whole unit s in (0 <? x) && ln_within div v (limit b unit) (Z.to_pos x) (log_slack (snd s)) r.

Definition slack_value (alike : bool) (b : Q) (whole : N -> N -> Z) (unit r : positive) (l : list priced) : Q :=
  ((summed (fun s => slack alike b whole unit s - limit b unit)%Z l # Z.to_pos (limit b unit)) + (summed (fun s => log_slack (snd s)) l # r))%Q.

Definition weights_of_bounded (alike : bool) (l : list priced) (P : list weighted) : list weighted :=
  fold_left (fun P s => {| weight := signed alike (pulled (snd s)); one := fst (fst s); other := snd (fst s) |} :: P) l P.

Definition prior_ok (div : Z -> Z -> Z) (d : nat) (a_0 b_0 : metric) : bool :=
  inverse_shown d (triangle_of a_0) (triangle_of b_0) (Zpos (over_of a_0 * over_of b_0)).

(** a_0 and b_0 are the prior and its inverse. z_Z and z_m are logarithms of determinants. *)
Definition check_itml (div : Z -> Z -> Z) (X : points) (similar dissimilar : list pair) (gamma u l : Q) (a_0 b_0 : metric)
    (p v r : positive) (of_near of_far : list bounded) (z_Z z_m : Z) (m : metric) : option (Q * Q) :=
  let d := features X in
  match zipped [] similar of_near, zipped [] dissimilar of_far, det_of div d a_0, det_of div d m with
  | Some near, Some far, Some e_0, Some e =>
      let W := beside X (weights_of_bounded true near (weights_of_bounded false far [])) p b_0 in
      match last_pivot div d 1 (turned_whole d (fst W)) with
      | Some f =>
          let whole := whole_distance (images (triangle_of m) (rows X)) in
          let unit := (over X * over X * over_of m)%positive in
          let o_0 := Zpos (power (over_of a_0) d) in
          if short X && all_inside X (rev_append similar dissimilar) [] && prior_ok div d a_0 b_0
             && (0 <? Qnum gamma) && (0 <? Qnum u) && (0 <? Qnum l)
             && forallb (bounded_ok div v true gamma u p r) near && forallb (bounded_ok div v false gamma l p r) far
             && ln_within div v (o_0 * Zpos (power (snd W) d)) (Z.to_pos (e_0 * f)) z_Z r
             && forallb (slack_ok div v true u whole unit r) near && forallb (slack_ok div v false l whole unit r) far
             && ln_within div v (e_0 * Zpos (power (over_of m) d)) (Z.to_pos (e * o_0)) z_m r then
            Some (- (z_Z # r) - gamma * ((summed (fun s : priced => log_bound (snd s)) near + summed (fun s : priced => log_bound (snd s)) far)%Z # r),
              (inner_whole d (triangle_of m) (triangle_of b_0) # over_of m * over_of b_0) - inject_Z (Z.of_nat d) + (z_m # r)
              + gamma * (slack_value true u whole unit r near + slack_value false l whole unit r far))%Q
          else None
      | None => None
      end
  | _, _, _, _ => None
  end.

Lemma zipped_map {S T} (a : list S) (b : list T) l : zipped [] a b = Some l -> map fst l = a.
Proof. intros H. rewrite (zipped_fst a b [] l H). reflexivity. Qed.

Lemma total_bounded alike (f : weighted -> R) l : forall P, total f (weights_of_bounded alike l P)
  = (total (fun s : priced => f {| weight := signed alike (pulled (snd s)); one := fst (fst s); other := snd (fst s) |}) l + total f P)%R.
Proof.
  unfold weights_of_bounded. induction l as [|s l IH]; intros P; [simpl; ring|]. cbn [fold_left]. rewrite IH.
  unfold total. cbn [fold_right]. rewrite <- !Rplus_assoc. f_equal. apply Rplus_comm.
Qed.

Lemma positive_Q q : 0 < Qnum q -> (0 < Q2R q)%R.
Proof. intros H. apply IZR_lt in H. unfold Q2R. apply Rmult_lt_0_compat; [auto|]. apply Rinv_0_lt_compat, pos_IZR. Qed.

(** gamma excess (x / b) is at least the price times the distance, less the logarithm. *)
Lemma bounded_below div v alike gamma b p r s x D : 0 < Qnum gamma -> 0 < Qnum b -> bounded_ok div v alike gamma b p r s = true ->
  (0 < x)%R -> (if alike then D <= x else x <= D)%R ->
  (IZR (signed alike (pulled (snd s))) / IZR (Zpos p) * D + Q2R gamma * (- / IZR (Zpos r) * IZR (log_bound (snd s)))
   <= Q2R gamma * excess (x / Q2R b))%R.
Proof.
  intros G B H X0 XD. unfold bounded_ok in H. cbv zeta in H. apply andb_prop in H. destruct H as [H L]. apply andb_prop in H.
  destruct H as [A R]. apply Z.leb_le, IZR_le in A. apply Z.ltb_lt in R. set (a := pulled (snd s)) in *.
  assert (P := pos_IZR p). assert (Pr := pos_IZR r). assert (Pg := pos_IZR (Qden gamma)). assert (Pb := pos_IZR (Qden b)).
  assert (G' := positive_Q gamma G). assert (B' := positive_Q b B).
  set (c := (IZR (signed alike a) / IZR (Zpos p))%R).
  assert (W : 0 < all_of gamma b p) by (unfold all_of; lia).
  apply ln_within_correct in L; [|exact W]. apply IZR_lt in G. apply IZR_lt in B.
  assert (Y : (1 - c * Q2R b / Q2R gamma)%R = (IZR (left_of alike gamma b p a) / IZR (all_of gamma b p))%R).
  { unfold left_of, c, all_of, Q2R. rewrite minus_IZR, !mult_IZR, Pos2Z.inj_mul, mult_IZR. field. repeat split; lra. }
  assert (Y0 : (0 < 1 - c * Q2R b / Q2R gamma)%R).
  { rewrite Y. apply IZR_lt in R. apply IZR_lt in W. apply Rdiv_lt_0_compat; auto. }
  assert (E := excess_at_least (Q2R gamma) (Q2R b) c x G' B' X0 Y0).
  rewrite Z2Pos.id in L by auto. apply IZR_lt in R. apply IZR_lt in W.
  rewrite Y, ln_quotient in E by auto. rewrite ln_quotient in L by auto.
  assert (CD : (c * D <= c * x)%R).
  { unfold c, signed. destruct alike.
    - apply Rmult_le_compat_l; [|auto]. apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto].
    - rewrite opp_IZR. assert (IZR a / IZR (Zpos p) * x <= IZR a / IZR (Zpos p) * D)%R; [|unfold Rdiv in *; lra].
      apply Rmult_le_compat_l; [|auto]. apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto]. }
  apply (Rmult_le_compat_l (Q2R gamma)) in L; [|lra]. unfold Rdiv in L. fold c. lra.
Qed.

Lemma all_bounded_below div v alike gamma b p r l x (D : N -> N -> R) : 0 < Qnum gamma -> 0 < Qnum b ->
  forallb (bounded_ok div v alike gamma b p r) l = true ->
  (forall s, In s (map fst l) -> 0 < x s /\ if alike then D (fst s) (snd s) <= x s else x s <= D (fst s) (snd s))%R ->
  (total (fun s : priced => IZR (signed alike (pulled (snd s))) / IZR (Zpos p) * D (fst (fst s)) (snd (fst s))) l
   - Q2R gamma * (IZR (summed (fun s : priced => log_bound (snd s)) l) / IZR (Zpos r))
   <= Q2R gamma * total (fun s => excess (x s / Q2R b)) (map fst l))%R.
Proof.
  intros G B Ok F. rewrite summed_correct, total_map.
  assert (E : (total (fun s : priced => IZR (signed alike (pulled (snd s))) / IZR (Zpos p) * D (fst (fst s)) (snd (fst s))
      + Q2R gamma * (- / IZR (Zpos r) * IZR (log_bound (snd s)))) l
    <= total (fun s : priced => Q2R gamma * excess (x (fst s) / Q2R b)) l)%R).
  { apply total_le. intros s S. destruct (F (fst s) (in_map fst l s S)) as [X0 XD].
    apply (bounded_below div v alike gamma b p r); auto. apply (forallb_in _ _ Ok s S). }
  rewrite total_plus, !total_times in E. unfold priced, Rdiv in *. lra.
Qed.

(** The slack at a metric, as a real number *)
Definition slack_of (alike : bool) (b : Q) (D : N -> N -> R) (s : pair) : R :=
  (if alike then Rmax (Q2R b) (D (fst s) (snd s)) else Rmin (Q2R b) (D (fst s) (snd s)))%R.

Lemma slack_correct alike b whole unit s D : (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R ->
  (IZR (slack alike b whole unit s) / IZR (Zpos (unit * Qden b)))%R = slack_of alike b D (fst s).
Proof.
  intros E. assert (U := pos_IZR unit). assert (Pb := pos_IZR (Qden b)).
  assert (I : (0 < / (IZR (Zpos unit) * IZR (Zpos (Qden b))))%R) by (apply Rinv_0_lt_compat, Rmult_lt_0_compat; auto).
  unfold slack, slack_of. cbv zeta. set (x := whole (fst (fst s)) (snd (fst s)) * Zpos (Qden b)).
  assert (Ex : D (fst (fst s)) (snd (fst s)) = (IZR x / (IZR (Zpos unit) * IZR (Zpos (Qden b))))%R)
    by (unfold x; rewrite <- E, mult_IZR; field; lra).
  assert (Eb : Q2R b = (IZR (limit b unit) / (IZR (Zpos unit) * IZR (Zpos (Qden b))))%R)
    by (unfold limit, Q2R; rewrite mult_IZR; field; lra).
  rewrite Ex, Eb, Pos2Z.inj_mul, mult_IZR.
  destruct alike; [destruct (Z.max_spec (limit b unit) x) as [[C ->]|[C ->]]|destruct (Z.min_spec (limit b unit) x) as [[C ->]|[C ->]]];
    (apply IZR_lt in C || apply IZR_le in C); symmetry.
  - apply Rmax_right. apply Rmult_le_compat_r; lra.
  - apply Rmax_left. apply Rmult_le_compat_r; lra.
  - apply Rmin_left. apply Rmult_le_compat_r; lra.
  - apply Rmin_right. apply Rmult_le_compat_r; lra.
Qed.

Lemma slack_at_most div v alike b whole unit r l (D : N -> N -> R) : 0 < Qnum b ->
  (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R ->
  forallb (slack_ok div v alike b whole unit r) l = true ->
  (forall s, In s (map fst l) -> 0 < slack_of alike b D s)%R /\
  (total (fun s => excess (slack_of alike b D s / Q2R b)) (map fst l) <= Q2R (slack_value alike b whole unit r l))%R.
Proof.
  intros B E Ok. assert (U := pos_IZR unit). assert (Pb := pos_IZR (Qden b)). assert (Pr := pos_IZR r).
  assert (Lim : 0 < limit b unit) by (unfold limit; lia). assert (L0 := IZR_lt _ _ Lim). apply IZR_lt in B.
  assert (Each : forall s, In s l -> (0 < slack_of alike b D (fst s))%R /\
    (excess (slack_of alike b D (fst s) / Q2R b)
     <= / IZR (limit b unit) * IZR (slack alike b whole unit s - limit b unit) + / IZR (Zpos r) * IZR (log_slack (snd s)))%R).
  { intros s S. assert (H := forallb_in _ _ Ok s S). unfold slack_ok in H. cbv zeta in H. apply andb_prop in H. destruct H as [H L].
    apply Z.ltb_lt in H. apply ln_within_correct in L; [|exact Lim]. rewrite Z2Pos.id in L by auto.
    rewrite <- (slack_correct alike b whole unit s D E). set (x := slack alike b whole unit s) in *. apply IZR_lt in H.
    rewrite Pos2Z.inj_mul, mult_IZR.
    assert (UB : (0 < IZR (Zpos unit) * IZR (Zpos (Qden b)))%R) by (apply Rmult_lt_0_compat; auto).
    split; [apply Rdiv_lt_0_compat; auto|].
    replace (IZR x / (IZR (Zpos unit) * IZR (Zpos (Qden b))) / Q2R b)%R with (IZR x / IZR (limit b unit))%R
      by (unfold limit, Q2R; rewrite mult_IZR; field; repeat split; lra).
    unfold excess. rewrite ln_quotient in L |- * by auto. rewrite minus_IZR.
    replace (/ IZR (limit b unit) * (IZR x - IZR (limit b unit)))%R with (IZR x / IZR (limit b unit) - 1)%R by (field; lra).
    unfold Rdiv in L |- *. lra. }
  split.
  - intros s S. apply in_map_iff in S. destruct S as [t [<- T]]. apply Each. auto.
  - unfold slack_value. rewrite Q2R_plus, !Q2R_make, !summed_correct, Z2Pos.id by auto. rewrite total_map.
    apply Rle_trans with (total (fun s : priced => / IZR (limit b unit) * IZR (slack alike b whole unit s - limit b unit)
      + / IZR (Zpos r) * IZR (log_slack (snd s))) l)%R.
    + apply total_le. intros s S. apply Each. auto.
    + rewrite total_plus, !total_times. right. unfold priced, pair, Rdiv. ring.
Qed.

Theorem itml_sound div X similar dissimilar gamma u l a_0 b_0 p v r of_near of_far z_Z z_m m lo hi :
  check_itml div X similar dissimilar gamma u l a_0 b_0 p v r of_near of_far z_Z z_m m = Some (lo, hi) ->
  let cost := itml_cost X similar dissimilar gamma u l (value_of b_0) (value_of a_0) in
  definite (features X) (value_of a_0) /\ inverse_of (features X) (value_of a_0) (value_of b_0) 1 /\
  (forall A xi eta, itml_feasible X similar dissimilar A xi eta -> Q2R lo <= cost A xi eta)%R /\
  exists xi eta, itml_feasible X similar dissimilar (value_of m) xi eta /\ (cost (value_of m) xi eta <= Q2R hi)%R.
Proof.
  unfold check_itml. cbv zeta. intros H.
  destruct (zipped [] similar of_near) as [near|] eqn:N1; [|discriminate].
  destruct (zipped [] dissimilar of_far) as [far|] eqn:N2; [|discriminate].
  destruct (det_of div (features X) a_0) as [e_0|] eqn:E0; [|discriminate].
  destruct (det_of div (features X) m) as [e|] eqn:Em; [|discriminate].
  set (Zs := beside X _ p b_0) in *. destruct (last_pivot _ _ _ _) as [f|] eqn:Ez in H; [|discriminate].
  destruct (_ && _) eqn:Ok in H; [|discriminate]. injection H as <- <-.
  do 11 (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]).
  apply zipped_map in N1. apply zipped_map in N2. apply Z.ltb_lt in K5, K6, K7.
  destruct (det_of_correct div _ a_0 e_0 E0) as [P0 [Def0 Det0]]. destruct (det_of_correct div _ m e Em) as [Pm [Defm Detm]].
  destruct (log_det_below div _ _ (snd Zs) f Ez) as [Pf Low].
  set (d := features X) in *. assert (Pr := pos_IZR r).
  assert (O0 := pos_IZR (power (over_of a_0) d)). assert (Oz := pos_IZR (power (snd Zs) d)). assert (Om := pos_IZR (power (over_of m) d)).
  apply ln_within_correct in K; [|lia]. apply ln_within_correct in K2; [|lia].
  rewrite Z2Pos.id in K, K2 by lia. rewrite !mult_IZR in K, K2.
  apply IZR_lt in P0. apply IZR_lt in Pm. apply IZR_lt in Pf.
  rewrite ln_quotient in K, K2 by (apply Rmult_lt_0_compat; auto). rewrite !ln_mult in K, K2 by auto.
  split; [exact Def0|]. split; [apply inverse_shown_correct; exact K8|]. split.
  - intros A xi eta [HA [Xi Eta]]. specialize (Low A HA). unfold Zs, d in Low. rewrite beside_correct, !total_bounded in Low.
    simpl (total _ []) in Low. cbn [weight one other] in Low. fold d Zs in Low. rewrite ln_quotient in Low by auto.
    assert (B1 := all_bounded_below div v true gamma u p r near xi (D X A) ltac:(auto) ltac:(auto) ltac:(auto) ltac:(rewrite N1; exact Xi)).
    assert (B2 := all_bounded_below div v false gamma l p r far eta (D X A) ltac:(auto) ltac:(auto) ltac:(auto) ltac:(rewrite N2; exact Eta)).
    rewrite N1 in B1. rewrite N2 in B2. unfold itml_cost, D_ld. fold d. rewrite Det0, ln_quotient by auto.
    rewrite Q2R_minus, Q2R_opp, Q2R_mult, !Q2R_make, plus_IZR. unfold Rdiv in *. lra.
  - assert (E : forall i j, (IZR (whole_distance (images (triangle_of m) (rows X)) i j) / IZR (Zpos (over X * over X * over_of m)))%R = D X (value_of m) i j).
    { intros i j. unfold value_of. rewrite <- whole_distance_correct by auto. rewrite !Pos2Z.inj_mul, !mult_IZR. reflexivity. }
    destruct (slack_at_most div v true u _ _ r near _ ltac:(auto) E K1) as [S1 V1].
    destruct (slack_at_most div v false l _ _ r far _ ltac:(auto) E K0) as [S2 V2].
    rewrite N1 in S1, V1. rewrite N2 in S2, V2.
    exists (slack_of true u (D X (value_of m))), (slack_of false l (D X (value_of m))). split.
    + split; [exact Defm|]. split; intros s S; split; auto; unfold slack_of; [apply Rmax_r|apply Rmin_r].
    + unfold itml_cost, D_ld. fold d. rewrite Det0, Detm, !ln_quotient by auto.
      rewrite !Q2R_plus, Q2R_minus, Q2R_mult, Q2R_plus, inner_whole_correct, Q2R_make.
      replace (Q2R (inject_Z (Z.of_nat d))) with (INR d) by (rewrite INR_IZR_INZ; unfold Q2R, inject_Z; simpl; lra).
      assert (G := positive_Q gamma K7).
      apply (Rplus_le_compat _ _ _ _ V1) in V2. apply (Rmult_le_compat_l (Q2R gamma)) in V2; [|lra].
      change (inner d (real_matrix (triangle_of m) (over_of m)) (real_matrix (triangle_of b_0) (over_of b_0)))
        with (inner d (value_of m) (value_of b_0)). lra.
Qed.

(** A pair with an index beyond the points is refused. *)
Theorem itml_inside div X similar dissimilar gamma u l a_0 b_0 p v r of_near of_far z_Z z_m m value :
  check_itml div X similar dissimilar gamma u l a_0 b_0 p v r of_near of_far z_Z z_m m = Some value ->
  all_inside X (rev_append similar dissimilar) [] = true.
Proof.
  unfold check_itml. cbv zeta. destruct (zipped _ _ _); [|discriminate]. destruct (zipped _ _ _); [|discriminate].
  destruct (det_of _ _ _); [|discriminate]. destruct (det_of _ _ _); [|discriminate]. destruct (last_pivot _ _ _ _); [|discriminate].
  destruct (all_inside X _ []); [auto|]. rewrite andb_false_r. discriminate.
Qed.

(** Every two points are a pair. *)
Definition check_itml_labels div X (y : list Z) gamma u l a_0 b_0 p v r of_near of_far z_Z z_m m :=
  if count y =? count (rows X) then
    check_itml div X (made_pairs y true) (made_pairs y false) gamma u l a_0 b_0 p v r of_near of_far z_Z z_m m
  else None.

Theorem itml_labels_sound div X y gamma u l a_0 b_0 p v r of_near of_far z_Z z_m m lo hi :
  check_itml_labels div X y gamma u l a_0 b_0 p v r of_near of_far z_Z z_m m = Some (lo, hi) ->
  let similar := pairs_by_labels y true in let dissimilar := pairs_by_labels y false in
  let cost := itml_cost X similar dissimilar gamma u l (value_of b_0) (value_of a_0) in
  definite (features X) (value_of a_0) /\ inverse_of (features X) (value_of a_0) (value_of b_0) 1 /\
  (forall A xi eta, itml_feasible X similar dissimilar A xi eta -> Q2R lo <= cost A xi eta)%R /\
  exists xi eta, itml_feasible X similar dissimilar (value_of m) xi eta /\ (cost (value_of m) xi eta <= Q2R hi)%R.
Proof.
  unfold check_itml_labels. rewrite !made_pairs_correct. destruct (_ =? _); [|discriminate]. apply itml_sound.
Qed.
