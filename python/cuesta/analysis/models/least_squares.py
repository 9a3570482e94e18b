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
    errors: Sequence[float]
    """Of each row."""
    slopes: Sequence[Sequence[float]]
    """The derivative of each row's error by each parameter."""

    @property
    def squares(self) -> float:
        """The sum of squared errors."""
        return dot(self.errors, self.errors)

    @property
    def rows(self) -> int:
        return len(self.errors)

    @property
    def freedom(self) -> int:
        """Rows that no parameter uses up."""
        return self.rows - len(self.parameters)

    @property
    def standard_errors(self) -> list[float]:
        """Of each parameter, from the curvature of the sum of squares.

        Infinite if the rows do not determine it, or leave no degree of freedom.
        """
        result = []
        for number in range(len(self.parameters)):
            unit = [1.0 if each == number else 0.0 for each in range(len(self.parameters))]
            column = solved(normal(self.slopes), unit) if self.freedom > 0 else None
            variance = column[number] if column else -1.0
            result.append(math.sqrt(self.squares / self.freedom * variance) if variance >= 0 else math.inf)
        return result


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
    best, residuals = list(start), errors(start)
    squares, damping = dot(residuals, residuals), 1e-3
    for _ in range(MOST_STEPS):
        slopes, before = derivatives(errors, best, residuals), squares
        downhill = [-dot(slope, residuals) for slope in slopes]
        while damping < 1e16:
            step = solved(normal(slopes, damping), downhill)
            if step and dot(step, downhill) <= PRECISION * before:
                break
            if step:
                candidate = [value + change for value, change in zip(best, step, strict=True)]
                errors_there = errors(candidate)
                if (less := dot(errors_there, errors_there)) < squares:
                    best, residuals, squares, damping = candidate, errors_there, less, max(damping / 9, 1e-15)
                    break
            damping *= 11
        if before - squares <= PRECISION * before:
            break
    return Fit(best, residuals, slopes)


def derivatives(errors: Errors, at: Sequence[float], residuals: Sequence[float]) -> list[list[float]]:
    """The derivative of each row's error by each parameter: a list for each parameter."""
    slopes = []
    for number, value in enumerate(at):
        step = STEP * abs(value) or STEP
        moved = errors([*at[:number], value + step, *at[number + 1 :]])
        slopes.append([(after - before) / step for after, before in zip(moved, residuals, strict=True)])
    return slopes


def normal(slopes: Sequence[Sequence[float]], damping: float = 0.0) -> list[list[float]]:
    """The normal equations, with a damped diagonal."""
    matrix = [[dot(a, b) for b in slopes] for a in slopes]
    for number, row in enumerate(matrix):
        row[number] *= 1 + damping
    return matrix


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
