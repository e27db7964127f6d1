"""Why a diff is not taken, for tests."""

import pytest

from consentry.examine.diff.changes import DiffIncomplete
from consentry.examine.diff.parsing import parse_diff


def refusal(text: str | bytes) -> tuple[str, int]:
    """Why a diff is not taken, and where."""
    with pytest.raises(DiffIncomplete) as caught:
        parse_diff(text.encode() if isinstance(text, str) else text)
    return caught.value.reason, caught.value.line
