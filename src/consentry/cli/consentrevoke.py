"""`consentry consent revoke`: takes a yes back, and ends what goes on under it where that is asked."""

import os

import click

from consentry.base.codes import ExitStatus
from consentry.cli.command import PlainCommand, Text, output_of, usage_problem
from consentry.cli.consentplace import consents_here, line_of
from consentry.cli.table import Page
from consentry.decide.identity import Identity
from consentry.service.consenting import consents_of
from consentry.service.consentrecords import found_consent
from consentry.service.ledgers import ledger_place
from consentry.service.runningruns import RunningRuns
from consentry.service.surroundings import look_around
from consentry.store.journal import Journal

PAGE = Page(
    summary="Take consents back: the next run asks again.",
    paragraphs=(
        "A run that goes on keeps its permit; `--kill` ends it, and what it wrote is discarded.",
        "Runs on other machines are ended there.",
    ),
    arguments=(("ID", "Consents' ids, or the beginnings of them."),),
    examples=(
        ("consentry consent revoke consent-0198c2f4-…", "take one back"),
        ("consentry consent revoke --tool build-latex --kill", "all of a tool, and end its runs"),
    ),
    statuses=(
        ("0", "revoked, now or before"),
        ("2", "wrong usage, or no consent has that id"),
        ("5", "the ledger cannot be read or written"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _revoke(
    ctx: click.Context, *, ids: tuple[str, ...], tool: str | None, kill: bool
) -> ExitStatus:
    output = output_of(ctx)
    if bool(ids) == (tool is not None):
        raise usage_problem("name consents by their ids, or a tool with `--tool`", "one of the two")
    running = RunningRuns(ledger_place(look_around(os.environ)).folder)
    with consents_here() as journal:
        by = Identity(journal.context.actor)
        meant = _meant(journal, ids, tool, running if kill else None)
        revoked = [consents_of(journal).revoke(each, by) for each in meant]
    # Only now: whatever starts from here on finds the consent revoked.
    ended = {each.consent_id: running.end(each.consent_id) if kill else [] for each in revoked}
    count = sum(map(len, ended.values()))
    if output.json:
        consents = [each.to_json() for each in revoked]
        output.document("consent-revoke", {"consents": consents, "ended": count})
    elif not output.quiet:
        runs = "1 run was ended" if count == 1 else f"{count} runs were ended"
        lines = [line_of(each) for each in revoked] or ["nothing stood that could be revoked"]
        output.text("\n".join([*lines, *([runs] if kill else [])]))
    return ExitStatus.DONE


def _meant(
    journal: Journal, ids: tuple[str, ...], tool: str | None, running: RunningRuns | None
) -> list[str]:
    """The ids of what is to be revoked; of a tool also what was used by a run that is to be ended."""
    if tool is None:
        return [found_consent(journal, each).consent_id for each in ids]
    consents = consents_of(journal)
    going_on = () if running is None else running.going_on()
    used = {each.consent_id for each in going_on if each.consent_id is not None}
    found = [*consents.open(tool), *map(consents.find, used)]
    return sorted({each.consent_id for each in found if each and each.terms.tool == tool})


revoke = PlainCommand(
    "revoke",
    PAGE,
    _revoke,
    [
        click.Option(["--tool"], type=Text(), metavar="NAME", help="All that stand for this tool."),
        click.Option(["--kill"], is_flag=True, help="Also end the runs that go on under them."),
        click.Argument(["ids"], nargs=-1, type=Text(), metavar="[ID...]"),
    ],
)
