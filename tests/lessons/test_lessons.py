"""The lessons without a browser: run with values injected for the controls, against computations of their own here."""

from __future__ import annotations

import base64
import itertools
import re
import socket
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.cli import lesson as cli_lesson
from cvxml.core.metric import project_psd
from cvxml.lessons import LESSONS, path_of
from cvxml.methods.glml import definitions
from cvxml.methods.ssvm import enumeration
from tests.cli.commands import Cli

every_lesson = pytest.mark.parametrize("name", LESSONS)


def lesson(name: str) -> Any:
    return import_module(f"cvxml.lessons.{name}")


def run(name: str, **controls: Any) -> Mapping[str, Any]:
    """What the cells of a lesson define, for these values of its controls."""
    definitions: Mapping[str, Any] = lesson(name).app.run(defs=controls)[1]
    return definitions


def figures_of(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that lessons draw from now on, in order."""
    from matplotlib.figure import Figure

    seen: list[Any] = []

    class Looked(Figure):
        def savefig(self, *given: Any, **options: Any) -> None:
            super().savefig(*given, **options)
            seen.append(self)

    monkeypatch.setattr(import_module("cvxml.lessons._page"), "Figure", Looked)
    return seen


# --- every lesson ----------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@every_lesson
def test_a_lesson_has_text_pictures_and_questions_and_needs_no_network(name: str) -> None:
    outputs, _ = lesson(name).app.run()
    page = outputs[-1].text
    assert page.count("<h1") == 1
    assert page.count("<img") >= 1
    assert all(
        re.search(r"alt='[^']{20,}' style='[^']*' />", image) for image in re.findall(r"<img[^>]*>", page)
    )
    assert page.count("<marimo-slider") + page.count("<marimo-dropdown") >= 2
    assert page.count("marimo-tex") >= 3
    assert 2 <= page.split("Try</h3>")[1].split("</ol>")[0].count("<li") <= 3
    assert "What is proved" in page
    assert not re.search(r"https?://|//cdn", path_of(name).read_text(encoding="utf-8"))


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("name", "controls"),
    [
        *((name, {}) for name in LESSONS),
        ("mlsvm", {"lam": 10.0, "point": 16}),
        ("gerrymandering", {"scene": "Fig. 1, k = 3", "query": (-1.5, 1.5), "stretch": 1.0}),
        ("cccp", {"data": "6 points, k = 3", "angle": 45, "elongation": 1.0}),
        ("glml", {"scene": "three classes", "query": (2.0, 2.0)}),
        ("glml", {"scene": "equal covariances", "query": (0.0, 0.0)}),
        ("nca", {"kind": "every class two points", "log2_t": 6.0, "angle": 45, "mix": 0.0}),
        ("stranger", {"stranger": "not psd", "times": 2.0, "tol": "loose"}),
        ("theorem", {"regularizer": "½ ‖M‖²: M small", "loss": "log Σ exp, one a point", "w": 10.0}),
        ("theorem", {"along": 1.0, "paid": 1.0}),
        ("triplets", {"mu": 0.01, "k": 4, "point": 0}),
        ("comparisons", {"wide": 10.0, "gamma": 100.0, "wrong": 10}),
        ("weight", {"took": 10.0, "asked": 0.1, "stopped": 1e-3}),
        ("votes", {"method": "mlsvm", "away": 1.0, "k": 5}),
    ],
)
def test_no_words_leave_the_picture_or_run_into_each_other(
    name: str, controls: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.text import Text

    seen = figures_of(monkeypatch)
    run(name, **controls)
    assert seen
    for figure in seen:
        frame = figure.bbox.padded(2)
        for axes in figure.axes:
            words = [one for one in axes.get_children() if isinstance(one, Text) and one not in axes.texts]
            words += [axes.xaxis.label, axes.yaxis.label, axes.get_legend()]
            for one in words:
                if one is not None and (not isinstance(one, Text) or one.get_text()):
                    box = one.get_window_extent()
                    assert frame.x0 <= box.x0 <= box.x1 <= frame.x1, one
                    assert frame.y0 <= box.y0 <= box.y1 <= frame.y1, one
            names = [one.get_window_extent() for one in axes.texts]
            names = [box for box in names if axes.bbox.overlaps(box)]
            for one, other in itertools.combinations(names, 2):
                assert not one.padded(-1).overlaps(other.padded(-1))


@pytest.mark.slow
@every_lesson
def test_black_white_and_what_is_pale_are_those_of_the_page(name: str) -> None:
    page = lesson(name).app.run()[0][-1].text
    pictures = re.findall(r"<img src='data:image/svg\+xml;base64,([^']+)'", page)
    assert pictures
    for picture in pictures:
        drawing = base64.b64decode(picture).decode().split("</style>", 1)[1]
        assert "#000000" not in drawing
        assert "#ffffff" not in drawing
        assert "var(--ink)" in drawing
    assert '# theme = "system"' in path_of(name).read_text(encoding="utf-8").split('"""')[0]


def test_names_are_beside_their_points_and_apart() -> None:
    from matplotlib.figure import Figure

    from cvxml.lessons._page import name_points

    close = np.array([[0.5, 0.5], [0.502, 0.5], [0.5, 0.504], [0.0, 0.0], [1.0, 1.0]])
    figure = Figure(figsize=(4, 4))
    ax = figure.subplots()
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1)
    name_points(ax, close, "abcde")
    figure.draw_without_rendering()
    boxes = [one.get_window_extent() for one in ax.texts]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    for box, point in zip(boxes, ax.transData.transform(close), strict=True):
        assert ax.bbox.padded(1).contains(box.x0, box.y0)
        assert ax.bbox.padded(1).contains(box.x1, box.y1)
        assert not box.contains(*point)
        assert np.linalg.norm(np.mean(box.get_points(), axis=0) - point) < 25 * figure.dpi / 72


