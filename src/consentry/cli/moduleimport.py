"""`consentry module import`: checks a package against its host and registers it, or says what is wrong."""

from collections.abc import Mapping

import click

from consentry.base.canonical import Json
from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import BadInput, Where
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, output_of, usage_problem
from consentry.cli.hanging import hanging
from consentry.cli.moduleplace import (
    ENDINGS,
    STANDARD_INPUT,
    content_of,
    modules_here,
    modules_to_read,
    name_of,
    stored_in,
)
from consentry.cli.output import Output
from consentry.cli.table import PROGRAM, Page
from consentry.decide.identity import Identity
from consentry.declare.hostdescription import HostDescription
from consentry.declare.hostfile import read_host
from consentry.declare.modulecapabilities import read_capabilities
from consentry.declare.modulecodes import PackageCode, PackageRejected
from consentry.declare.modulevalues import ModulePackage
from consentry.service.moduleimport import GraphFile, import_module, read_module
from consentry.service.modulelist import host_named
from consentry.store.modules import StoredModules

PAGE = Page(
    summary="Check a module package against its host, and register it: all of it or nothing.",
    paragraphs=(
        (
            "The first rule that is broken is the answer, with its code and place; nothing is "
            "repaired. That a package was refused is on record. What it asks for is granted to "
            "nobody by importing it."
        ),
        (
            "Other content under the same id takes the place of what was there, and what that was "
            "granted is void."
        ),
        "Without --host the only host that is known here is taken.",
    ),
    arguments=(("FILE", "The package, JSON of at most 8 MiB; `-` reads it from standard input."),),
    examples=(
        ("consentry module import word-count.json", "check it, and register it"),
        ("consentry module import word-count.json --check", "only check it; nothing is recorded"),
        ("consentry module import word-count.json --host note-board", "into one of several hosts"),
        ("consentry module import a.json --graph a.graph.json", "with its action graph"),
    ),
    statuses=(
        ("0", "imported; with --check, it could be"),
        ("2", "wrong usage, a file that cannot be read, or no such host"),
        ("3", "rejected: its code and place are printed, nothing is registered"),
        ("5", "the ledger cannot be written, so nothing is registered"),
        ("126", "the state directory is not safe to use"),
    ),
)

_HELP = {
    PackageCode.CAPABILITY_UNKNOWN_ID: f"`{PROGRAM} module catalog` lists the capabilities there are",
    PackageCode.UNKNOWN_COMMAND_ID: f"`{PROGRAM} module hosts` lists the commands of a host",
    PackageCode.APP_VERSION_OUT_OF_RANGE: (
        f"use a version of the module for this host; `{PROGRAM} module hosts` has the host's"
    ),
}


@click.pass_context
def _import(
    ctx: click.Context, *, file: str, host: str | None, graph: str | None, check: bool
) -> ExitStatus:
    output = output_of(ctx)
    if file == graph == STANDARD_INPUT:
        raise usage_problem("standard input is one document", "name a file for the other one")
    given = None if graph is None else GraphFile(content_of(graph), name_of(graph))
    is_file = host is not None and host.endswith(ENDINGS)
    described = read_host(content_of(host), host) if host is not None and is_file else None
    content = content_of(file)
    if check:
        with modules_to_read() as journal:
            modules = stored_in(journal)
            target = described or host_named(modules, host)
            return _checked(output, modules, target, content, given, file)
    with modules_here() as journal:
        modules = StoredModules(journal)
        if described is not None:
            modules.register_host(described)
        target = described or host_named(modules, host)
        by = Identity(journal.context.actor)
        envelope = import_module(journal, target, content, by, given)
        is_in = envelope["ok"] is True
        found = modules.find(target.host_id, str(envelope["moduleId"])) if is_in else None
    if output.json:
        output.document("module-import", envelope)
        return ExitStatus.DONE if is_in else ExitStatus.BAD_DOCUMENT
    if not is_in:
        raise _rejection(envelope, file)
    if not output.quiet:
        what = ", in place of what was registered" if envelope["replaced"] else ""
        asked_for = () if found is None else read_capabilities(found.document)
        said = f"imported {_named(envelope)} into {target.host_id}{what}"
        output.text("\n".join([said, *_wishes(asked_for)]))
    return ExitStatus.DONE


def _checked(
    output: Output,
    modules: StoredModules | None,
    host: HostDescription,
    content: bytes,
    graph: GraphFile | None,
    file: str,
) -> ExitStatus:
    """What importing it would come to; nothing is registered or recorded."""
    try:
        package, _ = read_module(content, host, graph)
    except PackageRejected as rejected:
        if not output.json:
            raise _rejection(rejected.envelope(), file) from rejected
        output.document("module-check", {"hostId": host.host_id, **rejected.envelope()})
        return ExitStatus.BAD_DOCUMENT
    before = None if modules is None else modules.find(host.host_id, package.module_id)
    replaces = None if before is None else before.identity.module_version
    document = _check_document(host, package, replaces)
    if output.json:
        output.document("module-check", document)
    elif not output.quiet:
        said = f"{_named(document)} could be imported into {host.host_id}; nothing was registered"
        place = [] if replaces is None else [f"  in place of {safe_line(replaces)}"]
        output.text("\n".join([said, *place, *_wishes(package.capabilities)]))
    return ExitStatus.DONE


def _check_document(
    host: HostDescription, package: ModulePackage, replaces: str | None
) -> dict[str, Json]:
    return {
        "hostId": host.host_id,
        "ok": True,
        "moduleId": package.module_id,
        "moduleVersion": package.module_version,
        "packageDigest": package.digest,
        "capabilities": list(package.capabilities),
        "replaces": replaces,
    }


def _named(document: Mapping[str, Json]) -> str:
    return safe_line(f"{document['moduleId']} {document['moduleVersion']}")


def _wishes(capabilities: tuple[str, ...]) -> list[str]:
    if not capabilities:
        return ["  it asks for no capability, so none of its actions can run"]
    names = safe_line(", ".join(capabilities))
    return [*hanging("  asks for  ", names), "  nothing of that is granted by importing it"]


def _rejection(envelope: Mapping[str, Json], file: str) -> BadInput:
    code, detail = PackageCode(str(envelope["code"])), envelope.get("detail")
    more = f" ({detail['manifestCode']})" if isinstance(detail, dict) else ""
    return BadInput(
        Code.MODULE_REJECTED,
        f"{code}{more}: {envelope['message']}",
        where=Where(file=name_of(file), field=str(envelope["path"])),
        help_line=_HELP.get(code),
    )


import_ = PlainCommand(
    "import",
    PAGE,
    _import,
    [
        click.Option(
            ["--host"],
            type=File(),
            metavar="NAME|FILE",
            help="Into this host; a file (.json) that describes one makes it known first.",
        ),
        click.Option(
            ["--graph"], type=File(), metavar="FILE", help="Its action graph, JSON; checked too."
        ),
        click.Option(
            ["--check"], is_flag=True, help="Only check: register nothing, record nothing."
        ),
        click.Argument(["file"], type=File(), metavar="FILE"),
    ],
)
