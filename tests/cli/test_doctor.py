"""`consentry doctor` in a real process: well, ill, and with the attacks."""

import json
from pathlib import Path

import pytest

from consentry.enforce.attackcard import ATTACKS
from tests.cli.conftest import CommandLine
from tests.enforce import hosts
from tests.enforce.shownfolders import made_folder, shown_folder


def test_a_good_host_lacks_nothing(consentry: CommandLine) -> None:
    """Status 0, and one line on each thing that was looked at."""
    ended = consentry("doctor")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == "nothing is missing"
    assert [line.split()[0] for line in lines[2:6]] == [
        "native",
        "ledger",
        "documents",
        "attestation",
    ]


def test_looking_makes_nothing(consentry: CommandLine, home: Path, project: Path) -> None:
    """Neither state nor anything in the workspace."""
    consentry("doctor", "--attack")
    assert list(home.iterdir()) == []
    assert [path.name for path in project.iterdir()] == [".git"]


def test_quiet_prints_nothing_when_all_is_well(consentry: CommandLine) -> None:
    """With the attacks as well."""
    ended = consentry("doctor", "--attack", "--quiet")
    assert (ended.status, ended.out, ended.err) == (0, "", "")


def test_attack_prints_each_attack_beside_the_promise(consentry: CommandLine) -> None:
    """Every row promises `blocked`, and on a good host every row found so."""
    ended = consentry("doctor", "--attack", COLUMNS="200")
    assert (ended.status, ended.err) == (0, "")
    first = ended.out.index("\nnative", ended.out.index("attestation"))
    head, *card = ended.out[first + 1 :].splitlines()
    rows = [line.split() for line in card[: len(ATTACKS)]]
    assert [row[0] for row in rows] == [attack.name for attack in ATTACKS]
    assert {row[1] for row in rows} == {"blocked"}
    ways = head.split()[2:-1]
    assert ways in (["private", "direct"], ["private", "visible", "direct"])
    for number, way in enumerate(ways):
        opened = {row[0] for row in rows if row[2 + number] not in ("blocked", "untried")}
        assert opened == ({"much-written"} if way == "direct" else set())
    assert "direct: much-written is open, and not promised" in ended.out


def test_attack_with_verbose_says_what_is_tried(consentry: CommandLine) -> None:
    """In the words of the attack."""
    out = consentry("doctor", "--attack", "--verbose", COLUMNS="200").out
    assert "blocked   blocked   ENOENT: read /etc/shadow\n" in out


def test_json_has_the_card_only_when_it_is_asked_for(consentry: CommandLine) -> None:
    """Each row with what was promised and what was found."""
    plain = json.loads(consentry("doctor", "--json").out)
    assert (plain["kind"], plain["ok"], plain["problems"]) == ("doctor", True, [])
    assert plain["attacks"] is None
    cards = json.loads(consentry("doctor", "--attack", "--json").out)["attacks"]
    assert [(each["engine"], each["way"]) for each in cards] == [
        ("native", "private"),
        ("native", "visible"),
        ("native", "direct"),
    ]
    private, visible, direct = cards
    assert len(private["rows"]) == len(direct["rows"]) == len(ATTACKS)
    assert all(row["promised"] == "blocked" != row["said"] for row in private["rows"])
    assert [row["name"] for row in direct["rows"] if row["promised"] is None] == ["much-written"]
    assert (visible["rows"] is None) == (visible["why"] is not None)


NOT_IN_SIGHT = """
import sys
from tests.enforce import cards
from consentry.service import engines
engines._OFTEN_IN_SIGHT = ()
from consentry.cli.main import main
sys.argv = ["consentry", "doctor", "--attack"]
try:
    main()
except SystemExit as leaving:
    print("status", leaving.code)
"""


@pytest.mark.parametrize("uid", hosts.users())
def test_a_view_without_a_place_to_try_it_is_said_not_to_be_tried(uid: int) -> None:
    """And is no broken promise."""
    out = hosts.run_as(
        uid, NOT_IN_SIGHT, COLUMNS="100", HOME="/nonexistent", CONSENTRY_STATE="/none"
    )
    assert "visible: not tried: this user can make no folder that such a run has in sight" in out


@pytest.mark.skipif(shown_folder() is None, reason="this user can write no folder it shows")
@pytest.mark.parametrize("uid", hosts.users())
def test_a_promise_of_another_view_is_held_against_it(uid: int) -> None:
    """Without Landlock files in sight are read, and the command says in which view."""
    with made_folder(uid) as folder:
        script = (
            "from tests.enforce.cards import Weakening, _no_landlock, _weaken\n"
            "_weaken(Weakening(_no_landlock, frozenset()))\n"
            "from pathlib import Path\nfrom consentry.service import engines\n"
            f"engines._OFTEN_IN_SIGHT = (Path({str(folder)!r}),)\n"
        ) + NOT_IN_SIGHT.replace("engines._OFTEN_IN_SIGHT = ()\n", "")
        out = hosts.run_as(uid, script, COLUMNS="100", CONSENTRY_STATE="/none")
        assert not any(folder.iterdir())
    flat = " ".join(out.replace("|", " ").split())
    assert "in `native` with the view `visible` a program could read a file that was not" in flat
    assert flat.endswith("status 1")


