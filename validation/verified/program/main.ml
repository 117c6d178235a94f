(* checker FILE.json SIDE.json [--fractions]: an interval of the optimum that is proved, or why none is.

   This reads the files, calls the proved functions and prints; whether an interval is right is decided by them. *)

open Json
open Data

let div a b = if Z.sign b = 0 then Z.zero else Z.div a b

type side = {
  over : Z.t;
  prices : Json.t list;
  factor : Verified.factor Lazy.t;
  root : (Z.t list list * Z.t) option Lazy.t;  (* vectors over a number; None: the metric of the file *)
  doc : document;
}

let known doc format =
  if string "format" (field "format" doc.json) <> format then reject ("no file of the format " ^ format);
  if token doc "version" (field "version" doc.json) <> "1" then reject "of a version that this program does not know"

(* A name that is not known might change the problem, so that it is not passed over. *)
let only what known json =
  match json with
  | Object items ->
      List.iter
        (fun (name, _) -> if not (List.mem name known) then reject (Printf.sprintf "%s: %S is not known" what name))
        items
  | _ -> reject (what ^ " is no object")

let of_features doc d what json =
  let vectors, over = doubles doc what json in
  equal_lengths what d vectors;
  (vectors, over)

let factor_of doc d factor : Verified.factor =
  only "factor" [ "vectors"; "rest" ] factor;
  let vectors, beneath = of_features doc d "vectors" (field "vectors" factor) in
  match string "rest" (field "rest" factor) with
  | "psd" -> { vectors; beneath; paid = false }
  | "norm" -> { vectors; beneath; paid = true }
  | _ -> reject "rest is neither psd nor norm"

(* Fields of side files that have no list of prices *)
let without_prices = [ "cases"; "B"; "F"; "U" ]

let read_side path of_method known_fields d =
  let doc = read path in
  let json = doc.json in
  known doc "cvxml-side";
  only "the side file" ("format" :: "version" :: "method" :: "over" :: "prices" :: known_fields) json;
  if string "method" (field "method" json) <> of_method then reject "the side file is of another method";
  let factor () = factor_of doc d (field "factor" json) in
  let root () = match field "root" json with Null -> None | root -> Some (of_features doc d "root" root) in
  let has_prices = not (List.exists (fun name -> optional name json <> None) without_prices) in
  {
    over = positive "over" (field "over" json);
    prices = (if has_prices then list "prices" (field "prices" json) else []);
    factor = lazy (factor ());
    root = lazy (root ());
    doc;
  }

(* The psd metric whose objective is the upper end *)
let metric_of side (rows, over) : Verified.metric =
  match Lazy.force side.root with
  | Some (vectors, under) -> Square (vectors, under)
  | None -> (
      match triangle rows with
      | Some upper -> Given (upper, over)
      | None -> reject "the metric of the file is not symmetric, and the side file has no root")

let triplet_prices side : (Verified.triplet * Z.t) list =
  map
    (fun row ->
      match list "a price" row with
      | [ i; j; l; a ] ->
          let index = natural side.doc "a price" in
          (((index i, index j), index l), whole "a price" a)
      | _ -> reject "a price must be i, j, l and a number")
    side.prices

let point_prices side : Verified.prices =
  let index = natural side.doc "a price" in
  let share row =
    match list "a price" row with
    | [ j; a ] -> (index j, whole "a price" a)
    | _ -> reject "a price must be a point and a number"
  in
  map
    (fun row ->
      match list "prices" row with
      | [ i; u; w ] -> (index i, (map share (list "prices" u), map share (list "prices" w)))
      | _ -> reject "prices must be a point and two lists")
    side.prices

(* Why a check failed, as far as its parts tell; only a message hangs on it. *)
let because parts =
  match List.find_opt (fun (held, _) -> not held) parts with
  | Some (_, why) -> why
  | None -> "no bound is proved of these prices"

let of_problem (x : Verified.points) metric =
  [
    (Verified.fits x.features (Verified.triangle_of metric), "the metric has too many features");
    (Verified.metric_shown div x.features metric, "the metric is not positive semidefinite");
  ]

let of_triplets loss listed side prices =
  [
    (Verified.loss_ok loss, "the weight of the loss must be positive");
    ( Verified.within Verified.same_triplet fst prices listed,
      "a price is of no triplet of the problem, or they are out of order" );
    (List.for_all (fun (_, a) -> Verified.price_ok loss side.over a) prices, "a price is negative, or more than it may be");
  ]

type problem = { x : Verified.points; n : Z.t; metric : Verified.metric Lazy.t; labels : Z.t list Lazy.t }

(* What came of a check, of which metric, and what to say where it failed *)
type outcome = {
  interval : (Verified.q * Verified.q) option;
  attained : Verified.metric;
  failed : (bool * string) list Lazy.t;
}

let rational (value : Verified.q) = Q.make value.qnum value.qden

let params doc = field "params" doc.json
let number doc name = fraction doc name (field name (params doc))

let above_zero doc name =
  let value = number doc name in
  if Z.sign value.qnum <= 0 then reject (name ^ " is not greater than 0");
  value

let between doc name least most =
  let value = number doc name in
  let q = rational value in
  if Q.lt q (Q.of_float least) || Q.gt q (Q.of_float most) then reject (Printf.sprintf "%s is out of its range" name);
  value

(* n_neighbors, or None where the lists or triplets were given *)
let stated doc =
  match optional "n_neighbors" (params doc) with
  | None | Some Null -> None
  | Some k -> Some (natural doc "n_neighbors" k)

let contradicted what i = reject (Printf.sprintf "%s of point %d are not as many as n_neighbors says" what i)
let of_size k row = Z.equal (Z.of_int (List.length row)) k

(* Lists of points: as many as n_neighbors says *)
let lists_as_stated doc what rows =
  match stated doc with
  | None -> ()
  | Some k -> List.iteri (fun i row -> if not (of_size k row) then contradicted what i) rows

(* Of each class, its own and the others, as many *)
let split_as_stated doc y rows =
  match stated doc with
  | None -> ()
  | Some k ->
      let classes = Array.of_list y in
      List.iteri
        (fun i row ->
          let own, rest = List.partition (fun j -> Z.equal classes.(Z.to_int j) classes.(i)) row in
          if not (of_size k own && of_size k rest) then contradicted "neighbors" i)
        rows

