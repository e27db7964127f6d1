"""`consentry module remove`: takes a module out of its host, with its grants and all that it stored."""

import os

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import UsageProblem
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.confirming import TypedYes, require_typed_yes
from consentry.cli.moduleplace import host_option, module_argument, modules_here
from consentry.cli.table import Page
from consentry.decide.identity import Identity
from consentry.decide.moduleregistration import Registration, Removed
from consentry.service.grantlist import standing_grants
from consentry.service.modulelist import module_named, storage_of
from consentry.service.surroundings import look_around
from consentry.store.journal import Journal
from consentry.store.modules import StoredModules

PAGE = Page(
    summary="Remove a module from its host, with its grants and all that it stored.",
    paragraphs=(
        (
            "What goes with it is shown first, and a yes is typed at this terminal. The events stay. "
            "Imported again, it has no grants."
        ),
    ),
    arguments=(("MODULE", "The id of a module; `consentry module list` lists them."),),
    examples=(
        ("consentry module remove word-count", "see what goes, and say yes"),
        ("consentry module remove word-count --yes", "for a script"),
    ),
    statuses=(
        ("0", "removed"),
        ("2", "wrong usage, no such module, or several hosts have one and none was named"),
        ("5", "the ledger cannot be written, so nothing was removed"),
        ("126", "you said no, there is no terminal, or the state directory is not safe to use"),
    ),
)

_YES = TypedYes(
    "remove",
    "removing a module",
    Code.APPROVAL_DENIED,
    "say --yes where no person is to be asked",
)


@click.pass_context
def _remove(ctx: click.Context, *, module_id: str, host: str | None, yes: bool) -> ExitStatus:
    output = output_of(ctx)
    with modules_here() as journal:
        modules = StoredModules(journal)
        registration, _ = module_named(modules, module_id, host)
        if not yes:
            lines = _lines(journal, registration)
            require_typed_yes(lines, _YES, look_around(os.environ), journal.clock)
        identity = registration.identity
        removed = modules.remove(
            identity.host_id, identity.module_id, Identity(journal.context.actor)
        )
    if removed is None:
        message = f"`{module_id}` was removed meanwhile"
        raise UsageProblem(Code.MODULE_UNKNOWN, message)
    if output.json:
        output.document("module-remove", _document(removed))
    elif not output.quiet:
        output.text(f"removed {_named(removed.registration)}, {_with(removed)}")
    return ExitStatus.DONE


def _document(removed: Removed) -> dict[str, object]:
    return {
        "module": removed.registration.to_json(),
        "grants": removed.grants,
        "storedKeys": removed.stored_keys,
    }


def _lines(journal: Journal, registration: Registration) -> list[str]:
    identity = registration.identity
    storage = storage_of(journal, identity)
    grants = standing_grants(journal, identity.host_id, identity.module_id)
    given = [
        f"  {safe_line(each.terms.capability_id)}, {each.terms.scope}, {each.grant_id}"
        for each in grants
    ]
    return [
        f"remove {_named(registration)}?",
        "",
        "with it go",
        f"{_many(len(grants), 'grant')}, revoked" + (":" if given else ""),
        *given,
        f"{_many(storage.used.used_keys, 'key')} that it stored, deleted for good",
    ]


def _named(registration: Registration) -> str:
    identity = registration.identity
    named = f"{identity.module_id} {identity.module_version} from {identity.host_id}"
    return safe_line(named)


def _with(removed: Removed) -> str:
    return f"with {_many(removed.grants, 'grant')} and {_many(removed.stored_keys, 'stored key')}"


def _many(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"


remove = PlainCommand(
    "remove",
    PAGE,
    _remove,
    [
        host_option("The host, where several have one."),
        click.Option(["--yes"], is_flag=True, help="Ask nobody."),
        module_argument(),
    ],
)
