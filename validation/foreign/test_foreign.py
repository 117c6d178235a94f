"""validation/foreign/judge.py on hand-made runs: the mappings, the verdicts, and that the report follows them."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from tests.instances import random_data

FOLDER = Path(__file__).parent
X, Y = random_data(3, 14, 2)
SIMILAR = [[i, j] for i in range(14) for j in range(i) if Y[i] == Y[j]][:9]
DISSIMILAR = [[i, j] for i in range(14) for j in range(i) if Y[i] != Y[j]][:9]
PAIRS = {"similar": SIMILAR, "dissimilar": DISSIMILAR}
QUADRUPLETS = [[*near, *far] for near, far in zip(SIMILAR, DISSIMILAR, strict=True)]
CHUNKLETS = [i // 4 if i < 12 else -1 for i in range(14)]
NEAR = [[j for j in range(14) if Y[i] == Y[j] and j != i][:2] for i in range(14)]
FAR = [[j for j in range(14) if Y[i] != Y[j]][:2] for i in range(14)]
TARGETS = [[j for j in range(14) if Y[i] == Y[j] and j != i][:2] for i in range(14)]
M: FloatArray = np.array([[2.0, 0.5], [0.5, 1.0]])
GIVEN = {
    "LMNN": {"params": {"regularization": 0.3, "max_iter": 9}, "targets": TARGETS},
    "ITML": {
        "params": {"gamma": 2.0, "prior": "identity", "max_iter": 9, "tol": 1e-3},
        "bounds_": [0.5, 3.0],
        "given": {"bounds": [0.5, 3.0]},
    },
    "MMC": {"params": {"diagonal": False, "diagonal_c": 1.0, "init": "identity", "max_iter": 9}},
    "NCA": {"params": {"max_iter": 9}},
    "LSML": {"params": {"prior": "identity", "max_iter": 9, "tol": 1e-3}},
    "RCA": {"params": {}},
    "SDML": {
        "params": {"balance_param": 0.02, "sparsity_param": 0.1, "prior": "identity"},
        "given": {"similar_only": False},
    },
    "SCML": {"params": {"beta": 0.05, "max_iter": 9}, "basis": [[1.0, 0.0], [0.6, 0.8], [0.0, 2.0]]},
    "LFDA": {"params": {"k": None, "n_components": 1, "embedding_type": "orthonormalized"}},
    "MLKR": {"params": {"n_components": None, "max_iter": 9}},
    "LargeMarginNearestNeighbor": {"params": {"weight_push_loss": 0.3, "max_iter": 9}, "targets": TARGETS},
    "vector_normalizer_frobmetric": {"params": {"C": 3.0, "max_iter": 9}, "near": NEAR, "far": FAR},
}
PACKAGES = {
    "LargeMarginNearestNeighbor": "pylmnn",
    "vector_normalizer_frobmetric": "dlib",
}  # else metric-learn


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))


def module(name: str) -> ModuleType:
    return importlib.import_module(name)


def run(learner: str, metric: Any, settings: str = "default", **more: Any) -> dict[str, Any]:
    """As learners.py writes one."""
    package = PACKAGES.get(learner, "metric-learn")
    base = {"package": package, "learner": learner, "settings": settings, "data": "tiny", "given": {}}
    rest = {"own_objective": {}, "printed": [], "warnings": [], "same_again": True, "n_iter_": 3}
    own = {key: value for key, value in more.items() if key != "params"}
    params = {**GIVEN[learner]["params"], **more.get("params", {})}  # type: ignore[dict-item]
    return {
        **base,
        **rest,
        **GIVEN[learner],
        "mahalanobis": np.asarray(metric).tolist(),
        **own,
        "params": params,
    }


def given() -> Any:
    """As inputs.py writes a data set."""
    more = {"quadruplets": QUADRUPLETS, "chunklets": CHUNKLETS, "near": NEAR, "far": FAR}
    return module("mapping").inputs({"X": X.tolist(), "y": Y.tolist(), "pairs": PAIRS, **more})


def judged_all(*runs: dict[str, Any], **facts: Any) -> Any:
    record = {"environment": {"metric-learn": "0.7.0"}, "facts": facts, "runs": list(runs)}
    return module("judge").judge_all({"tiny": given()}, [record])


def asked(learner: str, metric: FloatArray = M, **more: Any) -> Any:
    return module("mapping").question(run(learner, metric, **more), given())


def objective(question: Any) -> float:
    return float(cvxml.evaluate(question.method, X, Y, question.metric, **question.params).objective)


def d2(i: int, j: int, metric: FloatArray = M) -> float:
    return sum((X[i, a] - X[j, a]) * metric[a, b] * (X[i, b] - X[j, b]) for a in range(2) for b in range(2))


def test_lmnn_regularization_weighs_the_pull() -> None:
    targets = [(i, j) for i in range(14) for j in TARGETS[i]]
    pull = sum(d2(i, j) for i, j in targets)
    push = sum(max(0.0, 1 + d2(i, j) - d2(i, k)) for i, j in targets for k in range(14) if Y[k] != Y[i])
    assert objective(asked("LMNN")) == pytest.approx(0.3 * pull + 0.7 * push, rel=1e-12)


def test_itml_holds_squared_distances_to_its_bounds() -> None:
    def term(ratio: float) -> float:
        return ratio - math.log(ratio) - 1

    value = np.trace(M) - math.log(np.linalg.det(M)) - 2
    value += 2.0 * sum(term(max(d2(i, j) / 0.5, 1.0)) for i, j in SIMILAR)
    value += 2.0 * sum(term(min(d2(i, j) / 3.0, 1.0)) for i, j in DISSIMILAR)
    assert objective(asked("ITML")) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("diagonal", [False, True])
def test_mmc_is_judged_within_its_budget_whatever_it_spent(diagonal: bool) -> None:
    metric = np.diag([2.0, 1.0]) if diagonal else M
    spent = sum(d2(i, j, metric) for i, j in SIMILAR)
    question = asked("MMC", metric, params={"diagonal": diagonal})
    assert question.method == ("mmc:diagonal" if diagonal else "mmc")
    assert question.spent == pytest.approx(spent, rel=1e-12)
    total = sum(math.sqrt(d2(i, j, metric)) for i, j in DISSIMILAR)
    assert objective(question) == pytest.approx(-total / math.sqrt(spent), rel=1e-12)
    if not diagonal:  # its own figure, of the matrix as it was returned
        own = module("mapping").as_own_value(question, objective(question))
        assert own == pytest.approx(math.log(total + 1e-6), rel=1e-12)


def test_nca_is_the_sum_of_the_probabilities() -> None:
    f = 0.0
    for i in range(14):
        weights = {j: math.exp(-d2(i, j)) for j in range(14) if j != i}
        f += sum(w for j, w in weights.items() if Y[j] == Y[i]) / sum(weights.values())
    assert objective(asked("NCA")) == pytest.approx(-f, rel=1e-12)


def test_lsml_weighs_by_shares() -> None:
    """The prior is the identity; log det, trace and d are the divergence."""
    weights = [1.0 + k for k in range(9)]
    value = np.trace(M) - math.log(np.linalg.det(M)) - 2
    for w, (a, b, c, d) in zip(weights, QUADRUPLETS, strict=True):
        value += w / 45 * max(0.0, math.sqrt(d2(a, b)) - math.sqrt(d2(c, d))) ** 2
    question = asked("LSML", given={"weights": weights})
    assert objective(question) == pytest.approx(value, rel=1e-12)
    assert module("mapping").as_own_value(question, value) == pytest.approx(value + 2, rel=1e-12)


def test_rca_is_of_its_chunklets() -> None:
    total = 0.0
    for j in range(3):
        points = X[4 * j : 4 * j + 4]
        total += sum(float((x - points.mean(axis=0)) @ M @ (x - points.mean(axis=0))) for x in points)
    assert objective(asked("RCA")) == pytest.approx(total / 12 / math.sqrt(np.linalg.det(M)), rel=1e-12)


@pytest.mark.parametrize("similar_only", [False, True])
@pytest.mark.parametrize("prior", ["identity", "covariance"])
def test_sdml_has_the_inverse_of_its_prior_and_counts_each_pair_once(prior: str, similar_only: bool) -> None:
    dissimilar = [] if similar_only else DISSIMILAR
    value = 0.02 * (sum(d2(i, j) for i, j in SIMILAR) - sum(d2(i, j) for i, j in dissimilar))
    used = X[sorted({i for pair in [*SIMILAR, *dissimilar] for i in pair})]
    inverse = np.eye(2) if prior == "identity" else np.cov(used, rowvar=False)
    value += np.trace(inverse @ M) - math.log(np.linalg.det(M)) + 0.1 * 2 * abs(M[0, 1])
    params = {"prior": prior}
    question = asked("SDML", params=params, given={"similar_only": similar_only})
    assert objective(question) == pytest.approx(value, rel=1e-9)


def test_scml_has_the_mean_over_its_triplets_and_its_own_basis() -> None:
    w, basis = np.array([0.5, 2.0, 0.25]), np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 2.0]])
    metric = (basis.T * w) @ basis
    losses = [
        max(0.0, 1 + d2(i, j, metric) - d2(i, k, metric)) for i in range(14) for j in NEAR[i] for k in FAR[i]
    ]
    value = 0.05 * w.sum() + sum(losses) / len(losses)
    assert objective(asked("SCML", metric)) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("k", "d", "neighbors"), [(None, 2, 1), (None, 9, 7), (3, 9, 3), (12, 9, 8)])
def test_lfda_has_fewer_neighbors_than_features(k: int | None, d: int, neighbors: int) -> None:
    question = asked("LFDA", np.eye(d), params={"k": k})
    assert question.params == {"n_components": 1, "n_neighbors": neighbors, "embedding": "orthonormal"}


def test_mlkr_has_the_last_feature_as_target() -> None:
    of, metric = run("MLKR", [[1.5]]), np.array([[1.5]])
    question = module("mapping").question(of, given())
    points, targets = module("mapping").points(of, given())
    value = 0.0
    for i in range(14):
        weights = [math.exp(-1.5 * (X[i, 0] - X[j, 0]) ** 2) if j != i else 0.0 for j in range(14)]
        value += (X[i, 1] - sum(w * X[j, 1] for j, w in enumerate(weights)) / sum(weights)) ** 2
    found = cvxml.evaluate(question.method, points, targets, metric, **question.params).objective
    assert found == pytest.approx(value, rel=1e-9)


def test_pylmnn_divides_by_the_weight_of_its_squared_push() -> None:
    targets = [(i, j) for i in range(14) for j in TARGETS[i]]
    pull = sum(d2(i, j) for i, j in targets)
    push = sum(max(0.0, 1 + d2(i, j) - d2(i, k)) ** 2 for i, j in targets for k in range(14) if Y[k] != Y[i])
    question = asked("LargeMarginNearestNeighbor")
    own = module("mapping").as_own_value(question, objective(question))
    assert own == pytest.approx(0.7 / 0.3 * pull + push, rel=1e-12)


def test_frobmetric_has_every_near_with_every_far() -> None:
    losses = [max(0.0, 1 + d2(i, j) - d2(i, k)) for i in range(14) for j in NEAR[i] for k in FAR[i]]
    value = float(np.sum(M**2)) / 2 + 3.0 * sum(losses) / len(losses)
    assert objective(asked("vector_normalizer_frobmetric")) == pytest.approx(value, rel=1e-12)


def test_mlpack_has_the_nearest_impostors_alone() -> None:
    value = 0.0
    for i in range(14):
        others = sorted(d2(i, k) for k in range(14) if Y[k] != Y[i])[:2]
        value += sum(
            0.5 * d2(i, j) + sum(0.5 * max(0.0, 1 + d2(i, j) - d) for d in others) for j in TARGETS[i]
        )
    question = asked("LMNN", package="mlpack", params={"regularization": 0.5})
    assert question.params["mu"] == 0.5
    assert module("findings").of_nearest(given(), question, M) == pytest.approx(value, rel=1e-12)


def test_the_identity_as_prior() -> None:
    losses = [max(0.0, 1 + d2(i, j) - d2(i, k)) for i in range(14) for j in NEAR[i] for k in FAR[i]]
    value = float(np.sum((M - np.eye(2)) ** 2)) / 2 + 3.0 * sum(losses) / len(losses)
    found = module("findings").with_identity(given(), run("vector_normalizer_frobmetric", M), M)
    assert found == pytest.approx(value, rel=1e-12)


def test_all_pairs_are_those_of_the_labels() -> None:
    mapping = module("mapping")
    every = {(i, j) for j in range(14) for i in range(j)}
    similar, dissimilar = (
        set(map(tuple, mapping.pairs_of_kind(kind, Y, "all").tolist())) for kind in ("similar", "dissimilar")
    )
    assert similar | dissimilar == every
    assert all(Y[i] == Y[j] for i, j in similar)
    assert all(Y[i] != Y[j] for i, j in dissimilar)


def test_what_has_no_counterpart_is_refused() -> None:
    with pytest.raises(ValueError, match="'identity'"):
        asked("ITML", params={"prior": "covariance"})
    with pytest.raises(ValueError, match=r"'identity'.*'covariance'"):
        asked("SDML", params={"prior": "random"})
    with pytest.raises(ValueError, match="'metric-learn XDML'"):
        module("mapping").question({**run("NCA", M), "learner": "XDML"}, given())


def test_the_least_g_is_attained_at_the_diagonal_optimum_and_nowhere_beaten() -> None:
    mapping, c = module("mapping"), 3.0
    best = cvxml.solve("mmc:diagonal", X, Y, pairs=PAIRS, tol=1e-10)
    least = mapping.least_g(-best.lower_bound, c)
    assert mapping.g(X, best.metric * c / 2, Y, PAIRS, c) == pytest.approx(least, abs=1e-8)
    rng = np.random.default_rng(0)
    others = [np.diag(np.exp(rng.normal(-2, 2, 2))) for _ in range(200)]
    assert min(mapping.g(X, w, Y, PAIRS, c) for w in others) >= least
    loops = sum(d2(i, j) for i, j in SIMILAR)
    loops -= c * math.log(sum(math.sqrt(d2(i, j) + 1e-6) for i, j in DISSIMILAR))
    assert mapping.g(X, M, Y, PAIRS, c, 1e-6) == pytest.approx(loops, rel=1e-12)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"converged_": False, "printed": ["mmc converged at iter 3"]}, False),
        ({"converged_": True}, True),
        ({"printed": ["itml converged at iter: 4, conv = 0.4"]}, True),
        ({"printed": ["LMNN didn't converge in 1000 steps."]}, False),
        ({"printed": ["mmc did not converge, conv = 1"]}, False),
        ({}, None),
    ],
)
def test_what_the_package_says(more: dict[str, Any], said: bool | None) -> None:
    assert module("mapping").says_converged(run("LMNN", M, **more)) is said


def solved(learner: str, **more: Any) -> FloatArray:
    question = asked(learner, **more)
    return cvxml.solve(question.method, X, Y, tol=1e-9, **question.params).metric


def lines_with(token: str, text: str) -> list[str]:
    return [line for line in text.splitlines() if token in line]


@pytest.mark.slow
def test_a_right_matrix_is_certified_a_wrong_one_refuted_and_the_report_says_so(tmp_path: Path) -> None:
    best = asked("MMC", solved("MMC"))
    limits = [
        {"maximised": [0.0, math.log(-value * factor**0.5 + 1e-6)], "t": [1.0]}
        for value, factor in (
            (objective(best), 7.0),
            (objective(asked("MMC", np.eye(2))), asked("MMC", np.eye(2)).spent),
        )
    ]
    both = {"newton": [0.0, 1.0], "line_search": [0.0, 2.0]}
    diagonal: dict[str, Any] = {"params": {"diagonal": True}, "own_objective": both, "printed": []}
    wrong = np.diag([1.0, 9.0])
    said = {"printed": ["itml converged at iter: 8, conv = 0.5"], "n_iter_": 8}
    judgement = judged_all(
        run("LMNN", solved("LMNN"), "right"),
        run("LMNN", 1.1 * solved("LMNN"), "wrong"),
        run("ITML", solved("ITML"), "right", **said),
        run("ITML", 1.1 * solved("ITML"), "wrong", **said),
        run("MMC", 7 * solved("MMC"), "right", own_objective=limits[0]),
        run("MMC", np.eye(2), "wrong", own_objective=limits[1], converged_=True),
        run("MMC", 7 * solved("MMC", **diagonal), "right", **diagonal),
        run("MMC", wrong, "wrong", **diagonal),
        run("NCA", M, own_objective={"maximised": [0.0, -objective(asked("NCA")) / 2]}),
    )
    for each in judgement.judged[:-1]:
        expected = {"certified"} if each.run["settings"] == "right" else {"refuted", "close"}
        assert each.normal.verdict.value in expected, each.run
    text = module("page").page(judgement, "picture.png")
    assert text.count("| certified | certified |") == 4
    assert text.count("| refuted | ") == sum(
        each.normal.verdict.value == "refuted" for each in judgement.judged
    )
    assert "In 2 runs" in text  # of those with a value of the learner's own code
    assert "1.0e+00" in text  # the last claims half of its value
    better = [each.figures.witness.better_by for each in judgement.judged[:-1] if each.figures.witness]
    for name, by in (("ITML", better[1]), ("MMC", better[2])):
        assert f"| {name}, wrong | {by:.6g} |" in text
    assert "| ITML, right |" not in text
    said_so = lines_with('"itml converged', text)
    assert {line.split(":")[0] for line in said_so} == {"- ITML, right", "- ITML, wrong"}
    assert all(" 9" in line for line in said_so)  # its limit of iterations
    assert any("MMC, wrong: " in line for line in lines_with("`converged_` is", text))
    (over,) = lines_with("- MMC, right: Σ_similar d²", text)
    assert " 7 " in over  # 7 times the limit, which is 1 here
    least = module("mapping").least_g(-judgement.judged[7].figures.lower_bound, 1.0)
    assert judgement.judged[7].g[1] == pytest.approx(least, abs=1e-8)
    returned = module("mapping").g(X, wrong, Y, PAIRS, 1.0)
    assert f" {returned:.8g}. " in text
    module("picture").draw(judgement.judged, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_own_bounds_are_judged_against_their_squares_too() -> None:
    """Certified for the bounds it was given; for their squares refuted, unless they are 1."""
    judge = module("judge")
    for bounds, verdict in (([0.5, 3.0], "refuted"), ([1.0, 1.0], "certified")):
        metric = solved("ITML", bounds_=bounds)
        each = judge.judge(run("ITML", metric, bounds_=bounds, given={}), given())
        assert each.normal.verdict.value == "certified"
        assert each.squares.verdict.value == verdict
    assert judge.judge(run("ITML", M), given()).squares is None


def judged_remarks(judged: list[Any]) -> list[str]:
    """On ITML's own bounds, solved to 9e-7: certified at normal, so that no claim is held against it."""
    remarks = module("remarks")
    assert judged[-1].figures.witness is not None
    assert remarks.converged(judged[-1:]) == []
    own: list[str] = remarks.own_bounds(judged[-1])
    assert len(own) == 1
    return own


