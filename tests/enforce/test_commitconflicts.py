"""What others changed while a run went on is never overwritten, and nobody is led out of a root."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.errors import Refused
from consentry.enforce.commit import CommitOutcome, CommitResult
from consentry.enforce.commitrecover import recover
from tests.enforce.layers import Layer, made_layer
from tests.enforce.test_commit import leftovers
from tests.enforce.treesight import sight_of

pytestmark = pytest.mark.usefixtures("layer_kind")

BEFORE = {"f": "old", "d/a": "1", "d/b": "2", "gone": "x", "m": "mode"}
SCRIPT = (
    "open('f', 'w').write('new'); os.unlink('gone'); os.chmod('m', 0o755); open('n', 'w');"
    "import subprocess; subprocess.run(['rm', '-r', 'd'], check=True)"
)


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A root with something to change."""
    folder = tmp_path / "host"
    (folder / "d").mkdir(parents=True)
    (folder / "other").mkdir()
    for name, content in BEFORE.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Where journals are kept; does not exist yet."""
    return tmp_path / "state"


def _replace(path: Path) -> None:
    path.unlink()
    path.write_text("theirs", encoding="utf-8")


MEDDLING: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed": (lambda host: (host / "f").write_text("theirs"), "f"),
    "changed-to-the-same": (lambda host: (host / "f").write_text("old"), "f"),
    "replaced": (lambda host: _replace(host / "f"), "f"),
    "deleted": (lambda host: (host / "f").unlink(), "f"),
    "made": (lambda host: (host / "n").write_text("theirs"), "n"),
    "made-a-link": (lambda host: (host / "n").symlink_to("f"), "n"),
    "deleted-one-changed": (lambda host: (host / "gone").write_text("theirs"), "gone"),
    "file-put-into-deleted-folder": (lambda host: (host / "d" / "c").touch(), "d"),
    "file-changed-in-deleted-folder": (lambda host: (host / "d" / "a").write_text("9"), "d"),
    "mode-changed": (lambda host: (host / "m").chmod(0o600), "m"),
}


def _settled_clock() -> None:
    """Lets the kernel's clock for files move on, so that "since" is not "at the same time"."""
    time.sleep(0.02)


@pytest.mark.parametrize("when", ["before the scan", "before the commit", "before the journal"])
@pytest.mark.parametrize("meddling", MEDDLING)
def test_a_change_by_somebody_else_is_a_conflict(
    meddling: str, when: str, host: Path, state: Path, tmp_path: Path
) -> None:
    """Nothing at all is committed, and the path in conflict is named."""
    meddle, path = MEDDLING[meddling]
    layer = made_layer(tmp_path, host, SCRIPT)
    _settled_clock()
    if when == "before the scan":
        meddle(host)
    verdicts = layer.judged()
    if when == "before the commit":
        meddle(host)

    def reached(step: str) -> None:
        if when == "before the journal" and step == "synced":
            meddle(host)

    if when == "before the scan" and meddling == "deleted":
        # Nothing tells a file that was deleted meanwhile from one that the run had renamed, but
        # the folder tells that something came or went.
        assert any(each.is_lost for each in verdicts.accepted)
    before = None if when == "before the journal" else sight_of(host)
    outcome = layer.committed(state, verdicts=verdicts, reached=reached)
    assert outcome.result is CommitResult.CONFLICT
    assert f"{host}/{path}" in [each.path for each in outcome.conflicts]
    if before is not None:
        assert sight_of(host) == before
    assert leftovers(state, host) == []


@pytest.mark.parametrize("meddling", MEDDLING)
def test_a_change_in_the_last_moment_takes_the_whole_commit_back(
    meddling: str, host: Path, state: Path, tmp_path: Path
) -> None:
    """Between the check and the rename: what was renamed away is not what the run had seen."""
    meddle, path = MEDDLING[meddling]
    layer = made_layer(tmp_path, host, SCRIPT)
    after: list[object] = []

    def reached(step: str) -> None:
        if step == "journal kept" and not after:
            _settled_clock()
            meddle(host)
            after.append(sight_of(host))

    outcome = layer.committed(state, reached=reached)
    if meddling in ("changed-to-the-same", "mode-changed"):
        # The same bytes at another time are taken for changed; a mode alone is not noticed so late.
        assert outcome.result in (CommitResult.CONFLICT, CommitResult.COMMITTED)
        return
    assert outcome.result is CommitResult.CONFLICT
    assert [each.path for each in outcome.conflicts] == [f"{host}/{path}"]
    assert [sight_of(host)] == after
    assert leftovers(state, host) == []


def test_changes_elsewhere_are_no_conflict(host: Path, state: Path, tmp_path: Path) -> None:
    """Others may go on working in the same folders."""
    layer = made_layer(tmp_path, host, SCRIPT)
    _settled_clock()
    (host / "theirs").write_text("kept", encoding="utf-8")
    assert layer.committed(state).result is CommitResult.COMMITTED
    assert (host / "theirs").read_text(encoding="utf-8") == "kept"


