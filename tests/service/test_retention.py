"""Old events are sealed in a file and leave the ledger, all or none, and nothing is lost on the way."""

import json
import resource
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Barrier, Thread

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, LedgerProblem, UsageProblem
from consentry.record.archivefile import ArchiveReader
from consentry.record.chain import ChainRow
from consentry.record.checkpoint import make_checkpoint, make_head
from consentry.record.events import EventType
from consentry.service.archives import read_sealed, require_recorded
from consentry.service.checkpoints import require_continues
from consentry.service.retention import find_old, retain
from consentry.store.archivecheck import recorded_archive
from consentry.store.keyfile import open_key
from consentry.store.steps import Step
from tests.record.payloads import kept_for
from tests.service.retaining import Keeping
from tests.store.conftest import Store

PROGRAM = [sys.executable, "-m", "tests.service.retaining"]


@pytest.fixture
def keeping(store: Store) -> Keeping:
    """Ten days with an event each, in a database of each kind."""
    made = Keeping(store.open())
    made.happens(10)
    return made


@pytest.fixture
def out(tmp_path: Path) -> str:
    """Where the archive goes."""
    return str(tmp_path / "old.jsonl")


def held(name: str) -> list[ChainRow]:
    """The events of an archive."""
    with Path(name).open("rb") as file:
        return list(ArchiveReader(file))


def test_old_events_move_into_the_file_and_the_chain_stays_whole(
    keeping: Keeping, out: str
) -> None:
    """Letter for letter as they were; the ledger records which file, and no one else may read it."""
    history = keeping.journal.ledger.history
    before = [row for row in history.events() if row.seq <= 6]
    old, record = retain(keeping.journal, keeping.age("3d"), out)
    assert record is not None
    assert held(out) == before
    assert keeping.days() == [7, 8, 9, 10, 11]
    assert (old.events, old.has_more) == (6, False)
    assert stat.S_IMODE(Path(out).stat().st_mode) == 0o600
    [event] = [json.loads(row.body) for row in history.events() if row.seq == 11]
    assert event["type"] == "ledger.archived"
    assert event["subject"] == record.archive_id
    assert event["payload"]["digest"] == read_sealed(out).digest
    assert event["payload"]["olderThan"] == "3d"
    assert require_recorded(history, out).parts == record.parts


def test_checkpoints_from_before_still_hold(keeping: Keeping, out: str, tmp_path: Path) -> None:
    """The archived events are still counted and named by their hashes."""
    history = keeping.journal.ledger.history
    [head] = history.heads()
    heads = [make_head(head.writer, history.hashes(head.writer, head.seq))]
    folder = tmp_path / "key"
    folder.mkdir(mode=0o700)
    kept = make_checkpoint(
        heads,
        clock=keeping.clock,
        ids=keeping.journal.ids,
        store_id=history.store_id(),
        signer=open_key(folder / "key"),
    )
    retain(keeping.journal, keeping.age("0s"), out)
    require_continues(history, kept)
    with keeping.journal.database.writing() as transaction:
        transaction.run("DELETE FROM archived_event WHERE seq = 9")
        transaction.run("DELETE FROM ledger_event WHERE seq = 11")
    with pytest.raises(LedgerProblem) as caught:
        require_continues(history, kept)
    assert caught.value.code is Code.CHAIN_BROKEN


def test_a_moment_may_be_named_but_not_a_future_one(keeping: Keeping, out: str) -> None:
    """The event of that moment stays."""
    retain(keeping.journal, keeping.age(before="2026-01-05T00:00:00Z"), out)
    assert keeping.days() == [4, 5, 6, 7, 8, 9, 10, 11]
    with pytest.raises(UsageProblem):
        keeping.age(before="2026-02-01T00:00:00Z")
    with pytest.raises(UsageProblem):
        keeping.age("3d", "2026-01-05T00:00:00Z")
    with pytest.raises(BadInput):
        keeping.age("three days")


