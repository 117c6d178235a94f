(* Factors of small matrices of fractions, which the proved check of GLML multiplies again. *)

let array rows = Array.of_list (List.map Array.of_list rows)
let lists rows = Array.to_list (Array.map Array.to_list rows)

(* c times the inverse, by elimination with rows exchanged; of a singular matrix, a matrix that is not its inverse *)
let inverse c rows =
  let a = array rows in
  let d = Array.length a in
  let b = Array.init d (fun i -> Array.init d (fun j -> if i = j then c else Q.zero)) in
  for k = 0 to d - 1 do
    let pivot = ref k in
    while !pivot < d && Q.sign a.(!pivot).(k) = 0 do incr pivot done;
    if !pivot < d then begin
      let exchange rows =
        let row = rows.(k) in
        rows.(k) <- rows.(!pivot);
        rows.(!pivot) <- row
      in
      exchange a;
      exchange b;
      let share = Q.inv a.(k).(k) in
      let subtract rows i factor = Array.iteri (fun j x -> rows.(i).(j) <- Q.sub rows.(i).(j) (Q.mul factor x)) rows.(k) in
      a.(k) <- Array.map (Q.mul share) a.(k);
      b.(k) <- Array.map (Q.mul share) b.(k);
      for i = 0 to d - 1 do
        let factor = a.(i).(k) in
        if i <> k && Q.sign factor <> 0 then begin
          subtract a i factor;
          subtract b i factor
        end
      done
    end
  done;
  lists b

(* m and w with the matrix = sum_k m_k w_k w_k^T, m_k > 0, and w_k is 1 at k and 0 before it *)
let terms rows =
  let a = array rows in
  let d = Array.length a in
  let rec from k =
    if k = d then Some []
    else if Q.sign a.(k).(k) <= 0 then None
    else begin
      let m = a.(k).(k) in
      let w = Array.init d (fun j -> if j < k then Q.zero else Q.div a.(k).(j) m) in
      for i = k + 1 to d - 1 do
        for j = k + 1 to d - 1 do
          a.(i).(j) <- Q.sub a.(i).(j) (Q.mul m (Q.mul w.(i) w.(j)))
        done
      done;
      Option.map (fun rest -> (m, Array.to_list w) :: rest) (from (k + 1))
    end
  in
  Option.map List.split (from 0)

(* The same with w_k 0 after k *)
let terms_from_the_last rows =
  let turned = List.rev (List.map List.rev rows) in
  Option.map (fun (m, w) -> (List.rev m, List.rev (List.map List.rev w))) (terms turned)
