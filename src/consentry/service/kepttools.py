"""Tools that a program runs again and again: made ready and compiled once, while nothing has changed.

Finding, reading and binding asks the file system the same hundreds of questions for every run. What
came of them is used again while every path that it rests on is as it was (`toolground`). Asked anew
each time are the store, whether the workspace's documents are accepted as they are, and the bytes of
the tool's own files: whoever may write one may also set its times back.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass
from consentry.decide.acceptance import Accepted, digest_of_files
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.hashcache import HashCache
from consentry.service.enginechoice import Chosen, EngineDesk, choose_engine
from consentry.service.ledgers import LedgerPlace, ledger_place
from consentry.service.remembering import Remembered
from consentry.service.runground import Call, program_paths, roots_of
from consentry.service.runledger import HASHES
from consentry.service.surroundings import Surroundings, own_home
from consentry.service.toolcalls import ReadyTool, ToolCall, acceptances_of, ready_tool
from consentry.service.toolground import is_lasting, paths_of_state, paths_of_tool
from consentry.service.toolruns import DeskFor
from consentry.store.journal import Journal

_ToolKey: TypeAlias = Call[ToolCall]


@dataclass(frozen=True, slots=True)
class _Planned:
    """What an engine made of a tool, and of which one exactly."""

    ready: ReadyTool
    chosen: Chosen


class KeptTools:
    """The tools of one caller, run by engines that are kept; threads may share it."""

    def __init__(self, desk_for: DeskFor) -> None:
        self._desk_for = desk_for
        self._places: Remembered[Call[None], LedgerPlace] = Remembered(_rests_on_state)
        self._ready: Remembered[_ToolKey, ReadyTool] = Remembered(paths_of_tool)
        self._plans: Remembered[_ToolKey, _Planned] = Remembered(_rests_on_plan)

    def place(self, around: Surroundings) -> LedgerPlace:
        """Where the record is kept, found safe now or before."""
        call = Call.of(None, around, None)
        return self._places.answer(call, lambda: ledger_place(around), lambda _: True)

    def ready(self, call: ToolCall, around: Surroundings, journal: Journal) -> ReadyTool:
        """The tool, as it would be made ready now."""
        accepted = acceptances_of(journal)
        state = self.place(around).folder
        return self._ready.answer(
            Call.of(call, around, call.workspace),
            lambda: ready_tool(call, around, journal),
            lambda known: (
                is_lasting(known, around)
                and _stands_as_before(known, accepted)
                and _has_its_bytes(known, state)
            ),
        )

    @contextmanager
    def chosen(
        self, ready: ReadyTool, ground: EngineGround, around: Surroundings
    ) -> Iterator[Chosen]:
        """The engine that holds it, and what that made of it, as long as the block lasts."""
        with self._desk_for(ground) as desk:
            planned = self._plans.answer(
                Call.of(ready.call, around, ready.call.workspace),
                lambda: _Planned(ready, _chosen(ready, desk)),
                lambda known: known.ready is ready and _is_current(known.chosen, desk),
            )
            yield planned.chosen


def _chosen(ready: ReadyTool, desk: EngineDesk) -> Chosen:
    return choose_engine(ready.bound.engines, ready.bound.bound.confinement, desk)


def _is_current(chosen: Chosen, desk: EngineDesk) -> bool:
    """Whether the engine is one that is still kept, and would compile the same again."""
    engine = chosen.engine
    return desk.engine(engine.name) is engine and engine.is_current(chosen.plan)


def _stands_as_before(ready: ReadyTool, accepted: Accepted) -> bool:
    """Whether the workspace's documents count as they did."""
    strangers, place = ready.effective.strangers, str(ready.workspace.path)
    if not strangers:
        return True
    if ready.effective.is_accepted:
        return accepted.is_accepted(place, digest_of_files(strangers))
    return not accepted.has_any(place)


def _has_its_bytes(ready: ReadyTool, state: Path) -> bool:
    cache = HashCache(state / HASHES)
    try:
        return all(
            cache.digest_of(Path(path)) == digest for path, digest in ready.bound.files.items()
        )
    except ConsentryError:
        return False


def _rests_on_state(call: Call[None], _: LedgerPlace) -> Iterator[str]:
    return paths_of_state(call)


def _rests_on_plan(call: _ToolKey, planned: _Planned) -> Iterator[str]:
    bound = planned.ready.bound.bound
    yield from program_paths(bound)
    yield from roots_of(bound, planned.chosen.plan.plan, own_home(call.around).path)
