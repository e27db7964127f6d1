r"""Text that others wrote, laid out in rows no wider than the page, so that each row begins as ours.

A row that is too wide is continued by the terminal in its first column, where our own lines begin:
a file name could then show a line that looks like one of them. So no row is ever wider than the
page, and every row after the first opens with `|` behind its margin, which no line of ours does.

Rules kept: taking `\n`, the margin and `|` out again gives the very text that was laid out, so a
space stays visible where it was; an escape of `base.safetext` is not broken unless it alone is wider
than a row. Columns are counted from above: every character from U+1100 on as two.

The text must be safe already. A terminal narrower than the page it reports is not our page.
"""

import re

CONTINUED = "|"
_FIRST_WIDE = "\u1100"
_LEAST_ROOM = 12
_ATOM = re.compile(r"\\{1,16}[ux]\{[^{}\\]{0,24}\}|.", re.DOTALL)


def laid_out(text: str, *, width: int, start: int = 0, margin: int = 0) -> list[str]:
    """`text` in rows for a page of `width` columns; at least one, none of them wider.

    The first row has no margin: the caller puts `start` columns in front of it. The others are
    complete, with `margin` spaces and the mark.
    """
    margin = max(min(margin, width - _LEAST_ROOM - 1), 0)
    opening = " " * margin + CONTINUED
    rows: list[str] = []
    row: list[str] = []
    room = width - start
    if room < min(_LEAST_ROOM, columns_of(text)):
        rows, room = [""], width - margin - 1
    for atom in _atoms(text, min(room, width - margin - 1)):
        while row and sum(map(columns_of, row)) + columns_of(atom) > room:
            room = width - margin - 1
            at = _break_before(row, atom, room)
            rows.append("".join(row[:at]))
            row = row[at:]
        row.append(atom)
    rows.append("".join(row))
    return [rows[0], *(opening + each for each in rows[1:])]


def columns_of(text: str) -> int:
    """No fewer columns than a terminal gives `text`."""
    return sum(1 if letter < _FIRST_WIDE else 2 for letter in text)


def _atoms(text: str, room: int) -> list[str]:
    found = _ATOM.findall(text)
    return [part for atom in found for part in (atom if columns_of(atom) > room else (atom,))]


def _break_before(row: list[str], following: str, room: int) -> int:
    """Where to break: in front of the last space, if what follows it fits; or else at the end."""
    if following == " ":
        return len(row)
    at = next((at for at in range(len(row) - 1, 0, -1) if row[at] == " "), len(row))
    return at if sum(map(columns_of, row[at:])) <= room else len(row)
