"""Tasks as they are given: the document's fields, units, defaults, and errors that name the field."""

import json
from typing import Any

import pytest

from consentry.base.errors import ConsentryError
from consentry.base.units import Duration, Size
from consentry.decide.capabilities import Language
from consentry.flow.tasks import SandboxConfig, Task, TaskType, execution_of
from consentry.surface.permission_sets import PermissionSet

EXAMPLE: dict[str, Any] = {
    "id": "fetch_data",
    "type": "code_execution",
    "code": "const response = await fetch('https://api.example.com/data');",
    "dependsOn": [],
    "sandboxConfig": {"permissionSet": "network-api"},
}


def sandbox(**fields: Any) -> SandboxConfig:
    """What a task says of its sandbox, read."""
    return Task.from_json({**EXAMPLE, "sandboxConfig": fields}).sandbox_config


def field_refused(document: Any) -> str:
    """The field that an error is about."""
    with pytest.raises(ConsentryError) as caught:
        Task.from_json(document)
    assert caught.value.where is not None
    return str(caught.value.where.field)


def test_the_documents_own_task_is_read() -> None:
    """ESCALATION §code-config: as it stands there; its code is TypeScript."""
    task = Task.from_json(EXAMPLE)
    assert (task.id, task.type) == ("fetch_data", TaskType.CODE_EXECUTION)
    assert task.language is Language.TYPESCRIPT
    assert task.sandbox_config.permission_set is PermissionSet.NETWORK_API
    assert Task.from_json(json.loads(json.dumps(task.to_json()))) == task


def test_every_field_of_the_sandbox_is_optional() -> None:
    """ESCALATION §code-config, §code-1: without a set it is `minimal`, and nothing is limited."""
    assert sandbox() == SandboxConfig()
    task = Task.from_json({name: EXAMPLE[name] for name in ("id", "type", "code")})
    assert task.sandbox_config == SandboxConfig(
        timeout=None,
        memory_limit=None,
        allowed_read_paths=(),
        permission_set=PermissionSet.MINIMAL,
    )


def test_numbers_are_milliseconds_and_megabytes() -> None:
    """CONTRACTS §12-task-units: texts with units are taken too."""
    assert sandbox(timeout=1500).timeout == Duration(1500) == sandbox(timeout="1.5s").timeout
    assert sandbox(timeout=0.2).timeout == Duration(1)
    half = sandbox(memoryLimit=512).memory_limit
    assert half == Size(512 * 1024 * 1024) == sandbox(memoryLimit="512MB").memory_limit
    assert sandbox(memoryLimit=0.5).memory_limit == Size.parse("512K")
    written = sandbox(timeout="2s", memoryLimit="1G").to_json()
    assert (written["timeout"], written["memoryLimit"]) == (2000, 1024)
    assert sandbox(memoryLimit="1K").to_json()["memoryLimit"] == "1KB"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"timeout": 0}, "timeout"),
        ({"timeout": -5}, "timeout"),
        ({"timeout": "5"}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"timeout": float("inf")}, "timeout"),
        ({"timeout": "400d"}, "timeout"),
        ({"memoryLimit": 0}, "memoryLimit"),
        ({"memoryLimit": "much"}, "memoryLimit"),
        ({"memoryLimit": "0MB"}, "memoryLimit"),
        ({"memoryLimit": [1]}, "memoryLimit"),
        ({"allowedReadPaths": "./data"}, "allowedReadPaths"),
        ({"allowedReadPaths": [1]}, "allowedReadPaths[0]"),
        ({"allowedReadPaths": ["data", ""]}, "allowedReadPaths[1]"),
        ({"permissionSet": "all"}, "permissionSet"),
        ({"permissionSet": "trusted"}, "permissionSet"),
        ({"permissionset": "minimal"}, "permissionset"),
    ],
)
def test_a_sandbox_that_cannot_be_meant_is_refused(fields: dict[str, Any], named: str) -> None:
    """With the field's name, below `sandboxConfig`; `trusted` is for no task."""
    assert field_refused({**EXAMPLE, "sandboxConfig": fields}) == f"sandboxConfig.{named}"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"id": None}, "id"),
        ({"id": "a/b"}, "id"),
        ({"id": "a b"}, "id"),
        ({"id": "x" * 129}, "id"),
        ({"type": None}, "type"),
        ({"type": "shell"}, "type"),
        ({"code": None}, "code"),
        ({"code": 5}, "code"),
        ({"language": "ruby"}, "language"),
        ({"arguments": [1]}, "arguments"),
        ({"arguments": {1: 2}}, "arguments"),
        ({"capabilityId": "lint"}, "capabilityId"),
        ({"dependsOn": "other"}, "dependsOn"),
        ({"sandboxConfig": 5}, "sandboxConfig"),
        ({"sandbox": {}}, "sandbox"),
        ({"type": "capability"}, "capabilityId"),
        ({"type": "capability", "capabilityId": "lint"}, "code"),
    ],
)
def test_a_task_that_cannot_be_meant_is_refused(changes: dict[str, Any], named: str) -> None:
    """With the field's name."""
    assert field_refused({**EXAMPLE, **changes}) == named


def test_a_capability_has_its_own_set_and_paths() -> None:
    """A task does not change them; limits it may say."""
    task = {"id": "t", "type": "capability", "capabilityId": "lint"}
    assert Task.from_json({**task, "sandboxConfig": {"timeout": 5000}}).capability_id == "lint"
    for fields in ({"permissionSet": "filesystem"}, {"allowedReadPaths": ["data"]}):
        refused = field_refused({**task, "sandboxConfig": fields})
        assert refused == f"sandboxConfig.{next(iter(fields))}"


def test_in_python_the_language_of_code_is_said() -> None:
    """A guess would run one language as another."""
    with pytest.raises(ConsentryError, match="python, typescript, javascript"):
        Task(id="t", type=TaskType.CODE_EXECUTION, code="1")
    task = Task(id="t", type=TaskType.CODE_EXECUTION, code="1", language=Language.PYTHON)
    assert Task.of(task, TaskType.CODE_EXECUTION) is task


def test_a_task_of_another_type_is_refused() -> None:
    """Before anything runs."""
    with pytest.raises(ConsentryError, match="`code_execution` is not `capability`"):
        Task.of(EXAMPLE, TaskType.CAPABILITY)


def test_an_execution_is_a_task_in_a_workflow() -> None:
    """The same after a restart, another for every other pair."""
    assert execution_of("w", "t") == execution_of("w", "t")
    pairs = [("w", "t"), ("w.t", "t"), ("w", "t.t"), ("t", "w")]
    assert len({execution_of(*pair) for pair in pairs}) == len(pairs)
    with pytest.raises(ConsentryError):
        execution_of("w/t", "t")
