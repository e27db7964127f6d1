"""The state machine of the proof: two programs, a model of them, and a witness who believes neither.

Every rule runs an operation on the product and on the model, compares what each says of it, and then the
whole state: what the events tell, what the tables hold, what the model knows. An operation is a tuple of
plain values, so that a counterexample can be read.
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, ClassVar, Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from consentry.base.clock import ManualClock
from consentry.base.units import Duration
from consentry.store.database import Database, Dialect
from consentry.store.modulechecks import ModuleChecks
from consentry.store.steps import Step
from tests.decide.samples import APPROVER, NOW, OTHER_MACHINE, OWNER
from tests.record.samples import WRITER
from tests.service.moduleboard import BAD, CONTENTS, MODULES, NEEDS, VERSIONS
from tests.service.modulemodel import Actor, Model, Raised, Steps
from tests.service.moduleprograms import Kill, Killed, Meanwhile, Program
from tests.service.modulewitness import Witness
from tests.store.conftest import Store

Operation: TypeAlias = tuple[Any, ...]
Opened: TypeAlias = Callable[[], Database]

CATALOGS: Final = ("1.0.0", "1.1.0", "2.0.0")
MODES: Final = ("normal", "block-rejected", "inspect-only", "deny-all")
DECISIONS: Final = ("approve_session", "approve_persistent", "deny", "cancel")
FIRST: Final = ("import", MODULES[0], VERSIONS[0], CONTENTS[0])
NOTHING: Final = ("nothing",)
WISHES: Final = (
    ("state.read",),
    ("module.storage.local", "state.read"),
    ("state.everything", "state.read"),
)

_modules = st.sampled_from((MODULES[0], MODULES[0], *MODULES))
_people = st.sampled_from((OWNER, APPROVER))
_recent = st.integers(0, 3)
_imports = st.tuples(
    st.just("import"), _modules, st.sampled_from(VERSIONS), st.sampled_from(CONTENTS)
)
_invokes = st.tuples(
    st.just("invoke"),
    _modules,
    st.sampled_from(tuple(NEEDS)),
    st.sampled_from(("interactive", "interactive", "automation")),
    st.sampled_from((None, "approve_session", "approve_persistent", *DECISIONS)),
    _people,
)
_asks = st.tuples(st.just("ask"), _modules, st.sampled_from(WISHES))
_answers = st.tuples(
    st.just("answer"), _recent, st.sampled_from(("approve_persistent", *DECISIONS)), _people
)
_revokes = st.tuples(st.just("revoke"), _recent)
_rare = st.one_of(
    st.tuples(st.just("bad"), st.sampled_from(tuple(BAD))),
    st.tuples(st.just("remove"), _modules),
    st.tuples(st.just("mode"), st.sampled_from(("normal", "normal", *MODES))),
    st.tuples(st.just("pass"), st.sampled_from((60_000, 6 * 60_000))),
    st.just(("expire",)),
    st.tuples(st.just("end"), _recent),
)
# Drawn by kind first: of what is merely listed each would be as frequent as the others.
_BY_KIND: Final[dict[str, st.SearchStrategy[Operation]]] = {
    "invoke": _invokes,
    "answer": _answers,
    "revoke": _revokes,
    "import": _imports,
    "ask": _asks,
    "rare": _rare,
}
_KINDS: Final = ("invoke",) * 4 + ("answer", "answer", "revoke", "import", "ask", "rare", "rare")
_DISTURBING: Final = ("import", "import", "revoke", "revoke", "answer", "invoke", "rare", "rare")


def _of(kinds: tuple[str, ...]) -> st.SearchStrategy[Operation]:
    return st.sampled_from(kinds).flatmap(_BY_KIND.__getitem__)


OPERATIONS: Final = _of(_KINDS)
OTHERS: Final = _of(_DISTURBING)
"""What comes in the middle: mostly what changes who may do what."""
PROGRAMS: Final = st.sampled_from((0, 1))
PLACES: Final = st.sampled_from((0, 0, 0, 1, 1, 2, 3))


class ModuleMachine(RuleBasedStateMachine):
    """Two programs on one store; the class is made for each test with what opens its store."""

    fresh: ClassVar[Callable[[ExitStack], Opened]]
    writers: ClassVar[tuple[str, str]] = (WRITER, OTHER_MACHINE)
    checks: ClassVar[type[ModuleChecks]] = ModuleChecks

    def __init__(self) -> None:
        super().__init__()
        self._closing = ExitStack()
        self._open = type(self).fresh(self._closing)
        self.clock = ManualClock(NOW)
        self.model = Model()
        self.witness = Witness(self._open())
        self.programs: list[Program] = []
        self.actors: list[Actor] = []
        self._databases: list[Database] = []

    def teardown(self) -> None:
        """Lets go of everything."""
        self._closing.close()

    @initialize(catalog=st.sampled_from(CATALOGS))
    def begin(self, catalog: str) -> None:
        """Two programs, of which the second may be of another version, and one module."""
        for number, version in enumerate((CATALOGS[0], catalog)):
            self._start(number, version)
        self.act(0, FIRST)

    @rule(who=PROGRAMS, operation=OPERATIONS)
    def act(self, who: int, operation: Operation) -> None:
        """One program does something."""
        self._tick()
        assert self._real(who, operation) == _ended(self._steps(who, operation))
        self._compare()

    @rule(who=PROGRAMS, operation=OPERATIONS, other=OTHERS, place=PLACES)
    def act_at_once(self, who: int, operation: Operation, other: Operation, place: int) -> None:
        """One program does something while the other is about to write."""
        self._tick()
        said: list[tuple[Any, ...]] = []

        def meanwhile() -> None:
            self.witness.look()
            self._tick_clock()
            said.append(self._real(1 - who, other))
            self.witness.look()

        stroke = self.programs[who].reached = Meanwhile(place, meanwhile)
        real = self._real(who, operation)
        self.programs[who].reached = None
        steps = self._steps(who, operation)
        if stroke.fell:
            _advance(steps, place + 1)
            self.model.now += 1
            assert said == [_ended(self._steps(1 - who, other))]
        assert real == _ended(steps)
        self._compare()

    @rule(who=PROGRAMS, operation=OPERATIONS, step=st.sampled_from(tuple(Step)), place=PLACES)
    def crash(self, who: int, operation: Operation, step: Step, place: int) -> None:
        """One program ends at a step of what it does, and is started again."""
        self._tick()
        kill = self.programs[who].reached = Kill(step, place)
        steps = self._steps(who, operation)
        try:
            real = self._real(who, operation)
        except Killed:
            _advance(steps, place + 1 + (step.value >= Step.COMMITTED.value))
            steps.close()
            self._databases[who].close()
            self._start(who, self.actors[who].catalog)
        else:
            assert not kill.fell
            assert real == _ended(steps)
            self.programs[who].reached = None
        self._compare()

    @rule(who=PROGRAMS, operation=OPERATIONS, catalog=st.sampled_from((None, None, *CATALOGS)))
    def act_later(self, who: int, operation: Operation, catalog: str | None) -> None:
        """One program does something, perhaps as another version of itself and in a new session."""
        if catalog is not None:
            session = self.actors[who].session
            assert self.programs[who].end(list(self.witness.sessions)[session]) == _ended(
                self.model.end_session(session)
            )
            self._databases[who].close()
            self._start(who, catalog)
        self.act(who, operation)

    def _start(self, number: int, catalog: str) -> None:
        database = self._open()
        program = Program(database, self.writers[number], self.clock, catalog, self.checks)
        actor = Actor(_ended(self.model.start_session())[1], catalog)
        self.programs[number : number + 1] = [program]
        self.actors[number : number + 1] = [actor]
        self._databases[number : number + 1] = [database]
        self.witness.catalogs[program.session_id] = catalog
        self.witness.look()

    def _real(self, who: int, operation: Operation) -> tuple[Any, ...]:
        program, (kind, *given) = self.programs[who], operation
        witness = self.witness
        match kind:
            case "pass":
                self.clock.advance(Duration(given[0]))
                return NOTHING
            case "answer":
                statuses = [each["status"] for each in witness.questions.values()]
                number = _one_of(statuses, given[0])
                named = None if number is None else list(witness.questions)[number]
                if named is None:
                    return NOTHING
                return program.do(lambda self: self.decide(named, *given[1:]))
            case "revoke" | "end":
                known = list(witness.grants if kind == "revoke" else witness.sessions)
                named = _recent_of(known, given[0])
                if named is None:
                    return NOTHING
                way = Program.revoke if kind == "revoke" else Program.end
                return program.do(lambda self: way(self, named))
            case "invoke":
                value = self.clock.now().unix_ms - NOW.unix_ms
                return program.do(lambda self: self.act(*given, value))
        ways: dict[str, Callable[..., tuple[Any, ...]]] = {
            "import": Program.import_good,
            "bad": Program.import_bad,
            "remove": Program.drop,
            "mode": Program.set_mode,
            "expire": Program.expire,
            "ask": Program.ask_for,
        }
        return program.do(lambda self: ways[kind](self, *given))

    def _steps(self, who: int, operation: Operation) -> Steps:
        model, actor, (kind, *given) = self.model, self.actors[who], operation
        match kind:
            case "pass":
                return self._passing(given[0])
            case "answer":
                number = _one_of([each["status"] for each in model.questions], given[0])
                if number is None:
                    return self._passing(0)
                return model.answer(actor, number, *given[1:])
            case "revoke" | "end":
                known: list[Any] = model.grants if kind == "revoke" else model.sessions
                number = _recent_of(range(len(known)), given[0])
                if number is None:
                    return self._passing(0)
                return model.revoke(number) if kind == "revoke" else model.end_session(number)
        ways: dict[str, Callable[..., Steps]] = {
            "ask": partial(model.request, actor),
            "invoke": partial(model.invoke, actor),
            "bad": partial(model.import_bad, MODULES[0]),
            "import": model.import_good,
            "remove": model.remove,
            "mode": model.set_mode,
            "expire": model.expire,
        }
        return ways[kind](*given)

    def _passing(self, milliseconds: int) -> Steps:
        self.model.now += milliseconds
        return NOTHING
        yield  # a generator that never waits

    def _tick(self) -> None:
        self._tick_clock()
        self.model.now += 1

    def _tick_clock(self) -> None:
        self.clock.advance(Duration(1))

    def _compare(self) -> None:
        """The witness's word against the tables, and both against the model."""
        witness, model = self.witness, self.model
        witness.look()
        witness.require_whole()
        sessions = list(witness.sessions)
        assert list(witness.sessions.values()) == model.sessions
        assert witness.mode == model.mode
        assert {
            key: (value["moduleVersion"], value["packageDigest"])
            for key, value in witness.modules.items()
        } == model.modules
        assert [each["status"] for each in witness.questions.values()] == [
            each["status"] for each in model.questions
        ]
        assert [_as_modelled(each, sessions) for each in witness.grants.values()] == model.grants
        assert sorted(witness.told, key=repr) == sorted(model.told, key=repr)
        assert witness.blocks() == model.blocks
        assert witness.storage() == model.storage


