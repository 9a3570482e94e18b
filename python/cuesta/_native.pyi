"""What Rust gives to Python: text, numbers and bytes in and out, eight classes, never a callback.

Durations are whole nanoseconds, unless a name says seconds. `./scripts/lint` checks this file against the module.
"""

from typing import Literal, final

class TapeError(Exception):
    """A tape that does not parse. The text shows the row, a caret and a hint."""

class RunError(Exception):
    """A run or a host that cannot start, or that failed by the driver's own fault."""

@final
class Tape:
    """A tape, parsed."""

    @staticmethod
    def parse(text: str, name: str, folder: str) -> Tape:
        """Parse `text`; `name` is for messages, `folder` is where the tape's own files are. Raises TapeError."""
    def listing(self) -> str: ...
    def commands(self) -> str:
        """The commands as VHS's parser gives them, with what is known of the script, as JSON."""
    def outline(self) -> list[tuple[str, float | None]]:
        """Each command: its word (`Wait+Bytes` for a wait), and a `Sleep`'s seconds or a `Wait+Bytes`'s characters."""
    def times_echoes(self) -> bool:
        """Whether a setting asks for the echoes of keys to be timed."""
    def notes(self) -> list[str]:
        """What was accepted and ignored."""
    def transactions(self) -> list[str]: ...
    def is_idle(self) -> bool:
        """Whether a pass of it takes no time at all: no key, no pause, nothing waited for."""
    def columns(self) -> list[str]:
        """The columns of users that the tape asks for, in alphabetical order."""

@final
class Cast:
    """A recorded session. It may hold secrets; what it writes and makes does not, unless all is to be kept."""

    @staticmethod
    def read(data: bytes) -> Cast:
        """Read a cast of asciinema, version 1 to 3, up to where it is cut off. Raises ValueError with the row."""
    def tape(self, closed: bool, about: str, keep_all: bool = False) -> str:
        """Make a tape: with waits and think times, or with the recorded instants. Raises ValueError if nobody typed."""
    def written(self, keep_all: bool = False) -> bytes:
        """Give it as a cast of version 2, a marker in the place of each secret."""
    def secrets(self) -> str:
        """Say as JSON what of the input is hidden, and what is kept, without what is hidden."""
    def redacted(self, text: str) -> str:
        """Give a text with columns in the place of what is hidden."""
    @property
    def has_input(self) -> bool: ...
    @property
    def was_stopped(self) -> bool:
        """Say whether recording ended before the host closed the line."""
    @property
    def is_cut(self) -> bool:
        """Say whether the file ended within a row, which is then left out."""
    @property
    def seconds(self) -> float: ...

