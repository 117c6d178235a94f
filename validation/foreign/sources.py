"""What each learner minimises as its code has it, and as its documentation does: with files and lines."""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """d² = (x_i - x_j)ᵀ M (x_i - x_j). `documented`: where it says something else, or "the same"."""

    learner: str
    formula: str
    lines: str
    judged_as: str
    documented: str


XING = (
    "The authors' own program has both signs: Newton.m (E. Xing, January 15, 2002) in phanein/focused-clustering at "
    "3c3f179, line 70; 67, 87, 102"
)

SOURCES = (
    Source(
        "metric-learn LMNN",
        "reg Σ_targets d²_ij + (1 - reg) Σ_targets Σ_l [1 + d²_ij - d²_il]_+, l of another class; reg = "
        "regularization "
        "weighs the pull; targets the nearest in input space",
        "lmnn.py 252, 280, 283-284, 287-295",
        "`lmnn`, mu = 1 - reg, its own targets",
        "Σ_targets d² + c Σ [..]_+, with a c that is no parameter (doc/supervised.rst)",
    ),
    Source(
        "metric-learn ITML",
        "tr M - log det M - d + γ Σ_pairs (ξ/b - log(ξ/b) - 1), d² <= ξ (similar, b = bounds_[0]), d² >= ξ "
        "(dissimilar, b = bounds_[1]); prior the identity",
        "itml.py 65-91",
        "`itml`, gamma = γ, bounds = bounds_, of squared distances, prior identity, its pairs",
        "bounds of d, and no slack (doc/weakly_supervised.rst)",
    ),
    Source(
        "metric-learn MMC",
        "maximise log Σ_dissimilar d subject to Σ_similar d² <= t, t = a hundredth of Σ_similar d² at its start",
        "mmc.py 80, 246-248",
        "`mmc`, its pairs, M divided by what it spends, Σ_similar d²: the direction of the maximum is the same for "
        "every t",
        "in words the same; its formula has min Σ_similar d subject to Σ_dissimilar d² >= 1 "
        "(doc/weakly_supervised.rst): the squares are exchanged, and it is not convex",
    ),
    Source(
        "metric-learn MMC, diagonal",
        "two functions: its Newton step is that of g = Σ_similar d² - c log Σ_dissimilar d, c = diagonal_c; its line "
        "search and its stop go by Σ_similar d² + c log Σ_dissimilar d (1e-6 under each root)",
        "mmc.py 204-206; 200, 213-214, 224-225, 292-295. " + XING,
        "`mmc:diagonal`, its pairs, M divided by what it spends; a minimum of g spends c/2, and has the direction of "
        "the maximum of MMC",
        "as of MMC",
    ),
    Source(
        "metric-learn LSML",
        "tr M - log det M + Σ_k w_k [d_ab - d_cd]_+², w = weights over their sum; prior the identity",
        "lsml.py 41, 84-95",
        "`lsml`, its quadruplets and weights, prior identity",
        "tr M M_0 for tr M M_0⁻¹, M_0 the prior, and Σ_k for the mean (doc/weakly_supervised.rst)",
    ),
    Source(
        "metric-learn RCA",
        "M = C⁻¹, C the covariance within chunklets, by the number of points in chunklets",
        "rca.py 107-109, 121-122, 127-130",
        "`rca`, its chunklets: any multiple of C⁻¹ is a solution",
        'C the same; "the inverse of C⁻¹ is used" (doc/weakly_supervised.rst): C⁻¹ is',
    ),
    Source(
        "metric-learn SDML",
        "tr S M - log det M + lam Σ_{i≠j} |M_ij|, S = M_0⁻¹ + eta Σ_pairs ±(x_i - x_j)(x_i - x_j)ᵀ; M_0 = prior, "
        "eta = "
        "balance_param, lam = sparsity_param; covariance: of the points in pairs, each once; by graphical_lasso, "
        "with "
        "its tol",
        "sdml.py 52-58, 82-84; scikit-learn 1.2.2 covariance/_graph_lasso.py",
        "`sdml`, eta, lam, prior, its pairs",
        "M_0 for M_0⁻¹, and -1 for every two points that are no similar pair (doc/weakly_supervised.rst)",
    ),
    Source(
        "metric-learn SCML",
        "beta Σ w + the mean over triplets of [1 + d²_near - d²_far]_+, M = Σ w_k b_k b_kᵀ, w >= 0; of every "
        "output_iter "
        "steps the best w",
        "scml.py 112-123, 129-132, 188",
        "`scml`, beta, its triplets, the basis that it drew",
        "the sum over triplets in place of the mean (doc/weakly_supervised.rst), which is this with beta over the "
        "number "
        "of triplets",
    ),
    Source(
        "metric-learn LFDA",
        "maximise tr (TᵀS_w T)⁻¹ TᵀS_b' T; S_b' = S_b + 2 S_w, of which eigenvalues are larger by 2; scales of all "
        "points of a class: the ordered distances to one of them",
        "lfda.py 106-113, 125, 133-136, 148",
        "`lfda`, n_components, embedding, n_neighbors = min(k or 7, d - 1)",
        "S_b, and local scaling (doc/supervised.rst); k in its docstring as in the code",
    ),
    Source(
        "metric-learn MLKR",
        "Σ_i (y_i - ŷ_i)², ŷ_i the mean of the others' y_j by exp(-d²)",
        "mlkr.py 184-190",
        "`mlkr`, of the last feature from the others",
        "the same, but for a d that is called squared and printed plain (doc/supervised.rst)",
    ),
    Source(
        "metric-learn NCA",
        "maximise f = Σ_i p_i",
        "nca.py 200-208",
        "`nca`, criterion f",
        "the same",
    ),
    Source(
        "scikit-learn NCA",
        "maximise f = Σ_i p_i",
        "neighbors/_nca.py 497-504",
        "`nca`, criterion f",
        "the same",
    ),
    Source(
        "mlpack LMNN",
        "(1 - reg) Σ_targets d²_ij + reg Σ_targets Σ_l [1 + d²_ij - d²_il]_+, l only the k nearest of the other "
        "classes, k the number of targets; reg = regularization weighs the push",
        "methods/lmnn/lmnn_function_impl.hpp 253, 260, 306; constraints_impl.hpp 221-222",
        "`lmnn`, mu = reg, its targets; all impostors",
        "the paper it cites (lmnn.hpp 38) has all impostors",
    ),
    Source(
        "mlpack NCA",
        "maximise f = Σ_i p_i",
        "methods/nca/nca_softmax_error_function_impl.hpp 60, 305",
        "`nca`, criterion f",
        "the same",
    ),
    Source(
        "pylmnn LMNN",
        "(1 - mu)/mu Σ_targets d²_ij + Σ_targets Σ_l [1 + d²_ij - d²_il]_+², mu = weight_push_loss; l only where "
        "d²_il "
        "is within the margin of the last target, in input space the furthest",
        "lmnn.py 286, 746-747, 1061-1074",
        "`lmnn:squared_hinge`, mu, its targets; all impostors",
        "the paper it cites (210-215) has the plain hinge; _find_impostors (785-787) is to be given the distance of "
        "the "
        "furthest target",
    ),
    Source(
        "dlib vector_normalizer_frobmetric",
        "1/2 ‖X‖² + (C/m) Σ_t [1 + d²_near - d²_far]_+, over m triplets; X = TᵀT",
        "dlib/statistics/vector_normalizer_frobmetric.h 97-129, 462-468, 485",
        "`frobmetric`, C, its triplets",
        "plain distances, d_near + 1 < d_far, and ‖T‖² for ‖X‖² "
        "(vector_normalizer_frobmetric_abstract.h 25, 87, 119)",
    ),
    Source(
        "pyDML LDML",
        "maximise Σ_ij log p_ij (same class) + log(1 - p_ij) (not), p_ij = 1/(1 + exp(d² - b)), over every two "
        "points in "
        "both orders and each point with itself; by gradient steps, of which none is undone",
        "dml/ldml.pyx, `_SDP_fit` and `_compute_error`, at 1d7cd68",
        "read; a run on iris did not end within 200 s. It would be `ldml`, b, every two points once: half of it",
        "the same",
    ),
    Source(
        "pyDML GMML",
        "S⁻¹ #_t D, t = geodesic_step, S and D sums over 40 c (c - 1) pairs drawn for c classes, with repetition "
        "and a "
        "point with itself among them; reg I added to both only where one is next to singular",
        "dml/gmml.pyx 101-118 at ed2cbd4",
        "not run: the release, 0.1.0, has no GMML. It would be `gmml`, weight = t, mu = reg or 0, its pairs",
        "the same",
    ),
)