def test_the_list_of_lessons_is_that_of_the_files() -> None:
    folder = path_of("mlsvm").parent
    assert {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")} == set(LESSONS)


# --- mlsvm -----------------------------------------------------------------------------------------------------


def own_optimum(X: np.ndarray, y: np.ndarray, lam: float, margins: np.ndarray, K: int = 4) -> float:
    """Problem (2) with these margins (n,), one slack a pair of constraints, written without the package."""
    import cvxpy as cp

    n = len(X)
    A, xi = cp.Variable((2, 2), PSD=True), cp.Variable(n, nonneg=True)
    rows = []
    for i in range(n):
        near = sorted((j for j in range(n) if j != i), key=lambda j: ((X[i] - X[j]) @ (X[i] - X[j]), j))[:K]
        for j, k in itertools.product(near, near):
            if y[j] != y[i] == y[k]:
                away, own = X[i] - X[j], X[i] - X[k]
                rows.append(
                    cp.sum(cp.multiply(A, np.outer(away, away) - np.outer(own, own))) >= margins[i] - xi[i]
                )
    problem = cp.Problem(cp.Minimize(lam / 2 * cp.sum_squares(A) + cp.sum(xi) / n), rows)
    return float(problem.solve(solver="CLARABEL"))


@pytest.mark.quick(1)
@pytest.mark.parametrize(("lam", "point"), [(0.001, 9), (0.02, 9), (0.02, 2), (10.0, 16)])
def test_a_price_bounds_what_relaxing_its_constraint_wins(lam: float, point: int) -> None:
    shown = run("mlsvm", lam=lam, point=point)
    X, y, s, solution = shown["X"], shown["y"], shown["s"], shown["solution"]
    assert solution.certificate.proves(1e-6)
    assert np.all((s >= 0) & (s <= (1 + 1e-12) / len(X)))
    for eps, solved, line in zip(
        shown["eps"][[0, -1]], shown["solved"][[0, -1]], shown["line"][[0, -1]], strict=True
    ):
        margins = np.ones(len(X))
        margins[point] -= eps
        assert solved == pytest.approx(own_optimum(X, y, lam, margins), abs=2e-7)
        assert line == pytest.approx(solution.lower_bound - eps * s[point])
        assert solved >= line - 2e-7


@pytest.mark.slow
def test_a_price_is_the_derivative_of_the_optimum() -> None:
    shown = run("mlsvm", lam=0.02, point=9)
    X, y, h = shown["X"], shown["y"], 1e-2
    prices = shown["s"] * len(X)
    assert prices[9] == pytest.approx(0.56, abs=0.01)  # just met: neither free nor at the full price
    for i in (0, 2, 9):
        more, less = np.ones(len(X)), np.ones(len(X))
        more[i], less[i] = 1 + h, 1 - h
        slope = (own_optimum(X, y, 0.02, more) - own_optimum(X, y, 0.02, less)) / (2 * h)
        assert slope * len(X) == pytest.approx(prices[i], abs=2e-3)


@pytest.mark.slow
def test_the_reading_of_a_price_is_that_of_its_slack() -> None:
    for lam in (0.001, 0.05, 10.0):
        shown = run("mlsvm", lam=lam, point=9)
        n, s, xi = shown["n"], shown["s"], shown["values"]["xi"]
        for row in shown["rows"]:
            i, reading = row[0], row[-1]
            share = n * s[i]
            assert ("room" in reading) == (share < 1e-8)
            assert ("violated" in reading) == (share > 1 - 1e-8)
            assert "violated" in reading or xi[i] <= 1e-4
    assert np.allclose(s[shown["usable"]], 1 / n)  # at lam = 10 nothing else is worth its price


@pytest.mark.slow
def test_the_bars_are_prices_and_slacks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = figures_of(monkeypatch)
    shown = run("mlsvm", lam=0.02)
    X, y, usable = shown["X"], shown["y"], shown["usable"]
    ax = seen[1].axes[0]
    bars = ax.containers
    slack = cvxml.evaluate("mlsvm", X, y, shown["solution"].metric, lam=0.02).values["xi"][usable]
    dual = shown["solution"].certificate.dual
    paid = [18 * dual["w"][dual["w_index"][:, 0] == i].sum() for i in usable]
    assert [bar.get_height() for bar in bars[0]] == pytest.approx(paid, abs=1e-9)
    assert [bar.get_height() for bar in bars[1]] == pytest.approx(slack)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [name for name in legend if "price," in name or "slack" in name] == [
        "price, $n s_i$",
        r"slack $\xi_i$",
    ]


# --- argmin ----------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("data", "lam", "least"),
    [("balance", 0.1, 10.0), ("balance", 0.02, 10.0), ("iris", 1.0, 0.01), ("wine", 1.0, 1.0)],
)
def test_the_misprint_stays_above_a_bound_that_another_solver_confirms(
    data: str, lam: float, least: float
) -> None:
    shown = run("argmin", data=data, lam=lam, n_steps=200)
    X, y, printed, corrected = shown["X"], shown["y"], shown["printed"], shown["corrected"]
    literal = cvxml.solve("mlsvm", X, y, lam=lam, solver="clarabel", tol=1e-3)
    bound = shown["optimum"].lower_bound
    assert bound <= literal.objective * (1 + 1e-9)
    assert bound >= literal.lower_bound - 1e-3 * literal.certificate.scale
    assert printed.objectives[-1] == pytest.approx(
        cvxml.evaluate("mlsvm", X, y, printed.metric, lam=lam).objective
    )
    assert shown["excess"]["as printed"] == pytest.approx(
        100 * (printed.objectives.min() / shown["optimum"].objective - 1), rel=1e-6
    )
    assert printed.objectives.min() > literal.objective * (1 + 0.99 * shown["excess"]["as printed"] / 100)
    assert shown["excess"]["as printed"] >= least
    assert shown["excess"]["corrected"] < shown["excess"]["as printed"] / 3
    assert (printed.gaps > 0).all()
    assert (corrected.gaps > 0).all()


