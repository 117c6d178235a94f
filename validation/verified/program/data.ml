(* From JSON to the arguments of the proved functions: exact integers, points, matrices, lists. *)

open Json

let reject what = raise (Malformed what)

(* A document: its text and what was read. *)
type document = { text : string; json : Json.t }

let read path =
  (* a pipe or a device may have no end *)
  let regular = try (Unix.stat path).st_kind = Unix.S_REG with Unix.Unix_error (why, _, _) -> reject (path ^ ": " ^ Unix.error_message why) in
  if not regular then reject (path ^ " is not a regular file");
  let channel = try open_in_bin path with Sys_error why -> reject why in
  let text =
    try really_input_string channel (in_channel_length channel)
    with Sys_error why -> reject why | End_of_file -> reject (path ^ " cannot be read")
  in
  close_in channel;
  if String.length text >= 2 && String.sub text 0 2 = "PK" then
    reject (path ^ " is a .npz file; save the solution as .json");
  { text; json = parse text }

let field name json =
  match json with
  | Object items -> (try List.assoc name items with Not_found -> reject (Printf.sprintf "no field %S" name))
  | _ -> reject (Printf.sprintf "no object where %S must be" name)

let optional name json = match json with Object items -> List.assoc_opt name items | _ -> None

let list what = function List items -> items | _ -> reject (what ^ " is no list")
let string what = function String s -> s | _ -> reject (what ^ " is no string")

(* List.map without the stack *)
let map f items = List.rev (List.rev_map f items)

let token doc what = function
  | Number (start, size) -> String.sub doc.text start size
  | _ -> reject (what ^ " is no number")

(* An index or a class: an integer >= 0, written as one. *)
let natural doc what json =
  let s = token doc what json in
  if String.length s > 18 || not (String.for_all is_digit s) then
    reject (Printf.sprintf "%s has %s, which is no index" what (if String.length s > 24 then "a long number" else s));
  Z.of_string s

(* A whole number of the side file, in hexadecimal: "0x1f", "-0x1f" *)
let whole what json =
  let s = string what json in
  let digits = if s <> "" && s.[0] = '-' then String.sub s 1 (String.length s - 1) else s in
  let is_hex c = is_digit c || (c >= 'a' && c <= 'f') in
  let n = String.length digits in
  if n < 3 || String.sub digits 0 2 <> "0x" || not (String.for_all is_hex (String.sub digits 2 (n - 2))) then
    reject (what ^ " is no hexadecimal number");
  Z.of_string s

let positive what json =
  let value = whole what json in
  if Z.sign value <= 0 then reject (what ^ " is not positive");
  value

(* A double, exactly: an odd integer, or 0, and the exponent of two it is to be multiplied with. *)
let double doc what json =
  let value = float_of_string (token doc what json) in
  if not (Float.is_finite value) then reject (what ^ " is beyond all floats");
  let fraction, exponent = Float.frexp value in
  let mantissa = Z.of_int64 (Int64.of_float (Float.ldexp fraction 53)) in
  if Z.sign mantissa = 0 then (Z.zero, 0)
  else
    let zeros = Z.trailing_zeros mantissa in
    (Z.shift_right mantissa zeros, exponent - 53 + zeros)

let most_bits = 1 lsl 29  (* of all numbers together, beyond those of doubles *)

(* Rows of doubles as integers over one power of two. *)
let doubles doc what json : Z.t list list * Z.t =
  let rows = list what json in
  (* each is read twice, because the pairs of all of them would take more memory than the integers *)
  let fold f start = List.fold_left (fun found row -> List.fold_left f found (list what row)) start rows in
  let count = fold (fun n _ -> n + 1) 0 in
  let least = fold (fun e json -> min e (snd (double doc what json))) 0 in
  let most = fold (fun e json -> max e (snd (double doc what json))) least in
  if (most - least) * count > most_bits then reject (what ^ " has numbers that differ too much in size");
  let whole json = let m, e = double doc what json in Z.shift_left m (e - least) in
  (map (fun row -> map whole (list what row)) rows, Z.shift_left Z.one (-least))

