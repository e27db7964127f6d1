"""`consentry consent list` and `show`: what was agreed to."""

import os

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.consentplace import consents_here, line_of
from consentry.cli.layout import laid_out
from consentry.cli.output import page_width
from consentry.cli.table import Page
from consentry.decide.consent import Consent
from consentry.service.consenting import consents_of
from consentry.service.consentrecords import found_consent, is_standing
from consentry.service.sessions import sessions_of
from consentry.service.surroundings import look_around
from consentry.surface.sentence import in_words

_READING = (
    ("5", "the ledger cannot be read or written"),
    ("126", "the state directory is not safe to use"),
)
LIST_PAGE = Page(
    summary="List the consents that stand, the oldest first.",
    paragraphs=("Those that were used, revoked or have run out are left out.",),
    examples=(
        ("consentry consent list", "those that stand"),
        ("consentry consent list --all --tool build-latex", "all that were ever given to a tool"),
        ("consentry consent list --quiet", "the bare ids, one on a line"),
    ),
    statuses=(("0", "listed; an empty list is an answer, too"), ("2", "wrong usage"), *_READING),
)
SHOW_PAGE = Page(
    summary="Show one consent: the tool at its digest, the powers, for how long, and by whom.",
    arguments=(("ID", "A consent's id, or the beginning of one."),),
    examples=(("consentry consent show consent-0198c2f4-…", "all of it"),),
    statuses=(("0", "shown"), ("2", "wrong usage, or no consent has that id"), *_READING),
)


@click.pass_context
def _list(ctx: click.Context, *, over_too: bool, tool: str | None) -> ExitStatus:
    output = output_of(ctx)
    with consents_here() as journal:
        sessions = sessions_of(
            look_around(os.environ), journal.ledger, journal.clock, journal.ids
        ).open()
        now = journal.clock.now()
        found = [
            each
            for each in consents_of(journal).history(tool=tool)
            if over_too or is_standing(each, sessions, now)
        ]
    if output.json:
        output.document("consent-list", {"consents": [each.to_json() for each in found]})
    elif output.quiet:
        if found:
            output.text("\n".join(each.consent_id for each in found))
    else:
        output.text("\n".join(map(line_of, found)) or "nothing that was agreed to stands")
    return ExitStatus.DONE


@click.pass_context
def _show(ctx: click.Context, *, named: str) -> ExitStatus:
    output = output_of(ctx)
    with consents_here() as journal:
        found = found_consent(journal, named)
    if output.json:
        output.document("consent", {"consent": found.to_json()})
    else:
        output.text("\n".join(_lines(found)))
    return ExitStatus.DONE


def _lines(consent: Consent) -> list[str]:
    terms = consent.terms
    arguments = "any" if terms.arguments is None else " ".join(map(repr, terms.arguments)) or "none"
    rows = {
        "digest": terms.digest,
        "machine": terms.machine_scope,
        "arguments": safe_line(arguments),
        "method": terms.method.value,
        "given by": safe_line(terms.given_by),
        "request": terms.request_id or "none",
        "session": terms.session_id or "none",
    }
    width = page_width()
    powers = laid_out(in_words(terms.surface), width=width - 2, margin=2)
    return [
        line_of(consent),
        *(f"  {name:<10} {value}" for name, value in rows.items()),
        f"  {powers[0]}",
        *powers[1:],
    ]


list_ = PlainCommand(
    "list",
    LIST_PAGE,
    _list,
    [
        click.Option(["--all", "over_too"], is_flag=True, help="Also those that are over."),
        click.Option(["--tool"], type=Text(), metavar="NAME", help="Only those to this tool."),
    ],
)
show = PlainCommand(
    "show", SHOW_PAGE, _show, [click.Argument(["named"], type=Text(), metavar="ID")]
)
