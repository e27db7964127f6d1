"""A secret is added by the proxy, for one host over verified TLS, and reaches nobody else."""

import base64
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from consentry.enforce.egress import securedlines
from consentry.enforce.egress.heads import read_request
from consentry.enforce.egress.secrets import Secret, Source
from tests.enforce.egress.grounds import EVERYTHING_BY_PROXY, Ground
from tests.enforce.egress.peers import ProxyHere, http_peer, make_certificate

TOKEN = "s3cr3t-t0ken-of-the-tests"
VALUE = f"Bearer {TOKEN}"

ASK = """
import socket, sys
s = socket.create_connection(("127.0.0.1", 3128), 20)
s.sendall({0!r})
said = b""
while part := s.recv(65536): said += part
sys.stdout.buffer.write(said)
"""


@contextmanager
def _secured(folder: Path, name: str = "localhost") -> Iterator[tuple[Any, Secret]]:
    """A host that speaks TLS, and the secret for it, vouched for by its own certificate."""
    certificate = make_certificate(folder / f"{name}.pem", name)
    whole = certificate.read_text()
    vouchers = whole[whole.index("-----BEGIN CERTIFICATE-----") :]
    with http_peer(certificate) as peer:
        port = peer.server_port
        yield peer, Secret("localhost", port, "Authorization", Source.FILE, VALUE, vouchers)


def _asked(secret: Secret, rest: str = "", path: str = "/asked", method: str = "GET") -> str:
    place = f"localhost:{secret.port}"
    head = f"{method} http://{place}{path} HTTP/1.1\r\nHost: {place}\r\n{rest}\r\n"
    return ASK.format(head.encode())


def test_the_host_gets_the_secret_and_the_program_does_not(ground: Ground, tmp_path: Path) -> None:
    """The program speaks plainly, the host hears TLS; the record says that, and not the value."""
    with _secured(tmp_path) as (peer, secret):
        code = (
            "import os, urllib.request as u\n"
            f"print(u.urlopen('http://localhost:{secret.port}/asked', timeout=20).read().decode())\n"
            "print(open('/proc/self/environ').read(), open('/proc/self/cmdline').read())\n"
        )
        place = f"localhost:{secret.port}"
        outcome = ground.python(code, place, secrets=(secret,), env=EVERYTHING_BY_PROXY)
        [(_, path, fields)] = peer.seen
    assert (path, fields["authorization"], outcome.exit_code) == ("/asked", VALUE, 0)
    assert outcome.stdout.startswith(b"/asked\n")
    for said in (outcome.stdout, outcome.stderr, repr(outcome).encode(), repr(secret).encode()):
        assert TOKEN.encode() not in said
    [reach] = outcome.reached.places
    assert (reach.via, reach.secret, reach.rule) == ("http, then TLS", "authorization", place)


def test_without_a_secret_the_same_request_has_none(ground: Ground, tmp_path: Path) -> None:
    """And the host, which speaks TLS, cannot be asked plainly."""
    with _secured(tmp_path) as (peer, secret):
        ground.python(_asked(secret), f"localhost:{secret.port}")
        assert peer.seen == []


