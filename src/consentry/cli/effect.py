"""`consentry effect`: shows exactly what a run would change, or has changed."""

import os
from contextlib import closing

import click

from consentry.base.codes import ExitStatus
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.effectplace import effects_here
from consentry.cli.effecttext import effect_lines
from consentry.cli.table import Page
from consentry.service.effects import effect_of
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Show exactly what a run would change, or changed: every path, every line, every hash.",
    paragraphs=(
        "Without RUN it is the latest rehearsal. What may not be written is listed with the reason.",
    ),
    arguments=(("RUN", "The id of a run or of its permit, or the beginning of one."),),
    examples=(
        ("consentry effect", "the latest rehearsal"),
        ("consentry effect audit-0198c2f4-… --stat", "one line for each path"),
        ("consentry effect --json", "all of it in one document"),
    ),
    statuses=(
        ("0", "shown"),
        ("2", "wrong usage, no such run, or nothing is kept of it"),
        ("5", "the ledger cannot be read"),
        ("126", "it was discarded or undone, or what was kept is not what was recorded"),
    ),
    read_on=("docs/how-to/rehearse-and-undo.md.",),
)


@click.pass_context
def _effect(ctx: click.Context, *, run: str | None, stat: bool) -> ExitStatus:
    output = output_of(ctx)
    place = effects_here(look_around(os.environ))
    with closing(place.journal.ledger):
        view = effect_of(place, run, with_lines=not stat)
    if output.json:
        output.document("effect", view.to_json())
    elif output.quiet:
        output.text(" ".join(f"{word}={count}" for word, count in view.counts.items()))
    else:
        output.text("\n".join(effect_lines(output, view, in_short=stat)))
    return ExitStatus.DONE


effect = PlainCommand(
    "effect",
    PAGE,
    _effect,
    [
        click.Option(["--stat"], is_flag=True, help="One line for each path, no contents."),
        click.Argument(["run"], required=False, type=Text(), metavar="[RUN]"),
    ],
)
