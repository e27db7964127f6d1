"""One tree of exceptions; every leaf carries a stable code, a help line and an exit status.

    ConsentryError
    ├── BadInput          a document, pattern, size or id that cannot be read
    │   └── BadDocument       all that is wrong with one document, place by place
    ├── Refused           understood, and the answer is no
    │   ├── PathEscape        a path leaves its jail
    │   ├── FilesystemRace    a path changed between check and use
    │   ├── NotAFile          a pipe, socket or device where a file or folder was expected
    │   ├── HardLinked        a file that has other names, and is not written through this one
    │   └── TooLarge          a file that has more bytes than its reader takes
    ├── LedgerProblem     the ledger cannot be written, read or believed
    └── UsageProblem      the command line, the environment or the place it was started in

Messages are lower case, without a final period, with the caller's input in backticks. That input
is hostile: it is kept as it came and escaped by `base.safetext` when it is shown, never here.
"""

from collections.abc import Sequence

from consentry.base.codes import Code, ExitStatus
from consentry.base.values import dataclass


@dataclass(frozen=True, slots=True)
class Where:
    """The place in the caller's material that an error is about; every part may be unknown."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
            if self.column is not None:
                place += f":{self.column}"
        if self.field is not None:
            place += f" `{self.field}`" if place else f"`{self.field}`"
        return place

    def within(self, field: str) -> "Where":
        """The same place, with `field` put in front of what was named so far."""
        inner = self.field
        joined = field if inner is None else field + (inner if inner[:1] == "[" else f".{inner}")
        return Where(self.file, self.line, self.column, joined)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a document: where, what, and what to do about it."""

    where: Where
    message: str
    help_line: str
    code: Code = Code.DOCUMENT_INVALID

    @property
    def said(self) -> str:
        """`file:line:column: field.path: what is wrong`, as far as the place is known."""
        place = str(Where(self.where.file, self.where.line, self.where.column))
        parts = (place, self.where.field or "", self.message)
        return ": ".join(part for part in parts if part)

    def __str__(self) -> str:
        return f"{self.said}; {self.help_line}"


class ConsentryError(Exception):
    """Everything Consentry raises on purpose."""

    def __init__(
        self,
        code: Code,
        message: str,
        *,
        where: Where | None = None,
        help_line: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.where = where
        self.help_line = code.remedy if help_line is None else help_line

    @property
    def exit_status(self) -> ExitStatus:
        """The status a command that stops on this error exits with."""
        return self.code.status

    def at(self, where: Where) -> "ConsentryError":
        """The same error, placed; callers that know the file or field add it on the way up."""
        self.where = where
        return self

    def __str__(self) -> str:
        place = str(self.where) if self.where is not None else ""
        return f"{place}: {self.message}" if place else self.message


class BadInput(ConsentryError):
    """A document, pattern, size or id that cannot be read."""


class BadDocument(BadInput):
    """A document that breaks the rules of its format, with everything that is wrong with it.

    `problems` is never empty; `unlisted` says how many more there were than are listed.
    """

    def __init__(self, problems: Sequence[Problem], *, unlisted: int = 0) -> None:
        first = problems[0]
        self.problems = tuple(problems)
        self.unlisted = unlisted
        count = len(problems) + unlisted
        if count == 1:
            super().__init__(
                Code.DOCUMENT_INVALID,
                first.message,
                where=first.where,
                help_line=first.help_line,
            )
            return
        listed = f", the first {len(problems)} are listed" if unlisted else ""
        super().__init__(
            Code.DOCUMENT_INVALID,
            f"{count} things are wrong{listed}",
            where=Where(first.where.file),
        )

    @property
    def first(self) -> Problem:
        """The first of them, saying how many there are, for whoever has one line."""
        found, count = self.problems[0], len(self.problems) + self.unlisted
        if count == 1:
            return found
        more = f"{found.message} ({count} things are wrong, this is the first)"
        return Problem(found.where, more, found.help_line)

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        return "\n".join((super().__str__(), *map(str, self.problems)))


class Refused(ConsentryError):
    """Understood, and the answer is no."""


class PathEscape(Refused):
    """A path that leaves its jail, or cannot be resolved inside it."""

    def __init__(self, message: str) -> None:
        super().__init__(Code.PATH_ESCAPE, message)


class FilesystemRace(Refused):
    """A path that passed its check and was something else when it was used."""

    def __init__(self, message: str) -> None:
        super().__init__(Code.FILESYSTEM_RACE, message)


class NotAFile(Refused):
    """A pipe, socket or device where a plain file or folder was expected."""

    def __init__(self, message: str) -> None:
        super().__init__(Code.PATH_KIND, message)


class HardLinked(Refused):
    """A file that has other names as well: written through one, it changes under all of them."""

    def __init__(self, message: str) -> None:
        super().__init__(Code.PATH_HARD_LINK, message)


class TooLarge(Refused):
    """A file that has more bytes than its reader takes."""

    def __init__(self, message: str) -> None:
        super().__init__(Code.PATH_TOO_LARGE, message)


class LedgerProblem(ConsentryError):
    """The ledger cannot be written, read or believed; what depends on it does not happen."""


class UsageProblem(ConsentryError):
    """The command line, the environment or the place the command was started in."""
