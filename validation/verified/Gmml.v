(** GMML: what the check accepts is proved.

    Let M be the inverse of a psd matrix A. The matrix [[A, - 1], [- 1, M]] is psd. If [[S, F], [F^T, D]] is psd too, their
    product is at least 0, so that tr A S + tr M D is at least 2 tr F. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods Budget Glml.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe, beside [inverse_of] of Glml, and [inner d A S] = tr A S for symmetric matrices *)

(** The sum of (x_i - x_j) (x_i - x_j)^T over pairs *)
Definition spread_of (X : points) (pairs : list pair) : matrix := fun a b =>
  total (fun s => let e k := real_point (at_ [] (rows X) (fst s)) (over X) k - real_point (at_ [] (rows X) (snd s)) (over X) k in
    e a * e b)%R pairs.

(** A is positive definite, and M is its inverse. *)
Definition gmml_feasible (d : nat) (A M : matrix) : Prop := psd d A /\ inverse_of d A M 1.

(** tr A S + tr A^-1 D. P is the inverse of the prior A_0. *)
Definition gmml_cost (X : points) (similar dissimilar : list pair) (mu : Q) (A_0 P A M : matrix) : R :=
  (inner (features X) A (fun i j => spread_of X similar i j + Q2R mu * P i j)
   + inner (features X) M (fun i j => spread_of X dissimilar i j + Q2R mu * A_0 i j))%R.

(** ** The bound, over the reals *)

Lemma sum_swap n m : forall f, sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [|n IH]; intros f; cbn [sum]; [symmetry; apply sum_zero|]. rewrite IH, <- sum_plus. reflexivity.
Qed.

Lemma sum_split n m : forall f, sum (n + m) f = (sum n f + sum m (fun k => f (n + k)%nat))%R.
Proof. induction n as [|n IH]; intros f; cbn [sum Nat.add]; [rewrite Rplus_0_l; reflexivity|rewrite IH, Rplus_assoc; reflexivity]. Qed.

Lemma sum_one n : forall (f : nat -> R) k, (k < n)%nat -> sum n (fun j => (if (k =? j)%nat then 1 else 0) * f j)%R = f k.
Proof.
  induction n as [|n IH]; intros f k K; [lia|]. cbn [sum]. destruct k as [|k]; cbn [Nat.eqb].
  - rewrite (sum_ext n _ (fun _ => 0%R)) by (intros; ring). rewrite sum_zero. ring.
  - rewrite (IH (fun j => f (S j))) by lia. ring.
Qed.

(** M z = u means z = A u. *)
Lemma inverse_image d A M z : inverse_of d A M 1 -> forall i, (i < d)%nat ->
  sum d (fun k => A i k * sum d (fun j => M k j * z j))%R = z i.
Proof.
  intros Inv i I. rewrite (sum_ext d _ (fun k => sum d (fun j => A i k * M k j * z j)%R)).
  - rewrite sum_swap, <- (sum_one d z i I). apply sum_ext. intros j J. rewrite <- (Inv i j I J).
    rewrite Rmult_comm, <- sum_times. apply sum_ext. intros; ring.
  - intros k _. rewrite <- sum_times. apply sum_ext. intros; ring.
Qed.

Lemma inverse_symmetric d A M : psd d A -> inverse_of d A M 1 -> forall i j, (i < d)%nat -> (j < d)%nat -> M i j = M j i.
Proof.
  intros [Sym _] Inv.
  assert (E : forall i j, (i < d)%nat -> (j < d)%nat -> sum d (fun k => M k i * sum d (fun l => A k l * M l j))%R = M j i).
  { intros i j I J. rewrite <- (sum_one d (fun k => M k i) j J). apply sum_ext. intros k K. rewrite (Inv k j K J), Nat.eqb_sym. ring. }
  intros i j I J. rewrite <- (E j i J I), <- (E i j I J).
  rewrite (sum_ext d (fun k => M k j * _)%R (fun k => sum d (fun l => M k j * (A k l * M l i))%R)) by (intros; rewrite sum_times; ring).
  rewrite sum_swap. apply sum_ext. intros k K. rewrite <- sum_times. apply sum_ext. intros l L. rewrite (Sym l k L K). ring.
