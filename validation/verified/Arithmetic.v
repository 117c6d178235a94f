(** Matrices of integers, and what they are as real ones.

    Data are integers over one denominator: a matrix is an upper triangle, a list of rows, the row of feature i from
    its diagonal on. What is missing in a list counts as 0. Division is by an untrusted function [div], of which every
    quotient is multiplied again. *)

Require Import Reals Lra Lia List ZArith QArith Qreals Bool.
From Verified Require Import Bound.
Import ListNotations.
Open Scope Z_scope.

Definition row := list Z.
Definition triangle := list row.

(** ** What a reader must believe: integers as real points and matrices *)

(** The symmetric matrix of an upper triangle. *)
Fixpoint entry (T : triangle) (i j : nat) : Z :=
  match T with
  | [] => 0
  | r :: rest =>
      match i, j with
      | O, _ => nth j r 0
      | _, O => nth i r 0
      | S i, S j => entry rest i j
      end
  end.

Definition real_matrix (T : triangle) (over : positive) : matrix := fun i j => (IZR (entry T i j) / IZR (Zpos over))%R.
Definition real_point (x : row) (over : positive) : vector := fun k => (IZR (nth k x 0%Z) / IZR (Zpos over))%R.

(** Element i of a list of points, which are counted from 0. *)
Definition at_ {V : Type} (none : V) (l : list V) (i : N) : V := nth (N.to_nat i) l none.

Record points := { features : nat; over : positive; rows : list row }.

(** D_A(i, j) *)
Definition D (X : points) (A : matrix) (i j : N) : R :=
  dist (features X) A (real_point (at_ [] (rows X) i) (over X)) (real_point (at_ [] (rows X) j) (over X)).

(** ** Rows *)

(** r + c v *)
Fixpoint addmul (c : Z) (v r : row) : row :=
  match v, r with
  | [], _ => r
  | x :: v, [] => c * x :: addmul c v []
  | x :: v, a :: r => a + c * x :: addmul c v r
  end.

Fixpoint minus (u v : row) : row :=
  match u, v with
  | [], _ => map Z.opp v
  | _, [] => u
  | x :: u, y :: v => x - y :: minus u v
  end.

Fixpoint dot (u v : row) : Z :=
  match u, v with x :: u, y :: v => x * y + dot u v | _, _ => 0 end.

Lemma nth_nil k : nth k ([] : row) 0 = 0.
Proof. destruct k; reflexivity. Qed.

Lemma addmul_nth c v : forall r k, nth k (addmul c v r) 0 = nth k r 0 + c * nth k v 0.
Proof.
  induction v as [|x v IH]; intros [|a r] [|k]; simpl; try rewrite IH; try rewrite nth_nil; try lia.
Qed.

Lemma minus_nth u : forall v k, nth k (minus u v) 0 = nth k u 0 - nth k v 0.
Proof.
  induction u as [|x u IH]; intros v k.
  - cbn [minus]. rewrite nth_nil. change 0 with (Z.opp 0) at 1. rewrite map_nth. lia.
  - destruct v as [|y v]; simpl; destruct k; try rewrite IH; lia.
Qed.

Lemma minus_length d u v : (length u <= d -> length v <= d -> length (minus u v) <= d)%nat.
Proof.
  revert u v. induction d as [|d IH]; intros [|x u] [|y v]; simpl; try lia.
  - rewrite map_length. lia.
  - intros. apply le_n_S. apply IH; lia.
Qed.

Lemma dot_sum u : forall d v, (length u <= d)%nat ->
  IZR (dot u v) = sum d (fun k => (IZR (nth k u 0%Z) * IZR (nth k v 0%Z))%R).
Proof.
  induction u as [|x u IH]; intros d v H.
  - cbn [dot]. rewrite (sum_ext d _ (fun _ => 0%R)); [rewrite sum_zero; reflexivity|].
    intros. rewrite nth_nil. ring.
  - destruct d as [|d]; simpl in H; [lia|]. destruct v as [|y v].
    + simpl. rewrite (sum_ext d _ (fun _ => 0%R)); [rewrite sum_zero; ring|]. intros. ring.
    + simpl. rewrite plus_IZR, mult_IZR, (IH d) by lia. reflexivity.
