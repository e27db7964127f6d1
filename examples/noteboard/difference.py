"""The preview of a transaction as lines that a person reads: what comes, what goes, what is another.

    +  a whole note, or a value, that comes             -  one that goes
    ~  a note of which something is replaced or moved: what was there and what will be stand below it

A note is told by its text and everything else by its JSON, with its place in the document beside it. Nothing
of a preview is left out here: what cannot be read whole is not approved on this page.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PLUS = "+"
MINUS = "-"
OTHER = "~"
ROLE = "owner"
_NOTE = frozenset({"text", "order"})


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its sign, the place it is about, and the text, which may have several lines."""

    sign: str
    place: str
    text: str | None


def lines_of(preview: Mapping[str, object]) -> list[Line]:
    """All that a preview changes, in its own order, as its person sees it."""
    entries = preview["entries"]
    found: list[Line] = []
    for entry in entries if isinstance(entries, Sequence) else ():
        view = entry["roleViews"][ROLE]
        place = f"/{entry['entityType']}/{entry['entityId']}{entry['path']}"
        found += _lines(str(entry["op"]), place, view["before"], view["after"])
    return found


def counted(preview: Mapping[str, object]) -> str:
    """How much a preview changes, in words."""
    summary = preview["summary"]
    if not isinstance(summary, Mapping):
        return ""
    words = {"add": "added", "remove": "removed", "replace": "changed", "move": "moved"}
    return ", ".join(f"{summary[op]} {word}" for op, word in words.items() if summary[op])


def _lines(op: str, place: str, before: object, after: object) -> list[Line]:
    if op == "add":
        return [Line(PLUS, f"{place}{_order(after)}", _said(after))]
    if op == "remove":
        return [Line(MINUS, f"{place}{_order(before)}", _said(before))]
    if op == "move" and isinstance(before, Mapping) and isinstance(after, Mapping):
        moved = f"{before['pointer']} → {after['pointer']}"
        return [Line(OTHER, moved, _said(after["value"]))]
    return [
        Line(OTHER, place, None),
        Line(MINUS, "", _said(before)),
        Line(PLUS, "", _said(after)),
    ]


def _said(value: object) -> str:
    """A note by its text, any other text as it is, everything else as JSON."""
    if isinstance(value, Mapping) and value.keys() == _NOTE and isinstance(value["text"], str):
        return value["text"]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _order(value: object) -> str:
    """Where a whole note stands among the others."""
    if isinstance(value, Mapping) and value.keys() == _NOTE:
        return f" · place {value['order']}"
    return ""
