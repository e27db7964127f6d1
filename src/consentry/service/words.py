"""Every stable word of the product and what it means, from the tables that define them.

Nothing is explained twice: a summary is the row of the table that gives the word its meaning. A
word may be of several kinds; all of them are shown.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum

from consentry.base.codes import Code, ExitStatus
from consentry.base.values import dataclass
from consentry.enforce.host import FACT_MEANINGS
from consentry.enforce.programs import ENGINE_MEANINGS
from consentry.record.transactionstates import STEPS, TransactionState
from consentry.service.modulewords import PACKAGES, REJECTIONS
from consentry.service.settings import SETTINGS
from consentry.service.terms import TERMS
from consentry.service.transactionwords import STATES
from consentry.surface.catalog import capability_catalog
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.lattice import NOTHING, standing
from consentry.surface.permission_sets import PermissionSet, definition, is_legal_step
from consentry.surface.sentence import in_words


class WordKind(StrEnum):
    """What sort of word it is; the order here is the order of the listing."""

    TERM = "term"
    PERMISSION_SET = "permission set"
    DIMENSION = "surface dimension"
    CAPABILITY = "module capability"
    REJECTION = "module rejection"
    PACKAGE = "package refusal"
    TRANSACTION = "transaction state"
    CODE = "error code"
    STATUS = "exit status"
    SETTING = "setting"
    ENGINE = "engine"
    HOST = "host feature"
    PATH = "path"

    @property
    def heading(self) -> str:
        """The heading of a list of them."""
        return _HEADINGS[self]


_HEADINGS = {
    WordKind.TERM: "Terms",
    WordKind.PERMISSION_SET: "Permission sets",
    WordKind.DIMENSION: "Dimensions of a surface",
    WordKind.CAPABILITY: "Capabilities of a module",
    WordKind.REJECTION: "Why an action of a module is rejected",
    WordKind.PACKAGE: "Why a module package is refused",
    WordKind.TRANSACTION: "States of a transaction",
    WordKind.CODE: "Error codes",
    WordKind.STATUS: "Exit statuses",
    WordKind.SETTING: "Settings",
    WordKind.ENGINE: "Engines",
    WordKind.HOST: "Host features",
    WordKind.PATH: "Paths",
}


@dataclass(frozen=True, slots=True)
class Word:
    """A word, its kind, its meaning in one sentence, and what else there is to say, as pairs."""

    name: str
    kind: WordKind
    summary: str
    details: tuple[tuple[str, str], ...] = ()


def all_words() -> tuple[Word, ...]:
    """Every word, by kind, in the order of the tables."""
    return tuple(word for source in _SOURCES for word in source())


def words_named(name: str) -> tuple[Word, ...]:
    """The words of that name; only when there is none, those that differ in case."""
    words = all_words()
    exact = tuple(word for word in words if word.name == name)
    return exact or tuple(word for word in words if word.name.lower() == name.lower())


def _terms() -> Iterable[Word]:
    for term in TERMS:
        yield Word(term.name, WordKind.TERM, term.meaning, (("it is not", term.is_not),))


def _permission_sets() -> Iterable[Word]:
    for name in PermissionSet:
        found = definition(name)
        native = found.native
        details = (
            ("opens", in_words(found.surface)),
            ("steps from here", ", ".join(found.steps) or "none"),
            (
                "steps to here",
                ", ".join(s for s in PermissionSet if is_legal_step(s, name)) or "none",
            ),
            ("native: workspace", native.workspace),
            ("native: /tmp and home", native.tmp_and_home),
            ("native: other reads", native.other_reads),
            ("native: network", native.net),
            ("native: environment", native.env),
            ("native: run and ffi", native.run_and_ffi),
            ("Deno", " ".join(found.deno_flags)),
        )
        yield Word(str(name), WordKind.PERMISSION_SET, found.summary, details)


def _dimensions() -> Iterable[Word]:
    for dimension in Dimension:
        details = (
            ("as a field", dimension.key),
            ("values", _values_of(dimension)),
        )
        yield Word(str(dimension.value), WordKind.DIMENSION, dimension.meaning, details)


def _values_of(dimension: Dimension) -> str:
    standing_of_nothing = standing(NOTHING[dimension])
    if dimension is Dimension.DYNAMIC_CODE_LOAD:
        return ", ".join(LoadLevel)
    return ", ".join(Level) if isinstance(standing_of_nothing, str) else "a list"


def _capabilities() -> Iterable[Word]:
    catalog = capability_catalog()
    for entry in catalog.entries:
        details = (
            ("limits", "; ".join(entry.limits)),
            ("enforced by", "the host application's broker; it is no power of the system"),
            ("catalog version", catalog.version),
        )
        yield Word(entry.capability_id, WordKind.CAPABILITY, entry.scope, details)


def _rejections() -> Iterable[Word]:
    for code, (meaning, remedy) in REJECTIONS.items():
        yield Word(code.value, WordKind.REJECTION, meaning, (("what to do", remedy),))


def _package_refusals() -> Iterable[Word]:
    for code, meaning in PACKAGES.items():
        details = (("what to do", Code.MODULE_REJECTED.remedy),)
        yield Word(code.value, WordKind.PACKAGE, meaning, details)


def _transaction_states() -> Iterable[Word]:
    for state, (meaning, helps) in STATES.items():
        details = (
            ("what helps", helps),
            (
                "goes to",
                ", ".join(each for each in TransactionState if each in STEPS[state]) or "nothing",
            ),
        )
        yield Word(state.value, WordKind.TRANSACTION, meaning, details)


def _codes() -> Iterable[Word]:
    for code in Code:
        status = f"{int(code.status)}, {code.status.meaning}"
        details = (("what to do", code.remedy), ("exit status", status))
        yield Word(str(code), WordKind.CODE, code.meaning, details)


def _statuses() -> Iterable[Word]:
    for status in ExitStatus:
        codes = ", ".join(str(code) for code in Code if code.status is status)
        details = (("error codes", codes),) if codes else ()
        yield Word(str(int(status)), WordKind.STATUS, status.meaning, details)


def _settings() -> Iterable[Word]:
    for setting in SETTINGS:
        details = (("kind", str(setting.kind)), ("default", setting.default))
        yield Word(setting.name, WordKind.SETTING, setting.meaning, details)


def _engines() -> Iterable[Word]:
    for name, meaning in ENGINE_MEANINGS.items():
        yield Word(name, WordKind.ENGINE, meaning)


def _host_features() -> Iterable[Word]:
    for name, meaning in FACT_MEANINGS.items():
        yield Word(name, WordKind.HOST, meaning)


_SOURCES: tuple[Callable[[], Iterable[Word]], ...] = (
    _terms,
    _permission_sets,
    _dimensions,
    _capabilities,
    _rejections,
    _package_refusals,
    _transaction_states,
    _codes,
    _statuses,
    _settings,
    _engines,
    _host_features,
)
