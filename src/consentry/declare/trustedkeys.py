"""The key list `trusted-keys.json`: which public keys are known, under whose name, and until when.

    {"keysVersion": "1", "keys": [
      {"name": "author", "keyId": "<hex>", "public": "-----BEGIN PUBLIC KEY-----…",
       "madeAt": "…Z", "expiresAt": "…Z", "trustedAt": "…Z", "endorsedBy": "<hex>",
       "revokedAt": "…Z", "revokedWhy": "…"}]}

`expiresAt`, `endorsedBy` and the two about revoking may be absent. It lies in the user's own configuration folder and is never read from a workspace. A name stands for a
signer, who may have several keys, one after the other; a key has one name and is there once. To be in
the list allows nothing: `plugin-policy.yaml` says whose signature counts for which plugin. A revoked
key stays in the list, so that it cannot come back.
"""

import json
import re
from typing import Final

from consentry.base.clock import Instant
from consentry.base.values import dataclass, replace
from consentry.declare.reader import read_document
from consentry.declare.values import Value
from consentry.record.signingkey import VerifyingKey

FILE_NAME: Final = "trusted-keys.json"
KEYS_VERSION: Final = "1"

# A name must not pass for the id of a key, or for the beginning of one.
_SIGNER = re.compile(r"(?![0-9a-f]{8,}\Z)[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}")
_KEY_ID = re.compile(r"[0-9a-f]{64}")
_KEYS: Final = (
    "name",
    "keyId",
    "public",
    "madeAt",
    "expiresAt",
    "trustedAt",
    "endorsedBy",
    "revokedAt",
    "revokedWhy",
)
_EPOCH = Instant(0)


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """One key: whose it is, how long it is good, how it came into the list."""

    name: str
    key: VerifyingKey
    made_at: Instant
    expires_at: Instant | None
    trusted_at: Instant
    endorsed_by: str | None = None
    revoked_at: Instant | None = None
    revoked_why: str | None = None

    @property
    def key_id(self) -> str:
        """The id of the key."""
        return self.key.key_id

    def is_usable(self, now: Instant) -> bool:
        """Whether it is neither revoked nor expired nor of a time that has not come."""
        expired = self.expires_at is not None and now >= self.expires_at
        return self.revoked_at is None and not expired and self.made_at <= now


@dataclass(frozen=True, slots=True)
class KeyList:
    """All keys that are known, in the order they came."""

    keys: tuple[TrustedKey, ...] = ()

    def by_id(self, key_id: str) -> TrustedKey | None:
        """The key with this id."""
        return next((each for each in self.keys if each.key_id == key_id), None)

    def by_hint(self, hint: str) -> TrustedKey | None:
        """The key that a bundle names by this hint."""
        return next((each for each in self.keys if each.key.hint == hint), None)

    def of(self, name: str) -> tuple[TrustedKey, ...]:
        """All keys of one signer."""
        return tuple(each for each in self.keys if each.name == name)

    def with_key(self, added: TrustedKey) -> "KeyList":
        """The list with one more."""
        return KeyList((*self.keys, added))

    def revoked(self, key_id: str, at: Instant, why: str) -> "KeyList":
        """The list in which this key is revoked; one that is revoked stays as it is."""
        return KeyList(
            tuple(
                replace(each, revoked_at=at, revoked_why=why)
                if each.key_id == key_id and each.revoked_at is None
                else each
                for each in self.keys
            )
        )

    def to_bytes(self) -> bytes:
        """The document."""
        rows = [_row(each) for each in self.keys]
        return json.dumps({"keysVersion": KEYS_VERSION, "keys": rows}, indent=2).encode() + b"\n"


def is_signer_name(text: str) -> bool:
    """Whether a signer may be called so."""
    return _SIGNER.fullmatch(text) is not None


def read_key_list(content: bytes, name: str) -> KeyList:
    """Reads the document, or raises `document-invalid` with all that is wrong with it."""
    return read_document(content, name, _document)


def signer_name(value: Value) -> str | None:
    """The name of a signer."""
    return value.matching(
        _SIGNER, "a name for a signer", "use letters, digits and `.`, `_`, `@`, `+`, `-`"
    )


def _document(root: Value) -> KeyList:
    fields = root.fields(("keysVersion", "keys"))
    if fields is None:
        return KeyList()
    fields.need("keysVersion", _version, "")
    return KeyList(tuple(fields.need("keys", _keys, ())))


def _version(value: Value) -> str | None:
    found = value.text()
    if found is not None and found != KEYS_VERSION:
        value.refuse(f"version `{found[:16]}` is not known", f'only "{KEYS_VERSION}" is')
    return found


def _keys(value: Value) -> tuple[TrustedKey, ...] | None:
    items = value.items()
    if items is None:
        return None
    found: dict[str, TrustedKey] = {}
    for each in items:
        key = _key(each)
        if key is None:
            continue
        if key.key_id in found:
            each.refuse("this key is in the list twice", "keep one of the two")
        found[key.key_id] = key
    return tuple(found.values())


def _key(value: Value) -> TrustedKey | None:
    fields = value.fields(_KEYS)
    if fields is None:
        return None
    key = fields.need("public", _public, None)
    said = fields.need("keyId", _key_id, "")
    if key is None:
        return None
    if said != key.key_id:
        value.refuse("`keyId` is not the id of the key in `public`", "trust the key anew")
    if ("revokedAt" in fields.said) != ("revokedWhy" in fields.said):
        value.refuse("a revoked key says when and why", "add what is missing of the two")
    return TrustedKey(
        fields.need("name", signer_name, ""),
        key,
        fields.need("madeAt", _instant, _EPOCH),
        fields.may("expiresAt", _instant, None),
        fields.need("trustedAt", _instant, _EPOCH),
        fields.may("endorsedBy", _key_id, None),
        fields.may("revokedAt", _instant, None),
        fields.may("revokedWhy", Value.text, None),
    )


def _public(value: Value) -> VerifyingKey | None:
    return value.parsed(VerifyingKey.from_pem)


def _key_id(value: Value) -> str | None:
    return value.matching(_KEY_ID, "the id of a key", "it has 64 hexadecimal digits")


def _instant(value: Value) -> Instant | None:
    return value.parsed(Instant.parse)


def _row(key: TrustedKey) -> dict[str, str]:
    row = {
        "name": key.name,
        "keyId": key.key_id,
        "public": key.key.pem,
        "madeAt": str(key.made_at),
        "expiresAt": None if key.expires_at is None else str(key.expires_at),
        "trustedAt": str(key.trusted_at),
        "endorsedBy": key.endorsed_by,
        "revokedAt": None if key.revoked_at is None else str(key.revoked_at),
        "revokedWhy": key.revoked_why,
    }
    return {name: value for name, value in row.items() if value is not None}
