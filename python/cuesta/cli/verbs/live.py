"""`cuesta live`: its help and its arguments."""

import argparse
from pathlib import Path

ABOUT = """Serves pages of what was measured, for a browser: all runs, certifications and comparisons below the
folders, a page for each, several side by side, two compared, the systems, and the ledger's questions. A run
that goes on is shown as far as it has come. A user's recorded session (run --cast) is played beside a chart.

It prints an address, which has a token: only who has the token can look, also on this machine. The
pages only read, load nothing from elsewhere, and each can be stored as one file. Ctrl-C ends it."""


EXAMPLES = """examples:
  cuesta live                                 what is below ./runs, or below this folder if there is no ./runs
  cuesta live certified/ /srv/measurements    below these folders
  cuesta live --at 0.0.0.0:8089               for other machines too: pass the printed address on
  ssh -L 8089:localhost:8089 lab cuesta live  on a machine that only ssh reaches

Without --at it is http://127.0.0.1:8089, or a free port if that one is taken. It is not encrypted: on a
network that others can read, leave it on 127.0.0.1 and go there by ssh. docs/site.md says more."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    where = "folders in which to look; by default `runs`, or this one"
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help=where)
    address = "where to serve, as 127.0.0.1:8089, [::1]:8089 or :0 (a free port)"
    parser.add_argument("--at", metavar="ADDR", help=address)
