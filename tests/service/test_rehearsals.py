"""A rehearsal changes nothing; then exactly one of commit and discard happens to it, and is recorded."""

import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.enforce.keptshelf import REHEARSED, UNDO, Shelf
from consentry.service.effectledger import Result
from consentry.service.effects import effect_of
from consentry.service.keptruns import EffectConflict
from consentry.service.ledgers import ledger_place
from consentry.service.rehearsals import commit_run, discard_run
from consentry.service.takeover import Arrival
from consentry.service.undoing import undo_run
from tests.enforce.treesight import sight_of
from tests.service.conftest import MakeAround
from tests.service.rehearsing import Workshop

SCRIPT = "echo new > a; rm b; mkdir d; echo x > d/n"


@pytest.fixture
def shop(around: MakeAround, project: Path) -> Workshop:
    """A project with two files."""
    (project / "a").write_text("old\n", encoding="utf-8")
    (project / "b").write_text("b\n", encoding="utf-8")
    return Workshop(around(environ={"PATH": "/usr/bin:/bin"}), project)


def _code(call: Any, *given: Any) -> Code:
    with pytest.raises(ConsentryError) as caught:
        call(*given)
    return caught.value.code


def test_a_rehearsal_changes_nothing_and_is_no_discarded_run(shop: Workshop) -> None:
    """CONTRACTS §12: only `commit` commits it; the record says until when it is kept."""
    before = sight_of(shop.project)
    run = shop.run(SCRIPT)
    assert sight_of(shop.project) == before
    impact: Any = run.entry["impact"]
    assert (run.status, impact["committed"], impact["discarded"]) == ("success", False, None)
    assert impact["rehearsal"]["keptUntil"] > run.entry["timestamp"]
    assert impact["rehearsal"]["needsApproval"] is False
    assert impact["rehearsal"]["changes"]["created"] == 2
    assert impact["effectDigest"].startswith("sha256:")


def test_a_failed_run_is_rehearsed_too_and_keeps_its_status(shop: Workshop) -> None:
    """The program's own status is passed on."""
    run = shop.run("echo new > a; exit 3")
    assert (run.status, run.outcome.exit_code) == ("failure", 3)
    with shop.place() as place:
        assert commit_run(place, run.audit_id).result is Result.COMMITTED


def test_a_commit_takes_over_exactly_that_and_is_recorded(shop: Workshop) -> None:
    """The decision before, the outcome after, both with the digest of the effect."""
    run = shop.run(SCRIPT)
    with shop.place() as place:
        done = commit_run(place, run.audit_id)
    assert (done.result, done.files) == (Result.COMMITTED, 3)
    assert done.undo_until is not None
    assert sight_of(shop.project).keys() == {"a", "d", "d/n"}
    (decided,), (settled,) = shop.events("effect.decided"), shop.events("effect.settled")
    impact: Any = run.entry["impact"]
    for event in (decided, settled):
        assert event["effectDigest"] == impact["effectDigest"]
        assert (event["runId"], event["permitId"]) == (run.audit_id, run.facts.permit.permit_id)
    assert (settled["outcome"], settled["recovered"]) == ("committed", False)
    assert Shelf(shop.state, REHEARSED).items() == []


def test_a_discarded_one_is_gone_but_for_the_record(shop: Workshop) -> None:
    """Nothing of it is left on the disk."""
    run = shop.run(SCRIPT)
    before = sight_of(shop.project)
    with shop.place() as place:
        assert discard_run(place, run.audit_id).result is Result.DISCARDED
    assert sight_of(shop.project) == before
    assert list((shop.state / REHEARSED).iterdir()) == []
    assert [each["outcome"] for each in shop.events("effect.settled")] == ["discarded"]


def test_twice_is_refused_and_so_is_what_there_is_not(shop: Workshop) -> None:
    """One clear code for each way in which there is nothing to do."""
    one, two = shop.run(SCRIPT), shop.run("echo 2 > c")
    plain = shop.run("echo 3 > e", Arrival.AT_ITS_END)
    with shop.place() as place:
        assert _code(undo_run, place, one.audit_id) is Code.EFFECT_ABSENT
        commit_run(place, one.audit_id)
        discard_run(place, two.audit_id)
        for named in (one.audit_id, two.audit_id):
            assert _code(commit_run, place, named) is Code.EFFECT_SETTLED
            assert _code(discard_run, place, named) is Code.EFFECT_SETTLED
        assert _code(commit_run, place, plain.audit_id) is Code.EFFECT_ABSENT
        assert _code(commit_run, place, "audit-00000000") is Code.RUN_UNKNOWN
        assert _code(commit_run, place, "audit-01") is Code.RUN_AMBIGUOUS
        assert _code(undo_run, place, two.audit_id) is Code.EFFECT_SETTLED
        undo_run(place, one.audit_id)
        assert _code(undo_run, place, one.audit_id) is Code.EFFECT_SETTLED


