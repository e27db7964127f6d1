"""What giving a permission set by hand needs besides the line that says so.

The line is the decision, as it is for `exec`, and it is recorded with who typed it. Where a passphrase
is set every yes needs it, and this one, too: it is asked for at the terminal.
"""

from consentry.base.clock import Clock
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.cli.prompt import guard_of
from consentry.cli.terminal import Cancelled, TerminalGone, open_terminal
from consentry.service.ownsettings import own_settings
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal


def require_passphrase(around: Surroundings, journal: Journal, what: str) -> None:
    """Raises unless no passphrase is asked for here, or the person at the terminal types it."""
    typed_passphrase(around, journal.clock, what)


def typed_passphrase(around: Surroundings, clock: Clock, what: str) -> str | None:
    """What the person at the terminal typed, and it is right; None where none is asked for here."""
    guard = guard_of(around, clock, own_settings(around).approvals)
    if guard is None:
        return None
    try:
        with open_terminal() as terminal:
            if terminal is None:
                message = f"{what} needs the passphrase, and there is no terminal to type it at"
                raise Refused(Code.TERMINAL_MISSING, message)
            with terminal.unseen():
                typed = terminal.ask(f"passphrase, for {safe_line(what)}", lambda: False)
            terminal.write("\n")
    except (Cancelled, TerminalGone, KeyboardInterrupt):
        raise Refused(Code.PASSPHRASE_REFUSED, "nobody typed the passphrase") from None
    guard(typed)
    return typed
