"""What the store keeps of an imported module, and what one run of one of its actions is.

A registration is the very document that passed the import, with the digest that everything else binds to.
It is data: whoever uses it reads it again against the host as it is now, and a module that does not fit
its host any more is told so and does nothing.
"""

from collections.abc import Mapping
from typing import Final

from consentry.base.canonical import Digest, Json, digest_bytes
from consentry.base.clock import Instant
from consentry.base.values import dataclass, field
from consentry.decide.capabilitycheck import ModuleIdentity, Origin
from consentry.decide.fields import check_id_field

ACTION_PREFIX: Final = "action"
MOST_SAID: Final = 200
"""So many letters of a module's own words stand in a question or an event."""
_DIGESTED: Final = "sha256:"


@dataclass(frozen=True, slots=True)
class Registration:
    """One module as it is registered in one host."""

    identity: ModuleIdentity
    document: Mapping[str, Json] = field(repr=False)
    graph: Mapping[str, Json] | None = field(repr=False)
    imported_by: str
    imported_at: Instant
    revision: int = 1

    @property
    def content(self) -> tuple[str, Digest]:
        """What tells it from every other version and content of the module."""
        return self.identity.module_version, self.identity.package_digest

    def to_json(self) -> dict[str, Json]:
        """The fields as they are told, without the documents."""
        return {
            **self.identity.to_json(),
            "importedBy": self.imported_by,
            "importedAt": str(self.imported_at),
        }


def action_key(action_id: str) -> str:
    """How an action is named in questions and events: its id, or a digest of one that is no name.

    A package may call a binding anything, also something of megabytes, or what is another one's digest.
    """
    is_name = action_id.isprintable() and not action_id.startswith(_DIGESTED)
    if len(action_id) <= MOST_SAID and is_name:
        return action_id
    return digest_bytes(action_id.encode())


def said(words: str) -> str:
    """A module's own words, as many as are repeated of them; the character NUL is none."""
    return words[:MOST_SAID].replace("\0", "\ufffd") or "\ufffd"


@dataclass(frozen=True, slots=True)
class Removed:
    """A module that is gone from its host, and how much went with it."""

    registration: Registration
    grants: int
    stored_keys: int


@dataclass(frozen=True, slots=True)
class ActionRun:
    """One run of an action: from where it was called, and which commands it calls."""

    action_run_id: str
    module: ModuleIdentity
    action_id: str | None
    origin: Origin
    commands: tuple[str, ...] = ()
    transaction_id: str | None = None

    def __post_init__(self) -> None:
        check_id_field("actionRunId", self.action_run_id, ACTION_PREFIX)

    def is_like(self, other: "ActionRun") -> bool:
        """Whether both are runs of the same action, called from the same place for the same commands."""
        one, two = (
            (each.module, each.action_id, each.origin, each.commands) for each in (self, other)
        )
        return one == two

    def to_json(self) -> dict[str, Json]:
        """The fields that its events share."""
        return {
            "actionRunId": self.action_run_id,
            **self.module.to_json(),
            "actionId": self.action_id,
            "origin": self.origin.value,
        }
