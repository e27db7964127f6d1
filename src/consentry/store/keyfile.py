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
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from consentry.base.canonical import Json, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.base.values import dataclass, field
from consentry.record.fields import check_constant, check_hex, parse_document, read_object
from consentry.record.publickey import PublicKey

SCHEMA_VERSION: Final = 1
KIND: Final = "ledger-key"
ALGORITHM: Final = "ed25519"

_SEED_BYTES = 32
_MOST_BYTES = 1024
_FILE_MODE = 0o600
_FOLDER_MODE = 0o700
_PERMISSIONS = 0o777
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
    with _trusted_folder(path) as folder:
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
    with _trusted_folder(path) as folder:
        return _read(path, folder)


@contextmanager
def _trusted_folder(path: Path) -> Iterator[int]:
    """A descriptor of the folder; what the system refuses within becomes the one error."""
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = os.fstat(folder)
            if found.st_uid != os.geteuid():
                raise _problem(path.parent, f"belongs to user {found.st_uid}")
            if found.st_mode & _PERMISSIONS != _FOLDER_MODE:
                raise _problem(
                    path.parent, f"has mode {found.st_mode & _PERMISSIONS:04o}, not 0700"
                )
            yield folder
        finally:
            os.close(folder)
    except OSError as problem:
        raise _problem(path, f"cannot be used: {(problem.strerror or '').lower()}") from problem


def _read(path: Path, folder: int) -> LedgerKey:
    # O_NONBLOCK: a pipe without a writer would hold us for ever.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    if stat.S_ISLNK(os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise _problem(path, "is a link")
    descriptor = os.open(path.name, flags, dir_fd=folder)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _problem(path, "is not a plain file")
        if found.st_uid != os.geteuid():
            raise _problem(path, f"belongs to user {found.st_uid}")
        if stat.S_IMODE(found.st_mode) != _FILE_MODE:
            raise _problem(path, f"has mode {stat.S_IMODE(found.st_mode):04o}, not 0600")
        content = os.read(descriptor, _MOST_BYTES + 1)
    finally:
        os.close(descriptor)
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
    key = _key_of(secrets.token_bytes(_SEED_BYTES))
    fresh = f".{path.name}.{secrets.token_hex(8)}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(fresh, flags, _FILE_MODE, dir_fd=folder)
    try:
        try:
            os.fchmod(descriptor, _FILE_MODE)  # whatever the umask took away
            _write(descriptor, _content(key))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        # A link appears whole or not at all, and never replaces.
        os.link(fresh, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        pass
    finally:
        os.unlink(fresh, dir_fd=folder)


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


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
