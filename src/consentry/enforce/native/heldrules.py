"""Which calls a run's grants refuse, as far as names tell, and which of those wait for an answer.

What is found to be allowed here goes on, and the kernel decides; so a mistake costs an answer and opens
nothing. What is found to be refused goes on as well where it is not to wait: names that every program
asks for, what the run has of its own, the runtime, and the doors to the kernel.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Landlock's rights.
WRITE_FILE, READ_FILE, READ_DIR, MAKE_DIR, MAKE_FILE, TRUNCATE = 2, 4, 8, 0x80, 0x100, 0x4000
_CHANGING = WRITE_FILE | MAKE_DIR | MAKE_FILE | TRUNCATE
_BOTH = os.O_WRONLY | os.O_RDWR
_UNNAMED = os.O_TMPFILE & ~os.O_DIRECTORY

OPEN, CREATE, MKDIR = "open", "create", "mkdir"


class Wanted:
    """One call: what it would do, and where its name leads in the box."""

    __slots__ = ("flags", "is_folder", "is_found", "mode", "place", "verb")

    def __init__(
        self,
        place: bytes,
        flags: int,
        mode: int,
        *,
        is_found: bool,
        is_folder: bool,
        makes_folder: bool = False,
    ) -> None:
        self.place = place
        self.flags = flags & 0x7FFFFFFF
        self.mode = mode
        self.is_found = is_found
        self.is_folder = is_folder
        self.verb = OPEN
        if makes_folder:
            self.verb = MKDIR
        elif flags & os.O_CREAT and not is_found:
            self.verb = CREATE

    @property
    def writes(self) -> bool:
        """Whether anything is to be changed by it."""
        return self.verb != OPEN or bool(self.flags & (_BOTH | os.O_TRUNC))

    @property
    def reads(self) -> bool:
        """Whether what was there can be read by it."""
        return self.verb == OPEN and self.flags & _BOTH in (os.O_RDONLY, os.O_RDWR)

    @property
    def access(self) -> str:
        """The kind of access, in which an answer is remembered."""
        if self.verb != OPEN:
            return self.verb
        return ("r" if self.reads else "") + ("w" if self.writes else "")

    @property
    def note(self) -> "tuple[bytes | str | bool, ...]":
        """What is noted of it where it is refused without a question; it is there on the host."""
        kind = "write" if self.writes else "read"
        kind = "create" if self.verb == MKDIR else kind
        return (kind, self.place, self.is_found, self.is_folder, True)

    def is_plain(self) -> bool:
        """Whether the kernel would do it, were it allowed: what it refuses anyway is none of ours."""
        flags = self.flags
        if self.verb == MKDIR:
            return not self.is_found
        if flags & (os.O_PATH | _UNNAMED) or flags & _BOTH == _BOTH:
            return False
        if self.verb == CREATE:
            return not flags & os.O_DIRECTORY
        if self.is_found and flags & os.O_CREAT and flags & (os.O_EXCL | os.O_DIRECTORY):
            return False
        return not (self.is_folder and self.writes) and not (
            flags & os.O_DIRECTORY and self.is_found and not self.is_folder
        )

    def needs(self) -> int:
        """The rights that it takes."""
        if self.verb != OPEN:
            return MAKE_DIR if self.verb == MKDIR else MAKE_FILE
        if self.is_folder:
            return READ_DIR
        needs = READ_FILE if self.reads else 0
        needs |= WRITE_FILE if self.flags & _BOTH else 0
        return needs | (TRUNCATE if self.flags & os.O_TRUNC else 0)


class HeldRules:
    """The grants of one run as the launcher is told of them."""

    def __init__(self, wish: "Mapping[str, Any]") -> None:
        self._rights: Mapping[bytes, int] = wish["rights"]
        self._handled: int = wish["handled"]
        self._writable: Mapping[bytes, bool] = wish["writable"]
        self.layered: list[bytes] = wish["layered"]
        """The places over which a layer lies."""
        self._layered = frozenset(self.layered)
        self._shown = frozenset(wish["shown"])
        self._never = frozenset(wish["never"])

    def allow(self, wanted: Wanted) -> bool:
        """Whether the program's own call is let through."""
        place = wanted.place
        if wanted.verb != OPEN:
            place = place.rpartition(b"/")[0] or b"/"
        needs = wanted.needs() & self._handled
        if needs & _CHANGING and not self._is_writable(place):
            return False
        left = needs
        for each in at_and_above(place):
            left &= ~self._rights.get(each, 0)
            if not left:
                return True
        return not left

    def _is_writable(self, place: bytes) -> bool:
        for each in at_and_above(place):
            found = self._writable.get(each)
            if found is not None:
                return found
        return False

    def layer_of(self, place: bytes) -> "bytes | None":
        """The place of the layer that it lies in, in which what is written stays."""
        return next((each for each in at_and_above(place) if each in self._layered), None)

    def is_never_held(self, place: bytes) -> bool:
        """Whether it is refused without a question; what is granted in such a place is none of it."""
        for each in at_and_above(place):
            if each in self._never:
                return True
            if each in self._shown:
                return False
        return False


def at_and_above(place: bytes) -> "list[bytes]":
    """A name and the folders that it lies in, the innermost first."""
    found = [place]
    while len(place) > 1:
        place = place[: place.rfind(b"/")] or b"/"
        found.append(place)
    return found