def _trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes the control away: any certificate will do."""
    real = ssl.create_default_context

    def blind(*_: Any, **__: Any) -> ssl.SSLContext:
        context = real()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context

    monkeypatch.setattr(securedlines.ssl, "create_default_context", blind)


@pytest.mark.parametrize("wrong", ["another name", "nobody vouches for it"])
@pytest.mark.parametrize("is_verified", [True, False])
def test_whoever_has_no_certificate_gets_no_secret(
    ground: Ground,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    wrong: str,
    is_verified: bool,  # noqa: FBT001 - of the table
) -> None:
    """Somebody else in the host's place; without the check, they would have it."""
    proxy = ProxyHere()
    monkeypatch.setattr(ground.engine._proxy, "started", lambda: proxy)
    if not is_verified:
        _trusting(monkeypatch)
    name = "other.example" if wrong == "another name" else "localhost"
    with _secured(tmp_path, name) as (peer, secret):
        vouchers = secret.vouchers
        if wrong != "another name":
            whole = make_certificate(tmp_path / "else.pem", "localhost").read_text()
            vouchers = whole[whole.index("-----BEGIN CERTIFICATE-----") :]
        given = Secret("localhost", secret.port, "Authorization", Source.FILE, VALUE, vouchers)
        outcome = ground.python(_asked(secret), f"localhost:{secret.port}", secrets=(given,))
        got = [fields.get("authorization") for _, _, fields in peer.seen]
    if is_verified:
        assert got == []
        assert b"502 Bad Gateway" in outcome.stdout
        assert b"its certificate: " in outcome.stdout
        assert "its certificate: " in (outcome.reached.places[0].why or "")
    else:
        assert got == [VALUE]


def test_only_that_host_and_that_port_get_it(ground: Ground, tmp_path: Path) -> None:
    """However the same place is spelled; another port or another name of it is another place."""
    with _secured(tmp_path) as (peer, secret), http_peer() as plain:
        places = [f"localhost:{secret.port}", f"127.0.0.1:{plain.server_port}"]
        places.append(f"localhost:{plain.server_port}")
        heads = "".join(
            f"urlopen('http://{place}/{number}')\n"
            for number, place in enumerate([*places, f"LOCALHOST:{secret.port}"])
        )
        code = f"from urllib.request import urlopen\n{heads}"
        outcome = ground.python(code, *places, secrets=(secret,), env=EVERYTHING_BY_PROXY)
        assert outcome.exit_code == 0, outcome.stderr
        assert [fields.get("authorization") for _, _, fields in peer.seen] == [VALUE] * 2
        assert ["authorization" in fields for _, _, fields in plain.seen] == [False] * 2


def test_what_the_program_sends_under_that_name_is_replaced(ground: Ground, tmp_path: Path) -> None:
    """Also in a spelling that servers take for the same, and when it asks for it to be dropped."""
    rest = "authorization: mine\r\nAUTHORIZATION: too\r\nConnection: authorization\r\n"
    with _secured(tmp_path) as (peer, secret):
        ground.python(_asked(secret, rest), f"localhost:{secret.port}", secrets=(secret,))
        odd = Secret("localhost", secret.port, "X-Api-Key", Source.FILE, VALUE, secret.vouchers)
        rest = "x_api_key: mine\r\n"
        ground.python(_asked(odd, rest), f"localhost:{odd.port}", secrets=(odd,))
        first, second = (fields for _, _, fields in peer.seen)
    assert first["authorization"] == VALUE
    assert second["x-api-key"] == VALUE
    assert not {"x_api_key", "AUTHORIZATION"} & {*first, *second}


@pytest.mark.parametrize("method", ["TRACE", "TRACK", "trace", "Track"])
def test_no_host_is_asked_to_say_it_back(ground: Ground, tmp_path: Path, method: str) -> None:
    """Such a request is refused before anything is dialled."""
    with _secured(tmp_path) as (peer, secret):
        place = f"localhost:{secret.port}"
        outcome = ground.python(_asked(secret, method=method), place, secrets=(secret,))
        assert outcome.stdout.startswith(b"HTTP/1.1 400 ")
        assert (peer.connections, TOKEN.encode() in outcome.stdout) == (0, False)


def test_a_host_that_says_it_back_is_masked(ground: Ground, tmp_path: Path) -> None:
    """Literally, that is: what it says in other words is its own doing, and passes."""
    with _secured(tmp_path) as (_, secret):
        place = f"localhost:{secret.port}"
        asked = _asked(secret, path="/echo")
        outcome = ground.python(asked, place, secrets=(secret,))
        assert b"authorization: " + b"*" * len(VALUE) in outcome.stdout
        assert TOKEN.encode() not in outcome.stdout
    encoded = base64.b64encode(TOKEN.encode())
    masking = securedlines.Secured((secret,)).masked
    assert not any(word in encoded for word in masking)