def test_one_whose_time_is_over_is_refused(shop: Workshop) -> None:
    """Also while nobody has swept it yet; what the ledger says counts, not the folder's name."""
    environ = {**shop.around.environ, "CONSENTRY_KEEP": "0.001s"}
    short = Workshop(replace(shop.around, environ=environ), shop.project)
    run = short.run(SCRIPT)
    shelf = Shelf(shop.state, REHEARSED)
    (item,) = shelf.items()
    longer = replace(item, until=item.until.plus(item.until.since(type(item.until)(0))))
    (shelf.folder / item.name).rename(shelf.folder / longer.name)
    with shop.place() as place:
        assert _code(commit_run, place, run.audit_id) is Code.EFFECT_EXPIRED
        assert _code(discard_run, place, run.audit_id) is Code.EFFECT_EXPIRED


def test_it_is_named_by_its_permit_or_the_beginning_of_an_id(shop: Workshop) -> None:
    """And without a name the latest rehearsal is looked at, not the latest run."""
    run = shop.run(SCRIPT)
    shop.run("true", Arrival.AT_ITS_END)
    permit = run.facts.permit.permit_id
    with shop.place() as place:
        for named in (run.audit_id, run.audit_id[:-6], permit, permit[:-6], None):
            assert effect_of(place, named).run_id == run.audit_id


def test_a_conflict_is_listed_recorded_and_can_be_tried_again(shop: Workshop) -> None:
    """Nothing is changed by it."""
    run = shop.run(SCRIPT)
    (shop.project / "b").write_text("mine\n", encoding="utf-8")
    before = sight_of(shop.project)
    with shop.place() as place:
        with pytest.raises(EffectConflict) as caught:
            commit_run(place, run.audit_id)
        assert [each.path for each in caught.value.conflicts] == [str(shop.project / "b")]
        assert sight_of(shop.project) == before
        assert Shelf(shop.state, REHEARSED).items() != []
    (settled,) = shop.events("effect.settled")
    assert settled["outcome"] == "conflict"
    assert [each["path"] for each in settled["conflicts"]] == [str(shop.project / "b")]


def test_two_who_come_at_the_same_time_exactly_one_wins(shop: Workshop) -> None:
    """Whether they commit or discard; the other is told that it was done."""
    for _ in range(3):
        run = shop.run("date +%N > c")

        def tried(does: Any, named: str = run.audit_id) -> object:
            with shop.place() as place:
                try:
                    return does(place, named).result
                except ConsentryError as problem:
                    return problem.code

        with ThreadPoolExecutor() as pool:
            ends = list(pool.map(tried, [commit_run, discard_run, commit_run, discard_run]))
        won = [each for each in ends if isinstance(each, Result)]
        assert len(won) == 1, ends
        assert ends.count(Code.EFFECT_SETTLED) == 3, ends
        assert (shop.project / "c").exists() is (won[0] is Result.COMMITTED)
        (shop.project / "c").unlink(missing_ok=True)


def test_a_plain_run_is_undone_from_its_own_commit(shop: Workshop) -> None:
    """Every commit can be: the record says until when."""
    before = sight_of(shop.project)
    run = shop.run(SCRIPT, Arrival.AT_ITS_END)
    impact: Any = run.entry["impact"]
    assert impact["undo"]["until"] > run.entry["timestamp"]
    with shop.place() as place:
        assert effect_of(place, run.audit_id).state == "committed"
        assert undo_run(place, run.audit_id).result is Result.UNDONE
    assert sight_of(shop.project) == before
    assert [each["outcome"] for each in shop.events("effect.settled")] == ["undone"]


def test_undo_lists_what_was_changed_since(shop: Workshop) -> None:
    """And changes nothing."""
    run = shop.run(SCRIPT, Arrival.AT_ITS_END)
    (shop.project / "a").write_text("mine\n", encoding="utf-8")
    before = sight_of(shop.project)
    with shop.place() as place, pytest.raises(EffectConflict) as caught:
        undo_run(place, run.audit_id)
    assert [each.path for each in caught.value.conflicts] == [str(shop.project / "a")]
    assert sight_of(shop.project) == before


def test_what_is_kept_for_nothing_cannot_be_undone_or_rehearsed(shop: Workshop) -> None:
    """With CONSENTRY_KEEP at nothing, a commit says that it cannot be taken back."""
    environ = {**shop.around.environ, "CONSENTRY_KEEP": "0s"}
    short = Workshop(replace(shop.around, environ=environ), shop.project)
    assert _code(short.run, SCRIPT) is Code.SETTING_VALUE
    run = short.run(SCRIPT, Arrival.AT_ITS_END)
    assert Shelf(shop.state, UNDO).items() == []
    with shop.place() as place:
        assert _code(undo_run, place, run.audit_id) is Code.EFFECT_ABSENT


