"""What befalls a program in the middle of its work: it is ended, another one acts, its document store fails.

A program tells its stroke of each effect that it is about to have: an append to its ledger, step by step, and a
commit or a settling of its document store. They are counted from 0 in the order in which they come; reading
is no effect. Where a stroke falls once, everything after it is as it would be.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from consentry.base.clock import ManualClock
from consentry.base.units import Duration
from consentry.decide.documentstore import BeforeWrite, Commit, CommitRecord, StoreConflict
from consentry.store.steps import Step

SLOW: Final = Duration(30_000)
"""Longer than a worker is believed."""


class Killed(BaseException):
    """The end of a program."""


class StoreFailed(Exception):
    """A document store that cannot be reached any more."""


class Stroke:
    """Nothing befalls it."""

    fell = False

    def at_step(self, step: Step) -> None:
        """Told of every step of an append."""

    def at_document(
        self, commit: Commit, run: Callable[[BeforeWrite], Any], check: BeforeWrite | None
    ) -> Any:
        """Told of a commit, or with no check of a settling; `run` does it."""
        del commit
        return run(check or _nothing)


class _Counted(Stroke):
    """Falls on one effect."""

    def __init__(self, place: int) -> None:
        self._left = place

    @property
    def _is_now(self) -> bool:
        return self._left == -1


class Kill(_Counted):
    """Ends a program at one effect, for good: whatever it tries to write from then on ends it again."""

    def __init__(self, place: int, step: Step, when: str) -> None:
        super().__init__(place)
        self.took_effect = False
        self._step = step
        self._when = when

    def at_step(self, step: Step) -> None:
        """At that step of the append, if the effect is one."""
        if step is Step.QUEUED and not self.fell:
            self._left -= 1
        if self._is_now and step is self._step and not self.fell:
            self.fell, self.took_effect = True, step.value >= Step.COMMITTED.value
        if self.fell:
            raise Killed

    def at_document(
        self, commit: Commit, run: Callable[[BeforeWrite], Any], check: BeforeWrite | None
    ) -> Any:
        """Before the commit, when it asks for the last time, or behind it."""
        del commit
        if self.fell:
            raise Killed
        self._left -= 1
        if not self._is_now:
            return run(check or _nothing)
        self.fell = True
        if self._when == "after":
            run(check or _nothing)
            self.took_effect = True
        elif self._when == "middle" and check is not None:
            run(self._die)
        raise Killed

    def _die(self) -> None:
        raise Killed


class Meanwhile(_Counted):
    """Has somebody else act when a program is about to have one effect."""

    def __init__(self, place: int, act: Callable[[], None]) -> None:
        super().__init__(place)
        self._act = act

    def at_step(self, step: Step) -> None:
        """Before an append."""
        if step is Step.QUEUED:
            self._count()

    def at_document(
        self, commit: Commit, run: Callable[[BeforeWrite], Any], check: BeforeWrite | None
    ) -> Any:
        """Before a commit."""
        del commit
        self._count()
        return run(check or _nothing)

    def _count(self) -> None:
        self._left -= 1
        if self._is_now:
            self.fell = True
            self._act()


class BreakIn(_Counted):
    """Has somebody act in the middle of a commit, when it asks for the so-manieth time, from 1."""

    def __init__(self, place: int, ask: int, act: Callable[[], None]) -> None:
        super().__init__(place)
        self._ask = ask
        self._act = act

    def at_document(
        self, commit: Commit, run: Callable[[BeforeWrite], Any], check: BeforeWrite | None
    ) -> Any:
        """Between two writes."""
        del commit
        if check is None:
            return run(_nothing)
        self._left -= 1
        if not self._is_now:
            return run(check)
        asked = 0

        def broken_in() -> None:
            nonlocal asked
            asked += 1
            if asked == self._ask:
                self.fell = True
                self._act()
            check()

        return run(broken_in)


class Failing(_Counted):
    """A document store that fails at one commit or settling, is slow there, or lies.

    `before`, `after`: it raises, with the effect or without. `yes`: it says that it committed, and wrote
    nothing. `no`: it says that there was a conflict, and committed. `slow`: time passes. Where it is lasting,
    everything that comes after it raises.
    """

    def __init__(self, place: int, how: str, clock: ManualClock, *, lasting: bool = False) -> None:
        super().__init__(place)
        self._how = how
        self._clock = clock
        self._lasting = lasting

    def at_document(
        self, commit: Commit, run: Callable[[BeforeWrite], Any], check: BeforeWrite | None
    ) -> Any:
        """Fails."""
        self._left -= 1
        if self._lasting and self._left < -1:
            raise StoreFailed("the store cannot be reached any more")
        if not self._is_now or (check is None and self._how in ("yes", "no")):
            return run(check or _nothing)
        self.fell = True
        match self._how:
            case "before":
                raise StoreFailed("the store cannot be reached")
            case "yes":
                for _ in range(len(commit.writes) + 1):
                    (check or _nothing)()
                return CommitRecord(commit.key, commit.kind, "never", commit.revision)
        done = run(check or _nothing)
        match self._how:
            case "after":
                raise StoreFailed("the store did not answer")
            case "no":
                raise StoreConflict("the document", "another", commit.base_revision)
        self._clock.advance(SLOW)
        return done


class Together(Stroke):
    """One that breaks in, on a document store that fails."""

    def __init__(self, break_in: BreakIn, failing: Failing) -> None:
        self._break_in = break_in
        self._failing = failing

    def at_document(
        self, commit: Commit, run: Callable[[BeforeWrite], Any], check: BeforeWrite | None
    ) -> Any:
        """Both."""
        if check is None:
            return self._failing.at_document(commit, run, None)
        inner = partial(self._break_in.at_document, commit, run)
        return self._failing.at_document(commit, inner, check)


def _nothing() -> None:
    """Nothing stands against it."""
