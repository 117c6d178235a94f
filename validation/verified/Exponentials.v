(** Exponentials and logarithms, enclosed by whole numbers over one number.

    exp x is at least (1 + x / 2^s)^(2^s), which is s squarings; each is rounded down. A logarithm is a hint: z is at
    least ln y if exp z is at least y. As elsewhere, division is by an untrusted function, and each quotient is multiplied
    again. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Spread.
Import ListNotations.
Open Scope Z_scope.

(** ** Rounding down *)

(** At most a / p, for a >= 0 *)
Definition floor (div : Z -> Z -> Z) (a : Z) (p : positive) : Z :=
  let q := div a (Zpos p) in if (0 <=? q) && (q * Zpos p <=? a) then q else 0.

Lemma floor_correct div a p : 0 <= a -> 0 <= floor div a p /\ (IZR (floor div a p) <= IZR a / IZR (Zpos p))%R.
Proof.
  intros A. unfold floor. assert (P := pos_IZR p). destruct (_ && _) eqn:E.
  - apply andb_prop in E. destruct E as [Q M]. apply Z.leb_le in Q, M. split; [auto|].
    apply IZR_le in M. rewrite mult_IZR in M. apply (Rmult_le_reg_r (IZR (Zpos p))); [auto|].
    replace (IZR a / IZR (Zpos p) * IZR (Zpos p))%R with (IZR a) by (field; lra). exact M.
  - split; [lia|]. apply IZR_le in A. apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto].
Qed.

(** ** exp from below *)

(** 2^s *)
Fixpoint doublings (s : nat) : positive := match s with O => 1%positive | S s => xO (doublings s) end.

Lemma doublings_correct s : IZR (Zpos (doublings s)) = (2 ^ s)%R.
Proof.
  induction s as [|s IH]; [reflexivity|]. simpl. change (Zpos (doublings s)~0) with (2 * Zpos (doublings s)).
  rewrite mult_IZR, IH. reflexivity.
Qed.

(** a / u squared s times, each time rounded down to a multiple of 1 / u *)
Fixpoint squared (div : Z -> Z -> Z) (u : positive) (s : nat) (a : Z) : Z :=
  match s with O => a | S s => squared div u s (floor div (a * a) u) end.

Lemma squared_correct div u s : forall a, 0 <= a ->
  0 <= squared div u s a /\ (IZR (squared div u s a) / IZR (Zpos u) <= (IZR a / IZR (Zpos u)) ^ (2 ^ s))%R.
Proof.
  assert (U := pos_IZR u). assert (I : (0 < / IZR (Zpos u))%R) by (apply Rinv_0_lt_compat; auto).
  induction s as [|s IH]; intros a A.
  - simpl. split; [auto|lra].
  - cbn [squared]. destruct (floor_correct div (a * a) u) as [F L]; [nia|]. destruct (IH _ F) as [P Q].
    split; [auto|]. apply Rle_trans with (1 := Q).
    replace (2 ^ S s)%nat with (2 * 2 ^ s)%nat by (simpl; lia). rewrite pow_mult. apply pow_incr.
    apply IZR_le in F. split; [apply Rmult_le_pos; lra|].
    rewrite mult_IZR in L. apply (Rmult_le_compat_r (/ IZR (Zpos u))) in L; [|lra]. unfold Rdiv in *. simpl. lra.
Qed.

(** u times (1 + x / (r t)), rounded down; 0 if that is negative *)
Definition begun (div : Z -> Z -> Z) (u t : positive) (x : Z) (r : positive) : Z :=
  floor div (Z.max 0 ((Zpos (r * t) + x) * Zpos u)) (r * t).

Lemma begun_correct div u t x r : 0 <= begun div u t x r /\
  (IZR (begun div u t x r) / IZR (Zpos u) <= Rmax 0 (1 + IZR x / IZR (Zpos r) / IZR (Zpos t)))%R.
Proof.
  unfold begun. set (a := (Zpos (r * t) + x) * Zpos u).
  destruct (floor_correct div (Z.max 0 a) (r * t)) as [F L]; [lia|]. split; [auto|].
  assert (U := pos_IZR u). assert (P := pos_IZR r). assert (T := pos_IZR t).
  assert (I : (0 < / IZR (Zpos u))%R) by (apply Rinv_0_lt_compat; auto).
  apply (Rmult_le_compat_r (/ IZR (Zpos u))) in L; [|lra]. apply Rle_trans with (1 := L). clear F L.
  rewrite Pos2Z.inj_mul, mult_IZR. destruct (Z.max_spec 0 a) as [[H E]|[H E]]; rewrite E.
  - apply Rle_trans with (2 := Rmax_r _ _). right. unfold a. rewrite mult_IZR, plus_IZR, Pos2Z.inj_mul, mult_IZR. field. lra.
  - apply Rle_trans with (2 := Rmax_l _ _). right. unfold Rdiv. ring.
