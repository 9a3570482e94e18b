"""`python -m cuesta` is the command `cuesta`, and so is what the wheel installs under that name."""

import os
import signal
import sys

INTERRUPTED = 105
"""`cuesta.errors.Exit.INTERRUPTED`, which is not imported yet where it is needed."""


def main() -> int:
    """Run the command line; give the exit code.

    Python that is interrupted while it imports prints a traceback through some module. So until the verb is
    loaded Ctrl-C ends the process: nothing has been started by then.
    """
    signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(INTERRUPTED))
    from cuesta import cli  # noqa: PLC0415

    return cli.main(loaded=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


if __name__ == "__main__":
    sys.exit(main())
