"""`--secret`: from a file of one's own or a variable, to one host, and never into the run or the record."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import home_of, last_record, put
from tests.elsewhere import folder_elsewhere
from tests.enforce.egress.peers import http_peer, make_certificate

TOKEN = "t0ken-that-nobody-must-see"
VALUE = f"Bearer {TOKEN}"
ASK = """
import os, sys, urllib.request
os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""
print(urllib.request.urlopen(sys.argv[1], timeout=20).read().decode())
"""


@dataclass(frozen=True, slots=True)
class Host:
    """One that speaks TLS, and where its certificate is for those who trust it."""

    peer: Any
    vouchers: str

    @property
    def place(self) -> str:
        """Name and port."""
        return f"localhost:{self.peer.server_port}"

    @property
    def asked(self) -> str:
        """As a program asks for it."""
        return f"http://{self.place}/asked"

    def got(self) -> list[str | None]:
        """What came with each request."""
        return [fields.get("authorization") for _, _, fields in self.peer.seen]


@contextmanager
def _host(line: CommandLine, tmp_path: Path) -> Iterator[Host]:
    certificate = make_certificate(tmp_path / "peer.pem", "localhost")
    whole = certificate.read_text()
    vouchers = whole[whole.index("-----BEGIN CERTIFICATE-----") :]
    with http_peer(certificate) as peer:
        yield Host(peer, str(put(line, str(home_of(line) / "ca.pem"), vouchers)))


def _key(line: CommandLine, content: str = VALUE + "\n", mode: int = 0o600) -> Path:
    return put(line, str(home_of(line) / "keys/api"), content, mode)


def _everything_on_disk(line: CommandLine) -> bytes:
    """All that was recorded or kept, byte by byte."""
    state = home_of(line) / ".local/state/consentry"
    return b"".join(each.read_bytes() for each in state.rglob("*") if each.is_file())


def test_a_secret_from_a_file_reaches_the_host_alone(line: CommandLine, tmp_path: Path) -> None:
    """The record has host, field and source; the value is in no output, and nowhere on disk."""
    put(line, "ask.py", ASK)
    key = _key(line)
    with _host(line, tmp_path) as host:
        secret = f"{host.place}=Authorization:file:{key}"
        words = ["--net", host.place, "--secret", secret, "--secret-ca", host.vouchers]
        ended = line("exec", *words, "--json", "--", "python3", "ask.py", host.asked)
        assert json.loads(ended.out)["stdout"]["content"] == "/asked\n", ended
        assert host.got() == [VALUE]
    sandbox = last_record(line)["sandbox"]
    port = host.peer.server_port
    given = {"host": "localhost", "port": port, "header": "Authorization", "source": "file"}
    assert sandbox["secrets"] == [given]
    assert [each["secret"] for each in sandbox["network"]] == ["authorization"]
    assert TOKEN not in ended.out + ended.err
    assert TOKEN.encode() not in _everything_on_disk(line)


def test_a_rehearsal_keeps_nothing_of_it(line: CommandLine, tmp_path: Path) -> None:
    """What waits on disk to be committed has what the program wrote, and no secret."""
    put(line, "ask.py", ASK + "open('out.txt', 'w').write('asked')\n")
    with _host(line, tmp_path) as host:
        secret = f"{host.place}=Authorization:file:{_key(line)}"
        words = ["--net", host.place, "--secret", secret, "--secret-ca", host.vouchers]
        rest = ["--rehearse", "--write", "out.txt", "--", "python3", "ask.py", host.asked]
        ended = line("exec", *words, *rest)
        assert (ended.status, host.got()) == (0, [VALUE]), ended
    assert TOKEN.encode() not in _everything_on_disk(line)


def test_a_secret_from_a_variable_is_not_in_the_run_s_own(
    line: CommandLine, tmp_path: Path
) -> None:
    """And one that the run is given by name is refused as a secret."""
    put(line, "ask.py", ASK + "print(sorted(os.environ.values()))\n")
    with _host(line, tmp_path) as host:
        secret = f"{host.place}=Authorization:env:API_KEY"
        words = ["--net", host.place, "--secret", secret, "--secret-ca", host.vouchers]
        program = ["--", "python3", "ask.py", host.asked]
        ended = line("exec", *words, *program, API_KEY=VALUE)
        assert (host.got(), TOKEN in ended.out) == ([VALUE], False), ended
        given = line("exec", *words, "--env", "API_KEY", *program, API_KEY=VALUE)
        assert_error(given, Code.SECRET_UNUSABLE)
        assert line("exec", *words, *program).status == Code.SECRET_UNUSABLE.status
        assert host.got() == [VALUE]
    assert TOKEN.encode() not in _everything_on_disk(line)


def test_a_snippet_has_the_same(line: CommandLine, tmp_path: Path) -> None:
    """The copy never has the value; the host does."""
    put(line, "ask.py", ASK.replace("sys.argv[1]", "place"))
    with _host(line, tmp_path) as host:
        secret = f"{host.place}=Authorization:file:{_key(line)}"
        words = ["--net", host.place, "--secret", secret, "--secret-ca", host.vouchers]
        ended = line("code", "ask.py", *words, "--arg", f"place={json.dumps(host.asked)}")
        assert (ended.status, host.got()) == (0, [VALUE]), ended
    assert len(last_record(line)["sandbox"]["secrets"]) == 1


def _refused(line: CommandLine, secret: str, *words: str, **environ: str) -> str:
    ended = line(
        "exec", "--net", "api.example", *words, "--secret", secret, "--", "true", **environ
    )
    assert ended.status == Code.SECRET_UNUSABLE.status, ended
    assert TOKEN not in ended.out + ended.err
    assert "error[secret-unusable]" in ended.err
    return ended.err


@pytest.mark.parametrize(
    "written",
    [
        TOKEN,
        f"api.example={TOKEN}",
        f"api.example=Authorization:{TOKEN}",
        f"api.example=Authorization:text:{TOKEN}",
        "*.example=Authorization:env:KEY",
        "192.0.2.0/24=Authorization:env:KEY",
        "api.example=Host:env:KEY",
        "api.example=Content_Length:env:KEY",
        "api.example=Authorization:env:K-E-Y",
        "api.example=Authorization:env:MISSING",
        "api.example=Authorization:file:/nowhere/at/all",
        "api.example=Authorization:file:/etc/hostname",
        "api.example=Authorization:file:/dev/null",
        "other.example=Authorization:env:KEY",
        "api.example:444=Authorization:env:SHORT",
        "api.example=Authorization:env:TWO_LINES",
    ],
)
def test_what_is_no_secret_starts_nothing_and_is_not_repeated(
    consentry: CommandLine, written: str
) -> None:
    """Whatever was typed may be one; the message says what is wrong, and not what it was."""
    _refused(consentry, written, KEY=VALUE, SHORT="short", TWO_LINES=f"{TOKEN}\r\nX: y")


def test_a_file_that_others_could_read_or_swap_is_refused(line: CommandLine) -> None:
    """Mode, owner, another name, a folder of everybody's; the workspace, and whatever is granted."""
    written = f"api.example=Authorization:file:{_key(line, mode=0o640)}"
    assert "0600" in _refused(line, written)
    key = _key(line)
    link = key.parent / "again"
    os.link(key, link)
    assert "another name" in _refused(line, written)
    link.unlink()
    inside = put(line, "key", VALUE, 0o600)
    assert "workspace" in _refused(line, f"api.example=Authorization:file:{inside}")
    (key.parent / "to-it").symlink_to(inside)
    led = f"api.example=Authorization:file:{key.parent / 'to-it'}"
    assert "workspace" in _refused(line, led)
    key.parent.chmod(0o777)
    assert "swapped" in _refused(line, written)
    key.parent.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(key, 12345, 12345)
        assert _refused(line, written)
    assert line("exec", "--net", "api.example", "--", "true").status == 0


