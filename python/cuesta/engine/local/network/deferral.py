"""The kernel's own deferral at the host's end of the wire: it receives several packets at once, some time later.

A network device without an interrupt of its own is polled by a thread of the kernel (threaded NAPI), here on the host's
CPUs. `gro_flush_timeout` is how long it waits before it polls again, `napi_defer_hard_irqs` how often it finds nothing
before it stops. A veth pair is polled so only if its receiver collects segments (GRO); its sender then must not send
several as one (TSO).
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from cuesta.engine.local.network.isolation import WIRE, NetNs, NetNsPair, run_inside
from cuesta.errors import CuestaError

EMPTY_POLLS = 2
"""How often the thread finds nothing before it waits for the next packet."""
REMEDY = "this kernel cannot put off receiving on the wire: leave `defer` out"
FOLDER = f"/sys/class/net/{WIRE}"


@contextmanager
def defer_receiving(wait: int | None, sides: NetNsPair) -> Iterator[None]:
    """Put off receiving at the host's end for at most `wait` ns during the block; not at all if it is None.

    With 0 packets are received by the thread at once.
    """
    if wait is None:
        yield
        return
    before = _polling_threads()
    settings = {"threaded": 1, "napi_defer_hard_irqs": EMPTY_POLLS, "gro_flush_timeout": wait}
    with ExitStack() as changes:
        changes.enter_context(_change(sides.driver, f"ethtool -K {WIRE} tso off", f"ethtool -K {WIRE} tso on"))
        changes.enter_context(_change(sides.host, f"ethtool -K {WIRE} gro on", f"ethtool -K {WIRE} gro off"))
        for name, value in settings.items():
            file = f"{FOLDER}/{name}"
            changes.enter_context(_change(sides.host, f"echo {value} >{file}", f"echo 0 >{file}"))
        for thread in _polling_threads() - before:
            os.sched_setaffinity(thread, sides.host.cpus)
        yield


@contextmanager
def _change(side: NetNs, change: str, change_back: str) -> Iterator[None]:
    """Change something on a side during the block, by a shell's scripts. An error of the block is kept."""
    try:
        run_inside(side, change, REMEDY)
        yield
    except BaseException:
        with suppress(CuestaError):
            run_inside(side, change_back, REMEDY)
        raise
    run_inside(side, change_back, REMEDY)


def _polling_threads() -> set[int]:
    """The kernel's threads that poll a device of this name; those of other runs have the same name."""
    threads = set()
    for comm in Path("/proc").glob("[0-9]*/comm"):
        try:
            if comm.read_text().startswith(f"napi/{WIRE}-"):
                threads.add(int(comm.parent.name))
        except OSError:  # it has ended
            continue
    return threads
