"""The one strict reader of documents: every value has its place, and all that is wrong is told at once.

    def build(root: Value) -> Config: ...
    config = read_document(content, "sandbox-config.yaml", build)

Rules kept: a document is YAML, or JSON where its name ends in `.json`; a key that is unknown, there
twice or not text is refused, and so are merge keys, anchors, aliases, tags, NUL and halves of
surrogate pairs. Types are those of `nodes`, and nothing is converted: a number where text is meant
is an error that says to put it in quotes. The first problem does not stop the reading; at the end
`document-invalid` names each as `file:line:column: field.path: what is wrong; what to do`.

Builders get stand-ins for values that are wrong and need not look: what they build from them is
thrown away. Why not pydantic: its models know neither line nor column, nor a key that is there
twice, so every answer would have to be carried back to these nodes; and it triples the start-up
time of the command.

Whoever has read the same bytes before may hand in the nodes they consist of, through `parse`: then
only the building is done again, and the parser is not even loaded.
"""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from consentry.declare.nodes import Mark, Node
from consentry.declare.problems import Problems
from consentry.declare.sound import check_nodes
from consentry.declare.source import checked_text
from consentry.declare.values import Value

Built = TypeVar("Built")
Parse: TypeAlias = Callable[[bytes, Problems], Node]
"""From the bytes of a document to the nodes it consists of; raises through the problems it is given."""


def parsed(content: bytes, problems: Problems) -> Node:
    """The root node of a document, from its text."""
    text = checked_text(content, problems)
    if problems.name.endswith(".json"):
        from consentry.declare.jsonnodes import json_nodes  # noqa: PLC0415 - most are YAML

        root = json_nodes(text, problems)
    else:
        from consentry.declare.yamlnodes import yaml_nodes  # noqa: PLC0415 - PyYAML is slow to load

        root = yaml_nodes(text, problems)
    if root is None:
        problems.stop(Mark(1, 1), "the document is empty", "write the document, or remove the file")
    return root


def read_document(
    content: bytes, name: str, build: Callable[[Value], Built], parse: Parse = parsed
) -> Built:
    """Reads a document and builds a value from it, or raises `document-invalid`.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        build: Makes the value from the root; it refuses through the values it is given.
        parse: Where the nodes come from, if not from the text itself.
    """
    problems = Problems(name)
    root = parse(content, problems)
    check_nodes(root, "", problems)
    built = build(Value(root, "", problems))
    problems.raise_any()
    return built