Qed.

(** [[A, - 1], [- 1, M]] *)
Definition block (d : nat) (A M : matrix) : matrix := fun i j =>
  if (i <? d)%nat then (if (j <? d)%nat then A i j else if (i =? j - d)%nat then (-1)%R else 0%R)
  else if (j <? d)%nat then (if (i - d =? j)%nat then (-1)%R else 0%R) else M (i - d)%nat (j - d)%nat.

Ltac blocks := repeat match goal with
  | |- context [(?a <? ?b)%nat] => first [rewrite (proj2 (Nat.ltb_lt a b)) by lia | rewrite (proj2 (Nat.ltb_ge a b)) by lia]
  end.

(** A sum over two blocks of indices *)
Lemma sum_blocks d (f : nat -> nat -> R) : sum (d + d) (fun i => sum (d + d) (fun j => f i j))
  = (sum d (fun i => sum d (fun j => f i j)) + sum d (fun i => sum d (fun j => f i (d + j)%nat))
     + (sum d (fun i => sum d (fun j => f (d + i)%nat j)) + sum d (fun i => sum d (fun j => f (d + i)%nat (d + j)%nat))))%R.
Proof. rewrite sum_split. rewrite !(sum_ext d _ _ (fun k _ => sum_split d d _)), !sum_plus. reflexivity. Qed.

Lemma block_psd d A M : gmml_feasible d A M -> psd (d + d) (block d A M).
Proof.
  intros [HA Inv]. assert (Ms := inverse_symmetric d A M HA Inv). destruct HA as [Sym Pos]. split.
  - intros i j I J. unfold block. destruct (Nat.ltb_spec i d), (Nat.ltb_spec j d); auto.
    + rewrite Nat.eqb_sym. reflexivity.
    + rewrite Nat.eqb_sym. reflexivity.
    + apply Ms; lia.
  - intros y. set (z := fun k => y (d + k)%nat). set (u := fun k => sum d (fun j => M k j * z j)%R).
    assert (Zu : forall i, (i < d)%nat -> z i = sum d (fun k => A i k * u k)%R) by (intros; symmetry; apply inverse_image; auto).
    unfold form. rewrite sum_blocks.
    replace (sum d (fun i => sum d (fun j => y i * block d A M i j * y j)))%R with (form d A y y).
    2: { apply sum_ext. intros i I. apply sum_ext. intros j J. unfold block. blocks. reflexivity. }
    assert (Xz : forall x, sum d (fun i => x i * z i)%R = form d A x u).
    { intros x. apply sum_ext. intros i I. rewrite Zu, <- sum_times by auto. apply sum_ext. intros; ring. }
    replace (sum d (fun i => sum d (fun j => y i * block d A M i (d + j)%nat * y (d + j)%nat)))%R with (- form d A y u)%R.
    2: { rewrite <- Xz. replace (- sum d (fun i => y i * z i))%R with (-1 * sum d (fun i => y i * z i))%R by ring.
         rewrite <- sum_times. apply sum_ext. intros i I. rewrite <- (sum_one d (fun j => -1 * (y i * z j))%R i I).
         apply sum_ext. intros j J. unfold block. blocks. replace (d + j - d)%nat with j by lia. unfold z.
         destruct (i =? j)%nat; ring. }
    replace (sum d (fun i => sum d (fun j => y (d + i)%nat * block d A M (d + i)%nat j * y j)))%R with (- form d A y u)%R.
    2: { rewrite <- Xz. replace (- sum d (fun i => y i * z i))%R with (-1 * sum d (fun i => y i * z i))%R by ring.
         rewrite <- sum_times. apply sum_ext. intros i I. rewrite <- (sum_one d (fun j => -1 * (y j * z i))%R i I).
         apply sum_ext. intros j J. unfold block. blocks. replace (d + i - d)%nat with i by lia. unfold z.
         destruct (i =? j)%nat; ring. }
    replace (sum d (fun i => sum d (fun j => y (d + i)%nat * block d A M (d + i)%nat (d + j)%nat * y (d + j)%nat)))%R with (form d A u u).
    2: { rewrite <- Xz. apply sum_ext. intros i I. unfold u. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros j J.
         unfold block. blocks. replace (d + i - d)%nat with i by lia. replace (d + j - d)%nat with j by lia. unfold z. ring. }
    specialize (Pos (fun k => y k - u k)%R).
    replace (form d A (fun k => y k - u k) (fun k => y k - u k))%R with (form d A y y + - form d A y u + (- form d A y u + form d A u u))%R in Pos; [exact Pos|].
    assert (Swap : form d A u y = form d A y u).
    { unfold form. rewrite sum_swap. apply sum_ext. intros i I. apply sum_ext. intros j J. rewrite (Sym i j I J). ring. }
    transitivity (form d A y y - form d A y u - (form d A u y - form d A u u))%R; [rewrite Swap; ring|].
    unfold form. rewrite <- !sum_minus. apply sum_ext. intros i I. rewrite <- !sum_minus. apply sum_ext. intros; ring.
