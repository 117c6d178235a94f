"""dlib's FrobMetric, as it returns it, through frobmetric.cpp: see record.py.

Any Python that has numpy; a C++ compiler and the dlib library (headers, LAPACK and BLAS), as a distribution packs it.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from record import Data, run, write

SETTINGS = {  # C, epsilon, the identity as prior; the package's own are 1, 0.1 and no
    "default": (1.0, 0.1, False),
    "tight": (1.0, 1e-7, False),
}
VERSION = "#include <dlib/revision.h>\nDLIB_MAJOR_VERSION\nDLIB_MINOR_VERSION\nDLIB_PATCH_VERSION\n"


def run_all(data: dict[str, Data]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "frobmetric"
        source = Path(__file__).parent / "frobmetric.cpp"
        subprocess.run(["g++", "-O2", source, "-o", program, "-ldlib", "-llapack", "-lblas"], check=True)
        lines = subprocess.run(
            ["g++", "-E", "-x", "c++", "-"], input=VERSION, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        named = [data[name] for name in ("iris", "wine")]
        runs = [fit(program, settings, each, given) for each in named for settings, given in SETTINGS.items()]
        prior = {each.name: fit(program, "identity prior", each, (1.0, 1e-7, True)) for each in named}
    return runs, {"versions": {"dlib": ".".join(lines[-3:])}, "identity_prior": prior}


def fit(program: Path, settings: str, data: Data, given: tuple[float, float, bool]) -> dict[str, Any]:
    """Twice."""
    C, epsilon, prior = given
    n, d = data.X.shape
    near, far = data.more["near"], data.more["far"]
    text = [f"{d} {n}", *(" ".join(map(repr, row)) for row in data.X.tolist()), str(n)]
    for i in range(n):
        text += [f"{i} " + " ".join(f"{len(each)} " + " ".join(map(str, each)) for each in (near[i], far[i]))]
    text.append(f"{C!r} {epsilon!r} {int(prior)}")
    printed, L = outcome(program, "\n".join(text))
    again = outcome(program, "\n".join(text))[1]
    return run(
        *("dlib", "vector_normalizer_frobmetric", settings, data, L.T @ L),
        params={"C": C, "epsilon": epsilon, "prior": prior, "max_iter": 1_000_000},
        components=L,
        near=near,
        far=far,
        last=printed[-1],
        n_iter_=len(printed),
        same_again=bool(np.array_equal(L, again)),
    )


def outcome(program: Path, text: str) -> tuple[list[str], np.ndarray]:
    """The lines on its iterations, and the transform (d, d)."""
    out = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
    printed, rows = out.split("transform\n")
    return printed.splitlines(), np.array([[float(x) for x in row.split()] for row in rows.splitlines()])


if __name__ == "__main__":
    write(("numpy",), run_all)
