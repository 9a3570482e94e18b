"""Uses an installed wheel as its first user would. scripts/wheel runs it in another folder, by the Python that has it.

Ends with one row: what importing and help take. The traced tier is tried only as root, and the row says whether it was.
"""

import json
import os
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import cuesta

SMALL = ("--users", "2", "--settle", "0s", "--measure", "2s", "--quiet")


INVALID = 97
"""The exit code of a run on a machine that is too busy: the wheel works nevertheless."""


def command(*arguments: str, also: int = 0) -> str:
    """Run `cuesta` with arguments and return what it prints; `also` is an exit code that is good as well."""
    ran = subprocess.run([sys.executable, "-m", "cuesta", *arguments], capture_output=True, text=True, check=False)
    assert ran.returncode in {0, also}, f"cuesta {' '.join(arguments)}: {ran.stderr}"
    return ran.stdout


def milliseconds(*lines: str) -> float:
    """How long lines of Python take in a new process without Python's own start; the shortest of seven."""
    timed = "\n".join(("import sys, time", "begin = time.perf_counter()", *lines, "took = time.perf_counter() - begin"))
    command = [sys.executable, "-c", f"{timed}\nprint(took, file=sys.stderr)"]
    ran = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(7))
    return min(1000 * float(each.stderr) for each in ran)


def check_files() -> None:
    assert cuesta.__file__.startswith(sys.prefix), f"imported from elsewhere, not from the wheel: {cuesta.__file__}"
    assert files("cuesta.report").joinpath("render", "vega.js.gz").is_file(), "the wheel cannot draw plots"
    assert command("--version").strip() == f"cuesta {cuesta.__version__}"
    assert any(tape["word"] == "interactive" for tape in json.loads(command("tapes", "--json", "-"))["tapes"])
    assert "Transaction" in command("check", "builtin:interactive")


def run_by_command(meters: str) -> None:
    """Run the tape that ships with Cuesta at the built-in host."""
    flags = (*SMALL, "--meters", meters, "--out", "by-command", "--json", "-")
    summary = json.loads(command("run", *flags, also=INVALID))
    assert summary["echo"]["count"] > 0, summary
    assert Path("by-command", "report.html").stat().st_size > 100_000


def run_by_library() -> None:
    run = cuesta.run(users=2, settle="0s", measure="2s", out="by-library")
    assert run.echo.count > 0, run


def check_plugin() -> None:
    """pytest finds the plugin by itself."""
    Path("test_host.py").write_text(
        'def test_host(cuesta): assert cuesta("host:", tape="interactive", settle="1s", measure="2s").echo.count\n'
    )
    tests = [sys.executable, "-m", "pytest", "-q", "--cuesta-undecided", "pass", "test_host.py"]
    ran = subprocess.run(tests, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def check_tracer() -> None:
    waits = json.loads(command("meters", "--exact", "300ms", "1", "--json"))["idle"]["page_wait"]
    assert waits.get("tier") == "exact", f"not traced: {waits.get('why')}"


def main() -> None:
    is_root = os.geteuid() == 0
    check_files()
    if is_root:
        check_tracer()
    run_by_command("exact" if is_root else "plain")
    run_by_library()
    check_plugin()
    imported = milliseconds("import cuesta")
    helped = milliseconds("from cuesta.cli.main import top_parser", "print(top_parser().format_help())")
    traced = "traced" if is_root else "not traced, for want of root"
    version = sys.version.split()[0]
    print(
        f"Python {version}: works ({traced}); beyond Python's own start "
        f"`import cuesta` takes {imported:.0f} ms, `cuesta --help` {helped:.0f} ms"
    )


main()
