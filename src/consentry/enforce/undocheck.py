"""Whether what a commit left is still there as it left it: what is not cannot be taken back."""

import os
import stat
from collections.abc import Iterator, Sequence

from consentry.enforce.commitcheck import Conflict
from consentry.enforce.commitjournal import Journal, Move
from consentry.enforce.commitplaces import Place
from consentry.enforce.commitplan import Action, seal_at
from consentry.enforce.effect import Effect
from consentry.enforce.layer import Change, ChangeKind, FileType, inside_of, path_text
from consentry.enforce.layerfiles import open_plain, sha256_of

_CHANGED = "it was changed since"


def changed_since(journal: Journal, effect: Effect, places: Sequence[Place]) -> Iterator[Conflict]:
    """What somebody changed after the commit, in the order of the effect."""
    sites = {site.host: index for index, site in enumerate(journal.sites)}
    moved = {(each.site, each.path): each for each in journal.moves}
    modes = {(each.site, each.path): each for each in journal.modes if each.is_wanted}
    for place in places:
        place.host.forget()
    for change in effect.changes:
        at = sites[change.root.host]
        place, key = places[at], (at, change.path)
        step = moved.get(key)
        try:
            why = _moved(step, place) if step is not None else None
            wanted = modes.get(key)
            if why is None and wanted is not None:
                why = _mode(place, change.path, wanted.inode, wanted.after)
            if why is None and _has_content(change):
                why = _content(place, change)
        except OSError:
            why = "the folder it lies in is gone, or is not a folder any more"
        if why is not None:
            yield Conflict(path_text(inside_of(change.root, change.path)), why)


def _moved(step: Move, place: Place) -> str | None:
    now = place.host.status(step.path)
    if step.action is Action.TAKE:
        return None if now is None else "something else was made there since"
    if now is None:
        return "it was deleted since"
    if stat.S_ISDIR(now.st_mode) and step.new is not None and now.st_ino == step.new.inode:
        is_same = seal_at(place.host, step.path) == step.new
        return None if is_same else "what lies in it was changed since"
    return None if seal_at(place.host, step.path) == step.new else _CHANGED


def _mode(place: Place, path: bytes, inode: int, mode: int | None) -> str | None:
    now = place.host.status(path)
    if now is None:
        return "it was deleted since"
    is_same = now.st_ino == inode and stat.S_IMODE(now.st_mode) == mode
    return None if is_same else "its mode was changed since"


def _has_content(change: Change) -> bool:
    is_new = change.kind not in (ChangeKind.DELETED, ChangeKind.MODE)
    return is_new and change.type is FileType.FILE


def _content(place: Place, change: Change) -> str | None:
    """By its bytes, too: a file can be changed and keep its size and time."""
    opened = open_plain(place.host, change.path)
    if opened is None:
        now = place.host.status(change.path)
        may_not_be_read = now is not None and stat.S_ISREG(now.st_mode)
        return None if may_not_be_read else _CHANGED
    try:
        found = os.fstat(opened)
        if stat.S_IMODE(found.st_mode) != change.mode:
            return "its mode was changed since"
        if found.st_size != change.size:
            return _CHANGED
        if change.sha256 is not None and sha256_of(opened, change.size) != change.sha256:
            return _CHANGED
        return None
    finally:
        os.close(opened)
