"""npm installs under a token: real npm in the box, its hosts, what it writes, and scripts of packages."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.decide.tokens import NpmInstallCapability
from tests.cli.conftest import CommandLine
from tests.enforce.egress.packages import npm_registry
from tests.enforce.egress.peers import http_peer
from tests.service.test_tokens import code_of, recorded
from tests.service.tokening import Place, place_of

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(
        shutil.which("npm", path="/usr/bin:/bin") is None, reason="npm is not installed"
    ),
]

LOCAL = {"packages": ["./vendor/local"]}


@pytest.fixture
def place(home: Path, project: Path) -> Iterator[Place]:
    """A project with a package of its own in a folder, whose script writes where it should not."""
    with place_of(CommandLine(project, {"HOME": str(home), "PATH": "/usr/bin:/bin"})) as made:
        (project / "package.json").write_text('{"name": "app", "version": "1.0.0"}')
        vendor = project / "vendor/local"
        vendor.mkdir(parents=True)
        script = f"echo ran > {project}/out.txt; echo ran > {project.parent}/out.txt; exit 0"
        package = {"name": "local", "version": "1.0.0", "scripts": {"postinstall": script}}
        (vendor / "package.json").write_text(json.dumps(package))
        yield made


def escaped(place: Place) -> list[bool]:
    """Whether the script wrote into the project, and beside it."""
    return [(folder / "out.txt").exists() for folder in (place.project, place.project.parent)]


def test_a_package_is_installed_from_a_host_of_the_token(place: Place) -> None:
    """The packages, the lock and the project are written; the run names the token."""
    files = npm_registry("tinyword")
    with http_peer(files=files) as peer:
        at = f"localhost:{peer.server_port}"
        files["/tinyword"] = files["/tinyword"].replace(b"PLACE", at.encode())
        scope = {"packages": ["tinyword"], "hosts": [at]}
        token = place.mint(NpmInstallCapability, scope, budget={"npm_install": 1})
        done = place.desk.npm_install(token, registry=f"http://{at}")
        assert done.status == "success", done.stderr
        again = code_of(lambda: place.desk.npm_install(token, registry=f"http://{at}"))
    assert (place.project / "node_modules/tinyword/index.js").is_file()
    assert "tinyword" in (place.project / "package-lock.json").read_text()
    assert again is Code.BUDGET_EXHAUSTED
    used = [each["payload"] for each in recorded(place) if each["type"] == "CapabilityUsed"]
    assert [(each["tokenId"], each["kind"], each["target"]) for each in used] == [
        (token.token_id, "npm_install", "tinyword")
    ]
    assert isinstance(done.record["user"], dict)
    assert done.record["user"]["tokenId"] == token.token_id


def test_a_host_that_is_not_the_tokens_hears_nothing(place: Place) -> None:
    """The same install for another host, and for none; nothing is left of it."""
    (place.project / ".npmrc").write_text("fetch-retries=0\n")
    with http_peer(files=npm_registry("tinyword")) as peer:
        at = f"localhost:{peer.server_port}"
        for hosts in (["localhost:1"], []):
            token = place.mint(NpmInstallCapability, {"packages": ["tinyword"], "hosts": hosts})
            done = place.desk.npm_install(token, registry=f"http://{at}")
            assert done.status == "failure"
        assert len(peer.seen) == 0
    assert not (place.project / "node_modules").exists()


def test_without_its_token_nothing_is_installed(place: Place, tmp_path: Path) -> None:
    """None, another kind, an edited one, other packages, another workspace."""
    token = place.mint(NpmInstallCapability, LOCAL)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    edited = token.model_copy(update={"run_scripts": True})
    calls: list[tuple[object, dict[str, Any]]] = [
        (None, {}),
        (edited, {}),
        (token, {"packages": ["left-pad"]}),
        (token, {"workspace": elsewhere}),
    ]
    codes = [code_of(lambda t=t, n=n: place.desk.npm_install(t, **n)) for t, n in calls]  # type: ignore[misc]
    assert codes == [Code.TOKEN_REFUSED] * len(calls)
    assert not (place.project / "node_modules").exists()
    assert place.unsafe.npm_install(edited).status == "success"  # the check taken away
    assert (place.project / "node_modules").exists()


def test_scripts_of_packages_run_only_where_the_token_says_so(place: Place) -> None:
    """And then in the box: neither the project nor what lies beside it is written."""
    quiet = place.mint(NpmInstallCapability, LOCAL)
    done = place.desk.npm_install(quiet)
    assert done.status == "success", done.stderr
    assert (place.project / "node_modules/local").exists()
    loud = place.mint(NpmInstallCapability, {**LOCAL, "run_scripts": True})
    shutil.rmtree(place.project / "node_modules")
    done = place.desk.npm_install(loud)
    assert done.status == "success", done.stderr
    tried = {each.resource for each in done.violations if each.operation.value == "write"}
    assert str(place.project / "out.txt") in tried
    assert escaped(place) == [False, False]


def test_in_no_box_the_script_writes_what_it_likes(place: Place) -> None:
    """The control taken away: plain npm, and both files are there."""
    words = ["npm", "install", "--no-audit", "--no-fund", "--offline", "./vendor/local"]
    environ = {**place.line.environ, "npm_config_cache": str(place.project.parent / "cache")}
    subprocess.run(words, cwd=place.project, env=environ, check=True, capture_output=True)
    assert escaped(place) == [True, True]


def test_what_a_failed_install_wrote_is_thrown_away(place: Place) -> None:
    """A script that fails leaves the project as it was."""
    file = place.project / "vendor/local/package.json"
    file.write_text(file.read_text().replace("exit 0", "exit 7"))
    token = place.mint(NpmInstallCapability, {**LOCAL, "run_scripts": True})
    done = place.desk.npm_install(token)
    assert (done.status, done.committed) == ("failure", False)
    assert not (place.project / "node_modules").exists()
