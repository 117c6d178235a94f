"""The findings of the report: what a package does, the lines of its code, and the figures that show it.

A finding appears only if its runs were judged and their figures show it. So it disappears if a new version corrects it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mapping import Floats, Inputs, as_own_value, own_value

import cvxml

if TYPE_CHECKING:
    from judge import Judged, Judgement

ML, MLPACK, PYLMNN, DLIB = "metric-learn 0.7.0", "mlpack 4.8.0", "PyLMNN 1.6.4", "dlib 19.24"
FROBMETRIC = "vector_normalizer_frobmetric"


class Finding(NamedTuple):
    """A finding.

    `blocks` are paragraphs and tables of Markdown. `script` is the file of learners/ that shows it, or "". A finding
    that is no `fault` is an observation. `headline` is one sentence for the top of the report; most findings have none.
    """

    about: str
    title: str
    blocks: tuple[str, ...]
    script: str
    fault: bool = True
    headline: str = ""

    @property
    def text(self) -> str:
        """All of it but the number, as Markdown."""
        script = f"Script: {self.script}." if self.script else "Script: none. We read the documentation."
        return "\n\n".join((f"{self.about}: {self.title}", *self.blocks, script))


def findings(judgement: Judgement) -> list[Finding]:
    """Return all findings, in the order of the report."""
    return [
        finding
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
        for finding in each(judgement)
    ]


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown. A bar within a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def runs_of(judgement: Judgement, package: str, learner: str) -> list[Judged]:
    """Return the judged runs of one learner."""
    return [e for e in judgement.judged if (e.run["package"], e.run["learner"]) == (package, learner)]


def of_metric_learn(judgement: Judgement) -> Iterator[Finding]:
    """LSML, RCA, and the documentation of MMC."""
    facts, script = judgement.facts, "with_metric_learn"
    found = facts.get("lsml_gradient")
    if found and abs(found["gradient"] - found["differences"]) > 1e-3 * abs(found["differences"]):
        worst = max(e.figures.rel_gap or 0.0 for e in runs_of(judgement, "metric-learn", "LSML"))
        q = found["q"]
        yield Finding(
            f"{ML}, LSML",
            "the gradient ignores the weights",
            (
                "The loss weighs each violated comparison with its weight w_k. The weights sum to 1 (lsml.py 41, "
                "88). The gradient adds each violated comparison with weight 1 (lsml.py 105-106).",
                "We compared the gradient with finite differences of the loss along one direction. The metric is "
                f"twice the identity, and there are {q} quadruplets.",
                grid(
                    ("computed by", "derivative along the direction"),
                    (
                        ("`_gradient`", f"{found['gradient']:.6g}"),
                        ("finite differences of `_total_loss`", f"{found['differences']:.6g}"),
                        (
                            f"`_gradient`, with its comparisons divided by {q}",
                            f"{found['comparisons_divided_by_q']:.6g}",
                        ),
                    ),
                ),
                f"The returned metrics are up to {worst:.1%} above the optimum, for every `tol`. `fit` tries ten "
                "fixed step lengths along each direction (47). It ends when all ten fail to improve the loss (73), "
                "and it does not warn.",
                "Correction: multiply each term that line 105 adds by the weight of its comparison.",
            ),
            script,
        )
    found = facts.get("lsml_weights")
    if found and found["after"] != 2.0:
        yield Finding(
            f"{ML}, LSML",
            "`fit` changes the caller's weights",
            (
                "`fit` keeps the array of the caller (`self.w_ = weights`), and then divides it in place with `/=` "
                "(lsml.py 40-41). We gave it an array of 180 entries 2.0. After `fit`, each entry is "
                f"{found['after']:.6g}. An array of integers raises `{found['integers']}`.",
                "Correction: `self.w_ = np.array(weights, dtype=float)`.",
            ),
            script,
        )
    found = facts.get("lsml_equal_far_pair")
    if found and found != "no error":
        yield Finding(
            f"{ML}, LSML",
            "`fit` fails if the two points of a far pair are equal",
            (
                "The gradient divides by the distance of the far pair, which is 0 (lsml.py 106). `fit` raises "
                f"`{found}`. The problem has an optimum ([lsml](../../docs/lsml.md#3-edge-cases)).",
            ),
            script,
        )
    found = facts.get("rca_singular")
    if found and not found["finite"]:
        yield Finding(
            f"{ML}, RCA",
            "the result is NaN if the covariance within chunklets is singular",
            (
                "`fit` warns (rca.py 82-87). Then it divides by the square roots of eigenvalues that are 0, or "
                f"negative because of rounding (129-130). We gave it {found['points']} points of wine in two "
                "chunklets. `components_` holds NaN, and `fit` raises no error. For such points no metric is "
                "optimal ([rca](../../docs/rca.md#3-where-there-is-no-optimum)).",
            ),
            script,
        )
    rca = runs_of(judgement, "metric-learn", "RCA")
    if rca and any(e.normal.verdict.value == "certified" for e in rca):
        yield Finding(
            f"{ML}, RCA",
            "the default settings give an optimal metric",
            (
                "If `n_components` is below the number of features d, the metric is optimal in the directions that "
                "it keeps. Such a metric is singular, and the problem does not allow a singular metric. This is the "
                "only reason for the verdict *refuted*.",
            ),
            script,
            fault=False,
        )
    if runs_of(judgement, "metric-learn", "MMC"):
        yield Finding(
            f"{ML}, documentation of MMC",
            "the formula is another problem than the code solves",
            (
                "The documentation (doc/weakly_supervised.rst at 0920e07) prints: minimize `Σ_S d_M` subject to "
                "`Σ_D d_M² >= 1`. This problem is not convex. The words above the formula, the code and the paper "
                "have the square in the objective, and no square in the constraint.",
                "Two more formulas of the documentation differ from the code. For LSML, the documentation prints "
                "`tr M M_0` and a sum; the code has `tr M M_0⁻¹` and a mean. For LMNN, the documentation prints a "
                "factor c, which is not a parameter of the code.",
            ),
            "",
        )


def of_diagonal_mmc(judgement: Judgement) -> Iterator[Finding]:
    """The sign in the line search of the diagonal MMC, and its origin."""
    rows = []
    for each in runs_of(judgement, "metric-learn", "MMC"):
        tight = each.run["settings"].endswith(", tight")
        if each.g is not None and each.g[0] > each.g[1] + 1e-6 * abs(each.g[1]) and not tight:
            rows.append((each.run["data"], each.run["settings"], f"{each.g[0]:.6g}", f"{each.g[1]:.6g}"))
    if rows:
        yield Finding(
            f"{ML}, MMC with diagonal=True",
            "the line search has another sign than the step",
            (
                "The step is Newton's step for `g = Σ_similar d² - c log Σ_dissimilar d` (mmc.py 204-206). The line "
                "search lowers another function, `Σ_similar d² + c log Σ_dissimilar d` (200, 213-214, 224-225).",
                grid(("data", "settings", "g of the returned matrix", "least g"), rows),
                "The authors' own program has the same fault. Newton.m (E. Xing, January 15, 2002) has the sign of "
                "the line search in lines 67, 87 and 102, and the sign of the step in line 70. We read Newton.m in "
                "phanein/focused-clustering at 3c3f179. Later edits are marked BP there, and these lines have no "
                "mark. We did not have the archive that the authors published.",
            ),
            "with_metric_learn",
            headline=(
                "the line search has a wrong sign. On {}, the function g is {} for the result, and its minimum is "
                "{}.".format(rows[0][0], *rows[0][2:])
            ),
        )


def of_sdml(judgement: Judgement) -> Iterator[Finding]:
    """SDML: an error for all data, the default weight, and the returned metrics."""
    facts, script = judgement.facts, "with_sdml"
    found = facts.get("sdml", "")
    if "cov_init" in found:
        yield Finding(
            f"{ML}, SDML",
            "`fit` fails for all data with scikit-learn 1.7.2",
            (
                "`fit` calls `graphical_lasso` with the argument `cov_init` (sdml.py 82-84). scikit-learn 1.2.2 "
                "accepts this argument, and scikit-learn 1.7.2 does not. `fit` catches the TypeError together with "
                "all other errors (90). It then raises a `RuntimeError` about matrices that are not SPD, and "
                "advises to install skggm. It does so for all data.",
                "Correction: leave out `cov_init`, which is only a start.",
            ),
            "with_metric_learn",
            headline="`fit` fails for all data with scikit-learn 1.7.2.",
        )
    rows = []
    for name, tried in facts.get("sdml_weights", {}).items():
        failed = [each["balance_param"] for each in tried if each["error"]]
        unbounded = [weight for weight in failed if is_unbounded(judgement.given[name], weight)]
        if failed:
            both = (", ".join(f"{w:g}" for w in weights) for weights in (failed, unbounded))
            rows.append((name, *(listed or "no value" for listed in both)))
    if rows:
        yield Finding(
            f"{ML}, SDML",
            "the default `balance_param`, 0.5, is too large for a hundred pairs",
            (
                "S is a sum over the pairs, not a mean (sdml.py 57-58). With dissimilar pairs, S therefore soon "
                "becomes indefinite. The problem then has no optimum for any solver. The advice to install skggm "
                "does not help.",
                "We tried several values of `balance_param` with 60 pairs of each kind and scikit-learn 1.2.2.",
                grid(("data", "`fit` raises an error at", "the problem is proved unbounded at"), rows),
                "Correction: divide the weight by the number of pairs, or check it against a bound, as in "
                "[sdml](../../docs/sdml.md#1-the-problem).",
            ),
            script,
        )
    runs = runs_of(judgement, "metric-learn", "SDML")
    if runs and all(e.normal.verdict.value == "certified" for e in runs):
        warned = [e for e in runs if any("did not converge" in w["text"] for w in e.run["warnings"])]
        told = "".join(
            f" For {e.run['data']} with the setting *{e.run['settings']}*, `fit` warns that it did not converge "
            f'("{e.run["warnings"][0]["text"]}"). Its proved gap is {e.figures.gap:.1e}.'
            for e in warned
        )
        yield Finding(
            f"{ML}, SDML",
            "the returned metrics are optimal with scikit-learn 1.2.2",
            (
                f"The relative gaps are at most {max(e.figures.rel_gap or 0.0 for e in runs):.1e}.{told}",
                "The documentation (doc/weakly_supervised.rst at 0920e07) differs from the code in two places. It "
                "prints `M_0`, and the code has `M_0⁻¹`. It counts every two points that are not a similar pair as "
                "dissimilar, and the code uses only the given pairs.",
            ),
            script,
            fault=False,
        )


def is_unbounded(given: Inputs, weight: float) -> bool:
    """Return True if SDML of all pairs with this weight is proved unbounded."""
    try:
        cvxml.solve("sdml", given.X, given.y, pairs=given.pairs, eta=weight, lam=0.01)
    except ValueError as error:
        return "unbounded" in str(error)
    return False


def of_scml(judgement: Judgement) -> Iterator[Finding]:
    """SCML: its basis, a given basis, and its gaps."""
    facts, script = judgement.facts, "with_metric_learn"
    found = facts.get("scml_basis")
    if found and found["off"] > 1e-6:
        yield Finding(
            f"{ML}, SCML",
            "the basis has rows of the matrix of eigenvectors",
            (
                "`eigh` returns the eigenvectors as columns, which are `v[:, pos_eig_mask].T`. The code takes rows, "
                "`v[pos_eig_mask]` (scml.py 291, 294). The docstring promises eigenvectors (226).",
                "We computed the residuals `A v - (v·A v) v` for a batch on iris. The table has the largest entry "
                "of a residual, divided by the largest entry of A.",
                grid(
                    ("vectors v", "largest residual"),
                    (
                        ("the vectors that SCML drew", f"{found['off']:.2g}"),
                        ("the vectors of the transposed matrix", f"{found['transposed']:.1e}"),
                    ),
                ),
                "The selection by the sign of the eigenvalues has no effect either. The docstring and the mask "
                "(226, 286) ask for a positive eigenvalue, presumably of A. The code computes the eigenvalues of "
                "AᵀA (283), which are never negative.",
            ),
            script,
        )
    found = facts.get("scml_basis_given", "no error")
    if found != "no error":
        yield Finding(
            f"{ML}, SCML",
            "an array as `basis` is refused",
            (
                f"The docstring offers an array as `basis` (scml.py 323, 333). `fit` then raises `{found}` (214). "
                "For an array, the code does not set `n_basis` either (202-208, 217).",
            ),
            script,
        )
    runs = runs_of(judgement, "metric-learn", "SCML")
    if runs:
        yield Finding(
            f"{ML}, SCML",
            "there is no stopping rule",
            (
                "SCML takes `max_iter` stochastic steps. It looks at every `output_iter`-th metric and returns the "
                "best of these (scml.py 110-132). The relative gaps are for the basis that it drew.",
                grid(
                    ("data", "settings", "relative gap"),
                    [(e.run["data"], e.run["settings"], f"{e.figures.rel_gap:.1e}") for e in runs],
                ),
                "Two parameters differ from their docstrings. `gamma` is called the learning rate (342), but the "
                "step is divided by it (105). The default of `output_iter` is 500 (25), and its docstring states "
                "5000 (348).",
            ),
            script,
            fault=False,
        )


def of_lfda(judgement: Judgement) -> Iterator[Finding]:
    """LFDA: a column instead of a row, and a sign."""
    runs = [
        e
        for e in runs_of(judgement, "metric-learn", "LFDA")
        if e.normal.verdict.value == "refuted" and e.normal.diagnosis
    ]
    if runs:
        other = ""
        if not all(e.run["same_again"] for e in runs):
            other = (
                " A second `fit` gives other last digits: the start of scipy's eigsh is random (163), and LFDA has "
                "no `random_state`."
            )
        rows = [
            (e.run["data"], e.run["settings"], f"{e.figures.rel_gap:.1e}", e.normal.diagnosis[0])
            for e in runs
        ]
        yield Finding(
            f"{ML}, LFDA",
            "two lines differ from the documentation",
            (
                "Line 125 of lfda.py, `np.partition(dist, k, axis=0)[:, k]`, sorts the columns and then takes a "
                "column. So the scales of all points of a class are the distances to one of its points. The "
                "author's program takes row k.",
                "Line 136, `tSb -= _sum_outer(X) / n - tSw`, adds S_w. By definition, S_b is the scatter of the "
                "mixture minus S_w. The eigenvectors do not change. The eigenvalues are larger by 2, which changes "
                "the embedding `weighted`.",
                grid(("data", "settings", "relative gap", "diagnosis of `check`"), rows),
                "Two more points concern k. It is at most d - 1 (106-111), also for classes with more points. If a "
                "class has at most k points, the code lowers k, and k stays lower for all later classes "
                f"(124).{other}",
            ),
            "with_metric_learn",
        )


def of_mlkr(judgement: Judgement) -> Iterator[Finding]:
    """MLKR: the count in `n_iter_`."""
    found = judgement.facts.get("mlkr_n_iter")
    if found and found["n_iter_"] > found["max_iter"]:
        yield Finding(
            f"{ML}, MLKR",
            "`n_iter_` counts evaluations of the loss",
            (
                "The docstring promises the number of iterations (87), but the code counts evaluations of the loss "
                f"(mlkr.py 206). With max_iter={found['max_iter']} on wine, `n_iter_` is {found['n_iter_']}. If MLKR "
                "does not converge, it warns only with `verbose` (159-164).",
                "Correction: use `res.nit`, which is the number of iterations.",
            ),
            "with_metric_learn",
        )


def of_scikit_learn(judgement: Judgement) -> Iterator[Finding]:
    """The gap of graphical_lasso."""
    found = judgement.facts.get("graphical_lasso")
    if not found:
        return
    yield Finding(
        "scikit-learn 1.7.2, graphical_lasso",
        "its dual gap does not bound the error",
        (
            "The number called dual gap is `tr SM - d + alpha Σ_off |M|` (covariance/_graph_lasso.py 58-68). It is "
            "the duality gap only if W = M⁻¹ is feasible for the dual. For every M, there is a multiple with the "
            "value 0. The number can be negative.",
            "The table is for the covariance of wine, with alpha 0.1. The last column is the objective of "
            "graphical_lasso minus the least objective that we found.",
            grid(
                ("M", "number called dual gap", "above the least objective"),
                [(name, f"{v['dual_gap']:.1e}", f"{v['above_least']:.1e}") for name, v in found.items()],
            ),
            "Correction: take a positive definite W with `|W_ij - S_ij| <= alpha` and `W_ii = S_ii`. The gap is "
            "then `objective - (d + log det W)`. `covariance_` is such a W, up to the tolerance of the inner lasso.",
        ),
        "with_metric_learn",
    )


def of_mlpack(judgement: Judgement) -> Iterator[Finding]:
    """LMNN and NCA."""
    script, runs = "with_mlpack", runs_of(judgement, "mlpack", "LMNN")
    rows = []
    for each in runs:
        if each.run["settings"] == "lbfgs" and each.figures.witness is not None:
            given, best = judgement.given[each.run["data"]], each.figures.witness.metric
            theirs, ours = (of_nearest(given, each.asked, M) for M in (each.asked.metric, best))
            values = (each.figures.objective, each.figures.lower_bound, theirs, ours)
            rows.append((each.run["data"], *(f"{value:.6g}" for value in values)))
    if rows:
        yield Finding(
            f"{MLPACK}, LMNN",
            "only k impostors of each point count",
            (
                "k is the number of targets. The loss uses only the k nearest points of other classes in the "
                "current metric (methods/lmnn/lmnn_function_impl.hpp 260; constraints_impl.hpp 221-222). The paper "
                "that lmnn.hpp cites sums over all impostors. The help does not mention this difference.",
                "The table has the runs with L-BFGS. *All* is the objective of the paper, and *own* is the function "
                "that mlpack minimizes.",
                grid(
                    (
                        "data",
                        "all, mlpack's metric",
                        "all, proved lower bound",
                        "own, mlpack's metric",
                        "own, cvxml's optimum of LMNN",
                    ),
                    rows,
                ),
            ),
            script,
        )
    ends = [e for e in runs if e.figures.objective is not None]
    if ends:
        yield Finding(
            f"{MLPACK}, LMNN",
            "the objective at the start and at the end of each run",
            (
                "The start is the identity. The table has the objective of LMNN with all impostors. mlpack does not "
                "report whether it converged.",
                grid(
                    ("data", "settings", "objective at the start", "objective at the end"),
                    [
                        (
                            e.run["data"],
                            e.run["settings"],
                            f"{at_identity(judgement, e):.6g}",
                            f"{e.figures.objective:.6g}",
                        )
                        for e in ends
                    ],
                ),
            ),
            script,
            fault=False,
        )
    again = [e for e in judgement.judged if e.run["package"] == "mlpack" and not e.run["same_again"]]
    if again:
        listed = sorted({f"{e.run['learner']}, {e.run['settings']}" for e in again})
        yield Finding(
            MLPACK,
            "the same `seed` gives another matrix in the second call",
            (
                "These runs returned another matrix when we called them a second time in one process, with seed=1 "
                f"and OMP_NUM_THREADS=1: {'; '.join(listed)}. L-BFGS draws no random numbers, and returned the same "
                "matrix.",
            ),
            script,
        )
    yield from of_mlpack_functions(judgement.facts.get("functions"), script)
    if runs and max(e.run["transformed"] for e in runs) == 0:
        yield Finding(
            f"{MLPACK}, Python",
            "`output` of lmnn and nca is the transpose of the C++ matrix L",
            (
                "`transformed_data` is `X @ output`. So the metric is `output @ output.T`, not `output.T @ output`. "
                "The "
                'help (`help(mlpack.lmnn)`) calls `output` the "learned distance matrix".',
            ),
            script,
            fault=False,
        )


def of_mlpack_functions(found: dict[str, list[float]] | None, script: str) -> Iterator[Finding]:
    """The values of mlpack's own functions, computed in two ways."""
    if not found:
        return
    whole, batch = found["nca_whole"][0], found["nca_one_batch"][0]
    if abs(batch / whole - 1) > 1e-9:
        yield Finding(
            f"{MLPACK}, NCA",
            "the objective of a batch adds up over its points",
            (
                "The code sets `numerator` and `denominator` to 0 once per call, not once per point "
                "(methods/nca/nca_softmax_error_function_impl.hpp 75-76, 97-99, 110). So point i also gets the sums "
                "of all points before it in the batch. With OpenMP (82), the threads share both variables.",
                "The table is for wine, with the identity as L.",
                grid(
                    ("call", "value"),
                    (
                        ("`Evaluate(L, 0, n)`", f"{batch:.6f}"),
                        ("`Evaluate(L)`", f"{whole:.6f}"),
                        ("sum of `Evaluate(L, i, 1)`", f"{found['nca_one_by_one'][0]:.6f}"),
                    ),
                ),
                "The gradient sets both variables to 0 for each point (186-187). SGD is the default, with batches "
                "of 50 points.",
                "Correction: declare both variables within the loop.",
            ),
            script,
            headline="the objective of a batch is wrong, because sums are not reset for each point.",
        )
    off = [abs(a / b - 1) for a, b in zip(found["lmnn_walked"], found["lmnn_fresh"], strict=True)]
    if max(off) > 1e-9:
        yield Finding(
            f"{MLPACK}, LMNN",
            "the objective depends on earlier evaluations",
            (
                "The code bounds the change of a distance by norms of the change of L times norms of points "
                "(methods/lmnn/lmnn_function_impl.hpp 221-222, 267-275). But it adds these bounds to squared "
                "distances, because the default `DistanceType` has squared distances. It also keeps a value if "
                "another point has become the l-th impostor. Line 280 reads `iteration - 1 % updateInterval`, which "
                "means `iteration - (1 % updateInterval)`.",
                "We walked from the identity, on wine, with 30 steps of 0.03. One object was evaluated at each "
                f"step. Its values differ from those of a new object by at most {max(off):.1e}, relatively.",
            ),
            script,
        )


