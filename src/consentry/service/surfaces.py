"""What code in one place can do: all files of a source examined together, in bounded memory.

Files are examined in batches, and only what was found in them is kept. All files of the tree are
examined anyhow, so an import that leads to one of them is settled by its being there. What one file
gives away and another uses is compared over all of them in the end, whichever batches they were in.
Files without power are passed over without being sent anywhere.

A recipe is a document whose nodes are judged by a registry; here there is none, so its nodes are
unclassified. What the metadata of a distribution requires counts as declared.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import cache
from posixpath import join, normpath
from typing import TYPE_CHECKING, Final

from consentry.base.canonical import digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.base.values import dataclass
from consentry.declare.patchbundle import Blob
from consentry.declare.recipe import is_recipe
from consentry.examine.addedrules import NO_RULES, AddedRules
from consentry.examine.atoms import NO_ENDS, Ends, Extraction, Unclassified, joined
from consentry.examine.delta import Delta, delta_between
from consentry.examine.extracted import surface_of
from consentry.examine.filekinds import FileKind, kind_of
from consentry.examine.sides import (
    EXECUTABLE,
    LINK,
    Doubt,
    Extract,
    Job,
    Side,
    Sited,
    SourceTree,
    examine_side,
)
from consentry.service.extracting import Extractor, Progress
from consentry.service.sources import NotRead, Skipped, Source, unreadable
from consentry.surface.lattice import Surface

if TYPE_CHECKING:
    from consentry.service.extractioncache import ExtractionCache

BATCH_BYTES: Final = 24 << 20
BATCH_FILES: Final = 5000
_MOST_HOPS: Final = 40
_INERT: Final = (FileKind.INERT, FileKind.INERT_BINARY)
_REQUIRES: Final = b"requires-dist:"


@dataclass(frozen=True, slots=True)
class Examined:
    """What a source can do, by what it was found, and what was left out."""

    described: str
    side: Side
    not_read: tuple[NotRead, ...]
    files: int
    """How many files there were to read."""

    @property
    def surface(self) -> Surface:
        """All powers together."""
        return surface_of(self.side.atoms)


@dataclass(frozen=True, slots=True)
class Means:
    """With what to examine: what was read before, how many processes, whom to tell."""

    cache: "Callable[[], ExtractionCache] | None" = None
    workers: int | None = None
    progress: Progress | None = None
    rules: AddedRules = NO_RULES
    """What plugins add."""


def examine_source(source: Source, means: Means) -> Examined:
    """Everything in it; the source is closed afterwards."""
    with closing(source):
        reading = _Reading(source, means)
        try:
            side = reading.side()
        except BadInput as problem:
            message = f"{source.described}: {problem.message}"
            raise UsageProblem(
                Code.FILE_UNUSABLE, message, help_line=problem.help_line
            ) from problem
        return Examined(source.described, side, source.not_read, reading.done)


def compare(before: Examined, after: Examined) -> Delta:
    """What the second can do beyond the first; a virtual environment that is new is not known."""
    known = {each.path for each in before.not_read}
    doubts = [
        Doubt(each.path, unreadable(each.path, f"it is left out: {each.why.value}"))
        for each in after.not_read
        if each.why is Skipped.ENVIRONMENT and each.path not in known
    ]
    side = Side(after.side.found, (*after.side.doubts, *doubts), after.side.files)
    return delta_between(before.side, side)


class _Names:
    """The tree of a source of which all is examined: imports lead to files, and need no reading."""

    def __init__(self, source: Source) -> None:
        self.has = source.has

    def read(self, path: str) -> Blob | None:  # noqa: ARG002 - the interface of a tree
        """Nothing: the file is an entry itself."""
        return None


class _Reading:
    """One pass over a source."""

    def __init__(self, source: Source, means: Means) -> None:
        self._source = source
        self._means = means
        self._tree: SourceTree = _Names(source) if source.is_whole else source
        self._found: dict[Sited, None] = {}
        self._doubts: dict[Doubt, None] = {}
        self._files: set[str] = set()
        self._links: dict[str, Blob] = {}
        self._ends: dict[str, list[Ends]] = {}
        self._examined = 0
        # Loaded once, and only if a batch is large enough to ask for it.
        self._cache = None if means.cache is None else cache(means.cache)
        self.done = 0

    def side(self) -> Side:
        """All of it, in the order of names and lines."""
        for batch in self._batches():
            self._examine(batch)
        self._examine_together()
        self._tell(self.done)
        found = sorted(
            self._found,
            key=lambda each: (each.file, each.found.line, each.found.atom, each.found.reason),
        )
        doubts = sorted(self._doubts, key=lambda each: (each.file, each.about.line, each.about.key))
        return Side(tuple(found), tuple(doubts), tuple(sorted(self._files)))

    def _batches(self) -> Iterator[dict[str, Blob]]:
        batch: dict[str, Blob] = {}
        size = 0
        for path, given in self._source.entries():
            self.done += 1
            self._files.add(path)
            if isinstance(given, Blob) and given.mode == LINK:
                self._links[path] = given
                continue
            blob = self._wanted(path, given)
            if blob is None:
                continue
            if path in batch:
                # A name that is there twice: each is examined.
                yield batch
                batch, size = {}, 0
            batch[path] = blob
            size += len(blob.content)
            if size > BATCH_BYTES or len(batch) >= BATCH_FILES:
                yield batch
                batch, size = {}, 0
        yield batch
        yield dict(self._followed())

    def _wanted(self, path: str, given: Blob | Unclassified) -> Blob | None:
        """What is to be examined of an entry; what is known without that is noted."""
        if isinstance(given, Unclassified):
            self._doubts[Doubt(path, given)] = None
            return None
        if is_recipe(path):
            self._read_recipe(path, given)
            return None
        if _has_requirements(path, self._source):
            self._read_requirements(path, given.content)
        kind = kind_of(path, given.content, executable=given.mode == EXECUTABLE)
        if kind is FileKind.INERT and self._means.rules.looks:
            return given  # a rule may see more in it
        return None if kind in _INERT else given

    def _followed(self) -> Iterator[tuple[str, Blob]]:
        """What links lead to, under the names of the links; those that leave the tree as links."""
        folders = _folders_of(self._files) if self._links else frozenset[str]()
        for path, link in sorted(self._links.items()):
            place, found = self._end_of(path, link)
            if found is None and place not in folders:
                reason = f"is a link to `{_text(link)}`"
                about = Unclassified(f"link {digest_bytes(link.content)}", 1, reason)
                self._doubts[Doubt(path, about)] = None
            elif found is not None and found.mode == LINK:
                yield path, link
            elif found is not None and (wanted := self._wanted(path, found)) is not None:
                yield path, wanted

    def _end_of(self, path: str, link: Blob) -> tuple[str, Blob | None]:
        """Where a link leads in the end: a file, a link that leaves the tree, or nothing known."""
        place, found = path, link
        for _ in range(_MOST_HOPS):
            target = _text(found)
            place = normpath(join(place.rpartition("/")[0], target))
            if target.startswith("/") or place.startswith("../") or place == "..":
                return place, found
            inner = self._source.read(place)
            if inner is None or inner.mode != LINK:
                return place, inner
            found = inner
        return "", None

    def _examine(self, batch: dict[str, Blob]) -> None:
        """Adds what a batch of files gives."""
        if not batch:
            return
        extract = Extractor(
            self._cache,
            workers=self._means.workers,
            progress=self._told_from(self.done - len(batch)),
            tables=self._means.rules.tables,
        )
        self._examined += 1
        remembered = self._remembered(batch, extract)
        self._add(examine_side(batch, self._tree, remembered, self._means.rules))

    def _add(self, side: Side) -> None:
        self._found |= dict.fromkeys(side.found)
        self._doubts |= dict.fromkeys(side.doubts)
        self._files |= set(side.files)

    def _remembered(self, batch: dict[str, Blob], extract: Extract) -> Extract:
        """The same extraction; where each file leaves off is kept for all of them together."""
        names: dict[bytes, list[str]] = {}
        for path, blob in batch.items():
            names.setdefault(blob.content, []).append(path)

        def extracted(jobs: Iterable[Job]) -> list[Extraction]:
            wanted = list(jobs)
            answers = list(extract(wanted))
            for (_, content), answer in zip(wanted, answers, strict=True):
                if answer.ends != NO_ENDS:
                    for path in names.get(content, ()):
                        self._ends.setdefault(path, []).append(answer.ends)
            return answers

        return extracted

    def _examine_together(self) -> None:
        """What one file gives away and another uses, where they were not in the same batch."""
        if self._examined > 1 and self._ends:
            ends = [
                joined(Extraction(ends=each) for each in self._ends[path])
                for path in sorted(self._ends)
            ]
            # Only what they leave open is looked at once more, so they need no content.
            files = dict.fromkeys(self._ends, Blob(b""))
            rules = self._means.rules.only_tables
            self._add(examine_side(files, self._tree, lambda _jobs: ends, rules))

    def _told_from(self, before: int) -> Progress:
        return lambda done, _total: self._tell(before + done)

    def _tell(self, done: int) -> None:
        if self._means.progress is not None:
            self._means.progress(done, max(self._source.count, done))

    def _read_recipe(self, path: str, blob: Blob) -> None:
        from consentry.declare.recipefile import read_recipe  # noqa: PLC0415 - few trees have any
        from consentry.examine.recipes import powers_of_recipes  # noqa: PLC0415 - as above

        try:
            recipe = read_recipe(blob.content, path)
        except BadInput as problem:
            if problem.code is not Code.DOCUMENT_INVALID:
                raise
            about = Unclassified(f"recipe {digest_bytes(blob.content)}", 1, problem.message)
            self._doubts[Doubt(path, about)] = None
            return
        for node in powers_of_recipes({path: recipe}, None)[1]:
            reason = f"node `{node.node}` uses the tool `{node.tool}`: no registry is asked here"
            about = Unclassified(f"node {node.node} {node.tool}", 1, reason)
            self._doubts[Doubt(path, about)] = None

    def _read_requirements(self, path: str, content: bytes) -> None:
        """What a distribution says that it needs, with the lines that say so."""
        lines = [
            line[len(_REQUIRES) :] if line.lower().startswith(_REQUIRES) else b""
            for line in content.replace(b"\r\n", b"\n").partition(b"\n\n")[0].split(b"\n")
        ]
        wanted = b"\n".join(lines)
        if not wanted.strip():
            return
        extract = Extractor(workers=1, tables=self._means.rules.tables)
        extraction = extract([(FileKind.REQUIREMENTS, wanted)])[0]
        self._found |= dict.fromkeys(Sited(path, each) for each in extraction.found)
        self._doubts |= dict.fromkeys(Doubt(path, each) for each in extraction.unclassified)


def _text(link: Blob) -> str:
    return link.content.decode("utf-8", "surrogateescape")


def _folders_of(files: set[str]) -> frozenset[str]:
    """Every folder that one of the files lies in; `.` is the top."""
    found = {"."}
    for path in files:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


def _has_requirements(path: str, source: Source) -> bool:
    """Whether it is the metadata of the distribution, and not of something inside it."""
    folder, _, name = path.rpartition("/")
    if not folder:
        return name == "PKG-INFO"
    if "/" in folder:
        return False
    if folder.endswith(".egg-info") and name == "PKG-INFO":
        return not source.has("PKG-INFO")
    return folder.endswith(".dist-info") and name == "METADATA"
