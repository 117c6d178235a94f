"""The command that opens a lesson."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cvxml.cli import lesson as cli_lesson
from cvxml.lessons import LESSONS, path_of
from tests.cli.commands import Cli


def test_the_command_without_a_name_lists_the_lessons(cli: Cli) -> None:
    answer = cli("lesson")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()] == list(LESSONS)


def test_an_unknown_lesson_is_refused(cli: Cli) -> None:
    answer = cli("lesson", "algebra")
    assert answer.code == 2
    assert answer.err.startswith("cvxml: ")
    assert "'algebra'" in answer.err
    assert ", ".join(LESSONS) in answer.err
    with pytest.raises(ValueError, match="'_page'"):
        path_of("_page")


def test_without_marimo_the_command_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_lesson, "find_spec", lambda name: None if name == "marimo" else object())
    answer = cli("lesson", "mlsvm")
    assert answer.code == 2
    assert answer.err.startswith("cvxml: ")
    assert "marimo" in answer.err
    assert "pip install marimo" in answer.err


def test_a_port_that_cannot_be_had_is_refused(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port in (taken.getsockname()[1], 70000, -1):
            answer = cli("lesson", "mlsvm", "--port", port)
            assert answer.code == 2
            assert f"--port {port} " in answer.err


@pytest.mark.slow
def test_nothing_heavy_is_imported_before_a_lesson_is_opened() -> None:
    heavy = "{'marimo', 'matplotlib', 'uvicorn'}"
    code = f"import sys, cvxml, cvxml.cli.lesson, cvxml.lessons; print(sorted({heavy} & set(sys.modules)))"
    folder = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder
    )
    assert done.stdout == "[]\n"
