"""The figures of probes: users apart, in driver processes of their own, beside whom the others are quoted."""

from cuesta.figures.about import Unit, declare, figure_table


@figure_table
class ProbeComparison:
    """What a probe saw beside what the load saw: one statistic of the same tape at the same host.

    Times count from when a key was sent. All intervals of a step hold together with 99 %.
    """

    group: str = declare("the probe's group")
    metric: str = declare("`echo_from_sent` or `response_from_sent`")
    transaction: str = declare("the transaction; empty for echoes")
    statistic: str = declare("`p50` or `p90`")
    count: int = declare("values of the probe", Unit.COUNT)
    value: float = declare("the statistic of the probe", Unit.SECONDS)
    low: float = declare("the lower end of its interval", Unit.SECONDS)
    high: float | None = declare("the upper end of its interval; None if it is not known", Unit.SECONDS)
    load_count: int = declare("values of the load", Unit.COUNT)
    load_value: float = declare("the statistic of the load", Unit.SECONDS)
    load_low: float = declare("the lower end of its interval", Unit.SECONDS)
    load_high: float | None = declare("the upper end of its interval; None if it is not known", Unit.SECONDS)
    verdict: str = declare("as of the step, of this statistic alone")

    @property
    def name(self) -> str:
        """What is compared, for people."""
        return "echo" if self.metric.startswith("echo") else self.transaction

    @property
    def difference(self) -> float:
        """By how many seconds the load's is longer."""
        return self.load_value - self.value


@figure_table
class ProbeFigures:
    """The probes of a step."""

    users: int = declare(
        "of `users`, those of probes: their keys and transactions are in no figure of all users",
        Unit.COUNT,
        "users of probes",
    )
    groups: list[str] = declare("the groups of these users")
    own_nodes: bool = declare("whether each probe had a machine of its own")
    verdict: str = declare(
        "`driver`: the load's times are longer than the probe's, so that the driver adds to them; `alike`: both saw "
        "the same; `probe`: the probe's are longer, so that it tells nothing; `unknown`: too few values to tell"
    )
    comparisons: list[ProbeComparison] = declare("what the probes saw beside what the load saw")
