"""Asks of plugins what the user's plugin policy asks for besides the integrity check.

The policy is the user's own: a workspace has no say in which evidence its plugins need. Whether anything
is asked is looked up first, in the policy and in what was accepted before (a policy that vanished is no
way around it); only where something is, the ledger is opened for writing, and what passes is remembered
in it before it is loaded. Who only looks remembers nothing.
"""

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from consentry.base.clock import Clock, SystemClock
from consentry.examine.plugintree import PluginTree
from consentry.service.places import Workspace
from consentry.service.pluginsigning import (
    SigningGround,
    check_evidence,
    ground_for_loading,
    ground_for_looking,
    is_evidence_asked,
)
from consentry.service.surroundings import Surroundings


class EvidenceDesk:
    """Checks the evidence of one plugin after the other; a context, because it keeps the ledger open."""

    def __init__(
        self, around: Surroundings, workspace: Workspace | None, *, remembers: bool
    ) -> None:
        """`remembers` is for whoever loads what passes."""
        self._around = around
        self._workspace = workspace
        self._remembers = remembers
        self._clock: Clock = SystemClock()
        self._open = ExitStack()
        self._looking: SigningGround | None = None
        self._loading: SigningGround | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def check(self, tree: PluginTree, version: str, beside: Path) -> None:
        """Raises `VerificationError` unless the plugin has the evidence that it needs."""
        looking = self._ground_for_looking()
        if is_evidence_asked(tree.name, beside, looking):
            ground = self._ground_for_loading() if self._remembers else looking
            check_evidence(tree, version, beside, ground)

    def _ground_for_looking(self) -> SigningGround:
        if self._looking is None:
            ground = ground_for_looking(self._around, self._clock, self._workspace)
            self._looking = self._open.enter_context(ground)
        return self._looking

    def _ground_for_loading(self) -> SigningGround:
        if self._loading is None:
            from consentry.service.pluginjournal import journal_for_plugins  # noqa: PLC0415 - few ask

            journal = self._open.enter_context(journal_for_plugins(self._around, self._clock))
            self._loading = ground_for_loading(self._around, journal, self._workspace)
        return self._loading
