"""`plugin.yaml`: what it says as values, and every way in which it is refused."""

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.pluginmanifest import MOST_FILES, PluginManifest, read_plugin_manifest

SMALL = b'pluginVersion: "1"\nname: notes\nversion: "1.0.0"\n'


def test_a_small_one_brings_nothing() -> None:
    """Name and version are enough."""
    assert read_plugin_manifest(SMALL, "plugin.yaml") == PluginManifest("notes", "1.0.0")


def test_every_key_becomes_a_value() -> None:
    """In the order in which it is written."""
    more = (
        b"description: d\ntools: [tools/b.yaml, tools/a.json]\npolicies: [p.yml]\n"
        b"rules: {tables: [rules/t.toml], python: [rules/r.py]}\n"
    )
    found = read_plugin_manifest(SMALL + more, "plugin.yaml")
    assert found.description == "d"
    assert found.files == ("tools/b.yaml", "tools/a.json", "p.yml", "rules/t.toml", "rules/r.py")
    assert (found.tables, found.python) == (("rules/t.toml",), ("rules/r.py",))


@pytest.mark.parametrize(
    "path",
    [
        "../a.yaml",
        "/a.yaml",
        "a/../b.yaml",
        "./a.yaml",
        "a//b.yaml",
        "a\\b.yaml",
        "..",
        ".yaml/..",
        "a.yaml/",
        "a.txt",
        "a" * 300 + ".yaml",
    ],
)
def test_only_files_below_the_folder_are_named(path: str) -> None:
    """A manifest must not have other files taken for documents of the plugin."""
    text = SMALL + f"tools: ['{path}']\n".encode()
    with pytest.raises(BadDocument) as caught:
        read_plugin_manifest(text, "plugin.yaml")
    assert (caught.value.problems[0].where.line, caught.value.problems[0].where.field) == (
        4,
        "tools[0]",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{}", "this key is missing"),
        (SMALL.replace(b"notes", b"Notes"), "is not a name for a plugin"),
        (SMALL.replace(b"notes", b"a/b"), "is not a name for a plugin"),
        (SMALL.replace(b'"1.0.0"', b'"1.0"'), "is not a version"),
        (SMALL.replace(b'"1.0.0"', b'"1.0.0+' + b"a" * 128 + b'"'), "more than 128"),
        (SMALL.replace(b'"1"', b'"2"'), "version 2 of this document is not known"),
        (SMALL.replace(b'"1"', b"1"), "text is meant"),
        (SMALL + b"modules: []", "is not a key that is known here"),
        (SMALL + b"name: notes", "already"),
        (SMALL + b"tools: [a.yaml, a.yaml]", "already in line 4"),
        (SMALL + b"rules: {python: [rules/no-te.py]}", "cannot be imported"),
        (SMALL + b"rules: {python: [class/1.py]}", "cannot be imported"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: bytes, said: str) -> None:
    """As for every document: the file, the line, the field."""
    with pytest.raises(BadDocument) as caught:
        read_plugin_manifest(text, "plugin.yaml")
    assert said in str(caught.value)
    assert caught.value.problems[0].where.line is not None


def test_a_list_has_an_end() -> None:
    """200 files of a kind, and no more."""
    names = [f"t{number}.yaml" for number in range(MOST_FILES + 1)]
    text = SMALL + f"tools: [{', '.join(names[:-1])}]".encode()
    assert len(read_plugin_manifest(text, "plugin.yaml").tools) == MOST_FILES
    with pytest.raises(BadDocument, match="more than 200"):
        read_plugin_manifest(SMALL + f"tools: [{', '.join(names)}]".encode(), "plugin.yaml")
