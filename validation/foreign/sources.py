"""What each learner minimizes according to its code and to its documentation, with files and lines."""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """d² = (x_i - x_j)ᵀ M (x_i - x_j). `documented`: the difference of the documentation, or "the same"."""

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
        "reg Σ_targets d²_ij + (1 - reg) Σ_targets Σ_l [1 + d²_ij - d²_il]_+, with l of another class. reg = "
        "regularization, the weight of the pull. The targets are the nearest points in input space",
        "lmnn.py 252, 280, 283-284, 287-295",
        "`lmnn`, with mu = 1 - reg and its own targets",
        "Σ_targets d² + c Σ [..]_+. c is not a parameter of the code (doc/supervised.rst)",
    ),
    Source(
        "metric-learn ITML",
        "tr M - log det M - d + γ Σ_pairs (ξ/b - log(ξ/b) - 1), with d² <= ξ and b = bounds_[0] for similar pairs, "
        "and d² >= ξ and b = bounds_[1] for dissimilar pairs. The prior is the identity",
        "itml.py 65-91",
        "`itml`, with gamma = γ, bounds = bounds_ of squared distances, the identity as prior, and its pairs",
        "bounds of d, and no slack (doc/weakly_supervised.rst)",
    ),
    Source(
        "metric-learn MMC",
        "maximizes log Σ_dissimilar d subject to Σ_similar d² <= t. t is a hundredth of Σ_similar d² at the start",
        "mmc.py 80, 246-248",
        "`mmc`, with its pairs. We divide M by its Σ_similar d². The direction of the maximum is the same for every t",
        "the text is the same. The formula has min Σ_similar d subject to Σ_dissimilar d² >= 1 "
        "(doc/weakly_supervised.rst): the squares are exchanged, and the problem is not convex",
    ),
    Source(
        "metric-learn MMC, diagonal",
        "two functions. The Newton step is that of g = Σ_similar d² - c log Σ_dissimilar d, with c = diagonal_c. "
        "The line search and the stopping rule use Σ_similar d² + c log Σ_dissimilar d (1e-6 under each root)",
        "mmc.py 204-206; 200, 213-214, 224-225, 292-295. " + XING,
        "`mmc:diagonal`, with its pairs. We divide M by its Σ_similar d². At a minimum of g this sum is c/2, and "
        "the direction is that of the maximum of MMC",
        "the same as for MMC",
    ),
    Source(
        "metric-learn LSML",
        "tr M - log det M + Σ_k w_k [d_ab - d_cd]_+², with w = weights / (sum of the weights). The prior is the "
        "identity",
        "lsml.py 41, 84-95",
        "`lsml`, with its quadruplets and weights, and the identity as prior",
        "tr M M_0 instead of tr M M_0⁻¹, where M_0 is the prior, and Σ_k instead of the mean "
        "(doc/weakly_supervised.rst)",
    ),
    Source(
        "metric-learn RCA",
        "M = C⁻¹. C is the covariance within chunklets: the sum divided by the number of points in chunklets",
        "rca.py 107-109, 121-122, 127-130",
        "`rca`, with its chunklets. Any multiple of C⁻¹ is a solution",
        'C is the same. "the inverse of C⁻¹ is used" (doc/weakly_supervised.rst), but the code uses C⁻¹',
    ),
    Source(
        "metric-learn SDML",
        "tr S M - log det M + lam Σ_{i≠j} |M_ij|, with S = M_0⁻¹ + eta Σ_pairs ±(x_i - x_j)(x_i - x_j)ᵀ. M_0 = "
        "prior, eta = balance_param, lam = sparsity_param. The prior covariance is that of the points in pairs, "
        "each once. The solver is graphical_lasso, with its tol",
        "sdml.py 52-58, 82-84; scikit-learn 1.2.2 covariance/_graph_lasso.py",
        "`sdml`, with eta, lam, the prior and its pairs",
        "M_0 instead of M_0⁻¹, and -1 for every two points that are not a similar pair (doc/weakly_supervised.rst)",
    ),
    Source(
        "metric-learn SCML",
        "beta Σ w + the mean over triplets of [1 + d²_near - d²_far]_+, with M = Σ w_k b_k b_kᵀ and w >= 0. It "
        "looks at w after every output_iter steps, and keeps the best",
        "scml.py 112-123, 129-132, 188",
        "`scml`, with beta, its triplets, and the basis that it drew",
        "the sum over triplets instead of the mean (doc/weakly_supervised.rst). This is the same problem with beta "
        "divided by the number of triplets",
    ),
    Source(
        "metric-learn LFDA",
        "maximizes tr (TᵀS_w T)⁻¹ TᵀS_b' T, with S_b' = S_b + 2 S_w, so the eigenvalues are larger by 2. The scales "
        "of all points of a class are the ordered distances to one of them",
        "lfda.py 106-113, 125, 133-136, 148",
        "`lfda`, with n_components, embedding, and n_neighbors = min(k or 7, d - 1)",
        "S_b, and local scaling (doc/supervised.rst). The docstring describes k as in the code",
    ),
    Source(
        "metric-learn MLKR",
        "Σ_i (y_i - ŷ_i)². ŷ_i is the mean of the y_j of the other points, with the weights exp(-d²)",
        "mlkr.py 184-190",
        "`mlkr`, of the last feature from the others",
        "the same, except for a d that is called squared and printed without the square (doc/supervised.rst)",
    ),
    Source(
        "metric-learn NCA",
        "maximizes f = Σ_i p_i",
        "nca.py 200-208",
        "`nca`, with the criterion f",
        "the same",
    ),
    Source(
        "scikit-learn NCA",
        "maximizes f = Σ_i p_i",
        "neighbors/_nca.py 497-504",
        "`nca`, with the criterion f",
        "the same",
    ),
    Source(
        "mlpack LMNN",
        "(1 - reg) Σ_targets d²_ij + reg Σ_targets Σ_l [1 + d²_ij - d²_il]_+, where l are only the k nearest points "
        "of the other classes, and k is the number of targets. reg = regularization, the weight of the push",
        "methods/lmnn/lmnn_function_impl.hpp 253, 260, 306; constraints_impl.hpp 221-222",
        "`lmnn`, with mu = reg, its targets, and all impostors",
        "the paper that it cites (lmnn.hpp 38) has all impostors",
    ),
    Source(
        "mlpack NCA",
        "maximizes f = Σ_i p_i",
        "methods/nca/nca_softmax_error_function_impl.hpp 60, 305",
        "`nca`, with the criterion f",
        "the same",
    ),
    Source(
        "pylmnn LMNN",
        "(1 - mu)/mu Σ_targets d²_ij + Σ_targets Σ_l [1 + d²_ij - d²_il]_+², with mu = weight_push_loss. l are only "
        "the points with d²_il within the margin of the last target, which is the furthest in input space",
        "lmnn.py 286, 746-747, 1061-1074",
        "`lmnn:squared_hinge`, with mu, its targets, and all impostors",
        "the paper that it cites (210-215) has the hinge without the square. _find_impostors (785-787) asks for the "
        "distance of the furthest target",
    ),
    Source(
        "dlib vector_normalizer_frobmetric",
        "1/2 ‖X‖² + (C/m) Σ_t [1 + d²_near - d²_far]_+, over m triplets, with X = TᵀT",
        "dlib/statistics/vector_normalizer_frobmetric.h 97-129, 462-468, 485",
        "`frobmetric`, with C and its triplets",
        "plain distances, d_near + 1 < d_far, and ‖T‖² instead of ‖X‖² (vector_normalizer_frobmetric_abstract.h 25, "
        "87, 119)",
    ),
    Source(
        "pyDML LDML",
        "maximizes Σ_ij log p_ij (same class) + log(1 - p_ij) (other classes), with p_ij = 1/(1 + exp(d² - b)). The "
        "sum is over every two points in both orders, and each point with itself. The gradient steps are never "
        "undone",
        "dml/ldml.pyx, `_SDP_fit` and `_compute_error`, at 1d7cd68",
        "not judged. We read the code, and a run on iris did not end within 200 s. The problem is `ldml`, with b "
        "and every two points once: half of the sum",
        "the same",
    ),
    Source(
        "pyDML GMML",
        "S⁻¹ #_t D, with t = geodesic_step. S and D are sums over 40 c (c - 1) pairs, drawn for c classes with "
        "repetition. A pair can be a point with itself. reg I is added to both only if one of them is nearly "
        "singular",
        "dml/gmml.pyx 101-118 at ed2cbd4",
        "not judged. The release, 0.1.0, has no GMML. The problem is `gmml`, with weight = t, mu = reg or 0, and "
        "its pairs",
        "the same",
    ),
)
