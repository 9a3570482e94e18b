"""The schema of plans, with a default and a meaning for every setting.

`Settings` is a parsed plan file; `sweep` and `load` make steps and segments of it. Each field's description is its row
in docs/plan.md.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from cuesta.plan.engine_place import EnginePlace
from cuesta.plan.fields import (
    ALWAYS,
    PER_STEP,
    Baud,
    Bytes,
    Count,
    DistributionText,
    DriverSetting,
    Duration,
    EchoMap,
    EngineText,
    Flag,
    FollowedUsers,
    Key,
    KeyDistributionText,
    KeyRate,
    LimitText,
    Load,
    LoadText,
    Meters,
    Name,
    OffOrCommand,
    OffOrDuration,
    Path,
    Seed,
    ServiceText,
    Share,
    Size,
    StallText,
    Stamps,
    Switch,
    Syntax,
    Target,
    UserNumber,
    Users,
)
from cuesta.plan.followed_users import check_group, resolve_path
from cuesta.plan.published import PlanTable, PublishedFigure, PublishedTable
from cuesta.target import BUILTIN_HOST

MILLISECOND = 1_000_000
SECOND = 1000 * MILLISECOND
BUILTIN_TAPE = "builtin:interactive"


def flags(*models: type[BaseModel]) -> dict[str, tuple[str, str]]:
    """The settings that have a flag: name → its value's name in `--help`, and its help (see `Flag`)."""
    table = {}
    for name, field in (each for model in models for each in model.model_fields.items()):
        for flag in (each for each in field.metadata if isinstance(each, Flag)):
            table[name] = (flag.value, flag.meaning or str(field.description))
    return table


def driver_settings(model: type[BaseModel], driver: DriverSetting) -> tuple[str, ...]:
    """Names of the settings that the driver receives, always or per step."""
    return tuple(name for name, field in model.model_fields.items() if driver in field.metadata)


class Group(PlanTable):
    """Users who play one tape. A setting at the top of the plan applies to all groups."""

    name: Name = Field("users", description="the group's name in the records")
    tape: Annotated[Path, Flag("TAPE", "the tape: a word, such as vim (`cuesta tapes` lists them), or a file")] = Field(
        BUILTIN_TAPE, description="the tape that they play: a word (docs/tapes.md), or a file; relative to the plan"
    )
    users: Annotated[
        Users, Flag("N[,N…]", "how many users; 10,50 is a sweep; groups share them in the plan's proportion"), PER_STEP
    ] = Field(1, description="number of users")
    sessions: Annotated[
        Count | None, Flag("N[,N…]", "sessions at once: the users' own, which are typed at, and others that stream")
    ] = Field(
        None,
        description="sessions at once: the users' own, and others that play `sessions_tape`, in the background, as a "
        "group `others`: docs/beside.md",
    )
    sessions_tape: Annotated[
        Path | None, Flag("TAPE", "what the other sessions play; by default, at a shell, a stream of rows")
    ] = Field(
        None,
        description="the tape of the other sessions, which starts their output and then only reads: a word, or a file "
        "relative to the plan; by default, at a shell, a stream of rows",
    )
    background: Switch | None = Field(
        None,
        description="whether these users are in the background: they are in no figure of all users, only in rows of "
        "their own group",
    )
    role: Literal["load", "probe"] | None = Field(
        None,
        description="`load` if none is given; `probe` = a few users apart, in driver processes of their own: their "
        "figures are quoted beside those of all others, to tell a loaded driver from a loaded host: docs/probe.md",
    )
    nodes: Count | None = Field(
        None, description="with `role` `probe`: on how many of the plan's nodes these users are; 1 if none is given"
    )
    target: Annotated[
        Target,
        Flag("URL", "what to type at: host: (the built-in one), tcp://H:P, telnet://H:P, ssh://USER@H, pty:COMMAND, …"),
    ] = Field(BUILTIN_HOST, description="the host that they type at; `host:` starts the built-in host")
    load: Annotated[
        LoadText,
        Flag("LOAD", "closed, paced:CYCLE or open:RATE"),
        PER_STEP,
    ] = Field(
        Load("closed"),
        description="when the next input is due: after the think time (closed), once a cycle (paced), "
        "at a rate of inputs or `:sessions` over all users of the group (open)",
    )
    align: Annotated[OffOrDuration, PER_STEP] = Field(
        None,
        description="a grid for a paced load, the same for all users: each pass is due at a multiple of it; it divides "
        "the cycle",
    )
    think: Annotated[
        DistributionText | None,
        Flag("DISTRIBUTION", "think time, such as 'exp 5s'"),
        PER_STEP,
    ] = Field(None, description="think time instead of the tape's own")
    key_rate: Annotated[
        KeyRate | None,
        Flag("CPS", "keys a second"),
        PER_STEP,
    ] = Field(None, description="typing rate instead of the tape's own")
    key_law: Annotated[KeyDistributionText | None, PER_STEP] = Field(
        None, description="distribution of the gaps between keys instead of the tape's own"
    )
    line_speed: Annotated[
        Baud | None,
        Flag("BAUD", "speed of the lines in bits a second; 0 = as fast as the line goes"),
        ALWAYS,
    ] = Field(None, description="speed of the lines, 10 bits a character, instead of the tape's own")
    stagger: Annotated[
        Duration,
        Flag("D"),
        PER_STEP,
    ] = Field(50 * MILLISECOND, description="time between the starts of two users")
    data: Annotated[Path | None, Flag("CSV", "users, one a row, for ${column} in the tape")] = Field(
        None, description="CSV of users for `${column}` in the tape, one row a user; relative to the plan"
    )
    columns: Annotated[
        Size | None,
        ALWAYS,
    ] = Field(None, description="width of the terminals instead of the tape's own")
    rows: Annotated[
        Size | None,
        ALWAYS,
    ] = Field(None, description="height of the terminals instead of the tape's own")

    @property
    def probe_nodes(self) -> int:
        """How many nodes hold it as a probe."""
        return (self.nodes or 1) if self.is_probe else 0

    @property
    def is_probe(self) -> bool:
        return self.role == "probe"


