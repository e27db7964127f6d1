"""Kinds of field: what each takes, what it does not, and how a refusal names the place."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.clock import Instant
from consentry.base.errors import BadInput
from consentry.record.fieldrules import (
    ANY_JSON,
    ANY_TEXT,
    BOOLEAN,
    CODE_WORD,
    DIGEST,
    HEX64,
    INSTANT,
    LIST,
    MACHINE_ID,
    OBJECT,
    SHARE,
    TEXT,
    WHOLE,
    Kind,
    field,
    id_of,
    leaves,
    list_of,
    map_of,
    nullable,
    object_of,
    one_of,
    refuse,
    whole_from,
)

UUID7 = "0198c2f4-0000-7000-8000-000000000001"


class Word(StrEnum):
    """A word as the product's own enumerations have it."""

    YES = "yes"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (TEXT, "x"),
        (TEXT, Word.YES),
        (ANY_TEXT, ""),
        (BOOLEAN, False),
        (WHOLE, 0),
        (WHOLE, -(2**53) + 1),
        (whole_from(1), 1),
        (SHARE, 0),
        (SHARE, 0.7),
        (SHARE, 1.0),
        (LIST, []),
        (LIST, (1, 2)),
        (OBJECT, {}),
        (OBJECT, MappingProxyType({"a": 1})),
        (ANY_JSON, {"a": [None]}),
        (INSTANT, "2024-02-29T23:59:59.999Z"),
        (DIGEST, "sha256:" + "0a" * 32),
        (HEX64, "0a" * 32),
        (MACHINE_ID, "machine-" + "0f" * 16),
        (CODE_WORD, "capability-not-granted"),
        (CODE_WORD, "integrity_mismatch"),
        (id_of("permit"), f"permit-{UUID7}"),
        (one_of("yes", "no"), "no"),
        (one_of("yes", "no"), Word.YES),
        (list_of(TEXT), []),
        (list_of(TEXT, least=1), ["a"]),
        (map_of(WHOLE), {}),
        (map_of(WHOLE, least=1), {"a": 1}),
    ],
)
def test_a_value_of_the_kind_fits(kind: Kind, value: Any) -> None:
    """Also at the edges of its range."""
    assert kind.fits(value) is True


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (TEXT, ""),
        (TEXT, 1),
        (TEXT, b"x"),
        (ANY_TEXT, ["x"]),
        (BOOLEAN, 1),
        (BOOLEAN, "true"),
        (WHOLE, True),
        (WHOLE, 1.0),
        (WHOLE, "1"),
        (WHOLE, 2**53),
        (whole_from(1), 0),
        (whole_from(0), False),
        (SHARE, 1.01),
        (SHARE, -0.01),
        (SHARE, True),
        (SHARE, float("nan")),
        (SHARE, "0.5"),
        (LIST, "ab"),
        (LIST, b"ab"),
        (LIST, {"a": 1}),
        (OBJECT, [("a", 1)]),
        (INSTANT, "2026-01-01T00:00:00Z"),
        (INSTANT, "2026-01-01T00:00:00.000+00:00"),
        (INSTANT, "2026-01-01 00:00:00.000Z"),
        (INSTANT, "2026-02-30T00:00:00.000Z"),
        (INSTANT, "2026-01-01T24:00:00.000Z"),
        (INSTANT, "2026-01-01T00:60:00.000Z"),
        (INSTANT, "0000-01-01T00:00:00.000Z"),
        (INSTANT, "2026-01-01T00:00:00.000Z\n"),
        (INSTANT, "٢026-01-01T00:00:00.000Z"),
        (INSTANT, 1_767_225_600_000),
        (DIGEST, "0a" * 32),
        (DIGEST, "sha256:" + "0A" * 32),
        (DIGEST, "sha256:" + "0" * 63),
        (DIGEST, "sha256:" + "0" * 64 + "\n"),
        (DIGEST, "md5:" + "0" * 32),
        (HEX64, "sha256:" + "0" * 64),
        (MACHINE_ID, f"machine-{UUID7}"),
        (CODE_WORD, "Not Granted"),
        (CODE_WORD, "-x"),
        (CODE_WORD, ""),
        (id_of("permit"), f"consent-{UUID7}"),
        (id_of("permit"), UUID7),
        (id_of("permit"), "permit-0198c2f4-0000-4000-8000-000000000001"),
        (id_of("permit"), 7),
        (one_of("yes", "no"), "maybe"),
        (one_of("yes", "no"), ["yes"]),
        (one_of("yes", "no"), True),
        (list_of(TEXT), "ab"),
        (list_of(TEXT, least=1), []),
        (map_of(WHOLE), [1]),
        (map_of(WHOLE, least=1), {}),
        (object_of(), []),
    ],
)
def test_a_value_of_another_kind_does_not_fit(kind: Kind, value: Any) -> None:
    """Near misses: another spelling, another type that compares equal, one step out of range."""
    assert kind.fits(value) is False


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_every_instant_fits_as_it_is_written(milliseconds: int) -> None:
    """What `str()` makes of an instant is the one spelling that is taken."""
    assert INSTANT.fits(str(Instant(milliseconds)))


