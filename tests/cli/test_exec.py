"""`consentry exec` as a stranger uses it: the thief is stopped and told of, what is granted works."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, Ended, assert_error
from tests.cli.execs import home_of, last_record, put, started

THIEF = """
import os, socket, sys
def tried(what, do):
    try:
        print(what, do())
    except OSError as problem:
        print(what, "failed", problem.errno)
tried("key", lambda: open(os.path.expanduser("~/.ssh/id_ed25519")).read())
tried("call", lambda: socket.create_connection(("192.0.2.1", 443), 2))
tried("write", lambda: open("planted", "w").write("x"))
tried("run", lambda: os.execv("/usr/bin/id", ["id"]))
"""


def test_thief_is_stopped_and_told_of(line: CommandLine) -> None:
    """The key, the network, the file and the program: refused, listed, with what would allow each."""
    key = put(line, str(home_of(line) / ".ssh/id_ed25519"), "the key")
    put(line, "thief.py", THIEF)
    ended = line("exec", "--", "python3", "thief.py")
    assert ended.status == 0
    assert "the key" not in ended.out
    assert ended.out.count("failed") == 4
    first, *rows = ended.err.splitlines()
    assert first == "consentry: 4 things were stopped"
    planted = line.cwd / "planted"
    assert rows == [
        f"  read {key}: protected root {key.parent}/; nothing allows it",
        "  net 192.0.2.1:443: no network; allow it with --net 192.0.2.1:443",
        f"  write {planted}: not granted; allow it with --write {line.cwd}/",
        "  run /usr/bin/id: not among the programs that may start; allow it with --exec /usr/bin/id",
    ]
    assert not planted.exists()


ELSEWHERE = Path(__file__).parents[2] / "pyproject.toml"
"""A file outside every workspace of these tests, and outside `/tmp`, which is another inside."""


@pytest.mark.skipif(ELSEWHERE.is_relative_to("/tmp"), reason="inside, /tmp is the run's own")
def test_what_the_list_says_allows_it(line: CommandLine) -> None:
    """The very options that the list names make the same actions work."""
    put(line, "job.sh", f"cat {ELSEWHERE} && /usr/bin/id -u > /dev/null && echo done")
    refused = line("exec", "--", "sh", "job.sh")
    assert refused.status != 0
    assert "allow it with --exec /usr/bin/cat" in refused.err
    options = ["--exec", "cat", "--exec", "/usr/bin/id"]
    refused = line("exec", *options, "--", "sh", "job.sh")
    assert f"read {ELSEWHERE}: not granted; allow it with --read {ELSEWHERE}" in refused.err
    options += ["--read", str(ELSEWHERE)]
    allowed = line("exec", *options, "--", "sh", "job.sh")
    assert (allowed.status, allowed.err) == (0, "")
    assert allowed.out == ELSEWHERE.read_text() + "done\n"


def test_nothing_is_said_when_nothing_was_stopped(line: CommandLine) -> None:
    """A run that stays within its grants is silent, and the workspace can be read."""
    put(line, "data.txt", "hello")
    ended = line("exec", "--", "cat", "data.txt")
    assert ended == Ended(0, "hello", "")


def test_caches_of_python_are_only_in_the_record(line: CommandLine) -> None:
    """Every import tries to write one; telling of each would bury what matters."""
    put(line, "helper.py", "value = 1\n")
    put(line, "main.py", "import helper\nprint(helper.value)\n")
    assert line("exec", "--", "python3", "main.py") == Ended(0, "1\n", "")
    resources = [each["resource"] for each in last_record(line)["sandbox"]["violations"]]
    assert any("__pycache__" in resource for resource in resources)


def test_home_and_tmp_are_the_runs_own(line: CommandLine) -> None:
    """Writable, empty, and gone afterwards."""
    script = "echo x > ~/mark && echo x > /tmp/mark-of-exec && test -f ~/mark && echo ok"
    assert line("exec", "--", "sh", "-c", script) == Ended(0, "ok\n", "")
    assert not (home_of(line) / "mark").exists()
    assert not Path("/tmp/mark-of-exec").exists()


def test_environment_is_built_from_nothing(line: CommandLine) -> None:
    """Only named variables come along, and ours cannot be replaced."""
    ended = line(
        "exec", "--env", "WANTED", "--env", "HOME", "--", "env", WANTED="here", SECRET="no"
    )
    names = dict(row.split("=", 1) for row in ended.out.splitlines())
    assert names["WANTED"] == "here"
    assert names["HOME"] == "/home/user"
    assert names.keys() == {"PATH", "HOME", "TMPDIR", "LANG", "TERM", "WANTED"}
    assert last_record(line)["sandbox"]["environment"] == sorted(names)


def test_script_starts_with_its_own_interpreter(line: CommandLine) -> None:
    """The interpreter of the first line may start, and nothing else besides."""
    put(line, "tool", "#!/bin/sh\necho from $0\nls\n", 0o755)
    ended = line("exec", "--", "./tool")
    assert ended.out == f"from {line.cwd / 'tool'}\n"
    assert "run /usr/bin/ls" in ended.err


def test_input_is_passed(line: CommandLine) -> None:
    """Through a pipe, to its end."""
    with started(line, "exec", "--", "cat", stdin=subprocess.PIPE) as process:
        out, err = process.communicate(b"line\n" * 1000)
    assert (process.returncode, out, err) == (0, b"line\n" * 1000, b"")


def test_large_output_is_whole(line: CommandLine) -> None:
    """Twenty megabytes arrive as they were printed."""
    script = "import sys\nfor _ in range(20): sys.stdout.write('0123456789abcde\\n' * 65536)"
    with started(line, "exec", "--", "python3", "-c", script) as process:
        out, _ = process.communicate()
    assert process.returncode == 0
    assert out == b"0123456789abcde\n" * 65536 * 20


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--", "sh", "-c", "exit 7"], 7),
        (["--", "sh", "-c", "kill -9 $$"], 137),
        (["--", "sh", "-c", "kill -15 $$"], 143),
        (["--timeout", "300ms", "--", "sleep", "30"], 124),
        (["--cpu", "1", "--", "sh", "-c", "while :; do :; done"], 137),
        (["--max-output", "1K", "--", "yes"], 137),
        (["--", "nowhere-to-be-found"], 127),
        (["--", "./missing"], 127),
    ],
)
def test_statuses(consentry: CommandLine, words: list[str], status: int) -> None:
    """The program's own, 128 and its signal, or ours."""
    assert consentry("exec", *words).status == status


