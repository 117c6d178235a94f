(** The check of a problem h ||A||^2 + loss(D_A), and the theorem that it is right. *)

Require Import Reals Lra Lia List ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic.
Import ListNotations.
Open Scope Z_scope.

(** ** A table: element i of a list in few steps *)

Inductive tree (V : Type) : Type := Leaf | Node (l : tree V) (v : option V) (r : tree V).
Arguments Leaf {V}.
Arguments Node {V}.

Fixpoint find {V} (t : tree V) (p : positive) : option V :=
  match t with
  | Leaf => None
  | Node l v r => match p with xH => v | xO p => find l p | xI p => find r p end
  end.

Fixpoint put {V} (t : tree V) (p : positive) (v : V) : tree V :=
  match t with
  | Leaf =>
      match p with
      | xH => Node Leaf (Some v) Leaf
      | xO p => Node (put Leaf p v) None Leaf
      | xI p => Node Leaf None (put Leaf p v)
      end
  | Node l w r =>
      match p with
      | xH => Node l (Some v) r
      | xO p => Node (put l p v) w r
      | xI p => Node l w (put r p v)
      end
  end.

Definition table {V} (l : list V) : tree V :=
  fst (fold_left (fun s v => (put (fst s) (snd s) v, Pos.succ (snd s))) l (Leaf, 1%positive)).

Definition look {V} (none : V) (t : tree V) (i : N) : V :=
  match find t (N.succ_pos i) with Some v => v | None => none end.

Lemma find_leaf {V} p : find (@Leaf V) p = None.
Proof. destruct p; reflexivity. Qed.

Lemma put_same {V} p : forall (t : tree V) v, find (put t p v) p = Some v.
Proof. induction p; intros [|l w r] v; simpl; auto. Qed.

Lemma put_other {V} p : forall (t : tree V) q v, p <> q -> find (put t p v) q = find t q.
Proof.
  induction p; intros [|l w r] [q|q|] v H; simpl; auto; try congruence;
    try (rewrite IHp by congruence; auto using find_leaf); try apply find_leaf.
Qed.

Lemma table_from {V} (l : list V) : forall t p q,
  find (fst (fold_left (fun s v => (put (fst s) (snd s) v, Pos.succ (snd s))) l (t, p))) q
  = if (q <? p)%positive then find t q
    else match nth_error l (Pos.to_nat q - Pos.to_nat p) with Some v => Some v | None => find t q end.
Proof.
  induction l as [|v l IH]; intros t p q.
  - simpl. destruct (q <? p)%positive; auto. destruct (Pos.to_nat q - Pos.to_nat p)%nat; reflexivity.
  - cbn [fold_left fst snd]. rewrite IH. destruct (q <? p)%positive eqn:E; destruct (q <? Pos.succ p)%positive eqn:F.
    + apply put_other. apply Pos.ltb_lt in E. lia.
    + apply Pos.ltb_lt in E. apply Pos.ltb_ge in F. lia.
    + apply Pos.ltb_ge in E. apply Pos.ltb_lt in F. assert (q = p) by lia. subst q.
      rewrite put_same. replace (Pos.to_nat p - Pos.to_nat p)%nat with O by lia. reflexivity.
    + apply Pos.ltb_ge in E. apply Pos.ltb_ge in F. rewrite put_other by lia.
      replace (Pos.to_nat q - Pos.to_nat p)%nat with (S (Pos.to_nat q - Pos.to_nat (Pos.succ p))) by lia. reflexivity.
Qed.

Lemma look_table {V} (none : V) l i : look none (table l) i = at_ none l i.
Proof.
  unfold look, table, at_. rewrite table_from.
  destruct (N.succ_pos i <? 1)%positive eqn:E; [apply Pos.ltb_lt in E; lia|].
  replace (Pos.to_nat (N.succ_pos i) - Pos.to_nat 1)%nat with (N.to_nat i).
  - rewrite find_leaf. revert l. induction (N.to_nat i); intros [|v l]; simpl; auto.
  - destruct i; simpl; lia.
Qed.

(** ** Sums over long lists: no stack is needed *)

Definition summed {T} (f : T -> Z) (l : list T) : Z := fold_left (fun s t => s + f t) l 0.

Lemma summed_from {T} (f : T -> Z) l : forall s, IZR (fold_left (fun s t => s + f t) l s)
  = (IZR s + total (fun t => IZR (f t)) l)%R.
