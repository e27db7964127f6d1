"""What the payloads of signing hold: keys that become known and are revoked, plugins signed and accepted."""

from typing import Final

from consentry.record.fieldrules import (
    DIGEST,
    HEX64,
    INSTANT,
    MACHINE_ID,
    TEXT,
    field,
    id_of,
    list_of,
    nullable,
    object_of,
    one_of,
    whole_from,
)

_MEMORY_ID: Final = field("memoryId", id_of("pluginmemory"))
_SIGNER: Final = (field("name", TEXT), field("keyId", HEX64))
_PLUGIN: Final = (field("plugin", TEXT), field("version", TEXT), field("digest", DIGEST))

KEY_TRUSTED: Final = object_of(
    *_SIGNER,
    field("algorithm", one_of("ed25519", "ecdsa-p256")),
    field("how", one_of("made", "accepted", "endorsed", "rotated")),
    nullable("endorsedBy", HEX64),
    nullable("expiresAt", INSTANT),
    field("trustedAt", INSTANT),
)
KEY_REVOKED: Final = object_of(*_SIGNER, field("reason", TEXT), field("revokedAt", INSTANT))
PLUGIN_SIGNED: Final = object_of(
    *_PLUGIN,
    field("keyId", HEX64),
    field("format", one_of("dsse", "oms")),
    field("signedAt", INSTANT),
    nullable("expiresAt", INSTANT),
)
PLUGIN_ACCEPTED: Final = object_of(
    _MEMORY_ID,
    field("machineId", MACHINE_ID),
    field("folder", TEXT),
    *_PLUGIN,
    field("strength", whole_from(1)),
    field("evidence", list_of(one_of("dsse", "oms", "sigstore"), least=1)),
    field("signers", list_of(TEXT, least=1)),
    nullable("signedAt", INSTANT),
    field("acceptedAt", INSTANT),
)
PLUGIN_FORGOTTEN: Final = object_of(
    _MEMORY_ID,
    field("plugin", TEXT),
    field("forgottenBy", TEXT),
    field("forgottenAt", INSTANT),
)
