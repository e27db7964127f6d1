"""A real PostgreSQL server for tests: in a temporary folder, on a socket, never as root.

Found in the folder that `POSTGRES_BIN` names, or else in `/usr/lib/postgresql` or on PATH. It
listens on no port. A watcher holds the other end of a pipe: when this process ends, however it ends, the watcher
stops the server and removes the folder.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import psycopg

SUPERUSER = "consentry"
_OWNERS = ("postgres", "nobody")  # as whom the server runs when the tests run as root
_READY_WITHIN = 30.0
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0777",  # the folder above it is closed to others
    "shared_buffers": "16MB",
    "max_connections": "60",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum": "off",
    "timezone": "UTC",
}
# Lines are the process ids of the server, an empty one when it was stopped; then the pipe closes.
_WATCHER = """
while read -r line; do server=$line; done
tries=0
if [ -n "$server" ]; then
    kill -QUIT "$server"
    kill -CONT "$server"
    while kill -0 "$server" && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
fi
rm -rf -- "$1"
"""


class NoServer(Exception):
    """Why there can be none here."""


class PostgresServer:
    """One server with its data; it may be stopped, killed and started again."""

    def __init__(self) -> None:
        self._programs = _programs()
        self._owner = _owner()
        # Below /tmp whatever TMPDIR says: the path of a socket has room for about 100 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="consentry-pg-", dir="/tmp"))
        self.data, self.socket = self.folder / "data", self.folder / "socket"
        self._watcher = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHER, "sh", str(self.folder)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._server: subprocess.Popen[bytes] | None = None
        try:
            self._make()
            self.start()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int | None:
        """Its first process, while it runs."""
        return self._server.pid if self._server is not None else None

    def url(self, database: str = "postgres", user: str = SUPERUSER, **settings: str) -> str:
        """The URL of one of its databases."""
        query = "".join(f"&{key}={quote(value)}" for key, value in settings.items())
        return f"postgresql://{user}@/{database}?host={quote(str(self.socket), safe='')}{query}"

    def run(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Executes a statement by itself, as the superuser; returns its rows."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []

    def start(self) -> None:
        """Starts it, unless it runs; returns when it answers."""
        if self._server is not None and self._server.poll() is None:
            return
        options = [f"-c{key}={value}" for key, value in _SETTINGS.items()]
        with (self.folder / "log").open("ab") as log:
            self._server = self._spawn(
                "postgres", "-D", str(self.data), "-k", str(self.socket), *options, log=log
            )
        self._tell_watcher(str(self._server.pid))
        give_up = time.monotonic() + _READY_WITHIN
        while not self._answers():
            if self._server.poll() is not None or time.monotonic() > give_up:
                said = (self.folder / "log").read_text(errors="replace")[-2000:]
                raise RuntimeError(f"the server did not start:\n{said}")
            time.sleep(0.02)

    def stop(self) -> None:
        """Ends it in good order, also when clients are connected."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Ends it as a power cut would: no process of it gets to do anything more."""
        server = self._server
        if server is None or server.poll() is not None:
            return
        os.kill(server.pid, signal.SIGSTOP)  # so that it starts no new child meanwhile
        for child in _children(server.pid):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._end(signal.SIGKILL)

    def close(self) -> None:
        """Stops it and removes its folder."""
        self._end(signal.SIGQUIT)
        assert self._watcher.stdin is not None
        self._watcher.stdin.close()
        self._watcher.wait()

    def give(self, path: Path) -> None:
        """Lets the server's user own a file or folder."""
        if self._owner is not None:
            os.chown(path, self._owner.pw_uid, self._owner.pw_gid)

    def _make(self) -> None:
        self.data.mkdir(mode=0o700)
        self.socket.mkdir()
        for path in (self.data, self.socket):
            self.give(path)
        if self._owner is not None:
            os.chown(self.folder, -1, self._owner.pw_gid)
            self.folder.chmod(0o710)
        # Not the order of bytes, as on most servers, where the server can do another.
        order = ["--locale=C.UTF-8"]
        if self.has_icu:
            order += ["--locale-provider=icu", "--icu-locale=en-US"]
        with (self.folder / "log").open("ab") as log:
            made = self._spawn(
                *("initdb", "-D", str(self.data), "-U", SUPERUSER, "-A", "trust", "-E", "UTF8"),
                *("--data-checksums", "--no-sync", "--wal-segsize=1", *order),
                log=log,
            ).wait()
        if made != 0:
            raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:])

    @property
    def has_icu(self) -> bool:
        """Whether it knows the orders of languages without the system's help."""
        asked = subprocess.run(
            [self._programs / "initdb", "--help"], capture_output=True, text=True, check=True
        )
        return "--icu-locale" in asked.stdout

    def _spawn(self, program: str, *arguments: str, log: object) -> subprocess.Popen[bytes]:
        owner = self._owner
        other = (
            {}
            if owner is None
            else {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        )
        try:
            return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
                [self._programs / program, *arguments],
                cwd=self.folder,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **other,
            )
        except PermissionError as refused:
            raise NoServer(f"the server may not be started as another user: {refused}") from None

    def _answers(self) -> bool:
        with suppress(psycopg.OperationalError):
            return self.run("SELECT 1") == [(1,)]
        return False

    def _end(self, how: signal.Signals) -> None:
        if self._server is None:
            return
        if self._server.poll() is None:
            self._server.send_signal(how)
            self._server.send_signal(signal.SIGCONT)
        self._server.wait(_READY_WITHIN)
        self._server = None
        self._tell_watcher("")

    def _tell_watcher(self, line: str) -> None:
        assert self._watcher.stdin is not None
        self._watcher.stdin.write(f"{line}\n".encode())
        self._watcher.stdin.flush()


def _programs() -> Path:
    """The folder with the newest server."""
    if named := os.environ.get("POSTGRES_BIN"):
        found = [Path(named) / "initdb"]
    else:
        versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
        found = sorted(versions, key=lambda path: float(path.parts[-3]), reverse=True)
        on_path = shutil.which("initdb")
        found += [Path(on_path).resolve()] if on_path else []
    for initdb in found:
        if initdb.exists() and initdb.with_name("postgres").exists():
            return initdb.parent
    raise NoServer("the PostgreSQL server (initdb) is not installed")


def _owner() -> pwd.struct_passwd | None:
    """Who runs the server, if not whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    for name in _OWNERS:
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise NoServer("the tests run as root, and there is no other user to run the server")


def _children(parent: int) -> list[int]:
    """The processes that it started and that still run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name is in parentheses and may hold anything; state and parent come behind it.
            if int(status.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(status.parent.name))
    return found
