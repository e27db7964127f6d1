"""What a transaction is about, in a row of its own: what was asked for, its preview, its journal.

Written once, with the attempt. What is read is held against the hashes that the attempt has: a preview or a
journal that is another one is not believed.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.canonical import Json, canonical_json, digest_bytes, read_canonical
from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.decide.statechange import EntityWrite, Operation, kept_operations
from consentry.decide.txattempt import Attempt
from consentry.decide.txpreview import revision_of, written_down
from consentry.store.database import Row, Value

INSERT_CONTENT: Final = (
    "INSERT INTO transaction_content (tx_id, attempt_no, document_id, operations, preview, writes) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What an attempt is about: what was asked for, what it does, and how it is shown."""

    operations: Sequence[Operation]
    preview: "dict[str, Json] | None" = None
    writes: Sequence[EntityWrite] = ()


def content_row(attempt: Attempt, drawn: Drawn) -> tuple[Value, ...]:
    """The row of that attempt."""
    return (
        attempt.tx_id,
        attempt.attempt_no,
        attempt.document_id,
        _text([each.to_json() for each in drawn.operations]),
        None if drawn.preview is None else _text(drawn.preview),
        written_down(drawn.writes).decode(),
    )


def drawn_of(attempt: Attempt, row: Row) -> Drawn:
    """All of it, from operations, preview and journal as they are kept."""
    operations, preview, _ = row
    return Drawn(
        kept_operations(read_canonical(str(operations))),
        None if preview is None else read_canonical(str(preview)),
        writes_of(attempt, row),
    )


def writes_of(attempt: Attempt, row: Row) -> tuple[EntityWrite, ...]:
    """The journal alone."""
    _, preview, stored = row
    writes = tuple(EntityWrite.from_json(each) for each in read_canonical(str(stored)))
    if attempt.preview_hash is None:
        return writes
    # The text is canonical, and its hash is over the same text without the hash itself.
    shown = str(preview)
    at = shown.rfind(f',"previewHash":"{attempt.preview_hash}"')
    length = len(',"previewHash":""') + len(attempt.preview_hash)
    is_same = (
        at > 0
        and digest_bytes((shown[:at] + shown[at + length :]).encode()) == attempt.preview_hash
    )
    base, written = attempt.base_revision, str(stored).encode()
    is_journal = (
        base is not None
        and revision_of(base, written, attempt.commit_name) == attempt.candidate_revision
    )
    if not (is_same and is_journal):
        raise BadInput(Code.DECISION_FIELD, "its preview or its journal is another one")
    return writes


def _text(value: Json) -> str:
    return canonical_json(value).decode()
