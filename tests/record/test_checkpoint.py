"""Checkpoints: what is signed, what is refused, and what two of them say against each other."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import Digest, canonical_json, digest_bytes
from consentry.base.clock import Instant, ManualClock
from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import BadInput, ConsentryError, LedgerProblem
from consentry.base.ids import CountingIds
from consentry.record.checkpoint import (
    SIGNING_DOMAIN,
    Checkpoint,
    ContradictionKind,
    Head,
    checkpoint_from_json,
    checkpoint_from_text,
    checkpoint_to_json,
    compare_checkpoints,
    heads_root,
    make_checkpoint,
    make_head,
    verify_checkpoint,
)
from consentry.record.publickey import PublicKey

NOON = Instant.parse("2026-01-31T12:00:00.000Z")


@dataclass(frozen=True, slots=True)
class KeyInMemory:
    """A signer without a file."""

    seed: bytes

    @property
    def public(self) -> PublicKey:
        """The other half."""
        private = Ed25519PrivateKey.from_private_bytes(self.seed)
        return PublicKey(private.public_key().public_bytes_raw())

    @property
    def key_id(self) -> str:
        """As a checkpoint names it."""
        return self.public.key_id

    def sign(self, message: bytes) -> bytes:
        """Signs."""
        return Ed25519PrivateKey.from_private_bytes(self.seed).sign(message)


KEY = KeyInMemory(b"k" * 32)
STRANGER = KeyInMemory(b"s" * 32)


def events_of(writer: str, count: int) -> list[Digest]:
    """The hashes of that many events."""
    return [digest_bytes(f"{writer} {number}".encode()) for number in range(count)]


def head_of(writer: str, count: int) -> Head:
    """The head over those events."""
    return make_head(writer, events_of(writer, count))


def checkpoint_of(*heads: Head, signer: KeyInMemory = KEY, store_id: str = "store") -> Checkpoint:
    """A signed checkpoint over the heads."""
    clock, ids = ManualClock(NOON), CountingIds()
    return make_checkpoint(heads, clock=clock, ids=ids, store_id=store_id, signer=signer)


SOME = checkpoint_of(head_of("writer-b", 5), head_of("writer-a", 3), head_of("writer-ä", 1))


def test_a_head_is_a_root_over_raw_hashes() -> None:
    """Two events, written out: the leaves are the 32 bytes that the event hashes stand for."""
    first, second = events_of("w", 2)
    leaves = [hashlib.sha256(b"\0" + bytes.fromhex(each[7:])).digest() for each in (first, second)]
    root = hashlib.sha256(b"\1" + leaves[0] + leaves[1]).hexdigest()
    assert make_head("w", iter([first, second])) == Head("w", 2, second, root)


def test_the_root_is_over_the_heads_as_canonical_json() -> None:
    """One head, written out."""
    head = head_of("w", 1)
    text = f'{{"last":"{head.last}","root":"{head.root}","size":1,"writer":"w"}}'
    assert heads_root([head]) == hashlib.sha256(b"\0" + text.encode()).hexdigest()


def test_what_is_signed_is_everything_but_the_signature() -> None:
    """The key's holder signs the domain, then the canonical JSON; a verifier can do it by hand."""
    document = checkpoint_to_json(SOME)
    signature = bytes.fromhex(str(document.pop("signature")))
    KEY.public.verify(signature, SIGNING_DOMAIN + canonical_json(document))
    with pytest.raises(LedgerProblem):
        KEY.public.verify(signature, canonical_json(document))


def test_a_checkpoint_holds_its_heads_in_order() -> None:
    """However they came: by writer, and the same bytes every time."""
    assert [head.writer for head in SOME.heads] == ["writer-a", "writer-b", "writer-ä"]
    again = checkpoint_of(head_of("writer-ä", 1), head_of("writer-a", 3), head_of("writer-b", 5))
    assert again == SOME
    assert SOME.timestamp_utc == NOON
    assert SOME.head_of("writer-b") == head_of("writer-b", 5)
    assert SOME.head_of("writer-c") is None


def test_a_checkpoint_of_nothing_is_one() -> None:
    """A new store has no heads; its root is that of the empty tree."""
    empty = checkpoint_of()
    assert empty.root == hashlib.sha256(b"").hexdigest()
    verify_checkpoint(empty, KEY.public)


