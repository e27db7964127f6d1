"""Capability tokens in the store: minted against a consent that holds, used while all of it still does.

Minting is one transaction: the consent is held, and used up where it was for once; no limit of the
workflow is raised; `CapabilityMinted` is appended for the token and each of its parts. A use is one
transaction as well, which whoever starts something makes part of the permit's own: the token is the one
that was minted, its consent was not taken back and its session goes on, the budget has one left, and
`CapabilityUsed` is appended. The budget is counted up before the event is, in the same transaction, so
that neither two processes nor two threads that share a commit get the last one twice.

Not promised: that whoever may write the database has minted what it holds.
"""

import json
from collections.abc import Sequence
from typing import Final

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.base.values import dataclass
from consentry.decide.budgets import Budget, BudgetLine, UseKind, exhausted, raised
from consentry.decide.consent import Consent
from consentry.decide.tokenrecords import (
    FIELDS,
    PREFIX,
    MintedToken,
    TokenTold,
    TokenUse,
    refused,
    require_minted,
)
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.store.consents import SESSION_GOES_ON, ConsentUse, StoredConsents
from consentry.store.database import Database, Row, Transaction
from consentry.store.journal import About, Journal
from consentry.store.ledger import Change

_COLUMNS: Final = (
    "token_id, capability, workflow, workspace, tool, machine_id, consent_id, grant_id, part_of, "
    "digest, scope, minted_at, expires_at, uses, used_at"
)
_ALL: Final = f"SELECT {_COLUMNS} FROM capability_token"  # noqa: S608 - no value in it
_LIMIT: Final = "SELECT most FROM capability_budget WHERE workflow = ? AND kind = ?"
# Of two who take the last one, the second waits for the row and finds it taken.
_TAKE: Final = (
    "UPDATE capability_budget SET held = held + 1 "
    "WHERE workflow = ? AND kind = ? AND (most IS NULL OR held < most)"
)
# Changes nothing, and holds the row until the transaction ends.
_HOLD_CONSENT: Final = (
    "UPDATE consent SET revoked_at = revoked_at "  # noqa: S608 - no value in it
    f"WHERE consent_id = ? AND revoked_at IS NULL AND {SESSION_GOES_ON}"
)
_STANDING: Final = (
    "SELECT 1 FROM consent "  # noqa: S608 - no value in it
    f"WHERE consent_id = ? AND revoked_at IS NULL AND {SESSION_GOES_ON}"
)


@dataclass(frozen=True, slots=True)
class RecordedUse:
    """What a use adds to a transaction: its event, and what must hold there."""

    drafts: tuple[Draft, ...]
    change: Change


class StoredTokens:
    """The tokens of one store, as one machine mints and uses them."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._consents = StoredConsents(journal.ledger, journal.ids, journal.clock, journal.context)

    @property
    def machine_id(self) -> str:
        """The machine that this program runs on."""
        return self._journal.machine_id

    def now(self) -> Instant:
        """The present."""
        return self._journal.clock.now()

    def new_id(self) -> str:
        """The id of a token that is about to be minted."""
        return self._journal.ids.new(PREFIX)

    def consent(self, consent_id: str) -> Consent | None:
        """The consent with this id, as it stands."""
        return self._consents.find(consent_id)

    def record(self, minted: Sequence[MintedToken], budget: Budget) -> None:
        """Records the tokens of one call and the workflow's limits; durable when it returns."""
        journal, first = self._journal, minted[0]
        use = ConsentUse() if first.consent_id is None else self._consents.use_of(first.consent_id)

        def change(transaction: Transaction) -> None:
            if use.change is not None:
                use.change(transaction)
            _require_not_raised(transaction, first.workflow, budget)

        drafts = [
            journal.draft(
                EventType.CAPABILITY_MINTED,
                About(each.token_id),
                {**each.to_json(), "budget": budget.to_json() if each is first else None},
                each.minted_at,
            )
            for each in minted
        ]
        journal.record(*use.drafts, *drafts, change=change)

    def use_of(self, use: TokenUse) -> RecordedUse:
        """To be made part of what records the start of an operation."""
        journal, now = self._journal, self._journal.clock.now()

        def change(transaction: Transaction) -> None:
            minted = require_minted(use, _found(transaction, use.token_id), journal.machine_id, now)
            _require_ground(transaction, minted)
            _take_one(transaction, use)

        about = About(use.token_id)
        draft = journal.draft(EventType.CAPABILITY_USED, about, use.to_json(), now)
        return RecordedUse((draft,), change)

    def use(self, use: TokenUse) -> None:
        """Records a use by itself; the operation may begin when this returns, and not if it raises."""
        recorded = self.use_of(use)
        self._journal.record(*recorded.drafts, change=recorded.change)

    def find(self, token_id: str) -> TokenTold | None:
        """The token with this id."""
        return find_token(self._journal.database, token_id)


