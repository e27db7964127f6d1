"""The note board in a real browser that clicks: import, ask, allow, refuse, upgrade, export, attack.

What is asserted is read from the document as the browser has it, and from the disk beside it.
"""

from collections.abc import Iterator

import pytest

from tests.browsing import PROGRAM, Tab, browser
from tests.examples.boards import (
    INTERRUPTED,
    MODULES,
    WEAKENED,
    Place,
    appears,
    board_at,
    started,
)

MOST_LOADS = 5
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")


@pytest.fixture
def tab(place: Place) -> Iterator[Tab]:
    """A browser at a board that has just been started."""
    with board_at(place) as link, browser() as tab:
        tab.look(1100, 900)
        tab.open(link)
        yield tab


def take(tab: Tab, name: str, graph: str | None = None) -> str:
    """Imports a package by choosing its file; what the page says of it."""
    tab.upload("input[name=package]", MODULES / f"{name}.json")
    if graph is not None:
        tab.upload("input[name=graph]", MODULES / f"{graph}.json")
    tab.click(".import button")
    return tab.text("#outcome")


def let_show(tab: Tab, module: str, slot: str) -> None:
    """Lets a module show what it declared, for the session."""
    tab.click(f"[data-slot={slot}] .held[data-module={module}] button")
    tab.click(".question button[value=session]")


def outcome(tab: Tab) -> list[str]:
    """The lines that tell what came of the last click."""
    return tab.text("#outcome").splitlines()


def test_an_honest_module_from_import_to_result(tab: Tab) -> None:
    """MODULES AC-2, §flow-4: imported by its file, asked about twice, allowed for the session, and it works."""
    assert "Imported word-count 1.0.0" in take(tab, "word-count")
    assert tab.texts(".entry") == []
    let_show(tab, "word-count", "left-panel")
    assert tab.text("[data-slot=left-panel] .entry").split("\n") == [
        "word-count",
        "Count the words",
    ]
    tab.click("[data-entry=words] button")
    question = tab.text(".question")
    assert question.startswith(
        "word-count 1.0.0 wants a capability\nstate.read\nlets it read snapshots"
    )
    assert "In its own words\n“Word count”, and the action “Count the words”" in question
    assert tab.texts(".question button") == [
        "Allow for this session",
        "Allow until the module changes",
        "Deny",
        "Cancel",
    ]
    tab.click(".question button[value=session]")
    assert not tab.has(".question")
    assert tab.text("[data-entry=words] output") == "25 words in 4 notes"
    assert tab.text("[data-capability='state.read'] .standing") == "allowed for this session"
    assert tab.texts(".states li")[-1] == "capability_escalation_result"


def test_the_next_version_asks_again_and_is_refused(tab: Tab) -> None:
    """MODULES §grant-2, §decision-3: stale grants, a no, a closed question, and nothing done meanwhile."""
    take(tab, "reading-list-1.0.0")
    tab.click(".held[data-module=reading-list] button")
    tab.click(".question button[value=persistent]")
    tab.click("[data-entry=unread] button")
    tab.click(".question button[value=persistent]")
    assert "2 of 4 notes have #read" in outcome(tab)
    take(tab, "reading-list-2.0.0", "reading-list.graph")
    assert tab.texts(".entry") == []
    assert tab.text("[data-capability='state.read'] .standing") == "capability-grant-stale"
    tab.click("[data-slot=chrome-top-toolbar] .held button")
    assert "granted before, for what the module was then" in tab.text(".question")
    tab.click(".question button[value=deny]")
    assert "capability-escalation-denied" in tab.text("#outcome")
    assert tab.texts(".entry") == []
    tab.click("[data-slot=chrome-top-toolbar] .held button")
    tab.click(".question button[value=cancel]")
    assert "capability-escalation-denied" in tab.text("#outcome")
    assert "user-cancelled" in tab.texts("#events li")[0]
    assert tab.texts(".entry") == []