def at_identity(judgement: Judgement, each: Judged) -> float:
    """Return the objective of LMNN at the identity."""
    given = judgement.given[each.run["data"]]
    eye = np.eye(given.X.shape[1])
    return float(cvxml.evaluate(each.asked.method, given.X, given.y, eye, **each.asked.params).objective)


def of_nearest(given: Inputs, asked: Any, M: Floats) -> float:
    """Return the function that mlpack minimizes: LMNN with as many impostors as targets, the nearest in M."""
    pull = push = 0.0
    for i, targets in enumerate(asked.params["targets"]):
        E = given.X - given.X[i]
        D = np.sum((E @ M) * E, axis=1)
        others = np.sort(D[given.y != given.y[i]])[: len(targets)]
        pull += float(D[targets].sum())
        push += float(np.maximum(0.0, 1 + D[targets][:, None] - others).sum())
    return (1 - asked.params["mu"]) * pull + asked.params["mu"] * push


def of_pylmnn(judgement: Judgement) -> Iterator[Finding]:
    """PyLMNN: missed triplets, and an error with newer versions of scipy."""
    runs, script = runs_of(judgement, "pylmnn", "LargeMarginNearestNeighbor"), "with_pylmnn"
    if not runs:
        return
    rows = []
    for each in runs:
        own, least = own_value(each.run), as_own_value(each.asked, each.figures.lower_bound)
        if own is not None and own < least:
            rows.append((each.run["data"], each.run["settings"], f"{own:.8g}", f"{least:.8g}"))
    if rows:
        yield Finding(
            PYLMNN,
            "impostors are missed",
            (
                "PyLMNN looks for impostors of a point within the margin of `dist_tn[:, -1]`, the distance to the "
                "last target of the point (lmnn.py 746-747). This target is the furthest in input space. In the "
                "learned metric another target can be further away. The documentation of `_find_impostors` "
                "(785-787) asks for the distance of the furthest target.",
                "So the loss leaves triplets out. Its final value is below the proved lower bound, which holds for "
                "every metric.",
                grid(("data", "settings", "final loss of PyLMNN", "proved lower bound"), rows),
                "Correction: use `dist_tn.max(axis=1)` instead of `dist_tn[:, -1]`.",
            ),
            script,
        )
    yield Finding(
        PYLMNN,
        "`fit` fails with scipy 1.11 or newer",
        (
            "`fit` gives `minimize` a matrix as `x0` (lmnn.py 306, 314). scipy then raises `ValueError: 'x0' must "
            "only have one dimension`. Correction: use `transformation.ravel()`. The loss reshapes it (716).",
            "The import needs GPyOpt, and therefore GPy, only for `find_hyperparams` (`__init__.py` 2). It also "
            "needs six.",
            "The loss is the squared hinge (1074). The docstring and the paper that it cites do not have the square.",
        ),
        script,
    )


