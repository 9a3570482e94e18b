/* Paths that are finished leave the kernel here; nothing else does. */
#pragma once

#include "contexts.h"

/* As `chain.rs` reads it. */
struct path {
	struct ends ends;
	__u32 from, to;            /* bytes received */
	__u32 echo_from, echo_to;  /* bytes sent */
	__u64 begun, ended;
	__u32 n;
	__u32 whole;               /* whether its first visit is there, and each one follows the one before */
	struct visit visits[MOST_VISITS];  /* the last one first */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LEVELS);
	__type(key, __u32);
	__type(value, struct path);
} path_scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} paths SEC(".maps");

/* What is counted, as `follower.rs` reads it: keys that came, paths that left the kernel, those for which there was no room, and
 * writes to a followed connection by a task that had no key of it. */
enum { COUNT_KEYS, COUNT_FINISHED, COUNT_LOST, COUNT_UNKNOWN, COUNTS };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline void count(__u32 which)
{
	__u64 *counted = bpf_map_lookup_elem(&counts, &which);

	if (counted)
		__sync_fetch_and_add(counted, 1);
}

/* Writes the path of a key that has arrived where it came from, with all its visits. `path` has its ends and its echo. */
static __noinline void finish(struct path *path, struct going *key, __u64 now)
{
	path->from = key->from;
	path->to = key->to;
	path->begun = key->begun;
	path->ended = now;
	path->n = path->whole = 0;
	__u32 id = key->visit;

	for (int each = 0; each < MOST_VISITS; each++) {
		struct visit *visit = visit_at(id);

		if (!visit)
			break;
		path->visits[each] = *visit;
		path->n = each + 1;
		id = visit->parent;
		if (!id) {
			path->whole = !key->guess;
			break;
		}
	}
	__u32 size = sizeof(*path) - (MOST_VISITS - path->n) * sizeof(struct visit);

	/* Its reader looks now and then: waking it for each path would cost more than all the rest. */
	bool is_lost = size > sizeof(*path) || bpf_ringbuf_output(&paths, path, size, BPF_RB_NO_WAKEUP);

	count(is_lost ? COUNT_LOST : COUNT_FINISHED);
}
