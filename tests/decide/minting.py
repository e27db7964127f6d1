"""A consent, an order and the tool's need, valid together, for tests of tokens to depart from."""

from collections.abc import Sequence
from typing import Any

from consentry.base.clock import Clock, ManualClock
from consentry.base.ids import CountingIds
from consentry.decide.budgets import Budget
from consentry.decide.consent import Consent
from consentry.decide.consentcheck import ConsentNeed
from consentry.decide.machine import Machine
from consentry.decide.session import Session
from consentry.decide.tokenrecords import PREFIX, MintedToken
from consentry.decide.tokens import FsReadWriteCapability, MintOrder, mint
from consentry.surface.lattice import NOTHING, Surface
from tests.decide.samples import DIGEST, MACHINE, NOW

PLACE = "/place/project"
WIDE = Surface.of(
    read=["./"],
    write=["./"],
    net=["localhost", "example.com:443"],
    run=["git", "npm", "sh", "node"],
)


class FakeRecords:
    """Keeps consents and tokens in memory, as a store would without a disk."""

    def __init__(self, *consents: Consent, clock: Clock | None = None) -> None:
        self.clock = clock or ManualClock(NOW)
        self.consents = {each.consent_id: each for each in consents}
        self.minted: list[MintedToken] = []
        self.budgets: list[Budget] = []
        self._ids = CountingIds()

    @property
    def machine_id(self) -> str:
        """The machine of the samples."""
        return MACHINE

    def now(self) -> Any:
        """As the clock says."""
        return self.clock.now()

    def new_id(self) -> str:
        """The next one."""
        return self._ids.new(PREFIX)

    def consent(self, consent_id: str) -> Consent | None:
        """As it was given."""
        return self.consents.get(consent_id)

    def record(self, minted: Sequence[MintedToken], budget: Budget) -> None:
        """Remembers them."""
        self.minted += minted
        self.budgets.append(budget)


def need(session: Session | None = None, **changes: object) -> ConsentNeed:
    """The tool of the samples, as it is now."""
    fields: dict[str, object] = {
        "tool": "build",
        "version": "1.0.0",
        "digest": DIGEST,
        "surface": NOTHING,
        "arguments": (),
        "machine": Machine(MACHINE, "host", NOW),
        "session": session,
    }
    return ConsentNeed(**{**fields, **changes})  # type: ignore[arg-type]


def order_for(consent: Consent, **changes: object) -> MintOrder:
    """A token of one workflow, against that consent."""
    fields: dict[str, object] = {
        "consent_id": consent.consent_id,
        "tool": "build",
        "workflow": "paper",
        "workspace": PLACE,
    }
    return MintOrder(**{**fields, **changes})  # type: ignore[arg-type]


def minted(
    records: Any,
    consent: Consent,
    capability: type[Any] = FsReadWriteCapability,
    scope: dict[str, Any] | None = None,
    needs: ConsentNeed | None = None,
    **changes: object,
) -> Any:
    """A token, minted as the product does; of files that may be written where nothing is said."""
    wanted = {"write": ["out/"]} if scope is None else scope
    return mint(capability, wanted, order_for(consent, **changes), needs or need(), records)
