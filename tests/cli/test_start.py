"""Modules that may load before the work begins: others make `--version` and `--help` slow."""

import json
import subprocess
import sys

import pytest

from cuesta.analysis.certify.grade import LEAST_RUNS
from cuesta.cli.main import VERBS
from cuesta.cli.parser import Parser
from cuesta.cli.verbs import certify, compare, flags
from cuesta.plan.document import FLAGS, flags_module
from cuesta.plan.schema import Host
from cuesta.workflow.run_pairs import PAIRS

AT_START = {"cuesta", "cuesta.__main__", "cuesta.cli", "cuesta.cli.main", "cuesta.cli.parser", "cuesta.errors"}
AT_START |= {"cuesta.plain_text", "cuesta.terminal"}
FOR_HELP = AT_START | {"cuesta.cli.verbs", "cuesta.cli.verbs.flags", "cuesta.cli.verbs.setting_flags", "cuesta.target"}
SLOW = {"asyncio", "ctypes", "email", "http", "logging", "multiprocessing", "socket", "subprocess", "typing"}
"""Modules of the standard library that take as long as all that is needed."""


def loaded(*arguments: str) -> set[str]:
    """The modules that a command line loads, beyond those of every Python."""
    code = """
import atexit, json, sys
before = set(sys.modules)
sys.argv[0] = "cuesta"
from cuesta.__main__ import main
atexit.register(lambda: print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr))
main()
"""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def others(modules: set[str]) -> set[str]:
    return {module for module in modules if module.partition(".")[0] not in sys.stdlib_module_names}


@pytest.mark.parametrize("arguments", ["--version", "--help"])
def test_few_modules_load_at_start(arguments: str) -> None:
    modules = loaded(arguments)
    assert others(modules) <= AT_START
    assert not modules & SLOW


@pytest.mark.parametrize("verb", VERBS)
def test_few_modules_load_for_the_help_of_a_verb(verb: str) -> None:
    modules = loaded(verb, "--help")
    assert others(modules) <= FOR_HELP | {f"cuesta.cli.verbs.{verb}"}
    assert not modules & SLOW - {"typing"}


@pytest.mark.parametrize("verb", ["run", "search"])
def test_a_dry_run_loads_nothing_that_shows_a_report(verb: str) -> None:
    assert not loaded(verb, "--dry-run") & {"markupsafe", "rich.console", "cuesta.report.render"}


def test_a_process_of_a_run_loads_no_library() -> None:
    names = ("agent_process", "host_process", "meter_process", "tmux_process")
    processes = ", ".join(f"cuesta.engine.local.{name}" for name in names)
    code = f"import json, sys, {processes}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = {module.partition(".")[0] for module in others(set(json.loads(done.stdout)))}
    assert modules <= {"cuesta", "_distutils_hack", "sitecustomize", "usercustomize", "__main__"}


def test_the_flags_are_those_of_the_schema() -> None:
    assert FLAGS.read_text(encoding="utf-8") == flags_module(), "renew: python -m cuesta.plan.document docs/plan.md"
    assert set(flags.HOST) == set(Host.model_fields)


def test_the_help_states_the_defaults_of_modules_that_it_does_not_load() -> None:
    assert f"at least {LEAST_RUNS} times" in certify.ABOUT
    parser = Parser("cuesta compare")
    compare.add_arguments(parser)
    assert f"number of pairs; default {PAIRS}," in " ".join(parser.format_help().split())
