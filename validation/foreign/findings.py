"""The findings of the report: what a package does, with the lines, and the figures that show it.

A sentence is there only if its runs were judged and its figures show it, so that a version that mends it drops it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from mapping import Floats, Inputs, as_own_value, own_value

import cvxml

if TYPE_CHECKING:
    from judge import Judged, Judgement

ML = "metric-learn 0.7.0"


def findings(judgement: Judgement) -> list[str]:
    """All of them, each one line of Markdown."""
    return [
        line
        for each in (
            of_metric_learn,
            of_diagonal_mmc,
            of_sdml,
            of_scml,
            of_lfda,
            of_mlkr,
            of_scikit_learn,
            of_mlpack,
            of_pylmnn,
            of_dlib,
        )
        for line in each(judgement)
    ]


def runs_of(judgement: Judgement, package: str, learner: str) -> list[Judged]:
    """Those of one learner."""
    return [e for e in judgement.judged if (e.run["package"], e.run["learner"]) == (package, learner)]


def of_metric_learn(judgement: Judgement) -> Iterator[str]:
    """LSML, RCA, and what the documentation has of MMC."""
    facts, where = judgement.facts, "[with_metric_learn]"
    found = facts.get("lsml_gradient")
    if found and abs(found["gradient"] - found["differences"]) > 1e-3 * abs(found["differences"]):
        worst = max(e.figures.rel_gap or 0.0 for e in runs_of(judgement, "metric-learn", "LSML"))
        yield (
            f"**{ML}, LSML: the gradient has no weights** (lsml.py 105-106). The loss has w_k of sum 1 (41, 88), the "
            f"gradient adds every violated comparison with weight 1. At twice the identity, on {found['q']} "
            "quadruplets, "
            f"along one direction, `_gradient` is {found['gradient']:.6g} and finite differences of `_total_loss` are "
            f"{found['differences']:.6g}; with its comparisons divided by {found['q']} it would be "
            f"{found['comparisons_divided_by_q']:.6g}. Multiplying what is added at 105 by the comparison's weight "
            f"mends it. The metrics returned are up to {worst:.1%} above the optimum, whatever `tol` is: along each "
            "direction ten fixed lengths are tried (47), and the run ends when none is better (73), without a "
            "warning. "
            f"{where}"
        )
    found = facts.get("lsml_weights")
    if found and found["after"] != 2.0:
        yield (
            f"**{ML}, LSML: the caller's weights are changed** (lsml.py 40-41: `self.w_ = weights`, then `/=`). An "
            "array of "
            f"180 entries 2.0 is one of {found['after']:.6g} after `fit`; one of integers ends in "
            f"`{found['integers']}`. "
            f"`self.w_ = np.array(weights, dtype=float)` would do. {where}"
        )
    found = facts.get("lsml_equal_far_pair")
    if found and found != "no error":
        yield (
            f"**{ML}, LSML: a far pair of equal points** is divided by its distance (lsml.py 106), and `fit` ends in "
            f"`{found}`. The problem has an optimum ([lsml](../../docs/lsml.md#3-edge-cases)). {where}"
        )
    found = facts.get("rca_singular")
    if found and not found["finite"]:
        yield (
            f"**{ML}, RCA: NaN is returned where the covariance within chunklets is singular** (rca.py 82-87 warn, "
            "129-130 "
            f"divide by the roots of eigenvalues that are 0 or, rounded, below). Of {found['points']} points of wine "
            "in two "
            "chunklets `components_` holds NaN, and `fit` raises nothing. There no metric is optimal "
            f"([rca](../../docs/rca.md#3-where-there-is-no-optimum)). {where}"
        )
    rca = runs_of(judgement, "metric-learn", "RCA")
    if rca and any(e.normal.verdict.value == "certified" for e in rca):
        yield (
            f"{ML}, RCA is optimal, by its defaults; with `n_components` below d it is so in the directions that it "
            "keeps, "
            f"and the metric is singular, which the problem does not allow: refuted for that reason alone. {where}"
        )
    if runs_of(judgement, "metric-learn", "MMC"):
        yield (
            f"**{ML}, the documentation of MMC** (doc/weakly_supervised.rst at 0920e07) prints min Σ_S d_M subject "
            f"to "
            "Σ_D "
            "d_M² >= 1; the words above the formula, the code and the paper have the squares in the first and not in "
            "the "
            "second. As printed it is not convex. That of LSML prints tr M M_0 where the code has tr M M_0⁻¹, and a "
            "sum "
            "where it has a mean; that of LMNN a factor c that is no parameter."
        )


def of_diagonal_mmc(judgement: Judgement) -> Iterator[str]:
    """The sign in its line search, and where the sign is from."""
    cells = []
    for each in runs_of(judgement, "metric-learn", "MMC"):
        tight = each.run["settings"].endswith(", tight")
        if each.g is not None and each.g[0] > each.g[1] + 1e-6 * abs(each.g[1]) and not tight:
            cells.append(f"{each.run['data']}, {each.run['settings']}: {each.g[0]:.6g} and {each.g[1]:.6g}")
    if cells:
        yield (
            f"**{ML}, MMC with diagonal=True: the line search has the other sign** (mmc.py 200, 213-214, 224-225) "
            "than the step (204-206). The step is Newton's for g = Σ_similar d² - c log Σ_dissimilar d. The line "
            "search lowers Σ_similar d² + c log Σ_dissimilar d. g at the matrix returned, and the least g: "
            f"{'; '.join(cells)}. The sign is not metric-learn's own: the authors' program has it in lines 67, 87 and "
            "102 of Newton.m (E. Xing, January 15, 2002), and the other sign in line 70. Newton.m was read in "
            "phanein/focused-clustering at 3c3f179, where later edits are marked BP; these lines bear no mark. "
            "The archive that the authors published was not at hand. [with_metric_learn]"
        )


def of_sdml(judgement: Judgement) -> Iterator[str]:
    """It does not run; its default weight; what it returns."""
    facts, where = judgement.facts, "[with_sdml]"
    found = facts.get("sdml", "")
    if "cov_init" in found:
        yield (
            f"**{ML}, SDML does not run with scikit-learn 1.7.2** (sdml.py 82-84): `graphical_lasso` is given "
            "`cov_init`, which it does not take (scikit-learn 1.2.2 takes it). The TypeError is caught with all "
            "others "
            "(90) and "
            "told as a `RuntimeError` about matrices that are not SPD, with the advice to install skggm, whatever "
            "the "
            "data are. `cov_init` is no more than a start, and may be left out. [with_metric_learn]"
        )
    cells = []
    for name, rows in facts.get("sdml_weights", {}).items():
        failed = [each["balance_param"] for each in rows if each["error"]]
        unbounded = [weight for weight in failed if is_unbounded(judgement.given[name], weight)]
        if failed:
            cells.append(
                f"{name}: `fit` raises at {', '.join(f'{w:g}' for w in failed)}, and of these the problem is proved "
                f"to "
                f"be unbounded at {', '.join(f'{w:g}' for w in unbounded) or 'none'}"
            )
    if cells:
        yield (
            f"**{ML}, SDML: its default `balance_param`, 0.5, is too large for a hundred pairs.** S adds the pairs "
            f"up "
            "(sdml.py 57-58), so that with dissimilar ones it is soon indefinite. The problem then has no optimum "
            "for "
            "any solver, which installing skggm does not change. With 60 pairs of each kind and scikit-learn 1.2.2, "
            f"{'; '.join(cells)}. A weight divided by the number of pairs, or a bound of it, "
            f"as in [sdml](../../docs/sdml.md#1-the-problem), would do. {where}"
        )
    runs = runs_of(judgement, "metric-learn", "SDML")
    if runs and all(e.normal.verdict.value == "certified" for e in runs):
        warned = [e for e in runs if any("did not converge" in w["text"] for w in e.run["warnings"])]
        told = "".join(
            f" {e.run['data']}, {e.run['settings']}: warns that it did not converge "
            f'("{e.run["warnings"][0]["text"]}"), where the gap is proved to be {e.figures.gap:.1e}.'
            for e in warned
        )
        yield (
            f"{ML}, SDML, with scikit-learn 1.2.2, is optimal where it returns a metric: relative gaps are at most "
            f"{max(e.figures.rel_gap or 0.0 for e in runs):.1e}.{told} Its documentation (doc/weakly_supervised.rst "
            f"at "
            "0920e07) prints M_0 where the code has M_0⁻¹, and has every two points that are no similar pair as "
            f"dissimilar, where the code has the pairs that are given. {where}"
        )


def is_unbounded(given: Inputs, weight: float) -> bool:
    """Whether SDML of all pairs with this weight is proved to be so."""
    try:
        cvxml.solve("sdml", given.X, given.y, pairs=given.pairs, eta=weight, lam=0.01)
    except ValueError as error:
        return "unbounded" in str(error)
    return False


def of_scml(judgement: Judgement) -> Iterator[str]:
    """Its vectors, a basis that is given, and how far it comes."""
    facts, where = judgement.facts, "[with_metric_learn]"
    found = facts.get("scml_basis")
    if found and found["off"] > 1e-6:
        yield (
            f"**{ML}, SCML: its basis is of rows of the matrix of eigenvectors** (scml.py 291, 294: "
            f"`v[pos_eig_mask]`), "
            "and `eigh` has them in columns: `v[:, pos_eig_mask].T`. The docstring (226) says eigenvectors. Of a "
            f"batch on iris, |A v - (v·A v) v| is up to {found['off']:.2g} of the largest entry of A for the vectors "
            f"drawn, and {found['transposed']:.1e} for those of the transpose. Also, the docstring and the mask (226, "
            "286) "
            "ask for a positive eigenvalue, presumably of A; but eigenvalues of AᵀA are looked at (283), which are "
            "never negative. "
            f"{where}"
        )
    found = facts.get("scml_basis_given", "no error")
    if found != "no error":
        yield (
            f"**{ML}, SCML: an array as `basis` is refused**, which its docstring offers (scml.py 323, 333): `fit` "
            f"ends "
            f"in `{found}` (214). `n_basis` is not set either on that way (202-208, 217). {where}"
        )
    runs = runs_of(judgement, "metric-learn", "SCML")
    if runs:
        cells = "; ".join(f"{e.run['data']}, {e.run['settings']}: {e.figures.rel_gap:.1e}" for e in runs)
        yield (
            f"{ML}, SCML has no stopping rule: `max_iter` stochastic steps, of which the best of every `output_iter` "
            f"is "
            f"returned (scml.py 110-132). Relative gaps, with the basis that it drew: {cells}. `gamma`, which is "
            f"called "
            "the learning rate (342), divides the step (105). `output_iter` is 500 by default (25), its docstring "
            "says "
            f"5000 (348). {where}"
        )


def of_lfda(judgement: Judgement) -> Iterator[str]:
    """The column and the sign."""
    runs = [
        e
        for e in runs_of(judgement, "metric-learn", "LFDA")
        if e.normal.verdict.value == "refuted" and e.normal.diagnosis
    ]
    if runs:
        other = ""
        if not all(e.run["same_again"] for e in runs):
            other = (
                " A second `fit` gives other last digits: the start of scipy's eigsh is random (163), and LFDA has no "
                "`random_state`."
            )
        gaps = "; ".join(
            f"{e.run['data']}, {e.run['settings']}: {e.figures.rel_gap:.1e}, {e.normal.diagnosis[0]}"
            for e in runs
        )
        yield (
            f"**{ML}, LFDA: two lines are not those of its documentation.** lfda.py 125, `np.partition(dist, k, "
            "axis=0)[:, k]`, sorts columns and takes a column: the scales of all points of a class are the distances "
            "to one of "
            "them, the author's program takes row k. 136, `tSb -= _sum_outer(X) / n - tSw`, adds S_w where S_b is "
            "the "
            "mixture's "
            "scatter less S_w: eigenvectors are the same, and eigenvalues larger by 2, which changes `weighted`. "
            f"Relative gaps, and what `check` says: {gaps}. k "
            "is d - 1 at most (106-111), also where classes have more points; and once a class has no more than k, k "
            "stays lowered for those after it (124)."
            f"{other} [with_metric_learn]"
        )


def of_mlkr(judgement: Judgement) -> Iterator[str]:
    """What it counts."""
    found = judgement.facts.get("mlkr_n_iter")
    if found and found["n_iter_"] > found["max_iter"]:
        yield (
            f"**{ML}, MLKR: `n_iter_` counts evaluations of the loss** (mlkr.py 206), and its docstring (87) has "
            f"iterations. With max_iter={found['max_iter']} on wine it is {found['n_iter_']}; `res.nit` is what it "
            "says. That it did not "
            "converge is told only if verbose (159-164). [with_metric_learn]"
        )


def of_scikit_learn(judgement: Judgement) -> Iterator[str]:
    """The gap of graphical_lasso."""
    found = judgement.facts.get("graphical_lasso")
    if not found:
        return
    cells = "; ".join(f"{name}: {v['dual_gap']:.1e} and {v['above_least']:.1e}" for name, v in found.items())
    yield (
        "**scikit-learn 1.7.2, graphical_lasso: what it calls the dual gap is no bound** (covariance/_graph_lasso.py "
        "58-68). "
        "It is tr SM - d + alpha Σ_off |M|, the gap only for a W = M⁻¹ that is feasible for the dual. It is 0 for "
        "the "
        "right "
        "multiple of any M, and may be negative. On the covariance of wine with alpha 0.1, the dual gap and by how "
        "much its "
        f"own objective is above the least one found: {cells}. A pd W with |W_ij - S_ij| <= alpha and W_ii = S_ii, "
        f"as "
        "`covariance_` is but for the tolerance of the inner lasso, gives one: objective - (d + log det W). "
        "[with_metric_learn]"
    )


def of_mlpack(judgement: Judgement) -> Iterator[str]:
    """LMNN and NCA."""
    where, runs = "[with_mlpack]", runs_of(judgement, "mlpack", "LMNN")
    cells = []
    for each in runs:
        if each.run["settings"] == "lbfgs" and each.figures.witness is not None:
            given, best = judgement.given[each.run["data"]], each.figures.witness.metric
            theirs, ours = (of_nearest(given, each.asked, M) for M in (each.asked.metric, best))
            value = each.figures.objective
            cells.append(
                f"{each.run['data']}: {value:.6g} over all impostors, where {each.figures.lower_bound:.6g} is the "
                "least; "
                f"in mlpack's own function {theirs:.6g}, where cvxml's optimum of LMNN has {ours:.6g}"
            )
    if cells:
        yield (
            "**mlpack 4.8.0, LMNN has k impostors of each point** (methods/lmnn/lmnn_function_impl.hpp 260; "
            "constraints_impl.hpp 221-222), k being the number of targets: the k nearest of other classes in the "
            "current "
            "metric. The paper that lmnn.hpp cites sums over all, and the help does not say so. The metrics of "
            "L-BFGS "
            "cost, "
            f"{'; '.join(cells)}. {where}"
        )
    off = [e for e in runs if e.figures.objective is not None]
    worse = [(e, at_identity(judgement, e)) for e in off]
    beyond = [
        f"{e.run['data']}, {e.run['settings']}: {e.figures.objective:.6g} from {s:.6g}" for e, s in worse
    ]
    if beyond:
        yield (
            "mlpack 4.8.0, LMNN, how far each optimizer came from its start, the identity, in the objective of LMNN: "
            f"{'; '.join(beyond)}. Nothing is said of convergence. {where}"
        )
    again = [e for e in judgement.judged if e.run["package"] == "mlpack" and not e.run["same_again"]]
    if again:
        listed = sorted({f"{e.run['learner']}, {e.run['settings']}" for e in again})
        yield (
            f"**mlpack 4.8.0: the same `seed` gives another matrix** when called a second time in one process: "
            f"{'; '.join(listed)} (seed=1, OMP_NUM_THREADS=1); L-BFGS, which draws nothing, gives the same. {where}"
        )
    yield from of_mlpack_functions(judgement.facts.get("functions"), where)
    if runs and max(e.run["transformed"] for e in runs) == 0:
        yield (
            "mlpack 4.8.0, Python: `output` of lmnn and nca is the transpose of the C++ matrix L: `transformed_data` "
            "is "
            "X @ output, so that the metric is output @ output.T and not output.T @ output. Its help "
            "(`help(mlpack.lmnn)`) "
            f'calls it the "learned distance matrix". {where}'
        )


def of_mlpack_functions(found: dict[str, list[float]] | None, where: str) -> Iterator[str]:
    """What its own functions give, called in two ways."""
    if not found:
        return
    whole, batch = found["nca_whole"][0], found["nca_one_batch"][0]
    if abs(batch / whole - 1) > 1e-9:
        yield (
            "**mlpack 4.8.0, NCA: the objective of a batch adds up over its points** "
            "(methods/nca/nca_softmax_error_function_impl.hpp 75-76, 97-99, 110). `numerator` and `denominator` are "
            "set to 0 "
            "once a call and not once a point, so that point i is given the sums of all points before it in the "
            "batch; "
            "under "
            "OpenMP (82) the threads share both. On wine at the identity `Evaluate(L, 0, n)` is "
            f"{batch:.6f}, `Evaluate(L)` and the sum of `Evaluate(L, i, 1)` are {whole:.6f} and "
            f"{found['nca_one_by_one'][0]:.6f}. The gradient sets them anew (186-187). SGD, the default, has batches "
            "of 50. "
            f"Declaring both within the loop mends it. {where}"
        )
    off = [abs(a / b - 1) for a, b in zip(found["lmnn_walked"], found["lmnn_fresh"], strict=True)]
    if max(off) > 1e-9:
        yield (
            "**mlpack 4.8.0, LMNN: the objective depends on what was evaluated before** "
            "(methods/lmnn/lmnn_function_impl.hpp 221-222, 267-275). Norms of the change of L times norms of points "
            "bound the "
            "change of a distance; here they are added to squared distances, those of the default `DistanceType`. "
            "And "
            "a value "
            "is kept where another point has become the l-th impostor. (280 reads `iteration - 1 % updateInterval`, "
            "which is "
            "`iteration - (1 % updateInterval)`.) On wine, along a walk of 30 steps of 0.03 from "
            f"the identity, an object that was evaluated at each step and a new one differ by {max(off):.1e} at "
            f"most, "
            f"relatively. {where}"
        )


def at_identity(judgement: Judgement, each: Judged) -> float:
    """The objective of LMNN at the identity."""
    given = judgement.given[each.run["data"]]
    eye = np.eye(given.X.shape[1])
    return float(cvxml.evaluate(each.asked.method, given.X, given.y, eye, **each.asked.params).objective)


def of_nearest(given: Inputs, asked: Any, M: Floats) -> float:
    """LMNN with as many impostors of each point as it has targets, the nearest in M: what mlpack minimises."""
    pull = push = 0.0
    for i, targets in enumerate(asked.params["targets"]):
        E = given.X - given.X[i]
        D = np.sum((E @ M) * E, axis=1)
        others = np.sort(D[given.y != given.y[i]])[: len(targets)]
        pull += float(D[targets].sum())
        push += float(np.maximum(0.0, 1 + D[targets][:, None] - others).sum())
    return (1 - asked.params["mu"]) * pull + asked.params["mu"] * push


def of_pylmnn(judgement: Judgement) -> Iterator[str]:
    """Missed triplets, and that it does not start."""
    runs, where = runs_of(judgement, "pylmnn", "LargeMarginNearestNeighbor"), "[with_pylmnn]"
    if not runs:
        return
    cells = []
    for each in runs:
        own, bound = own_value(each.run), each.figures.lower_bound
        if own is not None and own < as_own_value(each.asked, bound):
            least = as_own_value(each.asked, bound)
            cells.append(
                f"{each.run['data']}, {each.run['settings']}: {own:.8g}, where {least:.8g} is proved"
            )
    if cells:
        yield (
            "**PyLMNN 1.6.4 misses impostors** (lmnn.py 746-747). Those of a point are looked for within the margin "
            "of `dist_tn[:, -1]`, the distance to its last target. That target is the furthest in input space, and "
            "need "
            "not be so in the metric that is learned; `_find_impostors` (785-787) is documented to take the distance "
            "of "
            "the furthest. So its loss leaves triplets out, and ends "
            "below what "
            f"any metric costs: {'; '.join(cells)}. `dist_tn.max(axis=1)` in place of `dist_tn[:, -1]` mends it. "
            f"{where}"
        )
    yield (
        "**PyLMNN 1.6.4 does not start** with scipy 1.11 or newer: `minimize` is given a matrix as `x0` (lmnn.py "
        "306, "
        "314) and "
        "raises `ValueError: 'x0' must only have one dimension`; `transformation.ravel()` would do, as the loss "
        "reshapes it "
        "(716). Importing it needs GPyOpt, and so GPy, for `find_hyperparams` alone (__init__.py 2), and six. The "
        "loss "
        "is the "
        f"squared hinge (1074), which neither its docstring nor the paper cited there has. {where}"
    )


def of_dlib(judgement: Judgement) -> Iterator[str]:
    """The stopping rule, distances, and the identity as prior."""
    runs, where = runs_of(judgement, "dlib", "vector_normalizer_frobmetric"), "[with_dlib]"
    tight = [e for e in runs if e.run["settings"] == "tight"]
    if tight and all(e.normal.verdict.value == "certified" for e in tight):
        loose = "; ".join(
            f"{e.run['data']}: {e.figures.rel_gap:.1e}" for e in runs if e.run["settings"] == "default"
        )
        yield (
            "dlib 19.24, vector_normalizer_frobmetric, is optimal with epsilon 1e-7, for the problem of the paper: "
            "squared "
            f"distances. With its own epsilon, 0.1, a bound of the gradient, the gaps are, relatively, {loose}. Its "
            "documentation (vector_normalizer_frobmetric_abstract.h 25, 87) asks for plain distances, length(T a - T "
            "near) + 1 < "
            f"length(T a - T far), and says (119) that |T|² is kept small; it is |TᵀT|². {where}"
        )
    cells = []
    for name, run in judgement.facts.get("identity_prior", {}).items():
        T = np.array(run["components"])
        eye = np.eye(len(T))
        X = eye + (T - eye).T @ (T - eye)
        theirs, ours = (with_identity(judgement.given[name], run, M) for M in (T.T @ T, X))
        if ours < theirs:
            cells.append(f"{name}: {theirs:.6g} at TᵀT and {ours:.6g} at X")
    if cells:
        yield (
            "**dlib 19.24, vector_normalizer_frobmetric with `set_uses_identity_matrix_prior(true)`: the transform "
            "is "
            "not that of "
            "its solution** (vector_normalizer_frobmetric.h 457, 483). What is solved is min 1/2 |X - I|² + (C/m) "
            "Σ_t "
            "[1 + "
            "d²_near - d²_far]_+ over X = I + Y, Y psd; returned is T = I + Y^1/2, of rows turned by the "
            "eigenvectors "
            "of Y, so "
            "that TᵀT is not I + Y. With Y = (T - I)ᵀ(T - I) its objective is, "
            f"{'; '.join(cells)}. A T with TᵀT = I + Y has the rows sqrt(1 + y_k) v_kᵀ. X is kept above I, too: it "
            f"can "
            "only "
            "lengthen; and the documentation (120-124) says that |I - T|² is minimised. "
            f"{where}"
        )


def with_identity(given: Inputs, run: dict[str, Any], X: Floats) -> float:
    """1/2 |X - I|² + C times the mean loss, over every near point with every far one."""
    losses = []
    for i, (near, far) in enumerate(zip(run["near"], run["far"], strict=True)):
        D = [np.sum((E @ X) * E, axis=1) for E in (given.X[each] - given.X[i] for each in (near, far))]
        losses.append(np.maximum(0.0, 1 + D[0][:, None] - D[1]).ravel())
    return float(np.sum((X - np.eye(len(X))) ** 2) / 2 + run["params"]["C"] * np.mean(np.concatenate(losses)))
