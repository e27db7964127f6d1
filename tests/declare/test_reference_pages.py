"""The pages about documents say what the readers do: their examples load, their tables are complete."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from consentry.declare import nodes, problems, sandboxconfig, source, toolcapabilities, toolmanifest
from consentry.declare.profile import EngineName
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.declare.tool import ConsentLevel, LogLevel, RiskLevel
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.surface.modes import Denials, Reads, Rounding, View, Writes
from tests.docs.blocks import DOCS, blocks_of
from tests.docs.tables import code_spans, table_with_head

SANDBOX = DOCS / "reference" / "sandbox-config.md"
MANIFEST = DOCS / "reference" / "tool-manifest.md"
DOCUMENTS = DOCS / "reference" / "documents.md"
SPECIFICATION = DOCS / "spec" / "consent.md"
READERS: dict[str, Callable[[bytes, str], object]] = {
    "sandboxConfig": read_sandbox_config,
    "tool": read_tool_manifest,
}


def examples() -> Iterator[tuple[Path, str, str]]:
    """Every example in YAML on these pages, and those of the specification that have a reader."""
    for page in (SANDBOX, MANIFEST, SPECIFICATION):
        for block in blocks_of(page.read_text(encoding="utf-8"), "yaml"):
            root = block.text.partition(":")[0]
            if root in READERS:
                yield page, root, block.text


EXAMPLES = list(examples())


@pytest.mark.parametrize(("page", "root", "text"), EXAMPLES, ids=lambda each: str(each)[-20:])
def test_examples_load(page: Path, root: str, text: str) -> None:
    """Without a single problem."""
    assert READERS[root](text.encode(), page.name)


def test_there_are_examples() -> None:
    """The test above looks at something: one on each page, two in the specification."""
    assert [(page, root) for page, root, _ in EXAMPLES] == [
        (SANDBOX, "sandboxConfig"),
        (MANIFEST, "tool"),
        (SPECIFICATION, "tool"),
        (SPECIFICATION, "sandboxConfig"),
    ]


def keys(page: Path, *head: str) -> set[str]:
    """The keys of a table, without what stands behind a dot."""
    rows = table_with_head(page, *head)
    return {code_spans(row[0])[0].partition(".")[0] for row in rows}


def test_every_key_is_listed() -> None:
    """No key more, none less."""
    assert keys(SANDBOX, "key of a profile") == set(sandboxconfig._KEYS_OF_PROFILE)
    assert keys(MANIFEST, "key of a tool") == set(toolmanifest._KEYS)
    assert keys(MANIFEST, "key of `capabilities`") == set(toolcapabilities._KEYS)
    assert keys(MANIFEST, "key of `sandboxRequirements`") == set(toolmanifest._KEYS_OF_REQUIREMENTS)
    resources = [
        code_spans(row[0])[0].removeprefix("resources.")
        for row in table_with_head(SANDBOX, "key of a profile")
        if row[0].startswith("`resources.")
    ]
    assert tuple(resources) == sandboxconfig._KEYS_OF_RESOURCES


@pytest.mark.parametrize(
    ("page", "head", "key", "words"),
    [
        (SANDBOX, "key of a profile", "view", View),
        (SANDBOX, "key of a profile", "writes", Writes),
        (SANDBOX, "key of a profile", "reads", Reads),
        (SANDBOX, "key of a profile", "patterns", Rounding),
        (SANDBOX, "key of a profile", "denials", Denials),
        (MANIFEST, "key of a tool", "riskLevel", RiskLevel),
        (MANIFEST, "key of a tool", "consentLevel", ConsentLevel),
        (MANIFEST, "key of a tool", "auditConfig.logLevel", LogLevel),
    ],
)
def test_every_word_is_listed(page: Path, head: str, key: str, words: type[StrEnum]) -> None:
    """In the order of the enumeration."""
    [row] = [row for row in table_with_head(page, head) if row[0] == f"`{key}`"]
    assert code_spans(row[1]) == list(words)


def test_every_engine_is_listed() -> None:
    """In the order in which errors name them."""
    rows = table_with_head(SANDBOX, "engine", "is")
    assert [code_spans(row[0])[0] for row in rows] == list(EngineName)


def test_limits_are_listed_with_their_values() -> None:
    """Those of the reader."""
    rows = table_with_head(DOCUMENTS, "limit")
    limits = {
        name: f"{value:,}"
        for module in (source, nodes, problems)
        for name, value in vars(module).items()
        if name.startswith("MOST_")
    }
    assert {row[0].strip("`"): row[1] for row in rows} == limits
