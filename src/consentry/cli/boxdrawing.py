"""Draws a box around lines, in pages that fit a terminal: with its buttons, in Unicode or in ASCII.

Rules kept: no line is wider than the box, whose right edge may stand too far to the left beside glyphs
that a terminal draws narrower than the most; nothing is cut off, what does not fit goes to the next
page, which says so; a heading is never the last line of a page. Text that others wrote must be safe
already. Emoji are written without the selector that makes them colourful: terminals do not agree how
wide they are with it.
"""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Final

from consentry.base.safetext import Letters
from consentry.base.values import dataclass
from consentry.cli.layout import columns_of, laid_out

NARROWEST: Final = 48
WIDEST: Final = 100

_MARGIN: Final = 2
_EDGES: Final = 2
_BUTTON: Final = 14
_GAP: Final = "  "


@dataclass(frozen=True, slots=True)
class Glyphs:
    """What a box is drawn with; `edges` are the corners and sides, row by row."""

    letters: Letters
    edges: str
    bullet: str
    unticked: str
    ticked: str
    tool: str = ""
    reading: str = ""
    writing: str = ""
    commands: str = ""
    duration: str = ""


UNICODE: Final = Glyphs(Letters.ANY, "┌┐├┤└┘│─", "•", "□", "■", "🔧 ", "📁 ", "📝 ", "⚙ ", "⏱ ")
ASCII: Final = Glyphs(Letters.ASCII, "++++++|-", "*", "[ ]", "[x]")

_NARROW: Final = frozenset("┌┐├┤└┘│┊─•□■⚙⏱")
"""Ours, and drawn one column wide."""


def glyphs_for(environ: Mapping[str, str]) -> Glyphs:
    """Unicode where the locale says UTF-8 and the terminal is not the console, which has few glyphs."""
    names = (environ.get("LC_ALL", ""), environ.get("LC_CTYPE", ""), environ.get("LANG", ""))
    locale = next((name for name in names if name), "").lower().replace("-", "")
    is_bare = environ.get("TERM", "") in ("linux", "dumb")
    return UNICODE if "utf8" in locale and not is_bare else ASCII


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a box; a heading stays with what follows it."""

    text: str
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Foot:
    """What closes the last page: the buttons, and what can be ticked."""

    buttons: tuple[str, ...]
    tick: str | None = None
    is_ticked: bool = False


Section = Sequence[Row]


class Box:
    """A box of a width, which lays out rows and draws pages."""

    def __init__(self, width: int, glyphs: Glyphs) -> None:
        self.glyphs = glyphs
        self._width = min(max(width - 1, NARROWEST), WIDEST)
        self.room = self._width - 2 * _EDGES - _MARGIN + 1
        """Columns for text."""

    def rows(self, start: str, text: str) -> list[Row]:
        """Safe text behind `start`, which is ours; rows after the first are marked as continued."""
        width = _columns(start)
        first, *others = laid_out(text, width=self.room, start=width, margin=width)
        return [Row(start + first), *map(Row, others)]

    def own(self, start: str, text: str) -> list[Row]:
        """Words that are all ours, which need no mark where they go on."""
        width = _columns(start)
        first, *others = wrap(text, self.room - width) or [""]
        return [Row(start + first), *(Row(" " * width + other) for other in others)]

    def pages(
        self, title: str, sections: Sequence[Section], foot: Foot, height: int
    ) -> tuple[str, ...]:
        """All of it with air where that fits, else closer together, else on several pages."""
        roomy = self._roomy(title, sections, foot)
        if len(roomy) <= height:
            return ("\n".join(roomy),)
        rows = [row for section in sections for row in section]
        return self._close(title, rows, foot, height)

    def _roomy(self, title: str, sections: Sequence[Section], foot: Foot) -> list[str]:
        empty = self._line("")
        lines = [self._edge(0), self._line(title), self._edge(2), empty]
        for section in sections:
            lines += [*(self._line(row.text) for row in section), empty]
        lines += map(self._line, self._large_buttons(foot.buttons))
        lines.append(empty)
        if foot.tick is not None:
            lines += [self._line(self._ticked(foot)), empty]
        return [*lines, self._edge(4)]

    def _close(self, title: str, rows: Sequence[Row], foot: Foot, height: int) -> tuple[str, ...]:
        closing = self._small_foot(foot)
        cut = _cut(rows, max(height - _EDGES, 1), len(closing))
        pages = []
        for number, part in enumerate(cut, start=1):
            is_last = number == len(cut)
            shown = title if len(cut) == 1 else f"{title} ({number} of {len(cut)})"
            lines = [self._edge(0, shown), *(self._line(row.text) for row in part)]
            lines += map(self._line, closing if is_last else ())
            lines.append(self._edge(4, "" if is_last else "goes on"))
            pages.append("\n".join(lines))
        return tuple(pages)

    def _small_foot(self, foot: Foot) -> list[str]:
        buttons = _small_buttons(foot.buttons)
        if foot.tick is None:
            return [buttons]
        together = f"{buttons}{_GAP}{self._ticked(foot)}"
        return [together] if _columns(together) <= self.room else [buttons, self._ticked(foot)]

    def _ticked(self, foot: Foot) -> str:
        mark = self.glyphs.ticked if foot.is_ticked else self.glyphs.unticked
        return f"{mark} {foot.tick}"

    def _large_buttons(self, names: Sequence[str]) -> list[str]:
        edges = self.glyphs.edges
        side, along = edges[6], edges[7] * _BUTTON
        if len(names) * (_BUTTON + _EDGES + len(_GAP)) > self.room + len(_GAP):
            return [_small_buttons(names)]
        return [
            _GAP.join(f"{edges[0]}{along}{edges[1]}" for _ in names),
            _GAP.join(f"{side}{name:^{_BUTTON}}{side}" for name in names),
            _GAP.join(f"{edges[4]}{along}{edges[5]}" for _ in names),
        ]

    def _line(self, text: str) -> str:
        side = self.glyphs.edges[6]
        return f"{side}{' ' * _MARGIN}{text}{' ' * (self.room - _columns(text) + 1)}{side}"

    def _edge(self, at: int, title: str = "") -> str:
        edges = self.glyphs.edges
        inside = f"{edges[7]} {title} " if title else ""
        along = edges[7] * (self._width - _EDGES - _columns(inside))
        return f"{edges[at]}{inside}{along}{edges[at + 1]}"


def _small_buttons(names: Sequence[str]) -> str:
    return _GAP.join(f"[ {name} ]" for name in names)


def _cut(rows: Sequence[Row], most: int, closing: int) -> list[Sequence[Row]]:
    """The rows of each page; the last one leaves room for what closes it."""
    pages: list[Sequence[Row]] = []
    left = list(rows)
    while len(left) + closing > most and left:
        count = min(most, len(left))
        while count > 1 and left[count - 1].is_heading:
            count -= 1
        pages.append(left[:count])
        left = left[count:]
    return [*pages, left]


def _columns(text: str) -> int:
    return sum(1 if letter in _NARROW else columns_of(letter) for letter in text)
