"""Code before confinement, and secrets that a box could find in what came before it."""

import os

from tests.enforce.attacks.attackers import Attacker

MODULES = ("sitecustomize", "usercustomize", "select", "resource", "ctypes", "consentry")


def _trap(attacker: Attacker) -> tuple[dict[str, str], str]:
    """A folder full of modules that leave a mark where they are run, and variables that name it."""
    trap, mark = attacker.place / "trap", attacker.place / "mark"
    evil = f"import os\nopen({str(mark)!r}, 'a').write(f'{{os.getpid()}} ')\n"
    # Something that shadows a real module must still let the interpreter start.
    for name in MODULES[:2]:
        attacker.put(f"trap/{name}.py", evil)
    attacker.put("trap/evil.pth", f"import os; open({str(mark)!r}, 'a').write('pth ')\n")
    attacker.put("trap/startup.py", evil)
    variables = {
        "PYTHONPATH": str(trap),
        "PYTHONSTARTUP": str(trap / "startup.py"),
        "PYTHONUSERBASE": str(trap),
        "SECRET_TOKEN": "hunter2-in-the-environment",
        "CONSENTRY_SANDBOX": "off",
    }
    return variables, str(trap)


def test_nothing_of_the_callers_runs_in_the_launcher(attacker: Attacker) -> None:
    """Start-up files of Python in the caller's path, folder and home are not run."""
    variables, trap = _trap(attacker)
    told = attacker.runs("print('RAN')", environ=variables, folder=trap)
    assert told.out == "RAN\n"
    assert not (attacker.place / "mark").exists()


def test_modules_of_the_callers_folder_are_not_taken_for_ours(attacker: Attacker) -> None:
    """Files with the names of modules that the launcher loads lie in wait, and are left alone."""
    variables, trap = _trap(attacker)
    for name in MODULES[2:]:
        attacker.put(f"trap/{name}.py", f"open({str(attacker.place / 'mark')!r}, 'w')\n")
    told = attacker.runs("print('RAN')", environ=variables, folder=trap)
    assert told.out == "RAN\n"
    assert not (attacker.place / "mark").exists()


def test_started_as_any_program_the_launcher_would_run_them(attacker: Attacker) -> None:
    """With the caller's environment and no isolation the mark is there."""
    variables, trap = _trap(attacker)
    told = attacker.runs("print('RAN')", environ=variables, folder=trap, without=["isolation"])
    assert told.out == "RAN\n"
    assert (attacker.place / "mark").exists()


SEES = {
    "own": "[n for n in os.environ if n not in ('PATH', 'HOME', 'TMPDIR', 'LC_CTYPE')]",
    "of the first process": "b'hunter2' in read('/proc/1/environ')",
    "its memory": "os.open('/proc/1/mem', os.O_RDONLY) and 'opened'",
    "its descriptors": "os.listdir('/proc/1/fd') and 'listed'",
    "signal it": "os.kill(1, 0)",
    "end it": "os.kill(1, 34)",
    "trace it": "call(101, 0x4206, 1, 0, 0)",
}


def test_the_callers_secrets_are_not_in_the_box(attacker: Attacker) -> None:
    """Not in its environment, and not in its first process, which nobody inside can touch."""
    variables, trap = _trap(attacker)
    found = attacker.tries(SEES, environ=variables, folder=trap)
    assert found == {
        "own": "[]",
        "of the first process": "EACCES",
        "its memory": "EACCES",
        "its descriptors": "EACCES",
        "signal it": "EPERM",
        "end it": "EPERM",
        "trace it": "EPERM",
    }


def test_a_variable_that_is_granted_arrives(attacker: Attacker) -> None:
    """By being named, and with the value that it was named with."""
    found = attacker.tries({"own": "os.environ['TOKEN']"}, env={"TOKEN": "granted"})
    assert found == {"own": "granted"}


def test_in_an_open_first_process_a_plain_launchers_secrets_are_found(attacker: Attacker) -> None:
    """Without isolation, Landlock and what keeps it closed, its environment is the caller's."""
    variables, trap = _trap(attacker)
    open_wide = ["isolation", "undumpable", "landlock", "filter"]
    ways = {name: SEES[name] for name in SEES if name != "end it"}
    found = attacker.tries(ways, environ=variables, folder=trap, without=open_wide)
    assert found["of the first process"] == "True"
    assert (found["its memory"], found["its descriptors"]) == ("opened", "listed")
    assert found["signal it"] == "None"


def test_with_isolation_even_an_open_first_process_holds_no_secret(attacker: Attacker) -> None:
    """The launcher never had it."""
    variables, trap = _trap(attacker)
    found = attacker.tries(
        {"environ": "b'hunter2' in read('/proc/1/environ')"},
        environ=variables,
        folder=trap,
        without=["undumpable", "landlock"],
    )
    assert found == {"environ": "False"}
    assert "SECRET_TOKEN" not in os.environ
