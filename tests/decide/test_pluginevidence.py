"""Which evidence a plugin is accepted by, and each tampering refused with its own reason (TRUST §lock-6)."""

import base64
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.evidencecase import Offered
from consentry.declare.dsseenvelope import MOST_BYTES, Signed, read_envelope
from consentry.declare.pluginpolicy import INTEGRITY_ONLY, EvidenceRule
from consentry.declare.trustedkeys import KeyList
from consentry.examine.pluginproblems import Rejection, VerificationError
from tests.decide.signing import (
    ANY,
    AUTHOR,
    BUILDER,
    CHECKER,
    DAY,
    EVA,
    FILES,
    KEYS,
    NOW,
    Case,
    ago,
    dsse,
    entry,
    envelope_of,
    known,
    memory,
    oms,
    revoked,
    secret,
    statement,
    tree,
    with_key,
)

TREE = tree()
GOOD = dsse(TREE, AUTHOR)
BOTH = EvidenceRule(signers=("author", "builder"), threshold=2)
OMS = EvidenceRule(signers=("author",), threshold=1, oms=True)
PROGRAM = entry("run", b"#!/bin/sh\n", "x")
LINK = entry("link", b"plugin.yaml", "l")


def case(content: bytes | None = GOOD, **other: object) -> Case:
    """A case with this envelope."""
    return Case(offered=Offered(dsse=content), **other)  # type: ignore[arg-type]


def reason(offered: Case) -> Rejection:
    """Why it is refused."""
    with pytest.raises(VerificationError) as refusal:
        offered.checked()
    assert refusal.value.plugin == "build"
    return refusal.value.reason


def changed(content: bytes, change: Callable[[dict[str, object]], object]) -> bytes:
    """An envelope of which a field was changed, spelled as envelopes are."""
    document = json.loads(content)
    change(document)
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def test_a_good_signature_of_one_who_counts_is_accepted() -> None:
    """Granted: the very tree, signed by one of the policy's signers."""
    accepted = case().checked()
    assert accepted is not None
    assert (accepted.signers, accepted.signed_at) == (("author",), NOW)


def test_integrity_asks_for_nothing_more() -> None:
    """With the policy taken away the unsigned plugin passes: it is the policy that refuses it."""
    assert reason(case(None)) is Rejection.UNSIGNED
    assert case(None, rule=INTEGRITY_ONLY).checked() is None


def test_two_signers_reach_a_threshold_that_one_does_not() -> None:
    """`anyOf` with a threshold, and `allOf`."""
    assert reason(case(GOOD, rule=BOTH)) is Rejection.TOO_FEW_SIGNERS
    accepted = case(dsse(TREE, AUTHOR, BUILDER), rule=BOTH).checked()
    assert accepted is not None
    assert accepted.signers == ("author", "builder")
    assert reason(case(dsse(TREE, AUTHOR, CHECKER), rule=BOTH)) is Rejection.TOO_FEW_SIGNERS


def test_one_signer_with_two_keys_is_one_signer() -> None:
    """Whoever rotated a key does not reach a threshold alone."""
    second = secret(11)
    keys = KEYS.with_key(known("author", second))
    twice = dsse(TREE, AUTHOR, second)
    assert reason(case(twice, rule=BOTH, keys=keys)) is Rejection.TOO_FEW_SIGNERS
    assert case(twice, keys=keys).checked() is not None


def test_two_names_of_one_key_are_one_signer() -> None:
    """A list made by hand with a key under two names counts it once."""
    keys = KeyList((known("author", AUTHOR), known("builder", AUTHOR)))
    assert reason(case(GOOD, rule=BOTH, keys=keys)) is Rejection.TOO_FEW_SIGNERS


def test_a_rule_that_names_nobody_is_met_by_nobody() -> None:
    """An empty conjunction fails."""
    empty = EvidenceRule(signers=(), threshold=1)
    assert reason(case(GOOD, rule=empty)) is Rejection.TOO_FEW_SIGNERS