OF_ONE_GROUP = ("name", "role", "nodes")
"""Settings that stand in a group's own table alone: at the top of a plan, `name` and `nodes` are the plan's."""
SHARED_BY_GROUPS = tuple(name for name in Group.model_fields if name not in OF_ONE_GROUP)
"""Settings that apply to all groups if they stand at the top of a plan."""


class Host(PlanTable):
    """The built-in host, when it is the target."""

    service: Annotated[ServiceText | None, Flag("SERVICE")] = Field(
        None, description="what the host does with input; by default what fits the tape"
    )
    input: Annotated[Literal["canonical", "raw"] | None, Flag("HOW")] = Field(
        None, description="whole rows with erase and kill, or single keys; by default what the service expects"
    )
    erase: Key = Field("#", description="the key that deletes the key before it")
    kill: Key = Field("@", description="the key that deletes the row")
    echo: Annotated[Switch | None, Flag("true|false")] = Field(
        None,
        description="whether keys are echoed; by default they are with canonical input, unless the service is `echo`",
    )
    echo_map: EchoMap | None = Field(None, description="the character that each key is echoed as")
    service_time: Annotated[DistributionText | None, Flag("DISTRIBUTION")] = Field(
        None, description="service time of a transaction at a server"
    )
    servers: Count = Field(1, description="number of transactions served at once")
    delay: Duration | None = Field(None, description="exact delay of every answer, such as 5ms")
    stall: Annotated[StallText | None, Flag("WINDOW")] = Field(
        None, description="a window in which the host does nothing"
    )
    pool: Bytes = Field(16 << 20, description="buffers of all lines together, in bytes")
    threads: Count = Field(1, description="threads, one core each")
    path: Annotated[Literal["user", "kernel"], Flag("WHICH")] = Field(
        "user",
        description="the way between a line and the program of the service `socket`: through the host, or within the "
        "kernel (root)",
    )


