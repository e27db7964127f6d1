"""The desk: any channel answers, one answer wins, deadlines deny, changes supersede (CONTRACTS §8)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from consentry.base.clock import ManualClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consentask import AnswerRules
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Outcome, RequestKind
from consentry.declare.preferences import ApprovalSettings
from consentry.service.approvals import Desk, Waits, require_approved
from tests.decide.samples import (
    APPROVER,
    DIGEST,
    MINUTE,
    NOW,
    OTHER_DIGEST,
    OWNER,
    answer,
    ask,
    question,
)
from tests.service.desks import Said, by_whom, desk_of
from tests.store.conftest import Store

YES = answer(lasts=Lasts.ONCE)
NO = answer(Outcome.DENIED)
THEIRS = answer(Outcome.DENIED, by=APPROVER, role=Role.APPROVER)


@contextmanager
def refused(code: Code) -> Iterator[list[ConsentryError]]:
    """Expects a refusal with that code, and hands it out."""
    found: list[ConsentryError] = []
    with pytest.raises(ConsentryError) as caught:
        yield found
    found.append(caught.value)
    assert caught.value.code is code


def put(desk: Desk, waits: Waits = Waits.PROMPT) -> ApprovalRequest:
    """A tool that wants to run."""
    return desk.ask(ask().question(DIGEST, None), waits)


def test_the_settings_say_how_long_a_question_waits(store: Store) -> None:
    """Prompt, parked and escalation each have a deadline of their own."""
    settings = ApprovalSettings(
        escalation_deadline=Duration(1_000),
        prompt_deadline=Duration(2_000),
        parked_deadline=Duration(3_000),
    )
    desk = replace(desk_of(store, ManualClock(NOW)), settings=settings)
    waits = {way: put(desk, way).deadline.since(NOW).milliseconds for way in Waits}
    assert waits == {Waits.PROMPT: 2_000, Waits.PARKED: 3_000, Waits.ESCALATION: 1_000}
    usual = desk_of(store, ManualClock(NOW))
    minutes = {way: put(usual, way).deadline.since(NOW).milliseconds / 60_000 for way in Waits}
    assert minutes == {Waits.PROMPT: 15, Waits.PARKED: 24 * 60, Waits.ESCALATION: 5}


@pytest.mark.parametrize("given", [YES, NO], ids=["yes", "no"])
def test_the_answer_of_the_asker_is_recorded(store: Store, given: Answer) -> None:
    """And nobody is told anything besides."""
    desk, asker = desk_of(store), Said(given)
    ended = desk.wait(put(desk), asker)
    assert (ended.status, ended.answer, asker.told) == (given.outcome, given, [])


def test_an_answer_from_elsewhere_ends_the_wait(store: Store) -> None:
    """The first asker sees it, gives none of its own, and is told by whom."""
    desk, other = desk_of(store), desk_of(store)
    request = put(desk)
    asker = Said(None, lambda: other.answer(request.request_id, THEIRS), looks=1)
    ended = desk.wait(request, asker)
    assert [each.status for each in asker.seen] == ["pending", "denied"]
    assert by_whom(ended) == APPROVER
    assert asker.told == [ended]


def test_the_loser_of_the_race_is_told_who_won(store: Store) -> None:
    """It answered a moment later: what counts is the first, and the asker hears of it."""
    desk, other = desk_of(store), desk_of(store)
    request = put(desk)
    asker = Said(YES, lambda: other.answer(request.request_id, THEIRS))
    ended = desk.wait(request, asker)
    assert (ended.status, by_whom(ended)) == (Outcome.DENIED, APPROVER)
    assert asker.told == [ended]
    with refused(Code.REQUEST_SETTLED) as found:
        other.answer(request.request_id, YES)
    assert APPROVER in found[0].message


def test_the_deadline_denies_while_the_prompt_is_open(store: Store) -> None:
    """Time-out is an ending of its own, by nobody, with its own code; the late yes does not count."""
    clock = ManualClock(NOW)
    desk = desk_of(store, clock)
    request = put(desk)
    asker = Said(YES, lambda: clock.advance(Duration(15 * 60_000 + 1)), looks=1)
    ended = desk.wait(request, asker)
    assert [each.status for each in asker.seen] == ["pending", "expired"]
    assert (ended.status, by_whom(ended)) == (Outcome.EXPIRED, "system")
    assert asker.told == [ended]
    with refused(Code.APPROVAL_EXPIRED):
        require_approved(ended)
    with refused(Code.REQUEST_LATE):
        desk.answer(request.request_id, YES)


def test_what_changed_meanwhile_is_superseded_at_once(store: Store) -> None:
    """A policy or a tool that is another one now: no answer to the old question counts."""
    changed: list[str] = []
    desk = replace(desk_of(store), is_stale=lambda _: bool(changed))
    request = put(desk)
    asker = Said(YES, lambda: changed.append("policy"))
    ended = desk.wait(request, asker)
    assert (ended.status, asker.told) == (Outcome.SUPERSEDED, [ended])
    with refused(Code.APPROVAL_SUPERSEDED):
        require_approved(ended)
    with refused(Code.APPROVAL_SUPERSEDED):
        desk.answer(request.request_id, YES)


def test_only_the_same_workspace_under_another_policy_is_superseded(store: Store) -> None:
    """Others have policies of their own, and so do questions without one (CONTRACTS §8-policy-change)."""
    desk = desk_of(store)
    here = ask()
    put_under = [
        desk.ask(here.question(DIGEST, None), Waits.PARKED),
        desk.ask(here.question(OTHER_DIGEST, None), Waits.PARKED),
        desk.ask(replace(here, workspace="/elsewhere").question(DIGEST, None), Waits.PARKED),
        desk.ask(here.question(None, None), Waits.PARKED),
        desk.ask(question(kind=RequestKind.ESCALATION), Waits.PARKED),
    ]
    ended = desk.supersede_others("/place/project", OTHER_DIGEST)
    assert [each.request_id for each in ended] == [put_under[0].request_id]
    states = [desk.look(each.request_id).status for each in put_under]
    assert states == ["superseded", "pending", "pending", "pending", "pending"]


def test_a_gone_asker_takes_nothing_back(store: Store) -> None:
    """Its terminal was closed: the question stays open, and an answer from elsewhere counts."""
    other = desk_of(store)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 7:
            other.answer(request.request_id, replace(THEIRS, outcome=Outcome.APPROVED, **ONCE))

    desk = replace(desk_of(store), pause=pause)
    request = put(desk)
    ended = desk.wait(request, Said(None))
    assert (ended.status, by_whom(ended)) == (Outcome.APPROVED, APPROVER)
    assert pauses == sorted(pauses)
    assert max(pauses) == 1.0


ONCE = {"lasts": Lasts.ONCE}


def test_an_answer_that_the_question_does_not_take_leaves_it_open(store: Store) -> None:
    """Nothing half-done: the request still waits for one that it takes."""
    desk = desk_of(store)
    strict = ask(rules=AnswerRules(None, needs_reason=True))
    request = desk.ask(strict.question(DIGEST, None), Waits.PROMPT)
    with refused(Code.ANSWER_REFUSED):
        desk.wait(request, Said(YES))
    assert desk.look(request.request_id).is_pending
    assert desk.answer(request.request_id, replace(YES, reason="because")).status == "approved"


def test_a_requester_cannot_answer_itself(store: Store) -> None:
    """CONTRACTS §9-requester: not even where its name has the form of an identity."""
    desk = desk_of(store)
    request = desk.ask(question(subject=OWNER, kind=RequestKind.ESCALATION), Waits.PROMPT)
    with refused(Code.ANSWER_REFUSED):
        desk.answer(request.request_id, YES)
    assert desk.answer(request.request_id, THEIRS).status == "denied"


def test_ids_may_be_shortened_while_only_one_begins_so(store: Store) -> None:
    """With or without the word before it; too short, unknown and ambiguous are told apart."""
    desk = desk_of(store, ManualClock(NOW))
    first, second = put(desk), put(desk)
    assert desk.found(first.request_id) == first
    assert desk.found(second.request_id[:-1]) == second
    assert desk.found(first.request_id.removeprefix("request-")[:-2]) == first
    with refused(Code.ID_AMBIGUOUS):
        desk.found(first.request_id[:20])
    for unknown in ("request-", "request-0", "ffffffff", "request-ffffffff-", "%", "~" * 9):
        with refused(Code.ID_UNKNOWN):
            desk.found(unknown)


def test_what_is_overdue_is_not_listed(store: Store) -> None:
    """Whoever looks denies it."""
    clock = ManualClock(NOW)
    desk = desk_of(store, clock)
    early, late = put(desk), put(desk, Waits.PARKED)
    assert list(desk.pending()) == [early, late]
    clock.advance(Duration(16 * MINUTE.milliseconds))
    assert list(desk.pending()) == [late]
    assert desk.look(early.request_id).status == "expired"


def test_what_is_not_a_yes_says_who_and_when(store: Store) -> None:
    """Each ending has its own code."""
    desk = desk_of(store)
    request = put(desk)
    with refused(Code.APPROVAL_PENDING):
        require_approved(request)
    denied = desk.answer(request.request_id, replace(THEIRS, reason="not today"))
    with refused(Code.APPROVAL_DENIED) as found:
        require_approved(denied)
    assert denied.answered_at is not None
    for part in (request.request_id, APPROVER, "not today", denied.answered_at.shown()):
        assert part in found[0].message
