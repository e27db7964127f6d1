"""`consentry audit backup`, and what the copy is for: going on elsewhere."""

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import CommandLine, Ended, assert_error
from tests.record.samples import Drafts

KEPT_APART = ("machine-id", "checkpoint-key")


@pytest.fixture
def drafts() -> Drafts:
    """Events to record."""
    return Drafts()


@pytest.fixture
def state(consentry: CommandLine, drafts: Drafts) -> Path:
    """The state directory of a machine that has recorded an event, and has a key."""
    record(consentry, drafts)
    consentry("audit", "checkpoint", "--public-key")
    return Path(consentry.environ["HOME"]) / ".local/state/consentry"


def record(consentry: CommandLine, drafts: Drafts) -> None:
    """One event more, by the machine whose state is used."""
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    ledger = ledger_for_writing(around)
    ledger.append(drafts.make())
    ledger.close()


def on_another_machine(consentry: CommandLine, folder: Path) -> CommandLine:
    """The command with a state directory of its own, which is made."""
    folder.mkdir(mode=0o700)
    return CommandLine(consentry.cwd, {**consentry.environ, "CONSENTRY_STATE": str(folder)})


def chains(consentry: CommandLine) -> dict[str, int]:
    """The writers and how many events each has recorded; every chain verifies."""
    document = json.loads(consentry("audit", "verify", "--json").out)
    return {chain["writer"]: chain["events"] for chain in document["chains"]}


def test_the_copy_is_verified_and_for_its_owner_alone(consentry: CommandLine, state: Path) -> None:
    """What it says is what the ledger has; nothing else is made, and the key is not in it."""
    made = consentry("audit", "backup", "copy.db", "--json")
    document = json.loads(made.out)
    assert (document["kind"], document["events"]) == ("audit-backup", 2)
    assert {each["writer"]: each["events"] for each in document["chains"]} == chains(consentry)
    copy = consentry.cwd / "copy.db"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert sorted(each.name for each in consentry.cwd.iterdir()) == [".git", "copy.db"]
    seed = json.loads((state / "checkpoint-key").read_text())["seed"]
    assert seed.encode() not in copy.read_bytes()
    shown = consentry("audit", "backup", "second.db").out.splitlines()
    assert shown[0] == "2 events copied to second.db, and verified there"
    assert shown[-1] == "the key and the machine's id are not in it"
    assert consentry("audit", "backup", "third.db", "--quiet") == Ended(0, "", "")


def test_a_moved_state_continues_its_chain(
    consentry: CommandLine, state: Path, drafts: Drafts, tmp_path: Path
) -> None:
    """Backup, key and machine id in a fresh state directory: the same writer goes on.

    Checkpoints from before the move hold after it, and are signed with the same key.
    """
    consentry("audit", "checkpoint", "--out", "before.json")
    consentry("audit", "backup", "copy.db")
    before = chains(consentry)
    moved = on_another_machine(consentry, tmp_path / "moved")
    (consentry.cwd / "copy.db").rename(tmp_path / "moved/ledger.db")
    for name in KEPT_APART:
        shutil.copy2(state / name, tmp_path / "moved" / name)
    record(moved, drafts)
    after = chains(moved)
    assert list(after) == list(before), "one writer, the same one"
    [writer] = after
    assert after[writer] == before[writer] + 1
    holds = moved("audit", "verify", "--checkpoint", "before.json")
    assert (holds.status, "holds: its 2 events are all there" in holds.out) == (0, True)
    moved("audit", "checkpoint", "--out", "after.json")
    growth = moved("audit", "proof", "--from", "before.json", "--to", "after.json", "--quiet")
    assert growth.status == 0


def test_a_copied_state_without_the_machine_id_begins_a_chain_of_its_own(
    consentry: CommandLine, state: Path, drafts: Drafts, tmp_path: Path
) -> None:
    """So that two machines never write the same chain; both chains verify."""
    assert state.exists()
    before = chains(consentry)
    consentry("audit", "backup", "copy.db")
    copied = on_another_machine(consentry, tmp_path / "copied")
    (consentry.cwd / "copy.db").rename(tmp_path / "copied/ledger.db")
    record(copied, drafts)
    after = chains(copied)
    assert {writer: after[writer] for writer in before} == before
    [fresh] = set(after) - set(before)
    assert after[fresh] == 2, "its registration, and the event"


def test_nothing_is_overwritten_and_nothing_half_made_is_left(
    consentry: CommandLine, state: Path
) -> None:
    """A file in the way, a link, a folder that is not there; a ledger that does not verify."""
    (consentry.cwd / "taken.db").write_text("mine")
    (consentry.cwd / "link.db").symlink_to("elsewhere.db")
    for name in ("taken.db", "link.db", "no/folder.db"):
        assert_error(consentry("audit", "backup", name), Code.FILE_UNUSABLE)
    assert (consentry.cwd / "taken.db").read_text() == "mine"
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    ledger = ledger_for_writing(around)
    with ledger.database.writing() as transaction:
        transaction.run("UPDATE ledger_event SET hash = ? WHERE seq = 1", ("sha256:" + "0" * 64,))
    ledger.close()
    assert_error(consentry("audit", "backup", "copy.db"), Code.CHAIN_BROKEN)
    names = sorted(each.name for each in consentry.cwd.iterdir())
    assert names == [".git", "link.db", "taken.db"]
    assert state.exists()


def test_what_cannot_be_copied_is_said(consentry: CommandLine) -> None:
    """Nothing recorded yet; a ledger on a server."""
    empty = consentry("audit", "backup", "copy.db")
    assert_error(empty, Code.USAGE)
    assert "nothing to back up" in empty.err
    shared = consentry("audit", "backup", "copy.db", CONSENTRY_STORE="postgresql:///ledger")
    assert_error(shared, Code.USAGE)
    assert "pg_dump" in shared.err
    assert_error(consentry("audit", "backup"), Code.USAGE)
    assert not (Path(consentry.environ["HOME"]) / ".local").exists()
