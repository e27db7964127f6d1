"""`TOOL_REGISTRY`: tools with their classes and powers, and every way to be wrong (GUARD §in-registry)."""

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.toolregistry import RegisteredTool, ToolRegistry
from consentry.declare.toolregistryfile import read_tool_registry
from consentry.surface.lattice import NOTHING, Surface
from consentry.surface.wire import surface_to_json
from tests.declare.reading import values_of


def read(tools: str) -> ToolRegistry:
    """A registry with these tools, in line 2."""
    return read_tool_registry(f'registry_version: "1"\ntools: {tools}'.encode(), "r.yaml")


def problems(tools: str) -> list[str]:
    """What is wrong, without the name of the file."""
    with pytest.raises(BadDocument) as caught:
        read(tools)
    return [str(each).removeprefix("r.yaml:") for each in caught.value.problems]


def test_a_tool() -> None:
    """CONTRACTS §12-registry: a field that is left out is no power."""
    found = read(
        "[{id: fetch, class: web, capabilities: {net_access: ALLOWLIST, allowlists: "
        "{net_access: [a.example]}}}, {id: shout, class: python, capabilities: {}}]"
    )
    assert found.tools == (
        RegisteredTool("fetch", "web", Surface.of(net=["a.example"])),
        RegisteredTool("shout", "python", NOTHING),
    )
    assert found.find("shout") is found.tools[1]
    assert found.find("Shout") is None
    assert str(found.tools[1].where).startswith("r.yaml:2:")


def test_a_surface_that_we_wrote_is_read() -> None:
    """With all of its fields; paths stand for themselves."""
    surface = Surface.of(read=["a", "b/"], run=["git"], env=["HOME"], tools=["web"], crypto=[])
    document = values_of(f"{surface_to_json(surface)}")
    found = read(f"[{{id: a, class: b, capabilities: {document}}}]").tools[0].capabilities
    assert found == surface
    assert surface_to_json(found) == surface_to_json(surface)


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("[{}]", ["2:9: tools[0].id: this key is missing; add `id:`", "2:9: tools[0].class: this key is missing; add `class:`", "2:9: tools[0].capabilities: this key is missing; add `capabilities:`"]),
        ("[{id: a, class: b, capabilities: {}}, {id: a, class: c, capabilities: {}}]", ["2:46: tools[1]: this is already in line 2; keep one of the two"]),
        ("[{id: a, clas: b, capabilities: {}}]", ["2:9: tools[0].class: this key is missing; add `class:`", "2:17: tools[0].clas: `clas` is not a key that is known here; did you mean `class`?"]),
        ("[{id: a, class: b, capabilities: {proc_exec: git}}]", ["2:53: tools[0].capabilities.proc_exec: `git` is not one of NONE, ALLOWLIST, ANY; write one of NONE, ALLOWLIST, ANY"]),
        ("[a]", ["2:9: tools[0]: `a` is text, and a mapping is meant; write `key: value` lines; `{}` has none"]),
    ],
)  # fmt: skip
def test_wrong(tools: str, said: list[str]) -> None:
    """What is wrong, where, and what to write."""
    assert problems(tools) == said


def test_an_unknown_version_is_refused() -> None:
    """Only `"1"` is known."""
    with pytest.raises(BadDocument, match="version 2 of this document is not known"):
        read_tool_registry(b'registry_version: "2"\ntools: []', "r.yaml")
