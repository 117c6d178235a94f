"""`certify_estimator`: estimators of cvxml and of scikit-learn as they are, those of others by their attributes."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.covariance import GraphicalLasso
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import cvxml
from cvxml.core.metric import FloatArray, components_of
from cvxml.oracle.fitted import PACKAGES
from cvxml.oracle.foreign import METHODS
from tests.instances import random_data, real_data

X, Y = random_data(3, 14, 2)
TARGETS = [[j for j in range(14) if Y[i] == Y[j] and j != i][:2] for i in range(14)]
PAIRS = {
    "similar": [[i, j] for i in range(14) for j in range(i) if Y[i] == Y[j]][:9],
    "dissimilar": [[i, j] for i in range(14) for j in range(i) if Y[i] != Y[j]][:9],
}
TOGETHER = np.array(PAIRS["similar"] + PAIRS["dissimilar"])  # (18, 2) indices, the first 9 of them similar
POINTS, NOISE = (
    np.random.default_rng(1).standard_normal((40, 2)),
    np.random.default_rng(2).standard_normal(40),
)
MIXED = (POINTS, (POINTS[:, 0] + 0.8 * NOISE > 0).astype(int))  # NCA has a maximum here, and none on X
SIDES = np.repeat([1, -1], 9)
QUADRUPLETS = np.concatenate([TOGETHER[:9], TOGETHER[9:]], axis=1)
TRIPLETS = np.array([[i, j, k] for i in range(5) for j in TARGETS[i] for k in range(14) if Y[k] != Y[i]][:12])
CHUNKS = np.array([i // 4 if i < 12 else -1 for i in range(14)])
BASIS = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 2.0]])


def fake(module: str, learner: str, params: dict[str, Any] | None, **attributes: Any) -> Any:
    """An object of a class of that module and name, `get_params` if it has params, and what `fit` sets."""
    body: dict[str, Any] = {"__module__": module}
    if params is not None:
        body["get_params"] = lambda self: params
    made = type(learner, (), body)()
    vars(made).update(attributes)
    return made


def learnt(method: str, y: Any = Y, points: FloatArray = X, **params: Any) -> FloatArray:
    """L of our solution: what a program that is right would keep."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return components_of(cvxml.solve(method, points, y, tol=1e-8, **params).metric)