@pytest.mark.quick(1)
@pytest.mark.parametrize("n_steps", [50, 400])
def test_time_helps_the_corrected_version_alone(n_steps: int) -> None:
    shown = run("argmin", data="balance", lam=0.1, n_steps=n_steps)
    printed, corrected = shown["printed"], shown["corrected"]
    assert len(printed.gaps) == len(corrected.gaps) == n_steps
    stall = lesson("argmin").stall
    assert stall(printed) > 0.9 * printed.gaps[:20].min()
    assert stall(corrected) < 0.1 * corrected.gaps[:20].mean()


# --- gerrymandering --------------------------------------------------------------------------------------------


def by_hand(X: np.ndarray, y: np.ndarray, W: np.ndarray, k: int) -> tuple[float, float]:
    """The least cost of a set with which the class of point 0 wins, and the largest S + Delta: over all sets."""
    D = np.einsum("nd,de,ne->n", X - X[0], W, X - X[0])
    cheapest, worst = np.inf, -np.inf
    for h in itertools.combinations(range(1, len(X)), k):
        votes = np.bincount(y[list(h)], minlength=y.max() + 1)
        cost = D[list(h)].sum()
        wins = votes[y[0]] > np.delete(votes, y[0]).max()
        cheapest = min(cheapest, cost) if wins else cheapest
        worst = max(worst, (0.0 if wins else 1.0) - cost)
    return float(cheapest), float(worst)


@pytest.mark.slow
def test_greedy_pays_421_for_330() -> None:
    shown = run("gerrymandering", scene="four classes, k = 5", query=(0.0, 0.0), stretch=1.0)
    assert shown["cost"]["printed"] == pytest.approx(4.21)
    assert shown["cost"]["exact"] == pytest.approx(3.30)
    assert shown["cost"]["enumerated"] == pytest.approx(3.30)
    assert by_hand(shown["X"], shown["y"], shown["W"], 5)[0] == pytest.approx(3.30)
    assert "**4.21** where **3.30**" in path_of("gerrymandering").read_text(encoding="utf-8")
    assert shown["wrong"]
    assert shown["L"]["exact"] == pytest.approx(shown["at_query"]["L"][0])


def test_fig_1_has_the_sets_that_the_paper_names_and_the_greedy_is_right_there() -> None:
    shown = run("gerrymandering", scene="Fig. 1, k = 3", query=(0.0, 0.0), stretch=1.0)
    X, names = shown["X"], shown["names"]
    for way in ("exact", "printed"):
        star, hat = (sorted(names[j] for j in chosen.sets[0]) for chosen in shown["found"][way])
        assert star == ["a", "c", "e"]
        assert hat == ["c", "e", "f"]
    assert [sorted(names[j] for j in sets) for sets, _ in shown["found"]["enumerated"]] == [
        list("ace"),
        list("cef"),
    ]
    D = (X**2).sum(axis=1)
    inside = {name for name, squared in zip(names, D, strict=True) if squared < D[names.index("b")]}
    assert inside == set("xacefhij")  # LMNN's circle: b is the furthest target, e, f, h, i, j are inside
    assert not shown["wrong"]
    assert np.abs(shown["excess"]).max() <= 1e-12


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("scene", "query", "stretch"),
    [
        ("four classes, k = 5", (1.5, 1.5), 0.25),
        ("four classes, k = 5", (-1.5, 0.3), 4.0),
        ("Fig. 1, k = 3", (1.5, -1.5), 4.0),
    ],
)
def test_wherever_the_query_goes_exact_inference_is_exact(
    scene: str, query: tuple[float, float], stretch: float
) -> None:
    shown = run("gerrymandering", scene=scene, query=query, stretch=stretch)
    cheapest, worst = by_hand(shown["X"], shown["y"], shown["W"], shown["k"])
    assert np.array_equal(shown["X"][0], query)
    assert shown["cost"]["exact"] == pytest.approx(cheapest)
    assert shown["worst"]["exact"] == pytest.approx(worst)
    assert shown["cost"]["printed"] >= cheapest * (1 - 1e-12)


