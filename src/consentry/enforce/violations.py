"""Denials in their one typed form, and what to type to allow them."""

from enum import StrEnum

from consentry.base.canonical import Json
from consentry.base.values import dataclass
from consentry.surface.operations import Operation

__all__ = ["Operation", "PermissionDenied", "Truth"]


class Truth(StrEnum):
    """Who vouches for an entry of a record; strongest first."""

    KERNEL = "kernel"
    MEDIATED = "mediated"
    OBSERVED = "observed"
    DECLARED = "declared"
    REPORTED = "reported"


@dataclass(eq=True, unsafe_hash=True)
class PermissionDenied(Exception):
    """One refused operation; `str()` is the line that ESCALATION reads.

    `allow` is the option that would allow it, or None where nothing would. Not frozen, because
    whoever raises or passes on an exception writes to it.
    """

    operation: Operation
    resource: str
    engine: str
    truth: Truth
    rule: str
    allow: str | None = None
    times: int = 1

    def __str__(self) -> str:
        return f"PermissionDenied: Requires {self.operation} access to {self.resource}"

    def to_json(self) -> dict[str, Json]:
        """As it stands among the violations of a run's record."""
        return {
            "operation": self.operation.value,
            "resource": self.resource,
            "rule": self.rule,
            "truth": self.truth.value,
            "allow": self.allow,
            "times": self.times,
        }
