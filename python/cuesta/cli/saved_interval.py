"""`cuesta meters --reset` and `--report`: an interval that begins in one command and ends in a later one.

The kernel's counters run from boot and are never reset. So `--reset` saves a reading in the caller's own file, and
`--report` takes the difference to it: callers do not disturb one another.
"""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cuesta import _native
from cuesta.engine.local.meter_process import Meters
from cuesta.errors import CuestaError, InputError
from cuesta.private_files import replace_private

NOT_SAMPLED = (
    "nothing samples between two commands: `cuesta meters` samples for the 5 s that it runs, "
    "`cuesta meters INTERVAL 1 --json` for an interval"
)
"""Why the report of such an interval has no causes of CPU time."""


@dataclass(frozen=True, slots=True)
class SavedInterval:
    """One caller's interval of one subject."""

    file: Path

    @classmethod
    def at(cls, file: Path | None, subject: str) -> "SavedInterval":
        """The interval in `file`, by default in the file of the caller's session and subject."""
        if file:
            return cls(file)
        state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        return cls(Path(state) / "cuesta" / "meters" / f"{_session()}-{quote(subject, safe='')}.json")

    def write(self, reading: str) -> None:
        """Begin an interval: write the reading to the file, atomically."""
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_private(self.file, reading)
        except OSError as error:
            raise CuestaError(f"{self.file}: cannot save the reading: {error.strerror}", "--since FILE") from None
        self._forget_others()

    def json_report(self, meters: Meters) -> dict[str, Any]:
        try:
            reading = self.file.read_text(encoding="utf-8")
            json_report: dict[str, Any] = json.loads(meters.report(reading))
        except FileNotFoundError:
            remedy = "`cuesta meters --reset` begins one"
            raise InputError(f"{self.file}: you have not begun an interval", remedy) from None
        except OSError as error:
            raise InputError(f"{self.file}: cannot be read: {error.strerror}") from None
        except ValueError as error:
            what = f"{self.file}: not a reading that `cuesta meters --reset` wrote ({error})"
            raise InputError(what, "`cuesta meters --reset` begins a new one") from None
        except _native.RunError as error:
            raise InputError(f"{self.file}: {error}", "`cuesta meters --reset` begins a new one") from None
        json_report["by_cause"] = {"why": NOT_SAMPLED}
        return json_report

    def _forget_others(self) -> None:
        """Delete files of sessions whose leader has ended, but not the caller's own, which may outlive its leader."""
        own = _session()
        for file in self.file.parent.glob("session-*-*.json"):
            leader = file.name.split("-")[1]
            # In a container, the leader of a session that was started outside of it is 0: /proc has no such entry.
            if (
                leader.strip("0").isdigit()
                and not Path("/proc", leader).exists()
                and not file.name.startswith(f"{own}-")
            ):
                with suppress(OSError):
                    file.unlink()


def _session() -> str:
    """The caller's session: its leader and the leader's start time, because process numbers are reused."""
    leader = os.getsid(0)
    try:
        stat = Path("/proc", str(leader), "stat").read_text(encoding="utf-8", errors="replace")
        return f"session-{leader}-{stat.rpartition(')')[2].split()[19]}"
    except OSError:
        return f"session-{leader}-0"
