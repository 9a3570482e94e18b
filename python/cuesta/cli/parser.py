"""The parser of a command line, of a verb and of a verb's word, such as `report` of `cuesta meters report`."""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence

from cuesta.errors import UsageError
from cuesta.terminal import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


WIDEST = 110
"""Columns of a row of help."""


class Help(argparse.HelpFormatter):
    """Wraps paragraphs to the width of the terminal; those with indented rows, such as examples, stay as they are."""

    def __init__(self, prog: str) -> None:
        import shutil  # noqa: PLC0415, slow

        columns, _ = shutil.get_terminal_size((WIDEST, 24))
        super().__init__(prog, max_help_position=30, width=min(columns, WIDEST))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        fill = super()._fill_text
        return "\n\n".join(
            paragraph if "\n " in paragraph else fill(paragraph, width, indent)
            for paragraph in text.strip("\n").split("\n\n")
        )


class Parser(argparse.ArgumentParser):
    """Refuses an argument that it does not have, with the nearest flag; so do the parsers of its words."""

    def __init__(self, prog: str, **options: object) -> None:
        super().__init__(prog, formatter_class=Help, allow_abbrev=False, **options)  # type: ignore[arg-type]

    def add_words(self, words: Mapping[str, tuple[str, str, str]]) -> list["Parser"]:
        """Add the words that may follow the verb, each with its line of help, its help and its examples."""
        parsers = self.add_subparsers(title="words", prog=self.prog, dest="word", metavar="WORD", required=True)
        return [
            parsers.add_parser(word, help=line, description=about, epilog=examples)
            for word, (line, about, examples) in words.items()
        ]

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Raises UsageError for an argument that is not known, so that none is left."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            raise self._unknown(unknown[0])
        return parsed, []

    def _print_message(self, message: str, file: "TextIO | None" = None) -> None:  # type: ignore[override]
        """Print help, usage or an error; argparse has no public way to choose where its texts go through."""
        write(message, file or sys.stderr, end="")

    def _unknown(self, argument: str) -> UsageError:
        remedy = f"`{self.prog} --help` shows them all"
        if not argument.startswith("-"):
            return UsageError(f"{self.prog}: one argument too many: {argument}", remedy)
        import difflib  # noqa: PLC0415

        flag, flags = argument.partition("=")[0], re.findall(r"--([\w-]+)", self.format_usage())
        matches = difflib.get_close_matches(flag.lstrip("-"), flags, n=1)
        hint = f"; did you mean --{matches[0]}?" if matches else ""
        return UsageError(f"{self.prog}: no such flag: {flag}{hint}", remedy)
