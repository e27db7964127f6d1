"""A hostile tool under `consentry run`: what it writes, leaves running, draws and types.

It was approved, and uses that: it plants configuration, leaves processes behind, and prepares the
terminal for the second question. Beside each attack stands the same action where it is allowed.
"""

import json
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import (
    config_of,
    entries_of,
    requests_of,
    write,
    write_consent,
    write_tool,
)

TMUX = shutil.which("tmux")
TALL = (100, 60)
EVERYTHING = [{"pattern": "**", "purpose": "whatever it likes"}]
PLANTS = """\
import os, pathlib, sys
places = {places!r}
for place in places:
    try:
        path = pathlib.Path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('planted')
    except OSError as problem:
        print('refused', problem.errno)
print('done')
"""


def test_no_configuration_and_no_state_is_written_by_a_tool(line: CommandLine) -> None:
    """A tool that may write everything in the workspace makes itself no rules, there or at home."""
    state = Path(line.environ["HOME"], ".local/state/consentry")
    inside = [".consentry/policy.yaml", ".paper/_cfg/consent-config.yaml", ".git/hooks/pre-commit"]
    outside = [config_of(line) / "policy.yaml", state / "ledger.db", state / "running/x.json"]
    places = [*inside, *map(str, outside), "kept.txt"]
    write_tool(
        line, "plant", PLANTS.format(places=places), fileRead=EVERYTHING, fileWrite=EVERYTHING
    )
    write_consent(line, {"none": {"allowedTools": ["plant"]}})
    ended = line("run", "plant")
    assert ended.out.endswith("done\n"), ended.err
    assert (line.cwd / "kept.txt").read_text() == "planted"
    for place in inside:
        assert not (line.cwd / place).exists(), place
    assert not outside[0].exists()
    assert outside[1].read_bytes()[:6] == b"SQLite"
    assert not outside[2].exists()
    assert line("audit", "verify").status == 0
    [entry] = entries_of(line)
    denied = json.dumps(entry["sandbox"]["violations"])
    for place in inside:
        assert place in denied, denied


def test_a_tool_does_not_rewrite_its_own_script(consentry: CommandLine) -> None:
    """It runs from the bytes that were agreed to; also where it may write there, they stay."""
    code = (
        "import pathlib\n"
        "for name in ('grow.py', 'other.py'):\n"
        "    try:\n"
        "        pathlib.Path(name).write_text('print(2)')\n"
        "    except OSError as problem:\n"
        "        print(name, problem.errno)\n"
    )
    scripts = [{"pattern": "*.py", "purpose": "scripts"}]
    write_tool(consentry, "grow", code, fileRead=scripts, fileWrite=scripts)
    write_consent(consentry, {"none": {"allowedTools": ["grow"]}})
    assert consentry("run", "grow").out == "grow.py 30\n"
    assert (consentry.cwd / "grow.py").read_text() == code
    assert (consentry.cwd / "other.py").read_text() == "print(2)"


def test_nothing_of_a_tool_outlives_its_run(line: CommandLine) -> None:
    """A child in a session of its own ends with the box, and writes nothing afterwards."""
    mark = f"left-behind-{os.getpid()}-{time.monotonic_ns()}"
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        f"        os.execv('/usr/bin/python3', ['python3', '-c', 'import time; time.sleep(60)', '{mark}'])\n"
        "    os._exit(0)\n"
        "print('gone', flush=True)\n"
    )
    write_tool(line, "leave", code)
    write_consent(line, {"none": {"allowedTools": ["leave"]}})
    assert line("run", "leave").out == "gone\n"
    assert _processes(mark) == []


def _processes(mark: str) -> list[str]:
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes()
        except OSError:
            continue
        if mark.encode() in words.split(b"\0"):
            found.append(each.parent.name)
    return found


