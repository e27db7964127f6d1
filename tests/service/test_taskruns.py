"""Tasks with code of their own, in real sandboxes: what is asked, for which code a yes counts, what they read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.decide.escalation import PermissionEscalationRequest, suggest_escalation
from consentry.service import taskruns
from consentry.surface.permission_sets import PermissionSet
from tests.denos import deno_or_skip
from tests.elsewhere import folder_elsewhere
from tests.service.capabilityplaces import fetching, listing, served
from tests.service.hosts import (
    BESIDE,
    NO,
    READS,
    YES,
    Host,
    capability,
    code,
    events_of,
    failed_as_it_was,
    host,
    log_of,
)

__all__ = ["host"]  # a fixture that tests here ask for by name

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize(
    ("source", "refusal"),
    [
        ("import subprocess; subprocess.run(['/usr/bin/id'], check=True)", "escalation-critical"),
        ("open('/etc/shadow').read()", "escalation-protected-root"),
    ],
)
def test_what_nobody_may_open_asks_nobody(host: Host, source: str, refusal: str) -> None:
    """ESCALATION AC9.3, §log-5: an event of the ledger, and no row."""
    host.says = YES
    executor = host.executor()
    done = executor.execute_code_task(code(source, sandboxConfig={"permissionSet": "filesystem"}))
    assert done.escalation is not None
    assert (done.success, done.escalation.code, host.asked) == (False, refusal, [])
    assert log_of(executor) == []
    [event] = events_of(executor, "permission.escalation.refused")
    assert (event["payload"]["capabilityId"], event["payload"]["ephemeral"]) == ("task", True)


def test_a_code_task_escalates_for_itself_alone(host: Host) -> None:
    """ESCALATION §code-3 to §code-6, AC5: asked under the task's id, logged, and nothing is stored."""
    host.says = YES
    executor = host.executor()
    done = executor.execute_code_task(code(READS + " + word", arguments={"word": "!"}))
    assert (done.success, done.result, done.permission_set) == (True, "in data!", "readonly")
    assert log_of(executor, "task") == [("minimal", "readonly", True)]
    [event] = events_of(executor, "permission.escalation.decided")
    assert (event["payload"]["capabilityId"], event["payload"]["ephemeral"]) == ("task", True)
    assert list(executor.capabilities.list()) == []
    assert events_of(executor, "workflow.pattern.saved") == []
    host.says = NO
    assert failed_as_it_was(executor.execute_code_task(code(READS, "other")))


def test_a_code_task_runs_in_the_set_it_says(host: Host) -> None:
    """ESCALATION §code-1: the task's own, or the parameter; nobody is asked then."""
    executor = host.executor()
    inside = {"permissionSet": "readonly"}
    assert executor.execute_code_task(code(READS, sandboxConfig=inside)).success
    assert executor.execute_code_task(code(READS, "b"), "filesystem").permission_set == "filesystem"
    assert host.asked == []


@pytest.mark.parametrize("said", [YES, NO])
def test_a_code_task_of_the_document_by_deno(host: Host, said: dict[str, Any]) -> None:
    """ESCALATION AC10, §code-2: `NotCapable` from a real Deno; the server sees it after the yes only."""
    host.says = said
    host.environ = {**host.environ, "PATH": f"{deno_or_skip().parent}:/usr/bin:/bin"}
    with served() as server:
        executor = host.executor(network=[server.place])
        task = {"id": "fetch_data", "type": "code_execution", "code": fetching(server)}
        done = executor.execute_code_task({**task, "dependsOn": []})
        assert server.paths == (["/x"] if said is YES else [])
    [event] = host.asked
    assert event.prompt.startswith("reported by the program itself, not observed")
    assert "NotCapable" in event.description
    assert done.success is (said is YES)
    if said is YES:
        assert (done.result, done.permission_set) == ("pong", "network-api")
    else:
        assert done.error is not None
        assert done.error.type == "NotCapable"


@pytest.mark.parametrize(
    "thrown", ["Error: Requires net access to", "Error('NotCapable, but of what?')"]
)
def test_an_error_of_another_name_asks_nobody(host: Host, thrown: str) -> None:
    """ESCALATION §code-2: a sentence alone is no permission error, and a name alone is no denial."""
    host.environ = {**host.environ, "PATH": f"{deno_or_skip().parent}:/usr/bin:/bin"}
    executor = host.executor()
    message = thrown if "(" not in thrown else "NotCapable, but of what?"
    source = f'throw new Error("{message} example.org:443")'
    task = {"id": "t", "type": "code_execution", "code": source, "language": "javascript"}
    done = executor.execute_code_task(task)
    assert (done.success, done.escalation, host.asked) == (False, None, [])


