"""Adds to a manifest what a tool was seen to need besides, and leaves the rest as it was written.

What a person wrote stays to the letter: remarks, order, purposes, flow and block style. Only lists grow,
limits rise, and `networkAccess: false` becomes a list. What the document covers already is not added.
The result is read again, and must ask for what both asked for and nothing else.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import yaml

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.declare.manifestdraft import (
    TO_FILL_IN,
    DraftCommand,
    DraftPattern,
    ManifestDraft,
    command_items,
    flow,
    pattern_items,
    quoted,
)
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.sourceedits import Edit, leaves_of, value_of
from consentry.declare.tool import FileNeed, ToolManifest
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.pattern import Pattern, Vocabulary
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import ProtectedRoots
from consentry.surface.targets import Target

_MIB: Final = 1 << 20
_SECOND: Final = 1000


@dataclass(frozen=True, slots=True)
class Merged:
    """The document as it is now, and what was added to it, in words."""

    text: str
    added: tuple[str, ...]


def merged(
    content: bytes, name: str, draft: ManifestDraft, *, roots: ProtectedRoots | None = None
) -> Merged:
    """The document with what the draft has besides; raises `document-invalid` for one that is none."""
    before = read_tool_manifest(content, name, roots=roots)
    adding = _Adding(content.decode(), before, draft)
    adding.add_all()
    _check(before, draft, adding.text, name, roots)
    return Merged(adding.text, tuple(adding.added))


def _check(
    before: ToolManifest,
    draft: ManifestDraft,
    text: str,
    name: str,
    roots: ProtectedRoots | None,
) -> None:
    after = manifest_surface(read_tool_manifest(text.encode(), name, roots=roots))
    asked = manifest_surface(before)
    alone = manifest_surface(read_tool_manifest(draft.text().encode(), name, roots=roots))
    if not (asked <= after <= (asked | alone)):
        raise BadInput(
            Code.DOCUMENT_INVALID,
            f"`{name}` is laid out so that nothing could be added to it",
            help_line="write it to another file with --out, and join the two by hand",
        )


class _Adding:
    """Adds to one document; after each edit it is looked at anew, so that no edit knows of others."""

    def __init__(self, text: str, manifest: ToolManifest, draft: ManifestDraft) -> None:
        self.text = text
        self.added: list[str] = []
        self._manifest = manifest
        self._draft = draft

    def add_all(self) -> None:
        asked, draft = self._manifest.capabilities, self._draft
        both = (*asked.file_read, *asked.file_write)
        self._apply(self._patterns(self._capabilities, "fileRead", both, draft.read))
        self._apply(self._patterns(self._capabilities, "fileWrite", asked.file_write, draft.write))
        self._apply(self._commands(self._capabilities))
        self._apply(self._hosts(self._capabilities))
        self._apply(self._variables(self._capabilities))
        said = self._manifest.requirements
        cpu, memory = draft.cpu_seconds, draft.memory_megabytes
        if said.cpu is not None and cpu is not None and cpu * _SECOND > said.cpu.milliseconds:
            self._apply(self._raised("limitCPU", f"{cpu}s"))
        if said.memory is not None and memory is not None and memory * _MIB > said.memory.count:
            self._apply(self._raised("limitMemory", f"{memory}MB"))

    @property
    def _tool(self) -> yaml.Node:
        return _value(yaml.compose(self.text, Loader=yaml.SafeLoader), "tool")

    @property
    def _capabilities(self) -> yaml.Node:
        return _value(self._tool, "capabilities")

    def _apply(self, edits: Iterator[Edit]) -> None:
        for edit in edits:
            self.text = self.text[: edit.start] + edit.text + self.text[edit.end :]

    def _patterns(
        self, block: yaml.Node, key: str, has: Iterable[FileNeed], wanted: Sequence[DraftPattern]
    ) -> Iterator[Edit]:
        covered = PatternScope.of(Vocabulary.PATH, [(need.entry.pattern,) for need in has])
        fresh = [each for each in wanted if not _is_covered(each.pattern, covered)]
        verb = "reads" if key == "fileRead" else "writes"
        self.added += [f"{verb} {each.pattern}" for each in fresh]
        yield from self._grown(
            block,
            key,
            lambda indent: list(pattern_items(fresh, indent)),
            [
                f'{{"pattern": {quoted(e.pattern)}, "purpose": {quoted(f"{TO_FILL_IN}: {e.seen}")}}}'
                for e in fresh
            ],
        )

    def _commands(self, block: yaml.Node) -> Iterator[Edit]:
        has = {each.command for each in self._manifest.capabilities.commands}
        if self._manifest.entrypoint is not None:
            has.add(self._manifest.entrypoint.command)
        fresh: list[DraftCommand] = [c for c in self._draft.commands if c.command not in has]
        self.added += [f"starts {each.command}" for each in fresh]
        yield from self._grown(
            block,
            "processExecution",
            lambda indent: list(command_items(fresh, indent)),
            [
                f'{{"command": {quoted(each.command)}, "arguments": [], '
                f'"purpose": {quoted(f"{TO_FILL_IN}: {each.seen}")}}}'
                for each in fresh
            ],
        )

    def _hosts(self, block: yaml.Node) -> Iterator[Edit]:
        access = self._manifest.capabilities.network
        if access.level is Level.ANY:
            return
        known = access.targets if access.level is Level.ALLOWLIST else HostScope.of([])
        fresh = [
            host for host in self._draft.hosts if not HostScope.of([Target.parse(host)]) <= known
        ]
        self.added += [f"connects to {host}" for host in fresh]
        node = value_of(block, "networkAccess")
        if isinstance(node, yaml.ScalarNode) and fresh:
            yield Edit(node.start_mark.index, node.end_mark.index, flow(fresh))
            return
        yield from self._names(block, "networkAccess", fresh)

    def _variables(self, block: yaml.Node) -> Iterator[Edit]:
        has = self._manifest.capabilities.env_read
        fresh = [name for name in self._draft.environment if name not in has]
        self.added += [f"sees ${name}" for name in fresh]
        inner = value_of(block, "environmentVariables")
        if inner is not None and not isinstance(inner, yaml.ScalarNode):
            yield from self._names(inner, "read", fresh)
        elif fresh and inner is not None:
            text = f'{{"read": {flow(fresh)}}}'
            yield Edit(inner.start_mark.index, inner.end_mark.index, text)
        elif fresh:
            yield from self._new_key(block, "environmentVariables", f'{{"read": {flow(fresh)}}}')

    def _raised(self, key: str, text: str) -> Iterator[Edit]:
        node = _value(_value(self._tool, "sandboxRequirements"), key)
        self.added.append(f"{key} {text}")
        yield Edit(node.start_mark.index, node.end_mark.index, text)

    def _names(self, block: yaml.Node, key: str, fresh: Sequence[str]) -> Iterator[Edit]:
        yield from self._grown(
            block,
            key,
            lambda indent: [f"{indent}- {quoted(each)}" for each in fresh],
            [quoted(each) for each in fresh],
        )

    def _grown(
        self,
        block: yaml.Node,
        key: str,
        lines: Callable[[str], list[str]],
        items: Sequence[str],
    ) -> Iterator[Edit]:
        """A list with more items at its end, in the style it has; or the key with a new list."""
        if not items:
            return
        node = value_of(block, key)
        if node is None:
            yield from self._new_key(block, key, f"[{', '.join(items)}]")
        elif isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
            last = node.value[-1]
            indent = self.text[self._line_start(last) : self._dash(last)]
            yield self._below(last, lines(indent))
        elif isinstance(node, yaml.SequenceNode):
            before = ", " if node.value else ""
            at = node.end_mark.index - 1
            yield Edit(at, at, before + ", ".join(items))
        else:
            text = f"[{', '.join(items)}]"
            yield Edit(node.start_mark.index, node.end_mark.index, text)

    def _new_key(self, block: yaml.Node, key: str, text: str) -> Iterator[Edit]:
        if isinstance(block, yaml.MappingNode) and not block.flow_style and block.value:
            first = block.value[0][0]
            indent = " " * first.start_mark.column
            yield self._below(block, [f"{indent}{key}: {text}"])
        elif isinstance(block, yaml.MappingNode):
            before = ", " if block.value else ""
            at = block.end_mark.index - 1
            yield Edit(at, at, f'{before}"{key}": {text}')

    def _below(self, node: yaml.Node, lines: Sequence[str]) -> Edit:
        """New lines under the last one that belongs to a node."""
        end = max(each.end_mark.index for each in leaves_of(node))
        at = self.text.find("\n", end)
        if at < 0:
            at = len(self.text)
        return Edit(at, at, "\n" + "\n".join(lines))

    def _line_start(self, node: yaml.Node) -> int:
        return self.text.rfind("\n", 0, node.start_mark.index) + 1

    def _dash(self, node: yaml.Node) -> int:
        return self.text.rfind("-", 0, node.start_mark.index)


def _is_covered(pattern: str, scope: PatternScope) -> bool:
    return PatternScope.of(Vocabulary.PATH, [(Pattern.parse(pattern),)]) <= scope


def _value(block: yaml.Node, key: str) -> yaml.Node:
    found = value_of(block, key)
    if found is None:
        raise KeyError(key)
    return found
