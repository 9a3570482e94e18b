"""Fits a few parameters to a few rows: least squares by MINPACK's Levenberg–Marquardt, which SciPy has.

J. J. Moré, The Levenberg–Marquardt algorithm, Lecture Notes in Mathematics 630, 1978. SciPy takes a second to load, so
it is imported where a fit begins: of all verbs only `cuesta predict` fits.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

STEP = 1e-6
"""Relative step of a numerical derivative."""
SMALL = 1e-3
"""The parameter below which the step does not shrink any more: else rounding would dominate the difference."""
PRECISION = 1e-9
"""Relative gain, relative step, and cosine between errors and slopes at which a fit ends."""

Residuals = Callable[[Sequence[float]], list[float]]
"""Parameters → predicted minus measured, for each row."""


@dataclass(frozen=True, slots=True)
class Fit:
    parameters: Sequence[float]
    errors: Sequence[float]
    """The residual of each row."""

    @property
    def squares(self) -> float:
        return sum(each * each for each in self.errors)

    @property
    def rows(self) -> int:
        return len(self.errors)

    @property
    def freedom(self) -> int:
        """Degrees of freedom: rows less parameters."""
        return self.rows - len(self.parameters)


def corrected_criterion(squares: float, rows: int, parameters: int) -> float:
    """Akaike's criterion with the correction for few rows (C. M. Hurvich and C.-L. Tsai, Biometrika 76(2), 1989).

    Less is better; infinite if there are too few rows for it.
    """
    if rows - parameters - 1 <= 0:
        return math.inf
    spread = rows * math.log(max(squares / rows, 1e-30))
    return spread + 2 * parameters + 2 * parameters * (parameters + 1) / (rows - parameters - 1)


def fit(residuals: Residuals, start: Sequence[float]) -> Fit:
    """The local minimum of the sum of squares that is found from `start`. Needs no fewer rows than parameters."""
    from scipy.optimize import least_squares  # noqa: PLC0415, see above

    if not start:
        return Fit([], residuals(start))
    ends = {"ftol": PRECISION, "xtol": PRECISION, "gtol": PRECISION}
    solution = least_squares(
        lambda at: residuals(at.tolist()), start, method="lm", jac=lambda at: jacobian(residuals, at.tolist()), **ends
    )
    return Fit(solution.x.tolist(), solution.fun.tolist())


def jacobian(residuals: Residuals, at: Sequence[float]) -> list[tuple[float, ...]]:
    """Forward differences: a row for each residual, a column for each parameter."""
    here, columns = residuals(at), []
    for number, value in enumerate(at):
        step = STEP * max(abs(value), SMALL)
        moved = residuals([*at[:number], value + step, *at[number + 1 :]])
        columns.append([(after - before) / step for after, before in zip(moved, here, strict=True)])
    return list(zip(*columns, strict=True))
