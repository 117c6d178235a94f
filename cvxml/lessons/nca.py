# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: NCA's f and g, the scale of A, the convex case and infinity (Goldberger et al. 2004).

A marimo notebook. f is the expected number of points that pick a neighbour of their class, and g is the log likelihood
of these picks. The reader changes the scale and the directions of the metric Q = A^T A. Further examples are a case in
which -g is convex, and data for which no metric attains the optimum.
"""

import marimo

app = marimo.App(width="full", app_title="NCA: f, g and the scale")

with app.setup:
    import warnings
    from collections.abc import Sequence

    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.metric import FloatArray, IntArray, components_of
    from cvxml.displays import MetricEllipseDisplay
    from cvxml.lessons._page import BENEATH, drawn, page, table
    from cvxml.methods.nca.descent import Pairs
    from cvxml.methods.nca.instance import instance

    KINDS = ("classes that overlap", "classes that some metric separates", "every class two points")
    SCALES = np.exp2(np.linspace(-4, 6, 41))


@app.function
def points(kind: str) -> tuple[FloatArray, IntArray]:
    """Return twenty-four points in the plane and their classes; the second feature is noise. kind: one of `KINDS`."""
    rng = np.random.default_rng(7)
    Z = rng.standard_normal((24, 2))
    if kind == KINDS[2]:
        y = np.arange(24) // 2
        return np.column_stack([rng.standard_normal(12)[y] + 0.12 * Z[:, 0], 0.9 * Z[:, 1]]), y
    y = np.arange(24) % 2
    shift, width = (0.9, 0.6) if kind == KINDS[0] else (2.0, 0.35)
    return np.column_stack([width * Z[:, 0] + shift * y, Z[:, 1]]), y


@app.function
def between(t: float, angle: float, mix: float) -> FloatArray:
    """Return Q = 2 t^2 ((1 - mix) u u^T + mix v v^T), where the unit vector u has the direction `angle`, in degrees.

    v is orthogonal to u. For mix = 1/2, Q is t^2 times the identity.
    """
    a = np.deg2rad(angle)
    u, v = np.array([np.cos(a), np.sin(a)]), np.array([-np.sin(a), np.cos(a)])
    Q: FloatArray = 2 * t**2 * ((1 - mix) * np.outer(u, u) + mix * np.outer(v, v))
    return Q


@app.function
def f_and_g(X: FloatArray, y: IntArray, metrics: Sequence[FloatArray]) -> FloatArray:
    """Return the two criteria f and g of NCA for each of `metrics`, as an array (len(metrics), 2)."""
    each = [Pairs(instance(X, y, criterion=c)) for c in ("f", "g")]
    return np.array([[-sums.value_and_gradient(components_of(Q))[0] for sums in each] for Q in metrics])


@app.cell
def _():
    kind_menu = mo.ui.dropdown(list(KINDS), value=KINDS[0], label="data", full_width=True)
    scale_slider = mo.ui.slider(-4, 6, 0.5, value=0, label="scale: log₂ t", show_value=True, full_width=True)
    angle_slider = mo.ui.slider(
        steps=list(range(0, 95, 5)), value=0, label="direction u, degrees", show_value=True, full_width=True
    )
    mix_slider = mo.ui.slider(
        0,
        1,
        0.05,
        value=0.5,
        label="mix (0: u alone, ½: identity, 1: across)",
        show_value=True,
        full_width=True,
    )
    return angle_slider, kind_menu, mix_slider, scale_slider


@app.cell
def _(kind_menu):
    kind = kind_menu.value
    return (kind,)


@app.cell
def _(angle_slider, mix_slider, scale_slider):
    log2_t, angle, mix = scale_slider.value, angle_slider.value, mix_slider.value
    return angle, log2_t, mix


@app.cell
def _(kind):
    X, y = points(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status is shown
        solved = {c: cvxml.solve("nca", X, y, criterion=c) for c in ("f", "g")}
    return X, solved, y


@app.cell
def _(X, angle, log2_t, mix, y):
    t = 2.0**log2_t
    Q = between(t, angle, mix)
    values = cvxml.evaluate("nca", X, y, Q, criterion="g").values
    along_scale = f_and_g(X, y, [between(s, angle, mix) for s in SCALES])
    mixes = np.linspace(0, 1, 31)
    along_mix = f_and_g(X, y, [between(t, angle, m) for m in mixes])
    chord = (1 - mixes) * -along_mix[0, 1] + mixes * -along_mix[-1, 1]
    above_chord = float((-along_mix[:, 1] - chord).max())
    return Q, above_chord, along_mix, along_scale, chord, mixes, t, values


@app.cell
def _(X, Q, above_chord, along_mix, along_scale, chord, kind, mix, mixes, t, values, y):
    n = len(X)

    def draw_scale(ax):
        means = {
            "f / n, mean of $p_i$": along_scale[:, 0] / n,
            "exp(g / n), geometric mean": np.exp(along_scale[:, 1] / n),
        }
        for (name, mean), line in zip(means.items(), (("#0072B2", "-"), ("#D55E00", "--")), strict=True):
            ax.semilogx(SCALES, mean, color=line[0], ls=line[1], lw=2, base=2, label=name)
        ax.axhline(1, color="black", lw=1, ls=":", label="no metric attains 1")
        ax.axvline(t, color="#767676", lw=1)
        ax.plot([t, t], [values["f"] / n, np.exp(values["g"] / n)], "ko")
        ax.set_ylim(-0.03, 1.05)
        ax.set_xlabel("scale t of A")
        ax.set_title("the same directions, another scale", loc="left")
        ax.legend(loc="lower left")

    def draw_mix(ax):
        ax.plot(mixes, -along_mix[:, 1], color="#D55E00", lw=2, label="-g")
        ax.plot(mixes, chord, "--", color="#767676", label="chord between its ends")
        ax.fill_between(
            mixes, chord, -along_mix[:, 1], where=-along_mix[:, 1] > chord, color="#CC79A7", alpha=0.5
        )
        ax.plot(mix, -values["g"], "ko")
        ax.set_xlabel("mix: from u alone to across")
        ax.set_ylabel("-g, which is minimised")
        ax.set_title(
            "above its chord: not convex" if above_chord > 1e-9 else "not above its chord", loc="left"
        )
        ax.legend()

    def draw_points(ax):
        if kind == KINDS[2]:
            MetricEllipseDisplay.from_metric(Q, X, None, ax=ax)
            for pair in range(n // 2):
                ax.plot(*X[y == pair].T, color="#0072B2", lw=2, zorder=0, label="_" if pair else "a class")
        else:
            MetricEllipseDisplay.from_metric(Q, X, y, ax=ax)
        for j in range(1, n):
            ax.plot(*X[[0, j]].T, color="#CC79A7", lw=0.2 + 15 * float(values["p_ij"][0, j]), zorder=0)
        ax.plot(*X[0], "k*", ms=14)
        ax.set_title("lines: probabilities of the star's picks", loc="left")
        ax.legend(**BENEATH)

    picture = drawn(draw_scale, "f and g against the scale of A", (5.2, 3.8))
    chords = drawn(draw_mix, "minus g along a segment of metrics, with its chord", (5.2, 3.8))
    scatter = drawn(
        draw_points, "the points, the metric, and the probabilities of the neighbours of one", (5.2, 5.4)
    )
    return chords, picture, scatter


@app.cell
def _(solved, values):
    p = np.clip(values["p_ij"], 1e-300, 1)
    neighbors = float(np.exp(-(values["p_ij"] * np.log(p)).sum(axis=1)).mean())
    here = mo.md(
        f"""
        Here f = **{values["f"]:.4f}** of {len(values["p_i"])} and g = **{values["g"]:.4f}**. On average a point has
        **{neighbors:.2f}** effective neighbours (exp of the entropy of its $p_{{ij}}$). A larger scale
        {"increases" if values["scale_derivative"] < 0 else "decreases"} g.
        """
    )
    numbers = table(
        ["criterion", "value", "status", "notes of the run"],
        [
            [name, f"{-end.objective:.6f}", end.status.name, "; ".join((end.status.sentence, *end.notes[:1]))]
            for name, end in solved.items()
        ],
    )
    return here, neighbors, numbers


@app.cell
def _():
    text = mo.md(
        r"""
        # f, g and the scale

        In NCA (Goldberger et al. 2004) point $i$ picks a neighbour at random, and near points are more likely:

        $$p_{ij} = \frac{\exp(-\|A x_i - A x_j\|^2)}{\sum_{k \ne i} \exp(-\|A x_i - A x_k\|^2)},$$

        $$p_i = \sum_{j \in C_i} p_{ij}, \qquad C_i \text{ the others of its class}.$$

        NCA chooses $A$ so that the picked point has the right class. There are two criteria: $\max f = \sum_i p_i$
        maximises the expected number of right picks, and $\max g = \sum_i \log p_i$ maximises the likelihood. One point
        with a tiny $p_i$ hardly changes $f$, but it makes $g$ very small.

        **The scale is part of $A$.** With a small scale, every point picks all others about equally; $A = 0$ is
        stationary, so it is useless as a start. With a large scale, every point picks its nearest neighbour. So the
        scale determines the number of neighbours, and NCA chooses it. Suppose that for some metric the nearest
        neighbour of every point has the right class. Then a larger scale is always better: the suprema $f = n$ and
        $g = 0$ are approached and *not attained*. A program that stops there has not converged.

        **In $Q = A^T A$** the objective is a difference of convex functions,

        $$-g(Q) = \sum_i \Big[ \log \sum_{k \ne i} e_{ik} - \log \sum_{j \in C_i} e_{ij} \Big],$$

        with $e_{ij} = \exp(-\langle Q, X_{ij} \rangle)$ and $X_{ij} = (x_i - x_j)(x_i - x_j)^T$. So its graph may lie
        above a chord. If every class has *two* points, the second sum has one term, and its logarithm is linear. Then
        $-g$ is convex: its graph lies below every chord, and a $Q$ that is stationary over $Q \succeq 0$ is optimal.
        This does not hold for $f$.

        **Proved and unproved.** The status shows which facts are proved:

        - *CONVERGED*: optimal, with a lower bound (two points per class, criterion g).
        - *STATIONARY*: the convex step gains at most the tolerance. Better metrics may exist.
        - *NOT_ATTAINED*: proved, from the nearest neighbour of every point, or from a direction in which only classes
          differ.
        - *AT_INFINITY*: in double precision, larger multiples of the metric are as good or better; this is not a proof.
          A better finite metric is not excluded.

        A chord above the graph proves nothing. A graph above a chord proves that $g$ is not concave.

        ### Try

        1. Overlapping classes: compare the best scale for g with the best scale for f. Why is f less sensitive to a
           large scale?
        2. Separable classes: set mix to 0 and increase the scale. Read the table. Has the solver failed?
        3. Two points per class: look for a chord below the graph, at any scale and direction. Then do the same in the
           first data set.
        """
    )
    return (text,)


@app.cell
def _(angle_slider, chords, here, kind_menu, mix_slider, numbers, picture, scale_slider, scatter, text):
    page(
        text,
        [kind_menu, scale_slider, angle_slider, mix_slider, here],
        [scatter, picture, chords],
        [numbers],
    )
    return


if __name__ == "__main__":
    app.run()
