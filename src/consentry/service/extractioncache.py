"""What files gave when they were read before, by their content and by everything that reads them.

An entry is found under the SHA-256 of the content's digest, the kind of file, the digest of the
knowledge tables, our version and code, and Python's minor version: nothing is ever out of date. It
carries a MAC under a key of this user's, kept in the state directory: whoever may write the cache and
has not the key can delete entries, and cannot make one that hides a power.

Not stopped: a process of the same user that reads the key file, and root. What does not match, in form
or MAC, is as if it were not there; a full disk, a locked or an unreadable cache only costs time.

One file for each set of tables (`<generation>.entries`), only ever added to, under a lock and whole
records at a time; a record that was cut off is cut away by the next who adds. When a file is full it
becomes `.older`, and the one before it goes; of other generations the newest two files stay.
"""

import fcntl
import hashlib
import hmac
import os
import secrets
import stat
import struct
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NewType

import consentry
from consentry import examine
from consentry.examine.atoms import Extraction
from consentry.service.extractioncodec import FORM, decode_extraction

EntryKey = NewType("EntryKey", bytes)

MOST_FILE: Final = 32 << 20
MOST_OTHERS: Final = 2
MOST_ENTRY: Final = 4 << 20

_ENTRIES: Final = ".entries"
_OLDER: Final = ".older"
_HEAD: Final = struct.Struct("<I32s32s")
_KEY_BYTES: Final = 32
_FLUSH_BYTES: Final = 8 << 20
_FOR_OTHERS: Final = 0o077
_TRIES: Final = 5
_PAUSE: Final = 0.02
_OPEN: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ExtractionCache:
    """The kept extractions of one user for one set of tables.

    `folder` is made when the first entry is written; `key_file` lies in a folder that exists. With
    either missing or not this user's alone, nothing is found and nothing kept.
    """

    def __init__(self, folder: Path | None, key_file: Path | None, knowledge: str) -> None:
        """`knowledge` is the digest of the tables that extraction reads."""
        self._folder = folder
        self._secret = None if folder is None or key_file is None else _secret_in(key_file)
        about = (FORM, knowledge, consentry.__version__, sys.version_info[:2], _our_code())
        self._about = hashlib.sha256(repr(about).encode()).digest()
        self._name = self._about.hex()[:32] + _ENTRIES
        self._content: dict[EntryKey, bytes] | None = None
        self._fresh: dict[EntryKey, bytes] = {}
        self._fresh_bytes = 0

    def key_of(self, kind: str, content: bytes) -> EntryKey:
        """Where the extraction of this content, read as this kind of file, is kept."""
        summed = hashlib.sha256(self._about + hashlib.sha256(content).digest())
        summed.update(kind.encode("utf-8", "surrogateescape"))
        return EntryKey(summed.digest())

    def find(self, key: EntryKey) -> Extraction | None:
        """The extraction that is kept there, or None."""
        if self._secret is None:
            return None
        if self._content is None:
            self._content = self._loaded()
        record = self._content.get(key)
        if record is None:
            return None
        payload = record[_HEAD.size :]
        if not hmac.compare_digest(record[_HEAD.size - 32 : _HEAD.size], self._mac(key, payload)):
            return None
        return decode_extraction(payload)

    def keep(self, key: EntryKey, encoded: bytes) -> None:
        """Keeps an extraction as `encode_extraction` made it; it is on disk after `flush`."""
        if self._secret is None or len(encoded) > MOST_ENTRY:
            return
        record = _HEAD.pack(len(encoded), key, self._mac(key, encoded)) + encoded
        self._fresh[key] = record
        self._fresh_bytes += len(record)
        if self._fresh_bytes > _FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Writes what is new; what cannot be written is let go."""
        fresh, self._fresh, self._fresh_bytes = self._fresh, {}, 0
        if not fresh or self._folder is None:
            return
        if self._content is not None:
            self._content |= fresh
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = _opened_folder(self._folder)
            try:
                _add(folder, self._name, fresh.values())
            finally:
                os.close(folder)

    def _mac(self, key: EntryKey, payload: bytes) -> bytes:
        return hmac.digest(self._secret or b"", key + payload, "sha256")

    def _loaded(self) -> dict[EntryKey, bytes]:
        found: dict[EntryKey, bytes] = {}
        if self._folder is not None:
            with suppress(OSError):
                folder = _opened_folder(self._folder)
                try:
                    for name in (self._name + _OLDER, self._name):
                        found |= _records(_read(folder, name))[0]
                finally:
                    os.close(folder)
        return found


def _records(content: bytes) -> tuple[dict[EntryKey, bytes], int]:
    """The records of a file by their keys, and where the last whole one ends."""
    found: dict[EntryKey, bytes] = {}
    at, size = 0, len(content)
    while at + _HEAD.size <= size:
        length, key, _ = _HEAD.unpack_from(content, at)
        end = at + _HEAD.size + length
        if length > MOST_ENTRY or end > size:
            break
        found[key] = content[at:end]
        at = end
    return found, at


def _read(folder: int, name: str) -> bytes:
    try:
        descriptor = os.open(name, os.O_RDONLY | _OPEN, dir_fd=folder)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as handle:
        if not _is_ours(os.fstat(descriptor), stat.S_IFREG):
            return b""
        return handle.read(2 * MOST_FILE)


def _add(folder: int, name: str, records: Iterable[bytes]) -> None:
    """Adds whole records under the file's lock; raises `OSError` where that cannot be done."""
    whole = b"".join(records)
    descriptor = _locked(folder, name)
    size = os.fstat(descriptor).st_size
    if size + len(whole) > MOST_FILE and size:
        try:
            os.rename(name, name + _OLDER, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            os.close(descriptor)
        descriptor = _locked(folder, name)
        size = 0
    try:
        if size == 0:
            _make_room(folder, name)
        end = _records(os.pread(descriptor, 2 * MOST_FILE, 0))[1]
        try:
            os.ftruncate(descriptor, end)
            written = 0
            while written < len(whole):
                written += os.pwrite(descriptor, whole[written:], end + written)
        except OSError:
            os.ftruncate(descriptor, end)
            raise
    finally:
        os.close(descriptor)


def _locked(folder: int, name: str) -> int:
    """The file, open for writing and ours alone for as long as it is open."""
    for _ in range(_TRIES):
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | _OPEN, 0o600, dir_fd=folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.fstat(descriptor)
            if not _is_ours(found, stat.S_IFREG):
                raise PermissionError(name)
            # Another process may have put it aside before we had the lock.
            now = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if os.path.samestat(found, now):
                return descriptor
        except (BlockingIOError, FileNotFoundError):
            time.sleep(_PAUSE)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise BlockingIOError(name)


def _make_room(folder: int, name: str) -> None:
    """Removes what other tables left, but for the newest."""
    others: list[tuple[int, str]] = []
    for each in os.listdir(folder):
        if _ENTRIES in each and not each.startswith(name):
            with suppress(OSError):
                others.append((os.stat(each, dir_fd=folder).st_mtime_ns, each))
    for _, each in sorted(others, reverse=True)[MOST_OTHERS:]:
        with suppress(OSError):
            os.unlink(each, dir_fd=folder)


def _opened_folder(path: Path) -> int:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not _is_ours(os.fstat(folder), stat.S_IFDIR):
        os.close(folder)
        raise PermissionError(path)
    return folder


def _is_ours(found: os.stat_result, kind: int) -> bool:
    """Of that kind, this user's, and closed to everybody else."""
    is_closed = not found.st_mode & _FOR_OTHERS
    return stat.S_IFMT(found.st_mode) == kind and found.st_uid == os.geteuid() and is_closed


def _secret_in(path: Path) -> bytes | None:
    """The key in that file, made if there is none; None where it is not to be trusted."""
    try:
        return _read_secret(path)
    except FileNotFoundError:
        pass
    except OSError:
        return None
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(secrets.token_bytes(_KEY_BYTES))
        # A link appears whole or not at all, and never replaces.
        with suppress(FileExistsError):
            path.hardlink_to(fresh)
        return _read_secret(path)
    except OSError:
        return None
    finally:
        with suppress(OSError):
            fresh.unlink()


def _read_secret(path: Path) -> bytes | None:
    with os.fdopen(os.open(path, os.O_RDONLY | _OPEN), "rb") as handle:
        content = handle.read(_KEY_BYTES + 1)
        is_sound = _is_ours(os.fstat(handle.fileno()), stat.S_IFREG) and len(content) == _KEY_BYTES
    return content if is_sound else None


def _our_code() -> list[tuple[str, int, int]]:
    """The files that say what a content gives, as they are now."""
    found: list[tuple[str, int, int]] = []
    for top, _, names in os.walk(examine.__path__[0]):
        for name in names:
            if name.endswith((".py", ".table")):
                status = os.stat(f"{top}/{name}")  # noqa: PTH116 - on the way to every run
                found.append((name, status.st_size, status.st_mtime_ns))
    return sorted(found)
