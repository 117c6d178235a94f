"""Run a foreign program: one question on its standard input, one answer on its standard output.

On POSIX, `supervisor.py` starts the program and ends it with every process that it started, even if this process is
killed. On Windows this process starts the program without a memory limit, and ends only the program itself.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from cvxml.core.files import parse_json
from cvxml.core.inputs import check_positive
from cvxml.oracle.supervisor import ENDING, REMOVING, remove

MOST_BYTES = 64 * 1024**2  # largest answer
FILE_BYTES = 256 * 1024**2  # largest file that a program can write
SAID = 300  # characters from the end of a program's output that are shown
TIME_LIMIT, MEMORY_LIMIT = 60.0, 8.0  # seconds for each case, 1e9 bytes for each process
SUPERVISOR = Path(__file__).parent / "supervisor.py"
# variables copied from our environment: places of programs and libraries, language, threads, Windows
KEPT = (
    "PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ",
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT",
)  # fmt: skip
FOLDERS = ("HOME", "TMPDIR", "TEMP", "TMP", "USERPROFILE")  # variables set to the empty folder


@dataclass(frozen=True)
class Surroundings:
    """The folder, the environment variables and the limits of a program.

    time_limit: seconds for each case. memory_limit: GB (1e9 bytes) of data for each process; enforced on Linux only.

    Each case gets a new empty folder, which is HOME and TMPDIR of the program and is removed after the case. workdir:
    the folder in which the program runs; None: this empty folder. env: names of environment variables that the program
    gets in addition to those in `KEPT`, for example "MY_LICENSE".

    Raises ValueError for limits that are not positive, a variable that is not set, or a folder that does not exist.
    """

    time_limit: float = TIME_LIMIT
    memory_limit: float = MEMORY_LIMIT
    env: tuple[str, ...] = ()
    workdir: str | None = None

    def __post_init__(self) -> None:
        check_positive(self.time_limit, "time_limit")
        check_positive(self.memory_limit, "memory_limit")
        for name in self.env:
            if name not in os.environ:
                raise ValueError(f"env: no environment variable {name!r} is set; set it, or leave it out")
        if self.workdir is not None and not os.path.isdir(self.workdir):
            raise ValueError(f"workdir: {self.workdir!r} is not a folder; name an existing folder, such as .")

    def variables(self, folder: str) -> dict[str, str]:
        """Return all environment variables of a program. folder: the new empty folder of the case, used as HOME."""
        given = {name: os.environ[name] for name in (*KEPT, *self.env) if name in os.environ}
        if not {"LANG", "LC_ALL", "LC_CTYPE"} & given.keys():
            given["LANG"] = "C.UTF-8"
        return {**dict.fromkeys(FOLDERS, folder), **given}

    def command(self, words: Sequence[str]) -> list[str]:
        """Return the command with the full path of its program.

        words: the program and its arguments. With a workdir, a relative path of the program starts there. Without a
        workdir, every argument that names an existing file also becomes a full path, because the program runs in an
        empty folder. Raises ValueError if `words` is not a list, or if there is no such program.
        """
        if isinstance(words, str) or not words:
            raise ValueError(
                f'a command is a list of the program and its arguments, such as ["python", "solve.py"]; got {words!r}'
            )
        first = words[0]
        if os.path.dirname(first) and self.workdir is not None:
            first = os.path.join(self.workdir, first)
        program = shutil.which(first)
        if program is None:
            raise ValueError(
                f"the command {words[0]!r} cannot be started: no executable program has this name; "
                "give a program on PATH, or the path of one"
            )
        rest = words[1:]
        if self.workdir is None:
            rest = [os.path.abspath(word) if os.path.exists(word) else word for word in rest]
        return [os.path.abspath(program), *rest]


class _TooMuch(Exception):
    """Raised if a program printed more than MOST_BYTES bytes."""


def run(command: Sequence[str], question: dict[str, Any], within: Surroundings) -> dict[str, Any] | str:
    """Return the program's answer, a dict, or a sentence that describes the error.

    command: the program and its arguments. question: a dict that the program gets as JSON. within: the limits and the
    folder of the program. Raises ValueError if the program cannot be started.
    """
    words = within.command(command)
    # These files have no name. The program gets open handles, so it cannot put another file, a pipe or a link there.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        text = json.dumps(question, allow_nan=False, sort_keys=True, indent=1) + "\n"
        given.write(text.encode())
        given.seek(0)
        folder = os.path.join(os.path.realpath(tempfile.gettempdir()), f"cvxml-{secrets.token_hex(8)}")
        start = _supervised if os.name == "posix" else _alone
        try:
            code = start(words, (given, out, err), folder, within)
        except _TooMuch:
            return f"it wrote more than {MOST_BYTES} bytes"
        except (OSError, ValueError) as error:
            raise ValueError(f"the command {command[0]!r} cannot be started: {error}") from error
        finally:
            if os.path.lexists(folder):
                remove(folder)
        if code is None:
            return f"no answer within {within.time_limit:g} s"
        if _size(out) > MOST_BYTES or _size(err) > MOST_BYTES:
            return f"it wrote more than {MOST_BYTES} bytes"
        if code != 0:
            return f"{CRASHED} {code}: {_last_words(err)}"
        try:
            answer = parse_json(_bytes(out).decode("utf-8"))
        except ValueError as error:
            return _not_json(error, _last_words(out))
        if isinstance(answer, dict):
            return answer
        return 'the answer is not a JSON object; print one such as {"metric": [[1, 0], [0, 1]]}'


def _not_json(error: ValueError, printed: str) -> str:
    if not printed:
        return "the program printed nothing; print one JSON object on the standard output"
    alone = (
        "print one JSON object and nothing else on the standard output; other text goes to the standard error"
    )
    return f"the answer is not JSON: {error}; it printed {printed!r}; {alone}"


Files = tuple[IO[bytes], IO[bytes], IO[bytes]]  # standard input, output and error of a program
CRASHED = "exit code"  # begins the error of a program that ends with another exit code than 0
LOST = "unknown, because the process that watched the program was killed"  # shown instead of an exit code


def _alone(words: list[str], files: Files, folder: str, within: Surroundings) -> int | None:
    """Run a program on Windows. Return its exit code, or None if the time limit ended first.

    words: the program and its arguments. files: its standard input, output and error. folder: the empty folder to make.
    """
    os.mkdir(folder)
    stdin, stdout, stderr = files
    process = subprocess.Popen(
        words,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=within.workdir or folder,
        env=within.variables(folder),
    )
    try:
        return _wait(process, files, within.time_limit)
    finally:
        process.kill()
        process.wait()


def _supervised(words: list[str], files: Files, folder: str, within: Surroundings) -> int | str | None:
    """Run a program under the supervisor. Return its exit code, or None if the time limit ended first.

    words: the program and its arguments. files: its standard input, output and error. folder: the empty folder, which
    the supervisor makes. If the supervisor was killed, the result is the text LOST, because the exit code is not known.
    Raises OSError if the program cannot be started.
    """
    asked, alive = os.pipe()
    told, said = os.pipe()
    memory = int(min(within.memory_limit * 1e9, 2**62))
    settings = (asked, said, folder, within.workdir or folder, memory, FILE_BYTES)
    stdin, stdout, stderr = files
    process = None
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SUPERVISOR), *map(str, settings), *words],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(asked, said),
            start_new_session=True,
            env=within.variables(folder),
        )
        ended = _wait(process, files, within.time_limit)
    finally:
        for pipe in (alive, asked, said):  # when `alive` closes, the supervisor ends the program
            os.close(pipe)
        report = {} if process is None else _stop(process, told)
        os.close(told)
    if "start" in report:
        raise OSError(
            report["start"],
            f"{os.strerror(report['start'])} (the program, its interpreter, its working folder or the temporary "
            "folder)",
        )
    return None if ended is None else report.get("exit", LOST)


def _wait(process: subprocess.Popen[bytes], files: Files, time_limit: float) -> int | None:
    """Return the exit code of `process`, or None if it still runs after `time_limit` seconds.

    files: the standard input, output and error. Raises _TooMuch if the program writes too much into one of them.
    """
    deadline = time.perf_counter() + time_limit
    # the question, in the file of the standard input, may be longer than an answer
    limits = max(MOST_BYTES, _size(files[0])), MOST_BYTES, MOST_BYTES
    pause = 0.005
    while time.perf_counter() < deadline:
        try:
            return process.wait(min(pause, max(deadline - time.perf_counter(), 0.001)))
        except subprocess.TimeoutExpired:
            pause = min(2 * pause, 0.2)
            if any(_size(file) > most for file, most in zip(files, limits, strict=True)):
                raise _TooMuch from None
    return None


def _stop(process: subprocess.Popen[bytes], told: int) -> dict[str, int]:
    """Wait until the supervisor has ended all processes, and return its report; kill the supervisor if it hangs.

    process: the supervisor. told: the pipe on which it reports. The report has "pid" of the program, and "exit", its
    exit code, or "start", the number of the error that prevented its start.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process.pid, signal.SIGCONT)  # the program may have stopped the supervisor
    try:
        process.wait(2 * (ENDING + REMOVING))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    report: dict[str, int] = {}
    os.set_blocking(told, False)
    with suppress(BlockingIOError, ValueError):
        for line in os.read(told, 1000).decode("ascii", "replace").splitlines():
            name, _, number = line.partition("=")
            report[name] = int(number)
    if process.returncode != 0 and report.get("pid", 0) > 1:  # the supervisor did not end the program
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(report["pid"], signal.SIGKILL)
    return report


def _size(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size


def _bytes(file: IO[bytes], start: int = 0) -> bytes:
    file.seek(start)
    return file.read(MOST_BYTES + 1)


def _last_words(file: IO[bytes]) -> str:
    """Return the end of a program's output on one line, with at most `SAID` characters."""
    words = _bytes(file, max(_size(file) - 10 * SAID, 0)).decode("utf-8", "replace").split()
    said = " ".join(words)
    return said if len(said) <= SAID else f"...{said[-SAID:]}"
