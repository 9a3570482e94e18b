"""`cuesta tapes`: its help and its arguments."""

import argparse

ABOUT = """Lists the tapes that ship with Cuesta: what each types, and the target that it is typed at. Wherever a tape
is named, its word names one: `--tape vim`, `tape = "vim"` in a plan. A name with a suffix or a slash is a
file: vim.tape, ./vim."""


EXAMPLES = """examples:
  cuesta tapes                           the list
  cuesta tapes vim                       the tape itself
  cuesta tapes vim > my.tape             a tape of one's own to begin with (docs/tapes.md)
  cuesta run --tape vim --target 'pty:vim -n notes.txt'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("word", nargs="?", metavar="WORD", help="print this tape")
    parser.add_argument("--json", metavar="FILE|-", help="write it as data; - = standard output")
