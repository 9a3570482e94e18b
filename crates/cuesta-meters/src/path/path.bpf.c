/* The follower: the path of each followed key through this host, from the segment that brings it to the one with its echo.
 *
 * A segment that comes on a followed connection makes a key. Tasks pass it on: by waking others, through a terminal (its port's
 * worker), over another connection of this machine, or to a child. When a task that has it sends on the connection from which it came,
 * all visits on its way leave the kernel, once the segment does. A key of a marked terminal is written to its master, and its path
 * ends when the echo is there.
 */
#include "segments.h"
#include "tasks.h"
#include "terminals.h"

/* The kernel lends most of its helpers only to programs under its own licence. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";
