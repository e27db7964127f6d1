"""Lists in which nothing may stand twice: the second one is refused, with the line of the first."""

from collections.abc import Callable, Hashable
from typing import TypeVar

from consentry.declare.values import Value

Item = TypeVar("Item")


def without_repeats(
    value: Value, read: Callable[[Value], Item | None], key: Callable[[Item], Hashable]
) -> tuple[Item, ...] | None:
    """The items of a list, of which no two may be the same by what `key` makes of them."""
    items = value.items()
    if items is None:
        return None
    lines: dict[Hashable, int] = {}
    found: list[Item] = []
    for item in items:
        built = read(item)
        if built is None:
            continue
        if key(built) in lines:
            item.refuse(f"this is already in line {lines[key(built)]}", "keep one of the two")
        lines.setdefault(key(built), item.line)
        found.append(built)
    return tuple(found)