def test_an_event_stays_as_long_as_it_says_itself(store: Store, tmp_path: Path) -> None:
    """Longer than was asked for, or alone when nothing was; nonsense counts as nothing."""
    keeping = Keeping(store.open())
    for span in ("2d", "30d", "soon"):
        keeping.happens(**kept_for(span))
    keeping.happens(kind=EventType.PLUGIN_REJECTED, **kept_for("1d"))
    keeping.happens(6)
    retain(keeping.journal, keeping.age(), str(tmp_path / "own.jsonl"))
    assert keeping.days() == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    retain(keeping.journal, keeping.age("2d"), str(tmp_path / "all.jsonl"))
    assert keeping.days() == [2, 8, 9, 10, 11, 12]
    records = [row for row in keeping.journal.ledger.history.events() if row.seq in (11, 12)]
    spans = [json.loads(row.body)["payload"]["olderThan"] for row in records]
    assert spans == ["retainLogs", "2d"]


def test_events_that_fill_tables_stay(store: Store, out: str) -> None:
    """Rebuilding needs them, and reads the ledger alone."""
    keeping = Keeping(store.open())
    keeping.happens(2)
    keeping.happens(kind=EventType.PERMISSION_ESCALATION_DECIDED)
    keeping.happens(kind=EventType.WORKFLOW_PATTERN_SAVED)
    keeping.happens(2)
    retain(keeping.journal, keeping.age("0s"), out)
    assert keeping.days() == [3, 4, 6, 7]


def test_nothing_old_makes_nothing(keeping: Keeping, out: str) -> None:
    """No file, and no event."""
    old, record = retain(keeping.journal, keeping.age("90d"), out)
    assert (old.events, record) == (0, None)
    assert not Path(out).exists()
    assert keeping.days() == list(range(1, 11))


def test_looking_changes_nothing(keeping: Keeping) -> None:
    """What would be archived is counted, writer by writer."""
    old = find_old(keeping.journal.database, keeping.age("5d"))
    [only] = old.writers
    assert (only.events, only.first_seq, only.last_seq) == (4, 1, 4)
    assert keeping.days() == list(range(1, 11))


def test_too_many_for_one_archive_go_in_several(keeping: Keeping, tmp_path: Path) -> None:
    """The oldest first, and it is said that there are more."""
    told = []
    for number in range(4):
        file = str(tmp_path / f"{number}.jsonl")
        old, _ = retain(keeping.journal, keeping.age("1d"), file, most=4)
        told.append((old.events, old.has_more))
    assert told == [(4, True), (4, False), (0, False), (0, False)]
    assert keeping.days() == [9, 10, 11, 12]
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_an_existing_file_is_never_overwritten(keeping: Keeping, out: str) -> None:
    """And nothing leaves the ledger."""
    Path(out).write_text("mine")
    with pytest.raises(UsageProblem) as caught:
        retain(keeping.journal, keeping.age("0s"), out)
    assert caught.value.code is Code.FILE_UNUSABLE
    assert Path(out).read_text() == "mine"
    assert keeping.days() == list(range(1, 11))


def test_a_broken_chain_is_not_archived(keeping: Keeping, out: str) -> None:
    """An archive would make it look kept."""
    with keeping.journal.database.writing() as transaction:
        transaction.run("DELETE FROM ledger_event WHERE seq = 9")
    with pytest.raises(LedgerProblem) as caught:
        retain(keeping.journal, keeping.age("5d"), out)
    assert caught.value.code is Code.CHAIN_BROKEN
    assert not Path(out).exists()


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file may grow beyond this, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_no_file_and_changes_nothing(keeping: Keeping, out: str) -> None:
    """While the archive is written; with room again, the same command works."""
    with small_files(2000), pytest.raises(UsageProblem) as caught:
        retain(keeping.journal, keeping.age("0s"), out)
    assert caught.value.code is Code.FILE_UNUSABLE
    assert not Path(out).exists()
    assert keeping.days() == list(range(1, 11))
    retain(keeping.journal, keeping.age("0s"), out)
    assert keeping.days() == [10, 11]


def killed(store: Store, out: str, when: str) -> None:
    """Archives in another process, which is killed at that moment."""
    place = str(store.url_or_path)
    ended = subprocess.run([*PROGRAM, place, "10", out, when], check=False)
    assert ended.returncode < 0


