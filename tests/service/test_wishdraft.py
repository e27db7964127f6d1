"""A wish from today's code: it allows that code and no more, and says what it leaves out."""

import os
from pathlib import Path
from typing import NamedTuple

import pytest

from consentry.declare.patchbundle import Blob
from consentry.declare.wish import Wish
from consentry.declare.wishfile import read_wish
from consentry.examine.verdict import Status, Verdict
from consentry.service.extracting import Extractor
from consentry.service.guarding import BlobTree, Change, Terms, check_change
from consentry.service.wishdraft import MOST_REMARKS, WishDraft, draft_wish, is_wish_id, wish_id
from consentry.surface.dimensions import Level, LoadLevel
from tests.service.codesamples import COUNTS, FETCHES, STARTS, examined, write_tree

OPENS = (
    "def keep(text):\n    with open('feeds/cache/a.xml', 'w') as file:\n        file.write(text)\n"
)
SEES = "import os\n\nTOKEN = os.environ['FEED_TOKEN']\n"
HASHES = "import hashlib\n\n\ndef sum(data):\n    return hashlib.sha256(data).hexdigest()\n"


class _Added(NamedTuple):
    """A file that a change adds."""

    path_after: str
    after: Blob
    path_before: str | None = None
    before: Blob | None = None


def _drafted(top: Path) -> tuple[WishDraft, Wish]:
    draft = draft_wish(examined(top), "wish-app")
    return draft, read_wish(draft.text.encode(), "wish.yaml")


def _judged(top: Path, wish: Wish) -> Verdict:
    """The guard on a change that adds the whole folder."""
    files = {
        str(path.relative_to(top)): Blob(path.read_bytes())
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }
    added = tuple(_Added(path, blob) for path, blob in files.items())
    change = Change(added, BlobTree({}), BlobTree(files))
    return check_change(change, Terms(wish), Extractor(workers=1))


def test_the_wish_of_a_project_lets_the_project_pass(tmp_path: Path) -> None:
    """GUARD §decide-pass: each power is named, and the guard agrees that nothing else is there."""
    write_tree(
        tmp_path,
        {
            "app/__init__.py": "from app import fetch, keep\n",
            "app/fetch.py": FETCHES,
            "app/keep.py": OPENS + SEES + HASHES,
            "run.py": STARTS,
            "pyproject.toml": '[project]\nname = "app"\nversion = "1"\ndependencies = ["requests"]\n',
        },
    )
    draft, wish = _drafted(tmp_path)
    assert draft.left_out == 0
    verdict = _judged(tmp_path, wish)
    assert (verdict.status, verdict.reasons, verdict.missing_fields) == (Status.PASS, (), ())
    assert verdict.delta.gained
    allowed = wish.allowed
    assert allowed is not None
    assert allowed.proc_exec is Level.ALLOWLIST
    assert allowed.allowlists["proc_exec"] == ("git",)
    assert allowed.allowlists["env_read"] == ("FEED_TOKEN",)
    assert allowed.allowlists["crypto_primitives"] == ("sha256",)


@pytest.mark.parametrize(
    "more",
    [
        "import subprocess\nsubprocess.run(['curl', 'x'])\n",
        "import requests\nrequests.get('https://elsewhere.example.org/')\n",
        "open('secrets/key', 'w')\n",
        "import os\nos.environ['OTHER']\n",
        "import hashlib\nhashlib.md5(b'')\n",
    ],
)
def test_the_wish_allows_no_more_than_that(more: str, tmp_path: Path) -> None:
    """GUARD §decide-implicit: what today's code does not do is not in it."""
    write_tree(tmp_path, {"a.py": FETCHES + OPENS + SEES + HASHES + STARTS})
    _, wish = _drafted(tmp_path)
    write_tree(tmp_path, {"b.py": more})
    assert _judged(tmp_path, wish).status is Status.BLOCKED


def test_a_bare_import_allows_no_target(tmp_path: Path) -> None:
    """A level without targets would allow any that is named: an empty list allows none."""
    write_tree(tmp_path, {"a.py": "import subprocess\n"})
    draft, wish = _drafted(tmp_path)
    assert "    proc_exec: []\n" in draft.text
    assert _judged(tmp_path, wish).status is Status.PASS
    write_tree(tmp_path, {"a.py": STARTS})
    assert _judged(tmp_path, wish).status is Status.BLOCKED


def test_computed_targets_are_any(tmp_path: Path) -> None:
    """It is what the code can do, and the wish says so."""
    write_tree(tmp_path, {"a.py": "import subprocess\n\ndef f(x):\n    subprocess.run(x)\n"})
    draft, wish = _drafted(tmp_path)
    assert "  proc_exec: ANY  # a.py:4: " in draft.text
    assert _judged(tmp_path, wish).status is Status.PASS


