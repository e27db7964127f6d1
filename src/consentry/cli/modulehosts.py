"""`consentry module hosts`: the applications that modules can be imported into, and their commands."""

from collections.abc import Iterator

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, output_of
from consentry.cli.hanging import hanging
from consentry.cli.moduleplace import (
    READING,
    content_of,
    modules_here,
    modules_to_read,
    name_of,
    stored_in,
)
from consentry.cli.output import Output
from consentry.cli.table import PROGRAM, Page
from consentry.declare.hostdescription import CommandDeclaration, HostDescription, MutationScope
from consentry.declare.hostfile import read_host
from consentry.store.modules import StoredModules

PAGE = Page(
    summary="List the applications that modules can be imported into, and their commands.",
    paragraphs=(
        (
            "A host is known from its first start on. What a command changes, takes and asks belongs "
            "to the host; no module can change it."
        ),
        (
            "A description that is registered from a file is what packages are held against here; "
            "the application itself goes by its own."
        ),
    ),
    examples=(
        ("consentry module hosts", "what is known"),
        ("consentry module hosts --register host.json", "make one known that never ran here"),
        ("consentry module hosts --quiet", "the bare ids, one on a line"),
    ),
    statuses=(
        ("0", "listed or registered; an empty list is an answer, too"),
        ("2", "wrong usage, or a file that cannot be read"),
        ("3", "the description is refused; what is wrong is printed with its place"),
        *READING,
    ),
)

_SCOPES = {
    MutationScope.DOC: "changes the document",
    MutationScope.SYNC: "changes what is shared",
    MutationScope.LOCAL: "changes nothing that lasts",
}


@click.pass_context
def _hosts(ctx: click.Context, *, register: str | None) -> ExitStatus:
    output = output_of(ctx)
    if register is not None:
        described = read_host(content_of(register), name_of(register))
        with modules_here() as journal:
            is_new = StoredModules(journal).register_host(described)
        _tell_registered(output, described, is_new=is_new)
        return ExitStatus.DONE
    with modules_to_read() as journal:
        modules = stored_in(journal)
        known = [] if modules is None else list(modules.hosts())
    if output.json:
        output.document("module-hosts", {"hosts": [_document(each) for each in known]})
    elif output.quiet:
        if known:
            output.text("\n".join(each.host_id for each in known))
    elif not known:
        said = f"`{PROGRAM} module hosts --register FILE` makes one known"
        output.text(f"no host is known here; an application is from its first start on, {said}")
    else:
        output.text("\n".join(row for each in known for row in _rows(output, each)))
    return ExitStatus.DONE


def _tell_registered(output: Output, host: HostDescription, *, is_new: bool) -> None:
    if output.json:
        output.document("module-host", {"host": _document(host), "new": is_new})
    elif not output.quiet:
        what = "registered" if is_new else "known as it is already"
        said = f"{host.host_id} {safe_line(host.app_version)}, {_many(len(host.commands))}"
        output.text(f"{what}: {said}")


def _document(host: HostDescription) -> dict[str, object]:
    return {**host.to_json(), "digest": host.digest}


def _many(count: int) -> str:
    return "1 command" if count == 1 else f"{count} commands"


def _rows(output: Output, host: HostDescription) -> Iterator[str]:
    named = f"{safe_line(host.host_id)} {safe_line(host.app_version)}"
    yield f"{output.paint(named, 'bold')}, {_many(len(host.commands))}"
    for command in host.commands:
        yield from hanging(f"  {safe_line(command.command_id)}  ", command_words(command), indent=4)


def command_words(command: CommandDeclaration) -> str:
    """What a command changes, takes and asks for, in one line of safe text."""
    rule = command.requires_approval
    said = [_SCOPES[command.mutation_scope]]
    said += [f"takes {', '.join(command.capabilities)}"] if command.capabilities else []
    said += [f"asks ({rule.level}): “{rule.reason}”"] if rule is not None else []
    said += [f"approved by {rule.approver}"] if rule is not None and rule.approver else []
    said += [f"only for {command.role}"] if command.role is not None else []
    said += [f"undone by {command.undo_command}"] if command.undo_command is not None else []
    return safe_line("; ".join(said))


hosts = PlainCommand(
    "hosts",
    PAGE,
    _hosts,
    [
        click.Option(
            ["--register"],
            type=File(),
            metavar="FILE",
            help="Make the host known that this file (.json or .yaml) describes.",
        )
    ],
)
