"""The command where namespaces are refused: it runs what can be held, and says what cannot."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.enforce.native import calls
from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record, put, started
from tests.denos import with_deno
from tests.enforce import hosts

pytestmark = pytest.mark.skipif(calls.landlock_abi() < 6, reason="needs Landlock's scopes")
WHY = "clone: operation not permitted (EPERM)"


@pytest.fixture
def bare(line: CommandLine) -> Iterator[CommandLine]:
    """The command on a host behind a filter, in a project that other users may enter."""
    place = Path(tempfile.mkdtemp(prefix="consentry-bare-"))
    owner = line.cwd.stat()
    try:
        place.chmod(0o755)
        (place / "project/.git").mkdir(parents=True)
        for each in (place, *place.rglob("*")):
            os.chown(each, owner.st_uid, owner.st_gid)
        options = {**line.options, "preexec_fn": hosts.behind_a_filter}
        yield CommandLine(place / "project", line.environ, options, line.program)
    finally:
        shutil.rmtree(place)


def test_the_private_view_is_refused_with_the_option_that_runs(bare: CommandLine) -> None:
    """And that option makes it run."""
    put(bare, "file", "content")
    refused = bare("exec", "--", "cat", "file")
    assert refused.status == 126
    assert Code.NOT_ENFORCEABLE.value in refused.err
    assert WHY in refused.err
    assert "--view visible" in refused.err
    ended = bare("exec", "--view", "visible", "--", "cat", "file")
    assert (ended.status, ended.out) == (0, "content")


def test_the_record_says_the_mode_and_what_held_each_control(bare: CommandLine) -> None:
    """As `why` prints it, and what was refused with it."""
    put(bare, "file", "content")
    ended = bare("exec", "--view", "visible", "--", "cat", "file", "/etc/shadow")
    assert ended.status != 0
    assert "read /etc/shadow" in ended.err
    record = last_record(bare)
    sandbox = record["sandbox"]
    assert sandbox["mode"] == "landlock-only"
    held = {each["control"]: each["mechanism"] for each in sandbox["controls"]}
    assert held["reads"].startswith("Landlock")
    assert not {"layer", "written"} & set(held)
    assert [each["path"] for each in record["impact"]["filesRead"]] == ["file"]
    assert "held, in the landlock-only mode of the engine" in bare("why", "--verbose").out


def test_a_script_of_the_user_s_own_is_given_on_standard_input(bare: CommandLine) -> None:
    """As the refusal says; one that only root may change runs as it is."""
    script = put(bare, "script.py", "print('RAN')")
    ended = bare("exec", "--view", "visible", "--", "python3", "script.py")
    if script.stat().st_uid == 0:
        assert (ended.status, ended.out) == (0, "RAN\n")
        return
    assert ended.status == 126
    assert Code.NOT_ENFORCEABLE.value in ended.err
    assert "- < script.py" in ended.err
    words = ("exec", "--view", "visible", "--", "python3", "-")
    with script.open() as given:
        out, _ = started(bare, *words, stdin=given).communicate()
    assert out == b"RAN\n"


def test_a_snippet_is_refused(bare: CommandLine) -> None:
    """With the kernel's word, and with what runs here."""
    put(bare, "script.py", "print('RAN')")
    refused = bare("code", "script.py")
    assert refused.status == 126
    assert Code.NOT_ENFORCEABLE.value in refused.err
    assert WHY in refused.err
    assert "consentry exec --view visible" in refused.err


def test_engines_and_doctor_tell_the_mode(bare: CommandLine) -> None:
    """What is lacking is a problem, and an attack on it breaks no promise."""
    ended = bare("engines", COLUMNS="100")
    assert ended.status == 0
    flat = " ".join(ended.out.replace("|", " ").split())
    assert f"native: is in its landlock-only mode here, because {WHY};" in flat
    assert "native: lacking layer: no layer can be mounted" in flat
    engines = json.loads(bare("engines", "--json").out)["engines"]
    [native] = [each for each in engines if each["name"] == "native"]
    assert (native["mode"], native["because"]) == ("landlock-only", WHY)
    assert {each["control"] for each in native["lacking"]} == {"layer", "written"}
    ended = bare("doctor", "--attack", "--json")
    assert ended.status == 1
    document = json.loads(ended.out)
    assert len(document["problems"]) == 2
    rows = {row["name"]: row for row in document["attacks"][0]["rows"]}
    assert (rows["much-written"]["promised"], rows["much-written"]["found"]) == (None, "open")
    assert all(row["found"] != "open" for row in rows.values() if row["promised"] == "blocked")


def test_a_name_is_not_looked_up_and_a_host_cannot_be_granted(bare: CommandLine) -> None:
    """There are no sockets: nobody can be asked for a name, and so no name is on record."""
    code = "import socket\ntry: socket.gethostbyname('phone.example')\nexcept OSError: print('no')"
    ended = bare("exec", "--view", "visible", "--", "python3", "-c", code)
    assert (ended.status, ended.out) == (0, "no\n"), ended
    sandbox = last_record(bare)["sandbox"]
    assert sandbox["network"] == []
    held = {each["control"]: each["mechanism"] for each in sandbox["controls"]}
    assert held["no-network"] == "seccomp refuses to make or connect sockets"
    refused = bare("exec", "--view", "visible", "--net", "phone.example", "--", "true")
    assert (refused.status, Code.NOT_ENFORCEABLE.value in refused.err) == (126, True)
    assert "cannot be led to the proxy" in refused.err


def test_deno_runs_without_namespaces_too(bare: CommandLine, tmp_path: Path) -> None:
    """A script that only root can change, by the same flags; of another a copy would be needed."""
    tmp_path.chmod(0o755)
    deno = with_deno(bare, tmp_path)
    put(deno, "one.ts", "const one: number = 1; console.log(one); Deno.readTextFileSync('/srv/x');")
    words = ["exec", "--engine", "deno", "--view", "visible"]
    ended = deno(*words, "--", "one.ts")
    if deno.cwd.stat().st_uid != 0:
        assert "`deno` cannot enforce programs" in ended.err
        assert ended.status == 126
        return
    assert ended.out == "1\n", ended.err
    assert "--deny-run" in last_record(deno)["tool"]["arguments"]
    found = last_record(deno)["sandbox"]["violations"]
    assert ("/srv/x", "reported") in [(each["resource"], each["truth"]) for each in found]
