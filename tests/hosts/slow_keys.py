"""A host that takes a time, told by `--seconds`, to show a printable key. A row is answered at once when it ends."""

import argparse

from tests.hosts.behaviour import Behaviour

PROMPT = b"$ "


def serve(host: Behaviour, seconds: float) -> None:
    """Show each key late, one after the other, and end each row with an answer and a prompt."""
    host.write(PROMPT, "prompt")
    for key in host.keys():  # noqa: SIM118, it is no dictionary
        if key == b"\r":
            host.write(b"\r\ndone\r\n" + PROMPT, "answered")
        else:
            host.pause(seconds)
            host.write(key, "echoed")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    arguments = parser.parse_args()
    serve(Behaviour(arguments.log), arguments.seconds)