@pytest.mark.slow
def test_the_map_of_the_greedys_mistakes_is_right() -> None:
    shown = run("gerrymandering", scene="four classes, k = 5", query=(0.0, 0.0), stretch=1.0)
    ticks, excess, X = shown["ticks"], shown["excess"], shown["X"].copy()
    assert 0.02 < np.mean(excess > 1e-9) < 0.5
    for row, column in ((20, 20), (30, 18), (5, 35)):
        X[0] = ticks[column], ticks[row]
        found = lesson("gerrymandering").inferences(X, shown["y"], np.eye(2), 5)
        dearer = found["printed"][0].value[0] - found["enumerated"][0][1]
        assert excess[row, column] == pytest.approx(dearer, abs=1e-12)
    assert excess[20, 20] == pytest.approx(0.91)


# --- cccp ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "angle", "elongation", "low", "high"),
    [
        ("8 points, k = 1", 0, 0.0, 40.0, 45.0),  # the identity: stuck
        ("8 points, k = 1", 0, 0.3, 0.0, 1e-3),  # close by: the optimum
        ("6 points, k = 1", 90, 1.0, 30.0, 40.0),
        ("6 points, k = 3", 175, 0.0, 90.0, 100.0),  # W = 0
    ],
)
def test_cccp_descends_and_may_end_above_the_optimum(
    data: str, angle: int, elongation: float, low: float, high: float
) -> None:
    shown = run("cccp", data=data, angle=angle, elongation=elongation)
    X, y, k, solution, optimum = (shown[name] for name in ("X", "y", "k", "solution", "optimum"))
    assert optimum.certificate.proves(1e-6)
    assert low <= shown["stuck"] <= high
    u = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    assert u @ lesson("cccp").metric_of(shown["start_place"]) @ u == pytest.approx((1 + elongation) / 2)
    objectives = shown["objectives"]
    assert np.all(np.diff(objectives) <= 1e-12)
    assert optimum.lower_bound <= objectives.min() * (1 + 1e-9)
    Lam = 1.0 - np.eye(2)
    naive = [enumeration.objective(X, y, W, k, 1.0, Lam) for W in (*shown["path"], optimum.metric)]
    assert naive[-2] == pytest.approx(solution.objective)
    assert naive[-1] == pytest.approx(optimum.objective)
    assert len(shown["path"]) == len(objectives)
    assert naive[:-2] == pytest.approx(objectives[1:])


@pytest.mark.slow
def test_no_colour_of_the_disc_is_below_the_bound() -> None:
    shown = run("cccp", data="8 points, k = 1, others", angle=45, elongation=1.0)
    a, b, F = shown["disc"]
    assert F.min() >= shown["optimum"].lower_bound * (1 - 1e-9)
    assert F.min() <= 1.1 * shown["optimum"].objective
    assert F.max() <= 8 * (1 + 1e-12)  # F(0) = C N, and the best multiple is no worse
    module = lesson("cccp")
    assert module.place_of(module.metric_of((0.3, -0.4))) == pytest.approx([0.3, -0.4])
    assert np.linalg.eigvalsh(module.metric_of((a[-1, 7], b[-1, 7])))[0] == pytest.approx(0, abs=1e-12)


# --- glml ------------------------------------------------------------------------------------------------------


def own_B(scene: str, x: np.ndarray) -> np.ndarray:
    """(14) as printed, over its norm, from the means and covariances that the scene is made of."""
    classes = [(np.array(mu), np.array(Sigma)) for mu, Sigma in lesson("glml").SCENES[scene]]
    p = np.array([definitions.gaussian_density(x, *c) / len(classes) for c in classes])
    H = np.array([definitions.gaussian_hessian(x, *c) / len(classes) for c in classes])
    B = definitions.B_printed(p, H)
    return B / np.linalg.norm(B)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("scene", "query", "case"),
    [
        ("two classes that differ", (0.5, 0.4), "indefinite"),
        ("two classes that differ", (-2.0, 2.0), "indefinite"),
        ("one within the other", (0.0, 0.0), "definite"),
        ("one within the other", (2.0, -2.0), "indefinite"),
        ("three classes", (2.0, 2.0), "indefinite"),
    ],
)
def test_the_local_metric_is_the_one_its_case_asks_for(
    scene: str, query: tuple[float, float], case: str
) -> None:
    shown = run("glml", scene=scene, query=query)
    B, solution = own_B(scene, np.array(query)), shown["solution"]
    values = np.linalg.eigvalsh(B)
    assert (case == "definite") == (values[0] * values[1] > 0)
    assert shown["at"]["case"].startswith(case)
    least = (2 * abs(np.linalg.det(B)) ** 0.5) ** 2 if case == "definite" else 0.0
    assert np.linalg.det(solution.metric) == pytest.approx(1)
    assert np.trace(np.linalg.inv(solution.metric) @ B) ** 2 == pytest.approx(least, abs=1e-12)
    assert solution.lower_bound == pytest.approx(least, abs=1e-12)
    assert np.trace(B) ** 2 >= least * (1 - 1e-9)  # the Euclidean metric
    if case == "indefinite" and len(shown["local_traces"]) == 2:
        assert shown["local_traces"][0] == pytest.approx(shown["local_traces"][1])


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("query", "case", "status"), [((0.3, 0.0), "singular", "NOT_ATTAINED"), ((0.0, 0.0), "zero", "CONVERGED")]
)
def test_equal_covariances_are_flat_in_the_middle_and_singular_on_the_line(
    query: tuple[float, float], case: str, status: str
) -> None:
    shown = run("glml", scene="equal covariances", query=query)
    assert shown["at"]["case"].startswith(case)
    assert shown["solution"].status.name == status


