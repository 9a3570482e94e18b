import re
from pathlib import Path

from cuesta.plan.schema import Validity

CROWD = Path(__file__).parents[2] / "crates" / "cuesta-bench" / "src" / "crowd.rs"


def test_the_benchmark_of_the_driver_uses_the_thresholds_of_a_plan() -> None:
    of_the_bench = dict(re.findall(r"^const (\w+): f64 = (.+);$", CROWD.read_text(encoding="utf-8"), re.MULTILINE))
    default = Validity()
    thresholds = {
        "LATENESS_P99": default.lateness_p99 / 1e9,
        "DRIVER_CPU": default.driver_cpu,
        "RUN_WAIT": default.run_wait,
        "ECHO_MISMATCHES": default.echo_mismatches,
    }
    assert {name: float(of_the_bench[name]) for name in thresholds} == thresholds
