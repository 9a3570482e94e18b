"""The Rust half, as Python sees it: text, numbers and bytes in and out, eleven classes, never a callback.

Durations are whole nanoseconds, unless a name says seconds. `./scripts/lint` checks this file against the module.
"""

from collections.abc import Sequence
from typing import Literal, final

__all__ = [
    "Cast",
    "Follower",
    "Histogram",
    "Host",
    "Meters",
    "Relay",
    "Run",
    "RunError",
    "RunSpec",
    "Tape",
    "TapeError",
    "Tmux",
    "adopt_orphans",
    "clock_name",
    "distribution",
    "duration",
    "failures",
    "key_distribution",
    "line_kinds",
    "names_secret",
    "node_exporter_snapshot",
    "now",
    "probe",
    "report_between",
    "schema",
    "share_interval",
    "show_duration",
    "simulate",
    "ssh_login_needs",
    "ssh_preflight",
    "ssh_unlock",
    "tag_words",
    "target",
    "tmux_status",
    "tmux_stop",
    "tracer_objects",
    "why_untraced",
]

class TapeError(Exception):
    """A tape that does not parse. The text shows the row, a caret and a hint."""

class RunError(Exception):
    """A run or a host that cannot start, or that failed through a defect of the driver."""

@final
class Tape:
    """A tape, parsed."""

    @staticmethod
    def parse(text: str, name: str, folder: str) -> Tape:
        """Parse `text`; `name` is for messages, `folder` is where the tapes are that it sources. Raises TapeError."""
    @staticmethod
    def assemble(text: str, name: str, sources: dict[str, str]) -> Tape:
        """Parse `text` where its files are not: with the `sources` of the tape that was parsed where they are."""
    def sources(self) -> dict[str, str]:
        """The texts of the tapes that it sources, by the paths as written."""
    def listing(self) -> str: ...
    def commands(self) -> str:
        """The commands in the form of VHS's own parser, with properties of the tape, as JSON."""
    def outline(self) -> list[tuple[str, float | None]]:
        """Each command: its word (`Wait+Bytes` for a wait), and a `Sleep`'s seconds or what a wait counts."""
    def times_echoes(self) -> bool:
        """Whether a setting asks for the echoes of keys to be timed."""
    def answers_outside(self) -> bool:
        """Whether it waits for what answers a key, outside of named transactions."""
    def notes(self) -> list[str]:
        """Commands that were accepted and have no effect, a sentence each."""
    def transactions(self) -> list[str]: ...
    def is_idle(self) -> bool:
        """Whether a pass takes no time at all: no key, no pause, no wait."""
    def columns(self) -> list[str]:
        """The columns of users that the tape asks for, in alphabetical order."""
    def screen_cells(self, columns: int | None = None, rows: int | None = None) -> int:
        """The cells of the screen of a user who plays it; 0 if nothing looks at one. Raises TapeError as `misfit`.

        The size is the given one, else the tape's, else 80 by 24.
        """
    def misfit(self, target: str) -> str | None:
        """Why the tape cannot be played at a target; None if it can. Raises TapeError if a pass is too long."""

@final
class Cast:
    """A recorded session. It may hold secrets; tapes and casts made from it have none, unless `keep_all` is set."""

    @staticmethod
    def read(data: bytes) -> Cast:
        """Read an asciinema cast, version 1 to 3, up to where it is cut off. Raises ValueError with the row."""
    def tape(self, closed: bool, about: str, keep_all: bool = False) -> str:
        """Make a tape: with waits and think times, or with the recorded instants. Raises ValueError if nobody typed."""
    def written(self, keep_all: bool = False) -> bytes:
        """The session as a cast of version 2, with a marker in place of each secret."""
    def secrets(self) -> str:
        """Which parts of the input are hidden and which are kept, as JSON; the hidden text itself is not in it."""
    def redacted(self, text: str) -> str:
        """`text` with a column's name in place of each secret."""
    def frames(self, begin: float, end: float, every: float) -> str:
        """The screens from `begin` to `end` seconds, at most one in `every` seconds, as JSON: `seconds` of the whole
        cast, `frames` with `at`, `size` (columns, rows), `rows` by number as lists of `ScreenSpan`, of the first frame
        all and of others those that have changed, and `cursor`; `markers`, each with its instant. Raises ValueError.
        """
    @property
    def has_input(self) -> bool: ...
    @property
    def is_cut(self) -> bool:
        """Whether the file ended within a row; that row is left out."""
    @property
    def seconds(self) -> float: ...

