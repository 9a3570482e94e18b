"""The section of a sweep of `tmux`, `defer` or `align`: the gains and costs of batching packets."""

from collections.abc import Callable, Iterator, Sequence

from cuesta.analysis.features.batching import (
    ALIGN,
    FALSE_ALARM,
    REPEATS,
    SETTINGS,
    Change,
    Effect,
    LoadChanges,
    Spread,
    find_effects,
    has_only_doubted,
)
from cuesta.analysis.summary import Summary
from cuesta.report.features.frontier import list_settings, plot_frontier
from cuesta.report.figure import head
from cuesta.report.model import Plots, Remark, Section, Table
from cuesta.units import ABSENT, count, digits, join_words, many, seconds, share, write_minus

TITLE = "Several packets at once"
IN_DOUBT = "nothing is compared: steps that could be are in doubt, for the reasons at the top"
NAMES = {"tmux": "TMux", "defer": "the kernel's deferral", "align": "aligned keys without either"}
TOO_FEW = (
    f"measured fewer than {REPEATS} times each, which tells nothing from chance; "
    f"repeat the steps: [sweep] seed = {[*range(1, REPEATS + 1)]}"
)
HOW = "medians of repeats"
NOT_TOLD = (
    f"in brackets: not told from chance, as the ranges of the repeats overlap or there are fewer than {REPEATS}; "
    f"equal figures are told apart in {100 * FALSE_ALARM:.0f} % of comparisons, or fewer"
)
GRID = "half the grid, their mean wait for it, is added to the response: computed, not measured"


def section(summary: Summary) -> Iterator[Section]:
    effects = find_effects(summary)
    if not effects:
        if has_only_doubted(summary):
            yield Section(TITLE, [Remark(IN_DOUBT, "notice")], name="BATCHING")
        return
    answers = [Remark(answer(kind)) for kind in group_by_kind(effects)]
    more = [Plots(plots)] if (plots := list(plot_frontier(effects))) else []
    yield Section(TITLE, [*answers, overview_table(effects)], [details_table(effects), *more], name="BATCHING")


def first_answer(summary: Summary) -> str:
    """The first sentence of the section; empty if a sweep has none."""
    kinds = group_by_kind(find_effects(summary))
    return answer(kinds[0]) if kinds else ""


def group_by_kind(effects: Sequence[Effect]) -> list[list[Effect]]:
    """Effects by the settings that make them, in the order of SETTINGS; combinations last."""
    kinds = dict[tuple[str, ...], list[Effect]]()
    for effect in effects:
        kinds.setdefault(tuple(name for name, _ in effect.setting), []).append(effect)
    return [kinds[kind] for kind in sorted(kinds, key=lambda kind: (len(kind), SETTINGS.index(kind[0])))]


def answer(kind: Sequence[Effect]) -> str:
    """One sentence on settings of one kind: their gains and their costs."""
    name = " and ".join(NAMES[setting] for setting, _ in kind[0].setting)
    sentence = f"{state_gains(kind)}; {state_costs(kind)}" if any(effect.is_repeated for effect in kind) else TOO_FEW
    return f"{name}: {sentence}; {GRID}" if is_aligned(kind) else f"{name}: {sentence}"


def is_aligned(effects: Sequence[Effect]) -> bool:
    return any(name == ALIGN for effect in effects for name, _ in effect.setting)


def state_gains(kind: Sequence[Effect]) -> str:
    """The largest saving of the host's CPU per key, and the smallest load from which there is one."""
    best = max((saving for each in kind if (saving := each.most_saved)), default=None, key=lambda saving: saving.share)
    if best is None:
        return "at no load that was measured is a saving of the host's CPU told from chance"
    at = f"{name_effect(best.by)}, {many(best.users, 'user')}"
    saved = f"it saves the host up to {share(best.share)} of its CPU per key ({at})"
    starts = [(effect.saves_from, name_effect(effect)) for effect in kind if effect.saves_from is not None]
    if not starts:
        return saved
    users, by = min(starts)
    return f"{saved}, at the earliest from {many(users, 'user')} on ({by})"


