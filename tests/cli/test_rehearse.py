"""`exec --rehearse`, `effect`, `commit`, `discard` and `undo`, as a person types them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.service.surroundings import Surroundings
from consentry.service.takeover import Arrival
from tests.cli.conftest import CommandLine, Ended, assert_error
from tests.cli.execs import last_record, put
from tests.cli.terminals import at_terminal
from tests.service.rehearsing import Workshop

SCRIPT = "echo new > out/new; echo changed > out/old; rm out/gone; echo 1 > out/.gitmodules"


def _rehearsed(line: CommandLine, script: str = SCRIPT) -> tuple[str, Ended]:
    put(line, "out/old", "old\n")
    put(line, "out/gone", "gone\n")
    words = ("--rehearse", "--write", "out", "--exec", "any", "--", "sh", "-c", script)
    ended = line("exec", *words)
    return str(last_record(line)["id"]), ended


def _files(line: CommandLine) -> dict[str, str]:
    return {each.name: each.read_text() for each in sorted((line.cwd / "out").iterdir())}


BEFORE = {"gone": "gone\n", "old": "old\n"}
AFTER = {"new": "new\n", "old": "changed\n"}


def test_a_rehearsal_ends_with_what_to_type_next(line: CommandLine) -> None:
    """A short summary and the two commands; the program's own status is passed on."""
    run, ended = _rehearsed(line, f"{SCRIPT}; exit 7")
    assert ended.status == 7
    assert _files(line) == BEFORE
    assert "nothing was changed yet: 1 added, 1 changed, 1 deleted; 1 more may not" in ended.err
    assert f"  consentry commit {run}\n  consentry discard {run}\n" in ended.err
    assert "rehearsed" in line("why").out


def test_effect_commit_and_undo(line: CommandLine) -> None:
    """Seen, taken over, taken back; each says what it did."""
    run, _ = _rehearsed(line)
    shown = line("effect").out
    assert "-old\n" in shown
    assert "+changed\n" in shown
    assert ".gitmodules" in shown.partition("dropped (1)")[2]
    stat = line("effect", run, "--stat").out
    assert "added    out/new" in stat
    assert "+changed" not in stat
    assert line("commit", run).status == 0
    assert _files(line) == AFTER
    assert "changed this" in line("effect", run).out
    assert_error(line("commit", run), Code.EFFECT_SETTLED)
    assert line("undo", run[:-4]).status == 0
    assert _files(line) == BEFORE
    assert_error(line("undo", run), Code.EFFECT_SETTLED)


def test_a_plain_run_and_a_snippet_can_be_undone(line: CommandLine) -> None:
    """Nothing has to be said before."""
    put(line, "out/old", "old\n")
    assert line("exec", "--write", "out", "--", "sh", "-c", "echo 1 > out/old").status == 0
    assert line("undo", str(last_record(line)["id"])).status == 0
    assert _files(line) == {"old": "old\n"}


def test_discard_leaves_the_record_alone(line: CommandLine) -> None:
    """And the files as they were."""
    run, _ = _rehearsed(line)
    assert line("discard", run).out.startswith("discarded: 3 files")
    assert _files(line) == BEFORE
    assert_error(line("commit", run), Code.EFFECT_SETTLED)
    assert_error(line("effect", run), Code.EFFECT_SETTLED)


def test_a_conflict_is_a_list_and_126(line: CommandLine) -> None:
    """For a commit and for an undo; nothing is changed by either."""
    run, _ = _rehearsed(line)
    put(line, "out/old", "mine\n")
    ended = line("commit", run)
    assert_error(ended, Code.EFFECT_CONFLICT)
    assert ended.status == 126
    assert "out/old" in ended.err
    assert _files(line) == {**BEFORE, "old": "mine\n"}
    other, _ = _rehearsed(line)
    assert line("commit", other).status == 0
    put(line, "out/new", "mine\n")
    ended = line("undo", other)
    assert_error(ended, Code.EFFECT_CONFLICT)
    assert _files(line) == {**AFTER, "new": "mine\n"}


