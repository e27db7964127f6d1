"""How values are typed: by little, so that nothing becomes what it does not look like."""

import pytest

from consentry.base.canonical import Json
from consentry.declare.nodes import Mark, plain_scalar
from tests.declare.reading import values_of


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("60", 60),
        ("-7", -7),
        ("0.5", 0.5),
        ("-1.25", -1.25),
    ],
)
def test_what_is_not_text(written: str, value: Json) -> None:
    """Flags, nothing, whole and decimal numbers, each in one spelling."""
    assert values_of(f"key: {written}\n") == {"key": value}


@pytest.mark.parametrize(
    "written",
    [
        *("no", "NO", "yes", "on", "off", "y", "n", "True", "FALSE", "Null", "None"),
        *("1e3", "0o17", "017", "0x1F", "0b1", "1_000", "+1", ".5", "1.", ".inf", ".nan", "-"),
        *(
            "12:30",
            "190:20:30",
            "2024-12-13",
            "2024-12-13T10:30:00Z",
            "1.0.0",
            "512M",
            "=",
            "\uff11",
        ),
    ],
)
def test_everything_else_is_the_text_it_looks_like(written: str) -> None:
    """Country codes, dates, octal and sexagesimal numbers stay as they are written."""
    assert values_of(f"key: {written}x\n") == {"key": f"{written}x"}
    if written not in ("-", "="):
        assert values_of(f"key: {written}\n") == {"key": written}


@pytest.mark.parametrize("written", ['"true"', "'60'", '"~"', "|\n  1", ">-\n  no"])
def test_quotes_and_blocks_are_text(written: str) -> None:
    """Whatever stands in them."""
    [value] = dict(values_of(f"key: {written}\n")).values()  # type: ignore[call-overload]
    assert isinstance(value, str)


def test_a_scalar_keeps_its_spelling_and_place() -> None:
    """For messages that quote it."""
    found = plain_scalar(Mark(3, 7), "007")
    assert (found.text, found.mark.line, found.mark.column) == ("007", 3, 7)


def test_json_and_yaml_give_the_same_values() -> None:
    """One document, two ways to write it."""
    yaml = "a: [1, 0.5, true, null, text]\nb: {c: '1'}\n"
    json = '{"a":\t[1, 0.5, true, null, "text"], "b": {"c": "1"}}'
    assert values_of(yaml) == values_of(json, "d.json")