WEAKENED = """
import sys
from tests.enforce import cards
cards._weaken(cards.WEAKENINGS["environment"])
from consentry.cli.main import main
sys.argv = ["consentry", "doctor", "--attack"]
try:
    main()
except SystemExit as leaving:
    print("status", leaving.code)
"""


@pytest.mark.parametrize("uid", hosts.users())
def test_a_broken_promise_is_status_1(uid: int) -> None:
    """With a control taken away the same command says what a program could do, and fails."""
    out = hosts.run_as(uid, WEAKENED, COLUMNS="100", CONSENTRY_STATE="/nonexistent")
    assert "secret           blocked   open " in out
    flat = " ".join(out.replace("|", " ").split())
    assert "in `native` a program could see the caller's environment: saw " in flat
    assert "`native` does not hold `environment`" in flat
    assert flat.endswith("status 1")


@pytest.mark.parametrize("words", [(), ("--attack",)])
def test_an_ordinary_user_is_well_too(as_nobody: CommandLine, words: tuple[str, ...]) -> None:
    """And is told where a watcher stands in for the kernel."""
    ended = as_nobody("doctor", *words)
    assert ended.status == 0, ended.out + ended.err


def test_a_host_without_namespaces_and_landlock_is_status_1_with_what_to_do(
    consentry: CommandLine,
) -> None:
    """One problem, with the kernel's word; the attacks could not be made, and that is said."""
    consentry.options["preexec_fn"] = hosts.behind_a_filter_without_landlock
    ended = consentry("doctor", "--attack", COLUMNS="100")
    assert (ended.status, ended.err) == (1, "")
    flat = " ".join(ended.out.replace("|", " ").split())
    assert "1 problem, listed at the end" in flat
    assert "native: no box could be made, so nothing was tried in one" in flat
    assert "[engine-failed] `native` can make no box here: this kernel has no Landlock" in flat
    document = json.loads(consentry("doctor", "--attack", "--json").out)
    [private] = document["attacks"]
    assert (private["way"], private["rows"]) == ("private", None)


def test_an_open_state_directory_is_found(consentry: CommandLine, home: Path) -> None:
    """Once, though the ledger stumbles over it as well."""
    state = home / ".local/state/consentry"
    state.mkdir(parents=True)
    state.chmod(0o755)
    ended = consentry("doctor", "--quiet")
    assert ended.status == 1
    assert ended.out.count("[state-unsafe]") == 1


def test_a_ledger_that_is_none_is_found(consentry: CommandLine, home: Path) -> None:
    """With its code and what to do."""
    state = home / ".local/state/consentry"
    state.mkdir(parents=True, mode=0o700)
    (state / "ledger.db").write_bytes(b"no database" * 100)
    ended = consentry("doctor")
    assert ended.status == 1
    assert "ledger       cannot be read\n" in ended.out
    assert "[ledger-corrupt]" in ended.out


def test_a_document_of_ones_own_that_cannot_be_read_is_found(
    consentry: CommandLine, home: Path
) -> None:
    """Every mistake in it, with file, line and column."""
    folder = home / ".config/consentry"
    folder.mkdir(parents=True)
    document = folder / "sandbox-config.yaml"
    document.write_text("sandboxConfig:\n  engine: nativ\n  colour: red\n", encoding="utf-8")
    ended = consentry("doctor", "--json")
    assert ended.status == 1
    problems = json.loads(ended.out)["problems"]
    assert {problem["code"] for problem in problems} == {"document-invalid"}
    assert any(f"{document}:2:" in problem["message"] for problem in problems)
    assert any("colour" in problem["message"] for problem in problems)


@pytest.mark.parametrize(
    "name",
    ["consent-config", "tool-manifest", "policy", "settings", "tools/broken"],
)
def test_every_kind_of_document_is_looked_at(consentry: CommandLine, home: Path, name: str) -> None:
    """As what it is: each is refused for a key that it does not have."""
    document = home / f".config/consentry/{name}.yaml"
    document.parent.mkdir(parents=True)
    document.write_text("colour: red\n", encoding="utf-8")
    problems = json.loads(consentry("doctor", "--json").out)["problems"]
    assert any(f"{document}:1:1: colour" in problem["message"] for problem in problems)


def test_a_document_of_the_workspace_that_cannot_be_read_is_a_problem(
    consentry: CommandLine, project: Path
) -> None:
    """It would stop every tool here, so it is told with its place."""
    (project / ".consentry").mkdir()
    document = project / ".consentry/sandbox-config.yaml"
    document.write_text("{", encoding="utf-8")
    found = json.loads(consentry("doctor", "--json").out)
    [problem] = found["problems"]
    assert (problem["code"], str(document) in problem["message"]) == ("document-invalid", True)


def test_a_named_workspace_that_is_none_is_wrong_usage(consentry: CommandLine) -> None:
    """An error, and no box is started for it."""
    assert consentry("doctor", "--workspace", "nowhere").status == 2