Qed.

(** ** Triangles *)

Lemma entry_symmetric T : forall i j, entry T i j = entry T j i.
Proof. induction T as [|r T IH]; intros [|i] [|j]; simpl; auto. Qed.

Lemma entry_cons r T i j : entry (r :: T) (S i) (S j) = entry T i j.
Proof. reflexivity. Qed.

(** T + w v v^T *)
Fixpoint add_square (w : Z) (v : row) (T : triangle) : triangle :=
  match v with
  | [] => T
  | x :: v' => addmul (w * x) v (hd [] T) :: add_square w v' (tl T)
  end.

Lemma add_square_entry w v : forall T i j,
  entry (add_square w v T) i j = entry T i j + w * (nth i v 0 * nth j v 0).
Proof.
  induction v as [|x v IH]; intros T i j.
  - cbn [add_square]. rewrite !nth_nil. lia.
  - assert (E : forall k, entry T 0 k = nth k (hd [] T) 0) by (destruct T, k; reflexivity).
    assert (F : forall i j, entry T (S i) (S j) = entry (tl T) i j) by (destruct T; reflexivity).
    destruct i as [|i], j as [|j]; cbn [add_square entry].
    + rewrite addmul_nth, E. simpl. lia.
    + rewrite addmul_nth, E. cbn [nth]. lia.
    + rewrite addmul_nth, entry_symmetric, E. cbn [nth]. lia.
    + rewrite IH, F. reflexivity.
Qed.

Definition times (c : Z) (T : triangle) : triangle := map (map (Z.mul c)) T.

Lemma times_nth c r k : nth k (map (Z.mul c) r) 0 = c * nth k r 0.
Proof. replace 0 with (c * 0) at 1 by lia. apply map_nth. Qed.

Lemma times_entry c T : forall i j, entry (times c T) i j = c * entry T i j.
Proof.
  induction T as [|r T IH]; intros [|i] [|j]; cbn [times map entry]; rewrite ?times_nth; try lia; apply IH.
Qed.

(** The same entries as reals. *)
Definition reals (T : triangle) : matrix := fun i j => IZR (entry T i j).

Lemma reals_symmetric T i j : reals T i j = reals T j i.
Proof. unfold reals. rewrite entry_symmetric. reflexivity. Qed.

Lemma inner_add_square d A w v T :
  inner d A (reals (add_square w v T))
  = (inner d A (reals T) + IZR w * form d A (fun k => IZR (nth k v 0%Z)) (fun k => IZR (nth k v 0%Z)))%R.
Proof.
  rewrite <- inner_square, <- inner_times, <- inner_plus. apply inner_ext. intros i j _ _.
  unfold reals. rewrite add_square_entry, plus_IZR, !mult_IZR. reflexivity.
Qed.

Lemma inner_times_triangle d A c T : inner d A (reals (times c T)) = (IZR c * inner d A (reals T))%R.
Proof.
  rewrite <- inner_times. apply inner_ext. intros i j _ _. unfold reals. rewrite times_entry, mult_IZR. reflexivity.
Qed.

Lemma inner_empty d A : inner d A (reals []) = 0%R.
Proof. apply inner_zero. Qed.

(** Of a triangle of d features: no row is too long. *)
Fixpoint fits (d : nat) (T : triangle) : bool :=
  match T, d with
  | [], _ => true
  | r :: T, S d => (length r <=? S d)%nat && fits d T
  | _ :: _, O => false
  end.

(** ||T||^2 of the matrix *)
Fixpoint norm (T : triangle) : Z :=
  match T with
  | [] => 0
  | [] :: T => norm T
  | (z :: r) :: T => z * z + (2 * dot r r + norm T)
  end.

