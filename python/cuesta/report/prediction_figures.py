"""Writes the figures of predicted loads: a table, why some are withheld, and what checks them."""

import math
from collections.abc import Iterator, Sequence

from cuesta.analysis.predict.band import Band
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.prediction import Figure, SystemPrediction, remark_on_laws
from cuesta.analysis.predict.transfer import Transfer, list_transfers
from cuesta.analysis.predict.what_if import Answer
from cuesta.plain_text import plain
from cuesta.report.model import Cell, Part, Remark, Table, Words
from cuesta.units import ABSENT, count, digits, many, seconds, seconds_between, share, write_minus

WORTH_NOTICE = 0.1
"""The error from which on a row is marked."""


def figure_table(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    paced = all(figure.at.is_paced for figure in system.figures)
    unit = plain(system.figures[0].at.unit.name)
    within = "90 % band" if system.model.fit.freedom > 0 else "by rounding"
    middle = ["R", within, "other forms"] if paced else ["Z+K", "R", f"{unit}/s", within, "bound"]
    rows = [[*load_cells(figure.at), *(paced_cells if paced else closed_cells)(figure), *measured_cells(figure, paced)]
            for figure in system.figures]  # fmt: skip
    fitted = any(figure.is_fitted for figure in system.figures)
    caption = "~ the model was fitted to this row: its error is no test" if fitted else ""
    yield Table(
        [answer.users_are, "configuration", *middle, "measured", "error"], rows, caption, wide=hidden_columns(system)
    )
    if system.model.points and not system.model.fit.freedom:
        yield Remark("by rounding: as many parameters as rows meet them exactly, so how far they are off is not known")


def hidden_columns(system: SystemPrediction) -> set[int]:
    """The column of configurations, if there is only one."""
    return set() if len({point.at.configuration for point in system.points}) > 1 else {1}


def load_cells(at: Conditions) -> list[Cell]:
    return [count(at.users), plain(at.configuration)]


def paced_cells(figure: Figure) -> list[Cell]:
    spread = sorted(figure.forms.values())
    others = write_band(Band(spread[0], spread[-1])) if spread else ABSENT
    if figure.not_reported:
        return [Words(ABSENT, tone="bad"), ABSENT, others]
    return [seconds(figure.response), write_band(figure.response_band), others]


def closed_cells(figure: Figure) -> list[Cell]:
    per = figure.at.unit.per_transaction
    most = ABSENT if figure.bound is None else digits(figure.bound * per)
    if figure.not_reported:
        return [write_pace(figure.at), Words(ABSENT, tone="bad"), ABSENT, ABSENT, most]
    within = f"{digits(figure.throughput_band.low * per)}–{digits(figure.throughput_band.high * per)}"
    response = ABSENT if figure.is_response_too_wide else write_duration(figure.response)
    return [write_pace(figure.at), response, digits(figure.throughput * per), within, most]


def write_pace(at: Conditions) -> str:
    """Z + K."""
    return write_duration(at.own_time)


def write_duration(value: float) -> str:
    return seconds(value) if value else "0 s"


def measured_cells(figure: Figure, paced: bool) -> list[Cell]:
    """The measured value, and the error of the prediction."""
    if figure.measured is None or figure.error is None:
        return ["", ""]
    error = write_minus(f"{100 * figure.error:+.0f} %")
    if figure.is_fitted:
        return [write_observed(figure, paced), Words(f"~{error}", tone="faint")]
    return [write_observed(figure, paced), Words(error, tone="notice" if abs(figure.error) > WORTH_NOTICE else "")]


def write_observed(figure: Figure, paced: bool) -> str:
    point = figure.measured
    if point is None:
        return ""
    if paced or point.throughput is None:
        return seconds(point.response.value) if point.response else ABSENT
    return digits(point.throughput.value * figure.at.unit.per_transaction)


def write_band(within: Band) -> str:
    if not math.isfinite(within.high):
        return f"over {seconds(within.low)}"
    return seconds_between(within.low, within.high)


def figure_remarks(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    """Why figures are withheld, and what the laws and held-out rows say."""
    for figure in system.figures:
        names = [f"{count(figure.at.users)} {answer.users_are}", plain(figure.at.configuration)]
        where = ", ".join(filter(None, [*names, "" if figure.at.is_paced else f"Z+K {write_pace(figure.at)}"]))
        if figure.not_reported:
            spread = figure.spread if figure.is_disputed else figure.response_band
            yield Remark(f"{where}: NOT REPORTED: {figure.not_reported} ({write_band(spread)})", "bad")
        elif figure.is_response_too_wide:
            yield Remark(f"{where}: the band of R is too wide ({write_band(figure.response_band)})", "notice")
        yield from (Remark(f"{where}: {each}", "notice") for each in law_remarks(figure, system))
    if outside := [figure for figure in system.figures if figure.is_outside]:
        yield Remark(f"never checked there: {name_unchecked(answer, system, outside)}", "notice")


def law_remarks(figure: Figure, system: SystemPrediction) -> Iterator[str]:
    if not figure.is_fitted:
        yield from remark_on_laws(figure, system.model)


def name_unchecked(answer: Answer, system: SystemPrediction, outside: Sequence[Figure]) -> str:
    """The loads outside of the measured range."""
    users = sorted(point.at.users for point in system.points)
    owns = sorted(point.at.own_time for point in system.points)
    loads = ", ".join(dict.fromkeys(f"{count(each.at.users)} {answer.users_are}" for each in outside))
    range_measured = f"{count(users[0])} to {count(users[-1])}" if users[0] < users[-1] else count(users[0])
    least, most = f"{owns[0]:.3g}", f"{owns[-1]:.3g}"
    paces = f", Z+K {least if least == most else f'{least} to {most}'} s" if owns[-1] else ""
    return f"{loads}; measured were {range_measured}{paces}"


def held_out_part(system: SystemPrediction) -> Iterator[Part]:
    result = system.held_out
    if result is None:
        yield Remark(f"held-out error: none; {many(len(system.points), 'row')} cannot be fitted and held out", "notice")
        return
    how = " with the highest load, predicted from the other rows" if result.is_own_split else ""
    rows = many(len(result.errors), "row")
    yield Remark(
        f"held-out error {share(result.mape)} ({rows}{how}); {result.within} of {len(result.errors)} in their band"
    )


def transfer_table(answer: Answer, system: SystemPrediction) -> Iterator[Part]:
    """The transfers from other configurations, as a check of the prediction."""
    points = answer.prediction.measurements.points
    rows = [point for each in answer.prediction.systems for point in each.model.points]
    unfitted = [figure for figure in system.figures if not figure.is_fitted]
    transfers = [transfer for figure in unfitted for transfer in list_transfers(figure.at, points, rows)]
    if transfers:
        heads = [answer.users_are, "configuration", "from", "moved by", "gives", "measured"]
        cells = [transfer_cells(transfer, system) for transfer in transfers]
        yield Table(heads, cells, caption="another configuration at that load, moved as in the fitted rows; no model")


def transfer_cells(transfer: Transfer, system: SystemPrediction) -> list[Cell]:
    at, base = transfer.at, transfer.base.at
    point = next((figure.measured for figure in system.figures if figure.at == at), None)
    per = at.unit.per_transaction
    head: list[Cell] = [count(at.users), plain(at.configuration), plain(base.configuration)]
    if transfer.shift is not None:
        return [*head, write_minus(f"{1e3 * transfer.shift:+.1f} ms"), seconds(transfer.value),
                seconds(point.response.value) if point and point.response else ""]  # fmt: skip
    measured = digits(point.throughput.value * per) if point and point.throughput else ""
    return [*head, f"×{transfer.ratio:.3f}", digits(transfer.value * per), measured]
