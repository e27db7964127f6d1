"""One attempt of code in one permission set, on the real engines."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.enforce.confinement import Limits
from consentry.enforce.native.streamends import Io
from consentry.enforce.streams import MOST_KEPT
from consentry.record.auditfields import ExecutionStatus
from consentry.service import capabilitybinding
from consentry.service.capabilityruns import CodeInSet, CodePlace, run_in_set
from consentry.service.rundecision import InSet, by_permission_set
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import DIGEST
from tests.denos import deno_or_skip
from tests.service.capabilityplaces import (
    PYTHON,
    TYPESCRIPT,
    Language,
    Workplace,
    listing,
    served,
    workplace,
)
from tests.service.conftest import MakeAround

SETS = tuple(PermissionSet)
LANGUAGES = (PYTHON, TYPESCRIPT)
OWN = f"/tmp/of-an-attempt-{os.getpid()}"
LOOKS = {
    PYTHON: """
import os
def can(do):
    try:
        do()
    except (OSError, KeyError):
        return False
    return True
read = lambda name: lambda: open(name).read()
write = lambda name: lambda: open(name, "w").write("x")
[can(each) for each in (
    read("data/x.txt"), read("beside.txt"), read(outside), write(own), write("output/x"),
    write("made.txt"), lambda: os.environ["OF_A_TEST"],
)]
""",
    TYPESCRIPT: """
const can = (what: () => unknown) => { try { return what() !== undefined; } catch { return false; } };
const read = (name: string) => () => Deno.readTextFileSync(name);
const write = (name: string) => () => { Deno.writeTextFileSync(name, "x"); return 1; };
return [
  read("data/x.txt"), read("beside.txt"), read(outside), write(own), write("output/x"),
  write("made.txt"), () => Deno.env.get("OF_A_TEST"),
].map(can);
""",
}
MAY = {
    "minimal": [False, False, False, False, False, False, False],
    "readonly": [True, False, False, False, False, False, False],
    "filesystem": [True, True, False, True, False, False, False],
    "network-api": [False, False, False, False, False, False, False],
    "mcp-standard": [True, True, False, True, True, False, False],
    "trusted": [True, True, True, True, True, True, True],
}


@pytest.fixture
def place(around: MakeAround, project: Path) -> Iterator[Workplace]:
    """A ledger of its own, a workspace, and a variable that belongs to the caller."""
    environ = {"PATH": "/usr/bin:/bin", "OF_A_TEST": "its value"}
    with workplace(around(environ=environ), project) as made:
        yield made


@pytest.fixture
def outside() -> Iterator[Path]:
    """A file of the host that is neither temporary, nor protected, nor in the workspace."""
    if not os.access("/srv", os.W_OK):
        pytest.skip("there is no place outside that is neither temporary nor protected")
    file = Path(f"/srv/of-an-attempt-{os.getpid()}")
    file.write_text("outside")
    yield file
    file.unlink()


def require(language: Language) -> None:
    """Skips what needs a program that is not here."""
    if language is not PYTHON:
        deno_or_skip()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", MAY)
def test_what_a_set_opens(place: Workplace, outside: Path, language: Language, name: str) -> None:
    """CONTRACTS §10: by doing it, in both languages; checked from outside what was written."""
    require(language)
    (place.project / "output").mkdir()
    arguments = {"outside": str(outside), "own": OWN}
    attempt = place.attempt(LOOKS[language], language, PermissionSet(name), arguments=arguments)
    assert attempt.error is None
    assert attempt.result == MAY[name]
    assert (place.project / "output/x").exists() == MAY[name][4]
    assert (place.project / "made.txt").exists() == MAY[name][5]
    assert not Path(OWN).exists()
    assert attempt.run.facts.bound.profile == f"set:{name}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_permit_names_the_code_and_the_words(place: Workplace, language: Language) -> None:
    """Arguments are recorded and bound; the script's bytes are hashed as they run."""
    require(language)
    code = {PYTHON: "n + 1", TYPESCRIPT: "return n + 1"}[language]
    attempt = place.attempt(code, language, arguments={"n": 41})
    assert attempt.result == 42
    permit = attempt.run.facts.permit
    assert permit.order.arguments[-2:] == ("--arg", "n=41")
    assert permit.order.subject == "capability:capability-of-a-test"
    named = "snippet" if language is PYTHON else "/capability/it.ts"
    assert named in permit.order.digests
    assert attempt.run.entry["tool"]["name"] == "it"  # type: ignore[index, call-overload]


