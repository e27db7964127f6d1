"""Serves the board to one person on this machine: 127.0.0.1 only, and only to who has the link.

Rules kept, for every request:

- the `Host` header is this server's own address, so that a name which was pointed here reaches nothing;
- the random token of the printed link becomes a cookie (HttpOnly, SameSite=Strict); without it there is
  one page, which says where the link is;
- a POST needs the form token besides, comes from a page of this server, and has a bounded length that is
  said beforehand. No GET changes the notes, the modules or what they were granted;
- every answer forbids script, frames and foreign content, and is kept nowhere.

Not promised: protection from programs that run as the same person, or from another server on 127.0.0.1
that this browser visits. Cookies do not tell ports apart.
"""

import secrets
import sys
from collections.abc import Callable, Mapping
from hmac import compare_digest
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from consentry.base.errors import ConsentryError
from examples.noteboard.deeds import Deeds
from examples.noteboard.forms import BadForm, Form, read_form
from examples.noteboard.notes import BoardProblem
from examples.noteboard.pages import board_page, export_page, plain_page
from examples.noteboard.record import Record
from examples.noteboard.told import Told

ADDRESS = "127.0.0.1"
MOST_BODY = 64 * 1024
MOST_UPLOAD = 20 * 1024**2
_MOST_DIGITS = 12
PATIENCE = 20
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_HERE = Path(__file__).parent
_FILES = {
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_HTML = "text/html; charset=utf-8"

Route = Callable[[Deeds, Form], Told | None]


class NoteBoardServer(ThreadingHTTPServer):
    """The server of one board; `link` is what a person opens."""

    daemon_threads = True
    headers: Mapping[str, str] = HEADERS

    def __init__(self, deeds: Deeds, record: Record, port: int) -> None:
        super().__init__((ADDRESS, port), _Handler)
        self.deeds = deeds
        self.record = record
        self.key = secrets.token_urlsafe(32)
        self.cookie = secrets.token_urlsafe(32)
        self.token = secrets.token_urlsafe(32)
        self.host = f"{ADDRESS}:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A visitor who goes away, or whose headers no parser takes, is no error of the board."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError, ValueError)):
            super().handle_error(request, client_address)

    @property
    def link(self) -> str:
        """The address with its key."""
        return f"http://{self.host}/enter?{urlencode({'key': self.key})}"

    @property
    def cookie_name(self) -> str:
        """One for each port, so that two boards do not sign each other out."""
        return f"noteboard-{self.server_port}"


