"""Cuesta: how many people can use this system at once, and how will it feel to type on it?

`cuesta.run("edit.tape", target="pty:./mytui", limits=["echo.p95 < 50ms"])` measures; so do `cuesta.search` and its kin
below (docs/python.md). Python prepares runs and reads their records; it is never on the path of a keystroke.

- `cli`: the command `cuesta`, one file per verb: flags in, text and exit codes out.
- `workflow`: what each verb does, from settings to a finished folder.
- `records`: the rows of run folders, as types made from the Rust declarations.
- `figures`: the catalogue: every number that Cuesta gives, declared once.
- `plan`: reads plans from TOML, environment and flags.
- `engine`: turns a plan into a run folder.
- `ledger`, `analysis`, `report`: read a run folder, derive from it, show it.
- `live`: shows the progress of a run; `publish`: passes it on to other programs; `site`: pages in a browser.
- `pytest_plugin`: tests that fail if a program became slow to type at.
- `target`: the syntax of targets; `line_kinds`: the table of kinds of lines, from the Rust half.
- `shipped_tapes`: the tapes that ship with Cuesta, each named by a word.
- `errors`: the exceptions and the exit codes; `validation`: says what is wrong with a value that a schema refuses.
- `terminal`: the one file that prints; `full_screen`: a program that has all of a terminal for a while; `plain_text`,
  `json_text`: text of any origin without control characters.
- `private_files`: writes what only its owner may read; `foreign_files`: reads what others wrote, up to a limit.
- `units`: writes figures for people; `columns`: pads, cuts and wraps text for a terminal.
- `marked_tables`: renews the generated tables of documents.
- `module_command`: the command that runs a module of Cuesta in a process of its own.
- `machine`: describes this machine, for the record.
- `revisions`: checks two revisions of a program out, and builds them.
- `_native`: the Rust half.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes as long to load as all that `--version` needs
    from cuesta import errors
    from cuesta.workflow.certify_system import Certification
    from cuesta.workflow.check_tape import Check
    from cuesta.workflow.compare_runs import Comparison
    from cuesta.workflow.compare_versions import Versions
    from cuesta.workflow.find_limit import Search
    from cuesta.workflow.library import (
        certify,
        check,
        compare,
        compare_versions,
        open,  # noqa: A004, used as `cuesta.open`
        predict,
        query,
        run,
        search,
        tapes,
    )
    from cuesta.workflow.predict_loads import Prediction
    from cuesta.workflow.run_result import Run

__all__ = [
    "Certification",
    "Check",
    "Comparison",
    "Prediction",
    "Run",
    "Search",
    "Versions",
    "certify",
    "check",
    "compare",
    "compare_versions",
    "errors",
    "open",
    "predict",
    "query",
    "run",
    "search",
    "tapes",
]


def __getattr__(name: str) -> object:
    """Load the library when it is first used: the command loads only what a verb needs."""
    if name not in __all__:
        raise AttributeError(f"module `cuesta` has no `{name}`")
    from importlib import import_module  # noqa: PLC0415

    if name == "errors":
        return import_module("cuesta.errors")
    return getattr(import_module("cuesta.workflow.library"), name)
