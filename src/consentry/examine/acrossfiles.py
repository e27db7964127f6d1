"""Powers that no file has by itself: what one gives away and another uses.

A module that one file imports is used through that file by another (`from helper import o`, then
`o.system`): the name is followed to where it comes from, over all files of a side, so that nothing is
gained by splitting it up. A module that is handed on as a value counts where that is done.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from consentry.examine.atoms import Atom, Extraction, Found, ModuleImport
from consentry.examine.filekinds import FileKind
from consentry.examine.importing import Names, files_of_import
from consentry.examine.knowledge.bareatoms import bare_atoms
from consentry.examine.knowledge.effects import Effect, Power
from consentry.examine.knowledge.reader import Knowledge, knowledge

_MOST_HOPS: Final = 6
_LADDER: Final = (Power.NET, Power.PROC, Power.ENV, Power.CRYPTO)


def powers_across(
    extractions: Mapping[str, Extraction], tree: Names
) -> Iterator[tuple[str, Found]]:
    """What comes of the files together, with the file that uses it."""
    tables = knowledge()
    exports = {path: dict(each.ends.exports) for path, each in extractions.items()}
    for path, extraction in extractions.items():
        for name, line in extraction.ends.outside:
            for reached in _followed(name, path, exports, tree):
                for atom in _named_atoms(tables, reached):
                    yield path, Found(atom, line, f"{reached} through {name}")


def _followed(
    name: str, path: str, exports: Mapping[str, Mapping[str, str]], tree: Names
) -> Iterator[str]:
    """The names in modules of the tables that a name of this tree leads to."""
    waiting = [(name, path)]
    for _ in range(_MOST_HOPS):
        further: list[tuple[str, str]] = []
        for written, importer in waiting:
            for file, rest in _places(written, importer, tree):
                first, dot, member = rest.partition(".")
                reference = exports.get(file, {}).get(first)
                if reference is None:
                    continue
                reached = f"{reference}{dot}{member}"
                if reference.startswith(".") or not knowledge().is_known(reference):
                    further.append((reached, file))
                else:
                    yield reached
        waiting = further


def _places(name: str, importer: str, tree: Names) -> Iterator[tuple[str, str]]:
    """The files that the first parts of a dotted name may be, and what is asked of each."""
    level = len(name) - len(name.lstrip("."))
    parts = name[level:].split(".")
    for end in range(len(parts) - 1, -1 if level else 0, -1):
        module = ".".join(parts[:end])
        given = ModuleImport(module, level, (), 1, is_known=False)
        found = files_of_import(given, importer, FileKind.PYTHON, tree) or ()
        ending = parts[end - 1] if end else ""
        for file in found:
            if not end or file.endswith((f"{ending}.py", f"{ending}/__init__.py")):
                yield file, ".".join(parts[end:])


def _named_atoms(tables: Knowledge, qualified: str) -> Iterator[Atom]:
    """What naming a member gives: as calling it with arguments that are computed."""
    effects = tables.member(tables.canonical(qualified)) or ()
    yield from bare_atoms(map(_computed, effects))


def _computed(effect: Effect) -> Effect:
    """An effect whose target some argument names, where the argument is not known."""
    if not effect.arguments:
        return effect
    if effect.power is Power.LOAD:
        return Effect(Power.LOAD, "any")
    return Effect(effect.power, effect.constant, is_any=effect.power in _LADDER)
