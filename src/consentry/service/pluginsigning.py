"""Whether a plugin has the evidence that the user's policy asks for: the files, the list, the memory.

`check_evidence` is what the loader calls after the integrity check, with the very tree that it will
load. The decision itself is `decide.pluginevidence`; here is what it needs to see. Without a policy
and without a memory nothing is read but these two.

With a `remember`, what passed is kept before anything is loaded: a plugin whose acceptance cannot be
recorded is not accepted, and neither is one that another process has overtaken by then.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from consentry.base.clock import Clock
from consentry.base.errors import BadDocument, ConsentryError
from consentry.base.paths import SandboxedPath
from consentry.base.values import dataclass, replace
from consentry.decide.evidencecase import AcceptedEvidence, EvidenceCase, EvidenceKind, Offered
from consentry.decide.pluginevidence import check_plugin_evidence
from consentry.decide.pluginversion import NothingRemembered, PluginMemory, PluginVersion
from consentry.declare.dsseenvelope import MOST_BYTES
from consentry.declare.pluginpolicy import FILE_NAME as POLICY_FILE
from consentry.declare.pluginpolicy import PluginPolicy, read_plugin_policy
from consentry.declare.trustedkeys import KeyList
from consentry.examine.pluginproblems import Rejection, VerificationError
from consentry.examine.plugintree import PluginTree
from consentry.service.ledgers import ledger_for_reading, ledger_place
from consentry.service.ownfolder import own_folder, read_own, require_own
from consentry.service.places import Workspace, reason
from consentry.service.races import recorded
from consentry.service.signingkeys import key_list
from consentry.service.sigstorebundles import witness_bundle
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from consentry.store.machine import known_machine_id
from consentry.store.pluginversions import (
    Acceptable,
    KnownPluginVersions,
    StoredPluginVersions,
)

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class SigningGround:
    """What evidence is held against; `remember` is None where one only looks."""

    policy: Callable[[], PluginPolicy]
    keys: Callable[[], KeyList]
    memory: PluginMemory
    clock: Clock
    require_own: Callable[[Path], None]
    remember: Callable[[Acceptable], PluginVersion] | None = None


@contextmanager
def ground_for_looking(
    around: Surroundings, clock: Clock, workspace: Workspace | None = None
) -> Iterator[SigningGround]:
    """For commands that only look: nothing is made, and nothing remembered."""
    history = ledger_for_reading(around)
    machine = known_machine_id(ledger_place(around).folder)
    if history is None or machine is None:
        yield _ground(around, clock, NothingRemembered(), None, workspace)
        return
    try:
        memory = KnownPluginVersions(history.database, machine)
        yield _ground(around, clock, memory, None, workspace)
    finally:
        history.database.close()


def ground_for_loading(
    around: Surroundings, journal: Journal, workspace: Workspace | None = None
) -> SigningGround:
    """For whoever loads what passes: it is remembered, with its event."""
    memory = StoredPluginVersions(journal.ledger, journal.ids, journal.clock, journal.context)
    return _ground(around, journal.clock, memory, memory.accept, workspace)


def plugin_policy(around: Surroundings, workspace: Workspace | None = None) -> PluginPolicy:
    """What the user's policy says; integrity alone where there is none."""
    content = read_own(around, POLICY_FILE, workspace)
    if content is None:
        return PluginPolicy()
    return read_plugin_policy(content, str(own_folder(around) / POLICY_FILE))


def check_evidence(
    tree: PluginTree, version: str, beside: Path, ground: SigningGround
) -> AcceptedEvidence | None:
    """Raises `VerificationError` unless the plugin has the evidence that it needs.

    Args:
        tree: The plugin as it was read, and as it will be loaded.
        version: What its manifest, which is part of the tree, says.
        beside: The folder in which the plugin's folder and its evidence lie.
        ground: Policy, keys, memory and clock.
    """
    policy = _readable(tree.name, Rejection.POLICY_UNREADABLE, ground.policy)
    rule = policy.rule(tree.name)
    folder = memory_place(beside)
    remembered = ground.memory.remembered(folder, tree.name)
    if rule.strength == 0 and remembered is None:
        return None
    if rule.sigstore is not None:
        root = Path(rule.sigstore.trust_root)
        _readable(tree.name, Rejection.POLICY_UNREADABLE, partial(ground.require_own, root))
    keys = KeyList()
    if rule.signers:
        keys = _readable(tree.name, Rejection.KEYS_UNREADABLE, ground.keys)
    case = EvidenceCase(
        tree,
        version,
        rule,
        offered_beside(tree.name, beside),
        keys,
        ground.clock.now(),
        remembered,
        partial(witness_bundle, tree.name),
    )
    accepted = check_plugin_evidence(case)
    if accepted is not None and ground.remember is not None:
        standing = ground.remember(Acceptable(folder, tree, version, rule.strength, accepted))
        if (standing.digest, standing.strength) != (tree.digest, rule.strength):
            # Somebody else accepted another version meanwhile, and this one is held against it.
            check_plugin_evidence(replace(case, remembered=standing))
    return accepted


def is_evidence_asked(plugin: str, beside: Path, ground: SigningGround) -> bool:
    """Whether the policy, or what is remembered, asks for more than the integrity check."""
    policy = _readable(plugin, Rejection.POLICY_UNREADABLE, ground.policy)
    remembered = ground.memory.remembered(memory_place(beside), plugin)
    return policy.rule(plugin).strength > 0 or remembered is not None


def memory_place(beside: Path) -> str:
    """The folder as the memory calls it: as text, also where its name is none, and no other's."""
    name = os.fsencode(beside.resolve()).replace(b"\\", b"\\\\")
    return name.decode("utf-8", "backslashreplace")


def offered_beside(plugin: str, beside: Path) -> Offered:
    """The evidence that lies beside a plugin."""
    return Offered(*(_content(plugin, beside, kind) for kind in EvidenceKind))


def _content(plugin: str, beside: Path, kind: EvidenceKind) -> bytes | None:
    name = kind.file(plugin)
    if not os.path.lexists(beside / name):
        return None
    if (beside / name).is_symlink():
        raise VerificationError(Rejection.BAD_ENVELOPE, plugin, f"`{name}` is a link")
    try:
        return SandboxedPath.create(beside, name).unwrap().read(MOST_BYTES, on_race=recorded)
    except (ConsentryError, OSError) as problem:
        said = reason(problem) if isinstance(problem, OSError) else str(problem)
        raise VerificationError(Rejection.BAD_ENVELOPE, plugin, f"`{name}`: {said}") from problem


def _readable(plugin: str, why: Rejection, read: Callable[[], Found]) -> Found:
    try:
        return read()
    except ConsentryError as problem:
        found = problem.first if isinstance(problem, BadDocument) else problem
        raise VerificationError(
            why, plugin, found.message, where=found.where, help_line=found.help_line
        ) from problem


def _ground(
    around: Surroundings,
    clock: Clock,
    memory: PluginMemory,
    remember: Callable[[Acceptable], PluginVersion] | None,
    workspace: Workspace | None,
) -> SigningGround:
    return SigningGround(
        partial(plugin_policy, around, workspace),
        partial(key_list, around, workspace),
        memory,
        clock,
        lambda file: require_own(around, file.parent, file, workspace),
        remember,
    )
