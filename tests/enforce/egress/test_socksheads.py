"""What a program says to a SOCKS5 proxy is read strictly."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.enforce.egress import socksheads
from consentry.enforce.egress.heads import BadHead


class _Said:
    """Bytes that were said, to be read."""

    def __init__(self, content: bytes) -> None:
        self.left = content
        self.answered = b""

    def read(self, count: int) -> bytes:
        """Exactly so many."""
        if len(self.left) < count:
            raise BadHead("it ended")
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def send(self, words: bytes) -> None:
        """Keeps the answer."""
        self.answered += words


@pytest.mark.parametrize(
    ("wish", "read"),
    [
        (b"\5\1\0\3\x0bexample.org\1\xbb", (1, "example.org", 443)),
        (b"\5\1\0\1\xc0\0\2\7\0\x50", (1, "192.0.2.7", 80)),
        (b"\5\1\0\4" + bytes(15) + b"\1\0\x50", (1, "::1", 80)),
        (b"\5\3\0\1\xc0\0\2\7\0\x50", (3, "192.0.2.7", 80)),
    ],
)
def test_a_wish_is_read(wish: bytes, read: tuple[int, str, int]) -> None:
    """A name is left to the proxy; an address is one; what is no connection is told apart."""
    assert socksheads.read_wish(_Said(wish).read) == read
    assert socksheads.is_connect(read[0]) == (read[0] == 1)


@pytest.mark.parametrize(
    "wish",
    [
        b"\4\1\0\1\xc0\0\2\7\0\x50",
        b"\5\1\0\2\xc0\0\2\7\0\x50",
        b"\5\1\0\3\x0cexample\0.org\1\xbb",
        b"\5\1\0\3\x0cex\xc3\xa4mple.org\1\xbb",
        b"\5\1\0\3\xffexample.org\1\xbb",
        b"\5\1\0",
    ],
)
def test_what_could_be_read_differently_is_refused(wish: bytes) -> None:
    """Another version, unknown kinds, NUL, letters outside ASCII, too little."""
    with pytest.raises(BadHead):
        socksheads.read_wish(_Said(wish).read)


def test_whoever_wants_to_log_in_is_told_that_there_is_nothing_to() -> None:
    """The answer is the one that the protocol has for it."""
    said = _Said(b"\1\2")
    with pytest.raises(BadHead):
        socksheads.greet(said.read, said.send)
    assert said.answered == b"\5\xff"


@given(st.binary(max_size=300))
def test_no_bytes_make_the_reader_fail_in_another_way(noise: bytes) -> None:
    """It reads or refuses."""
    for content in (noise, b"\5\1\0\3" + noise):
        said = _Said(content)
        with suppress(BadHead):
            socksheads.greet(said.read, said.send)
        with suppress(BadHead):
            _, host, port = socksheads.read_wish(_Said(content).read)
            assert host.isascii()
            assert 0 <= port < 1 << 16
