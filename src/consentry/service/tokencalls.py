"""Capability tokens for a program: `consentry.mint`, and the operations that take a token.

Each call looks at the environment, the folder and the ledger of the process as they are then, and says
what `service.tokens` is to do. What only a slip can explain is refused here.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from consentry.base.units import Duration
from consentry.base.values import dataclass, field
from consentry.decide.budgets import Budget
from consentry.decide.tokenrecords import USUAL_LIFE
from consentry.decide.tokens import (
    AnyToken,
    CapabilityBundle,
    FsReadWriteCapability,
    GitLocalOpsCapability,
    MintOrder,
    NpmInstallCapability,
)
from consentry.service.callresults import RunResult
from consentry.service.givenvalues import Word, positive, wrong
from consentry.service.library import library_of_this_process
from consentry.service.surroundings import look_around
from consentry.service.tokenfiles import TokenFiles
from consentry.service.tokens import TokenDesk

_MILLISECONDS: Final = 1000


@dataclass(frozen=True, slots=True)
class TokenCalls:
    """The calls of one program, whose environment this is."""

    environ: Mapping[str, str] = field(repr=False)

    def mint(
        self,
        capability: type[AnyToken],
        *,
        consent: str,
        tool: str,
        workflow: str,
        workspace: Word | None = None,
        config: Word | None = None,
        lifetime: float | None = None,
        budget: Mapping[str, int] | None = None,
        **scope: Any,
    ) -> AnyToken:
        """Mints a capability token against a consent, and records it; without a record there is none.

        A token is audit + lint. Any code can construct one that looks like it, so whatever takes a token
        asks the ledger whether it was minted.

        Args:
            capability: `NpmInstallCapability` (`packages`, `hosts`, `run_scripts`), `FsReadWriteCapability`
                (`read`, `write`), `GitLocalOpsCapability` (`operations`), or `CapabilityBundle` (`npm`,
                `files`, `git`: the fields of each).
            consent: the id of the consent; one that was for once is used up.
            tool: the tool that it was given to, which must still be the same.
            workflow: what the token is used for; budgets are the workflow's.
            workspace: the folder it is for; found from the current one where none is named.
            config: a configuration folder instead of the user's and the workspace's.
            lifetime: seconds, at most 12 hours; an hour where nothing is said, never longer than the consent.
            budget: how often the workflow may do what, such as `{"npm_install": 3, "fs_write": 50}`; a
                later token can lower and never raise it.
            scope: the fields of the capability.

        Raises:
            ConsentryError: nothing was minted; `mint-refused` says what the consent does not give.
        """
        order, found = _mint_order(consent, tool, workflow, workspace, config, lifetime, budget)
        return self._desk().mint(capability, scope, order, found)

    def npm_install(
        self,
        token: NpmInstallCapability | CapabilityBundle,
        packages: Sequence[str] = (),
        *,
        workspace: Word | None = None,
        registry: str | None = None,
    ) -> RunResult:
        """Installs packages with npm, in the box: only the token's hosts, only what an install writes.

        Args:
            token: whose `packages` these are; what a failed install wrote is thrown away.
            packages: some of the token's; all of them where none is named.
            workspace: where it is done, if you want to have said so; any other than the token's is refused.
            registry: the address to load from, if not npm's own; its host must be one of the token's.

        Raises:
            ConsentryError: nothing was started: `token-refused`, `budget-exhausted`, or as `exec`.
        """
        return self._desk().npm_install(token, packages, workspace=workspace, registry=registry)

    def git_local(
        self,
        token: GitLocalOpsCapability | CapabilityBundle,
        operation: str,
        arguments: Sequence[Word] = (),
        *,
        workspace: Word | None = None,
        identity: tuple[str, str] | None = None,
    ) -> RunResult:
        """Does one local operation of git, in the box: no network, no hooks, no program but git.

        Args:
            token: whose `operations` this is one of; none of them is a push.
            operation: git's word for it, such as `commit`.
            arguments: what follows it; an option that is not known here is refused.
            workspace: as for `npm_install`.
            identity: the name and address of who commits, if not as the repository says.

        Raises:
            ConsentryError: as `npm_install`.
        """
        return self._desk().git_local(
            token, operation, arguments, workspace=workspace, identity=identity
        )

    def files(
        self, token: FsReadWriteCapability | CapabilityBundle, *, workspace: Word | None = None
    ) -> TokenFiles:
        """The files that a token is for: `read`, `list`, `write`, `create`, `replace`, `remove`.

        They are opened by this process itself, below the token's workspace and nowhere else.

        Args:
            token: whose patterns decide.
            workspace: as for `npm_install`.
        """
        return TokenFiles.of(self._desk(), token, workspace)

    def _desk(self) -> TokenDesk:
        return TokenDesk.of(library_of_this_process(), look_around(self.environ))


def _mint_order(
    consent: object,
    tool: object,
    workflow: object,
    workspace: Word | None,
    config: Word | None,
    lifetime: float | None,
    budget: Mapping[str, int] | None,
) -> tuple[MintOrder, str | None]:
    """The order, and the configuration folder where one is named."""
    said = {"consent": consent, "tool": tool, "workflow": workflow}
    for name, value in said.items():
        if not isinstance(value, str) or not value:
            raise wrong(f"`{name}` is a text")
    seconds = positive("lifetime", lifetime)
    life = USUAL_LIFE if seconds is None else Duration(max(1, round(seconds * _MILLISECONDS)))
    order = MintOrder(
        consent_id=str(consent),
        tool=str(tool),
        workflow=str(workflow),
        workspace=None if workspace is None else os.fsdecode(workspace),
        life=life,
        budget=Budget.of(budget),
    )
    return order, None if config is None else os.fsdecode(config)
