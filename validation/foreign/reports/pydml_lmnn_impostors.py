# needs: pyDML==0.1.0
"""LMNN compares distances, where its loss has squared distances, so triplets without a loss enter the gradient."""

import numpy as np
from dml import LMNN

X = np.array([[0.0], [3.0], [3.9], [7.0]])
y = np.array([0, 0, 1, 1])
eta, h = 1e-3, 1e-6
model = LMNN(k=1, mu=0.5, max_iter=1, eta0=eta, learning_rate="constant").fit(X, y)
targets = model.target_neighbors_  # one target each: the other point of the class


def loss(m):
    """The loss that the class itself reports, at M = m."""
    M = np.array([[m]])
    return float(model._compute_error(0.5, M, X, y, targets, model._impostors(M, X, y, targets)))


def gradient(m, is_impostor):
    total = 0.0
    for i in range(4):
        near = (X[i, 0] - X[targets[i, 0], 0]) ** 2
        total += 0.5 * near
        for far in (X[i, 0] - X[y != y[i], 0]) ** 2:
            total += 0.5 * (near - far) * is_impostor(m * near, m * far)
    return total


step = (1 - model.metric()[0, 0]) / eta  # the gradient that fit used at M = 1
difference = (loss(1 + h) - loss(1 - h)) / (2 * h)
mended = gradient(1.0, lambda near, far: far < 1 + near)
faulty = gradient(1.0, lambda near, far: np.sqrt(far) < 1 + np.sqrt(near))
print(f"difference quotient of _compute_error {difference:.6f}")
print(f"gradient of the step                  {step:.6f}")
print(f"gradient, impostors by distances      {faulty:.6f}")
print(f"gradient, by squared distances        {mended:.6f}")

impostors = model._impostors(np.eye(1), X, y, targets)
euclid = model._compute_euc_error(0.5, X, y, targets, impostors)  # of solver="SGD", at L = I
print(f"loss at M = I: {loss(1.0):.6f} for SDP, {euclid:.6f} for SGD")

assert abs(mended - difference) < 1e-4
assert abs(step - difference) > 1, "mended"
assert abs(step - faulty) < 1e-6
