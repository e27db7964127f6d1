"""`package.json`, lock files and settings of npm, yarn and pnpm (GUARD §extract-1)."""

import json

import pytest

from tests.examine.dependencies.reading import read

KINDS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]


def package(**keys: object) -> str:
    """A `package.json` with these keys."""
    return json.dumps({"name": "x", "version": "1.0.0", **keys}, indent=2)


@pytest.mark.parametrize("kind", KINDS)
def test_dependencies_of_all_kinds(kind: str) -> None:
    """GUARD T2: a client of the network is the network, as declared; others are not known."""
    found = read("package.json", package(**{kind: {"axios": "^1.0", "no-such-thing": "1"}}))
    assert any(operation == "connect" for operation, _ in found.declared)
    assert found.unknown == {"dependency npm:no-such-thing"}


@pytest.mark.parametrize(
    ("wanted", "host", "key"),
    [
        ("github:a/b", "github.com:443", "https://github.com/a/b"),
        ("a/b#main", "github.com:443", "https://github.com/a/b#main"),
        ("git+ssh://git@g.example/a.git", "g.example:22", "git+ssh://git@g.example/a.git"),
        ("git@g.example:a/b.git", "g.example:22", "git@g.example:a/b.git"),
        ("https://t.example/a.tgz", "t.example:443", "https://t.example/a.tgz"),
    ],
)
def test_references(wanted: str, host: str, key: str) -> None:
    """A package from an address is that address."""
    found = read("package.json", package(dependencies={"thing": wanted}))
    assert found.hosts == {host}
    assert found.unknown == {f"dependency {key}"}


@pytest.mark.parametrize("wanted", ["workspace:*", "file:./sub", "link:packages/a", "./sub"])
def test_the_tree_itself_adds_nothing(wanted: str) -> None:
    """Folders of the tree are read where they lie."""
    found = read("package.json", package(dependencies={"thing": wanted}))
    assert found.powers == set()
    assert found.unknown == set()


def test_an_alias_is_what_it_stands_for() -> None:
    """`npm:other@1` under a harmless name is the other package."""
    found = read("package.json", package(dependencies={"left-pad": "npm:no-such-thing@1"}))
    assert found.unknown == {"dependency npm:no-such-thing"}


def test_overrides_bring_in_packages() -> None:
    """Replacing a dependency of a dependency is one more way to depend."""
    found = read("package.json", package(overrides={"nope": {".": "1", "no2": "npm:no3@1"}}))
    assert {"dependency npm:nope", "dependency npm:no3"} <= found.unknown


@pytest.mark.parametrize("name", ["preinstall", "install", "postinstall", "prepare", "test"])
def test_scripts_are_command_lines(name: str) -> None:
    """GUARD §extract-proc: a package manager runs some by itself."""
    found = read("package.json", package(scripts={name: "fetch-it https://x.example"}))
    assert "fetch-it" in found.programs


def test_hooks_beside_scripts() -> None:
    """Tools that keep command lines in the same file."""
    text = package(
        husky={"hooks": {"pre-commit": "one-it"}}, **{"lint-staged": {"*.js": ["two-it"]}}
    )
    assert {"one-it", "two-it"} <= read("package.json", text).programs


def test_a_script_that_is_there_twice_counts_twice() -> None:
    """Which of two wins depends on who reads; both are found."""
    text = '{"scripts": {"test": "one-it"},\n"scripts": {"test": "two-it"}}'
    assert {"one-it", "two-it"} <= read("package.json", text).programs


def test_package_lock() -> None:
    """Names in any folder, hosts, and scripts that run when something is installed."""
    text = json.dumps(
        {
            "lockfileVersion": 3,
            "packages": {
                "": {"name": "x"},
                "packages/own": {"version": "1"},
                "node_modules/own": {"resolved": "packages/own", "link": True},
                "node_modules/a/node_modules/@s/nope": {
                    "version": "1.0.0",
                    "resolved": "https://r.example/nope.tgz",
                    "hasInstallScript": True,
                },
                "node_modules/g": {"resolved": "git+ssh://git@g.example/g.git#aa"},
            },
        },
        indent=1,
    )
    found = read("package-lock.json", text)
    assert found.hosts == {"r.example:443", "g.example:22"}
    assert ("start", "") in found.declared
    assert found.unknown == {
        "dependency npm:@s/nope",
        "dependency git+ssh://git@g.example/g.git#aa",
    }


