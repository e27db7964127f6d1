"""What a host application says of itself, so that a module can be held against it (CONTRACTS §1, §2).

A module brings no code: it binds to commands that the host registered. What a command changes, which
capabilities it takes, whether a person is asked each time, who may call it and how calls queue belong to
the command, and nothing in a package can change that. The description is data: the host's own process has
the handlers, every other one (a command, a planner) only this.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.values import dataclass, field

HOST_VERSION: Final = 1
PLUGIN_MANIFEST_VERSION: Final = 1
COMMAND_BUS_CONTRACT_VERSION: Final = 1


class MutationScope(StrEnum):
    """What a command changes: the document, what is shared with others, or nothing that lasts."""

    DOC = "doc"
    SYNC = "sync"
    LOCAL = "local"

    @property
    def is_lasting(self) -> bool:
        """Whether a call changes what lasts, so that it goes through a transaction or not at all."""
        return self is not MutationScope.LOCAL


class ApprovalLevel(StrEnum):
    """How often a person is asked: a soft yes may be remembered for the session, a hard one never."""

    SOFT = "soft"
    HARD = "hard"


class QueuePolicy(StrEnum):
    """What happens to a call while another one of the same command runs."""

    AT_ONCE = "at-once"
    ONE_BY_ONE = "one-by-one"
    REFUSE_WHEN_BUSY = "refuse-when-busy"


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """A person says yes before the command runs; `approver` is the role they must have."""

    reason: str
    level: ApprovalLevel
    approver: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The fields as they are written."""
        return {"reason": self.reason, "level": self.level.value, "approver": self.approver}


@dataclass(frozen=True, slots=True)
class CommandDeclaration:
    """One command of a host.

    `capabilities` are what a module needs besides what follows from the scope. `role` is what the person
    must be on whose behalf it runs; the owner is every role. `mutates` are the state paths it may change,
    `undo_command` what takes it back.
    """

    command_id: str
    mutation_scope: MutationScope
    label: str | None = None
    capabilities: tuple[str, ...] = ()
    requires_approval: ApprovalRule | None = None
    role: str | None = None
    queue: QueuePolicy = QueuePolicy.ONE_BY_ONE
    undo_command: str | None = None
    mutates: tuple[str, ...] = ()
    audit_tags: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The fields as they are written."""
        approval = self.requires_approval
        return {
            "commandId": self.command_id,
            "mutationScope": self.mutation_scope.value,
            "label": self.label,
            "capabilities": list(self.capabilities),
            "requiresApproval": None if approval is None else approval.to_json(),
            "role": self.role,
            "queue": self.queue.value,
            "undoCommand": self.undo_command,
            "mutates": list(self.mutates),
            "auditTags": list(self.audit_tags),
        }


@dataclass(frozen=True, slots=True)
class HostDescription:
    """A host at one version: its commands, and the state paths that can be written at all."""

    host_id: str
    app_version: str
    commands: tuple[CommandDeclaration, ...] = ()
    writable_paths: tuple[str, ...] = ()
    _by_id: Mapping[str, CommandDeclaration] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_id = {each.command_id: each for each in self.commands}
        object.__setattr__(self, "_by_id", MappingProxyType(by_id))

    def command(self, command_id: str) -> CommandDeclaration | None:
        """The command with exactly this id."""
        return self._by_id.get(command_id)

    @property
    def digest(self) -> Digest:
        """What tells this description from every other."""
        return digest_json(self.to_json())

    def to_json(self) -> dict[str, Json]:
        """The document, as it is kept and exported."""
        return {
            "hostVersion": HOST_VERSION,
            "hostId": self.host_id,
            "appVersion": self.app_version,
            "writablePaths": list(self.writable_paths),
            "commands": [each.to_json() for each in self.commands],
        }
