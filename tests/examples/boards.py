"""The note board as a real process, and a visitor who speaks HTTP with it as a browser would."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlencode, urlsplit

REPOSITORY = Path(__file__).parents[2]
MODULES = REPOSITORY / "examples/noteboard/modules"
HONEST = "examples.noteboard"
WEAKENED = "tests.examples.weakenedboard"
PATIENCE = 30


@dataclass(frozen=True, slots=True)
class Place:
    """Where a board keeps its notes, and the home of whoever runs it."""

    folder: Path
    home: Path

    @property
    def notes(self) -> Path:
        """The file with the notes."""
        return self.folder / "notes.json"

    @property
    def environ(self) -> dict[str, str]:
        """All that the processes of this place have in their environment."""
        path = f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return {"HOME": str(self.home), "PATH": path, "LC_ALL": "C.UTF-8"}

    def run(self, *words: str) -> str:
        """What a module prints that is run to its end, in this place."""
        return self._printed("-m", *words)

    def run_file(self, name: str) -> str:
        """What a script of the repository prints."""
        return self._printed(name)

    def _printed(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=REPOSITORY,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=PATIENCE,
        )
        return done.stdout.decode()


def place_in(folder: Path) -> Place:
    """A place with nothing in it."""
    home = folder / "home"
    home.mkdir()
    return Place(folder / "board", home)


@contextmanager
def board_at(place: Place, program: str = HONEST, *words: str) -> Iterator[str]:
    """The board while it runs; gives the link that it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", program, "--folder", str(place.folder), *words],
        cwd=REPOSITORY,
        env=place.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("open http://127.0.0.1:"), process.communicate(timeout=PATIENCE)
        yield line.split()[1]
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")


@dataclass(slots=True)
class Answer:
    """What the board answered."""

    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def text(self) -> str:
        """What is to be read in it, tags left out."""
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.body)).split())


@dataclass(slots=True)
class Visitor:
    """Somebody with the link; `headers` are sent with every request, and can be spoiled."""

    link: str
    headers: dict[str, str] = field(default_factory=dict)

    def enter(self) -> "Visitor":
        """Follows the link, and keeps the cookie."""
        address = urlsplit(self.link)
        answer = self.get(f"{address.path}?{address.query}")
        assert answer.status == 303
        self.headers["Cookie"] = answer.headers["Set-Cookie"].partition(";")[0]
        return self

    def get(self, path: str = "/") -> Answer:
        """Looks at a page."""
        return self.send("GET", path)

    def post(self, path: str, **fields: str) -> Answer:
        """Sends a form with the token of the page, and gives the page that it leads to."""
        return self._led(self.send_form(path, csrf=self.token(), **fields))

    def upload(self, name: str, graph: str | None = None) -> Answer:
        """Imports one of the example's packages as the browser would send it."""
        files = {"package": (MODULES / f"{name}.json").read_bytes()}
        if graph is not None:
            files["graph"] = (MODULES / f"{graph}.json").read_bytes()
        return self.upload_bytes(files)

    def upload_bytes(self, files: Mapping[str, bytes]) -> Answer:
        """Imports whatever these are."""
        parts = [f'Content-Disposition: form-data; name="csrf"\r\n\r\n{self.token()}'.encode()]
        parts += [
            f'Content-Disposition: form-data; name="{name}"; filename="x.json"\r\n'
            "Content-Type: application/json\r\n\r\n".encode()
            + content
            for name, content in files.items()
        ]
        body = b"".join(b"--xyz\r\n" + each + b"\r\n" for each in parts) + b"--xyz--\r\n"
        kind = {"Content-Type": "multipart/form-data; boundary=xyz"}
        return self._led(self.send("POST", "/modules/import", body, kind))

    def act(self, module: str, action: str) -> str:
        """Calls an action; what the page says then."""
        return self.post("/act", module=module, action=action).text

    def allow(self, decision: str = "session") -> str:
        """Answers the one question that waits; what the page says then."""
        return self.post("/answer", request=self.question(), decision=decision).text

    def standing(self, module: str) -> dict[str, str]:
        """How the capabilities of a module stand, as the page has it."""
        card = self.get().body.partition(f'<article class="card module" data-module="{module}"')[2]
        rows = re.findall(
            r"<code>([^<]+)</code><span[^>]*>([^<]+)", card.partition("</article>")[0]
        )
        return dict(rows)

    def token(self) -> str:
        """The token that the page gives to its forms."""
        found = re.search(r'name="csrf" value="([^"]+)"', self.get().body)
        assert found is not None
        return found[1]

    def question(self) -> str:
        """The id of the one question that waits."""
        [found] = re.findall(r'data-request="([^"]+)"', self.get().body)
        return str(found)

    def send_form(self, path: str, **fields: str) -> Answer:
        """Sends a form as it stands."""
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.send("POST", path, urlencode(fields).encode(), kind)

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """One request, and its answer; no redirect is followed."""
        connection = HTTPConnection(urlsplit(self.link).netloc, timeout=PATIENCE)
        try:
            connection.request(method, path, body, {**self.headers, **(headers or {})})
            return _answer(connection.getresponse())
        finally:
            connection.close()

    def _led(self, answer: Answer) -> Answer:
        return self.get(answer.headers["Location"]) if answer.status == 303 else answer


def _answer(response: HTTPResponse) -> Answer:
    return Answer(response.status, dict(response.getheaders()), response.read().decode())
