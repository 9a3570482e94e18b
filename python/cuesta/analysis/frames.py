"""What a host draws for each key: its frames and their bytes, divided by the keys that they showed."""

from cuesta.figures.counts import Frames
from cuesta.records.rows import FrameCounts


def divide_frames(counted: FrameCounts | None) -> Frames | None:
    """Divide the frames drawn for keys, and their bytes, by these keys; None if no key was shown.

    Older records have only the bytes of frames that showed a key: these are divided by the keys that they showed.
    """
    if counted is None or not counted.keys:
        return None
    per_key = counted.drawn / counted.followed if counted.followed else None
    bytes_per_key = counted.bytes / counted.keys
    if counted.drawn_bytes is not None and counted.followed:
        bytes_per_key = counted.drawn_bytes / counted.followed
    return Frames(counted.keys, per_key, bytes_per_key, counted.shared)