def test_a_manifest_whose_link_leads_elsewhere_by_now_starts_nothing(
    consentry: CommandLine,
) -> None:
    """A linked manifest counts by what it says; led elsewhere while the question is open, it is another."""
    manifest = write_tool(consentry, "greet")
    first, second = (consentry.cwd.parent / f"aside/{name}" for name in ("first", "second"))
    write(consentry, first, manifest.read_text())
    write(consentry, second, manifest.read_text().replace("A tool", "Another tool"))
    manifest.unlink()
    manifest.symlink_to(first)
    with at_terminal(consentry, "run", "greet", size=TALL) as terminal:
        terminal.see("\n> ")
        manifest.unlink()
        manifest.symlink_to(second)
        terminal.type("a\n")
        assert terminal.ended() == 126, terminal.screen
    assert "hello from" not in terminal.screen
    manifest.unlink()
    manifest.symlink_to(first)
    with at_terminal(consentry, "run", "greet", size=TALL) as terminal:
        terminal.answer("greet", "a")
        assert terminal.ended() == 0, terminal.screen


def test_a_script_behind_a_link_is_refused_before_anybody_is_asked(consentry: CommandLine) -> None:
    """A pattern that leads through a link is an error that names where it leads."""
    write_tool(consentry, "greet")
    script = consentry.cwd / "greet.py"
    script.rename(consentry.cwd / "real.py")
    script.symlink_to("real.py")
    ended = consentry("run", "--no-wait", "greet")
    assert (ended.status, requests_of(consentry)) == (2, [])
    assert "leads through a link" in " ".join(ended.err.split())


LEAVES = {
    "an escape that never ends": "\x1b]0;",
    "a string that never ends": "\x1bPq",
    "two lines that scroll": "\x1b[1;2r\x1b[2;1H",
    "the other screen": "\x1b[?1049h\x1b[2J",
    "hidden letters": "\x1b[8m",
    "letters as lines": "\x1b(0",
}
LEAVING = """\
import pathlib, sys
pathlib.Path('made.txt').write_text('made')
print('consentry: committed\\nnothing else to do', flush=True)
sys.stdout.write({left!r})
sys.stdout.flush()
"""


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """A real terminal emulator with one command in it."""
    if TMUX is None:
        pytest.skip("tmux is not installed: no terminal to look at")
    base = [TMUX, "-u", "-S", str(tmp_path / "socket"), "-f", os.devnull]

    def tmux(*words: str) -> str:
        environ = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        command = [*base, *words]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environ)
        return done.stdout

    yield tmux
    subprocess.run([*base, "kill-server"], check=False, capture_output=True)


@pytest.mark.parametrize("kind", ["xterm-256color", "dumb"])
@pytest.mark.parametrize("left", LEAVES)
def test_the_second_question_is_seen_whatever_the_tool_left_on_the_terminal(
    consentry: CommandLine, screen: Callable[..., str], left: str, kind: str
) -> None:
    """Approve the effect: the terminal is put in order before it is shown.

    Where a terminal is said to know no escapes none are sent, and the attack works: the control.
    """
    made = [{"pattern": "made.txt", "purpose": "what it makes"}]
    write_tool(
        consentry, "make", LEAVING.format(left=LEAVES[left]), fileWrite=made, riskLevel="high"
    )
    words = shlex.join([*consentry.program, "run", "make"])
    environ = shlex.join(f"{key}={value}" for key, value in consentry.environ.items())
    command = f"cd {consentry.cwd} && exec env -i {environ} TERM={kind} {words}"
    screen("new-session", "-d", "-s", "it", "-x", "100", "-y", "50", command)
    for question, answer in (("a approve", "a"), ("why?", "needed"), ("type make", "make")):
        _seen(screen, lambda shown, question=question: question in shown.replace("\n", " "))
        _seen(screen, lambda shown: shown.rstrip().endswith(">"))
        screen("send-keys", "-t", "it", answer, "Enter")
        time.sleep(0.3)

    def is_whole(shown: str) -> bool:
        rows = [row for row in shown.split("\n") if "commit exactly this?" in row]
        return bool(rows) and "\x1b[8m" not in shown and "\x0e" not in shown and "made.txt" in shown

    if kind == "dumb":
        _waits(consentry)
        time.sleep(0.5)
        is_seen = is_whole(screen("capture-pane", "-e", "-p", "-t", "it"))
        assert not is_seen or left == "the other screen"
        return
    shown = _seen(screen, is_whole, "-e")
    assert "\x1b[8m" not in shown
    screen("send-keys", "-t", "it", "d", "Enter")
    deadline = time.monotonic() + 60
    while not _settled(consentry):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert not (consentry.cwd / "made.txt").exists()


