"""`cuesta host`: the built-in host, for others to type at."""

import argparse
import json
import select
import signal
import sys
from collections import deque
from types import FrameType
from typing import Any

from pydantic import ValidationError

from cuesta import _native
from cuesta.analysis.front_end import front_end_of
from cuesta.engine.spec import LISTEN, host_spec
from cuesta.errors import CuestaError, Exit, UsageError
from cuesta.ledger import HostRow
from cuesta.plan import Host, Service
from cuesta.plan.messages import message
from cuesta.report.front_end import text as tty_meters

NAME = "host"
HELP = "run the built-in host"
ABOUT = """Runs the front-end terminal server that `cuesta run` types at by default. It prints the addresses that it
got, one a line, before anything else, and runs until Ctrl-C (or, with --attached, until its input ends). Then it
prints what its front end did since it started (tty_meters), if anybody was there."""
EXAMPLES = """examples:
  cuesta host                                          on any free port
  cuesta host --listen telnet://127.0.0.1:2300 --listen tcp://127.0.0.1:2301
  cuesta host --service 'shell bash -i'
  cuesta host --service-time 'exp 5ms' --servers 4     a host of known capacity: 800 transactions/s
"""

VALUES = {"service": "SERVICE", "input": "HOW", "echo": "true|false", "service_time": "DISTRIBUTION", "stall": "WINDOW"}
"""What the values of some settings are called; the others' names say it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments: one for each setting of the plan's `[host]`."""
    parser.add_argument("--listen", action="append", metavar="URL", help=f"where; may be repeated; by default {LISTEN}")
    parser.add_argument(
        "--allow",
        action="append",
        metavar="FROM-CIDR",
        help="take lines only from this network (10.1.2.0/24); may be repeated; a shell needs it beyond loopback",
    )
    for name, field in Host.model_fields.items():
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(
            flag, metavar=VALUES.get(name, name.upper()), help=str(field.description).replace("%", "%%")
        )
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of the service times")
    parser.add_argument("--meters", metavar="DIR", help="write a row of its own meters to DIR/series.jsonl each second")
    parser.add_argument("--attached", action="store_true", help="end when standard input ends")
    parser.add_argument("--spec", metavar="JSON", help=argparse.SUPPRESS)


def carry_out(arguments: argparse.Namespace) -> int:
    """Run the host until it is told to end."""
    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for each in ends:
        signal.signal(each, _interrupt)
    try:
        host = _native.Host.start(arguments.spec or json.dumps(_spec(arguments)))
    except _native.RunError as error:
        raise CuestaError(str(error)) from None
    try:
        print(*host.addresses, sep="\n", flush=True)
        if not arguments.attached:
            for note in host.notes:
                print(f"cuesta: {note}", file=sys.stderr)
        _attend(host) if arguments.attached else _wait()
    except KeyboardInterrupt:
        pass
    finally:
        done = json.loads(host.meters())
        host.stop()
    if done["lines"]["opened"] and not arguments.attached:
        _show(done)
    return Exit.GOOD


def _show(done: dict[str, Any]) -> None:
    """Print the front end's sheet."""
    sheet = front_end_of([HostRow.of(done, done["started"])])
    assert sheet
    print(tty_meters(sheet))


def _spec(arguments: argparse.Namespace) -> dict[str, object]:
    given = {name: value for name in Host.model_fields if (value := getattr(arguments, name)) is not None}
    try:
        settings = Host.model_validate(given)
    except ValidationError as error:
        rows = (f"--{str(fault['loc'][0]).replace('_', '-')}: {message(fault)}" for fault in error.errors())
        raise UsageError("\n".join(rows)) from None
    placed = {"seed": arguments.seed, "cpus": None, "meters": arguments.meters, "allow": arguments.allow or []}
    return host_spec(settings, settings.service or Service("transaction", "150"), arguments.listen or [LISTEN], placed)


def _wait() -> None:
    """Until a signal."""
    while True:
        signal.pause()


def _attend(host: _native.Host) -> None:
    """Until the end of the input. Each line of it is an instant at which a row of the series is to end."""
    instants: deque[int] = deque()
    while True:
        left = max(instants[0] - _native.now(), 0) / 1e9 if instants else None
        if select.select([sys.stdin], [], [], left)[0]:
            if not (line := sys.stdin.buffer.raw.readline()):  # type: ignore[union-attr]
                return
            instants.append(int(line))
        else:
            host.end_row()
            instants.popleft()


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
