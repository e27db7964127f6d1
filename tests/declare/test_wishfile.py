"""`WISH_IR`: what a wish says, what it leaves open, and every way to be wrong (GUARD §wish-1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadDocument
from consentry.base.exitstatus import ExitStatus
from consentry.declare.wish import AllowedCapabilities, Wish
from consentry.declare.wishfile import read_wish
from consentry.surface.dimensions import Level, LoadLevel
from consentry.surface.lattice import NOTHING, Surface

HEAD = 'wish_ir_version: "1"\nid: w\nscope: [a]\nnon_goals: [b, c]\n'


def read(text: str, name: str = "w.yaml") -> Wish:
    """The wish in a text."""
    return read_wish(text.encode(), name)


def allowed(block: str) -> AllowedCapabilities:
    """The block of a wish that has one; in line 5."""
    found = read(f"{HEAD}allowed_capabilities: {{{block}}}").allowed
    assert found is not None
    return found


def problems(text: str) -> list[str]:
    """What is wrong, without the name of the file."""
    with pytest.raises(BadDocument) as caught:
        read(text)
    assert caught.value.exit_status is ExitStatus.BAD_DOCUMENT
    return [str(each).removeprefix("w.yaml:") for each in caught.value.problems]


def problem_with(block: str) -> str:
    """The one thing that is wrong with a block, from its field on."""
    [said] = problems(f"{HEAD}allowed_capabilities: {{{block}}}")
    return said.partition(" allowed_capabilities.")[2]


def test_the_least_wish() -> None:
    """CONTRACTS §12-wish: without a block nothing is said of powers at all."""
    assert read(HEAD) == Wish("w", ("a",), ("b", "c"), None)


def test_an_empty_block_is_something_else_than_none() -> None:
    """GUARD §decide-no-block speaks of one that is not there."""
    found = allowed("")
    assert (found.said, found.surface) == (frozenset(), NOTHING)


def test_every_field() -> None:
    """GUARD §wish-1: each as a value, and all of them as one surface."""
    found = allowed(
        "fs_read_roots: [feeds], fs_write_roots: [feeds/cache/, /tmp/x], net_access: ALLOWLIST, "
        "proc_exec: ALLOWLIST, env_read: ANY, dynamic_code_load: LIMITED, "
        "crypto_primitives: ALLOWLIST, tool_classes: [python, web], allowlists: {net_access: "
        "['Feeds.Example.org:443'], proc_exec: [git, ./run.sh], crypto_primitives: [RSA_2048]}"
    )
    assert [entry.written for entry in found.fs_write_roots] == ["feeds/cache/", "/tmp/x"]
    assert [entry.pattern.text for entry in found.fs_read_roots] == ["feeds"]
    assert (found.net_access, found.env_read) == (Level.ALLOWLIST, Level.ANY)
    assert found.dynamic_code_load is LoadLevel.LIMITED
    assert found.tool_classes == ("python", "web")
    assert found.allowlists == {
        "net_access": ("feeds.example.org:443",),
        "proc_exec": ("git", "./run.sh"),
        "crypto_primitives": ("rsa-2048",),
    }
    assert found.surface == Surface.of(
        read=["feeds/"],
        write=["feeds/cache/", "/tmp/x"],
        net=["feeds.example.org:443"],
        run=["git", "./run.sh"],
        env=Level.ANY,
        load=LoadLevel.LIMITED,
        crypto=["rsa-2048"],
        tools=["python", "web"],
    )


def test_what_was_said_is_kept() -> None:
    """GUARD §wish-2: a field that is not there can be named as missing; `NONE` was said."""
    found = allowed("net_access: NONE, env_read: ALLOWLIST, allowlists: {env_read: []}")
    assert found.said == {"net_access", "env_read", "allowlists", "allowlists.env_read"}
    assert found.allowlists == {"env_read": ()}
    assert found.proc_exec is Level.NONE


def test_a_root_opens_all_below_it_and_a_path_outside_only_itself() -> None:
    """CONTRACTS §7-explicit-path: an absolute path is named by itself."""
    found = allowed("fs_read_roots: [docs, 'src/*.py', /opt/x, ~/.config/x, ABSOLUTE_PATH]")
    assert list(found.surface.fs_read_roots) == sorted(
        ["docs/", "src/*.py", "/opt/x", "~/.config/x", "ABSOLUTE_PATH"]
    )


def test_a_level_without_a_list_opens_no_target() -> None:
    """CONTRACTS §7-allowlist: the step to `ALLOWLIST` and no more."""
    assert allowed("net_access: ALLOWLIST").surface == Surface.of(net=[])


def test_json_is_read_alike() -> None:
    """By the name of the file."""
    text = '{"wish_ir_version": "1", "id": "w", "scope": ["a"], "non_goals": ["b", "c"]}'
    assert read(text, "w.json") == read(HEAD)


@pytest.mark.parametrize("version", ["2", "1.0", "0", ""])
def test_an_unknown_version_is_refused(version: str) -> None:
    """It may mean anything by the same keys."""
    [said] = problems(HEAD.replace('"1"', f'"{version}"'))
    assert said.startswith("1:18: wish_ir_version: ")


def test_what_must_be_there() -> None:
    """All that is missing is told at once."""
    assert problems("{}") == [
        f"1:1: {key}: this key is missing; add `{key}:`"
        for key in ("wish_ir_version", "id", "scope", "non_goals")
    ]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("net_acess: ANY", "net_acess: `net_acess` is not a key that is known here; did you mean `net_access`?"),
        ("net_access: any", "net_access: `any` is not one of NONE, ALLOWLIST, ANY; did you mean `ANY`?"),
        ("net_access: true", 'net_access: `true` is true or false, and text is meant; put it in quotes: "true"'),
        ("dynamic_code_load: ALLOWLIST", "dynamic_code_load: `ALLOWLIST` is not one of NONE, LIMITED, ANY; write one of NONE, LIMITED, ANY"),
        ("fs_read_roots: feeds", "fs_read_roots: `feeds` is text, and a list is meant; write a list; `[]` is an empty one"),
        ("fs_read_roots: [a, b/../a]", "fs_read_roots[1]: this is already in line 5; keep one of the two"),
        ("fs_write_roots: [../up]", "fs_write_roots[0]: `../up` leaves the folder it is relative to; name the path inside the workspace, or grant the absolute path"),
        ("tool_classes: [web, web]", "tool_classes[1]: this is already in line 5; keep one of the two"),
        ("tool_classes: [' web']", "tool_classes[0]: ` web` is not the name of a tool class; compare it with the surface page of the reference"),
        ("allowlists: {fs_read_roots: []}", "allowlists.fs_read_roots: `fs_read_roots` is not a key that is known here; the keys still free here are net_access, proc_exec, env_read, crypto_primitives"),
        ("net_access: ANY, allowlists: {net_access: [a.example]}", "allowlists.net_access: a list goes with the level ALLOWLIST, and `net_access` is something else; write `net_access: ALLOWLIST`, or leave the list out"),
        ("allowlists: {env_read: [HOME]}", "allowlists.env_read: a list goes with the level ALLOWLIST, and `env_read` is something else; write `env_read: ALLOWLIST`, or leave the list out"),
        ("env_read: ALLOWLIST, allowlists: {env_read: [A=B]}", "allowlists.env_read[0]: `A=B` is a name and cannot contain `/` or `=`; use *, ? and ** as wildcards and \\*, \\? or \\\\ for those characters themselves"),
        ("crypto_primitives: ALLOWLIST, allowlists: {crypto_primitives: [SHA256, sha256]}", "allowlists.crypto_primitives[1]: this is already in line 5; keep one of the two"),
    ],
)  # fmt: skip
def test_wrong_field(block: str, said: str) -> None:
    """What is wrong, where, and what to write."""
    assert problem_with(block) == said


def test_a_place_is_named_to_the_column() -> None:
    """File, line, column, field."""
    text = f"{HEAD}allowed_capabilities:\n  fs_read_roots:\n    - ok\n    - ../no\n"
    [said] = problems(text)
    assert said.startswith("8:7: allowed_capabilities.fs_read_roots[1]: ")


def test_patterns_that_nobody_can_compare_are_refused() -> None:
    """A wish cannot keep the guard busy."""
    wild = f"'**/{'*a' * 40}*/**/b*', '**/*a{'?' * 60}*/**'"
    said = problems(f"{HEAD}allowed_capabilities: {{fs_read_roots: [{wild}]}}")
    assert len(said) == 1
    assert said[0].startswith("5:23: allowed_capabilities: ")


WORDS = st.sampled_from(["NONE", "ALLOWLIST", "ANY", "LIMITED", "[]", "[a]", "{}", "1", "null", "'*'", "[../x]", "x"])  # fmt: skip
FIELDS = st.sampled_from(["fs_read_roots", "net_access", "proc_exec", "dynamic_code_load", "tool_classes", "allowlists", "x"])  # fmt: skip


@given(st.dictionaries(FIELDS, WORDS, max_size=5), st.dictionaries(FIELDS, WORDS, max_size=3))
def test_any_block(block: dict[str, str], lists: dict[str, str]) -> None:
    """A block whose surface is what it says, or an error with places; nothing else."""
    inner = ", ".join(f"{key}: {value}" for key, value in block.items() if key != "allowlists")
    listed = ", ".join(f"{key}: {value}" for key, value in lists.items())
    text = f"{HEAD}allowed_capabilities: {{{inner}{', ' if inner else ''}allowlists: {{{listed}}}}}"
    try:
        found = read(text).allowed
    except BadDocument as wrong:
        assert all(each.where.line and each.help_line for each in wrong.problems)  # noqa: PT017 - as said
        return
    assert found is not None
    assert found.said >= block.keys()
    assert found.surface.net_access.level is found.net_access


@given(st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    """The one error."""
    with pytest.raises(BadDocument):
        read_wish(content, "w.yaml")
