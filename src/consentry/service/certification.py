"""Tries the certification corpus on this very program, and puts every answer on record (CONTRACTS §4-h-kpi-1, §4-h-kpi-2, §4-h-kpi-3).

    valid     imported, as any package is; and removed again
    invalid   imported three times over, each by a fresh reading; every answer is kept
    action    its control fields judged, as they are written

Every case goes through the functions that a real import uses and writes the events that a real import
writes, under a host of its own and marked as a controlled fixture; one `certification.checked` more says
what was tried and what came of each try. Nothing here decides whether that is good enough: whoever signs
off reads the answers.

What is registered on the way is removed after its case and once more at the end, also where something
fails. A run that was killed leaves at most what it was trying, and the next one begins by removing that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from consentry.base.canonical import Json
from consentry.base.errors import BadDocument
from consentry.base.values import dataclass, replace
from consentry.decide.identity import Identity
from consentry.declare.actioncontrols import judged_controls
from consentry.declare.certification import (
    VALID,
    CaseKind,
    CertificationCase,
    CertificationCorpus,
    certification_corpus,
)
from consentry.declare.modulecodes import PackageRejected
from consentry.record.events import EventType
from consentry.record.signofffields import CONTROL_FIELDS
from consentry.service.fixtures import FixtureCase
from consentry.service.moduleimport import GraphFile, import_module, read_module
from consentry.store.hostremoval import remove_host
from consentry.store.journal import About, Journal
from consentry.store.modules import StoredModules

REPEATS: Final = 3
"""How often a package is tried that has to be refused."""
UNSOUND: Final = "invalid"
"""What is said of an action one of whose control fields is not sound."""

_GRAPH: Final = "graph.json"
_SETTING_UP: Final = "corpus-host"
_NOTHING_LEFT: Final = "removed"


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """What one try was answered; `path` is None where nothing was refused."""

    code: str
    path: str | None = None

    def to_json(self) -> dict[str, Json]:
        """As it stands in the event."""
        return {"code": self.code, "path": self.path}


@dataclass(frozen=True, slots=True)
class CheckedCase:
    """A case and what came of it; `fields` are the control fields of an action."""

    case: CertificationCase
    answers: tuple[CaseAnswer, ...]
    fields: Mapping[str, bool] | None = None

    @property
    def expected(self) -> CaseAnswer:
        """What every try was to be answered."""
        return CaseAnswer(self.case.code, self.case.path)

    @property
    def is_as_expected(self) -> bool:
        """Whether each try was answered so."""
        return all(each == self.expected for each in self.answers)


def certify(
    journal: Journal,
    run_id: str,
    *,
    cases: Sequence[CertificationCase] | None = None,
    tell: Callable[[CheckedCase], object] = lambda _: None,
) -> list[CheckedCase]:
    """Tries the cases, all of the corpus where none are named; each is on record before it is told.

    Args:
        journal: The ledger, under the session that this happens in.
        run_id: What names the run of fixtures.
        cases: Which ones, in the order to be tried.
        tell: Hears of every case when it is over.
    """
    trial = _Trial(journal, run_id, certification_corpus())
    checked: list[CheckedCase] = []
    trial.begin()
    try:
        for case in trial.corpus.cases if cases is None else cases:
            checked.append(trial.checked(case))
            tell(checked[-1])
    finally:
        trial.end()
    return checked


class _Trial:
    """The corpus, tried in one store."""

    def __init__(self, journal: Journal, run_id: str, corpus: CertificationCorpus) -> None:
        self.corpus = corpus
        self._journal = journal
        self._run_id = run_id

    def checked(self, case: CertificationCase) -> CheckedCase:
        """The case after it was tried; on record."""
        journal = self._marked(case.case_id, case.code)
        try:
            found = self._tried(journal, case)
        finally:
            self._remove(journal)
        self._record(journal, found)
        return found

    def begin(self) -> None:
        """Removes whatever a run left that was killed, and says which commands there are."""
        journal = self._marked(_SETTING_UP, _NOTHING_LEFT)
        self._remove(journal)
        StoredModules(journal).register_host(self.corpus.host)

    def end(self) -> None:
        """Leaves nothing registered."""
        journal = self._marked(_SETTING_UP, _NOTHING_LEFT)
        self._remove(journal)
        remove_host(journal, self.corpus.host.host_id, Identity(journal.context.actor))

    def _tried(self, journal: Journal, case: CertificationCase) -> CheckedCase:
        if case.kind is CaseKind.ACTION:
            return self._judged(case)
        tries = REPEATS if case.kind is CaseKind.INVALID else 1
        return CheckedCase(case, tuple(self._imported(journal, case) for _ in range(tries)))

    def _imported(self, journal: Journal, case: CertificationCase) -> CaseAnswer:
        graph = None if case.graph is None else GraphFile(case.graph, _GRAPH)
        by = Identity(journal.context.actor)
        try:
            envelope = import_module(journal, self.corpus.host, case.content, by, graph)
        except BadDocument as refused:
            return CaseAnswer(refused.code.value, refused.problems[0].where.field)
        path = envelope.get("path")
        return CaseAnswer(str(envelope["code"]), None if path is None else str(path))

    def _judged(self, case: CertificationCase) -> CheckedCase:
        unsound = dict.fromkeys(CONTROL_FIELDS, False)
        try:
            package, _ = read_module(case.content, self.corpus.host)
            controls = judged_controls(case.graph or b"", package, self.corpus.host)
        except PackageRejected as refused:
            answer = CaseAnswer(refused.package_code.value, refused.path)
            return CheckedCase(case, (answer,), unsound)
        except BadDocument as refused:
            answer = CaseAnswer(refused.code.value, refused.problems[0].where.field)
            return CheckedCase(case, (answer,), unsound)
        found = next((each for each in controls if each.position == case.action), None)
        if found is None:
            return CheckedCase(case, (CaseAnswer(UNSOUND, f"actions[{case.action}]"),), unsound)
        wrong = found.first_unsound
        answer = (
            CaseAnswer(VALID)
            if wrong is None
            else CaseAnswer(UNSOUND, f"actions[{case.action}].{wrong}")
        )
        return CheckedCase(case, (answer,), found.fields)

    def _record(self, journal: Journal, found: CheckedCase) -> None:
        case = found.case
        payload: dict[str, Json] = {
            "corpusVersion": self.corpus.version,
            "caseId": case.case_id,
            "caseKind": case.kind.value,
            "subjectDigest": case.subject_digest,
            "answers": [each.to_json() for each in found.answers],
            "expectedCode": case.code,
            "expectedPath": case.path,
            "controlFields": None if found.fields is None else dict(found.fields),
        }
        about = About(f"certification:{case.case_id}")
        draft = journal.draft(EventType.CERTIFICATION_CHECKED, about, payload, journal.clock.now())
        journal.record(draft, change=lambda _: None)

    def _remove(self, journal: Journal) -> None:
        modules = StoredModules(journal)
        host_id = self.corpus.host.host_id
        for module_id, _ in modules.revisions(host_id):
            modules.remove(host_id, module_id, Identity(journal.context.actor))

    def _marked(self, case_id: str, expected: str) -> Journal:
        fixture = FixtureCase(self._run_id, case_id, expected)
        return replace(self._journal, context=fixture.marked(self._journal.context))


def cases_named(names: Iterable[str]) -> list[CertificationCase]:
    """The cases of these ids, in the order of the corpus."""
    wanted = frozenset(names)
    return [each for each in certification_corpus().cases if each.case_id in wanted]