def test_an_export_lands_where_the_person_chose(tab: Tab, place: Place) -> None:
    """MODULES §limit-export-target, §limit-export-overwrite: typed name, and a box before a file is replaced."""
    take(tab, "reading-list-2.0.0", "reading-list.graph")
    let_show(tab, "reading-list", "toolbar-bottom")
    chosen = place.folder / "exports" / "to read.txt"

    def export(*, replaces: bool) -> str:
        tab.click("[data-entry=export] button")
        tab.type("input[name=name]", chosen.name)
        if replaces:
            tab.click("input[name=overwrite]", leads=False)
        tab.click(".dialog button")
        return tab.text("#outcome")

    assert str(place.folder / "exports") in _dialog(tab)
    export(replaces=False)
    assert not chosen.exists()
    tab.click(".question button[value=session]")
    assert "wrote to read.txt, 74 bytes" in outcome(tab)
    assert chosen.read_text().splitlines()[0] == "#read The design of everyday things"
    chosen.write_text("changed by hand\n")
    assert "nobody said that it may be overwritten" in export(replaces=False)
    assert chosen.read_text() == "changed by hand\n"
    assert "wrote to read.txt" in export(replaces=True)
    assert chosen.read_text().startswith("#read The design")


def _dialog(tab: Tab) -> str:
    """What the dialogue for an export says; back on the page afterwards."""
    tab.click("[data-entry=export] button")
    said = tab.text(".dialog")
    tab.click(".dialog a")
    return said


def shows_the_attacker(tab: Tab) -> None:
    """Imports the attacker and lets it show everything that it declared."""
    take(tab, "free-gift", "free-gift.graph")
    let_show(tab, "free-gift", "left-panel")


def test_labels_of_an_attacker_are_text(tab: Tab) -> None:
    """MODULES §limit-render-script, §limit-render-dom: no script, image or form of its own in the document."""
    shows_the_attacker(tab)
    assert len(tab.texts(".entry")) == 5
    assert "<script>document.title='taken over'</script>Claim your gift" in tab.text(
        "[data-entry=claim]"
    )
    assert tab.value("document.title") == "Note board"
    assert not tab.has("script, img, iframe, object, [onerror], [style]")
    targets = "Array.from(document.forms, each => each.getAttribute('action')[0])"
    assert set(tab.value(targets)) == {"/"}
    inside = "Array.from(document.querySelectorAll('.entry')).every(e => e.parentElement.matches('.slot'))"
    assert tab.value(inside)
    assert tab.complaints() == []
    for mark in ("\u202e", "\u200b", "\x1b"):
        assert mark not in tab.value("document.body.innerText")
    assert "\\u{202e}" in tab.text("[data-entry=allow]")


def test_what_an_attacker_was_granted_works(tab: Tab) -> None:
    """MODULES §use-3: its declared button is drawn in its frame, and counts notes once that is allowed."""
    shows_the_attacker(tab)
    tab.click("[data-entry=look] button")
    tab.click(".question button[value=session]")
    assert tab.text("[data-entry=look] output") == "4 notes"
    assert tab.value("document.title") == "Note board"


@pytest.mark.parametrize(
    ("without", "title"),
    [("policy", "Note board"), ("escaping", "Note board"), ("both", "taken over")],
)
def test_two_controls_keep_scripts_out(place: Place, without: str, title: str) -> None:
    """MODULES §limit-render-script: either is enough, and with both taken away the script runs."""
    with board_at(place, WEAKENED, "--without", without) as link, browser() as tab:
        tab.open(link)
        shows_the_attacker(tab)
        assert tab.value("document.title") == title


def claims(tab: Tab) -> None:
    """The attacker asks for the grant to write, and gets it for good."""
    shows_the_attacker(tab)
    tab.click("[data-entry=claim] button")
    assert "calls notes.purge" in tab.text(".question")
    tab.click(".question button[value=persistent]")


def signs(tab: Tab) -> str:
    """The signs of the preview that waits, in their order."""
    return "".join(tab.texts("#changes .sign"))


def test_the_write_of_an_attacker_is_refused(tab: Tab, place: Place) -> None:
    """MODULES §limit-write-path, §limit-write-policy: its grant gets it a preview that somebody rejects, no more."""
    before = place.document()
    claims(tab)
    assert outcome(tab)[:2] == ["free-gift: claim", "WAITING"]
    assert "nothing is changed yet: look at what it wants to change" in tab.text("#outcome")
    card = tab.text(".change")
    assert card.startswith("free-gift 1.0.0 wants to change the notes: 4 removed\nwaits for you")
    assert "The board asks because it removes every note." in card
    assert signs(tab) == "----"
    assert tab.texts(".change button") == ["Approve and apply", "Reject"]
    assert place.document() == before
    tab.click(".change button[value=deny]")
    assert outcome(tab)[:3] == ["free-gift: claim: rejected", "REJECTED", "approval-denied"]
    assert place.document() == before
    assert len(tab.texts(".note[data-note]")) == 4


