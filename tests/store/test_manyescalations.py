"""Many escalations at once: each ends exactly once, with its row, and its set is updated once.

The small size is a few hundred, the full size a thousand on either database.
"""

import random
from collections import Counter

import pytest

from consentry.base.clock import ManualClock
from consentry.base.units import Duration
from consentry.decide.capabilities import Capability
from consentry.decide.identity import SYSTEM
from consentry.store.database import Dialect
from consentry.store.ledger import Ledger
from tests.decide.samples import NOW
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.escalating import (
    FIVE_MINUTES,
    MINIMAL,
    NET,
    ask_of,
    asked,
    saved,
    told_by_all,
)
from tests.store.keepers import Keepers, events, pass_time
from tests.store.sizes import IS_FULL

OTHER = f"machine-{'f' * 32}"
FULL = 1000
SMALL = {Dialect.SQLITE: 200, Dialect.POSTGRESQL: 100}


def all_pending(keepers: Keepers, number: int) -> dict[str, Capability]:
    """So many capabilities that wait for an answer each, by the id of its request."""
    made = {}
    for each in range(number):
        capability = saved(keepers, f"fetch-{each}", f"print({each})\n")
        made[asked(keepers, ask_of(capability)).request_id] = capability
    assert len(keepers.requests.pending()) == number
    return made


def shuffled(ids: list[str], seed: int) -> list[str]:
    """The same in an order of its own, the same each time."""
    mixed = list(ids)
    random.Random(seed).shuffle(mixed)  # noqa: S311 - any order will do
    return mixed


@pytest.mark.timeout(300)
def test_a_thousand_pending_are_answered_exactly_once_each(store: Store) -> None:
    """ESCALATION AC4, AC7: by two processes in random order, one with yes and one with no.

    Every request has one answer, that answer's row and, where it is a yes, one update of its set.
    """
    number = FULL if IS_FULL else SMALL[store.dialect]
    # Both processes are of the same machine in a file, and of two machines on a server.
    second = WRITER if store.dialect is Dialect.SQLITE else OTHER
    keepers = Keepers(Ledger(store.open(), WRITER))
    made = all_pending(keepers, number)
    place, ids = str(store.url_or_path), list(made)
    orders = [shuffled(ids, 1), shuffled(ids, 2)]
    said = told_by_all(
        [
            ["tests.store.keepers", place, "answer", WRITER],
            ["tests.store.keepers", place, "deny", second],
        ],
        orders,
    )
    said_yes, said_no = (
        {request for request, word in zip(order, words, strict=True) if word == "won"}
        for order, words in zip(orders, said, strict=True)
    )
    assert said_yes.isdisjoint(said_no)
    assert said_yes | said_no == set(ids)
    assert said_yes, "the yes never came first"
    assert said_no, "the no never came first"
    assert {word for words in said for word in words} == {"won", "request-settled"}
    _require_as_decided(keepers, made, said_yes)


def _require_as_decided(keepers: Keepers, made: dict[str, Capability], yes: set[str]) -> None:
    recorded = events(keepers.ledger)
    kinds = Counter(each["type"] for each in recorded)
    assert kinds["approval.answered"] == kinds["permission.escalation.decided"] == len(made)
    decided = {
        each["payload"]["requestId"]: each["payload"]["approved"]
        for each in recorded
        if each["type"] == "permission.escalation.decided"
    }
    assert decided == {request: request in yes for request in made}
    log = {each.capability_id: each.approved for each in keepers.audit.get_audit_log()}
    sets = {each.capability_id: each.permission_set for each in keepers.capabilities.list()}
    for request, capability in made.items():
        assert log[capability.capability_id] is (request in yes)
        assert sets[capability.capability_id] is (NET if request in yes else MINIMAL)
    assert len(keepers.audit.get_audit_log()) == len(made)
    # One event of the first save, one more for each that was updated.
    assert kinds["workflow.pattern.saved"] == len(made) + len(yes)
    assert list(keepers.requests.pending()) == []
    assert isinstance(keepers.ledger.history.verify(), list)


def test_many_expire_with_their_rows(ledger: Ledger) -> None:
    """ESCALATION §log-3: each once, in the system's name, and no set is changed."""
    keepers = Keepers(ledger, ManualClock(NOW))
    number = FULL if IS_FULL else 150
    made = all_pending(keepers, number)
    pass_time(keepers, Duration(FIVE_MINUTES.milliseconds + 1))
    ended = keepers.requests.expire_overdue()
    assert {each.request_id for each in ended} == set(made)
    log = keepers.audit.get_audit_log()
    assert sorted(each.capability_id for each in log) == sorted(
        each.capability_id for each in made.values()
    )
    assert {(each.approved, each.approved_by) for each in log} == {(False, SYSTEM)}
    assert {each.permission_set for each in keepers.capabilities.list()} == {MINIMAL}
    assert list(keepers.requests.expire_overdue()) == []


def test_two_processes_of_one_execution_make_one_request(store: Store) -> None:
    """ESCALATION §yes-once: they come at once; one request is there, and both have it."""
    executions = [f"execution-{number}" for number in range(40)]
    place = str(store.url_or_path)
    said = told_by_all(
        [["tests.store.escalating", "ask", place, writer] for writer in (WRITER, OTHER)],
        [executions, executions],
    )
    for first, second in zip(*said, strict=True):
        (request, one), (same, other) = first.split(), second.split()
        assert request == same
        assert sorted((one, other)) == ["known", "new"]
    keepers = Keepers(Ledger(store.open(), WRITER))
    assert len(keepers.requests.pending()) == len(executions)
    kinds = Counter(each["type"] for each in events(keepers.ledger))
    assert kinds["approval.requested"] == len(executions)