def test_a_script_lies_in_no_file(place: Workplace) -> None:
    """Neither in the workspace nor elsewhere on the host, and inside under a name of its own."""
    deno_or_skip()
    before = listing(place.project)
    code = 'return [import.meta.url, [...Deno.readDirSync(".")].map((each) => each.name).sort()]'
    attempt = place.attempt(code, TYPESCRIPT, PermissionSet.FILESYSTEM)
    assert attempt.result == ["file:///capability/it.ts", ["beside.txt", "data"]]
    assert listing(place.project) == before
    assert not Path("/capability").exists()


def test_a_script_cannot_be_read_or_changed_by_itself_in_minimal(place: Workplace) -> None:
    """The program's own file is all there is, and Deno opens it for itself alone."""
    deno_or_skip()
    for code in (
        "return Deno.readTextFileSync(new URL(import.meta.url))",
        'Deno.writeTextFileSync(new URL(import.meta.url), "x")',
    ):
        attempt = place.attempt(code, TYPESCRIPT)
        assert attempt.error is not None
        assert attempt.error.type == "NotCapable"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_fails_is_discarded_and_what_succeeds_is_taken_over(
    place: Workplace, language: Language
) -> None:
    """CONTRACTS §12: saved capabilities and code tasks commit only on success."""
    require(language)
    code = {
        PYTHON: "open('output/a', 'w').write('a')\n1 / n",
        TYPESCRIPT: 'Deno.writeTextFileSync("output/a", "a"); if (!n) throw new Error(); return 1',
    }[language]
    opened = PermissionSet.MCP_STANDARD
    failed = place.attempt(code, language, opened, arguments={"n": 0})
    assert failed.run.status is ExecutionStatus.FAILURE
    assert "wrote output/a, which was discarded" in failed.so_far
    assert not (place.project / "output").exists()
    done = place.attempt(code, language, opened, arguments={"n": 1})
    assert done.is_success
    assert "wrote output/a" in done.so_far
    assert (place.project / "output/a").read_text() == "a"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_limit_ends_it_and_is_not_asked_about(place: Workplace, language: Language) -> None:
    """Nothing is taken over, and there is no denial to speak of."""
    require(language)
    code = {
        PYTHON: "open('output/a', 'w').write('a')\nwhile True: pass",
        TYPESCRIPT: 'Deno.writeTextFileSync("output/a", "a"); for (;;);',
    }[language]
    attempt = place.attempt(
        code, language, PermissionSet.MCP_STANDARD, limits=Limits(wall_seconds=1)
    )
    assert attempt.run.status is ExecutionStatus.TIMEOUT
    assert attempt.denial is None
    assert attempt.error is not None
    assert not (place.project / "output").exists()


def test_the_denial_is_the_one_that_the_error_names(place: Workplace) -> None:
    """Of several, the one whose resource the failing exception names."""
    code = (
        "def tried(name):\n    try:\n        open(name)\n    except OSError:\n        pass\n"
        "tried('data/x.txt')\n"
        "try:\n    open('beside.txt')\nexcept OSError as problem:\n    found = problem\n"
        "tried('data/later.txt')\ntried('data/x.txt')\nraise found"
    )
    (place.project / "data/later.txt").write_text("later")
    attempt = place.attempt(code)
    assert attempt.denial == (
        f"PermissionDenied: Requires read access to {place.project}/beside.txt"
    )


def test_without_a_name_the_last_denial_counts(place: Workplace) -> None:
    """An error that names nothing of it."""
    code = (
        "def tried(name):\n    try:\n        open(name)\n    except OSError:\n        pass\n"
        "tried('data/x.txt')\ntried('beside.txt')\nraise ValueError('nothing to work on')"
    )
    attempt = place.attempt(code)
    assert attempt.denial is not None
    assert attempt.denial.endswith("/beside.txt")


def test_a_host_is_denied_by_its_name(place: Workplace) -> None:
    """The record names the host that was asked for, though the code never got an address."""
    code = "import urllib.request\nurllib.request.urlopen('http://api.example.com/')"
    attempt = place.attempt(code)
    assert attempt.denial == "PermissionDenied: Requires net access to api.example.com"


def test_what_it_did_is_told_in_few_words(place: Workplace) -> None:
    """Many files are named as a few and a number."""
    for number in range(30):
        (place.project / f"data/{number:02}").write_text("x")
    code = "import os\n[open(f'data/{name}').read() for name in sorted(os.listdir('data'))]\n1 / 0"
    attempt = place.attempt(code, PYTHON, PermissionSet.READONLY)
    assert attempt.so_far[0] == "read data/00"
    assert attempt.so_far[-1] == "read 26 more"
    assert len(attempt.so_far) == 6


