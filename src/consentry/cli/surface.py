"""`consentry surface`: what code can do; the word `show` may be left out.

The first word that is neither an option of every command nor one of the table is what to show, so a
file that is called `diff` is written `./diff`.
"""

import click

from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="Show which powers code has, and where they come from.",
    paragraphs=(
        (
            "Nothing is run or imported: the files are read. Named is a file, a folder, a wheel, an "
            "sdist, or an installed distribution."
        ),
        "`consentry surface PATH` is short for `consentry surface show PATH`.",
    ),
    examples=(
        ("consentry surface .", "what the code in this folder can do"),
        ("consentry surface requests", "what an installed distribution can do"),
        ("consentry surface app.py --json", "the same for a script"),
        ("consentry surface diff a-1.0.whl a-1.1.whl", "what a new version can do beyond the old"),
    ),
    statuses=(
        ("0", "shown; or nothing was gained"),
        ("1", "`diff`: something was gained"),
        ("2", "wrong usage, or it cannot be found or read; `diff`: something new cannot be told"),
    ),
    read_on=("docs/how-to/see-what-code-can-do.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow(
                "show",
                "consentry.cli.surfaceshow:show",
                "Show what code can do; the word may be left out",
            ),
            CommandRow(
                "diff",
                "consentry.cli.surfacediff:diff",
                "Compare what two versions of code can do",
            ),
        ),
    ),
)

_ALONE = ("--json", "-q", "--quiet", "-v", "--verbose", "-h", "--help")
_WITH_WORD = "--color"


class SurfaceGroup(LazyGroup):
    """The group whose first command needs no word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As for every group, with `show` put in where no command is named."""
        at = 0
        while at < len(args) and (args[at] in _ALONE or args[at].startswith(_WITH_WORD)):
            at += 2 if args[at] == _WITH_WORD else 1
        if at < len(args) and args[at] not in self.rows and not ctx.resilient_parsing:
            args = [*args[:at], "show", *args[at:]]
        return super().parse_args(ctx, args)


@click.pass_context
def _surface(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        if not output_of(ctx).json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem(
            "no code was named", f"`{ctx.command_path} .` shows what the code here can do"
        )


surface = SurfaceGroup("surface", SECTIONS, _surface, page=PAGE)