def of_dlib(judgement: Judgement) -> Iterator[Finding]:
    """dlib: the stopping rule, distances, and the identity as prior."""
    runs, script = runs_of(judgement, "dlib", FROBMETRIC), "with_dlib"
    tight = [e for e in runs if e.run["settings"] == "tight"]
    if tight and all(e.normal.verdict.value == "certified" for e in tight):
        loose = "; ".join(
            f"{e.figures.rel_gap:.1e} for {e.run['data']}" for e in runs if e.run["settings"] == "default"
        )
        yield Finding(
            f"{DLIB}, {FROBMETRIC}",
            "the metrics are optimal with epsilon 1e-7",
            (
                "The code solves the problem of the paper, with squared distances. The default epsilon is 0.1, a "
                f"bound on the gradient. It leads to these relative gaps: {loose}.",
                "The documentation (vector_normalizer_frobmetric_abstract.h) differs from the code in two places. "
                "It asks for plain distances, `length(T a - T near) + 1 < length(T a - T far)` (25, 87). It states "
                "that `|T|²` is kept small (119), and the code keeps `|TᵀT|²` small.",
            ),
            script,
            fault=False,
        )
    rows = []
    for name, run in judgement.facts.get("identity_prior", {}).items():
        T = np.array(run["components"])
        eye = np.eye(len(T))
        X = eye + (T - eye).T @ (T - eye)
        theirs, ours = (with_identity(judgement.given[name], run, M) for M in (T.T @ T, X))
        if ours < theirs:
            rows.append((name, f"{theirs:.6g}", f"{ours:.6g}"))
    if rows:
        yield Finding(
            f"{DLIB}, {FROBMETRIC} with `set_uses_identity_matrix_prior(true)`",
            "the returned transform is not that of the solution",
            (
                "The solver minimizes `1/2 |X - I|² + (C/m) Σ_t [1 + d²_near - d²_far]_+` over X = I + Y, with Y "
                "psd (vector_normalizer_frobmetric.h 457, 483). The program returns T = I + Y^1/2, with rows that "
                "are rotated by the eigenvectors of Y. So TᵀT is not I + Y.",
                "We computed Y = (T - I)ᵀ(T - I) and X = I + Y from the returned T.",
                grid(("data", "objective at TᵀT", "objective at X"), rows),
                "Correction: let the rows of T be `sqrt(1 + y_k) v_kᵀ`, with the eigenvalues y_k and eigenvectors "
                "v_k of Y. Then TᵀT = I + Y.",
                "Two more points: the solver keeps X above I, so the transform can only lengthen distances. The "
                "documentation (120-124) states that `|I - T|²` is minimized.",
            ),
            script,
        )


def with_identity(given: Inputs, run: dict[str, Any], X: Floats) -> float:
    """Return 1/2 |X - I|² + C times the mean loss, over every near point with every far one."""
    losses = []
    for i, (near, far) in enumerate(zip(run["near"], run["far"], strict=True)):
        D = [np.sum((E @ X) * E, axis=1) for E in (given.X[each] - given.X[i] for each in (near, far))]
        losses.append(np.maximum(0.0, 1 + D[0][:, None] - D[1]).ravel())
    return float(np.sum((X - np.eye(len(X))) ** 2) / 2 + run["params"]["C"] * np.mean(np.concatenate(losses)))
