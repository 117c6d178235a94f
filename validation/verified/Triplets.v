(** Problems over triplets (i, j, l):  h ||A||^2 + c sum_targets D_A(i, j) + sum_triplets phi(D_A(i, l) - D_A(i, j)). *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe *)

Definition pair : Type := N * N.
Definition triplet : Type := N * N * N.

(** D_A(i, l) - D_A(i, j) *)
Definition margin (D : N -> N -> R) (t : triplet) : R := let '(i, j, l) := t in (D i l - D i j)%R.

Definition triplet_loss (c : Q) (targets : list pair) (l : margin_loss) (L : list triplet) (D : N -> N -> R) : R :=
  (Q2R c * total (fun s => D (fst s) (snd s)) targets + total (fun t => phi l (margin D t)) L)%R.

(** ** The check *)

Definition same_triplet (s t : triplet) : bool :=
  let '(a, b, c) := s in let '(i, j, l) := t in (a =? i)%N && (b =? j)%N && (c =? l)%N.

Lemma same_triplet_correct s t : same_triplet s t = true -> s = t.
Proof.
  destruct s as [[a b] c], t as [[i j] l]. simpl. intros H.
  apply andb_prop in H. destruct H as [H C]. apply andb_prop in H. destruct H as [A B].
  apply N.eqb_eq in A, B, C. congruence.
Qed.

(** Every index names a point. *)
Definition pair_inside (n : N) (s : pair) : bool := (fst s <? n)%N && (snd s <? n)%N.
Definition triplet_inside (n : N) (t : triplet) : bool := pair_inside n (fst t) && (snd t <? n)%N.
Definition all_inside (X : points) (targets : list pair) (L : list triplet) : bool :=
  let n := size (rows X) in forallb (pair_inside n) targets && forallb (triplet_inside n) L.

Lemma all_inside_pair X targets L s : all_inside X targets L = true -> In s targets ->
  (N.to_nat (fst s) < length (rows X))%nat /\ (N.to_nat (snd s) < length (rows X))%nat.
Proof.
  intros H I. apply andb_prop in H. destruct H as [H _]. assert (K := forallb_in _ _ H s I).
  apply andb_prop in K. rewrite !N.ltb_lt, size_length in K. lia.
Qed.

Lemma all_inside_triplet X targets L i j l : all_inside X targets L = true -> In (i, j, l) L ->
  (N.to_nat i < length (rows X))%nat /\ (N.to_nat j < length (rows X))%nat /\ (N.to_nat l < length (rows X))%nat.
Proof.
  intros H I. apply andb_prop in H. destruct H as [_ H]. assert (K := forallb_in _ _ H _ I).
  apply andb_prop in K. destruct K as [A B]. apply andb_prop in A. cbn [fst snd] in *.
  rewrite !N.ltb_lt, size_length in *. lia.
Qed.

(** The weights of the distances, over p times the denominator of c. *)
Definition weights_of_targets (c : Q) (p : positive) (targets : list pair) (P : list weighted) : list weighted :=
  fold_left (fun P s => {| weight := Qnum c * Zpos p; one := fst s; other := snd s |} :: P) targets P.

Definition weights_of_prices (c : Q) (prices : list (triplet * Z)) : list weighted :=
  fold_left (fun P (s : triplet * Z) =>
    let '(i, j, l, a) := s in
    let w := Zpos (Qden c) * a in
    {| weight := - w; one := i; other := l |} :: {| weight := w; one := i; other := j |} :: P) prices [].

