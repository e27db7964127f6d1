"""What a person is asked when a running program waits for an answer, as it stands in the request.

One question is about one object: a file or folder by the name it was pinned under, or a host and port.
A yes opens that object to that run and changes nothing else. The request is all that an approver in
another process has; it is written once, when the question is put, and read back strictly.

The question ends with the process that put it: nobody would be there any more to whom a yes could open
anything.
"""

from collections.abc import Iterator
from typing import Final

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.decide.fields import Fields, check_text, check_texts, problem
from consentry.decide.question import Question, RequestKind
from consentry.decide.session import Leader
from consentry.surface.operations import Operation
from consentry.surface.targets import Target

ASK_VERSION: Final = 1
AT_ONCE: Final = "written to the host at once, not rehearsed"
"""What is said of a write that no layer holds back."""

_SHOWN_NAME: Final = 120
_SHOWN_LINE: Final = 400
_FIELDS: Final = (
    "askVersion",
    "subject",
    "operation",
    "resource",
    "verb",
    "creates",
    "isFolder",
    "alsoReads",
    "throughLayer",
    "direct",
    "program",
    "arguments",
    "workspace",
    "run",
    "process",
)
_MAKES: Final = {"mkdir": "make the folder", "create": "make the file", "connect": "connect to"}


@dataclass(frozen=True, slots=True)
class HeldAsk:
    """One operation that waits, and whose it is.

    `verb` is what the call would do, `run` the permit of the run, `arguments` its command line, and
    `process` whoever holds it. `direct` is a write that reaches the host at once.
    """

    subject: str
    operation: Operation
    resource: str
    verb: str
    process: Leader
    creates: bool = False
    is_folder: bool = False
    also_reads: bool = False
    through_layer: bool = False
    direct: bool = False
    program: str | None = None
    arguments: tuple[str, ...] = ()
    workspace: str | None = None
    run: str | None = None

    def __post_init__(self) -> None:
        check_text("subject", self.subject)
        check_text("resource", self.resource)
        check_text("verb", self.verb)
        check_texts("arguments", self.arguments)
        for name in ("program", "workspace", "run"):
            value = getattr(self, name)
            if value is not None:
                check_text(name, value)

    @property
    def digest(self) -> Digest:
        """What the answer binds to: all that was asked."""
        return digest_json(self.to_json())

    @property
    def wants(self) -> str:
        """What it would do, in words: `read`, `list the folder`, `write and read it`, `connect to`."""
        done = _MAKES.get(self.verb, self.operation.value)
        if self.is_folder and self.operation is Operation.READ:
            return "list the folder"
        return f"{done} and read it" if self.also_reads and self.verb != "mkdir" else done

    @property
    def who(self) -> str:
        """Whoever waits, in safe text."""
        return safe_line(self._name, limit=_SHOWN_NAME)

    @property
    def _name(self) -> str:
        """The program where it is known, else the subject of the run."""
        return self.program or self.subject.partition(":")[2]

    def question(self, *, session_id: str | None, policy_hash: Digest | None) -> Question:
        """The question that is put for it; its text is made safe where it is shown, as any other."""
        return Question(
            kind=RequestKind.HOLD,
            subject=self.subject,
            text=f"may {self._name} {self.wants} {self.resource}?",
            preview=self.to_json(),
            digest=self.digest,
            policy_hash=policy_hash,
            session_id=session_id,
        )

    def lines(self) -> tuple[str, ...]:
        """The whole prompt in safe text, each value on a line of its own."""
        return tuple(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.who} waits for you: it wants to {self.wants}"
        yield ""
        # Never cut: what does not fit one page goes on on the next.
        yield f"  {safe_line(self.resource)}"
        yield ""
        if self.direct:
            yield AT_ONCE
        elif self.through_layer:
            yield "through the layer: it reaches your files with the rest of what the run wrote"
        elif self.operation is Operation.NET:
            unseen = "" if _is_address(self.resource) else ", and the name was not looked up"
            yield f"nothing was sent there{unseen}"
        yield "a yes opens this one thing to this one run, and is not kept"
        yield ""
        rows = {
            "Asked by": self.subject,
            "Command": " ".join(self.arguments) or None,
            "Workspace": self.workspace,
            "Run": self.run,
        }
        for label, text in rows.items():
            if text is not None:
                yield f"{label}: {safe_line(text, limit=_SHOWN_LINE)}"

    def to_json(self) -> dict[str, Json]:
        """As it stands in the request."""
        return {
            "askVersion": ASK_VERSION,
            "subject": self.subject,
            "operation": self.operation.value,
            "resource": self.resource,
            "verb": self.verb,
            "creates": self.creates,
            "isFolder": self.is_folder,
            "alsoReads": self.also_reads,
            "throughLayer": self.through_layer,
            "direct": self.direct,
            "program": self.program,
            "arguments": list(self.arguments),
            "workspace": self.workspace,
            "run": self.run,
            "process": self.process.to_json(),
        }

    @classmethod
    def from_json(cls, document: object) -> "HeldAsk":
        """Reads what `to_json` writes."""
        fields = Fields(document, _FIELDS)
        if fields.whole("askVersion") != ASK_VERSION:
            raise problem("askVersion", f"`{fields.whole('askVersion')}` is not known here")
        return cls(
            subject=fields.text("subject"),
            operation=fields.member("operation", Operation),
            resource=fields.text("resource"),
            verb=fields.text("verb"),
            process=Leader.from_json(fields.value("process")),
            creates=fields.flag("creates"),
            is_folder=fields.flag("isFolder"),
            also_reads=fields.flag("alsoReads"),
            through_layer=fields.flag("throughLayer"),
            direct=fields.flag("direct"),
            program=fields.optional_text("program"),
            arguments=fields.texts("arguments"),
            workspace=fields.optional_text("workspace"),
            run=fields.optional_text("run"),
        )

    @classmethod
    def of(cls, request: ApprovalRequest) -> "HeldAsk":
        """What that request asks for; raises where it is about something else."""
        question = request.question
        if question.kind is not RequestKind.HOLD:
            message = f"`{request.request_id}` does not ask about a program that waits"
            raise Refused(Code.ANSWER_REFUSED, message)
        ask = cls.from_json(question.preview)
        if question.subject != ask.subject:
            raise problem("subject", f"`{ask.subject}` is not who asks")
        if question.digest != ask.digest:
            raise problem("digest", "what was shown is not what was asked")
        return ask


def _is_address(place: str) -> bool:
    """Whether an address is asked about, which a name may have led to."""
    try:
        return Target.parse(place).network is not None
    except ConsentryError:
        return False
