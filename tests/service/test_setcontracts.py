"""What CONTRACTS says of permission sets, with the real sandbox, ledger and Deno: §8, §10 and §12."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from consentry.decide.capabilities import Language
from consentry.enforce.egress.ports import proxy_variables
from consentry.enforce.native.runtime import ENVIRONMENT
from consentry.service import capabilitybinding
from consentry.service.capabilityruns import CodeInSet
from consentry.service.programbinding import FIXED_ENVIRONMENT
from consentry.service.surroundings import Surroundings
from consentry.surface.permission_sets import PermissionSet, definition
from consentry.surface.protected import ProtectedRoots, protected_roots
from tests.denos import deno_or_skip
from tests.elsewhere import folder_elsewhere
from tests.service.capabilityplaces import (
    NO,
    PYTHON,
    TYPESCRIPT,
    YES,
    Workplace,
    listing,
    served,
    workplace,
)
from tests.service.conftest import MakeAround

HOST = {"PATH": "/usr/bin:/bin:/of/the/host", "SECRET": "of the host", "LANG": "xx_YY"}
LANGUAGES = (PYTHON, TYPESCRIPT)
READ = {
    PYTHON: "open(path).read()",
    TYPESCRIPT: "return Deno.readTextFileSync(path)",
}


def require(language: Language) -> None:
    """Skips what needs a program that is not here."""
    if language is not PYTHON:
        deno_or_skip()


@pytest.fixture
def place(around: MakeAround, project: Path) -> Iterator[Workplace]:
    """A ledger of its own, and a workspace; the host has variables."""
    with workplace(around(environ=HOST), project) as made:
        yield made


@contextmanager
def home_elsewhere(home: Path) -> Iterator[Workplace]:
    """A home that a box could show, because it does not lie below `/tmp`; and a workspace beside it."""
    with folder_elsewhere() as folder:
        own, project = folder / "me", folder / "project"
        for each in (own / ".ssh", project):
            each.mkdir(parents=True)
        (own / ".ssh/id").write_text("key")
        (own / "plain").write_text("plain")
        around = Surroundings(
            environ={"HOME": str(own), "PATH": "/usr/bin:/bin", "XDG_STATE_HOME": str(home)},
            cwd=project,
            uid=os.geteuid(),
        )
        with workplace(around, project) as made:
            yield made


# ---- the environment


@pytest.mark.parametrize("in_set", [each for each in PermissionSet if each != "trusted"])
def test_a_snippet_finds_our_variables_and_none_of_the_hosts(
    place: Workplace, in_set: PermissionSet
) -> None:
    """CONTRACTS §10-mcp-standard: HOME and PATH are ours, and so is what every box is made with.

    Where a set has a network, eight more say where the proxy is. The smaller sets have no less of
    it: a name is a constant, and nothing of the host.
    """
    found = place.attempt("import os\ndict(os.environ)", PYTHON, in_set).result
    assert found == ENVIRONMENT | proxy_variables(definition(in_set).surface.net_access)
    assert ENVIRONMENT.keys() == {"HOME", "PATH", "TMPDIR", "LANG"}
    assert not set(HOST.values()) & set(ENVIRONMENT.values())


ASKED = """
const found: Record<string, string | null> = {};
for (const name of ["HOME", "PATH", "SECRET", "LANG", "TMPDIR", "HTTP_PROXY", "DENO_DIR"]) {
  try { found[name] = Deno.env.get(name) ?? null; } catch (problem) { found[name] = problem.name; }
}
return found;
"""


def test_deno_finds_home_and_path_with_our_values(place: Workplace) -> None:
    """CONTRACTS §10-mcp-standard: these two and no other, not even those that the box has."""
    deno_or_skip()
    found = dict(place.attempt(ASKED, TYPESCRIPT, PermissionSet.MCP_STANDARD).result)  # type: ignore[call-overload]
    assert found.pop("HOME") == FIXED_ENVIRONMENT["HOME"]
    # Deno puts a folder of its own, inside the box, before what it was started with.
    own, _, ours = found.pop("PATH").partition(":")
    assert (ours, own.startswith("/dev/shm/")) == (FIXED_ENVIRONMENT["PATH"], True)
    assert set(found.values()) == {"NotCapable"}
    whole = place.attempt("return Deno.env.toObject()", TYPESCRIPT, PermissionSet.MCP_STANDARD)
    assert whole.error is not None
    assert whole.error.type == "NotCapable"


def test_deno_finds_no_variable_in_the_smaller_sets(place: Workplace) -> None:
    """CONTRACTS §10: the column is empty."""
    deno_or_skip()
    for in_set in ("minimal", "readonly", "filesystem", "network-api"):
        found = place.attempt(ASKED, TYPESCRIPT, PermissionSet(in_set)).result
        assert set(dict(found).values()) == {"NotCapable"}, in_set  # type: ignore[call-overload]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_keeps_the_hosts_variables_out(
    place: Workplace, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where every one is granted they are there; and where those that a set opens are not chosen."""
    require(language)
    look = {
        PYTHON: "import os\nos.environ.get('SECRET')",
        TYPESCRIPT: "try { return Deno.env.get('SECRET') ?? null } catch { return null }",
    }[language]
    within = PermissionSet.MCP_STANDARD
    assert place.attempt(look, language, within).result is None
    assert place.attempt(look, language, PermissionSet.TRUSTED).result == HOST["SECRET"]
    monkeypatch.setattr(capabilitybinding, "_variables", lambda *_: HOST)
    leaked = place.attempt("import os\nos.environ.get('SECRET')", PYTHON, within)
    assert leaked.result == HOST["SECRET"]