def test_limits_are_told(consentry: CommandLine) -> None:
    """Which limit it was, and that it was a limit."""
    ended = consentry("exec", "--timeout", "300ms", "--", "sleep", "30")
    assert ended.err == "consentry: stopped by the time limit\n"
    printed = consentry("exec", "--max-output", "1K", "--", "yes")
    assert printed.err == "consentry: stopped by the limit on output\n"
    assert len(printed.out) == 1024


def test_status_is_told_apart(consentry: CommandLine) -> None:
    """A program that ends with 126 is not a refusal, and the descriptor says so."""
    own = consentry.in_shell("consentry exec --status-fd 3 -- sh -c 'exit 126' 3>ours; cat ours")
    assert own.out == "0\n"
    ours = consentry.in_shell("consentry exec --status-fd 3 -- ./nothing 3>ours; cat ours")
    assert ours.out == "127\n"


def _link(project: Path) -> None:
    (project / "real").mkdir()
    (project / "link").symlink_to("real")


def _plain_file(project: Path) -> None:
    (project / "plain").write_text("echo hi")


def _bad_first_line(project: Path) -> None:
    (project / "bad").write_text("#!/no/such/interpreter\n")
    (project / "bad").chmod(0o755)


def _broken(project: Path) -> None:
    (project / "broken").write_bytes(b"\x7fELF, and nothing else")
    (project / "broken").chmod(0o755)


def _nothing(_: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("prepare", "words", "code"),
    [
        (_nothing, ["--set", "superuser", "--", "true"], Code.PERMISSION_SET),
        (_nothing, ["--set", "trusted", "--", "true"], Code.NOT_ENFORCEABLE),
        (_nothing, ["--net", "127.1", "--", "true"], Code.SURFACE_HOST),
        (_nothing, ["--net", "none", "--net", "example.org", "--", "true"], Code.USAGE),
        (_nothing, ["--set", "minimal", "--profile", "x", "--", "true"], Code.USAGE),
        (_nothing, ["--profile", "none", "--", "true"], Code.FILE_UNUSABLE),
        (_nothing, ["--profile", "none.yaml", "--", "true"], Code.FILE_UNUSABLE),
        (_nothing, ["--read", "nowhere", "--", "true"], Code.FILE_UNUSABLE),
        (_nothing, ["--read", "", "--", "true"], Code.FILE_UNUSABLE),
        (_nothing, ["--write", "no/where", "--", "true"], Code.FILE_UNUSABLE),
        (_link, ["--read", "link", "--", "true"], Code.FILE_UNUSABLE),
        (_nothing, ["--read", "/etc/shadow", "--", "true"], Code.PROTECTED_ROOT),
        (_nothing, ["--read", "/proc", "--", "true"], Code.PROTECTED_ROOT),
        (_nothing, ["--exec", "nowhere", "--", "true"], Code.PROGRAM_UNKNOWN),
        (_nothing, ["--env", "A=b", "--", "true"], Code.USAGE),
        (_nothing, ["--timeout", "soon", "--", "true"], Code.USAGE),
        (_nothing, ["--timeout", "0s", "--", "true"], Code.USAGE),
        (_nothing, ["--memory", "much", "--", "true"], Code.USAGE),
        (_nothing, ["--memory", "1K", "--", "true"], Code.NOT_ENFORCEABLE),
        (_nothing, ["--processes", "0", "--", "true"], Code.USAGE),
        (_nothing, ["--status-fd", "77", "--", "true"], Code.USAGE),
        (_nothing, ["--workspace", "nowhere", "--", "true"], Code.WORKSPACE_MISSING),
        (_nothing, ["--"], Code.USAGE),
        (_nothing, ["--", "nowhere"], Code.PROGRAM_UNKNOWN),
        (_nothing, ["--", ""], Code.PROGRAM_UNKNOWN),
        (_nothing, ["--", "/usr"], Code.PROGRAM_UNSTARTABLE),
        (_plain_file, ["--", "./plain"], Code.PROGRAM_UNSTARTABLE),
        (_bad_first_line, ["--", "./bad"], Code.PROGRAM_UNSTARTABLE),
    ],
)
def test_bad_input_starts_nothing(
    consentry: CommandLine, prepare: Callable[[Path], None], words: list[str], code: Code
) -> None:
    """One clear error with its code, and nothing can have run: at most the refusal is on record."""
    prepare(consentry.cwd)
    assert_error(consentry("exec", *words), code)
    if code in (Code.NOT_ENFORCEABLE, Code.PROTECTED_ROOT):
        assert last_record(consentry)["execution"]["status"] == "denied"
    else:
        assert_error(consentry("why"), Code.RUN_UNKNOWN)


