"""The public half of a key that signs plugins: Ed25519, or ECDSA on P-256 as other tools make them.

Its id is the one that TUF and in-toto compute (SHA-256 over the key as canonical JSON), through
securesystemslib; it is long enough to be compared by people as the key's fingerprint. Keys of any
other kind are refused, and so are the few points of Ed25519 under which anybody can sign anything.

A good signature says that somebody had the private half, nothing more: not who, and not when. The
libraries that do the arithmetic are loaded when a key is read, not before.
"""

import hashlib
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
    from securesystemslib.signer import SSlibKey

MOST_PEM: Final = 4096

# Ed25519 counts modulo this; points of these heights are of small order, so no secret belongs to them.
_PRIME: Final = 2**255 - 19
_ORDER_OF_8: Final = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL_ORDER: Final = frozenset({0, 1, _PRIME - 1, _ORDER_OF_8, _PRIME - _ORDER_OF_8})


class Algorithm(StrEnum):
    """What a key signs with; the values are what files and documents say."""

    ED25519 = "ed25519"
    P256 = "ecdsa-p256"


class SignatureRefused(Exception):
    """These bytes were not signed with this key; answered by whoever knows what they are."""


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key; `pem` has one spelling for one key."""

    algorithm: Algorithm
    key_id: str
    pem: str

    @classmethod
    def from_pem(cls, text: str) -> "VerifyingKey":
        """Reads a public key in PEM form, whoever wrote it; a key of another kind is refused."""
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 # slow to load
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 # as above
            load_pem_public_key,
        )

        if len(text) > MOST_PEM:
            raise BadInput(Code.SIGNING_KEY, "this is too long for a public key")
        try:
            found = load_pem_public_key(text.encode("ascii"))
        except (ValueError, UnsupportedAlgorithm):
            raise BadInput(
                Code.SIGNING_KEY, "this is not a public key in PEM form, or of no known kind"
            ) from None
        return cls.of(found)

    @classmethod
    def of(cls, key: "PublicKeyTypes") -> "VerifyingKey":
        """The same key as this product knows it."""
        from cryptography.hazmat.primitives.asymmetric.ec import (  # noqa: PLC0415 # slow to load
            SECP256R1,
            EllipticCurvePublicKey,
        )
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 # as above
            Ed25519PublicKey,
        )
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 # as above
            Encoding,
            PublicFormat,
        )
        from securesystemslib.signer import SSlibKey  # noqa: PLC0415 # as above

        if isinstance(key, Ed25519PublicKey):
            _check_point(key.public_bytes_raw())
            algorithm = Algorithm.ED25519
        elif isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1):
            algorithm = Algorithm.P256
        else:
            raise BadInput(
                Code.SIGNING_KEY, "this key is neither Ed25519 nor ECDSA on P-256, and is not used"
            )
        pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")
        return cls(algorithm, SSlibKey.from_crypto(key).keyid, pem)

    @property
    def hint(self) -> str:
        """How OMS bundles name a key: SHA-256 over its PEM form."""
        return hashlib.sha256(self.pem.encode("ascii")).hexdigest()

    def verify(self, signature: bytes, message: bytes) -> None:
        """Raises `SignatureRefused` unless the private half of this key signed the message."""
        from securesystemslib.exceptions import (  # noqa: PLC0415 # slow to load
            UnverifiedSignatureError,
        )
        from securesystemslib.signer import Signature  # noqa: PLC0415 # as above

        try:
            self._library_key().verify_signature(Signature(self.key_id, signature.hex()), message)
        except UnverifiedSignatureError:
            raise SignatureRefused(self.key_id) from None

    def _library_key(self) -> "SSlibKey":
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 # slow to load
            load_pem_public_key,
        )
        from securesystemslib.signer import SSlibKey  # noqa: PLC0415 # as above

        return SSlibKey.from_crypto(load_pem_public_key(self.pem.encode("ascii")))


def _check_point(raw: bytes) -> None:
    """Raises for a point that is nobody's, and for one that is not written in its one form."""
    height = int.from_bytes(raw, "little") & ((1 << 255) - 1)
    if height >= _PRIME or height in _SMALL_ORDER:
        raise BadInput(Code.SIGNING_KEY, "under this key anybody can sign, and it is not used")


def fingerprint_lines(key_id: str) -> str:
    """The id in groups of eight, for people who compare it with one they were told."""
    return " ".join(key_id[at : at + 8] for at in range(0, len(key_id), 8))