# ---- `trusted`


@pytest.mark.parametrize("language", LANGUAGES)
def test_trusted_reads_and_writes_the_workspace_and_has_a_tmp_of_its_own(
    place: Workplace, language: Language, tmp_path: Path
) -> None:
    """CONTRACTS §10-trusted: a saved capability that was set by hand, asked by nobody."""
    require(language)
    (tmp_path / "of-the-host").write_text("x")
    code = {
        PYTHON: (
            "import os\nopen('deep/made', 'w').write(open('beside.txt').read())\n"
            "os.remove('data/x.txt')\nopen('/tmp/mine', 'w').write('x')\n"
            "[os.listdir('/home/user'), os.path.exists(path), os.path.exists('/tmp/mine')]"
        ),
        TYPESCRIPT: (
            'Deno.writeTextFileSync("deep/made", Deno.readTextFileSync("beside.txt"));\n'
            'Deno.removeSync("data/x.txt"); Deno.writeTextFileSync("/tmp/mine", "x");\n'
            "const there = (name) => { try { Deno.statSync(name); return true } catch { return false } };\n"
            'return [[...Deno.readDirSync("/home/user")], there(path), there("/tmp/mine")];'
        ),
    }[language]
    (place.project / "deep").mkdir()
    place.save(code, language, PermissionSet.TRUSTED)
    over = place.run(arguments={"path": str(tmp_path / "of-the-host")})
    assert (over.result, over.error) == ([[], False, True], None)
    assert listing(place.project) == {"beside.txt": "beside", "deep/made": "beside"}
    assert not Path("/tmp/mine").exists()
    assert place.was_asked() == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_trusted_does_not_read_a_protected_root(home: Path, language: Language) -> None:
    """CONTRACTS §10-trusted, the attack: keys in a home that is there for it, and our own ledger."""
    require(language)
    with home_elsewhere(home) as place:
        own = Path(place.around.environ["HOME"])
        place.save(READ[language], language, PermissionSet.TRUSTED)
        for path in (own / ".ssh/id", Path("/etc/shadow"), Path("/proc/1/environ")):
            over = place.run(YES, arguments={"path": str(path)})
            assert over.error is not None, path
            assert over.result is None
        assert place.was_asked() == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_trusted_reads_what_lies_beside_it(home: Path, language: Language) -> None:
    """CONTRACTS §10-trusted, what is granted: the same home, a file that no row protects."""
    require(language)
    with home_elsewhere(home) as place:
        own = Path(place.around.environ["HOME"])
        place.save(READ[language], language, PermissionSet.TRUSTED)
        assert place.run(arguments={"path": str(own / "plain")}).result == "plain"
        for in_set in ("minimal", "readonly", "filesystem", "network-api", "mcp-standard"):
            place.save(READ[language], language, PermissionSet(in_set), name=in_set)
            over = place.run(NO, name=in_set, arguments={"path": str(own / "plain")})
            assert over.error is not None, in_set


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_the_table_trusted_would_read_it(
    home: Path, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands before the keys is the table, bound to the homes of this host."""
    require(language)

    def unbound(*_: object) -> ProtectedRoots:
        return protected_roots()

    for name in ("protected_here", "protected_in"):
        monkeypatch.setattr(capabilitybinding, name, unbound)
    with home_elsewhere(home) as place:
        key = Path(place.around.environ["HOME"], ".ssh/id")
        place.save(READ[language], language, PermissionSet.TRUSTED)
        assert place.run(arguments={"path": str(key)}).result == "key"


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("import subprocess\nsubprocess.run(['/usr/bin/true'], check=True)", PYTHON),
        ("import os\nos.execv('/usr/bin/true', ['true'])", PYTHON),
        ("return new Deno.Command('/usr/bin/true').outputSync().code", TYPESCRIPT),
        ("return Deno.dlopen('libc.so.6', { getpid: { parameters: [], result: 'i32' } })", TYPESCRIPT),
    ],
)  # fmt: skip
def test_trusted_starts_no_program_and_loads_no_library(
    place: Workplace, code: str, language: Language
) -> None:
    """CONTRACTS §10-trusted: run and ffi are in no set, and nobody is asked for them."""
    require(language)
    place.save(code, language, PermissionSet.TRUSTED)
    over = place.run(YES)
    assert over.error is not None
    assert place.was_asked() == []
    assert place.stored().permission_set is PermissionSet.TRUSTED


REACHES = {
    PYTHON: "import urllib.request as u\nu.urlopen(url, timeout=20).read().decode()",
    TYPESCRIPT: "return await (await fetch(url)).text()",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_trusted_reaches_any_host(place: Workplace, language: Language, host: str) -> None:
    """CONTRACTS §10-trusted: this machine's own services, too. Looked at from the server.

    With a list of hosts it reaches those and no other.
    """
    require(language)
    place.save(REACHES[language], language, PermissionSet.TRUSTED)
    with served() as server:
        port = server.place.rpartition(":")[2]
        arguments = {"url": f"http://{host}:{port}/x"}
        assert place.run(arguments=arguments).result == "pong"
        assert server.paths == ["/x"]
        assert place.run(arguments=arguments, network=("example.org:443",)).error is not None
        assert server.paths == ["/x"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_other_sets_reach_hosts_inside_where_they_are_named(
    place: Workplace, language: Language
) -> None:
    """CONTRACTS §10-network-api, §10-mcp-standard: any public host, or the list. As seen there."""
    require(language)
    place.save(REACHES[language], language, PermissionSet.MCP_STANDARD)
    with served() as server:
        arguments = {"url": f"http://{server.place}/x"}
        assert place.run(arguments=arguments).error is not None
        assert server.paths == []
        named = place.run(arguments=arguments, network=(server.place,))
        assert (named.result, server.paths) == ("pong", ["/x"])


# ---- the word


def test_a_set_is_no_consent(place: Workplace) -> None:
    """CONTRACTS §8-set: it is stored with the capability, and changing it is what is asked about.

    A run inside it has no consent, and a yes leaves none: what it gave is the set.
    """
    place.save("open('data/x.txt').read()")
    first = place.run(YES)
    second = place.run()
    assert (first.result, second.result) == ("in data", "in data")
    assert place.stored().permission_set is PermissionSet.READONLY
    kinds = {each["type"] for each in place.events()}
    assert {"workflow.pattern.saved", "permission.escalation.decided"} <= kinds
    assert not [each for each in kinds if each.startswith("consent.")]
    users = [each["payload"]["user"] for each in place.events("tool.audit")]
    assert {each["consentMethod"] for each in users} == {"none"}


# ---- what is taken over


WRITES = {
    PYTHON: "open('output/a', 'a').write('x')\nopen('none') if fails else 1",
    TYPESCRIPT: (
        'Deno.writeTextFileSync("output/a", "x", { append: true });\n'
        'if (fails) Deno.readTextFileSync("none"); return 1;'
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("fails", [False, True])
def test_a_code_task_is_taken_over_only_when_it_succeeds(
    home: Path, language: Language, *, fails: bool
) -> None:
    """CONTRACTS §12-commit-saved: asked after the first attempt, of which nothing is left."""
    require(language)
    wanted = CodeInSet(
        code=WRITES[language],
        language=language,
        name="task-1",
        permission_set=PermissionSet.FILESYSTEM,
        arguments={"fails": fails},
    )
    with home_elsewhere(home) as place:
        (place.project / "output").mkdir()
        over = place.task(YES, wanted)
        sets = [each.code.permission_set for each in over.attempts]
        assert sets == ["filesystem", "mcp-standard"]
        assert (over.result, over.error is None) == ((None, False) if fails else (1, True))
        assert listing(place.project / "output") == ({} if fails else {"a": "x"})
        committed = [each["payload"]["impact"]["committed"] for each in place.events("tool.audit")]
        assert committed == [False, not fails]
