"""Reads objects through one long-lived `git cat-file --batch`, and checks each against its name.

Git does not look whether an object in a pack is the one that its name stands for. Here it is hashed
again, so that what is judged is what the commit's id names, as far as the hash holds (SHA-1 in most
repositories). Names of commits are resolved by the same process: they go in as input, where a word
that begins with `-` is no option.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.enforce.gitprocess import SECONDS, GitSetting, too_slow
from consentry.enforce.pipedprocess import PipedProcess, is_ready

MOST_OBJECT: Final = 16 << 20

_COMMAND: Final = ("cat-file", "--batch")
_PART: Final = 1 << 18
_MOST_HEADER: Final = 4096
_IDLE_SECONDS: Final = 0.5
# What fits a pipe whole: more would wait for git, while git waits for us to read.
_AT_ONCE: Final = 400
_HEADER: Final = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) (commit|tree|blob|tag) ([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class GitObject:
    """One object; `content` is None where it is larger than was asked for."""

    id: str
    kind: str
    size: int
    content: bytes | None


class ObjectReader:
    """One process, started when the first object is asked for and again after a large one."""

    def __init__(
        self, setting: GitSetting, *, seconds: float = SECONDS, most: int = MOST_OBJECT
    ) -> None:
        self._setting = setting
        self._seconds = seconds
        self._most = most
        self._process: PipedProcess | None = None
        self._until = 0.0
        self._read = bytearray()

    def named(self, name: str) -> GitObject | None:
        """The object that a name stands for, or None where it stands for nothing or for several."""
        line = name.encode("utf-8", "surrogateescape")
        if not line or b"\n" in line or b"\0" in line or len(line) > _MOST_HEADER // 2:
            return None
        return next(self._answers([line]))

    def many(self, ids: Iterable[str]) -> Iterator[GitObject]:
        """The objects with these ids, in that order; raises where one is missing or not itself."""
        left = iter(ids)
        while wanted := list(islice(left, _AT_ONCE)):
            answers = self._answers([each.encode("ascii") for each in wanted])
            for name, found in zip(wanted, answers, strict=True):
                if found is None:
                    raise _missing(name)
                if found.id != name:
                    raise _broken(name, "another object is in its place")
                yield found

    def one(self, name: str) -> GitObject:
        """The object with this id."""
        return next(self.many((name,)))

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        self._read.clear()
        if process is not None:
            process.end()

    def _answers(self, lines: Sequence[bytes]) -> Iterator[GitObject | None]:
        """The answers to these questions; what was asked for in vain is asked for again."""
        position = 0
        while position < len(lines):
            if self._process is not None and not self._process.has_input:
                self.close()
            process = self._process or self._setting.start(_COMMAND)
            self._process = process
            self._until = time.monotonic() + self._seconds
            try:
                os.write(process.to, b"".join(line + b"\n" for line in lines[position:]))
                while position < len(lines):
                    found = self._answer(process, lines[position])
                    position += 1
                    is_cut = found is not None and found.content is None
                    if is_cut:
                        self.close()  # its bytes are on the way, and nobody wants them
                    yield found
                    if is_cut:
                        break
            except GeneratorExit:
                # Answers nobody took would be taken for those of the next question.
                if position < len(lines):
                    self.close()
                raise
            except BaseException as problem:
                said = self._setting.said()
                self.close()
                if isinstance(problem, OSError):
                    raise _broken("the repository", said or "git ended") from problem
                raise

    def _answer(self, process: PipedProcess, line: bytes) -> GitObject | None:
        header = self._line(process)
        if header in (line + b" missing", line + b" ambiguous"):
            return None
        told = _HEADER.fullmatch(header)
        if told is None:
            raise _broken(_shown(line), _shown(header))
        name, kind, size = told[1].decode(), told[2].decode(), int(told[3])
        if size > self._most:
            return GitObject(name, kind, size, None)
        content = self._exactly(process, size + 1)[:size]
        algorithm = hashlib.sha1 if len(name) == 40 else hashlib.sha256  # noqa: PLR2004 - hex digits
        summed = algorithm(b"%b %d\0" % (told[2], size), usedforsecurity=False)
        summed.update(content)
        if summed.hexdigest() != name:
            raise _broken(name, "its content does not match its name")
        return GitObject(name, kind, size, content)

    def _line(self, process: PipedProcess) -> bytes:
        while (end := self._read.find(b"\n")) < 0:
            if len(self._read) > _MOST_HEADER:
                raise _broken("the repository", "git gave an answer that is none")
            self._fill(process)
        line = bytes(self._read[:end])
        del self._read[: end + 1]
        return line

    def _exactly(self, process: PipedProcess, size: int) -> bytes:
        while len(self._read) < size:
            self._fill(process)
        content = bytes(self._read[:size])
        del self._read[:size]
        return content

    def _fill(self, process: PipedProcess) -> None:
        if not is_ready(process.out, min(self._until, time.monotonic() + _IDLE_SECONDS)):
            # All questions are out. Of a damaged object git may write less than it said, and wait
            # for the next; told that there is none, it ends, and so does the wait.
            process.close_input()
            if not is_ready(process.out, self._until):
                raise too_slow(_COMMAND[0], self._seconds)
        part = os.read(process.out, _PART)
        if not part:
            raise _broken("the repository", self._setting.said() or "git ended")
        self._read += part


def _shown(line: bytes) -> str:
    return line[:200].decode("utf-8", "replace")


def _missing(name: str) -> BadInput:
    return BadInput(
        Code.FILE_UNUSABLE,
        f"object `{name}` is not in the repository",
        help_line="a shallow or partial clone lacks objects: `git fetch` what is compared, first",
    )


def _broken(name: str, what: str) -> BadInput:
    return BadInput(
        Code.FILE_UNUSABLE,
        f"`{name}` cannot be read: {what}",
        help_line="`git fsck` tells more about a damaged repository",
    )
