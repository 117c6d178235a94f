(** The bound, over the reals.

    Points are seen through squared distances D_A(x, y) in a psd matrix A. A problem is
        h ||A||^2 + loss(D_A)    over all psd A, or those that keep what [loss] asks of their distances.
    Prices give an affine function of the distances below the loss, k + sum_p w_p D_A(p). Then the objective is at least
        k + h ||A||^2 + <A, Z>,    Z = sum_p w_p (x_i - x_j)(x_i - x_j)^T,
    and that is bounded by what Z is: psd, or a square plus a rest whose norm pays. *)

Require Import Reals Lra Lia List.
Open Scope R_scope.

(** ** What a reader must believe *)

(** sum n f = f 0 + ... + f (n - 1) *)
Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => f O + sum m (fun k => f (S k)) end.

Definition vector := nat -> R.
Definition matrix := nat -> nat -> R.

Definition form (d : nat) (A : matrix) (x y : vector) : R :=
  sum d (fun i => sum d (fun j => x i * A i j * y j)).

Definition psd (d : nat) (A : matrix) : Prop :=
  (forall i j, (i < d)%nat -> (j < d)%nat -> A i j = A j i) /\ (forall x, 0 <= form d A x x).

(** ||A||^2 *)
Definition norm2 (d : nat) (A : matrix) : R := sum d (fun i => sum d (fun j => A i j * A i j)).

(** D_A(x, y) = (x - y)^T A (x - y) *)
Definition dist (d : nat) (A : matrix) (x y : vector) : R :=
  form d A (fun k => x k - y k) (fun k => x k - y k).

(** The sum of f over a list. *)
Definition total {T : Type} (f : T -> R) (l : list T) : R := fold_right (fun t s => f t + s) 0 l.

(** ** Sums *)

Definition inner (d : nat) (A B : matrix) : R := sum d (fun i => sum d (fun j => A i j * B i j)).

Lemma sum_ext n : forall f g, (forall k, (k < n)%nat -> f k = g k) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; intros f g E; simpl; [reflexivity|].
  rewrite E by lia. f_equal. apply IH. intros k H. apply E. lia.
Qed.

Lemma sum_plus n : forall f g, sum n (fun k => f k + g k) = sum n f + sum n g.
Proof. induction n as [|n IH]; intros f g; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_times c n : forall f, sum n (fun k => c * f k) = c * sum n f.
Proof. induction n as [|n IH]; intros f; simpl; [ring|rewrite IH; ring]. Qed.

Lemma sum_zero n : sum n (fun _ => 0) = 0.
Proof. induction n as [|n IH]; simpl; [reflexivity|rewrite IH; ring]. Qed.

Lemma sum_pos n : forall f, (forall k, (k < n)%nat -> 0 <= f k) -> 0 <= sum n f.
Proof.
  induction n as [|n IH]; intros f H; simpl; [lra|].
  assert (0 <= f 0%nat) by (apply H; lia).
  assert (0 <= sum n (fun k => f (S k))) by (apply IH; intros; apply H; lia). lra.
Qed.

Lemma sum_minus n f g : sum n (fun k => f k - g k) = sum n f - sum n g.
Proof.
  replace (sum n f - sum n g) with (sum n f + -1 * sum n g) by ring.
  rewrite <- sum_times, <- sum_plus. apply sum_ext. intros; ring.
Qed.

Lemma sum_product n m u v : sum n (fun i => sum m (fun j => u i * v j)) = sum n u * sum m v.
Proof.
  rewrite (sum_ext n _ (fun i => sum m v * u i)).
  - rewrite sum_times. ring.
  - intros. rewrite sum_times. ring.
Qed.

Lemma inner_ext d A B C : (forall i j, (i < d)%nat -> (j < d)%nat -> B i j = C i j) -> inner d A B = inner d A C.
Proof. intros E. apply sum_ext. intros i Hi. apply sum_ext. intros j Hj. rewrite E; auto. Qed.

Lemma inner_plus d A B C : inner d A (fun i j => B i j + C i j) = inner d A B + inner d A C.
Proof.
  unfold inner. rewrite <- sum_plus. apply sum_ext. intros.
  rewrite <- sum_plus. apply sum_ext. intros. ring.
Qed.

