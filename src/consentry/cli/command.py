"""What every command has in common: shared options, its help page, and how it complains.

`--json`, `--quiet`, `--verbose` and `--color` work before and after the command word: each level
leaves what it was given in the context, and `output_of` puts it together. A command's page (what,
examples, exit statuses) is data next to the command; `page.py` lays it out.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from consentry.cli.output import Output, write_answer
from consentry.cli.table import Page

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COLOR_CHOICES = ("auto", "always", "never")
_META = "consentry."


def usage_problem(message: str, help_line: str) -> Exception:
    """The error for a command line that was not understood."""
    from consentry.base.codes import Code  # noqa: PLC0415 - only failures pay for it
    from consentry.base.errors import UsageProblem  # noqa: PLC0415 - as above

    return UsageProblem(Code.USAGE, message, help_line=help_line)


class OneOf(click.Choice[str]):
    """A choice that suggests the right word for a mistyped one."""

    name = "word"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,  # noqa: ARG002 - click's interface
    ) -> str:
        """The value itself when it is one of the choices, exactly as spelled."""
        if value in self.choices:
            return str(value)
        from consentry.cli.suggest import help_for  # noqa: PLC0415 - only failures pay for it

        what = f"`{param.opts[-1]}`" if isinstance(param, click.Option) else "this argument"
        otherwise = f"it takes one of: {', '.join(self.choices)}"
        raise usage_problem(
            f"`{value}` is not a value of {what}", help_for(str(value), self.choices, otherwise)
        )


class Text(click.types.StringParamType):
    """Words that are compared with what was recorded, which is always text."""

    name = "text"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """The value itself; bytes of the command line that are no UTF-8 cannot be meant."""
        text = super().convert(value, param, ctx)
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise usage_problem(f"`{text}` is not text", "write it in UTF-8")
        return text


class _Place(click.types.StringParamType):
    """The name of something on disk: completed by the shell, looked at by whoever uses it."""

    shell_kind = ""

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's interface
        param: click.Parameter,  # noqa: ARG002 - click's interface
        incomplete: str,
    ) -> "list[CompletionItem]":
        """Leaves it to the shell, which knows the disk best."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

        return [CompletionItem(incomplete, type=self.shell_kind)]


class Folder(_Place):
    """The name of a folder."""

    name = "folder"
    shell_kind = "dir"


class File(_Place):
    """The name of a file."""

    name = "file"
    shell_kind = "file"


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value and param.name is not None:
        ctx.meta[_META + param.name] = value


def _show_help(ctx: click.Context, _param: click.Parameter, value: Any) -> None:
    if value and not ctx.resilient_parsing:
        write_answer(ctx.get_help() + "\n")
        ctx.exit()


def shared_options() -> list[click.Parameter]:
    """The options of every command; a fresh list, because click keeps it."""
    return [
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_remember,
            help="Answer with one JSON document, errors included.",
        ),
        click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_remember,
            help="Print the bare answer, or only what is wrong.",
        ),
        click.Option(
            ["-v", "--verbose"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_remember,
            help="Print where each answer comes from.",
        ),
        click.Option(
            ["--color"],
            type=OneOf(COLOR_CHOICES),
            expose_value=False,
            is_eager=True,
            callback=_remember,
            metavar="WHEN",
            help="Colour: auto (on a terminal), always or never.",
        ),
        click.Option(
            ["-h", "--help"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_show_help,
            help="Print this page.",
        ),
    ]


class PlainCommand(click.Command):
    """A command with the shared options and a page."""

    def __init__(
        self, name: str, page: Page, callback: Any, params: Sequence[click.Parameter] = ()
    ) -> None:
        super().__init__(
            name,
            callback=callback,
            params=[*params, *shared_options()],
            help=page.summary,
            add_help_option=False,
            context_settings={"allow_extra_args": True},
        )
        self.page = page

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, but a word too many is answered in our own words."""
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as problem:
            # The parser does not always say whose options it was reading.
            problem.ctx = problem.ctx or ctx
            raise
        if rest and not ctx.resilient_parsing:
            raise usage_problem(
                f"`{rest[0]}` is one word too many for `{ctx.command_path}`",
                f"`{ctx.command_path} --help` shows what it takes",
            )
        return rest

    def get_help(self, ctx: click.Context) -> str:
        """The page, laid out for the width at hand."""
        from consentry.cli.page import command_page  # noqa: PLC0415 - only help pays for it

        return command_page(self.page, self.params, ctx, color_of(ctx))


def color_of(ctx: click.Context) -> str:
    """What `--color` was given so far."""
    return str(ctx.meta.get(_META + "color", "auto"))


def output_of(ctx: click.Context) -> Output:
    """The output this invocation asked for, at whatever level it said so."""
    meta = ctx.meta
    if meta.get(_META + "quiet") and meta.get(_META + "verbose"):
        raise usage_problem(
            "`--quiet` and `--verbose` contradict each other", "leave one of the two out"
        )
    return Output(
        json=bool(meta.get(_META + "json")),
        quiet=bool(meta.get(_META + "quiet")),
        verbose=bool(meta.get(_META + "verbose")),
        color=color_of(ctx),
    )
