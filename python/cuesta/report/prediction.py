"""Writes a prediction as text for a terminal: the model, the figures, then what they rest on."""

import math
from collections.abc import Iterator, Sequence

from cuesta.analysis.predict.answer import Answer
from cuesta.analysis.predict.band import Band
from cuesta.analysis.predict.choice import rms
from cuesta.analysis.predict.fitting import FittedModel, all_parts
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.prediction import Figure, SystemPrediction, remarks
from cuesta.analysis.predict.saturation import Conflict, Saturation
from cuesta.analysis.predict.simulate import SimulatedSystem
from cuesta.analysis.predict.transfer import Transfer, transfers
from cuesta.analysis.predict.what_if import Capacity, Estimate, changed_figures
from cuesta.report.model import Cell, Fact, Facts, Part, Remark, Report, Section, Table, Verdict, Words
from cuesta.report.phrases import plain
from cuesta.report.render import text as rendered
from cuesta.report.simulation import simulation
from cuesta.units import ABSENT, count, digits, many, seconds, seconds_between, share, signed

MEANS = "means only; a percentile has to be measured"
SIMULATED = "means by theory, percentiles by simulation of the model"
WORTH_NOTICE = 0.1
"""The error from which on a row is marked."""


def text(answer: Answer, simulations: Sequence[SimulatedSystem] = (), colour: bool | None = None) -> str:
    """The text for a terminal. `colour` None = coloured if standard output is a terminal and NO_COLOR is not set."""
    return rendered(report(answer, simulations), colour, verbose=True)


def report(answer: Answer, simulations: Sequence[SimulatedSystem] = ()) -> Report:
    """`simulations`: one for each system, or none."""
    sections = list[Section]()
    for number, system in enumerate(answer.prediction.systems):
        sections += of_system(answer, system)
        sections += [Section("Simulated", list(simulation(answer, each))) for each in simulations[number : number + 1]]
    notes = [*answer.prediction.refused, *answer.prediction.notes]
    sections.append(Section("Notes", [Remark(f"- {plain(note)}", "notice") for note in notes]))
    return Report("Prediction", headline(answer), verdict(answer, simulations), sections=sections)


def headline(answer: Answer) -> str:
    """One sentence: what the limiting station allows, or why nothing is reported."""
    prediction = answer.prediction
    title = plain(prediction.measurements.title)
    figures = [figure for system in prediction.systems for figure in system.figures]
    reported = len(figures) - len(prediction.not_reported)
    found = [each for system in prediction.systems for each in answer.now(system) if each.saturation.is_determined]
    said = f"{title}: {reported} of {many(len(figures), 'load')} predicted"
    if not reported:
        return f"{said}: the rows cannot tell"
    if not found:
        return said
    return f"{said}; {saturates(answer, found)}"


def saturates(answer: Answer, found: Sequence[Capacity]) -> str:
    """Where the first station saturates: in users if all have one pace, else in throughput."""
    least = min(found, key=lambda each: each.most)
    name = plain(least.at.configuration)
    at = f" ({name})" if name and len({each.at.configuration for each in found}) > 1 else ""
    if len({round(each.at.own, 3) for each in found}) == 1:
        return f"a station saturates at {digits(least.saturation.value)} {answer.users_are}{at}"
    rate = f"{digits(least.most * least.at.unit.per_transaction)} {plain(least.at.unit.name)}/s"
    return f"a station saturates at {rate}{at}"


def verdict(answer: Answer, simulations: Sequence[SimulatedSystem]) -> Verdict:
    prediction = answer.prediction
    if prediction.not_reported or prediction.refused:
        word, good = "NOT REPORTED", False
    else:
        word, good = ("CONFLICT", False) if prediction.conflicts else ("PREDICTED", True)
    said = ["the figures that the rows do not determine are left out"] if word == "NOT REPORTED" else []
    said += ["response and meters disagree on what saturates"] if prediction.conflicts else []
    if any(each.refused for each in simulations):
        said.append("not everything is simulated")
    how = SIMULATED if any(each.hosts for each in simulations) else MEANS
    return Verdict(word, "; ".join([*said, how]), good, name="RESULT")


