"""Questions of the domain name system, as a program asks them, and the answers.

The messages come from a stranger and are read strictly: one question, no compression, no more bytes
than a name has. Used by the launcher as well, so it imports nothing.
"""

TYPE_A, TYPE_AAAA = 1, 28
NO_ERROR, NO_SUCH_NAME, NOT_DONE = 0, 3, 4

_HEADER_BYTES, _TAIL_BYTES = 12, 4
_MOST_LABEL, _MOST_NAME = 63, 255
_INTERNET = 1
_QUERY_BITS = 0xF800  # that it is a question, and a usual one
_RECURSION = 0x0100
_ANSWER = 0x8080
_NAME_ABOVE = 0xC00C
_SECONDS = 5


class Question:
    """What was asked for, and what an answer has to repeat."""

    __slots__ = ("asked", "flags", "kind", "name", "number")

    def __init__(self, number: int, flags: int, name: str, kind: int, asked: bytes) -> None:
        self.number = number
        self.flags = flags
        self.name = name
        self.kind = kind
        self.asked = asked


def read_question(message: bytes) -> Question | None:
    """None for what is no question that could be answered."""
    number, flags, questions = (int.from_bytes(message[at : at + 2], "big") for at in (0, 2, 4))
    if len(message) < _HEADER_BYTES or flags & _QUERY_BITS or questions != 1:
        return None
    labels = []
    at = _HEADER_BYTES
    while True:
        length = message[at] if at < len(message) else _MOST_LABEL + 1
        if length > _MOST_LABEL or at - _HEADER_BYTES > _MOST_NAME:
            return None
        at += 1
        if length == 0:
            break
        labels.append(message[at : at + length])
        at += length
    end = at + _TAIL_BYTES
    if len(message) < end or int.from_bytes(message[at + 2 : end], "big") != _INTERNET:
        return None
    kind = int.from_bytes(message[at : at + 2], "big")
    name = b".".join(labels).decode("ascii", "backslashreplace").lower()
    return Question(number, flags, name, kind, message[_HEADER_BYTES:end])


def answer(question: Question, code: int, *addresses: bytes) -> bytes:
    """The whole message; addresses are packed, of four bytes or of sixteen."""
    flags = _ANSWER | question.flags & _RECURSION | code
    said = _numbers(question.number, flags, 1, len(addresses), 0, 0) + question.asked
    for packed in addresses:
        kind = TYPE_A if len(packed) == 4 else TYPE_AAAA  # noqa: PLR2004 - as long as they are
        said += _numbers(_NAME_ABOVE, kind, _INTERNET, 0, _SECONDS, len(packed)) + packed
    return said


def _numbers(*values: int) -> bytes:
    return b"".join(value.to_bytes(2, "big") for value in values)
