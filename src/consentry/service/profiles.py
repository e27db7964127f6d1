"""The profile that a command line names: one of the user's own configuration, or of a named file.

A workspace is a stranger's, so a bare name is never looked up in it; whoever wants the profile of a
workspace names its file. What the document says of engines holds as well, unless the line names one.
"""

import os
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.nearest import closest
from consentry.base.units import Size
from consentry.base.values import dataclass, field, replace
from consentry.declare.pathentries import PathEntry, is_provided
from consentry.declare.profile import DeclaredSecrets, Profile, SandboxConfig
from consentry.declare.profilesurface import profile_surface
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.enforce.confinement import Limits
from consentry.enforce.roots import is_own, place_of
from consentry.service.enginechoice import EngineWish
from consentry.service.places import Trust, find_configuration
from consentry.service.programsearch import is_system
from consentry.service.protection import protected_here
from consentry.service.surroundings import Surroundings
from consentry.service.userfiles import read_named
from consentry.surface.lattice import Surface
from consentry.surface.modes import Denials
from consentry.surface.pattern import Anchor
from consentry.surface.permission_sets import PermissionSet
from consentry.surface.protected import protected_roots

DOCUMENT: Final = "sandbox-config.yaml"

_ENDINGS: Final = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class NamedProfile:
    """A profile, where it was found, and the powers that it opens."""

    profile: Profile
    file: str
    surface: Surface
    engines: EngineWish = field(default_factory=EngineWish)


def profile_word(permission_set: PermissionSet | None, profile: str | None = None) -> str:
    """What a run is to be confined to, as records name it."""
    if profile is not None:
        return f"profile:{profile}"
    return "command line" if permission_set is None else f"set:{permission_set}"


def find_profile(named: str, around: Surroundings) -> NamedProfile:
    """`NAME` of the user's own configuration, `FILE` with a single profile, or `FILE:NAME`."""
    file, name = _file_and_name(named, around)
    protected = protected_here(around)
    config = read_sandbox_config(read_named(file), file, roots=protected)
    profile = _chosen(config, file, name)
    if profile.denials is Denials.ATTESTED and not _is_of_own_configuration(named):
        raise Refused(
            Code.NOT_ENFORCEABLE,
            "`denials: attested` may turn on the host's audit, and counts only in your own "
            f"configuration, not in `{file}`",
            where=profile.where,
            help_line="leave it out of the file, and type --attest",
        )
    if profile.secrets != DeclaredSecrets() and not _is_of_own_configuration(named):
        raise Refused(
            Code.NOT_ENFORCEABLE,
            f"secrets count only in your own configuration, not in `{file}`",
            where=profile.where,
            help_line="leave them out of the file, and type --secret",
        )
    surface = profile_surface(profile, roots=protected)
    return NamedProfile(profile, file, surface, EngineWish(config.engine, config.fallback_engine))


def with_limits_of(profile: Profile, typed: Limits) -> Limits:
    """The limits of a profile; one that the line names holds instead."""
    said, none = profile.limits, Limits()
    cpu = None if said.cpu is None else max(1, -(-said.cpu.milliseconds // 1000))
    wall = None if said.timeout is None else said.timeout.milliseconds / 1000
    return replace(
        typed,
        cpu_seconds=_first(typed.cpu_seconds, cpu),
        memory_bytes=_first(typed.memory_bytes, _bytes(said.memory)),
        processes=_first(typed.processes, said.processes),
        file_bytes=_bytes(said.file_size),
        written_bytes=none.written_bytes if said.written is None else said.written.count,
        wall_seconds=typed.wall_seconds if typed.wall_seconds is not None else wall,
    )


def require_places(named: NamedProfile, workspace: Path, home: Path | None) -> None:
    """Raises with file and line where a profile opens a path that is not there, or is a link."""
    files = named.profile.filesystem
    for entry in (*files.read_only, *files.read_write):
        place = place_of(entry.root, workspace, home)
        if place is None or _is_there_anyway(entry, place):
            continue
        if place.is_symlink():
            raise _unusable(entry, f"is a link to `{os.path.realpath(place)}`", "name that instead")
        real = os.path.realpath(place)
        if entry.pattern.anchor is Anchor.WORKSPACE and real != str(place):
            # The workspace may be anybody's, and the profile meant a place in it.
            raise _unusable(entry, f"leads through a link to `{real}`", "name that instead")
        may_be_new = entry in files.read_write and place.is_relative_to(workspace)
        if not os.path.lexists(place) and not may_be_new:
            raise _unusable(entry, "does not exist", "make it, or leave the entry out")


def _is_there_anyway(entry: PathEntry, place: Path) -> bool:
    """Whether the engine provides it, or has one of its own at that name."""
    if entry.pattern.anchor is Anchor.WORKSPACE:
        return False
    return is_own(place) or is_system(place) or is_provided(entry, protected_roots())


def _unusable(entry: PathEntry, what: str, help_line: str) -> UsageProblem:
    message = f"`{entry.written}` {what}"
    return UsageProblem(Code.FILE_UNUSABLE, message, where=entry.where, help_line=help_line)


def _first(typed: int | None, said: int | None) -> int | None:
    return said if typed is None else typed


def _bytes(size: Size | None) -> int | None:
    return None if size is None else size.count


def _is_of_own_configuration(named: str) -> bool:
    return not ("/" in named or named.endswith(_ENDINGS) or ":" in named)


def _file_and_name(named: str, around: Surroundings) -> tuple[str, str | None]:
    if not _is_of_own_configuration(named):
        if ":" in named and not os.path.lexists(named):
            file, _, name = named.rpartition(":")
            return file, name
        return named, None
    for folder in find_configuration(around, None).folders:
        if folder.trust is Trust.OWN and DOCUMENT in folder.files:
            for concern in folder.concerns:
                raise Refused(concern.code, concern.message, help_line=concern.help_line)
            return str(folder.path / DOCUMENT), named
    raise UsageProblem(
        Code.FILE_UNUSABLE,
        f"there is no profile `{named}`: your configuration has no `{DOCUMENT}`",
        help_line="`consentry status` shows where your configuration is; or name a file",
    )


def _chosen(config: SandboxConfig, file: str, name: str | None) -> Profile:
    profiles = config.profiles
    if name is None and len(profiles) == 1:
        return next(iter(profiles.values()))
    found = profiles.get(name or "")
    if found is not None:
        return found
    listed = ", ".join(f"`{each}`" for each in profiles) or "none"
    if name is None:
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"`{file}` has {len(profiles)} profiles, and the line does not say which",
            help_line=f"write {file}:NAME; it has {listed}",
        )
    nearest = closest(name, profiles)
    help_line = f"it has {listed}" if nearest is None else f"did you mean `{nearest}`?"
    raise UsageProblem(Code.FILE_UNUSABLE, f"`{file}` has no profile `{name}`", help_line=help_line)
