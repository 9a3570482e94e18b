"""Lists of runs, comparisons and certifications, as HTML: what each is, its figures, and boxes to choose some."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from cuesta.plain_text import plain
from cuesta.site.entries import Entry
from cuesta.units import ABSENT, in_unit

NOTHING = Markup()
CHOICE = Markup('<td class="choice"><input type="checkbox" name="id" value="{id}" aria-label="Choose {name}"/></td>')
LINK = Markup('<th scope="row"><a href="{address}">{name}</a>{more}</th>')
CELL = Markup('<td class="{kind}" data-label="{name}">{text}</td>')
LIST = Markup(
    '<form method="get">\n<div class="wide"><table class="entries">\n<caption>{caption}</caption>\n'
    "<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n<p>{buttons}</p>\n</form>\n"
)
BUTTON = Markup('<button formaction="{action}">{label}</button> ')

VERDICTS = {"crossed": "text crossed", "not measured": "text crossed", "not decided": "text notice-text"}
"""What may become of a limit that is not kept, the worst first, and the class of its cell."""

Column = Callable[[Entry], tuple[str, str]]
"""A class of the cell, and its text."""


def list_runs(entries: Sequence[Entry], caption: str = "The newest first; times are in UTC.") -> Markup:
    """Runs and searches, to be opened, or chosen to be seen side by side or compared."""
    return _list(entries, RUN_COLUMNS, caption, {"/side-by-side": "Side by side", "/compare": "Compare two"})


def list_certifications(entries: Sequence[Entry]) -> Markup:
    """Certifications, to be opened or seen side by side."""
    return _list(entries, CERTIFICATION_COLUMNS, "The newest first.", {"/certifications": "Side by side"})


def list_comparisons(entries: Sequence[Entry]) -> Markup:
    """Comparisons of two versions, or of pairs."""
    return _list(entries, COMPARISON_COLUMNS, "The newest first.", {})


def _list(entries: Sequence[Entry], columns: Mapping[str, Column], caption: str, buttons: Mapping[str, str]) -> Markup:
    choose = Markup('<th scope="col"><span class="hidden">choose</span></th>') if buttons else NOTHING
    heads = choose + NOTHING.join(head(name, is_number=name in NUMBERS) for name in ("name", *columns))
    rows = NOTHING.join(_row(entry, columns, bool(buttons)) for entry in entries)
    pressed = NOTHING.join(BUTTON.format(action=action, label=label) for action, label in buttons.items())
    return LIST.format(caption=caption, heads=heads, rows=rows, buttons=pressed)


def head(name: str, *, is_number: bool) -> Markup:
    """The head of a column."""
    return Markup('<th scope="col"{}>{}</th>').format(Markup(' class="number"') if is_number else NOTHING, name)


def _row(entry: Entry, columns: Mapping[str, Column], has_choice: bool) -> Markup:
    name = plain(entry.name)
    choice = CHOICE.format(id=entry.id, name=name) if has_choice else NOTHING
    plan = plain(str(entry.about.get("name", "")))
    more = Markup(' <span class="faint">{}</span>').format(plan) if plan and plan not in name else NOTHING
    link = LINK.format(address=entry.address, name=name, more=more)
    cells = ((head, *column(entry)) for head, column in columns.items())
    return Markup("<tr>{}{}{}</tr>\n").format(
        choice, link, NOTHING.join(CELL.format(name=head, kind=kind, text=plain(text)) for head, kind, text in cells)
    )


def _started(entry: Entry) -> tuple[str, str]:
    return "text", entry.started.replace("T", " ").removesuffix("Z") or ABSENT


def _target(entry: Entry) -> tuple[str, str]:
    host = entry.about.get("host")
    targets = host.get("targets", []) if isinstance(host, dict) else []
    return "wraps text", ", ".join(map(str, targets)) or ABSENT


def _users(entry: Entry) -> tuple[str, str]:
    search = entry.summary.get("search")
    users = search.get("users") if isinstance(search, dict) else entry.summary.get("users")
    return "number", f"{users:g}" if isinstance(users, int | float) else ABSENT


def _verdict(entry: Entry) -> tuple[str, str]:
    if entry.state == "goes on":
        return "text notice-text", "goes on"
    if not entry.summary:
        return "text faint", "cut off" if entry.state == "cut off" else "no summary"
    ended = str(entry.summary.get("ended", ""))
    early = f", {ended}" if ended not in {"", "completed"} else ""
    return ("text kept", f"VALID{early}") if entry.summary.get("valid") is True else ("text crossed", f"INVALID{early}")


def _duration(series: str, statistic: str) -> Column:
    def column(entry: Entry) -> tuple[str, str]:
        return "number", in_unit(_number(entry.summary, series, statistic), "s")

    return column


def _rate(entry: Entry) -> tuple[str, str]:
    return "number", in_unit(_number(entry.summary, "transactions", "per_s"), "per s")


def _limits(entry: Entry) -> tuple[str, str]:
    limits = entry.summary.get("limits")
    verdicts = [_verdict_on(each) for each in limits if isinstance(each, dict)] if isinstance(limits, list) else []
    if search := entry.summary.get("search"):
        return "text", plain(str(search.get("verdict", "")) if isinstance(search, dict) else "")
    if not verdicts:
        return "text faint", ABSENT
    worst = next((each for each in VERDICTS if each in verdicts), "kept")
    number = f"{verdicts.count(worst)} of {len(verdicts)} " if worst != "kept" else ""
    return VERDICTS.get(worst, "text kept"), f"{number}{worst}"


def _verdict_on(limit: Mapping[str, Any]) -> str:
    """What became of a limit, as the summary says it."""
    if limit.get("ok") is True:
        return "kept"
    if limit.get("undecided"):
        return "not decided"
    return "not measured" if limit.get("value") is None else "crossed"


def _number(summary: Mapping[str, Any], series: str, statistic: str) -> float | None:
    figures = summary.get(series)
    value = figures.get(statistic) if isinstance(figures, dict) else None
    return float(value) if isinstance(value, int | float) else None


def _about(name: str) -> Column:
    return lambda entry: ("text", str(entry.about.get(name) or ABSENT))


def _sides(entry: Entry) -> tuple[str, str]:
    names = entry.about.get("names")
    return "text", " and ".join(map(str, names)) if isinstance(names, list) else "pairs of runs"


RUN_COLUMNS: Mapping[str, Column] = {
    "started": _started,
    "target": _target,
    "users": _users,
    "verdict": _verdict,
    "limits": _limits,
    "echo p95": _duration("echo", "p95"),
    "response p95": _duration("response", "p95"),
    "transactions": _rate,
}
NUMBERS = {"users", "echo p95", "response p95", "transactions"}
CERTIFICATION_COLUMNS: Mapping[str, Column] = {"started": _started, "system": _about("system"), "plan": _about("plan")}
COMPARISON_COLUMNS: Mapping[str, Column] = {"started": _started, "of": _sides, "ended": _about("ended")}
