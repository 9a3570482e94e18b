"""Consistency checks by operational laws: two meters, or a meter and the driver, must agree on what a law computes.

The laws (P. J. Denning and J. P. Buzen, Computing Surveys 10(3), 1978) are identities over an interval that need no
assumption on distributions. Where one is broken, something was counted wrongly or left out.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources import Resource
from cuesta.analysis.capacity.resources.cpus import count_cpus
from cuesta.analysis.capacity.resources.terminal_lines import read_terminal_line
from cuesta.analysis.certainty import sum_by_second
from cuesta.analysis.law import agrees
from cuesta.analysis.stationarity import autocorrelation_factor
from cuesta.units import digits, seconds, share

ERRORS = 3.0
"""Standard errors by which two sides may differ by chance."""
EDGES = 0.02
"""Share by which two meters may differ because their intervals do not begin and end at the same instants."""
SAMPLED_ERRORS = 4.0
"""Standard errors for a mean of samples at instants: few of them have a skewed sum."""
GRANULARITY = 2.0
"""Users by which the sum of all samples may differ, because each counts whole users."""
SYNCHRONIZED = 0.1
"""Share of the variance of independent users below which users are synchronized with the sampling."""
IN_TRANSIT = 5e-3
"""Seconds of a response that may pass between the driver and the servers: CPU, network, the ends of rows."""


@dataclass(frozen=True, slots=True)
class LawCheck:
    """A law, the value of either side, and whether they agree."""

    law: str
    one: str
    other: str
    holds: bool
    source: str
    """Where either side comes from."""


def check_laws(measured: MeasuredStep, resources: Sequence[Resource]) -> Sequence[LawCheck]:
    """Check the laws for which a step has the records."""
    of_run = (check_response_law, check_littles_law, check_servers, check_flow_balance)
    views = measured.by_host()
    return [
        *(check for law in of_run for check in law(measured)),
        *(check for law in (check_cpu_time, check_disk_queues) for view in views for check in law(view)),
        *check_utilizations(resources),
    ]


def check_response_law(measured: MeasuredStep) -> Iterator[LawCheck]:
    """R = N/X − Z − K, against the measured response."""
    if law := measured.step.law:
        source = "the driver's counts of users, transactions, thinking and typing; measured since sent"
        yield LawCheck(
            "response = users ÷ throughput − thinking − typing",
            seconds(law.r_predicted),
            seconds(law.r_measured),
            agrees(law),
            source,
        )


def check_littles_law(measured: MeasuredStep) -> Iterator[LawCheck]:
    """N = X R: the users who wait for an answer, by throughput and response, and as sampled once a second.

    Not checked where the samples vary far less than those of independent users: synchronized users are always sampled
    at the same point of their cycle.
    """
    step = measured.step
    samples = sum_by_second(measured.recorded, step.step, lambda row: row.unfinished)
    response = step.response_from_sent.mean
    if len(samples) < 2 or not step.transactions.per_s or response is None:
        return
    by_law, mean = step.served_transactions / step.seconds * response, fmean(samples)
    by_chance, counted = (level * max(1 - level / max(step.users, 1), 0.0) for level in (by_law, mean))
    if mean and variance(samples) < SYNCHRONIZED * counted:
        return
    spread = max(variance(samples), by_chance, counted) * autocorrelation_factor([sample - mean for sample in samples])
    chance = SAMPLED_ERRORS * math.sqrt(spread / len(samples)) + GRANULARITY / len(samples)
    within = abs(mean - by_law) <= chance + EDGES * by_law
    source = "throughput × response; transactions under way, counted by the driver once a second"
    yield LawCheck("users waiting = throughput × response", digits(by_law), digits(mean), within, source)


def check_servers(measured: MeasuredStep) -> Iterator[LawCheck]:
    """N = X R at the built-in host's servers: by the driver's responses, and by the host's own busy time and queue.

    The driver's response also holds the host's CPU and the network, for which some time is allowed.
    """
    step, host, work = measured.step, measured.step.host.builtin, measured.work
    if host is None or host.busy is None or host.queue is None or work is None or work.unit == "key":
        return
    line = read_terminal_line(measured)
    inside = max(work.mean - measured.fixed_delay - (line.seconds if line else 0.0), 0.0)
    by_law, metered = work.per_s * inside, host.busy * max(host.servers, 1) + host.queue
    edges = 2 * math.sqrt(max(metered, 1.0)) * work.mean / step.seconds * ERRORS
    within = abs(by_law - metered) <= EDGES * metered + edges + work.per_s * IN_TRANSIT
    source = "throughput × response without line and fixed delay; the host's own busy servers and queue"
    yield LawCheck("messages at the servers = throughput × response", digits(metered), digits(by_law), within, source)


def check_flow_balance(measured: MeasuredStep) -> Iterator[LawCheck]:
    """Flow balance: what the built-in host says it sent, and what the driver received."""
    host, received = measured.step.host.builtin, measured.step.characters.line_out_per_s
    if host is None or not received or not host.line_out_per_s:
        return
    # At either edge of the interval an answer of each waiting user may be in transit.
    work = measured.work
    in_transit = (
        2 * measured.step.users * received / work.per_s / measured.step.seconds
        if work and measured.step.seconds
        else 0.0
    )
    within = abs(host.line_out_per_s - received) <= in_transit + EDGES * received
    source = "what the built-in host says it sent; what the driver received"
    sent = f"{digits(host.line_out_per_s)}/s"
    yield LawCheck("characters received = sent", sent, f"{digits(received)}/s", within, source)


def check_cpu_time(measured: MeasuredStep) -> Iterator[LawCheck]:
    """The parts of the CPUs' time, each by a clock of its own, add up to all of it."""
    closure = measured.report.closure if measured.report else None
    if closure and closure.accounted.value is not None and closure.closes is not None:
        source = f"clocks of tasks, of idle CPUs, of the hypervisor; {count_cpus(measured)} CPUs × elapsed time"
        yield LawCheck(
            f"CPU time{measured.of_host} = all its parts",
            share(closure.accounted.value / 100),
            "100 %",
            closure.closes,
            source,
        )


def check_disk_queues(measured: MeasuredStep) -> Iterator[LawCheck]:
    """Little's law at a device: requests outstanding are requests a second × their response."""
    for name, device in (measured.report.devices if measured.report else {}).items():
        queue, response = device.queue.value, device.response.value
        rate = device.reads.per_s + device.writes.per_s
        if queue is None or response is None or not device.reads.count + device.writes.count:
            continue
        by_law = rate * response
        within = abs(by_law - queue) <= EDGES * max(by_law, queue) + 0.05
        source = "requests a second × their response; requests outstanding"
        yield LawCheck(
            f"requests at {name}{measured.of_host} = rate × response", digits(by_law), digits(queue), within, source
        )


def check_utilizations(resources: Sequence[Resource]) -> Iterator[LawCheck]:
    """U ≤ 1: a meter above that is rejected."""
    for each in resources:
        if not each.is_believed:
            law = f"{each.name}: at most all of it is busy"
            yield LawCheck(law, share(each.busy), "100 %", False, f"{each.source}; not used")
