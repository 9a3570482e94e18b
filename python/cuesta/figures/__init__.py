"""The catalogue of figures: every number that Cuesta gives is declared here, once.

- `about`: `declare`, by which a table's field says its meaning, unit, label and better direction.
- `step`: the figures of a load step, as the `--json` object has them; `durations`, `counts`, `driver`,
  `system_under_test`, `neighbour`, `probe`, `causes`, `stalls`, `path`, `wire`, `bisync`: its tables.
- `whole_run`: a whole run: the `--json` object; `search`: what a search found; `watching`: what those who watched it
  marked.
- `catalogue`: all of them by dotted name.
- `reference`: how limits and published figures name one, `response{logout}.p95`; `limit`: `response.p95 < 1s`.
- `document`: writes the tables of docs/summary.md and the JSON Schema of `summary.json`.

Limits, comparisons, tables, the ledger's columns, the JSON Schema and docs/summary.md come from it. Nothing is computed
here: `cuesta.analysis` fills the tables in.
"""

from cuesta.figures.about import Better, Unit
from cuesta.figures.catalogue import BY_NAME, CATALOGUE

__all__ = ["BY_NAME", "CATALOGUE", "Better", "Unit"]
