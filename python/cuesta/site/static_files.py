"""The files that pages load: scripts, styles and the library of plots, all read when the process starts.

Only these can be asked for, by their names; nothing is looked up on a disk.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

STATIC = "/static/"
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
RENDERED = ("page.css", "plots.js", "vega.js.gz")
"""Files of `report/render`, which reports have in them."""
FOREVER = "private, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file, in memory."""

    content: bytes
    kind: str
    version: str
    """A hash of its content: its address changes with it."""
    is_packed: bool = False
    """Whether it is compressed by gzip."""


def address_of(name: str) -> str:
    """The address of a file, whose answer a browser may keep without asking again."""
    return f"{STATIC}{name}?v={_load()[name].version}"


async def answer_static(request: Request) -> Response:
    """Answer with a file of the package."""
    file = _load().get(request.path_params["name"])
    if file is None:
        return PlainTextResponse("there is no such file\n", 404)
    headers = {"Content-Type": file.kind}
    if request.query_params.get("v") == file.version:
        headers["Cache-Control"] = FOREVER
    if file.is_packed:
        headers["Content-Encoding"] = "gzip"
    return Response(file.content, headers=headers)


@cache
def _load() -> dict[str, StaticFile]:
    """All files, by name."""
    rendered = files("cuesta.report").joinpath("render")
    found = [*files("cuesta.site").joinpath("static").iterdir(), *(rendered / name for name in RENDERED)]
    return {file.name.removesuffix(".gz"): _read(file) for file in found if file.is_file()}


def _read(file: Traversable) -> StaticFile:
    content, is_packed = file.read_bytes(), file.name.endswith(".gz")
    suffix = "." + file.name.removesuffix(".gz").rpartition(".")[2]
    version = hashlib.sha256(content).hexdigest()[:12]
    return StaticFile(content, TYPES.get(suffix, "application/octet-stream"), version, is_packed)