Qed.

Lemma exp_power x n : n <> 0%nat -> exp x = (exp (x / INR n) ^ n)%R.
Proof.
  intros N. assert (E : forall m a, (exp a ^ m)%R = exp (INR m * a)).
  { induction m as [|m IH]; intros a; [simpl; rewrite Rmult_0_l, exp_0; reflexivity|].
    rewrite S_INR. cbn [pow]. rewrite IH, <- exp_plus. f_equal. ring. }
  rewrite E. f_equal. field. apply not_0_INR. auto.
Qed.

(** exp (x / r) is at least this over u. *)
Definition exp_down (div : Z -> Z -> Z) (u : positive) (s : nat) (x : Z) (r : positive) : Z :=
  squared div u s (begun div u (doublings s) x r).

Lemma exp_down_correct div u s x r : 0 <= exp_down div u s x r /\
  (IZR (exp_down div u s x r) / IZR (Zpos u) <= exp (IZR x / IZR (Zpos r)))%R.
Proof.
  unfold exp_down. destruct (begun_correct div u (doublings s) x r) as [A B].
  destruct (squared_correct div u s _ A) as [C E]. split; [auto|]. apply Rle_trans with (1 := E).
  assert (K : (2 ^ s <> 0)%nat) by (apply Nat.pow_nonzero; lia).
  rewrite (exp_power _ _ K). apply pow_incr. assert (U := pos_IZR u). apply IZR_le in A.
  split; [apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto]|]. apply Rle_trans with (1 := B).
  rewrite doublings_correct, pow_INR. replace (INR 2) with 2%R by (simpl; lra).
  apply Rmax_lub; [left; apply exp_pos|apply exp_ineq1_le].
Qed.

(** The numbers of digits: 192 binary ones, and 90 squarings *)
Definition fine : positive := doublings 192.
Definition exp_below (div : Z -> Z -> Z) : Z -> positive -> Z := exp_down div fine 90.

Theorem exp_below_correct div x r : 0 <= exp_below div x r /\
  (IZR (exp_below div x r) / IZR (Zpos fine) <= exp (IZR x / IZR (Zpos r)))%R.
Proof. exact (exp_down_correct div fine 90 x r). Qed.

(* with the number itself, proofs would compute *)
Opaque fine exp_below.

(** ** exp from above *)

(** Beyond this, exp (- y) counts as exp (- 128). *)
Definition farthest : Z := 128.

(** exp (- y / r) is at most this over [fine], for y >= 0. *)
Definition exp_above (div : Z -> Z -> Z) (y : Z) (r : positive) : Z :=
  let a := exp_below div (Z.min y (farthest * Zpos r)) r in
  let q := div (Zpos fine * Zpos fine) a + 1 in
  if (0 <? a) && (Zpos fine * Zpos fine <=? q * a) then q else Zpos fine.

