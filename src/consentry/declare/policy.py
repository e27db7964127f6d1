"""What a policy file says, as values: an operator's consents for tools at exact bytes (CONTRACTS §12).

An entry is no bypass: it stands for a person's yes to one tool at one version and digest, and each use
of it is recorded. `commit: auto` stands for the second yes of a strict run as well.
"""

from enum import StrEnum
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.errors import Where
from consentry.base.values import dataclass, field

POLICY_VERSION: Final = "1"


class CommitRule(StrEnum):
    """Who gives the second yes of a strict run."""

    ASK = "ask"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """One tool at exact bytes; without `arguments` any, without `machines` this one."""

    tool: str
    version: str
    digest: Digest
    arguments: tuple[str, ...] | None = None
    machines: tuple[str, ...] | None = None
    expires: Instant | None = None
    commit: CommitRule = CommitRule.ASK
    where: Where = field(default_factory=Where, compare=False)


@dataclass(frozen=True, slots=True)
class Policy:
    """The whole document."""

    entries: tuple[PolicyEntry, ...] = ()
