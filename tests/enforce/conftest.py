"""A prepared folder that stands in for `/`: real files, written by the test. And both kinds of layer."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from consentry.enforce.facts import HostView, LandlockAnswer
from consentry.surface.modes import LayerPlace
from tests.enforce import hosts
from tests.enforce.heldruns import Ground
from tests.enforce.layers import layers_in
from tests.enforce.shownfolders import made_folder
from tests.service.changing import ChangingBoard
from tests.service.modulehosting import Board

USER = 1000
MOUNTS = (
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "26 23 0:24 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
    "30 22 0:27 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n"
)
GOOD_HOST = {
    "proc/sys/kernel/osrelease": "6.12.0-test\n",
    "proc/sys/user/max_user_namespaces": "31000\n",
    "proc/self/status": "Name:\tpython3\nSeccomp:\t0\nSeccomp_filters:\t0\n",
    "proc/sys/kernel/seccomp/actions_avail": "kill_process errno user_notif allow\n",
    "proc/filesystems": "nodev\tsysfs\n\text4\nnodev\toverlay\n",
    "proc/self/mountinfo": MOUNTS,
    "proc/self/cgroup": "0::/user.slice/app\n",
    "proc/self/uid_map": "         0          0 4294967295\n",
    "proc/1/cgroup": "0::/init.scope\n",
    "sys/fs/cgroup/user.slice/app/cgroup.controllers": "cpu memory pids\n",
    "sys/fs/cgroup/user.slice/app/cgroup.procs": "",
    "sys/fs/cgroup/user.slice/app/cgroup.subtree_control": "",
}

MakeHost = Callable[..., HostView]


@pytest.fixture
def make_host(tmp_path: Path) -> MakeHost:
    """Makes a good host, with some files replaced, or left out where the text is None."""

    def make(
        changes: dict[str, str | None] | None = None,
        *,
        landlock: LandlockAnswer = LandlockAnswer(6),  # noqa: B008 - frozen
        uid: int = USER,
        environ: dict[str, str] | None = None,
    ) -> HostView:
        root = tmp_path / "root"
        for name, text in {**GOOD_HOST, **(changes or {})}.items():
            if text is not None:
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        return HostView(root=root, environ=environ or {}, uid=uid, landlock=lambda: landlock)

    return make


@pytest.fixture(scope="module", params=list(LayerPlace), ids=str)
def layer_kind(request: pytest.FixtureRequest) -> Iterator[LayerPlace]:
    """Where the layers lie that a test makes."""
    with layers_in(request.param):
        yield request.param


@pytest.fixture(params=hosts.users())
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """A place with a workspace, of root and of an ordinary user where that can be."""
    uid: int = request.param
    with made_folder(uid) as place:
        made = Ground(uid, place)
        made.put("ws/granted", "GRANTED")
        made.put("out/secret")
        yield made


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    """An application that modules are imported into."""
    home = tmp_path / "home"
    home.mkdir()
    made = Board(home)
    yield made
    made.host.close()


@pytest.fixture
def changing(tmp_path: Path) -> Iterator[ChangingBoard]:
    """An application whose notes modules change by transactions."""
    made = ChangingBoard(tmp_path)
    yield made
    made.host.close()