Qed.

(** tr A S + tr M D >= 2 tr F, for every F with [[S, F], [F^T, D]] psd *)
Theorem gmml_bound d S D F (T : matrix) :
  (forall i j, (i < d)%nat -> (j < d)%nat -> T i j = S i j /\ T i (d + j)%nat = F i j /\ T (d + i)%nat j = F j i /\
     T (d + i)%nat (d + j)%nat = D i j) ->
  kind (d + d) T -> forall A M, gmml_feasible d A M -> (2 * sum d (fun k => F k k) <= inner d A S + inner d M D)%R.
Proof.
  intros E K A M H. specialize (K _ (block_psd d A M H)). unfold inner at 1 in K. rewrite sum_blocks in K.
  assert (Off : forall g : nat -> nat -> R, (forall i j, (i < d)%nat -> (j < d)%nat -> g i j = ((if (i =? j)%nat then 1 else 0) * - F i i)%R) ->
    sum d (fun i => sum d (fun j => g i j)) = (- sum d (fun k => F k k))%R).
  { intros g G. replace (- sum d (fun k => F k k))%R with (-1 * sum d (fun k => F k k))%R by ring. rewrite <- sum_times.
    apply sum_ext. intros i I. rewrite (sum_ext d _ (fun j => (if (i =? j)%nat then 1 else 0) * - F i i)%R) by (intros; apply G; auto).
    rewrite (sum_one d (fun _ => - F i i)%R i I). ring. }
  rewrite (Off (fun i j => block d A M i (d + j)%nat * T i (d + j)%nat)%R) in K.
  2: { intros i j I J. destruct (E i j I J) as [_ [-> _]]. unfold block. blocks. replace (d + j - d)%nat with j by lia.
       destruct (Nat.eqb_spec i j) as [->|_]; ring. }
  rewrite (Off (fun i j => block d A M (d + i)%nat j * T (d + i)%nat j)%R) in K.
  2: { intros i j I J. destruct (E i j I J) as [_ [_ [-> _]]]. unfold block. blocks. replace (d + i - d)%nat with i by lia.
       destruct (Nat.eqb_spec i j) as [->|_]; ring. }
  replace (sum d (fun i => sum d (fun j => block d A M i j * T i j)))%R with (inner d A S) in K.
  2: { apply sum_ext. intros i I. apply sum_ext. intros j J. destruct (E i j I J) as [-> _]. unfold block. blocks. reflexivity. }
  replace (sum d (fun i => sum d (fun j => block d A M (d + i)%nat (d + j)%nat * T (d + i)%nat (d + j)%nat)))%R with (inner d M D) in K.
  2: { apply sum_ext. intros i I. apply sum_ext. intros j J. destruct (E i j I J) as [_ [_ [_ ->]]]. unfold block. blocks.
       replace (d + i - d)%nat with i by lia. replace (d + j - d)%nat with j by lia. reflexivity. }
  lra.
Qed.

(** ** Matrices of integers *)

(** T + U *)
Fixpoint joined (T U : triangle) : triangle :=
  match T, U with
  | [], _ => U
  | _, [] => T
  | r :: T, s :: U => addmul 1 r s :: joined T U
  end.

