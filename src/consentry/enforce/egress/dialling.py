"""From what a program asked for to a connection: checked by name, resolved once, checked, dialled."""

import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.enforce.egress.addresses import Address
from consentry.enforce.egress.reached import Asked, Counted, Reached
from consentry.enforce.egress.rules import Rules, Verdict, address_in, read_target
from consentry.surface.targets import Target

if TYPE_CHECKING:
    from consentry.enforce.egress.securedlines import Secured

_CONNECT_SECONDS: Final = 15.0
_MOST_ADDRESSES: Final = 8


class NotReached(Exception):
    """Refused by a rule, or not reachable; `is_refused` tells which."""

    def __init__(self, why: str, *, is_refused: bool) -> None:
        super().__init__(why)
        self.why = why
        self.is_refused = is_refused


@dataclass(frozen=True, slots=True)
class Line:
    """A connection to a host, and where its bytes are counted."""

    connection: socket.socket
    entry: Counted
    asked: Target
    via: str


class Dialler:
    """Dials for one run."""

    def __init__(self, rules: Rules, reached: Reached) -> None:
        self._rules = rules
        self._reached = reached

    def dial(self, host: str, port: int, via: str, secured: "Secured | None" = None) -> Line:
        """Connects to it, and where it is `secured`, over TLS; raises `NotReached`. Noted either way."""
        try:
            asked = read_target(host, port)
        except BadInput:
            why = "not a name or address that can be read in one way only"
            self._note(host, port, via, Verdict(is_allowed=False, rule=None, why=why))
            raise NotReached(why, is_refused=True) from None
        verdict = self._rules.by_name(asked)
        if not verdict.is_allowed:
            self._refuse(asked, port, via, verdict)
        return self._connect(asked, port, via, secured)

    def may_name(self, name: str, ports: "tuple[int, ...]") -> bool:
        """Whether a name may be looked up: on one port or the other it was granted."""
        try:
            targets = [read_target(name, port) for port in ports]
        except BadInput:
            return False
        return any(self._rules.by_name(each).is_allowed for each in targets)

    def refuse_name(self, name: str) -> None:
        """Notes that a name was asked for that was not granted."""
        self._note(name, 0, "dns", Verdict(is_allowed=False, rule=None, why="not granted"))

    def refuse_words(self, host: str, port: int, via: str, why: str) -> None:
        """Notes what the proxy itself would not do, whatever host it was for; no grant allows it."""
        self._note(host, port, via, Verdict(is_allowed=False, rule=why, why=why))

    def require_name(self, line: Line, name: str | None) -> None:
        """Raises `NotReached`, noted, for a name inside TLS that is neither the one dialled nor granted."""
        asked = line.asked
        if name is None or asked.network is not None:
            return  # nothing to be compared
        try:
            wanted = read_target(name, asked.port or 0)
        except BadInput:
            wanted = None
        if wanted is not None and (wanted == asked or self._rules.by_name(wanted).is_allowed):
            return
        why = f"the name inside TLS is not {asked.host}"
        verdict = Verdict(is_allowed=False, rule=None, why=why)
        self._note(name, asked.port or 0, line.via, verdict)
        raise NotReached(why, is_refused=True)

    def refuse_greeting(self, line: Line) -> None:
        """Notes that TLS began in a way that could not be read."""
        why = "a greeting of TLS that cannot be read"
        rule = self._rules.by_name(line.asked).rule
        verdict = Verdict(is_allowed=False, rule=rule, why=why)
        self._note(line.asked.host, line.asked.port or 0, line.via, verdict)

    def _connect(
        self, asked: Target, port: int, via: str, secured: "Secured | None" = None
    ) -> Line:
        refused: Verdict | None = None
        problem = "the name is not known"
        for address in self._addresses(asked, port):
            verdict = self._rules.by_address(asked, address)
            if not verdict.is_allowed:
                refused = refused or verdict
                continue
            try:
                connection = socket.create_connection((str(address), port), _CONNECT_SECONDS)
                if secured is not None:
                    connection = secured.wrap(connection)
            except OSError as failure:
                problem = _why_not(failure)
                continue
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            added = None if secured is None else secured.headers
            entry = self._note(asked.host, port, via, verdict, str(address), added)
            return Line(connection, entry, asked, via)
        if refused is not None:
            self._refuse(asked, port, via, refused)
        granted = self._rules.by_name(asked)
        self._note(asked.host, port, via, Verdict(is_allowed=True, rule=granted.rule, why=problem))
        raise NotReached(problem, is_refused=False)

    def _addresses(self, asked: Target, port: int) -> list[Address]:
        literal = address_in(asked)
        if literal is not None:
            return [literal]
        try:
            found = socket.getaddrinfo(asked.host, port, type=socket.SOCK_STREAM)
        except OSError:
            return []
        named = [str(place[4][0]).partition("%")[0] for place in found]
        return [ip_address(each) for each in dict.fromkeys(named)][:_MOST_ADDRESSES]

    def _refuse(self, asked: Target, port: int, via: str, verdict: Verdict) -> None:
        self._note(asked.host, port, via, verdict)
        raise NotReached(verdict.why or "not granted", is_refused=True)

    def _note(
        self,
        host: str,
        port: int,
        via: str,
        verdict: Verdict,
        address: str | None = None,
        secret: str | None = None,
    ) -> Counted:
        asked = Asked(host, port, via, verdict.is_allowed, verdict.rule, verdict.why, secret)
        return self._reached.note(asked, address=address)

    def count(self, line: Line, sent: int, received: int) -> None:
        """What went over a line."""
        self._reached.count(line.entry, sent, received)


def _why_not(failure: OSError) -> str:
    """What stood in the way; of a certificate, what is wrong with it."""
    said = getattr(failure, "verify_message", None)
    return f"its certificate: {said}" if said else (failure.strerror or "no answer").lower()
