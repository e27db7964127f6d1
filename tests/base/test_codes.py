"""Codes and their tables say the same."""

import tomllib
from importlib.resources import files

import pytest

from consentry.base.codes import Code, ExitStatus


def test_each_code_has_its_table_and_no_table_stands_alone() -> None:
    """A code without its row could not be explained, and a row without its code is never met."""
    text = files("consentry.base").joinpath("codes.toml").read_text("utf-8")
    assert list(tomllib.loads(text)) == [code.value for code in Code]


@pytest.mark.parametrize("code", Code)
def test_every_code_says_what_happened_and_what_to_do(code: Code) -> None:
    """Whoever meets a code is told its meaning and a remedy, and scripts its status."""
    assert code.meaning
    assert code.remedy
    assert code.status in ExitStatus
    assert code.status is not ExitStatus.DONE
