"""Help pages: laid out from data, for the width at hand, without a word that is not ours.

A page says what the command is for, how to write it, its options, examples, exit statuses and
where to read on. The words of an example are never wrapped.
"""

import os
import sys
from collections.abc import Sequence
from textwrap import wrap

import click

from consentry import __version__
from consentry.cli.output import page_width, painted, wants_color
from consentry.cli.table import CommandSection, Page

_GAP = 2
_INDENT = 2
_WIDEST_TERM = 40

_STATUSES = (
    "0 done, 1 a check found something, 2 wrong usage, 125 Consentry failed, 126 denied, "
    "130 interrupted. `consentry explain` has all of them."
)

ROOT = Page(
    summary=(
        "See what a tool, plugin or generated code wants to do, decide, confine it to exactly "
        "that, and keep a record of what happened."
    ),
    paragraphs=(
        (
            f"This version ({__version__}) runs tools, programs and saved code, reads patches, loads "
            "plugins that are as locked, and asks at terminals. A web inbox and agents are not built yet."
        ),
    ),
    examples=(
        ("consentry tool list", "the tools here; `consentry run NAME` asks, then runs one"),
        ("consentry exec -- python3 script.py", "run it, confined to this workspace"),
        ("consentry why", "what was stopped, and what would allow it"),
        ("consentry status", "what is found here, and why"),
        ("consentry status --json", "the same for a script"),
        ("consentry explain", "every word that can be explained"),
        ("consentry explain 126", "what an exit status means"),
    ),
    read_on=("`consentry COMMAND --help` for one command; docs/reference/cli.md in the source.",),
)


def group_page(
    page: Page | None,
    sections: Sequence[CommandSection],
    params: Sequence[click.Parameter],
    ctx: click.Context,
    color: str,
) -> str:
    """The page of a group of commands; without a page of its own it is the root's."""
    layout = _Layout(color)
    is_root, page = page is None, page or ROOT
    widest = max(len(row.name) for section in sections for row in section.rows)
    parts = [f"Usage: {ctx.command_path} [OPTIONS] COMMAND [ARGUMENTS]"]
    parts += [layout.paragraph(text) for text in (page.summary, *page.paragraphs)]
    for section in sections:
        rows = [(row.name, row.summary) for row in section.rows]
        parts.append(layout.section(section.heading, rows, widest))
    parts.append(layout.section("Options, before or after the command word", _options(params, ctx)))
    parts.append(layout.section("Examples", page.examples))
    if is_root:
        parts.append("\n".join([layout.heading("Exit status"), layout.indented(_STATUSES)]))
    else:
        parts.append(layout.section("Exit status", page.statuses))
    return "\n\n".join([*parts, *_read_on(layout, page)])


def command_page(
    page: Page, params: Sequence[click.Parameter], ctx: click.Context, color: str
) -> str:
    """The page of one command."""
    layout = _Layout(color)
    arguments = [param for param in params if isinstance(param, click.Argument)]
    words = ["[OPTIONS]", *(argument.make_metavar(ctx) for argument in arguments)]
    parts = [f"Usage: {ctx.command_path} {' '.join(words)}"]
    parts += [layout.paragraph(text) for text in (page.summary, *page.paragraphs)]
    if page.arguments:
        parts.append(layout.section("Arguments", page.arguments))
    parts.append(layout.section("Options", _options(params, ctx)))
    return "\n\n".join([*parts, *_tail(layout, page)])


def _tail(layout: "_Layout", page: Page) -> list[str]:
    parts = []
    if page.examples:
        parts.append(layout.section("Examples", page.examples))
    if page.statuses:
        parts.append(layout.section("Exit status", page.statuses))
    return [*parts, *_read_on(layout, page)]


def _read_on(layout: "_Layout", page: Page) -> list[str]:
    if not page.read_on:
        return []
    return ["\n".join([layout.heading("Read on"), *map(layout.indented, page.read_on)])]


def _options(params: Sequence[click.Parameter], ctx: click.Context) -> list[tuple[str, str]]:
    rows = []
    for param in params:
        if isinstance(param, click.Option):
            value = "" if param.is_flag else f" {param.make_metavar(ctx)}"
            names = ", ".join(sorted(param.opts, key=len))
            # Long names line up when those without a short one leave room for it.
            margin = "    " if names.startswith("--") else ""
            rows.append((margin + names + value, param.help or ""))
    return rows


class _Layout:
    """Headings, definition lists and paragraphs for one width and one choice of colour."""

    def __init__(self, color: str) -> None:
        self.width = page_width() - 1
        self.colored = wants_color(color, sys.stdout, os.environ)

    def heading(self, text: str) -> str:
        return painted(f"{text}:", "bold") if self.colored else f"{text}:"

    def section(self, heading: str, rows: Sequence[tuple[str, str]], widest: int = 0) -> str:
        column = _INDENT + max(widest, min(max(len(term) for term, _ in rows), _WIDEST_TERM)) + _GAP
        lines = [self.heading(heading)]
        for term, text in rows:
            start = f"{' ' * _INDENT}{term}"
            if len(start) + _GAP > column:
                lines.append(start)
                start = ""
            body = wrap(text, self.width - column)
            lines.append(f"{start:<{column}}{body[0]}")
            lines += [" " * column + line for line in body[1:]]
        return "\n".join(lines)

    def paragraph(self, text: str) -> str:
        return "\n".join(wrap(text, self.width))

    def indented(self, text: str) -> str:
        margin = " " * _INDENT
        lines = wrap(text, self.width, initial_indent=margin, subsequent_indent=margin)
        return "\n".join(lines)
