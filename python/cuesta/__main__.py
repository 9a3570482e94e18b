"""`python -m cuesta` is the command `cuesta`, and so is what the wheel installs under that name."""

import os
import signal
import sys

INTERRUPTED = 105
"""`cuesta.errors.Exit.INTERRUPTED`, which is not imported yet where it is needed."""


def main() -> int:
    """Carry out the command line; give the exit code.

    Python interrupted while it imports prints a traceback through whatever module it was in, so until the verbs are
    there Ctrl-C ends the process: nothing has been started by then.
    """
    signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(INTERRUPTED))
    from cuesta import cli  # noqa: PLC0415

    signal.signal(signal.SIGINT, signal.default_int_handler)
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
