# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: CCCP for gerrymandering with a known global optimum (Trivedi et al. 2014).

A marimo notebook. A disc shows the metrics of trace 1: half the identity in the centre, rank one on the rim. The reader
chooses one of them as start, and sees whether CCCP ends at the global optimum, which branch and bound proves.
"""

import marimo

app = marimo.App(width="full", app_title="CCCP: descent to a stationary point")

with app.setup:
    import warnings
    from collections.abc import Sequence
    from typing import Any

    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.metric import FloatArray, IntArray
    from cvxml.core.result import Solution
    from cvxml.lessons._page import drawn, page, table
    from cvxml.methods.ssvm.inference import point_at, rescaled
    from cvxml.methods.ssvm.instance import instance

    DATA = {  # points, k, seed
        "8 points, k = 1": (8, 1, 0),
        "8 points, k = 1, others": (8, 1, 12),
        "6 points, k = 1": (6, 1, 6),
        "6 points, k = 3": (6, 3, 0),
    }


@app.function
def instance_of(name: str) -> tuple[FloatArray, IntArray, int]:
    """Return X (n, 2), y (n,) and k, the number of neighbours, of the data with this name in `DATA`.

    The points are normal, the two classes alternate, and the label is added to the first feature.
    """
    n, k, seed = DATA[name]
    rng = np.random.default_rng([seed, n, 2])
    y = np.arange(n) % 2
    X = rng.standard_normal((n, 2))
    X[:, 0] += y
    return X, y, k


@app.function
def metric_of(place: Sequence[float] | FloatArray) -> FloatArray:
    """Return the metric W = 1/2 [[1 + a, b], [b, 1 - a]] of trace 1 at the place (a, b) in the unit disc.

    The centre is half the identity, and the metrics on the rim have rank one.
    """
    a, b = place
    return 0.5 * np.array([[1 + a, b], [b, 1 - a]])


@app.function
def place_of(W: FloatArray) -> FloatArray:
    """Return the place (2,) of the metric W (2, 2) in the disc, for W divided by its trace; the centre for W = 0."""
    return np.array([W[0, 0] - W[1, 1], 2 * W[0, 1]]) / max(float(np.trace(W)), 1e-300)


@app.function
def landscape(X: FloatArray, y: IntArray, k: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return arrays a, b and F, each (radii, angles): a polar grid of places (a, b) in the disc, and F at each place.

    F is the objective at the best multiple of the metric of the place, for C = 1. k: the number of neighbours.
    """
    p = instance(X, y, n_neighbors=k, C=1.0)
    radius, angle = np.meshgrid(np.linspace(0, 1, 11), np.linspace(0, 2 * np.pi, 41), indexing="ij")
    a, b = radius * np.cos(angle), radius * np.sin(angle)
    F = np.array([rescaled(p, point_at(p, metric_of(place))).F for place in zip(a.flat, b.flat, strict=True)])
    return a, b, F.reshape(a.shape)


