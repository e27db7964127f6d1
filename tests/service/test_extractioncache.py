"""The cache of extractions: found again byte for byte, believed only with its MAC, never needed."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.examine.atoms import (
    Atom,
    Extraction,
    Found,
    ModuleImport,
    Operation,
    Provenance,
    Unclassified,
    connecting,
    reading,
)
from consentry.service import extractioncache
from consentry.service.extractioncache import ExtractionCache
from consentry.service.extractioncodec import decode_extraction, encode_extraction
from consentry.surface.dimensions import Dimension

CONTENT = b"import socket\n"
FOUND = Extraction(
    found=(
        Found(connecting(), 1, "import socket"),
        Found(connecting("example.org:443"), 9, "connect", Provenance.DECLARED),
        Found(reading("caf\udce9"), 10, "open"),
        Found(connecting(), 11, "again"),
    ),
    unclassified=(Unclassified("module:x", 3, "import x"),),
    imports=(
        ModuleImport("socket", 0, (), 1, is_known=True),
        ModuleImport("", 2, ("a",), 4, False),
    ),
)
KEPT = """
import sys
from pathlib import Path
from consentry.examine.atoms import Extraction, Unclassified
from consentry.service.extractioncache import ExtractionCache
from consentry.service.extractioncodec import encode_extraction
cache = ExtractionCache(Path(sys.argv[1]), Path(sys.argv[2]), "tables")
for number in range(200):
    name = f"{sys.argv[3]}-{number}"
    found = Extraction(unclassified=(Unclassified(name, 1, "x" * 500),))
    cache.keep(cache.key_of("python", name.encode()), encode_extraction(found))
    if number % 10 == 9:
        cache.flush()
"""

texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
lines = st.integers(0, 10**6)
extractions = st.builds(
    Extraction,
    st.lists(
        st.builds(
            Found,
            st.builds(Atom, st.sampled_from(Dimension), st.sampled_from(Operation), texts),
            lines,
            texts,
            st.sampled_from(Provenance),
        )
    ).map(tuple),
    st.lists(st.builds(Unclassified, texts, lines, texts)).map(tuple),
    st.lists(
        st.builds(ModuleImport, texts, lines, st.lists(texts).map(tuple), lines, st.booleans())
    ).map(tuple),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the cache will be, not there yet."""
    return tmp_path / "cache/consentry/guard"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """Where the key will be, in a state directory that is there."""
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    return state / "guard.key"


def kept(folder: Path, key_file: Path, knowledge: str = "tables") -> ExtractionCache:
    """A cache into which one extraction was written."""
    cache = ExtractionCache(folder, key_file, knowledge)
    cache.keep(cache.key_of("python", CONTENT), encode_extraction(FOUND))
    cache.flush()
    return cache


def found_in(
    folder: Path | None, key_file: Path | None, knowledge: str = "tables", kind: str = "python"
) -> Extraction | None:
    """What another process would find for the content."""
    cache = ExtractionCache(folder, key_file, knowledge)
    return cache.find(cache.key_of(kind, CONTENT))


def only_file(folder: Path) -> Path:
    """The one file of the cache."""
    (path,) = folder.iterdir()
    return path


@given(extractions)
def test_what_is_written_is_what_is_read(extraction: Extraction) -> None:
    """Every extraction comes back equal, lone surrogates included."""
    assert decode_extraction(encode_extraction(extraction)) == extraction