class _Refused(Exception):
    """A request that is not answered with what it asked for."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: NoteBoardServer
    timeout = PATIENCE
    server_version = "noteboard"
    sys_version = ""

    def do_GET(self) -> None:
        """Shows something."""
        self._answered(self._get)

    def do_POST(self) -> None:
        """Does something, and goes back to the page."""
        self._answered(self._post)

    def log_message(self, *_: object) -> None:
        """Nothing is printed: the link in a log would be a key in a log."""

    def _answered(self, answer: Callable[[], None]) -> None:
        self.close_connection = True
        try:
            self._require_own_name()
            answer()
        except _Refused as refused:
            self._send(plain_page(refused.status.phrase, str(refused)), refused.status)
        except BadForm as problem:
            self._send(plain_page("Bad request", str(problem)), HTTPStatus.BAD_REQUEST)
        except BoardProblem as problem:
            self._send(plain_page("That did not work", str(problem)), HTTPStatus.CONFLICT)
        except ConsentryError as problem:
            words = f"{problem.code.value}: {problem.message}"
            self._send(plain_page("That did not work", words), HTTPStatus.CONFLICT)

    def _get(self) -> None:
        address = urlsplit(self.path)
        server = self.server
        if address.path == "/enter":
            self._enter(parse_qs(address.query).get("key", [""])[0])
            return
        self._require_cookie()
        if address.path == "/":
            self._send(board_page(server.deeds, server.record, server.token))
        elif address.path == "/export":
            fields = {key: each[0] for key, each in parse_qs(address.query).items()}
            form = Form(fields)
            self._send(
                export_page(server.deeds, form.text("module"), form.text("action"), server.token)
            )
        elif address.path in _FILES:
            name, kind = _FILES[address.path]
            self._send((_HERE / name).read_bytes(), kind=kind)
        else:
            raise _Refused(HTTPStatus.NOT_FOUND, "there is nothing here")

    def _post(self) -> None:
        self._require_cookie()
        self._require_own_page()
        route = ROUTES.get(self.path)
        if route is None:
            raise _Refused(HTTPStatus.NOT_FOUND, "there is nothing here")
        most = MOST_UPLOAD if self.path == "/modules/import" else MOST_BODY
        form = read_form(self.headers.get("Content-Type", ""), self._body(most))
        if not compare_digest(form.fields.get("csrf", "").encode(), self.server.token.encode()):
            raise _Refused(
                HTTPStatus.FORBIDDEN, "the form is not from this board; load the page again"
            )
        deeds = self.server.deeds
        deeds.do(lambda: route(deeds, form))
        self._send(b"", HTTPStatus.SEE_OTHER, extra={"Location": "/"})

    def _enter(self, key: str) -> None:
        if not compare_digest(key.encode(), self.server.key.encode()):
            raise _Refused(HTTPStatus.FORBIDDEN, "open the link that the board printed")
        server = self.server
        cookie = f"{server.cookie_name}={server.cookie}; HttpOnly; SameSite=Strict; Path=/"
        self._send(b"", HTTPStatus.SEE_OTHER, extra={"Location": "/", "Set-Cookie": cookie})

    def _require_own_name(self) -> None:
        names = self.headers.get_all("Host") or []
        if names != [self.server.host]:
            raise _Refused(HTTPStatus.MISDIRECTED_REQUEST, "this board has another address")

    def _require_cookie(self) -> None:
        try:
            cookies = SimpleCookie(self.headers.get("Cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        found = cookies.get(self.server.cookie_name)
        given = "" if found is None else found.value
        if not compare_digest(given.encode(), self.server.cookie.encode()):
            raise _Refused(HTTPStatus.FORBIDDEN, "open the link that the board printed")

    def _require_own_page(self) -> None:
        """Where the browser says from where a form came, it came from here."""
        origin = self.headers.get("Origin", f"http://{self.server.host}")
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        if origin != f"http://{self.server.host}" or site != "same-origin":
            raise _Refused(HTTPStatus.FORBIDDEN, "the form is from another page")

    def _body(self, most: int) -> bytes:
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "the length of the form is not said")
        if len(length) > _MOST_DIGITS or int(length) > most:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "that is too much for one form")
        body = self.rfile.read(int(length))
        if len(body) != int(length):
            raise _Refused(HTTPStatus.BAD_REQUEST, "the form ended too early")
        return body

    def _send(
        self,
        content: bytes,
        status: HTTPStatus = HTTPStatus.OK,
        *,
        kind: str = _HTML,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(content)), "Connection": "close"}
        for name, value in {**self.server.headers, **headers, **(extra or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def _add(deeds: Deeds, form: Form) -> Told | None:
    deeds.board.add(form.text("text"))
    return None


def _remove_note(deeds: Deeds, form: Form) -> Told | None:
    deeds.board.remove(form.text("note"))
    return None


def _select(deeds: Deeds, form: Form) -> Told | None:
    deeds.board.select(form.text("note"))
    return None


def _import(deeds: Deeds, form: Form) -> Told:
    return deeds.import_module(form.files.get("package", b""), form.files.get("graph"))


def _export(deeds: Deeds, form: Form) -> Told:
    return deeds.export(
        form.text("module"),
        form.text("action"),
        form.text("name"),
        overwrite=form.fields.get("overwrite") == "yes",
    )


ROUTES: Mapping[str, Route] = {
    "/notes/add": _add,
    "/notes/remove": _remove_note,
    "/notes/select": _select,
    "/modules/import": _import,
    "/modules/remove": lambda deeds, form: deeds.remove(form.text("module")),
    "/modules/ask": lambda deeds, form: deeds.ask(form.text("module"), form.text("capability")),
    "/act": lambda deeds, form: deeds.act(form.text("module"), form.text("action")),
    "/export": _export,
    "/answer": lambda deeds, form: deeds.answer(form.text("request"), form.text("decision")),
    "/changes/apply": lambda deeds, form: deeds.changes.apply(form.text("tx")),
    "/changes/roll-back": lambda deeds, form: deeds.changes.roll_back(form.text("tx")),
    "/changes/again": lambda deeds, form: deeds.changes.preview_again(form.text("tx")),
    "/changes/give-up": lambda deeds, form: deeds.changes.give_up(form.text("tx")),
    "/changes/recover": lambda deeds, _: deeds.changes.recover(),
    "/automation": lambda deeds, _: deeds.automate(),
}
