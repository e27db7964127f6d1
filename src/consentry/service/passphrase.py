"""The approval passphrase: something a person knows and a program of the same user does not.

It is kept as an scrypt record in the state directory, mode 0600. A wrong one is counted before it is
looked at, so that many tries at once are all counted; from the third on each makes the next wait
longer, up to five minutes. The right one sets the count back.

Once there is one it is asked for with every yes, whatever the settings of the environment at hand say.

What it closes: a program that can run our commands and even give them a terminal of its own, but does
not know the words, answers nothing. What it does not: a program that may write the state directory
can put another record there, remove it, or write the store itself.
"""

import fcntl
import hashlib
import hmac
import json
import os
import secrets
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.base.units import Duration
from consentry.base.values import dataclass, replace
from consentry.decide.fields import Fields, as_json, problem

FILE_NAME: Final = "approval-passphrase.json"
LEAST_CHARACTERS: Final = 8

_VERSION: Final = 1
_FIELDS: Final = ("version", "n", "r", "p", "salt", "hash", "wrong", "lastWrong")
_COST_N, _COST_R, _COST_P = 1 << 15, 8, 1
_MOST_MEMORY: Final = 128 << 20
_SALT_BYTES: Final = 16
_HASH_BYTES: Final = 32
_MODE: Final = 0o600
_MOST_BYTES: Final = 4096
_FREE_TRIES: Final = 2
_LONGEST_WAIT_S: Final = 300


@dataclass(frozen=True, slots=True)
class _Record:
    """What is kept: how the words are hashed, the hash, and how often they were wrong since."""

    salt: bytes
    hash: bytes
    n: int = _COST_N
    r: int = _COST_R
    p: int = _COST_P
    wrong: int = 0
    last_wrong: Instant | None = None

    @classmethod
    def of(cls, words: str) -> "_Record":
        salt = secrets.token_bytes(_SALT_BYTES)
        return cls(salt, _hashed(words, salt, _COST_N, _COST_R, _COST_P))

    def fits(self, words: str) -> bool:
        return hmac.compare_digest(_hashed(words, self.salt, self.n, self.r, self.p), self.hash)

    @property
    def open_again(self) -> Instant | None:
        """When the next try counts; None where it does at once."""
        if self.last_wrong is None or self.wrong <= _FREE_TRIES:
            return None
        seconds = min(1 << min(self.wrong - _FREE_TRIES, 16), _LONGEST_WAIT_S)
        return self.last_wrong.plus(Duration(1000 * seconds))

    def content(self) -> bytes:
        document = {
            "version": _VERSION,
            "n": self.n,
            "r": self.r,
            "p": self.p,
            "salt": self.salt.hex(),
            "hash": self.hash.hex(),
            "wrong": self.wrong,
            "lastWrong": as_json(self.last_wrong),
        }
        return json.dumps(document).encode() + b"\n"

    @classmethod
    def read(cls, content: bytes) -> "_Record":
        fields = Fields(json.loads(content), _FIELDS)
        if fields.whole("version") != _VERSION:
            raise problem("version", "another version wrote this")
        return cls(
            bytes.fromhex(fields.text("salt")),
            bytes.fromhex(fields.text("hash")),
            fields.whole("n"),
            fields.whole("r"),
            fields.whole("p"),
            fields.whole("wrong"),
            fields.optional_instant("lastWrong"),
        )


@dataclass(frozen=True, slots=True)
class Passphrase:
    """The passphrase of one state directory."""

    state: Path
    clock: Clock

    @property
    def path(self) -> Path:
        """Where it is kept."""
        return self.state / FILE_NAME

    @property
    def is_set(self) -> bool:
        """Whether there is one, readable or not."""
        return os.path.lexists(self.path)

    def set(self, words: str, before: str | None) -> None:
        """Sets the first one, or another one for whoever knows the one before."""
        if len(_plain(words)) < LEAST_CHARACTERS:
            message = f"a passphrase has at least {LEAST_CHARACTERS} characters"
            raise Refused(Code.PASSPHRASE_REFUSED, message, help_line="choose a longer one")
        if self.is_set:
            self.check(before or "")
        with self._locked():
            self._write(_Record.of(words))

    def remove(self, words: str) -> None:
        """Removes it, for whoever knows it; from then on only the settings can ask for one."""
        self.check(words)
        with self._locked(), suppress(FileNotFoundError):
            self.path.unlink()

    def check(self, words: str) -> None:
        """Raises unless these are the words; what is wrong is counted."""
        with self._locked():
            record = self._read()
            now, again = self.clock.now(), record.open_again
            if again is not None and now < again:
                wait = again.since(now).in_seconds()
                message = (
                    f"{record.wrong} passphrases in a row were wrong; the next is read in {wait}"
                )
                raise Refused(Code.PASSPHRASE_REFUSED, message)
            # Counted before it is looked at: killing us at the right moment saves no try.
            self._write(replace(record, wrong=record.wrong + 1, last_wrong=now))
            if not record.fits(words):
                raise Refused(Code.PASSPHRASE_REFUSED, "the passphrase is wrong")
            self._write(replace(record, wrong=0, last_wrong=None))

    def _read(self) -> _Record:
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(self.path, flags)
            try:
                self._require_own(os.fstat(descriptor))
                content = os.read(descriptor, _MOST_BYTES + 1)
            finally:
                os.close(descriptor)
            return _Record.read(content)
        except FileNotFoundError:
            message = "a passphrase is asked for, and none is set"
            raise Refused(Code.PASSPHRASE_UNUSABLE, message) from None
        except OSError as wrong:
            raise self._unusable((wrong.strerror or "").lower()) from wrong
        except (BadInput, ValueError):
            raise self._unusable("it does not hold a passphrase's record") from None

    def _require_own(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise self._unusable("it is no file of yours")
        if stat.S_IMODE(found.st_mode) != _MODE:
            raise self._unusable(f"its mode is {stat.S_IMODE(found.st_mode):04o}, not 0600")

    def _write(self, record: _Record) -> None:
        fresh = self.state / f".{FILE_NAME}.{secrets.token_hex(8)}.new"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(fresh, flags, _MODE)
            try:
                os.write(descriptor, record.content())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            fresh.replace(self.path)
        except OSError as wrong:
            with suppress(OSError):
                fresh.unlink()
            raise self._unusable((wrong.strerror or "").lower()) from wrong

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One at a time; a try that waits here is counted like any other."""
        name = self.state / f".{FILE_NAME}.lock"
        try:
            lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, _MODE)
        except OSError as wrong:
            raise self._unusable((wrong.strerror or "").lower()) from wrong
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _unusable(self, why: str) -> Refused:
        return Refused(Code.PASSPHRASE_UNUSABLE, f"`{self.path}`: {why}")


def _hashed(words: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(
        _plain(words).encode("utf-8", "surrogatepass"),
        salt=salt,
        n=n,
        r=r,
        p=p,
        maxmem=_MOST_MEMORY,
        dklen=_HASH_BYTES,
    )


def _plain(words: str) -> str:
    """The same letters typed on another keyboard are the same words."""
    return unicodedata.normalize("NFC", words)
