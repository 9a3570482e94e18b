"""Names two versions by what differs in their targets: `app-1.4` and `app-1.5`; revisions by their own names."""

from cuesta.line_kinds import without_settings
from cuesta.plain_text import plain
from cuesta.revisions import Revisions
from cuesta.target import without_passwords

LONGEST = 40
"""Characters of a name."""
SAME = ("first", "second")
"""Names of one target that is compared with itself."""


def name_versions(base: str, new: str) -> tuple[str, str]:
    """Name two targets, without passwords."""
    one, other = (plain(without_passwords(without_settings(target))) for target in (base, new))
    if one == other:
        one, other = (plain(without_passwords(target)) for target in (base, new))
    base_name, new_name = (word.strip(" /@:")[:LONGEST] for word in differing_words(one, other))
    if base_name == new_name:
        return SAME
    base_all, new_all = ((text.partition(":")[2] or text)[:LONGEST] for text in (one, other))
    return base_name or base_all, new_name or new_all


def name_revisions(revisions: Revisions) -> tuple[str, str]:
    """Name two revisions as they were asked for."""
    base, new = revisions.base.name[:LONGEST], revisions.new.name[:LONGEST]
    return SAME if base == new else (base, new)


def differing_words(one: str, other: str) -> tuple[str, str]:
    """What is left of two texts without the words, and parts of a path, that both begin and end with."""
    left, right = split_words(one), split_words(other)
    while left and right and left[0] == right[0]:
        left, right = left[1:], right[1:]
    while left and right and left[-1] == right[-1]:
        left, right = left[:-1], right[:-1]
    return "".join(left), "".join(right)


def split_words(text: str) -> list[str]:
    """Split a text at blanks, slashes, colons and at signs, which stay at the end of the word before."""
    words, word = list[str](), ""
    for character in text:
        word += character
        if character in " /:@":
            words, word = [*words, word], ""
    return [*words, word] if word else words