def _both_or_neither(value: Mapping[str, Any]) -> None:
    if (value["by"] is None) is not (value["at"] is None):
        refuse("at", "must say who and when, or neither")


ENTRY = object_of(nullable("by", TEXT), nullable("at", TEXT), across=(_both_or_neither,))
NESTED = object_of(
    field("name", TEXT),
    field("entries", list_of(ENTRY)),
    field("grid", list_of(list_of(WHOLE))),
    field("sums", map_of(list_of(WHOLE))),
)
WHOLE_NESTED: dict[str, Any] = {
    "name": "x",
    "entries": [{"by": "me", "at": "now"}, {"by": None, "at": None}],
    "grid": [[1], [2, 3]],
    "sums": {"a": [1]},
}


@pytest.mark.parametrize(
    ("changed", "place", "message"),
    [
        ({"name": ""}, "name", "must have a text of at least one character here"),
        ({"name": None}, "name", "cannot have null here"),
        ({"entries": {}}, "entries", "must have a list here"),
        ({"entries": [{"by": None}]}, "entries[0].at", "cannot be without it"),
        ({"entries": [*WHOLE_NESTED["entries"], 3]}, "entries[2]", "must have an object here"),
        ({"entries": [None]}, "entries[0]", "must have an object here"),
        (
            {"entries": [{"by": "me", "at": None}]},
            "entries[0].at",
            "must say who and when, or neither",
        ),
        ({"grid": [[1], [2, "3"]]}, "grid[1][1]", "must have a whole number here"),
        ({"sums": {"a": 1}}, "sums.a", "must have a list here"),
        ({"sums": {"a": [1, None]}}, "sums.a[1]", "must have a whole number here"),
    ],
)
def test_a_refusal_names_the_place(changed: dict[str, Any], place: str, message: str) -> None:
    """From the outermost object down to the item of a list, and only the first fault."""
    assert NESTED.fits(WHOLE_NESTED)
    with pytest.raises(BadInput) as caught:
        NESTED.fits({**WHOLE_NESTED, **changed})
    assert caught.value.where is not None
    assert (caught.value.where.field, caught.value.message) == (place, message)


def test_rules_across_fields_see_only_fields_that_fit() -> None:
    """A rule may use its fields without checking them again."""
    with pytest.raises(BadInput, match="cannot be without it"):
        ENTRY.fits({"by": "me"})


def test_more_fields_than_the_named_ones_are_let_through() -> None:
    """A payload may say more than it must."""
    assert NESTED.fits({**WHOLE_NESTED, "more": object()})


def test_a_view_of_a_mapping_is_as_good_as_a_dict() -> None:
    """Frozen values hand out views; tuples stand for lists."""
    entries = tuple(MappingProxyType(entry) for entry in WHOLE_NESTED["entries"])
    assert NESTED.fits(MappingProxyType({**WHOLE_NESTED, "entries": entries}))


def test_every_field_has_its_place() -> None:
    """Outer before inner; an item of a list by empty brackets."""
    assert [place for place, _ in leaves(NESTED.fields)] == [
        "name",
        "entries",
        "entries[].by",
        "entries[].at",
        "grid",
        "sums",
    ]