def test_a_process_killed_while_it_writes_the_file_changed_nothing(
    store: Store, keeping: Keeping, out: str
) -> None:
    """What is left of the file is no archive; under another name the command works."""
    killed(store, out, "3000")
    assert Path(out).stat().st_size > 0
    with pytest.raises(BadInput) as caught:
        require_recorded(keeping.journal.ledger.history, out)
    assert caught.value.code is Code.ARCHIVE
    assert keeping.days() == list(range(1, 11))
    retain(keeping.journal, keeping.age("0s"), out + ".2")
    assert keeping.days() == [10, 11]


@pytest.mark.parametrize("step", [Step.QUEUED, Step.HEAD_MOVED, Step.SYNCED], ids=str)
def test_a_process_killed_behind_the_file_has_moved_all_or_nothing(
    store: Store, keeping: Keeping, out: str, step: Step
) -> None:
    """The file is whole, and the ledger says whether it is needed."""
    before = list(keeping.journal.ledger.history.events())
    killed(store, out, step.name)
    assert held(out) == before
    history = keeping.journal.ledger.history
    if step in (Step.COMMITTED, Step.SYNCED):
        assert keeping.days() == [11]
        assert require_recorded(history, out).footer.events == 10
    else:
        assert keeping.days() == list(range(1, 11))
        with pytest.raises(UsageProblem) as caught:
            require_recorded(history, out)
        assert caught.value.code is Code.ARCHIVE_UNKNOWN


def test_of_two_that_archive_at_once_one_does(store: Store, tmp_path: Path) -> None:
    """The other is told what to do with its file; every event is in exactly one place."""
    made = Keeping(store.open())
    made.happens(40)
    ready = Barrier(2)
    problems: list[ConsentryError] = []

    def archive_it(number: int) -> None:
        both = Keeping(store.open(), lambda step: ready.wait() if step is Step.QUEUED else None)
        both.clock.set_to(made.clock.now())
        try:
            retain(both.journal, both.age("0s"), str(tmp_path / f"{number}.jsonl"))
        except ConsentryError as problem:
            problems.append(problem)

    threads = [Thread(target=archive_it, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [problem.code for problem in problems] == [Code.RETAIN_RACED]
    assert problems[0].help_line.startswith(f"delete `{tmp_path}/")
    assert made.days() == [40, 41]
    lost = problems[0].help_line.split("`")[1]
    with pytest.raises(UsageProblem) as caught:
        require_recorded(made.journal.ledger.history, lost)
    assert caught.value.code is Code.ARCHIVE_UNKNOWN
    [kept] = {str(path) for path in tmp_path.glob("*.jsonl")} - {lost}
    assert require_recorded(made.journal.ledger.history, kept).footer.events == 39


def test_a_record_that_cannot_be_kept_says_what_to_do_with_the_file(store: Store, out: str) -> None:
    """The database fails at the last moment: nobody here can know whether it was committed."""

    def fail(step: Step) -> None:
        if step is Step.SYNCED and armed:
            raise LedgerProblem(Code.LEDGER_UNWRITABLE, "no space left")

    armed = False
    keeping = Keeping(store.open(), fail)
    keeping.happens(10)
    armed = True
    with pytest.raises(LedgerProblem) as caught:
        retain(keeping.journal, keeping.age("0s"), out)
    assert f"consentry audit verify --archive {out}" in caught.value.help_line
    assert require_recorded(keeping.journal.ledger.history, out).footer.events == 9


def test_memory_does_not_grow_with_the_number_of_events(tmp_path: Path) -> None:
    """Eight megabytes of events pass through less than half of that."""
    with ExitStack() as closing:
        keeping = Keeping(Store(tmp_path / "store.db", closing).open())
        for _ in range(8):
            keeping.happens(250, padding="x" * 4000)
        tracemalloc.start()
        try:
            retain(keeping.journal, keeping.age("0s"), str(tmp_path / "old.jsonl"))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert (tmp_path / "old.jsonl").stat().st_size > 8_000_000
        assert peak < 4_000_000
        with keeping.journal.database.reading() as view:
            archive_id = read_sealed(str(tmp_path / "old.jsonl")).header.archive_id
            assert recorded_archive(view, archive_id) is not None
