"""What Docker's daemon is asked of images and containers, by its socket, in its own documents.

One request, one answer, one connection. It needs nothing of the kernel but a socket with a name, so
it works wherever the daemon has one. Whoever answers there commands the host already, so its answers
are believed; what is missing in one is an error and never a guess.
"""

import base64
import json
import socket
from typing import Any, Final
from urllib.parse import quote

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass

_PATIENCE: Final = 30.0
_PART: Final = 1 << 16
_MOST_ANSWER: Final = 16 << 20
_FOUND, _DONE, _NOT_THERE = 200, 204, 404
_ABOUT_FILE: Final = "x-docker-container-path-stat"
# As Go numbers kinds of files.
_IS_FOLDER, _IS_ODD = 1 << 31, 0x8F280000
_NANOSECONDS: Final = 1e9


@dataclass(frozen=True, slots=True)
class FileThere:
    """A file of a container: where a link leads, if it is one, and whether it could be started."""

    leads_to: str
    is_program: bool


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def document(self) -> dict[str, Any]:
        told = json.loads(self.body)
        if not isinstance(told, dict):
            raise TypeError("not an object")
        return told


@dataclass(frozen=True, slots=True)
class Daemon:
    """The daemon behind one socket."""

    path: str

    def about(self) -> dict[str, Any]:
        """What it says of itself."""
        return self._told("/info") or {}

    def image(self, name: str) -> dict[str, Any] | None:
        """What it says of an image that it has."""
        return self._told(f"/images/{quote(name, safe='/:@')}/json")

    def container(self, name: str) -> dict[str, Any] | None:
        """What it says of a container."""
        return self._told(f"/containers/{quote(name, safe='')}/json")

    def used(self, name: str) -> tuple[float, int]:
        """Seconds of processor time and bytes of memory that a container has used by now."""
        told = self._told(f"/containers/{quote(name, safe='')}/stats?stream=0&one-shot=1") or {}
        try:
            seconds = told["cpu_stats"]["cpu_usage"]["total_usage"] / _NANOSECONDS
            memory = told.get("memory_stats", {})
            return seconds, int(memory.get("max_usage") or memory.get("usage") or 0)
        except (KeyError, TypeError):
            return 0.0, 0

    def file(self, container: str, path: str) -> FileThere | None:
        """What is at a path of a container that need not run."""
        place = f"/containers/{quote(container, safe='')}/archive?path={quote(path, safe='/')}"
        answer = self._asked("HEAD", place)
        if answer.status != _FOUND:
            return None
        try:
            told = json.loads(base64.b64decode(answer.headers[_ABOUT_FILE]))
            mode = int(told["mode"])
            is_plain = not mode & (_IS_FOLDER | _IS_ODD)
            return FileThere(str(told["linkTarget"]), is_plain and bool(mode & 0o111))
        except (KeyError, ValueError, TypeError) as problem:
            raise _unclear(place) from problem

    def signal(self, name: str, number: int) -> bool:
        """To a container's first process; false where that does not run."""
        place = f"/containers/{quote(name, safe='')}/kill?signal={number}"
        return self._asked("POST", place).status == _DONE

    def remove(self, name: str) -> bool:
        """Kills and removes a container; true when there is none of that name any more."""
        place = f"/containers/{quote(name, safe='')}?force=1&v=1"
        return self._asked("DELETE", place).status in (_DONE, _NOT_THERE)

    def _told(self, place: str) -> dict[str, Any] | None:
        answer = self._asked("GET", place)
        if answer.status == _NOT_THERE:
            return None
        try:
            if answer.status == _FOUND:
                return answer.document()
        except (ValueError, TypeError) as problem:
            raise _unclear(place) from problem
        raise _unclear(place)

    def _asked(self, method: str, place: str) -> _Answer:
        request = f"{method} {place} HTTP/1.0\r\nHost: docker\r\nContent-Length: 0\r\n\r\n"
        answer = bytearray()
        try:
            with socket.socket(socket.AF_UNIX) as asks:
                asks.settimeout(_PATIENCE)
                asks.connect(self.path)
                asks.sendall(request.encode("ascii"))
                while len(answer) < _MOST_ANSWER and (part := asks.recv(_PART)):
                    answer += part
        except OSError as problem:
            why = (problem.strerror or "no answer").lower()
            raise Refused(Code.ENGINE_FAILED, f"the daemon at `{self.path}`: {why}") from problem
        return _read(bytes(answer), place)


def _read(answer: bytes, place: str) -> _Answer:
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    try:
        status = int(first.split(" ", 2)[1])
    except (ValueError, IndexError) as problem:
        raise _unclear(place) from problem
    pairs = (line.partition(":") for line in lines)
    return _Answer(status, {name.lower(): value.strip() for name, _, value in pairs}, body)


def _unclear(place: str) -> Refused:
    message = f"the daemon's answer about `{place.partition('?')[0]}` is none that is known"
    return Refused(Code.ENGINE_FAILED, message)
