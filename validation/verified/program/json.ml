(* A strict reader of JSON. What it cannot read raises Malformed with a reason; no recursion is deeper than DEPTH.
   Numbers are kept as they are written, as a place in the text: what they mean is decided where they are used. *)

exception Malformed of string

type t =
  | Null
  | Bool of bool
  | Number of int * int  (* where it starts and its length *)
  | String of string
  | List of t list
  | Object of (string * t) list

let depth = 64
let most_keys = 1000  (* of one object; those of a saved solution have some dozens *)
let fail at what = raise (Malformed (Printf.sprintf "%s at byte %d" what at))

let is_digit c = c >= '0' && c <= '9'

(* The values of a text may take [free] bytes of memory, and [each] for a letter. The densest honest entries are triplets
   of small indices: four values of 48 bytes in 14 letters or more. *)
let free, each = 1 lsl 25, 14

(* Refuses a text whose values would take more, before anything is made of them. *)
let refuse_many text =
  let bytes = ref 0 in
  let value = function ',' | '[' -> 48 | '{' -> 80 | ':' -> 56 | '"' -> 12 | _ -> 0 in
  String.iter (fun c -> bytes := !bytes + value c) text;
  if !bytes > free + (each * String.length text) then
    raise (Malformed "so many short values that they would take too much memory")

(* The heap may be larger than its content by half only. *)
let () = Gc.set { (Gc.get ()) with space_overhead = 50 }

let parse (text : string) : t =
  refuse_many text;
  let size = String.length text in
  let at = ref 0 in
  let peek () = if !at < size then text.[!at] else '\000' in
  let rec blank () =
    if !at < size then
      match text.[!at] with ' ' | '\t' | '\n' | '\r' -> incr at; blank () | _ -> ()
  in
  let expect c =
    if !at < size && text.[!at] = c then incr at else fail !at (Printf.sprintf "no %C where one must be" c)
  in
  let word name value =
    let n = String.length name in
    if !at + n <= size && String.sub text !at n = name then (at := !at + n; value) else fail !at "an unknown word"
  in
  let digits () =
    let start = !at in
    while is_digit (peek ()) do incr at done;
    if !at = start then fail !at "no digit where one must be"
  in
  let number () =
    let start = !at in
    if peek () = '-' then incr at;
    if peek () = '0' then incr at else digits ();
    if peek () = '.' then (incr at; digits ());
    if peek () = 'e' || peek () = 'E' then begin
      incr at;
      if peek () = '+' || peek () = '-' then incr at;
      digits ()
    end;
    Number (start, !at - start)
  in
  let hex4 () =
    if !at + 4 > size then fail !at "an unfinished escape";
    let value = ref 0 in
    for k = 0 to 3 do
      let c = text.[!at + k] in
      let digit =
        match c with
        | '0' .. '9' -> Char.code c - 48
        | 'a' .. 'f' -> Char.code c - 87
        | 'A' .. 'F' -> Char.code c - 55
        | _ -> fail !at "an escape that is none"
      in
      value := (16 * !value) + digit
    done;
    at := !at + 4;
    !value
  in
  let str () =
    expect '"';
    let buffer = Buffer.create 16 in
    let rec more () =
      if !at >= size then fail !at "an unfinished string";
      match text.[!at] with
      | '"' -> incr at
      | '\\' ->
          incr at;
          let c = peek () in
          incr at;
          (match c with
          | '"' | '\\' | '/' -> Buffer.add_char buffer c
          | 'b' -> Buffer.add_char buffer '\b'
          | 'f' -> Buffer.add_char buffer '\012'
          | 'n' -> Buffer.add_char buffer '\n'
          | 'r' -> Buffer.add_char buffer '\r'
          | 't' -> Buffer.add_char buffer '\t'
          | 'u' ->
              let code = hex4 () in
              if Uchar.is_valid code then Buffer.add_utf_8_uchar buffer (Uchar.of_int code)
              else Buffer.add_string buffer (Printf.sprintf "\\u%04x" code)
          | _ -> fail !at "an escape that is none");
          more ()
      | c when Char.code c < 32 -> fail !at "a control character in a string"
      | c -> Buffer.add_char buffer c; incr at; more ()
    in
    more ();
    Buffer.contents buffer
  in
  let rec value level =
    if level > depth then fail !at "too deeply nested";
    blank ();
    match peek () with
    | '{' -> obj level
    | '[' -> list level
    | '"' -> String (str ())
    | 't' -> word "true" (Bool true)
    | 'f' -> word "false" (Bool false)
    | 'n' -> word "null" Null
    | '-' | '0' .. '9' -> number ()
    | _ -> fail !at "no value where one must be"
  and list level =
    expect '[';
    blank ();
    if peek () = ']' then (incr at; List [])
    else
      let rec more items =
        let items = value (level + 1) :: items in
        blank ();
        if peek () = ',' then (incr at; more items) else (expect ']'; List (List.rev items))
      in
      more []
  and obj level =
    expect '{';
    blank ();
    let seen = Hashtbl.create 16 in
    if peek () = '}' then (incr at; Object [])
    else
      let rec more items =
        blank ();
        let key = str () in
        if Hashtbl.length seen >= most_keys then fail !at "an object with too many keys";
        if Hashtbl.mem seen key then fail !at (Printf.sprintf "%S twice" key);
        Hashtbl.add seen key ();
        blank ();
        expect ':';
        let items = (key, value (level + 1)) :: items in
        blank ();
        if peek () = ',' then (incr at; more items) else (expect '}'; Object (List.rev items))
      in
      more []
  in
  let result = value 0 in
  blank ();
  if !at < size then fail !at "something after the end";
  result
