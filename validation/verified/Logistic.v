(** LDML: what the check accepts is proved. The upper end is at least the objective of the metric, at one threshold b.

    For a share 0 <= a <= w, w ln (1 + exp v) is at least a v - a ln (a / w) - (w - a) ln ((w - a) / w). *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Spread Exponentials.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe *)

Definition logistic (v : R) : R := ln (1 + exp v).

(** Pairs with their weights, whole numbers over q. With class means each is divided by the sum of its kind. *)
Definition weighed_pairs : Type := list (pair * Z).
Definition kind_sum (means : bool) (q : positive) (l : weighed_pairs) : R :=
  if means then total (fun s => IZR (snd s) / IZR (Zpos q))%R l else 1.

Definition ldml_cost (X : points) (means : bool) (q : positive) (near far : weighed_pairs) (w_0 : Q) (M : matrix) (b : R) : R :=
  let D s := D X M (fst s) (snd s) in
  (total (fun s => IZR (snd s) / IZR (Zpos q) / kind_sum means q near * logistic (D (fst s) - b)) near
   + total (fun s => IZR (snd s) / IZR (Zpos q) / kind_sum means q far * logistic (b - D (fst s))) far
   + INR (length (rows X)) * Q2R w_0 / kind_sum means q near * logistic (- b))%R.

(** b is as given, or any number *)
Definition threshold_of (given : option Q) (b : R) : Prop := match given with Some b' => b = Q2R b' | None => True end.

(** ** The logistic loss of a pair *)

Lemma logistic_at_least a v : (0 <= a <= 1)%R -> (a * v - a * ln a - (1 - a) * ln (1 - a) <= logistic v)%R.
Proof.
  intros [A B]. unfold logistic. assert (E := exp_pos v).
  destruct (Req_dec a 0) as [->|A0].
  - rewrite Rminus_0_r, ln_1. assert (ln 1 <= ln (1 + exp v))%R by (apply ln_le; lra). rewrite ln_1 in *. lra.
  - destruct (Req_dec a 1) as [->|A1].
    + rewrite ln_1. assert (L : (ln (exp v) <= ln (1 + exp v))%R) by (apply ln_le; lra). rewrite ln_exp in L. lra.
    + assert (L := log_sum_at_least (fun k : bool => if k then v else 0%R) [true; false] [(true, a); (false, (1 - a)%R)]).
      simpl in L. rewrite exp_0 in L. replace (exp v + (1 + 0))%R with (1 + exp v)%R in L by ring.
      assert (H : forall s : bool * R, (true, a) = s \/ (false, (1 - a)%R) = s \/ False -> (0 < snd s)%R).
      { intros s [<-|[<-|[]]]; simpl; lra. }
      specialize (L (fun f _ => Rle_refl _) H ltac:(lra)). lra.
Qed.

