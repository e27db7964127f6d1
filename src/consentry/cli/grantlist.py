"""`consentry grants list`: what modules were granted, and whether each still holds."""

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.moduleplace import (
    READING,
    complete_module,
    host_option,
    modules_to_read,
    stored_in,
)
from consentry.cli.table import Page
from consentry.decide.grant import Grant
from consentry.service.grantlist import GrantChoice, GrantState, ListedGrant, listed_grants
from consentry.service.modulelist import host_named

PAGE = Page(
    summary="List the grants that hold, the oldest first.",
    paragraphs=("With --all also those that were revoked, are void, or whose session is over.",),
    examples=(
        ("consentry grants list", "those that hold"),
        ("consentry grants list --all --module word-count", "all that one was ever given"),
        ("consentry grants list --quiet", "the bare ids, one on a line"),
    ),
    statuses=(
        ("0", "listed; an empty list is an answer, too"),
        ("2", "wrong usage, or no such host"),
        *READING,
    ),
)

_WORDS = {
    GrantState.HOLDS: "",
    GrantState.REVOKED: "revoked",
    GrantState.VOID: "void: other content of the module came",
    GrantState.SESSION_OVER: "its session is over",
    GrantState.OTHER_CATALOG: "given under another major version of the catalog",
    GrantState.NO_MODULE: "no module is registered with that content",
}


@click.pass_context
def _list(
    ctx: click.Context, *, module_id: str | None, host: str | None, over_too: bool
) -> ExitStatus:
    output = output_of(ctx)
    with modules_to_read() as journal:
        meant = None if host is None else host_named(stored_in(journal), host).host_id
        choice = GrantChoice(meant, module_id)
        found = [] if journal is None else listed_grants(journal, choice, over_too=over_too)
    if output.json:
        output.document("grant-list", {"grants": [each.to_json() for each in found]})
    elif output.quiet:
        if found:
            output.text("\n".join(each.grant.grant_id for each in found))
    else:
        rows = "\n".join(map(_row, found))
        output.text(rows or "nothing is granted" + (", and never was" if over_too else ""))
    return ExitStatus.DONE


def _row(listed: ListedGrant) -> str:
    word, at = _WORDS[listed.state], listed.grant.revoked_at
    when = f" {at.shown()}" if at is not None and listed.state is GrantState.REVOKED else ""
    return f"{grant_line(listed.grant)}  {word}{when}".rstrip()


def grant_line(grant: Grant) -> str:
    """One grant: its id, the capability, the module in its host, for how long, by whom."""
    terms = grant.terms
    what = f"{terms.capability_id}  {terms.module_id} {terms.module_version} in {terms.host_id}"
    given = f"{terms.scope}  given {grant.given_at.shown()} by {terms.given_by}"
    return f"{grant.grant_id}  {safe_line(what)}  {safe_line(given)}"


list_ = PlainCommand(
    "list",
    PAGE,
    _list,
    [
        click.Option(["--all", "over_too"], is_flag=True, help="Also those that do not hold."),
        click.Option(
            ["--module", "module_id"],
            type=Text(),
            metavar="ID",
            shell_complete=complete_module,
            help="Only those of this module.",
        ),
        host_option("Only those in this host."),
    ],
)
