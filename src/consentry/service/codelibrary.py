"""Snippets for another program: what a call names, and what it gets back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

from consentry.base.canonical import Json
from consentry.enforce.confinement import Limits
from consentry.enforce.native.snippets import SnippetError
from consentry.enforce.violations import PermissionDenied
from consentry.service.givenvalues import Word, positive, words_of, wrong
from consentry.service.profiles import find_profile
from consentry.service.snippetruns import CodeRun, CodeWish
from consentry.service.surroundings import Surroundings
from consentry.surface.permission_sets import PermissionSet

NAME: Final = "snippet.py"


class CodeWanted(TypedDict, total=False):
    """What a call may say besides the snippet."""

    arguments: Mapping[str, Any] | None
    preload: Sequence[str]
    read: Sequence[Word]
    permission_set: str | None
    profile: str | None
    timeout: float | None
    memory: int | None
    cpu: int | None
    processes: int | None
    max_output: int | None


@dataclass(frozen=True, slots=True)
class CodeResult:
    """A snippet's run that is over and recorded.

    `result` is its JSON value; where it gave none, `error` says why in the snippet's own words.
    `status` is a word of the audit entry: `success`, `failure`, `timeout`, `killed`, `limit` or
    `discarded`.
    """

    run_id: str
    status: str
    result: Any
    error: SnippetError | None
    exit_code: int | None
    signal: int | None
    limit: str | None
    stdout: bytes = field(repr=False)
    stderr: bytes = field(repr=False)
    output_complete: bool
    violations: tuple[PermissionDenied, ...]
    committed: bool
    discarded: str | None
    record: Mapping[str, Json] = field(repr=False)

    @classmethod
    def of(cls, run: CodeRun) -> "CodeResult":
        """What a caller gets to see of a run."""
        outcome = run.outcome
        return cls(
            run_id=run.audit_id,
            status=run.status.value,
            result=run.result,
            error=run.error,
            exit_code=outcome.exit_code,
            signal=outcome.signal,
            limit=outcome.limit,
            stdout=outcome.stdout,
            stderr=outcome.stderr,
            output_complete=len(outcome.stdout) + len(outcome.stderr) >= outcome.output_bytes,
            violations=run.facts.violations,
            committed=run.facts.impact.committed,
            discarded=run.facts.impact.discarded,
            record=run.entry,
        )


def code_wish(
    source: str | bytes,
    around: Surroundings,
    *,
    arguments: Mapping[str, Any] | None = None,
    preload: Sequence[str] = (),
    read: Sequence[Word] = (),
    permission_set: str | None = None,
    profile: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    cpu: int | None = None,
    processes: int | None = None,
    max_output: int | None = None,
) -> CodeWish:
    """The wish that a call spells out."""
    try:
        content = source.encode() if isinstance(source, str) else bytes(source)
    except UnicodeEncodeError:
        raise wrong("`source` has a letter that is no Unicode") from None
    if not all(isinstance(name, str) for name in arguments or ()):
        raise wrong("`arguments` has a name that is no text")
    if permission_set is not None and profile is not None:
        raise wrong("`permission_set` and `profile` exclude each other")
    return CodeWish(
        source=content,
        name=NAME,
        permission_set=None if permission_set is None else PermissionSet.named(permission_set),
        profile=None if profile is None else find_profile(profile, around),
        read=words_of("read", read),
        preload=words_of("preload", preload),
        arguments=dict(arguments or {}),
        limits=Limits(
            cpu_seconds=positive("cpu", cpu),
            memory_bytes=positive("memory", memory),
            processes=positive("processes", processes),
            output_bytes=positive("max_output", max_output),
            wall_seconds=positive("timeout", timeout),
        ),
    )
