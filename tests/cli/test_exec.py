"""`consentry exec` as a stranger uses it: the thief is stopped and told of, what is granted works."""

import hashlib
import json
import os
import pty
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, Ended, assert_error

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


@pytest.fixture(params=["as we are", "as an ordinary user"])
def line(request: pytest.FixtureRequest) -> CommandLine:
    """The command as whoever runs the tests, and as an ordinary user."""
    name = "consentry" if request.param == "as we are" else "as_nobody"
    found: CommandLine = request.getfixturevalue(name)
    return found


def _home_of(line: CommandLine) -> Path:
    return Path(line.environ["HOME"])


def _put(line: CommandLine, name: str, content: str, mode: int = 0o644) -> Path:
    """A file of the project or the home, as its owner has it."""
    path = line.cwd / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
    owner = line.cwd.stat()
    for each in (path, path.parent):
        os.chown(each, owner.st_uid, owner.st_gid)
    return path


def _record(line: CommandLine) -> dict[str, Any]:
    document = json.loads(line("why", "--json").out)
    found: dict[str, Any] = document["run"]
    return found


def _process(line: CommandLine, *words: str, **options: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*line.program, *words],
        cwd=line.cwd,
        env=line.environ,
        stdin=options.pop("stdin", subprocess.DEVNULL),
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        **line.options,
        **options,
    )


def test_thief_is_stopped_and_told_of(line: CommandLine) -> None:
    """The key, the network, the file and the program: refused, listed, with what would allow each."""
    key = _put(line, str(_home_of(line) / ".ssh/id_ed25519"), "the key")
    _put(line, "thief.py", THIEF)
    ended = line("exec", "--", "python3", "thief.py")
    assert ended.status == 0
    assert "the key" not in ended.out
    assert ended.out.count("failed") == 4
    first, *rows = ended.err.splitlines()
    assert first == "consentry: 4 things were stopped"
    planted = line.cwd / "planted"
    assert rows == [
        f"  read {key}: protected root {key.parent}/; nothing allows it",
        "  net 192.0.2.1:443: no network; nothing allows it",
        f"  write {planted}: not granted; allow it with --write {planted}",
        "  run /usr/bin/id: not among the programs that may start; allow it with --exec /usr/bin/id",
    ]
    assert not planted.exists()


ELSEWHERE = Path(__file__).parents[2] / "pyproject.toml"
"""A file outside every workspace of these tests, and outside `/tmp`, which is another inside."""


@pytest.mark.skipif(ELSEWHERE.is_relative_to("/tmp"), reason="inside, /tmp is the run's own")
def test_what_the_list_says_allows_it(line: CommandLine) -> None:
    """The very options that the list names make the same actions work."""
    _put(line, "job.sh", f"cat {ELSEWHERE} && /usr/bin/id -u > /dev/null && echo done")
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
    _put(line, "data.txt", "hello")
    ended = line("exec", "--", "cat", "data.txt")
    assert ended == Ended(0, "hello", "")


def test_caches_of_python_are_only_in_the_record(line: CommandLine) -> None:
    """Every import tries to write one; telling of each would bury what matters."""
    _put(line, "helper.py", "value = 1\n")
    _put(line, "main.py", "import helper\nprint(helper.value)\n")
    assert line("exec", "--", "python3", "main.py") == Ended(0, "1\n", "")
    resources = [each["resource"] for each in _record(line)["sandbox"]["violations"]]
    assert any("__pycache__" in resource for resource in resources)


def test_home_and_tmp_are_the_runs_own(line: CommandLine) -> None:
    """Writable, empty, and gone afterwards."""
    script = "echo x > ~/mark && echo x > /tmp/mark-of-exec && test -f ~/mark && echo ok"
    assert line("exec", "--", "sh", "-c", script) == Ended(0, "ok\n", "")
    assert not (_home_of(line) / "mark").exists()
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
    assert _record(line)["sandbox"]["environment"] == sorted(names)


def test_script_starts_with_its_own_interpreter(line: CommandLine) -> None:
    """The interpreter of the first line may start, and nothing else besides."""
    _put(line, "tool", "#!/bin/sh\necho from $0\nls\n", 0o755)
    ended = line("exec", "--", "./tool")
    assert ended.out == f"from {line.cwd / 'tool'}\n"
    assert "run /usr/bin/ls" in ended.err


