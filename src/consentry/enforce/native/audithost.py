"""The host's audit settings: read, turned on for a run that asks for it, and put back.

Audit is one switch for the whole host. Nothing here is done unless a run asks for attested denials.
Several runs share the switch: what was found is kept in a file that lives until the next boot, the
last one to leave puts it back, and after a run that was killed the next one does. Where audit is on
already, or a daemon of the host uses it, nothing is changed.

What cannot be put back: processes that are started once audit was ever on are looked at by the
kernel a little longer at every call, until the next boot; and without a daemon the kernel prints the
records, with the names in them, to its log.
"""

import errno
import fcntl
import json
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.engine import Control, Held, Lacking
from consentry.enforce.native.landlockaudit import NETLINK_AUDIT, Watch, new_mark, opened_reader
from consentry.enforce.ownership import ROOT_UID
from consentry.surface.modes import Denials

FIRST_ABI_WITH_RECORDS: Final = 7
PLACE: Final = Path("/run/consentry-audit")

_GET, _SET = 1000, 1001
_REQUEST_AND_ACKNOWLEDGE: Final = 1 | 4
_ERROR: Final = 2
_HEADER: Final = struct.Struct("=IHHII")
_STATUS: Final = struct.Struct("=8I")
_SETTING: Final = struct.Struct("=10I")
_ENABLED, _BACKLOG = 0x01, 0x10
_ROOM: Final = 16384
_PATIENCE: Final = 5.0


@dataclass(frozen=True, slots=True)
class AuditState:
    """What the kernel says of audit: whether it is on, its room for records, and who collects."""

    enabled: int
    daemon: int
    room: int


def read_state() -> AuditState:
    """As it is now; raises `OSError` where it may not be asked."""
    answer = _asked(_GET, b"")
    _, enabled, _, daemon, _, room, _, _ = _STATUS.unpack_from(answer)
    return AuditState(enabled, daemon, room)


def why_not_attested(uid: int, abi: int) -> str | None:
    """Why no denial can be attested here, in the kernel's own words; None where it can."""
    if abi < FIRST_ABI_WITH_RECORDS:
        return (
            f"Landlock of this kernel (ABI {abi}) writes no audit records; ABI 7 does (Linux 6.15)"
        )
    if uid != ROOT_UID:
        return "the kernel gives its audit records to root only"
    try:
        read_state()
        opened_reader().close()
    except OSError as problem:
        return f"the audit records cannot be read here: {(problem.strerror or 'failed').lower()}"
    return None


def attested_here(uid: int, abi: int) -> Held | Lacking:
    """Whether denials can be attested, for a run that asks for it."""
    why = why_not_attested(uid, abi)
    if why is not None:
        return Lacking(Control.DENIALS, why, "nothing: denials are observed, which needs no root")
    state = "is on here" if read_state().enabled else "is off here, and on while such a run lasts"
    return Held(Control.DENIALS, f"Landlock's audit records; the host's audit {state}")


class AuditOn:
    """Audit is on while this is held; raises `OSError` where it cannot be."""

    def __init__(self, place: Path = PLACE) -> None:
        self._place = place
        self._users = _opened(place.with_name(f"{place.name}.users"))
        try:
            with self._alone() as note:
                fcntl.flock(self._users, fcntl.LOCK_SH)
                found = read_state()
                if found.enabled == 0:
                    if not _content(note):
                        _keep(note, found)
                    _set(_BACKLOG, room=max(found.room, _ROOM))
                    _set(_ENABLED, enabled=1)
        except OSError:
            os.close(self._users)
            raise

    def close(self) -> None:
        """Puts back what was found, if nobody else needs it any more."""
        with self._alone() as note:
            os.close(self._users)
            users = _opened(self._place.with_name(f"{self._place.name}.users"))
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _put_back(note)
            except BlockingIOError:
                return
            finally:
                os.close(users)

    @contextmanager
    def _alone(self) -> Iterator[int]:
        note = _opened(self._place)
        try:
            fcntl.flock(note, fcntl.LOCK_EX)
            yield note
        finally:
            os.close(note)


@contextmanager
def attestation(denials: Denials) -> Iterator[Watch | None]:
    """Audit on, and somebody reading, where a run asks for attested denials; else None."""
    if denials is Denials.OBSERVED:
        yield None
        return
    try:
        audit = AuditOn()
    except OSError as problem:
        raise _not_readable(problem) from problem
    try:
        watch = _watching()
        try:
            yield watch
        finally:
            watch.close()
    finally:
        audit.close()


def _watching() -> Watch:
    try:
        return Watch(new_mark())
    except OSError as problem:
        raise _not_readable(problem) from problem


def _not_readable(problem: OSError) -> Refused:
    said = (problem.strerror or "failed").lower()
    return Refused(
        Code.NOT_ENFORCEABLE,
        f"denials cannot be attested: the audit records cannot be read: {said}",
        help_line="leave out --attest; denials are then observed",
    )


def _put_back(note: int) -> None:
    kept = _content(note)
    if kept and read_state().daemon == 0:
        _set(_ENABLED, enabled=kept["enabled"])
        _set(_BACKLOG, room=kept["room"])
    os.ftruncate(note, 0)


def _keep(note: int, found: AuditState) -> None:
    os.pwrite(note, json.dumps({"enabled": found.enabled, "room": found.room}).encode(), 0)


def _content(note: int) -> dict[str, int]:
    written = os.pread(note, 4096, 0)
    return dict(json.loads(written)) if written else {}


def _opened(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def _set(mask: int, *, enabled: int = 0, room: int = 0) -> None:
    _asked(_SET, _SETTING.pack(mask, enabled, 0, 0, 0, room, 0, 0, 0, 0))


def _asked(kind: int, body: bytes) -> bytes:
    """The answer to a request, after it was acknowledged; raises what the kernel says instead."""
    family, how = socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC
    with socket.socket(family, how, NETLINK_AUDIT) as asking:
        asking.settimeout(_PATIENCE)
        head = _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST_AND_ACKNOWLEDGE, 1, 0)
        asking.sendto(head + body, (0, 0))
        is_acknowledged, answer = False, b""
        while not is_acknowledged or (kind == _GET and not answer):
            message = asking.recv(1 << 16)
            _, said, _, _, _ = _HEADER.unpack_from(message)
            if said == _ERROR:
                number = -int.from_bytes(message[16:20], "little", signed=True)
                if number:
                    raise OSError(number, os.strerror(number), "audit")
                is_acknowledged = True
            else:
                answer = message[_HEADER.size :]
        if kind == _GET and len(answer) < _STATUS.size:
            raise OSError(errno.EPROTO, os.strerror(errno.EPROTO), "audit")
        return answer
