"""Control groups of a test's own."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def control_group(controller: str, name: str = "", **settings: str) -> Iterator[Path]:
    """A control group of version 1, with files set."""
    folder = Path(f"/sys/fs/cgroup/{controller}") / (name or f"cuesta-{uuid.uuid4().hex[:8]}")
    folder.mkdir()
    for file, text in settings.items():
        (folder / file.replace("__", ".")).write_text(text)
    try:
        yield folder
    finally:
        folder.rmdir()
