(** The program: the checks as OCaml. Numbers become those of zarith (program/integer.ml): this mapping is trusted. *)

Require Import ZArith NArith QArith List.
From Coq Require Import Extraction ExtrOcamlBasic.
From Verified Require Import Arithmetic Check Losses Triplets Margins Spread Budget Combinations Gerrymandering Cases Glml
  Exponentials Softmaxes Logistic Nca Mmc Boostmetric Gmml Logdet Itml Sdml Lsml.

Extract Inductive positive => "Integer.t"
  ["(fun p -> Integer.succ (Integer.shift_left p 1))" "(fun p -> Integer.shift_left p 1)" "Integer.one"]
  "(fun odd even one p -> if Integer.leq p Integer.one then one ()
    else if Integer.testbit p 0 then odd (Integer.shift_right p 1) else even (Integer.shift_right p 1))".
Extract Inductive Z => "Integer.t" ["Integer.zero" "(fun p -> p)" "Integer.neg"]
  "(fun zero pos neg z -> let s = Integer.sign z in
    if s = 0 then zero () else if s > 0 then pos z else neg (Integer.neg z))".
Extract Inductive N => "Integer.t" ["Integer.zero" "(fun p -> p)"]
  "(fun zero pos n -> if Integer.sign n <= 0 then zero () else pos n)".

Extract Constant Pos.succ => "Integer.succ".
Extract Constant Pos.add => "Integer.add".
Extract Constant Pos.mul => "Integer.mul".
Extract Constant Pos.eqb => "Integer.equal".
Extract Constant Pos.eq_dec => "Integer.equal".
Extract Constant Z.opp => "Integer.neg".
Extract Constant Z.add => "Integer.add".
Extract Constant Z.sub => "Integer.sub".
Extract Constant Z.mul => "Integer.mul".
Extract Constant Z.abs => "Integer.abs".
Extract Constant Z.min => "Integer.min".
Extract Constant Z.max => "Integer.max".
Extract Constant Z.eqb => "Integer.equal".
Extract Constant Z.leb => "Integer.leq".
Extract Constant Z.ltb => "Integer.lt".
Extract Constant Z.eq_dec => "Integer.equal".
Extract Constant Z.to_N => "(fun z -> if Integer.sign z < 0 then Integer.zero else z)".
Extract Constant Z.to_pos => "(fun z -> if Integer.sign z <= 0 then Integer.one else z)".
Extract Constant N.succ => "Integer.succ".
Extract Constant N.succ_pos => "Integer.succ".
Extract Constant N.eqb => "Integer.equal".
Extract Constant N.ltb => "Integer.lt".

Extraction "verified.ml" check_mlsvm check_lmnn_labels check_lmnn_triplets check_frobmetric check_rtml
  check_schultz_joachims check_scml combination gains_ok check_dml_eig check_dml_eig_labels check_mmc check_mmc_labels check_gmml check_gmml_labels inverse_shown check_step check_gerrymandering check_glml
  weights_ok set_ok wins_among lam_ok within_budget
  check_mcml soft_ok check_boostmetric share_ok check_ldml check_nca alike
  check_itml check_itml_labels bounded_ok slack_ok check_sdml check_sdml_labels box_ok check_lsml compared_ok det_of prior_ok
  made_pairs triangle_of over_of.
