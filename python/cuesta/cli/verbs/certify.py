"""`cuesta certify`: its help and its arguments."""

import argparse
from pathlib import Path

from cuesta.cli.verbs.setting_flags import add_engine, add_progress

ABOUT = """Each user starts a process on a terminal (pty:COMMAND) or on pipes (pipe:COMMAND), waits for its first
prompt (process creation), meets the others at a barrier, pauses, and plays a script of commands (command
sequence). That is done at least 5 times, after a run that warms up; an invalid run does not count and is
repeated.

It writes a folder with the runs and record.json: the form of MPL-17 (1969) with hashes of all raw files.
The grade is `certified` only if all checks hold, among them the CPU time that the hypervisor took; else
the form says why not. A plan with several groups gives a certification of each."""


EXAMPLES = """examples:
  cuesta certify studies/certification/short.toml           4 users on terminals, then 12 on pipes
  cuesta certify release.toml --runs 9 --comment 'with the new allocator'
  cuesta certify release.toml --reference certified/8.0     and its performance relative to that system
  cuesta certify --absentee studies/benchmark/short.toml    20 batch processes: their elapsed time, and its checks
  cuesta certify certified/8.1                              show the form again, from the raw files
  cuesta certify --verify certified/8.1                     do hashes, figures and raw files agree
  cuesta certify --verify studies/certification/published.toml   a table of 1969: is it consistent
  cuesta certify certified/8.1 --sign ~/.ssh/id_ed25519     and --verify … --signers allowed_signers

docs/certify.md explains the figures, and what a tape for it must contain.

Exit codes: 0 good, 1 failed or --verify found something wrong, 2 usage, 92 a reference of another script,
97 too few runs counted, 104 bad plan or record, 105 interrupted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", type=Path, metavar="PLAN|FOLDER|TABLE", help="a plan, or a certification to show")
    runs = parser.add_argument_group("what to certify")
    runs.add_argument("--runs", type=int, metavar="N", help="number of runs that count; default 5")
    runs.add_argument("--absentee", action="store_true", help="a benchmark of batch processes: its elapsed time")
    runs.add_argument("--system", metavar="NAME", help="name of the system; by default this machine's")
    runs.add_argument("--reference", type=Path, metavar="FOLDER", help="a certification to compare with")
    runs.add_argument(
        "--profile",
        type=Path,
        metavar="FILE",
        help="the profile of a live service, to compare with (cuesta meters record)",
    )
    runs.add_argument(
        "--comment", action="append", default=[], metavar="TEXT", help="a comment for part VI; may be repeated"
    )
    add_engine(runs)
    results = parser.add_argument_group("output")
    results.add_argument("--out", type=Path, metavar="DIR", help="the folder; by default runs/NAME-DATE-TIME")
    results.add_argument("--sign", type=Path, metavar="KEY", help="sign the record with an SSH key")
    results.add_argument("--json", metavar="FILE|-", help="write the record as one object; - = standard output")
    results.add_argument("--dry-run", action="store_true", help="show the runs and how long they take")
    add_progress(results)
    parser.add_argument(
        "--verify",
        action="store_true",
        help="check whether a certification, a run or a typed table agrees with its own raw data",
    )
    parser.add_argument("--signers", type=Path, metavar="FILE", help="with --verify: who may have signed it")
