"""Checkpoints of this machine's ledger: taking one, and holding the ledger against one.

A checkpoint that is kept where the ledger's keeper cannot reach it shows that nothing it covers was
cut off, changed or put back from an older copy. Kept beside the ledger it shows nothing: whoever
holds the key can sign another history.

The ledger itself says when checkpoints were taken. The file is made first and the event recorded
then: what the ledger speaks of was handed out.
"""

from collections.abc import Callable
from typing import TypeAlias

from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, UsageProblem
from consentry.base.ids import IdSource
from consentry.record.chain import event_fields
from consentry.record.checkpoint import (
    Checkpoint,
    Head,
    checkpoint_from_text,
    make_checkpoint,
    make_head,
    verify_checkpoint,
)
from consentry.record.events import EventType
from consentry.record.publickey import PublicKey
from consentry.service.audit import require_sound
from consentry.service.ledgers import ledger_for_reading, ledger_place, make_state_folder
from consentry.service.placedfile import PlacedFile
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from consentry.service.userfiles import read_named
from consentry.store.history import EventFilter, History
from consentry.store.journal import About
from consentry.store.keyfile import LedgerKey, load_key, open_key

KEY_NAME = "checkpoint-key"

Written: TypeAlias = Callable[[Checkpoint], PlacedFile | None]
"""Puts a checkpoint into a file; None where it is only printed."""


def to_be_printed(signed: Checkpoint) -> None:
    """Nothing is written before the record: the checkpoint is printed after it."""


def take_checkpoint(
    around: Surroundings, clock: Clock, ids: IdSource, written: Written = to_be_printed
) -> Checkpoint:
    """Signs where every chain ends now, once all were followed, and records that it was signed.

    `written` puts it where it is to be kept, before it is recorded; when the record fails, what was
    written is taken back.
    """
    signed = sign_checkpoint(around, clock, ids)
    file = written(signed)
    try:
        _record(around, clock, ids, signed)
    except BaseException as problem:
        if file is not None:
            file.take_back()
        if isinstance(problem, LedgerProblem):
            message = f"the checkpoint was not recorded and is not kept: {problem.message}"
            raise LedgerProblem(problem.code, message, help_line=problem.help_line) from problem
        raise
    return signed


def sign_checkpoint(around: Surroundings, clock: Clock, ids: IdSource) -> Checkpoint:
    """Signs where every chain ends now, once all of them were followed and found whole."""
    history = ledger_for_reading(around)
    found = [] if history is None else require_sound(history)
    if history is None or not found:
        raise UsageProblem(
            Code.CHECKPOINT_EMPTY, "nothing was recorded here yet, so there is nothing to sign"
        )
    heads = [make_head(head.writer, history.hashes(head.writer, head.seq)) for head in found]
    store_id = history.store_id()
    return make_checkpoint(heads, clock=clock, ids=ids, store_id=store_id, signer=_own_key(around))


def _record(around: Surroundings, clock: Clock, ids: IdSource, signed: Checkpoint) -> None:
    journal = journal_here(around, clock, ids)
    try:
        draft = journal.draft(
            EventType.LEDGER_CHECKPOINT,
            About(signed.checkpoint_id),
            {
                "checkpointId": signed.checkpoint_id,
                "storeId": signed.store_id,
                "rootHash": signed.root,
                "keyId": signed.key_id,
                "heads": [{"writer": head.writer, "size": head.size} for head in signed.heads],
            },
            clock.now(),
        )
        journal.ledger.append(draft)
    finally:
        journal.ledger.close()


def last_taken(history: History) -> Instant | None:
    """When the ledger says that the last checkpoint was taken."""
    wanted = EventFilter(type=EventType.LEDGER_CHECKPOINT.value)
    for row in history.latest(wanted, 1):
        return Instant.parse(str(event_fields(row.body)["timestampUtc"]))
    return None


def public_key(around: Surroundings) -> PublicKey:
    """This machine's public key, made with its private half on first use."""
    return _own_key(around).public


def _own_key(around: Surroundings) -> LedgerKey:
    place = ledger_place(around)
    make_state_folder(place)
    return open_key(place.folder / KEY_NAME)


def trusted_key(around: Surroundings, key_file: str | None) -> PublicKey:
    """The public key in that file, or this machine's own; for the first no state is needed."""
    if key_file is None:
        return load_key(ledger_place(around).folder / KEY_NAME).public
    return PublicKey.from_pem(read_named(key_file).decode("utf-8", "replace"))


def kept_checkpoint(around: Surroundings, file: str, key_file: str | None) -> Checkpoint:
    """A checkpoint from a file, signed by the named key or by this machine's own."""
    trusted = trusted_key(around, key_file)
    return verify_checkpoint(checkpoint_from_text(read_named(file)), trusted)


def require_continues(history: History | None, kept: Checkpoint) -> None:
    """Raises `chain-broken` unless the ledger still has all that the checkpoint saw."""
    when = f"the checkpoint of {kept.timestamp_utc.shown()}"
    if history is None:
        raise LedgerProblem(Code.CHAIN_BROKEN, f"the ledger is gone; {when} has seen it")
    if history.store_id() != kept.store_id:
        raise LedgerProblem(Code.CHECKPOINT, f"{when} is of another ledger, `{kept.store_id}`")
    for head in kept.heads:
        _require_head(history, head, when)


def _require_head(history: History, head: Head, when: str) -> None:
    size = sum(1 for _ in history.hashes(head.writer, head.size))
    if size < head.size:
        raise LedgerProblem(
            Code.CHAIN_BROKEN,
            f"event {size + 1} of `{head.writer}` is missing: {when} has seen {head.size}",
        )
    if make_head(head.writer, history.hashes(head.writer, head.size)) != head:
        raise LedgerProblem(
            Code.CHAIN_BROKEN,
            f"the first {head.size} events of `{head.writer}` are not those of {when}",
        )