class Validity(PlanTable):
    """The validity thresholds: a run beyond any of them is INVALID."""

    lateness_p99: Duration = Field(
        10 * MILLISECOND,
        description="largest 99th percentile of the keys' lateness; of fewer than 100 keys, the 95th",
    )
    clock_drift: Duration = Field(
        MILLISECOND,
        description="largest drift of a node's clock against the engine's, beyond what the readings may be wrong by",
    )
    driver_cpu: Share = Field(0.9, description="largest CPU use of the driver, as a share of its threads")
    run_wait: Share = Field(0.2, description="largest share of time in which the driver's threads waited for a CPU")
    echo_mismatches: Share = Field(0.001, description="largest share of keys whose echo was wrong or missing")
    unfollowed: Share = Field(0.05, description="largest share of timed keys that could not be followed in the output")
    continued: Share = Field(
        0.1,
        description="largest share of answers behind which output went on for over a quarter of the response, and over "
        "20 ms",
    )
    untaken_keys: Share = Field(
        0.001,
        description="largest share of keys that a 3270 did not take, as while its keyboard was locked",
    )
    steal: Share = Field(0.1, description="largest share of the host's CPUs that the hypervisor took")
    settled: Switch = Field(
        True,
        description="whether users must be at work when measuring starts, and throughput, response and backlog steady",
    )
    skipped: Share = Field(0.01, description="largest share of actions that were due but not begun")
    lost_users: Share = Field(
        0.01, description="largest share of users who lost their line, got none, or never got to work"
    )
    plain_segments: Share = Field(0.01, description="with `tmux`: largest share of segments that go as plain IP")
    beside: Share = Field(0.9, description="with `beside`: smallest share of the interval in which the neighbour runs")
    in_kernel: Share = Field(
        0.99,
        description="with `host.path` `kernel`: smallest share of characters that take it; output with telnet's "
        "escapes needs a smaller one",
    )


class Secrets(PlanTable):
    """What is secret of the users, besides what the names of columns say."""

    columns: Annotated[tuple[Name, ...], Syntax("a list of columns")] = Field(
        (), description="columns of users whose cells are never shown or recorded"
    )


