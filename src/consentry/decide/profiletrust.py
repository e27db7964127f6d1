"""What a workspace's sandbox configuration changes: before it is accepted, only what confines more.

A profile of the same name as one of the user's own becomes what both allow, accepted or not: what the
user says about a name stands. One that the user does not have may be used as far as it only narrows:
what it opens outside of the workspace, secrets, a milder view or way of writing and more room for what
is written do not count before it is accepted. The same holds for which engine confines.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.base.values import dataclass, field, replace
from consentry.decide.trust import Ignored
from consentry.declare.pathentries import PathEntry
from consentry.declare.profile import (
    DeclaredLimits,
    EngineName,
    Filesystem,
    Profile,
    SandboxConfig,
)
from consentry.surface.modes import Reads, Rounding, View, Writes
from consentry.surface.pattern import Anchor, Vocabulary
from consentry.surface.patterns import PatternScope

_MOST_COMPARED: Final = 20_000
_LIMITS: Final = {
    "maxCPU": "cpu",
    "maxMemory": "memory",
    "maxProcesses": "processes",
    "maxFileSize": "file_size",
    "maxWritten": "written",
    "timeout": "timeout",
}
_STRICT: Final = Profile("", Where())
"""A profile that says nothing asks for nothing."""
Mode = TypeVar("Mode", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class MergedSandbox:
    """The configuration that counts, and what of the workspace's does not."""

    sandbox: SandboxConfig
    ignored: tuple[Ignored, ...] = ()


def merged_sandbox(
    own: SandboxConfig,
    theirs: SandboxConfig,
    file: str,
    usual: DeclaredLimits,
    *,
    is_accepted: bool,
) -> MergedSandbox:
    """The user's own configuration with a workspace's on top of it.

    Args:
        own: The user's own.
        theirs: The workspace's.
        file: How the workspace's document is called where a part of it does not count.
        usual: The limits that hold where nobody says anything.
        is_accepted: Whether the workspace's documents were accepted as they are.
    """
    common, fresh = _Narrowing(usual, lowers=False), _Narrowing(usual, lowers=True)
    profiles = dict(own.profiles)
    for name, profile in theirs.profiles.items():
        mine = own.profiles.get(name)
        if mine is not None:
            profiles[name] = common.both(mine, profile)
        else:
            profiles[name] = profile if is_accepted else fresh.alone(profile)
    merged = replace(own, profiles=MappingProxyType(profiles))
    if is_accepted:
        return MergedSandbox(_with_engines(merged, theirs), tuple(common.ignored))
    engines = tuple(_ignored_engines(theirs, file))
    return MergedSandbox(merged, (*engines, *common.ignored, *fresh.ignored))


def strangers_share(profile: Profile, usual: DeclaredLimits) -> Profile:
    """What is left of a profile, whosesoever it is, for a tool that a stranger wrote.

    A manifest may name any profile. What the user opens outside of the workspace, or sends to a host,
    is meant for the tools that they trust with it.
    """
    return _Narrowing(usual, lowers=False).alone(profile)


def _with_engines(merged: SandboxConfig, theirs: SandboxConfig) -> SandboxConfig:
    """`auto` names no engine, and leaves the choice as it was."""
    fallback = theirs.fallback_engine
    return replace(
        merged,
        engine=merged.engine if theirs.engine is EngineName.AUTO else theirs.engine,
        fallback_engine=merged.fallback_engine if fallback is None else fallback,
    )


def _ignored_engines(theirs: SandboxConfig, file: str) -> Iterator[Ignored]:
    named = {"engine": theirs.engine, "fallbackEngine": theirs.fallback_engine}
    for key, engine in named.items():
        if engine not in (None, EngineName.AUTO):
            where = Where(file, field=f"sandboxConfig.{key}")
            yield Ignored(where, f"`{engine}` would choose what confines")