Proof. induction l as [|t l IH]; intros s; simpl; [ring|]. rewrite IH, plus_IZR. ring. Qed.

Lemma summed_correct {T} (f : T -> Z) l : IZR (summed f l) = total (fun t => IZR (f t)) l.
Proof. unfold summed. rewrite summed_from. ring. Qed.

Lemma Q2R_make n p : Q2R (n # p) = (IZR n / IZR (Zpos p))%R.
Proof. reflexivity. Qed.

Lemma pos_IZR p : (0 < IZR (Zpos p))%R.
Proof. apply (IZR_lt 0). lia. Qed.

(** ** Distances in integers *)

(** T x for the matrix of a triangle *)
Fixpoint image (T : triangle) (x : row) : row :=
  match T, x with
  | r :: T, a :: x => dot r (a :: x) :: addmul a (tl r) (image T x)
  | _, _ => []
  end.

Lemma dot_comm u : forall v, dot u v = dot v u.
Proof. induction u as [|x u IH]; intros [|y v]; simpl; rewrite ?IH; lia. Qed.

Lemma image_nth T : forall d x k, (length x <= d)%nat ->
  IZR (nth k (image T x) 0%Z) = sum d (fun j => (reals T k j * IZR (nth j x 0%Z))%R).
Proof.
  induction T as [|r T IH]; intros d x k H.
  - cbn [image]. rewrite nth_nil. rewrite (sum_ext d _ (fun _ => 0%R)); [rewrite sum_zero; reflexivity|].
    intros. unfold reals. simpl. ring.
  - destruct x as [|a x].
    + cbn [image]. rewrite nth_nil. rewrite (sum_ext d _ (fun _ => 0%R)); [rewrite sum_zero; reflexivity|].
      intros. rewrite nth_nil. ring.
    + destruct d as [|d]; [simpl in H; lia|]. destruct k as [|k].
      * cbn [image nth]. rewrite dot_comm, (dot_sum _ (S d)) by auto. apply sum_ext. intros j _.
        unfold reals. cbn [entry]. apply Rmult_comm.
      * cbn [image nth]. rewrite addmul_nth, plus_IZR, mult_IZR. rewrite (IH d) by (simpl in H; lia).
        simpl sum. cbn [nth]. unfold reals at 2. cbn [entry].
        rewrite (sum_ext d (fun k0 => (reals (r :: T) (S k) (S k0) * IZR (nth k0 x 0%Z))%R)
          (fun j => (reals T k j * IZR (nth j x 0%Z))%R)) by (intros; reflexivity).
        replace (nth k (tl r) 0) with (nth (S k) r 0) by (destruct r; simpl; [destruct k|]; reflexivity). ring.
Qed.

(** A point and its image *)
Definition pair_ : Type := row * row.
Definition images (T : triangle) (l : list row) : tree pair_ :=
  table (rev_append (fold_left (fun s x => (x, image T x) :: s) l []) []).

Lemma images_at T l i : look ([], []) (images T l) i = (at_ [] l i, image T (at_ [] l i)).
Proof.
  unfold images. rewrite look_table. unfold at_.
  assert (E : forall s, rev_append (fold_left (fun s x => (x, image T x) :: s) l s) []
    = rev_append s [] ++ map (fun x => (x, image T x)) l).
  { induction l as [|x l IH]; intros s; [rewrite app_nil_r; reflexivity|].
    cbn [fold_left map]. rewrite IH. rewrite !rev_append_rev, !app_nil_r. simpl. rewrite <- app_assoc. reflexivity. }
  rewrite E. cbn [rev_append app]. destruct T as [|r T].
  - apply (map_nth (fun x => (x, image [] x)) l []).
  - apply (map_nth (fun x => (x, image (r :: T) x)) l []).
Qed.

(** The distance times over^2 times the denominator of the metric *)
Definition whole_distance (t : tree pair_) (i j : N) : Z :=
  let (x, a) := look ([], []) t i in
  let (y, b) := look ([], []) t j in dot (minus x y) (minus a b).

Definition short (X : points) : bool := forallb (fun x => (length x =? features X)%nat) (rows X).

Lemma short_at X i : short X = true -> (length (at_ [] (rows X) i) <= features X)%nat.
Proof.
  unfold short, at_. intros H. rewrite forallb_forall in H.
  destruct (nth_in_or_default (N.to_nat i) (rows X) []) as [I|E].
  - apply H in I. apply Nat.eqb_eq in I. apply Nat.eq_le_incl, I.
  - unfold row in *. rewrite E. simpl. lia.
Qed.

Lemma whole_distance_correct X T p i j : short X = true ->
  (IZR (whole_distance (images T (rows X)) i j) / (IZR (Zpos (over X)) * IZR (Zpos (over X)) * IZR (Zpos p)))%R
  = D X (real_matrix T p) i j.
Proof.
  intros H. unfold whole_distance. rewrite !images_at.
  set (x := at_ [] (rows X) i). set (y := at_ [] (rows X) j).
  assert (Hx : (length x <= features X)%nat) by (apply short_at; auto).
  assert (Hy : (length y <= features X)%nat) by (apply short_at; auto).
  set (d := features X) in *.
  rewrite (dot_sum _ d) by (apply minus_length; auto).
  unfold D, dist. fold x y d. unfold form.
  assert (Pq := pos_IZR (over X)). assert (Pp := pos_IZR p).
  set (q := IZR (Zpos (over X))) in *. unfold Rdiv at 1. rewrite Rmult_comm, <- sum_times.
  apply sum_ext. intros k Hk.
  rewrite !minus_nth, !minus_IZR, (image_nth T d x k), (image_nth T d y k) by auto.
  rewrite <- sum_minus, <- !sum_times. apply sum_ext. intros m Hm.
  unfold real_point, real_matrix, reals. fold q. field. lra.
Qed.

(** ** The sum of weighted squares of pairs *)

Record weighted := { weight : Z; one : N; other : N }.

Definition squares (t : tree row) (P : list weighted) : triangle :=
  fold_left (fun T p => add_square (weight p) (minus (look [] t (one p)) (look [] t (other p))) T) P [].

Lemma inner_squares X A P : forall T,
  inner (features X) A (reals (fold_left (fun T p => add_square (weight p)
    (minus (look [] (table (rows X)) (one p)) (look [] (table (rows X)) (other p))) T) P T))
  = (inner (features X) A (reals T) + IZR (Zpos (over X)) * IZR (Zpos (over X))
      * total (fun p => IZR (weight p) * D X A (one p) (other p)) P)%R.
Proof.
  induction P as [|p P IH]; intros T; simpl; [ring|].
  rewrite IH, inner_add_square. unfold D at 2. unfold dist. rewrite !look_table.
  set (x := at_ [] (rows X) (one p)). set (y := at_ [] (rows X) (other p)).
  assert (Pq := pos_IZR (over X)). set (q := IZR (Zpos (over X))) in *.
  rewrite (form_ext _ A (fun k => IZR (nth k (minus x y) 0%Z))
    (fun k => q * (real_point x (over X) k - real_point y (over X) k))%R).
  - rewrite form_times. ring.
  - intros k _. rewrite minus_nth, minus_IZR. unfold real_point. fold q. field. lra.
Qed.

(** ** A psd matrix that is known: upper triangle over a denominator, or by the vectors that it is the square of *)

Inductive metric := Given (T : triangle) (over : positive) | Square (vectors : list row) (over : positive).

Definition of_vectors (c : Z) (vectors : list row) (T : triangle) : triangle :=
  fold_left (fun T v => add_square c v T) vectors T.

Definition triangle_of (m : metric) : triangle :=
  match m with Given T _ => T | Square L _ => of_vectors 1 L [] end.
Definition over_of (m : metric) : positive :=
  match m with Given _ p => p | Square _ p => (p * p)%positive end.

(** The metric as a real matrix *)
Definition value_of (m : metric) : matrix := real_matrix (triangle_of m) (over_of m).

Definition metric_shown (div : Z -> Z -> Z) (d : nat) (m : metric) : bool :=
  match m with Given T _ => psd_shown div d T | Square _ _ => true end.

(** v^T A v *)
Definition of_vector (d : nat) (A : matrix) (v : row) : R :=
  form d A (fun k => IZR (nth k v 0%Z)) (fun k => IZR (nth k v 0%Z)).

Lemma inner_of_vectors d A c L : forall T, inner d A (reals (of_vectors c L T))
  = (inner d A (reals T) + IZR c * total (of_vector d A) L)%R.
Proof.
  induction L as [|v L IH]; intros T; simpl; [ring|]. unfold of_vectors in *. simpl.
  rewrite IH, inner_add_square. unfold of_vector at 2. ring.
Qed.

Lemma total_pos {T} (f : T -> R) l : (forall t, In t l -> (0 <= f t)%R) -> (0 <= total f l)%R.
Proof.
  induction l as [|t l IH]; simpl; intros H; [lra|].
  assert (0 <= f t)%R by auto. assert (0 <= total f l)%R by auto. unfold total in *. lra.
Qed.

Lemma forms_pos d A L : psd d A ->
  (0 <= total (of_vector d A) L)%R.
Proof. intros [_ H]. apply total_pos. intros. apply H. Qed.

Lemma kind_over d T p : kind d (reals T) -> kind d (real_matrix T p).
Proof.
  intros K A HA. assert (P := pos_IZR p).
  rewrite (inner_ext d A _ (fun i j => (/ IZR (Zpos p) * reals T i j)%R)).
  - rewrite inner_times. apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; auto|apply K; auto].
  - intros. unfold real_matrix, reals, Rdiv. ring.
