"""What a workspace's profiles and engines change (the rule of trust; CONSENT §sandbox)."""

import pytest

from consentry.base.units import Duration, Size
from consentry.decide.profiletrust import MergedSandbox, merged_sandbox, strangers_share
from consentry.declare.profile import DeclaredLimits, EngineName, Profile, SandboxConfig
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.surface.dimensions import Level
from consentry.surface.modes import Denials, LayerPlace, Reads, Rounding, View, Writes

USUAL = DeclaredLimits(written=Size(512 << 20))
LOOSE = """
filesystem:
  readOnly: ["/opt/data", "${WORKSPACE}/latex"]
  readWrite: ["${WORKSPACE}/out"]
network:
  enabled: true
  allow: ["api.example:443"]
  secrets: ["api.example=Authorization:env:TOKEN"]
resources: {maxWritten: 2G, maxCPU: 60}
view: visible
denials: attested
"""


def sandbox(*profiles: tuple[str, str], head: str = "") -> SandboxConfig:
    """A document with these profiles, each as its indented text."""
    text = f"sandboxConfig:\n{head}  profiles:{'' if profiles else ' {}'}\n"
    for name, body in profiles:
        rows = "".join(f"      {row}\n" for row in body.strip().splitlines())
        text += f"    {name}:\n{rows}"
    return read_sandbox_config(text.encode(), "sandbox-config.yaml")


def merged(
    own: SandboxConfig, theirs: SandboxConfig, *, is_accepted: bool = False
) -> MergedSandbox:
    """The two together."""
    return merged_sandbox(own, theirs, "sandbox-config.yaml", USUAL, is_accepted=is_accepted)


def paths(profile: Profile) -> tuple[list[str], list[str], list[str]]:
    """What it opens for reading and for writing, and what it closes."""
    files = profile.filesystem
    lists = (files.read_only, files.read_write, files.no_access.entries)
    read, written, closed = ([entry.written for entry in each] for each in lists)
    return read, written, closed


def test_a_profile_that_only_a_stranger_has_opens_nothing_outside() -> None:
    """In threes: what would loosen is taken away and told; accepted, it is as it is written."""
    theirs = sandbox(("build", LOOSE))
    before = merged(SandboxConfig(), theirs)
    kept = before.sandbox.profiles["build"]
    assert paths(kept) == (["${WORKSPACE}/latex"], ["${WORKSPACE}/out"], [])
    assert (kept.view, kept.denials, kept.secrets.entries) == (View.PRIVATE, Denials.OBSERVED, ())
    assert kept.limits == DeclaredLimits(cpu=Duration(60_000))
    told = " ".join(each.what for each in before.ignored)
    assert all(each.lowers for each in before.ignored)
    for word in ("/opt/data", "secret", "visible", "attested", "maxWritten"):
        assert word in told
    after = merged(SandboxConfig(), theirs, is_accepted=True)
    assert (after.sandbox.profiles, after.ignored) == (theirs.profiles, ())


def test_writing_at_once_and_layers_on_the_disk_are_the_users_choice() -> None:
    """CONTRACTS §12: `writes: direct` and `layer: disk` count from the user alone."""
    theirs = sandbox(("direct", "writes: direct"), ("disk", "layer: disk"))
    before = merged(SandboxConfig(), theirs).sandbox.profiles
    assert {name: (each.writes, each.layer) for name, each in before.items()} == {
        "direct": (Writes.LAYER, LayerPlace.MEMORY),
        "disk": (Writes.LAYER, LayerPlace.MEMORY),
    }


@pytest.mark.parametrize("is_accepted", [False, True])
def test_a_profile_that_both_have_is_what_both_allow(*, is_accepted: bool) -> None:
    """Narrowed, accepted or not: paths of both, denials of either, the smaller limits."""
    own = sandbox(
        (
            "build",
            """
filesystem:
  readOnly: ["/opt/data", "${WORKSPACE}/latex"]
  readWrite: ["${WORKSPACE}/out", "${WORKSPACE}/tmp"]
  noAccess: ["/srv/keys"]
network: {enabled: true}
resources: {maxCPU: 60, maxProcesses: 10}
view: visible
""",
        )
    )
    theirs = sandbox(
        (
            "build",
            """
filesystem:
  readOnly: ["/opt/other", "${WORKSPACE}"]
  readWrite: ["${WORKSPACE}/out/pdf"]
  noAccess: ["${WORKSPACE}/latex/private"]
network: {enabled: true, allow: ["api.example:443"]}
resources: {maxCPU: 10, maxProcesses: 50, maxMemory: 64M}
reads: exact
patterns: exact
""",
        )
    )
    found = merged(own, theirs, is_accepted=is_accepted)
    kept = found.sandbox.profiles["build"]
    read, written, closed = paths(kept)
    assert read[0] == "/opt/data"
    assert set(read) == {"/opt/data", "${WORKSPACE}/latex", "${WORKSPACE}/out", "${WORKSPACE}/tmp"}
    assert written == ["${WORKSPACE}/out/pdf"]
    assert closed == ["/srv/keys", "${WORKSPACE}/latex/private"]
    assert (kept.network.level, list(kept.network.targets)) == (
        Level.ALLOWLIST,
        ["api.example:443"],
    )
    assert kept.limits == DeclaredLimits(cpu=Duration(10_000), memory=Size(64 << 20), processes=10)
    assert (kept.view, kept.reads, kept.patterns) == (View.PRIVATE, Reads.EXACT, Rounding.EXACT)
    assert not any(each.lowers for each in found.ignored)


def test_engines_are_the_users_choice_until_accepted() -> None:
    """CONSENT §sandbox-1: `engine` and `fallbackEngine`; `auto` names none."""
    own = sandbox(head="  engine: native\n  fallbackEngine: bubblewrap\n")
    theirs = sandbox(head="  engine: docker\n  fallbackEngine: podman\n")
    before, after = merged(own, theirs), merged(own, theirs, is_accepted=True)
    assert (before.sandbox, len(before.ignored)) == (own, 2)
    assert (after.sandbox.engine, after.sandbox.fallback_engine) == (
        EngineName.DOCKER,
        EngineName.PODMAN,
    )
    assert merged(own, sandbox(), is_accepted=True).sandbox == own


def test_a_strangers_tool_gets_little_of_a_users_profile() -> None:
    """A manifest may name any profile: what is opened outside, and secrets, are for trusted tools."""
    profile = sandbox(("mine", LOOSE)).profiles["mine"]
    share = strangers_share(profile, USUAL)
    assert paths(share) == (["${WORKSPACE}/latex"], ["${WORKSPACE}/out"], [])
    assert (share.secrets.entries, share.view) == ((), View.PRIVATE)
    assert share.network == profile.network
