"""Starts programs as cheaply as they can be started, and counts what a tree of processes uses."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
# Counted from the state, which follows the name in parentheses.
_PARENT, _OWN_TIME, _TIME_OF_DEAD = 1, slice(11, 13), slice(13, 15)


def status_of(words: Sequence[str], environ: Mapping[str, str] | None = None) -> int:
    """Runs a program without a word and returns its exit status; raises if a signal ended it."""
    quiet = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        *((os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)),
    ]
    child = os.posix_spawn(words[0], list(words), environ or os.environ, file_actions=quiet)
    status = None
    try:
        _, status = os.waitpid(child, 0)
    finally:
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def descendants(root: int) -> list[int]:
    """Every process below one, at this moment."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))):
            children.setdefault(int(fields[_PARENT]), []).append(int(entry.name))
    return list(_below(root, children))


def _below(root: int, children: Mapping[int, list[int]]) -> Iterator[int]:
    for child in children.get(root, ()):
        yield child
        yield from _below(child, children)


def cpu_seconds(pids: Sequence[int]) -> float:
    """What these have used, and those of their children that are dead and were waited for."""
    ticks = 0
    for pid in pids:
        if fields := _fields(pid):
            ticks += sum(int(each) for each in (*fields[_OWN_TIME], *fields[_TIME_OF_DEAD]))
    return ticks / _TICKS


def memory_bytes(pids: Sequence[int]) -> int:
    """Their memory; a page that several share is split between them."""
    total = 0
    for pid in pids:
        with suppress(FileNotFoundError, ProcessLookupError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


def _fields(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()
