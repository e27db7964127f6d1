"""What at most one may do, tried by threads and processes at the same moment (CONTRACTS §8).

Somebody else holds the row meanwhile, so that all have looked, and found it free, before the first
of them can change it: it is the change itself that lets one through, not the look before it.
"""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Barrier
from time import sleep

import pytest

from consentry.decide.lasting import Lasts
from consentry.store.ledger import Ledger
from tests.decide.samples import MINUTE, order, question, terms
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.keepers import Keepers, events

THREADS = 8
PROCESSES = 3
ROUNDS = 4
LONG_ENOUGH_TO_LOOK = 0.3


@dataclass(frozen=True, slots=True)
class Race:
    """One way, what its winner records, what the others are told, and how the row is held."""

    way: str
    event: str
    field: str
    refusal: str
    hold: str


RACES = (
    Race(
        "answer",
        "approval.answered",
        "requestId",
        "request-settled",
        "UPDATE approval_request SET status = status WHERE request_id = ?",
    ),
    Race(
        "spend",
        "permit.spent",
        "permitId",
        "permit-refused",
        "UPDATE permit SET subject = subject WHERE permit_id = ?",
    ),
    Race(
        "use",
        "consent.used",
        "consentId",
        "consent-closed",
        "UPDATE consent SET tool = tool WHERE consent_id = ?",
    ),
)


def made(keepers: Keepers, way: str) -> str:
    """The id of something that nobody has answered, spent or used."""
    if way == "answer":
        return keepers.requests.ask(question(), MINUTE).request_id
    once = keepers.consents.give(terms(Lasts.ONCE))
    if way == "use":
        return once.consent_id
    decision = events(keepers.ledger)[-1]["eventId"]
    return keepers.permits.make(order(decision_event_id=decision)).permit_id


@contextmanager
def processes(store: Store, way: str) -> Iterator[list[subprocess.Popen[str]]]:
    """Some that wait for an id; each writes a chain of its own, as other programs would."""
    program = [sys.executable, "-m", "tests.store.keepers", str(store.url_or_path), way]
    with ExitStack() as closing:
        children = []
        for number in range(PROCESSES):
            child = subprocess.Popen(
                [*program, f"machine-{number:032x}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            children.append(closing.enter_context(child))
        for child in children:
            assert heard(child) == "ready"
        yield children
        for child in children:
            assert child.stdin is not None
            child.stdin.close()
        assert [child.wait(60) for child in children] == [0] * PROCESSES


def told(child: subprocess.Popen[str], thing_id: str) -> None:
    """Sends it after that id."""
    assert child.stdin is not None
    child.stdin.write(f"{thing_id}\n")
    child.stdin.flush()


def heard(child: subprocess.Popen[str]) -> str:
    """Its next word."""
    assert child.stdout is not None
    return child.stdout.readline().strip()


@pytest.mark.parametrize("race", RACES, ids=lambda race: race.way)
def test_of_many_at_once_exactly_one_wins_and_is_recorded(store: Store, race: Race) -> None:
    """Eight threads on two openings and three processes; the others are refused, each told so."""
    first = Keepers(Ledger(store.open(), WRITER))
    second = Keepers(Ledger(store.open(), f"machine-{'f' * 32}"), machine_id=WRITER)
    holder = store.open()
    winners = []
    with processes(store, race.way) as children, ThreadPoolExecutor(THREADS) as pool:
        for number in range(ROUNDS):
            thing_id, start = made(first, race.way), Barrier(THREADS + 1)

            def try_it(mine: Keepers, thing_id: str = thing_id, start: Barrier = start) -> str:
                start.wait(60)
                return mine.tried(race.way, thing_id)

            running: list[Future[str]] = []
            with ExitStack() as held:
                if number:
                    transaction = held.enter_context(holder.writing())
                    assert transaction.run(race.hold, (thing_id,)) == 1
                running += [pool.submit(try_it, (first, second)[n % 2]) for n in range(THREADS)]
                for child in children:
                    told(child, thing_id)
                start.wait(60)
                sleep(LONG_ENOUGH_TO_LOOK if number else 0)
            ended = [each.result(60) for each in running] + [heard(child) for child in children]
            assert sorted(ended) == sorted(["won"] + [race.refusal] * (THREADS + PROCESSES - 1))
            winners.append(thing_id)
    recorded = [each["payload"] for each in events(first.ledger) if each["type"] == race.event]
    assert sorted(payload[race.field] for payload in recorded) == sorted(winners)
    assert isinstance(first.ledger.history.verify(), list)
