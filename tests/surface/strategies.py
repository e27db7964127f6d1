"""Generators of patterns, targets and surfaces over small alphabets, where collisions are common."""

from hypothesis import strategies as st

from consentry.surface.dimensions import Level, LoadLevel
from consentry.surface.lattice import Surface

_names = st.one_of(
    st.sampled_from(["a", "b", "ab", "ba", "aa", ".a", "a.b"]),
    st.text(alphabet="ab.?*", min_size=1, max_size=4).filter(
        lambda text: text not in (".", "..", "**")
    ),
)
_segments = st.one_of(_names, _names, st.just("**"))


@st.composite
def path_patterns(draw: st.DrawFn) -> str:
    """Relative, absolute and home patterns; trees, globs and literals."""
    anchor = draw(st.sampled_from(["", "", "", "/", "~/"]))
    body = "/".join(draw(st.lists(_segments, min_size=1, max_size=3)))
    tail = draw(st.sampled_from(["", "", "/"]))
    return anchor + body + tail


relative_patterns = st.builds(
    lambda names, tail: "/".join(names) + tail,
    st.lists(_segments, min_size=1, max_size=3),
    st.sampled_from(["", "", "/"]),
)

name_patterns = st.text(alphabet="AB_?*", min_size=1, max_size=4)
command_patterns = st.one_of(
    st.sampled_from(["git", "sh", "g*", "./sh", "/bin/sh", "/bin/", "tools/x"]), path_patterns()
)

_hosts = st.sampled_from(
    [
        "a.com",
        "b.a.com",
        "c.b.a.com",
        "*.a.com",
        "*.b.a.com",
        "*.com",
        "localhost",
        "10.0.0.0/8",
        "10.0.0.0/9",
        "10.128.0.0/9",
        "10.1.2.3",
        "0.0.0.0/0",
        "192.0.2.7",
    ]
)
_ports = st.sampled_from(["", "", ":80", ":443"])
host_targets = st.one_of(
    st.builds(lambda host, port: host + port, _hosts, _ports),
    st.sampled_from(["*:443", "*:80", "[2001:db8::/32]:443", "2001:db8::1", "::/0"]),
)


def _lists(entries: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(entries, max_size=3)


def _access(entries: st.SearchStrategy[str]) -> st.SearchStrategy[Level | list[str]]:
    return st.one_of(st.sampled_from([Level.NONE, Level.ANY]), _lists(entries), _lists(entries))


@st.composite
def surfaces(draw: st.DrawFn) -> Surface:
    """Any surface: every dimension closed, listed or open."""
    return Surface.of(
        read=draw(_lists(path_patterns())),
        write=draw(_lists(path_patterns())),
        net=draw(_access(host_targets)),
        run=draw(_access(command_patterns)),
        env=draw(_access(name_patterns)),
        load=draw(st.sampled_from(LoadLevel)),
        crypto=draw(_access(name_patterns)),
        tools=draw(st.sets(st.sampled_from(["python", "web", "shell"]))),
    )
