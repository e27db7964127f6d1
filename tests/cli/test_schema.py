"""`consentry schema`: each schema as it is shipped, and the list of them."""

import json

import pytest

from consentry.base.codes import Code
from consentry.declare.documentkind import DocumentKind
from tests.cli.conftest import CommandLine, assert_error


@pytest.mark.parametrize("kind", DocumentKind)
def test_a_schema_is_printed_as_it_is(consentry: CommandLine, kind: DocumentKind) -> None:
    """The same bytes with and without `--json`: it is a JSON document already."""
    plain = consentry("schema", kind)
    assert (plain.status, plain.out, plain.err) == (0, kind.schema(), "")
    assert consentry("schema", kind, "--json") == plain


def test_schemas_are_listed_with_their_files(consentry: CommandLine) -> None:
    """For people, for scripts, and bare."""
    listed = json.loads(consentry("schema", "--json").out)
    assert listed["kind"] == "schemas"
    assert listed["schemas"] == [{"name": kind.value, "file": kind.file} for kind in DocumentKind]
    assert consentry("schema", "--quiet").out.split() == list(DocumentKind)
    assert "tools/NAME.yaml" in consentry("schema").out


def test_a_name_that_is_not_known_is_answered_with_the_nearest(consentry: CommandLine) -> None:
    """And exits with 2."""
    ended = consentry("schema", "consent-confg")
    assert_error(ended, Code.USAGE)
    assert "did you mean `consent-config`?" in ended.err
