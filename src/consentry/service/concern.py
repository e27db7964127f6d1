"""`Concern`: something found that a person should act on, with its code and what to do.

A concern is not raised: a look at many things goes on past the first one that is wrong. Where the
same finding has to stop a command, the error with the same code is raised instead.
"""

from collections.abc import Iterable

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass


@dataclass(frozen=True, slots=True)
class Concern:
    """A stable code, what is wrong in this case, and what to do about it."""

    code: Code
    message: str
    help_line: str

    @classmethod
    def about(cls, code: Code, message: str, help_line: str | None = None) -> "Concern":
        """A concern with the code's own remedy, unless a better one is known."""
        return cls(code, message, code.remedy if help_line is None else help_line)

    @classmethod
    def from_error(cls, error: ConsentryError) -> "Concern":
        """The concern that an error would have been, had it not been raised."""
        return cls(error.code, str(error), error.help_line)


def status_for(concerns: Iterable[Concern]) -> ExitStatus:
    """What a command exits with that lists these; a rejected plugin is told from all others."""
    found = tuple(concerns)
    if any(each.code is Code.PLUGIN_REJECTED for each in found):
        return ExitStatus.PLUGIN_REJECTED
    return ExitStatus.FOUND if found else ExitStatus.DONE