def test_hosts_that_were_reached_are_told(place: Workplace) -> None:
    """As the proxy saw it."""
    with served() as server:
        code = f"import urllib.request\nurllib.request.urlopen('http://{server.place}/y').read()\n1 / 0"
        attempt = place.attempt(code, PYTHON, PermissionSet.NETWORK_API, network=(server.place,))
        assert server.paths == ["/y"]
    assert f"reached {server.place}" in attempt.so_far


def test_a_task_may_be_given_paths_to_read(place: Workplace) -> None:
    """ESCALATION §code-config: `allowedReadPaths`, whatever its set; what is beside them stays closed."""
    code = "open('data/x.txt').read(), open('beside.txt').read()"
    closed = place.attempt(code, PYTHON, read=("data",))
    assert closed.denial is not None
    assert closed.denial.endswith("/beside.txt")
    assert place.attempt(code, PYTHON, read=("data", "beside.txt")).result == ["in data", "beside"]


def test_a_protected_path_is_given_to_no_task(place: Workplace) -> None:
    """Refused before anything runs, and on record."""
    with pytest.raises(Refused) as raised:
        place.attempt("1", PYTHON, read=("/etc/shadow",))
    assert raised.value.code is Code.PROTECTED_ROOT


@pytest.mark.parametrize("arguments", [{"not a name": 1}, {"n": object()}, {"n": "x" * (1 << 17)}])
@pytest.mark.parametrize("language", LANGUAGES)
def test_bad_arguments_are_one_error(
    place: Workplace, language: Language, arguments: dict[str, Any]
) -> None:
    """Said before anything is permitted."""
    require(language)
    with pytest.raises(UsageProblem):
        place.attempt("1", language, arguments=arguments)
    assert place.events("permit.made") == []


def test_output_goes_where_it_is_led(place: Workplace) -> None:
    """To a descriptor, without the result, in both languages."""
    deno_or_skip()
    reader, writer = os.pipe()

    @contextmanager
    def led(_: str) -> Iterator[Io]:
        yield Io(stdout=writer, stderr=writer)

    said = InSet(
        capability_id="x",
        name="it",
        code_hash=DIGEST,
        permission_set=PermissionSet.MINIMAL,
        execution_id="execution-x",
    )
    decision = by_permission_set("capability:x", said)
    with CodePlace(place.journal, place.around) as shared:
        for language, code in (
            (PYTHON, "print('hi')\n1"),
            (TYPESCRIPT, "console.log('hi'); return 1"),
        ):
            wanted = CodeInSet(code=code, language=language, name="it")
            attempt = run_in_set(shared, wanted, decision, led)
            assert attempt.result == 1
            assert os.read(reader, 1000) == b"hi\n"
    os.close(reader)
    os.close(writer)


def test_without_deno_it_says_so(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear refusal, with what to install; on record, because it was understood."""

    def missing(_: object) -> Path:
        raise Refused(Code.NOT_ENFORCEABLE, "the engine `deno` is not here: none")

    monkeypatch.setattr(capabilitybinding, "require_deno", missing)
    with pytest.raises(Refused, match="is not here"):
        place.attempt("return 1", TYPESCRIPT)
    assert place.events("tool.audit")[-1]["payload"]["execution"]["status"] == "denied"


def test_a_result_is_found_behind_more_than_is_kept(place: Workplace) -> None:
    """What is printed is kept up to a bound; what code gives back after that is not lost."""
    deno_or_skip()
    code = (
        "const line = 'x'.repeat(1 << 20); for (let n = 0; n < 18; n++) console.log(line); return 7"
    )
    attempt = place.attempt(code, TYPESCRIPT)
    assert (attempt.is_success, attempt.result) == (True, 7)
    assert len(attempt.run.outcome.stdout) == MOST_KEPT
    assert not attempt.run.outcome.output_complete


def test_a_result_is_no_output(place: Workplace) -> None:
    """All that the code printed is there, so nothing is said to be missing."""
    deno_or_skip()
    attempt = place.attempt("console.log('said'); return 'x'.repeat(1000)", TYPESCRIPT)
    assert attempt.run.outcome.stdout == b"said\n"
    assert attempt.run.outcome.output_complete
