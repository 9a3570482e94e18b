"""`cuesta report`: shows one or several runs, or certifications, from the records in their folders."""

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit, InputError, UsageError
from cuesta.ledger.certification import is_certification, open_certification
from cuesta.units import many

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    _check_outputs(arguments)
    certified = [is_certification(folder) for folder in arguments.folders]
    if all(certified):
        _show_systems(arguments)
    elif any(certified):
        raise UsageError("runs and certifications cannot share a page", "give only runs or only certifications")
    else:
        _show_runs(arguments)
    return Exit.GOOD


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Raise UsageError if two outputs would go to standard output, or one goes to no file."""
    if arguments.markdown and arguments.json == "-":
        raise UsageError("cuesta report: --markdown and --json - both want standard output", "--json FILE")
    if arguments.markdown and arguments.out:
        raise UsageError("cuesta report: --out names a page, and --markdown writes none", "--markdown > FILE")
    if str(arguments.junit) == "-":
        raise UsageError("cuesta report: --junit: expected a file, got '-'", "--junit /dev/stdout")


def _show_runs(arguments: argparse.Namespace) -> None:
    from cuesta.analysis.summary import summarise  # noqa: PLC0415, late because plots are slow to load
    from cuesta.report import several  # noqa: PLC0415
    from cuesta.report.junit import write_junit  # noqa: PLC0415

    _suggest_runs_below(arguments.folders)
    summaries = [summarise(folder) for folder in arguments.folders]
    runs = dict(zip(several.name_runs(arguments.folders), summaries, strict=True))
    if arguments.markdown:
        say(several.markdown(runs).rstrip("\n"), arguments.json)
    if arguments.junit:
        write_junit(runs, arguments.junit)
    write_json(arguments.json, _object([run.json() for run in summaries]))
    if _wants_page(arguments):
        file = _file(arguments, "report.html")
        several.write_page(runs, file)
        _print_with_page(_text(runs, arguments.verbose), file, arguments)


def _suggest_runs_below(folders: Iterable[Path]) -> None:
    """Raise InputError for a folder that is no run but has runs in it, as one from a colleague may be."""
    for folder in folders:
        runs = [] if (folder / "run.json").exists() else sorted(folder.glob("*/run.json"))
        if runs:
            raise InputError(
                f"{folder}: not a run folder: there is no run.json in it",
                f"it has {many(len(runs), 'run')} in it: cuesta report {folder}/*",
            )


def _text(runs: Mapping[str, "Summary"], verbose: bool) -> str:
    from cuesta.report.run_report import text  # noqa: PLC0415

    if len(runs) == 1:
        return text(next(iter(runs.values())), verbose=verbose)
    return "\n".join(f"{'VALID' if run.valid else 'INVALID'}  {name}" for name, run in runs.items())


def _show_systems(arguments: argparse.Namespace) -> None:
    from cuesta.analysis.certify.record import derive_record  # noqa: PLC0415
    from cuesta.report import several  # noqa: PLC0415
    from cuesta.report.systems import write_systems  # noqa: PLC0415

    if arguments.markdown or arguments.junit:
        remedy = f"give the runs in it, for example {arguments.folders[0]}/run-*"
        raise UsageError("--markdown and --junit are for runs, and this is a certification", remedy)
    records = [derive_record(open_certification(folder)) for folder in arguments.folders]
    names = several.name_runs(arguments.folders)
    write_json(arguments.json, _object([record.model_dump(mode="json") for record in records]))
    if _wants_page(arguments):
        file = _file(arguments, "record.html")
        write_systems(dict(zip(names, zip(arguments.folders, records, strict=True), strict=True)), file)
        grades = (f"{record.grade.upper()}  {name}" for name, record in zip(names, records, strict=True))
        _print_with_page("\n".join(grades), file, arguments)


def _wants_page(arguments: argparse.Namespace) -> bool:
    return bool(arguments.out or not (arguments.markdown or arguments.junit or arguments.json))


def _file(arguments: argparse.Namespace, name: str) -> Path:
    """The page's file: by default in the folder shown, or in the current folder if there are several."""
    (first, *more), out = arguments.folders, arguments.out
    return out or (Path("report.html") if more else first / name)


def _print_with_page(what: str, file: Path, arguments: argparse.Namespace) -> None:
    say(f"PAGE       {file}", arguments.json)
    say(what, arguments.json)


def _object(runs: list[dict[str, object]]) -> dict[str, object]:
    """The JSON of one run; of several runs, an object with the list of theirs."""
    return runs[0] if len(runs) == 1 else {"runs": runs}
