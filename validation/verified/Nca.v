(** NCA (Goldberger, Roweis, Hinton and Salakhutdinov 2004), for classes and metrics of any rank: what the check accepts is
    proved.

    The objective is not convex. CCCP replaces it by a convex step, which is nowhere below it, and equal to it at the
    metric. The theorem bounds the step from below, with its real weights; it does not bound the objective, unless the
    criterion is g and every class has two points. The side file has rational numbers that these weights are at least. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Methods Spread Gerrymandering Exponentials Softmaxes.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe, beside [others] of Gerrymandering, [mates] and [accompanied] of Softmaxes *)

(** - sum p_i, or - sum ln p_i *)
Inductive criterion := Of_f | Of_g.

Definition mass (d : N -> R) (l : list N) : R := total (fun k => exp (- d k))%R l.
Definition p_of (y : list Z) (D : N -> N -> R) (i : N) : R := (mass (D i) (mates y i) / mass (D i) (others y i))%R.

Definition nca_cost (y : list Z) (cr : criterion) (D : N -> N -> R) : R :=
  total (fun i => match cr with Of_f => - p_of y D i | Of_g => - ln (p_of y D i) end)%R (accompanied y).

(** w_ij = p_ij / p_i *)
Definition w_of (y : list Z) (D : N -> N -> R) (i j : N) : R := (exp (- D i j) / mass (D i) (mates y i))%R.

(** The convex step at distances D0 *)
Definition nca_step (y : list Z) (cr : criterion) (D0 D : N -> N -> R) : R :=
  total (fun i =>
    let p := p_of y D0 i in let c := match cr with Of_f => p | Of_g => 1 end in
    c * (ln (mass (D i) (others y i)) + total (fun j => w_of y D0 i j * D i j) (mates y i))
    + c * total (fun j => w_of y D0 i j * ln (w_of y D0 i j)) (mates y i)
    + match cr with Of_f => p * ln p - p | Of_g => 0 end)%R (accompanied y).

(** ** The step is at least the objective, and equal to it at D0 *)

Lemma mass_pos d l : l <> [] -> (0 < mass d l)%R.
Proof.
  intros Ne. destruct l as [|k l]; [congruence|]. unfold mass. simpl. assert (E := exp_pos (- d k)).
  assert (0 <= total (fun k => exp (- d k)) l)%R by (apply total_pos; intros; left; apply exp_pos). unfold total in *. lra.
Qed.

Lemma accompanied_mates y i : In i (accompanied y) -> mates y i <> [].
Proof. intros I. apply filter_In in I. destruct I as [_ H]. destruct (mates y i); [discriminate|congruence]. Qed.

Lemma mates_others y i j : In j (mates y i) -> In j (others y i).
Proof. intros I. apply filter_In in I. apply I. Qed.

Lemma others_some y i : mates y i <> [] -> others y i <> [].
Proof.
  intros Ne E. destruct (mates y i) as [|j l] eqn:M; [congruence|].
  assert (I : In j (others y i)) by (apply mates_others; rewrite M; left; auto). rewrite E in I. destruct I.
Qed.

Lemma w_sum y D i : mates y i <> [] -> total (w_of y D i) (mates y i) = 1%R.
Proof.
  intros Ne. assert (M := mass_pos (D i) _ Ne). unfold w_of.
  rewrite (total_ext _ (fun j => / mass (D i) (mates y i) * exp (- D i j))%R) by (intros; unfold Rdiv; ring).
  rewrite total_times. fold (mass (D i) (mates y i)). field. lra.
Qed.

Lemma w_pos y D i j : mates y i <> [] -> (0 < w_of y D i j)%R.
Proof. intros Ne. apply Rdiv_lt_0_compat; [apply exp_pos|apply mass_pos; auto]. Qed.

(** sum w ln w = - sum w D - ln sum exp (- D) *)
Lemma w_logs y D i : mates y i <> [] -> total (fun j => w_of y D i j * ln (w_of y D i j))%R (mates y i)
  = (- total (fun j => w_of y D i j * D i j) (mates y i) - ln (mass (D i) (mates y i)))%R.
Proof.
  intros Ne. assert (M := mass_pos (D i) _ Ne).
  rewrite (total_ext _ (fun j => - 1 * (w_of y D i j * D i j) + - ln (mass (D i) (mates y i)) * w_of y D i j)%R).
  - rewrite total_plus, !total_times, w_sum by auto. ring.
  - intros j _. unfold w_of at 2. unfold Rdiv.
    rewrite ln_mult, ln_Rinv, ln_exp by (auto; try apply exp_pos; apply Rinv_0_lt_compat; auto). ring.
Qed.

Lemma p_pos y D i : mates y i <> [] -> (0 < p_of y D i)%R.
Proof. intros Ne. apply Rdiv_lt_0_compat; apply mass_pos; auto. apply others_some. auto. Qed.

Lemma p_ln y D i : mates y i <> [] -> ln (p_of y D i) = (ln (mass (D i) (mates y i)) - ln (mass (D i) (others y i)))%R.
Proof.
  intros Ne. assert (M := mass_pos (D i) _ Ne). assert (O := mass_pos (D i) _ (others_some y i Ne)).
  unfold p_of, Rdiv. rewrite ln_mult, ln_Rinv by (auto; apply Rinv_0_lt_compat; auto). ring.
Qed.

Theorem nca_step_above y cr D0 D : (nca_cost y cr D <= nca_step y cr D0 D)%R.
Proof.
  apply total_le. intros i I. apply accompanied_mates in I. cbv zeta.
  assert (L := log_sum_at_least (fun k => (- D i k)%R) (mates y i) (map (fun j => (j, w_of y D0 i j)) (mates y i))).
  rewrite !total_map in L. cbn [fst snd] in L.
  specialize (L ltac:(intros; rewrite total_map; apply Rle_refl)
    ltac:(intros s S; apply in_map_iff in S; destruct S as [j [<- _]]; apply w_pos; auto) (w_sum y D0 i I)).
  fold (mass (D i) (mates y i)) in L. assert (E := p_ln y D i I).
  rewrite (total_ext _ (fun j => - 1 * (w_of y D0 i j * D i j))%R) in L by (intros; ring). rewrite total_times in L.
  set (W := total (fun j => w_of y D0 i j * D i j)%R (mates y i)) in *.
  set (H := total (fun j => w_of y D0 i j * ln (w_of y D0 i j))%R (mates y i)) in *.
  assert (G : (- ln (p_of y D i) <= ln (mass (D i) (others y i)) + W + H)%R) by lra.
  destruct cr; [|lra]. assert (P := p_pos y D i I). assert (P0 := p_pos y D0 i I).
  set (p := p_of y D i) in *. set (p0 := p_of y D0 i) in *.
  (* p = p0 exp (ln p - ln p0) >= p0 (1 + ln p - ln p0) *)
  assert (X := exp_ineq1_le (ln p - ln p0)). unfold Rminus in X at 2. rewrite exp_plus, exp_Ropp, !exp_ln in X by auto.
  apply (Rmult_le_compat_l p0) in X; [|lra]. replace (p0 * (p * / p0))%R with p in X by (field; lra).
  apply (Rmult_le_compat_l p0) in G; [|lra]. lra.
Qed.

Theorem nca_step_equal y cr D : nca_step y cr D D = nca_cost y cr D.
Proof.
  apply total_ext. intros i I. apply accompanied_mates in I. cbv zeta. rewrite w_logs, p_ln by auto. destruct cr; ring.
Qed.

(** ** The step of a point, with cw_j = c_i w_ij *)

(** All other points for f, the mates for g *)
Definition reference (y : list Z) (cr : criterion) (i : N) : list N :=
  match cr with Of_f => others y i | Of_g => mates y i end.
Definition cw_of (y : list Z) (cr : criterion) (D : N -> N -> R) (i j : N) : R :=
  (exp (- D i j) / mass (D i) (reference y cr i))%R.

