"""The private key that signs checkpoints: one small file, made on first use, readable by its owner.

    {"algorithm":"ed25519","key_id":"ed25519:…","kind":"ledger-key","schema_version":1,"seed":"<hex>"}

Rules kept:
- The folder is the user's own and has mode 0700, the file has mode 0600; a link, a device, another
  owner or mode, a torn or unknown content, each is refused rather than repaired.
- The file appears whole or not at all and is durable before it is used. Of processes that race to
  be the first, one makes the key and all use it.
- A key that was there is never replaced. Losing it loses nothing that was signed: old checkpoints
  verify with the old public key; a new key has another id.

Not promised: whoever can read the file, root and every unconfined process of the same user among
them, can sign any history. Folders above the one that holds the key are not looked at here. A
process killed while it makes the key may leave a file `.NAME.<hex>.new` behind, closed to others
like the key itself; nothing reads it.
"""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from consentry.base.canonical import Json, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.base.values import dataclass, field
from consentry.record.fields import check_constant, check_hex, parse_document, read_object
from consentry.record.publickey import PublicKey
from consentry.store.secretfile import read_secret, trusted_folder, write_new_secret

SCHEMA_VERSION: Final = 1
KIND: Final = "ledger-key"
ALGORITHM: Final = "ed25519"

_SEED_BYTES = 32
_MOST_BYTES = 1024
_FIELDS = ("schema_version", "kind", "algorithm", "key_id", "seed")


@dataclass(frozen=True, slots=True)
class LedgerKey:
    """A private Ed25519 key in memory, and its public half."""

    public: PublicKey
    seed: bytes = field(repr=False)

    @property
    def key_id(self) -> str:
        """The id that a checkpoint names its key by."""
        return self.public.key_id

    def sign(self, message: bytes) -> bytes:
        """The Ed25519 signature of the message."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 # slow to load
            Ed25519PrivateKey,
        )

        return Ed25519PrivateKey.from_private_bytes(self.seed).sign(message)


def open_key(path: Path) -> LedgerKey:
    """The key in that file, made if there is none; durable when this returns."""
    with trusted_folder(path, _problem) as folder:
        try:
            key = _read(path, folder)
        except FileNotFoundError:
            _make(path, folder)
            key = _read(path, folder)
        # Also where another process made it: that one may not have come this far yet.
        os.fsync(folder)
        return key


def load_key(path: Path) -> LedgerKey:
    """The key in that file; raises when there is none."""
    with trusted_folder(path, _problem) as folder:
        return _read(path, folder)


def _read(path: Path, folder: int) -> LedgerKey:
    content = read_secret(path, folder, _MOST_BYTES, _problem)
    try:
        return _parse(content)
    except BadInput as problem:
        raise _problem(path, f"does not hold a key: {_without_secret(problem)}") from None


def _parse(content: bytes) -> LedgerKey:
    if not content.endswith(b"\n") or len(content) > _MOST_BYTES:
        raise BadInput(Code.LEDGER_KEY, "it is cut off, or too long")
    values = read_object(parse_document(content, Code.LEDGER_KEY), _FIELDS, Code.LEDGER_KEY)
    version = values["schema_version"]
    if isinstance(version, int) and version != SCHEMA_VERSION:
        message = f"it is of version {version}, and this program knows {SCHEMA_VERSION}"
        raise BadInput(Code.LEDGER_KEY, message)
    check_constant("schema_version", version, SCHEMA_VERSION, Code.LEDGER_KEY)
    check_constant("kind", values["kind"], KIND, Code.LEDGER_KEY)
    check_constant("algorithm", values["algorithm"], ALGORITHM, Code.LEDGER_KEY)
    check_hex("seed", values["seed"], Code.LEDGER_KEY, digits=2 * _SEED_BYTES)
    key = _key_of(bytes.fromhex(values["seed"]))
    if key.key_id != values["key_id"]:
        raise BadInput(Code.LEDGER_KEY, "its seed is not that of the key it names")
    return key


def _make(path: Path, folder: int) -> None:
    """Puts a fresh key in place, unless another process was first."""
    with suppress(FileExistsError):
        write_new_secret(path, folder, _content(_key_of(secrets.token_bytes(_SEED_BYTES))))


def _content(key: LedgerKey) -> bytes:
    document: dict[str, Json] = {
        "schema_version": SCHEMA_VERSION,
        "kind": KIND,
        "algorithm": ALGORITHM,
        "key_id": key.key_id,
        "seed": key.seed.hex(),
    }
    return canonical_json(document) + b"\n"


def _key_of(seed: bytes) -> LedgerKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 # slow to load
        Ed25519PrivateKey,
    )

    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return LedgerKey(PublicKey(public), seed)


def _without_secret(problem: BadInput) -> str:
    """What is wrong and with which field; never the value, which may be the seed."""
    place = problem.where.field if problem.where is not None else None
    return f"field `{place}` is not as it should be" if place else problem.message


def _problem(path: Path, what: str) -> LedgerProblem:
    return LedgerProblem(Code.LEDGER_KEY, f"`{path}` {what}")