Lemma joined_entry T : forall U i j, entry (joined T U) i j = entry T i j + entry U i j.
Proof.
  induction T as [|r T IH]; intros [|s U] [|i] [|j]; cbn [joined entry]; rewrite ?addmul_nth; try lia; apply IH.
Qed.

(** The triangle of a function *)
Definition upper (n : nat) (g : nat -> nat -> Z) : triangle := map (fun i => map (g i) (seq i (n - i))) (seq 0 n).

Lemma upper_entry n g i j : (i < n)%nat -> (j < n)%nat -> entry (upper n g) i j = g (Nat.min i j) (Nat.max i j).
Proof.
  unfold upper.
  assert (E : forall n k i j, (i < n)%nat -> (j < n)%nat ->
    entry (map (fun i => map (g i) (seq i (k + n - i))) (seq k n)) i j = g (k + Nat.min i j)%nat (k + Nat.max i j)%nat).
  { clear. induction n as [|n IH]; intros k i j I J; [lia|]. cbn [seq map].
    assert (Row : forall j, (j < S n)%nat -> nth j (map (g k) (seq k (k + S n - k))) 0 = g k (k + j)%nat).
    { intros m M. rewrite (nth_indep _ 0 (g k O)) by (rewrite map_length, seq_length; lia). rewrite map_nth, seq_nth by lia. reflexivity. }
    destruct i as [|i]; [|destruct j as [|j]].
    - change (entry (?r :: ?T) O j) with (nth j r 0). rewrite Row by auto. f_equal; lia.
    - change (entry (?r :: ?T) (S i) O) with (nth (S i) r 0). rewrite Row by auto. f_equal; lia.
    - change (entry (?r :: ?T) (S i) (S j)) with (entry T i j).
      replace (k + S n)%nat with (S k + n)%nat by lia. rewrite IH by lia. f_equal; lia. }
  intros I J. exact (E n O i j I J).
Qed.

(** All rows *)
Definition full (d : nat) (T : triangle) : list row := map (fun i => map (entry T i) (seq 0 d)) (seq 0 d).

Lemma full_nth d T i : (i < d)%nat -> nth i (full d T) [] = map (entry T i) (seq 0 d).
Proof.
  intros I. unfold full. rewrite (nth_indep _ [] (map (entry T O) (seq 0 d))) by (rewrite map_length, seq_length; auto).
  rewrite (map_nth (fun i => map (entry T i) (seq 0 d))), seq_nth by auto. reflexivity.
Qed.

Lemma product_correct d T U i j : (i < d)%nat -> (j < d)%nat ->
  IZR (dot (nth i (full d T) []) (nth j (full d U) [])) = sum d (fun k => reals T i k * reals U j k)%R.
Proof.
  intros I J. rewrite !full_nth by auto. rewrite (dot_sum _ d) by (rewrite map_length, seq_length; auto).
  assert (N : forall V m k, (k < d)%nat -> nth k (map (entry V m) (seq 0 d)) 0 = entry V m k).
  { intros V m k K. rewrite (nth_indep _ 0 (entry V m O)) by (rewrite map_length, seq_length; auto). rewrite map_nth, seq_nth by auto. reflexivity. }
  apply sum_ext. intros k K. rewrite !N by auto. reflexivity.
Qed.

(** T U = c 1 *)
Definition inverse_shown (d : nat) (T U : triangle) (c : Z) : bool :=
  let F := full d T in let G := full d U in
  all_below d (fun i => all_below d (fun j => dot (nth i F []) (nth j G []) =? if (i =? j)%nat then c else 0)).

Lemma inverse_shown_correct d T U p w : inverse_shown d T U (Zpos (p * w)) = true ->
  inverse_of d (real_matrix T p) (real_matrix U w) 1.
