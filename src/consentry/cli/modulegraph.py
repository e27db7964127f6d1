"""`consentry module graph`: what the actions of a module call, change and need; as text, picture or plan."""

import json
from collections.abc import Iterator, Mapping

import click

from consentry.base.canonical import Json
from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import UsageProblem
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, output_of, usage_problem
from consentry.cli.hanging import LONGEST, hanging
from consentry.cli.modulehosts import command_words
from consentry.cli.moduleplace import (
    READING,
    content_of,
    host_option,
    module_argument,
    modules_to_read,
    name_of,
    stored_in,
)
from consentry.cli.moduleshow import MOST_ROWS, asked_words
from consentry.cli.output import Output, write_answer
from consentry.cli.table import Page
from consentry.decide.moduleregistration import Registration
from consentry.declare.actionapproval import approval_of
from consentry.declare.actiongraph import ActionGraph, GraphAction, read_action_graph
from consentry.declare.actiongraphcheck import check_action_graph
from consentry.declare.actiongraphplan import planner_document
from consentry.declare.hostdescription import HostDescription
from consentry.declare.modulevalues import ModulePackage
from consentry.declare.requiredcapabilities import required_capabilities
from consentry.service.modulegraph import graph_svg
from consentry.service.modulelist import module_named
from consentry.service.moduleloading import Unfit, loaded
from consentry.service.placedfile import place_new

PAGE = Page(
    summary="Show what the actions of a module call, change and need.",
    paragraphs=(
        (
            "As its own action graph says, or as follows from its bindings. The picture is one SVG "
            "file that needs nothing else; --planner is the document for a language model or a "
            "script, with what each action will take. Neither grants anything."
        ),
        "With --check a graph from a file is held against the module instead, and shown.",
    ),
    arguments=(("MODULE", "The id of a module; `consentry module list` lists them."),),
    examples=(
        ("consentry module graph word-count", "as text"),
        ("consentry module graph word-count --svg --out graph.svg", "as a picture, in a new file"),
        ("consentry module graph word-count --planner", "for a planner"),
        ("consentry module graph word-count --check mine.json", "check a graph before importing"),
    ),
    statuses=(
        ("0", "shown or written; with --check, the graph is right"),
        ("2", "wrong usage, no such module, a file that cannot be read or is there already"),
        ("3", "--check: the graph is wrong, and what is wrong is printed with its place"),
        *READING,
    ),
)


@click.pass_context
def _graph(
    ctx: click.Context,
    *,
    module_id: str,
    host: str | None,
    check: str | None,
    svg: bool,
    planner: bool,
    out: str | None,
) -> ExitStatus:
    output = output_of(ctx)
    if svg and planner:
        raise usage_problem("`--svg` and `--planner` are two answers", "leave one of them out")
    if out is not None and not (svg or planner):
        raise usage_problem("`--out` needs to know what to write", "add --svg or --planner")
    if svg and output.json and out is None:
        raise usage_problem("a picture is no JSON document", "write it with `--svg --out FILE`")
    content = None if check is None else content_of(check)
    with modules_to_read() as journal:
        registration, described = module_named(stored_in(journal), module_id, host)
    package, graph = _loaded(registration, described)
    if check is not None and content is not None:
        graph = read_action_graph(content, name_of(check))
        check_action_graph(graph, package, described)
    plan = planner_document(graph, package, described)
    told = graph_svg(graph, described, package) if svg else _as_text(plan)
    if out is not None:
        place_new(out, told.encode())
    if output.json:
        output.document("module-graph", {"graph": graph.to_json(), "planner": plan, "file": out})
    elif out is not None:
        if not output.quiet:
            output.text(f"wrote {safe_line(out)}")
    elif svg or planner:
        write_answer(told)
    elif output.quiet:
        output.text("\n".join(safe_line(each.id, limit=LONGEST) for each in graph.actions))
    else:
        own = check or ("its own graph" if registration.graph is not None else "its bindings")
        output.text("\n".join(_rows(output, graph, package, described, own)))
    return ExitStatus.DONE


def _as_text(plan: Mapping[str, Json]) -> str:
    """Pure ASCII, so that nothing in it can act on a terminal."""
    return json.dumps(plan, indent=2).replace("\x7f", "\\u007f") + "\n"


def _loaded(registration: Registration, host: HostDescription) -> tuple[ModulePackage, ActionGraph]:
    found = loaded(registration, host)
    if isinstance(found, Unfit):
        named = registration.identity.module_id
        message = f"`{named}` does not fit its host any more: {found.problem}"
        raise UsageProblem(Code.MODULE_UNKNOWN, message)
    return found.package, found.graph


def _rows(
    output: Output, graph: ActionGraph, package: ModulePackage, host: HostDescription, source: str
) -> Iterator[str]:
    named = safe_line(f"{package.module_id} {package.module_version}")
    count = "1 action" if len(graph.actions) == 1 else f"{len(graph.actions)} actions"
    place = safe_line(f"{host.host_id} {host.app_version}")
    yield f"{output.paint(named, 'bold')} in {place}: {count}, from {safe_line(source)}"
    for action in graph.actions[:MOST_ROWS]:
        yield from _action(output, action, host)
    more = len(graph.actions) - MOST_ROWS
    if more > 0:
        yield f"and {more:,} more; --json has all of them"


def _action(output: Output, action: GraphAction, host: HostDescription) -> Iterator[str]:
    """One action: our facts below what the module calls it."""
    name = safe_line(action.id, limit=LONGEST)
    start = f"{output.paint(name, 'bold')}  "
    label = f"“{safe_line(action.label, limit=LONGEST)}”"
    yield from hanging(start, label, width_of_start=len(name) + 2, indent=2)
    rule = approval_of(action, host)
    needs = required_capabilities(action.calls, host, is_automation=False)
    rows = {
        "called from": ", ".join(action.surface) or "nowhere",
        "needs": ", ".join(needs) or "no capability, so it never runs",
        "approval": asked_words(rule),
        "writes": ", ".join(action.mutates),
        "undone by": action.undo_command or "",
    }
    for label_of_ours, said in rows.items():
        if said:
            yield from hanging(f"  {label_of_ours:<12} ", safe_line(said, limit=LONGEST))
    for index, call in enumerate(action.calls):
        command = host.command(call)
        words = "not a command of this host" if command is None else command_words(command)
        yield from hanging(f"  {index + 1}. {safe_line(call)}  ", words, indent=6)


graph = PlainCommand(
    "graph",
    PAGE,
    _graph,
    [
        host_option("The host, where several have one."),
        click.Option(["--svg"], is_flag=True, help="As a picture, an SVG document."),
        click.Option(["--planner"], is_flag=True, help="The document for planners, as JSON."),
        click.Option(
            ["--out"], type=File(), metavar="FILE", help="Write that to this new file instead."
        ),
        click.Option(
            ["--check"],
            type=File(),
            metavar="FILE",
            help="Hold the graph in this file against the module; `-` is standard input.",
        ),
        module_argument(),
    ],
)
