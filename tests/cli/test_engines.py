"""`consentry engines` in a real process: what holds here, and what a host without namespaces says."""

import json
import os
from pathlib import Path

import pytest

from consentry.enforce.engine import Control
from consentry.enforce.engines.registry import FROM_CHEAPEST
from consentry.enforce.facts import HostView
from consentry.enforce.host import look_at_host
from consentry.enforce.native import calls
from consentry.enforce.native.audithost import why_not_attested
from consentry.enforce.programs import BUILT, DENO, ENGINE_MEANINGS, look_for_engines
from tests.cli.conftest import CommandLine
from tests.enforce import hosts


def test_every_control_is_listed_with_what_holds_it(consentry: CommandLine) -> None:
    """One row each, in the order of the controls, and nothing is lacking on a good host."""
    ended = consentry("engines", COLUMNS="100")
    assert (ended.status, ended.err) == (0, "")
    head, *rows = ended.out.splitlines()
    assert head.split()[:2] == ["control", "native"]
    assert [row.split()[0] for row in rows[: len(Control)]] == [each.value for each in Control]
    assert all(row.split()[1] != "lacking" for row in rows[: len(Control)])


def test_engines_beside_each_other_fit_80_columns(consentry: CommandLine) -> None:
    """A column for each that can be used, and in one line what each of the others lacks."""
    out = consentry("engines", COLUMNS="80").out
    assert max(map(len, out.splitlines())) <= 80
    document = json.loads(consentry("engines", "--json").out)
    usable = [each for each in document["engines"] if each["usable"]]
    heads = [{"bubblewrap": "bwrap"}.get(each["name"], each["name"]) for each in usable]
    assert out.splitlines()[0].split()[: 1 + len(heads)] == ["control", *heads]
    for each in usable[1:]:
        assert (f"{each['name']}: lacks " in out) is bool(each["lacking"])


def test_an_engine_that_is_missing_is_named_with_why(consentry: CommandLine) -> None:
    """Where its command is on no path that was given."""
    out = consentry("engines", PATH="/nowhere", COLUMNS="300").out
    assert "not here: bubblewrap (there is no `bwrap` on PATH)" in out


@pytest.mark.parametrize("words", [("engines",), ("doctor", "--attack", "--engine", "bubblewrap")])
def test_no_command_of_the_workspace_is_tried(
    consentry: CommandLine, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """To look what holds here starts nothing that a stranger put there; what is one's own is tried."""
    for folder, is_started in ((consentry.cwd / "bin", False), (tmp_path / "own", True)):
        folder.mkdir()
        started = tmp_path / f"started-{folder.name}"
        (folder / "bwrap").write_text(f"#!/bin/sh\n: >{started}\n")
        (folder / "bwrap").chmod(0o755)
        ended = consentry(*words, PATH=f"{folder}:/usr/bin:/bin", COLUMNS="300")
        assert started.exists() is is_started, ended
        told = " ".join(ended.out.replace("|", "").split())
        assert ("lies in the workspace" in told) is not is_started


def test_engines_that_are_not_built_are_named_in_one_sentence(consentry: CommandLine) -> None:
    """And nothing is claimed of them."""
    out = consentry("engines", COLUMNS="100").out
    others = ", ".join(name for name in ENGINE_MEANINGS if name not in BUILT)
    assert out.endswith(f"\nknown, and not built in this version: {others}\n") or not others


def test_built_engines_are_those_with_a_driver() -> None:
    """The list of the command and the files of the source say the same."""
    found = look_for_engines(HostView(), look_at_host(HostView()))
    assert tuple(engine.name for engine in found if engine.driver) == BUILT
    # The engine for scripts is never taken by itself.
    assert {*FROM_CHEAPEST, DENO} == set(BUILT) <= set(ENGINE_MEANINGS)


def test_verbose_says_what_each_control_means(consentry: CommandLine) -> None:
    """In the words of the control."""
    out = consentry("engines", "--verbose", COLUMNS="100").out
    assert all(control.meaning in out for control in Control)


def test_quiet_prints_nothing_when_all_holds(consentry: CommandLine) -> None:
    """Only what does not hold would be printed."""
    ended = consentry("engines", "--quiet")
    assert (ended.status, ended.out, ended.err) == (0, "", "")


def test_json_has_control_mechanism_and_truth(consentry: CommandLine) -> None:
    """For every control that holds."""
    document = json.loads(consentry("engines", "--json").out)
    assert document["kind"] == "engines"
    native = document["engines"][0]
    assert (native["name"], native["usable"], native["lacking"]) == ("native", True, [])
    assert {each["control"] for each in native["held"]} == {each.value for each in Control}
    assert {each["truth"] for each in native["held"]} == {"kernel", "mediated", "observed"}
    told = [each["name"] for each in (*document["engines"], *document["missing"])]
    assert set(told) | set(document["not_built"]) == set(ENGINE_MEANINGS)


def test_whether_denials_can_be_attested_is_told(consentry: CommandLine) -> None:
    """In the table's page and in JSON, by the probe's own words."""
    native = json.loads(consentry("engines", "--json").out)["engines"][0]
    attested = native["attested_denials"]
    why = why_not_attested(os.getuid(), calls.landlock_abi())
    assert (attested["possible"], attested["why"]) == (why is None, why)
    word = "can be attested" if attested["possible"] else "cannot be attested here"
    for command in ("engines", "doctor"):
        assert f"denials {word}" in consentry(command, COLUMNS="200").out


def test_an_ordinary_user_is_told_that_denials_are_observed(as_nobody: CommandLine) -> None:
    """With the reason, and it counts as nothing missing."""
    out = as_nobody("engines", COLUMNS="200").out
    assert "denials cannot be attested here, only observed: the kernel gives its audit" in out
    assert as_nobody("engines", "--quiet").out == ""


def test_an_ordinary_user_sees_the_same_controls(as_nobody: CommandLine) -> None:
    """No step of a box needs root."""
    ended = as_nobody("engines", "--json")
    assert ended.status == 0, ended.err
    native = json.loads(ended.out)["engines"][0]
    assert native["lacking"] == []


def test_no_usable_engine_is_status_126_with_the_reason(consentry: CommandLine) -> None:
    """In the kernel's words, with what to do, and the same in JSON; nothing of it on the error stream."""
    consentry.options["preexec_fn"] = hosts.behind_a_filter_without_landlock
    ended = consentry("engines", COLUMNS="100")
    assert (ended.status, ended.err) == (126, "")
    assert ended.out.startswith(
        "native: can make no box here: this kernel has no Landlock\n  help: "
    )
    document = json.loads(consentry("engines", "--json").out)
    native = document["engines"][0]
    assert (native["usable"], native["held"]) == (False, [])
    assert all(each["why"] and each["remedy"] for each in native["lacking"])


@pytest.mark.parametrize("word", ["engines", "doctor"])
def test_a_word_too_many_is_wrong_usage(consentry: CommandLine, word: str) -> None:
    """Neither takes an argument."""
    assert consentry(word, "native").status == 2
