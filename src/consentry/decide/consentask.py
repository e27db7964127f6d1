"""What a person is asked to agree to when a tool wants to run, as it stands in the request.

The request is all that an approver in another process has: the tool at its version and digest, the
very surface that would be remembered, the arguments, the level, and which answers the configuration
of the asking side takes. It is written once, when the question is put, and read back strictly; what
was shown (`shown`) is carried along as the preview made it, and decides nothing.
"""

from dataclasses import dataclass, field
from typing import Final

from consentry.base.canonical import Digest, Json
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consentcheck import Lack
from consentry.decide.fields import Fields, check_digest, check_text, check_texts, problem
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Channel, Outcome, Question, RequestKind
from consentry.declare.consent import RememberDuration
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod
from consentry.surface.lattice import Surface
from consentry.surface.wire import surface_from_json, surface_to_json

ASK_VERSION: Final = 1
SUBJECT_PREFIX: Final = "tool:"

_FIELDS: Final = (
    "askVersion",
    "tool",
    "version",
    "surface",
    "arguments",
    "workspace",
    "level",
    "remember",
    "recordReason",
    "batch",
    "flags",
    "lack",
    "shown",
)


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """Which answers are taken.

    `remember` is for how long a yes is remembered by default; None means that none may be.
    """

    remember: RememberDuration | None = None
    needs_reason: bool = False
    allows_batch: bool = False


@dataclass(frozen=True, slots=True)
class ConsentAsk:
    """One tool that wants to run.

    `flags` says what was found in its texts that a person cannot see; `lack` why an earlier yes does
    not hold.
    """

    tool: str
    version: str
    digest: Digest
    surface: Surface = field(repr=False)
    arguments: tuple[str, ...]
    workspace: str
    level: ConsentLevel
    rules: AnswerRules = AnswerRules()
    flags: tuple[str, ...] = ()
    lack: Lack | None = None
    shown: Json = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_text("tool", self.tool)
        check_text("version", self.version)
        check_digest("digest", self.digest)
        check_text("workspace", self.workspace)
        check_texts("arguments", self.arguments)
        check_texts("flags", self.flags)

    @property
    def is_strict(self) -> bool:
        """Whether a yes needs the typed word."""
        return self.level is ConsentLevel.STRICT

    def question(self, policy_hash: Digest | None, session_id: str | None) -> Question:
        """The question that is put for it."""
        return Question(
            kind=RequestKind.CONSENT,
            subject=SUBJECT_PREFIX + self.tool,
            text=f"may {self.tool} {self.version} run?",
            preview=self.to_json(),
            digest=self.digest,
            policy_hash=policy_hash,
            session_id=session_id,
        )

    def require_takes(self, answer: Answer) -> None:
        """Raises unless this is an answer that can be given; a no always can."""
        if answer.outcome is not Outcome.APPROVED:
            return
        if self.is_strict and self.flags:
            message = f"`{self.tool}` hides something: {'; '.join(self.flags)}"
            raise Refused(Code.ANSWER_REFUSED, message, help_line=_HIDDEN_HELP)
        if self.rules.needs_reason and not (answer.reason or "").strip():
            message = f"a yes to `{self.tool}` needs a reason"
            raise Refused(Code.ANSWER_REFUSED, message, help_line=_REASON_HELP)
        if answer.lasts is None:
            raise problem("lasts", "a yes to a tool says for how long")
        if self.rules.remember is None and answer.lasts is not Lasts.ONCE:
            message = f"a yes to `{self.tool}` is not remembered: `rememberChoices` is false"
            raise Refused(Code.ANSWER_REFUSED, message, help_line="answer with --once")
        if answer.channel is Channel.BATCH:
            self._require_batch()

    def _require_batch(self) -> None:
        if self.is_strict:
            message = f"`{self.tool}` is at level strict, which is answered by itself"
            raise Refused(Code.ANSWER_REFUSED, message, help_line=_ALONE_HELP)
        if not self.rules.allows_batch:
            message = f"`{self.tool}` cannot be approved together with others: `allowBatchApproval` is false"
            raise Refused(Code.ANSWER_REFUSED, message, help_line=_ALONE_HELP)

    def method_of(self, answer: Answer) -> ConsentMethod:
        """How consent was given with that answer, as the audit entry names it."""
        if answer.channel is Channel.BATCH:
            return ConsentMethod.BATCH_APPROVAL
        return ConsentMethod.STRICT_APPROVAL if self.is_strict else ConsentMethod.EXPLICIT_APPROVAL

    def to_json(self) -> dict[str, Json]:
        """As it stands in the request, which has the digest beside it."""
        rules = self.rules
        return {
            "askVersion": ASK_VERSION,
            "tool": self.tool,
            "version": self.version,
            "surface": surface_to_json(self.surface),
            "arguments": list(self.arguments),
            "workspace": self.workspace,
            "level": self.level.value,
            "remember": None if rules.remember is None else rules.remember.value,
            "recordReason": rules.needs_reason,
            "batch": rules.allows_batch,
            "flags": list(self.flags),
            "lack": None if self.lack is None else self.lack.value,
            "shown": self.shown,
        }

    @classmethod
    def of(cls, request: ApprovalRequest) -> "ConsentAsk":
        """What that request asks for; raises where it is about something else."""
        question = request.question
        if question.kind is not RequestKind.CONSENT or question.digest is None:
            message = f"`{request.request_id}` does not ask for consent to a tool"
            raise Refused(Code.ANSWER_REFUSED, message)
        fields = Fields(question.preview, _FIELDS)
        if fields.whole("askVersion") != ASK_VERSION:
            raise problem("askVersion", f"`{fields.whole('askVersion')}` is not known here")
        if question.subject != SUBJECT_PREFIX + fields.text("tool"):
            raise problem("tool", f"`{fields.text('tool')}` is not who asks")
        return cls(
            tool=fields.text("tool"),
            version=fields.text("version"),
            digest=question.digest,
            surface=surface_from_json(fields.value("surface")),
            arguments=fields.texts("arguments"),
            workspace=fields.text("workspace"),
            level=fields.member("level", ConsentLevel),
            rules=AnswerRules(
                remember=fields.optional_member("remember", RememberDuration),
                needs_reason=fields.flag("recordReason"),
                allows_batch=fields.flag("batch"),
            ),
            flags=fields.texts("flags"),
            lack=fields.optional_member("lack", Lack),
            shown=fields.value("shown"),
        )


_REASON_HELP: Final = "say why with --reason TEXT, or at the prompt"
_ALONE_HELP: Final = "answer it by itself"
_HIDDEN_HELP: Final = "take the invisible characters out of its manifest or arguments, or deny it"
