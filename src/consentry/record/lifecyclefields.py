"""What the payloads of the product's own lives hold: from an approval request to a rebuilt table.

Whatever has a life (asked and answered, given and revoked, made and spent, started and ended) tells
the ledger its whole content once, when it begins; what comes later names it by its id and says
only what is new. A row of the store can therefore always be told again from the ledger.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from consentry.record.auditfields import ConsentMethod
from consentry.record.eventfields import ROLE
from consentry.record.fieldrules import (
    ANY_JSON,
    ANY_TEXT,
    BOOLEAN,
    DIGEST,
    HEX64,
    INSTANT,
    MACHINE_ID,
    OBJECT,
    TEXT,
    field,
    id_of,
    list_of,
    map_of,
    nullable,
    object_of,
    one_of,
    refuse,
    whole_from,
)

MOST_PERMIT_LIFE: Final = timedelta(seconds=60)
"""A permit is made just before a start, and is of no use to anybody a minute later."""

_REQUEST_ID: Final = field("requestId", id_of("request"))
_CONSENT_ID: Final = field("consentId", id_of("consent"))
_GRANT_ID: Final = field("grantId", id_of("grant"))
_PERMIT_ID: Final = field("permitId", id_of("permit"))
_SESSION: Final = id_of("session")
_REVOKED: Final = (field("revokedBy", TEXT), field("revokedAt", INSTANT))
_ARGUMENTS: Final = list_of(ANY_TEXT)


# Instants of the wire form have one length and sort as texts.
def _asked_before_the_deadline(request: Mapping[str, Any]) -> None:
    if request["deadline"] < request["requestedAt"]:
        refuse("deadline", "cannot have a deadline from before it was asked")


APPROVAL_REQUESTED: Final = object_of(
    _REQUEST_ID,
    field("kind", TEXT),
    field("subject", TEXT),
    field("question", TEXT),
    nullable("preview", ANY_JSON),
    nullable("digest", DIGEST),
    nullable("policyHash", DIGEST),
    nullable("sessionId", _SESSION),
    field("machineId", MACHINE_ID),
    field("requestedAt", INSTANT),
    field("deadline", INSTANT),
    across=(_asked_before_the_deadline,),
)
APPROVAL_ANSWERED: Final = object_of(
    _REQUEST_ID,
    field("decision", one_of("approved", "denied")),
    field("answeredBy", TEXT),
    field("answeredRole", ROLE),
    field("channel", TEXT),
    field("answeredAt", INSTANT),
    nullable("reason", ANY_TEXT),
)
APPROVAL_EXPIRED: Final = object_of(_REQUEST_ID, field("deadline", INSTANT))
APPROVAL_SUPERSEDED: Final = object_of(_REQUEST_ID, field("why", TEXT))


def _bound_as_long_as_it_lasts(consent: Mapping[str, Any]) -> None:
    lasts = consent["lasts"]
    if (lasts == "once") is (consent["arguments"] is None):
        refuse("arguments", "must have the arguments here when it lasts `once`, and null otherwise")
    if lasts == "session" and consent["sessionId"] is None:
        refuse("sessionId", "cannot have null here when it lasts for a `session`")
    if lasts == "until" and consent["expiresAt"] is None:
        refuse("expiresAt", "cannot have null here when it lasts `until` a time")
    if lasts == "permanent" and consent["expiresAt"] is not None:
        refuse("expiresAt", "must have null here when it is `permanent`")


CONSENT_GIVEN: Final = object_of(
    _CONSENT_ID,
    field("tool", TEXT),
    field("version", TEXT),
    field("digest", DIGEST),
    field("surface", OBJECT),
    nullable("arguments", _ARGUMENTS),
    field("lasts", one_of("once", "session", "until", "permanent")),
    nullable("sessionId", _SESSION),
    nullable("expiresAt", INSTANT),
    field("machineScope", TEXT),
    nullable("policyHash", DIGEST),
    field("method", one_of(*ConsentMethod)),
    field("givenBy", TEXT),
    field("givenAt", INSTANT),
    across=(_bound_as_long_as_it_lasts,),
)
CONSENT_USED: Final = object_of(_CONSENT_ID, field("usedAt", INSTANT))
CONSENT_REVOKED: Final = object_of(_CONSENT_ID, *_REVOKED)


def _session_of_its_scope(grant: Mapping[str, Any]) -> None:
    if (grant["scope"] == "session") is (grant["sessionId"] is None):
        refuse("sessionId", "must have the session here when that is its scope, and null otherwise")


GRANT_GIVEN: Final = object_of(
    _GRANT_ID,
    field("hostId", TEXT),
    field("moduleId", TEXT),
    field("moduleVersion", TEXT),
    field("packageDigest", DIGEST),
    field("capabilityId", TEXT),
    field("scope", one_of("session", "persistent")),
    field("grantVersion", TEXT),
    nullable("sessionId", _SESSION),
    field("givenBy", TEXT),
    field("givenRole", ROLE),
    field("givenAt", INSTANT),
    nullable("requestId", id_of("request")),
    across=(_session_of_its_scope,),
)
GRANT_REVOKED: Final = object_of(_GRANT_ID, *_REVOKED)


def _short_life(permit: Mapping[str, Any]) -> None:
    made = datetime.fromisoformat(permit["madeAt"])
    if not timedelta() < datetime.fromisoformat(permit["expiresAt"]) - made <= MOST_PERMIT_LIFE:
        refuse("expiresAt", "must expire after it was made, and within a minute")


RUN_DECIDED: Final = object_of(
    field("subject", TEXT),
    field("decision", one_of("allowed", "denied")),
    field("consentMethod", one_of(*ConsentMethod)),
    field("profile", TEXT),
    field("arguments", _ARGUMENTS),
    field("surface", OBJECT),
    nullable("consent", OBJECT),
)
PERMIT_MADE: Final = object_of(
    _PERMIT_ID,
    field("subject", TEXT),
    field("digests", map_of(DIGEST, least=1)),
    field("arguments", _ARGUMENTS),
    field("surface", OBJECT),
    field("machineId", MACHINE_ID),
    field("decisionEventId", id_of("event")),
    field("madeAt", INSTANT),
    field("expiresAt", INSTANT),
    across=(_short_life,),
)
PERMIT_SPENT: Final = object_of(_PERMIT_ID, field("spentBy", TEXT), field("spentAt", INSTANT))

_EFFECT: Final = (
    field("runId", id_of("audit")),
    _PERMIT_ID,
    field("action", one_of("commit", "discard", "undo")),
    nullable("effectDigest", DIGEST),
)
EFFECT_DECIDED: Final = object_of(
    *_EFFECT,
    field("decision", one_of("allowed", "denied")),
    field("consentMethod", one_of(*ConsentMethod)),
    nullable("requestId", id_of("request")),
)
EFFECT_SETTLED: Final = object_of(
    *_EFFECT,
    field("outcome", one_of("committed", "discarded", "undone", "conflict", "refused")),
    field("decisionEventId", id_of("event")),
    field("files", whole_from(0)),
    nullable("why", ANY_TEXT),
    field(
        "conflicts",
        list_of(object_of(field("path", ANY_TEXT), field("why", ANY_TEXT))),
    ),
    field("recovered", BOOLEAN),
)

SESSION_STARTED: Final = object_of(
    field("sessionId", _SESSION),
    field("user", TEXT),
    field("machineId", MACHINE_ID),
    field("kind", one_of("terminal", "library", "mcp")),
    nullable(
        "leader",
        object_of(
            field("pid", whole_from(1)),
            field("startedAtTicks", whole_from(0)),
            field("bootId", TEXT),
        ),
    ),
    field("startedAt", INSTANT),
)
SESSION_ENDED: Final = object_of(
    field("sessionId", _SESSION),
    field("endedAt", INSTANT),
    field("endedWhy", one_of("ended", "process_gone", "age", "replaced")),
)
_ACCEPTANCE_ID: Final = field("acceptanceId", id_of("acceptance"))
WORKSPACE_ACCEPTED: Final = object_of(
    _ACCEPTANCE_ID,
    field("machineId", MACHINE_ID),
    field("workspace", TEXT),
    field("digest", DIGEST),
    field("files", list_of(object_of(field("path", TEXT), field("hash", DIGEST)), least=1)),
    field("acceptedBy", TEXT),
    field("acceptedAt", INSTANT),
)
WORKSPACE_WITHDRAWN: Final = object_of(
    _ACCEPTANCE_ID, field("withdrawnBy", TEXT), field("withdrawnAt", INSTANT)
)
MACHINE_REGISTERED: Final = object_of(field("machineId", MACHINE_ID), field("hostName", ANY_TEXT))


def _from_first_to_last(part: Mapping[str, Any]) -> None:
    if part["lastSeq"] < part["firstSeq"]:
        refuse("lastSeq", "cannot end before it begins")
    if part["events"] > part["lastSeq"] - part["firstSeq"] + 1:
        refuse("events", "cannot have more events than places")


LEDGER_CHECKPOINT: Final = object_of(
    field("checkpointId", id_of("checkpoint")),
    field("storeId", TEXT),
    field("rootHash", HEX64),
    field("keyId", TEXT),
    field("heads", list_of(object_of(field("writer", TEXT), field("size", whole_from(1))))),
)
LEDGER_ARCHIVED: Final = object_of(
    field("archiveId", id_of("archive")),
    field("digest", DIGEST),
    field("events", whole_from(0)),
    field(
        "writers",
        list_of(
            object_of(
                field("writer", TEXT),
                field("events", whole_from(1)),
                field("firstSeq", whole_from(1)),
                field("lastSeq", whole_from(1)),
                field("root", HEX64),
                across=(_from_first_to_last,),
            )
        ),
    ),
    field("before", INSTANT),
    field("olderThan", TEXT),
)
LEDGER_PURGED: Final = object_of(field("what", TEXT), field("count", whole_from(0)))
LEDGER_REBUILT: Final = object_of(
    field("tables", list_of(TEXT, least=1)), field("events", whole_from(0))
)
