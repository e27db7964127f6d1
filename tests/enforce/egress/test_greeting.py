"""The name inside TLS is read where it can be seen, and a connection for another name is refused."""

import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.enforce.egress.dialling import Dialler
from consentry.enforce.egress.greeting import MOST_GREETING, NotYet, Unreadable, server_name
from tests.enforce.egress.grounds import Ground, denied
from tests.enforce.egress.peers import AnyWay, ProxyHere, http_peer, make_certificate


def _greeting(name: str | None) -> bytes:
    """As this interpreter's own library says it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    return outgoing.read()


REAL = _greeting("inside.example")


def test_the_name_of_a_real_greeting_is_read() -> None:
    """Also without one, and nothing is looked for in what is no TLS."""
    assert server_name(REAL) == "inside.example"
    assert server_name(_greeting(None)) is None
    assert server_name(b"GET / HTTP/1.1\r\n") is None
    assert server_name(b"SSH-2.0-x\r\n") is None


def test_every_part_of_a_greeting_is_too_little() -> None:
    """However it is cut: nothing is let through before the name is known."""
    for end in range(len(REAL)):
        with pytest.raises(NotYet):
            server_name(REAL[:end])


@given(st.lists(st.integers(1, 60), max_size=40))
def test_a_greeting_in_many_records_is_the_same(sizes: list[int]) -> None:
    """A program may cut it as it likes; a server puts it together again, and so do we."""
    body, cut = REAL[5:], b""
    for size in (*sizes, len(body)):
        part, body = body[:size], body[size:]
        if part:
            cut += REAL[:3] + len(part).to_bytes(2, "big") + part
    assert server_name(cut) == "inside.example"


def _with_names(*names: bytes) -> bytes:
    listed = b"".join(b"\0" + len(each).to_bytes(2, "big") + each for each in names)
    listed = len(listed).to_bytes(2, "big") + listed
    extension = b"\0\0" + len(listed).to_bytes(2, "big") + listed
    message = b"\3\3" + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0"
    message += len(extension).to_bytes(2, "big") + extension
    message = b"\1" + len(message).to_bytes(3, "big") + message
    return b"\x16\3\1" + len(message).to_bytes(2, "big") + message


@pytest.mark.parametrize(
    "said",
    [
        _with_names(b"a.example", b"b.example"),
        _with_names("ä.example".encode()),
        b"\x16\2\1\0\5hello",
        b"\x16\3\1\0\0",
        b"\x15\3\1\0\2\1\x5a" + REAL,
        b"\x14\3\1\0\1\1" + REAL,
        b"\x16\3\1\xff\xff",
        b"\x16\3\1\0\5\2\0\0\1x",
        b"\x16\3\1\0\4\1\xff\xff\xff",
        b"\x16\3\1\0\5\1\0\0\1x",
        b"\x16\3\1\0\5\1\0\1\0\3\x17\3\3\0\1x",
        b"\x16" + bytes(MOST_GREETING),
    ],
)
def test_a_greeting_that_cannot_be_read_is_none(said: bytes) -> None:
    """Two names, other letters, other records in between, more than there is."""
    with pytest.raises(Unreadable):
        server_name(said)
    assert server_name(_with_names(b"a.example")) == "a.example"


@given(st.binary(max_size=300), st.integers(0, len(REAL)))
def test_no_bytes_make_the_reader_fail_in_another_way(noise: bytes, at: int) -> None:
    """It reads, waits for more, or refuses."""
    for said in (noise, b"\x16\3\1" + noise, REAL[:at] + noise + REAL[at + len(noise) :]):
        with suppress(NotYet, Unreadable):
            name = server_name(said)
            assert name is None or name.isascii()


TALKS = """
import socket, ssl
context = ssl.create_default_context(cafile="ca.pem")
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
def said(line, name):
    try:
        with context.wrap_socket(line, server_hostname=name) as safe:
            safe.sendall(b"GET /reached HTTP/1.0\\r\\n\\r\\n")
            return safe.makefile().read().rpartition("\\n")[2]
    except OSError as problem:
        return type(problem).__name__
def tunnel():
    line = socket.create_connection(("127.0.0.1", 3128), 20)
    line.sendall(b"CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\n")
    while not line.recv(1, socket.MSG_PEEK): pass
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n"): head += line.recv(1)
    return line
for make in (tunnel, lambda: socket.create_connection(("{host}", {port}), 20)):
    print(said(make(), {name!r}))
"""

CONTROLS: dict[str, Callable[[Any], None]] = {
    "with the rules": lambda _: None,
    "without them": lambda run: setattr(
        run, "_dialler", Dialler(AnyWay(run._rules.access), run._reached)
    ),
}


@pytest.mark.parametrize("way", CONTROLS)
def test_another_name_inside_tls_is_refused(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """By a tunnel and directly; the name dialled, none, and one that is granted itself pass."""
    proxy = ProxyHere(CONTROLS[way])
    monkeypatch.setattr(ground.engine._proxy, "started", lambda: proxy)
    certificate = make_certificate(tmp_path / "peer.pem", "localhost")
    (ground.workspace / "ca.pem").write_bytes(certificate.read_bytes())
    with http_peer(certificate) as peer:
        port = peer.server_port
        told = {"host": "localhost", "port": port}
        granted = (f"localhost:{port}", f"also.example:{port}")
        astray = ground.python(TALKS.format(name="hidden.example", **told), *granted)
        reached = len(peer.seen)
        if way == "without them":
            assert (astray.stdout, reached) == (b"/reached\n/reached\n", 2), astray.stderr
            return
        assert reached == 0
        assert b"/reached" not in astray.stdout
        [(place, why, _)] = denied(astray)
        assert (place, why) == (f"hidden.example:{port}", "the name inside TLS is not localhost")
        for name in ("localhost", None, "also.example"):
            passed = ground.python(TALKS.format(name=name, **told), *granted)
            assert passed.stdout == b"/reached\n/reached\n", (name, passed.stderr)


def test_a_greeting_that_comes_byte_by_byte_is_looked_at_all_the_same(
    ground: Ground, tmp_path: Path
) -> None:
    """Nothing of it reaches the host before it was read."""
    certificate = make_certificate(tmp_path / "peer.pem", "localhost")
    with http_peer(certificate) as peer:
        port = peer.server_port
        code = (
            "import socket, time\n"
            f"s = socket.create_connection(('localhost', {port}), 20)\n"
            "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)\n"
            "try:\n"
            f"    for each in {REAL!r}: s.send(bytes([each])); time.sleep(0.0005)\n"
            "    print(s.recv(10))\n"
            "except OSError as problem: print(type(problem).__name__)\n"
        )
        outcome = ground.python(code, f"localhost:{port}")
        [(place, _, _)] = denied(outcome)
        assert place == f"inside.example:{port}"
        [reach] = [each for each in outcome.reached.places if each.is_allowed]
        assert reach.sent == 0
