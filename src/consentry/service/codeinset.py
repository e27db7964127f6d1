"""Code in a permission set: what is to run, and one attempt of it that is over.

The same for a saved capability and for the code of a task.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

from consentry.base.values import dataclass, field
from consentry.decide.capabilities import Language
from consentry.decide.escalationreach import DENO, NATIVE
from consentry.enforce.confinement import Limits
from consentry.enforce.native.snippets import SnippetError
from consentry.enforce.native.streamends import Io
from consentry.record.auditfields import ExecutionStatus
from consentry.service.runledger import Run
from consentry.surface.permission_sets import PermissionSet

OpenIo: TypeAlias = Callable[[str], AbstractContextManager[Io]]
"""Takes the streams for one attempt of what has that name; a terminal is for questions between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeInSet:
    """Code, and what it is to run with.

    `name` is how records call it. `network` narrows what the set opens and never adds to it.
    `read` are paths of the workspace that a task may read besides, whatever its set. With `holds`
    what it is refused waits for a person's answer, where whoever runs it has one to ask.
    """

    code: str = field(repr=False)
    language: Language
    name: str
    permission_set: PermissionSet = PermissionSet.MINIMAL
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    network: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    holds: bool = False

    @property
    def engine(self) -> str:
        """What runs it."""
        return NATIVE if self.language is Language.PYTHON else DENO


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that is over and recorded.

    `denial` is the text that an escalation is read from, None where there is nothing to ask about:
    on native the record's own denial, for deno the program's error. `so_far` says in words what the
    code did. What it printed is in `run.outcome`, where it was kept.
    """

    run: Run
    code: CodeInSet
    result: object
    error: SnippetError | None
    denial: str | None
    so_far: tuple[str, ...]

    @property
    def engine(self) -> str:
        """What ran it."""
        return self.code.engine

    @property
    def is_success(self) -> bool:
        """Whether it gave a result, and what it wrote was taken over."""
        return self.error is None and self.run.status is ExecutionStatus.SUCCESS
