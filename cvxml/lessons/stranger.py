# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: judge the metric of another program, break it, and read the diagnosis (MLSVM, Nguyen, Guo 2008).

A marimo notebook. The reader chooses a mistake of the other program and a factor of its metric, and reads the report of
`cvxml.check`.
"""

import marimo

app = marimo.App(width="full", app_title="The metric of another program")

with app.setup:
    from collections.abc import Callable
    from typing import Any

    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.metric import FloatArray, IntArray, components_of
    from cvxml.core.tolerance import TOLERANCES
    from cvxml.displays import MetricEllipseDisplay
    from cvxml.lessons._page import BENEATH, as_printed, drawn, page
    from cvxml.methods.mlsvm.method import algorithm1

    LAM = 0.005
    TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])


@app.function
def points() -> tuple[FloatArray, IntArray]:
    """Return thirty points, X (30, 2) and y (30,), in two classes that differ along a slanted direction."""
    rng = np.random.default_rng(4)
    y = np.arange(30) % 2
    Z = rng.standard_normal((30, 2)) * [0.45, 0.8]
    Z[:, 0] += 1.1 * y
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    X: FloatArray = Z @ turn.T
    return X, y


@app.function
def solved(X: FloatArray, y: IntArray, **changed: Any) -> FloatArray:
    """Return the optimal metric of MLSVM on X and y. changed: parameters with another value than in the lesson."""
    return cvxml.solve("mlsvm", X, y, tol=1e-10, **{"lam": LAM, **changed}).metric


@app.function
def factor(A: FloatArray) -> FloatArray:
    """Return the upper triangular L with L^T L = A."""
    return np.asarray(np.linalg.cholesky(A).T, dtype=np.float64)


@app.function
def doubled(A: FloatArray) -> FloatArray:
    """Return A with the entries off the diagonal doubled, a possible mistake in unpacking a symmetric matrix."""
    return 2 * A - np.diag(np.diag(A))


@app.function
def strangers() -> dict[str, Callable[[FloatArray, IntArray], dict[str, FloatArray]]]:
    """Return {name of a possible mistake: function of X and y}.

    The function returns the result of a program with this mistake: {"metric": matrix} or {"components": matrix}.
    """
    return {
        "nothing wrong": lambda X, y: {"metric": solved(X, y)},
        "λ‖A‖² for λ/2 ‖A‖²": lambda X, y: {"metric": solved(X, y, lam=2 * LAM)},
        "λ halved": lambda X, y: {"metric": solved(X, y, lam=LAM / 2)},
        "Σ ξ for the mean": lambda X, y: {"metric": solved(X, y, lam=LAM / len(X))},
        "itself among its neighbours": lambda X, y: {"metric": solved(X, y, n_neighbors=3)},
        "L transposed": lambda X, y: {"components": factor(solved(X, y)).T},
        "L given as the metric": lambda X, y: {"metric": components_of(solved(X, y))},
        "off-diagonal doubled": lambda X, y: {"metric": doubled(solved(X, y))},
        "not symmetric": lambda X, y: {"metric": solved(X, y) + 0.1 * TURN},
        "not psd": lambda X, y: {"metric": solved(X, y) - 0.2 * np.eye(2)},
        "stopped after 30 iterations": lambda X, y: {"metric": algorithm1(X, y, lam=LAM, n_steps=30).metric},
    }


@app.cell
def _():
    stranger_menu = mo.ui.dropdown(
        list(strangers()), value="λ‖A‖² for λ/2 ‖A‖²", label="the other program did", full_width=True
    )
    factor_slider = mo.ui.slider(
        steps=[0.5, 0.9, 0.99, 0.99999, 0.9999999, 1.0, 1.0000001, 1.00001, 1.01, 1.1, 2.0],
        value=1.0,
        label="and multiplied it by",
        show_value=True,
        full_width=True,
    )
    tol_menu = mo.ui.dropdown(list(TOLERANCES), value="normal", label="tolerance", full_width=True)
    return factor_slider, stranger_menu, tol_menu


@app.cell
def _(stranger_menu):
    stranger = stranger_menu.value
    return (stranger,)


@app.cell
def _(factor_slider, tol_menu):
    times, tol = factor_slider.value, tol_menu.value
    return times, tol


@app.cell
def _():
    X, y = points()
    ours = cvxml.solve("mlsvm", X, y, lam=LAM)
    return X, ours, y


@app.cell
def _(X, stranger, times, tol, y):
    given = strangers()[stranger](X, y)
    handed_over = {name: np.asarray(matrix) * times for name, matrix in given.items()}
    report = cvxml.check("mlsvm", X, y, **handed_over, lam=LAM, tol=tol)
    return handed_over, report


@app.cell
def _(X, handed_over, ours, report, tol, y):
    if "components" in handed_over:
        judged = handed_over["components"].T @ handed_over["components"]
    else:
        judged = handed_over["metric"]

    def draw_metric(ax):
        psd = report.feasibility.feasible
        for metric in [judged, ours.metric] if psd else [ours.metric]:
            ball = MetricEllipseDisplay.from_metric(
                metric, X, y, centers=X.mean(axis=0), radius=1.0, ax=ax, circle=False
            )
        ball.balls_[0].set(color="#009E73", linestyle="--", linewidth=3, label="ours, certified, r = 1")
        handles, labels = ax.get_legend_handles_labels()
        kept = dict(zip(labels, handles, strict=True))  # the points are drawn twice, so entries are double
        ax.legend(kept.values(), kept, **BENEATH)
        ax.set_title(
            "the other program's ball, and ours" if psd else "the other program's matrix has no ball",
            loc="left",
        )

    def draw_gap(ax):
        gap = report.rel_gap
        colour = {
            "certified": "#009E73",
            "close": "#E69F00",
            "refuted": "#D55E00",
            "inconclusive": "#767676",
        }[report.verdict.value]
        ax.barh([0], [np.clip(gap, 2e-14, 1e3)], left=1e-14, color=colour, height=0.4)
        ax.set_xscale("log")
        for name, value in TOLERANCES.items():
            ax.axvline(value, color="black", lw=3 if name == tol else 1.2, ls="-" if name == tol else ":")
            ax.text(value / 1.6, 0.95, f"{name} {value:g}", rotation=90, ha="right", va="top")
        ax.set_xlim(1e-14, 1e3)
        ax.set_xticks([1e-12, 1e-9, 1e-6, 1e-3, 1])
        ax.set_ylim(-0.5, 1)
        ax.set_yticks([])
        ax.set_xlabel(f"proved relative gap: {gap:.2g}")
        ax.set_title(report.verdict.value.upper(), loc="left", color=colour, fontweight="bold")

    picture = drawn(draw_metric, "the ball of the given metric, and the ball of the optimum")
    bar = drawn(draw_gap, f"the gap against the tolerances; {report.verdict.value}", (5.2, 2.8))
    return bar, judged, picture


@app.cell
def _(handed_over, report):
    with np.printoptions(precision=6, suppress=True):
        handed = "; ".join(f"{name} =\n{matrix}" for name, matrix in handed_over.items())
    verdict = as_printed(str(report))
    received = as_printed(f"The given matrix\n{handed}")
    return received, verdict


@app.cell
def _():
    text = mo.md(
        r"""
        # The metric of another program

        Somebody, in any language, has solved MLSVM (Nguyen, Guo 2008) with $\lambda = 0.005$ and $K = 4$, and gives you
        a matrix. Is it right? `cvxml.check` answers from the data and the matrix alone:

        - **certified**: it is a metric, and its objective is within the tolerance of a lower bound. Our own arithmetic
          computes the bound, from repaired dual variables $(u, w)$.
        - **refuted**: it is not a metric, or a *witness* has a smaller objective. The witness is a metric that you can
          evaluate yourself.
        - **close**: refuted, with a gap of at most a hundredth of the scale, and no known misreading explains it.
          Either the run stopped early, or it solves a slightly different problem.
        - **inconclusive**: neither was proved. The report gives the reason.

        The gap is compared with the scale $\frac\lambda2\|A\|^2$. By strong convexity,

        $$\|A - A^*\| \le \sqrt{2\,\mathrm{gap}/\lambda} \ \le\ \sqrt{\mathrm{tol}}\,\|A\|$$

        if the gap is at most $\mathrm{tol} \cdot \tfrac\lambda2\|A\|^2$. So the tolerance *normal*, $10^{-6}$, means at
        least three correct digits of the matrix. Often there are more, because the objective has a kink where margins
        are active. At a kink the gap grows like the distance, and not like its square.

        **The diagnosis.** `check` tests if a refuted metric solves one of the known misreadings of the method, or
        contains a slip in writing it down. An explanation is named only if the metric is *certified* for it: at your
        tolerance, or at $10^{-3}$ with the relative gap in the report. Another $\lambda$ is found too. The objective is
        linear in $\lambda$, and the metric fits best at the $\lambda$ where the slope of the gap is 0. If no
        explanation is named, those with a hundred times smaller relative gap are listed as nearest (a thousand times,
        for another number, or if the optimum may not be unique). They are possible, and not proved. A missing diagnosis
        means only that no known explanation fits.

        **Proved and unproved.** The verdict is proved. A diagnosis proves that the matrix solves the other problem. It
        is likely, but not proved, that the other program made this mistake.

        ### Try

        1. Choose "nothing wrong" and multiply by a number close to 1. Where does the verdict change, for each
           tolerance, and on which side first? Double the distance from 1. Does the gap double, or grow fourfold?
        2. Which mistakes would a test of the accuracy alone never detect? Compare the balls.
        3. The list of misreadings does not contain "λ halved", yet it is named, with an interval. Which mistake would
           no $\lambda$ explain? Multiply the metric by a number close to 1, and look.
        """
    )
    return (text,)


@app.cell
def _(bar, factor_slider, picture, received, stranger_menu, text, tol_menu, verdict):
    page(text, [stranger_menu, factor_slider, tol_menu], [bar, picture], [verdict, received])
    return


if __name__ == "__main__":
    app.run()
