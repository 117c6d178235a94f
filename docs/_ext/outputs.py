"""Mark comments `# -> ...` as output, so that the copy button skips them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Generic


class Outputs(PythonLexer):
    """Lexer for Python that reads a comment `# -> ...` as output."""

    def get_tokens_unprocessed(self, *given: Any) -> Iterator[tuple[int, Any, str]]:
        for at, kind, text in super().get_tokens_unprocessed(*given):
            is_output = kind in Comment and text.startswith("# ->")
            yield at, Generic.Output if is_output else kind, text


def setup(app: Any) -> dict[str, bool]:
    app.add_lexer("python", Outputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
