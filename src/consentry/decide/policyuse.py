"""Does an operator's policy entry stand for the yes to this run, and which one?

An entry holds for one tool at one version and digest; where it names them, also for these arguments
alone, on these machines alone, and until a time. Of several that hold the one that says most counts:
one that names arguments before one that does not, then one that names machines, then the first. So a
narrow `commit: ask` is not overruled by a wide `commit: auto`.

Nothing here reads a clock or a file: what is passed in is what is judged.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.decide.machine import Machine, MachineScope
from consentry.declare.policy import PolicyEntry


class PolicyLack(StrEnum):
    """Why no entry holds, in the order in which it is looked at."""

    words: str

    def __new__(cls, name: str, words: str) -> Self:
        """A member is its own stored name; the words are for the person who wonders."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.words = words
        return member

    NOT_NAMED = ("not_named", "no policy entry names the tool")
    OTHER_VERSION = ("other_version", "the policy entry is for another version of the tool")
    OTHER_DIGEST = ("other_digest", "the policy entry is for another digest of the tool")
    OTHER_ARGUMENTS = ("other_arguments", "the policy entry is for other arguments")
    OTHER_MACHINE = ("other_machine", "the policy entry is for other machines")
    EXPIRED = ("expired", "the policy entry has expired")


_ORDER = list(PolicyLack)


@dataclass(frozen=True, slots=True)
class PolicyNeed:
    """What a run is about to start, as it stands now."""

    tool: str
    version: str
    digest: Digest
    arguments: tuple[str, ...]
    machine: Machine


def entry_for(entries: Iterable[PolicyEntry], need: PolicyNeed, now: Instant) -> PolicyEntry | None:
    """The entry that stands for the yes; None where none does."""
    held = [entry for entry in entries if policy_lack_of(entry, need, now) is None]
    # A stable sort: among equals the first one of the document counts.
    held.sort(key=lambda entry: (entry.arguments is None, entry.machines is None))
    return held[0] if held else None


def why_no_entry(
    entries: Iterable[PolicyEntry], need: PolicyNeed, now: Instant
) -> PolicyLack | None:
    """The nearest miss of all entries; None when one of them holds."""
    lacks = [policy_lack_of(entry, need, now) for entry in entries]
    if None in lacks:
        return None
    return max((lack for lack in lacks if lack), key=_ORDER.index, default=PolicyLack.NOT_NAMED)


def policy_lack_of(entry: PolicyEntry, need: PolicyNeed, now: Instant) -> PolicyLack | None:
    """The first check that this entry fails; None when it holds."""
    machines = entry.machines
    checks = (
        (entry.tool == need.tool, PolicyLack.NOT_NAMED),
        (entry.version == need.version, PolicyLack.OTHER_VERSION),
        (entry.digest == need.digest, PolicyLack.OTHER_DIGEST),
        (entry.arguments in (None, need.arguments), PolicyLack.OTHER_ARGUMENTS),
        (machines is None or _is_among(need.machine, machines), PolicyLack.OTHER_MACHINE),
        (entry.expires is None or now <= entry.expires, PolicyLack.EXPIRED),
    )
    return next((lack for is_met, lack in checks if not is_met), None)


def _is_among(machine: Machine, scopes: Iterable[str]) -> bool:
    return any(machine.is_in(MachineScope(scope)) for scope in scopes)
