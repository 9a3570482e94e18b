"""Watches and steers what a verb runs: the live view or rows of progress, those it is published to, passphrases."""

import argparse
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cuesta.cli.questions import ask, warn
from cuesta.engine.console import Console, Requests
from cuesta.errors import UsageError
from cuesta.plan import Settings
from cuesta.records.observation import Observation
from cuesta.workflow.control import Control

if TYPE_CHECKING:
    from cuesta.live import About
    from cuesta.publish.publisher import Publisher


@contextmanager
def control_run(
    arguments: argparse.Namespace,
    stop: threading.Event,
    title: str,
    folder: Path,
    settings: Settings | None = None,
) -> Iterator[Control]:
    """Show what is run during the block, unless `--quiet`: on a terminal as a live view, unless `--plain`.

    It is published to those whom flags name. `stop` ends what is run; the view and the page set it too. `folder` is
    where it will be. Results are printed after the block.
    """
    from cuesta.live import describe_run, watch  # noqa: PLC0415, a dry run shows no progress

    requests = Requests()
    about = describe_run(title, settings.limits if settings else ())
    with ExitStack() as stack:
        publisher = _publish(arguments, about, folder, stack)
        if publisher:
            about = replace(about, addresses=publisher.addresses)
        view = stack.enter_context(watch(about, requests, stop, quiet=arguments.quiet, plain=arguments.plain))
        if not publisher:
            yield Control(Console(view.look, stop, requests, watchers=view.watchers), view.tell, warn, ask)
            return
        publisher.follow(requests, stop, warn)  # not `view.tell`: it may warn when the view has ended

        def look(seen: Observation) -> None:
            view.look(seen)
            publisher.look(seen)

        def tell(sentence: str) -> None:
            view.tell(sentence)
            publisher.tell(sentence)

        yield Control(Console(look, stop, requests, watchers=[*view.watchers, publisher]), tell, warn, ask)


def is_published(arguments: argparse.Namespace) -> bool:
    """Whether flags name somebody to whom what is run is published."""
    return arguments.web is not None or arguments.prometheus is not None or arguments.otlp or arguments.json_lines


def _publish(arguments: argparse.Namespace, about: "About", folder: Path, stack: ExitStack) -> "Publisher | None":
    """The process that publishes it until the stack ends; None if no flag asks for that."""
    if not is_published(arguments):
        return None
    from cuesta.publish import Outlets, start_publisher  # noqa: PLC0415, most runs are not published

    if arguments.json_lines and arguments.json == "-":
        raise UsageError("--json-lines and --json - both want standard output", "--json FILE")
    outlets = Outlets(
        web=arguments.web, prometheus=arguments.prometheus, otlp=arguments.otlp, json_lines=arguments.json_lines
    )
    publisher = stack.enter_context(start_publisher(about, outlets, folder))
    if arguments.json_lines:
        sys.stdout = sys.stderr  # from now on standard output has rows only, which the process prints
    return publisher
