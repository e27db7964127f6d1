"""Tasks as a host program gives them: a saved capability, or code of its own (ESCALATION §code-config).

A task is read strictly, and what is wrong is named by its field. A task of ESCALATION has no
`language`: its code is TypeScript, and that is what a document without one means. In Python the
language of code is always said.

`trusted` is no set for a task: it is given to a saved capability by hand, and by nothing else. What a
task depends on is kept for whoever orders tasks; one task is executed at a time.
"""

import math
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeGuard, TypeVar

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, Where
from consentry.base.units import Duration, Size
from consentry.base.values import dataclass, field
from consentry.decide.capabilities import Language, check_code
from consentry.flow.given import Given
from consentry.surface.permission_sets import PermissionSet

Amount = TypeVar("Amount", Duration, Size)

MOST_ID: Final = 128
"""So many characters may the id of a task or a workflow have."""

PERMISSION_ERROR_NAMES: Final = ("PermissionError", "PermissionDenied", "NotCapable")
"""What an error is called that speaks of a missing permission (ESCALATION §code-2)."""

_ID: Final = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.:@-]{{0,{MOST_ID - 1}}}", re.ASCII)
_MEGABYTE: Final = 1024 * 1024
_MOST_NUMBER: Final = 2**53 - 1
_LARGEST_MS: Final = 7 * 24 * 3_600_000
_SANDBOX: Final = "sandboxConfig"
_SANDBOX_KEYS: Final = ("timeout", "memoryLimit", "allowedReadPaths", "permissionSet")
_KEYS: Final = (
    "id",
    "type",
    "capabilityId",
    "code",
    "language",
    "arguments",
    "dependsOn",
    _SANDBOX,
)


class TaskType(StrEnum):
    """What a task runs."""

    CAPABILITY = "capability"
    CODE_EXECUTION = "code_execution"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxConfig:
    """How the code of a task is confined; what is not said is not limited further."""

    timeout: Duration | None = None
    memory_limit: Size | None = None
    allowed_read_paths: tuple[str, ...] = ()
    permission_set: PermissionSet = PermissionSet.MINIMAL

    def __post_init__(self) -> None:
        if self.permission_set is PermissionSet.TRUSTED:
            raise _wrong(
                f"{_SANDBOX}.permissionSet",
                "`trusted` is never given to a task",
                "name a smaller set; a larger one is asked for when it turns out to be needed",
            )
        for index, path in enumerate(self.allowed_read_paths):
            if not path or "\0" in path:
                name = f"{_SANDBOX}.allowedReadPaths[{index}]"
                raise _wrong(name, f"`{path}` is not the name of a file")

    def to_json(self) -> dict[str, Json]:
        """The four fields; milliseconds and megabytes, or with a unit where those are not whole."""
        return {
            "timeout": None if self.timeout is None else self.timeout.milliseconds,
            "memoryLimit": None if self.memory_limit is None else _as_megabytes(self.memory_limit),
            "allowedReadPaths": list(self.allowed_read_paths),
            "permissionSet": self.permission_set.value,
        }

    @classmethod
    def from_json(cls, document: object) -> "SandboxConfig":
        """Reads what a task says of it; every field may be missing."""
        given = Given(document, _SANDBOX_KEYS, place=_SANDBOX)
        named = given.member("permissionSet", PermissionSet)
        return cls(
            timeout=_duration(given, "timeout"),
            memory_limit=_size(given, "memoryLimit"),
            allowed_read_paths=given.texts("allowedReadPaths"),
            permission_set=PermissionSet.MINIMAL if named is None else named,
        )


