(** What the theorems rest on: of each theorem. *)

From Verified Require Import Check Triplets Margins Spread Budget Combinations Inference Greedy Gerrymandering Cases Glml
  Exponentials Softmaxes Logistic Nca Mmc Boostmetric Gmml.

Print Assumptions check_sound.
Print Assumptions check_at_most.
Print Assumptions mlsvm_sound.
Print Assumptions lmnn_sound.
Print Assumptions lmnn_squared_sound.
Print Assumptions lmnn_labels_sound.
Print Assumptions lmnn_triplets_sound.
Print Assumptions frobmetric_sound.
Print Assumptions rtml_sound.
Print Assumptions mlsvm_inside.
Print Assumptions triplets_inside.
Print Assumptions dml_eig_inside.
Print Assumptions combination_inside.
Print Assumptions dml_eig_sound.
Print Assumptions dml_eig_labels_sound.
Print Assumptions combination_sound.
Print Assumptions combination_value_sound.
Print Assumptions schultz_joachims_sound.
Print Assumptions scml_sound.
Print Assumptions targeted_exact.
Print Assumptions loss_augmented_exact.
Print Assumptions algorithm_2_is_not_exact.
Print Assumptions algorithm_3_misses_a_tie.
Print Assumptions step_sound.
Print Assumptions gerrymandering_sound.
Print Assumptions trace_bound.
Print Assumptions glml_bound.
Print Assumptions glml_sound.
Print Assumptions exp_below_correct.
Print Assumptions exp_above_correct.
Print Assumptions ln_at_most_correct.
Print Assumptions log_sum_at_most_correct.
Print Assumptions mcml_sound.
Print Assumptions mcml_inside.
Print Assumptions ldml_sound.
Print Assumptions ldml_inside.
Print Assumptions nca_step_above.
Print Assumptions nca_step_equal.
Print Assumptions nca_sound.
Print Assumptions nca_pairs_sound.
Print Assumptions nca_inside.
Print Assumptions mmc_sound.
Print Assumptions mmc_labels_sound.
Print Assumptions mmc_inside.
Print Assumptions boostmetric_sound.
Print Assumptions boostmetric_inside.
Print Assumptions gmml_bound.
Print Assumptions gmml_sound.
Print Assumptions gmml_labels_sound.
Print Assumptions gmml_inside.
