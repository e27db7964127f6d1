"""What modules may do at all: the operator's switch (MODULES, roll-back).

    normal           grants decide, and a person is asked for what is missing
    block-rejected   as normal, but nobody is asked, and an action that was rejected stays blocked, also
                     when it is granted later, until the mode is another one
    inspect-only     modules can be imported, listed, shown and drawn; none of their actions runs
    deny-all         every capability is denied, whatever was granted

Only `normal` lets a question be put; one that waits can still be answered, and what is granted then counts
as soon as the mode lets it. No mode takes a grant away: going back to `normal` finds them as they
were. A rejection by the mode has the code of a missing grant, `capability-not-granted`: it is no breach of
anything by the module.
"""

from enum import StrEnum

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.decide.fields import Fields, check_text
from consentry.decide.identity import SYSTEM, Identity, check_identity


class ModuleMode(StrEnum):
    """One position of the switch."""

    DENY_ALL = "deny-all"
    INSPECT_ONLY = "inspect-only"
    BLOCK_REJECTED = "block-rejected"
    NORMAL = "normal"

    @property
    def asks(self) -> bool:
        """Whether a person is asked for a capability that is missing."""
        return self is ModuleMode.NORMAL

    @property
    def lets_act(self) -> bool:
        """Whether an action of a module can run."""
        return self in (ModuleMode.NORMAL, ModuleMode.BLOCK_REJECTED)

    @property
    def lets_render(self) -> bool:
        """Whether what a module declared can be shown."""
        return self is not ModuleMode.DENY_ALL

    def lets_more_than(self, other: "ModuleMode") -> bool:
        """Whether going there from the other one loosens anything; the members stand in that order."""
        order = list(ModuleMode)
        return order.index(self) > order.index(other)


@dataclass(frozen=True, slots=True)
class ModeSetting:
    """The mode that holds, and who set it when; the system where nobody ever did."""

    mode: ModuleMode = ModuleMode.NORMAL
    changed_by: Identity = SYSTEM
    changed_at: Instant | None = None

    def __post_init__(self) -> None:
        check_text("changedBy", check_identity("changedBy", self.changed_by))

    @classmethod
    def from_json(cls, document: object) -> "ModeSetting":
        """Reads a row."""
        fields = Fields(document, ("mode", "changedBy", "changedAt"))
        return cls(
            fields.member("mode", ModuleMode),
            Identity(fields.text("changedBy")),
            fields.instant("changedAt"),
        )

    def to_json(self) -> dict[str, Json]:
        """The fields as they are told."""
        at = self.changed_at
        return {
            "mode": self.mode.value,
            "changedBy": self.changed_by,
            "changedAt": None if at is None else str(at),
        }
