"""`consentry keys` and `plugins sign|forget|verify`: the real command, at a real terminal (TRUST §lock-6)."""

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.cli.keysplace import words_from
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.terminals import at_terminal

MANIFEST = 'pluginVersion: "1"\nname: build\nversion: "{}"\n'
WIDE = (200, 60)


@pytest.fixture
def plugin(project: Path) -> Path:
    """A plugin of the workspace, with its lock made."""
    place = project / "plugins/build"
    place.mkdir(parents=True)
    (place / "plugin.yaml").write_text(MANIFEST.format("1.0.0"))
    return place


def ask(home: Path, rule: str) -> None:
    """A policy with this rule for the plugin."""
    folder = home / ".config/consentry"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plugin-policy.yaml").write_text(
        f'pluginPolicyVersion: "1"\nplugins: {{build: {rule}}}\n'
    )


def answer(consentry: CommandLine, *words: str) -> dict[str, Any]:
    """The document of a command that worked."""
    ended = consentry(*words, "--json")
    assert ended.status == 0, ended.err
    document: dict[str, Any] = json.loads(ended.out)
    return document


def verified(consentry: CommandLine) -> tuple[int, str | None]:
    """The status of `plugins verify`, and why the plugin's evidence is refused."""
    ended = consentry("plugins", "verify", "--json")
    [row] = json.loads(ended.out)["evidence"]
    return ended.status, row["reason"]


@pytest.fixture
def other(tmp_path: Path, project: Path) -> CommandLine:
    """The command of another user, who has a home of their own."""
    folder = tmp_path / "other"
    folder.mkdir()
    environ = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    return CommandLine(project, environ)


def test_a_plugin_goes_from_one_user_to_another(
    consentry: CommandLine, other: CommandLine, home: Path, plugin: Path, project: Path
) -> None:
    """In threes: unsigned refused, signed by a key that was accepted taken, without the policy unasked."""
    consentry("plugins", "lock")
    ask(home, "{signedBy: {anyOf: [author]}}")
    assert verified(consentry) == (126, "unsigned")
    made = answer(other, "keys", "make", "author", "--expires", "365d")
    signed = answer(other, "plugins", "sign", "build", "--key", "author")
    assert signed["file"] == str(project / "plugins/build.dsse.json")
    assert verified(consentry) == (126, "unknown_key")
    (project / "author.json").write_text(other("keys", "show", "author", "--public").out)
    taken = answer(consentry, "keys", "trust", "author.json", "--fingerprint", made["key_id"])
    assert (taken["name"], taken["key_id"], taken["own"]) == ("author", made["key_id"], False)
    assert verified(consentry) == (0, None)
    (plugin / "more.txt").write_text("added later")
    consentry("plugins", "lock")
    assert verified(consentry) == (4, "signed_other_tree")
    (home / ".config/consentry/plugin-policy.yaml").unlink()
    assert verified(consentry) == (0, None)


def test_a_key_is_accepted_at_a_terminal_by_its_word(
    consentry: CommandLine, other: CommandLine, project: Path
) -> None:
    """The fingerprint is on the screen before; without a terminal nothing is accepted."""
    made = answer(other, "keys", "make", "author")
    (project / "author.json").write_text(other("keys", "show", "author", "--public").out)
    assert_error(consentry("keys", "trust", "author.json"), Code.TERMINAL_MISSING)
    with at_terminal(consentry, "keys", "trust", "author.json", size=WIDE) as terminal:
        terminal.answer("a approve", "d")
        assert terminal.ended() == 126, terminal.screen
    with at_terminal(consentry, "keys", "trust", "author.json", size=WIDE) as terminal:
        grouped = " ".join(made["key_id"][at : at + 8] for at in range(0, 32, 8))
        assert grouped in terminal.see("a approve")
        terminal.answer("", "a")
        terminal.answer("type trust to approve", "trust")
        assert terminal.ended() == 0, terminal.screen
    [known] = answer(consentry, "keys", "list")["keys"]
    assert known["key_id"] == made["key_id"]


def test_another_fingerprint_accepts_nothing(
    consentry: CommandLine, other: CommandLine, project: Path
) -> None:
    """The very key has to be named."""
    answer(other, "keys", "make", "author")
    (project / "author.json").write_text(other("keys", "show", "author", "--public").out)
    refused = consentry("keys", "trust", "author.json", "--fingerprint", "ab" * 32)
    assert_error(refused, Code.KEY_REFUSED)
    assert answer(consentry, "keys", "list")["keys"] == []


