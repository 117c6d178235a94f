"""
Judge a program in C++
======================

Your implementation need not be in Python. ``cvxml conform`` starts any program, asks it
questions with proved answers, and judges what it replies. Here is one in forty lines of
C++: right, and with a mistake that is easy to make.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

# %%
# The program
# -----------
#
# RCA: the inverse of the covariance within chunklets. It reads a question and prints
# ``{"metric": [[...]]}``. Started with a word after its name it takes the mean of *all*
# points for that of each chunklet.

PROGRAM = r"""
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

using Matrix = std::vector<std::vector<double>>;

Matrix inverse(Matrix C) {  // by elimination; C is positive definite
  const int d = C.size();
  Matrix I(d, std::vector<double>(d));
  for (int k = 0; k < d; k++) I[k][k] = 1;
  for (int k = 0; k < d; k++) {
    const double pivot = C[k][k];
    for (int c = 0; c < d; c++) C[k][c] /= pivot, I[k][c] /= pivot;
    for (int r = 0; r < d; r++) {
      const double factor = r == k ? 0 : C[r][k];
      for (int c = 0; c < d; c++) C[r][c] -= factor * C[k][c], I[r][c] -= factor * I[k][c];
    }
  }
  return I;
}

int main(int words, char**) {
  const auto given = nlohmann::json::parse(std::cin)["inputs"];
  const Matrix X = given["X"];
  const std::vector<int> chunklets = given["chunklets"];
  const int d = X[0].size();
  auto group = [&](int i) { return words > 1 ? 0 : chunklets[i]; };  // the mistake: all in one
  std::map<int, std::vector<double>> sums;
  std::map<int, int> sizes;
  int n = 0;
  for (int i = 0; i < X.size(); i++) {
    if (chunklets[i] == -1) continue;  // in no chunklet
    sums[group(i)].resize(d), sizes[group(i)]++, n++;
    for (int a = 0; a < d; a++) sums[group(i)][a] += X[i][a];
  }
  Matrix C(d, std::vector<double>(d));
  for (int a = 0; a < d; a++) C[a][a] = given["alpha"];
  for (int i = 0; i < X.size(); i++) {
    if (chunklets[i] == -1) continue;
    auto centred = [&](int a) { return X[i][a] - sums[group(i)][a] / sizes[group(i)]; };
    for (int a = 0; a < d; a++)
      for (int b = 0; b < d; b++) C[a][b] += centred(a) * centred(b) / n;
  }
  std::cout << nlohmann::json{{"metric", inverse(C)}};
}
"""


def compiled(folder: Path) -> Path | None:
    """The program; None where there is no g++ with nlohmann/json."""
    (folder / "rca.cpp").write_text(PROGRAM)
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    command = [compiler, "-std=c++17", str(folder / "rca.cpp"), "-o", str(folder / "rca")]
    done = subprocess.run(command, capture_output=True, check=False)
    return folder / "rca" if done.returncode == 0 else None


def conform(*program: str) -> list[dict]:
    """A row for each case about RCA. In a shell: cvxml conform --only 'rca*' -- ./rca"""
    command = [
        sys.executable,
        "-m",
        "cvxml",
        "conform",
        "--only",
        "rca*",
        "--json",
        "--",
        *program,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["rows"]


rows = {}
with tempfile.TemporaryDirectory() as folder:
    program = compiled(Path(folder))
    if program is not None:
        rows = {"right": conform(str(program)), "wrong": conform(str(program), "slip")}

# %%
# The verdicts
# ------------
#
# Every case has an interval that holds the optimum, proved in rational arithmetic, so
# that no tolerance hides a mistake.

for name, each in rows.items():
    print(name)
    for row in each:
        print(f"    {row['case']:<14}{row['verdict']:<11}{row['message']}")
    assert {row["verdict"] for row in each} == {"certified" if name == "right" else "refuted"}
if not rows:
    print("not run: it needs g++ and nlohmann/json")

# %%
# In a picture: how much worse than the optimum the answers are. What is certified is
# drawn at the tolerance.

TOL = 1e-6
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, colour, marker in (("right", "#009E73", "o"), ("wrong", "#D55E00", "X")):
    for row in rows.get(name, ()):
        if row["rel_gap"] is not None:
            ax.plot(max(row["rel_gap"], TOL), row["case"], marker, color=colour, ms=10)
    ax.plot([], [], marker, color=colour, ms=10, ls="", label=f"{name} program")
ax.axvline(TOL, color="0.4", ls="--", label="tolerance")
ax.set(
    xscale="log",
    xlabel="worse than the optimum by, of the scale",
    title="A program in C++, judged",
)
ax.legend(frameon=False)
plt.show()
