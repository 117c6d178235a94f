r"""Slides of the mathematics of methods.

`python docs/teaching/slides.py lmnn rca > slides.tex` writes them, and `pdflatex slides.tex` makes a PDF.

The first frame shows a metric as a ball. The formulas are those of `cvxml show METHOD --latex`, at most `MOST` rows
on a frame. A formula that is wider than the frame is broken at its words and before its conditions (`\quad`). The
rest of it is made smaller if it is still too wide. The document needs beamer (with TikZ) and amsmath.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from cvxml.core.statement import as_latex
from cvxml.methods import get

MOST = 6  # rows on a frame

HEAD = r"""\documentclass[11pt]{beamer}
\usepackage{amsmath,amssymb,array,tikz}
\usepackage[utf8]{inputenc}
\setbeamertemplate{navigation symbols}{}
\setbeamertemplate{footline}[frame number]
\newsavebox{\row}
% \formula{a formula}{the same in lines}{its number in the paper}
\newcommand{\formula}[3]{%
  \sbox{\row}{$\displaystyle #1$}%
  \ifdim\wd\row>0.9\linewidth\parbox{0.9\linewidth}{\raggedright\hangindent=2em #2}\else\usebox{\row}\fi
  \hfill #3\par\vspace{1.5ex}}
% a part of a formula, smaller if it is wider than the frame
\newcommand{\fitted}[1]{%
  \sbox{\row}{$\displaystyle #1$}%
  \ifdim\wd\row>0.8\linewidth\resizebox{0.8\linewidth}{!}{\usebox{\row}}\else\usebox{\row}\fi}
\begin{document}
"""
BALL = r"""\begin{frame}{A metric as a ball}
  \[ D_M(x, x') = (x - x')^\mathsf{T} M (x - x'), \qquad M \succeq 0 \]
  \centering
  \newcommand{\flowers}{
    \foreach \at in {(-1.5, 0.1), (-0.7, -0.2), (0.8, 0.2), (1.6, -0.1)} \fill[blue] \at circle (2.2pt);
    \foreach \at in {(-0.4, 0.8), (0.5, 0.7), (0.1, -0.8), (-0.6, -0.75)}
      \node[red, inner sep=0pt] at \at {$\times$};
    \fill (0, 0) circle (2.2pt) node[below] {$x$};}
  \begin{tikzpicture}
    \draw (0, 0) circle (1);
    \flowers
    \node at (0, -1.6) {$M = I$};
  \end{tikzpicture}
  \hspace{2em}
  \begin{tikzpicture}
    \draw (0, 0) ellipse (2 and 0.5);
    \flowers
    \node at (0, -1.6) {$M = \operatorname{diag}(1/4, 4)$};
  \end{tikzpicture}
  \par\vspace{2ex}
  \raggedright
  The ball of $x$ holds all $x'$ with $D_M(x, x') \le 1$. A method learns $M$ from labels: points of the class of $x$
  (dots) come near, points of other classes ($\times$) stay away.
\end{frame}
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
  \begin{tabular}{l>{\raggedright\arraybackslash}p{0.74\linewidth}}
    certified & the gap is at most the tolerance, 1e-6 by default \\
    close & nearly optimal, and no known mistake explains it \\
    refuted & a better metric is known; often the mistake is named \\
    inconclusive & nothing is proved; the report gives the reason
  \end{tabular}
\end{frame}
"""


def document(methods: list[str]) -> str:
    """Return a LaTeX document with the statements of `methods`. Raises ValueError for an unknown method."""
    parts = [HEAD, BALL]
    for method in methods:
        parts += frames(method)
    return "\n".join([*parts, THEOREM, VERDICTS, "\\end{document}\n"])


def frames(method: str) -> Iterator[str]:
    """Yield the frames of one method: its title, then its sections."""
    of = get(method)
    yield frame("", [rf"\centering\Large {escaped(of.TITLE)}\par"])
    for heading, rows in sections(as_latex(of.STATEMENT)):
        count = -(-len(rows) // MOST)
        size = -(-len(rows) // count)  # frames of a section are about equally long
        for start in range(0, len(rows), size):
            more = " (continued)" if start else ""
            yield frame(
                heading + more,
                [
                    rf"\formula{{{latex}}}{{{in_lines(latex)}}}{{{tag}}}"
                    for latex, tag in rows[start : start + size]
                ],
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


def in_lines(latex: str) -> str:
    r"""Return a formula as text that LaTeX can break: words outside of mathematics, a new line for each `\quad`."""
    text, mathematics, depth = "", "", 0
    for part in re.split(r"(\\text\{[^{}]*\}|\\quad\b|[{}])", latex + r"\text{}"):
        if depth == 0 and part.startswith((r"\text{", r"\quad")):
            if mathematics.strip():
                text += rf"\fitted{{{mathematics}}}"
            text += r" \\ \hspace*{2em}" if part == r"\quad" else part[len(r"\text{") : -1]
            mathematics = ""
        else:
            mathematics += part
            depth += (part == "{") - (part == "}")
    return text


def frame(title: str, lines: list[str]) -> str:
    inner = "\n".join(f"  {line}" for line in lines)
    return f"\\begin{{frame}}{{{title}}}\n{inner}\n\\end{{frame}}\n"


def escaped(text: str) -> str:
    """Return text with the signs that LaTeX reserves escaped."""
    return re.sub(r"([&%$#_{}])", r"\\\1", text)


if __name__ == "__main__":
    sys.stdout.write(document(sys.argv[1:] or ["lmnn", "rca"]))
