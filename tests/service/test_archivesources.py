"""Wheels and sdists are read in memory; whatever somebody put into one, it is an answer or an error."""

import struct
import tarfile
import warnings
import zipfile
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.service import boundedfile, tararchive, ziparchive
from consentry.service.surfaces import compare
from consentry.surface.dimensions import Level
from tests.service.codesamples import (
    COUNTS,
    FETCHES,
    STARTS,
    examined,
    pack,
    tar_member,
    write_sdist,
    write_tar,
    write_wheel,
    write_zip,
)


def _refused(path: Path) -> str:
    with pytest.raises(UsageProblem) as problem:
        examined(path)
    assert problem.value.code is Code.FILE_UNUSABLE
    assert str(path) in problem.value.message
    return problem.value.message


def test_a_wheel_and_an_sdist_of_the_same_code_are_equal(tmp_path: Path) -> None:
    """The folder around an sdist, the metadata and the version have no power."""
    files = {"app/__init__.py": "from app import fetch\n", "app/fetch.py": FETCHES}
    wheel = examined(write_wheel(tmp_path, "1.0", files))
    sdist = examined(write_sdist(tmp_path, "1.1", files))
    assert wheel.surface == sdist.surface
    assert {each.file for each in wheel.side.found} == {each.file for each in sdist.side.found}
    delta = compare(wheel, sdist)
    assert (delta.gained, delta.lost, delta.doubts) == ((), (), ())


def test_files_of_a_wheel_lie_where_they_are_installed(tmp_path: Path) -> None:
    """`purelib` is the root of imports; scripts are read as the programs they are."""
    files = {
        "app/__init__.py": "import extra\n",
        "app-1.0.data/purelib/extra.py": STARTS,
        "app-1.0.data/scripts/tool": "#!python\n" + FETCHES,
    }
    found = examined(write_wheel(tmp_path, "1.0", files))
    assert {each.file for each in found.side.found} == {"extra.py", "app-1.0.data/scripts/tool"}
    assert found.side.doubts == ()


def test_what_a_wheel_requires_is_declared(tmp_path: Path) -> None:
    """A new dependency is a power that is declared, or not known."""
    requires = "Requires-Dist: requests>=2\nRequires-Dist: no-such-thing-at-all; extra == 'x'\n"
    before = examined(write_wheel(tmp_path, "1.0", {"app.py": COUNTS}))
    after = examined(write_wheel(tmp_path, "1.1", {"app.py": COUNTS}, requires))
    delta = compare(before, after)
    assert after.surface.net_access.level is not Level.NONE
    assert {step.file for step in delta.gained} == {"app-1.1.dist-info/METADATA"}
    assert {step.line for step in delta.gained} == {4}
    assert [doubt.about.line for doubt in delta.doubts] == [5]
    assert {each.found.provenance.value for each in after.side.found} == {"declared"}


def test_a_folder_that_could_be_imported_stays(tmp_path: Path) -> None:
    """Only a folder that is no name of a module is taken away."""
    files = {"pkg/__init__.py": "import pkg.a\n", "pkg/a.py": STARTS}
    found = examined(write_zip(tmp_path / "x.zip", files))
    assert {each.file for each in found.side.found} == {"pkg/a.py"}
    assert found.side.doubts == ()


@pytest.mark.parametrize(
    "name", ["../x.py", "/x.py", "a/../../x.py", "C:/x.py", "a\\..\\x.py", "a//b"]
)
def test_names_that_lead_out_are_refused(name: str, tmp_path: Path) -> None:
    """No archive that a tool packed has them."""
    assert "leads out of it" in _refused(write_zip(tmp_path / "a.zip", {name: STARTS}))
    assert "leads out of it" in _refused(write_tar(tmp_path / "a.tar.gz", tar_member(name, STARTS)))


def test_a_name_with_a_nul_is_refused(tmp_path: Path) -> None:
    """`zipfile` would show another name than others see."""
    path = write_zip(tmp_path / "a.zip", {"a.pyXb.txt": STARTS})
    path.write_bytes(path.read_bytes().replace(b"a.pyXb.txt", b"a.py\0b.txt"))
    _refused(path)


def test_a_name_that_is_there_twice(tmp_path: Path) -> None:
    """Both are read, and which one counts is not known."""
    path = tmp_path / "a.whl"
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("a.py", STARTS)
        archive.writestr("a.py", COUNTS)
    other = write_tar(tmp_path / "a.tar.gz", tar_member("a.py", STARTS), tar_member("a.py", COUNTS))
    for each in (path, other):
        found = examined(each)
        assert list(found.surface.proc_exec.targets) == ["git"]
        assert [doubt.about.reason for doubt in found.side.doubts] == [
            "cannot be read: it is in the archive more than once"
        ]


