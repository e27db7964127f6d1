"""What lies in a granted folder and is mounted there by itself."""

import socket
from pathlib import Path

from consentry.enforce.mounts import Mount
from consentry.enforce.native.planparts import _mounted_steps


def _mount(point: Path, kind: str = "ext4") -> Mount:
    return Mount("8:1", "/", str(point), kind, ())


def test_a_socket_with_a_mount_of_its_own_is_not_shown(tmp_path: Path) -> None:
    """As a container's runtime does it with its own socket; files and folders are shown."""
    for name in ("folder", "stick"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").touch()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        mounts = (
            _mount(tmp_path / "folder"),
            _mount(tmp_path / "stick", "vfat"),
            _mount(tmp_path / "file"),
            _mount(tmp_path / "socket"),
        )
        steps = list(_mounted_steps(tmp_path, mounts))
    plain = ("ro", "nosuid", "nodev")
    places = {name: str(tmp_path / name) for name in ("file", "folder", "stick")}
    assert steps == [
        ("bind", places["file"], places["file"], plain, None),
        ("view", places["folder"], places["folder"], plain, None),
        ("view", places["stick"], places["stick"], (*plain, "socketless"), None),
    ]
