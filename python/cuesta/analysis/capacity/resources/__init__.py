"""The resources of a host, one file for each kind; `read_resources` of each yields those that were metered in a step.

- `resource`: what is known of one: utilization, service demand, waiting.
- `cpus`: the host's CPUs; `busiest_cpu`: one of them, if the host's tasks cannot use the others; `one_cpu`: the CPU of
  a host with one thread; `quota`: the CPU quota of its control group.
- `disks`: block devices; `interfaces`: network interfaces. `servers`: those of the built-in host; `front_end`: its
  threads and its buffers.
- `terminal_lines`: the users' lines, by arithmetic; not a resource that users share.
"""

from collections.abc import Sequence
from dataclasses import replace

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources import (
    busiest_cpu,
    cpus,
    disks,
    front_end,
    interfaces,
    one_cpu,
    quota,
    servers,
    terminal_lines,
)
from cuesta.analysis.capacity.resources.resource import Kind, Resource

OF_METERS = (cpus, busiest_cpu, one_cpu, quota, disks, interfaces)
"""Those that each host has."""
OF_RUN = (servers, front_end, terminal_lines)
"""Those of the built-in host, which is the first that is metered, and of the lines."""

__all__ = ["Kind", "Resource", "read_resources"]


def read_resources(measured: MeasuredStep) -> Sequence[Resource]:
    """Whatever their meters show; of several hosts, the resources of each."""
    first, *others = measured.by_host()
    return [
        replace(resource, host=each.host_name)
        for each, kinds in [(first, OF_METERS), *((other, OF_METERS) for other in others), (first, OF_RUN)]
        for kind in kinds
        for resource in kind.read_resources(each)
    ]