@pytest.mark.slow
def test_the_report_is_of_the_recorded_runs() -> None:
    """One learner's rows, judged again; the file holds no more than the judge needs."""
    judge, page = module("judge"), module("page")
    folder = FOLDER / "recorded"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 500_000
    data, records = judge.read(folder)
    report = (FOLDER / "report.md").read_text(encoding="utf-8")
    settings = ("squared bounds", "squared bounds, 5 passes", "own bounds")
    every = [run for record in records for run in record["runs"] if run["data"] == "iris"]
    rows = [run for run in every if run["settings"] in settings]
    assert len(rows) == 3
    judged = [judge.judge(row, data["iris"]) for row in rows]
    for row in [*page.table(judged)[2:], *judged_remarks(judged)]:
        assert row in report


def test_the_sources_of_the_report_are_those_of_the_program() -> None:
    report = (FOLDER / "report.md").read_text(encoding="utf-8").splitlines()
    for row in module("page").sources():
        assert row in report


def test_the_sign_of_diagonal_mmc_is_traced_to_the_authors_and_told_only_where_g_is_not_least() -> None:
    both = {"newton": [0.0, 1.0], "line_search": [0.0, 2.0]}
    diagonal: dict[str, Any] = {"params": {"diagonal": True}, "own_objective": both}
    best = 1 / 2 * solved("MMC", **diagonal)  # spends c/2, as a minimum of g does
    told, silent = (
        list(module("findings").of_diagonal_mmc(judged_all(run("MMC", metric, "one", **diagonal))))
        for metric in (np.diag([1.0, 9.0]), best)
    )
    assert silent == []
    assert len(told) == 1
    assert f"{module('mapping').g(X, np.diag([1.0, 9.0]), Y, PAIRS, 1.0):.6g}" in told[0].text
    assert "Newton.m" in told[0].text
    sections = (FOLDER / "report.md").read_text(encoding="utf-8").split("\n### ")
    (section,) = (each for each in sections if "MMC with diagonal=True" in each.splitlines()[0])
    assert "Newton.m" in section


