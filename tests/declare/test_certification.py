"""The certification corpus: what is in it, and that every case is what it says (CONTRACTS §4-h-kpi-1)."""

import json
import subprocess
import sys
from collections import Counter
from importlib.resources import files

import pytest

from consentry.base.errors import BadDocument
from consentry.base.semver import SemVer
from consentry.declare.actioncontrols import judged_controls
from consentry.declare.actiongraph import GraphSurface, read_action_graph
from consentry.declare.actiongraphcheck import check_action_graph
from consentry.declare.certification import (
    CaseKind,
    CertificationCase,
    certification_corpus,
)
from consentry.declare.hostdescription import MutationScope
from consentry.declare.modulecapabilities import check_capabilities
from consentry.declare.modulecodes import ManifestCode, PackageCode, PackageRejected
from consentry.declare.modulepackage import read_package
from consentry.declare.modulevalues import EntryType, ModulePackage, Slot
from consentry.record.signofffields import CONTROL_FIELDS
from consentry.surface.catalog import capability_catalog

CORPUS = certification_corpus()
DIGEST = "sha256:09881ef0f8ece6935a07308f6a805867a70c22f74aff486bd4affec090230a83"
VALID = CORPUS.of_kind(CaseKind.VALID)
INVALID = CORPUS.of_kind(CaseKind.INVALID)
ACTIONS = CORPUS.of_kind(CaseKind.ACTION)


def package_of(case: CertificationCase) -> ModulePackage:
    """The package of a case that can be read."""
    package = read_package(case.content, CORPUS.host)
    check_capabilities(package, capability_catalog())
    return package


def named(case: CertificationCase) -> str:
    """How a test is called."""
    return case.case_id


def test_a_version_names_one_content() -> None:
    """What was tried is known from a record: who changes a case counts the version up, and this digest."""
    assert SemVer.parse(CORPUS.version).text == CORPUS.version == "1.0.0"
    assert CORPUS.digest == DIGEST


def test_the_digest_is_the_same_in_every_process() -> None:
    """Whatever the order of sets and of files is there."""
    words = "from consentry.declare.certification import *; print(certification_corpus().digest)"
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", words],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        )
        assert done.stdout.strip() == CORPUS.digest


def test_every_file_is_part_of_a_case_and_ids_are_given_once() -> None:
    """Nothing lies there untried."""
    assert max(Counter(each.case_id for each in CORPUS.cases).values()) == 1
    contents = {each.package for each in CORPUS.cases} | {each.graph for each in CORPUS.cases}
    folder = files("consentry.declare.certification")
    for place in ("valid", "invalid", "graphs"):
        for file in folder.joinpath(place).iterdir():
            assert file.read_bytes() in contents, file.name


@pytest.mark.parametrize("case", VALID, ids=named)
def test_a_valid_package_is_taken_with_its_graph(case: CertificationCase) -> None:
    """CONTRACTS §4-h-kpi-1: every check that an import makes."""
    package = package_of(case)
    if case.graph is not None:
        check_action_graph(read_action_graph(case.graph, "graph.json"), package, CORPUS.host)


@pytest.mark.parametrize("case", INVALID, ids=named)
def test_an_invalid_one_is_refused_so_every_time(case: CertificationCase) -> None:
    """CONTRACTS §1-order, §4-h-kpi-2: with its code, at its place, and for its reason in the manifest."""
    for _ in range(3):
        if case.graph is not None:
            package = package_of(case)
            with pytest.raises(BadDocument) as wrong:
                check_action_graph(
                    read_action_graph(case.graph, "graph.json"), package, CORPUS.host
                )
            [problem] = wrong.value.problems
            assert (wrong.value.code.value, problem.where.field) == (case.code, case.path)
            continue
        with pytest.raises(PackageRejected) as refused:
            package_of(case)
        detail = refused.value.detail or {}
        found = (refused.value.package_code.value, refused.value.path, detail.get("manifestCode"))
        assert found == (case.code, case.path, case.manifest_code)


@pytest.mark.parametrize("case", ACTIONS, ids=named)
def test_the_control_fields_of_every_action_are_sound(case: CertificationCase) -> None:
    """CONTRACTS §4-h-kpi-3: judged one by one, as they are written."""
    assert case.graph is not None
    controls = judged_controls(case.graph, package_of(case), CORPUS.host)[case.action]
    assert dict(controls.fields) == dict.fromkeys(CONTROL_FIELDS, True)


def test_every_code_has_a_case() -> None:
    """CONTRACTS §1: each of the codes of packages and each of those of manifests."""
    of_packages = {each.code for each in INVALID if each.graph is None}
    assert of_packages == {each.value for each in PackageCode}
    assert {each.manifest_code for each in INVALID} - {None} == {
        each.value for each in ManifestCode
    }


def test_the_corners_of_packages_are_there() -> None:
    """CONTRACTS §1: slots, types, scopes, capabilities and the largest that may be."""
    packages = [package_of(each) for each in VALID]
    entries = [entry for each in packages for entry in each.entries]
    assert {(each.slot, each.type) for each in entries} == {
        (slot, kind) for slot in Slot for kind in EntryType
    }
    bindings = [binding for each in packages for binding in each.bindings]
    assert {each.expected_scope for each in bindings} == {None, *MutationScope}
    known = {each.capability_id for each in capability_catalog().entries}
    assert known in [set(each.capabilities) for each in packages]
    assert {3, 64} <= {len(each.module_id) for each in packages}
    assert max(len(each.content) for each in VALID) == 8 << 20
    assert (8 << 20) + 1 in [len(each.content) for each in INVALID]
    assert len(VALID) >= 12


def test_the_corners_of_actions_are_there() -> None:
    """CONTRACTS §2: every control field in each of its forms, and left out where that means something."""
    graphs = {each.graph for each in ACTIONS if each.graph is not None}
    written = [action for graph in graphs for action in json.loads(graph)["actions"]]
    assert len(written) == len(ACTIONS) >= 10
    for name in ("requiresApproval", "undoCommand", "surface"):
        assert {name in each for each in written} == {True, False}
    assert {surface for each in written for surface in each.get("surface", ())} == {
        each.value for each in GraphSurface
    }
    rules = [each.get("requiresApproval", False) for each in written]
    levels = {rule["level"] if isinstance(rule, dict) else rule for rule in rules}
    assert levels == {True, False, "soft", "hard"}
    assert {each.get("undoCommand") for each in written} > {None}
    assert any(each["mutates"] for each in written)
    assert max(len(each["calls"]) for each in written) == 64
