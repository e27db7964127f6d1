"""The control groups of one run: made before it starts, joined by the box itself, gone after it.

A group's name says who made it: the number of the process, when that started and in which pid
namespace, so that groups of owners that died are told from those of the living and swept. What a
group tells is the kernel's own count, of every process that was ever in it.
"""

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from consentry.enforce.groupplaces import Holds, Place, Version
from consentry.enforce.usage import Usage
from consentry.enforce.violations import Truth

_NAME: Final = re.compile(r"consentry-(?P<space>\d+)-(?P<pid>\d+)-(?P<ticks>\d+)-[\w.-]{1,80}")
# The first process of a box is the engine's own, and not counted.
_OUR_PROCESSES: Final = 1
# The second file moves a process, for which the kernel lets all others wait, and itself first for them:
# milliseconds. The first one moves a thread, and one that moves itself waits for nobody.
_DOORS: Final = {Version.V1: "tasks", Version.V2: "cgroup.procs"}
_SMALL_FILE: Final = 4096
_TRIES: Final = 40
_PAUSE_SECONDS: Final = 0.005
_START_TICKS_FIELD: Final = 19  # counted from the state, which follows the name in parentheses


class RunGroup:
    """One group in each place; not shared between threads."""

    def __init__(
        self,
        places: Sequence[Place],
        run_id: str,
        *,
        memory_bytes: int | None = None,
        processes: int | None = None,
        owner: str | None = None,
        own_processes: int = _OUR_PROCESSES,
    ) -> None:
        """Makes the groups and sets the limits; raises `OSError` when one is refused.

        `owner` is what `owner_of_groups` says of this process, for who makes many, and
        `own_processes` how many of those in it are the engine's own and not counted.
        """
        self._own_processes = own_processes
        if processes is not None:
            processes += own_processes - _OUR_PROCESSES
        self.name = _name_for(run_id, owner or owner_of_groups())
        self._folders: dict[Holds, tuple[Version, str]] = {}
        self._made: list[str] = []
        self.doors: list[str] = []
        """The files to which the first process of a box writes `0` to join, while it has one thread."""
        self._most_memory = 0
        self._most_processes = 0
        try:
            for place in places:
                folder = f"{place.folder}/{self.name}"
                os.mkdir(folder, 0o755)  # noqa: PTH102 - once a run, and it counts
                self._made.append(folder)
                self.doors.append(f"{folder}/{_DOORS[place.version]}")
                self._folders |= dict.fromkeys(place.holds, (place.version, folder))
            for place, folder in zip(places, self._made, strict=True):
                for file, value, may_lack in settings_of(place, memory_bytes, processes):
                    with contextlib.suppress(*((FileNotFoundError,) if may_lack else ())):
                        _put(f"{folder}/{file}", value)
        except OSError:
            self.remove()
            raise

    def usage(self) -> Usage:
        """What everything in the group has used until now; each figure that it cannot tell is 0."""
        memory_truth = processes_truth = Truth.OBSERVED
        if Holds.MEMORY in self._folders:
            version, folder = self._folders[Holds.MEMORY]
            name = "memory.max_usage_in_bytes" if version is Version.V1 else "memory.peak"
            most, memory_truth = _most(f"{folder}/{name}", f"{folder}/memory.current")
            self._most_memory = max(self._most_memory, most)
        if Holds.PIDS in self._folders:
            folder = self._folders[Holds.PIDS][1]
            most, processes_truth = _most(f"{folder}/pids.peak", f"{folder}/pids.current")
            self._most_processes = max(self._most_processes, most - self._own_processes)
        return Usage(
            cpu_seconds=self._cpu_seconds(),
            memory_bytes=self._most_memory,
            processes=self._most_processes,
            kills=self._kills(),
            refusals=self._refusals(),
            cpu_truth=Truth.KERNEL if Holds.TIME in self._folders else Truth.OBSERVED,
            memory_truth=memory_truth,
            processes_truth=processes_truth,
        )

    def _cpu_seconds(self) -> float:
        if Holds.TIME not in self._folders:
            return 0.0
        version, folder = self._folders[Holds.TIME]
        if version is Version.V1:
            return (_number(f"{folder}/cpuacct.usage") or 0) / 1e9
        return _entry(f"{folder}/cpu.stat", b"usage_usec") / 1e6

    def _kills(self) -> int:
        if Holds.MEMORY not in self._folders:
            return 0
        version, folder = self._folders[Holds.MEMORY]
        name = "memory.oom_control" if version is Version.V1 else "memory.events"
        return _entry(f"{folder}/{name}", b"oom_kill")

    def _refusals(self) -> int:
        if Holds.PIDS not in self._folders:
            return 0
        return _entry(f"{self._folders[Holds.PIDS][1]}/pids.events", b"max")

    def kill(self) -> None:
        """Ends every process in the groups."""
        _kill_all(self._made)

    def remove_if_empty(self) -> bool:
        """Tries once; false when something is still in one."""
        for folder in list(self._made):
            try:
                os.rmdir(folder)  # noqa: PTH106 - as above
            except FileNotFoundError:
                pass
            except OSError:
                return False
            self._made.remove(folder)
        return True

    def remove(self) -> bool:
        """Removes the groups; false when something is still in one, which is then left."""
        self._made = [folder for folder in self._made if not _removed(folder)]
        return not self._made


