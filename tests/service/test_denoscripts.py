"""A script for Deno from the library, and which words a line becomes."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from consentry.base.errors import ConsentryError, Refused
from consentry.declare.profile import EngineName
from consentry.enforce.denoflags import OWN_VARIABLES
from consentry.service import denoscripts
from consentry.service.calloptions import ExecOptions
from consentry.service.commandline import RunWish, bind_wish
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings
from tests.denos import deno_or_skip
from tests.service.conftest import MakeAround


@pytest.fixture
def here(around: MakeAround) -> Surroundings:
    """Somebody with Deno on PATH, in the project."""
    return around(environ={"PATH": f"{deno_or_skip().parent}:/usr/bin:/bin", "LANG": "de"})


@pytest.fixture
def library() -> Iterator[Library]:
    """One library, closed when the test is over."""
    with closing(Library()) as found:
        yield found


def wish(*words: str) -> RunWish:
    """A line for the engine."""
    return RunWish(words=words, engine=EngineName.DENO)


def test_the_words_are_made_when_it_is_bound(here: Surroundings, project: Path) -> None:
    """What a permit binds is what is started: the program, its flags, the file, the script's words."""
    (project / "x.ts").write_text("")
    bound = bind_wish(wish("x.ts", "word"), project, here)
    program = bound.confinement.program
    assert program.words[:2] == (str(deno_or_skip()), "run")
    assert program.words[-2:] == (str(project / "x.ts"), "word")
    assert project / "x.ts" in program.copies
    assert dict(bound.confinement.environment).items() >= OWN_VARIABLES.items()


def test_a_link_is_named_by_what_it_leads_to(here: Surroundings, project: Path) -> None:
    """That file is hashed and is in the box."""
    (project / "real").mkdir()
    (project / "real/x.ts").write_text("")
    (project / "y.ts").symlink_to("real/x.ts")
    words = bind_wish(wish("y.ts"), project, here).confinement.program.words
    assert words[-1] == str(project / "real/x.ts")


def test_a_file_named_like_an_address_is_a_file(here: Surroundings, project: Path) -> None:
    """It is passed by its whole path, which Deno takes for nothing else."""
    for name in ("npm:x.ts", "-x.ts", "run"):
        (project / name).write_text("")
    for name in ("npm:x.ts", "./-x.ts"):
        words = bind_wish(wish(name), project, here).confinement.program.words
        assert words[-1] == str(project / name)


def test_a_call_of_the_library(here: Surroundings, project: Path, library: Library) -> None:
    """`consentry.exec(["script.ts"], engine="deno")`: twice, with what changed in between."""
    script = project / "script.ts"
    options = ExecOptions(engine="deno", permission_set="minimal")
    for said in ("one", "two"):
        script.write_text(f'const said: string = "{said}"; console.log(said, Deno.args[0]);')
        result = library.exec(["script.ts", "word"], here, options)
        assert (result.stdout, result.exit_code) == (f"{said} word\n".encode(), 0), result.stderr
    script.write_text('Deno.readTextFileSync("/srv/x");')
    result = library.exec(["script.ts"], here, options)
    assert [(str(each), each.truth.value) for each in result.violations] == [
        ("PermissionDenied: Requires read access to /srv/x", "reported")
    ]


def test_without_deno_nothing_runs(
    around: MakeAround, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said with what to install; where the document names a fallback, that is tried instead."""
    monkeypatch.setattr(denoscripts, "deno_of_wheel", lambda: None)
    nowhere = around(environ={"PATH": "/nowhere"})
    (project / "x.ts").write_text("")
    with pytest.raises(Refused, match="the engine `deno` is not here") as raised:
        bind_wish(wish("x.ts"), project, nowhere)
    assert "consentry[deno]" in (raised.value.help_line or "")
    assert denoscripts.find_script("x.ts", nowhere, has_fallback=True) is None


def test_a_script_that_cannot_be_named_in_a_record(here: Surroundings, project: Path) -> None:
    """A name that is no Unicode is refused, as for every program."""
    name = os.fsdecode(b"\xff.ts")
    (project / name).write_text("")
    with pytest.raises(ConsentryError, match="not UTF-8"):
        bind_wish(wish(name), project, here)
