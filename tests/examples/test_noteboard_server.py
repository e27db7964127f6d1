"""The server of the note board against requests that no page of it sends.

It is an example, and yet a program that answers on a port of somebody's machine: whatever comes without the
link, from another page or under another name changes nothing.
"""

import socket
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import pytest

from examples.noteboard.forms import BadForm, read_form
from examples.noteboard.server import MOST_BODY, ROUTES
from tests.examples.boards import Place, Visitor, board_at

FORM = "application/x-www-form-urlencoded"
PAGES = ("/", "/export?module=word-count&action=words", "/style.css", "/icon.svg")


@pytest.fixture
def visitor(place: Place) -> Iterator[Visitor]:
    """Somebody at a board with one module."""
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        visitor.upload("word-count")
        yield visitor


def stranger(visitor: Visitor, headers: Mapping[str, str]) -> Visitor:
    """The same person, whose requests have other headers."""
    return Visitor(visitor.link, {**visitor.headers, **headers})


def adds(visitor: Visitor, token: str, **fields: str) -> int:
    """The status of a form that would add a note."""
    return visitor.send_form("/notes/add", csrf=token, text="added", **fields).status


def test_who_has_no_link_sees_nothing(visitor: Visitor) -> None:
    """No page, no style, no form: and with the cookie each is there."""
    nobody = Visitor(visitor.link)
    for page in PAGES:
        refused = nobody.get(page)
        assert (refused.status, "word-count" in refused.body) == (403, False)
        assert visitor.get(page).status == 200
    assert adds(nobody, visitor.token()) == 403
    assert adds(visitor, visitor.token()) == 303


@pytest.mark.parametrize("key", ["", "x", "../", "a" * 5000])
def test_a_wrong_key_opens_nothing(visitor: Visitor, key: str) -> None:
    """And gives no cookie."""
    answer = Visitor(visitor.link).get(f"/enter?key={key}")
    assert answer.status == 403
    assert "Set-Cookie" not in answer.headers


def test_the_cookie_is_for_this_site_alone(visitor: Visitor) -> None:
    """HttpOnly, SameSite=Strict, and not the key of the link."""
    address = urlsplit(visitor.link)
    cookie = Visitor(visitor.link).get(f"{address.path}?{address.query}").headers["Set-Cookie"]
    assert cookie.endswith("; HttpOnly; SameSite=Strict; Path=/")
    assert address.query.removeprefix("key=") not in cookie