def test_a_finding_is_there_only_where_its_figures_show_it() -> None:
    findings = module("findings")
    wrong = {"q": 9, "gradient": 2.0, "differences": 1.0, "comparisons_divided_by_q": 1.0}
    right = {**wrong, "gradient": 1.0}
    told, silent = (judged_all(run("LSML", M), lsml_gradient=found) for found in (wrong, right))
    gradients = [
        [each for each in findings.findings(judgement) if "LSML" in each.about and "gradient" in each.title]
        for judgement in (told, silent)
    ]
    assert list(map(len, gradients)) == [1, 0]
    wrong = {"sdml": "RuntimeError: unexpected 'cov_init'", "mlkr_n_iter": {"max_iter": 5, "n_iter_": 6}}
    wrong |= {"scml_basis": {"off": 0.5, "transposed": 1e-15}, "scml_basis_given": "ValueError: ambiguous"}
    right = {"sdml": "no error", "mlkr_n_iter": {"max_iter": 5, "n_iter_": 5}}
    right |= {"scml_basis": {"off": 1e-15, "transposed": 0.5}, "scml_basis_given": "no error"}
    assert [len(findings.findings(judged_all(**found))) for found in (wrong, right)] == [4, 0]
    weights = [{"balance_param": weight, "error": "raised"} for weight in (1e-9, 50.0)]
    (found,) = findings.findings(judged_all(sdml_weights={"tiny": weights}))
    assert "| tiny | 1e-09, 50 | 50 |" in found.text  # where it raises, and where the problem is unbounded
    best = run("vector_normalizer_frobmetric", M, "identity prior", components=np.eye(2).tolist())
    assert findings.findings(judged_all(identity_prior={"tiny": best})) == []
    T = np.eye(2) + np.array([[1.0, 0.5], [0.0, 1.0]])
    other = {**best, "components": T.tolist()}
    (found,) = findings.findings(judged_all(identity_prior={"tiny": other}))
    X_of = np.eye(2) + (T - np.eye(2)).T @ (T - np.eye(2))
    values = [findings.with_identity(given(), other, each) for each in (T.T @ T, X_of)]
    assert values[1] < values[0]
    assert f"| tiny | {values[0]:.6g} | {values[1]:.6g} |" in found.text
