"""Turns a line for the engine `deno` into the words that start it: `script.ts arg` into `deno run …`.

What is named is a script in a file, and nothing else: not a program, not an address, not a package.
Its words are made here, when the wish is bound, because a permit is for these very words.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.denoprogram import NOT_HERE, REMEDY, deno_of_wheel
from consentry.enforce.programs import DENO
from consentry.service.programsearch import (
    SCRIPT_ENDINGS,
    find_program,
    is_script,
    require_text,
)
from consentry.service.surroundings import Surroundings

ITS_OWN: Final = ("DENO_", "NODE_", "NPM_CONFIG_")
"""How variables begin that change Deno itself."""
_NAME_IT: Final = "name the script alone, as in `consentry exec --engine deno -- script.ts`"


@dataclass(frozen=True, slots=True)
class DenoScript:
    """A script, and the program that runs it."""

    deno: Path
    script: Path


def find_script(word: str, around: Surroundings, *, has_fallback: bool) -> DenoScript | None:
    """What the line names; None where Deno is missing and another engine may take the line."""
    if has_fallback and _deno(around) is None:
        return None
    return DenoScript(require_deno(around), _script(word, around))


def require_deno(around: Surroundings) -> Path:
    """The program; raises where it is missing."""
    deno = _deno(around)
    if deno is None:
        raise Refused(
            Code.NOT_ENFORCEABLE, f"the engine `deno` is not here: {NOT_HERE}", help_line=REMEDY
        )
    return deno


def require_script_alone(execute: Iterable[str], environment: Iterable[str]) -> None:
    """Raises where the line gives Deno programs, or variables that change Deno itself."""
    for name in execute:
        raise UsageProblem(
            Code.USAGE,
            f"`--exec {name}`: the engine `deno` starts no other program, whatever is granted",
            help_line="leave --exec out, or run the program by itself, with another engine",
        )
    for name in environment:
        if name.upper().startswith(ITS_OWN):
            raise UsageProblem(
                Code.USAGE,
                f"`--env {name}` changes Deno itself, and not only what its script can see",
                help_line="leave it out, or pass the value by a variable of another name",
            )


def _deno(around: Surroundings) -> Path | None:
    try:
        return find_program(DENO, around)
    except ConsentryError:
        return deno_of_wheel()


def _script(word: str, around: Surroundings) -> Path:
    """The file itself, links resolved: this name is in the box, and can be taken for nothing else."""
    path = Path(os.path.realpath((around.cwd or Path("/")) / require_text(word)))
    if not is_script(word):
        endings = ", ".join(SCRIPT_ENDINGS)
        raise UsageProblem(
            Code.USAGE,
            f"`{word}` is no script for the engine `deno`: its name ends in none of {endings}",
            help_line=_NAME_IT,
        )
    if not path.is_file():
        raise UsageProblem(Code.PROGRAM_UNKNOWN, f"there is no script `{word}`", help_line=_NAME_IT)
    return path
