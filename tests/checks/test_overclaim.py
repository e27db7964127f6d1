"""Promises beyond the mechanism are refused; taking one back in the same sentence is allowed (TRUST §words-2)."""

import pytest

from checks import overclaim

PROMISES = [
    "un" + "forgeable",
    "un" + "representable",
    "tamper" + "-proof",
    "tamper" + "proof",
    "impossible to " + "bypass",
    "impossible to " + "forge",
    "un" + "-forgeable",
    "un" + "tamperable",
    "un" + "breakable",
    "bullet" + "proof",
    "fool" + "proof",
    "escape" + "-proof",
    "in the jail " + "for ever",
    "in its jail " + "forever",
    "in-jail-" + "forever",
    "within the jail\nfor " + "ever",
]
SENTENCES = [
    "A permit cannot be " + "forged.",
    "It can't be " + "bypassed.",
    "It can\u2019t be " + "bypassed.",
    "It cannot be " + "bypassed, not even by root.",
    "It can never be " + "circumvented.",
    "It gives guaranteed " + "isolation.",
    "It guarantees full " + "isolation.",
    "Isolation is " + "guaranteed.",
    "It never " + "leaves its jail.",
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
    """A negation shortly before the promise pardons it, also over a line break."""
    assert not list(overclaim.check(plant({"README.md": sentence.format(promise)})))


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_promise_made_in_several_words_is_found(plant, sentence):
    """The negation that is part of a promise does not take it back."""
    assert len(list(overclaim.check(plant({"docs/x.md": sentence})))) == 1


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_promise_made_in_several_words_can_be_taken_back(plant, sentence):
    """Denied right before, the same words pass."""
    text = f"We do not say: {sentence}"
    assert len(list(overclaim.check(plant({"docs/x.md": text})))) == 1
    assert not list(overclaim.check(plant({"docs/x.md": text.replace(":", " that")})))


@pytest.mark.parametrize(
    "text",
    [
        "Permits are {}: no tool can make one.",
        "It is {}, and nobody can change it, not even root.",
        "It is {} (see no. 3).",
        "It does not leak: it is {}.",
        "It does not leak, it is {}.",
        "It does not leak and is {}.",
        "It never leaks because permits are {}.",
        "It is not only {} but fast.",
        "It is no doubt {}.",
        "No tool that a person has ever written here is {}.",
    ],
)
def test_a_negation_of_something_else_does_not_help(plant, text):
    """After the promise, in another clause, too far ahead, or no negation at all."""
    assert len(list(overclaim.check(plant({"docs/x.md": text.format(PROMISES[0])})))) == 1


@pytest.mark.parametrize(
    "word", ["un\u00adforge\u00adable", "un**forgeable**", "unforge-\nable", "tamper\u2011proof"]
)
def test_marks_inside_a_word_hide_nothing(plant, word):
    """Soft and unbreaking hyphens, emphasis and a hyphen at the end of a line are seen through."""
    assert len(list(overclaim.check(plant({"docs/x.md": f"It is {word}."})))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "A digest cannot be read backwards.",
        "Changes are tamper-evident to whoever kept a checkpoint.",
        "The isolation is what the kernel gives.",
        "A proof of tampering is a pair of checkpoints.",
        "It is waterproof, and escapes nothing.",
    ],
)
def test_exact_words_pass(plant, text):
    """Neighbours of the refused words say what a mechanism does."""
    assert not list(overclaim.check(plant({"docs/x.md": text})))


def test_the_description_of_the_package_is_read(plant):
    """What package lists show is read like any page."""
    made = {"pyproject.toml": f'[project]\ndescription = "{PROMISES[0]} permits"\n'}
    [finding] = overclaim.check(plant(made))
    assert (finding.path, finding.line) == ("pyproject.toml", 2)
    assert not list(overclaim.check(plant({"pyproject.toml": 'description = "permits"\n'})))


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
        "Each row carries a signature,\nthe SHA-256 of the row before.",
        "Each event is signed by its SHA-256 hash.",
        "cryptographically signed with SHA-256",
        "signed using a digest",
        "the signature is a hash, and nobody can change it, not even root",
    ],
)
def test_a_hash_under_a_larger_name_is_found(plant, line):
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
        "the signature is not a hash",
        "Each row carries a signature.\nThe SHA-256 of the row stands beside it.",
        "signed with the maker's key over the SHA-256",
        "it is signed by its maker and hashed by us",
    ],
)
def test_a_signature_with_its_key_or_a_plain_hash_passes(plant, line):
    """Naming the key, denying the claim, or not mixing the two words is fine."""
    assert not list(overclaim.check(plant({"docs/x.md": line})))


def test_tests_may_say_anything(plant):
    """Only what speaks to readers is looked at."""
    assert not list(overclaim.check(plant({"tests/x.py": PROMISES[0], "checks/x.py": PROMISES[0]})))
