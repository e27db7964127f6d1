"""Collects what is wrong with one document, so that a person is told all of it at once."""

from typing import NoReturn

from consentry.base.codes import Code
from consentry.base.errors import BadDocument, Problem, Where
from consentry.declare.nodes import Mark

MOST_PROBLEMS = 100
"""How many are listed; the others are counted."""
_MOST_KEPT = 10 * MOST_PROBLEMS


class Problems:
    """What was found so far, about one document."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._found: list[Problem] = []
        self._uncollected = 0

    def place(self, mark: Mark | None, field: str = "") -> Where:
        """A place in this document, as errors name it."""
        if mark is None:
            return Where(self.name, field=field or None)
        return Where(self.name, mark.line, mark.column, field or None)

    def add(
        self,
        mark: Mark | None,
        field: str,
        message: str,
        help_line: str,
        code: Code = Code.DOCUMENT_INVALID,
    ) -> None:
        """Notes a problem; reading goes on."""
        self.add_at(self.place(mark, field), message, help_line, code)

    def add_at(
        self, where: Where, message: str, help_line: str, code: Code = Code.DOCUMENT_INVALID
    ) -> None:
        """Notes a problem at a place that was kept."""
        if len(self._found) >= _MOST_KEPT:
            self._uncollected += 1
            return
        self._found.append(Problem(where, message, help_line, code))

    def stop(self, mark: Mark | None, message: str, help_line: str) -> NoReturn:
        """Notes a problem after which nothing more can be read, and raises all of them."""
        self.add(mark, "", message, help_line)
        raise self._all()

    def raise_any(self) -> None:
        """Raises `document-invalid` with everything found, in the order of the document."""
        if self._found:
            raise self._all()

    def _all(self) -> BadDocument:
        ordered = sorted(
            self._found, key=lambda each: (each.where.line or 0, each.where.column or 0)
        )
        listed = ordered[:MOST_PROBLEMS]
        return BadDocument(listed, unlisted=len(ordered) - len(listed) + self._uncollected)
