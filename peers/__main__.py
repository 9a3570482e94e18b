"""Play the tools beside one another and print tables (docs/peers.md). `scripts/peers` starts it."""

import os
import platform
import sys

from peers.comparisons import ABSENT, COSTS, STALLS, TOOLS
from peers.control_group import HOST_CPU, TOOL_CPU
from peers.rows import cost_rows, stall_rows


def main() -> int:
    words = sys.argv[1:]
    chosen = [comparison for comparison in COSTS + STALLS if all(word in comparison.title for word in words)]
    if not chosen:
        print("peers: no table has these words in its title; the tables:", file=sys.stderr)
        print(*(comparison.title for comparison in COSTS + STALLS), sep="\n", file=sys.stderr)
        return 2
    if os.geteuid() != 0 or {TOOL_CPU, HOST_CPU} - os.sched_getaffinity(0):
        print("peers: needs root, for control groups and sshd, and the CPUs 0 and 1", file=sys.stderr)
        return 2
    os.sched_setaffinity(0, {HOST_CPU})
    failures = print_tools()
    for comparison in chosen:
        rows = cost_rows if comparison in COSTS else stall_rows
        text, failed = rows(comparison)
        print(f"\n{comparison.title}\n\n{text}", flush=True)
        failures += failed
    if failures:
        print("", *failures, sep="\n")
    return 1 if failures else 0


def print_tools() -> list[str]:
    """Print what each tool is, and return which are missing."""
    failures = []
    print(f"Linux {platform.release().partition('-')[0]}; a tool has CPU {TOOL_CPU}, the host CPU {HOST_CPU}\n")
    for tool in TOOLS:
        try:
            version = tool.version()
        except OSError as missing:
            version = "missing"
            failures.append(f"{tool.name} is missing: {missing}")
        print(f"{tool.name} ({version}): {tool.purpose}")
    for name, why in ABSENT.items():
        print(f"{name} (not measured): {why}")
    return failures


if __name__ == "__main__":
    sys.exit(main())
