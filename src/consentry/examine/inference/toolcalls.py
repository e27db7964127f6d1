"""Calls of tools: of names that nothing in the code binds, and of members that call tools by name.

What such a call does is not in the code, so that nothing can be inferred from it. Arguments are
variables that nothing binds, too; a call on one is a call of a tool only if data has no such member.
"""

from collections.abc import Iterable
from typing import Final

from consentry.base.values import dataclass
from consentry.examine.inference.tables import Names, tables

MOST_CALLS: Final = 1000
"""So many different calls of tools are told apart."""

AN_ITEM: Final = "[]"
"""Stands in a path for whatever is taken out by a key."""


@dataclass(frozen=True, slots=True)
class Called:
    """What a call names: `a.b.c(...)` is the path of those three."""

    path: tuple[str, ...]
    is_bound: bool
    """Whether something in the code binds the first name."""


def tool_calls(calls: Iterable[Called], names: Names) -> frozenset[str]:
    """The names of the tools that are called, as far as calls can be told apart."""
    found: set[str] = set()
    for call in calls:
        if _is_tool(call, names):
            found.add(".".join(call.path))
            if len(found) >= MOST_CALLS:
                break
    return frozenset(found)


def _is_tool(call: Called, names: Names) -> bool:
    root, *members = call.path
    if members and members[-1] in tables().members:
        return True
    if call.is_bound or root in names.bound:
        return False
    return not members or root in tables().roots or members[-1] not in names.of_data