@pytest.mark.slow
def test_the_densities_at_a_distance_are_what_is_drawn() -> None:
    scene, x = "two classes that differ", np.array([0.5, 0.4])
    shown = run("glml", scene=scene, query=tuple(x))
    for name, A in (("Euclidean metric", np.eye(2)), ("local metric", shown["solution"].metric)):
        second, mean = shown["ratios"][name]
        assert second[0] == pytest.approx(1)
        for c, (mu, Sigma) in enumerate(lesson("glml").SCENES[scene]):
            assert mean[5, c] == pytest.approx(around(x, A, 0.5, np.array(mu), np.array(Sigma)), rel=1e-6)
            near = around(x, A, 0.02, np.array(mu), np.array(Sigma))
            assert (second[1, c] - 1) / 0.1**2 == pytest.approx((near - 1) / 0.02**2, abs=2e-2)


@pytest.mark.slow
def test_each_panel_shows_the_metric_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = figures_of(monkeypatch)
    shown = run("glml", scene="two classes that differ", query=(0.5, 0.4))
    for figure, name, traces in zip(
        seen[1:],
        ("Euclidean metric", "local metric"),
        (shown["euclid_traces"], shown["local_traces"]),
        strict=True,
    ):
        ax = figure.axes[0]
        assert ax.get_title(loc="left") == name
        lines = [line for line in ax.lines if line.get_label().startswith("class")]
        assert [line.get_ydata()[-1] for line in lines] == pytest.approx(
            [1 + t / 4 for t in traces]
        )  # d_N = 1


def around(x: np.ndarray, A: np.ndarray, d: float, mu: np.ndarray, Sigma: np.ndarray) -> float:
    """The mean density on the circle of radius d by A, over that at x."""
    root = np.linalg.inv(np.linalg.cholesky(A)).T  # root z has length |z| by A
    circle = [d * np.array([np.cos(t), np.sin(t)]) for t in 2 * np.pi * np.arange(1000) / 1000]
    mean = np.mean([definitions.gaussian_density(x + root @ z, mu, Sigma) for z in circle])
    return float(mean) / definitions.gaussian_density(x, mu, Sigma)


# --- nca -------------------------------------------------------------------------------------------------------


def own_f_and_g(X: np.ndarray, y: np.ndarray, Q: np.ndarray) -> tuple[float, float]:
    D = np.einsum("ijd,de,ije->ij", X[:, None] - X, Q, X[:, None] - X)
    np.fill_diagonal(D, np.inf)
    own = np.where(y[:, None] == y, D, np.inf)
    log_p_i = np.logaddexp.reduce(-own, axis=1) - np.logaddexp.reduce(-D, axis=1)
    return float(np.exp(log_p_i).sum()), float(log_p_i.sum())


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize(("log2_t", "angle", "mix"), [(0.0, 0, 0.5), (2.0, 40, 0.0), (-4.0, 90, 1.0)])
def test_f_and_g_are_those_of_the_definition(kind: int, log2_t: float, angle: int, mix: float) -> None:
    shown = run("nca", kind=lesson("nca").KINDS[kind], log2_t=log2_t, angle=angle, mix=mix)
    f, g = own_f_and_g(shown["X"], shown["y"], shown["Q"])
    assert np.trace(shown["Q"]) == pytest.approx(2 * 4.0**log2_t)
    assert shown["values"]["f"] == pytest.approx(f)
    assert shown["values"]["g"] == pytest.approx(g)
    here = int(np.argmin(np.abs(lesson("nca").SCALES - 2.0**log2_t)))
    assert shown["along_scale"][here] == pytest.approx([f, g])
    assert 1 <= shown["neighbors"] <= len(shown["X"])


@pytest.mark.slow
def test_pairs_are_convex_and_overlapping_classes_are_not() -> None:
    module = lesson("nca")
    for angle, log2_t in itertools.product((0, 35, 90), (-2.0, 1.0, 6.0)):
        X, y = module.points(module.KINDS[2])
        ends = [
            own_f_and_g(X, y, module.between(2.0**log2_t, angle, mix))[1] for mix in (0, 0.25, 0.5, 0.75, 1)
        ]
        middle = [-g for g in ends[1:4]]
        chord = [
            -(0.75 * ends[0] + 0.25 * ends[4]),
            -(ends[0] + ends[4]) / 2,
            -(0.25 * ends[0] + 0.75 * ends[4]),
        ]
        assert np.all(np.array(middle) <= np.array(chord) + 1e-9)
    assert run("nca", kind=module.KINDS[2], log2_t=1.0, angle=35, mix=1.0)["above_chord"] <= 1e-9
    assert run("nca", kind=module.KINDS[0], log2_t=6.0, angle=15, mix=0.5)["above_chord"] > 1


