"""Rules of plugins at work: verdicts that name them, caches that know them, never a milder answer."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import consentry
from consentry.base.canonical import digest_json
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.declare.patchbundlefile import read_bundle_json
from consentry.declare.wish import Wish
from consentry.declare.wishfile import read_wish
from consentry.examine.addedrules import NO_RULES, AddedRules
from consentry.examine.filekinds import FileKind
from consentry.examine.guard import Flags
from consentry.examine.knowledge.added import compile_added
from consentry.examine.pluginproblems import PluginRejected, Rejection
from consentry.examine.sides import Side
from consentry.examine.verdict import Status, Verdict
from consentry.service.extracting import Extractor
from consentry.service.guarding import Change, Terms, change_of_bundle, check_change
from consentry.service.guardplaces import kept_extractions
from consentry.service.patchcheck import check_patch
from consentry.service.pluginglance import rules_if_any
from consentry.service.pluginrules import rules_here, rules_of
from consentry.service.plugins import FoundRoot, loaded_root
from consentry.service.pluginsigning import plugin_policy
from consentry.service.surroundings import look_around
from tests.service.conftest import MakeAround
from tests.service.patches import adding, bundle_of, wish_of
from tests.service.pluginplants import TABLE, files_of, lock, own_root, plant
from tests.service.signing import Home, home_in

NOTES = "import math\nmath.floor(1)\n# mailto:x\n"
SEVERITY = {Status.PASS: 0, Status.UNKNOWN: 1, Status.BLOCKED: 2}


@pytest.fixture
def root(home: Path, tmp_path: Path) -> Path:
    """The user's own root, with one plugin, locked."""
    root = own_root(home)
    plant(root, "notes", files_of("notes", tmp_path / "marker"))
    lock(root)
    return root


def _verdict(source: str, rules: AddedRules) -> consentry.Verdict:
    return check_patch(adding(source), flags=Flags(), rules=rules)


@pytest.mark.usefixtures("root")
def test_a_verdict_has_what_rules_add_and_names_them(around: MakeAround) -> None:
    """The witness of the tables is another one: two verdicts show that they knew other things."""
    rules = rules_here(around())
    plain, seen = _verdict(NOTES, NO_RULES), _verdict(NOTES, rules)
    assert {each.atom.target for each in seen.delta.gained} >= {"table.test:443", "rule.test:25"}
    assert (plain.status, seen.status) == (Status.PASS, Status.BLOCKED)
    before, after = plain.witnesses[-1], seen.witnesses[-1]
    assert before.partition("#")[0] == after.partition("#")[0]
    assert before != after
    assert _verdict(NOTES, rules) == seen