Theorem exp_above_correct div y r : 0 <= y -> (exp (- (IZR y / IZR (Zpos r))) <= IZR (exp_above div y r) / IZR (Zpos fine))%R.
Proof.
  intros Y. unfold exp_above. set (x := Z.min y (farthest * Zpos r)). set (u := fine).
  destruct (exp_below_correct div x r) as [A B]. fold u in B. set (a := exp_below div x r) in *.
  assert (U := pos_IZR u). assert (P := pos_IZR r). assert (Ip : (0 < / IZR (Zpos r))%R) by (apply Rinv_0_lt_compat; auto).
  apply IZR_le in Y. destruct (_ && _) eqn:E.
  - apply andb_prop in E. destruct E as [Pa M]. apply Z.ltb_lt in Pa. apply Z.leb_le in M.
    set (q := div (Zpos u * Zpos u) a + 1) in *. apply IZR_lt in Pa. apply IZR_le in M. rewrite !mult_IZR in M.
    assert (X : (IZR x / IZR (Zpos r) <= IZR y / IZR (Zpos r))%R).
    { apply Rmult_le_compat_r; [lra|]. apply IZR_le. apply Z.le_min_l. }
    assert (Q : (exp (- (IZR y / IZR (Zpos r))) <= / exp (IZR x / IZR (Zpos r)))%R).
    { rewrite <- exp_Ropp. destruct X as [X|X]; [left; apply exp_increasing; lra|rewrite X; lra]. }
    apply Rle_trans with (1 := Q). assert (Ex := exp_pos (IZR x / IZR (Zpos r))). set (e := exp _) in *.
    apply Rle_trans with (/ (IZR a / IZR (Zpos u)))%R.
    + apply Rinv_le_contravar; [apply Rdiv_lt_0_compat; lra|auto].
    + apply (Rmult_le_reg_r (IZR a * IZR (Zpos u))); [apply Rmult_lt_0_compat; lra|].
      replace (/ (IZR a / IZR (Zpos u)) * (IZR a * IZR (Zpos u)))%R with (IZR (Zpos u) * IZR (Zpos u))%R by (field; lra).
      replace (IZR q / IZR (Zpos u) * (IZR a * IZR (Zpos u)))%R with (IZR q * IZR a)%R by (field; lra). exact M.
  - replace (IZR (Zpos u) / IZR (Zpos u))%R with 1%R by (field; lra).
    apply Rle_trans with (exp 0); [|rewrite exp_0; lra].
    assert (0 <= IZR y / IZR (Zpos r))%R by (apply Rmult_le_pos; lra).
    destruct (Req_dec (IZR y / IZR (Zpos r)) 0) as [->|N]; [rewrite Ropp_0; lra|left; apply exp_increasing; lra].
Qed.

(** ** Logarithms: z / r is at least ln (n / p) *)

Lemma ln_le a b : (0 < a)%R -> (a <= b)%R -> (ln a <= ln b)%R.
Proof. intros A [H|H]; [left; apply ln_increasing; auto|rewrite H; lra]. Qed.

Lemma ln_below x : (0 < x)%R -> (ln x <= x - 1)%R.
Proof.
  intros X. rewrite <- (ln_exp (x - 1)). apply ln_le; [auto|]. assert (E := exp_ineq1_le (x - 1)). lra.
Qed.

Definition ln_at_most (div : Z -> Z -> Z) (n : Z) (p : positive) (z : Z) (r : positive) : bool :=
  n * Zpos fine <=? exp_below div z r * Zpos p.

Theorem ln_at_most_correct div n p z r : 0 < n -> ln_at_most div n p z r = true ->
  (ln (IZR n / IZR (Zpos p)) <= IZR z / IZR (Zpos r))%R.
Proof.
  intros N H. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H. apply IZR_lt in N.
  assert (U := pos_IZR fine). assert (P := pos_IZR p). destruct (exp_below_correct div z r) as [_ B].
  rewrite <- (ln_exp (IZR z / IZR (Zpos r))). apply ln_le; [apply Rdiv_lt_0_compat; auto|].
  apply Rle_trans with (2 := B). apply (Rmult_le_reg_r (IZR (Zpos p) * IZR (Zpos fine))); [apply Rmult_lt_0_compat; auto|].
  replace (IZR n / IZR (Zpos p) * (IZR (Zpos p) * IZR (Zpos fine)))%R with (IZR n * IZR (Zpos fine))%R by (field; lra).
  set (b := exp_below div z r) in *.
  replace (IZR b / IZR (Zpos fine) * (IZR (Zpos p) * IZR (Zpos fine)))%R with (IZR b * IZR (Zpos p))%R by (field; lra).
  exact H.
Qed.

(** ** ln sum exp: from above at given numbers, from below by weights *)

(** z / r is at least ln sum exp ((x_k - top) / unit) over a list, for a number [top] that no x_k exceeds. *)
Definition log_sum_at_most (div : Z -> Z -> Z) (top : Z) (l : list Z) (unit : positive) (z : Z) (r : positive) : bool :=
  summed (fun x => exp_above div (top - x) unit) l <=? exp_below div z r.

Theorem log_sum_at_most_correct div l unit z r : l <> [] -> log_sum_at_most div (largest l) l unit z r = true ->
  (ln (total (fun x => exp (IZR x / IZR (Zpos unit))) l) <= IZR (largest l) / IZR (Zpos unit) + IZR z / IZR (Zpos r))%R.
