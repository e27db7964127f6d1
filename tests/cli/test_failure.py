"""An error about a document: one line for each thing that is wrong, or one list for scripts."""

import json

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadDocument, Problem, Where
from consentry.cli.failure import report

FIRST = Problem(Where("a.yaml", 3, 7, "tool.name"), "`X` is no name", "write it in lower case")
SECOND = Problem(Where("a.yaml", 9, 1), "not a size", "write 512MB", Code.UNIT_SIZE)


def test_several_problems_have_a_line_each(capfd: pytest.CaptureFixture[str]) -> None:
    """Place, field, what is wrong, what to do; the frame around them is as for other errors."""
    assert report(BadDocument([FIRST, SECOND]), []) == 3
    assert capfd.readouterr().err == (
        "consentry: error[document-invalid]: a.yaml: 2 things are wrong\n"
        "  a.yaml:3:7: tool.name: `X` is no name; write it in lower case\n"
        "  a.yaml:9:1: not a size; write 512MB\n"
        f"help: {Code.DOCUMENT_INVALID.remedy}\n"
    )


def test_a_single_problem_is_the_message(capfd: pytest.CaptureFixture[str]) -> None:
    """Then the help line is about it, and there is no list."""
    report(BadDocument([FIRST]), [])
    assert capfd.readouterr().err == (
        "consentry: error[document-invalid]: a.yaml:3:7: tool.name: `X` is no name\n"
        "help: write it in lower case\n"
    )


def test_a_list_that_was_cut_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    """The number is the whole number."""
    report(BadDocument([FIRST, SECOND], unlisted=40), [])
    said = capfd.readouterr().err
    assert "a.yaml: 42 things are wrong, the first 2 are listed\n" in said


def test_hostile_text_stays_on_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    """A file name, key or value with line breaks and escapes adds no line and no colour."""
    name = "a\nhelp: all is well\x1b[2J"
    report(BadDocument([Problem(Where(name, 1, 1, name), name, name), FIRST]), [])
    said = capfd.readouterr().err
    assert len(said.splitlines()) == 4
    assert "\x1b" not in said


@pytest.mark.parametrize("problems", [[FIRST], [FIRST, SECOND]])
def test_scripts_get_every_problem_in_a_list(
    problems: list[Problem], capfd: pytest.CaptureFixture[str]
) -> None:
    """Also when there is only one, so that they need one way to read it."""
    assert report(BadDocument(problems), ["--json"]) == 3
    error = json.loads(capfd.readouterr().out)["error"]
    assert error["code"] == "document-invalid"
    assert error["where"]["file"] == "a.yaml"
    assert error["problems"] == [
        {
            "code": str(each.code),
            "message": each.message,
            "where": {
                "file": each.where.file,
                "line": each.where.line,
                "column": each.where.column,
                "field": each.where.field,
            },
            "help": each.help_line,
        }
        for each in problems
    ]
