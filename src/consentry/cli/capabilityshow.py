"""`consentry capability show`: one saved capability, the set it runs in and why, and its code."""

import sys
from collections.abc import Iterator, Sequence

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import UsageProblem
from consentry.base.safetext import safe_block
from consentry.cli.capabilityplace import (
    capabilities_to_read,
    complete_capability,
    found_capability,
)
from consentry.cli.capabilitytext import document_of, row, set_lines
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.output import Output, page_width, write_pieces
from consentry.cli.table import Page
from consentry.decide.capabilities import Capability, determine_permission_set
from consentry.store.capabilities import CapabilityStore
from consentry.surface.permission_sets import definition

PAGE = Page(
    summary="Show one capability: the set it runs in and why, and what it is known by.",
    paragraphs=(
        (
            "With --code, the code alone: in a frame on a terminal, byte for byte into a file or a "
            "pipe. An earlier version is shown with the set that it had last."
        ),
    ),
    arguments=(("NAME", "The name of a capability, or its id."),),
    examples=(
        ("consentry capability show word-count", "its set, and why"),
        ("consentry capability show word-count --code > count.py", "its code, as it was saved"),
        ("consentry capability show word-count --version 1", "as it was"),
    ),
    statuses=(
        ("0", "shown"),
        ("2", "wrong usage, or nothing is saved under that name, or no such version"),
        ("5", "the ledger cannot be read"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _show(ctx: click.Context, *, name: str, code: bool, version: int | None) -> ExitStatus:
    output = output_of(ctx)
    with capabilities_to_read() as journal:
        newest = found_capability(journal, name)
        known = [] if journal is None else CapabilityStore(journal).history(newest.capability_id)
    shown = newest if version in (None, newest.version) else _version(known, newest, version or 0)
    if output.json:
        output.document("capability", {"capability": document_of(shown, code=code)})
    elif code:
        _write_code(shown)
    elif output.quiet:
        output.text(determine_permission_set(shown).value)
    else:
        output.text("\n".join(_lines(output, shown, newest)))
    return ExitStatus.DONE


def _version(known: Sequence[Capability], newest: Capability, version: int) -> Capability:
    found = [each for each in known if each.version == version]
    if not found:
        raise UsageProblem(
            Code.CAPABILITY_MISSING,
            f"`{newest.name}` has no version {version}; the newest is {newest.version}",
            help_line=f"`consentry capability history {newest.name}` lists its versions",
        )
    return found[-1]


def _write_code(capability: Capability) -> None:
    """On a terminal nothing in it can act; elsewhere it is the very code."""
    if sys.stdout is not None and sys.stdout.isatty():
        origin = f"{capability.name}, version {capability.version}"
        framed = safe_block(capability.code, origin=origin, width=page_width() - 1)
        write_pieces([framed.encode(), b"\n"])
    else:
        write_pieces([capability.code.encode()])


def _lines(output: Output, shown: Capability, newest: Capability) -> Iterator[str]:
    yield output.paint(f"{shown.name}, version {shown.version}", "bold")
    if shown.version != newest.version:
        yield from row("", f"an earlier version: what runs is version {newest.version}")
    yield from row("language", shown.language.value)
    yield from set_lines(shown)
    steps = ", ".join(definition(determine_permission_set(shown)).steps)
    yield from row("may ask", steps or "for no larger set")
    yield from row("saved", shown.created_at.shown())
    yield from row("changed", shown.updated_at.shown())
    # Whole, to be copied.
    yield f"  id        {shown.capability_id}"
    yield f"  code      {shown.code_hash}"


show = PlainCommand(
    "show",
    PAGE,
    _show,
    [
        click.Option(["--code"], is_flag=True, help="Its code; in JSON, its code as well."),
        click.Option(
            ["--version"],
            type=click.IntRange(1),
            metavar="N",
            help="This version of it, instead of the newest.",
        ),
        click.Argument(["name"], type=Text(), metavar="NAME", shell_complete=complete_capability),
    ],
)
