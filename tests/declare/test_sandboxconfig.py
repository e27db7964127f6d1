"""`sandbox-config.yaml` to the letter: both profiles of CONSENT, every key, every way to be wrong."""

from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.units import Duration, Size
from consentry.declare.profile import DeclaredLimits, EngineName, Profile, SandboxConfig
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.surface.dimensions import Level
from consentry.surface.modes import Denials, Reads, Rounding, View, Writes
from tests.declare.documents import read_config, read_profile

REFERENCE = Path(__file__).parent / "consent" / "sandbox-config.yaml"
NEVER = "which is never granted: "
COPY = Code.PROTECTED_ROOT.remedy


def written(entries: tuple[object, ...]) -> list[str]:
    """Path entries as the document has them."""
    return [str(getattr(entry, "written", None)) for entry in entries]


# CONSENT's own document


def test_the_reference_document_is_read_as_it_is() -> None:
    """CONSENT §sandbox-reference: engine, fallback, and the two profiles by name."""
    config = read_sandbox_config(REFERENCE.read_bytes(), "sandbox-config.yaml")
    assert config.engine is EngineName.AUTO
    assert config.fallback_engine is EngineName.DOCKER
    assert list(config.profiles) == ["latex-build", "lint-only"]


def test_latex_build() -> None:
    """Every value of the first profile."""
    found = read_sandbox_config(REFERENCE.read_bytes(), "s.yaml").profiles["latex-build"]
    assert found.dropped == ("cap_setuid", "cap_net_admin", "cap_sys_admin")
    assert written(found.filesystem.read_only) == ["/usr/share/texlive", "/usr/share/fonts"]
    assert written(found.filesystem.read_write) == [
        "${WORKSPACE}/latex",
        "${WORKSPACE}/output-final",
    ]
    assert written(found.filesystem.no_access.entries) == [
        "/home/*/.ssh",
        "/home/*/.aws",
        "/etc/passwd",
    ]
    assert found.network.level is Level.NONE
    assert found.limits == DeclaredLimits(
        cpu=Duration(60_000),
        memory=Size(512 * 1024**2),
        processes=50,
        file_size=Size(100 * 1024**2),
    )


def test_lint_only() -> None:
    """The second one: `*` alone in `noAccess` closes nothing beyond the default."""
    found = read_sandbox_config(REFERENCE.read_bytes(), "s.yaml").profiles["lint-only"]
    assert found.dropped == ()
    assert written(found.filesystem.read_only) == ["${WORKSPACE}/latex"]
    assert found.filesystem.read_write == ()
    assert found.filesystem.no_access.entries == ()
    assert found.limits == DeclaredLimits()


# Every key


def test_what_is_left_out_asks_for_nothing() -> None:
    """An empty profile has no files, no network and the engine's own limits."""
    found = read_config("sandboxConfig: {profiles: {p: {}}}").profiles["p"]
    assert found == Profile("p", found.where)
    assert (found.filesystem.read_only, found.network.level) == ((), Level.NONE)
    assert (found.view, found.writes) == (View.PRIVATE, Writes.LAYER)
    assert (found.reads, found.patterns) == (Reads.OBSERVED, Rounding.ROUNDED)
    assert found.denials is Denials.OBSERVED
    assert read_config("sandboxConfig: {}") == SandboxConfig()


@pytest.mark.parametrize("name", EngineName)
def test_every_engine_can_be_named(name: EngineName) -> None:
    """CONSENT §sandbox-1."""
    assert read_config(f"sandboxConfig: {{engine: {name}}}").engine is name


def test_added_keys() -> None:
    """CONTRACTS §12-profile-keys, and the time limit."""
    found = read_profile(
        "view: visible",
        "writes: direct",
        "reads: exact",
        "patterns: exact",
        "denials: attested",
        "timeout: 2min",
        "resources: {maxWritten: 1G}",
    )
    assert (found.view, found.writes) == (View.VISIBLE, Writes.DIRECT)
    assert (found.reads, found.patterns) == (Reads.EXACT, Rounding.EXACT)
    assert found.denials is Denials.ATTESTED
    assert found.limits == DeclaredLimits(written=Size(1024**3), timeout=Duration(120_000))


def test_network() -> None:
    """CONSENT §sandbox-1: off, or on."""
    assert read_profile("network: {enabled: false}").network.level is Level.NONE
    assert read_profile("network: {enabled: true}").network.level is Level.ANY


def test_a_profile_may_list_the_hosts() -> None:
    """Names, wildcards, ports and blocks; an empty list opens nothing, whatever `enabled` says."""
    listed = 'network: {enabled: true, allow: ["a.example:443", "*.b.example", "192.0.2.0/24"]}'
    found = read_profile(listed).network
    assert found.level is Level.ALLOWLIST
    assert list(found.targets) == ["*.b.example", "192.0.2.0/24", "a.example:443"]
    for word in ("true", "false"):
        empty = read_profile(f"network: {{enabled: {word}, allow: []}}").network
        assert empty.level is Level.NONE


def test_an_entry_keeps_its_place() -> None:
    """For whoever finds later that the path is a link or is not there."""
    [entry] = read_profile("filesystem:", "  readOnly:", "    - /opt/data").filesystem.read_only
    assert str(entry.where) == "s.yaml:6:13 `sandboxConfig.profiles.p.filesystem.readOnly[0]`"


def test_json_is_read_alike() -> None:
    """The same document in another form."""
    text = '{"sandboxConfig": {"profiles": {"p": {"filesystem": {"readOnly": ["/opt/a"]}}}}}'
    assert read_sandbox_config(text.encode(), "s.json") == read_config(text)