def test_a_person_empties_the_board_where_the_attacker_could_not(tab: Tab, place: Place) -> None:
    """The board's own forms do what no module may without being looked at."""
    for left in (3, 2, 1, 0):
        tab.click(".note[data-note]:first-child button.quiet")
        assert len(tab.texts(".note[data-note]")) == left
    tab.type("textarea", "begin <b>anew</b>")
    tab.click(".adding button")
    assert tab.texts(".note[data-note] p") == ["begin <b>anew</b>"]
    assert [each["text"] for each in place.notes()] == ["begin <b>anew</b>"]


def test_without_the_rule_the_attacker_would_have_emptied_it(place: Place) -> None:
    """MODULES §limit-write-policy: the same clicks, with the approval of commands taken away."""
    with board_at(place, WEAKENED, "--without", "approval") as link, browser() as tab:
        tab.open(link)
        claims(tab)
        assert outcome(tab)[1] == "DONE"
        assert tab.texts(".note[data-note]") == []
        assert place.notes() == []


def test_a_change_is_approved_rejected_and_rolled_back_by_clicking(tab: Tab, place: Place) -> None:
    """CONTRACTS §3-approval, §3-apply, §3-rollback: seen, decided and taken back on the page."""
    take(tab, "gardener", "gardener.graph")
    let_show(tab, "gardener", "toolbar-inline")
    tab.click("[data-entry=weekend] button")
    tab.click(".question button[value=session]")
    before = place.notes()
    assert signs(tab) == "~-+~-+"
    tab.click(".change button[value=deny]")
    assert tab.texts("#history .badge") == ["rejected", "applied"]
    tab.click("[data-entry=weekend] button")
    tab.enter(".change button[value=once]")
    assert outcome(tab)[:2] == ["gardener: weekend: applied", "DONE"]
    assert not tab.has("#changes")
    assert [each for each in tab.texts(".note p") if each.endswith(" #weekend")] == [
        each["text"] for each in place.notes() if each["text"].endswith(" #weekend")
    ]
    assert tab.texts("#history .badge") == ["applied", "rejected", "applied"]
    tab.click("#history li:first-child summary", leads=False)
    assert "#read The design of everyday things #weekend" in tab.text(
        "#history li:first-child .difference"
    )
    tab.click("#history li:first-child button")
    assert outcome(tab)[:2] == ["gardener: weekend: rolled back", "DONE"]
    assert place.notes() == before
    assert tab.complaints() == []


def arrive(tab: Tab, link: str) -> None:
    """Opens the link; again where what was loaded first is what the browser says of the killed board."""
    tab.open(link)
    for _ in range(MOST_LOADS):
        if tab.has("#notes"):
            return
        tab.open(link)


def test_a_change_that_a_crash_cut_off_is_recovered_by_clicking(place: Place) -> None:
    """CONTRACTS §3-recovery: killed in the middle of an apply; shown, looked into, applied by one more click."""
    with browser() as tab:
        running = started(place, INTERRUPTED)
        tab.look(1100, 900)
        tab.open(running.link)
        take(tab, "gardener", "gardener.graph")
        let_show(tab, "gardener", "toolbar-inline")
        tab.click("[data-entry=weekend] button")
        tab.click(".question button[value=persistent]")
        (place.folder / "stop").write_text("within")
        tab.click(".change button[value=once]", leads=False)
        appears(place.folder / "stopped")
        running.kill()
        with board_at(place) as link:
            arrive(tab, link)
            assert tab.texts("#recovery strong, #recovery .badge") == [
                "gardener: weekend",
                "was being applied",
            ]
            tab.click("#recovery button")
            assert "nothing of it had taken effect" in tab.text("#outcome")
            assert not tab.has("#recovery")
            assert signs(tab) == "~-+~-+"
            tab.click(".change button")
            assert outcome(tab)[:2] == ["gardener: weekend: applied", "DONE"]
            assert sum(each["text"].endswith("#weekend") for each in place.notes()) == 2


@pytest.mark.parametrize("width", [1100, 390])
def test_the_page_fits_the_window(tab: Tab, width: int) -> None:
    """Nothing to scroll sideways for, on a desk and on a phone, with long words of a stranger on it."""
    claims(tab)
    tab.type("textarea", "x" * 200 + " \n" + "words " * 50)
    tab.click(".adding button")
    tab.click("[data-entry=claim] button")
    for is_dark in (False, True):
        tab.look(width, 800, is_dark=is_dark)
        assert tab.value("document.documentElement.scrollWidth") <= width
    ground = tab.value("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(23, 24, 28)"
