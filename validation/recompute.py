"""Recompute the proof in a file that `cvxml solve --out FILE` wrote. Numpy only; cvxml is not imported.

    python validation/recompute.py FILE        (.json or .npz)

This script calls the referee, `cvxml/cases/judge.py`. The docstring of the referee lists the bounds, and the fields of
the file that it uses without a check. Exit code 0 if the metric is proved optimal to 1e-6 of the scale, else 1; also 1
if no metric attains the infimum.
"""

import importlib.util
import sys
from pathlib import Path

PATH = Path(__file__).resolve().parents[1] / "cvxml" / "cases" / "judge.py"

# by its path, because an import of cvxml.cases would import cvxml
spec = importlib.util.spec_from_file_location("referee", PATH)
referee = importlib.util.module_from_spec(spec)
spec.loader.exec_module(referee)

main, read, recompute = referee.prove, referee.read_solution, referee.recompute

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(0 if main(sys.argv[1]) else 1)