(* By labels: of each point, every target with every impostor, as many of both as n_neighbors says *)
let triplets_as_stated doc y n (listed : Verified.triplet list) =
  match stated doc with
  | None -> ()
  | Some k ->
      let classes = Array.of_list y and of_point = Array.make (Z.to_int n) [] in
      List.iter (fun ((i, j), l) -> of_point.(Z.to_int i) <- (j, l) :: of_point.(Z.to_int i)) listed;
      let alike i j = Z.equal classes.(Z.to_int j) classes.(i) in
      Array.iteri
        (fun i rows ->
          let distinct side = List.sort_uniq Z.compare (map side rows) in
          let targets = distinct fst and impostors = distinct snd in
          if
            not
              (of_size k targets && of_size k impostors
              && of_size (Z.mul k k) rows
              && List.for_all (alike i) targets
              && not (List.exists (alike i) impostors))
          then contradicted "triplets" i)
        of_point

let mlsvm doc side p : outcome =
  let y = Lazy.force p.labels and near = lists doc "neighbors" p.n (field "neighbors" doc.json) in
  (match (optional "neighborhood" (params doc), stated doc) with
  | _, None -> ()
  | (None | Some (String "knn")), _ -> lists_as_stated doc "neighbors" near
  | Some (String "per-class"), _ -> split_as_stated doc y near
  | _ -> reject "n_neighbors is given, and neighborhood is neither knn nor per-class");
  let prices = point_prices side in
  {
    interval = Verified.check_mlsvm div p.x y near (above_zero doc "lam") side.over prices (Lazy.force side.factor) (Lazy.force p.metric);
    attained = Lazy.force p.metric;
    failed =
      lazy
        [
          ( List.for_all (Verified.point_ok (Verified.table y) (Verified.table near) p.n side.over) prices,
            "a price is negative or of no neighbour on its side, or sums disagree or are more than 1/n" );
        ];
  }

(* As cvxml has them: of mu and of 1 - mu, and of a width that is not 0 *)
let least_mu = 1e-12
let least_width = 1e-9

let lmnn squared doc side p : outcome =
  let mu = between doc "mu" least_mu (1. -. least_mu) and prices = triplet_prices side in
  let loss = if squared then Verified.Squared mu else Verified.Hinge mu in
  match (optional "targets" (params doc), optional "triplets" (params doc)) with
  | Some (List _ as targets), (None | Some Null) ->
      let y = Lazy.force p.labels and targets = lists doc "targets" p.n targets in
      let classes = Array.of_list y in
      List.iteri
        (fun i row ->
          if List.exists (fun j -> not (Z.equal classes.(Z.to_int j) classes.(i))) row then
            reject (Printf.sprintf "targets: point %d has one of another class" i))
        targets;
      lists_as_stated doc "targets" targets;
      {
        interval = Verified.check_lmnn_labels div p.x squared mu y targets side.over prices (Lazy.force side.factor) (Lazy.force p.metric);
        attained = Lazy.force p.metric;
        failed = lazy (of_triplets loss (Verified.made_triplets y targets) side prices);
      }
  | (None | Some Null), Some (List _ as listed) ->
      let listed = triplets doc p.n listed in
      if stated doc <> None then reject "n_neighbors is given beside triplets";
      {
        interval = Verified.check_lmnn_triplets div p.x squared mu listed side.over prices (Lazy.force side.factor) (Lazy.force p.metric);
        attained = Lazy.force p.metric;
        failed = lazy (of_triplets loss listed side prices);
      }
  | _ -> reject "params must have targets or triplets"

(* The triplets of a method that makes them of its labels *)
let listed_triplets doc p =
  let listed = triplets doc p.n (field "triplets" (params doc)) in
  if stated doc <> None then triplets_as_stated doc (Lazy.force p.labels) p.n listed;
  listed

let frobmetric doc side p : outcome =
  let listed = listed_triplets doc p and prices = triplet_prices side in
  let c = above_zero doc "C" in
  {
    interval = Verified.check_frobmetric div p.x c listed side.over prices (Lazy.force side.factor) (Lazy.force p.metric);
    attained = Lazy.force p.metric;
    failed =
      lazy
        (let count = Z.max Z.one (Verified.count listed) in
         of_triplets (Verified.Hinge { c with qden = Z.mul c.qden count }) listed side prices);
  }

let rtml doc side p : outcome =
  let listed = listed_triplets doc p and prices = triplet_prices side in
  let width = number doc "width" in
  let width = if Z.sign width.qnum = 0 then width else between doc "width" least_width 1. in
  {
    interval = Verified.check_rtml div p.x (above_zero doc "lam") width listed side.over prices (Lazy.force side.factor) (Lazy.force p.metric);
    attained = Lazy.force p.metric;
    failed = lazy (of_triplets (Verified.rtml_loss width) listed side prices);
  }

let side_fraction side name : Verified.q =
  match list name (field name side.doc.json) with
  | [ a; b ] -> { qnum = whole name a; qden = positive name b }
  | _ -> reject (name ^ " is no fraction")

(* Similar and dissimilar pairs that were given, each as [read] reads them; none is of both kinds *)
let given_pairs read doc n given =
  only "pairs" [ "similar"; "dissimilar" ] given;
  let of_kind kind = read doc (kind ^ " pairs") n (field kind given) in
  let similar = of_kind "similar" and dissimilar = of_kind "dissimilar" in
  ignore (sorted compare_pair "pairs of both kinds" (map ascending (List.rev_append similar dissimilar)));
  (similar, dissimilar)

(* The similar and the dissimilar pairs in order, and the classes where every two points are a pair *)
let pairs_of doc p =
  match field "pairs" (params doc) with
  | Null ->
      let y = Lazy.force p.labels in
      (Verified.made_pairs y true, Verified.made_pairs y false, Some y)
  | given ->
      let similar, dissimilar = given_pairs pairs doc p.n given in
      (similar, dissimilar, None)

let pair_prices side : (Verified.pair * Z.t) list =
  map
    (fun row ->
      match list "a price" row with
      | [ i; j; a ] -> ((natural side.doc "a price" i, natural side.doc "a price" j), whole "a price" a)
      | _ -> reject "a price must be i, j and a number")
    side.prices

