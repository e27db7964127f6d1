"""One connection of a program, from its first byte to its end.

To the proxy's own port a program speaks HTTP or SOCKS5, and says whom it wants. To any other port it
speaks as if to the host itself, and the address it connected to says whom it meant.
"""

import socket
import time
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv4Address, ip_address
from threading import Event
from typing import Final

from consentry.enforce.egress import socksheads
from consentry.enforce.egress.addresses import Address
from consentry.enforce.egress.chunks import body_parts
from consentry.enforce.egress.dialling import Dialler, Line, NotReached
from consentry.enforce.egress.heads import MOST_HEAD, BadHead, Request, read_request
from consentry.enforce.egress.ports import PROXY_PORT
from consentry.enforce.egress.relay import relay

VIA_HTTP, VIA_SOCKS, VIA_ADDRESS = "http", "socks5", "transparent"

_HEAD_SECONDS: Final = 30.0
_PART: Final = 1 << 16


class Conversation:
    """Answers one program; `meant` tells what an address inside stands for."""

    def __init__(
        self,
        program: socket.socket,
        dialler: Dialler,
        meant: Callable[[Address, int], str],
    ) -> None:
        self._program = program
        self._dialler = dialler
        self._meant = meant
        self._ahead = b""
        self._host: socket.socket | None = None
        self._said_all = Event()

    def hear_out(self, deadline: float) -> None:
        """What a program said before it ended still arrives, if that does not take too long."""
        self._said_all.wait(max(0.0, deadline - time.monotonic()))

    def hang_up(self) -> None:
        """Ends it from another thread, whoever is speaking."""
        for each in (self._program, self._host):
            if each is not None:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def hold(self) -> None:
        """Until it is over; what is wrong with it is the program's to hear."""
        self._program.settimeout(_HEAD_SECONDS)
        host, port = self._program.getsockname()[:2]
        try:
            if port != PROXY_PORT:
                self._transparent(self._meant(_address(host), port), port)
            elif self._peek() == socksheads.VERSION:
                self._socks()
            else:
                self._http()
        except BadHead as problem:
            self._say(_refusal("400 Bad Request", str(problem)))
        except OSError:
            return  # one of the two is gone
        finally:
            self._said_all.set()
            self._program.close()

    def _transparent(self, host: str, port: int) -> None:
        try:
            line = self._dialler.dial(host, port, VIA_ADDRESS)
        except NotReached:
            # A reset, and not an end: whoever waits for an answer hears that there is none.
            self._program.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            return
        self._pass(line)

    def _socks(self) -> None:
        self._exactly(1)
        socksheads.greet(self._exactly, self._program.sendall)
        command, host, port = socksheads.read_wish(self._exactly)
        if not socksheads.is_connect(command):
            self._say(socksheads.reply(socksheads.NOT_DONE))
            return
        try:
            line = self._dialler.dial(host, port, VIA_SOCKS)
        except NotReached as problem:
            is_refused = problem.is_refused
            code = socksheads.NOT_ALLOWED if is_refused else socksheads.UNREACHABLE
            self._say(socksheads.reply(code))
            return
        self._program.sendall(socksheads.reply(socksheads.DONE))
        self._pass(line)

    def _http(self) -> None:
        request = read_request(self._head())
        try:
            line = self._dialler.dial(request.host, request.port, VIA_HTTP)
        except NotReached as problem:
            status = "403 Forbidden" if problem.is_refused else "502 Bad Gateway"
            self._say(_refusal(status, f"{request.host}:{request.port}: {problem.why}"))
            return
        if request.is_tunnel:
            self._program.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._pass(line)
        else:
            self._forward(line, request)

    def _pass(self, line: Line) -> None:
        """Bytes both ways; those that came too early first."""
        sent = received = 0
        self._host = line.connection
        with line.connection as host:
            try:
                host.sendall(self._ahead)
                sent, received = relay(self._program, host, self._said_all.set)
            finally:
                self._dialler.count(line, sent + len(self._ahead), received)

    def _forward(self, line: Line, request: Request) -> None:
        """One request and its answer: what follows on this line is for nobody."""
        sent = received = 0
        self._host = line.connection
        with line.connection as host:
            host.settimeout(None)
            self._program.settimeout(None)
            try:
                host.sendall(request.head)
                sent = len(request.head)
                for part in body_parts(self._some, request):
                    host.sendall(part)
                    sent += len(part)
                while part := host.recv(_PART):
                    self._program.sendall(part)
                    received += len(part)
            finally:
                self._dialler.count(line, sent, received)

    def _peek(self) -> int:
        self._fill()
        return self._ahead[0]

    def _fill(self) -> None:
        part = self._program.recv(_PART)
        if not part:
            raise BadHead("it ended before it had begun")
        self._ahead += part

    def _exactly(self, count: int) -> bytes:
        while len(self._ahead) < count:
            self._fill()
        taken, self._ahead = self._ahead[:count], self._ahead[count:]
        return taken

    def _some(self, most: int) -> bytes:
        """At most so many bytes of what follows, and at least one."""
        if not self._ahead:
            self._fill()
        taken, self._ahead = self._ahead[:most], self._ahead[most:]
        return taken

    def _head(self) -> bytes:
        while (end := self._ahead.find(b"\r\n\r\n")) < 0:
            if len(self._ahead) > MOST_HEAD:
                raise BadHead("the request is too long")
            self._fill()
        return self._exactly(end + 4)

    def _say(self, words: bytes) -> None:
        try:
            self._program.sendall(words)
            self._program.shutdown(socket.SHUT_WR)
        except OSError:
            return


def _address(spelled: str) -> Address:
    """Without a zone; and an IPv4 address as such, however the socket spells it."""
    address = ip_address(spelled.partition("%")[0])
    mapped = None if isinstance(address, IPv4Address) else address.ipv4_mapped
    return mapped or address


def _refusal(status: str, why: str) -> bytes:
    body = f"consentry: {why}\n".encode("ascii", "backslashreplace")
    head = f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len(body)}\r\n"
    return f"{head}connection: close\r\n\r\n".encode() + body
