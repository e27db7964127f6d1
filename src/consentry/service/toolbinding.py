"""Binds a tool to this host: what a run of it starts, with which powers, and the bytes that it is of.

A run starts the manifest's commands in order, in one box, or its entry point, which may start the
commands (CONTRACTS §7). Words of the caller go to the entry point only. Names are found as a shell
would find them, relative ones from the workspace. Nothing is recorded or started here, and nothing
here decides: what comes out is what is shown, asked for and, if the answer is yes, confined.

A pattern whose folder is a link is refused, with file and line: what was read in a manifest and what
would be opened are the same place, or nothing runs.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, UsageProblem, Where
from consentry.base.values import dataclass, replace
from consentry.decide.tooldigest import tool_digest
from consentry.declare.pathentries import PathEntry
from consentry.declare.profile import Profile
from consentry.declare.tool import Requirements, ToolManifest
from consentry.enforce.confinement import Confinement, Program, Step
from consentry.enforce.egress.ports import proxy_variables
from consentry.enforce.hashcache import HashCache
from consentry.enforce.roots import place_of
from consentry.service.binding import OWN_TMP, BoundWish, Wish, protected_in, with_secrets
from consentry.service.configuration import Effective, LoadedTool
from consentry.service.enginechoice import EngineWish
from consentry.service.ledgers import ledger_place
from consentry.service.profiles import NamedProfile, require_places
from consentry.service.programbinding import (
    FoundProgram,
    environment_of,
    found_at,
    program_of,
    require_words,
)
from consentry.service.programsearch import find_program
from consentry.service.rundecision import ToolFacts
from consentry.service.runledger import HASHES
from consentry.service.surroundings import Surroundings, own_home
from consentry.service.toolsurface import system_entries, tool_limits, tool_surface
from consentry.surface.lattice import Surface
from consentry.surface.modes import View
from consentry.surface.pattern import Anchor, Pattern

COMPILED: Final = "tool"
"""A profile that was compiled from a manifest is recorded as `tool:<name>`."""


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool as it would run now.

    `surface` is what is consented to; the box has its own `/tmp` besides. `files` are the digests
    that `digest` is made of, by path; `system_files` are what the profile adds for reading.
    """

    tool: LoadedTool
    arguments: tuple[str, ...]
    bound: BoundWish
    surface: Surface
    digest: Digest
    files: Mapping[str, Digest]
    facts: ToolFacts
    system_files: tuple[str, ...]
    engines: EngineWish

    @property
    def profile(self) -> str:
        """What it is confined to, as records name it."""
        return self.bound.profile

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is started, in order."""
        return self.bound.confinement.program.steps


def bind_tool(
    tool: LoadedTool,
    effective: Effective,
    arguments: Sequence[str],
    workspace: Path,
    around: Surroundings,
) -> BoundTool:
    """The tool, bound; raises before anything is recorded or started."""
    manifest = tool.manifest
    here = replace(around, cwd=workspace)
    profile = effective.profile_of(tool)
    words = tuple(arguments)
    require_words(words)
    requirements = manifest.requirements.counting_from(tool.counts_as)
    entries = _entries(manifest, profile)
    outside = [str(place) for entry in entries if (place := _outside(entry)) is not None]
    protected = protected_in(outside, workspace, workspace, around)
    home = own_home(around).path

    def bind(entry: PathEntry) -> Pattern:
        return _bound(entry, workspace, home)

    surface = tool_surface(manifest, requirements, profile, protected, bind)
    found = _programs(manifest, words, workspace, here)
    program = program_of(found.steps, found.needed, found.folder, protected)
    confinement = _confinement(surface, workspace, program, requirements, profile, manifest, around)
    named = None
    if profile is not None:
        named = NamedProfile(profile, str(tool.file), surface)
        require_places(named, workspace, home)
    bound = BoundWish(
        confinement,
        found.steps[0].started,
        f"{COMPILED}:{manifest.name}" if profile is None else profile.name,
        protected,
        tuple(bind(need.entry) for need in manifest.capabilities.file_write),
    )
    digest, files = _digests(manifest, found, around)
    programs = tuple(tuple(map(str, each.files)) for each in found.every)
    return BoundTool(
        tool,
        words,
        with_secrets(bound, Wish(profile=named), around),
        surface,
        digest,
        files,
        ToolFacts(manifest, digest, programs, profile),
        () if profile is None else tuple(each.written for each in system_entries(profile)),
        EngineWish(effective.sandbox.engine, effective.sandbox.fallback_engine),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What a run starts, in order, what may be started from there, and where it begins."""

    steps: tuple[FoundProgram, ...]
    needed: tuple[FoundProgram, ...]
    folder: Path

    @property
    def every(self) -> tuple[FoundProgram, ...]:
        return (*self.steps, *self.needed)


