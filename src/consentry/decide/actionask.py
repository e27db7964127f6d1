"""What a person is asked before a module's action calls a command that needs approval (CONTRACTS §1, §2).

This is the host's own rule about its command, not a capability: it is asked besides, after every capability
holds, and a module cannot lower it. A soft yes may be remembered for the session; a hard one is asked
every time, for these very arguments, and carries out one run and no other.

Whoever answers sees all that the call carries: what the person gave it, and what the module's own binding
puts beside it. Nothing of that is cut; what is too long to be read is not asked about at all.
"""

from typing import Final

from consentry.base.canonical import Digest, Json, canonical_json, digest_json
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass, field
from consentry.decide.approval import ApprovalRequest
from consentry.decide.askreading import read_ask
from consentry.decide.capabilityask import subject_of
from consentry.decide.capabilitycheck import ModuleIdentity, Origin
from consentry.decide.fields import Fields, check_digest, check_id_field, check_text, problem
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.moduleregistration import ACTION_PREFIX, ActionRun
from consentry.decide.question import Answer, Outcome, Question, RequestKind
from consentry.declare.hostdescription import ApprovalLevel, ApprovalRule

ASK_VERSION: Final = 1
MOST_CARRIED: Final = 16_000
"""So many letters of arguments and payloads can be put to a person."""
_SHOWN: Final = 400
_FIELDS: Final = (
    "askVersion",
    "hostId",
    "moduleId",
    "moduleVersion",
    "packageDigest",
    "displayName",
    "actionRunId",
    "actionId",
    "actionLabel",
    "commands",
    "origin",
    "arguments",
    "carried",
    "reason",
    "level",
    "approver",
    "sessionId",
)


@dataclass(frozen=True, slots=True)
class ActionAsk:
    """Everything about one question."""

    run: ActionRun
    display_name: str
    rule: ApprovalRule
    session_id: str | None
    label: str | None = None
    arguments: Json = field(default=None)
    carried: Json = field(default=None)
    """What the module's bindings put beside that, for each command."""

    def __post_init__(self) -> None:
        letters = len(canonical_json([self.arguments, self.carried]))
        if letters > MOST_CARRIED:
            message = f"{letters:,} bytes are too many to be read before a yes"
            raise problem("arguments", message)
        check_text("displayName", self.display_name)
        check_digest("packageDigest", self.run.module.package_digest)
        check_id_field("actionRunId", self.run.action_run_id, ACTION_PREFIX)

    @property
    def subject(self) -> str:
        """Who asks: the module, never the person who clicked."""
        return subject_of(self.run.module.module_id)

    @property
    def is_rememberable(self) -> bool:
        """Whether a yes may hold for the session."""
        return self.rule.level is ApprovalLevel.SOFT

    @property
    def digest(self) -> Digest:
        """What a yes binds to: for a soft one the action in its session, for a hard one this run."""
        bound: dict[str, Json] = {
            **self.run.module.to_json(),
            "actionId": self.run.action_id,
            "commands": list(self.run.commands),
            "origin": self.run.origin.value,
            "sessionId": self.session_id,
            **self.rule.to_json(),
        }
        if not self.is_rememberable:
            bound |= {
                "actionRunId": self.run.action_run_id,
                "arguments": self.arguments,
                "carried": self.carried,
            }
        return digest_json(bound)

    def question(self) -> Question:
        """The question that is put; its text is made safe where it is shown, as any other."""
        module, called = self.run.module, ", ".join(self.run.commands)
        return Question(
            kind=RequestKind.ACTION,
            subject=self.subject,
            text=f"may {module.module_id} in {module.host_id} call {called} now?",
            preview=self.to_json(),
            digest=self.digest,
            session_id=self.session_id,
        )

    def lines(self) -> tuple[str, ...]:
        """The whole prompt in safe text: our facts first, the module's own words quoted."""
        run, module = self.run, self.run.module
        label = "" if self.label is None else f" (“{_line(self.label)}”)"
        asked = "may be remembered for the session" if self.is_rememberable else "asked every time"
        lines = [
            (
                f"The module {_line(module.module_id)} {_line(module.module_version)} in "
                f"{_line(module.host_id)} is about to call:"
            ),
            "",
            *(f"{_line(each)}" for each in run.commands),
            "",
            f"The reason given: “{_line(self.rule.reason)}” ({asked})",
            f"For its action: {_line(run.action_id or 'none')}{label}",
            f"It calls itself: “{_line(self.display_name)}”",
        ]
        if self.arguments is not None:
            lines += [f"With: {_whole(self.arguments)}"]
        if self.carried is not None:
            lines += [f"And from the module itself: {_whole(self.carried)}"]
        if run.origin.is_automation:
            lines += [f"Called from {run.origin.value}: nobody clicked."]
        return (*lines, f"Package: {module.package_digest}")

    def require_takes(self, answer: Answer) -> None:
        """Raises unless the answer is one that this question takes."""
        if answer.outcome is not Outcome.APPROVED:
            return
        takes = (None, Lasts.ONCE, Lasts.SESSION) if self.is_rememberable else (None, Lasts.ONCE)
        if answer.lasts not in takes:
            message = f"a yes to a {self.rule.level} approval cannot be for `{answer.lasts}`"
            raise Refused(Code.ANSWER_REFUSED, message, help_line="answer it without a duration")
        approver = self.rule.approver
        if approver is not None and answer.role not in (approver, Role.OWNER):
            message = f"only somebody who is `{approver}` may approve this, not `{answer.role}`"
            raise Refused(Code.ANSWER_REFUSED, message)

    def to_json(self) -> dict[str, Json]:
        """As it stands in the request."""
        run = self.run
        return {
            "askVersion": ASK_VERSION,
            **run.module.to_json(),
            "displayName": self.display_name,
            "actionRunId": run.action_run_id,
            "actionId": run.action_id,
            "actionLabel": self.label,
            "commands": list(run.commands),
            "origin": run.origin.value,
            "arguments": self.arguments,
            "carried": self.carried,
            **self.rule.to_json(),
            "sessionId": self.session_id,
        }

    @classmethod
    def from_json(cls, document: object) -> "ActionAsk":
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
        run = ActionRun(
            fields.text("actionRunId"),
            module,
            fields.optional_text("actionId"),
            fields.member("origin", Origin),
            fields.texts("commands"),
        )
        rule = ApprovalRule(
            fields.text("reason"),
            fields.member("level", ApprovalLevel),
            fields.optional_text("approver"),
        )
        return cls(
            run=run,
            display_name=fields.text("displayName"),
            rule=rule,
            session_id=fields.optional_text("sessionId"),
            label=fields.optional_text("actionLabel"),
            arguments=fields.value("arguments"),
            carried=fields.value("carried"),
        )

    @classmethod
    def of(cls, request: ApprovalRequest) -> "ActionAsk":
        """What that request asks for; raises where it is about something else."""
        question = request.question
        ask = read_ask(request, RequestKind.ACTION, "ask about a module's action", cls.from_json)
        is_same = (question.subject, question.digest) == (ask.subject, ask.digest)
        if not is_same or question.session_id != ask.session_id:
            raise problem("digest", "what was shown is another question")
        return ask


def _whole(value: Json) -> str:
    return safe_line(canonical_json(value).decode())


def _line(text: str) -> str:
    return safe_line(text, limit=_SHOWN)
