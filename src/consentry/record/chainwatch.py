"""Follows all chains at once while their events are read in another order: that of time.

Within one chain the order of time is nearly always the order of the chain, and then an event costs one
hash and one comparison, as in `chain.follow`. Where a clock was set back, an event comes before the one it
names; it waits until that one came. Archived events have no row any more, so their hashes are asked for
where there is a gap. After the last row `faults` says, for every chain, the first event that is not what
the chain says.

What it cannot see is what `chain.follow` cannot see: a tail that was cut off together with the head, or a
chain written anew from its first event.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import TypeAlias

from consentry.record.chain import ChainFault, ChainHead, ChainRow, event_fields, start_of
from consentry.record.envelope import SCHEMA_VERSION
from consentry.record.signoffstates import States

Archived: TypeAlias = Callable[[str, int, int], Iterable[tuple[int, str]]]
"""The places and hashes of a writer's archived events behind one place and up to another, in order."""


def nothing_archived(_writer: str, _after: int, _upto: int) -> Iterable[tuple[int, str]]:
    """For a ledger without archives."""
    return ()


class _Chain:
    """How far one chain was followed."""

    __slots__ = ("fault", "hash", "newest", "seq", "tail", "waiting")

    def __init__(self, writer: str) -> None:
        start = start_of(writer)
        self.seq, self.hash = start.seq, str(start.hash)
        self.tail = f'"writer":{json.dumps(writer)}}}'.encode()
        self.fault: ChainFault | None = None
        self.waiting = self.newest = 0


class ChainWatch:
    """The chains of a ledger, as far as their rows have come."""

    def __init__(self, waiting: States, archived: Archived = nothing_archived) -> None:
        self._waiting = waiting
        self._archived = archived
        self._chains: dict[str, _Chain] = {}

    def add(self, row: ChainRow) -> None:
        """The next row, whatever its place in its chain."""
        writer, seq, found, body = row
        chain = self._chains.get(writer)
        if chain is None:
            chain = self._chains[writer] = _Chain(writer)
        if chain.fault is not None:
            return
        if "sha256:" + sha256(body).hexdigest() != found:
            self._blame(chain, row, "was changed: its bytes do not have its hash")
        elif seq == chain.seq + 1:
            self._follow(chain, row)
        elif seq <= chain.seq:
            self._blame(chain, row, f"stands behind event {chain.seq}: repeated or moved")
        else:
            self._pass_archived(chain, writer, seq - 1)
            if seq == chain.seq + 1:
                self._follow(chain, row)
            else:
                self._let_wait(chain, row)

    def faults(self, heads: Iterable[ChainHead]) -> Iterator[ChainFault]:
        """What is wrong with each chain, when `heads` are where they end as stored."""
        stored = {head.writer: head for head in heads}
        for writer in sorted(self._chains.keys() | stored.keys()):
            chain = self._chains.get(writer) or _Chain(writer)
            head = stored.get(writer)
            fault = chain.fault
            if fault is None:
                self._pass_archived(chain, writer, chain.newest if head is None else head.seq)
                self._catch_up(chain, writer)
                fault = chain.fault or _end_fault(chain, writer, head)
            if fault is not None:
                yield fault

    def _follow(self, chain: _Chain, row: ChainRow) -> None:
        link = f',"prev":"{chain.hash}","schemaVersion":{SCHEMA_VERSION},"seq":{row.seq},'.encode()
        body = row.body
        # As in `chain.follow`: behind the link stand only strings, whose quotes are escaped.
        quick = body.startswith(link, body.rfind(b',"prev":')) and body.endswith(chain.tail)
        if not quick and _said(row) != (chain.hash, row.seq, row.writer):
            why = "does not continue the chain: it names another event before it"
            self._blame(chain, row, why)
            return
        chain.seq, chain.hash = row.seq, row.hash
        if chain.waiting:
            self._catch_up(chain, row.writer)

    def _let_wait(self, chain: _Chain, row: ChainRow) -> None:
        prev, seq, writer = _said(row)
        key = _key(row.writer, row.seq)
        if (seq, writer) != (row.seq, row.writer) or self._waiting.get(key) is not None:
            self._blame(chain, row, "is not at the place that it names, or is there twice")
            return
        event_id = event_fields(row.body).get("eventId")
        state = {"prev": str(prev), "hash": row.hash, "id": event_id}
        self._waiting.put(key, state)
        chain.waiting += 1
        chain.newest = max(chain.newest, row.seq)

    def _catch_up(self, chain: _Chain, writer: str) -> None:
        """Goes on with what has waited for this event."""
        while chain.waiting and chain.fault is None:
            if chain.seq < chain.newest:
                self._pass_archived(chain, writer, chain.newest)
            waited = self._waiting.get(_key(writer, chain.seq + 1))
            if waited is None:
                return
            if waited["prev"] != chain.hash:
                why = "does not continue the chain: it names another event before it"
                chain.fault = ChainFault(writer, chain.seq + 1, waited["id"], why)
                return
            chain.seq, chain.hash = chain.seq + 1, str(waited["hash"])
            chain.waiting -= 1

    def _pass_archived(self, chain: _Chain, writer: str, upto: int) -> None:
        for seq, found in self._archived(writer, chain.seq, upto):
            if seq != chain.seq + 1:
                return
            chain.seq, chain.hash = seq, found

    def _blame(self, chain: _Chain, row: ChainRow, why: str) -> None:
        event_id = event_fields(row.body).get("eventId")
        named = event_id if isinstance(event_id, str) else None
        chain.fault = ChainFault(row.writer, row.seq, named, why)


def _said(row: ChainRow) -> tuple[object, object, object]:
    fields = event_fields(row.body)
    return fields.get("prev"), fields.get("seq"), fields.get("writer")


def _key(writer: str, seq: int) -> str:
    return f"{seq}:{writer}"


def _end_fault(chain: _Chain, writer: str, head: ChainHead | None) -> ChainFault | None:
    if head is None:
        return ChainFault(writer, 1, None, "belongs to a writer without a head")
    if chain.waiting or chain.seq < head.seq:
        return ChainFault(writer, chain.seq + 1, None, "is missing")
    if (chain.seq, chain.hash) != (head.seq, head.hash):
        return ChainFault(writer, chain.seq, None, "is not what the head of the chain names")
    return None
