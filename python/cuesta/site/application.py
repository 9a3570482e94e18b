"""The application of pages: routes, files of the package and pages of errors, behind the guard."""

from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from cuesta.errors import CuestaError
from cuesta.site.access import Access
from cuesta.site.frame import PAGES, error_page
from cuesta.site.guard import Guard
from cuesta.site.static_files import STATIC, answer_static


def make_application(access: Access, routes: Sequence[BaseRoute], pages: Mapping[str, str] = PAGES) -> ASGIApp:
    """An application with these routes, which only those whom `access` knows see.

    `pages` are those that every page names: none where the server ends with a run.
    """
    files = Route(f"{STATIC}{{name}}", answer_static)
    handlers = {HTTPException: _answer_http_error, CuestaError: _answer_error, 500: _answer_failure}
    application = Starlette(routes=[*routes, files], exception_handlers=handlers)
    application.state.pages = pages
    return Guard(application, access)


def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = "There is no such page" if error.status_code == 404 else "This cannot be answered"
    return HTMLResponse(error_page(said, error.detail, request.app.state.pages), error.status_code, error.headers)


def _answer_error(request: Request, error: Exception) -> Response:
    """What cannot be read says where and why."""
    remedy = getattr(error, "remedy", None)
    why = f"{error}{f' – {remedy}' if remedy else ''}"
    return HTMLResponse(error_page("This cannot be shown", why, request.app.state.pages), 422)


def _answer_failure(request: Request, error: Exception) -> Response:
    why = f"{type(error).__name__}: {error}"
    return HTMLResponse(error_page("Something went wrong", why, request.app.state.pages), 500)
