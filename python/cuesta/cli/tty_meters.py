"""`cuesta meters --front-end RUN`: shows the built-in host's `tty_meters` and `ic_sample` that a run recorded."""

from dataclasses import asdict
from pathlib import Path

from cuesta.analysis.front_end import derive_front_end
from cuesta.analysis.planned import read_planned, write_swept_value
from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit, InputError
from cuesta.ledger import Recorded, open_run
from cuesta.ledger.meters import Metered
from cuesta.report import profile
from cuesta.report.front_end import text


def carry_out(folder: Path, where: str | None) -> int:
    """Show the front end's figures for each step of a run."""
    check_json(where)
    recorded = open_run(folder)
    by_step = {number: derive_front_end(recorded, step) for number, step in recorded.steps.items()}
    reports = {number: report for number, report in by_step.items() if report}
    if not reports:
        raise InputError(f"{folder}: the built-in host recorded no meters there", "only runs at `host:` have them")
    texts = (text(report) + ic_sample(recorded.metered, number) for number, report in reports.items())
    titles = (heading(recorded, number) if len(reports) > 1 else "" for number in reports)
    say("\n\n".join(map("".join, zip(titles, texts, strict=True))), where)
    write_json(where, [{"step": number, **asdict(report)} for number, report in reports.items()])
    return Exit.GOOD


def heading(recorded: Recorded, number: int) -> str:
    """The number of a step and what the sweep changes in it."""
    of_step = read_planned(recorded, number)
    swept = (f"{name} {write_swept_value(name, value)}" for name, value in (of_step.swept if of_step else {}).items())
    return f"step {number + 1}: {', '.join(swept)}\n"


def ic_sample(metered: Metered, number: int) -> str:
    """Where the host's CPU time went in a step, if it was sampled."""
    listing, report = metered.profiles.get(number), metered.reports.get(number)
    return f"\n\n{profile.text(listing, report)}" if listing and report else ""
