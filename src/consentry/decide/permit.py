"""Permits: single-use rows, made just before a start; the only thing that `enforce` accepts.

A permit names what may start (subject, digests, arguments), with which powers, on which machine,
and the event that decided it. It is at most 60 seconds old when it is spent, and it is spent once,
on its own machine. This module is the only maker of permits; the tests hold the source to that.

It is a record, not a credential: knowing its id is no right, and whoever may write the store can
write one. What it gives is that nothing starts unrecorded.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol

from consentry.base.canonical import Digest, Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.base.values import dataclass, field, replace
from consentry.decide.fields import (
    Fields,
    as_json,
    check_digest,
    check_id_field,
    check_not_before,
    check_pair,
    check_text,
    check_texts,
    problem,
)
from consentry.decide.machine import check_machine_id
from consentry.record.envelope import EVENT_PREFIX, Draft
from consentry.surface.lattice import Surface
from consentry.surface.wire import surface_from_json, surface_to_json

PREFIX: Final = "permit"
LONGEST_LIFE: Final = Duration(60_000)

FIELDS: Final = (
    "permitId",
    "subject",
    "digests",
    "arguments",
    "surface",
    "machineId",
    "decisionEventId",
    "madeAt",
    "expiresAt",
    "spentAt",
    "spentBy",
)


@dataclass(frozen=True, slots=True)
class PermitOrder:
    """What is to start, with which powers, and the event that decided it."""

    subject: str
    digests: Mapping[str, Digest]
    arguments: tuple[str, ...]
    surface: Surface = field(repr=False)
    decision_event_id: str

    def __post_init__(self) -> None:
        check_text("subject", self.subject)
        if not self.digests:
            raise problem("digests", "a permit names the bytes it is for by at least one digest")
        for name, digest in self.digests.items():
            check_text("digests", name)
            check_digest(f"digests.{name}", digest)
        check_texts("arguments", self.arguments)
        check_id_field("decisionEventId", self.decision_event_id, EVENT_PREFIX)
        object.__setattr__(self, "digests", MappingProxyType(dict(self.digests)))

    def to_json(self) -> dict[str, Json]:
        """The fields as a permit records them."""
        return {
            "subject": self.subject,
            "digests": dict(self.digests),
            "arguments": list(self.arguments),
            "surface": surface_to_json(self.surface),
            "decisionEventId": self.decision_event_id,
        }


@dataclass(frozen=True, slots=True)
class Permit:
    """An order that may be carried out once, on one machine, within a minute."""

    permit_id: str
    order: PermitOrder
    machine_id: str
    made_at: Instant
    expires_at: Instant
    spent_at: Instant | None = None
    spent_by: str | None = None

    def __post_init__(self) -> None:
        check_id_field("permitId", self.permit_id, PREFIX)
        check_machine_id("machineId", self.machine_id)
        if not self.made_at < self.expires_at <= self.made_at.plus(LONGEST_LIFE):
            raise problem(
                "expiresAt", f"a permit lives more than nothing and at most {LONGEST_LIFE}"
            )
        check_pair("spentAt", self.spent_at, "spentBy", self.spent_by)
        if self.spent_by is not None:
            check_text("spentBy", self.spent_by)
        check_not_before("spentAt", self.spent_at, self.made_at)

    def spent(self, by: str, on_machine: str, now: Instant) -> "Permit":
        """The same permit, spent; raises `permit-refused` where it cannot be."""
        check_text("spentBy", by)
        if self.spent_at is not None:
            when = self.spent_at.shown()
            raise _refusal(self.permit_id, f"was spent by `{self.spent_by}` at {when}")
        if on_machine != self.machine_id:
            raise _refusal(
                self.permit_id, f"is for `{self.machine_id}`, and this is `{on_machine}`"
            )
        if now > self.expires_at:
            raise _refusal(self.permit_id, f"expired at {self.expires_at.shown()}")
        if now < self.made_at:
            # Otherwise a clock set back would let it live longer than its minute.
            made, present = self.made_at.shown(), now.shown()
            raise _refusal(self.permit_id, f"was made at {made}, after the present {present}")
        return replace(self, spent_at=now, spent_by=by)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        return {
            "permitId": self.permit_id,
            **self.order.to_json(),
            "machineId": self.machine_id,
            "madeAt": str(self.made_at),
            "expiresAt": str(self.expires_at),
            "spentAt": as_json(self.spent_at),
            "spentBy": self.spent_by,
        }

    @classmethod
    def from_json(cls, document: object) -> "Permit":
        """Reads what `to_json` writes."""
        fields = Fields(document, FIELDS)
        return cls(
            permit_id=fields.text("permitId"),
            order=PermitOrder(
                subject=fields.text("subject"),
                digests=fields.digests("digests"),
                arguments=fields.texts("arguments"),
                surface=surface_from_json(fields.value("surface")),
                decision_event_id=fields.text("decisionEventId"),
            ),
            machine_id=fields.text("machineId"),
            made_at=fields.instant("madeAt"),
            expires_at=fields.instant("expiresAt"),
            spent_at=fields.optional_instant("spentAt"),
            spent_by=fields.optional_text("spentBy"),
        )


def make_permit(
    order: PermitOrder,
    permit_id: str,
    machine_id: str,
    now: Instant,
    life: Duration = LONGEST_LIFE,
) -> Permit:
    """A fresh permit for that machine; nothing holds it until a store has recorded it."""
    return Permit(permit_id, order, machine_id, now, now.plus(life))


def unknown_permit(permit_id: str) -> Refused:
    """The refusal of a permit that was never recorded."""
    return _refusal(permit_id, "was never recorded")


def undecided(order: PermitOrder) -> Refused:
    """The refusal of an order whose decision is not in the ledger."""
    message = f"no permit for `{order.subject}`: the ledger has no `{order.decision_event_id}`"
    return Refused(Code.PERMIT_REFUSED, message)


def _refusal(permit_id: str, message: str) -> Refused:
    return Refused(Code.PERMIT_REFUSED, f"`{permit_id}` {message}")


class Permits(Protocol):
    """Where permits are kept."""

    def make(self, order: PermitOrder, *decisions: Draft, life: Duration = LONGEST_LIFE) -> Permit:
        """A permit for this machine, recorded together with the decisions passed along.

        The event that the order names as its decision is one of those, or is in the ledger already.
        """
        ...

    def make_and_spend(self, order: PermitOrder, by: str, *decisions: Draft) -> Permit:
        """A permit that is spent as soon as it is made, recorded as both, all in one go."""
        ...

    def spend(self, permit_id: str, by: str) -> Permit:
        """Spends it on this machine; refused to all but the first."""
        ...

    def find(self, permit_id: str) -> Permit | None:
        """The permit with this id."""
        ...

    def of_decision(self, event_id: str) -> Permit | None:
        """The permit that was made for that decision."""
        ...
