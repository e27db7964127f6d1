"""Key files that people hand to each other, and endorsements of one key by another."""

import json

import pytest

from consentry.base.errors import BadInput
from consentry.base.values import replace
from consentry.declare.keydocuments import (
    PublicKeyFile,
    endorsed_key,
    endorsement_payload,
    read_public_key,
)
from tests.decide.signing import AUTHOR, BUILDER, NOW, ago, envelope_of, statement, tree

FILE = PublicKeyFile(BUILDER.public, "builder", NOW, ago(-30))


def test_a_key_file_is_read_as_it_was_written() -> None:
    """With its name and its end, or without."""
    assert read_public_key(FILE.to_bytes()) == FILE
    bare = PublicKeyFile(BUILDER.public)
    assert read_public_key(bare.to_bytes()) == bare
    assert read_public_key(b"\n" + BUILDER.public.pem.encode() + b"\n") == bare


WRONG = {
    "another id": {"keyId": AUTHOR.public.key_id},
    "another kind": {"kind": "ledger-key"},
    "another version": {"keyVersion": "2"},
    "a name nobody has": {"name": "../x"},
    "a time that is none": {"madeAt": "now"},
    "no key": {"public": ""},
    "more": {"trusted": True},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_key_file_that_is_not_what_it_says_is_refused(name: str) -> None:
    """Nothing is repaired."""
    document = json.loads(FILE.to_bytes()) | WRONG[name]
    with pytest.raises(BadInput):
        read_public_key(json.dumps(document).encode())


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"-----BEGIN \xff", b"x" * (1 << 17)])
def test_what_is_no_key_file_is_refused(content: bytes) -> None:
    """One typed error."""
    with pytest.raises(BadInput):
        read_public_key(content)


def test_an_endorsement_holds_the_key_that_it_is_about() -> None:
    """So that one file is enough."""
    assert endorsed_key(envelope_of(endorsement_payload(FILE), AUTHOR)) == FILE


def test_what_is_signed_about_a_plugin_endorses_nothing() -> None:
    """Nor does another payload type, a subject of another key, or a key without a name."""
    payload = endorsement_payload(FILE)
    document = json.loads(payload)
    document["subject"][0]["digest"]["sha256"] = AUTHOR.public.key_id
    others = [
        envelope_of(statement(tree()).to_payload(), AUTHOR),
        envelope_of(payload, AUTHOR, payload_type="text/plain"),
        envelope_of(json.dumps(document).encode(), AUTHOR),
        envelope_of(endorsement_payload(replace(FILE, name=None)), AUTHOR),
    ]
    for each in others:
        with pytest.raises(BadInput):
            endorsed_key(each)
