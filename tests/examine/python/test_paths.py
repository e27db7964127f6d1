"""Paths that code puts together: where they lead, or how they begin."""

import pytest

from tests.examine.python.resolving import value_of

CODE = "import os\nfrom pathlib import Path, PurePath\nhere = Path('data')\n"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("Path('a', 'b')", "<pathlib.Path at 'a/b'>"),
        ("Path()", "<pathlib.Path at '.'>"),
        ("Path(*given)", "<pathlib.Path>"),
        ("here / 'x'", "<pathlib.Path at 'data/x'>"),
        ("here / '/etc/passwd'", "<pathlib.Path at '/etc/passwd'>"),
        ("'/etc' / PurePath('passwd')", "<pathlib.Path at '/etc/passwd'>"),
        ("here / given / '/etc/passwd'", "<pathlib.Path at '/etc/passwd'>"),
        ("here / given", "<pathlib.Path at 'data/'…>"),
        (
            "(here if a else Path('/srv')) / 'x'",
            "<pathlib.Path at '/srv/x'> or <pathlib.Path at 'data/x'>",
        ),
        ("Path.home() / '.ssh'", "<pathlib.Path at '~/.ssh'>"),
        ("Path.cwd()", "<pathlib.Path at '.'>"),
        ("Path('/etc/x').parent", "<pathlib.Path at '/etc'>"),
        ("Path('a').parent", "<pathlib.Path>"),
        ("here.joinpath('a', 'b')", "<pathlib.Path at 'data/a/b'>"),
        ("here.with_suffix('.x')", "<pathlib.Path at 'data.x'>"),
        ("Path('a/b.c').with_name('d')", "<pathlib.Path at 'a/d'>"),
        ("Path('a/b.c').with_stem('d')", "<pathlib.Path at 'a/d.c'>"),
        ("Path('~/x').expanduser().resolve()", "<pathlib.Path at '~/x'>"),
        ("str(here / 'x')", "'data/x'"),
        ("f'{here}/x'", "'data/x'"),
        ("os.path.join('/etc', 'passwd')", "'/etc/passwd'"),
        ("os.path.join('/etc', given)", "'/etc/'…"),
        ("os.path.join(given, '/etc/passwd')", "'/etc/passwd'"),
        ("os.path.join('a', b'b')", "'a/b'"),
        ("os.path.expanduser('~/x')", "'~/x'"),
        ("os.path.expandvars('$HOME/x')", "'~/x'"),
        ("os.path.expandvars('/srv/$USER')", "'/srv/'…"),
        ("os.path.abspath('x')", "'x'"),
        ("os.path.dirname('/etc/passwd')", "'/etc'"),
        ("os.getcwd()", "'.'"),
        ("os.environ['HOME'] + '/.ssh'", "'~/.ssh'"),
        ("os.getenv('HOME')", "'~'"),
        ("os.sep + 'etc'", "'/etc'"),
    ],
)
def test_paths(expression: str, value: str) -> None:
    """GUARD §extract-absolute, §extract-protected: an absolute part begins anew."""
    assert value_of(expression, CODE) == value
