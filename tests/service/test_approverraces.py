"""Two approvers answer the same question at once: one wins, one run, and the loser is told by whom."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.decide.approval import ApprovalRequest
from consentry.service.approvals import Waits
from consentry.service.consenting import consents_of
from tests.decide.samples import DIGEST, ask
from tests.service.desks import desk_of
from tests.store.conftest import Store
from tests.store.keepers import events
from tests.store.sizes import IS_FULL

RACES = 1_000 if IS_FULL else 50
ACCOUNTS = ("ada", "grace")


@contextmanager
def approvers(store: Store) -> Iterator[list[subprocess.Popen[str]]]:
    """Two processes that wait for ids."""
    program = [sys.executable, "-m", "tests.service.approver", str(store.url_or_path)]
    with ExitStack() as closing:
        both = [
            closing.enter_context(
                subprocess.Popen(
                    [*program, account], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            for account in ACCOUNTS
        ]
        for each in both:
            assert each.stdout is not None
            assert each.stdout.readline() == "ready\n"
        yield both
        for each in both:
            assert each.stdin is not None
            each.stdin.close()
        assert [each.wait(60) for each in both] == [0, 0]


def raced(both: list[subprocess.Popen[str]], request_id: str) -> list[dict[str, Any]]:
    """What each of them made of it."""
    for each in both:
        assert each.stdin is not None
        each.stdin.write(f"{request_id}\n")
        each.stdin.flush()
    return [json.loads(each.stdout.readline()) for each in both if each.stdout is not None]


def assert_one_won(told: list[dict[str, Any]], request: ApprovalRequest) -> None:
    """And the other was told the winner's name and the time."""
    (winner,) = [each for each in told if each["won"]]
    (loser,) = [each for each in told if not each["won"]]
    assert request.answer is not None
    assert request.answered_at is not None
    assert request.answer.by == f"web:{winner['account']}"
    assert loser["code"] == Code.REQUEST_SETTLED
    assert f"approved by `web:{winner['account']}`" in loser["told"]
    assert request.answered_at.shown() in loser["told"]
    assert sorted(each["ran"] for each in told) == [False, True]


@pytest.mark.timeout(900 if IS_FULL else 120)
def test_of_two_approvers_exactly_one_wins(store: Store) -> None:
    """Each time: one answer in the row and in the ledger, one consent, used once."""
    desk = desk_of(store)
    winners = set()
    with approvers(store) as both:
        for number in range(RACES):
            asked = desk.ask(ask().question(DIGEST, None), Waits.PARKED)
            told = raced(both if number % 2 else both[::-1], asked.request_id)
            request = desk.look(asked.request_id)
            assert_one_won(told, request)
            winners.add(request.answer and request.answer.by)
    kinds = [each["type"] for each in events(desk.journal.ledger)]
    for kind in ("approval.requested", "approval.answered", "consent.given", "consent.used"):
        assert kinds.count(kind) == RACES
    assert len(consents_of(desk.journal).history(tool="build")) == RACES
    assert len(winners) == 2  # neither is favoured
    assert isinstance(desk.journal.ledger.history.verify(), list)
