"""What a yes had written in the layer is taken over with the rest; nothing beside it is."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.held import opened_in_layer
from consentry.enforce.layer import LayerRoot, file_clock_ns
from consentry.enforce.layerscan import scan
from consentry.enforce.writerules import WriteRules
from consentry.enforce.writeverdicts import Verdicts, judge
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import protected_roots
from tests.enforce.heldruns import Keeper, wanted_by
from tests.enforce.shownfolders import made_folder, shown_folder

pytestmark = pytest.mark.skipif(
    shown_folder() is None, reason="this user can write no folder it shows"
)
CODE = """
for name in ("inner/file", "inner/new", "inner/other", ".git/hooks/post-commit", "writable/x"):
    tried(write, name)
tried(os.mkdir, "folder")
"""


def _judged(place: Path, answers: dict[str, str]) -> tuple[Verdicts, Verdicts]:
    """With the grants alone, and with what was answered besides."""
    request = {"place": str(place), "code": CODE, "write": ["./writable/", "/tmp/"]}
    wanted = wanted_by(request)
    rules = WriteRules.bound(PatternScope.parse(["./writable/"]), workspace=wanted.workspace)
    begun = file_clock_ns()
    with closing(NativeEngine(None, protected_roots())) as engine:
        plan = engine.compile(wanted)
        outcome = engine._held_run(plan, (), Io(keeps=True, holds=Keeper(answers)))
    assert outcome.layer is not None
    [layered] = plan.plan.layered
    root = LayerRoot.over(layered.number, layered.root.path)
    try:
        changes = scan(outcome.layer, (root,), started_ns=begun)
    finally:
        os.close(outcome.layer)
    opened = rules.with_opened(opened_in_layer(outcome.held_operations))
    return judge(changes, rules), judge(changes, opened)


def _names(verdicts: Verdicts) -> set[str]:
    return {change.path.decode() for change in verdicts.accepted}


def test_what_was_granted_while_it_waited_may_be_committed() -> None:
    """The files and the folder that were asked for; names that other programs obey stay out."""
    with made_folder(os.getuid()) as place:
        for name in ("ws/inner/file", "ws/writable/x", "ws/.git/hooks/sample", "ws/.git/HEAD"):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text("old")
        answers = {"/ws/": "granted", "/inner/other": "refused"}
        before, after = _judged(place, answers)
    assert _names(before) == {"writable/x"}
    assert _names(after) >= {"writable/x", "inner/file", "inner/new", "folder"}
    assert not {"inner/other", ".git/hooks/post-commit"} & _names(after)