@pytest.mark.slow
def test_what_is_proved_of_each_kind_of_data() -> None:
    kinds = lesson("nca").KINDS
    names = {
        kind: {
            c: end.status.name
            for c, end in run("nca", kind=kind, log2_t=0.0, angle=0, mix=0.5)["solved"].items()
        }
        for kind in kinds
    }
    assert names[kinds[0]] == {"f": "STATIONARY", "g": "STATIONARY"}
    assert names[kinds[1]] == {"f": "NOT_ATTAINED", "g": "NOT_ATTAINED"}
    assert names[kinds[2]]["g"] == "CONVERGED"
    X, y = lesson("nca").points(kinds[1])
    f, g = own_f_and_g(X, y, 1e4 * np.diag([1.0, 0.0]))
    assert f == pytest.approx(len(X), abs=1e-9)
    assert g == pytest.approx(0, abs=1e-9)


# --- stranger --------------------------------------------------------------------------------------------------


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("stranger", "verdict", "diagnosis"),
    [
        ("nothing wrong", "certified", ""),
        ("λ‖A‖² for λ/2 ‖A‖²", "refuted", "lam ||A||^2 where the paper has lam/2"),
        ("λ halved", "refuted", "optimal for lam = 0.0025"),
        ("Σ ξ for the mean", "refuted", "sum_i xi_i where the paper has 1/n"),
        ("itself among its neighbours", "refuted", "K - 1 neighbours"),
        ("L transposed", "refuted", "L^T in place of L"),
        ("L given as the metric", "refuted", "a transform L given as the metric"),
        ("off-diagonal doubled", "refuted", "svec"),
        ("not symmetric", "refuted", "not symmetric"),
        ("not psd", "refuted", ""),
        ("stopped after 30 iterations", "refuted", ""),
    ],
)
def test_each_stranger_gets_the_verdict_and_the_name(stranger: str, verdict: str, diagnosis: str) -> None:
    shown = run("stranger", stranger=stranger, times=1.0, tol="normal")
    report = shown["report"]
    assert report.verdict.value == verdict
    found = " / ".join(report.diagnosis)
    assert diagnosis in found if diagnosis else found == ""
    if report.witness is not None:
        X, y, judged = shown["X"], shown["y"], shown["judged"]
        theirs, ours = (
            cvxml.evaluate("mlsvm", X, y, A, lam=0.005).objective
            for A in (project_psd(judged), report.witness.metric)
        )
        assert ours < theirs
        assert theirs - ours == pytest.approx(report.witness.better_by, rel=1e-3)


@pytest.mark.quick(1)
@pytest.mark.parametrize("stranger", ["λ halved", "nothing wrong"])
def test_the_bar_is_as_long_as_the_gap(stranger: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = figures_of(monkeypatch)
    shown = run("stranger", stranger=stranger, times=1.0, tol="normal")
    bar = seen[1].axes[0].patches[0]
    assert bar.get_width() == pytest.approx(max(shown["report"].rel_gap, 2e-14))


def test_every_stranger_is_in_the_table_above() -> None:
    told = test_each_stranger_gets_the_verdict_and_the_name.pytestmark[0].args[1]
    assert [row[0] for row in told] == list(lesson("stranger").strangers())


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("times", "tol", "verdict"),
    [
        (1.0000001, "normal", "certified"),
        (1.0000001, "strict", "close"),
        (1.00001, "normal", "refuted"),
        (1.00001, "loose", "certified"),
        (1.01, "loose", "refuted"),
        (0.5, "loose", "refuted"),
        (2.0, "loose", "refuted"),
    ],
)
def test_a_multiple_is_judged_by_the_tolerance(times: float, tol: str, verdict: str) -> None:
    shown = run("stranger", stranger="nothing wrong", times=times, tol=tol)
    assert shown["report"].verdict.value == verdict
    assert np.linalg.norm(shown["judged"]) / np.linalg.norm(shown["ours"].metric) == pytest.approx(
        times, rel=1e-3
    )


# --- theorem ---------------------------------------------------------------------------------------------------


def own_composed(X: np.ndarray, y: np.ndarray, M: np.ndarray, regularizer: str, loss: str, w: float) -> float:
    """R + w times the loss, from the table of all distances."""
    D = np.einsum("ijd,de,ije->ij", X[:, None] - X, M, X[:, None] - X)
    n, names = len(X), lesson("theorem")
    same = {i: [j for j in range(n) if y[j] == y[i] and j != i] for i in range(n)}
    other = {i: [j for j in range(n) if y[j] != y[i]] for i in range(n)}
    missed = [max(0.0, 1 + D[i, j] - D[i, k]) for i in range(n) for j in same[i] for k in other[i]]
    R = np.sum(M**2) / 2 if regularizer == names.NORM else sum(D[i, j] for i in range(n) for j in same[i])
    losses = {
        names.TRIPLET: sum(missed),
        names.SQUARED: sum(each**2 for each in missed),
        names.POINT: sum(max(0.0, 1 + max(D[i, same[i]]) - min(D[i, other[i]])) for i in range(n)),
        names.SOFT: sum(np.log(np.exp(-np.delete(D[i], i)).sum()) for i in range(n)),
    }
    return float(R + w * losses[loss])


