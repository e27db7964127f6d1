"""The launcher's side of calls that wait for a person's answer.

Such a call is kept as the kernel gave it, its caller asleep and killable, while the owner is asked over a
socket of the run's own. All others go on meanwhile. It is answered with what was opened for it, or with an
error, and never by letting it go on: its name could be another one by now. Callers that were killed are
found by asking the kernel now and then, for it tells nobody. When the owner is gone, whatever waits is
refused.
"""

import _socket
import errno
import marshal
import os

from consentry.enforce.native import notify
from consentry.enforce.native.heldpins import HeldPins, Pin
from consentry.enforce.native.heldrules import OPEN, HeldRules, Wanted
from consentry.enforce.native.namesinside import umask_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MOST_HELD = 100
"""So many calls of one run wait at once; each keeps a descriptor of the launcher, who has others."""

_MOST_ANSWER = 256
GRANTED, CLOSED = "granted", "closed"


class Answered:
    """A call that waits no more: an error, or what was opened for it."""

    __slots__ = ("error", "is_closed", "number", "opened", "wanted")

    def __init__(self, number: int, wanted: Wanted) -> None:
        self.number = number
        self.wanted = wanted
        self.error = errno.EACCES
        self.opened: int | None = None
        self.is_closed = False
        """Whether nobody was asked: it is refused as it would be without holding anything."""


class HeldCalls:
    """The calls of one run that wait, and the way to whoever decides."""

    def __init__(
        self, listener: int, pid: int, wish: "Mapping[str, Any]", owner: _socket.socket
    ) -> None:
        """`pid` is the process of the box that the listener was fetched from."""
        self._listener = listener
        self._owner = owner
        self._rules = HeldRules(wish)
        self._pins = HeldPins(wish, self._rules, pid)
        self._held: dict[int, Pin] = {}
        self._unsent: list[bytes] = []
        self._is_alone = False
        self.is_closed = False
        owner.setblocking(False)  # noqa: FBT003 - as the function has it

    def fileno(self) -> int:
        """What becomes readable when there is an answer."""
        return self._owner.fileno()

    @property
    def waits(self) -> bool:
        """Whether any call does."""
        return bool(self._held)

    def hold(self, number: int, pid: int, wanted: Wanted) -> bool:
        """Has somebody decide; false for a call that goes on, and is allowed or refused as ever."""
        if (
            not wanted.place.startswith(b"/")
            or not wanted.is_plain()
            or self._rules.allow(wanted)
            or self._rules.is_never_held(wanted.place)
            or self._is_alone
            or len(self._held) >= MOST_HELD
        ):
            return False
        try:
            pin = self._pins.pin(wanted)
        except OSError:
            return False  # no tree could be made through which it may be opened
        if pin is None:
            return False
        try:
            if wanted.verb != OPEN:
                pin.umask = umask_of(pid)
            self._ask(number, pid, pin)
        except OSError:
            pin.close()
            return False
        self._held[number] = pin
        return True

    def _ask(self, number: int, pid: int, pin: Pin) -> None:
        wanted = pin.wanted
        access = wanted.access
        also = [pin.key("rw")] if access in ("r", "w") else []
        self._tell(
            "asks", number, pin.key(access), also,
            {
                "writes": wanted.writes,
                "path": pin.path,
                "verb": wanted.verb,
                "layer": self._rules.layer_of(pin.path) is not None,
                "also_reads": wanted.writes and wanted.reads,
                "is_folder": wanted.is_folder and wanted.verb == OPEN,
                "pid": pid,
                "program": _program_of(pid),
            },
        )  # fmt: skip

    def _tell(self, *said: object) -> None:
        self._unsent.append(marshal.dumps(said))  # type: ignore[arg-type]
        self._send()

    def _send(self) -> None:
        while self._unsent:
            try:
                self._owner.send(self._unsent[0])
            except BlockingIOError:
                return
            except OSError:
                # Nobody is there; that is heard as the end of all answers.
                self._unsent.clear()
                return
            del self._unsent[0]

    def answered(self) -> "Answered | None":
        """One call and what became of it; None when nobody answers any more."""
        try:
            said = self._owner.recv(_MOST_ANSWER)
        except OSError:
            said = b""
        if not said:
            self._is_alone = True
            return None
        self._send()
        number, word = marshal.loads(said)  # noqa: S302 - from our own owner
        pin = self._held.pop(number, None)
        if pin is None:
            return Answered(0, _NOTHING)  # it is gone
        try:
            return self._ended(number, pin, word)
        finally:
            pin.close()

    def _ended(self, number: int, pin: Pin, word: str) -> Answered:
        answered = Answered(number, pin.wanted)
        answered.is_closed = word == CLOSED
        if answered.is_closed and self._is_out_of_sight(pin.wanted):
            answered.error = errno.ENOENT
        if word != GRANTED:
            return answered
        if not notify.is_there(self._listener, number):
            self._tell("failed", number, errno.ESRCH)
            return answered
        try:
            answered.opened = self._pins.carry_out(pin)
            answered.error = 0
        except OSError as problem:
            answered.error = problem.errno or errno.EACCES
            self._tell("failed", number, answered.error)
            return answered
        # What a run had made was not there before: it may go on with it.
        self._tell("done", number, pin.key("rw") if pin.is_made else None)
        return answered

    def _is_out_of_sight(self, wanted: Wanted) -> bool:
        """Whether the kernel would say that there is no such thing; so nobody learns that there is."""
        if wanted.verb == OPEN:
            return not wanted.is_found
        return not self._pins.is_in_box(wanted.place.rpartition(b"/")[0] or b"/")

    def look_for_the_dead(self) -> None:
        """Takes back what those asked for who are not there any more."""
        self._send()
        for number in [each for each in self._held if not notify.is_there(self._listener, each)]:
            self._held.pop(number).close()
            self._tell("gone", number)

    def given_up(self) -> "list[Answered]":
        """The calls that nobody will decide any more."""
        left = [Answered(number, pin.wanted) for number, pin in self._held.items()]
        for pin in self._held.values():
            pin.close()
        self._held.clear()
        return left

    def close(self) -> None:
        """Nothing waits any more."""
        self.is_closed = True
        self.given_up()
        self._pins.close()
        self._owner.close()


_NOTHING = Wanted(b"", 0, 0, is_found=False, is_folder=False)


def _program_of(pid: int) -> "bytes | None":
    try:
        return os.readlink(b"/proc/%d/exe" % pid)  # noqa: PTH115 - bytes, and quick
    except OSError:
        return None
