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
from typing import TYPE_CHECKING, Final

from consentry.enforce.egress import socksheads
from consentry.enforce.egress.chunks import body_parts
from consentry.enforce.egress.dialling import Dialler, Line, NotReached
from consentry.enforce.egress.greeting import NotYet, Unreadable, server_name
from consentry.enforce.egress.heads import MOST_HEAD, BadHead, CutShort, Request, read_request
from consentry.enforce.egress.masking import Masking
from consentry.enforce.egress.ports import PROXY_PORT
from consentry.enforce.egress.relay import Opening, relay
from consentry.enforce.egress.secrets import MIRRORS
from consentry.surface.carriedaddresses import Address

if TYPE_CHECKING:
    from consentry.enforce.egress.securedlines import Secured

VIA_HTTP, VIA_SOCKS, VIA_ADDRESS, VIA_TLS = "http", "socks5", "transparent", "http, then TLS"
THE_PROXY: Final = "the proxy"
"""Stands for the host where it cannot be said whom a message was for."""

_END: Final = b"\r\n\r\n"

_HEAD_SECONDS: Final = 30.0
_PART: Final = 1 << 16


class Conversation:
    """Answers one program; `meant` tells what an address inside stands for."""

    def __init__(
        self,
        program: socket.socket,
        dialler: Dialler,
        meant: Callable[[Address, int], str],
        secured: "Callable[[str, int], Secured | None]" = lambda *_: None,
    ) -> None:
        self._program = program
        self._dialler = dialler
        self._meant = meant
        self._secured = secured
        self._ahead = bytearray()
        self._until = 0.0
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
                    # The connection itself: TLS would be laid aside first, while the other thread reads.
                    socket.socket.shutdown(each, socket.SHUT_RDWR)

    def hold(self) -> None:
        """Until it is over; what is wrong with it is the program's to hear."""
        self._until = time.monotonic() + _HEAD_SECONDS
        host, port = self._program.getsockname()[:2]
        try:
            if port != PROXY_PORT:
                self._transparent(self._meant(plain_address(host), port), port)
            elif self._peek() == socksheads.VERSION:
                self._socks()
            else:
                self._http()
        except CutShort:
            return
        except BadHead as problem:
            self._dialler.refuse_words(THE_PROXY, port, VIA_HTTP, str(problem))
            self._say(_refusal("400 Bad Request", str(problem)))
        except (OSError, NotReached):
            return  # one of the two is gone, or was refused in the middle
        finally:
            self._said_all.set()
            self._program.close()

    def _transparent(self, host: str, port: int) -> None:
        try:
            line = self._dialler.dial(host, port, VIA_ADDRESS, program=self._program)
        except NotReached:
            self._reset()
            return
        self._pass(line)

    def _reset(self) -> None:
        """Not an end: whoever waits for an answer hears that there is none."""
        self._program.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def _socks(self) -> None:
        self._exactly(1)
        socksheads.greet(self._exactly, self._program.sendall)
        command, host, port = socksheads.read_wish(self._exactly)
        if not socksheads.is_connect(command):
            self._dialler.refuse_words(host, port, VIA_SOCKS, "the proxy makes connections alone")
            self._say(socksheads.reply(socksheads.NOT_DONE))
            return
        try:
            line = self._dialler.dial(host, port, VIA_SOCKS, program=self._program)
        except NotReached as problem:
            is_refused = problem.is_refused
            code = socksheads.NOT_ALLOWED if is_refused else socksheads.UNREACHABLE
            self._say(socksheads.reply(code))
            return
        self._program.sendall(socksheads.reply(socksheads.DONE))
        self._pass(line)

    def _http(self) -> None:
        head = self._head()
        request = read_request(head)
        secured = None
        if not request.is_tunnel:
            secured = self._secured(request.host, request.port)
        if secured is not None and request.method.upper() in MIRRORS:
            raise BadHead("this method would say a secret back")
        via = VIA_HTTP if secured is None else VIA_TLS
        try:
            line = self._dialler.dial(request.host, request.port, via, secured, self._program)
        except NotReached as problem:
            status = "403 Forbidden" if problem.is_refused else "502 Bad Gateway"
            self._say(_refusal(status, f"{request.host}:{request.port}: {problem.why}"))
            return
        if request.is_tunnel:
            self._program.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            self._pass(line)
        elif secured is None:
            self._forward(line, request)
        else:
            with_secret = read_request(head, secured.fields)
            self._forward(line, with_secret, Masking(secured.masked), hidden=secured.hidden_bytes)

    def _pass(self, line: Line) -> None:
        """Bytes both ways; those that came too early first, and no other name than was dialled."""
        sent = received = 0
        self._host = line.connection
        opening = Opening(lambda said: self._may_begin(line, said), bytes(self._ahead))
        with line.connection as host:
            try:
                sent, received = relay(self._program, host, opening, self._said_all.set)
            except NotReached:
                self._reset()
                raise
            finally:
                self._dialler.count(line, sent, received)

    def _may_begin(self, line: Line, said: bytes) -> bool:
        try:
            self._dialler.require_name(line, server_name(said))
        except NotYet:
            return False
        except Unreadable:
            self._dialler.refuse_greeting(line)
            raise NotReached("a greeting that cannot be read", is_refused=True) from None
        return True

    def _forward(
        self, line: Line, request: Request, masking: Masking | None = None, hidden: int = 0
    ) -> None:
        """One request and its answer: what follows on this line is for nobody.

        What is added to the request is `hidden` from the count of its bytes.
        """
        sent = received = 0
        self._host = line.connection
        with line.connection as host:
            host.settimeout(None)
            self._program.settimeout(None)
            self._until = 0.0
            try:
                host.sendall(request.head)
                sent = len(request.head) - hidden
                if request.waits:
                    self._program.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                for part in body_parts(self._some, request):
                    host.sendall(part)
                    sent += len(part)
                while part := host.recv(_PART):
                    received += len(part)
                    self._program.sendall(part if masking is None else masking.masked(part))
                if masking is not None:
                    self._program.sendall(masking.rest())
            finally:
                self._dialler.count(line, sent, received)

    def _peek(self) -> int:
        self._fill()
        return self._ahead[0]

    def _fill(self) -> None:
        if self._until:
            # All of it together: one byte at a time does not last longer.
            self._program.settimeout(max(0.001, self._until - time.monotonic()))
        part = self._program.recv(_PART)
        if not part:
            raise CutShort("it ended before it had begun")
        self._ahead += part

    def _exactly(self, count: int) -> bytes:
        while len(self._ahead) < count:
            self._fill()
        return self._taken(count)

    def _some(self, most: int) -> bytes:
        """At most so many bytes of what follows, and at least one."""
        if not self._ahead:
            self._fill()
        return self._taken(most)

    def _taken(self, most: int) -> bytes:
        taken = bytes(self._ahead[:most])
        del self._ahead[:most]
        return taken

    def _head(self) -> bytes:
        looked = 0
        while (end := self._ahead.find(_END, looked)) < 0:
            if len(self._ahead) > MOST_HEAD:
                raise BadHead("the request is too long")
            looked = max(0, len(self._ahead) - len(_END) + 1)
            self._fill()
        return self._exactly(end + len(_END))

    def _say(self, words: bytes) -> None:
        try:
            self._program.sendall(words)
            self._program.shutdown(socket.SHUT_WR)
        except OSError:
            return


def plain_address(spelled: str) -> Address:
    """Without a zone; and an IPv4 address as such, however the socket spells it."""
    address = ip_address(spelled.partition("%")[0])
    mapped = None if isinstance(address, IPv4Address) else address.ipv4_mapped
    return mapped or address


def _refusal(status: str, why: str) -> bytes:
    body = f"consentry: {why}\n".encode("ascii", "backslashreplace")
    head = f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len(body)}\r\n"
    return f"{head}connection: close\r\n\r\n".encode() + body
