"""What a view says of a run that its observations do not: what is run, and what it must keep."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cuesta.figures.limit import Limit

ADDRESSES = {"web": "the page is at {}", "prometheus": "Prometheus can scrape {}"}


@dataclass(frozen=True, slots=True)
class LiveLimit:
    """A limit of the plan, as far as a view can judge it: on times of the last second."""

    text: str
    """As in the plan."""
    figure: str
    """As in `echo.p95`; empty for one that only the end tells."""
    value: float
    """Seconds."""


@dataclass(frozen=True, slots=True)
class About:
    """What is run."""

    title: str
    limits: Sequence[LiveLimit] = ()
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Where it can be seen meanwhile, by the name of the outlet: a key of `ADDRESSES`."""

    def tell_addresses(self) -> Iterator[str]:
        """A sentence on each address."""
        return (f"cuesta: {ADDRESSES[name].format(address)}" for name, address in self.addresses.items())


def describe_run(title: str, limits: Iterable[Limit]) -> About:
    """What is run, and its limits."""
    return About(title, [LiveLimit(limit.text, _seen_figure(limit), limit.value) for limit in limits])


def _seen_figure(limit: Limit) -> str:
    figure, is_upper = limit.figure, limit.comparison in ("<", "<=")
    is_seen = is_upper and figure.transaction is None and figure.statistic
    return f"{figure.metric}.{figure.statistic}" if is_seen else ""
