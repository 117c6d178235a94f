(** The methods, each as its paper prints it, and for each: what is accepted is proved of that problem.

    Every theorem says of an interval (lo, hi) that the check accepts: lo is at most the objective of EVERY feasible
    real metric, and hi is the objective of a feasible one that the check is given: of the matrix [value_of m], or, of
    combinations, of the weights [whole_weights ws v]. *)

Require Import Reals Lra Lia List NArith ZArith QArith Qreals Bool.
From Verified Require Import Bound Arithmetic Check Losses Triplets.
Import ListNotations.
Open Scope Z_scope.

(** ** The problems: what a reader must believe, beside what he must of Bound, Arithmetic, Losses and Triplets *)

Definition class (y : list Z) (i : N) : Z := at_ 0 y i.

(** Of a list that is not empty *)
Definition minimum (l : list R) : R := match l with [] => 0%R | x :: l => fold_right Rmin x l end.
Definition maximum (l : list R) : R := match l with [] => 0%R | x :: l => fold_right Rmax x l end.

(** MLSVM. lists: the neighbours N(i) of each point; T of its class, I of the others. *)
Definition T_of (y : list Z) (lists : list (list N)) (i : N) :=
  filter (fun j => class y j =? class y i) (at_ [] lists i).
Definition I_of (y : list Z) (lists : list (list N)) (i : N) :=
  filter (fun j => negb (class y j =? class y i)) (at_ [] lists i).

Definition mlsvm_feasible (X : points) (y : list Z) (lists : list (list N)) (A : matrix) (xi : N -> R) : Prop :=
  psd (features X) A /\
  forall i, In i (indices (rows X)) ->
    (0 <= xi i)%R /\
    (T_of y lists i <> [] -> I_of y lists i <> [] ->
     minimum (map (D X A i) (I_of y lists i)) >= maximum (map (D X A i) (T_of y lists i)) + 1 - xi i)%R.

Definition mlsvm_cost (X : points) (lam : Q) (A : matrix) (xi : N -> R) : R :=
  (Q2R lam / 2 * norm2 (features X) A + 1 / INR (length (rows X)) * total xi (indices (rows X)))%R.

(** Triplets with slacks: LMNN, its squared hinge, FrobMetric *)
Definition triplets_feasible (X : points) (L : list triplet) (A : matrix) (xi : triplet -> R) : Prop :=
  psd (features X) A /\ forall t, In t L -> (0 <= xi t /\ margin (D X A) t >= 1 - xi t)%R.

Definition lmnn_cost (X : points) (targets : list pair) (L : list triplet) (mu : Q) (A : matrix) (xi : triplet -> R) : R :=
  ((1 - Q2R mu) * total (fun s => D X A (fst s) (snd s)) targets + Q2R mu * total xi L)%R.

Definition lmnn_squared_cost X targets L mu A xi : R := lmnn_cost X targets L mu A (fun t => xi t * xi t)%R.

(** By labels: T are the targets of each point, and every point of another class is an impostor. *)
Definition targets_by_lists (T : list (list N)) : list pair :=
  flat_map (fun i => map (fun j => (i, j)) (at_ [] T i)) (indices T).
Definition triplets_by_labels (y : list Z) (T : list (list N)) : list triplet :=
  flat_map (fun s => map (fun l => (s, l)) (filter (fun l => negb (class y l =? class y (fst s))) (indices y)))
    (targets_by_lists T).

(** By triplets: the targets are their (i, j), each once. *)
Definition targets_of_triplets (targets : list pair) (L : list triplet) : Prop :=
  NoDup targets /\ forall s, In s targets <-> exists l, In (s, l) L.

Definition frobmetric_cost (X : points) (L : list triplet) (C : Q) (A : matrix) (xi : triplet -> R) : R :=
  (1 / 2 * norm2 (features X) A + Q2R C / INR (length L) * total xi L)%R.

(** RTML has no slacks: the loss is the smoothed hinge of that width, or the hinge for a width of 0. *)
Definition rtml_loss (width : Q) : margin_loss := if Qeq_bool width 0 then Hinge 1 else Smoothed width.
Definition rtml_cost (X : points) (L : list triplet) (lam width : Q) (A : matrix) : R :=
  (Q2R lam / 2 * norm2 (features X) A + total (fun t => phi (rtml_loss width) (margin (D X A) t)) L)%R.

(** DML-eig: the nearest dissimilar pair as far apart as can be, within a budget of similar distances; minimised. *)
Definition dml_eig_feasible (X : points) (similar : list pair) (A : matrix) : Prop :=
  psd (features X) A /\ (total (fun s => D X A (fst s) (snd s)) similar <= 1)%R.
Definition dml_eig_cost (X : points) (dissimilar : list pair) (A : matrix) : R :=
  (- minimum (map (fun s => D X A (fst s) (snd s)) dissimilar))%R.

(** Every two points, by their labels *)
Definition pairs_by_labels (y : list Z) (alike : bool) : list pair :=
  flat_map (fun i => map (fun j => (i, j))
    (filter (fun j => (i <? j)%N && Bool.eqb (class y i =? class y j) alike) (indices y))) (indices y).

(** Combinations M = sum_k w_k b_k b_k^T of given vectors, w >= 0: SCML, Schultz and Joachims *)
Definition combined (B : list row) (over : positive) (w : N -> R) : matrix := fun i j =>
  total (fun k => w k * (real_point (at_ [] B k) over i * real_point (at_ [] B k) over j))%R (indices B).

(** Weights as whole numbers over q, one a vector *)
Definition whole_weights (ws : list Z) (q : positive) : N -> R := fun k => (IZR (at_ 0%Z ws k) / IZR (Zpos q))%R.

Definition combination_feasible (X : points) (B : list row) (over : positive) (L : list triplet)
    (w : N -> R) (xi : triplet -> R) : Prop :=
  (forall k, In k (indices B) -> 0 <= w k)%R /\
  forall t, In t L -> (0 <= xi t /\ margin (D X (combined B over w)) t >= 1 - xi t)%R.

Definition schultz_joachims_cost (X : points) (B : list row) (over : positive) (L : list triplet) (C : Q)
    (w : N -> R) (xi : triplet -> R) : R :=
  (1 / 2 * norm2 (features X) (combined B over w) + Q2R C * total xi L)%R.

Definition scml_cost (B : list row) (L : list triplet) (beta : Q) (w : N -> R) (xi : triplet -> R) : R :=
  (Q2R beta * total w (indices B) + 1 / INR (length L) * total xi L)%R.
