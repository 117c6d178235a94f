(** Exact inference of gerrymandering (Trivedi, McAllester and Shakhnarovich 2014, section 5), for any real distances.

    A vote has k neighbours. The theorem: for each class and each number of its votes, the best set consists of the
    nearest points. So both inferences of the paper need only try every class and every number of votes. *)

Require Import Reals Lra Lia List Arith ZArith Bool Permutation.
From Verified Require Import Bound.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe *)

(** h is a set of k points of the list L, in any order. *)
Definition is_set (L : list N) (k : nat) (h : list N) : Prop := NoDup h /\ incl h L /\ length h = k.

(** #c, the votes for class c in h *)
Definition votes (cls : N -> Z) (h : list N) (c : Z) : nat := length (filter (fun j => cls j =? c) h).

(** H_r(tau): class r has a vote, and each other class has at least tau fewer. tau = 1: r wins; tau = 0: r may tie. *)
Definition in_H (cls : N -> Z) (r : Z) (tau : nat) (h : list N) : Prop :=
  (1 <= votes cls h r)%nat /\ forall c, c <> r -> (votes cls h c + tau <= votes cls h r)%nat.

(** L lists points by distance d, nearest first. *)
Inductive ascending (d : N -> R) : list N -> Prop :=
  | no_point : ascending d []
  | nearest_first : forall j L, (forall l, In l L -> (d j <= d l)%R) -> ascending d L -> ascending d (j :: L).

(** Take the first q points of L whose class has room left. *)
Fixpoint scan (cls : N -> Z) (room : Z -> nat) (q : nat) (L : list N) {struct L} : list N :=
  match L, q with
  | j :: L', S q' =>
      match room (cls j) with
      | O => scan cls room q L'
      | S less => j :: scan cls (fun c => if c =? cls j then less else room c) q' L'
      end
  | _, _ => []
  end.

(** The m nearest points of r, and the nearest k - m others with at most m - tau of a class *)
Definition targeted (cls : N -> Z) (r : Z) (tau k m : nat) (L : list N) : list N :=
  scan cls (fun c => if c =? r then m else O) m L
  ++ scan cls (fun c => if c =? r then O else (m - tau)%nat) (k - m) L.

(** The task loss of a set: the largest loss of a class with the most votes *)
Definition is_Delta (cls : N -> Z) (Lam : Z -> R) (h : list N) (delta : R) : Prop :=
  (exists r, in_H cls r 0 h /\ Lam r = delta) /\ forall r, in_H cls r 0 h -> (Lam r <= delta)%R.

(** ** Votes and costs do not depend on the order of a set *)

Lemma total_perm (f : N -> R) g h : Permutation g h -> total f g = total f h.
Proof. induction 1; simpl; lra. Qed.

Lemma votes_cons cls j h c : votes cls (j :: h) c = ((if (cls j =? c)%Z then 1 else 0) + votes cls h c)%nat.
Proof. unfold votes. simpl. destruct (cls j =? c); reflexivity. Qed.

Lemma votes_app cls g h c : votes cls (g ++ h) c = (votes cls g c + votes cls h c)%nat.
Proof. unfold votes. rewrite filter_app, app_length. reflexivity. Qed.

Lemma votes_perm cls g h c : Permutation g h -> votes cls g c = votes cls h c.
Proof. induction 1; rewrite ?votes_cons; lia. Qed.

Lemma votes_some cls h c : (1 <= votes cls h c)%nat -> exists j, In j h /\ cls j = c.
Proof.
  induction h as [|j h IH]; [unfold votes; simpl; lia|]. rewrite votes_cons. intros V.
  destruct (Z.eqb_spec (cls j) c) as [E|E]; [exists j; split; [left|]; auto|].
  destruct IH as [z [I C]]; [lia|]. exists z. split; [right|]; auto.
Qed.

Lemma votes_in cls h j : In j h -> (1 <= votes cls h (cls j))%nat.
Proof.
  induction h as [|z h IH]; intros I; [destruct I|]. rewrite votes_cons.
  destruct I as [->|I]; [rewrite Z.eqb_refl; lia|]. specialize (IH I). lia.
Qed.

Lemma in_H_perm cls r tau g h : Permutation g h -> in_H cls r tau g -> in_H cls r tau h.
Proof. intros P [One Fewer]. split; intros; rewrite <- !(votes_perm cls _ _ _ P); auto. Qed.

(** A set splits into one of its points and the rest. *)
Lemma take_out (j : N) (h : list N) : NoDup h -> In j h -> exists g, Permutation h (j :: g) /\ NoDup (j :: g).
Proof.
  intros D I. apply in_split in I. destruct I as [a [b ->]]. exists (a ++ b).
  assert (P : Permutation (a ++ j :: b) (j :: a ++ b)) by (symmetry; apply Permutation_middle).
  split; auto. apply (Permutation_NoDup P D).
Qed.

(** ** The scan is best: an exchange argument *)

(** The scan costs no more than any other choice that keeps the same room. It takes x if there is room for x. A choice
    without x can exchange a point for x: one of the class of x if it has one, and any point otherwise. *)
Lemma scan_best cls d L : ascending d L -> forall room q h, is_set L q h ->
  (forall c, (votes cls h c <= room c)%nat) ->
  (total d (scan cls room q L) <= total d h)%R /\ length (scan cls room q L) = q.
Proof.
  induction 1 as [|x L Near _ IH]; intros room q h [D [I Len]] Room.
  - destruct h as [|j h]; [|destruct (I j (or_introl eq_refl))]. simpl in *. subst q. split; [lra|reflexivity].
  - destruct q as [|q].
    { destruct h; [|discriminate]. simpl. split; [lra|reflexivity]. }
    cbn [scan]. destruct (room (cls x)) as [|less] eqn:E.
    + apply IH; auto. split; [auto|]. split; [|auto]. intros j J. destruct (I j J) as [<-|]; auto. exfalso.
      destruct (take_out x h D J) as [g [P _]]. specialize (Room (cls x)).
      rewrite (votes_perm cls _ _ _ P), votes_cons, Z.eqb_refl in Room. lia.
    + assert (Exchange : exists z, In z h /\ (d x <= d z)%R /\ (z = x \/ ~ In x h)
        /\ (cls z = cls x \/ votes cls h (cls x) = 0%nat)).
      { destruct (in_dec N.eq_dec x h) as [X|X]; [exists x; repeat split; auto; lra|].
        assert (K : exists z, In z h /\ (cls z = cls x \/ votes cls h (cls x) = 0%nat)).
        { destruct (Nat.eq_dec (votes cls h (cls x)) 0) as [V|V].
          - destruct h as [|z h]; [discriminate|]. exists z. split; [left|]; auto.
          - destruct (votes_some cls h (cls x)) as [z [Z C]]; [lia|]. exists z. auto. }
        destruct K as [z [Z K]]. exists z. repeat split; auto. apply Near.
        destruct (I z Z) as [<-|]; [contradiction|auto]. }
      destruct Exchange as [z [Z [Cheap [One Same]]]]. destruct (take_out z h D Z) as [g [P Dz]].
      inversion Dz as [|z' g' Zg Dg]; subst z' g'.
      destruct (IH (fun c => if c =? cls x then less else room c) q g) as [Cost Length].
      * split; [auto|]. split; [|apply Permutation_length in P; simpl in P; lia].
        intros j J. assert (H : In j h) by (apply (Permutation_in _ (Permutation_sym P)); right; auto).
        destruct (I j H) as [<-|]; auto. destruct One as [->|]; contradiction.
      * intros c. specialize (Room c). rewrite (votes_perm cls _ _ c P), votes_cons in Room.
        destruct (Z.eqb_spec c (cls x)) as [->|N].
        -- destruct Same as [S|S]; [rewrite S, Z.eqb_refl in Room; lia|].
           rewrite (votes_perm cls _ _ _ P), votes_cons in S. lia.
        -- destruct (cls z =? c); lia.
      * cbn [total fold_right length]. rewrite (total_perm d _ _ P). unfold total in *. simpl. split; [lra|auto].
Qed.

(** The scan takes points of the list, none twice, and keeps the room. *)
Lemma scan_incl cls L : forall room q, incl (scan cls room q L) L.
Proof.
  induction L as [|x L IH]; intros room [|q]; cbn [scan]; try apply incl_nil_l.
  destruct (room (cls x)); [apply incl_tl, IH|apply incl_cons; [left; auto|apply incl_tl, IH]].
Qed.

Lemma scan_nodup cls L : NoDup L -> forall room q, NoDup (scan cls room q L).
Proof.
  induction 1 as [|x L X D IH]; intros room [|q]; cbn [scan]; try constructor.
  destruct (room (cls x)); [apply IH|]. constructor; [|apply IH]. intros I. apply X, (scan_incl _ _ _ _ _ I).
Qed.

Lemma scan_room cls L : forall room q c, (votes cls (scan cls room q L) c <= room c)%nat.
Proof.
  induction L as [|x L IH]; intros room [|q] c; cbn [scan]; try (unfold votes; simpl; lia).
  destruct (room (cls x)) as [|less] eqn:E; [apply IH|]. rewrite votes_cons.
  specialize (IH (fun c => if c =? cls x then less else room c) q c). cbv beta in IH. rewrite Z.eqb_sym in IH.
  destruct (Z.eqb_spec (cls x) c); [subst c; lia|lia].
Qed.

(** ** The points of one class, and the others *)

Definition of_class (cls : N -> Z) (r : Z) (h : list N) : list N := filter (fun j => cls j =? r) h.
Definition of_others (cls : N -> Z) (r : Z) (h : list N) : list N := filter (fun j => negb (cls j =? r)) h.

Lemma split_total cls r d h : total d h = (total d (of_class cls r h) + total d (of_others cls r h))%R.
Proof.
  induction h as [|j h IH]; simpl; [lra|]. unfold of_class, of_others, total in *. simpl.
  destruct (cls j =? r); simpl; lra.
Qed.

Lemma split_length cls r h : length h = (votes cls h r + length (of_others cls r h))%nat.
Proof.
  unfold votes, of_others. induction h as [|j h IH]; simpl; [lia|]. destruct (cls j =? r); simpl; lia.
Qed.

Lemma votes_of_class cls r h c : votes cls (of_class cls r h) c = (if (c =? r)%Z then votes cls h r else 0)%nat.
Proof.
  unfold of_class. induction h as [|j h IH]; simpl; [destruct (c =? r); reflexivity|]. rewrite votes_cons.
  destruct (Z.eqb_spec (cls j) r) as [E|E]; [|rewrite IH; reflexivity]. rewrite votes_cons, IH, E, Z.eqb_sym.
  destruct (c =? r); lia.
Qed.

Lemma votes_of_others cls r h c : votes cls (of_others cls r h) c = (if (c =? r)%Z then 0 else votes cls h c)%nat.
Proof.
  unfold of_others. induction h as [|j h IH]; simpl; [destruct (c =? r); reflexivity|].
  destruct (Z.eqb_spec (cls j) r) as [E|E]; simpl; rewrite ?votes_cons, IH.
  - destruct (Z.eqb_spec c r); destruct (Z.eqb_spec (cls j) c); congruence || lia.
  - destruct (Z.eqb_spec c r); destruct (Z.eqb_spec (cls j) c); congruence || lia.
Qed.

Lemma filter_set (f : N -> bool) L h : NoDup h -> incl h L -> is_set L (length (filter f h)) (filter f h).
Proof.
  intros D I. split; [apply NoDup_filter; auto|]. split; [|auto]. intros j J. apply filter_In in J. apply I. tauto.
Qed.

(** The votes in [targeted] *)
Lemma targeted_votes cls r tau k m L c : (votes cls (targeted cls r tau k m L) c <= if (c =? r)%Z then m else m - tau)%nat.
Proof.
  unfold targeted. rewrite votes_app.
  assert (A := scan_room cls L (fun c => if c =? r then m else O) m c).
  assert (B := scan_room cls L (fun c => if c =? r then O else (m - tau)%nat) (k - m) c). cbv beta in A, B.
  destruct (c =? r); lia.
Qed.

Lemma nodup_app (g h : list N) : NoDup g -> NoDup h -> (forall j, In j g -> ~ In j h) -> NoDup (g ++ h).
Proof.
  induction 1 as [|j g J _ IH]; simpl; intros D Apart; auto. constructor; [|apply IH; auto].
  intros I. apply in_app_iff in I. destruct I as [I|I]; [contradiction|]. apply (Apart j); auto.
Qed.

(** [targeted] takes no point twice: its first part has points of class r only, and its second part has none. *)
Lemma targeted_nodup cls r tau k m L : NoDup L -> NoDup (targeted cls r tau k m L).
Proof.
  intros D. unfold targeted. apply nodup_app; try (apply scan_nodup; auto). intros j A B.
  apply (votes_in cls) in A. apply (votes_in cls) in B.
  assert (RA := scan_room cls L (fun c => if c =? r then m else O) m (cls j)).
  assert (RB := scan_room cls L (fun c => if c =? r then O else (m - tau)%nat) (k - m) (cls j)). cbv beta in RA, RB.
  destruct (cls j =? r); lia.
Qed.

Lemma targeted_incl cls r tau k m L : incl (targeted cls r tau k m L) L.
Proof. unfold targeted. apply incl_app; apply scan_incl. Qed.

(** Where [targeted] finds k points, m of them of class r, it is a set in H_r(tau). *)
Lemma targeted_in_H cls r tau k m L : NoDup L -> (1 <= m)%nat -> (tau <= m)%nat ->
  length (targeted cls r tau k m L) = k -> votes cls (targeted cls r tau k m L) r = m ->
  is_set L k (targeted cls r tau k m L) /\ in_H cls r tau (targeted cls r tau k m L).
Proof.
  intros D M Tau Len V. split; [split; [apply targeted_nodup; auto|split; [apply targeted_incl|auto]]|split; [lia|]].
  intros c C. assert (B := targeted_votes cls r tau k m L c). apply Z.eqb_neq in C. rewrite C in B. lia.
Qed.

(** ** The theorems *)

(** Targeted inference is exact: for each set h of H_r(tau), the set of [targeted] with as many votes for r is in H_r(tau)
    too, and costs no more. *)
Theorem targeted_exact cls d r tau k L h : NoDup L -> ascending d L -> (tau <= 1)%nat ->
  is_set L k h -> in_H cls r tau h ->
  let t := targeted cls r tau k (votes cls h r) L in
  is_set L k t /\ in_H cls r tau t /\ votes cls t r = votes cls h r /\ (total d t <= total d h)%R.
Proof.
  intros DL Asc Tau [D [I Len]] [One Fewer] t. set (m := votes cls h r) in *.
  assert (Split := split_length cls r h). fold m in Split.
  destruct (scan_best cls d L Asc (fun c => if c =? r then m else O) m (of_class cls r h)) as [CostA LenA].
  { apply filter_set; auto. }
  { intros c. rewrite votes_of_class. destruct (c =? r); auto. }
  destruct (scan_best cls d L Asc (fun c => if c =? r then O else (m - tau)%nat) (k - m)%nat (of_others cls r h)) as [CostB LenB].
  { replace (k - m)%nat with (length (of_others cls r h)) by lia. apply filter_set; auto. }
  { intros c. rewrite votes_of_others. destruct (Z.eqb_spec c r) as [|N]; [auto|]. specialize (Fewer c N). fold m in Fewer. lia. }
  assert (LenT : length t = k) by (unfold t, targeted; rewrite app_length, LenA, LenB; lia).
  assert (V : votes cls t r = m).
  { apply Nat.le_antisymm; [assert (B := targeted_votes cls r tau k m L r); rewrite Z.eqb_refl in B; exact B|].
    unfold t, targeted. rewrite votes_app. set (A := scan cls _ m L) in *.
    assert (All : of_others cls r A = []).
    { destruct (of_others cls r A) as [|j g] eqn:E; auto. exfalso.
      assert (J : In j (of_others cls r A)) by (rewrite E; left; auto). apply filter_In in J. destruct J as [J N].
      apply (votes_in cls) in J. assert (B := scan_room cls L (fun c => if c =? r then m else O) m (cls j)). fold A in B.
      cbv beta in B. destruct (cls j =? r); [discriminate|lia]. }
    assert (S := split_length cls r A). rewrite All, LenA in S. simpl in S. lia. }
  destruct (targeted_in_H cls r tau k m L DL One ltac:(lia) LenT V) as [Set_ In_].
  split; [auto|]. split; [auto|]. split; [auto|].
  rewrite (split_total cls r d h). unfold t, targeted. rewrite total_app. lra.
Qed.

(** Loss-augmented inference is exact: max_h [S(h) + Delta(h)] over all sets is the maximum of Lam(r) - cost over the sets
    of [targeted] with tau = 0, over all r and m. The first part has that no set exceeds this maximum, the second that
    some set attains it. *)
Theorem loss_augmented_exact cls d Lam k L : NoDup L -> ascending d L ->
  (forall h delta, is_set L k h -> is_Delta cls Lam h delta -> exists r m, (1 <= m <= k)%nat /\
     let t := targeted cls r 0 k m L in
     is_set L k t /\ in_H cls r 0 t /\ (- total d h + delta <= Lam r - total d t)%R) /\
  (forall r m delta, let t := targeted cls r 0 k m L in
     is_set L k t -> in_H cls r 0 t -> is_Delta cls Lam t delta -> (Lam r - total d t <= - total d t + delta)%R).
Proof.
  intros D Asc. split.
  - intros h delta Set_ [[r [H E]] _]. exists r, (votes cls h r).
    destruct (targeted_exact cls d r 0 k L h D Asc ltac:(lia) Set_ H) as [A [B [_ C]]].
    split; [|split; [auto|split; [auto|lra]]]. destruct H as [One _]. destruct Set_ as [_ [_ Len]].
    assert (S := split_length cls r h). lia.
  - intros r m delta t _ H [_ Most]. specialize (Most r H). lra.
Qed.
