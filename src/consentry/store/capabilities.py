"""Saved capabilities in the store (ESCALATION AC4): saved, given another set, and read back.

Each change is one transaction: the event that tells all of the capability, its row in
`workflow_pattern`, and, where its permission set was decided by somebody, the row of that decision in
`permission_audit_log`. A change holds only if the row is still the one it was made from; otherwise it
is looked at anew. The name of a capability is taken once, whoever comes first.

Code that is saved anew is a new version, in the set that is inferred from it: what was approved or
given by hand was for the code before. What the capability still asks for is superseded then, as it is
when a person sets its set by hand.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem, UsageProblem
from consentry.base.ids import check_id
from consentry.decide.capabilities import (
    PREFIX,
    Capability,
    CapabilityHead,
    PermissionSource,
    check_code,
    check_language,
    check_name,
    determine_permission_set,
    digest_of_code,
)
from consentry.decide.fields import problem
from consentry.decide.identity import Identity, check_identity
from consentry.decide.permissionaudit import MANUAL, EscalationDecision
from consentry.examine.inference.inferred import Inferred, Language
from consentry.record.chain import ChainRow
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.store.endings import SET_CHANGED
from consentry.store.history import EventFilter
from consentry.store.journal import About, Journal
from consentry.store.patterns import (
    SURE,
    add_first,
    hold_as_it_was,
    moment_after,
    names_by_id,
    saved_capabilities,
    saved_draft,
    saved_heads,
)
from consentry.store.permissionaudit import decision_draft
from consentry.store.requests import StoredRequests
from consentry.store.rows import Overtaken
from consentry.surface.permission_sets import PermissionSet

_MOST_TRIES: Final = 8
_CODE_CHANGED: Final = "the capability was saved with other code"

Done = TypeVar("Done")


class CapabilityStore:
    """The saved capabilities of one store."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def save(
        self,
        name: str,
        language: Language,
        code: str,
        inferred: Inferred,
        *,
        by: Identity,
        set_by_hand: PermissionSet | None = None,
    ) -> Capability:
        """Saves the code under the name; the same code stays as it is, other code is a new version.

        `set_by_hand` gives it that set instead of the inferred one, logged as a step from `minimal`:
        of code that nobody has saved before, nothing was open.
        """
        check_name(name)
        check_code(code)
        check_identity("savedBy", by)
        language = check_language(language)

        def attempt() -> Capability:
            known = self.named(name)
            if known is None:
                return self._save_first(name, language, code, inferred, by, set_by_hand)
            if (known.language, known.code_hash) == (language, digest_of_code(code)):
                wanted = set_by_hand
                return known if wanted is None else self._move(known, wanted, by, None, MANUAL)
            return self._save_next(known, language, code, inferred, by, set_by_hand)

        return _tried(attempt, f"others keep saving `{name}` at once")

    def find(self, capability_id: str) -> Capability | None:
        """The capability with this id, as it is now."""
        try:
            check_id(capability_id, PREFIX)
        except BadInput:
            return None
        return self._only("id = ?", capability_id)

    def named(self, name: str) -> Capability | None:
        """The capability of this name, as it is now."""
        try:
            check_name(name)
        except BadInput:
            return None
        return self._only("name = ?", name)

    def history(self, capability_id: str) -> Sequence[Capability]:
        """Every version and every set that it had, oldest first; from the events, not the row."""
        known = self.find(capability_id)
        if known is None:
            return ()
        wanted = EventFilter(subject=known.subject, type=EventType.WORKFLOW_PATTERN_SAVED)
        told = [_told(row) for row in self._journal.ledger.history.events(wanted)]
        return sorted(told, key=lambda each: (each.version, each.updated_at))

    def update_permission_set(
        self,
        capability_id: str,
        new_set: PermissionSet,
        *,
        approved_by: Identity,
        reason: str | None = None,
        detected_operation: str | None = None,
        by_hand: bool = False,
    ) -> Capability:
        """Moves it to another set and logs who did, in one step; raises `permission-step`.

        The step is from the set it runs in. `by_hand` is a person's own command: it may also go down
        or to `trusted`, is logged as `manual`, and its set counts as given by hand from then on.
        An answered request needs no call of this: answering it has moved the set.
        """
        wanted = PermissionSet.named(new_set)
        if not by_hand and detected_operation == MANUAL:
            raise problem("detectedOperation", f"`{MANUAL}` is what is done by hand")
        operation = MANUAL if by_hand else detected_operation

        def attempt() -> Capability:
            known = self.find(capability_id)
            if known is None:
                message = f"no saved capability has the id `{capability_id}`"
                raise UsageProblem(Code.CAPABILITY_MISSING, message)
            return self._move(known, wanted, approved_by, reason, operation)

        return _tried(attempt, f"others keep changing `{capability_id}` at once")

    def list(self) -> Sequence[Capability]:
        """All of them as they are now, by name."""
        return saved_capabilities(self._journal.database, "1 = 1", rest="ORDER BY name")

    def heads(self) -> Sequence[CapabilityHead]:
        """The same without their code."""
        return saved_heads(self._journal.database)

    def names(self) -> Mapping[str, str]:
        """Of all of them the names, by id and in their order; without their code."""
        return names_by_id(self._journal.database)

    def _only(self, where: str, value: str) -> Capability | None:
        found = saved_capabilities(self._journal.database, where, (value,))
        return found[0] if found else None

    def _save_first(
        self,
        name: str,
        language: Language,
        code: str,
        inferred: Inferred,
        by: Identity,
        by_hand: PermissionSet | None,
    ) -> Capability:
        journal, now = self._journal, self._journal.clock.now()
        capability = _in_set_by_hand(
            Capability(
                capability_id=journal.ids.new(PREFIX),
                name=name,
                language=language,
                code=code,
                code_hash=digest_of_code(code),
                version=1,
                permission_set=inferred.permission_set,
                permission_confidence=inferred.confidence,
                permission_source=PermissionSource.EMERGENT,
                detected_patterns=inferred.detected_patterns,
                created_at=now,
                updated_at=now,
            ),
            by_hand,
        )
        drafts = self._saving(capability, by, by_hand, now)
        journal.record(*drafts, change=lambda transaction: add_first(transaction, capability))
        return capability

    def _save_next(
        self,
        known: Capability,
        language: Language,
        code: str,
        inferred: Inferred,
        by: Identity,
        by_hand: PermissionSet | None,
    ) -> Capability:
        journal, now = self._journal, self._journal.clock.now()
        following = _in_set_by_hand(
            known.with_code(language, code, inferred, moment_after(known, now)), by_hand
        )
        drafts = self._saving(following, by, by_hand, now)
        journal.record(*drafts, change=lambda transaction: hold_as_it_was(transaction, known))
        self._supersede(following, _CODE_CHANGED)
        return following

    def _saving(
        self, capability: Capability, by: Identity, by_hand: PermissionSet | None, now: Instant
    ) -> tuple[Draft, ...]:
        about = About(capability.subject, actor=by)
        saved = saved_draft(self._journal, capability, about, now)
        if by_hand is None:
            return (saved,)
        given = _decided(capability.capability_id, PermissionSet.MINIMAL, by_hand, by, None, MANUAL)
        return (decision_draft(self._journal, given, about, now), saved)

    def _move(
        self,
        known: Capability,
        wanted: PermissionSet,
        by: Identity,
        reason: str | None,
        operation: str | None,
    ) -> Capability:
        journal, now = self._journal, self._journal.clock.now()
        is_by_hand = operation == MANUAL
        present = determine_permission_set(known)
        if is_by_hand and known.permission_source is PermissionSource.MANUAL and wanted is present:
            return known
        decision = _decided(known.capability_id, present, wanted, by, reason, operation)
        source = PermissionSource.MANUAL if is_by_hand else known.permission_source
        moved = known.with_set(wanted, SURE, source, moment_after(known, now))
        about = About(known.subject, actor=by)
        journal.record(
            decision_draft(journal, decision, about, now),
            saved_draft(journal, moved, about, now),
            change=lambda transaction: hold_as_it_was(transaction, known),
        )
        self._supersede(moved, SET_CHANGED)
        return moved

    def _supersede(self, capability: Capability, why: str) -> None:
        journal = self._journal
        requests = StoredRequests(journal.ledger, journal.ids, journal.clock, journal.context)
        requests.outdate(capability.subject, why)


def _told(row: ChainRow) -> Capability:
    try:
        return Capability.from_json(json.loads(row.body)["payload"])
    except (BadInput, ValueError, KeyError, TypeError) as wrong:
        message = f"event {row.seq} of `{row.writer}` cannot be read any more"
        raise LedgerProblem(Code.CHAIN_BROKEN, message) from wrong


def _in_set_by_hand(capability: Capability, by_hand: PermissionSet | None) -> Capability:
    if by_hand is None:
        return capability
    return capability.with_set(by_hand, SURE, PermissionSource.MANUAL, capability.updated_at)


def _decided(
    capability_id: str,
    present: PermissionSet,
    wanted: PermissionSet,
    by: Identity,
    reason: str | None,
    operation: str | None,
) -> EscalationDecision:
    return EscalationDecision(
        capability_id=capability_id,
        from_set=present,
        to_set=wanted,
        approved=True,
        approved_by=by,
        reason=reason,
        detected_operation=operation,
    )


def _tried(attempt: Callable[[], Done], message: str) -> Done:
    for _ in range(_MOST_TRIES):
        try:
            return attempt()
        except Overtaken:
            continue
    raise LedgerProblem(Code.LEDGER_BUSY, message)
