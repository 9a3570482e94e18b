"""How pages of web terminals are recognized: the table of their kinds, and what a server answered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered to the request for a page."""

    url: str
    status: int
    headers: Mapping[str, str]
    """By name in small letters; those of one name are joined by new lines."""
    body: str
    """Not all of a long one."""

    def read(self, where: str) -> str:
        """The part of it that a sign names; empty if it has none."""
        match where.split():
            case ["header", name]:
                return self.headers.get(name, "")
            case ["cookie"]:
                return self.headers.get("set-cookie", "")
            case ["redirect"]:
                return self.headers.get("location", "")
            case ["title"]:
                title = re.search(r"<title[^>]{0,200}>([^<]{0,200})", self.body, re.IGNORECASE)
                return title[1].strip() if title else ""
            case _:
                return self.body


@dataclass(frozen=True, slots=True)
class PageKind:
    """A kind of web terminal, as its pages show it."""

    name: str
    """What people call it."""
    scheme: str
    """The kind of its lines, without `+ws` or `+wss`."""
    signs: Mapping[str, str]
    """Where what is found that no other kind has: `header NAME`, `cookie`, `redirect`, `title` or `page` → a pattern.

    A cookie is found by its name, at the beginning of a row.
    """
    places: Mapping[str, str]
    """A pattern of a page's path → what follows the host in a target, made of the pattern's groups.

    The first one counts that any page fits which was asked for or redirected to.
    """
    needs: str
    """What else a first run at this kind needs: columns, settings."""

    def find_sign(self, answers: Sequence[Answer]) -> str | None:
        """Where the first sign of this kind is; None if there is none."""
        found = (
            where
            for where, pattern in self.signs.items()
            for answer in answers
            if re.search(pattern, answer.read(where), re.IGNORECASE | re.MULTILINE)
        )
        return next(found, None)

    def find_place(self, answers: Sequence[Answer]) -> str:
        """What follows the host in a target."""
        paths = [urlsplit(answer.url).path for answer in answers]
        fits = (
            place.format(**match.groupdict(""))
            for pattern, place in self.places.items()
            for path in paths
            if (match := re.fullmatch(pattern, path))
        )
        return next(fits, "/")


BY_PASSWORD = "if it asks for a password: --data USERS.csv, columns user and password"
UNDER_A_PATH = {r"(?P<before>.*?)/*": "{before}/"}

PAGE_KINDS = (
    PageKind(
        "ttyd",
        "ttyd",
        {"header server": "^ttyd/", "header www-authenticate": 'realm="ttyd"', "title": "^ttyd - Terminal"},
        UNDER_A_PATH,
        BY_PASSWORD,
    ),
    PageKind(
        "GoTTY",
        "gotty",
        {"header server": "^GoTTY", "header www-authenticate": 'realm="GoTTY"', "page": r"js/gotty(-bundle)?\.js"},
        UNDER_A_PATH,
        BY_PASSWORD,
    ),
    PageKind(
        "WeTTY",
        "wetty",
        {"title": "^WeTTY", "page": r"/client/wetty\.js"},
        {r"(?P<before>.*)/ssh/(?P<user>[^/]+)/*": "{before}?ssh={user}", r"(?P<before>.*?)/*": "{before}"},
        "its tape logs in, as at its terminal",
    ),
    PageKind(
        "code-server",
        "code-server",
        {"title": "^code-server", "page": 'id="vscode-workbench-web-configuration"'},
        {r"(?P<before>.*?)(/login)?/*": "{before}/"},
        "if it asks for a password: --data USERS.csv, column password",
    ),
    PageKind(
        "Cockpit",
        "cockpit",
        {"cookie": "^cockpit=", "page": "/cockpit/(static|@localhost)/", "redirect": "/cockpit/"},
        {".*": "/"},
        "each user logs in: --data USERS.csv, columns user and password",
    ),
    PageKind(
        "Teleport",
        "teleport",
        {"page": 'name="grv_(bearer|csrf)_token"', "cookie": "^(__Host-)?grv_csrf=|^__Host-session="},
        {
            r"/web/cluster/(?P<cluster>[^/]+)/console/node/(?P<server>[^/]+)/(?P<login>[^/]+)/*": (
                "/{cluster}/{server}?user={login}"
            ),
            r"/web/cluster/(?P<cluster>[^/]+)(/.*)?": "/{cluster}/SERVER?user=LOGIN",
            ".*": "/CLUSTER/SERVER?user=LOGIN",
        },
        "each user has a session: --data USERS.csv, columns token and cookie",
    ),
    PageKind(
        "Coder",
        "coder",
        {
            "header x-coder-build-version": ".",
            "cookie": "^coder_session_token=",
            "page": 'name="application-name" content="Coder2?"',
        },
        {
            r"(?P<before>.*)/api/v2/workspaceagents/(?P<agent>[\w-]+)(/.*)?": "{before}/{agent}",
            r"(?P<before>.*?)(/(login|workspaces|templates|@[^/]+)(/.*)?)?/*": "{before}/AGENT",
        },
        "AGENT is the workspace agent's UUID; each user has a token: --data USERS.csv, column token",
    ),
    PageKind(
        "Kubernetes",
        "k8s",
        {"page": r'\A\s*\{\s*"kind":\s*"Status",\s*"apiVersion":\s*"v1"', "header x-kubernetes-pf-flowschema-uid": "."},
        {
            ".*/namespaces/(?P<namespace>[^/]+)/pods/(?P<pod>[^/]+)(/.*)?": "/{namespace}/{pod}",
            ".*/namespaces/(?P<namespace>[^/]+)(/.*)?": "/{namespace}/POD",
            ".*": "/NAMESPACE/POD",
        },
        "each user has a token: --data USERS.csv, column token; or a certificate: cert=FILE&key=FILE",
    ),
    PageKind(
        "Jupyter",
        "jupyter",
        {
            "header x-jupyterhub-version": ".",
            "title": r"\bJupyter(Lab|Hub)?\b",
            "page": 'id="jupyter-config-data"',
            "header content-security-policy": "report-uri [^;]*/(api|hub)/security/csp-report",
            "cookie": "^(username|jupyterhub)-[^=]*=",
            "redirect": "/hub/(login|user|spawn|oauth_login)|/login[?]next=[^&]*(lab|tree)",
        },
        {
            "(?P<before>.*?)(/hub)?/user/(?P<user>[^/]+)(/.*)?": "{before}/user/{user}/",
            "(?P<before>.*?)/hub(/.*)?": "{before}/user/{{user}}/",
            r"(?P<before>.*?)(/(lab|tree|notebooks|terminals|consoles|edit|doc|nbclassic|login)(/.*)?)?/*": "{before}/",
        },
        "each user has a token or a password: --data USERS.csv, columns user and token, or user and password",
    ),
)
"""Kinds that may stand behind others come first: a proxy's headers are in the answers of all that are behind it."""
