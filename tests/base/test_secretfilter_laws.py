"""The secret filter: the laws that hold for every text and every argument list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.secretfilter import HIDDEN, mask_arguments, mask_text

RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # no token of anyone's, but shaped like one
STOPS = " \t\n\r\"'`;|&<>(){},"


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
            *("$TOKEN", "(token)", "authorization", "mysql -p", "login", "config", "!", "表"),
            "\x00",
        ),
    ]
)
texts = st.one_of(st.text(), st.lists(fragments, max_size=14).map("".join))
argument_lists = st.lists(
    st.one_of(
        texts,
        fragments,
        st.sampled_from(["curl", "mysql", "docker", "login", "-a", "-e", "npm", "config", "env"]),
    ),
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

    @pytest.mark.parametrize(
        "argv",
        [
            ["--password", "authorization://sig$"],
            ["x", "-H", "authorization://:"],
            ["x", "--token", "eyJhbGciOiJIUzI1.eyJhbGciOiJIUzI1.xsig/usr/x "],
            ["x", "--token", "a; b x://u:p/q@h"],
            ["x", "eyJhbGciOiJIUzI1.eyJhbGciOiJIUzI1.xTOKEN=="],
            ["sh", "--token", "%TOKEN%", "-c", "TOKEN=x; a://u:$TOKEN@h"],
        ],
    )
    def test_a_mask_inside_a_value_changes_no_decision(self, argv: list[str]) -> None:
        """Once something is masked, what is left is judged as before."""
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
