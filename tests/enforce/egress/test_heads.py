"""What a program says to the proxy is read in one way or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.enforce.egress.chunks import body_parts
from consentry.enforce.egress.heads import BadHead, Request, read_request

GET = b"GET http://example.org/a?b=c HTTP/1.1\r\n"


def test_a_request_is_sent_on_as_it_was_understood() -> None:
    """To the path alone, for the host of the address line, and for one answer."""
    head = GET + b"Host: example.org\r\nAccept: */*\r\nProxy-Authorization: x\r\n\r\n"
    request = read_request(head)
    assert (request.host, request.port, request.is_tunnel) == ("example.org", 80, False)
    assert request.head == (
        b"GET /a?b=c HTTP/1.1\r\nhost: example.org\r\naccept: */*\r\nconnection: close\r\n\r\n"
    )


def test_a_field_of_ours_stands_in_place_of_the_program_s() -> None:
    """A secret that the proxy adds cannot be forestalled."""
    head = GET + b"Authorization: mine\r\n\r\n"
    request = read_request(head, (("Authorization", "Bearer secret"),))
    assert request.head.count(b"authorization") == 1
    assert b"authorization: Bearer secret\r\n" in request.head


def test_a_tunnel_has_a_host_and_a_port() -> None:
    """Brackets are for IPv6."""
    request = read_request(b"CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: x\r\n\r\n")
    assert request == Request("CONNECT", "[2001:db8::1]", 443)
    assert request.is_tunnel


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET http://example.org/ HTTP/2\r\n\r\n",
        b"GET  http://example.org/ HTTP/1.1\r\n\r\n",
        b"GET\thttp://example.org/ HTTP/1.1\r\n\r\n",
        b"GET https://example.org/ HTTP/1.1\r\n\r\n",
        b"GET http://user@example.org/ HTTP/1.1\r\n\r\n",
        b"GET http://example.org:0/ HTTP/1.1\r\n\r\n",
        b"GET http://example.org:99999/ HTTP/1.1\r\n\r\n",
        b"GET http://exam\0ple.org/ HTTP/1.1\r\n\r\n",
        b"GET http://example.org%00.evil.net/ HTTP/1.1\r\n\r\n",
        b"GET http://example.org/a b HTTP/1.1\r\n\r\n",
        GET + b"Host: evil.net\r\n\r\n",
        GET + b"Host: example.org\r\nHost: evil.net\r\n\r\n",
        GET + b"Host : example.org\r\n\r\n",
        GET + b" folded: x\r\n\r\n",
        GET + b"A: b\r\n folded\r\n\r\n",
        GET + b"A: b\nHost: evil.net\r\n\r\n",
        GET + b"A: b\rHost: evil.net\r\n\r\n",
        GET + b"A: \0\r\n\r\n",
        GET + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        GET + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        GET + b"Transfer-Encoding: chunked, identity\r\n\r\n",
        GET + b"Transfer-Encoding: xchunked\r\n\r\n",
        GET + b"Content-Length: +1\r\n\r\n",
        GET + b"Content-Length: 1,1\r\n\r\n",
        GET + b"Content-Length: -1\r\n\r\n",
        b"CONNECT example.org HTTP/1.1\r\n\r\n",
        b"CONNECT example.org:443/x HTTP/1.1\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
        b"CONNECT exa\0mple.org:443 HTTP/1.1\r\n\r\n",
    ],
)
def test_what_two_readers_could_read_differently_is_refused(head: bytes) -> None:
    """Before anything is dialled."""
    with pytest.raises(BadHead):
        read_request(head)


@given(st.binary(max_size=400))
def test_no_bytes_make_the_reader_fail_in_another_way(noise: bytes) -> None:
    """It reads or refuses; and what it sends on has one host and one end."""
    for head in (noise, noise + b"\r\n\r\n", GET + noise + b"\r\n\r\n"):
        try:
            request = read_request(head)
        except BadHead:
            continue
        if not request.is_tunnel:
            assert request.head.count(b"\r\n\r\n") == 1
            assert request.head.lower().count(b"\r\nhost:") == 1


def _reader(content: bytes, most: int = 3) -> "tuple[list[bytes], object]":
    left = [content]

    def read(count: int) -> bytes:
        part, left[0] = left[0][: min(count, most)], left[0][min(count, most) :]
        if not part:
            raise BadHead("it ended")
        return part

    return left, read


def test_a_body_ends_where_it_says_and_what_follows_stays() -> None:
    """A second request on the same line reaches nobody."""
    left, read = _reader(b"helloGET / HTTP/1.1")
    request = Request("POST", "example.org", 80, body_bytes=5)
    assert b"".join(body_parts(read, request)) == b"hello"  # type: ignore[arg-type]
    assert left == [b"GET / HTTP/1.1"]


def test_chunks_are_written_anew() -> None:
    """However many zeros their sizes begin with."""
    left, read = _reader(b"0005\r\nhello\r\n0\r\n\r\nrest")
    request = Request("POST", "example.org", 80, is_chunked=True)
    assert b"".join(body_parts(read, request)) == b"5\r\nhello\r\n0\r\n\r\n"  # type: ignore[arg-type]
    assert left == [b"rest"]


@pytest.mark.parametrize(
    "body",
    [
        b"5;x=y\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"5\nhello\r\n0\r\n\r\n",
        b"4\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
        b"5\r\nhel",
        b"fffffffff\r\n",
        b"1" * 5000,
    ],
)
def test_chunks_that_could_be_read_differently_are_refused(body: bytes) -> None:
    """Extensions, signs, other line ends, fields behind them."""
    _, read = _reader(body)
    with pytest.raises(BadHead):
        b"".join(body_parts(read, Request("POST", "x", 80, is_chunked=True)))  # type: ignore[arg-type]
