"""`consentry signoff resolve`: records what a policy violation came of, and what was done about it.

It turns a NO-GO into a GO, so where a passphrase is set it asks for it like every other yes.
"""

import os
from contextlib import closing

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.cli.capabilitysetting import require_passphrase
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.table import Page
from consentry.service.sessions import journal_here
from consentry.service.signoff import require_violation, resolve_violation
from consentry.service.surroundings import look_around
from consentry.store.resolutions import Resolution

PAGE = Page(
    summary="Record root cause and corrective action of a policy violation.",
    paragraphs=(
        (
            "A `capability-policy-violation` of real use keeps every sign-off at NO-GO until then. "
            "What is recorded is an event like any other: with who said it, and for good. A violation is "
            "resolved once."
        ),
    ),
    arguments=(("EVENT", "The violation's id; `consentry signoff` lists those that stand."),),
    examples=(
        (
            (
                "consentry signoff resolve event-0198c2f4-… --root-cause 'a path was not checked' "
                "--corrective-action 'checked since 1.2.1, with a test'"
            ),
            "both are needed",
        ),
    ),
    statuses=(
        ("0", "recorded"),
        ("2", "wrong usage, no such event, or it is no violation of real use"),
        ("5", "the ledger cannot be read or written, so nothing changed"),
        ("126", "resolved before, or the passphrase is missing"),
    ),
)


@click.pass_context
def _resolve(
    ctx: click.Context, *, event_id: str, root_cause: str, corrective_action: str
) -> ExitStatus:
    output = output_of(ctx)
    around, clock = look_around(os.environ), SystemClock()
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        require_violation(journal, event_id)
        require_passphrase(around, journal, "resolving a violation")
        recorded = resolve_violation(journal, Resolution(event_id, root_cause, corrective_action))
    if output.json:
        output.document("signoff-resolve", recorded)
    elif output.quiet:
        output.text(str(recorded["eventId"]))
    else:
        output.text(f"{safe_line(event_id)} is resolved, by {recorded['eventId']}")
    return ExitStatus.DONE


resolve = PlainCommand(
    "resolve",
    PAGE,
    _resolve,
    [
        click.Option(
            ["--root-cause"],
            type=Text(),
            required=True,
            metavar="TEXT",
            help="Why it could happen.",
        ),
        click.Option(
            ["--corrective-action"],
            type=Text(),
            required=True,
            metavar="TEXT",
            help="What was done about it.",
        ),
        click.Argument(["event_id"], type=Text(), metavar="EVENT"),
    ],
)
