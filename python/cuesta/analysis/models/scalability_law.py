"""Gunther's universal scalability law: X(N) = γN / (1 + σ(N−1) + κN(N−1)).

N. J. Gunther, Guerrilla Capacity Planning, 2007. It describes a measured curve, also one that falls; it explains
nothing and extrapolates badly. All rows must have the same think time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.analysis.models.least_squares import Fit, fit
from cuesta.errors import RefusedError

FEWEST_POPULATIONS = 6
"""Fewest different numbers of users for three parameters."""


@dataclass(frozen=True, slots=True)
class ScalabilityLaw:
    """The three coefficients."""

    contention: float
    """σ: the share of the work that is serial."""
    coherency: float
    """κ: the cost of each pair of users."""
    efficiency: float
    """γ: transactions a second of one user."""

    def throughput(self, users: float) -> float:
        """Transactions a second."""
        return self.efficiency * users / (1 + self.contention * (users - 1) + self.coherency * users * (users - 1))

    @property
    def peak(self) -> float:
        """The number of users with the largest throughput; infinite if it never falls."""
        return math.sqrt((1 - self.contention) / self.coherency) if self.coherency > 0 else math.inf


def fitted(users: Sequence[float], throughputs: Sequence[float]) -> tuple[ScalabilityLaw, Fit]:
    """Fit the law by least squares of throughput. Raises RefusedError for fewer than six different populations."""
    if (found := len(set(users))) < FEWEST_POPULATIONS:
        raise RefusedError(f"the scalability law needs {FEWEST_POPULATIONS} numbers of users, and there are {found}")

    def errors(parameters: Sequence[float]) -> list[float]:
        law = ScalabilityLaw(*parameters)
        return [law.throughput(n) - x for n, x in zip(users, throughputs, strict=True)]

    best = fit(errors, start(users, throughputs))
    return ScalabilityLaw(*best.parameters), best


def start(users: Sequence[float], throughputs: Sequence[float]) -> list[float]:
    """Coefficients to begin with: the lightest row gives γ, and the heaviest how much of it is lost."""
    rows = sorted(zip(users, throughputs, strict=True))
    (light, least), (heavy, most) = rows[0], rows[-1]
    efficiency = least / light
    lost = max(efficiency * heavy / most - 1, 0.0)
    return [lost / (2 * heavy), lost / (2 * heavy**2), efficiency]
