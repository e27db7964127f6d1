"""Which paths decide how a tool is made ready: change none of them, and it would be the same again.

Every configuration document and folder, what the workspace and the state directory depend on, every
place in which a program is looked for, and what is granted. What a store says is none of this: whether
a workspace is accepted, and what may run, is asked each time.
"""

from collections.abc import Iterator

from consentry.base.values import replace
from consentry.declare.tool import ToolManifest
from consentry.service.places import KNOWN_FILES, MARKERS, PLUGINS_LOCK, TOOLS_FOLDER
from consentry.service.remembering import NamesIn
from consentry.service.runground import (
    Call,
    candidates,
    granted_paths,
    is_shimmed,
    joined,
    places_of,
    program_paths,
)
from consentry.service.surroundings import Surroundings, own_home, state_base
from consentry.service.toolcalls import ReadyTool, ToolCall


def paths_of_state(call: Call[None]) -> Iterator[str]:
    """What decides where the record is kept."""
    around = call.around
    named = around.environ.get("CONSENTRY_STATE", "")
    base = state_base(around).path
    if named:
        yield named
    elif base is not None:
        yield f"{base}/consentry"


def paths_of_tool(call: Call[ToolCall], ready: ReadyTool) -> Iterator[str]:
    """The paths, in no order and with repeats."""
    around, bound = call.around, ready.bound
    yield from places_of(call)
    yield from _configuration(call, ready)
    for manifest in (bound.tool.manifest, *ready.effective.strangers_tools):
        yield from _programs(manifest, ready, around)
    yield from map(str, bound.files)
    yield from program_paths(bound.bound)
    yield from granted_paths(bound.bound, own_home(around).path)


def is_lasting(ready: ReadyTool, around: Surroundings) -> bool:
    """Whether paths alone decide: a secret's value and a version manager's choice lie in files."""
    manifests = (ready.bound.tool.manifest, *ready.effective.strangers_tools)
    here = replace(around, cwd=ready.workspace.path)
    names = [words[0] for manifest in manifests for words in _lines(manifest)]
    has_secrets = bool(ready.bound.bound.confinement.secrets)
    if ready.effective.plugins:
        return False  # they are hashed anew each time
    return not has_secrets and not is_shimmed(names, here, str(ready.workspace.path))


def _configuration(call: Call[ToolCall], ready: ReadyTool) -> Iterator[str]:
    effective = ready.effective
    if call.wish.config is not None:
        yield joined(str(call.cwd or "/"), call.wish.config)
    for marker in MARKERS:
        yield f"{ready.workspace.path}/{marker}"
    yield f"{ready.workspace.path}/{PLUGINS_LOCK}"
    for folder in effective.folders.folders:
        yield NamesIn(folder.path)
        yield NamesIn(folder.path / TOOLS_FOLDER)
        for name in (*KNOWN_FILES, *folder.files):
            yield f"{folder.path}/{name}"
    yield from map(str, effective.files)
    yield str(ready.bound.tool.file)


def _programs(manifest: ToolManifest, ready: ReadyTool, around: Surroundings) -> Iterator[str]:
    """Where its programs are looked for, and what could be a script among their words."""
    workspace = str(ready.workspace.path)
    entry = manifest.entrypoint
    folder = workspace if entry is None else joined(workspace, entry.working_directory)
    yield folder
    for words in _lines(manifest):
        yield from candidates(words[0], around, workspace)
        for word in (*words[1:], *ready.bound.arguments):
            if "\0" not in word and not word.startswith("-"):
                yield joined(folder, word)


def _lines(manifest: ToolManifest) -> Iterator[tuple[str, ...]]:
    for each in manifest.capabilities.commands:
        yield (each.command, *each.arguments)
    if manifest.entrypoint is not None:
        yield (manifest.entrypoint.command, *manifest.entrypoint.arguments)
