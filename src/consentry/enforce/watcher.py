"""Watches what a tree of processes uses, where no control group of ours does it.

A sample walks from the first process of the box down its children; every process of the box is
below it, since orphans go back to it. What is seen is a sample: a run is stopped a little after it
went over a limit, and what came and went between two samples was not seen. What the run has written
counts as memory, the store being kept there. Not seen at all is the memory of System V segments that
no process has mapped (the filter keeps them small; files in memory it refuses altogether), of pipes
and sockets, and the processor time of processes that lived between two samples under a parent that
does not wait for its children.

Memory is first told from above, by what is resident, pages shared between processes counted for
each. When that has grown, or is over the limit, it is counted exactly. To count exactly is to wait
for a lock that the counted process may hold for as long as it likes, so a thread does it: whoever
samples is never kept from ending the run. What will not be counted counts in full.
"""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.usage import Usage

INTERVAL_SECONDS: Final = 0.02
"""How often to sample; less often when `Watcher.pause` says so."""

_MOST_WALKED: Final = 20_000
_PART: Final = 1 << 14
_TICK_SECONDS: Final = 1 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_COUNTED: Final = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")
# Sampling takes at most one part in so many of the time; an exact count far from the limit less.
_SHARE_OF_TIME, _SHARE_FAR_FROM_LIMIT = 4, 20
_GROWN: Final = 1.05
# How long an exact count is waited for at once, and how long it may take in all: so many seconds, in
# which as many samples were taken, because on a busy host it is nobody's fault that it takes long.
_AT_ONCE_SECONDS, _PATIENCE_SECONDS, _PATIENCE_SAMPLES = 0.005, 0.5, 10
# Of processes that end while they are counted, what they share is counted for several of them.
_MOST_RECOUNTS: Final = 2

# Places in `stat`, counted from the state, which follows the name in parentheses.
_DEAD: Final = (b"Z", b"X")
_UTIME, _STIME, _CUTIME, _CSTIME, _THREADS, _START, _RSS = 11, 12, 13, 14, 17, 19, 21


@dataclass(frozen=True, slots=True)
class _Seen:
    """One process in one sample; times in ticks."""

    parent: int
    own: int
    of_children: int
    start: int
    threads: int
    resident: int


