"""From the record of a watched run to a draft: only what the record shows, and what to look at."""

from typing import Any

from consentry.declare.toolmanifest import read_tool_manifest
from consentry.service.learned import Learned, Touched, learned_from, name_from


def record(**changes: Any) -> dict[str, Any]:
    """A run that read, wrote, started and reached something."""
    entry: dict[str, Any] = {
        "tool": {"name": "build.sh", "path": "/w/build.sh", "arguments": ["./build.sh", "-v"]},
        "context": {"workspace": "/w", "folder": "/w/sub"},
        "impact": {
            "filesRead": [
                {"path": path}
                for path in ("build.sh", "src/a.c", "out/a.o", ".env", "/opt/data/x", "/tmp/own")
            ],
            "filesWritten": [{"path": "out/a.o"}],
            "filesDeleted": [{"path": "out/old"}],
            "filesReadUnlisted": 0,
            "filesReadSeen": True,
        },
        "sandbox": {
            "programs": [
                {"path": "build.sh", "arguments": ["./build.sh"], "times": 1},
                {"path": "/usr/bin/gcc-12", "arguments": ["gcc"], "times": 2},
                {"path": "/usr/bin/gcc-12", "arguments": ["gcc"], "times": 1},
                {"path": "tools/gen", "arguments": ["tools/gen"], "times": 1},
            ],
            "network": [
                {"host": "example.org", "port": 443, "allowed": True},
                {"host": "2001:db8::1", "port": 80, "allowed": True},
                {"host": "evil.example", "port": 443, "allowed": False},
                {"host": "named.example", "port": None, "allowed": True},
            ],
            "violations": [
                {
                    "operation": "read",
                    "resource": "/etc/shadow",
                    "rule": "protected root /etc/",
                    "allow": None,
                }
            ],
            "resourceUsage": {"cpuTime": "7.2s", "memoryPeakBytes": 50 << 20},
        },
    }
    for key, value in changes.items():
        entry["impact" if key in entry["impact"] else "sandbox"][key] = value
    return entry


def command_of(path: str, word: str) -> str:
    """As a document would name it: `gcc` is on PATH, the rest is not."""
    return word if word == "gcc" else path


def lesson(**changes: Any) -> Learned:
    """What is learned from it."""
    return learned_from(
        record(**changes),
        name="build",
        given=("LANG", "CC"),
        there=("deploy.key",),
        command_of=command_of,
    )


def lesson_with(touched: list[Touched]) -> Learned:
    """The same, with what was seen to be written."""
    return learned_from(
        record(), name="build", given=(), there=(), touched=touched, command_of=command_of
    )


def test_what_was_used_is_listed() -> None:
    """Files relative to the workspace, programs by their names, hosts with their ports."""
    draft = lesson().draft
    assert [each.pattern for each in draft.read] == [
        ".env",
        "/opt/data/x",
        "build.sh",
        "src/a.c",
    ]
    assert [each.pattern for each in draft.write] == ["out/a.o", "out/old"]
    assert [(each.command, each.seen) for each in draft.commands] == [
        ("./tools/gen", "it was started once"),
        ("gcc", "it was started 3 times"),
    ]
    assert draft.hosts == ("[2001:db8::1]:80", "example.org:443")
    assert draft.environment == ("CC", "LANG")
    assert (draft.command, draft.arguments, draft.folder) == ("./build.sh", ("-v",), "sub")


def test_limits_leave_room() -> None:
    """Twice what was used; a small run gets what a small run needs."""
    draft = lesson().draft
    assert (draft.cpu_seconds, draft.memory_megabytes) == (15, 100)
    small = lesson(resourceUsage={"cpuTime": "0.04s", "memoryPeakBytes": 1000}).draft
    assert (small.cpu_seconds, small.memory_megabytes) == (10, 64)


def test_sensitive_reads_are_called_out() -> None:
    """With why, in the list and in the document."""
    learned = lesson()
    assert [path for path, _ in learned.sensitive] == [".env"]
    assert "# look at this: variables, and the passwords kept in them\n" in learned.draft.text()


def test_a_pattern_never_reaches_a_sensitive_file() -> None:
    """Even if that was not read."""
    keys = [{"path": f"{n}.key2"} for n in range(20)]
    assert len(lesson(filesRead=keys).draft.read) == 1
    own = [{"path": f"{n}.key"} for n in range(20)]
    assert len(lesson(filesRead=own).draft.read) == 20


def test_what_was_refused_is_told_and_not_asked_for() -> None:
    """As a remark at the end."""
    draft = lesson().draft
    assert draft.refused == ("read /etc/shadow: protected root /etc/",)
    assert "/etc/shadow" not in "".join(each.pattern for each in draft.read)


