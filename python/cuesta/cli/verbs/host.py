"""`cuesta host`: its help and its arguments."""

import argparse

from cuesta.cli.verbs.flags import HOST
from cuesta.target import LOOPBACK

ABOUT = """Runs the front-end terminal server that `cuesta run` types at by default. First it prints its addresses,
one on each line. It runs until Ctrl-C (or, with --attached, until standard input ends). If any user
connected, it then prints three figures of its front end; --tty-meters prints all of them."""


EXAMPLES = """examples:
  cuesta host                                          on any free port
  cuesta host --listen telnet://127.0.0.1:2300 --listen tcp://127.0.0.1:2301
  cuesta host --service 'shell bash -i'
  cuesta host --service-time 'exp 5ms' --servers 4     a host of known capacity: 800 transactions/s
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments: one for each setting of the plan's `[host]`."""
    parser.add_argument(
        "--listen",
        action="append",
        metavar="URL",
        help=f"the address to listen at; may be repeated; by default telnet://{LOOPBACK}:0, for the service `form` "
        "tn3270://, for `bsc-loop` bsc://",
    )
    parser.add_argument(
        "--allow",
        action="append",
        metavar="FROM-CIDR",
        help="take lines only from this network (10.1.2.0/24); may be repeated; a shell needs it beyond loopback",
    )
    for name, (value, meaning) in HOST.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar=value, help=meaning.replace("%", "%%"))
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of the service times")
    parser.add_argument("--meters", metavar="DIR", help="write a row of its own meters to DIR/series.jsonl each second")
    parser.add_argument(
        "--tty-meters", action="store_true", help="at the end print all of the front end's meters, in the form of 1979"
    )
    parser.add_argument("--attached", action="store_true", help="end when standard input ends")
