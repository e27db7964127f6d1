"""What a person is asked to agree to when a tool wants to run, as it stands in the request.

The request is all that an approver in another process has: the preview with the tool, its version,
its digest and the very surface that would be remembered, the arguments, and which answers the
configuration of the asking side takes. What is shown and what is agreed to are one value: nothing
beside the preview says what the tool is or may. It is written once, when the question is put, and
read back strictly.
"""

from typing import Final

from consentry.base.canonical import Digest, Json
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, field
from consentry.decide.approval import ApprovalRequest
from consentry.decide.fields import Fields, check_text, check_texts, problem
from consentry.decide.hidden import hidden_in
from consentry.decide.lasting import Lasts
from consentry.decide.preview import Preview
from consentry.decide.question import Answer, Channel, Outcome, Question, RequestKind
from consentry.declare.consent import RememberDuration
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod
from consentry.surface.lattice import Surface

ASK_VERSION: Final = 1
SUBJECT_PREFIX: Final = "tool:"

_FIELDS: Final = (
    "askVersion",
    "preview",
    "arguments",
    "workspace",
    "config",
    "remember",
    "recordReason",
    "batch",
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
    """One tool that wants to run, with these arguments, in that workspace.

    `config` is the configuration folder that was named instead of the usual ones.
    """

    preview: Preview = field(repr=False)
    arguments: tuple[str, ...]
    workspace: str
    rules: AnswerRules = AnswerRules()
    config: str | None = None

    def __post_init__(self) -> None:
        check_text("workspace", self.workspace)
        check_texts("arguments", self.arguments)

    @property
    def tool(self) -> str:
        """Its name."""
        return self.preview.tool

    @property
    def version(self) -> str:
        """Its version."""
        return self.preview.version

    @property
    def digest(self) -> Digest:
        """Its digest, to which the answer binds."""
        return self.preview.digest

    @property
    def surface(self) -> Surface:
        """What it may, and what is remembered."""
        return self.preview.surface

    @property
    def level(self) -> ConsentLevel:
        """How a person is asked."""
        return self.preview.level

    @property
    def hidden(self) -> tuple[str, ...]:
        """What its texts and arguments hold that a reader cannot see, a line for each."""
        shown = self.preview
        texts = {
            "name": f"{shown.tool}{shown.display_name}{shown.version}",
            "description": shown.description,
            "files": "".join(
                f"{each.pattern}{each.purpose}" for each in (*shown.read, *shown.write)
            ),
            "commands": "".join(
                "".join((each.program, *each.arguments, each.purpose or ""))
                for each in shown.commands
            ),
            "arguments": "".join(self.arguments),
        }
        return hidden_in(texts)

    @property
    def is_strict(self) -> bool:
        """Whether a yes needs the typed word."""
        return self.level is ConsentLevel.STRICT

    def is_same_as(self, other: "ConsentAsk") -> bool:
        """Whether a yes to the one is a yes to the other; counts and estimates may differ."""
        return (
            self.digest == other.digest
            and self.surface == other.surface
            and self.level is other.level
            and (self.arguments, self.workspace, self.config)
            == (other.arguments, other.workspace, other.config)
            and self.rules == other.rules
        )

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
        if self.is_strict and self.hidden:
            message = f"`{self.tool}` hides something: {'; '.join(self.hidden)}"
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
            "preview": self.preview.to_json(),
            "arguments": list(self.arguments),
            "workspace": self.workspace,
            "config": self.config,
            "remember": None if rules.remember is None else rules.remember.value,
            "recordReason": rules.needs_reason,
            "batch": rules.allows_batch,
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
        preview = Preview.from_json(fields.value("preview"))
        if question.subject != SUBJECT_PREFIX + preview.tool:
            raise problem("preview", f"`{preview.tool}` is not who asks")
        if question.digest != preview.digest:
            raise problem("digest", "what was shown has another digest")
        return cls(
            preview=preview,
            arguments=fields.texts("arguments"),
            workspace=fields.text("workspace"),
            rules=AnswerRules(
                remember=fields.optional_member("remember", RememberDuration),
                needs_reason=fields.flag("recordReason"),
                allows_batch=fields.flag("batch"),
            ),
            config=fields.optional_text("config"),
        )


_REASON_HELP: Final = "say why with --reason TEXT, or at the prompt"
_ALONE_HELP: Final = "answer it by itself"
_HIDDEN_HELP: Final = "take the invisible characters out of its manifest or arguments, or deny it"
