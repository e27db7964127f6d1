"""`consentry grants revoke`: takes back what modules were granted.

Revoking makes things stricter, so nobody has to be asked.
"""

import click

from consentry.base.codes import ExitStatus
from consentry.cli.command import PlainCommand, Text, output_of, usage_problem
from consentry.cli.grantlist import grant_line
from consentry.cli.moduleplace import complete_module, host_option, modules_here
from consentry.cli.table import Page
from consentry.decide.grant import Grant
from consentry.decide.identity import Identity
from consentry.service.grantlist import found_grant, revoke_grants, standing_grants
from consentry.service.modulelist import module_named
from consentry.store.journal import Journal
from consentry.store.modules import StoredModules

PAGE = Page(
    summary="Take back what modules were granted: from the next check on it is denied.",
    paragraphs=(
        (
            "Also inside an action that runs: whatever it has not used yet is refused. The module "
            "can ask again, and a person is asked then."
        ),
    ),
    arguments=(
        ("ID", "Grants' ids, or the beginnings of them; `consentry grants list` lists them."),
    ),
    examples=(
        ("consentry grants revoke grant-0198c2f4-…", "take one back"),
        ("consentry grants revoke --module word-count", "all that a module was granted"),
        ("consentry grants revoke --module word-count --capability state.read", "one of them"),
    ),
    statuses=(
        ("0", "revoked, now or before"),
        ("2", "wrong usage, no such grant or module, or several hosts have one and none was named"),
        ("5", "the ledger cannot be read or written"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _revoke(
    ctx: click.Context,
    *,
    ids: tuple[str, ...],
    module_id: str | None,
    capability_id: str | None,
    host: str | None,
) -> ExitStatus:
    output = output_of(ctx)
    if bool(ids) == (module_id is not None):
        raise usage_problem(
            "name grants by their ids, or a module with `--module`", "one of the two"
        )
    if module_id is None and (capability_id is not None or host is not None):
        raise usage_problem(
            "`--capability` and `--host` go with `--module`", "an id says what it is for"
        )
    with modules_here() as journal:
        meant = _meant(journal, ids, module_id, capability_id, host)
        revoked = revoke_grants(journal, meant, Identity(journal.context.actor))
    if output.json:
        output.document("grant-revoke", {"grants": [each.to_json() for each in revoked]})
    elif not output.quiet:
        output.text("\n".join(map(_row, revoked)) or "nothing stood that could be revoked")
    return ExitStatus.DONE


def _meant(
    journal: Journal,
    ids: tuple[str, ...],
    module_id: str | None,
    capability_id: str | None,
    host: str | None,
) -> list[Grant]:
    if module_id is None:
        found = [found_grant(journal, each) for each in ids]
        return list({each.grant_id: each for each in found}.values())
    registration, _ = module_named(StoredModules(journal), module_id, host)
    return standing_grants(journal, registration.identity.host_id, module_id, capability_id)


def _row(grant: Grant) -> str:
    at = grant.revoked_at
    return f"{grant_line(grant)}  revoked {'' if at is None else at.shown()}".rstrip()


revoke = PlainCommand(
    "revoke",
    PAGE,
    _revoke,
    [
        click.Option(
            ["--module", "module_id"],
            type=Text(),
            metavar="ID",
            shell_complete=complete_module,
            help="All that this module was granted.",
        ),
        click.Option(
            ["--capability", "capability_id"],
            type=Text(),
            metavar="ID",
            help="Only this capability of the module.",
        ),
        host_option("The host, where several have the module."),
        click.Argument(["ids"], nargs=-1, type=Text(), metavar="[ID...]"),
    ],
)
