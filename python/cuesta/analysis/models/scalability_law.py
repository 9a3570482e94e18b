"""Gunther's universal scalability law: X(N) = γN / (1 + σ(N−1) + κN(N−1)).

N. J. Gunther, Guerrilla Capacity Planning, 2007. It describes a measured curve, also a retrograde one, and extrapolates
badly. All rows must have the same think time.
"""

from dataclasses import dataclass

FEWEST_POPULATIONS = 6
"""Fewest different numbers of users for three parameters."""


@dataclass(frozen=True, slots=True)
class ScalabilityLaw:
    contention: float
    """σ: the share of the work that is serial."""
    coherency: float
    """κ: the cost of each pair of users."""
    efficiency: float
    """γ: transactions a second of one user."""

    def throughput(self, users: float) -> float:
        return self.efficiency * users / (1 + self.contention * (users - 1) + self.coherency * users * (users - 1))
