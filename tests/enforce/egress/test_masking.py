"""Words are masked wherever a stream is cut, and nothing else of it changes."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.enforce.egress.masking import Masking

WORDS = (b"Bearer sesame-open", b"sesame-open")


def _masked(content: bytes, cuts: list[int]) -> bytes:
    masking = Masking(WORDS)
    places = [0, *sorted(min(each, len(content)) for each in cuts), len(content)]
    parts = [content[a:b] for a, b in itertools.pairwise(places)]
    return b"".join(masking.masked(part) for part in parts) + masking.rest()


@given(
    st.lists(
        st.sampled_from([*WORDS, b"ses", b"Bearer ", b"x", b"\r\n", b"sesame-ope"]), max_size=8
    ),
    st.lists(st.integers(0, 120), max_size=12),
)
def test_it_does_not_matter_how_a_stream_is_cut(words: list[bytes], cuts: list[int]) -> None:
    """The same bytes come out, as many as went in, and none of the words."""
    content = b"".join(words)
    found = _masked(content, cuts)
    assert found == _masked(content, [])
    assert len(found) == len(content)
    assert not any(word in found for word in WORDS)


@pytest.mark.parametrize("content", [b"", b"sesame", b"Bearer sesame-ope", b"plain text"])
def test_what_only_looks_like_it_passes(content: bytes) -> None:
    """The end of a stream is given out, too."""
    assert _masked(content, [3, 7]) == content


def test_it_counts_what_it_masked() -> None:
    """One that is part of another counts once."""
    masking = Masking(WORDS)
    masking.masked(b"sesame-open, Bearer sesame-open")
    assert masking.count == 2