def test_package_lock_of_the_first_version() -> None:
    """Packages inside packages, to any depth."""
    inner: dict[str, object] = {"nope": {"version": "1"}}
    text = json.dumps({"dependencies": {"no2": {"version": "1", "dependencies": inner}}})
    found = read("npm-shrinkwrap.json", text)
    assert found.unknown == {"dependency npm:nope", "dependency npm:no2"}


def test_a_large_lock_is_read() -> None:
    """Lock files are larger than what people write."""
    packages = {f"node_modules/p{n}": {"version": "1", "integrity": "x"} for n in range(12_000)}
    found = read("package-lock.json", json.dumps({"packages": packages}))
    assert len(found.unknown) == 12_000


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "yarn.lock",
            (
                '# yarn lockfile v1\n\n\n"@s/nope@^1", "@s/nope@^1.1":\n  version "1.1"\n'
                '  resolved "https://r.example/n.tgz#aa"\n  dependencies:\n    x "^1"\n'
            ),
        ),
        (
            "yarn.lock",
            (
                '__metadata:\n  version: 8\n\n"@s/nope@npm:^1, @s/nope@npm:^2":\n  version: 1.0\n'
                '  resolution: "@s/nope@npm:1.0::__archiveUrl=https%3A%2F%2Fr.example%2Fn.tgz"\n'
            ),
        ),
        (
            "pnpm-lock.yaml",
            (
                "lockfileVersion: '9.0'\n\npackages:\n\n  '@s/nope@1.0.0':\n"
                "    resolution: {integrity: sha512-a, tarball: https://r.example/n.tgz}\n\n"
                "snapshots:\n\n  '@s/nope@1.0.0': {}\n"
            ),
        ),
        (
            "pnpm-lock.yaml",
            (
                "lockfileVersion: 5.4\npackages:\n  /@s/nope/1.0.0:\n"
                "    resolution: {tarball: https://r.example/n.tgz}\n    requiresBuild: true\n"
            ),
        ),
        (
            "pnpm-lock.yaml",
            "{packages: {'@s/nope@1.0.0': {resolution: {tarball: 'https://r.example/n.tgz'}}}}",
        ),
    ],
)
def test_other_locks(path: str, text: str) -> None:
    """The layouts that yarn and pnpm write, and one that only a person would."""
    found = read(path, text)
    assert found.unknown == {"dependency npm:@s/nope"}
    assert found.hosts == {"r.example:443"}


@pytest.mark.parametrize("path", ["yarn.lock", "pnpm-lock.yaml", "package-lock.json"])
def test_what_is_no_lock_is_unreadable(path: str) -> None:
    """GUARD §extract-closed."""
    assert read(path, b"- [unclosed\n: {\n").is_unreadable


def test_settings_with_a_registry_and_a_secret() -> None:
    """A registry is a host; a secret from the environment is seen."""
    text = "registry=https://r.example/\n//s.example/:_authToken=${NPM_TOKEN}\n"
    found = read(".npmrc", text)
    assert found.hosts == {"r.example:443", "s.example:443"}
    assert found.variables == {"NPM_TOKEN"}


def test_settings_that_start_or_load() -> None:
    """A shell for scripts, options for node, a copy of yarn in the tree."""
    assert "/opt/own-shell" in read(".npmrc", "script-shell=/opt/own-shell\n").programs
    assert ("load", "LIMITED") in read(".npmrc", "node-options=--require ./x.js\n").powers
    assert ("load", "LIMITED") in read(".yarnrc.yml", "yarnPath: .yarn/y.cjs\n").powers


def test_pip_settings() -> None:
    """Pip's configuration names hosts."""
    text = (
        "[global]\nindex-url = https://i.example/simple\nextra-index-url =\n  https://j.example\n"
    )
    assert read("pip.conf", text).hosts == {"i.example:443", "j.example:443"}


@pytest.mark.parametrize(
    "content",
    [b'{"a": }', b"[" * 100_000, b'{"a": "\\ud800"}', b"\xff", b"// x\n{}", b"{} {}", b'{"a" 1}'],
)
def test_hostile_json_is_unreadable(content: bytes) -> None:
    """GUARD §extract-closed: depth, halves of pairs, what is only nearly JSON."""
    assert read("package.json", content).is_unreadable
