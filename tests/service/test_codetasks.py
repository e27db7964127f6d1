"""Code of a task: its set may grow for the one execution that asked, and nothing of it is stored."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.enforce.confinement import Limits
from consentry.service.capabilityruns import CodeInSet, TaskWish
from consentry.surface.permission_sets import PermissionSet
from tests.denos import deno_or_skip
from tests.service.capabilityplaces import (
    NO,
    PYTHON,
    TYPESCRIPT,
    YES,
    Workplace,
    fetching,
    served,
    workplace,
)
from tests.service.conftest import MakeAround

READS = "open('data/x.txt').read()"
EXECUTION = "workflow-1/task-1"


@pytest.fixture
def place(around: MakeAround, project: Path) -> Iterator[Workplace]:
    """A ledger of its own, and a workspace."""
    with workplace(around(environ={"PATH": "/usr/bin:/bin"}), project) as made:
        yield made


def code(text: str = READS, **given: object) -> CodeInSet:
    """Code of a task that reads."""
    return CodeInSet(**{"code": text, "language": PYTHON, "name": "task-1", **given})  # type: ignore[arg-type]


def test_an_approved_set_holds_for_this_execution_only(place: Workplace) -> None:
    """ESCALATION §code-3, §code-4, §code-5, §code-6: retried in the larger set; logged under the task's id, stored nowhere."""
    over = place.task(YES, code(), execution_id=EXECUTION)
    assert (over.result, over.capability) == ("in data", None)
    assert [each.code.permission_set for each in over.attempts] == ["minimal", "readonly"]
    [row] = place.decisions()
    assert (row.capability_id, row.approved, row.to_set) == ("task-1", True, "readonly")
    [decided] = place.events("permission.escalation.decided")
    assert decided["payload"]["ephemeral"] is True
    assert place.events("workflow.pattern.saved") == []
    other = place.task(NO, code(), execution_id="workflow-2/task-1")
    assert other.error is not None
    assert len(place.was_asked()) == 2
    [first, *_] = place.was_asked()
    assert "This is a code task: the larger set holds for this run only, and is not kept." in first


def test_started_again_it_goes_on_in_the_approved_set(place: Workplace) -> None:
    """ESCALATION §yes-once: the same execution needs no second answer, in whichever process."""
    place.task(YES, code(), execution_id=EXECUTION)
    again = place.task(None, code(), execution_id=EXECUTION)
    assert (again.result, len(again.attempts)) == ("in data", 1)
    assert again.attempts[0].code.permission_set is PermissionSet.READONLY
    assert len(place.was_asked()) == 1


def test_a_rejected_one_keeps_its_error(place: Workplace) -> None:
    """ESCALATION AC9: the original error, and the no is logged all the same."""
    over = place.task(NO, code())
    assert over.error is not None
    assert over.error.type == "FileNotFoundError"
    assert over.escalated is not None
    assert over.escalated.code == Code.APPROVAL_DENIED
    assert [each.approved for each in place.decisions()] == [False]


def test_a_task_of_deno_fetches_after_a_yes(place: Workplace) -> None:
    """ESCALATION AC10, by Deno; checked at the server."""
    deno_or_skip()
    with served() as server:
        wanted = code(fetching(server), language=TYPESCRIPT, network=(server.place,))
        over = place.task(YES, wanted)
        assert (over.result, server.paths) == ("pong", ["/x"])


def test_its_limits_hold(place: Workplace) -> None:
    """ESCALATION §code-config: `timeout` and `memoryLimit`."""
    over = place.task(None, code("while True: pass", limits=Limits(wall_seconds=0.5)))
    assert over.last.run.status == "timeout"
    assert place.was_asked() == []


def test_trusted_is_given_to_no_task() -> None:
    """It is set by hand, for saved code alone."""
    with pytest.raises(UsageProblem) as raised:
        TaskWish(task_id="t", code=code(permission_set=PermissionSet.TRUSTED))
    assert raised.value.code is Code.PERMISSION_SET


def test_the_record_names_the_task(place: Workplace) -> None:
    """Its id stands for a capability's; without a version its code is known by its bytes."""
    over = place.task(None, code("1"), execution_id=EXECUTION)
    [decided] = place.events("run.decided")
    assert decided["subject"] == "task:task-1"
    consent = decided["payload"]["consent"]
    assert consent["decision"] == "permission_set"
    assert (consent["capabilityId"], consent["executionId"]) == ("task-1", EXECUTION)
    assert "storedSet" not in consent
    entry = over.last.run.entry
    assert entry["tool"]["version"].startswith("sha256:")  # type: ignore[index, call-overload, union-attr]
    assert entry["context"]["workflowId"] == EXECUTION  # type: ignore[index, call-overload]