let dml_eig doc side p : outcome =
  let similar, dissimilar, labels = pairs_of doc p in
  let check =
    match labels with
    | Some y -> Verified.check_dml_eig_labels div p.x y
    | None -> Verified.check_dml_eig div p.x similar dissimilar
  in
  let prices = pair_prices side in
  let mu = side_fraction side "most" in
  let attained = Verified.within_budget p.x similar (Lazy.force p.metric) in
  {
    interval = check mu side.over prices (Lazy.force side.factor) attained;
    attained;
    failed =
      lazy
        [
          (dissimilar <> [], "there is no dissimilar pair");
          ( Verified.within Verified.same_pair fst prices dissimilar,
            "a price is of no dissimilar pair, or they are out of order" );
          (List.for_all (fun (_, a) -> Z.sign a >= 0) prices, "a price is negative");
          (Z.equal (Verified.summed snd prices) side.over, "prices must have the sum 1");
        ];
  }

(* Roots and quotients are rounded to multiples of 2^-192. *)
let fine = Z.shift_left Z.one 192
let root z = if Z.sign z < 0 then Z.zero else Z.sqrt z

(* A price for each of the pairs: 0 for those that have none *)
let with_zeros pairs prices =
  let rec go done_ pairs prices =
    match (pairs, prices) with
    | [], [] -> List.rev done_
    | [], _ -> reject "a price is of no dissimilar pair, or they are out of order"
    | pair :: pairs, ((of_pair, _) as price) :: rest when Verified.same_pair of_pair pair -> go (price :: done_) pairs rest
    | pair :: pairs, _ -> go ((pair, Z.zero) :: done_) pairs prices
  in
  go [] pairs prices

let mmc doc side p : outcome =
  let similar, dissimilar, labels = pairs_of doc p in
  if dissimilar = [] then reject "there is no dissimilar pair";
  let check =
    match labels with
    | Some y -> Verified.check_mmc_labels root div p.x y
    | None -> Verified.check_mmc root div p.x similar dissimilar
  in
  let prices = with_zeros dissimilar (pair_prices side) in
  let attained = Verified.within_budget p.x similar (Lazy.force p.metric) in
  {
    interval = check (side_fraction side "most") fine side.over prices (Lazy.force side.factor) attained;
    attained;
    failed =
      lazy
        [
          (List.for_all (fun (_, a) -> Z.sign a >= 0) prices, "a price is negative");
          ( List.for_all (Verified.root_ok div (Verified.table p.x.rows) fine side.over) prices,
            "a pair of different points has no price" );
        ];
  }

(* A symmetric matrix of whole numbers over one, and its inverse, which is computed here, and multiplied again by the check *)
let inverse_of (m : Verified.metric) : Verified.metric =
  let over = Verified.over_of m and rows = Array.of_list (map Array.of_list (Verified.triangle_of m)) in
  let d = Array.length rows in
  let entry i j =
    let i, j = (min i j, max i j) in
    if j - i < Array.length rows.(i) then Q.make rows.(i).(j - i) over else Q.zero
  in
  let inverse = Elimination.inverse Q.one (List.init d (fun i -> List.init d (entry i))) in
  let beneath = List.fold_left (List.fold_left (fun found a -> Z.lcm found (Q.den a))) Z.one inverse in
  let whole a = Z.mul (Q.num a) (Z.divexact beneath (Q.den a)) in
  Given (upper (map (map whole) inverse), beneath)

(* The prior A_0, which is I where none is given *)
let prior_of doc d : Verified.metric =
  match optional "prior" (params doc) with
  | None -> Given (List.init d (fun i -> List.init (d - i) (fun j -> if j = 0 then Z.one else Z.zero)), Z.one)
  | Some given -> (
      let rows, over = doubles doc "prior" given in
      if List.length rows <> d then reject "prior has not a row a feature";
      equal_lengths "prior" d rows;
      match triangle rows with Some upper -> Given (upper, over) | None -> reject "prior is not symmetric")

let gmml doc side p : outcome =
  only "the side file" [ "format"; "version"; "method"; "over"; "root"; "F" ] side.doc.json;
  let d = List.length (List.hd p.x.rows) in
  if not (Q.equal (rational (number doc "weight")) (Q.of_ints 1 2)) then
    reject "weight is not 0.5: this program knows gmml with this weight only";
  let mu = number doc "mu" in
  if Z.sign mu.qnum < 0 then reject "mu is negative";
  let rows = map (fun row -> map (whole "F") (list "F" row)) (list "F" (field "F" side.doc.json)) in
  if List.length rows <> d then reject "F has not a row a feature";
  equal_lengths "F" d rows;
  let similar, dissimilar, labels = pairs_of doc p in
  let check =
    match labels with
    | Some y -> Verified.check_gmml_labels div p.x y
    | None -> Verified.check_gmml div p.x similar dissimilar
  in
  let prior = prior_of doc d and metric = Lazy.force p.metric in
  let prior_inverse = inverse_of prior and metric_inverse = inverse_of metric in
  let invertible m n =
    Verified.inverse_shown (nat d) (Verified.triangle_of m) (Verified.triangle_of n) (Z.mul (Verified.over_of m) (Verified.over_of n))
  in
  {
    interval = check mu prior prior_inverse rows side.over metric metric_inverse;
    attained = metric;
    failed =
      lazy
        ((Verified.metric_shown div (nat d) prior && invertible prior prior_inverse, "prior is not positive definite")
        :: of_problem p.x metric
        @ [
            (invertible metric metric_inverse, "the metric is singular");
            (false, "F proves no bound: the matrix of S, F and D is not positive semidefinite");
          ]);
  }

(* Of a combination of vectors: prices, and the weights of the one that attains the upper end *)
let combination doc side p basis over_basis loss check : outcome =
  let listed = listed_triplets doc p and prices = triplet_prices side in
  let weights, over =
    match doubles side.doc "weights" (List [ field "weights" side.doc.json ]) with
    | [ weights ], over when List.compare_lengths weights basis = 0 -> (weights, over)
    | _ -> reject "weights are not one a vector"
  in
  if List.exists (fun w -> Z.sign w < 0) weights then reject "a weight is negative";
  let loss = loss (Z.max Z.one (Verified.count listed)) in
  {
    interval = check listed prices weights over;
    attained = Given (Verified.combination basis weights, Z.mul over (Z.mul over_basis over_basis));
    failed = lazy (of_triplets loss listed side prices);
  }

let vectors doc what d json =
  let rows, over = doubles doc what json in
  if rows = [] then reject (what ^ " has no vectors");
  equal_lengths what d rows;
  (rows, over)