@app.function
def run_from(X: FloatArray, y: IntArray, k: int, W: FloatArray) -> tuple[Solution, list[FloatArray]]:
    """Run CCCP from the metric W. Return the solution and the metrics of all steps, in order.

    k: the number of neighbours. C is 1.
    """
    given: dict[str, Any] = {"n_neighbors": k, "C": 1.0, "init": W}
    solution = cvxml.solve("ssvm", X, y, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short runs warn that they are not stationary
        path = [cvxml.solve("ssvm", X, y, max_iter=t, **given).metric for t in range(1, solution.n_iter)]
    return solution, [*path, solution.metric]


@app.cell
def _():
    data_menu = mo.ui.dropdown(list(DATA), value="8 points, k = 1", label="data", full_width=True)
    angle_slider = mo.ui.slider(
        steps=list(range(0, 180, 5)),
        value=0,
        label="start: direction, degrees",
        show_value=True,
        full_width=True,
    )
    length_slider = mo.ui.slider(
        steps=[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        value=0.0,
        label="start: elongation (0: identity, 1: rank one)",
        show_value=True,
        full_width=True,
    )
    return angle_slider, data_menu, length_slider


@app.cell
def _(data_menu):
    data = data_menu.value
    return (data,)


@app.cell
def _(angle_slider, length_slider):
    angle, elongation = angle_slider.value, length_slider.value
    return angle, elongation


@app.cell
def _(data):
    X, y, k = instance_of(data)
    optimum = cvxml.solve("ssvm", X, y, n_neighbors=k, C=1.0, solver="global")
    disc = landscape(X, y, k)
    named = {
        name: cvxml.solve("ssvm", X, y, n_neighbors=k, C=1.0, init=name)
        for name in ("zero", "identity", "relieff", "random")
    }
    return X, disc, k, named, optimum, y


@app.cell
def _(X, angle, elongation, k, y):
    turn = np.deg2rad(2 * angle)  # W and its half turn are the same metric
    start_place = elongation * np.array([np.cos(turn), np.sin(turn)])
    solution, path = run_from(X, y, k, metric_of(start_place))
    return path, solution, start_place


@app.cell
def _(disc, optimum, path, solution, start_place):
    objectives = np.array([step.objective for step in solution.history])
    bounds = np.array([step.lower_bound for step in solution.history])
    stuck = 100 * (solution.objective / optimum.lower_bound - 1)

    def draw_descent(ax):
        steps = np.arange(1, len(objectives) + 1)
        ax.plot(steps, objectives, "o-", color="#0072B2", label="F of each iterate")
        ax.plot(steps, bounds, "v", color="#E69F00", label="lower bound for its convex step")
        ax.axhline(optimum.objective, color="black", ls="--", label="global optimum, certified")
        ax.set_xticks(steps if len(steps) < 12 else steps[::2])
        ax.set_xlabel("step of CCCP")
        ax.set_ylabel("F")
        ax.set_title(f"F ends {stuck:.2g} % above the global bound", loc="left")
        ax.margins(y=0.15)
        ax.legend()

    def draw_disc(ax):
        shown = ax.contourf(*disc, levels=16, cmap="cividis")
        ax.figure.colorbar(shown, ax=ax, label="F at the best multiple of W")
        places = np.array([start_place, *map(place_of, path)])
        ax.plot(*places.T, "-", color="white", lw=3)
        ax.plot(*places.T, ".-", color="#D55E00", lw=1.5, ms=10, label="CCCP")
        ax.plot(*places[0], "o", color="white", mec="black", ms=10, label="start")
        ax.plot(
            *place_of(optimum.metric),
            "*",
            color="white",
            mec="black",
            ms=18,
            clip_on=False,
            label="global optimum",
        )
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.set_title("directions of W; centre: identity", loc="left")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False)

    picture = drawn(draw_descent, "F against the step of CCCP, above the global optimum", (5.2, 3.8))
    path_over_disc = drawn(draw_disc, "the path of CCCP over the disc of all directions of a metric")
    return bounds, objectives, path_over_disc, picture, stuck


@app.cell
def _(k, named, optimum, solution, stuck):
    def excess(end):
        return 100 * (end.objective / optimum.objective - 1)

    numbers = table(
        ["start", "F at the end", "above the optimum", "steps", "status"],
        [
            [name, f"{end.objective:.6f}", f"{excess(end):.2g} %", end.n_iter, end.status.name.lower()]
            for name, end in {"**yours**": solution, **named}.items()
        ],
    )
    proved = mo.md(
        f"""
        Global optimum (k = {k}, C = 1): F = **{optimum.objective:.8f}**. Every metric has F of at least
        **{optimum.lower_bound:.8f}**. Branch and bound over the sets h* proves this, with dual variables for each leaf.
        Your run ends at {solution.objective:.8f}, **{stuck:.2g} %** above this bound. The certificate of your run alone
        proves that its convex step gains at most {solution.step_gap:.1e}, and that F >= {solution.lower_bound:g}.
        """
    )
    return numbers, proved


@app.cell
def _():
    text = mo.md(
        r"""
        # Descent to a stationary point

        Gerrymandering (Trivedi et al. 2014) minimises, over $W \succeq 0$,

        $$F(W) = \|W\|_F^2 + C \sum_i L(x_i, y_i, W), \tag{10}$$

        where $L$ is a maximum *minus* a maximum: a difference of convex functions. For the current $W$, CCCP finds the
        sets $h_i^*$ with which each point's class wins best. Then it keeps these sets fixed. With
        $P = \sum_i \Psi(x_i, h_i^*)$ the remaining problem is convex:

        $$\min_{W \succeq 0,\ t} \ \|W\|^2 + C \sum_i t_i - C \langle W, P \rangle,$$

        $$t_i \ge \langle W, \Psi(x_i, h) \rangle + \Delta(y_i, h) \ \text{ for all } h.$$

        Its objective is at least $F$ everywhere, and equal to $F$ at the current $W$. So $F$ never increases. The run
        ends at a $W$ that solves its own step; such a $W$ is called *stationary*. Other sets $h^*$ may give a smaller
        $F$, but no step tries them.

        **The global optimum.** Each choice of all $h_i^*$ gives one convex problem. The smallest of their optimal
        values is the minimum of $F$. For a dozen points, branch and bound (`solver="global"`) examines all choices. It
        skips a branch only if a lower bound excludes it.

        **The disc.** A 2 x 2 metric consists of a size and a direction. For each direction the best size is computed,
        because $F$ is convex along a ray. The directions fill a disc. In the centre all distances count equally; on the
        rim only one direction counts. In different valleys, different sets $h^*$ win. All directions meet at $W = 0$,
        where $F = CN$. A run that ends at $W = 0$ is drawn in the centre.

        **Proved and unproved.** Proved: the global optimum, to $10^{-6}$ of $\|W\|^2$, and that the end of a run is
        stationary. The colours of the disc are computed without a proof.

        ### Try

        1. Find a start from which the run reaches the optimum, and a nearby start from which it does not.
        2. With 6 points and $k = 3$: why is it so hard to leave $W = 0$?
        3. The triangles are lower bounds for one step, and at the end they meet $F$. Why does this not prove
           optimality?
        """
    )
    return (text,)


@app.cell
def _(angle_slider, data_menu, length_slider, numbers, path_over_disc, picture, proved, text):
    page(text, [data_menu, angle_slider, length_slider], [path_over_disc, picture], [proved, numbers])
    return


if __name__ == "__main__":
    app.run()
