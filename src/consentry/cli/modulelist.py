"""`consentry module list`: the modules that are registered, and what each may do now."""

from collections.abc import Iterator

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.hanging import LONGEST, hanging
from consentry.cli.moduleplace import READING, host_option, modules_to_read, stored_in
from consentry.cli.output import Output
from consentry.cli.table import PROGRAM, Page
from consentry.decide.modulemode import ModeSetting, ModuleMode
from consentry.service.modulelist import ListedModule, PowerState, host_named, listed_modules

PAGE = Page(
    summary="List the modules that are registered, and what each may do now.",
    paragraphs=(
        (
            "A capability is granted, not granted, or stale: granted for another version, content, "
            "catalog or session than what is now. What stands as granted for a session holds there "
            "alone."
        ),
        "A module that does not fit its host any more stays registered and does nothing.",
    ),
    examples=(
        ("consentry module list", "all of them"),
        ("consentry module list --host note-board", "those of one host"),
        ("consentry module list --quiet", "the bare ids, one on a line"),
    ),
    statuses=(
        ("0", "listed; an empty list is an answer, too"),
        ("2", "wrong usage, or no such host"),
        *READING,
    ),
)

WORDS = {
    PowerState.GRANTED: ("granted", "green"),
    PowerState.SESSION: ("for a session", "green"),
    PowerState.STALE: ("stale", "yellow"),
    PowerState.NOT_GRANTED: ("not granted", "yellow"),
}
"""How a state is called, and its colour."""

_WIDTH = 15


@click.pass_context
def _list(ctx: click.Context, *, host: str | None) -> ExitStatus:
    output = output_of(ctx)
    with modules_to_read() as journal:
        modules = stored_in(journal)
        wanted = None if host is None else host_named(modules, host).host_id
        found = [] if journal is None else listed_modules(journal, wanted)
        mode = ModeSetting() if modules is None else modules.mode()
    if output.json:
        rows = [each.to_json() for each in found]
        output.document("module-list", {"mode": mode.mode.value, "modules": rows})
    elif output.quiet:
        if found:
            output.text("\n".join(each.registration.identity.module_id for each in found))
    elif not found:
        output.text(f"no module is registered; `{PROGRAM} module import FILE` registers one")
    else:
        rows_of = [row for each in found for row in _rows(output, each)]
        output.text("\n".join([*mode_rows(output, mode), *rows_of]))
    return ExitStatus.DONE


def mode_rows(output: Output, mode: ModeSetting) -> list[str]:
    """That the operator holds modules back, where that is so."""
    if mode.mode is ModuleMode.NORMAL:
        return []
    said = f"the mode is {mode.mode}, whatever is granted below; `{PROGRAM} module mode` tells more"
    return [output.paint(said, "yellow")]


def _rows(output: Output, listed: ListedModule) -> Iterator[str]:
    identity = listed.registration.identity
    named = safe_line(f"{identity.module_id} {identity.module_version}")
    yield f"{output.paint(named, 'bold')} in {safe_line(identity.host_id)}"
    if listed.problem is not None:
        start = f"  {output.paint('does not fit', 'red')}  "
        yield from hanging(start, safe_line(listed.problem, limit=LONGEST), width_of_start=16)
    if not listed.capabilities:
        yield "  it asks for no capability"
    for state, (word, colour) in WORDS.items():
        names = [each.entry.capability_id for each in listed.capabilities if each.state is state]
        if names:
            start = f"  {output.paint(f'{word:<{_WIDTH}}', colour)}"
            yield from hanging(start, safe_line(", ".join(names)), width_of_start=_WIDTH + 2)


list_ = PlainCommand("list", PAGE, _list, [host_option("Only those of this host.")])
