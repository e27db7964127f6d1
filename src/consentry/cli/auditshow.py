"""`consentry audit show`: one event, whole."""

import os

import click

from consentry.base.codes import ExitStatus
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.table import Page
from consentry.service.audit import event_named, pretty
from consentry.service.ledgers import ledger_for_reading
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Show one event with everything that was recorded, and its hash.",
    arguments=(("ID", "The event's id, as `consentry audit log` prints it."),),
    examples=(
        ("consentry audit show event-0198c2f4-…", "one event"),
        ("consentry audit show ID --json", "the same in one document, for a script"),
    ),
    statuses=(
        ("0", "shown"),
        ("2", "wrong usage, or no event has that id"),
        ("5", "the ledger cannot be read"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _show(ctx: click.Context, *, event_id: str) -> ExitStatus:
    output = output_of(ctx)
    event = event_named(ledger_for_reading(look_around(os.environ)), event_id)
    if output.json:
        output.document("audit-event", {"event": event})
    else:
        output.text(pretty(event))
    return ExitStatus.DONE


show = PlainCommand("show", PAGE, _show, [click.Argument(["event_id"], type=Text(), metavar="ID")])
