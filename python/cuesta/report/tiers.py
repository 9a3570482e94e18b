"""How the figures of a line were had: `plain`, `sampled`, `exact`, or several of them."""

from collections.abc import Mapping
from typing import Any

Figure = Mapping[str, Any]
"""`{value, tier}` or `{why}`."""


def tiers(*figures: Figure) -> str:
    """Name the tiers of figures, each once; nothing if none is known."""
    return ", ".join(dict.fromkeys(figure["tier"] for figure in figures if "tier" in figure))


def in_brackets(*figures: Figure) -> str:
    """Name them at the end of a line."""
    found = tiers(*figures)
    return f" ({found})" if found else ""