@pytest.mark.parametrize("name", ["board.example", "localhost", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_name_for_this_address_reaches_nothing(visitor: Visitor, name: str) -> None:
    """A name that somebody pointed to 127.0.0.1 is refused, with the cookie or without."""
    renamed = stranger(visitor, {"Host": name})
    assert renamed.get().status == 421
    assert adds(renamed, visitor.token()) == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://board.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_a_form_of_another_page_does_nothing(
    visitor: Visitor, place: Place, headers: Mapping[str, str]
) -> None:
    """Even with the cookie and the token; the same form from its own page works."""
    before = place.document()
    token = visitor.token()
    assert adds(stranger(visitor, headers), token) == 403
    assert place.document() == before
    own = {"Origin": f"http://{urlsplit(visitor.link).netloc}", "Sec-Fetch-Site": "same-origin"}
    assert adds(stranger(visitor, own), token) == 303


@pytest.mark.parametrize("token", ["", "x", "ä"])
def test_a_form_without_its_token_does_nothing(visitor: Visitor, place: Place, token: str) -> None:
    """On every route that changes something."""
    before = place.document()
    for route in ROUTES:
        assert visitor.send_form(route, csrf=token, module="word-count").status == 403
        assert visitor.send_form(route, module="word-count").status == 403
    assert place.document() == before
    assert "word-count 1.0.0" in visitor.get().text


def test_looking_changes_nothing(visitor: Visitor, place: Place) -> None:
    """No GET on any route changes notes, modules, grants or questions."""
    before = place.document(), visitor.get().text.partition("From the ledger")[0]
    fields = f"csrf={visitor.token()}&module=word-count&action=words&text=x"
    for route in ROUTES:
        visitor.get(f"{route}?{fields}")
    after = place.document(), visitor.get().text.partition("From the ledger")[0]
    assert before == after


def test_only_two_methods_are_known(visitor: Visitor) -> None:
    """Everything else is refused by the library."""
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"):
        assert visitor.send(method, "/").status == 501


def test_every_answer_forbids_script_frames_and_keeping(visitor: Visitor) -> None:
    """Also those that refuse."""
    answers = [visitor.get(page) for page in (*PAGES, "/nothing")]
    answers += [Visitor(visitor.link).get(), visitor.send_form("/notes/add")]
    for answer in answers:
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'; ")
        assert "script-src" not in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"


def test_the_page_has_no_script_and_no_style_of_its_own(visitor: Visitor) -> None:
    """Nothing that the policy would have to let through."""
    page = visitor.get().body
    for word in ("<script", " style=", "<style", "javascript:", " onclick"):
        assert word not in page


@pytest.mark.parametrize(
    ("route", "most"), [("/notes/add", MOST_BODY), ("/modules/import", 20 * 1024**2)]
)
def test_a_body_is_bounded(visitor: Visitor, route: str, most: int) -> None:
    """By what it says its length is, before any of it is read."""
    for length in (most + 1, 10**30):
        headers = {"Content-Type": FORM, "Content-Length": str(length)}
        assert visitor.send("POST", route, b"", headers).status == 413
    for wrong in ("-1", "1e3", "ten", "٣"):
        headers = {"Content-Type": FORM, "Content-Length": wrong.encode().decode("latin-1")}
        assert visitor.send("POST", route, b"", headers).status == 411
    chunked = {"Content-Type": FORM, "Transfer-Encoding": "chunked", "Content-Length": "1"}
    assert visitor.send("POST", route, b"x", chunked).status == 411


def test_others_are_served_while_one_request_hangs(visitor: Visitor) -> None:
    """A connection that says nothing, and one that stops in the middle of its form."""
    address = urlsplit(visitor.link)
    place = (str(address.hostname), int(address.port or 0))
    with socket.create_connection(place) as silent, socket.create_connection(place) as slow:
        assert silent.fileno() > 0
        slow.sendall(b"POST /notes/add HTTP/1.1\r\nContent-Length: 100\r\n\r\n")
        assert visitor.get().status == 200


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (FORM, b"a=1&a=2"),
        (FORM, b"a"),
        (FORM, b"a=\xff"),
        (FORM, b"a=%ff"),
        (FORM, b"&".join(b"a%d=1" % each for each in range(50))),
        ("text/plain", b"a=1"),
        ("", b""),
        ("multipart/form-data", b"--x--"),
        ("multipart/form-data; boundary=x", b""),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\nno name\r\n--x--"),
        ("multipart/form-data; boundary=x", b"--x\r\nno head\r\n--x--"),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="a"'),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\xff\r\n--x--',
        ),
    ],
)
def test_what_is_no_form_is_refused(kind: str, body: bytes) -> None:
    """Not guessed at: twice the same field, other encodings, cut off parts."""
    with pytest.raises(BadForm):
        read_form(kind, body)


def test_a_form_is_read_as_it_was_sent() -> None:
    """Bytes of a file with line ends and boundaries of others in it."""
    content = b"\r\n--xy\r\n\x00\xff--x\r\n"
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    form = read_form("multipart/form-data; boundary=x", head + b"\xff\r\n\x00\r\n--x--\r\n")
    assert form.files == {"f": b"\xff\r\n\x00"}
    form = read_form(
        "multipart/form-data; boundary=zzz",
        head.replace(b"--x", b"--zzz") + content + b"\r\n--zzz--",
    )
    assert form.files == {"f": content}
    assert read_form(FORM, b"a=%C3%A4&b=").fields == {"a": "ä", "b": ""}