PLAIN = {"prior": "identity"}
SDML = {"balance_param": 0.02, "sparsity_param": 0.1, "prior": "identity"}
# module, class, its parameters, what else it keeps, what `fit` was given, what is given besides, method, its parameters
RIGHT = {
    "LMNN": (
        *("metric_learn.lmnn", "LMNN", {"regularization": 0.3, "n_neighbors": 2, "n_components": None}),
        *({}, (X, Y), {}, "lmnn", {"mu": 0.7, "n_neighbors": 2}),
    ),
    "LMNN with its targets": (
        *("metric_learn.lmnn", "LMNN", {"regularization": 0.3, "n_neighbors": 2, "n_components": 2}),
        *({}, (X, Y), {"targets": TARGETS}, "lmnn", {"mu": 0.7, "targets": TARGETS}),
    ),
    "ITML": (
        *("metric_learn.itml", "ITML", {"gamma": 2.0, **PLAIN}, {"bounds_": np.array([0.5, 3.0])}),
        *((X[TOGETHER], SIDES), {}, "itml", {"gamma": 2.0, "bounds": [0.5, 3.0], "pairs": PAIRS}),
    ),
    "ITML of indices": (
        *("metric_learn.itml", "ITML", {"gamma": 2.0, **PLAIN}),
        {"bounds_": np.array([0.5, 3.0]), "preprocessor_": lambda indices: X[indices]},
        *((TOGETHER, SIDES), {}, "itml", {"gamma": 2.0, "bounds": [0.5, 3.0], "pairs": PAIRS}),
    ),
    "ITML_Supervised": (
        *("metric_learn.itml", "ITML_Supervised", {"gamma": 2.0, **PLAIN}, {"bounds_": [0.5, 3.0]}),
        *((X, Y), {"pairs": PAIRS}, "itml", {"gamma": 2.0, "bounds": [0.5, 3.0], "pairs": PAIRS}),
    ),
    "MMC": (
        *("metric_learn.mmc", "MMC", {"diagonal": False}, {}),
        *((X[TOGETHER], SIDES), {}, "mmc", {"pairs": PAIRS}),
    ),
    "MMC, diagonal": (
        *("metric_learn.mmc", "MMC", {"diagonal": True}, {}),
        *((X[TOGETHER], SIDES), {}, "mmc:diagonal", {"pairs": PAIRS}),
    ),
    "SDML": (
        *("metric_learn.sdml", "SDML", SDML, {}, (X[TOGETHER], SIDES), {}),
        *("sdml", {"eta": 0.02, "lam": 0.1, "pairs": PAIRS}),
    ),
    "LSML": (
        *("metric_learn.lsml", "LSML", PLAIN, {}, (X[QUADRUPLETS], None), {}),
        *("lsml", {"quadruplets": QUADRUPLETS}),
    ),
    "LSML, weighted": (
        *("metric_learn.lsml", "LSML", PLAIN, {}, (X[QUADRUPLETS], None), {"weights": np.arange(1.0, 10.0)}),
        *("lsml", {"quadruplets": QUADRUPLETS, "weights": np.arange(1.0, 10.0)}),
    ),
    "SCML": (
        *("metric_learn.scml", "SCML", {"beta": 0.05, "basis": "triplet_diffs"}, {}),
        *((X[TRIPLETS], None), {"basis": BASIS}),
        *("scml", {"beta": 0.05, "basis": BASIS, "triplets": TRIPLETS}),
    ),
    "RCA": ("metric_learn.rca", "RCA", {}, {}, (X, CHUNKS), {}, "rca", {"chunklets": CHUNKS}),
    "LFDA": (
        *(
            "metric_learn.lfda",
            "LFDA",
            {"k": None, "n_components": 1, "embedding_type": "orthonormalized"},
            {},
        ),
        *((X, Y), {}, "lfda", {"n_components": 1, "n_neighbors": 1, "embedding": "orthonormal"}),
    ),
    "MLKR": ("metric_learn.mlkr", "MLKR", {"n_components": None}, {}, (X[:, :1], X[:, 1]), {}, "mlkr", {}),
    "NCA": ("metric_learn.nca", "NCA", {"n_components": 1}, {}, MIXED, {}, "nca", {"n_components": 1}),
    "pylmnn": (
        *("pylmnn.lmnn", "LargeMarginNearestNeighbor", {"weight_push_loss": 0.3, "n_neighbors": 2}, {}),
        *((X, Y), {}, "lmnn:squared_hinge", {"mu": 0.3, "n_neighbors": 2}),
    ),
    "pyDML LMNN": (
        *("dml.lmnn", "LMNN", None, {"mu_": 0.3, "k_": 2, "num_dims_": None}),
        *((X, Y), {}, "lmnn", {"mu": 0.3, "n_neighbors": 2}),
    ),
    "pyDML NCA": ("dml.nca", "NCA", None, {"num_dims_": 1}, MIXED, {}, "nca", {"n_components": 1}),
    "pyDML MCML": ("dml.mcml", "MCML", None, {"num_dims_": None}, (X, Y), {}, "mcml", {}),
    "pyDML LDML": ("dml.ldml", "LDML", None, {"b_": 0.5, "num_dims_": None}, (X, Y), {}, "ldml", {"b": 0.5}),
    "pyDML LSI": ("dml.lsi", "LSI", None, {"supv_": True}, (X, Y), {}, "mmc", {}),
    "pyDML DML_eig": ("dml.dml_eig", "DML_eig", None, {}, (X, Y), {}, "dml_eig", {}),
}


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", RIGHT)
def test_what_solves_the_problem_of_its_parameters_is_certified_and_what_does_not_is_not(name: str) -> None:
    module, learner, params, kept, (points, y), given, method, asked = RIGHT[name]
    with_these = (y, points) if method in ("mlkr", "nca") else (Y, X)
    L = learnt(method, *with_these, **asked)
    scale = (
        3.0 if method in ("mmc", "mmc:diagonal", "dml_eig", "rca") else 1.0
    )  # of which any multiple is right
    own = {"M_": scale * L.T @ L} if module.startswith("dml.") else {"components_": np.sqrt(scale) * L}
    right = cvxml.certify_estimator(fake(module, learner, params, **kept, **own), points, y, **given)
    assert (right.method, right.verdict) == (method, "certified"), str(right)
    bent = L @ np.diag(np.linspace(1.0, 1.5, L.shape[1])) if L.shape[1] > 1 else 1.5 * L
    wrong = {"M_": bent.T @ bent} if module.startswith("dml.") else {"components_": bent}
    report = cvxml.certify_estimator(
        fake(module, learner, params, **kept, **wrong), points, y, diagnosed=False, **given
    )
    assert report.verdict in ("close", "refuted"), str(report)


