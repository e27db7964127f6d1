"""Binds the programs of a run to their files: which are copied and sealed, which may be started besides.

The same for a command line and for a tool. What its user could still change after it was hashed runs
from a copy; a program that is never granted is refused. The environment of a run is ours, and the
names that were asked for, with the values they have here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.confinement import Program, Step
from consentry.enforce.ownership import is_roots_alone
from consentry.enforce.programfiles import Started, look_at_program
from consentry.service.programsearch import (
    is_protected,
    is_system,
    prefix_of,
    prefixes_of,
    script_of,
    started_path,
)
from consentry.service.surroundings import Surroundings
from consentry.surface.protected import ProtectedRoots

FIXED_ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/home/user",
    "TMPDIR": "/tmp",  # noqa: S108 - the box's own
    "LANG": "C.UTF-8",
}

_TERMINAL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,31}", re.ASCII)


@dataclass(frozen=True, slots=True)
class FoundProgram:
    """A program that was found: its words, where, what the kernel opens for it, and its script."""

    words: tuple[str, ...]
    path: Path
    started: Started
    script: Path | None

    @property
    def named(self) -> tuple[Path, ...]:
        """The files that whoever named it meant: the program's own, and the script it is given."""
        return tuple(each for each in (self.started.program, self.script) if each is not None)

    @property
    def files(self) -> tuple[Path, ...]:
        """The program, its interpreters and its script: what it is known by."""
        return tuple(dict.fromkeys((self.started.program, *self.started.interpreters, *self.named)))


def found_at(path: Path, words: tuple[str, ...], folder: Path) -> FoundProgram:
    """What there is to know of the program at this path, started with these words in this folder."""
    return FoundProgram(words, path, look_at_program(path), script_of(words, path, folder))


def program_of(
    steps: Sequence[FoundProgram],
    needed: Sequence[FoundProgram],
    folder: Path,
    protected: ProtectedRoots,
    shown: Sequence[Path] = (),
) -> Program:
    """What is started in this folder, in order, and what may be started from there.

    In what is `shown` a name leads in the box where it leads outside; elsewhere only the files
    themselves are there, and a link that leads to one is not.
    """
    every = (*steps, *needed)
    scripts = [each.script for each in needed if each.script is not None]
    named = tuple(dict.fromkeys([*(each for step in steps for each in step.named), *scripts]))
    files = tuple(dict.fromkeys(each for found in every for each in found.started.files))
    copies = tuple(
        each
        for each in dict.fromkeys((*named, *files))
        if (each in named and not is_system(each) and prefix_of(each, protected) is None)
        # What somebody could still change after it was hashed is run from a copy as well.
        or not is_roots_alone(each)
    )
    for each in (*copies, *(file for step in steps for file in step.started.files)):
        if is_protected(each, protected) and not is_system(each):
            raise Refused(Code.PROTECTED_ROOT, f"`{each}` lies in a place that is never granted")
    prefixes = tuple(
        dict.fromkeys(
            prefix
            for found in every
            for prefix in prefixes_of(found.path, found.started, protected)
        )
    )
    first, *then = (_step(each, (*shown, *prefixes)) for each in steps)
    return Program(
        path=first.path,
        words=first.words,
        folder=folder,
        copies=copies,
        startable=tuple(each for each in files if each not in copies),
        prefixes=prefixes,
        then=tuple(then),
    )


def _step(found: FoundProgram, visible: Iterable[Path]) -> Step:
    starts = started_path(found.path, found.started, visible)
    # Programs look for themselves by the word they are called; inside, PATH is another.
    word = found.words[0]
    called = word if "/" in word or is_system(found.path) else str(starts)
    return Step(starts, (called, *found.words[1:]))


def require_words(words: Iterable[str]) -> None:
    """Raises unless every word can be an argument, and be recorded."""
    for word in words:
        if "\0" in word:
            raise UsageProblem(Code.USAGE, f"`{word}` has a NUL in it, which no argument can have")
        try:
            word.encode()
        except UnicodeEncodeError:
            raise UsageProblem(
                Code.USAGE,
                f"the argument `{word}` is not UTF-8, so it could not be recorded",
                help_line="name the file by a pattern or a link that is UTF-8",
            ) from None


def environment_of(names: Iterable[str], around: Surroundings) -> dict[str, str]:
    """Ours, and the names that were asked for with the values they have here."""
    terminal = around.environ.get("TERM", "")
    fixed = {**FIXED_ENVIRONMENT, "TERM": terminal if _TERMINAL.fullmatch(terminal) else "dumb"}
    wanted = frozenset(names)
    asked = {name: value for name, value in around.environ.items() if name in wanted}
    return {**asked, **fixed}
