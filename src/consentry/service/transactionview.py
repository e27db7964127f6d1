"""What is told of a transaction: where it stands, why, what helps next, its preview, and its events in order.

Reads alone. The preview is held against its hash before anything of it is told. What a role does not see is
not in what is told for that role, in no form of it; the raw preview has it, and is for whoever may see all.
"""

from collections.abc import Mapping
from typing import Any, Final

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.values import dataclass, field
from consentry.decide.approval import ApprovalRequest
from consentry.decide.identity import Role
from consentry.decide.previewdiff import DiffEntity, diff_of, role_entries
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import DocumentKeeper
from consentry.record.chain import event_fields
from consentry.record.transactionsaid import said_of
from consentry.record.transactionstates import TransactionState
from consentry.service.approvals import Desk
from consentry.service.transactionwords import STATES
from consentry.store.history import EventFilter, History
from consentry.store.journal import Journal
from consentry.store.transactions import StoredTransactions, subject_of_tx
from consentry.store.transactionsummary import summary_of

MOST_EVENTS: Final = 200
"""So many of the latest events of one transaction are told."""
_S = TransactionState
_AT_HOST: Final = frozenset({_S.APPROVED, _S.APPLIED, _S.RECOVERY_PENDING})
_HOST_ONLY: Final = "its document lies in a store of the application, which has to do it itself"
_EXPIRED: Final = "its approval has expired: a new preview has to be made and approved"


@dataclass(frozen=True, slots=True)
class TxEvent:
    """One event of a transaction."""

    event_id: str
    at: Instant
    type: str
    actor: str
    said: str
    payload: Mapping[str, Any] = field(repr=False)

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {
            "eventId": self.event_id,
            "timestampUtc": str(self.at),
            "type": self.type,
            "actor": self.actor,
            "payload": dict(self.payload),
        }


@dataclass(frozen=True, slots=True)
class ListedTx:
    """One transaction of a list: its attempt, how much it changes, and since when it blocks its document."""

    attempt: Attempt
    summary: Mapping[str, int] | None
    blocks_since: Instant | None = None

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {
            **self.attempt.to_json(),
            "summary": None if self.summary is None else dict(self.summary),
            "blocksSince": None if self.blocks_since is None else str(self.blocks_since),
        }


@dataclass(frozen=True, slots=True)
class TxView:
    """Everything about one attempt, as one role sees it."""

    listed: ListedTx
    attempts: int
    role: Role
    now: Instant
    request: ApprovalRequest | None
    preview: Mapping[str, Any] | None = field(repr=False)
    events: tuple[TxEvent, ...] = field(repr=False)
    events_before: int = 0

    @property
    def attempt(self) -> Attempt:
        """The attempt itself."""
        return self.listed.attempt

    @property
    def said(self) -> str:
        """What its state means."""
        return STATES[self.attempt.state][0]

    @property
    def helps(self) -> str:
        """What helps next."""
        return helps_next(
            self.attempt, self.now, is_latest=self.attempt.attempt_no == self.attempts
        )

    @property
    def diff(self) -> tuple[DiffEntity, ...]:
        """What it changes, as the role sees it."""
        return () if self.preview is None else diff_of(self.preview, self.role)

    def to_json(self) -> dict[str, Json]:
        """As it is told: the preview with what the role sees, and nothing else of it."""
        preview = self.preview
        shown: dict[str, Json] | None = None
        if preview is not None:
            entries: list[Json] = [*role_entries(preview, self.role)]
            shown = {**preview, "entries": entries}
        return {
            "transaction": self.listed.to_json(),
            "attempts": self.attempts,
            "said": self.said,
            "helps": self.helps,
            "role": self.role.value,
            "preview": shown,
            "request": None if self.request is None else self.request.to_json(),
            "events": [each.to_json() for each in self.events],
            "eventsBefore": self.events_before,
        }


def listed_tx(journal: Journal, attempt: Attempt) -> ListedTx:
    """An attempt with what a list tells of it."""
    blocks = StoredTransactions(journal).blocks(attempt.document_id)
    mine = (attempt.tx_id, attempt.attempt_no)
    since = [each.since for each in blocks if (each.tx_id, each.attempt_no) == mine]
    return ListedTx(attempt, summary_of(journal, attempt), since[0] if since else None)


def view_of(journal: Journal, attempt: Attempt, role: Role) -> TxView:
    """Everything about an attempt; raises `ledger-corrupt` where its preview cannot be believed."""
    stored = StoredTransactions(journal)
    requests = Desk(journal).requests
    request = None if attempt.request_id is None else requests.find(attempt.request_id)
    events = _events(journal, attempt.tx_id)
    return TxView(
        listed=listed_tx(journal, attempt),
        attempts=stored.required(attempt.tx_id).attempt_no,
        role=role,
        now=journal.clock.now(),
        request=request,
        preview=stored.drawn(attempt).preview,
        events=tuple(events[-MOST_EVENTS:]),
        events_before=max(0, len(events) - MOST_EVENTS),
    )


def helps_next(attempt: Attempt, now: Instant, *, is_latest: bool = True) -> str:
    """What helps with an attempt as it stands, with its id in the words that are to be typed."""
    if not is_latest:
        return "nothing: a later attempt came after it"
    is_host_only = attempt.keeper is DocumentKeeper.HOST and attempt.state in _AT_HOST
    if attempt.state is _S.APPROVED and attempt.lapsed(now) is not None:
        return _EXPIRED
    if is_host_only:
        return _HOST_ONLY
    return STATES[attempt.state][1].replace(" ID", f" {attempt.tx_id}")


def _events(journal: Journal, tx_id: str) -> list[TxEvent]:
    found = []
    for row in History(journal.database).events(EventFilter(subject=subject_of_tx(tx_id))):
        event = event_fields(row.body)
        payload = event.get("payload")
        said = said_of(event.get("type"), payload)
        if said is not None and isinstance(payload, Mapping):
            at = Instant.parse(str(event["timestampUtc"]))
            kind, actor = str(event["type"]), str(event["actor"])
            found.append(TxEvent(str(event["eventId"]), at, kind, actor, said, payload))
    return found
