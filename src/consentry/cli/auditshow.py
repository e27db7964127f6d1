"""`consentry audit show`: one event or the audit entry of one run, whole."""

import os
from collections.abc import Mapping

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.cli.command import OneOf, PlainCommand, Text, output_of
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.declare.yamltext import yaml_text
from consentry.record.auditview import ROOT
from consentry.service.audit import event_named, in_ascii, pretty
from consentry.service.auditentries import entry_named, is_audit_id
from consentry.service.ledgers import ledger_for_reading
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Show one event with everything that was recorded, or the audit entry of a run.",
    paragraphs=(
        (
            "An id that begins with `audit-` names the entry of a run, and its first letters will "
            "do. The entry is told with what became of its effect since: a commit that came later, "
            "or was refused."
        ),
    ),
    arguments=(("ID", "Of an event, as `consentry audit log` prints it, or of a run's entry."),),
    examples=(
        ("consentry audit show event-0198c2f4-…", "one event"),
        ("consentry audit show audit-0198c2f4", "the audit entry of a run, as YAML"),
        ("consentry audit show ID --json", "the same in one document, for a script"),
    ),
    statuses=(
        ("0", "shown"),
        ("2", "wrong usage, or no event or run has that id"),
        ("5", "the ledger cannot be read"),
        ("126", "the state directory is not safe to use"),
    ),
)
YAML, JSON = "yaml", "json"


@click.pass_context
def _show(ctx: click.Context, *, event_id: str, told: str | None) -> ExitStatus:
    output = output_of(ctx)
    history = ledger_for_reading(look_around(os.environ))
    if is_audit_id(event_id):
        _tell_entry(output, entry_named(history, event_id, SystemClock().now()), told or YAML)
    else:
        _tell_event(output, event_named(history, event_id), told or JSON)
    return ExitStatus.DONE


def _tell_entry(output: Output, entry: Mapping[str, object], told: str) -> None:
    document = {ROOT: entry}
    if output.json:
        output.document("audit-entry", document)
    else:
        text = yaml_text(document) if told == YAML else in_ascii(document)
        output.text(text.rstrip("\n"))


def _tell_event(output: Output, event: Mapping[str, object], told: str) -> None:
    if output.json:
        output.document("audit-event", {"event": event})
    else:
        output.text(yaml_text(event).rstrip("\n") if told == YAML else pretty(event))


show = PlainCommand(
    "show",
    PAGE,
    _show,
    [
        click.Option(
            ["--format", "told"],
            type=OneOf((YAML, JSON)),
            metavar="FORMAT",
            help="yaml (a run's entry, unless given) or json (an event, unless given).",
        ),
        click.Argument(["event_id"], type=Text(), metavar="ID"),
    ],
)
