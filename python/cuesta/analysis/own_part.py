"""The driver's own part of the host's durations: keys that it sent late, and answers that it drew on screens.

A duration is void if more than a tenth of it is the driver's own. Lateness is in the times since due, not in those
since sent. Drawing is in both: while a thread draws an answer of megabytes, it does not read the rest.
"""

from collections.abc import Iterator

from cuesta.figures.durations import Distribution
from cuesta.figures.step import StepFigures
from cuesta.units import seconds

MOST_OWN = 0.1
"""Largest share of a duration that may be the driver's own."""

SINCE_SENT = {"echo": "echo_from_sent", "response": "response_from_sent"}
"""The durations that reports quote, each with the same one without lateness."""
SINCE_DUE = (*SINCE_SENT, "whole_frame")
"""The durations that lateness is part of."""


def list_void_durations(step: StepFigures) -> list[str]:
    """Name the durations of a step of which too much is the driver's own."""
    return list(dict.fromkeys([*void_by_lateness(step), *void_by_drawing(step)]))


def void_by_lateness(step: StepFigures) -> Iterator[str]:
    """Durations since due, of which lateness takes too much of the median or of the 99th percentile."""
    return (name for name in SINCE_DUE if find_late_percentile(step, name))


def find_late_percentile(step: StepFigures, name: str) -> tuple[str, float, float] | None:
    """A percentile of which lateness takes too much: its label, and the seconds of lateness and of the duration."""
    duration: Distribution = getattr(step, name)
    percentiles = (("median", step.lateness.p50, duration.p50), ("p99", step.lateness.p99, duration.p99))
    for label, own, whole in percentiles:
        if own is not None and whole is not None and own > MOST_OWN * whole:
            return label, own, whole
    return None


def void_by_drawing(step: StepFigures) -> Iterator[str]:
    """Responses, if drawing takes too much of their mean."""
    screens, mean = step.driver.screens, step.response_from_sent.mean
    if screens and screens.awaited is not None and mean is not None and screens.awaited > MOST_OWN * mean:
        yield from ("response", "response_from_sent")


def choose_quoted(step: StepFigures, name: str) -> str | None:
    """The duration to quote: since due, since sent if lateness voids that, or None if both are void."""
    return next((each for each in (name, SINCE_SENT[name]) if each not in step.driver.voids), None)


def why_void(step: StepFigures) -> str:
    """Why a response is the driver's as much as the host's; empty if it is not."""
    if step.driver.screens and choose_quoted(step, "response") is None:
        own, mean = step.driver.screens.awaited or 0.0, step.response_from_sent.mean or 0.0
        return f"of a mean response of {seconds(mean)} this driver drew on screens for {seconds(own)}"
    if late := find_late_percentile(step, "response"):
        label, own, whole = late
        return f"of a {label} response of {seconds(whole)} this driver was late by {seconds(own)}"
    return ""
