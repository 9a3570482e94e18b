"""Runs that a test's target describes, so that nothing has to be waited for: `pty:echo=4ms lost`.

`echo=` is the echo of its keys, by default 4 ms; `keys=` how many are timed. `lost`: the program lost its line.
`stolen`: the hypervisor took CPU time; `stolen-once`: only in the first run.
`red`: it has a control sequence of the terminal in its command.
"""

import random
from itertools import count
from pathlib import Path
from typing import Any

import cuesta
from cuesta import _native, machine
from cuesta.workflow.run_result import Run
from tests.run_folder import RunFolder, edit_run

MEASURED = list[dict[str, Any]]()
"""The settings of each run."""
MINUTES = count()
"""When runs started: no two at once, because that would be a copy."""


def make_run(tape: object = None, /, *, here: Path, out: Path, **settings: Any) -> Run:
    """What `cuesta.run` does, with the same arguments."""
    MEASURED.append({"tape": tape, "here": here, **settings})
    words = dict.fromkeys(settings["target"].removeprefix("pty:").split(), "")
    given = {name: value for name, _, value in (word.partition("=") for word in words)}
    seed = settings.get("seed", 1)
    dice = random.Random(seed)
    echo = _native.duration(given.get("echo", "4ms")) / 1e9
    is_stolen = "stolen" in words or ("stolen-once" in words and seed == 1)
    folder = RunFolder(
        out,
        limits=settings["limits"],
        histograms=[
            ("interactive/keys/echo", [echo * dice.uniform(1.0, 1.02) for _ in range(int(given.get("keys", 50)))])
        ],
        lost=range(4) if "lost" in words else (),
        steal=50.0 if is_stolen else None,
    ).write()
    with edit_run(folder) as run:
        run |= {"seed": seed, "machine": machine.facts(), "started": f"2026-11-21T01:{next(MINUTES):02}:00Z"}
        if "red" in words:
            run["steps"][0]["group"][0]["target"] = "pty:\x1b[31mapp"
            run["host"] = {"builtin": False, "targets": ["pty:\x1b[31mapp"]}
    (folder / "report.html").write_text("the page")
    return cuesta.open(folder)
