"""Powers that were granted against powers that were used, tool by tool.

What is granted is the surface of the tool's latest permit. A power is used when a run of the period was
seen to use it: a pattern by a file that it matches, a program by its start, a host by a connection, a
name of the environment by being there. Only what can be judged counts: where the engine did not watch
reads, or the entry lists no files, nothing is said of files that were read. That a power was not used says
nothing about the next run.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, Final

from consentry.base.errors import BadInput
from consentry.base.values import dataclass, field
from consentry.surface.automaton import AllOf, matches
from consentry.surface.dimensions import Level
from consentry.surface.entries import entry_text
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import Surface
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.patterns import PatternScope
from consentry.surface.targets import Target
from consentry.surface.wire import surface_from_json

MINIMAL: Final = "minimal"
ANY: Final = "any"
"""In place of entries, where nothing of the kind is closed."""
_OWN_FOLDER: Final = "/tmp/"  # noqa: S108 - the box's own, given to every run
_MOST_REMEMBERED: Final = 20_000


class Power(StrEnum):
    """A kind of power, in the words of the report."""

    READ = "files to read"
    WRITE = "files to write"
    START = "programs to start"
    CONNECT = "hosts to reach"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class PowerUse:
    """Of one kind: the entries that were granted, and those of them that no run was seen to use."""

    power: Power
    granted: tuple[str, ...]
    unused: tuple[str, ...]

    @property
    def used(self) -> int:
        """How many were used."""
        return len(self.granted) - len(self.unused)


@dataclass(frozen=True, slots=True)
class ToolPowers:
    """Of one tool: how many runs could be judged, and how many could not."""

    tool: str
    judged: int
    not_judged: int
    uses: tuple[PowerUse, ...]


def is_watched(entry: Mapping[str, Any]) -> bool:
    """Whether the entry says all that the run read, wrote and started."""
    impact, sandbox = entry["impact"], entry["sandbox"]
    config = entry["tool"].get("auditConfig") or {}
    return (
        bool(impact.get("filesReadSeen"))
        and not impact.get("filesReadUnlisted")
        and not sandbox.get("networkUnlisted")
        and config.get("logLevel") != MINIMAL
    )


@dataclass(slots=True)
class PowerTally:
    """Of one tool, while entries come one by one; remembers no more names than it has to."""

    tool: str
    judged: int = 0
    not_judged: int = 0
    _document: object = None
    _granted: dict[Power, list[tuple[str, Any]]] = field(default_factory=dict)
    _used: dict[Power, set[str]] = field(default_factory=dict)
    _seen: set[tuple[Power, str]] = field(default_factory=set)

    def add(self, entry: Mapping[str, Any], surface: object) -> None:
        """The next run, and the surface of its permit where that is known."""
        if surface is not None and surface != self._document:
            self._document = surface
            self._granted = {each: _entries(surface_from_json(surface), each) for each in Power}
            self._seen.clear()
        if not self._granted or not is_watched(entry):
            self.not_judged += 1
            return
        self.judged += 1
        for power, name in uses_of(entry):
            self._use(power, name)

    def _use(self, power: Power, name: str) -> None:
        if (power, name) in self._seen:
            return
        if len(self._seen) >= _MOST_REMEMBERED:
            self._seen.clear()
        self._seen.add((power, name))
        used = self._used.setdefault(power, set())
        used |= {
            each
            for each, entry in self._granted[power]
            if each not in used and _is_use(power, entry, name)
        }

    def finished(self) -> ToolPowers:
        """What was granted last, and what of it was used."""
        uses: list[PowerUse] = []
        for power in Power:
            granted = tuple(sorted(each for each, _ in self._granted.get(power, ())))
            unused = tuple(each for each in granted if each not in self._used.get(power, ()))
            if granted:
                uses.append(PowerUse(power, granted, unused))
        return ToolPowers(self.tool, self.judged, self.not_judged, tuple(uses))


def uses_of(entry: Mapping[str, Any]) -> Iterator[tuple[Power, str]]:
    """What a run was seen to use; a file that was written may have been read back, too."""
    impact, sandbox = entry["impact"], entry["sandbox"]
    for each in impact["filesRead"]:
        yield Power.READ, plain_path(str(each["path"]))
    for each in (*impact["filesWritten"], *impact["filesDeleted"]):
        yield Power.WRITE, plain_path(str(each["path"]))
    for each in sandbox.get("programs", ()):
        yield from ((Power.START, name) for name in program_names(each))
    for each in sandbox.get("network", ()):
        if each["allowed"] and each["port"]:
            yield Power.CONNECT, host_of(each)
    for name in sandbox.get("environment", ()):
        yield Power.ENVIRONMENT, str(name)


def plain_path(text: str) -> str:
    """The path as it is called; the record doubles its backslashes."""
    return text.replace("\\\\", "\\")


def program_names(started: Mapping[str, Any]) -> Iterator[str]:
    """Every name that a document may know a program by."""
    path = plain_path(str(started["path"]))
    word = str(started["arguments"][0]) if started["arguments"] else path
    yield from dict.fromkeys((path, PurePosixPath(path).name, word, PurePosixPath(word).name))


def host_of(reached: Mapping[str, Any]) -> str:
    """A place in the network, as documents spell it."""
    host = str(reached["host"])
    bracketed = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"{bracketed}:{reached['port']}"


def covers(patterns: AllOf, path: str) -> bool:
    """Whether an entry stands for this path; a path outside is below some home where it fits one."""
    return all(_matches(each, path) for each in patterns)


def _matches(pattern: Pattern, path: str) -> bool:
    names = [part for part in path.split("/") if part]
    is_absolute = path.startswith("/")
    if pattern.anchor is Anchor.HOME:
        # Whose home it was is not in the entry, so any folder may have been it.
        return is_absolute and any(matches(pattern, names[at:]) for at in range(len(names)))
    return is_absolute == (pattern.anchor is Anchor.ABSOLUTE) and matches(pattern, names)


def _entries(surface: Surface, power: Power) -> list[tuple[str, Any]]:
    """The entries of one kind with their spelling; what may be written is no grant to read besides."""
    match power:
        case Power.READ:
            written = {entry_text(each) for each in surface.fs_write_roots.entries}
            return [each for each in _paths(surface.fs_read_roots) if each[0] not in written]
        case Power.WRITE:
            return _paths(surface.fs_write_roots)
        case Power.CONNECT:
            hosts = surface.net_access.targets.entries
            return _unless_any(surface.net_access.level, [(str(each), each) for each in hosts])
        case Power.START | Power.ENVIRONMENT:
            access = surface.proc_exec if power is Power.START else surface.env_read
            return _unless_any(access.level, [(each, each) for each in access.targets])


def _paths(scope: PatternScope) -> list[tuple[str, Any]]:
    found = [(entry_text(each), each) for each in scope.entries]
    return [each for each in found if each[0] != _OWN_FOLDER]


def _unless_any(level: Level, entries: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(ANY, None)] if level is Level.ANY else entries


def _is_use(power: Power, granted: Any, name: str) -> bool:
    if granted is None:
        return True
    if power in (Power.READ, Power.WRITE):
        return covers(granted, name)
    if power is Power.CONNECT:
        try:
            return HostScope.of([granted]).reaches(Target.parse(name))
        except BadInput:
            return False
    return bool(granted == name)