(* A double as a fraction *)
let fraction doc what json : Verified.q =
  let m, e = double doc what json in
  if e >= 0 then { qnum = Z.shift_left m e; qden = Z.one } else { qnum = m; qden = Z.shift_left Z.one (-e) }

let rec nat n : Verified.nat = if n = 0 then O else S (nat (n - 1))

let equal_lengths what n rows = if List.exists (fun row -> List.length row <> n) rows then reject (what ^ " is ragged")

let most_features = 100_000

let points doc json : Verified.points =
  let rows, over = doubles doc "X" json in
  let d = match rows with [] -> reject "X has no points" | row :: _ -> List.length row in
  if d = 0 || d > most_features then reject "X has no features, or too many";
  equal_lengths "X" d rows;
  { features = nat d; over; rows }

let indices doc what n json =
  map
    (fun index ->
      let i = natural doc what index in
      if Z.geq i n then reject (Printf.sprintf "%s names point %s of %s" what (Z.to_string i) (Z.to_string n));
      i)
    (list what json)

(* Lists of points, one a point: none is in its own, none is named twice. *)
let lists doc what n json =
  let rows = map (indices doc what n) (list what json) in
  if List.compare_length_with rows (Z.to_int n) <> 0 then reject (what ^ " are not one a point");
  List.iteri
    (fun i row ->
      if List.exists (Z.equal (Z.of_int i)) row then reject (Printf.sprintf "%s: point %d is in its own list" what i);
      if List.length (List.sort_uniq Z.compare row) <> List.length row then
        reject (Printf.sprintf "%s: point %d names one twice" what i))
    rows;
  rows

(* In ascending order, as a sum does not mind; none twice. *)
let sorted compare what rows =
  let rows = List.sort compare rows in
  let rec check = function
    | a :: (b :: _ as rest) -> if compare a b = 0 then reject ("one of the " ^ what ^ " is there twice") else check rest
    | _ -> ()
  in
  check rows;
  rows

let compare_pair (a, b) (i, j) = match Z.compare a i with 0 -> Z.compare b j | c -> c
let compare_triplet (s, a) (t, b) = match compare_pair s t with 0 -> Z.compare a b | c -> c

let ascending (i, j) = (Z.min i j, Z.max i j)

(* Pairs of two points, in the order of the file; none twice, not the other way round either *)
let listed_pairs doc what n json =
  let found =
    map
      (fun row ->
        match indices doc what n row with
        | [ i; j ] when not (Z.equal i j) -> (i, j)
        | _ -> reject (what ^ " must be pairs of two points"))
      (list what json)
  in
  ignore (sorted compare_pair what (map ascending found));
  found

let pairs doc what n json = sorted compare_pair what (listed_pairs doc what n json)

let triplets doc n json : Verified.triplet list =
  let what = "triplets" in
  let found =
    map
      (fun row ->
        match indices doc what n row with
        | [ i; j; l ] when not (Z.equal i j || Z.equal i l) -> ((i, j), l)
        | _ -> reject "triplets must be three points i, j, l, i another than j and l")
      (list what json)
  in
  sorted compare_triplet what found

(* The metric of the file, symmetric as it stands or not *)
let square doc d json =
  let rows, over = doubles doc "metric" json in
  if List.length rows <> d then reject "metric has not a row a feature";
  equal_lengths "metric" d rows;
  (rows, over)

let rec upper = function [] -> [] | row :: rows -> row :: upper (map List.tl rows)

(* None where the matrix is not symmetric *)
let triangle rows =
  let columns = Array.map Array.of_list (Array.of_list rows) in
  let symmetric = ref true in
  Array.iteri (fun i row -> Array.iteri (fun j a -> if not (Z.equal a columns.(j).(i)) then symmetric := false) row) columns;
  if !symmetric then Some (upper rows) else None
