"""The first message of TLS, as far as it says which name a program wants to talk to.

A host may serve many names behind one address, and the name inside can be another than the one that
was checked and dialled. It is read here where it can be seen: not in an encrypted greeting, whose
outer name is all there is, and not in what comes after.
"""

from typing import Final

MOST_GREETING: Final = 32 << 10

_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _HOST_NAME = 0x16, 1, 0, 0
_OTHER_RECORDS: Final = (0x14, 0x15, 0x17, 0x18)
_MAJOR: Final = 3  # of every version there is
_RECORD_HEAD, _MESSAGE_HEAD = 5, 4
_RANDOM: Final = 2 + 32
_MOST_RECORD: Final = 1 << 14


class Unreadable(Exception):
    """It began as a greeting of TLS does, and is none that could be read."""


class NotYet(Exception):
    """More of it is needed."""


def server_name(said: bytes) -> str | None:
    """The name that a greeting asks for; None where it has none, or is no greeting at all.

    Raises `NotYet` while there is too little to tell, and `Unreadable`.
    """
    if not said or (len(said) == 1 and said[0] in _OTHER_RECORDS):
        raise NotYet
    if said[0] in _OTHER_RECORDS and said[1] == _MAJOR:
        raise Unreadable  # a lenient server might pass over it, and read the greeting behind it
    if said[0] != _HANDSHAKE:
        return None
    return _name_in(_message(said))


def _message(said: bytes) -> bytes:
    """The handshake message, put together from its records."""
    if len(said) > MOST_GREETING:
        raise Unreadable
    content, at = b"", 0
    while len(content) < _MESSAGE_HEAD or len(content) < _MESSAGE_HEAD + _size(content):
        head = said[at : at + _RECORD_HEAD]
        if len(head) < _RECORD_HEAD:
            raise NotYet
        length = int.from_bytes(head[3:], "big")
        if head[0] != _HANDSHAKE or head[1] != _MAJOR or not 0 < length <= _MOST_RECORD:
            raise Unreadable
        part = said[at + _RECORD_HEAD : at + _RECORD_HEAD + length]
        content += part
        if content and content[0] != _CLIENT_HELLO:
            raise Unreadable
        if len(part) < length:
            raise NotYet
        at += _RECORD_HEAD + length
    return content[_MESSAGE_HEAD : _MESSAGE_HEAD + _size(content)]


def _size(content: bytes) -> int:
    size = int.from_bytes(content[1:_MESSAGE_HEAD], "big")
    if size > MOST_GREETING:
        raise Unreadable
    return size


class _Fields:
    """Reads fields with their lengths in front, one behind the other."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def take(self, count: int) -> bytes:
        taken = self._content[self._at : self._at + count]
        if len(taken) < count:
            raise Unreadable
        self._at += count
        return taken

    def sized(self, width: int) -> bytes:
        return self.take(int.from_bytes(self.take(width), "big"))

    def is_over(self) -> bool:
        return self._at >= len(self._content)


def _name_in(message: bytes) -> str | None:
    fields = _Fields(message)
    fields.take(_RANDOM)
    fields.sized(1)  # session
    fields.sized(2)  # ciphers
    fields.sized(1)  # compression
    if fields.is_over():
        return None
    names: list[str] = []
    extensions = _Fields(fields.sized(2))
    if not fields.is_over():
        raise Unreadable
    while not extensions.is_over():
        kind = int.from_bytes(extensions.take(2), "big")
        content = extensions.sized(2)
        if kind == _SERVER_NAME:
            names += _names(content)
    if len(names) > 1:
        raise Unreadable  # which one counts is for each server to say
    return names[0] if names else None


def _names(content: bytes) -> list[str]:
    whole = _Fields(content)
    listed = _Fields(whole.sized(2))
    if not whole.is_over():
        raise Unreadable
    found: list[str] = []
    while not listed.is_over():
        kind = listed.take(1)[0]
        name = listed.sized(2)
        if kind != _HOST_NAME or not name.isascii():
            raise Unreadable
        found.append(name.decode("ascii"))
    return found
