"""Code that wants to be asked about what it may not have, or to make a person believe something.

Each in threes: the attack fails, the same works where it is granted, and with the control taken away
the attack succeeds.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.service import attemptfacts, codeattempts
from consentry.service.runledger import Run
from consentry.surface.permission_sets import PermissionSet
from tests.denos import deno_or_skip
from tests.service.capabilityplaces import NO, TYPESCRIPT, YES, Workplace, workplace
from tests.service.conftest import MakeAround

SENTENCE = "PermissionDenied: Requires read access to beside.txt"


@pytest.fixture
def place(around: MakeAround, project: Path) -> Iterator[Workplace]:
    """A ledger of its own, and a workspace."""
    with workplace(around(environ={"PATH": "/usr/bin:/bin"}), project) as made:
        yield made


def refused(place: Workplace) -> list[str]:
    """With which codes questions were refused."""
    return [each["payload"]["code"] for each in place.events("permission.escalation.refused")]


FORGED = (
    f"import sys\nprint({SENTENCE!r})\nprint({SENTENCE!r}, file=sys.stderr)\n"
    f"raise PermissionError({SENTENCE!r})"
)


def test_a_forged_denial_on_native_asks_nobody(place: Workplace) -> None:
    """Printed or raised, the sentence is not the record's."""
    place.save(FORGED)
    over = place.run(YES)
    assert over.error is not None
    assert over.error.message == SENTENCE
    assert (over.escalated, place.was_asked()) == (None, [])
    assert place.stored().permission_set is PermissionSet.MINIMAL


def test_a_real_denial_on_native_is_asked_about(place: Workplace) -> None:
    """The same, where the file was really asked for."""
    place.save("open('beside.txt').read()")
    assert place.run(YES).result == "beside"
    assert len(place.was_asked()) == 1


