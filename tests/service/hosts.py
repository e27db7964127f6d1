"""A host program with an executor, its workspace, and what its person says; sandboxes and ledger are real."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from consentry.decide.capabilities import Inferred, Language
from consentry.decide.identity import Identity
from consentry.flow.commands import DecisionRequired
from consentry.flow.results import TaskResult
from consentry.service.audit import whole_event
from consentry.service.executing import ControlledExecutor
from consentry.surface.permission_sets import PermissionSet
from tests.cli.conftest import CommandLine

TYPE = "permission_escalation_response"
READS = "open('data/x.txt').read()"
BESIDE = "open('beside.txt').read()"
NO_SUCH_FILE = "[Errno 2] No such file or directory: 'data/x.txt'"
YES: dict[str, Any] = {"approved": True, "feedback": "it may"}
NO: dict[str, Any] = {"approved": False, "feedback": "not today"}


@dataclass
class Host:
    """A host program: its environment and workspace, and what its person says."""

    environ: Mapping[str, str]
    project: Path
    says: dict[str, Any] | None = None
    asked: list[DecisionRequired] = field(default_factory=list)
    opened: list[ControlledExecutor] = field(default_factory=list)

    def executor(self, **named: Any) -> ControlledExecutor:
        """One executor, closed with the test."""
        made = ControlledExecutor(self.environ, self.project, **{"workflow_id": "flow", **named})
        made.on_event(lambda event: self._heard(made, event))
        self.opened.append(made)
        return made

    def _heard(self, executor: ControlledExecutor, event: DecisionRequired) -> None:
        self.asked.append(event)
        if self.says is not None:
            executor.commands.enqueue({"type": TYPE, "requestId": event.request_id, **self.says})

    def save(self, executor: ControlledExecutor, code: str, in_set: str = "minimal") -> str:
        """A capability that was taken to need that set; returns its id."""
        by = Identity(executor._journal.context.actor)
        inferred = Inferred(PermissionSet(in_set), 0.95, ())
        language = Language.TYPESCRIPT if "fetch(" in code else Language.PYTHON
        return executor.capabilities.save("it", language, code, inferred, by=by).capability_id

    @property
    def line(self) -> CommandLine:
        """The command, as the same user types it elsewhere."""
        return CommandLine(self.project, dict(self.environ))


@pytest.fixture
def host(home: Path, project: Path) -> Iterator[Host]:
    """A workspace with something to read in it."""
    (project / "data").mkdir()
    (project / "data/x.txt").write_text("in data")
    (project / "beside.txt").write_text("beside")
    made = Host({"HOME": str(home), "PATH": "/usr/bin:/bin"}, project)
    yield made
    for each in made.opened:
        each.close()


def capability(name: str = "it", task_id: str = "task", **changes: Any) -> dict[str, Any]:
    """A task that runs a saved capability."""
    return {"id": task_id, "type": "capability", "capabilityId": name, **changes}


def code(source: str, task_id: str = "task", **changes: Any) -> dict[str, Any]:
    """A task with Python of its own."""
    task = {"id": task_id, "type": "code_execution", "code": source, "language": "python"}
    return {**task, **changes}


def events_of(executor: ControlledExecutor, *types: str) -> list[dict[str, Any]]:
    """What the ledger has of these types, in its order."""
    rows = executor._journal.ledger.history.events()
    found = [dict(whole_event(row)) for row in rows]
    return [each for each in found if each["type"] in types]


def log_of(executor: ControlledExecutor, capability_id: str | None = None) -> list[tuple[Any, ...]]:
    """The rows of the log, each as from, to, approved."""
    store = executor.get_permission_audit_store()
    assert store is not None
    rows = store.get_audit_log(capability_id)
    return [(str(row.from_set), str(row.to_set), row.approved) for row in rows]


def set_of(executor: ControlledExecutor, capability_id: str) -> tuple[str, float]:
    """The set that is stored, as somebody else reads it."""
    found = executor.capabilities.find(capability_id)
    assert found is not None
    return str(found.permission_set), found.permission_confidence


def failed_as_it_was(done: TaskResult) -> bool:
    """Whether the task has the error that its own code met."""
    error = done.error
    assert error is not None
    return (done.success, error.type, error.message) == (False, "FileNotFoundError", NO_SUCH_FILE)
