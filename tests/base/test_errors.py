"""Errors: one tree, stable codes, a place, a help line and an exit status (CONTRACTS §11)."""

import re

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import BadDocument, BadInput, ConsentryError, Problem, Where


def test_every_code_is_a_stable_word_with_meaning_and_remedy() -> None:
    """Codes are kebab-case and unique; meaning and remedy are sentences without a period."""
    assert len({code.value for code in Code}) == len(list(Code))
    for code in Code:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code.value), code
        for words in (code.meaning, code.remedy):
            assert len(words) > 15, code
            assert not words.endswith("."), code


def test_exit_statuses_are_those_of_the_table() -> None:
    """Numbers are a promise to scripts."""
    assert {status.name: int(status) for status in ExitStatus} == {
        "DONE": 0,
        "FOUND": 1,
        "USAGE": 2,
        "BAD_DOCUMENT": 3,
        "PLUGIN_REJECTED": 4,
        "LEDGER": 5,
        "PARKED": 75,
        "TIME_LIMIT": 124,
        "FAILED": 125,
        "DENIED": 126,
        "NOT_FOUND": 127,
        "INTERRUPTED": 130,
        "KILLED_BY_LIMIT": 137,
        "READER_GONE": 141,
    }
    assert all(status.meaning for status in ExitStatus)


def test_an_error_says_where() -> None:
    """File, line, column and field, as far as they are known."""
    assert str(Where("a.yaml", 3, 7, "x.y")) == "a.yaml:3:7 `x.y`"
    assert str(Where("a.yaml")) == "a.yaml"
    assert str(Where(field="x")) == "`x`"
    assert str(Where(line=3, field="x")) == "line 3 `x`"
    assert Where("a.yaml", 3, field="[0]").within("list") == Where("a.yaml", 3, field="list[0]")
    assert Where(field="b").within("a") == Where(field="a.b")
    error = BadInput(Code.UNIT_SIZE, "`x` is not a size").at(Where("a.yaml", 3))
    assert str(error) == "a.yaml:3: `x` is not a size"
    assert str(ConsentryError(Code.USAGE, "plain")) == "plain"


def test_help_comes_from_the_table_unless_given() -> None:
    """Every error tells what to do."""
    assert BadInput(Code.UNIT_SIZE, "x").help_line == Code.UNIT_SIZE.remedy
    assert BadInput(Code.UNIT_SIZE, "x", help_line="this").help_line == "this"
    assert BadInput(Code.UNIT_SIZE, "x").exit_status is ExitStatus.BAD_DOCUMENT


def test_a_bad_document_lists_every_problem() -> None:
    """`file:line:column: field.path: what is wrong; what to do`, one to a line."""
    first = Problem(Where("a.yaml", 3, 7, "x.y"), "`1` is no name", "use letters")
    second = Problem(Where("a.yaml"), "it has no end", "add one")
    error = BadDocument([first, second])
    assert str(error) == (
        "a.yaml: 2 things are wrong\n"
        "a.yaml:3:7: x.y: `1` is no name; use letters\n"
        "a.yaml: it has no end; add one"
    )
    assert error.exit_status is ExitStatus.BAD_DOCUMENT
    single = BadDocument([first])
    assert str(single) == str(first)
    assert (single.message, single.where, single.help_line) == (
        first.message,
        first.where,
        first.help_line,
    )
