"""The mathematics of MLSVM (paper 002), row by row beside problem.py; of the kernel form in kernel_statement.py."""

from __future__ import annotations

from cvxml.statement import Row, Section, Statement

PROBLEM = Section(
    "the problem",
    (
        Row(
            "min over A, xi:  lam/2 ||A||^2 + 1/n sum_i xi_i",
            r"\min_{\mathbf{A},\, \xi}\ \frac{\lambda}{2} \lVert \mathbf{A} \rVert_F^2"
            r" + \frac{1}{n} \sum_{i=1}^{n} \xi_i",
            "return cp.Problem(cp.Minimize(",
            "2",
        ),
        Row(
            "A psd,  xi >= 0",
            r"\mathbf{A} \succeq 0, \quad \xi \ge 0",
            "constraints = [A >> 0, xi >= 0]",
            "2",
        ),
        Row(
            "for every i:  min_{j in I_i} d_A(x_i, x_j)\n>= max_{l in T_i} d_A(x_i, x_l)\n+ 1 - xi_i",
            r"\min_{j \in I_i} d_{\mathbf{A}}(\mathbf{x}_i, \mathbf{x}_j)"
            r" \ge \max_{l \in T_i} d_{\mathbf{A}}(\mathbf{x}_i, \mathbf{x}_l) + 1 - \xi_i"
            r" \quad \text{for every } i",
            "nearest_impostor = ",
            "2",
        ),
        Row(
            "d_A(x_i, x_j) = (x_i - x_j)^T A (x_i - x_j)",
            r"d_{\mathbf{A}}(\mathbf{x}_i, \mathbf{x}_j)"
            r" = (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{A} (\mathbf{x}_i - \mathbf{x}_j)",
            "return (X[i] - X[j]) @ A",
        ),
        Row(
            "I_i = {j : x_j in N(x_i), y_j != y_i},\nT_i = {l : x_l in N(x_i), y_l = y_i}",
            r"I_i = \{ j : \mathbf{x}_j \in \mathcal{N}(\mathbf{x}_i),\ y_j \ne y_i \}, \quad"
            r" T_i = \{ l : \mathbf{x}_l \in \mathcal{N}(\mathbf{x}_i),\ y_l = y_i \}",
            "impostors, targets = ",
        ),
        Row(
            "no constraint on i (xi_i = 0)\nwhere I_i or T_i is empty",
            r"\text{no constraint on } i \ (\xi_i = 0) \text{ where } I_i \text{ or } T_i \text{ is empty}",
            "if len(impostors) == 0",
        ),
    ),
    "literal",
)
DUAL = Section(
    "its dual",
    (
        Row(
            "max over u, w:  sum_i s_i - 1/(2 lam) ||P_+(G)||^2",
            r"\max_{u,\, w}\ \sum_i s_i - \frac{1}{2\lambda} \lVert P_+(G) \rVert_F^2",
            "return cp.Problem(cp.Maximize(cp.sum(cp.hstack(s))",
        ),
        Row("u_ij >= 0 for j in I_i", r"u_{ij} \ge 0 \quad (j \in I_i)", "u = cp.Variable("),
        Row("w_il >= 0 for l in T_i", r"w_{il} \ge 0 \quad (l \in T_i)", "w = cp.Variable("),
        Row(
            "for every i:  sum_j u_ij = sum_l w_il = s_i <= 1/n",
            r"\sum_j u_{ij} = \sum_l w_{il} = s_i \le \frac{1}{n} \quad \text{for every } i",
            "constraints += [cp.sum(u_i) == cp.sum(w_i)",
        ),
        Row(
            "G = sum_i ( sum_j u_ij X_ij - sum_l w_il X_il )",
            r"G = \sum_i \Bigl( \sum_j u_{ij} X_{ij} - \sum_l w_{il} X_{il} \Bigr)",
            "G = ",
        ),
        Row(
            "X_ij = (x_i - x_j)(x_i - x_j)^T",
            r"X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T",
            "return np.outer(X[i] - X[j]",
        ),
        Row(
            "P_+ drops negative eigenvalues:\n||P_+(G)||^2 = min over S psd of ||G + S||^2",
            r"\lVert P_+(G) \rVert_F^2 = \min_{S \succeq 0} \lVert G + S \rVert_F^2,"
            r" \quad P_+ \text{ drops negative eigenvalues}",
            "constraints = [S >> 0]",
        ),
        Row(
            "no i has both I_i and T_i: no price, the bound is 0",
            r"\text{where no } i \text{ has both } I_i \text{ and } T_i \text{: no price, and the bound is } 0",
            "return cp.Problem(cp.Maximize(-cp.sum_squares(S)",
        ),
    ),
    "dual",
)
PROVED = Section(
    "what is proved",
    (
        Row("A = P_+(G) / lam at the optimum", r"\mathbf{A} = P_+(G) / \lambda \quad \text{at the optimum}"),
        Row(
            "any feasible u, w give a lower bound;  ||A - A*|| <= sqrt(2 gap / lam)",
            r"\text{any feasible } u, w \text{ give a lower bound;} \quad"
            r" \lVert \mathbf{A} - \mathbf{A}^* \rVert_F \le \sqrt{2\, \mathrm{gap} / \lambda}",
        ),
    ),
)
STATEMENT = Statement((PROBLEM, DUAL, PROVED))
