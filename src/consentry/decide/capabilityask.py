"""What a person is asked when an action of a module lacks capabilities, as it stands in the request.

The request is all that an approver in another process has, and all that the answer's transaction has:
which content of which module in which host wants which capabilities, for which action, called from
where. It is written once, when the question is put, and read back strictly.

Three answers are allowed (MODULES §flow-4): `approve_session`, `approve_persistent` and `deny`. A yes says
for how long; one that does not is refused, and so is one for any other span. Whatever the module calls
itself or its action is its own word, and is shown as such.
"""

from enum import StrEnum
from typing import Final

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass, field
from consentry.decide.approval import ApprovalRequest
from consentry.decide.askreading import read_ask
from consentry.decide.capabilitycheck import ModuleIdentity, Origin, RejectCode
from consentry.decide.fields import Fields, check_digest, check_text, check_texts, problem
from consentry.decide.lasting import Lasts
from consentry.decide.question import CANCELLED, Answer, Outcome, Question, RequestKind
from consentry.surface.catalog import CapabilityCatalog

ASK_VERSION: Final = 1
_SHOWN: Final = 160
_FIELDS: Final = (
    "askVersion",
    "hostId",
    "moduleId",
    "moduleVersion",
    "packageDigest",
    "displayName",
    "capabilities",
    "catalogVersion",
    "actionId",
    "actionLabel",
    "commands",
    "origin",
    "transactionId",
    "sessionId",
)


class CapabilityDecision(StrEnum):
    """The answers that a person can give, by the document's names."""

    APPROVE_SESSION = "approve_session"
    APPROVE_PERSISTENT = "approve_persistent"
    DENY = "deny"

    @property
    def lasts(self) -> Lasts | None:
        """For how long a yes is; nothing for a no."""
        return _SPANS.get(self)


_SPANS: Final = {
    CapabilityDecision.APPROVE_SESSION: Lasts.SESSION,
    CapabilityDecision.APPROVE_PERSISTENT: Lasts.PERMANENT,
}


@dataclass(frozen=True, slots=True)
class WantedPower:
    """One capability that is missing: why, and what the catalog says it opens and never does."""

    capability_id: str
    lack: RejectCode
    scope: str
    limits: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """As it stands in the request."""
        return {
            "capabilityId": self.capability_id,
            "lack": self.lack.value,
            "scope": self.scope,
            "limits": list(self.limits),
        }

    @classmethod
    def from_json(cls, document: object) -> "WantedPower":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("capabilityId", "lack", "scope", "limits"))
        return cls(
            fields.text("capabilityId"),
            fields.member("lack", RejectCode),
            fields.text("scope"),
            fields.texts("limits"),
        )

    @classmethod
    def of(cls, capability_id: str, lack: RejectCode, catalog: CapabilityCatalog) -> "WantedPower":
        """With the catalog's own words; raises for what it does not know."""
        entry = catalog.find(capability_id)
        if entry is None:
            raise problem("capabilities", f"`{capability_id}` is not in the catalog")
        return cls(capability_id, lack, entry.scope, entry.limits)