def test_the_library_uses_them(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    """`check_patch`, in the environment of whoever calls; a changed plugin raises."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert consentry.check_patch(adding(NOTES)).status is Status.BLOCKED
    (root / "notes/rules/words.py").write_text("WORD = 'x'\n")
    with pytest.raises(consentry.PluginRejected):
        consentry.check_patch(adding(NOTES))
    (root / "notes").rename(home / "away")
    (root / "PLUGINS.lock").unlink()
    assert consentry.check_patch(adding(NOTES)).status is Status.PASS


def test_what_was_kept_under_other_rules_is_not_found(
    root: Path, around: MakeAround, project: Path
) -> None:
    """The cache of extractions is another one for each digest of rules."""
    here = around()
    rules = rules_here(here)
    filler = "".join(f"x{number} = {number}\n" for number in range(9000))
    jobs = [("python", (NOTES + filler).encode())]

    work = [(FileKind.PYTHON, content) for _, content in jobs]

    def read(added: AddedRules) -> tuple[int, set[str]]:
        cache = kept_extractions(here, project, added.digest)
        extractor = Extractor(lambda: cache, workers=1, tables=added.tables)
        (extraction,) = extractor(work)
        cold = Extractor(
            lambda: kept_extractions(here, project, added.digest), workers=1, tables=added.tables
        )
        assert cold(work) == [extraction]
        return cold.read, {each.atom.target for each in extraction.found}

    assert read(NO_RULES)[1] == set()
    assert read(rules)[1] == {"table.test:443"}
    assert read(NO_RULES)[1] == set()
    (root / "notes/rules/notes.toml").write_text(TABLE.replace("table.test", "other.test"))
    lock(root)
    assert read(rules_here(here))[1] == {"other.test:443"}


def test_a_repository_is_examined_with_the_users_plugins(
    root: Path, home: Path, project: Path
) -> None:
    """Also from elsewhere, by `--repository`; the state and the plugins are the user's."""
    assert root.is_dir()
    (project / "a.py").write_text(NOTES)
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    rules = rules_if_any(environ, str(project))
    assert len(rules.tables) == len(rules.looks) == 1


def test_rules_that_cannot_be_looked_for_are_not_passed_over(
    root: Path, home: Path, project: Path
) -> None:
    """Whether there are any cannot be told, so nothing is examined without them; nor is a policy taken as absent."""
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    assert rules_if_any(environ, str(project)).tables
    folder = root.parent
    folder.rename(home / "away")
    assert rules_if_any(environ, str(project)) is NO_RULES
    folder.symlink_to(folder)
    with pytest.raises(UsageProblem, match="too many levels"):
        rules_if_any(environ, str(project))
    with pytest.raises(UsageProblem, match="too many levels"):
        plugin_policy(look_around(environ))


NAMES = st.sampled_from(["os", "subprocess", "socket", "math", "json", "unknown_thing", "builtins"])
EFFECTS = st.lists(
    st.sampled_from(["net", "proc:any", "read@0/path", "env", "load=any", "-> os.path"]), max_size=2
)
MEMBERS = st.sampled_from(["system", "run", "floor", "loads", "open", "eval", "f"])
ROWS = st.lists(
    st.tuples(NAMES, EFFECTS, st.dictionaries(MEMBERS, EFFECTS, max_size=3)),
    max_size=4,
    unique_by=lambda row: row[0],
)
LINES = st.lists(
    st.builds("import {0}\n{0}.{1}('a')\n".format, NAMES, MEMBERS)
    | st.builds("from {0} import {1}\n{1}('a', 1)\n".format, NAMES, MEMBERS)
    | st.builds("{0}('1')\n".format, MEMBERS),
    min_size=1,
    max_size=4,
)


@given(rows=ROWS, before=LINES, lines=LINES)
def test_no_table_makes_an_answer_milder(
    rows: list[tuple[str, list[str], dict[str, list[str]]]], before: list[str], lines: list[str]
) -> None:
    """Whatever rows say of both versions: every power and doubt stays, the status too."""
    text = "\n".join(
        f"[[module]]\nname = '{name}'\nimport = {json.dumps(given)}\n[module.members]\n"
        + "".join(f"{member} = {json.dumps(effects)}\n" for member, effects in members.items())
        for name, given, members in rows
    )
    tables = (compile_added({"t.toml": text.encode()}),)
    rules = AddedRules(tables=tables, digest=digest_json(text))
    change = change_of_texts("".join(before), "".join((*before[1:], *lines)))
    plain = check_change(change, Terms(), Extractor())
    seen = check_change(change, Terms(rules=rules), Extractor(tables=tables))
    assert {each.atom for each in plain.delta.gained} <= {each.atom for each in seen.delta.gained}
    assert set(plain.delta.doubts) <= set(seen.delta.doubts)
    assert SEVERITY[plain.status] <= SEVERITY[seen.status]


def change_of_texts(before: str, after: str) -> Change:
    """A change of one module."""
    bundle = bundle_of({"app.py": before}, {"app.py": after})
    return change_of_bundle(read_bundle_json(json.dumps(bundle).encode()))


COVERING = '[[module]]\nname = "math"\n[module.members]\nfloor = ["net:any", "proc:any"]\n'
BEFORE = "import math\nmath.floor(1)\n"
GAINING = f"{BEFORE}import subprocess\nsubprocess.run(['rm', 'a'])\n"


@dataclass(frozen=True, slots=True)
class Everything:
    """A rule that finds every power in every file."""

    name: str = "cover/rules/all.py"

    def examine(self, _path: str, _text: str) -> list[tuple[str, str, int]]:
        """As the class says."""
        classes = [("TOOL_CLASSES", each, 1) for each in ("python", "shell", "web")]
        return [("NET_ACCESS", "*", 1), ("PROC_EXEC", "*", 1), *classes]


@pytest.mark.parametrize(
    "rules",
    [
        AddedRules(tables=(compile_added({"t.toml": COVERING.encode()}),)),
        AddedRules(looks=(Everything(),)),
    ],
    ids=["table", "python"],
)
def test_a_rule_covers_nothing_that_a_change_gains(
    rules: AddedRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In threes: what it finds in the version before hides nothing; a wish allows it; without the control it passes."""

    def verdict(after: str, wish: Wish | None = None) -> Verdict:
        terms = Terms(wish=wish, rules=rules)
        return check_change(change_of_texts(BEFORE, after), terms, Extractor(tables=rules.tables))

    blocked = verdict(GAINING)
    assert blocked.status is Status.BLOCKED
    assert {each.atom.target for each in blocked.delta.gained} >= {"rm"}
    # What only the rule knows was there before, and is not gained.
    assert verdict(f"{BEFORE}x = 1\n").status is Status.PASS

    allowed = wish_of(proc_exec="ALLOWLIST", tool_classes=["shell", "python"])
    wish = read_wish(json.dumps(allowed).encode(), "wish.json")
    assert verdict(GAINING, wish).status is Status.PASS

    monkeypatch.setattr(Side, "without_plugins", property(lambda side: side))
    assert verdict(GAINING).status is Status.PASS


# ---- evidence, through the loader


@pytest.fixture
def signing(tmp_path: Path) -> Home:
    """A user with one plugin, locked, and a policy that asks for a signer."""
    (tmp_path / "signing").mkdir()
    made = home_in(tmp_path / "signing")
    made.plugin(note="hello")
    for each in (made.folder / "config", *(made.folder / "config").rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    lock(made.plugins)
    return made


def _load(home: Home) -> int:
    content = (home.plugins / "PLUGINS.lock").read_bytes()
    return len(loaded_root(FoundRoot(home.plugins, True, content), home.around, None))


def test_the_policy_is_asked_behind_the_same_seam(signing: Home) -> None:
    """TRUST §lock-6, in threes: unsigned it is refused with 126, signed it loads, without a policy it loads."""
    assert _load(signing) == 1
    signing.ask("{signedBy: {anyOf: [author]}}")
    with pytest.raises(PluginRejected) as caught:
        _load(signing)
    assert (caught.value.reason, caught.value.exit_status) == (Rejection.UNSIGNED, 126)
    signing.sign(signing.make_key("author"))
    lock(signing.plugins)
    assert _load(signing) == 1


def test_a_policy_that_vanished_is_no_way_around_it(signing: Home) -> None:
    """What was accepted with evidence is asked for it again."""
    signing.ask("{signedBy: {anyOf: [author]}}")
    signing.sign(signing.make_key("author"))
    assert _load(signing) == 1
    signing.policy.unlink()
    for each in signing.plugins.glob("*.json"):
        each.unlink()
    with pytest.raises(PluginRejected) as caught:
        _load(signing)
    assert caught.value.exit_status == 126


def test_plugins_without_rules_bring_none(signing: Home) -> None:
    """And the digest of the tables stays what it is without plugins."""
    content = (signing.plugins / "PLUGINS.lock").read_bytes()
    found = loaded_root(FoundRoot(signing.plugins, True, content), signing.around, None)
    assert rules_of(found) is NO_RULES