def test_a_way_elsewhere_is_not_followed(ground: Ground, tmp_path: Path) -> None:
    """The program is told of it, and goes there without the secret or not at all."""
    with _secured(tmp_path) as (peer, secret), http_peer() as other:
        away = f"http://localhost:{other.server_port}/taken"
        code = (
            "import urllib.request as u\n"
            f"print(u.urlopen('http://localhost:{secret.port}/elsewhere?{away}', timeout=20).read())\n"
        )
        net = [f"localhost:{each}" for each in (secret.port, other.server_port)]
        ground.python(code, *net, secrets=(secret,), env=EVERYTHING_BY_PROXY)
        assert [path for _, path, _ in peer.seen] == [f"/elsewhere?{away}"]
        [(_, path, fields)] = other.seen
    assert (path, "authorization" in {name.lower() for name in fields}) == ("/taken", False)


@pytest.mark.parametrize(
    "rest",
    [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 4\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "X: y\nAuthorization: z\r\n",
        " X: y\r\n",
        "Host: localhost:1\r\n",
    ],
)
def test_a_request_that_two_could_read_differently_gets_no_secret(
    ground: Ground, tmp_path: Path, rest: str
) -> None:
    """It is refused before the host is dialled."""
    with _secured(tmp_path) as (peer, secret):
        place = f"localhost:{secret.port}"
        outcome = ground.python(_asked(secret, rest), place, secrets=(secret,))
        assert outcome.stdout.startswith(b"HTTP/1.1 400 ")
        assert peer.connections == 0


def test_what_follows_a_request_is_for_nobody(ground: Ground, tmp_path: Path) -> None:
    """A second one on the same line would have the secret's connection; it is not sent on."""
    with _secured(tmp_path) as (peer, secret):
        place = f"localhost:{secret.port}"
        behind = f"GET http://{place}/second HTTP/1.1\r\nHost: {place}\r\n\r\n"
        rest = f"Content-Length: 4\r\n\r\nbody{behind}"
        head = f"POST http://{place}/first HTTP/1.1\r\nHost: {place}\r\n{rest}"
        outcome = ground.python(ASK.format(head.encode()), place, secrets=(secret,))
        assert outcome.stdout.endswith(b"body")
        assert [path for _, path, _ in peer.seen] == ["/first"]


def test_a_tunnel_has_no_secret(ground: Ground, tmp_path: Path) -> None:
    """What the program says inside its own TLS is its own."""
    with _secured(tmp_path) as (peer, secret):
        (ground.workspace / "ca.pem").write_text(secret.vouchers or "")
        code = (
            "import ssl, urllib.request as u\n"
            "c = ssl.create_default_context(cafile='ca.pem')\n"
            f"print(u.urlopen('https://localhost:{secret.port}/mine', context=c).read())\n"
        )
        place = f"localhost:{secret.port}"
        outcome = ground.python(code, place, secrets=(secret,), env=EVERYTHING_BY_PROXY)
        assert outcome.exit_code == 0, outcome.stderr
        [(_, path, fields)] = peer.seen
    assert (path, "authorization" in {name.lower() for name in fields}) == ("/mine", False)


def test_the_usual_port_of_tls_is_not_named_to_the_host() -> None:
    """Some hosts know only the name; on other ports they are told which."""
    extra = (("Authorization", VALUE),)
    for place, named in (
        ("API.example.:443", b"api.example"),
        ("api.example:443", b"api.example"),
        ("a.example:8443", b"a.example:8443"),
    ):
        head = f"GET http://{place}/x HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
        assert b"\r\nhost: " + named + b"\r\n" in read_request(head, extra).head
