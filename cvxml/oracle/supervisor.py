"""Run one command under limits, and end everything that it started. POSIX alone: `programs.py` starts this file.

    python -I -S supervisor.py ALIVE SAID FOLDER WORKDIR MEMORY SIZE PROGRAM [ARGUMENT ...]

ALIVE is a pipe that cvxml holds open. When it closes, cvxml has died or wants the end. Then, or when the program has
ended, all processes are killed and FOLDER is removed. That holds too where cvxml was killed and could do nothing.
FOLDER is made here, so that it never exists without the process that removes it; WORKDIR is where the program runs.
SAID is a pipe for lines: pid=NUMBER, exit=CODE, or start=ERRNO where the program cannot be started.
MEMORY is a limit in bytes for each process, SIZE one for each file.

This process is a program of its own, and imports nothing of cvxml: it starts in a hundredth of a second.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

ADOPT_ORPHANS, DIE_WITH_PARENT = 36, 1  # of prctl: PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG
ENDING, REMOVING = 10.0, 30.0  # seconds in which all processes must have ended, and the folder must be gone
LONG = 700  # bytes of a path, which a name of 255 may be added to: macOS allows 1024 in all


def main(words: Sequence[str]) -> int:
    """Run the command; returns 0."""
    alive, said = int(words[0]), int(words[1])
    for pipe in (alive, said):
        os.set_inheritable(pipe, False)  # the program gets neither
    prctl(ADOPT_ORPHANS, 1)
    prctl(DIE_WITH_PARENT, signal.SIGTERM)
    woken = _wake()
    folder, workdir, memory, size, *command = words[2:]
    try:
        os.mkdir(folder, 0o700)
    except OSError as error:
        os.write(said, f"start={error.errno}\n".encode())
        return 0
    child = os.fork()
    if child == 0:
        _become(command, workdir, int(memory), int(size), said)
    os.write(said, f"pid={child}\n".encode())
    code = _wait(child, alive, woken)
    _end(child)
    if code is not None:
        os.write(said, f"exit={code}\n".encode())
    remove(folder)
    return 0


def prctl(option: int, value: int) -> None:
    """Ask Linux for it; other systems do not have it."""
    if sys.platform.startswith("linux"):
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _wake() -> int:
    """A pipe from which the number of each signal is read that should end the waiting."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    return woken


def _become(command: Sequence[str], workdir: str, memory: int, size: int, said: int) -> None:
    """Replace this process by the program, in a session and process group of its own."""
    try:
        signal.set_wakeup_fd(-1)
        for name in ("SIGCHLD", "SIGTERM", "SIGHUP", "SIGINT", "SIGPIPE", "SIGXFSZ"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)  # Python ignores the last two
        os.setsid()
        os.chdir(workdir)
        prctl(DIE_WITH_PARENT, signal.SIGKILL)
        limit(memory, size)
        os.execv(command[0], list(command))
    except OSError as error:
        os.write(said, f"start={error.errno}\n".encode())
    finally:
        os._exit(127)


def limit(memory: int, size: int) -> None:
    """Limit the data of this process and the size of each file that it writes, in bytes; no core dump."""
    import resource

    # RLIMIT_DATA is what a process writes to. RLIMIT_AS would count what Java or Julia only reserve.
    for kind, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, size),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(OSError, ValueError, OverflowError):
            _, allowed = resource.getrlimit(kind)
            most = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
            resource.setrlimit(kind, (most, most))


def _wait(child: int, alive: int, woken: int) -> int | None:
    """The exit code of the program; None where the end was asked for first."""
    import select

    while True:
        ready, _, _ = select.select([alive, woken], [], [])
        if alive in ready:
            return None
        signals = set(os.read(woken, 1024))
        for pid, status in _ended():
            if pid == child:
                return os.waitstatus_to_exitcode(status)
        if signals & {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}:
            return None


def _ended() -> list[tuple[int, int]]:
    """Process ids and statuses of the children that have ended; [(0, 0)] at the end where others have not."""
    found: list[tuple[int, int]] = []
    with suppress(ChildProcessError):
        while not found or found[-1][0] != 0:
            found.append(os.waitpid(-1, os.WNOHANG))
    return found


def _end(child: int) -> None:
    """Kill the process group of the program; on Linux also what left the group, for all orphans are adopted here."""
    until = time.monotonic() + ENDING
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    while (0, 0) in _ended() and time.monotonic() < until:
        for pid in _children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _children() -> list[int]:
    """Ids of this process's children, read from /proc; empty where there is no /proc."""
    found: list[int] = []
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdecimal():
                with suppress(OSError, ValueError, IndexError):
                    with open(f"/proc/{name}/stat", "rb") as file:
                        parent = int(file.read().rpartition(b")")[2].split()[1])
                    found += [int(name)] * (parent == os.getpid())
    return found


def remove(folder: str) -> None:
    """Remove a folder and all in it, however deep or unreadable; give up after `REMOVING` seconds.

    Links are removed, not followed, also where the folder itself was replaced by one.
    """
    until, before = time.monotonic() + REMOVING, [""]
    with suppress(OSError):
        if not _opened(folder):
            os.unlink(folder)
            return
        while (names := os.listdir(folder)) and names != before and time.monotonic() < until:
            _clear(folder)
            before = names
        os.rmdir(folder)


def _clear(folder: str) -> None:
    """Remove what is in a folder. A folder whose path is long is moved up instead, and is left for the next time."""
    found = [folder]
    for each in found:  # which grows
        names = []
        with suppress(OSError):
            names = os.listdir(each)
        for name in names:
            path = os.path.join(each, name)
            with suppress(OSError):
                if not _opened(path):
                    os.unlink(path)
                elif len(os.fsencode(path)) > LONG:
                    os.rename(path, os.path.join(folder, os.urandom(16).hex()))
                else:
                    found.append(path)
    for each in reversed(found[1:]):
        with suppress(OSError):
            os.rmdir(each)


def _opened(path: str) -> bool:
    """Whether it is a folder; if so, its owner may do everything with it from now on."""
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(path, stat.S_IRWXU)
    return stat.S_ISDIR(mode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
