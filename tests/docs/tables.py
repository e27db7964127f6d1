"""Tables of the documentation, as rows of cells, for comparing a page with what it restates."""

import re
from collections.abc import Iterator
from pathlib import Path

from checks import markdown

_RULE = re.compile(r"[:\- ]+")


def text_of(page: Path) -> str:
    """The page as it is."""
    return page.read_text(encoding="utf-8")


def prose_of(page: Path) -> str:
    """The page with its lines joined, for finding a phrase wherever it is wrapped."""
    return " ".join(text_of(page).split())


def tables_of(page: Path) -> Iterator[list[list[str]]]:
    """Every table of the page, the head row first, the rule below it left out."""
    rows: list[list[str]] = []
    for _, line in markdown.prose_lines(text_of(page) + "\n\n"):
        cells = markdown.cells(line)
        if cells is None:
            if rows:
                yield rows
            rows = []
        elif not all(_RULE.fullmatch(cell) for cell in cells):
            rows.append(cells)


def table_with_head(page: Path, *head: str) -> list[list[str]]:
    """The rows, without the head, of the one table whose head begins with these cells."""
    found = [rows[1:] for rows in tables_of(page) if tuple(rows[0][: len(head)]) == head]
    assert len(found) == 1, f"{len(found)} tables in {page.name} begin with {head}"
    return found[0]


def code_spans(cell: str) -> list[str]:
    """What stands in backticks, in order."""
    return re.findall(r"`([^`]+)`", cell)
