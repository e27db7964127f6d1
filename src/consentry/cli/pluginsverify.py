"""`consentry plugins verify`: says which plugins are what the lock says, and what differs."""

import os
from collections.abc import Iterator
from contextlib import closing

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.hanging import LONGEST, hanging
from consentry.cli.output import Output, write_message
from consentry.cli.pluginplace import (
    ROOT_ARGUMENT,
    cache_of,
    definition_options,
    given_servers,
    given_tools,
    rehash_option,
    root_of,
    root_parameters,
)
from consentry.cli.pluginrows import change_rows, changes_document, state_document, state_rows
from consentry.cli.pluginsevidence import (
    EvidenceState,
    evidence_document,
    evidence_of,
    evidence_rows,
)
from consentry.cli.table import Page
from consentry.declare.pluginlock import LOCK_NAME, PluginLock
from consentry.examine.pluginproblems import VerificationError
from consentry.service.pluginroots import lock_file
from consentry.service.pluginverify import (
    DefinitionState,
    Given,
    KnownBy,
    RootState,
    record_rejections,
    verify_root,
)
from consentry.service.surroundings import Surroundings, look_around

PAGE = Page(
    summary="Say which plugins are what the lock says, and which files changed, came or went.",
    paragraphs=(
        (
            "An integrity check: it shows corruption, partial merges and plugins edited without making "
            "the lock anew. Whoever can commit both a plugin and its lock passes."
        ),
        (
            "What was hashed before and has not changed since, by what the kernel says, is not hashed "
            "again, and the answer says so; loading a plugin always hashes."
        ),
    ),
    arguments=(ROOT_ARGUMENT,),
    examples=(
        ("consentry plugins verify", "the plugins of this workspace"),
        ("consentry plugins verify --own --rehash", "your own, every byte of them"),
        (
            "consentry plugins verify --mcp files=tools.json",
            "and a server's tools, as they are now",
        ),
    ),
    statuses=(
        ("0", "everything is as the lock says"),
        ("2", "wrong usage, or a folder or file that cannot be used"),
        ("3", "the lock or another document cannot be read"),
        ("4", "something is not as the lock says; the ledger has it"),
        ("126", "all is as the lock says, but evidence that your policy asks for is missing"),
    ),
    read_on=("docs/how-to/operate-plugins.md says what to do after status 4.",),
)


@click.pass_context
def _verify(
    ctx: click.Context,
    *,
    root: str | None,
    own: bool,
    workspace: str | None,
    rehash: bool,
    tools: tuple[str, ...],
    servers: tuple[str, ...],
) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    place = root_of(around, root, workspace, own=own)
    given = Given(given_tools(tools), given_servers(servers))
    found = lock_file(place)
    lock = PluginLock() if found is None else found.lock
    state = verify_root(place, lock, cache_of(around), given, rehash=rehash)
    good = [each.name for each in state.plugins if each.problem is None]
    evidence = evidence_of(around, place, good)
    refused = tuple(each.problem for each in evidence if each.problem is not None)
    problems = (*state.rejected, *state.definition_problems, *refused)
    unrecorded = _record(around, problems)
    if output.json:
        output.document(
            "plugins-verify", _document(state, unrecorded, evidence, has_lock=found is not None)
        )
    else:
        lines = list(_lines(output, state, has_lock=found is not None))
        lines += evidence_rows(output, evidence)
        if lines:
            output.text("\n".join(lines))
        if unrecorded is not None:
            write_message(f"not recorded: {safe_line(unrecorded, limit=LONGEST)}")
    # What is wrong with a tree comes before what is missing beside it.
    if state.rejected or state.definition_problems:
        return ExitStatus.PLUGIN_REJECTED
    return refused[0].exit_status if refused else ExitStatus.DONE


def _record(around: Surroundings, problems: tuple[VerificationError, ...]) -> str | None:
    """Appends what was rejected; a ledger that cannot be written does not make it less rejected."""
    if not problems:
        return None
    from consentry.service.sessions import journal_here  # noqa: PLC0415 - only rejections pay for it

    clock = SystemClock()
    try:
        journal = journal_here(around, clock, Uuid7Ids(clock))
        with closing(journal.ledger):
            record_rejections(journal, problems)
    except ConsentryError as problem:
        return str(problem)
    return None


def _lines(output: Output, state: RootState, *, has_lock: bool) -> Iterator[str]:
    widest = max((len(safe_line(each.name)) for each in state.plugins), default=0)
    for each in state.plugins:
        if each.problem is not None or not output.quiet:
            yield from state_rows(output, each, widest)
        if each.problem is not None:
            yield from change_rows(output, each.problem.changes, indent=4)
    for section, definitions in (("tool", state.tools), ("mcp", state.mcp_tools)):
        yield from _definition_rows(output, section, definitions)
    if output.quiet:
        return
    if not has_lock:
        yield f"there is no {LOCK_NAME} in {safe_line(str(state.root))}"
    good = len(state.plugins) - len(state.rejected)
    by_stat = sum(each.known_by is KnownBy.STAT for each in state.plugins)
    note = f", {by_stat} of them by stat (--rehash reads every byte)" if by_stat else ""
    yield f"integrity check: {good} of {len(state.plugins)} plugins are as the lock says{note}"


def _definition_rows(output: Output, section: str, state: DefinitionState) -> Iterator[str]:
    yield from change_rows(output, state.changes, indent=0, prefix=f"{section} ")
    if state.unlooked and not output.quiet:
        names = ", ".join(state.unlooked)
        said = f"not looked at: {section} {names} (give --{section} NAME=FILE)"
        yield from hanging("", safe_line(said, limit=LONGEST))


def _document(
    state: RootState,
    unrecorded: str | None,
    evidence: tuple[EvidenceState, ...],
    *,
    has_lock: bool,
) -> dict[str, object]:
    return {
        "root": str(state.root),
        "has_lock": has_lock,
        "is_as_locked": state.is_as_locked,
        "plugins": [state_document(each) for each in state.plugins],
        "tools": _section(state.tools),
        "mcp_tools": _section(state.mcp_tools),
        "evidence": evidence_document(evidence),
        "not_recorded": unrecorded,
    }


def _section(state: DefinitionState) -> dict[str, object]:
    return {
        **changes_document(state.changes),
        "looked_at": list(state.looked_at),
        "not_looked_at": list(state.unlooked),
    }


verify = PlainCommand(
    "verify",
    PAGE,
    _verify,
    [*root_parameters(), rehash_option(), *definition_options("Hold against the lock")],
)
