"""Programs stopped at one of their system calls, by `strace`: killed there, or told that it failed.

A program killed at the entry of a call has done all the calls before it and nothing of this one; so
killing it at each call that changes a file, in turn, gives every state that a crash can leave.
"""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

CHANGING = (
    *("write", "pwrite64", "ftruncate", "fsync", "fdatasync"),
    *("unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat"),
    *("mkdir", "mkdirat", "chmod", "fchmod", "fchmodat", "symlink", "symlinkat"),
)
"""The calls by which a program changes what is on disk, or says something."""

TALKING = ("sendto", "recvfrom", "write")
"""The calls by which a client talks to its server."""


@dataclass(frozen=True, slots=True)
class Call:
    """The so-manieth of one system call in a program's life."""

    name: str
    number: int

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and what it said."""

    status: int
    out: str
    err: str


@cache
def _why_not() -> str | None:
    program = shutil.which("strace")
    if program is None:
        return "strace is not installed"
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        argv = [program, "-o", str(log), "-e", "inject=write:signal=SIGKILL", "/bin/echo"]
        ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    return None if ended.returncode == -9 else f"strace cannot trace here: {ended.stderr.strip()}"


def require_tracing() -> None:
    """Skips the test where there is no strace, or where it may not trace."""
    reason = _why_not()
    if reason is not None:
        pytest.skip(reason)


def calls_of(argv: Sequence[str], names: Sequence[str], **options: object) -> list[Call]:
    """Runs the program to its end; the calls it made, in their order."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        ended = _traced(argv, names, ["-o", str(log)], options)
        assert ended.status == 0, ended.err
        lines = log.read_text(errors="replace").splitlines()
    counts = dict.fromkeys(names, 0)
    found = []
    for line in lines:
        name = line.partition(" ")[2].lstrip().partition("(")[0]
        if name in counts:
            counts[name] += 1
            found.append(Call(name, counts[name]))
    return found


def killed_at(call: Call, argv: Sequence[str], **options: object) -> Ended:
    """Runs the program until it comes to that call."""
    inject = f"inject={call.name}:signal=SIGKILL:when={call.number}"
    return _traced(argv, [call.name], ["-o", "/dev/null", "-e", inject], options)


def failing_at(
    call: Call, error: str, argv: Sequence[str], *, lasting: bool, **options: object
) -> Ended:
    """Runs the program; that call, and if it lasts every later one of its name, ends in the error."""
    inject = f"inject={call.name}:error={error}:when={call.number}{'+' if lasting else ''}"
    return _traced(argv, [call.name], ["-o", "/dev/null", "-e", inject], options)


def _traced(
    argv: Sequence[str], names: Sequence[str], settings: Sequence[str], options: dict[str, object]
) -> Ended:
    program = shutil.which("strace")
    assert program is not None
    traced = [program, "-f", "-qq", "-e", f"trace={','.join(names)}", *settings, "--", *argv]
    ended = subprocess.run(  # type: ignore[call-overload]
        traced, capture_output=True, text=True, check=False, **options
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)