@final
class Relay:
    """Connects this process's terminal to a line and records both directions. Dropping it restores the terminal."""

    @staticmethod
    def start(target: str, terminal: str, command: str, password: str | None = None) -> Relay:
        """Open the line and take the terminal at standard input. Raises RunError."""
    def wait(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for the end; true if it has come."""
    def stop(self) -> None:
        """Ask for the end; the recording is kept."""
    def cast(self) -> Cast:
        """Wait for the end and take the recording; works once. Raises RunError."""

@final
class RunSpec:
    """An agent's users, groups, timeline and settings."""

    @staticmethod
    def parse(text: str) -> RunSpec:
        """Parse the JSON of a spec. Raises RunError."""
    def prepare_ssh(self) -> None:
        """Read the ssh configuration for all users, some milliseconds each. Raises RunError."""

@final
class Run:
    """Users on threads of their own. Dropping it stops them."""

    @staticmethod
    def start(spec: RunSpec, start_at: int, started_wall: int, tapes: dict[str, Tape], folder: str) -> Run:
        """Start at `start_at` (monotonic ns; `started_wall`: ns since 1970), record into `folder`. Raises RunError."""
    def snapshot(self) -> str:
        """The counts so far, as JSON."""
    def wait(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for the end; true if it has ended. Raises RunError if the run failed."""
    @staticmethod
    def count_removals() -> int:
        """How many sessions of this process have left something at their hosts that is still to be removed."""
    def shares_barriers(self) -> bool:
        """Whether users wait at barriers for users of other agents."""
    def changed_barriers(self) -> str:
        """Barriers whose count of waiting users has changed since the last call, as JSON."""
    def release(self, release: str) -> None:
        """Release the users at a barrier. JSON: `group`, `barrier`, `round`, `go_on` (in ns). Raises ValueError."""
    def announce(self, announcement: str) -> None:
        """Change the schedule of a run whose spec has `most_users`, two seconds ahead. JSON, ns from the start: `step`
        (`begin`, `groups`), `measure` (`settled`, `end`) or `end` (`at`). Raises ValueError, RunError."""
    def watch(self, order: str) -> None:
        """What people look at from now on: a `WatchOrder` as JSON. Raises ValueError."""
    def screens(self) -> str:
        """The screens of the users that are looked at, as JSON: a list of `UserScreen`."""
    def hold_starts(self, hold: bool) -> None:
        """Have users who have not started wait, or start."""
    def stop(self) -> None:
        """Ask for the end; the figures so far are kept."""

@final
class Host:
    """The built-in host under test, on threads of its own."""

    @staticmethod
    def start(spec: str) -> Host:
        """Start the services that the JSON `spec` names. Raises RunError."""
    @property
    def addresses(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]:
        """Sentences: who else can reach the host, and how many lines fit if few do."""
    def meters(self) -> str:
        """The host's own meters as JSON."""
    def end_row(self) -> None:
        """Write the current row of its series now. Raises RunError if it cannot be written."""
    def stop(self) -> None: ...

@final
class Tmux:
    """An agent of TMux in the network namespace of the thread that starts it, on a thread of its own."""

    @staticmethod
    def start(spec: str) -> Tmux:
        """Start the agent that the JSON `spec` describes (docs/tmux.md); it works at once.

        Raises ValueError if other settings would do, else RunError.
        """
    def status(self) -> str:
        """What the agent does and has counted, as JSON. Raises RunError if it has ended."""
    def reset(self) -> str:
        """Begin all counters anew; returns the status before. Raises RunError if it has ended."""
    def wait(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds for the end; true if another process has ended it, or it has failed."""
    def stop(self) -> None:
        """End it and take back all that it set up. Raises RunError if it had failed."""

@final
class Meters:
    """Meters one subject on this machine: `machine`, `pid:N`, `cgroup:PATH` or `cpus:0-3`."""

    @staticmethod
    def start(
        spec: str, *, causes: bool = False, stacks: bool = False, traced: Literal["light", "full"] | None = None
    ) -> Meters:
        """Begin to meter the subject of the JSON `spec`. Raises ValueError, and RunError if there is no such subject.

        With `causes`, CPU time is sampled and divided by cause; with `stacks` also by location, for `profile`. With
        `traced`, the kernel is traced where that is built in and allowed; if not, reports say why.
        """
    def profile(self, fraction: float, title: str) -> str:
        """Samples by location, from the last call up to the last snapshot, as JSON. Raises RunError.

        `listing` has the largest locations, until they cover `fraction` of the busy samples, and all modules; `folded`
        has the stacks as text; `flame` is a picture (SVG) with a title, empty if there were no samples.
        """
    def snapshot(self) -> str:
        """The counters now, as JSON, for a later `report`."""
    def report(self, since: str | None = None) -> str:
        """A report since the snapshot `since`, or since the last report without one, as JSON. Raises RunError."""

@final
class Follower:
    """Follows the keys of probe lines through this machine, in its kernel, until it is dropped."""

    @staticmethod
    def start(*, terminals: bool, from_address: str | None = None) -> Follower:
        """Begin to follow; with `terminals` also keys of this machine's marked terminals. With an address nothing but
        all connections from there, a bastion. Raises RunError, and ValueError if it is no address."""
    def read_rows(self) -> str:
        """Paths that ended since the last call, and counts that changed: rows of `paths.jsonl`. Raises RunError."""

@final
class Histogram:
    """Counts of durations in seconds, 3 significant digits (HdrHistogram)."""

    @staticmethod
    def decode(data: bytes | str) -> Histogram:
        """Read HdrHistogram V2, compressed or not; a str is base64."""
    @staticmethod
    def sum(histograms: Sequence[Histogram]) -> Histogram | None:
        """Add histograms up into a new one, exactly; None if there are none."""
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
        """The non-empty buckets: upper edge in seconds, count."""
    def encode(self) -> bytes: ...

def schema() -> str:
    """What is recorded and metered, as JSON: a list of tables, each after those that it refers to."""

def tag_words() -> tuple[list[tuple[str, str]], list[str]]:
    """The words of which tags of durations are made.

    First the sources that are no transactions, by their names in code; then what the names of a wait's series end in.
    """

def simulate(spec: str, tapes: dict[str, Tape]) -> tuple[str, dict[str, Histogram]]:
    """Play users at a host that is a model, in virtual time; may take long, and is not interrupted. Raises RunError.

    JSON in (`docs/simulation.md`): `run` (a run's spec), `host` (its stations), `batches`. Returns figures as JSON, by
    step, and the histograms of the measurement intervals by `STEP/GROUP/SOURCE/SERIES`.
    """

def ssh_login_needs(target: str, row: dict[str, str]) -> tuple[str | None, list[str]]:
    """The `HOST:PORT` that a user's connection is opened to, None if a command connects; and what it misses here.

    Missing are files that the target names. It contacts the ssh agent only. Raises RunError as `ssh_preflight`.
    """

def ssh_preflight(target: str, row: dict[str, str]) -> tuple[list[str], list[str]]:
    """Settings of the ssh configuration that have no effect, and key files whose passphrase is missing, for a user.

    It contacts the ssh agent only. Raises RunError when the configuration asks for something impossible.
    """

def ssh_unlock(file: str, passphrase: str) -> bool:
    """Unlock a key file for the rest of this process; false if the passphrase is wrong. Raises RunError."""

def node_exporter_snapshot(text: str) -> str:
    """Convert the metrics page of a node_exporter into a snapshot, as JSON. Raises ValueError if it is no such page."""

def report_between(earlier: str, later: str) -> str:
    """The meter report between two snapshots, all as JSON. Raises ValueError, and RunError if they do not compare."""

def why_untraced(*, of_processes: bool = True) -> str | None:
    """Why the kernel cannot be traced here; None if it can, as far as is known without trying.

    In a container, tracing the whole machine may work where tracing processes (`of_processes`) does not.
    """

def tracer_objects() -> bytes | None:
    """The tracers for the kernel, compiled, one behind the other (ELF); None if they are not built in."""

def tmux_status() -> str:
    """What the agent of TMux in this network namespace does and has counted, as JSON. Raises RunError."""

def tmux_stop() -> str:
    """End the agent of TMux in this network namespace; returns its last status as JSON. Raises RunError.

    If there is only what a killed one has left behind, this is removed, and the status is `null`.
    """

def distribution(text: str) -> str:
    """A distribution of durations in its canonical spelling. Raises ValueError."""

def key_distribution(text: str) -> str:
    """A distribution of the gaps between keys in its canonical spelling. Raises ValueError."""

def duration(text: str) -> int:
    """Read a duration (`200ms`, `15m`) into nanoseconds. Raises ValueError."""

def show_duration(ns: int) -> str:
    """A duration as text that `duration` reads."""

def share_interval(share: float, samples: float) -> tuple[float, float]:
    """The 95 % interval of a share (0 to 1) measured by `samples` samples; (0, 1) without samples."""

def line_kinds() -> str:
    """The kinds of lines as JSON: `name`, `syntax`, `port`, `starts_program` and `descriptors` of each."""

def failures() -> dict[str, str]:
    """What happened, by the names under which failures of hosts and lines are counted."""

def names_secret(name: str) -> bool:
    """Whether something of this name is a secret: a variable, an option, a field or a column."""

def target(text: str) -> str:
    """A target's URL in its canonical spelling. Raises ValueError."""

def probe(target: str, row: dict[str, str]) -> None:
    """Open a line as a user, and close it. Raises RunError with the reason why it cannot be opened, and a hint."""

def adopt_orphans() -> None:
    """Make this process the parent of processes that its descendants leave behind. Raises RunError if that fails."""

def now() -> int:
    """The monotonic clock in ns. Instants of processes can be compared if their clocks have one name."""

def clock_name() -> str | None:
    """The name of the monotonic clock: the machine's boot and the time namespace. None if `/proc` does not tell."""
