"""
Judge a program in C++
======================

``cvxml conform`` tests a program in any language. It starts the program, asks questions with
proved answers, and judges the replies. The program here has seventy lines of C++ and uses
only the standard library. We judge it twice: a correct version, and a version with a common
mistake.
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
# The program computes RCA: the inverse of the covariance within chunklets. It reads a question
# from standard input and prints ``{"metric": [[...]]}``. If it gets an argument, it makes the
# mistake: it subtracts one mean of *all* chunklets in place of the mean of each chunklet.

PROGRAM = r"""
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

using Numbers = std::vector<double>;
using Matrix = std::vector<Numbers>;

Numbers numbers(const std::string& text, const std::string& name) {  // numbers of a (nested) array
  std::size_t at = text.find('"' + name + '"') + name.size() + 2;
  Numbers found;
  for (int depth = 0; depth > 0 || found.empty();) {
    char* end;
    const double number = std::strtod(&text[at], &end);
    if (end != &text[at] && text[at] != ' ') found.push_back(number), at = end - &text[0];
    else depth += (text[at] == '[') - (text[at] == ']'), at++;
  }
  return found;
}

Matrix inverse(Matrix C) {  // Gauss elimination; C is positive definite
  const int d = C.size();
  Matrix I(d, Numbers(d));
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
  const std::string question{std::istreambuf_iterator<char>(std::cin), {}};
  const Numbers X = numbers(question, "X"), chunklets = numbers(question, "chunklets");
  const int n = chunklets.size(), d = X.size() / n;
  auto group = [&](int i) { return words > 1 ? 0 : chunklets[i]; };  // the mistake: one group
  std::map<double, Numbers> sums;
  std::map<double, int> sizes;
  int used = 0;
  for (int i = 0; i < n; i++) {
    if (chunklets[i] == -1) continue;  // in no chunklet
    sums[group(i)].resize(d), sizes[group(i)]++, used++;
    for (int a = 0; a < d; a++) sums[group(i)][a] += X[i * d + a];
  }
  Matrix C(d, Numbers(d));
  for (int a = 0; a < d; a++) C[a][a] = numbers(question, "alpha")[0];
  for (int i = 0; i < n; i++) {
    if (chunklets[i] == -1) continue;
    auto centred = [&](int a) { return X[i * d + a] - sums[group(i)][a] / sizes[group(i)]; };
    for (int a = 0; a < d; a++)
      for (int b = 0; b < d; b++) C[a][b] += centred(a) * centred(b) / used;
  }
  std::cout.precision(17);
  std::cout << "{\"metric\": [";
  const Matrix A = inverse(C);
  for (int a = 0; a < d; a++)
    for (int b = 0; b < d; b++) std::cout << (b ? ", " : a ? "], [" : "[") << A[a][b];
  std::cout << "]]}";
}
"""


def compiled(folder: Path) -> Path | None:
    """Compile the program and return its path, or None if g++ is not installed."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    (folder / "rca.cpp").write_text(PROGRAM)
    subprocess.run([compiler, "-std=c++17", "rca.cpp", "-o", "rca"], cwd=folder, check=True)
    return folder / "rca"


def conform(*program: str) -> list[dict]:
    """Return a row for each case about RCA.

    The same in a shell: cvxml conform --only 'rca*' -- ./rca
    """
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
# Each case holds an interval that contains the optimum. The interval is proved in rational
# arithmetic, so it has no rounding errors. Each answer is compared with this interval.

for name, each in rows.items():
    print(name)
    for row in each:
        print(f"    {row['case']:<14}{row['verdict']:<11}{row['message']}")
    assert {row["verdict"] for row in each} == {"certified" if name == "right" else "refuted"}
if not rows:
    print("not run: g++ is not installed")

# %%
# The picture shows how far the objective of each answer is above the optimum. Answers within
# the tolerance are drawn at the tolerance.

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
    xlabel="relative gap: (objective - optimum) / scale",
    title="Verdicts on a program in C++",
)
fig.legend(loc="outside lower center", ncols=3, frameon=False)
plt.show()
