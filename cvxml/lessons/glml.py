# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: GLML's metric for each query: definite, indefinite, singular, zero (Noh, Zhang, Lee 2010, 2018).

A marimo notebook. The four words describe the matrix B that GLML computes from the class densities at a query. They
decide if the optimal metric exists and is unique. The reader moves the query, and sees the metric and the densities
around it.
"""

import marimo

app = marimo.App(width="full", app_title="GLML: a metric for each query")

with app.setup:
    import warnings
    from functools import partial

    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.metric import FloatArray, IntArray
    from cvxml.displays import LocalMetricDisplay
    from cvxml.lessons._page import COLOURS, drawn, page, table
    from cvxml.methods.glml.definitions import density_at_distance
    from cvxml.methods.glml.instance import Generative

    GRID = 2.0**48
    SCENES = {  # mean and covariance of each class
        "two classes that differ": (
            ([-0.8, 0.0], [[1.0, 0.5], [0.5, 0.6]]),
            ([0.9, 0.2], [[0.4, -0.25], [-0.25, 1.1]]),
        ),
        "one within the other": (
            ([0.0, 0.0], [[0.25, 0.05], [0.05, 0.15]]),
            ([0.0, 0.0], [[1.4, 0.0], [0.0, 1.0]]),
        ),
        "equal covariances": (
            ([-1.0, 0.0], [[0.8, 0.3], [0.3, 0.5]]),
            ([1.0, 0.0], [[0.8, 0.3], [0.3, 0.5]]),
        ),
        "three classes": (
            ([-1.2, -0.2], [[1.0, 0.6], [0.6, 0.8]]),
            ([1.2, 0.0], [[0.5, -0.3], [-0.3, 1.2]]),
            ([0.0, 1.2], [[1.4, 0.0], [0.0, 0.3]]),
        ),
    }


@app.function
def points(scene: str) -> tuple[FloatArray, IntArray]:
    """Return X (n, 2) and y (n,): forty points per class, with the means and covariances that `SCENES` has for `scene`.

    The covariances of the points (sums divided by n) are those of the scene up to rounding. Each point has an opposite
    point, and the deviations from the mean lie on a grid on which sums are exact. So if the means are integers,
    covariances that are equal in the scene are also equal in rational arithmetic.
    """
    half = np.random.default_rng(3).standard_normal((20, 2))
    Z = np.concatenate([half, -half])
    Z = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ Z / len(Z))).T
    spread = [np.round(Z @ np.linalg.cholesky(Sigma).T * GRID) / GRID for _, Sigma in SCENES[scene]]
    classes = [np.asarray(mu) + points for points, (mu, _) in zip(spread, SCENES[scene], strict=True)]
    return np.vstack(classes), np.repeat(np.arange(len(classes)), len(Z))


@app.function
def seen_from(
    model: Generative, x: FloatArray, A: FloatArray, distances: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mean density of each class on circles around the query x (2,), in two ways: two arrays (t, C).

    There is one circle for each of the t `distances`: the points at this distance from x in the metric A (2, 2). The
    mean is divided by the density of the class at x. The first array has the second-order approximation of the paper,
    the second one the mean over 180 points of each circle. model: the densities of the C classes.
    """
    G = model.curvatures(x[None])[0]
    traces = np.einsum("de,ced->c", np.linalg.inv(A), G)
    one = np.ones(len(G))
    second = np.array([density_at_distance(one, traces, d**2, 2) for d in distances])
    angle = np.linspace(0, 2 * np.pi, 180, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) @ np.linalg.inv(np.linalg.cholesky(A))
    here = model.log_densities(x[None])[0]
    mean = [np.exp(model.log_densities(x + d * circle) - here).mean(axis=0) for d in distances]
    return second, np.array(mean)


@app.cell
def _():
    scene_menu = mo.ui.dropdown(list(SCENES), value="two classes that differ", label="data", full_width=True)
    steps = np.linspace(-2, 2, 41).round(1).tolist()
    across = mo.ui.slider(steps=steps, value=0.5, label="query, across", show_value=True, full_width=True)
    up = mo.ui.slider(steps=steps, value=0.4, label="query, up", show_value=True, full_width=True)
    return across, scene_menu, up


@app.cell
def _(scene_menu):
    scene = scene_menu.value
    return (scene,)


@app.cell
def _(across, up):
    query = (across.value, up.value)
    return (query,)


@app.cell
def _(scene):
    X, y = points(scene)
    estimator = cvxml.GLML().fit(X, y)
    side = np.linspace(-2, 2, 5)
    grid = np.array([(a, b) for b in side for a in side])
    return X, estimator, grid, y


