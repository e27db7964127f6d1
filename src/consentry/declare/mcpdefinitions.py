"""What an MCP server says its tools are, as digests: so that a definition that changes later is seen.

A definition is covered by the fields that a model or a person acts on: `name`, `title`, `description`,
`inputSchema`, `outputSchema`, `annotations`. What else a server sends (`_meta`, icons) is not covered. A
field that is null counts as not there. The digest is SHA-256 over the canonical JSON of those fields.

Read is the answer to `tools/list`: the whole JSON-RPC response, its `result`, or the bare list. A list
that goes on on another page is refused, because what is missing would count as removed.
"""

from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeGuard

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.record.fields import parse_document

COVERED: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
MOST_TOOLS: Final = 10_000
_MOST_NAME: Final = 200


def definition_digest(definition: Mapping[str, Json]) -> Digest:
    """The digest of one tool's definition."""
    return digest_json({key: definition[key] for key in COVERED if definition.get(key) is not None})


def read_mcp_tools(content: bytes, name: str) -> dict[str, Digest]:
    """The digest of each tool by its name, sorted; raises where the list is not one or not whole.

    Args:
        content: What the server answered.
        name: How errors call it.
    """
    try:
        document = parse_document(content, Code.DOCUMENT_INVALID)
    except BadInput as problem:
        raise problem.at(Where(name)) from None
    found: dict[str, Digest] = {}
    for index, each in enumerate(_listed(document, name)):
        field = f"tools[{index}]"
        tool = each.get("name") if isinstance(each, dict) else None
        if not isinstance(each, dict) or not _is_name(tool):
            _refuse(name, field, "this is not a tool with a name that can be seen")
        if tool in found:
            _refuse(name, field, f"a tool `{tool}` is there already")
        if not isinstance(each.get("inputSchema"), dict):
            _refuse(name, f"{field}.inputSchema", "a tool has the schema of what it takes")
        try:
            found[tool] = definition_digest(each)
        except BadInput as problem:
            raise problem.at(Where(name, field=field)) from None
    return dict(sorted(found.items()))


def _listed(document: object, name: str) -> list[Any]:
    inner = document
    if isinstance(inner, dict) and "result" in inner:
        inner = inner["result"]
    if isinstance(inner, dict):
        if inner.get("nextCursor") is not None:
            _refuse(name, "nextCursor", "the list goes on on another page, and all of it is needed")
        inner = inner.get("tools")
    if not isinstance(inner, list) or len(inner) > MOST_TOOLS:
        _refuse(name, "tools", f"a list of at most {MOST_TOOLS:,} tools is meant")
    return inner


def _is_name(name: object) -> TypeGuard[str]:
    return (
        isinstance(name, str)
        and 0 < len(name) <= _MOST_NAME
        and name.isprintable()
        and name == name.strip()
    )


def _refuse(name: str, field: str, message: str) -> NoReturn:
    raise BadInput(
        Code.DOCUMENT_INVALID,
        message,
        where=Where(name, field=field),
        help_line="give the server's whole answer to `tools/list`",
    )