Lemma reference_some y cr i : mates y i <> [] -> reference y cr i <> [].
Proof. destruct cr; [apply others_some|auto]. Qed.

Lemma mates_reference y cr i j : In j (mates y i) -> In j (reference y cr i).
Proof. destruct cr; [apply mates_others|auto]. Qed.

Lemma cw_pos y cr D i j : mates y i <> [] -> (0 < cw_of y cr D i j)%R.
Proof. intros Ne. apply Rdiv_lt_0_compat; [apply exp_pos|apply mass_pos, reference_some; auto]. Qed.

Lemma cw_ln y cr D i j : mates y i <> [] ->
  ln (cw_of y cr D i j) = (- D i j - ln (mass (D i) (reference y cr i)))%R.
Proof.
  intros Ne. assert (M := mass_pos (D i) _ (reference_some y cr i Ne)). unfold cw_of, Rdiv.
  rewrite ln_mult, ln_Rinv, ln_exp by (auto; try apply exp_pos; apply Rinv_0_lt_compat; auto). ring.
Qed.

Lemma cw_sum y cr D i : mates y i <> [] -> total (cw_of y cr D i) (reference y cr i) = 1%R.
Proof.
  intros Ne. assert (M := mass_pos (D i) _ (reference_some y cr i Ne)). unfold cw_of.
  rewrite (total_ext _ (fun j => / mass (D i) (reference y cr i) * exp (- D i j))%R) by (intros; unfold Rdiv; ring).
  rewrite total_times. fold (mass (D i) (reference y cr i)). field. lra.
Qed.

Lemma step_form y cr D0 D i : mates y i <> [] ->
  let p := p_of y D0 i in let c := match cr with Of_f => p | Of_g => 1%R end in
  let cw := cw_of y cr D0 i in
  total cw (mates y i) = c /\
  (c * (ln (mass (D i) (others y i)) + total (fun j => w_of y D0 i j * D i j) (mates y i))
    + c * total (fun j => w_of y D0 i j * ln (w_of y D0 i j)) (mates y i)
    + match cr with Of_f => p * ln p - p | Of_g => 0 end
   = c * ln (mass (D i) (others y i)) + total (fun j => cw j * D i j) (mates y i)
     + total (fun j => cw j * ln (cw j)) (mates y i) - match cr with Of_f => c | Of_g => 0 end)%R.
Proof.
  intros Ne. cbv zeta. assert (M := mass_pos (D0 i) _ Ne). assert (O := mass_pos (D0 i) _ (others_some y i Ne)).
  set (c := match cr with Of_f => p_of y D0 i | Of_g => 1%R end).
  assert (Cp : (0 < c)%R) by (unfold c; destruct cr; [apply p_pos; auto|lra]).
  assert (E : forall j, cw_of y cr D0 i j = (c * w_of y D0 i j)%R).
  { intros j. unfold cw_of, w_of, c, p_of. destruct cr; cbn [reference]; field; lra. }
  split.
  - rewrite (total_ext _ (fun j => c * w_of y D0 i j)%R) by (intros; apply E). rewrite total_times, w_sum by auto. ring.
  - rewrite (total_ext (fun j => cw_of y cr D0 i j * D i j)%R (fun j => c * (w_of y D0 i j * D i j))%R)
      by (intros; rewrite E; ring).
    rewrite (total_ext (fun j => cw_of y cr D0 i j * ln (cw_of y cr D0 i j))%R
      (fun j => c * ln c * w_of y D0 i j + c * (w_of y D0 i j * ln (w_of y D0 i j)))%R)
      by (intros; rewrite E, ln_mult by (auto; apply w_pos; auto); ring).
    rewrite total_plus, !total_times, w_sum by auto. unfold c. destruct cr; [ring|rewrite ln_1; ring].
Qed.

(** ** Bounds of one point, in real numbers *)

Lemma total_filter {K} (own : K -> bool) (f : K -> R) l :
  total (fun k => if own k then f k else 0%R) l = total f (filter own l).
Proof. induction l as [|k l IH]; simpl; [reflexivity|]. destruct (own k); simpl; rewrite IH; ring. Qed.

Lemma total_zero {K} (l : list K) : total (fun _ => 0%R) l = 0%R.
Proof. induction l as [|k l IH]; simpl; [reflexivity|]. rewrite IH. ring. Qed.

Lemma total_constant {K} c (l : list K) : total (fun _ => c) l = (c * INR (length l))%R.
Proof. induction l as [|k l IH]; [simpl; ring|]. cbn [length total fold_right]. unfold total in IH. rewrite IH, S_INR. ring. Qed.

Lemma total_member {K} (f : K -> R) l k : (forall j, In j l -> 0 <= f j)%R -> In k l -> (f k <= total f l)%R.
Proof.
  induction l as [|j l IH]; intros F I; [destruct I|]. simpl.
  assert (0 <= total f l)%R by (apply total_pos; intros; apply F; right; auto).
  destruct I as [->|I].
  - unfold total in *. lra.
  - assert (0 <= f j)%R by (apply F; left; auto). assert (f k <= total f l)%R by (apply IH; auto; intros; apply F; right; auto).
    unfold total in *. lra.
Qed.

(** For shares b >= 0 with the sum C *)
Lemma soft_at_least {K} (d b : K -> R) (l : list K) : (forall k, In k l -> 0 <= b k)%R -> (0 < total b l)%R ->
  let C := total b l in
  (C * ln C - total (fun k => b k * d k) l - total (fun k => b k * ln (b k)) l
   <= C * ln (total (fun k => exp (- d k)) l))%R.
Proof.
  intros B Cp C. set (z := total (fun k => exp (- d k)) l).
  assert (Z : (0 < z)%R).
  { unfold z. destruct l as [|k l]; [simpl in Cp; lra|]. simpl. assert (E := exp_pos (- d k)).
    assert (0 <= total (fun k => exp (- d k)) l)%R by (apply total_pos; intros; left; apply exp_pos). unfold total in *. lra. }
  assert (Cq : (0 < C)%R) by exact Cp.
  assert (L : (total (fun k => (ln C - ln z) * b k + (-1 * (b k * d k) + -1 * (b k * ln (b k)))) l
    <= total (fun k => C / z * exp (- d k) + -1 * b k) l)%R).
  { apply total_le. intros k I. assert (E := exp_pos (- d k)). specialize (B k I).
    assert (F : (0 < C / z * exp (- d k))%R) by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; auto|auto]).
    destruct (Req_dec (b k) 0) as [Z0|N]; [rewrite Z0; lra|]. assert (P : (0 < b k)%R) by lra.
    assert (G := ln_below (C / z * exp (- d k) / b k) (Rdiv_lt_0_compat _ _ F P)).
    assert (X : ln (C / z * exp (- d k) / b k) = (ln C - ln z - d k - ln (b k))%R).
    { unfold Rdiv. rewrite !ln_mult, !ln_Rinv, ln_exp; try ring; auto; try apply exp_pos; try (apply Rinv_0_lt_compat; auto);
      repeat apply Rmult_lt_0_compat; auto; apply Rinv_0_lt_compat; auto. }
    rewrite X in G. apply (Rmult_le_compat_l (b k)) in G; [|lra].
    replace (b k * (C / z * exp (- d k) / b k - 1))%R with (C / z * exp (- d k) + -1 * b k)%R in G by (field; lra).
    lra. }
  rewrite !total_plus, !total_times in L. fold z in L. fold C in L.
  replace (C / z * z)%R with C in L by (field; lra). lra.
Qed.

(** t ln t from below, also where ln t is far below 0 *)
Definition tiny : positive := doublings 128.
Opaque tiny.
Definition lowest : Z := 127.

