"""Commands that run modules of Cuesta in processes of their own."""

import sys


def module_command(module: str, *arguments: str) -> tuple[str, ...]:
    """The command for a module. It searches no modules in the current folder (`-P`), which may have a `json.py`."""
    return (sys.executable, "-P", "-m", module, *arguments)
