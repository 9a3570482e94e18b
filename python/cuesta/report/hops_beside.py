"""Tables on where keys' time goes, side by side: a row for each step of a sweep, or for each group of users."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cuesta.analysis.path.growth import LEAST, find_longest_part, find_slow_band
from cuesta.analysis.path.phrases import LABELS, describe_hop
from cuesta.analysis.summary import Summary
from cuesta.figures.path import PathBand, PathPart
from cuesta.figures.step import StepFigures
from cuesta.report.figure import head, write_marked
from cuesta.report.model import Cell, Part, Plot, Table, Words
from cuesta.report.plots.path import plot_steps, sum_kinds
from cuesta.report.sweep_settings import list_swept, name_setting, write_setting
from cuesta.units import ABSENT, count, seconds

FEWEST = 2
"""Steps that are worth a table."""
FAINT = 0.01
"""Share of slow keys' time below which a kind of hop has no column."""
PAYS = "the hop that pays"


def compare_steps(summary: Summary) -> Iterator[Part]:
    """What each step of a sweep does to the keys that were followed, by hop; nothing if two have none."""
    bands = list_bands(summary)
    if len(bands) < FEWEST:
        return
    swept, kinds = list_swept(summary), list_kinds(band for _, band in bands)
    (first, base), *others = bands
    rows = [write_step(first, base, None, swept, kinds)]
    rows += [write_step(step, band, base, swept, kinds) for step, band in others]
    heads: list[Cell] = ["step", *map(name_setting, swept), head("echo.p50"), head("echo.p95"), *kind_heads(kinds)]
    pays = f"of the keys around the 95th percentile, what is longer than in step {first.step + 1} by most"
    begin = 3 + len(swept)
    wide = range(begin, begin + len(kinds))
    heads.append(Words(PAYS, pays))
    yield Table(heads, rows, f"{PAYS}: {pays}; there, what is largest", wide=wide, wraps=begin + len(kinds))


def draw_steps(summary: Summary) -> Iterator[Plot]:
    """The plot of that table."""
    bands = list_bands(summary)
    if len(bands) >= FEWEST:
        yield plot_steps({name_step(step): band for step, band in bands})


def list_bands(summary: Summary) -> list[tuple[StepFigures, PathBand]]:
    return [(step, band) for step in summary.steps if (band := find_slow_band(step.echo.path))]


def name_step(step: StepFigures) -> str:
    settings = ", ".join(write_setting(step, name) for name in step.swept)
    return f"{step.step + 1}: {settings}"


def write_step(
    step: StepFigures, band: PathBand, base: PathBand | None, swept: Sequence[str], kinds: Sequence[str]
) -> Sequence[Cell]:
    settings = [write_setting(step, name) for name in swept]
    echoes = [write_marked("echo.p50", step), write_marked("echo.p95", step)]
    return [str(step.step + 1), *settings, *echoes, *write_kinds(band, kinds), write_longest(band, base)]


def compare_groups(groups: Mapping[str, PathPart]) -> Table:
    """Where the time of each group's keys goes."""
    bands = {name: find_slow_band(path) for name, path in groups.items()}
    kinds = list_kinds(band for band in bands.values() if band)
    rows = [
        [name, count(path.keys), seconds(path.host.p50), seconds(path.host.p95), *write_group(bands[name], kinds)]
        for name, path in groups.items()
    ]
    heads: list[Cell] = ["group", "keys", "p50", "p95", *kind_heads(kinds)]
    pays = Words(PAYS, "of the keys around the 95th percentile, what is largest")
    caption = "at the host; the hop that pays is the largest of the keys around the 95th percentile"
    return Table([*heads, pays], rows, caption, wide=range(4, 4 + len(kinds)), wraps=len(heads))


def write_group(band: PathBand | None, kinds: Sequence[str]) -> Sequence[Cell]:
    return [*write_kinds(band, kinds), write_longest(band, None)] if band else [ABSENT] * (len(kinds) + 1)


def list_kinds(bands: Iterable[PathBand]) -> Sequence[str]:
    """The kinds of hops that are more than a small part of slow keys somewhere."""
    sums = [(band.seconds, sum_kinds(band.parts)) for band in bands]
    return [kind for kind in LABELS if any(kinds.get(kind, 0.0) > FAINT * whole for whole, kinds in sums)]


def kind_heads(kinds: Iterable[str]) -> Iterator[Words]:
    return (Words(LABELS[kind], "of the keys around the 95th percentile, the mean") for kind in kinds)


def write_kinds(band: PathBand, kinds: Iterable[str]) -> Iterator[str]:
    sums = sum_kinds(band.parts)
    return (seconds(sums[kind]) if kind in sums else ABSENT for kind in kinds)


def write_longest(band: PathBand, base: PathBand | None) -> str:
    """`3.10 ms sshd waiting for a CPU that `cc1` has, 2.90 ms more`; without a base the largest."""
    part, more = find_longest_part(band, base)
    if base and more < LEAST:
        return "none"
    longer = f", {seconds(more)} more" if base else ""
    return f"{seconds(part.seconds)} {describe_hop(part)}{longer}"