Lemma tiny_correct : (exp (- 128) <= / IZR (Zpos tiny))%R.
Proof.
  assert (P := pos_IZR tiny). replace (exp (- 128)) with (/ exp 128)%R by (symmetry; apply exp_Ropp).
  apply Rinv_le_contravar; [auto|].
  Transparent tiny. unfold tiny. Opaque tiny. rewrite doublings_correct.
  rewrite (exp_power 128 128) by lia. replace (128 / INR 128)%R with 1%R by (rewrite INR_IZR_INZ; simpl; field).
  apply pow_incr. assert (E := exp_ineq1_le 1). lra.
Qed.

Lemma share_ln t : (0 < t)%R -> (- (IZR lowest * t) - / IZR (Zpos tiny) <= t * ln t)%R.
Proof.
  intros T. assert (E := exp_pos (- 128)). assert (X : (0 < exp (- 128) / t)%R) by (apply Rdiv_lt_0_compat; auto).
  assert (B := ln_below _ X). unfold Rdiv in B at 1. rewrite ln_mult, ln_Rinv, ln_exp in B by (auto; apply Rinv_0_lt_compat; auto).
  apply (Rmult_le_compat_l t) in B; [|lra].
  replace (t * (exp (- 128) / t - 1))%R with (exp (- 128) - t)%R in B by (field; lra).
  assert (L := tiny_correct). unfold lowest. lra.
Qed.

(** Of each k: cw k is at least low k, by at most [left] all in all. The shares are part k + cw k - low k of the mates,
    and part k of the others. *)
Lemma row_reals {K} (all : list K) (own : K -> bool) (d cw low part t g : K -> R) (left : R) :
  let mates := filter own all in
  (forall k, In k mates -> 0 < cw k /\ low k <= cw k /\ 0 <= low k /\ - ln (cw k) <= g k)%R ->
  (total (fun k => cw k - low k) mates <= left <= 1)%R ->
  (forall k, In k all -> 0 <= part k)%R ->
  (forall k, In k all -> part k <> 0 -> t k <= 0 /\ ln (part k + left) <= t k)%R ->
  total part all = total low mates -> mates <> [] ->
  let C := total cw mates in
  (total (fun k => ((if own k then low k else 0) - part k) * d k) all
    + C * ln C - total (fun k => part k * t k) all - total (fun k => low k * Rmin (g k) (IZR lowest)) mates
    - IZR lowest * left - INR (length mates) * / IZR (Zpos tiny)
   <= C * ln (total (fun k => exp (- d k)) all) + total (fun k => cw k * d k) mates
      + total (fun k => cw k * ln (cw k)) mates)%R.
