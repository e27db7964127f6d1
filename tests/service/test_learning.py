"""What was learned would do, and nothing of it could be left out: shown by holding the tool to it."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.base.errors import UsageProblem
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.tool import Capabilities, ToolManifest
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.record.auditfields import ExecutionStatus
from consentry.service.commandline import RunWish, bind_wish
from consentry.service.learning import LearnWish, Lesson, learn
from consentry.service.recovering import tidying_of
from consentry.service.runledger import Run
from consentry.service.runs import Runner
from consentry.service.surroundings import own_home
from consentry.service.takeover import Arrival, TakeoverTerms
from consentry.surface.lattice import Surface
from tests.service.conftest import MakeAround
from tests.service.rehearsing import Workshop

SCRIPT = """\
#!/bin/sh
set -e
cat notes/a.txt notes/b.txt > out/all.txt
sed -i s/old/new/ out/state
echo same > out/same
rm out/gone
"""
WORDS = ("./build.sh",)
LEAVE_NOTHING = ("out/same", "out/sed??????")


@pytest.fixture
def shop(around: MakeAround, project: Path) -> Workshop:
    """A script that reads two files, changes one, rewrites one as it was, makes one, removes one."""
    for name, content in {
        "build.sh": SCRIPT,
        "notes/a.txt": "a\n",
        "notes/b.txt": "b\n",
        "out/state": "old\n",
        "out/same": "same\n",
        "out/gone": "gone\n",
    }.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(content)
    (project / "build.sh").chmod(0o755)
    return Workshop(around(environ={"PATH": "/usr/bin:/bin"}), project)


def _learned(shop: Workshop) -> Lesson:
    return learn(LearnWish(RunWish(WORDS)), shop.around, Io(keeps=True))


def _tool(lesson: Lesson) -> ToolManifest:
    return read_tool_manifest(lesson.text.encode(), "build.yaml")


def _held_to(shop: Workshop, tool: ToolManifest) -> Run:
    """The same script, with what this manifest asks for and nothing else."""
    commands = tuple(each.command for each in tool.capabilities.commands)
    bound = bind_wish(RunWish(WORDS, execute=commands), shop.project, shop.around)
    confinement = bound.confinement
    surface = replace(
        manifest_surface(tool) | Surface.of(write=["/tmp/"]),
        proc_exec=confinement.surface.proc_exec,
    )
    bound = replace(bound, confinement=replace(confinement, surface=surface), written=())
    home = own_home(shop.around).path
    with closing(NativeEngine(home, bound.protected)) as engine, shop.place() as place:
        terms = TakeoverTerms(arrival=Arrival.WHEN_COMMITTED, tidying=tidying_of(place))
        plan = engine.compile(bound.confinement)
        runner = Runner(engine, place.journal, place.state, home)
        return runner.run(bound, plan, Io(keeps=True), terms=terms)


def _did_the_same(run: Run, lesson: Lesson) -> bool:
    """Ended well, was refused nothing, and would change the same files to the same bytes."""
    effects = [
        sorted((each["path"], each["hash"]) for each in entry["impact"][which])  # type: ignore[index, call-overload, union-attr]
        for entry in (run.entry, lesson.run.entry)
        for which in ("filesWritten", "filesDeleted")
    ]
    return (
        run.status is ExecutionStatus.SUCCESS
        and not run.facts.violations
        and effects[:2] == effects[2:]
    )


def _without(tool: ToolManifest, **left: object) -> ToolManifest:
    capabilities: Capabilities = replace(tool.capabilities, **left)  # type: ignore[arg-type]
    return replace(tool, capabilities=capabilities)


def test_held_to_what_was_learned_it_does_the_same(shop: Workshop) -> None:
    """Without a refusal, and with the same effect."""
    lesson = _learned(shop)
    run = _held_to(shop, _tool(lesson))
    assert _did_the_same(run, lesson), (run.facts.violations, run.outcome.stderr)


@pytest.mark.parametrize("which", ["file_read", "file_write", "commands"])
def test_without_any_one_entry_it_does_not(shop: Workshop, which: str) -> None:
    """It fails, is refused something, or would change something else.

    The script itself is the exception: what is started can be read without being asked for.
    """
    lesson = _learned(shop)
    tool = _tool(lesson)
    entries = getattr(tool.capabilities, which)
    assert len(entries) >= 3
    for entry in entries:
        if which == "file_read" and entry.entry.written == "build.sh":
            continue
        left = tuple(each for each in entries if each is not entry)
        run = _held_to(shop, _without(tool, **{which: left}))
        # A folder that is open for a pattern takes these, too, and they leave nothing to commit.
        leaves_nothing = which == "file_write" and entry.entry.written in LEAVE_NOTHING
        assert leaves_nothing or not _did_the_same(run, lesson), entry


def test_nothing_reaches_the_workspace_but_the_manifest(shop: Workshop) -> None:
    """It was a rehearsal."""
    before = {path: path.read_bytes() for path in shop.project.rglob("*") if path.is_file()}
    lesson = _learned(shop)
    assert lesson.file is not None
    after = {path: path.read_bytes() for path in shop.project.rglob("*") if path.is_file()}
    assert after.pop(lesson.file) == lesson.text.encode()
    assert after == before
    assert lesson.run.facts.impact.rehearsal is not None


def test_a_manifest_that_grows_is_replaced_whole(shop: Workshop) -> None:
    """With the mode it had, and nothing left beside it."""
    file = _learned(shop).file
    assert file is not None
    file.chmod(0o640)
    (shop.project / "build.sh").write_text(SCRIPT + "cat notes/a.txt build.sh > out/more\n")
    assert _learned(shop).added == ("writes out/more",)
    assert file.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in file.parent.iterdir()] == ["build.yaml"]


OBEYED = (".consentry/tools/evil.yaml", ".git/hooks/pre-commit", ".git/config", ".envrc")


def test_names_that_others_obey_are_not_learned(shop: Workshop) -> None:
    """A tool that writes hooks or configuration is refused that, and its manifest does not ask for it.

    Where a person names one, it is granted: a manifest that asked for it would lift the refusal.
    """
    (shop.project / ".git").mkdir()
    (shop.project / ".git/config").write_text("[core]\n")
    writes = "".join(f"mkdir -p {Path(each).parent}\necho x > {each}\n" for each in OBEYED)
    (shop.project / "build.sh").write_text(f"#!/bin/sh\n{writes}echo x > out/new\n")
    lesson = _learned(shop)
    asked = [each.entry.written for each in _tool(lesson).capabilities.file_write]
    assert asked == ["out/new"]
    assert all(each in "".join(lesson.learned.draft.refused) for each in OBEYED)


def test_a_pattern_never_reaches_the_secrets_of_a_repository(shop: Workshop) -> None:
    """However many files of it are used: its configuration and credentials stand for themselves."""
    (shop.project / ".git").mkdir()
    (shop.project / ".git/credentials").write_text("secret\n")
    many = " ".join(f".git/f{n}" for n in range(20))
    (shop.project / "build.sh").write_text(f"#!/bin/sh\nfor f in {many}; do echo > $f; done\n")
    asked = [each.entry.written for each in _tool(_learned(shop)).capabilities.file_write]
    assert sorted(asked) == sorted(many.split())


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "a b", "A"])
def test_a_name_that_no_tool_may_have_is_refused_before_the_run(shop: Workshop, name: str) -> None:
    """It would be the name of a file elsewhere, or of a manifest that nobody can read."""
    with pytest.raises(UsageProblem, match="is not a name for a tool"):
        learn(LearnWish(RunWish(WORDS), name=name), shop.around, Io(keeps=True))
    assert not (shop.project / ".consentry").exists()


@pytest.mark.parametrize("link", [".consentry", ".consentry/tools"])
def test_a_link_in_the_workspace_leads_no_manifest_elsewhere(shop: Workshop, link: str) -> None:
    """Who brought the workspace does not choose where it is written; whoever types the line may."""
    outside = shop.project.parent / "outside"
    (outside / "tools").mkdir(parents=True)
    (shop.project / link).parent.mkdir(exist_ok=True)
    (shop.project / link).symlink_to(outside)
    with pytest.raises(UsageProblem, match="leads elsewhere"):
        _learned(shop)
    assert [each for each in outside.rglob("*") if each.is_file()] == []
    wish = LearnWish(RunWish(WORDS), out=str(outside / "named.yaml"))
    assert learn(wish, shop.around, Io(keeps=True)).file == outside / "named.yaml"