@given(st.binary(max_size=60) | texts.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_other_bytes_are_no_extraction(content: bytes) -> None:
    """Bytes that nobody encoded give None, and never raise."""
    assert decode_extraction(content) in (None, Extraction())


@pytest.mark.parametrize(
    "bad",
    [
        b"[[],[],[]]",
        b"[[],[],[],[],[]]",
        b'[[],[[0,1,"r","code"]],[],[]]',
        b'[[["NET_ACCESS","connect","x"]],[[-1,1,"r","code"]],[],[]]',
        b'[[["NET_ACCESS","connect","x"]],[[true,1,"r","code"]],[],[]]',
        b'[[["NET_ACCESS","connect","x"]],[[0,1.5,"r","code"]],[],[]]',
        b'[[["NET_ACCESS","connect","x"]],[[0,1,"r","guess"]],[],[]]',
        b'[[["NET_ACCESS","fly","x"]],[],[],[]]',
        b'[[["NET_ACCESS","connect",7]],[],[],[]]',
        b'[[],[],[["k","1","r"]],[]]',
        b'[[],[],[],[["m",0,"ab",1,true]]]',
        b'[[],[],[],[["m",0,["a"],1,1]]]',
        b'[[],[],[],[["m",0,[1],1,true]]]',
        b"[" * 100_000,
    ],
)
def test_a_form_that_is_almost_right_is_no_extraction(bad: bytes) -> None:
    """Nothing is read with a part of it left out or taken for something else."""
    assert decode_extraction(bad) is None


def test_an_extraction_is_found_again(folder: Path, key_file: Path) -> None:
    """What one process keeps, the next one finds; both places are closed to others."""
    kept(folder, key_file)
    assert found_in(folder, key_file) == FOUND
    assert folder.stat().st_mode & 0o777 == 0o700
    assert only_file(folder).stat().st_mode & 0o777 == 0o600
    assert key_file.stat().st_mode & 0o777 == 0o600


def test_other_content_kinds_and_tables_have_entries_of_their_own(
    folder: Path, key_file: Path
) -> None:
    """An entry stands for one content, one kind of file and one set of tables."""
    cache = kept(folder, key_file)
    assert cache.find(cache.key_of("python", CONTENT + b" ")) is None
    assert found_in(folder, key_file, kind="shell") is None
    assert found_in(folder, key_file, knowledge="others") is None


def test_another_version_of_python_or_of_consentry_finds_nothing(
    folder: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What reads a file is part of what an entry is found by."""
    kept(folder, key_file)
    with monkeypatch.context() as changed:
        changed.setattr("consentry.__version__", "999")
        assert found_in(folder, key_file) is None
    with monkeypatch.context() as changed:
        changed.setattr("sys.version_info", (3, 99, 0))
        assert found_in(folder, key_file) is None
    assert found_in(folder, key_file) == FOUND


def test_an_entry_made_without_the_key_is_not_believed(folder: Path, key_file: Path) -> None:
    """Poison: an empty extraction written under the right name hides nothing."""
    kept(folder, key_file)
    genuine = only_file(folder).read_bytes()
    foreign = key_file.with_name("foreign.key")
    only_file(folder).unlink()
    cache = ExtractionCache(folder, foreign, "tables")
    cache.keep(cache.key_of("python", CONTENT), encode_extraction(Extraction()))
    cache.flush()
    assert found_in(folder, foreign) == Extraction()
    assert found_in(folder, key_file) is None
    only_file(folder).write_bytes(genuine)
    assert found_in(folder, key_file) == FOUND


def test_an_entry_moved_to_another_key_is_not_believed(folder: Path, key_file: Path) -> None:
    """Poison: the genuine record of a harmless file, filed under a harmful one's name."""
    cache = ExtractionCache(folder, key_file, "tables")
    harmless = cache.key_of("python", b"pass\n")
    cache.keep(harmless, encode_extraction(Extraction()))
    cache.flush()
    path = only_file(folder)
    path.write_bytes(path.read_bytes().replace(harmless, cache.key_of("python", CONTENT)))
    assert found_in(folder, key_file) is None


def test_every_changed_byte_makes_a_miss(folder: Path, key_file: Path) -> None:
    """A record with any one byte changed is as if it were not there."""
    kept(folder, key_file)
    path = only_file(folder)
    genuine = path.read_bytes()
    for place in range(len(genuine)):
        path.write_bytes(genuine[:place] + bytes([genuine[place] ^ 1]) + genuine[place + 1 :])
        assert found_in(folder, key_file) is None
    path.write_bytes(genuine)
    assert found_in(folder, key_file) == FOUND


def test_a_file_cut_off_anywhere_loses_its_end_alone(folder: Path, key_file: Path) -> None:
    """A torn record is cut away by the next who adds, and whole ones before it stay."""
    cache = kept(folder, key_file)
    whole = only_file(folder).read_bytes()
    other = cache.key_of("python", b"other")
    for length in range(0, 3 * len(whole) // 2, 7):
        only_file(folder).write_bytes((whole + whole)[:length])
        again = ExtractionCache(folder, key_file, "tables")
        again.keep(other, encode_extraction(FOUND))
        again.flush()
        assert ExtractionCache(folder, key_file, "tables").find(other) == FOUND
        assert (found_in(folder, key_file) == FOUND) == (length >= len(whole))


def test_processes_that_add_at_once_lose_nothing(folder: Path, key_file: Path) -> None:
    """Three processes add to one file, and every whole record of theirs can be read."""
    command = [sys.executable, "-c", KEPT, str(folder), str(key_file)]
    started = [subprocess.Popen([*command, str(number)]) for number in range(3)]
    assert [each.wait(50) for each in started] == [0, 0, 0]
    cache = ExtractionCache(folder, key_file, "tables")
    names = [f"{process}-{number}" for process in range(3) for number in range(200)]
    found = [cache.find(cache.key_of("python", name.encode())) for name in names]
    there = [
        (name, each.unclassified[0].key)
        for name, each in zip(names, found, strict=True)
        if each is not None
    ]
    assert all(name == key for name, key in there)
    # A process that met the lock too often lets a part of its own go.
    assert len(there) >= 300


def test_the_cache_stays_within_its_size(
    folder: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full file is put aside, the one before it goes, and what is new is found."""
    monkeypatch.setattr(extractioncache, "MOST_FILE", 20_000)
    cache = ExtractionCache(folder, key_file, "tables")
    for number in range(300):
        found = Extraction(unclassified=(Unclassified("x" * 400, number, ""),))
        cache.keep(cache.key_of("python", b"%d" % number), encode_extraction(found))
        cache.flush()
        assert sum(path.stat().st_size for path in folder.iterdir()) <= 40_000
    again = ExtractionCache(folder, key_file, "tables")
    there = [again.find(again.key_of("python", b"%d" % number)) for number in range(300)]
    assert there[299] is not None
    assert there[0] is None
    assert sum(each is not None for each in there) >= 30


def test_old_generations_go(folder: Path, key_file: Path) -> None:
    """Of tables that are not used any more, the newest two files stay."""
    for number in range(6):
        kept(folder, key_file, f"tables {number}")
    assert len(list(folder.iterdir())) == 3
    assert found_in(folder, key_file, "tables 5") == FOUND
    assert found_in(folder, key_file, "tables 0") is None


@pytest.mark.parametrize("which", ["folder", "file", "key"])
def test_places_that_others_may_read_are_not_used(folder: Path, key_file: Path, which: str) -> None:
    """A folder, file or key that is open to others is as if it were not there."""
    kept(folder, key_file)
    path = {"folder": folder, "file": only_file(folder), "key": key_file}[which]
    path.chmod(0o755)
    assert found_in(folder, key_file) is None
    kept(folder, key_file)
    path.chmod(0o700 if which == "folder" else 0o600)
    assert found_in(folder, key_file) == FOUND


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 33])
def test_a_key_that_is_none_keeps_nothing(folder: Path, key_file: Path, content: bytes) -> None:
    """A torn or overlong key is not repaired, and nothing is kept under it."""
    key_file.write_bytes(content)
    key_file.chmod(0o600)
    kept(folder, key_file)
    assert not folder.exists()
    assert key_file.read_bytes() == content


def test_links_and_pipes_in_place_of_files_only_cost_time(
    folder: Path, key_file: Path, tmp_path: Path
) -> None:
    """Nothing is written through a link, and a pipe holds nobody up."""
    kept(folder, key_file)
    path = only_file(folder)
    elsewhere = tmp_path / "elsewhere"
    path.unlink()
    path.symlink_to(elsewhere)
    kept(folder, key_file)
    assert not elsewhere.exists()
    path.unlink()
    os.mkfifo(path, 0o600)
    kept(folder, key_file)
    assert found_in(folder, key_file) is None


def test_a_full_disk_only_costs_time(folder: Path, key_file: Path) -> None:
    """Where nothing more can be written, what was there stays, and nothing raises."""
    kept(folder, key_file)
    size = only_file(folder).stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, before[1]))
    try:
        cache = ExtractionCache(folder, key_file, "tables")
        large = Extraction(unclassified=(Unclassified("x" * 5000, 1, ""),))
        cache.keep(cache.key_of("python", b"large"), encode_extraction(large))
        cache.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert only_file(folder).stat().st_size == size
    assert found_in(folder, key_file) == FOUND


def test_without_places_nothing_is_kept(key_file: Path, folder: Path) -> None:
    """No folder, or no key, is no cache; the caller reads every file."""
    for one, other in ((None, key_file), (folder, None), (None, None)):
        cache = ExtractionCache(one, other, "tables")
        cache.keep(cache.key_of("python", CONTENT), encode_extraction(FOUND))
        cache.flush()
        assert cache.find(cache.key_of("python", CONTENT)) is None
    assert not folder.exists()
