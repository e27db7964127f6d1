"""A drill: controlled fixtures that go the whole way, so that a sign-off has something to count (CONTRACTS §4).

    1  what a drill left that was killed is put in order
    2  every case is carried out through the interface that hosts have, in a session of its own, and what
       really came of it is compared with what has to come of it
    3  the certification corpus is tried
    4  the drill's module, documents and hosts are removed again, also where something failed

Everything happens under hosts of the drill's own and is marked as a controlled fixture. Nobody else's modules,
grants, documents and modes are touched; a running host beside it sees nothing of it but the ledger. One drill
at a time runs in a state directory.

The drill answers its own questions, as the person at this machine, through the channel of the library. Where
an approval passphrase is set, whoever starts it has to know the passphrase.

Not promised: that anything works which no case does.
"""

import fcntl
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from consentry.base.clock import Clock, SystemClock
from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import LedgerProblem, Refused
from consentry.base.ids import Uuid7Ids
from consentry.base.values import replace
from consentry.decide.capabilityask import CapabilityDecision
from consentry.decide.identity import Identity, Role
from consentry.decide.modulemode import ModuleMode
from consentry.declare.certification import CaseKind, certification_corpus
from consentry.record.transactionstates import TransactionState
from consentry.service.certification import CheckedCase, certify
from consentry.service.drillcases import CASES, DrillCase, ListedCase
from consentry.service.drillhost import (
    AT_ONCE,
    BESIDE,
    HOST_ID,
    STEPPED_ID,
    DrillPlace,
    Scene,
    package,
    stepped,
    why_of,
)
from consentry.service.drillresult import Drilled, DrilledCase, Otherwise
from consentry.service.drillshares import IsOver, at_once
from consentry.service.fixtures import FixtureCase, new_drill_id
from consentry.service.ledgers import state_folder
from consentry.service.sessions import end_session_of, journal_of_library
from consentry.service.surroundings import look_around
from consentry.service.transactionplace import USUAL_TERMS
from consentry.store.documentremoval import remove_document
from consentry.store.hostremoval import remove_host
from consentry.store.journal import Journal
from consentry.store.modules import StoredModules

LOCK_NAME: Final = "drill.lock"

_MODE: Final = 0o600
_BEGINNING: Final = "beginning"
_READY: Final = "ready"
_ENDING: Final = "ending"
_NOTHING_LEFT: Final = "removed"
_CORPUS_WORDS: Final = {
    CaseKind.VALID: "valid packages of the certification corpus are imported",
    CaseKind.INVALID: "invalid ones are refused, each three times for the same reason",
    CaseKind.ACTION: "the actions of its graphs have five sound control fields each",
}
_CORPUS_EXPECTED: Final = {
    CaseKind.VALID: "imported",
    CaseKind.INVALID: "refused alike",
    CaseKind.ACTION: "valid",
}
Tell = Callable[[DrilledCase], object]


def listed_cases() -> list[ListedCase]:
    """Every case that a drill has, those of the corpus by their kind."""
    own = [ListedCase(each.case_id, each.about, each.expected, each.times) for each in CASES]
    corpus = certification_corpus()
    return own + [
        ListedCase(_corpus_id(kind), words, _CORPUS_EXPECTED[kind], len(corpus.of_kind(kind)))
        for kind, words in _CORPUS_WORDS.items()
    ]


