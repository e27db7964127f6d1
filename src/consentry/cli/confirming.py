"""A yes that somebody types out at the terminal, after having read what it is for.

For what cannot be a question in the inbox: it is about this machine's own trust, and whoever is at the
terminal has asked for it. The approval passphrase is asked for here as it is for every other yes.
"""

from collections.abc import Sequence

from consentry.base.clock import Clock
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.cli.dialogue import Dialogue, Sheet
from consentry.cli.prompt import guard_of
from consentry.cli.promptpages import PromptPages
from consentry.cli.terminal import Cancelled, TerminalGone, open_terminal
from consentry.service.ownsettings import own_settings
from consentry.service.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class TypedYes:
    """Which word is typed for a yes, what that does, and the code of a no."""

    word: str
    doing: str
    refusal: Code
    without_terminal: str | None = None


def require_typed_yes(
    lines: Sequence[str], wanted: TypedYes, around: Surroundings, clock: Clock
) -> None:
    """Returns when the person at the terminal has typed the word, and raises otherwise."""
    sheet = Sheet(
        lambda width, height, _: PromptPages.of_lines(list(lines), width, height), word=wanted.word
    )
    guard = guard_of(around, clock, own_settings(around).approvals)
    try:
        with open_terminal() as terminal:
            if terminal is None:
                raise Refused(
                    Code.TERMINAL_MISSING,
                    f"{wanted.doing} needs the terminal of a person",
                    help_line=wanted.without_terminal,
                )
            choice = Dialogue(terminal, sheet, lambda: False, guard=guard).choice()
    except (Cancelled, TerminalGone, KeyboardInterrupt):
        raise Refused(wanted.refusal, "nobody said yes") from None
    if not choice.is_yes:
        raise Refused(wanted.refusal, "you said no")
