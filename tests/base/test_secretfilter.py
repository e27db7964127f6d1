"""The secret filter: secret values go, and everything a person must see to consent stays."""

import shlex
import tomllib
from pathlib import Path

import pytest

from consentry.base.secretfilter import HIDDEN, mask_arguments, mask_text

RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # no token of anyone's, but shaped like one

CORPUS = tomllib.loads((Path(__file__).parent / "corpus" / "secret_arguments.toml").read_text())
HIDING = CORPUS["hiding"]

TOKENS = [
    "ghp_" + RANDOM,
    "github_pat_11A_" + RANDOM,
    "glpat-" + RANDOM[:20],
    "xoxb-123456789012-" + RANDOM,
    "sk_live_" + RANDOM,
    "sk-proj-" + RANDOM,
    "sk-ant-api03-" + RANDOM,
    "AIza" + RANDOM[:35],
    "npm_" + RANDOM,
    "py" + "pi-AgE" + RANDOM,
    "eyJhbGciOiJub25lIn0." + RANDOM + "." + RANDOM,
    "hvs." + RANDOM,
]


class TestSecretsGo:
    """Each way to pass a secret that is known, one by one."""

    @pytest.mark.parametrize(("line", "masked"), CORPUS["masked"])
    def test_the_value_is_masked_and_nothing_else(self, line: str, masked: str) -> None:
        """Program, options, users, paths and hosts are where they were."""
        assert mask_arguments(shlex.split(line)) == tuple(shlex.split(masked))

    @pytest.mark.parametrize("token", TOKENS, ids=[token[:10] for token in TOKENS])
    def test_a_token_is_known_by_its_shape(self, token: str) -> None:
        """With no name to give it away, alone, in a sentence, in a URL and in quotes."""
        assert mask_arguments(["tool", token]) == ("tool", HIDDEN)
        assert mask_text(f"use {token}, please") == f"use {HIDDEN}, please"
        assert mask_text(f"https://{token}@h.example/") == f"https://{HIDDEN}@h.example/"
        assert mask_text(f'"{token}"') == f'"{HIDDEN}"'

    def test_a_private_key_is_masked_between_its_marks(self) -> None:
        """The marks stay, so that one sees what was there."""
        body = "\n".join([RANDOM * 2, RANDOM * 2])
        key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
        masked = (
            f"-----BEGIN RSA PRIVATE KEY-----\n{HIDDEN}\n{HIDDEN}\n-----END RSA PRIVATE KEY-----"
        )
        assert mask_text(key) == masked
        assert mask_arguments(["tool", key]) == ("tool", masked)
        assert RANDOM not in mask_text(f"-----BEGIN PRIVATE KEY-----\\n{RANDOM}\\n")

    @pytest.mark.parametrize(
        ("text", "masked"),
        [
            ("password: hunter2", "password: [hidden]"),
            ("export API_KEY=abc", "export API_KEY=[hidden]"),
            ("  db_password = hunter2\nhost = h", "  db_password = [hidden]\nhost = h"),
            (f"login failed, token: {RANDOM}", "login failed, token: [hidden]"),
            (f"sh: tool --token {RANDOM} h.example", "sh: tool --token [hidden] h.example"),
            ("curl -u me:pw https://h.example", "curl -u me:[hidden] https://h.example"),
            (
                "> Authorization: Bearer abc\n> Host: h",
                "> Authorization: Bearer [hidden]\n> Host: h",
            ),
            (r"{\"token\":\"abc\"}", r"{\"token\":\"[hidden]\"}"),
        ],
    )
    def test_text_is_masked_word_by_word(self, text: str, masked: str) -> None:
        """Program output and log lines."""
        assert mask_text(text) == masked

    def test_the_mask_tells_nothing_about_the_secret(self) -> None:
        """Long or short, the same or not: one constant."""
        assert mask_arguments(["t", "--token", "a"]) == mask_arguments(["t", "--token", "b" * 99])


class TestTheRestStays:
    """What must be seen to consent."""

    @pytest.mark.parametrize("line", CORPUS["kept"])
    def test_nothing_is_masked_without_need(self, line: str) -> None:
        """Paths, hosts, ports, switches and identifiers only look like secrets."""
        assert mask_arguments(shlex.split(line)) == tuple(shlex.split(line))

    def test_the_program_is_never_masked(self) -> None:
        """Not even one that is called like a secret."""
        assert mask_arguments(["DB_PASSWORD=x", "--token=y"]) == (
            "DB_PASSWORD=x",
            "--token=[hidden]",
        )

    def test_an_empty_list_is_fine(self) -> None:
        """There is nothing to mask."""
        assert mask_arguments([]) == ()


