"""Keys from what a terminal sends, however it is cut into pieces. Pure."""

import codecs
import re

NAMED = {"A": "up", "B": "down", "C": "right", "D": "left"}
"""By the last character of a sequence, CSI or SS3."""
SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[@-~])")
"""A whole sequence (ECMA-48: CSI; SS3)."""
BEGIN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")
"""What may become one."""
ENTER, ERASE, ESCAPE, SUSPEND = ("\r", "\n"), ("\x7f", "\x08"), "escape", "\x1a"


class Keyboard:
    """What has been typed so far."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        self._rest = ""

    @property
    def is_within_sequence(self) -> bool:
        """Whether more may belong to what was typed last: the rest of a sequence, or nothing after a lone Esc."""
        return bool(self._rest)

    def feed(self, typed: bytes) -> list[str]:
        """The keys that are complete: characters, or the names of other keys; unknown sequences are left out."""
        text, keys = self._rest + self._decoder.decode(typed), list[str]()
        while text:
            if whole := SEQUENCE.match(text):
                keys += _name(whole.group())
                text = text[whole.end() :]
            elif BEGIN.match(text):
                break
            else:
                keys.append(ESCAPE if text[0] == "\x1b" else text[0])
                text = text[1:]
        self._rest = text
        return keys

    def finish(self) -> list[str]:
        """The keys in what remains if nothing follows: Esc."""
        rest, self._rest = self._rest, ""
        return [ESCAPE] if rest else []


def _name(sequence: str) -> list[str]:
    is_plain = len(sequence) == 3 and sequence[1] in "[O"
    return [NAMED[sequence[2]]] if is_plain and sequence[2] in NAMED else []
