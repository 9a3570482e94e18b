"""How long an agent has said nothing while it runs. All times are in nanoseconds, instants on the engine's clock."""

STALLED = 1_500_000_000
"""Without a word for so long, an agent on another machine, which reports four times a second, counts as stalled. One on
this machine competes with the engine for the same CPUs: how late its keys are tells more."""
LOST = 5_000_000_000
"""Without a word for so long, any is given up."""
STARTING = 60_000_000_000
"""The same before it has reported, and once its users have ended: on a busy machine agents start and end slowly."""


class Silence:
    """Of one agent. One thread hears it, another looks."""

    def __init__(self, *, is_remote: bool) -> None:
        self._too_long = STALLED if is_remote else LOST
        self._heard_at: int | None = None
        """None unless it runs."""
        self._now = 0
        """How long it had said nothing at the last look."""
        self._is_driving = False
        self.longest = 0
        """Of the silences that were too long while it drove users; 0 if none was."""

    def begin(self, at: int) -> None:
        """Its users start."""
        self._heard_at = at

    def hear(self, at: int) -> None:
        """It has said something."""
        self._heard_at = self._heard_at and at

    def end(self) -> None:
        """Nothing more is expected of it."""
        self._heard_at = None

    def look(self, now: int, *, is_driving: bool) -> int:
        """Returns how long it had said nothing, if that was too long and it speaks again; else 0.

        `is_driving`: it has reported, and not yet that its users have ended.
        """
        before, self._now = self._now, now - (self._heard_at or now)
        self._is_driving = is_driving
        if not is_driving:
            return 0
        if self._now >= self._too_long:
            self.longest = max(self.longest, self._now)
        return before if self._now < before >= self._too_long else 0

    def why_lost(self) -> str | None:
        """Why it is given up, at the last look; None if it is not."""
        if self._now < (LOST if self._is_driving else STARTING):
            return None
        return f"said nothing for {self._now / 1e9:.1f} s: it was stopped, or its link was cut"