def test_every_learner_of_an_estimator_is_tried() -> None:
    tried = {(PACKAGES[row[0].split(".")[0]], row[1].removesuffix("_Supervised")) for row in RIGHT.values()}
    elsewhere = {("scikit-learn", "NeighborhoodComponentsAnalysis")}
    assert {key for key in METHODS if key[0] in PACKAGES.values()} == tried | elsewhere


def test_a_preprocessor_of_points() -> None:
    params = {"regularization": 0.3, "n_neighbors": 2}
    model = fake(
        "metric_learn.lmnn",
        "LMNN",
        params,
        components_=learnt("lmnn", mu=0.7, n_neighbors=2),
        preprocessor_=lambda indices: X[indices],
    )
    assert cvxml.certify_estimator(model, np.arange(14), Y).verdict == "certified"


def test_a_covariance_as_prior_is_of_the_points_in_pairs() -> None:
    prior = np.linalg.inv(np.cov(X[np.unique(TOGETHER)].T))
    model = fake(
        "metric_learn.sdml",
        "SDML",
        {**SDML, "prior": "covariance"},
        components_=learnt("sdml", eta=0.02, lam=0.1, prior=prior, pairs=PAIRS),
    )
    assert cvxml.certify_estimator(model, X[TOGETHER], SIDES).verdict == "certified"


def test_scikit_learns_nca_itself() -> None:
    points, y = MIXED
    model = NeighborhoodComponentsAnalysis(init="identity", n_components=1, tol=1e-12, max_iter=500).fit(
        points, y
    )
    report = cvxml.certify_estimator(model, points, y, tol="loose")
    assert (report.method, report.verdict) == ("nca", "certified")
    early = NeighborhoodComponentsAnalysis(init="identity", n_components=1, max_iter=2).fit(points, y)
    assert cvxml.certify_estimator(early, points, y, tol="loose").verdict != "certified"


def test_a_class_that_is_derived_from_a_known_one_is_known() -> None:
    class Mine(NeighborhoodComponentsAnalysis):  # type: ignore[misc]
        pass

    model = Mine(init="identity", max_iter=5).fit(X, Y)
    assert cvxml.certify_estimator(model, X, Y, diagnosed=False).method == "nca"


@pytest.mark.parametrize(
    ("model", "fit"),
    [
        (cvxml.MLSVM(lam=0.3, n_neighbors=2), {}),
        (cvxml.LMNN(n_neighbors=2), {}),
        (cvxml.ITML(), {"pairs": PAIRS}),
        (cvxml.FrobMetric(), {"triplets": TRIPLETS.tolist()}),
        (cvxml.KernelMLSVM(n_neighbors=2), {}),
    ],
    ids=lambda each: type(each).__name__,
)
def test_our_own(model: Any, fit: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, Y, **fit)
    report = cvxml.certify_estimator(model, X, Y)
    assert (report.method, report.verdict) == (model.solution_.method, "certified")
    for other in (2 * X, X[::-1], X[1:]):
        refused(f"{type(model).__name__} was fitted to other points", model, other, Y[: len(other)])
    if not fit:
        refused("other labels", model, X, Y[::-1])


def test_columns_in_another_order_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = cvxml.LMNN(n_neighbors=2).fit(frame, Y)
    assert cvxml.certify_estimator(model, frame, Y).verdict == "certified"
    refused("columns.*'a', 'b'", model, frame[["b", "a"]], Y)


def test_a_regression_on_other_targets_is_not_judged() -> None:
    targets = X[:, 0] + 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cvxml.MLKR(max_iter=20).fit(X, targets)
        assert cvxml.certify_estimator(model, X, targets, diagnosed=False).method == "mlkr"
    refused("MLKR.*other labels", model, X, targets[::-1])


