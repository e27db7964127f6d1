"""`consentry module`: modules that were imported into a host application, and what they may do there."""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="Import modules into an application, see what they ask for, and stop them.",
    paragraphs=(
        (
            "A module is data: entries and bindings to commands of its host. It may use nothing "
            "until a person grants it: `consentry grants` tells what was granted and why."
        ),
        "A host is an application that embeds Consentry; it is known here from its first start on.",
    ),
    examples=(
        ("consentry module import word-count.json", "check it, and register it"),
        ("consentry module list", "what is registered, and what it may do"),
        ("consentry module catalog", "the capabilities that a module can ask for"),
        ("consentry module mode deny-all", "stop all of them, whatever was granted"),
    ),
    statuses=(
        ("0", "done, listed or shown"),
        ("2", "wrong usage, or no such module, host or file"),
        ("3", "a package, graph or description is refused; its code and place are printed"),
        ("5", "the ledger cannot be read or written"),
        (
            "126",
            "you said no, the passphrase is missing, or the state directory is not safe to use",
        ),
    ),
    read_on=("docs/how-to/host-modules.md; docs/reference/capability-catalog.md.",),
)

SECTIONS = (
    CommandSection(
        "Import and look",
        (
            CommandRow(
                "import", "consentry.cli.moduleimport:import_", "Check a package, and register it"
            ),
            CommandRow(
                "list", "consentry.cli.modulelist:list_", "List modules, and what each may do"
            ),
            CommandRow("show", "consentry.cli.moduleshow:show", "Show everything about one"),
            CommandRow(
                "graph", "consentry.cli.modulegraph:graph", "Show what its actions call and need"
            ),
            CommandRow(
                "remove",
                "consentry.cli.moduleremove:remove",
                "Remove one, with its grants and what it stored",
            ),
        ),
    ),
    CommandSection(
        "Rules and hosts",
        (
            CommandRow(
                "catalog",
                "consentry.cli.modulecatalog:catalog",
                "Show the capabilities, with scope and limits",
            ),
            CommandRow(
                "mode", "consentry.cli.modulemode:mode", "Show or set what modules may do at all"
            ),
            CommandRow(
                "hosts", "consentry.cli.modulehosts:hosts", "List known hosts and their commands"
            ),
        ),
    ),
)


@click.pass_context
def _module(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no command was given", f"`{ctx.command_path} --help` lists the commands"
        )


module = LazyGroup("module", SECTIONS, _module, page=PAGE)
