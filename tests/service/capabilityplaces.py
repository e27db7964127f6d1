"""A workspace with a ledger in which capabilities are saved and run, and people who answer."""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.decide.capabilities import Capability, Inferred, Language, digest_of_code
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.identity import Identity, Role
from consentry.decide.permissionaudit import PermissionAuditLogEntry
from consentry.decide.question import Answer, Channel, Outcome
from consentry.enforce.native.streamends import Io
from consentry.service.approvals import Desk
from consentry.service.audit import whole_event
from consentry.service.capabilityruns import (
    Attempt,
    CapabilityDesk,
    CapabilityRun,
    CapabilityWish,
    CodeInSet,
    CodePlace,
    TaskWish,
    run_in_set,
)
from consentry.service.rundecision import InSet, by_permission_set
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import OWNER
from tests.service.desks import Said

PYTHON, TYPESCRIPT, JAVASCRIPT = Language.PYTHON, Language.TYPESCRIPT, Language.JAVASCRIPT
YES = Answer(Outcome.APPROVED, OWNER, Role.OWNER, Channel.TERMINAL, reason="it may")
NO = Answer(Outcome.DENIED, OWNER, Role.OWNER, Channel.TERMINAL, reason="not today")


@contextmanager
def kept(_: str) -> Iterator[Io]:
    """Streams that are kept."""
    yield Io(keeps=True)


@dataclass
class Workplace:
    """Where the tests save and run; every question is in `asked`."""

    around: Surroundings
    project: Path
    journal: Journal
    asked: list[Said] = field(default_factory=list)

    def save(
        self,
        code: str,
        language: Language = PYTHON,
        in_set: PermissionSet | None = PermissionSet.MINIMAL,
        name: str = "it",
        confidence: float = 0.95,
    ) -> Capability:
        """A capability that is taken to need that set; None takes what is inferred.

        `trusted` is given by hand, as it must be.
        """
        with CapabilityDesk(self.journal, self.around) as desk:
            if in_set is None or in_set is PermissionSet.TRUSTED:
                return desk.save(name, code, language, set_by_hand=in_set)
            by = Identity(self.journal.context.actor)
            inferred = Inferred(PermissionSet(in_set), confidence, ())
            return desk.store.save(name, Language(language), code, inferred, by=by)

    def run(self, answer: Answer | None = None, name: str = "it", **wish: Any) -> CapabilityRun:
        """One execution, with somebody who answers so."""
        asker = Said(answer)
        self.asked.append(asker)
        with CapabilityDesk(self.journal, self.around, asker=asker) as desk:
            return desk.run(CapabilityWish(name, **wish), kept)

    def task(self, answer: Answer | None, code: CodeInSet, **wish: Any) -> CapabilityRun:
        """The same for the code of a task."""
        asker = Said(answer)
        self.asked.append(asker)
        with CapabilityDesk(self.journal, self.around, asker=asker) as desk:
            return desk.run_task(TaskWish(task_id="task-1", code=code, **wish), kept)

    def attempt(
        self,
        code: str,
        language: Language = PYTHON,
        in_set: PermissionSet = PermissionSet.MINIMAL,
        **wish: Any,
    ) -> Attempt:
        """One attempt, with nobody to ask."""
        wanted = CodeInSet(code=code, language=language, name="it", permission_set=in_set, **wish)
        return self.attempt_of(wanted)

    def attempt_of(self, wanted: CodeInSet) -> Attempt:
        """One attempt of exactly that."""
        said = InSet(
            capability_id="capability-of-a-test",
            name=wanted.name,
            code_hash=digest_of_code(wanted.code),
            permission_set=wanted.permission_set,
            execution_id="execution-of-a-test",
        )
        decision = by_permission_set("capability:capability-of-a-test", said)
        with CodePlace(self.journal, self.around) as place:
            return run_in_set(place, wanted, decision, kept)

    def was_asked(self) -> list[list[str]]:
        """The prompts that people saw, line by line."""
        seen = [request for asker in self.asked for request in asker.seen]
        return [list(EscalationAsk.of(each).lines()) for each in seen]

    def decisions(self) -> list[PermissionAuditLogEntry]:
        """What the log of decisions has, oldest first."""
        with CapabilityDesk(self.journal, self.around) as desk:
            return list(desk.audit.get_audit_log())

    def stored(self, name: str = "it") -> Capability:
        """The capability as it is now."""
        with CapabilityDesk(self.journal, self.around) as desk:
            return desk.found(name)

    def events(self, *types: str) -> list[dict[str, Any]]:
        """Of these types, in their order; of all without any."""
        rows = [dict(whole_event(row)) for row in self.journal.ledger.history.events()]
        return [each for each in rows if not types or each["type"] in types]

    @property
    def desk(self) -> Desk:
        """Where its questions are."""
        return Desk(self.journal)


@contextmanager
def workplace(around: Surroundings, project: Path) -> Iterator[Workplace]:
    """The place, with something to read in it."""
    (project / "data").mkdir(exist_ok=True)
    (project / "data/x.txt").write_text("in data")
    (project / "beside.txt").write_text("beside")
    clock = SystemClock()
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield Workplace(around, project, journal)


@dataclass
class Server:
    """A real HTTP server on the loopback, and what was asked of it."""

    port: int
    paths: list[str]

    @property
    def place(self) -> str:
        """As an allowlist names it."""
        return f"127.0.0.1:{self.port}"


@contextmanager
def served() -> Iterator[Server]:
    """Answers `pong` to everything while the test goes on."""
    paths: list[str] = []

    class Pong(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "4")
            self.end_headers()
            self.wfile.write(b"pong")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Pong) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield Server(server.server_address[1], paths)
        finally:
            server.shutdown()
            thread.join()


def fetching(server: Server, path: str = "/x") -> str:
    """TypeScript that asks the server."""
    return (
        f'const answer: Response = await fetch("http://{server.place}{path}");\n'
        "return await answer.text();"
    )


def listing(folder: Path) -> Mapping[str, str]:
    """Every file below a folder, with what is in it."""
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            found[str(path.relative_to(folder))] = path.read_text() if path.exists() else ""
    return found
