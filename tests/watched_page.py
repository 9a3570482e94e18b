"""A run of `cuesta run --web`, with its page in a browser."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.browser import Browser, Tab, chromium, tab


@dataclass
class WatchedRun:
    """A run that goes on, with the page of it in a browser."""

    process: subprocess.Popen[str]
    address: str
    """With the token."""
    folder: Path
    browser: Browser
    page: Tab

    @property
    def base(self) -> str:
        """The address without the token."""
        return self.address.partition("#")[0]


@contextmanager
def watched_run(place: Path, *arguments: str) -> Iterator[WatchedRun]:
    """Have `cuesta run` with these arguments go on during the block, in a folder."""
    command = [sys.executable, "-m", "cuesta", "run", *arguments, "--web", "127.0.0.1:0", "--plain", "--out", "run"]
    with (
        subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
        chromium(place / "profile") as browser,
        tab(browser) as page,
    ):
        try:
            assert process.stderr
            address = next(found[0] for row in process.stderr if (found := re.search(r"http://\S+", row)))
            page.enter(address)
            yield WatchedRun(process, address, place / "run", browser, page)
        finally:
            process.kill()
