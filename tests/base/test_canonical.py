"""Canonical JSON (RFC 8785) and digests."""

import hashlib
import json
from types import MappingProxyType

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import (
    Json,
    canonical_json,
    digest_bytes,
    digest_json,
    read_canonical,
)
from consentry.base.errors import BadInput

_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1),
    st.text(alphabet=st.characters(exclude_categories=["Cs"])),
)
_documents = st.recursive(
    _scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(alphabet=st.characters(exclude_categories=["Cs"])), inner, max_size=3
        )
    ),
)


@given(_documents)
def test_canonical_json_reads_back_and_is_stable(value: Json) -> None:
    """Same value, same bytes; and the bytes are JSON for the same value."""
    encoded = canonical_json(value)
    assert json.loads(encoded) == value
    assert canonical_json(json.loads(encoded)) == encoded


@given(_documents)
def test_the_quick_way_writes_the_same_bytes(value: Json) -> None:
    """Values without floats take the interpreter's encoder; the reference encoder agrees."""
    assert canonical_json(value) == rfc8785.dumps(value)


def test_keys_are_sorted_by_utf16_units() -> None:
    """The order of RFC 8785, which is not the order of code points."""
    assert canonical_json({"\ufb33": 1, "\U0001f600": 2, "a": 3}) == (
        '{"a":3,"\U0001f600":2,"\ufb33":1}'.encode()
    )


def test_numbers_are_written_as_ecmascript_does() -> None:
    """Figures of the RFC's own appendix."""
    assert canonical_json([333333333.33333329, 1e30, 4.50, 2e-3]) == (
        b"[333333333.3333333,1e+30,4.5,0.002]"
    )


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), 2**53, "\ud800", {1: 2}, {"a": b"x"}, b"bytes", {"a": {1, 2}}],
)
def test_what_has_no_canonical_form_is_refused(value: Json) -> None:
    """An error with a code, never bytes that another reader sees differently."""
    with pytest.raises(BadInput) as caught:
        canonical_json(value)
    assert caught.value.code == "canonical-json"


def test_nesting_beyond_reason_is_refused() -> None:
    """No recursion error reaches the caller."""
    deep: Json = 0
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(BadInput):
        canonical_json(deep)


def test_views_encode_like_what_they_show() -> None:
    """Frozen values of the core are encoded without copying them by hand."""
    assert canonical_json(MappingProxyType({"a": (1, 2)})) == b'{"a":[1,2]}'


def test_digests() -> None:
    """SHA-256 over those bytes, with the algorithm's name in front."""
    expected = hashlib.sha256(b'{"a":1}').hexdigest()
    assert digest_json({"a": 1}) == digest_bytes(b'{"a":1}') == f"sha256:{expected}"


@pytest.mark.parametrize(
    "value", [1e20, -1e20, 2.0**53, 1.5e16, 1e21, 0.1, 2**53 - 1, "12345678901234567890"]
)
def test_what_is_written_in_digits_is_read_as_what_it_was(value: Json) -> None:
    """A decimal that ECMAScript prints in digits has the same canonical JSON after it was read back."""
    encoded = canonical_json({"x": [value]})
    found = read_canonical(encoded.decode())
    assert found == {"x": [value]}
    assert canonical_json(found) == encoded


def test_a_number_of_many_digits_is_read_at_once() -> None:
    """A text that is not canonical costs no more than its length."""
    assert read_canonical(f"[{'9' * 5000}]") == [float("inf")]