def test_printing_the_sentence_asks_nobody(host: Host) -> None:
    """ESCALATION §code-2: on native the record's own denial is read, not what code says of itself."""
    executor = host.executor()
    source = "raise PermissionError('PermissionDenied: Requires net access to example.org:443')"
    done = executor.execute_code_task(code(source))
    assert (done.success, done.escalation, host.asked) == (False, None, [])
    assert done.error is not None
    assert done.error.type == "PermissionError"


def test_one_that_always_needs_more_is_stopped(host: Host) -> None:
    """ESCALATION §yes-once, AC5: one question for an execution, also when it is started again."""
    host.says = YES
    source = READS + "\nopen('output/new', 'w').write('x')"
    (host.project / "output").mkdir()
    for _ in range(2):
        executor = host.executor()
        done = executor.execute_code_task(code(source))
        assert not done.success
        assert done.escalation is not None
        assert done.escalation.code == "escalation-spent"
    assert len(host.asked) == 1
    assert listing(host.project / "output") == {}


def test_started_again_it_uses_its_yes(host: Host) -> None:
    """ESCALATION §yes-once: a restart with the same workflow and task asks no second time."""
    host.says = YES
    assert host.executor().execute_code_task(code(READS)).success
    host.says = NO
    assert host.executor().execute_code_task(code(READS)).success
    assert len(host.asked) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"code": BESIDE + "\n"},
        {"arguments": {"n": 2}},
        {"sandboxConfig": {"permissionSet": "readonly"}},
    ],
    ids=["code", "arguments", "set"],
)
def test_a_yes_is_for_the_code_that_was_shown(host: Host, changes: dict[str, Any]) -> None:
    """The same task with other code, arguments or set: the yes opens nothing, nobody is asked again."""
    host.says = YES
    first = code(BESIDE, arguments={"n": 1})
    assert host.executor().execute_code_task(first).permission_set == "filesystem"
    done = host.executor().execute_code_task({**first, **changes})
    assert done.escalation is not None
    assert (done.success, done.escalation.code) == (False, "escalation-spent")
    assert len(host.asked) == 1


