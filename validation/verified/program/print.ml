(* Fractions as decimals, rounded outwards. *)

type direction = Down | Up

let digits = 25

let ten_to k = Z.pow (Z.of_int 10) k

(* The exponent e with 10^e <= |a / b| < 10^(e + 1), a not 0 *)
let exponent a b =
  let rough = Z.numbits a - Z.numbits b in
  let guess = int_of_float (Float.floor (float_of_int rough *. 0.30103)) in
  let at_least e = if e >= 0 then Z.geq a (Z.mul b (ten_to e)) else Z.geq (Z.mul a (ten_to (-e))) b in
  let rec settle e = if not (at_least e) then settle (e - 1) else if at_least (e + 1) then settle (e + 1) else e in
  settle guess

let decimal direction (value : Q.t) =
  let a = Q.num value and b = Q.den value in
  if Z.sign a = 0 then "0"
  else
    let e = exponent (Z.abs a) b in
    let shift = digits - 1 - e in
    let a, b = if shift >= 0 then (Z.mul a (ten_to shift), b) else (a, Z.mul b (ten_to (-shift))) in
    let whole = match direction with Down -> Z.fdiv a b | Up -> Z.cdiv a b in
    let s = Z.to_string (Z.abs whole) in
    (* rounding may have made it a digit longer *)
    let e = e + String.length s - digits in
    let rec bare n = if n > 1 && s.[n - 1] = '0' then bare (n - 1) else n in
    let s = String.sub s 0 (bare (String.length s)) in
    let tail = String.sub s 1 (String.length s - 1) in
    Printf.sprintf "%s%c%s%s%s"
      (if Z.sign whole < 0 then "-" else "")
      s.[0]
      (if tail = "" then "" else ".")
      tail
      (if e = 0 then "" else Printf.sprintf "e%d" e)

(* An upper bound of the root of a fraction >= 0, to about 60 bits *)
let root_above (value : Q.t) =
  let a = Q.num value and b = Q.den value in
  let shift = max 0 (Z.numbits b - Z.numbits a + 120) in
  let shift = shift + (shift land 1) in
  let under = Z.cdiv (Z.shift_left a shift) b in
  let root = Z.sqrt under in
  let root = if Z.equal (Z.mul root root) under then root else Z.succ root in
  Q.make root (Z.shift_left Z.one (shift / 2))
