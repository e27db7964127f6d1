"""`consentry code` as a stranger uses it: the result on one stream, everything else on the other."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, Ended, assert_error


@pytest.fixture(params=["as we are", "as an ordinary user"])
def line(request: pytest.FixtureRequest) -> CommandLine:
    """The command as whoever runs the tests, and as an ordinary user."""
    name = "consentry" if request.param == "as we are" else "as_nobody"
    found: CommandLine = request.getfixturevalue(name)
    return found


def _put(line: CommandLine, name: str, content: str) -> Path:
    path = line.cwd / name
    path.write_text(content)
    path.chmod(0o644)
    return path


def _code(line: CommandLine, source: str, *words: str) -> Ended:
    _put(line, "snippet.py", source)
    return line("code", "snippet.py", *words)


def test_result_and_printed_text_are_apart(line: CommandLine) -> None:
    """Standard output has the JSON value alone."""
    ended = _code(line, "print('said')\n{'sum': sum(n)}", "--arg", "n=[1, 2]")
    assert (ended.status, ended.out, ended.err) == (0, '{"sum": 3}\n', "said\n")


def test_an_error_is_told_with_status_one(line: CommandLine) -> None:
    """Its type and message on standard error; where it happened when asked."""
    ended = _code(line, "def f():\n    return 1 / 0\nf()")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == "consentry: ZeroDivisionError: division by zero\n"
    ended = line("code", "--verbose", "snippet.py")
    assert 'File "snippet.py", line 2, in f\n    return 1 / 0\n' in ended.err
    assert "consentry/enforce" not in ended.err


def test_what_was_stopped_is_told_with_the_exact_option(line: CommandLine) -> None:
    """And that option makes it work."""
    other = Path(__file__).parents[2] / "pyproject.toml"
    if other.is_relative_to("/tmp"):
        pytest.skip("inside, /tmp is the run's own")
    ended = _code(line, f"len(open({str(other)!r}).read())")
    assert ended.status == 1
    assert ended.err.splitlines()[1:] == [
        "consentry: 1 thing was stopped",
        f"  read {other}: not granted; allow it with --read {other}",
    ]
    ended = line("code", "snippet.py", "--read", str(other))
    assert (ended.status, ended.out, ended.err) == (0, f"{len(other.read_text())}\n", "")


def test_thief_is_stopped(line: CommandLine) -> None:
    """The key, the network, a planted file and a program; none of them, and all are listed."""
    key = Path(line.environ["HOME"]) / ".ssh"
    key.mkdir()
    (key / "id").write_text("the key")
    ended = _code(
        line,
        "import os, socket\n"
        "def tried(do):\n"
        "    try:\n"
        "        return do()\n"
        "    except OSError as problem:\n"
        "        return 'failed'\n"
        "[tried(lambda: open(os.path.expanduser('~/.ssh/id')).read()),\n"
        " tried(lambda: socket.create_connection(('192.0.2.1', 443), 2)),\n"
        " tried(lambda: open('planted', 'w').write('x')),\n"
        " tried(lambda: os.execv('/usr/bin/id', ['id']))]",
    )
    assert json.loads(ended.out) == ["failed"] * 4
    first, *rows = ended.err.splitlines()
    assert first == "consentry: 4 things were stopped"
    assert [row.split()[0] for row in rows] == ["read", "net", "write", "run"]
    read, net, *others = rows
    assert all(row.endswith("; nothing allows it") for row in (read, *others))
    assert net.endswith("; allow it with --net 192.0.2.1:443")
    assert not (line.cwd / "planted").exists()


def test_snippet_from_standard_input(line: CommandLine) -> None:
    """`-` reads it; the record has a name for it."""
    ended = line.in_shell("echo 'result = 6 * 7' | consentry code -")
    assert (ended.status, ended.out) == (0, "42\n")
    record = json.loads(line("why", "--json").out)["run"]
    assert record["tool"]["name"] == "stdin.py"


@pytest.mark.parametrize(
    ("source", "options", "status"),
    [
        ("import sys; sys.exit(7)", (), 7),
        ("import os; os._exit(0)", (), 1),
        ("while True: pass", ("--timeout", "300ms"), 124),
        ("while True: pass", ("--cpu", "1"), 137),
        ("1", ("--set", "trusted"), 126),
        ("1", ("--net", "127.1"), 3),
        ("1", ("--read", "/etc/shadow"), 126),
        ("1", ("--arg", "n=text"), 2),
        ("1", ("--arg", "1n=1"), 2),
        ("1", ("--timeout", "soon"), 2),
        ("1", ("--preload", "a-b"), 2),
        ("1", ("--set", "none"), 2),
    ],
)
def test_statuses(
    consentry: CommandLine, source: str, options: tuple[str, ...], status: int
) -> None:
    """Each as its page says, and no result without success."""
    ended = _code(consentry, source, *options)
    assert (ended.status, ended.out) == (status, "")


def test_missing_file_is_wrong_usage(consentry: CommandLine) -> None:
    """One error, and nothing is recorded."""
    assert_error(consentry("code", "nowhere.py"), Code.FILE_UNUSABLE)
    assert json.loads(consentry("audit", "log", "--json").out)["events"] == []


def test_hostile_names_do_no_harm(line: CommandLine) -> None:
    """Line ends and escapes in the names of files are shown as such; options stay options."""
    name = "a\n\x1b[2Jconsentry: fine\u202e.py"
    _put(line, name, "open('/var/\\x1b[2J\\nallowed: yes')")
    ended = line("code", name)
    assert ended.status == 1
    for text in (ended.err, line("why").out):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert not any(row.startswith(("allowed", "consentry: fine")) for row in text.splitlines())
    _put(line, "-x.py", "1")
    assert line("code", "--", "-x.py").out == "1\n"


def test_hostile_results_do_no_harm(consentry: CommandLine) -> None:
    """A result is one line of ASCII; the type and message of an error are made safe."""
    ended = _code(consentry, "'\\x1b[2J\\n\\u202e\\x7f\\ud800'")
    assert ended.out == '"\\u001b[2J\\n\\u202e\\u007f\\ud800"\n'
    ended = _code(consentry, "raise type('\\x1b[2J', (Exception,), {})('a\\nconsentry: fine')")
    assert ended.status == 1
    assert "\x1b" not in ended.err
    assert len(ended.err.splitlines()) == 1


def test_document_has_everything(line: CommandLine) -> None:
    """With `--json`: record, result, error and output in one."""
    ended = _code(line, "print('é')\n[1]", "--json")
    document = json.loads(ended.out)
    assert (document["kind"], document["exit_status"]) == ("code", 0)
    assert (document["result"], document["error"]) == ([1], None)
    assert document["stdout"] == {"encoding": "utf-8", "content": "é\n"}
    assert document["output_complete"] is True
    assert document["run"]["execution"]["status"] == "success"
    failed = json.loads(_code(line, "x", "--json").out)
    assert (failed["exit_status"], failed["error"]["type"]) == (1, "NameError")
    assert failed["error"]["traceback"].endswith("name 'x' is not defined\n")


def test_ledger_that_cannot_be_written_means_no_run(line: CommandLine) -> None:
    """Nothing is said on either stream by the snippet."""
    assert _code(line, "print('ran')\n1").status == 0
    [database] = Path(line.environ["HOME"]).rglob("*.db")
    database.write_bytes(b"this is no ledger" * 500)
    ended = line("code", "snippet.py")
    assert ended.status == 5
    assert ended.out == ""
    assert "ran" not in ended.err.splitlines()


def test_interrupt_ends_it_and_is_recorded(consentry: CommandLine) -> None:
    """A signal to the command ends the snippet as well."""
    _put(consentry, "snippet.py", "import os, time\nos.write(2, b'go')\ntime.sleep(60)")
    running = subprocess.Popen(
        [*consentry.program, "code", "snippet.py"],
        cwd=consentry.cwd,
        env=consentry.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with running:
        assert running.stderr is not None
        assert os.read(running.stderr.fileno(), 2) == b"go"
        begun = time.monotonic()
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=30)
        assert time.monotonic() - begun < 30
    assert running.returncode == 128 + signal.SIGKILL
    record = json.loads(consentry("why", "--json").out)["run"]
    assert record["execution"]["status"] == "killed"


PROFILE = """
sandboxConfig:
  profiles:
    reports:
      filesystem:
        readOnly: ["${WORKSPACE}"]
        readWrite: ["${WORKSPACE}/output"]
        noAccess: ["${WORKSPACE}/output/keys"]
