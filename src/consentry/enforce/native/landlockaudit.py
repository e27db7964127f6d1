"""Landlock's own word for what it refused: the kernel's audit records, read while a run lasts.

The kernel writes one record for each refusal (which rights, which object) and two for each domain:
one that names the process that restricted itself, written with the first refusal, and one at its end
with the number of refusals in all. A run is found among them by a mark that its first process bears
as its name when it restricts itself, and that no program ever sees; it knocks once where it may not
enter, so that the kernel writes about every run, also about one in which nothing was refused.

The list is complete when as many records came as the kernel counted. Reading them needs root, and
audit to be on, which is the host's business: `audithost` turns it on for those who ask for that.
"""

import errno
import os
import select
import socket
import threading
from collections import Counter
from collections.abc import Mapping
from typing import Final

from consentry.base.values import dataclass, field

NETLINK_AUDIT: Final = 9
REFUSAL, DOMAIN = 1423, 1424
KNOCKED_AT: Final = "/"

_READ_LOG: Final = 1
_RECEIVE_BUFFER_BY_FORCE: Final = 33
_BUFFER_BYTES: Final = 64 << 20
_HEADER: Final = 16
_MOST_MESSAGE: Final = 1 << 16
_MOST_KINDS: Final = 50_000
_PATIENCE: Final = 10.0
_MARK_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Refusal:
    """What was refused: the rights that were missing, and the object, by its name in the box."""

    blockers: tuple[str, ...]
    target: str


@dataclass(frozen=True, slots=True)
class Attested:
    """The refusals of one run, each with how often; `why` says what is missing where some are."""

    refusals: Mapping[Refusal, int]
    why: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether these are all that the kernel counted."""
        return self.why is None


def new_mark() -> str:
    """A name for the process that restricts itself, which fits and is nobody else's."""
    return f"cs-{os.urandom(_MARK_DIGITS).hex()}"


def fields_of(record: bytes) -> dict[str, str]:
    """The fields of a record; text that is not plain is spelled in hexadecimal by the kernel."""
    found: dict[str, str] = {}
    for word in record.rstrip(b"\0").split(b" "):
        name, is_field, value = word.partition(b"=")
        if is_field:
            found[name.decode("ascii", "replace")] = _value(name, value)
    return found


def refusal_of(fields: Mapping[str, str]) -> Refusal:
    """What one record says was refused."""
    blockers = tuple(fields.get("blockers", "").split(","))
    if "daddr" in fields or "dest" in fields:
        target = _address(fields.get("daddr", ""), fields.get("dest", ""))
    elif "saddr" in fields or "src" in fields:
        target = _address(fields.get("saddr", ""), fields.get("src", ""))
    elif "opid" in fields:
        target = f"process {fields['opid']}"
    else:
        target = fields.get("path", "")
        if "scope.abstract_unix_socket" in blockers:
            target = f"unix:@{target.lstrip(chr(0))}"
    return Refusal(blockers, target)


class DomainLog:
    """Picks the records of one run out of all that the kernel writes."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._domain: str | None = None
        self._strangers: set[str] = set()
        self._counts: dict[str, Counter[Refusal]] = {}
        self._left_out = 0
        self.total: int | None = None

    def take(self, kind: int, record: bytes) -> None:
        """One record, in the order in which they come."""
        if kind not in (REFUSAL, DOMAIN):
            return
        fields = fields_of(record)
        domain = fields.get("domain", "")
        if domain in self._strangers:
            return
        if kind == REFUSAL:
            self._count(domain, refusal_of(fields))
        elif fields.get("status") == "allocated":
            if fields.get("comm") == self._mark:
                self._domain = domain
            else:
                self._strangers.add(domain)
                self._counts.pop(domain, None)
        elif domain == self._domain:
            counted = fields.get("denials", "")
            self.total = int(counted) if counted.isdecimal() else -1

    def _count(self, domain: str, refusal: Refusal) -> None:
        counts = self._counts.setdefault(domain, Counter())
        if refusal in counts or len(counts) < _MOST_KINDS:
            counts[refusal] += 1
        else:
            self._left_out += 1

    def attested(self, *, lost: bool) -> Attested:
        """What came of the run, the knock left out."""
        counts = Counter() if self._domain is None else self._counts.get(self._domain, Counter())
        came = counts.total()
        counts = counts - Counter({Refusal(("fs.read_dir",), KNOCKED_AT): 1})
        if self._domain is None:
            return Attested(counts, "the kernel wrote no record of the run")
        if self.total is None:
            return Attested(counts, "the kernel did not say how much it refused")
        if came != self.total:
            dropped = " (the reader was too slow)" if lost else ""
            return Attested(counts, f"{came} of {self.total} records came{dropped}")
        return Attested(counts)


@dataclass(slots=True)
class Watch:
    """Reads from before a run begins until the kernel has said the last word on it."""

    mark: str
    _socket: socket.socket = field(init=False, repr=False)
    _log: DomainLog = field(init=False, repr=False)
    _is_over: threading.Event = field(default_factory=threading.Event, repr=False)
    _stop: tuple[int, int] = field(init=False, repr=False)
    _thread: threading.Thread = field(init=False, repr=False)
    _lost: bool = False

    def __post_init__(self) -> None:
        self._socket = opened_reader()
        self._log = DomainLog(self.mark)
        self._stop = os.pipe2(os.O_CLOEXEC)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def finish(self) -> Attested:
        """What was refused; waits for the last record, which comes when the domain is forgotten."""
        self._is_over.wait(_PATIENCE)
        self.close()
        return self._log.attested(lost=self._lost)

    def close(self) -> None:
        """Stops reading; does no harm a second time."""
        if self._thread.is_alive():
            os.write(self._stop[1], b".")
            self._thread.join()
        if self._socket.fileno() >= 0:
            self._socket.close()
            for end in self._stop:
                os.close(end)

    def _read(self) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        poll.register(self._stop[0], select.POLLIN)
        while all(ready != self._stop[0] for ready, _ in poll.poll()):
            try:
                message = self._socket.recv(_MOST_MESSAGE)
            except OSError as problem:
                if problem.errno != errno.ENOBUFS:
                    return
                self._lost = True
                continue
            kind = int.from_bytes(message[4:6], "little")
            self._log.take(kind, message[_HEADER:])
            if self._log.total is not None:
                self._is_over.set()


def opened_reader() -> socket.socket:
    """A socket on which every audit record arrives; raises `OSError` where it may not."""
    made = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_AUDIT)
    try:
        try:
            made.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_BY_FORCE, _BUFFER_BYTES)
        except PermissionError:
            # Then it holds less, and a burst may come out as incomplete.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        made.bind((0, _READ_LOG))
    except OSError:
        made.close()
        raise
    return made


def _value(name: bytes, value: bytes) -> str:
    if value.startswith(b'"'):
        return os.fsdecode(value.strip(b'"'))
    if name in (b"path", b"comm", b"ocomm", b"exe", b"name"):
        try:
            return os.fsdecode(bytes.fromhex(value.decode("ascii")))
        except (UnicodeDecodeError, ValueError):
            return os.fsdecode(value)
    return os.fsdecode(value)


def _address(host: str, port: str) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
