/* How long tasks of the subject were off their CPUs, by why they left, and how long they waited in a run queue.
 *
 * Buckets are log-linear: eight in each octave, so that a value is known from its bucket within 6 %.
 */
#pragma once

#include "account.h"

#include <bpf/bpf_core_read.h>

/* Each `WAITS` kind of `account.h` is a kind here; then these. */
enum { ON_SLEEP = WAITS, ON_PREEMPTION, IN_RUN_QUEUE, DISTRIBUTIONS };

#define BITS_OF_OCTAVE 3
/* Up to 2^45 ns, 9.8 hours; what is longer is in the last. */
#define BUCKETS 344

/* As `histogram.rs` reads it. */
struct histogram {
	__u64 ns;  /* sum of all */
	__u64 counts[BUCKETS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DISTRIBUTIONS);
	__type(key, __u32);
	__type(value, struct histogram);
} distributions SEC(".maps");

static __always_inline __u32 bucket(__u64 ns)
{
	__u32 octave = 0;
	__u64 rest = ns >> BITS_OF_OCTAVE;

#pragma unroll
	for (int bits = 32; bits; bits >>= 1)
		if (rest >> bits) {
			rest >>= bits;
			octave += bits;
		}
	__u32 found = (octave << BITS_OF_OCTAVE) + (ns >> octave);

	return found < BUCKETS ? found : BUCKETS - 1;
}

static __always_inline void count(__u32 kind, __u64 ns)
{
	struct histogram *histogram = bpf_map_lookup_elem(&distributions, &kind);

	if (!histogram)
		return;
	histogram->ns += ns;
	histogram->counts[bucket(ns)]++;
}

/* What a task has waited in run queues, by the scheduler: of the last wait it tells when the task is there already. */
static __always_inline __u64 run_delay(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
}

/* The running task of the subject has waited for this CPU. */
static __always_inline void count_dispatch(struct account *a, struct task_struct *task)
{
	if (a->dispatched && bpf_core_field_exists(task->sched_info.run_delay))
		count(IN_RUN_QUEUE, run_delay(task) - a->delay_from);
	a->dispatched = 0;
}
