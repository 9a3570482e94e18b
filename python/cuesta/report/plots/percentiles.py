"""Percentile curves: what share of values is no longer than so much; the rarer, the further to the right."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from cuesta._native import Histogram
from cuesta.analysis.over_time import curve
from cuesta.analysis.summary import Summary
from cuesta.figures.step import StepFigures, TransactionClass
from cuesta.ledger import Recorded, Tag
from cuesta.report.phrases import class_of, plain
from cuesta.report.plots.scales import by_rarity, logarithmic
from cuesta.report.plots.svg import DASHES, SERIES, Plot

OF_CLASSES = ("response", "response_from_sent")
OF_KEYS = ("echo", "echo_from_sent")


def curves(recorded: Recorded, step: StepFigures) -> Iterator[str]:
    """Draw all classes since due; all transactions and all echoes, since due and since sent; and the lateness."""
    pooled = _Pool(recorded, step.step)
    if len(step.classes) > 1:
        yield from _curves(
            "Response since due of each class, by percentile",
            "response",
            {label: pooled.of_class(each) for label, each in _labels(step.classes)},
        )
        title = "Response of all transactions, by percentile"
    else:
        title = "Response, by percentile"
    yield from _curves(title, "response", _due_and_sent(pooled, OF_CLASSES))
    yield from _curves("Echo, by percentile", "echo", _due_and_sent(pooled, OF_KEYS))
    late = {"sent − due": pooled.of_series("lateness")}
    yield from _curves("Lateness of the driver, by percentile", "lateness", late)


def overlaid(runs: Mapping[str, Summary], series: str, title: str) -> Iterator[str]:
    """Draw one curve for each run: of its last step."""
    pooled = {name: _Pool(run.recorded, run.last.step).of_series(series) for name, run in runs.items()}
    yield from _curves(title, series, pooled)


def _labels(classes: Sequence[TransactionClass]) -> Iterator[tuple[str, TransactionClass]]:
    """Name each class, with its group where there are several."""
    several = len({each.group for each in classes}) > 1
    for each in classes:
        yield class_of(each.group, each.transaction) if several else plain(each.transaction), each


def _due_and_sent(pooled: "_Pool", series: Sequence[str]) -> dict[str, Histogram | None]:
    return dict(zip(("since due", "since sent"), map(pooled.of_series, series), strict=True))


class _Pool:
    """The histograms of a step."""

    def __init__(self, recorded: Recorded, step: int) -> None:
        self.recorded, self.step = recorded, step

    def of_class(self, of: TransactionClass) -> Histogram | None:
        """Add up the responses of one class."""
        name = (of.group, of.transaction)
        return self._of(lambda tag: tag.series == "response" and (tag.group, tag.transaction) == name)

    def of_series(self, series: str) -> Histogram | None:
        """Add up a series over all groups and classes."""
        return self._of(lambda tag: tag.series == series)

    def _of(self, wanted: Callable[[Tag], bool]) -> Histogram | None:
        return self.recorded.pooled(lambda tag: tag.step == self.step and wanted(tag))


def _curves(title: str, what: str, histograms: Mapping[str, Histogram | None]) -> Iterator[str]:
    """Draw curves of one kind."""
    known = {label: histogram for label, histogram in histograms.items() if histogram and histogram.count}
    if not known:
        return
    plot = Plot(title)
    for number, (label, histogram) in enumerate(known.items()):
        rarities, values = zip(*curve(histogram), strict=True)
        colour, dash = SERIES[number % len(SERIES)], DASHES[number // len(SERIES) % len(DASHES)]
        plot.axes.plot(rarities, values, color=colour, linestyle=dash, label=label)
    by_rarity(plot.axes, max(histogram.count for histogram in known.values()))
    logarithmic(plot.axes)
    plot.axes.set_ylabel(what)
    yield plot.svg()