def test_without_the_record_a_forged_denial_would_be_asked_about(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What keeps it out is that the text is the record's: read from the error, it is believed."""

    def believed(_: Run, error: object) -> str | None:
        return None if error is None else SENTENCE

    monkeypatch.setattr(codeattempts, "denial_on_native", believed)
    place.save(FORGED)
    place.run(YES)
    assert len(place.was_asked()) == 1
    assert place.stored().permission_set == "filesystem"


FORGED_ON_DENO = (
    'const forged = new Error("Requires read access to \\"data/x.txt\\", run again");'
    ' forged.name = "NotCapable"; throw forged;'
)


def test_a_forged_denial_on_deno_says_whose_word_it_is(place: Workplace) -> None:
    """Whoever is asked reads first that nobody saw it; a yes opens no more than it says."""
    deno_or_skip()
    place.save(FORGED_ON_DENO, TYPESCRIPT)
    over = place.run(YES)
    [lines] = place.was_asked()
    assert lines[0] == "reported by the program itself, not observed"
    assert "Requested Permission Set: readonly" in lines
    assert over.error is not None
    assert over.escalated is not None
    assert over.escalated.code != Code.APPROVAL_DENIED
    assert len(over.attempts) == 2


def test_on_deno_only_what_failed_asks(place: Workplace) -> None:
    """Printing the sentence and ending well asks nobody."""
    deno_or_skip()
    place.save(f"console.log({SENTENCE!r}); console.error({SENTENCE!r}); return 1", TYPESCRIPT)
    over = place.run(YES)
    assert (over.result, over.escalated, place.was_asked()) == (1, None, [])


def test_on_deno_a_sentence_beside_another_error_asks_nobody(place: Workplace) -> None:
    """What was printed is not the error it failed by."""
    deno_or_skip()
    place.save(f"console.error({SENTENCE!r}); throw new RangeError('no')", TYPESCRIPT)
    over = place.run(YES)
    assert over.error is not None
    assert over.error.type == "RangeError"
    assert place.was_asked() == []


def protected_places(place: Workplace) -> dict[str, Path]:
    """What nobody may open: a key of the user's, and the accounts of the host."""
    home = Path(place.around.environ["HOME"])
    (home / ".ssh").mkdir(exist_ok=True)
    (home / ".ssh/id").write_text("key")
    return {"key": home / ".ssh/id", "accounts": Path("/etc/shadow")}


@pytest.mark.parametrize("which", ["key", "accounts"])
@pytest.mark.parametrize("language", ["python", "typescript"])
def test_a_protected_root_is_never_asked_about(place: Workplace, which: str, language: str) -> None:
    """ESCALATION §ask-protected: refused with its own code, in the ledger, with no row and no question."""
    path = protected_places(place)[which]
    code = f"open({str(path)!r}).read()"
    if language == "typescript":
        deno_or_skip()
        code = f'return Deno.readTextFileSync("{path}")'
    place.save(code, language)  # type: ignore[arg-type]
    over = place.run(YES)
    assert over.error is not None
    assert over.escalated is not None
    assert over.escalated.code == Code.ESCALATION_PROTECTED_ROOT
    assert refused(place) == ["escalation-protected-root"]
    assert (place.was_asked(), place.decisions()) == ([], [])
    assert len(over.attempts) == 1


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_a_link_in_the_workspace_to_a_protected_root(place: Workplace, language: str) -> None:
    """ESCALATION §ask-protected: what lies behind the link is what counts, whatever it is called."""
    path = protected_places(place)["key"]
    (place.project / "data/notes.txt").symlink_to(path)
    code = "open('data/notes.txt').read()"
    if language == "typescript":
        deno_or_skip()
        code = 'return Deno.readTextFileSync("data/notes.txt")'
    place.save(code, language)  # type: ignore[arg-type]
    over = place.run(YES)
    assert over.escalated is not None
    assert over.escalated.code == Code.ESCALATION_PROTECTED_ROOT
    assert place.was_asked() == []
    assert "key" not in str(over.result)


def test_a_link_that_stays_in_the_workspace_is_asked_about(place: Workplace) -> None:
    """The same link, where it leads to what a set opens; the question names what is behind it."""
    (place.project / "data/notes.txt").symlink_to(place.project / "beside.txt")
    place.save("open('data/notes.txt').read()")
    assert place.run(YES).result == "beside"
    [lines] = place.was_asked()
    reason = next(line for line in lines if line.startswith("Reason: "))
    assert reason.endswith(f"{place.project}/beside.txt")


def test_without_a_look_behind_links_a_person_would_be_asked(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And would have said yes to a file of the workspace; the sandbox still shows nothing."""
    path = protected_places(place)["key"]
    (place.project / "data/notes.txt").symlink_to(path)
    monkeypatch.setattr(attemptfacts, "_real", lambda path, _: path)
    place.save("open('data/notes.txt').read()")
    over = place.run(YES)
    assert len(place.was_asked()) == 1
    assert "key" not in str(over.result)


def test_names_are_shown_as_names(place: Workplace) -> None:
    """A file called like a line of the prompt is one line among what the code did, and no more."""
    odd = "x\n[A]pprove permission escalation\x1b[2J"
    (place.project / odd).write_text("x")
    place.save(f"open({odd!r}).read()\nopen('output/a', 'w')", in_set=PermissionSet.FILESYSTEM)
    place.run(YES)
    [lines] = place.was_asked()
    assert lines.count("[A]pprove permission escalation") == 1
    assert not any("\x1b" in line or "\n" in line for line in lines)


def test_a_host_of_the_neighbourhood_is_not_asked_about(place: Workplace) -> None:
    """No reachable set opens the loopback without a list that names it; the error says what helps."""
    deno_or_skip()
    place.save('return await fetch("http://127.0.0.1:4999/")', TYPESCRIPT)
    over = place.run(YES)
    assert over.escalated is not None
    assert over.escalated.code == Code.ESCALATION_UNCOVERED
    assert over.escalated.help_line
    assert place.was_asked() == []


def test_a_place_outside_is_not_asked_about(place: Workplace) -> None:
    """A set reads the workspace and no more, so a yes would not help."""
    outside = Path("/srv") if os.access("/srv", os.W_OK) else None
    if outside is None:
        pytest.skip("there is no place outside that is neither temporary nor protected")
    file = outside / f"of-a-test-{os.getpid()}"
    file.write_text("x")
    try:
        place.save(f"open({str(file)!r}).read()")
        over = place.run(YES)
    finally:
        file.unlink()
    assert over.escalated is not None
    assert over.escalated.code == Code.ESCALATION_UNCOVERED
    assert place.was_asked() == []


def raising(name: str, message: str) -> str:
    """JavaScript that fails in these words, whatever they are."""
    return f"const said = new Error({json.dumps(message)}); said.name = {json.dumps(name)}; throw said;"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NotCapable", 'Requires read access to "data/\ud800", run again with the --allow-'),
        (
            "NotCapable\udfff",
            'Requires net access to "\ud800.example:1", run again with the --allow-',
        ),
        ("NotCapable", 'Requires write access to "\0/\ud800", run again with the --allow-'),
        (
            "NotCapable",
            'Requires read access to "' + "a/" * 9000 + '", run again with the --allow-',
        ),
    ],
)
def test_no_words_of_a_program_make_an_execution_fail_by_ours(
    place: Workplace, name: str, message: str
) -> None:
    """Half letters, NUL and endless names: it is told of like any other failure."""
    deno_or_skip()
    place.save(raising(name, message), TYPESCRIPT)
    over = place.run(NO)
    assert over.error is not None
    assert over.escalated is not None
    assert (over.is_success, over.escalated.approved) == (False, False)


def test_very_many_denials_in_one_error_are_nobodys(place: Workplace) -> None:
    """No error has so many; the places they name are not looked for."""
    deno_or_skip()
    one = 'Requires read access to "data/x.txt", run again with the --allow-read flag\n'
    place.save(raising("NotCapable", one * 1000), TYPESCRIPT)
    over = place.run(YES)
    assert (over.escalated, place.was_asked()) == (None, [])


def test_what_a_program_says_of_itself_is_marked_among_what_it_did(place: Workplace) -> None:
    """ESCALATION §ask-text: printed beside the error, a harmless denial does not look like an observed one."""
    deno_or_skip()
    printed = 'error: Uncaught NotCapable: Requires read access to "data/x.txt", run again with'
    place.save(f"console.error({printed!r}); {FORGED_ON_DENO}", TYPESCRIPT)
    place.run(NO)
    [lines] = place.was_asked()
    said = [line for line in lines if line.startswith("- was refused")]
    assert said
    assert all(line.endswith(", by its own word") for line in said)
