"""What a run writes: taken over when it has ended, never where it must not, and never half."""

import hashlib
import os
import sqlite3
import subprocess
from contextlib import closing

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.execs import home_of, last_record, put, started


def test_what_was_written_reaches_the_files_at_the_end(line: CommandLine) -> None:
    """New, changed and deleted, whatever the exit status; owned by whoever owns the folder."""
    put(line, "out/old", "old")
    put(line, "out/gone", "gone")
    script = "echo new > out/new; echo changed > out/old; rm out/gone; exit 4"
    ended = line("exec", "--write", "out", "--exec", "rm", "--", "sh", "-c", script)
    assert (ended.status, ended.err) == (4, "")
    out = line.cwd / "out"
    assert sorted(each.name for each in out.iterdir()) == ["new", "old"]
    assert (out / "old").read_text() == "changed\n"
    assert (out / "new").stat().st_uid == out.stat().st_uid
    impact = last_record(line)["impact"]
    assert impact["committed"] is True
    assert {each["path"]: each["change"] for each in impact["filesWritten"]} == {
        "out/new": "created",
        "out/old": "modified",
    }
    digest = f"sha256:{hashlib.sha256(b'changed' + os.linesep.encode()).hexdigest()}"
    assert digest in {each["hash"] for each in impact["filesWritten"]}
    assert [each["path"] for each in impact["filesDeleted"]] == ["out/gone"]


def test_folder_to_be_written_need_not_exist(line: CommandLine) -> None:
    """It is made where something is put into it."""
    assert line("exec", "--write", "fresh", "--", "sh", "-c", "echo 1 > fresh/one").status == 0
    assert (line.cwd / "fresh/one").read_text() == "1\n"
    assert line("exec", "--write", "empty", "--", "true").status == 0
    assert not (line.cwd / "empty").exists()


def test_what_the_list_says_of_a_new_file_allows_it(line: CommandLine) -> None:
    """A name with an ending is a file; for one without, the folder it is to lie in is named."""
    for name in ("new.txt", "new"):
        words = ["--", "sh", "-c", f"echo 1 > {name}"]
        advice = line("exec", *words).err.partition("allow it with ")[2].split()
        assert line("exec", *advice, *words).status == 0
        assert (line.cwd / name).read_text() == "1\n"


@pytest.mark.parametrize("keeps", [False, True])
def test_partial_work_is_dropped_unless_wanted(consentry: CommandLine, *, keeps: bool) -> None:
    """A time limit leaves the files as they were; with `--keep-partial` what was done is kept."""
    options = ["--timeout", "500ms", "--write", ".", "--exec", "sleep"]
    options += ["--keep-partial"] if keeps else []
    ended = consentry("exec", *options, "--", "sh", "-c", "echo half > half; sleep 30")
    assert ended.status == 124
    assert (consentry.cwd / "half").exists() is keeps
    record = last_record(consentry)
    assert (record["execution"]["status"], record["impact"]["committed"]) == ("timeout", keeps)
    assert [each["path"] for each in record["impact"]["filesWritten"]] == ["half"]


def test_planted_hook_never_arrives(line: CommandLine) -> None:
    """A wide grant does not open what other programs obey; naming it does."""
    script = "mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit && echo fine > code"
    ended = line("exec", "--write", ".", "--exec", "mkdir", "--", "sh", "-c", script)
    assert ended.status == 0
    assert (line.cwd / "code").read_text() == "fine\n"
    assert not (line.cwd / ".git/hooks").exists()
    assert f"allow it with --write {line.cwd}/.git/hooks/\n" in ended.err
    (line.cwd / ".git/hooks").mkdir()
    owner = line.cwd.stat()
    os.chown(line.cwd / ".git/hooks", owner.st_uid, owner.st_gid)
    words = ["--write", ".", "--write", ".git/hooks/pre-commit", "--exec", "mkdir"]
    assert line("exec", *words, "--", "sh", "-c", script).status == 0
    assert (line.cwd / ".git/hooks/pre-commit").read_text() == "evil\n"


def test_what_the_list_says_holds_in_the_folder_where_it_was_typed(line: CommandLine) -> None:
    """In a folder below the top of the workspace, too."""
    put(line, "sub/.vscode/tasks.json", "old")
    put(line, "sub/job.sh", "echo new > .vscode/tasks.json")
    owner = line.cwd.stat()
    os.chown(line.cwd / "sub", owner.st_uid, owner.st_gid)
    line.cwd /= "sub"
    words = ["exec", "--write", "."]
    ended = line(*words, "--", "sh", "job.sh")
    advice = ended.err.partition("allow it with ")[2].split()
    assert line(*words, *advice, "--", "sh", "job.sh").err == ""
    assert (line.cwd / ".vscode/tasks.json").read_text() == "new\n"


def test_conflict_is_a_refusal(line: CommandLine) -> None:
    """What somebody else changed meanwhile stays; nothing of the run is taken over."""
    put(line, "shared", "before")
    script = "echo mine > shared; echo more > extra; echo ready; read answer"
    words = ["exec", "--write", ".", "--", "sh", "-c", script]
    with started(line, *words, stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        put(line, "shared", "theirs")
        _, err = process.communicate(b"go\n")
    assert process.returncode == 126
    assert b"nothing was taken over: somebody else changed the same files" in err
    assert (line.cwd / "shared").read_text() == "theirs"
    assert not (line.cwd / "extra").exists()
    assert last_record(line)["execution"]["status"] == "discarded"


def test_run_that_cannot_be_recorded_says_that_it_happened(line: CommandLine) -> None:
    """The ledger breaks while the program runs: status 5, and the message does not hide the run."""
    assert line("exec", "--", "true").status == 0
    database = home_of(line) / ".local/state/consentry/ledger.db"
    words = ["exec", "--", "sh", "-c", "echo ready; read answer; echo done"]
    with started(line, *words, stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with closing(sqlite3.connect(database)) as other:
            other.execute("ALTER TABLE ledger_event RENAME TO gone")
        out, err = process.communicate(b"go\n")
    assert (process.returncode, out) == (5, b"done\n")
    assert b"error[run-unrecorded]: `sh` was run (success)" in err
