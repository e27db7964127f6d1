"""Requirements, as pip reads them (GUARD §extract-1)."""

import pytest

from consentry.examine.filekinds import FileKind, extract_file
from tests.examine.dependencies.reading import read


@pytest.mark.parametrize(
    "line",
    [
        "requests",
        "requests==2.31.0",
        "requests[socks] >= 2 , < 3",
        "requests ; python_version < '3'",
        "requests  # why",
        "requests==2 --hash=sha256:aa --hash=sha256:bb",
        "requests==2 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb",
        "Requests",
        "# a comment\x0brequests",
        "# a comment\u2028requests",
        "# a comment\rrequests",
    ],
)
def test_a_requirement_is_a_declared_power(line: str) -> None:
    """GUARD T2: however it is written; pip ends lines at more than editors show."""
    found = read("requirements.txt", line + "\n")
    assert found.declared == {("connect", "")}
    assert found.unknown == set()


@pytest.mark.parametrize(
    ("line", "host", "key"),
    [
        ("https://x.example/a.whl", "x.example:443", "https://x.example/a.whl"),
        ("a @ https://x.example/a.whl", "x.example:443", "https://x.example/a.whl"),
        ("-e git+ssh://git@x.example/a.git@v1#egg=a", "x.example:22", None),
        ("git+https://x.example:8443/a.git", "x.example:8443", None),
        ("a @ git+http://x.example/a", "x.example:80", None),
        ("-r https://x.example/more.txt", "x.example:443", "https://x.example/more.txt"),
    ],
)
def test_references_are_hosts_and_not_known(line: str, host: str, key: str | None) -> None:
    """Whoever owns the address decides what it holds."""
    found = read("requirements-dev.txt", line + "\n")
    assert found.hosts == {host}
    assert len(found.unknown) == 1
    assert key is None or found.unknown == {f"dependency {key}"}


def test_a_password_in_an_address_is_not_repeated() -> None:
    """What is compared and shown has no secret in it."""
    found = read("requirements.txt", "https://user:hunter2@x.example/a.whl\n")
    assert found.hosts == {"x.example:443"}
    assert "hunter2" not in repr(found.extraction)


@pytest.mark.parametrize(
    "line",
    [
        "-i https://i.example/simple",
        "--index-url=https://i.example/simple",
        "--extra-index-url https://i.example/simple",
        "-f https://i.example/wheels",
        "--find-links https://i.example/wheels",
        "-ihttps://i.example/simple",
    ],
)
def test_indexes_are_hosts(line: str) -> None:
    """Options of the whole file say where packages come from."""
    assert read("constraints.txt", line + "\n").hosts == {"i.example:443"}


def test_variables_in_addresses_are_seen() -> None:
    """Pip fills in `${NAME}` from the environment."""
    text = "--index-url https://${NAME}:${TOKEN}@i.example/simple\n"
    assert read("requirements.txt", text).variables == {"NAME", "TOKEN"}


@pytest.mark.parametrize(
    "line", ["-r base.txt", "-c constraints.txt", "./local", "-e .", "-e ./sub[x]", "--no-binary x"]
)
def test_the_tree_itself_adds_nothing(line: str) -> None:
    """Other files of the tree are read where they lie."""
    found = read("requirements/dev.txt", line + "\n")
    assert found.powers == set()
    assert found.unknown == set()


@pytest.mark.parametrize("line", ["../outside", "/opt/pkg", "-e ../x", "a @ file:///opt/a.whl"])
def test_folders_outside_are_not_known(line: str) -> None:
    """Nobody can tell what is there."""
    assert len(read("requirements.txt", line + "\n").unknown) == 1


def test_what_is_no_requirement_is_unclassified() -> None:
    """A line that cannot be read is not passed over."""
    assert len(read("requirements.txt", "two words\n").unknown) == 1


def test_lines_are_those_of_the_file() -> None:
    """The line where a requirement begins, also when it goes on."""
    text = "# a\n\nfoo==1 \\\n  --hash=sha256:aa\nrequests\n"
    found = read("requirements.txt", text)
    assert found.lines_of("connect", "") == {5}
    assert [each.line for each in found.extraction.unclassified] == [3]


def test_a_coding_cookie_that_makes_other_lines_is_unclassified() -> None:
    """Installers decode the file by its cookie: what is a comment here is a package to them."""
    content = b"# -*- coding: utf-7 -*-\nattrs\n#+AAo-evilpkg\n"
    found = extract_file(FileKind.REQUIREMENTS, content).unclassified
    assert [each.reason for each in found] == ["a coding cookie"]
    assert extract_file(FileKind.REQUIREMENTS, b"# coding: utf-8\nattrs\n").unclassified == ()
