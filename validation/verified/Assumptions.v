(** What the theorems rest on. *)

From Verified Require Import Margins Spread Budget.

Print Assumptions mlsvm_sound.
Print Assumptions lmnn_sound.
Print Assumptions lmnn_squared_sound.
Print Assumptions made_targets_correct.
Print Assumptions made_triplets_correct.
Print Assumptions targets_in_order_correct.
Print Assumptions frobmetric_sound.
Print Assumptions rtml_sound.
Print Assumptions dml_eig_sound.
Print Assumptions made_pairs_correct.
