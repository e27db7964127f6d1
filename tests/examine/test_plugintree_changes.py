"""Any single change to a tree changes its digest or has it refused, and no reordering does.

TRUST §lock-1.
"""

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.examine.pluginproblems import VerificationError
from consentry.examine.plugintree import read_tree
from tests.examine.plugintrees import File, Link, Spec, grow, second_digest

NAMES = st.sampled_from(["a", "b", "c", "é", "x.py", "long-name", "日", "ab", "a.b", "-"])
FILES = st.builds(File, st.binary(max_size=24), st.booleans())
FOLDERS = st.recursive(
    FILES,
    lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=4),
    max_leaves=8,
)


@st.composite
def trees(draw: st.DrawFn) -> dict[str, File | Link]:
    """A tree that is taken: files in folders, and links to some of the files."""
    nested = draw(st.dictionaries(NAMES, FOLDERS, min_size=1, max_size=4))
    spec: dict[str, File | Link] = {}

    def flatten(above: str, entries: Mapping[str, object]) -> None:
        for name, each in entries.items():
            if isinstance(each, dict):
                flatten(f"{above}{name}/", each)
            elif isinstance(each, File):
                spec[above + name] = each

    flatten("", nested)
    files = sorted(spec)
    for number, target in enumerate(draw(st.lists(st.sampled_from(files), max_size=2))):
        spec[f"link{number}"] = Link(target)
    return spec


def digest_of(spec: Spec) -> str | None:
    """The digest of a tree that is made for it; None where it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        top = grow(Path(folder) / "p", spec)
        try:
            return read_tree(top, keep_contents=False).digest
        except VerificationError:
            return None


Change = Callable[[dict[str, File | Link], random.Random], dict[str, File | Link] | None]


def _files(spec: Spec) -> list[str]:
    return sorted(path for path, each in spec.items() if isinstance(each, File))


def renamed(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link]:
    """One entry gets another name in its folder."""
    path = chance.choice(sorted(spec))
    spec[f"{path}-2"] = spec.pop(path)
    return spec


def recased(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link] | None:
    """One entry's name gets another case."""
    path = chance.choice(sorted(spec))
    above, slash, name = path.rpartition("/")
    if name.swapcase() == name:
        return None
    spec[above + slash + name.swapcase()] = spec.pop(path)
    return spec


def flipped(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link] | None:
    """One bit of one file's content."""
    full = [path for path in _files(spec) if spec[path].content]  # type: ignore[union-attr]
    if not full:
        return None
    path = chance.choice(full)
    old = spec[path]
    assert isinstance(old, File)
    content = bytearray(old.content)
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    spec[path] = File(bytes(content), old.executable)
    return spec


def grown(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link]:
    """One file gets one byte more."""
    path = chance.choice(_files(spec))
    old = spec[path]
    assert isinstance(old, File)
    spec[path] = File(old.content + b"\0", old.executable)
    return spec


def permitted(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link]:
    """The executable bit of one file."""
    path = chance.choice(_files(spec))
    old = spec[path]
    assert isinstance(old, File)
    spec[path] = File(old.content, not old.executable)
    return spec


def added(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link]:
    """A file more, empty or not, at the top or below."""
    above = Path(chance.choice(sorted(spec))).parent
    spec[str(above / "added")] = File(chance.choice([b"", b"x"]))
    return spec


def removed(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link] | None:
    """An entry less."""
    del spec[chance.choice(sorted(spec))]
    return spec or None


def relinked(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link] | None:
    """The text of a link, also where it still leads to the same."""
    links = sorted(path for path, each in spec.items() if isinstance(each, Link))
    if not links:
        return None
    path = chance.choice(links)
    old = spec[path]
    assert isinstance(old, Link)
    spec[path] = Link(f"./{old.text}")
    return spec


def file_to_link(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link]:
    """A link whose text is what the file contained, or that leads to its old content."""
    path = chance.choice(_files(spec))
    old = spec[path]
    assert isinstance(old, File)
    text = old.content.replace(b"\0", b"").decode("latin-1").replace("/", "") or "a"
    spec[path] = Link(text[:20])
    return spec


def link_to_file(
    spec: dict[str, File | Link], chance: random.Random
) -> dict[str, File | Link] | None:
    """A file whose content is the text of the link."""
    links = sorted(path for path, each in spec.items() if isinstance(each, Link))
    if not links:
        return None
    path = chance.choice(links)
    old = spec[path]
    assert isinstance(old, Link)
    spec[path] = File(old.text.encode())
    return spec


def moved(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link]:
    """An entry into another folder, under its name."""
    path = chance.choice(sorted(spec))
    spec[f"elsewhere/{Path(path).name}"] = spec.pop(path)
    return spec


def swapped(spec: dict[str, File | Link], chance: random.Random) -> dict[str, File | Link] | None:
    """The contents of two files that differ, each staying where it is."""
    files = _files(spec)
    one, other = chance.choice(files), chance.choice(files)
    if spec[one] == spec[other]:
        return None
    spec[one], spec[other] = spec[other], spec[one]
    return spec


def split_name(
    spec: dict[str, File | Link], chance: random.Random
) -> dict[str, File | Link] | None:
    """A folder's name and a file's run together: `a/b` becomes `a-b`."""
    deep = [path for path in sorted(spec) if "/" in path]
    if not deep:
        return None
    path = chance.choice(deep)
    spec[path.replace("/", "-")] = spec.pop(path)
    return spec


CHANGES: list[Change] = [
    renamed,
    recased,
    flipped,
    grown,
    permitted,
    added,
    removed,
    relinked,
    file_to_link,
    link_to_file,
    moved,
    swapped,
    split_name,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda each: each.__name__)
@given(spec=trees(), seed=st.integers(0, 2**32))
def test_any_single_change_changes_the_digest_or_is_refused(
    change: Change, spec: dict[str, File | Link], seed: int
) -> None:
    """TRUST §lock-1: the same operation is never without a trace."""
    before = digest_of(spec)
    assert before is not None
    after = change(dict(spec), random.Random(seed))  # noqa: S311 - repeatable
    if after is None or after == spec:
        return
    assert digest_of(after) != before


@given(spec=trees(), seed=st.integers(0, 2**32))
def test_no_reordering_changes_the_digest(spec: dict[str, File | Link], seed: int) -> None:
    """TRUST §lock-1: not the order of making, not times, owner, mask of modes or place."""
    chance = random.Random(seed)  # noqa: S311 - repeatable
    expected = digest_of(spec)
    order = sorted(spec)
    chance.shuffle(order)
    with tempfile.TemporaryDirectory(prefix="elsewhere-") as folder:
        top = grow(Path(folder) / "another-name", spec, order)
        for path in order:
            at = chance.randrange(2**31)
            os.utime(top / path, (at, at), follow_symlinks=False)
            if os.geteuid() == 0:
                os.chown(top / path, chance.randrange(9000), 4711, follow_symlinks=False)
            if isinstance(spec[path], File):
                mode = (top / path).stat().st_mode & 0o700
                (top / path).chmod(mode | chance.choice([0, 0o44, 0o66, 0o11]))
        assert read_tree(top, keep_contents=True).digest == expected == second_digest(top)
        copied = Path(folder) / "copied"
        shutil.copytree(top, copied, symlinks=True)
        assert read_tree(copied, keep_contents=False).digest == expected
