"""Every stable word of the product and what it means, from the tables that define them.

Nothing is explained twice: a summary is the row of the table that gives the word its meaning. A
word may be of several kinds; all of them are shown.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from consentry.base.codes import Code, ExitStatus
from consentry.enforce.host import FACT_MEANINGS
from consentry.enforce.programs import ENGINE_MEANINGS
from consentry.service.settings import SETTINGS


class WordKind(StrEnum):
    """What sort of word it is; the order here is the order of the listing."""

    CODE = "error code"
    STATUS = "exit status"
    SETTING = "setting"
    ENGINE = "engine"
    HOST = "host feature"

    @property
    def heading(self) -> str:
        """The heading of a list of them."""
        return _HEADINGS[self]


_HEADINGS = {
    WordKind.CODE: "Error codes",
    WordKind.STATUS: "Exit statuses",
    WordKind.SETTING: "Settings",
    WordKind.ENGINE: "Engines",
    WordKind.HOST: "Host features",
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
    _codes,
    _statuses,
    _settings,
    _engines,
    _host_features,
)
