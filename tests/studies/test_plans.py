"""Reads the plans of all studies."""

from pathlib import Path

import pytest

from cuesta.ledger.historical import is_historical
from cuesta.plan import RawOptions, load

STUDIES = Path(__file__).parents[2] / "studies"
UNPUBLISHED = {
    "mcs/saturation",
    "ssh-servers/plan",
    "ssh-servers/short",
    "ssh-servers/logins",
    *(f"login-node/{plan}" for plan in ("plan", "short", "owner")),
    *(f"web-terminals/{plan}" for plan in ("plan", "short", "logins", "stalls")),
    *(f"tmux/{plan}" for plan in ("holds", "event-loop", "in-kernel-controls")),
}
"""Plans of what has not been published elsewhere."""
PLANS = sorted(file for file in STUDIES.glob("*/*.toml") if not is_historical(file))


@pytest.mark.parametrize("plan", PLANS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_plans_of_studies_are_valid(plan: Path, here: Path) -> None:
    plan_of_study = load(RawOptions(plan=plan), here)
    settings = plan_of_study.settings
    is_published = bool(settings.published or settings.published_table)
    assert is_published == (f"{plan.parent.name}/{plan.stem}" not in UNPUBLISHED)
    if plan.stem == "short":
        whole = sum(step.settings.settle + step.settings.measure for step in plan_of_study.steps)
        assert whole < 60 * 10**9