def test_a_file_that_the_run_may_read_is_refused(line: CommandLine) -> None:
    """By a grant of its folder, or of itself."""
    with folder_elsewhere() as folder:
        folder.chmod(0o755)
        key = put(line, str(folder / "keys/api"), VALUE, 0o600)
        written = f"api.example=Authorization:file:{key}"
        for granted in (folder, key):
            assert "open to the run" in _refused(line, written, "--read", str(granted))
        words = ["--net", "api.example", "--secret", written]
        assert line("exec", *words, "--", "true").status == 0


def test_a_secret_among_the_arguments_is_refused(line: CommandLine) -> None:
    """They are recorded, and the program has them."""
    written = f"api.example=Authorization:file:{_key(line)}"
    words = ["--net", "api.example", "--secret", written]
    assert_error(line("exec", *words, "--", "echo", f"x{TOKEN}"), Code.SECRET_UNUSABLE)
    assert line("exec", *words, "--", "echo", "x").out == "x\n"


def test_certificates_are_not_a_stranger_s(line: CommandLine) -> None:
    """A workspace does not say whom to trust."""
    key, ca = _key(line), put(line, "ca.pem", "-----BEGIN CERTIFICATE-----")
    written = f"api.example=Authorization:file:{key}"
    assert "workspace" in _refused(line, written, "--secret-ca", str(ca))
    mine = put(line, str(home_of(line) / "ca.pem"), "nothing")
    assert "PEM" in _refused(line, written, "--secret-ca", str(mine))


PROFILE = """
sandboxConfig:
  profiles:
    api:
      filesystem: {readOnly: ["${WORKSPACE}"]}
      network:
        enabled: true
        allow: ["PLACE"]
        secrets: ["PLACE=Authorization:file:KEY"]
        secretCA: VOUCHERS
"""


def test_a_profile_s_secrets_count_in_one_s_own_configuration_alone(
    line: CommandLine, tmp_path: Path
) -> None:
    """A file that came with a workspace cannot have a secret sent anywhere."""
    put(line, "ask.py", ASK)
    with _host(line, tmp_path) as host:
        told = (("PLACE", host.place), ("KEY", str(_key(line))), ("VOUCHERS", host.vouchers))
        content = PROFILE
        for word, meant in told:
            content = content.replace(word, meant)
        put(line, str(home_of(line) / ".config/consentry/sandbox-config.yaml"), content)
        owner = line.cwd.stat()
        os.chown(home_of(line) / ".config", owner.st_uid, owner.st_gid)
        ended = line("exec", "--profile", "api", "--", "python3", "ask.py", host.asked)
        assert (ended.out, host.got()) == ("/asked\n", [VALUE]), ended
        put(line, "theirs.yaml", content)
        theirs = line("exec", "--profile", "theirs.yaml", "--", "python3", "ask.py", host.asked)
        assert_error(theirs, Code.NOT_ENFORCEABLE)
        assert host.got() == [VALUE]