def test_the_document_has_everything(line: CommandLine) -> None:
    """A version, both sides, the lines, the dropped."""
    run, _ = _rehearsed(line)
    document: dict[str, Any] = json.loads(line("effect", "--json").out)
    assert (document["schema_version"], document["kind"]) == (1, "effect")
    assert (document["run"], document["state"]) == (run, "waiting")
    changes = {each["path"]: each for each in document["changes"]}
    assert changes["out/old"]["diff"] == ["@@ -1,1 +1,1 @@", "-old", "+changed"]
    assert changes["out/new"]["old"] is None
    assert len(changes["out/new"]["new"]["sha256"]) == 64
    assert changes["out/gone"]["new"] is None
    assert [each["path"] for each in document["dropped"]] == [str(line.cwd / "out/.gitmodules")]
    settled = json.loads(line("commit", run, "--json").out)
    assert (settled["kind"], settled["result"]) == ("settled", "committed")


def test_hostile_names_and_lines_cannot_act_on_a_terminal(line: CommandLine) -> None:
    """Escapes, line feeds and forged diff lines stay what they are: text of the run."""
    script = r"""
import os
open('out/\x1b[31mred\nadded    forged', 'w').write('x')
open('out/lines', 'w').write('\x1b]0;title\x07\n@@ -1 +1 @@\r+forged\n')
open(b'out/\xff', 'w').write('y')
"""
    put(line, "out/old", "old\n")
    put(line, "script.py", script)
    words = ("--rehearse", "--write", "out", "--", "python3", "script.py")
    assert line("exec", *words).status == 0
    for option in ("--stat", "--verbose"):
        shown = line("effect", option).out
        assert "\x1b" not in shown
        assert "\r" not in shown
        assert not any(each.startswith("added    forged") for each in shown.splitlines())
        assert "\\u{1b}" in shown
    assert "\\xff" in json.dumps(json.loads(line("effect", "--json").out)).replace("\\\\", "\\")


def test_unknown_runs_and_missing_words_are_usage(line: CommandLine) -> None:
    """One clear error each."""
    assert_error(line("effect"), Code.RUN_UNKNOWN)
    for word in ("commit", "discard", "undo"):
        assert_error(line(word, "audit-nothing"), Code.RUN_UNKNOWN)
        assert line(word).status == 2


def test_nothing_to_keep_it_with_is_told_at_once(line: CommandLine) -> None:
    """Refused before anything starts."""
    words = ("--rehearse", "--write", "out", "--", "sh", "-c", "true")
    assert_error(line("exec", *words, CONSENTRY_KEEP="0s"), Code.SETTING_VALUE)


@pytest.fixture
def strict(consentry: CommandLine) -> str:
    """A run whose commit has to be approved; later `run` starts such ones."""
    (consentry.cwd / "a").write_text("old\n")
    around = Surroundings(consentry.environ, consentry.cwd, os.geteuid())
    run = Workshop(around, consentry.cwd).run("echo new > a", Arrival.WHEN_APPROVED)
    return run.audit_id


@pytest.mark.parametrize(
    ("typed", "status", "content"),
    [("y", 0, "new\n"), ("a", 0, "new\n"), ("d", 126, "old\n"), ("\x03", 126, "old\n")],
)
def test_a_strict_commit_asks_on_the_terminal(
    consentry: CommandLine, strict: str, typed: str, status: int, content: str
) -> None:
    """The effect is shown, and only a typed yes is one; without a terminal it is parked with 75."""
    parked = consentry("commit", strict)
    assert_error(parked, Code.APPROVAL_PENDING)
    assert parked.status == 75
    with at_terminal(consentry, "commit", strict) as terminal:
        assert "+new" in terminal.see("commit exactly this?")
        terminal.answer("", typed)
        assert terminal.ended() == status, terminal.screen
    assert Path(consentry.cwd / "a").read_text() == content


def test_a_long_effect_is_shown_in_pages(consentry: CommandLine) -> None:
    """None of it scrolls away unseen, and Enter alone commits nothing."""
    around = Surroundings(consentry.environ, consentry.cwd, os.geteuid())
    run = Workshop(around, consentry.cwd).run("seq 100 > a", Arrival.WHEN_APPROVED)
    with at_terminal(consentry, "commit", run.audit_id) as terminal:
        for page in range(1, 6):
            shown = terminal.see(f"({page} of ")
            assert shown.count("\n") <= 24
            terminal.answer("", "")
        terminal.see("commit exactly this?")
        terminal.answer("", "")
        terminal.see("is no answer here")
        terminal.answer("", "y")
        assert terminal.ended() == 0, terminal.screen
