"""Who may look at pages: whoever has the address that was printed, which holds a token. Pure.

The token stands in the fragment of that address, which browsers do not send. A script of the page posts it to `/enter`
and gets a cookie for it. Nothing is shown to anyone else: not to other users of this machine, who can reach loopback
addresses too, and not to other sites in the same browser (`Origin`, `Sec-Fetch-Site`), whatever name their owners let
lead here (`Host`).
"""

import hashlib
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

ENTRY = "/enter"
"""Where the token is posted."""
ANY_ADDRESS = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class Access:
    """The address that pages are served at, and the token that opens it."""

    host: str
    """A name or a numeric address, without the brackets of IPv6."""
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def address(self) -> str:
        """What the reader opens: it holds the token."""
        return self.address_of("/")

    def address_of(self, path: str) -> str:
        """The address of a page, with the token."""
        name = socket.gethostname() if self.host in ANY_ADDRESS else self.host
        written = f"[{name}]" if ":" in name else name
        return f"http://{written}:{self.port}{path}#token={self.token}"

    def is_token(self, text: str) -> bool:
        """Whether this is the token; it takes the same time whatever it differs in."""
        return hmac.compare_digest(text.encode(errors="replace"), self.token.encode())

    def knows_host(self, header: str) -> bool:
        """Whether a `Host` header names this server: its own name, or a numeric address, which no one else's name is.

        The port may be another, as that of a forwarded connection (`ssh -L`) is.
        """
        name = _name_of(header)
        if name in {self.host.lower(), "localhost"}:
            return True
        if self.host in ANY_ADDRESS and name == socket.gethostname().lower():
            return True
        return _is_numeric(name)

    def set_cookie(self) -> str:
        """The value of the header `Set-Cookie` for someone who has shown the token."""
        return f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"

    def has_cookie(self, header: str) -> bool:
        """Whether a `Cookie` header has the session."""
        try:
            cookie = SimpleCookie(header).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(errors="replace"), self._session.encode())

    @property
    def _cookie(self) -> str:
        """Its name: browsers send cookies to every port of a host."""
        return f"cuesta_{self.port}"

    @property
    def _session(self) -> str:
        """What the cookie holds: made of the token, which cannot be had back from it."""
        return hmac.new(self.token.encode(), b"cuesta session", hashlib.sha256).hexdigest()


def is_foreign(headers: Mapping[str, str], method: str) -> bool:
    """Whether a page of another site asks: for anything but to be shown this one, or to change something."""
    site, mode = headers.get("sec-fetch-site", ""), headers.get("sec-fetch-mode", "")
    if method == "POST":
        own = f"http://{headers.get('host', '')}"
        return headers.get("origin", "").lower() != own.lower() or site not in {"", "same-origin"}
    return site in {"cross-site", "same-site"} and mode != "navigate"


def names_loopback(header: str) -> bool:
    """Whether a `Host` header names a loopback address."""
    name = _name_of(header)
    return name == "localhost" or (_is_numeric(name) and ipaddress.ip_address(name).is_loopback)


def _name_of(header: str) -> str:
    """The host of a `Host` header, without its port and brackets."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()


def _is_numeric(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
