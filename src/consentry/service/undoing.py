"""Takes the commit of a run back: at the end of the run, or of its rehearsal, all the same."""

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.keptshelf import UNDO, Shelf
from consentry.enforce.undo import UndoTerms, undo
from consentry.record.auditfields import ConsentMethod
from consentry.service.effectledger import Deed, Result, decided, settled, settled_on_disk
from consentry.service.keptruns import EffectConflict, KeptRun, Place, settled_before
from consentry.service.recovering import tidying_of
from consentry.service.rehearsals import Settled


def undo_run(place: Place, named: str) -> Settled:
    """Undoes what a run committed; raises with the workspace as it is."""
    run = KeptRun.named(place.history, named)
    if Shelf(place.state, UNDO).found(run.permit_id) is None or _is_undone(place, run):
        raise _not_here(place, run)
    with Uninterrupted():
        return _undone(place, run)


def _undone(place: Place, run: KeptRun) -> Settled:
    journal, effect = place.journal, run.effect
    decision = decided(journal, effect, Deed.UNDO, ConsentMethod.COMMAND_LINE)

    def told() -> None:
        settled_on_disk(journal, effect, Deed.UNDO, Result.UNDONE, decision)

    try:
        conflicts = undo(
            place.state, run.permit_id, terms=UndoTerms(tidying_of(place), told, run.digest)
        )
    except Refused as problem:
        if problem.code is not Code.COMMIT_UNFINISHED:
            settled(journal, effect, Deed.UNDO, Result.REFUSED, decision, why=problem.message)
        raise
    if conflicts is None:
        why = "somebody else undid it first"
        settled(journal, effect, Deed.UNDO, Result.REFUSED, decision, why=why)
        raise _not_here(place, run)
    if conflicts:
        settled(journal, effect, Deed.UNDO, Result.CONFLICT, decision, conflicts=conflicts)
        raise EffectConflict(conflicts)
    return Settled(run.run_id, Result.UNDONE, effect.files)


def _is_undone(place: Place, run: KeptRun) -> bool:
    settlement = run.settlement(place.history)
    return settlement is not None and settlement.result is Result.UNDONE


def _not_here(place: Place, run: KeptRun) -> ConsentryError:
    settlement = run.settlement(place.history)
    if settlement is not None and settlement.result is not Result.COMMITTED:
        return settled_before(run, settlement)
    if settlement is None and run.rehearsal is not None:
        message = f"`{run.run_id}` is a rehearsal and was not committed: there is nothing to undo"
        return UsageProblem(Code.EFFECT_ABSENT, message)
    if settlement is None and not run.entry["impact"]["committed"]:
        message = f"`{run.run_id}` changed nothing: there is nothing to undo"
        return UsageProblem(Code.EFFECT_ABSENT, message)
    until = run.undo_until
    if until is not None and until < place.now():
        return Refused(Code.EFFECT_EXPIRED, f"`{run.run_id}` could be undone until {until.shown()}")
    why = (run.entry["impact"].get("undo") or {}).get("why")
    said = (
        why
        or "what it replaced is not kept any more: it wrote directly, or newer runs took its room"
    )
    return UsageProblem(Code.EFFECT_ABSENT, f"`{run.run_id}` cannot be undone: {said}")
