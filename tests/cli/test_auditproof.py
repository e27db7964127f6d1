"""`consentry audit proof`: made from a real ledger, verified where there is none."""

import json
import os
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import CommandLine, Ended, assert_error
from tests.record.samples import Drafts


@pytest.fixture
def drafts() -> Drafts:
    """Events to record."""
    return Drafts()


@pytest.fixture
def events(consentry: CommandLine, drafts: Drafts) -> list[str]:
    """The ids of three events in a ledger."""
    made = [drafts.make(f"tool:{name}") for name in "abc"]
    record(consentry, *made)
    return [draft.event_id for draft in made]


def record(consentry: CommandLine, *drafts: object) -> None:
    """Appends, and lets go of the file."""
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    ledger = ledger_for_writing(around)
    ledger.append(*drafts)  # type: ignore[arg-type]
    ledger.close()


def elsewhere(consentry: CommandLine, tmp_path: Path) -> CommandLine:
    """The command on a machine that has only the files of the project: no home, no ledger."""
    return CommandLine(consentry.cwd, {**consentry.environ, "HOME": str(tmp_path / "nobody")})


def handed_out(consentry: CommandLine, name: str, *words: str) -> str:
    """A file with what the command prints."""
    (consentry.cwd / name).write_text(consentry(*words).out)
    return name


def test_an_event_is_proven_to_somebody_without_the_ledger(
    consentry: CommandLine, events: list[str], tmp_path: Path
) -> None:
    """With the proof, the event and the public key; nothing of this machine is read."""
    key = handed_out(consentry, "key.pem", "audit", "checkpoint", "--public-key")
    event = handed_out(consentry, "event.json", "audit", "show", events[1], "--json")
    made = consentry("audit", "proof", events[1], "--out", "proof.json")
    assert (made.status, made.out.splitlines()[-1]) == (0, "written to proof.json")
    verify = ("audit", "proof", "--verify", "proof.json", "--key", key)
    away = elsewhere(consentry, tmp_path)
    shown = away(*verify, "--event", event)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.startswith("the proof holds: sha256:")
    assert " is event 3 of machine-" in shown.out
    assert "no event was given: compare this hash" in away(*verify).out
    assert away(*verify, "--quiet") == Ended(0, "", "")
    document = json.loads(away(*verify, "--event", event, "--json").out)
    assert (document["kind"], document["event_compared"]) == ("audit-proof-verified", True)
    assert not (tmp_path / "nobody").exists()


def test_every_form_an_event_is_printed_in_has_its_hash(
    consentry: CommandLine, events: list[str]
) -> None:
    """As text and as a document of `audit show`."""
    consentry("audit", "proof", events[0], "--out", "proof.json")
    for option in ("--json", "--verbose"):
        event = handed_out(consentry, f"event{option}", "audit", "show", events[0], option)
        verify = ("audit", "proof", "--verify", "proof.json", "--event", f"./{event}")
        assert consentry(*verify).status == 0


def test_a_proof_in_a_kept_checkpoint_names_that_one(
    consentry: CommandLine, events: list[str]
) -> None:
    """The same checkpoint must be named when it is verified; another one is refused."""
    consentry("audit", "checkpoint", "--out", "kept.json")
    consentry("audit", "proof", events[2], "--checkpoint", "kept.json", "--out", "proof.json")
    verify = ("audit", "proof", "--verify", "proof.json", "--checkpoint")
    assert consentry(*verify, "kept.json").status == 0
    consentry("audit", "checkpoint", "--out", "other.json")
    refused = consentry(*verify, "other.json")
    assert_error(refused, Code.PROOF)
    assert "carries another checkpoint" in refused.err


def test_an_event_after_the_checkpoint_is_not_in_it(
    consentry: CommandLine, events: list[str], drafts: Drafts
) -> None:
    """The message says so, and a new checkpoint has it."""
    assert events
    consentry("audit", "checkpoint", "--out", "kept.json")
    late = drafts.make("late")
    record(consentry, late)
    refused = consentry("audit", "proof", late.event_id, "--checkpoint", "kept.json")
    assert_error(refused, Code.PROOF)
    assert "was recorded after the checkpoint" in refused.err
    assert consentry("audit", "proof", late.event_id, "--quiet").status == 0


