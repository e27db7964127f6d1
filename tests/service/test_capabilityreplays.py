"""A yes that was given before, and other code that would like to have it (ESCALATION AC5, §code-4)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.decide import escalation_handler
from consentry.decide.capabilities import Language
from consentry.service import capabilityexecution, capabilityruns
from consentry.service.capabilityruns import CapabilityDesk, CodeInSet, TaskWish
from consentry.surface.permission_sets import PermissionSet
from tests.service.capabilityplaces import NO, YES, Workplace, kept, workplace
from tests.service.conftest import MakeAround
from tests.service.desks import Said

READS = "open('data/x.txt').read()"
OTHER = "open('data/x.txt').read() + ' by other code'"
EXECUTION = "workflow-1/task-1"


@pytest.fixture
def place(around: MakeAround, project: Path) -> Iterator[Workplace]:
    """A ledger of its own, and a workspace."""
    with workplace(around(environ={"PATH": "/usr/bin:/bin"}), project) as made:
        yield made


def decided(place: Workplace) -> list[dict[str, object]]:
    """What each attempt was decided by."""
    return [each["payload"]["consent"] for each in place.events("run.decided")]


def task_called(place: Workplace, task_id: str, code: str) -> object:
    """What the code of a task gives back that is called so, with nobody who agrees to it."""
    wish = TaskWish(
        task_id=task_id,
        code=CodeInSet(code=code, language=Language.PYTHON, name=task_id),
        execution_id=EXECUTION,
    )
    with CapabilityDesk(place.journal, place.around, asker=Said(NO)) as desk:
        over = desk.run_task(wish, kept)
    code_ = None if over.escalated is None else over.escalated.code
    return over.result if over.is_success else code_


def test_no_task_is_called_like_a_capability(place: Workplace) -> None:
    """ESCALATION §log: the log has one column for both, so what a task was given would be the other's."""
    saved = place.save(READS)
    with pytest.raises(UsageProblem, match="is the id of a capability"):
        task_called(place, saved.capability_id, OTHER)
    assert place.decisions() == []


@pytest.fixture
def any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a task be called like a capability, to see what else stands against it."""
    monkeypatch.setattr(capabilityexecution, "is_capability_id", lambda _: False)


@pytest.mark.usefixtures("any_name")
def test_a_task_that_is_called_like_a_capability_has_nothing_of_its_yes(place: Workplace) -> None:
    """The ids of tasks and executions are a host program's words; other code stays in its own set."""
    saved = place.save(READS)
    assert place.run(YES, execution_id=EXECUTION).result == "in data"
    assert task_called(place, saved.capability_id, OTHER) == Code.ESCALATION_SPENT
    assert task_called(place, saved.capability_id, READS) == Code.ESCALATION_SPENT


def test_the_same_task_with_a_yes_of_its_own_reads(place: Workplace) -> None:
    """Asked for that code, it may."""
    code = CodeInSet(code=OTHER, language=Language.PYTHON, name="task-1")
    assert place.task(YES, code, execution_id=EXECUTION).result == "in data by other code"


@pytest.mark.usefixtures("any_name")
def test_without_the_comparison_it_would_have_it(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was asked is held against what failed: without that, one yes is anybody's."""
    monkeypatch.setattr(escalation_handler, "_is_about", lambda *_: True)
    monkeypatch.setattr(capabilityruns, "is_same_code", lambda *_, **__: True)
    saved = place.save(READS)
    place.run(YES, execution_id=EXECUTION)
    assert task_called(place, saved.capability_id, OTHER) == "in data by other code"


def test_code_that_was_saved_after_the_yes_is_no_retry(place: Workplace) -> None:
    """Under the id of the execution that was approved, the record does not name that approval."""
    place.save(READS)
    over = place.run(YES, execution_id=EXECUTION)
    assert over.result == "in data"
    place.save(OTHER)
    again = place.run(YES, execution_id=EXECUTION)
    assert again.escalated is not None
    assert (again.result, again.escalated.code) == (None, Code.ESCALATION_SPENT)
    last = decided(place)[-1]
    assert (last["attempt"], last.get("requestId"), last["confidence"]) == (1, None, 0.95)
    assert place.stored().permission_set is PermissionSet.MINIMAL


def test_the_code_that_was_approved_is(place: Workplace) -> None:
    """The same execution, started again with the same code, names its approval."""
    place.save(READS)
    over = place.run(YES, execution_id=EXECUTION)
    assert over.escalated is not None
    place.run(None, execution_id=EXECUTION)
    last = decided(place)[-1]
    assert (last["attempt"], last["requestId"]) == (2, over.escalated.request_id)


def test_a_yes_under_a_list_is_not_one_without_it(place: Workplace) -> None:
    """Who was shown one host has not agreed to all of them."""
    code = "import urllib.request; urllib.request.urlopen('http://api.example.com/')"
    listed = CodeInSet(
        code=code, language=Language.PYTHON, name="task-1", network=("api.example.com",)
    )
    first = place.task(YES, listed, execution_id=EXECUTION)
    assert first.last.code.permission_set is PermissionSet.NETWORK_API
    open_to_all = CodeInSet(code=code, language=Language.PYTHON, name="task-1")
    again = place.task(YES, open_to_all, execution_id=EXECUTION)
    assert [each.code.permission_set for each in again.attempts] == [PermissionSet.MINIMAL]
    with_list = place.task(YES, listed, execution_id=EXECUTION)
    assert [each.code.permission_set for each in with_list.attempts] == [PermissionSet.NETWORK_API]