def of_system(answer: Answer, system: SystemPrediction) -> Iterator[Section]:
    """The sections of configurations that were fitted together."""
    yield Section("Model", list(model(system)))
    yield Section("Predicted", [*figures(answer, system), *said_of(answer, system), *held_out(system)])
    yield Section("Transfer", list(transferred(answer, system)))
    yield Section("Bottleneck", list(bottleneck(answer, system)))
    yield Section("Limit", list(limits(answer, system)))
    yield Section("What if", list(what_if(answer, system)))


def model(system: SystemPrediction) -> Iterator[Part]:
    """The model, its parameters, and how it was chosen."""
    own = system.model
    at = system.figures[0].at
    load = f"paced, cycle {seconds(at.cycle)}" if at.is_paced else "closed"
    name = f"{plain(at.configuration)}: " if unnamed(system) and at.configuration else ""
    yield Remark(f"{name}{own.form.name}, {load}: {own.form.formula(at.is_paced)}")
    if own.points:
        rows = f"{many(own.fit.rows, 'row')}, {many(own.parameters.count, 'parameter')}"
        yield Facts([Fact("fit", rows), *(Fact(plain(name), seconds(value)) for name, value in all_parts(own).items())])
    if own.fit.freedom > 0:
        others = [f"{each.form.name} ({error_of_fit(each)})" for each in system.choice.rejected if each.fit.freedom > 0]
        off = f"off its rows by {error_of_fit(own)}"
        yield Remark(f"{off}; less support: {', '.join(others)}" if others else off, "faint")


def error_of_fit(own: FittedModel) -> str:
    """The root mean square error, in the measure of the fit."""
    return seconds(rms(own)) if own.points[0].at.is_paced else share(rms(own))


