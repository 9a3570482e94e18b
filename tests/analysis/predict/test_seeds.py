"""What the tables of 1979, 1981 and 1993 predict of one another, failures included; all is computed from them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from cuesta.analysis.history.table_points import read_table
from cuesta.analysis.history.transcript import Transcript
from cuesta.analysis.predict.band import band
from cuesta.analysis.predict.choice import choose_known, choose_model
from cuesta.analysis.predict.fitting import FittedModel, fitted_parts, measured_response
from cuesta.analysis.predict.forms.asymptote import Asymptote
from cuesta.analysis.predict.forms.curves import EXPONENTIAL, POWER
from cuesta.analysis.predict.forms.metered import Metered
from cuesta.analysis.predict.forms.station import OneStation
from cuesta.analysis.predict.meters import derive_stations
from cuesta.analysis.predict.points import Conditions, Point
from cuesta.analysis.predict.prediction import SystemPrediction, predict, remark_on_laws
from cuesta.analysis.predict.saturation import fit_utilization_line, saturation_by_meter
from cuesta.analysis.predict.transfer import list_transfers
from cuesta.ledger.historical import read_historical
from tests.analysis.predict.seeds import EMACS, MCS, TMUX, errors, fitted, mape, rows

CONFIGURATIONS = ("telnet", "telnet+tmux", "in-kernel", "in-kernel+tmux")


def station(points: Sequence[Point]) -> FittedModel:
    return fitted(OneStation(), points)


def throughputs(model: FittedModel, points: Sequence[Point]) -> tuple[list[float], list[float]]:
    """Predicted and measured."""
    return [model.throughput(p.at) for p in points], [p.throughput.value for p in points if p.throughput]


def kchars(point: Point, per_s: float) -> float:
    return per_s * point.at.unit.per_transaction


# MR7.0 and MR8.0: closed, with think times from 0 to 10 s


@pytest.mark.parametrize(
    ("release", "demand", "predicted", "error"),
    [
        ("MR7.0", 0.0243, [1.51, 2.46, 3.89, 6.55, 6.70], [0.6, -1.8, 2.3, 12.8, 0.0]),
        ("MR8.0", 0.03075, [1.51, 2.89, 4.47, 5.30, 5.30], [0.5, -3.5, 24.2, 0.0, 0.0]),
    ],
)
def test_the_saturated_row_and_the_line_time_predict_the_others(
    release: str, demand: float, predicted: list[float], error: list[float]
) -> None:
    model, all_rows = station(rows(MCS, release, think=0)), rows(MCS, release)
    assert fitted_parts(model) == {f"D {release}": pytest.approx(demand, abs=5e-5)}, "the line time is not fitted"
    assert all_rows[0].at.known_delay == pytest.approx(0.340, abs=5e-4)
    said, measured = throughputs(model, all_rows)
    assert [kchars(p, x) for p, x in zip(all_rows, said, strict=True)] == pytest.approx(predicted, abs=0.0051)
    assert errors(said, measured) == pytest.approx(error, abs=0.06)


def test_errors_of_the_predicted_rows() -> None:
    for release, expected in (("MR7.0", 4.4), ("MR8.0", 7.0)):
        others = [point for point in rows(MCS, release) if point.at.think]
        assert mape(*throughputs(station(rows(MCS, release, think=0)), others)) == pytest.approx(expected, abs=0.06)


def test_the_asymptotic_bound_is_worse_at_the_knee() -> None:
    model = fitted(Asymptote(), rows(MCS, "MR7.0", think=0))
    assert errors(*throughputs(model, rows(MCS, "MR7.0", think=1))) == [pytest.approx(15.5, abs=0.06)]


def test_light_rows_do_not_predict_saturation() -> None:
    """Three light rows of 7.0 fit a demand of 38 ms, and 36 % too little at think time 0."""
    unknown = [replace(p, at=replace(p.at, known_delay=None)) for p in rows(MCS, "MR7.0")]
    model = station([point for point in unknown if point.at.think >= 3])
    assert fitted_parts(model)["D MR7.0"] == pytest.approx(0.038, abs=5e-4)
    assert errors(*throughputs(model, unknown[-1:])) == [pytest.approx(-36, abs=0.6)]


def test_two_light_rows_leave_the_demand_open() -> None:
    """8.0 at 10 and 5 s of thinking: the band of the demand has no end below a factor of ten."""
    model = station([point for point in rows(MCS, "MR8.0") if point.at.think >= 5])
    saturated = Conditions("MR8.0", 96, known_delay=0.34, demand="MR8.0", delays=("MR8.0",))
    assert band(model, lambda each: each.throughput(saturated)).ratio > 10


def test_law_of_the_rows_that_do_not_fit() -> None:
    """R = N/X − Z lies below the line time at Z = 5, and Z = 3 is as if users thought 4 s.

    Without a queue that is 3.98 s, as modelling.md §2.1 has it; the model's users also wait 0.1 s for the station.
    """
    all_rows = rows(MCS, "MR8.0")
    found = predict(read_table(MCS), rows(MCS, "MR8.0", think=0), [point.at for point in all_rows])
    said = {
        figure.at.think: list(remark_on_laws(figure, found.systems[0].model)) for figure in found.systems[0].figures
    }
    assert said[5] == ["R = N/X − Z is 0.22 s, below the 0.34 s that are known to pass on the line"]
    assert said[3] == ["as if users thought 3.9 s instead of 3 s"]
    (third,) = (point for point in all_rows if point.at.think == 3)
    assert third.rate
    assert 96 / third.rate - 0.340 - 0.03075 == pytest.approx(3.98, abs=0.005)
    responses = {point.at.think: point.by_law for point in all_rows if point.by_law}
    assert (responses[5].low, responses[5].high) == pytest.approx((0.13, 0.30), abs=0.005)
    assert (responses[3].low, responses[3].value, responses[3].high) == pytest.approx((1.29, 1.35, 1.41), abs=0.005)


def test_the_front_end_was_not_the_bottleneck() -> None:
    """The meter's demand grows by 37 %, and its line says 18 % more than was ever measured.

    The two light rows say 54 % too much with D = ΣU/ΣX, which is used here. The 57 % of modelling.md §2.1 are with
    D = ΣUX/ΣX², the line of least squares through the origin, which weighs the busier row more.
    """
    all_rows = rows(MCS, "MR8.0")
    demands = [p.utilizations["FNP"].value / p.throughput.value * 1e3 for p in all_rows if p.throughput]
    assert demands == pytest.approx([21.7, 19.0, 22.6, 26.1, 26.1], abs=0.06)
    meter = saturation_by_meter(all_rows, "FNP")
    assert meter
    assert kchars(all_rows[0], meter.throughput) / 5.3 == pytest.approx(1.18, abs=0.005)
    light = fitted(Metered(derive_stations(all_rows[:2])), all_rows[:2])
    pairs = [(p.utilizations["FNP"].value, p.rate or 0.0) for p in all_rows[:2]]
    by_line = sum(rate**2 for _, rate in pairs) / sum(busy * rate for busy, rate in pairs)
    rates = [light.network(all_rows[4].at).most_throughput, by_line]  # type: ignore[union-attr]
    assert errors(rates, [all_rows[4].rate or 0.0] * 2) == pytest.approx([54.4, 57.2], abs=0.06)


# Bisync: here the front end is the bottleneck


def test_a_half_loaded_row_predicts_the_maximum_of_bisync() -> None:
    first, *others = rows(MCS, "bisync MR8.0")
    choice = choose_model([first])
    assert choice
    assert choice.best.form.name == "metered stations"
    (fnp,) = derive_stations([first])["bisync MR8.0"]
    assert fnp.demand == pytest.approx(0.0833, abs=5e-5)
    said, measured = throughputs(choice.best, others)
    assert said == pytest.approx([10.38, 11.88], abs=0.0051)
    assert errors(said, measured) == pytest.approx([-8.9, 6.1], abs=0.06)
    assert errors([1 / fnp.demand] * 2, measured) == pytest.approx([5.3, 7.1], abs=0.06)


def test_bisync_of_one_release_from_the_other() -> None:
    points = read_table(MCS).points
    fit = [*rows(MCS, "bisync MR7.0"), *rows(MCS, "bisync MR8.0", most=6)]
    asked = rows(MCS, "bisync MR8.0")[1:]
    found = [each for point in asked for each in list_transfers(point.at, points, fit)]
    assert errors([each.value for each in found], [p.throughput.value for p in asked if p.throughput]) == pytest.approx(
        [-0.9, -1.8], abs=0.06
    )


# TMux: paced, with a station that was not metered


def test_four_parameters_fit_all_twenty_rows() -> None:
    points = rows(TMUX)
    model = station(points)
    found = fitted_parts(model)
    assert {name: round(1e3 * value, 2) for name, value in found.items()} == {
        "R₀ both protocols": 12.49, "R₀ tmux": 38.6, "D telnet": 6.24, "D in-kernel": 6.81,
    }  # fmt: skip
    said, measured = [model.response(p.at) for p in points], [measured_response(p) for p in points]
    assert mape(said, measured) == pytest.approx(2.1, abs=0.05)
    assert (model.fit.squares / 20) ** 0.5 == pytest.approx(1.28e-3, abs=5e-6)
    assert max(abs(a - b) for a, b in zip(said, measured, strict=True)) == pytest.approx(3.5e-3, abs=5e-5)


def of_ports(most: int, ports: Sequence[int]) -> SystemPrediction:
    """Fit the rows up to a number of ports, and ask about others."""
    table = read_table(TMUX)
    loads = [replace(rows(TMUX, name)[0].at, users=n) for n in ports for name in CONFIGURATIONS]
    (system,) = predict(table, rows(TMUX, most=most), loads).systems
    return system


def test_fifteen_ports_predict_twenty_and_twenty_five() -> None:
    system = of_ports(15, (20, 25))
    found = system.figures
    assert [round(1e3 * each.response, 1) for each in found[4:]] == [41.2, 78.7, 62.2, 99.7]
    assert sum(abs(each.error or 0) for each in found) / 8 == pytest.approx(0.037, abs=5e-4)
    assert not any(each.not_reported for each in found)
    assert system.held_out
    assert system.held_out.mape == pytest.approx(0.037, abs=5e-4)
    assert system.held_out.within == 8
    telnet = found[4].response_band
    assert (1e3 * telnet.low, 1e3 * telnet.high) == pytest.approx((33, 54), abs=1)


def test_twenty_ports_predict_twenty_five_less_well() -> None:
    found = of_ports(20, (25,)).figures
    assert [round(1e3 * each.response, 1) for each in found] == [45.6, 84.2, 68.9, 107.5]
    assert sum(abs(each.error or 0) for each in found) / 4 == pytest.approx(0.12, abs=6e-4)
    inside = [each.response_band.low <= measured_response(each.measured) <= each.response_band.high for each in found]  # type: ignore[arg-type]
    assert inside.count(True) == 3


@pytest.mark.parametrize(
    ("name", "response"), list(zip(CONFIGURATIONS, (37.6, 76.8, 53.4, 129.7), strict=True))
)  # bands: a factor of 2.7 to 12
def test_one_configuration_alone_is_useless(name: str, response: float) -> None:
    table = read_table(TMUX)
    alone = [replace(p, at=replace(p.at, demand=name, delays=(name,))) for p in rows(TMUX, name)]
    model = station(alone[:3])
    assert 1e3 * model.response(alone[4].at) == pytest.approx(response, abs=0.06)
    assert band(model, lambda each: each.response(alone[4].at)).ratio > 2.5
    (system,) = predict(replace(table, points=alone), alone[:3], [alone[4].at]).systems
    assert system.figures[0].not_reported


def test_a_configuration_from_another_is_the_best_predictor() -> None:
    points, base = read_table(TMUX).points, {"telnet+tmux": "telnet", "in-kernel+tmux": "in-kernel"}
    fit = [p for p in points if p.at.users <= 15 or p.at.configuration in base.values()]
    found = {
        (each.base.at.configuration, point.at.users): (each.shift, each.value, measured_response(point))
        for point in points
        if point.at.users > 15 and point.at.configuration in base
        for each in list_transfers(point.at, points, fit)
    }
    assert [round(1e3 * (found[name, 20][0] or 0), 1) for name in ("telnet", "in-kernel")] == [37.7, 37.3]
    values = [found[name, n] for name in ("telnet", "in-kernel") for n in (20, 25)]
    assert [1e3 * value for _, value, _ in values] == pytest.approx([66.7, 77.7, 70.3, 96.3], abs=0.051)
    assert errors([v for _, v, _ in values], [m for _, _, m in values]) == pytest.approx(
        [-4.76, -2.9, -7.5, 0.3], abs=0.051
    ), "modelling.md §2.3 has −4.7, from 66.7 ms, which was rounded before; the mean shift of 37.67 ms gives 66.67 ms"


def test_beyond_the_measured_range_nothing_is_reported() -> None:
    """Three forms fit all rows as well, and say 111, 62 and 70 ms at 30 ports of Telnet."""
    found = of_ports(25, (30,)).figures
    assert all(each.is_outside and each.is_disputed for each in found)
    telnet, kernel = found[0], found[2]
    assert telnet.forms == {"power": pytest.approx(0.062, abs=5e-4), "exponential": pytest.approx(0.070, abs=5e-4)}
    assert telnet.response == pytest.approx(0.111, abs=5e-4)
    assert kernel.forms == {"power": pytest.approx(0.095, abs=5e-4), "exponential": pytest.approx(0.108, abs=5e-4)}
    assert kernel.response > 0.2, "no answer within the cycle: the load is no longer open"
    assert all(each.not_reported for each in of_ports(15, (30,)).figures)


def test_criteria_of_the_forms() -> None:
    """In milliseconds squared they are 20, 26 and 24."""
    milliseconds = 20 * 13.815510557964274  # 20 rows · ln 10⁶
    criteria = [fitted(form, rows(TMUX)).aicc + milliseconds for form in (OneStation(), POWER, EXPONENTIAL)]
    assert criteria == pytest.approx([20.4, 26.5, 24.2], abs=0.06)
    assert choose_model(rows(TMUX)).best.form == OneStation()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "idle", "demand", "ports"),
    list(zip(CONFIGURATIONS, (-2.7, -0.6, 1.5, 1.3), (5.16, 4.00, 2.36, 1.48), (40, 50, 83, 133), strict=True)),
)
def test_lines_of_the_cpu_meter(name: str, idle: float, demand: float, ports: float) -> None:
    line = fit_utilization_line(rows(TMUX, name), "host CPU")
    assert line
    assert 100 * line[0] == pytest.approx(idle, abs=0.051)
    assert 1e3 * line[1] == pytest.approx(demand, abs=0.0051)
    meter = saturation_by_meter(rows(TMUX, name), "host CPU")
    assert meter
    assert meter.users == pytest.approx(ports, abs=0.5)


def test_queueing_for_the_metered_cpu_does_not_explain_the_response() -> None:
    """S/(1 − U) and a constant of its own miss each configuration by 14, 9, 32 and 16 %, as in modelling.md §2.3.

    The form that is tried here misses them by 30, 12, 24 and 14 %: its constants are shared as those of the station
    that fits are, S is ΣU/ΣX, and U is that of the model at the load, instead of the line's S and each row's U.
    """
    choice = choose_model(rows(TMUX))
    assert choice
    (metered,) = choice.rejected
    assert metered.form.name == "metered stations"
    found = [misfit_of_queueing(rows(TMUX, name), metered) for name in CONFIGURATIONS]
    assert [each for each, _ in found] == pytest.approx([14.0, 9.3, 32.1, 16.4], abs=0.06)
    assert [each for _, each in found] == pytest.approx([29.5, 11.9, 24.2, 13.8], abs=0.06)


def misfit_of_queueing(points: Sequence[Point], metered: FittedModel) -> tuple[float, float]:
    """The mean absolute error of R₀ + S/(1 − U), and of the fitted form, in percent."""
    line = fit_utilization_line(points, "host CPU")
    assert line
    measured = [measured_response(point) for point in points]
    queueing = [line[1] / (1 - point.utilizations["host CPU"].value) for point in points]
    constant = (sum(measured) - sum(queueing)) / len(points)
    by_law = [constant + each for each in queueing]
    return mape(by_law, measured), mape([metered.response(point.at) for point in points], measured)


# Emacs: the arithmetic of the script


def of_script(keys: float, waits: float, think: float, wait: float, users: int) -> float:
    """Characters a second and user, of a script whose waits take so long."""
    at = Conditions("", users, think / keys, 0.5, known_delay=waits * wait / keys)
    return choose_known().best.throughput(at) / users


def test_the_script_alone_gives_the_rate_of_one_user() -> None:
    (one,) = rows(EMACS, "1 user")
    assert one.throughput
    assert choose_known().best.throughput(one.at) == pytest.approx(1.607, abs=5e-4)
    assert choose_known().best.throughput(one.at) == pytest.approx(one.throughput.value, rel=0.01)


def test_waits_that_thirty_five_users_need() -> None:
    """The memo's waits leave more than the reported .9 characters a second. With ^g as a key the script has 1415."""
    script = Transcript.parse(read_historical(EMACS))
    waits, think, plain = (script.quantity(name).value for name in ("waits", "think", "keys"))
    keys = plain + waits - 2
    assert (keys, waits, think) == (1415, 67, 165)
    assert of_script(keys, waits, think, 0.0, 1) == pytest.approx(1.62, abs=0.005)
    assert of_script(plain, waits, think, 0.0, 1) == pytest.approx(1.61, abs=0.005)
    (queue,) = rows(EMACS, "35, queue by Little")
    by_queue = (queue.at.known_delay or 0) * plain / waits
    assert by_queue == pytest.approx(5.53, abs=0.01)
    rates = [of_script(keys, waits, think, wait, 35) for wait in (by_queue, 6.35, 7.0, 10.4)]
    assert rates == pytest.approx([1.14, 1.09, 1.05, 0.90], abs=0.006)
    assert errors(rates[:3], [0.9] * 3) == pytest.approx([26, 21, 17], abs=0.6)


def test_demands_of_one_user_do_not_predict_thirty_five() -> None:
    """CPU time holds, disk accesses do not, because memory is shared: every model from one user predicts 1.6."""
    one, many = rows(EMACS, "by demands")
    assert choose_model([one]) is None, "a CPU that is 2 % busy does not tell what a transaction costs"
    model = fitted(Metered(derive_stations([one], least=0.0)), [one])
    assert model.throughput(many.at) / 35 == pytest.approx(1.55, abs=0.06)
    assert errors(*throughputs(model, [many]))[0] > 70
    accesses = [p.utilizations["the disks"].value / p.throughput.value for p in (one, many) if p.throughput]
    assert accesses[1] / accesses[0] > 20