def test_an_estimator_is_judged_at_the_tolerance_of_its_fit() -> None:
    """Gerrymandering is fitted at 1e-4, and leaves more than 1e-6 to gain."""
    points, y = real_data("iris", 60)
    model = cvxml.Gerrymandering().fit(points, y)
    report = cvxml.certify_estimator(model, points, y)
    assert (report.tol, report.verdict) == (1e-4, "certified")
    stricter = cvxml.certify_estimator(model, points, y, tol="normal", diagnosed=False)
    assert (stricter.tol, stricter.verdict) == (1e-6, "close")
    model.set_params(tol=1e-2)  # says nothing of the last fit
    assert cvxml.certify_estimator(model, points, y).tol == 1e-4
    assert cvxml.certify_estimator(model.fit(points, y), points, y).tol == 1e-2


@pytest.mark.parametrize(
    "model", [cvxml.MLSVM(n_neighbors=2, tol="loose"), cvxml.PLML(2, 2, graph_neighbors=2, tol=1e-4)], ids=str
)
def test_a_tolerance_of_a_fit_may_be_a_word(model: Any) -> None:
    report = cvxml.certify_estimator(model.fit(X, Y), X, Y)
    assert (report.tol, report.verdict) == ({"loose": 1e-3}.get(model.tol, model.tol), "certified")


def test_an_estimator_of_another_package_is_judged_at_1e_6() -> None:
    points, y = MIXED
    model = NeighborhoodComponentsAnalysis(init="identity", n_components=1, tol=1e-12, max_iter=500)
    assert cvxml.certify_estimator(model.fit(points, y), points, y, diagnosed=False).tol == 1e-6


def test_an_estimator_that_was_changed_after_its_fit_is_refused() -> None:
    """What it would be judged by is no longer what it does, or says."""
    model = cvxml.MLSVM(lam=0.3, n_neighbors=2).fit(X, Y)
    model.set_params(lam=3.0)
    with pytest.raises(ValueError, match=r"^lam.*3\.0.*0\.3.*MLSVM"):
        cvxml.certify_estimator(model, X, Y)
    assert cvxml.certify_estimator(model, X, Y, lam=0.3).verdict == "certified"
    model.set_params(lam=0.3)
    model.components_ = np.eye(len(model.components_))
    with pytest.raises(ValueError, match=r"components_.*MLSVM"):
        cvxml.certify_estimator(model, X, Y)


def test_what_is_given_goes_before_the_estimator_s_own() -> None:
    """A metric for lam = 0.3 is that of lam = 0.3, whatever the estimator says, and not that of lam = 3."""
    model = cvxml.MLSVM(lam=0.3, n_neighbors=2).fit(X, Y)
    assert cvxml.certify_estimator(model, X, Y, lam=0.3, diagnosed=False).verdict == "certified"
    other = cvxml.certify_estimator(model, X, Y, lam=3.0, diagnosed=False)
    assert other.verdict == "refuted"
    assert other.about is not None
    assert other.about.params["lam"] == ("3", "given")


def refused(tokens: str, model: Any, *of: Any, **given: Any) -> None:
    with pytest.raises(ValueError, match=tokens):
        cvxml.certify_estimator(model, *of, **given)


