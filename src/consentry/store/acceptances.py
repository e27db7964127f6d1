"""Acceptances in the store: one stands for a workspace on a machine, until it is withdrawn or replaced.

Accepting other documents replaces what stood, in one transaction: there is no moment in which both
count. Of processes that accept at once one is first, and the others replace what it accepted or find
that it is the same.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.base.ids import IdSource
from consentry.decide.acceptance import FIELDS, PREFIX, Acceptance, digest_of_files
from consentry.decide.identity import Identity
from consentry.record.envelope import Context, Draft
from consentry.record.events import EventType
from consentry.store.database import Database, Transaction
from consentry.store.journal import About, Journal, picked
from consentry.store.ledger import Ledger
from consentry.store.rows import Overtaken, Table, exists

_TABLE = Table("acceptance", FIELDS, frozenset({"files"}), Acceptance.from_json)
_STANDS = "machine_id = ? AND workspace = ? AND withdrawn_at IS NULL"
_WITHDRAWN = ("withdrawnBy", "withdrawnAt")
_TELLS_OF_BEGINNING = tuple(name for name in FIELDS if name not in _WITHDRAWN)
_MOST_TRIES: Final = 8


class KnownAcceptances:
    """The acceptances of one store, as one machine sees them; only to be asked."""

    def __init__(self, database: Database, machine_id: str) -> None:
        self._database = database
        self._machine_id = machine_id

    def has_any(self, workspace: str) -> bool:
        """Whether anything is accepted in this workspace at all, whatever its files are now."""
        return self.standing(workspace) is not None

    def is_accepted(self, workspace: str, digest: Digest) -> bool:
        """Whether these very documents were accepted in this workspace, and not withdrawn."""
        if not _is_text(workspace):
            return False
        query = f"SELECT 1 FROM acceptance WHERE {_STANDS} AND digest = ?"  # noqa: S608 - ours
        with self._database.reading() as view:
            return exists(view, query, (self._machine_id, workspace, digest))

    def covers(self, workspace: str, file: str, digest: Digest) -> bool:
        """Whether what was accepted last has this file with this digest, whatever the others are."""
        standing = self.standing(workspace)
        return standing is not None and standing.files.get(file) == digest

    def standing(self, workspace: str) -> Acceptance | None:
        """The one that was accepted last and not withdrawn, whatever the documents are now."""
        if not _is_text(workspace):
            return None
        found = _TABLE.select(self._database, _STANDS, (self._machine_id, workspace))
        return found[0] if found else None


class StoredAcceptances(KnownAcceptances):
    """The same, for whoever may accept and withdraw."""

    def __init__(self, ledger: Ledger, ids: IdSource, clock: Clock, context: Context) -> None:
        super().__init__(ledger.database, context.machine_id)
        self._journal = Journal(ledger, ids, clock, context)

    def accept(self, workspace: str, files: Mapping[str, Digest], by: Identity) -> Acceptance:
        """Records the word; what was accepted before in the same workspace is withdrawn with it."""
        for _ in range(_MOST_TRIES):
            standing = self.standing(workspace)
            if standing is not None and standing.files == files:
                return standing
            try:
                return self._replace(standing, workspace, files, by)
            except Overtaken:
                continue
        raise LedgerProblem(Code.LEDGER_BUSY, f"others keep accepting `{workspace}` at once")

    def withdraw(self, workspace: str, by: Identity) -> Sequence[Acceptance]:
        """Takes back whatever stands for the workspace, and returns it."""
        standing = self.standing(workspace)
        if standing is None:
            return ()
        withdrawn = standing.withdrawn(by, self._journal.clock.now())
        try:
            self._journal.record(
                self._told(withdrawn, by, withdrawn.withdrawn_at or standing.accepted_at),
                change=lambda transaction: _close(transaction, withdrawn),
            )
        except Overtaken:
            return self.withdraw(workspace, by)
        return (withdrawn,)

    def _replace(
        self,
        standing: Acceptance | None,
        workspace: str,
        files: Mapping[str, Digest],
        by: Identity,
    ) -> Acceptance:
        journal, now = self._journal, self._journal.clock.now()
        fresh = Acceptance(
            journal.ids.new(PREFIX),
            journal.machine_id,
            workspace,
            digest_of_files(files),
            dict(files),
            by,
            now,
        )
        payload = picked(fresh.to_json(), *_TELLS_OF_BEGINNING)
        about = About(f"workspace:{workspace}", actor=by)
        drafts = [journal.draft(EventType.WORKSPACE_ACCEPTED, about, payload, now)]
        replaced = None if standing is None else standing.withdrawn(by, now)
        if replaced is not None:
            drafts.insert(0, self._told(replaced, by, now))

        def change(transaction: Transaction) -> None:
            if replaced is not None:
                _close(transaction, replaced)
            _TABLE.insert(transaction, fresh)

        journal.record(*drafts, change=change)
        return fresh

    def _told(self, withdrawn: Acceptance, by: Identity, at: Instant) -> Draft:
        payload = picked(withdrawn.to_json(), "acceptanceId", *_WITHDRAWN)
        about = About(f"workspace:{withdrawn.workspace}", actor=by)
        return self._journal.draft(EventType.WORKSPACE_WITHDRAWN, about, payload, at)


def _close(transaction: Transaction, withdrawn: Acceptance) -> None:
    _TABLE.update(transaction, withdrawn, _WITHDRAWN, "withdrawn_at IS NULL")


def _is_text(workspace: str) -> bool:
    """Whether the path can be stored; of one that cannot, nothing was ever accepted."""
    try:
        workspace.encode()
    except UnicodeEncodeError:
        return False
    return True
