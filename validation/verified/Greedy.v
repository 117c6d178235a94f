(** The printed algorithms of gerrymandering (Trivedi, McAllester and Shakhnarovich 2014) are not exact.

    Algorithm 2 misses the cheapest set of seven points on a line. Algorithm 3, with the tau = 1 of its listing, misses
    a tie. Both are stated line by line, on whole numbers, and run here. *)

Require Import Reals Lra Lia List Arith ZArith Bool.
From Verified Require Import Bound Inference.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe: Algorithms 2 and 3 *)

(** The point of the list with the least distance; of several, the first *)
Fixpoint argmin (D : N -> Z) (l : list N) : option N :=
  match l with
  | [] => None
  | i :: l => match argmin D l with None => Some i | Some j => Some (if D i <=? D j then i else j) end
  end.

(** h := h u argmin D(x_i) over the points that are [allowed] and not in h *)
Definition add (D : N -> Z) (X : list N) (allowed : N -> bool) (h : list N) : list N :=
  match argmin D (filter (fun i => allowed i && negb (existsb (N.eqb i) h)) X) with Some i => i :: h | None => h end.

Definition algorithm_2 (cls D : N -> Z) (X : list N) (k R : nat) (y : Z) (tau : nat) : list N :=
  let n := ((k + tau * (R - 1) + (R - 1)) / R)%nat in   (* n* = ceil((k + tau (R - 1)) / R) *)
  let h := Nat.iter n (add D X (fun i => cls i =? y)) [] in
  Nat.iter (k - n) (fun h => add D X (fun i => (cls i =? y) || (votes cls h (cls i) + tau <? votes cls h y)%nat) h) h.

Definition cost (D : N -> Z) (h : list N) : Z := fold_right (fun i s => D i + s) 0 h.

(** The largest Value(r) = S(h(r)) + Lam(y, r) of the classes *)
Definition algorithm_3 (cls D : N -> Z) (X : list N) (k : nat) (tau : nat) (Lam : Z -> Z) (r : Z) (others : list Z) : Z :=
  let value r := - cost D (algorithm_2 cls D X k (S (length others)) r tau) + Lam r in
  fold_right (fun r best => Z.max (value r) best) (value r) others.

(** Seven points on a line: class and position. The query is at 0, and W = 1. *)
Definition line : list (Z * Z) := [(1, 1); (1, -1); (2, 9); (3, -9); (0, 10); (0, -10); (0, 11)].
Definition seven : list N := [0; 1; 2; 3; 4; 5; 6]%N.
Definition line_class (i : N) : Z := fst (nth (N.to_nat i) line (0, 0)).
Definition line_D (i : N) : Z := let x := snd (nth (N.to_nat i) line (0, 0)) in x * x.

(** Two points each of the classes 0 and 1, at these distances from the query *)
Definition pairs : list (Z * Z) := [(1, 9); (0, 10); (0, 20); (1, 900)].
Definition four : list N := [0; 1; 2; 3]%N.
Definition pairs_class (i : N) : Z := fst (nth (N.to_nat i) pairs (0, 0)).
Definition pairs_D (i : N) : Z := snd (nth (N.to_nat i) pairs (0, 0)).
Definition hundred_unless_0 (r : Z) : Z := if r =? 0 then 0 else 100.   (* Lam(0, r) *)

(** ** Facts that are shown by a run *)

Lemma shown_set L k h :
  nodup N.eq_dec h = h -> forallb (fun i => existsb (N.eqb i) L) h = true -> length h = k -> is_set L k h.
Proof.
  intros D I E. split; [rewrite <- D; apply NoDup_nodup|split; [|auto]]. intros i J.
  rewrite forallb_forall in I. specialize (I i J). apply existsb_exists in I. destruct I as [j [I Q]].
  apply N.eqb_eq in Q. subst. auto.
Qed.

(** Only the classes that occur need a look: another class has no vote. *)
Lemma shown_in_H cls r tau h : (tau <= 1)%nat ->
  (1 <=? votes cls h r)%nat && forallb (fun i => (cls i =? r) || (votes cls h (cls i) + tau <=? votes cls h r)%nat) h = true ->
  in_H cls r tau h.
