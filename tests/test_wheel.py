"""A wheel contains the compiled tracers, which match the source, so that installing it needs no compiler."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILDS = 1800
"""Seconds that Cargo may take where nothing is built yet."""


@pytest.mark.nightly
@pytest.mark.timeout(BUILDS)
def test_a_wheel_traces_without_clang() -> None:
    """The script tests it in a fresh environment that has no other programs; needs root."""
    ran = subprocess.run([ROOT / "scripts" / "wheel", "--dev"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    rows = ran.stdout.splitlines()
    assert any(row.endswith("bytes in the module match their source") for row in rows)
    assert any(re.match(r"Python 3\.\d+\S+: works \(traced\)", row) for row in rows)
    made = rows[-1]
    names = zipfile.ZipFile(ROOT / made.removeprefix("wheel: ")).namelist()
    assert [name for name in names if name.startswith("cuesta.libs/libelf-")], (
        "the wheel must contain what the tracers need"
    )


@pytest.mark.timeout(BUILDS)
@pytest.mark.parametrize(
    ("built_in", "text"),
    [
        ("b'of another source'", "the tracers in the module do not match their source"),
        ("None", "the module has no tracers"),
    ],
)
def test_a_module_built_from_other_source_is_detected(tmp_path: Path, built_in: str, text: str) -> None:
    package = tmp_path / "cuesta"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "_native.py").write_text(f"def tracer_objects():\n    return {built_in}\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{tmp_path}" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    command = [ROOT / "scripts" / "tracer", python]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert text in ran.stderr
