/* Connections within this machine that are not followed themselves, and carry keys of lines that are: of a proxy to what is behind it. */
#pragma once

#include "contexts.h"

/* What was written to one, by its writer's ends. */
struct flow {
	struct bundle bundle;
	__u64 since;
	__u32 line;    /* as of a port */
	__u32 reader;  /* the task that last read it at the other end */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 2048);
	__type(key, struct ends);
	__type(value, struct flow);
} flows SEC(".maps");

__u32 flowed = 0;

/* What the other end wrote last; none if it had no keys. */
static __always_inline struct flow *flow_to(const struct sock *sk)
{
	struct ends ends = {}, writer = {};

	if (!flowed)
		return 0;
	read_ends(sk, &ends);
	writer.local = ends.remote;
	writer.remote = ends.local;
	writer.local_port = ends.remote_port;
	writer.remote_port = ends.local_port;
	return bpf_map_lookup_elem(&flows, &writer);
}

static __always_inline void flow_comes(struct cpu *cpu, __u32 level, const struct sock *sk, __u64 now)
{
	struct flow *flow = flow_to(sk);
	struct ready *ready = flow && flow->bundle.n ? announce(cpu, level, now) : 0;
	struct scratch *scratch = scratch_at(level);

	if (!ready || !scratch)
		return;
	copy_bundle(&ready->bundle, &flow->bundle);
	flow->bundle.n = 0;
	add_visits(&ready->bundle, NETWORK_STACK, since(flow->since, now), 0, now);
	if (flow->reader) /* it may be awake; if it is not, it will be woken */
		give(scratch, &ready->bundle, flow->reader, false, now);
}

/* Whether what a task passes on next is a key of another connection. */
static __always_inline bool has_read_key_of_other(struct task *task, __u32 connection)
{
	return task->reads.n && (task->reads.lines[0] & 1) == KEYS && task->reads.lines[0] >> 1 != connection;
}

static __always_inline void write_flow(struct scratch *scratch, struct cpu *cpu, const struct sock *sk, struct task *task, __u64 now)
{
	struct ends ends = {};

	read_ends(sk, &ends);
	struct flow *flow = flowed ? bpf_map_lookup_elem(&flows, &ends) : 0;
	__u32 line = flow ? flow->line : 0;

	scratch->sink = number_from(cpu, sk);
	struct flow *comes = flow_to(sk);
	bool answers = comes && comes->bundle.way == KEYS;
	bool has = answers && collect_answered(scratch, running(cpu), comes->bundle.connection, now);

	if (!has && (line || task->reads.n) && (!answers || has_read_key_of_other(task, comes->bundle.connection)))
		has = collect_written(scratch, cpu, &line, false, now);

	does(task, has ? scratch->bundle.connection : (__u64)sk, now);
	if (!has)
		return;
	if (!flow) {
		struct flow empty = {};

		bpf_map_update_elem(&flows, &ends, &empty, BPF_ANY);
		flow = bpf_map_lookup_elem(&flows, &ends);
	}
	if (!flow)
		return;
	copy_bundle(&flow->bundle, &scratch->bundle);
	flow->since = now;
	flow->line = line;
	flowed = 1;
}
