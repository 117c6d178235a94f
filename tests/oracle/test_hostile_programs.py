"""Programs that misbehave on purpose, run by `cvxml conform`: each gets one row, and leaves no process or file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cvxml.oracle.cases import load_cases
from cvxml.oracle.conform import Row, as_table, conform
from cvxml.oracle.supervisor import remove

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no supervisor")
linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="/proc, prctl and limits are looked at"
)
RIGHT = "print(json.dumps({'metric': [[0.125]]}))"


def command(folder: Path, body: str) -> list[str]:
    path = folder / "program.py"
    path.write_text(f"import json, os, signal, sys, time\n{body}\n", encoding="utf-8")
    return [sys.executable, str(path)]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder, in which `conform` then makes its temporary folders."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def row_of(folder: Path, body: str, **options: Any) -> Row:
    """Return the row of the case mlsvm-line; its correct answer is RIGHT."""
    (row,) = conform(command(folder, body), load_cases(pattern="mlsvm-line"), **options)
    assert len(row.message) < 1000
    assert "Traceback" not in as_table([row]).split("exit code")[0]
    return row


def ended(pid: int, seconds: float = 10.0) -> bool:
    """Return True if a process ends within `seconds`; a zombie counts as ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


# name: code of a program, and then "certified", or a word of the error message
LINKS = "place = os.readlink('/proc/self/fd/1')\n"
REPLACED = {
    "fifo": "os.mkfifo(place)",
    "folder": "os.mkdir(place)",
    "device": "os.symlink('/dev/zero', place)",
    "file": "os.symlink('/etc/passwd', place)",
}
HOSTILE = {
    **{
        f"{name} for its answer": (
            f"{LINKS}try:\n os.unlink(place)\nexcept OSError: pass\ntry:\n {does}\nexcept OSError: pass\n{RIGHT}",
            "certified",
        )
        for name, does in REPLACED.items()
    },
    "its folder removed": (f"os.rmdir(os.getcwd()); {RIGHT}", "certified"),
    "its folder unreadable": (f"os.makedirs('a/b'); os.chmod('a', 0); os.chmod('.', 0); {RIGHT}", "certified"),
    "a deep folder": (f"name = 100 * 'd'\nfor _ in range(60): os.mkdir(name); os.chdir(name)\n{RIGHT}", "certified"),
    "its answer cut": (f"{RIGHT}; sys.stdout.flush(); os.ftruncate(1, 0)", "JSON object"),
    "an answer with a hole": ("os.ftruncate(1, 2 * 10**8)", "wrote more"),
    "a huge file": ("open('a', 'wb').truncate(10**10)", "exit code"),
    "a core dump": ("os.abort()", "exit code -6"),
    "much memory": ("bytearray(10**10)", "MemoryError"),
    "its watcher killed": ("os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)", "killed"),
    "its group killed": ("os.killpg(0, signal.SIGKILL)", "exit code -9"),
    "the terminal asked": ("open('/dev/tty', 'w').write('password: ')", "exit code 1"),
    "its watcher stopped": ("os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)", "within 3 s"),
    "stopped": ("os.kill(os.getpid(), signal.SIGSTOP)", "within 3 s"),
    "signals ignored": (
        "for s in range(1, 32):\n try: signal.signal(s, signal.SIG_IGN)\n except OSError: pass\ntime.sleep(60)",
        "within 3 s",
    ),
}  # fmt: skip


@linux
@pytest.mark.quick(3)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program_is_one_row_and_leaves_nothing(name: str, tmp_path: Path, temporary: Path) -> None:
    body, expected = HOSTILE[name]
    row = row_of(tmp_path, body, time_limit=3.0)
    assert row.verdict == ("certified" if expected == "certified" else "error"), row
    assert expected == "certified" or expected in row.message, row
    # /proc shows the nameless answer file under a path with "(deleted)"; the program may make a file with this path
    assert [each for each in os.listdir(temporary) if "deleted" not in each] == []


@linux
@pytest.mark.quick(1)
@pytest.mark.parametrize("end", [RIGHT, "time.sleep(60)", "os.kill(os.getppid(), signal.SIGKILL)"])
def test_what_a_program_started_ends_with_it(end: str, tmp_path: Path, temporary: Path) -> None:
    """Children of the program end, including those that left its session, because the supervisor adopts orphans."""
    ids = tmp_path / "ids"
    note = f"with open({str(ids)!r}, 'a') as file: file.write(f'{{os.getpid()}} ')"
    last = "killed" if "getppid" in end else ""
    # if the supervisor is killed, no process adopts the child that left the session
    leaves = "" if last else "os.setsid() if os.fork() == 0 else os._exit(0)"
    child = f"if os.fork() == 0:\n {leaves or 'pass'}\n {note}\n time.sleep(60)\n"
    body = f"{note}\n{child}while open({str(ids)!r}).read().count(' ') < 2: time.sleep(0.01)\n{end}"
    row = row_of(tmp_path, body, time_limit=3.0)
    assert row.verdict == ("certified" if end == RIGHT else "error"), row
    for pid in map(int, ids.read_text().split()):
        assert ended(pid)
    assert os.listdir(temporary) == []


