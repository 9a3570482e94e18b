"""The command `cuesta`, one file per verb: `run`, `host`, `meters`, `record`, `check`.

Results go to standard output, everything else to standard error. The exit codes are `cuesta.errors.Exit`.
"""

from cuesta.cli.main import main

__all__ = ["main"]
