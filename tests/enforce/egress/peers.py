"""Real peers on this machine's loopback, and a proxy that runs in the test's own process."""

import http.server
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from consentry.enforce.egress.heldquestions import HeldQuestions
from consentry.enforce.egress.owner import ServedBox, told_rules
from consentry.enforce.egress.report import READY
from consentry.enforce.egress.rules import Rules, Verdict
from consentry.enforce.egress.secrets import Secret
from consentry.enforce.egress.server import ServedRun
from consentry.enforce.held import HeldDesk
from consentry.surface.access import Access
from consentry.surface.carriedaddresses import Address
from consentry.surface.hosts import HostScope
from consentry.surface.modes import AnyHost
from consentry.surface.targets import Target


class _Peer(http.server.BaseHTTPRequestHandler):
    """Says the path back, and keeps what it was sent."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """A file, or the path; or all that it was sent, or a way elsewhere."""
        files: Mapping[str, bytes] = self.server.files  # type: ignore[attr-defined]
        if files:
            self._give(files.get(self.path.partition("?")[0]))
        elif self.path.startswith("/echo"):
            self._say(self.headers.as_bytes())
        elif self.path.startswith("/elsewhere"):
            self._note()
            self.send_response(302)
            self.send_header("location", self.path.partition("?")[2])
            self.send_header("content-length", "0")
            self.end_headers()
        else:
            self._say(self.path.encode())

    def _give(self, content: bytes | None) -> None:
        if content is None:
            self._note()
            self.send_error(404)
        else:
            self._say(content)

    def do_TRACE(self) -> None:
        """What it was sent."""
        self._say(self.headers.as_bytes())

    def do_POST(self) -> None:
        """The body."""
        self._say(self.rfile.read(int(self.headers.get("content-length", 0))))

    def _note(self) -> None:
        self.server.seen.append((self.command, self.path, dict(self.headers)))  # type: ignore[attr-defined]

    def _say(self, body: bytes) -> None:
        self._note()
        self.send_response(200)
        if self.path.endswith("/"):
            self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes], *, is_ipv6: bool) -> None:
        self.address_family = socket.AF_INET6 if is_ipv6 else socket.AF_INET
        super().__init__(("::1" if is_ipv6 else "127.0.0.1", 0), _Peer)
        self.files = files
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self.connections = 0

    def get_request(self) -> tuple[socket.socket, object]:
        """Counts those who come."""
        found = super().get_request()
        self.connections += 1
        return found

    def handle_error(self, request: object, client_address: object) -> None:
        """A peer that hangs up is no error of the test's."""


@contextmanager
def http_peer(
    certificate: Path | None = None,
    files: Mapping[str, bytes] | None = None,
    *,
    is_ipv6: bool = False,
) -> Iterator[_Server]:
    """A web server; with a certificate, one that speaks TLS. With `files`, those are all it has."""
    server = _Server(files or {}, is_ipv6=is_ipv6)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def make_certificate(file: Path, name: str) -> Path:
    """A key and a certificate of its own for a name, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(named)
        .issuer_name(named)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + certificate.public_bytes(pem))
    return file


class ProxyHere:
    """Serves boxes in this process, so that a test decides what names lead to.

    No name server could be started here that the machine's own resolver would ask.
    """

    is_gone = False

    def __init__(self, change: Callable[[ServedRun], None] = lambda _: None) -> None:
        """`change` takes a control away."""
        self._change = change

    def serve(
        self,
        access: Access[HostScope],
        sockets: Sequence[int],
        secrets: Sequence[Secret] = (),
        desk: HeldDesk | None = None,
        any_host: AnyHost = AnyHost.PUBLIC,
    ) -> ServedBox:
        """As the process does."""
        mine, its = socket.socketpair()
        questions = None if desk is None else HeldQuestions(desk)
        asked_by = () if questions is None else (questions.its.detach(),)
        told = told_rules(access, secrets, any_host, holds=questions is not None)
        run = ServedRun(told, [its.detach(), *asked_by, *sockets])
        self._change(run)
        Thread(target=run.serve, daemon=True).start()
        if mine.recv(len(READY)) != READY:
            raise RuntimeError("it does not serve")
        return ServedBox(mine, questions)

    def close(self) -> None:
        """Its threads end with their runs."""


class AnyWay(Rules):
    """Rules that allow whatever is asked for, for the tests that must be able to fail."""

    def by_name(self, _: Target) -> Verdict:
        """Allowed."""
        return Verdict(is_allowed=True, rule="no rule at all")

    def by_address(self, asked: Target, _: Address) -> Verdict:
        """Allowed as well."""
        return self.by_name(asked)
