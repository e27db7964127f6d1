"""Questions in the ledger of a command line, put there as a run would."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

from consentry.base.canonical import Digest
from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consent import Consent
from consentry.decide.consentask import ConsentAsk
from consentry.service.approvals import Desk
from consentry.service.consenting import consents_of
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import CommandLine
from tests.cli.terminals import at_terminal
from tests.decide.samples import ask

HOUR = Duration(3_600_000)


@contextmanager
def desk_of(line: CommandLine) -> Iterator[Desk]:
    """The desk of whoever types that command line, in a process of its own."""
    clock = SystemClock()
    around = Surroundings(line.environ, line.cwd, os.geteuid())
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield Desk(journal)


def put(
    line: CommandLine,
    what: ConsentAsk | None = None,
    within: Duration = HOUR,
    policy: Digest | None = None,
) -> str:
    """The id of a question that waits."""
    with desk_of(line) as desk:
        session = desk.journal.context.session_id
        question = (what or ask()).question(policy, session)
        return desk.requests.ask(question, within).request_id


def request_of(line: CommandLine, request_id: str) -> ApprovalRequest:
    """How it stands."""
    with desk_of(line) as desk:
        return desk.look(request_id)


def consents_given(line: CommandLine, tool: str = "build") -> list[Consent]:
    """The tool's consents, oldest first."""
    with desk_of(line) as desk:
        return list(consents_of(desk.journal).history(tool=tool))


def status_of(line: CommandLine, request_id: str) -> str:
    """How the request stands, in a word."""
    return request_of(line, request_id).status


def set_passphrase(line: CommandLine, words: str = "correct horse") -> None:
    """Sets it at a terminal, where it is not seen."""
    with at_terminal(line, "passphrase", "set") as terminal:
        terminal.answer("a new passphrase", words)
        terminal.answer("once more", words)
        assert terminal.ended() == 0, terminal.screen
    assert words not in terminal.screen