Proof.
  intros Tau E. apply andb_prop in E. destruct E as [One E]. apply Nat.leb_le in One. split; auto. intros c N.
  destruct (Nat.eq_dec (votes cls h c) 0) as [V|V]; [lia|]. destruct (votes_some cls h c) as [i [I <-]]; [lia|].
  rewrite forallb_forall in E. specialize (E i I). apply orb_prop in E. destruct E as [E|E].
  - apply Z.eqb_eq in E. contradiction.
  - apply Nat.leb_le in E. auto.
Qed.

Lemma cost_total D h : total (fun i => IZR (D i)) h = IZR (cost D h).
Proof. unfold total, cost. induction h as [|i h IH]; cbn [fold_right]; [|rewrite IH, plus_IZR]; reflexivity. Qed.

Fixpoint in_order (D : N -> Z) (l : list N) : bool :=
  match l with [] => true | i :: l => forallb (fun j => D i <=? D j) l && in_order D l end.

Lemma shown_ascending D l : in_order D l = true -> ascending (fun i => IZR (D i)) l.
Proof.
  induction l as [|i l IH]; intros E; constructor; simpl in E; apply andb_prop in E; destruct E as [A B]; auto.
  intros j J. rewrite forallb_forall in A. apply IZR_le, Z.leb_le, A. auto.
Qed.

(** ** The theorems *)

(** k = 5, R = 4, tau = 1: Algorithm 2 returns a set of cost 363. It is allowed, and so is a set of cost 323. The latter
    is optimal. *)
Theorem algorithm_2_is_not_exact :
  let allowed h := is_set seven 5 h /\ in_H line_class 0 1 h in
  let greedy := algorithm_2 line_class line_D seven 5 4 0 1 in
  allowed greedy /\ cost line_D greedy = 363 /\
  (exists h, allowed h /\ cost line_D h = 323) /\
  forall h, allowed h -> 323 <= cost line_D h.
Proof.
  cbv zeta. split; [split; [apply shown_set|apply shown_in_H; [lia|]]; vm_compute; reflexivity|].
  split; [vm_compute; reflexivity|]. split.
  - exists [0; 1; 4; 5; 6]%N.
    split; [split; [apply shown_set|apply shown_in_H; [lia|]]|]; vm_compute; reflexivity.
  - intros h [Set_ H].
    assert (D : NoDup seven) by (apply (shown_set seven 7 seven); vm_compute; reflexivity).
    assert (Asc : ascending (fun i => IZR (line_D i)) seven) by (apply shown_ascending; vm_compute; reflexivity).
    assert (M := proj1 H). assert (Mk := split_length line_class 0 h). rewrite (proj2 (proj2 Set_)) in Mk.
    destruct (targeted_exact line_class _ 0 1 5 seven h D Asc ltac:(lia) Set_ H) as [[_ [_ Len]] [_ [V C]]].
    rewrite !cost_total in C. apply le_IZR in C. set (m := votes line_class h 0) in *.
    assert (K : forall m, (1 <= m <= 5)%nat -> length (targeted line_class 0 1 5 m seven) = 5%nat ->
      votes line_class (targeted line_class 0 1 5 m seven) 0 = m ->
      323 <= cost line_D (targeted line_class 0 1 5 m seven)).
    { intros a A. do 6 (destruct a as [|a]; [try lia; vm_compute; intros; congruence|]). lia. }
    specialize (K m ltac:(lia) Len V). lia.
Qed.

(** k = 2, two classes, true class 0: the two nearest points are a tie, so that S + Delta of this set is 81. Algorithm 3
    returns -30 with tau = 1, and 81 with tau = 0. *)
Theorem algorithm_3_misses_a_tie :
  let value tau := algorithm_3 pairs_class pairs_D four 2 tau hundred_unless_0 0 [1] in
  let nearest := [0; 1]%N in
  value 1%nat = -30 /\ value 0%nat = 81 /\
  is_set four 2 nearest /\ is_Delta pairs_class (fun r => IZR (hundred_unless_0 r)) nearest 100 /\
  - cost pairs_D nearest + 100 = 81.
Proof.
  cbv zeta. split; [vm_compute; reflexivity|]. split; [vm_compute; reflexivity|].
  split; [apply shown_set; vm_compute; reflexivity|]. split; [|vm_compute; reflexivity]. split.
  - exists 1. split; [apply shown_in_H; [lia|vm_compute; reflexivity]|reflexivity].
  - intros r _. unfold hundred_unless_0. destruct (r =? 0); lra.
Qed.