Qed.

Lemma metric_psd div d m : metric_shown div d m = true -> psd d (value_of m).
Proof.
  intros H. apply kind_psd.
  - intros i j. unfold value_of, real_matrix. rewrite entry_symmetric. reflexivity.
  - apply kind_over. destruct m as [T p|L p]; simpl in *.
    + apply (psd_shown_correct div); auto.
    + intros A HA. rewrite inner_of_vectors, inner_empty. assert (F := forms_pos d A L HA).
      rewrite Rmult_1_l, Rplus_0_l. exact F.
Qed.

(** h ||A||^2 *)
Definition norm_of (h : Q) (m : metric) : Q := h * (norm (triangle_of m) # (over_of m * over_of m)).

Lemma norm_of_correct d h m : fits d (triangle_of m) = true ->
  Q2R (norm_of h m) = (Q2R h * norm2 d (value_of m))%R.
Proof.
  intros F. unfold norm_of. rewrite Q2R_mult, Q2R_make. f_equal.
  rewrite <- (norm_correct _ d F). unfold norm2, Rdiv. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros i _.
  rewrite <- sum_times. apply sum_ext. intros j _. unfold value_of, real_matrix, reals.
  rewrite Pos2Z.inj_mul, mult_IZR. field. assert (P := pos_IZR (over_of m)). lra.
Qed.

(** ** The lower bound *)

(** What the side file says of Z = sum w X: Z less the square of some vectors is psd, or it is what the norm pays for. *)
Record factor := { vectors : list row; beneath : positive; paid : bool }.

(** h ||A||^2 + <A, Z> is at least this, for Z = sum of weights w / p *)
Definition below (div : Z -> Z -> Z) (X : points) (h : Q) (P : list weighted) (p : positive) (f : factor) : option Q :=
  let per := (p * (over X * over X))%positive in
  let b := (beneath f * beneath f)%positive in
  let Z := squares (table (rows X)) P in
  let rest := of_vectors (- Zpos per) (vectors f) (times (Zpos b) Z) in
  if paid f then
    if Qle_bool h 0 || negb (fits (features X) rest) then None
    else Some (- ((norm rest # (per * b * (per * b))) / (4 * h)))%Q
  else if Qle_bool 0 h && psd_shown div (features X) rest then Some 0%Q else None.

Lemma below_correct div X h P p f b : below div X h P p f = Some b ->
  forall A, psd (features X) A ->
  (Q2R b <= Q2R h * norm2 (features X) A + total (fun w => IZR (weight w) / IZR (Zpos p) * D X A (one w) (other w)) P)%R.
Proof.
  unfold below. set (per := (p * (over X * over X))%positive). set (bb := (beneath f * beneath f)%positive).
  set (Z := squares (table (rows X)) P).
  set (rest := of_vectors (- Zpos per) (vectors f) (times (Zpos bb) Z)).
  intros H A HA. set (d := features X) in *.
  assert (Pper := pos_IZR per). assert (Pb := pos_IZR bb). assert (Pp := pos_IZR p). assert (Pq := pos_IZR (over X)).
  assert (N := norm2_pos d A).
  assert (E : (inner d A (reals rest) / (IZR (Zpos per) * IZR (Zpos bb))
    <= total (fun w => IZR (weight w) / IZR (Zpos p) * D X A (one w) (other w)) P)%R).
  { unfold rest. rewrite inner_of_vectors, inner_times_triangle. unfold Z, squares, d.
    rewrite inner_squares, inner_empty. fold d.
    assert (F := forms_pos d A (vectors f) HA).
    set (V := total _ (vectors f)) in *. set (W := total _ P).
    rewrite (total_ext _ (fun w => / IZR (Zpos p) * (IZR (weight w) * D X A (one w) (other w)))%R)
      by (intros; unfold Rdiv; ring).
    rewrite total_times. fold W. rewrite opp_IZR.
    apply Rmult_le_reg_r with (IZR (Zpos per) * IZR (Zpos bb))%R; [nra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by nra.
    replace (/ IZR (Zpos p) * W * (IZR (Zpos per) * IZR (Zpos bb)))%R
      with (IZR (Zpos bb) * (IZR (Zpos (over X)) * IZR (Zpos (over X)) * W))%R
      by (unfold per; rewrite !Pos2Z.inj_mul, !mult_IZR; field; lra).
    assert (0 <= IZR (Zpos per) * V)%R by (apply Rmult_le_pos; lra). lra. }
  destruct (paid f).
  - destruct (Qle_bool h 0) eqn:Hh; simpl in H; [discriminate|]. destruct (fits d rest) eqn:F; simpl in H; [|discriminate].
    inversion H; subst; clear H.
    assert (H0 : (0 < Q2R h)%R).
    { replace 0%R with (Q2R 0) by (unfold Q2R; simpl; lra). apply Qlt_Rlt. apply Qnot_le_lt. intros C.
      apply Qle_bool_iff in C. congruence. }
    assert (B := norm_pays d A (fun i j => / (IZR (Zpos per) * IZR (Zpos bb)) * reals rest i j)%R (Q2R h) H0).
    rewrite inner_times in B.
    replace (norm2 d (fun i j => / (IZR (Zpos per) * IZR (Zpos bb)) * reals rest i j))%R
      with (IZR (norm rest) / (IZR (Zpos per) * IZR (Zpos bb) * (IZR (Zpos per) * IZR (Zpos bb))))%R in B.
    + rewrite Q2R_opp, Q2R_div, Q2R_mult, Q2R_make.
      * replace (Q2R 4) with 4%R by (unfold Q2R; simpl; lra). rewrite !Pos2Z.inj_mul, !mult_IZR.
        unfold Rdiv in *. lra.
      * intros C. apply Qeq_eqR in C. rewrite Q2R_mult in C.
        replace (Q2R 4) with 4%R in C by (unfold Q2R; simpl; lra).
        replace (Q2R 0) with 0%R in C by (unfold Q2R; simpl; lra). lra.
    + rewrite <- (norm_correct _ d F). unfold norm2, Rdiv. rewrite Rmult_comm, <- sum_times. apply sum_ext. intros i _.
      rewrite <- sum_times. apply sum_ext. intros j _. field. lra.
  - destruct (Qle_bool 0 h) eqn:Hh; simpl in H; [|discriminate].
    destruct (psd_shown div d rest) eqn:F; [|discriminate]. inversion H; subst; clear H.
    apply Qle_bool_iff in Hh. apply Qle_Rle in Hh. replace (Q2R 0) with 0%R in * by (unfold Q2R; simpl; lra).
    assert (K := psd_shown_correct div d rest F A HA).
    assert (0 <= inner d A (reals rest) / (IZR (Zpos per) * IZR (Zpos bb)))%R.
    { apply Rmult_le_pos; [auto|]. left. apply Rinv_0_lt_compat. nra. }
    assert (0 <= Q2R h * norm2 d A)%R by (apply Rmult_le_pos; auto). lra.
Qed.

(** ** The check

    k + sum w D_A is an affine function below the loss; [value] is the loss at the metric, of whole distances, each to
    be divided by the number it is given with. *)

Definition check (div : Z -> Z -> Z) (X : points) (h : Q) (k : Q) (P : list weighted) (p : positive) (f : factor)
    (m : metric) (value : (N -> N -> Z) -> positive -> option Q) : option (Q * Q) :=
  if short X && fits (features X) (triangle_of m) && metric_shown div (features X) m then
    match below div X h P p f with
    | None => None
    | Some b =>
        let t := images (triangle_of m) (rows X) in
        match value (whole_distance t) (over X * over X * over_of m)%positive with
        | None => None
        | Some v => Some (k + b, norm_of h m + v)%Q
        end
    end
  else None.

(** What the check has found: its bound, and its value at whole distances over a number. *)
Lemma check_parts div X h k P p f m value lo hi : check div X h k P p f m value = Some (lo, hi) ->
  (forall A, psd (features X) A -> Q2R lo <= Q2R h * norm2 (features X) A
     + (Q2R k + total (fun w => IZR (weight w) / IZR (Zpos p) * D X A (one w) (other w)) P))%R /\
  psd (features X) (value_of m) /\
  exists whole unit v, (forall i j, IZR (whole i j) / IZR (Zpos unit) = D X (value_of m) i j)%R /\
    value whole unit = Some v /\ (Q2R hi = Q2R h * norm2 (features X) (value_of m) + Q2R v)%R.
Proof.
  intros H. unfold check in H.
  destruct (short X) eqn:S; simpl in H; [|discriminate].
  destruct (fits (features X) (triangle_of m)) eqn:F; simpl in H; [|discriminate].
  destruct (metric_shown div (features X) m) eqn:M; [|discriminate].
  destruct (below div X h P p f) as [b|] eqn:B; [|discriminate].
  destruct (value _ _) as [v|] eqn:V; [|discriminate]. inversion H; subst; clear H.
  split; [|split; [apply (metric_psd div); auto|]].
  - intros A HA. rewrite Q2R_plus. assert (C := below_correct _ _ _ _ _ _ _ B A HA). lra.
  - eexists _, _, v. split; [|split; [exact V|rewrite Q2R_plus, (norm_of_correct (features X)) by auto; reflexivity]].
    intros i j. unfold value_of. rewrite <- whole_distance_correct by auto. rewrite !Pos2Z.inj_mul, !mult_IZR. reflexivity.
Qed.

(** [allowed] is what the problem asks of distances, if anything. *)
Theorem check_sound div X h k P p f m value (loss : (N -> N -> R) -> R) (allowed : (N -> N -> R) -> Prop) lo hi :
  (forall D, (forall i j, 0 <= D i j)%R -> allowed D ->
     (Q2R k + total (fun w => IZR (weight w) / IZR (Zpos p) * D (one w) (other w)) P <= loss D)%R) ->
  (forall D whole unit v, (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R -> value whole unit = Some v ->
     loss D = Q2R v /\ allowed D) ->
  check div X h k P p f m value = Some (lo, hi) ->
  (forall A, psd (features X) A -> allowed (D X A) -> Q2R lo <= Q2R h * norm2 (features X) A + loss (D X A))%R /\
  psd (features X) (value_of m) /\ allowed (D X (value_of m)) /\
  (Q2R h * norm2 (features X) (value_of m) + loss (D X (value_of m)) = Q2R hi)%R.
Proof.
  intros Hk Hv H. destruct (check_parts _ _ _ _ _ _ _ _ _ _ _ H) as [Lo [Psd [whole [unit [v [E [V Hi]]]]]]].
  destruct (Hv _ _ _ _ E V) as [L A0]. split; [|split; [auto|split; [auto|rewrite Hi, L; reflexivity]]].
  intros A HA AA. assert (K := Hk (D X A) (fun i j => dist_pos _ _ _ _ HA) AA). specialize (Lo A HA). lra.
Qed.

(** The same where the value is only an upper bound of the loss, as with exponentials and logarithms *)
Theorem check_at_most div X h k P p f m value (loss : (N -> N -> R) -> R) lo hi :
  (forall D, (forall i j, 0 <= D i j)%R ->
     (Q2R k + total (fun w => IZR (weight w) / IZR (Zpos p) * D (one w) (other w)) P <= loss D)%R) ->
  (forall D whole unit v, (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R -> value whole unit = Some v ->
     (loss D <= Q2R v)%R) ->
  check div X h k P p f m value = Some (lo, hi) ->
  (forall A, psd (features X) A -> Q2R lo <= Q2R h * norm2 (features X) A + loss (D X A))%R /\
  psd (features X) (value_of m) /\
  (Q2R h * norm2 (features X) (value_of m) + loss (D X (value_of m)) <= Q2R hi)%R.
Proof.
  intros Hk Hv H. destruct (check_parts _ _ _ _ _ _ _ _ _ _ _ H) as [Lo [Psd [whole [unit [v [E [V Hi]]]]]]].
  assert (L := Hv _ _ _ _ E V). split; [|split; [auto|lra]].
  intros A HA. assert (K := Hk (D X A) (fun i j => dist_pos _ _ _ _ HA)). specialize (Lo A HA). lra.
Qed.
