"""The section on the driver: how late it was, what CPU time it took, and its own part of a response."""

from cuesta.analysis.summary import Summary
from cuesta.figures.driver import DriverLoad, ScreenCost
from cuesta.figures.step import StepFigures
from cuesta.report.agents import agents_parts
from cuesta.report.figure import fact, percentiles
from cuesta.report.model import Fact, Facts, Part, Plots, Rank, Section, Spare, Table
from cuesta.report.plots.distributions import plot_driver_delay
from cuesta.report.response_section import HEADS, MEAN
from cuesta.units import count, digits, many, seconds, share

NO_OWN_PART = "not known what is this driver's: the kernel stamps tcp and telnet lines only (--stamps)"


def driver_section(summary: Summary, step: StepFigures) -> Section:
    late, own = step.lateness, step.driver
    delay = f"median {seconds(late.p50)}, p99 {seconds(late.p99)}, longest {seconds(late.max)}"
    facts = [
        Fact(
            "delay (could be sent → sent)",
            delay if late.count else "no key was sent",
            fact("lateness.p50", step).meaning,
        ),
        fact("driver.cpu", step, f" of a core, {many(own.threads, 'thread')}{describe_spinning(own)}"),
        Fact(name_part(step), describe_own_part(own), fact("driver.own.p50", step).meaning),
        watching_fact(step),
    ]
    rest = [
        Fact(name_part(step), "" if own.own.count else NO_OWN_PART),
        fact("driver.run_wait", step),
        fact("driver.rss_per_user", step) if own.rss_per_user else Fact("", ""),
        Fact("screens", describe_screens(own.screens) if own.screens else ""),
    ]
    groups = [(keys.group, keys.lateness) for keys in step.keys if keys.lateness.count]
    rows = [(name, count(lateness.count), seconds(lateness.mean), *percentiles(lateness)) for name, lateness in groups]
    more: list[Part] = [Facts(rest)]
    if rows:
        more.append(Table(("delay of", *HEADS[1:]), rows, wide={MEAN}))
    more.append(Plots(list(plot_driver_delay(summary.recorded, step))))
    return Section(
        "Driver",
        [Facts(facts), *agents_parts(step)],
        more,
        brief=[],
        spare=[Spare(Rank.DRIVER, Facts(brief_facts(step)))],
    )


def brief_facts(step: StepFigures) -> list[Fact]:
    late, own = step.lateness, step.driver
    delay = f"p50 {seconds(late.p50)}, p99 {seconds(late.p99)}, max {seconds(late.max)}"
    return [
        Fact("delay", delay if late.count else "no key was sent"),
        Fact("CPU", f"{share(own.cpu)} of a core"),
        watching_fact(step),
    ]


def watching_fact(step: StepFigures) -> Fact:
    """What watching the run cost; without a value if the run was not watched."""
    shares = ", ".join(f"{name} {share(cpu)}" for name, cpu in step.driver.watchers.items())
    return Fact("watched by", f"{shares} of a core" if shares else "", fact("driver.watching", step).meaning)


def name_part(step: StepFigures) -> str:
    """What the driver's own part is a part of: at a terminal that shows keys by itself, no host echoes any."""
    return "of each first sign of an answer" if step.driver.own.count and not step.echo.count else "of each echo"


def describe_own_part(driver: DriverLoad) -> str:
    own = driver.own
    text = f"{seconds(own.p50)} are this driver's (p99 {seconds(own.p99)}); the kernel saw the rest"
    return text if own.count else ""


def describe_spinning(driver: DriverLoad) -> str:
    return f", of it {share(driver.spun)} spent awake to be on time (--no-spin)" if driver.spun else ""


def describe_screens(cost: ScreenCost) -> str:
    memory = f"{digits(cost.bytes_each / 1024)} KiB each"
    own = f"; {seconds(cost.awaited)} of it in a response" if cost.awaited else ""
    return f"{many(cost.count, 'screen')}, {memory}, drawn in {share(cost.drawing)} of a core per thread{own}"
