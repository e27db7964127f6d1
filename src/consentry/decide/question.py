"""A question to a person, and an answer to it.

The preview that was shown is part of the question, as a copy of its own. An answer says what, by
whom, in which role and on which way it came, and for how long a yes lasts. The system's own word
never approves: it only says that time ran out or that the rules changed.
"""

import json
from enum import StrEnum
from typing import Final

from consentry.base.canonical import Digest, Json, canonical_json
from consentry.base.clock import Instant
from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass, field
from consentry.decide.fields import (
    as_json,
    check_digest,
    check_id_field,
    check_text,
    check_words,
    problem,
)
from consentry.decide.identity import SYSTEM, Identity, Role, check_identity, check_role
from consentry.decide.lasting import Lasts, check_end
from consentry.decide.session import PREFIX as SESSION_PREFIX


class RequestKind(StrEnum):
    """What the question is about."""

    CONSENT = "consent"
    COMMIT = "commit"
    CAPABILITY = "capability"
    ACTION = "action"
    ESCALATION = "escalation"
    TRANSACTION = "transaction"
    HOLD = "hold"


class Channel(StrEnum):
    """The way an answer came."""

    TERMINAL = "terminal"
    COMMAND = "command"
    BATCH = "batch"
    INBOX = "inbox"
    ELICITATION = "elicitation"
    LIBRARY = "library"
    POLICY = "policy"
    SYSTEM = "system"


class Outcome(StrEnum):
    """How a request ended."""

    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


CANCELLED: Final = "cancelled at the prompt"
"""The reason of a no that nobody said: Ctrl-C, or the end of input."""

BY_SYSTEM = (Outcome.EXPIRED, Outcome.SUPERSEDED)
"""How a request ends without an answer of anybody."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: by which subject, in words, with the preview that the answer binds to."""

    kind: RequestKind
    subject: str
    text: str
    preview: Json = field(repr=False)
    digest: Digest | None = None
    policy_hash: Digest | None = None
    session_id: str | None = None

    def __post_init__(self) -> None:
        check_text("subject", self.subject)
        check_text("question", self.text)
        check_digest("digest", self.digest)
        check_digest("policyHash", self.policy_hash)
        check_id_field("sessionId", self.session_id, SESSION_PREFIX)
        try:
            # A copy of its own, so that what was shown stays what was shown.
            own: Json = json.loads(canonical_json(self.preview))
        except ConsentryError as wrong:
            raise problem("preview", wrong.message) from None
        object.__setattr__(self, "preview", own)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: what, by whom, in which role, on which way, and for how long a yes lasts."""

    outcome: Outcome
    by: Identity
    role: Role
    channel: Channel
    reason: str | None = None
    lasts: Lasts | None = None
    lasts_until: Instant | None = None

    def __post_init__(self) -> None:
        check_role("answeredRole", check_identity("answeredBy", self.by), self.role)
        check_words("reason", self.reason)
        if (self.by == SYSTEM) != (self.outcome in BY_SYSTEM):
            raise problem("answeredBy", f"`{self.by}` cannot make a request `{self.outcome}`")
        if self.lasts is not None and self.outcome is not Outcome.APPROVED:
            raise problem("lasts", "only a yes lasts")
        check_end("lastsUntil", self.lasts, self.lasts_until)

    @classmethod
    def by_system(cls, outcome: Outcome, why: str) -> "Answer":
        """What is written where no person answered."""
        return cls(outcome, SYSTEM, Role.SYSTEM, Channel.SYSTEM, why)

    def to_json(self, at: Instant) -> dict[str, Json]:
        """The fields as they are recorded, with the time of the answer."""
        return {
            "answeredBy": self.by,
            "answeredRole": self.role.value,
            "channel": self.channel.value,
            "answeredAt": str(at),
            "reason": self.reason,
            "lasts": None if self.lasts is None else self.lasts.value,
            "lastsUntil": as_json(self.lasts_until),
        }
