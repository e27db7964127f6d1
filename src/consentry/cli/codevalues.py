"""What goes into code and comes out of it on a command line: variables, a result, and where it failed."""

import json
import sys
from collections.abc import Iterator

from consentry.base.safetext import safe_line
from consentry.cli.command import usage_problem

STANDARD_INPUT = "-"
"""What stands for it in the place of a file."""

_MOST_INDENT = 40


def argument(word: str) -> tuple[str, object]:
    """A variable as `--arg` spells it."""
    name, separator, spelled = word.partition("=")
    if not separator or not name.isidentifier():
        raise usage_problem(f"`--arg {word}` is not NAME=JSON", "write for example --arg 'count=3'")
    try:
        return name, json.loads(spelled, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise usage_problem(
            f"`--arg {name}`: `{spelled}` is no JSON value",
            f"a text has quotes of its own: --arg '{name}=\"text\"'",
        ) from None


def typed_code(most: int) -> bytes:
    """Code from standard input; one byte more than the most, where there are more."""
    if sys.stdin is None or not sys.stdin.readable():
        raise usage_problem("standard input cannot be read", "name a file, or pass the code")
    return sys.stdin.buffer.read(most + 1)


def as_json(result: object) -> str:
    """One line that no terminal takes for anything but letters."""
    return json.dumps(result, allow_nan=False).replace("\x7f", "\\u007f")


def places_of(traceback: str) -> Iterator[str]:
    """Where it happened, row by row; what it was is told behind them."""
    for row in traceback.splitlines():
        text = row.lstrip(" ")
        if text != row:
            yield " " * min(len(row) - len(text), _MOST_INDENT) + safe_line(text)


def _no_number(text: str) -> float:
    raise ValueError(text)
