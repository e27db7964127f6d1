"""Which engine confines a run: the one that is named, its fallback, or the cheapest that holds all.

A named engine that is here and cannot hold what is asked for refuses, and nothing else is tried: the
fallback is for one that is missing. `auto` goes from the cheapest to the dearest, and takes the
fallback last. What none of them holds does not run.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, field
from consentry.declare.profile import EngineName
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import NotEnforceable
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.interface import Compiled, Engine
from consentry.enforce.engines.registry import FROM_CHEAPEST, made_engine
from consentry.enforce.programs import BUILT, NATIVE


@dataclass(frozen=True, slots=True)
class EngineWish:
    """What a line or a document says of engines."""

    named: EngineName = EngineName.AUTO
    fallback: EngineName | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """An engine, and what it made of the confinement."""

    engine: Engine
    plan: Compiled


@dataclass(slots=True)
class EngineDesk:
    """Makes engines, and keeps those it made until they are closed."""

    make: Callable[[str], Engine]
    _made: dict[str, Engine] = field(default_factory=dict)

    def engine(self, name: str) -> Engine:
        """The one of that name."""
        if name not in self._made:
            self._made[name] = self.make(name)
        return self._made[name]

    def close(self) -> None:
        """Ends what they keep running."""
        for each in self._made.values():
            each.close()
        self._made.clear()


@contextmanager
def engine_desk(ground: EngineGround) -> Iterator[EngineDesk]:
    """Engines for one run."""
    desk = EngineDesk(lambda name: made_engine(name, ground))
    try:
        yield desk
    finally:
        desk.close()


def choose_engine(wish: EngineWish, wanted: Confinement, desk: EngineDesk) -> Chosen:
    """The engine that will run it; raises `NotEnforceable`, or `Refused` where there is none."""
    if wish.named is EngineName.AUTO:
        return _cheapest(wish, wanted, desk)
    absent = _absence(wish.named, desk)
    if absent is None:
        return _compiled(wish.named, wanted, desk)
    if wish.fallback is None:
        raise Refused(
            Code.NOT_ENFORCEABLE,
            f"the engine `{wish.named}` is not here: {absent}",
            help_line="install it, or name another with --engine; `consentry engines` lists them",
        )
    absent_too = _absence(wish.fallback, desk)
    if absent_too is not None:
        raise Refused(
            Code.NOT_ENFORCEABLE,
            f"neither the engine `{wish.named}` is here ({absent}) nor its fallback "
            f"`{wish.fallback}` ({absent_too})",
            help_line="install one of them, or name another with --engine",
        )
    return _compiled(wish.fallback, wanted, desk)


def require_native(wish: EngineWish, what: str) -> None:
    """Raises where another engine is named for what only our own can run."""
    if wish.named in (EngineName.AUTO, EngineName.NATIVE) or wish.fallback is EngineName.NATIVE:
        return
    raise Refused(
        Code.NOT_ENFORCEABLE,
        f"`engine: {wish.named}` is asked for, and {what} run in the engine `native` alone",
        help_line="write `engine: auto` or `engine: native`",
    )


def _compiled(name: str, wanted: Confinement, desk: EngineDesk) -> Chosen:
    engine = desk.engine(name)
    return Chosen(engine, engine.compile(wanted))


def _cheapest(wish: EngineWish, wanted: Confinement, desk: EngineDesk) -> Chosen:
    last = wish.fallback
    order = [name for name in FROM_CHEAPEST if name != last]
    order += [last] if last in FROM_CHEAPEST else []
    first: NotEnforceable | None = None
    others: list[str] = []
    for name in order:
        if name != NATIVE and _absence(name, desk) is not None:
            continue
        try:
            return _compiled(name, wanted, desk)
        except NotEnforceable as problem:
            if first is None:
                first = problem
            else:
                others.append(f"`{name}` lacks {', '.join(e.control for e in problem.lacking)}")
    if first is None:
        raise Refused(Code.NOT_ENFORCEABLE, "no engine is on this host")
    if others:
        first.help_line = "; ".join([*filter(None, [first.help_line]), *others])
    raise first


def _absence(name: str, desk: EngineDesk) -> str | None:
    if name not in BUILT:
        return "it is not built in this version"
    return desk.engine(name).missing()
