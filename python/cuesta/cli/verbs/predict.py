"""`cuesta predict`: its help and its arguments."""

import argparse
from pathlib import Path

ABOUT = """Fits a model of queues to what was measured, and says what other loads would see: throughput and mean
response, each with its 90 % band and the error at rows that were held out of the fit. INPUT is run folders
(runs, sweeps, searches: a row for each step), or a typed table whose [[points]] say which column is what.

The model is the simplest that the rows allow: one station and a delay, by its exact mean response; several
servers, or metered stations; a paced station; the scalability law, for six populations or more. Forms that fit
as well must agree within the margin, else the figure is NOT REPORTED. It says what the prediction rests on,
and where it was never checked. If response and meters disagree on what saturates, it says CONFLICT.

What if: --demand, --servers and --users change the fitted model, and show the new limit beside the old one.
Models give means. --simulate plays the run's own tapes against the fitted model in virtual time, and shows the
percentiles that the model has; whether the host has them must be measured (cuesta search)."""

EXAMPLES = """examples:
  cuesta predict runs/sweep --at users=500,think=5s
  cuesta predict runs/sweep --users 1e6 --servers 2           two servers at the limiting station
  cuesta predict runs/sweep --demand cpu=-20% --limit 'response.mean < 1s'
  cuesta predict runs/sweep --users 500 --simulate --limit 'response.p95 < 2s'
  cuesta predict studies/history/tmux-1993.toml --fit 'ports<=15' --at ports=20,25,30 --check meters
  cuesta predict studies/history/mcs-1979.toml --configuration MR8.0 --fit think=0 --at think=10,5,3,1
  cuesta predict studies/emacs/published.toml --fit none      the arithmetic of the script alone

exit codes: 0 predicted, 92 a figure is not reported or not simulated, too few rows, or a conflict (--check meters)
            2 usage, 104 a folder, a table or a change that cannot be used

docs/predict.md explains the models, the bands and the [[points]] of a table."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("inputs", nargs="+", type=Path, metavar="INPUT", help="run folders, or one typed table")
    asked = parser.add_argument_group("what is asked")
    asked.add_argument(
        "--at",
        action="append",
        default=[],
        metavar="NAME=VALUE,…",
        help="the loads to predict: users, think, keying, cycle, configuration; by default those that were measured",
    )
    asked.add_argument("--users", metavar="N", help="short for --at users=N; may be written 1e6")
    asked.add_argument("--limit", metavar="EXPR", help="how many users keep it: 'response.mean < 1s'")
    asked.add_argument(
        "--configuration", action="append", default=[], metavar="NAME", help="only rows of this configuration"
    )
    fit = parser.add_argument_group("what is fitted")
    fit.add_argument(
        "--fit",
        action="append",
        default=[],
        metavar="CONDITION,…",
        help="only rows that meet these, such as users<=100; the others are held out; none = no row",
    )
    fit.add_argument("--margin", metavar="PERCENT", help="how far forms may differ, and be off rows; default 10%%")
    fit.add_argument("--check", choices=["meters"], help="exit 92 if response and meters disagree on what saturates")
    what_if = parser.add_argument_group("what if")
    what_if.add_argument(
        "--demand",
        action="append",
        default=[],
        metavar="STATION=CHANGE",
        help="another service demand: cpu=-20%% or cpu=12ms",
    )
    what_if.add_argument(
        "--servers",
        action="append",
        default=[],
        metavar="[STATION=]N",
        help="another number of servers; without a name, of the limiting station",
    )
    simulation = parser.add_argument_group("percentiles")
    simulation.add_argument(
        "--simulate",
        action="store_true",
        help="play the run's tapes against the fitted model: p50, p95 and p99; a --limit may then be of a percentile",
    )
    simulation.add_argument("--seed", metavar="S", help="one seed gives one simulation; default 1")
    parser.add_argument("--json", metavar="FILE|-", help="write the prediction as one object; - = standard output")
