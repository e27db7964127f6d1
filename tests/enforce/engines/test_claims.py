"""A control that an engine claims and does not deliver is found out by its own probe.

Each means is taken away by a class that only tests have; the claim stays, and the probe must show it
as lacking, and the engine must then refuse what needs it.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.enforce.engine import Control, Held, NotEnforceable, Probe
from consentry.enforce.engines import bubblewrap, rememberedprobe
from consentry.enforce.engines.boxplan import Hidden, Item, Shown
from consentry.enforce.engines.bubblewrap import Bubblewrap
from consentry.enforce.engines.commandengine import CommandPlan
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.rememberedprobe import RememberedProbe
from consentry.enforce.engines.tryout import direct_confinement
from consentry.enforce.native.planner import Plan
from consentry.enforce.native.seccompfilter import ALLOW, FilterProgram
from consentry.enforce.scorecard import Ground
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import PYTHON

_GROUND = EngineGround(None, protected_roots(), "/usr/bin:/bin")
_LACKS = Bubblewrap(_GROUND).lacks()
pytestmark = pytest.mark.skipif(
    Bubblewrap(_GROUND).missing() is not None, reason="there is no bwrap on this machine"
)


class _WithoutFilter(Bubblewrap):
    def _filter(self, plan: CommandPlan) -> bytes:  # noqa: ARG002 - as it is called
        code = FilterProgram.begun(self._host.machine)
        code.give(ALLOW)
        return code.assembled()


class _Without(Bubblewrap):
    """Some words are not said."""

    words: Sequence[str] = ()
    instead: Sequence[str] = ()

    def _namespaces(self, plan: CommandPlan) -> Iterator[str]:
        yield from (word for word in super()._namespaces(plan) if word not in self.words)
        yield from self.instead


class _WithoutNetwork(_Without):
    instead = ("--share-net",)


class _WithoutPids(_Without):
    words = ("--unshare-all",)
    instead = ("--unshare-ipc", "--unshare-net", "--unshare-uts")


def _changed(change: Callable[[Item], Item | None]) -> Callable[[Plan], Iterator[Item]]:
    usual = bubblewrap.box_items

    def items(plan: Plan) -> Iterator[Item]:
        for item in usual(plan):
            changed = change(item)
            if changed is not None:
                yield changed

    return items


def _shown(item: Item) -> Item | None:
    return None if isinstance(item, Hidden) else item


def _writable(item: Item) -> Item:
    if isinstance(item, Shown) and item.identity is not None:
        return Shown(item.source, item.path, item.identity, is_writable=True)
    return item


@pytest.mark.parametrize(
    ("engine", "control"),
    [
        (_WithoutFilter, Control.SYSTEM_CALLS),
        (_WithoutNetwork, Control.NO_NETWORK),
        (_WithoutPids, Control.PROCESSES_APART),
    ],
)
def test_a_claim_without_its_means_is_lacking(engine: type[Bubblewrap], control: Control) -> None:
    """The attack is a real one: with the means it is stopped, without them it succeeds."""
    assert control in {each.control for each in Bubblewrap(_GROUND).try_out().probe.held}
    shown = engine(_GROUND).try_out().probe
    assert control in {each.control for each in engine(_GROUND).claims()}
    assert control not in {each.control for each in shown.held}
    assert control in {each.control for each in shown.lacking}


@pytest.mark.parametrize(
    ("change", "control"), [(_shown, Control.DENY_INSIDE), (_writable, Control.WRITES)]
)
def test_a_box_that_shows_more_is_found_out(
    change: Callable[[Item], Item | None], control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A denied folder that is not covered, a granted one that can be written."""
    monkeypatch.setattr(bubblewrap, "box_items", _changed(change))
    shown = Bubblewrap(_GROUND).try_out().probe
    assert control in {each.control for each in shown.lacking}


def test_what_was_not_shown_is_refused(tmp_path: Path) -> None:
    """From memory as well, until something that it stands on is another."""
    ground = EngineGround(None, protected_roots(), "/usr/bin:/bin", tmp_path)
    with Ground("/var/tmp") as place:
        wanted = direct_confinement(place.confinement(Path(PYTHON)), _LACKS)
        with pytest.raises(NotEnforceable) as refused:
            _WithoutFilter(ground).compile(wanted)
        assert Control.SYSTEM_CALLS in {each.control for each in refused.value.lacking}
        with pytest.raises(NotEnforceable):
            Bubblewrap(ground).compile(wanted)  # it believes what was remembered
        kept = RememberedProbe("bubblewrap", "/usr/bin/bwrap", tmp_path, os.getuid())
        assert kept.read() is not None
        other = RememberedProbe("bubblewrap", "/usr/bin/env", tmp_path, os.getuid())
        assert other.read() is None


def test_a_memory_stands_for_the_same_daemon_and_the_same_code_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was shown under one daemon says nothing of another, nor of boxes that are made otherwise."""
    kept = RememberedProbe("docker", "/bin/sh", tmp_path, os.getuid(), "one daemon")
    kept.write(Probe("docker", (Held(Control.READS, "a root of its own"),), ()))
    assert kept.read() is not None
    assert replace(kept, also="another daemon").read() is None
    ours = shutil.copytree(Path(rememberedprobe.__file__).parents[1], tmp_path / "enforce")
    monkeypatch.setattr(rememberedprobe, "_HERE", ours / "engines")
    kept.write(Probe("docker", (Held(Control.READS, "a root of its own"),), ()))
    for name in ("engines/container/words.py", "native/seccompfilter.py", "engines/docker.py"):
        assert kept.read() is not None
        before = (ours / name).read_bytes()
        (ours / name).write_bytes(before + b"# another\n")
        assert kept.read() is None
        kept.write(Probe("docker", (Held(Control.READS, "a root of its own"),), ()))


def test_a_command_in_the_workspace_is_never_started(tmp_path: Path) -> None:
    """Whoever made the workspace may have put it there."""
    marker = tmp_path / "started"
    folder = tmp_path / "workspace"
    folder.mkdir()
    command = folder / "bwrap"
    command.write_text(f"#!/bin/sh\ntouch {marker}\n")
    command.chmod(0o755)
    engine = Bubblewrap(EngineGround(None, protected_roots(), str(folder)))
    with Ground("/var/tmp") as place:
        wanted = replace(
            direct_confinement(place.confinement(Path(PYTHON)), _LACKS), workspace=folder
        )
        with pytest.raises(Exception, match="lies in the workspace"):
            engine.compile(wanted)
    assert not marker.exists()