(** The same for a weight: w logistic v >= a v - a z - (w - a) z', where z and z' are at least the logarithms. *)
Lemma weighed_at_least w a z z' v : (0 < w)%R -> (0 <= a <= w)%R ->
  (0 < a -> ln (a / w) <= z)%R -> (a < w -> ln ((w - a) / w) <= z')%R ->
  (a * v - a * z - (w - a) * z' <= w * logistic v)%R.
Proof.
  intros W [A B] Z Z'. assert (I : (0 < / w)%R) by (apply Rinv_0_lt_compat; auto).
  assert (S : (0 <= a / w <= 1)%R).
  { split; [apply Rmult_le_pos; lra|]. apply (Rmult_le_reg_r w); [auto|].
    replace (a / w * w)%R with a by (field; lra). lra. }
  assert (L := logistic_at_least (a / w) v S). apply (Rmult_le_compat_l w) in L; [|lra].
  replace (1 - a / w)%R with ((w - a) / w)%R in L by (field; lra).
  replace (w * (a / w * v - a / w * ln (a / w) - (w - a) / w * ln ((w - a) / w)))%R
    with (a * v - a * ln (a / w) - (w - a) * ln ((w - a) / w))%R in L by (field; lra).
  assert (a * ln (a / w) <= a * z)%R.
  { destruct (Req_dec a 0) as [->|N]; [lra|]. apply Rmult_le_compat_l; [auto|]. apply Z. lra. }
  assert ((w - a) * ln ((w - a) / w) <= (w - a) * z')%R.
  { destruct (Req_dec a w) as [->|N]; [lra|]. apply Rmult_le_compat_l; [lra|]. apply Z'. lra. }
  lra.
Qed.

(** ** The check *)

(** A pair, whether its points are alike, and its weight over p *)
Definition labelled : Type := pair * bool * Z.
Definition toward (alike : bool) (v : R) : R := if alike then v else (- v)%R.

Definition logistic_loss (p : positive) (l : list labelled) (b : R) (D : N -> N -> R) : R :=
  total (fun s : labelled => let '(i, j, alike, w) := s in
    IZR w / IZR (Zpos p) * logistic (toward alike (D i j - b)))%R l.

(** Of a pair: the share, the logarithms of the share and of the rest, and ln (1 + exp (- |v|)) at the metric *)
Record logit := { part : Z; log_part : Z; log_rest : Z; log_at : Z }.

Definition logit_ok (div : Z -> Z -> Z) (r : positive) (s : labelled * logit) : bool :=
  let w := snd (fst s) in let a := part (snd s) in
  (0 <? w) && (0 <=? a) && (a <=? w)
  && ((a =? 0) || ln_at_most div a (Z.to_pos w) (log_part (snd s)) r)
  && ((a =? w) || ln_at_most div (w - a) (Z.to_pos w) (log_rest (snd s)) r).

Definition signed_part (s : labelled * logit) : Z := if snd (fst (fst s)) then part (snd s) else - part (snd s).

Definition logit_weights (l : list (labelled * logit)) : list weighted :=
  gathered (fun s => [{| weight := signed_part s; one := fst (fst (fst (fst s))); other := snd (fst (fst (fst s))) |}]) l.

Definition logit_entropy (l : list (labelled * logit)) : Z :=
  summed (fun s => part (snd s) * log_part (snd s) + (snd (fst s) - part (snd s)) * log_rest (snd s)) l.

(** toward (D - b) over unit * (denominator of b) *)
Definition whole_toward (whole : N -> N -> Z) (unit : positive) (b : Q) (s : labelled) : Z :=
  let '(i, j, alike, _) := s in
  let v := whole i j * Zpos (Qden b) - Qnum b * Zpos unit in if alike then v else - v.

Definition logit_value (div : Z -> Z -> Z) (p r : positive) (b : Q) (l : list (labelled * logit)) (whole : N -> N -> Z)
    (unit : positive) : option Q :=
  let under := (unit * Qden b)%positive in
  let at_ := gathered (fun s => [(s, whole_toward whole unit b (fst s))]) l in
  if forallb (fun t => log_sum_at_most div (largest [0; snd t]) [0; snd t] under (log_at (snd (fst t))) r) at_ then
    let most := summed (fun t : labelled * logit * Z => snd (fst (fst t)) * Z.max 0 (snd t)) at_ in
    let logs := summed (fun s => snd (fst s) * log_at (snd s)) l in
    Some ((most # p * under) + (logs # p * r))%Q
  else None.

Definition check_logistic (div : Z -> Z -> Z) (X : points) (p r : positive) (given : option Q) (b : Q)
    (l : list (labelled * logit)) (f : factor) (m : metric) : option (Q * Q) :=
  let pull := summed signed_part l in
  if forallb (logit_ok div r) l && (match given with Some b' => Qeq_bool b' b | None => pull =? 0 end) then
    check div X 0 (- (logit_entropy l # p * r) - b * (pull # p))%Q (logit_weights l) p f m (logit_value div p r b l)
  else None.

Lemma gathered_one {S T} (g : S -> T) l : gathered (fun s => [g s]) l = map g l.
Proof. rewrite gathered_flat_map. induction l; simpl; [reflexivity|]. rewrite IHl. reflexivity. Qed.

Lemma logit_below div p r l b (D : N -> N -> R) : forallb (logit_ok div r) l = true ->
  (Q2R (- (logit_entropy l # p * r)) - b * (IZR (summed signed_part l) / IZR (Zpos p))
     + total (fun w => IZR (weight w) / IZR (Zpos p) * D (one w) (other w)) (logit_weights l)
   <= logistic_loss p (map fst l) b D)%R.
Proof.
  intros Ok. assert (P := pos_IZR p). assert (Pr := pos_IZR r).
  unfold logistic_loss, logit_weights, logit_entropy. rewrite gathered_one, !total_map. cbn [weight one other].
  rewrite Q2R_opp, Q2R_make, !summed_correct, Pos2Z.inj_mul, mult_IZR.
  assert (Each : (total (fun s : labelled * logit =>
      - / (IZR (Zpos p) * IZR (Zpos r)) * IZR (part (snd s) * log_part (snd s) + (snd (fst s) - part (snd s)) * log_rest (snd s))
      + (- b / IZR (Zpos p) * IZR (signed_part s)
        + IZR (signed_part s) / IZR (Zpos p) * D (fst (fst (fst (fst s)))) (snd (fst (fst (fst s)))))) l
    <= total (fun s => let '(i, j, alike, w) := fst s in IZR w / IZR (Zpos p) * logistic (toward alike (D i j - b))) l)%R).
  { apply total_le. intros [[[[i j] alike] w] t] S. assert (H := forallb_in _ _ Ok _ S). unfold logit_ok in H. cbn [fst snd] in *.
    repeat (apply andb_prop in H; let K := fresh "K" in destruct H as [H K]).
    apply Z.ltb_lt in H. apply Z.leb_le in K2, K1. assert (W := IZR_lt _ _ H).
    assert (A0 := IZR_le _ _ K2). assert (A1 := IZR_le _ _ K1).
    assert (L := weighed_at_least (IZR w) (IZR (part t)) (IZR (log_part t) / IZR (Zpos r)) (IZR (log_rest t) / IZR (Zpos r))
      (toward alike (D i j - b)) W ltac:(lra)).
    specialize (L ltac:(intros Q; apply lt_IZR in Q; destruct (Z.eqb_spec (part t) 0); [lia|]; simpl in K0;
      apply ln_at_most_correct in K0; [rewrite Z2Pos.id in K0; auto|auto])).
    specialize (L ltac:(intros Q; apply lt_IZR in Q; destruct (Z.eqb_spec (part t) w); [lia|]; simpl in K;
      apply ln_at_most_correct in K; [rewrite Z2Pos.id, minus_IZR in K; auto|lia])).
    apply (Rmult_le_compat_l (/ IZR (Zpos p))) in L; [|left; apply Rinv_0_lt_compat; auto].
    unfold signed_part. cbn [fst snd]. rewrite plus_IZR, !mult_IZR, minus_IZR.
    set (g := logistic _) in *.
    replace (IZR w / IZR (Zpos p) * g)%R with (/ IZR (Zpos p) * (IZR w * g))%R by (field; lra).
    apply Rle_trans with (2 := L). right.
    destruct alike; cbn [toward]; rewrite ?opp_IZR; field; lra. }
  rewrite !total_plus, !total_times in Each. unfold labelled, pair in *. lra.
Qed.

Lemma logit_at_most div p r l b (D : N -> N -> R) whole unit v : forallb (logit_ok div r) l = true ->
  (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R ->
  logit_value div p r b l whole unit = Some v -> (logistic_loss p (map fst l) (Q2R b) D <= Q2R v)%R.
Proof.
  intros Ok E V. unfold logit_value in V. cbv zeta in V. rewrite gathered_one in V.
  destruct (forallb _ (map _ l)) eqn:T in V; [|discriminate]. injection V as <-.
  set (under := (unit * Qden b)%positive) in *.
  rewrite Q2R_plus, !Q2R_make, !summed_correct, total_map, !Pos2Z.inj_mul, !mult_IZR. cbn [fst snd].
  assert (P := pos_IZR p). assert (Pr := pos_IZR r). assert (U := pos_IZR unit). assert (Pb := pos_IZR (Qden b)).
  assert (Un : (IZR (Zpos under) = IZR (Zpos unit) * IZR (Zpos (Qden b)))%R) by (unfold under; rewrite Pos2Z.inj_mul; apply mult_IZR).
  unfold logistic_loss. rewrite total_map.
  apply Rle_trans with (total (fun s : labelled * logit =>
      / (IZR (Zpos p) * IZR (Zpos under)) * IZR (snd (fst s) * Z.max 0 (whole_toward whole unit b (fst s)))
      + / (IZR (Zpos p) * IZR (Zpos r)) * IZR (snd (fst s) * log_at (snd s))) l)%R.
  - apply total_le. intros s S. assert (H := forallb_in _ _ Ok _ S). unfold logit_ok in H. cbv zeta in H.
    repeat (apply andb_prop in H; let K := fresh "K" in destruct H as [H K]). apply Z.ltb_lt in H.
    assert (Tt := forallb_in _ _ T _ (in_map (fun s => (s, whole_toward whole unit b (fst s))) l s S)).
    cbv beta in Tt. cbn [fst snd] in Tt. apply log_sum_at_most_correct in Tt; [|congruence].
    destruct s as [[[[i j] alike] w] t]. cbn [fst snd] in *. assert (W := IZR_lt _ _ H).
    set (x := whole_toward whole unit b (i, j, alike, w)).
    change (whole_toward whole unit b (i, j, alike, w)) with x in Tt |- *.
    assert (Ex : (IZR x / IZR (Zpos under))%R = toward alike (D i j - Q2R b)).
    { unfold x, whole_toward, Q2R. rewrite <- E, Un.
      destruct alike; cbn [toward]; rewrite ?opp_IZR, minus_IZR, !mult_IZR; field; lra. }
    change (largest [0; x]) with (Z.max 0 x) in Tt. set (top := Z.max 0 x) in *. cbn [total fold_right] in Tt.
    replace (IZR 0 / IZR (Zpos under))%R with 0%R in Tt by (unfold Rdiv; ring). rewrite exp_0, Ex, Rplus_0_r in Tt.
    fold (logistic (toward alike (D i j - Q2R b))) in Tt.
    apply (Rmult_le_compat_l (IZR w / IZR (Zpos p))) in Tt; [|left; apply Rdiv_lt_0_compat; auto].
    rewrite !mult_IZR. apply Rle_trans with (1 := Tt). right. rewrite Un. field. lra.
  - rewrite !total_plus, !total_times. right. unfold labelled, pair, Rdiv in *. ring.
Qed.

Lemma check_logistic_sound div X p r given b l f m lo hi : check_logistic div X p r given b l f m = Some (lo, hi) ->
  let loss := logistic_loss p (map fst l) in
  (forall A c, psd (features X) A -> threshold_of given c -> Q2R lo <= loss c (D X A))%R /\
  psd (features X) (value_of m) /\ threshold_of given (Q2R b) /\ (loss (Q2R b) (D X (value_of m)) <= Q2R hi)%R.
Proof.
  unfold check_logistic. cbv zeta. destruct (_ && _) eqn:Ok; [|discriminate]. apply andb_prop in Ok. destruct Ok as [Ok G].
  intros H. destruct (check_parts _ _ _ _ _ _ _ _ _ _ _ H) as [Lo [Psd [whole [unit [v [E [V Hi]]]]]]].
  assert (Zero : Q2R 0 = 0%R) by (unfold Q2R; simpl; lra). rewrite Zero in *.
  split; [|split; [auto|split]].
  - intros A c HA Tc. specialize (Lo A HA). assert (B := logit_below div p r l c (D X A) Ok).
    rewrite Q2R_minus, Q2R_mult, Q2R_make in Lo.
    assert (S : (c * (IZR (summed signed_part l) / IZR (Zpos p)) = Q2R b * (IZR (summed signed_part l) / IZR (Zpos p)))%R).
    { destruct given as [b'|]; cbn [threshold_of] in Tc.
      - rewrite Tc. apply Qeq_bool_eq, Qeq_eqR in G. rewrite G. reflexivity.
      - apply Z.eqb_eq in G. rewrite G. unfold Rdiv. ring. }
    rewrite S in B. lra.
  - destruct given as [b'|]; cbn [threshold_of]; [|exact I]. apply Qeq_bool_eq, Qeq_eqR in G. auto.
  - assert (B := logit_at_most div p r l b (D X (value_of m)) whole unit v Ok E V). lra.
Qed.

(** ** LDML *)

(** Two lists of one length as a list of pairs *)
Fixpoint zipped {S T} (done : list (S * T)) (a : list S) (b : list T) : option (list (S * T)) :=
  match a, b with
  | [], [] => Some (rev_append done [])
  | x :: a, y :: b => zipped ((x, y) :: done) a b
  | _, _ => None
  end.

Lemma zipped_fst {S T} (a : list S) : forall (b : list T) done l, zipped done a b = Some l -> map fst l = map fst (rev done) ++ a.
Proof.
  induction a as [|x a IH]; intros [|y b] done l H; simpl in H; try discriminate.
  - injection H as <-. rewrite rev_append_rev, !app_nil_r. reflexivity.
  - rewrite (IH _ _ _ H). simpl. rewrite map_app. simpl. rewrite <- app_assoc. reflexivity.
Qed.

(** The weights of one kind over p. For whole weights with the sum z, each is w / z; without means z is q. *)
Definition over_kind (means : bool) (q : positive) (l : weighed_pairs) : Z := if means then summed snd l else Zpos q.
Definition labelled_kind (div : Z -> Z -> Z) (p : positive) (z : Z) (alike : bool) (l : weighed_pairs) : list labelled :=
  gathered (fun s : pair * Z => [(fst s, alike, div (snd s * Zpos p) z)]) l.
Definition kind_ok (div : Z -> Z -> Z) (p : positive) (z : Z) (l : weighed_pairs) : bool :=
  (0 <? z) && forallb (fun s : pair * Z => div (snd s * Zpos p) z * z =? snd s * Zpos p) l.

Definition check_ldml (div : Z -> Z -> Z) (X : points) (means : bool) (q : positive) (near far : weighed_pairs) (w_0 : Q)
    (given : option Q) (p r : positive) (b : Q) (parts : list logit) (f : factor) (m : metric) : option (Q * Q) :=
  let z := over_kind means q near in let z' := over_kind means q far in
  (* the points with themselves count as one pair, of the weight n w_0 q / z *)
  let alone := count (rows X) * Qnum w_0 * Zpos q * Zpos p in
  let own := div alone (Zpos (Qden w_0) * z) in
  let n := size (rows X) in
  let inside := forallb (fun s : pair * Z => pair_inside n (fst s)) in
  if kind_ok div p z near && kind_ok div p z' far && (own * (Zpos (Qden w_0) * z) =? alone) && inside near && inside far then
    let last := if own =? 0 then [] else [((0%N, 0%N), true, own)] in
    let l := rev_append (rev_append (labelled_kind div p z' false far) []) last in
    match zipped [] (rev_append (rev_append (labelled_kind div p z true near) []) l) parts with
    | Some l => check_logistic div X p r given b l f m
    | None => None
    end
  else None.

Lemma D_self X A i : D X A i i = 0%R.
Proof.
  unfold D, dist, form. rewrite (sum_ext _ _ (fun _ => 0%R)); [apply sum_zero|]. intros k _.
  rewrite (sum_ext _ _ (fun _ => 0%R)); [apply sum_zero|]. intros j _. ring.
Qed.

Lemma over_kind_sum means q l : IZR (over_kind means q l) = (kind_sum means q l * IZR (Zpos q))%R.
Proof.
  assert (Q := pos_IZR q). unfold over_kind, kind_sum. destruct means; [|ring]. rewrite summed_correct, Rmult_comm, <- total_times.
  apply total_ext. intros. field. lra.
Qed.

Lemma kind_loss div p q means alike l b (D : N -> N -> R) : kind_ok div p (over_kind means q l) l = true ->
  logistic_loss p (labelled_kind div p (over_kind means q l) alike l) b D
  = total (fun s => IZR (snd s) / IZR (Zpos q) / kind_sum means q l * logistic (toward alike (D (fst (fst s)) (snd (fst s)) - b)))%R l.
Proof.
  intros H. apply andb_prop in H. destruct H as [Z E]. apply Z.ltb_lt, IZR_lt in Z.
  unfold logistic_loss, labelled_kind. rewrite gathered_one, total_map. apply total_ext. intros s S.
  assert (W := forallb_in _ _ E s S). cbv beta in W. destruct s as [[i j] w]. cbn [fst snd] in *. f_equal.
  assert (P := pos_IZR p). assert (Q := pos_IZR q). apply Z.eqb_eq, (f_equal IZR) in W. rewrite !mult_IZR in W.
  rewrite over_kind_sum in *. set (k := kind_sum means q l) in *. set (u := IZR (div _ _)) in *.
  assert (k <> 0)%R by (intros C; rewrite C in Z; lra). replace (IZR w) with (u * (k * IZR (Zpos q)) / IZR (Zpos p))%R
    by (rewrite W; field; lra). field. lra.
Qed.

Theorem ldml_sound div X means q near far w_0 given p r b parts f m lo hi :
  check_ldml div X means q near far w_0 given p r b parts f m = Some (lo, hi) ->
  let cost := ldml_cost X means q near far w_0 in
  (forall A c, psd (features X) A -> threshold_of given c -> Q2R lo <= cost A c)%R /\
  psd (features X) (value_of m) /\ threshold_of given (Q2R b) /\ (cost (value_of m) (Q2R b) <= Q2R hi)%R.
Proof.
  unfold check_ldml. cbv zeta. set (z := over_kind means q near). set (z' := over_kind means q far).
  set (alone := count (rows X) * _ * _ * _). set (own := div alone _). set (n := size (rows X)).
  destruct (_ && _) eqn:Ok; [|discriminate].
  do 4 (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]).
  destruct (zipped _ _ _) as [l|] eqn:Zl; [|discriminate]. apply zipped_fst in Zl.
  rewrite !rev_append_rev, !app_nil_r, !rev_involutive in Zl. cbn [rev app map] in Zl. intros H.
  assert (E : forall A c, logistic_loss p (map fst l) c (D X A) = ldml_cost X means q near far w_0 A c).
  { intros A c. rewrite Zl. unfold logistic_loss. rewrite !total_app.
    assert (N1 := kind_loss div p q means true near c (D X A) Ok). assert (N2 := kind_loss div p q means false far c (D X A) K2).
    fold z in N1. fold z' in N2. unfold logistic_loss in N1, N2. rewrite N1, N2. clear N1 N2.
    unfold ldml_cost. cbv zeta. cbn [toward]. rewrite Rplus_assoc. f_equal. f_equal.
    - apply total_ext. intros s _. do 2 f_equal. ring.
    - transitivity (IZR own / IZR (Zpos p) * logistic (- c))%R.
      + destruct (Z.eqb_spec own 0) as [->|N]; [cbn [total fold_right]; unfold Rdiv; ring|].
        cbn [total fold_right toward]. rewrite D_self. replace (0 - c)%R with (- c)%R by ring. ring.
      + f_equal. apply andb_prop in Ok. destruct Ok as [Zp _]. apply Z.ltb_lt, IZR_lt in Zp. unfold z in *.
        assert (P := pos_IZR p). assert (W := pos_IZR (Qden w_0)). assert (Q := pos_IZR q).
        apply Z.eqb_eq, (f_equal IZR) in K1. unfold alone in K1.
        rewrite !mult_IZR, over_kind_sum, count_length, <- INR_IZR_INZ in K1. rewrite over_kind_sum in Zp.
        set (k := kind_sum means q near) in *. assert (k <> 0)%R by (intros C; rewrite C in Zp; lra).
        unfold Q2R. apply (Rmult_eq_reg_r (IZR (Zpos (Qden w_0)) * (k * IZR (Zpos q)))); [|nra].
        transitivity (IZR own * (IZR (Zpos (Qden w_0)) * (k * IZR (Zpos q))) / IZR (Zpos p))%R; [field; lra|].
        rewrite K1. field. lra. }
  apply check_logistic_sound in H. cbv zeta in H. destruct H as [Lo [Psd [Tb Hi]]]. rewrite E in Hi.
  split; [|auto]. intros A c HA Tc. rewrite <- E. auto.
Qed.

(** Every pair is of two points. *)
Theorem ldml_inside div X means q near far w_0 given p r b parts f m v :
  check_ldml div X means q near far w_0 given p r b parts f m = Some v ->
  all_inside X (map fst (near ++ far)) [] = true.
Proof.
  unfold check_ldml. cbv zeta. destruct (_ && _) eqn:Ok; [|discriminate]. intros _.
  do 4 (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]).
  unfold all_inside. cbn [forallb]. rewrite andb_true_r, map_app, forallb_app.
  assert (M : forall g l, forallb (fun s : pair * Z => g (fst s)) l = forallb g (map fst l)).
  { intros g l. induction l; simpl; [reflexivity|]. rewrite IHl. reflexivity. }
  rewrite !M in *. rewrite K0, K. reflexivity.
Qed.
