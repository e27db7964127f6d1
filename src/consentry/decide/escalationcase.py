"""A failed execution as its executor tells of it, what of it a request keeps, and what came of it.

What a request keeps is bounded and can be written: a text that no database takes, an endless list or
a large argument is no reason for not asking. It is shown to a person and compared at a restart; the
code itself and what it needs to run stay with the executor.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from consentry.base.canonical import Digest, Json, canonical_json, digest_bytes
from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass, field
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.escalationrequest import PermissionEscalationRequest, storable
from consentry.examine.denialtext import MOST_RESOURCE, DeniedText
from consentry.surface.permission_sets import PermissionSet

MOST_SO_FAR: Final = 100
"""So many lines of what the code did are kept in a request."""

_MOST_LINE: Final = 400
_MOST_ARGUMENTS: Final = 64 * 1024


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

    def to_json(self) -> dict[str, Json]:
        """As it is serialised."""
        return {
            "approved": self.approved,
            "newSet": None if self.new_set is None else self.new_set.value,
            "code": self.code,
            "feedback": self.feedback,
            "help": self.help_line,
            "request": None if self.request is None else self.request.to_json(),
            "requestId": self.request_id,
        }


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


def is_same_code(
    asked: EscalationAsk,
    *,
    code_hash: Digest | None,
    engine: str,
    arguments: Json,
    workspace: str | None,
    network: Sequence[str] = (),
) -> bool:
    """Whether a question was about this very code of a task, with these arguments, in this workspace.

    What was shown of the network was what the list left of it: another list is another question.
    """
    kept = canonical_json(kept_arguments(arguments))
    return (
        asked.ephemeral
        and (asked.code_hash, asked.engine, asked.workspace) == (code_hash, engine, workspace)
        and sorted(asked.network) == sorted(network)
        and canonical_json(asked.arguments) == kept
    )


def kept_resource(denied: DeniedText) -> str | None:
    """What was denied, by its name; None where it has none."""
    return None if not denied.resource else storable(denied.resource, MOST_RESOURCE)


def kept_lines(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines as a request holds them; the last one says how many there were besides."""
    kept = tuple(storable(line, _MOST_LINE) for line in lines[:MOST_SO_FAR])
    left = len(lines) - len(kept)
    return (*kept, f"and {left} more") if left else kept


def kept_arguments(arguments: Json) -> Json:
    """The arguments as a request holds them: where it cannot, or where they are long, their digest."""
    try:
        is_short = len(canonical_json(arguments)) <= _MOST_ARGUMENTS
    except ConsentryError:
        is_short = False
    if is_short:
        return arguments
    return {"digest": digest_bytes(repr(arguments).encode("utf-8", "surrogatepass"))}
