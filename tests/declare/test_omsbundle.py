"""OMS bundles with a key: read as the reference tool writes them, and nothing that says less than it seems."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.base.values import replace
from consentry.decide.evidencecase import Offered
from consentry.declare.omsbundle import OmsStatement, oms_statement, read_oms_bundle
from consentry.declare.pluginpolicy import EvidenceRule
from consentry.declare.pluginstatement import files_of, read_statement
from consentry.examine.pluginproblems import VerificationError
from consentry.record.signingkey import VerifyingKey
from tests.decide.signing import AUTHOR, Case, oms, tree

REFERENCE = Path(__file__).parent.parent / "service/oms"
GOOD = oms(tree(), AUTHOR)


def test_a_bundle_is_read_as_it_was_written() -> None:
    """Payload, hint, and the list in it."""
    bundle = read_oms_bundle(GOOD)
    assert bundle.to_bytes() == GOOD
    said = oms_statement(read_statement(bundle.payload))
    assert said == OmsStatement("build", files_of(tree().entries))


@pytest.mark.parametrize("name", ["notes", "ignoring", "links"])
def test_bundles_of_the_reference_tool_are_read(name: str) -> None:
    """Made by us with model-signing 1.1.1; the hint is that of the key."""
    bundle = read_oms_bundle((REFERENCE / f"{name}.json").read_bytes())
    key = VerifyingKey.from_pem((REFERENCE / "reference.pem").read_text())
    assert bundle.hint == key.hint
    assert oms_statement(read_statement(bundle.payload)).name == "notes"


def _statement(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(read_oms_bundle(GOOD).payload)
    change(document)
    return document


def _serialization(**to: object) -> Callable[[dict[str, Any]], object]:
    return lambda document: document["predicate"]["serialization"].update(to)


STATEMENTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "shards": _serialization(method="shards"),
    "another hash": _serialization(hash_type="blake2b"),
    "the form before 1.0": lambda each: each.update(
        predicateType="https://model_signing/Digests/v0.1"
    ),
    "a resource twice": lambda each: each["predicate"]["resources"].append(
        each["predicate"]["resources"][0]
    ),
    "a resource more": lambda each: each["predicate"]["resources"].append(
        {"name": "x", "algorithm": "sha256", "digest": "00" * 32}
    ),
    "another root": lambda each: each["subject"][0]["digest"].update(sha256="00" * 32),
    "two subjects": lambda each: each["subject"].append(each["subject"][0]),
    "another algorithm": lambda each: each["predicate"]["resources"][0].update(algorithm="md5"),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_that_is_not_understood_is_refused(name: str) -> None:
    """Also where somebody signed it."""
    with pytest.raises(BadInput):
        oms_statement(read_statement(json.dumps(_statement(STATEMENTS[name])).encode()))


BUNDLES: dict[str, Callable[[dict[str, Any]], object]] = {
    "another version": lambda each: each.update(
        mediaType="application/vnd.dev.sigstore.bundle.v0.1+json"
    ),
    "a certificate": lambda each: each.update(
        verificationMaterial={"certificate": {"rawBytes": "AA=="}, "tlogEntries": []}
    ),
    "an entry of a log": lambda each: each["verificationMaterial"].update(tlogEntries=[{}]),
    "no hint": lambda each: each["verificationMaterial"].update(publicKey={}),
    "two signatures": lambda each: each["dsseEnvelope"]["signatures"].append(
        each["dsseEnvelope"]["signatures"][0]
    ),
    "no signature": lambda each: each["dsseEnvelope"].update(signatures=[]),
    "a key id": lambda each: each["dsseEnvelope"]["signatures"][0].update(keyid="x"),
    "another payload type": lambda each: each["dsseEnvelope"].update(payloadType="text/plain"),
    "more": lambda each: each.update(more=1),
}


@pytest.mark.parametrize("name", BUNDLES)
def test_a_bundle_that_is_not_understood_is_refused(name: str) -> None:
    """One typed error."""
    document = json.loads(GOOD)
    BUNDLES[name](document)
    with pytest.raises(BadInput):
        read_oms_bundle(json.dumps(document).encode())


def test_the_root_is_over_the_digests_in_their_order() -> None:
    """As the reference tool computes it."""
    files = files_of(tree().entries)
    digests = b"".join(bytes.fromhex(digest.removeprefix("sha256:")) for _, digest in files)
    document = json.loads(OmsStatement("build", files).to_payload())
    assert document["subject"][0]["digest"]["sha256"] == hashlib.sha256(digests).hexdigest()


RULE = EvidenceRule(signers=("author",), threshold=1, oms=True)


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_bundle_with_any_byte_changed_says_the_same_or_nothing(at: int, flip: int) -> None:
    """Its JSON may be spelled in several ways; what was signed may not change."""
    content = bytearray(GOOD)
    content[at] ^= flip
    try:
        Case(offered=Offered(oms=bytes(content)), rule=RULE).checked()
    except VerificationError:
        return
    assert replace(read_oms_bundle(bytes(content)), hint="") == replace(
        read_oms_bundle(GOOD), hint=""
    )
