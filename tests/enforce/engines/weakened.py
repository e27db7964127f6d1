"""The engines that are commands, each without one of the means by which it claims to hold a control.

Only tests can import these: no switch of the product does any of it. The claim stays as it is. What a
box shows is changed in the plan that the driver is handed; what else it is told, in the driver.
firejail has no word that leaves its pid namespace out: there, firejail itself is left out.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Final

from consentry.enforce.engine import Control
from consentry.enforce.engines.boxcommand import BoxCommandEngine, Prepared
from consentry.enforce.engines.bubblewrap import Bubblewrap
from consentry.enforce.engines.commandengine import CommandPlan
from consentry.enforce.engines.firejail import Firejail
from consentry.enforce.engines.nsjail import Nsjail
from consentry.enforce.native.runtime import Step
from consentry.enforce.native.seccompfilter import ALLOW, FilterProgram

Weak = type[BoxCommandEngine]


def _with_steps(plan: CommandPlan, steps: Iterator[Step]) -> CommandPlan:
    return replace(plan, plan=replace(plan.plan, steps=tuple(steps)))


def _showing_more(plan: CommandPlan) -> CommandPlan:
    """The folder beside the workspace, which nobody granted."""
    outside = str(plan.wanted.workspace.parent / "outside")
    more: Step = ("bind", outside, outside, ("ro",), None)
    return _with_steps(plan, iter((*plan.plan.steps, more)))


def _writing_more(plan: CommandPlan) -> CommandPlan:
    """No granted folder is read-only."""
    return _with_steps(plan, map(_writable, plan.plan.steps))


def _writable(step: Step) -> Step:
    match step:
        case ("bind" | "view", source, path, tuple(how), identity) if identity is not None:
            return ("bind", source, path, tuple(each for each in how if each != "ro"), identity)
        case _:
            return step


def _hiding_nothing(plan: CommandPlan) -> CommandPlan:
    hides = ("hide_folder", "hide_file")
    return _with_steps(plan, (step for step in plan.plan.steps if step[0] not in hides))


def _passing_the_environment(plan: CommandPlan) -> CommandPlan:
    wanted = plan.wanted
    return replace(
        plan, wanted=replace(wanted, environment={**os.environ, **dict(wanted.environment)})
    )


def _showing_processes(plan: CommandPlan) -> CommandPlan:
    shown: Step = ("bind", "/proc", "/proc", ("ro",), None)
    return _with_steps(plan, (shown if step[0] == "proc" else step for step in plan.plan.steps))


_IN_THE_PLAN: Final[Mapping[Control, Callable[[CommandPlan], CommandPlan]]] = {
    Control.READS: _showing_more,
    Control.WRITES: _writing_more,
    Control.DENY_INSIDE: _hiding_nothing,
    Control.ENVIRONMENT: _passing_the_environment,
}


def _by_plan(engine: Weak, change: Callable[[CommandPlan], CommandPlan]) -> Weak:
    class Weakened(engine):  # type: ignore[misc, valid-type]
        def prepared(self, plan: CommandPlan, *given: Any, **how: Any) -> Prepared:
            return super().prepared(change(plan), *given, **how)  # type: ignore[no-any-return]

    return Weakened


class _Bwrap(Bubblewrap):
    """Some words are not said, or others besides."""

    words: ClassVar[tuple[str, ...]] = ()
    instead: ClassVar[tuple[str, ...]] = ()

    def _namespaces(self, plan: CommandPlan) -> Iterator[str]:
        yield from (word for word in super()._namespaces(plan) if word not in self.words)
        yield from self.instead


class _BwrapWithNetwork(_Bwrap):
    instead = ("--share-net",)


class _BwrapWithProcesses(_Bwrap):
    words = ("--unshare-all",)
    instead = ("--unshare-ipc", "--unshare-net", "--unshare-uts")


class _BwrapWithPowers(_Bwrap):
    instead = ("--cap-add", "ALL")


class BwrapWithoutFilter(Bubblewrap):
    """Every system call goes on."""

    def _filter(self, plan: CommandPlan) -> bytes:  # noqa: ARG002 - as it is called
        code = FilterProgram.begun(self._host.machine)
        code.give(ALLOW)
        return code.assembled()


class _Firejail(Firejail):
    """Some words are not said."""

    left_out: ClassVar[tuple[str, ...]] = ()

    def _fixed(self) -> Iterator[str]:
        yield from (word for word in super()._fixed() if not word.startswith(self.left_out))


class _FirejailWithNetwork(_Firejail):
    left_out = ("--net",)


class _FirejailWithoutFilter(_Firejail):
    left_out = ("--seccomp", "--protocol")


class _FirejailWithPowers(_Firejail):
    left_out = ("--restrict-namespaces",)

    def _fixed(self) -> Iterator[str]:
        for word in super()._fixed():
            yield word.replace("clone3:ENOSYS,", "").replace(",unshare,", ",")


class _NoFirejail(Firejail):
    """Its words, without the program that they are said to."""

    def prepared(self, plan: CommandPlan, *given: Any, **how: Any) -> Prepared:
        whole = super().prepared(plan, *given, **how)
        words = whole.command.words
        bare = words[words.index("--") + 1 :]
        return replace(whole, command=replace(whole.command, words=bare))


class _Nsjail(Nsjail):
    """Some lines besides; the last of a kind counts."""

    besides: ClassVar[tuple[str, ...]] = ()

    def _namespaces(self) -> Iterator[str]:
        yield from super()._namespaces()
        yield from self.besides


class _NsjailWithNetwork(_Nsjail):
    besides = ("clone_newnet: false",)


class _NsjailWithProcesses(_by_plan(_Nsjail, _showing_processes)):  # type: ignore[misc]
    besides = ("clone_newpid: false",)


class _NsjailWithPowers(_Nsjail):
    besides = ("keep_caps: true",)


class _NsjailWithoutFilter(Nsjail):
    def _policy(self, plan: CommandPlan) -> str:  # noqa: ARG002 - as it is called
        return "POLICY box { ALLOW { read } } USE box DEFAULT ALLOW"


def _weakened(engine: Weak, others: Mapping[Control, Weak]) -> Mapping[Control, Weak]:
    by_plan = {control: _by_plan(engine, change) for control, change in _IN_THE_PLAN.items()}
    return MappingProxyType({**by_plan, **others})


WHOLE: Final[Mapping[str, Weak]] = {each.name: each for each in (Bubblewrap, Firejail, Nsjail)}
WEAKENED: Final[Mapping[str, Mapping[Control, Weak]]] = {
    "bubblewrap": _weakened(
        Bubblewrap,
        {
            Control.NO_NETWORK: _BwrapWithNetwork,
            Control.PROCESSES_APART: _BwrapWithProcesses,
            Control.SYSTEM_CALLS: BwrapWithoutFilter,
            Control.NO_NEW_POWERS: _BwrapWithPowers,
        },
    ),
    "firejail": _weakened(
        Firejail,
        {
            Control.NO_NETWORK: _FirejailWithNetwork,
            Control.PROCESSES_APART: _NoFirejail,
            Control.SYSTEM_CALLS: _FirejailWithoutFilter,
            Control.NO_NEW_POWERS: _FirejailWithPowers,
        },
    ),
    "nsjail": _weakened(
        Nsjail,
        {
            Control.NO_NETWORK: _NsjailWithNetwork,
            Control.PROCESSES_APART: _NsjailWithProcesses,
            Control.SYSTEM_CALLS: _NsjailWithoutFilter,
            Control.NO_NEW_POWERS: _NsjailWithPowers,
        },
    ),
}
"""By engine and control: the same engine, without what holds that control."""
