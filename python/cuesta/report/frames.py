"""What a program draws for a key: how many frames and bytes, and whether keys share frames."""

from collections.abc import Iterator

from cuesta.figures.counts import Frames
from cuesta.units import count, digits, many, share

MANY_BYTES = 256
"""A key that takes more bytes than this is unusual: a row of 80 cells with some colours has fewer."""
MANY_FRAMES = 3
"""From this many frames a key on it is a finding: one shows the key, and one more may show what follows from it."""
MANY_SHARED = 0.05
"""A larger share of keys that share a frame is unusual: people type further apart than programs draw."""


def describe_frames(frames: Frames) -> str:
    """How many frames and bytes a key takes, and how many keys are shown together."""
    drawn = "" if frames.per_key is None else f"{digits(frames.per_key)} frames and "
    alone = "none shared a frame with others"
    shared = f"{name_shared(frames)} shared a frame with others"
    return f"a key takes {drawn}{digits(frames.bytes_per_key)} bytes; {shared if frames.shared_keys else alone}"


def describe_costly_frames(frames: Frames) -> Iterator[str]:
    """What a program draws for a key beyond what is usual."""
    if frames.bytes_per_key > MANY_BYTES:
        yield (
            f"a key takes {digits(frames.bytes_per_key)} bytes, where a letter and a move of the cursor take under 10: "
            "let the program draw only the cells that differ"
        )
    if frames.per_key is not None and frames.per_key >= MANY_FRAMES:
        yield (
            f"{digits(frames.per_key)} frames are drawn for a key: find what is drawn beside the key, "
            "or what moves by itself (a spinner, a clock)"
        )
    if frames.shared_keys > MANY_SHARED * frames.keys:
        yield (
            f"{name_shared(frames)} shared a frame with others: the program draws less often than keys come; "
            "look for a limit of frames a second, or for what it does before it draws"
        )


def name_shared(frames: Frames) -> str:
    return f"{count(frames.shared_keys)} of {many(frames.keys, 'key')} ({share(frames.shared_keys / frames.keys)})"