Proof.
  intros H i j I J. assert (P := pos_IZR p). assert (W := pos_IZR w).
  assert (E := all_below_spec d _ (all_below_spec d _ H i I) j J). cbv beta in E. apply Z.eqb_eq, (f_equal IZR) in E.
  rewrite product_correct in E by auto.
  rewrite (sum_ext d _ (fun k => / (IZR (Zpos p) * IZR (Zpos w)) * (reals T i k * reals U j k))%R).
  - rewrite sum_times, E. destruct (i =? j)%nat; [|ring]. rewrite Pos2Z.inj_mul, mult_IZR. field. lra.
  - intros k _. unfold real_matrix, reals. rewrite (entry_symmetric U k j). field. lra.
Qed.

Definition inner_whole (d : nat) (T U : triangle) : Z :=
  let F := full d T in let G := full d U in summed (fun i => dot (nth i F []) (nth i G [])) (seq 0 d).

Lemma total_seq (f : nat -> R) d : total f (seq 0 d) = sum d f.
Proof.
  assert (E : forall m f, total f (seq m d) = sum d (fun k => f (m + k)%nat)); [|apply E].
  induction d as [|d IH]; intros m g; simpl; [reflexivity|]. rewrite IH, Nat.add_0_r. f_equal. apply sum_ext. intros k _.
  f_equal. lia.
Qed.

