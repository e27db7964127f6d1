"""The state machine of the proof of transactions: two programs, a model of them, and a witness of neither.

Every rule runs an operation on the product and on the model, compares what each says of it, and then the
whole state: what the events tell, what the tables hold, what the model knows. An operation is a tuple of
plain values, so that a counterexample can be read. What befalls a program in the middle of an operation is a
stroke (`transactionstrokes`), at one of its effects.
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, ClassVar, Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from consentry.base.clock import ManualClock
from consentry.base.units import Duration
from consentry.decide.identity import Role
from consentry.store.database import Database, Dialect
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase
from consentry.store.steps import Step
from tests.decide.samples import NOW, OTHER_MACHINE, OWNER
from tests.record.samples import WRITER
from tests.service.transactionboard import VERSIONS
from tests.service.transactionmodel import Model
from tests.service.transactionmodelstate import Raised, Steps
from tests.service.transactionoperations import (
    ANY,
    FITTING,
    HOW,
    KEYS,
    LASTING,
    LATER,
    LEASE_OVER,
    NOTHING_TO_DO,
    OPERATIONS,
    OTHERS,
    PLACES,
    PROGRAMS,
    WAYS,
    WHEN,
    Operation,
    drawn,
)
from tests.service.transactionprograms import NOTHING, Program
from tests.service.transactionstrokes import (
    BreakIn,
    Failing,
    Kill,
    Killed,
    Meanwhile,
    Stroke,
    Together,
)
from tests.service.transactionwitness import Witness
from tests.store.conftest import Store

Opener: TypeAlias = Callable[[], Database]
Fresh: TypeAlias = Callable[[ExitStack], tuple[Opener, Opener]]
"""Makes everything empty, and opens the ledger's database and the document's."""


class TransactionMachine(RuleBasedStateMachine):
    """Two programs on one ledger and one document; the class is made for each test with what opens them."""

    fresh: ClassVar[Fresh]
    writers: ClassVar[tuple[str, str]] = (WRITER, OTHER_MACHINE)

    def __init__(self) -> None:
        super().__init__()
        self._closing = ExitStack()
        self._open, self._open_documents = type(self).fresh(self._closing)
        self.clock = ManualClock(NOW)
        self.model = Model(NOW.unix_ms)
        self.witness = Witness(self._open(), self._open_documents())
        self.living: set[Any] = set()
        self.programs: list[Program] = []
        self._databases: list[tuple[Database, Database]] = []
        self._values = 0
        self._is_sound = False

    def teardown(self) -> None:
        """Whatever is left in the middle is settled by time and a look, or blocks the document."""
        try:
            if self._is_sound:
                self._settle_everything()
        finally:
            self._closing.close()

    def _settle_everything(self) -> None:
        for _ in range(2):
            self._pass(LATER[2])
            for who in (0, 1):
                self.act(who, ("settle",))
        unsettled = {"APPLYING", "ROLLBACK_PENDING", "RECOVERY_PENDING"}
        assert unsettled.isdisjoint(self.witness.attempts.values())

    @initialize(is_granted=st.sampled_from((True, True, False)))
    def begin(self, *, is_granted: bool) -> None:
        """Two programs, one module, perhaps granted what it asks for."""
        for number in (0, 1):
            self._start(number)
        self.act(0, ("import", VERSIONS[0]))
        if is_granted:
            self.act(0, ("allow",))

    @rule(who=PROGRAMS, operation=ANY)
    def act(self, who: int, operation: Operation) -> None:
        """One program does something."""
        operation = self._drawn(operation, is_whole=True)
        self._same(self._real(who, operation), self._whole(who, operation))
        self._compare()

    @rule(who=PROGRAMS, key=KEYS, late=st.sampled_from((0, 0, *LATER[2:])))
    def apply_ready(self, who: int, key: str | None, late: int) -> None:
        """A change that nobody has to be asked about, applied; perhaps too late, perhaps with a key that was used."""
        self._make_ready(who, "person")
        self.act(1 - who, ("wait", late))
        self.act(1 - who, ("apply", 1, key))

    @rule(who=PROGRAMS, operation=OPERATIONS, other=OTHERS, place=PLACES)
    def act_at_once(self, who: int, operation: Operation, other: Operation, place: int) -> None:
        """One program does something while the other is about to have an effect."""
        operation, other = self._drawn(operation), self._drawn(other)
        said: list[tuple[Any, ...]] = []

        def meanwhile() -> None:
            self.witness.look()
            said.append(self._real(1 - who, other))
            self.witness.look()

        stroke = Meanwhile(place, meanwhile)
        steps = self._steps(who, operation)
        real = self._struck(who, operation, stroke)
        if stroke.fell:
            _advance(steps, place + 1)
            self._same(said, [self._whole(1 - who, other)])
        self._same(real, _ended(steps))
        self._compare()

    @rule(
        who=PROGRAMS,
        operation=OPERATIONS,
        step=st.sampled_from(tuple(Step)),
        when=WHEN,
        place=PLACES,
    )
    def crash(self, who: int, operation: Operation, step: Step, when: str, place: int) -> None:
        """One program ends at an effect of what it does, and is started again."""
        operation = self._drawn(operation)
        kill = Kill(place, step, when)
        steps = self._steps(who, operation)
        try:
            real = self._struck(who, operation, kill)
        except Killed:
            _advance(steps, place + 1 + kill.took_effect)
            steps.close()
            for each in self._databases[who]:
                each.close()
            self._start(who)
        else:
            assert not kill.fell
            self._same(real, _ended(steps))
        self._compare()

    @rule(who=PROGRAMS, operation=OPERATIONS, how=HOW, place=st.integers(0, 2), lasting=LASTING)
    def fail(self, who: int, operation: Operation, how: str, place: int, *, lasting: bool) -> None:
        """The document store raises, is slow, or lies, at one commit or settling; perhaps it stays away."""
        if operation[0] == "apply":
            self._make_ready(who, "person")
        operation = self._drawn(operation)
        self._failing(who, operation, place, how, lasting=lasting)
        if lasting:
            self._pass(LATER[2])
            self._failing(1 - who, self._drawn(("look", 1)), 0, "before", lasting=lasting)

    @rule(
        who=PROGRAMS,
        operation=drawn("apply", "apply", "apply", "back"),
        other=drawn("takeaway"),
        ask=st.sampled_from((1, 2, 2, 3)),
        lasting=LASTING,
    )
    def break_in(
        self, who: int, operation: Operation, other: Operation, ask: int, *, lasting: bool
    ) -> None:
        """What a module was granted is taken away in the middle of its writes; perhaps the store goes, too."""
        if operation[0] == "apply":
            self._make_ready(who, "module")
            operation = ("apply", 1, None)
        operation = self._drawn(operation)
        said: list[tuple[Any, ...]] = []
        wanted: list[tuple[Any, ...]] = []

        def meanwhile() -> None:
            self.witness.look()
            said.append(self._real(1 - who, other))
            self.witness.look()

        stroke: Stroke = BreakIn(0, ask, meanwhile)
        self.model.break_in = (0, ask, lambda: wanted.append(self._whole(1 - who, other)))
        if lasting:
            stroke = Together(BreakIn(0, ask, meanwhile), self._fails(1, "before", lasting=lasting))
        real = self._struck(who, operation, stroke)
        self._same(real, self._whole(who, operation))
        assert said == wanted
        self.model.break_in = self.model.failing = None
        self._compare()
        if lasting:
            self._pass(LATER[2])
            self._failing(1 - who, self._drawn(("look", 1)), 0, "before", lasting=lasting)

    def _make_ready(self, who: int, by: str) -> None:
        """Has a change waiting that can be applied at once."""
        while by == "module" and not self.model.may_act:
            self.act(who, ("allow",))
        self.act(who, ("propose", by, False, [("put", "/notes/a"), ("put", "/notes/b")]))

    def _failing(
        self, who: int, operation: Operation, place: int, how: str, *, lasting: bool
    ) -> None:
        stroke = self._fails(place, how, lasting=lasting)
        real = self._struck(who, operation, stroke)
        self._same(real, self._whole(who, operation))
        self.model.failing = None
        self._compare()

    def _fails(self, place: int, how: str, *, lasting: bool) -> Failing:
        self.model.failing = (place, how, lasting)
        return Failing(place, how, self.clock, lasting=lasting)

    def _same(self, real: Any, modelled: Any) -> None:
        assert real == modelled, (real, modelled)

    def _start(self, number: int) -> None:
        databases = (self._open(), self._open_documents())
        for old in self.programs[number : number + 1]:
            self.living.discard(old.process)
        program = Program(*databases, self.writers[number], self.clock, self.living)
        self.programs[number : number + 1] = [program]
        self._databases[number : number + 1] = [databases]
        self.model.living = self.living
        self.witness.look()

    def _struck(self, who: int, operation: Operation, stroke: Stroke) -> tuple[Any, ...]:
        program = self.programs[who]
        program.stroke = stroke
        try:
            return self._real(who, operation)
        finally:
            program.stroke = NOTHING

    def _pass(self, milliseconds: int) -> None:
        self.clock.advance(Duration(milliseconds))
        self.model.now += milliseconds

    def _drawn(self, operation: Operation, *, is_whole: bool = False) -> Operation:
        """The operation with what it needs of this moment: values that are new, and whose transaction."""
        self._is_sound = False
        self._pass(1)
        kind, *given = operation
        if kind == "propose" and given[0] == "module" and not self.model.may_act and is_whole:
            return self._lacking()
        if kind == "propose":
            by, is_ruled, ops = given
            is_able = by == "stranger" or (by == "module" and self.model.may_act)
            version = self.model.version or VERSIONS[0] if is_able else None
            return (kind, version, is_ruled, [self._operation(*each) for each in ops])
        if kind == "on":
            return self._further(given[0])
        if kind == "allow":
            return self._lacking()
        if kind in FITTING:
            return (kind, self._one_of(FITTING[kind], given[0]), *given[1:])
        return operation

    def _further(self, number: int) -> Operation:
        """What carries one of the last transactions a step further, from its beginning to its end."""
        latest = [each[-1] for each in self.model.transactions]
        going = [each for each in latest if each["state"] in WAYS]
        if not going:
            return ("propose", None, False, [self._operation("put", "/notes/a")])
        chosen = going[max(len(going) - 1 - number // 2, 0)]
        way, *rest = WAYS[chosen["state"]]
        return (way, chosen["tx"], *rest)

    def _lacking(self) -> Operation:
        """What the module lacks to act."""
        model = self.model
        if model.version is None:
            return ("import", VERSIONS[0])
        if model.mode != "normal":
            return ("mode", "normal")
        return ("grant", model.version)

    def _one_of(self, states: tuple[str, ...], number: int) -> int | None:
        """Which transaction: mostly one that this fits, 0 being for any."""
        latest = [each[-1] for each in self.model.transactions]
        fitting = [each["tx"] for each in latest if each["state"] in states]
        known = fitting if number and fitting else [each["tx"] for each in latest]
        return known[max(len(known) - 1 - number // 2, 0)] if known else None

    def _operation(self, op: str, path: str) -> dict[str, Any]:
        self._values += 1
        _, kind, name = path.split("/")
        if op == "put":
            op = "replace" if (kind, name) in self.model.entities else "add"
        asked: dict[str, Any] = {"op": op, "path": path}
        return asked if op == "remove" else {**asked, "value": f"value {self._values}"}

    def _real(self, who: int, operation: Operation) -> tuple[Any, ...]:
        program, (kind, *given) = self.programs[who], operation
        transactions = program.transactions
        if kind == "wait":
            self.clock.advance(Duration(given[0]))
            return NOTHING_TO_DO
        if given and given[0] is None and kind != "propose":
            return NOTHING_TO_DO
        if kind == "overtake":
            self.clock.advance(Duration(LEASE_OVER))
            tx, way = given
            return self._real(who, (way, tx, None) if way != "look" else (way, tx))
        ways: dict[str, Callable[..., tuple[Any, ...]]] = {
            "propose": lambda *given: _told(program.propose(*given)),
            "import": program.import_version,
            "remove": program.remove,
            "mode": program.set_mode,
            "grant": program.grant,
            "revoke": program.revoke,
            "settle": lambda: (transactions.settle_all(), ("settled",))[1],
        }
        if kind in ways:
            return program.do(lambda _: ways[kind](*given))
        tx_id = self.witness.transactions[given[0]]
        of_one: dict[str, Callable[..., tuple[Any, ...]]] = {
            "answer": lambda is_yes: program.answer(tx_id, is_yes),
            "apply": lambda key: _told(transactions.apply(tx_id, key)),
            "back": lambda key: _told(transactions.roll_back(tx_id, key)),
            "again": lambda: _told(transactions.preview_again(tx_id)),
            "reject": lambda: _told(transactions.reject(tx_id, OWNER, Role.OWNER)),
            "resolve": lambda: _resolved(program, tx_id),
            "look": lambda: _told(transactions.look(tx_id)),
        }
        return program.do(lambda _: of_one[kind](*given[1:]))

    def _steps(self, who: int, operation: Operation) -> Steps:
        model, (kind, *given) = self.model, operation
        me = (self.programs[who].process, self.writers[who])
        if given and given[0] is None and kind != "propose":
            return _only(lambda: NOTHING_TO_DO)
        if kind == "overtake":
            tx, way = given
            return self._overtaking(who, (way, tx, None) if way != "look" else (way, tx))
        at_once: dict[str, Callable[..., tuple[Any, ...]]] = {
            "wait": self._wait,
            "import": model.import_version,
            "remove": model.remove,
            "mode": model.set_mode,
            "grant": model.grant,
            "revoke": model.revoke,
        }
        if kind in at_once:
            return _only(lambda: at_once[kind](*given))
        ways: dict[str, Callable[..., Steps]] = {
            "propose": model.propose,
            "answer": model.answer,
            "apply": partial(model.apply, me),
            "back": partial(model.roll_back, me),
            "again": model.preview_again,
            "reject": model.reject,
            "resolve": model.resolve,
            "look": partial(model.look, me),
            "settle": partial(model.settle_all, me),
        }
        return ways[kind](*given)

    def _overtaking(self, who: int, operation: Operation) -> Steps:
        self.model.now += LEASE_OVER
        return (yield from self._steps(who, operation))

    def _wait(self, milliseconds: int) -> tuple[Any, ...]:
        self.model.now += milliseconds
        return NOTHING_TO_DO

    def _whole(self, who: int, operation: Operation) -> tuple[Any, ...]:
        return _ended(self._steps(who, operation))

    def _compare(self) -> None:
        """The witness's word against the tables, and both against the model."""
        witness, model = self.witness, self.model
        witness.look()
        witness.require_whole()
        assert self.clock.now().unix_ms == model.now
        names = witness.transactions
        assert {(names.index(tx), no): state for (tx, no), state in witness.attempts.items()} == {
            (each["tx"], each["no"]): each["state"]
            for attempts in model.transactions
            for each in attempts
        }
        assert witness.entities() == model.entities
        log: dict[tuple[int, int], list[str]] = {}
        for (tx, no, _, _), kind in model.log.items():
            log.setdefault((tx, no), []).append(kind)
        assert {(names.index(tx), no): kinds for (tx, no), kinds in witness.log().items()} == {
            key: sorted(kinds) for key, kinds in log.items()
        }
        self._is_sound = True


