"""The secret filter takes time in proportion to its input, also for input made to be slow."""

import pytest

from consentry.base.secretfilter import mask_arguments

SIZE = 200_000
LONG = [
    *(
        "a",
        "a=",
        "password=",
        "token=./",
        "--token ",
        "token: ",
        "PASSWORD",
        "_",
        "-",
        ".",
        "a.",
        "a-",
    ),
    *(
        "https://u:",
        "a://",
        "://",
        "u:p@",
        "?token=",
        "&",
        ";",
        " ",
        "\t",
        "\n",
        "\\",
        '"',
        "'",
        '\\"',
    ),
    *("eyJ-", "eyJaaaaaaaa.", "SG.", "sk-", "sk-1", "ghp_", "xoxb-", "authorization: ", "bearer "),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "A1b2",
        "/a",
        "$(",
        "[hidden]",
        "curl -u ",
        "x-a:",
        "é",
    ),
    *(
        "token=$",
        "token=$token=",
        "$a",
        "(a.b",
        "a://u:@",
        "mysql ",
        "mysql -p",
        "curl -u a:",
        "x://u:p@h,",
    ),
    *("token=a\\x", "a.", "(a.a.a.a.a.a", "sshpass -p ", "docker login "),
]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("piece", LONG)
def test_time_grows_with_length_only(piece: str) -> None:
    """Long repetitions that send careless patterns into quadratic time are done well within the limit."""
    text = piece * (SIZE // len(piece))
    argv = ["curl", "-u", text, f"--token={text}", f"https://u:{text}", "sh", "-c", text]
    assert len(mask_arguments(argv)) == len(argv)
