"""What of one run waits for a person's answer: who is asked, what is asked, and what came of it.

Files are held by the native engine alone, and connections by its proxy. Where nobody is to be asked,
nothing is done. How long a run may take goes on counting while it waits.
"""

import shlex
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import replace
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import HeldAs, Outcome
from consentry.enforce.held import (
    HeldAnswer,
    HeldDesk,
    HeldRecord,
    HoldKeeper,
    opened_in_layer,
)
from consentry.enforce.native.findings import merged
from consentry.enforce.native.heldline import HeldLine
from consentry.enforce.native.heldplan import NeverHeld, held_wish
from consentry.enforce.native.planner import ENGINE, Plan
from consentry.enforce.violations import Operation, PermissionDenied, Truth
from consentry.surface.modes import View
from consentry.surface.protected import ProtectedRoots

_WHY = {
    HeldAnswer.REFUSED: "held, and refused",
    HeldAnswer.EXPIRED: "held, and not answered in time",
    HeldAnswer.GONE: "held, and ended before it was answered",
}
_OPTIONS = {Operation.READ: "--read", Operation.WRITE: "--write"}


class BoxHolds:
    """Of one run."""

    def __init__(
        self,
        keeper: HoldKeeper | None,
        wanted: Confinement,
        *,
        is_bare: bool = False,
        is_snippet: bool = False,
    ) -> None:
        """Raises where a run like this cannot be held.

        A snippet, which has the private view, may well open by its name what it does not see.
        """
        self.desk: HeldDesk | None = None
        self._wanted = wanted
        self._line: HeldLine | None = None
        if keeper is None:
            return
        why = None
        if is_bare:
            why = "without namespaces nobody stands between a program and its files"
        elif wanted.view is not View.VISIBLE and not is_snippet:
            why = "a program that cannot see a file does not ask for it"
        elif not wanted.holds:
            why = "the run was not compiled for it"
        if why is not None:
            help_line = "choose the view `visible` (--view visible), or leave out --hold"
            raise Refused(
                Code.HOLD_REFUSED, f"nothing can be held here: {why}", help_line=help_line
            )
        self.desk = HeldDesk(keeper)

    def told(
        self,
        plan: Plan,
        files: list[int],
        protected: ProtectedRoots,
        state: Path | None = None,
    ) -> dict[str, object]:
        """What the launcher is told besides; the socket to ask by is added to its files."""
        if self.desk is None:
            return {}
        never = NeverHeld(self._wanted, plan, protected, state)
        self._line = HeldLine(self.desk, never)
        files.append(self._line.its.fileno())
        return {"hold": held_wish(plan, len(files))}

    def start(self) -> None:
        """Once the launcher has what it was told."""
        if self._line is not None:
            self._line.start()

    def close(self) -> None:
        """Nothing is held any more; what waits is gone."""
        if self._line is not None:
            self._line.close()
            self._line = None
        if self.desk is not None:
            self.desk.close()

    def added_to(self, outcome: Outcome) -> Outcome:
        """With what was held, and what of it was read, written or refused."""
        self.close()
        records = () if self.desk is None else self.desk.records()
        if not records:
            return outcome
        granted = [each for each in records if each.answer is HeldAnswer.GRANTED and not each.error]
        read = [each.held.path_or_host for each in granted if _has_read(each)]
        refused = [
            _denied(each)
            for each in records
            if each.answer is not HeldAnswer.GRANTED and each.held.operation is not Operation.NET
        ]
        # What we refused ourselves stands in place of what was seen of the same.
        known = {(each.operation, each.resource) for each in refused}
        seen = [each for each in outcome.violations if (each.operation, each.resource) not in known]
        return replace(
            outcome,
            held_operations=records,
            reads=tuple(dict.fromkeys((*outcome.reads, *read))),
            reads_held={**dict.fromkeys(read, HeldAs.EXACT), **outcome.reads_held},
            touched=tuple(dict.fromkeys((*outcome.touched, *opened_in_layer(records)))),
            violations=tuple(merged((*seen, *refused))),
        )


def _has_read(record: HeldRecord) -> bool:
    held = record.held
    is_read = held.operation is Operation.READ or (held.also_reads and not held.creates)
    return is_read and not held.is_folder


def _denied(record: HeldRecord) -> PermissionDenied:
    """Of a file; what the proxy refused it tells itself."""
    held = record.held
    allow = f"{_OPTIONS[held.operation]} {shlex.quote(held.path_or_host)}"
    return PermissionDenied(
        held.operation,
        held.path_or_host,
        ENGINE,
        Truth.MEDIATED,
        _WHY[record.answer],
        allow,
        record.times,
    )
