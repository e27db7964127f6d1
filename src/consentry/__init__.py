"""Consentry: see what a thing wants to do, decide, confine it to exactly that, prove what happened.

The rooms, in the order data flows through them:

    declare -> examine -> decide -> enforce -> record

`surface` is the vocabulary of powers they all share, `base` the ground they stand on. Imports
point the other way; `lint-imports` proves it. `ARCHITECTURE.md` draws the whole on one page.

This file is the library's front door, as `cli` is a person's: it reads the environment of whoever
calls, and loads what is behind it when it is first used.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as `typing` has it, which the launcher should not have to load
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from consentry.base.paths import SandboxedPath
    from consentry.base.result import Result
    from consentry.decide.capabilities import (
        PERMISSION_CONFIDENCE_THRESHOLD,
        determine_permission_set,
    )
    from consentry.decide.escalation import (
        PermissionEscalationRequest,
        format_escalation_request,
        get_valid_escalation_targets,
        is_valid_escalation,
        suggest_escalation,
    )
    from consentry.decide.escalation_handler import PermissionEscalationHandler
    from consentry.decide.permissionaudit import PermissionAuditLogEntry
    from consentry.decide.tokens import (
        CapabilityBundle,
        FsReadWriteCapability,
        GitLocalOpsCapability,
        NpmInstallCapability,
    )
    from consentry.declare.patchbundle import PatchBundle
    from consentry.declare.recipe import Recipe
    from consentry.declare.toolregistry import ToolRegistry
    from consentry.declare.wish import Wish
    from consentry.examine.pluginproblems import PluginRejected, VerificationError
    from consentry.examine.verdict import Verdict
    from consentry.flow.commands import CommandQueue
    from consentry.flow.results import TaskResult
    from consentry.flow.tasks import Task
    from consentry.service.callresults import CodeResult, RunResult, ToolResult
    from consentry.service.consentmanager import ConsentManager, ConsentResult
    from consentry.service.consentrecords import ConsentRecord
    from consentry.service.effects import EffectView
    from consentry.service.executing import ControlledExecutor
    from consentry.service.givenvalues import Word
    from consentry.service.keptruns import Place
    from consentry.service.patchcheck import Document
    from consentry.service.rehearsals import Settled
    from consentry.service.tokencalls import TokenCalls
    from consentry.store.capabilities import CapabilityStore
    from consentry.store.ledger import Ledger
    from consentry.store.permissionaudit import PermissionAuditStore
    from consentry.surface.lattice import Surface

    def _calls() -> TokenCalls: ...

    mint, npm_install = _calls().mint, _calls().npm_install
    git_local, files = _calls().git_local, _calls().files

__version__ = "0.1.0"
ENVIRON = os.environ  # for what no caller could hand it to: see `service/races.py`
__all__ = [
    "PERMISSION_CONFIDENCE_THRESHOLD",
    "CapabilityBundle",
    "CapabilityStore",
    "CodeResult",
    "CommandQueue",
    "ConsentManager",
    "ConsentRecord",
    "ConsentResult",
    "ControlledExecutor",
    "FsReadWriteCapability",
    "GitLocalOpsCapability",
    "Ledger",
    "NpmInstallCapability",
    "PermissionAuditLogEntry",
    "PermissionAuditStore",
    "PermissionEscalationHandler",
    "PermissionEscalationRequest",
    "PluginRejected",
    "RunResult",
    "SandboxedPath",
    "Surface",
    "Task",
    "TaskResult",
    "ToolResult",
    "Verdict",
    "VerificationError",
    "__version__",
    "check_patch",
    "commit",
    "determine_permission_set",
    "discard",
    "effect",
    "exec",
    "files",
    "format_escalation_request",
    "get_valid_escalation_targets",
    "git_local",
    "is_valid_escalation",
    "mint",
    "npm_install",
    "rehearse",
    "run_code",
    "run_request",
    "run_tool",
    "suggest_escalation",
    "undo",
    "verify_plugin",
]


def exec(  # noqa: A001 - the command's own word
    argv: Sequence[Word],
    *,
    workspace: Word | None = None,
    read: Sequence[Word] = (),
    write: Sequence[Word] = (),
    programs: Sequence[Word] = (),
    environment: Sequence[str] = (),
    network: Sequence[str] = (),
    secrets: Sequence[str] = (),
    secret_ca: Word | None = None,
    permission_set: str | None = None,
    profile: str | None = None,
    view: str | None = None,
    layer: str | None = None,
    engine: str | None = None,
    attest: bool = False,
    timeout: float | None = None,
    memory: int | None = None,
    cpu: int | None = None,
    processes: int | None = None,
    max_output: int | None = None,
    stdin: bytes | None = None,
    keep_partial: bool = False,
    rehearse: bool = False,
    hold: bool | Callable[[str], None] = False,
) -> RunResult:
    """Runs one program, confined to what this call names, and records it.

    Args:
        argv: the program and its arguments; no shell reads them.
        workspace: the folder it works on; found from the current one where none is named.
        read: files and folders that may be read besides the workspace.
        write: files and folders that may be written; what is written arrives when the run has ended.
        programs: programs that may be started besides the first; `any` is every program.
        environment: names of variables that keep the value they have here.
        network: hosts that may be reached (`example.org`, `*.example.org:443`, `192.0.2.0/24`);
            `any` is every public host.
        secrets: what the proxy adds to requests for one granted host, as `HOST=HEADER:file:PATH` or
            `HOST=HEADER:env:NAME`; the program never has it.
        secret_ca: certificates that vouch for those hosts, instead of the system's own.
        permission_set: one of the six sets instead of the default; never `trusted`.
        profile: a profile of the user's own configuration, or `FILE`, or `FILE:NAME`.
        view: `private` (only what is granted is there) or `visible`; else as the profile says.
        layer: where what it writes is kept until it has ended: `memory`, or `disk`, beside what it
            works on; else as the profile says.
        engine: what confines it: `native`, another engine that is installed, or `auto`, the cheapest
            that holds all that is asked for; else as the document of the profile says.
        attest: reads what Landlock refuses from the host's audit, turned on for the run if need be;
            root only, and with the view `visible`.
        timeout: seconds until it is ended.
        memory: bytes of memory, at most.
        cpu: seconds of processor time, at most.
        processes: at the same time, at most.
        max_output: bytes it may print, at most.
        stdin: what it reads; nothing where none is given.
        keep_partial: keeps what it wrote even if a limit or a signal ended it.
        rehearse: keeps what it wrote apart; `commit` takes it over, `discard` throws it away.
        hold: asks at the moment of a denial, while the program waits: the question is an approval
            request, to be answered with `consentry approve` or `deny`, five minutes at most. A
            function instead of `True` is told the id of each, from another thread.

    Returns:
        How it ended, what it printed, what was stopped, and the record.

    Raises:
        ConsentryError: it was not started, or could not be recorded; the code says which.
    """
    from consentry.service.calloptions import ExecOptions  # noqa: PLC0415 - see above
    from consentry.service.library import library_of_this_process  # noqa: PLC0415
    from consentry.service.surroundings import look_around  # noqa: PLC0415

    options = ExecOptions(
        workspace=workspace,
        read=read,
        write=write,
        programs=programs,
        environment=environment,
        network=network,
        secrets=secrets,
        secret_ca=secret_ca,
        permission_set=permission_set,
        profile=profile,
        view=view,
        layer=layer,
        engine=engine,
        attest=attest,
        timeout=timeout,
        memory=memory,
        cpu=cpu,
        processes=processes,
        max_output=max_output,
        stdin=stdin,
        keep_partial=keep_partial,
        rehearse=rehearse,
        hold=hold,
    )
    return library_of_this_process().exec(argv, look_around(os.environ), options)


def run_code(
    source: str | bytes,
    *,
    workspace: Word | None = None,
    arguments: Mapping[str, Any] | None = None,
    preload: Sequence[str] = (),
    read: Sequence[Word] = (),
    network: Sequence[str] = (),
    secrets: Sequence[str] = (),
    secret_ca: Word | None = None,
    permission_set: str | None = None,
    profile: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    cpu: int | None = None,
    processes: int | None = None,
    max_output: int | None = None,
) -> CodeResult:
    """Runs one Python snippet in a copy of a warm interpreter, confined, and records it.

    Args:
        source: the snippet; a text, or bytes as a file would have them.
        workspace: the folder it works on; found from the current one where none is named.
        arguments: variables that the snippet finds, each a JSON value; they are recorded.
        preload: modules that are imported before the snippet is there.
        read: files and folders that may be read besides the workspace.
        network: hosts that may be reached, as `exec` takes them.
        secrets: what the proxy adds to requests, as `exec` takes it.
        secret_ca: certificates that vouch for the hosts of the secrets.
        permission_set: one of the six sets instead of the default; never `trusted`.
        profile: a profile of your configuration, or of a file, instead of the default.
        timeout: seconds until it is ended.
        memory: bytes of memory, at most.
        cpu: seconds of processor time, at most.
        processes: at the same time, at most.
        max_output: bytes it may print, at most, its result included.

    Returns:
        The result or the error of the snippet, how it ended, what was stopped, and the record.

    Raises:
        ConsentryError: it was not started, or could not be recorded; the code says which.
    """
    from consentry.service.calloptions import CodeOptions  # noqa: PLC0415 - see above
    from consentry.service.library import library_of_this_process  # noqa: PLC0415
    from consentry.service.surroundings import look_around  # noqa: PLC0415

    options = CodeOptions(
        workspace=workspace,
        arguments=arguments,
        preload=preload,
        read=read,
        network=network,
        secrets=secrets,
        secret_ca=secret_ca,
        permission_set=permission_set,
        profile=profile,
        timeout=timeout,
        memory=memory,
        cpu=cpu,
        processes=processes,
        max_output=max_output,
    )
    return library_of_this_process().run_code(source, look_around(os.environ), options)


def run_tool(
    tool: str,
    arguments: Sequence[str] = (),
    *,
    workspace: Word | None = None,
    config: Word | None = None,
    wait: bool = True,
    rehearse: bool = False,
    keep_partial: bool = False,
) -> ToolResult:
    """Runs a tool by its manifest: decided as `consentry run` does, confined, and recorded.

    This process answers nothing for anybody. Where a person has to be asked, the question is stored,
    and `consentry approve`, or any other channel, answers it.

    Args:
        tool: the tool's name.
        arguments: words for its entry point.
        workspace: the folder it works on; found from the current one where none is named.
        config: a configuration folder instead of the user's and the workspace's.
        wait: waits for the answer; otherwise `approval-pending` is raised, with `request_id`.
        rehearse: keeps what it wrote apart; `commit` takes it over, `discard` throws it away.
        keep_partial: keeps what it wrote even if a limit or a signal ended it.

    Returns:
        How it ended, what it printed, what was stopped, and the record.

    Raises:
        ConsentryError: it was not started, or could not be recorded; the code says which.
    """
    from consentry.service.library import library_of_this_process  # noqa: PLC0415 - see above
    from consentry.service.surroundings import look_around  # noqa: PLC0415
    from consentry.service.toolcalls import tool_call  # noqa: PLC0415
    from consentry.service.toolruns import ToolWish  # noqa: PLC0415

    call = tool_call(tool, arguments, workspace, config)
    wish = ToolWish(rehearse, keep_partial, wait)
    return library_of_this_process().run_tool(call, look_around(os.environ), wish)


def run_request(request: str) -> ToolResult:
    """Runs what a request was approved for, once, as `consentry run --request` does.

    Args:
        request: the id of a request, or the beginning of one.

    Returns:
        As `run_tool`.

    Raises:
        ConsentryError: it is not approved, was used before, or the tool is another now.
    """
    from consentry.service.library import library_of_this_process  # noqa: PLC0415 - see above
    from consentry.service.surroundings import look_around  # noqa: PLC0415
    from consentry.service.toolruns import ToolWish  # noqa: PLC0415

    return library_of_this_process().run_request(request, look_around(os.environ), ToolWish())


def rehearse(
    tool: str,
    arguments: Sequence[str] = (),
    *,
    workspace: Word | None = None,
    config: Word | None = None,
    wait: bool = True,
) -> ToolResult:
    """Runs a tool as `run_tool` does, and takes over nothing of what it wrote.

    Takes, returns and raises what `run_tool` does; `effect`, `commit` and `discard` take the `run_id`.
    """
    return run_tool(tool, arguments, workspace=workspace, config=config, wait=wait, rehearse=True)


def effect(run: str | None = None) -> EffectView:
    """What a run would change or changed, exactly; without an id, of the latest rehearsal.

    Args:
        run: the `run_id` of a result, the id of a permit, or the beginning of one.

    Raises:
        ConsentryError: there is no such run, or nothing is kept of it; the code says which.
    """
    from consentry.service.effects import effect_of  # noqa: PLC0415 - see above

    return effect_of(_effects(), run)


def commit(run: str) -> Settled:
    """Takes over what a rehearsal would change: exactly those bytes, all of them or none.

    Args:
        run: as for `effect`.

    Raises:
        ConsentryError: nothing was changed; the code says why. `effect-conflict` has `conflicts`,
            `approval-pending` waits for a person's answer.
    """
    from consentry.service.rehearsals import commit_run  # noqa: PLC0415 - see above

    return commit_run(_effects(), run)


def discard(run: str) -> Settled:
    """Throws away what a rehearsal would change.

    Args:
        run: as for `effect`.

    Raises:
        ConsentryError: it was dealt with before, or there is no such run.
    """
    from consentry.service.rehearsals import discard_run  # noqa: PLC0415 - see above

    return discard_run(_effects(), run)


def undo(run: str) -> Settled:
    """Takes back what a run changed: all of it, or nothing where files were changed since.

    Args:
        run: as for `effect`.

    Raises:
        ConsentryError: nothing was changed; the code says why. `effect-conflict` has `conflicts`.
    """
    from consentry.service.undoing import undo_run  # noqa: PLC0415 - see above

    return undo_run(_effects(), run)


def check_patch(
    bundle: Document | PatchBundle,
    wish: Document | Wish | None = None,
    *,
    registry: Document | ToolRegistry | None = None,
    recipes: Iterable[Document | Recipe] = (),
    offline: bool = False,
    strict: bool = True,
    replay: Document | Verdict | None = None,
) -> Verdict:
    """Says which powers a patch adds to the code, and whether a wish allows them; runs nothing of it.

    A document may be the name of a file, a JSON object, or bytes.

    Args:
        bundle: the patch bundle: the name of a folder or of a JSON file, its JSON form, or a value.
        wish: what the change may do; without one, nothing. One that the change touches counts as it
            was before.
        registry: the tools that recipes may name.
        recipes: recipes that go with the change, besides those in it.
        offline: blocks whatever reaches the network afterwards.
        strict: without a wish, powers gained are `BLOCKED`, else `UNKNOWN`.
        replay: an earlier verdict; where the new one differs, the answer is `UNKNOWN`.

    Returns:
        The verdict: `verdict.status`, or by the fields of its document, `verdict["status"]`. A bundle
        that cannot be read is `UNKNOWN`.

    Raises:
        ConsentryError: a document is malformed, a name leads nowhere, or a plugin whose rules would
            count is rejected; the code says which.
    """
    from consentry.examine.guard import Flags  # noqa: PLC0415 - see above
    from consentry.service.patchcheck import check_patch as check  # noqa: PLC0415
    from consentry.service.pluginglance import rules_if_any  # noqa: PLC0415

    return check(
        bundle,
        wish,
        registry=registry,
        recipes=recipes,
        flags=Flags(offline=offline, strict=strict),
        replay=replay,
        rules=rules_if_any(os.environ),
    )


def verify_plugin(plugin_dir: Word) -> Result[None, VerificationError]:
    """Whether a plugin passes every check that comes before loading it; nothing of it is run.

    It is held against `PLUGINS.lock` in the folder above it, which is an integrity check, and against
    your plugin policy where you have one.

    Args:
        plugin_dir: the plugin's own folder.

    Returns:
        `Ok(None)`, or `Err` with what was found: `problem.reason`, `problem.changes`.
    """
    from consentry.service.plugins import verify_plugin as verify  # noqa: PLC0415 - see above
    from consentry.service.surroundings import look_around  # noqa: PLC0415

    return verify(os.fsdecode(plugin_dir), look_around(os.environ))


def _effects() -> Place:
    from consentry.service.library import library_of_this_process  # noqa: PLC0415 - see above
    from consentry.service.surroundings import look_around  # noqa: PLC0415

    return library_of_this_process().effects(look_around(os.environ))


def __getattr__(name: str) -> object:
    from consentry.service.publicnames import public_name  # noqa: PLC0415 - see above

    return public_name(name, os.environ)