Lemma inner_times c d A B : inner d A (fun i j => c * B i j) = c * inner d A B.
Proof.
  unfold inner. rewrite <- sum_times. apply sum_ext. intros.
  rewrite <- sum_times. apply sum_ext. intros. ring.
Qed.

Lemma inner_zero d A : inner d A (fun _ _ => 0) = 0.
Proof.
  unfold inner. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|].
  intros. rewrite (sum_ext d _ (fun _ => 0)); [apply sum_zero|]. intros; ring.
Qed.

Lemma inner_square d A x : inner d A (fun i j => x i * x j) = form d A x x.
Proof. unfold inner, form. apply sum_ext. intros. apply sum_ext. intros. ring. Qed.

Lemma form_times c d A x : form d A (fun k => c * x k) (fun k => c * x k) = c * c * form d A x x.
Proof.
  unfold form. rewrite <- sum_times. apply sum_ext. intros.
  rewrite <- sum_times. apply sum_ext. intros. ring.
Qed.

Lemma form_ext d A x y : (forall k, (k < d)%nat -> x k = y k) -> form d A x x = form d A y y.
Proof. intros E. apply sum_ext. intros i Hi. apply sum_ext. intros j Hj. rewrite !E; auto. Qed.

Lemma form_scaled c d A x : form d (fun i j => c * A i j) x x = c * form d A x x.
Proof.
  unfold form. rewrite <- sum_times. apply sum_ext. intros.
  rewrite <- sum_times. apply sum_ext. intros. ring.
Qed.

Lemma norm2_pos d A : 0 <= norm2 d A.
Proof. apply sum_pos. intros. apply sum_pos. intros. nra. Qed.

Lemma dist_pos d A x y : psd d A -> 0 <= dist d A x y.
Proof. intros [_ H]. apply H. Qed.

Lemma total_plus {T} (f g : T -> R) l : total (fun t => f t + g t) l = total f l + total g l.
Proof. induction l; simpl; [ring|rewrite IHl; ring]. Qed.

Lemma total_times {T} c (f : T -> R) l : total (fun t => c * f t) l = c * total f l.
Proof. induction l; simpl; [ring|rewrite IHl; ring]. Qed.

Lemma total_ext {T} (f g : T -> R) l : (forall t, In t l -> f t = g t) -> total f l = total g l.
Proof. induction l; simpl; intros H; [reflexivity|rewrite IHl, H; auto]. Qed.

Lemma total_le {T} (f g : T -> R) l : (forall t, In t l -> f t <= g t) -> total f l <= total g l.
Proof.
  induction l as [|t l IH]; simpl; intros H; [lra|].
  assert (f t <= g t) by auto. assert (total f l <= total g l) by auto. lra.
Qed.

Lemma total_app {T} (f : T -> R) l m : total f (l ++ m) = total f l + total f m.
Proof. induction l; simpl; [ring|rewrite IHl; ring]. Qed.

Lemma total_map {S T} (f : T -> R) (g : S -> T) l : total f (map g l) = total (fun s => f (g s)) l.
Proof. induction l; simpl; [reflexivity|rewrite IHl; reflexivity]. Qed.

Lemma total_flat_map {S T} (f : T -> R) (g : S -> list T) l :
  total f (flat_map g l) = total (fun s => total f (g s)) l.
Proof. induction l; simpl; [reflexivity|rewrite total_app, IHl; reflexivity]. Qed.

(** ** Matrices that no psd matrix has a negative product with *)

Definition kind (d : nat) (Z : matrix) : Prop := forall A, psd d A -> 0 <= inner d A Z.

Lemma square_psd d x : psd d (fun i j => x i * x j).
Proof.
  split; [intros; ring|]. intros y. unfold form.
  rewrite (sum_ext d _ (fun i => (sum d (fun j => x j * y j)) * (x i * y i))).
  - rewrite sum_times. nra.
  - intros. rewrite (sum_ext d _ (fun j => (x k * y k) * (x j * y j))) by (intros; ring).
    rewrite sum_times. ring.
Qed.

Lemma kind_psd d Z : (forall i j, Z i j = Z j i) -> kind d Z -> psd d Z.
Proof.
  intros S K. split; [auto|]. intros x.
  replace (form d Z x x) with (inner d (fun i j => x i * x j) Z); [apply K, square_psd|].
  unfold inner, form. apply sum_ext. intros. apply sum_ext. intros. ring.
Qed.

