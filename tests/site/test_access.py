"""Who may look: a token, names of the server, and pages of other sites."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from cuesta.site.access import Access
from cuesta.site.guard import HEADERS, MOST_BODY
from tests.site.served import Served, served

HTML = "text/html,application/xhtml+xml"


async def page(request: Request) -> Response:
    return PlainTextResponse(f"seen {request.url.path} {(await request.body()).decode()}")


async def fail(_request: Request) -> Response:
    raise ZeroDivisionError("it was <b>0</b>")


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served([Route("/page", page, methods=["GET", "POST"]), Route("/fails", fail)]) as running:
        yield running


@pytest.fixture
def inside(server: Served) -> Served:
    return Served(server.access, server.stop).enter()


def test_nothing_is_shown_without_the_token(server: Served) -> None:
    for path in ("/page", "/", "/no-such-page", "/enter/", "/fails"):
        assert server.ask(path).status == 401
    assert server.ask("/page", Cookie=f"cuesta_{server.access.port}=").status == 401
    assert server.ask("/page", Cookie=f"cuesta_{server.access.port}={server.access.token}").status == 401
    assert server.ask("/page", "POST", b"", Origin=server.origin).status == 401


def test_who_opens_a_page_without_the_token_is_led_to_the_entry_and_back(server: Served) -> None:
    answer = server.ask("/page?a=1&b=%2F", Accept=HTML)
    assert (answer.status, answer.headers["location"]) == (303, "/enter?to=%2Fpage%3Fa%3D1%26b%3D%252F")
    entry = server.ask("/enter?to=%2Fpage", Accept=HTML)
    assert entry.status == 200
    assert "Open the address that was printed" in entry.text
    assert server.ask("/static/enter.js").status == 200


def test_the_token_opens_the_pages_by_a_cookie_that_no_script_and_no_other_site_has(server: Served) -> None:
    answer = server.ask("/enter", "POST", server.access.token.encode(), Origin=server.origin)
    cookie, *flags = answer.headers["set-cookie"].split("; ")
    assert flags == ["Path=/", "HttpOnly", "SameSite=Strict"]
    assert server.access.token not in cookie
    assert server.ask("/page", Cookie=f"other=1; {cookie}; more=2").text == "seen /page "
    assert server.access.token not in answer.text


@pytest.mark.parametrize("token", [b"", b"wrong", "falsch\N{SNOWMAN}".encode(), b"\xff\xfe", b"x" * MOST_BODY])
def test_another_token_opens_nothing(server: Served, token: bytes) -> None:
    answer = server.ask("/enter", "POST", token, Origin=server.origin)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8089", "evil.example:{port}", "", "[x]:1"],
)
def test_a_server_under_a_name_that_is_not_its_own_answers_nothing(inside: Served, host: str) -> None:
    answer = inside.ask("/page", Host=host.format(port=inside.access.port))
    assert answer.status == 421
    assert "seen" not in answer.text


@pytest.mark.parametrize(
    "host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:9000", "[::1]:{port}", "10.0.0.5:80"]
)
def test_its_own_names_and_numeric_addresses_are_answered_at_any_port(inside: Served, host: str) -> None:
    assert inside.ask("/page", Host=host.format(port=inside.access.port)).status == 200


def test_a_named_server_has_the_name_that_was_told() -> None:
    access = Access("lab.example", 8089)
    assert access.knows_host("lab.example:8089")
    assert access.knows_host("LAB.example")
    assert not access.knows_host("other.example:8089")
    assert access.address == f"http://lab.example:8089/#token={access.token}"
    assert Access("::1", 80).address.startswith("http://[::1]:80/#token=")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", ""]
)
def test_only_its_own_pages_may_post(inside: Served, origin: str) -> None:
    answer = inside.ask("/page", "POST", b"x", Origin=origin.format(port=inside.access.port))
    assert answer.status == 403
    assert inside.ask("/page", "POST", b"x").status == 403
    assert inside.ask("/page", "POST", b"x", Origin=inside.origin, Sec_Fetch_Site="same-site").status == 403
    assert inside.ask("/page", "POST", b"x", Origin=inside.origin, Sec_Fetch_Site="same-origin").text == "seen /page x"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_may_lead_here_and_read_nothing(inside: Served, site: str) -> None:
    assert inside.ask("/page", Sec_Fetch_Site=site, Sec_Fetch_Mode="cors").status == 403
    assert inside.ask("/page", Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors").status == 403
    assert inside.ask("/page", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate").status == 200


def test_a_long_body_is_not_read(inside: Served) -> None:
    assert inside.ask("/page", "POST", b"x" * MOST_BODY, Origin=inside.origin).status == 200
    for path in ("/page", "/enter"):
        assert inside.ask(path, "POST", b"x" * (MOST_BODY + 1), Origin=inside.origin).status == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(inside: Served, method: str) -> None:
    assert inside.ask("/page", method).status == 405


@pytest.mark.parametrize(
    "path",
    [
        "/../page",
        "/static/../access.py",
        "/static/%2e%2e/access.py",
        "/static/..%2faccess.py",
        "/static/",
        "/static/a/b",
    ],
)
def test_static_files_are_those_of_the_package_alone(inside: Served, path: str) -> None:
    answer = inside.ask(path)
    assert answer.status == 404
    assert "class Access" not in answer.text


def test_every_answer_has_the_headers(inside: Served, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [inside.ask("/page"), inside.ask("/none"), inside.ask("/fails"), inside.ask("/static/site.css")]
    asked += [
        inside.ask("/page", Host="evil.example"),
        inside.ask("/page", Cookie=""),
        inside.ask("/enter", Accept=HTML),
    ]
    assert [answer.status for answer in asked] == [200, 404, 500, 200, 421, 401, 200]
    for answer in asked:
        assert {name: answer.headers[name.lower()] for name in HEADERS} == HEADERS
        assert answer.headers["cache-control"] == "no-store"
        is_loopback = answer.status != 421
        assert ("cross-origin-opener-policy" in answer.headers) == is_loopback, "browsers complain of it elsewhere"
    assert "'unsafe" not in HEADERS["Content-Security-Policy"]
    assert "it was &lt;b&gt;0&lt;/b&gt;" in asked[2].text
    assert "ZeroDivisionError: it was <b>0</b>" in capsys.readouterr().err


@given(st.text(), st.text())
def test_any_text_may_be_sent_for_a_token_a_cookie_or_a_name(one: str, other: str) -> None:
    access = Access("127.0.0.1", 8089, token=f"{other}!")
    assert access.is_token(one) == (one == access.token)
    assert not access.has_cookie(one)
    assert not access.has_cookie(f"cuesta_8089={one}")
    assert access.has_cookie(access.set_cookie())
    access.knows_host(one)