class TestMaskIsNoHidingPlace:
    """An attacker who writes the arguments cannot use the mask to hide what they do.

    In threes: the dangerous part stays in sight; an honest secret in the same place is masked; and a
    filter that masked the whole value would have hidden it.
    """

    @pytest.mark.parametrize("argv", HIDING, ids=" ".join)
    def test_the_dangerous_part_stays_in_sight(self, argv: list[str]) -> None:
        """The host, program or path that matters is in the output."""
        assert "evil.example" in " ".join(mask_arguments(argv))

    @pytest.mark.parametrize(
        "argv",
        [
            ("sh", "-c", "TOKEN={}; curl https://good.example | sh"),
            ("sh", "-c", '"$@"', "--password", "{}"),
            ("tool", "--token={}"),
            ("tool", "https://user:{}@good.example/"),
        ],
    )
    def test_an_honest_secret_in_the_same_place_is_masked(self, argv: tuple[str, ...]) -> None:
        """The care taken costs nothing."""
        secret = "hK3-" + RANDOM
        assert mask_arguments([word.replace("{}", secret) for word in argv]) == tuple(
            word.replace("{}", HIDDEN) for word in argv
        )

    @pytest.mark.parametrize(
        "argv",
        [argv for argv in HIDING if "evil.example" in argv[-1].partition("=")[2]],
        ids=" ".join,
    )
    def test_masking_all_behind_the_equals_sign_would_hide_it(self, argv: tuple[str, ...]) -> None:
        """The simple filter is the attacker's friend."""
        before = argv[-1].partition("=")[0]
        assert "evil.example" not in f"{before}={HIDDEN}"

    @pytest.mark.parametrize(
        ("argv", "shown"),
        [
            (("sh", "-c", "TOKEN={}; x $TOKEN"), "$TOKEN"),
            (("env", "TOKEN={}", "sh", "-c", "x $TOKEN"), "$TOKEN"),
            (("python3", "-c", "token='{}'; run(token)"), "(token)"),
        ],
    )
    def test_a_value_is_shown_where_the_code_uses_its_name(
        self, argv: tuple[str, ...], shown: str
    ) -> None:
        """It may be the command; the same value is masked in the same code without the use."""
        used = [word.replace("{}", "hunter2") for word in argv]
        assert mask_arguments(used) == tuple(used)
        unused = [word.replace(shown, "") for word in argv]
        assert mask_arguments([word.replace("{}", "hunter2") for word in unused]) == tuple(
            word.replace("{}", HIDDEN) for word in unused
        )

    @pytest.mark.parametrize("value", ["{}$x", "{}\\x20", "{}\\ y", "{}://y", "!{}"])
    def test_a_word_that_says_more_than_it_shows_is_shown_in_code(self, value: str) -> None:
        """Expansions, escapes, URLs and `!`; the plain word in the same place is masked."""
        word = value.replace("{}", "hunter2")
        code = f"TOKEN={word}; x"
        assert mask_arguments(["sh", "-c", code]) == ("sh", "-c", code)
        assert mask_arguments(["sh", "-c", "TOKEN=hunter2; x"]) == ("sh", "-c", "TOKEN=[hidden]; x")

    def test_data_with_a_dollar_sign_is_masked(self) -> None:
        """No shell reads the value of an option of an ordinary program."""
        assert mask_arguments(["tool", "--password=pa$$word"]) == ("tool", "--password=[hidden]")


class TestQuotedSecrets:
    """A quote before the secret does not save it from the mask."""

    @pytest.mark.parametrize(
        ("argv", "masked"),
        [
            (("sh", "-c", 'PGPASSWORD="{}" psql'), 'PGPASSWORD="[hidden]" psql'),
            (("bash", "-c", "PASSWORD='{}' run"), "PASSWORD='[hidden]' run"),
            (("ssh", "h", "TOKEN='{}' y"), "TOKEN='[hidden]' y"),
            (("make", "TOKEN='{}'"), "TOKEN='[hidden]'"),
            (("ssh", "h", "--token", "'{}'"), "'[hidden]'"),
            (("env", "PASSWORD='{}'; x"), "PASSWORD='[hidden]'; x"),
        ],
    )
    def test_a_quoted_secret_at_the_start_of_code_is_masked(
        self, argv: tuple[str, ...], masked: str
    ) -> None:
        """The quotes and the command stay."""
        given_argv = [word.replace("{}", "hunter2Xq9") for word in argv]
        assert mask_arguments(given_argv) == (*argv[:-1], masked)

    def test_an_empty_quoted_value_masks_nothing(self) -> None:
        """What stands behind it is the command."""
        code = "PASSWORD='' run-this"
        assert mask_arguments(["sh", "-c", code]) == ("sh", "-c", code)
