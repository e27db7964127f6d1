"""`tool-manifest.yaml`: tools, their files, and every way to be wrong."""

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.index import IndexEntry, ToolIndex
from consentry.declare.toolindex import read_tool_index


def read(text: str) -> ToolIndex:
    """The index in a text."""
    return read_tool_index(text.encode(), "i.yaml")


def problems(text: str) -> list[str]:
    """What is wrong, without the name of the file."""
    with pytest.raises(BadDocument) as caught:
        read(text)
    return [str(each).removeprefix("i.yaml:") for each in caught.value.problems]


def test_every_key() -> None:
    """CONTRACTS §12-files, CONSENT §manifest-4: what is not said of consent stays unsaid."""
    found = read(
        "tools:\n"
        "  - {name: a, file: tools/a.yaml, requiresConsent: true}\n"
        "  - {name: b, file: more/b.json, requiresConsent: false}\n"
        "  - {name: c}\n"
    )
    assert found.tools == (
        IndexEntry("a", "tools/a.yaml", True),
        IndexEntry("b", "more/b.json", False),
        IndexEntry("c", "tools/c.yaml", None),
    )
    assert str(found.tools[2].where) == "i.yaml:4:5 `tools[2]`"


def test_an_index_may_be_empty() -> None:
    """And has to say so."""
    assert read("tools: []") == ToolIndex()
    assert problems("{}") == ["1:1: tools: this key is missing; add `tools:`"]


@pytest.mark.parametrize(
    "file",
    [
        "/etc/tool.yaml",
        "../tool.yaml",
        "tools/../../tool.yaml",
        "./tool.yaml",
        "tools//tool.yaml",
        "tools/",
        "tools/tool.txt",
        "tool\\x.yaml",
        "a" * 256 + ".yaml",
        '"a\\nb.yaml"',
        "~/tool.toml",
    ],
)
def test_a_manifest_lies_below_the_index(file: str) -> None:
    """A clone must not have files of the user read as documents."""
    [said] = problems(f"tools: [{{name: t, file: {file}}}]")
    assert said.startswith("1:25: tools[0].file: `")
    assert said.endswith("write a path such as tools/make-site.yaml, without `..`")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tool: []", ["1:1: tool: `tool` is not a key that is known here; did you mean `tools`?", "1:1: tools: this key is missing; add `tools:`"]),
        ("tools: {a: b}", ["1:8: tools: this is a mapping, and a list is meant; write a list; `[]` is an empty one"]),
        ("tools: [a]", ["1:9: tools[0]: `a` is text, and a mapping is meant; write `key: value` lines; `{}` has none"]),
        ("tools: [{file: a.yaml}, {file: b.yaml}]", ["1:9: tools[0].name: this key is missing; add `name:`", "1:25: tools[1].name: this key is missing; add `name:`"]),
        ("tools: [{name: A}]", ["1:16: tools[0].name: `A` is not a name for a tool; use a to z, digits, `.`, `-` and `_`, at most 64"]),
        ("tools: [{name: a, requireConsent: true}]", ["1:19: tools[0].requireConsent: `requireConsent` is not a key that is known here; did you mean `requiresConsent`?"]),
        ("tools: [{name: a, requiresConsent: 'no'}]", ["1:36: tools[0].requiresConsent: `no` in quotes is text, and true or false is meant; write false, without quotes"]),
        ("tools: [{name: a}, {name: a, file: b.yaml}]", ["1:20: tools[1]: this is already in line 1; keep one of the two"]),
        ("tools:\n- {name: a}\n- {name: b, file: tools/a.yaml}", ["3:3: tools[1]: `tools/a.yaml` is already the manifest of `a` in line 2; give each tool a file of its own"]),
    ],
)  # fmt: skip
def test_wrong_index(text: str, said: list[str]) -> None:
    """The exact place, what is wrong, what to write."""
    assert problems(text) == said