def test_paths_outside_stand_in_remarks(tmp_path: Path) -> None:
    """GUARD §extract-absolute, §extract-protected: nobody allows them by not looking."""
    write_tree(tmp_path, {"a.py": "open('/etc/passwd')\nopen('/opt/data/x')\nopen('data/y')\n"})
    draft, wish = _drafted(tmp_path)
    allowed = wish.allowed
    assert allowed is not None
    assert [entry.pattern.text for entry in allowed.fs_read_roots] == ["data/y"]
    assert "  #   /etc/passwd (a.py:1: " in draft.text
    assert "name the very path yourself" in draft.text
    assert draft.left_out == 2
    assert _judged(tmp_path, wish).status is Status.BLOCKED


def test_code_made_at_run_time_cannot_be_allowed(tmp_path: Path) -> None:
    """GUARD §decide-dynamic: LIMITED can be, ANY is a remark with every place."""
    write_tree(tmp_path, {"a.py": "import importlib\nimportlib.import_module('json')\n"})
    draft, wish = _drafted(tmp_path)
    assert wish.allowed is not None
    assert wish.allowed.dynamic_code_load is LoadLevel.LIMITED
    assert _judged(tmp_path, wish).status is Status.PASS
    write_tree(tmp_path, {"b.py": "def f(x):\n    return eval(x)\n"})
    draft, wish = _drafted(tmp_path)
    assert wish.allowed is not None
    assert wish.allowed.dynamic_code_load is LoadLevel.LIMITED
    assert "  # ANY was found and cannot be allowed" in draft.text
    assert "  #   b.py:2: eval()" in draft.text
    assert _judged(tmp_path, wish).status is Status.BLOCKED


def test_what_cannot_be_told_stands_in_remarks(tmp_path: Path) -> None:
    """GUARD §extract-closed: no field of a wish speaks of it; a long list is counted."""
    write_tree(tmp_path, {"a.py": "".join(f"import in_no_table_{n}\n" for n in range(30))})
    draft, wish = _drafted(tmp_path)
    assert "#   a.py:1: import in_no_table_0: in no table" in draft.text
    assert f"#   and {30 - MOST_REMARKS} more" in draft.text
    assert draft.left_out == 30
    assert _judged(tmp_path, wish).status is Status.UNKNOWN


def test_harmless_code_needs_nothing(tmp_path: Path) -> None:
    """GUARD T1: every field is there, and closed."""
    write_tree(tmp_path, {"a.py": COUNTS})
    draft, wish = _drafted(tmp_path)
    assert wish.allowed is not None
    assert not wish.allowed.surface
    assert "allowlists" not in draft.text
    assert _judged(tmp_path, wish).status is Status.PASS


def test_the_same_code_gives_the_same_text(tmp_path: Path) -> None:
    """GUARD §deterministic: and it does not depend on the order in which files are found."""
    files = {f"m{n}.py": FETCHES + STARTS + SEES for n in range(5)}
    write_tree(tmp_path / "one/app", files)
    write_tree(tmp_path / "two/app", dict(reversed(files.items())))
    first, second = (examined(tmp_path / name / "app") for name in ("one", "two"))
    texts = [draft_wish(each, "w").text.split("\n", 1)[1] for each in (first, second)]
    assert texts[0] == texts[1]


def test_hostile_names_stay_in_their_remarks(tmp_path: Path) -> None:
    """Whatever a file or a target is called, it cannot end a line or a quotation."""
    name = "a\nallowed_capabilities: {proc_exec: ANY}\n#\u2028\u202e.py"
    target = 'x\\ny: ANY #\\u2028\\udcff\\"]'
    write_tree(tmp_path, {name: f'open("{target}")\nopen("plain: #[x]")\nimport subprocess\n'})
    (tmp_path / os.fsdecode(b"\xff.py")).write_text("open('b.txt')\nimport nowhere_at_all\n")
    draft, wish = _drafted(tmp_path)
    assert wish.allowed is not None
    assert wish.allowed.proc_exec is Level.ALLOWLIST
    assert all(line.isprintable() for line in draft.text.split("\n"))
    assert draft.text.count("\nallowed_capabilities:") == 1


def test_ids() -> None:
    """An id is made from a name, whatever that is; one that was given is taken as it is."""
    assert wish_id("Feed Reader_2") == "wish-feed-reader-2"
    assert wish_id("/") == "wish-code"
    assert is_wish_id(wish_id("x" * 500))
    assert not is_wish_id(" x")
    assert not is_wish_id("")
    assert not is_wish_id("a\nb")
