"""Help pages: laid out from data, for the width at hand, without a word that is not ours.

A page says what the command is for, how to write it, its options, examples, exit statuses and
where to read on. Examples come verbatim and are never wrapped.
"""

import os
import sys
from collections.abc import Iterable
from textwrap import wrap

import click

from consentry import __version__
from consentry.cli.command import Page
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import page_width, painted, wants_color

_GAP = 2
_INDENT = 2
_WIDEST_TERM = 34

ROOT = Page(
    summary=(
        "See what a tool, plugin or generated code wants to do, decide, confine it to exactly "
        "that, and keep a record of what happened."
    ),
    paragraphs=(f"This version ({__version__}) looks and explains. It does not run anything yet.",),
    examples=(
        ("consentry status", "what is found here, and why"),
        ("consentry status --json", "the same for a script"),
        ("consentry explain", "every word that can be explained"),
        ("consentry explain 126", "what an exit status means"),
    ),
    statuses=(
        ("0", "done"),
        ("1", "a check found something"),
        ("2", "wrong usage"),
        ("125", "Consentry failed"),
        ("126", "denied"),
        ("130", "interrupted"),
    ),
    read_on=(
        "`consentry COMMAND --help` for a command, `consentry explain` for every exit status;",
        "docs/reference/cli.md in the source has it all on one page.",
    ),
)


def group_page(group: LazyGroup, ctx: click.Context) -> str:
    """The page of the root command."""
    parts = [f"Usage: {ctx.command_path} [OPTIONS] COMMAND [ARGUMENTS]"]
    parts += [_paragraph(text) for text in (ROOT.summary, *ROOT.paragraphs)]
    for section in group.sections:
        rows = [(row.name, row.summary) for row in section.rows]
        parts.append(_section(section.heading, rows, _widest(group.rows)))
    parts.append(_section("Options, also after the command word", _options(group, ctx)))
    return "\n\n".join([*parts, *_tail(ROOT)])


def command_page(command: click.Command, page: Page, ctx: click.Context) -> str:
    """The page of one command."""
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    words = ["[OPTIONS]", *(argument.make_metavar(ctx) for argument in arguments)]
    parts = [f"Usage: {ctx.command_path} {' '.join(words)}"]
    parts += [_paragraph(text) for text in (page.summary, *page.paragraphs)]
    if page.arguments:
        parts.append(_section("Arguments", page.arguments))
    parts.append(_section("Options", _options(command, ctx)))
    return "\n\n".join([*parts, *_tail(page)])


def _tail(page: Page) -> list[str]:
    parts = []
    if page.examples:
        parts.append(_section("Examples", page.examples, wrapped=False))
    if page.statuses:
        parts.append(_section("Exit status", page.statuses))
    if page.read_on:
        parts.append(_heading("Read on") + "\n" + "\n".join(map(_indented, page.read_on)))
    return parts


def _options(command: click.Command, ctx: click.Context) -> list[tuple[str, str]]:
    rows = []
    for param in command.params:
        if isinstance(param, click.Option):
            value = "" if param.is_flag else f" {param.make_metavar(ctx)}"
            # Long names line up when those without a short one leave room for it.
            names = ", ".join(sorted(param.opts, key=len))
            rows.append((names if names[1] != "-" else f"    {names}", param.help or "", value))
    return [(names + value, text) for names, text, value in rows]


def _section(
    heading: str, rows: Iterable[tuple[str, str]], widest: int = 0, *, wrapped: bool = True
) -> str:
    rows = list(rows)
    column = max(widest, min(_widest(term for term, _ in rows), _WIDEST_TERM)) + _GAP
    lines = [_heading(heading)]
    for term, text in rows:
        room = page_width() - _INDENT - column - 1
        texts = wrap(text, room) if wrapped else [text]
        if len(term) + _GAP > column:
            lines.append(" " * _INDENT + term)
            term = ""  # noqa: PLW2901 - the term has its own line now
        for text_line in texts:
            lines.append(f"{' ' * _INDENT}{term:<{column}}{text_line}".rstrip())
            term = ""  # noqa: PLW2901 - only the first line carries it
    return "\n".join(lines)


def _widest(terms: Iterable[str]) -> int:
    return max((len(term) for term in terms), default=0)


def _heading(text: str) -> str:
    line = f"{text}:"
    return painted(line, "bold") if wants_color("auto", sys.stdout, os.environ) else line


def _paragraph(text: str) -> str:
    return "\n".join(wrap(text, page_width() - 1))


def _indented(text: str) -> str:
    margin = " " * _INDENT
    lines = wrap(text, page_width() - 1, initial_indent=margin, subsequent_indent=margin)
    return "\n".join(lines)
