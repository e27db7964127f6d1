"""The two halves of a signing key as the record knows them: a verifier, and something that signs.

`PublicKey` verifies Ed25519 signatures and is written as PEM, so that other programs can verify
them too. `Signer` is whatever holds the private half; where it is kept is not the record's affair.

A good signature says that somebody had the private key, nothing more: not who, not when, and not
that the same key has not signed something that contradicts it. The library that does the arithmetic
is loaded when a signature is checked, not before.
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from typing import Final, Protocol

from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.base.values import dataclass

KEY_ID_PREFIX: Final = "ed25519:"
KEY_ID_DIGITS: Final = 16
SIGNATURE_BYTES: Final = 64
_RAW_BYTES = 32

# What stands before the 32 bytes in a SubjectPublicKeyInfo of an Ed25519 key (RFC 8410).
_DER_HEAD = bytes.fromhex("302a300506032b6570032100")
_PEM = re.compile(
    r"\s*-----BEGIN PUBLIC KEY-----\s*([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----\s*", re.ASCII
)


class Signer(Protocol):
    """Whatever can sign: a key in a file, in memory, or in a device."""

    @property
    def key_id(self) -> str:
        """The id of the key, as `PublicKey.key_id` computes it."""
        ...

    def sign(self, message: bytes) -> bytes:
        """The Ed25519 signature of the message, 64 bytes."""
        ...


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An Ed25519 public key."""

    raw: bytes

    def __post_init__(self) -> None:
        if len(self.raw) != _RAW_BYTES:
            raise BadInput(Code.CHECKPOINT, f"a public key has {_RAW_BYTES} bytes")

    @property
    def key_id(self) -> str:
        """A short name for the key; it finds the key to check with, and proves nothing by itself."""
        return KEY_ID_PREFIX + hashlib.sha256(self.raw).hexdigest()[:KEY_ID_DIGITS]

    def verify(self, signature: bytes, message: bytes) -> None:
        """Raises unless the private half of this key signed the message."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 # slow to load
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 # slow to load
            Ed25519PublicKey,
        )

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except (InvalidSignature, ValueError):
            message_text = f"this was not signed with the key `{self.key_id}`"
            raise LedgerProblem(Code.CHECKPOINT, message_text) from None

    def to_pem(self) -> str:
        """The key as other programs read it (`openssl pkey -pubin`)."""
        body = base64.b64encode(_DER_HEAD + self.raw).decode("ascii")
        return f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n"

    @classmethod
    def from_pem(cls, text: str) -> "PublicKey":
        """Reads what `to_pem` and other programs write; a key of another kind is refused."""
        found = _PEM.fullmatch(text)
        problem = BadInput(Code.CHECKPOINT, "this is not an Ed25519 public key in PEM form")
        if found is None:
            raise problem
        try:
            der = base64.b64decode("".join(found.group(1).split()), validate=True)
        except ValueError:
            raise problem from None
        if not der.startswith(_DER_HEAD) or len(der) != len(_DER_HEAD) + _RAW_BYTES:
            raise problem
        return cls(der.removeprefix(_DER_HEAD))


def verify_with_trusted(
    key_id: str, signature: bytes, message: bytes, trusted: PublicKey | Iterable[PublicKey]
) -> None:
    """Raises unless a trusted key of that id signed the message; no trusted key trusts nothing."""
    keys = (trusted,) if isinstance(trusted, PublicKey) else tuple(trusted)
    candidates = [key for key in keys if key.key_id == key_id]
    if not candidates:
        raise LedgerProblem(Code.CHECKPOINT, f"the key `{key_id}` is not a trusted one")
    # Two keys may share an id, which is short; the first that fits decides.
    for key in candidates[:-1]:
        try:
            key.verify(signature, message)
        except LedgerProblem:
            continue
        return
    candidates[-1].verify(signature, message)
