"""The table of clauses is unique, counted right, and names what exists."""

import pytest

from checks import conformance

HEAD = "| document | total | proven | open |\n|---|---|---|---|\n"
ROWS = "\n| clause | what | room | proof |\n|---|---|---|---|\n"
PROVEN = (
    "| TRUST §path-1 | stays inside | `base/paths.py` | `tests/base/test_paths.py::test_inside` |\n"
)
OPEN = "| GUARD T1 | blocks | `examine/guard.py` | open |\n"
COUNTS = "| TRUST | 1 | 1 | 0 |\n| GUARD | 1 | 0 | 1 |\n| all | 2 | 1 | 1 |\n"
FILES = {
    "src/consentry/base/paths.py": "",
    "src/consentry/examine/__init__.py": "",
    "tests/base/test_paths.py": (
        "def test_inside(): ...\n\nclass TestJail:\n    async def test_deep(self): ...\n\ndef helper(): ...\n"
    ),
}


def messages(plant, counts=COUNTS, rows=PROVEN + OPEN):
    """What the check says about a page of these rows."""
    page = f"# Conformance\n\n{HEAD}{counts}{ROWS}{rows}"
    return [
        f"{each.line} {each.message}"
        for each in conformance.check(plant({**FILES, conformance.PAGE: page}))
    ]


def test_a_true_table_passes(plant):
    """Unique ids, right counts, an existing test and rooms that exist."""
    assert messages(plant) == []


def test_a_missing_page_is_found(plant):
    """Without the page nothing is claimed, and that is a fault too."""
    assert len(list(conformance.check(plant(FILES)))) == 1


def test_a_repeated_clause_is_found(plant):
    """The second row with an id names the first."""
    counts = "| GUARD | 2 | 0 | 2 |\n| all | 2 | 0 | 2 |\n"
    [message] = messages(plant, counts, OPEN + OPEN)
    assert "also in line" in message


@pytest.mark.parametrize(
    ("wrong", "line"),
    [("| TRUST | 2 | 1 | 1 |", 5), ("| TRUST | 1 | 0 | 1 |", 5), ("| all | 3 | 1 | 2 |", 7)],
)
def test_a_wrong_count_is_found(plant, wrong, line):
    """Total, proven and open are counted for each document and for all."""
    lines = COUNTS.splitlines()
    lines[line - 5] = wrong
    [message] = messages(plant, "\n".join(lines) + "\n")
    assert message.startswith(f"{line} ")


def test_a_document_without_a_count_is_found(plant):
    """A document that appears only in rows has no count."""
    [message] = messages(plant, "| TRUST | 1 | 1 | 0 |\n| all | 2 | 1 | 1 |\n")
    assert "GUARD" in message


@pytest.mark.parametrize(
    "proof",
    [
        "tests/base/test_paths.py::test_gone",
        "tests/base/test_gone.py::test_inside",
        "tests/base/test_paths.py::helper",
        "tests/base/test_paths.py::TestJail::test_inside",
    ],
)
def test_a_proof_that_does_not_exist_is_found(plant, proof):
    """A test that was renamed or never written proves nothing."""
    [message] = messages(
        plant, rows=PROVEN.replace("tests/base/test_paths.py::test_inside", proof) + OPEN
    )
    assert proof in message


@pytest.mark.parametrize(
    "proof",
    [
        "`tests/base/test_paths.py::TestJail::test_deep`",
        "`tests/base/test_paths.py::test_inside[..]`",
        "`tests/base/test_paths.py::test_inside`, `tests/base/test_paths.py::TestJail::test_deep`",
    ],
)
def test_methods_parameters_and_several_tests_are_proofs(plant, proof):
    """Any test that pytest could be asked for by that name."""
    assert (
        messages(
            plant, rows=PROVEN.replace("`tests/base/test_paths.py::test_inside`", proof) + OPEN
        )
        == []
    )


def test_a_room_that_does_not_exist_is_found(plant):
    """The first part of the path must be a room; the file may still be planned."""
    [message] = messages(plant, rows=PROVEN + OPEN.replace("examine/", "exmaine/"))
    assert "no room `exmaine`" in message


def test_a_proven_clause_needs_its_file(plant):
    """What is proven exists."""
    [message] = messages(plant, rows=PROVEN.replace("base/paths.py", "base/planned.py") + OPEN)
    assert "does not exist" in message


@pytest.mark.parametrize(
    "row",
    [
        "| GUARD T1 | blocks | examine/guard.py | open |\n",
        "| GUARD T1 | blocks | `examine/guard.py` | later |\n",
        "| GUARD T1 | blocks | `examine/guard.py` | test_inside |\n",
        "| GUARD T1 | blocks | `examine/guard.py` |\n",
    ],
)
def test_a_row_that_cannot_be_read_is_found(plant, row):
    """A malformed row is a fault, not a clause less."""
    found = messages(plant, rows=PROVEN + row)
    assert any("cannot be read" in message for message in found)