def test_two_heads_of_one_writer_are_refused() -> None:
    """Which of them would be true?"""
    with pytest.raises(BadInput, match="not in order"):
        checkpoint_of(head_of("w", 1), head_of("w", 2))


def test_a_writer_without_events_has_no_head() -> None:
    """There is no last event to name."""
    with pytest.raises(BadInput, match="whole number from 1 on"):
        make_head("w", [])


def test_a_trusted_key_makes_a_checkpoint_believed() -> None:
    """As a value, as a document, and as text that was written and read again."""
    document = checkpoint_to_json(SOME)
    assert verify_checkpoint(SOME, KEY.public) == SOME
    assert verify_checkpoint(document, [STRANGER.public, KEY.public]) == SOME
    assert verify_checkpoint(checkpoint_from_text(json.dumps(document)), KEY.public) == SOME


def test_a_stranger_who_signs_is_not_believed() -> None:
    """A well-signed checkpoint of another key: refused, unless that key is trusted too."""
    forged = checkpoint_of(head_of("writer-a", 1), signer=STRANGER)
    with pytest.raises(LedgerProblem, match="not a trusted one") as refusal:
        verify_checkpoint(forged, KEY.public)
    assert refusal.value.exit_status is ExitStatus.LEDGER
    verify_checkpoint(forged, [KEY.public, STRANGER.public])


def test_a_stranger_cannot_borrow_the_name_of_a_key() -> None:
    """The id in the document chooses a key; it does not vouch for it."""
    forged = replace(checkpoint_of(head_of("w", 1), signer=STRANGER), key_id=KEY.key_id)
    with pytest.raises(LedgerProblem, match="not signed with the key"):
        verify_checkpoint(forged, KEY.public)


def test_without_a_trusted_key_nothing_is_believed() -> None:
    """An empty list of keys is no permission."""
    with pytest.raises(LedgerProblem):
        verify_checkpoint(SOME, [])


def test_the_holder_of_the_key_can_sign_another_history() -> None:
    """The limit, stated as a test: only an earlier checkpoint kept elsewhere tells the two apart."""
    rewritten = checkpoint_of(make_head("writer-a", events_of("invented", 3)))
    verify_checkpoint(rewritten, KEY.public)
    kept = checkpoint_of(head_of("writer-a", 3))
    assert compare_checkpoints(kept, rewritten) != ()


def test_a_signed_root_that_is_not_over_the_heads_is_refused() -> None:
    """The key's holder cannot make the two say different things either."""
    wrong = replace(SOME, root="0" * 64)
    document = checkpoint_to_json(wrong)
    del document["signature"]
    signature = KEY.sign(SIGNING_DOMAIN + canonical_json(document)).hex()
    with pytest.raises(LedgerProblem, match="not the one over the heads"):
        verify_checkpoint(replace(wrong, signature=signature), KEY.public)


@given(st.data())
def test_every_changed_byte_is_found(data: st.DataObject) -> None:
    """Any byte of the file becomes any other: not readable, or not signed."""
    content = canonical_json(checkpoint_to_json(SOME))
    place = data.draw(st.integers(0, len(content) - 1))
    byte = bytes([content[place] ^ data.draw(st.integers(1, 255))])
    changed = content[:place] + byte + content[place + 1 :]
    with pytest.raises(ConsentryError) as refusal:
        verify_checkpoint(checkpoint_from_text(changed), KEY.public)
    assert refusal.value.code is Code.CHECKPOINT


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
        st.integers(1, 20),
        max_size=5,
    )
)
def test_writing_and_reading_keeps_everything(sizes: dict[str, int]) -> None:
    """Reading what was written gives an equal checkpoint, and the same canonical JSON again."""
    some = checkpoint_of(*(head_of(writer, size) for writer, size in sizes.items()))
    content = canonical_json(checkpoint_to_json(some))
    read = checkpoint_from_text(content)
    assert read == some
    assert canonical_json(checkpoint_to_json(read)) == content
    verify_checkpoint(read, KEY.public)


