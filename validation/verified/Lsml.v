(** LSML: what the check accepts is proved. The upper end is at least the objective of the metric.

    For 0 <= a < w and b (w - a) >= w a, w times the squared residual of u and v is at least a u - b v. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets Methods Budget Glml Exponentials Logistic Mmc Gmml Logdet Itml.
Import ListNotations.
Open Scope Z_scope.

(** ** What a reader must believe, beside [definite] and [D_ld] of Logdet *)

(** A near and a far pair, with a weight, a whole number over q *)
Definition quadruplet : Type := pair * pair.

Definition residual (u v : R) : R := Rmax 0 (sqrt u - sqrt v).

(** P is the inverse of the prior A_0. *)
Definition lsml_cost (X : points) (q : positive) (L : list (quadruplet * Z)) (P A_0 M : matrix) : R :=
  (D_ld (features X) P A_0 M
   + total (fun s => let '(near, far, w) := s in
       IZR w / IZR (Zpos q) * Rsqr (residual (D X M (fst near) (snd near)) (D X M (fst far) (snd far)))) L)%R.

(** ** One quadruplet *)

Lemma residual_at_least w a b u v : (0 <= a)%R -> (0 <= b)%R -> (0 <= w)%R -> (0 <= u)%R -> (0 <= v)%R ->
  a = 0%R \/ (a < w /\ w * a <= b * (w - a))%R \/ (v = 0 /\ a <= w)%R -> (a * u - b * v <= w * Rsqr (residual u v))%R.
Proof.
  intros A B W U V H. assert (Bv : (0 <= b * v)%R) by (apply Rmult_le_pos; auto).
  assert (S := Rle_0_sqr (residual u v)). assert (Ws : (0 <= w * Rsqr (residual u v))%R) by (apply Rmult_le_pos; auto).
  destruct H as [->|[[L H]|[-> L]]]; [lra| |].
  - assert (Eu := sqrt_sqrt u U). assert (Ev := sqrt_sqrt v V). assert (X0 := sqrt_pos u). assert (Y0 := sqrt_pos v).
    unfold residual in *. set (x := sqrt u) in *. set (y := sqrt v) in *. rewrite <- Eu, <- Ev. unfold Rsqr.
    destruct (Rle_lt_dec y x) as [C|C].
    + rewrite Rmax_right by lra. apply (Rmult_le_reg_l (w - a)); [lra|].
      assert (Q : (0 <= ((w - a) * x - w * y) * ((w - a) * x - w * y))%R) by apply Rle_0_sqr.
      assert (Y : (0 <= (b * (w - a) - w * a) * (y * y))%R) by (apply Rmult_le_pos; [lra|apply Rle_0_sqr]).
      replace ((w - a) * (w * ((x - y) * (x - y))))%R
        with ((w - a) * (a * (x * x) - b * (y * y)) + ((w - a) * x - w * y) * ((w - a) * x - w * y) + (b * (w - a) - w * a) * (y * y))%R by ring.
      lra.
    + rewrite Rmax_left by lra. rewrite !Rmult_0_r.
      assert (AB : (a <= b)%R) by (apply (Rmult_le_reg_r (w - a)); [lra|]; assert (0 <= a * a)%R by (apply Rle_0_sqr); lra).
      assert (XY : (x * x <= y * y)%R) by (apply Rmult_le_compat; lra).
      assert (a * (x * x) <= b * (y * y))%R by (apply Rmult_le_compat; [auto|apply Rle_0_sqr|auto|auto]). lra.
  - unfold residual. rewrite sqrt_0, Rminus_0_r, Rmax_right by apply sqrt_pos. rewrite Rsqr_sqrt, Rmult_0_r, Rminus_0_r by auto.
    apply Rmult_le_compat_r; auto.
Qed.

(** ** The check

    Of a quadruplet: the prices of u and of v over p *)

Definition compared : Type := (quadruplet * Z) * (Z * Z).

Definition compared_ok (t : tree row) (q p : positive) (s : compared) : bool :=
  let '((near, far, w), (a, b)) := s in
  let a' := a * Zpos q in let b' := b * Zpos q in let w' := w * Zpos p in
  (0 <=? a) && (0 <=? b) && (0 <=? w)
  && ((a =? 0) || (a' <? w') && (w' * a' <=? b' * (w' - a'))
      || forallb (Z.eqb 0) (minus (look [] t (fst far)) (look [] t (snd far))) && (a' <=? w')).

Definition weights_of_compared (l : list compared) : list weighted :=
  gathered (fun s => let '((near, far, _), (a, b)) := s in
    [{| weight := a; one := fst near; other := snd near |}; {| weight := - b; one := fst far; other := snd far |}]) l.

(** u + v over unit, and a number below sqrt (u v) over n; nothing where u <= v *)
Definition residual_above (root : Z -> Z) (div : Z -> Z -> Z) (n unit : positive) (whole : N -> N -> Z) (s : quadruplet * Z) : Z * Z * bool :=
  let '(near, far, w) := s in
  let u := whole (fst near) (snd near) in let v := whole (fst far) (snd far) in
  if u <=? v then (0, 0, true)
  else let (r, ok) := root_below root div n (unit * unit) (u * v) in (w * (u + v), w * r, ok).

(** a_0 and b_0 are the prior and its inverse. z_Z and z_m are logarithms of determinants. *)
Definition check_lsml (root : Z -> Z) (div : Z -> Z -> Z) (X : points) (q : positive) (L : list (quadruplet * Z)) (a_0 b_0 : metric)
    (n p v r : positive) (prices : list (Z * Z)) (z_Z z_m : Z) (m : metric) : option (Q * Q) :=
  let d := features X in
  match zipped [] L prices, det_of div d a_0, det_of div d m with
  | Some l, Some e_0, Some e =>
      let W := beside X (weights_of_compared l) p b_0 in
      match last_pivot div d 1 (turned_whole d (fst W)) with
      | Some f =>
          let unit := (over X * over X * over_of m)%positive in
          let found := gathered (fun s => [residual_above root div n unit (whole_distance (images (triangle_of m) (rows X))) s]) L in
          let o_0 := Zpos (power (over_of a_0) d) in
          if short X && all_inside X (gathered (fun s : quadruplet * Z => [fst (fst s); snd (fst s)]) L) [] && prior_ok div d a_0 b_0
             && forallb (compared_ok (table (rows X)) q p) l && forallb snd found
             && ln_within div v (o_0 * Zpos (power (snd W) d)) (Z.to_pos (e_0 * f)) z_Z r
             && ln_within div v (e_0 * Zpos (power (over_of m) d)) (Z.to_pos (e * o_0)) z_m r then
            Some (- (z_Z # r),
              (inner_whole d (triangle_of m) (triangle_of b_0) # over_of m * over_of b_0) - inject_Z (Z.of_nat d) + (z_m # r)
              + ((summed (fun s => fst (fst s)) found # q * unit) - 2 * (summed (fun s => snd (fst s)) found # q * n)))%Q
          else None
      | None => None
      end
  | _, _, _ => None
  end.

Lemma compared_below X A q p l : psd (features X) A -> forallb (compared_ok (table (rows X)) q p) l = true ->
  (total (fun w => IZR (weight w) / IZR (Zpos p) * D X A (one w) (other w)) (weights_of_compared l)
   <= total (fun s => let '(near, far, w) := s in
        IZR w / IZR (Zpos q) * Rsqr (residual (D X A (fst near) (snd near)) (D X A (fst far) (snd far)))) (map fst l))%R.
Proof.
  intros HA Ok. assert (Pp := pos_IZR p). assert (Pq := pos_IZR q). unfold weights_of_compared.
  rewrite gathered_flat_map, total_flat_map, total_map. apply total_le. intros [[[near far] w] [a b]] S.
  assert (H := forallb_in _ _ Ok _ S). unfold compared_ok in H. cbv zeta in H. rewrite !look_table in H.
  apply andb_prop in H. destruct H as [H C]. apply andb_prop in H. destruct H as [H W]. apply andb_prop in H. destruct H as [A0 B0].
  apply Z.leb_le, IZR_le in A0. apply Z.leb_le, IZR_le in B0. apply Z.leb_le, IZR_le in W.
  unfold total. cbn [fold_right weight one other fst]. rewrite opp_IZR.
  set (u := D X A (fst near) (snd near)). set (v := D X A (fst far) (snd far)).
  assert (U : (0 <= u)%R) by (apply dist_pos; auto). assert (V : (0 <= v)%R) by (apply dist_pos; auto).
  assert (Ip : (0 < / IZR (Zpos p))%R) by (apply Rinv_0_lt_compat; auto). assert (Iq : (0 < / IZR (Zpos q))%R) by (apply Rinv_0_lt_compat; auto).
  assert (Z : (IZR a / IZR (Zpos p) * u - IZR b / IZR (Zpos p) * v <= IZR w / IZR (Zpos q) * Rsqr (residual u v))%R).
  { apply residual_at_least; auto; try (apply Rmult_le_pos; lra).
    assert (Scale : forall x y, (x * IZR (Zpos q) / (IZR (Zpos p) * IZR (Zpos q)) = x / IZR (Zpos p) /\
      y * IZR (Zpos p) / (IZR (Zpos p) * IZR (Zpos q)) = y / IZR (Zpos q))%R) by (intros; split; field; lra).
    assert (I2 : (0 < / (IZR (Zpos p) * IZR (Zpos q)))%R) by (apply Rinv_0_lt_compat, Rmult_lt_0_compat; auto).
    destruct (Scale (IZR a) (IZR w)) as [<- <-]. destruct (Scale (IZR b) (IZR w)) as [<- _].
    apply orb_prop in C. destruct C as [C|C]; [apply orb_prop in C; destruct C as [C|C]|].
    - left. apply Z.eqb_eq in C. rewrite C. unfold Rdiv. ring.
    - right. left. apply andb_prop in C. destruct C as [C1 C2]. apply Z.ltb_lt, IZR_lt in C1. apply Z.leb_le, IZR_le in C2.
      rewrite !mult_IZR, minus_IZR, !mult_IZR in C2. rewrite !mult_IZR in C1. split; [apply Rmult_lt_compat_r; auto|].
      unfold Rdiv. apply (Rmult_le_compat_r (/ (IZR (Zpos p) * IZR (Zpos q)))) in C2; [|lra].
      apply (Rmult_le_compat_r (/ (IZR (Zpos p) * IZR (Zpos q)))) in C2; [|lra]. lra.
    - right. right. apply andb_prop in C. destruct C as [C1 C2]. apply Z.leb_le, IZR_le in C2. rewrite !mult_IZR in C2.
      split; [apply D_equal; exact C1|]. apply Rmult_le_compat_r; lra. }
  unfold Rdiv in *. lra.
Qed.

Lemma residual_above_correct root div n unit whole (D : N -> N -> R) near far w : 0 <= w ->
  (forall i j, 0 <= D i j)%R -> (forall i j, IZR (whole i j) / IZR (Zpos unit) = D i j)%R ->
  let t := residual_above root div n unit whole (near, far, w) in snd t = true ->
  (IZR w * Rsqr (residual (D (fst near) (snd near)) (D (fst far) (snd far)))
   <= / IZR (Zpos unit) * IZR (fst (fst t)) - 2 * / IZR (Zpos n) * IZR (snd (fst t)))%R.
Proof.
  cbv zeta. intros W Pos E. unfold residual_above. assert (U := pos_IZR unit). assert (Pn := pos_IZR n).
  assert (Iu : (0 < / IZR (Zpos unit))%R) by (apply Rinv_0_lt_compat; auto). apply IZR_le in W.
  assert (Du := Pos (fst near) (snd near)). assert (Dv := Pos (fst far) (snd far)).
  assert (Eu := E (fst near) (snd near)). assert (Ev := E (fst far) (snd far)).
  set (u := whole (fst near) (snd near)) in *. set (v := whole (fst far) (snd far)) in *. unfold residual.
  destruct (Z.leb_spec u v) as [C|C].
  - intros _. cbn [fst snd]. apply IZR_le in C. rewrite Rmax_left.
    + unfold Rsqr. rewrite !Rmult_0_r. lra.
    + assert (sqrt (D (fst near) (snd near)) <= sqrt (D (fst far) (snd far)))%R; [|lra].
      apply sqrt_le_1_alt. rewrite <- Eu, <- Ev. apply Rmult_le_compat_r; lra.
  - destruct (root_below root div n (unit * unit) (u * v)) as [r ok] eqn:Rb. cbn [fst snd]. intros Ok.
    assert (B := root_below_correct root div n (unit * unit) (u * v)). rewrite Rb in B. specialize (B Ok). cbn [fst] in B.
    replace (IZR (u * v) / IZR (Zpos (unit * unit)))%R with (D (fst near) (snd near) * D (fst far) (snd far))%R in B
      by (rewrite <- Eu, <- Ev, Pos2Z.inj_mul, !mult_IZR; field; lra).
    rewrite sqrt_mult in B by auto. apply IZR_lt in C.
    rewrite !mult_IZR, plus_IZR.
    replace (/ IZR (Zpos unit) * (IZR w * (IZR u + IZR v)))%R with (IZR w * (D (fst near) (snd near) + D (fst far) (snd far)))%R
      by (rewrite <- Eu, <- Ev; field; lra).
    assert (Su := sqrt_sqrt _ Du). assert (Sv := sqrt_sqrt _ Dv).
    assert (Le : (sqrt (D (fst far) (snd far)) <= sqrt (D (fst near) (snd near)))%R).
    { apply sqrt_le_1_alt. rewrite <- Eu, <- Ev. apply Rmult_le_compat_r; lra. }
    rewrite Rmax_right by lra. set (x := sqrt (D (fst near) (snd near))) in *. set (y := sqrt (D (fst far) (snd far))) in *.
    apply (Rmult_le_compat_l (IZR w)) in B; [|auto]. unfold Rsqr. rewrite <- Su, <- Sv. unfold Rdiv in B. lra.
Qed.

Theorem lsml_sound root div X q L a_0 b_0 n p v r prices z_Z z_m m lo hi :
  check_lsml root div X q L a_0 b_0 n p v r prices z_Z z_m m = Some (lo, hi) ->
  let cost := lsml_cost X q L (value_of b_0) (value_of a_0) in
  definite (features X) (value_of a_0) /\ inverse_of (features X) (value_of a_0) (value_of b_0) 1 /\
  (forall M, definite (features X) M -> Q2R lo <= cost M)%R /\
  definite (features X) (value_of m) /\ (cost (value_of m) <= Q2R hi)%R.
Proof.
  unfold check_lsml. cbv zeta. intros H.
  destruct (zipped [] L prices) as [l|] eqn:N1; [|discriminate].
  destruct (det_of div (features X) a_0) as [e_0|] eqn:E0; [|discriminate].
  destruct (det_of div (features X) m) as [e|] eqn:Em; [|discriminate].
  set (Zs := beside X _ p b_0) in *. destruct (last_pivot _ _ _ _) as [f|] eqn:Ez in H; [|discriminate].
  destruct (_ && _) eqn:Ok in H; [|discriminate]. injection H as <- <-.
  do 6 (apply andb_prop in Ok; let K := fresh "K" in destruct Ok as [Ok K]). apply zipped_map in N1.
  destruct (det_of_correct div _ a_0 e_0 E0) as [P0 [Def0 Det0]]. destruct (det_of_correct div _ m e Em) as [Pm [Defm Detm]].
  destruct (log_det_below div _ _ (snd Zs) f Ez) as [Pf Low].
  set (d := features X) in *. assert (Pr := pos_IZR r). assert (Pq := pos_IZR q). assert (Pn := pos_IZR n).
  assert (O0 := pos_IZR (power (over_of a_0) d)). assert (Oz := pos_IZR (power (snd Zs) d)). assert (Om := pos_IZR (power (over_of m) d)).
  apply ln_within_correct in K; [|lia]. apply ln_within_correct in K0; [|lia].
  rewrite Z2Pos.id in K, K0 by lia. rewrite !mult_IZR in K, K0.
  apply IZR_lt in P0. apply IZR_lt in Pm. apply IZR_lt in Pf.
  rewrite ln_quotient in K, K0 by (apply Rmult_lt_0_compat; auto). rewrite !ln_mult in K, K0 by auto.
  split; [exact Def0|]. split; [apply inverse_shown_correct; exact K3|]. split; [|split; [exact Defm|]].
  - intros A HA. specialize (Low A HA). unfold Zs, d in Low. rewrite beside_correct in Low. fold d Zs in Low.
    rewrite ln_quotient in Low by auto. assert (B := compared_below X A q p l (proj1 HA) K2). rewrite N1 in B.
    unfold lsml_cost, D_ld. fold d. rewrite Det0, ln_quotient by auto. rewrite Q2R_opp, Q2R_make. unfold Rdiv in *. lra.
  - set (unit := (over X * over X * over_of m)%positive) in *. set (whole := whole_distance (images (triangle_of m) (rows X))) in *.
    assert (U := pos_IZR unit).
    assert (E : forall i j, (IZR (whole i j) / IZR (Zpos unit))%R = D X (value_of m) i j).
    { intros i j. unfold whole, unit, value_of. rewrite <- whole_distance_correct by auto. rewrite !Pos2Z.inj_mul, !mult_IZR. reflexivity. }
    rewrite gathered_one in *. set (g := residual_above root div n unit whole) in *.
    unfold lsml_cost, D_ld. fold d. rewrite Det0, Detm, !ln_quotient by auto.
    rewrite Q2R_plus, Q2R_plus, !Q2R_minus, Q2R_mult, inner_whole_correct, !Q2R_make, !summed_correct, !total_map, !Pos2Z.inj_mul, !mult_IZR.
    replace (Q2R (inject_Z (Z.of_nat d))) with (INR d) by (rewrite INR_IZR_INZ; unfold Q2R, inject_Z; simpl; lra).
    replace (Q2R 2) with 2%R by (unfold Q2R; simpl; lra).
    change (inner d (real_matrix (triangle_of m) (over_of m)) (real_matrix (triangle_of b_0) (over_of b_0)))
      with (inner d (value_of m) (value_of b_0)).
    assert (Each : (total (fun s => let '(near, far, w) := s in IZR w / IZR (Zpos q)
        * Rsqr (residual (D X (value_of m) (fst near) (snd near)) (D X (value_of m) (fst far) (snd far)))) L
      <= total (fun s => / (IZR (Zpos q) * IZR (Zpos unit)) * IZR (fst (fst (g s))) + - (2 * / (IZR (Zpos q) * IZR (Zpos n))) * IZR (snd (fst (g s)))) L)%R).
    { apply total_le. intros s S. assert (Gs := forallb_in _ _ K1 (g s) (in_map g L s S)).
      assert (W : 0 <= snd s).
      { rewrite <- N1 in S. apply in_map_iff in S. destruct S as [[[[near far] w] [a b]] [<- S]]. assert (C := forallb_in _ _ K2 _ S).
        unfold compared_ok in C. cbv zeta in C. apply andb_prop in C. destruct C as [C _]. apply andb_prop in C. apply Z.leb_le, C. }
      destruct s as [[near far] w]. cbn [snd] in W.
      assert (R := residual_above_correct root div n unit whole (D X (value_of m)) near far w W
        (fun i j => dist_pos _ _ _ _ (proj1 Defm)) E Gs). fold g in R.
      apply (Rmult_le_compat_l (/ IZR (Zpos q))) in R; [|left; apply Rinv_0_lt_compat; auto].
      rewrite !Rinv_mult. cbv beta iota.
      change (g (near, far, w)) with (residual_above root div n unit whole (near, far, w)) in *.
      set (t := residual_above root div n unit whole (near, far, w)) in *. clearbody t. unfold Rdiv. lra. }
    rewrite total_plus, !total_times in Each. unfold quadruplet, pair, Rdiv in *. lra.
Qed.

(** A pair with an index beyond the points is refused. *)
Theorem lsml_inside root div X q L a_0 b_0 n p v r prices z_Z z_m m value :
  check_lsml root div X q L a_0 b_0 n p v r prices z_Z z_m m = Some value ->
  all_inside X (flat_map (fun s : quadruplet * Z => [fst (fst s); snd (fst s)]) L) [] = true.
Proof.
  unfold check_lsml. cbv zeta. rewrite gathered_flat_map. destruct (zipped _ _ _); [|discriminate]. destruct (det_of _ _ _); [|discriminate].
  destruct (det_of _ _ _); [|discriminate]. destruct (last_pivot _ _ _ _); [|discriminate].
  destruct (all_inside X _ []); [auto|]. rewrite andb_false_r. discriminate.
Qed.
