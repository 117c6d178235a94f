"""The quantities of NCA for one point, in loops and scalars: the slow twin of `Points` in cvxml/methods/nca/rows.py."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.methods.nca.rows import UNDERFLOW, Metric, growth


class Point(NamedTuple):
    """The quantities of a point; `of_x` bounds the error of x."""

    D: FloatArray  # (n,)
    error: FloatArray
    log_p: FloatArray  # (n,)
    log_p_i: float
    of_log_p_i: float
    c: float
    of_c: float
    weights: FloatArray  # (n,) c_i (w_ik - p_ik)
    of_weights: FloatArray


def point(metric: Metric, i: int) -> Point:
    """Return the quantities of point i."""
    D, error = distances(metric, i)
    error = error + 128 * EPS
    s = metric.p.row(i)
    right = s > 0
    others = np.arange(len(D)) != i
    log_all, of_all = log_sum(-D[others], error[others])
    log_p = np.where(others, -D - log_all, -np.inf)
    with np.errstate(divide="ignore"):
        mine = log_p + np.log(s)
    log_own, of_own = log_sum(mine[right], error[right])
    log_w, of_log_w, of_log_p = mine - log_own, error + of_own, error + of_all
    log_p_i, of_log_p_i = log_own, of_all + of_own + 8 * EPS * abs(log_own)
    if s[right].min() == s[right].max():
        wrong = others & ~right
        log_wrong, of_wrong = log_sum(log_p[wrong], error[wrong])
        log_s = math.log(s[right][0])
        log_x, of_x = log_wrong - (log_own - log_s), of_wrong + of_own
        log_p_i = log_s - float(np.logaddexp(0.0, log_x))
        share = min(1.0, math.exp(min(log_x + of_x, 0.0)))
        of_log_p_i = share * of_x + 8 * EPS * (abs(log_s) + abs(log_p_i))
        logs = np.where(right, log_w + log_wrong, log_p)
        difference = np.where(right, 1.0, -1.0) * np.exp(logs)
        of = growth(logs, np.where(right, of_log_w + of_wrong + of_all, of_log_p))
    else:
        difference = np.exp(log_w) - np.exp(log_p)
        of = growth(log_w, of_log_w) + growth(log_p, of_log_p)
    c, of_c = 1.0, 0.0
    if metric.p.criterion == "f":
        c = math.exp(log_p_i)
        of_c = float(growth(np.array(log_p_i), np.array(of_log_p_i))) + UNDERFLOW + 2 * EPS * c
    size = np.abs(difference)
    of_weights = (c + of_c) * (of + 4 * EPS * size) + of_c * size
    return Point(D, error, log_p, log_p_i, of_log_p_i, c, of_c, c * difference, of_weights)


def distances(metric: Metric, i: int) -> tuple[FloatArray, FloatArray]:
    """Return D_ik for all k, (n,), and bounds of their errors, from the differences of the points."""
    apart = (metric.images[i] - metric.images) + (metric.fine[i] - metric.fine)
    D = np.sum(apart**2, axis=1)
    long = np.linalg.norm(metric.E[i] - metric.E, axis=1) + 4 * EPS * (metric.lengths[i] + metric.lengths)
    h = metric.h[i] + metric.h
    error = metric.rest * long**2 + (2 * np.sqrt(D) + h) * h
    return D, error + (metric.images.shape[1] + 12) * EPS * D


def log_sum(logs: FloatArray, error: FloatArray) -> tuple[float, float]:
    """Return log sum e^logs and a bound of its error, with the exact sum of `math.fsum`; -inf for no numbers."""
    if not logs.size:
        return -math.inf, 0.0
    top = float(logs.max())
    total = math.fsum(np.exp(logs - top).tolist())
    moved = float(growth(logs - top, error).sum()) / total
    return top + math.log(total), math.log1p(moved) + 16 * EPS
