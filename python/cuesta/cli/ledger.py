"""`cuesta ledger`: lists certified systems and their goals, queries all runs, and checks historical tables."""

import argparse
from pathlib import Path

from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit, UsageError
from cuesta.report import identities
from cuesta.workflow.list_systems import list_systems
from cuesta.workflow.verify import check_tables


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    _check_flags(arguments)
    places = arguments.what or [Path()]
    if arguments.check:
        return _check(arguments.what, arguments.json)
    if arguments.tables or arguments.sql is not None:
        from cuesta.cli import sql  # noqa: PLC0415  it loads DuckDB, which no other mode needs

        return sql.tables(arguments.json) if arguments.tables else sql.ask(places, arguments)
    return _ledgers(places, arguments)


def _check_flags(arguments: argparse.Namespace) -> None:
    """Raise UsageError for flags that cannot be combined."""
    if sum([arguments.check, arguments.tables, arguments.sql is not None]) > 1:
        raise UsageError("cuesta ledger: --sql, --tables and --check cannot be combined", "give one of them")
    if arguments.sql is None and (arguments.csv or arguments.parquet or arguments.database):
        raise UsageError(
            "cuesta ledger: --csv, --parquet and --database go with --sql", "for example: --sql 'from steps'"
        )
    if (arguments.check or arguments.tables or arguments.sql is not None) and (
        arguments.base is not None or arguments.goal is not None
    ):
        raise UsageError("cuesta ledger: --base and --goal apply only to the list of systems", "leave them out")
    if arguments.parquet and (arguments.csv or arguments.json):
        raise UsageError(
            "cuesta ledger: --parquet cannot be combined with --csv or --json", "run the query once for each"
        )
    if arguments.csv and arguments.json == "-":
        raise UsageError("cuesta ledger: --csv and --json - both want standard output", "--json FILE")


def _ledgers(places: list[Path], arguments: argparse.Namespace) -> int:
    systems = list_systems(places, arguments.base, arguments.goal)
    if arguments.json != "-":
        say(systems.text(), arguments.json)
    write_json(arguments.json, systems.json())
    return Exit.GOOD


def _check(places: list[Path], where: str | None) -> int:
    """Check that tables typed from documents satisfy their identities."""
    if not places:
        raise UsageError("cuesta ledger --check: expected files with typed tables", "cuesta ledger --check FILE.toml …")
    results = check_tables(places)
    if where != "-":
        say("\n\n\n".join(identities.text(each) for each in results), where)
    write_json(where, {"checked": [identities.data(each) for each in results]})
    return Exit.FAILED if any(each.unexplained for each in results) else Exit.GOOD
