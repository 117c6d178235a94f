
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

type nat =
| O
| S of nat

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> nat **)

let rec length = function
| [] -> O
| _ :: l' -> S (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val compOpp : comparison -> comparison **)

let compOpp = function
| Eq -> Eq
| Lt -> Gt
| Gt -> Lt

module Coq__1 = struct
 (** val add : nat -> nat -> nat **)
 let rec add n0 m =
   match n0 with
   | O -> m
   | S p -> S (add p m)
end
include Coq__1

(** val sub : nat -> nat -> nat **)

let rec sub n0 m =
  match n0 with
  | O -> n0
  | S k -> (match m with
            | O -> n0
            | S l -> sub k l)

(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

module type TotalLeBool' =
 sig
  type t

  val leb : t -> t -> bool
 end

module Nat =
 struct
  (** val eqb : nat -> nat -> bool **)

  let rec eqb n0 m =
    match n0 with
    | O -> (match m with
            | O -> true
            | S _ -> false)
    | S n' -> (match m with
               | O -> false
               | S m' -> eqb n' m')

  (** val leb : nat -> nat -> bool **)

  let rec leb n0 m =
    match n0 with
    | O -> true
    | S n' -> (match m with
               | O -> false
               | S m' -> leb n' m')

  (** val ltb : nat -> nat -> bool **)

  let ltb n0 m =
    leb (S n0) m
 end

module Pos =
 struct
  (** val succ : Integer.t -> Integer.t **)

  let rec succ = Integer.succ

  (** val add : Integer.t -> Integer.t -> Integer.t **)

  let rec add = Integer.add

  (** val add_carry : Integer.t -> Integer.t -> Integer.t **)

  and add_carry x y =
    (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
      (fun p ->
      (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
        (fun q0 -> (fun p -> Integer.succ (Integer.shift_left p 1))
        (add_carry p q0))
        (fun q0 -> (fun p -> Integer.shift_left p 1)
        (add_carry p q0))
        (fun _ -> (fun p -> Integer.succ (Integer.shift_left p 1)) (succ p))
        y)
      (fun p ->
      (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
        (fun q0 -> (fun p -> Integer.shift_left p 1)
        (add_carry p q0))
        (fun q0 -> (fun p -> Integer.succ (Integer.shift_left p 1))
        (add p q0))
        (fun _ -> (fun p -> Integer.shift_left p 1) (succ p))
        y)
      (fun _ ->
      (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
        (fun q0 -> (fun p -> Integer.succ (Integer.shift_left p 1))
        (succ q0))
        (fun q0 -> (fun p -> Integer.shift_left p 1) (succ q0))
        (fun _ -> (fun p -> Integer.succ (Integer.shift_left p 1))
        Integer.one)
        y)
      x

  (** val pred_double : Integer.t -> Integer.t **)

  let rec pred_double x =
    (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
      (fun p -> (fun p -> Integer.succ (Integer.shift_left p 1))
      ((fun p -> Integer.shift_left p 1) p))
      (fun p -> (fun p -> Integer.succ (Integer.shift_left p 1))
      (pred_double p))
      (fun _ -> Integer.one)
      x

  (** val mul : Integer.t -> Integer.t -> Integer.t **)

  let rec mul = Integer.mul

  (** val compare_cont :
      comparison -> Integer.t -> Integer.t -> comparison **)

  let rec compare_cont r x y =
    (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
      (fun p ->
      (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
        (fun q0 -> compare_cont r p q0)
        (fun q0 -> compare_cont Gt p q0)
        (fun _ -> Gt)
        y)
      (fun p ->
      (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
        (fun q0 -> compare_cont Lt p q0)
        (fun q0 -> compare_cont r p q0)
        (fun _ -> Gt)
        y)
      (fun _ ->
      (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
        (fun _ -> Lt)
        (fun _ -> Lt)
        (fun _ -> r)
        y)
      x

  (** val compare : Integer.t -> Integer.t -> comparison **)

  let compare =
    compare_cont Eq

  (** val eqb : Integer.t -> Integer.t -> bool **)

  let rec eqb = Integer.equal

  (** val iter_op : ('a1 -> 'a1 -> 'a1) -> Integer.t -> 'a1 -> 'a1 **)

  let rec iter_op op p a =
    (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
      (fun p0 -> op a (iter_op op p0 (op a a)))
      (fun p0 -> iter_op op p0 (op a a))
      (fun _ -> a)
      p

  (** val to_nat : Integer.t -> nat **)

  let to_nat x =
    iter_op Coq__1.add x (S O)

  (** val of_succ_nat : nat -> Integer.t **)

  let rec of_succ_nat = function
  | O -> Integer.one
  | S x -> succ (of_succ_nat x)

  (** val eq_dec : Integer.t -> Integer.t -> bool **)

  let rec eq_dec = Integer.equal
 end

module N =
 struct
  (** val succ : Integer.t -> Integer.t **)

  let succ = Integer.succ

  (** val succ_pos : Integer.t -> Integer.t **)

  let succ_pos = Integer.succ

  (** val add : Integer.t -> Integer.t -> Integer.t **)

  let add n0 m =
    (fun zero pos n -> if Integer.sign n <= 0 then zero () else pos n)
      (fun _ -> m)
      (fun p ->
      (fun zero pos n -> if Integer.sign n <= 0 then zero () else pos n)
        (fun _ -> n0)
        (fun q0 -> (fun p -> p) (Pos.add p q0))
        m)
      n0

  (** val compare : Integer.t -> Integer.t -> comparison **)

  let compare n0 m =
    (fun zero pos n -> if Integer.sign n <= 0 then zero () else pos n)
      (fun _ ->
      (fun zero pos n -> if Integer.sign n <= 0 then zero () else pos n)
        (fun _ -> Eq)
        (fun _ -> Lt)
        m)
      (fun n' ->
      (fun zero pos n -> if Integer.sign n <= 0 then zero () else pos n)
        (fun _ -> Gt)
        (fun m' -> Pos.compare n' m')
        m)
      n0

  (** val eqb : Integer.t -> Integer.t -> bool **)

  let eqb = Integer.equal

  (** val ltb : Integer.t -> Integer.t -> bool **)

  let ltb = Integer.lt

  (** val to_nat : Integer.t -> nat **)

  let to_nat a =
    (fun zero pos n -> if Integer.sign n <= 0 then zero () else pos n)
      (fun _ -> O)
      (fun p -> Pos.to_nat p)
      a

  (** val of_nat : nat -> Integer.t **)

  let of_nat = function
  | O -> Integer.zero
  | S n' -> (fun p -> p) (Pos.of_succ_nat n')
 end

module Z =
 struct
  (** val double : Integer.t -> Integer.t **)

  let double x =
    (fun zero pos neg z -> let s = Integer.sign z in
    if s = 0 then zero () else if s > 0 then pos z else neg (Integer.neg z))
      (fun _ -> Integer.zero)
      (fun p -> (fun p -> p) ((fun p -> Integer.shift_left p 1) p))
      (fun p -> Integer.neg ((fun p -> Integer.shift_left p 1) p))
      x

  (** val succ_double : Integer.t -> Integer.t **)

  let succ_double x =
    (fun zero pos neg z -> let s = Integer.sign z in
    if s = 0 then zero () else if s > 0 then pos z else neg (Integer.neg z))
      (fun _ -> (fun p -> p) Integer.one)
      (fun p -> (fun p -> p)
      ((fun p -> Integer.succ (Integer.shift_left p 1)) p))
      (fun p -> Integer.neg (Pos.pred_double p))
      x

  (** val pred_double : Integer.t -> Integer.t **)

  let pred_double x =
    (fun zero pos neg z -> let s = Integer.sign z in
    if s = 0 then zero () else if s > 0 then pos z else neg (Integer.neg z))
      (fun _ -> Integer.neg Integer.one)
      (fun p -> (fun p -> p) (Pos.pred_double p))
      (fun p -> Integer.neg ((fun p -> Integer.succ (Integer.shift_left p 1))
      p))
      x

  (** val pos_sub : Integer.t -> Integer.t -> Integer.t **)

  let rec pos_sub x y =
    (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
      (fun p ->
      (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
        (fun q0 -> double (pos_sub p q0))
        (fun q0 -> succ_double (pos_sub p q0))
        (fun _ -> (fun p -> p) ((fun p -> Integer.shift_left p 1) p))
        y)
      (fun p ->
      (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
        (fun q0 -> pred_double (pos_sub p q0))
        (fun q0 -> double (pos_sub p q0))
        (fun _ -> (fun p -> p) (Pos.pred_double p))
        y)
      (fun _ ->
      (fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
        (fun q0 -> Integer.neg ((fun p -> Integer.shift_left p 1)
        q0))
        (fun q0 -> Integer.neg (Pos.pred_double q0))
        (fun _ -> Integer.zero)
        y)
      x

  (** val add : Integer.t -> Integer.t -> Integer.t **)

  let add = Integer.add

  (** val opp : Integer.t -> Integer.t **)

  let opp = Integer.neg

  (** val sub : Integer.t -> Integer.t -> Integer.t **)

  let sub = Integer.sub

  (** val mul : Integer.t -> Integer.t -> Integer.t **)

  let mul = Integer.mul

  (** val compare : Integer.t -> Integer.t -> comparison **)

  let compare x y =
    (fun zero pos neg z -> let s = Integer.sign z in
    if s = 0 then zero () else if s > 0 then pos z else neg (Integer.neg z))
      (fun _ ->
      (fun zero pos neg z -> let s = Integer.sign z in
    if s = 0 then zero () else if s > 0 then pos z else neg (Integer.neg z))
        (fun _ -> Eq)
        (fun _ -> Lt)
        (fun _ -> Gt)
        y)
      (fun x' ->
      (fun zero pos neg z -> let s = Integer.sign z in
    if s = 0 then zero () else if s > 0 then pos z else neg (Integer.neg z))
        (fun _ -> Gt)
        (fun y' -> Pos.compare x' y')
        (fun _ -> Gt)
        y)
      (fun x' ->
      (fun zero pos neg z -> let s = Integer.sign z in
    if s = 0 then zero () else if s > 0 then pos z else neg (Integer.neg z))
        (fun _ -> Lt)
        (fun _ -> Lt)
        (fun y' -> compOpp (Pos.compare x' y'))
        y)
      x

  (** val leb : Integer.t -> Integer.t -> bool **)

  let leb = Integer.leq

  (** val ltb : Integer.t -> Integer.t -> bool **)

  let ltb = Integer.lt

  (** val eqb : Integer.t -> Integer.t -> bool **)

  let eqb = Integer.equal

  (** val max : Integer.t -> Integer.t -> Integer.t **)

  let max = Integer.max

  (** val min : Integer.t -> Integer.t -> Integer.t **)

  let min = Integer.min

  (** val abs : Integer.t -> Integer.t **)

  let abs = Integer.abs

  (** val to_N : Integer.t -> Integer.t **)

  let to_N = (fun z -> if Integer.sign z < 0 then Integer.zero else z)

  (** val of_nat : nat -> Integer.t **)

  let of_nat = function
  | O -> Integer.zero
  | S n1 -> (fun p -> p) (Pos.of_succ_nat n1)

  (** val to_pos : Integer.t -> Integer.t **)

  let to_pos = (fun z -> if Integer.sign z <= 0 then Integer.one else z)

  (** val eq_dec : Integer.t -> Integer.t -> bool **)

  let eq_dec = Integer.equal
 end

(** val zeq_bool : Integer.t -> Integer.t -> bool **)

let zeq_bool x y =
  match Z.compare x y with
  | Eq -> true
  | _ -> false

(** val hd : 'a1 -> 'a1 list -> 'a1 **)

let hd default = function
| [] -> default
| x :: _ -> x

(** val tl : 'a1 list -> 'a1 list **)

let tl = function
| [] -> []
| _ :: m -> m

(** val in_dec : ('a1 -> 'a1 -> bool) -> 'a1 -> 'a1 list -> bool **)

let rec in_dec h a = function
| [] -> false
| y :: l0 -> let s = h y a in if s then true else in_dec h a l0

(** val nth : nat -> 'a1 list -> 'a1 -> 'a1 **)

let rec nth n0 l default =
  match n0 with
  | O -> (match l with
          | [] -> default
          | x :: _ -> x)
  | S m -> (match l with
            | [] -> default
            | _ :: t0 -> nth m t0 default)

(** val rev_append : 'a1 list -> 'a1 list -> 'a1 list **)

let rec rev_append l l' =
  match l with
  | [] -> l'
  | a :: l0 -> rev_append l0 (a :: l')

(** val list_eq_dec : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> bool **)

let rec list_eq_dec eq_dec0 l l' =
  match l with
  | [] -> (match l' with
           | [] -> true
           | _ :: _ -> false)
  | y :: l0 ->
    (match l' with
     | [] -> false
     | a :: l1 -> if eq_dec0 y a then list_eq_dec eq_dec0 l0 l1 else false)

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t0 -> (f a) :: (map f t0)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t0 -> app (f x) (flat_map f t0)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t0 -> fold_left f t0 (f a0 b)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val nodup : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec nodup decA = function
| [] -> []
| x :: xs -> if in_dec decA x xs then nodup decA xs else x :: (nodup decA xs)

(** val seq : nat -> nat -> nat list **)

let rec seq start = function
| O -> []
| S len0 -> start :: (seq (S start) len0)

type q = { qnum : Integer.t; qden : Integer.t }

(** val inject_Z : Integer.t -> q **)

let inject_Z x =
  { qnum = x; qden = Integer.one }

(** val qeq_bool : q -> q -> bool **)

let qeq_bool x y =
  zeq_bool (Z.mul x.qnum ((fun p -> p) y.qden))
    (Z.mul y.qnum ((fun p -> p) x.qden))

(** val qle_bool : q -> q -> bool **)

let qle_bool x y =
  Z.leb (Z.mul x.qnum ((fun p -> p) y.qden))
    (Z.mul y.qnum ((fun p -> p) x.qden))

(** val qplus : q -> q -> q **)

let qplus x y =
  { qnum =
    (Z.add (Z.mul x.qnum ((fun p -> p) y.qden))
      (Z.mul y.qnum ((fun p -> p) x.qden))); qden = (Pos.mul x.qden y.qden) }

(** val qmult : q -> q -> q **)

let qmult x y =
  { qnum = (Z.mul x.qnum y.qnum); qden = (Pos.mul x.qden y.qden) }

(** val qopp : q -> q **)

let qopp x =
  { qnum = (Z.opp x.qnum); qden = x.qden }

(** val qminus : q -> q -> q **)

let qminus x y =
  qplus x (qopp y)

(** val qinv : q -> q **)

let qinv x =
  (fun zero pos neg z -> let s = Integer.sign z in
    if s = 0 then zero () else if s > 0 then pos z else neg (Integer.neg z))
    (fun _ -> { qnum = Integer.zero; qden = Integer.one })
    (fun p -> { qnum = ((fun p -> p) x.qden); qden = p })
    (fun p -> { qnum = (Integer.neg x.qden); qden = p })
    x.qnum

(** val qdiv : q -> q -> q **)

let qdiv x y =
  qmult x (qinv y)

type row = Integer.t list

type triangle = row list

(** val entry : triangle -> nat -> nat -> Integer.t **)

let rec entry t0 i j =
  match t0 with
  | [] -> Integer.zero
  | r :: rest ->
    (match i with
     | O -> nth j r Integer.zero
     | S i0 ->
       (match j with
        | O -> nth i r Integer.zero
        | S j0 -> entry rest i0 j0))

(** val at_ : 'a1 -> 'a1 list -> Integer.t -> 'a1 **)

let at_ none l i =
  nth (N.to_nat i) l none

type points = { features : nat; over : Integer.t; rows : row list }

(** val addmul : Integer.t -> row -> row -> row **)

let rec addmul c v r =
  match v with
  | [] -> r
  | x :: v0 ->
    (match r with
     | [] -> (Z.mul c x) :: (addmul c v0 [])
     | a :: r0 -> (Z.add a (Z.mul c x)) :: (addmul c v0 r0))

(** val minus : row -> row -> row **)

let rec minus u v =
  match u with
  | [] -> map Z.opp v
  | x :: u0 ->
    (match v with
     | [] -> u
     | y :: v0 -> (Z.sub x y) :: (minus u0 v0))

(** val dot : row -> row -> Integer.t **)

let rec dot u v =
  match u with
  | [] -> Integer.zero
  | x :: u0 ->
    (match v with
     | [] -> Integer.zero
     | y :: v0 -> Z.add (Z.mul x y) (dot u0 v0))

(** val add_square : Integer.t -> row -> triangle -> triangle **)

let rec add_square w v t0 =
  match v with
  | [] -> t0
  | x :: v' -> (addmul (Z.mul w x) v (hd [] t0)) :: (add_square w v' (tl t0))

(** val times : Integer.t -> triangle -> triangle **)

let times c t0 =
  map (map (Z.mul c)) t0

(** val fits : nat -> triangle -> bool **)

let rec fits d = function
| [] -> true
| r :: t1 ->
  (match d with
   | O -> false
   | S d0 -> (&&) (Nat.leb (length r) (S d0)) (fits d0 t1))

(** val norm : triangle -> Integer.t **)

let rec norm = function
| [] -> Integer.zero
| r0 :: t1 ->
  (match r0 with
   | [] -> norm t1
   | z0 :: r ->
     Z.add (Z.mul z0 z0)
       (Z.add
         (Z.mul ((fun p -> p) ((fun p -> Integer.shift_left p 1)
           Integer.one)) (dot r r)) (norm t1)))

(** val same : triangle -> triangle -> bool **)

let same s t0 =
  if list_eq_dec (list_eq_dec Z.eq_dec) s t0 then true else false

(** val divided :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> triangle ->
    triangle * Integer.t **)

let divided div p t0 =
  let shorter0 = map (map (fun a -> div a p)) t0 in
  if same (times p shorter0) t0
  then (shorter0, p)
  else (t0, ((fun p -> p) Integer.one))

(** val eliminated :
    (Integer.t -> Integer.t -> Integer.t) -> nat -> Integer.t -> triangle ->
    bool **)

let rec eliminated div d p t0 =
  match d with
  | O -> true
  | S d0 ->
    (match t0 with
     | [] -> false
     | r0 :: rest ->
       (match r0 with
        | [] -> false
        | z0 :: r ->
          if Z.eqb z0 Integer.zero
          then (&&) (forallb (Z.eqb Integer.zero) r)
                 (eliminated div d0 p rest)
          else if Z.ltb Integer.zero z0
               then let (next, _) =
                      divided div p
                        (add_square (Integer.neg Integer.one) r
                          (times z0 rest))
                    in
                    eliminated div d0 z0 next
               else false))

(** val less_diagonal : row -> triangle -> triangle **)

let rec less_diagonal r t0 =
  match r with
  | [] -> t0
  | x :: r0 ->
    (match t0 with
     | [] -> ((Z.opp (Z.abs x)) :: []) :: (less_diagonal r0 [])
     | r1 :: t1 ->
       (match r1 with
        | [] -> ((Z.opp (Z.abs x)) :: []) :: (less_diagonal r0 t1)
        | z0 :: s -> ((Z.sub z0 (Z.abs x)) :: s) :: (less_diagonal r0 t1)))

(** val dominant : nat -> triangle -> bool **)

let rec dominant d t0 =
  match d with
  | O -> true
  | S d0 ->
    (match t0 with
     | [] -> true
     | r0 :: rest ->
       (match r0 with
        | [] -> dominant d0 rest
        | z0 :: r ->
          (&&)
            ((&&)
              (Z.leb
                (fold_left (fun s x -> Z.add s (Z.abs x)) r Integer.zero) z0)
              (Nat.leb (length r) d0)) (dominant d0 (less_diagonal r rest))))

(** val psd_shown :
    (Integer.t -> Integer.t -> Integer.t) -> nat -> triangle -> bool **)

let psd_shown div d t0 =
  (||) (dominant d t0) (eliminated div d ((fun p -> p) Integer.one) t0)

type 'v tree =
| Leaf
| Node of 'v tree * 'v option * 'v tree

(** val find : 'a1 tree -> Integer.t -> 'a1 option **)

let rec find t0 p =
  match t0 with
  | Leaf -> None
  | Node (l, v, r) ->
    ((fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
       (fun p0 -> find r p0)
       (fun p0 -> find l p0)
       (fun _ -> v)
       p)

(** val put : 'a1 tree -> Integer.t -> 'a1 -> 'a1 tree **)

let rec put t0 p v =
  match t0 with
  | Leaf ->
    ((fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
       (fun p0 -> Node (Leaf, None, (put Leaf p0 v)))
       (fun p0 -> Node ((put Leaf p0 v), None, Leaf))
       (fun _ -> Node (Leaf, (Some v), Leaf))
       p)
  | Node (l, w, r) ->
    ((fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))
       (fun p0 -> Node (l, w, (put r p0 v)))
       (fun p0 -> Node ((put l p0 v), w, r))
       (fun _ -> Node (l, (Some v), r))
       p)

(** val table : 'a1 list -> 'a1 tree **)

let table l =
  fst
    (fold_left (fun s v -> ((put (fst s) (snd s) v), (Pos.succ (snd s)))) l
      (Leaf, Integer.one))

(** val look : 'a1 -> 'a1 tree -> Integer.t -> 'a1 **)

let look none t0 i =
  match find t0 (N.succ_pos i) with
  | Some v -> v
  | None -> none

(** val summed : ('a1 -> Integer.t) -> 'a1 list -> Integer.t **)

let summed f l =
  fold_left (fun s t0 -> Z.add s (f t0)) l Integer.zero

(** val image : triangle -> row -> row **)

let rec image t0 x =
  match t0 with
  | [] -> []
  | r :: t1 ->
    (match x with
     | [] -> []
     | a :: x0 -> (dot r (a :: x0)) :: (addmul a (tl r) (image t1 x0)))

type pair_ = row * row

(** val images : triangle -> row list -> pair_ tree **)

let images t0 l =
  table (rev_append (fold_left (fun s x -> (x, (image t0 x)) :: s) l []) [])

(** val whole_distance : pair_ tree -> Integer.t -> Integer.t -> Integer.t **)

let whole_distance t0 i j =
  let (x, a) = look ([], []) t0 i in
  let (y, b) = look ([], []) t0 j in dot (minus x y) (minus a b)

(** val short : points -> bool **)

let short x =
  forallb (fun x0 -> Nat.eqb (length x0) x.features) x.rows

type weighted = { weight : Integer.t; one : Integer.t; other : Integer.t }

(** val squares : row tree -> weighted list -> triangle **)

let squares t0 p =
  fold_left (fun t1 p0 ->
    add_square p0.weight (minus (look [] t0 p0.one) (look [] t0 p0.other)) t1)
    p []

type metric =
| Given of triangle * Integer.t
| Square of row list * Integer.t

(** val of_vectors : Integer.t -> row list -> triangle -> triangle **)

let of_vectors c vectors0 t0 =
  fold_left (fun t1 v -> add_square c v t1) vectors0 t0

(** val triangle_of : metric -> triangle **)

let triangle_of = function
| Given (t0, _) -> t0
| Square (l, _) -> of_vectors ((fun p -> p) Integer.one) l []

(** val over_of : metric -> Integer.t **)

let over_of = function
| Given (_, p) -> p
| Square (_, p) -> Pos.mul p p

(** val metric_shown :
    (Integer.t -> Integer.t -> Integer.t) -> nat -> metric -> bool **)

let metric_shown div d = function
| Given (t0, _) -> psd_shown div d t0
| Square (_, _) -> true

(** val norm_of : q -> metric -> q **)

let norm_of h m =
  qmult h { qnum = (norm (triangle_of m)); qden =
    (Pos.mul (over_of m) (over_of m)) }

type factor = { vectors : row list; beneath : Integer.t; paid : bool }

(** val below :
    (Integer.t -> Integer.t -> Integer.t) -> points -> q -> weighted list ->
    Integer.t -> factor -> q option **)

let below div x h p p0 f =
  let per = Pos.mul p0 (Pos.mul x.over x.over) in
  let b = Pos.mul f.beneath f.beneath in
  let z0 = squares (table x.rows) p in
  let rest =
    of_vectors (Z.opp ((fun p -> p) per)) f.vectors
      (times ((fun p -> p) b) z0)
  in
  if f.paid
  then if (||) (qle_bool h { qnum = Integer.zero; qden = Integer.one })
            (negb (fits x.features rest))
       then None
       else Some
              (qopp
                (qdiv { qnum = (norm rest); qden =
                  (Pos.mul (Pos.mul per b) (Pos.mul per b)) }
                  (qmult { qnum = ((fun p -> p)
                    ((fun p -> Integer.shift_left p 1)
                    ((fun p -> Integer.shift_left p 1) Integer.one))); qden =
                    Integer.one } h)))
  else if (&&) (qle_bool { qnum = Integer.zero; qden = Integer.one } h)
            (psd_shown div x.features rest)
       then Some { qnum = Integer.zero; qden = Integer.one }
       else None

(** val check :
    (Integer.t -> Integer.t -> Integer.t) -> points -> q -> q -> weighted
    list -> Integer.t -> factor -> metric -> ((Integer.t -> Integer.t ->
    Integer.t) -> Integer.t -> q option) -> (q * q) option **)

let check div x h k p p0 f m value =
  if (&&) ((&&) (short x) (fits x.features (triangle_of m)))
       (metric_shown div x.features m)
  then (match below div x h p p0 f with
        | Some b ->
          let t0 = images (triangle_of m) x.rows in
          (match value (whole_distance t0)
                   (Pos.mul (Pos.mul x.over x.over) (over_of m)) with
           | Some v -> Some ((qplus k b), (qplus (norm_of h m) v))
           | None -> None)
        | None -> None)
  else None

type margin_loss =
| Hinge of q
| Squared of q
| Smoothed of q

(** val count : 'a1 list -> Integer.t **)

let count l =
  fold_left (fun s _ -> Z.add s ((fun p -> p) Integer.one)) l Integer.zero

(** val size : 'a1 list -> Integer.t **)

let size l =
  fold_left (fun s _ -> N.succ s) l Integer.zero

(** val numbers : 'a1 list -> Integer.t list **)

let numbers l =
  rev_append
    (fst
      (fold_left (fun s _ -> (((snd s) :: (fst s)), (N.succ (snd s)))) l ([],
        Integer.zero))) []

(** val gathered : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let gathered g l =
  rev_append (fold_left (fun s x -> rev_append (g x) s) l []) []

(** val kept : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let kept f l =
  gathered (fun t0 -> if f t0 then t0 :: [] else []) l

(** val within :
    ('a1 -> 'a1 -> bool) -> ('a2 -> 'a1) -> 'a2 list -> 'a1 list -> bool **)

let rec within same0 key prices0 = function
| [] -> (match prices0 with
         | [] -> true
         | _ :: _ -> false)
| k :: l0 ->
  (match prices0 with
   | [] -> true
   | a :: rest ->
     if same0 (key a) k
     then within same0 key rest l0
     else within same0 key prices0 l0)

(** val whole_missed : Integer.t -> Integer.t -> Integer.t **)

let whole_missed u v =
  Z.max Integer.zero (Z.sub ((fun p -> p) u) v)

(** val loss_ok : margin_loss -> bool **)

let loss_ok = function
| Hinge c -> qle_bool { qnum = Integer.zero; qden = Integer.one } c
| Squared c -> Z.ltb Integer.zero c.qnum
| Smoothed g -> Z.ltb Integer.zero g.qnum

(** val loss_term : margin_loss -> Integer.t -> Integer.t -> Integer.t **)

let loss_term l u v =
  let m = whole_missed u v in
  (match l with
   | Hinge c -> Z.mul c.qnum m
   | Squared c -> Z.mul c.qnum (Z.mul m m)
   | Smoothed g ->
     let a = Z.mul g.qnum ((fun p -> p) u) in
     let b = Z.mul ((fun p -> p) g.qden) m in
     if Z.leb a b
     then Z.mul a
            (Z.sub
              (Z.mul ((fun p -> p) ((fun p -> Integer.shift_left p 1)
                Integer.one)) b) a)
     else Z.mul b b)

(** val loss_over : margin_loss -> Integer.t -> Integer.t **)

let loss_over l u =
  match l with
  | Hinge c -> Pos.mul c.qden u
  | Squared c -> Pos.mul c.qden (Pos.mul u u)
  | Smoothed g ->
    Pos.mul ((fun p -> Integer.shift_left p 1) Integer.one)
      (Pos.mul (Z.to_pos g.qnum) (Pos.mul g.qden (Pos.mul u u)))

(** val price_ok : margin_loss -> Integer.t -> Integer.t -> bool **)

let price_ok l p a =
  (&&) (Z.leb Integer.zero a)
    (match l with
     | Hinge c ->
       Z.leb (Z.mul a ((fun p -> p) c.qden)) (Z.mul c.qnum ((fun p -> p) p))
     | Squared _ -> true
     | Smoothed _ -> Z.leb a ((fun p -> p) p))

(** val price_term : margin_loss -> Integer.t -> Integer.t -> Integer.t **)

let price_term l p a =
  match l with
  | Hinge _ -> a
  | Squared c ->
    Z.sub
      (Z.mul
        (Z.mul
          (Z.mul ((fun p -> p) ((fun p -> Integer.shift_left p 1)
            ((fun p -> Integer.shift_left p 1) Integer.one))) c.qnum)
          ((fun p -> p) p)) a) (Z.mul ((fun p -> p) c.qden) (Z.mul a a))
  | Smoothed g ->
    Z.sub
      (Z.mul
        (Z.mul
          (Z.mul ((fun p -> p) ((fun p -> Integer.shift_left p 1)
            Integer.one)) ((fun p -> p) g.qden)) ((fun p -> p) p)) a)
      (Z.mul g.qnum (Z.mul a a))

(** val price_over : margin_loss -> Integer.t -> Integer.t **)

let price_over l p =
  match l with
  | Hinge _ -> p
  | Squared c ->
    Pos.mul ((fun p -> Integer.shift_left p 1)
      ((fun p -> Integer.shift_left p 1) Integer.one))
      (Pos.mul (Z.to_pos c.qnum) (Pos.mul p p))
  | Smoothed g ->
    Pos.mul ((fun p -> Integer.shift_left p 1) Integer.one)
      (Pos.mul g.qden (Pos.mul p p))

type pair = Integer.t * Integer.t

type triplet = (Integer.t * Integer.t) * Integer.t

(** val same_triplet : triplet -> triplet -> bool **)

let same_triplet s t0 =
  let (p, c) = s in
  let (a, b) = p in
  let (p0, l) = t0 in
  let (i, j) = p0 in (&&) ((&&) (N.eqb a i) (N.eqb b j)) (N.eqb c l)

(** val pair_inside : Integer.t -> pair -> bool **)

let pair_inside n0 s =
  (&&) (N.ltb (fst s) n0) (N.ltb (snd s) n0)

(** val triplet_inside : Integer.t -> triplet -> bool **)

let triplet_inside n0 t0 =
  (&&) (pair_inside n0 (fst t0)) (N.ltb (snd t0) n0)

(** val all_inside : points -> pair list -> triplet list -> bool **)

let all_inside x targets l =
  let n0 = size x.rows in
  (&&) (forallb (pair_inside n0) targets) (forallb (triplet_inside n0) l)

(** val weights_of_targets :
    q -> Integer.t -> pair list -> weighted list -> weighted list **)

let weights_of_targets c p targets p0 =
  fold_left (fun p1 s -> { weight = (Z.mul c.qnum ((fun p -> p) p)); one =
    (fst s); other = (snd s) } :: p1) targets p0

(** val weights_of_prices :
    q -> (triplet * Integer.t) list -> weighted list **)

let weights_of_prices c prices0 =
  fold_left (fun p s ->
    let (t0, a) = s in
    let (p0, l) = t0 in
    let (i, j) = p0 in
    let w = Z.mul ((fun p -> p) c.qden) a in
    { weight = (Z.opp w); one = i; other = l } :: ({ weight = w; one = i;
    other = j } :: p)) prices0 []

(** val triplet_value :
    q -> pair list -> margin_loss -> triplet list -> (Integer.t -> Integer.t
    -> Integer.t) -> Integer.t -> q option **)

let triplet_value c targets l l0 whole unit0 =
  let pull = summed (fun s -> whole (fst s) (snd s)) targets in
  let push =
    summed (fun t0 ->
      let (p, k) = t0 in
      let (i, j) = p in loss_term l unit0 (Z.sub (whole i k) (whole i j))) l0
  in
  Some
  (qplus (qmult c { qnum = pull; qden = unit0 }) { qnum = push; qden =
    (loss_over l unit0) })

(** val check_triplets :
    (Integer.t -> Integer.t -> Integer.t) -> points -> q -> q -> pair list ->
    margin_loss -> triplet list -> Integer.t -> (triplet * Integer.t) list ->
    factor -> metric -> (q * q) option **)

let check_triplets div x h c targets l l0 p prices0 f m =
  if (&&)
       ((&&) ((&&) (loss_ok l) (within same_triplet fst prices0 l0))
         (forallb (fun s -> price_ok l p (snd s)) prices0))
       (all_inside x targets l0)
  then let k = { qnum = (summed (fun s -> price_term l p (snd s)) prices0);
         qden = (price_over l p) }
       in
       let p0 = weights_of_targets c p targets (weights_of_prices c prices0)
       in
       check div x h k p0 (Pos.mul p c.qden) f m
         (triplet_value c targets l l0)
  else None

(** val class0 : Integer.t list -> Integer.t -> Integer.t **)

let class0 y i =
  at_ Integer.zero y i

(** val rtml_loss : q -> margin_loss **)

let rtml_loss width =
  if qeq_bool width { qnum = Integer.zero; qden = Integer.one }
  then Hinge { qnum = ((fun p -> p) Integer.one); qden = Integer.one }
  else Smoothed width

(** val check_lmnn :
    (Integer.t -> Integer.t -> Integer.t) -> points -> q -> pair list ->
    triplet list -> Integer.t -> (triplet * Integer.t) list -> factor ->
    metric -> (q * q) option **)

let check_lmnn div x mu targets l p prices0 f m =
  check_triplets div x { qnum = Integer.zero; qden = Integer.one }
    (qminus { qnum = ((fun p -> p) Integer.one); qden = Integer.one } mu)
    targets (Hinge mu) l p prices0 f m

(** val check_lmnn_squared :
    (Integer.t -> Integer.t -> Integer.t) -> points -> q -> pair list ->
    triplet list -> Integer.t -> (triplet * Integer.t) list -> factor ->
    metric -> (q * q) option **)

let check_lmnn_squared div x mu targets l p prices0 f m =
  check_triplets div x { qnum = Integer.zero; qden = Integer.one }
    (qminus { qnum = ((fun p -> p) Integer.one); qden = Integer.one } mu)
    targets (Squared mu) l p prices0 f m

(** val check_frobmetric :
    (Integer.t -> Integer.t -> Integer.t) -> points -> q -> triplet list ->
    Integer.t -> (triplet * Integer.t) list -> factor -> metric -> (q * q)
    option **)

let check_frobmetric div x c l p prices0 f m =
  let n0 = count l in
  if Z.ltb Integer.zero n0
  then check_triplets div x { qnum = ((fun p -> p) Integer.one); qden =
         ((fun p -> Integer.shift_left p 1) Integer.one) } { qnum =
         Integer.zero; qden = Integer.one } [] (Hinge
         (qmult c { qnum = ((fun p -> p) Integer.one); qden = (Z.to_pos n0) }))
         l p prices0 f m
  else None

(** val check_rtml :
    (Integer.t -> Integer.t -> Integer.t) -> points -> q -> q -> triplet list
    -> Integer.t -> (triplet * Integer.t) list -> factor -> metric -> (q * q)
    option **)

let check_rtml div x lam width l p prices0 f m =
  check_triplets div x
    (qmult lam { qnum = ((fun p -> p) Integer.one); qden =
      ((fun p -> Integer.shift_left p 1) Integer.one) }) { qnum =
    Integer.zero; qden = Integer.one } [] (rtml_loss width) l p prices0 f m

(** val made_targets : Integer.t list list -> pair list **)

let made_targets t0 =
  let t1 = table t0 in
  gathered (fun i -> map (fun j -> (i, j)) (look [] t1 i)) (numbers t0)

(** val made_triplets :
    Integer.t list -> Integer.t list list -> triplet list **)

let made_triplets y t0 =
  let t1 = table y in
  let all = numbers y in
  gathered (fun s ->
    let c = look Integer.zero t1 (fst s) in
    gathered (fun l ->
      if Z.eqb (look Integer.zero t1 l) c then [] else (s, l) :: []) all)
    (made_targets t0)

(** val before_pair : pair -> pair -> bool **)

let before_pair s t0 =
  let (a, b) = s in
  let (i, j) = t0 in (||) (N.ltb a i) ((&&) (N.eqb a i) (N.ltb b j))

(** val starts : triplet list -> pair list **)

let starts l =
  fold_left (fun p t0 ->
    match p with
    | [] -> (fst t0) :: []
    | s :: _ ->
      if (&&) (N.eqb (fst s) (fst (fst t0))) (N.eqb (snd s) (snd (fst t0)))
      then p
      else (fst t0) :: p) l []

(** val falling : pair list -> bool **)

let rec falling = function
| [] -> true
| s :: rest ->
  (match rest with
   | [] -> true
   | r :: _ -> (&&) (before_pair r s) (falling rest))

(** val targets_in_order : triplet list -> pair list option **)

let targets_in_order l =
  let p = starts l in if falling p then Some p else None

(** val check_lmnn_labels :
    (Integer.t -> Integer.t -> Integer.t) -> points -> bool -> q -> Integer.t
    list -> Integer.t list list -> Integer.t -> (triplet * Integer.t) list ->
    factor -> metric -> (q * q) option **)

let check_lmnn_labels div x squared0 mu y t0 p prices0 f m =
  let check0 = if squared0 then check_lmnn_squared else check_lmnn in
  if (&&) (Z.eqb (count y) (count x.rows)) (Z.eqb (count t0) (count x.rows))
  then check0 div x mu (made_targets t0) (made_triplets y t0) p prices0 f m
  else None

(** val check_lmnn_triplets :
    (Integer.t -> Integer.t -> Integer.t) -> points -> bool -> q -> triplet
    list -> Integer.t -> (triplet * Integer.t) list -> factor -> metric ->
    (q * q) option **)

let check_lmnn_triplets div x squared0 mu l p prices0 f m =
  match targets_in_order l with
  | Some targets ->
    if squared0
    then check_lmnn_squared div x mu targets l p prices0 f m
    else check_lmnn div x mu targets l p prices0 f m
  | None -> None

(** val least : Integer.t list -> Integer.t **)

let least = function
| [] -> Integer.zero
| x :: l0 -> fold_left Z.min l0 x

(** val largest : Integer.t list -> Integer.t **)

let largest = function
| [] -> Integer.zero
| x :: l0 -> fold_left Z.max l0 x

type shares = (Integer.t * Integer.t) list

type prices = (Integer.t * (shares * shares)) list

(** val share : shares -> Integer.t **)

let share s =
  summed snd s

(** val shares_ok :
    Integer.t list -> (Integer.t -> bool) -> shares -> bool **)

let shares_ok listed of_side s =
  forallb (fun a ->
    (&&) ((&&) (Z.leb Integer.zero (snd a)) (existsb (N.eqb (fst a)) listed))
      (of_side (fst a))) s

(** val point_ok :
    Integer.t tree -> Integer.t list tree -> Integer.t -> Integer.t ->
    (Integer.t * (shares * shares)) -> bool **)

let point_ok ty tn n0 p = function
| (i, p0) ->
  let (u, w) = p0 in
  let c = look Integer.zero ty i in
  let listed = look [] tn i in
  (&&)
    ((&&)
      ((&&)
        (shares_ok listed (fun j -> negb (Z.eqb (look Integer.zero ty j) c))
          u) (shares_ok listed (fun l -> Z.eqb (look Integer.zero ty l) c) w))
      (Z.eqb (share u) (share w)))
    (Z.leb (Z.mul n0 (share u)) ((fun p -> p) p))

(** val weights_of :
    Integer.t -> Integer.t -> shares -> weighted list -> weighted list **)

let weights_of sign i s p =
  fold_left (fun p0 a -> { weight = (Z.mul sign (snd a)); one = i; other =
    (fst a) } :: p0) s p

(** val weights_of_points : prices -> weighted list **)

let weights_of_points a =
  fold_left (fun p s ->
    let (i, p0) = s in
    let (u, w) = p0 in
    weights_of ((fun p -> p) Integer.one) i w
      (weights_of (Integer.neg Integer.one) i u p)) a []

(** val whole_spread :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t list ->
    Integer.t list -> Integer.t -> Integer.t **)

let whole_spread whole unit0 t0 i i0 =
  match t0 with
  | [] -> Integer.zero
  | _ :: _ ->
    (match i with
     | [] -> Integer.zero
     | _ :: _ ->
       Z.max Integer.zero
         (Z.sub (Z.add ((fun p -> p) unit0) (largest (map (whole i0) t0)))
           (least (map (whole i0) i))))

(** val mlsvm_value :
    Integer.t tree -> Integer.t list tree -> Integer.t list -> Integer.t ->
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> q option **)

let mlsvm_value ty tn all n0 whole unit0 =
  let missed = fun i ->
    let c = look Integer.zero ty i in
    let listed = look [] tn i in
    whole_spread whole unit0
      (filter (fun j -> Z.eqb (look Integer.zero ty j) c) listed)
      (filter (fun j -> negb (Z.eqb (look Integer.zero ty j) c)) listed) i
  in
  Some { qnum = (summed missed all); qden = (Pos.mul n0 unit0) }

(** val lists_ok : Integer.t -> Integer.t list list -> bool **)

let lists_ok n0 lists =
  fst
    (fold_left (fun s l ->
      (((&&) (fst s)
         (forallb (fun j -> (&&) (N.ltb j n0) (negb (N.eqb j (snd s)))) l)),
      (N.succ (snd s)))) lists (true, Integer.zero))

(** val check_mlsvm :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
    Integer.t list list -> q -> Integer.t -> prices -> factor -> metric ->
    (q * q) option **)

let check_mlsvm div x y lists lam p a f m =
  let n0 = count x.rows in
  let ty = table y in
  let tn = table lists in
  let all = numbers x.rows in
  if (&&)
       ((&&)
         ((&&)
           ((&&) ((&&) (Z.ltb Integer.zero n0) (Z.eqb (count y) n0))
             (Z.eqb (count lists) n0)) (lists_ok (Z.to_N n0) lists))
         (within N.eqb fst a all)) (forallb (point_ok ty tn n0 p) a)
  then check div x
         (qmult lam { qnum = ((fun p -> p) Integer.one); qden =
           ((fun p -> Integer.shift_left p 1) Integer.one) }) { qnum =
         (summed (fun s -> share (fst (snd s))) a); qden = p }
         (weights_of_points a) p f m (mlsvm_value ty tn all (Z.to_pos n0))
  else None

(** val made_pairs : Integer.t list -> bool -> pair list **)

let made_pairs y alike0 =
  let t0 = table y in
  let all = numbers y in
  gathered (fun i ->
    let c = look Integer.zero t0 i in
    gathered (fun j ->
      if (&&) (N.ltb i j) (eqb (Z.eqb c (look Integer.zero t0 j)) alike0)
      then (i, j) :: []
      else []) all) all

(** val within_budget : points -> pair list -> metric -> metric **)

let within_budget x similar m =
  let t0 = triangle_of m in
  let whole = whole_distance (images t0 x.rows) in
  let spent = summed (fun s -> whole (fst s) (snd s)) similar in
  if Z.leb spent ((fun p -> p) (Pos.mul (Pos.mul x.over x.over) (over_of m)))
  then m
  else Given ((times ((fun p -> p) (Pos.mul x.over x.over)) t0),
         (Z.to_pos spent))

(** val same_pair : pair -> pair -> bool **)

let same_pair s t0 =
  (&&) (N.eqb (fst s) (fst t0)) (N.eqb (snd s) (snd t0))

(** val weights_of_pairs :
    Integer.t -> pair list -> weighted list -> weighted list **)

let weights_of_pairs c pairs p =
  fold_left (fun p0 s -> { weight = c; one = (fst s); other =
    (snd s) } :: p0) pairs p

(** val weights_of_least :
    Integer.t -> (pair * Integer.t) list -> weighted list -> weighted list **)

let weights_of_least c q0 p =
  fold_left (fun p0 s -> { weight = (Z.opp (Z.mul c (snd s))); one =
    (fst (fst s)); other = (snd (fst s)) } :: p0) q0 p

(** val least_value :
    pair list -> pair list -> (Integer.t -> Integer.t -> Integer.t) ->
    Integer.t -> q option **)

let least_value similar dissimilar whole unit0 =
  if Z.leb (summed (fun s -> whole (fst s) (snd s)) similar) ((fun p -> p)
       unit0)
  then (match dissimilar with
        | [] -> None
        | s :: rest ->
          Some
            (qopp { qnum =
              (fold_left (fun b s0 -> Z.min b (whole (fst s0) (snd s0))) rest
                (whole (fst s) (snd s))); qden = unit0 }))
  else None

(** val check_dml_eig :
    (Integer.t -> Integer.t -> Integer.t) -> points -> pair list -> pair list
    -> q -> Integer.t -> (pair * Integer.t) list -> factor -> metric ->
    (q * q) option **)

let check_dml_eig div x similar dissimilar mu p q0 f m =
  if (&&)
       ((&&)
         ((&&)
           ((&&) (Z.leb Integer.zero mu.qnum)
             (within same_pair fst q0 dissimilar))
           (forallb (fun s -> Z.leb Integer.zero (snd s)) q0))
         (Z.eqb (summed snd q0) ((fun p -> p) p)))
       (all_inside x (rev_append similar dissimilar) [])
  then let p0 =
         weights_of_pairs (Z.mul mu.qnum ((fun p -> p) p)) similar
           (weights_of_least ((fun p -> p) mu.qden) q0 [])
       in
       check div x { qnum = Integer.zero; qden = Integer.one } (qopp mu) p0
         (Pos.mul p mu.qden) f m (least_value similar dissimilar)
  else None

(** val check_dml_eig_labels :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list -> q ->
    Integer.t -> (pair * Integer.t) list -> factor -> metric -> (q * q) option **)

let check_dml_eig_labels div x y mu p q0 f m =
  if Z.eqb (count y) (count x.rows)
  then check_dml_eig div x (made_pairs y true) (made_pairs y false) mu p q0 f
         m
  else None

(** val weighted_squares :
    row tree -> Integer.t tree -> Integer.t list -> triangle **)

let weighted_squares t0 tw l =
  fold_left (fun t1 k ->
    add_square (look Integer.zero tw k) (look [] t0 k) t1) l []

(** val whole_form : triangle -> row -> Integer.t **)

let whole_form t0 b =
  dot b (image t0 b)

(** val combination : row list -> Integer.t list -> triangle **)

let combination b ws =
  weighted_squares (table b) (table ws) (numbers b)

(** val gains_ok :
    nat -> q -> triangle -> Integer.t -> row list -> Integer.t -> triangle ->
    Integer.t -> bool **)

let gains_ok d beta z0 per b over0 n0 r =
  forallb (fun b0 ->
    (&&) (Nat.eqb (length b0) d)
      (Z.leb Integer.zero
        (Z.add
          (Z.mul beta.qnum
            (Z.mul (Z.mul ((fun p -> p) per) ((fun p -> p) r))
              (Z.mul ((fun p -> p) over0) ((fun p -> p) over0))))
          (Z.mul ((fun p -> p) beta.qden)
            (Z.add (Z.mul ((fun p -> p) r) (whole_form z0 b0))
              (Z.mul ((fun p -> p) per) (whole_form n0 b0))))))) b

(** val check_combination :
    points -> q -> q -> row list -> Integer.t -> margin_loss -> triplet list
    -> Integer.t -> (triplet * Integer.t) list -> Integer.t list -> Integer.t
    -> Integer.t list -> Integer.t -> (q * q) option **)

let check_combination x h beta b over_B l l0 p prices0 zs q0 ws v =
  let d = x.features in
  let m = combination b ws in
  let over_M = Pos.mul v (Pos.mul over_B over_B) in
  let n0 =
    if qle_bool h { qnum = Integer.zero; qden = Integer.one }
    then []
    else combination b zs
  in
  let over_N = Pos.mul q0 (Pos.mul over_B over_B) in
  let per = Pos.mul p (Pos.mul x.over x.over) in
  let tw = table ws in
  if (&&)
       ((&&)
         ((&&)
           ((&&)
             ((&&)
               ((&&)
                 ((&&)
                   ((&&) ((&&) (short x) (loss_ok l))
                     (within same_triplet fst prices0 l0))
                   (forallb (fun s -> price_ok l p (snd s)) prices0))
                 (qle_bool { qnum = Integer.zero; qden = Integer.one } h))
               (forallb (fun w -> Z.leb Integer.zero w) ws)) (fits d m))
           (fits d n0))
         (gains_ok d beta
           (squares (table x.rows)
             (weights_of_prices { qnum = Integer.zero; qden = Integer.one }
               prices0)) per b over_B n0 over_N)) (all_inside x [] l0)
  then let k = { qnum = (summed (fun s -> price_term l p (snd s)) prices0);
         qden = (price_over l p) }
       in
       let paid0 =
         if qle_bool h { qnum = Integer.zero; qden = Integer.one }
         then { qnum = Integer.zero; qden = Integer.one }
         else qdiv { qnum = (norm n0); qden = (Pos.mul over_N over_N) }
                (qmult { qnum = ((fun p -> p)
                  ((fun p -> Integer.shift_left p 1)
                  ((fun p -> Integer.shift_left p 1) Integer.one))); qden =
                  Integer.one } h)
       in
       (match triplet_value { qnum = Integer.zero; qden = Integer.one } [] l
                l0 (whole_distance (images m x.rows))
                (Pos.mul (Pos.mul x.over x.over) over_M) with
        | Some value ->
          Some ((qminus k paid0),
            (qplus
              (qplus
                (qmult h { qnum = (norm m); qden = (Pos.mul over_M over_M) })
                (qmult beta { qnum =
                  (summed (look Integer.zero tw) (numbers b)); qden = v }))
              value))
        | None -> None)
  else None

(** val check_schultz_joachims :
    points -> q -> row list -> Integer.t -> triplet list -> Integer.t ->
    (triplet * Integer.t) list -> Integer.t list -> Integer.t -> Integer.t
    list -> Integer.t -> (q * q) option **)

let check_schultz_joachims x c b over_B l p prices0 zs q0 ws v =
  check_combination x { qnum = ((fun p -> p) Integer.one); qden =
    ((fun p -> Integer.shift_left p 1) Integer.one) } { qnum = Integer.zero;
    qden = Integer.one } b over_B (Hinge c) l p prices0 zs q0 ws v

(** val check_scml :
    points -> q -> row list -> Integer.t -> triplet list -> Integer.t ->
    (triplet * Integer.t) list -> Integer.t list -> Integer.t -> (q * q)
    option **)

let check_scml x beta b over_B l p prices0 ws v =
  let n0 = count l in
  if Z.ltb Integer.zero n0
  then check_combination x { qnum = Integer.zero; qden = Integer.one } beta b
         over_B (Hinge { qnum = ((fun p -> p) Integer.one); qden =
         (Z.to_pos n0) }) l p prices0 [] Integer.one ws v
  else None

module Sort =
 functor (X:TotalLeBool') ->
 struct
  (** val merge : X.t list -> X.t list -> X.t list **)

  let rec merge l1 l2 =
    let rec merge_aux l3 =
      match l1 with
      | [] -> l3
      | a1 :: l1' ->
        (match l3 with
         | [] -> l1
         | a2 :: l2' ->
           if X.leb a1 a2 then a1 :: (merge l1' l3) else a2 :: (merge_aux l2'))
    in merge_aux l2

  (** val merge_list_to_stack :
      X.t list option list -> X.t list -> X.t list option list **)

  let rec merge_list_to_stack stack l =
    match stack with
    | [] -> (Some l) :: []
    | y :: stack' ->
      (match y with
       | Some l' -> None :: (merge_list_to_stack stack' (merge l' l))
       | None -> (Some l) :: stack')

  (** val merge_stack : X.t list option list -> X.t list **)

  let rec merge_stack = function
  | [] -> []
  | y :: stack' ->
    (match y with
     | Some l -> merge l (merge_stack stack')
     | None -> merge_stack stack')

  (** val iter_merge : X.t list option list -> X.t list -> X.t list **)

  let rec iter_merge stack = function
  | [] -> merge_stack stack
  | a :: l' -> iter_merge (merge_list_to_stack stack (a :: [])) l'

  (** val sort : X.t list -> X.t list **)

  let sort =
    iter_merge []

  (** val flatten_stack : X.t list option list -> X.t list **)

  let rec flatten_stack = function
  | [] -> []
  | o :: stack' ->
    (match o with
     | Some l -> app l (flatten_stack stack')
     | None -> flatten_stack stack')
 end

(** val votes :
    (Integer.t -> Integer.t) -> Integer.t list -> Integer.t -> nat **)

let votes cls h c =
  length (filter (fun j -> Z.eqb (cls j) c) h)

(** val scan :
    (Integer.t -> Integer.t) -> (Integer.t -> nat) -> nat -> Integer.t list
    -> Integer.t list **)

let rec scan cls room q0 = function
| [] -> []
| j :: l' ->
  (match q0 with
   | O -> []
   | S q' ->
     (match room (cls j) with
      | O -> scan cls room q0 l'
      | S less ->
        j :: (scan cls (fun c -> if Z.eqb c (cls j) then less else room c) q'
               l')))

(** val targeted :
    (Integer.t -> Integer.t) -> Integer.t -> nat -> nat -> nat -> Integer.t
    list -> Integer.t list **)

let targeted cls r tau k m l =
  app (scan cls (fun c -> if Z.eqb c r then m else O) m l)
    (scan cls (fun c -> if Z.eqb c r then O else sub m tau) (sub k m) l)

(** val choose : nat -> Integer.t list -> Integer.t list list **)

let rec choose k l =
  match k with
  | O -> [] :: []
  | S k' ->
    (match l with
     | [] -> []
     | j :: l' -> app (map (fun x -> j :: x) (choose k' l')) (choose k l'))

(** val found :
    (Integer.t -> Integer.t) -> nat -> nat -> Integer.t list -> Integer.t ->
    Integer.t list list **)

let found cls tau k l r =
  flat_map (fun m ->
    let t0 = targeted cls r tau k m l in
    if (&&) ((&&) (Nat.leb tau m) (Nat.eqb (length t0) k))
         (Nat.eqb (votes cls t0 r) m)
    then t0 :: []
    else []) (seq (S O) k)

(** val firsts :
    (Integer.t -> Integer.t) -> Integer.t list -> nat -> Integer.t list ->
    (Integer.t * Integer.t list) list **)

let firsts cls classes k l =
  flat_map (fun r -> map (fun t0 -> (r, t0)) (found cls O k l r)) classes

module Key =
 struct
  type t = Integer.t * Integer.t

  (** val leb : t -> t -> bool **)

  let leb a b =
    Z.leb (fst a) (fst b)
 end

module KeySort = Sort(Key)

(** val by_distance :
    (Integer.t -> Integer.t) -> Integer.t list -> Integer.t list **)

let by_distance d l =
  map snd (KeySort.sort (map (fun j -> ((d j), j)) l))

type sets_of = Integer.t * (Integer.t list * Integer.t) list

(** val rising :
    Integer.t -> Integer.t -> Integer.t -> Integer.t list -> bool **)

let rec rising n0 i from = function
| [] -> true
| j :: h0 ->
  (&&) ((&&) ((&&) (negb (N.ltb j from)) (N.ltb j n0)) (negb (N.eqb j i)))
    (rising n0 i (N.succ j) h0)

(** val set_ok : Integer.t -> Integer.t -> nat -> Integer.t list -> bool **)

let set_ok n0 i k h =
  (&&) (rising n0 i Integer.zero h) (Nat.eqb (length h) k)

(** val weights_ok : Integer.t -> nat -> q -> Integer.t -> sets_of -> bool **)

let weights_ok n0 k c p s =
  (&&)
    (forallb (fun t0 ->
      (&&) (set_ok n0 (fst s) k (fst t0)) (Z.leb Integer.zero (snd t0)))
      (snd s))
    (Z.leb (Z.mul (summed snd (snd s)) ((fun p -> p) c.qden))
      (Z.mul c.qnum ((fun p -> p) p)))

(** val weights_of_sets :
    (Integer.t -> Integer.t list) -> sets_of list -> weighted list **)

let weights_of_sets star prices0 =
  gathered (fun s ->
    app
      (map (fun j -> { weight = (summed snd (snd s)); one = (fst s); other =
        j }) (star (fst s)))
      (gathered (fun t0 ->
        map (fun j -> { weight = (Z.opp (snd t0)); one = (fst s); other =
          j }) (fst t0)) (snd s))) prices0

(** val lam_ok :
    Integer.t list -> (Integer.t -> Integer.t -> Integer.t) -> bool **)

let lam_ok classes lam =
  forallb (fun a ->
    forallb (fun b ->
      if Z.eqb a b
      then Z.eqb (lam a b) Integer.zero
      else Z.ltb Integer.zero (lam a b)) classes) classes

(** val wins_among :
    (Integer.t -> Integer.t) -> Integer.t list -> Integer.t -> Integer.t list
    -> bool **)

let wins_among cls classes r h =
  forallb (fun c ->
    (||) (Z.eqb c r) (Nat.ltb (votes cls h c) (votes cls h r))) classes

(** val whole_Delta :
    (Integer.t -> Integer.t) -> Integer.t list -> (Integer.t -> Integer.t ->
    Integer.t) -> Integer.t -> Integer.t list -> Integer.t **)

let whole_Delta cls classes lam own h =
  largest
    (map (lam own)
      (filter (fun r ->
        forallb (fun c -> Nat.leb (votes cls h c) (votes cls h r)) classes)
        classes))

(** val gain :
    (Integer.t -> Integer.t) -> Integer.t list -> (Integer.t -> Integer.t ->
    Integer.t) -> sets_of list -> Integer.t **)

let gain cls classes lam prices0 =
  summed (fun s ->
    summed (fun t0 ->
      Z.mul (snd t0) (whole_Delta cls classes lam (cls (fst s)) (fst t0)))
      (snd s)) prices0

(** val point_value :
    (Integer.t -> Integer.t) -> Integer.t list -> (Integer.t -> Integer.t ->
    Integer.t) -> Integer.t -> nat -> (Integer.t -> Integer.t list) ->
    Integer.t list -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t ->
    Integer.t -> Integer.t option **)

let point_value cls classes lam q0 k star all whole unit0 i =
  let l = by_distance (whole i) (filter (fun j -> negb (N.eqb j i)) all) in
  let cost = fun h -> Z.mul ((fun p -> p) q0) (summed (whole i) h) in
  (match found cls (S O) k l (cls i) with
   | [] -> None
   | l0 :: l1 ->
     if Z.eqb
          (Z.add (largest (map (fun t0 -> Z.opp (cost t0)) (l0 :: l1)))
            (cost (star i))) Integer.zero
     then Some
            (Z.add
              (largest
                (map (fun s ->
                  Z.add (Z.opp (cost (snd s)))
                    (Z.mul ((fun p -> p) unit0) (lam (cls i) (fst s))))
                  (firsts cls classes k l))) (cost (star i)))
     else None)

(** val all_values :
    (Integer.t -> Integer.t option) -> Integer.t list -> Integer.t option **)

let all_values f l =
  fold_left (fun s i ->
    match s with
    | Some a -> (match f i with
                 | Some b -> Some (Z.add a b)
                 | None -> None)
    | None -> None) l (Some Integer.zero)

(** val check_step :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> q -> nat ->
    Integer.t list list -> Integer.t -> sets_of list -> factor -> metric ->
    (q * q) option **)

let check_step div x y lam q0 c k h_star p prices0 f m =
  let cls = look Integer.zero (table y) in
  let star = look [] (table h_star) in
  let classes = nodup Z.eq_dec y in
  let all = numbers y in
  let n0 = size x.rows in
  if (&&)
       ((&&)
         ((&&)
           ((&&)
             ((&&)
               ((&&)
                 ((&&) (Nat.leb (S O) k) (Z.eqb (count y) (count x.rows)))
                 (Z.eqb (count h_star) (count x.rows)))
               (qle_bool { qnum = Integer.zero; qden = Integer.one } c))
             (lam_ok classes lam))
           (forallb (fun i ->
             (&&) (set_ok n0 i k (star i))
               (wins_among cls classes (cls i) (star i))) all))
         (within N.eqb fst prices0 all))
       (forallb (weights_ok n0 k c p) prices0)
  then check div x { qnum = ((fun p -> p) Integer.one); qden = Integer.one }
         { qnum = (gain cls classes lam prices0); qden = (Pos.mul p q0) }
         (weights_of_sets star prices0) p f m (fun whole unit0 ->
         match all_values
                 (point_value cls classes lam q0 k star all whole unit0) all with
         | Some v -> Some (qmult c { qnum = v; qden = (Pos.mul q0 unit0) })
         | None -> None)
  else None

type exchange = ((Integer.t * Integer.t) * Integer.t) * Integer.t

type leaf = { on_sets : sets_of list; exchanges : exchange list;
              hints : factor }

type cases =
| Bounded of leaf
| Split of Integer.t * Integer.t * cases * cases

(** val has : Integer.t -> Integer.t list -> bool **)

let has j h =
  existsb (N.eqb j) h

(** val lacks : Integer.t -> Integer.t list -> bool **)

let lacks j h =
  negb (has j h)

(** val common : Integer.t list list -> Integer.t list **)

let common = function
| [] -> []
| h :: sets0 -> filter (fun j -> forallb (has j) sets0) h

(** val exchange_ok :
    (Integer.t -> Integer.t) -> Integer.t -> Integer.t list list tree ->
    exchange -> bool **)

let exchange_ok cls n0 left = function
| (p, a) ->
  let (p0, l) = p in
  let (i, j) = p0 in
  (&&)
    ((&&)
      ((&&) ((&&) ((&&) (Z.leb Integer.zero a) (N.ltb i n0)) (N.ltb l n0))
        (negb (N.eqb l i)))
      ((||) (Z.eqb (cls l) (cls j)) (Z.eqb (cls l) (cls i))))
    (forallb (fun h -> (&&) (has j h) (lacks l h)) (look [] left i))

(** val weights_of_exchanges : exchange list -> weighted list **)

let weights_of_exchanges l =
  flat_map (fun e ->
    let (p, a) = e in
    let (p0, l0) = p in
    let (i, j) = p0 in
    { weight = a; one = i; other = j } :: ({ weight = (Z.opp a); one = i;
    other = l0 } :: [])) l

(** val leaf_bound :
    (Integer.t -> Integer.t -> Integer.t) -> points -> (Integer.t ->
    Integer.t) -> Integer.t list -> Integer.t list -> (Integer.t -> Integer.t
    -> Integer.t) -> Integer.t -> q -> nat -> Integer.t -> Integer.t list
    list tree -> leaf -> q option **)

let leaf_bound div x cls classes all lam q0 c k p left l =
  let n0 = size all in
  if (&&)
       ((&&) (within N.eqb fst l.on_sets all)
         (forallb (weights_ok n0 k c p) l.on_sets))
       (forallb (exchange_ok cls n0 left) l.exchanges)
  then (match below div x { qnum = ((fun p -> p) Integer.one); qden =
                Integer.one }
                (app
                  (weights_of_sets (fun i -> common (look [] left i))
                    l.on_sets) (weights_of_exchanges l.exchanges)) p l.hints with
        | Some b ->
          Some
            (qplus { qnum = (gain cls classes lam l.on_sets); qden =
              (Pos.mul p q0) } b)
        | None -> None)
  else None

(** val lowest :
    (Integer.t list list tree -> leaf -> q option) -> Integer.t -> Integer.t
    list list tree -> cases -> q -> q option **)

let rec lowest bound n0 left t0 lo =
  match t0 with
  | Bounded l ->
    (match bound left l with
     | Some b -> Some (if qle_bool lo b then lo else b)
     | None -> None)
  | Split (i, j, inside, outside) ->
    if N.ltb i n0
    then let at_0 = fun sets -> put left (N.succ_pos i) sets in
         (match match filter (has j) (look [] left i) with
                | [] -> Some lo
                | l :: l0 -> lowest bound n0 (at_0 (l :: l0)) inside lo with
          | Some lo0 ->
            (match filter (lacks j) (look [] left i) with
             | [] -> Some lo0
             | l :: l0 -> lowest bound n0 (at_0 (l :: l0)) outside lo0)
          | None -> None)
    else None

(** val winning :
    (Integer.t -> Integer.t) -> Integer.t list -> nat -> Integer.t list ->
    Integer.t -> Integer.t list list **)

let winning cls classes k all i =
  filter (wins_among cls classes (cls i))
    (choose k (filter (fun j -> negb (N.eqb j i)) all))

(** val point_loss :
    (Integer.t -> Integer.t) -> Integer.t list -> (Integer.t -> Integer.t ->
    Integer.t) -> Integer.t -> nat -> Integer.t list -> Integer.t list list
    tree -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t
    -> Integer.t **)

let point_loss cls classes lam q0 k all left whole unit0 i =
  let cost = fun h -> Z.mul ((fun p -> p) q0) (summed (whole i) h) in
  Z.sub
    (largest
      (map (fun h ->
        Z.add (Z.opp (cost h))
          (Z.mul ((fun p -> p) unit0) (whole_Delta cls classes lam (cls i) h)))
        (choose k (filter (fun j -> negb (N.eqb j i)) all))))
    (largest (map (fun h -> Z.opp (cost h)) (look [] left i)))

(** val check_gerrymandering :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> q -> nat ->
    Integer.t -> cases -> metric -> (q * q) option **)

let check_gerrymandering div x y lam q0 c k p t0 m =
  let cls = look Integer.zero (table y) in
  let classes = nodup Z.eq_dec y in
  let all = numbers y in
  let root = table (map (winning cls classes k all) all) in
  if (&&)
       ((&&)
         ((&&)
           ((&&)
             ((&&)
               ((&&)
                 ((&&) (Nat.leb (S O) k) (Z.eqb (count y) (count x.rows)))
                 (short x)) (fits x.features (triangle_of m)))
             (metric_shown div x.features m))
           (qle_bool { qnum = Integer.zero; qden = Integer.one } c))
         (lam_ok classes lam))
       (forallb (fun i ->
         match look [] root i with
         | [] -> false
         | _ :: _ -> true) all)
  then let whole = whole_distance (images (triangle_of m) x.rows) in
       let unit0 = Pos.mul (Pos.mul x.over x.over) (over_of m) in
       let hi =
         qplus
           (norm_of { qnum = ((fun p -> p) Integer.one); qden = Integer.one }
             m)
           (qmult c { qnum =
             (summed (point_loss cls classes lam q0 k all root whole unit0)
               all); qden = (Pos.mul q0 unit0) })
       in
       (match lowest (leaf_bound div x cls classes all lam q0 c k p)
                (size all) root t0 hi with
        | Some lo -> Some (lo, hi)
        | None -> None)
  else None

type rationals = q list list

(** val cell : rationals -> nat -> nat -> q **)

let cell t0 i j =
  nth j (nth i t0 []) { qnum = Integer.zero; qden = Integer.one }

(** val item : q list -> nat -> q **)

let item l k =
  nth k l { qnum = Integer.zero; qden = Integer.one }

(** val shorter :
    (Integer.t -> Integer.t -> Integer.t) -> (Integer.t -> Integer.t ->
    Integer.t) -> q -> q **)

let shorter div gcd q0 =
  let g = gcd q0.qnum ((fun p -> p) q0.qden) in
  let n0 = div q0.qnum g in
  ((fun zero pos neg z -> let s = Integer.sign z in
    if s = 0 then zero () else if s > 0 then pos z else neg (Integer.neg z))
     (fun _ -> q0)
     (fun m ->
     if (&&) (Z.eqb (Z.mul n0 g) q0.qnum)
          (Z.eqb (Z.mul ((fun p -> p) m) g) ((fun p -> p) q0.qden))
     then { qnum = n0; qden = m }
     else q0)
     (fun _ -> q0)
     (div ((fun p -> p) q0.qden) g))

(** val sum_Q : (q -> q) -> nat -> (nat -> q) -> q **)

let rec sum_Q short0 n0 f =
  match n0 with
  | O -> { qnum = Integer.zero; qden = Integer.one }
  | S m -> short0 (qplus (f O) (sum_Q short0 m (fun k -> f (S k))))

(** val prod_Q : nat -> (nat -> q) -> q **)

let rec prod_Q n0 f =
  match n0 with
  | O -> { qnum = ((fun p -> p) Integer.one); qden = Integer.one }
  | S m -> qmult (f O) (prod_Q m (fun k -> f (S k)))

(** val all_below : nat -> (nat -> bool) -> bool **)

let all_below d f =
  forallb f (seq O d)

(** val above_zero : q -> bool **)

let above_zero q0 =
  negb (qle_bool q0 { qnum = Integer.zero; qden = Integer.one })

(** val factors_ok :
    (q -> q) -> nat -> q list -> rationals -> rationals -> bool **)

let factors_ok short0 d beta u b =
  (&&)
    (all_below d (fun i ->
      all_below d (fun j ->
        qeq_bool (cell b i j)
          (sum_Q short0 d (fun k ->
            qmult (item beta k) (qmult (cell u k i) (cell u k j)))))))
    (all_below d (fun k ->
      (&&)
        ((&&) (above_zero (item beta k))
          (qeq_bool (cell u k k) { qnum = ((fun p -> p) Integer.one); qden =
            Integer.one }))
        (all_below d (fun j ->
          (||) (Nat.leb j k)
            (qeq_bool (cell u k j) { qnum = Integer.zero; qden =
              Integer.one })))))

(** val metric_ok : nat -> q list -> rationals -> bool **)

let metric_ok d m w =
  (&&)
    (all_below d (fun k ->
      (&&)
        ((&&) (above_zero (item m k))
          (qeq_bool (cell w k k) { qnum = ((fun p -> p) Integer.one); qden =
            Integer.one }))
        (all_below d (fun j ->
          (||) (Nat.leb k j)
            (qeq_bool (cell w k j) { qnum = Integer.zero; qden =
              Integer.one })))))
    (qle_bool { qnum = ((fun p -> p) Integer.one); qden = Integer.one }
      (prod_Q d (item m)))

(** val inverse_ok :
    (q -> q) -> nat -> rationals -> rationals -> q -> bool **)

let inverse_ok short0 d a m c =
  all_below d (fun i ->
    all_below d (fun j ->
      qeq_bool (sum_Q short0 d (fun k -> qmult (cell a i k) (cell m k j)))
        (if Nat.eqb i j
         then c
         else { qnum = Integer.zero; qden = Integer.one })))

(** val cells_of_terms :
    (q -> q) -> nat -> q list -> rationals -> rationals **)

let cells_of_terms short0 d m w =
  map (fun i ->
    map (fun j ->
      sum_Q short0 d (fun k ->
        qmult (item m k) (qmult (cell w k i) (cell w k j)))) (seq O d))
    (seq O d)

(** val trace_Q : (q -> q) -> nat -> rationals -> rationals -> q **)

let trace_Q short0 d b m =
  sum_Q short0 d (fun i ->
    sum_Q short0 d (fun j -> qmult (cell b i j) (cell m i j)))

(** val check_glml :
    (Integer.t -> Integer.t -> Integer.t) -> (Integer.t -> Integer.t ->
    Integer.t) -> nat -> rationals -> q list -> rationals -> q -> rationals
    -> q -> q list -> rationals -> (q * q) option **)

let check_glml div gcd d b beta u t0 a c m w =
  let short0 = shorter div gcd in
  let m0 = cells_of_terms short0 d m w in
  if (&&)
       ((&&)
         ((&&)
           ((&&) (Nat.ltb O d)
             (qle_bool { qnum = Integer.zero; qden = Integer.one } t0))
           (metric_ok d m w)) (inverse_ok short0 d a m0 c))
       ((||) (qeq_bool t0 { qnum = Integer.zero; qden = Integer.one })
         ((&&) (factors_ok short0 d beta u b)
           (qle_bool (prod_Q d (fun _ -> t0))
             (qmult (prod_Q d (fun _ -> inject_Z (Z.of_nat d)))
               (prod_Q d (item beta))))))
  then let v = trace_Q short0 d b m0 in Some ((qmult t0 t0), (qmult v v))
  else None

(** val floor :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
    Integer.t **)

let floor div a p =
  let q0 = div a ((fun p -> p) p) in
  if (&&) (Z.leb Integer.zero q0) (Z.leb (Z.mul q0 ((fun p -> p) p)) a)
  then q0
  else Integer.zero

(** val doublings : nat -> Integer.t **)

let rec doublings = function
| O -> Integer.one
| S s0 -> (fun p -> Integer.shift_left p 1) (doublings s0)

(** val squared :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> nat -> Integer.t ->
    Integer.t **)

let rec squared div u s a =
  match s with
  | O -> a
  | S s0 -> squared div u s0 (floor div (Z.mul a a) u)

(** val begun :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
    Integer.t -> Integer.t -> Integer.t **)

let begun div u t0 x r =
  floor div
    (Z.max Integer.zero
      (Z.mul (Z.add ((fun p -> p) (Pos.mul r t0)) x) ((fun p -> p) u)))
    (Pos.mul r t0)

(** val exp_down :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> nat -> Integer.t ->
    Integer.t -> Integer.t **)

let exp_down div u s x r =
  squared div u s (begun div u (doublings s) x r)

(** val fine : Integer.t **)

let fine =
  doublings (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S
    O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

(** val exp_below :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
    Integer.t **)

let exp_below div =
  exp_down div fine (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

(** val farthest : Integer.t **)

let farthest =
  (fun p -> p) ((fun p -> Integer.shift_left p 1)
    ((fun p -> Integer.shift_left p 1) ((fun p -> Integer.shift_left p 1)
    ((fun p -> Integer.shift_left p 1) ((fun p -> Integer.shift_left p 1)
    ((fun p -> Integer.shift_left p 1) ((fun p -> Integer.shift_left p 1)
    Integer.one)))))))

(** val exp_above :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
    Integer.t **)

let exp_above div y r =
  let a = exp_below div (Z.min y (Z.mul farthest ((fun p -> p) r))) r in
  let q0 =
    Z.add (div (Z.mul ((fun p -> p) fine) ((fun p -> p) fine)) a)
      ((fun p -> p) Integer.one)
  in
  if (&&) (Z.ltb Integer.zero a)
       (Z.leb (Z.mul ((fun p -> p) fine) ((fun p -> p) fine)) (Z.mul q0 a))
  then q0
  else (fun p -> p) fine

(** val ln_at_most :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
    Integer.t -> Integer.t -> bool **)

let ln_at_most div n0 p z0 r =
  Z.leb (Z.mul n0 ((fun p -> p) fine))
    (Z.mul (exp_below div z0 r) ((fun p -> p) p))

(** val log_sum_at_most :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t list ->
    Integer.t -> Integer.t -> Integer.t -> bool **)

let log_sum_at_most div top l unit0 z0 r =
  Z.leb (summed (fun x -> exp_above div (Z.sub top x) unit0) l)
    (exp_below div z0 r)

type pulls = (Integer.t * Integer.t) list

type soft = { of_point : Integer.t;
              shared : (Integer.t * (Integer.t * Integer.t)) list;
              log_sum : Integer.t }

(** val others_among : Integer.t list -> Integer.t -> Integer.t list **)

let others_among all i =
  kept (fun j -> negb (N.eqb j i)) all

(** val soft_ok :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t list -> Integer.t ->
    (Integer.t -> Integer.t) -> soft -> bool **)

let soft_ok div all r c s =
  let own = c s.of_point in
  (&&)
    ((&&)
      ((&&) (Z.ltb Integer.zero own)
        (within N.eqb fst s.shared (others_among all s.of_point)))
      (forallb (fun t0 ->
        (&&) (Z.ltb Integer.zero (fst (snd t0)))
          (ln_at_most div (fst (snd t0)) (Z.to_pos own) (snd (snd t0)) r))
        s.shared)) (Z.eqb (summed (fun t0 -> fst (snd t0)) s.shared) own)

(** val soft_weights : (Integer.t -> pulls) -> soft list -> weighted list **)

let soft_weights pull l =
  gathered (fun s ->
    rev_append
      (map (fun t0 -> { weight = (snd t0); one = s.of_point; other =
        (fst t0) }) (pull s.of_point))
      (map (fun t0 -> { weight = (Z.opp (fst (snd t0))); one = s.of_point;
        other = (fst t0) }) s.shared)) l

(** val soft_constant : Integer.t -> Integer.t -> soft list -> q **)

let soft_constant p r l =
  qopp { qnum =
    (summed (fun s ->
      summed (fun t0 -> Z.mul (fst (snd t0)) (snd (snd t0))) s.shared) l);
    qden = (Pos.mul p r) }

(** val soft_top :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t list -> Integer.t ->
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> soft ->
    Integer.t * bool **)

let soft_top div all r whole unit0 s =
  let l =
    map (fun k -> Z.opp (whole s.of_point k)) (others_among all s.of_point)
  in
  let top = largest l in (top, (log_sum_at_most div top l unit0 s.log_sum r))

(** val soft_value :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t list -> Integer.t ->
    Integer.t -> (Integer.t -> pulls) -> (Integer.t -> Integer.t) -> soft
    list -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> q option **)

let soft_value div all p r pull c l whole unit0 =
  let tops =
    gathered (fun s -> (s, (soft_top div all r whole unit0 s)) :: []) l
  in
  if forallb (fun t0 -> snd (snd t0)) tops
  then let pulled0 =
         summed (fun s ->
           summed (fun t0 -> Z.mul (snd t0) (whole s.of_point (fst t0)))
             (pull s.of_point)) l
       in
       let most =
         summed (fun t0 -> Z.mul (c (fst t0).of_point) (fst (snd t0))) tops
       in
       let logs = summed (fun s -> Z.mul (c s.of_point) s.log_sum) l in
       Some
       (qplus { qnum = (Z.add pulled0 most); qden = (Pos.mul p unit0) }
         { qnum = logs; qden = (Pos.mul p r) })
  else None

(** val check_soft :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
    Integer.t -> Integer.t -> (Integer.t -> pulls) -> (Integer.t ->
    Integer.t) -> soft list -> factor -> metric -> (q * q) option **)

let check_soft div x y p r pull c l f m =
  let all = numbers y in
  if forallb (soft_ok div all r c) l
  then check div x { qnum = Integer.zero; qden = Integer.one }
         (soft_constant p r l) (soft_weights pull l) p f m
         (soft_value div all p r pull c l)
  else None

(** val same_points : Integer.t list -> Integer.t list -> bool **)

let rec same_points a b =
  match a with
  | [] -> (match b with
           | [] -> true
           | _ :: _ -> false)
  | i :: a0 ->
    (match b with
     | [] -> false
     | j :: b0 -> (&&) (N.eqb i j) (same_points a0 b0))

(** val mates_among :
    Integer.t list -> Integer.t tree -> Integer.t -> Integer.t list **)

let mates_among all t0 i =
  let own = look Integer.zero t0 i in
  kept (fun j -> Z.eqb (look Integer.zero t0 j) own) (others_among all i)

(** val mean_pulls :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t list ->
    pulls **)

let mean_pulls div p mates =
  let each = div ((fun p -> p) p) (count mates) in
  map (fun j -> (j, each)) mates

(** val whole_mean :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t list ->
    bool **)

let whole_mean div p mates =
  Z.eqb (Z.mul (div ((fun p -> p) p) (count mates)) (count mates))
    ((fun p -> p) p)

(** val check_mcml :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
    Integer.t -> Integer.t -> soft list -> factor -> metric -> (q * q) option **)

let check_mcml div x y p r l f m =
  let mates = mates_among (numbers y) (table y) in
  if (&&)
       ((&&) (Z.eqb (count y) (count x.rows))
         (same_points (map (fun s -> s.of_point) l)
           (kept (fun i -> match mates i with
                           | [] -> false
                           | _ :: _ -> true) (numbers y))))
       (forallb (fun s -> whole_mean div p (mates s.of_point)) l)
  then check_soft div x y p r (fun i -> mean_pulls div p (mates i)) (fun _ ->
         (fun p -> p) p) l f m
  else None

type weighed_pairs = (pair * Integer.t) list

type labelled = (pair * bool) * Integer.t

type logit = { part : Integer.t; log_part : Integer.t; log_rest : Integer.t;
               log_at : Integer.t }

(** val logit_ok :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> (labelled * logit)
    -> bool **)

let logit_ok div r s =
  let w = snd (fst s) in
  let a = (snd s).part in
  (&&)
    ((&&)
      ((&&) ((&&) (Z.ltb Integer.zero w) (Z.leb Integer.zero a)) (Z.leb a w))
      ((||) (Z.eqb a Integer.zero)
        (ln_at_most div a (Z.to_pos w) (snd s).log_part r)))
    ((||) (Z.eqb a w)
      (ln_at_most div (Z.sub w a) (Z.to_pos w) (snd s).log_rest r))

(** val signed_part : (labelled * logit) -> Integer.t **)

let signed_part s =
  if snd (fst (fst s)) then (snd s).part else Z.opp (snd s).part

(** val logit_weights : (labelled * logit) list -> weighted list **)

let logit_weights l =
  gathered (fun s -> { weight = (signed_part s); one =
    (fst (fst (fst (fst s)))); other = (snd (fst (fst (fst s)))) } :: []) l

(** val logit_entropy : (labelled * logit) list -> Integer.t **)

let logit_entropy l =
  summed (fun s ->
    Z.add (Z.mul (snd s).part (snd s).log_part)
      (Z.mul (Z.sub (snd (fst s)) (snd s).part) (snd s).log_rest)) l

(** val whole_toward :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> q -> labelled ->
    Integer.t **)

let whole_toward whole unit0 b = function
| (p, _) ->
  let (p0, alike0) = p in
  let (i, j) = p0 in
  let v =
    Z.sub (Z.mul (whole i j) ((fun p -> p) b.qden))
      (Z.mul b.qnum ((fun p -> p) unit0))
  in
  if alike0 then v else Z.opp v

(** val logit_value :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t -> q ->
    (labelled * logit) list -> (Integer.t -> Integer.t -> Integer.t) ->
    Integer.t -> q option **)

let logit_value div p r b l whole unit0 =
  let under = Pos.mul unit0 b.qden in
  let at_0 =
    gathered (fun s -> (s, (whole_toward whole unit0 b (fst s))) :: []) l
  in
  if forallb (fun t0 ->
       log_sum_at_most div (largest (Integer.zero :: ((snd t0) :: [])))
         (Integer.zero :: ((snd t0) :: [])) under (snd (fst t0)).log_at r)
       at_0
  then let most =
         summed (fun t0 ->
           Z.mul (snd (fst (fst t0))) (Z.max Integer.zero (snd t0))) at_0
       in
       let logs = summed (fun s -> Z.mul (snd (fst s)) (snd s).log_at) l in
       Some
       (qplus { qnum = most; qden = (Pos.mul p under) } { qnum = logs; qden =
         (Pos.mul p r) })
  else None

(** val check_logistic :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t -> Integer.t
    -> q option -> q -> (labelled * logit) list -> factor -> metric ->
    (q * q) option **)

let check_logistic div x p r given b l f m =
  let pull = summed signed_part l in
  if (&&) (forallb (logit_ok div r) l)
       (match given with
        | Some b' -> qeq_bool b' b
        | None -> Z.eqb pull Integer.zero)
  then check div x { qnum = Integer.zero; qden = Integer.one }
         (qminus (qopp { qnum = (logit_entropy l); qden = (Pos.mul p r) })
           (qmult b { qnum = pull; qden = p })) (logit_weights l) p f m
         (logit_value div p r b l)
  else None

(** val zipped :
    ('a1 * 'a2) list -> 'a1 list -> 'a2 list -> ('a1 * 'a2) list option **)

let rec zipped done0 a b =
  match a with
  | [] -> (match b with
           | [] -> Some (rev_append done0 [])
           | _ :: _ -> None)
  | x :: a0 ->
    (match b with
     | [] -> None
     | y :: b0 -> zipped ((x, y) :: done0) a0 b0)

(** val over_kind : bool -> Integer.t -> weighed_pairs -> Integer.t **)

let over_kind means q0 l =
  if means then summed snd l else (fun p -> p) q0

(** val labelled_kind :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t -> bool
    -> weighed_pairs -> labelled list **)

let labelled_kind div p z0 alike0 l =
  gathered (fun s -> (((fst s), alike0),
    (div (Z.mul (snd s) ((fun p -> p) p)) z0)) :: []) l

(** val kind_ok :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
    weighed_pairs -> bool **)

let kind_ok div p z0 l =
  (&&) (Z.ltb Integer.zero z0)
    (forallb (fun s ->
      Z.eqb (Z.mul (div (Z.mul (snd s) ((fun p -> p) p)) z0) z0)
        (Z.mul (snd s) ((fun p -> p) p))) l)

(** val check_ldml :
    (Integer.t -> Integer.t -> Integer.t) -> points -> bool -> Integer.t ->
    weighed_pairs -> weighed_pairs -> q -> q option -> Integer.t -> Integer.t
    -> q -> logit list -> factor -> metric -> (q * q) option **)

let check_ldml div x means q0 near far w_0 given p r b parts f m =
  let z0 = over_kind means q0 near in
  let z' = over_kind means q0 far in
  let alone =
    Z.mul (Z.mul (Z.mul (count x.rows) w_0.qnum) ((fun p -> p) q0))
      ((fun p -> p) p)
  in
  let own = div alone (Z.mul ((fun p -> p) w_0.qden) z0) in
  let n0 = size x.rows in
  let inside = forallb (fun s -> pair_inside n0 (fst s)) in
  if (&&)
       ((&&)
         ((&&) ((&&) (kind_ok div p z0 near) (kind_ok div p z' far))
           (Z.eqb (Z.mul own (Z.mul ((fun p -> p) w_0.qden) z0)) alone))
         (inside near)) (inside far)
  then let last =
         if Z.eqb own Integer.zero
         then []
         else (((Integer.zero, Integer.zero), true), own) :: []
       in
       let l =
         rev_append (rev_append (labelled_kind div p z' false far) []) last
       in
       (match zipped []
                (rev_append
                  (rev_append (labelled_kind div p z0 true near) []) l) parts with
        | Some l0 -> check_logistic div x p r given b l0 f m
        | None -> None)
  else None

type criterion =
| Of_f
| Of_g

(** val tiny : Integer.t **)

let tiny =
  doublings (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S
    O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

(** val lowest0 : Integer.t **)

let lowest0 =
  (fun p -> p) ((fun p -> Integer.succ (Integer.shift_left p 1))
    ((fun p -> Integer.succ (Integer.shift_left p 1))
    ((fun p -> Integer.succ (Integer.shift_left p 1))
    ((fun p -> Integer.succ (Integer.shift_left p 1))
    ((fun p -> Integer.succ (Integer.shift_left p 1))
    ((fun p -> Integer.succ (Integer.shift_left p 1)) Integer.one))))))

type neighbour = { of_other : Integer.t; lesser : Integer.t;
                   portion : Integer.t; log_portion : Integer.t }

type picking = { of_row : Integer.t; neighbours : neighbour list;
                 log_mass : Integer.t; log_own : Integer.t }

(** val top_of : (Integer.t -> Integer.t) -> neighbour list -> Integer.t **)

let top_of d l =
  largest (map (fun t0 -> Z.opp (d t0.of_other)) l)

(** val mates_in : (Integer.t -> bool) -> neighbour list -> neighbour list **)

let mates_in own l =
  kept (fun t0 -> own t0.of_other) l

(** val reference_in :
    criterion -> (Integer.t -> bool) -> neighbour list -> neighbour list **)

let reference_in cr own l =
  match cr with
  | Of_f -> l
  | Of_g -> mates_in own l

(** val far_of :
    (Integer.t -> Integer.t) -> Integer.t -> Integer.t -> Integer.t ->
    Integer.t -> neighbour -> Integer.t **)

let far_of d u r top log_mass0 t0 =
  Z.add (Z.mul (Z.add top (d t0.of_other)) ((fun p -> p) r))
    (Z.mul log_mass0 ((fun p -> p) u))

(** val lost : Integer.t -> neighbour list -> Integer.t **)

let lost p l =
  Z.sub ((fun p -> p) p) (summed (fun n0 -> n0.lesser) l)

(** val held : (Integer.t -> bool) -> neighbour list -> Integer.t **)

let held own l =
  summed (fun n0 -> n0.lesser) (mates_in own l)

(** val own_ok :
    (Integer.t -> Integer.t -> Integer.t) -> criterion -> Integer.t ->
    Integer.t -> (Integer.t -> bool) -> (Integer.t -> Integer.t) -> Integer.t
    -> picking -> bool **)

let own_ok div cr p r own d u s =
  let l = s.neighbours in
  let near = mates_in own l in
  (match cr with
   | Of_f ->
     ln_at_most div ((fun p -> p) p)
       (Z.to_pos (Z.add (held own l) (lost p l))) s.log_own r
   | Of_g ->
     let top = top_of d l in
     let top' = top_of d near in
     let below0 =
       summed (fun t0 ->
         exp_below div (Z.opp (Z.add top' (d t0.of_other))) u) near
     in
     (&&) (Z.ltb Integer.zero below0)
       (ln_at_most div
         (summed (fun t0 -> exp_above div (Z.add top (d t0.of_other)) u) l)
         (Z.to_pos below0) s.log_own r))

(** val picking_ok :
    (Integer.t -> Integer.t -> Integer.t) -> criterion -> Integer.t ->
    Integer.t -> (Integer.t -> bool) -> (Integer.t -> Integer.t) -> Integer.t
    -> picking -> bool **)

let picking_ok div cr p r own d u s =
  let l = s.neighbours in
  let near = reference_in cr own l in
  let top = top_of d near in
  let left = lost p l in
  (&&)
    ((&&)
      ((&&)
        (log_sum_at_most div top (map (fun t0 -> Z.opp (d t0.of_other)) near)
          u s.log_mass r)
        (forallb (fun t0 ->
          (&&)
            ((&&)
              ((&&) (Z.leb Integer.zero t0.lesser)
                (Z.leb Integer.zero t0.portion))
              ((||) (Z.eqb t0.lesser Integer.zero)
                ((&&) (match cr with
                       | Of_f -> true
                       | Of_g -> own t0.of_other)
                  (ln_at_most div t0.lesser p
                    (Z.opp (far_of d u r top s.log_mass t0)) (Pos.mul u r)))))
            ((||) (Z.eqb t0.portion Integer.zero)
              ((&&) (Z.leb t0.log_portion Integer.zero)
                (ln_at_most div (Z.add t0.portion left) p t0.log_portion r))))
          l)) (Z.eqb (summed (fun n0 -> n0.portion) l) (held own l)))
    (own_ok div cr p r own d u s)

(** val row_logs :
    criterion -> Integer.t -> (Integer.t -> bool) -> picking -> Integer.t **)

let row_logs cr p own s =
  let l = s.neighbours in
  Z.add (summed (fun t0 -> Z.mul t0.portion t0.log_portion) l)
    (match cr with
     | Of_f -> Z.mul (Z.add (held own l) (lost p l)) s.log_own
     | Of_g -> Integer.zero)

(** val row_far :
    criterion -> Integer.t -> (Integer.t -> bool) -> (Integer.t -> Integer.t)
    -> Integer.t -> picking -> Integer.t **)

let row_far cr r own d u s =
  let l = s.neighbours in
  let top = top_of d (reference_in cr own l) in
  summed (fun t0 ->
    Z.mul t0.lesser
      (Z.min (far_of d u r top s.log_mass t0)
        (Z.mul lowest0 ((fun p -> p) (Pos.mul u r))))) (mates_in own l)

(** val row_rest :
    criterion -> Integer.t -> (Integer.t -> bool) -> picking -> Integer.t **)

let row_rest cr p own s =
  let l = s.neighbours in
  Z.add (Z.mul lowest0 (lost p l))
    (match cr with
     | Of_f -> Z.add (held own l) (lost p l)
     | Of_g -> Integer.zero)

(** val row_mates : (Integer.t -> bool) -> picking -> Integer.t **)

let row_mates own s =
  count (mates_in own s.neighbours)

(** val value_held :
    criterion -> (Integer.t -> bool) -> picking -> Integer.t **)

let value_held cr own s =
  match cr with
  | Of_f -> Z.opp (held own s.neighbours)
  | Of_g -> Integer.zero

(** val value_tops :
    criterion -> (Integer.t -> bool) -> (Integer.t -> Integer.t) -> picking
    -> Integer.t **)

let value_tops cr own d s =
  match cr with
  | Of_f -> Integer.zero
  | Of_g ->
    Z.sub (top_of d s.neighbours) (top_of d (mates_in own s.neighbours))

(** val value_logs : criterion -> picking -> Integer.t **)

let value_logs cr s =
  match cr with
  | Of_f -> Integer.zero
  | Of_g -> s.log_own

(** val row_weights : (Integer.t -> bool) -> picking -> weighted list **)

let row_weights own s =
  map (fun t0 -> { weight =
    (Z.sub (if own t0.of_other then t0.lesser else Integer.zero) t0.portion);
    one = s.of_row; other = t0.of_other }) s.neighbours

(** val alike : Integer.t list -> Integer.t -> Integer.t -> bool **)

let alike y i j =
  Z.eqb (class0 y j) (class0 y i)

(** val nca_weights :
    (Integer.t -> Integer.t -> bool) -> picking list -> weighted list **)

let nca_weights own l =
  gathered (fun s -> row_weights (own s.of_row) s) l

(** val nca_constant :
    criterion -> Integer.t -> Integer.t -> (Integer.t -> Integer.t -> bool)
    -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> picking list -> q **)

let nca_constant cr p r own whole u l =
  qminus
    (qminus
      (qminus
        (qopp { qnum = (summed (fun s -> row_logs cr p (own s.of_row) s) l);
          qden = (Pos.mul p r) }) { qnum =
        (summed (fun s -> row_far cr r (own s.of_row) (whole s.of_row) u s) l);
        qden = (Pos.mul p (Pos.mul u r)) }) { qnum =
      (summed (fun s -> row_rest cr p (own s.of_row) s) l); qden = p })
    { qnum = (summed (fun s -> row_mates (own s.of_row) s) l); qden = tiny }

(** val nca_value :
    criterion -> Integer.t -> Integer.t -> (Integer.t -> Integer.t -> bool)
    -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> picking list -> q **)

let nca_value cr p r own whole u l =
  qplus
    (qplus { qnum = (summed (fun s -> value_held cr (own s.of_row) s) l);
      qden = p } { qnum =
      (summed (fun s -> value_tops cr (own s.of_row) (whole s.of_row) s) l);
      qden = u }) { qnum = (summed (value_logs cr) l); qden = r }

(** val check_nca :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list ->
    criterion -> Integer.t -> Integer.t -> picking list -> factor -> metric
    -> (q * q) option **)

let check_nca div x y cr p r l f m =
  let all = numbers y in
  let t0 = table y in
  let whole = whole_distance (images (triangle_of m) x.rows) in
  let u = Pos.mul (Pos.mul x.over x.over) (over_of m) in
  let own = fun i j -> Z.eqb (look Integer.zero t0 j) (look Integer.zero t0 i)
  in
  if (&&)
       ((&&) ((&&) (Z.eqb (count y) (count x.rows)) (short x))
         (same_points (map (fun p0 -> p0.of_row) l)
           (kept (fun i ->
             match mates_among all t0 i with
             | [] -> false
             | _ :: _ -> true) all)))
       (forallb (fun s ->
         (&&)
           (same_points (map (fun n0 -> n0.of_other) s.neighbours)
             (others_among all s.of_row))
           (picking_ok div cr p r (own s.of_row) (whole s.of_row) u s)) l)
  then check div x { qnum = Integer.zero; qden = Integer.one }
         (nca_constant cr p r own whole u l) (nca_weights own l) p f m
         (fun _ _ -> Some (nca_value cr p r own whole u l))
  else None

(** val quarter :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
    Integer.t -> Integer.t **)

let quarter div u p a =
  if Z.eqb a Integer.zero
  then Integer.zero
  else Z.add
         (div (Z.mul ((fun p -> p) u) ((fun p -> p) p))
           (Z.mul ((fun p -> p) ((fun p -> Integer.shift_left p 1)
             ((fun p -> Integer.shift_left p 1) Integer.one))) a))
         ((fun p -> p) Integer.one)

(** val root_ok :
    (Integer.t -> Integer.t -> Integer.t) -> row tree -> Integer.t ->
    Integer.t -> (pair * Integer.t) -> bool **)

let root_ok div t0 u p s =
  let a = snd s in
  if Z.eqb a Integer.zero
  then forallb (Z.eqb Integer.zero)
         (minus (look [] t0 (fst (fst s))) (look [] t0 (snd (fst s))))
  else (&&) (Z.ltb Integer.zero a)
         (Z.leb (Z.mul ((fun p -> p) u) ((fun p -> p) p))
           (Z.mul (quarter div u p a)
             (Z.mul ((fun p -> p) ((fun p -> Integer.shift_left p 1)
               ((fun p -> Integer.shift_left p 1) Integer.one))) a)))

(** val all_priced : pair list -> (pair * Integer.t) list -> bool **)

let rec all_priced pairs q0 =
  match pairs with
  | [] -> (match q0 with
           | [] -> true
           | _ :: _ -> false)
  | s :: pairs0 ->
    (match q0 with
     | [] -> false
     | a :: q1 -> if same_pair (fst a) s then all_priced pairs0 q1 else false)

(** val root_below :
    (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) ->
    Integer.t -> Integer.t -> Integer.t -> Integer.t * bool **)

let root_below root div u unit0 z0 =
  let r =
    root
      (div (Z.mul z0 (Z.mul ((fun p -> p) u) ((fun p -> p) u))) ((fun p -> p)
        unit0))
  in
  (r,
  (Z.leb (Z.mul (Z.mul r r) ((fun p -> p) unit0))
    (Z.mul z0 (Z.mul ((fun p -> p) u) ((fun p -> p) u)))))

(** val roots_value :
    (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) ->
    Integer.t -> pair list -> pair list -> (Integer.t -> Integer.t ->
    Integer.t) -> Integer.t -> q option **)

let roots_value root div u similar dissimilar whole unit0 =
  if Z.leb (summed (fun s -> whole (fst s) (snd s)) similar) ((fun p -> p)
       unit0)
  then let roots =
         gathered (fun s ->
           (root_below root div u unit0 (whole (fst s) (snd s))) :: [])
           dissimilar
       in
       if forallb snd roots
       then Some (qopp { qnum = (summed fst roots); qden = u })
       else None
  else None

(** val check_mmc :
    (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) ->
    points -> pair list -> pair list -> q -> Integer.t -> Integer.t ->
    (pair * Integer.t) list -> factor -> metric -> (q * q) option **)

let check_mmc root div x similar dissimilar mu u p q0 f m =
  if (&&)
       ((&&) ((&&) (Z.leb Integer.zero mu.qnum) (all_priced dissimilar q0))
         (forallb (root_ok div (table x.rows) u p) q0))
       (all_inside x (rev_append similar dissimilar) [])
  then let p0 =
         weights_of_pairs (Z.mul mu.qnum ((fun p -> p) p)) similar
           (weights_of_least ((fun p -> p) mu.qden) q0 [])
       in
       check div x { qnum = Integer.zero; qden = Integer.one }
         (qminus (qopp mu) { qnum =
           (summed (fun s -> quarter div u p (snd s)) q0); qden = u }) p0
         (Pos.mul p mu.qden) f m (roots_value root div u similar dissimilar)
  else None

(** val check_mmc_labels :
    (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) ->
    points -> Integer.t list -> q -> Integer.t -> Integer.t ->
    (pair * Integer.t) list -> factor -> metric -> (q * q) option **)

let check_mmc_labels root div x y mu u p q0 f m =
  if Z.eqb (count y) (count x.rows)
  then check_mmc root div x (made_pairs y true) (made_pairs y false) mu u p
         q0 f m
  else None

(** val axis : nat -> Integer.t -> nat -> row **)

let axis d o k =
  map (fun j -> if Nat.eqb j k then (fun p -> p) o else Integer.zero)
    (seq O d)

(** val with_axes : points -> points **)

let with_axes x =
  { features = x.features; over = x.over; rows =
    (rev_append (rev_append x.rows [])
      (map (axis x.features x.over) (seq O x.features))) }

(** val axes : points -> pair list **)

let axes x =
  let n0 = size x.rows in
  map (fun k -> ((N.add n0 (N.of_nat k)), (N.add n0 (N.of_nat x.features))))
    (seq O x.features)

type triplet_share = triplet * (Integer.t * Integer.t)

(** val share_ok :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
    triplet_share -> bool **)

let share_ok div p r s =
  (&&) (Z.ltb Integer.zero (fst (snd s)))
    (ln_at_most div (fst (snd s)) p (snd (snd s)) r)

(** val of_shares : triplet_share list -> (triplet * Integer.t) list **)

let of_shares shares0 =
  gathered (fun s -> ((fst s), (fst (snd s))) :: []) shares0

(** val entropy : triplet_share list -> Integer.t **)

let entropy shares0 =
  summed (fun s -> Z.mul (fst (snd s)) (snd (snd s))) shares0

(** val boost_value :
    (Integer.t -> Integer.t -> Integer.t) -> q -> Integer.t -> Integer.t ->
    triplet list -> pair list -> (Integer.t -> Integer.t -> Integer.t) ->
    Integer.t -> q option **)

let boost_value div v r z0 l axes0 whole unit0 =
  let l0 =
    gathered (fun t0 ->
      let (p, k) = t0 in
      let (i, j) = p in (Z.sub (whole i j) (whole i k)) :: []) l
  in
  let top = largest l0 in
  if log_sum_at_most div top l0 unit0 z0 r
  then Some
         (qplus (qplus { qnum = top; qden = unit0 } { qnum = z0; qden = r })
           (qmult v { qnum = (summed (fun s -> whole (fst s) (snd s)) axes0);
             qden = unit0 }))
  else None

(** val check_boostmetric :
    (Integer.t -> Integer.t -> Integer.t) -> points -> q -> triplet list ->
    Integer.t -> Integer.t -> triplet_share list -> Integer.t -> factor ->
    metric -> (q * q) option **)

let check_boostmetric div x v l p r shares0 z0 f m =
  if (&&)
       ((&&)
         ((&&)
           ((&&) (negb (Z.eqb (count l) Integer.zero)) (all_inside x [] l))
           (within same_triplet fst shares0 l))
         (forallb (share_ok div p r) shares0))
       (Z.eqb (summed (fun s -> fst (snd s)) shares0) ((fun p -> p) p))
  then let a = axes x in
       check div (with_axes x) { qnum = Integer.zero; qden = Integer.one }
         (qopp { qnum = (entropy shares0); qden = (Pos.mul p r) })
         (weights_of_targets v p a (weights_of_prices v (of_shares shares0)))
         (Pos.mul p v.qden) f m (boost_value div v r z0 l a)
  else None

(** val joined : triangle -> triangle -> triangle **)

let rec joined t0 u =
  match t0 with
  | [] -> u
  | r :: t1 ->
    (match u with
     | [] -> t0
     | s :: u0 -> (addmul ((fun p -> p) Integer.one) r s) :: (joined t1 u0))

(** val upper : nat -> (nat -> nat -> Integer.t) -> triangle **)

let upper n0 g =
  map (fun i -> map (g i) (seq i (sub n0 i))) (seq O n0)

(** val full : nat -> triangle -> row list **)

let full d t0 =
  map (fun i -> map (entry t0 i) (seq O d)) (seq O d)

(** val inverse_shown : nat -> triangle -> triangle -> Integer.t -> bool **)

let inverse_shown d t0 u c =
  let f = full d t0 in
  let g = full d u in
  all_below d (fun i ->
    all_below d (fun j ->
      Z.eqb (dot (nth i f []) (nth j g []))
        (if Nat.eqb i j then c else Integer.zero)))

(** val inner_whole : nat -> triangle -> triangle -> Integer.t **)

let inner_whole d t0 u =
  let f = full d t0 in
  let g = full d u in
  summed (fun i -> dot (nth i f []) (nth i g [])) (seq O d)

(** val with_prior :
    points -> pair list -> q -> metric -> triangle * Integer.t **)

let with_prior x pairs mu prior =
  let square = Pos.mul x.over x.over in
  let c = Pos.mul mu.qden (over_of prior) in
  ((joined
     (times ((fun p -> p) c)
       (squares (table x.rows)
         (weights_of_pairs ((fun p -> p) Integer.one) pairs [])))
     (times (Z.mul mu.qnum ((fun p -> p) square)) (triangle_of prior))),
  (Pos.mul square c))

(** val psd_block :
    nat -> (triangle * Integer.t) -> (triangle * Integer.t) -> row list ->
    Integer.t -> triangle * Integer.t **)

let psd_block d s d0 f phi =
  let (t0, s0) = s in
  let (u, t1) = d0 in
  ((upper (add d d) (fun i j ->
     if Nat.ltb j d
     then Z.mul ((fun p -> p) (Pos.mul t1 phi)) (entry t0 i j)
     else if Nat.ltb i d
          then Z.mul ((fun p -> p) (Pos.mul s0 t1))
                 (nth (sub j d) (nth i f []) Integer.zero)
          else Z.mul ((fun p -> p) (Pos.mul s0 phi))
                 (entry u (sub i d) (sub j d)))),
  (Pos.mul (Pos.mul s0 t1) phi))

(** val check_gmml :
    (Integer.t -> Integer.t -> Integer.t) -> points -> pair list -> pair list
    -> q -> metric -> metric -> row list -> Integer.t -> metric -> metric ->
    (q * q) option **)

let check_gmml div x similar dissimilar mu a_0 b_0 f phi m n0 =
  let d = x.features in
  let s = with_prior x similar mu b_0 in
  let d0 = with_prior x dissimilar mu a_0 in
  if (&&)
       ((&&)
         ((&&)
           ((&&)
             ((&&) (all_inside x (rev_append similar dissimilar) [])
               (metric_shown div d a_0))
             (inverse_shown d (triangle_of a_0) (triangle_of b_0)
               ((fun p -> p) (Pos.mul (over_of a_0) (over_of b_0)))))
           (metric_shown div d m))
         (inverse_shown d (triangle_of m) (triangle_of n0) ((fun p -> p)
           (Pos.mul (over_of m) (over_of n0)))))
       (psd_shown div (add d d) (fst (psd_block d s d0 f phi)))
  then Some
         ((qmult { qnum = ((fun p -> p) ((fun p -> Integer.shift_left p 1)
            Integer.one)); qden = Integer.one } { qnum =
            (summed (fun k -> nth k (nth k f []) Integer.zero) (seq O d));
            qden = phi }),
         (qplus { qnum = (inner_whole d (triangle_of m) (fst s)); qden =
           (Pos.mul (over_of m) (snd s)) } { qnum =
           (inner_whole d (triangle_of n0) (fst d0)); qden =
           (Pos.mul (over_of n0) (snd d0)) }))
  else None

(** val check_gmml_labels :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list -> q ->
    metric -> metric -> row list -> Integer.t -> metric -> metric -> (q * q)
    option **)

let check_gmml_labels div x y mu a_0 b_0 f phi m n0 =
  if Z.eqb (count y) (count x.rows)
  then check_gmml div x (made_pairs y true) (made_pairs y false) mu a_0 b_0 f
         phi m n0
  else None

(** val last_pivot :
    (Integer.t -> Integer.t -> Integer.t) -> nat -> Integer.t -> triangle ->
    Integer.t option **)

let rec last_pivot div d p t0 =
  match d with
  | O -> Some p
  | S d0 ->
    (match t0 with
     | [] -> None
     | r0 :: rest ->
       (match r0 with
        | [] -> None
        | z0 :: r ->
          if Z.ltb Integer.zero z0
          then let (next, c) =
                 divided div p
                   (add_square (Integer.neg Integer.one) r (times z0 rest))
               in
               if Z.eqb c p then last_pivot div d0 z0 next else None
          else None))

(** val power : Integer.t -> nat -> Integer.t **)

let rec power p = function
| O -> Integer.one
| S d0 -> Pos.mul p (power p d0)

(** val det_of :
    (Integer.t -> Integer.t -> Integer.t) -> nat -> metric -> Integer.t option **)

let det_of div d m =
  last_pivot div d ((fun p -> p) Integer.one) (triangle_of m)

(** val turned_whole : nat -> triangle -> triangle **)

let turned_whole d t0 =
  upper d (fun i j -> entry t0 (sub (sub d (S O)) i) (sub (sub d (S O)) j))

(** val exp_within :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
    Integer.t -> Integer.t **)

let exp_within div u =
  exp_down div u (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S (S
    O))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))

(** val ln_within :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t ->
    Integer.t -> Integer.t -> Integer.t -> bool **)

let ln_within div u n0 p z0 r =
  Z.leb (Z.mul n0 ((fun p -> p) u))
    (Z.mul (exp_within div u z0 r) ((fun p -> p) p))

(** val beside :
    points -> weighted list -> Integer.t -> metric -> triangle * Integer.t **)

let beside x p p0 m =
  let square = Pos.mul x.over x.over in
  ((joined (times ((fun p -> p) (over_of m)) (squares (table x.rows) p))
     (times ((fun p -> p) (Pos.mul square p0)) (triangle_of m))),
  (Pos.mul (Pos.mul square p0) (over_of m)))

type bounded = { pulled : Integer.t; log_bound : Integer.t;
                 log_slack : Integer.t }

type priced = pair * bounded

(** val signed : bool -> Integer.t -> Integer.t **)

let signed alike0 a =
  if alike0 then a else Z.opp a

(** val all_of : q -> q -> Integer.t -> Integer.t **)

let all_of gamma b p =
  Z.mul gamma.qnum ((fun p -> p) (Pos.mul p b.qden))

(** val left_of : bool -> q -> q -> Integer.t -> Integer.t -> Integer.t **)

let left_of alike0 gamma b p a =
  Z.sub (all_of gamma b p)
    (Z.mul (signed alike0 a) (Z.mul b.qnum ((fun p -> p) gamma.qden)))

(** val bounded_ok :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> bool -> q -> q ->
    Integer.t -> Integer.t -> priced -> bool **)

let bounded_ok div v alike0 gamma b p r s =
  let a = (snd s).pulled in
  let rest = left_of alike0 gamma b p a in
  (&&) ((&&) (Z.leb Integer.zero a) (Z.ltb Integer.zero rest))
    (ln_within div v (all_of gamma b p) (Z.to_pos rest) (snd s).log_bound r)

(** val limit : q -> Integer.t -> Integer.t **)

let limit b unit0 =
  Z.mul b.qnum ((fun p -> p) unit0)

(** val slack :
    bool -> q -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> priced
    -> Integer.t **)

let slack alike0 b whole unit0 s =
  let x = Z.mul (whole (fst (fst s)) (snd (fst s))) ((fun p -> p) b.qden) in
  if alike0 then Z.max (limit b unit0) x else Z.min (limit b unit0) x

(** val slack_ok :
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> bool -> q ->
    (Integer.t -> Integer.t -> Integer.t) -> Integer.t -> Integer.t -> priced
    -> bool **)

let slack_ok div v alike0 b whole unit0 r s =
  let x = slack alike0 b whole unit0 s in
  (&&) (Z.ltb Integer.zero x)
    (ln_within div v (limit b unit0) (Z.to_pos x) (snd s).log_slack r)

(** val slack_value :
    bool -> q -> (Integer.t -> Integer.t -> Integer.t) -> Integer.t ->
    Integer.t -> priced list -> q **)

let slack_value alike0 b whole unit0 r l =
  qplus { qnum =
    (summed (fun s -> Z.sub (slack alike0 b whole unit0 s) (limit b unit0)) l);
    qden = (Z.to_pos (limit b unit0)) } { qnum =
    (summed (fun s -> (snd s).log_slack) l); qden = r }

(** val weights_of_bounded :
    bool -> priced list -> weighted list -> weighted list **)

let weights_of_bounded alike0 l p =
  fold_left (fun p0 s -> { weight = (signed alike0 (snd s).pulled); one =
    (fst (fst s)); other = (snd (fst s)) } :: p0) l p

(** val prior_ok :
    (Integer.t -> Integer.t -> Integer.t) -> nat -> metric -> metric -> bool **)

let prior_ok _ d a_0 b_0 =
  inverse_shown d (triangle_of a_0) (triangle_of b_0) ((fun p -> p)
    (Pos.mul (over_of a_0) (over_of b_0)))

(** val check_itml :
    (Integer.t -> Integer.t -> Integer.t) -> points -> pair list -> pair list
    -> q -> q -> q -> metric -> metric -> Integer.t -> Integer.t -> Integer.t
    -> bounded list -> bounded list -> Integer.t -> Integer.t -> metric ->
    (q * q) option **)

let check_itml div x similar dissimilar gamma u l a_0 b_0 p v r of_near of_far z_Z z_m m =
  let d = x.features in
  (match zipped [] similar of_near with
   | Some near ->
     (match zipped [] dissimilar of_far with
      | Some far ->
        (match det_of div d a_0 with
         | Some e_0 ->
           (match det_of div d m with
            | Some e ->
              let w =
                beside x
                  (weights_of_bounded true near
                    (weights_of_bounded false far [])) p b_0
              in
              (match last_pivot div d ((fun p -> p) Integer.one)
                       (turned_whole d (fst w)) with
               | Some f ->
                 let whole = whole_distance (images (triangle_of m) x.rows) in
                 let unit0 = Pos.mul (Pos.mul x.over x.over) (over_of m) in
                 let o_0 = (fun p -> p) (power (over_of a_0) d) in
                 if (&&)
                      ((&&)
                        ((&&)
                          ((&&)
                            ((&&)
                              ((&&)
                                ((&&)
                                  ((&&)
                                    ((&&)
                                      ((&&)
                                        ((&&) (short x)
                                          (all_inside x
                                            (rev_append similar dissimilar)
                                            [])) (prior_ok div d a_0 b_0))
                                      (Z.ltb Integer.zero gamma.qnum))
                                    (Z.ltb Integer.zero u.qnum))
                                  (Z.ltb Integer.zero l.qnum))
                                (forallb (bounded_ok div v true gamma u p r)
                                  near))
                              (forallb (bounded_ok div v false gamma l p r)
                                far))
                            (ln_within div v
                              (Z.mul o_0 ((fun p -> p) (power (snd w) d)))
                              (Z.to_pos (Z.mul e_0 f)) z_Z r))
                          (forallb (slack_ok div v true u whole unit0 r) near))
                        (forallb (slack_ok div v false l whole unit0 r) far))
                      (ln_within div v
                        (Z.mul e_0 ((fun p -> p) (power (over_of m) d)))
                        (Z.to_pos (Z.mul e o_0)) z_m r)
                 then Some
                        ((qminus (qopp { qnum = z_Z; qden = r })
                           (qmult gamma { qnum =
                             (Z.add
                               (summed (fun s -> (snd s).log_bound) near)
                               (summed (fun s -> (snd s).log_bound) far));
                             qden = r })),
                        (qplus
                          (qplus
                            (qminus { qnum =
                              (inner_whole d (triangle_of m)
                                (triangle_of b_0)); qden =
                              (Pos.mul (over_of m) (over_of b_0)) }
                              (inject_Z (Z.of_nat d))) { qnum = z_m; qden =
                            r })
                          (qmult gamma
                            (qplus (slack_value true u whole unit0 r near)
                              (slack_value false l whole unit0 r far)))))
                 else None
               | None -> None)
            | None -> None)
         | None -> None)
      | None -> None)
   | None -> None)

(** val check_itml_labels :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list -> q ->
    q -> q -> metric -> metric -> Integer.t -> Integer.t -> Integer.t ->
    bounded list -> bounded list -> Integer.t -> Integer.t -> metric ->
    (q * q) option **)

let check_itml_labels div x y gamma u l a_0 b_0 p v r of_near of_far z_Z z_m m =
  if Z.eqb (count y) (count x.rows)
  then check_itml div x (made_pairs y true) (made_pairs y false) gamma u l
         a_0 b_0 p v r of_near of_far z_Z z_m m
  else None

(** val box_ok : nat -> q -> triangle -> Integer.t -> bool **)

let box_ok d lam u q0 =
  all_below d (fun i ->
    all_below d (fun j ->
      if Nat.eqb i j
      then Z.eqb (entry u i j) Integer.zero
      else Z.leb (Z.mul (Z.abs (entry u i j)) ((fun p -> p) lam.qden))
             (Z.mul lam.qnum ((fun p -> p) q0))))

(** val plus_box :
    (triangle * Integer.t) -> triangle -> Integer.t -> triangle * Integer.t **)

let plus_box z0 u q0 =
  ((joined (times ((fun p -> p) q0) (fst z0))
     (times ((fun p -> p) (snd z0)) u)), (Pos.mul (snd z0) q0))

(** val off_whole : nat -> triangle -> Integer.t **)

let off_whole d t0 =
  summed (fun i ->
    summed (fun j ->
      if Nat.eqb i j then Integer.zero else Z.abs (entry t0 i j)) (seq O d))
    (seq O d)

(** val check_sdml :
    (Integer.t -> Integer.t -> Integer.t) -> points -> pair list -> pair list
    -> q -> q -> metric -> metric -> triangle -> Integer.t -> Integer.t ->
    Integer.t -> Integer.t -> Integer.t -> metric -> (q * q) option **)

let check_sdml div x similar dissimilar eta lam a_0 b_0 u q0 v r z_W z_m m =
  let d = x.features in
  let p =
    weights_of_pairs eta.qnum similar
      (weights_of_pairs (Z.opp eta.qnum) dissimilar [])
  in
  let w = plus_box (beside x p eta.qden b_0) u q0 in
  (match det_of div d a_0 with
   | Some _ ->
     (match det_of div d m with
      | Some e ->
        (match last_pivot div d ((fun p -> p) Integer.one)
                 (turned_whole d (fst w)) with
         | Some f ->
           let whole = whole_distance (images (triangle_of m) x.rows) in
           let at_0 = summed (fun s -> whole (fst s) (snd s)) in
           if (&&)
                ((&&)
                  ((&&)
                    ((&&)
                      ((&&) (short x)
                        (all_inside x (rev_append similar dissimilar) []))
                      (prior_ok div d a_0 b_0)) (box_ok d lam u q0))
                  (ln_within div v ((fun p -> p) (power (snd w) d))
                    (Z.to_pos f) z_W r))
                (ln_within div v ((fun p -> p) (power (over_of m) d))
                  (Z.to_pos e) z_m r)
           then Some
                  ((qminus (inject_Z (Z.of_nat d)) { qnum = z_W; qden = r }),
                  (qplus
                    (qplus
                      (qplus { qnum =
                        (inner_whole d (triangle_of m) (triangle_of b_0));
                        qden = (Pos.mul (over_of m) (over_of b_0)) }
                        (qmult eta { qnum =
                          (Z.sub (at_0 similar) (at_0 dissimilar)); qden =
                          (Pos.mul (Pos.mul x.over x.over) (over_of m)) }))
                      { qnum = z_m; qden = r })
                    (qmult lam { qnum = (off_whole d (triangle_of m)); qden =
                      (over_of m) })))
           else None
         | None -> None)
      | None -> None)
   | None -> None)

(** val check_sdml_labels :
    (Integer.t -> Integer.t -> Integer.t) -> points -> Integer.t list -> q ->
    q -> metric -> metric -> triangle -> Integer.t -> Integer.t -> Integer.t
    -> Integer.t -> Integer.t -> metric -> (q * q) option **)

let check_sdml_labels div x y eta lam a_0 b_0 u q0 v r z_W z_m m =
  if Z.eqb (count y) (count x.rows)
  then check_sdml div x (made_pairs y true) (made_pairs y false) eta lam a_0
         b_0 u q0 v r z_W z_m m
  else None

type quadruplet = pair * pair

type compared = (quadruplet * Integer.t) * (Integer.t * Integer.t)

(** val compared_ok :
    row tree -> Integer.t -> Integer.t -> compared -> bool **)

let compared_ok t0 q0 p = function
| (p0, p1) ->
  let (q1, w) = p0 in
  let (_, far) = q1 in
  let (a, b) = p1 in
  let a' = Z.mul a ((fun p -> p) q0) in
  let b' = Z.mul b ((fun p -> p) q0) in
  let w' = Z.mul w ((fun p -> p) p) in
  (&&)
    ((&&) ((&&) (Z.leb Integer.zero a) (Z.leb Integer.zero b))
      (Z.leb Integer.zero w))
    ((||)
      ((||) (Z.eqb a Integer.zero)
        ((&&) (Z.ltb a' w') (Z.leb (Z.mul w' a') (Z.mul b' (Z.sub w' a')))))
      ((&&)
        (forallb (Z.eqb Integer.zero)
          (minus (look [] t0 (fst far)) (look [] t0 (snd far))))
        (Z.leb a' w')))

(** val weights_of_compared : compared list -> weighted list **)

let weights_of_compared l =
  gathered (fun s ->
    let (y, y0) = s in
    let (y1, _) = y in
    let (near, far) = y1 in
    let (a, b) = y0 in
    { weight = a; one = (fst near); other = (snd near) } :: ({ weight =
    (Z.opp b); one = (fst far); other = (snd far) } :: [])) l

(** val residual_above :
    (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) ->
    Integer.t -> Integer.t -> (Integer.t -> Integer.t -> Integer.t) ->
    (quadruplet * Integer.t) -> (Integer.t * Integer.t) * bool **)

let residual_above root div n0 unit0 whole = function
| (q0, w) ->
  let (near, far) = q0 in
  let u = whole (fst near) (snd near) in
  let v = whole (fst far) (snd far) in
  if Z.leb u v
  then ((Integer.zero, Integer.zero), true)
  else let (r, ok) = root_below root div n0 (Pos.mul unit0 unit0) (Z.mul u v)
       in
       (((Z.mul w (Z.add u v)), (Z.mul w r)), ok)

(** val check_lsml :
    (Integer.t -> Integer.t) -> (Integer.t -> Integer.t -> Integer.t) ->
    points -> Integer.t -> (quadruplet * Integer.t) list -> metric -> metric
    -> Integer.t -> Integer.t -> Integer.t -> Integer.t ->
    (Integer.t * Integer.t) list -> Integer.t -> Integer.t -> metric ->
    (q * q) option **)

let check_lsml root div x q0 l a_0 b_0 n0 p v r prices0 z_Z z_m m =
  let d = x.features in
  (match zipped [] l prices0 with
   | Some l0 ->
     (match det_of div d a_0 with
      | Some e_0 ->
        (match det_of div d m with
         | Some e ->
           let w = beside x (weights_of_compared l0) p b_0 in
           (match last_pivot div d ((fun p -> p) Integer.one)
                    (turned_whole d (fst w)) with
            | Some f ->
              let unit0 = Pos.mul (Pos.mul x.over x.over) (over_of m) in
              let found0 =
                gathered (fun s ->
                  (residual_above root div n0 unit0
                    (whole_distance (images (triangle_of m) x.rows)) s) :: [])
                  l
              in
              let o_0 = (fun p -> p) (power (over_of a_0) d) in
              if (&&)
                   ((&&)
                     ((&&)
                       ((&&)
                         ((&&)
                           ((&&) (short x)
                             (all_inside x
                               (gathered (fun s ->
                                 (fst (fst s)) :: ((snd (fst s)) :: [])) l)
                               [])) (prior_ok div d a_0 b_0))
                         (forallb (compared_ok (table x.rows) q0 p) l0))
                       (forallb snd found0))
                     (ln_within div v
                       (Z.mul o_0 ((fun p -> p) (power (snd w) d)))
                       (Z.to_pos (Z.mul e_0 f)) z_Z r))
                   (ln_within div v
                     (Z.mul e_0 ((fun p -> p) (power (over_of m) d)))
                     (Z.to_pos (Z.mul e o_0)) z_m r)
              then Some ((qopp { qnum = z_Z; qden = r }),
                     (qplus
                       (qplus
                         (qminus { qnum =
                           (inner_whole d (triangle_of m) (triangle_of b_0));
                           qden = (Pos.mul (over_of m) (over_of b_0)) }
                           (inject_Z (Z.of_nat d))) { qnum = z_m; qden = r })
                       (qminus { qnum =
                         (summed (fun s -> fst (fst s)) found0); qden =
                         (Pos.mul q0 unit0) }
                         (qmult { qnum = ((fun p -> p)
                           ((fun p -> Integer.shift_left p 1) Integer.one));
                           qden = Integer.one } { qnum =
                           (summed (fun s -> snd (fst s)) found0); qden =
                           (Pos.mul q0 n0) }))))
              else None
            | None -> None)
         | None -> None)
      | None -> None)
   | None -> None)
