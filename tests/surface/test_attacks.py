"""Attacks on the lattice: hostile manifests, spellings that mean nothing, and roots half protected.

Each test states what must hold; the hostile input is the smallest known one. The inputs that once
took unbounded work run in a child with a memory and a processor limit, so that a relapse ends the
child and not the suite.
"""

import resource
import subprocess
import sys

import pytest

from consentry.base.errors import BadInput
from consentry.surface.lattice import NOTHING, Surface
from consentry.surface.pattern import Pattern, Vocabulary
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import protected_roots
from consentry.surface.targets import Target
from consentry.surface.wire import surface_from_json, surface_to_json

MEMORY = 1 << 30
PROCESSOR_SECONDS = 10

PRELUDE = """
from consentry.base.errors import BadInput
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import NOTHING
from consentry.surface.pattern import Pattern
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import protected_roots
from consentry.surface.wire import surface_from_json, surface_to_json

def read(*roots):
    surface_from_json({**surface_to_json(NOTHING), "fs_read_roots": list(roots)})
"""

HOSTILE = {
    "all_of_many_stars": (
        r"read('*a*', ' \\& '.join(f'*{c}*' for c in 'abcdefghijklmnopqrstuvwxyz'))"
    ),
    "all_of_many_folders": (
        r"read('**/aa', ' \\& '.join(f'**/{c}{d}' for c in 'abcdefghijklmnopqrstuvwxyz' for d in 'ab'))"
    ),
    "long_siblings": "read(*('a?' * (1000 + i) + 'b' for i in range(200)))",
    "siblings_that_nearly_cover": (
        "read(*('?' * i + 'a' * (i + 1) + '*' + 'b' * (60 - i % 60) for i in range(400)))"
    ),
    "meet_of_few_stars": (
        "PatternScope.parse(f'*a{i}b*' for i in range(44)) & "
        "PatternScope.parse(f'*c{i}d*' for i in range(44))"
    ),
    "meet_of_folders": (
        "PatternScope.parse(f'**/a{i}' for i in range(300)) & "
        "PatternScope.parse(f'b{i}/' for i in range(300))"
    ),
    "meet_of_hosts": (
        "HostScope.parse(f'a{i}.com' for i in range(10000)) & "
        "HostScope.parse(f'b{i}.com' for i in range(10000))"
    ),
    "blocks_repeated_per_port": (
        "HostScope.parse([*(f'10.{i >> 8}.{i & 255}.1' for i in range(0, 4000, 2)), "
        "*(f'11.0.0.1:{i + 1}' for i in range(2000))])"
    ),
    "names_of_many_labels": (
        "HostScope.parse('a.' * 120 + f'x{i}.com:{i + 1}' for i in range(20000))"
    ),
    "meet_of_hosts_on_many_ports": (
        "HostScope.parse(f'x.com:{i + 1}' for i in range(20000)) & "
        "HostScope.parse(f'x.com:{i + 1}' for i in range(20000))"
    ),
    "meet_of_blocks_of_many_lengths": (
        "HostScope.parse(f'2001:db8:{i:x}::/64' for i in range(20000)) & "
        "HostScope.parse(f'{1 << (i % 15):x}::/{i}' for i in range(10, 128) if i > 15)"
    ),
    "many_heavy_all_of_entries": (
        r"read(*(f'{i}/' + '*ab' * 55 + f'* \\& {i}/' + '*ba' * 55 + '*' for i in range(400)))"
    ),
    "deep_folders_of_many_letters": (
        "u = [chr(0x4e00 + i) for i in range(2700)]; "
        "read(*('/'.join(u[2 * k] + u[2 * k + 1] for k in range(1340)) + f'/{i}' "
        "for i in range(140)))"
    ),
    "deep_folders": "read(*('/'.join(['ab'] * 1300) + f'/{i}' for i in range(1000)))",
    "siblings_of_shuffled_letters": (
        "import random; r = random.Random(1); "
        "read(*('*' + '*'.join(r.sample('abcdefghijkl', 12)) + '*' for _ in range(2000)))"
    ),
    "long_literals_against_shuffled_siblings": (
        "import random; r = random.Random(1); "
        "PatternScope.parse('abcdefghijkl' * 300 + f'{i}z' for i in range(100)) - "
        "PatternScope.parse('*z' + '*'.join(r.sample('abcdefghijkl', 12)) for _ in range(600))"
    ),
    "protected_roots_asked_of_a_long_pattern": (
        "protected_roots().bound_to().within(Pattern.parse('/' + '**/*a*/' * 500))"
    ),
}


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_is_answered_or_refused_within_limits(name: str) -> None:
    """A manifest of legal size is decided or refused as too complex; it never eats the machine."""
    program = f"{PRELUDE}\ntry:\n    {HOSTILE[name]}\nexcept BadInput:\n    pass\n"
    child = subprocess.run(
        [sys.executable, "-c", program],
        preexec_fn=_limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (child.returncode, child.stderr) == (0, "")


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (r"/etc/* \& etc/*", "/etc/*"),
        (r"/.ssh/ \& ~/.ssh/", "/.ssh/id"),
        (r"/ \& ./", "secret"),
    ],
)
def test_an_all_of_entry_over_two_anchors_covers_nothing(wide: str, narrow: str) -> None:
    """No path is under two anchors, so such an entry is refused, or matches and covers nothing."""
    try:
        scope = PatternScope.parse([wide])
    except BadInput:
        return
    assert not PatternScope.parse([narrow]) <= scope


