"""Tries whether a document store keeps the rules that transactions rest on (`decide.documentstore`).

    check_document_store(lambda name: MyStore(folder, name))

`open_store` opens the document of that name, as another process would: the same name is the same document,
opened once more, and a name that was never opened is a document that nobody wrote to. The suite uses names of
its own and leaves what it wrote there, so it is given a place that can be thrown away. What was opened is used
by one thread at a time, and not always by the same one.

Every rule is tried by itself, on a document of its own, and has a plain verdict. A store that raises where it
must not, or does not come back, breaks the rule that was being tried; the others are tried all the same.

Not shown here: that what was committed outlives a power cut, and what a process leaves that is killed in the
middle of a commit. Both need another machine, or another process, to look at what is left.
"""

from collections.abc import Callable, Iterable
from threading import Thread
from typing import Final, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.decide.documentstore import DocumentStore
from consentry.service.documentrules import RULES, Rule
from consentry.service.documenttrials import Broken, Opened

OpenStore: TypeAlias = Callable[[str], DocumentStore]
"""Opens the document of that name; the same name is the same document."""

_PATIENCE: Final = 60.0
"""Seconds after which a rule counts as broken because the store does not come back."""


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What became of one rule: kept where there is no problem."""

    rule: str
    says: str
    problem: str | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the store did what the rule says."""
        return self.problem is None

    def __str__(self) -> str:
        if self.problem is None:
            return f"kept    {self.rule}: {self.says}"
        return f"broken  {self.rule}: {self.says}; {safe_line(self.problem)}"


class StoreUnfit(Refused):
    """A store that breaks a rule; `verdicts` has them all."""

    def __init__(self, verdicts: tuple[RuleVerdict, ...]) -> None:
        self.verdicts = verdicts
        broken = [each for each in verdicts if not each.is_kept]
        lines = "\n".join(map(str, broken))
        super().__init__(
            Code.TX_STORE,
            f"the store breaks {len(broken)} of {len(verdicts)} rules\n{lines}",
            help_line="a document must not be changed through it before it keeps them all",
        )


def check_document_store(open_store: OpenStore) -> tuple[RuleVerdict, ...]:
    """Every rule with its verdict; raises `StoreUnfit` where one is broken."""
    verdicts = document_store_verdicts(open_store)
    if not all(each.is_kept for each in verdicts):
        raise StoreUnfit(verdicts)
    return verdicts


def document_store_verdicts(
    open_store: OpenStore, rules: Iterable[str] = RULES
) -> tuple[RuleVerdict, ...]:
    """These rules with their verdicts, also of a store that breaks some."""
    return tuple(
        RuleVerdict(name, RULES[name].says, _problem(Opened(open_store, name), RULES[name]))
        for name in rules
    )


def _problem(opened: Opened, rule: Rule) -> str | None:
    """What is wrong; tried in a thread, because a store may wait for itself for ever."""
    found: list[str | None] = []

    def tried() -> None:
        try:
            rule.tried(opened)
        except Broken as broken:
            found.append(str(broken))
        except BaseException as problem:  # noqa: BLE001 - a store may raise anything
            found.append(f"it raised {type(problem).__name__}: {problem}")
        else:
            found.append(None)

    thread = Thread(target=tried, name=f"rule {opened.name}", daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    return found[0] if found else f"it did not come back within {_PATIENCE:.0f} s"
