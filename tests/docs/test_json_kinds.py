"""json.md lists exactly the documents that the command writes."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import DOCS, REPOSITORY
from tests.docs.tables import code_spans, prose_of, table_with_head

COMMAND = str(Path(sys.executable).with_name("consentry"))
PAGE = DOCS / "reference" / "json.md"


def kinds_on_the_page() -> list[str]:
    """The first column of the table of kinds."""
    return [code_spans(row[0])[0] for row in table_with_head(PAGE, "kind", "from")]


def kinds_in_the_source() -> set[str]:
    """Every literal that is passed as the kind of a document."""
    found: set[str] = set()
    for path in (REPOSITORY / "src" / "consentry" / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="document" | "line") | ast.Name(id="json_text"),
                    args=[ast.Constant(value=str(kind)), *_],
                ):
                    found.add(kind)
    return found


def test_every_kind_is_listed() -> None:
    """No kind more, none less."""
    assert set(kinds_on_the_page()) == kinds_in_the_source()


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("status", ["status"]),
        ("words", ["explain", "minimal"]),
        ("completion", ["completion", "bash"]),
        ("version", ["--version"]),
        ("error", ["explain", "no-such-word"]),
    ],
)
def test_a_document_has_the_fields_that_the_page_names(
    kind: str, arguments: list[str], tmp_path: Path
) -> None:
    """Started for real; every document begins with its version and its kind."""
    done = subprocess.run(
        [COMMAND, "--json", *arguments],
        cwd=tmp_path,
        env={"HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    document = json.loads(done.stdout)
    assert list(document)[:2] == ["schema_version", "kind"]
    assert document["kind"] == kind
    assert f"now {document['schema_version']})" in prose_of(PAGE)
    [named] = [row[2] for row in table_with_head(PAGE, "kind", "from") if f"`{kind}`" == row[0]]
    if kind != "status":  # that one has a page of its own
        assert [name for name in list(document)[2:] if f"`{name}`" not in named] == []
