"""Applies all rules to the records of a step."""

from cuesta.analysis.diagnosis import logins, network, resources, terminals
from cuesta.analysis.diagnosis.observed import Observed
from cuesta.analysis.diagnosis.rule import list_rules
from cuesta.figures.causes import Cause

ALL = [rule for family in (logins, terminals, resources, network) for rule in list_rules(family)]
"""All rules, in the order of docs/causes.md and of reports."""


def find_causes(observed: Observed) -> list[Cause]:
    """The causes of what failed or stalled, those that are certain first."""
    found = [each for rule in ALL if (each := rule.apply(observed))]
    return sorted(found, key=lambda each: not each.certain)