def _told(attempt: Any) -> tuple[Any, ...]:
    return ("attempt", attempt.attempt_no, attempt.state.value)


def _resolved(program: Program, tx_id: str) -> tuple[Any, ...]:
    program.transactions.resolve(tx_id, OWNER, Role.OWNER, "looked at it")
    return ("resolved",)


def _only(act: Callable[[], tuple[Any, ...]]) -> Steps:
    """A generator that never waits."""
    yield from ()
    return act()


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


TABLES: Final = (
    *("ledger_event", "ledger_head", "approval_request", "capability_grant", "session"),
    *("module", "module_removed", "module_action", "module_block", "module_mode", "module_host"),
    *("transaction_attempt", "transaction_content", "transaction_key", "transaction_block"),
)
DOCUMENT_TABLES: Final = ("document", "document_entity", "document_commit")


def machine_on(store: Store) -> type[TransactionMachine]:
    """The machine on a store, which is emptied for each example.

    In a file both programs are of the same machine, and the document is another file, so that somebody can act
    in the middle of a commit; on a server they are of two machines, and everything is in one database.
    """
    is_file = store.dialect is Dialect.SQLITE

    def opened(closing: ExitStack) -> Database:
        database = store.open()
        closing.callback(database.close)
        return database

    def opened_documents(closing: ExitStack) -> Database:
        if not is_file:
            return opened(closing)
        assert not isinstance(store.url_or_path, str)
        database = SqliteDatabase(store.url_or_path.with_name("documents.db"))
        closing.callback(database.close)
        migrate(database)
        return database

    def emptied(closing: ExitStack) -> tuple[Opener, Opener]:
        _empty(opened(closing), TABLES)
        _empty(opened_documents(closing), DOCUMENT_TABLES)
        return partial(opened, closing), partial(opened_documents, closing)

    class OnStore(TransactionMachine):
        fresh = staticmethod(emptied)
        writers = (WRITER, WRITER if is_file else OTHER_MACHINE)

    return OnStore


def _empty(database: Database, tables: tuple[str, ...]) -> None:
    with database.writing() as transaction:
        for table in tables:
            transaction.run(f"DELETE FROM {table}")  # noqa: S608 - no value in it
