(** What the methods share: prices that name rows, and losses of a margin. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe *)

(** The numbers 0, 1, ... of the elements of a list *)
Definition indices {V : Type} (l : list V) : list N := map N.of_nat (seq 0 (length l)).

(** The loss of a margin v: Hinge c is c [1 - v]_+, Squared c is c [1 - v]_+^2; Smoothed g is (1 - v)^2 / (2 g) for v
    within 1 - g and 1, the straight line 1 - v - g / 2 before that, and 0 after it. *)
Inductive margin_loss := Hinge (c : Q) | Squared (c : Q) | Smoothed (g : Q).

Definition missed (v : R) : R := Rmax 0 (1 - v).

Definition phi (l : margin_loss) (v : R) : R :=
  match l with
  | Hinge c => Q2R c * missed v
  | Squared c => Q2R c * (missed v * missed v)
  | Smoothed g =>
      if Rle_dec (Q2R g) (1 - v) then 1 - v - Q2R g / 2 else missed v * missed v / (2 * Q2R g)
  end.

(** ** Lists without recursion on the stack *)

Definition count {V} (l : list V) : Z := fold_left (fun s _ => s + 1) l 0.

Lemma count_from {V} (l : list V) : forall s, fold_left (fun s _ => s + 1) l s = s + Z.of_nat (length l).
Proof. induction l as [|v l IH]; intros s; cbn [fold_left length]; [lia|]. rewrite IH. lia. Qed.

Lemma count_length {V} (l : list V) : count l = Z.of_nat (length l).
Proof. unfold count. rewrite count_from. lia. Qed.

(** How many, as an index: the numbers of the elements are less. *)
Definition size {V} (l : list V) : N := fold_left (fun s _ => N.succ s) l 0%N.

Lemma size_length {V} (l : list V) : size l = N.of_nat (length l).
Proof.
  unfold size. assert (E : forall s, fold_left (fun s (_ : V) => N.succ s) l s = (s + N.of_nat (length l))%N); [|apply E].
  induction l as [|v l IH]; intros s; cbn [fold_left length]; [lia|]. rewrite IH. lia.
Qed.

(** [indices], and the concatenation of g x over a list *)
Definition numbers {V} (l : list V) : list N :=
  rev_append (fst (fold_left (fun s _ => (snd s :: fst s, N.succ (snd s))) l ([], 0%N))) [].

Lemma numbers_from {V} (l : list V) : forall s k,
  rev_append (fst (fold_left (fun s _ => (snd s :: fst s, N.succ (snd s))) l (s, N.of_nat k))) []
  = rev_append s [] ++ map N.of_nat (seq k (length l)).
Proof.
  induction l as [|v l IH]; intros s k; cbn [fold_left fst snd length seq map].
  - rewrite app_nil_r. reflexivity.
  - rewrite <- Nat2N.inj_succ, IH. rewrite !rev_append_rev, !app_nil_r. simpl. rewrite <- app_assoc. reflexivity.
Qed.

Lemma numbers_indices {V} (l : list V) : numbers l = indices l.
Proof. exact (numbers_from l [] 0). Qed.

Definition gathered {S T} (g : S -> list T) (l : list S) : list T :=
  rev_append (fold_left (fun s x => rev_append (g x) s) l []) [].

Lemma gathered_from {S T} (g : S -> list T) l : forall s,
  rev_append (fold_left (fun s x => rev_append (g x) s) l s) [] = rev_append s [] ++ flat_map g l.
Proof.
  induction l as [|x l IH]; intros s; simpl; [rewrite app_nil_r; reflexivity|].
  rewrite IH. rewrite !rev_append_rev, !app_nil_r, rev_app_distr, rev_involutive, app_assoc. reflexivity.
Qed.

Lemma gathered_flat_map {S T} (g : S -> list T) l : gathered g l = flat_map g l.
Proof. exact (gathered_from g l []). Qed.

Definition kept {T} (f : T -> bool) (l : list T) : list T := gathered (fun t => if f t then [t] else []) l.

Lemma kept_filter {T} (f : T -> bool) l : kept f l = filter f l.
Proof.
  unfold kept. rewrite gathered_flat_map. induction l as [|t l IH]; simpl; [reflexivity|].
  rewrite IH. destruct (f t); reflexivity.
Qed.

(** ** Prices that name rows *)

(** What is priced is in the list, in its order. *)
Fixpoint within {K P} (same : K -> K -> bool) (key : P -> K) (prices : list P) (l : list K) : bool :=
  match l with
  | [] => match prices with [] => true | _ => false end
  | k :: l =>
      match prices with
      | [] => true
      | a :: rest => if same (key a) k then within same key rest l else within same key prices l
      end
  end.

