"""Takes the result of a script out of what it prints, while that passes.

The result stands on one line behind a mark that only this run has. It is the program's own word: code
that finds the mark can say that it gave back anything, and nothing more. How it ended, what it read
and what it wrote is told by the engine.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final

from consentry.enforce.native.snippets import MOST_RESULT, SnippetError, read_answer
from consentry.enforce.native.streamends import Io
from consentry.enforce.streams import write_all

NOT_LOADED: Final = "ModuleError"
"""What Deno's refusal to load a module is called: Deno itself has no name for it."""

_PART: Final = 1 << 16
_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*m")
_LAST_WORDS: Final = re.compile(
    r"^error: (?:Uncaught (?:\(in promise\) )?)?(\w+): (.*)$", re.MULTILINE
)
# What could not be loaded has no type of its own, and is followed by where it is named.
_NOT_LOADED: Final = re.compile(r"^error: (.+)\n +at file:", re.MULTILINE)


class ResultLine:
    """Cuts the result out of a stream while it passes; of several, the last one counts."""

    def __init__(self, mark: bytes) -> None:
        self.mark = mark
        self._held = b""
        self._line: bytearray | None = None
        self._found: bytes | None = None

    def pass_on(self, part: bytes, *, is_last: bool = False) -> bytes:
        """The next bytes without what is ours; what could be the beginning of a mark waits."""
        rest, passed = self._held + part, bytearray()
        self._held = b""
        while rest:
            if self._line is not None:
                line, end, rest = rest.partition(b"\n")
                room = MOST_RESULT + 1 - len(self._line)
                self._line += line[: max(0, room)]
                if end:
                    self._found, self._line = bytes(self._line), None
                continue
            before, mark, rest = rest.partition(self.mark)
            if mark:
                passed += before
                self._line = bytearray()
                continue
            kept = 0 if is_last else self._beginning(before)
            passed += before[: len(before) - kept]
            self._held = before[len(before) - kept :]
        if is_last and self._line is not None:
            self._found, self._line = bytes(self._line), None
        return bytes(passed)

    def _beginning(self, content: bytes) -> int:
        """How many of the last bytes could go on to be the mark."""
        most = min(len(content), len(self.mark) - 1)
        return next((size for size in range(most, 0, -1) if content.endswith(self.mark[:size])), 0)

    def answer(self) -> tuple[object, SnippetError | None]:
        """What it gave back, or what went wrong; when all has passed."""
        return read_answer(self._found or b"")


def said_at_the_end(stderr: bytes) -> SnippetError | None:
    """The error that Deno itself printed of code that never came to say anything."""
    text = _COLOURS.sub("", stderr.decode("utf-8", "replace"))
    found = _LAST_WORDS.findall(text)
    if found:
        return SnippetError(*found[-1])
    unloaded = _NOT_LOADED.findall(text)
    return SnippetError(NOT_LOADED, unloaded[-1]) if unloaded else None


class Relay:
    """Hands on what a run prints, without its result; what is kept of it is cut when it is over."""

    def __init__(self, line: ResultLine, io: Io) -> None:
        self._line = line
        self._io = io
        self._leads_to = io.stdout
        self._reader: int | None = None
        self._thread: Thread | None = None
        self._answer: tuple[object, SnippetError | None] | None = None
        self.kept = b""

    def begin(self) -> None:
        """Stands between; the result is seen in passing.

        What is printed is kept as well, in bounds: code that never began says why on the other stream.
        """
        self._io.keeps = True
        self._reader, self._io.stdout = os.pipe2(os.O_CLOEXEC)
        self._thread = Thread(target=self._pass, daemon=True)
        self._thread.start()

    def answer(self, stdout: bytes) -> tuple[object, SnippetError | None]:
        """What came of the run that is over and printed this, as far as it was kept."""
        if self._answer is None:
            self.end()
            self.kept = ResultLine(self._line.mark).pass_on(stdout, is_last=True)
            self._answer = self._line.answer()
        return self._answer

    def _pass(self) -> None:
        reader, leads_to = self._reader, self._leads_to
        if reader is None:
            return
        while part := os.read(reader, _PART):
            self._hand_on(leads_to, self._line.pass_on(part))
        self._hand_on(leads_to, self._line.pass_on(b"", is_last=True))

    def _hand_on(self, leads_to: int | None, content: bytes) -> None:
        if leads_to is not None:
            write_all(leads_to, content)

    def end(self) -> None:
        """Lets go of what stands between; all has passed then."""
        if self._thread is None:
            return
        if self._io.stdout is not None:
            os.close(self._io.stdout)
        self._io.stdout = self._leads_to
        self._thread.join()
        self._thread = None
        if self._reader is not None:
            os.close(self._reader)


@contextmanager
def result_apart(mark: bytes, io: Io) -> Iterator[Relay]:
    """Takes the result behind that mark out of what is printed there."""
    relay = Relay(ResultLine(mark), io)
    relay.begin()
    try:
        yield relay
    finally:
        relay.end()
