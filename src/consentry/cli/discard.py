"""`consentry discard`: throws away what a rehearsal would change."""

import os
from contextlib import closing

import click

from consentry.base.codes import ExitStatus
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.effectplace import effects_here, tell_settled
from consentry.cli.table import Page
from consentry.service.rehearsals import discard_run
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Throw away what a rehearsal would change; only the record that it was is left.",
    arguments=(("RUN", "The id of a rehearsal or of its permit, or the beginning of one."),),
    examples=(("consentry discard audit-0198c2f4-…", "throw it away"),),
    statuses=(
        ("0", "discarded"),
        ("2", "wrong usage, no such run, or nothing is kept of it"),
        ("5", "the ledger cannot be written, so it is still there"),
        ("126", "it was committed or discarded before, or its time is over"),
    ),
    read_on=("docs/how-to/rehearse-and-undo.md.",),
)


@click.pass_context
def _discard(ctx: click.Context, *, run: str) -> ExitStatus:
    output = output_of(ctx)
    place = effects_here(look_around(os.environ))
    with closing(place.journal.ledger):
        done = discard_run(place, run)
    tell_settled(output, done)
    return ExitStatus.DONE


discard = PlainCommand(
    "discard", PAGE, _discard, [click.Argument(["run"], type=Text(), metavar="RUN")]
)
