"""What a sandbox configuration may not say, with the exact place and what to write instead."""

from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadDocument
from consentry.declare.linuxcapabilities import LINUX_CAPABILITIES
from consentry.declare.sandboxconfig import read_sandbox_config
from consentry.surface.protected import protected_roots
from tests.declare.documents import config_problems, read_config, read_profile, with_profile

REFERENCE = Path(__file__).parent / "consent" / "sandbox-config.yaml"
NEVER = "which is never granted: "
COPY = Code.PROTECTED_ROOT.remedy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a: 1",
            [
                (
                    "1:1: a: `a` is not a key that is known here; the keys still free here are "
                    "sandboxConfig"
                ),
                "1:1: sandboxConfig: this key is missing; add `sandboxConfig:`",
            ],
        ),
        (
            "sandboxConfig: {engine: bubblewarp}",
            [
                (
                    "1:25: sandboxConfig.engine: `bubblewarp` is not one of auto, native, bubblewrap, "
                    "firejail, nsjail, docker, podman, deno; did you mean `bubblewrap`?"
                )
            ],
        ),
        (
            "sandboxConfig: {engine: none}",
            [
                (
                    "1:25: sandboxConfig.engine: `none` is not one of auto, native, bubblewrap, firejail"
                    ", nsjail, docker, podman, deno; write one of auto, native, bubblewrap, firejail, "
                    "nsjail, docker, podman, deno"
                )
            ],
        ),
        (
            "sandboxConfig: {fallbackEngine: auto}",
            [
                (
                    "1:33: sandboxConfig.fallbackEngine: `auto` names no engine to fall back on; "
                    "name one, or leave the key out"
                )
            ],
        ),
        (
            "sandboxConfig:\n  engine: docker\n  fallbackEngine: docker\n",
            [
                (
                    "3:19: sandboxConfig.fallbackEngine: `docker` is the engine itself; "
                    "name another one, or leave the key out"
                )
            ],
        ),
        (
            "sandboxConfig: {profiles: {tool:x: {}}}",
            [
                (
                    '1:28: sandboxConfig.profiles."tool:x": `tool:x` is not a name for a profile; '
                    "use letters, digits, `-` and `_`, at most 64"
                )
            ],
        ),
    ],
)
def test_wrong_configuration(text: str, said: list[str]) -> None:
    """Engines, names and keys outside of profiles."""
    assert config_problems(text) == said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "netwrok: {}",
            "4:7: netwrok: `netwrok` is not a key that is known here; did you mean `network`?",
        ),
        (
            "view: open",
            "4:13: view: `open` is not one of private, visible; write one of private, visible",
        ),
        (
            "writes: dirct",
            "4:15: writes: `dirct` is not one of layer, direct; did you mean `direct`?",
        ),
        (
            "timeout: 60",
            "4:16: timeout: this time has no unit; write a unit behind it, such as 60s",
        ),
        ("network: {}", "4:16: network.enabled: this key is missing; add `enabled:`"),
        (
            'network: {enabled: false, allow: ["a.example"]}',
            (
                "4:40: network.allow: hosts are listed, and the network is not enabled; "
                "write `enabled: true`, or leave the list out"
            ),
        ),
        (
            'network: {enabled: true, allow: ["127.1"]}',
            (
                "4:40: network.allow[0]: `127.1` is not a network target: its last part is a number, "
                "which resolvers read as an address; write example.com:443, *.example.com, 192.0.2.7, "
                "192.0.2.0/24 or [2001:db8::1]:443"
            ),
        ),
        (
            "network: {enabled: no}",
            "4:26: network.enabled: `no` is text, and true or false is meant; write false, without quotes",
        ),
        (
            "resources: {maxMemory: 512}",
            "4:30: resources.maxMemory: this size has no unit; write a unit behind it, such as 512MB",
        ),
        (
            "resources: {maxProcesses: 0}",
            "4:33: resources.maxProcesses: `0` is out of range; write a number from 1 to 4194304",
        ),
        (
            "resources: {maxCpu: 60}",
            "4:19: resources.maxCpu: `maxCpu` is not a key that is known here; did you mean `maxCPU`?",
        ),
        (
            "capabilities: [cap_chown]",
            (
                "4:22: capabilities[0]: each item is one capability with its value; "
                "write `- cap_sys_admin: false`"
            ),
        ),
        (
            "capabilities: [{cap_chown: false, cap_kill: false}]",
            (
                "4:22: capabilities[0]: each item is one capability with its value; "
                "write `- cap_sys_admin: false`"
            ),
        ),
        (
            "capabilities: [{cap_sys_admin: true}]",
            (
                "4:38: capabilities[0].cap_sys_admin: `cap_sys_admin` cannot be granted: no engine gives "
                "a capability; write false, or leave the item out"
            ),
        ),
        (
            "capabilities: [{cap_sys_admn: false}]",
            (
                "4:23: capabilities[0].cap_sys_admn: `cap_sys_admn` is not a Linux capability; "
                "did you mean `cap_sys_admin`?"
            ),
        ),
        (
            "filesystem: {readOnly: /opt}",
            (
                "4:30: filesystem.readOnly: `/opt` is text, and a list is meant; "
                "write a list; `[]` is an empty one"
            ),
        ),
    ],
)
def test_wrong_profile(line: str, said: str) -> None:
    """Each key with a value it does not take."""
    assert config_problems(with_profile(line)) == [said]


