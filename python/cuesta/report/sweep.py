"""The section of a sweep: a row for each step, plots against the swept setting, and the asymptotes in words."""

from collections.abc import Iterator

from cuesta.analysis.capacity.asymptotes import Asymptotes, StepAbove, derive_asymptotes
from cuesta.analysis.planned import write_swept_value
from cuesta.analysis.summary import Summary
from cuesta.figures import CATALOGUE
from cuesta.figures.limit import Limit
from cuesta.figures.reference import NUMBERS, Reference
from cuesta.figures.step import StepFigures
from cuesta.report.figure import explain_marks, head, mark_few, write_marked, write_rate
from cuesta.report.headline import NOT_KEPT
from cuesta.report.hops_beside import compare_steps, draw_steps
from cuesta.report.limits import describe_limit_value, limit_status
from cuesta.report.model import Cell, Part, Plots, Remark, Section, Table, Words
from cuesta.report.path_section import describe_growth
from cuesta.report.plots.against_users import LIGHT_LOAD_BOUND, name_ceiling, plot_sweeps
from cuesta.report.sweep_settings import list_swept, name_setting, write_setting
from cuesta.units import ABSENT, count, digits, join_words, many, seconds, share

COLUMNS = (
    *("transactions.per_s", "response.p50", "response.p95", "response.p99", "echo.p99"),
    *("stalls.longest", "errors.count", "lateness.p99"),
)
"""Figures in a step's row; those with limits follow them."""
MOST_SWEPT = 2
"""Swept settings beside which a terminal has room for the echo."""
BESIDE_OTHERS = {"response.p99", "echo.p99", "lateness.p99"}
"""Figures for which a terminal has no room beside limits on single groups or transactions."""
SHORT = {"transactions.per_s", "response.p99", "echo.p99", "stalls.longest", "errors.count", "lateness.p99"}
"""Those of them that a terminal shows, if no other statistic is limited."""


def section(summary: Summary) -> Iterator[Section]:
    if summary.planned_steps < 2:
        return
    lines = derive_asymptotes(summary)
    parts: list[Part] = [
        table(summary),
        *map(Remark, describe_requests(summary)),
        *map(Remark, describe_saturation(lines)),
        *map(Remark, describe_past_saturation(summary)),
        *map(Remark, describe_growth(summary) if summary.search is None else ()),
        *compare_steps(summary),
    ]
    parts += [Remark(each, "notice") for each in list_contradictions(lines)]
    drawn = list(plot_sweeps(summary))
    more: list[Part] = [Plots([*drawn, *draw_steps(summary)])]
    if drawn:
        more += [Remark(each, "faint") for each in describe_bounds(lines)]
    if summary.search is not None:
        parts, more = [], [*parts, *more]  # the trials have a table of their own
    yield Section("Sweep", parts, more)


def describe_requests(summary: Summary) -> Iterator[str]:
    """What the steps are that no plan has, and which of the run's own could not be measured because of them."""
    steps = summary.recorded.run.get("steps", [])
    asked = {number: step["asked"] for number, step in enumerate(steps, 1) if step.get("asked")}
    if not asked:
        return
    requests = join_words(f"step {number} ({request})" for number, request in asked.items())
    yield f"somebody changed the users while the run went on: {requests}; such a run is not compared with others"
    measured = {step.step + 1 for step in summary.steps}
    for number in asked:
        if number - 1 not in measured:
            yield f"step {number - 1} has no figures: the users were changed before its load had settled"


def table(summary: Summary) -> Table:
    swept = list_swept(summary)
    figures = [name for name in COLUMNS if any(CATALOGUE[name].take_from(step) is not None for step in summary.steps)]
    limits = name_limited_figures(summary)
    others = [limit for limit, name in limits.items() if name not in figures]
    named = set(limits.values())
    short = (SHORT - {"response.p99"} if named & {"response.p50", "response.p95"} else SHORT) | named
    if len(swept) > MOST_SWEPT:
        short -= {"echo.p99"} - named
    if others:
        short -= BESIDE_OTHERS - named
    rows = [
        (
            str(step.step + 1),
            *(write_setting(step, name) for name in swept),
            *(write_marked(name, step) for name in figures),
            *(write_limited(summary, step, limit) for limit in others),
            judge_step(summary, step),
        )
        for step in summary.steps
    ]
    heads: list[Cell] = ["step", *map(name_setting, swept), *map(head, figures), *(limits[each] for each in others), ""]
    missing = summary.planned_steps - len(summary.steps)
    lacks = f"{missing} of {summary.planned_steps} steps were not measured. " if missing else ""
    wide = {1 + len(swept) + number for number, name in enumerate(figures) if name not in short}
    explained = "".join(
        f"{note}. " for note in explain_marks(cell for row in rows for cell in row[1 + len(swept) : -1])
    )
    return Table(heads, rows, f"{explained}{lacks}Details are of step {summary.last.step + 1}.", wide=wide)


