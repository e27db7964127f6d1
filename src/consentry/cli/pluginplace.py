"""What the commands about plugins have in common: which folder is meant, and what was given beside it."""

from collections.abc import Sequence
from pathlib import Path

import click

from consentry.base.canonical import Digest
from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, Where
from consentry.cli.command import Folder, Text, usage_problem
from consentry.cli.configoptions import workspace_option
from consentry.declare.documentids import MOST_LETTERS
from consentry.service.places import find_workspace
from consentry.service.plugincache import TreeCache
from consentry.service.pluginroots import own_root, workspace_root
from consentry.service.statedir import find_state
from consentry.service.surroundings import Surroundings
from consentry.service.userfiles import read_named

ROOT_ARGUMENT = (
    "ROOT",
    "The folder that plugins lie in; this workspace's unless given.",
)


def root_parameters() -> list[click.Parameter]:
    """Which folder of plugins; a fresh list, because click keeps it."""
    return [
        click.Argument(["root"], type=Folder(), required=False, metavar="[ROOT]"),
        click.Option(["--own"], is_flag=True, help="The plugins of your own configuration."),
        workspace_option(),
    ]


def definition_options(what: str) -> list[click.Parameter]:
    """Tool manifests and lists of MCP tools that are given by name."""
    return [
        click.Option(
            ["--tool", "tools"],
            type=Text(),
            multiple=True,
            metavar="NAME=FILE",
            help=f"{what} this tool manifest.",
        ),
        click.Option(
            ["--mcp", "servers"],
            type=Text(),
            multiple=True,
            metavar="SERVER=FILE",
            help=f"{what} what this server answered to tools/list (JSON).",
        ),
    ]


def rehash_option() -> click.Option:
    """Whether what is remembered counts."""
    return click.Option(
        ["--rehash"], is_flag=True, help="Hash every file, also of what has not changed by stat."
    )


def root_of(around: Surroundings, root: str | None, workspace: str | None, *, own: bool) -> Path:
    """The folder of plugins that is meant; raises where there is none."""
    if root is not None and own:
        raise usage_problem("a folder and --own were both given", "leave one of them out")
    if root is not None:
        found = (around.cwd or Path("/")) / root
    elif own:
        found = own_root(around)
    else:
        place = find_workspace(around, workspace)
        inner = workspace_root(place)
        if inner is None:
            raise usage_problem(
                f"there is no folder `plugins` in `{place.path}` or in its configuration",
                "name the folder that plugins lie in, or take --own for your own",
            )
        found = inner
    try:
        return found.resolve(strict=True)
    except (OSError, RuntimeError) as problem:
        raise usage_problem(
            f"`{found}` is not there", "name a folder that plugins lie in"
        ) from problem


def cache_of(around: Surroundings) -> TreeCache:
    """What is remembered of trees, in the state directory where that is there and safe."""
    try:
        state = find_state(around, None)
    except ConsentryError:
        return TreeCache(None, SystemClock())
    usable = state.exists and not state.concerns
    return TreeCache(state.real if usable else None, SystemClock())


def given_tools(given: Sequence[str]) -> dict[str, Digest]:
    """The digest of each tool manifest by the name that it was given under."""
    if not given:
        return {}
    from consentry.declare.toolmanifest import read_tool_manifest  # noqa: PLC0415 - seldom asked

    found = {}
    for name, file in _pairs("--tool", given).items():
        manifest = read_tool_manifest(read_named(file), file)
        if manifest.name != name:
            raise BadInput(
                Code.DOCUMENT_INVALID,
                f"its tool is called `{manifest.name}`, and was given as `{name}`",
                where=Where(file),
                help_line=f"write `--tool {manifest.name}={file}`",
            )
        found[name] = manifest.digest
    return found


def given_servers(given: Sequence[str]) -> dict[str, dict[str, Digest]]:
    """The digests of each server's tools by the name that it was given under."""
    if not given:
        return {}
    from consentry.declare.mcpdefinitions import read_mcp_tools  # noqa: PLC0415 - seldom asked

    return {
        name: read_mcp_tools(read_named(file), file)
        for name, file in _pairs("--mcp", given).items()
    }


def _pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        name, sign, file = each.partition("=")
        if not (name and sign and file and name.isprintable() and name == name.strip()):
            raise usage_problem(f"`{each}` is not NAME=FILE", f"write `{option} NAME=FILE`")
        if len(name) > MOST_LETTERS:
            raise usage_problem(
                f"the name in `{each}` has more than {MOST_LETTERS} characters", "shorten it"
            )
        if name in found:
            raise usage_problem(f"`{name}` was given twice", f"give {option} once for each name")
        found[name] = file
    return found
