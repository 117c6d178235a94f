"""Metrics to be judged, and dual variables to be repaired."""

from __future__ import annotations

from typing import Any

import numpy as np

BITS = 25  # of an entry: products of two, and sums of five of these, are floats


def squared(root: Any) -> Any:
    """root root^T, exactly: every row of the root keeps BITS bits below its largest entry."""
    largest = np.abs(root).max(axis=1, keepdims=True)
    unit = 2.0 ** np.floor(np.log2(np.where(largest > 0, largest, 1.0)) - BITS + 1)
    with np.errstate(all="ignore"):
        root = np.round(root / unit) * unit
        return root @ root.T


def root_of(A: Any) -> Any:
    """A square root of its psd part."""
    if not np.isfinite(A).all() or np.abs(A).max() > 1e300:
        return np.zeros_like(A)
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0))


FACTORS = (0.5, 0.99, 1 - 1e-4, 1 - 1e-7, 1 + 1e-9, 1 + 1e-8, 1 + 1e-6, 1 + 1e-5, 1 + 1e-3, 1.1, 2.0)


def candidates(
    own: Any, others: list[Any], directions: list[Any], rng: Any, count: int
) -> list[tuple[str, Any]]:
    """Names and matrices. own: an answer to the problem; others: to other problems."""
    d, size = len(own), float(np.linalg.norm(own)) or 1.0
    noise = rng.standard_normal((d, d))
    eps, factor = 10.0 ** -rng.uniform(1, 13), float(rng.choice(FACTORS))
    unit = 10.0 ** rng.choice([-12, -3, 3, 12])
    found = [
        ("own", own),
        ("root", squared(root_of(own))),
        (f"{factor:.10g} own", factor * own),
        ("next own", np.nextafter(own, np.inf)),
        ("noise", own + eps * size * (noise + noise.T)),
        ("psd noise", squared(root_of(own + eps * size * (noise + noise.T)))),
        ("turned", (np.eye(d) + eps * noise) @ own @ (np.eye(d) + eps * noise).T),
        ("added", own + eps * size * np.eye(d)),
        ("asymmetric", own + size * rng.choice([1e-9, 2e-6, 1.0]) * (noise - noise.T)),
        ("not psd", own - size * rng.choice([1e-12, 5e-7, 2e-6, 1e-2]) * np.eye(d)),
        ("zero", 0 * own),
        ("identity", np.eye(d)),
        ("size of own", size * np.eye(d)),
        ("of some size", unit * np.eye(d)),
        ("large", 10.0 ** rng.choice([3, 8, 30, 100, 150, 250]) * np.eye(d)),
        ("small", 10.0 ** -rng.choice([8, 30, 100, 150, 250]) * np.eye(d)),
        ("no metric", np.round(5 * noise)),
        ("spread", np.diag(10.0 ** rng.uniform(-12, 12, d))),
    ]
    found += [("other", A) for A in others]
    for v in directions[:4]:
        v = np.array([float(x) for x in v]) if max(abs(int(x)) for x in v) < 2**900 else np.zeros(d)
        if np.abs(v).max() > 0:
            v = v / np.abs(v).max()
            at = 2.0 ** int(rng.integers(-10, 120))
            found += [("along", squared(v[:, None]) * at), ("own along", own + squared(v[:, None]) * at)]
    finite = [(name, A) for name, A in found if np.isfinite(A).all()]
    chosen = rng.choice(len(finite), min(count, len(finite)), replace=False)
    return [finite[k] for k in sorted(chosen)]


def changed(dual: Any, rng: Any) -> dict[str, Any]:
    """Dual variables that are off: scaled, noised, negative, none."""
    found = {}
    for name, values in dual.items():
        values = np.array(values)
        if values.dtype.kind == "f":
            size = float(np.abs(values).max(initial=0)) or 1.0
            noise = rng.standard_normal(values.shape)
            kind = int(rng.integers(6))
            with np.errstate(all="ignore"):
                values = (
                    values * (1 + 10.0 ** -rng.integers(0, 14)),
                    values + size * 10.0 ** -rng.integers(0, 15) * noise,
                    values + size * 10.0 ** -rng.integers(6, 15),
                    np.abs(noise) * size,
                    0 * values,
                    values,
                )[kind]
        found[name] = values
    return found
