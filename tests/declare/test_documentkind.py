"""The JSON Schemas and the readers: the same keys, the same words, and the same answers."""

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from consentry.base.errors import BadDocument
from consentry.declare.anydocument import read_any
from consentry.declare.consent import DefaultPolicy, RememberDuration
from consentry.declare.documentkind import DocumentKind
from consentry.declare.linuxcapabilities import LINUX_CAPABILITIES
from consentry.declare.policy import CommitRule
from consentry.declare.profile import EngineName
from consentry.declare.tool import ConsentLevel, LogLevel, RiskLevel
from consentry.surface.dimensions import Level, LoadLevel
from consentry.surface.modes import Denials, LayerPlace, Reads, Rounding, View, Writes
from tests.declare.reading import values_of
from tests.declare.schemacorpus import ACCEPTED, ONLY_THE_READER, REFUSED

FREE = re.compile(r"the keys still free here are (.+)$")
ODD = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"


def schema_of(kind: DocumentKind) -> dict[str, Any]:
    """The schema as values."""
    found: dict[str, Any] = json.loads(kind.schema())
    return found


def mappings(kind: DocumentKind) -> Iterator[tuple[tuple[str | int, ...], set[str]]]:
    """Every mapping that a schema describes: the way to it, and the keys it may have."""
    schema = schema_of(kind)

    def below(node: dict[str, Any], way: tuple[str | int, ...]) -> Iterator[Any]:
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
        if "properties" in node:
            yield way, set(node["properties"])
            for key, inner in node["properties"].items():
                yield from below(inner, (*way, key))
        elif isinstance(node.get("additionalProperties"), dict):
            yield from below(node["additionalProperties"], (*way, "p"))
        if isinstance(node.get("items"), dict):
            yield from below(node["items"], (*way, 0))

    yield from below(schema, ())


def document_with_odd_key(way: tuple[str | int, ...]) -> str:
    """A JSON document with a key at that place that nobody knows."""
    inner: object = {ODD: 1}
    for step in reversed(way):
        inner = [inner] if step == 0 else {step: inner}
    return json.dumps(inner)


PLACES = [(kind, way, keys) for kind in DocumentKind for way, keys in mappings(kind)]


@pytest.mark.parametrize(
    ("kind", "way", "keys"),
    PLACES,
    ids=[f"{kind}-{'.'.join(map(str, way))}" for kind, way, _ in PLACES],
)
def test_every_key_of_a_schema_is_one_of_the_reader_and_the_other_way_round(
    kind: DocumentKind, way: tuple[str | int, ...], keys: set[str]
) -> None:
    """The reader is asked: it lists the keys that it knows where it meets one that it does not."""
    with pytest.raises(BadDocument) as caught:
        read_any(kind, document_with_odd_key(way).encode(), "d.json")
    listed = [
        found[1]
        for problem in caught.value.problems
        if ODD in problem.message
        if (found := FREE.search(problem.help_line))
    ]
    assert [set(each.split(", ")) for each in listed] == [keys]


def test_there_are_mappings() -> None:
    """The test above looks at all of them: one at least of each kind, profiles and items included."""
    ways = {(kind, way) for kind, way, _ in PLACES}
    assert {kind for kind, _ in ways} == set(DocumentKind)
    assert (DocumentKind.SANDBOX_CONFIG, ("sandboxConfig", "profiles", "p", "resources")) in ways
    assert (DocumentKind.TOOL, ("tool", "capabilities", "fileRead", 0)) in ways
    assert (DocumentKind.POLICY, ("entries", 0)) in ways
    assert (DocumentKind.TOOL_REGISTRY, ("tools", 0, "capabilities", "allowlists")) in ways


@pytest.mark.parametrize("kind", DocumentKind)
def test_every_schema_is_one(kind: DocumentKind) -> None:
    """Of the draft that it names, with an id of its own, and a word on every key."""
    schema = schema_of(kind)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:consentry:schema:{kind}:1"
    for node in nodes(schema):
        for key, inner in node.get("properties", {}).items():
            target = inner
            if "$ref" in inner:
                target = schema["$defs"][inner["$ref"].rpartition("/")[2]]
            assert "description" in inner or "description" in target or "properties" in target, key


