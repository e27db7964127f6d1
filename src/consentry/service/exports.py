"""Writes what the ledger holds for other programs to read, one line for each event.

`jsonl` is each event as it was recorded, with its hash: the lines verify without the ledger. `ocsf` is
OCSF inside CloudEvents, for routers and data lakes. Both can be redacted; then nothing verifies.
Events are read, told and let go of one by one, so that memory does not grow with their number. One
that was damaged in the store is exported as such and stops nothing.
"""

import json
import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from consentry import __version__
from consentry.record.chain import ChainRow
from consentry.record.cloudevents import cloudevent
from consentry.record.eventline import document_of, line_of
from consentry.record.ocsf import ocsf_event
from consentry.record.redaction import KEY_BYTES, Redactor
from consentry.service.audit import LogRequest
from consentry.service.surroundings import Surroundings, own_home
from consentry.store.history import History


class ExportFormat(StrEnum):
    """How an event is told."""

    JSONL = "jsonl"
    OCSF = "ocsf"


class Export:
    """The lines of one export, and how many there were so far."""

    def __init__(
        self, history: History | None, request: LogRequest, told: ExportFormat, *, redact: bool
    ) -> None:
        self.events = 0
        self._history = history
        self._request = request
        self._format = told
        self._redact = redact

    def lines(self, around: Surroundings) -> Iterator[bytes]:
        """Every event that fits, oldest first, each with its line feed."""
        if self._history is None:
            return
        redactor = _redactor(around) if self._redact else None
        store_id = self._history.store_id()
        for row in self._history.events(self._request.wanted):
            yield self._line(row, store_id, redactor) + b"\n"
            self.events += 1

    def _line(self, row: ChainRow, store_id: str, redactor: Redactor | None) -> bytes:
        if self._format is ExportFormat.JSONL and redactor is None:
            return line_of(row)
        event: Mapping[str, Any] = document_of(row)
        if redactor is not None:
            event = redactor.redacted(event)
        if self._format is ExportFormat.OCSF:
            event = cloudevent(event, store_id, ocsf_event(event, __version__))
        return _encoded(event)


def _redactor(around: Surroundings) -> Redactor:
    homes = (own_home(around).path, around.account_home)
    return Redactor(os.urandom(KEY_BYTES), (str(home) for home in homes if home is not None))


def _encoded(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()
