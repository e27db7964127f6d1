"""A denial is a value to be listed and an exception to be raised, and each works."""

import contextlib
import traceback
from collections.abc import Iterator
from dataclasses import replace

import pytest

from consentry.enforce.violations import Operation, PermissionDenied, Truth


def _denied(**other: int) -> PermissionDenied:
    made = PermissionDenied(Operation.READ, "/etc/shadow", "native", Truth.OBSERVED, "not granted")
    return replace(made, **other)


@contextlib.contextmanager
def _with_note() -> Iterator[None]:
    try:
        yield
    except PermissionDenied as denied:
        denied.add_note("asked for twice")
        raise


def test_it_prints_as_the_line_that_escalation_reads() -> None:
    """ESCALATION: `PermissionDenied: Requires read access to <resource>`."""
    assert str(_denied()) == "PermissionDenied: Requires read access to /etc/shadow"


def test_it_is_raised_and_passed_on_like_any_exception() -> None:
    """Through a context manager, with a note, a cause and a traceback."""
    with pytest.raises(PermissionDenied) as raised, _with_note():
        raise _denied() from ValueError("why")
    shown = "".join(traceback.format_exception(raised.value))
    assert raised.value.__traceback__ is not None
    assert isinstance(raised.value.__cause__, ValueError)
    assert "/etc/shadow\nasked for twice" in shown


def test_equal_ones_are_one() -> None:
    """As values they are compared by what they say."""
    assert {_denied(), _denied(), _denied(times=2)} == {_denied(times=2), _denied()}
