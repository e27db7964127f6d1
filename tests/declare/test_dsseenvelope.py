"""Envelopes have one spelling, and are those that other implementations of DSSE know."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope as LibraryEnvelope
from securesystemslib.signer import CryptoSigner, SSlibKey

from consentry.base.errors import BadInput
from consentry.declare.dsseenvelope import (
    IN_TOTO,
    Envelope,
    Signed,
    from_base64,
    read_envelope,
    signed_message,
)
from consentry.declare.pluginstatement import plugin_statement, read_statement
from tests.decide.signing import AUTHOR, BUILDER, ago, entry, envelope_of, statement, tree

KEY_IDS = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")
SIGNATURES = st.lists(
    st.builds(Signed, KEY_IDS, st.binary(min_size=1, max_size=80)),
    min_size=1,
    max_size=4,
    unique_by=lambda each: each.key_id,
).map(lambda found: tuple(sorted(found, key=lambda each: each.key_id)))


@given(
    st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable()),
    st.binary(),
    SIGNATURES,
)
def test_an_envelope_is_read_as_it_was_written(
    kind: str, payload: bytes, signatures: tuple[Signed, ...]
) -> None:
    """Whatever is in it; and what was read is spelled as it was."""
    envelope = Envelope(kind, payload, signatures)
    assert read_envelope(envelope.to_bytes()) == envelope


def test_the_signed_message_is_the_encoding_of_the_specification() -> None:
    """The example of the DSSE protocol, version 1."""
    expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert signed_message("http://example.com/HelloWorld", b"hello world") == expected


def test_another_implementation_verifies_our_envelopes() -> None:
    """securesystemslib, by its own reader and its own keys."""
    ours = envelope_of(statement(tree()).to_payload(), AUTHOR, BUILDER)
    theirs = LibraryEnvelope.from_dict(json.loads(ours.to_bytes()))
    keys = [each.public._library_key() for each in (AUTHOR, BUILDER)]
    assert set(theirs.verify(keys, 2)) == {AUTHOR.public.key_id, BUILDER.public.key_id}


def test_we_verify_what_another_implementation_signed() -> None:
    """The same the other way round, spelled as envelopes are here."""
    signer = CryptoSigner.generate_ed25519()
    theirs = LibraryEnvelope(b"{}", IN_TOTO, {})
    theirs.sign(signer)
    spelled = json.dumps(theirs.to_dict(), sort_keys=True, separators=(",", ":")).encode()
    ours = read_envelope(spelled + b"\n")
    from consentry.record.signingkey import VerifyingKey

    key = signer.public_key
    assert isinstance(key, SSlibKey)
    known = VerifyingKey.of(key._crypto_key())
    assert ours.signatures[0].key_id == known.key_id
    known.verify(ours.signatures[0].signature, ours.signed_message())


def test_a_key_signs_an_envelope_once() -> None:
    """Adding its signature again is refused."""
    envelope = envelope_of(b"{}", AUTHOR)
    with pytest.raises(BadInput):
        envelope.with_signature(envelope.signatures[0])
    both = envelope.with_signature(envelope_of(b"{}", BUILDER).signatures[0])
    assert read_envelope(both.to_bytes()).signatures == tuple(
        sorted(both.signatures, key=lambda each: each.key_id)
    )


@pytest.mark.parametrize("text", ["AA", "AA=", "AB==", "A A=", "_w==", "AA==\n", 1, None])
def test_base64_has_one_spelling(text: object) -> None:
    """Padding, spare bits, spaces and the other alphabet are refused."""
    with pytest.raises(BadInput):
        from_base64("payload", text)


def test_a_statement_is_read_as_it_was_written() -> None:
    """With an end and without, links and programs in the tree."""
    whole = tree(more=(entry("run", b"x", "x"), entry("link", b"run", "l")))
    for said in (statement(whole), statement(whole, expires_at=ago(-1))):
        assert plugin_statement(read_statement(said.to_payload())) == said


WRONG = {
    "another type of statement": {"_type": "https://in-toto.io/Statement/v0.1"},
    "another predicate": {"predicateType": "urn:consentry:plugin:v2"},
    "subjects that are none": {"subject": [{"name": "a"}]},
    "another digest": {"subject": [{"name": "a", "digest": {"sha512": "00"}}]},
    "more": {"more": 1},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_statement_that_is_not_as_it_should_be_is_refused(name: str) -> None:
    """Nothing is guessed."""
    document = json.loads(statement(tree()).to_payload()) | WRONG[name]
    with pytest.raises(BadInput):
        plugin_statement(read_statement(json.dumps(document).encode()))


@pytest.mark.parametrize(
    "change",
    [
        {"tree": "sha256:00"},
        {"plugin": ""},
        {"version": 1},
        {"signedAt": "now"},
        {"expiresAt": "2026-01-01T00:00:00.000Z"},
        {"more": 1},
    ],
)
def test_a_predicate_that_is_not_as_it_should_be_is_refused(change: dict[str, object]) -> None:
    """An end before the beginning among them."""
    document = json.loads(statement(tree()).to_payload())
    document["predicate"] |= change
    with pytest.raises(BadInput):
        plugin_statement(read_statement(json.dumps(document).encode()))
