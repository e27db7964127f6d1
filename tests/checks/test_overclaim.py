"""Promises beyond the mechanism are refused; taking one back in the same sentence is allowed."""

import pytest

from checks import overclaim

PROMISES = [
    "un" + "forgeable",
    "un" + "representable",
    "tamper" + "-proof",
    "tamper" + "proof",
    "impossible to " + "bypass",
]


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("place", ["README.md", "docs/a/b.md", "src/consentry/x.py", "SECURITY.md"])
def test_a_promise_is_found(plant, promise, place):
    """Every promise is found in every place that speaks to readers, whatever its case."""
    [finding] = overclaim.check(plant({place: f"One.\nThe permit is {promise.upper()}.\n"}))
    assert (finding.path, finding.line) == (place, 2)


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize(
    "sentence",
    [
        "It is not {}.",
        "It is never {} here.",
        "It is\nNOT\n{}.",
        "This is no {} thing.",
        "isn't {}",
    ],
)
def test_a_promise_taken_back_in_its_sentence_passes(plant, promise, sentence):
    """A negation anywhere in the sentence pardons it, also over a line break."""
    assert not list(overclaim.check(plant({"README.md": sentence.format(promise)})))


@pytest.mark.parametrize(
    "text",
    [
        "It does not leak. It is {}.",
        "It does not leak; it is {}.",
        "It does not leak\n\nIt is {}",
        "| not | {} |",
        "- not this\n- {} is that",
    ],
)
def test_a_negation_in_another_sentence_does_not_help(plant, text):
    """Full stop, semicolon, blank line, table cell and list item end a sentence."""
    assert len(list(overclaim.check(plant({"docs/x.md": text.format(PROMISES[0])})))) == 1


def test_a_promise_broken_over_two_lines_is_found(plant):
    """A line break inside the phrase hides nothing."""
    text = "It is impossible\nto " + "bypass.\n"
    assert len(list(overclaim.check(plant({"docs/x.md": text})))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "the signature is the SHA-256 of the file",
        "check the hash signature of the event",
        "a digest, that is, a signature of the content",
    ],
)
def test_a_hash_called_a_signature_is_found(plant, line):
    """A hash that nobody signed with a key is a digest."""
    assert len(list(overclaim.check(plant({"docs/x.md": line})))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "the signature over the digest is made with a local key",
        "an Ed25519 signature of the hash",
        "a DSSE envelope holds digest and signature",
        "a hash is not a signature",
        "the signature of a function",
        "a hash over the content",
    ],
)
def test_a_signature_with_its_key_or_a_plain_hash_passes(plant, line):
    """Naming the key, denying the claim, or not mixing the two words is fine."""
    assert not list(overclaim.check(plant({"docs/x.md": line})))


def test_tests_may_say_anything(plant):
    """Only what speaks to readers is looked at."""
    assert not list(overclaim.check(plant({"tests/x.py": PROMISES[0], "checks/x.py": PROMISES[0]})))
