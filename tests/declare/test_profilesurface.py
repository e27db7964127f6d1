"""What a profile opens, as a surface; what it closes stays beside it."""

from pathlib import Path

import pytest

from consentry.declare.profile import DenyList
from consentry.declare.profilesurface import profile_surface
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.surface.dimensions import Level
from consentry.surface.lattice import NOTHING, Surface

REFERENCE = Path(__file__).parent / "consent" / "sandbox-config.yaml"
PROFILES = read_sandbox_config(REFERENCE.read_bytes(), "s.yaml").profiles


def surface_of(filesystem: str, more: str = "") -> Surface:
    """The surface of a profile with these lists."""
    text = f"sandboxConfig: {{profiles: {{p: {{filesystem: {{{filesystem}}}{more}}}}}}}"
    return profile_surface(read_sandbox_config(text.encode(), "s.yaml").profiles["p"])


def test_the_reference_profiles() -> None:
    """CONSENT §sandbox-reference: a folder and all below it; what is writable is readable."""
    assert profile_surface(PROFILES["latex-build"]) == Surface.of(
        read=["/usr/share/texlive/", "/usr/share/fonts/", "latex/", "output-final/"],
        write=["latex/", "output-final/"],
    )
    assert profile_surface(PROFILES["lint-only"]) == Surface.of(read=["latex/"])


@pytest.mark.parametrize(
    ("filesystem", "surface"),
    [
        ("", NOTHING),
        ('readOnly: ["${WORKSPACE}"]', Surface.of(read=["./"])),
        ('readOnly: ["${WORKSPACE}/"]', Surface.of(read=["./"])),
        ('readOnly: ["${WORKSPACE}/a/*.b"]', Surface.of(read=["a/*.b"])),
        ('readWrite: ["${WORKSPACE}/~x"]', Surface.of(read=["./~x/"], write=["./~x/"])),
        ("readOnly: [/etc/fonts, /opt/x]", Surface.of(read=["/opt/x/"])),
    ],
)
def test_paths(filesystem: str, surface: Surface) -> None:
    """CONSENT §sandbox-2; what an engine provides anyway is part of no surface."""
    assert surface_of(filesystem) == surface


def test_network_and_what_a_profile_does_not_speak_of() -> None:
    """Open to anything or closed; programs and variables are not its business."""
    assert surface_of("", ", network: {enabled: true}") == Surface.of(net=Level.ANY)
    assert surface_of("", ", network: {enabled: false}") == NOTHING


def test_denials_are_joined() -> None:
    """CONTRACTS §7-profile: the union, each entry once, with all below it."""
    closed = PROFILES["latex-build"].filesystem.no_access
    assert (closed | DenyList()) == closed == (closed | closed)
    assert list(closed.scope) == ["/etc/passwd/", "/home/*/.aws/", "/home/*/.ssh/"]
