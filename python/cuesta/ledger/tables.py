"""The tables of the ledger's database: columns, each with its type and what it is. docs/ledger.md publishes them."""

from typing import NamedTuple


class Column(NamedTuple):
    """A column."""

    name: str
    kind: str
    """DuckDB's name of its type."""
    what: str


class Table(NamedTuple):
    """A table."""

    what: str
    columns: tuple[Column, ...]


def table(what: str, *columns: tuple[str, str, str]) -> Table:
    """Make a table."""
    return Table(what, tuple(Column(*each) for each in columns))


def durations(name: str, what: str) -> list[tuple[str, str, str]]:
    """Make the columns of a distribution of durations."""
    return [
        (f"{name}_{figure}", "DOUBLE", f"{what}, seconds: {figure}")
        for figure in ("mean", "p50", "p90", "p95", "p99", "p999", "max")
    ]


TEXT, WHOLE, NUMBER, TRUTH = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"
FOLDER = ("folder", TEXT, "the run folder")
STEP = ("step", WHOLE, "number of the step, from 0")

TABLES = {
    "runs": table(
        "a row for each run folder",
        FOLDER,
        ("name", TEXT, "of the plan"),
        ("started", "TIMESTAMP", "UTC"),
        ("cuesta", TEXT, "version that ran it"),
        ("seed", WHOLE, ""),
        ("agents", WHOLE, "driving processes"),
        ("target", TEXT, "what was typed at"),
        ("machine", TEXT, "the driver's machine: its facts, as JSON"),
        ("valid", TRUTH, "whether its figures can be trusted"),
        ("invalid_because", TEXT, "a sentence a row; empty if it is valid"),
        ("ended", TEXT, "`completed`, `interrupted`, `failed`; empty if it was cut off"),
        ("damage", TEXT, "what could not be read, a sentence a row; empty if all was read"),
    ),
    "steps": table(
        "a row for each load step of a run",
        FOLDER,
        STEP,
        ("users", WHOLE, ""),
        ("load", TEXT, "`closed`, `paced:…` or `open:…`"),
        ("swept", TEXT, "the settings that a sweep has set, as JSON"),
        ("seconds", NUMBER, "of the measurement interval"),
        ("transactions", WHOLE, "counted"),
        ("transactions_per_s", NUMBER, "throughput"),
        ("keystrokes_per_s", NUMBER, ""),
        ("characters_in_per_s", NUMBER, "typed"),
        ("characters_out_per_s", NUMBER, "shown"),
        ("errors", WHOLE, "failures of the host and of lines"),
        ("skipped", WHOLE, "actions not done"),
        ("lost_users", WHOLE, "users without a line at the end"),
        *durations("response", "done − due"),
        *durations("response_from_sent", "done − sent"),
        *durations("echo", "echo − due"),
        *durations("lateness", "sent − due: the driver's own"),
        ("law_predicted", NUMBER, "response time by N/X − Z − K, seconds"),
        ("driver_cpu", NUMBER, "CPU seconds per second and thread of the busiest agent"),
        ("host_usr", NUMBER, "percent of the host's CPUs"),
        ("host_sys", NUMBER, "percent of the host's CPUs"),
        ("host_irq", NUMBER, "percent of the host's CPUs"),
        ("host_iowait", NUMBER, "percent of the host's CPUs"),
        ("host_steal", NUMBER, "percent of the host's CPUs"),
        ("host_idle", NUMBER, "percent of the host's CPUs"),
    ),
    "classes": table(
        "a row for each class of transactions in a step",
        FOLDER,
        STEP,
        ("class_group", TEXT, "the group of users"),
        ("transaction", TEXT, "its name on the tape"),
        ("count", WHOLE, "how many"),
        *durations("response", "done − due"),
        *durations("first_response", "first − due"),
    ),
    "causes": table(
        "the host's CPU time by cause",
        FOLDER,
        STEP,
        ("cause", TEXT, ""),
        ("percent", NUMBER, "of the host's CPUs"),
        ("standard_error", NUMBER, "of `percent`, where it was sampled"),
        ("low", NUMBER, "of the 95 % interval"),
        ("high", NUMBER, "of the 95 % interval; of a cause that no sample met all that is known"),
    ),
    "meters": table(
        "a row for each figure of a step's sheet of meters (docs/meters.md)",
        FOLDER,
        STEP,
        ("meter", TEXT, "its place in the sheet: `counts.major_faults.per_s`"),
        ("value", NUMBER, "empty where there is none"),
        ("tier", TEXT, "`plain`, `sampled` or `exact`"),
        ("why", TEXT, "why there is no value"),
    ),
    "intervals": table(
        "a row for each second of each agent (`series.jsonl`)",
        FOLDER,
        ("agent", WHOLE, ""),
        STEP,
        ("phase", TEXT, "`settle`, `measure` or `drain`"),
        ("start", NUMBER, "seconds from the start of the run"),
        ("length", NUMBER, "seconds"),
        ("users", WHOLE, "with a line at its end"),
        ("transactions", WHOLE, "completed"),
        ("keys", WHOLE, "sent"),
        ("errors", WHOLE, ""),
        ("unfinished", WHOLE, "transactions under way at its end"),
        ("cpu", NUMBER, "CPU seconds of the driver's threads"),
    ),
    "limits": table(
        "a row for each limit of a step",
        FOLDER,
        STEP,
        ("limit_text", TEXT, "as in the plan"),
        ("value", NUMBER, "what was measured"),
        ("ok", TRUTH, "whether it was kept"),
    ),
    "published": table(
        "what others measured, beside what came out",
        FOLDER,
        STEP,
        ("what", TEXT, ""),
        ("figure", TEXT, ""),
        ("users", WHOLE, "that it is of"),
        ("published", NUMBER, ""),
        ("measured", NUMBER, ""),
        ("ratio", NUMBER, "measured over published"),
        ("source", TEXT, ""),
    ),
    "certifications": table(
        "a row for each certification folder",
        ("folder", TEXT, "the certification folder"),
        ("kind", TEXT, "`certification` or `benchmark`"),
        ("system", TEXT, "what is certified"),
        ("plan", TEXT, ""),
        ("users_group", TEXT, "the group of users"),
        ("started", "TIMESTAMP", "UTC"),
        ("cuesta", TEXT, "version that ran it"),
        ("grade", TEXT, "`certified`, `observation` or `estimate`"),
        ("because", TEXT, "why it is not certified, a sentence a row"),
        ("warnings", TEXT, "a sentence a row"),
        ("users", WHOLE, "processes"),
        ("attached", TEXT, "`typewriter`, `FSIM` or `line`"),
        ("script", TEXT, "SHA-256 of the script"),
        ("runs", WHOLE, "that count"),
        ("excluded", WHOLE, "runs that do not"),
        ("elapsed", NUMBER, "seconds, mean of the runs: of a benchmark the makespan, else the completion of a process"),
        ("idle", NUMBER, "share of the CPUs in true idle, mean of the runs"),
        ("damage", TEXT, "why it could not be read; empty if it was"),
    ),
    "certified_runs": table(
        "a row for each run that counts",
        ("folder", TEXT, "the certification folder"),
        ("run", TEXT, "the run folder in it"),
        ("creation", NUMBER, "seconds of process creation"),
        ("command", NUMBER, "seconds of the command sequence; of a benchmark the makespan"),
        ("creation_cpu", NUMBER, "CPU seconds of subject processes"),
        ("command_cpu", NUMBER, "CPU seconds of subject processes"),
        ("completion", NUMBER, "mean real time of a process, seconds"),
        ("idle", NUMBER, "share of the CPUs in true idle"),
        ("steal", NUMBER, "share of the CPUs that the hypervisor took"),
        ("transactions", WHOLE, ""),
    ),
    "measurements": table(
        "parts a to d of the form, a row each",
        ("folder", TEXT, "the certification folder"),
        ("part", TEXT, "`a`, `b`, `c` or `d`"),
        ("key", TEXT, "what the row is called in programs: `page`, `page.number`"),
        ("name", TEXT, ""),
        ("unit", TEXT, "`s`, `share`, `ratio` or `number`"),
        ("creation", NUMBER, "of process creation"),
        ("command", NUMBER, "of the command sequence"),
        ("total", NUMBER, "of both; of part d the figure"),
        ("why", TEXT, "why there is no figure"),
        ("formula", TEXT, ""),
    ),
}
"""Name → table. `durations` are seconds; an absent figure is NULL and never 0."""
