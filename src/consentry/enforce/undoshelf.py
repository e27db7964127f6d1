"""Puts a finished commit away for as long as it can be undone, instead of throwing it away.

What was replaced lies where it was renamed to, in the commit's own folder: that folder as a whole goes
to the shelf, by one rename. Where the state directory is on another file system than the root, the
replaced files lie in a hidden folder of the root; they are copied to the state directory, so that the
workspace is clean and no run comes near them. That is the only case in which keeping costs a copy.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.enforce.commitdesk import INTENT, Desk
from consentry.enforce.commitjournal import Journal, Site, intent_to_bytes
from consentry.enforce.commitplaces import NEW, OLD, opened_host, remove_staging, slot
from consentry.enforce.faithfulcopy import copy_tree
from consentry.enforce.filecalls import sync_file_system
from consentry.enforce.foldertree import Tree, below, remove_tree
from consentry.enforce.keptshelf import UNDO, Item, Keeping, Shelf

COPIED: Final = "copied"
"""Says that the copies are whole."""
_MOST_NAMES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Shelved:
    """Until when a commit can be undone; or why it cannot."""

    until: Instant | None = None
    why: str | None = None


def put_away(
    desk: Desk, journal: Journal, state: Path, keeping: Keeping, until: Instant | None = None
) -> Shelved:
    """Puts a commit away that is done; raises `OSError` where it has to be thrown away instead."""
    if keeping.is_off:
        return Shelved(why="nothing is kept")
    if journal.old_bytes > keeping.most_bytes:
        return Shelved(why="what was replaced is larger than may be kept")
    elsewhere = [(index, site) for index, site in enumerate(journal.sites) if site.is_in_root]
    if elsewhere:
        _bring_home(desk, elsewhere)
    shelf = Shelf(state, UNDO)
    shelf.folder.mkdir(mode=0o700, exist_ok=True)
    item = Item(desk.run, until or keeping.until(), journal.old_bytes)
    desk.put(shelf.folder / item.name)
    shelf.make_room(keeping.most_bytes)
    return Shelved(until=item.until)


def _bring_home(desk: Desk, elsewhere: Sequence[tuple[int, Site]]) -> None:
    if desk.kept(COPIED) is None:
        for index, site in elsewhere:
            remove_tree(desk.tree, _copies(index))
            os.mkdir(_copies(index), 0o700, dir_fd=desk.tree.descriptor)
            with opened_host(site) as host:
                _copy_old(host, site.staging, desk.tree, _copies(index))
        sync_file_system(desk.tree.descriptor)
        desk.keep(COPIED, b"")
    remove_staging([site for _, site in elsewhere])
    remove_tree(desk.tree, INTENT.encode())


def _copy_old(host: Tree, staging: bytes, home: Tree, folder: bytes) -> None:
    """What was renamed away lies in `old`; or in `new`, where the two changed places."""
    for inner in (OLD, NEW):
        for name in host.names(below(staging, inner), _MOST_NAMES):
            path = below(below(staging, inner), name)
            copy_tree(host, path, home, below(folder, name))


def lay_out(desk: Desk, journal: Journal) -> None:
    """Puts the copies back beside their roots, from where they can be renamed."""
    elsewhere = [(index, site) for index, site in enumerate(journal.sites) if site.is_in_root]
    if not elsewhere:
        return
    desk.keep(INTENT, intent_to_bytes(journal.sites))
    remove_staging([site for _, site in elsewhere])
    for index, site in elsewhere:
        with opened_host(site) as host:
            folder, name = host.place(site.staging)
            os.mkdir(name, 0o700, dir_fd=folder)
            for inner in (NEW, OLD):
                above, inner_name = host.place(below(site.staging, inner))
                os.mkdir(inner_name, 0o700, dir_fd=above)
            for each in desk.tree.names(_copies(index), _MOST_NAMES):
                target = below(site.staging, slot(OLD, int(each)))
                copy_tree(desk.tree, below(_copies(index), each), host, target)
            opened = host.open(site.staging, os.O_RDONLY | os.O_DIRECTORY)
            try:
                sync_file_system(opened)
            finally:
                os.close(opened)


def old_places(journal: Journal) -> dict[int, tuple[bytes, ...]]:
    """Where, in a commit that was put away, what a step replaced may lie."""
    places: dict[int, tuple[bytes, ...]] = {}
    for each in journal.moves:
        site = journal.sites[each.site]
        if site.is_in_root:
            places[each.number] = (below(_copies(each.site), b"%d" % each.number),)
        else:
            inner = (slot(OLD, each.number), slot(NEW, each.number))
            places[each.number] = tuple(below(site.staging, path) for path in inner)
    return places


def _copies(index: int) -> bytes:
    return b"copies%d" % index
