"""Writes a prediction as text for a terminal: the model, the figures, then what they rest on."""

from collections.abc import Iterator, Sequence

from cuesta.analysis.predict.choice import rms_error
from cuesta.analysis.predict.fitting import FittedModel, named_parts
from cuesta.analysis.predict.prediction import SystemPrediction
from cuesta.analysis.predict.simulate import SimulatedSystem
from cuesta.analysis.predict.what_if import Answer, Capacity
from cuesta.plain_text import plain
from cuesta.report.model import Fact, Facts, Part, Remark, Report, Section, Verdict
from cuesta.report.prediction_figures import figure_remarks, figure_table, held_out_part, hidden_columns, transfer_table
from cuesta.report.prediction_limits import limit_remarks, saturation_table, what_if_tables
from cuesta.report.render import text as rendered
from cuesta.report.simulation import simulation_parts
from cuesta.terminal import Styled
from cuesta.units import digits, many, seconds, share

MEANS = "means only; a percentile has to be measured"
SIMULATED = "means by theory, percentiles by simulation of the model"


def text(answer: Answer, simulations: Sequence[SimulatedSystem] = (), colour: bool | None = None) -> Styled:
    """The text for a terminal. `colour` None = coloured if standard output is a terminal and NO_COLOR is not set."""
    return rendered(report(answer, simulations), colour, verbose=True)


def report(answer: Answer, simulations: Sequence[SimulatedSystem] = ()) -> Report:
    """`simulations`: one for each system, or none."""
    sections = list[Section]()
    for number, system in enumerate(answer.prediction.systems):
        sections += system_sections(answer, system)
        sections += [
            Section("Simulated", list(simulation_parts(answer, each))) for each in simulations[number : number + 1]
        ]
    notes = [*answer.prediction.refused, *answer.prediction.notes]
    sections.append(Section("Notes", [Remark(f"- {plain(note)}", "notice") for note in notes]))
    return Report("Prediction", headline(answer), verdict(answer, simulations), sections=sections)


def headline(answer: Answer) -> str:
    prediction = answer.prediction
    title = plain(prediction.measurements.title)
    figures = [figure for system in prediction.systems for figure in system.figures]
    reported = len(figures) - len(prediction.not_reported)
    capacities = [
        each for system in prediction.systems for each in answer.capacities[system] if each.saturation.is_determined
    ]
    result = f"{title}: {reported} of {many(len(figures), 'load')} predicted"
    if not reported:
        return f"{result}: the rows cannot tell"
    if not capacities:
        return result
    return f"{result}; {state_saturation(answer, capacities)}"


def state_saturation(answer: Answer, capacities: Sequence[Capacity]) -> str:
    """The saturation point: in users if all loads have one pace, else in throughput."""
    least = min(capacities, key=lambda each: each.most_throughput)
    name = plain(least.at.configuration)
    at = f" ({name})" if name and len({each.at.configuration for each in capacities}) > 1 else ""
    if len({round(each.at.own_time, 3) for each in capacities}) == 1:
        return f"a station saturates at {digits(least.saturation.value)} {answer.users_are}{at}"
    rate = f"{digits(least.most_throughput * least.at.unit.per_transaction)} {plain(least.at.unit.name)}/s"
    return f"a station saturates at {rate}{at}"


def verdict(answer: Answer, simulations: Sequence[SimulatedSystem]) -> Verdict:
    prediction = answer.prediction
    reasons = []
    if not answer.is_reported or not all(each.is_reported for each in simulations):
        word = "NOT REPORTED"
        reasons.append("the figures that the rows do not determine are left out")
    elif prediction.conflicts:
        word = "CONFLICT"
    else:
        word = "PREDICTED" if all(each.is_answered for each in simulations) else "NOT SIMULATED"
    if prediction.conflicts:
        reasons.append("response and meters disagree on what saturates")
    if any(each.refused for each in simulations):
        reasons.append("not everything is simulated")
    if any(each.disagrees for each in simulations):
        reasons.append("the simulation disagrees with the exact model")
    how = SIMULATED if any(each.hosts for each in simulations) else MEANS
    return Verdict(word, "; ".join([*reasons, how]), word == "PREDICTED", name="RESULT")


def system_sections(answer: Answer, system: SystemPrediction) -> Iterator[Section]:
    yield Section("Model", list(model_parts(system)))
    yield Section("Predicted", [*figure_table(answer, system), *figure_remarks(answer, system), *held_out_part(system)])
    yield Section("Transfer", list(transfer_table(answer, system)))
    yield Section("Bottleneck", list(saturation_table(answer, system)))
    yield Section("Limit", list(limit_remarks(answer, system)))
    yield Section("What if", list(what_if_tables(answer, system)))


def model_parts(system: SystemPrediction) -> Iterator[Part]:
    model = system.model
    at = system.figures[0].at
    load = f"paced, cycle {seconds(at.cycle)}" if at.is_paced else "closed"
    name = f"{plain(at.configuration)}: " if hidden_columns(system) and at.configuration else ""
    yield Remark(f"{name}{model.form.name}, {load}: {model.form.formula(at.is_paced)}")
    if model.points:
        rows = f"{many(model.fit.rows, 'row')}, {many(model.parameters.count, 'parameter')}"
        parts = [Fact(plain(name), seconds(value)) for name, value in named_parts(model).items()]
        yield Facts([Fact("fit", rows), *parts])
    if model.fit.freedom > 0:
        others = [
            f"{each.form.name} ({write_fit_error(each)})" for each in system.choice.rejected if each.fit.freedom > 0
        ]
        off = f"off its rows by {write_fit_error(model)}"
        yield Remark(f"{off}; less support: {', '.join(others)}" if others else off, "faint")


def write_fit_error(model: FittedModel) -> str:
    """The root mean square residual, in its unit."""
    return seconds(rms_error(model)) if model.points[0].at.is_paced else share(rms_error(model))
