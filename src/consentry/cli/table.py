"""The data that help pages are made of, apart from the options that click knows."""

from typing import NamedTuple

PROGRAM = "consentry"
COMPLETION_VARIABLE = "_CONSENTRY_COMPLETE"


class Page(NamedTuple):
    """What the page of a command says besides its options."""

    summary: str
    paragraphs: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    statuses: tuple[tuple[str, str], ...] = ()
    read_on: tuple[str, ...] = ()


class CommandRow(NamedTuple):
    """One command: its name, where it lives as `module:attribute`, and its line in the help."""

    name: str
    location: str
    summary: str


class CommandSection(NamedTuple):
    """Commands that belong to the same step, under one heading."""

    heading: str
    rows: tuple[CommandRow, ...]
