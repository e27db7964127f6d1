"""A yes counts for what was shown, and for nothing else (ESCALATION §yes-update): what keeps the rest out."""

from collections.abc import Callable

import pytest

from consentry.base.clock import ManualClock
from consentry.base.units import Duration
from consentry.decide.identity import SYSTEM, Role
from consentry.decide.question import Outcome, RequestKind
from consentry.store import escalations
from consentry.store.ledger import Ledger
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import APPROVER, MINUTE, NOW, OWNER, answer, question
from tests.store.conftest import Store
from tests.store.escalating import (
    FIVE_MINUTES,
    MINIMAL,
    NET,
    ask_of,
    asked,
    now_of,
    refused_answer,
    saved,
    status,
    task_ask,
)
from tests.store.keepers import Keepers, pass_time

NO = answer(Outcome.DENIED, APPROVER, role=Role.APPROVER)


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def other_code(keepers: Keepers) -> None:
    """The code is saved anew, as somebody could who waits for the yes."""
    saved(keepers, code="import os\n")


def other_code_in_silence(keepers: Keepers) -> None:
    """The same, by a program that ended before it could take the question back."""
    crashed = Keepers(keepers.ledger, keepers.clock)
    crashed.capabilities._supersede = lambda *_: None  # type: ignore[method-assign]
    other_code(crashed)


def other_set_in_silence(keepers: Keepers) -> None:
    """Somebody moved the set meanwhile."""
    crashed = Keepers(keepers.ledger, keepers.clock)
    crashed.capabilities._supersede = lambda *_: None  # type: ignore[method-assign]
    [capability] = crashed.capabilities.list()
    crashed.capabilities.update_permission_set(
        capability.capability_id, PermissionSet.READONLY, approved_by=OWNER, by_hand=True
    )


@pytest.mark.parametrize("meanwhile", [other_code_in_silence, other_set_in_silence])
def test_a_yes_to_what_is_not_there_any_more_opens_nothing(
    keepers: Keepers, meanwhile: Callable[[Keepers], None]
) -> None:
    """The code, version and set that were shown must still be there; else it is superseded."""
    request = asked(keepers, ask_of(saved(keepers)))
    meanwhile(keepers)
    pass_time(keepers, MINUTE)
    [before] = keepers.capabilities.list()
    logged = len(keepers.audit.get_audit_log())
    assert refused_answer(keepers, request, answer()) == "approval-superseded"
    assert status(keepers, request) == "superseded"
    assert [before] == keepers.capabilities.list()
    [*_, entry] = keepers.audit.get_audit_log()
    assert len(keepers.audit.get_audit_log()) == logged + 1
    assert (entry.approved, entry.approved_by, entry.to_set) == (False, SYSTEM, NET)
    assert refused_answer(keepers, request, answer()) == "request-settled"


def test_a_no_counts_whatever_became_of_the_capability(keepers: Keepers) -> None:
    """A person's no is theirs, and opens nothing in any case."""
    request = asked(keepers, ask_of(saved(keepers)))
    other_code_in_silence(keepers)
    keepers.requests.answer(request.request_id, NO)
    [entry] = keepers.audit.get_audit_log()
    assert entry.approved_by == APPROVER


def test_without_the_comparison_other_code_would_get_the_set(
    keepers: Keepers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With both guards taken away a yes to one code opens another: they are what keeps it out."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    other_code_in_silence(keepers)
    monkeypatch.setattr(escalations, "hold_as_it_was", lambda *_: None)
    monkeypatch.setattr(escalations, "_as_it_was_asked", lambda *_: now_of(keepers, capability))
    keepers.requests.answer(request.request_id, answer())
    after = now_of(keepers, capability)
    assert (after.code, after.permission_set) == ("import os\n", NET)


def test_a_change_in_the_last_moment_is_seen_too(
    keepers: Keepers, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the row and the transaction: the row itself is held against what was seen."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    look = escalations._as_it_was_asked
    elsewhere = Keepers(Ledger(store.open(), keepers.machine_id), keepers.clock)

    def look_and_be_overtaken(*arguments: object) -> object:
        seen = look(*arguments)  # type: ignore[arg-type]
        other_code_in_silence(elsewhere)
        return seen

    monkeypatch.setattr(escalations, "_as_it_was_asked", look_and_be_overtaken)
    assert refused_answer(keepers, request, answer()) == "approval-superseded"
    after = now_of(keepers, capability)
    assert (after.version, after.permission_set) == (2, MINIMAL)
    assert [each.approved for each in keepers.audit.get_audit_log()] == [False]


@pytest.mark.parametrize("meanwhile", [other_code, other_set_in_silence])
def test_what_a_capability_asks_for_is_gone_from_the_list_when_it_changes(
    keepers: Keepers, meanwhile: Callable[[Keepers], None]
) -> None:
    """At once where the program goes on; otherwise when somebody answers."""
    request = asked(keepers, ask_of(saved(keepers)))
    meanwhile(keepers)
    expected = "superseded" if meanwhile is other_code else "pending"
    assert status(keepers, request) == expected


def test_a_yes_supersedes_what_else_the_capability_asks_for(keepers: Keepers) -> None:
    """Another execution asked from the set that was; another capability's and a task's question stay."""
    capability, other = saved(keepers), saved(keepers, "other", "print(2)\n")
    first = asked(keepers, ask_of(capability))
    second = asked(keepers, ask_of(capability, execution="execution-2"))
    task = task_ask(capability.capability_id, "execution-3")
    others = [asked(keepers, ask_of(other)), asked(keepers, task)]
    keepers.requests.answer(first.request_id, answer())
    assert status(keepers, second) == "superseded"
    assert [status(keepers, each) for each in others] == ["pending", "pending"]
    log = keepers.audit.get_audit_log(capability.capability_id)
    assert [(each.approved, each.approved_by) for each in log] == [(True, OWNER), (False, SYSTEM)]


def test_what_nobody_here_asked_is_not_approved(keepers: Keepers) -> None:
    """A request whose preview says nothing of a step: a yes is refused, a no ends it without a row."""
    strange = question("capability:x", kind=RequestKind.ESCALATION)
    request = keepers.requests.ask(strange, MINUTE)
    assert refused_answer(keepers, request, answer()) == "answer-refused"
    assert status(keepers, request) == "pending"
    keepers.requests.answer(request.request_id, NO)
    assert list(keepers.audit.get_audit_log()) == []


def test_what_cannot_be_read_holds_up_nobody(keepers: Keepers) -> None:
    """Such a request expires with the others."""
    keepers.requests.ask(question("capability:x", kind=RequestKind.ESCALATION), MINUTE)
    asked(keepers, ask_of(saved(keepers)))
    pass_time(keepers, Duration(FIVE_MINUTES.milliseconds + 1))
    assert len(keepers.requests.expire_overdue()) == 2
    assert len(keepers.audit.get_audit_log()) == 1


def test_no_request_passes_for_a_change_by_hand(keepers: Keepers) -> None:
    """The operation `manual` is a command's; a request that names it opens nothing."""
    ask = ask_of(saved(keepers))
    preview = ask.to_json()
    shown = preview["request"]
    assert isinstance(shown, dict)
    asking = ask.question(session_id=None, policy_hash=None)
    forged = question(
        asking.subject,
        kind=RequestKind.ESCALATION,
        digest=asking.digest,
        preview={**preview, "request": {**shown, "detectedOperation": "manual"}},
    )
    request = keepers.requests.ask(forged, MINUTE)
    assert refused_answer(keepers, request, answer()) == "answer-refused"