class Watcher:
    """Samples of one box; not shared between threads.

    Args:
        pid: the first process of the box.
        counts_first: whether that is counted as well, being a part of what is run.
        memory_bytes: the limit from which on memory is always counted exactly.
        most_processes: no more are walked than show that there are more.
        proc: where processes are listed.
        clock: what the time is; how much of it sampling takes is told by the processor.
    """

    def __init__(
        self,
        pid: int,
        *,
        memory_bytes: int | None = None,
        most_processes: int | None = None,
        counts_first: bool = False,
        proc: str = "/proc",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pid = pid
        self._uncounted = None if counts_first else pid
        self._proc = proc
        self._clock = clock
        self._memory_bytes = memory_bytes
        self._most = _MOST_WALKED if most_processes is None else most_processes
        self._stores: list[int] = []
        self._swaps = _has_swap(proc)
        self._start: int | None = None
        self._before: dict[int, _Seen] = {}
        self._lost_ticks = 0
        self._most_used = Usage()
        self._most_from_above = 0.0
        self._count_again_at = 0.0
        self._count: _ExactCount | None = None
        self._samples = 0
        self._recounts = 0
        self.pause = INTERVAL_SECONDS

    def count_files(self, descriptor: int) -> None:
        """Counts what a file system holds whose files are kept in memory, from now on."""
        self._stores.append(descriptor)

    def sample(self) -> Usage:
        """Looks once; memory and processes are the most that any sample saw.

        When the box has ended, the last that was seen.
        """
        begun = time.thread_time()
        tree = self._walk()
        if tree is not None:
            box = [seen for pid, seen in tree.items() if pid != self._uncounted]
            ticks = self._lost_ticks
            ticks += 0 if self._uncounted is None else tree[self._pid].of_children
            ticks += sum(seen.own + seen.of_children for seen in box)
            self._most_used = self._most_used.joined(
                Usage(
                    cpu_seconds=ticks * _TICK_SECONDS,
                    memory_bytes=self._memory(tree),
                    processes=sum(seen.threads for seen in box),
                )
            )
        self.pause = max(INTERVAL_SECONDS, _SHARE_OF_TIME * (time.thread_time() - begun))
        return self._most_used

    def _walk(self) -> dict[int, _Seen] | None:
        """Every process below the first, or None when that is gone."""
        first = self._look(self._pid)
        if first is None or first.start != (self._start or first.start):
            return None
        self._start = first.start
        tree = {self._pid: first}
        count = 0
        waiting = [self._pid]
        while waiting:
            parent = waiting.pop()
            for pid in self._children(parent, tree[parent].threads):
                seen = self._look(pid) if pid not in tree else None
                if seen is not None:
                    tree[pid] = seen
                    waiting.append(pid)
                    count += seen.threads
                if count > self._most:
                    return tree
        self._keep_missed(tree)
        self._lost_ticks += _unaccounted(self._before, tree, self._pid)
        self._before = tree
        return tree

    def _keep_missed(self, tree: dict[int, _Seen]) -> None:
        """A list of children that changes while it is read may leave one out that lives."""
        for pid in self._before.keys() - tree.keys():
            seen = self._look(pid)
            if seen is not None and seen.start == self._before[pid].start:
                tree[pid] = seen

    def _look(self, pid: int) -> _Seen | None:
        text = _read(self._proc, f"{pid}/stat", is_short=True)
        fields = text.rpartition(b")")[2].split()
        if len(fields) <= _RSS:
            return None
        return _Seen(
            parent=int(fields[1]),
            own=int(fields[_UTIME]) + int(fields[_STIME]),
            of_children=int(fields[_CUTIME]) + int(fields[_CSTIME]),
            start=int(fields[_START]),
            threads=max(1, int(fields[_THREADS])),
            resident=int(fields[_RSS]) * _PAGE_BYTES,
        )

    def _children(self, pid: int, threads: int) -> list[int]:
        tasks = [str(pid)]
        if threads > 1:
            with contextlib.suppress(OSError):
                tasks = os.listdir(f"{self._proc}/{pid}/task")  # noqa: PTH208 - names, and fast
        listed = b" ".join(_read(self._proc, f"{pid}/task/{task}/children") for task in tasks)
        return [int(word) for word in listed.split()]

    def _memory(self, tree: dict[int, _Seen]) -> int:
        """A count that was finished, or 0 when there is none."""
        residents = {pid: seen.resident for pid, seen in tree.items() if pid != self._uncounted}
        stored = sum(map(_stored_bytes, self._stores))
        from_above = stored + sum(residents.values())
        if self._swaps:
            from_above += sum(map(self._swapped, residents))
        is_over = self._memory_bytes is not None and from_above > self._memory_bytes
        now = self._clock()
        self._samples += 1
        if self._count is None:
            if now < self._count_again_at or not (is_over or from_above > self._most_from_above):
                return 0
            self._most_from_above = max(self._most_from_above, _GROWN * from_above)
            count = _ExactCount(self._proc, residents, now)
            try:
                count.start()
            except RuntimeError:  # no more threads for this user
                return from_above if is_over else 0
            self._count, self._samples = count, 0
            if is_over:
                count.join(_AT_ONCE_SECONDS)
        count = self._count
        if count.is_alive():
            is_kept_waiting = (
                now - count.begun > _PATIENCE_SECONDS and self._samples > _PATIENCE_SAMPLES
            )
            return from_above if is_over and is_kept_waiting else 0
        self._count = None
        if count.lost_one and self._recounts < _MOST_RECOUNTS:
            self._recounts += 1
            return 0
        self._recounts = 0
        share = _SHARE_OF_TIME if is_over else _SHARE_FAR_FROM_LIMIT
        self._count_again_at = now + share * count.cost
        return stored + count.size

    def _swapped(self, pid: int) -> int:
        for line in _read(self._proc, f"{pid}/status").splitlines():
            if line.startswith(b"VmSwap:"):
                return int(line.split()[1]) << 10
        return 0


class _ExactCount(Thread):
    """Counts the memory of processes: what is shared is divided among those who share it."""

    def __init__(self, proc: str, residents: Mapping[int, int], begun: float) -> None:
        super().__init__(name="consentry-count", daemon=True)
        self._proc = proc
        self._residents = residents
        self.begun = begun
        self.size = 0
        self.cost = 0.0
        self.lost_one = False

    def run(self) -> None:
        size = sum(self._counted(pid, resident) for pid, resident in self._residents.items())
        self.lost_one = any(
            resident and not self._lives(pid) for pid, resident in self._residents.items()
        )
        self.size, self.cost = size, time.thread_time()

    def _counted(self, pid: int, resident: int) -> int:
        """Files on disk are left out: the kernel lets go of them when it needs the memory."""
        text = _read(self._proc, f"{pid}/smaps_rollup")
        if not text:
            return resident if self._lives(pid) else 0
        lines = [line.split() for line in text.splitlines()[1:]]
        sizes = {words[0]: int(words[1]) << 10 for words in lines if len(words) > 1}
        if _COUNTED[0] not in sizes:
            return sizes.get(b"Pss:", resident)
        return sum(sizes.get(name, 0) for name in _COUNTED)

    def _lives(self, pid: int) -> bool:
        fields = _read(self._proc, f"{pid}/stat", is_short=True).rpartition(b")")[2].split()
        return bool(fields) and fields[0] not in _DEAD


def _read(proc: str, name: str, *, is_short: bool = False) -> bytes:
    """What a file says, or nothing when the process is gone; a short one at once."""
    try:
        descriptor = os.open(f"{proc}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        text = part = os.read(descriptor, _PART)
        while part and not is_short:
            part = os.read(descriptor, _PART)
            text += part
    except OSError:
        return b""
    else:
        return text
    finally:
        os.close(descriptor)


def can_watch(proc: str = "/proc") -> bool:
    """Whether this kernel lists the children of a process, without which nothing is seen."""
    return os.path.exists(f"{proc}/thread-self/children")  # noqa: PTH110 - as the rest here


def _unaccounted(before: dict[int, _Seen], now: dict[int, _Seen], first: int) -> int:
    """Ticks of processes that went and for which nobody waited.

    A parent that waits takes over the time of the child. Where it did not grow by as much as its
    lost children had, the rest is counted here, so that ignoring the death of children hides
    nothing that was seen once.
    """
    grown = {
        pid: seen.of_children - before[pid].of_children
        for pid, seen in now.items()
        if pid in before and before[pid].start == seen.start
    }
    owed: dict[int, int] = {}
    for pid, seen in before.items():
        if pid not in grown and pid != first:
            heir = seen.parent if seen.parent in grown else 0
            owed[heir] = owed.get(heir, 0) + seen.own + seen.of_children
    spare = sum(max(0, growth - owed.get(pid, 0)) for pid, growth in grown.items())
    missing = sum(max(0, ticks - grown[pid]) for pid, ticks in owed.items() if pid)
    # Those whose parent went as well were waited for by somebody, or by nobody.
    return missing + max(0, owed.get(0, 0) - spare)


def _stored_bytes(descriptor: int) -> int:
    try:
        told = os.fstatvfs(descriptor)
    except OSError:
        return 0
    return (told.f_blocks - told.f_bfree) * told.f_frsize


def _has_swap(proc: str) -> bool:
    try:
        with open(f"{proc}/swaps", "rb") as listing:  # noqa: PTH123 - as the rest here
            return len(listing.read().splitlines()) > 1
    except OSError:
        return False
