"""`cuesta meters --front-end RUN`: shows the built-in host's `tty_meters` that a run recorded. It meters nothing."""

from dataclasses import asdict
from pathlib import Path

from cuesta.analysis.front_end import front_end
from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit, InputError
from cuesta.ledger import open_run
from cuesta.report.front_end import text


def carry_out(folder: Path, where: str | None) -> int:
    """Show the front end's figures for each step of a run."""
    check_json(where)
    recorded = open_run(folder)
    by_step = {number: front_end(recorded, step) for number, step in recorded.steps.items()}
    reports = {number: report for number, report in by_step.items() if report}
    if not reports:
        raise InputError(f"{folder}: the built-in host recorded no meters there", "only runs at `host:` have them")
    titles = (f"step {number + 1}\n" if len(reports) > 1 else "" for number in reports)
    texts = (title + text(report) for title, report in zip(titles, reports.values(), strict=True))
    say("\n\n".join(texts), where)
    write_json(where, [{"step": number, **asdict(report)} for number, report in reports.items()])
    return Exit.GOOD
