"""As much of Markdown as the checks need: prose without code, links, headings and their anchors.

Written for the documents of this repository: inline links, reference definitions, ATX headings,
fenced blocks. Indented code blocks and links over several lines are not recognised.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_INLINE_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'(][^)]*)?\)")
_DEFINITION = re.compile(r"^\s{0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_HTML_ANCHOR = re.compile(r"<a\s[^>]*?(?:id|name)=[\"']([^\"']+)", re.IGNORECASE)


class Line(NamedTuple):
    """A numbered line outside fenced blocks, counted from 1."""

    number: int
    text: str


class Link(NamedTuple):
    """Where a link leads, and the line it stands on."""

    line: int
    target: str


def prose_lines(text: str) -> Iterator[Line]:
    """The lines that are not inside a fenced block."""
    fence: str | None = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if fence is None:
            if mark:
                fence = mark[1]
            else:
                yield Line(number, line)
        elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = None


def links(text: str) -> Iterator[Link]:
    """Every link target in the text, code left out."""
    for number, line in prose_lines(text):
        plain = _CODE_SPAN.sub("", line)
        for match in _INLINE_LINK.finditer(plain):
            yield Link(number, match[1])
        definition = _DEFINITION.match(plain)
        if definition:
            yield Link(number, definition[1])


def anchors(text: str) -> set[str]:
    """Every anchor a link may name: headings as they are slugged on display, and HTML anchors."""
    found: set[str] = set()
    times: dict[str, int] = {}
    for _, line in prose_lines(text):
        found.update(_HTML_ANCHOR.findall(line))
        heading = _HEADING.match(line)
        if heading:
            slug = _slug(heading[1])
            count = times.get(slug, 0)
            times[slug] = count + 1
            found.add(f"{slug}-{count}" if count else slug)
    return found


def cells(line: str) -> list[str] | None:
    r"""The cells of a table row, or None when the line is none; `\|` does not end a cell."""
    stripped = line.strip()
    if not stripped.startswith("|") or not stripped.endswith("|") or len(stripped) == 1:
        return None
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", stripped[1:-1])]


def _slug(heading: str) -> str:
    shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    kept = re.sub(r"[^\w\- ]", "", shown.lower())
    return kept.strip().replace(" ", "-")
