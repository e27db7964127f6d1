"""A swap between check and use is on record, and every consumer says one thing about it (TRUST §path-4).

The commands are real processes. What tests add is a switch that only they have: it swaps the file for a
link just before `SandboxedPath.open` does its work, which is where a real attacker has to hit.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from consentry.base.errors import FilesystemRace
from consentry.base.paths import SandboxedPath
from consentry.service import races
from consentry.service.surroundings import look_around

SWAPPING = """
import os, sys
from consentry.base.paths import SandboxedPath

plain = SandboxedPath.open
name, target = os.environ["SWAPPED"], os.environ["TARGET"]

def swapping(path, *given, **named):
    place = os.path.abspath(name)
    if os.path.basename(name) in (path.relative.name, path.jail.name) and not os.path.islink(place):
        if os.path.exists(place):
            os.rename(place, place + ".kept")
        os.symlink(target, place)
    return plain(path, *given, **named)

if target:
    SandboxedPath.open = swapping
from consentry.cli.main import main
sys.argv[0] = "consentry"
main()
"""

PROFILE = 'wishVersion: "1"\n'


class Host:
    """A folder to work in and a state directory, and the command with the switch."""

    def __init__(self, top: Path) -> None:
        self.work, self.state = top / "work", top / "state"
        self.work.mkdir()
        (top / "elsewhere").mkdir()
        self.secret = top / "elsewhere" / "secret"
        self.secret.write_text("the secret outside")
        self.environ = {
            "HOME": str(top),
            "XDG_STATE_HOME": str(self.state),
            "PATH": "/usr/bin:/bin",
        }

    def __call__(
        self, *words: str, swapped: str = "", target: Path | str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Runs one command to its end; `swapped` becomes a link to `target` before it is opened."""
        return subprocess.run(
            [sys.executable, "-c", SWAPPING, *words],
            cwd=self.work,
            env={**self.environ, "SWAPPED": swapped, "TARGET": str(target)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def races(self) -> list[dict[str, str]]:
        """What the ledger holds of them, in the words of the command."""
        done = self("audit", "log", "--type", "FilesystemRaceDetected", "--json")
        assert done.returncode == 0, done.stderr
        found = [
            json.loads(self("audit", "show", each, "--json").stdout) for each in _ids(done.stdout)
        ]
        return [_payload(each) for each in found]


def _ids(text: str) -> list[str]:
    return [each["eventId"] for each in json.loads(text)["events"]]


def _payload(document: dict[str, object]) -> dict[str, str]:
    event = document.get("event", document)
    assert isinstance(event, dict)
    payload: dict[str, str] = event["payload"]
    return payload


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """Fresh."""
    return Host(tmp_path)


def assert_refused(done: subprocess.CompletedProcess[str]) -> None:
    """One message, the documented status, no traceback, nothing of the secret."""
    assert done.returncode == 126, (done.stdout, done.stderr)
    first, second = done.stderr.splitlines()
    assert first.startswith("consentry: error[filesystem-race]: ")
    assert second.startswith("help: ")
    assert "secret outside" not in done.stdout + done.stderr
    assert "could not be recorded" not in first


def test_a_file_swapped_before_it_is_read_is_refused_and_on_record(host: Host) -> None:
    """`wish check`: the attack fails with status 126; unswapped it works; by name it would succeed."""
    (host.work / "wish.yaml").write_text(PROFILE)
    assert_refused(host("wish", "check", "wish.yaml", swapped="wish.yaml", target=host.secret))
    assert [(each["relative"], each["component"]) for each in host.races()] == [
        ("wish.yaml", "wish.yaml")
    ]
    assert (host.work / "wish.yaml").read_text() == "the secret outside", "by name it is reached"
    (host.work / "wish.yaml").unlink()
    (host.work / "wish.yaml").write_text(PROFILE)
    assert "filesystem-race" not in host("wish", "check", "wish.yaml").stderr
    assert len(host.races()) == 1


def test_a_new_name_taken_before_it_is_made_is_refused_and_on_record(host: Host) -> None:
    """`report --out`: a link that appears is not written through, and what it leads to stays."""
    done = host("report", "--out", "report.md", swapped="report.md", target=host.secret)
    assert_refused(done)
    assert host.secret.read_text() == "the secret outside"
    assert [each["component"] for each in host.races()] == ["report.md"]
    (host.work / "report.md").unlink()
    assert host("report", "--out", "report.md").returncode == 0


def test_a_folder_swapped_before_a_backup_is_placed_is_refused(host: Host) -> None:
    """`audit backup`: the folder becomes a link to another; nothing is placed there."""
    (host.work / "into").mkdir()
    assert host("report").returncode in (0, 1)
    look_around_ledger(host)
    done = host("audit", "backup", "into/copy.db", swapped="into", target=host.secret.parent)
    assert_refused(done)
    assert [each.name for each in host.secret.parent.iterdir()] == ["secret"]
    (host.work / "into").unlink()
    (host.work / "into.kept").rename(host.work / "into")
    assert host("audit", "backup", "into/copy.db").returncode == 0


def look_around_ledger(host: Host) -> None:
    """Makes a ledger to copy: one race in it is enough."""
    (host.work / "a").write_text("")
    host("wish", "check", "a", swapped="a", target=host.secret)


def test_a_race_that_cannot_be_recorded_is_raised_and_says_so(host: Host) -> None:
    """The state directory is a file: the message says that it is not on record, the status is 126."""
    (host.work / "wish.yaml").write_text(PROFILE)
    host.state.write_text("")
    done = host("wish", "check", "wish.yaml", swapped="wish.yaml", target=host.secret)
    assert done.returncode == 126
    assert "and this could not be recorded: " in done.stderr.splitlines()[0]
    assert "secret outside" not in done.stdout + done.stderr


def test_a_workspace_document_swapped_before_it_is_read_is_refused(host: Host) -> None:
    """`tool list` with a stranger's folder: nothing of it counts, and the race is on record."""
    folder = host.work / ".consentry"
    folder.mkdir()
    (folder / "sandbox-config.yaml").write_text("x: 1\n")
    words = ("tool", "list", "--workspace", str(host.work))
    swapped = str(folder / "sandbox-config.yaml")
    assert_refused(host(*words, swapped=swapped, target=host.secret))
    assert [each["component"] for each in host.races()] == ["sandbox-config.yaml"]
    assert "filesystem-race" not in host(*words).stderr


def test_a_sink_for_known_surroundings(host: Host, tmp_path: Path) -> None:
    """`recorded_in`; a name that is no UTF-8 is written with escapes."""
    jail = tmp_path / "jail"
    jail.mkdir()
    (jail / "a\udcff").write_text("x")
    path = SandboxedPath.create(jail, "a\udcff").unwrap()
    (jail / "a\udcff").unlink()
    (jail / "a\udcff").symlink_to("../elsewhere")
    with pytest.raises(FilesystemRace, match=r"checked$"):
        path.open(on_race=races.recorded_in(look_around(host.environ)))
    assert host.races() == [{"jail": str(jail), "relative": "a\\xff", "component": "a\\xff"}]