Lemma norm2_rows d (Z : matrix) : (forall i j, Z i j = Z j i) ->
  norm2 (S d) Z = (Z 0%nat 0%nat * Z 0%nat 0%nat + (2 * sum d (fun j => Z 0%nat (S j) * Z 0%nat (S j))
    + norm2 d (fun i j => Z (S i) (S j))))%R.
Proof.
  intros sym. unfold norm2. simpl. rewrite sum_plus.
  rewrite (sum_ext d (fun k => (Z (S k) 0%nat * Z (S k) 0%nat)%R) (fun j => (Z 0%nat (S j) * Z 0%nat (S j))%R)).
  - ring.
  - intros. rewrite sym. reflexivity.
Qed.

Lemma norm_correct T : forall d, fits d T = true -> norm2 d (reals T) = IZR (norm T).
Proof.
  induction T as [|r T IH]; intros d F.
  - unfold norm2. rewrite (sum_ext d _ (fun _ => 0%R)); [apply sum_zero|].
    intros. rewrite (sum_ext d _ (fun _ => 0%R)); [apply sum_zero|]. intros. unfold reals. simpl. ring.
  - destruct d as [|d]; [discriminate|]. simpl in F. apply andb_prop in F. destruct F as [L F].
    apply Nat.leb_le in L. rewrite norm2_rows by apply reals_symmetric.
    change (fun i j => reals (r :: T) (S i) (S j)) with (reals T). rewrite (IH d F).
    unfold reals. cbn [entry]. destruct r as [|z r]; cbn [norm nth].
    + rewrite (sum_ext d _ (fun _ => 0%R)); [rewrite sum_zero; ring|]. intros; ring.
    + rewrite !plus_IZR, !mult_IZR, (dot_sum r d) by (simpl in L; lia). reflexivity.
Qed.

(** ** Positive semidefinite, by elimination without fractions or by a dominant diagonal *)

Definition same (S T : triangle) : bool := if list_eq_dec (list_eq_dec Z.eq_dec) S T then true else false.

(** T / p where that is exact, else T, and by what it is to be divided still. *)
Definition divided (div : Z -> Z -> Z) (p : Z) (T : triangle) : triangle * Z :=
  let shorter := map (map (fun a => div a p)) T in
  if same (times p shorter) T then (shorter, p) else (T, 1).

Fixpoint eliminated (div : Z -> Z -> Z) (d : nat) (p : Z) (T : triangle) : bool :=
  match d, T with
  | O, _ => true
  | S d, (z :: r) :: rest =>
      if z =? 0 then forallb (Z.eqb 0) r && eliminated div d p rest
      else if 0 <? z then
        let (next, _) := divided div p (add_square (-1) r (times z rest)) in eliminated div d z next
      else false
  | _, _ => false
  end.

Lemma divided_entry div p T W c : divided div p T = (W, c) -> 0 < p ->
  0 < c /\ forall i j, c * entry W i j = entry T i j.
Proof.
  unfold divided, same. destruct (list_eq_dec (list_eq_dec Z.eq_dec) _ T) as [E|E]; intros H P; inversion H; subst; clear H.
  - split; [auto|]. intros. rewrite <- E at 2. rewrite times_entry. reflexivity.
  - split; [lia|]. intros. lia.
Qed.

Lemma zero_row r : forallb (Z.eqb 0) r = true -> forall k, nth k r 0 = 0.
Proof.
  induction r as [|x r IH]; intros H k; [apply nth_nil|].
  cbn [forallb] in H. apply andb_prop in H. destruct H as [E H]. apply Z.eqb_eq in E.
  destruct k; cbn [nth]; auto.
Qed.