def _programs(
    manifest: ToolManifest, words: tuple[str, ...], workspace: Path, here: Surroundings
) -> _Found:
    commands, entry = manifest.capabilities.commands, manifest.entrypoint
    if entry is None and words:
        raise UsageProblem(
            Code.USAGE,
            f"`{manifest.name}` has no entry point that words could be given to",
            where=manifest.where,
            help_line="leave out what stands behind its name, or add `entrypoint` to its manifest",
        )
    if entry is None and not commands:
        raise BadInput(
            Code.DOCUMENT_INVALID,
            f"`{manifest.name}` names nothing that a run could start",
            where=manifest.where,
            help_line="add `processExecution`, or `entrypoint`, to its manifest",
        )
    folder = (
        workspace if entry is None else _folder(entry.working_directory, entry.where, workspace)
    )
    found = tuple(
        _found((each.command, *each.arguments), each.where, folder, here) for each in commands
    )
    if entry is None:
        return _Found(found, (), folder)
    first = _found((entry.command, *entry.arguments, *words), entry.where, folder, here)
    return _Found((first,), found, folder)


def _found(words: tuple[str, ...], where: Where, folder: Path, here: Surroundings) -> FoundProgram:
    try:
        path = find_program(words[0], here)
        # Relative to the workspace, whatever folder the run begins in.
        name = str(path) if "/" in words[0] and folder != here.cwd else words[0]
        return found_at(path, (name, *words[1:]), folder)
    except ConsentryError as problem:
        raise problem.at(where) from None


def _folder(named: str, where: Where, workspace: Path) -> Path:
    folder = Path(os.path.normpath(workspace / named))
    if os.path.realpath(folder) != str(folder) or not folder.is_dir():
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"`workingDirectory: {named}` is no folder of the workspace",
            where=where,
            help_line="make the folder, or name another one; a link is not followed",
        )
    return folder


def _entries(manifest: ToolManifest, profile: Profile | None) -> tuple[PathEntry, ...]:
    asked = manifest.capabilities
    needs = tuple(need.entry for need in (*asked.file_read, *asked.file_write))
    if profile is None:
        return needs
    files = profile.filesystem
    return (*needs, *files.read_only, *files.read_write)


def _outside(entry: PathEntry) -> Path | None:
    if entry.pattern.anchor is not Anchor.ABSOLUTE:
        return None
    return Path("/", *entry.pattern.prefix)


def _bound(entry: PathEntry, workspace: Path, home: Path | None) -> Pattern:
    """What the entry means here: of a plain name that is a folder, all below as well."""
    place = place_of(entry.pattern, workspace, home)
    if place is None:
        return entry.pattern
    real = os.path.realpath(place)
    if entry.pattern.anchor is Anchor.WORKSPACE and real != str(place):
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"`{entry.written}` leads through a link to `{real}`",
            where=entry.where,
            help_line="name what it leads to, if that is what you mean",
        )
    return entry.root if entry.pattern.is_literal and place.is_dir() else entry.pattern


def _confinement(
    surface: Surface,
    workspace: Path,
    program: Program,
    requirements: Requirements,
    profile: Profile | None,
    manifest: ToolManifest,
    around: Surroundings,
) -> Confinement:
    environment = environment_of(manifest.capabilities.env_read, around)
    wanted = Confinement(
        surface=surface | Surface.of(read=[OWN_TMP], write=[OWN_TMP]),
        workspace=workspace,
        program=program,
        environment=environment | proxy_variables(surface.net_access),
        limits=tool_limits(requirements, profile),
        view=View.PRIVATE if requirements.isolate_file_system else View.VISIBLE,
    )
    if profile is None:
        return wanted
    return replace(
        wanted,
        denied=profile.filesystem.no_access.patterns,
        view=profile.view,
        writes=profile.writes,
        layer=profile.layer,
        reads=profile.reads,
        rounding=profile.patterns,
        denials=profile.denials,
    )


def _digests(
    manifest: ToolManifest, found: _Found, around: Surroundings
) -> tuple[Digest, Mapping[str, Digest]]:
    cache = HashCache(ledger_place(around).folder / HASHES)
    files = {
        str(path): cache.digest_of(path)
        for path in dict.fromkeys(path for each in found.every for path in each.files)
    }
    listed = [[files[str(path)] for path in each.files] for each in found.every]
    return tool_digest(manifest.digest, listed), files
