"""Budgets: how often a workflow may use its tokens, kind by kind (TRUST §token-6).

    {"npm_install": 3, "fs_write": 50}

A budget is named when a token of the workflow is minted. A later token may name a limit where there is
none yet, or a lower one; none can raise what stands, so that whoever holds a token cannot give itself
more. What was used is counted from `CapabilityUsed` events and from nothing else.

What it does not do: tell workflows apart that are called by other names. Whoever may mint can begin
another workflow; each of its tokens needs a consent that holds.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.nearest import closest
from consentry.base.values import dataclass, field
from consentry.decide.fields import problem

MOST_USES: Final = 1_000_000_000


class UseKind(StrEnum):
    """What is counted; a push is no kind of use."""

    NPM_INSTALL = "npm_install"
    GIT_LOCAL = "git_local"
    FS_READ = "fs_read"
    FS_WRITE = "fs_write"


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one workflow, by kind; a kind without one is not limited."""

    limits: Mapping[UseKind, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind, most in self.limits.items():
            if type(most) is not int or not 0 <= most <= MOST_USES:
                raise problem(f"budget.{kind}", f"`{most}` is not how often something may be done")
        object.__setattr__(self, "limits", MappingProxyType(dict(self.limits)))

    @classmethod
    def of(cls, given: Mapping[str, int] | None) -> "Budget":
        """As a caller spells it; raises for a kind that there is not."""
        if given is not None and not isinstance(given, Mapping):
            raise problem("budget", "this is no table of how often something may be done")
        return cls({_kind(name): most for name, most in (given or {}).items()})

    def __bool__(self) -> bool:
        return bool(self.limits)

    def __iter__(self) -> Iterator[tuple[UseKind, int]]:
        return iter(sorted(self.limits.items()))

    def to_json(self) -> dict[str, Json] | None:
        """As an event has it; nothing where nothing is limited."""
        return {kind.value: most for kind, most in self} or None


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """One kind of use of one workflow: the limit, if there is one, and how often it was used."""

    workflow: str
    kind: UseKind
    most: int | None
    uses: int

    @property
    def left(self) -> int | None:
        """How often it may still be used; None where nothing limits it."""
        return None if self.most is None else max(0, self.most - self.uses)

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {"kind": self.kind.value, "most": self.most, "uses": self.uses, "left": self.left}


def exhausted(workflow: str, kind: UseKind, most: int) -> Refused:
    """The refusal of a use that the budget does not have."""
    return Refused(
        Code.BUDGET_EXHAUSTED,
        f"the workflow `{workflow}` may do `{kind}` {most} times, and has; nothing was done",
    )


def raised(workflow: str, kind: UseKind, most: int, wanted: int) -> Refused:
    """The refusal of a token that would bring more than the workflow has."""
    return Refused(
        Code.MINT_REFUSED,
        f"the workflow `{workflow}` may do `{kind}` {most} times, which a later token can "
        f"lower and not raise to {wanted}",
        help_line="leave the budget out: the one that stands holds for every token of the workflow",
    )


def _kind(name: str) -> UseKind:
    try:
        return UseKind(name)
    except ValueError:
        near = closest(str(name), [each.value for each in UseKind])
        hint = f"did you mean `{near}`?" if near else f"known are {', '.join(UseKind)}"
        raise problem("budget", f"`{name}` is no kind of use; {hint}") from None
