"""Carries a failed execution from its denial to a person's answer (ESCALATION AC4, AC5, AC9).

The handler decides whether anybody may be asked, and asks once. It never updates a stored set: the
transaction that writes the answer does, together with its row of the log, so that after a crash both
are there or neither.
"""

from collections.abc import Sequence
from typing import Protocol

from consentry.base.canonical import Digest, Json
from consentry.base.values import dataclass, field
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.escalationrequest import PermissionEscalationRequest
from consentry.surface.permission_sets import PermissionSet


@dataclass(frozen=True, slots=True)
class Failed:
    """What an executor tells of a failed run.

    `error` is the text to read: on native the record's own denial as `PermissionDenied` words it,
    for deno the program's error. `original_error` is what the caller gets when nothing comes of it.
    `current_set` is the set it ran in. `so_far` is what it did until then, in words.
    """

    execution_id: str
    capability_id: str
    current_set: PermissionSet
    error: str = field(repr=False)
    original_error: str = field(repr=False)
    engine: str
    ephemeral: bool = False
    code_hash: Digest | None = None
    version: int | None = None
    so_far: Sequence[str] = ()
    workspace: str | None = None
    allowlist: Sequence[str] = ()
    arguments: Json = field(default=None, repr=False)
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Escalated:
    """What came of it.

    `approved` with `new_set`: run once more, in that set. Otherwise `code` says why not (the codes of
    approvals and of escalations; None where the text speaks of no denial), `feedback` in words, and
    `help_line` what would help.
    """

    approved: bool
    new_set: PermissionSet | None = None
    code: str | None = None
    feedback: str | None = None
    help_line: str | None = None
    request: PermissionEscalationRequest | None = None
    request_id: str | None = None


class AskEscalation(Protocol):
    """Puts the question of an execution, once."""

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """The request that this execution has made before, in any process; None if none."""
        ...

    def __call__(self, ask: EscalationAsk) -> ApprovalRequest:
        """Asks, or joins the question that this execution has pending, and waits for its end.

        Settled, however; or still pending where nobody waits.
        """
        ...
