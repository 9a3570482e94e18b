"""`cuesta certify`: its help and its arguments."""

import argparse
from pathlib import Path

ABOUT = """Each user starts a process on a terminal (pty:COMMAND) or on pipes (pipe:COMMAND), waits for its first
prompt (process creation), meets the others at a barrier, pauses, and plays a script of commands (command
sequence). That is done at least 5 times, behind a run that warms up; a run that is invalid does not count
and is made again.

What comes of it is a folder with the runs and record.json: the form of MPL-17 (1969) with hashes of all raw files.
The grade is `certified` only if all checks hold, steal of the hypervisor included; else it says why not. A plan
with several groups gives a certification of each."""


EXAMPLES = """examples:
  cuesta certify studies/certification/short.toml           4 users on terminals, then 12 on pipes
  cuesta certify release.toml --runs 9 --comment 'with the new allocator'
  cuesta certify release.toml --reference certified/8.0     and its performance relative to that system
  cuesta certify --absentee studies/benchmark/short.toml    20 batch processes: one number, and whether to believe it
  cuesta certify certified/8.1                              show the form again, derived anew
  cuesta certify --verify certified/8.1                     do hashes, figures and raw files agree
  cuesta certify --verify studies/certification/published.toml   a table of 1969: does it agree with itself
  cuesta certify certified/8.1 --sign ~/.ssh/id_ed25519     and --verify … --signers allowed_signers

What the figures are, and what a tape for it has to say, is in docs/certify.md.
Exit codes: 0 good, 1 failed or --verify found something wrong, 2 usage, 92 a reference of another script,
97 too few runs counted, 104 bad plan or record, 105 interrupted."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", type=Path, metavar="PLAN|FOLDER|TABLE", help="a plan; or a certification to be shown")
    runs = parser.add_argument_group("what is certified")
    runs.add_argument("--runs", type=int, metavar="N", help="runs that count (5)")
    runs.add_argument("--absentee", action="store_true", help="a benchmark of batch processes: its elapsed time")
    runs.add_argument("--system", metavar="NAME", help="what is certified; by default this machine's system by name")
    runs.add_argument("--reference", type=Path, metavar="FOLDER", help="a certification to be compared with")
    runs.add_argument("--profile", type=Path, metavar="FILE", help="of the service (cuesta meters --record)")
    runs.add_argument(
        "--comment", action="append", default=[], metavar="TEXT", help="goes into part VI; as often as wanted"
    )
    results = parser.add_argument_group("what comes of it")
    results.add_argument("--out", type=Path, metavar="DIR", help="the folder; by default runs/NAME-DATE-TIME")
    results.add_argument("--sign", type=Path, metavar="KEY", help="sign the record with an SSH key")
    results.add_argument("--json", metavar="FILE|-", help="write the record as one object; - = standard output")
    results.add_argument("--dry-run", action="store_true", help="show what would be run and how long it takes")
    results.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument(
        "--verify", action="store_true", help="hold a certification, a run or a typed table against itself"
    )
    parser.add_argument("--signers", type=Path, metavar="FILE", help="with --verify: who may have signed it")
