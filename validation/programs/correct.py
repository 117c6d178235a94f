"""A program for `cvxml conform` that knows nothing of cvxml: one question on stdin, one answer on stdout.

    cvxml conform -- python validation/programs/correct.py

MLSVM, LMNN, ITML, MMC, DML-eig and MCML through cvxpy, GLML by its closed form, NCA by BFGS, and a few parts in numpy.
What it cannot do it says.
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
    solve(cp.Problem(cp.Minimize(objective), [A >> 0] if cone else []))
    metric = psd(A.value) if cone else A.value
    if np.linalg.norm(metric) < 1e-5:  # what a solver leaves of 0
        metric = np.zeros((d, d))
    return {"metric": metric / s**2}


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


def units(E):
    """One for each column, to divide by."""
    return np.where(np.abs(E).max(axis=0) > 0, np.abs(E).max(axis=0), 1.0)


def lmnn(given, squared=False):
    """(1 - mu) sum over targets + mu sum over triplets, all of another class or those given."""
    import cvxpy as cp

    X, y, mu = np.array(given["X"]), np.array(given["y"]), given["mu"]
    s = units(X - X[0])
    X = (X - X[0]) / s
    M = cp.Variable((X.shape[1],) * 2, symmetric=True)
    pull, push = 0, 0
    if "triplets" in given:
        compared = {(i, j): [] for i, j, _ in given["triplets"]}
        for i, j, l in given["triplets"]:
            compared[i, j].append(l)
    else:
        compared = {(i, j): y != y[i] for i, listed in enumerate(given["targets"]) for j in listed}
    for (i, j), far in compared.items():
        D_j = (X[i] - X[j]) @ M @ (X[i] - X[j])
        E = X[i] - X[far]
        xi = cp.pos(1 + D_j - cp.sum(cp.multiply(E @ M, E), axis=1))
        pull, push = pull + D_j, push + (cp.sum_squares(xi) if squared else cp.sum(xi))
    problem = cp.Problem(cp.Minimize((1 - mu) * pull + mu * push), [M >> 0])
    solve(problem)
    return {"metric": psd(M.value) / np.outer(s, s)}


def solve(problem):
    """As far as the solver gets: whether it comes to its last digits, or fails there, depends on the machine."""
    import cvxpy as cp

    for tol in (1e-12, 1e-10, 1e-8):
        try:
            return problem.solve(solver="CLARABEL", tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
        except cp.SolverError as error:
            failed = error
    raise failed


def pair_differences(given):
    X = np.array(given["X"])
    return [
        X[[i for i, _ in p]] - X[[j for _, j in p]]
        for p in map(given["pairs"].get, ("similar", "dissimilar"))
    ]


def itml(given):
    """In features in which the prior is the identity."""
    import cvxpy as cp

    C = np.linalg.cholesky(np.array(given["prior"]))
    A, value, constraints = cp.Variable((len(C), len(C)), symmetric=True), 0, []
    for E, bound, sign in zip(pair_differences(given), given["bounds"], (1, -1), strict=True):
        ratio = cp.sum(cp.multiply(E @ C @ A, E @ C), axis=1) / bound
        # r - log r of the best slack: only what misses its bound pays
        r = cp.Variable(len(E))
        kept = [ratio <= r] if sign > 0 else [ratio >= r]
        value += given["gamma"] * cp.sum(r - cp.log(r) - 1)
        constraints += kept
    solve(cp.Problem(cp.Minimize(cp.trace(A) - cp.log_det(A) + value), constraints))
    return {"metric": C @ A.value @ C.T}


def budgeted(given, gain, diagonal=False):
    """The largest gain of the dissimilar distances, where the similar ones add up to 1."""
    import cvxpy as cp

    E_S, E_D = pair_differences(given)
    if diagonal:
        root = 1 / np.sqrt((E_S**2).sum(axis=0))
        a = cp.Variable(len(root), nonneg=True)
        solve(cp.Problem(cp.Maximize(gain((E_D * root) ** 2 @ a)), [cp.sum(a) <= 1]))
        metric = np.diag(np.maximum(a.value, 0) * root**2)
    else:
        _, s, Vt = np.linalg.svd(E_S, full_matrices=False)
        to = Vt[s > 1e-12 * s[0]].T / s[s > 1e-12 * s[0]]
        Z = E_D @ to
        M = cp.Variable((Z.shape[1],) * 2, symmetric=True)
        D = cp.sum(cp.multiply(Z @ M, Z), axis=1)
        solve(cp.Problem(cp.Maximize(gain(D)), [M >> 0, cp.trace(M) <= 1]))
        metric = to @ psd(M.value) @ to.T
    return {"metric": metric / max(1.0, ((E_S @ metric) * E_S).sum())}


def mmc(given, diagonal=False):
    """The sum of distances."""
    import cvxpy as cp

    return budgeted(given, lambda D: cp.sum(cp.sqrt(D)), diagonal)


def dml_eig(given):
    """The least squared distance."""
    import cvxpy as cp

    return budgeted(given, cp.min)


def mcml(given):
    """The mean to the class and log sum exp; where every point is nearest to its only partner, 0 is not attained."""
    import cvxpy as cp

    X, y = np.array(given["X"]), np.array(given["y"])
    n = len(y)
    distances = np.linalg.norm(X[:, None] - X, axis=2) + np.where(np.eye(n) > 0, np.inf, 0)
    same = (y[:, None] == y) & ~np.eye(n, dtype=bool)
    if (same.sum(axis=1) == 1).all() and same[np.arange(n), distances.argmin(axis=1)].all():
        return {"status": "not attained"}
    A, value = cp.Variable((X.shape[1],) * 2, symmetric=True), 0
    for i in np.flatnonzero(same.any(axis=1)):
        E = X[i] - X
        D = cp.sum(cp.multiply(E @ A, E), axis=1)
        value += cp.sum(D[same[i]]) / same[i].sum() + cp.log_sum_exp(-D[np.arange(n) != i])
    solve(cp.Problem(cp.Minimize(value), [A >> 0]))
    return {"metric": psd(A.value)}


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


KNOWN = {f.__name__: f for f in (mlsvm, glml, nca, lmnn, itml, mmc, dml_eig, mcml)}
KNOWN |= {f.__name__: f for f in (nca_gradient, neighbors, psd_projection, glml_B)}
KNOWN["lmnn:squared_hinge"] = lambda given: lmnn(given, squared=True)
KNOWN["mmc:diagonal"] = lambda given: mmc(given, diagonal=True)


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
