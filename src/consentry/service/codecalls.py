"""The snippets of one caller: engines that are kept, and calls that are bound once.

A program that runs a snippet a thousand times says the same thing each time but for the snippet and
its variables. What the rest is bound and compiled to is kept while nothing it rests on has changed.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Final

from consentry.base.values import dataclass, replace
from consentry.enforce.engines.nativecode import CodePlan, NativeCode
from consentry.service.binding import BoundWish, workspace_here
from consentry.service.ledgers import LedgerPlace, ledger_place, state_folder
from consentry.service.remembering import Remembered
from consentry.service.runground import Call, joined, places_of, roots_of
from consentry.service.snippetruns import CodeWish, bind_code, require_snippet, words_of_code
from consentry.service.surroundings import Surroundings, own_home

_NO_SOURCE: Final = b""


@dataclass(frozen=True, slots=True)
class PreparedCode:
    """A call, bound and compiled."""

    bound: BoundWish
    home: Path | None
    place: LedgerPlace
    plan: CodePlan
    engine: NativeCode

    def said_by(self, wish: CodeWish) -> "PreparedCode":
        """The same for a wish that differs in the snippet and its variables."""
        confinement = self.bound.confinement
        program = replace(confinement.program, words=words_of_code(wish))
        confinement = replace(confinement, program=program)
        return replace(
            self,
            bound=replace(self.bound, confinement=confinement),
            plan=replace(self.plan, wanted=confinement),
        )


class CodeCalls:
    """Threads may share it."""

    def __init__(self) -> None:
        self._one_at_a_time = Lock()
        self._engines: dict[Path | None, NativeCode] = {}
        self._calls: Remembered[Call[CodeWish], PreparedCode] = Remembered(_ground_of)

    def prepared(self, wish: CodeWish, around: Surroundings, workspace: str | None) -> PreparedCode:
        """The call, bound and compiled; raises before anything is recorded or started."""
        require_snippet(wish)
        call = Call.of(replace(wish, source=_NO_SOURCE, arguments={}), around, workspace)
        if wish.profile is not None or wish.secrets:
            # They are read just now, and may say something else than the last time.
            return self._prepare(call).said_by(wish)
        known = self._calls.answer(call, lambda: self._prepare(call), _is_current)
        return known.said_by(wish)

    def _prepare(self, call: Call[CodeWish]) -> PreparedCode:
        around = call.around
        workspace = workspace_here(around, call.workspace)
        state_folder(around)
        bound = bind_code(call.wish, workspace, around)
        home = own_home(around).path
        with self._one_at_a_time:
            if home not in self._engines:
                self._engines[home] = NativeCode(home)
            engine = self._engines[home]
        plan = engine.compile(bound.confinement, bound.protected, call.wish.preload)
        return PreparedCode(bound, home, ledger_place(around), plan, engine)

    def close(self) -> None:
        """Ends the launchers."""
        with self._one_at_a_time:
            engines, self._engines = self._engines, {}
            self._calls = Remembered(_ground_of)
        for engine in engines.values():
            engine.close()


def _is_current(prepared: PreparedCode) -> bool:
    return prepared.engine.is_current(prepared.plan)


def _ground_of(call: Call[CodeWish], prepared: PreparedCode) -> Iterator[str]:
    yield from places_of(call)
    cwd = str(call.cwd or "/")
    for word in call.wish.read:
        yield joined(cwd, word)
    yield from (sys.prefix, sys.base_prefix, str(prepared.bound.confinement.program.folder))
    yield from roots_of(prepared.bound, prepared.plan.snippet.plan, prepared.home)