def test_names_that_are_no_unicode_are_left_out() -> None:
    """And told; a backslash in a name is a backslash."""
    learned = lesson(filesRead=[{"path": "a\\xff"}, {"path": "b\\\\xff"}])
    assert learned.left_out == ("a\\xff",)
    assert [each.pattern for each in learned.draft.read] == ["b\\\\xff"]


def test_a_list_that_was_cut_is_told() -> None:
    """So is one that nobody watched."""
    assert lesson().is_complete
    assert not lesson(filesReadUnlisted=3).is_complete
    assert not lesson(filesReadSeen=False).is_complete


def test_the_name_comes_from_the_command() -> None:
    """As far as a tool may be called so."""
    assert name_from("./Build Site.sh") == "build-site"
    assert name_from("/usr/bin/make") == "make"
    assert name_from("...") == "tool"


def test_what_was_written_and_is_as_before_is_asked_for() -> None:
    """The next run will write it again."""
    learned = lesson_with([Touched("out/same.o", was_there=True)])
    assert "out/same.o" in [each.pattern for each in learned.draft.write]


def test_temporary_names_will_be_others_the_next_time() -> None:
    """What is random in them stands for any letters; other names are what they are."""
    made = [
        Touched(path, was_there=False)
        for path in ("out/sedAb3dEf", "out/sedXXXXXX", "out/tmp1234_678", "out/lock", "out/x")
    ]
    found = {each.pattern: each.seen for each in lesson_with(made).draft.write}
    assert found["out/sed??????"] == "2 such files were made and removed again"
    assert found["out/tmp????????"] == "it was made and removed again"
    assert {"out/lock", "out/x"} <= set(found)


def test_folders_of_what_was_written_are_not_asked_for() -> None:
    """They are made for what may be put there."""
    assert "out" not in [
        each.pattern for each in lesson_with([Touched("out", was_there=False)]).draft.write
    ]


def test_temporary_names_never_stand_for_a_sensitive_file() -> None:
    """A tool that makes and removes `abcdef` does not get to write `id_rsa` by that."""
    made = [Touched(path, was_there=False) for path in ("abcdef", "keys/uvwxyz", ".env.abcdef")]
    learned = learned_from(
        record(),
        name="build",
        given=(),
        there=("id_rsa", "keys/secret"),
        touched=made,
        command_of=command_of,
    )
    found = {each.pattern: each.remark for each in learned.draft.write}
    assert {"abcdef", "keys/uvwxyz"} <= set(found)
    assert found[".env.??????"] is not None
    assert "??????" in [each.pattern for each in lesson_with(made).draft.write]


def test_names_too_long_for_a_pattern_are_left_out() -> None:
    """A tool cannot keep its manifest from being written by one file's name."""
    long = "/".join(["*" * 255] * 12)
    learned = lesson(filesRead=[{"path": long}], filesWritten=[{"path": f"{long}/x"}])
    assert learned.left_out == (long, f"{long}/x")
    touched = [Touched(long, was_there=True), Touched(f"{long}/y", was_there=False)]
    assert len(lesson_with(touched).draft.write) == len(lesson().draft.write)


def test_what_was_refused_when_it_was_written_is_no_need() -> None:
    """It was seen to be written, and may not leave the layer; nor may what lies below it."""
    touched = [Touched(path, was_there=False) for path in ("conf", "conf/x", "a\\b", "out/lock")]
    refused = [
        {"operation": "write", "resource": each, "rule": "no", "allow": None}
        for each in ("/w/conf", "/w/a\\\\b")
    ]
    entry = record(violations=refused)
    learned = learned_from(
        entry, name="build", given=(), there=(), touched=touched, command_of=command_of
    )
    assert [each.pattern for each in learned.draft.write] == ["out/a.o", "out/old", "out/lock"]


def test_programs_that_no_document_can_name_are_left_out() -> None:
    """And told: a tool cannot make its manifest unreadable by what it calls its programs."""
    programs = [{"path": each, "arguments": [], "times": 1} for each in ("a*b", "=x", "?/t", "ok")]
    learned = lesson(programs=programs)
    assert [each.command for each in learned.draft.commands] == ["./ok"]
    assert learned.left_out == ("./=x", "./?/t", "./a*b")
    assert read_tool_manifest(learned.draft.text().encode(), "build.yaml").name == "build"


def test_a_folder_with_wildcards_in_its_name_is_that_folder() -> None:
    """The document is readable, and means where the tool was watched."""
    entry = record()
    entry["context"]["folder"] = "/w/s*b"
    learned = learned_from(entry, name="build", given=(), there=(), command_of=command_of)
    assert learned.draft.folder == "s\\*b"
    assert read_tool_manifest(learned.draft.text().encode(), "build.yaml").entrypoint is not None
