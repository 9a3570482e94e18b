"""How far a run's mix of work is from that of a live service, resource by resource.

The mix is from a meter report: the subject's CPU time by cause (shares), and its faults, system calls, switches, reads
and writes (rates). The loads may differ, so rates are also compared per second of CPU. A benchmark cannot show the
improvement of a resource that it does not use.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cuesta.analysis.host_figures import count_samples, estimated_calls
from cuesta.records.meter_figure import UNRECORDED, MeterFigure
from cuesta.records.meter_report import ByCause, Count, MeterReport
from cuesta.units import percent, upper_bound

BARELY = 0.1
"""A run that has less than this part of the service's share or rate hardly exercises the resource."""
SHARE_MATTERS = 1.0
"""Percent of the service's CPU time from which on a cause matters."""
RATE_MATTERS = 0.1
"""Events a second of the service from which on a rate matters."""
SAMPLES_TO_TELL = 5.0
"""Expected number of samples of a cause in the run from which on its absence means something."""
IDLE_MATTERS = 5.0
"""Percentage points of zero idle that a run may have more than the service; beyond, it hides savings of CPU time."""

COUNTS = {
    "minor_faults": "page faults without a device",
    "major_faults": "page faults with a device",
    "system_calls": "system calls",
    "switches": "context switches",
    "forks": "processes and threads made",
    "execs": "programs loaded",
}
CLASSES = {
    r"(sd|vd|xvd|hd|nvme|mmcblk)": "disks",
    r"(dm-|md)": "mapped disks",
    r"(loop|ram|zram)": "memory disks",
    r"(sr|fd|st)": "removable media",
}
"""The kernel's names of block devices by class. I/Os of a mapped disk are counted again at the disk below it."""


@dataclass(frozen=True, slots=True)
class MixFigure:
    """A figure and its tier: `plain`, `sampled` or `exact`."""

    value: float
    tier: str
    of_machine: bool = False
    """Whether it is of the whole machine although the subject is only a part."""
    standard_error: float | None = None
    """The sampling error of a share."""
    bound: float | None = None
    """The upper limit, if there is no sample."""


@dataclass(frozen=True, slots=True)
class WorkloadMix:
    """What a host was busy with. `missing` has the reasons for figures that it lacks."""

    cpu: float | None
    """Seconds of CPU a second, of the subject."""
    cpu_of_machine: float | None
    """Seconds of CPU a second, of everything that ran on its CPUs."""
    idle: Mapping[str, MixFigure]
    """Percent of the CPUs: `zero`, `io_wait`."""
    shares: Mapping[str, MixFigure]
    """Percent of the subject's CPU time, by cause."""
    samples: float
    """Number of samples behind the shares."""
    rates: Mapping[str, MixFigure]
    """Events a second."""
    missing: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Share:
    """One cause, or one kind of idle, on both sides, in percent."""

    name: str
    service: MixFigure
    run: MixFigure

    @property
    def points(self) -> float:
        return self.run.value - self.service.value


@dataclass(frozen=True, slots=True)
class Rate:
    """One rate on both sides, per second."""

    name: str
    service: MixFigure
    run: MixFigure
    per_cpu: float | None
    """Run ÷ service, each per second of its CPU; None if one of them has no CPU time."""

    @property
    def ratio(self) -> float | None:
        return self.run.value / self.service.value if self.service.value else None

    @property
    def comparable(self) -> float | None:
        """Run ÷ service, each per second of its CPU if both have CPU time."""
        return self.ratio if self.per_cpu is None else self.per_cpu

    @property
    def distance(self) -> float:
        """The absolute logarithm of that ratio."""
        if self.comparable is None:
            return math.inf if self.run.value else 0.0
        return abs(math.log(self.comparable)) if self.comparable else math.inf


@dataclass(frozen=True, slots=True)
class MixDistance:
    """How far a run's mix is from the service's; the largest difference is first."""

    elsewhere: float | None
    """Percent of CPU time that goes into other causes than in the service; None unless both have causes."""
    load: tuple[float, float] | None
    """Seconds of CPU a second, of the service and of the run."""
    shares: list[Share]
    idle: list[Share]
    rates: list[Rate]
    unexercised: list[str]
    """What the service does and the run hardly does, a phrase each."""
    idles: float | None
    """The run's zero idle minus the service's, in percentage points; None if it is too small to matter."""
    missing: Mapping[str, str]
    """What could not be compared, and why."""

    @property
    def represents(self) -> bool:
        """Whether the run exercises everything that the service does."""
        return not self.unexercised and self.idles is None


def derive_mix(report: MeterReport) -> WorkloadMix:
    missing: dict[str, str] = {}
    by_cause = report.by_cause.value
    if not by_cause:
        missing["CPU time by cause"] = report.by_cause.why or "it was not sampled"
    shares = dict(_shares(by_cause)) if by_cause else {}
    rates = dict(_rates(report, missing))
    missing["characters on lines"] = "the host's meters do not count them"
    seconds, load = report.own.seconds.value, report.cpu.load.value
    return WorkloadMix(
        cpu=None if seconds is None else seconds / report.seconds,
        cpu_of_machine=None if load is None else load / 100 * len(report.cpus),
        idle={name: known for name in ("zero", "io_wait") if (known := _known(getattr(report.idle, name)))},
        shares=shares,
        samples=count_samples(by_cause) if by_cause else 0.0,
        rates=rates,
        missing=missing,
    )