def nodes(node: object) -> Iterator[dict[str, Any]]:
    """Every mapping in a value."""
    if isinstance(node, dict):
        yield node
        for inner in node.values():
            yield from nodes(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from nodes(inner)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (DocumentKind.CONSENT_CONFIG, DefaultPolicy),
        (DocumentKind.CONSENT_CONFIG, RememberDuration),
        (DocumentKind.TOOL, RiskLevel),
        (DocumentKind.TOOL, ConsentLevel),
        (DocumentKind.TOOL, LogLevel),
        (DocumentKind.SANDBOX_CONFIG, EngineName),
        (DocumentKind.SANDBOX_CONFIG, View),
        (DocumentKind.SANDBOX_CONFIG, Writes),
        (DocumentKind.SANDBOX_CONFIG, LayerPlace),
        (DocumentKind.SANDBOX_CONFIG, Reads),
        (DocumentKind.SANDBOX_CONFIG, Rounding),
        (DocumentKind.SANDBOX_CONFIG, Denials),
        (DocumentKind.POLICY, CommitRule),
        (DocumentKind.WISH, Level),
        (DocumentKind.WISH, LoadLevel),
        (DocumentKind.TOOL_REGISTRY, Level),
    ],
)
def test_words_are_those_of_the_enumerations(kind: DocumentKind, words: type[StrEnum]) -> None:
    """All of them, in their order."""
    assert list(words) in [node["enum"] for node in nodes(schema_of(kind)) if "enum" in node]


def test_linux_capabilities_are_those_of_the_table() -> None:
    """All of them."""
    listed = [
        node["enum"] for node in nodes(schema_of(DocumentKind.SANDBOX_CONFIG)) if "enum" in node
    ]
    assert list(LINUX_CAPABILITIES) in listed


def is_valid(kind: DocumentKind, text: str) -> bool:
    """What the schema says of the values of a text."""
    return bool(Draft202012Validator(schema_of(kind)).is_valid(values_of(text)))


def is_read(kind: DocumentKind, text: str) -> bool:
    """What the reader says."""
    try:
        read_any(kind, text.encode(), "d.yaml")
    except BadDocument:
        return False
    return True


@pytest.mark.parametrize(("kind", "text"), ACCEPTED)
def test_a_schema_accepts_what_its_reader_accepts(kind: DocumentKind, text: str) -> None:
    """So that an editor never marks what is right."""
    assert is_read(kind, text)
    assert is_valid(kind, text)


@pytest.mark.parametrize(("kind", "text"), REFUSED)
def test_a_schema_refuses_what_its_reader_refuses(kind: DocumentKind, text: str) -> None:
    """Keys, types, words and forms."""
    assert not is_read(kind, text)
    assert not is_valid(kind, text)


@pytest.mark.parametrize(("kind", "text"), ONLY_THE_READER)
def test_what_no_schema_can_say_the_reader_refuses(kind: DocumentKind, text: str) -> None:
    """The page says that the reader has the last word; these are why."""
    assert not is_read(kind, text)
    assert is_valid(kind, text)


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("consent-config.yaml", DocumentKind.CONSENT_CONFIG),
        ("a/b/policy.yaml", DocumentKind.POLICY),
        ("tools/build.yaml", DocumentKind.TOOL),
        ("tools/policy.yaml", DocumentKind.TOOL),
        ("tool-manifest.yaml", DocumentKind.TOOL_MANIFEST),
        ("anything.json", DocumentKind.TOOL),
        ("wish.json", DocumentKind.WISH),
        ("a/tool-registry.yaml", DocumentKind.TOOL_REGISTRY),
        ("flows/daily.recipe.yaml", DocumentKind.RECIPE),
        ("tools/daily.recipe.yaml", DocumentKind.TOOL),
    ],
)
def test_what_a_file_is_by_its_name(file: str, kind: DocumentKind) -> None:
    """A tool may be called like a document; its folder tells."""
    assert DocumentKind.of(file) is kind
