"""The preview of a transaction, `tx-preview/v1`: all that it will change, and the hash that a yes binds to.

Entries stand sorted by scope, entity type, entity id, path, operation and number, and the hash is SHA-256
over the canonical JSON of the whole document without the hash itself: the same change of the same revision,
worked out at the same time under the same id, gives the same hash in every process and on every machine.

Every entry has a view for every role. What a host's rules keep from a role keeps its shape there: objects
keep their keys, lists their length, and each value in them is a mark. Redaction is for eyes: the hash is over
everything, so a yes binds also what the approver's role does not see.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from consentry.base.canonical import Digest, Json, canonical_json, digest_bytes, digest_json
from consentry.base.clock import Instant
from consentry.base.frozenjson import thawed
from consentry.base.values import dataclass
from consentry.decide.fields import problem
from consentry.decide.identity import Role
from consentry.decide.previewredaction import Curtain, Redaction
from consentry.decide.statechange import Change, EntityWrite, Op, WorkedOut, pointer

SCHEMA: Final = "tx-preview/v1"
ROLES: Final = (Role.OWNER, Role.APPROVER, Role.OPERATOR, Role.VIEWER)
NO_REVISION: Final = "sha256:" + "0" * 64
"""The revision of a document that nothing was ever written to."""


@dataclass(frozen=True, slots=True)
class PreviewTerms:
    """What a preview is made of besides the changes."""

    tx_id: str
    attempt_no: int
    track: str
    base_revision: str
    generated_at: Instant
    redactions: Sequence[Redaction] = ()


def revision_after(base_revision: str, writes: Sequence[EntityWrite], commit: str) -> Digest:
    """The revision that these writes lead to: what was there, what was done, and by which commit.

    No two commits lead to the same one, so that a revision tells which of them took effect.
    """
    return revision_of(base_revision, written_down(writes), commit)


def revision_of(base_revision: str, written: bytes, commit: str) -> Digest:
    """The same, of writes that are written down already."""
    return digest_bytes(canonical_json([base_revision, commit]) + written)


def written_down(writes: Sequence[EntityWrite]) -> bytes:
    """The journal of these writes as it is kept: canonical, so that its hash is known from it."""
    return canonical_json([each.to_json() for each in writes])


def commit_name(tx_id: str, attempt_no: int) -> str:
    """How the commit of an attempt is told apart from every other, where it is applied."""
    return f"{tx_id}:{attempt_no}:apply"


def preview_of(terms: PreviewTerms, worked_out: WorkedOut) -> dict[str, Json]:
    """The document."""
    curtain = Curtain(terms.redactions, worked_out.changes)
    entries = [_entry(each, curtain) for each in sorted(worked_out.changes, key=_place)]
    document: dict[str, Json] = {
        "schemaVersion": SCHEMA,
        "txId": terms.tx_id,
        "attemptNo": terms.attempt_no,
        "track": terms.track,
        "baseRevision": terms.base_revision,
        "candidateRevision": revision_after(
            terms.base_revision, worked_out.writes, commit_name(terms.tx_id, terms.attempt_no)
        ),
        "generatedAt": str(terms.generated_at),
        "entries": entries,
        "summary": {
            op.value: sum(each.operation.op is op for each in worked_out.changes) for op in Op
        },
    }
    document["previewHash"] = preview_hash(document)
    return document


def preview_hash(document: Mapping[str, Json]) -> Digest:
    """The hash of a preview, whether or not it has one already."""
    return digest_json({key: value for key, value in document.items() if key != "previewHash"})


def check_preview(document: Mapping[str, Json]) -> Digest:
    """The hash of a preview that has it; raises where it has another one."""
    found = preview_hash(document)
    if document.get("previewHash") != found:
        raise problem("previewHash", "the preview is not the one that was hashed")
    return found


def _place(change: Change) -> tuple[str, str, str, str, str, int]:
    asked = change.operation
    name = asked.entity
    path = pointer(asked.inside)
    return asked.scope, name.entity_type, name.entity_id, path, asked.op.value, change.seq


def _entry(change: Change, curtain: Curtain) -> dict[str, Json]:
    asked = change.operation
    before, after = thawed(change.before), thawed(change.after)
    return {
        "seq": change.seq,
        "scope": asked.scope,
        "entityType": asked.entity.entity_type,
        "entityId": asked.entity.entity_id,
        "path": pointer(asked.inside),
        "op": asked.op.value,
        "before": before,
        "after": after,
        "roleViews": {role.value: curtain.view(role, change, before, after) for role in ROLES},
    }