def test_two_runs_that_changed_the_same_file(host: Path, state: Path, tmp_path: Path) -> None:
    """The second one is a conflict, never the last writer."""
    one = made_layer(tmp_path, host, "open('f', 'w').write('one')", name="one")
    two = made_layer(tmp_path, host, "open('f', 'w').write('two')", name="two")
    _settled_clock()
    assert one.committed(state, run="run-1").result is CommitResult.COMMITTED
    assert two.committed(state, run="run-2").result is CommitResult.CONFLICT
    assert (host / "f").read_text(encoding="utf-8") == "one"


def test_commits_at_once_take_turns(host: Path, state: Path, tmp_path: Path) -> None:
    """From the journal to its end no other commit changes a file; all of them arrive."""
    layers = [
        made_layer(tmp_path, host, f"open('n{n}', 'w').write('{n}' * 999)", name=f"l{n}")
        for n in range(4)
    ]
    steps: list[tuple[int, str]] = []
    outcomes: dict[int, CommitOutcome] = {}

    def run(number: int, layer: Layer) -> None:
        def reached(step: str) -> None:
            steps.append((number, step))

        outcomes[number] = layer.committed(state, run=f"run-{number}", reached=reached)

    threads = [threading.Thread(target=run, args=each) for each in enumerate(layers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {each.result for each in outcomes.values()} == {CommitResult.COMMITTED}
    working: int | None = None
    for number, step in steps:
        if step == "journal written":
            assert working is None
            working = number
        elif step == "settled":
            assert working == number
            working = None
    assert sorted(each.name for each in host.glob("n*")) == ["n0", "n1", "n2", "n3"]


def _swap(folder: Path, outside: Path) -> None:
    folder.rename(folder.with_name("moved-away"))
    folder.symlink_to(outside)


@pytest.mark.parametrize(
    "moment",
    ["places made", "synced", "journal written", "journal kept", "before put 3", "moved"],
)
def test_a_folder_swapped_for_a_link_leads_nowhere(
    moment: str, host: Path, state: Path, tmp_path: Path
) -> None:
    """At whatever moment: nothing outside is touched, and the commit is whole or not there."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("precious", encoding="utf-8")
    (outside / "gone").write_text("precious", encoding="utf-8")
    (host / "other" / "a").write_text("old", encoding="utf-8")
    (host / "other" / "gone").write_text("old", encoding="utf-8")
    script = (
        "open('other/a', 'w').write('new'); open('other/n', 'w').write('new');"
        "os.unlink('other/gone'); os.chmod('m', 0o755)"
    )
    layer = made_layer(tmp_path, host, script)
    before = sight_of(outside)
    done: list[str] = []

    def reached(step: str) -> None:
        if step == moment and not done:
            _swap(host / "other", outside)
            done.append(step)

    layer.committed(state, reached=reached)
    assert done == [moment]
    assert sight_of(outside) == before


def test_a_folder_that_flickers_between_folder_and_link_leads_nowhere(
    host: Path, state: Path, tmp_path: Path
) -> None:
    """Whoever wins the race, nothing outside is touched; afterwards the tree is old or new."""
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("a", "b"):
        (outside / name).write_text("precious", encoding="utf-8")
        (host / "other" / name).write_text("old", encoding="utf-8")
    before = sight_of(outside)
    stop = threading.Event()

    def flicker() -> None:
        real, away = host / "other", host / "moved-away"
        while not stop.is_set():
            real.rename(away)
            real.symlink_to(outside)
            real.unlink()
            away.rename(real)

    layers = [
        made_layer(
            tmp_path,
            host,
            f"open('other/a', 'w').write('new{n}'); open('other/n{n}', 'w'); os.unlink('other/b')",
            name=f"l{n}",
        )
        for n in range(1)
    ]
    flickering = threading.Thread(target=flicker)
    verdicts = layers[0].judged()
    flickering.start()
    try:
        for attempt in range(40):
            try:
                outcome = layers[0].committed(state, run=f"run-{attempt}", verdicts=verdicts)
            except Refused:
                continue
            if outcome.result is CommitResult.COMMITTED:
                break
    finally:
        stop.set()
        flickering.join()
    recover(state)
    assert sight_of(outside) == before
    names = sorted(each.name for each in (host / "other").iterdir())
    content = (host / "other" / "a").read_text(encoding="utf-8")
    assert (names, content) in [(["a", "b"], "old"), (["a", "n0"], "new0")]
    assert leftovers(state, host) == []


def test_the_root_itself_swapped_for_another_folder_is_refused(
    host: Path, state: Path, tmp_path: Path
) -> None:
    """The commit goes to the folder that the run saw, or nowhere."""
    layer = made_layer(tmp_path, host, SCRIPT)
    verdicts = layer.judged()
    host.rename(tmp_path / "away")
    host.mkdir()
    with pytest.raises(Refused, match="another folder"):
        layer.committed(state, verdicts=verdicts)
    assert sight_of(host) == {}
    assert leftovers(state, host) == []
