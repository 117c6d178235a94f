"""The mathematics of ITML (Davis et al. 2007), row by row beside problem.py."""

from __future__ import annotations

from cvxml.statement import Row, Section, Statement

PROBLEM = Section(
    "the problem",
    (
        Row(
            "min over A, xi:  D_ld(A, A_0) + gamma D_ld(diag(xi), diag(xi_0))",
            r"\min_{A,\, \xi}\ D_{\mathrm{ld}}(A, A_0)"
            r" + \gamma\, D_{\mathrm{ld}}(\operatorname{diag}(\xi), \operatorname{diag}(\xi_0))",
            "return cp.Problem(cp.Minimize(divergence(A, A_0) + gamma * slack)",
        ),
        Row("A psd", r"A \succeq 0", "constraints = [A >> 0]"),
        Row(
            "d_A(x_i, x_j) <= xi_ij, (i, j) in S",
            r"d_A(\mathbf{x}_i, \mathbf{x}_j) \le \xi_{ij}, \quad (i, j) \in S \text{, similar}",
            "constraints += [d_A(i, j) <= xi[c]]",
        ),
        Row(
            "d_A(x_i, x_j) >= xi_ij, (i, j) in D",
            r"d_A(\mathbf{x}_i, \mathbf{x}_j) \ge \xi_{ij}, \quad (i, j) \in D \text{, dissimilar}",
            "constraints += [d_A(i, j) >= xi[c]]",
        ),
        Row(
            "d_A(x_i, x_j) = tr(A X_ij) = (x_i - x_j)^T A (x_i - x_j)",
            r"d_A(\mathbf{x}_i, \mathbf{x}_j) = \operatorname{tr}(A X_{ij})"
            r" = (\mathbf{x}_i - \mathbf{x}_j)^T A (\mathbf{x}_i - \mathbf{x}_j)",
            "return (X[i] - X[j]) @ A",
        ),
        Row(
            "xi_0 = u in S,  l in D",
            r"\xi_{0,ij} = u \ \text{ for } (i, j) \in S, \quad l \ \text{ for } (i, j) \in D",
            "xi_0 = ",
        ),
        Row(
            "D_ld(diag(xi), diag(xi_0)) = sum_ij [ xi/xi_0 - log(xi/xi_0) - 1 ]",
            r"D_{\mathrm{ld}}(\operatorname{diag}(\xi), \operatorname{diag}(\xi_0))"
            r" = \sum_{ij} \bigl[ \xi_{ij} / \xi_{0,ij} - \log(\xi_{ij} / \xi_{0,ij}) - 1 \bigr]",
            "ratio = ",
        ),
        Row(
            "no pairs: D_ld(A, A_0) alone",
            r"\text{where there are no pairs: } D_{\mathrm{ld}}(A, A_0) \text{ alone}",
            "return cp.Problem(cp.Minimize(divergence(A, A_0)), ",
        ),
    ),
    "literal",
)
DUAL = Section(
    "its dual",
    (
        Row(
            "max over lambda:  log det(A_0 Z) + gamma sum_S log(1 - lambda_ij u/gamma)"
            " + gamma sum_D log(1 + lambda_ij l/gamma)",
            r"\max_{\lambda}\ \log \det(A_0 Z) + \gamma \sum_S \log(1 - \lambda_{ij} u / \gamma)"
            r" + \gamma \sum_D \log(1 + \lambda_{ij} l / \gamma)",
            "terms = terms + ",
        ),
        Row("lambda_ij >= 0", r"\lambda_{ij} \ge 0", "lam = cp.Variable("),
        Row(
            "X_ij = (x_i - x_j)(x_i - x_j)^T",
            r"X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T",
            "X_ij = ",
        ),
        Row(
            "Z = A_0^-1 + sum_S lambda_ij X_ij - sum_D lambda_ij X_ij",
            r"Z = A_0^{-1} + \sum_S \lambda_{ij} X_{ij} - \sum_D \lambda_{ij} X_{ij}",
            "Z: Any = ",
        ),
    ),
    "dual",
)
DIVERGENCE = Section(
    "the divergence",
    (
        Row(
            "D_ld(A, A_0) = tr(A A_0^-1) - log det(A A_0^-1) - d",
            r"D_{\mathrm{ld}}(A, A_0) = \operatorname{tr}(A A_0^{-1}) - \log \det(A A_0^{-1}) - d",
            "return cp.trace(",
        ),
    ),
    "divergence",
)
PROVED = Section(
    "what is proved",
    (
        Row("A = Z^-1 at the optimum", r"A = Z^{-1} \text{ at the optimum}"),
        Row(
            "any lambda >= 0 with Z positive definite, and lambda_ij u < gamma in S, gives a lower bound",
            r"\text{any } \lambda \ge 0 \text{ with } Z \succ 0 \text{, and } \lambda_{ij} u < \gamma"
            r" \text{ in } S \text{, gives a lower bound}",
        ),
    ),
)
STATEMENT = Statement((PROBLEM, DUAL, DIVERGENCE, PROVED))
