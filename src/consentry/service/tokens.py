"""The desk for capability tokens: mints them for a program, and does what they are for (TRUST §token).

An operation begins with one transaction: the token is the one that the ledger has, it is not over, its
consent was not taken back, the workflow's budget has one left, `CapabilityUsed` is on record. For npm and
git that is the transaction of the permit without which no box starts; the run's own record names the
token. Files are read and written by this process itself (`service.tokenfiles`).

What it does not do: keep code of the same process from calling the system without a token. That is what
the box is for, and, over our own source and plugins, the fence.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused
from consentry.base.values import dataclass, replace
from consentry.decide.budgets import UseKind
from consentry.decide.consent import Consent
from consentry.decide.consentcheck import ConsentNeed
from consentry.decide.gitoperations import GRAMMARS, check_words, operation_named
from consentry.decide.tokenparts import part_of
from consentry.decide.tokenrecords import TokenUse, refused
from consentry.decide.tokens import (
    NPM_WRITES,
    SCRIPT_PROGRAMS,
    AnyToken,
    BaseToken,
    GitLocalOpsCapability,
    MintOrder,
    NpmInstallCapability,
    mint,
)
from consentry.record.auditfields import ConsentMethod, Trigger
from consentry.service.callresults import RunResult
from consentry.service.commandline import RunWish
from consentry.service.consenting import consents_of
from consentry.service.givenvalues import Word, words_of, wrong
from consentry.service.library import Library
from consentry.service.places import find_workspace
from consentry.service.programsearch import find_program
from consentry.service.rundecision import RunDecision, UnderToken
from consentry.service.runrecord import word_text
from consentry.service.sessions import sessions_of
from consentry.service.surroundings import Surroundings
from consentry.service.toolcalls import ToolCall, ready_tool
from consentry.service.tooldecisions import NOBODY_HERE, ToolDecisions
from consentry.store.journal import Journal
from consentry.store.tokens import RecordedUse, StoredTokens

_NPM_WORDS: Final = (
    *("npm", "install", "--cache", "/tmp/npm"),  # noqa: S108 - the box's own
    *("--no-audit", "--no-fund", "--no-update-notifier", "--no-progress"),
)
_GIT_SETTINGS: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.editor=:",
    "core.sshCommand=false",
    "core.attributesFile=/dev/null",
    "branch.autoSetupMerge=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "credential.helper=",
    "diff.ignoreSubmodules=all",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
)
_GIT_ENVIRONMENT: Final[Mapping[str, str]] = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_ADVICE": "0",
}

_GIT_AGAIN: Final = ("/usr/lib/git-core/git", "/usr/libexec/git-core/git")
_MOST_TARGET: Final = 1000


class Uses(Protocol):
    """Where the use of a token is checked and recorded, before anything is done with it."""

    def use_of(self, use: TokenUse) -> RecordedUse:
        """To be made part of what records the start of an operation."""
        ...

    def use(self, use: TokenUse) -> None:
        """Records a use by itself; nothing is done if it raises."""
        ...


@dataclass(frozen=True, slots=True)
class TokenDesk:
    """Mints tokens and does what they are for, in one session of a program."""

    library: Library
    around: Surroundings
    uses: Uses

    @classmethod
    def of(cls, library: Library, around: Surroundings) -> "TokenDesk":
        """With the checks of the ledger that the library has open."""
        return cls(library, around, StoredTokens(library.journal(around)))

    @property
    def journal(self) -> Journal:
        """The ledger of this session."""
        return self.library.journal(self.around)

    def mint(
        self,
        capability: type[AnyToken],
        scope: Mapping[str, Any],
        order: MintOrder,
        config: str | None = None,
    ) -> AnyToken:
        """A token against the consent that the order names, for the tool as it is now."""
        place = str(find_workspace(self.around, order.workspace).path)
        order = replace(order, workspace=place)
        need = self._need(order, config)
        return mint(capability, scope, order, need, StoredTokens(self.journal))

    def npm_install(
        self,
        token: object,
        packages: Sequence[str] = (),
        *,
        workspace: Word | None = None,
        registry: str | None = None,
    ) -> RunResult:
        """Installs packages of the token; see `consentry.npm_install`."""
        held = part_of(token, NpmInstallCapability)
        place = place_of(held, workspace, self.around)
        wanted = words_of("packages", packages) or held.packages
        for each in wanted:
            if each not in held.packages:
                raise refused(held.token_id, f"is not for the package `{each}`")
        scripts = () if held.run_scripts else ("--ignore-scripts",)
        source = () if registry is None else (f"--registry={_address(registry)}",)
        wish = RunWish(
            words=(*_NPM_WORDS, *scripts, *source, "--", *wanted),
            write=tuple(f"{place}/{each}" for each in NPM_WRITES),
            network=held.hosts or ("none",),
            execute=SCRIPT_PROGRAMS if held.run_scripts else (),
        )
        use = held.use(UseKind.NPM_INSTALL, "install", _target(wanted))
        return self._run(wish, held, use, place, only_on_success=True)

    def git_local(
        self,
        token: object,
        operation: str,
        words: Sequence[Word] = (),
        *,
        workspace: Word | None = None,
        identity: tuple[str, str] | None = None,
    ) -> RunResult:
        """Does one local operation of git; see `consentry.git_local`."""
        held = part_of(token, GitLocalOpsCapability)
        wanted = operation_named(operation)
        if wanted not in held.operations:
            raise refused(held.token_id, f"is not for `git {wanted}`")
        taken = check_words(wanted, words_of("arguments", words))
        place = place_of(held, workspace, self.around)
        settings = [word for each in _GIT_SETTINGS for word in ("-c", each)]
        environment = {
            **_GIT_ENVIRONMENT,
            "GIT_DIR": f"{place}/.git",
            "GIT_WORK_TREE": place,
            **_signed_by(identity),
        }
        grammar = GRAMMARS[wanted]
        writes = grammar.writes
        wish = RunWish(
            words=("git", "--no-pager", *settings, wanted.value, *grammar.always, *taken),
            write=() if writes is None else (os.path.normpath(f"{place}/{writes}") + "/",),
            execute=_git_itself(self.around) if grammar.starts_itself else (),
            network=("none",),
            environment=tuple(environment),
        )
        use = held.use(UseKind.GIT_LOCAL, wanted.value, _target(taken))
        return self._run(wish, held, use, place, environment=environment)

    def _need(self, order: MintOrder, config: str | None) -> ConsentNeed:
        """The tool as it is now, and the consent's own session as it is now."""
        journal, around = self.journal, self.around
        consent = consents_of(journal).find(order.consent_id)
        if consent is None:
            message = f"no consent has the id `{order.consent_id}`"
            raise Refused(Code.MINT_REFUSED, message)
        terms = consent.terms
        call = ToolCall(order.tool, terms.arguments or (), order.workspace, config, Trigger.API)
        ready = ready_tool(call, around, journal)
        need = ToolDecisions(journal, around, NOBODY_HERE).need(ready, [consent])
        if terms.session_id is None:
            return need
        sessions = sessions_of(around, journal.ledger, journal.clock, journal.ids)
        return replace(need, session=sessions.find(terms.session_id))

    def _run(
        self,
        wish: RunWish,
        token: BaseToken,
        use: TokenUse,
        place: str,
        *,
        environment: Mapping[str, str] | None = None,
        only_on_success: bool = False,
    ) -> RunResult:
        """In the box, with the use of the token in the transaction of the permit."""
        around = replace(
            self.around,
            cwd=Path(place),
            environ={**self.around.environ, **(environment or {})},
        )
        return self.library.run_decided(
            wish,
            around,
            self._decision(wish.words[0], token, use),
            workspace=place,
            only_on_success=only_on_success,
        )

    def consent_of(self, token: BaseToken) -> Consent | None:
        """The consent that a token names; a session of it that is over is ended by this look."""
        journal = self.journal
        consent = consents_of(journal).find(token.consent_id)
        session = None if consent is None else consent.terms.session_id
        if session is not None:
            sessions_of(self.around, journal.ledger, journal.clock, journal.ids).find(session)
        return consent

    def _decision(self, program: str, token: BaseToken, use: TokenUse) -> RunDecision:
        consent = self.consent_of(token)
        return RunDecision(
            subject=f"program:{program}",
            method=ConsentMethod.REMEMBERED,
            consented_at=None if consent is None else consent.given_at,
            given_by=None if consent is None else consent.terms.given_by,
            consent_id=token.consent_id,
            request_id=None if consent is None else consent.terms.request_id,
            token=UnderToken(token.token_id, lambda: self.uses.use_of(use)),
        )


