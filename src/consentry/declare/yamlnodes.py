"""YAML text as nodes, from PyYAML's stream of events.

Events and not PyYAML's own composer: nothing here recurses, a document that is too deep or too
large is left where it becomes so, and anchors, aliases and tags are seen as they are written. So
there is nothing that a small document could expand to, and no tag is ever resolved.

The parser is the one written in Python, also where libyaml is there: a stranger's bytes stay out of
C code, and every installation reads a document alike. It takes some milliseconds for a manifest and
some seconds for the largest hostile document.
"""

from collections.abc import Iterator
from typing import Protocol

import yaml

from consentry.base.values import dataclass, field
from consentry.declare.nodes import (
    MOST_DEPTH,
    MOST_NODES,
    Broken,
    Items,
    Mapping,
    Mark,
    Node,
    clipped,
    plain_scalar,
    quoted_scalar,
)
from consentry.declare.problems import Problems

_NO_ALIAS = "write the value out in each place"
_NO_TAG = "leave the tag out; quotes make a value text"
_MOST_SAID = 160
_CORRECT = "correct the line, or the one before it"
_ADVICE = (
    ("'\\t'", "use spaces; YAML takes no tab there"),
    ("but got '{'", "put a text with `{` in quotes"),
)


class _Marked(Protocol):
    """PyYAML's mark; its numbers begin at 0."""

    line: int
    column: int


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end was not met yet; of a mapping, keys and values in turn."""

    is_mapping: bool
    mark: Mark
    broken: Broken | None
    nodes: list[Node] = field(default_factory=list)

    def closed(self) -> Node:
        if self.broken is not None:
            return self.broken
        if not self.is_mapping:
            return Items(self.mark, tuple(self.nodes))
        keys, values = self.nodes[::2], self.nodes[1::2]
        return Mapping(self.mark, tuple(zip(keys, values, strict=True)))


def yaml_nodes(text: str, problems: Problems) -> Node | None:
    """The root node of the one document in `text`, or None when there is none."""
    # The outermost of what is open stands for the document itself.
    waiting = [_Open(is_mapping=False, mark=Mark(1, 1), broken=None)]
    documents = count = 0
    for event in _events(text, problems):
        mark = _mark(event.start_mark)
        match event:
            case yaml.DocumentStartEvent():
                documents += 1
                _check_document(event, documents, mark, problems)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                waiting.append(_Open(is_mapping, mark, _refused(event, mark)))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                closed = waiting.pop().closed()
                waiting[-1].nodes.append(closed)
            case yaml.ScalarEvent() | yaml.AliasEvent():
                waiting[-1].nodes.append(_refused(event, mark) or _scalar(event, mark))
        count += isinstance(event, yaml.NodeEvent)
        _check_extent(count, len(waiting) - 1, mark, problems)
    found = waiting[0].nodes
    return found[0] if found else None


def _check_document(
    event: yaml.DocumentStartEvent, number: int, mark: Mark, problems: Problems
) -> None:
    if number > 1:
        problems.stop(mark, "a second document begins here", "use one file for each document")
    if event.version or event.tags:
        problems.stop(mark, "a directive stands here", "leave out the lines that begin with `%`")


def _check_extent(count: int, depth: int, mark: Mark, problems: Problems) -> None:
    if depth > MOST_DEPTH:
        problems.stop(
            mark, f"this is nested deeper than {MOST_DEPTH}", "use fewer lists inside lists"
        )
    if count > MOST_NODES:
        problems.stop(
            mark, f"the document has more than {MOST_NODES:,} values", "use several documents"
        )


def _refused(event: yaml.NodeEvent, mark: Mark) -> Broken | None:
    if isinstance(event, yaml.AliasEvent):
        return Broken(
            mark, f"`*{clipped(event.anchor or '')}` is an alias, and none is taken", _NO_ALIAS
        )
    if event.anchor is not None:
        return Broken(
            mark, f"`&{clipped(event.anchor)}` is an anchor, and none is taken", _NO_ALIAS
        )
    tag = getattr(event, "tag", None)
    if tag is not None:
        return Broken(mark, f"`{clipped(tag)}` is a tag, and none is taken", _NO_TAG)
    return None


def _scalar(event: yaml.NodeEvent, mark: Mark) -> Node:
    if not isinstance(event, yaml.ScalarEvent):
        raise TypeError(f"{event} is no scalar")
    return plain_scalar(mark, event.value) if not event.style else quoted_scalar(mark, event.value)


def _events(text: str, problems: Problems) -> Iterator[yaml.Event]:
    loader = yaml.SafeLoader(text)
    try:
        while loader.check_event():
            event: yaml.Event = loader.get_event()  # type: ignore[no-untyped-call] # stubs
            yield event
    except yaml.MarkedYAMLError as wrong:
        said = clipped(wrong.problem or wrong.context or "it cannot be parsed", _MOST_SAID)
        place = wrong.problem_mark or wrong.context_mark or loader.get_mark()
        context = f", {wrong.context}" if wrong.context and wrong.problem else ""
        started = wrong.context_mark
        if context and started is not None and started.line != place.line:
            context += f" that begins in line {started.line + 1}"
        help_line = next((advice for sign, advice in _ADVICE if sign in said), _CORRECT)
        problems.stop(_mark(place), f"this is not YAML: {said}{context}", help_line)
    except (ValueError, OverflowError):
        # PyYAML lets these out for a character or a version that no number can stand for.
        mark = _mark(loader.get_mark())
        problems.stop(mark, "this is not YAML: a number here is out of range", "correct it")


def _mark(mark: _Marked | None) -> Mark:
    return Mark(1, 1) if mark is None else Mark(mark.line + 1, mark.column + 1)
