"""Commits or discards the effect of a rehearsal: exactly that one, exactly once.

The effect is locked while somebody deals with it, and what the ledger says of it is read under that
lock: of two who come at the same time one does it, and the other is told that it was done.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.commit import CommitOutcome, CommitResult, CommitTerms, commit
from consentry.enforce.foldertree import Tree
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.keptshelf import REHEARSED, Shelf
from consentry.enforce.rehearsal import opened
from consentry.record.auditfields import ConsentMethod
from consentry.service.commitapproval import Asking, require_approved
from consentry.service.consenting import consents_of
from consentry.service.effectledger import (
    Deed,
    Result,
    decided,
    discarded,
    settled,
    settled_on_disk,
)
from consentry.service.effects import WAITING, EffectView, view_of
from consentry.service.keptruns import EffectConflict, KeptRun, Place, settled_before
from consentry.service.recovering import tidying_of

_PLAIN = Asking()


@dataclass(frozen=True, slots=True)
class Settled:
    """What was done with the effect of a run; `undo_until` is for those that were committed."""

    run_id: str
    result: Result
    files: int
    undo_until: str | None = None
    undo_why: str | None = None


def commit_run(place: Place, named: str | None, asking: Asking = _PLAIN) -> Settled:
    """Commits the effect of a rehearsal; raises with the workspace as it was."""
    run = KeptRun.named(place.history, named)
    method, request, was_asked = ConsentMethod.COMMAND_LINE, None, False
    if run.rehearsal is not None and run.rehearsal["needsApproval"]:
        method = ConsentMethod.STRICT_APPROVAL
        _require_standing(place, run)
        with _held(place, run) as (_, digest):
            pass
        # Not under the lock: whoever answers elsewhere has to see the effect as well.
        request, was_asked = require_approved(place, run, digest, asking, lambda: _view(place, run))
    try:
        with _waiting(place, run) as (tree, digest), Uninterrupted():
            if method is ConsentMethod.STRICT_APPROVAL:
                _require_standing(place, run)  # or it was revoked while the question was open
            undo = _committed(place, run, tree, digest, method, request).undo
    except Refused as problem:
        settlement = run.settlement(place.history)
        is_done = settlement is not None and settlement.result is Result.COMMITTED
        if problem.code is not Code.EFFECT_SETTLED or not was_asked or not is_done:
            raise
        # Whoever answered while we asked has carried the same approval out.
        return Settled(run.run_id, Result.COMMITTED, run.effect.files)
    undo_until = None if undo.until is None else str(undo.until)
    return Settled(run.run_id, Result.COMMITTED, run.effect.files, undo_until, undo.why)


def _view(place: Place, run: KeptRun) -> EffectView:
    with _held(place, run) as (tree, _):
        return view_of(run, tree, WAITING, str(run.kept_until))


def _require_standing(place: Place, run: KeptRun) -> None:
    """Raises where the yes that a strict run began with was taken back since."""
    consent_id = run.entry["user"].get("consentId")
    consent = None if consent_id is None else consents_of(place.journal).find(str(consent_id))
    if consent is not None and consent.revoked_at is not None:
        when = consent.revoked_at.shown()
        message = f"`{consent.consent_id}`, under which `{run.run_id}` ran, was revoked at {when}"
        raise Refused(
            Code.CONSENT_CLOSED, message, help_line="discard its effect, or run the tool again"
        )


def discard_run(place: Place, named: str | None) -> Settled:
    """Throws the effect of a rehearsal away; only the record of that is left."""
    run = KeptRun.named(place.history, named)
    with _waiting(place, run), Uninterrupted():
        discarded(place.journal, run.effect, ConsentMethod.COMMAND_LINE)
    return Settled(run.run_id, Result.DISCARDED, run.effect.files)


@contextmanager
def _waiting(place: Place, run: KeptRun) -> Iterator[tuple[Tree, Digest]]:
    """The kept effect, locked, that nothing was done with yet; removed when the block ends well."""
    with _held(place, run) as held:
        yield held
        shelf = Shelf(place.state, REHEARSED)
        item = shelf.found(run.permit_id)
        if item is not None:
            shelf.remove(item)


@contextmanager
def _held(place: Place, run: KeptRun) -> Iterator[tuple[Tree, Digest]]:
    """The kept effect, locked, that nothing was done with yet."""
    shelf = Shelf(place.state, REHEARSED)
    item = shelf.found(run.permit_id)
    if item is None:
        raise _gone(place, run)
    with shelf.taken(item) as tree:
        settlement = run.settlement(place.history)
        if tree is None or settlement is not None:
            if tree is not None:
                shelf.remove(item)  # whoever did it was killed before this
            raise _gone(place, run)
        if run.kept_until is None or run.digest is None or run.kept_until < place.now():
            raise _gone(place, run)
        yield tree, run.digest


def _gone(place: Place, run: KeptRun) -> ConsentryError:
    """Why there is nothing to be done with."""
    settlement = run.settlement(place.history)
    if settlement is not None:
        return settled_before(run, settlement)
    if run.rehearsal is None:
        return UsageProblem(
            Code.EFFECT_ABSENT, f"`{run.run_id}` was no rehearsal, or could write nothing"
        )
    until = run.kept_until
    if until is not None and until < place.now():
        return Refused(Code.EFFECT_EXPIRED, f"`{run.run_id}` was kept until {until.shown()}")
    return UsageProblem(Code.EFFECT_ABSENT, f"what was kept of `{run.run_id}` is not here any more")


def _committed(
    place: Place,
    run: KeptRun,
    tree: Tree,
    digest: Digest,
    method: ConsentMethod,
    request: str | None,
) -> CommitOutcome:
    journal, effect = place.journal, run.effect
    with opened(tree, digest) as (kept, layer):
        decision = decided(journal, effect, Deed.COMMIT, method, request)

        def told() -> None:
            settled_on_disk(journal, effect, Deed.COMMIT, Result.COMMITTED, decision)
            # While the commit can be recovered from still: no crash leaves it here for good.
            shelf = Shelf(place.state, REHEARSED)
            item = shelf.found(run.permit_id)
            if item is not None:
                shelf.remove(item)

        try:
            outcome = commit(
                layer,
                kept.verdicts(),
                run=run.permit_id,
                state=place.state,
                terms=CommitTerms(tidying_of(place), told, kept),
            )
        except Refused as problem:
            if problem.code is not Code.COMMIT_UNFINISHED:
                why = problem.message
                settled(journal, effect, Deed.COMMIT, Result.REFUSED, decision, why=why)
            raise
        if outcome.result is CommitResult.NOTHING:
            settled(journal, effect, Deed.COMMIT, Result.COMMITTED, decision)
        if outcome.result is CommitResult.CONFLICT:
            found = outcome.conflicts
            settled(journal, effect, Deed.COMMIT, Result.CONFLICT, decision, conflicts=found)
            raise EffectConflict(found)
    return outcome
