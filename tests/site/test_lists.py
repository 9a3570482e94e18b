"""What the lists of runs say of them."""

from pathlib import Path
from typing import Any

import pytest

from cuesta.site.entries import Entry
from cuesta.site.lists import list_runs

KEPT = {"limit": "echo.p95 < 1s", "value": 0.5, "ok": True, "undecided": None}
CROSSED = KEPT | {"value": 2.0, "ok": False}
FEW_VALUES = KEPT | {"ok": False, "undecided": "8 values cannot show it: 45 are needed"}
NOT_MEASURED = KEPT | {"value": None, "ok": False}


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ([KEPT, KEPT], ">kept<"),
        ([KEPT, CROSSED, FEW_VALUES], ">1 of 3 crossed<"),
        ([KEPT, FEW_VALUES, FEW_VALUES], ">2 of 3 not decided<"),
        ([NOT_MEASURED], ">1 of 1 not measured<"),
    ],
)
def test_limits_are_told_as_the_summary_tells_them(limits: list[dict[str, Any]], said: str) -> None:
    summary = {"valid": True, "limits": limits}
    assert said in list_runs([Entry("id", Path("run"), "run", {}, summary, "", "run")])
