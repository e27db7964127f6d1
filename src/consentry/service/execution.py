"""Runs one command line from beginning to end: find, bind, compile, and only then open the ledger.

What is wrong with the line, the workspace or the host is said before anything is decided.
"""

from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from consentry.enforce.engines.ground import EngineGround, leading
from consentry.enforce.native.streamends import Io
from consentry.record.auditfields import Trigger
from consentry.service.binding import BoundWish, workspace_here
from consentry.service.commandline import RunWish, bind_wish
from consentry.service.enginechoice import Chosen, choose_engine, engine_desk
from consentry.service.holdable import require_holdable
from consentry.service.imagechoice import chosen_image
from consentry.service.keepsettings import keeping_of
from consentry.service.keptruns import Place
from consentry.service.ledgers import ledger_place, state_folder
from consentry.service.recovering import recover_here, tidying_of
from consentry.service.refusals import Asked, journal_of_terminal, refusals_recorded
from consentry.service.runledger import Run
from consentry.service.runs import Runner
from consentry.service.surroundings import Surroundings, own_home
from consentry.service.takeover import Arrival, TakeoverTerms, require_rehearsable
from consentry.store.journal import Journal
from consentry.surface.protected import ProtectedRoots

if TYPE_CHECKING:
    from consentry.service.holding import Holding


def asked_for(wish: RunWish, trigger: Trigger) -> Asked:
    """The wish, as a refusal of it is recorded."""
    return Asked(wish.words, wish.profile_word, trigger)


def _ground(around: Surroundings, protected: ProtectedRoots) -> EngineGround:
    return EngineGround(
        own_home(around).path,
        protected,
        around.environ.get("PATH", ""),
        ledger_place(around).folder,
        environ=leading(around.environ),
    )


def _in_image(
    wish: RunWish, workspace: Path, around: Surroundings, image: str, held: ExitStack
) -> tuple[BoundWish, Chosen]:
    """The same for a program of an image: the engine has to look for it first."""
    from consentry.enforce.engines.container.namedengine import (  # noqa: PLC0415 - rarely needed
        NamedImageEngine,
    )
    from consentry.service.imagewishes import bind_in_image  # noqa: PLC0415 - as above

    def made(protected: ProtectedRoots) -> NamedImageEngine:
        engine = NamedImageEngine(_ground(around, protected), image)
        held.callback(engine.close)
        return engine

    bound, engine = bind_in_image(wish, workspace, around, made)
    return bound, Chosen(engine, engine.compile(bound.confinement))


def carry_out(
    wish: RunWish,
    around: Surroundings,
    io: Io,
    *,
    workspace: str | None = None,
    keep_partial: bool = False,
    arrival: Arrival = Arrival.AT_ITS_END,
    trigger: Trigger = Trigger.USER_COMMAND,
    holding: "Holding | None" = None,
) -> Run:
    """The run, over and recorded; raises when it could not be started or recorded.

    Args:
        wish: what is asked for.
        around: who asks, and where.
        io: where the program's streams lead.
        workspace: the folder it works on, where one is named.
        keep_partial: takes over what was written even if a limit or a signal ended it.
        arrival: when what it wrote reaches the host.
        trigger: what set it off.
        holding: how what a wish that `holds` is refused is asked about, while it waits.
    """
    home = own_home(around).path
    with ExitStack() as held:
        with refusals_recorded(asked_for(wish, trigger), lambda: journal_of_terminal(around)):
            keeping = keeping_of(around)
            image = chosen_image(wish.engines, wish.image, around)
            if wish.holds:
                require_holdable(wish.engines, wish.view, image)
            place_of_work = workspace_here(around, workspace)
            state = state_folder(around)  # refused before, where it would lie in the workspace
            if image is None:
                bound = bind_wish(wish, place_of_work, around)
                require_rehearsable(arrival, bound, keeping)
                desk = held.enter_context(engine_desk(_ground(around, bound.protected)))
                chosen = choose_engine(wish.engines, bound.confinement, desk)
            else:
                bound, chosen = _in_image(wish, place_of_work, around, image, held)
                require_rehearsable(arrival, bound, keeping)
        journal = held.enter_context(journal_of_terminal(around))
        place = Place(journal, state, keeping)
        recover_here(place)
        runner = Runner(chosen.engine, journal, state, home)
        terms = TakeoverTerms(keep_partial, arrival, tidying_of(place))
        if holding is not None:
            held.enter_context(asked_meanwhile(holding, journal, bound, arrival, io, around))
        return runner.run(bound, chosen.plan, io, terms=terms, trigger=trigger)


def asked_meanwhile(
    holding: "Holding",
    journal: Journal,
    bound: BoundWish,
    arrival: Arrival,
    io: Io,
    around: Surroundings,
) -> AbstractContextManager[None]:
    """Asks about what the run is refused, as the person's own settings say."""
    from consentry.service.holding import HeldRun, held_questions  # noqa: PLC0415 - few runs ask
    from consentry.service.ownsettings import own_settings  # noqa: PLC0415 - as above

    allows_direct = arrival is Arrival.AT_ITS_END
    run = HeldRun.of(bound.confinement, allows_direct=allows_direct)
    return held_questions(journal, run, holding, io, own_settings(around).approvals)
