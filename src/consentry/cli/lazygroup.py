"""A group of commands whose modules are imported only when one of them is used.

The names and summaries come from a static table, so that the group's own help, a mistyped command
and shell completion of command words import no command at all.
"""

import gc
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from consentry.cli.command import color_of, shared_options, usage_problem
from consentry.cli.table import CommandSection, Page

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# What people type who look for these; they are options here.
_OPTIONS_MISTAKEN_FOR_COMMANDS = ("help", "version")


class LazyGroup(click.Group):
    """The group; `sections` is its whole table of commands, in the order of the help page."""

    def __init__(
        self,
        name: str,
        sections: Sequence[CommandSection],
        callback: Any,
        params: Sequence[click.Parameter] = (),
        page: Page | None = None,
    ) -> None:
        super().__init__(
            name,
            callback=callback,
            params=[*shared_options(), *params],
            invoke_without_command=True,
            no_args_is_help=False,
            add_help_option=False,
        )
        self.page = page
        self.sections = tuple(sections)
        self.rows = {row.name: row for section in self.sections for row in section.rows}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's interface
        """Every command name, in the order of the table."""
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Imports the module of this command, and of no other."""
        row = self.rows.get(cmd_name)
        if row is None:
            return None
        module, _, attribute = row.location.partition(":")
        command = getattr(import_module(module), attribute)
        if not gc.isenabled():
            # Everything that stays is loaded: from here on there may be garbage.
            gc.freeze()
            gc.enable()
        if not isinstance(command, click.Command):
            raise TypeError(f"{row.location} is not a command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but an unknown word is answered with the right one."""
        word = args[0]
        command = self.get_command(ctx, word)
        if command is None and not ctx.resilient_parsing:
            raise self._unknown(word, ctx)
        return (None if command is None else word), command, args[1:]

    def _unknown(self, word: str, ctx: click.Context) -> Exception:
        from consentry.cli.suggest import help_for  # noqa: PLC0415 - only failures pay for it

        if word in _OPTIONS_MISTAKEN_FOR_COMMANDS:
            return usage_problem(f"`{word}` is not a command", f"did you mean `--{word}`?")
        otherwise = f"`{ctx.command_path} --help` lists the commands"
        what = "a command" if ctx.parent is None else f"a command of `{ctx.command_path}`"
        return usage_problem(f"`{word}` is not {what}", help_for(word, self.rows, otherwise))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Command words from the table, and this group's own options."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

        words = [
            CompletionItem(row.name, help=row.summary)
            for row in self.rows.values()
            if row.name.startswith(incomplete)
        ]
        return [*words, *click.Command.shell_complete(self, ctx, incomplete)]

    def get_help(self, ctx: click.Context) -> str:
        """The page, laid out for the width at hand."""
        from consentry.cli.page import group_page  # noqa: PLC0415 - only help pays for it

        return group_page(self.page, self.sections, self.params, ctx, color_of(ctx))
