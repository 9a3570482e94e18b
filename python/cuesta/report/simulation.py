"""Writes the simulations of a prediction: percentiles, their agreement with the exact model, and the effort."""

from collections.abc import Iterator, Sequence

from cuesta.analysis.predict.points import Point
from cuesta.analysis.predict.simulate import SimulatedHost, SimulatedSystem
from cuesta.analysis.predict.simulated_limit import SimulatedLimit
from cuesta.analysis.predict.simulation import BATCH, BATCHES, NO_INTERVAL, PERCENTILES, SimulatedFigure
from cuesta.analysis.predict.what_if import Answer, Estimate
from cuesta.report.model import Cell, Part, Remark, Table, Words
from cuesta.units import ABSENT, count, digits, many, seconds, seconds_between

NOTICED = 0.02
"""Relative difference of Z+K that is told."""
RESTS_ON = (
    "it rests on the model above: services are exponential unless it has fixed ones, the rest of a response constant; "
    "the fitted means do not tell that. The intervals (90 %) are the simulation's chance alone"
)


def simulation_parts(answer: Answer, system: SimulatedSystem) -> Iterator[Part]:
    if system.hosts:
        yield Remark(f"{', '.join(system.workloads)}; seed {system.seed}")
    for host in system.hosts:
        if host.changes:
            yield Remark(f"with {'; '.join(str(change) for change in host.changes)}:")
        yield load_table(answer, host)
        yield from agreement_remarks(answer, host.figures)
        yield from (Remark(describe_unanswered(answer, each), "notice") for each in host.figures if each.unanswered)
        yield from (Remark(describe_limit(answer, each)) for each in host.limits)
    if system.hosts:
        yield from pace_remarks([figure for host in system.hosts for figure in host.figures])
        yield Remark(describe_effort(system.hosts), "faint")
        yield Remark(RESTS_ON, "notice")
    yield from (Remark(note, "notice") for note in system.notes)
    yield from (Remark(f"NOT SIMULATED: {why}", "bad") for why in system.refused)


def load_table(answer: Answer, host: SimulatedHost) -> Table:
    """A row for each series of each load; below it the measured row."""
    heads = [answer.users_are, "configuration", "series", "p50", "p95", "p99", "mean", "exact"]
    rows: list[list[Cell]] = []
    for figure in host.figures:
        first: list[Cell] = [count(figure.asked.users), figure.asked.configuration]
        for number, series in enumerate(figure.series):
            cells = [write_interval(series.percentiles.get(name)) for name in PERCENTILES]
            means = (
                [write_interval(series.mean), ""] if number else [write_interval(figure.mean), seconds(figure.exact)]
            )
            rows.append([*(["", ""] if number else first), series.name, *cells, *means])
        measured = None if host.changes else find_measured(answer, figure)
        if measured and measured.percentiles and measured.response:
            values = [seconds(measured.percentiles.get(name)) for name in PERCENTILES]
            cells = ["", "", "measured", *values, seconds(measured.response.value), ""]
            rows.append([Words(str(cell), tone="faint") for cell in cells])
    hidden = set() if any(figure.asked.configuration for figure in host.figures) else {1}
    return Table(heads, rows, wide=hidden)


def find_measured(answer: Answer, figure: SimulatedFigure) -> Point | None:
    every = (each for system in answer.prediction.systems for each in system.figures)
    return next((each.measured for each in every if each.at == figure.asked), None)


def write_interval(estimate: Estimate | None) -> str:
    """The interval of a duration, or its value without one."""
    if estimate is None:
        return ABSENT
    if estimate.band == NO_INTERVAL:
        return seconds(estimate.value)
    return seconds_between(estimate.band.low, estimate.band.high)


def agreement_remarks(answer: Answer, figures: Sequence[SimulatedFigure]) -> Iterator[Remark]:
    if off := [count(figure.asked.users) for figure in figures if figure.agrees is False]:
        yield Remark(
            f"DISAGREES with the exact model's mean at {', '.join(off)} {answer.users_are}: the users of the tape are "
            "not those that the model assumes",
            "bad",
        )
    elif any(figure.agrees for figure in figures):
        yield Remark("the means agree with the exact model's", "good")
    if short := [count(figure.asked.users) for figure in figures if not figure.has_intervals]:
        yield Remark(
            f"no intervals, and no agreement to be judged, at {', '.join(short)} {answer.users_are}: it would take too "
            f"long to simulate the {BATCHES * BATCH} cycles of each that they need",
            "notice",
        )


def describe_unanswered(answer: Answer, figure: SimulatedFigure) -> str:
    where = f"{count(figure.asked.users)} {answer.users_are}"
    return f"{where}: {many(figure.unanswered, 'transaction')} without an answer"


def pace_remarks(figures: Sequence[SimulatedFigure]) -> Iterator[Remark]:
    """The difference of the played pace from that of the rows."""
    other = [
        each for each in figures
        if not each.at.is_paced and abs(each.at.own_time - each.asked.own_time) > NOTICED * each.asked.own_time
    ]  # fmt: skip
    if other:
        tape = write_spread([each.at.own_time for each in other])
        rows = write_spread([each.asked.own_time for each in other])
        yield Remark(f"Z+K is the tape's own, {tape}; rows had {rows}, by chance", "faint")


def write_spread(values: Sequence[float]) -> str:
    low, high = seconds(min(values)), seconds(max(values))
    return low if low == high else seconds_between(min(values), max(values))


def describe_limit(answer: Answer, simulated: SimulatedLimit) -> str:
    name = f" ({simulated.at.configuration})" if simulated.at.configuration else ""
    subject = f"{answer.limit!s}: "
    if simulated.reached is None:
        return f"{subject}a single user misses it{name}"
    if simulated.users.not_reported:
        return f"{subject}NOT REPORTED: {simulated.users.not_reported}{name}"
    if simulated.is_unbounded:
        return f"{subject}{count(simulated.users.value)} {answer.users_are} keep it{name}; more were not tried"
    band = simulated.users.band
    within = " (no interval)" if band == NO_INTERVAL else f" ({count(band.low)}–{count(band.high)})"
    figure = f"the figure is then {write_interval(simulated.reached)}"
    return f"{subject}{count(simulated.users.value)}{within} {answer.users_are}{name}; {figure}"


def describe_effort(hosts: Sequence[SimulatedHost]) -> str:
    events, elapsed = sum(host.events for host in hosts), sum(host.elapsed for host in hosts)
    trials = sum(len(host.figures) + sum(each.trials for each in host.limits) for host in hosts)
    rate = f"{digits(events / elapsed / 1e6)} million a second" if elapsed else "at once"
    return f"{many(trials, 'simulation')}: {count(events)} events in {seconds(elapsed)}, {rate}"
