"""The common part of hosts that do one thing for each row: a prompt, echoed keys, the work, and `done`."""

from collections.abc import Callable

from tests.hosts.behaviour import Behaviour

PROMPT = b"$ "
ANSWER = b"\r\ndone\r\n$ "


def serve(host: Behaviour, work: Callable[[], None]) -> None:
    """Answer each row after the work."""
    host.write(PROMPT, "prompt")
    for key in host.keys():  # noqa: SIM118, not a mapping
        if key == b"\r":
            work()
            host.write(ANSWER, "answer")
        else:
            host.write(key, "echo")