def test_an_all_of_entry_over_two_anchors_of_programs_covers_nothing() -> None:
    """`sh` on the search path and `./sh` in the workspace are never the same entry."""
    try:
        scope = PatternScope.parse([r"./sh \& sh"], Vocabulary.COMMAND)
    except BadInput:
        return
    for narrow in ("sh", "./sh"):
        assert not PatternScope.parse([narrow], Vocabulary.COMMAND) <= scope


def test_an_all_of_entry_that_nothing_matches_is_no_power() -> None:
    """`a` and `b` together match nothing, which is refused or equal to the empty scope."""
    try:
        scope = PatternScope.parse([r"a \& b"])
    except BadInput:
        return
    assert scope == PatternScope.parse([])
    assert not scope


@pytest.mark.parametrize("spellings", [["*", "?*/"], [".*", ".?*/"]])
def test_an_entry_that_a_later_one_covers_is_left_out(spellings: list[str]) -> None:
    """`*` and `?*` match the same names, so the tree `?*/` covers `*` and stands alone."""
    assert PatternScope.parse(spellings[:1]) <= PatternScope.parse(spellings[1:])
    assert len(PatternScope.parse(spellings).entries) == 1


def test_a_deep_meet_is_said_or_refused_in_our_own_words() -> None:
    """Two patterns a thousand folders deep meet, or are too complex; the interpreter never stops us."""
    one, other = (PatternScope.parse(["a/" * 1000 + last]) for last in ("*b", "c*"))
    try:
        met = one & other
    except BadInput:
        return
    assert met <= one
    assert met <= other


def test_a_pattern_of_raw_bytes_reads_back() -> None:
    """The limit on length holds for the canonical spelling too, so that what is written is readable."""
    try:
        pattern = Pattern.parse("\udcff" * 4096)
    except BadInput:
        return
    assert Pattern.parse(str(pattern)) == pattern


def test_a_meet_of_long_patterns_reads_back() -> None:
    """A meet is refused as too complex, or spelled so that it can be read again."""
    long = "a" * 2500 + "*", "*" + "b" * 2500
    try:
        surface = Surface.of(read=long[:1]) & Surface.of(read=long[1:])
    except BadInput:
        return
    assert surface_from_json(surface_to_json(surface)) == surface


@pytest.mark.parametrize("word", ["", " a", "a\n", "\ud800"])
def test_a_tool_class_that_no_document_can_hold_is_refused(word: str) -> None:
    """A surface built in code obeys the rules of one read from a document."""
    with pytest.raises(BadInput):
        Surface.of(tools=[word])


def test_a_port_of_thousands_of_digits_is_refused_in_our_own_words() -> None:
    """The refusal is `surface-host`, not an error of the number reader."""
    with pytest.raises(BadInput):
        Target.parse("example.com:" + "9" * 5000)


@pytest.mark.parametrize("path", ["/srv/../state", "/srv/./state", "//state/"])
def test_a_moved_state_directory_is_protected_in_any_spelling(path: str) -> None:
    """`.` and `..` in the place that the caller names are removed, or the place is refused."""
    try:
        roots = protected_roots().bound_to(also=[path])
    except BadInput:
        return
    inside = "/srv/state/key" if "/./" in path else "/state/key"
    assert roots.over(Pattern.parse(inside)) is not None