def figures(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    """A row for each load."""
    paced = all(figure.at.is_paced for figure in system.figures)
    unit = plain(system.figures[0].at.unit.name)
    middle = ["R", "90 % band", "other forms"] if paced else ["Z+K", "R", f"{unit}/s", "90 % band", "bound"]
    rows = [[*load_cells(figure.at), *(paced_cells if paced else closed_cells)(figure), *measured_cells(figure, paced)]
            for figure in system.figures]  # fmt: skip
    fitted = any(figure.is_fitted for figure in system.figures)
    caption = "~ the model was fitted to this row: its error is no test" if fitted else ""
    yield Table([answer.users_are, "configuration", *middle, "measured", "error"], rows, caption, wide=unnamed(system))


def unnamed(system: SystemPrediction) -> set[int]:
    """The column of configurations, if there is only one."""
    return set() if len({point.at.configuration for point in system.points}) > 1 else {1}


def load_cells(at: Conditions) -> list[Cell]:
    return [count(at.users), plain(at.configuration)]


def paced_cells(figure: Figure) -> list[Cell]:
    spread = sorted(figure.forms.values())
    others = interval(Band(spread[0], spread[-1])) if spread else ABSENT
    if figure.not_reported:
        return [Words(ABSENT, tone="bad"), ABSENT, others]
    return [seconds(figure.response), interval(figure.response_band), others]


def closed_cells(figure: Figure) -> list[Cell]:
    per = figure.at.unit.per_transaction
    most = ABSENT if figure.bound is None else digits(figure.bound * per)
    if figure.not_reported:
        return [pace(figure.at), Words(ABSENT, tone="bad"), ABSENT, ABSENT, most]
    within = f"{digits(figure.throughput_band.low * per)}–{digits(figure.throughput_band.high * per)}"
    return [pace(figure.at), duration(figure.response), digits(figure.throughput * per), within, most]


def pace(at: Conditions) -> str:
    """Z + K."""
    return duration(at.own)


def duration(value: float) -> str:
    return seconds(value) if value else "0 s"


def measured_cells(figure: Figure, paced: bool) -> list[Cell]:
    """What was measured, and how far the prediction is off it."""
    if figure.measured is None or figure.error is None:
        return ["", ""]
    error = signed(f"{100 * figure.error:+.0f} %")
    if figure.is_fitted:
        return [observed(figure, paced), Words(f"~{error}", tone="faint")]
    return [observed(figure, paced), Words(error, tone="notice" if abs(figure.error) > WORTH_NOTICE else "")]


def observed(figure: Figure, paced: bool) -> str:
    point = figure.measured
    if point is None:
        return ""
    if paced or point.throughput is None:
        return seconds(point.response.value) if point.response else ABSENT
    return digits(point.throughput.value * figure.at.unit.per_transaction)


def interval(within: Band) -> str:
    """A band of durations."""
    if not math.isfinite(within.high):
        return f"over {seconds(within.low)}"
    return seconds_between(within.low, within.high)


def said_of(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    """Why figures are not reported, what the laws say of measured rows, and what was never checked."""
    for figure in system.figures:
        names = [f"{count(figure.at.users)} {answer.users_are}", plain(figure.at.configuration)]
        where = ", ".join(filter(None, [*names, "" if figure.at.is_paced else f"Z+K {pace(figure.at)}"]))
        if figure.not_reported:
            spread = figure.spread if figure.is_disputed else figure.response_band
            yield Remark(f"{where}: NOT REPORTED: {figure.not_reported} ({interval(spread)})", "bad")
        yield from (Remark(f"{where}: {each}", "notice") for each in laws(figure, system))
    if outside := [figure for figure in system.figures if figure.is_outside]:
        yield Remark(f"never checked there: {never_checked(answer, system, outside)}", "notice")


def laws(figure: Figure, system: SystemPrediction) -> Iterator[str]:
    if not figure.is_fitted:
        yield from remarks(figure, system.model)


def never_checked(answer: Answer, system: SystemPrediction, outside: Sequence[Figure]) -> str:
    """Which loads lie outside the range that was measured."""
    users = sorted(point.at.users for point in system.points)
    owns = sorted(point.at.own for point in system.points)
    loads = ", ".join(dict.fromkeys(f"{count(each.at.users)} {answer.users_are}" for each in outside))
    between = f"{count(users[0])} to {count(users[-1])}" if users[0] < users[-1] else count(users[0])
    least, most = f"{owns[0]:.3g}", f"{owns[-1]:.3g}"
    paces = f", Z+K {least if least == most else f'{least} to {most}'} s" if owns[-1] else ""
    return f"{loads}; measured were {between}{paces}"


def held_out(system: SystemPrediction) -> Iterator[Part]:
    """The held-out error, or why there is none."""
    found, own = system.held_out, len(system.points)
    if found is None:
        yield Remark(f"held-out error: none; {many(own, 'row')} cannot be fitted and held out", "notice")
        return
    how = " with the highest load, predicted from the other rows" if found.is_own_split else ""
    rows = many(len(found.errors), "row")
    yield Remark(
        f"held-out error {share(found.mape)} ({rows}{how}); {found.within} of {len(found.errors)} in their band"
    )


def transferred(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    """What other configurations say without a model, as a check of the prediction."""
    points = answer.prediction.measurements.points
    fitted = {point.place for each in answer.prediction.systems for point in each.model.points}
    rows = [point for point in points if point.place in fitted]
    said = [each for figure in system.figures if not figure.is_fitted for each in transfers(figure.at, points, rows)]
    if said:
        heads = [answer.users_are, "configuration", "from", "moved by", "gives", "measured"]
        cells = [cells_of(each, system) for each in said]
        yield Table(heads, cells, caption="another configuration at that load, moved as in the fitted rows; no model")


def cells_of(each: Transfer, system: SystemPrediction) -> list[Cell]:
    point = next((figure.measured for figure in system.figures if figure.at == each.at), None)
    per = each.at.unit.per_transaction
    base = plain(each.base.at.configuration)
    head: list[Cell] = [count(each.at.users), plain(each.at.configuration), base]
    if each.shift is not None:
        return [*head, signed(f"{1e3 * each.shift:+.1f} ms"), seconds(each.value),
                seconds(point.response.value) if point and point.response else ""]  # fmt: skip
    measured = digits(point.throughput.value * per) if point and point.throughput else ""
    return [*head, f"×{each.ratio:.3f}", digits(each.value * per), measured]


def bottleneck(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    """Where response and meters say that a station saturates."""
    if not system.saturations:
        return
    unit = plain(system.saturations[0].at.unit.name)
    heads = ["by", "configuration", "Z+K", answer.users_are, "90 % band", f"{unit}/s"]
    rows = list(map(saturation_cells, system.saturations))
    paced = all(each.at.is_paced for each in system.saturations)
    yield Table(heads, rows, wide={*unnamed(system), *([2] if paced else [])})
    for each in system.conflicts:
        yield Remark(conflict(each, answer), "bad")
    if system.conflicts:
        first = min(each.response.users for each in system.conflicts)
        said = "→ the meters do not show what limits it: meter what stands between users and host, and the driver"
        yield Remark(f"{said}; until then it is at most {math.floor(first)} {answer.users_are}", "faint")


def conflict(each: Conflict, answer: Answer) -> str:
    name = f"{plain(each.response.at.configuration)}: " if each.response.at.configuration else ""
    response, meter = digits(each.response.users), digits(each.meter.users)
    return f"CONFLICT: {name}response says {response} {answer.users_are}, {plain(each.meter.by)} says {meter}"


def saturation_cells(each: Saturation) -> list[Cell]:
    """A saturation point with its band."""
    within = f"{digits(each.band.low)}–{digits(each.band.high)}"
    rate = digits(each.throughput * each.at.unit.per_transaction)
    own = "" if each.at.is_paced else pace(each.at)
    return [plain(each.by), plain(each.at.configuration), own, digits(each.users), within, rate]


def limits(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    """How many users keep the limit on a mean."""
    if answer.limit is None or answer.allowed is None:
        return
    for each in answer.now(system):
        yield Remark(f"{plain(str(answer.limit))}: {allowed(each, answer)}")


def allowed(each: Capacity, answer: Answer) -> str:
    several = len({now.at.own for system in answer.prediction.systems for now in answer.now(system)}) > 1
    said = [plain(each.at.configuration), f"Z+K {pace(each.at)}" if several and not each.at.is_paced else ""]
    name = f" ({', '.join(filter(None, said))})" if any(said) else ""
    if each.allowed is None or each.allowed.value < 1:
        return f"a single user misses it{name}"
    return f"{whole(each.allowed)} {answer.users_are}{name}"


def whole(each: Estimate | None) -> str:
    """A number of users with its band, in whole users."""
    if each is None:
        return ABSENT
    if not each.is_determined:
        return "not determined"
    return f"{count(math.floor(each.value))} ({count(math.floor(each.band.low))}–{count(math.floor(each.band.high))})"


def what_if(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    """The loads and the saturation point with the changes, beside those without."""
    if not answer.changes:
        return
    loads = answer.loads_of(system)
    yield Remark("; ".join(plain(str(change)) for change in answer.changes))
    before = {figure.at: figure for figure in system.figures}
    rows = [
        [count(each.at.users), plain(each.at.configuration), seconds(before[each.at].response),
         seconds(each.response.value), interval(each.response.band),
         digits(each.throughput * each.at.unit.per_transaction)]
        for each in changed_figures(system, loads, answer.changes)
    ]  # fmt: skip
    unit = plain(loads[0].unit.name)
    yield Table(
        [answer.users_are, "configuration", "R now", "R then", "90 % band", f"{unit}/s"], rows, wide=unnamed(system)
    )
    yield capacity_table(answer, system)
    yield Remark("it rests on the model above and on these changes: nobody has measured the changed host", "notice")


def capacity_table(answer: Answer, system: SystemPrediction) -> Table:
    """Saturation and limit, now and with the changes."""
    pairs = zip(answer.now(system), answer.then(system), strict=True)
    rows = [
        [plain(now.at.configuration), "" if now.at.is_paced else pace(now.at), *map(saturated, (now, then)),
         *(whole(each.allowed) for each in (now, then))]
        for now, then in pairs
    ]  # fmt: skip
    limit = plain(str(answer.limit)) if answer.limit and answer.allowed is not None else ""
    heads = ["configuration", "Z+K", "saturates now", "then", f"{limit} now", "then"]
    one_pace = len({row[1] for row in rows}) == 1
    left_out = {*({0} if unnamed(system) else ()), *({1} if one_pace else ()), *(() if limit else (4, 5))}
    return Table(heads, rows, f"in {answer.users_are}", wide=left_out)


def saturated(each: Capacity) -> str:
    """Users at saturation, with their band."""
    if not each.saturation.is_determined:
        return "not determined"
    return f"{digits(each.saturation.value)} ({digits(each.saturation.band.low)}–{digits(each.saturation.band.high)})"
