"""`consentry commit`: takes over what a rehearsal would change, exactly that, once."""

import os
from contextlib import closing

import click

from consentry.base.codes import ExitStatus
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.effectplace import effects_here, tell_settled
from consentry.cli.table import Page
from consentry.cli.terminalanswer import terminal_asker
from consentry.service.commitapproval import Asking
from consentry.service.ownsettings import own_settings
from consentry.service.rehearsals import commit_run
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Take over what a rehearsal would change: exactly those bytes, all of them or none.",
    paragraphs=(
        "Where somebody changed the same files since, nothing is changed and the files are listed.",
        (
            "A run at level strict asks first: on a terminal you answer here; elsewhere the question "
            "is left for somebody to answer, and the same command finds the answer later."
        ),
    ),
    arguments=(("RUN", "The id of a rehearsal or of its permit, or the beginning of one."),),
    examples=(
        ("consentry commit audit-0198c2f4-…", "take it over"),
        ("consentry undo audit-0198c2f4-…", "and take it back again"),
    ),
    statuses=(
        ("0", "committed"),
        ("2", "wrong usage, no such run, or nothing is kept of it"),
        ("5", "the ledger cannot be written, so nothing was changed"),
        ("75", "it has to be approved, and nobody has answered yet"),
        ("125", "it was interrupted; the next command finishes it or takes it back"),
        ("126", "refused: in conflict, denied, expired, done before, or not what was recorded"),
    ),
    read_on=("docs/how-to/rehearse-and-undo.md.",),
)


@click.pass_context
def _commit(ctx: click.Context, *, run: str, ask_again: bool) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    place = effects_here(around)
    with closing(place.journal.ledger):
        settings = own_settings(around).approvals
        asking = Asking(terminal_asker(place, around, settings), asks_again=ask_again)
        done = commit_run(place, run, asking)
    tell_settled(output, done)
    return ExitStatus.DONE


commit = PlainCommand(
    "commit",
    PAGE,
    _commit,
    [
        click.Option(
            ["--ask-again"],
            is_flag=True,
            help="Put the question once more, where the answer was no or came too late.",
        ),
        click.Argument(["run"], type=Text(), metavar="RUN"),
    ],
)
