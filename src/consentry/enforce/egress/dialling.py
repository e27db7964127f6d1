"""From what a program asked for to a connection: checked by name, resolved once, checked, dialled.

Where the run holds what is refused, a place that was not granted waits for a person's answer between
the first check and the rest; nothing of it is looked up or dialled before. Where such a name leads into a
private network, its address there is a question of its own.
"""

import socket
from ipaddress import ip_address
from threading import Lock
from typing import TYPE_CHECKING, Final

from consentry.base.errors import BadInput
from consentry.base.values import dataclass, replace
from consentry.enforce.egress.reached import Asked, Counted, Reached
from consentry.enforce.egress.rules import (
    Rules,
    Verdict,
    address_in,
    address_target,
    read_target,
)
from consentry.enforce.held import HeldAnswer
from consentry.surface.carriedaddresses import Address
from consentry.surface.targets import Target

if TYPE_CHECKING:
    from consentry.enforce.egress.heldlines import HeldLines
    from consentry.enforce.egress.securedlines import Secured

_CONNECT_SECONDS: Final = 15.0
_MOST_ADDRESSES: Final = 8
_ANSWERS: Final = {
    HeldAnswer.REFUSED: "refused when it was asked for",
    HeldAnswer.EXPIRED: "asked for, and not answered in time",
    HeldAnswer.GONE: "given up before it was answered",
}


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

    def __init__(self, rules: Rules, reached: Reached, held: "HeldLines | None" = None) -> None:
        """`held` is where a person is asked for what was not granted; without it nobody is."""
        self._rules = rules
        self._reached = reached
        self._held = held
        self._one_at_a_time = Lock()

    def dial(
        self,
        host: str,
        port: int,
        via: str,
        secured: "Secured | None" = None,
        program: socket.socket | None = None,
    ) -> Line:
        """Connects to it, and where it is `secured`, over TLS; raises `NotReached`. Noted either way.

        The connection of the `program` is what is kept waiting where a person is asked.
        """
        try:
            asked = read_target(host, port)
        except BadInput:
            why = "not a name or address that can be read in one way only"
            self._note(host, port, via, Verdict(is_allowed=False, rule=None, why=why))
            raise NotReached(why, is_refused=True) from None
        verdict = self._rules.by_name(asked)
        if not verdict.is_allowed:
            self._require_answer(asked, port, via, verdict, program)
        return self._connect(asked, port, via, secured, program)

    def _require_answer(
        self, asked: Target, port: int, via: str, verdict: Verdict, program: socket.socket | None
    ) -> None:
        """Waits for a yes to exactly this place, where a person can be asked; else refuses it."""
        answer = self._answer_for(asked, program)
        if answer is not HeldAnswer.GRANTED:
            why = verdict.why if answer is None else _ANSWERS.get(answer, verdict.why)
            self._refuse(asked, port, via, replace(verdict, why=why))

    def _answer_for(self, asked: Target, program: socket.socket | None) -> HeldAnswer | None:
        """What a person says to this place, which a yes opens; None where nobody is asked."""
        answer: HeldAnswer | None = None
        if self._held is not None and program is not None and self._rules.may_be_asked_about(asked):
            answer = self._held.answer_for(str(asked), program)
        if answer is HeldAnswer.GRANTED:
            with self._one_at_a_time:
                self._rules = self._rules.with_opened(asked)
        return answer

    def may_name(self, name: str, ports: "tuple[int, ...]") -> bool:
        """Whether a name may be looked up: on one port or the other it was granted, or can be."""
        try:
            targets = [read_target(name, port) for port in ports]
        except BadInput:
            return False
        rules, is_asked = self._rules, self._held is not None
        return any(
            rules.by_name(each).is_allowed or (is_asked and rules.may_be_asked_about(each))
            for each in targets
        )

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
        self,
        asked: Target,
        port: int,
        via: str,
        secured: "Secured | None",
        program: socket.socket | None,
    ) -> Line:
        refused: Verdict | None = None
        problem = "the name is not known"
        for address in self._addresses(asked, port):
            verdict = self._verdict(asked, address, program)
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

    def _verdict(self, asked: Target, address: Address, program: socket.socket | None) -> Verdict:
        """On the address; where the name was opened by an answer, a person may be asked for it, too."""
        verdict = self._rules.by_address(asked, address)
        if not verdict.is_allowed and self._rules.by_name(asked).is_held:
            self._answer_for(address_target(address, asked), program)
            verdict = self._rules.by_address(asked, address)
        return verdict

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
        asked = Asked(
            host,
            port,
            via,
            verdict.is_allowed,
            verdict.rule,
            verdict.why,
            secret,
            verdict.is_held,
        )
        return self._reached.note(asked, address=address)

    def count(self, line: Line, sent: int, received: int) -> None:
        """What went over a line."""
        self._reached.count(line.entry, sent, received)


def _why_not(failure: OSError) -> str:
    """What stood in the way; of a certificate, what is wrong with it."""
    said = getattr(failure, "verify_message", None)
    return f"its certificate: {said}" if said else (failure.strerror or "no answer").lower()
