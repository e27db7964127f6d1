"""Watches what a program asks the kernel for, and lets it go on: it sees, it never decides.

Every trapped call is looked at once: the name that was asked for, what it leads to inside the box,
and whether there is such a thing outside. Then the kernel does with the call what it would have done.
A second thread of the program may change the name in between, so what is noted here is `observed`
and no more. The notes are counts by name: a loop that opens one file a million times is one note.

The program waits while it is looked at, so what was found out about folders and processes is kept for
some milliseconds, and forgotten when anybody in the box renames or removes a name or starts a program.

Nothing that is read here is trusted: names are bytes, addresses may point anywhere, and an error
while looking is noted and never stops the program.
"""

import _socket
import errno
import fcntl
import os
import time
from _struct import Struct

from consentry.enforce.native import calls, maker, notify, opener
from consentry.enforce.native.directwrites import MAKING, DirectWrites
from consentry.enforce.native.exactreads import ExactReads
from consentry.enforce.native.foldermoves import RENAMING, FolderMoves
from consentry.enforce.native.heldcalls import HeldCalls
from consentry.enforce.native.heldrules import Wanted
from consentry.enforce.native.namedcalls import EXCHANGE, NAMED, SOURCE, TARGET
from consentry.enforce.native.namesinside import (
    NamesInside,
    folder_of,
    leads_through_a_process,
    whole_name,
)
from consentry.enforce.native.programmemory import MOST_ADDRESS, MOST_MESSAGES, ProgramMemory
from consentry.enforce.native.syscallnumbers import NUMBERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from consentry.enforce.native.exactreads import Asked

_HOW = Struct("<QQQ")
_KEPT_SECONDS = 0.05
_MOST_NOTES, _MOST_NOTED_BYTES = 50_000, 32 << 20
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

_MAKING = ("creat", "mkdir", "mkdirat")
_TALKING = ("connect", "sendto", "sendmsg", "sendmmsg")
_WITH_CONNECT = 0x20000000  # what is sent goes with the first packet of a connection


