"""What every request passes: it is checked before anything answers it, and every answer gets the same headers.

Pure ASGI: answers pass through as they are made, streams of events too.
"""

import asyncio
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cuesta.site.access import ENTRY, Access, is_foreign, names_loopback
from cuesta.site.frame import entry_page
from cuesta.site.static_files import STATIC

MOST_BODY = 4096
"""Bytes of the body of a request."""
BODY_SECONDS = 5.0
"""Within which it must have come."""
POLICY = "; ".join(
    (
        *("default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"),
        *("font-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"),
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
OPENER = "Cross-Origin-Opener-Policy"
"""Browsers take it from loopback addresses only, where nothing is encrypted, and complain of it elsewhere."""


class RequestTooLargeError(Exception):
    """The body of a request is longer than any that is expected, or does not come."""


class Guard:
    """Lets through what `Access` allows."""

    def __init__(self, application: ASGIApp, access: Access) -> None:
        self._application = application
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message, is_loopback=is_loopback)
            await send(message)

        headers = Headers(scope=scope)
        is_loopback = names_loopback(headers.get("host", ""))
        try:
            body = await _read_body(receive) if scope["method"] == "POST" else b""
        except RequestTooLargeError as error:
            await PlainTextResponse(f"{error}\n", 413, {"Connection": "close"})(scope, receive, send_with_headers)
            return
        answer = self._check(scope, headers, body) or self._application
        await answer(scope, _replay(body, receive), send_with_headers)

    def _check(self, scope: Scope, headers: Headers, body: bytes) -> Response | None:
        """The answer to a request that is not let through."""
        method, path = scope["method"], scope["path"]
        if refused := self._refuse(headers, method):
            return refused
        if path == ENTRY and method == "POST":
            return self._enter(body)
        if path == ENTRY:
            return HTMLResponse(entry_page())
        if path.startswith(STATIC) or self._access.has_cookie(headers.get("cookie", "")):
            return None
        if method == "GET" and "text/html" in headers.get("accept", ""):
            # Browsers keep the fragment, which has the token.
            return RedirectResponse(f"{ENTRY}?{urlencode({'to': _target(scope)})}", 303)
        return _refuse(401, "open the address that was printed: it has the token")

    def _refuse(self, headers: Headers, method: str) -> Response | None:
        """The answer to a request that is refused with or without a cookie."""
        if method not in {"GET", "HEAD", "POST"}:
            return _refuse(405, "only GET and POST are answered here")
        if not self._access.knows_host(headers.get("host", "")):
            return _refuse(421, "this server has another name: open the address that was printed")
        if is_foreign(headers, method):
            return _refuse(403, "this request comes from another site")
        return None

    def _enter(self, body: bytes) -> Response:
        if not self._access.is_token(body.decode(errors="replace")):
            return _refuse(403, "this is not the token: open the address that was printed")
        return Response(status_code=204, headers={"Set-Cookie": self._access.set_cookie()})


def _target(scope: Scope) -> str:
    """The path and the query that were asked for."""
    query = scope["query_string"].decode("latin-1")
    return f"{quote(scope['path'])}{'?' if query else ''}{query}"


def _refuse(status: int, why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status)


def _add_headers(message: MutableMapping[str, Any], *, is_loopback: bool) -> None:
    headers = MutableHeaders(raw=message["headers"])
    for name, value in HEADERS.items():
        headers[name] = value
    if is_loopback:
        headers[OPENER] = "same-origin"
    headers.setdefault("Cache-Control", "no-store")
    message["headers"] = headers.raw


async def _read_body(receive: Receive) -> bytes:
    """The whole body of a request. Raises RequestTooLargeError."""
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestTooLargeError("the connection was closed")
                part: bytes = message.get("body", b"")
                body += part
                if len(body) > MOST_BODY:
                    raise RequestTooLargeError(f"at most {MOST_BODY} bytes are read")
                if not message.get("more_body", False):
                    return body
    except TimeoutError:
        raise RequestTooLargeError(f"the request did not come within {BODY_SECONDS:.0f} s") from None


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hands out a body that was read already, and then what else comes."""
    is_handed = False

    async def receive_again() -> Message:
        nonlocal is_handed
        if is_handed:
            return await receive()
        is_handed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
