"""What the payloads of certification and sign-off hold (CONTRACTS §4).

A checked case of the certification corpus says what was tried, how often, and what came of each try, so
that whoever counts need not take a verdict's word for it. A resolution says which violation it is about,
what its root cause was and what was done.
"""

from collections.abc import Mapping
from typing import Any, Final

from consentry.record.fieldrules import (
    BOOLEAN,
    CODE_WORD,
    DIGEST,
    INSTANT,
    TEXT,
    field,
    id_of,
    list_of,
    map_of,
    nullable,
    object_of,
    one_of,
    refuse,
)

CASE_KINDS: Final = ("valid", "invalid", "action")
CONTROL_FIELDS: Final = ("calls", "mutates", "requiresApproval", "undoCommand", "surface")
"""The five fields of an action that say what it may do (CONTRACTS §2)."""


def _named_fields(checked: Mapping[str, Any]) -> None:
    is_action = checked["caseKind"] == "action"
    fields = checked["controlFields"]
    if is_action is not (fields is not None):
        refuse(
            "controlFields", "must say of an action, and of nothing else, which fields are valid"
        )
    if fields is not None and set(fields) != set(CONTROL_FIELDS):
        refuse("controlFields", f"must have exactly {', '.join(CONTROL_FIELDS)}")


CERTIFICATION_CHECKED: Final = object_of(
    field("corpusVersion", TEXT),
    field("caseId", TEXT),
    field("caseKind", one_of(*CASE_KINDS)),
    field("subjectDigest", DIGEST),
    # What each try answered, in order: a valid package once, an invalid one repeatedly.
    field("answers", list_of(object_of(field("code", CODE_WORD), nullable("path", TEXT)), least=1)),
    nullable("expectedCode", CODE_WORD),
    nullable("expectedPath", TEXT),
    nullable("controlFields", map_of(BOOLEAN)),
    across=(_named_fields,),
)
SIGNOFF_RESOLVED: Final = object_of(
    field("violationEventId", id_of("event")),
    field("rootCause", TEXT),
    field("correctiveAction", TEXT),
    field("resolvedBy", TEXT),
    field("resolvedAt", INSTANT),
)