Proof.
  intros mates M Left P T Sums Ne C.
  set (over := fun k => if own k then (cw k - low k)%R else 0%R).
  assert (Over : forall k, In k all -> (0 <= over k <= left)%R).
  { intros k I. unfold over. destruct (own k) eqn:E.
    - assert (J : In k mates) by (apply filter_In; auto). split; [specialize (M k J); lra|].
      apply Rle_trans with (2 := proj1 Left). apply (total_member (fun k => cw k - low k)%R); [|auto].
      intros j Ij. specialize (M j Ij). lra.
    - assert (0 <= total (fun k => cw k - low k) mates)%R by (apply total_pos; intros j Ij; specialize (M j Ij); lra). lra. }
  assert (So : total over all = total (fun k => cw k - low k)%R mates) by (unfold over; apply total_filter).
  assert (Sd : total (fun k => cw k - low k)%R mates = (C - total low mates)%R).
  { unfold C. rewrite (total_ext _ (fun k => cw k + -1 * low k)%R) by (intros; ring). rewrite total_plus, total_times. ring. }
  assert (Sb : total (fun k => part k + over k)%R all = C) by (rewrite total_plus, So, Sd, Sums; ring).
  assert (Cp : (0 < C)%R).
  { unfold C. clearbody mates. destruct mates as [|k l]; [congruence|]. simpl.
    assert (0 < cw k)%R by (apply (M k); left; auto).
    assert (0 <= total cw l)%R by (apply total_pos; intros j J; specialize (M j (or_intror J)); lra). unfold total in *. lra. }
  assert (L := soft_at_least d (fun k => part k + over k)%R all). cbv zeta in L. rewrite Sb in L.
  specialize (L ltac:(intros k I; specialize (P k I); specialize (Over k I); lra) Cp).
  assert (B1 : (total (fun k => (part k + over k) * ln (part k + over k)) all <= total (fun k => part k * t k) all)%R).
  { apply total_le. intros k I. specialize (P k I). specialize (Over k I).
    destruct (Req_dec (part k) 0) as [Z|N].
    - rewrite Z, Rplus_0_l, Rmult_0_l. destruct (Req_dec (over k) 0) as [->|N']; [lra|].
      assert (ln (over k) <= ln 1)%R by (apply ln_le; lra). rewrite ln_1 in *. nra.
    - destruct (T k I N) as [T1 T2].
      assert (ln (part k + over k) <= t k)%R by (apply Rle_trans with (2 := T2); apply ln_le; lra). nra. }
  assert (B2 : (- total (fun k => low k * Rmin (g k) (IZR lowest)) mates - IZR lowest * total (fun k => cw k - low k) mates
      - INR (length mates) * / IZR (Zpos tiny) <= total (fun k => cw k * ln (cw k)) mates)%R).
  { apply Rle_trans with (total (fun k => -1 * (low k * Rmin (g k) (IZR lowest))
      + (- IZR lowest * (cw k - low k) + - / IZR (Zpos tiny))) mates)%R.
    - rewrite !total_plus, !total_times, total_constant. right. ring.
    - apply total_le. intros k I. destruct (M k I) as [M1 [M2 [M3 M4]]].
      assert (S := share_ln (cw k) M1). assert (U := Rinv_0_lt_compat _ (pos_IZR tiny)). unfold lowest in *.
      set (x := ln (cw k)) in *. set (u := (/ IZR (Zpos tiny))%R) in *. set (e := cw k) in *. clearbody x u e.
      unfold Rmin. destruct (Rle_dec (g k) 127) as [G|G]; nra. }
  assert (Bd : total (fun k => (part k + over k) * d k)%R all
    = (- total (fun k => ((if own k then low k else 0) - part k) * d k) all + total (fun k => cw k * d k) mates)%R).
  { unfold mates. rewrite <- (total_filter own (fun k => cw k * d k)%R).
    rewrite (total_ext (fun k => (part k + over k) * d k)%R (fun k => -1 * (((if own k then low k else 0) - part k) * d k)
      + (if own k then cw k * d k else 0))%R) by (intros k _; unfold over; destruct (own k); ring).
    rewrite total_plus, total_times. ring. }
  rewrite Bd in L. assert (IZR lowest * total (fun k => cw k - low k) mates <= IZR lowest * left)%R
    by (apply Rmult_le_compat_l; [unfold lowest|]; lra).
  set (V := ln (total (fun k => exp (- d k)) all)) in *. clear - L B1 B2 H. lra.
Qed.

(** ** The check *)

(** Of another point: a number that c_i w_ij is at least, or 0; the share; and a logarithm of the share *)
Record neighbour := { of_other : N; lesser : Z; portion : Z; log_portion : Z }.

(** Of a point: all others; a logarithm of the sum of exp (- D) over the reference, without the nearest; and for f one of
    1 / U for an upper bound U of p_i, for g one of 1 / p_i without the nearest points *)
Record picking := { of_row : N; neighbours : list neighbour; log_mass : Z; log_own : Z }.

Definition top_of (d : N -> Z) (l : list neighbour) : Z := largest (map (fun t => - d (of_other t)) l).
Definition mates_in (own : N -> bool) (l : list neighbour) : list neighbour := kept (fun t => own (of_other t)) l.
Definition reference_in (cr : criterion) (own : N -> bool) (l : list neighbour) : list neighbour :=
  match cr with Of_f => l | Of_g => mates_in own l end.

(** - ln (c_i w_ij) is at most this over u r. *)
Definition far_of (d : N -> Z) (u r : positive) (top log_mass : Z) (t : neighbour) : Z :=
  (top + d (of_other t)) * Zpos r + log_mass * Zpos u.

Definition lost (p : positive) (l : list neighbour) : Z := Zpos p - summed lesser l.
Definition held (own : N -> bool) (l : list neighbour) : Z := summed lesser (mates_in own l).

Definition own_ok (div : Z -> Z -> Z) (cr : criterion) (p r : positive) (own : N -> bool) (d : N -> Z) (u : positive)
    (s : picking) : bool :=
  let l := neighbours s in let near := mates_in own l in
  match cr with
  | Of_f => ln_at_most div (Zpos p) (Z.to_pos (held own l + lost p l)) (log_own s) r
  | Of_g =>
      let top := top_of d l in let top' := top_of d near in
      let below := summed (fun t => exp_below div (- (top' + d (of_other t))) u) near in
      (0 <? below)
      && ln_at_most div (summed (fun t => exp_above div (top + d (of_other t)) u) l) (Z.to_pos below) (log_own s) r
  end.

Definition picking_ok (div : Z -> Z -> Z) (cr : criterion) (p r : positive) (own : N -> bool) (d : N -> Z) (u : positive)
    (s : picking) : bool :=
  let l := neighbours s in let near := reference_in cr own l in
  let top := top_of d near in let left := lost p l in
  log_sum_at_most div top (map (fun t => - d (of_other t)) near) u (log_mass s) r
  && forallb (fun t => (0 <=? lesser t) && (0 <=? portion t)
       && ((lesser t =? 0) || match cr with Of_f => true | Of_g => own (of_other t) end
             && ln_at_most div (lesser t) p (- far_of d u r top (log_mass s) t) (u * r))
       && ((portion t =? 0) || (log_portion t <=? 0) && ln_at_most div (portion t + left) p (log_portion t) r)) l
  && (summed portion l =? held own l)
  && own_ok div cr p r own d u s.

(** The bound of the step without the distances: parts over p r, over p u r, over p, and over [tiny]; the objective:
    parts over p, over u and over r *)
Definition row_logs (cr : criterion) (p : positive) (own : N -> bool) (s : picking) : Z :=
  let l := neighbours s in
  summed (fun t => portion t * log_portion t) l
  + match cr with Of_f => (held own l + lost p l) * log_own s | Of_g => 0 end.
Definition row_far (cr : criterion) (r : positive) (own : N -> bool) (d : N -> Z) (u : positive) (s : picking) : Z :=
  let l := neighbours s in let top := top_of d (reference_in cr own l) in
  summed (fun t => lesser t * Z.min (far_of d u r top (log_mass s) t) (lowest * Zpos (u * r))) (mates_in own l).
Definition row_rest (cr : criterion) (p : positive) (own : N -> bool) (s : picking) : Z :=
  let l := neighbours s in
  lowest * lost p l + match cr with Of_f => held own l + lost p l | Of_g => 0 end.
Definition row_mates (own : N -> bool) (s : picking) : Z := count (mates_in own (neighbours s)).

Definition value_held (cr : criterion) (own : N -> bool) (s : picking) : Z :=
  match cr with Of_f => - held own (neighbours s) | Of_g => 0 end.
Definition value_tops (cr : criterion) (own : N -> bool) (d : N -> Z) (s : picking) : Z :=
  match cr with Of_f => 0 | Of_g => top_of d (neighbours s) - top_of d (mates_in own (neighbours s)) end.
Definition value_logs (cr : criterion) (s : picking) : Z := match cr with Of_f => 0 | Of_g => log_own s end.

Definition row_weights (own : N -> bool) (s : picking) : list weighted :=
  map (fun t => {| weight := (if own (of_other t) then lesser t else 0) - portion t; one := of_row s; other := of_other t |})
    (neighbours s).

Lemma top_least d l t : In t l -> 0 <= top_of d l + d (of_other t).
Proof.
  intros I. unfold top_of. assert (J := in_map (fun t => - d (of_other t)) l t I). cbv beta in J.
  set (m := map (fun t => - d (of_other t)) l) in *. clearbody m.
  destruct m as [|x m]; [destruct J|]. destruct (fold_max_largest m x) as [A [B _]]. simpl largest.
  destruct J as [J|J]; [lia|]. specialize (B _ J). lia.
Qed.

Lemma filter_of_map {A B} (f : A -> B) (g : B -> bool) l : filter g (map f l) = map f (filter (fun a => g (f a)) l).
Proof. induction l as [|a l IH]; simpl; [reflexivity|]. destruct (g (f a)); simpl; rewrite IH; reflexivity. Qed.

Definition alike (y : list Z) (i j : N) : bool := class y j =? class y i.

Lemma mates_in_correct y i l : map of_other l = others y i -> map of_other (mates_in (alike y i) l) = mates y i.
Proof. intros E. unfold mates_in, mates. rewrite kept_filter, <- E, filter_of_map. reflexivity. Qed.

Lemma reference_in_correct y cr i l : map of_other l = others y i ->
  map of_other (reference_in cr (alike y i) l) = reference y cr i.
Proof. intros E. destruct cr; [exact E|apply mates_in_correct; auto]. Qed.

Lemma c_least C U z : (0 < C <= U)%R -> (U <= 1)%R -> (ln (/ U) <= z)%R -> (- (U * z) - U <= C * ln C - C)%R.
Proof.
  intros [Cp Cu] U1 Z. assert (Up : (0 < U)%R) by lra. rewrite ln_Rinv in Z by auto.
  assert (B := ln_below (U / C) (Rdiv_lt_0_compat _ _ Up Cp)). unfold Rdiv in B at 1.
  rewrite ln_mult, ln_Rinv in B by (auto; apply Rinv_0_lt_compat; auto).
  apply (Rmult_le_compat_l C) in B; [|lra]. replace (C * (U / C - 1))%R with (U - C)%R in B by (field; lra).
  assert (L : (ln U <= ln 1)%R) by (apply ln_le; auto). rewrite ln_1 in L. nra.
Qed.

Lemma row_lower div y cr p r d u (D0 D : N -> N -> R) s : let i := of_row s in let own := alike y i in
  mates y i <> [] -> map of_other (neighbours s) = others y i ->
  (forall k, IZR (d k) / IZR (Zpos u) = D0 i k)%R ->
  picking_ok div cr p r own d u s = true ->
  let q := p_of y D0 i in let c := match cr with Of_f => q | Of_g => 1%R end in
  (- (IZR (row_logs cr p own s) / (IZR (Zpos p) * IZR (Zpos r)))
    - IZR (row_far cr r own d u s) / (IZR (Zpos p) * (IZR (Zpos u) * IZR (Zpos r)))
    - IZR (row_rest cr p own s) / IZR (Zpos p) - IZR (row_mates own s) / IZR (Zpos tiny)
    + total (fun w => IZR (weight w) / IZR (Zpos p) * D (one w) (other w)) (row_weights own s)
   <= c * (ln (mass (D i) (others y i)) + total (fun j => w_of y D0 i j * D i j) (mates y i))
    + c * total (fun j => w_of y D0 i j * ln (w_of y D0 i j)) (mates y i)
    + match cr with Of_f => q * ln q - q | Of_g => 0 end)%R /\
  (match cr with Of_f => - q | Of_g => - ln q end
   <= IZR (value_held cr own s) / IZR (Zpos p) + IZR (value_tops cr own d s) / IZR (Zpos u)
    + IZR (value_logs cr s) / IZR (Zpos r))%R.
Proof.
  intros i own Ne Keys E H q c. destruct (step_form y cr D0 D i Ne) as [Sum Form]. fold q c in Sum, Form. rewrite Form. clear Form.
  assert (Ref := reference_in_correct y cr i _ Keys). assert (Mates := mates_in_correct y i _ Keys). fold own in Ref, Mates.
  unfold picking_ok in H. cbv zeta in H. repeat (apply andb_prop in H; let K := fresh "K" in destruct H as [H K]).
  unfold row_logs, row_far, row_rest, row_mates, value_held, value_tops, row_weights, own_ok, held in *. cbv zeta in *.
  set (l := neighbours s) in *. set (near := reference_in cr own l) in *. set (mine := mates_in own l) in *.
  set (top := top_of d near) in *. set (left := lost p l) in *.
  assert (P := pos_IZR p). assert (Pr := pos_IZR r). assert (U := pos_IZR u).
  assert (Ip : (0 < / IZR (Zpos p))%R) by (apply Rinv_0_lt_compat; auto).
  assert (Ur : IZR (Zpos (u * r)) = (IZR (Zpos u) * IZR (Zpos r))%R) by (rewrite Pos2Z.inj_mul; apply mult_IZR).
  set (cw := fun t => cw_of y cr D0 i (of_other t)).
  set (lo := fun t => (IZR (lesser t) / IZR (Zpos p))%R). set (a := fun t => (IZR (portion t) / IZR (Zpos p))%R).
  set (b := fun t => (IZR (log_portion t) / IZR (Zpos r))%R).
  set (g := fun t => (IZR (far_of d u r top (log_mass s) t) / (IZR (Zpos u) * IZR (Zpos r)))%R).
  assert (NeL : near <> []) by (intros Z; apply (reference_some y cr i Ne); rewrite <- Ref, Z; reflexivity).
  assert (NeM : mine <> []) by (intros Z; apply Ne; rewrite <- Mates, Z; reflexivity).
  assert (Log : (ln (mass (D0 i) (reference y cr i)) <= IZR top / IZR (Zpos u) + IZR (log_mass s) / IZR (Zpos r))%R).
  { apply log_sum_at_most_correct in H; [|destruct near; simpl; congruence]. rewrite total_map in H.
    unfold mass. rewrite <- Ref, total_map. rewrite (total_ext _ (fun t => exp (IZR (- d (of_other t)) / IZR (Zpos u)))%R); [exact H|].
    intros t _. rewrite <- E, opp_IZR. f_equal. field. lra. }
  assert (G : forall t, (- ln (cw t) <= g t)%R).
  { intros t. unfold cw, g, far_of. rewrite cw_ln by auto. rewrite plus_IZR, !mult_IZR, plus_IZR.
    apply Rle_trans with (D0 i (of_other t) + (IZR top / IZR (Zpos u) + IZR (log_mass s) / IZR (Zpos r)))%R; [lra|].
    rewrite <- E. right. field. lra. }
  assert (Each := forallb_in _ _ K1). cbv beta in Each.
  assert (Lo0 : forall t, In t l -> (0 <= lo t)%R).
  { intros t T. specialize (Each t T). repeat (apply andb_prop in Each; destruct Each as [Each ?]).
    apply Z.leb_le, IZR_le in Each. apply Rmult_le_pos; [auto|lra]. }
  assert (Out : forall t, In t l -> match cr with Of_f => true | Of_g => own (of_other t) end = false -> lo t = 0%R).
  { intros t T F. specialize (Each t T). repeat (apply andb_prop in Each; let J := fresh "J" in destruct Each as [Each J]).
    rewrite F, orb_false_r in J0. apply Z.eqb_eq in J0. unfold lo. rewrite J0. unfold Rdiv. ring. }
  assert (Lo1 : forall t, In t l -> (lo t <= cw t)%R).
  { intros t T. assert (Cp := cw_pos y cr D0 i (of_other t) Ne). fold (cw t) in Cp. specialize (Each t T).
    repeat (apply andb_prop in Each; let J := fresh "J" in destruct Each as [Each J]).
    destruct (Z.eqb_spec (lesser t) 0) as [Z0|N0]; [unfold lo; rewrite Z0; unfold Rdiv; rewrite Rmult_0_l; lra|].
    simpl in J0. apply andb_prop in J0. destruct J0 as [_ J0]. apply Z.leb_le in Each. assert (Lp : 0 < lesser t) by lia.
    apply ln_at_most_correct in J0; [|auto]. fold (lo t) in J0. rewrite Ur, opp_IZR in J0. specialize (G t). unfold g in G.
    assert (Lq : (0 < lo t)%R) by (apply Rdiv_lt_0_compat; [apply IZR_lt; auto|auto]).
    rewrite <- (exp_ln (lo t)), <- (exp_ln (cw t)) by auto.
    assert (X : (ln (lo t) <= ln (cw t))%R) by (unfold Rdiv in *; lra).
    destruct X as [X|X]; [left; apply exp_increasing; auto|rewrite X; lra]. }
  assert (InL : forall t, In t mine -> In t l) by (intros t T; unfold mine, mates_in in T; rewrite kept_filter in T; apply filter_In in T; apply T).
  assert (InM : forall t, In t mine -> In t near) by (intros t T; unfold near; destruct cr; cbn [reference_in]; [apply InL; auto|exact T]).
  assert (Lost : (IZR left / IZR (Zpos p) = 1 - total lo l)%R).
  { unfold left, lost. rewrite minus_IZR, summed_correct. unfold lo.
    rewrite (total_ext (fun t => IZR (lesser t) / IZR (Zpos p))%R (fun t => / IZR (Zpos p) * IZR (lesser t))%R) by (intros; unfold Rdiv; ring).
    rewrite total_times. field. lra. }
  assert (Near : total lo l = total lo near).
  { unfold near. destruct cr; cbn [reference_in]; [reflexivity|]. unfold mates_in. rewrite kept_filter, <- (total_filter (fun t => own (of_other t)) lo).
    apply total_ext. intros t T. specialize (Out t T). destruct (own (of_other t)); [reflexivity|apply Out; reflexivity]. }
  assert (One : total cw near = 1%R).
  { rewrite <- (cw_sum y cr D0 i Ne), <- Ref, total_map. reflexivity. }
  assert (Left : (total (fun t => cw t - lo t) mine <= IZR left / IZR (Zpos p) <= 1)%R).
  { rewrite Lost. split; [|assert (0 <= total lo l)%R by (apply total_pos; auto); lra].
    rewrite Near, <- One. replace (total cw near - total lo near)%R with (total (fun t => cw t - lo t) near)%R.
    - unfold mine, mates_in, near, reference_in. destruct cr; [|right; reflexivity].
      rewrite kept_filter, <- (total_filter (fun t => own (of_other t)) (fun t => cw t - lo t)%R). apply total_le. intros t T.
      specialize (Lo1 t T). destruct (own (of_other t)); lra.
    - rewrite (total_ext (fun t => cw t - lo t)%R (fun t => cw t + -1 * lo t)%R) by (intros; ring). rewrite total_plus, total_times. ring. }
  assert (C : total cw mine = c) by (rewrite <- Sum, <- Mates, total_map; reflexivity).
  assert (Held : (IZR (summed lesser mine) / IZR (Zpos p) = total lo mine)%R).
  { rewrite summed_correct. unfold lo.
    rewrite (total_ext (fun t => IZR (lesser t) / IZR (Zpos p))%R (fun t => / IZR (Zpos p) * IZR (lesser t))%R) by (intros; unfold Rdiv; ring).
    rewrite total_times. unfold Rdiv. ring. }
  assert (Most : (c <= IZR (summed lesser mine + left) / IZR (Zpos p))%R).
  { rewrite plus_IZR. unfold Rdiv. rewrite Rmult_plus_distr_r. fold (IZR (summed lesser mine) / IZR (Zpos p))%R.
    fold (IZR left / IZR (Zpos p))%R. rewrite Held, <- C.
    rewrite (total_ext (fun t => cw t - lo t)%R (fun t => cw t + -1 * lo t)%R) in Left by (intros; ring).
    rewrite total_plus, total_times in Left. lra. }
  split.
  - assert (B := row_reals l (fun t => own (of_other t)) (fun t => D i (of_other t)) cw lo a b g (IZR left / IZR (Zpos p))).
    cbv zeta in B. replace (filter (fun t => own (of_other t)) l) with mine in B by (unfold mine, mates_in; apply kept_filter).
    specialize (B ltac:(intros t T; assert (Tl := InL t T); assert (Cp := cw_pos y cr D0 i (of_other t) Ne);
      fold (cw t) in Cp; repeat split; auto) Left).
    specialize (B ltac:(intros t T; specialize (Each t T); repeat (apply andb_prop in Each; let J := fresh "J" in destruct Each as [Each J]);
      apply Z.leb_le, IZR_le in J1; apply Rmult_le_pos; [auto|lra])).
    assert (Logs : forall t, In t l -> a t <> 0%R -> (b t <= 0)%R /\ (ln (a t + IZR left / IZR (Zpos p)) <= b t)%R).
    { intros t T Na. specialize (Each t T). repeat (apply andb_prop in Each; let J := fresh "J" in destruct Each as [Each J]).
      destruct (Z.eqb_spec (portion t) 0) as [Z0|N0]; [exfalso; apply Na; unfold a; rewrite Z0; unfold Rdiv; ring|].
      simpl in J. apply andb_prop in J. destruct J as [T1 T2]. apply Z.leb_le, IZR_le in T1. split.
      - unfold b. assert (0 < / IZR (Zpos r))%R by (apply Rinv_0_lt_compat; auto). unfold Rdiv. nra.
      - apply ln_at_most_correct in T2.
        + unfold a. replace (IZR (portion t) / IZR (Zpos p) + IZR left / IZR (Zpos p))%R with (IZR (portion t + left) / IZR (Zpos p))%R
            by (rewrite plus_IZR; field; lra). exact T2.
        + apply Z.leb_le in J1. assert (0 <= left)%Z; [|lia]. apply le_IZR.
          assert (0 <= total (fun t => cw t - lo t) mine)%R by (apply total_pos; intros x X; specialize (Lo1 x (InL x X)); lra).
          apply (Rmult_le_reg_r (/ IZR (Zpos p))); [auto|]. unfold Rdiv in Left. lra. }
    specialize (B Logs). clear Logs.
    assert (Sums : total a l = total lo mine).
    { apply Z.eqb_eq in K0. rewrite <- Held, <- K0, summed_correct. unfold a.
      rewrite (total_ext (fun t => IZR (portion t) / IZR (Zpos p))%R (fun t => / IZR (Zpos p) * IZR (portion t))%R) by (intros; unfold Rdiv; ring).
      rewrite total_times. unfold Rdiv. ring. }
    specialize (B Sums NeM). rewrite C in B.
    replace (total (fun t => exp (- D i (of_other t))) l)%R with (mass (D i) (others y i)) in B
      by (unfold mass; rewrite <- Keys, total_map; reflexivity).
    replace (total (fun t => cw t * D i (of_other t)) mine)%R with (total (fun j => cw_of y cr D0 i j * D i j) (mates y i))%R in B
      by (rewrite <- Mates, total_map; reflexivity).
    replace (total (fun t => cw t * ln (cw t)) mine)%R with (total (fun j => cw_of y cr D0 i j * ln (cw_of y cr D0 i j)) (mates y i))%R in B
      by (rewrite <- Mates, total_map; reflexivity).
    set (V := (ln (mass (D i) (others y i)))%R) in *.
    set (W1 := total (fun j => cw_of y cr D0 i j * D i j)%R (mates y i)) in *.
    set (W2 := total (fun j => cw_of y cr D0 i j * ln (cw_of y cr D0 i j))%R (mates y i)) in *. clearbody V W1 W2.
    rewrite total_map. cbn [weight one other]. fold i. fold l.
    rewrite (total_ext (fun t => IZR ((if own (of_other t) then lesser t else 0) - portion t) / IZR (Zpos p) * D i (of_other t))%R
      (fun t => ((if own (of_other t) then lo t else 0) - a t) * D i (of_other t))%R)
      by (intros t _; unfold lo, a; rewrite minus_IZR; destruct (own (of_other t)); field; lra).
    set (Z := total (fun t => ((if own (of_other t) then lo t else 0) - a t) * D i (of_other t))%R l) in *. clearbody Z.
    assert (T1 : (IZR (summed (fun t => portion t * log_portion t)%Z l) / (IZR (Zpos p) * IZR (Zpos r)) = total (fun t => a t * b t) l)%R).
    { rewrite summed_correct. unfold Rdiv. rewrite Rmult_comm, <- total_times. apply total_ext. intros t _.
      unfold a, b. rewrite mult_IZR. field. lra. }
    assert (T2 : (total (fun t => lo t * Rmin (g t) (IZR lowest)) mine <= IZR (summed (fun t => lesser t
        * Z.min (far_of d u r top (log_mass s) t) (lowest * Zpos (u * r)))%Z mine) / (IZR (Zpos p) * (IZR (Zpos u) * IZR (Zpos r))))%R).
    { rewrite summed_correct. unfold Rdiv. rewrite Rmult_comm, <- total_times. apply total_le. intros t T.
      specialize (Lo0 t (InL t T)). rewrite mult_IZR.
      apply Rle_trans with (lo t * (IZR (Z.min (far_of d u r top (log_mass s) t) (lowest * Zpos (u * r))) / (IZR (Zpos u) * IZR (Zpos r))))%R.
      - apply Rmult_le_compat_l; [auto|]. destruct (Z.min_spec (far_of d u r top (log_mass s) t) (lowest * Zpos (u * r))) as [[_ M]|[_ M]]; rewrite M.
        + apply Rmin_l.
        + apply Rle_trans with (1 := Rmin_r _ _). right. rewrite mult_IZR, Ur. field. lra.
      - right. unfold lo. field. lra. }
    assert (T3 : INR (length mine) = IZR (count mine)) by (rewrite count_length, <- INR_IZR_INZ; reflexivity).
    rewrite T3 in B. rewrite <- T1 in B.
    set (F := total (fun t => lo t * Rmin (g t) (IZR lowest))%R mine) in *. clearbody F.
    set (Far := (IZR (summed _ mine) / (IZR (Zpos p) * (IZR (Zpos u) * IZR (Zpos r))))%R) in T2 |- *. clearbody Far.
    set (Log1 := (IZR (summed (fun t => portion t * log_portion t)%Z l) / (IZR (Zpos p) * IZR (Zpos r)))%R) in *.
    assert (Own : (match cr with Of_f => - (IZR ((summed lesser mine + left) * log_own s) / (IZR (Zpos p) * IZR (Zpos r)))
        - IZR (summed lesser mine + left) / IZR (Zpos p) | Of_g => 0 end <= c * ln c - match cr with Of_f => c | Of_g => 0 end)%R).
    { unfold c in *. destruct cr; [|rewrite ln_1; lra]. assert (Qp := p_pos y D0 i Ne). fold q in Qp.
      set (h := summed lesser mine + left) in *.
      assert (Hp : 0 < h) by (apply lt_IZR; apply (Rmult_lt_reg_r (/ IZR (Zpos p))); [auto|]; unfold Rdiv in Most; lra).
      apply ln_at_most_correct in K; [|lia]. rewrite Z2Pos.id in K by auto.
      assert (L := c_least q (IZR h / IZR (Zpos p)) (IZR (log_own s) / IZR (Zpos r)) (conj Qp Most)).
      assert (H1 : (IZR h / IZR (Zpos p) <= 1)%R).
      { unfold h. rewrite plus_IZR. unfold Rdiv. rewrite Rmult_plus_distr_r. fold (IZR (summed lesser mine) / IZR (Zpos p))%R.
        fold (IZR left / IZR (Zpos p))%R. rewrite Held, Lost. unfold mine, mates_in.
        rewrite kept_filter, <- (total_filter (fun t => own (of_other t)) lo).
        assert (total (fun t => if own (of_other t) then lo t else 0) l <= total lo l)%R; [|lra].
        apply total_le. intros t T. specialize (Lo0 t T). destruct (own (of_other t)); lra. }
      assert (Hr := IZR_lt _ _ Hp). specialize (L H1). replace (/ (IZR h / IZR (Zpos p)))%R with (IZR (Zpos p) / IZR h)%R in L by (field; lra).
      specialize (L K). apply Rle_trans with (2 := L). right. rewrite mult_IZR. field. lra. }
    rewrite !plus_IZR. set (Cl := (c * ln c)%R) in *. clearbody Cl.
    replace (IZR (lowest * left)) with (IZR lowest * IZR left)%R by (symmetry; apply mult_IZR).
    set (Mt := (IZR (count mine) * / IZR (Zpos tiny))%R) in *.
    replace (IZR (count mine) / IZR (Zpos tiny))%R with Mt by reflexivity. clearbody Mt.
    clear - B T2 Own Pr P. unfold Log1 in *. destruct cr; unfold Rdiv in *; rewrite ?Rmult_plus_distr_r, ?Rmult_0_l in *; rewrite ?plus_IZR in *; lra.
  - unfold value_logs. destruct cr.
    + rewrite opp_IZR. unfold Rdiv in *. rewrite !Rmult_0_l, Ropp_mult_distr_l_reverse, Held.
      assert (total lo mine <= c)%R; [|unfold c in *; lra]. rewrite <- C. apply total_le. intros t T. auto.
    + assert (Ln := p_ln y D0 i Ne). fold q in Ln. rewrite Ln. clear Ln. cbn [reference_in] in near. cbn [reference] in *.
      apply andb_prop in K. destruct K as [B0 K]. apply Z.ltb_lt in B0. assert (Fp := pos_IZR fine).
      fold near in K, B0. change mine with near in K, B0. change (top_of d near) with top in K, B0.
      set (below := summed (fun t => exp_below div (- (top + d (of_other t))) u) near) in *.
      set (top' := top_of d l) in *. set (above := summed (fun t => exp_above div (top' + d (of_other t)) u) l) in *.
      assert (Br := IZR_lt _ _ B0).
      assert (Up : (mass (D0 i) (others y i) <= exp (IZR top' / IZR (Zpos u)) * (IZR above / IZR (Zpos fine)))%R).
      { unfold mass, above. rewrite <- Keys, total_map, summed_correct. unfold Rdiv at 2. rewrite (Rmult_comm (total _ l)), <- !total_times.
        apply total_le. intros t T. assert (X := exp_above_correct div (top' + d (of_other t)) u (top_least d l t T)).
        replace (- D0 i (of_other t))%R with (IZR top' / IZR (Zpos u) + - (IZR (top' + d (of_other t)) / IZR (Zpos u)))%R
          by (rewrite <- E, plus_IZR; field; lra).
        rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos|]. unfold Rdiv in *. lra. }
      assert (Down : (exp (IZR top / IZR (Zpos u)) * (IZR below / IZR (Zpos fine)) <= mass (D0 i) (mates y i))%R).
      { unfold mass, below. rewrite <- Mates, total_map, summed_correct. unfold Rdiv at 2. rewrite (Rmult_comm (total _ near)), <- !total_times.
        apply total_le. intros t T. destruct (exp_below_correct div (- (top + d (of_other t))) u) as [_ X].
        replace (- D0 i (of_other t))%R with (IZR top / IZR (Zpos u) + IZR (- (top + d (of_other t))) / IZR (Zpos u))%R
          by (rewrite <- E, opp_IZR, plus_IZR; field; lra).
        rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos|]. unfold Rdiv in *. lra. }
      assert (Mo := mass_pos (D0 i) _ (others_some y i Ne)).
      assert (Ap : (0 < IZR above / IZR (Zpos fine))%R).
      { assert (X := exp_pos (IZR top' / IZR (Zpos u))). apply (Rmult_lt_reg_l _ _ _ X). rewrite Rmult_0_r. lra. }
      assert (Az : 0 < above).
      { apply lt_IZR. apply (Rmult_lt_reg_r (/ IZR (Zpos fine))); [apply Rinv_0_lt_compat; auto|]. unfold Rdiv in Ap. lra. }
      apply ln_at_most_correct in K; [|auto]. rewrite Z2Pos.id in K by auto.
      assert (Bp : (0 < IZR below / IZR (Zpos fine))%R) by (apply Rdiv_lt_0_compat; auto).
      apply (ln_le _ _ Mo) in Up. rewrite ln_mult, ln_exp in Up by (auto; apply exp_pos).
      apply ln_le in Down; [|apply Rmult_lt_0_compat; [apply exp_pos|auto]]. rewrite ln_mult, ln_exp in Down by (auto; apply exp_pos).
      assert (X : ln (IZR above / IZR below) = (ln (IZR above / IZR (Zpos fine)) - ln (IZR below / IZR (Zpos fine)))%R).
      { replace (IZR above / IZR below)%R with (IZR above / IZR (Zpos fine) * / (IZR below / IZR (Zpos fine)))%R by (field; lra).
        rewrite ln_mult, ln_Rinv by (auto; apply Rinv_0_lt_compat; auto). ring. }
      rewrite X in K. change (top_of d mine) with top. rewrite minus_IZR. unfold Rdiv in *. rewrite !Rmult_0_l, Rmult_minus_distr_r. lra.
Qed.

Definition nca_weights (own : N -> N -> bool) (l : list picking) : list weighted :=
  gathered (fun s => row_weights (own (of_row s)) s) l.

Definition nca_constant (cr : criterion) (p r : positive) (own : N -> N -> bool) (whole : N -> N -> Z) (u : positive)
    (l : list picking) : Q :=
  (- (summed (fun s => row_logs cr p (own (of_row s)) s) l # p * r)
   - (summed (fun s => row_far cr r (own (of_row s)) (whole (of_row s)) u s) l # p * (u * r))
   - (summed (fun s => row_rest cr p (own (of_row s)) s) l # p)
   - (summed (fun s => row_mates (own (of_row s)) s) l # tiny))%Q.

Definition nca_value (cr : criterion) (p r : positive) (own : N -> N -> bool) (whole : N -> N -> Z) (u : positive)
    (l : list picking) : Q :=
  ((summed (fun s => value_held cr (own (of_row s)) s) l # p)
   + (summed (fun s => value_tops cr (own (of_row s)) (whole (of_row s)) s) l # u)
   + (summed (value_logs cr) l # r))%Q.

Definition check_nca (div : Z -> Z -> Z) (X : points) (y : list Z) (cr : criterion) (p r : positive) (l : list picking)
    (f : factor) (m : metric) : option (Q * Q) :=
  let all := numbers y in let t := table y in
  let whole := whole_distance (images (triangle_of m) (rows X)) in
  let u := (over X * over X * over_of m)%positive in
  let own i j := look 0 t j =? look 0 t i in
  if (count y =? count (rows X)) && short X
     && same_points (map of_row l) (kept (fun i => match mates_among all t i with [] => false | _ => true end) all)
     && forallb (fun s => same_points (map of_other (neighbours s)) (others_among all (of_row s))
          && picking_ok div cr p r (own (of_row s)) (whole (of_row s)) u s) l
  then check div X 0 (nca_constant cr p r own whole u l) (nca_weights own l) p f m
    (fun _ _ => Some (nca_value cr p r own whole u l))
  else None.

(** ** The theorem *)

Lemma own_alike y i : (fun j => look 0 (table y) j =? look 0 (table y) i) = alike y i.
Proof. apply FunctionalExtensionality.functional_extensionality. intros j. unfold alike, class. rewrite !look_table. reflexivity. Qed.

Lemma nca_rows div y cr p r whole u (D0 D : N -> N -> R) l :
  map of_row l = accompanied y -> (forall i j, IZR (whole i j) / IZR (Zpos u) = D0 i j)%R ->
  (forall s, In s l -> map of_other (neighbours s) = others y (of_row s) /\
    picking_ok div cr p r (alike y (of_row s)) (whole (of_row s)) u s = true) ->
  (Q2R (nca_constant cr p r (alike y) whole u l)
    + total (fun w => IZR (weight w) / IZR (Zpos p) * D (one w) (other w)) (nca_weights (alike y) l)
   <= nca_step y cr D0 D)%R /\
  (nca_cost y cr D0 <= Q2R (nca_value cr p r (alike y) whole u l))%R.
Proof.
  intros All E Rows. assert (P := pos_IZR p). assert (Pr := pos_IZR r). assert (U := pos_IZR u). assert (Pl := pos_IZR tiny).
  assert (Each : forall s, In s l -> mates y (of_row s) <> []).
  { intros s S. apply accompanied_mates. rewrite <- All. apply in_map. exact S. }
  unfold nca_step, nca_cost. rewrite <- All, !total_map. split.
  - unfold nca_constant, nca_weights. rewrite gathered_flat_map, total_flat_map.
    rewrite !Q2R_minus, Q2R_opp, !Q2R_make, !summed_correct, !Pos2Z.inj_mul, !mult_IZR.
    unfold Rdiv at 1 2 3 4. rewrite <- (Rmult_comm (/ (IZR (Zpos p) * IZR (Zpos r)))), <- (Rmult_comm (/ (IZR (Zpos p) * (IZR (Zpos u) * IZR (Zpos r))))),
      <- (Rmult_comm (/ IZR (Zpos p))), <- (Rmult_comm (/ IZR (Zpos tiny))), <- !total_times.
    set (f1 := fun s => (/ (IZR (Zpos p) * IZR (Zpos r)) * _)%R). set (f2 := fun s => (/ (IZR (Zpos p) * (IZR (Zpos u) * IZR (Zpos r))) * _)%R).
    set (f3 := fun s => (/ IZR (Zpos p) * _)%R). set (f4 := fun s => (/ IZR (Zpos tiny) * _)%R).
    set (f5 := fun s => total _ (row_weights _ s)).
    apply Rle_trans with (total (fun s => -1 * f1 s + (-1 * f2 s + (-1 * f3 s + (-1 * f4 s + f5 s)))) l)%R.
    + rewrite !total_plus, !total_times. right. ring.
    + apply total_le. intros s S. destruct (Rows s S) as [K Ok].
      destruct (row_lower div y cr p r (whole (of_row s)) u D0 D s (Each s S) K (E (of_row s)) Ok) as [B _].
      cbv zeta in B. apply Rle_trans with (2 := B). right. unfold f1, f2, f3, f4, f5, Rdiv. ring.
  - unfold nca_value. rewrite !Q2R_plus, !Q2R_make, !summed_correct.
    apply Rle_trans with (total (fun s => / IZR (Zpos p) * IZR (value_held cr (alike y (of_row s)) s)
      + (/ IZR (Zpos u) * IZR (value_tops cr (alike y (of_row s)) (whole (of_row s)) s) + / IZR (Zpos r) * IZR (value_logs cr s))) l)%R.
    + apply total_le. intros s S. destruct (Rows s S) as [K Ok].
      destruct (row_lower div y cr p r (whole (of_row s)) u D0 D s (Each s S) K (E (of_row s)) Ok) as [_ B].
      cbv zeta in B. apply Rle_trans with (1 := B). right. unfold Rdiv. ring.
    + rewrite !total_plus, !total_times. right. unfold Rdiv. ring.
Qed.

Theorem nca_sound div X y cr p r l f m lo hi : check_nca div X y cr p r l f m = Some (lo, hi) ->
  let Q0 := D X (value_of m) in
  (forall A, psd (features X) A -> Q2R lo <= nca_step y cr Q0 (D X A))%R /\
  psd (features X) (value_of m) /\ nca_step y cr Q0 Q0 = nca_cost y cr Q0 /\ (nca_cost y cr Q0 <= Q2R hi)%R /\
  (forall A, nca_cost y cr (D X A) <= nca_step y cr Q0 (D X A))%R.
Proof.
  unfold check_nca. cbv zeta. intros H. destruct (_ && _) eqn:Ok in H; [|discriminate].
  repeat (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]).
  apply same_points_correct in K0. rewrite kept_filter, numbers_indices in K0.
  assert (All : map of_row l = accompanied y).
  { rewrite K0. apply filter_ext. intros i. rewrite <- (numbers_indices y), mates_among_correct. destruct (mates y i); reflexivity. }
  assert (Own : (fun i j => look 0 (table y) j =? look 0 (table y) i) = alike y)
    by (apply FunctionalExtensionality.functional_extensionality; intros i; apply own_alike).
  rewrite Own in H. set (whole := whole_distance _) in *. set (u := (over X * over X * over_of m)%positive) in *.
  assert (E : forall i j, (IZR (whole i j) / IZR (Zpos u) = D X (value_of m) i j)%R).
  { intros i j. unfold value_of, whole, u. rewrite <- whole_distance_correct by auto. rewrite !Pos2Z.inj_mul, !mult_IZR. reflexivity. }
  assert (Rows : forall s, In s l -> map of_other (neighbours s) = others y (of_row s) /\
    picking_ok div cr p r (alike y (of_row s)) (whole (of_row s)) u s = true).
  { intros s S. assert (B := forallb_in _ _ K s S). cbv beta in B. apply andb_prop in B. destruct B as [B1 B2].
    apply same_points_correct in B1. rewrite others_among_correct in B1. rewrite <- own_alike. auto. }
  assert (B := fun D1 => nca_rows div y cr p r whole u (D X (value_of m)) D1 l All E Rows).
  destruct (check_parts _ _ _ _ _ _ _ _ _ _ _ H) as [Lo [Psd [w' [u' [v [_ [V Hi]]]]]]]. injection V as <-.
  assert (Zero : Q2R 0 = 0%R) by (unfold Q2R; simpl; lra). rewrite Zero in *.
  split; [|split; [auto|split; [apply nca_step_equal|split; [|intros; apply nca_step_above]]]].
  - intros A HA. specialize (Lo A HA). destruct (B (D X A)) as [B1 _]. lra.
  - destruct (B (D X (value_of m))) as [_ B2]. lra.
Qed.

(** If every class has two points, the step of criterion g is the objective itself. *)
Lemma one_mate y (D0 D : N -> N -> R) i : length (mates y i) = 1%nat ->
  (total (fun j => w_of y D0 i j * D i j) (mates y i) + total (fun j => w_of y D0 i j * ln (w_of y D0 i j)) (mates y i)
   = - ln (mass (D i) (mates y i)))%R.
Proof.
  intros One. destruct (mates y i) as [|j [|k rest]] eqn:M; try discriminate.
  assert (W : w_of y D0 i j = 1%R).
  { unfold w_of, mass. rewrite M. simpl. assert (E := exp_pos (- D0 i j)). field. lra. }
  unfold mass. simpl. rewrite W, ln_1, !Rplus_0_r, ln_exp. ring.
Qed.

Theorem nca_pairs_sound div X y p r l f m lo hi : check_nca div X y Of_g p r l f m = Some (lo, hi) ->
  (forall i, In i (accompanied y) -> length (mates y i) = 1%nat) ->
  (forall A, psd (features X) A -> Q2R lo <= nca_cost y Of_g (D X A))%R.
Proof.
  intros H Two A HA. destruct (nca_sound _ _ _ _ _ _ _ _ _ _ _ H) as [Lo _]. apply Rle_trans with (1 := Lo A HA). right.
  apply total_ext. intros i I. cbv zeta. rewrite p_ln by (apply accompanied_mates; auto).
  assert (E := one_mate y (D X (value_of m)) (D X A) i (Two i I)). lra.
Qed.

(** Every index names a point. *)
Theorem nca_inside div X y cr p r l f m v : check_nca div X y cr p r l f m = Some v -> length y = length (rows X).
Proof.
  unfold check_nca. cbv zeta. destruct (count y =? count (rows X)) eqn:E; [|discriminate]. intros _.
  apply Z.eqb_eq in E. rewrite !count_length in E. lia.
Qed.