Lemma eliminated_correct div d : forall p T, 0 < p -> eliminated div d p T = true -> kind d (reals T).
Proof.
  induction d as [|d IH]; intros p T P H.
  - intros A _. unfold inner. simpl. lra.
  - destruct T as [|[|z r] rest]; try discriminate. cbn [eliminated] in H.
    destruct (z =? 0) eqn:Z0.
    + apply Z.eqb_eq in Z0. subst z. apply andb_prop in H. destruct H as [H E].
      apply kind_skip; [apply reals_symmetric| |apply (IH p); auto].
      intros [|j]; unfold reals; cbn [entry nth]; [|rewrite zero_row by auto]; reflexivity.
    + destruct (0 <? z) eqn:Zp; [|discriminate]. apply Z.ltb_lt in Zp.
      destruct (divided div p (add_square (-1) r (times z rest))) as [W c] eqn:E.
      destruct (divided_entry _ _ _ _ _ E P) as [C EW].
      apply (kind_step d _ (reals W) (IZR c)); [apply reals_symmetric| | | |apply (IH z); auto].
      * unfold reals. simpl. apply (IZR_lt 0). auto.
      * apply (IZR_le 0). lia.
      * intros i j. unfold reals. cbn [entry nth]. rewrite <- !mult_IZR, <- minus_IZR. f_equal.
        rewrite EW, add_square_entry, times_entry. lia.
Qed.

(** The diagonal less |r|. *)
Fixpoint less_diagonal (r : row) (T : triangle) : triangle :=
  match r, T with
  | [], _ => T
  | x :: r, [] => [- Z.abs x] :: less_diagonal r []
  | x :: r, [] :: T => [- Z.abs x] :: less_diagonal r T
  | x :: r, (z :: s) :: T => (z - Z.abs x :: s) :: less_diagonal r T
  end.

Lemma less_diagonal_entry r : forall T i j,
  entry (less_diagonal r T) i j = entry T i j - (if (i =? j)%nat then Z.abs (nth i r 0) else 0).
Proof.
  induction r as [|x r IH]; intros T i j.
  - cbn [less_diagonal]. rewrite nth_nil. destruct (i =? j)%nat; simpl; lia.
  - destruct T as [|[|z s] T]; destruct i as [|i], j as [|j]; cbn [less_diagonal entry nth Nat.eqb];
      rewrite ?IH; cbn [entry]; try destruct j; try destruct i; cbn [nth]; try lia.
Qed.

Fixpoint dominant (d : nat) (T : triangle) : bool :=
  match d, T with
  | O, _ => true
  | S _, [] => true
  | S d, [] :: rest => dominant d rest
  | S d, (z :: r) :: rest =>
      (fold_left (fun s x => s + Z.abs x) r 0 <=? z) && (length r <=? d)%nat && dominant d (less_diagonal r rest)
  end.

Lemma absolute_sum r : forall d s, (length r <= d)%nat ->
  IZR (fold_left (fun s x => s + Z.abs x) r s) = (IZR s + sum d (fun k => Rabs (IZR (nth k r 0%Z))))%R.
Proof.
  induction r as [|x r IH]; intros d s H.
  - cbn [fold_left]. rewrite (sum_ext d _ (fun _ => 0%R)); [rewrite sum_zero; ring|].
    intros. rewrite nth_nil. apply Rabs_R0.
  - destruct d as [|d]; simpl in H; [lia|]. simpl. rewrite (IH d) by lia. rewrite plus_IZR, abs_IZR. ring.
Qed.

Lemma inner_diagonal d : forall (A : matrix) r,
  inner d A (fun i j => if (i =? j)%nat then r i else 0%R) = sum d (fun i => (A i i * r i)%R).
Proof.
  intros A r. apply sum_ext. intros i Hi.
  assert (One : forall n (f : nat -> R) k, (k < n)%nat -> sum n (fun j => if Nat.eqb k j then f j else 0%R) = f k).
  { clear. induction n as [|n IH]; intros f k Hk; [lia|]. simpl. destruct k.
    - simpl. rewrite sum_zero. ring.
    - simpl. rewrite (IH (fun i => f (S i))) by lia. ring. }
  rewrite (sum_ext d _ (fun j => if (i =? j)%nat then (A i j * r i)%R else 0%R)).
  - rewrite One; auto.
  - intros j _. destruct (i =? j)%nat; ring.
Qed.

