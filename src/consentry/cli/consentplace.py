"""Where the commands about consents read and write, and how one is told in a line."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.decide.consent import Consent
from consentry.service.sessions import journal_here
from consentry.service.surroundings import look_around
from consentry.store.journal import Journal


@contextmanager
def consents_here() -> Iterator[Journal]:
    """The ledger, under the session of this terminal."""
    clock = SystemClock()
    journal = journal_here(look_around(os.environ), clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield journal


def line_of(consent: Consent) -> str:
    """One consent: its id, the tool, for how long, by whom, and what became of it."""
    terms = consent.terms
    until = f" until {terms.expires_at.shown()}" if terms.expires_at is not None else ""
    said = f"{consent.consent_id}  {safe_line(terms.tool)} {safe_line(terms.version)}"
    said += f"  {terms.lasts.value}{until}  given {consent.given_at.shown()}"
    if consent.revoked_at is not None:
        return f"{said}  revoked {consent.revoked_at.shown()}"
    if consent.used_at is not None:
        return f"{said}  used {consent.used_at.shown()}"
    return said
