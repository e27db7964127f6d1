"""Makes the preview of a tool that was bound: what a person is shown before it runs.

Every row of files is a part of the surface that the run will have, with the purpose that the manifest
gives for it; what the surface has beyond the manifest (a profile opens it) is listed without one. So
the rows together are the surface, whatever the manifest says of itself. Patterns are counted over the
workspace in one walk; what lies outside of it is named and not counted.

Secret values in arguments are masked here, before the preview is kept anywhere; program, path and
host never are.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from consentry.base.canonical import Digest
from consentry.base.secretfilter import mask_arguments
from consentry.base.units import Duration, Size
from consentry.base.values import dataclass
from consentry.decide.levels import LevelDecision
from consentry.decide.preview import Preview
from consentry.decide.previewfiles import ExistingFile, Extent, FileUse, Found, Impact
from consentry.decide.previewparts import (
    CommandPart,
    CommandUse,
    Estimate,
    LastConsent,
    Source,
)
from consentry.declare.pathentries import PathEntry
from consentry.declare.profile import DeclaredLimits
from consentry.declare.tool import FileNeed, ToolManifest
from consentry.enforce.confinement import Limits
from consentry.service.binding import BoundWish
from consentry.service.configuration import LoadedTool
from consentry.service.filecounting import Counted, Existing, Matched, count_files
from consentry.surface.automaton import AllOf, Work
from consentry.surface.entries import entry_text
from consentry.surface.lattice import Surface, spellings
from consentry.surface.modes import Writes
from consentry.surface.pattern import Anchor, Pattern, Vocabulary
from consentry.surface.patterns import PatternScope


class Bound(Protocol):
    """What is needed of a tool that was bound to this host."""

    @property
    def tool(self) -> LoadedTool:
        """Its manifest, and whose it is."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words of the caller."""

    @property
    def bound(self) -> BoundWish:
        """The box that it would run in."""

    @property
    def surface(self) -> Surface:
        """What would be consented to."""

    @property
    def digest(self) -> Digest:
        """What the consent binds to."""

    @property
    def profile(self) -> str:
        """What it is confined to, as records name it."""

    @property
    def system_files(self) -> tuple[str, ...]:
        """What the profile adds for reading."""


@dataclass(frozen=True, slots=True)
class Background:
    """What is known of the tool from before, and how long a commit of it could be undone."""

    asked_because: tuple[str, ...] = ()
    last_consent: LastConsent | None = None
    estimate: Estimate | None = None
    kept_for: Duration | None = None


def make_preview(bound: Bound, level: LevelDecision, background: Background) -> Preview:
    """The preview; reads names and sizes in the workspace, and changes nothing."""
    manifest, confinement = bound.tool.manifest, bound.bound.confinement
    files = _files(bound)
    rules = level.rules
    kept_for = None if confinement.writes is Writes.DIRECT else background.kept_for
    return Preview(
        tool=manifest.name,
        display_name=manifest.display_name,
        version=manifest.version,
        description=manifest.description,
        digest=bound.digest,
        source=_source(bound.tool, confinement.workspace),
        risk=manifest.risk,
        level=level.level,
        surface=bound.surface,
        profile=bound.profile,
        level_reasons=level.reasons,
        asked_because=background.asked_because,
        shows_preview=rules.show_preview,
        read=files.read,
        write=files.write,
        system_files=bound.system_files,
        closed=tuple(pattern.text for pattern in confinement.denied),
        commands=_commands(manifest, bound.arguments, bound.surface),
        environment_write=manifest.capabilities.env_write,
        secrets=tuple(f"{each.header} for {each.host}:{each.port}" for each in confinement.secrets),
        limits=_limits(confinement.limits),
        view=confinement.view,
        writes=confinement.writes,
        estimate=background.estimate,
        impact=_impact(files.existing, kept_for) if rules.show_impact_analysis else None,
        last_consent=background.last_consent,
    )


@dataclass(frozen=True, slots=True)
class _Files:
    read: tuple[FileUse, ...]
    write: tuple[FileUse, ...]
    existing: Existing


_Row = tuple[AllOf, str | None]


def _files(bound: Bound) -> _Files:
    asked, surface = bound.tool.manifest.capabilities, bound.surface
    confinement = bound.bound.confinement
    write = _rows(asked.file_write, surface.fs_write_roots)
    read = _rows(asked.file_read, surface.fs_read_roots)
    read += _beyond(surface.fs_read_roots, (*read, *write), _trees(bound.system_files))
    write += _beyond(surface.fs_write_roots, write)
    counted = count_files(
        confinement.workspace,
        [entry for entry, _ in read],
        sized=[entry for entry, _ in write],
        denied=[(pattern,) for pattern in confinement.denied],
    )
    uses = _uses((*read, *write), counted)
    return _Files(uses[: len(read)], uses[len(read) :], counted.sized)