def state_costs(kind: Sequence[Effect]) -> str:
    costs, waits = name_loads(kind, lambda load: load.cpu), name_loads(kind, lambda load: load.response)
    parts = [f"it costs the host more CPU {costs}"] if costs else []
    parts += [f"it lengthens the response {waits}"] if waits else []
    return " and ".join(parts) or "nothing that it costs was told from chance"


def name_loads(kind: Sequence[Effect], take: Callable[[LoadChanges], Change | None]) -> str:
    """The loads, with their settings, at which a figure increases; empty if at none."""
    known = [change.is_more for effect in kind for load in effect.loads if (change := take(load))]
    if known and all(known):
        return "at every load"
    by_users = dict[tuple[int, ...], list[Effect]]()
    for effect in kind:
        worse = tuple(load.users for load in effect.loads if (change := take(load)) and change.is_more)
        by_users.setdefault(worse, []).append(effect)
    return join_words([name_users(users, by) for users, by in by_users.items() if users])


def name_users(users: Sequence[int], by: Sequence[Effect]) -> str:
    number = "user" if users == (1,) else "users"
    return f"at {join_words(map(count, users))} {number} ({'; '.join(map(name_effect, by))})"


def overview_table(effects: Sequence[Effect]) -> Table:
    """A row for each effect: the loads at which it saves CPU, and its changes at the most users."""
    most = {effect.loads[-1].users for effect in effects}
    at = many(most.pop(), "user") if len(most) == 1 else "the most users"
    heads = ("", "saves host CPU", head("host.cpu_per_keystroke"), "mean response", head("wire.packets_per_keystroke"))
    rows = [
        (
            name_effect(effect),
            name_saving_loads(effect),
            write_share(effect.loads[-1].cpu),
            write_difference(effect.loads[-1].response),
            write_share(effect.loads[-1].packets),
        )
        for effect in effects
    ]
    return Table(heads, rows, f"changes at {at}, {HOW}, without steps in doubt; {NOT_TOLD}")


def name_effect(effect: Effect) -> str:
    return list_settings((*effect.setting, *effect.configuration))


def name_saving_loads(effect: Effect) -> str:
    start = effect.saves_from
    if start is None:
        return "at no load"
    return "at every load" if start == effect.loads[0].users else f"from {many(start, 'user')} on"


def write_share(change: Change | None) -> str:
    """The relative change, in percent."""
    return bracket_chance(change, write_minus(f"{100 * change.share:+.0f} %")) if change else ABSENT


def write_difference(change: Change | None) -> str:
    """The change in seconds."""
    if change is None:
        return ABSENT
    return bracket_chance(change, f"{'+' if change.difference >= 0 else ''}{seconds(change.difference)}")


def bracket_chance(change: Change, text: str) -> str:
    """A change in brackets if it is not significant."""
    return text if change.is_less or change.is_more else f"({text})"


def details_table(effects: Sequence[Effect]) -> Table:
    heads = ("", "users", "host CPU per key", "without", "mean response", "without", "packets per key", "without")
    rows = [
        (
            name_effect(effect),
            count(load.users),
            *effect_cells(load.cpu, seconds),
            *effect_cells(load.response, seconds),
            *effect_cells(load.packets, digits),
        )
        for effect in effects
        for load in effect.loads
    ]
    return Table(heads, rows, f"{HOW}, and in brackets their ranges")


def effect_cells(change: Change | None, write: Callable[[float], str]) -> tuple[str, str]:
    if change is None:
        return ABSENT, ABSENT
    return write_range(change.with_setting, write), write_range(change.without, write)


def write_range(spread: Spread, write: Callable[[float], str]) -> str:
    if len(spread.values) == 1:
        return write(spread.median)
    return f"{write(spread.median)} [{write(spread.low)}–{write(spread.high)}]"
