"""What a person is asked about a transaction: whether exactly this preview may be applied (CONTRACTS §3-approval).

The yes binds to the transaction, the attempt, the hash of the preview and the revision it was made for, and
holds for the time that is shown. It is never remembered: the next change is another preview. The preview
itself is looked up by whoever shows the question and held against its hash; facts of ours come first, the
words of a module are quoted.
"""

from collections.abc import Iterable
from typing import Final

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.decide.askreading import read_ask
from consentry.decide.fields import Fields, problem
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Outcome, Question, RequestKind
from consentry.decide.statechange import Op
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import TxOrigin

ASK_VERSION: Final = 1
_FIELDS: Final = (
    "askVersion",
    "hostId",
    "txId",
    "attemptNo",
    "documentId",
    "previewHash",
    "baseRevision",
    "ttlSeconds",
    "origin",
    "summary",
)
_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class TransactionAsk:
    """Everything about one question."""

    tx_id: str
    attempt_no: int
    document_id: str
    preview_hash: Digest
    base_revision: str
    ttl_seconds: int
    origin: TxOrigin
    summary: tuple[tuple[str, int], ...]

    @property
    def digest(self) -> Digest:
        """What a yes binds to."""
        return digest_json(
            {
                "txId": self.tx_id,
                "attemptNo": self.attempt_no,
                "previewHash": self.preview_hash,
                "baseRevision": self.base_revision,
            }
        )

    def question(self) -> Question:
        """The question that is put."""
        origin = self.origin
        who = (
            origin.host_id
            if origin.module is None
            else f"{origin.module.module_id} in {origin.host_id}"
        )
        return Question(
            kind=RequestKind.TRANSACTION,
            subject=origin.subject,
            text=f"may {who} change {self.document_id}: {self.counted}?",
            preview=self.to_json(),
            digest=self.digest,
            session_id=origin.session_id,
        )

    @property
    def counted(self) -> str:
        """How much it changes, in words."""
        return counted_in_words(self.summary)

    def lines(self) -> tuple[str, ...]:
        """What is asked, in safe text; the changes themselves are shown beside it."""
        origin = self.origin
        who = [
            f"The application {_line(origin.host_id)} wants to change {_line(self.document_id)}:"
        ]
        if origin.module is not None:
            module = origin.module
            who = [
                (
                    f"The module {_line(module.module_id)} {_line(module.module_version)} in "
                    f"{_line(origin.host_id)} wants to change {_line(self.document_id)}:"
                ),
                f"For its action: {_line(origin.action_id or 'none')} (“{_line(origin.label)}”)",
            ]
        lines = [*who, f"In all: {self.counted}"]
        if origin.rule is not None:
            lines.append(f"The reason given: “{_line(origin.rule.reason)}” (asked every time)")
        if origin.origin.is_automation:
            lines.append(f"Called from {origin.origin.value}: nobody clicked.")
        return (
            *lines,
            f"A yes holds for {self.ttl_seconds} seconds, for this preview alone: {self.preview_hash}",
            (
                f"Transaction {_line(self.tx_id)}, attempt {self.attempt_no}, of revision "
                f"{_line(self.base_revision)}"
            ),
        )

    def require_takes(self, answer: Answer) -> None:
        """Raises unless the answer is one that this question takes."""
        if answer.outcome is not Outcome.APPROVED:
            return
        if answer.lasts not in (None, Lasts.ONCE):
            message = "a yes to a change is for this preview alone"
            raise Refused(Code.ANSWER_REFUSED, message, help_line="answer it without a duration")
        rule = self.origin.rule
        wanted = None if rule is None else rule.approver
        if wanted is not None and answer.role not in (wanted, Role.OWNER):
            message = f"only somebody who is `{wanted}` may approve this, not `{answer.role}`"
            raise Refused(Code.ANSWER_REFUSED, message)

    def to_json(self) -> dict[str, Json]:
        """As it stands in the request."""
        return {
            "askVersion": ASK_VERSION,
            "hostId": self.origin.host_id,
            "txId": self.tx_id,
            "attemptNo": self.attempt_no,
            "documentId": self.document_id,
            "previewHash": self.preview_hash,
            "baseRevision": self.base_revision,
            "ttlSeconds": self.ttl_seconds,
            "origin": self.origin.to_json(),
            "summary": dict(self.summary),
        }

    @classmethod
    def about(cls, attempt: Attempt, preview: dict[str, Json]) -> "TransactionAsk":
        """The question about an attempt whose preview is there."""
        summary = preview["summary"]
        if (
            attempt.preview_hash is None
            or attempt.base_revision is None
            or not isinstance(summary, dict)
        ):
            raise problem("previewHash", "there is no preview to ask about")
        return cls(
            attempt.tx_id,
            attempt.attempt_no,
            attempt.document_id,
            attempt.preview_hash,
            attempt.base_revision,
            attempt.ttl_seconds,
            attempt.origin,
            tuple((op.value, int(summary[op.value])) for op in Op),
        )

    @classmethod
    def from_json(cls, document: object) -> "TransactionAsk":
        """Reads what `to_json` writes."""
        fields = Fields(document, _FIELDS)
        if fields.whole("askVersion") != ASK_VERSION:
            raise problem("askVersion", f"`{fields.whole('askVersion')}` is not known here")
        summary = Fields(fields.value("summary"), [each.value for each in Op])
        return cls(
            fields.text("txId"),
            fields.whole("attemptNo"),
            fields.text("documentId"),
            fields.digest("previewHash"),
            fields.text("baseRevision"),
            fields.whole("ttlSeconds"),
            TxOrigin.from_json(fields.value("origin")),
            tuple((op.value, summary.whole(op.value)) for op in Op),
        )

    @classmethod
    def of(cls, request: ApprovalRequest) -> "TransactionAsk":
        """What that request asks for; raises where it is about something else."""
        question = request.question
        ask = read_ask(request, RequestKind.TRANSACTION, "ask about a transaction", cls.from_json)
        if (question.subject, question.digest) != (ask.origin.subject, ask.digest):
            raise problem("digest", "what was shown is another question")
        return ask


def counted_in_words(summary: Iterable[tuple[str, int]]) -> str:
    """So many operations of each kind, in words."""
    named = [f"{count} to {op}" for op, count in summary if count]
    return ", ".join(named) or "nothing"


def _line(text: str) -> str:
    return safe_line(text, limit=_SHOWN)
