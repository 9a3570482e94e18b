"""Writes the table of docs/causes.md from the rules.

`python -m cuesta.analysis.diagnosis.document docs/causes.md` renews that document.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from cuesta.analysis.diagnosis.find import ALL
from cuesta.marked_tables import renew


def renew_document(text: str) -> str:
    """The text of docs/causes.md with its table written anew."""
    return renew(text, {"causes": "\n".join(_rows())})


def _rows() -> Iterator[str]:
    yield "| cause | from outside | on the host, if it is metered | to change | proved against |"
    yield "|---|---|---|---|---|"
    for rule in ALL:
        yield f"| **{rule.name}** | {rule.outside} | {rule.host} | {rule.setting} | {rule.proved} |"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(renew_document(file.read_text(encoding="utf-8")), encoding="utf-8")
