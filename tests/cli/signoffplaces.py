"""Ledgers of a command line with events that were put there past the ledger, for tests of sign-off."""

import os
from contextlib import closing

from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import CommandLine
from tests.record.signoffsamples import WINDOW, Story
from tests.store.rawevents import put_raw

ASKED = ("--window", "1h", "--until", str(WINDOW.until))
"""The window that stories lie in."""


def recorded(line: CommandLine, story: Story) -> None:
    """The story in the ledger that the command line uses, beside what making it records."""
    around = Surroundings(line.environ, line.cwd, uid=os.geteuid())
    with closing(ledger_for_writing(around)) as ledger:
        put_raw(ledger.database, story.rows_as_recorded())
