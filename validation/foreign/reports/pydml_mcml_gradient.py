# needs: pyDML==0.1.0
"""The gradient of MCML counts each point as a point of its own class, and its objective does not."""

import numpy as np
from dml import MCML

rng = np.random.default_rng(0)
X, y = rng.standard_normal((12, 2)), np.arange(12) % 2
eta, h = 1e-6, 1e-5
model = MCML(max_iter=1, eta0=eta, learning_rate="constant").fit(X, y)
step = (np.eye(2) - model.metric()) / eta  # the gradient that fit used at the identity
E = np.array([[1.0, 0.3], [0.3, -0.5]])


def objective(M):
    """The function of the class itself; final_error is its value."""
    return float(np.squeeze(MCML._compute_error(M, X, y)))


def gradient(itself):
    """The gradient at the identity; itself is 1 if a point is counted in its class."""
    total = np.zeros((2, 2))
    for i in range(12):
        outers = np.einsum("ja,jb->jab", X[i] - X, X[i] - X)
        p = np.exp(-np.trace(outers, axis1=1, axis2=2)) * (np.arange(12) != i)
        total += outers[y == y[i]].sum(axis=0)
        total -= (np.sum(y == y[i]) - 1 + itself) * np.tensordot(p / p.sum(), outers, 1)
    return total


difference = (objective(np.eye(2) + h * E) - objective(np.eye(2) - h * E)) / (2 * h)
print(f"difference quotient of _compute_error {difference:.6f}")
print(f"gradient of the step                  {np.sum(step * E):.6f}")
print(f"gradient, each point in its class     {np.sum(gradient(1) * E):.6f}")
print(f"gradient, without the point itself    {np.sum(gradient(0) * E):.6f}")
assert abs(np.sum(gradient(0) * E) - difference) < 1e-4
assert abs(np.sum(step * E) - difference) > 0.01 * abs(difference), "mended"
assert abs(np.sum((step - gradient(1)) * E)) < 1e-4
