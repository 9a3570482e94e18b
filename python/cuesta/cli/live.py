"""`cuesta live`: serves pages of finished runs, certifications and comparisons, and of runs that go on."""

import argparse
import asyncio
import os
import signal
import tempfile
from pathlib import Path

from cuesta.errors import Exit, InputError
from cuesta.terminal import inform, show

RUNS = Path("runs")


def carry_out(arguments: argparse.Namespace) -> int:
    folders = arguments.folders or [RUNS if RUNS.is_dir() else Path()]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder", "give folders with runs in them, or leave them out")
    with tempfile.TemporaryDirectory(prefix="cuesta-live-") as place:
        asyncio.run(_serve(folders, arguments.at, Path(place) / "ledger.duckdb"))
    return Exit.GOOD


async def _serve(folders: list[Path], at: str | None, database: Path) -> None:
    from cuesta.site.access import Access  # noqa: PLC0415, late because these load all that reports need
    from cuesta.site.application import make_application  # noqa: PLC0415
    from cuesta.site.entries import Entries  # noqa: PLC0415
    from cuesta.site.finished import Finished  # noqa: PLC0415
    from cuesta.site.reports import Reports  # noqa: PLC0415
    from cuesta.site.serving import listen, read_address, serve  # noqa: PLC0415

    stop = asyncio.Event()
    _stop_at_signals(stop)
    listener = listen(*read_address(at or ""), or_free=at is None)
    access = Access(listener.host, listener.port)
    pages = Finished(Entries(folders), Reports(), database)
    os.nice(10)  # what is measured here meanwhile has precedence
    show(access.address)
    inform("open this address; Ctrl-C ends")
    await serve(make_application(access, pages.routes()), listener, stop)


def _stop_at_signals(stop: asyncio.Event) -> None:
    """The first signal sets the event; the second ends this process at once, whatever is being derived."""

    def handle() -> None:
        if stop.is_set():
            os._exit(Exit.INTERRUPTED)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, handle)
