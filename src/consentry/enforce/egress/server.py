"""The process that dials for boxes: it has the sockets that they made inside, and their rules.

One for each owner, started when the first run with network begins, and gone with its owner. Nothing of
ours runs inside a box for this: the sockets were made there and passed out. A run is told over a socket
of its own; when the owner has no more to say there, the record of the run is the answer.
"""

import marshal
import os
import resource
import select
import socket
import time
from contextlib import suppress
from threading import Lock, Thread, current_thread
from typing import TYPE_CHECKING, Any, Final

from consentry.base.errors import BadInput
from consentry.enforce.egress.conversation import (
    THE_PROXY,
    VIA_ADDRESS,
    Conversation,
    plain_address,
)
from consentry.enforce.egress.dialling import Dialler
from consentry.enforce.egress.heldlines import HeldLines
from consentry.enforce.egress.names import NameTable
from consentry.enforce.egress.ports import PROXY_PORT
from consentry.enforce.egress.questions import (
    NO_ERROR,
    NO_SUCH_NAME,
    NOT_DONE,
    TYPE_A,
    TYPE_AAAA,
    Question,
    answer,
    read_question,
)
from consentry.enforce.egress.reached import Asked, Reached
from consentry.enforce.egress.report import MOST_FILES, READY
from consentry.enforce.egress.rules import LOCALHOST, Rules
from consentry.enforce.egress.secrets import Secret
from consentry.surface.access import Access
from consentry.surface.carriedaddresses import Address
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.modes import AnyHost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consentry.enforce.egress.securedlines import Secrets, Secured

_MOST_AT_ONCE: Final = 128
_MOST_QUESTION: Final = 4096
_LINGER_SECONDS: Final = 2.0
_PAUSE_SECONDS: Final = 0.01
_PARTING_SECONDS: Final = 0.5


class Server:
    """Takes runs from its owner until that is gone."""

    def __init__(self, control: int) -> None:
        self._control = socket.socket(fileno=control)
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def live(self) -> None:
        """Never longer than the owner."""
        while True:
            said, files, _, _ = socket.recv_fds(self._control, 1, MOST_FILES)
            if not said:
                os._exit(0)
            with os.fdopen(files[0], "rb") as rules:
                rules.seek(0)
                told = marshal.load(rules)  # noqa: S302 - from our own owner
            run = ServedRun(told, files[1:])
            Thread(target=run.serve, daemon=True).start()


