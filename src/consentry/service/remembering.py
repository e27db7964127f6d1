"""Remembers what was found and compiled for a call, while nothing that it rests on has changed.

Finding a workspace, binding a call to it and compiling a plan asks the file system hundreds of
questions, and a program that runs a tool a thousand times gets the same answers each time. What is
remembered is used again only while every place on the way to every path that mattered is what it
was, and nothing was mounted or unmounted. It is kept from the second time on: the places are looked
at before the answer is worked out anew, so a change in between is never taken for what was there.
What was written a moment ago is not relied on yet: a file that is written twice in one tick of the
file system's clock may show the same time and size for both.
"""

import os
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from threading import Lock
from typing import Final, Generic, TypeAlias, TypeVar

from consentry.base.values import dataclass
from consentry.enforce.mounts import SOURCE as MOUNT_TABLE

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
_Fact: TypeAlias = tuple[int, ...]

_MOST: Final = 64
_MOST_LINKS: Final = 40
_WITH_TIMES: Final = 8
_TICK_NS: Final = 50_000_000


class NamesIn(str):
    """The path of a folder of which also matters which names are in it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """What some paths were, and every folder and link on the way to them; and some lists of names."""

    facts: tuple[tuple[str, _Fact], ...]
    lists: tuple[tuple[str, _Fact], ...]
    mounts: bytes
    taken_at: int

    @classmethod
    def below(cls, paths: Iterable[str]) -> "Ground":
        """As it is now; what does not exist is a fact as well."""
        taken_at = time.time_ns()
        facts: dict[str, _Fact] = {}
        lists: dict[str, _Fact] = {}
        for path in paths:
            _walk(path, facts)
            if isinstance(path, NamesIn):
                lists[path] = _fact_of_list(path)
        return cls(tuple(facts.items()), tuple(lists.items()), _mount_table(), taken_at)

    @property
    def is_settled(self) -> bool:
        """Whether the last change was long enough before that the next one shows another time."""
        facts = (fact for _, fact in (*self.facts, *self.lists) if len(fact) == _WITH_TIMES)
        return max((fact[-1] for fact in facts), default=0) < self.taken_at - _TICK_NS

    def still_holds(self) -> bool:
        """Whether all of it is as it was."""
        lstat, fact_of = os.lstat, _fact_of
        try:
            for path, fact in self.facts:
                try:
                    if fact_of(lstat(path)) != fact:
                        return False
                except FileNotFoundError:
                    if fact:
                        return False
            is_listed_so = all(_fact_of_list(path) == fact for path, fact in self.lists)
            return is_listed_so and _mount_table() == self.mounts
        except OSError:
            return False


class Remembered(Generic[Key, Value]):
    """The answers to the latest calls; threads may share it."""

    def __init__(self, rests_on: Callable[[Key, Value], Iterable[str]]) -> None:
        self._rests_on = rests_on
        self._one_at_a_time = Lock()
        self._entries: OrderedDict[Key, _Entry[Value]] = OrderedDict()

    def answer(
        self, key: Key, fresh: Callable[[], Value], is_current: Callable[[Value], bool]
    ) -> Value:
        """The remembered value, or a fresh one.

        Args:
            key: what was asked.
            fresh: works it out.
            is_current: whether a remembered value fits what paths alone do not tell.
        """
        entry = self._entries.get(key)
        if entry is not None and entry.is_grounded() and is_current(entry.value):
            return entry.value
        ground = None if entry is None else Ground.below(entry.paths)
        value = fresh()
        paths = tuple(self._rests_on(key, value))
        if entry is None or ground is None or paths != entry.paths or not ground.is_settled:
            ground = None
        entry = _Entry(value, paths, ground)
        with self._one_at_a_time:
            self._entries[key] = entry
            while len(self._entries) > _MOST:
                self._entries.popitem(last=False)
        return entry.value


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Value]):
    value: Value
    paths: tuple[str, ...]
    ground: Ground | None

    def is_grounded(self) -> bool:
        return self.ground is not None and self.ground.still_holds()


def _walk(path: str, facts: dict[str, _Fact]) -> None:
    """Every place on the way, links followed as the kernel does."""
    rest, here, links = path.split("/")[::-1], "", 0
    while rest:
        name = rest.pop()
        if name in ("", "."):
            continue
        if name == "..":
            here = here.rpartition("/")[0]
            continue
        here = f"{here}/{name}"
        fact = facts.get(here)
        if fact is None:
            try:
                fact = _fact_of(os.lstat(here))
            except OSError:
                fact = ()
            facts[here] = fact
        if not fact:
            return
        if stat.S_ISLNK(fact[0]):
            links += 1
            if links > _MOST_LINKS:
                return
            target = os.readlink(here)  # noqa: PTH115 - a thousand of them
            here = "" if target.startswith("/") else here.rpartition("/")[0]
            rest += target.split("/")[::-1]


def _fact_of(found: os.stat_result) -> _Fact:
    """Of folders what and whose they are; what is in a folder changes all the time."""
    if stat.S_ISDIR(found.st_mode):
        return (found.st_mode, found.st_ino, found.st_dev, found.st_uid, found.st_gid)
    return _whole_fact(found)


def _whole_fact(found: os.stat_result) -> _Fact:
    return (
        found.st_mode,
        found.st_ino,
        found.st_dev,
        found.st_uid,
        found.st_gid,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )


def _fact_of_list(folder: str) -> _Fact:
    """Of a folder also when its list of names last changed; of anything else nothing."""
    try:
        found = os.stat(folder)  # noqa: PTH116 - on the way to every run
    except OSError:
        return ()
    return _whole_fact(found)


def _mount_table() -> bytes:
    descriptor = os.open(MOUNT_TABLE, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)
