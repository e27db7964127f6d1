"""From bytes to text that means what a person sees in an editor.

Refused before anything is parsed: more than 1 MiB (or another bound of the document's kind), what is not UTF-8, control characters, and the
characters that make a document look different from what it says. Those are the line separators that
YAML honours and editors do not show (text behind one in a comment is not part of the comment), a
lone carriage return, and the marks that change the direction of writing. In a quoted text each of
them can be written as an escape.
"""

import re
from bisect import bisect_right
from itertools import islice

from consentry.declare.nodes import Mark
from consentry.declare.problems import MOST_PROBLEMS, Problems

MOST_BYTES = 1 << 20

_BYTE_ORDER_MARK = "\ufeff"
_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff"
_DECEIVING = r"\x85\u2028\u2029\u202a-\u202e\u2066-\u2069"
_REFUSED = re.compile(rf"[{_CONTROL}{_DECEIVING}]|\r(?!\n)")


class Lines:
    """Finds the place of a position in a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def mark(self, position: int) -> Mark:
        """Line and column of the character at `position`."""
        line = bisect_right(self._starts, position)
        return Mark(line, position - self._starts[line - 1] + 1)


def checked_text(content: bytes, problems: Problems, most: int = MOST_BYTES) -> str:
    """The text of a document, or raises with the places of what it must not contain."""
    if len(content) > most:
        problems.stop(
            None,
            f"the document has more than {most:,} bytes",
            "leave out what is not needed, or use several documents",
        )
    try:
        text = content.decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
    except UnicodeDecodeError as wrong:
        before = content[: wrong.start].decode("utf-8").removeprefix(_BYTE_ORDER_MARK)
        problems.stop(
            Lines(before).mark(len(before)),
            f"the byte 0x{content[wrong.start]:02x} is not UTF-8",
            "save the document as UTF-8",
        )
    lines = Lines(text)
    for found in islice(_REFUSED.finditer(text), MOST_PROBLEMS):
        _refuse(found[0], lines.mark(found.start()), problems)
    problems.raise_any()
    return text


def _refuse(character: str, mark: Mark, problems: Problems) -> None:
    code = f"U+{ord(character):04X}"
    message = f"{code} makes the document look different from what it says"
    help_line = "remove it, or write it as an escape in double quotes"
    if character == "\0":
        message, help_line = "the character NUL stands here", "remove it"
    elif re.match(f"[{_CONTROL}]", character):
        message = f"the control character {code} stands here"
    problems.add(mark, "", message, help_line)
