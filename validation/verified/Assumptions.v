(** What the theorems rest on: of each that the program needs. *)

From Verified Require Import Check Margins Spread Budget Combinations.

Print Assumptions check_sound.
Print Assumptions mlsvm_sound.
Print Assumptions lmnn_sound.
Print Assumptions lmnn_squared_sound.
Print Assumptions lmnn_labels_sound.
Print Assumptions lmnn_triplets_sound.
Print Assumptions frobmetric_sound.
Print Assumptions rtml_sound.
Print Assumptions dml_eig_sound.
Print Assumptions dml_eig_labels_sound.
Print Assumptions combination_sound.
Print Assumptions combination_value_sound.
Print Assumptions schultz_joachims_sound.
Print Assumptions scml_sound.
