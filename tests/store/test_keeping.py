"""What all keepers promise: one winner among many, and never a row without its event."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from consentry.base.errors import LedgerProblem
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Outcome
from consentry.record.chain import ChainFault
from consentry.store.database import Dialect
from consentry.store.ledger import Ledger
from consentry.store.steps import Step
from tests.decide.samples import (
    APPROVER,
    LEADER,
    MINUTE,
    OTHER_MACHINE,
    OWNER,
    answer,
    grant_terms,
    order,
    question,
    terms,
)
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.keepers import Keepers, all_rows, events, types

THREADS = 8
PROCESSES = 3
TABLES = ("approval_request", "consent", "capability_grant", "permit", "session", "machine")


def a_request(keepers: Keepers) -> str:
    """A question that waits."""
    return keepers.requests.ask(question(session_id=None), MINUTE).request_id


def a_consent(keepers: Keepers) -> str:
    """A consent for once."""
    return keepers.consents.give(terms(Lasts.ONCE)).consent_id


def a_permit(keepers: Keepers) -> str:
    """A permit for a start."""
    keepers.consents.give(terms())
    decision = events(keepers.ledger)[-1]["eventId"]
    return keepers.permits.make(order(decision_event_id=decision)).permit_id


WAYS: dict[str, tuple[Callable[[Keepers], str], str, str]] = {
    "answer": (a_request, "request-settled", "approval.answered"),
    "use": (a_consent, "consent-closed", "consent.used"),
    "spend": (a_permit, "permit-refused", "permit.spent"),
}
EVERY_WAY = pytest.mark.parametrize("way", list(WAYS))


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on the real clock."""
    return Keepers(ledger)


def at_once(*tries: Callable[[], str]) -> Counter[str]:
    """How often each outcome was seen when all try at once."""
    with ThreadPoolExecutor(len(tries)) as pool:
        return Counter(pool.map(lambda each: each(), tries))


@EVERY_WAY
def test_of_eight_threads_one_wins(keepers: Keepers, way: str) -> None:
    """They share a commit or not; one event is recorded, and the others are told."""
    make, refusal, event = WAYS[way]
    for number in range(1, 6):
        thing = make(keepers)
        outcomes = at_once(*[lambda thing=thing: keepers.tried(way, thing)] * THREADS)
        assert outcomes == {"won": 1, refusal: THREADS - 1}
        assert types(keepers.ledger).count(event) == number


@EVERY_WAY
def test_of_three_processes_one_wins(keepers: Keepers, store: Store, way: str) -> None:
    """Each with a connection of its own, and with a chain of its own where machines share a store."""
    make, refusal, event = WAYS[way]
    things = [make(keepers) for _ in range(20)]
    is_shared = store.dialect is Dialect.POSTGRESQL
    writers = [WRITER, OTHER_MACHINE, "machine-" + "3" * 32] if is_shared else [WRITER] * PROCESSES
    with_processes = [opened(store, way, writer) for writer in writers]
    for child in with_processes:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    lines = "".join(f"{thing}\n" for thing in things)
    with ThreadPoolExecutor(PROCESSES) as pool:
        said = list(pool.map(lambda child: child.communicate(lines)[0].split(), with_processes))
    assert [child.returncode for child in with_processes] == [0] * PROCESSES
    for outcomes in zip(*said, strict=True):
        assert Counter(outcomes) == {"won": 1, refusal: PROCESSES - 1}
    assert types(keepers.ledger).count(event) == len(things)
    assert not isinstance(keepers.ledger.history.verify(), ChainFault)


def opened(store: Store, way: str, writer: str) -> "subprocess.Popen[str]":
    """A process that tries that way."""
    program = [sys.executable, "-m", "tests.store.keepers", str(store.url_or_path), way, writer]
    return subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_yes_and_a_no_at_once_leave_one_of_them(keepers: Keepers) -> None:
    """And the row says what the event says."""
    for _ in range(10):
        asked = a_request(keepers)
        tries = [
            lambda outcome=outcome, asked=asked: (
                keepers.requests.answer(asked, answer(outcome, APPROVER, role=Role.APPROVER)).status
            )
            for outcome in (Outcome.APPROVED, Outcome.DENIED)
        ]
        with ThreadPoolExecutor(2) as pool:
            won = [each.result() for each in map(pool.submit, tries) if not each.exception()]
        found = keepers.requests.find(asked)
        assert found is not None
        assert won == [found.status]
        last = [e for e in events(keepers.ledger) if e["type"] == "approval.answered"][-1]
        assert (last["payload"]["requestId"], last["payload"]["decision"]) == (asked, won[0])


