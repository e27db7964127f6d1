"""What an import or a list makes of a file counts more than its name (GUARD §extract-1)."""

import pytest

from consentry.declare.patchbundle import Blob
from consentry.examine.sides import Side, examine_side
from consentry.service.extracting import Extractor
from consentry.service.guarding import BlobTree

STARTS = "require('child_process').execSync('id')\n"


def side(touched: dict[str, str], tree: dict[str, str]) -> Side:
    """One side of a change in a tree."""
    blobs = {path: Blob(text.encode()) for path, text in touched.items()}
    others = {path: Blob(text.encode("latin-1")) for path, text in tree.items()}
    return examine_side(blobs, BlobTree(others, blobs), Extractor())


def operations(given: Side) -> set[str]:
    """What is done, without where."""
    return {atom.operation.value for atom in given.atoms}


@pytest.mark.parametrize(
    ("script", "tree"),
    [
        ("require('./data.txt')", {"data.txt": STARTS}),
        ("require('./data.md')", {"data.md": STARTS}),
        ("require('./data.css')", {"data.css": STARTS}),
        ("require('./data.py')", {"data.py": STARTS}),
        ("require('./data')", {"data": STARTS}),
        ("require('./photo.png')", {"photo.png": STARTS}),
        ("import './evil.d.ts'", {"evil.d.ts": STARTS}),
        ("require('./lib')", {"lib/package.json": '{"main":"e.js"}', "lib/e.js": STARTS}),
        ("require('./lib')", {"lib/package.json": '{"main":"./e"}', "lib/e/index.js": STARTS}),
        (
            "require('./lib')",
            {"lib/package.json": '{"main":"e.txt"}', "lib/e.txt": STARTS, "lib/index.js": "1"},
        ),
        (
            "require('./lib')",
            {"lib/package.json": '{"exports":{".":{"node":"./e.js"}}}', "lib/e.js": STARTS},
        ),
        ("require('./x')", {"x.js": "1", "x.ts": STARTS}),
    ],
)
def test_what_a_script_imports_is_a_script(script: str, tree: dict[str, str]) -> None:
    """Whatever the file is called, it runs."""
    assert "start" in operations(side({"a.js": f"{script};\n"}, tree))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.json", '{"a": 1}'),
        ("style.css", "a { color: red }\n@import 'x.css';\n"),
        ("photo.png", "\x89PNG\r\n\x1a\n\0\0"),
        ("font.woff2", "wOF2\0\1\0\0"),
        ("logo.svg", "<svg><path d='M0 0'/></svg>"),
    ],
)
def test_what_tools_bundle_stays_what_it_is(name: str, content: str) -> None:
    """Data, styles and pictures that a script imports are no scripts."""
    given = side({"a.js": f"import x from './{name}';\n"}, {name: content})
    assert operations(given) == set()
    assert given.doubts == ()


LISTS = [
    ("requirements.txt", "-r deps.txt\n", "deps.txt"),
    ("requirements.txt", "-rdeps.txt\n", "deps.txt"),
    ("requirements.txt", "--requirement=deps.txt\n", "deps.txt"),
    ("requirements.txt", "-c deps.txt\n", "deps.txt"),
    ("requirements.txt", "-r more/deps.txt\n", "more/deps.txt"),
    ("sub/requirements.txt", "-r ../deps.txt\n", "deps.txt"),
    ("pyproject.toml", "[tool.setuptools.dynamic]\ndependencies={file=['deps.txt']}\n", "deps.txt"),
    ("setup.cfg", "[options]\ninstall_requires = file: deps.txt\n", "deps.txt"),
    ("tox.ini", "[testenv]\ndeps = -r{toxinidir}/deps.txt\n", "deps.txt"),
]


@pytest.mark.parametrize(("name", "content", "included"), LISTS)
def test_an_included_list_is_followed(name: str, content: str, included: str) -> None:
    """A new line that includes a file brings in what that file lists."""
    given = side({name: content}, {included: "requests\n"})
    assert "connect" in operations(given)
    assert side({name: content}, {}).doubts


@pytest.mark.parametrize(
    ("name", "content", "included"), [each for each in LISTS if not each[0].startswith("sub/")]
)
def test_a_touched_list_is_one_where_the_tree_includes_it(
    name: str, content: str, included: str
) -> None:
    """A list that is included by one that is not touched is a list of requirements."""
    assert "connect" in operations(side({included: "requests\n"}, {name: content}))
    assert operations(side({included: "requests\n"}, {name: ""})) == set()


def test_lists_include_lists() -> None:
    """A list that is included may include another, and itself."""
    tree = {"requirements.txt": "-r a.txt\n", "a.txt": "-r b.txt\n-r a.txt\n"}
    assert "connect" in operations(side({"b.txt": "requests\n"}, tree))