def settings_of(
    place: Place, memory_bytes: int | None, processes: int | None
) -> Iterator[tuple[str, int, bool]]:
    """The files of a group there to write, what to write, and whether one may be missing."""
    if memory_bytes is not None and Holds.MEMORY in place.holds:
        is_first = place.version is Version.V1
        yield ("memory.limit_in_bytes" if is_first else "memory.max", memory_bytes, False)
        # Without these a program could be moved to disk instead of being stopped; kernels that do
        # not count swap lack the file.
        if is_first:
            yield ("memory.memsw.limit_in_bytes", memory_bytes, True)
        else:
            yield ("memory.swap.max", 0, True)
    if processes is not None and Holds.PIDS in place.holds:
        yield ("pids.max", processes + _OUR_PROCESSES, False)


def sweep(places: Sequence[Place], proc: Path = Path("/proc")) -> int:
    """Ends and removes what is left of runs whose owner is dead; returns how many groups went.

    Only groups of our own pid namespace: of others it cannot be told whether the owner lives.
    """
    space = _pid_namespace(proc)
    swept = 0
    for place in places:
        for folder in _groups_in(place.folder):
            name = _NAME.fullmatch(folder.name)
            if name is None or int(name["space"]) != space:
                continue
            if start_ticks(int(name["pid"]), proc) == int(name["ticks"]):
                continue
            _kill_all([str(folder)])
            swept += _removed(str(folder))
    return swept


def start_ticks(pid: int, proc: Path = Path("/proc")) -> int | None:
    """When a process started, or None when there is none; with its number it names it for good."""
    try:
        text = (proc / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    return int(text.rpartition(b")")[2].split()[_START_TICKS_FIELD])


def _groups_in(folder: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from list(folder.glob("consentry-*"))


def owner_of_groups() -> str:
    """What names this process for good, its number being another's one day."""
    pid = os.getpid()
    return f"{_pid_namespace(Path('/proc'))}-{pid}-{start_ticks(pid)}"


def _name_for(run_id: str, owner: str) -> str:
    name = f"consentry-{owner}-{run_id}"
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"no name for a control group: {name!r}")
    return name


def _pid_namespace(proc: Path) -> int:
    return (proc / "self/ns/pid").stat().st_ino


def _kill_all(folders: Sequence[str]) -> None:
    """Until none is left; with no more processes allowed, the dying cannot be outrun."""
    for folder in folders:
        for name, value in (("cgroup.kill", 1), ("pids.max", 0)):
            with contextlib.suppress(OSError):
                _put(f"{folder}/{name}", value)
    for _ in range(_TRIES):
        left = [pid for folder in folders for pid in _members(folder)]
        if not left:
            return
        for folder in folders:
            _kill_members(folder)
        time.sleep(_PAUSE_SECONDS)


def _kill_members(folder: str) -> None:
    """By descriptors, each looked at again once it is open: a number may be another's by then."""
    opened: dict[int, int] = {}
    try:
        for pid in _members(folder):
            with contextlib.suppress(OSError):
                opened[pid] = os.pidfd_open(pid)
        for pid in opened.keys() & set(_members(folder)):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(opened[pid], signal.SIGKILL)
    finally:
        for descriptor in opened.values():
            os.close(descriptor)


def _members(folder: str) -> list[int]:
    try:
        return [int(word) for word in Path(folder, "cgroup.procs").read_bytes().split()]
    except OSError:
        return []


def _removed(folder: str) -> bool:
    """The kernel refuses while the last process is still being buried."""
    for _ in range(_TRIES):
        try:
            os.rmdir(folder)  # noqa: PTH106 - as above
        except FileNotFoundError:
            return True
        except OSError:
            if _members(folder):
                return False
            time.sleep(_PAUSE_SECONDS)
        else:
            return True
    return False


def _put(path: str, value: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, b"%d" % value)
    finally:
        os.close(descriptor)


def _told(path: str) -> bytes:
    """A small file of a group, at once: these are read every few milliseconds."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _SMALL_FILE)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _number(path: str) -> int | None:
    told = _told(path)
    return int(told) if told.strip().isdigit() else None


def _most(peak: str, now: str) -> tuple[int, Truth]:
    """The kernel's own peak, or what there is at this moment where it keeps none."""
    kept = _number(peak)
    if kept is not None:
        return kept, Truth.KERNEL
    return _number(now) or 0, Truth.OBSERVED


def _entry(path: str, wanted: bytes) -> int:
    for line in _told(path).splitlines():
        name, _, value = line.partition(b" ")
        if name == wanted:
            return int(value)
    return 0
