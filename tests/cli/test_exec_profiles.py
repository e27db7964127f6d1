"""Profiles at run time: the two of CONSENT, denials inside grants, and what cannot be enforced."""

import os

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.execs import home_of, last_record, put

CONSENT_PROFILES = """
sandboxConfig:
  engine: "auto"
  fallbackEngine: "docker"
  profiles:
    latex-build:
      capabilities:
        - cap_setuid: false
        - cap_net_admin: false
        - cap_sys_admin: false
      filesystem:
        readOnly:
          - /usr/share/texlive
          - /usr/share/fonts
        readWrite:
          - ${WORKSPACE}/latex
          - ${WORKSPACE}/output-final
        noAccess:
          - /home/*/.ssh
          - /home/*/.aws
          - /etc/passwd
      network:
        enabled: false
      resources:
        maxCPU: 60
        maxMemory: 512M
        maxProcesses: 50
        maxFileSize: 100M
    lint-only:
      capabilities: []
      filesystem:
        readOnly:
          - ${WORKSPACE}/latex
        readWrite: []
        noAccess: ["*"]
      network:
        enabled: false
    with-network:
      network: {enabled: true}
"""


@pytest.fixture
def with_profiles(line: CommandLine) -> CommandLine:
    """The profiles of CONSENT in the user's own configuration, and a document to build."""
    put(line, str(home_of(line) / ".config/consentry/sandbox-config.yaml"), CONSENT_PROFILES)
    owner = line.cwd.stat()
    os.chown(home_of(line) / ".config", owner.st_uid, owner.st_gid)
    put(line, "latex/main.tex", "text")
    put(line, "secret.txt", "not for builds")
    return line


def test_build_profile_of_consent(with_profiles: CommandLine) -> None:
    """It writes what it lists, made where it is missing, and sees nothing else of the workspace."""
    script = "cat latex/main.tex > output-final/main.pdf; echo aux > latex/main.aux; cat secret.txt"
    words = ["--profile", "latex-build", "--exec", "cat", "--", "sh", "-c", script]
    ended = with_profiles("exec", *words)
    assert (with_profiles.cwd / "output-final/main.pdf").read_text() == "text"
    assert (with_profiles.cwd / "latex/main.aux").read_text() == "aux\n"
    assert ended.status == 1
    assert "read " + str(with_profiles.cwd / "secret.txt") in ended.err
    assert last_record(with_profiles)["sandbox"]["profile"] == "profile:latex-build"


def test_lint_profile_of_consent(with_profiles: CommandLine) -> None:
    """It reads, and writes nothing."""
    script = "cat latex/main.tex; echo x > latex/main.tex"
    words = ["--profile", "lint-only", "--exec", "cat", "--", "sh", "-c", script]
    ended = with_profiles("exec", *words)
    assert ended.out == "text"
    assert ended.status != 0
    assert (with_profiles.cwd / "latex/main.tex").read_text() == "text"


def test_profile_with_network_leads_to_the_proxy(with_profiles: CommandLine) -> None:
    """It is never given the host's network instead; and a line may close it."""
    words = ["--exec", "printenv", "--", "printenv", "https_proxy"]
    ended = with_profiles("exec", "--profile", "with-network", *words)
    assert ended.out == "http://127.0.0.1:3128\n"
    ended = with_profiles("exec", "--profile", "with-network", "--net", "none", *words)
    assert (ended.status, ended.out) == (1, "")


def test_denied_place_inside_a_granted_one_stays_closed(line: CommandLine) -> None:
    """Neither what is there nor what is new; the rest of the folder can be written."""
    put(line, "latex/.git/hooks/keep", "kept")
    for folder in ("latex", "latex/.git"):
        os.chown(line.cwd / folder, line.cwd.stat().st_uid, line.cwd.stat().st_gid)
    put(
        line,
        "box.yaml",
        "sandboxConfig: {profiles: {one: {filesystem: {readWrite: ['${WORKSPACE}/latex'],"
        " noAccess: ['${WORKSPACE}/latex/.git/hooks', '${WORKSPACE}/latex/later']}}}}",
    )
    script = (
        "cat latex/.git/hooks/keep; echo evil > latex/.git/hooks/new;"
        " echo evil > latex/later; echo fine > latex/fine"
    )
    ended = line("exec", "--profile", "box.yaml", "--exec", "cat", "--", "sh", "-c", script)
    assert ended.out == ""
    assert (line.cwd / "latex/fine").read_text() == "fine\n"
    assert [each.name for each in (line.cwd / "latex/.git/hooks").iterdir()] == ["keep"]
    assert not (line.cwd / "latex/later").exists()
    resources = [each["resource"] for each in last_record(line)["sandbox"]["violations"]]
    hooks = str(line.cwd / "latex/.git/hooks")
    assert {f"{hooks}/keep", f"{hooks}/new", str(line.cwd / "latex/later")} <= set(resources)