@app.cell
def _(X, query, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows the status if no metric attains the infimum
        solution = cvxml.solve("glml", X, y, query=query)
    at = cvxml.evaluate("glml", X, y, solution.metric, query=query).values
    euclid = cvxml.evaluate("glml", X, y, np.eye(2), query=query).values
    return at, euclid, solution


@app.cell
def _(X, at, estimator, grid, query, solution, y):
    x = np.array(query)
    distances = np.linspace(0, 1, 11)
    ratios = {
        "Euclidean metric": seen_from(estimator.model_, x, np.eye(2), distances),
        "local metric": seen_from(estimator.model_, x, solution.metric, distances),
    }

    def draw_map(ax):
        LocalMetricDisplay.from_estimator(estimator, X, y, np.vstack([grid, x]), densities=True, ax=ax)
        ax.plot(*x, "k*", ms=15, mec="white", zorder=9)
        ax.set_title(f"B at the query (star) is {at['case'].split(':')[0]}", loc="left")

    def draw_ratio(ax, name):
        second, mean = ratios[name]
        for c, colour in zip(range(second.shape[1]), COLOURS, strict=False):
            ax.plot(distances, second[:, c], ("-", "--", "-.")[c], color=colour, label=f"class {c}")
            ax.plot(distances, mean[:, c], "o^s"[c], color=colour, ms=5)
        values = np.concatenate([part for pair in ratios.values() for part in pair])
        ax.set_ylim(max(-0.5, values.min() - 0.05), min(3.0, values.max() + 0.05))
        ax.set_xlabel("distance $d_N$ of the nearest neighbour")
        ax.set_ylabel("density there / density here")
        ax.set_title(name, loc="left")
        ax.legend(title="line: second order (6)\nmarks: mean on the circle")

    picture = drawn(draw_map, "local metrics over the plane, by their case, and at the query", (5.2, 6.0))
    seen = [
        drawn(
            partial(draw_ratio, name=name),
            f"the density of each class at a distance by the {name}",
            (5.2, 3.8),
        )
        for name in ratios
    ]
    return picture, ratios, seen


@app.cell
def _(at, euclid, solution):
    def traces(values, A):
        return [float(np.trace(np.linalg.inv(A) @ G)) for G in values["G"]]

    local_traces, euclid_traces = traces(at, solution.metric), traces(euclid, np.eye(2))
    header = ["metric", r"$(\mathrm{tr}\,A^{-1}B)^2$"]
    header += [rf"$\mathrm{{tr}}\,A^{{-1}}G_{c}$" for c in range(len(local_traces))]
    numbers = table(
        header,
        [
            ["Euclidean", f"{euclid['objective']:.3e}", *(f"{t:.4f}" for t in euclid_traces)],
            ["local", f"{at['objective']:.3e}", *(f"{t:.4f}" for t in local_traces)],
        ],
    )
    with np.printoptions(precision=4, suppress=True):
        proved = mo.md(
            f"""
            B is **{at["case"]}** (its eigenvalues, B of norm 1: {at["eigenvalues"]}).
            Objective {solution.objective:.6g}, lower bound **{solution.lower_bound:.6g}**. *{solution.status.sentence}*
            """
        )
    return euclid_traces, local_traces, numbers, proved


@app.cell
def _():
    text = mo.md(
        r"""
        # A metric for each query

        The nearest of $N$ points is at a distance $d_N$, and the density there differs from the density at the query.
        Its mean on the sphere of radius $d_N$ is, to second order,

        $$\tilde p = p + \frac{d_N^2}{2D}\, \nabla^2 p \tag{6}$$

        (Fig. 1 of 2010 prints $4D$). This biases the error of the nearest neighbour rule, and the bias depends on the
        metric. GLML (Noh, Zhang, Lee 2010, 2018) fits a Gaussian to each class. At each query $x$ it takes the metric

        $$\min_{A \succeq 0,\ |A| = 1} \big( \mathrm{tr}\, A^{-1} B \big)^2, \tag{11}$$

        $$B = \sum_{i < j} p_i p_j (p_j - p_i)(G_i - G_j).$$

        This is (14), written as a sum over pairs. $G_c$ is the Hessian of $p_c$ at $x$, divided by $p_c$. Under a
        metric $A$, the term $p_c\, \mathrm{tr}\, A^{-1} G_c$ takes the place of the Laplacian in (6).

        **Four cases.** The signs of the eigenvalues of $B$ decide.

        - *Definite:* one optimum, $A \propto |B|$, with a value above 0.
        - *Indefinite:* many metrics attain the value 0; (13) picks one.
        - *Singular* and semidefinite: the infimum is 0, and *no* metric attains it. The drawn metric is not optimal,
          because an optimal one does not exist.
        - *Zero*, if the $G_c$ agree or cancel: every metric is optimal.

        **Observe.** With two classes and an indefinite $B$, the local metric makes both Laplacians equal (17). The two
        lines of the last picture then coincide, and the distance of the neighbour does not favour a class. The marks
        show the true means, without the second-order approximation. They leave the lines as $d_N$ grows.

        **Proved and unproved.** In $M = A^{-1}$ the problem is convex, and its dual gives the bound (`docs/glml.md`).
        The proof is for the *fitted* Gaussians. It is an assumption that the data are Gaussian. It is measured
        elsewhere, and not proved, that the local metric makes fewer errors.

        ### Try

        1. Equal covariances: put the query on the line through the means (up = 0), then in the middle. Which cases
           occur?
        2. One class within the other: where is $B$ definite? Why can no metric make the two lines coincide there?
        3. Move slowly across a border between two cases. The paper of 2018 states that $A$ changes continuously. Does
           it?
        """
    )
    return (text,)


@app.cell
def _(across, numbers, picture, proved, scene_menu, seen, text, up):
    page(text, [scene_menu, across, up], [picture, *seen], [proved, numbers])
    return


if __name__ == "__main__":
    app.run()
