"""Whether the host is still as the run saw it: what changed there since is a conflict, never lost.

A file counts as changed when its time of change lies after the start of the run, or when it is not
what the scan saw. The first needs the clock of the file system to be that of the host, and is as fine
as `layer.file_clock_ns` says.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.commitplaces import Place
from consentry.enforce.commitplan import Action, Step, seal_at, seal_of_old
from consentry.enforce.layer import FileType, LayerRoot, Was, path_text

MOST_CONFLICTS: Final = 1_000

_OWNER_MAY_CHANGE: Final = 0o300


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path, as the run knew it, that somebody else changed, and how."""

    path: str
    why: str


def conflicts_of(
    steps: Sequence[Step], places: Mapping[LayerRoot, Place], started_ns: int
) -> tuple[Conflict, ...]:
    """What stands in the way of these steps, as far as a list is of use."""
    for place in places.values():
        place.host.forget()
    found = (
        Conflict(path_text(step.change.inside), why)
        for step in steps
        if (why := _obstacle(step, places[step.root], started_ns)) is not None
    )
    return tuple(islice(found, MOST_CONFLICTS))


def _obstacle(step: Step, place: Place, started_ns: int) -> str | None:
    lost = next((each for each in (step.change, *step.inner) if each.is_lost), None)
    if lost is not None:
        return f"`{path_text(lost.inside)}` was deleted while the run went on"
    try:
        now = place.host.status(step.path)
    except OSError:
        return "the folder it lies in is gone, or is not a folder any more"
    if step.action is Action.PUT:
        return None if now is None else "something else was made there while the run went on"
    was = step.change.was
    if now is None or was is None:
        return "it was deleted while the run went on"
    if not _is_same(now, was) or (was.ctime_ns > started_ns and not _is_merely_entered(step, was)):
        return "it was changed while the run went on"
    for each in step.swept:
        is_file = each.was is not None and each.was.type is not FileType.FOLDER
        if each.was is not None and is_file and each.was.ctime_ns > started_ns:
            return f"`{path_text(each.inside)}` was changed while the run went on"
    if was.type is FileType.FOLDER and step.action is not Action.MODE:
        return _tree_obstacle(step, place)
    return None


def _tree_obstacle(step: Step, place: Place) -> str | None:
    try:
        is_same = seal_at(place.host, step.path) == seal_of_old(step)
    except OSError:
        is_same = False
    return None if is_same else "what lies in it was changed while the run went on"


def _is_merely_entered(step: Step, was: Was) -> bool:
    """A folder's time of change also moves when names come and go, which is told apart by seal."""
    return was.type is FileType.FOLDER and step.action is not Action.MODE


def _is_same(now: os.stat_result, was: Was) -> bool:
    if FileType.of(now.st_mode) is not was.type or now.st_ino != was.inode:
        return False
    if was.type is FileType.FOLDER:
        return stat.S_IMODE(now.st_mode) == was.mode
    seen = (was.device, was.size, was.mtime_ns, was.ctime_ns)
    return seen == (now.st_dev, now.st_size, now.st_mtime_ns, now.st_ctime_ns)


def closed_folders(
    steps: Sequence[Step], places: Mapping[LayerRoot, Place]
) -> Iterator[tuple[LayerRoot, bytes, os.stat_result]]:
    """Folders of the caller's own that their modes keep even the caller from changing."""
    if os.geteuid() == 0:
        return
    seen: set[tuple[LayerRoot, bytes]] = set()
    for step in steps:
        if step.action is Action.MODE:
            continue
        around = step.path.rpartition(b"/")[0]
        was = step.change.was
        moved = [step.path] if was is not None and was.type is FileType.FOLDER else []
        for path in (around, *moved):
            if (step.root, path) in seen:
                continue
            seen.add((step.root, path))
            found = places[step.root].host.status(path)
            if (
                found is not None
                and found.st_uid == os.geteuid()
                and found.st_mode & _OWNER_MAY_CHANGE != _OWNER_MAY_CHANGE
            ):
                yield step.root, path, found