def test_what_cannot_be_mapped_is_refused_with_a_sentence() -> None:
    L, lmnn = np.eye(2), {"regularization": 0.3, "n_neighbors": 2}
    refused("GraphicalLasso", GraphicalLasso(), X, Y)
    refused("LMNN.*fitted", cvxml.LMNN(), X, Y)
    refused("LMNN.*fitted", fake("metric_learn.lmnn", "LMNN", lmnn), X, Y)
    of_one = fake("metric_learn.lmnn", "LMNN", {**lmnn, "n_components": 1}, components_=L[:1])
    refused("n_components=1.*convex", of_one, X, Y)
    drawn = fake("metric_learn.mmc", "MMC_Supervised", {"diagonal": False}, components_=L)
    refused("MMC_Supervised.*pairs=", drawn, X, Y)
    scml = fake("metric_learn.scml", "SCML", {"beta": 0.1, "basis": "triplet_diffs"}, components_=L)
    refused("SCML.*basis=", scml, X[TRIPLETS])
    mmc = fake("metric_learn.mmc", "MMC", {"diagonal": False}, components_=L)
    refused(r"MMC.*pairs.*\(n, 2, d\)", mmc, X, Y)
    refused("y of .1 and -1", mmc, X[TOGETHER], np.arange(18))
    lsml = fake("metric_learn.lsml", "LSML", {"prior": "random"}, components_=L)
    refused("prior='random'.*'identity'", lsml, X[QUADRUPLETS])
    refused(
        "SDML.*'identity'",
        fake("metric_learn.sdml", "SDML", {**SDML, "prior": "random"}, components_=L),
        X[TOGETHER],
        SIDES,
    )
    lsi = fake("dml.lsi", "LSI", None, supv_=False, M_=L)
    refused("LSI.*pairs=", lsi, X)
    nca = fake("metric_learn.nca", "NCA", {"n_components": None}, components_=np.eye(3))
    refused(r"NCA.*3 features.*\(14, 2\)", nca, X, Y)


def a_learner() -> cvxml.LMNN:
    """A learner that is not fitted."""
    return cvxml.LMNN(n_neighbors=2)


SCALED = StandardScaler().fit_transform(X)


def same_as_bare(whole: Any, learner: Any, points: FloatArray) -> None:
    """The verdict, bound and gap of the whole are those of the learner on the transformed points."""
    of_whole = cvxml.certify_estimator(whole, X, Y, diagnosed=False)
    bare = cvxml.certify_estimator(learner, points, Y, diagnosed=False)
    for name in ("method", "verdict", "tol", "objective", "lower_bound"):
        assert getattr(of_whole, name) == getattr(bare, name), name


def fitted(model: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, Y)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "learner",
    [
        a_learner(),
        cvxml.LMNN(n_neighbors=2, max_iter=1),
        cvxml.KernelMLSVM(n_neighbors=2),
        cvxml.PLML(2, 2, graph_neighbors=2, tol=1e-4),
        NeighborhoodComponentsAnalysis(n_components=1, max_iter=5),
    ],
    ids=str,
)
def test_a_pipeline_is_judged_as_its_learner_on_the_transformed_points(learner: Any) -> None:
    last = [] if isinstance(learner, cvxml.PLML) else [PCA(), KNeighborsClassifier(2)]  # PLML is a classifier
    model = fitted(make_pipeline(StandardScaler(), "passthrough", learner, *last))
    same_as_bare(model, model[2], SCALED)
    same_as_bare(model[:3], model[2], SCALED)


def test_a_pipeline_with_a_certified_metric_is_certified_and_with_another_one_is_not() -> None:
    model = fitted(make_pipeline(StandardScaler(), a_learner(), KNeighborsClassifier(2)))
    assert cvxml.certify_estimator(model, X, Y).verdict == "certified"
    kept = (("scaler", StandardScaler().fit(X)), ("lmnn", fake(*RIGHT["LMNN"][:3], components_=np.eye(2))))
    assert cvxml.certify_estimator(Pipeline([*kept]), X, Y, diagnosed=False).verdict == "refuted"


def test_the_last_of_two_learners_is_judged_and_a_slice_chooses_the_first() -> None:
    model = fitted(
        make_pipeline(StandardScaler(), a_learner(), cvxml.MLSVM(n_neighbors=2), KNeighborsClassifier(2))
    )
    same_as_bare(model, model[2], model[:2].transform(X))
    same_as_bare(model[:2], model[1], SCALED)


@pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
def test_a_search_is_judged_as_its_best_estimator(kind: Any) -> None:
    few = {"n_iter": 2} if kind is RandomizedSearchCV else {}
    search = fitted(
        kind(
            make_pipeline(StandardScaler(), cvxml.MLSVM(n_neighbors=1), KNeighborsClassifier(2)),
            {"mlsvm__lam": [0.1, 1.0]},
            cv=2,
            **few,
        )
    )
    best = search.best_estimator_[1]
    assert best.lam in (0.1, 1.0)
    same_as_bare(search, best, SCALED)