def find_token(database: Database, token_id: str) -> TokenTold | None:
    """The token with this id, and what became of it."""
    with database.reading() as view:
        rows = list(view.rows(f"{_ALL} WHERE token_id = ?", (token_id,)))
    return _told(rows[0]) if rows else None


def tokens_beginning(database: Database, prefix: str) -> list[TokenTold]:
    """Those whose id begins so, the oldest first."""
    where = "WHERE token_id >= ? AND token_id < ? ORDER BY token_id"
    with database.reading() as view:
        # "~" sorts behind every letter that an id is made of.
        return list(map(_told, view.rows(f"{_ALL} {where}", (prefix, f"{prefix}~"))))


def all_tokens(database: Database, workflow: str | None = None) -> list[TokenTold]:
    """Every token that was minted, of one workflow where it is named, the oldest first."""
    where, values = ("", ()) if workflow is None else ("WHERE workflow = ? ", (workflow,))
    with database.reading() as view:
        return list(map(_told, view.rows(f"{_ALL} {where}ORDER BY token_id", values)))


def budget_of(database: Database, workflow: str) -> list[BudgetLine]:
    """What the workflow may do and has done, kind by kind."""
    query = "SELECT kind, most, uses FROM capability_budget WHERE workflow = ? ORDER BY kind"
    with database.reading() as view:
        return [
            BudgetLine(
                workflow,
                UseKind(str(kind)),
                None if most is None else int(most),
                int(uses or 0),
            )
            for kind, most, uses in view.rows(query, (workflow,))
        ]


def is_ground_standing(database: Database, token: MintedToken) -> bool:
    """Whether the consent it was minted against was not taken back, and its session goes on."""
    with database.reading() as view:
        return any(True for _ in view.rows(_STANDING, (token.consent_id,)))


def _found(transaction: Transaction, token_id: str) -> MintedToken | None:
    rows = list(transaction.rows(f"{_ALL} WHERE token_id = ?", (token_id,)))
    return _told(rows[0]).token if rows else None


def _require_ground(transaction: Transaction, minted: MintedToken) -> None:
    """Raises unless what the token was minted against still stands; a consent's row is held."""
    if minted.consent_id is None:
        raise refused(minted.token_id, "was minted against a grant, and no module is here")
    if transaction.run(_HOLD_CONSENT, (minted.consent_id,)) != 1:
        why = f"rests on `{minted.consent_id}`, which was revoked, or whose session is over"
        raise refused(minted.token_id, why)


def _take_one(transaction: Transaction, use: TokenUse) -> None:
    """Counts the use; raises where the workflow has none left."""
    values = (use.workflow, use.kind.value)
    if transaction.run(_TAKE, values) == 1:
        return
    for (most,) in transaction.rows(_LIMIT, values):
        raise exhausted(use.workflow, use.kind, int(most or 0))


def _require_not_raised(transaction: Transaction, workflow: str, budget: Budget) -> None:
    for kind, wanted in budget:
        for (most,) in transaction.rows(_LIMIT, (workflow, kind.value)):
            if most is not None and wanted > int(most):
                raise raised(workflow, kind, int(most), wanted)


def _told(row: Row) -> TokenTold:
    try:
        *plain, uses, used_at = row
        document: dict[str, object] = dict(zip(FIELDS, plain, strict=True))
        document["scope"] = json.loads(str(document["scope"]))
        last = None if used_at is None else Instant.parse(str(used_at))
        return TokenTold(MintedToken.from_json(document), int(uses or 0), last)
    except (BadInput, ValueError, RecursionError) as problem:
        raise LedgerProblem(
            Code.LEDGER_CORRUPT,
            f"the row `{row[0]!s}` of `capability_token` cannot be believed: {problem}",
        ) from problem
