"""How far a run's mix of work is from a service's, for a terminal of 80 columns and as data."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from cuesta.analysis.representative import MixDistance, Rate, Share, write_share
from cuesta.columns import in_columns, wrap_text
from cuesta.ledger.service import ServiceProfile
from cuesta.plain_text import plain
from cuesta.records.meter_report import MeterReport
from cuesta.units import ABSENT, digits, write_minus

WIDTH = 80
MARK = {"plain": " ", "sampled": "~", "exact": "="}
"""The note behind a figure, by its tier."""
NAMES = {"zero": "zero idle", "io_wait": "I/O-wait idle"}


def text(distance: MixDistance, service: ServiceProfile, run: MeterReport) -> str:
    return "\n".join(map(plain, sections(distance, service, run)))


def sections(distance: MixDistance, service: ServiceProfile, run: MeterReport) -> Iterator[str]:
    """Unexercised work first, then each resource, the largest difference first."""
    yield from list_unexercised(distance)
    yield ""
    recorded = service.report
    yield f"SERVICE  {recorded.subject}, {digits(recorded.seconds)} s, recorded {service.recorded}"
    yield f"RUN      {run.subject}, {digits(run.seconds)} s"
    if distance.load:
        yield f"CPU      the service uses {digits(distance.load[0])} s a second, the run {digits(distance.load[1])} s"
    if distance.shares:
        yield from [
            "",
            head("CPU TIME BY CAUSE", "service", "run", "points"),
            *map(share_row, filter(is_seen, distance.shares)),
        ]
    if distance.idle:
        yield from ["", head("IDLE", "service", "run", "points"), *map(share_row, distance.idle)]
    yield from ["", head("A SECOND", "service", "run", "ratio", "by CPU second"), *map(rate_row, distance.rates)]
    if distance.missing:
        yield from ["", "NOT COMPARED"]
    for name, why in distance.missing.items():
        yield from wrap_text(f"  {name}: {why}", WIDTH, then="    ")
    yield ""
    yield "~ sampled, = exact, ° of the whole machine; what differs most stands first"
    yield "by CPU second: the ratio of the rates, each for a second of its side's CPU time"


def list_unexercised(distance: MixDistance) -> Iterator[str]:
    yield "REPRESENTS THE SERVICE" if distance.represents else "DOES NOT REPRESENT THE SERVICE"
    for what in distance.unexercised:
        yield from wrap_text(f"- hardly exercised: {what}", WIDTH, then="  ")
    if distance.idles is not None:
        idle = f"- is idle {distance.idles:.0f} points more than the service"
        yield from wrap_text(f"{idle}: savings of CPU time will not show in its elapsed time", WIDTH, then="  ")
    if distance.elsewhere is not None:
        causes = f"- {distance.elsewhere:.0f} % of its CPU time goes into other causes than the service's"
        yield from wrap_text(causes, WIDTH, then="  ")


def head(title: str, *columns: str) -> str:
    return row(title, *columns).upper()


def is_seen(share: Share) -> bool:
    return max(share.service.value, share.run.value) >= 0.05


def share_row(share: Share) -> str:
    service, run = (f"{write_share(known)}{MARK[known.tier]}" for known in (share.service, share.run))
    return row(f"  {NAMES.get(share.name, share.name)}", service, run, write_minus(f"{share.points:+.1f}"))


def rate_row(rate: Rate) -> str:
    service, run = (
        f"{digits(known.value)} {'°' if known.of_machine else MARK[known.tier]}" for known in (rate.service, rate.run)
    )
    ratio, per_cpu = (ABSENT if value is None else digits(value) for value in (rate.ratio, rate.per_cpu))
    return row(f"  {rate.name}", service, run, ratio, per_cpu)


def row(name: str, service: str, run: str, difference: str, per_cpu: str = "") -> str:
    return in_columns(plain(name), 31, (service, run, difference, per_cpu), (13, 13, 8, 15)).rstrip()


def data(distance: MixDistance) -> dict[str, Any]:
    return {
        "represents": distance.represents,
        **asdict(distance),
        "shares": [{**asdict(each), "points": each.points} for each in distance.shares],
        "idle": [{**asdict(each), "points": each.points} for each in distance.idle],
        "rates": [{**asdict(each), "ratio": each.ratio} for each in distance.rates],
    }
