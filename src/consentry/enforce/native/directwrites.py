"""Which calls make a new name, and the order that each becomes for the maker of a box.

Only a run that writes folders of the host at once has one. Every other call, and one that makes a
name elsewhere, goes on as it is.
"""

import os

from consentry.enforce.native.maker import Maker
from consentry.enforce.native.namesinside import umask_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_HOW_BYTES = 24
_ASKED_AT_ONCE = 16
MAKING = (
    "open", "openat", "openat2", "creat", "mkdir", "mkdirat", "symlink", "symlinkat", "link",
    "linkat", "rename", "renameat", "renameat2",
)  # fmt: skip


class DirectWrites:
    """The maker of one box, and the calls that wait for it."""

    def __init__(
        self,
        program: int,
        wish: "Mapping[str, Any]",
        text: "Callable[[int, int], bytes]",
        memory: "Callable[[int, int, int], bytes]",
        whole: "Callable[[int, int | None, bytes], bytes]",
    ) -> None:
        self._wish = wish
        self._text, self._memory, self._whole = text, memory, whole
        self._maker = Maker(program, wish)
        self._asked: dict[int, int] = {}
        self._waiting: list[tuple[int, tuple[Any, ...]]] = []
        self._is_gone = False

    def fileno(self) -> int:
        """What becomes readable when there is an answer."""
        return self._maker.fileno()

    def ask(self, number: int, pid: int, name: str, arguments: "list[int]") -> bool:
        """Has the name of a call made; false for one that is none of ours, which then goes on."""
        order = None if self._is_gone else self._order(pid, name, arguments)
        if order is None:
            return False
        self._waiting.append((number, order))
        self._ask_waiting()
        return True

    def answered(self) -> "tuple[int, int, int, int, bytes, int | None] | None":
        """A call's number and its flags if it opens something, and the maker's answer to it."""
        said = self._maker.answer()
        if said is None:
            self._is_gone = True
            return None
        number, what, error, text, opened = said
        flags = self._asked.pop(number)
        self._ask_waiting()
        return number, flags, what, error, text, opened

    def given_up(self) -> "list[int]":
        """The calls that nobody will answer any more."""
        left = [*self._asked, *(number for number, _ in self._waiting)]
        self._asked.clear()
        self._waiting.clear()
        return left

    def _ask_waiting(self) -> None:
        while self._waiting and len(self._asked) < _ASKED_AT_ONCE:
            number, order = self._waiting[0]
            if not self._maker.ask(number, order):
                return
            del self._waiting[0]
            self._asked[number] = order[2] if order[0] == "open" else 0

    def has(self, place: bytes) -> bool:
        """Whether it lies in one of the folders that are written at once."""
        return any(
            place == root or place.startswith(root.rstrip(b"/") + b"/")
            for root in self._wish["roots"]
        )

    def close(self) -> None:
        """Ends the maker."""
        self._maker.close()

    def _order(self, pid: int, name: str, arguments: "list[int]") -> "tuple[Any, ...] | None":
        if name in ("open", "openat", "openat2", "creat"):
            return self._open_order(pid, name, arguments)
        folders = name.endswith(("at", "at2"))
        path = self._path
        match name.removesuffix("2").removesuffix("at"):
            case "mkdir":
                at = 1 if folders else 0
                return "mkdir", path(pid, arguments, at, folders), arguments[at + 1], umask_of(pid)
            case "symlink":
                target = self._text(pid, arguments[0])
                return "symlink", target, path(pid, arguments, 2 if folders else 1, folders)
            case "link" if not folders or not arguments[4] & 0xFFFFFFFF:
                old, new = (1, 3) if folders else (0, 1)
                return "link", *(path(pid, arguments, at, folders) for at in (old, new))
            case "rename":
                old, new = (1, 3) if folders else (0, 1)
                flags = arguments[4] & 0xFFFFFFFF if name == "renameat2" else 0
                return "rename", *(path(pid, arguments, at, folders) for at in (old, new)), flags
            case _:
                return None

    def _open_order(self, pid: int, name: str, arguments: "list[int]") -> "tuple[Any, ...] | None":
        has_folder = name.startswith("openat")
        at = 1 if has_folder else 0
        if name == "creat":
            flags, mode = os.O_CREAT | os.O_WRONLY | os.O_TRUNC, arguments[1]
        elif name == "openat2":
            raw = self._memory(pid, arguments[2], _HOW_BYTES)
            flags, mode, resolve = (int.from_bytes(raw[n : n + 8], "little") for n in (0, 8, 16))
            if resolve:
                return None
        else:
            flags, mode = arguments[at + 1], arguments[at + 2]
        if not flags & os.O_CREAT or flags & os.O_PATH:
            return None
        path = self._path(pid, arguments, at, has_folder)
        return "open", path, flags & 0x7FFFFFFF, mode & 0o7777, umask_of(pid)

    def _path(self, pid: int, arguments: "list[int]", at: int, has_folder: bool) -> bytes:  # noqa: FBT001
        folder = arguments[at - 1] if has_folder else None
        return self._whole(pid, folder, self._text(pid, arguments[at]))
