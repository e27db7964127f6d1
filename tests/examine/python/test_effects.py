"""Effects at a place: which power a call gives, on which target, and where an argument decides it."""

import pytest

from consentry.examine.knowledge.effects import parse_effect
from consentry.examine.python.effects import atoms_of
from consentry.examine.python.place import Place
from consentry.examine.python.resolve import Resolver
from consentry.examine.python.values import Const, Instance
from tests.examine.python.resolving import TABLES, gathered_from

CODE = "import os, sys\nfrom pathlib import Path\nfrom typing import SafeLoader\n"


def given(effect: str, call: str | None, owner: Instance | None = None) -> list[str]:
    """The powers of an effect at a call, as `operation:target`; without one where it is named."""
    gathered = gathered_from(f"{CODE}{call or 'f()'}\n")
    calls = [each for scope in gathered.scopes for each in scope.calls]
    [node] = [each for each in calls if getattr(each.func, "id", None) == "f"]
    resolver = Resolver(TABLES, gathered)
    place = Place(resolver, gathered.module, node if call else None, owner)
    atoms = atoms_of([parse_effect(effect)], place)
    return [f"{atom.operation.value}:{atom.target}" for atom in atoms]


@pytest.mark.parametrize(
    ("effect", "call", "powers"),
    [
        ("read", "f()", ["read:./"]),
        ("read=/etc/passwd", "f()", ["read:/etc/passwd", "read:ABSOLUTE_PATH"]),
        ("read@0/path", "f('data/x')", ["read:data/x"]),
        ("write@0/path", "f(path='data/x')", ["write:data/x"]),
        ("write@0/path", "f(b'data/x')", ["write:data/x"]),
        ("write@0/path", "f(Path('data') / 'x')", ["write:data/x"]),
        ("write@0/path", "f(given)", ["write:./"]),
        ("write@0/path", "f()", ["write:./"]),
        ("write@0/path", "f(*given)", ["write:./"]),
        ("write@0/path", "f(**given)", ["write:./"]),
        ("write@0/path", None, ["write:./"]),
        ("read@0/path", "f('a' if x else 'b')", ["read:a", "read:b"]),
        ("read@0/path", "f(3)", []),
        ("read@0/path", "f('/srv/' + given)", ["read:/srv/", "read:ABSOLUTE_PATH", "read:./"]),
        ("read@0/path", "f('https://example.com/x')", ["connect:example.com:443"]),
    ],
)
def test_files(effect: str, call: str | None, powers: list[str]) -> None:
    """GUARD §extract-absolute: a constant is that path, a computed one anywhere in the workspace."""
    assert given(effect, call) == powers


@pytest.mark.parametrize(
    ("call", "powers"),
    [
        ("f('x')", ["read"]),
        ("f('x', 'r')", ["read"]),
        ("f('x', 'w')", ["write"]),
        ("f('x', mode='a')", ["write"]),
        ("f('x', 'r+')", ["read", "write"]),
        ("f('x', 'w+b')", ["read", "write"]),
        ("f('x', given)", ["read", "write"]),
        ("f('x', 'r' if y else 'w')", ["read", "write"]),
        ("f('x', **given)", ["read", "write"]),
        (None, ["read", "write"]),
    ],
)
def test_modes(call: str | None, powers: list[str]) -> None:
    """GUARD §extract-absolute: reading or writing as the mode says, both where it is computed."""
    found = given("open@0/file,1/mode", call)
    assert sorted({each.partition(":")[0] for each in found}) == powers


