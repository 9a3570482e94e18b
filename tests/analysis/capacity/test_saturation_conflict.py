"""Saturation points that disagree: on the TMux tables of 1993 as typed, and on simulated sweeps."""

from pathlib import Path

import pytest

from cuesta.analysis.capacity.findings import describe_saturation_conflict
from cuesta.analysis.predict.saturation import find_conflicts, saturations_by_meters, saturations_by_response
from cuesta.analysis.summary import summarise
from cuesta.report.run_report import text
from tests.analysis.capacity.simulated import Load, write
from tests.analysis.predict.seeds import TMUX, rows


@pytest.mark.parametrize(("protocol", "response", "meter"), [("telnet", "32.0", "39.8"), ("in-kernel", "29.4", "83.5")])
def test_the_tmux_tables_hide_the_station_that_limits_them(protocol: str, response: str, meter: str) -> None:
    points = rows(TMUX)
    found = find_conflicts(saturations_by_response(points), saturations_by_meters(points), points)
    (each,) = (each for each in found if each.response.at.configuration == protocol)
    assert str(describe_saturation_conflict(each.response.users, each.meter.by, each.meter.users, "ports")) == (
        f"CONFLICT: the response says that a station saturates at {response} ports, host CPU says {meter}: the station "
        "that limits it is not metered; meter the driver and what stands between it and the host, such as a terminal "
        "server next"
    )


def test_a_meter_that_saturates_long_before_the_response_has_other_work() -> None:
    said = str(describe_saturation_conflict(80.0, "CPU of the host", 30.0))
    assert said.endswith("that meter has other work too; meter whose work CPU of the host does next")


def test_a_sweep_shows_where_meters_saturate(tmp_path: Path) -> None:
    loads = [Load(users=users, think=1.0, service=0.05) for users in (2, 8, 16, 30, 40)]
    said = " ".join(text(summarise(write(tmp_path / "run", loads)), colour=False, verbose=True).split())
    assert "saturates by the built-in host's servers at " in said
    assert "where the response says so: cuesta predict" in said
