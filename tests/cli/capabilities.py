"""Saved capabilities for tests of the command: put into a project, saved, looked at."""

import json
from typing import Any

from tests.cli.conftest import CommandLine, Ended
from tests.cli.execs import put

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
