"""Reads denials from text: a JavaScript runtime's, of today and before, our own, and Python's.

    denials_in          what a JavaScript runtime refused
    python_denials_in   what Python's own errors name
    own_denial          the one line that our typed denial is written as, read back without loss

Text is a program's own word, and anybody can print it: what is read here is reported, never shown,
and nothing may be opened because of it alone. The wordings are data beside this file. Reading takes
time in proportion to the text and to the denials in it: whoever reads a stranger's text takes only
so many of them.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from consentry.base.values import dataclass
from consentry.surface.operations import Operation

MOST_RESOURCE: Final = 4096
"""So much of a resource is kept."""

_TABLE: Final = "denialtext.toml"
_ESCAPE: Final = "\x1b"
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
_MOST_LINE: Final = MOST_RESOURCE + 100
_OPERATIONS: Final = {each.value: each for each in Operation}
_PYTHON_ESCAPE: Final = re.compile(
    r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[\\'\"nrt])", re.ASCII
)
_PLAIN_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class DeniedText:
    """One denial as the text has it; without a resource, all of its kind was asked for.

    Where the text does not say whether something was read or written, `operation` is `read`, the
    lesser of the two, and `is_said` is false.
    """

    operation: Operation
    resource: str | None
    is_said: bool = True


@dataclass(frozen=True, slots=True)
class _Wordings:
    anchor: re.Pattern[str]
    own: re.Pattern[str]
    today: dict[Operation, tuple[re.Pattern[str], ...]]
    given: dict[Operation, re.Pattern[str]]
    python: re.Pattern[str]
    python_operations: dict[str, Operation]


def denials_in(text: str) -> Iterator[DeniedText]:
    """Every denial that a runtime's text speaks of, in order, with repeats; colours do not matter."""
    plain = _COLOURS.sub("", text) if _ESCAPE in text else text
    wordings = _wordings()
    anchors = wordings.anchor.finditer(plain)
    found = next(anchors, None)
    while found is not None:
        following = next(anchors, None)
        ends = len(plain) if following is None else following.start()
        operation = _OPERATIONS.get(found["operation"])
        if operation is not None:
            span = (found.start(), ends)
            yield DeniedText(operation, _resource(plain, span, operation, wordings))
        found = following


def python_denials_in(text: str) -> Iterator[DeniedText]:
    """Every denial in the words of Python's `OSError`, in order, with repeats.

    One without a path is left out: it may be a file's, a connection's or a process's. With two paths
    it is about a name that was to be moved or linked, and both are written.
    """
    wordings = _wordings()
    for found in wordings.python.finditer(text):
        first, second = found["first"], found["second"]
        said = wordings.python_operations.get(found["number"])
        if second is not None:
            said = Operation.WRITE
        for literal in (first, second):
            if literal is not None:
                path = _unquoted(literal)[:MOST_RESOURCE]
                yield DeniedText(said or Operation.READ, path, is_said=said is not None)


def own_denial(text: str) -> DeniedText | None:
    """The denial that this line is, as our typed denial writes itself; None for any other text.

    The resource is all that follows, whatever is in it: a name that reads like a denial adds none.
    """
    found = _wordings().own.fullmatch(text)
    operation = None if found is None else _OPERATIONS.get(found["operation"])
    if found is None or operation is None:
        return None
    return DeniedText(operation, found["resource"][:MOST_RESOURCE])


def given_patterns() -> dict[Operation, re.Pattern[str]]:
    """The patterns of ESCALATION, by what they detect."""
    return dict(_wordings().given)


def _resource(
    text: str, span: tuple[int, int], operation: Operation, wordings: _Wordings
) -> str | None:
    start, ends = span
    # Up to the next denial first: only a resource that reads like one goes beyond it.
    for end in (ends, len(text)):
        for pattern in wordings.today[operation]:
            found = pattern.match(text, start, end)
            if found is not None:
                return found["resource"]
    given = wordings.given.get(operation)
    if given is None or given.groups == 0:
        return None
    line_end = text.find("\n", start, min(ends, start + _MOST_LINE))
    found = given.match(text, start, min(ends, start + _MOST_LINE) if line_end < 0 else line_end)
    return None if found is None else found[1].strip()[:MOST_RESOURCE] or None


def _unquoted(literal: str) -> str:
    """What a string literal of Python stands for; an escape that is none stays as it is."""
    inner = literal.removeprefix("b")[1:-1]
    return _PYTHON_ESCAPE.sub(_character, inner) if "\\" in inner else inner


def _character(found: re.Match[str]) -> str:
    body = found[1]
    if body[0] in "xuU":
        number = int(body[1:], 16)
        return chr(number) if number <= sys.maxunicode else found[0]
    return _PLAIN_ESCAPES.get(body, body)


@lru_cache(maxsize=1)
def _wordings() -> _Wordings:
    source = files("consentry.examine").joinpath(_TABLE).read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(source)
    return _Wordings(
        anchor=re.compile(table["anchor"]),
        own=re.compile(table["own"], re.DOTALL),
        today={
            each: tuple(
                re.compile(pattern.replace("{operation}", each), re.DOTALL)
                for pattern in table["today"]
            )
            for each in Operation
        },
        given={Operation(name): re.compile(pattern) for name, pattern in table["given"].items()},
        python=re.compile(
            table["python"]["error"].replace("{literal}", table["python"]["literal"])
        ),
        python_operations={
            number: Operation(word) for number, word in table["python"]["says"].items()
        },
    )