def _advance(steps: Steps, times: int) -> None:
    for _ in range(times):
        try:
            next(steps)
        except (StopIteration, Raised):
            return


def _ended(steps: Steps) -> tuple[Any, ...]:
    """What the model's operation comes to."""
    try:
        while True:
            next(steps)
    except StopIteration as ended:
        said: tuple[Any, ...] = ended.value
        return said
    except Raised as refused:
        return ("raised", refused.code)


def _recent_of(things: Any, number: int) -> Any:
    """One of the last few, the last being the first; None where there is nothing at all."""
    return things[max(len(things) - 1 - number, 0)] if len(things) else None


def _one_of(statuses: list[str], number: int) -> int | None:
    """The place of a question: mostly of one that waits, the first number being for any."""
    waiting = [place for place, status in enumerate(statuses) if status == "pending"]
    found: int | None = _recent_of(waiting if number and waiting else range(len(statuses)), number)
    return found


def _as_modelled(grant: dict[str, Any], sessions: list[str]) -> dict[str, Any]:
    ended = grant["revokedBy"]
    return {
        "module": grant["moduleId"],
        "content": (grant["moduleVersion"], grant["packageDigest"]),
        "capability": grant["capabilityId"],
        "scope": grant["scope"],
        "session": None if grant["sessionId"] is None else sessions.index(grant["sessionId"]),
        "by": grant["givenBy"],
        "catalog": grant["grantVersion"],
        "state": "standing" if ended is None else "void" if ended == "system" else "revoked",
    }


TABLES: Final = (
    *("ledger_event", "ledger_head", "approval_request", "capability_grant", "session"),
    *("module", "module_removed", "module_action", "module_block", "module_mode", "module_storage"),
)


def machine_on(store: Store, with_checks: type[ModuleChecks] = ModuleChecks) -> type[ModuleMachine]:
    """The machine on a store, which is emptied for each example.

    Both programs are of the same machine in a file, and of two machines on a server.
    """

    def emptied(closing: ExitStack) -> Opened:
        def opened() -> Database:
            database = store.open()
            closing.callback(database.close)
            return database

        with opened().writing() as transaction:
            for table in TABLES:
                transaction.run(f"DELETE FROM {table}")  # noqa: S608 - no value in it
        return opened

    is_one_machine = store.dialect is Dialect.SQLITE

    class OnStore(ModuleMachine):
        fresh = staticmethod(emptied)
        writers = (WRITER, WRITER if is_one_machine else OTHER_MACHINE)
        checks = with_checks

    return OnStore
