"""Says no to every name that a program of a box without network asks for, and notes which it was.

A box has no name service, and programs then ask at their own machine. There a socket of the box
listens which the launcher serves: the program hears at once that there is no such name, and the record
says which one it wanted.
"""

import _socket

from consentry.enforce.egress.questions import NO_SUCH_NAME, answer, read_question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_QUESTION = 4096
_MOST_NAMES = 1000


class AskedNames:
    """The sockets of one box, and what was asked there."""

    def __init__(self, descriptors: "Sequence[int]") -> None:
        self._sockets = [_socket.socket(fileno=each) for each in descriptors]
        self._asked: dict[str, int] = {}
        self.left_out = 0

    def heard_at(self) -> "tuple[int, ...]":
        """Where questions come."""
        return tuple(each.fileno() for each in self._sockets)

    def hear(self) -> None:
        """One question at each, if there is one."""
        for each in self._sockets:
            self._hear(each)

    def _hear(self, asked_at: _socket.socket) -> None:
        try:
            message, sender = asked_at.recvfrom(_MOST_QUESTION, _socket.MSG_DONTWAIT)
            question = read_question(message)
            if question is None:
                return
            self._note(question.name)
            said = answer(question, NO_SUCH_NAME)
            asked_at.sendto(said, _socket.MSG_DONTWAIT, sender)
        except OSError:
            return  # nobody asked here, or whoever did is gone

    def _note(self, name: str) -> None:
        if name in self._asked or len(self._asked) < _MOST_NAMES:
            self._asked[name] = self._asked.get(name, 0) + 1
        else:
            self.left_out += 1

    def told(self) -> "list[tuple[str, int]]":
        """Each name, and how often."""
        return list(self._asked.items())

    def close(self) -> None:
        """Lets go of the sockets."""
        for each in self._sockets:
            each.close()
