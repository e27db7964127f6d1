"""What programs do with their words, read from the tables `shell_*.toml`."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from consentry.base.values import dataclass
from consentry.examine.knowledge.effects import Effect, parse_effect

_NONE: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class CommandRow:
    """One program; the words are explained in the table."""

    name: str
    operands: tuple[str, ...]
    options: Mapping[str, str]
    effects: tuple[Effect, ...]
    alone: tuple[Effect, ...]
    first: Mapping[str, "CommandRow"]
    stops: bool
    words: bool
    bundled: bool
    needs_target: bool
    stdin: str | None
    script_options: frozenset[str]
    in_place: tuple[str, ...]
    writes_with: tuple[str, ...]
    writes_unless: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShellWords:
    """Names that mean something to the shell itself."""

    builtins: frozenset[str]
    own_variables: frozenset[str]
    loading_variables: frozenset[str]
    starting_variables: frozenset[str]
    nothing: tuple[str, ...]


def command_row(name: str) -> CommandRow | None:
    """The row of a program by the last part of its path."""
    return _row_of(name.rpartition("/")[2])


@lru_cache(maxsize=1)
def shell_words() -> ShellWords:
    """The names, read once."""
    table = _table("shell_words.toml")
    return ShellWords(
        frozenset(table["builtins"].split()),
        frozenset(table["own_variables"].split()),
        frozenset(table["loading_variables"].split()),
        frozenset(table["starting_variables"].split()),
        tuple(table["nothing"].split()),
    )


@lru_cache(maxsize=1024)
def _row_of(name: str) -> CommandRow | None:
    written = _written().get(name)
    return None if written is None else _row(name, written)


@lru_cache(maxsize=1)
def _written() -> Mapping[str, Mapping[str, Any]]:
    rows: dict[str, Mapping[str, Any]] = {}
    for row in _table("shell_commands.toml")["command"]:
        rows.update(dict.fromkeys((row["name"], *row.get("also", ())), row))
    return rows


def _row(name: str, row: Mapping[str, Any]) -> CommandRow:
    return CommandRow(
        name,
        tuple(row.get("operands", ())),
        row.get("options", _NONE),
        tuple(map(parse_effect, row.get("effects", ()))),
        tuple(map(parse_effect, row.get("alone", ()))),
        {first: _row(f"{name} {first}", each) for first, each in row.get("first", _NONE).items()},
        bool(row.get("stops")),
        bool(row.get("words")),
        bool(row.get("bundled")),
        bool(row.get("needs_target")),
        row.get("stdin"),
        frozenset(row.get("script_options", ())),
        tuple(row.get("in_place", ())),
        tuple(row.get("writes_with", ())),
        tuple(row.get("writes_unless", ())),
    )


def _table(name: str) -> dict[str, Any]:
    text = files("consentry.examine.knowledge").joinpath(name).read_text(encoding="utf-8")
    return tomllib.loads(text)
