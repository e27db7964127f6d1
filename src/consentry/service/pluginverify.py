"""Holds everything in a root against its lock, and says of each plugin how it stands and how that is known.

Verified is what was hashed just now, or what was hashed before and has not changed since by what the kernel
says (`plugincache`). The second is good for looking, and never for loading.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.declare.pluginlock import PluginLock
from consentry.examine.pluginintegrity import check_integrity, locked_plugin
from consentry.examine.pluginproblems import Rejection, TreeChanges, VerificationError
from consentry.examine.plugintree import read_tree
from consentry.record.events import EventType
from consentry.service.plugincache import TreeCache
from consentry.service.pluginlocking import check_plugin_name, flat, named_changes
from consentry.service.pluginroots import plugin_folders
from consentry.store.journal import About, Journal


class KnownBy(StrEnum):
    """How the state of a plugin is known."""

    HASHED = "hashed"
    STAT = "stat"


@dataclass(frozen=True, slots=True)
class PluginState:
    """One plugin: what the lock says of it, what was found, and why it is rejected, if it is."""

    name: str
    version: str | None
    digest: Digest | None
    known_by: KnownBy | None = None
    hashed_at: Instant | None = None
    problem: VerificationError | None = None


@dataclass(frozen=True, slots=True)
class DefinitionState:
    """One section of definitions that was held against what was given.

    `looked_at` are the names that could be compared; `unlooked` those that nothing was given for.
    """

    locked: Mapping[str, Digest]
    found: Mapping[str, Digest]
    changes: TreeChanges
    looked_at: tuple[str, ...]
    unlooked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RootState:
    """Everything that was found out about one root."""

    root: Path
    plugins: tuple[PluginState, ...]
    tools: DefinitionState
    mcp_tools: DefinitionState

    @property
    def rejected(self) -> tuple[VerificationError, ...]:
        """What is wrong with its plugins, in their order."""
        return tuple(each.problem for each in self.plugins if each.problem is not None)

    @property
    def definition_problems(self) -> tuple[VerificationError, ...]:
        """Every definition that departs from the lock, as an error of its own."""
        return (*_told("tool", self.tools), *_told("mcp", self.mcp_tools))

    @property
    def is_as_locked(self) -> bool:
        """Whether nothing at all departs from the lock."""
        return not (self.rejected or self.tools.changes or self.mcp_tools.changes)


@dataclass(frozen=True, slots=True)
class Given:
    """Definitions to be held against the lock: digests of manifests and of servers' tools."""

    tools: Mapping[str, Digest]
    mcp_tools: Mapping[str, Mapping[str, Digest]]


def verify_root(
    root: Path, lock: PluginLock, cache: TreeCache, given: Given, *, rehash: bool
) -> RootState:
    """Looks at every plugin of a root and of its lock; of what cannot be read, the reason."""
    folders = plugin_folders(root)
    names = sorted({*folders, *lock.plugins})
    plugins = tuple(
        _state(root / name, lock, cache, is_there=name in folders, rehash=rehash) for name in names
    )
    return RootState(root, plugins, _tools(lock, given), _mcp_tools(lock, given))


def record_rejections(journal: Journal, rejected: Sequence[VerificationError]) -> None:
    """Appends one `PluginRejected` for each, all or none."""
    at = journal.clock.now()
    drafts = [
        journal.draft(
            EventType.PLUGIN_REJECTED,
            About(f"plugin:{_as_text(each.plugin)}"),
            {
                "plugin": _as_text(each.plugin),
                "reason": each.reason.value,
                "expected": each.expected,
                "found": each.found,
            },
            at,
        )
        for each in rejected
    ]
    if drafts:
        journal.ledger.append(*drafts)


def _as_text(name: str) -> str:
    """A folder that poses as a plugin may have a name that no event can hold."""
    return name.encode("utf-8", "replace").decode()


def _state(
    folder: Path, lock: PluginLock, cache: TreeCache, *, is_there: bool, rehash: bool
) -> PluginState:
    locked = lock.plugins.get(folder.name)
    version = None if locked is None else locked.version
    try:
        return _verified(folder, lock, cache, is_there=is_there, rehash=rehash)
    except VerificationError as problem:
        known_by = None if problem.found is None else KnownBy.HASHED
        return PluginState(folder.name, version, problem.found, known_by, problem=problem)


def _verified(
    folder: Path, lock: PluginLock, cache: TreeCache, *, is_there: bool, rehash: bool
) -> PluginState:
    name = folder.name
    if not is_there:
        raise VerificationError(
            Rejection.MISSING_PLUGIN,
            name,
            "the lock has an entry for it, and it is not there",
            expected=lock.plugins[name].digest,
            help_line="bring it back, or run `consentry plugins lock` if it is meant to be gone",
        )
    check_plugin_name(name)
    locked = locked_plugin(name, lock)
    known = None if rehash else cache.known(folder)
    if known is not None and known.digest == locked.digest:
        return PluginState(name, locked.version, known.digest, KnownBy.STAT, known.hashed_at)
    began = cache.now()
    tree = read_tree(folder, keep_contents=False)
    check_integrity(tree, lock)
    cache.remember(folder, tree, began)
    return PluginState(name, locked.version, tree.digest, KnownBy.HASHED, began)


def _tools(lock: PluginLock, given: Given) -> DefinitionState:
    """Of single tools nothing can be missing: what was not given was not looked at."""
    locked = {name: lock.tools[name] for name in given.tools if name in lock.tools}
    return _held(locked, given.tools, given.tools, lock.tools)


def _mcp_tools(lock: PluginLock, given: Given) -> DefinitionState:
    """Of a server whose whole list was given, a tool can be missing, too."""
    locked = {name: lock.mcp_tools[name] for name in given.mcp_tools if name in lock.mcp_tools}
    return _held(flat(locked), flat(given.mcp_tools), given.mcp_tools, lock.mcp_tools)


def _held(
    locked: Mapping[str, Digest],
    found: Mapping[str, Digest],
    given: Mapping[str, object],
    section: Mapping[str, object],
) -> DefinitionState:
    changes = named_changes(locked, found)
    unlooked = tuple(sorted(section.keys() - given.keys()))
    return DefinitionState(locked, found, changes, tuple(sorted(given)), unlooked)


def _told(section: str, state: DefinitionState) -> Iterator[VerificationError]:
    said = {
        **dict.fromkeys(state.changes.changed, "its definition is not that of the lock"),
        **dict.fromkeys(state.changes.added, "the lock has no entry for its definition"),
        **dict.fromkeys(state.changes.missing, "the lock has an entry for it, and it is gone"),
    }
    for name, message in sorted(said.items()):
        yield VerificationError(
            Rejection.DEFINITION_CHANGED,
            f"{section}:{name}",
            message,
            expected=state.locked.get(name),
            found=state.found.get(name),
        )
