r"""Safe text: the one way an untrusted string reaches a terminal, a page or a log.

Tool names, descriptions, paths, arguments, program output, host names and bytes from the kernel are
written by others. `safe_line`, `safe_block` and `safe_html` make them harmless and readable:

- what cannot be seen, or would command a terminal, becomes an escape: `\u{1b}`, `\u{202e}`; a byte
  that is not UTF-8 becomes `\x{ff}`; the same thing n times becomes `\u{20*n}`;
- spaces at an edge and runs of more than 16 spaces are padding and become such an escape too;
- what does not fit a limit is left out of the middle, and `\u{1234 left out}` stands there with the
  exact number of characters; head and tail stay;
- an escape is ours exactly when an odd number of backslashes opens it: backslashes that stand before
  a typed `u{` or `x{`, or before an escape of ours, are doubled. No text can type one of our escapes.

Laws, proven by the tests:

1. Without a limit the rendering is injective: for different strings the output of `safe_line` and
   `safe_html` differs, and that of `safe_block` at one origin and width; the same holds for bytes.
   Bytes and a string agree only where `bytes.decode("utf-8", "surrogateescape")` makes that string.
   Outputs that differ may still look alike, by homoglyphs for one.
2. Every character of the output is printable and drawn; only `safe_block` adds line feeds, and each
   of its lines starts with a frame character of ours.
3. No function here raises, whatever string or bytes it is given.

Not promised: homoglyphs are letters and stay; right-to-left letters stay and are only reported, and a
terminal may reorder what stands beside them; how wide a glyph is drawn is estimated from above.
Rendering twice escapes twice: render once, where the text is shown. See
`docs/explanation/safe-text.md`.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple, NewType

from consentry.base.escapes import Piece, cut, joined, left_out
from consentry.base.invisible import FindingKind

SafeText = NewType("SafeText", str)
"""Text that may be printed. Only this module makes it."""


class SafeHtml(str):
    """HTML that may stand in element content or a quoted attribute. Only this module makes it."""

    __slots__ = ()

    def __html__(self) -> str:
        """What template engines ask for before they would escape it again."""
        return str(self)


class Letters(StrEnum):
    """What the place where a text is shown can draw; where only ASCII, other letters are escapes."""

    ANY = "any"
    ASCII = "ascii"


class Finding(NamedTuple):
    """One kind of oddity in a text: how many characters have it, and where the first one is."""

    kind: FindingKind
    characters: int
    first: int


LEAST_LIMIT = 32
LEAST_WIDTH = 40
LEAST_ROWS = 3

_NEW_LINE, _SAME_LINE = "│", "┊"
_HEADER, _FOOTER = "┌─ written by ", "└─ end"
_IN_ASCII = str.maketrans("│┊┌└─", "|:++-")
_PREFIX_COLUMNS = 3

_FIRST_WIDE = "\u1100"
_MANY_LINE_FEEDS = "\\u{a*"

_HTML = {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    ord("'"): "&#x27;",
}


def safe_line(
    value: str | bytes, *, limit: int | None = None, letters: Letters = Letters.ANY
) -> SafeText:
    r"""`value` on one line; line feeds and tabs are escapes like any other control.

    With `limit`, the result takes at most that many terminal columns (never less than 32 are asked
    of it): the middle is left out, in whole characters and whole escapes, and `\u{n left out}` says
    how many characters of `value` are missing. Characters from U+1100 on count as two columns.
    """
    text = _decoded(value)
    if _is_simple(text) and (limit is None or len(text) <= limit):
        return SafeText(text)
    pieces = cut(text, only_ascii=letters is Letters.ASCII)
    return SafeText(joined(pieces) if limit is None else _fitted(pieces, max(limit, LEAST_LIMIT)))


def safe_html(value: str | bytes, *, limit: int | None = None) -> SafeHtml:
    """`safe_line` for a page: also escaped for element content and for quoted attributes.

    Pages collapse spaces, so any two in a row are shown as an escape here.
    """
    text = _decoded(value)
    if _is_simple(text) and (limit is None or len(text) <= limit):
        return SafeHtml(text.translate(_HTML))
    pieces = cut(text, widest_gap=1)
    line = joined(pieces) if limit is None else _fitted(pieces, max(limit, LEAST_LIMIT))
    return SafeHtml(line.translate(_HTML))


def safe_block(
    value: str | bytes,
    *,
    origin: str | bytes,
    width: int,
    rows: int | None = None,
    letters: Letters = Letters.ANY,
) -> SafeText:
    r"""`value` over several lines in a frame that names its `origin`, which is untrusted too.

        ┌─ written by tool lint
        │ a line of the text
        │ a long line that does
        ┊  not fit, goes on here
        └─ end

    No line is wider than `width` columns (at least 40), so the terminal never starts a line of its
    own with text from `value`. A continued line breaks in front of a space, which then opens the
    next row. More than three line feeds in a row are shown as `\u{a*n}`. With `rows` (at least 3),
    rows in the middle are left out and `\u{n left out}` says how many characters those were.
    """
    width = max(width, LEAST_WIDTH)
    only_ascii = letters is Letters.ASCII
    room_for_origin = width - _columns(_HEADER)
    pieces = cut(_decoded(value), keep_lines=True, only_ascii=only_ascii)
    body = _Layout(width - _PREFIX_COLUMNS).rows(pieces)
    if rows is not None:
        body = _fewer_rows(body, max(rows, LEAST_ROWS))
    lines = [
        _HEADER + _fitted(cut(_decoded(origin), only_ascii=only_ascii), room_for_origin),
        *(row.drawn() for row in body),
        _FOOTER,
    ]
    # In ASCII only the frame has other letters left.
    block = "\n".join(lines)
    return SafeText(block.translate(_IN_ASCII) if only_ascii else block)


def findings(value: str | bytes) -> tuple[Finding, ...]:
    """What a prompt should flag, or refuse, in the order of first appearance.

    Positions count characters of the decoded text. Whatever `safe_line` shows differently from how
    it came is found; so are right-to-left letters, which it leaves alone.
    """
    text = _decoded(value)
    if _is_simple(text):
        return ()
    found: dict[FindingKind, Finding] = {}
    at = 0
    for piece in cut(text):
        if piece.kind is not None:
            before = found.get(piece.kind, Finding(piece.kind, 0, at))
            found[piece.kind] = before._replace(characters=before.characters + piece.taken)
        at += piece.taken
    return tuple(found.values())


def is_plain(value: str | bytes) -> bool:
    """Whether there is nothing to find, so that `safe_line` shows the text exactly as it is."""
    return not findings(value)


class _Row(NamedTuple):
    shown: str
    taken: int
    edge: str

    def drawn(self) -> str:
        return f"{self.edge} {self.shown}" if self.shown else self.edge


def _decoded(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")


def _is_simple(text: str) -> bool:
    """One look at C speed: plain ASCII with nothing to escape, mark or count."""
    return (
        text.isascii()
        and text.isprintable()
        and "  " not in text
        and "\\u{" not in text
        and "\\x{" not in text
        and text[:1] != " "
        and text[-1:] != " "
    )


def _columns(shown: str) -> int:
    """An upper bound of the columns a terminal gives `shown`; nothing below U+1100 is wide."""
    if len(shown) == 1:
        return 1 if shown < _FIRST_WIDE else 2
    return len(shown) if shown.isascii() else sum(map(_columns, shown))


def _fitted(pieces: list[Piece], limit: int) -> str:
    """All of it if it fits; else as much of head and tail as leaves room to say what is missing."""
    if sum(_columns(piece.shown) for piece in pieces) <= limit:
        return joined(pieces)
    total = sum(piece.taken for piece in pieces)
    room = limit - len(left_out(total))
    head = _taken_from(pieces, room - room // 2)
    tail = _taken_from(reversed(pieces), room // 2, backwards=True)
    while head and head[-1].shown == "\\":  # it would double the backslash of what follows
        head.pop()
    kept = sum(piece.taken for piece in head) + sum(piece.taken for piece in tail)
    return joined(head) + left_out(total - kept) + joined(reversed(tail))


def _taken_from(pieces: Iterable[Piece], room: int, *, backwards: bool = False) -> list[Piece]:
    taken: list[Piece] = []
    for piece in pieces:
        for atom in piece.atoms(backwards=backwards):
            room -= _columns(atom.shown)
            if room < 0:
                return taken
            taken.append(atom)
    return taken


class _Layout:
    """Pieces laid out in rows of at most `room` columns."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._rows: list[_Row] = []
        self._row: list[Piece] = []
        self._used = 0
        self._edge = _NEW_LINE

    def rows(self, pieces: Iterable[Piece]) -> list[_Row]:
        for piece in pieces:
            for atom in piece.atoms():
                if atom.shown == "\n":
                    self._close(len(self._row), _NEW_LINE, line_feeds=1)
                else:
                    self._add(atom)
        if self._row or self._edge is _NEW_LINE:
            self._close(len(self._row), _NEW_LINE)
        return self._rows

    def _add(self, atom: Piece) -> None:
        columns = _columns(atom.shown)
        while self._row and self._used + columns > self._room:
            self._close(_break_before(self._row, atom), _SAME_LINE)
        self._row.append(atom)
        self._used += columns
        if atom.shown.startswith(_MANY_LINE_FEEDS) and atom.kind is FindingKind.PADDING:
            self._close(len(self._row), _SAME_LINE)

    def _close(self, count: int, next_edge: str, *, line_feeds: int = 0) -> None:
        """End the row after its first `count` pieces; the others open the next one."""
        done = self._row[:count]
        taken = sum(piece.taken for piece in done) + line_feeds
        self._rows.append(_Row(joined(done), taken, self._edge))
        self._row = self._row[count:]
        self._used = sum(_columns(piece.shown) for piece in self._row)
        self._edge = next_edge


def _break_before(row: list[Piece], following: Piece) -> int:
    """Where to break: in front of the last run of spaces, or at the end if there is none."""
    if following.shown == " " and row[-1].shown != " ":
        return len(row)
    for at in range(len(row) - 1, 0, -1):
        if row[at].shown == " " and row[at - 1].shown != " ":
            return at
    return len(row)


def _fewer_rows(rows: list[_Row], most: int) -> list[_Row]:
    if len(rows) <= most:
        return rows
    tail = (most - 1) // 2
    head = most - 1 - tail
    missing = sum(row.taken for row in rows[head : len(rows) - tail])
    return [*rows[:head], _Row(left_out(missing), missing, _NEW_LINE), *rows[len(rows) - tail :]]