def test_a_sealed_key_asks_for_its_words(consentry: CommandLine, plugin: Path, home: Path) -> None:
    """Typed unseen at the terminal, or through an open file; the file holds no bare secret."""
    with at_terminal(consentry, "keys", "make", "me", "--passphrase", size=WIDE) as terminal:
        terminal.answer("a passphrase for the new key", "correct horse")
        terminal.answer("the same once more", "correct horse")
        assert terminal.ended() == 0, terminal.screen
    assert "horse" not in terminal.screen
    [file] = (home / ".local/state/consentry/keys").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    sign = ("plugins", "sign", "build", "--key", "me")
    assert_error(consentry(*sign), Code.TERMINAL_MISSING)
    with at_terminal(consentry, *sign, size=WIDE) as terminal:
        terminal.answer("the passphrase of the key of me", "wrong horse")
        assert terminal.ended() == 126, terminal.screen
    assert not (plugin.parent / "build.dsse.json").exists()
    assert _with_words(consentry, b"correct horse\n", *sign) == 0
    assert (plugin.parent / "build.dsse.json").exists()


def _with_words(consentry: CommandLine, words: bytes, *arguments: str) -> int:
    reading, writing = os.pipe()
    os.write(writing, words)
    os.close(writing)
    try:
        done = subprocess.run(
            [*consentry.program, *arguments, "--passphrase-fd", str(reading)],
            cwd=consentry.cwd,
            env=consentry.environ,
            stdin=subprocess.DEVNULL,
            pass_fds=(reading,),
            check=False,
        )
    finally:
        os.close(reading)
    return done.returncode


def test_a_rotated_key_is_taken_over_and_a_revoked_one_is_not(
    consentry: CommandLine, other: CommandLine, home: Path, plugin: Path, project: Path
) -> None:
    """By the endorsement of the key before; then the old one goes, and what it signed with it."""
    assert plugin.exists()
    answer(other, "keys", "make", "author")
    (project / "author.json").write_text(other("keys", "show", "author", "--public").out)
    answer(consentry, "keys", "trust", "author.json", "--yes")
    consentry("plugins", "lock")
    answer(other, "plugins", "sign", "build", "--key", "author")
    ask(home, "{signedBy: {anyOf: [author]}}")
    assert verified(consentry) == (0, None)
    rotated = answer(other, "keys", "rotate", "author", "--out", "endorsed.json")
    answer(consentry, "keys", "trust", "--endorsed", "endorsed.json", "--yes")
    old = rotated["endorsed_by"]
    assert answer(consentry, "keys", "revoke", old, "--reason", "rotated")["usable"] is False
    assert verified(consentry) == (126, "key_revoked")
    answer(other, "plugins", "sign", "build", "--key", "author", "--anew")
    assert verified(consentry) == (0, None)
    again = consentry("keys", "trust", "author.json", "--as", "eva", "--yes")
    assert_error(again, Code.KEY_REFUSED)


def test_a_key_of_another_tool_needs_a_name(consentry: CommandLine, project: Path) -> None:
    """A bare P-256 key in PEM form; one of a kind that is not used is refused."""
    pem = Path(__file__).parent.parent / "service/oms/reference.pem"
    (project / "ci.pem").write_bytes(pem.read_bytes())
    assert_error(consentry("keys", "trust", "ci.pem", "--yes"), Code.USAGE)
    taken = answer(consentry, "keys", "trust", "ci.pem", "--as", "ci", "--yes", "--expires", "90d")
    assert (taken["algorithm"], taken["expires_at"] is not None) == ("ecdsa-p256", True)
    assert consentry("keys", "show", "ci", "--pem").out.encode() == pem.read_bytes()
    (project / "bad.pem").write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    assert_error(consentry("keys", "trust", "bad.pem", "--as", "x", "--yes"), Code.SIGNING_KEY)


def test_a_key_whose_endorsement_cannot_be_written_is_not_rotated(
    consentry: CommandLine, project: Path
) -> None:
    """Nobody could take it over, nor any key after it; somewhere else it is."""
    made = answer(consentry, "keys", "make", "me")["key_id"]
    (project / "taken.json").write_text("x")
    for out in ("taken.json", "missing/x.json"):
        assert_error(consentry("keys", "rotate", "me", "--out", out), Code.FILE_UNUSABLE)
        assert consentry("keys", "list", "--quiet").out.split() == [made]
    assert (project / "taken.json").read_text() == "x"
    rotated = answer(consentry, "keys", "rotate", "me", "--out", "free.json")["key_id"]
    assert consentry("keys", "list", "--quiet").out.split() == [made, rotated]


