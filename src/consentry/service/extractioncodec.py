"""An extraction as bytes: compact JSON, read back strictly, for the cache and for worker processes.

    [[[dimension, operation, target], …], [[atom, line, reason, provenance], …],
     [[key, line, reason], …], [[module, level, [name, …], line, is_known], …],
     [[[name, reference], …], [[name, line], …]]]

`atom` is a place in the first list. What is not exactly of this form is no extraction: reading it
gives None, and never an extraction with something left out.
"""

import json
from typing import Any, Final

from consentry.examine.atoms import (
    NO_ENDS,
    Atom,
    Ends,
    Extraction,
    Found,
    ModuleImport,
    Operation,
    Provenance,
    Unclassified,
)
from consentry.surface.dimensions import Dimension

FORM: Final = 2

_DIMENSIONS: Final = {each.value: each for each in Dimension}
_OPERATIONS: Final = {each.value: each for each in Operation}
_PROVENANCES: Final = {each.value: each for each in Provenance}


def encode_extraction(extraction: Extraction) -> bytes:
    """The bytes of an extraction."""
    places: dict[Atom, int] = {}
    ends = extraction.ends
    found = [
        (places.setdefault(each.atom, len(places)), each.line, each.reason, each.provenance.value)
        for each in extraction.found
    ]
    rows = (
        [(atom.dimension.value, atom.operation.value, atom.target) for atom in places],
        found,
        [(each.key, each.line, each.reason) for each in extraction.unclassified],
        [
            (each.module, each.level, each.names, each.line, each.is_known)
            for each in extraction.imports
        ],
        (ends.exports, ends.outside),
    )
    return json.dumps(rows, separators=(",", ":")).encode("ascii")


def decode_extraction(content: bytes) -> Extraction | None:
    """The extraction that these bytes are; None for anything else."""
    try:
        atom_rows, found, unclassified, imports, ends = json.loads(content)
        atoms = [_atom(*row) for row in atom_rows]
        return Extraction(
            tuple([_found(atoms, *row) for row in found]),
            tuple([_unclassified(*row) for row in unclassified]),
            tuple([_import(*row) for row in imports]),
            _ends(*ends),
        )
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _atom(dimension: str, operation: str, target: str) -> Atom:
    if type(target) is not str:
        raise TypeError(target)
    return Atom(_DIMENSIONS[dimension], _OPERATIONS[operation], target)


def _found(atoms: list[Atom], place: int, line: int, reason: str, provenance: str) -> Found:
    if type(place) is not int or place < 0 or type(line) is not int or type(reason) is not str:
        raise TypeError(place)
    return Found(atoms[place], line, reason, _PROVENANCES[provenance])


def _unclassified(key: str, line: int, reason: str) -> Unclassified:
    if type(key) is not str or type(line) is not int or type(reason) is not str:
        raise TypeError(key)
    return Unclassified(key, line, reason)


def _ends(exports: Any, outside: Any) -> Ends:
    if not (exports or outside):
        return NO_ENDS
    return Ends(
        tuple([_pair(str, *row) for row in exports]),
        tuple([_pair(int, *row) for row in outside]),
    )


def _pair(kind: type, name: str, value: Any) -> tuple[str, Any]:
    if type(name) is not str or type(value) is not kind:
        raise TypeError(name)
    return name, value


def _import(module: str, level: int, names: Any, line: int, is_known: Any) -> ModuleImport:
    if type(module) is not str or type(level) is not int or type(line) is not int:
        raise TypeError(module)
    if type(names) is not list or type(is_known) is not bool:
        raise TypeError(names)
    if not all(type(name) is str for name in names):
        raise TypeError(names)
    return ModuleImport(module, level, tuple(names), line, is_known)