@dataclass(slots=True)
class _Narrowing:
    """The merge of all profiles, and what was found not to count on the way."""

    usual: DeclaredLimits
    lowers: bool = field(kw_only=True)
    ignored: list[Ignored] = field(default_factory=list)

    def alone(self, theirs: Profile) -> Profile:
        """A stranger's profile without what would open or loosen something."""
        return self._narrowed(_STRICT, theirs, self._opened(theirs))

    def both(self, own: Profile, theirs: Profile) -> Profile:
        """What both allow."""
        mine, other = own.filesystem, self._opened(theirs)
        written = _common(mine.read_write, other.read_write)
        # A stranger opens nothing outside of the workspace, and need not: that stays as it is.
        outside = tuple(entry for entry in mine.read_only if not _is_inside(entry))
        read = _common(
            (*(entry for entry in mine.read_only if _is_inside(entry)), *mine.read_write),
            (*other.read_only, *other.read_write),
        )
        only_read = tuple(entry for entry in read if not _is_covered(entry, written))
        files = Filesystem((*outside, *only_read), written, mine.no_access | other.no_access)
        narrowed = self._narrowed(own, theirs, files)
        return replace(
            narrowed,
            where=own.where,
            dropped=tuple(dict.fromkeys((*own.dropped, *theirs.dropped))),
            network=own.network & theirs.network,
        )

    def _narrowed(self, held: Profile, theirs: Profile, files: Filesystem) -> Profile:
        """The stricter of the two in everything but files and the network."""
        is_exact = Rounding.EXACT in (held.patterns, theirs.patterns)
        self._check_secrets(theirs)
        return replace(
            theirs,
            filesystem=files,
            limits=self._limits(held, theirs),
            view=self._stricter(theirs, held.view, theirs.view, View.PRIVATE),
            writes=self._stricter(theirs, held.writes, theirs.writes, Writes.LAYER),
            layer=self._stricter(theirs, held.layer, theirs.layer, held.layer),
            reads=Reads.EXACT if Reads.EXACT in (held.reads, theirs.reads) else Reads.OBSERVED,
            patterns=Rounding.EXACT if is_exact else Rounding.ROUNDED,
            denials=self._stricter(theirs, held.denials, theirs.denials, held.denials),
            secrets=held.secrets,
        )

    def _opened(self, theirs: Profile) -> Filesystem:
        files = theirs.filesystem
        return Filesystem(
            self._inside(theirs, files.read_only, "for reading"),
            self._inside(theirs, files.read_write, "for writing"),
            files.no_access,
        )

    def _check_secrets(self, theirs: Profile) -> None:
        for secret in theirs.secrets.entries:
            self._ignore(theirs, f"a secret would be sent to `{secret.host}`")
        if theirs.secrets.vouchers is not None:
            self._ignore(theirs, "certificates of the workspace's would vouch for hosts")

    def _inside(
        self, theirs: Profile, entries: Iterable[PathEntry], what: str
    ) -> tuple[PathEntry, ...]:
        kept: list[PathEntry] = []
        for entry in entries:
            if _is_inside(entry):
                kept.append(entry)
            else:
                message = f"profile `{theirs.name}` would open `{entry.written}` {what}"
                self.ignored.append(Ignored(entry.where, message, self.lowers))
        return tuple(kept)

    def _limits(self, held: Profile, theirs: Profile) -> DeclaredLimits:
        changes: dict[str, object] = {}
        for key, name in _LIMITS.items():
            asked = getattr(theirs.limits, name)
            most = getattr(held.limits, name) or getattr(self.usual, name)
            if asked is not None and (most is None or asked <= most):
                changes[name] = asked
            elif asked is not None:
                self._ignore(theirs, f"{key} would be larger")
        return replace(held.limits, **changes)  # type: ignore[arg-type] # names of its own fields

    def _stricter(self, theirs: Profile, held: Mode, wanted: Mode, strict: Mode) -> Mode:
        if strict in (held, wanted) and wanted not in (held, strict):
            self._ignore(theirs, f"`{wanted}` would replace `{held}`")
        return strict if strict in (held, wanted) else held

    def _ignore(self, theirs: Profile, what: str) -> None:
        message = f"profile `{theirs.name}`: {what}"
        self.ignored.append(Ignored(theirs.where, message, self.lowers))


def _is_inside(entry: PathEntry) -> bool:
    return entry.pattern.anchor is Anchor.WORKSPACE


def _common(ours: Iterable[PathEntry], theirs: Iterable[PathEntry]) -> tuple[PathEntry, ...]:
    """What both lists open, as entries of either; what neither covers alone is left closed."""
    mine, other = tuple(ours), tuple(theirs)
    if len(mine) * len(other) > _MOST_COMPARED:
        raise BadInput(
            Code.SURFACE_TOO_COMPLEX,
            f"{len(mine)} paths would have to be compared with {len(other)}",
            where=other[0].where,
            help_line="name folders that contain them",
        )
    kept = [entry for entry in mine if _is_covered(entry, other)]
    kept += [entry for entry in other if _is_covered(entry, mine) and entry not in kept]
    return tuple(kept)


def _is_covered(entry: PathEntry, by: Iterable[PathEntry]) -> bool:
    return any(_scope(entry) <= _scope(each) for each in by)


def _scope(entry: PathEntry) -> PatternScope:
    return PatternScope.of(Vocabulary.PATH, [(entry.root,)])