def place_of(token: BaseToken, workspace: Word | None, around: Surroundings) -> str:
    """The folder it is for; raises where that is another one by now, or another is named."""
    found = str(find_workspace(around, token.workspace).path)
    if found != token.workspace:
        raise refused(token.token_id, f"is for `{token.workspace}`, which leads to `{found}` now")
    if workspace is not None:
        named = str(find_workspace(around, os.fsdecode(workspace)).path)
        if named != found:
            raise refused(token.token_id, f"is for the workspace `{found}`, and not for `{named}`")
    return found


def _git_itself(around: Surroundings) -> tuple[str, ...]:
    """Where git starts itself from, on this system."""
    found: list[str] = []
    for each in _GIT_AGAIN:
        with suppress(ConsentryError):
            found.append(str(find_program(each, around)))
    return tuple(found)


def _address(registry: object) -> str:
    """The address, which goes on record with the other words; one with a password in it does not."""
    if not isinstance(registry, str) or not registry.isprintable() or " " in registry:
        raise wrong("`registry` is an address, such as `https://registry.example.org/`")
    if "@" in registry.partition("://")[2].partition("/")[0]:
        raise wrong(
            "`registry` names an account, which would go on record; npm reads it from `.npmrc`"
        )
    return registry


def _target(words: Sequence[str]) -> str | None:
    """The words as the event has them; the run's own record has all of them."""
    return word_text(" ".join(words))[:_MOST_TARGET] or None


def _signed_by(identity: tuple[str, str] | None) -> dict[str, str]:
    """Who commits, where the caller says so; else git reads it from the repository."""
    if identity is None:
        return {}
    name, address = identity
    if not (name and address) or any(mark in f"{name}{address}" for mark in "\0\n<>"):
        raise wrong("`identity` is a name and an address, such as `steward@example.org`")
    return {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", name), ("EMAIL", address))
    }
