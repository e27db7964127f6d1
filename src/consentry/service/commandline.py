"""Turns a person's own command line into a confinement: what the line names, and nothing more.

The line is the decision: there is no prompt, nothing stored is read, and nothing is stored that a
later run could use. What is not named stays closed; what can never be granted is refused here.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.declare.profile import Profile
from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.ownership import is_roots_alone
from consentry.enforce.programfiles import Started, look_at_program
from consentry.enforce.roots import OWN_FOLDERS, is_own
from consentry.service.profiles import NamedProfile, require_places, with_limits_of
from consentry.service.programsearch import (
    find_program,
    is_protected,
    is_system,
    prefix_of,
    prefixes_of,
    require_text,
    script_of,
    started_path,
)
from consentry.service.protection import protected_here
from consentry.service.surroundings import Surroundings, own_home
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Denials, View
from consentry.surface.pattern import Anchor, Pattern, Wildcard
from consentry.surface.permission_sets import PermissionSet, definition
from consentry.surface.protected import ProtectedRoots

FIXED_ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/home/user",
    "TMPDIR": "/tmp",  # noqa: S108 - the box's own
    "LANG": "C.UTF-8",
}
ANY: Final = "any"
OWN_TMP: Final = "/tmp/"  # noqa: S108 - the box's own

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_TERMINAL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,31}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RunWish:
    """What the line asks for."""

    words: tuple[str, ...]
    permission_set: PermissionSet | None = None
    profile: NamedProfile | None = None
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    execute: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    view: View | None = None
    denials: Denials = Denials.OBSERVED


@dataclass(frozen=True, slots=True)
class BoundWish:
    """The confinement, how it is spoken of in records, and what no grant opens here.

    `written` are the writable places as they were named, one by one.
    """

    confinement: Confinement
    started: Started
    profile: str
    protected: ProtectedRoots
    written: tuple[Pattern, ...] = ()


def bind_wish(wish: RunWish, workspace: Path, around: Surroundings) -> BoundWish:
    """The confinement that this line asks for; raises before anything is recorded or started."""
    _require_givable(wish)
    cwd = around.cwd or workspace
    named = [named_place(each, cwd) for each in (*wish.read, *wish.write)]
    protected = protected_here(around, workspace, *named)
    if is_protected(workspace, protected):
        raise Refused(Code.PROTECTED_ROOT, f"the workspace `{workspace}` is never granted")
    path = find_program(wish.words[0], around)
    written = [granted_pattern(each, workspace, cwd, may_be_new=True) for each in wish.write]
    surface = _surface(wish, workspace, cwd, path, written)
    started, program = _program(wish, path, workspace, cwd, around, protected)
    confinement = Confinement(
        surface=surface,
        workspace=workspace,
        program=program,
        environment=_environment(wish, around),
        limits=wish.limits,
        view=wish.view or View.PRIVATE,
        denials=wish.denials,
    )
    if wish.profile is None:
        name = "command line" if wish.permission_set is None else f"set:{wish.permission_set}"
        spelled = tuple(map(Pattern.parse, written))
        return BoundWish(confinement, started, name, protected, spelled)
    require_places(wish.profile, workspace, own_home(around).path)
    profile = wish.profile.profile
    return BoundWish(
        as_profile_says(confinement, profile, wish.view),
        started,
        f"profile:{profile.name}",
        protected,
        (
            *map(Pattern.parse, written),
            *(entry.root for entry in profile.filesystem.read_write),
        ),
    )


def _require_givable(wish: RunWish) -> None:
    if wish.permission_set is PermissionSet.TRUSTED:
        raise Refused(
            Code.NOT_ENFORCEABLE,
            "`trusted` is never given by a command line",
            help_line="name what the program needs with --read, --write and --exec",
        )
    for word in wish.words:
        if "\0" in word:
            raise UsageProblem(Code.USAGE, f"`{word}` has a NUL in it, which no argument can have")
        try:
            word.encode()
        except UnicodeEncodeError:
            raise UsageProblem(
                Code.USAGE,
                f"the argument `{word}` is not UTF-8, so it could not be recorded",
                help_line="name the file by a pattern or a link that is UTF-8",
            ) from None
    for name in wish.environment:
        if _VARIABLE.fullmatch(name) is None:
            raise UsageProblem(
                Code.USAGE,
                f"`{name}` is not the name of a variable",
                help_line="give the name alone; its value is the one it has here",
            )


def _program(
    wish: RunWish,
    path: Path,
    workspace: Path,
    cwd: Path,
    around: Surroundings,
    protected: ProtectedRoots,
) -> tuple[Started, Program]:
    started = look_at_program(path)
    others = [find_program(name, around) for name in wish.execute if name != ANY]
    needed = [look_at_program(other) for other in others]
    folder = cwd if cwd.is_relative_to(workspace) else workspace
    script = script_of(wish.words, path, folder)
    files = (*started.files, *(each for other in needed for each in other.files))
    named = tuple(each for each in (started.program, script) if each is not None)
    copies = tuple(
        each
        for each in dict.fromkeys((*named, *files))
        if (each in named and not is_system(each) and prefix_of(each, protected) is None)
        # What somebody could still change after it was hashed is run from a copy as well.
        or not is_roots_alone(each)
    )
    for each in (*copies, *started.files):
        if is_protected(each, protected) and not is_system(each):
            raise Refused(Code.PROTECTED_ROOT, f"`{each}` lies in a place that is never granted")
    prefixes = tuple(
        dict.fromkeys(
            prefix
            for spelled, found in ((path, started), *zip(others, needed, strict=True))
            for prefix in prefixes_of(spelled, found, protected)
        )
    )
    starts = started_path(path, started, (workspace, *prefixes))
    # Programs look for themselves by the word they are called; inside, PATH is another.
    called = wish.words[0] if "/" in wish.words[0] or is_system(path) else str(starts)
    return started, Program(
        path=starts,
        words=(called, *wish.words[1:]),
        folder=folder,
        copies=copies,
        startable=tuple(dict.fromkeys(each for each in files if each not in copies)),
        prefixes=prefixes,
    )


def _environment(wish: RunWish, around: Surroundings) -> dict[str, str]:
    """Ours, and the names that were asked for with the values they have here."""
    terminal = around.environ.get("TERM", "")
    fixed = {**FIXED_ENVIRONMENT, "TERM": terminal if _TERMINAL.fullmatch(terminal) else "dumb"}
    asked = {name: value for name, value in around.environ.items() if name in wish.environment}
    return {**asked, **fixed}


def _surface(
    wish: RunWish, workspace: Path, cwd: Path, program: Path, written: list[str]
) -> Surface:
    named = Surface.of(
        read=[granted_pattern(each, workspace, cwd, may_be_new=False) for each in wish.read],
        write=written,
        run=Level.ANY if ANY in wish.execute else [_spelled(str(program)), *_commands(wish, cwd)],
        env=list(wish.environment) or Level.NONE,
    )
    # What may be written may be looked at: nothing edits a file that it cannot see.
    named |= Surface.of(read=list(named.fs_write_roots))
    if wish.permission_set is not None:
        return definition(wish.permission_set).surface | named
    if wish.profile is not None:
        return wish.profile.surface | Surface.of(write=[OWN_TMP]) | named
    return Surface.of(read=["./"], write=[OWN_TMP]) | named


def _commands(wish: RunWish, cwd: Path) -> Iterator[str]:
    for name in wish.execute:
        yield _spelled(os.path.normpath(cwd / name) if "/" in name else name)


def _spelled(name: str) -> str:
    """A name as a pattern that matches nothing else."""
    return re.sub(r"([*?\\])", r"\\\1", name)


def named_place(spelling: str, cwd: Path) -> Path:
    """Where a path leads that was typed in this folder; links are not followed."""
    if spelling == "" or "\0" in spelling:
        raise UsageProblem(Code.FILE_UNUSABLE, f"`{spelling}` is not the name of a file")
    return Path(os.path.normpath(cwd / require_text(spelling)))


def granted_pattern(spelling: str, workspace: Path, cwd: Path, *, may_be_new: bool) -> str:
    """A path as typed, bound to the workspace where it lies in it."""
    path = named_place(spelling, cwd)
    is_there = os.path.lexists(path)
    if not is_there and not (may_be_new and path.parent.is_dir()):
        missing = path if not may_be_new else path.parent
        raise UsageProblem(Code.FILE_UNUSABLE, f"`{spelling}`: there is no `{missing}`")
    if path.is_symlink():
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"`{spelling}` is a link to `{os.path.realpath(path)}`",
            help_line="name what it leads to, if that is what you mean",
        )
    real = Path(os.path.realpath(path))
    # Of new names, those with an ending are files and others folders, unless a slash says so.
    is_tree = real.is_dir() or spelling.endswith("/") or not (is_there or real.suffix)
    below: Literal[Wildcard.FOLDERS] | None = Wildcard.FOLDERS if is_tree else None
    if real.is_relative_to(workspace):
        names = real.relative_to(workspace).parts
        return Pattern.literal(Anchor.WORKSPACE, names, and_below=below).text
    if is_own(real) and str(real) not in OWN_FOLDERS:
        own = next(each for each in OWN_FOLDERS if real.is_relative_to(each))
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"`{spelling}` cannot be given: inside, `{own}` is the run's own folder",
            help_line="copy it into the workspace, or name the folder with --workspace",
        )
    return Pattern.literal(Anchor.ABSOLUTE, real.parts[1:], and_below=below).text


def _attested_by_either(typed: Denials, said: Denials) -> Denials:
    return said if typed is Denials.OBSERVED else typed


def as_profile_says(
    confinement: Confinement, profile: Profile, view: View | None = None
) -> Confinement:
    """The same with what the profile closes, its ways and limits; a view that the line names holds."""
    return replace(
        confinement,
        denied=profile.filesystem.no_access.patterns,
        view=view or profile.view,
        writes=profile.writes,
        reads=profile.reads,
        rounding=profile.patterns,
        denials=_attested_by_either(confinement.denials, profile.denials),
        limits=with_limits_of(profile, confinement.limits),
    )
