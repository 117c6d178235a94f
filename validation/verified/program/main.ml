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

let read_side path of_method d =
  let doc = read path in
  let json = doc.json in
  known doc "cvxml-side";
  if string "method" (field "method" json) <> of_method then reject "the side file is of another method";
  let of_features what json =
    let vectors, over = doubles doc what json in
    equal_lengths what d vectors;
    (vectors, over)
  in
  let factor () : Verified.factor =
    let factor = field "factor" json in
    let vectors, beneath = of_features "vectors" (field "vectors" factor) in
    match string "rest" (field "rest" factor) with
    | "psd" -> { vectors; beneath; paid = false }
    | "norm" -> { vectors; beneath; paid = true }
    | _ -> reject "rest is neither psd nor norm"
  in
  let root () = match field "root" json with Null -> None | root -> Some (of_features "root" root) in
  {
    over = positive "over" (field "over" json);
    prices = list "prices" (field "prices" json);
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

(* A name that is not known might change the problem, so that it is not passed over. *)
let only what known json =
  match json with
  | Object items ->
      List.iter
        (fun (name, _) -> if not (List.mem name known) then reject (Printf.sprintf "%s: %S is not known" what name))
        items
  | _ -> reject (what ^ " is no object")

let mlsvm doc side p : outcome =
  let y = Lazy.force p.labels and near = lists doc "neighbors" p.n (field "neighbors" doc.json) in
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
      {
        interval = Verified.check_lmnn_labels div p.x squared mu y targets side.over prices (Lazy.force side.factor) (Lazy.force p.metric);
        attained = Lazy.force p.metric;
        failed = lazy (of_triplets loss (Verified.made_triplets y targets) side prices);
      }
  | (None | Some Null), Some (List _ as listed) ->
      let listed = triplets doc p.n listed in
      {
        interval = Verified.check_lmnn_triplets div p.x squared mu listed side.over prices (Lazy.force side.factor) (Lazy.force p.metric);
        attained = Lazy.force p.metric;
        failed = lazy (of_triplets loss listed side prices);
      }
  | _ -> reject "params must have targets or triplets"

let frobmetric doc side p : outcome =
  let listed = triplets doc p.n (field "triplets" (params doc)) and prices = triplet_prices side in
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
  let listed = triplets doc p.n (field "triplets" (params doc)) and prices = triplet_prices side in
  let width = number doc "width" in
  let width = if Z.sign width.qnum = 0 then width else between doc "width" least_width 1. in
  {
    interval = Verified.check_rtml div p.x (above_zero doc "lam") width listed side.over prices (Lazy.force side.factor) (Lazy.force p.metric);
    attained = Lazy.force p.metric;
    failed = lazy (of_triplets (Verified.rtml_loss width) listed side prices);
  }

let dml_eig doc side p : outcome =
  let similar, dissimilar, check =
    match field "pairs" (params doc) with
    | Null ->
        let y = Lazy.force p.labels in
        (Verified.made_pairs y true, Verified.made_pairs y false, Verified.check_dml_eig_labels div p.x y)
    | given ->
        only "pairs" [ "similar"; "dissimilar" ] given;
        let of_kind kind = pairs doc (kind ^ " pairs") p.n (field kind given) in
        let similar = of_kind "similar" and dissimilar = of_kind "dissimilar" in
        ignore (sorted compare_pair "pairs of both kinds" (map ascending (List.rev_append similar dissimilar)));
        (similar, dissimilar, Verified.check_dml_eig div p.x similar dissimilar)
  in
  let prices =
    map
      (fun row ->
        match list "a price" row with
        | [ i; j; a ] -> ((natural side.doc "a price" i, natural side.doc "a price" j), whole "a price" a)
        | _ -> reject "a price must be i, j and a number")
      side.prices
  in
  let mu : Verified.q =
    match list "most" (field "most" side.doc.json) with
    | [ a; b ] -> { qnum = whole "most" a; qden = positive "most" b }
    | _ -> reject "most is no fraction"
  in
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

(* Of a combination of vectors: prices, and the weights of the one that attains the upper end *)
let combination doc side p basis over_basis loss check : outcome =
  let listed = triplets doc p.n (field "triplets" (params doc)) and prices = triplet_prices side in
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

(* Each with the params that cvxml saves. Those that say how lists or vectors were chosen are not read. *)
let methods =
  let by_triplets = [ "n_neighbors"; "triplets" ] in
  [
    ("mlsvm", (mlsvm, [ "lam"; "n_neighbors"; "neighborhood" ]));
    ("lmnn", (lmnn false, "mu" :: "targets" :: by_triplets));
    ("lmnn:squared_hinge", (lmnn true, "mu" :: "targets" :: by_triplets));
    ("frobmetric", (frobmetric, "C" :: by_triplets));
    ("rtml", (rtml, "lam" :: "width" :: by_triplets));
    ("dml_eig", (dml_eig, [ "pairs" ]));
    ("schultz_joachims", (schultz_joachims, "C" :: "A" :: by_triplets));
    ("scml", (scml, "beta" :: "basis" :: "n_basis" :: by_triplets));
  ]

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
let of_what name off =
  let one = if name = "scml" then "weights whose combination is " else if Q.sign off = 0 then "" else "a feasible matrix " in
  let near = if Q.sign off = 0 then "" else Printf.sprintf "within %s of " (Print.decimal Up off) in
  one ^ near ^ "the metric of the file"

(* What is printed of files of which an interval is proved *)
let check file side_path fractions =
  let doc = read file in
  known doc "cvxml-solution";
  let name = string "method" (field "method" doc.json) in
  let of_method, known_params =
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
  let side = read_side side_path name d in
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
      let whose = Printf.sprintf "%s: the upper end is the objective of %s\n" name (of_what name (apart given attained)) in
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