def test_a_relative_state_directory_is_refused() -> None:
    """A relative place would protect something else than what the caller means."""
    with pytest.raises(BadInput):
        protected_roots().bound_to(also=["state"])


def test_the_shipped_table_protects_homes_before_it_is_bound() -> None:
    """Forgetting to bind the table opens no private key."""
    assert protected_roots().over(Pattern.parse("/home/someone/.ssh/id_ed25519")) is not None


@pytest.mark.parametrize("path", ["/home/someone", "~", "/."])
def test_a_plain_name_that_may_be_a_folder_reaches_into_it(path: str) -> None:
    """A plain name that is a folder means all below it, so what must be hidden there is named."""
    assert protected_roots().bound_to().within(Pattern.parse(path))


def test_the_absolute_path_mark_reaches_into_protected_roots() -> None:
    """`ABSOLUTE_PATH` is some absolute path, which may be a protected one."""
    assert protected_roots().within(Pattern.parse("ABSOLUTE_PATH"))


@pytest.mark.parametrize("path", ["~/.aider.tags.cache.v3/cache.db", "/tmp/tmux-1000/default"])
def test_folders_of_the_protected_kind_are_protected_below(path: str) -> None:
    """A row for a folder holds for what is in it, and a socket to a shell is as good as you."""
    assert protected_roots().bound_to().over(Pattern.parse(path)) is not None


def test_a_gain_is_told_even_when_an_example_is_too_much_work() -> None:
    """An example only decorates the reason; the gain itself is decided by the difference."""
    many = [f"src/package/module{i}/file_name_{i}.py" for i in range(1500)]
    [gain] = Surface.of(read=["e/*"]).gains_over(Surface.of(read=many))
    assert gain.added == ("e/*",)


@pytest.mark.parametrize("command", ["./.", "a/..", "/.", "~"])
def test_a_folder_is_no_program(command: str) -> None:
    """What has no name to start is refused, so that every surface reads back."""
    with pytest.raises(BadInput):
        Surface.of(run=[command])


def test_the_order_of_joining_does_not_change_the_bytes() -> None:
    """Blocks on a port and on any port have one spelling, however they came together."""
    a, b, c = (
        Surface.of(net=[text]) for text in ("10.0.0.2/31:80", "10.0.0.0/31:80", "10.0.0.0/31")
    )
    assert surface_to_json((a | b) | c) == surface_to_json(a | (b | c))
    assert (a | b) | c == a | (b | c)


@pytest.mark.parametrize("path", ["/home/*", "~/*", "/home/?omeone"])
def test_wildcards_that_may_match_a_folder_reach_into_it(path: str) -> None:
    """What a glob hits may be a home, so what must be hidden there is named."""
    assert any("ssh" in row.pattern.text for row in protected_roots().within(Pattern.parse(path)))


@pytest.mark.parametrize("path", ["~/.netrc/", "~/.npmrc/x", "/home/u/.bashrc/", "~/.netrc"])
def test_a_protected_file_is_protected_as_a_folder_too(path: str) -> None:
    """A trailing slash does not slip past a row."""
    assert protected_roots().over(Pattern.parse(path)) is not None


def test_a_machine_with_many_homes_is_still_answered() -> None:
    """A hundred homes: what `/` reaches into, and a wildcard under one of them."""
    roots = protected_roots().bound_to(f"/srv/h{number}" for number in range(100))
    assert len(roots.within(Pattern.parse("/"))) > 100
    assert roots.over(Pattern.parse("/srv/h7/.ssh/id_rsa")) is not None


def test_a_reason_is_safe_to_show() -> None:
    """Hostile targets in a reason are escaped and stay between their backticks."""
    [gain] = Surface.of(read=["a`; \x1b[31mfake"]).gains_over(Surface.of(read=["b"]))
    assert "\x1b" not in gain.reason
    assert gain.reason.count("`") == 4


def test_the_empty_surface_still_reads() -> None:
    """The control of this file: the document the attacks start from is itself well formed."""
    assert surface_from_json(surface_to_json(NOTHING)) == NOTHING
