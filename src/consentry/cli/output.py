"""The one place that writes: text or one JSON document to standard output, messages to the other.

Rules: an answer is written whole, in one go; with `--json` standard output carries exactly one
JSON document, the answer or the error; a command that goes on answering writes one document on a
line; JSON is pure ASCII and carries `schema_version` and `kind`; a text that the encoding of the
stream cannot carry is written in UTF-8.
Colour needs a terminal and is off for `NO_COLOR` and `TERM=dumb`, unless `--color` decides.

Nothing here escapes hostile text: callers pass it through `base.safetext` first, because only they
know which part of a line is ours. JSON needs no such care, its own escapes cover every control.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TextIO

SCHEMA_VERSION = 1
WIDTH_WITHOUT_TERMINAL = 80
NARROWEST = 40
WIDEST = 100
_MOST_DIGITS = 9
_ASCII_SAMPLE = "".join(map(chr, range(0x20, 0x7F)))
_STYLES = {"bold": "1", "red": "31", "green": "32", "yellow": "33"}


class ReaderGone(Exception):
    """Whoever was reading standard output closed it; there is nobody left to tell."""


class Output:
    """How this invocation wants to be answered, and the means to do so."""

    def __init__(
        self, *, json: bool = False, quiet: bool = False, verbose: bool = False, color: str = "auto"
    ) -> None:
        self.json = json
        self.quiet = quiet
        self.verbose = verbose
        self.colored = wants_color(color, sys.stdout, os.environ)

    def paint(self, text: str, style: str) -> str:
        """`text` in a style, when this output is coloured."""
        return painted(text, style) if self.colored else text

    def text(self, text: str) -> None:
        """Writes the answer as text; the final newline is added."""
        write_answer(f"{text}\n")

    def document(self, kind: str, body: Mapping[str, object]) -> None:
        """Writes the answer as one JSON document."""
        write_answer(json_text(kind, body))

    def line(self, kind: str, body: Mapping[str, object]) -> None:
        """Writes one answer of several as a JSON document on a line of its own."""
        write_answer(json_line(kind, body))


def painted(text: str, style: str) -> str:
    """`text` between the escapes that switch a style on and off."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def wants_color(choice: str, stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """`--color` decides; on `auto` a terminal that neither NO_COLOR nor TERM=dumb speaks against."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR", "") or environ.get("TERM", "") == "dumb":
        return False
    return stream is not None and stream.isatty()


def page_width(descriptor: int = 1) -> int:
    """Columns to lay text out for: COLUMNS, else the terminal's, else 80; within reason."""
    named = os.environ.get("COLUMNS", "")
    if named.isascii() and named.isdigit() and len(named) <= _MOST_DIGITS and int(named) > 0:
        columns = int(named)
    else:
        try:
            columns = os.get_terminal_size(descriptor).columns or WIDTH_WITHOUT_TERMINAL
        except OSError:
            columns = WIDTH_WITHOUT_TERMINAL
    return min(max(columns, NARROWEST), WIDEST)


def json_text(kind: str, body: Mapping[str, object]) -> str:
    """One JSON document with a final newline, readable by any parser whatever is in `body`."""
    return _encoded_json(kind, body, indent=2)


def json_line(kind: str, body: Mapping[str, object]) -> str:
    """The same document on one line."""
    return _encoded_json(kind, body, indent=None)


def _encoded_json(kind: str, body: Mapping[str, object], indent: int | None) -> str:
    import json  # noqa: PLC0415 - text answers do not pay for it

    document = {"schema_version": SCHEMA_VERSION, "kind": kind, **body}
    plain = _without_surrogates(document)
    return json.dumps(plain, ensure_ascii=True, allow_nan=False, indent=indent) + "\n"


def _without_surrogates(value: object) -> object:
    """Names that are not UTF-8 reach us as lone surrogates, which strict JSON readers refuse."""
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in value)
    if isinstance(value, Mapping):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_without_surrogates(item) for item in value]
    return value


def write_answer(text: str) -> None:
    """Writes to standard output, all of it, or raises a failure that says why not."""
    with _delivering() as stream:
        _write(stream, text)


def write_pieces(pieces: Iterable[bytes]) -> None:
    """Writes an answer that is too long to be held, piece by piece, as the bytes it is made of."""
    with _delivering() as stream:
        stream.flush()
        try:
            for piece in pieces:
                stream.buffer.write(piece)
        except Exception:
            # What came before is delivered; after an interrupt nobody waits for that.
            stream.flush()
            raise
        stream.flush()


@contextmanager
def _delivering() -> Iterator[TextIO]:
    """Standard output; what goes wrong with it becomes a failure that says why."""
    if sys.stdout is None:
        raise _output_failed("it is closed")
    try:
        yield sys.stdout
    except BrokenPipeError as problem:
        _forget_unwritten(sys.stdout)
        raise ReaderGone from problem
    except OSError as problem:
        _forget_unwritten(sys.stdout)
        raise _output_failed((problem.strerror or "unknown reason").lower()) from problem
    except KeyboardInterrupt:
        # The reader may be as slow as before: leaving must not wait for it.
        _forget_unwritten(sys.stdout)
        raise


def write_message(text: str) -> None:
    """Writes to standard error; a message that cannot be delivered is dropped, the status stays."""
    if sys.stderr is None:
        return
    try:
        _write(sys.stderr, f"{text}\n")
    except OSError:
        _forget_unwritten(sys.stderr)


def _write(stream: TextIO, text: str) -> None:
    stream.flush()
    stream.buffer.write(encoded(text, stream.encoding or "utf-8"))
    stream.flush()


def encoded(text: str, encoding: str) -> bytes:
    """The bytes of `text`: in `encoding` where that is ASCII and more and has every letter of it.

    Else in UTF-8. A letter is never replaced by an escape that could have been typed, and ASCII is
    ASCII whatever the encoding.
    """
    if not text.isascii() and _ASCII_SAMPLE.encode(encoding, "replace") == _ASCII_SAMPLE.encode():
        try:
            return text.encode(encoding)
        except UnicodeEncodeError:
            pass
    # Safe text has no surrogates; were there one, it must not end the command half-way.
    return text.encode("utf-8", "backslashreplace")


def _forget_unwritten(stream: TextIO) -> None:
    """What the stream still holds goes nowhere; or the interpreter would complain as it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _output_failed(reason: str) -> Exception:
    from consentry.base.codes import Code  # noqa: PLC0415 - only failures pay for it
    from consentry.base.errors import UsageProblem  # noqa: PLC0415 - as above

    return UsageProblem(Code.OUTPUT_FAILED, f"standard output cannot be written: {reason}")
