"""A disk that fills up during a run: what was kept is summed up, and what could not be written is named."""

import subprocess
import sys
from pathlib import Path

import pytest

from cuesta.errors import Exit

RUN = "run --users 4 --settle 500ms --measure 2s --meters plain --quiet --out {disk}/run"
SCRIPT = "mount -t tmpfs -o size={size}k none {disk} && exec {python} -m cuesta {run}"


def run_on_a_disk_of(size: int, disk: Path) -> subprocess.CompletedProcess[str]:
    """Run in a mount namespace of its own. `size`: of the disk there, in KiB."""
    disk.mkdir()
    script = SCRIPT.format(size=size, disk=disk, python=sys.executable, run=RUN.format(disk=disk))
    return subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("size", [24, 60])
def test_a_full_disk_ends_with_the_summary_of_what_was_kept(tmp_path: Path, size: int) -> None:
    """The smaller one has no room for the records, the larger one none for what is derived from them."""
    ended = run_on_a_disk_of(size, tmp_path / "disk")
    assert "Traceback" not in ended.stderr
    assert "4 users at the built-in host" in ended.stdout
    assert "VALIDITY" in ended.stdout
    assert "not written: summary.json: No space left on device; report.html: No space left on device" in ended.stderr
    assert "make room, then: cuesta report" in ended.stderr
    assert ended.returncode in {Exit.FAILED, Exit.INVALID}
    if size == 24:
        assert ended.returncode == Exit.INVALID
        assert "the record is cut off" in ended.stdout
