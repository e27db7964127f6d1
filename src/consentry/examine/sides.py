"""One side of a change, before or after: what all its files give together, imports followed.

A file is read as what its name and content make it, or the link, the import or the list of
requirements that leads to it. What it imports from the same tree is read, too,
and what that imports, because a power that moves into a module next door is still there. A module that
no table knows and no file of the tree is, may do anything: it is unclassified.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol

from consentry.base.canonical import digest_bytes
from consentry.base.values import dataclass, replace
from consentry.declare.patchbundle import Blob
from consentry.examine.acrossfiles import powers_across
from consentry.examine.addedrules import NO_RULES, AddedRules
from consentry.examine.atoms import (
    NOTHING_FOUND,
    Atom,
    Extraction,
    Found,
    Provenance,
    Unclassified,
    calling,
    reading,
    unclassified,
)
from consentry.examine.constanttargets import path_atoms, path_pattern
from consentry.examine.filekinds import PLAIN, FileKind, kind_of
from consentry.examine.importing import files_of_import, read_as, without_style
from consentry.examine.leadingto import linked_names, listed_files
from consentry.surface.dimensions import Dimension
from consentry.surface.pattern import ABSOLUTE_PATH_MARK

MOST_FOLLOWED: Final = 5000
"""So many files are read beyond those that were touched; more is not judged."""

LINK: Final = "120000"
SUBMODULE: Final = "160000"
EXECUTABLE: Final = "100755"

_BELIEVED: Final = ("typing", "typing_extensions")
"""Modules whose word counts: blocks for type checkers are passed over because of them."""

_CLASSES: Final = {
    Dimension.FS_READ_ROOTS: "filesystem",
    Dimension.FS_WRITE_ROOTS: "filesystem",
    Dimension.NET_ACCESS: "web",
    Dimension.PROC_EXEC: "shell",
}


class SourceTree(Protocol):
    """The tree that a side of the change stands in; one with `links()` tells its links, too."""

    def read(self, path: str) -> Blob | None:
        """The file of that name; None where there is none."""
        ...

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        ...


@dataclass(frozen=True, slots=True)
class Sited:
    """Something found, and the file it stands in."""

    file: str
    found: Found


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something that cannot be told, and the file it stands in."""

    file: str
    about: Unclassified