let schultz_joachims doc side p : outcome =
  let d = List.length (List.hd p.x.rows) in
  let basis, over_basis =
    match field "A" (params doc) with
    | Null -> (List.init d (fun i -> List.init d (fun j -> if i = j then Z.one else Z.zero)), Z.one)
    | given ->
        let rows, over = doubles doc "A" given in
        if List.length rows <> d then reject "A has not a row a feature";
        let columns = List.length (List.hd rows) in
        if columns = 0 then reject "A has no columns";
        equal_lengths "A" columns rows;
        let rows = List.map Array.of_list rows in
        (List.init columns (fun k -> List.map (fun row -> row.(k)) rows), over)
  in
  let c = above_zero doc "C" and paid = map (whole "paid") (list "paid" (field "paid" side.doc.json)) in
  let paid_over = positive "paid_over" (field "paid_over" side.doc.json) in
  combination doc side p basis over_basis
    (fun _ -> Verified.Hinge c)
    (fun listed prices weights over ->
      Verified.check_schultz_joachims p.x c basis over_basis listed side.over prices paid paid_over weights over)

let scml doc side p : outcome =
  let d = List.length (List.hd p.x.rows) in
  let basis, over_basis = vectors doc "basis" d (field "basis" (params doc)) in
  combination doc side p basis over_basis
    (fun count -> Verified.Hinge { qnum = Z.one; qden = count })
    (fun listed prices weights over ->
      Verified.check_scml p.x (above_zero doc "beta") basis over_basis listed side.over prices weights over)

(* The losses as whole numbers over one number: a row and a column for each class 0, 1, ..., which all occur *)
let loss_matrix doc labels =
  let rows, over = doubles doc "loss_matrix" (field "loss_matrix" (params doc)) in
  let size = List.length rows in
  equal_lengths "loss_matrix" size rows;
  let classes = List.sort_uniq Z.compare labels in
  if not (List.equal Z.equal classes (List.init size Z.of_int)) then
    reject "loss_matrix has not a row for each class 0, 1, ... of y";
  let table = Array.of_list (map Array.of_list rows) in
  ((fun a b -> table.(Z.to_int a).(Z.to_int b)), over, classes)

(* Of each point: sets with their weights *)
let set_prices doc n prices : Verified.sets_of list =
  let one_set row =
    match list "a price" row with
    | [ members; a ] -> (indices doc "a price" n members, whole "a price" a)
    | _ -> reject "a price must be a set and a number"
  in
  map
    (fun row ->
      match list "prices" row with
      | [ i; sets ] -> (List.hd (indices doc "a price" n (List [ i ])), map one_set (list "prices" sets))
      | _ -> reject "prices must be a point and a list of sets")
    prices

(* The tree: [i, j], then the cases with j in the set of i, then those without; or a leaf *)
let cases_of doc d n json : Verified.cases =
  let index json = List.hd (indices doc "cases" n (List [ json ])) in
  let exchange row : Verified.exchange =
    match list "exchanges" row with
    | [ i; j; l; a ] -> (((index i, index j), index l), whole "exchanges" a)
    | _ -> reject "an exchange must be i, j, l and a number"
  in
  let leaf json : Verified.leaf =
    only "a leaf" [ "prices"; "exchanges"; "factor" ] json;
    {
      on_sets = set_prices doc n (list "prices" (field "prices" json));
      exchanges = map exchange (list "exchanges" (field "exchanges" json));
      hints = factor_of doc d (field "factor" json);
    }
  in
  let rec tree = function
    | [] -> reject "cases end before the tree does"
    | List [ i; j ] :: rest ->
        let inside, rest = tree rest in
        let outside, rest = tree rest in
        (Verified.Split (index i, index j, inside, outside), rest)
    | json :: rest -> (Verified.Bounded (leaf json), rest)
  in
  match tree (list "cases" json) with
  | found, [] -> found
  | _ -> reject "cases go on after the tree"

(* More sets of neighbours than this are not listed. *)
let most_sets = 200_000

let listable n k =
  let n = Z.to_int n - 1 in
  let k = min k (n - k) in
  let rec ways found j =
    if found > most_sets then false else if j = k then found * (n + 1) <= most_sets else ways (found * (n - j) / (j + 1)) (j + 1)
  in
  ways 1 0

let ssvm doc side p : outcome =
  let y = Lazy.force p.labels in
  let lam, over_lam, classes = loss_matrix doc y and c = above_zero doc "C" in
  let k = natural doc "n_neighbors" (field "n_neighbors" (params doc)) in
  if Z.sign k = 0 || Z.geq k p.n then reject "n_neighbors must be at least 1, and less than the number of points";
  let class_of = Array.of_list y and number = Z.to_int k in
  let cls j = class_of.(Z.to_int j) and k = nat number in
  let loss = (Verified.lam_ok classes lam, "loss_matrix must be 0 on the diagonal and positive elsewhere") in
  match optional "cases" side.doc.json with
  | Some json ->
      only "the side file" [ "format"; "version"; "method"; "over"; "root"; "cases" ] side.doc.json;
      if not (listable p.n number) then reject "there are too many sets of n_neighbors points to list them";
      let cases = cases_of side.doc (List.length (List.hd p.x.rows)) p.n json in
      {
        interval = Verified.check_gerrymandering div p.x y lam over_lam c k side.over cases (Lazy.force p.metric);
        attained = Lazy.force p.metric;
        failed =
          lazy
            (loss :: of_problem p.x (Lazy.force p.metric)
            @ [ (false, "the tree proves no bound: a price, an exchange or a matrix of a leaf is wrong") ]);
      }
  | None ->
      let latent = lists side.doc "latent" p.n (field "latent" side.doc.json) in
      let prices = set_prices side.doc p.n side.prices in
      {
        interval =
          Verified.check_step div p.x y lam over_lam c k latent side.over prices (Lazy.force side.factor)
            (Lazy.force p.metric);
        attained = Lazy.force p.metric;
        failed =
          lazy
            [
              loss;
              ( List.for_all2
                  (fun i h -> Verified.set_ok p.n i k h && Verified.wins_among cls classes (cls i) h)
                  (List.init (List.length y) Z.of_int) latent,
                "latent has a set without n_neighbors points in ascending order, or one that its class does not win" );
              ( List.for_all (Verified.weights_ok p.n k c side.over) prices,
                "a price is negative or of no set, or those of a point are more than C" );
            ];
      }

