"""Words are masked where they stand in one piece, and nothing is held back that could tell of them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.enforce.egress.masking import Masking

WORDS = (b"Bearer sesame-open", b"sesame-open")
HEAD = b"HTTP/1.1 200 OK\r\nx: sesame-open\r\n\r\n"
MASKED_HEAD = b"HTTP/1.1 200 OK\r\nx: ***********\r\n\r\n"
EARLY = b"HTTP/1.1 103 Early Hints\r\nlink: sesame-open\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
MASKED_EARLY = EARLY.replace(b"sesame-open", b"*" * 11)


def _parts(content: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(min(each, len(content)) for each in cuts), len(content)]
    return [content[a:b] for a, b in pairwise(places)]


@given(st.lists(st.integers(0, len(HEAD)), max_size=12))
def test_a_head_is_masked_however_it_is_cut(cuts: list[int]) -> None:
    """It is passed on when it is whole."""
    masking = Masking(WORDS)
    assert b"".join(map(masking.masked, _parts(HEAD, cuts))) + masking.rest() == MASKED_HEAD


@given(st.lists(st.integers(0, len(EARLY + HEAD)), max_size=12))
def test_a_head_behind_an_early_one_is_masked_however_it_is_cut(cuts: list[int]) -> None:
    """A host may send hints before its answer, which say nothing of where that is cut."""
    masking = Masking(WORDS)
    parts = _parts(EARLY + HEAD, cuts)
    assert b"".join(map(masking.masked, parts)) + masking.rest() == MASKED_EARLY + MASKED_HEAD


def test_an_early_head_is_passed_on_at_once() -> None:
    """Whoever waits for it is not kept waiting; and another protocol is no head to wait for."""
    assert Masking(WORDS).masked(EARLY) == MASKED_EARLY
    masking = Masking(WORDS)
    switched = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
    assert masking.masked(switched) == switched
    assert masking.masked(b"bytes") == b"bytes"


@given(st.lists(st.sampled_from([*WORDS, b"ses", b"Bearer ", b"x", b"sesame-ope"]), max_size=8))
def test_a_part_of_a_body_is_masked_and_keeps_its_length(words: list[bytes]) -> None:
    """None of the words is left of it."""
    masking = Masking(WORDS)
    masking.masked(HEAD)
    content = b"".join(words)
    found = masking.masked(content)
    assert len(found) == len(content)
    assert not any(word in found for word in WORDS)


@given(st.binary(max_size=40), st.integers(0, len(WORDS[0])))
def test_when_bytes_come_says_nothing_of_the_words(before: bytes, count: int) -> None:
    """The beginning of a word comes as soon as anything else: else it could be guessed by letters."""
    masking = Masking(WORDS)
    masking.masked(HEAD)
    part = before + WORDS[0][:count]
    assert len(masking.masked(part)) == len(part)
    assert masking.rest() == b""


@pytest.mark.parametrize("content", [b"", b"sesame", b"no head at all"])
def test_what_is_no_head_is_given_out_at_the_end(content: bytes) -> None:
    """A host that hangs up in the middle is heard."""
    masking = Masking(WORDS)
    assert masking.masked(content) + masking.rest() == content


def test_a_head_without_end_is_not_kept_for_ever() -> None:
    """It is passed on when it is longer than any should be."""
    masking = Masking(WORDS)
    assert masking.masked(b"x" * 70_000) == b"x" * 70_000
