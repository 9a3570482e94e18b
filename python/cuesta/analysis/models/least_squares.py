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
"""The size from which on downward a parameter's step does not shrink, lest rounding be taken for a slope."""
PRECISION = 1e-9
"""Relative gain, relative step, and cosine between errors and slopes at which a fit ends."""

Errors = Callable[[Sequence[float]], list[float]]
"""Parameters → predicted minus measured, for each row."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The parameters with the least sum of squares."""

    parameters: Sequence[float]
    errors: Sequence[float]
    """Of each row."""

    @property
    def squares(self) -> float:
        """The sum of squared errors."""
        return sum(each * each for each in self.errors)

    @property
    def rows(self) -> int:
        return len(self.errors)

    @property
    def freedom(self) -> int:
        """Rows that no parameter uses up."""
        return self.rows - len(self.parameters)


def criterion(squares: float, rows: int, parameters: int) -> float:
    """Akaike's criterion with the correction for few rows (C. M. Hurvich and C.-L. Tsai, Biometrika 76(2), 1989).

    Less is better; infinite if there are too few rows for it.
    """
    if rows - parameters - 1 <= 0:
        return math.inf
    spread = rows * math.log(max(squares / rows, 1e-30))
    return spread + 2 * parameters + 2 * parameters * (parameters + 1) / (rows - parameters - 1)


def fit(errors: Errors, start: Sequence[float]) -> Fit:
    """Find the parameters nearest to `start` with the least sum of squared errors: no more parameters than rows."""
    from scipy.optimize import least_squares  # noqa: PLC0415, see above

    if not start:
        return Fit([], errors(start))
    ends = {"ftol": PRECISION, "xtol": PRECISION, "gtol": PRECISION}
    found = least_squares(
        lambda at: errors(at.tolist()), start, method="lm", jac=lambda at: derivatives(errors, at.tolist()), **ends
    )
    return Fit(found.x.tolist(), found.fun.tolist())


def derivatives(errors: Errors, at: Sequence[float]) -> list[tuple[float, ...]]:
    """The derivative of each row's error by each parameter: a row of the Jacobian for each of them."""
    here, columns = errors(at), []
    for number, value in enumerate(at):
        step = STEP * max(abs(value), SMALL)
        moved = errors([*at[:number], value + step, *at[number + 1 :]])
        columns.append([(after - before) / step for after, before in zip(moved, here, strict=True)])
    return list(zip(*columns, strict=True))
