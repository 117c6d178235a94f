
val negb : bool -> bool

type nat =
| O
| S of nat

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> nat

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val compOpp : comparison -> comparison

val add : nat -> nat -> nat

val sub : nat -> nat -> nat

val eqb : bool -> bool -> bool

module type TotalLeBool' =
 sig
  type t

  val leb : t -> t -> bool
 end

module Nat :
 sig
  val eqb : nat -> nat -> bool

  val leb : nat -> nat -> bool

  val ltb : nat -> nat -> bool
 end

module Pos :
 sig
  val succ : Integer.t -> Integer.t

  val add : Integer.t -> Integer.t -> Integer.t

  val add_carry : Integer.t -> Integer.t -> Integer.t

  val pred_double : Integer.t -> Integer.t

  val mul : Integer.t -> Integer.t -> Integer.t

  val compare_cont : comparison -> Integer.t -> Integer.t -> comparison

  val compare : Integer.t -> Integer.t -> comparison

  val eqb : Integer.t -> Integer.t -> bool

  val iter_op : ('a1 -> 'a1 -> 'a1) -> Integer.t -> 'a1 -> 'a1

  val to_nat : Integer.t -> nat

  val of_succ_nat : nat -> Integer.t

  val eq_dec : Integer.t -> Integer.t -> bool
 end

module N :
 sig
  val succ : Integer.t -> Integer.t

  val succ_pos : Integer.t -> Integer.t

  val add : Integer.t -> Integer.t -> Integer.t

  val compare : Integer.t -> Integer.t -> comparison

  val eqb : Integer.t -> Integer.t -> bool

  val ltb : Integer.t -> Integer.t -> bool

  val to_nat : Integer.t -> nat

  val of_nat : nat -> Integer.t
 end

module Z :
 sig
  val double : Integer.t -> Integer.t

  val succ_double : Integer.t -> Integer.t

  val pred_double : Integer.t -> Integer.t

  val pos_sub : Integer.t -> Integer.t -> Integer.t

  val add : Integer.t -> Integer.t -> Integer.t

  val opp : Integer.t -> Integer.t

  val sub : Integer.t -> Integer.t -> Integer.t

  val mul : Integer.t -> Integer.t -> Integer.t

  val compare : Integer.t -> Integer.t -> comparison

  val leb : Integer.t -> Integer.t -> bool

  val ltb : Integer.t -> Integer.t -> bool

  val eqb : Integer.t -> Integer.t -> bool

  val max : Integer.t -> Integer.t -> Integer.t

  val min : Integer.t -> Integer.t -> Integer.t

  val abs : Integer.t -> Integer.t

  val to_N : Integer.t -> Integer.t

  val of_nat : nat -> Integer.t

  val to_pos : Integer.t -> Integer.t

  val eq_dec : Integer.t -> Integer.t -> bool
 end

val zeq_bool : Integer.t -> Integer.t -> bool

val hd : 'a1 -> 'a1 list -> 'a1

val tl : 'a1 list -> 'a1 list

val in_dec : ('a1 -> 'a1 -> bool) -> 'a1 -> 'a1 list -> bool

val nth : nat -> 'a1 list -> 'a1 -> 'a1

val rev_append : 'a1 list -> 'a1 list -> 'a1 list

val list_eq_dec : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> bool

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val nodup : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list

val seq : nat -> nat -> nat list

type q = { qnum : Integer.t; qden : Integer.t }

val inject_Z : Integer.t -> q

val qeq_bool : q -> q -> bool

val qle_bool : q -> q -> bool

val qplus : q -> q -> q

val qmult : q -> q -> q

val qopp : q -> q

val qminus : q -> q -> q

val qinv : q -> q

val qdiv : q -> q -> q

type row = Integer.t list

type triangle = row list

val entry : triangle -> nat -> nat -> Integer.t

val at_ : 'a1 -> 'a1 list -> Integer.t -> 'a1

type points = { features : nat; over : Integer.t; rows : row list }

val addmul : Integer.t -> row -> row -> row

val minus : row -> row -> row

val dot : row -> row -> Integer.t

val add_square : Integer.t -> row -> triangle -> triangle

val times : Integer.t -> triangle -> triangle

val fits : nat -> triangle -> bool

val norm : triangle -> Integer.t

val same : triangle -> triangle -> bool

val divided :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> triangle ->
  triangle * Integer.t

val eliminated :
  (Integer.t -> Integer.t -> Integer.t) -> nat -> Integer.t -> triangle ->
  bool

val less_diagonal : row -> triangle -> triangle

val dominant : nat -> triangle -> bool

val psd_shown :
  (Integer.t -> Integer.t -> Integer.t) -> nat -> triangle -> bool

type 'v tree =
| Leaf
| Node of 'v tree * 'v option * 'v tree

val find : 'a1 tree -> Integer.t -> 'a1 option

val put : 'a1 tree -> Integer.t -> 'a1 -> 'a1 tree

val table : 'a1 list -> 'a1 tree

val look : 'a1 -> 'a1 tree -> Integer.t -> 'a1

val summed : ('a1 -> Integer.t) -> 'a1 list -> Integer.t

val image : triangle -> row -> row

type pair_ = row * row

val images : triangle -> row list -> pair_ tree

val whole_distance : pair_ tree -> Integer.t -> Integer.t -> Integer.t

val short : points -> bool

type weighted = { weight : Integer.t; one : Integer.t; other : Integer.t }

val squares : row tree -> weighted list -> triangle

type metric =
| Given of triangle * Integer.t
| Square of row list * Integer.t

val of_vectors : Integer.t -> row list -> triangle -> triangle

val triangle_of : metric -> triangle

val over_of : metric -> Integer.t

val metric_shown :
  (Integer.t -> Integer.t -> Integer.t) -> nat -> metric -> bool

val norm_of : q -> metric -> q

type factor = { vectors : row list; beneath : Integer.t; paid : bool }

val below :
  (Integer.t -> Integer.t -> Integer.t) -> points -> q -> weighted list ->
  Integer.t -> factor -> q option

val check :
  (Integer.t -> Integer.t -> Integer.t) -> points -> q -> q -> weighted list
  -> Integer.t -> factor -> metric -> ((Integer.t -> Integer.t -> Integer.t)
  -> Integer.t -> q option) -> (q * q) option

type margin_loss =
| Hinge of q
| Squared of q
| Smoothed of q

val count : 'a1 list -> Integer.t

val size : 'a1 list -> Integer.t

val numbers : 'a1 list -> Integer.t list

val gathered : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val kept : ('a1 -> bool) -> 'a1 list -> 'a1 list

val within :
  ('a1 -> 'a1 -> bool) -> ('a2 -> 'a1) -> 'a2 list -> 'a1 list -> bool

val whole_missed : Integer.t -> Integer.t -> Integer.t

val loss_ok : margin_loss -> bool

val loss_term : margin_loss -> Integer.t -> Integer.t -> Integer.t

val loss_over : margin_loss -> Integer.t -> Integer.t

val price_ok : margin_loss -> Integer.t -> Integer.t -> bool

val price_term : margin_loss -> Integer.t -> Integer.t -> Integer.t

val price_over : margin_loss -> Integer.t -> Integer.t

type pair = Integer.t * Integer.t

type triplet = (Integer.t * Integer.t) * Integer.t

val same_triplet : triplet -> triplet -> bool

val pair_inside : Integer.t -> pair -> bool

val triplet_inside : Integer.t -> triplet -> bool

val all_inside : points -> pair list -> triplet list -> bool

val weights_of_targets :
  q -> Integer.t -> pair list -> weighted list -> weighted list

val weights_of_prices : q -> (triplet * Integer.t) list -> weighted list

val triplet_value :
  q -> pair list -> margin_loss -> triplet list -> (Integer.t -> Integer.t ->
  Integer.t) -> Integer.t -> q option

val check_triplets :
  (Integer.t -> Integer.t -> Integer.t) -> points -> q -> q -> pair list ->
  margin_loss -> triplet list -> Integer.t -> (triplet * Integer.t) list ->
  factor -> metric -> (q * q) option

val class0 : Integer.t list -> Integer.t -> Integer.t

val rtml_loss : q -> margin_loss

val check_lmnn :
  (Integer.t -> Integer.t -> Integer.t) -> points -> q -> pair list ->
  triplet list -> Integer.t -> (triplet * Integer.t) list -> factor -> metric
  -> (q * q) option

val check_lmnn_squared :
  (Integer.t -> Integer.t -> Integer.t) -> points -> q -> pair list ->
  triplet list -> Integer.t -> (triplet * Integer.t) list -> factor -> metric
  -> (q * q) option

val check_frobmetric :
  (Integer.t -> Integer.t -> Integer.t) -> points -> q -> triplet list ->
  Integer.t -> (triplet * Integer.t) list -> factor -> metric -> (q * q)
  option

val check_rtml :
  (Integer.t -> Integer.t -> Integer.t) -> points -> q -> q -> triplet list
  -> Integer.t -> (triplet * Integer.t) list -> factor -> metric -> (q * q)
  option

val made_targets : Integer.t list list -> pair list

val made_triplets : Integer.t list -> Integer.t list list -> triplet list

val before_pair : pair -> pair -> bool

val starts : triplet list -> pair list

val falling : pair list -> bool

val targets_in_order : triplet list -> pair list option

val check_lmnn_labels :
  (Integer.t -> Integer.t -> Integer.t) -> points -> bool -> q -> Integer.t
  list -> Integer.t list list -> Integer.t -> (triplet * Integer.t) list ->
  factor -> metric -> (q * q) option

val check_lmnn_triplets :
  (Integer.t -> Integer.t -> Integer.t) -> points -> bool -> q -> triplet
  list -> Integer.t -> (triplet * Integer.t) list -> factor -> metric ->
  (q * q) option

val least : Integer.t list -> Integer.t

val largest : Integer.t list -> Integer.t

type shares = (Integer.t * Integer.t) list

type prices = (Integer.t * (shares * shares)) list

val share : shares -> Integer.t

val shares_ok : Integer.t list -> (Integer.t -> bool) -> shares -> bool

val point_ok :
  Integer.t tree -> Integer.t list tree -> Integer.t -> Integer.t ->
  (Integer.t * (shares * shares)) -> bool

val weights_of :
  Integer.t -> Integer.t -> shares -> weighted list -> weighted list

val weights_of_points : prices -> weighted list

val whole_spread :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t list ->
  Integer.t list -> Integer.t -> Integer.t

val mlsvm_value :
  Integer.t tree -> Integer.t list tree -> Integer.t list -> Integer.t ->
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> q option

val lists_ok : Integer.t -> Integer.t list list -> bool

val check_mlsvm :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
  Integer.t list list -> q -> Integer.t -> prices -> factor -> metric ->
  (q * q) option

val made_pairs : Integer.t list -> bool -> pair list

val within_budget : points -> pair list -> metric -> metric

val same_pair : pair -> pair -> bool

val weights_of_pairs :
  Integer.t -> pair list -> weighted list -> weighted list

val weights_of_least :
  Integer.t -> (pair * Integer.t) list -> weighted list -> weighted list

val least_value :
  pair list -> pair list -> (Integer.t -> Integer.t -> Integer.t) ->
  Integer.t -> q option

val check_dml_eig :
  (Integer.t -> Integer.t -> Integer.t) -> points -> pair list -> pair list
  -> q -> Integer.t -> (pair * Integer.t) list -> factor -> metric -> (q * q)
  option

val check_dml_eig_labels :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list -> q ->
  Integer.t -> (pair * Integer.t) list -> factor -> metric -> (q * q) option

val weighted_squares :
  row tree -> Integer.t tree -> Integer.t list -> triangle

val whole_form : triangle -> row -> Integer.t

val combination : row list -> Integer.t list -> triangle

val gains_ok :
  nat -> q -> triangle -> Integer.t -> row list -> Integer.t -> triangle ->
  Integer.t -> bool

val check_combination :
  points -> q -> q -> row list -> Integer.t -> margin_loss -> triplet list ->
  Integer.t -> (triplet * Integer.t) list -> Integer.t list -> Integer.t ->
  Integer.t list -> Integer.t -> (q * q) option

val check_schultz_joachims :
  points -> q -> row list -> Integer.t -> triplet list -> Integer.t ->
  (triplet * Integer.t) list -> Integer.t list -> Integer.t -> Integer.t list
  -> Integer.t -> (q * q) option

val check_scml :
  points -> q -> row list -> Integer.t -> triplet list -> Integer.t ->
  (triplet * Integer.t) list -> Integer.t list -> Integer.t -> (q * q) option

module Sort :
 functor (X:TotalLeBool') ->
 sig
  val merge : X.t list -> X.t list -> X.t list

  val merge_list_to_stack :
    X.t list option list -> X.t list -> X.t list option list

  val merge_stack : X.t list option list -> X.t list

  val iter_merge : X.t list option list -> X.t list -> X.t list

  val sort : X.t list -> X.t list

  val flatten_stack : X.t list option list -> X.t list
 end

val votes : (Integer.t -> Integer.t) -> Integer.t list -> Integer.t -> nat

val scan :
  (Integer.t -> Integer.t) -> (Integer.t -> nat) -> nat -> Integer.t list ->
  Integer.t list

val targeted :
  (Integer.t -> Integer.t) -> Integer.t -> nat -> nat -> nat -> Integer.t
  list -> Integer.t list

val choose : nat -> Integer.t list -> Integer.t list list

val found :
  (Integer.t -> Integer.t) -> nat -> nat -> Integer.t list -> Integer.t ->
  Integer.t list list

val firsts :
  (Integer.t -> Integer.t) -> Integer.t list -> nat -> Integer.t list ->
  (Integer.t * Integer.t list) list

module Key :
 sig
  type t = Integer.t * Integer.t

  val leb : t -> t -> bool
 end

module KeySort :
 sig
  val merge :
    (Integer.t * Integer.t) list -> (Integer.t * Integer.t) list ->
    (Integer.t * Integer.t) list

  val merge_list_to_stack :
    (Integer.t * Integer.t) list option list -> (Integer.t * Integer.t) list
    -> (Integer.t * Integer.t) list option list

  val merge_stack :
    (Integer.t * Integer.t) list option list -> (Integer.t * Integer.t) list

  val iter_merge :
    (Integer.t * Integer.t) list option list -> (Integer.t * Integer.t) list
    -> (Integer.t * Integer.t) list

  val sort : (Integer.t * Integer.t) list -> (Integer.t * Integer.t) list

  val flatten_stack :
    (Integer.t * Integer.t) list option list -> (Integer.t * Integer.t) list
 end

val by_distance : (Integer.t -> Integer.t) -> Integer.t list -> Integer.t list

type sets_of = Integer.t * (Integer.t list * Integer.t) list

val rising : Integer.t -> Integer.t -> Integer.t -> Integer.t list -> bool

val set_ok : Integer.t -> Integer.t -> nat -> Integer.t list -> bool

val weights_ok : Integer.t -> nat -> q -> Integer.t -> sets_of -> bool

val weights_of_sets :
  (Integer.t -> Integer.t list) -> sets_of list -> weighted list

val lam_ok : Integer.t list -> (Integer.t -> Integer.t -> Integer.t) -> bool

val wins_among :
  (Integer.t -> Integer.t) -> Integer.t list -> Integer.t -> Integer.t list
  -> bool

val whole_Delta :
  (Integer.t -> Integer.t) -> Integer.t list -> (Integer.t -> Integer.t ->
  Integer.t) -> Integer.t -> Integer.t list -> Integer.t

val gain :
  (Integer.t -> Integer.t) -> Integer.t list -> (Integer.t -> Integer.t ->
  Integer.t) -> sets_of list -> Integer.t

val point_value :
  (Integer.t -> Integer.t) -> Integer.t list -> (Integer.t -> Integer.t ->
  Integer.t) -> Integer.t -> nat -> (Integer.t -> Integer.t list) ->
  Integer.t list -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t ->
  Integer.t -> Integer.t option

val all_values :
  (Integer.t -> Integer.t option) -> Integer.t list -> Integer.t option

val check_step :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> q -> nat -> Integer.t
  list list -> Integer.t -> sets_of list -> factor -> metric -> (q * q) option

type exchange = ((Integer.t * Integer.t) * Integer.t) * Integer.t

type leaf = { on_sets : sets_of list; exchanges : exchange list;
              hints : factor }

type cases =
| Bounded of leaf
| Split of Integer.t * Integer.t * cases * cases

val has : Integer.t -> Integer.t list -> bool

val lacks : Integer.t -> Integer.t list -> bool

val common : Integer.t list list -> Integer.t list

val exchange_ok :
  (Integer.t -> Integer.t) -> Integer.t -> Integer.t list list tree ->
  exchange -> bool

val weights_of_exchanges : exchange list -> weighted list

val leaf_bound :
  (Integer.t -> Integer.t -> Integer.t) -> points -> (Integer.t -> Integer.t)
  -> Integer.t list -> Integer.t list -> (Integer.t -> Integer.t ->
  Integer.t) -> Integer.t -> q -> nat -> Integer.t -> Integer.t list list
  tree -> leaf -> q option

val lowest :
  (Integer.t list list tree -> leaf -> q option) -> Integer.t -> Integer.t
  list list tree -> cases -> q -> q option

val winning :
  (Integer.t -> Integer.t) -> Integer.t list -> nat -> Integer.t list ->
  Integer.t -> Integer.t list list

val point_loss :
  (Integer.t -> Integer.t) -> Integer.t list -> (Integer.t -> Integer.t ->
  Integer.t) -> Integer.t -> nat -> Integer.t list -> Integer.t list list
  tree -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
  Integer.t

val check_gerrymandering :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> q -> nat -> Integer.t
  -> cases -> metric -> (q * q) option

type rationals = q list list

val cell : rationals -> nat -> nat -> q

val item : q list -> nat -> q

val shorter :
  (Integer.t -> Integer.t -> Integer.t) -> (Integer.t -> Integer.t ->
  Integer.t) -> q -> q

val sum_Q : (q -> q) -> nat -> (nat -> q) -> q

val prod_Q : nat -> (nat -> q) -> q

val all_below : nat -> (nat -> bool) -> bool

val above_zero : q -> bool

val factors_ok : (q -> q) -> nat -> q list -> rationals -> rationals -> bool

val metric_ok : nat -> q list -> rationals -> bool

val inverse_ok : (q -> q) -> nat -> rationals -> rationals -> q -> bool

val cells_of_terms : (q -> q) -> nat -> q list -> rationals -> rationals

val trace_Q : (q -> q) -> nat -> rationals -> rationals -> q

val check_glml :
  (Integer.t -> Integer.t -> Integer.t) -> (Integer.t -> Integer.t ->
  Integer.t) -> nat -> rationals -> q list -> rationals -> q -> rationals ->
  q -> q list -> rationals -> (q * q) option

val floor :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t -> Integer.t

val doublings : nat -> Integer.t

val squared :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> nat -> Integer.t ->
  Integer.t

val begun :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
  Integer.t -> Integer.t -> Integer.t

val exp_down :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> nat -> Integer.t ->
  Integer.t -> Integer.t

val fine : Integer.t

val exp_below :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t -> Integer.t

val farthest : Integer.t

val exp_above :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t -> Integer.t

val ln_at_most :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
  Integer.t -> Integer.t -> bool

val log_sum_at_most :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t list ->
  Integer.t -> Integer.t -> Integer.t -> bool

type pulls = (Integer.t * Integer.t) list

type soft = { of_point : Integer.t;
              shared : (Integer.t * (Integer.t * Integer.t)) list;
              log_sum : Integer.t }

val others_among : Integer.t list -> Integer.t -> Integer.t list

val soft_ok :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t list -> Integer.t ->
  (Integer.t -> Integer.t) -> soft -> bool

val soft_weights : (Integer.t -> pulls) -> soft list -> weighted list

val soft_constant : Integer.t -> Integer.t -> soft list -> q

val soft_top :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t list -> Integer.t ->
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> soft ->
  Integer.t * bool

val soft_value :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t list -> Integer.t ->
  Integer.t -> (Integer.t -> pulls) -> (Integer.t -> Integer.t) -> soft list
  -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> q option

val check_soft :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
  Integer.t -> Integer.t -> (Integer.t -> pulls) -> (Integer.t -> Integer.t)
  -> soft list -> factor -> metric -> (q * q) option

val same_points : Integer.t list -> Integer.t list -> bool

val mates_among :
  Integer.t list -> Integer.t tree -> Integer.t -> Integer.t list

val mean_pulls :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t list ->
  pulls

val whole_mean :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t list -> bool

val check_mcml :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
  Integer.t -> Integer.t -> soft list -> factor -> metric -> (q * q) option

type weighed_pairs = (pair * Integer.t) list

type labelled = (pair * bool) * Integer.t

type logit = { part : Integer.t; log_part : Integer.t; log_rest : Integer.t;
               log_at : Integer.t }

val logit_ok :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> (labelled * logit) ->
  bool

val signed_part : (labelled * logit) -> Integer.t

val logit_weights : (labelled * logit) list -> weighted list

val logit_entropy : (labelled * logit) list -> Integer.t

val whole_toward :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> q -> labelled ->
  Integer.t

val logit_value :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t -> q ->
  (labelled * logit) list -> (Integer.t -> Integer.t -> Integer.t) ->
  Integer.t -> q option

val check_logistic :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t -> Integer.t
  -> q option -> q -> (labelled * logit) list -> factor -> metric -> (q * q)
  option

val zipped :
  ('a1 * 'a2) list -> 'a1 list -> 'a2 list -> ('a1 * 'a2) list option

val over_kind : bool -> Integer.t -> weighed_pairs -> Integer.t

val labelled_kind :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t -> bool ->
  weighed_pairs -> labelled list

val kind_ok :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
  weighed_pairs -> bool

val check_ldml :
  (Integer.t -> Integer.t -> Integer.t) -> points -> bool -> Integer.t ->
  weighed_pairs -> weighed_pairs -> q -> q option -> Integer.t -> Integer.t
  -> q -> logit list -> factor -> metric -> (q * q) option

type criterion =
| Of_f
| Of_g

val tiny : Integer.t

val lowest0 : Integer.t

type neighbour = { of_other : Integer.t; lesser : Integer.t;
                   portion : Integer.t; log_portion : Integer.t }

type picking = { of_row : Integer.t; neighbours : neighbour list;
                 log_mass : Integer.t; log_own : Integer.t }

val top_of : (Integer.t -> Integer.t) -> neighbour list -> Integer.t

val mates_in : (Integer.t -> bool) -> neighbour list -> neighbour list

val reference_in :
  criterion -> (Integer.t -> bool) -> neighbour list -> neighbour list

val far_of :
  (Integer.t -> Integer.t) -> Integer.t -> Integer.t -> Integer.t ->
  Integer.t -> neighbour -> Integer.t

val lost : Integer.t -> neighbour list -> Integer.t

val held : (Integer.t -> bool) -> neighbour list -> Integer.t

val own_ok :
  (Integer.t -> Integer.t -> Integer.t) -> criterion -> Integer.t ->
  Integer.t -> (Integer.t -> bool) -> (Integer.t -> Integer.t) -> Integer.t
  -> picking -> bool

val picking_ok :
  (Integer.t -> Integer.t -> Integer.t) -> criterion -> Integer.t ->
  Integer.t -> (Integer.t -> bool) -> (Integer.t -> Integer.t) -> Integer.t
  -> picking -> bool

val row_logs :
  criterion -> Integer.t -> (Integer.t -> bool) -> picking -> Integer.t

val row_far :
  criterion -> Integer.t -> (Integer.t -> bool) -> (Integer.t -> Integer.t)
  -> Integer.t -> picking -> Integer.t

val row_rest :
  criterion -> Integer.t -> (Integer.t -> bool) -> picking -> Integer.t

val row_mates : (Integer.t -> bool) -> picking -> Integer.t

val value_held : criterion -> (Integer.t -> bool) -> picking -> Integer.t

val value_tops :
  criterion -> (Integer.t -> bool) -> (Integer.t -> Integer.t) -> picking ->
  Integer.t

val value_logs : criterion -> picking -> Integer.t

val row_weights : (Integer.t -> bool) -> picking -> weighted list

val alike : Integer.t list -> Integer.t -> Integer.t -> bool

val nca_weights :
  (Integer.t -> Integer.t -> bool) -> picking list -> weighted list

val nca_constant :
  criterion -> Integer.t -> Integer.t -> (Integer.t -> Integer.t -> bool) ->
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> picking list -> q

val nca_value :
  criterion -> Integer.t -> Integer.t -> (Integer.t -> Integer.t -> bool) ->
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> picking list -> q

val check_nca :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
  criterion -> Integer.t -> Integer.t -> picking list -> factor -> metric ->
  (q * q) option

val quarter :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
  Integer.t -> Integer.t

val root_ok :
  (Integer.t -> Integer.t -> Integer.t) -> row tree -> Integer.t -> Integer.t
  -> (pair * Integer.t) -> bool

val all_priced : pair list -> (pair * Integer.t) list -> bool

val root_below :
  (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) ->
  Integer.t -> Integer.t -> Integer.t -> Integer.t * bool

val roots_value :
  (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) ->
  Integer.t -> pair list -> pair list -> (Integer.t -> Integer.t ->
  Integer.t) -> Integer.t -> q option

val check_mmc :
  (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) -> points
  -> pair list -> pair list -> q -> Integer.t -> Integer.t ->
  (pair * Integer.t) list -> factor -> metric -> (q * q) option

val check_mmc_labels :
  (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) -> points
  -> Integer.t list -> q -> Integer.t -> Integer.t -> (pair * Integer.t) list
  -> factor -> metric -> (q * q) option

val axis : nat -> Integer.t -> nat -> row

val with_axes : points -> points

val axes : points -> pair list

type triplet_share = triplet * (Integer.t * Integer.t)

val share_ok :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
  triplet_share -> bool

val of_shares : triplet_share list -> (triplet * Integer.t) list

val entropy : triplet_share list -> Integer.t

val boost_value :
  (Integer.t -> Integer.t -> Integer.t) -> q -> Integer.t -> Integer.t ->
  triplet list -> pair list -> (Integer.t -> Integer.t -> Integer.t) ->
  Integer.t -> q option

val check_boostmetric :
  (Integer.t -> Integer.t -> Integer.t) -> points -> q -> triplet list ->
  Integer.t -> Integer.t -> triplet_share list -> Integer.t -> factor ->
  metric -> (q * q) option

val joined : triangle -> triangle -> triangle

val upper : nat -> (nat -> nat -> Integer.t) -> triangle

val full : nat -> triangle -> row list

val inverse_shown : nat -> triangle -> triangle -> Integer.t -> bool

val inner_whole : nat -> triangle -> triangle -> Integer.t

val with_prior : points -> pair list -> q -> metric -> triangle * Integer.t

val psd_block :
  nat -> (triangle * Integer.t) -> (triangle * Integer.t) -> row list ->
  Integer.t -> triangle * Integer.t

val check_gmml :
  (Integer.t -> Integer.t -> Integer.t) -> points -> pair list -> pair list
  -> q -> metric -> metric -> row list -> Integer.t -> metric -> metric ->
  (q * q) option

val check_gmml_labels :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list -> q ->
  metric -> metric -> row list -> Integer.t -> metric -> metric -> (q * q)
  option

val last_pivot :
  (Integer.t -> Integer.t -> Integer.t) -> nat -> Integer.t -> triangle ->
  Integer.t option

val power : Integer.t -> nat -> Integer.t

val det_of :
  (Integer.t -> Integer.t -> Integer.t) -> nat -> metric -> Integer.t option

val turned_whole : nat -> triangle -> triangle

val exp_within :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
  Integer.t -> Integer.t

val ln_within :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
  Integer.t -> Integer.t -> Integer.t -> bool

val beside :
  points -> weighted list -> Integer.t -> metric -> triangle * Integer.t

type bounded = { pulled : Integer.t; log_bound : Integer.t;
                 log_slack : Integer.t }

type priced = pair * bounded

val signed : bool -> Integer.t -> Integer.t

val all_of : q -> q -> Integer.t -> Integer.t

val left_of : bool -> q -> q -> Integer.t -> Integer.t -> Integer.t

val bounded_ok :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> bool -> q -> q ->
  Integer.t -> Integer.t -> priced -> bool

val limit : q -> Integer.t -> Integer.t

val slack :
  bool -> q -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> priced
  -> Integer.t

val slack_ok :
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> bool -> q ->
  (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t -> priced
  -> bool

val slack_value :
  bool -> q -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t ->
  Integer.t -> priced list -> q

val weights_of_bounded : bool -> priced list -> weighted list -> weighted list

val prior_ok :
  (Integer.t -> Integer.t -> Integer.t) -> nat -> metric -> metric -> bool

val check_itml :
  (Integer.t -> Integer.t -> Integer.t) -> points -> pair list -> pair list
  -> q -> q -> q -> metric -> metric -> Integer.t -> Integer.t -> Integer.t
  -> bounded list -> bounded list -> Integer.t -> Integer.t -> metric ->
  (q * q) option

val check_itml_labels :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list -> q -> q
  -> q -> metric -> metric -> Integer.t -> Integer.t -> Integer.t -> bounded
  list -> bounded list -> Integer.t -> Integer.t -> metric -> (q * q) option

val box_ok : nat -> q -> triangle -> Integer.t -> bool

val plus_box :
  (triangle * Integer.t) -> triangle -> Integer.t -> triangle * Integer.t

val off_whole : nat -> triangle -> Integer.t

val check_sdml :
  (Integer.t -> Integer.t -> Integer.t) -> points -> pair list -> pair list
  -> q -> q -> metric -> metric -> triangle -> Integer.t -> Integer.t ->
  Integer.t -> Integer.t -> Integer.t -> metric -> (q * q) option

val check_sdml_labels :
  (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list -> q -> q
  -> metric -> metric -> triangle -> Integer.t -> Integer.t -> Integer.t ->
  Integer.t -> Integer.t -> metric -> (q * q) option

type quadruplet = pair * pair

type compared = (quadruplet * Integer.t) * (Integer.t * Integer.t)

val compared_ok : row tree -> Integer.t -> Integer.t -> compared -> bool

val weights_of_compared : compared list -> weighted list

val residual_above :
  (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) ->
  Integer.t -> Integer.t -> (Integer.t -> Integer.t -> Integer.t) ->
  (quadruplet * Integer.t) -> (Integer.t * Integer.t) * bool

val check_lsml :
  (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) -> points
  -> Integer.t -> (quadruplet * Integer.t) list -> metric -> metric ->
  Integer.t -> Integer.t -> Integer.t -> Integer.t -> (Integer.t * Integer.t)
  list -> Integer.t -> Integer.t -> metric -> (q * q) option