def test_threads_that_come_to_one_terminal_share_its_session(keepers: Keepers) -> None:
    """And those that register one machine or give one grant agree on it."""
    sessions = at_once(*[lambda: keepers.sessions.for_leader(OWNER, LEADER).session_id] * THREADS)
    grants = at_once(*[lambda: keepers.grants.give(grant_terms()).grant_id] * THREADS)
    machines = at_once(*[lambda: str(keepers.machines.register("host"))] * THREADS)
    assert (len(sessions), len(grants), len(machines)) == (1, 1, 1)
    assert Counter(types(keepers.ledger)) == {
        "session.started": 1,
        "grant.given": 1,
        "machine.registered": 1,
    }


def test_many_who_sweep_at_once_expire_each_request_once(keepers: Keepers) -> None:
    """Whoever comes second to one of them leaves it."""
    asked = [keepers.requests.ask(question(), MINUTE).request_id for _ in range(12)]
    with keepers.ledger.database.writing() as transaction:
        past = "2020-01-01T00:00:00.000Z"
        transaction.run("UPDATE approval_request SET requested_at = ?, deadline = ?", (past, past))
    done = at_once(
        *[
            lambda: ",".join(r.request_id for r in keepers.requests.expire_overdue())
            for _ in range(4)
        ]
    )
    swept = [each for batch in done.elements() for each in batch.split(",") if each]
    assert sorted(swept) == sorted(asked)
    assert types(keepers.ledger).count("approval.expired") == len(asked)


class Stroke(Exception):
    """The end of the program, at a chosen step."""


def changes(keepers: Keepers) -> Iterator[Callable[[], object]]:
    """Every kind of change, each ready to be made once."""
    request, consent, permit = a_request(keepers), a_consent(keepers), a_permit(keepers)
    to_revoke = keepers.consents.give(terms()).consent_id
    to_supersede = a_request(keepers)
    grant = keepers.grants.give(grant_terms()).grant_id
    session = keepers.sessions.for_leader(OWNER, LEADER).session_id
    yield lambda: a_request(keepers)
    yield lambda: keepers.requests.answer(request, answer())
    yield lambda: keepers.requests.supersede(to_supersede)
    yield lambda: keepers.consents.give(terms())
    yield lambda: keepers.consents.use(consent)
    yield lambda: keepers.consents.revoke(to_revoke, OWNER)
    yield lambda: keepers.grants.give(grant_terms(module_version="9"))
    yield lambda: keepers.grants.revoke(grant, OWNER)
    yield lambda: a_permit(keepers)
    yield lambda: keepers.permits.spend(permit, "run")
    yield lambda: keepers.sessions.end(session)
    yield lambda: keepers.machines.register("host")


@pytest.mark.parametrize("step", [s for s in Step if s not in (Step.COMMITTED, Step.SYNCED)])
def test_a_change_that_fails_leaves_neither_row_nor_event(store: Store, step: Step) -> None:
    """At every step before the commit, for every kind of change; afterwards it can be made."""
    armed: set[Step] = set()

    def strike(reached: Step) -> None:
        if reached in armed:
            raise Stroke

    keepers = Keepers(Ledger(store.open(), WRITER, strike))
    for change in list(changes(keepers)):
        before, recorded = all_rows(keepers.ledger.database, *TABLES), len(types(keepers.ledger))
        armed.add(step)
        with pytest.raises(Stroke):
            change()
        armed.clear()
        assert (all_rows(keepers.ledger.database, *TABLES), len(types(keepers.ledger))) == (
            before,
            recorded,
        )
        change()
        assert all_rows(keepers.ledger.database, *TABLES) != before
        assert len(types(keepers.ledger)) > recorded


def test_an_event_that_is_refused_takes_its_row_along(keepers: Keepers) -> None:
    """An id that was recorded before, as a fault of a program would have it."""
    a_request(keepers)
    used = events(keepers.ledger)[-1]["eventId"]

    class Repeating:
        def new(self, prefix: str) -> str:
            return used if prefix == "event" else keepers.ids.new(prefix)

    keepers.consents = type(keepers.consents)(
        keepers.ledger, Repeating(), keepers.clock, keepers.context
    )
    before = all_rows(keepers.ledger.database, *TABLES)
    with pytest.raises(LedgerProblem) as caught:
        keepers.consents.give(terms())
    assert caught.value.code == "event-twice"
    assert all_rows(keepers.ledger.database, *TABLES) == before