def test_a_yes_is_for_the_code_that_was_shown_and_that_is_what_holds_it(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the comparison taken away, other code gets what was approved for the first."""
    host.says = YES
    assert host.executor().execute_code_task(code(READS)).success
    for place in ("decide.escalation_handler", "service.capabilityruns"):
        monkeypatch.setattr(f"consentry.{place}.is_same_code", lambda *_, **__: True)
    assert host.executor().execute_code_task(code(READS + "[::-1]")).result == "atad ni"


def test_paths_that_a_task_may_read(host: Host) -> None:
    """ESCALATION §code-config: beside its set, to be read and not written."""
    executor = host.executor()
    inside = {"allowedReadPaths": ["beside.txt", "./data"]}
    both = "open('beside.txt').read() + open('data/x.txt').read()"
    done = executor.execute_code_task(code(both, sandboxConfig=inside))
    assert (done.result, done.permission_set, host.asked) == ("besidein data", "minimal", [])
    host.says = NO
    written = executor.execute_code_task(
        code("open('beside.txt', 'w').write('mine')", "w", sandboxConfig=inside)
    )
    assert not written.success
    assert (host.project / "beside.txt").read_text() == "beside"
    assert not executor.execute_code_task(code(both, "without")).success


def _outside(host: Host) -> str:
    return str(host.project.parent)


def _link(host: Host) -> str:
    (host.project / "link").symlink_to("/etc")
    return "link/hostname"


def _protected(host: Host) -> str:
    keys = host.project / "house/.ssh"
    keys.mkdir(parents=True)
    host.environ = {**host.environ, "HOME": str(keys.parent)}
    return "house/.ssh"


@pytest.mark.parametrize("is_checked", [True, False])
def test_what_lies_outside_is_not_read(
    host: Host, monkeypatch: pytest.MonkeyPatch, *, is_checked: bool
) -> None:
    """A task that names a file beside the workspace gets nothing; without the check it would."""
    with folder_elsewhere() as folder:
        secret = folder / "secret"
        secret.write_text("mine")
        source = f"open({str(secret)!r}).read()"
        task = code(source, sandboxConfig={"allowedReadPaths": [str(secret)]})
        if is_checked:
            with pytest.raises(ConsentryError, match="does not lie in the workspace"):
                host.executor().execute_code_task(task)
            return
        monkeypatch.setattr(taskruns, "_below", lambda _name, path, *_: path)
        assert host.executor().execute_code_task(task).result == "mine"


@pytest.mark.parametrize(
    ("named", "refusal"),
    [
        (_outside, Code.DOCUMENT_INVALID),
        (lambda _: "../project2", Code.DOCUMENT_INVALID),
        (lambda _: "/etc/passwd", Code.DOCUMENT_INVALID),
        (_link, Code.DOCUMENT_INVALID),
        (_protected, Code.PROTECTED_ROOT),
    ],
    ids=["outside", "climbing", "absolute", "link", "protected"],
)
def test_paths_that_no_task_may_name(
    host: Host, named: Callable[[Host], str], refusal: Code
) -> None:
    """A task is data: it opens nothing outside of the workspace, and no protected root."""
    path = named(host)
    task = code("1", sandboxConfig={"allowedReadPaths": ["data", path]})
    with pytest.raises(ConsentryError) as caught:
        host.executor().execute_code_task(task)
    assert caught.value.code is refusal
    assert str(caught.value.where) == "`sandboxConfig.allowedReadPaths[1]`"


def test_limits_of_a_task_hold(host: Host) -> None:
    """ESCALATION §code-config: milliseconds and megabytes; what a limit ended is a result."""
    executor = host.executor()
    late = executor.execute_code_task(
        code("import time; time.sleep(60)", sandboxConfig={"timeout": 300})
    )
    assert late.error is not None
    assert (late.success, late.error.type) == (False, "timeout")
    large = "len(bytearray(300 * 1024 * 1024))"
    held = executor.execute_code_task(code(large, "large", sandboxConfig={"memoryLimit": 64}))
    assert not held.success
    assert executor.execute_code_task(code(large, "free")).success
    saved = host.save(executor, "import time; time.sleep(60)")
    timed = executor.execute_capability_task(capability(saved, sandboxConfig={"timeout": "300ms"}))
    assert timed.error is not None
    assert timed.error.type == "timeout"


@pytest.mark.parametrize(
    ("reason", "to_set", "refusal"),
    [
        ("Requires read access to /etc/shadow", "filesystem", "escalation-protected-root"),
        ("Requires run access to /bin/sh", "mcp-standard", "escalation-critical"),
        ("Requires net access to 127.0.0.1:80", "network-api", "escalation-uncovered"),
        ("Requires net access to example.org:443", "filesystem", "escalation-uncovered"),
    ],
)
def test_a_question_that_would_open_nothing_is_not_put(
    host: Host, reason: str, to_set: str, refusal: str
) -> None:
    """ESCALATION §ask-protected, §suggest-critical: also where a host program makes the request."""
    host.says = YES
    executor = host.executor()
    request = PermissionEscalationRequest(
        "somebody",
        PermissionSet.MINIMAL,
        PermissionSet(to_set),
        f"PermissionDenied: {reason}",
        "x",
        1.0,
    )
    answer = executor.request_permission_escalation(request)
    assert (answer.approved, answer.code, host.asked) == (False, refusal, [])
    [event] = events_of(executor, "permission.escalation.refused")
    assert event["payload"]["code"] == refusal
    assert log_of(executor) == []


def test_a_request_about_another_set_is_refused(host: Host) -> None:
    """What is asked for must start from where the capability is."""
    executor = host.executor()
    saved = host.save(executor, READS, "readonly")
    request = suggest_escalation("PermissionDenied: Requires net access to example.org:443", saved)
    assert request is not None
    with pytest.raises(ConsentryError, match="runs in `readonly`, and not in `minimal`"):
        executor.request_permission_escalation(request)


def test_confined_code_does_not_reach_the_ledger(host: Host) -> None:
    """Where the questions are is not there for it, in the largest set that a task can have."""
    executor = host.executor()
    state = Path(host.environ["HOME"], ".local/state/consentry")
    source = f"import os; [os.path.exists({str(state)!r}), os.path.exists({str(host.project)!r})]"
    inside = {"permissionSet": "mcp-standard"}
    done = executor.execute_code_task(code(source, sandboxConfig=inside))
    assert (state.exists(), done.result) == (True, [False, True])