Lemma kind_square d x : kind d (fun i j => x i * x j).
Proof. intros A [_ H]. rewrite inner_square. apply H. Qed.

(** The part of a psd matrix that the first row and column leave is psd. *)
Lemma psd_rest d A : psd (S d) A -> psd d (fun i j => A (S i) (S j)).
Proof.
  intros [E H]. split; [intros; apply E; lia|].
  intros x. specialize (H (fun k => match k with O => 0 | S k => x k end)).
  unfold form in H. simpl in H. unfold form.
  rewrite (sum_ext d (fun j => 0 * A 0%nat (S j) * x j) (fun _ => 0)) in H by (intros; ring).
  rewrite sum_zero in H.
  rewrite (sum_ext d _ (fun i => sum d (fun j => x i * A (S i) (S j) * x j))) in H by (intros; ring). lra.
Qed.

Lemma inner_rows d A Z : psd (S d) A -> (forall i j, Z i j = Z j i) ->
  inner (S d) A Z = A 0%nat 0%nat * Z 0%nat 0%nat + 2 * sum d (fun j => A 0%nat (S j) * Z 0%nat (S j))
    + inner d (fun i j => A (S i) (S j)) (fun i j => Z (S i) (S j)).
Proof.
  intros [E _] sym. unfold inner. simpl. rewrite sum_plus.
  rewrite (sum_ext d (fun k => A (S k) 0%nat * Z (S k) 0%nat) (fun j => A 0%nat (S j) * Z 0%nat (S j))).
  - ring.
  - intros. rewrite sym, E by lia. reflexivity.
Qed.

(** One step of elimination, with a pivot that is positive. *)
Lemma kind_step d (Z : matrix) (W : matrix) (p : R) :
  (forall i j, Z i j = Z j i) -> 0 < Z 0%nat 0%nat -> 0 <= p ->
  (forall i j, p * W i j = Z 0%nat 0%nat * Z (S i) (S j) - Z 0%nat (S i) * Z 0%nat (S j)) ->
  kind d W -> kind (S d) Z.
