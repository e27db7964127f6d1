"""What a call of the library may say besides what is to run, as one value.

The front door spells it out for whoever types a call. What only a slip can explain is refused when it
is read from here.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from consentry.base.values import dataclass
from consentry.enforce.confinement import Limits
from consentry.service.givenvalues import Word, positive, wrong
from consentry.service.takeover import Arrival
from consentry.surface.permission_sets import PermissionSet


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """What a program and a snippet have in common; `consentry.exec` explains each."""

    workspace: Word | None = None
    read: Sequence[Word] = ()
    network: Sequence[str] = ()
    secrets: Sequence[str] = ()
    secret_ca: Word | None = None
    permission_set: str | None = None
    profile: str | None = None
    timeout: float | None = None
    memory: int | None = None
    cpu: int | None = None
    processes: int | None = None
    max_output: int | None = None

    def named_workspace(self) -> str | None:
        """The folder that was named, if one was."""
        return None if self.workspace is None else os.fspath(self.workspace)

    def named_ca(self) -> str | None:
        """The certificates that were named, if any were."""
        return None if self.secret_ca is None else os.fspath(self.secret_ca)

    def named_profile(self) -> str | None:
        """The profile that was named, if one was; it is instead of a set."""
        if self.profile is not None and self.permission_set is not None:
            raise wrong("`permission_set` and `profile` exclude each other")
        return self.profile

    def named_set(self) -> PermissionSet | None:
        """The set that was named, if one was."""
        return None if self.permission_set is None else PermissionSet.named(self.permission_set)

    def limits(self) -> Limits:
        """The limits that were given."""
        return Limits(
            cpu_seconds=positive("cpu", self.cpu),
            memory_bytes=positive("memory", self.memory),
            processes=positive("processes", self.processes),
            output_bytes=positive("max_output", self.max_output),
            wall_seconds=positive("timeout", self.timeout),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecOptions(CallOptions):
    """What a call may say of a program."""

    write: Sequence[Word] = ()
    programs: Sequence[Word] = ()
    environment: Sequence[str] = ()
    view: str | None = None
    layer: str | None = None
    engine: str | None = None
    attest: bool = False
    stdin: bytes | None = None
    keep_partial: bool = False
    rehearse: bool = False
    hold: bool | Callable[[str], None] = False

    def arrival(self) -> Arrival:
        """When what it writes reaches the host."""
        return Arrival.WHEN_COMMITTED if self.rehearse else Arrival.AT_ITS_END

    def told_of(self) -> Callable[[str], None] | None:
        """Who is told of each question of a run that holds what it is refused; None where none does."""
        if callable(self.hold):
            return self.hold
        if not isinstance(self.hold, bool):
            raise wrong("`hold` is True, False, or a function that takes the id of a request")
        return _nobody if self.hold else None


def _nobody(_: str) -> None:
    """Whoever answers looks by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOptions(CallOptions):
    """What a call may say of a snippet."""

    arguments: Mapping[str, Any] | None = None
    preload: Sequence[str] = ()