class Settings(PlanTable):
    """A plan."""

    name: Name = Field("run", description="the beginning of the run folder's name")
    seed: Annotated[
        Seed,
        Flag("S"),
        ALWAYS,
    ] = Field(1, description="one seed gives one sequence of keys and due times")
    settle: Annotated[Duration, Flag("D")] = Field(
        5 * SECOND, description="time between the last start of a user and the measurement interval"
    )
    measure: Annotated[Duration, Flag("D")] = Field(30 * SECOND, description="length of the measurement interval")
    engine: Annotated[
        EngineText, Flag("WHERE", "where the users are: local (this machine), ray[:ADDRESS], ssh:ME@H1,ME@H2")
    ] = Field(
        EnginePlace("local"),
        description="where the users are: `local` = on this machine; `ray:ADDRESS` = on a Ray cluster; `ray` = on one "
        "that is started on this machine; `ssh:ME@H1,ME@H2` = on machines reached by ssh: docs/ray.md",
    )
    nodes: Annotated[Count, Flag("N", "with --engine: over how many machines the users are spread")] = Field(
        1, description="number of machines over which `engine` spreads the users"
    )
    agents: Annotated[
        Count,
        Flag("N"),
    ] = Field(1, description="number of driver processes on each node; the users are divided among all of them")
    threads: Annotated[
        Count,
        Flag("N"),
        ALWAYS,
    ] = Field(1, description="number of threads of each agent")
    pin: Annotated[Switch, Flag("")] = Field(
        False, description="keep the driver and the built-in host on different CPUs"
    )
    isolate: Annotated[
        Switch, Flag("", "as --pin, each in a network of its own, so that CPU figures are certain (root)")
    ] = Field(
        False,
        description="as `pin`, and each also gets a network of its own and receives from it on its own CPUs "
        "(root): docs/meters.md",
    )
    tmux: Annotated[
        OffOrDuration,
        Flag("HOLD", "with --isolate: TMux (RFC 1692) at both ends, holding segments for at most so long; off"),
    ] = Field(
        None,
        description="with `isolate`: an agent of TMux (RFC 1692) at each end of the wire holds TCP segments for at "
        "most so long, to send several in one datagram; `0ms` = it sends what is there at once: docs/tmux.md",
    )
    defer: Annotated[
        OffOrDuration,
        Flag("D", "with --isolate: how long the host's kernel may put off receiving; off"),
    ] = Field(
        None,
        description="with `isolate`: the kernel at the host's end of the wire puts off receiving for at most so long "
        "(`napi_defer_hard_irqs`, `gro_flush_timeout`), to receive several packets at once",
    )
    beside: Annotated[
        OffOrCommand, Flag("COMMAND", "run a neighbour on this machine while measuring, such as 'make -j8'; off")
    ] = Field(
        None,
        description="a command of the shell that runs on this machine while measuring, from a second before: a "
        "neighbour that takes CPU, memory or disk from the host; one that ends is started again: docs/beside.md",
    )
    meters: Annotated[
        Meters,
        Flag(
            "WHERE,…",
            "meter the host: auto, plain, exact, calls, none, machine, pid:N, cgroup:PATH, cpus:LIST, cpus:host, "
            "ssh://H, http://H:9100/metrics",
        ),
    ] = Field(
        "auto",
        description="where the host is metered; `auto` = on this machine if the target is there; `plain` = the same, "
        "not sampled; `exact` = the same, traced; `calls` = the same, system calls traced: for a short run; or a list "
        "of several hosts",
    )
    stamps: Annotated[
        Stamps,
        Flag("WHICH", "lines on which the kernel stamps keys too: all, none or N = every Nth"),
        ALWAYS,
    ] = Field(16, description="lines on which the kernel stamps keys too: every Nth, `all` or `none`")
    path: Annotated[
        FollowedUsers,
        Flag("WHICH", "whose keys are followed through the host: auto, none, 1/30 = every 30th user's, or a group's"),
    ] = Field(
        "auto",
        validate_default=True,
        description="probe lines, whose keys are followed through the host: every 30th user (`1/30`), a group, or "
        "`none`; `auto` = `1/30` where the meters trace (`exact`, `calls`): docs/path.md",
    )
    spin: Annotated[
        Switch, Flag("", "keep an idle driver awake when something is due soon, so that its stamps are exact"), ALWAYS
    ] = Field(
        True,
        description="a driver with CPUs of its own (`pin`), or whose host is elsewhere, waits awake before a key is "
        "due and shortly after one, because a CPU wakes late: a tenth of a CPU for exact stamps",
    )
    log_transactions: Annotated[
        Switch,
        Flag("", "record every transaction"),
        ALWAYS,
    ] = Field(False, description="record every transaction, not only histograms")
    log_keys: Annotated[
        Switch,
        Flag("", "record every key that was echoed"),
        ALWAYS,
    ] = Field(False, description="record every key that was echoed and the frame that shows it, not only histograms")
    cast: Annotated[
        UserNumber | None, Flag("[USER]", "write what this user (0) sees as a cast, for `asciinema play`"), ALWAYS
    ] = Field(None, description="a user whose session is written as a cast; 0 is the first of the first group")
    limits: tuple[LimitText, ...] = Field(
        (), description="limits that a good run keeps; if one is crossed the exit code is 99"
    )
    group: tuple[Group, ...] = Field((Group(),), min_length=1, max_length=256)
    host: Host = Host()
    validity: Validity = Validity()
    secrets: Secrets = Secrets()
    published: tuple[PublishedFigure, ...] = Field((), max_length=256)
    published_table: tuple[PublishedTable, ...] = Field((), max_length=256)
    sweep: dict[str, tuple[Any, ...]] = Field({}, description="settings and the values that they take in turn")

    @field_validator("measure")
    @classmethod
    def _some_time(cls, measure: int) -> int:
        if measure < 100 * MILLISECOND:
            raise ValueError("measuring takes at least 100ms")
        return measure

    @field_validator("group")
    @classmethod
    def _distinct_names(cls, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        names = [group.name for group in groups]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"two groups are called {', '.join(sorted(twice))}; give each a name of its own")
        if not any(group.users for group in groups):
            raise ValueError("no group has any users; give at least one `users = 1`")
        return groups

    @field_validator("group")
    @classmethod
    def _something_beside_probes(cls, groups: tuple[Group, ...]) -> tuple[Group, ...]:
        for group in groups:
            if group.nodes and not group.is_probe:
                raise ValueError(f'{group.name}: nodes: only a probe has nodes of its own; give it role = "probe"')
            if group.is_probe and group.background:
                raise ValueError(f"{group.name}: a probe is beside all others, and cannot be in their background")
        if all(group.is_probe for group in groups):
            raise ValueError("all groups are probes; a probe is quoted beside a group of the load: give one")
        return groups

    @field_validator("path")
    @classmethod
    def _no_auto(cls, path: str, others: ValidationInfo) -> str:
        return resolve_path(path, others.data.get("meters", "none"))

    @field_validator("group")
    @classmethod
    def _followed_group(cls, groups: tuple[Group, ...], others: ValidationInfo) -> tuple[Group, ...]:
        check_group(others.data.get("path", "none"), [group.name for group in groups])
        return groups

    @property
    def node_count(self) -> int:
        """How many machines have users: `ssh` names them."""
        return len(self.engine.addresses) if self.engine.kind == "ssh" else self.nodes