class ServedRun:
    """One run: where its programs connect to, and what they may reach."""

    def __init__(self, told: dict[str, Any], files: list[int]) -> None:
        """`files` are the owner's socket, the one by which it is asked if it is, and those of the box."""
        self._owner = socket.socket(fileno=files[0])
        self._held = HeldLines(socket.socket(fileno=files[1])) if told.get("holds") else None
        own = 1 if self._held is None else 2
        self._sockets = [socket.socket(fileno=each) for each in files[own:]]
        level = Level(told["level"])
        any_host = AnyHost(told.get("any_host", AnyHost.PUBLIC))
        self._rules = Rules(Access(level, HostScope.parse(told["targets"])), any_host=any_host)
        self._reached = Reached()
        self._dialler = Dialler(self._rules, self._reached, self._held)
        self._secrets = _secrets(told.get("secrets", ()))
        self._table = NameTable()
        self._open: dict[Thread, Conversation] = {}
        self._one_at_a_time = Lock()
        self._ports = tuple(
            sorted({each.getsockname()[1] for each in self._sockets if _is_listening(each)})
        )

    def serve(self) -> None:
        """Until the owner has no more to say; then tells what was reached."""
        waits = select.poll()
        by_number = {each.fileno(): each for each in self._sockets}
        for number in (*by_number, self._owner.fileno()):
            waits.register(number, select.POLLIN)
        for each in self._sockets:
            each.setblocking(False)  # noqa: FBT003 - as the method has it
        self._owner.sendall(READY)
        is_wanted = True
        while is_wanted:
            for number, _ in waits.poll():
                if number == self._owner.fileno():
                    is_wanted = False
                else:
                    self._hear(by_number[number])
        self._end()

    def _hear(self, source: socket.socket) -> None:
        try:
            if _is_listening(source):
                self._accept(source)
            else:
                self._answer(source)
        except BlockingIOError:
            return  # it thought better of it
        except OSError:
            # Short of descriptors: others give theirs back meanwhile.
            time.sleep(_PAUSE_SECONDS)

    def _accept(self, source: socket.socket) -> None:
        program, _ = source.accept()
        with self._one_at_a_time:
            is_full = len(self._open) >= _MOST_AT_ONCE
        if is_full:
            self._turn_away(program)
            return
        conversation = Conversation(program, self._dialler, self._meant, self._secured)
        thread = Thread(target=self._hold, args=(conversation,), daemon=True)
        with self._one_at_a_time:
            self._open[thread] = conversation
        thread.start()

    def _turn_away(self, program: socket.socket) -> None:
        """One too many; whom it wanted is known only where it connected to an address."""
        host, port = program.getsockname()[:2]
        program.close()
        meant = THE_PROXY if port == PROXY_PORT else self._meant(plain_address(host), port)
        rule = f"at most {_MOST_AT_ONCE} connections at once"
        self._reached.note(Asked(meant, port, VIA_ADDRESS, is_allowed=False, rule=rule, why=rule))

    def _accept_the_last(self, source: socket.socket) -> None:
        """Programs that connected, said something and ended before anybody looked."""
        with suppress(OSError):
            while True:
                self._accept(source)

    def _hold(self, conversation: Conversation) -> None:
        try:
            conversation.hold()
        except Exception:  # noqa: BLE001 - whatever it was, nothing passes; the record says it is not whole
            self._reached.miss()
        finally:
            with self._one_at_a_time:
                self._open.pop(current_thread(), None)

    def _meant(self, address: Address, port: int) -> str:
        """The name that an address stands for inside, or the address."""
        if address.is_loopback and self._dialler.may_name(LOCALHOST, (port,)):
            return LOCALHOST  # which the box's own table of hosts has
        return self._table.name_of(address) or str(address)

    def _secured(self, host: str, port: int) -> "Secured | None":
        return None if self._secrets is None else self._secrets.for_place(host, port)

    def _answer(self, source: socket.socket) -> None:
        """A question for a name."""
        message, sender = source.recvfrom(_MOST_QUESTION)
        question = read_question(message)
        if question is not None:
            source.sendto(self._looked_up(question), sender)

    def _looked_up(self, question: Question) -> bytes:
        ports = tuple(port for port in self._ports if port != PROXY_PORT)
        if not self._dialler.may_name(question.name, ports):
            self._dialler.refuse_name(question.name)
            return answer(question, NO_SUCH_NAME)
        try:
            ipv4, ipv6 = self._table.addresses_of(question.name.removesuffix("."))
        except BadInput:
            return answer(question, NOT_DONE)
        found = {TYPE_A: [ipv4.packed], TYPE_AAAA: [ipv6.packed]}.get(question.kind, [])
        return answer(question, NO_ERROR, *found)

    def _end(self) -> None:
        if self._held is not None:
            self._held.close()
        for each in self._sockets:
            if _is_listening(each):
                self._accept_the_last(each)
            each.close()
        with self._one_at_a_time:
            left = dict(self._open)
        deadline = time.monotonic() + _LINGER_SECONDS
        for conversation in left.values():
            conversation.hear_out(deadline)
        for conversation in left.values():
            conversation.hang_up()
        deadline = max(deadline, time.monotonic() + _PARTING_SECONDS)
        for thread in left:
            # One that is still dialling has nothing to tell any more.
            thread.join(max(0.0, deadline - time.monotonic()))
        entries, left_out = self._reached.told()
        with self._owner, suppress(OSError):
            self._owner.sendall(marshal.dumps((entries, left_out)))


def _is_listening(each: socket.socket) -> bool:
    return each.type == socket.SOCK_STREAM


def _secrets(told: "Sequence[dict[str, Any]]") -> "Secrets | None":
    if not told:
        return None
    from consentry.enforce.egress.securedlines import Secrets  # noqa: PLC0415 - few runs need TLS

    return Secrets(map(Secret.heard, told))
