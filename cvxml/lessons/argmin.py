# /// script
# [tool.marimo.display]
# theme = "system"
# ///
"""Lesson: what the argmin misprint in Algorithm 1 of MLSVM costs (Nguyen, Guo 2008)."""

import marimo

app = marimo.App(width="full", app_title="MLSVM: what a misprint costs")

with app.setup:
    import marimo as mo
    import numpy as np

    import cvxml
    from cvxml import datasets
    from cvxml.core.metric import FloatArray, IntArray
    from cvxml.lessons._page import drawn, page, table
    from cvxml.methods.mlsvm.algorithm1 import Run
    from cvxml.methods.mlsvm.method import algorithm1


@app.function
def chosen(name: str) -> tuple[FloatArray, IntArray]:
    """A data set that Algorithm 1 gets through in a moment: 40 points of an embedded set."""
    X, y = datasets.subsample(*datasets.load(name), 40, seed=2)
    return datasets.standardize(X), y


@app.function
def stall(run: Run) -> float:
    """The mean gap over the last quarter of a run: where it stands, if it stands."""
    return float(run.gaps[-max(1, len(run.gaps) // 4) :].mean())


@app.cell
def _():
    data_menu = mo.ui.dropdown(["balance", "iris", "wine"], value="balance", label="data", full_width=True)
    lam_slider = mo.ui.slider(
        steps=[0.02, 0.05, 0.1, 0.2, 0.5, 1.0], value=0.1, label="λ", show_value=True, full_width=True
    )
    steps_slider = mo.ui.slider(
        steps=[50, 100, 200, 400], value=200, label="iterations T", show_value=True, full_width=True
    )
    return data_menu, lam_slider, steps_slider


@app.cell
def _(data_menu):
    data = data_menu.value
    return (data,)


@app.cell
def _(lam_slider):
    lam = lam_slider.value
    return (lam,)


@app.cell
def _(steps_slider):
    n_steps = steps_slider.value
    return (n_steps,)


@app.cell
def _(data, lam):
    X, y = chosen(data)
    optimum = cvxml.solve("mlsvm", X, y, lam=lam)
    return X, optimum, y


@app.cell
def _(X, lam, n_steps, optimum, y):
    given = {"lam": lam, "lower_bound": optimum.lower_bound, "n_steps": n_steps}
    printed = algorithm1(X, y, paper=True, **given)
    corrected = algorithm1(X, y, **given)
    return corrected, printed


@app.cell
def _(X, corrected, lam, n_steps, optimum, printed, y):
    def draw_objectives(ax):
        ax.plot(
            printed.iterations, printed.objectives, color="#D55E00", lw=1.2, label="as printed: x⁺ = argmin"
        )
        ax.plot(
            corrected.iterations, corrected.objectives, color="#0072B2", lw=2, label="corrected: x⁺ = argmax"
        )
        ax.axhline(optimum.objective, color="black", ls="--", label="certified optimum")
        top = max(float(np.median(printed.objectives)), float(np.median(corrected.objectives)))
        low = optimum.objective
        ax.set_ylim(low - 0.15 * (top - low), top + 1.5 * (top - low))
        ax.set_xlabel("iteration t")
        ax.set_ylabel("objective (2)")
        ax.set_title("Algorithm 1, twice", loc="left")
        ax.legend(loc="upper right")

    def draw_gaps(ax):
        ax.loglog(printed.iterations, printed.gaps, color="#D55E00", lw=1.2, label="as printed")
        ax.loglog(corrected.iterations, corrected.gaps, color="#0072B2", lw=2, label="corrected")
        ax.loglog(
            corrected.iterations, corrected.gaps[0] / corrected.iterations, ":", color="#767676", label="1/t"
        )
        ax.set_xlabel("iteration t")
        ax.set_ylabel("objective - certified lower bound")
        ax.set_title("the gap of each iterate, proved", loc="left")
        ax.legend(loc="lower left")

    picture = drawn(
        draw_objectives, "the objective of both versions against the iteration, above the certified optimum"
    )
    proved_gaps = drawn(draw_gaps, "the proved gap of both versions against the iteration")
    excess = {
        name: 100 * (float(run.objectives.min()) / optimum.objective - 1)
        for name, run in (("as printed", printed), ("corrected", corrected))
    }
    numbers = table(
        [
            "Algorithm 1",
            "best of the run, above the optimum",
            "mean gap of the last quarter",
            "last objective",
        ],
        [
            [name, f"{excess[name]:.2f} %", f"{stall(run):.2e}", f"{run.objectives[-1]:.6f}"]
            for name, run in (("as printed", printed), ("corrected", corrected))
        ],
    )
    at = cvxml.evaluate("mlsvm", X, y, optimum.metric, lam=lam).values
    several = [
        len(own) > 1 for own, others in zip(at["targets"], at["impostors"], strict=True) if own and others
    ]
    proved = mo.md(
        f"""
        Of {len(X)} points {len(several)} have a constraint, {sum(several)} of them with more than one target: only
        these can the misprint touch. Optimum at λ = {lam:g}: objective **{optimum.objective:.9f}**, lower bound
        **{optimum.lower_bound:.9f}**, {optimum.rel_gap:.1e} of the scale. This metric is there for all to evaluate, so
        after {n_steps} iterations the version as printed is **at least {excess["as printed"]:.2f} %** too dear at its
        best iterate; since no metric is below the bound, not by much more. That it would never get there is not proved;
        see how flat the curve is.
        """
    )
    return excess, numbers, picture, proved, proved_gaps, several


@app.cell
def _():
    text = mo.md(
        r"""
        # What a misprint costs

        Algorithm 1 of MLSVM (Nguyen, Guo 2008) descends along a subgradient of (2). In each iteration it takes the
        points that violate their margin,

        $$V = \{\, i : \min_{j \in I_i} d_A(x_i, x_j) - \max_{l \in T_i} d_A(x_i, x_l) < 1 \},$$

        moves, with $\eta_t$ the step, and projects (psd first: negative eigenvalues become 0; then into the
        ball of radius $1/\sqrt\lambda$):

        $$A_{t + 1/3} = (1 - \eta_t \lambda) A_t + \frac{\eta_t}{n} \sum_{i \in V} \big[ X_i^- - X_i^+ \big],$$

        where $X_i^\pm = (x_i - x_i^\pm)(x_i - x_i^\pm)^T$, and $x_i^-$ is the nearest impostor by $d_A$.

        The derivative of $\max_l d_A(x_i, x_l)$ is that of the *furthest* target: $x_i^+ = \arg\max$. The paper prints

        $$x_i^+ = \arg\min_{l \in T_i} d_A(x_i, x_l),$$

        the nearest one. That is no subgradient of the problem, and the run may settle elsewhere. Where a point has a
        single target the two are the same: only the other points are moved wrongly.

        **The second erratum.** $\eta_t = 1/(\lambda t)$ makes $1 - \eta_1 \lambda = 0$: the first step erases $A_1$,
        whatever it was. The corrected run takes $1/(\lambda (t + 1))$; the printed one is run as printed.

        **What is proved.** Both runs are measured against the same lower bound, whose prices were checked by our own
        arithmetic. So each gap you see is a proof about that iterate. That the corrected gap falls like $1/(\lambda t)$
        is what is seen; a weaker bound for the best iterate is proved in `docs/mlsvm_algorithm.md`.

        ### Try

        1. Double $T$. Which of the two curves uses the time?
        2. Take iris, where most neighbourhoods are of one class. How many points can the misprint touch, and what does
           it cost?
        3. Make $\lambda$ large. Why do the two come closer? (Look at how far the certified optimum is from $A = 0$.)
        """
    )
    return (text,)


@app.cell
def _(data_menu, lam_slider, numbers, picture, proved, proved_gaps, steps_slider, text):
    page(text, [data_menu, lam_slider, steps_slider], [picture, proved_gaps], [numbers, proved])
    return


if __name__ == "__main__":
    app.run()
