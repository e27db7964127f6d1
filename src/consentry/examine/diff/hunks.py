r"""Hunks, counted line by line: what is announced must be there, in order, and nothing else.

    @@ -3,2 +3,3 @@ heading     two lines from line 3 become three
     context                   an empty line is an empty line of context
    -old
    +new
    \ No newline at end of file

The remark about the missing newline stands behind the very last line of a side, so nothing of that
side may follow it, in this hunk or another.
"""

import re
from typing import Final

from consentry.base.values import dataclass
from consentry.examine.diff.changes import Hunk
from consentry.examine.diff.difflines import DiffLines

START: Final = b"@@ "

_HEAD: Final = re.compile(
    rb"@@ -(0|[1-9][0-9]{0,9})(?:,(0|[1-9][0-9]{0,9}))?"
    rb" \+(0|[1-9][0-9]{0,9})(?:,(0|[1-9][0-9]{0,9}))? @@(?: [^\n]*)?"
)
_REMARK: Final = b"\\"
_NO_NEWLINE: Final = b"\\ No newline at end of file"
_OLD, _NEW = b"-", b"+"
# Some writers leave the blank of an empty line of context out.
_SIGNS: Final = (_OLD, _NEW, b" ", b"")


@dataclass(slots=True)
class _Side:
    """One of the two texts, as far as it was read; `end` counts the lines that are behind us.

    Between two hunks there is at least one line, so before the first one it is less than none.
    """

    end: int = -1
    is_over: bool = False


def read_hunks(lines: DiffLines) -> tuple[Hunk, ...]:
    """The hunks of one file, of which there is at least one."""
    old, new = _Side(), _Side()
    found: list[Hunk] = []
    while not found or lines.begins(START):
        found.append(_read_hunk(lines, old, new))
    return tuple(found)


def _read_hunk(lines: DiffLines, old: _Side, new: _Side) -> Hunk:
    head = _HEAD.fullmatch(lines.take("a hunk"))
    if head is None:
        lines.stop_before("a hunk `@@ -… +… @@` is expected")
    old_start, old_count = int(head[1]), 1 if head[2] is None else int(head[2])
    new_start, new_count = int(head[3]), 1 if head[4] is None else int(head[4])
    # A side without lines is numbered by the line before it.
    old_at, new_at = old_start - (old_count > 0), new_start - (new_count > 0)
    if old_at <= old.end or old_at - old.end != new_at - new.end:
        lines.stop_before("the numbers of a hunk do not follow from those before it")
    old.end, new.end = old_at + old_count, new_at + new_count
    was, becomes = _read_lines(lines, (old, old_count), (new, new_count))
    return Hunk(old_start, tuple(was), new_start, tuple(becomes))


def _read_lines(
    lines: DiffLines, old: tuple[_Side, int], new: tuple[_Side, int]
) -> tuple[list[bytes], list[bytes]]:
    """As many lines of each side as were announced."""
    (old_side, old_left), (new_side, new_left) = old, new
    was: list[bytes] = []
    becomes: list[bytes] = []
    has_change = False
    while old_left or new_left:
        line = lines.take("the rest of a hunk")
        sign, text = line[:1], line[1:] + b"\n"
        is_old, is_new = sign != _NEW, sign != _OLD
        if (
            sign not in _SIGNS
            or (is_old and (not old_left or old_side.is_over))
            or (is_new and (not new_left or new_side.is_over))
        ):
            lines.stop_before("a line does not belong into its hunk")
        is_last = lines.begins(_REMARK)
        if is_last:
            text = text[:-1]
            if lines.take("a remark") != _NO_NEWLINE:
                lines.stop_before("a remark is not understood")
        if is_old:
            was.append(text)
            old_left, old_side.is_over = old_left - 1, is_last
        if is_new:
            becomes.append(text)
            new_left, new_side.is_over = new_left - 1, is_last
        has_change |= not (is_old and is_new)
    if not has_change:
        lines.stop_before("a hunk changes nothing")
    return was, becomes
