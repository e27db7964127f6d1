"""The script that becomes the program in a box whose engine starts one command with few means of its own.

It says through a pipe that the box stands, so that an engine's own failure is never taken for the
program's, and starts the program in a session and with an environment of its own. Nobody sees it in a
list of processes: it is a file in memory.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.confinement import Program
from consentry.enforce.engine import Control, Lacking
from consentry.enforce.process import GivenFiles, children_of

SHELL: Final = "/bin/sh"


class Stays(StrEnum):
    """What becomes of the shell when the program starts."""

    NOT = "exec {line}"
    """It is the program."""

    ABOVE = "exec 3>&2 2>/dev/null; {line} 2>&3 3>&-; exit $?"
    """It is the first process of the box, which no signal from inside ends: it waits and buries.

    What it would print of a program that a signal ended is not the program's, and goes nowhere.
    """


@dataclass(frozen=True, slots=True)
class BoxScript:
    """The words that start it, the descriptors that have to stay open for it, and its signs."""

    words: tuple[str, ...]
    kept: tuple[int, int]
    signs: "ScriptSigns"

    @classmethod
    def given(
        cls,
        program: Program,
        environment: Mapping[str, str],
        files: GivenFiles,
        shell: Stays,
        *,
        has_terminal: bool,
    ) -> "BoxScript":
        """As one of the files of a command."""
        told, tells = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        started = files.given(tells)
        words = (
            "/usr/bin/setsid",
            *(("--ctty",) if has_terminal else ()),
            "/usr/bin/env",
            "-i",
            *(f"{name}={value}" for name, value in environment.items()),
            str(program.path),
            *program.words[1:],
        )
        line = shell.format(line=" ".join(map(shlex.quote, words)))
        script = started + 1
        text = f"exec {script}<&-; echo >&{started}; exec {started}>&-; {line}\n"
        number = files.of(os.fsencode(text))
        return cls((SHELL, f"/proc/self/fd/{number}"), (started, number), ScriptSigns(told))


def misread(program: Path) -> Iterator[Lacking]:
    """A program whose path would be taken for a variable, and its first argument for the program."""
    if "=" in str(program):
        why = f"`{program}` has a `=` in it, and would be taken for a variable"
        yield Lacking(Control.ENVIRONMENT, why, "use the engine `native`, or rename it")


class ScriptSigns:
    """Finds the box by its processes, and hears the script that runs in it."""

    def __init__(self, told: int) -> None:
        self._told = told
        self._has_begun = False

    def first_process(self, command: int) -> int | None:
        """The child of the command that is the first of a pid namespace."""
        return next((child for child in children_of(command) if _is_first(child)), None)

    def group_leader(self, command: int) -> int | None:
        """The program, in a session of its own; a shell may stand above it."""
        first = self.first_process(command)
        below = () if first is None else children_of(first)
        for program in (*below, *(each for shell in below for each in children_of(shell))):
            with suppress(ProcessLookupError):
                if os.getsid(program) == program:
                    return program
        return None

    def problem(self, status: int) -> tuple[str, int, str] | None:
        """Of a box in which the script never ran."""
        with suppress(BlockingIOError):
            self._has_begun = self._has_begun or bool(os.read(self._told, 1))
        return None if self._has_begun or status < 0 else ("failed", 0, "script")

    def close(self) -> None:
        """Lets go of the pipe."""
        os.close(self._told)


def _is_first(pid: int) -> bool:
    try:
        told = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    numbers = next((line for line in told.splitlines() if line.startswith("NSpid:")), "").split()
    return numbers[-1:] == ["1"]