def test_a_file_that_is_no_program_is_told_and_on_record(consentry: CommandLine) -> None:
    """Only the kernel knows when it is to be started: one clear error, and no silent status."""
    _broken(consentry.cwd)
    assert_error(consentry("exec", "--", "./broken"), Code.PROGRAM_UNSTARTABLE)
    assert last_record(consentry)["execution"]["status"] != "success"


def test_names_that_are_no_unicode_are_refused(consentry: CommandLine) -> None:
    """Neither a path nor an argument that could not be recorded."""
    assert_error(consentry("exec", "--read", b"\xff", "--", "true"), Code.FILE_UNUSABLE)
    assert_error(consentry("exec", "--", "true", b"\xff"), Code.USAGE)


def test_protected_folder_is_no_workspace(consentry: CommandLine, home: Path) -> None:
    """Naming it does not open what is never granted."""
    (home / ".ssh").mkdir()
    ended = consentry("exec", "--workspace", str(home / ".ssh"), "--", "true")
    assert_error(ended, Code.PROTECTED_ROOT)


def test_ledger_that_cannot_be_written_stops_the_run(line: CommandLine) -> None:
    """Seen from outside: the program did not run, and the status is 5."""
    assert line("exec", "--write", "mark", "--", "true").status == 0
    database = home_of(line) / ".local/state/consentry/ledger.db"
    database.write_bytes(b"this is no database any more" * 100)
    ended = line("exec", "--", "sh", "-c", "echo ran")
    assert ended.status == 5
    assert ended.out == ""
    assert "error[ledger-corrupt]" in ended.err


def test_everything_in_one_document(consentry: CommandLine) -> None:
    """Output, record and status; standard error stays empty."""
    script = "echo out; echo err >&2; cat /etc/shadow; exit 3"
    ended = consentry("exec", "--json", "--exec", "cat", "--", "sh", "-c", script)
    document = json.loads(ended.out)
    assert (ended.status, ended.err, document["kind"]) == (3, "", "run")
    assert document["exit_status"] == 3
    assert document["stdout"] == {"encoding": "utf-8", "content": "out\n"}
    assert document["stderr"]["content"].startswith("err\n")
    assert document["output_complete"] is True
    [stopped] = document["run"]["sandbox"]["violations"]
    assert (stopped["operation"], stopped["resource"]) == ("read", "/etc/shadow")


def test_output_that_is_no_text_is_encoded(consentry: CommandLine) -> None:
    """Bytes come through."""
    document = json.loads(consentry("exec", "--json", "--", "printf", r"\377\000").out)
    assert document["stdout"] == {"encoding": "base64", "content": "/wA="}


def test_more_than_ten_are_counted(consentry: CommandLine) -> None:
    """The first ten, and where the others are told."""
    script = "for i in range(13):\n  try: open(f'f{i}', 'w')\n  except OSError: pass"
    rows = consentry("exec", "--", "python3", "-c", script).err.splitlines()
    assert rows[0] == "consentry: 13 things were stopped"
    assert len(rows) == 12
    run = last_record(consentry)["id"]
    assert rows[-1] == f"  … and 3 more: consentry why {run}"


def test_hostile_names_are_shown_safely(consentry: CommandLine) -> None:
    """A name with an escape sequence cannot paint on the terminal, nor begin a line of ours."""
    name = "evil\\x1b[31m\\nconsentry: all is well"
    script = f"try: open('{name}', 'w')\nexcept OSError: pass"
    ended = consentry("exec", "--", "python3", "-c", script)
    listed = ended.err.partition("consentry: 1 thing was stopped\n")[2]
    assert "\x1b" not in listed
    assert listed.count("\n") == 1
