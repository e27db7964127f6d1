"""Changes in a few words: sides from texts, the delta between them, a wish from its fields."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from consentry.declare.patchbundle import Blob
from consentry.declare.wish import AllowedCapabilities, Wish
from consentry.declare.wishfile import read_wish
from consentry.examine.atoms import Atom, Extraction, Found, Unclassified
from consentry.examine.delta import Delta, delta_between
from consentry.examine.filekinds import extract_file
from consentry.examine.sides import Doubt, Job, Side, Sited, examine_side

Texts = Mapping[str, str]


class Files:
    """A tree of files that are texts; counts how often each is read."""

    def __init__(self, texts: Texts) -> None:
        self.blobs = {path: Blob(text.encode()) for path, text in texts.items()}
        self.reads: list[str] = []

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        return path in self.blobs

    def read(self, path: str) -> Blob | None:
        """The file of that name."""
        self.reads.append(path)
        return self.blobs.get(path)


def extract(jobs: Iterable[Job]) -> list[Extraction]:
    """Extraction without anything around it."""
    return [extract_file(kind, content) for kind, content in jobs]


def side_of(touched: Texts, rest: Texts | None = None) -> Side:
    """The side with these touched files, in a tree that has the rest as well."""
    files = Files({**(rest or {}), **touched})
    return examine_side({path: files.blobs[path] for path in touched}, files, extract)


def delta_of(before: Texts, after: Texts, rest: Texts | None = None) -> Delta:
    """What changes between two sets of touched files in the same tree."""
    return delta_between(side_of(before, rest), side_of(after, rest))


def found_side(*atoms: Atom, file: str = "a.py", doubts: Iterable[str] = ()) -> Side:
    """A side on which just these powers were found, and these things are not known."""
    found = tuple(
        Sited(file, Found(atom, line, "said so")) for line, atom in enumerate(atoms, start=1)
    )
    unknown = tuple(Doubt(file, Unclassified(key, 1, f"{key}: nobody knows")) for key in doubts)
    return Side(found, unknown, (file,))


def gained(*atoms: Atom, before: Iterable[Atom] = ()) -> Delta:
    """A delta that adds these powers."""
    return delta_between(found_side(*before), found_side(*before, *atoms))


def wish_of(**fields: Any) -> Wish:
    """A wish with these fields in its block."""
    document = {
        "wish_ir_version": "1",
        "id": "w",
        "scope": ["try"],
        "non_goals": ["more"],
        "allowed_capabilities": fields,
    }
    return read_wish(json.dumps(document).encode(), "w.json")


def allowing(**fields: Any) -> AllowedCapabilities:
    """The block of such a wish."""
    found = wish_of(**fields).allowed
    assert found is not None
    return found
