"""The questions of one prompt, in their order: look, choose, say why, type the name, the passphrase.

Answers are whole lines. The pages are turned with Enter; a yes that is remembered or kept, one to a
program that waits, and any yes at level strict, can be given only when the last page was seen. What is
typed wrong changes nothing and is asked again; Ctrl-C or the end of input at any question denies.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass, replace
from consentry.cli.boxdrawing import NARROWEST
from consentry.cli.layout import laid_out
from consentry.cli.promptpages import PromptOptions, PromptPages
from consentry.cli.terminal import IsOver, Terminal
from consentry.declare.consent import RememberDuration

Pages: TypeAlias = Callable[[int, int, PromptOptions], PromptPages]
"""What is shown in so many columns and lines."""
Guard: TypeAlias = Callable[[str], None]
"""Raises unless these words are the passphrase."""

_YES: Final = ("a", "approve", "y", "yes")
_NO: Final = ("d", "deny", "n", "no")
_DETAILS: Final = ("i", "details")
_REMEMBER: Final = ("r", "remember")
_BETWEEN: Final = " | "
_OWN_LINES: Final = 4
_LEAST_HEIGHT: Final = 5
_MOST_TRIES: Final = 3
_LONGEST_ECHO: Final = 60

SPANS: Final = {
    RememberDuration.SESSION: "for this session",
    RememberDuration.PERMANENT: "until the tool changes",
    RememberDuration.HOUR: "for 1 hour",
    RememberDuration.DAY: "for 1 day",
}


@dataclass(frozen=True, slots=True)
class Yes:
    """One of several ways to say yes: what is typed for it, what that does, and for how long it is."""

    key: str
    word: str
    doing: str
    remember: RememberDuration | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """One question as it is put to a person.

    `word` has to be typed for a yes; `refusal` says why there can be none; `remember` is for how long
    a yes may be remembered, None where it may not. `is_kept` says that a yes outlives the run, and
    `is_seen_whole` that a yes needs the last page to have been seen all the same. `denies` is how a no
    is offered, as key and word; the usual ones deny as well. `yeses` are offered in the place of the
    usual yes, where a yes has to say for how long it is.
    """

    pages: Pages
    remember: RememberDuration | None = None
    word: str | None = None
    needs_reason: bool = False
    has_details: bool = False
    refusal: str | None = None
    warnings: tuple[str, ...] = ()
    is_kept: bool = False
    is_seen_whole: bool = False
    denies: tuple[str, str] = ("d", "deny")
    yeses: tuple[Yes, ...] = ()


@dataclass(frozen=True, slots=True)
class Presets:
    """What was said before the question was put: on the command line that answers it."""

    reason: str | None = None
    is_remembered: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """What the person said."""

    is_yes: bool
    reason: str | None = None
    remember: RememberDuration | None = None


class Dialogue:
    """One person at one terminal, with one question."""

    def __init__(
        self,
        terminal: Terminal,
        sheet: Sheet,
        is_over: IsOver,
        *,
        presets: Presets = Presets(),  # noqa: B008 - frozen
        guard: Guard | None = None,
        is_sudden: bool = False,
    ) -> None:
        """`is_sudden` says that the person may be typing to a program while it comes up."""
        self._terminal = terminal
        self._sheet = sheet
        self._is_over = is_over
        self._presets = presets
        self._guard = guard
        self._is_sudden = is_sudden
        self._options = PromptOptions(sheet.remember, presets.is_remembered)
        self._page = 0
        self._saw_end = False
        self._pages = self._laid_out()

    def choice(self) -> Choice:
        """What the person says; raises what the terminal raises."""
        self._show()
        if self._is_sudden:
            self._terminal.await_quiet(self._is_over)
        while True:
            word = self._typed("").lower()
            if word in (*_NO, *self._sheet.denies):
                return Choice(is_yes=False)
            if self._is_yes(word):
                if self._may_approve() and (reason := self._confirmed()) is not None:
                    return Choice(
                        is_yes=True, reason=reason.strip() or None, remember=self._remember(word)
                    )
            elif word == "" and not self._is_last:
                self._page += 1
                self._show()
            else:
                self._change(word)

    def _is_yes(self, word: str) -> bool:
        """A yes that has to be one of several is none by itself."""
        yeses = self._sheet.yeses
        return self._named(word) is not None or (word in _YES and len(yeses) <= 1)

    def _named(self, word: str) -> Yes | None:
        return next((each for each in self._sheet.yeses if word in (each.key, each.word)), None)

    def _remember(self, word: str) -> RememberDuration | None:
        if self._sheet.yeses:
            return (self._named(word) or self._sheet.yeses[0]).remember
        return self._options.remember if self._options.is_remembered else None

    @property
    def _is_last(self) -> bool:
        return self._page == len(self._pages) - 1

    def _change(self, word: str) -> None:
        options = self._options
        if word in _DETAILS and self._sheet.has_details:
            self._options = replace(options, shows_details=not options.shows_details)
            self._pages, self._page = self._laid_out(), 0
            self._show()
        elif word in _REMEMBER and options.remember is not None:
            if not self._saw_end:
                self._say("see it to its end first: Enter goes on")
                return
            self._options = replace(options, is_remembered=not options.is_remembered)
            self._pages = self._laid_out()
            self._page = len(self._pages) - 1
            self._show()
        else:
            typed = safe_line(word, limit=_LONGEST_ECHO)
            self._say(f"`{typed}` is no answer here: {self._keys()}")

    def _may_approve(self) -> bool:
        if self._sheet.refusal is not None:
            self._say(f"{self._sheet.refusal}; {self._sheet.denies[0]} denies")
            return False
        is_kept = self._options.is_remembered or self._sheet.is_kept
        has_to_see = is_kept or self._sheet.is_seen_whole or self._sheet.word is not None
        if has_to_see and not self._saw_end:
            self._say("see it to its end first: Enter goes on")
            return False
        return True

    def _confirmed(self) -> str | None:
        """The reason, which may be empty, once all that a yes needs was typed; None where not."""
        reason = self._presets.reason or ""
        while self._sheet.needs_reason and not reason.strip():
            reason = self._typed("why? this is recorded")
        word = self._sheet.word
        if word is not None and self._typed(f"type {safe_line(word)} to approve") != word:
            self._say(f"that is not {safe_line(word)}; nothing was approved")
            return None
        if self._guard is not None:
            self._require_passphrase(self._guard)
        return reason

    def _require_passphrase(self, guard: Guard) -> None:
        for tries_left in reversed(range(_MOST_TRIES)):
            with self._terminal.unseen():
                typed = self._terminal.ask("passphrase", self._is_over)
            self._terminal.write("\n")
            try:
                return guard(typed)
            except Refused as problem:
                if not tries_left or problem.code is not Code.PASSPHRASE_REFUSED:
                    raise
                self._say(safe_line(problem.message))
        return None

    def _laid_out(self) -> tuple[str, ...]:
        size = self._terminal.size
        columns = max(size.columns, NARROWEST)
        # Where a box is wider than the terminal, each of its rows takes several.
        own = _OWN_LINES + len(self._sheet.yeses) + len(self._warnings())
        rows = (size.lines - own) // -(-columns // size.columns)
        return self._sheet.pages(columns, max(rows, _LEAST_HEIGHT), self._options).pages

    def _warnings(self) -> list[str]:
        width = max(self._terminal.size.columns, NARROWEST)
        rows = [laid_out(safe_line(each), width=width) for each in self._sheet.warnings]
        return [row for each in rows for row in each]

    def _show(self) -> None:
        if self._is_last and not self._options.shows_details:
            self._saw_end = True
        parts = ["", self._pages[self._page], *self._warnings(), self._keys_fitted()]
        self._terminal.write("\n".join(parts) + "\n")

    def _keys_fitted(self) -> str:
        """The words that can be typed, broken between two of them where they are too wide."""
        keys, width = self._keys(), self._terminal.size.columns
        rows: list[str] = []
        while len(keys) > width and (at := keys.rfind(_BETWEEN, 0, width)) > 0:
            rows.append(keys[:at])
            keys = keys[at + len(_BETWEEN) :]
        return "\n".join([*rows, keys])

    def _keys(self) -> str:
        """Which words do what now."""
        keys = []
        if not self._is_last:
            keys.append(f"Enter goes on ({self._page + 1} of {len(self._pages)})")
        if self._sheet.refusal is None:
            yeses = [f"{each.key} {each.doing}" for each in self._sheet.yeses]
            keys += yeses or ["a approve"]
        keys.append(" ".join(self._sheet.denies))
        if self._sheet.has_details:
            keys.append("i back" if self._options.shows_details else "i details")
        remember = self._options.remember
        if remember is not None and self._saw_end:
            is_on = self._options.is_remembered
            keys.append("r once only" if is_on else f"r remember {SPANS[remember]}")
        return _BETWEEN.join(keys)

    def _say(self, text: str) -> None:
        self._terminal.write(f"{text}\n")

    def _typed(self, question: str) -> str:
        return self._terminal.ask(question, self._is_over).strip()
