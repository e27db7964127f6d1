"""The process that leads the login session this one runs in, and whether such a process still lives.

A leader is known by its number, its start time and the boot, all read from `/proc`, also the number:
`/proc` may show another process namespace than the one this process counts in, and only its own
numbers fit its files. Where the leader cannot be seen (it is gone, hidden, or outside of a
container), the topmost ancestor that can be seen leads; where `/proc` shows nothing at all, this
process leads itself.

In a process namespace of its own (a container) the boot is written with the namespace behind it:
there the same number is another process, and whoever looks from outside cannot tell whether it
lives. What cannot be told is taken to live; twelve hours end it.
"""

import os
import secrets
from pathlib import Path
from typing import Final, NamedTuple

from consentry.decide.session import Leader

PROC: Final = Path("/proc")

_FIRST_NAMESPACE: Final = "pid:[4026531836]"  # the kernel's own number for it
_ENDED: Final = frozenset("ZXx")
# Without /proc nothing tells two processes of one number apart, unless they say so themselves.
_THIS_PROGRAM: Final = secrets.token_hex(8)
_UNSEEN: Final = "unseen:"
_UNKNOWN_BOOT: Final = "unknown"


class _Process(NamedTuple):
    """What the `stat` file of a process says."""

    pid: int
    state: str
    parent: int
    session: int
    started_at_ticks: int

    @property
    def is_running(self) -> bool:
        """Whether it has not ended; one that nobody has buried yet has."""
        return self.state not in _ENDED


def leader_here(proc: Path = PROC) -> Leader:
    """The leader of the session that this process runs in."""
    own = _read(proc, "self")
    if own is None:
        return Leader(os.getpid(), 0, _UNSEEN + _THIS_PROGRAM)
    leader = _read(proc, str(own.session)) if own.session > 0 else None
    if leader is None or not leader.is_running:
        leader = _topmost(proc, own)
    return Leader(leader.pid, leader.started_at_ticks, _boot(proc))


def this_process(proc: Path = PROC) -> Leader:
    """This process itself, for what lasts no longer than it does."""
    own = _read(proc, "self")
    if own is None:
        return Leader(os.getpid(), 0, _UNSEEN + _THIS_PROGRAM)
    return Leader(own.pid, own.started_at_ticks, _boot(proc))


def is_alive(leader: Leader, proc: Path = PROC) -> bool:
    """Whether that process still runs; True where it cannot be told."""
    if leader.boot_id.startswith(_UNSEEN):
        return _answers(leader.pid)
    here = _boot(proc)
    if leader.boot_id != here:
        return _cannot_be_told(leader.boot_id, here)
    found = _read(proc, str(leader.pid))
    if found is None:
        return _read(proc, "self") is None
    return found.is_running and found.started_at_ticks == leader.started_at_ticks


def _answers(pid: int) -> bool:
    """Whether there is a process of that number, asked without /proc."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _cannot_be_told(boot: str, here: str) -> bool:
    """Another boot is over; the same boot in another namespace has numbers that are not ours."""
    known = {boot.partition("/")[0], here.partition("/")[0]}
    return len(known) == 1 or _UNKNOWN_BOOT in known


def _topmost(proc: Path, process: _Process) -> _Process:
    """The last ancestor on the way up that can be seen; the process itself where none can."""
    seen = {process.pid}
    while process.parent > 0 and process.parent not in seen:
        parent = _read(proc, str(process.parent))
        if parent is None or not parent.is_running:
            break
        seen.add(parent.pid)
        process = parent
    return process


def _read(proc: Path, name: str) -> _Process | None:
    """The process as `/proc` shows it; None where it is not shown."""
    try:
        text = (proc / name / "stat").read_bytes().decode("ascii", "replace")
        # The program's name is in parentheses and may hold anything, parentheses and lines too.
        before, _, behind = text.rpartition(")")
        fields = behind.split()
        return _Process(
            pid=int(before.split(" ", 1)[0]),
            state=fields[0],
            parent=int(fields[1]),
            session=int(fields[3]),
            started_at_ticks=int(fields[19]),
        )
    except (OSError, ValueError, IndexError):
        return None


def _boot(proc: Path) -> str:
    """The id of this boot, with the process namespace behind it where that is not the first."""
    try:
        boot = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        boot = ""
    try:
        namespace = str((proc / "self/ns/pid").readlink())
    except OSError:
        namespace = _FIRST_NAMESPACE
    known = boot or _UNKNOWN_BOOT
    return known if namespace == _FIRST_NAMESPACE else f"{known}/{namespace}"
