"""The mathematics of GLML (papers 000 and 003; numbers of 003), row by row beside problem.py."""

from __future__ import annotations

from cvxml.statement import Row, Section, Statement

PROBLEM = Section(
    "the problem at a query x, which is not convex in A",
    (
        Row(
            "min over A:  (tr[A^-1 B])^2   such that   |A| = 1, A psd",
            r"\min_{A}\ (\operatorname{tr}[A^{-1} B])^2 \quad \text{such that} \quad |A| = 1, \ A \succeq 0",
            equation="11",
        ),
        Row(
            "B = sum_i Hess(p_i) ( sum_{j != i} p_j^2 - p_i sum_{j != i} p_j )",
            r"B = \sum_{i=1}^{C} \nabla\nabla p_i \Bigl( \sum_{j \ne i} p_j^2 - p_i \sum_{j \ne i} p_j \Bigr)",
            equation="14",
        ),
        Row(
            "  = sum_{i < j} p_i p_j (p_j - p_i) (G_i - G_j),   G_i = Hess(p_i) / p_i",
            r"\phantom{B} = \sum_{i < j} p_i p_j (p_j - p_i) (G_i - G_j), \quad G_i = \nabla\nabla p_i / p_i",
        ),
        Row(
            "Gaussian classes:  G_c = S_c (x - mu_c)(x - mu_c)^T S_c - S_c,   S_c = (Sigma_c + alpha I)^-1",
            r"G_c = S_c (\mathbf{x} - \mu_c)(\mathbf{x} - \mu_c)^T S_c - S_c, \quad"
            r" S_c = (\Sigma_c + \alpha I)^{-1} \quad \text{(Gaussian)}",
            equation="15",
        ),
        Row(
            "p_i holds the prior of class i; only the direction of B matters: it is divided by its norm",
            r"p_i \text{ holds the prior of class } i \text{; only the direction of } B \text{ matters:}"
            r" \ B \leftarrow B / \lVert B \rVert",
        ),
    ),
)
CONVEX = Section(
    "the same, convex",
    (
        Row("M = A^-1 (D, D)", r"M = A^{-1} \in \mathbb{R}^{D \times D}", "M = cp.Variable("),
        Row(
            "min over M:  (tr[M B])^2",
            r"\min_{M}\ (\operatorname{tr}[M B])^2",
            "return cp.Problem(cp.Minimize(",
        ),
        Row(
            "log det M >= 0:  M / |M|^(1/D), of determinant 1,\nis no worse",
            r"\log \det M \ge 0 \quad \text{(} M / |M|^{1/D} \text{, of determinant } 1 \text{, is no worse)}",
            "return cp.Problem(cp.Minimize(",
        ),
    ),
    "problem",
)
DUAL = Section(
    "its dual",
    (
        Row(
            "max over y, u, D u - D u log(u/y) + u log det(s B) - y^2/4,  s = +-1 with s B positive definite",
            r"\max_{y,\, u}\ D u - D u \log(u / y) + u \log \det(s B) - y^2 / 4,"
            r" \quad s = \pm 1 \text{ with } s B \succ 0",
            "return cp.Problem(cp.Maximize(D * u",
        ),
        Row("y >= 0,  u >= 0", r"y \ge 0, \quad u \ge 0", "y, u = "),
        Row(
            "neither B nor -B positive definite:",
            r"\text{where neither } B \text{ nor } {-B} \text{ is positive definite:}",
            "if values[0] <= 0 <= values[-1]",
        ),
        Row(
            "max over y, u:  - y^2/4 - u,  y = 0;  it stands for y = u = 0, the value 0",
            r"\max_{y,\, u}\ {-y^2} / 4 - u, \quad y = 0 \text{; it stands for } y = u = 0 \text{, the value } 0",
            "return cp.Problem(cp.Maximize(-cp.square(y)",
        ),
        Row(
            "log det(s B) = sum_i log |lambda_i(B)|",
            r"\log \det(s B) = \sum_i \log |\lambda_i(B)|",
            "logdet = ",
        ),
    ),
    "dual",
)
PROVED = Section(
    "what is proved",
    (
        Row(
            "+-B positive definite:  the best y, u give (D |det B|^(1/D))^2, attained at A proportional to |B|",
            r"\pm B \succ 0 \text{: the best } y, u \text{ give } (D\, |\det B|^{1/D})^2,"
            r" \text{ attained at } A \propto |B|",
        ),
        Row(
            "B indefinite:  0 is attained, by many A",
            r"B \text{ indefinite: } 0 \text{ is attained, by many } A",
        ),
        Row(
            "B != 0, singular and semidefinite:  0 is the infimum, and not attained",
            r"B \ne 0 \text{ singular and semidefinite: } 0 \text{ is the infimum, and not attained}",
        ),
        Row("B = 0:  every A is optimal", r"B = 0 \text{: every } A \text{ is optimal}"),
    ),
)
STATEMENT = Statement((PROBLEM, CONVEX, DUAL, PROVED))
