"""Reads recipe metadata: `*.recipe.yaml` and `*.recipe.json` (CONTRACTS §12-recipe).

    recipe_version: "1"
    nodes:
      - {id: get, tool: fetch-page}
      - {id: count, tool: count-words}

Whether the tools exist is for whoever has the registry.
"""

from typing import Final

from consentry.declare.documentids import identifier, known_version
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.recipe import RECIPE_VERSION, Recipe, RecipeNode
from consentry.declare.repeats import without_repeats
from consentry.declare.values import Value

KEYS: Final = ("recipe_version", "nodes")
KEYS_OF_NODE: Final = ("id", "tool")


def read_recipe(content: bytes, name: str, *, parse: Parse = parsed) -> Recipe:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        parse: Where the nodes come from, if not from the text itself.
    """
    return read_document(content, name, _document, parse)


def _document(root: Value) -> Recipe:
    fields = root.fields(KEYS)
    if fields is None:
        return Recipe()
    fields.need("recipe_version", known_version(RECIPE_VERSION), "")
    return Recipe(fields.need("nodes", _nodes, ()))


def _nodes(value: Value) -> tuple[RecipeNode, ...] | None:
    return without_repeats(value, _node, lambda node: node.id)


def _node(value: Value) -> RecipeNode | None:
    fields = value.fields(KEYS_OF_NODE)
    if fields is None:
        return None
    name = fields.need("id", identifier, "")
    tool = fields.need("tool", identifier, "")
    # Without an id there is nothing to compare with the others.
    return RecipeNode(name, tool, value.where) if name else None