def compare_mixes(service: WorkloadMix, run: WorkloadMix) -> MixDistance:
    shares = _by_distance(service.shares, run.shares) if service.shares and run.shares else []
    idle = _by_distance(service.idle, run.idle, both=True)
    rates = [
        Rate(name, service.rates[name], run.rates[name], _per_cpu(service, run, name))
        for name in service.rates
        if name in run.rates
    ]
    more_idle = next((each.points for each in idle if each.name == "zero"), 0.0)
    return MixDistance(
        elsewhere=sum(abs(each.points) for each in shares) / 2 if shares else None,
        load=(service.cpu, run.cpu) if service.cpu is not None and run.cpu is not None else None,
        shares=shares,
        idle=idle,
        rates=sorted(rates, key=lambda rate: -rate.distance),
        unexercised=[*_absent_causes(shares, run.samples), *_absent_rates(rates)],
        idles=more_idle if more_idle >= IDLE_MATTERS else None,
        missing=_of_one_side(service, run),
    )


def _shares(by_cause: ByCause) -> Iterator[tuple[str, MixFigure]]:
    """Each cause's percent of the subject's CPU time; together 100."""
    percents = {name: cause.percent.value or 0.0 for name, cause in by_cause.causes.items()}
    percents["unclassified"] = by_cause.unclassified
    total = sum(percents.values())
    if not total:
        return
    for name, value in percents.items():
        error = by_cause.causes[name].standard_error.value if name in by_cause.causes else None
        known = None if error is None else 100 * error / total
        yield name.replace("_", " "), MixFigure(100 * value / total, "sampled", standard_error=known)
    bound = by_cause.bound.value
    for name in by_cause.unmet if bound is not None else ():
        yield name.replace("_", " "), MixFigure(0.0, "sampled", bound=100 * (bound or 0.0) / total)


def _rates(report: MeterReport, missing: dict[str, str]) -> Iterator[tuple[str, MixFigure]]:
    """Counts per second; system calls are estimated where they were only sampled often enough."""
    for name, label in COUNTS.items():
        count: MeterFigure[Count] = getattr(report.counts, name)
        estimate = estimated_calls(report) if name == "system_calls" else None
        if count.value:
            yield (
                label,
                MixFigure(max(0.0, count.value.per_s), count.tier or "plain", name in report.counts.of_machine),
            )
        elif estimate is not None:
            yield label, MixFigure(max(0.0, estimate) / report.seconds, "sampled")
        else:
            missing[label] = count.why or UNRECORDED
    yield from _devices(report)


def _devices(report: MeterReport) -> Iterator[tuple[str, MixFigure]]:
    sums: defaultdict[str, float] = defaultdict(float)
    for name, device in report.devices.items():
        kind = next((kind for pattern, kind in CLASSES.items() if re.match(pattern, name)), "other devices")
        sums[f"reads of {kind}"] += device.reads.per_s
        sums[f"writes of {kind}"] += device.writes.per_s
        sums[f"bytes read of {kind}"] += device.read_bytes_per_s
        sums[f"bytes written to {kind}"] += device.written_bytes_per_s
    for name, per_s in sums.items():
        yield name, MixFigure(per_s, "plain", "ios" in report.counts.of_machine)


def _known(figure: MeterFigure[float]) -> MixFigure | None:
    return None if figure.value is None else MixFigure(figure.value, figure.tier or "plain")


def _by_distance(service: Mapping[str, MixFigure], run: Mapping[str, MixFigure], both: bool = False) -> list[Share]:
    """Pair shares by name. A cause that one side lacks is zero there; idle that was not metered is left out."""
    nothing = MixFigure(0.0, "sampled")
    names = [name for name in {**service, **run} if not both or (name in service and name in run)]
    pairs = [Share(name, service.get(name, nothing), run.get(name, nothing)) for name in names]
    return sorted(pairs, key=lambda share: -abs(share.points))


def _per_cpu(service: WorkloadMix, run: WorkloadMix, name: str) -> float | None:
    service_cpu, run_cpu = (side.cpu_of_machine if side.rates[name].of_machine else side.cpu for side in (service, run))
    if not service_cpu or not run_cpu or not service.rates[name].value:
        return None
    return (run.rates[name].value / run_cpu) / (service.rates[name].value / service_cpu)


def _absent_causes(shares: list[Share], samples: float) -> Iterator[str]:
    """Name causes that matter to the service and hardly occur in the run, if that has enough samples to tell."""
    for share in shares:
        matters = share.service.value >= SHARE_MATTERS and samples * share.service.value / 100 >= SAMPLES_TO_TELL
        if matters and share.run.value < BARELY * share.service.value:
            service, run = write_share(share.service), write_share(share.run)
            yield f"{share.name}: {service} of the service's CPU time, {run} here"


def write_share(known: MixFigure) -> str:
    """Write a percentage in as many digits as its error supports; with no sample, its upper limit."""
    return f"{percent(known.value, known.standard_error)} %" if known.bound is None else upper_bound(known.bound)


def _absent_rates(rates: list[Rate]) -> Iterator[str]:
    """Name rates that matter to the service and hardly occur in the run, per second of CPU."""
    for rate in rates:
        if rate.service.value >= RATE_MATTERS and rate.comparable is not None and rate.comparable < BARELY:
            yield f"{rate.name}: {rate.service.value:,.1f} a second in the service, {rate.run.value:,.1f} here"


def _of_one_side(service: WorkloadMix, run: WorkloadMix) -> dict[str, str]:
    """What was metered on one side only, or on none."""
    missing = {name: why if name in run.missing else f"of the service: {why}" for name, why in service.missing.items()}
    missing |= {name: f"of the run: {why}" for name, why in run.missing.items() if name not in service.missing}
    for name in {**service.rates, **run.rates}:
        if (name in service.rates) != (name in run.rates) and name not in missing:
            missing[name] = f"only the {'service' if name in service.rates else 'run'} has it"
    return missing
