"""Ways through the nodes of a document: by key, by a path of keys, or through all there is.

Nothing here raises for a document of another shape: what is not there is not found. A key that is
there twice is found twice.
"""

from collections.abc import Iterator

from consentry.declare.nodes import Broken, Items, Kind, Mapping, Node, Scalar

ANY_ONE = "*"
ANY_DEPTH = "**"


def entries_of(node: Node | None) -> Iterator[tuple[str, Node, int]]:
    """Key, value and the line of the key, of a mapping; nothing of anything else."""
    if isinstance(node, Mapping):
        for key, value in node.entries:
            if isinstance(key, Scalar):
                yield key.text, value, key.mark.line


def values_at(node: Node | None, *keys: str) -> Iterator[Node]:
    """Every value at that path of keys; `*` is any key, or any item of a list; `**` any depth."""
    level: list[Node] = [] if node is None else [node]
    for key in keys:
        if key == ANY_DEPTH:
            level = [inner for each in level for inner in all_nodes(each)]
        else:
            level = [inner for each in level for inner in _steps(each, key)]
    yield from level


def _steps(node: Node, key: str) -> Iterator[Node]:
    if isinstance(node, Items) and key == ANY_ONE:
        yield from node.items
    for name, value, _ in entries_of(node):
        if key in (ANY_ONE, name):
            yield value


def first_at(node: Node | None, *keys: str) -> Node | None:
    """The first value at that path."""
    return next(values_at(node, *keys), None)


def all_nodes(node: Node) -> Iterator[Node]:
    """The node and all in it, in the order of the document."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        yield inner
        if isinstance(inner, Items):
            waiting += reversed(inner.items)
        elif isinstance(inner, Mapping):
            for key, value in reversed(inner.entries):
                waiting += (value, key)


def text_at(node: Node | None, *keys: str) -> str | None:
    """The text of the first value at that path that is a scalar with something in it."""
    for value in values_at(node, *keys):
        if isinstance(value, Scalar) and value.kind is not Kind.NOTHING:
            return value.text
    return None


def scalars_in(node: Node | None) -> Iterator[Scalar]:
    """The scalar itself, or the scalars of a list, however lists are nested; not of mappings."""
    waiting = [] if node is None else [node]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Scalar) and inner.kind is not Kind.NOTHING:
            yield inner
        elif isinstance(inner, Items):
            waiting += reversed(inner.items)


def is_true(node: Node | None) -> bool:
    """Whether it is the flag, or a word that some reader takes for it."""
    return isinstance(node, Scalar) and node.text.lower() in ("true", "yes", "on", "1")


def broken_in(node: Node) -> Iterator[Broken]:
    """All in it that only the program that reads it could tell the meaning of."""
    for inner in all_nodes(node):
        if isinstance(inner, Broken):
            yield inner
