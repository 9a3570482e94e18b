"""`cuesta host`: runs the built-in host, so that other programs can type at it."""

import argparse
import json
import signal
from typing import Any

from pydantic import ValidationError

from cuesta import _native
from cuesta.analysis.front_end import sum_front_end
from cuesta.engine.local.host_process import attend
from cuesta.engine.spec import host_spec
from cuesta.errors import CuestaError, Exit, UsageError
from cuesta.ledger import HostRow
from cuesta.plan import Host, Service
from cuesta.plan.messages import message
from cuesta.terminal import inform, show


def carry_out(arguments: argparse.Namespace) -> int:
    """Run the host until a signal arrives or, with --attached, until standard input ends."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.default_int_handler)  # raises KeyboardInterrupt
    try:
        host = _native.Host.start(json.dumps(_spec(arguments)))
    except _native.RunError as error:
        raise CuestaError(str(error)) from None
    try:
        show("\n".join(host.addresses))
        if not arguments.attached:
            for note in host.notes:
                inform(f"cuesta: {note}")
        attend(host) if arguments.attached else _wait()
    except KeyboardInterrupt:
        pass
    finally:
        counters = json.loads(host.meters())
        host.stop()
    if counters["lines"]["opened"] and not arguments.attached:
        _show(counters, whole=arguments.tty_meters)
    return Exit.GOOD


def _show(counters: dict[str, Any], *, whole: bool) -> None:
    """Print what the front end did: three figures, or if `whole` all of Multics' `tty_meters` listing of 1979."""
    from cuesta.report import front_end  # noqa: PLC0415, nothing is shown while the host runs

    report = sum_front_end([HostRow.from_json(counters, counters["started"])])
    assert report
    show(front_end.text(report) if whole else front_end.write_brief(report))


def _spec(arguments: argparse.Namespace) -> dict[str, object]:
    flags = {name: value for name in Host.model_fields if (value := getattr(arguments, name)) is not None}
    try:
        settings = Host.model_validate(flags)
    except ValidationError as error:
        rows = (f"--{str(fault['loc'][0]).replace('_', '-')}: {message(fault)}" for fault in error.errors())
        raise UsageError("\n".join(rows)) from None
    more = {"seed": arguments.seed, "cpus": None, "meters": arguments.meters, "allow": arguments.allow or []}
    service = settings.service or Service("transaction", "150")
    if service.name == "bsc-loop" and service.setting and arguments.listen:
        remedy = "write them there: --service bsc-loop --listen 'bsc://127.0.0.1:0?block_size=250'"
        raise UsageError("--service: with --listen the settings of bisync lines belong to each address", remedy)
    return host_spec(settings, service, arguments.listen or [service.listen_at()], more)


def _wait() -> None:
    """Wait until a signal raises KeyboardInterrupt."""
    while True:
        signal.pause()
