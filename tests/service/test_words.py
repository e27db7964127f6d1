"""Every stable word is explained, and only from the tables that define it."""

import pytest

from consentry.base.codes import Code, ExitStatus
from consentry.enforce.host import FACT_MEANINGS
from consentry.service.settings import SETTINGS
from consentry.service.words import Word, WordKind, all_words, words_named
from consentry.surface.catalog import capability_catalog
from consentry.surface.dimensions import Dimension
from consentry.surface.permission_sets import PermissionSet, definition


def _only(name: str) -> Word:
    (word,) = words_named(name)
    return word


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (WordKind.CODE, [str(code) for code in Code]),
        (WordKind.STATUS, [str(int(status)) for status in ExitStatus]),
        (WordKind.SETTING, [setting.name for setting in SETTINGS]),
        (WordKind.PERMISSION_SET, [str(name) for name in PermissionSet]),
        (WordKind.DIMENSION, [dimension.value for dimension in Dimension]),
        (WordKind.CAPABILITY, [entry.capability_id for entry in capability_catalog().entries]),
        (WordKind.HOST, list(FACT_MEANINGS)),
    ],
)
def test_every_row_of_every_table_is_a_word(kind: WordKind, names: list[str]) -> None:
    """The listing of a kind is its table, whole and in order."""
    assert [word.name for word in all_words() if word.kind is kind] == names


def test_every_word_says_something() -> None:
    """No empty summary and no empty detail."""
    for word in all_words():
        assert word.summary, word
        assert all(title and text for title, text in word.details), word


def test_error_code_tells_what_to_do_and_the_exit_status() -> None:
    """The row of the table, in words."""
    word = _only("state-refused")
    assert word.summary == Code.STATE_REFUSED.meaning
    assert dict(word.details)["what to do"] == Code.STATE_REFUSED.remedy
    assert dict(word.details)["exit status"].startswith("126, ")


def test_exit_status_lists_the_codes_that_end_with_it() -> None:
    """From the status back to its codes."""
    codes = dict(_only("125").details)["error codes"]
    assert codes.split(", ") == [str(code) for code in Code if code.status is ExitStatus.FAILED]


def test_permission_set_tells_steps_in_both_directions() -> None:
    """The legal steps from a set, and the sets from which one leads to it."""
    details = dict(_only("readonly").details)
    assert details["steps from here"] == "filesystem, mcp-standard"
    assert details["steps to here"] == "minimal"
    assert details["native: workspace"] == definition(PermissionSet.READONLY).native.workspace
    trusted = dict(_only("trusted").details)
    assert (trusted["steps from here"], trusted["steps to here"]) == ("none", "none")


@pytest.mark.parametrize("name", ["NET_ACCESS", "net_access"])
def test_dimension_goes_by_both_its_names(name: str) -> None:
    """Verdicts write it in upper case, surfaces in lower case."""
    word = _only(name)
    assert (word.name, dict(word.details)["values"]) == ("NET_ACCESS", "NONE, ALLOWLIST, ANY")


def test_dimension_of_loading_has_its_own_ladder() -> None:
    """The values are those of its ladder, and lists where it is a set."""
    assert dict(_only("DYNAMIC_CODE_LOAD").details)["values"] == "NONE, LIMITED, ANY"
    assert dict(_only("TOOL_CLASSES").details)["values"] == "a list"


def test_unknown_word_finds_nothing() -> None:
    """Nothing is guessed here; suggesting is the command's business."""
    assert words_named("state-refuse") == ()
