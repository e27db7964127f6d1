"""The strict reader behind checkpoints and proofs."""

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.record.fields import (
    MOST_WHOLE,
    check_constant,
    check_digest,
    check_hex,
    check_path,
    check_text,
    check_whole,
    parse_document,
    placed,
    read_list,
    read_object,
)

CODE = Code.PROOF


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a": 1, "a": 1}',
        '[{"b": {"a": 1, "a": 2}}]',
        "NaN",
        "-Infinity",
        b"\xff",
        b"\xef\xbb\xbf{}",
        "{} {}",
        "[" * 100_000,
        "1" * 5_000,
    ],
    ids=lambda text: repr(text[:20]),
)
def test_what_is_not_plain_json_is_refused(text: str | bytes) -> None:
    """Repeated keys, constants, other encodings, unending depth and numbers."""
    with pytest.raises(BadInput, match="not a JSON document") as refusal:
        parse_document(text, CODE)
    assert refusal.value.code is CODE


def test_plain_json_is_read() -> None:
    """As text or as bytes in UTF-8."""
    assert parse_document('{"a": ["ä"]}', CODE) == {"a": ["ä"]}
    assert parse_document('{"a": ["ä"]}'.encode(), CODE) == {"a": ["ä"]}


def test_an_object_has_exactly_its_fields() -> None:
    """The first unknown or missing one is named."""
    assert read_object({"b": 1, "a": 2}, ("a", "b"), CODE) == {"a": 2, "b": 1}
    for document, field in (({"a": 1, "c": 1, "b": 1}, "c"), ({"a": 1}, "b")):
        with pytest.raises(BadInput) as refusal:
            read_object(document, ("a", "b"), CODE)
        assert refusal.value.where is not None
        assert refusal.value.where.field == field
    with pytest.raises(BadInput, match="not a JSON object"):
        read_object([], ("a",), CODE)
    with pytest.raises(BadInput, match="not a list"):
        read_list("a", {}, CODE)


def test_values_have_one_spelling() -> None:
    """Each check takes its form, and nothing that merely means the same."""
    check_text("t", "x", CODE)
    check_whole("n", 0, CODE, least=0)
    check_whole("n", MOST_WHOLE, CODE, least=0)
    check_hex("h", "0f", CODE, digits=2)
    check_digest("d", "sha256:" + "0" * 64, CODE)
    check_path("p", ("0" * 64,), CODE)
    check_constant("v", 1, 1, CODE)
    refused = (
        *((check_text, value, {}) for value in ("", 1, None, b"x", "a\ud800")),
        *(
            (check_whole, value, {"least": 0})
            for value in (-1, MOST_WHOLE + 1, 1.0, True, "1", None)
        ),
        *((check_hex, value, {"digits": 2}) for value in ("0F", "0", "0g", "0f0", "0f\n", 15)),
        *((check_digest, value, {}) for value in ("0" * 64, "sha256:" + "0" * 63, "sha512:", 1)),
        *((check_path, value, {}) for value in (["0" * 64], ("0" * 63,), (None,))),
    )
    for check, value, options in refused:
        with pytest.raises(BadInput):
            check("field", value, code=CODE, **options)
    for value in (True, 1.0, 2, "1", None):
        with pytest.raises(BadInput):
            check_constant("field", value, 1, CODE)


def test_an_error_is_placed_and_takes_the_code() -> None:
    """An error from deep within names the whole way and belongs to the outer document."""
    with pytest.raises(BadInput) as refusal, placed("a", CODE), placed("b[0]", Code.CHECKPOINT):
        raise Refused(Code.TIMESTAMP, "no")
    assert (refusal.value.code, str(refusal.value)) == (CODE, "`a.b[0]`: no")
