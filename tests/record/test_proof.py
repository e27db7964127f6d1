"""Proofs that verify away from the ledger, and everything that makes them fail."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import Digest, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, LedgerProblem
from consentry.record.checkpoint import Checkpoint, make_head
from consentry.record.proof import (
    ConsistencyProof,
    InclusionProof,
    consistency_from_json,
    consistency_to_json,
    inclusion_from_json,
    inclusion_to_json,
    make_consistency_proof,
    make_inclusion_proof,
    proof_from_text,
    verify_consistency_proof,
    verify_inclusion_proof,
)
from tests.record.test_checkpoint import KEY, STRANGER, checkpoint_of, events_of, head_of

OLD = checkpoint_of(head_of("a", 4), head_of("b", 3), head_of("c", 2))
NEW = checkpoint_of(head_of("a", 11), head_of("b", 3), head_of("c", 7), head_of("d", 1))


def inclusion_of(writer: str, index: int, checkpoint: Checkpoint = NEW) -> InclusionProof:
    """The proof about one event; the ledger has more events by now than the checkpoint saw."""
    events = events_of(writer, 20)
    return make_inclusion_proof(
        events[index], index, writer=writer, events=iter(events), checkpoint=checkpoint
    )


def consistency_of(old: Checkpoint = OLD, new: Checkpoint = NEW) -> ConsistencyProof:
    """The proof that one checkpoint continues the other."""
    return make_consistency_proof(old, new, lambda writer: iter(events_of(writer, 20)))


INCLUSION = inclusion_of("c", 4)
CONSISTENCY = consistency_of()


def with_each_byte_changed(content: bytes) -> Iterator[bytes]:
    """The content with its first byte changed, with its second byte changed, and so on."""
    for place, byte in enumerate(content):
        yield content[:place] + bytes([byte ^ 1]) + content[place + 1 :]


def with_one_byte_changed(content: bytes, data: st.DataObject) -> bytes:
    """Any byte becomes any other."""
    place = data.draw(st.integers(0, len(content) - 1))
    byte = bytes([content[place] ^ data.draw(st.integers(1, 255))])
    return content[:place] + byte + content[place + 1 :]


def assert_refused(verify: Callable[[], object]) -> None:
    """It raises one of the two errors that a bad proof ends with."""
    with pytest.raises(ConsentryError) as refusal:
        verify()
    assert refusal.value.code in {Code.PROOF, Code.CHECKPOINT}


@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.data())
def test_every_event_a_checkpoint_saw_has_a_proof(sizes: list[int], data: st.DataObject) -> None:
    """Written as a document, read again, and verified with the public key alone."""
    heads = [head_of(f"w{number}", size) for number, size in enumerate(sizes)]
    checkpoint = checkpoint_of(*heads)
    head = data.draw(st.sampled_from(heads))
    index = data.draw(st.integers(0, head.size - 1))
    events = events_of(head.writer, head.size)
    proof = make_inclusion_proof(
        events[index], index, writer=head.writer, events=iter(events), checkpoint=checkpoint
    )
    content = canonical_json(inclusion_to_json(proof))
    read = proof_from_text(content)
    assert read == proof
    assert verify_inclusion_proof(read, KEY.public, event=events[index]) == proof


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=5))
def test_every_later_checkpoint_has_a_proof(growths: list[tuple[int, int]]) -> None:
    """Chains that grew, stayed, or are new; from nothing as well."""
    named = [(f"w{number}", old, old + more) for number, (old, more) in enumerate(growths)]
    old = checkpoint_of(*(head_of(writer, size) for writer, size, _ in named if size))
    new = checkpoint_of(*(head_of(writer, size) for writer, _, size in named if size))
    proof = make_consistency_proof(old, new, lambda writer: iter(events_of(writer, 80)))
    read = proof_from_text(canonical_json(consistency_to_json(proof)))
    assert read == proof
    assert verify_consistency_proof(read, KEY.public) == proof


@given(st.data())
def test_any_changed_byte_is_found(data: st.DataObject) -> None:
    """Any byte of either document becomes any other."""
    changed = with_one_byte_changed(canonical_json(inclusion_to_json(INCLUSION)), data)
    assert_refused(lambda: verify_inclusion(changed))
    changed = with_one_byte_changed(canonical_json(consistency_to_json(CONSISTENCY)), data)
    assert_refused(lambda: verify_consistency(changed))


def test_each_changed_byte_is_found() -> None:
    """Indices, sizes, paths, heads, checkpoints: no single byte of the documents can be another."""
    for changed in with_each_byte_changed(canonical_json(inclusion_to_json(INCLUSION))):
        assert_refused(lambda content=changed: verify_inclusion(content))
    for changed in with_each_byte_changed(canonical_json(consistency_to_json(CONSISTENCY))):
        assert_refused(lambda content=changed: verify_consistency(content))


def verify_inclusion(content: bytes) -> None:
    """Reads and verifies, as somebody who has the event and the key."""
    verify_inclusion_proof(proof_from_text(content), KEY.public, event=INCLUSION.event)


def verify_consistency(content: bytes) -> None:
    """Reads and verifies, as somebody who has the key."""
    verify_consistency_proof(proof_from_text(content), KEY.public)


def test_a_proof_is_about_the_event_that_the_reader_has() -> None:
    """A good proof about another event shows nothing about this one."""
    other = events_of("c", 20)[3]
    with pytest.raises(BadInput, match="is about the event"):
        verify_inclusion_proof(INCLUSION, KEY.public, event=other)
    with pytest.raises(BadInput):
        verify_inclusion_proof(replace(INCLUSION, event=other), KEY.public, event=other)


def test_a_proof_counts_only_with_a_trusted_key() -> None:
    """A whole ledger made up and signed by a stranger: refused; with that key trusted, believed."""
    forged = inclusion_of("a", 1, checkpoint_of(head_of("a", 3), signer=STRANGER))
    for trusted in (KEY.public, []):
        with pytest.raises(LedgerProblem) as refusal:
            verify_inclusion_proof(forged, trusted, event=forged.event)
        assert refusal.value.code is Code.CHECKPOINT
    verify_inclusion_proof(forged, STRANGER.public, event=forged.event)

    mixed = consistency_of(new=checkpoint_of(*NEW.heads, signer=STRANGER))
    with pytest.raises(LedgerProblem):
        verify_consistency_proof(mixed, KEY.public)
    verify_consistency_proof(mixed, iter([KEY.public, STRANGER.public]))


def test_a_head_from_elsewhere_is_refused() -> None:
    """An event of an invented chain, with a head that fits it, in place of the signed one."""
    invented = events_of("invented", 7)
    fake = make_head("c", invented)
    own = make_inclusion_proof(
        invented[4], 4, writer="c", events=invented, checkpoint=checkpoint_of(fake)
    )
    planted = replace(INCLUSION, event=invented[4], head=fake, writer_path=own.writer_path)
    with pytest.raises(BadInput, match="does not stand there"):
        verify_inclusion_proof(planted, KEY.public, event=invented[4])


def test_a_writer_cannot_be_renamed() -> None:
    """The head says whose events they are."""
    with pytest.raises(BadInput, match="not one of the writer"):
        verify_inclusion_proof(replace(INCLUSION, writer="a"), KEY.public, event=INCLUSION.event)


def test_the_last_event_is_the_one_that_the_head_names() -> None:
    """A signed head whose `last` is not its last leaf proves nothing about that place."""
    head = replace(head_of("a", 3), last=events_of("b", 1)[0])
    with pytest.raises(BadInput, match="names another event as its last"):
        inclusion_of("a", 2, checkpoint_of(head))


def test_no_proof_about_what_the_checkpoint_did_not_see() -> None:
    """A later event, an unknown writer, an event at another place."""
    with pytest.raises(BadInput, match="there is no leaf 11 in a tree of 11"):
        inclusion_of("a", 11)
    with pytest.raises(BadInput, match="knows no writer `x`"):
        inclusion_of("x", 0)
    events = events_of("a", 20)
    with pytest.raises(BadInput, match="does not lead to the root"):
        make_inclusion_proof(events[3], 4, writer="a", events=events, checkpoint=NEW)


def test_no_proof_from_a_ledger_that_was_changed() -> None:
    """One event replaced on the way, or the tail cut off: the proof is not made."""
    events = events_of("a", 11)
    changed = [*events[:5], events_of("invented", 1)[0], *events[6:]]
    for ledger in (changed, events[:10]):
        with pytest.raises(BadInput):
            make_inclusion_proof(events[4], 4, writer="a", events=ledger, checkpoint=NEW)
        with pytest.raises(BadInput):
            make_consistency_proof(
                OLD, NEW, lambda writer, a=ledger: a if writer == "a" else events_of(writer, 20)
            )


def test_a_proof_is_about_checkpoints_and_not_about_the_ledger_today() -> None:
    """The limit: an old subtree whose root was signed is not read again, so a change in it is not seen."""
    events = events_of("a", 11)
    changed = [events_of("invented", 1)[0], *events[1:]]
    proof = make_consistency_proof(
        OLD, NEW, lambda writer: changed if writer == "a" else events_of(writer, 20)
    )
    assert proof == CONSISTENCY


def test_a_chain_written_anew_has_no_consistency_proof() -> None:
    """The holder of the key re-signs another history; whoever kept the old checkpoint finds out."""
    invented = events_of("invented", 11)
    new = checkpoint_of(make_head("a", invented), *NEW.heads[1:])
    with pytest.raises(BadInput, match="does not begin with the old one"):
        make_consistency_proof(
            OLD, new, lambda writer: invented if writer == "a" else events_of(writer, 20)
        )
    genuine = consistency_of()
    with pytest.raises(BadInput, match="does not begin with the old one"):
        verify_consistency_proof(replace(genuine, new=new), KEY.public)
    old = checkpoint_of(make_head("a", invented[:4]), *OLD.heads[1:])
    proof = make_consistency_proof(
        old, new, lambda writer: invented if writer == "a" else events_of(writer, 20)
    )
    assert verify_consistency_proof(proof, KEY.public).old != OLD


def test_contradicting_checkpoints_have_no_consistency_proof() -> None:
    """In the wrong order, or of two stores."""
    with pytest.raises(BadInput, match="now has 4"):
        consistency_of(NEW, OLD)
    with pytest.raises(BadInput, match="of the store"):
        consistency_of(OLD, checkpoint_of(*NEW.heads, store_id="another"))
    other_store = checkpoint_of(*NEW.heads, store_id="another")
    for bad in (replace(CONSISTENCY, old=NEW, new=OLD), replace(CONSISTENCY, new=other_store)):
        with pytest.raises(BadInput):
            verify_consistency_proof(bad, KEY.public)


def test_no_writer_can_be_left_out() -> None:
    """A consistency proof without one of the earlier writers, or with one too many, shows nothing."""
    first, *rest = CONSISTENCY.growths
    for growths in (tuple(rest), (first, first, *rest), (*rest, first), ()):
        with pytest.raises(BadInput, match="not the writers and sizes"):
            verify_consistency_proof(replace(CONSISTENCY, growths=growths), KEY.public)


def test_sizes_are_those_that_were_signed() -> None:
    """A path alone may hold for another size; the growth must name the signed one."""
    first, *rest = CONSISTENCY.growths
    for bad in (replace(first, old_size=3), replace(first, new_size=12)):
        with pytest.raises(BadInput, match="not the writers and sizes"):
            verify_consistency_proof(replace(CONSISTENCY, growths=(bad, *rest)), KEY.public)


def test_the_events_are_read_once_and_not_kept() -> None:
    """A chain of any length passes by as a stream; what comes after the checkpoint is not read."""
    read = 0

    def stream() -> Iterator[Digest]:
        nonlocal read
        for event in events_of("a", 1000):
            read += 1
            yield event

    make_consistency_proof(checkpoint_of(head_of("a", 4)), NEW, lambda _: stream())
    assert read == 11


def change_at(*way: str | int, to: object) -> Callable[[Any], None]:
    """A change of the document at that place."""

    def change(document: Any) -> None:
        for step in way[:-1]:
            document = document[step]
        document[way[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (change_at("extra", to=1), "extra"),
        (lambda document: document.pop("index"), "index"),
        (change_at("schema_version", to=2), "schema_version"),
        (change_at("kind", to="proof"), "kind"),
        (change_at("event", to="0" * 64), "event"),
        (change_at("writer", to=None), "writer"),
        (change_at("index", to=-1), "index"),
        (change_at("index", to="4"), "index"),
        (change_at("index", to=True), "index"),
        (change_at("head_index", to=2.0), "head_index"),
        (change_at("writer_path", to="0" * 64), "writer_path"),
        (change_at("writer_path", 1, to="0" * 63), "writer_path[1]"),
        (change_at("heads_path", 0, to=None), "heads_path[0]"),
        (change_at("head", to=[]), "head"),
        (change_at("head", "size", to=0), "head.size"),
        (change_at("checkpoint", "heads", 0, "last", to="x"), "checkpoint.heads[0].last"),
        (change_at("checkpoint", "signature", to=""), "checkpoint.signature"),
    ],
)
def test_an_inclusion_document_that_is_not_one_names_the_field(
    change: Callable[[Any], object], field: str
) -> None:
    """Unknown, missing and ill-typed fields, by their place; always as a fault of the proof."""
    document = json.loads(json.dumps(inclusion_to_json(INCLUSION)))
    change(document)
    with pytest.raises(BadInput) as refusal:
        inclusion_from_json(document)
    assert refusal.value.code is Code.PROOF
    assert refusal.value.where is not None
    assert refusal.value.where.field == field


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (change_at("extra", to=1), "extra"),
        (lambda document: document.pop("old"), "old"),
        (change_at("kind", to="inclusion-proof"), "kind"),
        (change_at("new", "root", to=1), "new.root"),
        (change_at("growths", to={}), "growths"),
        (change_at("growths", 0, to=1), "growths[0]"),
        (change_at("growths", 1, "path", to=None), "growths[1].path"),
        (change_at("growths", 0, "path", 0, to="x"), "growths[0].path[0]"),
        (change_at("growths", 0, "old_size", to=0), "growths[0].old_size"),
        (lambda document: document["growths"][2].pop("writer"), "growths[2].writer"),
    ],
)
def test_a_consistency_document_that_is_not_one_names_the_field(
    change: Callable[[Any], object], field: str
) -> None:
    """As above."""
    document = json.loads(json.dumps(consistency_to_json(CONSISTENCY)))
    change(document)
    with pytest.raises(BadInput) as refusal:
        consistency_from_json(document)
    assert refusal.value.code is Code.PROOF
    assert refusal.value.where is not None
    assert refusal.value.where.field == field


def test_a_text_of_neither_kind_is_refused() -> None:
    """A checkpoint is not a proof, nor is a list."""
    for text in ("[]", "{}", '{"kind": "checkpoint"}', '{"kind": ["consistency-proof"]}'):
        with pytest.raises(BadInput) as refusal:
            proof_from_text(text)
        assert refusal.value.code is Code.PROOF