(* GLML: the factors are computed here, and the proved check multiplies them again. *)
let glml doc side p : outcome =
  only "the side file" [ "format"; "version"; "method"; "over"; "B"; "trace"; "scale" ] side.doc.json;
  let d = List.length (List.hd p.x.rows) in
  let rationals (rows, over) = map (map (fun a -> Q.make a over)) rows in
  let rows, beneath = square doc d (field "metric" doc.json) in
  let b = rationals (of_features side.doc d "B" (field "B" side.doc.json)) in
  if List.length b <> d then reject "B has not a row a feature";
  let scale = positive "scale" (field "scale" side.doc.json) and trace = whole "trace" (field "trace" side.doc.json) in
  let c = Q.make scale side.over and t = Q.make trace side.over in
  let upper = match triangle rows with Some upper -> upper | None -> reject "the metric of the file is not symmetric" in
  let m, w =
    match Elimination.terms (Elimination.inverse c (rationals (rows, beneath))) with
    | Some found -> found
    | None -> reject "the metric is not positive definite"
  in
  let beta, u =
    if Z.sign trace = 0 then ([], [])
    else match Elimination.terms_from_the_last b with Some found -> found | None -> reject "B is not positive definite"
  in
  let q (value : Q.t) : Verified.q = { qnum = Q.num value; qden = Q.den value } in
  let cells = map (map q) in
  {
    interval =
      Verified.check_glml div Z.gcd (nat d) (cells b) (map q beta) (cells u) (q t)
        (cells (rationals (rows, beneath)))
        (q c) (map q m) (cells w);
    attained = Given (Verified.times side.over upper, Z.mul beneath scale);
    failed =
      lazy
        [
          (Z.sign trace >= 0, "trace is negative");
          ( Verified.metric_ok (nat d) (map q m) (cells w),
            "scale is too small: the metric over scale has a determinant above 1" );
          (false, "trace is too large, or B is not symmetric");
        ];
  }

(* A larger logarithm is refused: the checker computes its exponential, which has as many digits. *)
let largest_logarithm = Z.of_int 16384

let logs_over side = positive "logs_over" (field "logs_over" side.doc.json)

let logarithm side value =
  let z = whole "a price" value in
  if Z.gt z (Z.mul largest_logarithm (logs_over side)) then reject "a logarithm is too large" else z

(* Of each point: shares of others, each with a logarithm; and the logarithm of the sum at the metric *)
let softmaxes side : Verified.soft list =
  let index = natural side.doc "a price" and whole = whole "a price" and logarithm = logarithm side in
  let share row =
    match list "a price" row with
    | [ k; z; a ] -> (index k, (whole a, logarithm z))
    | _ -> reject "a price must be a point and two numbers"
  in
  map
    (fun row ->
      match list "prices" row with
      | [ i; shares; top ] -> { Verified.of_point = index i; shared = map share (list "prices" shares); log_sum = logarithm top }
      | _ -> reject "prices must be a point, a list and a number")
    side.prices

let mcml _ side p : outcome =
  let y = Lazy.force p.labels and r = logs_over side and rows = softmaxes side in
  {
    interval = Verified.check_mcml div p.x y side.over r rows (Lazy.force side.factor) (Lazy.force p.metric);
    attained = Lazy.force p.metric;
    failed =
      lazy
        [
          ( List.for_all (Verified.soft_ok div (Verified.numbers y) r (fun _ -> side.over)) rows,
            "a price is negative or of no other point, or its logarithm is too small, or the sum of a point is not 1" );
        ];
  }

(* Shares of triplets, each with a logarithm; and the logarithm of the sum of exponentials at the metric *)
let boostmetric doc side p : outcome =
  let listed = listed_triplets doc p and r = logs_over side in
  if listed = [] then reject "there is no triplet";
  let index = natural side.doc "a price" in
  let shares : Verified.triplet_share list =
    map
      (fun row ->
        match list "a price" row with
        | [ i; j; l; z; a ] -> (((index i, index j), index l), (whole "a price" a, logarithm side z))
        | _ -> reject "a price must be i, j, l and two numbers")
      side.prices
  in
  {
    interval =
      Verified.check_boostmetric div p.x (above_zero doc "v") listed side.over r shares
        (logarithm side (field "log_sum" side.doc.json))
        (Lazy.force side.factor) (Lazy.force p.metric);
    attained = Lazy.force p.metric;
    failed =
      lazy
        [
          ( Verified.within Verified.same_triplet fst shares listed,
            "a price is of no triplet of the problem, or they are out of order" );
          (List.for_all (fun (_, (a, _)) -> Z.sign a > 0) shares, "a price is negative, or 0");
          (List.for_all (Verified.share_ok div side.over r) shares, "a logarithm is too small");
          (Z.equal (Verified.summed (fun (_, (a, _)) -> a) shares) side.over, "prices must have the sum 1");
        ];
  }

(* Of each point: all others with a number below c_i w_ij, a logarithm of the share, and the share; two logarithms *)
let pickings side : Verified.picking list =
  let index = natural side.doc "a price" and whole = whole "a price" and logarithm = logarithm side in
  let neighbour row : Verified.neighbour =
    match list "a price" row with
    | [ k; lesser; z; a ] -> { of_other = index k; lesser = whole lesser; portion = whole a; log_portion = logarithm z }
    | _ -> reject "a price must be a point and three numbers"
  in
  map
    (fun row ->
      match list "prices" row with
      | [ i; z; v; others ] ->
          {
            Verified.of_row = index i;
            neighbours = map neighbour (list "prices" others);
            log_mass = logarithm z;
            log_own = logarithm v;
          }
      | _ -> reject "prices must be a point, two numbers and a list")
    side.prices

let nca doc side p : outcome =
  let y = Lazy.force p.labels and params = params doc in
  let criterion : Verified.criterion =
    match optional "criterion" params with
    | Some (String "f") -> Of_f
    | Some (String "g") -> Of_g
    | _ -> reject "criterion is neither f nor g"
  in
  (match optional "similarity" params with
  | None | Some Null -> ()
  | Some _ -> reject "a similarity is given: this program knows nca with classes only");
  (match optional "n_components" params with
  | None | Some Null -> ()
  | Some m ->
      if not (Z.equal (natural doc "n_components" m) (Z.of_int (List.length (List.hd p.x.rows)))) then
        reject "n_components is not the number of features");
  let rows = pickings side in
  let of_all held = List.for_all (fun (s : Verified.picking) -> List.for_all held s.neighbours) rows in
  {
    interval =
      Verified.check_nca div p.x y criterion side.over (logs_over side) rows (Lazy.force side.factor) (Lazy.force p.metric);
    attained = Lazy.force p.metric;
    failed =
      lazy
        ([
          (of_all (fun t -> Z.sign t.portion >= 0 && Z.sign t.lesser >= 0), "a price is negative");
          ( List.for_all
              (fun (s : Verified.picking) ->
                let own = Verified.alike y s.of_row in
                Z.equal (Verified.summed (fun (t : Verified.neighbour) -> t.portion) s.neighbours) (Verified.held own s.neighbours))
              rows,
            "the shares of a point do not have the sum of the numbers below the weights of its class" );
        ]
        @ of_problem p.x (Lazy.force p.metric)
        @ [
            ( false,
              "a number below a weight is too large, a logarithm is too small, points are not in order, or the shares \
               prove no bound" );
          ]);
  }

