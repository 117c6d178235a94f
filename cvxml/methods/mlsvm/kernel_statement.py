"""The mathematics of kernel MLSVM (paper 002): its problem, which is that of statement.py on the rows e_i of E."""

from __future__ import annotations

import re

from cvxml.methods.mlsvm.statement import DUAL, PROBLEM, PROVED
from cvxml.statement import Row, Section, Statement


def _on_e(section: Section) -> Section:
    """A section of statement.py with e_i for x_i."""
    rows = tuple(
        row._replace(
            text=re.sub(r"\bx_(?=[ijl]\b)", "e_", row.text),
            latex=row.latex.replace(r"\mathbf{x}_", r"\mathbf{e}_"),
        )
        for row in section.rows
    )
    return section._replace(rows=rows)


KERNEL = Section(
    "the problem in the feature space",
    (
        Row(
            "A = sum_ij phi_ij Phi(x_i) Phi(x_j)^T,   K_ij = <Phi(x_i), Phi(x_j)> = kappa(x_i, x_j)",
            r"\mathbf{A} = \sum_{i,j} \varphi_{ij} \Phi(\mathbf{x}_i) \Phi(\mathbf{x}_j)^T, \quad"
            r" \mathbf{K}_{ij} = \langle \Phi(\mathbf{x}_i), \Phi(\mathbf{x}_j) \rangle"
            r" = \kappa(\mathbf{x}_i, \mathbf{x}_j)",
        ),
        Row(
            "min over phi, xi:  lam/2 ||K^(1/2) phi K^(1/2)||^2 + 1/n sum_i xi_i",
            r"\min_{\varphi,\, \xi}\ \frac{\lambda}{2} \lVert \mathbf{K}^{1/2} \varphi \mathbf{K}^{1/2} \rVert_F^2"
            r" + \frac{1}{n} \sum_{i=1}^{n} \xi_i",
            equation="2",
        ),
        Row(
            "K^(1/2) phi K^(1/2) psd,  xi >= 0",
            r"\mathbf{K}^{1/2} \varphi \mathbf{K}^{1/2} \succeq 0, \quad \xi \ge 0",
            equation="2",
        ),
        Row(
            "for every i:  min_{j in I_i} d(i, j) >= max_{l in T_i} d(i, l) + 1 - xi_i",
            r"\min_{j \in I_i} d(i, j) \ge \max_{l \in T_i} d(i, l) + 1 - \xi_i \quad \text{for every } i",
            equation="2",
        ),
        Row(
            "d(i, j) = (K_i - K_j)^T phi (K_i - K_j),   K_i the column i of K",
            r"d(i, j) = (\mathbf{K}_i - \mathbf{K}_j)^T \varphi (\mathbf{K}_i - \mathbf{K}_j),"
            r" \quad \mathbf{K}_i \text{ the column } i \text{ of } \mathbf{K}",
        ),
    ),
)
COORDINATES = Section(
    "which is the problem of mlsvm, below, on the rows of E",
    (
        Row(
            "K = E E^T,  E of full column rank with rows e_i;   A below is E^T phi E",
            r"\mathbf{K} = E E^T, \quad E \text{ of full column rank with rows } \mathbf{e}_i;"
            r" \quad \mathbf{A} \text{ is then } E^T \varphi E",
        ),
        Row(
            "N(e_i): the neighbours in the feature space",
            r"\mathcal{N}(\mathbf{e}_i): \text{ the neighbours in the feature space}",
        ),
    ),
)
STATEMENT = Statement((KERNEL, COORDINATES, _on_e(PROBLEM), _on_e(DUAL), PROVED))