Lemma within_total {K P} same (key : P -> K) (f : K -> R) : (forall a b, same a b = true -> a = b) ->
  forall l prices, (forall k, In k l -> 0 <= f k)%R -> within same key prices l = true ->
  (total (fun a => f (key a)) prices <= total f l)%R.
Proof.
  intros E. induction l as [|k l IH]; intros [|a prices] F H; simpl in *; try discriminate; try lra.
  - assert (0 <= f k)%R by auto. assert (G := total_pos f l (fun t Ht => F t (or_intror Ht))). unfold total in *. lra.
  - destruct (same (key a) k) eqn:S.
    + apply E in S. subst k. assert (G := IH prices (fun t Ht => F t (or_intror Ht)) H). unfold total in *. lra.
    + assert (0 <= f k)%R by auto. assert (G := IH (a :: prices) (fun t Ht => F t (or_intror Ht)) H).
      simpl in G. unfold total in *. lra.
Qed.

Lemma within_in {K P} same (key : P -> K) : (forall a b, same a b = true -> a = b) ->
  forall l prices, within same key prices l = true -> forall a, In a prices -> In (key a) l.
Proof.
  intros E. induction l as [|k l IH]; intros [|b prices] H a I; simpl in *; try discriminate; try contradiction.
  destruct (same (key b) k) eqn:S.
  - apply E in S. destruct I as [<-|I]; [left; auto|right; eapply IH; eauto].
  - right. eapply IH; eauto.
Qed.

Lemma forallb_in {T} f (l : list T) : forallb f l = true -> forall t, In t l -> f t = true.
Proof. intros H. apply forallb_forall. exact H. Qed.

(** ** The losses in integers: of a margin v in units of 1/u *)

Definition whole_missed (u : positive) (v : Z) : Z := Z.max 0 (Zpos u - v).

Definition loss_ok (l : margin_loss) : bool :=
  match l with Hinge c => Qle_bool 0 c | Squared c => 0 <? Qnum c | Smoothed g => 0 <? Qnum g end.

(** phi (v / u) is [loss_term] / [loss_over]. *)
Definition loss_term (l : margin_loss) (u : positive) (v : Z) : Z :=
  let m := whole_missed u v in
  match l with
  | Hinge c => Qnum c * m
  | Squared c => Qnum c * (m * m)
  | Smoothed g =>
      let a := Qnum g * Zpos u in let b := Zpos (Qden g) * m in
      if a <=? b then a * (2 * b - a) else b * b
  end.

Definition loss_over (l : margin_loss) (u : positive) : positive :=
  match l with
  | Hinge c => (Qden c * u)%positive
  | Squared c => (Qden c * (u * u))%positive
  | Smoothed g => (2 * (Z.to_pos (Qnum g) * (Qden g * (u * u))))%positive
  end.

(** A price a / p is allowed, and phi v >= price_term / price_over - (a / p) v. *)
Definition price_ok (l : margin_loss) (p : positive) (a : Z) : bool :=
  (0 <=? a) && match l with
               | Hinge c => a * Zpos (Qden c) <=? Qnum c * Zpos p
               | Squared _ => true
               | Smoothed _ => a <=? Zpos p
               end.

Definition price_term (l : margin_loss) (p : positive) (a : Z) : Z :=
  match l with
  | Hinge _ => a
  | Squared c => 4 * Qnum c * Zpos p * a - Zpos (Qden c) * (a * a)
  | Smoothed g => 2 * Zpos (Qden g) * Zpos p * a - Qnum g * (a * a)
  end.

Definition price_over (l : margin_loss) (p : positive) : positive :=
  match l with
  | Hinge _ => p
  | Squared c => (4 * (Z.to_pos (Qnum c) * (p * p)))%positive
  | Smoothed g => (2 * (Qden g * (p * p)))%positive
  end.

Lemma whole_missed_correct u v : (IZR (whole_missed u v) / IZR (Zpos u))%R = missed (IZR v / IZR (Zpos u)).
Proof.
  unfold whole_missed, missed. assert (U := pos_IZR u).
  replace (1 - IZR v / IZR (Zpos u))%R with (IZR (Zpos u - v) * / IZR (Zpos u))%R by (rewrite minus_IZR; field; lra).
  assert (I : (0 < / IZR (Zpos u))%R) by (apply Rinv_0_lt_compat; lra).
  destruct (Z.max_spec 0 (Zpos u - v)) as [[H E]|[H E]]; rewrite E.
  - apply IZR_lt in H. rewrite Rmax_right; [reflexivity|]. apply Rmult_le_pos; lra.
  - apply IZR_le in H. rewrite Rmax_left; [unfold Rdiv; ring|]. nra.
Qed.