(* As cvxml has them *)
let largest_b = 1e6
let heaviest = 1e100

let ldml doc side p : outcome =
  let params = params doc in
  let b = match field "b" params with String "free" -> None | _ -> Some (between doc "b" (-.largest_b) largest_b) in
  let means =
    match optional "losses" params with
    | None | Some (String "sum") -> false
    | Some (String "means") -> true
    | _ -> reject "losses is neither sum nor means"
  in
  let alone : Verified.q =
    match optional "self_pairs" params with
    | None -> { qnum = Z.zero; qden = Z.one }
    | Some _ ->
        let value = number doc "self_pairs" in
        if Z.sign value.qnum = 0 then value else between doc "self_pairs" (1. /. heaviest) heaviest
  in
  let similar, dissimilar =
    match field "pairs" params with
    | Null ->
        let y = Lazy.force p.labels in
        (Verified.made_pairs y true, Verified.made_pairs y false)
    | given -> given_pairs listed_pairs doc p.n given
  in
  let count = List.length similar in
  let weights, over =
    match optional "weights" params with
    | None | Some Null -> (map (fun _ -> Z.one) (List.rev_append similar dissimilar), Z.one)
    | Some listed -> (
        List.iter
          (fun w ->
            let w = rational (fraction doc "weights" w) in
            if Q.lt w (Q.of_float (1. /. heaviest)) || Q.gt w (Q.of_float heaviest) then
              reject "a weight is out of its range")
          (list "weights" listed);
        match doubles doc "weights" (List [ listed ]) with
        | [ weights ], over when List.length weights = count + List.length dissimilar -> (weights, over)
        | _ -> reject "weights are not one a pair")
  in
  let weights = Array.of_list weights in
  let weighed first = List.fold_left (fun (k, l) s -> (k + 1, (s, weights.(k)) :: l)) (first, []) in
  let near = List.rev (snd (weighed 0 similar)) and far = List.rev (snd (weighed count dissimilar)) in
  let part row : Verified.logit =
    match list "a price" row with
    | [ at; of_part; of_rest; part ] ->
        let logarithm = logarithm side in
        { part = whole "a price" part; log_part = logarithm of_part; log_rest = logarithm of_rest; log_at = logarithm at }
    | _ -> reject "a price must be four numbers"
  in
  let parts = map part side.prices in
  {
    interval =
      Verified.check_ldml div p.x means over near far alone b side.over (logs_over side) (side_fraction side "b") parts
        (Lazy.force side.factor) (Lazy.force p.metric);
    attained = Lazy.force p.metric;
    failed =
      lazy
        [
          (near <> [] && far <> [], "there is no pair of one kind");
          (List.for_all (fun (t : Verified.logit) -> Z.sign t.part >= 0) parts, "a price is negative");
        ];
  }

(* With log determinants: exponentials are rounded to multiples of 1 / [fine_for] of all hints, as small as these ask for. *)
let fine_for side (logs : Z.t list) =
  let least = List.fold_left Z.min Z.zero logs in
  Z.shift_left fine (2 * (1 + Z.to_int (Z.div (Z.neg least) (logs_over side))))

(* A logarithm that is neither too large nor too small *)
let signed_logarithm side value =
  let z = logarithm side value in
  if Z.lt z (Z.neg (Z.mul largest_logarithm (logs_over side))) then reject "a logarithm is too small" else z

let log_of side name = signed_logarithm side (field name side.doc.json)

(* Why a problem with log determinants failed *)
let of_determinants d prior metric =
  let positive m = Verified.det_of div (nat d) m <> None in
  [
    (positive prior, "prior is not positive definite");
    (positive metric, "the metric is not positive definite");
  ]

let itml doc side p : outcome =
  let d = List.length (List.hd p.x.rows) and gamma = above_zero doc "gamma" in
  let u, l =
    match list "bounds" (field "bounds" (params doc)) with
    | [ u; l ] -> (fraction doc "bounds" u, fraction doc "bounds" l)
    | _ -> reject "bounds are not two numbers"
  in
  if Z.sign u.qnum <= 0 || Z.sign l.qnum <= 0 then reject "a bound is not greater than 0";
  let similar, dissimilar, labels =
    match field "pairs" (params doc) with
    | Null ->
        let y = Lazy.force p.labels in
        (Verified.made_pairs y true, Verified.made_pairs y false, Some y)
    | given ->
        let similar, dissimilar = given_pairs listed_pairs doc p.n given in
        (similar, dissimilar, None)
  in
  let bounded row : Verified.bounded =
    match list "a price" row with
    | [ low; at; a ] ->
        { pulled = whole "a price" a; log_bound = signed_logarithm side low; log_slack = signed_logarithm side at }
    | _ -> reject "a price must be three numbers"
  in
  let rows = map bounded side.prices in
  let count = List.length similar in
  if List.length rows <> count + List.length dissimilar then reject "prices are not one a pair";
  let near = List.filteri (fun k _ -> k < count) rows and far = List.filteri (fun k _ -> k >= count) rows in
  let prior = prior_of doc d and metric = Lazy.force p.metric in
  let of_bound = log_of side "log_bound" and of_metric = log_of side "log_metric" in
  let logs = List.fold_left (fun l (s : Verified.bounded) -> s.log_bound :: s.log_slack :: l) [ of_bound; of_metric ] rows in
  let v = fine_for side logs in
  let check =
    match labels with
    | Some y -> Verified.check_itml_labels div p.x y
    | None -> Verified.check_itml div p.x similar dissimilar
  in
  let ok alike b pairs rows =
    List.for_all2 (fun s t -> Verified.bounded_ok div v alike gamma b side.over (logs_over side) (s, t)) pairs rows
  in
  {
    interval = check gamma u l prior (inverse_of prior) side.over v (logs_over side) near far of_bound of_metric metric;
    attained = metric;
    failed =
      lazy
        (of_determinants d prior metric
        @ [
            (List.for_all (fun (s : Verified.bounded) -> Z.sign s.pulled >= 0) rows, "a price is negative");
            ( ok true u similar near && ok false l dissimilar far,
              "a price is more than it may be, or its logarithm is too small" );
            (false, "the prices prove no bound, or a logarithm at the metric is too small");
          ]);
  }