class Observer:
    """Serves the notifications of one box and keeps notes of them."""

    def __init__(self, listener: int, machine: str, exact: ExactReads | None = None) -> None:
        self.listener = listener
        self._exact = exact
        self._names = {
            number: name
            for name, number in NUMBERS[machine].items()
            if name in NAMED or name in _TALKING
        }
        self._received = bytearray(notify.NOTIFICATION.size)
        self._answer = bytearray(notify.ANSWER.size)
        self._go_on = bytearray(notify.ANSWER.pack(0, 0, 0, notify.GO_ON))
        self._memory = ProgramMemory()
        self._finder: NamesInside | None = None
        self._fresh_until = 0.0
        self._notes: dict[tuple[Any, ...], int] = {}
        self._noted_bytes = 0
        self._left_out = 0
        self._seen = 0
        self._problems = 0
        self._wakes_in_step = notify.wake_in_step(listener)
        self._direct: DirectWrites | None = None
        self._moves: FolderMoves | None = None
        self._has_met_folder = False
        self.held: HeldCalls | None = None
        """The calls that wait for a person's answer, where any do."""

    def have_calls_held(
        self, program: int, wish: "Mapping[str, Any]", owner: _socket.socket
    ) -> HeldCalls:
        """From here on what the grants refuse waits for an answer, where it can be carried out."""
        self.held = HeldCalls(self.listener, program, wish, owner)
        return self.held

    def have_folders_moved(self, wish: "Mapping[str, Any]") -> int:
        """From here on folders are renamed by another, where the kernel refuses to.

        Returns what becomes readable when one was.
        """
        self._moves = FolderMoves(wish, self._memory.text_at, whole_name)
        return self._moves.fileno()

    def have_names_made(self, program: int, wish: "Mapping[str, Any]") -> int:
        """From here on the maker answers calls that make a name in the folders of the wish.

        Returns what becomes readable when it has answered.
        """
        memory = self._memory
        self._direct = DirectWrites(program, wish, memory.text_at, memory.bytes_at, whole_name)
        return self._direct.fileno()

    def heard_at(self) -> "tuple[int, ...]":
        """What is open, as long as this is, for others to call and to answer."""
        others = (self._exact, self._direct, self._moves, self.held)
        return (self.listener, *(each.fileno() for each in others if each is not None))

    def serve(self) -> bool:
        """Handles one notification; false when nobody is left to be observed."""
        received = self._received
        received[:] = notify.NO_NOTIFICATION
        try:
            fcntl.ioctl(self.listener, notify.RECEIVE, received)
        except OSError as problem:
            # The caller died before its call was looked at, or all of them have.
            return problem.errno in (errno.ENOENT, errno.EINTR)
        self._seen += 1
        number, pid, _, call, _, _, *arguments = notify.NOTIFICATION.unpack(received)
        name = self._names.get(call)
        if time.monotonic() > self._fresh_until:
            self._forget()
        try:
            if self._look(number, pid, name, arguments):
                return True
        except Exception:  # noqa: BLE001 - a stranger chose every byte, and others depend on us
            self._problems += 1
        if name in MAKING and self._is_made_by_another(number, pid, name, arguments):
            return True
        if name in RENAMING and self._is_moved_by_another(number, pid, name, arguments):
            return True
        answer = self._go_on
        answer[: notify.NUMBER_BYTES] = received[: notify.NUMBER_BYTES]
        try:
            fcntl.ioctl(self.listener, notify.SEND, answer)
        except OSError as problem:
            return problem.errno == errno.ENOENT
        return True

    def _forget(self) -> None:
        """Of what is kept for a moment, everything."""
        self._fresh_until = time.monotonic() + _KEPT_SECONDS
        self._memory.forget()
        if self._finder is not None:
            self._finder.forget()

    def _tell(self, number: int, error: int, flags: int) -> bool:
        """Answers a call: with an error, or that it goes on as it is."""
        notify.ANSWER.pack_into(self._answer, 0, number, 0, -error, flags)
        try:
            fcntl.ioctl(self.listener, notify.SEND, self._answer)
        except OSError as problem:
            return problem.errno == errno.ENOENT
        return True

    def _is_made_by_another(self, number: int, pid: int, name: str, arguments: "list[int]") -> bool:
        """Whether the maker answers it; without that it goes on, and the kernel refuses it there."""
        try:
            return self._direct is not None and self._direct.ask(number, pid, name, arguments)
        except Exception:  # noqa: BLE001 - as above
            self._problems += 1
            return False

    def _is_moved_by_another(
        self, number: int, pid: int, name: str, arguments: "list[int]"
    ) -> bool:
        """Whether it is a folder, and somebody else renames it; without that it goes on."""
        try:
            return (
                self._moves is not None
                and self._has_met_folder
                and self._moves.ask(number, pid, name, arguments)
            )
        except Exception:  # noqa: BLE001 - as above
            self._problems += 1
            return False

    def tell_what_was_moved(self) -> bool:
        """Answers a call that was carried out; false when nobody renames anything any more."""
        moves = self._moves
        answered = None if moves is None else moves.answered()
        if moves is None or answered is None:
            for number in [] if moves is None else moves.given_up():
                self._problems += 1
                self._tell(number, errno.EXDEV, 0)
            return False
        if self._finder is not None:
            self._finder.forget()
        self._tell(*answered, 0)
        return True

    def tell_what_was_made(self) -> bool:
        """Answers a call that the maker has carried out; false when there is no maker any more."""
        direct = self._direct
        answered = None if direct is None else direct.answered()
        if direct is None or answered is None:
            for number in [] if direct is None else direct.given_up():
                self._problems += 1
                self._tell(number, errno.EACCES, 0)
            return False
        number, flags, what, error, text, opened = answered
        if what == maker.REFUSED:
            place, _, rule = text.partition(b"\0")
            self._note(("kept", place, False, False, rule.decode()))
        if what == maker.GO_ON:
            self._tell(number, 0, notify.GO_ON)
        else:
            self._tell_what_became_of_it(number, error, opened, flags)
        return True

    def _tell_what_became_of_it(
        self, number: int, error: int, opened: int | None, flags: int
    ) -> None:
        if opened is None:
            self._tell(number, error, 0)
            return
        given = notify.HAND_IN.pack(number, notify.ADD_AND_SEND, opened, 0, flags & os.O_CLOEXEC)
        try:
            fcntl.ioctl(self.listener, notify.ADD, given)
        except OSError as problem:
            # It has no number left for it, or is gone.
            self._tell(number, problem.errno or errno.EACCES, 0)
        finally:
            os.close(opened)

    def tell_what_was_decided(self) -> bool:
        """Answers a call that waited; false when nobody decides anything any more."""
        held = self.held
        answered = None if held is None else held.answered()
        if held is None or answered is None:
            for each in [] if held is None else held.given_up():
                self._note(each.wanted.note)
                self._tell(each.number, errno.EACCES, 0)
            return False
        if answered.is_closed:
            self._note(answered.wanted.note)
        self._tell_what_became_of_it(
            answered.number, answered.error, answered.opened, answered.wanted.flags
        )
        return True

    def hand_in(self) -> bool:
        """Gives the program what was opened for it; false when nobody opens anything any more."""
        exact = self._exact
        answered = None if exact is None else exact.answered()
        if exact is None or answered is None:
            for asked in [] if exact is None else exact.given_up():
                self._problems += 1
                self._tell(asked.number, errno.EACCES, 0)
            return False
        asked, problem, opened = answered
        if opened is not None:
            try:
                self._give(asked, opened)
            finally:
                os.close(opened)
        elif opener.is_left_to_the_kernel(problem):
            self._tell(asked.number, 0, notify.GO_ON)
        else:
            if problem in (errno.EACCES, errno.EPERM):
                self._note(("refused", asked.place, True, False, True))
            self._tell(asked.number, problem, 0)
        return True

    def _give(self, asked: "Asked", opened: int) -> None:
        place = os.readlink(b"/proc/self/fd/%d" % opened)  # noqa: PTH115 - bytes, and quick
        told = os.fstat(opened)
        if self._exact is None or not self._exact.concerns(place, asked.flags, is_folder=False):
            # Another thread had it lead elsewhere, and there the program may read by itself.
            self._tell(asked.number, 0, notify.GO_ON)
            return
        given = notify.HAND_IN.pack(
            asked.number, notify.ADD_AND_SEND, opened, 0, asked.flags & os.O_CLOEXEC
        )
        try:
            fcntl.ioctl(self.listener, notify.ADD, given)
        except OSError as problem:
            self._tell(asked.number, problem.errno or errno.EACCES, 0)
            return
        if told.st_size or asked.reads_what_was_there:
            state = (told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)
            self._note(("opened", place, True, False, state))

    def notes(self) -> "dict[str, Any]":
        """What was seen so far."""
        return {
            "notes": [(*key, count) for key, count in self._notes.items()],
            "seen": self._seen,
            "left_out": self._left_out,
            "problems": self._problems,
        }

    def close(self) -> None:
        """Lets go of the listener and the box's root."""
        os.close(self.listener)
        self._memory.forget()
        if self._direct is not None:
            self._direct.close()
        if self._moves is not None:
            self._moves.close()
        if self._finder is not None:
            self._finder.close()
        if self._exact is not None:
            self._exact.close()
        if self.held is not None:
            self.held.close()

    def _look(self, number: int, pid: int, name: str | None, arguments: "list[int]") -> bool:
        """Takes notes of one call; true when it is answered later, and not by going on."""
        if name is None:
            return False
        if name == "openat":
            return self._look_at_open(number, pid, name, arguments)
        if name in _TALKING:
            if not self._look_at_addresses(pid, name, arguments):
                return False
            self._tell(number, errno.EACCES, 0)
            return True
        if NAMED[name][0] == "open":
            return self._look_at_open(number, pid, name, arguments)
        if name in _MAKING and self._is_making_held(number, pid, name, arguments):
            return True
        self._look_at_names(pid, name, arguments)
        return False

    def _look_at_names(self, pid: int, name: str, arguments: "list[int]") -> None:
        kind, folder, path = NAMED[name]
        finder = self._finder_of(pid)
        finder.has_met_link = False
        self._has_met_folder = False
        is_folder = self._has_met_folder = self._note_path(pid, kind, arguments, folder, path)
        if name in TARGET:
            self._note_path(pid, "create", arguments, *TARGET[name])
            if name == "renameat2" and arguments[4] & EXCHANGE:
                self._note_path(pid, "linked", arguments, *TARGET[name])
        elif name in SOURCE:
            self._note_path(pid, "linked", arguments, *SOURCE[name])
        if kind == "exec":
            self._memory.forget()  # it will be another program's
        elif kind == "rename" or (kind == "delete" and (is_folder or finder.has_met_link)):
            finder.forget()  # names that lead through it will lead elsewhere
        elif kind == "create":
            finder.forget_absent()

    def _look_at_open(self, number: int, pid: int, name: str, arguments: "list[int]") -> bool:
        _, folder, path = NAMED[name]
        base = None if folder is None else arguments[0]
        asked = self._memory.text_at(pid, arguments[path])
        flags, mode, follows = arguments[path + 1], arguments[path + 2], None
        if name == "openat2":
            raw = self._memory.bytes_at(pid, flags, _HOW.size)
            flags, mode, follows = _HOW.unpack(raw)
        keeps_link = flags & os.O_NOFOLLOW != 0
        if follows is not None and follows & calls.RESOLVE_IN_ROOT:
            finder, root = self._finder_of(pid), folder_of(pid, base)
            found, place, is_folder = finder.find_below(root, asked, follows, keeps_link=keeps_link)
        else:
            whole = whole_name(pid, base, asked)
            found, place, is_folder = self._found(pid, whole, keeps_link=keeps_link)
        kind = "write" if flags & _WRITES else "look" if flags & os.O_PATH else "read"
        # A call with its own rules for following names waits for nobody.
        if self.held is not None and not follows:
            wanted = Wanted(place, flags, mode, is_found=found, is_folder=is_folder)
            if self.held.hold(number, pid, wanted):
                return True
        exact = self._exact
        if (
            exact is not None
            and (found or flags & os.O_CREAT)
            and exact.concerns(place, flags, is_folder=is_folder)
        ):
            if kind == "write":
                self._note((kind, place, found, is_folder, found))
            if leads_through_a_process(asked):
                # Which is another one for whoever opens it; that follows names without such links.
                asked, base = place, None
            exact.ask(number, pid, place, asked, base, (flags, mode, follows))
            return True
        self._note((kind, place, found, is_folder, found or _is_outside(place)))
        if flags & os.O_RDWR and not flags & (os.O_TRUNC | os.O_PATH) and found and not is_folder:
            self._note(("read", place, True, False, True))
        return False

    def _is_making_held(self, number: int, pid: int, name: str, arguments: "list[int]") -> bool:
        """Whether making a file or a folder by its name alone waits for an answer."""
        if self.held is None:
            return False
        _, folder, path = NAMED[name]
        asked = self._memory.text_at(pid, arguments[path])
        whole = whole_name(pid, None if folder is None else arguments[folder], asked)
        found, place, is_folder = self._found(pid, whole, keeps_link=False)
        flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC
        wanted = Wanted(
            place,
            flags,
            arguments[path + 1],
            is_found=found,
            is_folder=is_folder,
            makes_folder=name != "creat",
        )
        return self.held.hold(number, pid, wanted)

    def _note_path(
        self, pid: int, kind: str, arguments: "list[int]", folder: int | None, path: int
    ) -> bool:
        """Whether it is a folder."""
        asked = self._memory.text_at(pid, arguments[path])
        whole = whole_name(pid, None if folder is None else arguments[folder], asked)
        found, place, is_folder = self._found(
            pid, whole, keeps_link=kind in ("delete", "rename", "linked")
        )
        if kind == "exec":
            words = self._memory.words_at(pid, arguments[2 if folder is not None else 1])
            self._note((kind, place, found, is_folder, words))
            return is_folder
        self._note((kind, place, found, is_folder, found or _is_outside(place)))
        return is_folder

    def _found(self, pid: int, whole: bytes, *, keeps_link: bool) -> "tuple[bool, bytes, bool]":
        return self._finder_of(pid).find(pid, whole, keeps_link=keeps_link)

    def _finder_of(self, pid: int) -> NamesInside:
        if self._finder is None:
            self._finder = NamesInside(pid)
        return self._finder

    def _look_at_addresses(self, pid: int, name: str, arguments: "list[int]") -> bool:
        """Takes notes of them; true when one leads to a listener of the host's."""
        is_kept_out = False
        is_datagram = name != "connect"
        if name == "connect":
            addresses = [(arguments[1], arguments[2])]
        elif name == "sendto":
            addresses = [(arguments[4], arguments[5])]
            is_datagram = not arguments[3] & _WITH_CONNECT
        else:
            is_datagram = not arguments[2 if name == "sendmsg" else 3] & _WITH_CONNECT
            count = 1 if name == "sendmsg" else arguments[2] & 0xFFFFFFFF
            if count > MOST_MESSAGES:
                # The kernel takes more at once; the record is incomplete then, and says so.
                self._left_out += 1
                count = MOST_MESSAGES
                is_kept_out = self._direct is not None
            addresses = self._memory.addressed_at(pid, arguments[1], count)
        for at, length in addresses:
            size = min(length & 0xFFFFFFFF, MOST_ADDRESS)
            raw = self._memory.bytes_at(pid, at, size)
            is_kept_out |= self._note_address(
                pid, raw, is_sent_to=name != "connect", is_datagram=is_datagram
            )
        return is_kept_out

    def _note_address(self, pid: int, raw: bytes, *, is_sent_to: bool, is_datagram: bool) -> bool:
        family = int.from_bytes(raw[:2], "little")
        if family == _socket.AF_UNSPEC and is_sent_to:
            # The kernel sends to such an address as well.
            family = _socket.AF_INET
        if family == _socket.AF_INET:
            host = _socket.inet_ntop(family, raw[4:8])
        elif family == _socket.AF_INET6:
            host = _socket.inet_ntop(family, raw[8:24])
        elif family == _socket.AF_UNIX:
            return self._note_socket(pid, raw[2:])
        else:
            return False
        port = int.from_bytes(raw[2:4], "big")
        self._note(("connect", host.encode(), is_datagram, False, port))
        return False

    def _note_socket(self, pid: int, raw: bytes) -> bool:
        asked = raw.partition(b"\0")[0]
        if not asked:
            self._note(("unix", b"@" + raw[1:].rstrip(b"\0"), False, False, False))
            return False
        found, place, _ = self._found(pid, whole_name(pid, None, asked), keeps_link=False)
        self._note(("unix", place, found, False, _is_outside(place)))
        # The program makes no sockets there; one that was not covered came later.
        return found and self._direct is not None and self._direct.has(place)

    def _note(self, key: "tuple[Any, ...]") -> None:
        count = self._notes.get(key)
        if count is not None:
            self._notes[key] = count + 1
            return
        size = len(key[1]) + (sum(map(len, key[4])) if key[0] == "exec" else 0)
        if len(self._notes) < _MOST_NOTES and self._noted_bytes + size <= _MOST_NOTED_BYTES:
            self._notes[key] = 1
            self._noted_bytes += size
        else:
            self._left_out += 1


def _is_outside(place: bytes) -> bool:
    """Whether there is such a thing on the host, be it a link that leads nowhere."""
    return os.access(place, os.F_OK, follow_symlinks=False)
