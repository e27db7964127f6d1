"""Exports of a real ledger: every event, in every form, without holding them all."""

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from consentry.record.chain import follow
from consentry.record.eventline import row_of
from consentry.record.events import EventType
from consentry.service.audit import LogRequest
from consentry.service.exports import Export, ExportFormat
from consentry.store.history import EventFilter, History
from consentry.store.ledger import Ledger
from tests.record.payloads import sample_draft
from tests.record.samples import CONTEXT, WRITER, Drafts
from tests.service.conftest import MakeAround
from tests.store.ledgers import open_ledger

EVERYTHING = LogRequest(EventFilter())


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger with one event of every type."""
    ledger, drafts = open_ledger(tmp_path / "ledger.db"), Drafts()
    for each in EventType:
        ledger.append(sample_draft(each, drafts.ids, drafts.clock, CONTEXT))
    yield ledger
    ledger.close()


def exported(
    history: History | None,
    around: MakeAround,
    told: ExportFormat = ExportFormat.JSONL,
    *,
    redact: bool = False,
    request: LogRequest = EVERYTHING,
) -> list[bytes]:
    """The lines, and that each was counted."""
    export = Export(history, request, told, redact=redact)
    lines = list(export.lines(around()))
    assert export.events == len(lines)
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    return lines


def test_the_lines_verify_without_the_ledger(ledger: Ledger, around: MakeAround) -> None:
    """They are the rows of the store, and follow each other by their hashes."""
    lines = exported(ledger.history, around)
    rows = [row_of(line[:-1], number) for number, line in enumerate(lines, 1)]
    assert rows == list(ledger.history.events())
    assert isinstance(follow(sorted(rows)), dict)


def test_ocsf_comes_inside_cloudevents(ledger: Ledger, around: MakeAround) -> None:
    """Both tell the same event, and the whole of it is inside."""
    store_id = ledger.history.store_id()
    rows = list(ledger.history.events())
    for line, row in zip(exported(ledger.history, around, ExportFormat.OCSF), rows, strict=True):
        event = json.loads(line)
        assert event["specversion"] == "1.0"
        assert event["source"] == f"urn:consentry:{store_id}:{WRITER}"
        assert event["data"]["metadata"]["uid"] == event["id"]
        assert event["data"]["unmapped"]["hash"] == row.hash


@pytest.mark.parametrize("told", ExportFormat)
def test_a_redacted_export_names_nobody_and_says_so(
    ledger: Ledger, around: MakeAround, told: ExportFormat
) -> None:
    """In each line; each export has a key of its own."""
    lines = exported(ledger.history, around, told, redact=True)
    assert len(lines) == len(EventType)
    for line in lines:
        assert b"user@host" not in line
        event: dict[str, Any] = json.loads(line)
        assert event["redacted"] is True
    assert lines != exported(ledger.history, around, told, redact=True)


def test_homes_of_this_machine_are_known(tmp_path: Path, around: MakeAround, home: Path) -> None:
    """Also where home folders lie in an unusual place."""
    ledger, drafts = open_ledger(tmp_path / "ledger.db"), Drafts()
    ledger.append(drafts.make(jail=f"{home}/thesis"))
    try:
        [line] = exported(ledger.history, around, redact=True)
    finally:
        ledger.close()
    jail = json.loads(line)["payload"]["jail"]
    assert jail.startswith(f"{home.parent}/redacted:")
    assert jail.endswith("/thesis")


def test_only_what_fits_is_exported(ledger: Ledger, around: MakeAround) -> None:
    """By the same filters as the log."""
    request = LogRequest(EventFilter(type=EventType.TOOL_AUDIT))
    [line] = exported(ledger.history, around, request=request)
    assert json.loads(line)["type"] == "tool.audit"
    assert exported(None, around) == []


def test_a_damaged_event_stops_nothing_and_is_not_lost(
    ledger: Ledger, around: MakeAround, tmp_path: Path
) -> None:
    """One byte of the file itself is changed; in every form the others are as they were."""
    before = exported(ledger.history, around)
    ledger.close()
    path = tmp_path / "ledger.db"
    content = path.read_bytes()
    assert content.count(b'"seq":4,') == 1
    start = content.rindex(b'{"actor"', 0, content.index(b'"seq":4,'))
    path.write_bytes(content[:start] + b"\xff" + content[start + 1 :])
    again = open_ledger(path)
    try:
        after = exported(again.history, around)
        damaged = row_of(after[3][:-1], 4)
        assert (damaged.seq, damaged.body[:9]) == (4, b'\xff"actor":')
        assert [*after[:3], *after[4:]] == [*before[:3], *before[4:]]
        for told in ExportFormat:
            for redact in (False, True):
                lines = exported(again.history, around, told, redact=redact)
                assert len(lines) == len(before)
                assert b"damaged" in lines[3]
    finally:
        again.close()


def peak_of(path: Path, events: int, around: MakeAround, told: ExportFormat) -> int:
    """The most memory that exporting so many events takes."""
    ledger, drafts = open_ledger(path), Drafts()
    ledger.append(*(drafts.make(text="x" * 200) for _ in range(events)))
    export = Export(ledger.history, EVERYTHING, told, redact=True)
    tracemalloc.start()
    try:
        for _line in export.lines(around()):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        ledger.close()
        assert export.events == events


@pytest.mark.parametrize("told", ExportFormat)
def test_memory_does_not_grow_with_the_number_of_events(
    tmp_path: Path, around: MakeAround, told: ExportFormat
) -> None:
    """Ten times the events, and nearly the same memory."""
    peak_of(tmp_path / "warm.db", 10, around, told)  # tables and caches are made once
    few = peak_of(tmp_path / "few.db", 100, around, told)
    many = peak_of(tmp_path / "many.db", 1000, around, told)
    assert many < few + 200_000
