"""Binds what a line or a call names to the host: the same for a program and for a snippet.

What is named becomes a pattern of the workspace it lies in; what is never granted is refused; a
profile adds what it says. Nothing is recorded or started here.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.values import dataclass, field, replace
from consentry.declare.profile import DeclaredSecrets
from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.programfiles import Started
from consentry.enforce.roots import OWN_FOLDERS, is_own
from consentry.service.places import find_workspace
from consentry.service.profiles import (
    NamedProfile,
    profile_word,
    require_places,
    with_limits_of,
)
from consentry.service.programsearch import is_protected, require_text
from consentry.service.protection import protected_here
from consentry.service.secretvalues import read_entries, secrets_for
from consentry.service.statedir import find_state
from consentry.service.surroundings import Surroundings, own_home
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface, host_access
from consentry.surface.modes import Denials, LayerPlace, View
from consentry.surface.pattern import Anchor, Pattern, Wildcard
from consentry.surface.permission_sets import PermissionSet, definition
from consentry.surface.protected import ProtectedRoots

ANY: Final = "any"
NONE: Final = "none"
OWN_TMP: Final = "/tmp/"  # noqa: S108 - the box's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked for, whatever is to run."""

    permission_set: PermissionSet | None = None
    profile: NamedProfile | None = None
    read: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    secret_ca: str | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def profile_word(self) -> str:
        """What it is to be confined to, as records name it."""
        named = None if self.profile is None else self.profile.profile.name
        return profile_word(self.permission_set, named)


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


def workspace_here(around: Surroundings, named: str | None) -> Path:
    """The workspace that is named or found; refused where what records a run would lie in it."""
    found = find_workspace(around, named)
    find_state(around, found)
    return found.path


def folder_in(workspace: Path, cwd: Path) -> Path:
    """Where a run begins: where its caller is, if that is in the workspace."""
    return cwd if cwd.is_relative_to(workspace) else workspace


def require_no_trust(wish: Wish, help_line: str) -> None:
    """Raises where everything is asked for at once."""
    if wish.permission_set is PermissionSet.TRUSTED:
        message = "`trusted` is never given by a command line"
        raise Refused(Code.NOT_ENFORCEABLE, message, help_line=help_line)


def protected_in(
    named: Iterable[str], workspace: Path, cwd: Path, around: Surroundings
) -> ProtectedRoots:
    """What no grant opens here, as far as it could lie in what is named; raises for the workspace."""
    places = [named_place(each, cwd) for each in named]
    protected = protected_here(around, workspace, *places)
    if is_protected(workspace, protected):
        raise Refused(Code.PROTECTED_ROOT, f"the workspace `{workspace}` is never granted")
    return protected


def surface_of_set(permission_set: PermissionSet, workspace: Path) -> Surface:
    """What the set opens in this workspace; raises where a folder of it is a link.

    A workspace may be anybody's: a link in the place of `./output` would lead a set, and what is
    written in it, wherever the link says.
    """
    surface, here = definition(permission_set).surface, Path(os.path.realpath(workspace))
    for text in (*surface.fs_read_roots, *surface.fs_write_roots):
        pattern = Pattern.parse(text)
        place = here.joinpath(*pattern.prefix)
        real = os.path.realpath(place)
        if pattern.anchor is Anchor.WORKSPACE and real != str(place):
            raise Refused(
                Code.FILE_UNUSABLE,
                f"`{text}`, which `{permission_set}` opens, is a link to `{real}`",
                help_line="make it a folder of the workspace, or copy into one what is needed",
            )
    return surface


def ground_surface(wish: Wish, workspace: Path) -> Surface:
    """The powers that come with the set or the profile, or without either."""
    if wish.permission_set is not None:
        return surface_of_set(wish.permission_set, workspace)
    if wish.profile is not None:
        return wish.profile.surface | Surface.of(write=[OWN_TMP])
    return Surface.of(read=["./"], write=[OWN_TMP])


def with_network(surface: Surface, named: tuple[str, ...]) -> Surface:
    """What the line names is added to a list, and narrows what would be open to every host."""
    if not named:
        return surface
    if NONE in named and len(named) > 1:
        raise UsageProblem(Code.USAGE, "`--net none` and a host exclude each other")
    if NONE in named:
        return replace(surface, net_access=host_access(Level.NONE))
    given = host_access(Level.ANY if ANY in named else list(named))
    is_open = surface.net_access.level is Level.ANY
    return replace(surface, net_access=given if is_open else surface.net_access | given)


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
    bound: BoundWish,
    named: NamedProfile | None,
    around: Surroundings,
    view: View | None = None,
    layer: LayerPlace | None = None,
) -> BoundWish:
    """The same with what the profile closes, its ways and limits; a way that the line names holds."""
    if named is None:
        return bound
    confinement, profile = bound.confinement, named.profile
    require_places(named, confinement.workspace, own_home(around).path)
    return replace(
        bound,
        confinement=replace(
            confinement,
            denied=profile.filesystem.no_access.patterns,
            view=view or profile.view,
            writes=profile.writes,
            layer=layer or profile.layer,
            reads=profile.reads,
            rounding=profile.patterns,
            denials=_attested_by_either(confinement.denials, profile.denials),
            limits=with_limits_of(profile, confinement.limits),
        ),
        written=(*bound.written, *(entry.root for entry in profile.filesystem.read_write)),
    )


def with_secrets(bound: BoundWish, wish: Wish, around: Surroundings) -> BoundWish:
    """The same with the secrets that the line and the profile name."""
    said = DeclaredSecrets() if wish.profile is None else wish.profile.profile.secrets
    if not (wish.secrets or wish.secret_ca or said.entries or said.vouchers):
        return bound
    found = secrets_for(
        (*said.entries, *read_entries(wish.secrets)),
        wish.secret_ca or said.vouchers,
        bound.confinement,
        around,
    )
    return replace(bound, confinement=replace(bound.confinement, secrets=found))
