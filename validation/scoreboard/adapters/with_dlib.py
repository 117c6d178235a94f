"""dlib's FrobMetric, epsilon 1e-9, by the program FROBMETRIC, made of validation/foreign/learners/frobmetric.cpp."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
from answering import components, main


def frobmetric(given: Any) -> Any:
    X = np.array(given["X"], dtype=float)
    n, d = X.shape
    text = [f"{d} {n}", *(" ".join(map(repr, row)) for row in X.tolist()), str(len(given["triplets"]))]
    text += [f"{i} 1 {near} 1 {far}" for i, near, far in given["triplets"]]
    text.append(f"{given['C']!r} 1e-09 0")
    out = subprocess.run(
        [os.environ["FROBMETRIC"]], input="\n".join(text), capture_output=True, text=True, check=True
    ).stdout
    rows = out.split("transform\n")[1].strip().splitlines()
    return components([[float(value) for value in row.split()] for row in rows])


if __name__ == "__main__":
    if sys.argv[1:] == ["--versions"]:
        print(os.environ["VERSIONS"])
    else:
        main({"frobmetric": frobmetric}, ())
