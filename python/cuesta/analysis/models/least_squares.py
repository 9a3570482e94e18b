"""Fits a few parameters to a few rows: least squares by Levenberg and Marquardt's damped steps.

K. Levenberg, Quarterly of Applied Mathematics 2, 1944; D. W. Marquardt, SIAM Journal 11(2), 1963. For up to about ten
parameters and some hundred rows, which is all that models of a host have.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

MOST_STEPS = 200
STEP = 1e-6
"""Relative step of a numerical derivative."""
PRECISION = 1e-12
"""Relative gain at which the fit ends."""

Errors = Callable[[Sequence[float]], list[float]]
"""Parameters → predicted minus measured, for each row."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The parameters with the least sum of squares."""

    parameters: Sequence[float]
    squares: float
    """The sum of squared errors."""
    rows: int
    standard_errors: Sequence[float]
    """Of each parameter; infinite if the rows do not determine it, or leave no degree of freedom."""

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
    """Find the parameters nearest to `start` with the least sum of squared errors."""
    best, left = list(start), errors(start)
    damping = 1e-3
    for _ in range(MOST_STEPS):
        slopes = derivatives(errors, best, left)
        before = dot(left, left)
        while damping < 1e16:
            step = solved(normal(slopes, damping), [-dot(slope, left) for slope in slopes])
            tried = [value + change for value, change in zip(best, step, strict=True)] if step else best
            found = errors(tried)
            if step and dot(found, found) < before:
                best, left, damping = tried, found, max(damping / 9, 1e-15)
                break
            damping *= 11
        if before - dot(left, left) <= PRECISION * before:
            break
    return Fit(best, dot(left, left), len(left), spreads(derivatives(errors, best, left), left))


def derivatives(errors: Errors, at: Sequence[float], left: Sequence[float]) -> list[list[float]]:
    """The derivative of each row's error by each parameter: a list for each parameter."""
    found = []
    for number, value in enumerate(at):
        step = STEP * abs(value) or STEP
        moved = errors([*at[:number], value + step, *at[number + 1 :]])
        found.append([(after - before) / step for after, before in zip(moved, left, strict=True)])
    return found


def normal(slopes: Sequence[Sequence[float]], damping: float = 0.0) -> list[list[float]]:
    """The normal equations, with a damped diagonal."""
    matrix = [[dot(a, b) for b in slopes] for a in slopes]
    for number, row in enumerate(matrix):
        row[number] *= 1 + damping
    return matrix


def spreads(slopes: Sequence[Sequence[float]], left: Sequence[float]) -> list[float]:
    """The standard error of each parameter, from the curvature of the sum of squares."""
    freedom = len(left) - len(slopes)
    result = []
    for number in range(len(slopes)):
        unit = [1.0 if each == number else 0.0 for each in range(len(slopes))]
        column = solved(normal(slopes), unit)
        variance = column[number] if column else math.inf
        result.append(math.sqrt(dot(left, left) / freedom * variance) if freedom > 0 and variance >= 0 else math.inf)
    return result


def solved(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float] | None:
    """Solve linear equations by elimination with pivots; None if they have no single solution."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(len(rows)):
        pivot = max(range(column, len(rows)), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column]
        if not (math.isfinite(head[column]) and abs(head[column]) > 1e-300):
            return None
        for number, row in enumerate(rows):
            if number != column and row[column]:
                factor = row[column] / head[column]
                rows[number] = [each - factor * other for each, other in zip(row, head, strict=True)]
    return [row[-1] / row[number] for number, row in enumerate(rows)]


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))
