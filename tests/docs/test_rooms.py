"""The table of rooms.md says of every group of clauses what conformance.md says of each clause."""

import re

from tests.docs.blocks import DOCS
from tests.docs.tables import code_spans, tables_of

Places = dict[str, set[str]]


def group_of(clause: str) -> str:
    """`MODULES §grant-3` belongs to `MODULES §grant`, `ESCALATION AC8.1` to `ESCALATION AC`."""
    document, _, name = clause.partition(" ")
    letters = re.match(r"§[^-]+|[A-Z]+", name)
    assert letters is not None, clause
    return f"{document} {letters[0]}"


def places_by_clause() -> Places:
    """Where the clauses of each group live, by the list of clauses."""
    places: Places = {}
    for rows in tables_of(DOCS / "conformance.md"):
        if rows[0][0] == "clause":
            for clause, _, room, _ in rows[1:]:
                places.setdefault(group_of(clause), set()).update(code_spans(room))
    return places


def places_by_group() -> Places:
    """Where each group lives, by the table of the page."""
    return {
        row[0]: set(code_spans(row[2]))
        for rows in tables_of(DOCS / "explanation" / "rooms.md")
        if rows[0][0] == "clauses"
        for row in rows[1:]
    }


def test_every_group_of_clauses_is_placed_as_its_clauses_are() -> None:
    """No group more, none less, and the same files."""
    by_clause, by_group = places_by_clause(), places_by_group()
    differing = {
        group: (by_group.get(group), by_clause.get(group))
        for group in by_clause.keys() | by_group.keys()
        if by_clause.get(group) != by_group.get(group)
    }
    assert differing == {}, "page against conformance.md"
    assert len(by_group) > 50
