(** The methods over triplets: LMNN and its squared hinge, FrobMetric, RTML. What the check accepts is proved. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods.
Import ListNotations.
Open Scope Z_scope.

(** ** Slacks: at the optimum they are what is missed *)

Lemma missed_least v s : (0 <= s)%R -> (v >= 1 - s)%R -> (missed v <= s)%R.
Proof. intros. apply Rmax_lub; lra. Qed.

Lemma missed_enough v : (0 <= missed v /\ v >= 1 - missed v)%R.
Proof. split; [apply Rmax_l|]. assert (1 - v <= missed v)%R by apply Rmax_r. lra. Qed.

(** ** LMNN *)

Definition check_lmnn div X (mu : Q) targets L p prices f m :=
  check_triplets div X 0 (1 - mu) targets (Hinge mu) L p prices f m.

Lemma Q2R_0 : Q2R 0 = 0%R.
Proof. unfold Q2R. simpl. lra. Qed.

Lemma Q2R_1 : Q2R 1 = 1%R.
Proof. unfold Q2R. simpl. lra. Qed.

Lemma loss_ok_of div X h c targets l L p prices f m r :
  check_triplets div X h c targets l L p prices f m = Some r -> loss_ok l = true.
Proof. unfold check_triplets. destruct (loss_ok l); simpl; congruence. Qed.

Theorem lmnn_sound div X mu targets L p prices f m lo hi :
  check_lmnn div X mu targets L p prices f m = Some (lo, hi) ->
  (forall A xi, triplets_feasible X L A xi -> Q2R lo <= lmnn_cost X targets L mu A xi)%R /\
  exists xi, triplets_feasible X L (value_of m) xi /\ lmnn_cost X targets L mu (value_of m) xi = Q2R hi.
Proof.
  unfold check_lmnn. intros H. assert (Ok := loss_ok_of _ _ _ _ _ _ _ _ _ _ _ _ H).
  simpl in Ok. apply Qle_bool_iff in Ok. apply Qle_Rle in Ok. rewrite Q2R_0 in Ok.
  apply triplets_sound in H. destruct H as [Lo [Psd Hi]].
  unfold triplet_loss, lmnn_cost in *. rewrite Q2R_minus, Q2R_1, Q2R_0 in *. split.
  - intros A xi [HA F]. specialize (Lo A HA). cbn [phi] in Lo. rewrite total_times in Lo.
    assert (total (fun t => missed (margin (D X A) t)) L <= total xi L)%R.
    { apply total_le. intros t Ht. destruct (F t Ht). apply missed_least; auto. }
    nra.
  - exists (fun t => missed (margin (D X (value_of m)) t)). split.
    + split; [auto|]. intros. apply missed_enough.
    + cbn [phi] in Hi. rewrite total_times in Hi. lra.
Qed.

Definition check_lmnn_squared div X (mu : Q) targets L p prices f m :=
  check_triplets div X 0 (1 - mu) targets (Squared mu) L p prices f m.

Theorem lmnn_squared_sound div X mu targets L p prices f m lo hi :
  check_lmnn_squared div X mu targets L p prices f m = Some (lo, hi) ->
  (forall A xi, triplets_feasible X L A xi -> Q2R lo <= lmnn_squared_cost X targets L mu A xi)%R /\
  exists xi, triplets_feasible X L (value_of m) xi /\ lmnn_squared_cost X targets L mu (value_of m) xi = Q2R hi.
Proof.
  unfold check_lmnn_squared. intros H. assert (Ok := loss_ok_of _ _ _ _ _ _ _ _ _ _ _ _ H).
  simpl in Ok. apply Z.ltb_lt in Ok. apply IZR_lt in Ok.
  assert (Mu : (0 < Q2R mu)%R) by (apply Rmult_lt_0_compat; [auto|apply Rinv_0_lt_compat, pos_IZR]).
  apply triplets_sound in H. destruct H as [Lo [Psd Hi]].
  unfold triplet_loss, lmnn_squared_cost, lmnn_cost in *. rewrite Q2R_minus, Q2R_1, Q2R_0 in *. split.
  - intros A xi [HA F]. specialize (Lo A HA). cbn [phi] in Lo. rewrite total_times in Lo.
    assert (total (fun t => missed (margin (D X A) t) * missed (margin (D X A) t)) L <= total (fun t => xi t * xi t) L)%R.
    { apply total_le. intros t Ht. destruct (F t Ht). apply Rmult_le_compat; try apply Rmax_l; apply missed_least; auto. }
    nra.
  - exists (fun t => missed (margin (D X (value_of m)) t)). split.
    + split; [auto|]. intros. apply missed_enough.
    + cbn [phi] in Hi. rewrite total_times in Hi. lra.
Qed.

(** ** FrobMetric *)

Definition check_frobmetric div X (C : Q) (L : list triplet) p prices f m :=
  let n := count L in
  if 0 <? n then check_triplets div X (1 # 2) 0 [] (Hinge (C * (1 # Z.to_pos n))) L p prices f m else None.

Lemma count_INR {V} (l : list V) : IZR (count l) = INR (length l).
Proof. rewrite count_length. symmetry. apply INR_IZR_INZ. Qed.

Lemma Q2R_one_of n : 0 < n -> Q2R (1 # Z.to_pos n) = (1 / IZR n)%R.
Proof. intros. rewrite Q2R_make, Z2Pos.id by auto. reflexivity. Qed.

Theorem frobmetric_sound div X C L p prices f m lo hi :
  check_frobmetric div X C L p prices f m = Some (lo, hi) ->
  (forall A xi, triplets_feasible X L A xi -> Q2R lo <= frobmetric_cost X L C A xi)%R /\
  exists xi, triplets_feasible X L (value_of m) xi /\ frobmetric_cost X L C (value_of m) xi = Q2R hi.
Proof.
  unfold check_frobmetric. destruct (0 <? count L) eqn:N0; [|discriminate]. apply Z.ltb_lt in N0. intros H.
  assert (Ok := loss_ok_of _ _ _ _ _ _ _ _ _ _ _ _ H).
  cbn [loss_ok] in Ok. apply Qle_bool_iff in Ok. apply Qle_Rle in Ok. rewrite Q2R_0, Q2R_mult, Q2R_one_of in Ok by auto.
  apply triplets_sound in H. destruct H as [Lo [Psd Hi]].
  assert (Half : Q2R (1 # 2) = (1 / 2)%R) by (unfold Q2R; simpl; lra).
  unfold triplet_loss, frobmetric_cost in *. rewrite <- count_INR, Half, Q2R_0 in *. split.
  - intros A xi [HA F]. specialize (Lo A HA). cbn [phi] in Lo. rewrite total_times, Q2R_mult, Q2R_one_of in Lo by auto.
    assert (total (fun t => missed (margin (D X A) t)) L <= total xi L)%R.
    { apply total_le. intros t Ht. destruct (F t Ht). apply missed_least; auto. }
    replace (Q2R C / IZR (count L))%R with (Q2R C * (1 / IZR (count L)))%R by (unfold Rdiv; ring).
    apply (Rmult_le_compat_l _ _ _ Ok) in H. simpl total in Lo at 1. lra.
  - exists (fun t => missed (margin (D X (value_of m)) t)). split.
    + split; [auto|]. intros. apply missed_enough.
    + cbn [phi] in Hi. rewrite total_times, Q2R_mult, Q2R_one_of in Hi by auto. simpl total in Hi at 1.
      unfold Rdiv in *. lra.
Qed.

(** ** RTML *)

Definition check_rtml div X (lam width : Q) (L : list triplet) p prices f m :=
  check_triplets div X (lam * (1 # 2)) 0 [] (rtml_loss width) L p prices f m.

Theorem rtml_sound div X lam width L p prices f m lo hi :
  check_rtml div X lam width L p prices f m = Some (lo, hi) ->
  (forall A, psd (features X) A -> Q2R lo <= rtml_cost X L lam width A)%R /\
  psd (features X) (value_of m) /\ rtml_cost X L lam width (value_of m) = Q2R hi.
Proof.
  unfold check_rtml. intros H. apply triplets_sound in H. destruct H as [Lo [Psd Hi]].
  assert (Half : Q2R (lam * (1 # 2)) = (Q2R lam / 2)%R) by (rewrite Q2R_mult; unfold Q2R at 2; simpl; lra).
  unfold triplet_loss, rtml_cost in *. rewrite Half, Q2R_0 in *. split; [|split; [auto|]].
  - intros A HA. specialize (Lo A HA). simpl total in Lo at 1. lra.
  - simpl total in Hi at 1. lra.
Qed.

(** ** Lists of triplets, made without recursion on the stack *)

Definition made_targets (T : list (list N)) : list pair :=
  let t := table T in gathered (fun i => map (fun j => (i, j)) (look [] t i)) (numbers T).

Definition made_triplets (y : list Z) (T : list (list N)) : list triplet :=
  let t := table y in
  let all := numbers y in
  gathered (fun s : pair => let c := look 0 t (fst s) in
    gathered (fun l => if look 0 t l =? c then [] else [(s, l)]) all) (made_targets T).

Lemma flat_map_ext' {S V} (f g : S -> list V) l : (forall s, f s = g s) -> flat_map f l = flat_map g l.
Proof. intros E. induction l; simpl; [reflexivity|]. rewrite E, IHl. reflexivity. Qed.

Lemma made_targets_correct T : made_targets T = targets_by_lists T.
Proof.
  unfold made_targets, targets_by_lists. rewrite gathered_flat_map, numbers_indices. apply flat_map_ext'.
  intros. rewrite look_table. reflexivity.
Qed.

Lemma made_triplets_correct y T : made_triplets y T = triplets_by_labels y T.
Proof.
  unfold made_triplets, triplets_by_labels. rewrite gathered_flat_map, made_targets_correct, numbers_indices.
  apply flat_map_ext'. intros s. rewrite gathered_flat_map. unfold class.
  induction (indices y) as [|l all IH]; simpl; [reflexivity|]. rewrite IH, !look_table.
  destruct (at_ 0 y l =? at_ 0 y (fst s)); reflexivity.
Qed.

(** Triplets in order, none twice: then their targets are those that differ from the one before. *)
Definition before_pair (s t : pair) : bool :=
  let '(a, b) := s in let '(i, j) := t in (a <? i)%N || ((a =? i)%N && (b <? j)%N).

Definition starts (L : list triplet) : list pair :=
  fold_left (fun (P : list pair) (t : triplet) =>
    match P with s :: _ => if (fst s =? fst (fst t))%N && (snd s =? snd (fst t))%N then P else fst t :: P
               | [] => [fst t] end) L [].

(** Each is after the next of the list. *)
Fixpoint falling (P : list pair) : bool :=
  match P with
  | [] => true
  | s :: rest => match rest with [] => true | r :: _ => before_pair r s && falling rest end
  end.

Lemma before_pair_trans a b c : before_pair a b = true -> before_pair b c = true -> before_pair a c = true.
Proof.
  destruct a, b, c. unfold before_pair. intros H K.
  apply orb_true_iff in H, K. apply orb_true_iff. rewrite !andb_true_iff, !N.ltb_lt, !N.eqb_eq in *. lia.
Qed.

Lemma falling_nodup P : falling P = true -> NoDup P.
Proof.
  assert (B : forall P s, falling (s :: P) = true -> forall r, In r P -> before_pair r s = true).
  { clear P. induction P as [|q P IH]; intros s H r I; [contradiction|].
    cbn [falling] in H. apply andb_prop in H. destruct H as [H K].
    destruct I as [<-|I]; [auto|]. apply (before_pair_trans r q s); auto. }
  induction P as [|s P IH]; intros H; [constructor|]. constructor.
  - intros I. specialize (B P s H s I). destruct s. unfold before_pair in B.
    apply orb_true_iff in B. rewrite andb_true_iff, !N.ltb_lt, N.eqb_eq in B. lia.
  - apply IH. destruct P as [|r P]; [reflexivity|]. cbn [falling] in H. apply andb_prop in H. apply H.
Qed.

Lemma starts_in L : forall s, In s (starts L) <-> exists l, In (s, l) L.
Proof.
  unfold starts.
  assert (E : forall P s, In s (fold_left (fun (P : list pair) (t : triplet) =>
      match P with s :: _ => if (fst s =? fst (fst t))%N && (snd s =? snd (fst t))%N then P else fst t :: P
                 | [] => [fst t] end) L P) <-> In s P \/ exists l, In (s, l) L).
  { induction L as [|[s l] L IH]; intros P r; simpl.
    - split; [auto|intros [H|[l H]]; [auto|contradiction]].
    - rewrite IH. clear IH. destruct P as [|q P].
      + simpl. split.
        * intros [[<-|[]]|[k H]]; right; [exists l; auto|exists k; auto].
        * intros [[]|[k [E|H]]]; [inversion E; subst; left; left; auto|right; exists k; auto].
      + destruct ((fst q =? fst s)%N && (snd q =? snd s)%N) eqn:E.
        * apply andb_prop in E. destruct E as [A B]. apply N.eqb_eq in A, B.
          assert (q = s) by (destruct q, s; simpl in *; congruence). subst q. split.
          -- intros [H|[k H]]; [left; auto|right; exists k; auto].
          -- intros [H|[k [F|H]]]; [left; auto|inversion F; subst; left; left; auto|right; exists k; auto].
        * split.
          -- intros [[<-|H]|[k H]]; [right; exists l; auto|left; auto|right; exists k; auto].
          -- intros [H|[k [F|H]]]; [left; right; auto|inversion F; subst; left; left; auto|right; exists k; auto]. }
  intros s. rewrite E. simpl. split; [intros [[]|H]; auto|auto].
Qed.

Definition targets_in_order (L : list triplet) : option (list pair) :=
  let P := starts L in if falling P then Some P else None.

Theorem targets_in_order_correct L targets : targets_in_order L = Some targets -> targets_of_triplets targets L.
Proof.
  unfold targets_in_order. destruct (falling (starts L)) eqn:F; [|discriminate]. intros H. inversion H; subst.
  split; [apply falling_nodup; auto|apply starts_in].
Qed.

(** LMNN as its two inputs state it *)
Definition check_lmnn_labels div X (squared : bool) mu y T p prices f m :=
  let check := if squared then check_lmnn_squared else check_lmnn in
  if (count y =? count (rows X)) && (count T =? count (rows X)) then
    check div X mu (made_targets T) (made_triplets y T) p prices f m
  else None.

Definition check_lmnn_triplets div X (squared : bool) mu L p prices f m :=
  match targets_in_order L with
  | None => None
  | Some targets => (if squared then check_lmnn_squared else check_lmnn) div X mu targets L p prices f m
  end.

Definition lmnn_problem (squared : bool) := if squared then lmnn_squared_cost else lmnn_cost.

Theorem lmnn_labels_sound div X squared mu y T p prices f m lo hi :
  check_lmnn_labels div X squared mu y T p prices f m = Some (lo, hi) ->
  let cost := lmnn_problem squared X (targets_by_lists T) (triplets_by_labels y T) mu in
  (forall A xi, triplets_feasible X (triplets_by_labels y T) A xi -> Q2R lo <= cost A xi)%R /\
  exists xi, triplets_feasible X (triplets_by_labels y T) (value_of m) xi /\ cost (value_of m) xi = Q2R hi.
Proof.
  unfold check_lmnn_labels. rewrite made_targets_correct, made_triplets_correct.
  destruct (_ && _); [|discriminate].
  destruct squared; intros H; [eapply lmnn_squared_sound|eapply lmnn_sound]; exact H.
Qed.

Theorem lmnn_triplets_sound div X squared mu L p prices f m lo hi :
  check_lmnn_triplets div X squared mu L p prices f m = Some (lo, hi) ->
  exists targets, targets_of_triplets targets L /\
  let cost := lmnn_problem squared X targets L mu in
  (forall A xi, triplets_feasible X L A xi -> Q2R lo <= cost A xi)%R /\
  exists xi, triplets_feasible X L (value_of m) xi /\ cost (value_of m) xi = Q2R hi.
Proof.
  unfold check_lmnn_triplets. destruct (targets_in_order L) as [targets|] eqn:E; [|discriminate].
  intros H. exists targets. split; [apply targets_in_order_correct; auto|].
  destruct squared; [eapply lmnn_squared_sound|eapply lmnn_sound]; exact H.
Qed.