Definition triplet_value (c : Q) (targets : list pair) (l : margin_loss) (L : list triplet)
    (whole : N -> N -> Z) (unit : positive) : option Q :=
  let pull := summed (fun s : pair => whole (fst s) (snd s)) targets in
  let push := summed (fun t : triplet => let '(i, j, k) := t in loss_term l unit (whole i k - whole i j)) L in
  Some (c * (pull # unit) + (push # loss_over l unit))%Q.

Definition check_triplets (div : Z -> Z -> Z) (X : points) (h c : Q) (targets : list pair) (l : margin_loss)
    (L : list triplet) (p : positive) (prices : list (triplet * Z)) (f : factor) (m : metric) : option (Q * Q) :=
  if loss_ok l && within same_triplet fst prices L && forallb (fun s => price_ok l p (snd s)) prices
     && all_inside X targets L then
    let k := (summed (fun s => price_term l p (snd s)) prices # price_over l p)%Q in
    let P := weights_of_targets c p targets (weights_of_prices c prices) in
    check div X h k P (p * Qden c) f m (triplet_value c targets l L)
  else None.

Lemma total_targets c p (v : weighted -> R) targets : forall P,
  total v (weights_of_targets c p targets P)
  = (total (fun s => v {| weight := Qnum c * Zpos p; one := fst s; other := snd s |}) targets + total v P)%R.
Proof.
  unfold weights_of_targets. induction targets as [|s targets IH]; intros P; simpl; [ring|].
  rewrite IH. simpl. unfold total. ring.
Qed.

Lemma total_prices c (D : N -> N -> R) q prices : (0 < q)%R ->
  total (fun w => IZR (weight w) / q * D (one w) (other w))%R (weights_of_prices c prices)
  = (- total (fun s => IZR (Zpos (Qden c)) * IZR (snd s) / q * margin D (fst s))%R prices)%R.
Proof.
  intros Hq. unfold weights_of_prices.
  assert (E : forall P, total (fun w => IZR (weight w) / q * D (one w) (other w))%R
    (fold_left (fun P (s : triplet * Z) => let '(i, j, l, a) := s in let w := Zpos (Qden c) * a in
       {| weight := - w; one := i; other := l |} :: {| weight := w; one := i; other := j |} :: P) prices P)
    = (- total (fun s => IZR (Zpos (Qden c)) * IZR (snd s) / q * margin D (fst s)) prices
       + total (fun w => IZR (weight w) / q * D (one w) (other w)) P)%R).
  { induction prices as [|[[[i j] l] a] prices IH]; intros P.
    - simpl. ring.
    - cbn [fold_left]. rewrite IH. unfold total. cbn [fold_right weight one other fst snd margin].
      rewrite opp_IZR, mult_IZR. field. lra. }
  rewrite E. simpl. ring.
Qed.

(** The affine function of the prices is below the loss. *)
Lemma triplets_below c targets l L p prices (D : N -> N -> R) :
  loss_ok l = true -> within same_triplet fst prices L = true ->
  forallb (fun s => price_ok l p (snd s)) prices = true ->
  (Q2R (summed (fun s => price_term l p (snd s)) prices # price_over l p)
   + total (fun w => IZR (weight w) / IZR (Zpos (p * Qden c)) * D (one w) (other w))
       (weights_of_targets c p targets (weights_of_prices c prices))
   <= triplet_loss c targets l L D)%R.
Proof.
  intros Ok W A. assert (Pp := pos_IZR p). assert (Pc := pos_IZR (Qden c)).
  rewrite total_targets, total_prices by (apply pos_IZR). unfold triplet_loss.
  rewrite Q2R_make, summed_correct.
  assert (T : (total (fun s => IZR (price_term l p (snd s)) / IZR (Zpos (price_over l p))
     - IZR (snd s) / IZR (Zpos p) * margin D (fst s)) prices <= total (fun t => phi l (margin D t)) L)%R).
  { apply Rle_trans with (total (fun s => phi l (margin D (fst s))) prices).
    - apply total_le. intros s Hs. apply price_correct; auto. apply (forallb_in _ _ A s Hs).
    - apply (within_total same_triplet fst (fun t => phi l (margin D t)) same_triplet_correct); auto.
      intros. apply phi_pos. auto. }
  rewrite (total_ext _ (fun s => / IZR (Zpos (price_over l p)) * IZR (price_term l p (snd s))
     + -1 * (IZR (snd s) / IZR (Zpos p) * margin D (fst s)))%R) in T by (intros; unfold Rdiv; ring).
  rewrite total_plus, !total_times in T.
  rewrite (total_ext (fun s => IZR (Zpos (Qden c)) * IZR (snd s) / IZR (Zpos (p * Qden c)) * margin D (fst s))%R
    (fun s => IZR (snd s) / IZR (Zpos p) * margin D (fst s))%R)
    by (intros; rewrite Pos2Z.inj_mul, mult_IZR; field; lra).
  rewrite (total_ext (fun s : pair => IZR (Qnum c * Zpos p) / IZR (Zpos (p * Qden c)) * D (fst s) (snd s))%R
    (fun s => Q2R c * D (fst s) (snd s))%R)
    by (intros; rewrite Pos2Z.inj_mul, !mult_IZR; unfold Q2R; field; lra).
  rewrite total_times. unfold Rdiv at 1. rewrite (Rmult_comm (total _ prices)). unfold pair, triplet in *. lra.
Qed.

Lemma triplet_value_correct c targets l L (D : N -> N -> R) whole unit v : loss_ok l = true ->
  (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R ->
  triplet_value c targets l L whole unit = Some v -> triplet_loss c targets l L D = Q2R v.
Proof.
  intros Ok E V. unfold triplet_value in V. inversion V; subst; clear V.
  rewrite Q2R_plus, Q2R_mult, !Q2R_make, !summed_correct. unfold triplet_loss. assert (U := pos_IZR unit).
  f_equal.
  + f_equal. unfold Rdiv. rewrite Rmult_comm, <- total_times. apply total_ext. intros. rewrite <- E. unfold Rdiv. ring.
  + unfold Rdiv. rewrite Rmult_comm, <- total_times. apply total_ext. intros [[i j] k] _. unfold margin.
    rewrite Rmult_comm. change (?a * / ?b)%R with (a / b)%R. rewrite <- loss_correct by auto. f_equal.
    rewrite <- !E, minus_IZR. field. lra.
Qed.

Theorem triplets_sound div X h c targets l L p prices f m lo hi :
  check_triplets div X h c targets l L p prices f m = Some (lo, hi) ->
  (forall A, psd (features X) A ->
     Q2R lo <= Q2R h * norm2 (features X) A + triplet_loss c targets l L (D X A))%R /\
  psd (features X) (value_of m) /\
  (Q2R h * norm2 (features X) (value_of m) + triplet_loss c targets l L (D X (value_of m)) = Q2R hi)%R.
Proof.
  unfold check_triplets. intros H.
  destruct (loss_ok l) eqn:Ok; simpl in H; [|discriminate].
  destruct (within same_triplet fst prices L) eqn:W; simpl in H; [|discriminate].
  destruct (forallb (fun s => price_ok l p (snd s)) prices) eqn:A; simpl in H; [|discriminate].
  destruct (all_inside X targets L); [|discriminate].
  apply check_sound with (loss := triplet_loss c targets l L) (allowed := fun _ => True) in H.
  - destruct H as [Lo [Psd [_ Hi]]]. split; [|split]; auto.
  - intros D _ _. apply triplets_below; auto.
  - intros D whole unit v E V. split; [|exact I]. apply (triplet_value_correct c targets l L D whole unit); auto.
Qed.

(** A triplet or a target with an index beyond the points is refused. *)
Theorem triplets_inside div X h c targets l L p prices f m r :
  check_triplets div X h c targets l L p prices f m = Some r -> all_inside X targets L = true.
Proof.
  unfold check_triplets. destruct (all_inside X targets L); [auto|]. rewrite andb_false_r. discriminate.
Qed.
