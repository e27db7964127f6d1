"""A diff of a preview as lines for a terminal; every word of it that others wrote is made safe here.

    @ notes n1
      + all of it
          + /text  "buy milk"
      ~ /done
          - false
          + true
      > /text  from /drafts/d1/text
            "as it was"

Every line begins with a sign of ours, so that no name of others can begin one. Values are JSON, so that a
text is told apart from a number, and a line feed in a text is no line. What is too long is cut in its middle
and says how much is missing; what is too much is counted.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from consentry.base.canonical import Json
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.cli.hanging import hanging
from consentry.cli.output import Output
from consentry.decide.previewdiff import DiffChange, DiffEntity
from consentry.decide.statechange import Op

SIGNS: Final = {Op.ADD: "+", Op.REMOVE: "-", Op.REPLACE: "~", Op.MOVE: ">"}
WHOLE: Final = "all of it"
_STYLES: Final = {"+": "green", "-": "red", "~": "yellow", ">": "yellow"}
_MOST_PLACE: Final = 200


@dataclass(frozen=True, slots=True)
class DiffLimits:
    """How much is shown: columns of one value, values of one change, and changes in all."""

    columns: int = 400
    values: int = 100
    changes: int = 400


USUAL_LIMITS: Final = DiffLimits()


class DiffLine(NamedTuple):
    """One line: how far it is moved in, its sign, and safe text."""

    margin: int
    sign: str
    text: str

    def plain(self) -> str:
        """As one line, however wide."""
        return " " * self.margin + (f"{self.sign} {self.text}" if self.sign else self.text)

    def rows(self, output: Output) -> list[str]:
        """In rows no wider than the page, the sign in its colour."""
        if not self.sign:
            return hanging(" " * self.margin, self.text, indent=self.margin + 2)
        style = _STYLES.get(self.sign)
        sign = self.sign if style is None else output.paint(self.sign, style)
        start, width = f"{' ' * self.margin}{sign} ", self.margin + 2
        return hanging(start, self.text, width_of_start=width, indent=width)


def diff_lines(diff: Sequence[DiffEntity], limits: DiffLimits = USUAL_LIMITS) -> Iterator[DiffLine]:
    """All of it, as far as there is room; then how much is left out."""
    left = limits.changes
    for entity in diff:
        if left <= 0:
            break
        yield DiffLine(0, "@", entity_name(entity))
        for change in entity.changes[:left]:
            yield from _change(change, limits)
        left -= len(entity.changes)
    missing = sum(len(each.changes) for each in diff) - limits.changes
    if missing > 0:
        yield DiffLine(0, "", f"… and {missing} more {'change' if missing == 1 else 'changes'}")


def short_lines(diff: Sequence[DiffEntity]) -> Iterator[DiffLine]:
    """One line for each change, without its values."""
    for entity in diff:
        for change in entity.changes:
            yield DiffLine(0, SIGNS[change.op], f"{entity_name(entity)}  {_place(change)}")


def entity_name(entity: DiffEntity) -> str:
    """Which entity, and its scope where that is not the document itself."""
    scope = "" if entity.scope == "doc" else f"  ({safe_line(entity.scope)})"
    kind, own_id = entity.name
    return f"{safe_line(kind, limit=_MOST_PLACE)} {safe_line(own_id, limit=_MOST_PLACE)}{scope}"


def value_text(value: Json, columns: int) -> str:
    """A value as JSON on one line, in safe text of at most so many columns."""
    return str(safe_line(json.dumps(value, ensure_ascii=False), limit=columns))


def _change(change: DiffChange, limits: DiffLimits) -> Iterator[DiffLine]:
    yield DiffLine(2, SIGNS[change.op], _place(change))
    for each in change.values[: limits.values]:
        place = f"{safe_line(each.place, limit=_MOST_PLACE)}  " if each.place else ""
        yield DiffLine(6, each.mark.value, f"{place}{value_text(each.value, limits.columns)}")
    missing = len(change.values) - limits.values
    if missing > 0:
        yield DiffLine(6, "", f"… and {missing} more {'value' if missing == 1 else 'values'}")
    if change.stays:
        stay = "1 value stays as it is" if change.stays == 1 else f"{change.stays} values stay"
        yield DiffLine(6, "", f"({stay})")
    if change.is_redacted:
        yield DiffLine(6, "", "(this role does not see all of it)")


def _place(change: DiffChange) -> str:
    place = safe_line(change.place, limit=_MOST_PLACE) or WHOLE
    if change.source is None:
        return str(place)
    return f"{place}  from {safe_line(change.source, limit=_MOST_PLACE)}"
