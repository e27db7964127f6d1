"""Values as the caller of the library gives them: checked for what only a slip can explain."""

import math
import os
from collections.abc import Sequence
from enum import StrEnum
from typing import TypeAlias, TypeVar

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem

Word: TypeAlias = str | os.PathLike[str]

_Number = TypeVar("_Number", int, float)
_Words = TypeVar("_Words", bound=StrEnum)


def words_of(name: str, given: Sequence[Word]) -> tuple[str, ...]:
    """A list of words or paths; one word alone is a mistake."""
    if isinstance(given, str | bytes):
        raise wrong(f"`{name}` is a list, and was given as one word")
    words = tuple(os.fspath(word) for word in given)
    if not all(isinstance(word, str) for word in words):
        raise wrong(f"`{name}` has a word that is no text")
    return words


def positive(name: str, given: _Number | None) -> _Number | None:
    """A limit, if one was given."""
    if given is not None and not (_is_number(given) and 0 < given < math.inf):
        raise wrong(f"`{name}` is `{given}`, which is no limit")
    return given


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)


def one_of(name: str, given: str | None, words: type[_Words]) -> _Words | None:
    """One of a few words, if one was given."""
    if given is None:
        return None
    try:
        return words(given)
    except ValueError:
        listed = " or ".join(f"`{each.value}`" for each in words)
        raise wrong(f"`{name}` is `{given}`, which is not {listed}") from None


def wrong(message: str) -> UsageProblem:
    """The error for a call that cannot be meant."""
    return UsageProblem(Code.USAGE, message)