Lemma inner_whole_correct d T U p w :
  Q2R (inner_whole d T U # p * w) = inner d (real_matrix T p) (real_matrix U w).
Proof.
  assert (P := pos_IZR p). assert (W := pos_IZR w).
  rewrite Q2R_make. unfold inner_whole. cbv zeta. rewrite summed_correct, total_seq, Pos2Z.inj_mul, mult_IZR.
  unfold Rdiv. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros i I. rewrite product_correct, <- sum_times by auto.
  apply sum_ext. intros k _. unfold real_matrix, reals. field. lra.
Qed.

(** ** The sums of pairs, with the prior *)

Lemma squares_entry X P a b : forall T,
  IZR (entry (fold_left (fun T p => add_square (weight p) (minus (look [] (table (rows X)) (one p)) (look [] (table (rows X)) (other p))) T) P T) a b)
  = (IZR (entry T a b) + IZR (Zpos (over X)) * IZR (Zpos (over X)) * total (fun p => IZR (weight p) *
      ((real_point (at_ [] (rows X) (one p)) (over X) a - real_point (at_ [] (rows X) (other p)) (over X) a)
       * (real_point (at_ [] (rows X) (one p)) (over X) b - real_point (at_ [] (rows X) (other p)) (over X) b))) P)%R.
Proof.
  assert (O := pos_IZR (over X)). induction P as [|p P IH]; intros T; [simpl; ring|].
  cbn [fold_left]. rewrite IH, add_square_entry, plus_IZR, !mult_IZR, !minus_nth, !minus_IZR, !look_table.
  unfold total. cbn [fold_right]. unfold real_point. field. lra.
Qed.

(** spread_of + mu times the prior, over the second number *)
Definition with_prior (X : points) (pairs : list pair) (mu : Q) (prior : metric) : triangle * positive :=
  let square := (over X * over X)%positive in let c := (Qden mu * over_of prior)%positive in
  (joined (times (Zpos c) (squares (table (rows X)) (weights_of_pairs 1 pairs [])))
    (times (Qnum mu * Zpos square) (triangle_of prior)), (square * c)%positive).

Lemma with_prior_correct X pairs mu prior a b :
  real_matrix (fst (with_prior X pairs mu prior)) (snd (with_prior X pairs mu prior)) a b
  = (spread_of X pairs a b + Q2R mu * value_of prior a b)%R.
Proof.
  assert (O := pos_IZR (over X)). assert (M := pos_IZR (Qden mu)). assert (P := pos_IZR (over_of prior)).
  unfold with_prior, real_matrix. cbv zeta. cbn [fst snd]. rewrite joined_entry, !times_entry, plus_IZR, !mult_IZR.
  unfold squares. rewrite squares_entry. rewrite total_pairs. cbn [weight one other]. simpl (total _ []).
  replace (entry [] a b) with 0 by (destruct a, b; reflexivity).
  rewrite (total_ext _ (fun s : pair => (real_point (at_ [] (rows X) (fst s)) (over X) a - real_point (at_ [] (rows X) (snd s)) (over X) a)
       * (real_point (at_ [] (rows X) (fst s)) (over X) b - real_point (at_ [] (rows X) (snd s)) (over X) b))%R)
    by (intros; ring).
  unfold spread_of. cbv zeta. set (t := total _ pairs). unfold pair in t.
  match goal with |- context [total ?f pairs] => change (total f pairs) with t end. unfold value_of, real_matrix, Q2R.
  rewrite !Pos2Z.inj_mul, !mult_IZR. field. lra.
Qed.

(** ** The check

    a_0 and b_0 are the prior and its inverse, m and n the metric and its inverse. F is over phi. *)

Definition psd_block (d : nat) (S D : triangle * positive) (F : list row) (phi : positive) : triangle * positive :=
  let '(T, s) := S in let '(U, t) := D in
  (upper (d + d) (fun i j =>
     if (j <? d)%nat then Zpos (t * phi) * entry T i j
     else if (i <? d)%nat then Zpos (s * t) * nth (j - d) (nth i F []) 0
     else Zpos (s * phi) * entry U (i - d) (j - d)), (s * t * phi)%positive).

Definition check_gmml (div : Z -> Z -> Z) (X : points) (similar dissimilar : list pair) (mu : Q) (a_0 b_0 : metric)
    (F : list row) (phi : positive) (m n : metric) : option (Q * Q) :=
  let d := features X in
  let S := with_prior X similar mu b_0 in let D := with_prior X dissimilar mu a_0 in
  if all_inside X (rev_append similar dissimilar) []
     && metric_shown div d a_0 && inverse_shown d (triangle_of a_0) (triangle_of b_0) (Zpos (over_of a_0 * over_of b_0))
     && metric_shown div d m && inverse_shown d (triangle_of m) (triangle_of n) (Zpos (over_of m * over_of n))
     && psd_shown div (d + d) (fst (psd_block d S D F phi)) then
    Some (2 * (summed (fun k => nth k (nth k F []) 0%Z) (seq 0 d) # phi),
      (inner_whole d (triangle_of m) (fst S) # over_of m * snd S) + (inner_whole d (triangle_of n) (fst D) # over_of n * snd D))%Q
  else None.

Lemma psd_block_correct d S D F phi : let T := real_matrix (fst (psd_block d S D F phi)) (snd (psd_block d S D F phi)) in
  forall i j, (i < d)%nat -> (j < d)%nat ->
    T i j = real_matrix (fst S) (snd S) i j /\ T i (d + j)%nat = (IZR (nth j (nth i F []) 0%Z) / IZR (Zpos phi))%R /\
    T (d + i)%nat j = (IZR (nth i (nth j F []) 0%Z) / IZR (Zpos phi))%R /\
    T (d + i)%nat (d + j)%nat = real_matrix (fst D) (snd D) i j.
Proof.
  destruct S as [S s], D as [D t]. cbn [psd_block fst snd]. cbv zeta. intros i j I J.
  assert (P := pos_IZR phi). assert (Ps := pos_IZR s). assert (Pt := pos_IZR t).
  unfold real_matrix at 1 3 4 5. rewrite !upper_entry by lia.
  replace (Nat.min i (d + j)) with i by lia. replace (Nat.max i (d + j)) with (d + j)%nat by lia.
  replace (Nat.min (d + i) j) with j by lia. replace (Nat.max (d + i) j) with (d + i)%nat by lia.
  replace (Nat.min (d + i) (d + j)) with (d + Nat.min i j)%nat by lia.
  replace (Nat.max (d + i) (d + j)) with (d + Nat.max i j)%nat by lia.
  assert (X : forall V, entry V (Nat.min i j) (Nat.max i j) = entry V i j).
  { intros V. destruct (Nat.le_ge_cases i j); [rewrite Nat.min_l, Nat.max_r by lia|rewrite Nat.min_r, Nat.max_l by lia; rewrite entry_symmetric];
      reflexivity. }
  blocks. replace (d + j - d)%nat with j by lia. replace (d + i - d)%nat with i by lia.
  replace (d + Nat.min i j - d)%nat with (Nat.min i j) by lia. replace (d + Nat.max i j - d)%nat with (Nat.max i j) by lia.
  rewrite !X, !mult_IZR, !Pos2Z.inj_mul, !mult_IZR. unfold real_matrix. repeat split; field; lra.
Qed.

Theorem gmml_sound div X similar dissimilar mu a_0 b_0 F phi m n lo hi :
  check_gmml div X similar dissimilar mu a_0 b_0 F phi m n = Some (lo, hi) ->
  let cost := gmml_cost X similar dissimilar mu (value_of a_0) (value_of b_0) in
  gmml_feasible (features X) (value_of a_0) (value_of b_0) /\
  (forall A M, gmml_feasible (features X) A M -> Q2R lo <= cost A M)%R /\
  gmml_feasible (features X) (value_of m) (value_of n) /\ cost (value_of m) (value_of n) = Q2R hi.
Proof.
  unfold check_gmml. cbv zeta. intros H. destruct (_ && _) eqn:Ok in H; [|discriminate].
  do 5 (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]). injection H as <- <-.
  set (d := features X) in *.
  assert (S := with_prior_correct X similar mu b_0). assert (D := with_prior_correct X dissimilar mu a_0).
  split; [|split; [|split]].
  - split; [apply (metric_psd div); auto|apply inverse_shown_correct; auto].
  - intros A M HA. unfold gmml_cost. fold d.
    rewrite <- (inner_ext d A _ _ (fun i j _ _ => S i j)), <- (inner_ext d M _ _ (fun i j _ _ => D i j)).
    rewrite Q2R_mult. replace (Q2R 2) with 2%R by (unfold Q2R; simpl; lra). rewrite Q2R_make, summed_correct, total_seq.
    unfold Rdiv. rewrite (Rmult_comm (sum d _)), <- sum_times.
    apply Rle_trans with (2 := gmml_bound d _ _ (fun i j => IZR (nth j (nth i F []) 0%Z) / IZR (Zpos phi))%R _
      (psd_block_correct d _ _ F phi) (kind_over _ _ _ (psd_shown_correct div _ _ K)) A M HA).
    right. f_equal. apply sum_ext. intros; unfold Rdiv; ring.
  - split; [apply (metric_psd div); auto|apply inverse_shown_correct; auto].
  - unfold gmml_cost. fold d.
    rewrite <- (inner_ext d (value_of m) _ _ (fun i j _ _ => S i j)), <- (inner_ext d (value_of n) _ _ (fun i j _ _ => D i j)).
    rewrite Q2R_plus, !inner_whole_correct. reflexivity.
Qed.

(** A pair with an index beyond the points is refused. *)
Theorem gmml_inside div X similar dissimilar mu a_0 b_0 F phi m n r :
  check_gmml div X similar dissimilar mu a_0 b_0 F phi m n = Some r -> all_inside X (rev_append similar dissimilar) [] = true.
Proof.
  unfold check_gmml. cbv zeta. destruct (_ && _) eqn:Ok; [|discriminate]. intros _.
  do 5 (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]). auto.
Qed.

(** Every two points are a pair. *)
Definition check_gmml_labels div X (y : list Z) mu a_0 b_0 F phi m n :=
  if count y =? count (rows X) then check_gmml div X (made_pairs y true) (made_pairs y false) mu a_0 b_0 F phi m n else None.

Theorem gmml_labels_sound div X y mu a_0 b_0 F phi m n lo hi :
  check_gmml_labels div X y mu a_0 b_0 F phi m n = Some (lo, hi) ->
  let cost := gmml_cost X (pairs_by_labels y true) (pairs_by_labels y false) mu (value_of a_0) (value_of b_0) in
  gmml_feasible (features X) (value_of a_0) (value_of b_0) /\
  (forall A M, gmml_feasible (features X) A M -> Q2R lo <= cost A M)%R /\
  gmml_feasible (features X) (value_of m) (value_of n) /\ cost (value_of m) (value_of n) = Q2R hi.
Proof.
  unfold check_gmml_labels. rewrite !made_pairs_correct. destruct (_ =? _); [|discriminate]. apply gmml_sound.
Qed.