class Drill:
    """One drill in one state directory, for whoever knows its passphrase."""

    def __init__(
        self,
        environ: Mapping[str, str],
        passphrase: str | None = None,
        clock: Clock | None = None,
        cases: tuple[DrillCase, ...] = CASES,
    ) -> None:
        self._place = DrillPlace(environ, clock or SystemClock(), passphrase)
        self._cases = cases
        self._ids = Uuid7Ids(self._place.clock)
        self._drill_id = new_drill_id(self._ids)

    def run(self, only: Collection[str] = (), tell: Tell = lambda _: None) -> Drilled:
        """Carries the cases out, all of them where none is named; each is told when it is over."""
        drilled: list[DrilledCase] = []

        def over(case: DrilledCase) -> None:
            drilled.append(case)
            tell(case)

        with self._alone():
            self._begin()
            try:
                for case in self._cases:
                    if not only or case.case_id in only:
                        over(self._carried_out(case))
                for kind in CaseKind:
                    if not only or _corpus_id(kind) in only:
                        over(self._certified(kind))
            finally:
                self._end()
        return Drilled(self._drill_id, tuple(drilled))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While no other drill runs here."""
        folder = state_folder(look_around(self._place.environ))
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            lock = os.open(folder / LOCK_NAME, flags, _MODE)
        except OSError as problem:
            message = f"`{folder / LOCK_NAME}`: {(problem.strerror or '').lower()}"
            raise LedgerProblem(Code.STATE_UNUSABLE, message) from problem
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise Refused(Code.DRILL_REFUSED, "another drill is running here") from None
        finally:
            os.close(lock)

    def _begin(self) -> None:
        """Removes what a drill left that was killed, and imports the module."""
        fixture = FixtureCase(self._drill_id, _BEGINNING, _READY)
        with self._recording(fixture) as journal:
            mode = StoredModules(journal).mode().mode
        if mode is not ModuleMode.NORMAL:
            message = f"the mode of modules is {mode}, so no case could be carried out"
            raise Refused(Code.DRILL_REFUSED, message)
        self._clear(fixture)
        with self._place.host(fixture) as host:
            envelope = host.import_module(package())
        if not envelope["ok"]:
            message = f"the module of the drill was refused: {envelope['code']}"
            raise Refused(Code.DRILL_REFUSED, message)

    def _end(self) -> None:
        """Leaves nothing of the drill but its events."""
        self._clear(FixtureCase(self._drill_id, _ENDING, _NOTHING_LEFT))

    def _clear(self, fixture: FixtureCase) -> None:
        """Ends what is open in the documents of the drill, and removes them, its modules and its host."""
        with self._recording(fixture) as journal:
            for document_id in (HOST_ID, STEPPED_ID, *BESIDE):
                if remove_document(journal, document_id) is None:
                    self._settle(fixture, document_id)
                    remove_document(journal, document_id)
            by, modules = Identity(journal.context.actor), StoredModules(journal)
            for module_id, _ in modules.revisions(HOST_ID):
                modules.remove(HOST_ID, module_id, by)
            remove_host(journal, HOST_ID, by)

    def _settle(self, fixture: FixtureCase, document_id: str) -> None:
        """Nobody can go on with anything in this document afterwards, as far as can be told."""
        is_stepped = document_id == STEPPED_ID
        document = stepped(self._place.clock, lambda: None) if is_stepped else document_id
        with self._place.host(fixture, document=document) as host:
            host.transactions.settle_all()
            for each in host.pending():
                deny = CapabilityDecision.DENY
                host.answer(each.request_id, deny, passphrase=self._place.passphrase)
            for failed in host.transactions.listed([TransactionState.FAILED_PRE_APPLY]):
                host.transactions.reject(failed.tx_id, host.user, Role.OWNER, "left by a drill")

    def _carried_out(self, case: DrillCase) -> DrilledCase:
        names = [f"{case.case_id}.{number:02}" for number in range(1, case.times + 1)]
        if case.is_shared:
            shares = [
                partial(self._repeated, case, case.case_id, names[at::AT_ONCE], document_id)
                for at, document_id in enumerate(BESIDE)
            ]
            found = [each for share in at_once(shares) for each in share]
        else:
            found = [each for name in names for each in self._repeated(case, name, [name], HOST_ID)]
        wrong = [each for each in found if each is not None]
        good = case.times - len(wrong)
        return DrilledCase(case.case_id, case.about, case.expected, case.times, good, tuple(wrong))

    def _repeated(
        self,
        case: DrillCase,
        fixture_id: str,
        names: Sequence[str],
        document_id: str,
        is_over: IsOver = lambda: False,
    ) -> list[Otherwise | None]:
        """Repetitions of a case in one session; None for each that came out as it has to."""
        fixture = FixtureCase(self._drill_id, fixture_id, case.expected)
        with self._at(case, fixture, document_id) as scene:
            return [_once(case, scene, name) for name in names if not is_over()]

    @contextmanager
    def _at(self, case: DrillCase, fixture: FixtureCase, document_id: str) -> Iterator[Scene]:
        """A session of that case, and whoever takes part in it."""
        scenes: list[Scene] = []

        def step_in() -> None:
            scenes[0].revoke()

        document = stepped(self._place.clock, step_in) if case.steps_in else document_id
        terms = (
            USUAL_TERMS
            if case.ttl_seconds is None
            else replace(USUAL_TERMS, ttl_seconds=case.ttl_seconds)
        )
        with self._place.host(fixture, terms, document) as host:
            scenes.append(Scene(self._place, fixture, host))
            yield scenes[0]

    def _certified(self, kind: CaseKind) -> DrilledCase:
        cases = certification_corpus().of_kind(kind)
        fixture = FixtureCase(self._drill_id, _corpus_id(kind), _CORPUS_EXPECTED[kind])
        with self._recording(fixture) as journal:
            checked = certify(journal, self._drill_id, cases=cases)
        wrong = [_told_otherwise(each) for each in checked if not each.is_as_expected]
        return DrilledCase(
            _corpus_id(kind),
            _CORPUS_WORDS[kind],
            _CORPUS_EXPECTED[kind],
            len(checked),
            len(checked) - len(wrong),
            tuple(wrong),
        )

    @contextmanager
    def _recording(self, fixture: FixtureCase) -> Iterator[Journal]:
        """The ledger, in a session of that fixture."""
        around = look_around(self._place.environ)
        journal = journal_of_library(around, self._place.clock, self._ids, fixture)
        try:
            yield journal
        finally:
            end_session_of(journal)


def _once(case: DrillCase, scene: Scene, name: str) -> Otherwise | None:
    """Carries a case out once; None where it came out as it has to."""
    scene.name = name
    try:
        found = case.act(scene)
    except LedgerProblem as problem:
        if problem.code.status is ExitStatus.LEDGER:
            raise
        return Otherwise(scene.name, "an error", why_of(problem))
    except Exception as problem:  # noqa: BLE001 - whatever goes wrong in a case is what it found
        return Otherwise(scene.name, "an error", why_of(problem))
    return None if found == case.expected else Otherwise(scene.name, found, "without an error")


def _told_otherwise(checked: CheckedCase) -> Otherwise:
    answers = [f"{each.code} at {each.path}" for each in dict.fromkeys(checked.answers)]
    expected = f"{checked.case.code} at {checked.case.path}"
    return Otherwise(checked.case.case_id, ", ".join(answers), f"and not {expected}")


def _corpus_id(kind: CaseKind) -> str:
    return f"corpus-{kind.value}"