@pytest.mark.parametrize(
    ("effect", "call", "powers"),
    [
        ("net", "f()", ["connect:"]),
        ("net:any", "f()", ["connect:*"]),
        ("net=h:1", "f()", ["connect:h:1"]),
        ("net@0/url", "f('https://h/x')", ["connect:h:443"]),
        ("net@0/url", "f('https://h/' + given)", ["connect:h:443"]),
        ("net@0/url", "f('https://h' + given)", ["connect:*"]),
        ("net@0/url", "f(given)", ["connect:*"]),
        ("net@0/url", "f()", ["connect:"]),
        ("net@0/address", "f(('h', 25))", ["connect:h:25"]),
        ("net@0/address", "f((given, 25))", ["connect:*"]),
        ("net@0/address", "f(('h',))", ["connect:*"]),
        ("net@0/host,1/port", "f('h', 25)", ["connect:h:25"]),
        ("net@0/host,1/port", "f('h', given)", ["connect:h"]),
        ("net@0/host", "f('0.0.0.0')", ["connect:"]),
        ("net@0/url", None, ["connect:*"]),
    ],
)
def test_network(effect: str, call: str | None, powers: list[str]) -> None:
    """GUARD §extract-allowlist, CONTRACTS §7-allowlist: a target that is not a constant is ANY."""
    assert given(effect, call) == powers


@pytest.mark.parametrize(
    ("effect", "call", "powers"),
    [
        ("proc", "f()", ["start:"]),
        ("proc@0/args", "f(['git', given])", ["start:git"]),
        ("proc@0/args", "f([given, 'x'])", ["start:*"]),
        ("proc@0/args", "f(['git'] + given)", ["start:git"]),
        ("proc@0/args", "f([*given])", ["start:*"]),
        ("proc@0/args", "f([])", ["start:*"]),
        ("proc@0/args", "f([sys.executable, '-m', 'x'])", ["start:python"]),
        ("proc@0/args", "f('make all')", ["start:make"]),
        ("proc@0/args", "f(given)", ["start:*"]),
        ("proc@0/args", "f()", ["start:"]),
        ("env@0/key", "f('HOME')", ["see:HOME"]),
        ("env@0/key", "f(b'HOME')", ["see:HOME"]),
        ("env@0/key", "f(given)", ["see:*"]),
        ("crypto@0/name", "f('MD5')", ["encrypt:md5"]),
        ("crypto=rsa@1/size", "f(65537, 2048)", ["encrypt:rsa-2048"]),
        ("crypto=rsa@1/size", "f(65537, given)", ["encrypt:rsa"]),
        ("crypto=rsa@1/size", "f(65537)", ["encrypt:rsa"]),
        ("load@0/name", "f('json')", ["load:LIMITED"]),
        ("load@0/name", "f(given)", ["load:ANY"]),
        ("load=any", None, ["load:ANY"]),
        ("tool=browser", "f()", ["call:browser"]),
        ("-> net.Client", "f()", []),
    ],
)
def test_other_powers(effect: str, call: str | None, powers: list[str]) -> None:
    """GUARD §extract-proc, §extract-dynamic: constants are targets, what is computed is any."""
    assert given(effect, call) == powers


@pytest.mark.parametrize(
    ("condition", "call", "holds"),
    [
        ("/switch=True", "f()", False),
        ("/switch=True", "f(switch=True)", True),
        ("/switch=True", "f(switch=1)", True),
        ("/switch=True", "f(switch=False)", False),
        ("/switch=True", "f(switch=given)", True),
        ("/switch=True", "f(**given)", True),
        ("1/Loader!=SafeLoader", "f(x)", True),
        ("1/Loader!=SafeLoader", "f(x, SafeLoader)", False),
        ("1/Loader!=SafeLoader", "f(x, Loader=Other)", True),
        ("1/Loader!=SafeLoader", "f(x, SafeLoader if y else given)", True),
        ("/name=*", "f()", False),
        ("/name=*", "f(name=None)", False),
        ("/name=*", "f(name='x')", True),
        ("/name=*", "f(name=None if y else 'x')", True),
        ("/name=*", None, True),
    ],
)
def test_conditions(condition: str, call: str | None, *, holds: bool) -> None:
    """GUARD §extract-dynamic: where an argument decides, one that is computed decides for the worst."""
    assert bool(given(f"load=any ?{condition}", call)) is holds


def test_the_path_that_an_object_was_made_with() -> None:
    """`Path("x").read_text()`; of an object that nobody saw made, anywhere."""
    owner = Instance("pathlib.Path", Const("/srv/x"))
    assert given("read@self", "f()", owner) == ["read:/srv/x", "read:ABSOLUTE_PATH"]
    assert given("read@self", "f()") == ["read:./"]
