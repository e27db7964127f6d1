"""Writes the reference pages that restate a table of the code: `python -m checks.reference --write`.

A page belongs to one module and is made by one function from that module to Markdown. To add a
page, write that function and add a row to `PAGES`; the check `documented` then compares it, byte
for byte. A module that does not exist yet has no page; a module that exists must have one.
"""

import argparse
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

from checks.certificationpage import certification_body

# Characters that Markdown reads as markup; an underscore inside a word is only itself.
_MARKUP = re.compile(r"[\\*<>|~\[\]]|(?<!\w)_|_(?!\w)")


@dataclass(frozen=True, slots=True)
class Page:
    """A generated page: where it lies, the module it restates, and how."""

    path: str
    module: str
    body: Callable[[ModuleType], str]

    def text(self) -> str | None:
        """The page as it should be, or None while its module does not exist."""
        if not _exists(self.module):
            return None
        note = f"<!-- Made from {self.module} by `python -m checks.reference --write`; do not edit. -->"
        return f"{note}\n\n{self.body(importlib.import_module(self.module)).rstrip()}\n"


def codes_page(module: ModuleType) -> str:
    """Error codes and exit statuses."""
    statuses = table(
        ("status", "meaning"),
        ((f"{int(status)}", prose(status.meaning)) for status in module.ExitStatus),
    )
    codes = table(
        ("code", "status", "meaning", "what to do"),
        (
            (code_span(code.value), f"{int(code.status)}", prose(code.meaning), prose(code.remedy))
            for code in module.Code
        ),
    )
    return f"""# Codes and exit statuses

Every error that Consentry prints carries one of these codes. A code keeps its meaning once it has
been released; messages may change. With `--json` the code is the field `error.code`.

## Exit statuses

A command that runs a program passes on the program's own status where none of these applies.

{statuses}

## Codes

{codes}"""


def events_page(module: ModuleType) -> str:
    """Event types of the ledger, group by group, and what their fields hold."""
    groups = "\n\n".join(
        f"## {group.capitalize()}\n\n{_events_of(list(events))}"
        for group, events in groupby(module.EventType, key=lambda event: event.group)
    )
    return f"""# Events

Every event in the ledger has one of these types, and the fields named here in its payload. A field
with a question mark may be null; its key is there all the same. A payload may have more fields than
its type must have; one that lacks a field, or has the wrong thing in it, is not recorded
(`event-field`). What every event has beside its payload, such as its id and its time, is the same
for all types and is not repeated.

{groups}"""


def _events_of(events: list[Any]) -> str:
    """One group: its events with their fields, then what each field holds, parts included."""
    overview = table(
        ("event", "fields", "meaning"),
        (
            (
                code_span(event.value),
                ", ".join(
                    _marked(place, field) for place, field in event.places() if field.name == place
                ),
                prose(event.meaning),
            )
            for event in events
        ),
    )
    holders: dict[str, dict[str, list[str]]] = {}
    for event in events:
        for place, field in event.places():
            words = f"{field.kind.words}, or null" if field.nullable else field.kind.words
            holders.setdefault(place, {}).setdefault(words, []).append(event.value)
    fields = table(
        ("field", "holds", "in"),
        (
            (
                code_span(place),
                prose(words),
                "all" if len(names) == len(events) else ", ".join(map(code_span, names)),
            )
            for place, kinds in holders.items()
            for words, names in kinds.items()
        ),
    )
    return f"{overview}\n\n{fields}"


def _marked(place: str, field: Any) -> str:
    return code_span(place) + ("?" if field.nullable else "")


def settings_page(module: ModuleType) -> str:
    """Settings, from the environment and from files."""
    settings = table(
        ("setting", "kind", "default", "meaning"),
        (
            (code_span(each.name), prose(each.kind), prose(each.default), prose(each.meaning))
            for each in module.SETTINGS
        ),
    )
    return f"""# Settings

Every setting that Consentry reads, where it is set, what holds when it is not set, and its meaning.

{settings}"""


def certification_page(module: ModuleType) -> str:
    """The certification corpus."""
    return certification_body(module, table, code_span, prose)


PAGES = (
    Page("docs/reference/codes.md", "consentry.base.codes", codes_page),
    Page("docs/reference/events.md", "consentry.record.events", events_page),
    Page("docs/reference/settings.md", "consentry.service.settings", settings_page),
    Page(
        "docs/reference/certification-corpus.md",
        "consentry.declare.certification",
        certification_page,
    ),
)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def code_span(text: str) -> str:
    """Text shown as it is typed; nothing stays nothing."""
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def prose(text: str) -> str:
    """A sentence as Markdown that shows exactly its characters; code spans in it stay code spans."""
    spans = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(
        part.replace("|", r"\|") if part[:1] == "`" else _MARKUP.sub(r"\\\g<0>", part)
        for part in spans
    )


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def main() -> int:
    """Writes the pages below the current folder, or says which would change."""
    parser = argparse.ArgumentParser(prog="python -m checks.reference", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the pages")
    write: bool = parser.parse_args().write
    changed = False
    for page in PAGES:
        text, path = page.text(), Path(page.path)
        if text is None or (path.exists() and path.read_bytes() == text.encode()):
            continue
        changed = True
        print(f"{'written' if write else 'differs'}: {page.path}")
        if write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
    return 1 if changed and not write else 0


if __name__ == "__main__":
    sys.exit(main())
