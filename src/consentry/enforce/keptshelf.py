"""Shelves in the state directory for what is kept a while: rehearsed effects, and what undo needs.

An item is a folder whose name says whose it is, until when it is kept and how large it is:
`RUN@MILLISECONDS@BYTES`. Whoever works with one has it locked, so nothing is swept while it is in
use. An item is put together under another name, and is renamed before it is removed: what has its
name is whole.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from consentry.base.clock import Clock, Instant, SystemClock
from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.enforce.folderlock import TRY, WAIT, locked_folder
from consentry.enforce.foldertree import Tree, remove_folder

REHEARSED: Final = "rehearsed"
UNDO: Final = "undo"
SHELVES: Final = (REHEARSED, UNDO)
MOST_ITEMS: Final = 1_000
"""So many runs can be undone at most, however small they are."""

_NAME: Final = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,99})@([0-9]{1,15})@([0-9]{1,18})", re.ASCII
)
_UNFINISHED: Final = "new+"
_GOING: Final = "gone+"
_SWEPT: Final = "swept"
_BETWEEN_SWEEPS: Final = Duration(60 * 60 * 1000)


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long effects are kept, and how many bytes of replaced files in all."""

    span: Duration = Duration(7 * 24 * 60 * 60 * 1000)
    most_bytes: int = 2 << 30
    clock: Clock = SystemClock()

    def until(self) -> Instant:
        """The end of what is kept from now on."""
        return self.clock.now().plus(self.span)

    @property
    def is_off(self) -> bool:
        """Whether nothing is kept at all."""
        return self.span.milliseconds == 0 or self.most_bytes == 0


@dataclass(frozen=True, slots=True)
class Item:
    """Something on a shelf, by its name."""

    run: str
    until: Instant
    size: int

    @property
    def name(self) -> str:
        """Its folder."""
        return f"{self.run}@{self.until.unix_ms}@{self.size}"

    @classmethod
    def named(cls, name: str) -> "Item | None":
        """What a name says; None for what is no item."""
        found = _NAME.fullmatch(name)
        return None if found is None else cls(found[1], Instant(int(found[2])), int(found[3]))


class Shelf:
    """One shelf of one state directory; made when something is first put on it."""

    def __init__(self, state: Path, name: str) -> None:
        self.folder = state / name

    def items(self) -> list[Item]:
        """Everything that is whole, in no order."""
        try:
            names = os.listdir(self.folder)  # noqa: PTH208 - names alone, and quick
        except FileNotFoundError:
            return []
        return [item for name in names if (item := Item.named(name)) is not None]

    def found(self, run: str) -> Item | None:
        """The item of a run."""
        return next((each for each in self.items() if each.run == run), None)

    @contextmanager
    def taken(self, item: Item) -> Iterator[Tree | None]:
        """The item's folder, locked; waits for whoever has it, and None if it is gone then."""
        opened = locked_folder(self.folder / item.name, WAIT)
        if opened is None:
            yield None
            return
        with Tree(opened) as tree:
            yield tree

    @contextmanager
    def making(self, run: str) -> Iterator[Tree]:
        """A new folder, locked, that is no item yet; whatever is left of it is removed."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = _UNFINISHED + run
        (self.folder / name).mkdir(mode=0o700)
        opened = locked_folder(self.folder / name, WAIT)
        if opened is None:
            raise FileNotFoundError(str(self.folder / name))
        with Tree(opened) as tree:
            try:
                yield tree
            finally:
                self._remove(name)

    def finish(self, item: Item) -> None:
        """What was made for the item's run is whole from here on, also after a crash."""
        (self.folder / (_UNFINISHED + item.run)).rename(self.folder / item.name)
        self.sync()

    def sync(self) -> None:
        """The names on the shelf are on the disk."""
        opened = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)

    def remove(self, item: Item) -> None:
        """Removes an item, which the caller has locked or nobody can have."""
        with suppress(FileNotFoundError):
            (self.folder / item.name).rename(self.folder / (_GOING + item.run))
        self._remove(_GOING + item.run)

    def remove_unused(self, item: Item) -> bool:
        """Removes an item unless somebody works with it; says whether it went."""
        return self._swept(item)

    def sweep(self, now: Instant) -> int:
        """Removes what is over, and what was never finished; what is in use stays. Says how many."""
        return sum(self._swept(each) for each in self.items() if each.until < now) + sum(
            self._swept_name(name) for name in self._leftovers()
        )

    def make_room(self, most_bytes: int, most_items: int = MOST_ITEMS) -> int:
        """Removes the oldest until the rest is small enough; says how many went."""
        items = self.items()
        size, count, gone = sum(each.size for each in items), len(items), 0
        if size <= most_bytes and count <= most_items:
            return 0
        for each in sorted(items, key=lambda item: (item.until, item.run)):
            if size <= most_bytes and count <= most_items:
                break
            if self._swept(each):
                size, count, gone = size - each.size, count - 1, gone + 1
        return gone

    def _leftovers(self) -> list[str]:
        try:
            names = os.listdir(self.folder)  # noqa: PTH208 - names alone, and quick
        except FileNotFoundError:
            return []
        return [name for name in names if name.startswith((_UNFINISHED, _GOING))]

    def _swept(self, item: Item) -> bool:
        opened = locked_folder(self.folder / item.name, TRY)
        if opened is None:
            return False
        try:
            self.remove(item)
        except OSError:
            return False  # the next one tries again
        finally:
            os.close(opened)
        return True

    def _swept_name(self, name: str) -> bool:
        opened = locked_folder(self.folder / name, TRY)
        if opened is None:
            return False
        try:
            self._remove(name)
        except OSError:
            return False
        finally:
            os.close(opened)
        return True

    def _remove(self, name: str) -> None:
        remove_folder(self.folder, name)


def sweep_if_due(state: Path, keeping: Keeping) -> None:
    """Sweeps both shelves, unless somebody did within the hour."""
    stamp = state / UNDO / _SWEPT
    now = keeping.clock.now()
    try:
        swept_ms = stamp.stat().st_mtime_ns // 1_000_000
    except OSError:
        swept_ms = 0
    if 0 <= now.unix_ms - swept_ms < _BETWEEN_SWEEPS.milliseconds:
        return
    if not any((state / name).is_dir() for name in SHELVES):
        return
    for name in SHELVES:
        Shelf(state, name).sweep(now)
    with suppress(OSError):
        stamp.parent.mkdir(mode=0o700, exist_ok=True)
        stamp.touch(mode=0o600)
        seconds = now.unix_ms / 1000
        os.utime(stamp, (seconds, seconds))
