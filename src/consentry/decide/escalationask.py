"""What a person is asked when code wants a larger permission set, as it stands in the request.

The request is all that an approver in another process has, and all that the answer's transaction
has: the step, the execution that asks, the code and version it runs, and what it did so far. It is
written once, when the question is put, and read back strictly.

What a JavaScript runtime reports is the program's own word: such a prompt is headed so.
"""

from typing import Final

from consentry.base.canonical import Digest, Json
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass, field
from consentry.decide.approval import ApprovalRequest
from consentry.decide.askreading import read_ask
from consentry.decide.capabilitycode import subject_of
from consentry.decide.escalationrequest import (
    PermissionEscalationRequest,
    escalation_digest,
    format_escalation_request,
)
from consentry.decide.fields import Fields, check_digest, check_text, check_texts, problem
from consentry.decide.question import Question, RequestKind

ASK_VERSION: Final = 1
REPORTED: Final = "reported by the program itself, not observed"
"""How a question is headed that rests on a program's own word."""

_MOST_NAME: Final = 120
_SHOWN_LINE: Final = 400
_KEPT_NOTE: Final = (
    "The set is kept with the capability until its code changes, and holds in every workspace."
)
_EPHEMERAL_NOTE: Final = (
    "This is a code task: the larger set holds for this run only, and is not kept."
)
_NOTHING_YET: Final = "nothing that was recorded"

_FIELDS: Final = (
    "askVersion",
    "request",
    "executionId",
    "ephemeral",
    "codeHash",
    "version",
    "engine",
    "truthNote",
    "resource",
    "delta",
    "soFar",
    "workspace",
    "network",
    "arguments",
    "name",
    "userId",
)


@dataclass(frozen=True, slots=True)
class EscalationAsk:
    """One execution that wants a larger set, with all that its answer needs to know.

    `ephemeral` is a code task's: its id stands for a capability's and nothing is stored.
    `code_hash` and `version` say which code asked. `network` is the list that narrows its run.
    `user_id` is on whose behalf it runs.
    """

    request: PermissionEscalationRequest
    execution_id: str
    engine: str
    ephemeral: bool = False
    code_hash: Digest | None = None
    version: int | None = None
    truth_note: str | None = None
    resource: str | None = None
    delta: tuple[str, ...] = ()
    so_far: tuple[str, ...] = ()
    workspace: str | None = None
    network: tuple[str, ...] = ()
    arguments: Json = field(default=None, repr=False)
    name: str | None = None
    user_id: str | None = None

    def __post_init__(self) -> None:
        check_text("capabilityId", self.request.capability_id)
        check_text("executionId", self.execution_id)
        check_text("engine", self.engine)
        check_digest("codeHash", self.code_hash)
        check_texts("delta", self.delta)
        check_texts("soFar", self.so_far)
        check_texts("network", self.network)
        for name, value in (
            ("truthNote", self.truth_note),
            ("resource", self.resource),
            ("workspace", self.workspace),
            ("name", self.name),
            ("userId", self.user_id),
        ):
            if value is not None:
                check_text(name, value)

    @property
    def subject(self) -> str:
        """Who asks: the capability or the task."""
        return subject_of(self.request.capability_id, ephemeral=self.ephemeral)

    @property
    def digest(self) -> Digest:
        """What this execution's one request is found by."""
        return escalation_digest(self.execution_id, self.request.capability_id)

    def question(self, *, session_id: str | None, policy_hash: Digest | None) -> Question:
        """The question that is put for it; its text is made safe where it is shown, as any other."""
        request = self.request
        called = (self.name or request.capability_id)[:_MOST_NAME]
        return Question(
            kind=RequestKind.ESCALATION,
            subject=self.subject,
            text=f"may {called} go from {request.current_set} to {request.requested_set}?",
            preview=self.to_json(),
            digest=self.digest,
            policy_hash=policy_hash,
            session_id=session_id,
        )

    def lines(self) -> tuple[str, ...]:
        """The whole prompt in safe text, each value on a line of its own."""
        lines: list[str] = []
        if self.truth_note is not None:
            lines += [_line(self.truth_note), ""]
        lines += [*format_escalation_request(self.request).split("\n"), ""]
        lines += [_EPHEMERAL_NOTE if self.ephemeral else _KEPT_NOTE, ""]
        if self.delta:
            lines += [f"What {self.request.requested_set} adds:", *map(_item, self.delta), ""]
        lines += ["What the code did so far:", *map(_item, self.so_far or (_NOTHING_YET,))]
        return tuple(lines)

    def to_json(self) -> dict[str, Json]:
        """As it stands in the request."""
        return {
            "askVersion": ASK_VERSION,
            "request": self.request.to_json(),
            "executionId": self.execution_id,
            "ephemeral": self.ephemeral,
            "codeHash": self.code_hash,
            "version": self.version,
            "engine": self.engine,
            "truthNote": self.truth_note,
            "resource": self.resource,
            "delta": list(self.delta),
            "soFar": list(self.so_far),
            "workspace": self.workspace,
            "network": list(self.network),
            "arguments": self.arguments,
            "name": self.name,
            "userId": self.user_id,
        }

    @classmethod
    def from_json(cls, document: object) -> "EscalationAsk":
        """Reads what `to_json` writes."""
        fields = Fields(document, _FIELDS)
        if fields.whole("askVersion") != ASK_VERSION:
            raise problem("askVersion", f"`{fields.whole('askVersion')}` is not known here")
        return cls(
            request=PermissionEscalationRequest.from_json(fields.value("request")),
            execution_id=fields.text("executionId"),
            engine=fields.text("engine"),
            ephemeral=fields.flag("ephemeral"),
            code_hash=fields.optional_digest("codeHash"),
            version=None if fields.value("version") is None else fields.whole("version"),
            truth_note=fields.optional_text("truthNote"),
            resource=fields.optional_text("resource"),
            delta=fields.texts("delta"),
            so_far=fields.texts("soFar"),
            workspace=fields.optional_text("workspace"),
            network=fields.texts("network"),
            arguments=fields.value("arguments"),
            name=fields.optional_text("name"),
            user_id=fields.optional_text("userId"),
        )

    @classmethod
    def of(cls, request: ApprovalRequest) -> "EscalationAsk":
        """What that request asks for; raises where it is about something else."""
        question = request.question
        ask = read_ask(
            request, RequestKind.ESCALATION, "ask for a larger permission set", cls.from_json
        )
        if question.subject != ask.subject:
            raise problem("request", f"`{ask.subject}` is not who asks")
        if question.digest != ask.digest:
            raise problem("digest", "what was shown is another execution's")
        return ask


def _line(text: str) -> str:
    return safe_line(text, limit=_SHOWN_LINE)


def _item(text: str) -> str:
    return f"- {_line(text)}"
