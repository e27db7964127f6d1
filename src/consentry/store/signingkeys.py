"""Private keys that sign plugins: one small file each, in the folder `keys` of the state directory.

    {"algorithm":"ed25519","keyId":"<hex>","kind":"signing-key","keyVersion":"1",
     "sealed":null,"secret":"<hex>"}

With a passphrase, `secret` is sealed: ChaCha20-Poly1305 under a key that scrypt makes from the words,
with the key's id and kind bound to it, and `sealed` holds salt, nonce and scrypt's costs. The files'
discipline is that of `secretfile`. What a key is called and until when it is good stands in the key
list, where everybody who verifies looks.

Not promised: a passphrase protects the file that lies there, not a process that has opened it; and no
count of wrong tries is kept, for whoever has the file can try elsewhere.
"""

import hashlib
import os
import secrets
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from consentry.base.canonical import Json, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.base.values import dataclass, field
from consentry.record.fields import (
    check_constant,
    check_hex,
    check_whole,
    parse_document,
    read_object,
)
from consentry.record.signingkey import Algorithm, VerifyingKey
from consentry.store.secretfile import read_secret, trusted_folder, write_new_secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FOLDER: Final = "keys"
KIND: Final = "signing-key"
KEY_VERSION: Final = "1"
LEAST_CHARACTERS: Final = 8

