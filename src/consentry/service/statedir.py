"""Where the state directory is, and whether it may be trusted with what Consentry will keep there.

`CONSENTRY_STATE` if set, else `consentry` in `$XDG_STATE_HOME`. Confined code must not reach it:
a place inside the workspace is refused, also through links and bind mounts of it or of a part of
it, as far as the mount table of this process shows them. The default place inside a workspace that
was named (a home folder, say) is allowed and marked as hidden.

Nothing is created here: a missing directory is made, with mode 0700, by the first command that
keeps something. Group and access-control-list permissions above the directory are not looked at.
"""

import os
import stat
from enum import StrEnum
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.facts import HostView
from consentry.enforce.mounts import read_mounts, share_files
from consentry.enforce.ownership import stranger_over_folder
from consentry.service.concern import Concern
from consentry.service.places import FoundBy, Workspace, is_folder, reason
from consentry.service.surroundings import Surroundings, resolved, state_base

_FOR_OTHERS = 0o077


class StateSource(StrEnum):
    """What decided on the place."""

    CONSENTRY_STATE = "CONSENTRY_STATE"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """The state directory: as it is spelled, with links resolved, and how it stands.

    `hidden` means that it lies inside the workspace and that confined code must not see it there.
    """

    path: Path
    real: Path
    source: StateSource
    why: str
    exists: bool
    hidden: bool
    notes: tuple[str, ...] = ()
    concerns: tuple[Concern, ...] = ()


def find_state(around: Surroundings, workspace: Workspace | None) -> StateDirectory:
    """The state directory; raises when it has no usable name or lies where it must not."""
    path, source, why, notes = _name(around)
    real = resolved(path)
    hidden = workspace is not None and _lies_in(real, workspace.path)
    if workspace is not None:
        _check_apart(path, source, workspace, real, inside=hidden)
    exists, concerns = _look_at(path, real, around.uid)
    return StateDirectory(path, real, source, why, exists, hidden, notes, concerns)


def _name(around: Surroundings) -> tuple[Path, StateSource, str, tuple[str, ...]]:
    value = around.environ.get("CONSENTRY_STATE", "")
    if value:
        if not value.startswith("/"):
            message = f"CONSENTRY_STATE is `{value}`, which is not an absolute path"
            raise UsageProblem(Code.SETTING_VALUE, message, help_line=_ABSOLUTE_HELP)
        return Path(value), StateSource.CONSENTRY_STATE, "by CONSENTRY_STATE", ()
    base = state_base(around)
    if base.path is None:
        message = f"no place for the state: {base.notes[-1]}"
        raise UsageProblem(Code.SETTING_VALUE, message, help_line=_ABSOLUTE_HELP)
    return base.path / "consentry", StateSource.DEFAULT, base.source, base.notes


_ABSOLUTE_HELP = "set CONSENTRY_STATE to an absolute path outside every workspace"


def _check_apart(
    path: Path, source: StateSource, workspace: Workspace, real: Path, *, inside: bool
) -> None:
    if inside and source is StateSource.CONSENTRY_STATE:
        message = f"CONSENTRY_STATE `{path}` lies in the workspace `{workspace.path}`"
        raise Refused(Code.STATE_REFUSED, message)
    if inside and workspace.found_by is not FoundBy.NAMED:
        message = f"the state directory `{path}` lies in the workspace `{workspace.path}`"
        help_line = "name the workspace with --workspace, and the state is hidden in it"
        raise Refused(Code.STATE_REFUSED, message, help_line=help_line)
    if _lies_in(workspace.path, real):
        message = f"the workspace `{workspace.path}` lies in the state directory `{path}`"
        raise Refused(Code.STATE_REFUSED, message)


def _lies_in(path: Path, folder: Path) -> bool:
    """By name, by the mount table, and by what the folders are."""
    if path.is_relative_to(folder):
        return True
    mounts = read_mounts(HostView())
    if mounts is not None and share_files(path, folder, mounts):
        return True
    try:
        wanted = folder.stat()
    except OSError:
        return False
    return any(_is_same(candidate, wanted) for candidate in (path, *path.parents))


def _is_same(path: Path, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), wanted)
    except OSError:
        return False


def _look_at(path: Path, real: Path, uid: int) -> tuple[bool, tuple[Concern, ...]]:
    try:
        is_link = stat.S_ISLNK(path.lstat().st_mode)
    except FileNotFoundError:
        return False, tuple(_concerns_of_missing(path, real, uid))
    except OSError as problem:
        return False, (_unusable(f"`{path}`: {reason(problem)}"),)
    try:
        found = real.stat()
    except OSError as problem:
        return False, (_unsafe(f"`{path}` is a link that leads nowhere: {reason(problem)}"),)
    if not stat.S_ISDIR(found.st_mode):
        return True, (_unusable(f"`{path}` is not a folder"),)
    concerns = [_unsafe(f"`{path}` is a link")] if is_link else []
    return True, (*concerns, *_concerns_of_present(path, real, uid, found))


def _concerns_of_missing(path: Path, real: Path, uid: int) -> list[Concern]:
    above = next(folder for folder in real.parents if os.path.lexists(folder))
    if not is_folder(above):
        return [_unusable(f"`{above}` is in the way: not a folder")]
    if not os.access(above, os.W_OK | os.X_OK):
        return [_unusable(f"`{real}` cannot be made: you may not write `{above}`")]
    return _strangers_over(path, uid)


def _concerns_of_present(path: Path, real: Path, uid: int, found: os.stat_result) -> list[Concern]:
    concerns = []
    if found.st_uid != uid:
        concerns.append(_unsafe(f"`{path}` belongs to user {found.st_uid}, not to you ({uid})"))
    elif found.st_mode & _FOR_OTHERS:
        mode = stat.S_IMODE(found.st_mode)
        concerns.append(_unsafe(f"`{path}` is open to others: its mode is {mode:04o}, not 0700"))
    if not os.access(real, os.R_OK | os.W_OK | os.X_OK):
        concerns.append(_unusable(f"`{path}` may not be read and written by you"))
    return concerns or _strangers_over(path, uid)


def _strangers_over(folder: Path, uid: int) -> list[Concern]:
    try:
        stranger = stranger_over_folder(folder, uid)
    except OSError as problem:
        return [_unusable(f"`{folder}`: {reason(problem)}")]
    return [] if stranger is None else [_unsafe(stranger)]


def _unsafe(message: str) -> Concern:
    return Concern.about(Code.STATE_UNSAFE, message)


def _unusable(message: str) -> Concern:
    return Concern.about(Code.STATE_UNUSABLE, message)
