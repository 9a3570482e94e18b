"""`cuesta run`: users type at a host, and a summary says what came of it."""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from cuesta import engine
from cuesta.cli.dry_run import plan_data, show_plan
from cuesta.cli.interrupts import interrupts
from cuesta.cli.output import check_json, say, write_json
from cuesta.engine.folder import write_json as record_json
from cuesta.engine.meter_source import why_untraced
from cuesta.errors import Exit, UsageError
from cuesta.live import watching
from cuesta.plan import RawOptions, load
from cuesta.plan.load import SETTINGS

NAME = "run"
HELP = "emulate users who type at a host, and measure"
ABOUT = """Users play a tape at a target: a ramp in which they start one after another, a settling time, a measurement
interval. With neither tape nor plan it is the main job: 96 users on telnet lines at 4800 baud type at the
built-in host, which runs in a process of its own.

Settings: default < cuesta.toml and plan < environment (CUESTA_USERS, CUESTA_MEASURE, ...) < flag.
Durations are written 200ms, 2s, 15m; distributions `exp 5s`, `uniform 1s 3s`, `lognormal 2s 0.5`."""
EXAMPLES = """examples:
  cuesta run                                           the main job, about 45 s
  cuesta run --users 400 --measure 1m --limit 'response.p99 < 2s'
  cuesta run login.tape --target telnet://127.0.0.1:2323 --data users.csv
  cuesta run typist.tape --load paced:200ms --host service=echo --host delay=5ms
  cuesta run nightly.toml --dry-run                    what it would do, and how long it takes
  cuesta run bash.cast --target pty:bash               a recording, with its think times; paced: at its own instants
  cuesta run nightly.toml --cast                       and write what user 0 sees, to be watched
  cuesta run --json - --quiet | jq .response.p99

What a plan may say is in docs/plan.md, the words of tapes in docs/tape.md."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("file", nargs="?", metavar="TAPE|PLAN", help="a tape, or a plan (a file that ends in .toml)")
    settings = parser.add_argument_group("what is run (each overrides the plan)")
    for name, (metavar, meaning) in SETTINGS.items():
        flag = f"--{name.replace('_', '-')}"
        if metavar.startswith("["):
            settings.add_argument(flag, nargs="?", const="0", metavar=metavar[1:-1], help=meaning)
        elif metavar:
            settings.add_argument(flag, metavar=metavar, help=meaning)
        else:
            settings.add_argument(flag, action=argparse.BooleanOptionalAction, help=meaning)
    settings.add_argument("--limit", action="append", dest="limits", metavar="EXPR", help="what a good run keeps")
    settings.add_argument(
        "--host", action="append", metavar="KEY=VALUE", help="a setting of the built-in host, such as service=echo"
    )
    results = parser.add_argument_group("what comes of it")
    results.add_argument("--out", type=Path, metavar="DIR", help="the run folder; by default runs/NAME-DATE-TIME")
    results.add_argument("--json", metavar="FILE|-", help="write the summary as one object; - = standard output")
    results.add_argument("--dry-run", action="store_true", help="show what would be done; contact nothing")
    results.add_argument("--quiet", action="store_true", help="show no progress")


def carry_out(arguments: argparse.Namespace) -> int:
    """Run it, record it, sum it up."""
    check_json(arguments.json)
    job = engine.prepare(load(_given(arguments), Path.cwd()))
    if arguments.dry_run:
        if arguments.json != "-":
            say(show_plan(job), arguments.json)
        write_json(arguments.json, plan_data(job))
        return Exit.GOOD
    for said in () if arguments.quiet else beforehand(job):
        print(f"cuesta: {said}", file=sys.stderr)
    with interrupts() as stopping, watching(arguments.quiet) as look:
        ran = engine.run(job, arguments.out, look, stopping)
        # Within the block: what was measured is kept, and so summed up, whatever comes meanwhile.
        code = _sum_up(ran, arguments.json)
        return Exit.INTERRUPTED if stopping.is_set() else code


def beforehand(job: engine.Job) -> Iterator[str]:
    """Say what is to be known before the run: what tapes note, and which meters cannot be had."""
    yield from (f"{tape.name}: {note}" for tape in job.tapes.values() for note in tape.notes)
    meters = job.plan.settings.meters
    if untraced := why_untraced(meters):
        yield f"--meters {meters}: not traced: {untraced}"


def _sum_up(ran: engine.RunResult, json_where: str | None) -> int:
    """Derive, write and print the summary; the exit code says the worst."""
    from cuesta import analysis, report  # noqa: PLC0415, late because plots are slow to load

    summary = analysis.summarise(ran.folder)
    record_json(ran.folder / "summary.json", summary.json())
    say(report.text(summary), json_where)
    write_json(json_where, summary.json())
    report.html({ran.folder.name: summary}, ran.folder / "report.html")
    for failure in ran.failures:
        print(f"cuesta: {failure}", file=sys.stderr)
    if not summary.valid:
        return Exit.INVALID
    return Exit.GOOD if summary.limits_ok else Exit.LIMIT


def _given(arguments: argparse.Namespace) -> RawOptions:
    plan = Path(arguments.file) if arguments.file and arguments.file.endswith(".toml") else None
    tape = None if plan else arguments.file
    flags = {name: value for name in (*SETTINGS, "limits") if (value := getattr(arguments, name)) is not None}
    if arguments.host:
        flags["host"] = dict(_assignment(text) for text in arguments.host)
    return RawOptions(plan, tape, flags, dict(os.environ))


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            f"--host: expected KEY=VALUE, got {text!r}", "for example --host service=echo --host delay=5ms"
        )
    return key.strip(), value.strip()
