# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: a program used a wrong weight; find it (FrobMetric, Shen et al. 2011).

A marimo notebook. The weight C multiplies the loss. The reader chooses the C of the program and the C that was asked
for, and sees how `cvxml.check` finds the first one from the metric alone.
"""

import marimo

app = marimo.App(width="full", app_title="Recover the weight")

with app.setup:
    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.metric import FloatArray, IntArray
    from cvxml.lessons._page import COLOURS, as_printed, drawn, page

    WEIGHTS = [0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0]
    SPAN = np.unique([*np.geomspace(0.05, 20, 10), *WEIGHTS])


@app.function
def points() -> tuple[FloatArray, IntArray]:
    """Return two classes of ten points, X (20, 4) and y (20,); the first feature separates them.

    Two features are not enough: a metric then has three free numbers, too few to tell a weight from chance.
    """
    rng = np.random.default_rng(4)
    y = np.arange(20) % 2
    X: FloatArray = rng.standard_normal((20, 4)) * [0.6, 0.8, 1.0, 1.2]
    X[:, 0] += 2.4 * y
    return X, y


@app.function
def line_of(X: FloatArray, y: IntArray, M: FloatArray) -> tuple[float, float]:
    """Return numbers (first, second): the objective of FrobMetric at M is first + C * second for every C."""
    one, two = (cvxml.evaluate("frobmetric", X, y, M, C=C).objective for C in (1.0, 2.0))
    return 2 * one - two, two - one


@app.cell
def _():
    took_slider, asked_slider = (
        mo.ui.slider(steps=WEIGHTS, value=value, label=label, show_value=True, full_width=True)
        for label, value in (("the program's C =", 5.0), ("your C =", 1.0))
    )
    digits_menu = mo.ui.dropdown(
        {f"a gap of {tol:g}": tol for tol in (1e-3, 1e-5, 1e-7, 1e-9)},
        value="a gap of 1e-09",
        label="and stopped at",
        full_width=True,
    )
    return asked_slider, digits_menu, took_slider


@app.cell
def _(asked_slider, digits_menu, took_slider):
    took, asked, stopped = took_slider.value, asked_slider.value, digits_menu.value
    return asked, stopped, took


@app.cell
def _():
    X, y = points()
    solved = [cvxml.solve("frobmetric", X, y, C=C, tol=1e-9) for C in SPAN]
    bounds = np.array([each.lower_bound for each in solved])
    sizes = np.array([each.certificate.scale for each in solved])
    return X, bounds, sizes, y


@app.cell
def _(X, asked, stopped, took, y):
    theirs = cvxml.solve("frobmetric", X, y, C=took, tol=stopped).metric
    report = cvxml.check("frobmetric", X, y, theirs, C=asked)
    return report, theirs


@app.cell
def _(X, asked, bounds, report, sizes, theirs, took, y):
    norm, missed = line_of(X, y, theirs)
    line = norm + SPAN * missed
    left = np.maximum((line - bounds) / sizes, 1e-10)

    def draw_line(ax):
        ax.plot(SPAN, bounds, color=COLOURS[2], lw=2, label="optimal value (proved bound)")
        ax.plot(SPAN, line, color=COLOURS[0], lw=2, ls="--", label="objective of the program's metric")
        ax.plot(asked, norm + asked * missed, "o", color=COLOURS[3], ms=10, label="at your C")
        ax.set_xlim(0, 10.5)
        ax.set_ylim(0, 1.1 * float(bounds[SPAN <= 10.5].max()))
        ax.set_xlabel("C")
        ax.set_title("the line of a metric above the curve", loc="left")
        ax.legend()

    def draw_left(ax):
        ax.loglog(SPAN, left, "o-", color=COLOURS[0], lw=2, ms=4, label="relative gap")
        ax.axvline(took, color=COLOURS[4], lw=2, ls="--", label=f"the program's C = {took:g}")
        ax.axvline(asked, color=COLOURS[3], lw=2, ls=":", label=f"your C = {asked:g}")
        ax.axhline(1e-6, color="black", lw=1, label="tolerance, 1e-6")
        ax.set_ylim(3e-11, 1e3)
        ax.set_xlabel("C")
        ax.set_ylabel("relative gap")
        ax.set_title(f"{report.verdict.value} for C = {asked:g}", loc="left")
        ax.legend(loc="lower left")

    touching = drawn(
        draw_line, "the optimal value against C, a concave curve, and the objective of a metric, a line"
    )
    gaps = drawn(draw_left, "the relative gap of the metric in the problem with each C")
    return gaps, left, line, missed, norm, touching


@app.cell
def _(report):
    said = as_printed(str(report))
    named = mo.md(
        f"**{report.verdict.value.upper()}**. "
        + (f"Diagnosis: *{report.diagnosis[0]}*." if report.diagnosis else "The diagnosis names no weight.")
    )
    return named, said


@app.cell
def _():
    text = mo.md(
        r"""
        # Recover the weight

        A program minimises your objective, but with a wrong weight. For example, it forgot a 2, it used a sum instead
        of a mean, or it has another default. It returns only a metric. Which weight did it use?

        The problem here is FrobMetric (Shen et al. 2011). A triplet consists of a point $i$, a near point $j$ of its
        class and a point $l$ of another class. With $D_{ij} = (x_i - x_j)^T M (x_i - x_j)$, the problem is

        $$\min_{M \succeq 0}\ \frac12\|M\|^2 + \frac{C}{t} \sum_{ijl} [1 + D_{ij} - D_{il}]_+.$$

        $M \succeq 0$ means that $M$ is symmetric, with no negative eigenvalue; $t$ is the number of triplets.

        **A line above a curve.** Fix the metric $M$ and vary $C$: its objective is a straight *line* in $C$. Each
        metric has such a line. The optimal value is the minimum of all lines, a *concave* curve, so no line goes below
        it. The program's metric is optimal for $C$ exactly where its line touches the curve.

        **How `check` finds it.** The gap (line minus curve) is convex in $C$. Its slope is the loss of $M$ minus the
        loss of the optimum for $C$. At the point of contact the slope is 0, so a bracketing search finds the weight,
        and `check` *certifies* the metric for it. The metric stays within the tolerance for an interval of weights, and
        the report gives a large part of this interval. The weight cannot be known more precisely, because nearby
        weights have nearly the same metric.

        **Proved and unproved.** It is proved that the metric solves the problem with the named weight, to the reported
        gap. It is likely, but not proved, that the program used this weight. The curve is drawn from proved lower
        bounds.

        ### Try

        1. Set both weights to the same value. Where does the line touch the curve now?
        2. Let the program stop at a larger gap. How does the valley change, and what does `check` still report?
        3. Choose a large $C$ for the program. Why is its relative interval wider than that of a small $C$?
        """
    )
    return (text,)


@app.cell
def _(asked_slider, digits_menu, gaps, named, said, text, took_slider, touching):
    page(text, [took_slider, asked_slider, digits_menu, named], [touching, gaps], [said])
    return


if __name__ == "__main__":
    app.run()
