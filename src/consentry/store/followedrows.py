"""All rows of a ledger in the order of time, each followed in its chain while it is read.

One consistent view, one pass, rows one by one: whoever reads them gets the verdict on the chains at the
end, and needs no second reading for it. What archives hold is not read; that their list agrees with their
records is looked at besides.
"""

from collections.abc import Iterable, Iterator
from typing import Final, cast

from consentry.record.chain import ChainFault, ChainRow
from consentry.record.chainwatch import ChainWatch
from consentry.record.signoffstates import States
from consentry.store.archivecheck import archive_fault
from consentry.store.database import Database, Transaction
from consentry.store.eventrows import chain_rows
from consentry.store.history import as_head

_BY_TIME: Final = " ORDER BY at, writer, seq"
_HEADS: Final = "SELECT writer, seq, hash FROM ledger_head ORDER BY writer || ''"
_ARCHIVED: Final = (
    "SELECT seq, hash FROM archived_event WHERE writer = ? AND seq > ? AND seq <= ? "
    "ORDER BY seq LIMIT ?"
)
_PAGE: Final = 1000


class FollowedRows:
    """The rows; `faults` is complete after the last of them."""

    def __init__(self, database: Database, waiting: States) -> None:
        self._database = database
        self._waiting = waiting
        self.faults: list[ChainFault] = []

    def __iter__(self) -> Iterator[ChainRow]:
        with self._database.reading() as view:
            watch = ChainWatch(self._waiting, _Archived(view))
            for row in chain_rows(view, _BY_TIME, ()):
                watch.add(row)
                yield row
            heads = [as_head(row) for row in view.rows(_HEADS)]
            self.faults = list(watch.faults(heads))
            fault = archive_fault(view)
            if fault is not None:
                self.faults.append(fault)


class _Archived:
    """Places and hashes of archived events, page by page."""

    def __init__(self, view: Transaction) -> None:
        self._view = view
        self._is_any = any(True for _ in view.rows("SELECT 1 FROM archived_event LIMIT 1"))

    def __call__(self, writer: str, after: int, upto: int) -> Iterable[tuple[int, str]]:
        if not self._is_any or after >= upto:
            return
        while True:
            rows = self._view.rows(_ARCHIVED, (writer, after, upto, _PAGE))
            page = cast("list[tuple[int, str]]", list(rows))
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1][0]
