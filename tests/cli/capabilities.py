"""Saved capabilities for tests of the command: put into a project, saved, looked at."""

import json
from typing import TYPE_CHECKING, Any

from tests.cli.conftest import CommandLine, Ended
from tests.cli.escalating import inbox
from tests.cli.execs import put, started
from tests.cli.terminals import at_terminal

if TYPE_CHECKING:
    import subprocess

TALL = (120, 80)
READER = "result = open(name).read()\n"
COUNT = "result = len(text.split())\n"
FETCH = (
    'import urllib.request\nresult = urllib.request.urlopen("https://api.example.org/").read()\n'
)


def saved(line: CommandLine, name: str, code: str, *words: str, ending: str = "py") -> Ended:
    """Saves that code under the name, as a file beside the project's others."""
    put(line, f"{name}.{ending}", code)
    done = line("capability", "save", name, f"{name}.{ending}", *words)
    assert done.status == 0, done.err
    return done


def shown(line: CommandLine, name: str, *words: str) -> dict[str, Any]:
    """The capability as `show --json` tells it."""
    document = json.loads(line("capability", "show", name, "--json", *words).out)
    assert document["kind"] == "capability"
    found: dict[str, Any] = document["capability"]
    return found


def decisions(line: CommandLine, *words: str) -> list[dict[str, Any]]:
    """The log, the newest first."""
    document = json.loads(line("escalations", "--json", *words).out)
    found: list[dict[str, Any]] = document["decisions"]
    return found


def without_terminal(line: CommandLine) -> CommandLine:
    """The same command where nobody can be asked, whatever terminal the tests were started at."""
    return CommandLine(
        line.cwd, line.environ, {**line.options, "start_new_session": True}, line.program
    )


def with_reader(line: CommandLine) -> CommandLine:
    """A project with `./data/x`, and a capability that reads what it is told to, in `minimal`."""
    put(line, "data/x", "hello\n")
    put(line, "y", "top\n")
    saved(line, "reader", READER)
    assert line("capability", "set", "reader", "minimal").status == 0
    return line


def run(line: CommandLine, name: str, *words: str) -> Ended:
    """Runs it where nobody can be asked."""
    return without_terminal(line)("capability", "run", name, *words)


def answered(line: CommandLine, request_id: str, word: str) -> None:
    """Answers a question from a terminal of its own."""
    with at_terminal(line, "approve", request_id, size=TALL) as terminal:
        terminal.answer("a approve", word)
        terminal.ended()


def parked(line: CommandLine, name: str, *words: str) -> tuple[str, str]:
    """Runs it until its question waits; the ids of the request and of the execution."""
    document = json.loads(run(line, name, "--no-wait", "--json", *words).out)
    assert document["exit_status"] == 75
    (escalation,) = document["escalations"]
    return escalation["requestId"], document["execution"]


def waiting(line: CommandLine, *words: str) -> "subprocess.Popen[bytes]":
    """The run, started where nobody can be asked, when its question is there."""
    process = started(without_terminal(line), "capability", "run", *words)
    while not inbox(line):
        assert process.poll() is None, process.communicate()
    return process