def test_links_in_archives(tmp_path: Path) -> None:
    """In a tar they are followed inside it; out of it they read; hard links and devices are not known."""
    member = zipfile.ZipInfo("link.py")
    member.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr(member, "import os; os.system('x')")
    (doubt,) = examined(tmp_path / "a.whl").side.doubts
    assert "it is a link" in doubt.about.reason
    path = write_tar(
        tmp_path / "a.tar.gz",
        tar_member("a-1/code.py", type=tarfile.SYMTYPE, linkname="notes.txt"),
        tar_member("a-1/notes.txt", STARTS),
        tar_member("a-1/out", type=tarfile.SYMTYPE, linkname="../../../etc/passwd"),
        tar_member("a-1/hard.py", type=tarfile.LNKTYPE, linkname="a-1/notes.txt"),
        tar_member("a-1/null", type=tarfile.CHRTYPE),
    )
    found = examined(path)
    assert list(found.surface.proc_exec.targets) == ["git"]
    assert found.surface.fs_read_roots
    assert [each.file for each in found.side.doubts] == ["hard.py", "null"]


def test_members_that_installers_read_in_different_ways(tmp_path: Path) -> None:
    """Encrypted, damaged, oddly packed: each is unclassified, and the rest is read."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good.py", FETCHES)
        archive.writestr("packed.py", STARTS, compress_type=zipfile.ZIP_LZMA)
        archive.writestr("damaged.py", STARTS.replace("git", "xyz"))
    path.write_bytes(path.read_bytes().replace(b"'xyz'", b"'zyx'", 1))
    found = examined(path)
    assert [each.file for each in found.side.doubts] == ["damaged.py", "packed.py"]
    assert list(found.surface.net_access.targets) == ["feeds.example.org:443"]
    content = bytearray(path.read_bytes())
    central = content.index(b"PK\1\2")
    content[central + 8] |= 1
    path.write_bytes(bytes(content))
    assert "good.py" in [each.file for each in examined(path).side.doubts]


def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A size that somebody wrote down is no reason to fill memory, and a whole archive is bounded."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("large.py", b"\n" * (65 << 20))
    (doubt,) = examined(path).side.doubts
    assert "64 MB" in doubt.about.reason
    monkeypatch.setattr(ziparchive, "MOST_ARCHIVE", 1 << 20)
    parts = {f"{n}.py": "x = 1\n" * 100_000 for n in range(3)}
    assert "unpacks to more" in _refused(write_zip(tmp_path / "b.zip", parts))
    monkeypatch.setattr(boundedfile, "MOST_ARCHIVE", 1 << 20)
    zeros = [tar_member(f"{n}.txt", "\0" * 600_000) for n in range(3)]
    assert "it has more than" in _refused(write_tar(tmp_path / "b.tar.gz", *zeros))


def test_a_header_that_claims_gigabytes(tmp_path: Path) -> None:
    """The readers of the standard library would ask for all of it at once."""
    member = tarfile.TarInfo("pax")
    member.type = tarfile.XHDTYPE
    member.size = 4 << 30
    content = member.tobuf(tarfile.USTAR_FORMAT)
    assert "larger than any" in _refused(pack(tmp_path / "a.tar.gz", content + b"\0" * (20 << 20)))


def test_a_header_that_leads_back_to_itself(tmp_path: Path) -> None:
    """A size below zero must not be read for ever."""
    member = tarfile.TarInfo("a.py")
    content = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    content[124:136] = struct.pack(">Bxxxq", 0xFF, -1024)
    content[124:128] = b"\xff" * 4
    content[148:156] = b" " * 8
    content[148:156] = f"{sum(content):06o}\0 ".encode()
    _refused(pack(tmp_path / "a.tar.gz", bytes(content) + b"\0" * 1024))


def test_archives_that_are_cut_or_go_on(tmp_path: Path) -> None:
    """What one reader takes for the end is not the end for another."""
    whole = write_sdist(tmp_path, "1", {"a.py": STARTS, "b.py": FETCHES})
    with tarfile.open(whole) as archive:
        assert archive.fileobj is not None
        archive.fileobj.seek(0)
        plain = archive.fileobj.read()
    size = 2 * (512 + 512)
    assert "cut off" in _refused(pack(tmp_path / "cut.tar.gz", plain[: size - 600]))
    assert "cut off" in _refused(pack(tmp_path / "short.tar.gz", plain[:size]))
    damaged = plain[:1024] + b"\x01" * 512 + plain[1536:]
    assert "cut off" in _refused(pack(tmp_path / "damaged.tar.gz", damaged))
    assert "behind its end" in _refused(pack(tmp_path / "more.tar.gz", plain + plain))
    packed = whole.read_bytes()
    (tmp_path / "half.tar.gz").write_bytes(packed[: len(packed) // 2])
    _refused(tmp_path / "half.tar.gz")


@pytest.mark.parametrize("name", ["a.whl", "a.zip", "a.tar.gz", "a.tar"])
@pytest.mark.parametrize(
    "content", [b"", b"nonsense" * 200, b"PK\5\6" + b"\xff" * 18, b"\x1f\x8b\x08"]
)
def test_what_is_no_archive(name: str, content: bytes, tmp_path: Path) -> None:
    """A clear error, whatever is in the file."""
    path = tmp_path / name
    path.write_bytes(content)
    _refused(path)


def test_what_links_lead_to_is_held_in_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is too much to be held is not known, and nothing else is held."""
    monkeypatch.setattr(tararchive, "_MOST_LINKED", 10)
    link = tar_member("code.py", type=tarfile.SYMTYPE, linkname="notes.txt")
    path = write_tar(tmp_path / "a.tar.gz", link, tar_member("notes.txt", STARTS))
    assert [each.file for each in examined(path).side.doubts] == ["code.py"]
