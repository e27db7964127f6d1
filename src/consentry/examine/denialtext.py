"""Reads denials from text: what a JavaScript runtime refused, as it words it today and did before.

Text is a program's own word, and anybody can print it: what is read here is reported, never shown,
and nothing may be opened because of it alone. The wordings are data beside this file.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from consentry.base.values import dataclass
from consentry.surface.operations import Operation

MOST_RESOURCE: Final = 4096
"""So much of a resource is kept."""

_TABLE: Final = "denialtext.toml"
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class DeniedText:
    """One denial as the text has it; without a resource, all of its kind was asked for."""

    operation: Operation
    resource: str | None


@dataclass(frozen=True, slots=True)
class _Wordings:
    anchor: re.Pattern[str]
    today: dict[Operation, tuple[re.Pattern[str], ...]]
    given: dict[Operation, re.Pattern[str]]


def denials_in(text: str) -> Iterator[DeniedText]:
    """Every denial that the text speaks of, in order, with repeats; colours do not matter."""
    plain = _COLOURS.sub("", text)
    wordings = _wordings()
    for found in wordings.anchor.finditer(plain):
        try:
            operation = Operation(found["operation"])
        except ValueError:
            continue
        yield DeniedText(operation, _resource(plain, found.start(), operation, wordings))


def given_patterns() -> dict[Operation, re.Pattern[str]]:
    """The patterns of ESCALATION, by what they detect."""
    return dict(_wordings().given)


def _resource(text: str, start: int, operation: Operation, wordings: _Wordings) -> str | None:
    for pattern in wordings.today[operation]:
        found = pattern.match(text, start)
        if found is not None:
            return found["resource"][:MOST_RESOURCE]
    given = wordings.given.get(operation)
    if given is None or given.groups == 0:
        return None
    ends = text.find("\n", start)
    line = text[start:] if ends < 0 else text[start:ends]
    found = given.match(line)
    return None if found is None else found[1].strip()[:MOST_RESOURCE]


@lru_cache(maxsize=1)
def _wordings() -> _Wordings:
    source = files("consentry.examine").joinpath(_TABLE).read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(source)
    return _Wordings(
        anchor=re.compile(table["anchor"]),
        today={
            each: tuple(
                re.compile(pattern.replace("{operation}", each), re.DOTALL)
                for pattern in table["today"]
            )
            for each in Operation
        },
        given={Operation(name): re.compile(pattern) for name, pattern in table["given"].items()},
    )
