"""`cuesta run`: its help and its arguments."""

import argparse

from cuesta.cli.verbs.setting_flags import add_output, add_settings

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

The last row of the summary says what limits the host, or that nothing does (docs/capacity.md); --verbose has why.
What a plan may say is in docs/plan.md, the words of tapes in docs/tape.md."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="TAPE|PLAN", help="as --tape, or a plan (a file that ends in .toml)")
    settings = parser.add_argument_group("what to run (each overrides the plan)")
    add_settings(settings, {})
    settings.add_argument(
        "--limit",
        action="append",
        dest="limits",
        metavar="EXPR",
        help="a limit, such as 'response.p99 < 2s'; exit 99 if crossed",
    )
    # For programs: `--engine ssh:…` starts this on each node.
    parser.add_argument("--as-node", action="store_true", help=argparse.SUPPRESS)
    add_output(parser, "the summary as one object, in which steps count from 0")