TREES = {
    "content": tree({**FILES, "tools/a.yaml": b"tool: {x: 1}\n"}),
    "added": tree({**FILES, "extra": b""}),
    "missing": tree({"plugin.yaml": FILES["plugin.yaml"]}),
    "renamed": tree({"plugin.yaml": FILES["plugin.yaml"], "tools/b.yaml": b"tool: {}\n"}),
    "program": tree(FILES, more=(PROGRAM,)),
    "link": tree(FILES, more=(LINK,)),
}


@pytest.mark.parametrize("name", TREES)
def test_another_tree_than_the_signed_one_is_refused(name: str) -> None:
    """Also where the lock was made anew with it: that is what a signature adds."""
    assert reason(case(GOOD, tree=TREES[name])) is Rejection.SIGNED_OTHER_TREE


def test_an_executable_bit_and_a_link_are_part_of_what_is_signed() -> None:
    """The same bytes with another bit, or behind a link, are another tree."""
    plain = tree({**FILES, "run": b"#!/bin/sh\n"})
    program = tree(FILES, more=(PROGRAM,))
    assert reason(case(dsse(plain, AUTHOR), tree=program)) is Rejection.SIGNED_OTHER_TREE
    assert case(dsse(program, AUTHOR), tree=program).checked() is not None
    linked = tree(FILES, more=(LINK,))
    assert case(dsse(linked, AUTHOR), tree=linked).checked() is not None


def test_another_tree_says_which_files_differ() -> None:
    """As far as the subjects of the statement show it."""
    with pytest.raises(VerificationError) as refusal:
        case(GOOD, tree=TREES["content"]).checked()
    assert refusal.value.changes is not None
    assert refusal.value.changes.changed == ("tools/a.yaml",)
    assert (refusal.value.expected, refusal.value.found) == (TREE.digest, TREES["content"].digest)


def test_subjects_that_are_not_the_files_of_the_tree_are_refused() -> None:
    """A signer's own tool may leave files out; the tree's digest alone is not enough."""
    said = statement(TREE)
    partial = replace(said, files=said.files[:1])
    content = envelope_of(partial.to_payload(), AUTHOR).to_bytes()
    assert reason(case(content)) is Rejection.NOT_COVERED


def test_the_envelope_of_another_plugin_under_this_name_is_refused() -> None:
    """Well signed, the same files, another name."""
    other = dsse(tree(name="other"), AUTHOR)
    assert reason(case(other)) is Rejection.SIGNED_OTHER_PLUGIN


def test_another_version_than_the_manifest_says_is_refused() -> None:
    """The statement and the manifest have to agree."""
    assert reason(case(dsse(TREE, AUTHOR, version="2.0.0"))) is Rejection.SIGNED_OTHER_VERSION


def _flip_signature(document: dict[str, object]) -> None:
    signature = document["signatures"][0]  # type: ignore[index]
    raw = bytearray(base64.b64decode(signature["sig"]))
    raw[5] ^= 1
    signature["sig"] = base64.b64encode(raw).decode()


def _other_payload(document: dict[str, object]) -> None:
    other = statement(tree({**FILES, "evil": b"x"})).to_payload()
    document["payload"] = base64.b64encode(other).decode()


def _unknown_signature(document: dict[str, object]) -> None:
    added = envelope_of(statement(TREE).to_payload(), EVA).signatures[0]
    signature = {"keyid": added.key_id, "sig": base64.b64encode(added.signature).decode()}
    document["signatures"].append(signature)  # type: ignore[attr-defined]
    document["signatures"].sort(key=lambda each: each["keyid"])  # type: ignore[attr-defined]


def _twice(document: dict[str, object]) -> None:
    document["signatures"] *= 2  # type: ignore[operator]


def _claims_builder(document: dict[str, object]) -> None:
    document["signatures"][0]["keyid"] = BUILDER.public.key_id  # type: ignore[index]


