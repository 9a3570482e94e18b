"""What a plan may say: one schema, with a default and a meaning for every setting.

`Settings` is a plan file as parsed. Steps and segments are made from it elsewhere. A field's description is its row
in docs/plan.md.
"""

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from cuesta.plan.fields import (
    Baud,
    Bytes,
    Count,
    Distribution,
    Duration,
    EchoMap,
    FigureText,
    Key,
    KeyDistribution,
    KeyRate,
    LimitText,
    Load,
    LoadText,
    Meters,
    Name,
    Number,
    Path,
    Remark,
    Seed,
    ServiceText,
    Share,
    Size,
    StallText,
    Stamps,
    Switch,
    Target,
    UserNumber,
    Users,
)
from cuesta.target import BUILTIN_HOST

MILLISECOND = 1_000_000
SECOND = 1000 * MILLISECOND
BUILTIN_TAPE = "builtin:interactive"
SECRET = re.compile(r"pass|secret|token|key", re.IGNORECASE)
"""Columns of users whose cells are never shown or recorded."""


class Table(BaseModel):
    """A table of a plan: nothing unknown in it, and it never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Group(Table):
    """Users who play one tape. Every setting may also stand at the top of the plan: then it holds for all groups."""

    name: Name = Field("users", description="what the records call these users")
    tape: Path = Field(BUILTIN_TAPE, description="what they type; relative to the plan")
    users: Users = Field(1, description="how many there are")
    target: Target = Field(BUILTIN_HOST, description="what they type at; `host:` starts the built-in host")
    load: LoadText = Field(
        Load("closed"),
        description="when the next input is due: after the think time (closed), once a cycle (paced), "
        "at a rate of inputs or `:sessions` over all users of the group (open)",
    )
    think: Distribution | None = Field(None, description="think time instead of the tape's own")
    key_rate: KeyRate | None = Field(None, description="typing rate instead of the tape's own")
    key_law: KeyDistribution | None = Field(
        None, description="distribution of the gaps between keys instead of the tape's own"
    )
    line_speed: Baud | None = Field(
        None, description="speed of the lines, 10 bits a character, instead of the tape's own"
    )
    stagger: Duration = Field(50 * MILLISECOND, description="time between the starts of two users")
    data: Path | None = Field(
        None, description="CSV of users for `${column}` in the tape, one row a user; relative to the plan"
    )
    columns: Size | None = Field(None, description="width of the terminals instead of the tape's own")
    rows: Size | None = Field(None, description="height of the terminals instead of the tape's own")


class Host(Table):
    """The built-in host, when it is the target."""

    service: ServiceText | None = Field(None, description="what it does with input; by default what fits the tape")
    input: Literal["canonical", "raw"] | None = Field(
        None, description="whole rows with erase and kill, or single keys; by default what the service likes"
    )
    erase: Key = Field("#", description="the key that takes back the one before")
    kill: Key = Field("@", description="the key that takes back the row")
    echo: Switch | None = Field(
        None, description="whether keys are echoed; by default with canonical input, unless the service is `echo`"
    )
    echo_map: EchoMap | None = Field(None, description="keys and what each is echoed as")
    service_time: Distribution | None = Field(None, description="time that a server takes for a transaction")
    servers: Count = Field(1, description="how many transactions are served at once")
    delay: Duration | None = Field(None, description="exact delay of every answer")
    stall: StallText | None = Field(None, description="a window in which it does nothing")
    pool: Bytes = Field(16 << 20, description="buffers of all lines together, in bytes")
    threads: Count = Field(1, description="threads, one core each")


class Validity(Table):
    """When a run cannot be trusted: beyond any of these it is INVALID."""

    lateness_p99: Duration = Field(10 * MILLISECOND, description="most lateness of a key at the 99th percentile")
    driver_cpu: Share = Field(0.9, description="most CPU of the driver, as a share of its threads")
    run_wait: Share = Field(0.2, description="most time that the driver's threads waited for a CPU, likewise")
    echo_mismatches: Share = Field(0.001, description="most keys whose echo was wrong or missing")
    steal: Share = Field(0.1, description="most of the host's CPUs that the hypervisor took")
    settled: Switch = Field(True, description="whether users and throughput must be steady when measuring starts")
    skipped: Share = Field(0.01, description="most actions that were due but not done")
    lost_users: Share = Field(0.01, description="most users whose line was lost or refused")


class Published(Table):
    """A figure that somebody published of this work, to stand beside what is measured now."""

    what: Remark = Field(description="what was measured, and under which conditions")
    figure: FigureText = Field(description="the figure here that is held against it, named as in `limits`")
    value: Number = Field(description="what was published; a duration where the figure is one")
    users: Users | None = Field(None, description="the number of users it is of; by default held against every step")
    bound: Literal["at least", "at most"] | None = Field(None, description="if only that much was said of it")
    source: Remark = Field(description="where it was published")

    @field_validator("value")
    @classmethod
    def _fits_the_figure(cls, value: str, info: ValidationInfo) -> str:
        if "figure" in info.data:
            info.data["figure"].value(value)
        return value

    @property
    def number(self) -> float:
        """The value: seconds, a share, or a number, as the figure has it."""
        return self.figure.value(self.value)


class Settings(Table):
    """A plan."""

    name: Name = Field("run", description="what the run folder is called")
    seed: Seed = Field(1, description="one seed gives one sequence of keys and due times")
    settle: Duration = Field(5 * SECOND, description="time between the last start and the measuring")
    measure: Duration = Field(30 * SECOND, description="time of measuring")
    agents: Count = Field(1, description="processes that the users are divided over")
    threads: Count = Field(1, description="threads of each agent")
    pin: Switch = Field(False, description="keep the driver and the built-in host on different CPUs")
    isolate: Switch = Field(
        False,
        description="likewise, and put either side into a network of its own that it receives from on its own CPUs "
        "(root): docs/meters.md",
    )
    meters: Meters = Field(
        "auto",
        description="where the host is metered; `auto` = here if the target is; `plain` = also, not sampled; "
        "`exact` = also, traced; `calls` = also, its system calls traced instead of sampled: for a short run",
    )
    stamps: Stamps = Field(16, description="lines that the kernel stamps: every Nth, `all` or `none`")
    log_transactions: Switch = Field(False, description="record every transaction, not only histograms")
    cast: UserNumber | None = Field(
        None, description="a user whose session is written as a cast, to be watched; 0 is the first of the first group"
    )
    limits: tuple[LimitText, ...] = Field((), description="what a good run keeps; beyond it the exit code is 99")
    group: tuple[Group, ...] = Field((Group(),), min_length=1, max_length=256)
    host: Host = Host()
    validity: Validity = Validity()
    published: tuple[Published, ...] = Field((), max_length=256)
    sweep: dict[str, tuple[Any, ...]] = Field({}, description="settings and the values that they take, in turn")

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