def test_input_is_passed(line: CommandLine) -> None:
    """Through a pipe, to its end."""
    with _process(line, "exec", "--", "cat", stdin=subprocess.PIPE) as process:
        out, err = process.communicate(b"line\n" * 1000)
    assert (process.returncode, out, err) == (0, b"line\n" * 1000, b"")


def test_large_output_is_whole(line: CommandLine) -> None:
    """Twenty megabytes arrive as they were printed."""
    script = "import sys\nfor _ in range(20): sys.stdout.write('0123456789abcde\\n' * 65536)"
    with _process(line, "exec", "--", "python3", "-c", script) as process:
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


def _nothing(_: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("prepare", "words", "code"),
    [
        (_nothing, ["--set", "superuser", "--", "true"], Code.PERMISSION_SET),
        (_nothing, ["--set", "trusted", "--", "true"], Code.NOT_ENFORCEABLE),
        (_nothing, ["--set", "network-api", "--", "true"], Code.NOT_ENFORCEABLE),
        (_nothing, ["--net", "any", "--", "true"], Code.NOT_ENFORCEABLE),
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
    """One clear error with its code; nothing was recorded, so nothing can have run."""
    prepare(consentry.cwd)
    assert_error(consentry("exec", *words), code)
    assert_error(consentry("why"), Code.RUN_UNKNOWN)


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
    database = _home_of(line) / ".local/state/consentry/ledger.db"
    database.write_bytes(b"this is no database any more" * 100)
    ended = line("exec", "--", "sh", "-c", "echo ran")
    assert ended.status == 5
    assert ended.out == ""
    assert "error[ledger-corrupt]" in ended.err


def test_what_was_written_reaches_the_files_at_the_end(line: CommandLine) -> None:
    """New, changed and deleted, whatever the exit status; owned by whoever owns the folder."""
    _put(line, "out/old", "old")
    _put(line, "out/gone", "gone")
    script = "echo new > out/new; echo changed > out/old; rm out/gone; exit 4"
    ended = line("exec", "--write", "out", "--exec", "rm", "--", "sh", "-c", script)
    assert (ended.status, ended.err) == (4, "")
    out = line.cwd / "out"
    assert sorted(each.name for each in out.iterdir()) == ["new", "old"]
    assert (out / "old").read_text() == "changed\n"
    assert (out / "new").stat().st_uid == out.stat().st_uid
    impact = _record(line)["impact"]
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


@pytest.mark.parametrize("keeps", [False, True])
def test_partial_work_is_dropped_unless_wanted(consentry: CommandLine, *, keeps: bool) -> None:
    """A time limit leaves the files as they were; with `--keep-partial` what was done is kept."""
    options = ["--timeout", "500ms", "--write", ".", "--exec", "sleep"]
    options += ["--keep-partial"] if keeps else []
    ended = consentry("exec", *options, "--", "sh", "-c", "echo half > half; sleep 30")
    assert ended.status == 124
    assert (consentry.cwd / "half").exists() is keeps
    record = _record(consentry)
    assert (record["execution"]["status"], record["impact"]["committed"]) == ("timeout", keeps)
    assert [each["path"] for each in record["impact"]["filesWritten"]] == ["half"]


def test_planted_hook_never_arrives(line: CommandLine) -> None:
    """A wide grant does not open what other programs obey; naming it does."""
    script = "mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit && echo fine > code"
    ended = line("exec", "--write", ".", "--exec", "mkdir", "--", "sh", "-c", script)
    assert ended.status == 0
    assert (line.cwd / "code").read_text() == "fine\n"
    assert not (line.cwd / ".git/hooks").exists()
    assert "allow it with --write .git/hooks/pre-commit" in ended.err
    (line.cwd / ".git/hooks").mkdir()
    owner = line.cwd.stat()
    os.chown(line.cwd / ".git/hooks", owner.st_uid, owner.st_gid)
    words = ["--write", ".", "--write", ".git/hooks/pre-commit", "--exec", "mkdir"]
    assert line("exec", *words, "--", "sh", "-c", script).status == 0
    assert (line.cwd / ".git/hooks/pre-commit").read_text() == "evil\n"


def test_conflict_is_a_refusal(line: CommandLine) -> None:
    """What somebody else changed meanwhile stays; nothing of the run is taken over."""
    _put(line, "shared", "before")
    script = "echo mine > shared; echo more > extra; echo ready; read answer"
    words = ["exec", "--write", ".", "--", "sh", "-c", script]
    with _process(line, *words, stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        _put(line, "shared", "theirs")
        _, err = process.communicate(b"go\n")
    assert process.returncode == 126
    assert b"nothing was taken over: somebody else changed the same files" in err
    assert (line.cwd / "shared").read_text() == "theirs"
    assert not (line.cwd / "extra").exists()
    assert _record(line)["execution"]["status"] == "discarded"


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
    run = _record(consentry)["id"]
    assert rows[-1] == f"  … and 3 more: consentry why {run}"


def test_hostile_names_are_shown_safely(consentry: CommandLine) -> None:
    """A name with an escape sequence cannot paint on the terminal, nor begin a line of ours."""
    name = "evil\\x1b[31m\\nconsentry: all is well"
    script = f"try: open('{name}', 'w')\nexcept OSError: pass"
    ended = consentry("exec", "--", "python3", "-c", script)
    listed = ended.err.partition("consentry: 1 thing was stopped\n")[2]
    assert "\x1b" not in listed
    assert listed.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_program(line: CommandLine, number: signal.Signals) -> None:
    """It decides itself what to make of them, and its own status is ours."""
    script = (
        "import signal, sys, time\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(9))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    with _process(line, "exec", "--", "python3", "-c", script) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(30) == 9


def test_killed_command_leaves_nothing_behind(line: CommandLine) -> None:
    """Even by the signal that cannot be caught: the program is gone with it."""
    mark = f"sleep-{os.getpid()}-{time.time_ns()}"
    script = f"import time  # {mark}\nprint('ready', flush=True)\ntime.sleep(600)"
    with _process(line, "exec", "--", "python3", "-c", script) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert _processes_with(mark)
        process.kill()
        process.wait(30)
    deadline = time.monotonic() + 30
    while [each for each in _processes_with(mark) if each != process.pid]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _processes_with(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(entry.name))
    return found


def test_shell_on_a_terminal(consentry: CommandLine) -> None:
    """An interactive shell: it has a terminal, keys reach it, and the size is the window's."""
    pid, ours = pty.fork()
    if pid == 0:
        os.chdir(consentry.cwd)
        environ = {**consentry.environ, "TERM": "xterm", "PS1": "$ "}
        words = [*consentry.program, "exec", "--exec", "any", "--", "bash", "--norc"]
        os.execve(sys.executable, words, environ)  # noqa: S606 - no shell is wanted
    try:
        _type_and_see(ours, b"", b"$ ")
        _type_and_see(ours, b"test -t 0 && echo ter''minal\n", b"terminal")
        _type_and_see(ours, b"echo $((40 + 2))\n", b"42")
        os.write(ours, b"exit 6\n")
        _drain(ours)
    finally:
        _, status = os.waitpid(pid, 0)
        os.close(ours)
    assert os.waitstatus_to_exitcode(status) == 6


def _type_and_see(terminal: int, keys: bytes, wanted: bytes) -> None:
    os.write(terminal, keys)
    seen = b""
    while wanted not in seen:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, seen
        seen += os.read(terminal, 4096)


def _drain(terminal: int) -> None:
    while True:
        try:
            if not os.read(terminal, 4096):
                return
        except OSError:
            return


CONSENT_PROFILES = """
sandboxConfig:
  engine: "auto"
  fallbackEngine: "docker"
  profiles:
    latex-build:
      capabilities:
        - cap_setuid: false
        - cap_net_admin: false
        - cap_sys_admin: false
      filesystem:
        readOnly:
          - /usr/share/texlive
          - /usr/share/fonts
        readWrite:
          - ${WORKSPACE}/latex
          - ${WORKSPACE}/output-final
        noAccess:
          - /home/*/.ssh
          - /home/*/.aws
          - /etc/passwd
      network:
        enabled: false
      resources:
        maxCPU: 60
        maxMemory: 512M
        maxProcesses: 50
        maxFileSize: 100M
    lint-only:
      capabilities: []
      filesystem:
        readOnly:
          - ${WORKSPACE}/latex
        readWrite: []
        noAccess: ["*"]
      network:
        enabled: false
    with-network:
      network: {enabled: true}
"""


@pytest.fixture
def with_profiles(line: CommandLine) -> CommandLine:
    """The profiles of CONSENT in the user's own configuration, and a document to build."""
    _put(line, str(_home_of(line) / ".config/consentry/sandbox-config.yaml"), CONSENT_PROFILES)
    owner = line.cwd.stat()
    os.chown(_home_of(line) / ".config", owner.st_uid, owner.st_gid)
    _put(line, "latex/main.tex", "text")
    _put(line, "secret.txt", "not for builds")
    return line


def test_build_profile_of_consent(with_profiles: CommandLine) -> None:
    """It writes what it lists, made where it is missing, and sees nothing else of the workspace."""
    script = "cat latex/main.tex > output-final/main.pdf; echo aux > latex/main.aux; cat secret.txt"
    words = ["--profile", "latex-build", "--exec", "cat", "--", "sh", "-c", script]
    ended = with_profiles("exec", *words)
    assert (with_profiles.cwd / "output-final/main.pdf").read_text() == "text"
    assert (with_profiles.cwd / "latex/main.aux").read_text() == "aux\n"
    assert ended.status == 1
    assert "read " + str(with_profiles.cwd / "secret.txt") in ended.err
    assert _record(with_profiles)["sandbox"]["profile"] == "profile:latex-build"


def test_lint_profile_of_consent(with_profiles: CommandLine) -> None:
    """It reads, and writes nothing."""
    script = "cat latex/main.tex; echo x > latex/main.tex"
    words = ["--profile", "lint-only", "--exec", "cat", "--", "sh", "-c", script]
    ended = with_profiles("exec", *words)
    assert ended.out == "text"
    assert ended.status != 0
    assert (with_profiles.cwd / "latex/main.tex").read_text() == "text"


def test_profile_with_network_is_refused(with_profiles: CommandLine) -> None:
    """It is never given the host's network instead."""
    ended = with_profiles("exec", "--profile", "with-network", "--", "true")
    assert_error(ended, Code.NOT_ENFORCEABLE)


def test_denied_place_inside_a_granted_one_stays_closed(line: CommandLine) -> None:
    """Neither what is there nor what is new; the rest of the folder can be written."""
    _put(line, "latex/.git/hooks/keep", "kept")
    for folder in ("latex", "latex/.git"):
        os.chown(line.cwd / folder, line.cwd.stat().st_uid, line.cwd.stat().st_gid)
    _put(
        line,
        "box.yaml",
        "sandboxConfig: {profiles: {one: {filesystem: {readWrite: ['${WORKSPACE}/latex'],"
        " noAccess: ['${WORKSPACE}/latex/.git/hooks', '${WORKSPACE}/latex/later']}}}}",
    )
    script = (
        "cat latex/.git/hooks/keep; echo evil > latex/.git/hooks/new;"
        " echo evil > latex/later; echo fine > latex/fine"
    )
    ended = line("exec", "--profile", "box.yaml", "--exec", "cat", "--", "sh", "-c", script)
    assert ended.out == ""
    assert (line.cwd / "latex/fine").read_text() == "fine\n"
    assert [each.name for each in (line.cwd / "latex/.git/hooks").iterdir()] == ["keep"]
    assert not (line.cwd / "latex/later").exists()
    resources = [each["resource"] for each in _record(line)["sandbox"]["violations"]]
    hooks = str(line.cwd / "latex/.git/hooks")
    assert {f"{hooks}/keep", f"{hooks}/new", str(line.cwd / "latex/later")} <= set(resources)


def test_run_that_cannot_be_recorded_says_that_it_happened(line: CommandLine) -> None:
    """The ledger breaks while the program runs: status 5, and the message does not hide the run."""
    assert line("exec", "--", "true").status == 0
    database = _home_of(line) / ".local/state/consentry/ledger.db"
    words = ["exec", "--", "sh", "-c", "echo ready; read answer; echo done"]
    with _process(line, *words, stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with closing(sqlite3.connect(database)) as other:
            other.execute("ALTER TABLE ledger_event RENAME TO gone")
        out, err = process.communicate(b"go\n")
    assert (process.returncode, out) == (5, b"done\n")
    assert b"error[run-unrecorded]: `sh` was run (success)" in err
