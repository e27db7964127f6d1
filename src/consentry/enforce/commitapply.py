"""Carries out a journal, forward or back, from wherever it was left.

Every step looks first at what is there: which of the two files stands at the path, and which one in
the staging folder. So a step that was done is not done twice, and whoever picks up a journal after a
crash does the same as the process that wrote it. What was renamed away is looked at once more, and
if it is not what the run had seen, the whole commit is taken back.
"""

import errno
import os
from collections.abc import Sequence

from consentry.enforce.commitdesk import Reached
from consentry.enforce.commitjournal import Direction, Journal, ModeChange, Move
from consentry.enforce.commitplaces import NEW, OLD, Place, slot
from consentry.enforce.commitplan import Action, Seal, seal_at
from consentry.enforce.filecalls import CannotExchange, exchange, move, set_mode
from consentry.enforce.foldertree import Tree, below

_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EXDEV)


class LateConflict(Exception):
    """Somebody changed a path between the check and the rename; names the site and the path."""

    def __init__(self, site: int, path: bytes) -> None:
        super().__init__(path)
        self.site = site
        self.path = path


class Application:
    """One journal at work."""

    def __init__(self, journal: Journal, places: Sequence[Place], reached: Reached) -> None:
        self._journal = journal
        self._places = places
        self._reached = reached
        self._slots: list[dict[bytes, int]] = []
        self.kept: list[tuple[int, bytes]] = []
        """Paths that were left alone on the way back, because somebody changed them since."""

    def carry_out(self) -> None:
        """Goes where the journal points; raises `LateConflict` on the way forward only."""
        for place in self._places:
            place.host.forget()
            place.staging.forget()
        if self._journal.direction is Direction.FORWARD:
            self._forward()
        else:
            self._back()
        for place in self._places:
            place.sync()

    def _forward(self) -> None:
        modes = self._journal.modes
        self._slots = [_slots_of(place.staging) for place in self._places]
        for change in modes:
            self._set_mode(change, change.during)
        away_first = sorted(self._journal.moves, key=lambda each: each.action is Action.PUT)
        for each in away_first:
            self._reached(f"before {each.action} {each.number}")
            try:
                self._move_forward(each, self._places[each.site])
            except OSError as problem:
                if problem.errno in _GONE or isinstance(problem, FileExistsError):
                    raise LateConflict(each.site, each.path) from problem
                raise
        self._reached("moved")
        for change in reversed(modes):
            if not self._set_mode(change, change.after) and change.is_wanted:
                raise LateConflict(change.site, change.path)

    def _back(self) -> None:
        for change in self._journal.modes:
            self._set_mode(change, change.during)
        for each in reversed(self._journal.moves):
            self._reached(f"before undoing {each.number}")
            self._move_back(each, self._places[each.site])
        self._reached("moved back")
        for change in reversed(self._journal.modes):
            self._set_mode(change, change.undone)

    def _move_forward(self, step: Move, place: Place) -> None:
        new, old = slot(NEW, step.number), slot(OLD, step.number)
        if step.action is Action.TAKE:
            if old not in self._slots[step.site]:
                move(*place.host.place(step.path), *place.staging.place(old))
            self._require(step, place.staging, old)
            return
        if step.action is Action.PUT:
            if self._holds_new(step, place, new):
                move(*place.staging.place(new), *place.host.place(step.path))
            return
        if self._holds_new(step, place, new):
            if old not in self._slots[step.site]:
                try:
                    exchange(*place.staging.place(new), *place.host.place(step.path))
                except CannotExchange:
                    move(*place.host.place(step.path), *place.staging.place(old))
                    self._reached(f"halfway through {step.number}")
                else:
                    self._reached(f"exchanged {step.number}")
                    self._require(step, place.staging, new)
                    return
            self._require(step, place.staging, old)
            move(*place.staging.place(new), *place.host.place(step.path))
            return
        is_exchanged = place.staging.status(new) is not None
        self._require(step, place.staging, new if is_exchanged else old)

    def _holds_new(self, step: Move, place: Place, new: bytes) -> bool:
        """Whether what is to come to the path is still in its slot."""
        listed = self._slots[step.site].get(new)
        if listed is not None and step.new is not None and listed == step.new.inode:
            return True
        # Some file systems list another number than the file has.
        return _holds(place.staging, new, step.new)

    def _require(self, step: Move, staging: Tree, path: bytes) -> None:
        """What went away must be what the run had seen."""
        if seal_at(staging, path) != step.old:
            raise LateConflict(step.site, step.path)

    def _move_back(self, step: Move, place: Place) -> None:
        new, old = slot(NEW, step.number), slot(OLD, step.number)
        staging, host = place.staging, place.host
        is_placed = step.new is not None and not _holds(staging, new, step.new)
        if is_placed and not self._is_untouched(step, host):
            self.kept.append((step.site, step.path))
            return
        if is_placed and staging.status(new) is not None:
            exchange(*staging.place(new), *host.place(step.path))
            return
        if is_placed:
            move(*host.place(step.path), *staging.place(new))
            self._reached(f"halfway through undoing {step.number}")
        if staging.status(old) is not None:
            try:
                move(*staging.place(old), *host.place(step.path))
            except FileExistsError:
                self.kept.append((step.site, step.path))

    def _is_untouched(self, step: Move, host: Tree) -> bool:
        """Whether what was put in place is still there, as it was."""
        try:
            return seal_at(host, step.path) == step.new
        except OSError as problem:
            if problem.errno in _GONE:
                return False
            raise

    def _set_mode(self, change: ModeChange, mode: int | None) -> bool:
        """Whether the file that the journal means was there; with None nothing is done to it."""
        if mode is None:
            return True
        try:
            opened = self._places[change.site].host.open(change.path, os.O_PATH)
        except OSError as problem:
            if problem.errno in _GONE:
                return False
            raise
        try:
            if os.fstat(opened).st_ino != change.inode:
                return False
            set_mode(opened, mode)
            return True
        finally:
            os.close(opened)


def _slots_of(staging: Tree) -> dict[bytes, int]:
    """What lies in the slots before anything is moved; a step uses no other step's."""
    found: dict[bytes, int] = {}
    for folder in (NEW, OLD):
        opened = staging.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(opened) as entries:
                found |= {below(folder, os.fsencode(each.name)): each.inode() for each in entries}
        finally:
            os.close(opened)
    return found


def _holds(tree: Tree, path: bytes, seal: Seal | None) -> bool:
    found = tree.status(path)
    return found is not None and seal is not None and found.st_ino == seal.inode