Lemma loss_correct l u v : loss_ok l = true ->
  phi l (IZR v / IZR (Zpos u)) = (IZR (loss_term l u v) / IZR (Zpos (loss_over l u)))%R.
Proof.
  intros Ok. assert (U := pos_IZR u). assert (W := whole_missed_correct u v).
  destruct l as [c|c|g]; cbn [phi loss_term loss_over loss_ok] in *.
  - rewrite <- W. unfold Q2R. rewrite Pos2Z.inj_mul, !mult_IZR. assert (P := pos_IZR (Qden c)). field. lra.
  - rewrite <- W. unfold Q2R. rewrite !Pos2Z.inj_mul, !mult_IZR. assert (P := pos_IZR (Qden c)). field. lra.
  - apply Z.ltb_lt in Ok. assert (P := pos_IZR (Qden g)). assert (G := IZR_lt _ _ Ok).
    set (m := whole_missed u v) in *. set (gn := IZR (Qnum g)) in *. set (gd := IZR (Zpos (Qden g))) in *.
    set (w := IZR (Zpos u)) in *.
    assert (EG : Q2R g = (gn / gd)%R) by reflexivity.
    assert (Over : IZR (Zpos (2 * (Z.to_pos (Qnum g) * (Qden g * (u * u))))) = (2 * (gn * (gd * (w * w))))%R).
    { rewrite !Pos2Z.inj_mul, !mult_IZR, Z2Pos.id by auto. reflexivity. }
    rewrite Over. clear Over.
    assert (Test : (Q2R g <= 1 - IZR v / w)%R <-> Qnum g * Zpos u <= Zpos (Qden g) * m).
    { rewrite EG. split; intros H.
      - assert (M : missed (IZR v / w) = (1 - IZR v / w)%R).
        { unfold missed. apply Rmax_right. assert (0 < gn / gd)%R by (apply Rdiv_lt_0_compat; lra). lra. }
        rewrite M in W. apply le_IZR. rewrite !mult_IZR. fold gn gd w.
        rewrite <- W in H. apply (Rmult_le_compat_r (gd * w)) in H; [|nra].
        replace (gn / gd * (gd * w))%R with (gn * w)%R in H by (field; lra).
        replace (IZR m / w * (gd * w))%R with (gd * IZR m)%R in H by (field; lra). exact H.
      - apply IZR_le in H. rewrite !mult_IZR in H. fold gn gd w in H.
        assert (H' : (gn / gd <= IZR m / w)%R).
        { apply (Rmult_le_reg_r (gd * w)); [nra|].
          replace (gn / gd * (gd * w))%R with (gn * w)%R by (field; lra).
          replace (IZR m / w * (gd * w))%R with (gd * IZR m)%R by (field; lra). exact H. }
        rewrite W in H'. unfold missed in H'. assert (0 < gn / gd)%R by (apply Rdiv_lt_0_compat; lra).
        unfold Rmax in H'. destruct (Rle_dec 0 (1 - IZR v / w)); lra. }
    destruct (Rle_dec (Q2R g) (1 - IZR v / w)) as [H|H];
      destruct (Qnum g * Zpos u <=? Zpos (Qden g) * m) eqn:B.
    + assert (M : missed (IZR v / w) = (1 - IZR v / w)%R).
      { unfold missed. apply Rmax_right. rewrite EG in H. assert (0 < gn / gd)%R by (apply Rdiv_lt_0_compat; lra). lra. }
      rewrite M in W. rewrite <- W, EG. rewrite mult_IZR, minus_IZR, !mult_IZR. fold gn gd w. field. lra.
    + apply Z.leb_gt in B. apply Test in H. lia.
    + apply Z.leb_le in B. apply Test in B. contradiction.
    + rewrite <- W, EG. rewrite !mult_IZR. fold gd. field. lra.
Qed.

Lemma price_correct l p a : loss_ok l = true -> price_ok l p a = true -> forall v,
  (IZR (price_term l p a) / IZR (Zpos (price_over l p)) - IZR a / IZR (Zpos p) * v <= phi l v)%R.
Proof.
  intros Ok H v. assert (P := pos_IZR p). apply andb_prop in H. destruct H as [A H]. apply Z.leb_le in A.
  apply IZR_le in A. assert (M0 : (0 <= missed v)%R) by apply Rmax_l. assert (M1 : (1 - v <= missed v)%R) by apply Rmax_r.
  destruct l as [c|c|g]; cbn [phi price_term price_over loss_ok] in *.
  - apply Z.leb_le in H. apply IZR_le in H. rewrite !mult_IZR in H. assert (C := pos_IZR (Qden c)).
    assert (B : (IZR a / IZR (Zpos p) <= Q2R c)%R).
    { unfold Q2R. apply (Rmult_le_reg_r (IZR (Zpos p) * IZR (Zpos (Qden c)))); [nra|].
      replace (IZR a / IZR (Zpos p) * (IZR (Zpos p) * IZR (Zpos (Qden c))))%R
        with (IZR a * IZR (Zpos (Qden c)))%R by (field; lra).
      replace (IZR (Qnum c) * / IZR (Zpos (Qden c)) * (IZR (Zpos p) * IZR (Zpos (Qden c))))%R
        with (IZR (Qnum c) * IZR (Zpos p))%R by (field; lra). exact H. }
    assert (0 <= IZR a / IZR (Zpos p))%R by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
    nra.
  - apply Z.ltb_lt in Ok. assert (G := IZR_lt _ _ Ok). assert (C := pos_IZR (Qden c)).
    set (x := (IZR a / IZR (Zpos p))%R). set (s := Q2R c).
    assert (S : (0 < s)%R) by (unfold s, Q2R; apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]).
    assert (X : (0 <= x)%R) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
    replace (IZR (4 * Qnum c * Zpos p * a - Zpos (Qden c) * (a * a)) / IZR (Zpos (4 * (Z.to_pos (Qnum c) * (p * p)))))%R
      with (x - x * x / (4 * s))%R.
    + assert (0 <= s * ((missed v - x / (2 * s)) * (missed v - x / (2 * s))))%R
        by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]).
      replace (s * ((missed v - x / (2 * s)) * (missed v - x / (2 * s))))%R
        with (s * (missed v * missed v) - x * missed v + x * x / (4 * s))%R in * by (field; lra).
      assert (x * (1 - v) <= x * missed v)%R by (apply Rmult_le_compat_l; lra). lra.
    + rewrite !Pos2Z.inj_mul, !mult_IZR, minus_IZR, !mult_IZR, Z2Pos.id by auto. unfold x, s, Q2R. field. lra.
  - apply Z.ltb_lt in Ok. assert (G := IZR_lt _ _ Ok). assert (C := pos_IZR (Qden g)).
    apply Z.leb_le in H. apply IZR_le in H.
    set (x := (IZR a / IZR (Zpos p))%R). set (s := Q2R g).
    assert (S : (0 < s)%R) by (unfold s, Q2R; apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]).
    assert (X : (0 <= x)%R) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
    assert (X1 : (x <= 1)%R).
    { unfold x. apply (Rmult_le_reg_r (IZR (Zpos p))); [lra|].
      replace (IZR a / IZR (Zpos p) * IZR (Zpos p))%R with (IZR a) by (field; lra). lra. }
    replace (IZR (2 * Zpos (Qden g) * Zpos p * a - Qnum g * (a * a)) / IZR (Zpos (2 * (Qden g * (p * p)))))%R
      with (x - s / 2 * (x * x))%R.
    + destruct (Rle_dec s (1 - v)) as [L|L].
      * assert (0 <= (1 - x) * (1 - v - s))%R by (apply Rmult_le_pos; lra).
        assert (0 <= s * ((1 - x) * (1 - x)))%R by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]). lra.
      * assert (0 <= (missed v - s * x) * (missed v - s * x) / (2 * s))%R.
        { apply Rmult_le_pos; [apply Rle_0_sqr|]. left. apply Rinv_0_lt_compat. lra. }
        replace ((missed v - s * x) * (missed v - s * x) / (2 * s))%R
          with (missed v * missed v / (2 * s) - x * missed v + s / 2 * (x * x))%R in * by (field; lra).
        assert (x * (1 - v) <= x * missed v)%R by (apply Rmult_le_compat_l; lra). lra.
    + rewrite !Pos2Z.inj_mul, !mult_IZR, minus_IZR, !mult_IZR. unfold x, s, Q2R. field. lra.
Qed.

Lemma phi_pos l v : loss_ok l = true -> (0 <= phi l v)%R.
Proof.
  intros Ok. assert (M0 : (0 <= missed v)%R) by apply Rmax_l.
  assert (H := price_correct l 1 0 Ok). destruct l as [c|c|g]; cbn [phi loss_ok price_ok price_term price_over] in *.
  - apply Qle_bool_iff in Ok. apply Qle_Rle in Ok. replace (Q2R 0) with 0%R in Ok by (unfold Q2R; simpl; lra).
    apply Rmult_le_pos; auto.
  - specialize (H eq_refl v). unfold Rdiv in H. rewrite !Z.mul_0_r in H. simpl Z.sub in H. lra.
  - specialize (H eq_refl v). unfold Rdiv in H. rewrite !Z.mul_0_r in H. simpl Z.sub in H. lra.
Qed.