def set_field(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    """A change of the document."""
    return lambda document: document.update({name: value})


def set_in_head(name: str, value: object) -> Callable[[dict[str, Any]], None]:
    """A change of its second head."""
    return lambda document: document["heads"][1].update({name: value})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (set_field("extra", 1), "extra"),
        (lambda document: document.pop("store_id"), "store_id"),
        (set_field("schema_version", 2), "schema_version"),
        (set_field("schema_version", True), "schema_version"),
        (set_field("kind", "receipt"), "kind"),
        (set_field("checkpoint_id", "event-00000000-0000-7000-8000-000000000001"), "checkpoint_id"),
        (set_field("checkpoint_id", 1), "checkpoint_id"),
        (set_field("timestamp_utc", "2026-01-31T12:00:00Z"), "timestamp_utc"),
        (set_field("timestamp_utc", "yesterday"), "timestamp_utc"),
        (set_field("timestamp_utc", 0), "timestamp_utc"),
        (set_field("store_id", ""), "store_id"),
        (set_field("heads", {}), "heads"),
        (set_field("heads", [1]), "heads[0]"),
        (set_field("root", "A" * 64), "root"),
        (set_field("key_id", "rsa:0123456789abcdef"), "key_id"),
        (set_field("key_id", "ed25519:0"), "key_id"),
        (set_field("key_id", None), "key_id"),
        (set_field("signature", "00"), "signature"),
        (set_in_head("writer", ""), "heads[1].writer"),
        (set_in_head("writer", "writer-a"), "heads[1].writer"),
        (set_in_head("writer", "\ud800"), "heads[1].writer"),
        (set_in_head("size", 0), "heads[1].size"),
        (set_in_head("size", 5.0), "heads[1].size"),
        (set_in_head("size", True), "heads[1].size"),
        (set_in_head("last", "0" * 64), "heads[1].last"),
        (set_in_head("root", None), "heads[1].root"),
        (set_in_head("more", 1), "heads[1].more"),
        (lambda document: document["heads"][1].pop("size"), "heads[1].size"),
    ],
)
def test_a_document_that_is_not_one_names_the_field(
    change: Callable[[dict[str, Any]], object], field: str
) -> None:
    """Unknown, missing and ill-typed fields, by their place."""
    document = json.loads(json.dumps(checkpoint_to_json(SOME)))
    change(document)
    with pytest.raises(BadInput) as refusal:
        checkpoint_from_json(document)
    assert refusal.value.code is Code.CHECKPOINT
    assert refusal.value.where is not None
    assert refusal.value.where.field == field


def test_a_later_checkpoint_does_not_contradict() -> None:
    """Chains grew, stayed, or are new; the clock may say what it likes."""
    old = checkpoint_of(head_of("a", 3), head_of("b", 4))
    new = checkpoint_of(head_of("a", 3), head_of("b", 9), head_of("c", 1))
    assert compare_checkpoints(old, new) == ()
    assert compare_checkpoints(old, old) == ()
    assert compare_checkpoints(old, replace(new, timestamp_utc=Instant(0))) == ()


def test_each_contradiction_has_its_name() -> None:
    """A cut tail, a missing writer, another last event, another root; each with its writer."""
    old = checkpoint_of(head_of("a", 3), head_of("b", 4), head_of("c", 5), head_of("d", 6))
    rewritten = make_head("c", events_of("invented", 5))
    # The same last event with another root below: one event in the middle was replaced.
    middle = [*events_of("invented", 5), events_of("d", 6)[-1]]
    new = checkpoint_of(head_of("a", 2), rewritten, make_head("d", middle))
    found = compare_checkpoints(old, new)
    assert [(each.kind, each.writer) for each in found] == [
        (ContradictionKind.SIZE_WENT_BACK, "a"),
        (ContradictionKind.WRITER_MISSING, "b"),
        (ContradictionKind.OTHER_LAST, "c"),
        (ContradictionKind.OTHER_ROOT, "d"),
    ]
    assert found[0].message == "the writer `a` had 3 events and now has 2"


def test_two_stores_cannot_be_compared() -> None:
    """That is said first, and alone."""
    old = checkpoint_of(head_of("a", 3))
    new = checkpoint_of(head_of("a", 1), store_id="another")
    kinds = [each.kind for each in compare_checkpoints(old, new)]
    assert kinds == [ContradictionKind.OTHER_STORE]


def test_a_chain_written_anew_and_grown_is_not_seen_by_comparing() -> None:
    """The limit of comparing: sizes that grew say nothing about what is below them."""
    old = checkpoint_of(head_of("a", 3))
    new = checkpoint_of(make_head("a", events_of("invented", 4)))
    assert compare_checkpoints(old, new) == ()
