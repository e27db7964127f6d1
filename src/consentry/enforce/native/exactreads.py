"""Which opens are done by the opener, and what was asked of it and has not come back yet.

Concerned is whatever reads a file below the places where the program itself may not read files. All
other calls go on as they are: should another thread change their name, the kernel refuses them there.
"""

import errno
import os

from consentry.enforce.native.namesinside import folder_of, umask_of
from consentry.enforce.native.opener import Opener

_BOTH = os.O_WRONLY | os.O_RDWR
_MAKES = os.O_CREAT | os.O_TMPFILE & ~os.O_DIRECTORY
_UNNAMED = os.O_TMPFILE & ~os.O_DIRECTORY
# What `openat` looks at; the newer call refuses the rest, and the older one passes over it.
_KNOWN_FLAGS = (
    _BOTH | _MAKES | os.O_EXCL | os.O_NOCTTY | os.O_TRUNC | os.O_APPEND | os.O_NONBLOCK
    | os.O_SYNC | os.O_DSYNC | os.O_DIRECT | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NOATIME
    | os.O_CLOEXEC
)  # fmt: skip
_ASKED_AT_ONCE = 16


class Asked:
    """One open that waits for its answer."""

    __slots__ = ("flags", "folder", "name", "number", "place", "wish")

    def __init__(
        self,
        number: int,
        place: bytes,
        name: bytes,
        folder: int | None,
        wish: "tuple[int, int, int, int]",
    ) -> None:
        self.number = number
        self.place = place
        self.name = name
        self.folder = folder
        self.wish = wish
        self.flags = wish[0]

    @property
    def reads_what_was_there(self) -> bool:
        """Whether a file without content, once opened like this, was none before."""
        return not self.flags & (os.O_RDWR | os.O_CREAT | os.O_TRUNC)


class ExactReads:
    """The opener of one box, the places it opens files at, and what waits for it."""

    def __init__(self, opener: Opener, places: "list[bytes]") -> None:
        self._opener = opener
        self._places = tuple(places)
        self._below = tuple(place.rstrip(b"/") + b"/" for place in places)
        self._asked: dict[int, Asked] = {}
        self._waiting: list[Asked] = []
        self._is_gone = False

    def fileno(self) -> int:
        """What becomes readable when there is an answer."""
        return self._opener.fileno()

    def concerns(self, place: bytes, flags: int, *, is_folder: bool) -> bool:
        """Whether the program's own call would be refused the reading of a file there."""
        if flags & os.O_PATH or flags & _BOTH not in (os.O_RDONLY, os.O_RDWR):
            return False
        if is_folder and not flags & _UNNAMED:
            return False
        return place.startswith(self._below) or place in self._places

    def ask(
        self, number: int, pid: int, place: bytes, name: bytes, base: int | None,
        wish: "tuple[int, int, int | None]",
    ) -> None:  # fmt: skip
        """Has it opened; what cannot be asked now is asked later.

        Raises `OSError` when there is nobody to ask: the program's own call is refused then.
        """
        if self._is_gone:
            raise OSError(errno.ESRCH, os.strerror(errno.ESRCH), "the opener")
        flags, mode, follows = wish
        if follows is None:
            flags &= _KNOWN_FLAGS
            mode = mode & 0o7777 if flags & _MAKES else 0
        umask = umask_of(pid) if flags & _MAKES else 0
        folder = None
        if not name.startswith(b"/"):
            folder = os.open(folder_of(pid, base), os.O_PATH | os.O_CLOEXEC)
        self._waiting.append(Asked(number, place, name, folder, (flags, mode, follows or 0, umask)))
        self._ask_waiting()

    def answered(self) -> "tuple[Asked, int, int | None] | None":
        """What was asked, the number of an error or 0, and what was opened."""
        said = self._opener.answer()
        if said is None:
            self._is_gone = True
            return None
        number, problem, opened = said
        asked = self._asked.pop(number)
        self._ask_waiting()
        return asked, problem, opened

    def given_up(self) -> "list[Asked]":
        """What nobody will answer any more."""
        left = [*self._asked.values(), *self._waiting]
        for asked in left:
            _let_go(asked)
        self._asked.clear()
        self._waiting.clear()
        return left

    def close(self) -> None:
        """Ends the opener."""
        self.given_up()
        self._opener.close()

    def _ask_waiting(self) -> None:
        while self._waiting and len(self._asked) < _ASKED_AT_ONCE:
            asked = self._waiting[0]
            if not self._opener.ask(asked.number, asked.wish, asked.name, asked.folder):
                return
            del self._waiting[0]
            self._asked[asked.number] = asked
            _let_go(asked)


def _let_go(asked: Asked) -> None:
    if asked.folder is not None:
        os.close(asked.folder)
        asked.folder = None