@pytest.mark.parametrize("span", ["soon", "36501d", "99999999999d"])
def test_a_setting_that_cannot_be_read_is_told_before_anything_runs(
    shop: Workshop, span: str
) -> None:
    """Nothing is kept then, and nothing was started; nor where the end would be no date."""
    environ = {**shop.around.environ, "CONSENTRY_KEEP": span}
    bad = Workshop(replace(shop.around, environ=environ), shop.project)
    assert _code(bad.run, SCRIPT) is Code.SETTING_VALUE
    assert not (shop.state / REHEARSED).exists()


def test_a_rehearsal_that_cannot_be_kept_is_a_discarded_run(shop: Workshop) -> None:
    """CONTRACTS §12: finished, and refused; the record has the reason."""
    shop.state.mkdir(parents=True, mode=0o700)
    (shop.state / REHEARSED).write_text("in the way", encoding="utf-8")
    run = shop.run(SCRIPT)
    impact: Any = run.entry["impact"]
    assert run.status == "discarded"
    assert impact["rehearsal"] is None
    assert REHEARSED in impact["discarded"]


def test_what_is_shown_is_what_was_done(shop: Workshop) -> None:
    """Both sides of every change, the lines that differ, and the hashes."""
    (shop.project / "long").write_text("".join(f"{n}\n" for n in range(100)), encoding="utf-8")
    os.link(shop.project / "b", shop.project / "b2")
    run = shop.run(
        "sed -i 's/^50$/fifty/' long; chmod 600 a; ln -s a l; printf '\\0' > bin; rm b; mkdir b"
    )
    with shop.place() as place:
        view = effect_of(place, run.audit_id)
        changes = {each.path: each for each in view.changes}
        assert list(changes["long"].unified()) == [
            "@@ -48,7 +48,7 @@", " 47", " 48", " 49", "-50", "+fifty", " 51", " 52", " 53",
        ]  # fmt: skip
        assert (changes["a"].word, changes["l"].word, changes["b"].word) == (
            "mode",
            "added",
            "type",
        )
        assert changes["bin"].note == "binary"
        assert changes["l"].new is not None
        assert changes["l"].new.target == "a"
        waiting = {path: list(each.unified()) for path, each in changes.items()}
        commit_run(place, run.audit_id)
        after = effect_of(place, run.audit_id)
        assert {each.path: list(each.unified()) for each in after.changes} == waiting


@contextmanager
def _ends_unrecorded(shop: Workshop) -> Iterator[None]:
    """The ledger takes decisions and not what came of them, as a disk that is full by then."""
    ledger = sqlite3.connect(ledger_place(shop.around).folder / "ledger.db")
    try:
        ledger.execute(
            "CREATE TRIGGER full AFTER INSERT ON ledger_event "
            "WHEN NEW.body LIKE '%\"effect.settled\"%' "
            "BEGIN SELECT RAISE(ROLLBACK, 'no room'); END"
        )
        ledger.commit()
        yield
        ledger.execute("DROP TRIGGER full")
        ledger.commit()
    finally:
        ledger.close()


def test_changed_files_are_never_told_as_a_ledger_that_started_nothing(shop: Workshop) -> None:
    """They are changed, the message says so, and the next command records it."""
    run = shop.run(SCRIPT)
    for call, content in ((commit_run, "new\n"), (undo_run, "old\n")):
        with shop.place() as place, _ends_unrecorded(shop):
            assert _code(call, place, run.audit_id) is Code.COMMIT_UNFINISHED
        assert (shop.project / "a").read_text(encoding="utf-8") == content
        with shop.place() as place:
            assert _code(call, place, run.audit_id) is Code.EFFECT_SETTLED
    assert [each["recovered"] for each in shop.events("effect.settled")] == [True, True]


def test_what_is_no_folder_on_a_shelf_stops_nobody(shop: Workshop) -> None:
    """A file, or a link, that somebody left there is passed over, and nothing behind it is touched."""
    run = shop.run(SCRIPT)
    outside = shop.project.parent / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    for name in (REHEARSED, UNDO):
        (shop.state / name).mkdir(exist_ok=True)
        (shop.state / name / "file@1@1").touch()
        (shop.state / name / "link@1@1").symlink_to(outside)
        (shop.state / name / "gone+link").symlink_to(outside)
        Shelf(shop.state, name).sweep(SystemClock().now())
    with shop.place() as place:
        assert commit_run(place, run.audit_id).result is Result.COMMITTED
        assert undo_run(place, run.audit_id).result is Result.UNDONE
    assert (outside / "kept").exists()
