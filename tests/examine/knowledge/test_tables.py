"""The compact file is made from the tables that people edit, and refuses rows that say nothing."""

import pytest

from consentry.examine.knowledge.tables import BadTable, compile_tables, normalised

MODULE = '[[module]]\nname = "{name}"\n'
DISTRIBUTION = '[[distribution]]\nname = "{name}"\nmodules = []\n'


def compiled(*texts: str) -> list[str]:
    """The lines made from tables."""
    sources = {f"t{number}.toml": text for number, text in enumerate(texts)}
    return compile_tables(sources).decode().splitlines()


def test_a_line_for_each_row_sorted_by_its_bytes() -> None:
    """The reader finds rows by halving: attributes first, then distributions, then modules."""
    lines = compiled(
        MODULE.format(name="b.c") + MODULE.format(name="b"),
        '[[distribution]]\nname = "B_x"\nmodules = ["b"]\n',
        '[[attribute]]\nname = "__code__"\neffects = ["load=any"]\n',
    )
    assert lines == ['a __code__\t["load=any"]', 'd b-x\t["b"]', "m b\t{}", "m b.c\t{}"]
    assert lines == sorted(lines, key=str.encode)


def test_the_order_of_files_and_keys_does_not_count() -> None:
    """GUARD §deterministic: the digest in a verdict is that of what is said, not of how."""
    one = MODULE.format(name="a") + 'import = ["net"]\ndefault = ["proc"]\n'
    other = MODULE.format(name="a") + 'default = ["proc"]\nimport = ["net"]\n'
    assert compiled(one, MODULE.format(name="b")) == compiled(MODULE.format(name="b"), other)


def test_modules_of_a_distribution_are_known() -> None:
    """One without a row is pure; a name above it that nobody owns is a mere namespace."""
    lines = compiled('[[distribution]]\nname = "x"\nmodules = ["google.x", "y"]\n')
    assert lines == [
        'd x\t["google.x","y"]',
        'm google\t{"namespace":1}',
        "m google.x\t{}",
        "m y\t{}",
    ]


def test_a_name_above_others_keeps_its_own_row() -> None:
    """It is a mere namespace only where nothing is said of it."""
    lines = compiled(
        MODULE.format(name="a") + 'import = ["net"]\n',
        '[[distribution]]\nname = "x"\nmodules = ["a.b"]\n',
    )
    assert 'm a\t{"import":["net"]}' in lines


def test_an_import_that_gives_nothing_is_kept() -> None:
    """`import = []` says something else than saying nothing."""
    assert compiled(MODULE.format(name="a") + "import = []\n") == ['m a\t{"import":[]}']


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (MODULE.format(name="a") + 'imports = ["net"]\n', "imports is not a key of a module"),
        (MODULE.format(name="a") + 'import = ["nett"]\n', "`nett` is not an effect"),
        (MODULE.format(name="a") * 2, "a stands twice"),
        (
            MODULE.format(name="a") + '[module.members]\nf = ["net@"]\n',
            "a.f: `net@` is not an effect",
        ),
        (
            DISTRIBUTION.format(name="a-b") + DISTRIBUTION.format(name="A.B"),
            "a-b stands twice",
        ),
    ],
)
def test_rows_that_are_refused(text: str, problem: str) -> None:
    """With the name of the file and of the row."""
    with pytest.raises(BadTable, match=r"^t0\.toml: ") as caught:
        compiled(text)
    assert problem in str(caught.value)


def test_names_of_distributions_as_indexes_compare_them() -> None:
    """Case, and how words are set apart, do not count."""
    assert {normalised(name) for name in ("Foo_Bar", "foo.bar", "FOO--bar", "foo-bar")} == {
        "foo-bar"
    }
