"""Writes the tables of docs/dashboards.md: each metric, and each field of a JSON row.

`python -m cuesta.publish.document docs/dashboards.md` renews that document.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from cuesta.marked_tables import renew
from cuesta.publish.instruments import DURATIONS, NUMBERS, Durations, Instrument, describe, prometheus_name
from cuesta.publish.json_rows import MOMENT, OTHERS


def renew_document(text: str) -> str:
    """The text of docs/dashboards.md with its tables written anew."""
    return renew(text, {"metrics": "\n".join(_metrics()), "rows": "\n".join(_rows())})


def _metrics() -> Iterator[str]:
    yield "| Prometheus | OpenTelemetry | unit | kind | by | |"
    yield "|---|---|---|---|---|---|"
    for each in (*DURATIONS, *NUMBERS):
        by = ", ".join(f"`{attribute}`" for attribute in each.attributes)
        name = f"| `{prometheus_name(each)}` | `{each.name}` | `{each.unit}`"
        yield f"{name} | {_kind(each)} | {by} | {describe(each)} |"


def _kind(instrument: Instrument) -> str:
    if isinstance(instrument, Durations):
        return "histogram"
    return "counter" if instrument.is_count else "gauge"


def _rows() -> Iterator[str]:
    yield "| field | |"
    yield "|---|---|"
    yield from (f"| `{field.name}` | {field.meaning} |" for field in MOMENT)
    yield "| **`kind` of other rows** | |"
    yield from (f"| `{kind}` | {meaning} |" for kind, meaning in OTHERS.items())


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(renew_document(file.read_text(encoding="utf-8")), encoding="utf-8")