def test_a_later_checkpoint_is_shown_to_continue_an_earlier_one(
    consentry: CommandLine, events: list[str], drafts: Drafts, tmp_path: Path
) -> None:
    """And the wrong way round, or with other checkpoints, it is refused."""
    assert events
    consentry("audit", "checkpoint", "--out", "old.json")
    record(consentry, drafts.make("more"))
    consentry("audit", "checkpoint", "--out", "new.json")
    two = ("--from", "old.json", "--to", "new.json")
    made = consentry("audit", "proof", *two, "--out", "growth.json")
    assert (made.status, "events are still the same" in made.out) == (0, True)
    key = handed_out(consentry, "key.pem", "audit", "checkpoint", "--public-key")
    away = elsewhere(consentry, tmp_path)
    verify = ("audit", "proof", "--verify", "growth.json", "--key", key)
    assert away(*verify).status == 0
    assert away(*verify, *two).status == 0
    assert_error(away(*verify, "--from", "new.json"), Code.PROOF)
    assert_error(consentry("audit", "proof", "--from", "new.json", "--to", "old.json"), Code.PROOF)


def test_what_was_changed_is_refused(
    consentry: CommandLine, events: list[str], tmp_path: Path
) -> None:
    """An event, a proof, a key: each changed by itself."""
    key = handed_out(consentry, "key.pem", "audit", "checkpoint", "--public-key")
    event = handed_out(consentry, "event.json", "audit", "show", events[1])
    consentry("audit", "proof", events[1], "--out", "proof.json")
    away = elsewhere(consentry, tmp_path)
    verify = ("audit", "proof", "--verify", "proof.json", "--event", event, "--key", key)
    assert away(*verify).status == 0
    (consentry.cwd / event).write_text((consentry.cwd / event).read_text().replace("l:b", "l:x"))
    lied = away(*verify)
    assert_error(lied, Code.PROOF)
    assert "does not have this hash" in lied.err
    changed = json.loads((consentry.cwd / event).read_text())
    del changed["hash"]
    (consentry.cwd / event).write_text(json.dumps(changed))
    assert_error(away(*verify), Code.PROOF)
    proof = json.loads((consentry.cwd / "proof.json").read_text())
    proof["index"] += 1
    (consentry.cwd / "proof.json").write_text(json.dumps(proof))
    assert_error(away("audit", "proof", "--verify", "proof.json", "--key", key), Code.PROOF)
    proof["index"] -= 1
    proof["checkpoint"]["timestamp_utc"] = "2020-01-01T00:00:00.000Z"
    (consentry.cwd / "proof.json").write_text(json.dumps(proof))
    unsigned = away("audit", "proof", "--verify", "proof.json", "--key", key)
    assert_error(unsigned, Code.CHECKPOINT)


def test_the_key_of_another_machine_does_not_do(
    consentry: CommandLine, events: list[str], tmp_path: Path
) -> None:
    """Whoever verifies decides which key is trusted."""
    consentry("audit", "proof", events[0], "--out", "proof.json")
    other = elsewhere(consentry, tmp_path)
    record(other, Drafts().make())
    key = handed_out(other, "other.pem", "audit", "checkpoint", "--public-key")
    assert_error(
        consentry("audit", "proof", "--verify", "proof.json", "--key", key), Code.CHECKPOINT
    )


def test_a_proof_that_cannot_be_written_leaves_nothing_recorded(
    consentry: CommandLine, events: list[str]
) -> None:
    """The checkpoint of a proof is recorded only when somebody has it."""
    (consentry.cwd / "taken.json").write_text("mine")
    refused = consentry("audit", "proof", events[0], "--out", "taken.json")
    assert_error(refused, Code.FILE_UNUSABLE)
    logged = consentry("audit", "log", "--type", "ledger.checkpoint", "--quiet")
    assert logged == Ended(0, "", "")
    assert consentry("audit", "proof", events[0], "--out", "free.json").status == 0
    assert consentry("audit", "log", "--type", "ledger.checkpoint", "--quiet").out != ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], Code.USAGE),
        (["--from", "a.json"], Code.USAGE),
        (["event-x", "--from", "a.json"], Code.USAGE),
        (["event-x", "--event", "a.json"], Code.USAGE),
        (["event-x", "--verify", "a.json"], Code.USAGE),
        (["--verify", "a.json", "--out", "b.json"], Code.USAGE),
        (["event-x"], Code.EVENT_UNKNOWN),
        (["--verify", "nowhere.json", "--key", "nowhere.pem"], Code.FILE_UNUSABLE),
    ],
)
def test_wrong_usage(consentry: CommandLine, words: list[str], code: Code) -> None:
    """One clear error each."""
    assert_error(consentry("audit", "proof", *words), code)