@pytest.mark.quick(2)
@pytest.mark.parametrize("regularizer", ["PULL", "NORM"])
@pytest.mark.parametrize("loss", ["TRIPLET", "SQUARED", "POINT", "SOFT"])
@pytest.mark.parametrize("w", [0.2, 5.0])
def test_every_choice_is_proved_by_the_one_theorem(regularizer: str, loss: str, w: float) -> None:
    names = lesson("theorem")
    chosen = {"regularizer": getattr(names, regularizer), "loss": getattr(names, loss), "w": w}
    shown = run("theorem", along=0.3, paid=0.8, **chosen)
    X, y = shown["X"], shown["y"]
    objectives, bounds = shown["objectives"], shown["bounds"]
    scale = max(1.0, abs(objectives[-1]))
    for share, objective in zip(shown["shares"][::5], objectives[::5], strict=True):
        M = (1 - share) * shown["start"] + share * shown["best"]
        assert objective == pytest.approx(own_composed(X, y, M, **chosen), abs=1e-9 * scale)
    assert objectives.min() >= bounds.max() - 1e-9 * scale
    assert objectives[-1] - bounds[-1] <= 1e-4 * scale
    assert shown["of_regularizer"] >= 0
    assert shown["of_loss"] >= 0
    gap = shown["of_regularizer"] + shown["of_loss"]
    assert gap == pytest.approx(shown["primal"] - shown["dual"], abs=1e-9 * scale)
    if shown["method"]:
        theirs, times = shown["theirs"], shown["times"]
        assert times * theirs.lower_bound <= objectives[-1] + 1e-9 * scale
        assert bounds[-1] <= times * theirs.objective + 1e-9 * scale


def test_the_settings_that_have_a_name_are_these() -> None:
    names = lesson("theorem")
    found = {
        (regularizer, loss, w): names.known_as(regularizer, loss, w, 12)[0]
        for regularizer in (names.PULL, names.NORM)
        for loss in (names.TRIPLET, names.SQUARED, names.POINT, names.SOFT)
        for w in (1.0, 5.0)
    }
    assert {key: name for key, name in found.items() if name} == {
        (names.PULL, names.TRIPLET, 1.0): "lmnn",
        (names.PULL, names.TRIPLET, 5.0): "lmnn",
        (names.PULL, names.SQUARED, 1.0): "lmnn:squared_hinge",
        (names.PULL, names.SQUARED, 5.0): "lmnn:squared_hinge",
        (names.NORM, names.POINT, 1.0): "mlsvm",
        (names.NORM, names.POINT, 5.0): "mlsvm",
        (names.PULL, names.SOFT, 5.0): "mcml",
    }


# --- triplets --------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize(("mu", "k"), [(0.01, 1), (0.5, 2), (0.9, 4)])
def test_all_prices_are_on_the_step_and_prove_the_bound(mu: float, k: int) -> None:
    shown = run("triplets", mu=mu, k=k, point=4)
    X, solution = shown["X"], shown["solution"]
    triplets, margin, price = shown["triplets"], shown["margin"], shown["price"]
    assert len(triplets) == 21 * k * 14
    assert price.min() >= 0
    assert price.max() <= mu
    assert price.sum() == pytest.approx(solution.lower_bound, rel=1e-9)
    M, C = solution.metric, np.zeros((2, 2))
    for t, (i, j, l) in enumerate(triplets):
        e, f = X[i] - X[l], X[i] - X[j]
        assert margin[t] == pytest.approx(e @ M @ e - f @ M @ f, abs=1e-9)
        C -= price[t] * (np.outer(e, e) - np.outer(f, f))
    for i, j in {(i, j) for i, j, _ in triplets.tolist()}:
        C += (1 - mu) * np.outer(X[i] - X[j], X[i] - X[j])
    assert np.linalg.eigvalsh(C)[0] >= -1e-9 * np.trace(abs(C))
    for name, mine in shown["groups"].items():
        low, high = {"room": (1, np.inf), "just": (1, 1), "miss": (-np.inf, 1)}[name[:4]]
        assert np.all((margin[mine] >= low - 1e-3) & (margin[mine] <= high + 1e-3))
    assert sum(mine.sum() for mine in shown["groups"].values()) == len(triplets)


# --- comparisons -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_only_itml_looks_at_the_bounds() -> None:
    small, large = (run("comparisons", wide=wide, gamma=1.0, wrong=0) for wide in (0.1, 10.0))
    assert np.array_equal(small["lsml"].metric, large["lsml"].metric)
    assert np.trace(large["itml"].metric) > 10 * np.trace(small["itml"].metric)


@pytest.mark.quick(1)
@pytest.mark.parametrize("wrong", [0, 7])
def test_what_both_are_told_and_what_they_keep(wrong: int) -> None:
    shown = run("comparisons", wide=1.0, gamma=1.0, wrong=wrong)
    X, y, similar, dissimilar = shown["X"], shown["y"], shown["similar"], shown["dissimilar"]
    assert sum(y[i] != y[j] for i, j in similar) == sum(y[i] == y[j] for i, j in dissimilar) == wrong
    M = shown["lsml"].metric
    near, far = ([(X[i] - X[j]) @ M @ (X[i] - X[j]) for i, j in told] for told in (similar, dissimilar))
    residuals = [max(0.0, a**0.5 - b**0.5) ** 2 for a, b in zip(near, far, strict=True)]
    own = np.trace(M) - np.log(np.linalg.det(M)) - 2 + np.mean(residuals)
    assert shown["lsml"].objective == pytest.approx(own)
    assert shown["kept"]["LSML"][1] == f"{sum(a < b for a, b in zip(near, far, strict=True))} of 20"
    u, l = shown["bounds"]
    assert shown["kept"]["LSML"][0] == f"{sum(a <= u for a in near)} + {sum(b >= l for b in far)} of 40"