Proof.
  intros sym P0 Pp EW KW A HA.
  assert (HA' := psd_rest _ _ HA). specialize (KW _ HA').
  set (A' := fun i j => A (S i) (S j)) in *.
  set (z := Z 0%nat 0%nat) in *.
  assert (F : 0 <= form (S d) A (Z 0%nat) (Z 0%nat)) by (apply HA).
  assert (FF : form (S d) A (Z 0%nat) (Z 0%nat)
    = z * z * A 0%nat 0%nat + 2 * z * sum d (fun j => A 0%nat (S j) * Z 0%nat (S j))
      + inner d A' (fun i j => Z 0%nat (S i) * Z 0%nat (S j))).
  { rewrite <- inner_square. rewrite inner_rows by (auto; intros; ring). fold z. fold A'.
    rewrite (sum_ext d (fun j => A 0%nat (S j) * (z * Z 0%nat (S j)))
      (fun j => z * (A 0%nat (S j) * Z 0%nat (S j)))) by (intros; ring).
    rewrite sum_times. ring. }
  assert (EI : p * inner d A' W = z * inner d A' (fun i j => Z (S i) (S j))
    - inner d A' (fun i j => Z 0%nat (S i) * Z 0%nat (S j))).
  { rewrite <- inner_times. rewrite (inner_ext d A' _ _ (fun i j _ _ => EW i j)).
    replace (z * inner d A' (fun i j => Z (S i) (S j))
      - inner d A' (fun i j => Z 0%nat (S i) * Z 0%nat (S j)))
      with (z * inner d A' (fun i j => Z (S i) (S j))
      + -1 * inner d A' (fun i j => Z 0%nat (S i) * Z 0%nat (S j))) by ring.
    rewrite <- !inner_times, <- inner_plus. apply inner_ext. intros; ring. }
  rewrite inner_rows by auto. fold z. fold A'.
  assert (0 <= p * inner d A' W) by (apply Rmult_le_pos; auto).
  apply Rmult_le_reg_l with z; [auto|]. rewrite Rmult_0_r.
  match goal with |- 0 <= ?g => replace g with (form (S d) A (Z 0%nat) (Z 0%nat) + p * inner d A' W)
    by (rewrite FF, EI; ring) end. lra.
Qed.

(** The same where the first row is 0. *)
Lemma kind_skip d (Z : matrix) : (forall i j, Z i j = Z j i) -> (forall j, Z 0%nat j = 0) ->
  kind d (fun i j => Z (S i) (S j)) -> kind (S d) Z.
Proof.
  intros sym E K A HA. rewrite inner_rows by auto. rewrite E.
  rewrite (sum_ext d _ (fun _ => 0)) by (intros; rewrite E; ring). rewrite sum_zero.
  specialize (K _ (psd_rest _ _ HA)). lra.
Qed.

(** ** The two bounds *)

(** h ||A||^2 + <A, Z> >= - ||Z||^2 / (4 h) *)
Lemma norm_pays d A Z h : 0 < h -> - (norm2 d Z / (4 * h)) <= h * norm2 d A + inner d A Z.
Proof.
  intros H.
  assert (E : h * norm2 d A + inner d A Z + norm2 d Z / (4 * h)
    = sum d (fun i => sum d (fun j => h * ((A i j + Z i j / (2 * h)) * (A i j + Z i j / (2 * h)))))).
  { unfold norm2, inner. unfold Rdiv at 1. rewrite (Rmult_comm _ (/ (4 * h))).
    rewrite <- !sum_times, <- !sum_plus. apply sum_ext. intros.
    rewrite <- !sum_times, <- !sum_plus. apply sum_ext. intros. field. lra. }
  assert (0 <= sum d (fun i => sum d (fun j => h * ((A i j + Z i j / (2 * h)) * (A i j + Z i j / (2 * h)))))).
  { apply sum_pos. intros. apply sum_pos. intros. apply Rmult_le_pos; [lra|apply Rle_0_sqr]. }
  lra.
Qed.

(** A pair of features: |2 A_ij z| <= |z| (A_ii + A_jj). *)
Lemma psd_pair d A j : psd (S d) A -> (j < d)%nat ->
  forall z, - (Rabs z * (A 0%nat 0%nat + A (S j) (S j))) <= 2 * A 0%nat (S j) * z.
Proof.
  intros [E H] Hj z.
  assert (P : forall s, s * s = 1 -> 0 <= A 0%nat 0%nat + 2 * s * A 0%nat (S j) + A (S j) (S j)).
  { intros s Hs. specialize (H (fun k => match k with O => 1 | S k => if Nat.eqb k j then s else 0 end)).
    assert (One : forall n f k, (k < n)%nat -> sum n (fun i => if Nat.eqb i k then f i else 0) = f k).
    { clear. induction n as [|n IH]; intros f k Hk; [lia|]. simpl. destruct k.
      - simpl. rewrite sum_zero. ring.
      - simpl. rewrite (IH (fun i => f (S i))) by lia. ring. }
    unfold form in H. simpl in H.
    rewrite (sum_ext d (fun j0 => 1 * A 0%nat (S j0) * (if Nat.eqb j0 j then s else 0))
      (fun i => if Nat.eqb i j then (fun i => A 0%nat (S i) * s) i else 0)) in H
      by (intros k Hk; destruct (Nat.eqb k j); ring).
    rewrite One in H by auto.
    rewrite (sum_ext d (fun k => (if Nat.eqb k j then s else 0) * A (S k) 0%nat * 1
       + sum d (fun k0 => (if Nat.eqb k j then s else 0) * A (S k) (S k0) * (if Nat.eqb k0 j then s else 0)))
      (fun i => if Nat.eqb i j then (fun i => s * A (S i) 0%nat + s * A (S i) (S j) * s) i else 0)) in H.
    - rewrite One in H by auto. rewrite (E (S j) 0%nat) in H by lia.
      replace (s * A (S j) (S j) * s) with (s * s * A (S j) (S j)) in H by ring. rewrite Hs in H. lra.
    - intros k Hk. destruct (Nat.eqb k j).
      + rewrite (sum_ext d _ (fun i => if Nat.eqb i j then (fun i => s * A (S k) (S i) * s) i else 0))
          by (intros m Hm; destruct (Nat.eqb m j); ring).
        rewrite One by auto. ring.
      + rewrite (sum_ext d _ (fun _ => 0)) by (intros; ring). rewrite sum_zero. ring. }
  assert (P1 := P 1 ltac:(ring)). assert (P2 := P (-1) ltac:(ring)).
  unfold Rabs. destruct (Rcase_abs z); nra.
Qed.
