"""`cuesta compare`: tells whether the new system is faster or slower than the base, as far as the runs can show."""

import argparse
import os
from pathlib import Path

from cuesta.analysis.compare.comparison import Terms
from cuesta.cli import compare_versions
from cuesta.cli.compare_versions import show_folder
from cuesta.cli.control import control_run
from cuesta.cli.interrupts import catch_interrupts
from cuesta.cli.options import percentage, plan_options
from cuesta.cli.output import check_json, say, write_json
from cuesta.engine.folder import check_empty, new_folder
from cuesta.errors import Exit, UsageError
from cuesta.ledger.versions import is_versions
from cuesta.line_kinds import is_target
from cuesta.terminal import inform
from cuesta.workflow.compare_runs import Comparison, check_terms, compare_folders, compare_pairs
from cuesta.workflow.compare_versions import MARGIN
from cuesta.workflow.run_pairs import prepare_pairs, run_pairs
from cuesta.workflow.service_profile import ServiceComparison, compare_with_service

OF_TARGETS = ("tape", "budget", "figure", "data", "build", "beside", "sessions", "sessions_tape")
"""Flags that only targets have."""
EXAMPLE = "as --compensation response.p95=0.97"


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    if arguments.revisions or any(map(is_target, arguments.folders)):
        _refuse(arguments, "profile", "interleave", "pairs", "step", "compensation", reason="not with targets")
        return compare_versions.carry_out(arguments)
    _refuse(arguments, *OF_TARGETS, reason="for targets that are compared: cuesta compare TARGET TARGET")
    arguments.folders = [Path(folder) for folder in arguments.folders]
    if programs := [folder for folder in arguments.folders if folder.is_file() and os.access(folder, os.X_OK)]:
        what = f"cuesta compare: {programs[0]} is a program, and no run folder"
        raise UsageError(what, f"compare programs as targets: 'pty:{programs[0]}'")
    if len(arguments.folders) == 1 and is_versions(arguments.folders[0]):
        return show_folder(arguments.folders[0], arguments)
    _refuse(arguments, "markdown", reason="for two versions: cuesta compare TARGET TARGET")
    step = _step(arguments.step)
    if arguments.profile:
        _insist_on_profile(arguments)
        return _show(compare_with_service(arguments.profile, _folders(arguments, 1)[0], step), arguments.json)
    terms = _terms(arguments)
    if arguments.interleave:
        _folders(arguments, 0)
        return _interleave(arguments, terms, step)
    if arguments.pairs or arguments.out or arguments.quiet:
        raise UsageError("cuesta compare: --pairs, --out and --quiet need --interleave", "leave them out")
    if len(arguments.folders) == 1:
        return _show(compare_pairs(arguments.folders[0], terms, step), arguments.json)
    base, new = _folders(arguments, 2)
    return _show(compare_folders(base, new, terms, step), arguments.json)


def _refuse(arguments: argparse.Namespace, *names: str, reason: str) -> None:
    """Raise UsageError for flags that do not belong to what is compared."""
    if flags := [f"--{name.replace('_', '-')}" for name in names if getattr(arguments, name)]:
        what = f"cuesta compare: {', '.join(flags)}: {reason}"
        raise UsageError(what, "leave it out, or see `cuesta compare --help`")


def _interleave(arguments: argparse.Namespace, terms: Terms, step: int | None) -> int:
    """Make the pairs, then compare them."""
    if arguments.out:
        check_empty(arguments.out)
    base, new = (plan_options(plan, arguments) for plan in arguments.interleave)
    planned = prepare_pairs(base, new, Path.cwd(), arguments.pairs, terms)
    for row in planned.announcement():
        inform(row)
    folder = arguments.out or new_folder(Path(), "compare")
    with catch_interrupts() as stopping, control_run(arguments, stopping, "comparison", folder) as control:
        folder = run_pairs(planned, folder, step, control)
    code = _show(compare_pairs(folder, terms, step), arguments.json)
    say(f"\nRUNS       {folder}", arguments.json)
    return Exit.INTERRUPTED if stopping.is_set() else code


def _show(comparison: Comparison | ServiceComparison, where: str | None) -> int:
    say(comparison.text(colour=None), where)
    write_json(where, comparison.json())
    return comparison.exit


def _folders(arguments: argparse.Namespace, number: int) -> list[Path]:
    folders: list[Path] = arguments.folders
    if len(folders) != number:
        what = {
            0: "no folders with --interleave, which makes them",
            1: "one run folder",
            2: "two folders, BASE and NEW, or one of pairs",
        }
        raise UsageError(f"cuesta compare: expected {what[number]}, got {len(folders)}", "`cuesta compare --help`")
    return folders


def _insist_on_profile(arguments: argparse.Namespace) -> None:
    """Raise UsageError for flags that need two sides to compare."""
    others = ("margin", "despite", "compensation", "interleave", "pairs", "out", "quiet")
    if flags := [f"--{name}" for name in others if getattr(arguments, name)]:
        remedy = "leave out the one or the other: cuesta compare --profile FILE RUN"
        raise UsageError(f"cuesta compare: {', '.join(flags)}: not with --profile, which compares no sides", remedy)


def _terms(arguments: argparse.Namespace) -> Terms:
    margin = percentage(arguments.margin or MARGIN, "cuesta compare: --margin", MARGIN)
    return check_terms(Terms(margin, arguments.despite, dict(map(_compensation, arguments.compensation))))


def _step(text: str | None) -> int | None:
    if text is not None and not (text.isdigit() and int(text) > 0):
        remedy = "steps count from 1 here and in reports, from 0 in JSON and SQL"
        raise UsageError(f"cuesta compare: --step: expected a number from 1, got {text!r}", remedy)
    return None if text is None else int(text) - 1


def _compensation(text: str) -> tuple[str, float]:
    name, _, factor = text.rpartition("=")
    try:
        return name, float(factor)
    except ValueError:
        raise UsageError(f"cuesta compare: --compensation: expected FIGURE=RATIO, got {text!r}", EXAMPLE) from None