Proof.
  intros Ne H. set (top := largest l) in *. assert (U := pos_IZR fine). assert (P := pos_IZR unit).
  assert (Top : forall x, In x l -> x <= top).
  { unfold top. destruct l as [|y l]; [congruence|]. destruct (fold_max_largest l y) as [A [B _]].
    intros x [<-|I]; [exact A|apply B; auto]. }
  apply Z.leb_le, IZR_le in H. rewrite summed_correct in H.
  assert (S : (total (fun x => exp (IZR x / IZR (Zpos unit))) l
    <= exp (IZR top / IZR (Zpos unit)) * exp (IZR z / IZR (Zpos r)))%R).
  { apply Rle_trans with (total (fun x => exp (IZR top / IZR (Zpos unit)) * (/ IZR (Zpos fine) * IZR (exp_above div (top - x) unit))) l)%R.
    - apply total_le. intros x I. assert (E := exp_above_correct div (top - x) unit ltac:(specialize (Top x I); lia)).
      replace (IZR x / IZR (Zpos unit))%R with (IZR top / IZR (Zpos unit) + - (IZR (top - x) / IZR (Zpos unit)))%R
        by (rewrite minus_IZR; field; lra).
      rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos|]. unfold Rdiv in E. lra.
    - rewrite !total_times. apply Rmult_le_compat_l; [left; apply exp_pos|].
      destruct (exp_below_correct div z r) as [_ B]. apply Rle_trans with (2 := B).
      unfold Rdiv. rewrite Rmult_comm. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto|exact H]. }
  assert (Pos : (0 < total (fun x => exp (IZR x / IZR (Zpos unit))) l)%R).
  { destruct l as [|y l]; [congruence|]. simpl. assert (E := exp_pos (IZR y / IZR (Zpos unit))).
    assert (0 <= total (fun x => exp (IZR x / IZR (Zpos unit))) l)%R by (apply total_pos; intros; left; apply exp_pos).
    unfold total in *. lra. }
  apply (ln_le _ _ Pos) in S. rewrite <- exp_plus, ln_exp in S. exact S.
Qed.

(** For weights q > 0 with the sum 1 on some k of the list: ln sum exp v_k >= sum q_k v_k - sum q_k ln q_k. *)
Lemma log_sum_at_least {K} (v : K -> R) (l : list K) (q : list (K * R)) :
  (forall f, (forall k, 0 <= f k)%R -> total (fun s => f (fst s)) q <= total f l)%R ->
  (forall s, In s q -> 0 < snd s)%R -> total snd q = 1%R ->
  (total (fun s => snd s * v (fst s)) q - total (fun s => snd s * ln (snd s)) q <= ln (total (fun k => exp (v k)) l))%R.
Proof.
  intros Part Pos One. set (z := total (fun k => exp (v k)) l).
  assert (Le : (total (fun s => exp (v (fst s))) q <= z)%R) by (apply (Part (fun k => exp (v k))); intros; left; apply exp_pos).
  assert (Z : (0 < z)%R).
  { apply Rlt_le_trans with (2 := Le). destruct q as [|s q]; [simpl in One; lra|]. simpl. assert (E := exp_pos (v (fst s))).
    assert (0 <= total (fun s => exp (v (fst s))) q)%R by (apply total_pos; intros; left; apply exp_pos).
    unfold total in *. lra. }
  (* of each: q v - q ln q - q ln z = q ln (exp v / (z q)) <= exp v / z - q *)
  assert (L : (total (fun s => snd s * v (fst s) + - 1 * (snd s * ln (snd s)) + - ln z * snd s) q
    <= total (fun s => / z * exp (v (fst s)) + - 1 * snd s) q)%R).
  { apply total_le. intros s S. assert (Q := Pos s S). assert (E := exp_pos (v (fst s))).
    assert (X : (0 < exp (v (fst s)) / (z * snd s))%R) by (apply Rdiv_lt_0_compat; [auto|apply Rmult_lt_0_compat; auto]).
    assert (B := ln_below _ X). unfold Rdiv in B at 1.
    rewrite ln_mult, ln_Rinv, ln_mult, ln_exp in B; auto; try (apply Rinv_0_lt_compat); try (apply Rmult_lt_0_compat; auto).
    apply (Rmult_le_compat_l (snd s)) in B; [|lra].
    replace (snd s * (exp (v (fst s)) / (z * snd s) - 1))%R with (/ z * exp (v (fst s)) + - 1 * snd s)%R in B by (field; lra).
    lra. }
  rewrite !total_plus, !total_times, One in L.
  assert (/ z * total (fun s => exp (v (fst s))) q <= / z * z)%R
    by (apply Rmult_le_compat_l; [left; apply Rinv_0_lt_compat; auto|auto]).
  replace (/ z * z)%R with 1%R in * by (field; lra). lra.
Qed.
