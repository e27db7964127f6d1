"""Reads `tool-manifest.yaml`: the tools of a configuration folder, and where their manifests are.

    tools:
      - {name: make-site, file: tools/make-site.yaml, requiresConsent: true}
      - {name: count-words}

A tool without `file` has its manifest in `tools/<name>.yaml`. A file lies in the folder of the index
or below it; whether it is there, and is the manifest of that tool, is for whoever loads it to find.
"""

import re
from typing import Final

from consentry.declare.index import IndexEntry, ToolIndex
from consentry.declare.names import tool_name
from consentry.declare.nodes import clipped
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.repeats import without_repeats
from consentry.declare.values import Value

KEYS: Final = ("tools",)
KEYS_OF_TOOL: Final = ("name", "file", "requiresConsent")

_MOST_LETTERS: Final = 255
_FILE: Final = re.compile(
    r"(?!.*(?:^|/)\.\.?/)(?:[^/\x00-\x1f\x7f\\]+/)*[^/\x00-\x1f\x7f\\]+\.(?:yaml|yml|json)"
)


def read_tool_index(content: bytes, name: str, *, parse: Parse = parsed) -> ToolIndex:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        parse: Where the nodes come from, if not from the text itself.
    """
    return read_document(content, name, _document, parse)


def usual_file(tool: str) -> str:
    """Where the manifest of a tool lies if nothing else is said, from the folder of the index."""
    return f"tools/{tool}.yaml"


def _document(root: Value) -> ToolIndex:
    fields = root.fields(KEYS)
    return ToolIndex() if fields is None else ToolIndex(fields.need("tools", _tools, ()))


def _tools(value: Value) -> tuple[IndexEntry, ...] | None:
    found = without_repeats(value, _tool, lambda entry: entry.name)
    _check_one_tool_each(found or (), value)
    return found


def _tool(value: Value) -> IndexEntry | None:
    fields = value.fields(KEYS_OF_TOOL)
    if fields is None:
        return None
    name = fields.need("name", tool_name, "")
    file = fields.may("file", _file, usual_file(name))
    needs_consent = fields.may("requiresConsent", Value.flag, None)
    # Without a name there is nothing to compare with the others.
    return IndexEntry(name, file, needs_consent, value.where) if name else None


def _file(value: Value) -> str | None:
    found = value.text()
    if found is None:
        return None
    if len(found) > _MOST_LETTERS or _FILE.fullmatch(found) is None:
        value.refuse(
            f"`{clipped(found)}` is not a document below this folder",
            "write a path such as tools/make-site.yaml, without `..`",
        )
        return None
    return found


def _check_one_tool_each(entries: tuple[IndexEntry, ...], value: Value) -> None:
    first: dict[str, IndexEntry] = {}
    for entry in entries:
        other = first.setdefault(entry.file, entry)
        if other.name != entry.name:
            value.problems.add_at(
                entry.where,
                f"`{clipped(entry.file)}` is already the manifest of `{other.name}` in line "
                f"{other.where.line}",
                "give each tool a file of its own",
            )
