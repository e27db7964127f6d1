"""Snippets hold what they are refused as programs do, though they do not see it: a name can be asked for."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engines import nativecode
from consentry.enforce.engines.native import Io
from consentry.enforce.engines.nativecode import CodeOutcome, NativeCode
from consentry.enforce.held import HeldAnswer
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots
from tests.enforce.heldruns import Keeper
from tests.enforce.shownfolders import made_folder, shown_folder

pytestmark = pytest.mark.skipif(
    shown_folder() is None, reason="this user can write no folder it shows"
)
YES = {"/out": "granted"}
TRIED = """
import os
def tried(path, *mode):
    try:
        with open(path, *mode) as file:
            return file.write("new") if mode else file.read()
    except OSError as problem:
        return type(problem).__name__
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A workspace, and something beside it."""
    with made_folder(os.getuid()) as made:
        for name in ("ws/granted", "out/secret"):
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_text(name)
        yield made


@pytest.fixture(scope="module")
def engine() -> Iterator[NativeCode]:
    """One launcher for all."""
    with closing(NativeCode(None)) as made:
        yield made


@pytest.fixture(autouse=True)
def _permitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shown here is not how a run is permitted."""
    monkeypatch.setattr(nativecode, "require_code_permitted", lambda *_: None)


def _ran(engine: NativeCode, place: Path, code: str, keeper: Keeper | None) -> CodeOutcome:
    surface, program = Surface.of(read=["./"]), Program(Path("snippet.py"), (), place / "ws")
    wanted = Confinement(surface, place / "ws", program, {}, holds=keeper is not None)
    plan = engine.compile(wanted, protected_roots())
    permit: Any = SimpleNamespace(permit_id=f"permit-{os.urandom(4).hex()}")
    source = (TRIED + code).encode()
    return engine.run_code(plan, permit, source, {"P": str(place)}, Io(keeps=True, holds=keeper))


def test_a_snippet_reads_and_writes_after_a_yes(engine: NativeCode, place: Path) -> None:
    """It is asked once for each, and the record says what was written at once."""
    keeper = Keeper(YES)
    code = "[tried(P + '/out/secret'), tried(P + '/out/secret'), tried(P + '/out/new', 'w')]"
    done = _ran(engine, place, code, keeper)
    assert (done.result, done.error) == (["out/secret", "out/secret", 3], None)
    assert [(each.verb, each.path_or_host) for each in keeper.seen] == [
        ("open", str(place / "out/secret")),
        ("create", str(place / "out/new")),
    ]
    assert [each.direct for each in done.outcome.held_operations] == [False, True]
    assert (place / "out/new").read_text() == "new"
    assert done.outcome.violations == ()


def test_a_snippet_is_refused_after_a_no(engine: NativeCode, place: Path) -> None:
    """With the error that says so."""
    done = _ran(engine, place, "[tried(P + '/out/secret'), tried('granted')]", Keeper({}))
    assert done.result == ["PermissionError", "ws/granted"]
    [record] = done.outcome.held_operations
    assert record.answer is HeldAnswer.REFUSED
    assert [each.rule for each in done.outcome.violations] == ["held, and refused"]


def test_without_a_keeper_nothing_is_held(engine: NativeCode, place: Path) -> None:
    """What is not granted is not there."""
    done = _ran(engine, place, "[tried(P + '/out/secret'), tried('granted')]", None)
    assert done.result == ["FileNotFoundError", "ws/granted"]
    assert done.outcome.held_operations == ()


def test_protected_roots_are_never_asked_for(engine: NativeCode, place: Path) -> None:
    """Nor what is nowhere, nor the run's own folders."""
    keeper = Keeper({"/": "granted"})
    code = "[tried(x) for x in ('/etc/shadow', '/var/lib/dpkg/status', '/nowhere', '/tmp/x')]"
    done = _ran(engine, place, code, keeper)
    assert done.result == ["FileNotFoundError"] * 4
    assert keeper.seen == []


def test_runs_of_one_worker_hold_each_its_own(engine: NativeCode, place: Path) -> None:
    """A yes in one run is none in the next, held or not."""
    for _ in range(3):
        granted, refused = Keeper(YES), Keeper({})
        read = "tried(P + '/out/secret')"
        assert _ran(engine, place, read, granted).result == "out/secret"
        assert _ran(engine, place, read, refused).result == "PermissionError"
        assert _ran(engine, place, read, None).result == "FileNotFoundError"
        assert len(granted.seen) == len(refused.seen) == 1