def name_limited_figures(summary: Summary) -> dict[str, str]:
    """The figure of each limit: `{"echo.max < 50ms": "echo.max"}`."""
    limits = dict.fromkeys(each.limit for step in summary.steps for each in step.limits)
    return {limit: catalogue_name(Limit.read(limit).figure) for limit in limits}


def catalogue_name(figure: Reference) -> str:
    """The figure's name in the catalogue if it is there, not its alias."""
    return NUMBERS[figure.metric].name if figure.metric in NUMBERS and not figure.transaction else str(figure)


def write_limited(summary: Summary, step: StepFigures, limit: str) -> str:
    results = (each for each in step.limits if each.limit == limit and each.value is not None)
    written = (describe_limit_value(each, summary) + mark_few(Limit.read(limit).figure, step) for each in results)
    return next(written, ABSENT)


def judge_step(summary: Summary, step: StepFigures) -> Cell:
    if any(doubted.step == step.step for doubted in summary.doubts):
        return Words("INVALID", "see the reasons at the top", "bad")
    if not step.limits:
        return ""
    if all(limit.ok for limit in step.limits):
        return Words("kept", "every limit was kept", "good")
    statuses = {limit_status(limit) for limit in step.limits}
    return Words(next(word for word in NOT_KEPT if word in statuses), "see the limits", "bad")


def describe_bounds(lines: Asymptotes) -> Iterator[str]:
    """A sentence on each asymptote and its source, and on steps above it by chance."""
    light, heavy = lines.light, lines.heavy
    if light:
        alone = "" if light.users == 1 else ", where the response may hold some waiting already"
        cycle = f"response {seconds(light.response)}, thinking and typing {seconds(light.own_time)}"
        yield f"{LIGHT_LOAD_BOUND}: {cycle}, as measured with {many(light.users, 'user')}{alone}"
    else:
        yield f"{LIGHT_LOAD_BOUND}: not drawn: {lines.no_light}"
    if heavy:
        *fewer, most = heavy.users
        users = [*map(count, fewer), many(most, "user")]
        yield (
            f"{name_ceiling(heavy)}: {write_rate(heavy.most_per_s)}, {write_interval(heavy.rate_interval)} a second, "
            f"as each transaction takes {seconds(heavy.demand)} of {heavy.resource}, which was at most "
            f"{share(heavy.utilization)} busy, with {join_words(users)}; "
            "a resource that is not metered may allow less"
        )
    else:
        yield f"ceiling: not drawn: {lines.no_heavy}"
    for each in lines.above:
        if each.is_chance:
            yield f"{describe_surplus(each)}: steps of this length differ that much by chance; longer ones are surer"


def describe_saturation(lines: Asymptotes) -> Iterator[str]:
    """N*, where the asymptotes cross."""
    if lines.crossing and lines.crossing_interval and lines.heavy:
        users = f"saturates at about {digits(lines.crossing)} users, {write_interval(lines.crossing_interval)}"
        yield f"{users}: where the {name_ceiling(lines.heavy)} is reached; with more, some wait for others"


def describe_past_saturation(summary: Summary) -> Iterator[str]:
    several = len(summary.past_saturation) > 1
    for each in summary.past_saturation:
        settings = ", ".join(write_swept_value(name, value) for name, value in each.swept.items())
        which = f" ({settings})" if several and settings else ""
        steps = f"step{'s' * (len(each.steps) > 1)} {join_words(count(step + 1) for step in each.steps)}"
        lost = f"{many(each.errors, 'error')}, {many(each.lost_users, 'line')} lost"
        most = f"{write_rate(each.most_per_s)}, in step {each.most_at + 1}"
        yield (
            f"past saturation{which}: the largest throughput was {most}; "
            f"offered up to {digits(each.offered)} times as much, in {steps}, the host kept at least "
            f"{share(each.kept)} of it; {lost}"
        )


def list_contradictions(lines: Asymptotes) -> Iterator[str]:
    """Steps that an asymptote contradicts."""
    for each in lines.above:
        if not each.is_chance:
            yield (
                f"CONTRADICTION: {describe_surplus(each)}. Chance does not explain it: transactions do not take the "
                "same in all steps, or a meter is wrong. Do not rely on that line"
            )


LINES = {"light": "the throughput if nobody had to wait", "heavy": "the ceiling"}


def describe_surplus(above: StepAbove) -> str:
    bound = f"{LINES[above.line]} is {write_rate(above.bound)}"
    return f"{write_rate(above.per_s)} was measured with {many(above.users, 'user')}, and {bound}"


def write_interval(interval: tuple[float, float]) -> str:
    return f"with 95 % from {digits(interval[0])} to {digits(interval[1])}"
