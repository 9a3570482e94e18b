"""The causes by name of what failed or stalled."""

from cuesta.figures.about import declare, figure_table


@figure_table
class Cause:
    """Why something failed or stalled: a limit or a setting of the host."""

    name: str = declare("the limit or the setting, as docs/causes.md has it")
    certain: bool = declare("whether the evidence tells it apart from everything else; if not, it may be this")
    evidence: str = declare("what was seen: counts, times, what the host said, its counters", sentence=True)
    setting: str = declare("what to change, and where", sentence=True)
