"""`consentry undo`: takes back what a run changed."""

import os
from contextlib import closing

import click

from consentry.base.codes import ExitStatus
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.effectplace import effects_here, tell_settled
from consentry.cli.table import Page
from consentry.service.surroundings import look_around
from consentry.service.undoing import undo_run

PAGE = Page(
    summary="Take back what a run changed: all of it, or nothing where files were changed since.",
    paragraphs=(
        (
            "Every commit can be undone for 7 days, as long as what it replaced has room: see "
            "CONSENTRY_KEEP and CONSENTRY_KEEP_SIZE. What a run wrote directly, without a layer, cannot."
        ),
    ),
    arguments=(("RUN", "The id of a run or of its permit, or the beginning of one."),),
    examples=(("consentry undo audit-0198c2f4-…", "the files are as they were before"),),
    statuses=(
        ("0", "undone"),
        ("2", "wrong usage, no such run, or nothing is kept of it"),
        ("5", "the ledger cannot be written, so nothing was changed"),
        ("125", "it was interrupted; the next command finishes it or takes it back"),
        ("126", "refused: files were changed since, undone before, or its time is over"),
    ),
    read_on=("docs/how-to/rehearse-and-undo.md.",),
)


@click.pass_context
def _undo(ctx: click.Context, *, run: str) -> ExitStatus:
    output = output_of(ctx)
    place = effects_here(look_around(os.environ))
    with closing(place.journal.ledger):
        done = undo_run(place, run)
    tell_settled(output, done)
    return ExitStatus.DONE


undo = PlainCommand("undo", PAGE, _undo, [click.Argument(["run"], type=Text(), metavar="RUN")])
