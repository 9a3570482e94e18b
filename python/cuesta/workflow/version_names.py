"""Names two versions as a sentence calls them, without passwords; no name is empty, and the two differ.

Programs that differ are named by themselves (`vim`, `nano`; `app-1.4`, `app-1.5`), one program in two folders by these,
and one with other arguments by its words up to the last one that differs (`vim -n`, `vim`). Hosts are named by as much
of their address as differs, and revisions as they were asked for.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from cuesta.line_kinds import OWN_PROGRAMS, without_settings
from cuesta.plain_text import plain
from cuesta.revisions import Revisions
from cuesta.target import kind_of, without_passwords

LONGEST = 40
"""Characters of a name."""
BEFORE = 10
"""Characters shown before the first that differs, of names that are too long."""
SAME = ("first", "second")
"""Names of one target that is compared with itself."""
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
WORD = re.compile(rf"(?:{QUOTED.pattern}|\S)+")
"""A word of a command, with its quotes."""
SEVERAL = re.compile(r"[;&|\n]")
"""What stands between the commands of a shell."""
BEFORE_A_PROGRAM = re.compile(r"exec|env|-.*|\w+=.*", re.DOTALL)
PATH = re.compile(r"[^-=:\s'\"][^=:\s'\"]*")
"""A word that is nothing but a path, or a name."""
INTERPRETER = re.compile(r"(python|node|bun|ruby|perl|php|sh|bash)[\d.]*")
ADDRESS = re.compile(r"//(?:(?P<user>[^@/:]*)[^@/]*@)?(?P<host>\[[^]]*\]|[^:/]*)(?P<port>:\d+)?(?P<path>.*)")


def name_versions(base: str, new: str) -> tuple[str, str]:
    """Name two targets."""
    one, other = (plain(without_passwords(target)) for target in (base, new))
    usable = ((a, b) for a, b in propose_names(one, other) if a and b and a != b)
    return shorten(*next(usable, SAME))


def name_revisions(revisions: Revisions) -> tuple[str, str]:
    """Name two revisions as they were asked for."""
    base, new = revisions.base.name, revisions.new.name
    return SAME if base == new else shorten(base, new)


def propose_names(one: str, other: str) -> Iterator[tuple[str, str]]:
    """Names of two targets, the shortest first. Some may be empty, or equal."""
    if kind_of(one) == kind_of(other):
        kind = kind_of(one)
        name = name_commands if kind in OWN_PROGRAMS else name_addresses
        yield from name(one.removeprefix(f"{kind}:"), other.removeprefix(f"{kind}:"))
    yield one.strip(" /:"), other.strip(" /:")


def name_commands(one: str, other: str) -> Iterator[tuple[str, str]]:
    """Names of two commands: their programs, or as many of their words as are needed."""
    left, right = without_interpreter(WORD.findall(one), WORD.findall(other))
    before = count_common(left, right)
    after = min(count_common(left[::-1], right[::-1]), len(left) - before, len(right) - before)
    only_more = before + after == min(len(left), len(right))  # one has all words of the other, and some of its own
    if any(SEVERAL.search(QUOTED.sub("", command)) for command in (one, other)):
        yield " ".join(left), " ".join(right)
    if before or not only_more:
        yield find_program(left), find_program(right)
    yield join_words(left, before, after - only_more), join_words(right, before, after - only_more)
    unlike = next(((a, b) for a, b in zip(left, right, strict=False) if a != b), ("", ""))
    yield unlike_parts(*unlike)
    yield unlike
    yield " ".join(left), " ".join(right)


def without_interpreter(left: list[str], right: list[str]) -> tuple[list[str], list[str]]:
    """The words of two commands without `python3` where both give it the path of a script."""
    both = (left[:2], right[:2])
    are_scripts = all(len(words) == 2 and PATH.fullmatch(words[1]) and "." in words[1] for words in both)
    if are_scripts and left[0] == right[0] and INTERPRETER.fullmatch(last_part(left[0])):
        return left[1:], right[1:]
    return left, right


def count_common(left: Sequence[str], right: Sequence[str]) -> int:
    """The number of words, or characters, that both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))


def find_program(words: Sequence[str]) -> str:
    """The name of the program that a command starts, after `env NAME=VALUE`; empty if there is none."""
    return last_part(words[at]) if (at := skip_environment(words)) < len(words) else ""


def skip_environment(words: Sequence[str]) -> int:
    """The number of words before a program's: `env`, its options and `NAME=VALUE`."""
    return sum(1 for _ in takewhile(BEFORE_A_PROGRAM.fullmatch, words))


def last_part(word: str) -> str:
    """A path without its folders; any other word is itself."""
    return word.rstrip("/").rpartition("/")[2] or word if PATH.fullmatch(word) else word


def join_words(words: Sequence[str], before: int, after: int) -> str:
    """A command with paths shortened, without the last words, which both have (`after`), but to its program at least.

    If that is too long, it is without the first ones too (`before`), but for the first of all and an option.
    """
    shown = [last_part(word) for word in words[: max(len(words) - max(after, 0), skip_environment(words) + 1)]]
    whole = " ".join(shown)
    first = before - (before > 0 and shown[before - 1].startswith("-"))
    return whole if len(whole) <= LONGEST or first < 2 else " ".join([shown[0], "…", *shown[first:]])


def unlike_parts(one: str, other: str) -> tuple[str, str]:
    """What differs in two paths; nothing if that would say nothing."""
    left, right = one.split("/"), other.split("/")
    before = count_common(left, right)
    left, right = left[before:], right[before:]
    after = count_common(left[::-1], right[::-1])
    names = "/".join(left[: len(left) - after]), "/".join(right[: len(right) - after])
    return names if all(any(map(str.isalnum, name)) for name in names) else ("", "")


def name_addresses(one: str, other: str) -> Iterator[tuple[str, str]]:
    """Names of two addresses of one kind: `host`, `host:port`, `user@host`, and what else differs."""
    bare, other_bare = without_settings(one), without_settings(other)
    left, right = ADDRESS.fullmatch(bare), ADDRESS.fullmatch(other_bare)
    if left and right:
        for names in ("host",), ("host", "port"), ("user", "host"), ("user", "host", "port"):
            yield join_address(left, names), join_address(right, names)
    elif bare != other_bare:
        yield unlike_parts(bare, other_bare)
    yield one.removeprefix("//"), other.removeprefix("//")


def join_address(address: re.Match[str], names: Sequence[str]) -> str:
    parts = {name: address[name] or "" for name in names}
    return "".join(f"{part}@" if name == "user" and part else part for name, part in parts.items())


def shorten(one: str, other: str) -> tuple[str, str]:
    """Two unlike names, cut to what is shown, which still differs."""
    start = 0 if clip(one) != clip(other) else count_common(one, other) - BEFORE
    return clip(one, start), clip(other, start)


def clip(name: str, start: int = 0) -> str:
    """A name from a character on, with marks for what is not shown."""
    shown = f"…{name[start:]}" if start else name
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
