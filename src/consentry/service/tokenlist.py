"""What is told of capability tokens: which were minted, whether they are still good, and their uses."""

import json
from enum import StrEnum

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.decide.budgets import BudgetLine
from consentry.decide.tokenrecords import PREFIX, TokenTold
from consentry.record.events import EventType
from consentry.store.history import EventFilter, History
from consentry.store.tokens import all_tokens, budget_of, is_ground_standing, tokens_beginning

_LEAST_PREFIX = 4


class Standing(StrEnum):
    """Whether a token could be used now, as far as the ledger says."""

    GOOD = "good"
    EXPIRED = "expired"
    REVOKED = "revoked"
    """Its consent was taken back, or the consent's session is over."""


@dataclass(frozen=True, slots=True)
class Use:
    """One use, as it was recorded."""

    at: str
    kind: str
    operation: str
    target: str | None

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {
            "at": self.at,
            "kind": self.kind,
            "operation": self.operation,
            "target": self.target,
        }


@dataclass(frozen=True, slots=True)
class ListedToken:
    """A token, and how it stands."""

    told: TokenTold
    standing: Standing

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {**self.told.to_json(), "standing": self.standing.value}


def listed_tokens(
    history: History | None, now: Instant, workflow: str | None = None
) -> list[ListedToken]:
    """Every token that was minted, the oldest first; none where nothing was ever recorded."""
    if history is None:
        return []
    return [_listed(history, each, now) for each in all_tokens(history.database, workflow)]


def token_named(history: History | None, named: str, now: Instant) -> ListedToken:
    """The token with this id, or the only one whose id begins so."""
    bare = named.removeprefix(f"{PREFIX}-")
    alike = (
        tokens_beginning(history.database, f"{PREFIX}-{bare}")
        if history is not None and len(bare) >= _LEAST_PREFIX
        else []
    )
    if len(alike) > 1:
        raise UsageProblem(Code.ID_AMBIGUOUS, f"{len(alike)} tokens have an id like `{named}`")
    if history is None or not alike:
        raise UsageProblem(Code.ID_UNKNOWN, f"no token has the id `{named}`")
    return _listed(history, alike[0], now)


def uses_of(history: History, token_id: str) -> list[Use]:
    """Every use of a token, the oldest first."""
    wanted = EventFilter(subject=token_id, type=EventType.CAPABILITY_USED)
    found = []
    for row in history.events(wanted):
        event = json.loads(row.body)
        told = event["payload"]
        found.append(Use(event["timestampUtc"], told["kind"], told["operation"], told["target"]))
    return found


def budget_lines(history: History, workflow: str) -> list[BudgetLine]:
    """What the workflow may do and has done."""
    return budget_of(history.database, workflow)


def _listed(history: History, told: TokenTold, now: Instant) -> ListedToken:
    if now > told.token.expires_at:
        return ListedToken(told, Standing.EXPIRED)
    stands = is_ground_standing(history.database, told.token)
    return ListedToken(told, Standing.GOOD if stands else Standing.REVOKED)
