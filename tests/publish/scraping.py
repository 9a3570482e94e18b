"""A real Prometheus that scrapes applications a few times a second.

One is enough for all of them: it takes five seconds until it begins.
"""

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import uvicorn

from cuesta.publish.prometheus import App, Message, Receive, Send
from tests.daemons import free_port, listening
from tests.own_network import own_network


class Scraped:
    """An application, and how often it was scraped."""

    def __init__(self, app: App, *, takes_native: bool = False) -> None:
        self._app, self._takes_native = app, takes_native
        self._counted = threading.Condition()
        self._scrapes = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer. Where native histograms are not taken, the answer is what a server without them gets."""
        headers = [(name, value) for name, value in scope["headers"] if self._takes_native or name != b"accept"]
        await self._app({**scope, "headers": headers}, receive, send)
        with self._counted:
            self._scrapes += 1
            self._counted.notify_all()

    def wait_for(self, scrapes: int) -> None:
        """Wait until `scrapes` scrapes that begin from now on are stored. Each begins when the last one is stored."""
        with self._counted:
            wanted = self._scrapes + scrapes + 1
            assert self._counted.wait_for(lambda: self._scrapes >= wanted, timeout=120)


class Prometheus:
    """Its answers, as of an instant."""

    def __init__(self, port: int) -> None:
        self._port = port

    def query(self, expression: str, at: float | None = None) -> Sequence[Mapping[str, Any]]:
        """The series of a query: `metric` has the labels, `value` the instant and the number as text."""
        parts = {"query": expression} if at is None else {"query": expression, "time": f"{at:.3f}"}
        with urlopen(f"http://127.0.0.1:{self._port}/api/v1/query?{urlencode(parts)}") as answer:
            found: Sequence[Mapping[str, Any]] = json.load(answer)["data"]["result"]
        return found

    def last_scrape(self, name: str) -> float:
        """When an application last answered in time; on a busy machine not each answer is. 0 if none was."""
        series = self.query(f'up{{instance="{name}"}}[1h]')
        return max((float(at) for up in series for at, value in up["values"] if value == "1"), default=0.0)


@contextmanager
def prometheus(folder: Path, apps: Mapping[str, Scraped], *flags: str) -> Iterator[Prometheus]:
    """Have Prometheus scrape applications during the block; `instance` is the name of each."""

    async def choose(scope: Message, receive: Receive, send: Send) -> None:
        await apps[scope["path"].removeprefix("/")](scope, receive, send)

    with own_network(), serving(choose) as port:
        own = free_port()
        (folder / "prometheus.yml").write_text(json.dumps(configure(apps, port)))
        files = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
        command = ["prometheus", *files, f"--web.listen-address=127.0.0.1:{own}", *flags]
        with listening(command, own, folder):
            yield Prometheus(own)


def configure(names: Iterable[str], port: int) -> object:
    """The configuration; JSON is YAML."""
    jobs = [
        {
            "job_name": name,
            "metrics_path": f"/{name}",
            "static_configs": [{"targets": [f"127.0.0.1:{port}"], "labels": {"instance": name}}],
        }
        for name in names
    ]
    return {"global": {"scrape_interval": "500ms", "scrape_timeout": "500ms"}, "scrape_configs": jobs}


@contextmanager
def serving(app: App) -> Iterator[int]:
    """Serve an application on a thread; yields its port."""
    port = free_port()
    how = uvicorn.Config(app, host="127.0.0.1", port=port, log_config=None, access_log=False, lifespan="off", ws="none")
    server = uvicorn.Server(how)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join()
