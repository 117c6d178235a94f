r"""Slides of the mathematics of methods.

`python docs/teaching/slides.py lmnn rca > slides.tex` writes them, and `pdflatex slides.tex` makes a PDF.

The formulas are those of `cvxml show METHOD --latex`, a frame for each section and at most `MOST` rows on a frame. A
formula that is wider than the frame is made smaller. The document needs beamer and amsmath.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from cvxml.core.statement import as_latex
from cvxml.methods import get

MOST = 5  # rows on a frame

HEAD = r"""\documentclass[11pt]{beamer}
\usepackage{amsmath,amssymb}
\usepackage[utf8]{inputenc}
\setbeamertemplate{navigation symbols}{}
\setbeamertemplate{footline}[frame number]
\newsavebox{\row}
% a formula, smaller if it is wider than the frame, and its number in the paper
\newcommand{\formula}[2]{%
  \sbox{\row}{$\displaystyle #1$}%
  \ifdim\wd\row>0.9\linewidth\resizebox{0.9\linewidth}{!}{\usebox{\row}}\else\usebox{\row}\fi
  \hfill #2\par\vspace{1.5ex}}
\begin{document}
"""
THEOREM = r"""\begin{frame}{Why a bound is a proof}
  A method minimizes $P(M)$ over metrics $M$. Any feasible dual variables $v$ give a number $D(v)$ with
  \[ D(v) \le P(M) \quad \text{for every metric } M . \]
  \begin{itemize}
    \item The metric of a student has the value $P(M)$. The gap is $P(M) - D(v)$.
    \item No metric is better by more than the gap. It does not matter where $M$ and $v$ come from.
    \item \texttt{cvxml.check} computes $v$ and $D(v)$ itself, in numpy, from the data.
  \end{itemize}
\end{frame}
"""
VERDICTS = r"""\begin{frame}{Verdicts}
  \begin{tabular}{lp{0.68\linewidth}}
    certified & the gap is at most the tolerance, 1e-6 by default \\
    close & nearly optimal, and no known mistake explains it \\
    refuted & a better metric is known; often the mistake is named \\
    inconclusive & nothing is proved; the report gives the reason
  \end{tabular}
\end{frame}
"""


def document(methods: list[str]) -> str:
    """Return a LaTeX document with the statements of `methods`. Raises ValueError for an unknown method."""
    parts = [HEAD]
    for method in methods:
        parts += frames(method)
    return "\n".join([*parts, THEOREM, VERDICTS, "\\end{document}\n"])


def frames(method: str) -> Iterator[str]:
    """Yield the frames of one method: its title, then its sections."""
    of = get(method)
    yield frame("", [rf"\centering\Large {escaped(of.TITLE)}\par"])
    for heading, rows in sections(as_latex(of.STATEMENT)):
        for start in range(0, len(rows), MOST):
            more = " (continued)" if start else ""
            yield frame(
                heading + more,
                [rf"\formula{{{latex}}}{{{tag}}}" for latex, tag in rows[start : start + MOST]],
            )


def sections(latex: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the heading and the rows (formula, number) of each section of `cvxml show METHOD --latex`."""
    for heading, body in re.findall(
        r"\\paragraph\{(.*?)\}\n\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", latex, flags=re.DOTALL
    ):
        rows = []
        for row in body.split(" \\\\\n"):
            formula, _, number = row.removeprefix("& ").partition(r" \tag{")
            rows.append((formula, f"({number[:-1]})" if number else ""))
        yield heading, rows


def frame(title: str, lines: list[str]) -> str:
    inner = "\n".join(f"  {line}" for line in lines)
    return f"\\begin{{frame}}{{{title}}}\n{inner}\n\\end{{frame}}\n"


def escaped(text: str) -> str:
    """Return text with the signs that LaTeX reserves escaped."""
    return re.sub(r"([&%$#_{}])", r"\\\1", text)


if __name__ == "__main__":
    sys.stdout.write(document(sys.argv[1:] or ["lmnn", "rca"]))
