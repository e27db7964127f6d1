"""A profile that contradicts itself is refused with both lines; what only looks so is read."""

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.sandboxconfig import read_sandbox_config


def document(read_only: str, read_write: str, no_access: str = "", more: str = "") -> bytes:
    """A profile whose lists stand in lines 5, 6 and 7, and more in line 8."""
    return (
        "sandboxConfig:\n  profiles:\n    p:\n      filesystem:\n"
        f"        readOnly: [{read_only}]\n"
        f"        readWrite: [{read_write}]\n"
        f"        noAccess: [{no_access}]\n"
        f"      {more}\n"
    ).encode()


def problems(content: bytes) -> list[str]:
    """What is wrong, without the path to the lists."""
    with pytest.raises(BadDocument) as caught:
        read_sandbox_config(content, "s.yaml")
    path = "sandboxConfig.profiles.p.filesystem."
    return [str(each).replace(path, "") for each in caught.value.problems]


@pytest.mark.parametrize("spelling", ["/opt/a", "/opt/a/", "/opt/b/../a", "/opt//a/**"])
def test_the_same_path_to_read_only_and_to_write(spelling: str) -> None:
    """However the two are spelled."""
    assert problems(document("/opt/a", f'"{spelling}"')) == [
        (
            "s.yaml:5:20: readOnly[0]: `/opt/a` is readOnly here and readWrite in line 6; "
            "keep one of the two"
        )
    ]


@pytest.mark.parametrize(
    ("read_only", "read_write"),
    [
        ("/opt/a/b", "/opt/a"),
        ('"${WORKSPACE}/src"', '"${WORKSPACE}"'),
        ('"${WORKSPACE}/**/*.tex"', '"${WORKSPACE}/latex"'),
        ('"${WORKSPACE}/*.tex"', '"${WORKSPACE}/main*"'),
    ],
)
def test_read_only_that_reaches_into_what_is_writable(read_only: str, read_write: str) -> None:
    """Nothing would keep it from being written."""
    one, other = read_only.strip('"'), read_write.strip('"')
    assert problems(document(read_only, read_write)) == [
        (
            f"s.yaml:5:20: readOnly[0]: `{one}` is readOnly here and reaches into `{other}`, readWrite "
            "in line 6; name the writable folders without this one"
        )
    ]


@pytest.mark.parametrize(
    ("read_only", "read_write"),
    [
        ("/opt/a", "/opt/a/b"),
        ('"${WORKSPACE}"', '"${WORKSPACE}/out", "${WORKSPACE}/latex/*.aux"'),
        ("/opt/a", "/opt/ab"),
        ('"${WORKSPACE}/*.tex"', '"${WORKSPACE}/*.aux"'),
        ('"/opt/a"', '"${WORKSPACE}/opt/a"'),
    ],
)
def test_writable_inside_readable_is_fine(read_only: str, read_write: str) -> None:
    """And so are paths that have nothing to do with each other."""
    assert read_sandbox_config(document(read_only, read_write), "s.yaml")


@pytest.mark.parametrize(
    ("granted", "denied"),
    [
        ("/opt/a", "/opt/a"),
        ("/opt/a/b", "/opt/a"),
        ("/srv/ann/x", "/srv/*"),
        ('"${WORKSPACE}/latex"', '"${WORKSPACE}"'),
        ('"${WORKSPACE}/*.key"', '"${WORKSPACE}/**/*.key"'),
    ],
)
def test_an_entry_that_is_closed_altogether(granted: str, denied: str) -> None:
    """Whether it is to be read or written."""
    one, other = granted.strip('"'), denied.strip('"')
    said = f"`{one}` is opened here and lies in `{other}`, noAccess in line 7; leave one of the two out"
    assert problems(document(granted, "", denied)) == [f"s.yaml:5:20: readOnly[0]: {said}"]
    assert problems(document("", granted, denied)) == [f"s.yaml:6:21: readWrite[0]: {said}"]


def test_a_denial_inside_an_entry_is_what_denials_are_for() -> None:
    """`latex/` is writable, `latex/.git/hooks` is not, and neither is a key anywhere."""
    denied = '"${WORKSPACE}/latex/.git/hooks", "${WORKSPACE}/**/*.key", /usr/share/x'
    config = read_sandbox_config(document("/usr/share", '"${WORKSPACE}/latex"', denied), "s.yaml")
    closed = config.profiles["p"].filesystem.no_access
    assert [str(pattern) for pattern in closed.patterns] == [
        "latex/.git/hooks/",
        "**/*.key/",
        "/usr/share/x/",
    ]


@pytest.mark.parametrize(("read_only", "no_access"), [("/opt/a, /opt/a/", ""), ("", "/x, //x")])
def test_the_same_entry_twice(read_only: str, no_access: str) -> None:
    """In one list, with the line of the first."""
    [said] = problems(document(read_only, "", no_access))
    assert " is already in line " in said


def test_writing_directly_takes_whole_folders() -> None:
    """A pattern cannot be held where there is no layer to look through at the end."""
    assert problems(document("", '"${WORKSPACE}/*.aux"', more="writes: direct")) == [
        (
            "s.yaml:6:21: readWrite[0]: `${WORKSPACE}/*.aux` has wildcards, and `writes: direct` in "
            "line 8 takes whole folders; name the folder, or write `writes: layer`"
        )
    ]
    whole = '"${WORKSPACE}/out/", "${WORKSPACE}/x"'
    assert read_sandbox_config(document("", whole, more="writes: direct"), "s.yaml")


def test_entangled_patterns_are_refused_and_not_compared_without_end() -> None:
    """Many wildcards in many entries; the profile is named."""
    tangled = ", ".join(f'"${{WORKSPACE}}/{"*a" * 60}{n}*"' for n in range(40))
    said = problems(document(tangled, tangled))
    assert any("cannot be compared in bounded work" in each for each in said)


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ([f"/home/u{n}/a" for n in range(300)], "more than 200 paths lie outside the workspace"),
        ([f"/opt/*{n}" for n in range(40)], "more than 16 of the paths with wildcards lie outside"),
        (["/opt/" + "*a" * 200], "a path with wildcards has more than 200 characters"),
    ],
)
def test_paths_outside_the_workspace_are_few(paths: list[str], said: str) -> None:
    """Each is compared with every protected root; a flood is refused where it becomes one."""
    [problem] = problems(document(", ".join(paths), ""))
    assert said in problem


def test_a_path_in_many_profiles_counts_once() -> None:
    """What counts is how many different ones there are."""
    profiles = ", ".join(
        f"p{n}: {{filesystem: {{readOnly: [/usr/share/a, /usr/share/b]}}}}" for n in range(150)
    )
    text = f"sandboxConfig: {{profiles: {{{profiles}}}}}"
    assert len(read_sandbox_config(text.encode(), "s.yaml").profiles) == 150
