"""Cards of a drawn graph: a heading and lines of text, with their colours, as parts of one SVG.

Everything a stranger wrote comes in through `name` and `words_of`, which show it by `base.safetext` and
escape it for XML; all else in a drawing is ours. The text of a card lies in a window of its own, so that
letters wider than estimated, or stacked, stay inside the card. The drawing has no script, no link, no
font from elsewhere and no ids, so that it can be opened as a file, served as an image or put into a page;
`STYLE` is a constant, for pages that allow styles by their hash.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.escapes import left_out
from consentry.base.safetext import safe_html
from consentry.base.values import dataclass

STYLE: Final = """
.module-graph { --ground: #f1f5f9; --card: #ffffff; --edge: #cbd5e1; --ink: #0f172a; --quiet: #475569;
  --wire: #94a3b8; --none: #15803d; --soft: #b45309; --hard: #b91c1c; --doc: #1d4ed8; --sync: #7e22ce;
  --local: #475569; font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
@media (prefers-color-scheme: dark) { .module-graph { --ground: #0f172a; --card: #1e293b; --edge: #475569;
  --ink: #f1f5f9; --quiet: #cbd5e1; --wire: #64748b; --none: #86efac; --soft: #fcd34d; --hard: #fca5a5;
  --doc: #93c5fd; --sync: #d8b4fe; --local: #cbd5e1; } }
.module-graph .ground { fill: var(--ground); }
.module-graph .card { fill: var(--card); stroke: var(--edge); stroke-width: 1.5; }
.module-graph .missing { stroke: var(--hard); stroke-dasharray: 5 4; }
.module-graph text { font-size: 12px; fill: var(--quiet); direction: ltr; unicode-bidi: isolate; }
.module-graph tspan { unicode-bidi: isolate; }
.module-graph .name { font-size: 14px; font-weight: 650; fill: var(--ink); }
.module-graph .head { font-weight: 650; fill: var(--ink); }
.module-graph .id { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; fill: var(--ink); }
.module-graph .reason { font-style: italic; }
.module-graph .wire { fill: none; stroke: var(--wire); stroke-width: 1.5; }
.module-graph .tip { fill: var(--wire); }
.module-graph .none { fill: var(--none); } .module-graph .soft { fill: var(--soft); }
.module-graph .hard { fill: var(--hard); } .module-graph .doc { fill: var(--doc); }
.module-graph .sync { fill: var(--sync); } .module-graph .local { fill: var(--local); }
"""

_ROW: Final = 18
_ABOVE: Final = 12
_BELOW: Final = 10
_INSET: Final = 20
_STRIPE: Final = 4
_MOST_TOLD: Final = 400
_MOST_READ: Final = 4096
_HEAD: Final = 16
_TIP: Final = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a card: a class of `STYLE`, and markup that is safe."""

    css: str
    markup: str


@dataclass(frozen=True, slots=True)
class Card:
    """A card before it has a place; `stripe` is the class of its colour, `told` what pointing at it tells."""

    width: int
    lines: tuple[Line, ...]
    stripe: str | None = None
    told: str | None = None
    is_missing: bool = False

    @property
    def height(self) -> int:
        """How tall it is drawn."""
        return _ABOVE + _ROW * len(self.lines) + _BELOW

    def middle_of(self, line: int) -> int:
        """How far below its top the middle of a line lies."""
        return _ABOVE + _ROW * line + _ROW // 2

    def drawn(self, x: int, y: int) -> str:
        """The card with its upper left corner there."""
        frame = "card missing" if self.is_missing else "card"
        stripe = ""
        if self.stripe is not None:
            stripe = (
                f'<rect class="{self.stripe}" x="{x + 8}" y="{y + 8}" width="{_STRIPE}" '
                f'height="{self.height - 16}" rx="2"/>'
            )
        told = f"<title>{words_of(self.told, _MOST_TOLD)}</title>" if self.told else ""
        rows = "".join(
            f'<text class="{line.css}" y="{_ABOVE + _ROW * index + 13}">{line.markup}</text>'
            for index, line in enumerate(self.lines)
        )
        return (
            f'<g>{told}<rect class="{frame}" x="{x}" y="{y}" width="{self.width}" '
            f'height="{self.height}" rx="9"/>{stripe}<svg x="{x + _INSET}" y="{y}" '
            f'width="{self.width - _INSET - 8}" height="{self.height}">{rows}</svg></g>'
        )


def words_of(text: str, limit: int) -> str:
    """A stranger's words, in at most so many columns (32 at least).

    Of what is far too long only the beginning is looked at, and the rest counted.
    """
    if len(text) <= _MOST_READ:
        return safe_html(text, limit=limit)
    # A backslash at the end of the head would double the one that opens the escape.
    head = text[:_HEAD].rstrip("\\")
    return f"{safe_html(head, limit=limit)}{left_out(len(text) - len(head))}"


def name(text: str, limit: int) -> str:
    """A stranger's id or path, in letters of one width."""
    return f'<tspan class="id">{words_of(text, limit)}</tspan>'


def heading(x: int, y: int, words: str) -> str:
    """What stands above a column, in words of ours."""
    return f'<text class="head" x="{x}" y="{y + 10}">{words}</text>'


def wire(start: tuple[int, int], end: tuple[int, int]) -> str:
    """A curve from one card to another."""
    (x1, y1), (x2, y2) = start, end
    bend = (x1 + x2) // 2
    return f'<path class="wire" d="M{x1} {y1}C{bend} {y1} {bend} {y2} {x2 - _TIP} {y2}"/>'


def tip(x: int, y: int) -> str:
    """The head of an arrow that ends there."""
    return f'<path class="tip" d="M{x} {y}l-8 -4v8z"/>'


def trunk(start: tuple[int, int], bend: int, end_x: int, heights: Sequence[int]) -> str:
    """One line that leaves a card and branches off to many, each at its height."""
    if not heights:
        return ""
    x, y = start
    top, bottom = min(y, heights[0]), max(y, heights[-1])
    branches = "".join(f"M{bend} {each}H{end_x - _TIP}" for each in heights)
    tips = "".join(tip(end_x, each) for each in heights)
    return f'<path class="wire" d="M{x} {y}H{bend}M{bend} {top}V{bottom}{branches}"/>{tips}'


def legend(x: int, y: int, parts: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> str:
    """What the colours mean: headings, and below each a class and its words, all of them ours."""
    drawn = []
    for heading, rows in parts:
        drawn.append(f'<text class="head" x="{x}" y="{y + 13}">{heading}</text>')
        y += _ROW
        for css, words in rows:
            drawn.append(
                f'<rect class="{css}" x="{x}" y="{y + 2}" width="{_STRIPE}" height="14" rx="2"/>'
                f'<text x="{x + 12}" y="{y + 13}">{words}</text>'
            )
            y += _ROW
        y += _ROW // 2
    return "".join(drawn)


def legend_height(parts: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> int:
    """How tall that is."""
    return sum(_ROW * (1 + len(rows)) + _ROW // 2 for _heading, rows in parts)


def picture(width: int, height: int, about: str, parts: Sequence[str]) -> str:
    """The whole drawing; `about` is safe markup."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="module-graph" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{about}">'
        f"<title>{about}</title><style>{STYLE}</style>"
        f'<rect class="ground" width="{width}" height="{height}" rx="14"/>{"".join(parts)}</svg>\n'
    )
