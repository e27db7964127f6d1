"""A clause that a test cites is in the table of clauses."""

import pytest

from checks import citations, conformance

PAGE = (
    "# Conformance\n\n| clause | what | room | proof |\n|---|---|---|---|\n"
    "| TRUST §path-1 | stays inside | `base/paths.py` | open |\n"
    "| GUARD T1 | blocks | `examine/guard.py` | open |\n"
    "| ESCALATION AC8.1 | reads | `decide/escalation.py` | open |\n"
    "| CONTRACTS §9-config | where | `service/places.py` | open |\n"
)


def found(plant, docstring, path="tests/base/test_paths.py"):
    """What the check says of a test with that docstring."""
    source = f'"""A module."""\n\n\ndef test_it():\n    """{docstring}"""\n'
    tree = plant({conformance.PAGE: PAGE, path: source})
    return [(each.line, each.message.partition("`: ")[0]) for each in citations.check(tree)]


@pytest.mark.parametrize(
    "docstring",
    [
        "TRUST §path-1, GUARD T1 and ESCALATION AC8.1: it holds.",
        "TRUST §path: all that begin with it.",
        "GUARD §5: a section has a number, and is no clause.",
        "TRUST §path-1, and CONTRACTS §9-config.",
        "TRUST alone, or NOBODY §knows.",
        "No clause at all.",
    ],
)
def test_what_is_there_may_be_cited(plant, docstring):
    """Clauses, the words that several begin with, and sections."""
    assert found(plant, docstring) == []


@pytest.mark.parametrize(
    ("docstring", "cited"),
    [
        ("TRUST §path-9: gone.", ["`TRUST §path-9"]),
        ("TRUST §pat: half a word.", ["`TRUST §pat"]),
        ("GUARD T1, T7: one of two.", ["`GUARD T7"]),
        ("TRUST §path-1 to §path-3, and §path-4.", ["`TRUST §path-3", "`TRUST §path-4"]),
        ("ESCALATION AC8.2 (TRUST §path-2).", ["`ESCALATION AC8.2", "`TRUST §path-2"]),
        ("CONTRACTS §9-configuration: renamed.", ["`CONTRACTS §9-configuration"]),
    ],
)
def test_what_is_not_there_is_found(plant, docstring, cited):
    """Each by its document, also where several follow the name of one."""
    assert [name for _, name in found(plant, docstring)] == cited


def test_the_line_is_that_of_the_citation(plant):
    """However long the docstring is."""
    assert found(plant, "It holds.\n\n    TRUST §path-7.\n    ")[0][0] == 7


def test_only_tests_prove(plant):
    """What other files say in passing is theirs."""
    assert found(plant, "TRUST §path-9", "src/consentry/base/paths.py") == []


def test_modules_and_classes_cite_too(plant):
    """Every docstring of a test's file is read; samples that do not parse are left alone."""
    files = {
        conformance.PAGE: PAGE,
        "tests/test_a.py": '"""TRUST §a."""\n\n\nclass TestIt:\n    """TRUST §b."""\n',
        "tests/sample.py": '"""TRUST §c."""\ndef (\n',
    }
    messages = [each.message for each in citations.check(plant(files))]
    assert len(messages) == 2


def test_without_the_page_nothing_is_cited(plant):
    """That it is missing is another check's to say."""
    assert list(citations.check(plant({"tests/test_a.py": '"""TRUST §a."""\n'}))) == []
