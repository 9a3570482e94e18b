"""Says of a page's address, given as a target, which kind of web terminal is there: a target names the kind.

That very page is asked for, and where it redirects to at the same host. No secret is shown: of the address its host and
path, and of what the server says nothing.
"""

import ssl
from collections.abc import Mapping
from email.message import Message
from http.client import HTTPException
from ipaddress import ip_address
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from urllib.error import URLError
from urllib.parse import SplitResult, quote, urljoin, urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from cuesta import __version__
from cuesta.errors import UsageError
from cuesta.workflow.page_kinds import PAGE_KINDS, Answer, PageKind

PATIENCE = 5.0
"""Seconds within which all is asked and answered."""
MOST_REDIRECTS = 5
LONGEST = 1_000_000
"""Bytes of a page that are read."""
PORTS = {"http": 80, "https": 443}
ASKING = {"Accept": "text/html, */*;q=0.8", "User-Agent": f"Cuesta/{__version__}"}
NAME_IT = "name the kind that is there, as in 'ttyd+wss://HOST/' (docs/web.md: which of these is yours)"


def refuse_page(target: object) -> None:
    """Raise UsageError if a target is the address of a page: it says which target is meant, as far as can be seen."""
    if not isinstance(target, str) or target.partition(":")[0].strip().lower() not in PORTS:
        return
    url = _split(target.strip())
    if url is None or not url.hostname:
        return  # whoever reads the target says what is wrong with it
    if url.username is not None:
        what = f"{_show(url)}: an address never has a user's name and password"
        raise UsageError(what, "put them into the users' table: --data USERS.csv, columns user and password")
    raise UsageError(*_explain(url))


def _explain(url: SplitResult) -> tuple[str, str]:
    """What is said of a page, and what to do."""
    try:
        answers = ask_in_time(url)
    except (OSError, HTTPException, ValueError) as error:
        return f"{_show(url)} cannot be asked which kind of web terminal it is: {_why(error)}", NAME_IT
    for kind in PAGE_KINDS:
        if sign := kind.find_sign(answers):
            return _name_kind(kind, sign, answers, url)
    what = f"{_show(url)} {_end(answers)} and looks like no web terminal that Cuesta knows"
    secure = "s" if url.scheme == "https" else ""
    bare = f"a WebSocket of bare characters is --target 'ws{secure}://{url.netloc}/PATH'"
    return what, f"{NAME_IT}; {bare}"


def _end(answers: list[Answer]) -> str:
    """What the last answer was."""
    if not (there := _redirected(answers[-1])):
        return f"answers {answers[-1].status}"
    if _is_same_host(urlsplit(answers[-1].url), there):
        return "redirects in a circle"
    return f"leads to another host, {there.hostname},"


def _name_kind(kind: PageKind, sign: str, answers: list[Answer], url: SplitResult) -> tuple[str, str]:
    last = urlsplit(answers[-1].url)
    scheme = f"{kind.scheme}+{'wss' if last.scheme == 'https' else 'ws'}"
    looks, seen = f"{_show(url)} looks like {kind.name}", f"seen by its {sign}"
    target = f"{scheme}://{last.netloc}{kind.find_place(answers)}".replace("'", "%27")
    return f"{looks}: --target '{target}'", f"{seen}; {kind.needs} (docs/web.md)"


def ask_in_time(url: SplitResult) -> list[Answer]:
    """Ask for a page and where it redirects to. Raises OSError (in time), HTTPException or ValueError."""
    answered: Queue[list[Answer] | Exception] = Queue()

    def work() -> None:
        try:
            answered.put(ask(url))
        except Exception as error:
            answered.put(error)

    # On a thread that need not end: nothing bounds how long the name of a host is looked up, or a slow head is read.
    Thread(target=work, name="page", daemon=True).start()
    try:
        result = answered.get(timeout=PATIENCE)
    except Empty:
        raise TimeoutError from None
    if isinstance(result, Exception):
        raise result
    return result


def ask(url: SplitResult) -> list[Answer]:
    """The answer for a page, and those for the pages of the same host that it redirects to."""
    opener, end = OpenerDirector(), monotonic() + PATIENCE  # without a handler of errors: every status is an answer
    proxies = ProxyHandler({} if _is_local(url.hostname or "") else None)  # as lines: this machine is reached directly
    for handler in (proxies, HTTPHandler(), HTTPSHandler(context=ssl.create_default_context())):
        opener.add_handler(handler)
    answers = [_ask_once(opener, url, end)]
    while len(answers) <= MOST_REDIRECTS and (there := _redirected(answers[-1])):
        if not _is_same_host(urlsplit(answers[-1].url), there):
            break
        answers.append(_ask_once(opener, there, end))
    return answers


def _ask_once(opener: OpenerDirector, url: SplitResult, end: float) -> Answer:
    target = quote(url._replace(fragment="").geturl(), safe="/:?#[]@!$&'()*+,;=%~")
    with opener.open(Request(target, headers=ASKING), timeout=PATIENCE) as answer:
        body = b""
        while len(body) < LONGEST and monotonic() < end and (piece := answer.read1(LONGEST - len(body))):
            body += piece
        return Answer(target, answer.status, _join(answer.headers), body.decode("utf-8", "replace"))


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _join(headers: Message) -> Mapping[str, str]:
    return {name.lower(): "\n".join(map(str, headers.get_all(name, []))) for name in headers}


def _redirected(answer: Answer) -> SplitResult | None:
    """Where an answer redirects to; None if it does not, or to no page."""
    location = answer.headers.get("location", "").partition("\n")[0]
    if answer.status not in {301, 302, 303, 307, 308} or not location.isprintable() or not location:
        return None
    there = _split(urljoin(answer.url, location))
    return there if there and there.scheme in PORTS else None


def _is_same_host(here: SplitResult, there: SplitResult) -> bool:
    """Whether a redirect stays at a host and its port, or goes from its usual port to that of TLS."""
    places = [(url.hostname, url.port or PORTS[url.scheme]) for url in (here, there)]
    turns_secure = (here.scheme, there.scheme) == ("http", "https") and places[0][1] == PORTS["http"]
    return there.username is None and places[1] in [places[0], *[(here.hostname, PORTS["https"])] * turns_secure]


def _split(text: str) -> SplitResult | None:
    """The parts of an address; None if it is none."""
    try:
        url = urlsplit(text)
        _ = url.hostname, url.port
    except ValueError:
        return None
    return url


def _show(url: SplitResult) -> str:
    """An address without its secrets, which may be in the query."""
    return url._replace(netloc=url.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _why(error: Exception) -> str:
    """Why a page cannot be asked for, without what the server said."""
    cause = error.reason if isinstance(error, URLError) and isinstance(error.reason, Exception) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({cause.verify_message})"
    if isinstance(cause, ssl.SSLError):
        return "it does not speak TLS"
    if isinstance(cause, TimeoutError):
        return f"no answer within {PATIENCE:g} s"
    if isinstance(cause, OSError):
        return (cause.strerror or "no connection").lower()
    return "it does not speak HTTP"
