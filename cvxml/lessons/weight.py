# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: a program took another weight than was asked for: which? (FrobMetric, Shen et al. 2011.)"""

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
    """Two classes of ten points in four features, of which the first tells them apart.

    A metric of two features holds three numbers: too few to tell a weight from chance.
    """
    rng = np.random.default_rng(4)
    y = np.arange(20) % 2
    X: FloatArray = rng.standard_normal((20, 4)) * [0.6, 0.8, 1.0, 1.2]
    X[:, 0] += 2.4 * y
    return X, y


@app.function
def line_of(X: FloatArray, y: IntArray, M: FloatArray) -> tuple[float, float]:
    """What M costs without the losses, and what the losses are: objective = first + C second."""
    one, two = (cvxml.evaluate("frobmetric", X, y, M, C=C).objective for C in (1.0, 2.0))
    return 2 * one - two, two - one


@app.cell
def _():
    took_slider, asked_slider = (
        mo.ui.slider(steps=WEIGHTS, value=value, label=label, show_value=True, full_width=True)
        for label, value in (("the program took C =", 5.0), ("you asked for C =", 1.0))
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
        ax.plot(SPAN, bounds, color=COLOURS[2], lw=2, label="the optimum, proved")
        ax.plot(SPAN, line, color=COLOURS[0], lw=2, ls="--", label="what their metric costs")
        ax.plot(asked, norm + asked * missed, "o", color=COLOURS[3], ms=10, label="at the C you asked for")
        ax.set_xlim(0, 10.5)
        ax.set_ylim(0, 1.1 * float(bounds[SPAN <= 10.5].max()))
        ax.set_xlabel("C")
        ax.set_title("a line above a curve: where do they touch?", loc="left")
        ax.legend()

    def draw_left(ax):
        ax.loglog(SPAN, left, "o-", color=COLOURS[0], lw=2, ms=4, label="left to gain")
        ax.axvline(took, color=COLOURS[4], lw=2, ls="--", label=f"the program's C = {took:g}")
        ax.axvline(asked, color=COLOURS[3], lw=2, ls=":", label=f"the C asked for = {asked:g}")
        ax.axhline(1e-6, color="black", lw=1, label="tolerance, 1e-6")
        ax.set_ylim(3e-11, 1e3)
        ax.set_xlabel("C")
        ax.set_ylabel("relative gap")
        ax.set_title(f"{report.verdict.value} for C = {asked:g}", loc="left")
        ax.legend(loc="lower left")

    touching = drawn(
        draw_line, "the optimal value against C, a concave curve, and the line that a metric costs"
    )
    gaps = drawn(draw_left, "what the metric leaves to gain as the solution of the problem with each C")
    return gaps, left, line, missed, norm, touching


@app.cell
def _(report):
    said = as_printed(str(report))
    named = mo.md(
        f"**{report.verdict.value.upper()}**. "
        + (f"`check` says: *{report.diagnosis[0]}*." if report.diagnosis else "`check` names no weight.")
    )
    return named, said


@app.cell
def _():
    text = mo.md(
        r"""
        # Recover the weight

        A program minimises what you asked for, but with another weight: a 2 that was forgotten, a sum for a mean, a
        default of its own. All it hands over is a metric. Which weight did it take?

        The problem here is FrobMetric (Shen et al. 2011), over triplets of a point $i$, a near one $j$ of its class and
        one $l$ of another, with $D_{ij} = (x_i - x_j)^T M (x_i - x_j)$:

        $$\min_{M \succeq 0}\ \frac12\|M\|^2 + \frac{C}{t} \sum_{ijl} [1 + D_{ij} - D_{il}]_+.$$

        $M \succeq 0$: symmetric, with no negative eigenvalue; $t$ is the number of triplets.

        **A line above a curve.** Hold the metric $M$ and let $C$ vary: its objective is a straight *line* in $C$. The
        optimal value is the least of all such lines, one for each metric: a *concave* curve, that no line goes below.
        Their metric is optimal for $C$ exactly where its line touches the curve.

        **So `check` finds it.** What is left to gain, line less curve, is convex in $C$ and its slope at $C$ is the
        loss of $M$ less that of the optimum. The slope is 0 where the two touch: bisection finds the place, and the
        metric is then *certified* for that weight. The weights at which it is still within the tolerance make an
        interval, most of which is told. More cannot be known: the metric of a nearby weight is nearly the same.

        **What is proved.** That the metric solves the problem with the weight that is named, to the gap that is given.
        That a program really took it is likely, not proved. The curve is drawn from proved lower bounds.

        ### Try

        1. Set both weights to the same value. Where does the line touch now?
        2. Let the program stop at a larger gap. How does the valley change, and what does `check` still say?
        3. Take a large $C$ for the program. Why is its interval wider, as a share, than that of a small one?
        """
    )
    return (text,)


@app.cell
def _(asked_slider, digits_menu, gaps, named, said, text, took_slider, touching):
    page(text, [took_slider, asked_slider, digits_menu, named], [touching, gaps], [said])
    return


if __name__ == "__main__":
    app.run()