_SECRET_BYTES: Final = 32
_SALT_BYTES: Final = 16
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_COST_N, _COST_R, _COST_P = 1 << 16, 8, 1
_MOST_COST_N: Final = 1 << 20
_MOST_MEMORY: Final = 3 << 29
_MOST_BYTES: Final = 2048
_FIELDS = ("kind", "keyVersion", "algorithm", "keyId", "secret", "sealed")
_FIELDS_OF_SEAL = ("n", "salt", "nonce")


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key in memory, and its public half."""

    public: VerifyingKey
    secret: bytes = field(repr=False)

    @classmethod
    def make(cls, algorithm: Algorithm) -> "SigningKey":
        """A fresh one."""
        while True:
            try:
                return cls.of(algorithm, secrets.token_bytes(_SECRET_BYTES))
            except ValueError:  # a number that P-256 does not have, once in 2**32
                continue

    @classmethod
    def of(cls, algorithm: Algorithm, secret: bytes) -> "SigningKey":
        """The key that this secret is of."""
        return cls(VerifyingKey.of(_private(algorithm, secret).public_key()), secret)

    def sign(self, message: bytes) -> bytes:
        """The signature of the message."""
        from securesystemslib.signer import CryptoSigner  # noqa: PLC0415 # slow to load

        made = CryptoSigner(_private(self.public.algorithm, self.secret)).sign(message)
        return bytes.fromhex(made.signature)


def save_signing_key(state: Path, key: SigningKey, passphrase: str | None) -> Path:
    """Writes the file of a fresh key, sealed if there is a passphrase; never replaces one."""
    folder = state / FOLDER
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as wrong:
        raise _problem(folder, (wrong.strerror or "cannot be made").lower()) from wrong
    path = _place(state, key.public.key_id)
    with trusted_folder(path, _problem) as opened:
        write_new_secret(path, opened, _content(key, passphrase))
        os.fsync(opened)
    return path


def has_signing_key(state: Path, key_id: str) -> bool:
    """Whether the private half of this key lies here."""
    return os.path.lexists(_place(state, key_id))


def is_sealed(state: Path, key_id: str) -> bool:
    """Whether a passphrase is needed to use it."""
    return _fields(_place(state, key_id))["sealed"] is not None


def load_signing_key(state: Path, key_id: str, passphrase: str | None) -> SigningKey:
    """The key of this id; raises when it is not here, or the words are not those it was sealed with."""
    path = _place(state, key_id)
    fields = _fields(path)
    try:
        algorithm = Algorithm(str(fields["algorithm"]))
        secret = _opened(fields, key_id, passphrase)
        key = SigningKey.of(algorithm, secret)
    except ValueError:
        raise _problem(path, "does not hold a key of a known kind") from None
    if key.public.key_id != key_id:
        raise _problem(path, "holds another key than it says")
    return key


def _fields(path: Path) -> dict[str, Json]:
    with trusted_folder(path, _problem) as folder:
        content = read_secret(path, folder, _MOST_BYTES, _problem)
    try:
        if len(content) > _MOST_BYTES:
            raise BadInput(Code.SIGNING_KEY, "it is too long")
        fields = read_object(parse_document(content, Code.SIGNING_KEY), _FIELDS, Code.SIGNING_KEY)
        check_constant("kind", fields["kind"], KIND, Code.SIGNING_KEY)
        check_constant("keyVersion", fields["keyVersion"], KEY_VERSION, Code.SIGNING_KEY)
        if not isinstance(fields["algorithm"], str):
            raise BadInput(Code.SIGNING_KEY, "it does not say its algorithm")
        sealed = fields["sealed"]
        digits = 2 * (_SECRET_BYTES + (_TAG_BYTES if sealed is not None else 0))
        check_hex("secret", fields["secret"], Code.SIGNING_KEY, digits=digits)
        if sealed is not None:
            _check_seal(read_object(sealed, _FIELDS_OF_SEAL, Code.SIGNING_KEY))
    except BadInput as wrong:
        # Never the value, which may be the secret.
        place = wrong.where.field if wrong.where is not None else None
        said = f"field `{place}` is not as it should be" if place else wrong.message
        raise _problem(path, f"does not hold a key: {said}") from None
    return fields


def _check_seal(seal: dict[str, Json]) -> None:
    check_whole("n", seal["n"], Code.SIGNING_KEY, least=_COST_N)
    if not isinstance(seal["n"], int) or seal["n"] > _MOST_COST_N:
        raise BadInput(Code.SIGNING_KEY, "opening it would take too much memory")
    check_hex("salt", seal["salt"], Code.SIGNING_KEY, digits=2 * _SALT_BYTES)
    check_hex("nonce", seal["nonce"], Code.SIGNING_KEY, digits=2 * _NONCE_BYTES)


def _content(key: SigningKey, passphrase: str | None) -> bytes:
    secret, sealed = key.secret, None
    if passphrase is not None:
        secret, sealed = _sealed(key, passphrase)
    document: dict[str, Json] = {
        "kind": KIND,
        "keyVersion": KEY_VERSION,
        "algorithm": key.public.algorithm,
        "keyId": key.public.key_id,
        "secret": secret.hex(),
        "sealed": sealed,
    }
    return canonical_json(document) + b"\n"


def _sealed(key: SigningKey, passphrase: str) -> tuple[bytes, dict[str, Json]]:
    from cryptography.hazmat.primitives.ciphers.aead import (  # noqa: PLC0415 # slow to load
        ChaCha20Poly1305,
    )

    if len(_plain(passphrase)) < LEAST_CHARACTERS:
        raise Refused(
            Code.PASSPHRASE_REFUSED, f"a passphrase has at least {LEAST_CHARACTERS} characters"
        )
    salt, nonce = secrets.token_bytes(_SALT_BYTES), secrets.token_bytes(_NONCE_BYTES)
    words = _stretched(passphrase, salt, _COST_N)
    bound = _bound(key.public.algorithm, key.public.key_id)
    secret = ChaCha20Poly1305(words).encrypt(nonce, key.secret, bound)
    return secret, {"n": _COST_N, "salt": salt.hex(), "nonce": nonce.hex()}


def _opened(fields: dict[str, Json], key_id: str, passphrase: str | None) -> bytes:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 # slow to load
    from cryptography.hazmat.primitives.ciphers.aead import (  # noqa: PLC0415 # as above
        ChaCha20Poly1305,
    )

    secret, seal = bytes.fromhex(str(fields["secret"])), fields["sealed"]
    if not isinstance(seal, dict):
        return secret
    if passphrase is None:
        raise Refused(Code.PASSPHRASE_REFUSED, "this key needs its passphrase")
    words = _stretched(passphrase, bytes.fromhex(seal["salt"]), int(seal["n"]))
    nonce = bytes.fromhex(seal["nonce"])
    try:
        return ChaCha20Poly1305(words).decrypt(
            nonce, secret, _bound(str(fields["algorithm"]), key_id)
        )
    except InvalidTag:
        raise Refused(Code.PASSPHRASE_REFUSED, "the passphrase of this key is wrong") from None


def _stretched(passphrase: str, salt: bytes, cost: int) -> bytes:
    return hashlib.scrypt(
        _plain(passphrase).encode("utf-8", "surrogatepass"),
        salt=salt,
        n=cost,
        r=_COST_R,
        p=_COST_P,
        maxmem=_MOST_MEMORY,
        dklen=32,
    )


def _plain(words: str) -> str:
    """The same letters typed on another keyboard are the same words."""
    return unicodedata.normalize("NFC", words)


def _bound(algorithm: str, key_id: str) -> bytes:
    return f"{KIND}:{KEY_VERSION}:{algorithm}:{key_id}".encode()


def _private(algorithm: Algorithm, secret: bytes) -> "Ed25519PrivateKey | EllipticCurvePrivateKey":
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415 # slow to load
        ec,
        ed25519,
    )

    if algorithm is Algorithm.ED25519:
        return ed25519.Ed25519PrivateKey.from_private_bytes(secret)
    return ec.derive_private_key(int.from_bytes(secret, "big"), ec.SECP256R1())


def _place(state: Path, key_id: str) -> Path:
    return state / FOLDER / f"{key_id}.json"


def _problem(path: Path, what: str) -> Refused:
    return Refused(Code.SIGNING_KEY, f"`{path}` {what}")
