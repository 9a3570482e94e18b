"""The command `cuesta`, also run by `python -m cuesta`."""

import gc
import os
import signal
import sys

INTERRUPTED = 105
"""`cuesta.errors.Exit.INTERRUPTED`; the signal handler is set before that module is imported."""


def main() -> int:
    """Run the command line and return its exit code.

    Python prints a traceback if it is interrupted during an import. So until the verb is loaded, Ctrl-C ends the
    process at once: nothing has been started by then.
    """
    signal.signal(signal.SIGINT, lambda _signal, _frame: os._exit(INTERRUPTED))
    gc.disable()  # modules stay for good: to look for garbage among them costs a tenth of a second
    from cuesta import cli  # noqa: PLC0415

    return cli.main(loaded=_end_loading)


def _end_loading() -> None:
    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    sys.exit(main())
