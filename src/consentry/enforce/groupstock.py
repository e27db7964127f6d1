"""Control groups made ahead for boxes that are built ahead.

To move a process into a group of version 2 takes the kernel milliseconds, if none was moved lately. A
box that waits for its plan is in its group already; the limits are set when the plan is known. The
owner makes the groups and hands them to the launcher, which says which one a box turned out to have.
A group can be removed only when the last process has left it, a little after its run has ended.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock

from consentry.enforce.cgroups import RunGroup, owner_of_groups
from consentry.enforce.groupplaces import Place


class GroupStock:
    """The groups of one launcher, from making to removing; threads may share it."""

    def __init__(self, places: Sequence[Place], ahead: int) -> None:
        self._places = places
        self._ahead = ahead
        self._owner = owner_of_groups()
        self._one_at_a_time = Lock()
        self._starting = 0
        self._unknown = 0
        self._made: list[RunGroup] = []
        self._handed: dict[str, RunGroup] = {}
        self._retired: list[RunGroup] = []

    def supply(self) -> list[tuple[str, list[str]]]:
        """What the launcher is to be handed for one more box; raises `OSError` if there is none."""
        with self._one_at_a_time:
            self._starting += 1
            while len(self._handed) + len(self._made) < self._wanted:
                self._make()
            handed, self._made = self._made, []
            self._handed |= {group.name: group for group in handed}
            return [(group.name, group.doors) for group in handed]

    def restock(self) -> None:
        """Makes what the next boxes need, and removes what is not needed; for a quiet moment."""
        with self._one_at_a_time, suppress(OSError):
            self._retired = [each for each in self._retired if not each.remove_if_empty()]
            if self._ahead:
                # For the box that is to wait in the place of the next one that starts.
                while len(self._handed) + len(self._made) < self._wanted + 1:
                    self._make()

    @property
    def _wanted(self) -> int:
        return self._ahead + self._starting + self._unknown

    def _make(self) -> None:
        name = f"box-{os.urandom(8).hex()}"
        self._made.append(RunGroup(self._places, name, owner=self._owner))

    def started(self, name: str) -> RunGroup:
        """The group of a box that has started."""
        with self._one_at_a_time:
            self._starting -= 1
            return self._handed.pop(name)

    def ended(self, group: RunGroup | None) -> None:
        """Of a box that was to start: its group, if it did, goes as soon as nothing is in it."""
        with self._one_at_a_time:
            if group is None:
                self._starting -= 1
                # Nobody was told whether the launcher used one, so it is not counted on.
                self._unknown += 1
            else:
                self._retired.append(group)

    def close(self) -> None:
        """Ends what is left in any of them, and removes them all."""
        with self._one_at_a_time:
            for group in (*self._made, *self._handed.values(), *self._retired):
                if not group.remove():
                    group.kill()
                    group.remove()
            self._made, self._handed, self._retired = [], {}, []
