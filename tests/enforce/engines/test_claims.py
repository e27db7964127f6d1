"""What the probe of an engine has not shown is refused, and what it has shown is remembered for what it was.

That a probe finds out every claim that is not delivered is shown in `test_threes`.
"""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.enforce.engine import Control, Held, NotEnforceable, Probe
from consentry.enforce.engines import rememberedprobe
from consentry.enforce.engines.bubblewrap import Bubblewrap
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.rememberedprobe import RememberedProbe
from consentry.enforce.engines.tryout import direct_confinement
from consentry.enforce.scorecard import Ground
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import PYTHON
from tests.enforce.engines.weakened import BwrapWithoutFilter

_GROUND = EngineGround(None, protected_roots(), "/usr/bin:/bin")
_LACKS = Bubblewrap(_GROUND).lacks()
pytestmark = pytest.mark.skipif(
    Bubblewrap(_GROUND).missing() is not None, reason="there is no bwrap on this machine"
)


def test_what_was_not_shown_is_refused(tmp_path: Path) -> None:
    """From memory as well, until something that it stands on is another."""
    ground = EngineGround(None, protected_roots(), "/usr/bin:/bin", tmp_path)
    with Ground("/var/tmp") as place:
        wanted = direct_confinement(place.confinement(Path(PYTHON)), _LACKS)
        with pytest.raises(NotEnforceable) as refused:
            BwrapWithoutFilter(ground).compile(wanted)
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
