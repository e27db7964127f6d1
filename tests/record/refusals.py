"""Asking why a payload is refused, and reaching the part of it that a test spoils."""

from typing import Any

import pytest

from consentry.base.errors import BadInput
from consentry.record.events import EventType
from consentry.record.payload import check_payload


def part_of(payload: dict[str, Any], place: str) -> tuple[dict[str, Any], str]:
    """The object that holds the field, and the field's name; in a list, the first item's."""
    *outer, name = place.split(".")
    inner: Any = payload
    for step in outer:
        inner = inner[step.removesuffix("[]")]
        inner = inner[0] if step.endswith("[]") else inner
    return inner, name


def refusal(event_type: EventType, payload: dict[str, Any]) -> BadInput:
    """Why the payload is refused; that it is, is asserted."""
    with pytest.raises(BadInput) as caught:
        check_payload(event_type, payload)
    assert caught.value.code == "event-field"
    assert f"an event of type `{event_type}` " in caught.value.message
    return caught.value


def field_named(problem: BadInput) -> str:
    """The place that a refusal is about."""
    assert problem.where is not None
    assert problem.where.field is not None
    return problem.where.field
