# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: the theorem behind all convex methods: any metric gives an upper bound, any dual variables a lower bound.

A marimo notebook. The problem is a regularizer R(M) plus a loss of rows v_t = <M, V_t>, for example one row for each
triplet. The dual variables of the rows are called prices. The reader chooses regularizer, loss, metric and prices, and
sees both bounds.
"""

import marimo

app = marimo.App(width="full", app_title="One theorem")

with app.setup:
    from collections.abc import Iterator
    from typing import Any, NamedTuple

    import cvxpy as cp
    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml.core.backend import solve_problem
    from cvxml.core.metric import FloatArray, IntArray, project_psd
    from cvxml.displays import MetricEllipseDisplay
    from cvxml.family.losses.groups import Spread
    from cvxml.family.losses.hinge import Hinge
    from cvxml.family.losses.log_sum_exp import LogSumExp
    from cvxml.family.losses.squared_hinge import SquaredHinge
    from cvxml.family.regularizers.frobenius import Frobenius
    from cvxml.family.regularizers.linear import Linear
    from cvxml.family.rows.base import Block, Duals, View, Weights
    from cvxml.family.rows.by_point import ByPoint
    from cvxml.family.rows.pairs import PairRows
    from cvxml.family.rows.triplets import Triplets
    from cvxml.family.theorem.strict_prices import Anchors
    from cvxml.family.theorem.theorem import Family, Proof, Term, prove, value
    from cvxml.lessons._page import BENEATH, COLOURS, drawn, page

    PULL, NORM = "⟨C, M⟩: targets near", "½ ‖M‖²: M small"
    TRIPLET, SQUARED, POINT, SOFT = (
        "hinge, each triplet",
        "squared hinge, each triplet",
        "hinge, one for each point",
        "log Σ exp, one for each point",
    )


@app.class_definition
class Anywhere(Anchors):
    """Leave all prices of the log sum exp loss unchanged, because they are feasible for the regularizer 1/2 ||M||^2.

    Anchors are feasible prices with which other prices are mixed. The base class is for the regularizer <C, M>. There,
    prices may be infeasible, and are mixed with anchors until they are feasible. With 1/2 ||M||^2, all prices in the
    domain of the loss are feasible.
    """

    def feasible(self, own: Duals, others: list[Duals]) -> list[Duals]:
        return [own]


@app.class_definition
class ByPairs(ByPoint):
    """Rows v_ik = D_ik: the squared distances from each point i to all points k, computed as a list of pairs.

    A view is an object that computes distances of the points in a metric. The base class calls its method
    `from_points`, for all distances from a point at once. The view for the regularizer 1/2 ||M||^2 lacks this method,
    but every view has the method `pairs`, which is called here.
    """

    def blocks(self, view: View, duals: Duals, kept: float = np.inf) -> Iterator[Block]:
        """Yield one `Block` with the values of all rows in a metric: a table (n, n) with D_ik at the place (i, k).

        view: the points under the metric. duals: the prices. kept: not used.
        """
        D, error = view.pairs(np.argwhere(np.ones((self.n, self.n))))
        yield Block(D.reshape(self.n, self.n), error.reshape(self.n, self.n), self.table(duals))


@app.class_definition
class Setting(NamedTuple):
    """A problem in the form of the theorem. family: its regularizer and its one loss, which has t rows.

    V: (t, 4), the matrix (2, 2) of each row, flattened. key: (t,), the key of each row in `Duals`.

    alike: (t,), prices to start from, equal for all rows of one kind, such as all impostors.

    phi: the loss, a function of a cvxpy expression v (t,).
    """

    family: Family
    V: FloatArray  # (t, 4) the matrix V_t of each row, so that v = <M, V_t>
    key: IntArray  # (t,) the keys of the rows
    alike: FloatArray  # (t,) equal prices, as a start
    phi: Any  # the loss, a function of a cvxpy expression v (t,)

    def proof(self, a: FloatArray) -> Proof:
        """Return the lower bound that prices a (t,) prove, and these prices, repaired if they are infeasible."""
        return prove(self.family, [Duals(a, self.key)])


@app.function
def points() -> tuple[FloatArray, IntArray]:
    """Return two classes of six points, X (12, 2) and y (12,).

    The classes overlap a little in the first feature, and completely in the second.
    """
    rng = np.random.default_rng(5)
    y = np.arange(12) % 2
    X = rng.standard_normal((12, 2)) * [0.4, 1.0]
    X[:, 0] += 1.0 * y
    return X.round(2), y


@app.function
def setting(X: FloatArray, y: IntArray, regularizer: str, loss: str, w: float) -> Setting:
    """Return the problem "regularizer plus w times the loss" on the points X with labels y.

    regularizer, loss: a choice in the menus of the lesson. The targets of a point are all other points of its class.
    Its impostors are all points of the other class.
    """
    n = len(X)
    apart = X[:, None] - X
    outer = np.einsum("ijk,ijl->ijkl", apart, apart).reshape(n, n, 4)
    same, other = (y[:, None] == y) & ~np.eye(n, dtype=bool), y[:, None] != y
    targets = np.argwhere(same)
    R: Any = (
        Frobenius(X, 1.0)
        if regularizer == NORM
        else Linear(X, Weights(targets, np.ones(len(targets))), "targets differ from their points")
    )
    if loss in (TRIPLET, SQUARED):
        rows = Triplets(targets, other[targets[:, 0]])
        i, j, l = rows.named(Duals(np.zeros(0), rows.keys())).T
        hinge = Hinge(w) if loss == TRIPLET else SquaredHinge(w)

        def hinges(v: Any) -> Any:
            missed = cp.pos(1 - v)
            return w * cp.sum(missed if loss == TRIPLET else cp.square(missed))

        return Setting(
            Family(R, (Term(hinge, rows),)),
            outer[i, l] - outer[i, j],
            rows.keys(),
            np.full(len(i), w / 2),
            hinges,
        )
    pairs = np.argwhere(~np.eye(n, dtype=bool))
    if loss == POINT:
        near = other[tuple(pairs.T)]

        def spread(v: Any) -> Any:
            return w * sum(
                cp.pos(1 + cp.max(v[(pairs[:, 0] == i) & ~near]) - cp.min(v[(pairs[:, 0] == i) & near]))
                for i in range(n)
            )

        term = Term(Spread(w, pairs[:, 0], near), PairRows(pairs))
        alike = w * np.where(near, 1 / near.sum(), -1 / (~near).sum()) * n
        return Setting(Family(R, (term,)), outer[tuple(pairs.T)], np.arange(len(pairs)), alike, spread)

    among, by_point = ~np.eye(n, dtype=bool), ByPairs(np.arange(n), n)
    softmax = LogSumExp(np.full(n, w), among)
    anchors = (Anchors if regularizer == PULL else Anywhere)(R, softmax, by_point)

    def soft(v: Any) -> Any:
        return w * cp.sum(cp.log_sum_exp(-cp.reshape(v, (n, n - 1), order="C"), axis=1))

    family = Family(R, (Term(softmax, by_point),), anchors=anchors)
    return Setting(family, outer[tuple(pairs.T)], pairs @ (n, 1), np.full(len(pairs), w / (n - 1)), soft)


@app.function
def solved(here: Setting, regularizer: str) -> tuple[FloatArray, FloatArray]:
    """Return a nearly optimal metric (2, 2) and prices (t,) of the problem `here`, from a solver of cvxpy.

    regularizer: the one of the problem, as in the menu. The bounds of the lesson are proved also if the solver is
    inaccurate.
    """
    M, v = cp.Variable((2, 2), PSD=True), cp.Variable(len(here.V))
    R: Any = cp.sum_squares(M) / 2
    if regularizer == PULL:
        C = here.family.regularizer.C  # type: ignore[attr-defined]
        E = here.family.regularizer.X[C.pairs[:, 0]] - here.family.regularizer.X[C.pairs[:, 1]]
        R = cp.trace((E.T * C.w) @ E @ M)
    link = v == here.V @ cp.vec(M, order="C")
    solve_problem(cp.Problem(cp.Minimize(R + here.phi(v)), [link]), "clarabel")
    return project_psd(np.asarray(M.value)), np.asarray(link.dual_value)


@app.function
def left_over(here: Setting, M: FloatArray, proof: Proof) -> tuple[float, float]:
    """Return the two parts of the gap at M, both >= 0: the excess of the regularizer and the excess of the loss.

    proof: the lower bound of some prices, from `Setting.proof`.
    """
    R, ((loss, rows),) = here.family.regularizer, here.family.terms
    view = R.judge(M).view
    of_loss = sum(
        loss.part(block).excess.value for block in rows.blocks(view, proof.duals[0], loss.inactive_above)
    )
    return max(0.0, R.excess(view, proof.G).value), of_loss


@app.function
def known_as(regularizer: str, loss: str, w: float, n: int) -> tuple[str, dict[str, Any], float, str]:
    """Return the method that solves this problem: its id, its parameters, the ratio of objectives, and a text.

    The text names the method with its parameter.

    regularizer, loss: a choice in the menus of the lesson. w: the weight of the loss. n: the number of points, half of
    them in each of two classes. The ratio is the objective of this problem divided by that of the method. If the
    package has no such method, the id and the text are "".
    """
    of_class = n // 2 - 1  # targets of a point
    mu = w / (1 + w)
    if (regularizer, loss) in ((PULL, TRIPLET), (PULL, SQUARED)):
        name = "lmnn" if loss == TRIPLET else "lmnn:squared_hinge"
        words = "LMNN" if loss == TRIPLET else "LMNN with its hinge squared"
        return name, {"mu": mu, "n_neighbors": of_class}, 1 + w, f"{words}, μ = {mu:.3g}"
    if (regularizer, loss) == (NORM, POINT):
        lam = 1 / (n * w)
        return "mlsvm", {"lam": lam, "n_neighbors": n - 1}, 1 / lam, f"MLSVM, λ = {lam:.3g}"
    if (regularizer, loss) == (PULL, SOFT) and w == of_class:
        return "mcml", {}, float(of_class), "MCML"
    return "", {}, 1.0, ""


@app.cell
def _():
    regularizer_menu = mo.ui.dropdown([PULL, NORM], value=PULL, label="regularizer R", full_width=True)
    loss_menu = mo.ui.dropdown(
        [TRIPLET, SQUARED, POINT, SOFT], value=TRIPLET, label="loss φ", full_width=True
    )
    w_slider, metric_slider, prices_slider = (
        mo.ui.slider(steps=steps, value=value, label=label, show_value=True, full_width=True)
        for label, value, steps in (
            ("weight w of the loss", 1.0, [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]),
            ("metric: 0 a multiple of I, 1 optimal", 0.5, np.linspace(0, 1, 21).round(2).tolist()),
            ("prices: 0 all equal, 1 optimal", 0.5, np.linspace(0, 1, 21).round(2).tolist()),
        )
    )
    return loss_menu, metric_slider, prices_slider, regularizer_menu, w_slider


@app.cell
def _(loss_menu, regularizer_menu, w_slider):
    regularizer, loss, w = regularizer_menu.value, loss_menu.value, w_slider.value
    return loss, regularizer, w


@app.cell
def _(metric_slider, prices_slider):
    along, paid = metric_slider.value, prices_slider.value
    return along, paid


@app.cell
def _(loss, regularizer, w):
    X, y = points()
    here = setting(X, y, regularizer, loss, w)
    best, best_prices = solved(here, regularizer)
    start = np.eye(2) * max(float(np.trace(best)) / 2, 1e-3)
    shares = np.linspace(0, 1, 21)
    objectives = np.array([value(here.family, (1 - s) * start + s * best).value for s in shares])
    bounds = np.array([here.proof((1 - s) * here.alike + s * best_prices).bound.value for s in shares])
    return X, best, best_prices, bounds, here, objectives, shares, start, y


@app.cell
def _(loss, objectives, regularizer, w, X, y):
    method, params, times, words = known_as(regularizer, loss, w, len(X))
    theirs = cvxml.solve(method, X, y, **params) if method else None
    if theirs is None:
        known = mo.md("**Not a method of this package.** The bound is proved nevertheless.")
    else:
        known = mo.md(
            f'**This is {words}.** `cvxml.solve("{method}")` proves that {times:.3g} times its optimum is between '
            f"{times * theirs.lower_bound:.7g} and {times * theirs.objective:.7g}. Ours is {objectives[-1]:.7g}."
        )
    return known, method, theirs, times


@app.cell
def _(X, along, best, best_prices, bounds, here, objectives, paid, shares, start, y):
    metric = (1 - along) * start + along * best
    proof = here.proof((1 - paid) * here.alike + paid * best_prices)
    primal, dual = value(here.family, metric).value, proof.bound.value
    of_regularizer, of_loss = left_over(here, metric, proof)

    def draw_bounds(ax):
        ax.plot(shares, objectives, color=COLOURS[0], lw=2, label="objective of the metric")
        ax.plot(shares, bounds, "--", color=COLOURS[3], lw=2, label="bound of the prices")
        ax.plot(along, primal, "o", color=COLOURS[0], ms=10)
        ax.plot(paid, dual, "D", color=COLOURS[3], ms=9)
        ax.axhspan(dual, primal, color=COLOURS[5], alpha=0.3, lw=0, label="the gap contains the optimum")
        ax.set_xlabel("share of the way to the optimum")
        high = objectives.max() - objectives[-1]
        low = max(
            bounds.min(), objectives[-1] - 1.5 * high - 0.1
        )  # the bound of equal prices may be very low
        ax.set_ylim(low - 0.1 * (high + 0.1), objectives.max() + 0.1 * (high + 0.1))
        ax.set_title(f"{dual:.5g} ≤ optimum ≤ {primal:.5g}", loc="left")
        ax.legend()

    def draw_parts(ax):
        ax.barh([1], [of_regularizer], color=COLOURS[4], height=0.5)
        ax.barh([0], [of_loss], color=COLOURS[2], height=0.5)
        ax.set_yticks([1, 0], ["R - ⟨M, G⟩ - r", "φ - k + a v"])
        ax.set_xlim(0, 1.05 * max(of_regularizer, of_loss, 1e-6))
        ax.set_ylim(-0.6, 1.6)
        ax.set_title(f"gap {primal - dual:.3g} = sum of two parts", loc="left")

    def draw_metric(ax):
        MetricEllipseDisplay.from_metric(metric, X, y, ax=ax)
        ax.set_title("balls of M", loc="left")
        ax.legend(**BENEATH)

    between = drawn(
        draw_bounds, "the objective of metrics above the bound of prices, and the gap between", (5.2, 4.0)
    )
    parts = drawn(draw_parts, "the two parts of the gap: of the regularizer, and of the loss", (5.2, 1.9))
    balls = drawn(draw_metric, "the points with the unit ball of the metric chosen", (5.2, 5.4))
    return balls, between, dual, metric, of_loss, of_regularizer, parts, primal


@app.cell
def _():
    text = mo.md(
        r"""
        # One theorem

        LMNN, MLSVM, MCML and a dozen other methods are special cases of one problem, with a regularizer $R$ and a loss
        $\varphi$:

        $$\min_{M \succeq 0}\ R(M) + \varphi(v), \qquad v_t = \langle M, V_t \rangle.$$

        $M \succeq 0$ means that $M$ is symmetric, with no negative eigenvalue. A row $v_t$ is built from squared
        distances $D_{ij} = (x_i - x_j)^T M (x_i - x_j)$. For a triplet, $v = D_{il} - D_{ij}$, where $j$ has the class
        of $i$ (a target) and $l$ has another class (an impostor). In other losses $v$ is a distance itself.

        **The bound.** Choose a number $a_t$ for each row, its *price* (the dual variable). Let $G = \sum_t a_t V_t$. If

        $$\varphi(v) \ge k(a) - a^T v \quad \text{for every } v,$$

        $$R(M) - \langle M, G \rangle \ge r(G) \quad \text{for every } M \succeq 0,$$

        then add the two inequalities. $a^T v$ equals $\langle M, G \rangle$ and cancels, so every metric has an
        objective of at least $k(a) + r(G)$.

        | | bound |
        |---|---|
        | hinges $w[1 - v]_+$ | $k = \sum a$, $0 \le a \le w$ |
        | their squares | $k = \sum a - a^2/4w$, $a \ge 0$ |
        | $w \log \sum e^{-v}$ | $k = -\sum a \log (a/w)$, $\sum a = w$ |
        | $\langle C, M \rangle$ | $r = 0$ where $C - G \succeq 0$ |
        | $\frac12\|M\|^2$ | $r = -\frac12\|P_+(G)\|^2$ |

        $P_+(G)$ is $G$ with its negative eigenvalues set to 0. $C$ is $\sum (x_i - x_j)(x_i - x_j)^T$ over all targets.

        **Observe.** Every metric gives a number at or above the optimum, and every choice of prices gives a number at
        or below it. The two numbers are equal only if both are optimal. The gap is the sum of two nonnegative parts,
        one for each inequality. Both parts must be 0 at the optimum.

        **Proved.** The shaded band is proved by `family/theorem`, for every setting. A solver found the right ends of
        the two sliders, but the proof does not depend on it. Prices outside their domain are first moved into it.

        ### Try

        1. Leave the metric at 1 and move the prices, then do the reverse. Which of the two parts remains each time?
        2. Find LMNN, LMNN with squared hinges, MLSVM and MCML. Which weight gives MCML, and why this one?
        3. Choose the norm with $\log \sum \exp$. This problem does not contain the classes. What does its metric do?
        """
    )
    return (text,)


@app.cell
def _(
    balls, between, known, loss_menu, metric_slider, parts, prices_slider, regularizer_menu, text, w_slider
):
    page(
        text,
        [regularizer_menu, loss_menu, w_slider, metric_slider, prices_slider, known],
        [between, parts, balls],
    )
    return


if __name__ == "__main__":
    app.run()
