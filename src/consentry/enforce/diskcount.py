"""Counts what a run has on the disk while it runs, where no file system has a size for it.

Two looks. The quick one asks the file system how much of it is in use; as long as that has not grown
by what the run has left, the run is within its limit. The thorough one goes through the folders that
the run writes to, name by name, and adds the deleted files that its processes have open or mapped. It
is made when the quick one says that the limit may be passed, and now and then in any case, because
somebody else may have freed as much as the run took. It is made in parts, so that whoever samples is
not held up.

A file counts by its blocks, once for all of its names; and as in a layer in memory, a run has no more
names than blocks of 4 KiB. Where a look cannot go (a folder that is closed to its owner, a process
that closes itself to others) the growth of the whole file system counts instead. Not seen is a deleted
file that no process has open or mapped: one that is on its way between two processes.
"""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

_BLOCK: Final = 512
_BYTES_FOR_EACH_NAME: Final = 12  # as a power of two
_LEAST_NAMES: Final = 256
_AT_ONCE_SECONDS: Final = 0.01
_THOROUGH_SECONDS: Final = 0.25
_SHARE_OF_TIME: Final = 4
_LONGEST_PATH: Final = 4000
_MOST_PROCESSES: Final = 20_000


class DiskCount:
    """What lies in some folders, held against a limit; not shared between threads.

    Args:
        folders: descriptors of the folders, which are this object's from here on.
        limit: how many bytes there may be.
        proc: where processes are listed.
        clock: what the time is.
    """

    def __init__(
        self,
        folders: Iterable[int],
        limit: int | None,
        *,
        proc: str = "/proc",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folders = list(folders)
        self._limit = limit
        self._proc = proc
        self._clock = clock
        self._in_use_at_first = [_in_use(folder) for folder in self._folders]
        self._in_use_before = list(self._in_use_at_first)
        self._counted = 0
        self._look: Iterator[int | None] | None = None
        self._look_again_at = 0.0
        self._spent = 0.0
        self._is_blind = False

    def sample(self, pid: int | None, store: int | None = None) -> int | None:
        """How much there is, if that is over the limit; `store` is in memory and counts as well.

        `pid` is the first process of the box.
        """
        if self._limit is None:
            return None
        in_memory = 0 if store is None else _in_use(store)
        now = [_in_use(folder) for folder in self._folders]
        grown = sum(map(_growth, now, self._in_use_before))
        is_near = self._counted + in_memory + grown > self._limit
        if self._look is None and (is_near or self._clock() >= self._look_again_at):
            self._in_use_before = now
            self._spent = 0.0
            self._look = self._thorough(pid)
        if self._look is not None:
            self._go_on(self._look)
        return self._over(now, in_memory)

    def last(self, store: int | None = None) -> int | None:
        """The same when the run is over: counted to the end, and nothing moves on meanwhile."""
        if self._limit is None:
            return None
        for counted in self._thorough(None):
            self._counted = self._counted if counted is None else counted
        in_memory = 0 if store is None else _in_use(store)
        return self._over([_in_use(folder) for folder in self._folders], in_memory)

    def _over(self, now: Iterable[int], in_memory: int) -> int | None:
        limit = self._limit or 0
        seen = self._counted + in_memory
        if self._is_blind:
            seen = max(seen, in_memory + sum(map(_growth, now, self._in_use_at_first)))
        return seen if seen > limit else None

    def close(self) -> None:
        """Gives the descriptors back."""
        while self._folders:
            os.close(self._folders.pop())

    def _go_on(self, look: Iterator[int | None]) -> None:
        begun = time.thread_time()
        while time.thread_time() - begun < _AT_ONCE_SECONDS:
            counted = next(look)
            if counted is not None:
                self._counted = counted
                self._look = None
                self._spent += time.thread_time() - begun
                wait = max(_THOROUGH_SECONDS, _SHARE_OF_TIME * self._spent)
                self._look_again_at = self._clock() + wait
                return
        self._spent += time.thread_time() - begun

    def _thorough(self, pid: int | None) -> Iterator[int | None]:
        """Counts; None now and then on the way, and the bytes at the end."""
        count = _Count(self._limit or 0)
        for folder in self._folders:
            waiting = [b""]
            while waiting and not count.is_over:
                waiting += count.look_into(folder, waiting.pop())
                yield None
        if pid is not None and not count.is_over:
            devices = set(_devices_of(self._proc, pid))
            for each in _processes(self._proc, pid):
                count.look_at_process(self._proc, each, devices)
                yield None
        self._is_blind = count.is_blind
        yield count.size


class _Count:
    """One thorough look."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._most_names = max(_LEAST_NAMES, limit >> _BYTES_FOR_EACH_NAME)
        self._names = 0
        self._seen: set[tuple[int, int]] = set()
        self.size = 0
        self.is_blind = False

    @property
    def is_over(self) -> bool:
        return self.size > self._limit

    def look_into(self, top: int, path: bytes) -> list[bytes]:
        """Counts what is in a folder; gives the folders in it."""
        if len(path) > _LONGEST_PATH:
            self.size = self._limit + 1  # a tree that nobody can look through
            return []
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            opened = os.open(path or b".", flags, dir_fd=top)
        except PermissionError:
            self.is_blind = True
            return []
        except OSError:
            return []  # it is gone
        try:
            with os.scandir(opened) as entries:
                return [
                    path + b"/" + os.fsencode(entry.name) if path else os.fsencode(entry.name)
                    for entry in entries
                    if self._is_folder(entry)
                ]
        except PermissionError:
            self.is_blind = True
            return []
        except OSError:
            return []
        finally:
            os.close(opened)

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        self._names += 1
        if self._names > self._most_names:
            self.size = max(self.size, self._limit + 1)
        try:
            found = entry.stat(follow_symlinks=False)
        except PermissionError:
            self.is_blind = True
            return False
        except OSError:
            return False
        if found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode):
            if (found.st_dev, found.st_ino) in self._seen:
                return False
            self._seen.add((found.st_dev, found.st_ino))
        self.size += found.st_blocks * _BLOCK
        return stat.S_ISDIR(found.st_mode) and not self.is_over

    def look_at_process(self, proc: str, pid: int, devices: set[int]) -> None:
        """Counts the deleted files of these file systems that a process has open or mapped."""
        for folder in ("fd", "map_files"):
            try:
                names = os.listdir(f"{proc}/{pid}/{folder}")  # noqa: PTH208 - as above
            except PermissionError:
                # What is mapped can only be seen by root; what is open and closed to us, nobody says.
                self.is_blind = self.is_blind or folder == "fd"
                continue
            except OSError:
                continue
            for name in names:
                try:
                    found = os.stat(f"{proc}/{pid}/{folder}/{name}")  # noqa: PTH116 - fast
                except OSError:
                    continue
                key = (found.st_dev, found.st_ino)
                if found.st_nlink == 0 and found.st_dev in devices and key not in self._seen:
                    self._seen.add(key)
                    self.size += found.st_blocks * _BLOCK


def _growth(now: int, before: int) -> int:
    return max(0, now - before)


def _in_use(descriptor: int) -> int:
    try:
        told = os.fstatvfs(descriptor)
    except OSError:
        return 0
    return (told.f_blocks - told.f_bfree) * told.f_frsize


def _devices_of(proc: str, pid: int) -> Iterator[int]:
    """The numbers of the box's layered file systems."""
    try:
        with open(f"{proc}/{pid}/mountinfo", "rb") as lines:  # noqa: PTH123 - as the rest here
            for line in lines:
                words = line.split()
                if words[words.index(b"-") + 1] == b"overlay":
                    major, _, minor = words[2].partition(b":")
                    yield os.makedev(int(major), int(minor))
    except (OSError, ValueError):
        return


def _processes(proc: str, first: int) -> Iterator[int]:
    """All that are below the first, which is the engine's own."""
    waiting, count = [first], 0
    while waiting and count < _MOST_PROCESSES:
        pid = waiting.pop()
        try:
            tasks = os.listdir(f"{proc}/{pid}/task")  # noqa: PTH208 - names, and fast
        except OSError:
            continue
        for task in tasks:
            try:
                with open(f"{proc}/{pid}/task/{task}/children", "rb") as listed:  # noqa: PTH123
                    below = [int(word) for word in listed.read().split()]
            except OSError:
                continue
            waiting += below
            count += len(below)
            yield from below
