"""The mathematics of DML-eig (Ying, Li 2012), row by row beside problem.py."""

from __future__ import annotations

from cvxml.statement import Row, Section, Statement

PRINTED = Section(
    "the problem in the metric A of the features",
    (
        Row(
            "max over A psd:  min over dissimilar pairs tau in D of <X_tau, A>;   minimised: its negative",
            r"\max_{A \succeq 0}\ \min_{\tau \in \mathcal{D}} \langle X_\tau, A \rangle"
            r" \quad \text{(minimised: its negative)}",
            equation="2",
        ),
        Row("<X_S, A> <= 1", r"\langle X_{\mathcal{S}}, A \rangle \le 1", equation="2"),
        Row(
            "X_tau = (x_i - x_j)(x_i - x_j)^T of the pair tau = (i, j)",
            r"X_\tau = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T, \quad \tau = (i, j)",
        ),
        Row(
            "below, A = X_S^-1/2 M X_S^-1/2 and X~_tau = X_S^-1/2 X_tau X_S^-1/2",
            r"A = X_{\mathcal{S}}^{-1/2} M X_{\mathcal{S}}^{-1/2}, \quad"
            r" \tilde{X}_\tau = X_{\mathcal{S}}^{-1/2} X_\tau X_{\mathcal{S}}^{-1/2}",
        ),
    ),
)
ROOT = Section(
    "the coordinates",
    (
        Row(
            "X_S = sum of X_tau over the similar pairs",
            r"X_{\mathcal{S}} = \sum_{\tau \in \mathcal{S}} X_\tau, \quad \mathcal{S} \text{ the similar pairs}",
            "X_S = ",
        ),
        Row(
            "R^T R = X_S^-1: X_S^-1/2 up to a rotation",
            r"R^T R = X_{\mathcal{S}}^{-1} \text{: } X_{\mathcal{S}}^{-1/2} \text{ up to a rotation}",
            "root: FloatArray = ",
        ),
    ),
    "inverse_root",
)
PROBLEM = Section(
    "the same in M, negated",
    (
        Row(
            "min over M, least:  - least",
            r"\min_{M,\, \mathrm{least}}\ {-\mathrm{least}}",
            "return cp.Problem(",
        ),
        Row("M psd,  tr M = 1", r"M \succeq 0, \quad \operatorname{tr} M = 1", "constraints = [M >> 0"),
        Row(
            "<X~_tau, M> >= least for every tau in D",
            r"\langle \tilde{X}_\tau, M \rangle \ge \mathrm{least} \quad \text{for every } \tau \in \mathcal{D}",
            "constraints += [x @ M @ x >= least]",
        ),
        Row(
            "X~_tau = x x^T,  x = R (x_i - x_j)",
            r"\tilde{X}_\tau = x x^T, \quad x = R (\mathbf{x}_i - \mathbf{x}_j)",
            "x = root @",
        ),
    ),
    "literal",
)
DUAL = Section(
    "its dual",
    (
        Row(
            "max over q:  - lambda_max( sum_tau q_tau X~_tau )",
            r"\max_{q}\ {-\lambda}_{\max} \Bigl( \sum_{\tau \in \mathcal{D}} q_\tau \tilde{X}_\tau \Bigr)",
            "return cp.Problem(",
        ),
        Row(
            "sum_tau q_tau = 1",
            r"\sum_{\tau \in \mathcal{D}} q_\tau = 1",
            "return cp.Problem(",
        ),
        Row("q_tau >= 0", r"q_\tau \ge 0", "q = cp.Variable("),
    ),
    "dual",
)
PROVED = Section(
    "what is proved",
    (
        Row(
            "any q >= 0 with sum 1 is a bound: no A within the budget has all dissimilar pairs further apart than"
            " it says",
            r"\text{any } q \ge 0 \text{ with sum } 1 \text{ is a bound: no } A \text{ within the budget}"
            r" \text{ has all dissimilar pairs further apart than it says}",
        ),
    ),
)
STATEMENT = Statement((PRINTED, ROOT, PROBLEM, DUAL, PROVED))
