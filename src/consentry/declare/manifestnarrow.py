"""Takes out of a manifest what a tool was not seen to use, and leaves the rest as it was written.

Entries that nothing was seen to use go; a pattern with wildcards becomes the narrowest patterns that cover
the files it was used for, where those say less. What a person wrote elsewhere stays to the letter: remarks,
order, purposes, flow and block style. The commands of a tool without an entry point are what it runs, not
what it may, so they stay. Limits stay, too.

The result is read again: it must ask for nothing that the document did not ask for, cover all that was
seen, and say the same in every other part. A plain name means a folder with all below where it is one when
the tool is bound; a file that was seen stands for itself, and is taken for what it was.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

import yaml

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass, replace
from consentry.declare.manifestdraft import flow, quoted
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.narrowest import narrowest
from consentry.declare.sourceedits import Edit, ListEdits, edited, value_of
from consentry.declare.tool import FileNeed, ToolManifest
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.record.reportpowers import covers
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.pattern import Pattern, Vocabulary
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import ProtectedRoots
from consentry.surface.targets import Target

MOST_FOR_ONE: Final = 20
"""Patterns that may take the place of one; a longer list says less to a person than the pattern."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What runs were seen to use; `programs` has every name that a started program may be known by."""

    read: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    programs: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    environment: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The smaller document, and in words what it does not ask for any more."""

    text: str
    removed: tuple[str, ...]


def narrowed(
    content: bytes, name: str, observed: Observed, *, roots: ProtectedRoots | None = None
) -> Narrowed:
    """The document without what was not used; raises `document-invalid` for one that is none."""
    before = read_tool_manifest(content, name, roots=roots)
    narrowing = _Narrowing(content.decode(), before, observed)
    text = narrowing.text()
    _check(before, read_tool_manifest(text.encode(), name, roots=roots), observed, name)
    return Narrowed(text, tuple(narrowing.removed))


def _check(before: ToolManifest, after: ToolManifest, observed: Observed, name: str) -> None:
    asked = manifest_surface(before, bind=lambda entry: entry.root)
    elsewhere = replace(after, capabilities=before.capabilities, digest=before.digest)
    is_smaller = manifest_surface(after) <= asked
    was, now = before.capabilities, after.capabilities
    lost = _lost(was.file_write, now.file_write, observed.written) or _lost(
        (*was.file_read, *was.file_write), (*now.file_read, *now.file_write), observed.read
    )
    if not is_smaller or lost or elsewhere != before:
        raise BadInput(
            Code.DOCUMENT_INVALID,
            f"`{name}` is laid out so that nothing could be taken out of it",
            help_line="take out by hand what `consentry report` says was not used",
        )


def _lost(was: Sequence[FileNeed], now: Sequence[FileNeed], paths: Collection[str]) -> bool:
    return any(_is_needed(was, path) and not _is_needed(now, path) for path in paths)


def _is_needed(needs: Sequence[FileNeed], path: str) -> bool:
    return any(covers((need.entry.root,), path) for need in needs)


class _Narrowing:
    """Finds what may go, as edits of the text that do not touch each other."""

    def __init__(self, text: str, manifest: ToolManifest, observed: Observed) -> None:
        self.removed: list[str] = []
        self._text = text
        self._manifest = manifest
        self._observed = observed
        document = yaml.compose(text, Loader=yaml.SafeLoader)
        self._block = value_of(value_of(document, "tool"), "capabilities")

    def text(self) -> str:
        """The text with all edits made."""
        return edited(self._text, list(self._edits()))

    def _edits(self) -> Iterator[Edit]:
        asked, seen = self._manifest.capabilities, self._observed
        # What it may write it may read back, without any other entry.
        only_written = {path for path in seen.read if not _is_needed(asked.file_read, path)}
        yield from self._files("fileRead", "reads", asked.file_read, seen.read)
        yield from self._files("fileWrite", "writes", asked.file_write, seen.written | only_written)
        if self._manifest.entrypoint is not None:
            names = [each.command for each in asked.commands]
            yield from self._names("processExecution", names, self._is_started, "starts {}")
        yield from self._network()
        block = value_of(self._block, "environmentVariables")
        if block is not None:
            yield from self._names(
                "read", asked.env_read, seen.environment.__contains__, "sees ${}", block
            )

    def _files(
        self, key: str, verb: str, needs: Sequence[FileNeed], seen: Collection[str]
    ) -> Iterator[Edit]:
        edits = ListEdits.of(self._text, self._block, key)
        for at, need in enumerate(needs):
            instead = _instead(need, seen)
            if instead is None:
                continue
            edits.replace(at, [quoted(each.text) for each in instead], "pattern")
            told = f"; only {', '.join(each.text for each in instead)}" if instead else ""
            self.removed.append(f"{verb} {need.entry.written}{told}")
        yield from edits.edits()

    def _names(
        self,
        key: str,
        names: Sequence[str],
        is_used: Callable[[str], bool],
        words: str,
        block: yaml.Node | None = None,
    ) -> Iterator[Edit]:
        edits = ListEdits.of(self._text, block or self._block, key)
        for at, name in enumerate(names):
            if not is_used(name):
                edits.replace(at, [], None)
                self.removed.append(words.format(name))
        yield from edits.edits()

    def _is_started(self, command: str) -> bool:
        return command in self._observed.programs or command.removeprefix("./") in (
            self._observed.programs
        )

    def _network(self) -> Iterator[Edit]:
        access, seen = self._manifest.capabilities.network, sorted(self._observed.hosts)
        node = value_of(self._block, "networkAccess")
        if access.level is Level.ANY and isinstance(node, yaml.ScalarNode):
            instead = flow(seen) if seen else "false"
            self.removed.append(f"connects anywhere; only {', '.join(seen) or 'nowhere'}")
            yield Edit(node.start_mark.index, node.end_mark.index, instead)
        elif access.level is Level.ALLOWLIST and isinstance(node, yaml.SequenceNode):
            hosts = [str(each.value) for each in node.value]
            edits = ListEdits.of(self._text, self._block, "networkAccess", empty="false")
            for at, host in enumerate(hosts):
                if not any(_reaches(host, each) for each in seen):
                    edits.replace(at, [], None)
                    self.removed.append(f"connects to {host}")
            yield from edits.edits()


def _instead(need: FileNeed, seen: Collection[str]) -> list[Pattern] | None:
    """What may take the place of an entry: nothing, less, or None where it is to stay."""
    used = [path for path in seen if covers((need.entry.root,), path)]
    if not used:
        return []
    found = [each.pattern for each in narrowest(used)]
    if found == [need.entry.pattern] or len(found) > MOST_FOR_ONE:
        return None
    asked, fewer = _scope([need.entry.root]), _scope(found)
    return found if fewer <= asked and not asked <= fewer else None


def _scope(patterns: Sequence[Pattern]) -> PatternScope:
    return PatternScope.of(Vocabulary.PATH, [(each,) for each in patterns])


def _reaches(host: str, seen: str) -> bool:
    try:
        return HostScope.of([Target.parse(host)]).reaches(Target.parse(seen))
    except BadInput:
        return False