@linux
@pytest.mark.quick(1)
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"])
def test_a_cancelled_conform_leaves_no_process_and_no_folder(number: str, tmp_path: Path) -> None:
    ids, temporary = tmp_path / "ids", tmp_path / "temporary"
    temporary.mkdir()
    note = f"with open({str(ids)!r}, 'a') as file: file.write(f'{{os.getpid()}} ')"
    body = f"open('a', 'w')\n{note}\nif os.fork() == 0:\n os.setsid()\n {note}\ntime.sleep(60)"
    words = ["conform", "--only", "mlsvm-line", "--", *command(tmp_path, body)]
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "signal.signal(signal.SIGHUP, signal.SIG_DFL); "  # it is ignored below nohup
        "from cvxml.cli.main import run; sys.exit(run(sys.argv[1:]))"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        until = time.monotonic() + 60
        while (not ids.exists() or ids.read_text().count(" ") < 2) and time.monotonic() < until:
            time.sleep(0.02)
        assert len(os.listdir(temporary)) == 1  # the files of the question and the answer have no name
        running.send_signal(getattr(signal, number))
        _, err = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == (130 if number == "SIGINT" else -getattr(signal, number))
    assert b"Traceback" not in err
    for pid in map(int, ids.read_text().split()):
        assert ended(pid)
    until = time.monotonic() + 10
    while os.listdir(temporary) and time.monotonic() < until:
        time.sleep(0.02)
    assert os.listdir(temporary) == []


@posix
def test_a_program_is_given_few_variables_and_an_empty_folder(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SECRET_TOKEN", "WANTED"):
        monkeypatch.setenv(name, "x")
    seen = tmp_path / "seen"
    body = (
        f"with open({str(seen)!r}, 'w') as file:\n"
        " json.dump([dict(os.environ), os.listdir(), os.getcwd()], file)\n"
        f"{RIGHT}"
    )
    assert row_of(tmp_path, body, env=["WANTED"]).verdict == "certified"
    variables, content, workdir = json.loads(seen.read_text())
    assert "SECRET_TOKEN" not in variables
    assert {"WANTED", "PATH"} <= variables.keys()
    assert content == []
    assert os.path.realpath(os.path.dirname(workdir)) == os.path.realpath(temporary)
    assert variables["HOME"] == variables["TMPDIR"] == workdir
    assert row_of(tmp_path, body, env=["HOME"], workdir=str(tmp_path)).verdict == "certified"
    variables, content, workdir = json.loads(seen.read_text())
    assert "program.py" in content
    assert os.path.samefile(workdir, tmp_path)
    assert variables["HOME"] == os.environ["HOME"]
    assert os.listdir(temporary) == []


def test_words_that_name_files_here_are_found_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command(tmp_path, RIGHT)
    for words in ([sys.executable, "program.py"], [sys.executable, os.path.join(".", "program.py")]):
        (row,) = conform(words, load_cases(pattern="mlsvm-line"))
        assert row.verdict == "certified", row


@linux
def test_the_memory_of_a_program_is_limited_as_is_asked_for(tmp_path: Path) -> None:
    body = f"bytearray(3 * 10**8); {RIGHT}"
    assert row_of(tmp_path, body).verdict == "certified"
    assert "MemoryError" in row_of(tmp_path, body, memory_limit=0.2).message


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"env": ["NO_SUCH_VARIABLE"]}, "NO_SUCH_VARIABLE"),
        ({"workdir": "no/such/folder"}, "no/such/folder"),
        ({"memory_limit": 0}, "memory_limit"),
        ({"time_limit": float("nan")}, "time_limit"),
    ],
)
def test_surroundings_that_cannot_be(tmp_path: Path, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        row_of(tmp_path, RIGHT, **options)


@pytest.mark.parametrize("command", [[], "true", ["/no/such/program"], ["no such program"]])
def test_a_command_that_is_none(command: Any) -> None:
    with pytest.raises(ValueError, match=r"command"):
        conform(command, load_cases(pattern="mlsvm-line"))


@posix
def test_a_program_that_the_system_cannot_run_is_named(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF")
    path.chmod(0o755)
    with pytest.raises(ValueError, match=str(path)):
        conform([str(path)], load_cases(pattern="mlsvm-line"))


@posix
def test_a_folder_is_removed_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("x")
    made = tmp_path / "made"
    made.mkdir()
    (made / "link").symlink_to(tmp_path / "kept")
    (made / "inner").mkdir()
    (made / "inner" / "link").symlink_to(tmp_path / "kept" / "file")
    (made / "inner" / "inner").mkdir(mode=0)
    (tmp_path / "instead").symlink_to(tmp_path / "kept")
    for folder in (made, tmp_path / "instead"):
        remove(str(folder))
    assert os.listdir(tmp_path) == ["kept"]
    assert (tmp_path / "kept" / "file").read_text() == "x"