@final
class Relay:
    """This process's terminal on a line, and what passes recorded. Dropping it ends it and puts the terminal back."""

    @staticmethod
    def start(target: str, terminal: str, command: str, password: str | None = None) -> Relay:
        """Open the line and take the terminal at standard input. Raises RunError."""
    def wait(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for the end; say whether it has come."""
    def stop(self) -> None:
        """Ask for the end: what was recorded is kept."""
    def cast(self) -> Cast:
        """Wait for the end and give what was recorded, once. Raises RunError."""

@final
class RunSpec:
    """What an agent is asked to do."""

    @staticmethod
    def parse(text: str) -> RunSpec:
        """Parse the JSON of a spec. Raises RunError."""
    def prepare_ssh(self) -> None:
        """Have the ssh configuration read for all users, which takes some milliseconds each. Raises RunError."""

@final
class Run:
    """Users at work on threads of their own. Dropping it stops it."""

    @staticmethod
    def start(spec: RunSpec, start_at: int, started_wall: int, tapes: dict[str, Tape], folder: str) -> Run:
        """Start at `start_at` (monotonic ns; `started_wall`: ns since 1970), record into `folder`. Raises RunError."""
    def snapshot(self) -> str:
        """Give the state now as JSON."""
    def wait(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for the end; say whether it has ended. Raises RunError if it failed."""
    def meets_others(self) -> bool:
        """Say whether users wait at barriers for users of other agents."""
    def standings(self) -> str:
        """Give as JSON how it stands at the barriers where that has changed since this was last asked."""
    def release(self, release: str) -> None:
        """Let the users at a barrier go on: JSON `group`, `barrier`, `round` and `go_on` in ns. Raises ValueError."""
    def stop(self) -> None:
        """Ask for the end: what was measured is kept."""

@final
class Host:
    """The built-in host under test, on threads of its own."""

    @staticmethod
    def start(spec: str) -> Host:
        """Start what the JSON `spec` says. Raises RunError."""
    @property
    def addresses(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]:
        """Say who can reach the host, if not this machine alone, and how many lines fit, if that is few."""
    def meters(self) -> str:
        """Give the host's own meters as JSON."""
    def end_row(self) -> None:
        """End the row of its series that is under way. Raises RunError if it cannot be written."""
    def stop(self) -> None: ...

@final
class Meters:
    """A subject that is metered on this machine: `machine`, `pid:N`, `cgroup:PATH` or `cpus:0-3`."""

    @staticmethod
    def start(
        spec: str, *, causes: bool = False, stacks: bool = False, traced: Literal["light", "full"] | None = None
    ) -> Meters:
        """Begin to meter what the JSON `spec` says. Raises ValueError, and RunError if the subject is not there.

        With `causes`, CPU is sampled and split by cause; with `stacks` also kept by location, for `profile`. With
        `traced`, the kernel is traced where that is built in and allowed; sheets say why if not.
        """
    def profile(self, fraction: float, title: str) -> str:
        """Give as JSON where the samples fell up to the last snapshot, since it was last asked for. Raises RunError.

        `listing` has the largest locations, until `fraction` of the busy samples is covered, and all modules; `folded`
        the stacks as text; `flame` a picture (SVG) with a title, empty if nothing was sampled.
        """
    def snapshot(self) -> str:
        """Give the counters as they are now, as JSON, for a later `report`."""
    def report(self, since: str | None = None) -> str:
        """Give as JSON what came since a kept snapshot, or else since the last such report. Raises RunError."""

@final
class Histogram:
    """Counts of durations, 3 significant digits, nanoseconds within, seconds without."""

    @staticmethod
    def decode(data: bytes | str) -> Histogram:
        """Read HdrHistogram V2, compressed or not; a str is base64."""
    def merge(self, other: Histogram) -> None: ...
    def quantile(self, q: float) -> float: ...
    @property
    def count(self) -> int: ...
    @property
    def min(self) -> float: ...
    @property
    def max(self) -> float: ...
    @property
    def mean(self) -> float: ...
    def buckets(self) -> list[tuple[float, int]]:
        """List the non-empty buckets: upper edge in seconds, count."""
    def encode(self) -> bytes: ...

def ssh_preflight(target: str, user: str | None = None, password: str | None = None) -> tuple[list[str], list[str]]:
    """Say what the ssh configuration asks for in vain, and which key files lack their passphrase.

    Nobody is contacted but the agent. Raises RunError when the configuration asks for what cannot be.
    """

def ssh_unlock(file: str, passphrase: str) -> bool:
    """Unlock a key file for the rest of this process; say whether the passphrase was right. Raises RunError."""

def node_exporter_snapshot(text: str) -> str:
    """Read what a node_exporter says into a reading, as JSON. Raises ValueError if it is none."""

def meter_schema() -> str:
    """Give the schema of meter reports as JSON: a list of tables, each after those that it refers to."""

def report_between(earlier: str, later: str) -> str:
    """Give the sheet between two readings, all as JSON. Raises ValueError, RunError if they do not compare."""

def why_untraced(*, of_processes: bool = True) -> str | None:
    """Say why the kernel cannot be traced here; None if it can, as far as is known without trying.

    Within a container the whole machine may be traced where processes (`of_processes`) may not.
    """

def tracer_object() -> bytes | None:
    """Give what runs in the kernel where it is traced, as compiled (ELF); None if that is not built in."""

def distribution(text: str) -> str:
    """A distribution of durations in its one spelling. Raises ValueError."""

def key_distribution(text: str) -> str:
    """A distribution of the gaps between keys in its one spelling. Raises ValueError."""

def duration(text: str) -> int:
    """Read a duration (`200ms`, `15m`) into nanoseconds. Raises ValueError."""

def show_duration(ns: int) -> str:
    """Spell a duration as `duration` reads it."""

def share_interval(share: float, samples: float) -> tuple[float, float]:
    """Give the 95 % interval of a share (0 to 1) that was found in so many samples; of no samples it is everything."""

def line_kinds() -> str:
    """The kinds of lines as JSON: `name`, `syntax`, `port`, `starts_program` and `descriptors` of each."""

def target(text: str) -> str:
    """Give a target's URL in its one spelling. Raises ValueError."""

def probe(target: str, user: str | None = None, password: str | None = None) -> None:
    """Open a line and close it. Raises RunError with why it cannot be opened, and what to do."""

def now() -> int:
    """Give the monotonic clock, which all processes of this machine share."""
