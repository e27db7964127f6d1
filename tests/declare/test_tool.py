"""Wishes for less confinement count only from the user's own configuration, and open nothing."""

import pytest

from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.tool import Origin, Requirements, ToolManifest
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.surface.lattice import Surface


def manifest(requirements: str) -> ToolManifest:
    """A tool that reads one folder, with these requirements."""
    text = (
        "tool: {name: t, description: d, version: 1.0.0, riskLevel: low, capabilities: "
        "{fileRead: [{pattern: data/, purpose: p}]}, sandboxRequirements: "
        f"{{{requirements}}}}}"
    )
    return read_tool_manifest(text.encode(), "t.yaml")


@pytest.mark.parametrize(
    ("requirements", "ignored"),
    [
        ("isolateFileSystem: false", ("isolateFileSystem",)),
        ("restrictNetwork: false", ("restrictNetwork",)),
        (
            "isolateFileSystem: false, restrictNetwork: false",
            ("isolateFileSystem", "restrictNetwork"),
        ),
        ("isolateFileSystem: true", ()),
    ],
)
def test_a_workspace_cannot_loosen_its_tools(requirements: str, ignored: tuple[str, ...]) -> None:
    """The document keeps the wish, and those who apply it can say that it was ignored."""
    found = manifest(requirements).requirements
    assert found.ignored_from(Origin.WORKSPACE) == ignored
    counted = found.counting_from(Origin.WORKSPACE)
    assert (counted.isolate_file_system, counted.restrict_network) == (True, True)


def test_the_users_own_configuration_counts() -> None:
    """Then the wish is there to be followed."""
    found = manifest("isolateFileSystem: false, limitCPU: 5s").requirements
    assert found.ignored_from(Origin.OWN) == ()
    assert found.counting_from(Origin.OWN) is found
    assert found.counting_from(Origin.WORKSPACE) == Requirements(cpu=found.cpu)


@pytest.mark.parametrize("requirements", ["isolateFileSystem: false", "restrictNetwork: false"])
def test_nothing_is_opened_by_them(requirements: str) -> None:
    """What the manifest does not list stays closed, whoever wrote it."""
    assert manifest_surface(manifest(requirements)) == Surface.of(read=["data/"])
