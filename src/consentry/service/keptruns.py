"""A recorded run as far as its effect goes: what was kept of it, and whether it is there yet.

The ledger is what counts: the digest of the effect, how long it is kept and whether its commit has to
be approved are read from the run's record, and what lies on the disk is held against that.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.commitcheck import Conflict
from consentry.enforce.keptshelf import Keeping
from consentry.service.effectledger import EffectOf, Settlement, settlement_of
from consentry.service.runlookup import find_run, last_rehearsal
from consentry.store.history import History
from consentry.store.journal import Journal

_MOST_LISTED = 20


class EffectConflict(Refused):
    """Somebody changed the same files; nothing was changed."""

    def __init__(self, conflicts: tuple[Conflict, ...]) -> None:
        shown = [f"`{each.path}`: {each.why}" for each in conflicts[:_MOST_LISTED]]
        more = len(conflicts) - len(shown)
        said = "; ".join([*shown, *([f"and {more} more"] if more else [])])
        count = "1 path stands" if len(conflicts) == 1 else f"{len(conflicts)} paths stand"
        super().__init__(Code.EFFECT_CONFLICT, f"{count} in the way: {said}")
        self.conflicts = conflicts


@dataclass(frozen=True, slots=True)
class Place:
    """Where effects are dealt with: one ledger, one state directory, and how long things are kept."""

    journal: Journal
    state: Path
    keeping: Keeping

    @property
    def history(self) -> History:
        """The reading side of the ledger."""
        return self.journal.ledger.history

    def now(self) -> Instant:
        """The present instant."""
        return self.journal.clock.now()


@dataclass(frozen=True, slots=True)
class KeptRun:
    """The record of a run, with what it says of its effect."""

    entry: Mapping[str, Any]
    permit_id: str

    @classmethod
    def named(cls, history: History | None, named: str | None) -> "KeptRun":
        """The run that an id names; without one the latest rehearsal."""
        entry = last_rehearsal(history) if named is None else find_run(history, named)[1]
        permit = entry.get("permitId")
        if permit is None:
            raise UsageProblem(
                Code.EFFECT_ABSENT, f"`{entry['id']}` was refused and changed nothing"
            )
        return cls(entry, str(permit))

    @property
    def run_id(self) -> str:
        """The id that is shown to people."""
        return str(self.entry["id"])

    @property
    def subject(self) -> str:
        """Who the run was of, as its permit names it."""
        tool = self.entry["tool"]
        # Only what has a manifest says how its entries are to be kept.
        return f"{'tool' if 'auditConfig' in tool else 'program'}:{tool['name']}"

    @property
    def rehearsal(self) -> Mapping[str, Any] | None:
        """What was recorded of it as a rehearsal; None where it was none."""
        found: Mapping[str, Any] | None = self.entry["impact"].get("rehearsal")
        return found

    @property
    def digest(self) -> Digest | None:
        """The digest of its effect."""
        found = self.entry["impact"].get("effectDigest")
        return None if found is None else Digest(found)

    @property
    def effect(self) -> EffectOf:
        """Its effect, as events name it."""
        impact = self.entry["impact"]
        files = len(impact["filesWritten"]) + len(impact["filesDeleted"])
        if not files and self.rehearsal is not None:
            # A tool may keep no lists; then its folders are counted with its files.
            files = sum(self.rehearsal["changes"].values())
        return EffectOf(self.run_id, self.permit_id, self.digest, files)

    @property
    def kept_until(self) -> Instant | None:
        """The end of what is kept for a commit."""
        return None if self.rehearsal is None else Instant.parse(self.rehearsal["keptUntil"])

    @property
    def undo_until(self) -> Instant | None:
        """The end of what is kept for undo, as it was when the run was committed at its own end."""
        until = (self.entry["impact"].get("undo") or {}).get("until")
        return None if until is None else Instant.parse(until)

    def settlement(self, history: History) -> Settlement | None:
        """What became of its effect for good, after the run."""
        return settlement_of(history, self.permit_id)


def settled_before(run: KeptRun, settlement: Settlement) -> Refused:
    """The error for an effect that something was done with already."""
    when = Instant.parse(settlement.at).shown()
    return Refused(Code.EFFECT_SETTLED, f"`{run.run_id}` was {settlement.result} at {when}")
