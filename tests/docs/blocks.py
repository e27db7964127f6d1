"""Code blocks of the documentation: found, run for real, compared with what the page shows.

A `python` block is a session: its `>>>` lines are run by doctest, all blocks of a page in order
and in one namespace. A `python` block without `>>>` is run as it stands and must print nothing.

A `console` block shows commands behind `$ ` and what they print, both streams together. A command
is run when its first word, after settings such as `NO_COLOR=1`, is `consentry`, `python3`, or one that
puts files in place; others (`make`, `git`) are shown to the reader and not run. `...` stands for
anything, as in doctest. A block whose language is followed by a file name is that file, and lies in
the folder where the commands of the page are run.
"""

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consentry.base.errors import ConsentryError
from consentry.service.library import library_of_this_process

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
FOLDERS = ("tutorial", "how-to", "reference", "explanation")

_FLAGS = doctest.ELLIPSIS
_OPENING = re.compile(r"^(`{3,})([\w-]*)(?: ([\w-]+\.\w+)$|[^`]*$)")
_IS_RUN = re.compile(r"(?:[A-Z_]+=\S* )*(?:consentry|python3|install)(?: |$)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the line its text begins on, the text, and its file name."""

    language: str
    line: int
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a `console` block, the line it stands on, and what it should print."""

    command: str
    line: int
    expected: str


def pages() -> list[Path]:
    """Every page whose code is run."""
    return sorted(page for folder in FOLDERS for page in (DOCS / folder).glob("*.md"))


def page_name(page: Path) -> str:
    """The page relative to `docs/`, for the name of a test."""
    return page.relative_to(DOCS).as_posix()


def blocks_of(text: str, language: str) -> Iterator[Block]:
    """The fenced blocks of one language, in order."""
    return (block for block in _blocks(text) if block.language == language)


def files_of(text: str) -> Iterator[Block]:
    """The files that a page shows whole."""
    return (block for block in _blocks(text) if block.name)


def _blocks(text: str) -> Iterator[Block]:
    opening: re.Match[str] | None = None
    first, lines = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if opening is None:
            opening, first, lines = _OPENING.match(line), number + 1, []
        elif line.strip() == opening[1]:
            content = "".join(f"{each}\n" for each in lines)
            yield Block(opening[2], first, content, opening[3] or "")
            opening = None
        else:
            lines.append(line)


def failures_in_python(text: str, name: str) -> str:
    """Runs the `python` blocks of a page; what doctest has to say, or nothing when all is well."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    parser = doctest.DocTestParser()
    said: list[str] = []
    for block in blocks_of(text, "python"):
        if ">>>" not in block.text:
            said.append(_failure_of_script(block, name, namespace))
            continue
        test = parser.get_doctest(block.text, namespace, name, name, block.line - 1)
        runner = doctest.DocTestRunner(verbose=False, optionflags=_FLAGS)
        runner.run(test, out=said.append, clear_globs=False)
        namespace = test.globs
    # What a session opened of ours is no business of whatever this process does next.
    with contextlib.suppress(ConsentryError):  # a page removes the ledger that it made
        library_of_this_process().close()
    return "".join(said)


def _failure_of_script(block: Block, name: str, namespace: dict[str, Any]) -> str:
    printed = io.StringIO()
    padding = "\n" * (block.line - 1)
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(padding + block.text, name, "exec"), namespace)  # noqa: S102 - our pages
    except Exception as problem:  # noqa: BLE001 - whatever it raises is what the test reports
        return f"{name}, block at line {block.line}: {problem!r}\n"
    return f"{name}, block at line {block.line} prints unshown text\n" if printed.getvalue() else ""


def steps_of(block: Block) -> Iterator[Step]:
    """The commands of a `console` block that are run."""
    command, at, expected = "", 0, list[str]()
    for number, line in enumerate([*block.text.splitlines(), "$ "], block.line):
        if not line.startswith("$ "):
            expected.append(f"{line}\n")
            continue
        if _IS_RUN.match(command):
            yield Step(command, at, "".join(expected))
        command, at, expected = line.removeprefix("$ "), number, []


def failures_in_console(text: str, name: str, folder: Path) -> str:
    """Runs the commands of a page in an empty folder; every difference, or nothing."""
    checker = doctest.OutputChecker()
    said: list[str] = []
    for file in files_of(text):
        (_made(folder, "project") / file.name).write_text(file.text, encoding="utf-8")
    for block in blocks_of(text, "console"):
        for step in steps_of(block):
            printed = _printed(step.command, folder)
            if not checker.check_output(step.expected, printed, _FLAGS):
                example = doctest.Example(step.command, step.expected)
                difference = checker.output_difference(example, printed, _FLAGS)
                said.append(f"{name}, line {step.line}: $ {step.command}\n{difference}")
    return "".join(said)


def _made(folder: Path, name: str) -> Path:
    (folder / name).mkdir(exist_ok=True)
    return folder / name


def _printed(command: str, folder: Path) -> str:
    home = _made(folder, "home")
    done = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=_made(folder, "project"),
        env={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin",
            "HOME": str(home),
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "80",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode()
