"""Files beside a pattern: in a root that nothing may write, only what the pattern matched is open."""

from pathlib import Path

from tests.enforce.attacks.attackers import Attacker

READ = ["./*.txt", "./docs/**/*.md", "./whole*/"]


def _tree(attacker: Attacker) -> None:
    attacker.put("ws/a.txt", "OPEN")
    attacker.put("ws/key.pem")
    attacker.put("ws/sub/deep.txt")
    attacker.put("ws/docs/deep/er/b.md", "OPEN")
    attacker.put("ws/docs/deep/er/key.pem")
    attacker.put("ws/whole1/any/thing", "OPEN")
    for name, target in (("link.txt", "key.pem"), ("good.txt", "docs/deep/er/b.md")):
        (attacker.ws / name).symlink_to(target)
        attacker.own(attacker.ws / name)


BESIDE = {
    "plain": "read('key.pem')",
    "deeper than the pattern": "read('sub/deep.txt')",
    "in a folder of matches": "read('docs/deep/er/key.pem')",
    "by a link that matches": "read('link.txt')",
    "climbing": "read('docs/../key.pem')",
    "by the root of a process": "read('/proc/self/root' + os.getcwd() + '/key.pem')",
    "by an open folder": "os.open('key.pem', 0, dir_fd=os.open('.', os.O_DIRECTORY))",
    "by a descriptor of its name": ("read('/proc/self/fd/%d' % os.open('key.pem', os.O_PATH))"),
    "to write": "write('key.pem')",
    "by a hard link": "os.link('key.pem', 'hard.txt') or read('hard.txt')",
    "renamed": "os.rename('key.pem', 'key.txt') or read('key.txt')",
    "started": "status('./key.pem')",
}


def test_what_lies_beside_a_pattern_is_not_read(attacker: Attacker) -> None:
    """By no name; what the pattern matches is, and folders can be listed."""
    _tree(attacker)
    found = attacker.tries(BESIDE, read=READ, write=["/tmp/"])
    assert set(found.values()) <= {"EACCES", "EROFS", "EXDEV"}, found
    matched = {
        "top": "read('a.txt')",
        "deep": "read('docs/deep/er/b.md')",
        "whole": "read('whole1/any/thing')",
        "link": "read('good.txt')",
    }
    assert set(attacker.tries(matched, read=READ, write=["/tmp/"]).values()) == {"b'OPEN'"}
    listed = {"top": "'key.pem' in os.listdir('.')", "deep": "os.listdir('docs/deep/er')[0][-2:]"}
    assert attacker.tries(listed, read=READ, write=["/tmp/"])["top"] == "True"


def test_granted_it_is_read(attacker: Attacker) -> None:
    """The same names lead there once the file is granted itself."""
    _tree(attacker)
    granted = [*READ, "./key.pem", "./sub/", "./docs/"]
    found = attacker.tries(BESIDE, read=granted, write=["/tmp/"])
    working = [name for name, word in found.items() if word == "b'SECRET'"]
    assert working == [
        "plain",
        "deeper than the pattern",
        "in a folder of matches",
        "by a link that matches",
        "climbing",
        "by the root of a process",
        "by a descriptor of its name",
    ]


def test_without_the_rules_it_is_read(attacker: Attacker) -> None:
    """The rules on single files are Landlock's, and nothing else holds them."""
    _tree(attacker)
    found = attacker.tries(BESIDE, read=READ, write=["/tmp/"], without=["landlock"])
    assert found["plain"] == found["in a folder of matches"] == "b'SECRET'"


def test_a_match_that_became_a_link_or_a_folder_opens_nothing(attacker: Attacker) -> None:
    """Between the plan and the box a file that matched gives way: no rule goes where it leads."""
    _tree(attacker)
    attacker.put("away/secret/inner")
    away = attacker.place / "swapped"
    (attacker.ws / "b.txt").mkdir()
    attacker.put("ws/b.txt/inner")
    told = attacker.runs(
        "print([attempt(each) for each in sys.argv[1:]])",
        words=["read('a.txt')", "read('key.pem')", "read('b.txt/inner')"],
        read=READ,
        write=["/tmp/"],
        moved=[(str(attacker.ws / "a.txt"), str(away))],
        linked=[(str(Path("key.pem")), str(attacker.ws / "a.txt"))],
    )
    assert told.status == 0, (told.problem, told.err)
    assert told.out.strip() == "['EACCES', 'EACCES', 'EACCES']"
    whole = attacker.runs(
        "print(attempt(sys.argv[1]))",
        words=["read('c.txt/inner')"],
        read=["./*.txt"],
        write=["/tmp/"],
        moved=[
            (str(attacker.put("ws/c.txt", "OPEN")), str(attacker.place / "gone")),
            (str(attacker.ws / "b.txt"), str(attacker.ws / "c.txt")),
        ],
    )
    assert whole.out.strip() == "EACCES", (whole.problem, whole.err)


def test_around_a_writable_folder_they_hold_as_well(attacker: Attacker) -> None:
    """What may be written is a folder below: it has its layer, and the pattern its rules."""
    _tree(attacker)
    attacker.put("ws/out/old", "OLD")
    ways = {
        "matched": "read('a.txt')",
        "beside": "read('key.pem')",
        "written": "write('out/new') and read('out/new')",
        "there before": "read('out/old')",
        "above": "write('new.txt')",
    }
    found = attacker.tries(ways, read=READ, write=["./out/", "/tmp/"])
    assert found == {
        "matched": "b'OPEN'",
        "beside": "EACCES",
        "written": "b'EVIL'",
        "there before": "b'OLD'",
        "above": "EROFS",
    }
    assert not (attacker.ws / "out/new").exists()


def test_with_any_program_only_matches_are_started(attacker: Attacker) -> None:
    """The power to start anything is no power to read what lies beside a pattern."""
    _tree(attacker)
    attacker.put("ws/run.txt", "#!/bin/sh\nexit 7\n", 0o755)
    attacker.put("ws/run.key", "#!/bin/sh\nexit 7\n", 0o755)
    ways = {"matched": "status('./run.txt')", "beside": "status('./run.key')"}
    found = attacker.tries(ways, read=READ, write=["/tmp/"], run_any=True)
    assert found == {"matched": "7", "beside": "EACCES"}
