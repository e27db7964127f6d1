"""The machines that share a store: their ids, what people call them, and the fleets they belong to.

A consent names one machine by its id or a fleet by a label. Labels are set where the machine is
registered, and each change of them is recorded.
"""

import re
from collections.abc import Sequence
from typing import Final, NewType, Protocol

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.values import dataclass, replace
from consentry.decide.fields import Fields, check_words, problem

MachineScope = NewType("MachineScope", str)

LABEL_PREFIX: Final = "label:"

_ID = re.compile(r"machine-[0-9a-f]{32}", re.ASCII)
_LABEL = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.ASCII)
FIELDS: Final = ("machineId", "hostName", "registeredAt", "labels")


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine as the store knows it; the host name is for display."""

    machine_id: str
    host_name: str
    registered_at: Instant
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_machine_id("machineId", self.machine_id)
        check_words("hostName", self.host_name)
        if tuple(sorted(set(self.labels))) != self.labels:
            raise problem("labels", "labels are sorted, and each is there once")
        for index, label in enumerate(self.labels):
            if _LABEL.fullmatch(label) is None:
                raise problem(f"labels[{index}]", f"`{label}` is not a label such as build-farm")

    def is_in(self, scope: MachineScope) -> bool:
        """Whether a consent for that scope speaks of this machine."""
        if scope.startswith(LABEL_PREFIX):
            return scope.removeprefix(LABEL_PREFIX) in self.labels
        return scope == self.machine_id

    def renamed(self, host_name: str, labels: Sequence[str] | None) -> "Machine":
        """The same machine under another name, and with other labels where they are given."""
        kept = self.labels if labels is None else tuple(sorted(set(labels)))
        return replace(self, host_name=host_name, labels=kept)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        return {
            "machineId": self.machine_id,
            "hostName": self.host_name,
            "registeredAt": str(self.registered_at),
            "labels": list(self.labels),
        }

    @classmethod
    def from_json(cls, document: object) -> "Machine":
        """Reads what `to_json` writes."""
        fields = Fields(document, FIELDS)
        return cls(
            machine_id=fields.text("machineId"),
            host_name=fields.text("hostName"),
            registered_at=fields.instant("registeredAt"),
            labels=fields.texts("labels"),
        )


class Machines(Protocol):
    """Where machines are kept."""

    def register(self, host_name: str, labels: Sequence[str] | None = None) -> Machine:
        """This machine; recorded when it is new or called otherwise, labels as they are if None."""
        ...

    def find(self, machine_id: str) -> Machine | None:
        """The machine with this id."""
        ...

    def all(self) -> list[Machine]:
        """Every machine, in the order of their registration."""
        ...


def check_machine_id(name: str, text: str) -> None:
    """Raises unless the text is `machine-` and 32 hexadecimal digits."""
    if _ID.fullmatch(text) is None:
        raise problem(name, f"`{text}` is not the id of a machine")


def check_scope(name: str, text: str) -> MachineScope:
    """Returns the text if it is the id of a machine or `label:<label>`, and raises otherwise."""
    label = text.removeprefix(LABEL_PREFIX)
    if _ID.fullmatch(text) is None and (label == text or _LABEL.fullmatch(label) is None):
        raise problem(name, f"`{text}` is neither the id of a machine nor label:<label>")
    return MachineScope(text)