# --- weight ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("took", "asked"), [(5.0, 1.0), (0.2, 5.0)])
def test_the_weight_is_named_and_the_line_touches_there(took: float, asked: float) -> None:
    shown = run("weight", took=took, asked=asked, stopped=1e-9)
    assert shown["report"].verdict == "refuted"
    said = re.search(r"optimal for C = (\S+) .* from (\S+) to (\S+);", shown["report"].diagnosis[0])
    assert said is not None
    named, low, high = map(float, said.groups())
    assert low <= named <= high
    assert low <= took <= high
    assert named == pytest.approx(took, rel=0.02)
    span = lesson("weight").SPAN
    assert span[int(np.argmin(shown["left"]))] == took
    assert np.all(shown["line"] >= shown["bounds"] - 1e-9)
    X, y, M = shown["X"], shown["y"], shown["theirs"]
    for C in (0.5, 7.0):
        objective = cvxml.evaluate("frobmetric", X, y, M, C=C).objective
        assert shown["norm"] + C * shown["missed"] == pytest.approx(objective)


@pytest.mark.slow
def test_the_weight_that_was_asked_for_is_certified() -> None:
    assert run("weight", took=1.0, asked=1.0, stopped=1e-9)["report"].verdict == "certified"


# --- votes -----------------------------------------------------------------------------------------------------


def own_votes(X: np.ndarray, y: np.ndarray, M: np.ndarray, queries: np.ndarray, k: int) -> list[int]:
    """The class with most of the k nearest; -1 where two have."""
    found = []
    for q in queries:
        nearest = np.argsort([(q - x) @ M @ (q - x) for x in X])[:k]
        counts = np.bincount(y[nearest], minlength=3)
        found.append(int(counts.argmax()) if (counts == counts.max()).sum() == 1 else -1)
    return found


@pytest.mark.quick(1)
@pytest.mark.parametrize(("method", "away"), [("frobmetric", 0.05), ("mlsvm", 0.01)])
def test_votes_that_are_certain_are_those_of_the_optimum(method: str, away: float) -> None:
    shown = run("votes", method=method, away=away, k=3)
    X, y, grid, found = shown["X"], shown["y"], shown["grid"], shown["found"]
    optimum = own_votes(X, y, shown["optimum"], grid, 3)
    certain = shown["state"] == "certain"
    assert 0 < certain.sum() < len(grid)
    assert all(found.votes[i] == optimum[i] for i in np.flatnonzero(certain))
    judged = cvxml.evaluate(method, X, y, shown["metric"], **shown["params"]).objective
    for each in found.disagree:
        query, vote, metric = each.query, each.vote, each.metric
        assert own_votes(X, y, metric, grid[[query]], 3) == [vote] != [found.votes[query]]
        better = cvxml.evaluate(method, X, y, metric, **shown["params"]).objective
        assert better <= judged * (1 + 1e-9)


@pytest.mark.slow
def test_certainty_goes_as_the_gap_grows() -> None:
    certain = [
        int(np.sum(run("votes", method="frobmetric", away=away, k=1)["state"] == "certain"))
        for away in (0.0, 0.1, 1.0)
    ]
    assert certain[0] > 0.95 * lesson("votes").SIDE ** 2
    assert certain[0] > certain[1] > certain[2]


# --- the command -----------------------------------------------------------------------------------------------


def test_the_command_without_a_name_lists_the_lessons(cli: Cli) -> None:
    answer = cli("lesson")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()] == list(LESSONS)


def test_an_unknown_lesson_is_refused(cli: Cli) -> None:
    answer = cli("lesson", "algebra")
    assert answer.code == 2
    assert answer.err == f"cvxml: no lesson 'algebra'; there is: {', '.join(LESSONS)}\n"
    with pytest.raises(ValueError, match="no lesson '_page'"):
        path_of("_page")


def test_without_marimo_the_command_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_lesson, "find_spec", lambda name: None if name == "marimo" else object())
    answer = cli("lesson", "mlsvm")
    assert answer.code == 2
    assert answer.err == "cvxml: a lesson needs marimo: pip install 'cvxml[lessons]'\n"


def test_a_port_that_cannot_be_had_is_refused(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port in (taken.getsockname()[1], 70000, -1):
            answer = cli("lesson", "mlsvm", "--port", port)
            assert answer.code == 2
            assert f"--port {port} cannot be had" in answer.err


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_a_lesson_is_opened() -> None:
    heavy = "{'marimo', 'matplotlib', 'uvicorn'}"
    code = f"import sys, cvxml, cvxml.cli.lesson, cvxml.lessons; print(sorted({heavy} & set(sys.modules)))"
    folder = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    )
    assert done.stdout == "[]\n"