def test_every_capability_may_be_taken_away_and_none_given() -> None:
    """CONTRACTS §12-caps: `false` is the only value."""
    for name in LINUX_CAPABILITIES:
        assert read_profile(f"capabilities: [{{{name}: false}}]").dropped == (name,)
        assert len(config_problems(with_profile(f"capabilities: [{{{name}: true}}]"))) == 1


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("~/notes", "`~/notes` begins with a home, which is another one in a run; write the absolute path; what is yours is granted by its own name"),
        ("latex", "`latex` is not absolute; write `${WORKSPACE}/latex` for a path in the workspace"),
        ("${HOME}/x", "`${HOME}/x` has a variable in it; only `${WORKSPACE}` is replaced, at the start; write the path itself"),
        ("$HOME/x", "`$HOME/x` has a variable in it; only `${WORKSPACE}` is replaced, at the start; write the path itself"),
        ("/a/${WORKSPACE}", "`/a/${WORKSPACE}` has a variable in it; only `${WORKSPACE}` is replaced, at the start; write the path itself"),
        ("${WORKSPACE}x", "`${WORKSPACE}x` has a variable in it; only `${WORKSPACE}` is replaced, at the start; write the path itself"),
        ("${WORKSPACE}/../x", "`${WORKSPACE}/../x` leaves the folder it is relative to; name the path inside the workspace, or grant the absolute path"),
        ("", "the text is empty; write something, or leave the key out"),
        ("/opt/\\\\q", "`/opt/\\q` has a stray backslash at `\\q`; use *, ? and ** as wildcards and \\*, \\? or \\\\ for those characters themselves"),
        ("/opt/a\\0b", "the text contains NUL; remove the escape"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", ["readOnly", "readWrite", "noAccess"])
def test_wrong_path(key: str, path: str, said: str) -> None:
    """CONSENT §sandbox-2: absolute, or `${WORKSPACE}` at the start; in all three lists."""
    column = len(f'      filesystem: {{{key}: ["')
    assert config_problems(with_profile(f'filesystem: {{{key}: ["{path}"]}}')) == [
        f"4:{column}: filesystem.{key}[0]: {said}"
    ]


@pytest.mark.parametrize(
    ("path", "row"),
    [
        ("/etc/shadow", "/etc/"),
        ("/etc", "/etc/"),
        ("/opt/../etc/passwd", "/etc/"),
        ("/home/*/.ssh", "/home/*/.ssh/"),
        ("/root/.aws/credentials", "/root/.aws/"),
        ("/proc/self", "/proc/"),
        ("/var/lib", "/var/"),
    ],
)
@pytest.mark.parametrize("key", ["readOnly", "readWrite"])
def test_protected_roots_are_not_granted(key: str, path: str, row: str) -> None:
    """Neither to read nor to write, however they are spelled; the rule is named."""
    [said] = config_problems(with_profile(f'filesystem: {{{key}: ["{path}"]}}'))
    assert f"`{path}` lies in `{row}`, {NEVER}" in said
    assert said.endswith(COPY)


def test_protected_roots_may_be_closed_and_contained() -> None:
    """`noAccess` may name them; a path that contains one is granted, and the engine hides the part."""
    assert read_profile("filesystem: {readOnly: [/], noAccess: [/etc/passwd, /root/.ssh]}")


def test_homes_of_this_machine_are_protected_where_they_are_known() -> None:
    """The table may be bound to more homes than the usual ones."""
    text = with_profile("filesystem: {readOnly: [/srv/people/ann/.ssh]}").encode()
    assert read_sandbox_config(text, "s.yaml")
    with pytest.raises(BadDocument, match="private keys and passwords"):
        read_sandbox_config(text, "s.yaml", roots=protected_roots().bound_to(["/srv/people/ann"]))


def test_what_an_engine_provides_may_be_named_to_read_only() -> None:
    """The exceptions of the table; to write them is refused."""
    assert read_profile("filesystem: {readOnly: [/etc/fonts, /etc/ssl/certs/ca.pem]}")
    [said] = config_problems(with_profile("filesystem: {readWrite: [/etc/fonts]}"))
    assert NEVER in said


def test_everything_in_no_access_stands_alone() -> None:
    """CONTRACTS §7-noaccess: beside others `*` would say nothing, or close them all."""
    assert config_problems(with_profile('filesystem: {noAccess: ["*", /opt/x]}')) == [
        (
            "4:31: filesystem.noAccess[0]: `*` says that everything not listed is closed, and stands "
            "alone; leave it out; that is so anyway"
        )
    ]
    assert len(config_problems(with_profile('filesystem: {noAccess: ["*", []]}'))) == 2


def test_many_wrong_things_are_told_at_once() -> None:
    """One reading, one error, in the order of the document, exit status 3."""
    text = with_profile(
        "view: open",
        "filesystem:",
        "  readOnly: [relative, /etc/shadow]",
        "  readwrite: []",
        "resources: {maxCPU: -1, maxMemory: lots}",
    )
    with pytest.raises(BadDocument) as caught:
        read_config(text)
    places = [(each.where.line, each.where.field) for each in caught.value.problems]
    prefix = "sandboxConfig.profiles.p"
    assert places == [
        (4, f"{prefix}.view"),
        (6, f"{prefix}.filesystem.readOnly[0]"),
        (6, f"{prefix}.filesystem.readOnly[1]"),
        (7, f"{prefix}.filesystem.readwrite"),
        (8, f"{prefix}.resources.maxCPU"),
        (8, f"{prefix}.resources.maxMemory"),
    ]
    assert caught.value.exit_status == 3
