"""Erasing everything: only what is ours, only when nothing else is there, and nobody records on."""

import os
from contextlib import closing, suppress
from pathlib import Path

import pytest

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, Refused
from consentry.base.ids import Uuid7Ids
from consentry.record.chain import ChainFault
from consentry.service.checkpoints import take_checkpoint
from consentry.service.erasing import Belongings, erase, find_belongings
from consentry.service.ledgers import ledger_for_reading, ledger_for_writing
from consentry.service.surroundings import Surroundings
from consentry.store.sqlite import SqliteDatabase
from tests.record.samples import Drafts
from tests.service.conftest import MakeAround


@pytest.fixture
def here(around: MakeAround) -> Surroundings:
    """A machine with a ledger, a key and an id."""
    made = around()
    ledger = ledger_for_writing(made)
    ledger.append(Drafts().make())
    ledger.close()
    clock = SystemClock()
    take_checkpoint(made, clock, Uuid7Ids(clock))
    return made


@pytest.fixture
def state(home: Path) -> Path:
    """Its state directory."""
    return home / ".local/state/consentry"


def belongings(here: Surroundings) -> Belongings:
    """What there is to erase."""
    found = find_belongings(here)
    assert found is not None
    return found


def test_everything_of_ours_goes_and_the_machine_begins_anew(
    here: Surroundings, state: Path
) -> None:
    """Also what a killed process left behind; afterwards there is another ledger and another id."""
    (state / ".machine-id.123.0a1b").write_text("")
    (state / ".checkpoint-key.00ff.new").write_text("")
    before = (state / "machine-id").read_text()
    found = belongings(here)
    assert found.files[0] == "ledger.db"
    assert {"checkpoint-key", "machine-id", ".machine-id.123.0a1b"} < set(found.files)
    erase(found)
    assert not state.exists()
    assert find_belongings(here) is None
    assert ledger_for_reading(here) is None
    ledger_for_writing(here).close()
    assert (state / "machine-id").read_text() != before


@pytest.mark.parametrize("name", ["notes.txt", "ledger.db.bak", ".hidden", "machine-id.old", "x"])
def test_with_anything_else_in_the_folder_nothing_is_erased(
    here: Surroundings, state: Path, name: str
) -> None:
    """It may be somebody's; it is named."""
    (state / name).write_text("mine")
    before = sorted(path.name for path in state.iterdir())
    with pytest.raises(Refused, match="nothing was erased") as caught:
        find_belongings(here)
    assert name in caught.value.message
    assert sorted(path.name for path in state.iterdir()) == before


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_a_name_of_ours_on_something_else_is_not_ours(
    here: Surroundings, state: Path, tmp_path: Path, kind: str
) -> None:
    """A link must not lead us elsewhere."""
    (tmp_path / "precious").write_text("keep")
    (state / "checkpoint-key").unlink()
    if kind == "folder":
        (state / "checkpoint-key").mkdir()
    elif kind == "link":
        (state / "checkpoint-key").symlink_to(tmp_path / "precious")
    else:
        os.mkfifo(state / "checkpoint-key")
    with pytest.raises(Refused) as caught:
        find_belongings(here)
    assert caught.value.code is Code.STATE_REFUSED
    assert (tmp_path / "precious").read_text() == "keep"


def test_a_program_that_has_it_open_records_nothing_more(here: Surroundings) -> None:
    """Or it would let an action through whose record is gone."""
    drafts = Drafts(Uuid7Ids(SystemClock()))
    open_before = ledger_for_writing(here)
    open_before.append(drafts.make())
    erase(belongings(here))
    with pytest.raises(LedgerProblem) as caught:
        open_before.append(drafts.make())
    assert caught.value.exit_status == 5
    open_before.close()


def test_a_damaged_ledger_can_be_erased(here: Surroundings, state: Path) -> None:
    """There is nothing in it that anybody could go on with."""
    for path in state.glob("ledger.db-*"):
        path.unlink()
    (state / "ledger.db").write_bytes(b"not a database at all, but long enough " * 40)
    erase(belongings(here))
    assert not state.exists()


def test_an_unsafe_state_directory_is_not_touched(here: Surroundings, state: Path) -> None:
    """Somebody else could have put there what we would remove."""
    state.chmod(0o755)
    with pytest.raises(Refused) as caught:
        find_belongings(here)
    assert caught.value.code is Code.STATE_UNSAFE
    assert (state / "ledger.db").exists()


class _Crash(Exception):
    """The power is cut."""


@pytest.mark.parametrize("removed", range(9))
def test_a_crash_in_the_middle_leaves_no_half_of_a_ledger(
    here: Surroundings, state: Path, monkeypatch: pytest.MonkeyPatch, removed: int
) -> None:
    """After so many names: what is left records nothing more, or is gone; and can be erased again.

    Somebody has it open, so that SQLite leaves its log where it is.
    """
    before = (state / "machine-id").read_text()
    with closing(ledger_for_writing(here)) as open_before:
        open_before.append(Drafts(Uuid7Ids(SystemClock())).make())
        unlink, left = Path.unlink, removed

        def until_then(path: Path, missing_ok: bool = False) -> None:  # noqa: FBT001, FBT002 - its
            nonlocal left
            if left == 0:
                raise _Crash
            left -= path.exists()
            unlink(path, missing_ok=missing_ok)

        with monkeypatch.context() as crashing, suppress(_Crash):
            crashing.setattr(Path, "unlink", until_then)
            erase(belongings(here))
    names = {path.name for path in state.iterdir()} if state.exists() else set()
    assert "ledger.db" in names or "ledger.db-wal" not in names
    if "ledger.db" in names:
        with pytest.raises(LedgerProblem):
            ledger_for_writing(here).append(Drafts(Uuid7Ids(SystemClock())).make())
        erase(belongings(here))
    with closing(ledger_for_writing(here)) as fresh:
        fresh.append(Drafts(Uuid7Ids(SystemClock())).make())
        assert not isinstance(fresh.history.verify(), ChainFault)
        assert len(list(fresh.history.events())) == 2  # the machine's own, and this one
    assert (state / "machine-id").read_text() != before


def test_a_ledger_that_is_being_read_is_not_erased(
    here: Surroundings, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, and nothing is gone; nor is anything recorded from then on."""
    defaults = SqliteDatabase.__init__.__kwdefaults__
    monkeypatch.setitem(defaults, "patience", 0.2)
    with closing(SqliteDatabase(state / "ledger.db")) as database, database.reading() as view:
        assert list(view.rows("SELECT count(*) FROM sqlite_schema"))
        found = belongings(here)
        with pytest.raises(LedgerProblem) as caught:
            erase(found)
        assert caught.value.code is Code.LEDGER_BUSY
        assert set(found.files) <= {path.name for path in state.iterdir()}
    erase(belongings(here))
    assert not state.exists()
