"""`consentry module show`: everything that is known of one registered module."""

from collections.abc import Iterator
from itertools import islice

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.base.units import Size
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.hanging import LONGEST, hanging
from consentry.cli.modulelist import WORDS, mode_rows
from consentry.cli.moduleplace import (
    READING,
    host_option,
    module_argument,
    modules_to_read,
    stored_in,
)
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.decide.modulemode import ModeSetting
from consentry.declare.actionapproval import approval_of
from consentry.declare.actiongraph import GraphAction
from consentry.declare.hostdescription import ApprovalLevel, ApprovalRule, HostDescription
from consentry.declare.modulevalues import CommandBinding, UiEntry
from consentry.service.modulelist import (
    ListedModule,
    ListedPower,
    ModuleStorage,
    listed_module,
    module_named,
    storage_of,
)
from consentry.service.moduleloading import LoadedModule

MOST_ROWS = 200
"""So many entries, bindings or actions are read by a person; a package may have thousands."""

PAGE = Page(
    summary="Show everything about one module: entries, actions, what it asks for and may do.",
    paragraphs=(
        "What stands in quotes is the module's own word. A grant is named with who gave it.",
    ),
    arguments=(("MODULE", "The id of a module; `consentry module list` lists them."),),
    examples=(
        ("consentry module show word-count", "all of it"),
        ("consentry module show word-count --host note-board", "where several hosts have one"),
        ("consentry module show word-count --json", "for a script, with the package itself"),
    ),
    statuses=(
        ("0", "shown"),
        ("2", "wrong usage, no such module, or several hosts have one and none was named"),
        *READING,
    ),
)

_LABEL = 11
_LONGEST_NAME = 120


@click.pass_context
def _show(ctx: click.Context, *, module_id: str, host: str | None) -> ExitStatus:
    output = output_of(ctx)
    with modules_to_read() as journal:
        modules = stored_in(journal)
        registration, described = module_named(modules, module_id, host)
        if journal is None or modules is None:  # a module was found, so there is a ledger
            raise AssertionError(module_id)
        listed = listed_module(journal, registration, described)
        storage = storage_of(journal, registration.identity)
        mode = modules.mode()
    if output.json:
        output.document("module", _document(listed, storage, mode))
    elif output.quiet:
        output.text(safe_line(registration.identity.module_version))
    else:
        output.text("\n".join(_rows(output, listed, storage, mode, described)))
    return ExitStatus.DONE


def _document(listed: ListedModule, storage: ModuleStorage, mode: ModeSetting) -> dict[str, object]:
    module, registration = listed.module, listed.registration
    graph = module.graph.to_json() if isinstance(module, LoadedModule) else registration.graph
    return {
        "module": listed.to_json(),
        "mode": mode.mode.value,
        "storage": storage.to_json(),
        "graph": graph,
        "package": dict(registration.document),
    }


def _rows(
    output: Output,
    listed: ListedModule,
    storage: ModuleStorage,
    mode: ModeSetting,
    host: HostDescription,
) -> Iterator[str]:
    registration = listed.registration
    identity = registration.identity
    named = safe_line(f"{identity.module_id} {identity.module_version}")
    yield f"{output.paint(named, 'bold')} in {safe_line(f'{host.host_id} {host.app_version}')}"
    yield from mode_rows(output, mode)
    if listed.problem is not None:
        yield from _row("does not fit", f"its host any more: {listed.problem}")
    calls_itself = str(registration.document.get("displayName", ""))
    yield from _row("calls itself", f"“{calls_itself}”")
    description = registration.document.get("description")
    if isinstance(description, str):
        yield from _row("says", f"“{description}”")
    yield from _row("imported", f"{registration.imported_at.shown()} by {registration.imported_by}")
    # Whole, to be copied.
    yield f"  {'digest':<{_LABEL + 2}}{identity.package_digest}"
    yield from _row("keeps", _kept(storage))
    yield from _powers(output, listed.capabilities)
    if isinstance(listed.module, LoadedModule):
        package, graph = listed.module.package, listed.module.graph
        yield from _section(output, "entries", map(_entry, package.entries))
        yield from _section(output, "bindings", map(_binding, package.bindings))
        source = "from its own graph" if registration.graph is not None else "from its bindings"
        actions = (_action(each, host) for each in graph.actions)
        yield from _section(output, f"actions, {source}", actions)
        yield from _section(output, "extensions", map(_own, iter(package.extensions)))


def _row(label: str, text: str) -> list[str]:
    return hanging(f"  {label:<{_LABEL + 2}}", safe_line(text, limit=LONGEST))


def _section(output: Output, title: str, rows: Iterator[str]) -> Iterator[str]:
    yield output.paint(title, "bold")
    listed = list(islice(rows, MOST_ROWS))
    if not listed:
        yield "  none"
    for row in listed:
        yield from hanging("  ", row, indent=6)
    more = sum(1 for _ in rows)
    if more:
        yield f"  and {more:,} more; --json has all of them"


def _kept(storage: ModuleStorage) -> str:
    used = storage.used
    keys = "1 key" if used.used_keys == 1 else f"{used.used_keys} keys"
    return f"{keys}, {Size(used.used_bytes)}"


def _powers(output: Output, powers: tuple[ListedPower, ...]) -> Iterator[str]:
    yield output.paint("capabilities", "bold")
    if not powers:
        yield "  none: it asks for nothing, so none of its actions can run"
    for each in powers:
        word, colour = WORDS[each.state]
        yield f"  {safe_line(each.entry.capability_id)}  {output.paint(word, colour)}"
        yield from hanging("    scope  ", safe_line(each.entry.scope))
        for limit in each.entry.limits:
            yield from hanging("    limit  ", safe_line(limit))
        for grant in each.grants:
            terms = grant.terms
            said = f"{terms.scope}, {grant.given_at.shown()} by {terms.given_by}, {grant.grant_id}"
            yield from hanging("    given  ", safe_line(said))


def _entry(entry: UiEntry) -> str:
    calls = "calls nothing" if entry.action is None else f"calls {entry.action.command_id}"
    named = f"“{_own(entry.entry_id)}”"
    label = "" if entry.label is None else f", labelled “{_own(entry.label)}”"
    return f"{entry.type} in {entry.slot}, {safe_line(calls)}: {named}{label}"


def _binding(binding: CommandBinding) -> str:
    named = f"“{_own(binding.binding_id)}” of “{_own(binding.ui_entry_id)}”"
    return f"calls {safe_line(binding.command_id)}: {named}"


def _action(action: GraphAction, host: HostDescription) -> str:
    facts = f"calls {', '.join(action.calls)}; from {', '.join(action.surface)}"
    asked = asked_words(approval_of(action, host))
    named = f"“{_own(action.id)}”, labelled “{_own(action.label)}”"
    return f"{safe_line(facts, limit=LONGEST)}; {asked}: {named}"


def asked_words(rule: ApprovalRule | None) -> str:
    """Whether and how often a person is asked, as part of a sentence."""
    if rule is None:
        return "nobody is asked"
    is_soft = rule.level is ApprovalLevel.SOFT
    return "asked, may be remembered for the session" if is_soft else "asked every time"


def _own(words: str) -> str:
    """A module's own words in safe text, as many as a row takes; facts of ours stand before them."""
    return safe_line(words, limit=_LONGEST_NAME)


show = PlainCommand(
    "show", PAGE, _show, [host_option("The host, where several have one."), module_argument()]
)
