"""The note board as a real process, and a visitor who speaks HTTP with it as a browser would."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlencode, urlsplit

REPOSITORY = Path(__file__).parents[2]
MODULES = REPOSITORY / "examples/noteboard/modules"
HONEST = "examples.noteboard"
WEAKENED = "tests.examples.weakenedboard"
INTERRUPTED = "tests.examples.interruptedboard"
PATIENCE = 30


@dataclass(frozen=True, slots=True)
class Place:
    """Where a board keeps its notes, and the home of whoever runs it."""

    folder: Path
    home: Path

    def document(self) -> dict[str, str]:
        """The document of the board as the database has it: each entity's bytes, and the revision.

        Read with nothing of the product, so that it can bear witness.
        """
        name = (self.folder / "board-id").read_text().strip()
        file = self.home / ".local/state/consentry/ledger.db"
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as database:
            query = (
                "SELECT entity_type, entity_id, value FROM document_entity WHERE document_id = ?"
            )
            found = {
                f"/{one}/{two}": str(text) for one, two, text in database.execute(query, [name])
            }
            query = "SELECT revision FROM document WHERE document_id = ?"
            [(revision,)] = database.execute(query, [name])
        return {**found, "revision": str(revision)}

    def notes(self) -> list[dict[str, str]]:
        """The notes in their order, each with its id and its text."""
        found = [
            (json.loads(value), place.removeprefix("/notes/"))
            for place, value in self.document().items()
            if place.startswith("/notes/")
        ]
        ordered = sorted(found, key=lambda each: (each[0]["order"], each[1]))
        return [{"id": name, "text": str(note["text"])} for note, name in ordered]

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


@dataclass(slots=True)
class Running:
    """A board that runs: its link, and its end."""

    process: "subprocess.Popen[str]"
    link: str

    def kill(self) -> None:
        """Ends it as a power cut would: it gets to do nothing more."""
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)

    def close(self) -> None:
        """Ends it as a person does, and sees that it had nothing to complain about."""
        self.process.send_signal(signal.SIGTERM)
        _, err = self.process.communicate(timeout=PATIENCE)
        assert (self.process.returncode, err) == (0, "")


def started(place: Place, program: str = HONEST, words: Sequence[str] = ()) -> Running:
    """A board in a process of its own, once it has printed its link."""
    process = subprocess.Popen(
        [sys.executable, "-m", program, "--folder", str(place.folder), *words],
        cwd=REPOSITORY,
        env=place.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("open http://127.0.0.1:"), process.communicate(timeout=PATIENCE)
    return Running(process, line.split()[1])


@contextmanager
def board_at(place: Place, program: str = HONEST, *words: str) -> Iterator[str]:
    """The board while it runs; gives the link that it printed."""
    running = started(place, program, words)
    try:
        yield running.link
    except BaseException:
        running.kill()
        raise
    running.close()


def appears(file: Path) -> None:
    """Waits until another process has made that file."""
    until = time.monotonic() + PATIENCE
    while not file.exists():
        assert time.monotonic() < until, f"{file} does not appear"
        time.sleep(0.02)


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

    def decide(self, decision: str = "once") -> str:
        """Answers the one change that waits: `once` approves and applies it; what the page says then."""
        part = self.get().body.partition('id="changes"')[2].partition("</section>")[0]
        [request] = re.findall(r'data-request="([^"]+)"', part)
        return self.post("/answer", request=request, decision=decision).text

    def press(self, route: str, tx: str | None = None) -> str:
        """Presses a button of the one transaction that has it, or of that one; what the page says then."""
        fields = re.findall(rf'action="{route}">.*?name="tx" value="([^"]+)"', self.get().body)
        assert tx is not None or len(fields) == 1, fields
        return self.post(route, tx=tx or fields[0]).text

    def transaction(self, name: str) -> str:
        """The id of the latest transaction that the page lists under that name."""
        part = self.get().body.partition('id="history"')[2]
        found = re.findall(r'<li data-tx="([^"]+)"[^>]*><header><strong>([^<]+)</strong>', part)
        return next(str(tx) for tx, said in found if said == name)

    def history(self) -> list[tuple[str, str]]:
        """Each transaction that the page lists, the latest first: its state, and what it was for."""
        part = self.get().body.partition('id="history"')[2]
        return re.findall(r'data-state="(\w+)"><header><strong>([^<]+)</strong>', part)

    def difference(self) -> list[str]:
        """The lines of the one preview that waits: each sign with its text."""
        part = self.get().body.partition('id="changes"')[2].partition("</ul>")[0]
        rows = re.findall(r'class="sign">(.)</span><div>(.*?)</div>', part)
        return [
            f"{sign} {' '.join(unescape(re.sub('<code.*|<[^>]*>', ' ', text)).split())}".strip()
            for sign, text in rows
        ]

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