ENVELOPES: dict[str, tuple[Callable[[dict[str, object]], object], Rejection]] = {
    "payload of another tree": (_other_payload, Rejection.SIGNATURE_INVALID),
    "payload type": (
        lambda each: each.update(payloadType="text/plain"),
        Rejection.SIGNATURE_INVALID,
    ),
    "signature bytes": (_flip_signature, Rejection.SIGNATURE_INVALID),
    "somebody else's key id": (_claims_builder, Rejection.SIGNATURE_INVALID),
    "one signature more": (_unknown_signature, Rejection.UNKNOWN_KEY),
    "the same signature twice": (_twice, Rejection.BAD_ENVELOPE),
    "no signature": (lambda each: each.update(signatures=[]), Rejection.BAD_ENVELOPE),
    "another field": (lambda each: each.update(more=1), Rejection.BAD_ENVELOPE),
    "a missing field": (lambda each: each.pop("payloadType"), Rejection.BAD_ENVELOPE),
    "payload not base64": (lambda each: each.update(payload="~~~~"), Rejection.BAD_ENVELOPE),
    "base64 for addresses": (lambda each: each.update(payload="_-_-"), Rejection.BAD_ENVELOPE),
    "signatures no list": (lambda each: each.update(signatures="x"), Rejection.BAD_ENVELOPE),
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_tampered_envelope_is_refused_with_its_reason(name: str) -> None:
    """Payload, its type, signatures added, doubled, changed or claimed, fields that are not as they are."""
    change, expected = ENVELOPES[name]
    assert reason(case(changed(GOOD, change))) is expected


DOCUMENTS = {
    "empty": b"",
    "not JSON": b"{",
    "not an object": b"[]\n",
    "not UTF-8": b"\xff" + GOOD,
    "a key twice": GOOD.replace(b'{"payload":', b'{"payload":"AA==","payload":', 1),
    "spaces": GOOD.replace(b",", b", ", 1),
    "no line's end": GOOD.rstrip(b"\n"),
    "two lines' ends": GOOD + b"\n",
    "huge": b" " * (MOST_BYTES + 1),
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_no_envelope_is_refused_as_one_that_cannot_be_read(name: str) -> None:
    """One typed error, whatever the bytes are."""
    assert reason(case(DOCUMENTS[name])) is Rejection.BAD_ENVELOPE


def test_a_well_signed_payload_of_another_kind_is_refused() -> None:
    """A key may sign other things; none of them is a word about a plugin."""
    others = (
        envelope_of(b"{}", AUTHOR),
        envelope_of(b"hello", AUTHOR, payload_type="text/plain"),
        envelope_of(statement(TREE).to_payload().replace(b"plugin:v1", b"plugin:v2"), AUTHOR),
    )
    for each in others:
        assert reason(case(each.to_bytes())) is Rejection.BAD_ENVELOPE


def test_a_key_that_is_not_known_counts_for_nothing() -> None:
    """However good its signature is."""
    assert reason(case(dsse(TREE, EVA))) is Rejection.UNKNOWN_KEY
    assert reason(case(GOOD, keys=KeyList())) is Rejection.UNKNOWN_KEY


def test_a_known_key_that_the_policy_does_not_name_does_not_count() -> None:
    """To be known allows nothing."""
    assert reason(case(dsse(TREE, CHECKER))) is Rejection.TOO_FEW_SIGNERS


def test_an_expired_key_does_not_count_from_its_end_on() -> None:
    """Up to the moment before it does; also where the signature claims to be older."""
    old = dsse(TREE, AUTHOR, signed_at=ago(50))
    keys = with_key(KEYS, known("author", AUTHOR, expires=NOW))
    assert reason(case(old, keys=keys)) is Rejection.KEY_EXPIRED
    later = with_key(KEYS, known("author", AUTHOR, expires=ago(-1)))
    assert case(old, keys=later).checked() is not None


def test_a_key_of_a_time_that_has_not_come_does_not_count() -> None:
    """Either clock is wrong, or somebody prepared it."""
    keys = with_key(KEYS, known("author", AUTHOR, made=ago(-2)))
    assert reason(case(keys=keys)) is Rejection.KEY_NOT_YET_VALID


def test_a_revoked_key_refuses_the_envelope_whatever_it_claims() -> None:
    """Also if it was signed before, and also beside a signature that would be enough."""
    keys = with_key(KEYS, revoked(known("builder", BUILDER), ago(1)))
    assert reason(case(dsse(TREE, BUILDER, signed_at=ago(90)), keys=keys)) is Rejection.KEY_REVOKED
    assert reason(case(dsse(TREE, AUTHOR, BUILDER), keys=keys)) is Rejection.KEY_REVOKED
    assert case(GOOD, keys=keys).checked() is not None


def test_an_expired_cosigner_does_not_spoil_one_that_is_enough() -> None:
    """It does not count, and what it says is not needed."""
    keys = with_key(KEYS, known("builder", BUILDER, expires=ago(1)))
    assert case(dsse(TREE, AUTHOR, BUILDER), keys=keys).checked() is not None
    assert reason(case(dsse(TREE, AUTHOR, BUILDER), rule=BOTH, keys=keys)) is Rejection.KEY_EXPIRED


def test_evidence_ends_when_it_says_so() -> None:
    """By its own word, whatever the policy says."""
    ends = dsse(TREE, AUTHOR, signed_at=ago(10), expires_at=NOW)
    assert reason(case(ends)) is Rejection.EVIDENCE_EXPIRED
    assert case(ends, now=ago(1)).checked() is not None


def test_evidence_that_is_too_old_for_the_policy_is_stale() -> None:
    """`freshness: 90d` takes 90 days and not 91."""
    rule = replace(ANY, freshness=Duration(90 * DAY.milliseconds))
    assert reason(case(dsse(TREE, AUTHOR, signed_at=ago(91)), rule=rule)) is Rejection.STALE
    assert case(dsse(TREE, AUTHOR, signed_at=ago(90)), rule=rule).checked() is not None


def test_a_clock_that_was_set_back_makes_nothing_fresh_again() -> None:
    """Signed in the future, or accepted in the future: the clock is not believed."""
    rule = replace(ANY, freshness=Duration(90 * DAY.milliseconds))
    assert reason(case(GOOD, rule=rule, now=ago(1))) is Rejection.CLOCK_SET_BACK
    old = dsse(TREE, AUTHOR, signed_at=ago(80))
    back = case(old, rule=rule, now=ago(60), remembered=memory(TREE))
    assert reason(back) is Rejection.CLOCK_SET_BACK
    assert case(old, rule=rule, remembered=memory(TREE)).checked() is not None


def test_an_older_version_than_was_accepted_is_a_roll_back() -> None:
    """However well it is signed; a newer one passes."""
    newer = memory(tree({**FILES, "new": b""}), "1.1.0")
    assert reason(case(remembered=newer)) is Rejection.ROLLED_BACK
    older = memory(tree({**FILES, "old": b""}), "0.9.0")
    assert case(remembered=older).checked() is not None


def test_the_same_version_with_other_contents_is_a_roll_back() -> None:
    """A version stands for one tree, once it was accepted."""
    assert case(remembered=memory(TREE)).checked() is not None
    other = memory(tree({**FILES, "was": b"here"}))
    assert reason(case(remembered=other)) is Rejection.ROLLED_BACK
    assert reason(case(remembered=replace(other, version="1.0.0+build.7"))) is Rejection.ROLLED_BACK


def test_what_was_signed_once_is_not_taken_unsigned() -> None:
    """Neither without its envelope, nor when the policy lost its row, nor by fewer signers."""
    before = memory(TREE)
    assert reason(case(None, remembered=before)) is Rejection.DOWNGRADED
    assert reason(case(None, rule=INTEGRITY_ONLY, remembered=before)) is Rejection.DOWNGRADED
    assert reason(case(GOOD, rule=INTEGRITY_ONLY, remembered=before)) is Rejection.DOWNGRADED
    two = memory(TREE, strength=2)
    assert reason(case(GOOD, remembered=two)) is Rejection.DOWNGRADED


def test_an_oms_bundle_in_the_place_of_an_envelope_is_a_downgrade() -> None:
    """It covers less: no links, no executable bits, no version, no time."""
    offered = Case(offered=Offered(oms=oms(TREE, AUTHOR)), rule=OMS)
    assert offered.checked() is not None
    offered.remembered = memory(TREE)
    assert reason(offered) is Rejection.DOWNGRADED
    offered.remembered = memory(TREE, kinds=("oms",))
    assert offered.checked() is not None


def test_an_oms_bundle_counts_where_the_policy_takes_one() -> None:
    """`oms: true`, and only then."""
    bundle = Offered(oms=oms(TREE, AUTHOR))
    assert Case(offered=bundle, rule=OMS).checked() is not None
    not_taken = Case(offered=bundle, rule=replace(OMS, oms=False))
    assert reason(not_taken) is Rejection.FORMAT_NOT_ALLOWED


def test_an_oms_bundle_tells_no_time_and_is_never_fresh() -> None:
    """A policy that asks how fresh it is cannot be met by one."""
    rule = replace(OMS, freshness=DAY)
    assert reason(Case(offered=Offered(oms=oms(TREE, AUTHOR)), rule=rule)) is Rejection.STALE


OMS_CASES = {
    "file that is not listed": (tree({**FILES, "more": b""}), Rejection.NOT_COVERED),
    "file that is listed and not there": (TREES["missing"], Rejection.NOT_COVERED),
    "changed file": (TREES["content"], Rejection.SIGNED_OTHER_TREE),
    "link": (TREES["link"], Rejection.NOT_COVERED),
    "program": (TREES["program"], Rejection.NOT_COVERED),
}


@pytest.mark.parametrize("name", OMS_CASES)
def test_an_oms_bundle_has_to_cover_the_whole_tree(name: str) -> None:
    """Our rule, not the bundle's own ignore list."""
    offered, expected = OMS_CASES[name]
    refused = Case(tree=offered, offered=Offered(oms=oms(TREE, AUTHOR)), rule=OMS)
    assert reason(refused) is expected


def test_an_oms_bundle_of_another_plugin_or_key_is_refused() -> None:
    """As for envelopes."""

    def refused(content: bytes, **other: object) -> Rejection:
        return reason(Case(offered=Offered(oms=content), rule=OMS, **other))  # type: ignore[arg-type]

    assert refused(oms(TREE, AUTHOR, "other")) is Rejection.SIGNED_OTHER_PLUGIN
    assert refused(oms(TREE, EVA)) is Rejection.UNKNOWN_KEY
    assert refused(oms(TREE, BUILDER)) is Rejection.TOO_FEW_SIGNERS
    gone = with_key(KEYS, revoked(known("author", AUTHOR)))
    assert refused(oms(TREE, AUTHOR), keys=gone) is Rejection.KEY_REVOKED
    good = oms(TREE, AUTHOR)
    assert refused(good.replace(b"v0.3", b"v0.1", 1)) is Rejection.BAD_ENVELOPE
    assert refused(GOOD) is Rejection.BAD_ENVELOPE


def test_the_same_signature_in_another_envelope_is_none() -> None:
    """Signatures are over the payload and its type together."""
    other = envelope_of(statement(TREES["added"]).to_payload(), AUTHOR)
    moved = replace(other, signatures=read_envelope(GOOD).signatures)
    assert reason(case(moved.to_bytes(), tree=TREES["added"])) is Rejection.SIGNATURE_INVALID
    empty = replace(other, signatures=(Signed(AUTHOR.public.key_id, b"\0" * 64),))
    assert reason(case(empty.to_bytes(), tree=TREES["added"])) is Rejection.SIGNATURE_INVALID


TWO = dsse(TREE, AUTHOR, BUILDER)


@given(st.integers(0, len(TWO) - 1), st.integers(1, 255))
def test_an_envelope_with_any_byte_changed_never_verifies(at: int, flip: int) -> None:
    """Whichever byte, whatever it becomes, and although one signature would be enough."""
    content = bytearray(TWO)
    content[at] ^= flip
    with pytest.raises(VerificationError):
        case(bytes(content)).checked()


@pytest.mark.prove
def test_an_envelope_with_any_single_bit_changed_never_verifies() -> None:
    """Every bit of every byte."""
    assert case(TWO).checked() is not None
    for at in range(len(TWO)):
        for bit in range(8):
            content = bytearray(TWO)
            content[at] ^= 1 << bit
            with pytest.raises(VerificationError):
                case(bytes(content)).checked()


@given(st.integers(0, len(TWO)), st.binary(max_size=4))
def test_an_envelope_that_is_cut_or_added_to_never_verifies(at: int, more: bytes) -> None:
    """Cut anywhere, or with bytes put in anywhere."""
    for content in (TWO[:at] + more, TWO[:at] + more + TWO[at:]):
        if content != TWO:
            with pytest.raises(VerificationError):
                case(content).checked()
