"""What a call of the library gets back: a run that is over and recorded, as its caller sees it."""

from collections.abc import Mapping
from typing import Any

from consentry.base.canonical import Json
from consentry.base.values import dataclass, field
from consentry.enforce.native.snippets import SnippetError
from consentry.enforce.violations import PermissionDenied
from consentry.service.runledger import Run
from consentry.service.runrecord import Rehearsal
from consentry.service.snippetruns import CodeRun
from consentry.service.toolruns import ToolRun


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run that is over and recorded.

    `status` is a word of the audit entry: `success`, `failure`, `timeout`, `killed`, `limit` or
    `discarded`. `violations` are what was stopped, `record` is the whole entry. The output is the
    program's own word; `output_complete` is false where there was more of it than is kept.
    """

    run_id: str
    status: str
    exit_code: int | None
    signal: int | None
    limit: str | None
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    output_complete: bool
    violations: tuple[PermissionDenied, ...]
    committed: bool
    discarded: str | None
    rehearsed: Rehearsal | None
    record: Mapping[str, Json] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CodeResult(RunResult):
    """A snippet's run that is over and recorded.

    `result` is its JSON value; where it gave none, `error` says why in the snippet's own words.
    """

    result: Any
    error: SnippetError | None


@dataclass(frozen=True, slots=True)
class ToolResult(RunResult):
    """A tool's run that is over and recorded.

    `waiting` is the run whose effect waits for its second yes; `refused` says why an effect that was
    to be taken over was not.
    """

    waiting: str | None
    refused: str | None


def tool_result(over: ToolRun) -> ToolResult:
    """What a caller gets to see of a tool's run."""
    seen = _seen(over.run)
    seen["status"] = over.status.value
    seen["committed"] = seen["committed"] or over.settled is not None
    problem = over.problem
    return ToolResult(
        **seen,
        waiting=over.run.audit_id if over.waits else None,
        refused=None if problem is None or over.waits else problem.message,
    )


def run_result(run: Run) -> RunResult:
    """What a caller gets to see of a program's run."""
    return RunResult(**_seen(run))


def code_result(run: CodeRun) -> CodeResult:
    """What a caller gets to see of a snippet's run."""
    return CodeResult(**_seen(run), result=run.result, error=run.error)


def _seen(run: Run) -> dict[str, Any]:
    outcome, facts = run.outcome, run.facts
    return {
        "run_id": run.audit_id,
        "status": run.status.value,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "limit": outcome.limit,
        "stdout": outcome.stdout,
        "stderr": outcome.stderr,
        "output_complete": outcome.output_complete,
        "violations": facts.violations,
        "committed": facts.impact.committed,
        "discarded": facts.impact.discarded,
        "rehearsed": facts.impact.rehearsal,
        "record": run.entry,
    }
