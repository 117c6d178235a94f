(** What the theorems rest on: of each group together, because one alone takes a second. No theorem rests on more than its
    group does. *)

From Verified Require Import Check Triplets Margins Spread Budget Combinations Inference Greedy Gerrymandering Cases Glml
  Exponentials Softmaxes Logistic Nca Mmc Boostmetric Gmml Logdet Itml Sdml Lsml.

Definition without_axioms :=
  (mlsvm_inside, triplets_inside, dml_eig_inside, combination_inside, mcml_inside, ldml_inside, nca_inside,
   mmc_inside, boostmetric_inside, gmml_inside, itml_inside, sdml_inside, lsml_inside).
Definition with_real_numbers :=
  (check_sound, check_at_most, mlsvm_sound, lmnn_sound, lmnn_squared_sound, lmnn_labels_sound, lmnn_triplets_sound,
   frobmetric_sound, rtml_sound, dml_eig_sound, dml_eig_labels_sound, combination_sound, combination_value_sound,
   schultz_joachims_sound, scml_sound, targeted_exact, loss_augmented_exact, algorithm_2_is_not_exact,
   algorithm_3_misses_a_tie, step_sound, gerrymandering_sound, trace_bound, glml_bound, glml_sound, gmml_bound,
   gmml_sound, gmml_labels_sound).
Definition with_roots :=
  (mmc_sound, mmc_labels_sound).
Definition with_logarithms :=
  (exp_below_correct, exp_above_correct, ln_at_most_correct, log_sum_at_most_correct, mcml_sound, ldml_sound,
   nca_step_above, nca_step_equal, nca_sound, nca_pairs_sound, boostmetric_sound, log_det_bound, ln_within_correct,
   itml_sound, itml_labels_sound, sdml_sound, sdml_labels_sound, lsml_sound).

Print Assumptions without_axioms.
Print Assumptions with_real_numbers.
Print Assumptions with_roots.
Print Assumptions with_logarithms.