let sdml doc side p : outcome =
  only "the side file" [ "format"; "version"; "method"; "over"; "root"; "logs_over"; "log_bound"; "log_metric"; "U" ] side.doc.json;
  let d = List.length (List.hd p.x.rows) and eta = above_zero doc "eta" and lam = number doc "lam" in
  if Z.sign lam.qnum < 0 then reject "lam is negative";
  let similar, dissimilar, labels = pairs_of doc p in
  let rows = map (fun row -> map (whole "U") (list "U" row)) (list "U" (field "U" side.doc.json)) in
  if List.length rows <> d then reject "U has not a row a feature";
  equal_lengths "U" d rows;
  let box = match triangle rows with Some box -> box | None -> reject "U is not symmetric" in
  let prior = prior_of doc d and metric = Lazy.force p.metric in
  let of_bound = log_of side "log_bound" and of_metric = log_of side "log_metric" in
  let check =
    match labels with
    | Some y -> Verified.check_sdml_labels div p.x y
    | None -> Verified.check_sdml div p.x similar dissimilar
  in
  {
    interval =
      check eta lam prior (inverse_of prior) box side.over
        (fine_for side [ of_bound; of_metric ])
        (logs_over side) of_bound of_metric metric;
    attained = metric;
    failed =
      lazy
        (of_determinants d prior metric
        @ [
            (Verified.box_ok (nat d) lam box side.over, "U has an entry beyond lam, or on its diagonal");
            (false, "U proves no bound, or a logarithm is too small");
          ]);
  }

let lsml doc side p : outcome =
  let d = List.length (List.hd p.x.rows) and params = params doc in
  let rows =
    map
      (fun row ->
        match indices doc "quadruplets" p.n row with
        | [ a; b; c; e ] when not (Z.equal a b || Z.equal c e) -> ((a, b), (c, e))
        | _ -> reject "quadruplets must be two pairs of two points")
      (list "quadruplets" (field "quadruplets" params))
  in
  let count = List.length rows in
  (match optional "n_quadruplets" params with
  | None | Some Null -> ()
  | Some k -> if not (Z.equal (natural doc "n_quadruplets" k) (Z.of_int count)) then reject "n_quadruplets is not their number");
  let weights, q =
    match doubles doc "weights" (List [ field "weights" params ]) with
    | [ weights ], q when List.length weights = count -> (weights, q)
    | _ -> reject "weights are not one a quadruplet"
  in
  if List.exists (fun w -> Z.sign w < 0) weights then reject "a weight is negative";
  let total = List.fold_left Z.add Z.zero weights in
  if Z.sign total = 0 then reject "all weights are 0";
  (* For the mean, cvxml divides weights by their sum if it is off by more than count / 2^52 in floats. Weights that it saves
     are off by at most count / 2^53. Others could be weights that it would divide. *)
  (match optional "losses" params with
  | None | Some (String "mean") ->
      let off = Z.abs (Z.sub total q) in
      if Z.gt (Z.shift_left off 53) (Z.mul (Z.of_int count) q) then reject "weights do not have the sum 1"
  | Some (String "sum") -> ()
  | _ -> reject "losses is neither mean nor sum");
  let listed = List.rev (List.rev_map2 (fun s w -> (s, w)) rows weights) in
  let prices =
    map
      (fun row ->
        match list "a price" row with
        | [ a; b ] -> (whole "a price" a, whole "a price" b)
        | _ -> reject "a price must be two numbers")
      side.prices
  in
  if List.length prices <> count then reject "prices are not one a quadruplet";
  let prior = prior_of doc d and metric = Lazy.force p.metric in
  let of_bound = log_of side "log_bound" and of_metric = log_of side "log_metric" in
  let table = Verified.table p.x.rows in
  {
    interval =
      Verified.check_lsml root div p.x q listed prior (inverse_of prior) fine side.over
        (fine_for side [ of_bound; of_metric ])
        (logs_over side) prices of_bound of_metric metric;
    attained = metric;
    failed =
      lazy
        (of_determinants d prior metric
        @ [
            (List.for_all (fun (a, b) -> Z.sign a >= 0 && Z.sign b >= 0) prices, "a price is negative");
            ( List.for_all2 (fun s t -> Verified.compared_ok table q side.over (s, t)) listed prices,
              "a price of a near pair is too large, or that of the far pair too small" );
            (false, "the prices prove no bound, or a logarithm is too small");
          ]);
  }

(* Each with the params that cvxml saves, and the fields of its side file. Those params that say how lists or vectors
   were chosen are compared with the lists, and not read otherwise. *)
let methods =
  let by_triplets = [ "n_neighbors"; "triplets" ] and of_matrix = [ "root"; "factor" ] in
  let of_determinants = [ "root"; "logs_over"; "log_bound"; "log_metric" ] in
  [
    ("mlsvm", (mlsvm, [ "lam"; "n_neighbors"; "neighborhood" ], of_matrix));
    ("lmnn", (lmnn false, "mu" :: "targets" :: by_triplets, of_matrix));
    ("lmnn:squared_hinge", (lmnn true, "mu" :: "targets" :: by_triplets, of_matrix));
    ("frobmetric", (frobmetric, "C" :: by_triplets, of_matrix));
    ("rtml", (rtml, "lam" :: "width" :: by_triplets, of_matrix));
    ("dml_eig", (dml_eig, [ "pairs" ], "most" :: of_matrix));
    ("mmc", (mmc, [ "pairs" ], "most" :: of_matrix));
    ("gmml", (gmml, [ "weight"; "mu"; "prior"; "pairs" ], [ "root"; "F" ]));
    ("schultz_joachims", (schultz_joachims, "C" :: "A" :: by_triplets, [ "weights"; "paid"; "paid_over" ]));
    ("scml", (scml, "beta" :: "basis" :: "n_basis" :: by_triplets, [ "weights" ]));
    ("ssvm", (ssvm, [ "n_neighbors"; "C"; "loss_matrix" ], "latent" :: "cases" :: of_matrix));
    ("glml", (glml, [ "query"; "alpha"; "priors"; "model"; "n_components" ], [ "B"; "trace"; "scale" ]));
    ("mcml", (mcml, [], "logs_over" :: of_matrix));
    ("boostmetric", (boostmetric, "v" :: by_triplets, "logs_over" :: "log_sum" :: of_matrix));
    ("nca", (nca, [ "criterion"; "n_components"; "similarity" ], "logs_over" :: of_matrix));
    ("itml", (itml, [ "gamma"; "prior"; "bounds"; "pairs" ], of_determinants));
    ("sdml", (sdml, [ "eta"; "lam"; "prior"; "pairs" ], "U" :: of_determinants));
    ( "lsml",
      (lsml, [ "prior"; "quadruplets"; "weights"; "losses"; "n_quadruplets"; "random_state" ], of_determinants) );
    ("ldml", (ldml, [ "b"; "pairs"; "losses"; "weights"; "self_pairs" ], "logs_over" :: "b" :: of_matrix));
  ]