@dataclass(frozen=True, slots=True)
class CapabilityAsk:
    """Everything about one question."""

    module: ModuleIdentity
    display_name: str
    wanted: tuple[WantedPower, ...]
    catalog_version: str
    origin: Origin
    session_id: str | None
    action_id: str | None = None
    action_label: str | None = None
    commands: tuple[str, ...] = ()
    transaction_id: str | None = field(default=None)

    def __post_init__(self) -> None:
        check_text("displayName", self.display_name)
        check_digest("packageDigest", self.module.package_digest)
        check_texts("commands", self.commands)
        if not self.wanted:
            raise problem("capabilities", "a question asks for at least one")

    @property
    def subject(self) -> str:
        """Who asks: the module, never the person who clicked."""
        return subject_of(self.module.module_id)

    @property
    def digest(self) -> Digest:
        """What is the same question: this content, these capabilities, in this session."""
        return digest_json(
            {
                **self.module.to_json(),
                "capabilities": [each.capability_id for each in self.wanted],
                "catalogVersion": self.catalog_version,
                "sessionId": self.session_id,
                "origin": self.origin.value,
            }
        )

    def question(self) -> Question:
        """The question that is put; its text is made safe where it is shown, as any other."""
        names = ", ".join(each.capability_id for each in self.wanted)
        module = self.module
        return Question(
            kind=RequestKind.CAPABILITY,
            subject=self.subject,
            text=f"may {module.module_id} {module.module_version} in {module.host_id} use {names}?",
            preview=self.to_json(),
            digest=self.digest,
            session_id=self.session_id,
        )

    def lines(self) -> tuple[str, ...]:
        """The whole prompt in safe text: our facts first, the module's own words quoted."""
        module, count = self.module, len(self.wanted)
        what = "a capability" if count == 1 else f"{count} capabilities"
        lines = [
            (
                f"The module {_line(module.module_id)} {_line(module.module_version)} in "
                f"{_line(module.host_id)} wants {what}:"
            ),
            "",
        ]
        for each in self.wanted:
            lines += [f"{_line(each.capability_id)}: {_line(each.scope)}"]
            lines += [f"  limit: {_line(limit)}" for limit in each.limits]
            if each.lack is RejectCode.GRANT_STALE:
                lines += [
                    "  granted before, for what the module was then; that does not count any more"
                ]
        lines += ["", f"It calls itself: “{_line(self.display_name)}”"]
        if self.action_id is not None:
            label = "" if self.action_label is None else f" (“{_line(self.action_label)}”)"
            lines += [f"For its action: {_line(self.action_id)}{label}"]
        if self.commands:
            lines += [f"Which calls: {', '.join(map(_line, self.commands))}"]
        if self.origin.is_automation:
            lines += [f"Called from {self.origin.value}: nobody clicked."]
        return (*lines, f"Package: {module.package_digest}")

    def require_takes(self, answer: Answer) -> None:
        """Raises unless it is one of the three answers."""
        if answer.outcome is not Outcome.APPROVED:
            return
        if answer.lasts not in _SPANS.values():
            message = "a yes to a module is for the session or until the module changes"
            raise Refused(
                Code.ANSWER_REFUSED, message, help_line="say --session or --permanent, or deny it"
            )
        if answer.lasts is Lasts.SESSION and self.session_id is None:
            raise Refused(Code.ANSWER_REFUSED, "no session asked, so there is none to grant it for")

    def to_json(self) -> dict[str, Json]:
        """As it stands in the request."""
        return {
            "askVersion": ASK_VERSION,
            **self.module.to_json(),
            "displayName": self.display_name,
            "capabilities": [each.to_json() for each in self.wanted],
            "catalogVersion": self.catalog_version,
            "actionId": self.action_id,
            "actionLabel": self.action_label,
            "commands": list(self.commands),
            "origin": self.origin.value,
            "transactionId": self.transaction_id,
            "sessionId": self.session_id,
        }

    @classmethod
    def from_json(cls, document: object) -> "CapabilityAsk":
        """Reads what `to_json` writes."""
        fields = Fields(document, _FIELDS)
        if fields.whole("askVersion") != ASK_VERSION:
            raise problem("askVersion", f"`{fields.whole('askVersion')}` is not known here")
        module = ModuleIdentity(
            fields.text("hostId"),
            fields.text("moduleId"),
            fields.text("moduleVersion"),
            fields.digest("packageDigest"),
        )
        return cls(
            module=module,
            display_name=fields.text("displayName"),
            wanted=fields.parts("capabilities", WantedPower.from_json),
            catalog_version=fields.text("catalogVersion"),
            origin=fields.member("origin", Origin),
            session_id=fields.optional_text("sessionId"),
            action_id=fields.optional_text("actionId"),
            action_label=fields.optional_text("actionLabel"),
            commands=fields.texts("commands"),
            transaction_id=fields.optional_text("transactionId"),
        )

    @classmethod
    def of(cls, request: ApprovalRequest) -> "CapabilityAsk":
        """What that request asks for; raises where it is about something else."""
        question = request.question
        ask = read_ask(
            request, RequestKind.CAPABILITY, "ask for a module's capabilities", cls.from_json
        )
        is_same = (question.subject, question.digest) == (ask.subject, ask.digest)
        if not is_same or question.session_id != ask.session_id:
            raise problem("digest", "what was shown is another question")
        return ask


def subject_of(module_id: str) -> str:
    """How a module is named as the subject of an event or a question."""
    return f"module:{module_id}"


def reason_of(answer: Answer | None) -> str:
    """The `decisionReasonCode` of an answer (CONTRACTS §12-reason)."""
    match None if answer is None else answer.outcome:
        case Outcome.APPROVED if answer is not None and answer.lasts is Lasts.SESSION:
            return "user-approved-session"
        case Outcome.APPROVED:
            return "user-approved-persistent"
        case Outcome.DENIED if answer is not None and answer.reason == CANCELLED:
            return "user-cancelled"
        case Outcome.DENIED:
            return "user-denied"
        case Outcome.EXPIRED:
            return "deadline"
    return "policy"


def rejection_of(outcome: Outcome) -> RejectCode | None:
    """The code that the ending of a question rejects an action with; None for a yes."""
    if outcome is Outcome.APPROVED:
        return None
    is_late = outcome is Outcome.EXPIRED
    return RejectCode.ESCALATION_TIMEOUT if is_late else RejectCode.ESCALATION_DENIED


def _line(text: str) -> str:
    return safe_line(text, limit=_SHOWN)
