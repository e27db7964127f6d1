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
from consentry.decide.previewdiff import DiffChange, DiffEntity, DiffValue, Mark
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
    return str(safe_line(_json(value), limit=columns))


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def is_cut(diff: Sequence[DiffEntity], limits: DiffLimits = USUAL_LIMITS) -> bool:
    """Whether the lines of it leave out a part of a name, of a place or of a value."""
    return any(
        _is_longer(entity.name.entity_type, _MOST_PLACE)
        or _is_longer(entity.name.entity_id, _MOST_PLACE)
        or any(_is_change_cut(change, limits) for change in entity.changes)
        for entity in diff
    )


def _is_change_cut(change: DiffChange, limits: DiffLimits) -> bool:
    return (
        len(change.values) > limits.values
        or _is_longer(change.place, _MOST_PLACE)
        or _is_longer(change.source or "", _MOST_PLACE)
        or any(
            _is_longer(each.place, _MOST_PLACE) or _is_longer(_json(each.value), limits.columns)
            for each in change.values
        )
    )


def _is_longer(text: str, limit: int) -> bool:
    return safe_line(text, limit=limit) != safe_line(text)


def _change(change: DiffChange, limits: DiffLimits) -> Iterator[DiffLine]:
    yield DiffLine(2, SIGNS[change.op], _place(change))
    shown, before = change.values[: limits.values], None
    for at, each in enumerate(shown):
        after = shown[at + 1] if at + 1 < len(shown) else None
        place = f"{safe_line(each.place, limit=_MOST_PLACE)}  " if each.place else ""
        yield DiffLine(6, each.mark.value, f"{place}{value_text(each.value, limits.columns)}")
        if before is not None:
            yield from _where_they_differ(before, each, limits)
        before = each if _is_pair(each, after) else None
    missing = len(change.values) - limits.values
    if missing > 0:
        yield DiffLine(6, "", f"… and {missing} more {'value' if missing == 1 else 'values'}")
    if change.stays:
        stay = "1 value stays as it is" if change.stays == 1 else f"{change.stays} values stay"
        yield DiffLine(6, "", f"({stay})")
    if change.is_redacted:
        yield DiffLine(6, "", "(this role does not see all of it)")


def _is_pair(removed: DiffValue, added: DiffValue | None) -> bool:
    """Whether two values stand for what one place held and will hold."""
    return (
        added is not None
        and (removed.mark, added.mark) == (Mark.REMOVED, Mark.ADDED)
        and removed.place == added.place
    )


def _where_they_differ(
    removed: DiffValue, added: DiffValue, limits: DiffLimits
) -> Iterator[DiffLine]:
    """Of two long texts what is not alike: their cut lines would hide it, and look the same."""
    one, two = removed.value, added.value
    if not isinstance(one, str) or not isinstance(two, str):
        return
    if not (_is_longer(_json(one), limits.columns) or _is_longer(_json(two), limits.columns)):
        return
    head = _alike(one, two)
    tail = _alike(one[head:][::-1], two[head:][::-1])
    yield DiffLine(6, "", f"(alike in the first {head:,} letters and the last {tail:,}; between:)")
    for mark, text in ((Mark.REMOVED, one), (Mark.ADDED, two)):
        between = text[head : len(text) - tail]
        yield DiffLine(8, mark.value, value_text(between, limits.columns))


def _alike(one: str, two: str) -> int:
    """How many letters two texts begin with alike."""
    pairs = enumerate(zip(one, two, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(two)))


def _place(change: DiffChange) -> str:
    place = safe_line(change.place, limit=_MOST_PLACE) or WHOLE
    if change.source is None:
        return str(place)
    return f"{place}  from {safe_line(change.source, limit=_MOST_PLACE)}"