def _seen(screen: Callable[..., str], wanted: Callable[[str], bool], *how: str) -> str:
    deadline = time.monotonic() + 60
    while not wanted(shown := screen("capture-pane", *how, "-p", "-t", "it")):
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)
    return shown


def _waits(line: CommandLine) -> None:
    deadline = time.monotonic() + 60
    while len(requests_of(line)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def _settled(line: CommandLine) -> bool:
    return "discarded" in line("audit", "export").out


def test_a_terminal_of_ones_own_making_is_the_same_users_limit_and_a_passphrase_stops_it(
    consentry: CommandLine,
) -> None:
    """SECURITY.md names it first: who runs as the same user can make a terminal and type there."""
    script = shutil.which("script")
    if script is None:
        pytest.skip("util-linux's script is not installed")
    write_tool(consentry, "greet")
    consentry("run", "--no-wait", "greet")
    request = requests_of(consentry)[-1]["requestId"]
    approve = shlex.join([*consentry.program, "approve"])
    # It types when the question is there to be read, and leaves a moment later.
    typing = "until grep -qs '^> ' seen || [ -e over ]; do sleep 0.05; done; echo a; sleep 1"
    asking = f"setsid script -qfec '{approve} {{}}' seen; ended=$?; touch over; exit $ended"
    piped = f"rm -f seen over; ({typing}) | ({asking})"
    settings = config_of(consentry) / "settings.yaml"
    write(consentry, settings, {"approvals": {"passphrase": True}})
    assert consentry.in_shell(piped.format(request)).status != 0
    assert consentry("run", "--request", request).status == 126
    settings.unlink()
    consentry("run", "--no-wait", "greet")
    request = requests_of(consentry)[-1]["requestId"]
    assert consentry.in_shell(piped.format(request)).status == 0
    assert consentry("run", "--request", request).status == 0


@pytest.mark.parametrize("led", ["> said.txt", "2>&1 | cat", "</dev/null > said.txt", ""])
def test_the_settings_of_the_terminal_are_as_they_were(line: CommandLine, led: str) -> None:
    """A program that turns off lines and echo, on its own terminal or on ours, leaves both on."""
    code = (
        "import sys, tty\n"
        "for each in (0, 2):\n"
        "    try:\n"
        "        tty.setraw(each)\n"
        "        print('raw', each, file=sys.stderr, flush=True)\n"
        "    except Exception:\n"
        "        pass\n"
    )
    write_tool(line, "raw", code)
    write_consent(line, {"none": {"allowedTools": ["raw"]}})
    script = f"{shlex.join(line.program)} run raw {led}; stty -a | tr ' ' '\\n' | grep -x -e '.*icanon' -e '.*echo'"
    with at_terminal(line, "-c", script, program=["/bin/bash"]) as terminal:
        assert terminal.ended() == 0, terminal.screen
    assert "raw " in terminal.screen
    words = terminal.screen.split()
    assert {"icanon", "echo"} <= set(words), terminal.screen


def test_a_yes_to_a_question_that_the_tool_drew_is_no_yes_to_ours(consentry: CommandLine) -> None:
    """What is typed while the tool runs is the tool's, and what is left of it is thrown away."""
    code = (
        "import pathlib, time\n"
        "pathlib.Path('made.txt').write_text('made')\n"
        "print('commit exactly this?\\na approve - d deny\\n> ', end='', flush=True)\n"
        "time.sleep(1)\n"
    )
    made = [{"pattern": "made.txt", "purpose": "what it makes"}]
    write_tool(consentry, "make", code, fileWrite=made, riskLevel="high")
    with at_terminal(consentry, "run", "make", size=TALL) as terminal:
        terminal.answer("make", "a")
        terminal.answer("why?", "it is needed")
        terminal.answer("type make", "make")
        terminal.answer("commit exactly this?", "a\na\na")
        terminal.see("commit exactly this?")
        terminal.see("\n> ")
        time.sleep(1)
        assert terminal.process.poll() is None
        assert not (consentry.cwd / "made.txt").exists()
        terminal.type("d\n")
        assert terminal.ended() == 126, terminal.screen
    assert not (consentry.cwd / "made.txt").exists()
