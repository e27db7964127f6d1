"""Works out previews from what stands on standard input: what another process, or another machine, makes of it.

python -m tests.decide.previewelsewhere    one JSON document in, a line for each case out: its name, the hash of
its preview, the revision that it leads to, and the hash of the whole text

The names of every object come in the order in which they are given; a process is started with its own.
"""

import hashlib
import json
import random
import sys
from typing import Any

from consentry.base.canonical import Json, canonical_json
from consentry.base.clock import Instant
from consentry.decide.identity import Role
from consentry.decide.previewredaction import Redaction
from consentry.decide.statechange import EntityName, read_operations, worked_out
from consentry.decide.txpreview import PreviewTerms, check_preview, preview_of


def preview_for(case: dict[str, Any]) -> dict[str, Json]:
    """The preview of a case."""
    entities = {
        EntityName(entity_type, entity_id): value
        for entity_type, of_type in case["entities"].items()
        for entity_id, value in of_type.items()
    }
    redactions = [
        Redaction(each["entityType"], each["path"], frozenset(map(Role, each["visibleTo"])))
        for each in case["redactions"]
    ]
    terms = PreviewTerms(
        tx_id=case["txId"],
        attempt_no=case["attemptNo"],
        track=case["track"],
        base_revision=case["baseRevision"],
        generated_at=Instant.parse(case["generatedAt"]),
        redactions=redactions,
    )
    preview = preview_of(terms, worked_out(entities, read_operations(case["operations"])))
    check_preview(preview)
    return preview


def said_of(case: dict[str, Any]) -> dict[str, str]:
    """What is compared."""
    preview = preview_for(case)
    return {
        "previewHash": str(preview["previewHash"]),
        "candidateRevision": str(preview["candidateRevision"]),
        "textHash": hashlib.sha256(canonical_json(preview)).hexdigest(),
    }


def shuffled(value: Any, order: random.Random) -> Any:
    """The same value, with the names of every object in another order."""
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        return {name: shuffled(value[name], order) for name in names}
    return [shuffled(each, order) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    for each in json.load(sys.stdin):
        sys.stdout.write(json.dumps({"name": each["name"], **said_of(each)}) + "\n")