def _rows(needs: Sequence[FileNeed], opened: PatternScope) -> list[_Row]:
    """What is open of each need, in the order of the manifest."""
    rows = [(entry, need.purpose) for need in needs for entry in _open_of(need.entry, opened)]
    return list(dict.fromkeys(rows))


def _open_of(entry: PathEntry, opened: PatternScope) -> Sequence[AllOf]:
    """All of an entry, a folder with what is below it, where it is open; else what is."""
    for whole in dict.fromkeys((entry.root, entry.pattern)):
        if opened.index.covers((whole,), Work()):
            return ((whole,),)
    # Most are open as they are asked for, and to meet two scopes is dear.
    return (PatternScope.of(Vocabulary.PATH, [(entry.root,)]) & opened).entries


def _beyond(opened: PatternScope, rows: Iterable[_Row], known: Iterable[AllOf] = ()) -> list[_Row]:
    """What is open and in none of the rows."""
    shown = [entry for entry, _ in rows]
    left = [entry for entry in opened.entries if entry not in set(shown)]
    if not left:
        return []
    listed = PatternScope.of(Vocabulary.PATH, [*shown, *known])
    beyond = PatternScope.of(Vocabulary.PATH, left) - listed
    return [(entry, None) for entry in beyond.entries]


def _trees(system_files: Iterable[str]) -> list[AllOf]:
    """The places that are listed apart, each with all below it."""
    return [(Pattern.parse(f"{each.rstrip('/')}/"),) for each in system_files]


def _uses(rows: Sequence[_Row], counted: Counted) -> tuple[FileUse, ...]:
    return tuple(
        FileUse(entry_text(entry), purpose, _found(entry, matched))
        for (entry, purpose), matched in zip(rows, counted.matched, strict=True)
    )


def _found(entry: AllOf, matched: Matched) -> Found:
    if entry[0].anchor is not Anchor.WORKSPACE:
        return Found()
    return Found(_extent(matched), matched.files, matched.bytes, matched.examples)


def _extent(counted: Matched | Existing) -> Extent:
    return Extent.WHOLE if counted.is_whole else Extent.AT_LEAST


def _impact(existing: Existing, kept_for: Duration | None) -> Impact:
    return Impact(
        _extent(existing),
        existing.files,
        existing.bytes,
        tuple(ExistingFile(path, size) for path, size in existing.largest),
        kept_for,
    )


def _commands(
    manifest: ToolManifest, words: tuple[str, ...], surface: Surface
) -> tuple[CommandUse, ...]:
    """What is started, in order; then what may be started; then what only the surface names."""
    entry = manifest.entrypoint
    part = CommandPart.STARTED if entry is None else CommandPart.ALLOWED
    listed = [
        _command(each.command, each.arguments, each.purpose, part)
        for each in manifest.capabilities.commands
    ]
    if entry is not None:
        arguments = (*entry.arguments, *words)
        listed.insert(0, _command(entry.command, arguments, None, CommandPart.STARTED))
    known = PatternScope.parse((each.program for each in listed), Vocabulary.COMMAND)
    beyond = spellings(surface.proc_exec.targets - known)
    return (*listed, *(CommandUse(each, (), None, CommandPart.ALLOWED) for each in beyond))


def _command(
    program: str, arguments: tuple[str, ...], purpose: str | None, part: CommandPart
) -> CommandUse:
    masked = mask_arguments((program, *arguments))
    return CommandUse(program, masked[1:], purpose, part)


def _limits(limits: Limits) -> DeclaredLimits:
    return DeclaredLimits(
        cpu=None if limits.cpu_seconds is None else Duration(limits.cpu_seconds * 1000),
        memory=_size(limits.memory_bytes),
        processes=limits.processes,
        file_size=_size(limits.file_bytes),
        written=_size(limits.written_bytes),
        timeout=None if limits.wall_seconds is None else Duration(int(limits.wall_seconds * 1000)),
    )


def _size(count: int | None) -> Size | None:
    return None if count is None else Size(count)


def _source(tool: LoadedTool, workspace: Path) -> Source:
    """The manifest, by its path in the workspace where it lies in it; bytes that are no text marked."""
    path = tool.file
    shown = path.relative_to(workspace) if path.is_relative_to(workspace) else path
    text = os.fsencode(shown).decode("utf-8", "backslashreplace")
    return Source(text, tool.origin, tool.is_accepted)
