"""What a host's stop does to the percentiles of responses."""


def true_p99(stop: float, seconds: float) -> float:
    """The p99 of responses since keys were due, if a quick host stops once for `stop` of these seconds.

    Keys are due at an even rate whatever the host does. Those due during the stop, a share of `stop / seconds`,
    wait until it ends: for times evenly spread from 0 to `stop`. So a share of `(stop - t) / seconds` waits for
    longer than `t`.
    """
    return max(0.0, stop - 0.01 * seconds)


def hidden(told: float | None, true: float) -> bool | None:
    """Whether a p99 hides the stop: it is below half of the true one. None: the tool does not tell a p99."""
    return None if told is None else told < true / 2
