"""Run one command under limits, and end every process that it started. POSIX only; `programs.py` starts this file.

    python -I -S supervisor.py ALIVE SAID FOLDER WORKDIR MEMORY SIZE PROGRAM [ARGUMENT ...]

ALIVE is a pipe that cvxml holds open. It closes when cvxml ends the run or is itself killed. When ALIVE closes or the
program ends, this process kills all processes of the program and removes FOLDER, an empty folder for its files. So both
happen even if cvxml is killed. FOLDER is made here, so that it exists only while there is a process that will remove
it. The program runs in WORKDIR, which may be FOLDER. SAID is a pipe for the report, with the lines pid=NUMBER,
exit=CODE, or start=ERRNO if the program cannot be started. MEMORY limits each process, SIZE limits each file, both in
bytes.

This file does not import cvxml, so that the process starts in a hundredth of a second.
"""

from __future__ import annotations

import os
import signal
import stat
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

ADOPT_ORPHANS, DIE_WITH_PARENT = 36, 1  # options of prctl: PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG
ENDING, REMOVING = 10.0, 30.0  # seconds: time to end all processes, and time to remove the folder
# bytes; a folder with a longer path is moved up, because a name adds up to 255 bytes and macOS allows 1024 in all
LONG = 700


def main(words: Sequence[str]) -> int:
    """Run the command of the module docstring; `words` are its arguments. Returns 0."""
    alive, said = int(words[0]), int(words[1])
    for pipe in (alive, said):
        os.set_inheritable(pipe, False)  # the program does not get the pipes
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
    """Set an option of this process on Linux. Other systems lack prctl, and the call is ignored."""
    if sys.platform.startswith("linux"):
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _wake() -> int:
    """Return the reading end of a pipe that gets the number of each signal: a child ended, or this process must end.

    `_wait` waits for this pipe, so that it sees the signals.
    """
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    return woken


def _become(command: Sequence[str], workdir: str, memory: int, size: int, said: int) -> None:
    """Replace this process by the program, in a session and process group of its own.

    command: the program and its arguments. memory, size: the limits in bytes. said: the pipe for the report, which gets
    start=ERRNO if the program cannot be started.
    """
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

    # RLIMIT_DATA counts the memory that a process can write to. RLIMIT_AS would also count the memory that Java or
    # Julia reserve and do not use.
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
    """Return the exit code of the program, or None if cvxml or a signal asked for the end first.

    child: the process id of the program. alive: the pipe that closes when cvxml asks for the end. woken: the pipe that
    gets the number of each signal.
    """
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
    """Return (process id, status) of each ended child; (0, 0) is the last entry if other children still run."""
    found: list[tuple[int, int]] = []
    with suppress(ChildProcessError):
        while not found or found[-1][0] != 0:
            found.append(os.waitpid(-1, os.WNOHANG))
    return found


def _end(child: int) -> None:
    """Kill the process group of the program. child: the process id of the program.

    On Linux also kill the processes that left the group: they become children of this process when their parent ends.
    """
    until = time.monotonic() + ENDING
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    while (0, 0) in _ended() and time.monotonic() < until:
        for pid in _children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


def _children() -> list[int]:
    """Return the ids of this process's children, read from /proc; an empty list on systems without /proc."""
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
    """Remove a folder with its content, even if it is deep or unreadable; give up after `REMOVING` seconds.

    Links are removed and not followed, even if `folder` itself was replaced by a link.
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
    """Remove the content of a folder, as far as one pass can.

    An inner folder with a path longer than `LONG` bytes is moved up into `folder`. The next call removes it.
    """
    found = [folder]
    for each in found:  # the loop appends inner folders to this list
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
    """Return True if `path` is a folder, and give its owner all rights to it."""
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(path, stat.S_IRWXU)
    return stat.S_ISDIR(mode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
