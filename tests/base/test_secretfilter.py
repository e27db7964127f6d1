"""The secret filter: secret values go, and everything a person must see to consent stays."""

import shlex
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.secretfilter import HIDDEN, mask_arguments, mask_text

RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # no token of anyone's, but shaped like one
STOPS = " \t\n\r\"'`;|&<>(){},"

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

    @pytest.mark.parametrize("argv", [argv for argv in HIDING if "=" in argv[-1]], ids=" ".join)
    def test_masking_all_behind_the_equals_sign_would_hide_it(self, argv: tuple[str, ...]) -> None:
        """The simple filter is the attacker's friend."""
        before = argv[-1].partition("=")[0]
        assert "evil.example" not in f"{before}={HIDDEN}"


fragments = st.sampled_from(
    [
        *(
            "password",
            "--password",
            "-p",
            "token",
            "TOKEN",
            "--token",
            "API_KEY",
            "PWD",
            "no-token",
        ),
        *(
            "=",
            " = ",
            ": ",
            ":",
            " ",
            "  ",
            "\n",
            '"',
            "'",
            "\\",
            "`",
            "$",
            "$(",
            "{",
            "}",
            "(",
            ")",
        ),
        *(
            ";",
            "|",
            "&",
            "?",
            "#",
            "@",
            "/",
            "//",
            "://",
            "https://",
            "-",
            "--",
            ",",
            "<",
            "[",
            "]",
        ),
        *(
            "user",
            "me:pw@",
            "evil.example",
            "curl",
            " -u ",
            "sh",
            "-c",
            "-H",
            "Authorization: Bearer ",
        ),
        *("ghp_" + RANDOM, "eyJhbGciOiJ9.abcdefgh1.x", "sk-" + RANDOM, RANDOM, "hunter2", HIDDEN),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "AKIAABCDEFGHIJKLMNOP",
            "表",
            "\x00",
        ),
    ]
)
texts = st.one_of(st.text(), st.lists(fragments, max_size=14).map("".join))
argument_lists = st.lists(
    st.one_of(texts, fragments, st.sampled_from(["curl", "mysql", "docker", "login", "-a", "-e"])),
    max_size=8,
)


class TestLaws:
    """What holds for every text and every argument list."""

    @given(texts)
    def test_masking_text_twice_is_masking_once(self, text: str) -> None:
        """A masked text has nothing left to mask."""
        assert mask_text(mask_text(text)) == mask_text(text)

    @given(argument_lists)
    def test_masking_arguments_twice_is_masking_once(self, argv: list[str]) -> None:
        """The same for arguments, whatever stands beside them."""
        once = mask_arguments(argv)
        assert mask_arguments(once) == once

    @given(argument_lists)
    def test_arguments_keep_their_number_and_the_program(self, argv: list[str]) -> None:
        """Position means something to a reader."""
        masked = mask_arguments(argv)
        assert len(masked) == len(argv)
        assert masked[:1] == tuple(argv[:1])

    @given(texts)
    def test_a_mask_in_text_covers_one_word_at_most(self, text: str) -> None:
        """White space, quotes and whatever separates commands are all still there, in order."""
        kept = [char for char in text if char in STOPS or char.isspace()]
        assert [char for char in mask_text(text) if char in STOPS or char.isspace()] == kept

    @given(st.text(st.characters(exclude_categories=())))
    def test_no_text_raises(self, text: str) -> None:
        """Not even one that is not valid Unicode."""
        assert len(mask_arguments(["tool", "--token", text, text])) == 4

    @given(
        st.from_regex(r"[a-z][a-z0-9-]{0,20}\.example", fullmatch=True),
        st.from_regex(r"[A-Za-z0-9!$*+.:=_~-]{1,40}", fullmatch=True),
    )
    def test_a_host_survives_any_password(self, host: str, password: str) -> None:
        """User, host and path of a URL are what the person consents to."""
        masked = mask_text(f"https://me:{password}@{host}/path")
        assert masked == f"https://me:{HIDDEN}@{host}/path"