_PLAIN: Final = SandboxConfig()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One thing to execute.

    `capability_id` is the id or the name of a saved capability. `arguments` are names and JSON values
    that the code finds.
    """

    id: str
    type: TaskType
    capability_id: str | None = None
    code: str | None = field(default=None, repr=False)
    language: Language | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    depends_on: tuple[str, ...] = ()
    sandbox_config: SandboxConfig = _PLAIN

    def __post_init__(self) -> None:
        check_task_id("id", self.id)
        if self.type is TaskType.CAPABILITY:
            self._check_capability()
        else:
            self._check_code()

    def _check_capability(self) -> None:
        if not self.capability_id:
            raise _wrong("capabilityId", f"a task of the type `{self.type}` names one")
        if self.code is not None:
            raise _wrong("code", "a saved capability has its own code")
        config = self.sandbox_config
        if config.permission_set is not PermissionSet.MINIMAL:
            raise _wrong(
                f"{_SANDBOX}.permissionSet",
                "a saved capability has its own set",
                "`consentry capability set` changes it",
            )
        if config.allowed_read_paths:
            raise _wrong(
                f"{_SANDBOX}.allowedReadPaths", "a saved capability reads what its set opens"
            )

    def _check_code(self) -> None:
        if self.capability_id is not None:
            raise _wrong("capabilityId", f"a task of the type `{self.type}` has code of its own")
        if self.code is None:
            raise _wrong("code", "the field is missing")
        check_code(self.code)
        if self.language is None:
            raise _wrong("language", f"the field is missing: {', '.join(Language)}")

    def to_json(self) -> dict[str, Json]:
        """As it is serialised; what was not said is left out."""
        said: dict[str, Json] = {
            "capabilityId": self.capability_id,
            "code": self.code,
            "language": None if self.language is None else self.language.value,
        }
        return {
            "id": self.id,
            "type": self.type.value,
            **{name: value for name, value in said.items() if value is not None},
            "arguments": dict(self.arguments),
            "dependsOn": list(self.depends_on),
            _SANDBOX: self.sandbox_config.to_json(),
        }

    @classmethod
    def from_json(cls, document: object) -> "Task":
        """Reads a task; raises naming the field that is wrong."""
        given = Given(document, _KEYS)
        kind = given.member("type", TaskType)
        if kind is None:
            given.refuse("type", "the field is missing", f"known are {', '.join(TaskType)}")
        is_code = kind is TaskType.CODE_EXECUTION
        sandbox = given.value(_SANDBOX)
        return cls(
            id=given.required("id"),
            type=kind,
            capability_id=given.text("capabilityId"),
            code=given.text("code"),
            language=given.member("language", Language)
            or (Language.TYPESCRIPT if is_code else None),
            arguments=given.object("arguments"),
            depends_on=given.texts("dependsOn"),
            sandbox_config=_PLAIN if sandbox is None else SandboxConfig.from_json(sandbox),
        )

    @classmethod
    def of(cls, given: "Task | Mapping[str, object]", expected: TaskType) -> "Task":
        """The task, or what its JSON form says; raises where it is of another type."""
        task = given if isinstance(given, Task) else cls.from_json(given)
        if task.type is not expected:
            raise _wrong("type", f"`{task.type}` is not `{expected}`")
        return task


def check_task_id(name: str, text: object) -> str:
    """Returns the id of a task or a workflow, or raises naming the field."""
    if not isinstance(text, str) or _ID.fullmatch(text) is None:
        message = (
            f"`{text}` is not an id of 1 to {MOST_ID} letters, digits and `_`, or `.`, `:`, `@`, `-` "
            "after the first"
        )
        raise _wrong(name, message)
    return text


def is_permission_error(error: str) -> bool:
    """Whether an error, its name and message in one text, is about a missing permission."""
    return any(name in error for name in PERMISSION_ERROR_NAMES)


def execution_of(workflow_id: str, task_id: str) -> str:
    """The id of the execution of a task in a workflow, the same after every restart."""
    # Neither id has a slash in it, so no two pairs give the same.
    return f"{check_task_id('workflowId', workflow_id)}/{check_task_id('id', task_id)}"


def _duration(given: Given, name: str) -> Duration | None:
    """Milliseconds, or a text with a unit."""
    value = given.value(name)
    if value is None:
        return None
    if isinstance(value, str):
        found = _parsed(given, name, value, Duration)
    elif _is_amount(value):
        found = Duration(math.ceil(value))
    else:
        given.refuse(name, f"`{value}` is no number of milliseconds", "write 5000, or `5s`")
    if not 0 < found.milliseconds <= _LARGEST_MS:
        given.refuse(name, f"`{value}` is no time that a task may take", "write 5000, or `5s`")
    return found


def _size(given: Given, name: str) -> Size | None:
    """Megabytes, or a text with a unit."""
    value = given.value(name)
    if value is None:
        return None
    if isinstance(value, str):
        found = _parsed(given, name, value, Size)
    elif _is_amount(value):
        found = Size(int(value * _MEGABYTE))
    else:
        given.refuse(name, f"`{value}` is no number of megabytes", "write 256, or `256MB`")
    if found.count < 1:
        given.refuse(name, f"`{value}` is no memory to run in", "write 256, or `256MB`")
    return found


def _parsed(given: Given, name: str, text: str, kind: type[Amount]) -> Amount:
    try:
        return kind.parse(text)
    except ConsentryError as wrong:
        given.refuse(name, wrong.message, wrong.help_line)


def _is_amount(value: object) -> TypeGuard[float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and 0 < value <= _MOST_NUMBER


def _as_megabytes(size: Size) -> Json:
    whole, rest = divmod(size.count, _MEGABYTE)
    return str(size) if rest else whole


def _wrong(name: str, message: str, help_line: str | None = None) -> BadInput:
    return BadInput(Code.DOCUMENT_INVALID, message, where=Where(field=name), help_line=help_line)