Lemma dominant_correct d : forall T, dominant d T = true -> kind d (reals T).
Proof.
  induction d as [|d IH]; intros T H.
  - intros A _. unfold inner. simpl. lra.
  - destruct T as [|[|z r] rest]; cbn [dominant] in H.
    + intros A _. rewrite inner_empty. lra.
    + apply kind_skip; [apply reals_symmetric| |apply IH; auto].
      intros [|j]; reflexivity.
    + apply andb_prop in H. destruct H as [H K]. apply andb_prop in H. destruct H as [H L].
      apply Z.leb_le in H. apply Nat.leb_le in L. specialize (IH _ K).
      intros A HA. rewrite inner_rows by (auto; apply reals_symmetric).
      specialize (IH _ (psd_rest _ _ HA)). set (A' := fun i j => A (S i) (S j)) in *.
      assert (E : inner d A' (reals (less_diagonal r rest))
        = (inner d A' (reals rest) + -1 * sum d (fun i => (A' i i * Rabs (IZR (nth i r 0%Z)))))%R).
      { rewrite <- inner_diagonal, <- inner_times, <- inner_plus. apply inner_ext. intros i j _ _.
        unfold reals. rewrite less_diagonal_entry, minus_IZR.
        destruct (i =? j)%nat; rewrite ?abs_IZR; ring. }
      change (fun i j => reals ((z :: r) :: rest) (S i) (S j)) with (reals rest).
      assert (A0 : (0 <= A 0%nat 0%nat)%R).
      { destruct HA as [_ Q]. specialize (Q (fun k => match k with O => 1%R | _ => 0%R end)).
        unfold form in Q. simpl in Q.
        rewrite (sum_ext d (fun j => (1 * A 0%nat (S j) * 0)%R) (fun _ => 0%R)) in Q by (intros; ring).
        rewrite (sum_ext d (fun k => (0 * A (S k) 0%nat * 1 + sum d (fun k0 => 0 * A (S k) (S k0) * 0))%R)
          (fun _ => 0%R)) in Q.
        - rewrite !sum_zero in Q. lra.
        - intros. rewrite (sum_ext d _ (fun _ => 0%R)) by (intros; ring). rewrite sum_zero. ring. }
      assert (B := absolute_sum r d 0 L). apply IZR_le in H. rewrite B in H. clear B.
      assert (P : (- sum d (fun j => (Rabs (IZR (nth j r 0%Z)) * (A 0%nat 0%nat + A' j j)))
        <= 2 * sum d (fun j => A 0%nat (S j) * IZR (nth j r 0%Z)))%R).
      { rewrite <- sum_times. set (u := sum d _) at 1. set (v := sum d _).
        assert (0 <= v - -1 * u)%R; [|lra]. unfold u, v. rewrite <- sum_times, <- sum_minus.
        apply sum_pos. intros j Hj. assert (Q := psd_pair d A j HA Hj (IZR (nth j r 0%Z))).
        unfold A'. lra. }
      assert (S1 : sum d (fun j => (Rabs (IZR (nth j r 0%Z)) * (A 0%nat 0%nat + A' j j)))%R
        = (A 0%nat 0%nat * sum d (fun j => Rabs (IZR (nth j r 0%Z)))
           + sum d (fun i => (A' i i * Rabs (IZR (nth i r 0%Z)))))%R).
      { rewrite <- sum_times, <- sum_plus. apply sum_ext. intros; ring. }
      unfold reals at 1 2. cbn [entry nth].
      set (a := A 0%nat 0%nat) in *. set (s := sum d (fun k => Rabs (IZR (nth k r 0%Z)))) in *.
      assert (0 <= a * (IZR z - s))%R by (apply Rmult_le_pos; lra). lra.
Qed.

Definition psd_shown (div : Z -> Z -> Z) (d : nat) (T : triangle) : bool := dominant d T || eliminated div d 1 T.

Lemma psd_shown_correct div d T : psd_shown div d T = true -> kind d (reals T).
Proof.
  intros H. apply orb_prop in H. destruct H as [H|H].
  - apply dominant_correct; auto.
  - apply (eliminated_correct div d 1); [lia|auto].
Qed.
