"""What the payloads of a module's life in a host hold: imported, used, refused, removed.

The six capability events are the documents' own (`eventfields`). These are the product's: what was
imported at which digest, what was refused at import and why, which capability was used under which
grant, how an action ended, and which mode an operator set. A module's own texts are not repeated: what
cannot be looked up later stands here as a digest.
"""

from collections.abc import Mapping
from typing import Any, Final

from consentry.record.fieldrules import (
    ANY_TEXT,
    BOOLEAN,
    CODE_WORD,
    DIGEST,
    INSTANT,
    OBJECT,
    TEXT,
    field,
    id_of,
    list_of,
    nullable,
    object_of,
    one_of,
    refuse,
    whole_from,
)

MODES: Final = ("deny-all", "inspect-only", "block-rejected", "normal")
ORIGINS: Final = ("interactive", "automation", "background")

_HOST: Final = field("hostId", TEXT)
_MODULE: Final = (
    _HOST,
    field("moduleId", TEXT),
    field("moduleVersion", TEXT),
    field("packageDigest", DIGEST),
)

HOST_REGISTERED: Final = object_of(
    _HOST,
    field("appVersion", TEXT),
    field("digest", DIGEST),
    field("document", OBJECT),
    field("registeredAt", INSTANT),
)
HOST_REMOVED: Final = object_of(
    _HOST,
    field("digest", DIGEST),
    field("removedBy", TEXT),
    field("removedAt", INSTANT),
)


def _whole_replaced(imported: Mapping[str, Any]) -> None:
    if (imported["replacedVersion"] is None) is not (imported["replacedDigest"] is None):
        refuse("replacedDigest", "must name the version and the digest it replaced, or neither")


MODULE_IMPORTED: Final = object_of(
    *_MODULE,
    field("capabilities", list_of(TEXT)),
    field("catalogVersion", TEXT),
    field("hasGraph", BOOLEAN),
    nullable("replacedVersion", TEXT),
    nullable("replacedDigest", DIGEST),
    field("importedBy", TEXT),
    field("importedAt", INSTANT),
    across=(_whole_replaced,),
)
MODULE_IMPORT_REJECTED: Final = object_of(
    _HOST,
    nullable("moduleId", TEXT),
    field("code", CODE_WORD),
    field("path", TEXT),
    field("contentDigest", DIGEST),
)
MODULE_REMOVED: Final = object_of(
    *_MODULE,
    field("removedBy", TEXT),
    field("removedAt", INSTANT),
    field("grants", whole_from(0)),
    field("storedKeys", whole_from(0)),
)
MODULE_MODE_CHANGED: Final = object_of(
    field("mode", one_of(*MODES)),
    field("previous", one_of(*MODES)),
    nullable("reason", ANY_TEXT),
    field("changedBy", TEXT),
    field("changedAt", INSTANT),
)
_ACTION: Final = (
    field("actionRunId", id_of("action")),
    *_MODULE,
    nullable("actionId", TEXT),
    field("origin", one_of(*ORIGINS)),
)
MODULE_CAPABILITY_USED: Final = object_of(
    *_ACTION,
    field("capabilityId", TEXT),
    field("grantId", id_of("grant")),
    field("grantVersion", TEXT),
    field("commands", list_of(TEXT)),
    nullable("transactionId", TEXT),
    nullable("operation", OBJECT),
)
MODULE_ACTION_ENDED: Final = object_of(
    *_ACTION,
    field("outcome", one_of("done", "failed", "rejected")),
    nullable("code", CODE_WORD),
    nullable("detail", OBJECT),
)