@dataclass(frozen=True, slots=True)
class Side:
    """All that one side gives, in the order of file names and lines."""

    found: tuple[Sited, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    files: tuple[str, ...] = ()
    """Touched and followed, sorted."""

    @property
    def atoms(self) -> frozenset[Atom]:
        """The powers alone."""
        return frozenset(each.found.atom for each in self.found)

    @property
    def without_plugins(self) -> "Side":
        """The same as our tables alone know it."""
        ours = [each for each in self.found if each.found.provenance is not Provenance.PLUGIN]
        return self if len(ours) == len(self.found) else replace(self, found=tuple(ours))


Job = tuple[FileKind, bytes]
Extract = Callable[[Iterable[Job]], Iterable[Extraction]]
"""Gives the extraction of each job, in their order; whoever hands it in may use more than one core."""

Wanted = tuple[str, FileKind | None]
"""A file, and what it is read as; None where its own name says that."""


def examine_side(
    touched: Mapping[str, Blob],
    tree: SourceTree,
    extract: Extract,
    rules: AddedRules = NO_RULES,
) -> Side:
    """What the touched files of a side give, and the files of the tree that they import.

    Of `rules` the tables are for whoever extracts; here they count for names used across files.
    """
    found: list[Sited] = []
    doubts: list[Doubt] = []
    seen: set[Wanted] = set()
    extractions: dict[str, Extraction] = {}
    blobs: dict[str, Blob] = dict(touched)
    waiting: deque[Wanted] = deque((path, None) for path in sorted(touched))
    waiting.extend(_led_to(touched, blobs, tree, extract))
    while waiting:
        batch = [each for each in dict.fromkeys(waiting) if each not in seen]
        waiting.clear()
        seen.update(batch)
        if len(seen) > MOST_FOLLOWED + len(touched):
            reason = f"imports lead to more than {MOST_FOLLOWED:,} files"
            doubts.append(Doubt(batch[0][0], Unclassified("too many files", 1, reason)))
            break
        for path, kind, extraction in _extracted(batch, blobs, tree, extract, rules):
            extractions[path] = extractions.get(path, NOTHING_FOUND) | extraction
            found += [Sited(path, each) for each in extraction.found]
            found += [Sited(path, each) for each in _classes(kind, extraction)]
            doubts += [Doubt(path, each) for each in extraction.unclassified]
            for each in extraction.imports:
                followed = files_of_import(each, path, kind, tree)
                if followed is None and not each.is_known:
                    doubts.append(
                        Doubt(path, _unknown_import(each.module, each.level, each.line, path))
                    )
                if followed is not None and not each.level and each.module in _BELIEVED:
                    doubts.append(Doubt(path, _taken_name(each.module, each.line)))
                for name in followed or ():
                    blob = blobs.get(name) or tree.read(name)
                    if blob is not None:
                        blobs[name] = blob
                        waiting.append((name, read_as(name, blob, each, kind)))
    for path, power in _across(extractions, tree, rules):
        found.append(Sited(path, power))
        found += [Sited(path, more) for more in _classes(FileKind.PYTHON, Extraction((power,)))]
    found.sort(key=lambda each: (each.file, each.found.line, each.found.atom, each.found.reason))
    doubts.sort(key=lambda each: (each.file, each.about.line, each.about.key))
    files = sorted({path for path, _ in seen})
    return Side(tuple(dict.fromkeys(found)), tuple(dict.fromkeys(doubts)), tuple(files))


def _across(
    extractions: Mapping[str, Extraction], tree: SourceTree, rules: AddedRules
) -> Iterator[tuple[str, Found]]:
    ours = list(powers_across(extractions, tree))
    yield from ours
    if rules.tables:
        from consentry.examine.knowledge.added import extended_knowledge  # noqa: PLC0415 - plugins
        from consentry.examine.knowledge.reader import used  # noqa: PLC0415 - as above

        with used(extended_knowledge(rules.tables)):
            more = list(powers_across(extractions, tree))
        known = frozenset(ours)
        for path, power in more:
            if (path, power) not in known:
                yield path, replace(power, provenance=Provenance.PLUGIN)


def _led_to(
    touched: Mapping[str, Blob], blobs: dict[str, Blob], tree: SourceTree, extract: Extract
) -> list[Wanted]:
    """What makes more of touched files that are inert by their names: links and lists of the tree."""
    inert = [
        path
        for path, blob in sorted(touched.items())
        if blob.mode not in (LINK, SUBMODULE) and kind_of(path, blob.content) in PLAIN
    ]
    if not inert:
        return []
    named = listed_files(inert, tree, extract)
    wanted: list[Wanted] = [(path, FileKind.REQUIREMENTS) for path in named]
    for name, path in linked_names(inert, tree):
        if kind_of(name, touched[path].content) not in PLAIN and name not in blobs:
            blobs[name] = touched[path]
            wanted.append((name, None))
    return wanted


def _extracted(
    wanted: list[Wanted],
    blobs: Mapping[str, Blob],
    tree: SourceTree,
    extract: Extract,
    rules: AddedRules,
) -> Iterator[tuple[str, FileKind, Extraction]]:
    jobs: list[Job] = []
    placed: list[tuple[str, FileKind, FileKind | None]] = []
    for path, given in wanted:
        blob = blobs[path]
        if blob.mode == SUBMODULE:
            reason = "is a submodule: its code is not in this change"
            yield (
                path,
                FileKind.OTHER,
                unclassified(f"submodule {digest_bytes(blob.content)}", 1, reason),
            )
            continue
        if blob.mode == LINK:
            linked = _linked(path, blob, blobs, tree)
            if isinstance(linked, Extraction):
                yield path, FileKind.OTHER, linked
                continue
            blob = linked
        kind = given or kind_of(path, blob.content, executable=blob.mode == EXECUTABLE)
        jobs.append((kind, blob.content))
        placed.append((path, kind, given))
    answers = zip(placed, jobs, extract(jobs), strict=True)
    for (path, kind, given), (_, content), extraction in answers:
        found = extraction if given is None else without_style(path, extraction)
        yield path, kind, found | rules.extraction(path, content) if rules.looks else found


def _linked(
    path: str, blob: Blob, blobs: Mapping[str, Blob], tree: SourceTree
) -> Blob | Extraction:
    """The file that a link leads to, read as what the link calls it; one that leaves is a reference."""
    target = blob.content.decode("utf-8", "surrogateescape")
    folder = path.rpartition("/")[0]
    is_from_root = not folder or target.startswith(("/", "~"))
    pattern = path_pattern(target if is_from_root else f"{folder}/{target}")
    if pattern is None or pattern == ABSOLUTE_PATH_MARK or pattern.startswith(("/", "~")):
        atoms = path_atoms(reading, target)
        reason = f"link to {target}"
        return Extraction(tuple(Found(atom, 1, reason) for atom in atoms))
    found = blobs.get(pattern) or tree.read(pattern)
    if found is None or found.mode in (LINK, SUBMODULE):
        return unclassified(f"link {digest_bytes(blob.content)}", 1, f"is a link to `{target}`")
    return found


def _classes(kind: FileKind, extraction: Extraction) -> Iterator[Found]:
    """The tool classes that follow from what a file does, at the line that says so first."""
    seen: set[tuple[str, bool]] = set()
    for each in extraction.found:
        is_ours = each.provenance is not Provenance.PLUGIN
        names = [_CLASSES.get(each.atom.dimension), "python" if kind is FileKind.PYTHON else None]
        for name in names:
            if name is not None and (name, is_ours) not in seen:
                seen.add((name, is_ours))
                yield Found(calling(name), each.line, each.reason, each.provenance)


def _taken_name(module: str, line: int) -> Unclassified:
    reason = f"import {module}: a file of this tree has that name, and may be what is imported"
    return Unclassified(f"taken name {module}", line, reason)


def _unknown_import(module: str, level: int, line: int, path: str) -> Unclassified:
    if level:
        folder = path.rpartition("/")[0]
        written = module if module.startswith(".") else "." * level + module
        return Unclassified(
            f"import {folder} {written}", line, f"import {written}: no such file in this change"
        )
    top = module.partition(".")[0]
    return Unclassified(
        f"import {top}", line, f"import {module}: in no table, and not in this tree"
    )
