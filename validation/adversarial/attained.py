"""Metrics that are psd beyond doubt, and the least objective that they attain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from validation.adversarial.exact import (
    Whole,
    identity,
    is_psd,
    orthogonal,
    outer,
    precision,
    rank,
    symmetric,
    whole,
)
from validation.adversarial.problems import Kernel
from validation.adversarial.truth import Image, Problem


def directions(problem: Problem, given: list[Any]) -> list[Any]:
    """Integers: the axes, those given, and those orthogonal to as many differences as can be."""
    d = len(problem.points.values[0])
    found = [*given, *np.eye(d, dtype=int).astype(object)] if not isinstance(problem, Kernel) else []
    rng = np.random.default_rng(0)
    for pairs in (problem.every, problem.same):
        for _ in range(2):
            chosen: list[Any] = []
            for k in rng.permutation(len(pairs)):
                e = problem.difference(*pairs[k])
                if len(chosen) < d - 1 and rank([*chosen, e]) > len(chosen):
                    chosen.append(e)
            if chosen:
                found += orthogonal(chosen)[:2]
    return found


def exactly(problem: Problem, A: Any) -> list[Whole]:
    """Psd matrices next to a float matrix A: itself, shifted, and the square of a root."""
    S = symmetric(A)
    if problem.diagonal:
        S = Whole(np.maximum(np.diag(np.diag(S.values)), 0), S.power)
    if problem.valid(S):
        return [problem.kept(S)]
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    root = whole(vectors * np.sqrt(np.maximum(values, 0)))
    squared = Whole(root.values @ root.values.T, 2 * root.power)
    exponent = int(np.frexp(max(-values[0], np.abs(A).max() * 2.0**-60, 5e-324))[1])
    while not is_psd((S + identity(len(A), exponent)).values):
        exponent += 1
    return [problem.kept(squared), problem.kept(S + identity(len(A), exponent))]


def along(value: Callable[[Image], Any], at: Image, base: Image | None = None) -> list[Image]:
    """The best multiple of a metric by a power of two, and its neighbour; on top of `base`, if given."""
    sizes = [d.mid() for d in at.D.values() if d.mid() > 0]
    if not sizes:
        return [at] if base is None else []
    low, high = min(map(bits, sizes)), max(map(bits, sizes))
    grid = range(-high - 12, -low + 14, max(1, (high - low + 26) // 30))
    with precision(64):
        found = [(value(_sum(base, at.times(t))).upper(), t) for t in grid]
    usable = [(v, t) for v, t in found if v.is_finite()]
    if not usable:
        return []
    best = min(usable, key=lambda pair: pair[0])[1]
    return [_sum(base, at.times(best))]


def bits(x: Any) -> int:
    """The exponent of a positive ball of radius 0."""
    man, exp = x.man_exp()
    return int(exp) + int(man).bit_length()


def _sum(base: Image | None, other: Image) -> Image:
    return other if base is None else base + other


class Attained:
    """The best of what was looked at; `add` looks at more."""

    def __init__(self, problem: Problem, metrics: list[Any], given: list[Any]):
        self.problem = problem
        self.special = [Image(problem, problem.kept(outer(v))) for v in directions(problem, given)]
        self.best: Any = problem.infimum()
        self.at: Image | None = None
        zero = Image(problem, symmetric(np.zeros((len(problem.points.values[0]),) * 2)))
        self.look([zero])
        for A in metrics:
            self.add(A)
        for each in self.special:
            self.look(along(problem.attained, each) if problem.along_rays else [each])
        for _ in range(1 if problem.along_rays else 2):
            for each in self.special[:6]:
                self.look(along(problem.attained, each, self.at))

    def add(self, A: Any) -> None:
        """A float metric: what is psd next to it, and a multiple."""
        if not np.isfinite(A).all() or np.abs(A).max(initial=0) > 1e306:
            return
        for M in exactly(self.problem, A):
            at = Image(self.problem, M)
            self.look([at, *(along(self.problem.attained, at) if self.problem.along_rays else [])])

    def look(self, images: list[Image]) -> None:
        """Keep the best."""
        for at in images:
            value = self.problem.attained(at).upper()
            if not value.is_nan() and (self.best is None or value < self.best):
                self.best, self.at = value, at