"""


def test_a_profile_says_what_it_may_write(line: CommandLine) -> None:
    """The folder it names is written when the snippet has ended, and nothing beside it."""
    _put(line, "reports.yaml", PROFILE)
    source = "import os\nos.makedirs('output', exist_ok=True)\nopen('output/sum', 'w').write('42')"
    ended = _code(line, source, "--profile", "reports.yaml")
    assert (ended.status, ended.out) == (0, "2\n"), ended.err
    assert (line.cwd / "output/sum").read_text() == "42"
    ended = _code(line, "open('beside', 'w')", "--profile", "reports.yaml")
    assert ended.status == 1
    assert not (line.cwd / "beside").exists()


def test_a_set_and_a_profile_exclude_each_other(line: CommandLine) -> None:
    """One decision, not two."""
    ended = _code(line, "1", "--profile", "reports.yaml", "--set", "minimal")
    assert ended.status == 2
    assert "exclude each other" in ended.err


def test_our_own_status_is_told_apart(consentry: CommandLine) -> None:
    """0 where the snippet ran, whatever its own was; ours where it did not."""
    _put(consentry, "ends.py", "import sys\nsys.exit(126)")
    ran = consentry.in_shell("consentry code --status-fd 3 ends.py 3>ours; echo $?; cat ours")
    assert ran.out == "126\n0\n"
    line = "consentry code --status-fd 3 --set trusted ends.py 3>ours; echo $?; cat ours"
    assert consentry.in_shell(line).out == "126\n126\n"
    ended = consentry("code", "--status-fd", "77", "ends.py")
    assert (ended.status, "no such descriptor is open" in ended.err) == (2, True)
