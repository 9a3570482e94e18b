"""`cuesta check`: its help and its arguments."""

import argparse

ABOUT = """Parses a tape or a plan, with everything that the plan names, and prints how Cuesta reads it.
An error has its row, column and a hint; the exit code is then 104. Nothing is contacted."""


EXAMPLES = """examples:
  cuesta check login.tape                the commands, as Cuesta reads them
  cuesta check login.tape --json -       the same as data
  cuesta check nightly.toml              the plan with its steps, and every tape in it
  cuesta check vim                       a tape that ships with Cuesta (cuesta tapes)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="TAPE|PLAN", help="a tape, or a plan (a file that ends in .toml)")
    parser.add_argument("--json", metavar="FILE|-", help="write it as data; - = standard output")