@pytest.mark.parametrize(("size", "is_taken"), [(4096, True), (4097, False), (60_000, False)])
def test_a_passphrase_is_read_whole_or_not_at_all(size: int, is_taken: bool) -> None:  # noqa: FBT001 - a column
    """However it comes; one that is too long is never cut off."""
    reading, writing = os.pipe()
    os.write(writing, b"a" * size)
    os.close(writing)
    try:
        if is_taken:
            assert words_from(reading) == "a" * size
        else:
            with pytest.raises(UsageProblem, match="at most"):
                words_from(reading)
    finally:
        os.close(reading)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("keys",), None),
        (("keys", "show", "nobody"), Code.KEY_UNKNOWN),
        (("keys", "revoke", "nobody"), Code.KEY_UNKNOWN),
        (("keys", "rotate", "nobody", "--out", "x"), Code.KEY_UNKNOWN),
        (("keys", "rotate", "nobody"), Code.USAGE),
        (("keys", "make", "a b"), Code.USAGE),
        (("keys", "make", "a", "--expires", "soon"), Code.UNIT_DURATION),
        (("keys", "make", "a", "--algorithm", "rsa"), Code.USAGE),
        (("keys", "make", "a", "--passphrase-fd", "99"), Code.USAGE),
        (("keys", "trust", "missing.json"), Code.FILE_UNUSABLE),
        (("plugins", "sign", "build"), Code.USAGE),
        (("plugins", "sign", "build", "--key", "nobody"), Code.KEY_UNKNOWN),
        (("plugins", "forget", "build"), Code.ID_UNKNOWN),
    ],
)
def test_wrong_usage_is_one_error(
    consentry: CommandLine, plugin: Path, words: tuple[str, ...], code: Code | None
) -> None:
    """With its code and status, and nothing made of it."""
    assert plugin.exists()
    ended = consentry(*words)
    if code is None:
        assert ended.status == 2
    else:
        assert_error(ended, code)


def test_a_list_that_was_tampered_with_is_refused(consentry: CommandLine, home: Path) -> None:
    """Status 3, with the place; nothing is repaired."""
    answer(consentry, "keys", "make", "me")
    file = home / ".config/consentry/trusted-keys.json"
    file.write_text(file.read_text().replace('"keyId": "', '"keyId": "0', 1))
    ended = consentry("keys", "list")
    assert (ended.status, "trusted-keys.json:" in ended.err) == (3, True)


def test_what_is_printed_quietly_is_the_bare_answer(
    consentry: CommandLine, plugin: Path, project: Path
) -> None:
    """An id, a path, or nothing."""
    assert plugin.exists()
    made = consentry("keys", "make", "me", "--quiet").out.strip()
    assert consentry("keys", "list", "--quiet").out.strip() == made
    assert consentry("keys", "show", "me", "--quiet").out.strip() == made
    signed = consentry("plugins", "sign", "plugins/build", "--key", "me", "--quiet")
    assert signed.out.strip() == str(project / "plugins/build.dsse.json")
    assert consentry("keys", "revoke", "me", "--quiet").out == ""


def test_keys_are_erased_with_the_rest(consentry: CommandLine, home: Path, plugin: Path) -> None:
    """Private halves belong to the state; the list of keys is configuration, and stays."""
    assert plugin.exists()
    answer(consentry, "keys", "make", "me")
    consentry("plugins", "lock")
    consentry("plugins", "verify")
    ended = consentry("purge", "--everything", "--yes")
    assert ended.status == 0, ended.err
    assert not (home / ".local/state/consentry").exists()
    assert (home / ".config/consentry/trusted-keys.json").exists()


def test_a_key_is_revoked_also_where_nothing_can_be_recorded(
    consentry: CommandLine, home: Path
) -> None:
    """What makes things stricter counts first; status 5 says that the ledger has nothing of it."""
    made = answer(consentry, "keys", "make", "me")
    (home / ".local/state/consentry/ledger.db").write_bytes(b"not a database")
    ended = consentry("keys", "revoke", "me", "--reason", "lost")
    assert ended.status == 5, ended.err
    [known] = json.loads(consentry("keys", "list", "--json").out)["keys"]
    assert (known["key_id"], known["revoked_why"]) == (made["key_id"], "lost")
