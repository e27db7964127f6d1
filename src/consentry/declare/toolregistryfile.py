"""Reads a registry of tools: `TOOL_REGISTRY` of the guard (CONTRACTS §12-registry).

    registry_version: "1"
    tools:
      - id: fetch-page
        class: web
        capabilities: {net_access: ANY}
      - {id: count-words, class: python, capabilities: {}}

`capabilities` is a surface; a field that is left out is no power.
"""

from functools import partial
from typing import Final

from consentry.declare.documentids import identifier, known_version
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.repeats import without_repeats
from consentry.declare.surfaceblock import Reach, SurfaceBlock, surface_block, tool_class
from consentry.declare.toolregistry import REGISTRY_VERSION, RegisteredTool, ToolRegistry
from consentry.declare.values import Value

KEYS: Final = ("registry_version", "tools")
KEYS_OF_TOOL: Final = ("id", "class", "capabilities")


def read_tool_registry(content: bytes, name: str, *, parse: Parse = parsed) -> ToolRegistry:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        parse: Where the nodes come from, if not from the text itself.
    """
    return read_document(content, name, _document, parse)


def _document(root: Value) -> ToolRegistry:
    fields = root.fields(KEYS)
    if fields is None:
        return ToolRegistry()
    fields.need("registry_version", known_version(REGISTRY_VERSION), "")
    return ToolRegistry(fields.need("tools", _tools, ()))


def _tools(value: Value) -> tuple[RegisteredTool, ...] | None:
    return without_repeats(value, _tool, lambda tool: tool.id)


def _tool(value: Value) -> RegisteredTool | None:
    fields = value.fields(KEYS_OF_TOOL)
    if fields is None:
        return None
    tool = RegisteredTool(
        id=fields.need("id", identifier, ""),
        tool_class=fields.need("class", tool_class, ""),
        capabilities=fields.need(
            "capabilities", partial(surface_block, reach=Reach.ITSELF), SurfaceBlock()
        ).surface,
        where=value.where,
    )
    # Without an id there is nothing to compare with the others.
    return tool if tool.id else None
