"""A program for `cvxml conform` that knows nothing of cvxml: one question on stdin, one answer on stdout.

    cvxml conform -- python validation/programs/correct.py

MLSVM through cvxpy, GLML by its closed form, NCA by BFGS, and a few parts in numpy. What it cannot do it says.
"""

import json
import sys

import numpy as np


def mlsvm(given, weight=0.5, cone=True):
    """weight lam ||A||^2 + 1/n sum xi over A psd."""
    import cvxpy as cp

    X, lam = np.array(given["X"]), given["lam"]
    # centre first, then to unit size: X / s with lam / s^4 is the same problem; ||A|| is at most about 1/sqrt(lam)
    s = lam**0.25
    X = (X - X.mean(axis=0)) / s
    n, d = X.shape
    A = cp.Variable((d, d), symmetric=True)
    slacks = []
    for x, T, J in zip(X, given["targets"], given["impostors"], strict=True):
        if T and J:
            near, far = (cp.hstack([(x - X[j]) @ A @ (x - X[j]) for j in listed]) for listed in (J, T))
            slacks.append(cp.pos(1 + cp.max(far) - cp.min(near)))
    objective = weight * cp.sum_squares(A) + (cp.sum(cp.hstack(slacks)) / n if slacks else 0)
    problem = cp.Problem(cp.Minimize(objective), [A >> 0] if cone else [])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return {"metric": (psd(A.value) if cone else A.value) / s**2}


def psd(M):
    """The nearest psd matrix."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def densities(given):
    """log p_c and G_c at the query, and B / ||B||."""
    X, y, x = np.array(given["X"]), np.array(given["y"]), np.array(given["query"])
    logs, G = [], []
    for c, prior in enumerate(given["priors"]):
        points = X[y == c]
        S = np.linalg.inv(np.cov(points.T, bias=True) + given["alpha"] * np.eye(len(x)))
        pull = S @ (x - points.mean(axis=0))
        logs.append(np.log(prior) + np.linalg.slogdet(S)[1] / 2 - pull @ np.linalg.solve(S, pull) / 2)
        G.append(np.outer(pull, pull) - S)
    if len(G) == 2:
        sign = 1.0 if logs[1] >= logs[0] else -1.0
        return sign * (G[0] - G[1]) / np.linalg.norm(G[0] - G[1])
    p = np.exp(np.array(logs) - max(logs))
    B = sum(p[i] * p[j] * (p[j] - p[i]) * (G[i] - G[j]) for j in range(len(G)) for i in range(j))
    return B / np.linalg.norm(B)


def glml(given):
    """|B| on its eigenvectors, the positive ones times their number and the negative ones times theirs."""
    values, vectors = np.linalg.eigh(densities(given))
    if np.abs(values).min() < 1e-12:
        return {"status": "not attained"}
    counts = np.where(values > 0, (values > 0).sum(), (values < 0).sum())
    weights = counts * np.abs(values)
    return {"metric": (vectors * (weights / np.exp(np.log(weights).mean()))) @ vectors.T}


def right(given):
    """s (n, n): who is right for whom."""
    if "similarity" in given:
        return np.array(given["similarity"])
    y = np.array(given["y"])
    return (y[:, None] == y) * 1.0 - np.eye(len(y))


def nca_terms(X, s, A):
    """f, g and their gradients."""
    difference = X[:, None] - X
    exponents = -np.sum((difference @ A.T) ** 2, axis=2)
    np.fill_diagonal(exponents, -np.inf)
    exponents -= exponents.max(axis=1, keepdims=True)
    p = np.exp(exponents) / np.exp(exponents).sum(axis=1, keepdims=True)
    p_i = (s * p).sum(axis=1)
    used = p_i > 0
    pull_f = p * p_i[:, None] - s * p
    pull_g = np.where(used[:, None], p - s * p / np.where(used, p_i, 1)[:, None], 0.0)

    def gradient(weights):
        return 2 * A @ np.einsum("ij,ija,ijb->ab", weights, difference, difference)

    return p_i.sum(), np.log(p_i[used]).sum(), gradient(pull_f), gradient(pull_g)


def nca(given):
    """BFGS from the identity; a value that tends to its supremum is not attained."""
    from scipy.optimize import minimize

    X, s = np.array(given["X"]), right(given)
    d, at = X.shape[1], {"f": 0, "g": 1}[given["criterion"]]

    def objective(a):
        terms = nca_terms(X, s, a.reshape(d, d))
        return -terms[at], -terms[2 + at].ravel()

    found = minimize(
        objective, np.eye(d).ravel(), jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 5000}
    )
    if "y" in given and -1e-6 < found.fun < 1e-6:
        return {"status": "not attained"}
    A = found.x.reshape(d, d)
    return {"metric": A.T @ A}


def nca_gradient(given):
    f, g, gradient_f, gradient_g = nca_terms(
        np.array(given["X"]), right(given), np.array(given["components"])
    )
    return {"answer": {"f": f, "g": g, "gradient_f": gradient_f, "gradient_g": gradient_g}}


def neighbors(given):
    """By squared distances summed feature after feature; of equal ones the lower index."""
    X, k = given["X"], given["n_neighbors"]
    lists = []
    for i, x in enumerate(X):
        distance = [0.0 for _ in X]
        for f in range(len(x)):
            distance = [D + (x[f] - z[f]) * (x[f] - z[f]) for D, z in zip(distance, X, strict=True)]
        lists.append(sorted((j for j in range(len(X)) if j != i), key=lambda j: (distance[j], j))[:k])
    return {"answer": {"neighbors": lists}}


def psd_projection(given):
    return {"answer": {"projection": psd(np.array(given["matrix"]))}}


def glml_B(given):
    return {"answer": {"B": densities(given)}}


KNOWN = {f.__name__: f for f in (mlsvm, glml, nca, nca_gradient, neighbors, psd_projection, glml_B)}


def main(known=KNOWN):
    """Read, answer, write."""
    question = json.load(sys.stdin)
    if question["formula"] not in known:
        answer = {"unsupported": f"no {question['formula']} here"}
    else:
        answer = known[question["formula"]](question["inputs"])
    json.dump(answer, sys.stdout, default=np.ndarray.tolist)


if __name__ == "__main__":
    main()