(* The fields of a saved solution. What a run claims, and how it went, is not read. *)
let fields =
  [ "format"; "version"; "method"; "params"; "X"; "y"; "metric"; "neighbors"; "dual" ]
  @ [ "solver"; "derived"; "status"; "n_iter"; "notes"; "objective"; "lower_bound"; "gap"; "rel_gap"; "radius" ]
  @ [ "undecided"; "step_lower_bound"; "step_gap"; "stationarity" ]

(* ||A - A'||^2 of the metric of the file and the one that attains the upper end: said, and no part of the proof *)
let apart (rows, over) metric =
  let wanted = Verified.triangle_of metric and beneath = Verified.over_of metric in
  let full = Array.make_matrix (List.length rows) (List.length rows) Z.zero in
  List.iteri
    (fun i row ->
      List.iteri
        (fun k a ->
          full.(i).(i + k) <- a;
          full.(i + k).(i) <- a)
        row)
    wanted;
  let total = ref Z.zero in
  List.iteri
    (fun i row ->
      List.iteri
        (fun j a ->
          let off = Z.sub (Z.mul a beneath) (Z.mul full.(i).(j) over) in
          total := Z.add !total (Z.mul off off))
        row)
    rows;
  let scale = Z.mul over beneath in
  Print.root_above (Q.make !total (Z.mul scale scale))

(* Whose objective the upper end is. That of SCML is one of weights: others may have the same matrix and a smaller sum. *)
let of_what name by_cases off =
  let one = if name = "scml" then "weights whose combination is " else if Q.sign off = 0 then "" else "a feasible matrix " in
  let near = if Q.sign off = 0 then "" else Printf.sprintf "within %s of " (Print.decimal Up off) in
  let metric = one ^ near ^ "the metric of the file" in
  (* the objective of ssvm is not convex *)
  let bounds =
    match name with
    | "ssvm" when by_cases -> "; the lower end bounds the objective of every metric"
    | "ssvm" -> "; the lower end is of its convex step, and another metric may have a smaller objective"
    | "nca" -> "; the lower end is of its convex step, and another metric may have a smaller objective"
    | "glml" -> "; both ends are for the B of the side file, and that it is the B of the data is not proved"
    | _ -> ""
  in
  metric ^ bounds

(* What is printed of files of which an interval is proved *)
let check file side_path fractions =
  let doc = read file in
  known doc "cvxml-solution";
  let name = string "method" (field "method" doc.json) in
  only "the file" fields doc.json;
  let of_method, known_params, side_fields =
    match List.assoc_opt name methods with
    | Some found -> found
    | None -> reject ("no method of this program: it knows " ^ String.concat ", " (List.map fst methods))
  in
  only ("params of " ^ name) known_params (params doc);
  (match optional "neighbors" doc.json with
  | None | Some (List []) -> ()
  | Some _ -> if name <> "mlsvm" then reject ("neighbors has lists, and " ^ name ^ " takes none"));
  let x = points doc (field "X" doc.json) in
  let d = List.length (List.hd x.rows) in
  let side = read_side side_path name side_fields d in
  let n = Verified.count x.rows in
  let labels =
    lazy
      (let y = map (natural doc "y") (list "y" (field "y" doc.json)) in
       if not (Z.equal (Verified.count y) n) then reject "y has not a class a point";
       y)
  in
  let given = square doc d (field "metric" doc.json) in
  let metric = lazy (metric_of side given) in
  let { interval; attained; failed } = of_method doc side { x; n; metric; labels } in
  match interval with
  | None -> reject (because (Lazy.force failed @ of_problem x attained))
  | Some (low, high) ->
      let low = rational low and high = rational high in
      let ends = Printf.sprintf "PROVED [%s, %s]\n" (Print.decimal Down low) (Print.decimal Up high) in
      (* logarithms and roots are enclosed, and the objective of the others is rational *)
      let upper = if List.mem name [ "mcml"; "boostmetric"; "ldml"; "nca"; "mmc"; "itml"; "sdml"; "lsml" ] then "is at least" else "is" in
      let by_cases = optional "cases" side.doc.json <> None in
      let whose =
        Printf.sprintf "%s: the upper end %s the objective of %s\n" name upper (of_what name by_cases (apart given attained))
      in
      let exactly = if fractions then Printf.sprintf "lower %s\nupper %s\n" (Q.to_string low) (Q.to_string high) else "" in
      ends ^ whose ^ exactly

let () =
  let fractions = Array.mem "--fractions" Sys.argv in
  match List.filter (fun word -> word <> "--fractions") (List.tl (Array.to_list Sys.argv)) with
  | [ file; side ] -> (
      let answer, code =
        try (check file side fractions, 0) with
        | Malformed why -> (Printf.sprintf "REJECTED: %s\n" why, 1)
        | Stack_overflow | Out_of_memory -> ("REJECTED: too large for this machine\n", 1)
        | _ -> ("REJECTED: the files do not hold what they should\n", 1)
      in
      (* an answer that is not written is none, whatever it was *)
      match print_string answer; flush stdout with
      | () -> exit code
      | exception Sys_error why ->
          close_out_noerr stdout;  (* or exit would try once more, and raise *)
          prerr_endline ("checker: the answer cannot be written: " ^ why);
          exit 2)
  | _ ->
      prerr_endline "usage: checker FILE.json SIDE.json [--fractions]";
      exit 2