def test_pipelines_and_searches_may_be_nested() -> None:
    alone = GridSearchCV(
        cvxml.MLSVM(n_neighbors=2), {"lam": [0.1, 1.0]}, cv=2, scoring=lambda model, X, y: model.lam
    )
    inner = fitted(
        make_pipeline(StandardScaler(), make_pipeline(FunctionTransformer(), alone), KNeighborsClassifier(2))
    )
    search = inner[1][1]
    assert search.best_params_ == {"lam": 1.0}
    same_as_bare(inner, search.best_estimator_, SCALED)
    same_as_bare(fitted(alone), fitted(cvxml.MLSVM(lam=1.0, n_neighbors=2)), X)


def test_an_error_in_a_pipeline_names_the_step() -> None:
    steps = [("scaler", StandardScaler()), ("lmnn", a_learner()), ("knn", KNeighborsClassifier(2))]
    model = fitted(Pipeline(steps))
    refused("^step 'scaler'.*StandardScaler", Pipeline(steps), X, Y)
    refused("^step 'scaler'.*3 features", model, np.eye(3), Y)
    refused("^step 'lmnn'.*LMNN.*fit", Pipeline([steps[1], steps[2]]), X, Y)
    refused("^step 'outer', step 'lmnn'.*LMNN.*fit", Pipeline([("outer", Pipeline(steps[1:]))]), X, Y)
    refused("^step 'lmnn'.*other points", model, X[:9], Y[:9])
    refused("^step 'lmnn'.*other points", model, 1.001 * X, Y)
    model.set_params(lmnn__mu=0.9)
    refused("^step 'lmnn'.*mu.*0.9", model, X, Y)
    sampler = fake("sklearn.other", "Sampler", {})
    refused("^step 'drawn'.*Sampler.*transform", Pipeline([("drawn", sampler), steps[1]]), X, Y)
    lmnn = fake("metric_learn.lmnn", "LMNN", {"regularization": 0.3, "n_neighbors": 2})
    refused("^step 'theirs'.*fitted", Pipeline([("theirs", lmnn)]), X, Y)


def test_a_pipeline_without_a_metric_learner_is_refused() -> None:
    model = fitted(make_pipeline(StandardScaler(), KNeighborsClassifier(2)))
    refused("'standardscaler'.*'kneighborsclassifier'", model, X, Y)
    refused("'glml'", fitted(make_pipeline(StandardScaler(), cvxml.GLML())), X, Y)
    refused("empty", Pipeline([("nothing", "passthrough")]), X, Y)


def test_a_search_without_a_fitted_estimator_is_refused() -> None:
    search = GridSearchCV(
        make_pipeline(StandardScaler(), cvxml.MLSVM(n_neighbors=1), KNeighborsClassifier(2)),
        {"mlsvm__lam": [0.5]},
        cv=2,
    )
    refused("GridSearchCV.*not fitted.*fit", search, X, Y)
    kept = fitted(search).set_params(refit=False)  # scikit-learn keeps best_estimator_ of the earlier fit
    refused("GridSearchCV.*refit=True.*best_params_", kept, X, Y)
    refused("step 'searched'.*GridSearchCV.*not fitted", Pipeline([("searched", search)]), X, Y)


class Stretched(TransformerMixin, BaseEstimator):
    """`fit_transform` gives other points than `transform`, as in scikit-learn's TargetEncoder, which cross-fits."""

    def fit(self, X: FloatArray, y: Any = None) -> Stretched:
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        return X

    def fit_transform(self, X: FloatArray, y: Any = None) -> FloatArray:
        return self.fit(X).transform(X) * np.array([1.0, 9.0])


def test_points_that_a_step_gives_only_in_the_fit_are_not_taken_for_those_of_the_fit() -> None:
    model = make_pipeline(Stretched(), a_learner()).fit(X, Y)
    refused("^step 'lmnn'.*other points.*solution_.X", model, X, Y)
    learner, other = model[1], model[0].transform(X)
    assert cvxml.certify_estimator(learner, learner.solution_.X, Y).verdict == "certified"
    refused("other points", learner, other, Y)
    assert (
        cvxml.check("lmnn", other, Y, learner.solution_.metric, n_neighbors=2, diagnosed=False).verdict
        != "certified"
    )


@pytest.mark.slow
def test_no_other_package_is_imported() -> None:
    line = "import cvxml, sys; print([n for n in ('sklearn', 'metric_learn', 'pylmnn', 'dml') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
