"""No registry host, no folder of this machine, no word about how the work is divided."""

from pathlib import Path

import pytest

from checks import privacy
from checks.tree import Tree

HOSTS = [
    "py" + "pi.org",
    "files.python" + "hosted.org",
    "registry.npm" + "js.org",
    "deb." + "debian.org",
    "pkg:py" + "pi.org/x",
    "crates" + ".io",
    "ghcr" + ".io/x",
    "quay" + ".io",
    "docker" + ".io/library/x",
    "https://docker" + ".io",
    "registry-1.docker" + ".io",
    "docker" + ".io",
    "ruby" + "gems.org",
    "registry.yarn" + "pkg.com",
    "proxy." + "golang.org",
    "conda.ana" + "conda.org",
    "repo1." + "maven.org",
    "jsr" + ".io",
    "packages." + "debian.org",
    "ftp.us." + "debian.org",
    "snapshot." + "debian.org",
    "archive." + "ubuntu.com",
]
WORK = [
    "issue" + " #7",
    "issue" + " 12",
    "Issue" + "#12",
    "Closes" + " #2",
    "fixes" + " #31",
    "Seed" + " 003",
    "seed" + "-003",
    "task" + "_253",
    "task" + " 253",
]


@pytest.mark.parametrize("text", HOSTS + WORK)
@pytest.mark.parametrize(
    "place", ["README.md", "src/consentry/x.py", "requirements/run.lock", "Makefile"]
)
def test_a_trace_is_found(plant, text, place):
    """Every kind of trace is found in every kind of file."""
    [finding] = privacy.check(plant({place: f"one\nsee {text} there\n"}))
    assert (finding.path, finding.line) == (place, 2)


def test_a_folder_of_this_machine_is_found(plant, tmp_path):
    """The folder the repository lies in, and anything below it, gives the machine away."""
    tree = plant({"docs/x.md": f"a\nrun {tmp_path.parent}/other/tool\n"})
    [finding] = privacy.check(tree)
    assert finding.line == 2


def test_a_clone_right_below_a_common_folder_still_guards_itself():
    """Where the parent is too common to look for, the repository's own folder is looked for."""
    traces = list(privacy._machine(Path("/srv/some-clone")))
    assert traces[0].pattern.search("see /srv/some-clone/x")
    assert not traces[0].pattern.search("see /srv/else")


@pytest.mark.parametrize(
    "text",
    [
        "a package index",
        "pkg:" + "py" + "pi/click@8.2",
        "implementation_name != 'pypy'",
        "an issue of trust, number 7",
        "the random seed 42",
        "task 2 waits for task 1",
        "an issue with 12 parts",
        "a service may issue" + " 2 permits, and issues 3 of them",
        "it closes number #2",
        "on Debian the package is docker" + ".io",
        "apt-get install docker" + ".io",
        "it is in the package `docker" + ".io`",
        "packages=(docker" + ".io)",
        "the docker command",
        "https://www.debian.org/doc",
        "Debian packages, security. Debian again",
        "crates of io",
        "seeded with 003",
        "a relative path: src/consentry",
    ],
)
def test_ordinary_text_passes(plant, text):
    """Words that only look alike are fine."""
    assert not list(privacy.check(plant({"README.md": text})))


def test_a_package_name_excuses_no_host(plant):
    """Words about packages do not excuse an address in the same line."""
    host = "docker" + ".io"
    for text in (
        f"the Debian package comes from {host}/library/x",
        f"a Debian image from {host}",
        f"packages are on {host}",
    ):
        assert len(list(privacy.check(plant({"README.md": text})))) == 1, text


def test_bytes_that_are_no_text_are_read_too(tmp_path):
    """A trace inside a binary file is found."""
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe\n\x00" + HOSTS[0].encode() + b"\x00")
    assert len(list(privacy.check(Tree(tmp_path)))) == 1
