"""A host program that is killed while a person is asked, and started again."""

import json
import subprocess
import sys
import time
from typing import Any

import pytest

from consentry.decide.approval import ApprovalRequest
from consentry.decide.question import Channel, Outcome
from consentry.service.executing import ControlledExecutor
from tests.decide.samples import answer
from tests.service.hosts import NO, READS, YES, Host, code, events_of, host, log_of

__all__ = ["host"]  # a fixture that tests here ask for by name

pytestmark = pytest.mark.timeout(120)

PROGRAM = """
import json, sys
from consentry import ControlledExecutor
workspace, task = sys.argv[1:]
ControlledExecutor(workspace, "flow").execute_code_task(json.loads(task))
"""
PATIENCE = 60


def asked_by_a_killed_one(host: Host, task: dict[str, Any]) -> ApprovalRequest:
    """The question of a host program in a process of its own, which is killed while it waits."""
    words = [sys.executable, "-c", PROGRAM, str(host.project), json.dumps(task)]
    with subprocess.Popen(words, cwd=host.project, env=dict(host.environ)) as killed:
        asked = _question(host.executor(workflow_id="beside"))
        killed.kill()
    return asked


def _question(executor: ControlledExecutor) -> ApprovalRequest:
    patience = time.monotonic() + PATIENCE
    while time.monotonic() < patience:
        if pending := executor._questions.desk.pending():
            [request] = pending
            return request
        time.sleep(0.02)
    raise AssertionError("nothing was asked")


@pytest.mark.parametrize("said", [YES, NO])
def test_killed_while_it_waits_it_asks_no_second_time(host: Host, said: dict[str, Any]) -> None:
    """ESCALATION §yes-once: started again it waits for its own question, and one answer ends it."""
    task = code(READS)
    asked = asked_by_a_killed_one(host, task)
    executor, host.says = host.executor(), said
    done = executor.execute_code_task(task)
    assert done.success is (said is YES)
    assert [each.request_id for each in host.asked] == [asked.request_id]
    assert len(events_of(executor, "approval.requested")) == 1
    assert log_of(executor) == [("minimal", "readonly", said is YES)]


@pytest.mark.parametrize("outcome", [Outcome.APPROVED, Outcome.DENIED])
def test_answered_while_it_is_down(host: Host, outcome: Outcome) -> None:
    """ESCALATION §yes-once: the answer is in the store; started again it asks nobody."""
    task = code(READS)
    asked = asked_by_a_killed_one(host, task)
    executor = host.executor()
    said = answer(outcome, channel=Channel.COMMAND)
    executor._questions.desk.answer(asked.request_id, said)
    done = executor.execute_code_task(task)
    assert (done.success, host.asked) == (outcome is Outcome.APPROVED, [])
    assert log_of(executor) == [("minimal", "readonly", outcome is Outcome.APPROVED)]
