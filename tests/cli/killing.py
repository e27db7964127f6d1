"""How a command is started that kills itself at one of its steps (`tests.cli.killedcommand`)."""

import os
from pathlib import Path

from tests.cli.conftest import CommandLine

REPOSITORY = Path(__file__).parents[2]


def killing_at(line: CommandLine, step: str) -> tuple[list[str], dict[str, str]]:
    """The command that is killed at a step, and what it needs in its environment."""
    words = line.program[: line.program.index("-m")]
    modules = os.pathsep.join(filter(None, (str(REPOSITORY), line.environ.get("PYTHONPATH"))))
    return [*words, "-m", "tests.cli.killedcommand", step], {"PYTHONPATH": modules}
