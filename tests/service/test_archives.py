"""An archive is the one the ledger recorded, or it is said what is wrong, and whose fault it is."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.canonical import canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, LedgerProblem, UsageProblem
from consentry.record.envelope import hash_of
from consentry.service.archives import read_sealed, require_recorded, require_sound_with
from consentry.service.audit import event_named
from consentry.service.retention import retain
from consentry.store.history import History
from tests.service.retaining import Keeping
from tests.store.conftest import Store


@pytest.fixture
def out(tmp_path: Path) -> str:
    """Where the archive is."""
    return str(tmp_path / "old.jsonl")


@pytest.fixture
def history(store: Store, out: str) -> History:
    """Of ten events the first nine were archived."""
    keeping = Keeping(store.open())
    keeping.happens(10)
    retain(keeping.journal, keeping.age("0s"), out)
    return keeping.journal.ledger.history


def refused(act: Callable[[], object]) -> ConsentryError:
    """What it is refused with."""
    with pytest.raises(ConsentryError) as caught:
        act()
    return caught.value


def test_the_archive_of_this_ledger_is_accepted(history: History, out: str) -> None:
    """With as many events as it took, and the chains beside it."""
    heads, [archive] = require_sound_with(history, [out])
    assert [head.seq for head in heads] == [11]
    assert (archive.name, archive.footer.events) == (out, 9)
    assert archive == read_sealed(out)


def test_a_flipped_byte_is_found_with_its_file_and_line(history: History, out: str) -> None:
    """Before the ledger is asked at all."""
    content = Path(out).read_bytes()
    lines = content.splitlines(keepends=True)
    place = len(b"".join(lines[:4])) + 30
    Path(out).write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    problem = refused(lambda: require_recorded(history, out))
    assert (problem.code, type(problem)) == (Code.ARCHIVE, BadInput)
    assert problem.where is not None
    assert (problem.where.file, problem.where.line) == (out, 5)


def sealed_anew(out: str, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Changes the lines and writes a last line that fits them, as somebody who deceives would."""
    lines = change(Path(out).read_bytes().splitlines(keepends=True))
    body = b"".join(lines[:-1])
    footer = {**json.loads(lines[-1]), "sha256": f"sha256:{hashlib.sha256(body).hexdigest()}"}
    Path(out).write_bytes(body + canonical_json(footer) + b"\n")


def test_an_archive_that_was_sealed_anew_is_not_the_one(history: History, out: str) -> None:
    """Whole by itself, with another time or another event in it: the ledger has another digest."""
    original = Path(out).read_bytes()

    def at_another_time(lines: list[bytes]) -> list[bytes]:
        header = {**json.loads(lines[0]), "made_at": "2020-01-01T00:00:00.000Z"}
        return [canonical_json(header) + b"\n", *lines[1:]]

    def with_another_end(lines: list[bytes]) -> list[bytes]:
        event = json.loads(lines[-2])
        del event["hash"]
        event["subject"] = "tool:other"
        found = hash_of(canonical_json(event))
        footer = json.loads(lines[-1])
        footer["writers"][0]["last_hash"] = found
        last = [canonical_json({**event, "hash": found}), canonical_json(footer)]
        return [*lines[:-2], *(line + b"\n" for line in last)]

    for change in (at_another_time, with_another_end):
        Path(out).write_bytes(original)
        sealed_anew(out, change)
        read_sealed(out)
        problem = refused(lambda: require_recorded(history, out))
        assert (problem.code, "not the file that was sealed" in problem.message) == (
            Code.ARCHIVE,
            True,
        )


def test_what_the_ledger_does_not_know_is_said_to_be_needless(
    history: History, out: str, tmp_path: Path
) -> None:
    """Another archive id, another ledger, and no ledger at all."""
    unknown = refused(lambda: require_recorded(None, out))
    sealed_anew(out, lambda lines: [lines[0].replace(b"archive-0", b"archive-1"), *lines[1:]])
    other_id = refused(lambda: require_recorded(history, out))
    sealed_anew(out, lambda lines: [lines[0].replace(b"store-", b"store-x"), *lines[1:]])
    other = refused(lambda: require_recorded(history, out))
    for problem in (unknown, other_id, other):
        assert (problem.code, type(problem)) == (Code.ARCHIVE_UNKNOWN, UsageProblem)
    assert "of another ledger" in other.message
    missing = refused(lambda: require_recorded(history, str(tmp_path / "nowhere")))
    assert missing.code is Code.FILE_UNUSABLE


@pytest.mark.parametrize(
    ("statement", "seq", "why"),
    [
        ("UPDATE archived_event SET hash = 'sha256:0' WHERE seq = 4", 4, "is not the one"),
        ("UPDATE archived_event SET event_id = 'event-x' WHERE seq = 4", 4, "is not the one"),
        ("DELETE FROM archived_event WHERE seq = 9", 9, "is not in the list"),
        ("UPDATE archived_event SET seq = 0 WHERE seq = 4", 0, "without a record"),
        ("UPDATE archived_event SET archive_id = 'a' WHERE seq = 4", 4, "is not in the list"),
    ],
)
def test_with_its_archive_a_changed_list_is_named_exactly(
    history: History, out: str, statement: str, seq: int, why: str
) -> None:
    """Where the root alone could only say which part it is in; also a changed id."""
    with history.database.writing() as transaction:
        transaction.run(statement)
    problem = refused(lambda: require_sound_with(history, [out]))
    assert (problem.code, type(problem)) == (Code.CHAIN_BROKEN, LedgerProblem)
    assert f"event {seq} " in problem.message
    assert why in problem.message


def test_a_broken_chain_stays_the_first_thing_that_is_said(history: History, out: str) -> None:
    """An archive that is in order does not hide it."""
    with history.database.writing() as transaction:
        transaction.run("DELETE FROM ledger_event WHERE seq = 10")
    problem = refused(lambda: require_sound_with(history, [out]))
    assert "event 10 of" in problem.message


def test_an_archived_event_is_said_to_be_in_its_archive(history: History, out: str) -> None:
    """Whoever looks for it learns where it is."""
    archive = read_sealed(out)
    event_id = json.loads(Path(out).read_text().splitlines()[1])["eventId"]
    problem = refused(lambda: event_named(history, event_id))
    assert problem.code is Code.EVENT_UNKNOWN
    assert archive.header.archive_id in problem.message
