"""A host that shows each printable key after `--seconds`, and answers a row at once when it ends."""

import argparse
from pathlib import Path

from tests.hosts.behaviour import PROMPT, Behaviour
from tests.hosts.commands import answer_to

SECONDS = 0.05
"""Seconds for a key, by default."""


def serve(host: Behaviour, seconds: float) -> None:
    """Echo each key late, in order, and answer each row with a text and a prompt."""

    def show(key: bytes) -> None:
        host.pause(seconds)
        host.echo(key)

    for row in host.rows(show):
        host.echo(b"\r\n")
        host.write(answer_to(row), "answer")
        host.write(PROMPT, "prompt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    arguments = parser.parse_args()
    serve(Behaviour(arguments.log), arguments.seconds)
