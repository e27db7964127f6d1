"""What an MCP server says its tools are: a definition that changes is another digest."""

import hashlib
import json
from typing import Any

import pytest

from consentry.base.errors import BadInput
from consentry.declare.mcpdefinitions import definition_digest, read_mcp_tools

TOOL: dict[str, Any] = {
    "name": "read",
    "title": "Read",
    "description": "Reads a file.",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
}


def test_the_digest_is_over_canonical_json_of_what_is_covered() -> None:
    """A second implementation: sorted keys, no white space, nothing else of the server."""
    covered = json.dumps(TOOL, sort_keys=True, separators=(",", ":")).encode()
    expected = f"sha256:{hashlib.sha256(covered).hexdigest()}"
    assert definition_digest(TOOL) == expected
    assert definition_digest({**TOOL, "_meta": {"seen": 7}, "icons": []}) == expected
    assert definition_digest(dict(reversed(TOOL.items()))) == expected


@pytest.mark.parametrize("field", list(TOOL))
def test_a_change_of_any_covered_field_is_another_digest(field: str) -> None:
    """Changed, or taken away: a rug-pull is seen, wherever it is."""
    before = definition_digest(TOOL)
    changed: Any = "other" if isinstance(TOOL[field], str) else {"type": "object", "x": 1}
    assert definition_digest({**TOOL, field: changed}) != before
    without = {key: value for key, value in TOOL.items() if key != field}
    assert definition_digest(without) != before
    assert definition_digest({**TOOL, field: None}) == definition_digest(without)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda tools: tools,
        lambda tools: {"tools": tools},
        lambda tools: {"tools": tools, "nextCursor": None},
        lambda tools: {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}},
    ],
)
def test_an_answer_is_read_however_it_was_kept(wrap: Any) -> None:
    """The list, the result, the whole response."""
    other = {**TOOL, "name": "also"}
    found = read_mcp_tools(json.dumps(wrap([TOOL, other])).encode(), "t.json")
    assert found == {"also": definition_digest(other), "read": definition_digest(TOOL)}
    assert list(found) == ["also", "read"]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("no json", "not a JSON document"),
        ('{"tools": [], "tools": []}', "not a JSON document"),
        ('{"tools": {}}', "a list of at most"),
        ('{"result": {}}', "a list of at most"),
        ('{"tools": [], "nextCursor": "more"}', "the list goes on on another page"),
        ('{"tools": [7]}', "not a tool with a name"),
        ('{"tools": [{"name": " x", "inputSchema": {}}]}', "not a tool with a name"),
        ('{"tools": [{"name": "x"}]}', "has the schema of what it takes"),
        (
            '{"tools": [{"name": "x", "inputSchema": {}}, {"name": "x", "inputSchema": {}}]}',
            "a tool `x` is there already",
        ),
        ('{"tools": [{"name": "x", "inputSchema": {"n": 1e999}}]}', "no canonical JSON"),
    ],
)
def test_what_is_no_whole_list_is_refused(document: str, said: str) -> None:
    """One typed error that names the file."""
    with pytest.raises(BadInput) as raised:
        read_mcp_tools(document.encode(), "t.json")
    assert said in str(raised.value)
    assert "t.json" in str(raised.value)
